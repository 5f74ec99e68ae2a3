"""The kernel map: a ``transform`` for any embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from . import _core, _data
from ._callbacks import FitTasks, with_callbacks
from ._docs import documented
from ._inputs import Points
from ._threads import thread_count
from ._transformer import CoreTransformer
from ._types import Coordinates, Floats, MatrixLike
from .exceptions import InputError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self


@documented
class KernelMap(MetaEstimatorMixin, CoreTransformer):  # type: ignore[misc, unused-ignore]
    """Give any embedding a ``transform``.

    Wraps an estimator that only embeds the rows it is fitted on, such as
    :class:`sklearn.manifold.TSNE`, and learns a smooth map from the rows to
    their coordinates: a mean of coefficients, one per training row, weighted
    by Gaussian kernels of which each is as wide as its row is far from the
    nearest other row. The coefficients are those with which the map meets the
    coordinates of all training rows.

    Parameters
    ----------
    estimator : estimator
        What finds the embedding: anything with ``fit_transform``, or with
        ``fit`` and ``embedding_``. It is cloned and fitted on X, unless
        `prefit`.
    gamma : float, default=0.8
        Width of the kernels, in units of the distance from a training row to
        the nearest other one. Below 0.5 the map hardly differs from looking up
        the nearest training row; from about 1.5 on small differences of the
        coordinates are blown up between the rows.
    prefit : bool, default=False
        Whether `estimator` is already fitted; ``fit`` then takes its
        ``embedding_`` and needs the X it was fitted on, in the same order.
        A clone of such a map is not fitted any more: in cross-validation, wrap
        the estimator in :class:`sklearn.frozen.FrozenEstimator` instead.
    n_jobs : int, default=None
        Number of threads of the map, as in :class:`Isomap`; `estimator` has
        its own.
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator: a clone, or `estimator` itself when `prefit`.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32: those of
        `estimator_`, except that rows of X that are equal share their mean.
    sigma_ : ndarray of shape (n_samples,)
        Width of the kernel of each training row.
    residual_ : float
        Largest deviation of the map from the coordinates it was made for, in
        units of their spread, before training rows are given theirs exactly.
    n_iter_ : int
        Number of iterations of the linear solver.
    {seen_in_fit}

    Warns
    -----
    ConvergenceWarning
        The coefficients could not be found: `gamma` is too large.

    See Also
    --------
    Isomap, ClassicalMDS, KernelMDS : Have a ``transform`` of their own.

    Notes
    -----
    A training row gets its coordinates back exactly. A row far from all
    training rows gets the coefficient of the training row that is nearest in
    units of its kernel's width. Distances are Euclidean, whatever `estimator`
    uses.

    The map is as smooth as its kernels. Where the embedding itself is torn, as
    between the clusters of t-SNE, rows in between are placed in between.

    In many dimensions the kernels of all training rows overlap, and the fit stores
    a matrix of 8·n² bytes; in few dimensions only those of near rows do.

    References
    ----------
    .. [1] A. Gisbrecht, W. Lueks, B. Mokbel, B. Hammer, "Out-of-sample kernel
       extensions for nonparametric dimensionality reduction", ESANN (2012).
    .. [2] A. Gisbrecht, A. Schulz, B. Hammer, "Parametric nonlinear
       dimensionality reduction using kernel t-SNE", Neurocomputing 147 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.manifold import SpectralEmbedding
    >>> from planish import KernelMap
    >>> angle = np.linspace(0.0, 3.0, 100)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> inner = SpectralEmbedding(n_components=1, n_neighbors=10, random_state=0)
    >>> model = KernelMap(inner).fit(arc)
    >>> bool(np.array_equal(model.transform(arc), model.embedding_))
    True
    >>> between = model.transform((arc[:-1] + arc[1:]) / 2)
    >>> means = (model.embedding_[:-1] + model.embedding_[1:]) / 2
    >>> bool(np.abs(between - means).max() < 0.02 * np.ptp(model.embedding_))
    True
    """

    sigma_: Floats
    residual_: float
    n_iter_: int
    estimator_: Any

    def __init__(
        self,
        estimator: Any,
        *,
        gamma: float = 0.8,
        prefit: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.gamma = gamma
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Embed X by the estimator and fit the map to what it finds.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The data, one sample per row; sparse if `estimator` takes it.
        y : array-like of shape (n_samples,), default=None
            Passed to `estimator`.

        Returns
        -------
        self : object
            The fitted map. When fit fails or is interrupted, the map is left
            exactly as it was before.
        """
        tasks = FitTasks(self, X, y)
        with self._all_or_nothing():
            threads = thread_count(self.n_jobs)
            params = self._checked_params()
            self._forget()
            checked = self._validated(X, reset=True)
            _data.require_finite(checked)
            self.estimator_, coordinates = self._embedded(X, y)
            with self._progress("fit", tasks) as progress:
                model = _core.fit_kernel_map(
                    params, _data.points(checked), coordinates, threads, progress, None
                )
            self._keep(model, Points(), checked.dtype)
            tasks.end()
        return self

    def fit_transform(self, X: MatrixLike, y: ArrayLike | None = None) -> Coordinates:
        """Embed X by the estimator, fit the map, and return the embedding.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            As in :meth:`fit`.
        y : array-like of shape (n_samples,), default=None
            Passed to `estimator`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Coordinates of the rows of X, float32 when X is float32; a data frame
            if ``set_output`` says so.
        """
        return self.fit(X, y).embedding_

    def _checked_params(self) -> dict[str, Any]:
        gamma = self.gamma.item() if isinstance(self.gamma, np.generic) else self.gamma
        params = {"gamma": gamma}
        # Fitting one row shows whether the core takes them, before the
        # estimator has worked for minutes.
        _core.fit_kernel_map(params, ("points", np.zeros((1, 1))), np.zeros((1, 1)), 1, None, None)
        if not isinstance(self.prefit, (bool, np.bool_)):
            raise ParameterError(f"parameter `prefit`: expected a bool, got {self.prefit!r}")
        return params

    def _embedded(self, X: Any, y: Any) -> tuple[Any, Floats]:
        """Return the fitted estimator and the coordinates it finds for X."""
        if self.prefit:
            try:
                check_is_fitted(self.estimator)
            except (NotFittedError, TypeError) as error:
                raise NotFittedError(
                    "When `prefit=True`, `estimator` is expected to be a fitted estimator."
                ) from error
            return self.estimator, self._coordinates(self.estimator)
        if self._inner_tags(lambda tags: tags.input_tags.pairwise):
            raise ParameterError(
                "parameter `estimator`: it takes a matrix of pairwise values, but the map needs "
                "points; fit it first and pass it with prefit=True"
            )
        fitted = clone(self.estimator, safe=False)
        if hasattr(fitted, "fit_transform"):
            found = fitted.fit_transform(X) if y is None else fitted.fit_transform(X, y)
            return fitted, _as_coordinates(found, "fit_transform")
        if not hasattr(fitted, "fit"):
            raise ParameterError(
                "parameter `estimator`: expected an estimator with `fit_transform`, or with `fit` "
                f"and `embedding_`, got {fitted!r}"
            )
        fitted.fit(X, y)
        return fitted, self._coordinates(fitted)

    def _coordinates(self, fitted: Any) -> Floats:
        if not hasattr(fitted, "embedding_"):
            raise ParameterError(
                f"parameter `estimator`: {type(fitted).__name__} has no `embedding_` after it is "
                "fitted, so there are no coordinates to map to"
            )
        return _as_coordinates(fitted.embedding_, "embedding_")

    def _inner_tags(self, read: Any) -> Any:
        """Read a tag of the estimator; False when it has none."""
        try:
            return read(get_tags(self.estimator))
        except (AttributeError, TypeError):
            return False

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._inner_tags(lambda inner: inner.input_tags.sparse)
        tags.input_tags.positive_only = self._inner_tags(
            lambda inner: inner.input_tags.positive_only
        )
        tags.target_tags.required = self._inner_tags(lambda inner: inner.target_tags.required)
        tags.non_deterministic = self._inner_tags(lambda inner: inner.non_deterministic)
        return tags


def _as_coordinates(found: Any, source: str) -> Floats:
    """Return the coordinates as the core takes them."""
    if sparse.issparse(found):
        raise ParameterError(
            f"parameter `estimator`: its `{source}` is a sparse matrix, not an array"
        )
    coordinates = np.require(np.asarray(found), dtype=np.float64, requirements=["C", "ALIGNED"])
    if coordinates.ndim != 2:  # noqa: PLR2004
        raise InputError(
            f"the estimator's `{source}` has shape {coordinates.shape}; one row of coordinates per "
            "row of X is needed"
        )
    return coordinates
