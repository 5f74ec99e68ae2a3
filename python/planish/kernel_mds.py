"""Kernel classical MDS, the same thing as kernel PCA."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import linalg
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core, _data
from ._docs import documented
from ._embedding import Embedding
from ._inputs import Input, Points
from ._inputs import Kernel as KernelValues
from ._kernels import NATIVE_KERNELS, EvaluatedKernel, evaluate, kernel_arguments
from ._random import check_seed
from ._types import Kernel, KernelEigenSolver, RandomState
from ._warn import warn
from .exceptions import InputError, ParameterError, PlanishWarning, RankDeficientWarning

if TYPE_CHECKING:
    from ._types import Coordinates, Floats, MatrixLike


def _has_inverse(estimator: KernelMDS) -> bool:
    """Return whether the estimator has learned an inverse, or will when it is fitted."""
    fitted = vars(estimator)
    return "_inverse" in fitted if "_model" in fitted else bool(estimator.fit_inverse_transform)


@documented
class KernelMDS(Embedding):
    """Classical scaling of a kernel, the same thing as kernel PCA.

    The coordinates are ``V sqrt(Λ)`` with the largest eigenpairs of the centred
    kernel ``H K H``. The parameters are those of
    :class:`sklearn.decomposition.KernelPCA`, with two components by default.

    Parameters
    ----------
    n_components : int, "auto" or None, default=2
        {n_components}
        None keeps all that are not zero.
    kernel : str or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", any other
        kernel scikit-learn knows, a callable of two rows, or "precomputed" when
        X is the square matrix of kernel values.
    gamma : float, default=None
        Scale of "rbf", "laplacian", "poly" and "sigmoid"; None is 1 / n_features.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of a callable kernel, or of one only scikit-learn knows.
    alpha : float, default=1.0
        Regularisation of the ridge regression that learns the inverse; at least 0.
    fit_inverse_transform : bool, default=False
        Whether to learn :meth:`inverse_transform`, which finds points for given
        coordinates; it takes 16 n² bytes, and is not possible with "precomputed".
    eigen_solver : {"auto", "arpack", "dense", "randomized"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" and "randomized" iterate for
        the wanted eigenpairs only until they have converged (the names are
        scikit-learn's, the solver a block Krylov method), "auto" takes the faster.
    tol : float, default=0.0
        {tol}
    max_iter : int, default=None
        {max_iter}
    iterated_power : int or "auto", default="auto"
        No effect.
    remove_zero_eig : bool, default=False
        Whether columns that are zero, because the data has fewer dimensions than
        `n_components`, are left out, all but the first. With `n_components` None they
        always are.
    random_state : int, RandomState instance or None, default=None
        {unused_random_state}
    copy_X : bool, default=True
        No effect: X is never changed.
    n_jobs : int, default=None
        {n_jobs}
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_}
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of norm one.
    gamma_ : float
        The value of `gamma` that was used, when planish evaluates the kernel.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the inverse; only with `fit_inverse_transform`.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Coordinates the inverse was learned from; only with `fit_inverse_transform`.
    n_iter_ : int
        {n_iter_}
    {seen_in_fit}

    Warns
    -----
    NegativeEigenvalueWarning
        The kernel is not positive semi-definite ("sigmoid" need not be).
    RankDeficientWarning
        {RankDeficientWarning}
    InputAdjustedWarning
        {InputAdjustedWarning}
    PlanishWarning
        `alpha` is so small that the inverse has few correct digits.

    See Also
    --------
    ClassicalMDS : The same from distances.
    PCA : The same for the linear kernel.

    Notes
    -----
    Use: points and a kernel, a measure of their similarity.

    Time: n²·D for the kernel, and n² per pass, few passes.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear component analysis as
       a kernel eigenvalue problem", Neural Computation 10 (1998).
    .. [2] C. K. I. Williams, "On a connection between kernel PCA and metric
       multidimensional scaling", Machine Learning 46 (2002).
    .. [3] G. H. Bakır, J. Weston, B. Schölkopf, "Learning to find pre-images",
       NIPS 16 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import KernelMDS
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> model = KernelMDS(n_components=3, kernel="rbf", gamma=0.1).fit(X)
    >>> model.embedding_.shape
    (50, 3)
    >>> bool(np.allclose((model.embedding_**2).sum(axis=0), model.eigenvalues_))
    True

    Points for given coordinates, here of a kernel wide enough to be nearly linear:

    >>> model = KernelMDS(
    ...     n_components=4, kernel="rbf", gamma=0.01, fit_inverse_transform=True, alpha=1e-6
    ... ).fit(X)
    >>> bool(np.abs(model.inverse_transform(model.transform(X)) - X).max() < 0.1)
    True
    """

    _method: ClassVar[str] = "KernelMDS"
    _python_params: ClassVar[frozenset[str]] = Embedding._python_params | {
        "alpha",
        "copy_X",
        "fit_inverse_transform",
        "iterated_power",
        "kernel_params",
        "random_state",
        "remove_zero_eig",
    }

    eigenvalues_: Floats
    eigenvectors_: Floats
    gamma_: float
    dual_coef_: Floats
    X_transformed_fit_: Floats
    n_iter_: int
    _inverse: Inverse

    def __init__(
        self,
        n_components: int | Literal["auto"] | None = 2,
        *,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: KernelEigenSolver = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | Literal["auto"] = "auto",
        remove_zero_eig: bool = False,
        random_state: RandomState = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.verbose = verbose

    @available_if(_has_inverse)  # type: ignore[untyped-decorator, unused-ignore]
    def inverse_transform(self, X: MatrixLike) -> Coordinates:
        """Find points whose coordinates are near the rows of X.

        The map from coordinates to points is learned by ridge regression with the
        estimator's own kernel, when `fit_inverse_transform` is set.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_components)
            Coordinates, as :meth:`transform` returns them.

        Returns
        -------
        X_original : ndarray of shape (n_queries, n_features)
            The points, float32 when X is float32.
        """
        check_is_fitted(self)
        given = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        columns = self.X_transformed_fit_.shape[1]
        if given.shape[1] != columns:
            raise InputError(f"X has {given.shape[1]} columns, but the embedding has {columns}")
        found = self._inverse.kernel_of(given, self.X_transformed_fit_) @ self.dual_coef_
        points: Coordinates = _data.as_dtype(found, given.dtype)
        return points

    # -- how it is done -------------------------------------------------------------

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say why there is no inverse."""
            if name == "inverse_transform":
                raise NotFittedError(
                    "The fit_inverse_transform parameter was not set to True when the estimator "
                    "was fitted, so there is no inverse transform; set it and fit again"
                )
            return super().__getattr__(name)

    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _takes_sparse(self) -> bool:
        return not self._precomputed()

    def _drops_zeros(self) -> bool:
        return self.n_components is None or bool(self.remove_zero_eig)

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        if params["n_components"] is None:
            params["n_components"] = max(1, n_samples - 1)  # a centred kernel has no more
        if isinstance(params["eigen_solver"], str) and params["eigen_solver"] == "randomized":
            params["eigen_solver"] = "arpack"
        return params

    def _input_of(self, X: Any) -> Input:
        if self._precomputed():
            return KernelValues()
        if isinstance(self.kernel, str) and self.kernel in NATIVE_KERNELS:
            return Points()
        return EvaluatedKernel(self.kernel, self._arguments())

    def _arguments(self) -> dict[str, Any]:
        gamma = 1.0 / self.n_features_in_ if self.gamma is None else self.gamma
        defaults = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0}
        return kernel_arguments(self.kernel, self.kernel_params, defaults)

    def _fit(self, X: Any, y: Any = None) -> None:
        if not self._drops_zeros():
            super()._fit(X, y)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankDeficientWarning)
            super()._fit(X, y)

    def _remember(self, model: _core.Model, given: Input, X: Any) -> None:
        super()._remember(model, given, X)
        if self._drops_zeros():
            kept = max(1, int(self.embedding_.any(axis=0).sum()))
            self.embedding_ = self.embedding_[:, :kept]
            self.eigenvalues_ = self.eigenvalues_[:kept]
            self.eigenvectors_ = self.eigenvectors_[:, :kept]
            self._n_features_out = self.n_components_ = kept
        if self.fit_inverse_transform:
            self._inverse = Inverse(self.kernel, self._arguments())
            self.X_transformed_fit_ = np.asarray(self.embedding_, dtype=np.float64)
            self.dual_coef_ = self._inverse.coefficients(self.X_transformed_fit_, X, self.alpha)

    def _place(self, X: Any) -> Coordinates:
        placed = super()._place(X)
        with self._parts_that_fit():
            return placed[:, : self.embedding_.shape[1]]

    def _check_python_params(self) -> None:
        whole = isinstance(self.iterated_power, Integral) and int(self.iterated_power) >= 0
        if not whole and self.iterated_power != "auto":
            raise ParameterError(
                "parameter `iterated_power`: expected 'auto' or an int of at least 0, got "
                f"{self.iterated_power!r}"
            )
        for name in ("fit_inverse_transform", "remove_zero_eig", "copy_X"):
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise ParameterError(f"parameter `{name}`: expected a bool, got {value!r}")
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, Real) or not self.alpha >= 0:
            raise ParameterError(
                f"parameter `alpha`: expected a number of at least 0, got {self.alpha!r}"
            )
        if self.fit_inverse_transform and self._precomputed():
            raise ParameterError(
                "parameter `fit_inverse_transform`: Cannot fit_inverse_transform with a "
                "precomputed kernel: there are no points to find"
            )
        check_seed(self.random_state)


