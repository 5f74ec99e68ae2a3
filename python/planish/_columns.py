"""Columns of data frames: which are meant, what is in them, and what cannot be used.

Every kind of frame is seen through narwhals; only columns of vectors are reached through
their own library, because their rows lie one after the other there and need no copy.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from .exceptions import InputError, ParameterError

_WILD = re.compile(r"[*?\[]")
_LISTED = 8


# -- which columns are meant ------------------------------------------------------------


def chosen(frame: nw.DataFrame[Any], columns: Any) -> list[Any]:
    """Return the names of the columns that are meant, each once."""
    if columns is None:
        return _by_default(frame)
    found = _resolved(frame, columns)
    if not found:
        raise ParameterError("parameter `columns`: no column was chosen; name at least one")
    twice = sorted({str(name) for name in found if found.count(name) > 1})
    if twice:
        raise ParameterError(f"parameter `columns`: {', '.join(twice)} is chosen more than once")
    return found


def _by_default(frame: nw.DataFrame[Any]) -> list[Any]:
    """Return every column of numbers, or, where there is none, the one column of vectors."""
    schema = frame.schema
    numeric = [name for name, dtype in schema.items() if dtype.is_numeric()]
    vectors = [name for name in schema if is_vectors(frame, name)]
    if numeric and not vectors:
        return numeric
    if len(vectors) == 1 and not numeric:
        return vectors
    if not vectors:
        kinds = ", ".join(f"{name!r} ({dtype})" for name, dtype in list(schema.items())[:_LISTED])
        raise InputError(f"the frame has no column of numbers; it has {kinds or 'no columns'}")
    raise ParameterError(
        f"parameter `columns`: the frame has vectors in {_names(vectors)}"
        + (f" and numbers in {_names(numeric)}" if numeric else "")
        + f"; say which are meant, e.g. columns={vectors[0]!r}"
    )


def _resolved(frame: nw.DataFrame[Any], columns: Any) -> list[Any]:
    there = frame.columns
    if isinstance(columns, re.Pattern):
        return _matching(there, columns.search, f"re.compile({columns.pattern!r})")
    if isinstance(columns, nw.selectors.Selector):
        return frame.select(columns).columns
    native = _by_polars(frame, columns)
    if native is not None:
        return native
    if isinstance(columns, nw.Expr):
        raise ParameterError(
            "parameter `columns`: an expression may compute something new; pass names or a "
            "selector of narwhals.selectors"
        )
    if callable(columns):  # like scikit-learn's make_column_selector
        return _resolved(frame, columns(frame.to_native()))
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        return _by_name(there, columns)
    return [name for one in columns for name in _resolved(frame, one)]


def _by_polars(frame: nw.DataFrame[Any], columns: Any) -> list[Any] | None:
    """Return the columns that an expression of polars names, None where it is none."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(columns, polars.Expr):
        return None
    native = frame.to_native()
    if not isinstance(native, polars.DataFrame):
        raise ParameterError(
            "parameter `columns`: an expression of polars chooses columns of polars frames only; "
            "pass names or a selector of narwhals.selectors"
        )
    if not columns.meta.is_column_selection():
        raise ParameterError(
            "parameter `columns`: this expression computes something new; add it to the frame by "
            "with_columns first, and choose it by name"
        )
    return list(native.select(columns).columns)


def _by_name(there: list[Any], name: Any) -> list[Any]:
    if any(type(name) is type(one) and name == one for one in there):
        return [name]
    if name in there:  # a NumPy integer for a label of pandas
        return [there[there.index(name)]]
    if isinstance(name, str) and _WILD.search(name):
        return _matching(there, lambda one: fnmatchcase(one, name), repr(name))
    near = difflib.get_close_matches(str(name), [str(one) for one in there], n=1)
    raise ParameterError(
        f"parameter `columns`: the frame has no column {name!r}"
        + (f", did you mean {near[0]!r}?" if near else "")
        + f"; it has {_names(there) or 'none'}"
    )


def _matching(there: list[Any], test: Any, shown: str) -> list[Any]:
    found = [name for name in there if isinstance(name, str) and test(name)]
    if not found:
        raise ParameterError(
            f"parameter `columns`: no column matches {shown}; the frame has {_names(there)}"
        )
    return found


def _names(names: list[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:_LISTED])
    return shown + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


