"""Kernel classical MDS, the same thing as kernel PCA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _data
from ._base import Embedding
from ._foreign import NATIVE_KERNELS, foreign_kernel
from .classical_mds import _require_dense


class KernelMDS(Embedding):
    """Classical scaling of a kernel, the same thing as kernel PCA.

    The coordinates are ``V sqrt(Λ)`` with the largest eigenpairs of the centred
    kernel ``H K H``.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
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
        Eigenvalues of the centred kernel, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of norm one.
    gamma_ : float
        The value of `gamma` that was used, when planish evaluates the kernel.
    n_iter_ : int
        Number of iterations of the eigensolver, 1 for a direct one.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has names that are all strings.

    Warns
    -----
    NegativeEigenvalueWarning
        The kernel is not positive semi-definite ("sigmoid" need not be).
    RankDeficientWarning
        Fewer than `n_components` dimensions carry information.
    InputAdjustedWarning
        A precomputed matrix was symmetric only up to rounding and was made so.

    See Also
    --------
    ClassicalMDS : The same from distances.
    PCA : The same for the linear kernel.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear component analysis as
       a kernel eigenvalue problem", Neural Computation 10 (1998).
    .. [2] C. K. I. Williams, "On a connection between kernel PCA and metric
       multidimensional scaling", Machine Learning 46 (2002).

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
    """

    _method: ClassVar[str] = "KernelMDS"
    _python_params: ClassVar[frozenset[str]] = Embedding._python_params | {"kernel_params"}

    eigenvalues_: NDArray[np.float64]
    eigenvectors_: NDArray[np.float64]
    gamma_: float
    n_iter_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _takes_sparse(self) -> bool:
        return not self._precomputed()

    def _native(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel in NATIVE_KERNELS

    def _evaluate(self, X: Any, Y: Any = None) -> Any:
        columns = self.n_features_in_
        gamma = 1.0 / columns if self.gamma is None else self.gamma
        defaults = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0}
        return foreign_kernel(self.kernel, self.kernel_params, defaults, X, Y)

    def _training_data(self, X: Any) -> tuple[_data.CoreData, dict[str, Any]]:
        if self._precomputed():
            return _data.kernel(_require_dense(X)), {}
        if self._native():
            return _data.points(X), {}
        K = self._evaluate(X)
        self._foreign = X
        return _data.kernel(K), {"kernel": "precomputed"}

    def _new_data(self, X: Any) -> _data.CoreData:
        if self._precomputed():
            return _data.kernel(_require_dense(X))
        if self._native():
            return _data.points(X)
        return _data.kernel(self._evaluate(X, self._foreign))