@dataclass(frozen=True)
class Inverse:
    """The ridge regression from coordinates to points: its kernel and arguments."""

    kernel: Any
    arguments: Mapping[str, Any]

    def kernel_of(self, X: Any, Y: Any) -> Any:
        """Evaluate the kernel between coordinates."""
        with np.errstate(all="ignore"):
            found = evaluate(self.kernel, self.arguments, np.asarray(X, dtype=np.float64), Y)
        if not np.isfinite(found).all():
            raise InputError(
                "the kernel of the coordinates exceeds the range of numbers, so there is no "
                "inverse; divide X by a typical size first"
            )
        return found

    def coefficients(self, coordinates: Any, X: Any, alpha: float) -> Any:
        """Solve for the coefficients that make the points from the coordinates."""
        if _data.is_sparse(X):
            raise InputError(
                "Inverse transform not implemented for sparse matrices: pass X.toarray(), or leave "
                "fit_inverse_transform=False"
            )
        rows = len(coordinates)
        _data.require_memory(
            16 * rows * rows,
            f"the {rows} × {rows} kernel of the inverse",
            "leave fit_inverse_transform=False, or use fewer rows",
        )
        K = self.kernel_of(coordinates, coordinates)
        K.flat[:: rows + 1] += alpha
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", linalg.LinAlgWarning)
                found = linalg.solve(K, X.astype(np.float64), assume_a="pos", overwrite_a=True)
        except linalg.LinAlgError as error:
            raise ParameterError(
                f"parameter `alpha`: {alpha} leaves the regression of the inverse without a "
                "solution, because the kernel of the coordinates is not positive definite; raise it"
            ) from error
        if caught:
            warn(
                f"the regression of the inverse is ill-conditioned with alpha = {alpha}: points of "
                "inverse_transform have few correct digits; raise `alpha`, or divide X by a "
                "typical size",
                PlanishWarning,
            )
        return found
