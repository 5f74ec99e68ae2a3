"""Searches for neighbours under metrics that the Rust core does not know."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from . import _core, _data
from ._metrics import Metric
from .exceptions import ParameterError


def require_exact(algorithm: Any, metric: Metric, parameter: str) -> None:
    """Refuse to search approximately by a metric that the core does not know."""
    if isinstance(algorithm, str) and algorithm == "approximate":
        name = "a callable" if callable(metric.name) else repr(metric.name)
        raise ParameterError(
            f'parameter `{parameter}`: \'approximate\' compares rows by "euclidean", "manhattan", '
            '"chebyshev", "minkowski", "cosine" or "correlation" without `metric_params`, '
            f"got the metric {name}; use 'auto'"
        )


class Search(Protocol):
    """A search over some rows by a metric, k nearest or within a radius."""

    def __init__(self, metric: Metric, n_neighbors: Any, radius: Any, algorithm: Any) -> None: ...

    def fit(self, rows: Any) -> None:
        """Take the rows to search."""

    def neighbors(self, rows: Any) -> Any:
        """Return a sparse graph of distances; of the searched rows themselves for None."""

    def nearest(self, rows: Any) -> Any:
        """Return a sparse graph of the distance of each row to the nearest."""

    def shown(self) -> Any:
        """Return scikit-learn's search with the same parameters."""


class SklearnSearch:
    """A search by scikit-learn, on one thread."""

    def __init__(self, metric: Metric, n_neighbors: Any, radius: Any, algorithm: Any) -> None:
        from sklearn.neighbors import NearestNeighbors

        self.metric = metric
        # scikit-learn warns where `p` is given twice, and of trees it cannot make.
        self.by_radius = n_neighbors is None
        self.engine = NearestNeighbors(
            n_neighbors=n_neighbors,
            radius=radius,
            algorithm=algorithm,
            metric=_Numeric(metric.name) if callable(metric.name) else metric.name,
            p=None if "p" in metric.arguments else metric.p,
            metric_params=dict(metric.arguments) or None,
            n_jobs=1,
        )

    def fit(self, rows: Any) -> None:
        """Take the rows to search."""
        if _data.is_sparse(rows) and self.engine.algorithm in ("kd_tree", "ball_tree"):
            self.engine.algorithm = "brute"
        self.engine.fit(self.metric.seen(rows))

    def neighbors(self, rows: Any) -> Any:
        """Return a sparse graph of distances; of the searched rows themselves for None."""
        find = (
            self.engine.radius_neighbors_graph if self.by_radius else self.engine.kneighbors_graph
        )
        return find(None if rows is None else self.metric.seen(rows), mode="distance")

    def nearest(self, rows: Any) -> Any:
        """Return a sparse graph of the distance of each row to the nearest."""
        return self.engine.kneighbors_graph(self.metric.seen(rows), 1, mode="distance")

    def shown(self) -> Any:
        """Return the search by the user's own metric."""
        engine = copy.copy(self.engine)
        if callable(self.metric.name):
            engine.metric = engine.effective_metric_ = self.metric.name
        return engine


class ExactSearch:
    """A search by the metrics that are evaluated here: nothing is lost far from the origin."""

    rows: Any

    def __init__(self, metric: Metric, n_neighbors: Any, radius: Any, algorithm: Any) -> None:
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm

    def fit(self, rows: Any) -> None:
        """Take the rows to search."""
        self.rows = rows

    def neighbors(self, rows: Any) -> Any:
        """Return a sparse graph of distances; of the searched rows themselves for None."""
        return self._graph(rows, self.n_neighbors, self.radius)

    def nearest(self, rows: Any) -> Any:
        """Return a sparse graph of the distance of each row to the nearest."""
        return self._graph(rows, 1, None)

    def shown(self) -> Any:
        """Return scikit-learn's search with the same parameters."""
        search = SklearnSearch(self.metric, self.n_neighbors, self.radius, self.algorithm)
        search.fit(self.rows)
        return search.engine

    def _graph(self, rows: Any, count: int | None, radius: float | None) -> Any:
        if self.metric.name == "sqeuclidean":
            # Those nearest by squares are those nearest by distances, which the core finds.
            within = None if radius is None else float(np.sqrt(radius))
            query = None if rows is None else _data.points(rows)
            indptr, indices, lengths = _core.kneighbors(
                _data.points(self.rows), query, count, within, "euclidean", 2.0, "auto", 1, None
            )
            shape = (len(indptr) - 1, self.rows.shape[0])
            with np.errstate(over="ignore"):
                return _data.csr(lengths**2, indices, indptr, shape)
        return self._by_blocks(rows, count, radius)

    def _by_blocks(self, rows: Any, count: int | None, radius: float | None) -> Any:
        """Evaluate the distances of a block of rows at a time and keep the smallest."""
        own, rows = rows is None, self.rows if rows is None else rows
        step = max(1, (1 << 22) // self.rows.shape[0])
        blocks = []
        for first in range(0, rows.shape[0], step):
            found = self.metric.pairwise(rows[first : first + step], self.rows)
            if own:
                found[np.arange(len(found)), np.arange(first, first + len(found))] = np.inf
            blocks.append(smallest(found, count, np.inf if radius is None else radius))
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def smallest(distances: Any, count: int | None, radius: float) -> Any:
    """Keep the smallest distances of each row, ties by index; NaN only where too few are left."""
    rows, columns = distances.shape
    if count is None:
        kept = np.nonzero(distances <= radius if radius < np.inf else distances < np.inf)
        indptr = np.searchsorted(kept[0], np.arange(rows + 1))
        return _data.csr(distances[kept], kept[1], indptr, distances.shape)
    ranks = np.where(np.isnan(distances), np.finfo(np.float64).max, distances)
    nearest = np.sort(np.argsort(ranks, axis=1, kind="stable")[:, :count], axis=1)
    values = np.take_along_axis(distances, nearest, axis=1).ravel()
    indptr = np.arange(rows + 1) * min(count, columns)
    return _data.csr(values, nearest.ravel(), indptr, distances.shape)


class NoNumberError(Exception):
    """A metric of the user's returned NaN for this pair."""

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__("NaN")
        self.pairs = ((first, second), (second, first))


class _Numeric:
    """A callable metric that may not return NaN: a search would only sort it away."""

    def __init__(self, metric: Callable[..., float]) -> None:
        self.metric = metric

    def __call__(self, first: Any, second: Any, **arguments: Any) -> float:
        distance = self.metric(first, second, **arguments)
        if distance != distance:  # noqa: PLR0124 (only NaN is not itself)
            raise NoNumberError(first, second)
        return distance
