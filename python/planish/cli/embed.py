"""``planish embed``: a table in, coordinates out."""

from __future__ import annotations

import os
import time
from typing import Any, Literal

import click
import numpy as np

from . import docstrings, model
from .faults import Failure, Misuse, did_you_mean, listed
from .files import FORMATS, format_of
from .files.staging import Outputs, called, check_target, is_stream
from .files.writing import check_columns, table_writer
from .inputs import (
    Table,
    carried_option,
    colouring,
    read_whole,
    table_argument,
    table_options,
)
from .parameters import given, options_of
from .pictures import check_picture, draw
from .registry import Method, method_named, methods
from .running import running, running_options
from .scaling import KINDS, Scaling
from .screen import Command, Option, note, show, told

_HELP = """Embed the rows of a table.

IN is CSV, TSV, Parquet, Arrow (Feather), NPY or NPZ, or "-" for standard input. The output has
the columns of --id and one column for each coordinate, called after the method (isomap0,
isomap1). With --method NAME --help the parameters of that method are shown too.
"""
_EXAMPLES = (
    ("planish embed data.csv -o map.csv", "from CSV to an embedding"),
    (
        "planish embed flowers.csv -o map.csv --columns 'x*' --id name --scale standard",
        "some columns, of equal weight; a name beside each row",
    ),
    (
        "planish embed data.parquet -o map.parquet --method lle:ltsa --n-neighbors 12",
        "a method that is one of several: local tangent space alignment",
    ),
    (
        "planish embed flowers.csv -o map.csv -x name --plot map.png --color species --report",
        "a picture coloured by a column, and how good the map is",
    ),
    (
        "zcat data.csv.gz | planish embed - -o - --method pca | head",
        "in a pipe",
    ),
)


