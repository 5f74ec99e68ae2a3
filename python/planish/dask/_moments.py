"""Number, mean and scatter of rows that are in no one place.

Each block is centred on its own mean; two blocks are merged by the update of Chan, Golub
and LeVeque (1979), which never subtracts large sums from each other, in a tree whose shape
depends on the number of blocks alone. Cost: n D² multiplications, one D × D matrix per task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..exceptions import InputError
from ._blocks import Blocks
from ._run import Run, compute


@dataclass(frozen=True)
class Moments:
    """Number of rows, their mean, and the sum of the outer products of what remains."""

    count: int
    mean: Any
    scatter: Any


def moments_of(blocks: Blocks, run: Run) -> Moments:
    """Reduce the blocks, two at a time."""
    level = [run.task(_of_block, "moments", b)(part) for b, part in enumerate(blocks.parts)]
    depth = 0
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [
            pair[0] if len(pair) == 1 else run.task(merge, "merge-moments", depth, at)(*pair)
            for at, pair in enumerate(pairs)
        ]
        depth += 1
    (found,) = compute(level)
    if not np.isfinite(found.scatter).all():
        raise InputError(
            "the squares of X exceed the range of numbers; divide X by a typical size first"
        )
    result: Moments = found
    return result


def _of_block(block: Any) -> Moments:
    rows = np.asarray(block, dtype=np.float64)
    count, columns = rows.shape
    if count == 0:
        return Moments(0, np.zeros(columns), np.zeros((columns, columns)))
    # One thread: a worker runs as many tasks as it has threads. Rows in pieces: no copy
    # of the whole block.
    step = max(64, (1 << 21) // max(1, columns))
    with threadpool_limits(limits=1), np.errstate(over="ignore", invalid="ignore"):
        found: Moments | None = None
        for first in range(0, count, step):
            piece = rows[first : first + step]
            mean = piece.mean(axis=0)
            centred = piece - mean
            rest = centred.mean(axis=0)  # what rounding left of the mean
            centred -= rest
            one = Moments(len(piece), mean + rest, centred.T @ centred)
            found = one if found is None else merge(found, one)
    assert found is not None  # there is at least one row
    return found


def merge(left: Moments, right: Moments) -> Moments:
    """Join the moments of two sets of rows."""
    count = left.count + right.count
    if left.count == 0 or right.count == 0:
        return right if left.count == 0 else left
    with np.errstate(over="ignore", invalid="ignore"):
        gap = right.mean - left.mean
        mean = left.mean + gap * (right.count / count)
        between = np.outer(gap, gap * (left.count * (right.count / count)))
        return Moments(count, mean, left.scatter + right.scatter + between)
