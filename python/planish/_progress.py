"""Progress lines on stderr, asked for by ``verbose``."""

from __future__ import annotations

import sys
import time
from numbers import Integral

from .exceptions import ParameterError

# Seconds between two lines of the same stage.
_QUIET = 1.0
_EVERY_CALL = 2


class ProgressPrinter:
    """Write ``[planish] Isomap: shortest paths 42 % (3.1 s)`` now and then."""

    def __init__(self, title: str, interval: float) -> None:
        self.title = title
        self.interval = interval
        self.start = time.monotonic()
        self.stage = ""
        self.last = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are finished."""
        now = time.monotonic()
        if stage == self.stage and now - self.last < self.interval:
            return
        self.stage, self.last = stage, now
        share = f" {100 * min(done, total) // total} %" if total else ""
        self._write(f"{stage}{share}")

    def finish(self) -> None:
        """Say how long the whole took."""
        self._write("done")

    def _write(self, text: str) -> None:
        elapsed = time.monotonic() - self.start
        print(f"[planish] {self.title}: {text} ({elapsed:.1f} s)", file=sys.stderr, flush=True)


def progress_printer(verbose: object, title: str) -> ProgressPrinter | None:
    """Return the printer ``verbose`` asks for: none for 0, one line a second for 1, all for 2."""
    if not isinstance(verbose, Integral) or int(verbose) < 0:
        raise ParameterError(
            f"parameter `verbose`: expected 0, 1 or 2, got {type(verbose).__name__} {verbose!r}"
        )
    level = int(verbose)
    if level == 0:
        return None
    return ProgressPrinter(title, 0.0 if level >= _EVERY_CALL else _QUIET)
