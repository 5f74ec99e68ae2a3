"""``planish page``: a map as one HTML file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import numpy as np

from .columns import choose, matching
from .faults import Failure, Misuse
from .files.staging import Outputs, check_target
from .inputs import as_array, colouring, joined, open_source, read, table_argument, table_options
from .pictures import check_picture
from .registry import methods
from .screen import Command, Option, note, told

_HELP = """Make one HTML file in which a map is explored in any browser, without a network.

IN is a map with one column for each coordinate, such as planish embed writes. Every other
column can be coloured by and is shown for the row under the pointer; rows can be lassoed.
"""
_EXAMPLES = (
    ("planish embed flowers.csv -o map.csv --columns 'x*' --id '*'", "a map, with all columns"),
    ("planish page map.csv -o map.html --color species", "to look at it"),
    ("planish page map.csv -o map.html --columns isomap0,isomap1", "these coordinates"),
)


def run(**_: Any) -> None:
    """Read a map and write a page."""
    import planish

    ctx = click.get_current_context()
    target = ctx.params["output"]
    if Path(target).suffix.lower() != ".html":
        raise Misuse(f"-o: a page is an .html file, not {target}")
    check_picture(target, page=True)
    check_target(target)
    reader = open_source(ctx)
    try:
        if not ctx.params["columns"]:
            ctx.params["columns"] = tuple(_coordinates(reader.columns, reader.name))
        choice = choose(reader, ctx.params["columns"], ctx.params["exclude"])
        out = matching(reader, ctx.params["exclude"], "--exclude")
        others = [one for one in reader.columns if one not in {*choice.features, *out}]
        parts = list(read(reader, choice, ctx, beside=others))
        colour = ctx.params["color"] and matching(reader, [ctx.params["color"]], "--color")[0]
    finally:
        reader.close()
    Y = np.concatenate([part.X for part in parts])
    beside = {name: joined([part.carried[name] for part in parts]) for name in others}
    settings: dict[str, Any] = {}
    if colour in beside:
        settings |= colouring(colour, beside.pop(colour))
    settings["columns"] = {name: as_array(column) for name, column in beside.items()}
    if ctx.params["images"] is not None:
        from .files.arrays import load_array

        settings["images"] = load_array(ctx.params["images"])
    with Outputs() as outputs, told():
        staged = outputs.stage(target)
        planish.plot.page(
            Y, staged, title=ctx.params["title"] or Path(reader.name).stem, **settings
        )
        outputs.commit()
    note(f"{target}: {len(Y)} rows; open it in a browser", quiet=ctx.params["quiet"])


def _coordinates(names: list[str], where: str) -> list[str]:
    """Return the columns that a method of planish wrote: isomap0, isomap1, …."""
    for one in methods().values():
        begin = one.kind.__name__.lower()
        found = [name for name in names if re.fullmatch(rf"{begin}\d+", name)]
        if found:
            return found
    if len(names) == 2:  # noqa: PLR2004
        return names
    raise Failure(
        f"{where}: no columns are called as planish embed calls coordinates (isomap0, isomap1); "
        "say which they are with --columns"
    )


command = Command(
    "page",
    callback=run,
    params=[
        table_argument(),
        *table_options(missing=("keep", "error", "drop")),
        Option(["--output", "-o"], required=True, metavar="FILE", title="Output",
               help="The HTML file."),
        Option(["--color"], metavar="COLUMN", title="Output", help="Column to colour by at first."),
        Option(["--images"], metavar="FILE", title="Output",
               help="One image a row, in an NPY file, shown beside the row's values."),
        Option(["--title"], title="Output", help="Title of the page; the name of IN without it."),
        Option(["--quiet", "-q"], is_flag=True, title="Running", help="No notes."),
    ],
    help=_HELP,
    examples=_EXAMPLES,
    short_help="Make a page to explore a map in.",
)  # fmt: skip
