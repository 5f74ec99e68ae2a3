"""The exact neighbour search as a step of a pipeline, with scikit-learn's signature."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core, _data
from ._callbacks import FitTasks, with_callbacks
from ._docs import documented
from ._metrics import Metric, resolve_metric
from ._search import ExactSearch, SklearnSearch, require_exact, smallest
from ._threads import thread_count
from ._transformer import CoreTransformer
from ._types import Floats, GraphMode, Indices, MatrixLike, NeighborsAlgorithm
from ._types import Metric as MetricChoice
from .exceptions import InputError, ParameterError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from typing_extensions import Self


@dataclass(frozen=True)
class _Fitted:
    """What a fit was given, so that later changes of the parameters do not matter."""

    rows: Any
    metric: Metric
    mode: str
    n_neighbors: int
    algorithm: str


@documented
class KNeighborsTransformer(CoreTransformer):
    """Turn rows into a sparse graph of their nearest neighbours, exactly.

    With the signature and the result of
    :class:`sklearn.neighbors.KNeighborsTransformer`: put it before an estimator that takes
    ``metric="precomputed"``, or give it to ``scanpy.pp.neighbors(adata, transformer=...)``.
    Every row is its own first neighbour.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether the graph stores distances or ones.
    n_neighbors : int, default=5
        Number of neighbours of each row, which counts the row itself only when `mode` is
        "connectivity".
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        {neighbors_algorithm}
    leaf_size : int, default=30
        Present for API consistency; the neighbours do not depend on it.
    metric : str or callable, default="minkowski"
        {metric}
    p : float, default=2
        {p}
    metric_params : dict, default=None
        Further arguments of the metric.
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    verbose : int, default=0
        {verbose_as_estimators}

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric, "euclidean" for "minkowski" with ``p=2``.
    n_samples_fit_ : int
        Number of training rows.
    {seen_in_fit}

    See Also
    --------
    kneighbors : The same search as a function, without the row itself.

    Notes
    -----
    Neighbours are in order of distance, of two at the same distance the lower row first, and
    are the same for every number of threads. ``fit_transform`` puts each row first even if
    others are equal to it; for ``transform`` equal rows are neighbours like any other.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import KNeighborsTransformer
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform(X).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    effective_metric_: Any
    n_samples_fit_: int
    _fitted: _Fitted

    def __init__(
        self,
        *,
        mode: GraphMode = "distance",
        n_neighbors: int = 5,
        algorithm: NeighborsAlgorithm = "auto",
        leaf_size: int = 30,
        metric: MetricChoice = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Take the rows among which neighbours are searched.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The rows; of shape (n_samples, n_samples) when `metric` is "precomputed".
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        tasks = FitTasks(self, X, y)
        with self._all_or_nothing():
            count = _positive(self.n_neighbors)
            if self.mode not in ("distance", "connectivity"):
                raise ParameterError(
                    f"parameter `mode`: expected 'distance' or 'connectivity', got {self.mode!r}"
                )
            metric = resolve_metric(self.metric, self.p, self.metric_params)
            self._forget()
            rows = self._validated(X, reset=True)
            metric.check_values(rows)
            if metric.precomputed:
                _require_distances(rows)
                if rows.shape[0] != rows.shape[1]:
                    raise InputError(f"distances must be square (n × n), got {rows.shape}")
            elif not metric.native:
                require_exact(self.algorithm, metric, "algorithm")
                metric = metric.learned(rows)
            self._fitted = _Fitted(rows, metric, self.mode, count, self.algorithm)
            plain = metric.name == "minkowski" and metric.p == 2 and not metric.arguments  # noqa: PLR2004
            self.effective_metric_ = "euclidean" if plain else metric.name
            self.n_samples_fit_ = self._n_features_out = rows.shape[0]
            self._require_rows(count)
            tasks.end()
        return self

    def transform(self, X: MatrixLike) -> csr_matrix:  # type: ignore[override]
        """Find the training rows nearest to each row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_queries, n_features)
            The rows whose neighbours are wanted; of shape (n_queries, n_samples) when
            `metric` is "precomputed".

        Returns
        -------
        graph : scipy.sparse.csr_matrix of shape (n_queries, n_samples)
            Row i stores its neighbours in order of distance, a zero to an equal row
            included: ``n_neighbors + 1`` of them, or ``n_neighbors`` when `mode` is
            "connectivity".
        """
        check_is_fitted(self)
        return self._graph(self._validated(X, reset=False), self._width())

    def fit_transform(self, X: MatrixLike, y: object = None) -> csr_matrix:
        """Find the nearest neighbours of each row of X among the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            As in :meth:`fit`.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        graph : scipy.sparse.csr_matrix of shape (n_samples, n_samples)
            As of :meth:`transform`; every row stores itself first.
        """
        self.fit(X, y)
        return self._graph(None, self._width())

    def kneighbors(
        self,
        X: MatrixLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> tuple[Floats, Indices] | Indices:
        """Find the nearest training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_queries, n_features), default=None
            The rows whose neighbours are wanted. None means the training rows, none of
            which is then its own neighbour.
        n_neighbors : int, default=None
            Number of neighbours; None means that of the fit.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Only if `return_distance`; nearest first.
        indices : ndarray of shape (n_queries, n_neighbors)
            The training rows they are.
        """
        check_is_fitted(self)
        count = self._fitted.n_neighbors if n_neighbors is None else _positive(n_neighbors)
        rows = None if X is None else self._validated(X, reset=False)
        distances, indices = self._nearest(rows, count)
        return (distances, indices) if return_distance else indices

    def _width(self) -> int:
        """Return how many neighbours a row of the graph has, itself included."""
        return self._fitted.n_neighbors + (self._fitted.mode == "distance")

    def _require_rows(self, count: int) -> None:
        rows, itself = self.n_samples_fit_, self._fitted.mode == "distance"
        if count + itself > rows:
            raise ParameterError(
                f"parameter `n_neighbors`: must be {'<' if itself else '<='} n_samples = {rows}, "
                f"got {count}"
            )

    def _graph(self, rows: Any, width: int) -> csr_matrix:
        """Make the graph of new rows, or, with None, of the training rows."""
        from scipy import sparse

        distances, indices = self._nearest(rows, width - 1 if rows is None else width)
        if rows is None:
            own = np.arange(self.n_samples_fit_)[:, None]
            indices = np.hstack([own, indices])
            distances = np.hstack([np.zeros(own.shape, distances.dtype), distances])
        if self._fitted.mode == "connectivity":
            distances = np.ones_like(distances)
        indptr = np.arange(len(indices) + 1) * width
        shape = (len(indices), self.n_samples_fit_)
        # The old kind of matrix: what scikit-learn returns, and what scanpy recognises.
        found = _data.csr(distances.ravel(), indices.ravel(), indptr, shape)
        return sparse.csr_matrix(found)

    def _nearest(self, rows: Any, count: int) -> tuple[Floats, Indices]:
        """Return distances and training rows, each of shape (n_queries, count)."""
        fitted = self._fitted
        queries = self.n_samples_fit_ if rows is None else rows.shape[0]
        dtype = fitted.rows.dtype if rows is None else rows.dtype
        if count == 0:
            return np.empty((queries, 0), dtype), np.empty((queries, 0), np.int64)
        if rows is not None:
            fitted.metric.check_values(rows)
        if rows is not None and count > self.n_samples_fit_:
            raise ParameterError(
                f"parameter `n_neighbors`: there are {self.n_samples_fit_} training rows, got "
                f"{count}"
            )
        if fitted.metric.precomputed and rows is not None:
            _require_distances(rows)
            distances, indices = _sorted(smallest(rows, count, np.inf), count)
        elif fitted.metric.native or fitted.metric.precomputed:
            distances, indices = self._by_core(rows, count)
        else:
            distances, indices = self._by_search(rows, count)
        shape = (queries, count)
        return _data.as_dtype(distances.reshape(shape), dtype, "distances"), indices.reshape(shape)

    def _by_core(self, rows: Any, count: int) -> tuple[Floats, Indices]:
        fitted = self._fitted
        describe = _data.distances if fitted.metric.precomputed else _data.points
        if not isinstance(fitted.metric.p, Real):
            raise ParameterError(f"parameter `p`: expected a number, got {fitted.metric.p!r}")
        with self._progress("kneighbors") as report:
            _, indices, distances = _core.kneighbors(
                describe(fitted.rows),
                None if rows is None else describe(rows),
                count,
                None,
                str(fitted.metric.name),
                float(fitted.metric.p),
                fitted.algorithm,
                thread_count(self.n_jobs),
                report,
            )
        return distances, indices

    def _by_search(self, rows: Any, count: int) -> tuple[Floats, Indices]:
        """Search under a metric that the core does not know; ties by the lower row."""
        fitted = self._fitted
        kind = ExactSearch if fitted.metric.exact else SklearnSearch
        search = kind(fitted.metric, count, None, fitted.algorithm)
        search.fit(fitted.rows)
        return _sorted(search.neighbors(rows), count)

    def __sklearn_is_fitted__(self) -> bool:  # noqa: D105
        return "_fitted" in vars(self)

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.sparse = not precomputed
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        return tags


def _require_distances(rows: Any) -> None:
    if _data.is_sparse(rows):
        raise InputError(
            "X is a sparse matrix, but precomputed distances must be dense; pass X.toarray() if "
            "every entry is stored"
        )
    wrong = np.argwhere(rows < 0)
    if len(wrong):
        row, column = wrong[0]
        raise InputError(
            "Negative values in data passed to X: distances must be >= 0, got "
            f"{rows[row, column]} at row {row}, column {column}"
        )


def _sorted(graph: Any, count: int) -> tuple[Floats, Indices]:
    """Return the entries of each row in order of distance, ties by column."""
    shape = (graph.shape[0], count)
    distances, indices = graph.data.reshape(shape), graph.indices.reshape(shape)
    order = np.lexsort((indices, distances), axis=1)
    return (
        np.take_along_axis(distances, order, axis=1).astype(np.float64),
        np.take_along_axis(indices, order, axis=1).astype(np.int64),
    )


def _positive(value: object) -> int:
    try:
        count = 0 if isinstance(value, (bool, np.bool_)) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if count < 1:
        raise ParameterError(
            f"parameter `n_neighbors`: expected an int of at least 1, got {value!r}"
        )
    return count
