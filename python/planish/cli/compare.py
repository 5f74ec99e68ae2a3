"""``planish compare``: several methods on one table, side by side."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from .faults import Failure
from .files import format_of
from .files.staging import Outputs, check_target, is_stream
from .inputs import as_array, read_whole, table_argument, table_options
from .parameters import given, options_of, parameters_of
from .pictures import check_picture, save
from .registry import method_named
from .running import running, running_options
from .scaling import KINDS, Scaling
from .screen import Command, Option, narrow, show, table, told, warn

_HELP = """Run several methods on the same rows and set time, memory and quality side by side.

A method that fails stays in the table with its error. Trustworthiness and continuity are 1
for a map that keeps all neighbours; planish methods tells what each method is for.
"""
_EXAMPLES = (
    ("planish compare data.csv", "a choice of methods by the number of rows"),
    (
        "planish compare flowers.csv -x name --labels species --methods pca,ltsa --plot maps.png",
        "these methods, judged by classes too, and their maps",
    ),
    ("planish compare data.csv -o table.csv", "the table as a file"),
)
#: The widest name on a narrow terminal.
_NAME = 18


class CompareCommand(Command):
    """The command with the parameters of :func:`planish.compare`."""

    def made_options(self, ctx: click.Context) -> list[Option]:
        """Return the parameters of the function."""
        import planish

        ctx.meta["planish.parameters"] = found = parameters_of(
            planish.compare, skip={"methods", "labels"}
        )
        return options_of(found.values(), "Comparison")


def _options() -> list[click.Parameter]:
    return [
        table_argument(),
        Option(["--methods"], metavar="NAMES", title="Comparison",
               help="The methods, separated by commas; chosen by the number of rows without it."),
        Option(["--scale"], type=click.Choice(list(KINDS)), default="none", show_default=True,
               title="Comparison", help="Scale the columns first, as in planish embed."),
        *table_options(),
        Option(["--labels", "class_column"], metavar="COLUMN", title="Comparison",
               help="Classes of the rows, for the quality and the pictures; not embedded."),
        Option(["--output", "-o"], metavar="OUT", title="Output",
               help="Write the table to a file too: .csv, .parquet, …"),
        Option(["--plot"], metavar="FILE", title="Output",
               help="Draw the maps side by side: .png, .svg, .pdf."),
        *running_options(),
    ]  # fmt: skip


def run(**_: Any) -> None:
    """Compare."""
    import planish

    ctx = click.get_current_context()
    target, picture = ctx.params["output"], ctx.params["plot"]
    kind = None if target is None or target == "-" else format_of(target, None)
    if target is not None and not is_stream(target):
        check_target(target, ctx.params["source"])
    if picture is not None:
        check_picture(picture, page=False)
        check_target(picture)
    chosen = None
    if ctx.params["methods"]:
        chosen = {}
        for name in ctx.params["methods"].split(","):
            one = method_named(name)
            chosen[name.strip()] = one.kind.__name__ if not one.fixed else _with_variant(one, ctx)
    rows = read_whole(ctx, beside=("class_column",))
    scaling = Scaling.learned(ctx.params["scale"], rows.X)
    X = rows.X if scaling is None else scaling.applied(rows.X)
    labels = as_array(rows.beside["--class_column"]) if rows.beside else None
    parameters = given(ctx, ctx.meta["planish.parameters"].values())
    with told():
        found = planish.compare(X, chosen, labels, **parameters, **running(ctx, planish.compare))
    if all(one.error for one in found.rows):
        raise Failure(f"every method failed; {found.rows[0].name}: {found.rows[0].error}")
    with Outputs() as outputs:
        if target is not None:
            _write(target, kind or "csv", outputs, found)
        if picture is not None:
            axes = found.plot()
            save(axes.flat[0].figure, outputs.stage(picture))
        outputs.commit()
    _show(found, stderr=target == "-")


def _with_variant(one: Any, ctx: click.Context) -> Any:
    parameters = one.kind().get_params(deep=False)
    typed = {name: ctx.params[name] for name in ("n_components", "n_neighbors")
             if name in parameters and ctx.params.get(name) is not None}  # fmt: skip
    typed.setdefault("n_components", 2)
    return one.kind(**one.fixed, **typed, **{**running(ctx, one.kind), "verbose": 0})


def _measures(found: Any) -> list[str]:
    return list(dict.fromkeys(name for row in found.rows for name in row.quality))


def _show(found: Any, *, stderr: bool) -> None:
    from planish.comparison import in_bytes

    measures = _measures(found)
    heads = ["method", "time", "memory", "peak", *map(_head, measures)]
    lines = [
        [
            one.name,
            "failed" if one.error else f"{one.seconds:.3f} s",
            in_bytes(one.memory),
            in_bytes(one.peak),
            *(f"{one.quality[name]:.3f}" if name in one.quality else "–" for name in measures),
        ]
        for one in found.rows
    ]
    if narrow():  # what was measured says more than what was estimated
        for line in lines:
            line[0] = "\n".join(textwrap.wrap(line[0], _NAME))
        gone = 2 if any(one.peak is not None for one in found.rows) else 3
        heads, *lines = ([*line[:gone], *line[gone + 1 :]] for line in (heads, *lines))
    show(table(heads, lines, numbers=range(1, len(heads))), stderr=stderr)
    if len(found.sample) < found.n_samples:
        show(f"fitted on {len(found.sample)} of {found.n_samples} rows (--sample)", stderr=stderr)
    for one in found.rows:
        if one.error:
            warn(f"{one.name} failed: {one.error.partition(': ')[2] or one.error}")
        for text in one.warnings:
            warn(f"{one.name}: {text.partition(': ')[2] or text}")


def _head(measure: str) -> str:
    words = measure.replace("_", " ")
    if not narrow():
        return words
    return words.replace("trustworthiness", "trust-\nworthiness").replace(" ", "\n")


def _write(target: str, kind: str, outputs: Outputs, found: Any) -> None:
    import numpy as np
    import pyarrow as pa

    from .files.writing import table_writer

    measures = _measures(found)
    missing = float("nan")
    numbers = {
        "seconds": [one.seconds for one in found.rows],
        "memory": [missing if one.memory is None else one.memory for one in found.rows],
        "peak": [missing if one.peak is None else one.peak for one in found.rows],
        **{name: [one.quality.get(name, missing) for one in found.rows] for name in measures},
    }
    columns: dict[str, Any] = {"method": pa.array([one.name for one in found.rows])}
    columns |= {name: np.asarray(values, dtype=float) for name, values in numbers.items()}
    columns["error"] = pa.array([one.error or "" for one in found.rows])
    with table_writer(target, kind, outputs, list(numbers), ["method", "error"]) as writer:
        writer.write(columns)


command = CompareCommand(
    "compare", callback=run, params=_options(), help=_HELP, examples=_EXAMPLES,
    short_help="Run several methods side by side.",
)  # fmt: skip
