"""Tables written in batches: identifiers and coordinates, in every format that is read.

CSV goes through the standard library, because a text is then quoted only where it must be
and a number is the shortest that reads back the same; the others through pyarrow and NumPy.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.lib import format as npy

from ..faults import Failure, Misuse
from .staging import Outputs, is_stream, open_stream

#: Room for the header of an NPY file whose number of rows is not known yet.
_HEADER = 128
#: Rows of CSV that are made into text at once.
_AT_ONCE = 1 << 14


class Writer(Protocol):
    """Takes columns by name, a batch at a time, the same names each time."""

    def write(self, columns: Mapping[str, Any]) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write what is due at the end."""

    def release(self) -> None:
        """Let go of everything, also where writing failed."""


def check_columns(
    target: str, kind: str, coordinates: Sequence[str], carried: Sequence[str]
) -> None:
    """Refuse columns that a file cannot have, before anything is computed."""
    if kind == "npy" and carried:
        raise Misuse(
            f"{target}: an NPY file holds numbers only, no column {carried[0]!r} beside them; "
            "write .npz, .parquet or .csv"
        )
    if kind in ("csv", "tsv") and target.lower().endswith(".gz"):
        raise Misuse(f"{target}: compressed CSV is read, but not written")
    double = next((name for name in coordinates if name in carried), None)
    if double is not None:
        raise Failure(f"{target}: there would be two columns {double!r}; leave one out of --id")


@contextlib.contextmanager
def table_writer(
    target: str, kind: str, outputs: Outputs, coordinates: Sequence[str], carried: Sequence[str]
) -> Iterator[Writer]:
    """Open a table to be written; a file is put in place when `outputs` are committed."""
    check_columns(target, kind, coordinates, carried)
    streamed = is_stream(target)
    staged = None if streamed else outputs.stage(target)
    sink = open_stream(target) if staged is None else _new(target, staged)
    writer: Writer | None = None
    try:
        writer = _opened(sink, kind, streamed, target, coordinates)
        yield writer
        writer.close()
        sink.flush()
        if target != "-":
            sink.close()
    except BrokenPipeError:
        raise
    except OSError as error:
        shown = "standard output" if target == "-" else target
        raise Failure(f"{shown}: cannot be written: {_reason(error)}") from None
    finally:
        with contextlib.suppress(OSError):
            if writer is not None:
                writer.release()
            if target != "-":
                sink.close()


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else " ".join(str(error).split())


def _new(target: str, staged: Any) -> IO[bytes]:
    try:
        return open(staged, "wb")
    except OSError as error:
        raise Failure(f"{target}: cannot be written: {error.strerror}") from None


def _opened(
    sink: IO[bytes], kind: str, streamed: bool, target: str, coordinates: Sequence[str]
) -> Writer:
    if kind in ("csv", "tsv"):
        return _Delimited(sink, "\t" if kind == "tsv" else ",")
    if kind == "npy":
        return _Npy(sink, coordinates, direct=not streamed)
    if kind == "npz":
        return _Npz(sink, coordinates)
    return _Arrow(sink, kind, target, streamed)


class _Delimited:
    def __init__(self, sink: IO[bytes], delimiter: str) -> None:
        self._sink, self._delimiter = sink, delimiter
        self._begun = False

    def write(self, columns: Mapping[str, Any]) -> None:
        rows = len(next(iter(columns.values())))
        for start in range(0, rows, _AT_ONCE):
            text = io.StringIO(newline="")
            lines = csv.writer(text, delimiter=self._delimiter, lineterminator="\n")
            if not self._begun:
                lines.writerow(columns)
                self._begun = True
            parts = (_texts(column[start : start + _AT_ONCE]) for column in columns.values())
            lines.writerows(zip(*parts, strict=True))
            self._sink.write(text.getvalue().encode())

    def close(self) -> None:
        pass

    def release(self) -> None:
        pass


def _texts(column: Any) -> list[Any]:
    """Return the entries as CSV has them; the shortest text of a number, none for a missing one."""
    if isinstance(column, np.ndarray):
        if column.dtype == np.float32:
            return [str(value) for value in column]
        return column.tolist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


