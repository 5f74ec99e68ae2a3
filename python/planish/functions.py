"""The stages of the pipeline as functions, and what a fit would cost."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from . import _core, _data
from ._columns import checked_matrix
from ._docs import documented
from ._embedding import Embedding
from ._kernels import NATIVE_KERNELS
from ._methods import method_class
from ._metrics import NATIVE_METRICS, resolve_metric
from ._progress import progress
from ._threads import thread_count
from ._types import (
    Floats,
    Graph,
    Indices,
    MatrixLike,
    NativeMetric,
    NeighborsAlgorithm,
    PathMethod,
)
from .exceptions import InputError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix


@documented
def kneighbors(
    X: MatrixLike,
    n_neighbors: int = 5,
    *,
    query: MatrixLike | None = None,
    metric: NativeMetric | Literal["precomputed"] = "euclidean",
    p: float = 2,
    algorithm: NeighborsAlgorithm = "auto",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[Floats, Indices]:
    """Find the nearest rows of X, exactly.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows to search; a square matrix of distances when `metric` is
        "precomputed".
    n_neighbors : int, default=5
        Number of neighbours of each row.
    query : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
        The rows whose neighbours are wanted. None means the rows of X
        themselves; a row is then never its own neighbour, even when it has
        duplicates.
    metric : str, default="euclidean"
        "euclidean", "manhattan", "chebyshev", "minkowski", "cosine",
        "correlation", one of their other names, or "precomputed".
    p : float, default=2
        {p}
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        {neighbors_algorithm}
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    verbose : int, default=0
        {verbose_as_estimators}

    Returns
    -------
    distances : ndarray of shape (n_queries, n_neighbors)
        Distances to the neighbours, nearest first.
    indices : ndarray of shape (n_queries, n_neighbors)
        The rows of X they are; of two at the same distance, the lower index
        comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import kneighbors
    >>> distances, indices = kneighbors(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1)
    >>> indices.ravel()
    array([1, 0, 1])
    """
    if n_neighbors is None:
        raise ParameterError("parameter `n_neighbors`: expected an int, got None")
    indptr, indices, distances = _search(
        X, query, n_neighbors, None, metric, p, algorithm, n_jobs, verbose
    )
    rows = len(indptr) - 1
    return distances.reshape(rows, -1), indices.reshape(rows, -1)


@documented
def neighbors_graph(
    X: MatrixLike,
    *,
    n_neighbors: int | None = None,
    radius: float | None = None,
    query: MatrixLike | None = None,
    metric: NativeMetric | Literal["precomputed"] = "euclidean",
    p: float = 2,
    algorithm: NeighborsAlgorithm = "auto",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Graph:
    """Build the graph that joins each row to its neighbours.

    The graph can be given to :func:`geodesic_distances` and, with
    ``metric="precomputed"``, to :class:`Isomap`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows to search, as in :func:`kneighbors`.
    n_neighbors : int, default=None
        Number of neighbours of each row; give this or `radius`.
    radius : float, default=None
        Rows at most this far apart are neighbours; give this or `n_neighbors`.
    query : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
        The rows whose neighbours are wanted; None means the rows of X.
    metric : str, default="euclidean"
        As in :func:`kneighbors`.
    p : float, default=2
        {p}
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        {neighbors_algorithm}
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    verbose : int, default=0
        {verbose_as_estimators}

    Returns
    -------
    graph : scipy.sparse.csr_array of shape (n_queries, n_samples)
        Row i stores the distances to its neighbours, a zero to a duplicate
        included, in order of the column index.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import neighbors_graph
    >>> neighbors_graph(np.array([[0.0], [1.0], [3.0]]), radius=1.5).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    indptr, indices, distances = _search(
        X, query, n_neighbors, radius, metric, p, algorithm, n_jobs, verbose
    )
    columns: int = X.shape[0] if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]
    graph: Graph = _data.csr(distances, indices, indptr, (len(indptr) - 1, columns))
    graph.sort_indices()
    return graph


