"""Neighbours that the Rust core does not search itself.

Under a metric the core does not know they are searched by scikit-learn, or here
where scikit-learn's formula would lose digits (see `_metrics`), or the user lists
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _data
from ._given_neighbors import given_neighbors
from ._inputs import Input
from ._metrics import Metric, named
from ._search import ExactSearch, NoNumberError, Search, SklearnSearch, require_exact
from .exceptions import InputError, ParameterError

# Bytes of an entry of the lists while they are made, and what is not worth asking for.
_ENTRY, _SMALL = 24, 64 << 20


class SearchedNeighbors(Input):
    """Points whose neighbours are searched under a metric the core does not know.

    Training: the sparse neighbourhood graph, or, when that graph has several
    components and must be bridged, the whole distance matrix. New rows come the
    same way; with `attach` one that has no training row within the radius gets its
    nearest. With `distinct` only the first of equal rows is anybody's neighbour.
    """

    rows: Any

    def __init__(
        self,
        metric: Metric,
        n_neighbors: Any,
        radius: Any,
        algorithm: Any,
        *,
        bridge: bool,
        attach: bool,
        distinct: bool = False,
        **params: Any,
    ) -> None:
        super().__init__(metric="precomputed", **params)
        _check_rule(n_neighbors, radius)
        require_exact(algorithm, metric, "neighbors_algorithm")
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.bridge = bridge
        self.attach = attach
        self.distinct = distinct
        self.whole_matrix = False
        self.firsts: NDArray[np.int64] | None = None

    def training(self, X: Any) -> _data.CoreData:
        """Fit the search and describe the neighbourhoods of the rows of X."""
        self.metric.check_values(X)
        self.metric = self.metric.learned(X)
        self.rows = X
        self._refuse_too_many(X.shape[0])
        duplicates = self.duplicates = self._first_of_equal_rows(X)
        firsts = np.unique(duplicates)
        if self.distinct and 1 < len(firsts) < len(duplicates):
            self.firsts = firsts
        self._fit_search()
        self._require_room()
        graph = self._graph(None)
        if self.firsts is not None:
            graph = graph[np.searchsorted(firsts, duplicates)]
        else:
            graph = self._with_equal_rows(graph)
        components: Any = sparse.csgraph.connected_components(
            graph, directed=False, return_labels=False
        )
        self.whole_matrix = self.bridge and components > 1
        if self.whole_matrix:
            return _data.distances(self.metric.pairwise(X))
        return _data.graph(graph)

    def new(self, X: Any) -> _data.CoreData:
        """Describe the training neighbours of new rows."""
        self.metric.check_values(X)
        if self.whole_matrix:
            return _data.distances(self.metric.pairwise(X, self.rows))
        graph = self._graph(X)
        alone = np.flatnonzero(np.diff(graph.indptr) == 0)
        if self.attach and alone.size:
            nearest = self._of_all_rows(self._run(lambda: self.search.nearest(X[alone]), X))
            graph = graph.tolil()
            graph[alone] = nearest
            graph = graph.tocsr()
        return _data.graph(graph)

    def shown(self) -> Any:
        """Return the search as users know it: scikit-learn's, by their own metric."""
        return self.search.shown()

    def _fit_search(self) -> None:
        wanted = self.n_neighbors
        if self.firsts is not None:
            wanted = None if wanted is None else min(wanted, len(self.firsts) - 1)
        kind = ExactSearch if self.metric.exact else SklearnSearch
        self.search: Search = kind(self.metric, wanted, self.radius, self.algorithm)
        self._run(lambda: self.search.fit(self._searched(self.rows)), None)

    def stored(self) -> dict[str, Any]:
        """Return what a model file keeps: all but the search, which follows from the rest."""
        return {name: value for name, value in vars(self).items() if name != "search"}

    @classmethod
    def restored(cls, fields: Mapping[str, Any]) -> Any:
        """Return the same, with the search fitted again."""
        found = super().restored(fields)
        found._fit_search()
        return found

    def _graph(self, X: Any) -> Any:
        graph = self._run(lambda: self.search.neighbors(X), X)
        if graph.nnz and graph.indices.min() < 0:  # where scikit-learn finds NaN only
            entry = int(np.flatnonzero(graph.indices < 0)[0])
            raise InputError(
                f"the metric {self.metric.name!r} has no distance from row "
                f"{_row_of_entry(graph)[entry]} to others; distances must be numbers >= 0"
            )
        graph = self._of_all_rows(graph)
        return graph if X is None else self._with_own_rows(graph, X)

    def _with_equal_rows(self, graph: Any) -> Any:
        """Put equal training rows at distance zero, whatever the metric says.

        Where it says something else they are not in each other's lists: an edge joins them.
        """
        rows, count = _row_of_entry(graph), graph.shape[0]
        equal = self.duplicates[rows] == self.duplicates[graph.indices]
        others = np.bincount(self.duplicates, minlength=count)[self.duplicates] - 1
        listed = np.bincount(rows[equal & (graph.data == 0.0)], minlength=count)
        most = count if self.n_neighbors is None else self.n_neighbors
        graph.data[equal] = 0.0
        (missed,) = np.nonzero(listed < np.minimum(others, most))
        missed = missed[self.duplicates[missed] != missed]
        return _with_zeros(graph, missed, self.duplicates[missed])

    def _with_own_rows(self, graph: Any, X: Any) -> Any:
        """Say of new rows that are training rows that they are: by an edge of length zero."""
        first = np.array([self.known.get(key, -1) for key in _data.row_keys(X)], dtype=np.int64)
        graph.data[self.duplicates[graph.indices] == first[_row_of_entry(graph)]] = 0.0
        (own,) = np.nonzero(first >= 0)
        return _with_zeros(graph, own, first[own])

    def _first_of_equal_rows(self, X: Any) -> NDArray[np.int64]:
        """Return for each row of X the number of the first row that is equal to it."""
        self.known: dict[Any, int] = {}
        firsts = [self.known.setdefault(key, row) for row, key in enumerate(_data.row_keys(X))]
        return np.array(firsts, dtype=np.int64)

    def _run(self, call: Callable[[], Any], X: Any) -> Any:
        """Run the search, of new rows X or of the training rows."""
        try:
            return named(call, "metric", self.metric.name)
        except NoNumberError as error:
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
        if self.radius is None or _ENTRY * count * count <= _SMALL:
            return
        some = rows[:: -(-count // 32)]
        found = self._run(lambda: self.search.neighbors(some), None)
        _data.require_memory(
            int(_ENTRY * found.nnz / some.shape[0] * count),
            "the lists of neighbours",
            "lower `radius`, or fit on a subset of the rows",
        )

    def _searched(self, X: Any) -> Any:
        return X if self.firsts is None else X[self.firsts]

    def _of_all_rows(self, graph: Any) -> Any:
        """Rename the columns of a graph of those searched to the training rows they are."""
        if self.firsts is not None:
            shape = (graph.shape[0], self.rows.shape[0])
            graph = _data.csr(graph.data, self.firsts[graph.indices], graph.indptr, shape)
        graph.sort_indices()
        return graph

    def _refuse_too_many(self, rows: int) -> None:
        if self.n_neighbors is not None and self.n_neighbors >= rows:
            raise ParameterError(
                f"parameter `n_neighbors`: must be < n_samples = {rows}, got {self.n_neighbors}"
            )


class SearchedNeighborhoods(Input):
    """Points with lists of their neighbours, searched or given, as locally linear methods take."""

    def __init__(self, search: SearchedNeighbors | None, given: Any, **params: Any) -> None:
        super().__init__(**params)
        self.search = search
        self.given = given

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows, each with its neighbours."""
        lists = self.search.training(X) if self.search is not None else None
        if self.given is not None:
            lists = given_neighbors(self.given, X)
            self.given = None  # not needed for new rows
        assert lists is not None
        return _data.neighborhoods(X, lists)

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows, with their neighbours where the core does not search them."""
        if self.search is None:
            return _data.points(X)
        return _data.neighborhoods(X, self.search.new(X))


def _check_rule(n_neighbors: Any, radius: Any) -> None:
    """Refuse what is not exactly one of a number of neighbours and a radius."""
    if n_neighbors is not None and radius is not None:
        raise ParameterError(
            "parameter `radius`: Both n_neighbors and radius are provided; set one of them to None"
        )
    if n_neighbors is None and radius is None:
        raise ParameterError(
            "parameter `n_neighbors`: n_neighbors and radius are both None; give one of them"
        )
    whole = isinstance(n_neighbors, Integral) and not isinstance(n_neighbors, bool)
    if n_neighbors is not None and not (whole and n_neighbors > 0):
        raise ParameterError(
            f"parameter `n_neighbors`: expected an int of at least 1, got {n_neighbors!r}"
        )
    real = isinstance(radius, Real) and not isinstance(radius, bool)
    if radius is not None and not (real and radius > 0):
        raise ParameterError(f"parameter `radius`: expected a number above 0, got {radius!r}")


def _number_of(values: Any, rows: Any) -> int | None:
    """Return which of the rows has these values, if one has."""
    if _data.is_sparse(rows):
        rows = rows.toarray()
    if _data.is_sparse(values):
        values = values.toarray()
    found = np.flatnonzero((np.asarray(rows) == np.ravel(values)).all(axis=1))
    return int(found[0]) if found.size else None


def _with_zeros(graph: Any, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Any:
    """Add edges of length zero where there are none."""
    count, width = graph.shape
    entries, wanted = _row_of_entry(graph) * width + graph.indices, rows * width + columns
    lacking = wanted[~np.isin(wanted, entries)]
    if not lacking.size:
        return graph
    entries = np.concatenate([entries, lacking])
    order = np.argsort(entries, kind="stable")
    values = np.concatenate([graph.data, np.zeros(lacking.size)])[order]
    places = entries[order]
    indptr = np.searchsorted(places, np.arange(count + 1) * width)
    return _data.csr(values, places % width, indptr, graph.shape)


def _row_of_entry(graph: Any) -> NDArray[np.int64]:
    """Return the row of each stored entry."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
