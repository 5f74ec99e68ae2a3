"""Isomap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _data
from ._base import Embedding
from ._data import is_sparse
from ._foreign import ForeignNeighbors, Metric, resolve_metric


class Isomap(Embedding):
    """Isometric mapping: classical scaling of distances along the manifold.

    Each row is joined to its neighbours, shortest paths through that graph
    stand for distances along the manifold, and classical MDS finds coordinates
    with those distances. The parameters are those of
    :class:`sklearn.manifold.Isomap`, followed by two of our own.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Number of neighbours of each row, not counting itself. Set it to None to
        use `radius`.
    radius : float or None, default=None
        Rows closer than this are neighbours.
    n_components : int, default=2
        Number of coordinates.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" iterates for the wanted
        eigenpairs only (the name is scikit-learn's, the solver a block Krylov
        method), "auto" takes the faster.
    tol : float, default=0.0
        Relative residual at which the iteration stops; 0 means working precision.
    max_iter : int, default=None
        Most iterations of the iterative solver; None for as many as it takes.
    path_method : {"auto", "D", "FW", "batch", "sweep"}, default="auto"
        How shortest paths are found: Dijkstra, Floyd–Warshall, or one of two
        faster ways with the same result. "auto" takes the fastest.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are searched. All give the same neighbours.
    n_jobs : int, default=None
        Number of threads. None uses every core this process may use, unless a
        :func:`joblib.parallel_config` context sets a number; negative numbers
        count back from the cores, so -1 is all. Results are the same to the
        last bit whatever the number.
    metric : str or callable, default="minkowski"
        How distances between rows are measured: a name scikit-learn knows, a
        callable of two rows, or "precomputed" when X is a square matrix of
        distances, or a sparse graph whose stored entries are the lengths of
        edges.
    p : float, default=2
        Power of the "minkowski" metric, at least 1.
    metric_params : dict, default=None
        Further arguments of the metric.
    disconnected : {"bridge", "largest", "error"}, default="bridge"
        What to do when the graph falls into several components. "bridge" adds
        the shortest edges that join them (a sparse precomputed graph has none
        to add and is refused), "largest" embeds the largest component and
        gives all other rows NaN, "error" raises
        :class:`~planish.exceptions.DisconnectedGraphError`.
    verbose : int, default=0
        1 writes progress to stderr about once a second, 2 all of it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel of geodesic distances, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of norm one.
    n_iter_ : int
        Number of iterations of the eigensolver, 1 for a direct one.
    graph_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The neighbourhood graph the paths run on: symmetric, with bridges.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each row before anything was bridged.
    n_connected_components_ : int
        Number of those components.
    bridges_ : ndarray of shape (n_bridges, 2)
        Pairs of rows that were joined to connect the graph.
    path_method_ : str
        The way shortest paths were found.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Geodesic distances, computed when first asked for; not pickled.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        A search over the array given to ``fit``, built when first asked for;
        not pickled.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has names that are all strings.

    Warns
    -----
    DisconnectedGraphWarning
        The graph was in pieces and was bridged or cut to its largest piece.
    NegativeEigenvalueWarning
        A wanted component has a negative eigenvalue; its column is zero.
    RankDeficientWarning
        Fewer than `n_components` dimensions carry information.

    See Also
    --------
    ClassicalMDS : The last step on its own.
    planish.kneighbors, planish.neighbors_graph : The first step on its own.
    planish.geodesic_distances : The second step on its own.

    Notes
    -----
    There is no ``kernel_pca_``: its eigenvalues and eigenvectors are attributes
    of the estimator itself, and the n × n kernel is not kept.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva, J. C. Langford, "A global geometric
       framework for nonlinear dimensionality reduction", Science 290 (2000).
    .. [2] Y. Bengio et al., "Out-of-sample extensions for LLE, Isomap, MDS,
       Eigenmaps, and spectral clustering", NIPS 16 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import Isomap
    >>> angle = np.linspace(0.0, 3.0, 200)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> unrolled = Isomap(n_neighbors=4, n_components=1).fit_transform(arc)
    >>> bool(abs(np.corrcoef(unrolled[:, 0], angle)[0, 1]) > 0.9999)
    True
    """

    _method: ClassVar[str] = "Isomap"
    _python_params: ClassVar[frozenset[str]] = Embedding._python_params | {"metric_params"}
    _on_demand: ClassVar[Mapping[str, str]] = {
        "dist_matrix_": "_compute_dist_matrix",
        "nbrs_": "_compute_nbrs",
    }

    eigenvalues_: NDArray[np.float64]
    eigenvectors_: NDArray[np.float64]
    n_iter_: int
    graph_: Any
    component_labels_: NDArray[np.int64]
    n_connected_components_: int
    bridges_: NDArray[np.int64]
    path_method_: str
    dist_matrix_: NDArray[np.float64]
    nbrs_: Any
    _foreign: ForeignNeighbors

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: str = "auto",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        metric: str | Callable[..., float] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        disconnected: str = "bridge",
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.disconnected = disconnected
        self.verbose = verbose

    def reconstruction_error(self) -> float:
        """Compute how much of the geodesic kernel the embedding misses.

        Returns
        -------
        error : float
            ``||K - K_fit||_F / n_samples``, with K the centred kernel of the
            geodesic distances and K_fit that of the embedding.
        """
        return float(self._compute("reconstruction_error"))

    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _only_positive(self) -> bool:
        return self._precomputed()

    def _metric(self) -> Metric:
        return resolve_metric(self.metric, self.p, self.metric_params)

    def _training_data(self, X: Any) -> tuple[_data.CoreData, dict[str, Any]]:
        metric = self._metric()
        if self._precomputed():
            return _given(X), {}
        if metric.native:
            return _data.points(X), {"metric": metric.name, "p": metric.p}
        self._foreign = ForeignNeighbors(
            metric, self.n_neighbors, self.radius, self.neighbors_algorithm
        )
        data = self._foreign.training(X, bridge=self.disconnected == "bridge")
        return data, {"metric": "precomputed", "p": 2}

    def _new_data(self, X: Any) -> _data.CoreData:
        if self._precomputed():
            return _given(X)
        if self._metric().native:
            return _data.points(X)
        return self._foreign.query(X)

    def _compute_dist_matrix(self) -> Any:
        return self._compute("dist_matrix")

    def _compute_nbrs(self) -> Any:
        from sklearn.neighbors import NearestNeighbors

        if "_foreign" in vars(self):
            return self._foreign.search
        search = NearestNeighbors(
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.neighbors_algorithm,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )
        return search.fit(self._training_input("nbrs_"))


def _given(X: Any) -> _data.CoreData:
    return _data.graph(X) if is_sparse(X) else _data.distances(X)
