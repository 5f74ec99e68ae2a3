"""What `compare` and `describe` ask of the measures of quality and dimension.

The only place that knows where they come from.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from typing import Any

import numpy as np

from ._types import Floats, Indices
from .exceptions import PlanishWarning

# Rows on which ranks are compared where planish.quality is not there.
_MOST_RANKED = 2000


def quality_of(
    X: Any, Y: Floats, labels: Any, n_neighbors: int, random_state: int, n_jobs: int | None
) -> dict[str, float]:
    """Return measures of an embedding by name, 1 for a perfect one."""
    if importlib.util.find_spec("planish.quality") is not None:
        return _reported(X, Y, labels)
    rows = np.random.default_rng(random_state).permutation(len(Y))[:_MOST_RANKED]
    rows = np.sort(rows[np.isfinite(Y[rows]).all(axis=1)])
    k = min(n_neighbors, (len(rows) - 1) // 2)
    if k < 1:
        return {}
    from sklearn.manifold import trustworthiness

    there, here = X[rows], Y[rows]
    if hasattr(there, "toarray"):
        there = there.toarray()
    found = {
        "trustworthiness": float(trustworthiness(there, here, n_neighbors=k)),
        "continuity": float(trustworthiness(here, there, n_neighbors=k)),
    }
    if labels is not None:
        from .functions import kneighbors

        _, near = kneighbors(here, k, n_jobs=n_jobs)
        known = np.asarray(labels)[rows]
        found["neighborhood_hit"] = float((known[near] == known[:, None]).mean())
    return found


def _reported(X: Any, Y: Floats, labels: Any) -> dict[str, float]:
    quality: Any = importlib.import_module("planish.quality")
    found = quality.report(X, Y, labels=labels)
    items = found.to_dict() if hasattr(found, "to_dict") else dict(found)
    return {
        str(name): float(value)
        for name, value in items.items()
        if isinstance(value, (int, float, np.integer, np.floating))
    }


def dimension_of(X: Any, distances: Floats, indices: Indices) -> dict[str, float]:
    """Return intrinsic dimensions by the name of the method, from known neighbours."""
    if importlib.util.find_spec("planish.dimension") is not None:
        dimension: Any = importlib.import_module("planish.dimension")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlanishWarning)
            found = dimension.estimate(X, neighbors=indices, n_bootstraps=0)
        return {one.method: float(one.value) for one in found if np.isfinite(one.value)}
    apart = distances[distances[:, 0] > 0]
    if len(apart) == 0 or apart.shape[1] < 3:  # noqa: PLR2004
        return {}
    # Levina and Bickel's likelihood; the inverses are averaged, as MacKay and Ghahramani do.
    inverses = np.log(apart[:, -1:] / apart[:, :-1]).sum(axis=1) / (apart.shape[1] - 2)
    ratios = np.log(apart[:, 1] / apart[:, 0])
    found = {"maximum_likelihood": inverses.mean(), "two_nn": ratios.mean()}
    return {name: float(1.0 / value) for name, value in found.items() if value > 0}
