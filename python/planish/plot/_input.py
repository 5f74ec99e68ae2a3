"""What is drawn: an estimator or an array becomes finite rows with their numbers.

Every function of `planish.plot` enters here, so that the same things are refused
everywhere, in the same words, and rows that cannot be drawn are counted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._columns import is_known
from .._types import Floats, Indices, MatrixLike
from ..exceptions import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Drawing:
    """The coordinates of a map, whole, and which of its rows can be drawn.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_columns)
        All rows, those that are not finite included.
    rows : ndarray of shape (n_drawn,)
        Numbers of the rows whose coordinates are all finite.
    source : object
        The estimator, or None where an array was given.
    """

    points: Floats
    rows: Indices
    source: Any

    @property
    def left_out(self) -> int:
        """Number of rows that are not drawn."""
        return len(self.points) - len(self.rows)

    def notes(self) -> list[str]:
        """Return what a title has to say about rows that are missing."""
        if not self.left_out:
            return []
        rows = "row" if self.left_out == 1 else "rows"
        return [f"{self.left_out} {rows} without coordinates left out"]


def drawing(estimator_or_Y: object, X: MatrixLike | None = None) -> Drawing:
    """Return the map of an estimator, of its rows X, or of an array."""
    if is_estimator(estimator_or_Y):
        points = coordinates(estimator_or_Y, X)
        source = estimator_or_Y
    else:
        if X is not None:
            raise ParameterError("parameter `X`: only an estimator can place rows, got an array")
        points, source = _matrix(estimator_or_Y), None
    rows = np.flatnonzero(np.isfinite(points).all(axis=1))
    if len(rows) == 0:
        raise InputError(
            f"the embedding has {len(points)} rows and none with finite coordinates: "
            "there is nothing to draw"
        )
    return Drawing(points, rows.astype(np.int64), source)


def drawing_of_data(estimator_or_Y: object, X: MatrixLike | None) -> Drawing:
    """Return the map of the rows X that an estimator was fitted to, or an array."""
    keeps = not is_estimator(estimator_or_Y) or hasattr(estimator_or_Y, "embedding_")
    return drawing(estimator_or_Y, None if keeps else X)


def is_estimator(given: object) -> bool:
    """Whether something is an estimator rather than an array."""
    return hasattr(given, "fit") and hasattr(given, "get_params")


def coordinates(estimator: Any, X: MatrixLike | None) -> Floats:
    """Return the coordinates of the training rows, or of X."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if X is not None:
        return _matrix(estimator.transform(X))
    if not hasattr(estimator, "embedding_"):
        raise InputError(
            f"a {type(estimator).__name__} keeps no coordinates of its training rows: "
            "give the rows too, with X=..."
        )
    return _matrix(estimator.embedding_)


def _matrix(given: object) -> Floats:
    try:
        points = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            "the embedding must be a fitted estimator or an array of numbers, one row a "
            f"sample; got {type(given).__name__}"
        ) from error
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or points.shape[1] == 0:  # noqa: PLR2004
        raise InputError(
            "the embedding must have one row a sample and at least one column, got shape "
            f"{points.shape}"
        )
    if len(points) == 0:
        raise InputError("the embedding has 0 rows: there is nothing to draw")
    return points


def per_row(name: str, given: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Return an array with one entry a row of the embedding."""
    found = np.asarray(given)
    if found.ndim == 2 and found.shape[1] == 1:  # noqa: PLR2004
        found = found[:, 0]
    if found.ndim != 1:
        raise ParameterError(
            f"parameter `{name}`: expected one entry a row, got shape {found.shape}"
        )
    if len(found) != n_samples:
        raise ParameterError(
            f"parameter `{name}`: the embedding has {n_samples} rows, got {len(found)} entries"
        )
    return found


def numbers(name: str, given: ArrayLike, n_samples: int) -> Floats:
    """Return one number a row; what is not finite is NaN."""
    found = per_row(name, given, n_samples)
    if found.dtype.kind == "O":
        found = np.array([entry if is_known(entry) else np.nan for entry in found.tolist()])
    try:
        values = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"parameter `{name}`: expected numbers, got {found.dtype}; give `labels` for classes"
        ) from error
    return np.where(np.isfinite(values), values, np.nan)


def classes(name: str, given: ArrayLike, n_samples: int) -> tuple[Indices, list[str]]:
    """Return the class of each row, −1 where it has none, and the names of the classes."""
    found = per_row(name, given, n_samples)
    entries = (found.astype(str) if found.dtype.kind in "mM" else found).tolist()
    try:
        kinds = {entry for entry in entries if is_known(entry)}
    except TypeError as error:
        raise ParameterError(
            f"parameter `{name}`: expected numbers or texts as classes, got lists or the like"
        ) from error
    try:
        order = sorted(kinds)
    except TypeError:  # of several types
        order = sorted(kinds, key=lambda entry: (type(entry).__name__, str(entry)))
    number = {entry: position for position, entry in enumerate(order)}
    codes = [number[entry] if is_known(entry) else -1 for entry in entries]
    return np.array(codes, dtype=np.int64), [str(entry) for entry in order]


def name_of(given: object, default: str) -> str:
    """Return the name a column of a data frame has, or the default."""
    name = getattr(given, "name", None)
    return name if isinstance(name, str) and name else default


def chosen_columns(columns: Sequence[int] | None, available: int, most: int) -> list[int]:
    """Return the columns to draw: those asked for, or the first ones."""
    if columns is None:
        return list(range(min(available, most)))
    wanted = [int(column) for column in columns]
    if not 1 <= len(wanted) <= most or not all(0 <= column < available for column in wanted):
        raise ParameterError(
            f"parameter `columns`: expected 1 to {most} of the columns 0 to {available - 1}, "
            f"got {list(columns)}"
        )
    return wanted
