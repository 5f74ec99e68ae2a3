"""Rows placed by their distances to landmarks, block by block; new rows through the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InputError
from ._blocks import Blocks
from ._neighbors import FAN_IN, Lists, Rule, new_lists, require_found
from ._run import Run, compute


def placed(
    formula: Any, distances: list[Any], rows: list[Any], sizes: list[int], dtype: Any, run: Run
) -> list[Any]:
    """Return a task for each block: the coordinates of all its rows.

    `rows` are, for each block, those that the distances are of (None: all). The others
    have no coordinates.
    """
    return [
        run.task(_place, "place", b)(formula, part, rows[b], sizes[b], dtype)
        for b, part in enumerate(distances)
    ]


def _place(formula: Any, distances: Any, rows: Any, size: int, dtype: Any) -> Any:
    found = formula.transform(distances) if len(distances) else np.empty((0, formula.n_components))
    if rows is None:
        return found.astype(dtype)
    everyone = np.full((size, found.shape[1]), np.nan, dtype=dtype)
    everyone[rows] = found
    return everyone


def new_placed(
    queries: Blocks,
    blocks: Blocks,
    used: list[Any],
    distances: list[Any],
    formula: Any,
    rule: Rule,
    nearest: bool,
    run: Run,
) -> list[Any]:
    """Return a task for each block of new rows: their coordinates.

    The distance of a new row to a landmark is the shortest by way of one of its
    neighbours; a row that is a training row has that row's distances.
    """
    lists = new_lists(queries, blocks, used, rule, run)
    if nearest and rule.radius is not None:
        closest = new_lists(queries, blocks, used, rule.nearest_only(), Run())
        lists = [
            run.task(_or_nearest, "or-nearest", a)(one, other)
            for a, (one, other) in enumerate(zip(lists, closest, strict=True))
        ]
    results = []
    for a in range(len(queries)):
        start = int(queries.starts[a])
        ways = [
            run.task(_through, "through", a, b)(
                lists[a], part, used[b], int(blocks.starts[b]), int(blocks.starts[b + 1]), start
            )
            for b, part in enumerate(distances)
        ]
        level = 0
        while len(ways) > 1:
            groups = [ways[at : at + FAN_IN] for at in range(0, len(ways), FAN_IN)]
            ways = [
                run.task(_shortest, "shortest", a, level, at)(*group)
                for at, group in enumerate(groups)
            ]
            level += 1
        results.append(run.task(_place_new, "place", a)(formula, ways[0], queries.dtype, start))
    return results


def _or_nearest(lists: Lists, nearest: Lists) -> Lists:
    counts = np.diff(lists.indptr)
    alone = counts == 0
    if not alone.any():
        return lists
    owner = np.concatenate([np.repeat(np.arange(len(counts)), counts), np.flatnonzero(alone)])
    order = np.argsort(owner, kind="stable")
    first = nearest.indptr[:-1][alone]
    rows = np.concatenate([lists.rows, nearest.rows[first]])[order]
    distances = np.concatenate([lists.distances, nearest.distances[first]])[order]
    indptr = np.concatenate([[0], np.cumsum(np.where(alone, 1, counts))]).astype(np.int64)
    return Lists(indptr, rows, distances)


def _through(lists: Lists, known: Any, used: Any, start: int, end: int, first: int) -> Any:
    """Return the shortest distances to the landmarks by way of the rows of one block."""
    require_found(lists, first, "of the new rows")
    counts = np.diff(lists.indptr)
    owner = np.repeat(np.arange(len(counts)), counts)
    # A row at distance zero is a training row.
    same = (lists.distances[lists.indptr[:-1]] == 0.0)[owner]
    leading = np.zeros(len(owner), dtype=bool)
    leading[lists.indptr[:-1]] = True
    here = (lists.rows >= start) & (lists.rows < end) & (leading | ~same)
    ways = np.full((len(counts), known.shape[1]), np.inf)
    local = lists.rows[here] - start
    if used is not None:
        local = np.searchsorted(used, local)
    owner, lengths = owner[here], lists.distances[here]
    # By new row, so that the ways of one are next to each other.
    rows, begins = np.unique(owner, return_index=True)
    step = max(1, (1 << 22) // max(1, known.shape[1] * max(1, counts.max(initial=1))))
    for at in range(0, len(rows), step):
        some = begins[at : at + step]
        part = slice(some[0], begins[at + step] if at + step < len(rows) else len(owner))
        through = known[local[part]] + lengths[part, None]
        ways[rows[at : at + step]] = np.minimum.reduceat(through, some - some[0], axis=0)
    return ways


def _shortest(*ways: Any) -> Any:
    return np.minimum.reduce(ways)


def _place_new(formula: Any, distances: Any, dtype: Any, start: int) -> Any:
    lost = np.flatnonzero(~np.isfinite(distances).all(axis=1))
    if len(lost):
        raise InputError(
            f"row {start + int(lost[0])} of the new rows cannot be placed: it is too far from the "
            "training data for its distances to be finite numbers"
        )
    if not len(distances):
        return np.empty((0, formula.n_components), dtype=dtype)
    return formula.transform(distances).astype(dtype)


# -- distances and coordinates of some of the rows ---------------------------------------


def rows_of(parts: list[Any], blocks: Blocks, rows: Any, run: Run) -> Any:
    """Bring the distances of some rows here."""
    owner = np.searchsorted(blocks.starts, rows, side="right") - 1
    owners = np.unique(owner)
    tasks = [
        run.task(select, "between", int(b))(parts[b], rows[owner == b] - blocks.starts[b])
        for b in owners
    ]
    found = np.empty((len(rows), len(rows)))
    for b, taken in zip(owners, compute(tasks), strict=True):
        found[owner == b] = taken
    return found


def select(distances: Any, rows: Any) -> Any:
    """Return the distances of some rows (None: all)."""
    return distances if rows is None else distances[rows]


def spread(distances: Any, used: Any, size: int) -> Any:
    """Return distances of all rows: infinite from those not in use."""
    if used is None:
        return distances
    found = np.full((size, distances.shape[1]), np.inf)
    found[used] = distances
    return found


def written(coordinates: Any, rows: Any, values: Any) -> Any:
    """Return coordinates with those of some rows replaced."""
    found = coordinates.copy()
    found[rows] = values
    return found
