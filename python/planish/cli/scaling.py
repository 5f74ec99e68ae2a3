"""Scaling of columns before a fit, and again before ``transform``.

Every kind is a shift and a divisor for each column, learned from the rows of the fit. They
are kept with the model, so that new rows are scaled as the old ones were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .faults import Failure

#: Kind -> what it does, for the help.
KINDS = {
    "none": "as they are",
    "standard": "mean 0 and standard deviation 1",
    "robust": "median 0 and distance of the quartiles 1",
    "minmax": "from 0 to 1",
    "maxabs": "largest absolute value 1",
}


@dataclass(frozen=True)
class Scaling:
    """(x − shift) / divisor, column by column."""

    kind: str
    shift: NDArray[np.float64]
    divisor: NDArray[np.float64]

    @classmethod
    def learned(cls, kind: str, X: NDArray[Any]) -> Scaling | None:
        """Learn a scaling; None for the kind that changes nothing."""
        if kind == "none":
            return None
        values = np.asarray(X, dtype=np.float64)
        shift, spread = np.zeros(values.shape[1]), np.ones(values.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            if kind == "standard":
                shift, spread = values.mean(axis=0), values.std(axis=0)
            elif kind == "robust":
                low, shift, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
                spread = high - low
            elif kind == "minmax":
                shift = values.min(axis=0)
                spread = values.max(axis=0) - shift
            else:
                spread = np.abs(values).max(axis=0)
        if not (np.isfinite(shift).all() and np.isfinite(spread).all()):
            raise Failure(f"--scale {kind}: the numbers of a column are too large to be scaled")
        # A constant column stays constant, also where rounding gives it a spread.
        constant = values.max(axis=0) == values.min(axis=0)
        return cls(kind, shift, np.where(constant | (spread == 0), 1.0, spread))

    def applied(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return X scaled, in its own precision."""
        scaled: NDArray[Any] = ((X - self.shift) / self.divisor).astype(X.dtype, copy=False)
        return scaled

    def as_attribute(self) -> dict[str, dict[str, NDArray[np.float64]]]:
        """Return the scaling as it is kept with a model."""
        return {self.kind: {"shift": self.shift, "divisor": self.divisor}}

    @classmethod
    def from_attribute(cls, kept: Any, width: int) -> Scaling:
        """Read what `as_attribute` returned, for a model of so many columns."""
        try:
            ((kind, found),) = kept.items()
            shift, divisor = (
                np.asarray(found[name], dtype=np.float64) for name in ("shift", "divisor")
            )
        except (AttributeError, ValueError, KeyError, TypeError):
            raise Failure("the scaling kept with the model is not one of planish") from None
        if shift.shape != (width,) or divisor.shape != (width,) or not np.all(divisor != 0):
            raise Failure(f"the scaling kept with the model is not one of {width} columns")
        return cls(str(kind), shift, divisor)
