"""Exact neighbours of rows that are in no one place: pairs of blocks, and a merge.

Every pair of blocks meets in one task, which searches each in the other by the search of
one machine. That reports distances whose bits do not depend on what else is searched, and
the lists a row gets from different blocks are merged by (distance, global row): in any order
and in any grouping the result is the list that one machine finds, to the index, ties included.

Cost: n² D multiplications for many columns (the products of two blocks are made for each
direction), and for few a tree search per row and block; n k numbers move for each block.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .. import _core, _data
from .._metrics import resolve_metric
from ..exceptions import InputError, ParameterError
from ._blocks import Blocks
from ._parameters import whole_number
from ._run import Run

#: Lists that are merged by one task.
FAN_IN = 8


@dataclass(frozen=True)
class Rule:
    """Which rows are neighbours, and by which metric."""

    n_neighbors: int | None
    radius: float | None
    metric: str
    p: float
    algorithm: str
    threads: int

    def nearest_only(self) -> Rule:
        """Return the rule for the one nearest row."""
        return Rule(1, None, self.metric, self.p, self.algorithm, self.threads)


@dataclass(frozen=True)
class Lists:
    """Neighbours of some rows, ragged: nearest first, ties by the global row."""

    indptr: Any
    rows: Any
    distances: Any

    def __len__(self) -> int:
        return len(self.indptr) - 1


def rule_of(
    n_neighbors: Any, radius: Any, metric: Any, p: Any, params: Any, algorithm: Any, threads: int
) -> Rule:
    """Check the parameters of a search over blocks."""
    found = resolve_metric(metric, p, params)
    if not found.native:
        raise ParameterError(
            f"parameter `metric`: {metric!r} is not one that planish searches by itself, and on "
            "Dask no other is; use 'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine' or "
            "'correlation'"
        )
    if n_neighbors is not None:
        n_neighbors = whole_number("n_neighbors", n_neighbors, "None")
    for name, value in (("radius", radius), ("p", p)):
        allowed = value is None and name == "radius"
        if not allowed and (isinstance(value, bool) or not isinstance(value, Real)):
            raise ParameterError(f"parameter `{name}`: expected a number, got {value!r}")
    radius = None if radius is None else float(radius)
    # Blocks are searched among each other, which is exact.
    algorithm = "auto" if str(algorithm) == "approximate" else str(algorithm)
    return Rule(n_neighbors, radius, str(found.name), float(found.p), algorithm, threads)


def check_rule(rule: Rule, rows: int) -> None:
    """Refuse what the search of one machine would refuse, before anything is searched."""
    few = _data.points(np.zeros((2, 1)))
    k = None if rule.n_neighbors is None else min(rule.n_neighbors, 1)
    _core.kneighbors(few, None, k, rule.radius, rule.metric, rule.p, rule.algorithm, 1, None)
    if rule.n_neighbors is not None and rule.n_neighbors >= rows:
        raise ParameterError(
            "parameter `n_neighbors`: must be less than the number of rows: got n_neighbors = "
            f"{rule.n_neighbors}, n_samples = {rows}"
        )


# -- the graph of tasks ------------------------------------------------------------------


def neighbor_lists(blocks: Blocks, rule: Rule, run: Run) -> list[Any]:
    """Return a task for each block: the neighbours of its rows among all other rows."""
    found: list[list[Any]] = [[] for _ in blocks.parts]
    for a, left in enumerate(blocks.parts):
        for b in range(a, len(blocks)):
            starts = (int(blocks.starts[a]), int(blocks.starts[b]))
            if a == b:
                both = run.task(_within, "neighbors", a, a)(left, starts[0], rule)
                found[a].append(both)
                continue
            both = run.task(_between, "neighbors", a, b)(left, blocks.parts[b], starts, rule)
            found[a].append(run.task(_item, "side", a, b)(both, 0))
            found[b].append(run.task(_item, "side", b, a)(both, 1))
    return [merged(lists, rule, run, "merge", a) for a, lists in enumerate(found)]


def new_lists(queries: Blocks, blocks: Blocks, used: list[Any], rule: Rule, run: Run) -> list[Any]:
    """Return a task for each block of new rows: their neighbours among the rows in use."""
    results = []
    for a, query in enumerate(queries.parts):
        lists = [
            run.task(_across, "search", a, b)(query, part, used[b], int(blocks.starts[b]), rule)
            for b, part in enumerate(blocks.parts)
        ]
        results.append(merged(lists, rule, run, "merge-search", a))
    return results


def merged(lists: list[Any], rule: Rule, run: Run, name: str, *where: int) -> Any:
    """Merge lists in a tree, FAN_IN at a time."""
    level = 0
    while len(lists) > 1:
        groups = [lists[at : at + FAN_IN] for at in range(0, len(lists), FAN_IN)]
        lists = [
            run.task(_merge, name, *where, level, at)(rule.n_neighbors, *group)
            for at, group in enumerate(groups)
        ]
        level += 1
    return lists[0]


# -- what the tasks do -------------------------------------------------------------------


def _search(rows: Any, query: Any, rule: Rule) -> tuple[Any, Any, Any]:
    others = len(rows) - (query is None)
    k = rule.n_neighbors
    if k is not None and k > others:
        k = others
    count = len(rows) if query is None else len(query)
    if count == 0 or (rule.n_neighbors and not k) or len(rows) == 0:
        return np.zeros(count + 1, np.int64), np.empty(0, np.int64), np.empty(0)
    wanted = None if query is None else _data.points(query)
    return _core.kneighbors(
        _data.points(rows), wanted, k, rule.radius, rule.metric, rule.p, rule.algorithm,
        rule.threads, None,
    )  # fmt: skip


def _lists(rows: Any, query: Any, start: int, rule: Rule) -> Lists:
    indptr, indices, distances = _search(rows, query, rule)
    return Lists(indptr, indices + start, distances)


def _within(block: Any, start: int, rule: Rule) -> Lists:
    return _lists(block, None, start, rule)


def _between(left: Any, right: Any, starts: tuple[int, int], rule: Rule) -> tuple[Lists, Lists]:
    return _lists(right, left, starts[1], rule), _lists(left, right, starts[0], rule)


def _across(query: Any, block: Any, used: Any, start: int, rule: Rule) -> Lists:
    if used is None:
        return _lists(block, query, start, rule)
    found = _lists(block[used], query, 0, rule)
    return Lists(found.indptr, used[found.rows] + start, found.distances)


def _item(pair: Any, at: int) -> Any:
    return pair[at]


def _merge(k: int | None, *parts: Lists) -> Lists:
    if k is not None and all(_is_regular(part) for part in parts):
        return _merge_regular(k, parts)
    count = len(parts[0])
    owner = np.concatenate([np.repeat(np.arange(count), np.diff(part.indptr)) for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    distances = np.concatenate([part.distances for part in parts])
    order = np.lexsort((rows, distances, owner))
    owner, rows, distances = owner[order], rows[order], distances[order]
    starts = np.searchsorted(owner, np.arange(count + 1))
    if k is not None:
        kept = np.arange(len(owner)) - starts[owner] < k
        owner, rows, distances = owner[kept], rows[kept], distances[kept]
        starts = np.searchsorted(owner, np.arange(count + 1))
    return Lists(starts.astype(np.int64), rows, distances)


def _is_regular(part: Lists) -> bool:
    counts = np.diff(part.indptr)
    return len(counts) > 0 and bool((counts == counts[0]).all())


def _merge_regular(k: int, parts: tuple[Lists, ...]) -> Lists:
    count = len(parts[0])
    rows = np.concatenate([part.rows.reshape(count, -1) for part in parts], axis=1)
    distances = np.concatenate([part.distances.reshape(count, -1) for part in parts], axis=1)
    order = np.lexsort((rows, distances), axis=1)[:, :k]
    kept = order.shape[1]
    return Lists(
        np.arange(count + 1, dtype=np.int64) * kept,
        np.take_along_axis(rows, order, axis=1).ravel(),
        np.take_along_axis(distances, order, axis=1).ravel(),
    )


def require_found(lists: Lists, start: int, what: str) -> None:
    """Refuse a row without neighbours, by name."""
    alone = np.flatnonzero(np.diff(lists.indptr) == 0)
    if len(alone):
        raise InputError(
            f"row {start + int(alone[0])} {what} has no training row among its neighbours and "
            "cannot be placed; raise `radius`, set isolated='nearest' to join it to its nearest "
            "training row, or leave it out"
        )