def part(frame: nw.DataFrame[Any], names: list[Any]) -> nw.DataFrame[Any]:
    """Return some columns of a frame; labels of pandas may be numbers, so by their places."""
    there = frame.columns
    return frame[:, [there.index(name) for name in names]]


# -- what is in them --------------------------------------------------------------------


def is_known(entry: Any) -> bool:
    """Whether an entry of a column is one: not None, NaN or any of their kind."""
    try:
        return entry is not None and bool(entry == entry)  # noqa: PLR0124
    except (TypeError, ValueError):  # the missing value of a data frame, or an array
        return False


def is_vectors(frame: nw.DataFrame[Any], name: Any) -> bool:
    """Return whether each entry of a column is a vector."""
    dtype = frame.schema[name]
    if isinstance(dtype, (nw.Array, nw.List)):
        inner: Any = dtype.inner
        while isinstance(inner, (nw.Array, nw.List)):
            inner = inner.inner
        return bool(inner.is_numeric() if not isinstance(inner, type) else inner().is_numeric())
    if not isinstance(dtype, nw.Object) or len(frame) == 0:
        return False
    first = next((one for one in frame.get_column(name).to_list() if one is not None), None)
    return isinstance(first, (np.ndarray, list, tuple))


def checked_matrix(X: Any, name: str = "X", *, instead: str = "", **settings: Any) -> Any:
    """Return X as ``check_array`` does; where it is a frame and no matrix, say why.

    `instead` is what else may be done with the frame, if anything.
    """
    require_collected(X, name, instead)
    _require_two_axes(X, name)
    try:
        return check_array(X, input_name=name, **settings)
    except (TypeError, ValueError) as error:
        _refuse_text(X, name, instead, error)
        raise


def require_collected(X: Any, name: str = "X", instead: str = "") -> None:
    """Refuse a lazy frame, which scikit-learn would take for an array of one object."""
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise InputError(
            f"{name} is a {type(X).__name__}, which has no rows yet; pass {name}.collect()"
            + (f", or {instead}" if instead else "")
        )


def _require_two_axes(X: Any, name: str) -> None:
    try:
        shape = np.shape(X)
    except (TypeError, ValueError):  # what scikit-learn says of it stands
        return
    if len(shape) != 2:  # noqa: PLR2004
        advice = (
            f". Reshape your data: one column is {name}.reshape(-1, 1), one row "
            f"{name}.reshape(1, -1)"
        )
        raise InputError(
            f"Expected 2D array, got {len(shape)}D array instead: {name} must have rows and "
            f"columns, its shape is {shape}" + (advice if len(shape) == 1 else "")
        )


def _refuse_text(X: Any, name: str, instead: str, error: Exception) -> None:
    """Name the column that holds no numbers, if X is a data frame."""
    if not nw.dependencies.is_into_dataframe(X):
        return
    try:
        schema = nw.from_native(X).schema
    except Exception:  # what scikit-learn says stands
        return
    for column, dtype in schema.items():
        if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
            raise InputError(
                f"column {column!r} of {name} holds {dtype}, not numbers: {error}; choose columns "
                f"by {name}[...]" + (f", or {instead}" if instead else "")
            ) from error