class EmbedCommand(Command):
    """The command with the parameters of the method that was named."""

    def made_options(self, ctx: click.Context) -> list[Option]:
        """Return the parameters of the method."""
        typed: list[str] = ctx.meta["planish.typed"]
        named = _method_in(typed)
        if named is None and {"--help", "-h"} & set(typed):
            return []
        method = method_named(_DEFAULT if named is None else named)
        ctx.meta["planish.method"] = method
        title = f"Parameters of {method.name}"
        return options_of(method.parameters.values(), title)

    def unknown_option(self, ctx: click.Context, error: click.NoSuchOption) -> str:
        """Say what the method takes, and which other methods have that parameter."""
        method: Method = ctx.meta["planish.method"]
        name = error.option_name
        said = f"{method.name} has no {name}"
        near = did_you_mean(name, [flag for one in self.get_params(ctx) for flag in one.opts])
        owners = [
            other.name
            for other in methods().values()
            if name in [one.flag for one in other.parameters.values()]
        ]
        if owners:
            said += f", it is one of {', '.join(owners)}"
        elif near:
            said += near
        takes = listed((one.flag for one in method.parameters.values()), 40)
        return f"{said}{'' if said.endswith('?') else ';'} {method.name} takes {takes}"

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, and what the method is."""
        super().format_help_text(ctx, formatter)
        method: Method | None = ctx.meta.get("planish.method")
        formatter.write_paragraph()
        with formatter.indentation():
            if method is None:
                names = ", ".join(methods())
                formatter.write_text(f"The methods are {names}; planish methods tells of each.")
            else:
                use = docstrings.noted(method.kind, "Use")
                said = [docstrings.summary(method.kind), *docstrings.description(method.kind)]
                said += [f"Use it for {use}"] if use else []
                for number, paragraph in enumerate(said):
                    text = f"{method.name}: {paragraph}" if number == 0 else paragraph
                    formatter.write_text(text)
                    formatter.write_paragraph()


_DEFAULT = "isomap"


def _method_in(typed: list[str]) -> str | None:
    """Return what is said of `--method`, the last time it is."""
    found = None
    for at, word in enumerate(typed):
        if word == "--":
            break
        if word in ("--method", "-m") and at + 1 < len(typed):
            found = typed[at + 1]
        elif word.startswith("--method="):
            found = word.removeprefix("--method=")
        elif word.startswith("-m") and len(word) > 2 and not word.startswith("--"):  # noqa: PLR2004
            found = word.removeprefix("-m")
    return found


def _options() -> list[click.Parameter]:
    written = "Output"
    kinds = "; ".join(f"{kind}: {meant}" for kind, meant in KINDS.items())
    return [
        table_argument(),
        Option(["--method", "-m"], default=_DEFAULT, show_default=True, metavar="NAME",
               title="Method", help="The method: a name, its beginning or its capitals (lle); one "
               "of several kinds after a colon (lle:ltsa). See planish methods."),
        Option(["--scale"], type=click.Choice(list(KINDS)), default="none", show_default=True,
               title="Method", help=f"Scale the columns first. {kinds}. A saved model keeps it."),
        *table_options(missing=("error", "drop", "keep"), carried=True),
        carried_option(),
        Option(["--output", "-o"], required=True, metavar="OUT", title=written,
               help='Where to write the coordinates; "-" is standard output.'),
        Option(["--to", "target_format"], type=click.Choice(FORMATS), title=written,
               help='Format of OUT, if its ending does not tell; of "-" it is csv without this.'),
        Option(["--save-model"], metavar="FILE", title=written,
               help="Save the fitted model, for planish transform and planish.load."),
        Option(["--plot"], metavar="FILE", title=written,
               help="Draw the map: .png, .svg, .pdf, or .html for a page to explore."),
        Option(["--color"], metavar="COLUMN", title=written,
               help="Colour the picture by a column, which is not embedded then."),
        Option(["--report"], is_flag=True, title=written,
               help="Measure how good the map is, and show a table."),
        *running_options(),
    ]  # fmt: skip


def run(**_: Any) -> None:
    """Read, scale, fit, write."""
    ctx = click.get_current_context()
    target, quiet = ctx.params["output"], ctx.params["quiet"]
    kind = ctx.params["target_format"] or (
        "csv" if target == "-" else format_of(target, None, "--to")
    )
    method: Method = ctx.meta["planish.method"]
    with Outputs() as outputs:
        _check_targets(ctx)
        table = read_whole(ctx, beside=("color",))
        check_columns(target, kind, (), list(table.carried))
        scaling = Scaling.learned(ctx.params["scale"], table.X)
        X = table.X if scaling is None else scaling.applied(table.X)
        parameters = {**method.fixed, **given(ctx, method.parameters.values())}
        estimator = method.kind(**parameters, **running(ctx, method.kind))
        began = time.perf_counter()
        with told():
            Y = np.asarray(estimator.fit_transform(X))
        seconds = time.perf_counter() - began
        estimator.set_params(verbose=0)
        if table.names is not None:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
        _write(target, kind, outputs, table, estimator, Y)
        if ctx.params["save_model"]:
            model.save(estimator, scaling, outputs.stage(ctx.params["save_model"]))
        if ctx.params["plot"]:
            colour = colouring(ctx.params["color"], table.beside["--color"]) if table.beside else {}
            with told():
                draw(
                    ctx.params["plot"], outputs, estimator if _drawable(estimator) else Y, **colour
                )
        report = _report(ctx, estimator, X, Y) if ctx.params["report"] else None
        outputs.commit()
    if report is not None:
        show(report, stderr=is_stream(target))
    what = f"{type(estimator).__name__} of {len(X)} row{'s' if len(X) != 1 else ''}"
    note(f"{called(target)}: {what} × {X.shape[1]} columns in {seconds:.2f} s", quiet=quiet)


def _check_targets(ctx: click.Context) -> None:
    """Refuse what cannot be written before anything is read."""
    targets = {"--output": ctx.params["output"], "--save-model": ctx.params["save_model"],
               "--plot": ctx.params["plot"]}  # fmt: skip
    named = {option: one for option, one in targets.items() if one not in (None, "-")}
    files = {option: os.path.realpath(one) for option, one in named.items() if not is_stream(one)}
    for option, one in files.items():
        if list(files.values()).count(one) > 1:
            raise Misuse(f"two outputs have the name {named[option]}; give each its own")
    for option, one in targets.items():
        if one == "-" and option != "--output":
            raise Failure(f"{option}: only the coordinates can go to standard output")
        # Only coordinates are written to a device as they come.
        if one is not None and not (option == "--output" and is_stream(one)):
            check_target(one, ctx.params["source"])
    if ctx.params["color"] is not None and ctx.params["plot"] is None:
        raise Misuse("--color is of the picture: say --plot too")
    if ctx.params["plot"] is not None:
        check_picture(ctx.params["plot"], page=True)


def _drawable(estimator: Any) -> bool:
    return "embedding_" in vars(estimator)


def _write(target: str, kind: str, outputs: Outputs, table: Table, estimator: Any, Y: Any) -> None:
    names = coordinate_names(estimator)
    with table_writer(target, kind, outputs, names, list(table.carried)) as writer:
        columns = dict(table.carried)
        columns.update({name: Y[:, at] for at, name in enumerate(names)})
        writer.write(columns)


def coordinate_names(estimator: Any) -> list[str]:
    """Return what the coordinates are called: isomap0, isomap1, …."""
    return [str(name) for name in estimator.get_feature_names_out()]


def _report(ctx: click.Context, estimator: Any, X: Any, Y: Any) -> str:
    import planish

    metric: Literal["precomputed", "euclidean"] = "euclidean"
    if estimator._precomputed():
        metric = "precomputed"
    with told():
        found = planish.quality.report(
            X, Y, metric=metric, random_state=ctx.params["seed"], n_jobs=ctx.params["n_jobs"]
        )
    return str(found)


command = EmbedCommand(
    "embed", callback=run, params=_options(), help=_HELP, examples=_EXAMPLES,
    short_help="Embed the rows of a table.",
)  # fmt: skip
