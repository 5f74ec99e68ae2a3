"""CSV and TSV, read in batches as texts.

pyarrow splits the lines; numbers are made of the texts where they are wanted
(`batches.numbers`), so that identifiers are carried through as they stand in the file,
leading zeros included, and a text in a column of numbers is known by its row.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from ..faults import Failure
from .batches import MISSING, Batch

if TYPE_CHECKING:
    from . import Layout

#: Bytes that are parsed at once, and most bytes of a line.
_BLOCK, _LONGEST = 4 << 20, 64 << 20
#: What pyarrow says of a ragged row. Its handler of such rows does not get one that is no UTF-8.
_RAGGED = re.compile(
    r"CSV parse error: Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL
)
_OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'"}


class DelimitedReader:
    """One CSV file, or standard input."""

    def __init__(self, name: str, stream: IO[bytes], kind: str, layout: Layout) -> None:
        self.name = name
        self.rows: int | None = None
        self._stream = stream
        self._delimiter = _delimiter(kind, layout.delimiter)
        first, self._begin = self._first_line()
        self.named = layout.header if layout.header is not None else not _all_numbers(first)
        self._blank = 0 if self.named else 1
        if self.named:
            self.columns = self._checked(first)
            self._begin = b""
        else:
            self.columns = [f"x{at}" for at in range(len(first))]
        self.features = self.columns
        self.assumed_no_header = layout.header is None and not self.named

    def _first_line(self) -> tuple[list[str], bytes]:
        """Read the first record; return its fields and its bytes."""
        taken: list[bytes] = []

        def lines() -> Iterator[str]:
            while line := self._stream.readline(_BLOCK):
                if not taken:
                    line = line.removeprefix(codecs.BOM_UTF8)
                taken.append(line)
                yield self._decoded(line)

        try:
            record = next(
                (one for one in csv.reader(lines(), delimiter=self._delimiter) if one), None
            )
        except csv.Error as error:
            text = str(error)
            if "new-line character" in text:
                text = "its lines end with CR alone; convert them, for example with tr '\\r' '\\n'"
            raise Failure(f"{self.name}: the first line is not CSV: {text}") from None
        if record is None:
            raise Failure(f"{self.name}: the file is empty")
        return record, b"".join(taken)

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            utf16 = line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            raise Failure(
                f"{self.name}: the first line is not UTF-8 (byte {line[error.start]:#04x}); "
                f"convert the file first, for example with iconv -f "
                f"{'utf-16' if utf16 else 'latin1'} -t utf-8"
            ) from None

    def _checked(self, names: list[str]) -> list[str]:
        names = [name.strip() for name in names]
        if len(names) == 1:
            for other, called in _OTHER_DELIMITERS.items():
                if other != self._delimiter and other in names[0]:
                    raise Failure(
                        f"{self.name}: there is one column, {names[0]!r}; if columns are "
                        f"separated by {called}, say --delimiter {called}"
                    )
        for at, name in enumerate(names):
            if not name:
                names[at] = f"column{at}"
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise Failure(f"{self.name}: two columns have the name {double!r}; rename one of them")
        return names

    def batches(self, wanted: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the wanted columns, as texts."""
        first = 0
        for block in self._blocks(wanted):
            for start in range(0, block.num_rows, size):
                part = block.slice(start, size)
                columns = dict(zip(part.schema.names, part.columns, strict=True))
                yield Batch(first, part.num_rows, columns)
                first += part.num_rows

    def _blocks(self, wanted: Sequence[str]) -> Iterator[Any]:
        seen = 0
        for block in self._records():
            try:
                table = arrow_csv.read_csv(
                    pa.BufferReader(block),
                    read_options=arrow_csv.ReadOptions(
                        column_names=self.columns, block_size=len(block) + 1, use_threads=False
                    ),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self._delimiter, newlines_in_values=True
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(self.columns, pa.string()),
                        include_columns=list(wanted),
                        strings_can_be_null=False,
                    ),
                )
            except pa.ArrowInvalid as error:
                raise Failure(self._explained(error, seen)) from None
            if table.num_rows:
                seen += table.num_rows
                yield from table.combine_chunks().to_batches()
        if seen == 0:
            raise Failure(f"{self.name}: there are names of columns, but no rows")

    def _records(self) -> Iterator[bytes]:
        """Yield bytes that end where a record ends; a line break in quotes is no end.

        Blocks are cut here and not by pyarrow, which would read ahead in a thread that an
        interruption leaves behind.
        """
        kept = self._begin
        while part := self._stream.read(_BLOCK):
            kept += part
            end = _last_end(kept)
            if end:
                yield kept[:end]
                kept = kept[end:]
            elif len(kept) > _LONGEST:
                raise Failure(
                    f"{self.name}: a line is longer than {_LONGEST >> 20} MB, or a quote is not "
                    "closed"
                )
        if kept.strip():
            yield kept

    def _explained(self, error: Exception, seen: int) -> str:
        text = str(error)
        ragged = _RAGGED.match(text)
        if ragged:
            row, expected, actual = (int(number) for number in ragged.groups()[:3])
            return (
                f"{self.name}: {self.place(seen + row - 1)} has {actual} "
                f"value{'' if actual == 1 else 's'}, not {expected} as the "
                f"{'header' if self.named else 'first row'}: {ragged[4].strip()[:60]!r}"
            )
        if "UTF8" in text or "UTF-8" in text:
            return f"{self.name}: a text after row {seen} is not UTF-8; convert the file first"
        return f"{self.name}: cannot be read as CSV: {text.splitlines()[0]}"

    def place(self, row: int) -> str:
        """Return the number of a row, and of its line where the file can be read again."""
        try:
            self._stream.seek(0)
        except (OSError, io.UnsupportedOperation):
            return f"row {row}"
        lines = io.TextIOWrapper(self._stream, encoding="utf-8-sig", errors="replace", newline="")
        reader = csv.reader(lines, delimiter=self._delimiter)
        number = -1 if self.named else 0
        line = None
        try:
            before = 0
            for record in reader:
                if record:
                    if number == row:
                        line = before + 1
                        break
                    number += 1
                before = reader.line_num
        except csv.Error:
            pass
        lines.detach()
        return f"row {row}" if line is None else f"row {row} (line {line})"

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _last_end(data: bytes) -> int:
    """Return where the last whole record ends, or 0: at a line break after closed quotes."""
    last = data.rfind(b"\n") + 1
    quotes = data.count(b'"', 0, last)
    while last and quotes % 2:
        before = data.rfind(b"\n", 0, last - 1) + 1
        quotes -= data.count(b'"', before, last)
        last = before
    return last


def _delimiter(kind: str, given: str | None) -> str:
    return given or ("\t" if kind == "tsv" else ",")


def _all_numbers(fields: Sequence[str]) -> bool:
    """Whether a first line holds numbers, and so is no header."""
    known = [field.strip() for field in fields if field.strip() not in MISSING]
    return bool(known) and all(map(_is_number, known))


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
