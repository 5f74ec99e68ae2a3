"""A seed becomes a case: an estimator or a function, its parameters, its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from . import data
from .data import Points, chance, pick
from .registry import DATA_ARGUMENTS, Parameter, Target, simplest_estimators, targets

# Set for every case and not drawn: what they do is not at stake, or they print.
FIXED = {"verbose": 0, "n_jobs": 1}

WRONG = (None, -1, 0, np.nan, np.inf, -np.inf, "nonsense", 1.5, True, [], 10**18, -1e-300)


@dataclass
class Case:
    """One fit, or one call of a function, and what to do with the result."""

    seed: int
    target: Target
    params: dict[str, Any]
    X: Any
    new: Any
    notes: list[str]

    def __str__(self) -> str:
        given = ", ".join(f"{name}={shown(value)}" for name, value in self.params.items())
        return f"{self.target.name}({given}) on {shown(self.X)}: {', '.join(self.notes)}"


def shown(value: Any) -> str:
    """Return a value in one line."""
    if hasattr(value, "shape"):
        return f"{type(value).__name__} {value.dtype} {value.shape}"
    return " ".join(repr(value).split())


def case(seed: int) -> Case:
    """Return the case of this number, the same one every time."""
    rng = np.random.default_rng([seed, 20])
    target = pick(rng, targets())
    if not target.is_class and chance(rng, 0.6):
        target = pick(rng, [t for t in targets() if t.is_class])
    points = data.points(rng)
    changed = rng.uniform(0.0, 0.5)
    params = {}
    for parameter in target.parameters:
        if parameter.name in DATA_ARGUMENTS:
            continue
        value = drawn(rng, parameter, points, changed)
        if value is not parameter.default:
            params[parameter.name] = value
    given = [(p.name, w) for p in target.parameters for w in p.words if is_matrix({p.name: w})]
    if given and chance(rng, 0.15):
        params.update([pick(rng, given)])
    agree(rng, target, params)
    X, new = rows_or_matrix(rng, target, params, points)
    return Case(seed, target, params, X, new, points.notes)


def other_params(rng: np.random.Generator, given: Case) -> dict[str, Any]:
    """Return other values for all parameters of a fitted estimator, few of them wrong."""
    points = data.points(rng)
    return {
        p.name: drawn(rng, p, points, 1.0) for p in given.target.parameters if p.name not in FIXED
    }


def is_matrix(params: dict[str, Any]) -> bool:
    return any(isinstance(v, str) and v.startswith("precomputed") for v in params.values())


# ---- parameters --------------------------------------------------------------------------------


def drawn(rng: np.random.Generator, parameter: Parameter, points: Points, changed: float) -> Any:
    """Return a value for a parameter, its default in all but `changed` of the draws."""
    if parameter.name in FIXED:
        return FIXED[parameter.name]
    known = (REQUIRED if parameter.required else BY_NAME).get(parameter.name)
    often = parameter.name in OFTEN_DRAWN or parameter.required
    if not often and not chance(rng, changed):
        return parameter.default
    if chance(rng, 0.01):
        return pick(rng, WRONG)
    if parameter.words and chance(rng, 0.6 if known or len(parameter.kinds) > 1 else 0.97):
        return pick(rng, parameter.words)
    if known is not None:
        return known(rng, points, parameter)
    return anything(rng, points, parameter)


def anything(rng: np.random.Generator, points: Points, parameter: Parameter) -> Any:
    """Return a value of one of the kinds the parameter takes, knowing nothing else of it."""
    makers = {
        "none": lambda: None,
        "bool": lambda: chance(rng, 0.5),
        "int": lambda: int(pick(rng, (0, 1, 2, 3, 5, 10, len(points.rows) - 1, len(points.rows)))),
        "float": lambda: number(rng, points, parameter),
        "callable": lambda: measured,
        "array": lambda: rng.integers(0, len(points.rows), size=int(rng.integers(1, 8))),
        "dict": dict,
    }
    kinds = sorted(parameter.kinds)
    if not kinds:
        return pick(rng, parameter.words) if parameter.words else parameter.default
    return makers[pick(rng, kinds)]()


def number(rng: np.random.Generator, points: Points, parameter: Parameter) -> float:
    default = parameter.default if isinstance(parameter.default, (int, float)) else 1.0
    choices = (0.0, 1e-12, 1e-3, 0.3, 1.0, 2.0, 10.0, 1e6, default * 10, default / 10)
    return float(pick(rng, choices))


def measured(a: Any, b: Any = None, **arguments: Any) -> Any:
    """Return the Manhattan distance of two rows, or affinities of two sets of rows."""
    b = a if b is None else b
    a, b = (v.toarray() if sparse.issparse(v) else np.asarray(v, dtype=float) for v in (a, b))
    with np.errstate(all="ignore"):
        if a.ndim == 1 or b.ndim == 1 or len(a) * len(b) == 1:
            return float(np.abs(a - b).sum())
        return np.exp(-np.abs(a[:, None, :] - b[None, :, :]).sum(axis=-1))


def components(rng, points, parameter):
    n, d = points.rows.shape
    if chance(rng, 0.1):
        return int(pick(rng, (max(1, n - 2), n - 1, n)))
    return min(int(pick(rng, (1, 2, 3, d))), max(1, n - 2))


def neighbors(rng, points, parameter):
    n = len(points.rows)
    if "none" in parameter.kinds and chance(rng, 0.1):
        return None
    if chance(rng, 0.05):
        return n - 1 + int(rng.integers(3))
    return int(rng.integers(1, max(2, n)))


def length(rng, points, parameter):
    return points.length * 10.0 ** rng.uniform(-1, 1.5)


def squared_length(rng, points, parameter):
    with np.errstate(all="ignore"):
        return float(np.float64(length(rng, points, parameter)) ** 2)


def scale(rng, points, parameter):
    with np.errstate(all="ignore"):
        return float(1 / np.float64(squared_length(rng, points, parameter)))


def few_rows(rng, points, parameter):
    return rng.permutation(len(points.rows))[: int(rng.integers(1, 8))]


def neighbor_lists(rng, points, parameter):
    n = len(points.rows)
    if chance(rng, 0.5):
        return rng.integers(0, n, size=(n, int(rng.integers(1, 8))))
    return data.graph(rng, points)[0]


def pair_weights(rng, points, parameter):
    if "array" not in parameter.kinds:
        return anything(rng, points, parameter)
    weights = rng.random((len(points.rows), len(points.rows)))
    return weights + weights.T


def coordinates(rng, points, parameter):
    if "array" not in parameter.kinds:
        return anything(rng, points, parameter)
    return rng.normal(size=(len(points.rows), int(rng.integers(1, 4))))


def few(rng, points, parameter):
    return int(rng.integers(1, 4))


def metric_arguments(rng, points, parameter):
    return pick(rng, ({}, {"p": 1.5}, {"p": 1}, {"w": np.ones(points.rows.shape[1])}))


def wrapped(rng, points, parameter):
    cls = pick(rng, simplest_estimators())
    return cls().set_params(n_jobs=1)


def origin(rng, points, parameter):
    n = len(points.rows)
    return int(rng.integers(n)) if chance(rng, 0.5) else np.full(n, 1 / n)


def power(rng, points, parameter):
    return float(pick(rng, (1, 1.5, 2, 3, 20)))


def tolerance(rng, points, parameter):
    return float(pick(rng, (0.0, 1e-10, 1e-4, 0.3)))


def iterations(rng, points, parameter):
    return pick(rng, (1, 3, 50))


def seeded(rng, points, parameter):
    return int(rng.integers(100))


BY_NAME = {
    "n_components": components,
    "n_neighbors": neighbors,
    "n_landmarks": neighbors,
    "landmarks": few_rows,
    "sources": few_rows,
    "radius": length,
    "bandwidth": length,
    "constant": length,
    "epsilon": squared_length,
    "gamma": scale,
    "neighbors": neighbor_lists,
    "metric_params": metric_arguments,
    "origin": origin,
    "random_state": seeded,
    "p": power,
    "tol": tolerance,
    "eigen_tol": tolerance,
    "max_iter": iterations,
    "weights": pair_weights,
    "init": coordinates,
    "n_init": few,
    "n_permutations": few,
    "n_bootstraps": few,
}
REQUIRED = {**BY_NAME, "estimator": wrapped, "method": wrapped}
# Their defaults are of little use with so few rows.
OFTEN_DRAWN = ("n_components", "n_neighbors")


def agree(rng: np.random.Generator, target: Target, params: dict[str, Any]) -> None:
    """Take back most combinations that are only refused."""
    names = {p.name for p in target.parameters}
    if params.get("radius") is not None and "n_neighbors" in names and chance(rng, 0.9):
        params["n_neighbors"] = None
    elif "radius" in names and params.get("n_neighbors", 1) is None and chance(rng, 0.9):
        params["n_neighbors"] = 3
    if params.get("metric_params") and chance(rng, 0.8):
        params["metric"] = "minkowski"
    if params.get("prefit") and chance(rng, 0.8):
        params.pop("prefit")


# ---- data --------------------------------------------------------------------------------------


def rows_or_matrix(
    rng: np.random.Generator, target: Target, params: dict[str, Any], points: Points
) -> tuple[Any, Any]:
    """Return what these parameters call X, and new rows of it."""
    wanted = [DATA_ARGUMENTS[p.name] for p in target.parameters if p.name in DATA_ARGUMENTS]
    kind = wanted[0] if wanted else "points"
    given = [name for name, v in params.items() if is_matrix({name: v})]
    if given:
        kind = {"kernel": "kernel", "affinity": "affinities"}.get(given[0], "distances")
        value = params[given[0]]
        if value != "precomputed" or (kind == "distances" and chance(rng, 0.4)):
            kind = "graph"
        if chance(rng, 0.03):
            kind = pick(rng, ("kernel", "affinities", "distances", "graph"))
    points.notes.append(kind)
    if kind != "points":
        return getattr(data, kind)(rng, points)
    form = pick(rng, data.FORMS)
    points.notes.append(form.__name__)
    return form(points.rows), form(points.new)
