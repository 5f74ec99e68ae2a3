"""Metrics and kernels the Rust core does not know, evaluated by scikit-learn.

Everything here runs on one thread: some of scikit-learn's parallel loops round
differently for different numbers of threads, and planish promises the same bits.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _data
from .exceptions import InputError, ParameterError

NATIVE_METRICS = frozenset(
    {
        "euclidean", "l2", "minkowski", "manhattan", "cityblock", "l1",
        "chebyshev", "infinity", "cosine", "correlation",
    }
)  # fmt: skip
# Bytes of an entry of the lists while they are made, and what is not worth asking for.
_ENTRY, _SMALL = 24, 64 << 20
NATIVE_KERNELS = frozenset({"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian"})


@dataclass(frozen=True)
class Metric:
    """A metric with its arguments, and who evaluates it."""

    name: str | Callable[..., float]
    p: float
    arguments: Mapping[str, Any]

    @property
    def native(self) -> bool:
        """Whether the Rust core knows this metric with these arguments."""
        return isinstance(self.name, str) and self.name in NATIVE_METRICS and not self.arguments

    @property
    def keywords(self) -> dict[str, Any]:
        """Arguments for scikit-learn's functions."""
        if self.name == "minkowski":
            return {"p": self.p, **self.arguments}
        return dict(self.arguments)

    def check_values(self, X: Any) -> None:
        """Refuse NaN, which scikit-learn's metrics would pass on, unless it means missing."""
        if self.name != "nan_euclidean":
            _data.require_finite(X)

    def seen(self, X: Any) -> Any:
        """Return X as the metric sees it: truth values, if it compares those and X has no other.

        Numbers that are neither 0 nor 1 stay, and scikit-learn says what it makes of them.
        """
        from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

        if self.name not in PAIRWISE_BOOLEAN_FUNCTIONS or _data.is_sparse(X):
            return X
        return X.astype(bool) if np.isin(X, (0, 1)).all() else X

    def learned(self, X: Any) -> Metric:
        """Return the metric with what it takes from the training rows, X, filled in."""
        wanted = {"seuclidean": "V", "mahalanobis": "VI"}.get(str(self.name))
        if wanted is None or self.arguments.keys() & {"V", "VI"} or _data.is_sparse(X):
            return self
        rows = np.asarray(X, dtype=np.float64)
        if wanted == "V":
            found = np.var(rows, axis=0, ddof=1)
        else:
            try:
                found = np.linalg.inv(np.atleast_2d(np.cov(rows.T))).T
            except np.linalg.LinAlgError as error:
                raise ParameterError(
                    f"parameter `metric`: {self.name!r}: the covariance of X has no inverse; give "
                    "one as `VI` in `metric_params`"
                ) from error
        return replace(self, arguments={**self.arguments, wanted: found})

    def pairwise(self, X: Any, Y: Any = None) -> Any:
        """Distances of every row of X to every row of Y (or of X)."""
        from sklearn.metrics import pairwise_distances

        columns = X.shape[0] if Y is None else Y.shape[0]
        _data.require_memory(
            16 * X.shape[0] * columns,
            f"the {X.shape[0]} × {columns} matrix of distances",
            "use a metric planish evaluates itself, or fewer rows",
        )
        rows, others = self.seen(X), None if Y is None else self.seen(Y)
        call = lambda: pairwise_distances(  # noqa: E731
            rows, others, metric=self.name, n_jobs=1, **self.keywords
        )
        found = _named(call, "metric", self.name)
        if self.name == "nan_euclidean":
            # Differences of squares there: equal rows would be almost 0 apart.
            found[_equal_rows(X, X if Y is None else Y) & ~np.isnan(found)] = 0.0
        return found


def _equal_rows(X: Any, Y: Any) -> Any:
    """Which rows of X are which of Y, values missing in the same places."""
    both = np.vstack([X, Y]).astype(np.float64)
    missing = np.isnan(both)
    keys = np.hstack([np.where(missing, 0.0, both), missing])
    _, names = np.unique(keys, axis=0, return_inverse=True)
    names = names.reshape(-1)
    return names[: len(X), None] == names[None, len(X) :]


def resolve_metric(metric: object, p: Any, metric_params: object) -> Metric:
    """Check the three parameters that make a metric; ``p`` in ``metric_params`` wins."""
    arguments = _keyword_arguments("metric_params", metric_params)
    if callable(metric):
        return Metric(metric, p, arguments)
    if isinstance(metric, str) and metric in NATIVE_METRICS:
        if metric == "minkowski":
            p = arguments.pop("p", p)
        return Metric(metric, p, arguments)
    from sklearn.neighbors import VALID_METRICS

    known = {*NATIVE_METRICS, *VALID_METRICS["brute"], "precomputed"}
    if not isinstance(metric, str) or metric not in known:
        raise ParameterError(
            f"parameter `metric`: {metric!r} is not known; give a callable or one of: "
            f"{', '.join(sorted(known))}"
        )
    return Metric(metric, p, arguments)


