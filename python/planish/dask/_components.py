"""The components of a graph in cells, and what happens to several.

Components of cells are joined where an edge crosses a border, on the client, which sees
pairs of components and no rows. What follows are the rules of one machine: the same edges
added, the same rows left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .._warn import warn
from ..exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    OutlierWarning,
    ParameterError,
)
from ._blocks import Blocks
from ._bridges import REMEDY, in_words, rows_of_links, spanning_links, warn_of_bridges
from ._neighbors import Rule
from ._partitions import Cell, Cells, built
from ._run import Run, compute, persist, shared

#: Edges longer than this many usual ones may be those of outliers, as `graph/outliers.rs` has it.
LONG = 50.0
#: Edges the usual length is taken from.
EDGES_SEEN = 100_000


@dataclass(frozen=True)
class Settled:
    """What became of the components of a graph in cells."""

    cells: Cells
    #: The rows in use; None for all.
    used: Any
    count: int
    bridges: Any


def settled(cells: Cells, blocks: Blocks, rule: Rule, disconnected: str, run: Run) -> Settled:
    """Treat the components of the graph as the parameter says."""
    labels = persist(
        [run.task(_local_labels, "components", c)(cell) for c, cell in enumerate(cells.parts)]
    )
    joined, sizes = _joined(cells, labels, run)
    none = np.empty((0, 2), dtype=np.int64)
    if len(sizes) == 1:
        return Settled(cells, None, 1, none)
    words = (
        f"the number of connected components of the neighbourhood graph is {len(sizes)} (sizes "
        f"{in_words(sizes)})"
    )
    if disconnected == "error":
        raise DisconnectedGraphError(f"{words}; {REMEDY}", n_components=len(sizes))
    if disconnected == "bridge":
        by_block = _labels_by_block(cells, labels, joined, blocks, run)
        links = spanning_links(blocks, by_block, len(sizes), rule, run)
        warn_of_bridges(sizes, links)
        bridges = rows_of_links(links)
        more = shared((bridges, np.array([link[0] for link in links])))
        return Settled(built(cells.of_rows, cells.pieces, more, run), None, len(sizes), bridges)
    if disconnected != "largest":
        raise ParameterError(
            "parameter `disconnected`: expected one of 'error', 'largest', 'bridge', got "
            f"{disconnected!r}"
        )
    kept = _first_largest(cells, labels, joined, sizes, run)
    warn(
        f"{words}; the one of {sizes.max()} rows is embedded and {blocks.rows - sizes.max()} of "
        f"{blocks.rows} rows are left out (NaN); {REMEDY}",
        DisconnectedGraphWarning,
    )
    tasks = [
        run.task(_rows_with, "rows-of-largest", c)(cell, labels[c], np.flatnonzero(one == kept))
        for c, (cell, one) in enumerate(zip(cells.parts, joined, strict=True))
    ]
    return Settled(cells, np.sort(np.concatenate(compute(tasks))), len(sizes), none)


def _joined(cells: Cells, labels: list[Any], run: Run) -> tuple[list[Any], Any]:
    """Return the component of the whole graph for those of each cell, and their sizes."""
    pairs, places = [], []
    for c, d in np.argwhere(cells.touching):
        task = run.task(_joined_labels, "crossing", int(c), int(d))
        pairs.append(task(cells.parts[c], labels[c], cells.parts[d], labels[d], int(d)))
        places.append((int(c), int(d)))
    counting = [run.task(_sizes, "sizes", c)(cell, labels[c]) for c, cell in enumerate(cells.parts)]
    sizes = compute(counting)
    offset = np.concatenate([[0], np.cumsum([len(size) for size in sizes])])
    ones, others = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for (c, d), found in zip(places, compute(pairs), strict=True):
        ones.append(found[:, 0] + offset[c])
        others.append(found[:, 1] + offset[d])
    edges = (np.concatenate(ones), np.concatenate(others))
    total = int(offset[-1])
    there = sparse.coo_array((np.ones(len(edges[0]), np.int8), edges), shape=(total, total))
    _, joined = csgraph.connected_components(there, directed=False)
    rows_of = np.bincount(joined, weights=np.concatenate(sizes)).astype(np.int64)
    return [joined[first:last] for first, last in pairwise(offset)], rows_of


def _first_largest(cells: Cells, labels: list[Any], joined: list[Any], sizes: Any, run: Run) -> int:
    """Return the largest component; of several, as on one machine, the one of the lowest row."""
    largest = np.flatnonzero(sizes == sizes.max())
    if len(largest) == 1:
        return int(largest[0])
    tasks = [
        run.task(_lowest_row, "lowest-rows", c)(cell, labels[c], one, largest)
        for c, (cell, one) in enumerate(zip(cells.parts, joined, strict=True))
    ]
    return int(largest[np.argmin(np.min(compute(tasks), axis=0))])


def _lowest_row(cell: Cell, labels: Any, joined: Any, wanted: Any) -> Any:
    """Return the lowest row here of each component that is asked for; a large number for none."""
    own = joined[labels[: len(cell.rows)]]
    asked = np.isin(own, wanted)
    found, first = np.unique(own[asked], return_index=True)
    lowest = np.full(len(wanted), np.iinfo(np.int64).max)
    lowest[np.searchsorted(wanted, found)] = cell.rows[asked][first]
    return lowest


def _labels_by_block(
    cells: Cells, labels: list[Any], joined: list[Any], blocks: Blocks, run: Run
) -> list[Any]:
    """Return for each block a task: the components of its rows."""
    results = []
    for b, (first, last) in enumerate(pairwise(blocks.starts)):
        pieces = [
            run.task(_labels_between, "label", c, b)(
                cell, labels[c], joined[c], int(first), int(last)
            )
            for c, cell in enumerate(cells.parts)
        ]
        results.append(run.task(_put_labels, "labels", b)(int(first), int(last), *pieces))
    return persist(results)


def _labels_between(cell: Cell, labels: Any, joined: Any, first: int, last: int) -> Any:
    begin, end = np.searchsorted(cell.rows, [first, last])
    return cell.rows[begin:end], joined[labels[begin:end]]


def _put_labels(first: int, last: int, *pieces: Any) -> Any:
    found = np.zeros(last - first, dtype=np.int64)
    for rows, labels in pieces:
        found[rows - first] = labels
    return found


def _local_labels(cell: Cell) -> Any:
    size = cell.size()
    there = sparse.csr_array(
        (np.ones(len(cell.indices), np.int8), cell.indices, cell.indptr), shape=(size, size)
    )
    # A row beyond the border belongs to every component that it is joined to here.
    return csgraph.connected_components(there, directed=True, connection="weak")[1]


def _joined_labels(cell: Cell, labels: Any, other: Cell, theirs: Any, number: int) -> Any:
    at = np.flatnonzero(cell.owners == number)
    place = np.searchsorted(other.rows, cell.border[at])
    pairs = np.column_stack([labels[len(cell.rows) + at], theirs[place]])
    return np.unique(pairs, axis=0).astype(np.int64)


def _sizes(cell: Cell, labels: Any) -> Any:
    return np.bincount(labels[: len(cell.rows)])


def _rows_with(cell: Cell, labels: Any, kept: Any) -> Any:
    return cell.rows[np.isin(labels[: len(cell.rows)], kept)]


# -- edges as long as those of outliers --------------------------------------------------


def warn_of_long_edges(cells: Cells, run: Run) -> None:
    """Warn where one machine would look for outliers: of edges far longer than the usual one."""
    most = -(-EDGES_SEEN // len(cells))
    tasks = [run.task(_lengths, "lengths", c)(cell, most) for c, cell in enumerate(cells.parts)]
    found = compute(tasks)
    some = np.concatenate([lengths for lengths, _ in found])
    longest = max(length for _, length in found)
    if len(some) and longest > LONG * np.median(some):
        warn(
            f"the longest edge of the neighbourhood graph is {longest / np.median(some):.0f} times "
            "as long as the usual one: rows far from all others would dominate the embedding, and "
            "a graph in parts is not searched for them; remove them, set graph='broadcast' where a "
            "worker can hold the graph, or outliers='keep' to disable this",
            OutlierWarning,
        )


def _lengths(cell: Cell, most: int) -> tuple[Any, float]:
    lengths = cell.lengths[cell.lengths > 0]
    return lengths[:: max(1, -(-len(lengths) // most))], float(lengths.max(initial=0.0))
