"""Fitted models in files, with the scaling of their columns.

A model file keeps every fitted attribute of an estimator. The scaling is one of them,
``column_scaling_``, by kind: ``{"standard": {"shift": …, "divisor": …}}``; so it is in the one
file, is checked with it, and is there in Python too, where `transform` expects rows that are
scaled already.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .faults import Failure
from .parameters import ELSEWHERE, shown
from .scaling import Scaling

_ATTRIBUTE = "column_scaling_"
_IN_FILE = f"python.{_ATTRIBUTE}."


def save(estimator: Any, scaling: Scaling | None, path: Path) -> None:
    """Write a model, without what was of this run only: the same file for any terminal."""
    estimator.set_params(n_jobs=None, verbose=0)
    if scaling is not None:
        setattr(estimator, _ATTRIBUTE, scaling.as_attribute())
    estimator.save(path)


def load(path: str) -> tuple[Any, Scaling | None]:
    """Read a model, and the scaling that its rows need."""
    import planish

    if Path(path).is_dir():
        raise Failure(f"{path}: this is a folder, not a model file")
    estimator = planish.load(path)
    kept = vars(estimator).get(_ATTRIBUTE)
    if kept is None:
        return estimator, None
    return estimator, Scaling.from_attribute(kept, estimator.n_features_in_)


def facts(path: str) -> list[list[str]]:
    """Return what a model file says about itself, line by line."""
    from planish import model_files
    from planish.comparison import in_bytes

    found = model_files.inspect(path)
    names = [name for name, *_ in found.arrays if name.startswith(_IN_FILE)]
    rows = "rows" if found.n_samples is None else f"{found.n_samples:,} rows"
    lines = [
        ["method", found.method],
        ["fitted on", f"{rows} × {found.n_features} columns, {found.dtype}"],
        ["columns", ", ".join(found.feature_names) if found.feature_names else "without names"],
        ["scaled", names[0].removeprefix(_IN_FILE).split(".")[0] if names else "no"],
    ]
    lines += [
        [f"--{name.replace('_', '-')}", shown(value)]
        for name, value in found.parameters.items()
        if name not in ELSEWHERE
    ]
    if found.parameters.get("random_state") is not None:
        lines.append(["--seed", shown(found.parameters["random_state"])])
    return [
        *lines,
        ["written by", f"planish {found.version}, format {found.format}"],
        ["arrays", f"{len(found.arrays)}, {in_bytes(found.bytes)} in all"],
    ]
