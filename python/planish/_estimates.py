"""What estimates of dimension look like: one, and a table of several."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from . import _core
from ._types import Floats
from .exceptions import ParameterError

if TYPE_CHECKING:
    import pandas as pd

# Estimates within this factor of each other agree.
_AGREE = 1.25
# A change of this factor from the smallest scale to the largest is a trend.
_TREND = 1.15


class Scale(NamedTuple):
    """The dimension at one scale of :func:`~planish.dimension.gride`."""

    ranks: tuple[int, int]
    distance: float
    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Estimate:
    """An intrinsic dimension by one method.

    ``float(estimate)`` is its value.

    Attributes
    ----------
    method : str
        Name of the function that made it.
    value : float
        The dimension of all of the data; NaN in a table where there is none.
    interval : tuple of two floats or None
        Bounds of the bootstrap interval.
    local : ndarray of shape (n_samples,) or None
        The dimension at each row, infinite where all its neighbours are equally
        far; None where the method has no such thing.
    scales : tuple of Scale
        The dimension at growing scales, of :func:`~planish.dimension.gride`: the
        ranks of the two neighbours, the mean distance of the farther one, the
        dimension and its interval.
    corrected : float or None
        The dimension of the cube that gives this value with as many points, where
        `calibrate` asked for it and there is one.
    corrected_interval : tuple of two floats or None
        Bounds for the dimension itself, where there is a corrected value and an interval:
        the dimensions of the cubes that give the bounds of `interval`, and 5 % more on
        either side for shapes that are not cubes.
    note : str
        Why there is no value, or nothing.

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> estimate = dimension.two_nn(datasets.swiss_roll(1000).points)
    >>> round(float(estimate))
    2
    """

    method: str
    value: float
    interval: tuple[float, float] | None = None
    local: Floats | None = field(default=None, repr=False)
    scales: tuple[Scale, ...] = field(default=(), repr=False)
    corrected: float | None = None
    corrected_interval: tuple[float, float] | None = None
    note: str = ""

    def __float__(self) -> float:
        return self.value

    @property
    def best(self) -> float:
        """The corrected value where there is one, else the value."""
        return self.value if self.corrected is None else self.corrected


class Estimates:
    """Intrinsic dimensions by several methods, from one neighbour search.

    It is a sequence of :class:`Estimate` and a mapping by method; printed, it is a
    table with a sentence on how far the methods agree.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    confidence : float
        Share of the bootstrap samples in the intervals.

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> found = dimension.estimate(datasets.swiss_roll(1000).points)
    >>> found.dimension
    2
    >>> found["gride"].scales[0].ranks
    (1, 2)
    """

    def __init__(self, estimates: list[Estimate], n_samples: int, confidence: float) -> None:
        self._estimates = {estimate.method: estimate for estimate in estimates}
        self.n_samples = n_samples
        self.confidence = confidence

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self._estimates.values())

    def __len__(self) -> int:
        return len(self._estimates)

    def __getitem__(self, method: str) -> Estimate:
        try:
            return self._estimates[method]
        except (KeyError, TypeError):
            known = ", ".join(self._estimates)
            raise ParameterError(
                f"parameter `method`: {method!r} was not estimated; there are: {known}"
            ) from None

    @property
    def dimension(self) -> int:
        """The one number to use, as a whole number of at least 1.

        Where "simplex_skewness" and "maximum_likelihood" are among the methods it comes from
        these two, as ``n_components="auto"`` does: edges of the data make the second fall
        short, curvature makes the first too large. Otherwise, and of corrected values, it is
        the median.
        """
        return max(1, round(self.value))

    @property
    def value(self) -> float:
        """The same before it is rounded."""
        pair = [self._estimates.get(name) for name in ("simplex_skewness", "maximum_likelihood")]
        known = [e.value for e in pair if e is not None and e.corrected is None and not e.note]
        if len(known) < len(pair):
            return median(self._values())
        return _core.blended_dimension(*known)

    def _values(self) -> list[float]:
        return [estimate.best for estimate in self if not math.isnan(estimate.value)]

    @property
    def summary(self) -> str:
        """How far the methods agree, in words, and what the reasons may be."""
        said = [self._agreement(), *self._reasons()]
        return " ".join(sentence for sentence in said if sentence)

    def _agreement(self) -> str:
        known = sorted((e for e in self if not math.isnan(e.value)), key=lambda e: e.best)
        low, high = known[0], known[-1]
        middle = self.value
        if len(known) == 1:
            return f"One method: the dimension is about {middle:.1f}."
        if low.best > 0 and high.best <= _AGREE * low.best:
            return (
                f"The {len(known)} methods agree within a factor of "
                f"{high.best / low.best:.2f}: the dimension is about {middle:.1f}."
            )
        factor = f", a factor of {high.best / low.best:.1f}" if low.best > 0 else ""
        return (
            f"The methods disagree: from {low.best:.1f} ({low.method}) to {high.best:.1f} "
            f"({high.method}){factor}; taken together, {middle:.1f}."
        )

    def _reasons(self) -> list[str]:
        reasons = []
        scales = self._estimates["gride"].scales if "gride" in self._estimates else ()
        if len(scales) > 1:
            first, last = scales[0], scales[-1]
            seen = (
                f"{first.value:.1f} at distance {first.distance:.3g} to {last.value:.1f} at "
                f"{last.distance:.3g}"
            )
            if first.value > _TREND * last.value:
                reasons.append(f"It falls with the scale, from {seen}: noise, or an edge.")
            elif last.value > _TREND * first.value:
                reasons.append(f"It rises with the scale, from {seen}: curvature, or layers.")
        most = 2 * math.log10(self.n_samples)
        uncorrected = all(one.corrected is None for one in self)
        if uncorrected and median(self._values()) > most:
            reasons.append(
                f"{self.n_samples} rows can show about {most:.1f} dimensions (Eckmann and Ruelle): "
                "higher values by distances are lower bounds; simplex_skewness is less biased, "
                "calibrate=True corrects all."
            )
        return reasons

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a data frame of pandas, one row a method.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns ``value``, ``low``, ``high``, ``corrected``, ``corrected_low``,
            ``corrected_high`` and ``note``.
        """
        import pandas as pd

        missing = (math.nan, math.nan)
        rows = [
            (
                e.value,
                *(e.interval or missing),
                e.corrected,
                *(e.corrected_interval or missing),
                e.note,
            )
            for e in self
        ]
        index = pd.Index(list(self._estimates), name="method")
        names = ["value", "low", "high", "corrected", "corrected_low", "corrected_high", "note"]
        return pd.DataFrame(rows, index=index, columns=names).astype({"corrected": float})

    def __str__(self) -> str:
        wide = max(len("method"), *(len(name) for name in self._estimates))
        share = f"{100 * self.confidence:g} % interval"
        lines = [f"{'method':<{wide}}  dimension  {share}"]
        for one in self:
            if one.note:
                lines.append(f"{one.method:<{wide}}          -  {one.note}")
                continue
            bounds, wider = _bounds(one.interval), _bounds(one.corrected_interval)
            truer = "" if one.corrected is None else f"corrected {one.corrected:.2f}"
            truer += f" ({wider})" if wider else ""
            line = f"{one.method:<{wide}}  {one.value:9.2f}  {bounds:<16}  {truer}"
            lines.append(line.rstrip())
        return "\n".join([*lines, self.summary])

    __repr__ = __str__


def _bounds(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"
