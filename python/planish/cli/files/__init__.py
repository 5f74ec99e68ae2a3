"""Tables in files: which format, how they are read in batches, how they are written.

`delimited` reads CSV, `arrow` reads Parquet and Arrow, `arrays` reads NPY and NPZ; each
gives a :class:`Reader`. `writing` writes all of them, `staging` sees to it that a file is
there as a whole or not at all. pyarrow does the parsing: it reads every format in batches,
in C++, with the number of the row that is wrong.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..faults import Failure, Misuse, did_you_mean
from .batches import Reader
from .standard_input import standard_input

#: Format -> the endings of its files.
ENDINGS = {
    "csv": (".csv", ".txt", ".csv.gz"),
    "tsv": (".tsv", ".tab", ".tsv.gz"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "npy": (".npy",),
    "npz": (".npz",),
}
FORMATS = tuple(ENDINGS)
#: What a file begins with, to know the format of standard input.
_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow", b"\xff\xff\xff\xff": "arrow",
          b"\x93NUM": "npy", b"PK\x03\x04": "npz"}  # fmt: skip
_IN_MEMORY = 1 << 24


@dataclass(frozen=True)
class Layout:
    """What cannot be seen from the name of a file.

    Attributes
    ----------
    format : str or None
        One of `FORMATS`; None goes by the ending.
    delimiter, decimal : str or None
        Of CSV.
    header : bool or None
        Whether the first line of CSV has names; None looks.
    array : str or None
        Which array of NPZ.
    """

    format: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    array: str | None = None


def format_of(path: str, given: str | None, option: str | None = None) -> str:
    """Return the format of a file as given by an option, if there is one, or by its ending."""
    if given is not None:
        return given
    name = Path(path).name.lower()
    for known, endings in ENDINGS.items():
        if name.endswith(endings):
            return known
    ending = Path(name).suffix
    known_endings = [one for endings in ENDINGS.values() for one in endings]
    what = f"the ending {ending!r}" if ending else "a name without an ending"
    near = did_you_mean(ending, known_endings) or ";"
    first = ", ".join(one[0] for one in ENDINGS.values())
    or_say = f", or say which with {option}" if option else ""
    raise Misuse(f"{path}: {what} names no format{near} use {first}{or_say}")


def open_table(path: str, layout: Layout) -> Reader:
    """Open a file, or standard input for "-", to be read in batches."""
    stream: IO[bytes]
    if path == "-":
        stream, kind = _standard_input(layout.format)
        name = "standard input"
    else:
        kind = format_of(path, layout.format, "--from")
        stream, name = _opened(path), path
    try:
        return _reader(name, stream, kind, layout)
    except BaseException:
        if path != "-":
            stream.close()
        raise


def _reader(name: str, stream: IO[bytes], kind: str, layout: Layout) -> Reader:
    if kind in ("csv", "tsv"):
        from .delimited import DelimitedReader

        return DelimitedReader(name, stream, kind, layout)
    from .arrays import NpyReader, NpzReader
    from .arrow import open_arrow, open_parquet

    if kind == "npy":
        return NpyReader(name, stream)
    if kind == "npz":
        return NpzReader(name, stream, layout.array)
    return open_parquet(name, stream) if kind == "parquet" else open_arrow(name, stream)


def _opened(path: str) -> IO[bytes]:
    try:
        stream: Any = open(path, "rb")  # noqa: SIM115 (the reader closes it)
    except FileNotFoundError:
        raise Failure(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise Failure(f"{path}: this is a folder, not a file") from None
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from None
    if os.fstat(stream.fileno()).st_size == 0 and Path(path).is_file():
        stream.close()
        raise Failure(f"{path}: the file is empty")
    if path.lower().endswith(".gz"):
        from .unpacking import Unpacked

        return Unpacked(path, stream)  # type: ignore[return-value]
    return stream  # type: ignore[no-any-return]


def _standard_input(given: str | None) -> tuple[IO[bytes], str]:
    """Return standard input and its format; what must be read twice is kept in a file."""
    if sys.stdin is None:
        raise Failure("standard input is closed")
    stream = standard_input()
    if sys.stdin.isatty():
        print("planish: reading from the terminal; end with Ctrl-D", file=sys.stderr)
    begin = stream.peek(4)[:4]
    if not begin:
        raise Failure("standard input: there is nothing in it")
    kind = given or _MAGIC.get(begin, "csv")
    if kind in ("csv", "tsv", "npy"):
        return stream, kind
    kept: Any = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
    shutil.copyfileobj(stream, kept)
    kept.seek(0)
    return kept, kind
