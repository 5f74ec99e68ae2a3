"""Principal component analysis."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core, _data
from ._docs import documented
from ._embedding import Embedding
from ._inputs import Input
from ._random import check_seed, seed_of
from ._threads import thread_count
from ._types import Coordinates, Floats, MatrixLike, PowerNormalizer, RandomState, SvdSolver
from .exceptions import ParameterError, UnsupportedError


@documented
class PCA(Embedding):
    """Principal component analysis.

    Projects the centred data onto the orthonormal directions of largest
    variance. The parameters are those of :class:`sklearn.decomposition.PCA`,
    followed by two of our own. The directions are always computed to working
    precision, so the four parameters that trade accuracy for time there are
    accepted and checked but have no effect here.

    Parameters
    ----------
    n_components : int, float, "mle", "auto" or None, default=None
        Number of components: None keeps min(n_samples, n_features), a float
        strictly between 0 and 1 keeps the fewest that explain more than this
        share of the variance, "mle" chooses by Minka's likelihood. "auto" keeps as
        many as the data has intrinsic dimensions (:mod:`planish.dimension`): of a
        curved manifold these are fewer than its variance needs.
    copy : bool, default=True
        No effect: X is never changed.
    whiten : bool, default=False
        Divide each coordinate by its standard deviation.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        How the directions are found. "arpack" and "randomized" both name the
        block Krylov solver, which goes on until it has converged.
    tol : float, default=0.0
        {tol}
    iterated_power : int or "auto", default="auto"
        No effect.
    n_oversamples : int, default=10
        No effect.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        No effect.
    random_state : int, RandomState instance or None, default=None
        Seeds the start block of the iterative solver, which changes nothing
        but the last digits; None is a fixed seed.
    n_jobs : int, default=None
        {n_jobs}
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions of largest variance, largest first.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance along each direction, with n_samples - 1 degrees of freedom.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        The same as shares of the total variance.
    singular_values_ : ndarray of shape (n_components_,)
        Singular values of the centred data.
    eigenvalues_ : ndarray of shape (n_components_,)
        Their squares, the eigenvalues :class:`ClassicalMDS` finds.
    mean_ : ndarray of shape (n_features,)
        Mean of each column.
    n_samples_ : int
        Number of training rows.
    noise_variance_ : float
        Mean variance of the directions that were dropped.
    {seen_in_fit}

    Warns
    -----
    ConvergenceWarning
        The iterative solver stopped before its tolerance.
    RankDeficientWarning
        The data has fewer dimensions than the number `n_components` asks for; the other
        components have no variance.

    See Also
    --------
    ClassicalMDS : The same coordinates from distances.
    KernelMDS : The same for other kernels than the linear one.

    Notes
    -----
    Use: points near a flat subspace; a first look, or fewer columns for another method.

    Time: n·D², in one pass.

    Fitted attributes are float64 also for float32 data; coordinates follow the
    data. ``get_covariance`` and ``get_precision`` describe the data whether
    `whiten` is set or not.

    References
    ----------
    .. [1] M. E. Tipping, C. M. Bishop, "Probabilistic principal component
       analysis", J. R. Statist. Soc. B 61 (1999).
    .. [2] T. P. Minka, "Automatic choice of dimensionality for PCA", NIPS 13 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(n_components=2).fit(X)
    >>> print(pca.explained_variance_ratio_.round(4))
    [0.9924 0.0076]
    >>> bool(np.allclose(pca.inverse_transform(pca.transform(X)), X))
    True
    """

    _method: ClassVar[str] = "PCA"
    _python_params: ClassVar[frozenset[str]] = Embedding._python_params | {
        "copy",
        "iterated_power",
        "n_oversamples",
        "power_iteration_normalizer",
        "random_state",
    }

    components_: Floats
    explained_variance_: Floats
    explained_variance_ratio_: Floats
    singular_values_: Floats
    eigenvalues_: Floats
    mean_: Floats
    n_components_: int
    n_samples_: int
    noise_variance_: float

    def __init__(
        self,
        n_components: float | Literal["mle", "auto"] | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: SvdSolver = "auto",
        tol: float = 0.0,
        iterated_power: int | Literal["auto"] = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: PowerNormalizer = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def inverse_transform(self, X: MatrixLike) -> Coordinates:
        """Return the points whose coordinates are the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_components_)
            Coordinates, as :meth:`transform` returns them.

        Returns
        -------
        X_original : ndarray of shape (n_queries, n_features)
            The points of the component plane, whitening undone.
        """
        check_is_fitted(self)
        given = check_array(X, input_name="X", dtype=[np.float64, np.float32], order="C")
        coordinates = np.require(given, dtype=np.float64, requirements=["C", "ALIGNED"])
        with self._progress("inverse_transform") as progress:
            result = self._model.inverse_transform(coordinates, thread_count(self.n_jobs), progress)
        points: Coordinates = _data.as_dtype(result, given.dtype)
        return points

    def get_covariance(self) -> Floats:
        """Compute the covariance of the probabilistic model.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            ``V (Λ - σ²) Vᵀ + σ² I`` with the directions V, their variances Λ
            and the noise variance σ².
        """
        check_is_fitted(self)
        V = self.components_.T
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        covariance: Floats = (V * excess) @ V.T
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        return covariance

    def get_precision(self) -> Floats:
        """Compute the inverse of :meth:`get_covariance`.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            ``V (Λ⁻¹ - σ⁻²) Vᵀ + σ⁻² I``.

        Raises
        ------
        UnsupportedError
            The covariance has no inverse: the data lies in a subspace.
        """
        variances, rest = self._model_variances()
        V = self.components_.T
        if rest == 0.0:
            full: Floats = (V / variances) @ V.T
            return full
        precision: Floats = (V * (1.0 / variances - 1.0 / rest)) @ V.T
        precision.flat[:: len(precision) + 1] += 1.0 / rest
        return precision

    def score_samples(self, X: MatrixLike) -> Floats:
        """Compute the log-likelihood of each row under the probabilistic model.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The data.

        Returns
        -------
        log_likelihood : ndarray of shape (n_queries,)
            One number per row.
        """
        check_is_fitted(self)
        rows = check_array(self._validated(X, reset=False), input_name="X", dtype=np.float64)
        variances, rest = self._model_variances()
        features = self.n_features_in_
        log_determinant = np.log(variances).sum()
        if rest > 0.0:
            log_determinant += (features - len(variances)) * np.log(rest)
        centred = rows - self.mean_
        squares = np.einsum("ij,ij->i", centred @ self.get_precision(), centred)
        likelihood: Floats = -0.5 * (squares + features * np.log(2.0 * np.pi) + log_determinant)
        return likelihood

    def score(self, X: MatrixLike, y: object = None) -> float:
        """Compute the mean log-likelihood of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The data.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        log_likelihood : float
            The mean of :meth:`score_samples`.
        """
        return float(self.score_samples(X).mean())

    def _model_variances(self) -> tuple[Floats, float]:
        """Return the variance along each direction and along all others; none is zero."""
        check_is_fitted(self)
        rest = float(self.noise_variance_)
        variances = np.maximum(self.explained_variance_, rest)
        complete = self.n_components_ == self.n_features_in_
        if (rest == 0.0 and not complete) or not np.all(variances > 0.0):
            raise UnsupportedError(
                "the covariance of the data is singular and has no inverse; keep fewer components, "
                "so that the rest has a variance"
            )
        return variances, 0.0 if complete else rest

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _remember(self, model: _core.Model, given: Input, X: Any) -> None:
        super()._remember(model, given, X)
        self.n_samples_ = X.shape[0]
        self._n_features_out = self.n_components_

    def _check_python_params(self) -> None:
        _require(isinstance(self.copy, (bool, np.bool_)), "copy", "a bool", self.copy)
        _require(
            _at_least(self.iterated_power, 0) or self.iterated_power == "auto",
            "iterated_power",
            "'auto' or an int of at least 0",
            self.iterated_power,
        )
        _require(
            _at_least(self.n_oversamples, 1),
            "n_oversamples",
            "an int of at least 1",
            self.n_oversamples,
        )
        _require(
            self.power_iteration_normalizer in ("auto", "QR", "LU", "none"),
            "power_iteration_normalizer",
            "'auto', 'QR', 'LU' or 'none'",
            self.power_iteration_normalizer,
        )
        check_seed(self.random_state)


def _at_least(value: object, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _require(holds: bool, name: str, expected: str, got: object) -> None:
    if not holds:
        raise ParameterError(f"parameter `{name}`: expected {expected}, got {got!r}")
