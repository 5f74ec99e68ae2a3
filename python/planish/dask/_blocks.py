"""X in blocks of rows: what is taken, what is refused, and whether it stays the same.

A block is all columns of some consecutive rows, where a worker holds it. Blocks are
persisted, looked through once (numbers that are not finite, a fingerprint), and looked
through again after the fit: data that is read or drawn anew each time a task asks for it,
and comes out different, would make a graph of rows that never were together.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from ..exceptions import InputError
from ._run import Run, compute, persist, shared


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask collection."""
    return bool(dask.is_dask_collection(X))


@dataclass(frozen=True)
class Frame:
    """What a data frame has besides its numbers."""

    partitions: list[Any]
    divisions: tuple[Any, ...]
    columns: list[Any]
    meta: Any


@dataclass(frozen=True)
class Blocks:
    """Rows in blocks, each a task that gives an array of rows."""

    parts: list[Any]
    #: Block b holds the rows starts[b] to starts[b + 1].
    starts: np.ndarray[Any, Any]
    columns: int
    dtype: Any
    frame: Frame | None = None

    @property
    def rows(self) -> int:
        """Number of rows of all blocks."""
        return int(self.starts[-1])

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each block."""
        return [int(size) for size in np.diff(self.starts)]

    def gather(self, rows: Any, run: Run) -> Any:
        """Bring some rows here, in the order given."""
        rows = np.asarray(rows, dtype=np.int64)
        owner = np.searchsorted(self.starts, rows, side="right") - 1
        found = np.empty((len(rows), self.columns), dtype=self.dtype)
        owners = np.unique(owner)
        tasks = [
            run.task(_take, "sample", int(b))(self.parts[b], rows[owner == b] - self.starts[b])
            for b in owners
        ]
        for b, taken in zip(owners, compute(tasks), strict=True):
            found[owner == b] = taken
        return found


def blocks_of(X: Any, run: Run) -> Blocks:
    """Take a Dask array or data frame of rows, whose chunks are known and whole."""
    if _is_frame(X):
        return _of_frame(X, run)
    if isinstance(X, Delayed) or not hasattr(X, "numblocks"):
        raise InputError(
            f"X is a {type(X).__module__}.{type(X).__name__}; give a dask.array or a dask.dataframe"
        )
    if X.ndim != 2:  # noqa: PLR2004
        raise InputError(
            f"X must have 2 dimensions, rows and columns, got {X.ndim}; use X.reshape(...)"
        )
    if np.isnan(X.shape[1]) or any(np.isnan(size) for size in X.chunks[0]):
        raise InputError(
            "X has chunks of unknown size, so its rows have no numbers; call "
            "X.compute_chunk_sizes() first"
        )
    if X.numblocks[1] != 1:
        raise InputError(
            f"X is split into {X.numblocks[1]} chunks along its columns, and distances need whole "
            "rows; use X.rechunk({1: -1})"
        )
    _check_kind(X)
    parts = [row[0] for row in X.to_delayed()]
    return _known(parts, X.chunks[0], int(X.shape[1]), X.dtype, None, run)


#: Rows of a block of rows that are here.
ROWS_HERE = 20_000


def blocks_here(rows: Any) -> Blocks:
    """Give checked rows that are here to the workers, a block at a time."""
    dtype = _floats(rows.dtype)
    starts = np.append(np.arange(0, max(1, len(rows)), ROWS_HERE), len(rows))
    parts = [shared(_numbers(rows[first:last], dtype)) for first, last in pairwise(starts)]
    return Blocks(parts, starts, int(rows.shape[1]), dtype)


def _floats(dtype: Any) -> Any:
    return np.dtype(dtype if dtype in (np.float32, np.float64) else np.float64)


def _is_frame(X: Any) -> bool:
    # Of a delayed object any attribute is there.
    return not isinstance(X, Delayed) and hasattr(X, "npartitions") and hasattr(X, "divisions")


def _check_kind(X: Any) -> None:
    if np.dtype(X.dtype).kind not in "fiub":
        raise InputError(f"X holds {X.dtype}, not numbers; convert it with X.astype('float64')")
    if not _is_plain(getattr(X, "_meta", np.empty(0))):
        raise InputError(
            f"the blocks of X are {type(X._meta).__name__}, not NumPy arrays; convert them with "
            "X.map_blocks(...)"
        )


def _is_plain(block: Any) -> bool:
    return isinstance(block, np.ndarray) and not isinstance(block, np.ma.MaskedArray)


def _of_frame(X: Any, run: Run) -> Blocks:
    if getattr(X, "ndim", 2) != 2:  # noqa: PLR2004
        raise InputError("X is a series, one column; give a data frame")
    dtype = dtype_of_frame(X)
    partitions = persist(X.to_delayed())
    take = [run.task(_numbers, "rows", b)(part, dtype) for b, part in enumerate(partitions)]
    parts = persist(take)
    sizes = compute([run.task(len, "count", b)(part) for b, part in enumerate(parts)])
    columns = list(X.columns)
    frame = Frame(partitions, X.divisions, columns, X._meta)
    return _known(parts, sizes, len(columns), dtype, frame, run)


def dtype_of_frame(X: Any) -> Any:
    """Return what the numbers of a data frame are taken as."""
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "O") not in "fiub":
            raise InputError(
                f"column {name!r} of X does not hold numbers but {kind}; leave it out, or encode it"
            )
    return np.dtype(np.float32 if all(kind == np.float32 for kind in X.dtypes) else np.float64)


def _known(
    parts: list[Any], sizes: Any, columns: int, dtype: Any, frame: Frame | None, run: Run
) -> Blocks:
    sizes = [int(size) for size in sizes]
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    wanted = _floats(dtype)
    if sum(sizes) == 0 or columns == 0:
        raise InputError(f"X has {sum(sizes)} rows and {columns} columns; there is nothing to fit")
    if dtype != wanted:
        parts = [run.task(_numbers, "rows", b)(part, wanted) for b, part in enumerate(parts)]
    return Blocks(persist(parts), starts, columns, wanted, frame)


def _numbers(rows: Any, dtype: Any) -> Any:
    if not hasattr(rows, "to_numpy"):
        return np.ascontiguousarray(rows, dtype=dtype)
    # Of pandas' own types, where what is missing is no number.
    extension = any(not isinstance(kind, np.dtype) for kind in rows.dtypes)
    missing = {"na_value": np.nan} if extension else {}
    return np.ascontiguousarray(rows.to_numpy(dtype=dtype, **missing))


def _take(block: Any, rows: Any) -> Any:
    return block[rows]


# -- whether they are numbers, and the same numbers every time ---------------------------


@dataclass(frozen=True)
class Look:
    """What one look at a block finds."""

    print: bytes
    bad: tuple[int, int, float] | None
    #: What it is where it is not what X says it is.
    instead: str = ""


def looked_at(blocks: Blocks, run: Run) -> list[Look]:
    """Look at every block; refuse what is not a number, by its row."""
    looks: list[Look] = compute(_looks(blocks, "check", run))
    for b, (start, look) in enumerate(zip(blocks.starts, looks, strict=False)):
        if look.instead:
            shape = (blocks.sizes[b], blocks.columns)
            raise InputError(
                f"block {b} of X is {look.instead}, and X says that it is an array of {shape} "
                f"{blocks.dtype}; correct the chunks and the dtype that X was made with"
            )
        if look.bad is not None:
            row, column, value = look.bad
            name = "NaN" if np.isnan(value) else "infinity (inf)"
            column_name = "" if blocks.frame is None else f" ({blocks.frame.columns[column]!r})"
            raise InputError(
                f"X contains {name} at row {int(start) + row}, column {column}{column_name}; "
                "remove or impute such rows first"
            )
    return looks


def require_same(blocks: Blocks, before: list[Look]) -> None:
    """Refuse data that changed while it was being used."""
    tasks = _looks(blocks, "check-again", Run())
    for b, (old, new) in enumerate(zip(before, compute(tasks), strict=True)):
        if old.print != new.print:
            raise InputError(
                f"rows {int(blocks.starts[b])} to {int(blocks.starts[b + 1]) - 1} of X came out "
                "different when they were computed again: its tasks are not reproducible (random "
                "numbers without a seed, a file that changes); store X first, for example with "
                "X.to_zarr(...) or to_parquet(...), and load that"
            )


def _looks(blocks: Blocks, name: str, run: Run) -> list[Any]:
    return [
        run.task(_look, name, b)(part, blocks.sizes[b], blocks.columns, blocks.dtype)
        for b, part in enumerate(blocks.parts)
    ]


def _look(block: Any, rows: int, columns: int, dtype: Any) -> Look:
    if not _is_plain(block):
        return Look(b"", None, f"a {type(block).__name__}")
    if block.shape != (rows, columns) or block.dtype != dtype:
        return Look(b"", None, f"an array of {block.shape} {block.dtype}")
    bad = None
    for first in range(0, len(block), 1 << 14):
        part = block[first : first + (1 << 14)]
        if not np.isfinite(part).all():
            row, column = (int(at) for at in np.argwhere(~np.isfinite(part))[0])
            bad = (first + row, column, float(part[row, column]))
            break
    return Look(blake2b(np.ascontiguousarray(block).data, digest_size=16).digest(), bad)


# -- and back: a result with the chunks, or the index, that X has ------------------------


def as_collection(
    blocks: Blocks, parts: list[Any], width: int, dtype: Any, names: Any, run: Run
) -> Any:
    """Return arrays of coordinates, one per block, as the kind of collection X is."""
    if blocks.frame is None:
        import dask.array as da

        arrays = [
            da.from_delayed(part, shape=(size, width), dtype=dtype, meta=np.empty((0, 0), dtype))
            for part, size in zip(parts, blocks.sizes, strict=True)
        ]
        return da.concatenate(arrays, axis=0) if len(arrays) > 1 else arrays[0]
    import dask.dataframe as dd

    columns = [str(name) for name in names]
    frames = [
        run.task(_framed, "frame", b)(part, like, columns)
        for b, (part, like) in enumerate(zip(parts, blocks.frame.partitions, strict=True))
    ]
    meta = _framed(np.empty((0, width), dtype), blocks.frame.meta, columns)
    return dd.from_delayed(frames, meta=meta, divisions=blocks.frame.divisions, verify_meta=False)


def _framed(coordinates: Any, like: Any, columns: list[str]) -> Any:
    import pandas as pd

    if coordinates.ndim == 1:
        return pd.Series(coordinates, index=like.index)
    return pd.DataFrame(coordinates, index=like.index, columns=columns)
