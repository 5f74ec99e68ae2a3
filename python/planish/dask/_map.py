"""A fitted model mapped over the blocks of a collection."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _data
from ..exceptions import InputError
from ._blocks import (
    Blocks,
    _check_kind,
    _framed,
    _is_frame,
    _numbers,
    as_collection,
    dtype_of_frame,
)
from ._run import Run


def map_method(model: Any, local: Any, X: Any, method: str, blocks: Blocks | None) -> Any:
    """Return `getattr(model, method)` of every block of X, or of blocks that are there.

    `model` is where the workers find the estimator, `local` the estimator here, which is
    asked for the names and the number of columns.
    """
    run = Run()
    columns = blocks.columns if blocks is not None else int(X.shape[1])
    example = np.zeros((1, columns))
    made = np.asarray(getattr(local, method)(_named(example, local, method)))
    width = made.shape[1] if made.ndim == 2 else 0  # noqa: PLR2004
    if blocks is not None:
        parts = [
            run.task(_apply, method, b)(model, method, part, int(blocks.starts[b]), blocks.dtype)
            for b, part in enumerate(blocks.parts)
        ]
        names = _names(local, width, method)
        return as_collection(blocks, parts, width, blocks.dtype, names, run)
    if _is_frame(X):
        return _of_frame(model, local, X, method, width, run)
    import dask.array as da

    if X.ndim != 2 or X.numblocks[1] != 1:  # noqa: PLR2004
        raise InputError(
            f"X is split into {X.numblocks[-1]} chunks along its columns, and whole rows are "
            "needed; use X.rechunk({1: -1})"
        )
    _check_kind(X)
    dtype = np.dtype(X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])
    arrays = []
    for b, (part, size) in enumerate(zip(X.to_delayed()[:, 0], X.chunks[0], strict=True)):
        start = -1 if np.isnan(starts[b]) else int(starts[b])
        task = run.task(_apply, method, b)(model, method, part, start, dtype)
        shape = (size, width) if width else (size,)
        meta = np.empty((0,) * len(shape), dtype)
        arrays.append(da.from_delayed(task, shape=shape, dtype=dtype, meta=meta))
    return da.concatenate(arrays, axis=0) if len(arrays) > 1 else arrays[0]


def _named(example: Any, local: Any, method: str) -> Any:
    names = getattr(local, "feature_names_in_", None)
    if names is None or method == "inverse_transform":
        return example
    import pandas as pd

    return pd.DataFrame(example, columns=names)


def _names(local: Any, width: int, method: str) -> list[str]:
    if method == "inverse_transform":
        known = getattr(local, "feature_names_in_", None)
        return [f"x{column}" for column in range(width)] if known is None else list(known)
    if hasattr(local, "get_feature_names_out"):
        return [str(name) for name in local.get_feature_names_out()][:width]
    return [f"{type(local).__name__.lower()}{column}" for column in range(width)]


def _of_frame(model: Any, local: Any, X: Any, method: str, width: int, run: Run) -> Any:
    import dask.dataframe as dd

    columns, dtype = _names(local, width, method), dtype_of_frame(X)
    frames = [
        run.task(_apply_frame, method, b)(model, method, part, columns, dtype)
        for b, part in enumerate(X.to_delayed())
    ]
    empty = np.empty((0, width) if width else 0, dtype)
    meta = _framed(empty, X._meta, columns)
    return dd.from_delayed(frames, meta=meta, divisions=X.divisions, verify_meta=False)


def _apply(model: Any, method: str, block: Any, start: int, dtype: Any) -> Any:
    rows = np.ascontiguousarray(block, dtype=dtype)
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        row, column = (int(at) for at in bad[0])
        name = "NaN" if np.isnan(rows[row, column]) else "infinity (inf)"
        where = f"row {start + row}" if start >= 0 else f"row {row} of its block"
        raise InputError(
            f"X contains {name} at {where}, column {column}; remove or impute such rows first"
        )
    if len(rows) == 0:
        local = np.asarray(
            getattr(model, method)(_named(np.zeros((1, rows.shape[1])), model, method))
        )
        return local[:0].astype(dtype)
    result = np.asarray(getattr(model, method)(_named(rows, model, method)))
    return _data.as_dtype(result, np.dtype(dtype)) if result.ndim == 2 else result  # noqa: PLR2004


def _apply_frame(model: Any, method: str, frame: Any, columns: list[str], dtype: Any) -> Any:
    rows = _numbers(frame, dtype)
    return _framed(_apply(model, method, rows, -1, dtype), frame, columns)
