"""What a job must reach. A target has its wording and its check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

OWN = "planish"
Outcome = Mapping[str, Mapping[str, Any]]
"""Engine name -> its measurements (`seconds`, `peak`, `quality`, `threads`); failed engines are
absent, and of one that was stopped only `at_least` is known, seconds that its fit took or more.
What other jobs of the run measured on as many threads is there as "job/engine"."""


class Target(Protocol):
    """Something a job must reach; ``met`` is None when it is not known."""

    def text(self) -> str:
        """The target in a few words."""

    def met(self, outcome: Outcome) -> bool | None:
        """Whether the outcome reaches it."""


def _both(outcome: Outcome, peer: str, what: str) -> tuple[float, float] | None:
    if what not in outcome.get(OWN, {}) or what not in outcome.get(peer, {}):
        return None
    return outcome[OWN][what], outcome[peer][what]


def _own(outcome: Outcome, what: str) -> float | None:
    return outcome.get(OWN, {}).get(what)


@dataclass(frozen=True)
class Faster:
    """At least ``factor`` times as fast as a peer."""

    peer: str
    factor: float

    def text(self) -> str:
        return f"≥ {self.factor:g}× {self.peer}"

    def met(self, outcome: Outcome) -> bool | None:
        pair = _both(outcome, self.peer, "seconds")
        if pair is not None:
            return pair[0] * self.factor <= pair[1]
        own, bound = _own(outcome, "seconds"), outcome.get(self.peer, {}).get("at_least")
        if own is None or bound is None:
            return None
        # Below the bound nothing is known: the peer may have been about to finish.
        return True if own * self.factor <= bound else None


@dataclass(frozen=True)
class FasterPerCore:
    """At least ``factor`` times as fast as a peer of one thread, for each thread used."""

    peer: str
    factor: float

    def text(self) -> str:
        return f"≥ {self.factor:g}× {self.peer} per thread"

    def met(self, outcome: Outcome) -> bool | None:
        pair = _both(outcome, self.peer, "seconds")
        if pair is None:
            return None
        return pair[0] * self.factor * outcome[OWN]["threads"] <= pair[1]


@dataclass(frozen=True)
class FasterThanJob:
    """Faster than a peer at another job of the same run."""

    job: str
    peer: str

    def text(self) -> str:
        return f"faster than {self.peer} at {self.job}"

    def met(self, outcome: Outcome) -> bool | None:
        pair = _both(outcome, f"{self.job}/{self.peer}", "seconds")
        return None if pair is None else pair[0] <= pair[1]


@dataclass(frozen=True)
class Slower:
    """At most ``factor`` times the time of a peer."""

    peer: str
    factor: float

    def text(self) -> str:
        return f"≤ {self.factor:g}× the time"

    def met(self, outcome: Outcome) -> bool | None:
        pair = _both(outcome, self.peer, "seconds")
        return None if pair is None else pair[0] <= pair[1] * self.factor


@dataclass(frozen=True)
class SecondsAtMost:
    """At most ``seconds`` on a machine like the one the target was set on."""

    seconds: float

    def text(self) -> str:
        return f"≤ {self.seconds:g} s"

    def met(self, outcome: Outcome) -> bool | None:
        own = _own(outcome, "seconds")
        return None if own is None else own <= self.seconds


@dataclass(frozen=True)
class PeakAtMost:
    """The whole process stays below this many bytes."""

    limit: float

    def text(self) -> str:
        return f"peak ≤ {self.limit / 1e9:g} GB"

    def met(self, outcome: Outcome) -> bool | None:
        peak = _own(outcome, "peak")
        return None if peak is None else peak <= self.limit


@dataclass(frozen=True)
class PeakWithin:
    """The whole process stays below ``factor`` times a peer's."""

    peer: str
    factor: float

    def text(self) -> str:
        return f"peak ≤ {self.factor:g}× {self.peer}'s"

    def met(self, outcome: Outcome) -> bool | None:
        pair = _both(outcome, self.peer, "peak")
        return None if pair is None else pair[0] <= self.factor * pair[1]


@dataclass(frozen=True)
class QualityWithin:
    """Quality (lower is better) no worse than a peer's by more than ``slack``."""

    peer: str
    slack: float

    def text(self) -> str:
        return f"quality ≤ {self.peer}'s + {self.slack:g}"

    def met(self, outcome: Outcome) -> bool | None:
        pair = _both(outcome, self.peer, "quality")
        return None if pair is None else pair[0] <= pair[1] + self.slack


@dataclass(frozen=True)
class QualityTimes:
    """Quality (lower is better, a cost) at most ``factor`` times a peer's."""

    peer: str
    factor: float

    def text(self) -> str:
        return f"quality ≤ {self.factor:g}× {self.peer}'s"

    def met(self, outcome: Outcome) -> bool | None:
        pair = _both(outcome, self.peer, "quality")
        return None if pair is None else pair[0] <= self.factor * pair[1]


@dataclass(frozen=True)
class QualityAtMost:
    """Quality (lower is better) below a fixed bound."""

    bound: float

    def text(self) -> str:
        return f"quality ≤ {self.bound:g}"

    def met(self, outcome: Outcome) -> bool | None:
        quality = _own(outcome, "quality")
        return None if quality is None else quality <= self.bound


@dataclass(frozen=True)
class QualityAtLeast:
    """Quality (higher is better) above a fixed bound."""

    bound: float

    def text(self) -> str:
        return f"quality ≥ {self.bound:g}"

    def met(self, outcome: Outcome) -> bool | None:
        quality = _own(outcome, "quality")
        return None if quality is None else quality >= self.bound
