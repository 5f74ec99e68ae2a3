"""The options of every command that reads a table, and the rows they give.

Missing values are refused, with row and column, or their rows are left out; infinite ones
are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from .columns import Choice, choose, matching
from .faults import Failure, Misuse
from .files import FORMATS, Layout, open_table
from .files.batches import Reader, first_where, numbers, sliced
from .screen import Bar, Option, warn

TITLE = "Input"
#: Numbers that are read at once.
_BLOCK = 1 << 21
_MOST_ROWS = 1 << 16
#: Whole numbers with no more values than this are classes in pictures.
_CLASSES = 20


def table_argument(name: str = "source", metavar: str = "IN") -> click.Argument:
    """Return the argument that names the table."""
    return click.Argument([name], metavar=metavar)


def table_options(
    *, missing: Sequence[str] = ("error", "drop"), carried: bool = False
) -> list[Option]:
    """Return the options that say what is read, for a command with `carried_option` or without."""
    others = "--id and --exclude" if carried else "--exclude"
    several = "Repeat it, or separate by commas"
    words = {
        "error": "refuse rows with missing values and name the first",
        "drop": "leave them out",
        "keep": "hand them to the method, which may know what to do",
    }
    meant = "; ".join(f"{word}: {words[word]}" for word in missing)
    return [
        Option(["--columns", "-c"], multiple=True, metavar="NAMES", title=TITLE,
               help=f"Columns to use: names, patterns (x*) or spans (first:last). {several}. "
                    f"Without it, all but those of {others}."),
        Option(["--exclude", "-x"], multiple=True, metavar="NAMES", title=TITLE,
               help="Columns to leave out, in the same way."),
        Option(["--missing"], type=click.Choice(list(missing)), default=missing[0], title=TITLE,
               show_default=True, help=f"Empty cells, NA and NaN. {meant}."),
        Option(["--from", "source_format"], type=click.Choice(FORMATS), title=TITLE,
               help="Format of IN, if its ending does not tell."),
        Option(["--delimiter"], metavar="CHAR", title=TITLE,
               help="What separates columns in CSV, for example ';' or tab."),
        Option(["--decimal"], metavar="CHAR", title=TITLE,
               help="Decimal point in CSV, if it is not a point."),
        Option(["--header/--no-header"], default=None, title=TITLE,
               help="Whether the first line of CSV has names; a line of numbers has none."),
        Option(["--array"], metavar="NAME", title=TITLE,
               help="Which matrix of an NPZ file; X, or the only one."),
    ]  # fmt: skip


def carried_option() -> Option:
    """Return the option for columns that are carried through."""
    return Option(
        ["--id", "carried"], multiple=True, metavar="NAMES", title=TITLE,
        help="Columns to carry along to the output as they are, and not to embed.",
    )  # fmt: skip


def open_source(ctx: click.Context) -> Reader:
    """Open the table that was named."""
    given = ctx.params
    delimiter = given["delimiter"]
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise Misuse(f"--delimiter: expected one character or tab, got {delimiter!r}")
    decimal = given["decimal"]
    if decimal is not None and len(decimal) != 1:
        raise Misuse(f"--decimal: expected one character, got {decimal!r}")
    layout = Layout(given["source_format"], delimiter, decimal, given["header"], given["array"])
    reader = open_table(given["source"], layout)
    if getattr(reader, "assumed_no_header", False):
        warn(
            f"{reader.name}: the first line holds numbers only, so it is taken as a row and "
            "columns are called x0, x1, …; say --header or --no-header to be sure"
        )
    return reader


@dataclass(frozen=True)
class Rows:
    """Rows that were read: the matrix, and columns beside it."""

    X: NDArray[Any]
    carried: dict[str, Any]
    dropped: int


def read(
    reader: Reader, choice: Choice, ctx: click.Context, *, rows: int | None = None,
    beside: Sequence[str] = (),
) -> Iterator[Rows]:  # fmt: skip
    """Yield the rows of a table a few at a time, without those that are dropped."""
    missing, decimal = ctx.params["missing"], ctx.params["decimal"]
    ways = _ways(ctx)
    size = max(1, min(rows or _MOST_ROWS, _BLOCK // max(1, len(choice.features))))
    wanted = list(dict.fromkeys([*choice.wanted, *beside]))
    along = [name for name in wanted if name in {*choice.carried, *beside}]
    for batch in reader.batches(wanted, size):
        X = numbers(batch, choice.features, reader, decimal, ways)
        carried = {name: batch.columns[name] for name in along}
        keep = None if np.isfinite(X).all() else _usable(X, batch.first, choice, reader, missing)
        if keep is None:
            yield Rows(X, carried, 0)
        else:
            yield Rows(X[keep], sliced(carried, keep), int((~keep).sum()))


def _ways(ctx: click.Context) -> str:
    """Return what may be done about a column of texts, whose name takes the place of {}."""
    if "model" in ctx.params:
        return "the model takes numbers there"
    if "carried" in ctx.params:
        return "carry the column along with --id {}, or leave it out with --exclude {}"
    return "leave the column out with --exclude {}"


def _usable(
    X: NDArray[Any], first: int, choice: Choice, reader: Reader, missing: str
) -> NDArray[np.bool_] | None:
    infinite = np.isinf(X)
    if infinite.any():
        row, column = first_where(infinite)
        raise Failure(
            f"{reader.name}: {reader.place(first + row)}, column {choice.features[column]!r}: the "
            "value is infinite"
        )
    if missing == "keep":
        return None
    absent = np.isnan(X)
    if missing == "error":
        row, column = first_where(absent)
        raise Failure(
            f"{reader.name}: {reader.place(first + row)}, column {choice.features[column]!r}: the "
            "value is missing; leave out such rows with --missing drop"
        )
    keep: NDArray[np.bool_] = ~absent.any(axis=1)
    return keep


@dataclass(frozen=True)
class Table:
    """A whole table: the matrix with the names of its columns, and columns beside it."""

    X: NDArray[Any]
    names: list[str] | None
    carried: dict[str, Any]
    beside: dict[str, Any]
    source: str


def read_whole(ctx: click.Context, *, beside: Sequence[str] = ()) -> Table:
    """Read the table that was named; `beside` are further columns by name or pattern."""
    reader = open_source(ctx)
    try:
        others = [matching(reader, [one], option)[0] for option, one in _given(beside, ctx)]
        choice = choose(
            reader,
            ctx.params["columns"],
            ctx.params["exclude"],
            ctx.params.get("carried", ()),
            others,
        )
        parts = []
        with Bar(f"reading {reader.name}", reader.rows, ctx.params["quiet"]) as bar:
            for part in read(reader, choice, ctx, beside=others):
                parts.append(part)
                bar.advance(len(part.X) + part.dropped)
    finally:
        reader.close()
    dropped = sum(part.dropped for part in parts)
    X = parts[0].X if len(parts) == 1 else np.concatenate([part.X for part in parts])
    if not len(X):
        raise Failure(f"{reader.name}: every row has a missing value, so none is left")
    if dropped:
        warn(
            f"{reader.name}: {dropped} of {dropped + len(X)} rows have missing values and were "
            "left out; rows are counted without them from here on"
        )
    columns = {
        name: joined([part.carried[name] for part in parts])
        for name in dict.fromkeys([*choice.carried, *others])
    }
    names = choice.features if reader.named else None
    return Table(
        np.ascontiguousarray(X),
        names,
        {name: columns[name] for name in choice.carried},
        {
            option: columns[name]
            for (option, _), name in zip(_given(beside, ctx), others, strict=True)
        },
        reader.name,
    )


def _given(beside: Sequence[str], ctx: click.Context) -> list[tuple[str, str]]:
    """Return the options that name a column, with the name, where they are set."""
    return [(f"--{name}", ctx.params[name]) for name in beside if ctx.params[name] is not None]


def joined(parts: Sequence[Any]) -> Any:
    """Return parts of a column as one."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(list(parts))
    import pyarrow as pa

    return pa.concat_arrays(
        [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in parts]
    )


def as_array(column: Any) -> NDArray[Any]:
    """Return a column as numbers if all of it are, else as texts; missing ones are NaN or None."""
    from .files.batches import NotANumber, as_numbers

    try:
        return as_numbers(column, None)
    except NotANumber:
        texts = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
        return np.array([None if one in (None, "") else str(one) for one in texts], dtype=object)


class Named:
    """A column with its name, for legends."""

    def __init__(self, name: str, values: NDArray[Any]) -> None:
        self.name, self.values = name, values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values."""
        return np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.values)


def colouring(name: str, column: Any) -> Mapping[str, Named]:
    """Return a column as `labels` or `values` of a picture."""
    found = as_array(column)
    if found.dtype == object:
        return {"labels": Named(name, found)}
    numbers = found.astype(np.float64)
    known = numbers[np.isfinite(numbers)]
    if bool((known == np.round(known)).all()) and len(np.unique(known)) <= _CLASSES:
        texts = [int(value) if np.isfinite(value) else None for value in numbers]
        return {"labels": Named(name, np.array(texts, dtype=object))}
    return {"values": Named(name, numbers)}
