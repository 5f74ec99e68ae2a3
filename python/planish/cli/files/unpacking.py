"""Compressed CSV: what is wrong with the packing is said in one sentence."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Iterator
from typing import IO

from ..faults import Failure


class Unpacked(gzip.GzipFile):
    """The bytes that a gzip file holds."""

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        super().__init__(fileobj=stream, mode="rb")
        self._path, self._packed = path, stream

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            text = str(error)
            raise Failure(
                f"{self._path}: cannot be unpacked: {text[:1].lower()}{text[1:]}"
            ) from None

    def read(self, size: int | None = -1) -> bytes:
        """Read and unpack."""
        with self._whole():
            return super().read(size)

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line."""
        with self._whole():
            return super().readline(size)  # type: ignore[arg-type, unused-ignore]

    def close(self) -> None:
        """Close the file too."""
        super().close()
        self._packed.close()
