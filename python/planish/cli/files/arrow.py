"""Parquet and Arrow (Feather) files, read in batches.

A column of lists that are all equally long, as embeddings of texts and images are kept, is
one column for each of their entries: ``vector[0]``, ``vector[1]``, ….
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ..faults import Failure
from .batches import Batch

_ENTRY = re.compile(r"(.*)\[(\d+)\]")
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


class ArrowReader:
    """Record batches from anywhere, with the columns of lists spread."""

    def __init__(
        self,
        name: str,
        schema: Any,
        rows: int | None,
        read: Callable[[list[str], int], Iterator[Any]],
        close: Callable[[], None],
    ) -> None:
        self.name, self.rows, self.named = name, rows, True
        self.close = close
        self._read = read
        self._widths: dict[str, int] = {}
        self.columns: list[str] = []
        for field in schema:
            if any(is_list(field.type) for is_list in _LISTS):
                width = self._width(field)
                self._widths[field.name] = width
                self.columns += [f"{field.name}[{at}]" for at in range(width)]
            else:
                self.columns.append(field.name)
        self.features = self.columns
        double = next((one for one in schema.names if schema.names.count(one) > 1), None)
        if double is not None:
            raise Failure(f"{name}: two columns have the name {double!r}; rename one of them")
        if rows == 0:
            raise Failure(f"{name}: there are no rows")

    def _width(self, field: Any) -> int:
        if pa.types.is_fixed_size_list(field.type):
            return int(field.type.list_size)
        first = next((b for b in self._read([field.name], 1) if b.num_rows), None)
        return 0 if first is None or first.column(0)[0].as_py() is None else len(first.column(0)[0])

    def batches(self, wanted: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the wanted columns as Arrow arrays."""
        stored = list(dict.fromkeys(self._stored(name) for name in wanted))
        first = 0
        for block in self._read(stored, size):
            for start in range(0, block.num_rows, size):
                part = block.slice(start, size)
                columns: dict[str, Any] = {}
                for name in stored:
                    column = part.column(part.schema.get_field_index(name))
                    if name in self._widths:
                        columns |= self._spread(name, column, first)
                    else:
                        columns[name] = column
                yield Batch(first, part.num_rows, columns)
                first += part.num_rows
        if first == 0:
            raise Failure(f"{self.name}: there are no rows")

    def _stored(self, name: str) -> str:
        entry = _ENTRY.fullmatch(name)
        return entry[1] if entry and entry[1] in self._widths else name

    def _spread(self, name: str, column: Any, first: int) -> dict[str, Any]:
        width = self._widths[name]
        lengths = column.value_lengths() if hasattr(column, "value_lengths") else None
        if lengths is not None:
            found = lengths.fill_null(-1).to_numpy(zero_copy_only=False)
            wrong = np.flatnonzero(found != width)
        else:
            wrong = np.flatnonzero(~column.is_valid().to_numpy(zero_copy_only=False))
        if len(wrong):
            row = int(wrong[0])
            here = column[row].as_py()
            said = "no list" if here is None else f"a list of {len(here)} values"
            raise Failure(
                f"{self.name}: {self.place(first + row)}, column {name!r}: there is {said}, "
                f"not of {width} as in the first row"
            )
        values = column.flatten()
        return {f"{name}[{at}]": values[at::width] if width else values for at in range(width)}

    def place(self, row: int) -> str:
        """Return the number of a row."""
        return f"row {row}"


def open_parquet(name: str, stream: IO[bytes]) -> ArrowReader:
    """Open a Parquet file."""
    import pyarrow.parquet as pq

    with _readable(name, "this is no Parquet file"):
        file = pq.ParquetFile(pa.PythonFile(stream, mode="r"), pre_buffer=False)
        schema, rows = _checked(file.schema_arrow), file.metadata.num_rows

    def read(columns: list[str], size: int) -> Iterator[Any]:
        with _readable(name):
            for block in file.iter_batches(batch_size=size, columns=columns, use_threads=False):
                block.validate(full=True)
                yield block

    return ArrowReader(name, schema, rows, read, stream.close)


def open_arrow(name: str, stream: IO[bytes]) -> ArrowReader:
    """Open an Arrow file (Feather) or an Arrow stream that can be read from its start again."""
    is_file = stream.read(6) == b"ARROW1"

    def opened() -> Any:
        stream.seek(0)
        source = pa.PythonFile(stream, mode="r")
        return pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)

    with _readable(name, "this is no Arrow file"):
        schema = _checked(opened().schema)

    def read(columns: list[str], _: int) -> Iterator[Any]:
        with _readable(name):
            source = opened()
            blocks = map(source.get_batch, range(source.num_record_batches)) if is_file else source
            for block in blocks:
                chosen = block.select(columns)
                # Arrow believes the lengths and the texts in a file.
                chosen.validate(full=True)
                yield chosen

    return ArrowReader(name, schema, None, read, stream.close)


def _checked(schema: Any) -> Any:
    """Return a schema whose names are texts."""
    for field in schema:
        field.name.encode()
    return schema


class _readable:  # noqa: N801
    """Say in one sentence what pyarrow finds wrong, which may be any kind of exception."""

    def __init__(self, name: str, said: str = "cannot be read") -> None:
        self.name, self.said = name, said

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, MemoryError) and not isinstance(error, pa.ArrowException):
            return
        if isinstance(error, Exception) and not isinstance(error, Failure):
            raise Failure(f"{self.name}: {self.said}: {_short(error)}") from None


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
