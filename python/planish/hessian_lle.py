"""Hessian eigenmaps under a name of their own, with as many neighbours as they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from . import _data
from ._neighborhood import LocalEmbedding
from .locally_linear import LocallyLinearEmbedding


class HessianLLE(LocallyLinearEmbedding):
    """Hessian eigenmaps (Hessian LLE): coordinates without curvature along the sheet.

    The same map as ``LocallyLinearEmbedding(method="hessian")``. The estimator of
    curvature has a column for every product of two coordinates and needs more
    neighbours than that class has by default; here their number follows
    `n_components`. A sheet that was bent without stretching is recovered up to an
    affine map, whatever its outline and its holes.

    Parameters
    ----------
    n_neighbors : int, "auto" or None, default="auto"
        Number of neighbours of each row, not counting itself; more than
        ``n_components * (n_components + 3) / 2``. "auto" is twice the smallest
        number that will do: 12 for two components, 20 for three, 30 for four, or as
        many as there are, unless `radius` is given.
    n_components : int, default=2
        Number of coordinates.
    reg : float, default=1e-3
        Regularisation of the weights that place new rows: this part of the trace of
        each local Gram matrix is added to its diagonal.
    eigen_solver : {"auto", "arpack", "dense", "iterative"}, default="auto"
        As in :class:`LocallyLinearEmbedding`.
    tol : float, default=1e-6
        Largest relative residual that counts as converged; 0 means working precision.
    max_iter : int or None, default=100
        Iterations of the solver before it gives up, but never fewer than 1000.
    hessian_tol : float, default=1e-4
        Columns of the local Hessians are divided by their sums where these are at
        least this large, which they are only by rounding.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are searched.
    n_jobs : int, default=None
        Number of threads, as in :class:`LocallyLinearEmbedding`.
    radius : float or None, default=None
        Rows closer than this are neighbours.
    metric : str or callable, default="minkowski"
        Which rows are near; "precomputed" when X is a square matrix of distances.
    p : float, default=2
        Power of the "minkowski" metric, at least 1.
    metric_params : dict, default=None
        Further arguments of the metric.
    disconnected : {"bridge", "largest", "error"}, default="bridge"
        What to do when the graph of neighbours falls into several components, as in
        :class:`LocallyLinearEmbedding`.
    isolated : {"error", "nearest"}, default="error"
        What `transform` does with a row that has no training row within `radius`.
    neighbors : array-like of int, sparse matrix or None, default=None
        The neighbours of the training rows, when you know them.
    verbose : int, default=0
        1 writes progress to stderr about once a second, 2 all of it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32. Columns have
        norm one and mean zero.
    n_neighbors_ : int
        Number of neighbours that was used; not there with `radius`.
    reconstruction_error_ : float
        What is left of the local conditions: the sum of `eigenvalues_`.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the alignment matrix that belong to the columns, smallest
        first.
    eigenvalue_residuals_ : ndarray of shape (n_components,)
        ``‖M v − λ v‖`` of each column, how exact its eigenvector is.
    n_iter_ : int
        Number of iterations of the eigensolver, 1 for a direct one.
    graph_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The graph of neighbours, symmetric; stored entries are distances.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each row in that graph.
    n_connected_components_ : int
        Number of those components.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        A search over the array given to ``fit``, built when first asked for;
        not pickled.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has names that are all strings.

    See Also
    --------
    LocallyLinearEmbedding : The whole family, with scikit-learn's parameters.

    Notes
    -----
    This is the method of its authors: scikit-learn's ``method="hessian"`` takes more
    columns than the quadratic ones and is the same as its ``"ltsa"``.

    References
    ----------
    .. [1] D. L. Donoho, C. Grimes, "Hessian eigenmaps: locally linear embedding
       techniques for high-dimensional data", PNAS 100 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import HessianLLE
    >>> rng = np.random.default_rng(0)
    >>> angle, height = 3 * rng.random(400), rng.random(400)
    >>> sheet = np.column_stack([np.cos(angle), np.sin(angle), height])
    >>> hessian = HessianLLE().fit(sheet)
    >>> hessian.n_neighbors_
    12
    >>> design = np.column_stack([hessian.embedding_, np.ones(400)])
    >>> fitted = design @ np.linalg.lstsq(design, angle, rcond=None)[0]
    >>> bool(np.corrcoef(fitted, angle)[0, 1] > 0.999)
    True
    """

    _python_params: ClassVar[frozenset[str]] = LocalEmbedding._python_params | {"neighbors"}
    _core_only_params: ClassVar[frozenset[str]] = frozenset(
        {"method", "modified_tol", "nonnegative"}
    )

    n_neighbors: Any
    n_neighbors_: int

    def __init__(
        self,
        *,
        n_neighbors: int | str | None = "auto",
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = 100,
        hessian_tol: float = 1e-4,
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        radius: float | None = None,
        metric: str | Callable[..., float] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        disconnected: str = "bridge",
        isolated: str = "error",
        neighbors: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.hessian_tol = hessian_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.radius = radius
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.disconnected = disconnected
        self.isolated = isolated
        self.neighbors = neighbors
        self.verbose = verbose

    def _core_params(self) -> dict[str, Any]:
        params = super()._core_params()
        return {**params, "method": "hessian", "n_neighbors": self._neighbors_wanted(None)}

    def _training_data(self, X: Any) -> tuple[_data.CoreData, dict[str, Any]]:
        data, changed = super()._training_data(X)
        wanted = self._neighbors_wanted(X.shape[0])
        if wanted is not None:
            self.n_neighbors_ = wanted
        return data, {**changed, "n_neighbors": wanted}

    def _neighbors_wanted(self, n_samples: int | None) -> Any:
        if not (isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"):
            return super()._neighbors_wanted(n_samples)
        if self.radius is not None:
            return None
        components = self.n_components
        if not isinstance(components, (int, np.integer)) or components < 1:
            components = 2  # the core says what is wrong with it
        least = 1 + components + components * (components + 1) // 2
        return 2 * least if n_samples is None else min(2 * least, max(least, n_samples - 1))
