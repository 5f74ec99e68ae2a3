"""Geodesics from landmarks to all rows over a graph that every worker can hold.

The graph goes to the workers and the landmarks are split among them: no path crosses
from one worker to another. Each task finds the distances of some landmarks, and hands
every block of rows the part that is its own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import _core
from ._blocks import Blocks
from ._graph import Connected, Edges
from ._run import Run, compute, persist

#: The share of a worker's memory that the distances of one task may take.
SHARE = 0.1


def geodesics(
    graph: Connected,
    blocks: Blocks,
    landmarks: Any,
    path_method: str,
    resources: tuple[int, float],
    threads: int,
    run: Run,
) -> tuple[list[Any], Any, str]:
    """Return distances to landmarks block by block, those between landmarks, and how.

    `landmarks` are rows in use. A block's distances are rows by landmarks, a persisted
    task for each block; rows that are not in use have none.
    """
    total, limit = resources
    count = len(landmarks)
    size = max(1, int(SHARE * limit / (8 * max(1, blocks.rows))))
    groups = np.array_split(landmarks, min(count, max(total, -(-count // size))))
    # Planned as on one machine, where every landmark is a source twice.
    found = [
        run.task(_from_landmarks, "geodesics", g)(
            graph.edges, group, path_method, 2 * count, threads
        )
        for g, group in enumerate(groups)
    ]
    bounds = _bounds(blocks, graph.used)
    parts = [
        [run.task(_cut, "cut", g, b)(one, int(first), int(last)) for g, one in enumerate(found)]
        for b, (first, last) in enumerate(bounds)
    ]
    by_block = [run.task(_stacked, "distances", b)(*part) for b, part in enumerate(parts)]
    between = [run.task(_at, "between", g)(one, landmarks) for g, one in enumerate(found)]
    kept = persist([*by_block, *between])
    by_block, between = kept[: len(by_block)], kept[len(by_block) :]
    here = compute(between)
    table = np.concatenate([distances for distances, _ in here])
    # The two directions of a pair may differ in the last bit; the smaller holds.
    return by_block, np.minimum(table, table.T), str(here[0][1])


def _bounds(blocks: Blocks, used: Any) -> list[tuple[int, int]]:
    """Return where the rows in use of each block are among all rows in use."""
    ends = blocks.starts if used is None else np.searchsorted(used, blocks.starts)
    return [(int(first), int(last)) for first, last in pairwise(ends)]


def _from_landmarks(
    edges: Edges, landmarks: Any, path_method: str, planned: int, threads: int
) -> tuple[Any, str]:
    found = np.empty((len(landmarks), len(edges)))
    method = _core.geodesic_distances(
        edges.core(),
        np.array(landmarks, dtype=np.int64),
        path_method,
        found,
        threads,
        None,
        planned,
    )
    return found, method


def _cut(found: tuple[Any, str], first: int, last: int) -> Any:
    # A copy: the whole is given back when all have their part.
    return np.ascontiguousarray(found[0][:, first:last].T)


def _stacked(*parts: Any) -> Any:
    return np.concatenate(parts, axis=1)


def _at(found: tuple[Any, str], landmarks: Any) -> tuple[Any, str]:
    return found[0][:, landmarks], found[1]


def chosen_landmarks(
    graph: Connected, choice: Any, count: int, rows: int, seed: int, threads: int, run: Run
) -> Any:
    """Return landmarks as rows in use, as one machine would choose them."""
    if not isinstance(choice, str):
        return np.asarray(choice, dtype=np.int64)
    if choice == "random":
        return _core.random_rows(rows, min(count, rows), seed)
    (found,) = compute([run.task(_choose, "landmarks")(graph.edges, choice, count, seed, threads)])
    return found


def _choose(edges: Edges, choice: str, count: int, seed: int, threads: int) -> Any:
    return _core.graph_landmarks(edges.core(), choice, count, seed, threads)
