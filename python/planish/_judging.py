"""What `compare` and `describe` ask of the measures of quality and dimension."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._types import Floats, Indices
from .exceptions import PlanishWarning

#: The measures that a comparison shows, where they are there.
_SHOWN = ("trustworthiness", "continuity", "neighborhood_hit", "rank_curve_area", "spearman")
#: Rows that ranks are compared at.
_MOST_RANKED = 2000


def quality_of(
    X: Any, Y: Floats, labels: Any, n_neighbors: int, random_state: int, n_jobs: int | None
) -> dict[str, float]:
    """Return measures of an embedding by name, 1 for a perfect one."""
    from .quality import report

    there = int(np.isfinite(Y).all(axis=1).sum())
    k = min(n_neighbors, (there - 1) // 2)
    if k < 1:
        return {}
    sample = _MOST_RANKED if there > _MOST_RANKED else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)  # rows that a method left out
        found = report(
            X,
            Y,
            labels,
            n_neighbors=k,
            sample=sample,
            random_state=random_state,
            n_jobs=n_jobs,
        ).to_dict()
    return {name: found[name] for name in _SHOWN if name in found}


def dimension_of(X: Any, indices: Indices) -> dict[str, float]:
    """Return intrinsic dimensions by the name of the method, from known neighbours."""
    from .dimension import estimate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        found = estimate(X, neighbors=indices, n_bootstraps=0)
    return {one.method: float(one.value) for one in found if np.isfinite(one.value)}
