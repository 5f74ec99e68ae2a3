"""Geodesics from landmarks over a graph that no worker can hold.

Rows are divided into cells of space, as many as there are blocks, so that most edges stay
within a cell. A cell holds the edges of its rows; the far ends of edges that leave it are
its border. In a superstep every cell whose border got shorter distances continues its
paths (Dijkstra's algorithm from the border inwards, on all landmarks), and hands its
neighbours what they see of it; there are as many supersteps as a path crosses cells. What
is left when nothing changes has the bits of Dijkstra's algorithm on the whole graph.

Bytes moved: every edge twice, and in a superstep 8 for each landmark and border row of
the cells that changed. Every worker holds the cell of each row: two bytes.
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
from ..exceptions import DisconnectedGraphError, DisconnectedGraphWarning, UnsupportedError
from ._blocks import Blocks
from ._graph import REMEDY, in_words
from ._run import Run, compute, persist

#: Rows that the cells are cut by.
SAMPLE = 20_000


@dataclass(frozen=True)
class Cell:
    """The rows of a cell, the rows beyond its border, and the edges of its rows."""

    rows: Any
    border: Any
    #: The cell of each row of the border.
    owners: Any
    #: Edges among rows and then border, by their place in the two.
    indptr: Any
    indices: Any
    lengths: Any

    def size(self) -> int:
        """Return the number of rows and border rows."""
        return len(self.rows) + len(self.border)


@dataclass(frozen=True)
class Cells:
    """All cells, as tasks, and which of them touch."""

    parts: list[Any]
    #: touching[c][d] is the number of rows of cell d on the border of cell c.
    touching: Any
    of_rows: Any

    def __len__(self) -> int:
        return len(self.parts)


# -- from lists by block to cells --------------------------------------------------------


def cells_of(lists: list[Any], blocks: Blocks, run: Run) -> Cells:
    """Divide the rows among cells, and hand each cell the edges of its rows."""
    count = len(blocks)
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(blocks.rows, size=min(SAMPLE, blocks.rows), replace=False))
    cuts = _cuts(blocks.gather(chosen, run).astype(np.float64), count)
    own = [run.task(_cell_of, "cell", b)(part, cuts) for b, part in enumerate(blocks.parts)]
    (of_rows,) = persist([run.task(_concatenated, "cells")(*own)])
    split = [
        run.task(_split, "split", b)(one, int(blocks.starts[b]), of_rows, count)
        for b, one in enumerate(lists)
    ]
    parts = []
    for c in range(count):
        pieces = [run.task(_item, "piece", b, c)(one, c) for b, one in enumerate(split)]
        parts.append(run.task(_cell, "build-cell", c)(of_rows, c, *pieces))
    parts = persist(parts)
    touching = compute(
        [run.task(_touches, "touching", c)(part, count) for c, part in enumerate(parts)]
    )
    return Cells(parts, np.array(touching), of_rows)


#: A cut at a value of a column: (column, value, cuts of the lower part, cuts of the upper).
Cuts = Any


def _cuts(rows: Any, count: int, first: int = 0) -> Cuts:
    """Cut rows in `count` parts of about equal size, each time along the widest column."""
    if count == 1 or len(rows) == 0:
        return first
    column = int(np.argmax(np.ptp(rows, axis=0)))
    lower = count // 2
    values = np.sort(rows[:, column])
    at = float(values[min(len(values) - 1, len(values) * lower // count)])
    below = rows[:, column] < at
    return (
        column,
        at,
        _cuts(rows[below], lower, first),
        _cuts(rows[~below], count - lower, first + lower),
    )


def _cell_of(block: Any, cuts: Cuts) -> Any:
    found = np.zeros(len(block), dtype=np.uint16)
    waiting = [(np.arange(len(block)), cuts)]
    while waiting:
        rows, cut = waiting.pop()
        if isinstance(cut, int):
            found[rows] = cut
            continue
        column, at, lower, upper = cut
        below = block[rows, column] < at
        waiting += [(rows[below], lower), (rows[~below], upper)]
    return found


def _concatenated(*parts: Any) -> Any:
    return np.concatenate(parts)


def _item(parts: Any, at: int) -> Any:
    return parts[at]


def _split(lists: Any, start: int, of_rows: Any, count: int) -> list[Any]:
    """Return for each cell the edges of its rows, found from this block, both ways."""
    owner = np.repeat(np.arange(start, start + len(lists)), np.diff(lists.indptr))
    ones = np.concatenate([owner, lists.rows])
    others = np.concatenate([lists.rows, owner])
    lengths = np.concatenate([lists.distances, lists.distances])
    cell = of_rows[ones]
    order = np.argsort(cell, kind="stable")
    ends = np.searchsorted(cell[order], np.arange(count + 1))
    return [
        (ones[part], others[part], lengths[part])
        for part in (order[a:b] for a, b in pairwise(ends))
    ]


def _cell(of_rows: Any, number: int, *pieces: Any) -> Cell:
    ones, others, lengths = (np.concatenate(column) for column in zip(*pieces, strict=True))
    rows = np.flatnonzero(of_rows == number)
    border = np.unique(others[of_rows[others] != number])
    everyone = np.concatenate([rows, border])
    order = np.argsort(everyone)
    place = order[np.searchsorted(everyone, others, sorter=order)]
    owner = np.searchsorted(rows, ones)
    by_owner = np.argsort(owner, kind="stable")
    indptr = np.searchsorted(owner[by_owner], np.arange(len(everyone) + 1)).astype(np.int64)
    return Cell(
        rows, border, of_rows[border], indptr, place[by_owner].astype(np.int64), lengths[by_owner]
    )


def _touches(cell: Cell, count: int) -> Any:
    return np.bincount(cell.owners, minlength=count)


# -- components --------------------------------------------------------------------------


def rows_in_use(cells: Cells, blocks: Blocks, disconnected: str, run: Run) -> tuple[Any, int]:
    """Return a row of the component that is embedded and the number of components.

    Components of cells are joined where an edge crosses a border: on the client, which
    sees pairs of components and no rows.
    """
    labels = persist(
        [run.task(_local_labels, "components", c)(cell) for c, cell in enumerate(cells.parts)]
    )
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
    rows_of = rows_of[rows_of > 0]
    if len(rows_of) <= 1:
        return None, 1
    words = (
        f"the number of connected components of the neighbourhood graph is {len(rows_of)} (sizes "
        f"{in_words(rows_of)})"
    )
    if disconnected != "largest":
        if disconnected == "error":
            raise DisconnectedGraphError(f"{words}; {REMEDY}", n_components=len(rows_of))
        raise UnsupportedError(
            f"{words}, and a graph in parts cannot be bridged; {REMEDY}, set "
            "disconnected='largest', or graph='broadcast' where a worker can hold the graph"
        )
    left = blocks.rows - rows_of.max()
    warn(
        f"{words}; the one of {rows_of.max()} rows is embedded and {left} of {blocks.rows} rows "
        f"are left out (NaN); {REMEDY}",
        DisconnectedGraphWarning,
    )
    kept = int(np.argmax(np.bincount(joined, weights=np.concatenate(sizes))))
    tasks = [
        run.task(_rows_with, "in-use", c)(
            cell, labels[c], np.flatnonzero(joined[offset[c] : offset[c + 1]] == kept)
        )
        for c, cell in enumerate(cells.parts)
    ]
    return np.sort(np.concatenate(compute(tasks))), len(rows_of)


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


# -- supersteps --------------------------------------------------------------------------


def geodesics(cells: Cells, landmarks: Any, threads: int, run: Run) -> tuple[list[Any], int]:
    """Return for each cell the distances of its rows to the landmarks, and the supersteps."""
    (own,) = compute([run.task(_owners, "landmark-cells")(cells.of_rows, landmarks)])
    active = sorted(set(own.tolist()))
    known: list[Any] = [None] * len(cells)
    seen: dict[tuple[int, int], Any] = {}  # what cell c last saw of cell d
    news: set[tuple[int, int]] = set()
    step = 0
    while active:
        steps = {}
        for c in active:
            seeds = np.flatnonzero(own == c) if step == 0 else np.empty(0, np.int64)
            owners = sorted(d for border, d in news if border == c)
            steps[c] = run.task(_superstep, "superstep", step, c)(
                cells.parts[c], known[c], landmarks, seeds, threads,
                owners, *(seen[c, d] for d in owners),
            )  # fmt: skip
        for c, task in zip(active, persist([steps[c] for c in active]), strict=True):
            known[c] = task
        shown, places = [], []
        for d in active:
            for c in np.flatnonzero(cells.touching[:, d]):
                look = run.task(_shown, "border", step, int(c), d)
                shown.append(
                    look(cells.parts[c], cells.parts[d], known[d], d, seen.get((int(c), d)))
                )
                places.append((int(c), d))
        shown = persist(shown)
        flags = compute(
            [
                run.task(_item, "changed", step, *at)(one, 1)
                for at, one in zip(places, shown, strict=True)
            ]
        )
        news = set()
        for (c, d), one, flag in zip(places, shown, flags, strict=True):
            if flag:
                news.add((c, d))
                seen[c, d] = run.task(_item, "values", step, c, d)(one, 0)
        active = sorted({c for c, _ in news})
        step += 1
    return known, step


def _owners(of_rows: Any, landmarks: Any) -> Any:
    return of_rows[landmarks].astype(np.int64)


def _superstep(
    cell: Cell, known: Any, landmarks: Any, own: Any, threads: int, owners: list[int], *news: Any
) -> Any:
    """Continue the paths of all landmarks in a cell from what is new beyond its border."""
    size, count = cell.size(), len(landmarks)
    found = np.full((count, size), np.inf) if known is None else known.copy()
    nodes, sources, distances = (
        [np.searchsorted(cell.rows, landmarks[own])],
        [own],
        [np.zeros(len(own))],
    )
    for owner, values in zip(owners, news, strict=True):
        border = len(cell.rows) + np.flatnonzero(cell.owners == owner)
        shorter = values < found[:, border]
        source, at = np.nonzero(shorter)
        sources.append(source)
        nodes.append(border[at])
        distances.append(values[source, at])
    source = np.concatenate(sources)
    order = np.lexsort((np.concatenate(nodes), source))
    indptr = np.searchsorted(source[order], np.arange(count + 1)).astype(np.int64)
    seeds = _data.graph_of(indptr, np.concatenate(nodes)[order], np.concatenate(distances)[order])
    graph = _data.graph_of(cell.indptr, cell.indices, cell.lengths)
    _core.relax_distances(graph, seeds, found, threads)
    return found


def _shown(cell: Cell, other: Cell, distances: Any, number: int, before: Any) -> tuple[Any, bool]:
    """Return what a cell sees of another on its border, and whether it is news."""
    rows = cell.border[cell.owners == number]
    now = distances[:, np.searchsorted(other.rows, rows)]
    old = np.inf if before is None else before
    return now, bool((now < old).any())


# -- back to blocks ----------------------------------------------------------------------


def by_block(cells: Cells, known: list[Any], blocks: Blocks, landmarks: int, run: Run) -> list[Any]:
    """Return for each block the distances of its rows to the landmarks, infinite for none."""
    results = []
    for b in range(len(blocks)):
        first, last = int(blocks.starts[b]), int(blocks.starts[b + 1])
        pieces = [
            run.task(_rows_between, "pick", c, b)(cell, known[c], first, last)
            for c, cell in enumerate(cells.parts)
            if known[c] is not None
        ]
        results.append(run.task(_put, "distances", b)(first, last, landmarks, *pieces))
    return persist(results)


def _rows_between(cell: Cell, distances: Any, first: int, last: int) -> Any:
    begin, end = np.searchsorted(cell.rows, [first, last])
    return cell.rows[begin:end], np.ascontiguousarray(distances[:, begin:end].T)


def _put(first: int, last: int, landmarks: int, *pieces: Any) -> Any:
    found = np.full((last - first, landmarks), np.inf)
    for rows, distances in pieces:
        found[rows - first] = distances
    return found
