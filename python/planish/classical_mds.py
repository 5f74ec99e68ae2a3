"""Classical multidimensional scaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._docs import documented
from ._inputs import Distances
from ._lazy import LazyArray
from ._metric_embedding import MetricEmbedding
from ._metrics import resolve_metric
from ._types import EigenSolver, Floats, Metric


@documented
class ClassicalMDS(MetricEmbedding):
    """Classical multidimensional scaling, also called principal coordinates analysis.

    Finds the coordinates whose inner products are closest to the doubly centred
    squared distances ``K = -1/2 H D² H``: ``V sqrt(Λ)`` with the largest
    eigenpairs of ``K``. On Euclidean distances it equals PCA, up to signs, and
    it is then computed from the points without any n × n matrix.

    Parameters
    ----------
    n_components : int or "auto", default=2
        {n_components}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    origin : None, int or array-like of shape (n_samples,), default=None
        Which point becomes the origin: None for the mean of all points, an int
        for that row, or weights of the rows that sum to one.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        {eigen_solver}
    tol : float, default=0.0
        {tol}
    max_iter : int, default=None
        {max_iter}
    n_jobs : int, default=None
        {n_jobs}
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_}
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of K that belong to the columns, largest first. With the
        default origin they are the squared norms of the columns.
    dissimilarity_matrix_ : array of shape (n_samples, n_samples)
        The distances, computed from the array given to ``fit`` when its numbers
        are first used; ``numpy.asarray`` gives a plain array. Neither pickled nor
        copied.
    n_iter_ : int
        {n_iter_}
    {seen_in_fit}

    Warns
    -----
    NegativeEigenvalueWarning
        {NegativeEigenvalueWarning}
    RankDeficientWarning
        {RankDeficientWarning}
    InputAdjustedWarning
        {InputAdjustedWarning}

    See Also
    --------
    PCA : The same coordinates from points, with loadings.
    KernelMDS : The same from any positive semi-definite kernel.
    Isomap : The same on distances along a curved manifold.

    Notes
    -----
    Use: a matrix of dissimilarities and nothing else; of points it is PCA.

    Time: n² per pass over the distances, few passes; n·D² of points.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method",
       Psychometrika 17 (1952).
    .. [2] J. C. Gower, "Some distance properties of latent root and vector
       methods used in multivariate analysis", Biometrika 53 (1966).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import ClassicalMDS
    >>> distances = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> mds = ClassicalMDS(metric="precomputed").fit(distances)
    >>> Y = mds.embedding_
    >>> bool(np.isclose(np.linalg.norm(Y[0] - Y[2]), 5.0))
    True
    >>> bool(np.array_equal(mds.transform(distances[:1]), Y[:1]))
    True
    """

    _method: ClassVar[str] = "ClassicalMDS"
    _on_demand: ClassVar[Mapping[str, str]] = {
        "dissimilarity_matrix_": "_make_dissimilarity_matrix"
    }

    eigenvalues_: Floats
    dissimilarity_matrix_: LazyArray | Floats
    n_iter_: int

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        origin: int | ArrayLike | None = None,
        eigen_solver: EigenSolver = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.origin = origin
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        if isinstance(params["origin"], (list, tuple, np.ndarray)):
            params["origin"] = np.ascontiguousarray(params["origin"], dtype=np.float64)
        return params

    def _make_dissimilarity_matrix(self) -> Any:
        training = self._trained_on("dissimilarity_matrix_")
        X, given = training.X, training.params
        if isinstance(self._input, Distances):
            return X
        metric = resolve_metric(given["metric"], 2, given["metric_params"])
        return LazyArray((X.shape[0], X.shape[0]), np.float64, lambda: metric.pairwise(X))
