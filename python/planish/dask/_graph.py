"""The neighbourhood graph in one piece: put together by one task, made connected.

Which rows are neighbours was found block by block; the graph itself, n k numbers, fits
a worker long after the rows do not. Components, bridges and outliers follow the rules of
one machine: the same edges, the same rows left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .. import _core, _data
from .._warn import warn
from ..exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    OutlierWarning,
    ParameterError,
)
from ._blocks import Blocks
from ._bridges import REMEDY, Link, in_words, rows_of_links, spanning_links, warn_of_bridges
from ._neighbors import Rule
from ._run import Run, compute, persist, shared


@dataclass(frozen=True)
class Edges:
    """A graph among the rows in use, and which rows these are (None: all)."""

    indptr: Any
    indices: Any
    lengths: Any
    used: Any
    rows: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def core(self) -> _data.CoreData:
        """Return what the Rust core reads."""
        return _data.graph_of(self.indptr, self.indices, self.lengths)

    def matrix(self) -> Any:
        """Return the symmetric graph among all rows."""
        count = self.rows
        owner = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        ends = [owner, self.indices]
        if self.used is not None:
            ends = [self.used[end] for end in ends]
        rows, columns = np.concatenate(ends), np.concatenate(ends[::-1])
        order = np.lexsort((columns, rows))
        rows, columns = rows[order], columns[order]
        lengths = np.concatenate([self.lengths, self.lengths])[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        indptr = np.searchsorted(rows[first], np.arange(count + 1))
        return _data.csr(lengths[first], columns[first], indptr, (count, count))


@dataclass(frozen=True)
class Connected:
    """What became of the graph: the task that gives it, and what a fit tells of it."""

    edges: Any
    labels: Any
    count: int
    bridges: Any
    outliers: Any
    #: Rows in use, on the client; None for all.
    used: Any


def connected(
    lists: list[Any], blocks: Blocks, rule: Rule, disconnected: str, outliers: str, run: Run
) -> Connected:
    """Put the graph together and treat its components and outliers as the parameters say."""
    (edges,) = persist([run.task(_joined, "graph")(*lists)])
    (labels,) = persist([run.task(_labels, "components")(edges)])
    (sizes,) = compute([run.task(np.bincount, "component-sizes")(labels)])
    bridges = np.empty((0, 2), dtype=np.int64)
    used = None
    if len(sizes) > 1:
        if disconnected == "error":
            raise DisconnectedGraphError(
                f"the number of connected components of the graph is {len(sizes)} (sizes "
                f"{in_words(sizes)}); {REMEDY}",
                labels=compute([labels])[0],
                n_components=len(sizes),
            )
        if disconnected == "largest":
            used = _largest(labels, sizes, run)
            (edges,) = persist([run.task(_only, "largest-component")(edges, shared(used))])
        elif disconnected == "bridge":
            links = spanning_links(blocks, _by_block(labels, blocks, run), len(sizes), rule, run)
            bridges = rows_of_links(links)
            warn_of_bridges(sizes, links)
            (edges,) = persist([run.task(_with_links, "bridges")(edges, links)])
        else:
            raise ParameterError(
                "parameter `disconnected`: expected one of 'error', 'largest', 'bridge', got "
                f"{disconnected!r}"
            )
    far = np.empty(0, dtype=np.int64)
    if outliers == "place":
        (far,) = compute([run.task(_far_rows, "outliers")(edges, rule.threads)])
        if len(far):
            everyone = np.arange(blocks.rows) if used is None else used
            rest = np.delete(np.arange(len(everyone)), far)
            far = everyone[far]
            _warn_of_outliers(far)
            (edges,) = persist([run.task(_only, "without-outliers")(edges, shared(rest))])
            used = everyone[rest]
    elif outliers != "keep":
        raise not_outliers(outliers)
    return Connected(edges, labels, len(sizes), bridges, far, used)


def not_outliers(given: Any) -> ParameterError:
    """Return the error for what `outliers` may not be."""
    return ParameterError(f"parameter `outliers`: expected one of 'place', 'keep', got {given!r}")


def _joined(*lists: Any) -> Edges:
    ends = np.concatenate([[0], *(np.diff(one.indptr) for one in lists)])
    indptr = np.cumsum(ends, dtype=np.int64)
    indices = np.concatenate([one.rows for one in lists])
    lengths = np.concatenate([one.distances for one in lists])
    return Edges(indptr, indices, lengths, None, len(indptr) - 1)


def _labels(edges: Edges) -> Any:
    count = len(edges)
    there = sparse.csr_array(
        (np.ones(len(edges.indices), np.int8), edges.indices, edges.indptr), shape=(count, count)
    )
    _, labels = csgraph.connected_components(there, directed=True, connection="weak")
    # Numbered by first appearance.
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _by_block(labels: Any, blocks: Blocks, run: Run) -> list[Any]:
    return persist(
        [
            run.task(_between, "labels", b)(labels, int(first), int(last))
            for b, (first, last) in enumerate(pairwise(blocks.starts))
        ]
    )


def _between(labels: Any, first: int, last: int) -> Any:
    return labels[first:last].copy()


def _largest(labels: Any, sizes: Any, run: Run) -> Any:
    kept = int(np.argmax(sizes))
    (used,) = compute([run.task(_rows_of, "rows-of-largest")(labels, kept)])
    rows = int(np.sum(sizes))
    warn(
        f"the number of connected components of the neighbourhood graph is {len(sizes)} (sizes "
        f"{in_words(sizes)}); the one of {len(used)} rows is embedded and {rows - len(used)} of "
        f"{rows} rows are left out (NaN); {REMEDY}",
        DisconnectedGraphWarning,
    )
    return used


def _rows_of(labels: Any, label: int) -> Any:
    return np.flatnonzero(labels == label)


def _only(edges: Edges, kept: Any) -> Edges:
    place = np.full(len(edges), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    owner = place[np.repeat(np.arange(len(edges)), np.diff(edges.indptr))]
    indices = place[edges.indices]
    inside = (owner >= 0) & (indices >= 0)
    counts = np.bincount(owner[inside], minlength=len(kept))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    used = kept if edges.used is None else edges.used[kept]
    return Edges(indptr, indices[inside], edges.lengths[inside], used, edges.rows)


def _with_links(edges: Edges, links: list[Link]) -> Edges:
    owner = np.repeat(np.arange(len(edges)), np.diff(edges.indptr))
    lengths = np.array([link[0] for link in links])
    ones, others = rows_of_links(links).T
    owner = np.concatenate([owner, ones])
    order = np.argsort(owner, kind="stable")
    indptr = np.searchsorted(owner[order], np.arange(len(edges) + 1)).astype(np.int64)
    indices = np.concatenate([edges.indices, others])[order]
    return Edges(indptr, indices, np.concatenate([edges.lengths, lengths])[order], None, edges.rows)


def _far_rows(edges: Edges, threads: int) -> Any:
    return _core.graph_outliers(edges.core(), threads)


def _warn_of_outliers(far: Any) -> None:
    shown = ", ".join(map(str, far[:5])) + (", …" if len(far) > 5 else "")  # noqa: PLR2004
    warn(
        f"{len(far)} outlier(s), rows so far from all others that they would dominate the "
        f"embedding, were left out of the fit and placed by transform: rows {shown}; remove them, "
        "or set outliers='keep' to disable this",
        OutlierWarning,
    )
