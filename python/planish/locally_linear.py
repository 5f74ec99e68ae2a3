"""Locally linear embedding and its relatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from . import _core
from ._docs import documented
from ._inputs import Input
from ._neighborhood import NeighborhoodEmbedding
from ._neighbors import SearchedNeighborhoods, SearchedNeighbors
from ._types import (
    Coordinates,
    DisconnectedNeighborhoods,
    Floats,
    Graph,
    Isolated,
    LocalMethod,
    MatrixLike,
    Metric,
    NeighborsAlgorithm,
    RandomState,
    SparseEigenSolver,
)
from .exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors


@documented
class LocallyLinearEmbedding(NeighborhoodEmbedding):
    """Locally linear embedding: coordinates that keep how each row lies among its neighbours.

    Four methods in one class. Each describes every small neighbourhood by a few
    linear conditions and finds the coordinates that meet all of them best: the
    eigenvectors of a sparse matrix with the smallest eigenvalues, the constant
    one left out. The parameters are those of
    :class:`sklearn.manifold.LocallyLinearEmbedding`, followed by a few of our
    own.

    Parameters
    ----------
    n_neighbors : int, "auto" or None, default=5
        Number of neighbours of each row, not counting itself. "auto" takes as many as
        `method` and `n_components` need: 12 for two components, 15 for three, 18 for
        four, and so on, with "hessian" 12, 20, 30 and so on; or all there are. Set it
        to None to use `radius`; with "auto" a `radius` is used if there is one.
        With `n_components` "auto" it is the number for two.
    n_components : int or "auto", default=2
        {n_components}
    reg : float, default=1e-3
        Regularisation of the weights of "standard" and "modified", and of those
        that place new rows: this part of the trace of each local Gram matrix is added to its
        diagonal. At most 1e8; all weights are equal long before that.
    eigen_solver : {"auto", "arpack", "dense", "iterative"}, default="auto"
        "arpack" inverts the matrix by a sparse factorisation and iterates with
        that (the name is scikit-learn's, the solver a block Krylov method),
        "dense" decomposes the whole matrix, "iterative" needs no factor, "auto"
        takes the best.
    tol : float, default=1e-6
        Largest relative residual that counts as converged; below 1, and 0 means
        working precision. A bound: the solvers go on to 1e-10 in any case, because
        the wanted eigenvalues are tiny next to the others.
    max_iter : int or None, default=100
        Iterations of the solver before it gives up, but never fewer than 1000:
        scikit-learn counts restarts of many steps each.
    method : {"standard", "modified", "hessian", "ltsa"}, default="standard"
        "standard" keeps the weights that reconstruct each row from its neighbours [1]_,
        "modified" several independent weight vectors for each row [2]_,
        "hessian" lets the coordinates have no curvature in the tangent
        coordinates of any neighbourhood [3]_, "ltsa" aligns those tangent
        coordinates [4]_. All but the first recover a sheet that was bent without
        stretching, up to an affine map, holes or not.
    hessian_tol : float, default=1e-4
        Columns of the local Hessians of "hessian" are divided by their sums where
        these are at least this large, which they are only by rounding.
    modified_tol : float, default=1e-12
        Reflections of "modified" that move its vectors by less than this are left
        out.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        How neighbours are searched. All give the same neighbours, unless `metric` is
        a callable that breaks the triangle inequality: "auto" is then "brute", and
        trees may miss some.
    random_state : int, RandomState instance or None, default=None
        {unused_random_state}
    n_jobs : int, default=None
        {n_jobs}
    radius : float or None, default=None
        {radius}
    metric : str or callable, default="minkowski"
        Which rows are near: a name scikit-learn knows or a callable of two rows.
        It chooses the neighbours and nothing else: weights and tangent spaces are
        linear in the columns of X whatever the metric. With "precomputed" X is a
        square matrix of distances, and these are the geometry of the
        neighbourhoods too, as if they were Euclidean.
    p : float, default=2
        {p}
    metric_params : dict, default=None
        {metric_params}
    nonnegative : bool, default=False
        Let the weights of "standard", and those that place new rows, be at least
        zero, so that each row is described as lying between its neighbours.
    disconnected : {"separate", "largest", "error"}, default="separate"
        What to do when the graph of neighbours has several connected components.
        "separate" embeds each on its own and puts the results side by side, so that
        their relative position means nothing, "largest" embeds the largest
        component and gives all other rows NaN, "error" raises
        :class:`~planish.exceptions.DisconnectedGraphError`. `transform` knows only
        the rows that were embedded: with "largest" a row that was left out is placed
        like any new row, however far it lies.
    isolated : {"error", "nearest"}, default="error"
        What `transform` does with a row that has no training row within
        `radius`: raise an error that names it, or give it the coordinates of its
        nearest training row, however far. With `n_neighbors` every row has
        neighbours.
    neighbors : array-like of int, sparse matrix or None, default=None
        The neighbours of the training rows, when you know them: their numbers, of
        shape (n_samples, k), or a graph of shape (n_samples, n_samples) whose stored
        entries are neighbours, whatever their values. A row's entry for itself is
        ignored. `n_neighbors`, `radius` and `metric` then only find the neighbours of
        new rows.
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32. Columns have
        norm one and mean zero, as in scikit-learn.
    n_neighbors_ : int
        {n_neighbors_}
    reconstruction_error_ : float
        What is left of the local conditions: the sum of `eigenvalues_`.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the alignment matrix that belong to the columns, smallest
        first.
    eigenvalue_residuals_ : ndarray of shape (n_components,)
        ``‖M v − λ v‖`` of each column, how exact its eigenvector is; the largest
        of those of the connected components.
    n_iter_ : int
        {n_iter_}
    graph_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The graph of neighbours, symmetric; stored entries are distances, Euclidean
        ones where `neighbors` were given.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each row in that graph.
    n_connected_components_ : int
        {n_connected_components_}
    nbrs_ : sklearn.neighbors.NearestNeighbors
        {nbrs_}
    {seen_in_fit}

    Warns
    -----
    DisconnectedGraphWarning
        The graph has several connected components: they were embedded separately, or
        all but the largest left out. With "standard", and with "modified" where a row
        has a single weight vector, also: groups of rows have no neighbours but each
        other, and each group is one point in some columns.
    ConvergenceWarning
        The eigensolver stopped before its tolerance.
    InputAdjustedWarning
        Duplicates would leave some rows fewer distinct neighbours than the method
        needs; or precomputed distances were symmetric only up to rounding and were
        made so.
    RankDeficientWarning
        The distinct rows of every component are too few, or span too few dimensions,
        for `n_components` columns; most neighbourhoods span fewer directions than
        that, so that further columns only repeat the others; or the next eigenvalue is
        that of the last column, which is then an arbitrary direction of their
        eigenspace.

    See Also
    --------
    Isomap : Keeps distances along the manifold instead.
    SpectralEmbedding : Keeps neighbours near, whatever their distances.
    planish.locally_linear_embedding : The same as a function.

    Notes
    -----
    Use: a curved surface, with holes too (methods "ltsa" and "hessian").

    Time: n·log n for the neighbours, n·k³ for the weights, and a sparse factorisation.

    "hessian" needs more than ``n_components * (n_components + 3) / 2``
    neighbours, "ltsa" more than ``n_components + 1``, "modified" at least
    `n_components`. "hessian" is that of its authors: scikit-learn's takes more
    columns than the quadratic ones and is the same as "ltsa".

    Duplicates count as one row, and the neighbours of a row are `n_neighbors`
    distinct rows; unlike in scikit-learn, duplicates always get the same
    coordinates. Rows are duplicates when their values are equal, whatever the
    metric says, and only with "precomputed" when their distance is zero.

    A new row is placed by the weights that reconstruct it from its neighbours among
    the training rows, whatever the method. The weights sum to one however far the
    row is: one far from all training rows gets coordinates without meaning, and no
    warning. Use `radius` to have such rows refused.

    References
    ----------
    .. [1] S. T. Roweis, L. K. Saul, "Nonlinear dimensionality reduction by
       locally linear embedding", Science 290 (2000).
    .. [2] Z. Zhang, J. Wang, "MLLE: Modified locally linear embedding using
       multiple weights", NIPS 19 (2006).
    .. [3] D. L. Donoho, C. Grimes, "Hessian eigenmaps: locally linear embedding
       techniques for high-dimensional data", PNAS 100 (2003).
    .. [4] Z. Zhang, H. Zha, "Principal manifolds and nonlinear dimensionality
       reduction via tangent space alignment", SIAM J. Sci. Comput. 26 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import LocallyLinearEmbedding
    >>> rng = np.random.default_rng(0)
    >>> angle, height = 3 * rng.random(400), rng.random(400)
    >>> sheet = np.column_stack([np.cos(angle), np.sin(angle), height])
    >>> ltsa = LocallyLinearEmbedding(n_neighbors=10, method="ltsa").fit(sheet)
    >>> design = np.column_stack([ltsa.embedding_, np.ones(400)])
    >>> fitted = design @ np.linalg.lstsq(design, angle, rcond=None)[0]
    >>> bool(np.corrcoef(fitted, angle)[0, 1] > 0.999)
    True
    """

    _method: ClassVar[str] = "LocallyLinearEmbedding"
    _python_params: ClassVar[frozenset[str]] = NeighborhoodEmbedding._python_params | {
        "random_state",
        "neighbors",
    }
    _on_demand: ClassVar[Mapping[str, str]] = {"nbrs_": "_neighbor_search"}

    eigenvalue_residuals_: Floats
    reconstruction_error_: float
    graph_: Graph
    n_neighbors_: int
    nbrs_: NearestNeighbors

    def __init__(
        self,
        *,
        n_neighbors: int | Literal["auto"] | None = 5,
        n_components: int | Literal["auto"] = 2,
        reg: float = 1e-3,
        eigen_solver: SparseEigenSolver = "auto",
        tol: float = 1e-6,
        max_iter: int | None = 100,
        method: LocalMethod = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: NeighborsAlgorithm = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        radius: float | None = None,
        metric: Metric = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        nonnegative: bool = False,
        disconnected: DisconnectedNeighborhoods = "separate",
        isolated: Isolated = "error",
        neighbors: MatrixLike | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.radius = radius
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.nonnegative = nonnegative
        self.disconnected = disconnected
        self.isolated = isolated
        self.neighbors = neighbors
        self.verbose = verbose

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        if isinstance(params["n_neighbors"], str) and params["n_neighbors"] == "auto":
            params["n_neighbors"] = self._automatic_neighbors(n_samples)
        return params

    def _automatic_neighbors(self, n_samples: int) -> int | None:
        """Return how many neighbours "auto" means among so many rows."""
        if self.radius is not None:
            return None
        p: Any = self.n_components
        if not isinstance(p, (int, np.integer)) or p < 1:
            p = 2  # the core says what is wrong with it
        wanted = 3 * (p + 2)
        if self.method == "hessian":  # twice as many as it has quadratic terms
            wanted = max(wanted, 2 * (1 + p + p * (p + 1) // 2))
        return int(max(1, min(wanted, n_samples - 1)))

    def _input_of(self, X: Any) -> Input:
        metric = self._metric()
        if metric.precomputed and self.neighbors is not None:
            raise ParameterError(
                "parameter `neighbors`: the neighbours of points, but metric='precomputed' "
                "says that X are distances"
            )
        if metric.precomputed or (metric.native and self.neighbors is None):
            return super()._input_of(X)
        if metric.native:
            return SearchedNeighborhoods(None, self.neighbors, metric=metric.name, p=metric.p)
        # Trees rely on the triangle inequality, which a callable need not obey.
        trusted = not callable(metric.name) or self.neighbors_algorithm != "auto"
        search = SearchedNeighbors(
            metric,
            self._core_params(X.shape[0])["n_neighbors"],
            self.radius,
            self.neighbors_algorithm if trusted else "brute",
            bridge=False,
            attach=self.isolated == "nearest",
            distinct=True,
        )
        return SearchedNeighborhoods(search, self.neighbors, metric="precomputed")

    def _remember(self, model: _core.Model, given: Input, X: Any) -> None:
        super()._remember(model, given, X)
        wanted = self._core_params(X.shape[0])["n_neighbors"]
        if wanted is not None:
            self.n_neighbors_ = int(wanted)


def locally_linear_embedding(
    X: MatrixLike | NearestNeighbors,
    *,
    n_neighbors: int | Literal["auto"],
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: SparseEigenSolver = "auto",
    tol: float = 1e-6,
    max_iter: int | None = 100,
    method: LocalMethod = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> tuple[Coordinates, float]:
    """Compute a locally linear embedding, as :func:`sklearn.manifold.locally_linear_embedding`.

    Parameters
    ----------
    X : {array-like, sparse matrix, NearestNeighbors} of shape (n_samples, n_features)
        The data, or a fitted :class:`sklearn.neighbors.NearestNeighbors` over it.
    n_neighbors : int or "auto"
        Number of neighbours of each row, as in :class:`LocallyLinearEmbedding`.
    n_components : int
        Number of coordinates.
    reg, eigen_solver, tol, max_iter, method, hessian_tol, modified_tol, random_state, n_jobs
        As in :class:`LocallyLinearEmbedding`.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_components)
        Coordinates of the rows.
    squared_error : float
        The sum of the eigenvalues, ``reconstruction_error_`` of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import locally_linear_embedding
    >>> angle = np.linspace(0.0, 3.0, 200)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> Y, squared_error = locally_linear_embedding(
    ...     arc, n_neighbors=6, n_components=1, method="ltsa"
    ... )
    >>> bool(abs(np.corrcoef(Y[:, 0], angle)[0, 1]) > 0.9999)
    True
    """
    estimator = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        reg=reg,
        eigen_solver=eigen_solver,
        tol=tol,
        max_iter=max_iter,
        method=method,
        hessian_tol=hessian_tol,
        modified_tol=modified_tol,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(getattr(X, "_fit_X", X))
    return estimator.embedding_, estimator.reconstruction_error_