class _Arrow:
    """Parquet and Arrow; on a stream Arrow is the stream format."""

    def __init__(self, sink: IO[bytes], kind: str, target: str, streamed: bool) -> None:
        self._sink, self._kind, self._target, self._streamed = sink, kind, target, streamed
        self._writer: Any = None
        self._types: dict[str, Any] = {}
        self._rows = 0

    def write(self, columns: Mapping[str, Any]) -> None:
        if self._writer is None:
            self._types = {name: _type_of(column) for name, column in columns.items()}
            schema = pa.schema(list(self._types.items()))
            self._writer = self._begun(schema)
        arrays = [self._cast(name, column) for name, column in columns.items()]
        table = pa.Table.from_arrays(arrays, schema=pa.schema(list(self._types.items())))
        self._rows += table.num_rows
        self._writer.write_table(table)

    def _begun(self, schema: Any) -> Any:
        sink = pa.PythonFile(self._sink, mode="w")
        if self._kind == "parquet":
            import pyarrow.parquet as pq

            return pq.ParquetWriter(sink, schema)
        if self._streamed or self._target.lower().endswith(".arrows"):
            return pa.ipc.new_stream(sink, schema)
        return pa.ipc.new_file(sink, schema)

    def _cast(self, name: str, column: Any) -> Any:
        array = pa.array(column) if isinstance(column, np.ndarray) else column
        kind = self._types[name]
        if array.type == kind:
            return array
        try:
            return array.cast(kind)
        except pa.ArrowInvalid:
            raise Failure(
                f"column {name!r}: the first rows hold whole numbers, a row from {self._rows} on "
                f"does not, and {self._kind} has one type for a column; write CSV instead"
            ) from None

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def release(self) -> None:
        self._writer = None


def _type_of(column: Any) -> Any:
    """Return the type to write: whole numbers that CSV had as texts become numbers again."""
    array = pa.array(column) if isinstance(column, np.ndarray) else column
    if not pa.types.is_string(array.type) or array.null_count or not len(array):
        return array.type
    try:
        whole = array.cast(pa.int64())
    except pa.ArrowInvalid:
        return array.type
    # Leading zeros and signs would be lost.
    return pa.int64() if whole.cast(pa.string()).equals(array) else array.type


class _Npy:
    """One matrix; its header is written last, when the number of rows is known."""

    def __init__(self, sink: IO[bytes], coordinates: Sequence[str], direct: bool) -> None:
        self._sink, self._names = sink, list(coordinates)
        self._rows = 0
        self._dtype: Any = np.dtype(np.float64)
        self._file: Any = sink if direct else tempfile.TemporaryFile()  # noqa: SIM115
        self._file.write(b"\0" * _HEADER)

    def write(self, columns: Mapping[str, Any]) -> None:
        block = np.column_stack([columns[name] for name in self._names])
        self._dtype = block.dtype
        self._rows += len(block)
        self._file.write(np.ascontiguousarray(block).data)

    def close(self) -> None:
        text = {
            "descr": npy.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._rows, len(self._names)),
        }
        header = repr(text).encode("latin1")
        begin = b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little")
        self._file.seek(0)
        self._file.write(begin + header.ljust(_HEADER - 11) + b"\n")
        if self._file is not self._sink:
            self._file.seek(0)
            shutil.copyfileobj(self._file, self._sink)

    def release(self) -> None:
        if self._file is not self._sink:
            self._file.close()


class _Npz:
    """The matrix as "embedding", and an array for each column that is carried along."""

    def __init__(self, sink: IO[bytes], coordinates: Sequence[str]) -> None:
        self._sink, self._names = sink, list(coordinates)
        self._kept = tempfile.TemporaryFile()  # noqa: SIM115
        self._matrix = _Npy(self._kept, coordinates, direct=True)
        self._beside: dict[str, list[Any]] = {}

    def write(self, columns: Mapping[str, Any]) -> None:
        self._matrix.write(columns)
        for name, column in columns.items():
            if name not in self._names:
                self._beside.setdefault(name, []).append(_plain(column))

    def close(self) -> None:
        self._matrix.close()
        self._kept.seek(0)
        with zipfile.ZipFile(self._sink, "w", allowZip64=True) as archive:
            with archive.open("embedding.npy", "w", force_zip64=True) as entry:
                shutil.copyfileobj(self._kept, entry)
            for name, parts in self._beside.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    npy.write_array(entry, np.concatenate(parts), allow_pickle=False)

    def release(self) -> None:
        self._kept.close()


def _plain(column: Any) -> Any:
    """Return a column as an array without Python objects."""
    if isinstance(column, np.ndarray):
        return column
    kind = _type_of(column)
    if kind == pa.int64():
        column = column.cast(kind)
    found = column.to_numpy(zero_copy_only=False)
    if found.dtype == object:
        found = np.array(["" if one is None else str(one) for one in column.to_pylist()])
    return found
