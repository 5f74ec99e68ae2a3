"""What `compare` and `describe` ask of the measures of quality and dimension."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import Floats, Indices
from .exceptions import PlanishWarning

if TYPE_CHECKING:
    from ._estimates import Estimates

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


def dimension_of(X: Any, indices: Indices) -> Estimates:
    """Return the intrinsic dimension by several methods, from known neighbours."""
    from .dimension import estimate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        return estimate(X, neighbors=indices, n_bootstraps=0)
