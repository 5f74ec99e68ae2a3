"""Landmark Isomap."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from ._docs import documented
from ._geodesic import GeodesicEmbedding
from ._landmarks import LandmarkParams
from ._types import (
    Disconnected,
    EigenSolver,
    Isolated,
    Landmarks,
    Metric,
    NeighborsAlgorithm,
    Outliers,
    PathMethod,
    RandomState,
)


@documented
class LandmarkIsomap(LandmarkParams, GeodesicEmbedding):
    """Isomap for very many rows: a few landmarks, all others triangulated.

    Geodesic distances are found from the landmarks only, classical MDS places
    the landmarks, and every other row is placed by its distances to them. The
    cost grows with ``n_landmarks * n_samples`` instead of ``n_samples ** 2``, and
    no matrix of that size is stored. With every row a landmark the result is
    that of :class:`Isomap`.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        {n_neighbors}
    radius : float or None, default=None
        {radius}
    n_components : int or "auto", default=2
        {n_components}
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        {eigen_solver}
    tol : float, default=0.0
        {tol}
    max_iter : int, default=None
        {max_iter}
    path_method : {"auto", "D", "FW", "batch", "sweep"}, default="auto"
        {path_method}
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        {neighbors_algorithm}
    n_jobs : int, default=None
        {n_jobs}
    metric : str or callable, default="minkowski"
        {metric_of_graph}
    p : float, default=2
        {p}
    metric_params : dict, default=None
        {metric_params}
    disconnected : {"bridge", "largest", "error"}, default="bridge"
        {disconnected}
    conformal : bool, default=False
        {conformal}
    isolated : {"error", "nearest"}, default="error"
        {isolated}
    outliers : {"place", "keep"}, default="place"
        {outliers}
    n_landmarks : int, default=200
        {n_landmarks}
    landmarks : {"maxmin", "random", "hierarchical"} or array-like of int, default="maxmin"
        How landmarks are chosen: each the row farthest from those before it
        along the manifold; any rows; level by level of a cover tree, whose
        radius halves; or exactly the rows given.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice; None is a fixed seed.
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_}
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel of the landmarks, largest first.
    landmarks_ : ndarray of shape (n_landmarks,)
        Rows that are landmarks, in the order they were chosen.
    n_iter_ : int
        {n_iter_}
    {geodesic_graph}
    nbrs_ : sklearn.neighbors.NearestNeighbors
        {nbrs_}
    {seen_in_fit}

    Warns
    -----
    {geodesic_warnings}

    See Also
    --------
    Isomap : The exact method.
    LandmarkMDS : The same without a graph.

    Notes
    -----
    Use: a curved surface, a hundred thousand points and more.

    Time: a neighbour search, and twice the paths from the landmarks.

    `transform` walks along the paths from the landmarks, which the fit keeps in two bytes for
    each row and landmark where searching anew would take long (data of many dimensions, up to
    512 landmarks or four for each column): a new row costs little more than its neighbour search.

    References
    ----------
    .. [1] V. de Silva, J. B. Tenenbaum, "Global versus local methods in nonlinear
       dimensionality reduction", NIPS 15 (2003).
    .. [2] V. de Silva, J. B. Tenenbaum, "Sparse multidimensional scaling using
       landmark points", Stanford University (2004).
    .. [3] J. C. Platt, "FastMap, MetricMap, and Landmark MDS are all Nyström
       algorithms", AISTATS (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import LandmarkIsomap
    >>> angle = np.linspace(0.0, 3.0, 5000)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> isomap = LandmarkIsomap(n_neighbors=4, n_components=1, n_landmarks=20).fit(arc)
    >>> bool(abs(np.corrcoef(isomap.embedding_[:, 0], angle)[0, 1]) > 0.9999)
    True
    >>> isomap.landmarks_.shape
    (20,)
    """

    _method: ClassVar[str] = "LandmarkIsomap"
    _python_params: ClassVar[frozenset[str]] = GeodesicEmbedding._python_params | {"random_state"}

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int | Literal["auto"] = 2,
        eigen_solver: EigenSolver = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: PathMethod = "auto",
        neighbors_algorithm: NeighborsAlgorithm = "auto",
        n_jobs: int | None = None,
        metric: Metric = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        disconnected: Disconnected = "bridge",
        conformal: bool = False,
        isolated: Isolated = "error",
        outliers: Outliers = "place",
        n_landmarks: int = 200,
        landmarks: Landmarks | ArrayLike = "maxmin",
        random_state: RandomState = None,
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
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state
        self.verbose = verbose
