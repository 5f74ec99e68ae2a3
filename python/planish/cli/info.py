"""``planish info``: what is in a model file, without making the model of it."""

from __future__ import annotations

import click

from . import model
from .screen import Command, show, table

_HELP = """Tell what is in a model file: method, parameters, columns, scaling, version.

Nothing in the file is executed, and only its beginning is read.
"""


def run(path: str) -> None:
    """Show a table of facts."""
    show(table(["", ""], model.facts(path)))


command = Command(
    "info",
    callback=run,
    params=[click.Argument(["path"], metavar="MODEL")],
    help=_HELP,
    examples=(("planish info map.planish", "which method, which columns?"),),
    short_help="Tell what is in a model file.",
)