def foreign_kernel(
    kernel: object, arguments: object, defaults: Mapping[str, Any], X: Any, Y: Any = None
) -> Any:
    """Evaluate a callable, or a kernel only scikit-learn knows."""
    from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

    known = {*NATIVE_KERNELS, *kernel_metrics(), "precomputed"}
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in known):
        raise ParameterError(
            f"parameter `kernel`: {kernel!r} is not known; give a callable or one of: "
            f"{', '.join(sorted(known))}"
        )
    keywords = _keyword_arguments("kernel_params", arguments)
    if not callable(kernel):
        keywords = {**defaults, **keywords}
    call = lambda: pairwise_kernels(  # noqa: E731
        X, Y, metric=kernel, filter_params=not callable(kernel), n_jobs=1, **keywords
    )
    return _named(call, "kernel", kernel)


class _NoNumberError(Exception):
    """A metric of the user's returned NaN for this pair."""

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__("NaN")
        self.pairs = ((first, second), (second, first))


@dataclass(frozen=True)
class _Numeric:
    """A callable metric that may not return NaN: a search would only sort it away."""

    metric: Callable[..., float]

    def __call__(self, first: Any, second: Any, **arguments: Any) -> float:
        distance = self.metric(first, second, **arguments)
        if distance != distance:  # noqa: PLR0124 (only NaN is not itself)
            raise _NoNumberError(first, second)
        return distance


def _number_of(values: Any, rows: Any) -> int | None:
    """Return which of the rows has these values, if one has."""
    if _data.is_sparse(rows):
        rows = rows.toarray()
    if _data.is_sparse(values):
        values = values.toarray()
    found = np.flatnonzero((np.asarray(rows) == np.ravel(values)).all(axis=1))
    return int(found[0]) if found.size else None


