"""Isomap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ._docs import documented
from ._geodesic import ScaledGeodesics
from ._types import (
    Disconnected,
    EigenSolver,
    Floats,
    Isolated,
    Metric,
    NeighborsAlgorithm,
    Outliers,
    PathMethod,
    Storage,
)


@dataclass(frozen=True)
class KernelEigenpairs:
    """The largest eigenpairs of the centred kernel of geodesic distances.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of norm one.
    """

    eigenvalues_: Floats
    eigenvectors_: Floats


@documented
class Isomap(ScaledGeodesics):
    """Isometric mapping: classical scaling of distances along the manifold.

    Each row is joined to its neighbours, shortest paths through that graph
    stand for distances along the manifold, and classical MDS finds coordinates
    with those distances. The parameters are those of
    :class:`sklearn.manifold.Isomap`, followed by a few of our own.

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
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors, of norm one; NaN for rows left out of the fit.
    n_iter_ : int
        {n_iter_}
    {geodesic_graph}
    kernel_pca_ : object
        The same eigenpairs where scikit-learn has them: its `eigenvalues_` and
        `eigenvectors_`. It has no ``transform``, the estimator has.
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
    LandmarkIsomap : The same for very many rows.
    KernelIsomap : The same with a kernel without negative eigenvalues.
    ClassicalMDS : The last step on its own.
    planish.residual_variance : How many components are worth having.
    planish.kneighbors, planish.neighbors_graph : The first step on its own.
    planish.geodesic_distances : The second step on its own.

    Notes
    -----
    Use: points on a curved surface without holes, whose distances along it matter.

    Time: n² times a small constant on surfaces, n²·log n at worst.

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
    _on_demand: ClassVar[Mapping[str, str]] = {
        **ScaledGeodesics._on_demand,
        "kernel_pca_": "_make_kernel_pca",
    }

    kernel_pca_: KernelEigenpairs

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
        storage: Storage = "auto",
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

    def _make_kernel_pca(self) -> KernelEigenpairs:
        return KernelEigenpairs(self.eigenvalues_, self.eigenvectors_)