def require_numbers(frame: nw.DataFrame[Any], names: list[Any], missing: bool) -> None:
    """Refuse columns that hold no numbers, and name the first entry that is none.

    With `missing`, an estimator follows that knows what to do with missing values.
    """
    schema = frame.schema
    for name in names:
        if not (schema[name].is_numeric() or isinstance(schema[name], nw.Boolean)):
            raise InputError(
                f"column {name!r} holds {schema[name]}, not numbers; leave it out of `columns`, "
                "or turn it into numbers first"
            )
    if missing:
        return
    bad = np.zeros(len(frame), dtype=bool)
    first: tuple[int, Any, float] | None = None
    for name in names:
        values = np.asarray(frame.get_column(name).cast(nw.Float64).to_numpy(), dtype=np.float64)
        wrong = ~np.isfinite(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            if first is None or row < first[0]:
                first = (row, name, float(values[row]))
            bad |= wrong
    if first is not None:
        row, name, value = first
        _refuse(frame, name, row, value, int(bad.sum()))


def _refuse(frame: nw.DataFrame[Any], name: Any, row: int, value: float, count: int) -> None:
    native = frame.to_native()
    rows = f"; {count} of {len(frame)} rows have such values" if count > 1 else ""
    if not np.isnan(value):
        what, todo = f"{value:+}", "leave such rows out, or the column,"
    elif bool(frame.get_column(name).is_null()[row]):
        what = "a missing value"
        drop = "dropna(subset=...)" if hasattr(native, "dropna") else "drop_nulls(...)"
        todo = f"drop such rows (frame.{drop}) or fill them in"
    else:
        what = "NaN"
        drop = " (frame.drop_nans(...))" if hasattr(native, "drop_nans") else ""
        todo = f"drop such rows{drop} or fill them in"
    raise InputError(f"column {name!r} has {what} at {_row(native, row)}{rows}; {todo} first")


def _row(native: Any, row: int) -> str:
    """Return how a row is called: by its position, and its label where that is something else."""
    index = getattr(native, "index", None)
    if index is None or not hasattr(index, "__getitem__") or index[row] == row:
        return f"row {row}"
    return f"row {row} (index {index[row]!r})"


# -- vectors ------------------------------------------------------------------------------


def vectors(frame: nw.DataFrame[Any], name: Any) -> Any:
    """Return a column of vectors as a matrix, without a copy where the column is one block."""
    series, dtype = frame.get_column(name), frame.schema[name]
    if len(series) == 0:
        raise InputError(f"column {name!r} has no rows")
    empty = np.asarray(series.is_null().to_numpy())
    if empty.any():
        row = int(np.argmax(empty))
        raise InputError(
            f"column {name!r} has no vector at {_row(frame.to_native(), row)}; drop such rows first"
        )
    if isinstance(dtype, nw.Object):
        found = _stacked(frame, name)
    elif isinstance(dtype, nw.Array) and series.implementation.is_polars():
        found = series.to_native().to_numpy()
    else:
        found = _of_arrow(frame, name)
    found = found.reshape(len(series), -1)
    # Whatever is not finite shows in a sum of its row; only then every number is looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = np.flatnonzero(~np.isfinite(found.sum(axis=1, dtype=np.float64)))
    for row in suspect.tolist():
        wrong = np.flatnonzero(~np.isfinite(np.asarray(found[row], dtype=np.float64)))
        if wrong.size:
            value = found[row, wrong[0]]
            raise InputError(
                f"column {name!r} has {'a missing value' if np.isnan(value) else f'{value:+}'} at "
                f"{_row(frame.to_native(), row)}, position {wrong[0]} of its vector; drop "
                "such rows or fill them in first"
            )
    return found


def _of_arrow(frame: nw.DataFrame[Any], name: Any) -> Any:
    """Return the numbers of an Arrow column of vectors, one vector after the other."""
    native = frame.get_column(name).to_native()
    if hasattr(native, "num_chunks"):
        array = native.chunk(0) if native.num_chunks == 1 else native.combine_chunks()
    else:
        array = frame.get_column(name).to_arrow()
    if hasattr(array, "chunks"):
        array = array.combine_chunks()
    while hasattr(array, "flatten") and hasattr(array.type, "value_type"):
        if not hasattr(array.type, "list_size"):
            ends = array.offsets.to_numpy()
            _require_equal(frame, name, np.diff(ends))
        array = array.flatten()
    return array.to_numpy(zero_copy_only=False)


def _stacked(frame: nw.DataFrame[Any], name: Any) -> Any:
    """Return the arrays that a column of pandas holds as one matrix."""
    rows = [np.asarray(one) for one in frame.get_column(name).to_list()]
    for number, one in enumerate(rows):
        if one.dtype.kind not in "buif":
            raise InputError(
                f"column {name!r} has something that is no vector of numbers at "
                f"{_row(frame.to_native(), number)}"
            )
    _require_equal(frame, name, np.array([one.size for one in rows]))
    return np.stack([one.ravel() for one in rows])


def _require_equal(frame: nw.DataFrame[Any], name: Any, lengths: Any) -> None:
    wrong = np.flatnonzero(lengths != lengths[0])
    if wrong.size and len(lengths) == len(frame):
        row = int(wrong[0])
        raise InputError(
            f"column {name!r} has a vector of length {lengths[row]} at "
            f"{_row(frame.to_native(), row)}, but of length {lengths[0]} at "
            f"{_row(frame.to_native(), 0)}; all must be equally long"
        )
    if wrong.size:
        raise InputError(f"column {name!r} has vectors of different lengths within a row")