@documented
def geodesic_distances(
    graph: sparray | spmatrix,
    *,
    sources: ArrayLike | None = None,
    path_method: PathMethod = "auto",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """Compute the lengths of shortest paths through a graph.

    Parameters
    ----------
    graph : sparse matrix of shape (n_nodes, n_nodes)
        Stored entries are lengths of edges, a stored zero included. An edge
        stored in one direction holds in both; two directions of different
        length are refused.
    sources : array-like of int of shape (n_sources,), default=None
        Nodes at which paths start; None means all of them.
    path_method : {"auto", "D", "FW", "batch", "sweep"}, default="auto"
        As in :class:`Isomap`.
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    verbose : int, default=0
        {verbose_as_estimators}

    Returns
    -------
    distances : ndarray of shape (n_sources, n_nodes)
        Lengths of shortest paths, infinity where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from planish import geodesic_distances
    >>> path = csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    >>> geodesic_distances(path, sources=[0])
    array([[0., 1., 3.]])
    """
    if not sparse.issparse(graph):
        raise InputError(
            "the graph must be a scipy.sparse matrix, whose stored entries are its edges; "
            f"got {type(graph).__name__}"
        )
    edges = check_array(
        graph, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, input_name="graph"
    )
    if edges.shape[0] != edges.shape[1]:
        raise InputError(f"the graph must be square, got shape {edges.shape}")
    starts = None if sources is None else _as_indices(sources)
    if not isinstance(path_method, str):
        raise ParameterError(f"parameter `path_method`: expected a name, got {path_method!r}")
    threads = thread_count(n_jobs)
    shape = (edges.shape[0] if starts is None else len(starts), edges.shape[0])
    _data.require_memory(
        8 * shape[0] * shape[1],
        f"the distances from {shape[0]} sources to {shape[1]} nodes",
        "give fewer sources at a time",
    )
    found = np.empty(shape)
    with progress(verbose, "geodesic_distances") as report:
        _core.geodesic_distances(_data.graph(edges), starts, path_method, found, threads, report)
    return found


def estimate_memory(
    method: str | type[Embedding] | Embedding, n_samples: int, n_features: int, **params: Any
) -> int:
    """Estimate the peak memory of a fit, beyond the input.

    Parameters
    ----------
    method : str, estimator class or estimator
        What would be fitted; an estimator brings its parameters.
    n_samples, n_features : int
        Shape of the data.
    **params : dict
        Parameters that differ from the defaults, or from the estimator's.

    Returns
    -------
    n_bytes : int
        Peak number of bytes.

    Notes
    -----
    The local family and the Laplacian methods solve by a sparse factor, which is small on
    curves and surfaces, the case that is counted here. On data of more dimensions they may
    take a larger one, after a look at what is free, and do without where there is too little.

    Examples
    --------
    >>> from planish import Isomap, estimate_memory
    >>> estimate_memory(Isomap(), 20_000, 3) > estimate_memory(Isomap(), 10_000, 3)
    True
    """
    estimator = _estimator(method)
    if params:
        estimator = type(estimator)(**{**estimator.get_params(deep=False), **params})
    shape = [_count(n_samples, "n_samples"), _count(n_features, "n_features")]
    known = estimator._core_params(shape[0])
    for name, native in (("metric", NATIVE_METRICS), ("kernel", NATIVE_KERNELS)):
        if name in known and known[name] not in native:
            known[name] = "precomputed"  # what scikit-learn evaluates arrives as a matrix
    if callable(known.get("affinity")):
        known["affinity"] = "precomputed"
    return int(_core.estimate_memory(estimator._method, known, *shape))


def _estimator(method: str | type[Embedding] | Embedding) -> Embedding:
    found: Any = method_class(method) if isinstance(method, str) else method
    if isinstance(found, type) and issubclass(found, Embedding):
        found = found()
    if isinstance(found, Embedding):
        return found
    known = ", ".join(_core.methods())
    raise ParameterError(f"parameter `method`: {method!r} is not known; known methods: {known}")


def _count(value: object, name: str) -> int:
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < 0:
        raise ParameterError(f"parameter `{name}`: expected an int of at least 0, got {value!r}")
    return min(count, 2**62)  # more would not fit the core's integers


def _as_indices(sources: ArrayLike) -> Indices:
    given = np.asarray(sources)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ParameterError(
            f"parameter `sources`: expected a list of node numbers, got {sources!r}"
        )
    return np.ascontiguousarray(given, dtype=np.int64)


def _search(
    X: Any,
    query: Any,
    n_neighbors: Any,
    radius: Any,
    metric: Any,
    p: Any,
    algorithm: Any,
    n_jobs: Any,
    verbose: Any,
) -> tuple[Indices, Indices, Floats]:
    """Check and pass on what both neighbour functions take."""
    precomputed = isinstance(metric, str) and metric == "precomputed"
    if not precomputed and not resolve_metric(metric, p, None).native:
        raise ParameterError(
            f"parameter `metric`: {metric!r} is not one planish searches by itself; use "
            "sklearn.neighbors.NearestNeighbors, or pass distances with metric='precomputed'"
        )
    if n_neighbors is not None:
        n_neighbors = _count(n_neighbors, "n_neighbors")
    for name, value in (("radius", radius), ("p", p)):
        missing = value is None and name == "radius"
        if not missing and not isinstance(value, (int, float, np.integer, np.floating)):
            raise ParameterError(f"parameter `{name}`: expected a number, got {value!r}")
    if not isinstance(algorithm, str):
        raise ParameterError(f"parameter `algorithm`: expected a name, got {algorithm!r}")
    describe = _data.distances if precomputed else _data.points
    accept_sparse = False if precomputed else "csr"

    def described(rows: Any, name: str) -> _data.CoreData:
        checked = checked_matrix(
            rows,
            name,
            accept_sparse=accept_sparse,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
        return describe(checked)

    data = described(X, "X")
    wanted = None if query is None else described(query, "query")
    threads = thread_count(n_jobs)
    with progress(verbose, "kneighbors") as report:
        return _core.kneighbors(
            data, wanted, n_neighbors, radius, metric, p, algorithm, threads, report
        )
