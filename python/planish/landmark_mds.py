"""Landmark multidimensional scaling."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from ._docs import documented
from ._landmarks import LandmarkParams
from ._metric_embedding import MetricEmbedding
from ._types import EigenSolver, Floats, LandmarkAlgorithm, Landmarks, Metric, RandomState


@documented
class LandmarkMDS(LandmarkParams, MetricEmbedding):
    """Classical MDS for very many rows: a few landmarks, all others triangulated.

    Classical MDS places the landmarks, and every other row is placed by its
    distances to them. Only ``n_landmarks * n_samples`` distances are measured,
    and no matrix of that size is stored. With every row a landmark the result is
    that of :class:`ClassicalMDS`.

    Parameters
    ----------
    n_components : int or "auto", default=2
        {n_components}
    n_landmarks : int, default=200
        {n_landmarks}
    landmarks : {"maxmin", "random", "hierarchical"} or array-like of int, default="maxmin"
        How landmarks are chosen: each the row farthest from those before it;
        any rows; level by level of a cover tree, whose radius halves; or
        exactly the rows given.
    algorithm : {"landmark", "fastmap", "metricmap"}, default="landmark"
        How rows are placed: by triangulation about the mean of the landmarks; by
        projection on lines between pairs of far rows, two for each coordinate,
        which chooses its own landmarks; or by triangulation about the first
        landmark.
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        {eigen_solver}
    tol : float, default=0.0
        {tol}
    max_iter : int, default=None
        {max_iter}
    n_jobs : int, default=None
        {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of landmarks; None is a fixed seed.
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_}
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel of the landmarks, largest first;
        absent with "fastmap", which has none.
    landmarks_ : ndarray of shape (n_landmarks,)
        Rows that are landmarks, in the order they were chosen; with "fastmap"
        the two of the first coordinate, then those of the second, and so on.
    n_iter_ : int
        {n_iter_}
    {seen_in_fit}

    Warns
    -----
    NegativeEigenvalueWarning
        {NegativeEigenvalueWarning}
    RankDeficientWarning
        {RankDeficientWarning}

    See Also
    --------
    ClassicalMDS : The exact method.
    LandmarkIsomap : The same along a curved manifold.

    Notes
    -----
    Use: very many points, any metric.

    Time: distances to the landmarks, twice.

    The mean of the coordinates is that of the landmarks, not of all rows.

    References
    ----------
    .. [1] V. de Silva, J. B. Tenenbaum, "Sparse multidimensional scaling using
       landmark points", Stanford University (2004).
    .. [2] J. C. Platt, "FastMap, MetricMap, and Landmark MDS are all Nyström
       algorithms", AISTATS (2005).
    .. [3] C. Faloutsos, K.-I. Lin, "FastMap", SIGMOD (1995).
    .. [4] J. T.-L. Wang et al., "Evaluating a class of distance-mapping
       algorithms for data mining and clustering", KDD (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import LandmarkMDS
    >>> X = np.random.default_rng(0).normal(size=(10_000, 2))
    >>> Y = LandmarkMDS(n_landmarks=50).fit_transform(X)
    >>> apart = lambda Z: np.linalg.norm(Z[:100] - Z[100:200], axis=1)
    >>> bool(np.allclose(apart(X), apart(Y)))
    True
    """

    _method: ClassVar[str] = "LandmarkMDS"
    _python_params: ClassVar[frozenset[str]] = MetricEmbedding._python_params | {"random_state"}

    eigenvalues_: Floats
    n_iter_: int

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        n_landmarks: int = 200,
        landmarks: Landmarks | ArrayLike = "maxmin",
        algorithm: LandmarkAlgorithm = "landmark",
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        eigen_solver: EigenSolver = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.algorithm = algorithm
        self.metric = metric
        self.metric_params = metric_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
