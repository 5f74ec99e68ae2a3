"""Classical multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _data
from ._base import Embedding
from ._foreign import Metric, resolve_metric
from .exceptions import InputError


class MetricEmbedding(Embedding):
    """An embedding made from distances under any metric, or given ones."""

    _python_params: ClassVar[frozenset[str]] = Embedding._python_params | {"metric_params"}
    _core_only_params: ClassVar[frozenset[str]] = frozenset({"p"})

    metric: str | Callable[..., float]
    metric_params: dict[str, Any] | None

    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _takes_sparse(self) -> bool:
        return not self._precomputed()

    def _only_positive(self) -> bool:
        return self._precomputed()

    def _metric(self) -> Metric:
        return resolve_metric(self.metric, 2, self.metric_params)

    def _training_data(self, X: Any) -> tuple[_data.CoreData, dict[str, Any]]:
        metric = self._metric()
        if self._precomputed():
            return _data.distances(_require_dense(X)), {}
        if metric.native:
            return _data.points(X), {"metric": metric.name, "p": metric.p}
        metric.check_values(X)
        self._foreign = X
        return _data.distances(metric.learned(X).pairwise(X)), {"metric": "precomputed"}

    def _new_data(self, X: Any) -> _data.CoreData:
        if self._precomputed():
            return _data.distances(_require_dense(X))
        metric = self._metric()
        if metric.native:
            return _data.points(X)
        metric.check_values(X)
        return _data.distances(metric.learned(self._foreign).pairwise(X, self._foreign))


class ClassicalMDS(MetricEmbedding):
    """Classical multidimensional scaling, also called principal coordinates analysis.

    Finds the coordinates whose inner products are closest to the doubly centred
    squared distances ``K = -1/2 H D² H``: ``V sqrt(Λ)`` with the largest
    eigenpairs of ``K``. On Euclidean distances it equals PCA, up to signs, and
    it is then computed from the points without any n × n matrix.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    metric : str or callable, default="euclidean"
        How distances between rows are measured: a name scikit-learn knows, a
        callable of two rows, or "precomputed" when X is the square matrix of
        distances.
    metric_params : dict, default=None
        Further arguments of the metric, for example ``{"p": 3}`` for
        "minkowski".
    origin : None, int or array-like of shape (n_samples,), default=None
        Which point becomes the origin: None for the mean of all points, an int
        for that row, or weights of the rows that sum to one.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" iterates for the wanted
        eigenpairs only (the name is scikit-learn's, the solver a block Krylov
        method), "auto" takes the faster.
    tol : float, default=0.0
        Relative residual at which the iteration stops; 0 means working precision.
    max_iter : int, default=None
        Most iterations of the iterative solver; None for as many as it takes.
    n_jobs : int, default=None
        Number of threads. None uses every core this process may use, unless a
        :func:`joblib.parallel_config` context sets a number; negative numbers
        count back from the cores, so -1 is all. Results are the same to the
        last bit whatever the number.
    verbose : int, default=0
        1 writes progress to stderr about once a second, 2 all of it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of K that belong to the columns, largest first. With the
        default origin they are the squared norms of the columns.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        The distances, computed when first asked for from the array given to
        ``fit``; neither pickled nor copied.
    n_iter_ : int
        Number of iterations of the eigensolver, 1 for a direct one.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has names that are all strings.

    Warns
    -----
    NegativeEigenvalueWarning
        The distances are not Euclidean: columns that would be imaginary are zero.
    RankDeficientWarning
        Fewer than `n_components` dimensions carry information.
    InputAdjustedWarning
        A precomputed matrix was symmetric only up to rounding and was made so.

    See Also
    --------
    PCA : The same coordinates from points, with loadings.
    KernelMDS : The same from any positive semi-definite kernel.
    Isomap : The same on distances along a curved manifold.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method",
       Psychometrika 17 (1952).
    .. [2] J. C. Gower, "Some distance properties of latent root and vector
       methods used in multivariate analysis", Biometrika 53 (1966).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import ClassicalMDS
    >>> distances = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> mds = ClassicalMDS(metric="precomputed").fit(distances)
    >>> Y = mds.embedding_
    >>> bool(np.isclose(np.linalg.norm(Y[0] - Y[2]), 5.0))
    True
    >>> bool(np.array_equal(mds.transform(distances[:1]), Y[:1]))
    True
    """

    _method: ClassVar[str] = "ClassicalMDS"
    _on_demand: ClassVar[Mapping[str, str]] = {
        "dissimilarity_matrix_": "_compute_dissimilarity_matrix"
    }

    eigenvalues_: NDArray[np.float64]
    dissimilarity_matrix_: NDArray[np.float64]
    n_iter_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        origin: int | ArrayLike | None = None,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.origin = origin
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _core_params(self) -> dict[str, Any]:
        params = super()._core_params()
        if isinstance(params["origin"], (list, tuple, np.ndarray)):
            params["origin"] = np.ascontiguousarray(params["origin"], dtype=np.float64)
        return params

    def _compute_dissimilarity_matrix(self) -> Any:
        X = self._training_input("dissimilarity_matrix_")
        return X if self._precomputed() else self._metric().pairwise(X)


def _require_dense(X: Any) -> Any:
    from ._data import is_sparse

    if is_sparse(X):
        raise InputError(
            "X is a sparse matrix, but precomputed distances must be dense: entries that are not "
            "stored are unknown, not zero; pass X.toarray() if every distance is stored"
        )
    return X
