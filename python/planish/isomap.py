"""Isomap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ._geodesic import ScaledGeodesics


class Isomap(ScaledGeodesics):
    """Isometric mapping: classical scaling of distances along the manifold.

    Each row is joined to its neighbours, shortest paths through that graph
    stand for distances along the manifold, and classical MDS finds coordinates
    with those distances. The parameters are those of
    :class:`sklearn.manifold.Isomap`, followed by a few of our own.

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
    conformal : bool, default=False
        Divide each edge by the spacing of its ends, the square root of the
        product of their mean distances to their neighbours, so that regions
        sampled densely and thinly count alike. Coordinates then have no unit.
    isolated : {"error", "nearest"}, default="error"
        What `transform` does with a row that has no training row within
        `radius`: refuse it by its number, or hang it onto its nearest training
        row, however far. With `n_neighbors` every row has neighbours.
    outliers : {"place", "keep"}, default="place"
        What happens to rows so far from all others that they would decide the
        map by themselves: the map is made without them and they are placed in
        it like new rows, with a warning, or they take part like all others. At
        most one row in a hundred counts as such, and only when its edges are
        longer than three times the longest path along the others. Rows of a
        sparse graph always take part.
    storage : {"auto", "float64", "float32", "recompute"}, default="auto"
        How the geodesic distances are held: n²/2 numbers of 8 or 4 bytes, or
        not at all, every pass of the eigensolver finding them anew: exact, in
        little memory, a few times slower. "auto" is "float64" if that fits into
        memory, else "recompute" with a warning, and for more than 400 000 rows,
        where that takes hours, a MemoryError.
    verbose : int, default=0
        1 writes progress to stderr about once a second, 2 all of it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel of geodesic distances, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of norm one; NaN for rows left out of the map.
    n_iter_ : int
        Number of iterations of the eigensolver, 1 for a direct one.
    graph_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The neighbourhood graph the paths run on: symmetric, with bridges. Rows
        that were left out of the map (outliers, or all but the largest
        component) have no edges.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each row before anything was bridged.
    n_connected_components_ : int
        Number of those components.
    bridges_ : ndarray of shape (n_bridges, 2)
        Pairs of rows that were joined to connect the graph.
    shortcuts_ : ndarray of shape (n_shortcuts, 2)
        Pairs of rows joined by suspicious edges, see ShortcutWarning.
    outliers_ : ndarray of shape (n_outliers,)
        Rows that were placed like new ones.
    path_method_ : str
        The way shortest paths were found.
    storage_ : str
        How the geodesic distances were held.
    storage_error_ : float
        Largest relative rounding error of a distance that this brought: 0 for
        "float64" and "recompute", 6e-8 for "float32".
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Geodesic distances, computed when first asked for; not pickled. Infinite
        between rows of the map and rows left out of it.
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
    OutlierWarning
        A few rows lie far from all others and were placed after them.
    ShortcutWarning
        A few edges carry a suspicious share of all shortest paths.
    SlowWarning
        The distances do not fit into memory and are recomputed.

    See Also
    --------
    LandmarkIsomap : The same for very many rows.
    KernelIsomap : The same with a kernel without negative eigenvalues.
    ClassicalMDS : The last step on its own.
    planish.residual_variance : How many components are worth having.
    planish.kneighbors, planish.neighbors_graph : The first step on its own.
    planish.geodesic_distances : The second step on its own.

    Notes
    -----
    There is no ``kernel_pca_``: its eigenvalues and eigenvectors are attributes
    of the estimator itself, and the n × n kernel is not kept.

    A row of a sparse graph is known to be a training row by a stored zero, or by
    having exactly the edges of one training row, and no other.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva, J. C. Langford, "A global geometric
       framework for nonlinear dimensionality reduction", Science 290 (2000).
    .. [2] V. de Silva, J. B. Tenenbaum, "Global versus local methods in nonlinear
       dimensionality reduction", NIPS 15 (2003).
    .. [3] Y. Bengio et al., "Out-of-sample extensions for LLE, Isomap, MDS,
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
        conformal: bool = False,
        isolated: str = "error",
        outliers: str = "place",
        storage: str = "auto",
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
        self.conformal = conformal
        self.isolated = isolated
        self.outliers = outliers
        self.storage = storage
        self.verbose = verbose
