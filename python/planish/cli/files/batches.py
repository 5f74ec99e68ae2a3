"""Rows as they come out of a file: a few at a time, columns by name.

A column is a NumPy array or an Arrow array; CSV gives texts, so that what is carried
through stays as it was. :func:`numbers` makes the matrix that a method takes, and names the
row and the column of whatever is not a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..faults import Failure, listed

#: Texts that stand for a missing value, beside the empty one.
MISSING = ("", "NA", "N/A", "#N/A", "na", "n/a", "NaN", "nan", "NAN", "NULL", "null", "None", "-")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


@dataclass(frozen=True)
class Batch:
    """Some rows of a table; `first` is the number of the first of them, from 0."""

    first: int
    size: int
    columns: Mapping[str, Any]


class Reader(Protocol):
    """A table that is read in batches.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    columns : list of str
        The names of all columns, in order.
    features : list of str
        Those that are taken when none are chosen.
    named : bool
        Whether the names are the file's own.
    rows : int or None
        Number of rows, if the file says so.
    """

    name: str
    columns: list[str]
    features: list[str]
    named: bool
    rows: int | None

    def batches(self, wanted: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the wanted columns of at most so many rows at a time."""

    def place(self, row: int) -> str:
        """Return where a row is, in words."""

    def close(self) -> None:
        """Let go of the file."""


def numbers(
    batch: Batch, wanted: Sequence[str], reader: Reader, decimal: str | None, ways: str
) -> NDArray[Any]:
    """Return the wanted columns as a matrix; missing values are NaN.

    `ways` is what may be done about a column of texts, whose name takes the place of {}.
    """
    found: list[NDArray[Any]] = []
    texts: dict[str, tuple[int, str]] = {}
    for name in wanted:
        column = batch.columns[name]
        try:
            found.append(as_numbers(column, decimal))
        except NotANumber as problem:
            texts[name] = (problem.row, problem.text)
    if texts:
        raise Failure(_refusal(texts, batch, reader, decimal, ways))
    kinds = {values.dtype for values in found}
    kind = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
    matrix = np.empty((batch.size, len(found)), dtype=kind)
    for at, values in enumerate(found):
        matrix[:, at] = values
    return matrix


class NotANumber(Exception):  # noqa: N818
    """A row of a column holds a text."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(text)
        self.row, self.text = row, text


def as_numbers(column: Any, decimal: str | None) -> NDArray[Any]:
    """Return a column as numbers, missing ones as NaN."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "biuf":
            raise NotANumber(0, repr(column[0])) if len(column) else NotANumber(0, "")
        return column
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _from_texts(column, decimal)
    if pa.types.is_dictionary(kind):
        return as_numbers(column.cast(kind.value_type), decimal)
    if pa.types.is_float32(kind) and column.null_count == 0:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    ):
        known = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        row = int(known[0]) if len(known) else 0
        raise NotANumber(row, str(column[row].as_py()) if len(column) else str(kind))
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def _from_texts(column: Any, decimal: str | None) -> NDArray[np.float64]:
    if decimal is None:
        try:
            return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
        except pa.ArrowInvalid:
            pass
    trimmed = pc.utf8_trim_whitespace(column)
    if decimal is not None:
        trimmed = pc.replace_substring(trimmed, decimal, ".")
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING, type=trimmed.type))
    known = pc.if_else(absent, pa.scalar(None, type=trimmed.type), trimmed)
    try:
        return np.asarray(known.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        row = _first_bad(known)
        raise NotANumber(row, str(column[row].as_py())) from None


def _first_bad(column: Any) -> int:
    """Return the first row that cannot be cast, by halving."""
    start, end = 0, len(column)
    while end - start > 1:
        middle = (start + end) // 2
        try:
            column.slice(start, middle - start).cast(pa.float64())
            start = middle
        except pa.ArrowInvalid:
            end = middle
    return start


def _refusal(
    texts: dict[str, tuple[int, str]], batch: Batch, reader: Reader, decimal: str | None, ways: str
) -> str:
    name, (row, text) = next(iter(texts.items()))
    shown = text if len(text) <= 40 else text[:40] + "…"  # noqa: PLR2004
    said = (
        f"{reader.name}: {reader.place(batch.first + row)}, column {name!r}: "
        f"{shown!r} is not a number"
    )
    if decimal is None and _DECIMAL_COMMA.fullmatch(text.strip()):
        return f"{said}; if its comma is a decimal point, say --decimal ,"
    others = [other for other in texts if other != name]
    also = f" (the same in {listed(map(repr, others), 6)})" if others else ""
    return f"{said}{also}; {ways.replace('{}', quoted(name))}"


def quoted(name: str) -> str:
    """Return a name as a shell takes it."""
    import shlex

    return shlex.quote(name)


def first_where(found: NDArray[np.bool_]) -> tuple[int, int]:
    """Return row and column of the first True of a matrix."""
    row = int(np.flatnonzero(found.any(axis=1))[0])
    return row, int(np.flatnonzero(found[row])[0])


def sliced(columns: Mapping[str, Any], keep: NDArray[np.bool_]) -> dict[str, Any]:
    """Return some rows of each column."""
    mask: Callable[[Any], Any] = lambda column: (  # noqa: E731
        column[keep] if isinstance(column, np.ndarray) else column.filter(pa.array(keep))
    )
    return {name: mask(column) for name, column in columns.items()}
