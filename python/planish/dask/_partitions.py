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

from .. import _core, _data
from ._blocks import Blocks
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
    #: What each cell was built from: tasks, one for each block.
    pieces: list[list[Any]]

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
    pieces = [
        [run.task(_item, "piece", b, c)(one, c) for b, one in enumerate(split)]
        for c in range(count)
    ]
    return built(of_rows, pieces, None, run)


def built(of_rows: Any, pieces: list[list[Any]], links: Any, run: Run) -> Cells:
    """Put the cells together, with some more edges where there are any."""
    count, name = len(pieces), "cell" if links is None else "bridged-cell"
    parts = persist(
        [
            run.task(_cell, f"build-{name}", c)(of_rows, c, links, *piece)
            for c, piece in enumerate(pieces)
        ]
    )
    touching = compute(
        [run.task(_touches, f"touching-{name}", c)(part, count) for c, part in enumerate(parts)]
    )
    return Cells(parts, np.array(touching), of_rows, pieces)


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


def _cell(of_rows: Any, number: int, links: Any, *pieces: Any) -> Cell:
    if links is not None:
        rows, lengths = links
        ones, others = np.concatenate([rows, rows[:, ::-1]]).T
        here = of_rows[ones] == number
        pieces = (*pieces, (ones[here], others[here], np.concatenate([lengths, lengths])[here]))
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
