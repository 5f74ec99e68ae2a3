"""Laplacian eigenmaps, under scikit-learn's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from . import _core, _data
from ._docs import documented
from ._inputs import Affinities, CalledAffinities, DistancesOrGraph, Input
from ._neighborhood import NeighborhoodEmbedding
from ._types import (
    Affinity,
    Coordinates,
    DisconnectedAffinities,
    Floats,
    Graph,
    Indices,
    Isolated,
    LaplacianEigenSolver,
    MatrixLike,
    Metric,
    NeighborsAlgorithm,
    RandomState,
    Weights,
)
from .exceptions import ParameterError


@documented
class SpectralEmbedding(NeighborhoodEmbedding):
    """Laplacian eigenmaps: coordinates in which similar rows are near each other.

    The rows are the nodes of a graph whose edges carry affinities, and the
    coordinates are the eigenvectors of its normalised Laplacian
    ``I - D^(-1/2) W D^(-1/2)`` with the smallest eigenvalues, the constant one
    left out, divided by the square roots of the degrees; or, with
    `norm_laplacian=False`, those of ``D - W``. The parameters are
    those of :class:`sklearn.manifold.SpectralEmbedding`, followed by a few of
    our own; unlike there, new rows can be placed.

    Parameters
    ----------
    n_components : int or "auto", default=2
        {n_components}
    affinity : str or callable, default="nearest_neighbors"
        "nearest_neighbors" joins each row to its nearest, "rbf" all rows with the
        affinity ``exp(-gamma d²)``, which takes n² numbers. "precomputed" takes X
        as the matrix of affinities, dense or sparse, and
        "precomputed_nearest_neighbors" as a sparse graph of distances, of which
        each row keeps its nearest. A callable takes X and returns the matrix of
        affinities; for new rows it is called with those and the training rows,
        as the functions of :mod:`sklearn.metrics.pairwise` can be.
    gamma : float, default=None
        Scale of "rbf"; None is 1 / n_features.
    random_state : int, RandomState instance or None, default=None
        {unused_random_state}
    eigen_solver : {None, "auto", "arpack", "lobpcg", "amg", "iterative", "dense"}, default=None
        "dense" decomposes the whole matrix; "arpack" inverts it by a sparse
        factorisation and iterates with that; "lobpcg", "amg" and "iterative" are
        one that needs no factor (the names are scikit-learn's, the solvers our
        own). None and "auto" take the best.
    eigen_tol : float or "auto", default="auto"
        Largest relative residual that counts as converged; "auto" means working
        precision. A bound: on a sparse graph the solvers go on to 1e-10 in any
        case, which takes little longer.
    n_neighbors : int, default=None
        Number of neighbours of each row; as in scikit-learn a row counts as one
        of its own. None is a tenth of the rows (up to 6 of fewer than 20 rows),
        unless `radius` is given.
    n_jobs : int, default=None
        {n_jobs}
    weights : {"connectivity", "heat"}, default="connectivity"
        Affinity of neighbours: 1 when each is a neighbour of the other and 1/2
        when only one is, or ``exp(-d² / bandwidth²)``.
    bandwidth : float or "auto", default="auto"
        Width of "heat", a length; "auto" is the median distance to the farthest
        neighbour.
    radius : float or None, default=None
        Rows at most this far apart are neighbours, in place of `n_neighbors`;
        infinity makes all rows neighbours.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        {neighbors_algorithm}
    metric : str or callable, default="minkowski"
        How distances between rows are measured when neighbours are searched: a
        name scikit-learn knows, a callable of two rows, or "precomputed" when X
        is a square matrix of distances or a sparse graph of them. For a metric
        that planish does not evaluate itself all distances are computed
        beforehand, which takes 8 n² bytes.
    p : float, default=2
        {p}
    metric_params : dict, default=None
        {metric_params}
    disconnected : {"bridge", "separate", "largest", "error"}, default="bridge"
        What to do when the graph has several connected components. "bridge" adds
        the shortest edges that join them, where distances between them are known.
        "separate" keeps the components: the first columns are constant on each of
        them; so does "bridge" where only affinities or a sparse graph are given, or
        where affinities between the components vanish. "largest"
        embeds the largest component and gives all other rows NaN, "error" raises
        :class:`~planish.exceptions.DisconnectedGraphError`.
    isolated : {"error", "nearest"}, default="error"
        {isolated}
    verbose : int, default=0
        {verbose}
    norm_laplacian : bool, default=True
        Whether the Laplacian is normalised. The columns of the plain one, ``D - W``,
        are orthonormal; rows of low degree weigh as much there as all others and often
        dominate a column.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32; scaled as in
        scikit-learn.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the Laplacian that belong to the columns, smallest first.
    eigenvalue_residuals_ : ndarray of shape (n_components,)
        ``‖L v − λ v‖`` of each, how exact its eigenvector ``v`` of length one is.
    affinity_matrix_ : {scipy.sparse.csr_array, ndarray} of shape (n_samples, n_samples)
        The affinities, symmetric, with the edges that were added; dense when all
        pairs of rows have one, float32 when X is float32. The diagonal has no effect;
        among nearest neighbours it is 1, as in scikit-learn, unless a given graph
        leaves it out.
    n_neighbors_ : int
        Number of neighbours that was used, where neighbours were searched.
    gamma_ : float
        The value of `gamma` that was used by "rbf".
    bandwidth_ : float
        Width of "heat" that was used.
    component_labels_ : ndarray of shape (n_samples,)
        {component_labels_}
    n_connected_components_ : int
        {n_connected_components_}
    bridges_ : ndarray of shape (n_bridges, 2)
        {bridges_}
    n_iter_ : int
        {n_iter_}
    {seen_in_fit}

    Warns
    -----
    DisconnectedGraphWarning
        The graph has several connected components, which were joined, kept separate,
        or all but the largest left out.
    InputAdjustedWarning
        Given affinities are not symmetric; the mean of both directions is used.
    RankDeficientWarning
        The last column belongs to an eigenvalue that the next one, not shown, is equal
        to, so that it is an arbitrary direction of their eigenspace: affinities that
        are all alike, or half of a pair.

    See Also
    --------
    DiffusionMaps : Scales the coordinates by a time, and corrects for density.
    LocallyLinearEmbedding : Keeps how each row lies among its neighbours.
    planish.spectral_embedding : The same as a function of the affinities.

    Notes
    -----
    Use: clusters, a graph, or a similarity between rows.

    Time: n·log n for the neighbours, and a sparse factorisation.

    A new row is the mean of the training rows, weighted by its affinities to
    them, divided by one minus the eigenvalue (Nyström's formula). With
    `norm_laplacian=False` it is their sum, weighted likewise, divided by the row's
    degree minus the eigenvalue; a row whose degree is not above it is refused.

    A row of a sparse graph of distances is recognised as a training row by a stored
    zero, or by having exactly the edges of one training row, and no other; it then
    gets that row's coordinates. Likewise a row of affinities that has those of one
    training row, up to rounding. Training rows with the same affinities but different
    coordinates are distinguished only where all of them are given, in their order.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi, "Laplacian eigenmaps for dimensionality reduction
       and data representation", Neural Computation 15 (2003).
    .. [2] Y. Bengio et al., "Out-of-sample extensions for LLE, Isomap, MDS,
       Eigenmaps, and spectral clustering", NIPS 16 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import SpectralEmbedding
    >>> angle = np.linspace(0.0, 3.0, 200)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> Y = SpectralEmbedding(n_components=1, n_neighbors=6).fit_transform(arc)
    >>> slowest_wave = np.cos(np.pi * angle / 3.0)
    >>> bool(abs(np.corrcoef(Y[:, 0], slowest_wave)[0, 1]) > 0.99)
    True
    """

    _method: ClassVar[str] = "SpectralEmbedding"
    _python_params: ClassVar[frozenset[str]] = NeighborhoodEmbedding._python_params | {
        "random_state"
    }
    _automatic: ClassVar[tuple[str, ...]] = ("eigen_tol", "bandwidth")
    _takes_graph: ClassVar[bool] = True

    affinity_matrix_: Graph | Coordinates
    eigenvalue_residuals_: Floats
    n_neighbors_: int
    gamma_: float
    bandwidth_: float
    bridges_: Indices

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        affinity: Affinity | Callable[..., Any] = "nearest_neighbors",
        gamma: float | None = None,
        random_state: RandomState = None,
        eigen_solver: LaplacianEigenSolver | None = None,
        eigen_tol: float | Literal["auto"] = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
        weights: Weights = "connectivity",
        bandwidth: float | Literal["auto"] = "auto",
        radius: float | None = None,
        neighbors_algorithm: NeighborsAlgorithm = "auto",
        metric: Metric = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        disconnected: DisconnectedAffinities = "bridge",
        isolated: Isolated = "error",
        verbose: int = 0,
        norm_laplacian: bool = True,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.weights = weights
        self.bandwidth = bandwidth
        self.radius = radius
        self.neighbors_algorithm = neighbors_algorithm
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.disconnected = disconnected
        self.isolated = isolated
        self.verbose = verbose
        self.norm_laplacian = norm_laplacian

    def _affinity_is(self, name: str) -> bool:
        return isinstance(self.affinity, str) and self.affinity == name

    def _precomputed(self) -> bool:
        given = self._affinity_is("precomputed") or self._affinity_is(_GIVEN_NEIGHBORS)
        return given or super()._precomputed()

    def _input_of(self, X: Any) -> Input:
        if callable(self.affinity) or self._affinity_is("precomputed"):
            self._metric()  # has no effect here, but is checked all the same
            changed = {"affinity": "precomputed", "metric": "minkowski"}
            if callable(self.affinity):
                return CalledAffinities(self.affinity, **changed)
            return Affinities(**changed)
        if not self._affinity_is(_GIVEN_NEIGHBORS):
            return super()._input_of(X)
        if _data.is_sparse(X):
            return DistancesOrGraph()
        # A dense matrix of distances: its neighbours are searched like any others.
        return DistancesOrGraph(affinity="nearest_neighbors", metric="precomputed")

    def _remember(self, model: _core.Model, given: Input, X: Any) -> None:
        super()._remember(model, given, X)
        W: Any = self.affinity_matrix_
        if self._affinity_is("nearest_neighbors") or self._affinity_is(_GIVEN_NEIGHBORS):
            # As in scikit-learn a row is among its neighbours, unless a sparse graph does
            # not name it; the core leaves it out.
            diagonal = (np.diff(W.indptr) > 0).astype(W.dtype)
            if self._affinity_is(_GIVEN_NEIGHBORS) and _data.is_sparse(X):
                diagonal *= _names_itself(X)
            W = _data.with_diagonal(W, diagonal)
        elif _data.is_sparse(W):
            # The core keeps the diagonal beside its graph.
            diagonal = self.__dict__.pop("affinity_diagonal_", None)
            if diagonal is not None:
                W = _data.with_diagonal(W, diagonal)
        self.affinity_matrix_ = W.astype(X.dtype, copy=False)


_GIVEN_NEIGHBORS = "precomputed_nearest_neighbors"


def _names_itself(graph: Any) -> NDArray[np.bool_]:
    """Return which rows of a sparse graph have a stored entry for themselves, zeros included."""
    entries = sparse.coo_array(graph)
    named = np.zeros(graph.shape[0], dtype=bool)
    named[entries.row[entries.row == entries.col]] = True
    return named


def spectral_embedding(
    adjacency: MatrixLike,
    *,
    n_components: int = 8,
    eigen_solver: LaplacianEigenSolver | None = None,
    random_state: RandomState = None,
    eigen_tol: float | Literal["auto"] = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Coordinates:
    """Embed the nodes of a graph, as :func:`sklearn.manifold.spectral_embedding`.

    Parameters
    ----------
    adjacency : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Affinities of the nodes, not negative. Where the two directions of one differ,
        their mean is used, with a warning.
    n_components : int, default=8
        Number of columns.
    eigen_solver, random_state, eigen_tol
        As in :class:`SpectralEmbedding`.
    norm_laplacian : bool, default=True
        Whether the eigenvectors are those of the normalised Laplacian, divided by
        the square roots of the degrees, or those of ``D - W`` as they are.
    drop_first : bool, default=True
        Leave out the first eigenvector, which is constant.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        Coordinates of the nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import spectral_embedding
    >>> path = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)
    >>> steps = np.diff(spectral_embedding(path, n_components=1)[:, 0])
    >>> bool((steps > 0).all() or (steps < 0).all())  # the order along the path
    True
    """
    estimator = SpectralEmbedding(
        n_components=n_components,
        affinity="precomputed",
        eigen_solver=eigen_solver,
        eigen_tol=eigen_tol,
        random_state=random_state,
        norm_laplacian=norm_laplacian,
    )
    if not isinstance(drop_first, (bool, np.bool_)):
        raise ParameterError(f"parameter `drop_first`: expected a bool, got {drop_first!r}")
    whole = isinstance(n_components, (int, np.integer)) and not isinstance(n_components, bool)
    if drop_first or not whole or n_components < 1:
        return estimator.fit(adjacency).embedding_
    shape: tuple[int, ...] = np.shape(adjacency)  # type: ignore[arg-type]
    rows = shape[0] if shape else 0
    if n_components > rows > 0:
        raise ParameterError(
            f"parameter `n_components`: must be at most n_samples = {rows}, got {n_components}"
        )
    # The first eigenvector is known: constant, and its squares (weighted by the degrees, where
    # the Laplacian is normalised) sum to one.
    if shape == (1, 1):
        # Beside a second node like it, so that all else is checked as ever.
        W = check_array(adjacency, accept_sparse="csr", dtype=[np.float64, np.float32])
        diagonal = float(W[0, 0])
        estimator.fit(np.array([[diagonal, 1.0], [1.0, diagonal]]))
        rest = np.empty((1, 0), dtype=W.dtype)
    elif n_components == 1:
        fitted = estimator.fit(adjacency).embedding_  # checks the input
        rest = fitted[:, :0]
    else:
        rest = estimator.set_params(n_components=n_components - 1).fit(adjacency).embedding_
    length = _root_of_volume(adjacency) if norm_laplacian else np.sqrt(len(rest))
    first = np.full((len(rest), 1), 1.0 / length, dtype=rest.dtype)
    return np.hstack([first, rest])


def _root_of_volume(adjacency: Any) -> float:
    """Return the root of the sum of the degrees, a row alone having degree 1."""
    W = sparse.csr_array(adjacency, dtype=np.float64)
    W = _data.with_diagonal(W, -W.diagonal())
    peak = float(W.max()) or 1.0
    degrees: NDArray[np.float64] = (W / peak).sum(axis=1)
    alone = int((degrees == 0).sum())
    return float(np.sqrt(degrees.sum() + alone / peak) * np.sqrt(peak))
