"""Parameters that must be settled before anything is computed on the cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..exceptions import ParameterError
from ..landmark_mds import LandmarkMDS
from ._blocks import Blocks
from ._run import Run

#: Rows that "auto" looks at, as many as one machine does (`dimension/auto.rs`).
MOST_ROWS = 3_000


def whole_number(name: str, value: Any, other: str = "") -> int:
    """Return a number that must be whole; `other` is what the parameter may be besides."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        besides = f" or {other}" if other else ""
        raise ParameterError(
            f"parameter `{name}`: expected a whole number >= 0{besides}, got {value!r}"
        )
    return int(value)


def number_of_components(estimator: Any, blocks: Blocks, metric: dict[str, Any], run: Run) -> int:
    """Return the number of coordinates asked for; "auto" is settled by a sample of the rows."""
    count = estimator.n_components
    if not (isinstance(count, str) and count == "auto"):
        return whole_number("n_components", count, "'auto'")
    seen = np.arange(blocks.rows)
    if blocks.rows > MOST_ROWS:
        seen = np.sort(_core.random_rows(blocks.rows, MOST_ROWS, 0))
    sample = blocks.gather(seen, run)
    # What one machine finds for these rows: the number depends on the metric, not on the method.
    enough = min(len(sample), blocks.columns + 1)
    asked = LandmarkMDS("auto", n_landmarks=enough, **metric).fit(sample)
    return int(asked.n_components_)


def row_numbers(landmarks: Any, rows: int, n_components: int) -> Any:
    """Check landmarks given as row numbers."""
    given = np.asarray(landmarks)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ParameterError(
            "parameter `landmarks`: expected 'random', 'maxmin', 'hierarchical' or a list of row "
            f"numbers, got {landmarks!r}"
        )
    outside = given[(given < 0) | (given >= rows)]
    if len(outside):
        raise ParameterError(
            f"parameter `landmarks`: row {int(outside[0])} does not exist, rows are 0..{rows}"
        )
    values, counts = np.unique(given, return_counts=True)
    if (counts > 1).any():
        raise ParameterError(
            f"parameter `landmarks`: row {int(values[counts > 1][0])} is named twice"
        )
    if len(given) <= n_components and len(given) < rows:
        raise ParameterError(
            f"parameter `landmarks`: {len(given)} landmarks are too few for n_components = "
            f"{n_components}: give at least {n_components + 1}"
        )
    return given.astype(np.int64)


def landmark_count(n_landmarks: object, n_components: int, rows: int) -> int:
    """Check the number of landmarks."""
    count = whole_number("n_landmarks", n_landmarks)
    if count <= n_components:
        raise ParameterError(
            f"parameter `n_landmarks`: {count} landmarks span at most "
            f"{max(0, count - 1)} dimension(s); n_components = {n_components} needs at "
            f"least {n_components + 1}"
        )
    return min(count, rows)
