"""Kernel Isomap."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from ._docs import documented
from ._geodesic import ScaledGeodesics
from ._types import (
    Disconnected,
    EigenSolver,
    Isolated,
    Metric,
    NeighborsAlgorithm,
    Outliers,
    PathMethod,
    Storage,
)


@documented
class KernelIsomap(ScaledGeodesics):
    """Isomap whose kernel is made positive semi-definite by an additive constant.

    Geodesic distances are not Euclidean, so the kernel of :class:`Isomap` has
    negative eigenvalues, which it ignores. Here a constant is added to all
    distances between different rows, the smallest for which none is left
    (Cailliez's, found without any matrix beyond the distances themselves), so that
    the kernel is positive semi-definite.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        {n_neighbors}
    radius : float or None, default=None
        {radius}
    n_components : int or "auto", default=2
        {n_components}
    constant : float or None, default=None
        The constant added to all distances. None takes the smallest that leaves
        no negative eigenvalue; a larger one does as well, a smaller one does not.
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
    storage : {"auto", "float64", "fixed48", "float32", "recompute"}, default="auto"
        {storage}
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_}
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel of geodesic distances, largest first.
    constant_ : float
        The constant that was added.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of norm one; NaN for rows left out of the fit.
    n_iter_ : int
        {n_iter_}
    {geodesic_graph}
    {geodesic_distances}
    nbrs_ : sklearn.neighbors.NearestNeighbors
        {nbrs_}
    {seen_in_fit}

    Warns
    -----
    {geodesic_warnings}
    SlowWarning
        {SlowWarning}

    See Also
    --------
    Isomap : The same without the constant.
    LandmarkIsomap : Isomap for very many rows.

    Notes
    -----
    Use: as Isomap, where the kernel must be positive semi-definite.

    Time: as Isomap, and some passes over n² numbers.

    A new row is placed by the eigenfunction formula as one that is `constant_`
    farther from every training row than its geodesics say. On a training row
    itself the coordinates jump to the fitted ones, because a row is at distance
    zero of itself; the jump is small where the eigenvalues are large.

    References
    ----------
    .. [1] H. Choi, S. Choi, "Kernel Isomap", Electronics Letters 40 (2004).
    .. [2] F. Cailliez, "The analytical solution of the additive constant
       problem", Psychometrika 48 (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import Isomap, KernelIsomap
    >>> rng = np.random.default_rng(0)
    >>> angle, height = 3 * rng.random(300), rng.random(300)
    >>> sheet = np.column_stack([np.cos(angle), np.sin(angle), height])
    >>> kernel_isomap = KernelIsomap(n_neighbors=8).fit(sheet)
    >>> bool(kernel_isomap.constant_ > 0)
    True
    >>> unrolled = kernel_isomap.embedding_[:, 0]
    >>> bool(abs(np.corrcoef(unrolled, angle)[0, 1]) > 0.99)
    True
    """

    _method: ClassVar[str] = "KernelIsomap"

    constant_: float

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int | Literal["auto"] = 2,
        constant: float | None = None,
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
        storage: Storage = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.constant = constant
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
