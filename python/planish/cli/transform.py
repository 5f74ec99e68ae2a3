"""``planish transform``: new rows placed by a saved model, a batch at a time."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click
import numpy as np

from . import model
from .columns import Choice, choose, fitting, matching
from .embed import coordinate_names
from .faults import Failure, Misuse
from .files import FORMATS, format_of
from .files.batches import Reader
from .files.staging import Outputs, called, check_target, is_stream
from .files.writing import table_writer
from .inputs import carried_option, open_source, read, table_argument, table_options
from .running import running_options
from .scaling import Scaling
from .screen import Bar, Command, Option, note, told, warn

_HELP = """Place new rows with a model that planish embed --save-model (or save) wrote.

Rows are read, placed and written a batch at a time, so that the table may be larger than
memory. Columns are found by the names the model was fitted with, where there are names, and
scaled as they were then. The output is what planish embed writes.
"""
_EXAMPLES = (
    ("planish embed data.csv -o map.csv --save-model map.planish", "a map that can be extended"),
    ("planish transform map.planish new.csv -o placed.csv --id name", "place new rows in it"),
    (
        "planish transform map.planish big.parquet -o placed.parquet",
        "a table that is larger than memory",
    ),
    ("cat new.csv | planish transform map.planish - -o - | head", "in a pipe"),
)
#: Numbers of distances to training rows that one batch may take.
_DISTANCES = 1 << 24
_FEWEST, _MOST = 256, 16384


def _options() -> list[click.Parameter]:
    written = "Output"
    return [
        click.Argument(["model"], metavar="MODEL"),
        table_argument(),
        *table_options(carried=True),
        carried_option(),
        Option(["--output", "-o"], required=True, metavar="OUT", title=written,
               help='Where to write the coordinates; "-" is standard output.'),
        Option(["--to", "target_format"], type=click.Choice(FORMATS), title=written,
               help='Format of OUT, if its ending does not tell; of "-" it is csv without this.'),
        *running_options(seed=False),
        Option(["--batch-size"], type=click.IntRange(1), default=None, title="Running",
               help="Rows that are read and placed at once; chosen without it. It changes memory "
                    "and time, not the result."),
    ]  # fmt: skip


def run(**_: Any) -> None:
    """Place the rows of a table."""
    ctx = click.get_current_context()
    target, quiet = ctx.params["output"], ctx.params["quiet"]
    kind = ctx.params["target_format"]
    kind = kind or ("csv" if target == "-" else format_of(target, None, "--to"))
    if not is_stream(target):
        check_target(target, ctx.params["source"])
    estimator, scaling = model.load(ctx.params["model"])
    estimator.set_params(n_jobs=ctx.params["n_jobs"], verbose=0)
    with closing(open_source(ctx)) as reader:
        done, dropped = _all_placed(ctx, reader, kind, estimator, scaling)
    if dropped:
        rows = f"{dropped} of {done + dropped} rows"
        warn(f"{reader.name}: {rows} have missing values and were left out")
    note(f"{called(target)}: {done} rows placed by {type(estimator).__name__}", quiet=quiet)


def _all_placed(
    ctx: click.Context, reader: Reader, kind: str, estimator: Any, scaling: Scaling | None
) -> tuple[int, int]:
    """Read, place and write a batch at a time; return how many rows were placed and dropped."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        names = [str(name) for name in names]
        del estimator.feature_names_in_  # columns are found here
    choice = _columns(ctx, reader, names, int(estimator.n_features_in_))
    size = ctx.params["batch_size"] or _batch_size(estimator)
    coordinates = coordinate_names(estimator)
    done = dropped = 0
    with Outputs() as outputs:
        with (
            table_writer(
                ctx.params["output"], kind, outputs, coordinates, choice.carried
            ) as writer,
            Bar(f"{type(estimator).__name__}.transform", reader.rows, ctx.params["quiet"]) as bar,
            told(),
        ):
            for part in read(reader, choice, ctx, rows=size):
                if len(part.X):
                    X = part.X if scaling is None else scaling.applied(part.X)
                    Y = _placed(estimator, X, done + dropped)
                    writer.write({**part.carried, **dict(zip(coordinates, Y.T, strict=True))})
                done += len(part.X)
                dropped += part.dropped
                bar.advance(len(part.X) + part.dropped)
            if not done:
                raise Failure(f"{reader.name}: every row has a missing value, so none is left")
        outputs.commit()
    return done, dropped


def _columns(ctx: click.Context, reader: Reader, names: list[str] | None, width: int) -> Choice:
    chosen = bool(ctx.params["columns"])
    if names and reader.named and not chosen:
        out = matching(reader, ctx.params["exclude"], "--exclude")
        taken = next((name for name in out if name in names), None)
        if taken is not None:
            raise Misuse(f"--exclude: the model takes the column {taken!r}, it was fitted on it")
        carried = matching(reader, ctx.params["carried"], "--id")
        return Choice(fitting(reader, names, width, Choice([], []), chosen), carried)
    choice = choose(reader, ctx.params["columns"], ctx.params["exclude"], ctx.params["carried"])
    return Choice(fitting(reader, names, width, choice, chosen), choice.carried)


def _batch_size(estimator: Any) -> int:
    """Return a number of rows whose distances to the training rows take little memory."""
    placed = getattr(estimator, "embedding_", None)
    training = 1 if placed is None else len(placed)
    return max(_FEWEST, min(_MOST, _DISTANCES // max(1, training)))


def _placed(estimator: Any, X: Any, first: int) -> Any:
    try:
        return np.asarray(estimator.transform(X))
    except Exception as error:
        if first and "row" in str(error):
            # The library counts within the batch.
            error.args = (f"{error} (counted from row {first} of the table)", *error.args[1:])
        raise


command = Command(
    "transform", callback=run, params=_options(), help=_HELP, examples=_EXAMPLES,
    short_help="Place new rows with a saved model.",
)  # fmt: skip
