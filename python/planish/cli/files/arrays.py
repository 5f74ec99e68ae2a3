"""NPY and NPZ files, read in batches without taking the array into memory.

The columns of a matrix have no names: they are ``x0``, ``x1``, …. In an NPZ file the other
arrays with one entry a row are columns too, by their names, to be carried along. Nothing in
a file is executed: arrays of Python objects are refused.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..faults import Failure, did_you_mean, listed
from .batches import Batch

_TABLE = 2


class _Stored:
    """An array in a stream: its shape and type, and its rows one block after the other."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        self.name, self._stream = name, stream
        try:
            version = npy.read_magic(stream)
            read: Any = (
                npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            )
            self.shape, self.fortran, self.dtype = read(stream)
        except OSError:
            raise
        except Exception as error:  # a header is parsed as Python's literals are
            raise Failure(f"{name}: this is no NPY file: {' '.join(str(error).split())}") from None
        if self.dtype.hasobject:
            raise Failure(f"{name}: it holds Python objects, which are not read: save numbers")

    def blocks(self, size: int) -> Iterator[NDArray[Any]]:
        """Yield at most so many rows at a time."""
        if self.fortran and len(self.shape) > 1:
            whole = self._read(tuple(reversed(self.shape))).T
            for start in range(0, self.shape[0], size):
                yield whole[start : start + size]
            return
        for start in range(0, self.shape[0], size):
            yield self._read((min(size, self.shape[0] - start), *self.shape[1:]))

    def _read(self, shape: tuple[int, ...]) -> NDArray[Any]:
        wanted = self.dtype.itemsize * int(np.prod(shape, dtype=object))
        data = bytearray()
        while len(data) < wanted:  # what is declared is not taken before it is there
            part = self._part(min(wanted - len(data), 1 << 24))
            if not part:
                raise Failure(f"{self.name}: the file ends before the array does")
            data += part
        return np.frombuffer(data, dtype=self.dtype).reshape(shape)

    def _part(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except OSError:
            raise
        except Exception as error:  # of any of the ways to pack
            raise Failure(f"{self.name}: the file is damaged: {error}") from None


class NpyReader:
    """One matrix in an NPY file."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        self.name, self._stream = name, stream
        self._stored = _checked(_Stored(name, stream))
        self.rows: int | None = self._stored.shape[0]
        self.named = False
        self.columns = [f"x{at}" for at in range(_width(self._stored))]
        self.features = self.columns

    def batches(self, wanted: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the wanted columns as NumPy arrays."""
        first = 0
        for block in self._stored.blocks(size):
            yield Batch(first, len(block), _columns(block, self.columns))
            first += len(block)

    def place(self, row: int) -> str:
        """Return the number of a row."""
        return f"row {row}"

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class NpzReader:
    """One matrix of an NPZ file, and the columns beside it."""

    def __init__(self, name: str, stream: IO[bytes], array: str | None) -> None:
        self.name, self._stream, self.named = name, stream, False
        try:
            self._archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise Failure(f"{name}: this is no NPZ file: {error}") from None
        stored = {
            entry.removesuffix(".npy"): self._open(entry)
            for entry in self._archive.namelist()
            if entry.endswith(".npy")
        }
        self._array = _chosen(name, stored, array)
        matrix = _checked(stored[self._array])
        self.rows: int | None = matrix.shape[0]
        self.features = [f"x{at}" for at in range(_width(matrix))]
        self._beside = [
            key
            for key, one in stored.items()
            if key != self._array and one.shape == (self.rows,) and not one.dtype.hasobject
        ]
        self.columns = [*self.features, *self._beside]

    def _open(self, entry: str) -> _Stored:
        try:
            return _Stored(
                f"{self.name}[{entry.removesuffix('.npy')!r}]", self._archive.open(entry)
            )
        except (zipfile.BadZipFile, OSError, ValueError, RuntimeError) as error:
            raise Failure(f"{self.name}: {entry} cannot be read: {error}") from None

    def batches(self, wanted: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield the wanted columns as NumPy arrays."""
        beside = [key for key in self._beside if key in wanted]
        sources = [self._open(f"{key}.npy").blocks(size) for key in [self._array, *beside]]
        first = 0
        try:
            for block, *others in zip(*sources, strict=True):
                columns = _columns(block, self.features)
                columns |= dict(zip(beside, others, strict=True))
                yield Batch(first, len(block), columns)
                first += len(block)
        except zipfile.BadZipFile as error:
            raise Failure(f"{self.name}: the file is damaged: {error}") from None

    def place(self, row: int) -> str:
        """Return the number of a row."""
        return f"row {row}"

    def close(self) -> None:
        """Close the file."""
        self._archive.close()
        self._stream.close()


def _checked(stored: _Stored) -> _Stored:
    if len(stored.shape) not in (1, _TABLE):
        raise Failure(
            f"{stored.name}: the array has {len(stored.shape)} axes; give a matrix of one row a "
            "sample"
        )
    if stored.dtype.kind not in "biuf":
        raise Failure(f"{stored.name}: it holds {stored.dtype}, not real numbers")
    if 0 in stored.shape:
        raise Failure(f"{stored.name}: the array is empty, of shape {stored.shape}")
    return stored


def _chosen(name: str, stored: dict[str, _Stored], array: str | None) -> str:
    if array is not None:
        if array not in stored:
            near = did_you_mean(array, stored)
            raise Failure(
                f"{name}: there is no array {array!r}{near or ';'} It has {listed(stored)}"
            )
        return array
    tables = [key for key, one in stored.items() if len(one.shape) == _TABLE]
    if "X" in tables:
        return "X"
    if len(tables) != 1:
        said = f"the matrices {listed(tables)}: choose one with --array" if tables else "no matrix"
        raise Failure(f"{name}: the file has {said}")
    return tables[0]


def _width(stored: _Stored) -> int:
    return 1 if len(stored.shape) == 1 else int(stored.shape[1])


def _columns(block: NDArray[Any], names: Sequence[str]) -> dict[str, Any]:
    table = block.reshape(len(block), -1)
    return {name: table[:, at] for at, name in enumerate(names)}


def load_array(path: str) -> NDArray[Any]:
    """Return one array of an NPY file, for a parameter that takes an array."""
    with open(path, "rb") as stream:
        stored = _Stored(path, io.BufferedReader(stream))
        return np.concatenate([*stored.blocks(1 << 16)])
