"""``planish dimension``: how many coordinates a table has."""

from __future__ import annotations

import math
from typing import Any

import click

from .inputs import read_whole, table_argument, table_options
from .parameters import given, options_of, parameters_of
from .running import running, running_options
from .scaling import KINDS, Scaling
from .screen import Command, Option, sentences, show, table, told

_HELP = """Estimate the intrinsic dimension of a table by several methods.

It is the number of coordinates that describe the rows locally: a rolled-up sheet has 2,
however many columns it has.
"""
_EXAMPLES = (
    ("planish dimension data.csv", "all methods, with intervals"),
    ("planish dimension data.csv --methods two_nn,gride --calibrate", "corrected for few rows"),
)


class DimensionCommand(Command):
    """The command with the parameters of :func:`planish.dimension.estimate`."""

    def made_options(self, ctx: click.Context) -> list[Option]:
        """Return the parameters of the function."""
        import planish

        found = parameters_of(planish.dimension.estimate, skip={"neighbors"})
        ctx.meta["planish.parameters"] = found
        return options_of(found.values(), "Estimate")


def run(**_: Any) -> None:
    """Estimate, and show a table."""
    import planish

    ctx = click.get_current_context()
    rows = read_whole(ctx)
    scaling = Scaling.learned(ctx.params["scale"], rows.X)
    X = rows.X if scaling is None else scaling.applied(rows.X)
    estimate = planish.dimension.estimate
    with told():
        found = estimate(
            X, **given(ctx, ctx.meta["planish.parameters"].values()), **running(ctx, estimate)
        )
    corrected = any(one.corrected is not None for one in found)
    heads = ["method", "dimension", "interval", *(["corrected"] if corrected else []), "note"]
    lines = [
        [
            one.method.replace("_", " "),
            "–" if math.isnan(one.value) else f"{one.value:.2f}",
            "" if one.interval is None else f"{one.interval[0]:.2f} – {one.interval[1]:.2f}",
            *([f"{one.corrected:.1f}" if one.corrected is not None else "–"] if corrected else []),
            one.note,
        ]
        for one in found
    ]
    if not any(one.note for one in found):
        heads, lines = heads[:-1], [line[:-1] for line in lines]
    show(table(heads, lines, numbers=(1, 2, 3) if corrected else (1, 2)), sentences(found.summary))


command = DimensionCommand(
    "dimension",
    callback=run,
    params=[
        table_argument(),
        Option(["--scale"], type=click.Choice(list(KINDS)), default="none", show_default=True,
               title="Estimate", help="Scale the columns first, as in planish embed."),
        *table_options(),
        *running_options(),
    ],
    help=_HELP,
    examples=_EXAMPLES,
    short_help="Estimate the intrinsic dimension.",
)  # fmt: skip
