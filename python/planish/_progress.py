"""Progress of a call: a bar on a terminal or in a notebook, lines in a log.

The core reports a stage and how many of its steps are done a few times a second. Two
places can hear of it: stderr, asked for by ``verbose``, and scikit-learn's callbacks
(``_callbacks.py``).
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Protocol

from .exceptions import ParameterError

#: What the core calls: the stage, steps done, steps in all (0 when unknown).
Report = Callable[[str, int, int], None]

# Seconds between two lines of a log.
_QUIET = 3.0
_EVERY_CALL = 2
_KNOWN = (
    "{desc} {percentage:3.0f} %|{bar}| {n_fmt}/{total_fmt} "
    "[{elapsed}<{remaining}, {rate_noinv_fmt}]"
)
_UNKNOWN = "{desc} {n_fmt} [{elapsed}, {rate_noinv_fmt}]"


class Display(Protocol):
    """Something that shows progress."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are finished."""

    def finish(self) -> None:
        """Say how long the whole took."""

    def abandon(self) -> None:
        """Leave the screen as it should be when the work has failed."""


class ProgressPrinter:
    """Write ``[planish] Isomap.fit: shortest paths 42 %, 800/s, 5 s left (3.1 s)`` now and then."""

    def __init__(self, title: str, interval: float) -> None:
        self.title = title
        self.interval = interval
        self.start = time.monotonic()
        self.stage = ""
        self.begun = (self.start, 0)
        self.last = float("-inf")

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are finished."""
        now = time.monotonic()
        if stage != self.stage or done < self.begun[1]:
            self.stage, self.begun = stage, (now, done)
        if now - self.last < self.interval:
            return
        self.last = now
        share = f" {100 * min(done, total) // total} %" if total else ""
        self._write(f"{stage or 'start'}{share}{self._pace(now, done, total)}")

    def finish(self) -> None:
        """Say how long the whole took."""
        self._write("done")

    def abandon(self) -> None:
        """Write nothing: the exception says what happened."""

    def _pace(self, now: float, done: int, total: int) -> str:
        seconds, steps = now - self.begun[0], done - self.begun[1]
        if seconds <= 0 or steps <= 0:
            return ""
        rate = steps / seconds
        left = f", {(total - done) / rate:.0f} s left" if total > done else ""
        return f", {rate:.3g}/s{left}"

    def _write(self, text: str) -> None:
        elapsed = time.monotonic() - self.start
        print(f"[planish] {self.title}: {text} ({elapsed:.1f} s)", file=sys.stderr, flush=True)


class ProgressBar:
    """One bar that shows the stage at work; with ``keep``, a bar for each stage."""

    def __init__(self, title: str, keep: bool) -> None:
        self.title = title
        self.keep = keep
        self.start = time.monotonic()
        self.stage: str | None = None
        self.bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are finished."""
        if self.bar is None or stage != self.stage or done < self.bar.n:
            self._begin(stage, done, total)
        bar = self.bar
        if (bar.total or 0) != total:
            bar.total = total or None
            if hasattr(bar, "container") and total:  # the widget of a notebook
                bar.container.children[1].max = total
        bar.bar_format = _KNOWN if total else _UNKNOWN
        bar.update((min(done, total) if total else done) - bar.n)

    def finish(self) -> None:
        """Say how long the whole took, in place of the bar."""
        self._close()
        elapsed = time.monotonic() - self.start
        print(f"[planish] {self.title}: done ({elapsed:.1f} s)", file=sys.stderr, flush=True)

    def abandon(self) -> None:
        """Leave the bar where the work stopped."""
        if self.bar is not None:
            self.bar.leave = True
        self._close()

    def _begin(self, stage: str, done: int, total: int) -> None:
        if self.bar is not None and self.keep and stage != self.stage:
            if self.bar.total:
                self.bar.update(self.bar.total - self.bar.n)
            self._close()
        self.stage = stage
        text = f"{self.title}: {stage or 'start'}"
        if self.bar is None:
            self.bar = _bar_class()(
                desc=text,
                total=total or None,
                initial=done,
                bar_format=_KNOWN if total else _UNKNOWN,
                file=sys.stderr,
                leave=self.keep,
                unit="",
                unit_scale=True,
                miniters=0,
                mininterval=0,
                **_width(),
            )
        else:
            self.bar.set_description_str(text, refresh=False)
            self.bar.bar_format = _KNOWN if total else _UNKNOWN
            self.bar.initial = 0  # `reset` draws it
            self.bar.reset(total or None)
            # What was done before it was first seen does not count for the rate.
            self.bar.n = self.bar.initial = self.bar.last_print_n = done

    def _close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def _bar_class() -> Any:
    """Return tqdm, as a widget where there is one to show it, without its watching thread."""
    if _in_notebook() and importlib.util.find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm
    else:
        from tqdm.std import tqdm

    return quiet(tqdm)


def quiet(tqdm: Any) -> Any:
    """Return a kind of tqdm's bars without its watching thread and without last words."""

    class Bar(tqdm):  # type: ignore[misc, unused-ignore]
        monitor_interval = 0

        def close(self) -> None:
            # Where Ctrl-C ended the making of it, tqdm stumbles over what is not there yet.
            if "start_t" in vars(self):
                super().close()

    return Bar


def _width() -> dict[str, Any]:
    """Return how wide a bar is: as the terminal, also while it changes, if that is known."""
    try:
        known = os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (AttributeError, OSError, ValueError):
        known = False
    return {"dynamic_ncols": True} if known else {"ncols": 80, "nrows": 24}


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


def _on_terminal() -> bool:
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError):  # no stderr, or a closed one
        return False


def display(verbose: object, title: str) -> Display | None:
    """Return what ``verbose`` asks for: nothing for 0, a bar or lines for 1, all of it for 2."""
    if not isinstance(verbose, Integral) or int(verbose) < 0:
        raise ParameterError(
            f"parameter `verbose`: expected 0, 1 or 2, got {type(verbose).__name__} {verbose!r}"
        )
    level = int(verbose)
    if level == 0:
        return None
    if _on_terminal() or _in_notebook():
        return ProgressBar(title, keep=level >= _EVERY_CALL)
    return ProgressPrinter(title, 0.0 if level >= _EVERY_CALL else _QUIET)


@contextmanager
def progress(verbose: object, title: str, also: Report | None = None) -> Iterator[Report | None]:
    """Give what the core reports to: a display, `also`, both, or neither."""
    shown = display(verbose, title)
    try:
        yield _both(shown, also)
    except BaseException:
        if shown is not None:
            shown.abandon()
        raise
    if shown is not None:
        shown.finish()


def _both(first: Report | None, second: Report | None) -> Report | None:
    if first is None or second is None:
        return first if second is None else second

    def report(stage: str, done: int, total: int) -> None:
        first(stage, done, total)
        second(stage, done, total)

    return report