class ForeignNeighbors:
    """Neighbours under a metric of scikit-learn's, for Isomap and locally linear embedding.

    Training: the sparse neighbourhood graph, or, when that graph is in pieces
    and must be bridged, the whole distance matrix. New rows come the same way.
    With `distinct` only the first of equal rows is anybody's neighbour.
    """

    def __init__(
        self,
        metric: Metric,
        n_neighbors: Any,
        radius: Any,
        algorithm: Any,
        distinct: bool = False,
    ) -> None:
        from sklearn.neighbors import NearestNeighbors

        if (n_neighbors is None) == (radius is None):
            raise ParameterError(
                "parameter `n_neighbors`: give either `n_neighbors` or `radius` and set the other "
                f"to None, got n_neighbors={n_neighbors!r} and radius={radius!r}"
            )
        self.metric = metric
        self.by_radius = n_neighbors is None
        self.whole_matrix = False
        self.distinct = distinct
        self.firsts: NDArray[np.int64] | None = None
        self.search = NearestNeighbors(
            n_neighbors=n_neighbors,
            radius=radius,
            algorithm=algorithm,
            metric=_Numeric(metric.name) if callable(metric.name) else metric.name,
            p=metric.p,
            metric_params=dict(metric.arguments) or None,
            n_jobs=1,
        )

    def training(self, X: Any, bridge: bool) -> _data.CoreData:
        """Fit the search and describe the neighbourhoods of the rows of X."""
        self.metric.check_values(X)
        self.metric = self.metric.learned(X)
        self.search.metric_params = dict(self.metric.arguments) or None
        self.rows = X
        self._refuse_too_many(X.shape[0])
        twins = _first_of_equal_rows(X) if self.distinct else np.arange(X.shape[0])
        firsts = np.unique(twins)
        if 1 < len(firsts) < len(twins):
            self.firsts = firsts
            if not self.by_radius and isinstance(self.search.n_neighbors, (int, np.integer)):
                self.search.n_neighbors = min(self.search.n_neighbors, len(firsts) - 1)
        self._run(lambda: self.search.fit(self.metric.seen(self._searched(X))), None)
        self._require_room()
        graph = self._graph(None)
        if self.firsts is not None:
            graph = graph[np.searchsorted(firsts, twins)]
        pieces: Any = sparse.csgraph.connected_components(
            graph, directed=False, return_labels=False
        )
        self.whole_matrix = bridge and pieces > 1
        if self.whole_matrix:
            return _data.distances(self.metric.pairwise(X))
        return _data.graph(graph)

    def query(self, X: Any, attach: bool) -> _data.CoreData:
        """Describe the training neighbours of new rows.

        With `attach` a row that has none within the radius gets its nearest.
        """
        self.metric.check_values(X)
        if self.whole_matrix:
            return _data.distances(self.metric.pairwise(X, self.rows))
        graph = self._graph(X)
        alone = np.flatnonzero(np.diff(graph.indptr) == 0)
        if attach and alone.size:
            nearest = self._of_all_rows(
                self._run(
                    lambda: self.search.kneighbors_graph(
                        self.metric.seen(X[alone]), 1, mode="distance"
                    ),
                    X,
                )
            )
            graph = graph.tolil()
            graph[alone] = nearest
            graph = graph.tocsr()
        return _data.graph(graph)

    def shown(self) -> Any:
        """Return the search as users know it: by their own metric."""
        search = copy.copy(self.search)
        if callable(self.metric.name):
            search.metric = search.effective_metric_ = self.metric.name
        return search

    def _graph(self, X: Any) -> Any:
        find = (
            self.search.radius_neighbors_graph if self.by_radius else self.search.kneighbors_graph
        )
        rows = None if X is None else self.metric.seen(X)
        graph = self._of_all_rows(self._run(lambda: find(rows, mode="distance"), X))
        return graph if X is None or _data.is_sparse(X) else self._with_own_rows(graph, X)

    def _with_own_rows(self, graph: Any, X: Any) -> Any:
        """Say 0 of equal rows (of zeros, say) of which a metric by name knows no distance."""
        lost = np.flatnonzero(np.isnan(graph.data))
        if lost.size:
            new = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))[lost]
            equal = (X[new] == self.rows[graph.indices[lost]]).all(axis=1)
            graph.data[lost[equal]] = 0.0
        return graph

    def _run(self, call: Callable[[], Any], X: Any) -> Any:
        """Run scikit-learn's search, of new rows X or of the training rows."""
        try:
            return _named(call, "metric", self.metric.name)
        except _NoNumberError as error:
            rows = self.rows if X is None else X
            pairs = (
                (_number_of(one, rows), _number_of(two, self.rows)) for one, two in error.pairs
            )
            row, other = next((pair for pair in pairs if None not in pair), (None, None))
            training = "row" if X is None else "training row"
            between = (
                f"row {row} and {training} {other}"
                if row is not None
                else "two points that are not rows (centres of a search tree)"
            )
            raise InputError(
                f"the metric returned NaN for {between}; distances must be numbers >= 0"
            ) from None

    def _require_room(self) -> None:
        """Refuse a radius with too many rows in it, judged by some of them."""
        rows = self._searched(self.rows)
        count = rows.shape[0]
        if not self.by_radius or _ENTRY * count * count <= _SMALL:
            return
        some = rows[:: -(-count // 32)]
        found = self._run(
            lambda: self.search.radius_neighbors(self.metric.seen(some), return_distance=False),
            None,
        )
        mean = sum(len(near) for near in found) / len(found)
        _data.require_memory(
            int(_ENTRY * mean * count),
            "the lists of neighbours",
            "lower `radius`, or fit on a subset of the rows",
        )

    def _searched(self, X: Any) -> Any:
        return X if self.firsts is None else X[self.firsts]

    def _of_all_rows(self, graph: Any) -> Any:
        """Rename the columns of a graph of those searched to the training rows they are."""
        if self.firsts is not None:
            shape = (graph.shape[0], self.rows.shape[0])
            named = (graph.data, self.firsts[graph.indices], graph.indptr)
            graph = sparse.csr_matrix(named, shape=shape)
        graph.sort_indices()
        return graph

    def _refuse_too_many(self, rows: int) -> None:
        wanted = self.search.n_neighbors
        if not self.by_radius and isinstance(wanted, (int, np.integer)) and wanted >= rows:
            raise ParameterError(
                f"parameter `n_neighbors`: {wanted} neighbours asked for but X has n_samples = "
                f"{rows}; a row has at most {rows - 1} neighbours besides itself"
            )


def _first_of_equal_rows(X: Any) -> NDArray[np.int64]:
    """Return for each row of X the number of the first row that is equal to it."""
    if _data.is_sparse(X):
        X = sparse.csr_array(X)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        keys = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in parts]
    else:
        keys = [row.tobytes() for row in X + 0.0]  # -0.0 is 0.0
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(key, row) for row, key in enumerate(keys)], dtype=np.int64)


def _keyword_arguments(name: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ParameterError(
            f"parameter `{name}`: expected a dict or None, got {type(value).__name__}"
        )
    return dict(value)


def _named(call: Callable[[], Any], parameter: str, value: object) -> Any:
    """Run scikit-learn's code; what it refuses names our parameter.

    A callable of the user's raises its own exceptions unchanged.
    """
    if callable(value):
        return call()
    try:
        return call()
    except (TypeError, ValueError) as error:
        raise ParameterError(f"parameter `{parameter}`: {value!r}: {error}") from error
