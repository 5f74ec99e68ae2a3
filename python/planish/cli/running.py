"""Options of every command that computes, and what they mean to the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .parameters import takes_seed
from .screen import Option, verbosity

TITLE = "Running"


def running_options(*, seed: bool = True) -> list[Option]:
    """Return seed, threads and silence."""
    options = [
        Option(["--n-jobs", "-j"], type=int, default=None, title=TITLE,
               help="Number of threads; all cores without it. The result is the same."),
        Option(["--quiet", "-q"], is_flag=True, title=TITLE,
               help="No progress and no notes on the terminal either."),
    ]  # fmt: skip
    if seed:
        options.insert(0, Option(["--seed"], type=int, default=None, title=TITLE,
                                 help="Seed of everything drawn by chance; without it the same "
                                      "each time."))  # fmt: skip
    return options


def running(ctx: click.Context, target: Callable[..., Any]) -> dict[str, Any]:
    """Return `n_jobs`, `random_state` and `verbose` as far as something takes them."""
    import inspect

    taken = inspect.signature(target).parameters
    found: dict[str, Any] = {"n_jobs": ctx.params["n_jobs"]} if "n_jobs" in taken else {}
    if takes_seed(target):
        found["random_state"] = ctx.params.get("seed")
    if "verbose" in taken:
        found["verbose"] = verbosity(ctx.params["quiet"])
    return found
