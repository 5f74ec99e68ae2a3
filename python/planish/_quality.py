"""Data and a map on their way to the core's measures of quality, and scores on their way back."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from . import _core, _data
from ._columns import checked_matrix, is_known
from ._metrics import resolve_metric
from ._random import check_seed, seed_of
from ._threads import thread_count
from ._types import Floats, Indices
from ._warn import warn
from .exceptions import InputAdjustedWarning, InputError, ParameterError


class Score(float):
    """A number, with its standard error and its value at each row.

    It is a float and can be used as one.

    Attributes
    ----------
    standard_error : float
        Standard error on a sample of rows; 0 where every row was looked at.
    per_point : ndarray of shape (n_samples,) or None
        The measure at each row; NaN at rows that were left out, are not in the sample, or have
        a denominator of zero of their own. None for measures that have no value at a row.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import trustworthiness
    >>> X = np.arange(20.0)[:, None]
    >>> score = trustworthiness(X, X)
    >>> float(score), score.standard_error, score.per_point.shape
    (1.0, 0.0, (20,))
    """

    standard_error: float
    per_point: Floats | None

    def __new__(
        cls, value: float, standard_error: float = 0.0, per_point: Floats | None = None
    ) -> Score:
        """Make a float that carries the rest."""
        score = super().__new__(cls, value)
        score.standard_error = float(standard_error)
        score.per_point = per_point
        return score

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (float(self), self.standard_error, self.per_point)

    def __str__(self) -> str:
        if self.standard_error:
            return f"{float(self):.4g} ± {self.standard_error:.1g}"
        return repr(float(self))


@dataclass(frozen=True)
class Comparison:
    """Checked data and map, the rows of them that have a place, and how to run."""

    data: _data.CoreData
    map: Any
    metric: str
    p: float
    #: The rows that are used, of how many; None when all are.
    used: Indices | None
    rows: int
    sample: int | None
    seed: int
    threads: int

    def ask(self, what: str, **wanted: Any) -> dict[str, Any]:
        """Ask the core."""
        defaults = {
            "measures": [],
            "n_neighbors": 1,
            "labels": None,
            "n_pairs": None,
            "scaling": True,
            "reflection": True,
        }
        asked = {"metric": self.metric, "p": self.p, "sample": self.sample, **defaults, **wanted}
        asked["what"] = what
        return _core.quality(self.data, self.map, asked, self.threads, self.seed, None)

    def scores(
        self, measures: Iterable[str], n_neighbors: object = 1, labels: Any = None
    ) -> dict[str, Score]:
        """Scores by name."""
        names = list(measures)
        neighbors = count(n_neighbors, "n_neighbors")
        found = self.ask("scores", measures=names, n_neighbors=neighbors, labels=labels)
        return {name: self.score(found[name], found["rows"]) for name in names}

    def score(self, found: tuple[float, float, Floats | None], rows: Indices | None) -> Score:
        """Make a score of what the core found, its values at the rows they belong to."""
        value, standard_error, per_point = found
        return Score(value, standard_error, self.spread(per_point, rows))

    def spread(self, values: Floats | None, rows: Indices | None) -> Floats | None:
        """Put values at the rows of the data they belong to."""
        if values is None or (rows is None and self.used is None):
            return values
        places = np.arange(self.rows) if self.used is None else self.used
        out = np.full(self.rows, np.nan)
        out[places if rows is None else places[rows]] = values
        return out

    def rows_used(self, values: Any) -> Any:
        """Choose what belongs to the rows that are used."""
        return values if self.used is None else values[self.used]


def compare(
    X: Any,
    Y: Any,
    metric: Any = "euclidean",
    metric_params: Any = None,
    sample: Any = None,
    random_state: Any = None,
    n_jobs: Any = None,
) -> Comparison:
    """Check data and map, and leave out the rows that have no place."""
    check_seed(random_state)
    chosen = resolve_metric(metric, 2, metric_params)
    placed = coordinates(Y, "Y", X)
    rows = checked_matrix(
        X,
        accept_sparse=False if chosen.precomputed else "csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
    )
    if rows.shape[0] != placed.shape[0]:
        raise InputError(
            f"X has {rows.shape[0]} rows and Y {placed.shape[0]}; give the map of the same rows"
        )
    total, used = len(placed), rows_with_a_place(placed)
    if used is not None:
        square = rows.shape[0] == rows.shape[1]
        placed, rows = placed[used], rows[used]
        rows = rows[:, used] if chosen.precomputed and square else rows
    name, data = chosen.name, None
    if chosen.precomputed:
        data = _data.distances(rows)
    elif chosen.native:
        data = _data.points(rows)
    else:
        chosen.check_values(rows)
        data, name = _data.distances(chosen.learned(rows).pairwise(rows)), "precomputed"
    return Comparison(
        data=data,
        map=np.ascontiguousarray(placed, dtype=np.float64),
        metric=str(name),
        p=float(chosen.p) if isinstance(chosen.p, (int, float, np.number)) else 0.0,
        used=used,
        rows=total,
        sample=None if sample is None else count(sample, "sample"),
        seed=seed_of(random_state),
        threads=thread_count(n_jobs),
    )


def coordinates(Y: Any, name: str, X: Any = None) -> Any:
    """Return the coordinates of a map, or where a fitted estimator places its rows X."""
    if hasattr(Y, "fit") and not hasattr(Y, "__array__"):
        Y = _placed_by(Y, X)
    placed = checked_matrix(
        Y, name, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
    )
    endless = np.argwhere(np.isinf(placed))
    if len(endless):
        row, column = endless[0]
        raise InputError(f"Input {name} contains infinity at row {row}, column {column}")
    return placed


def _placed_by(estimator: Any, X: Any) -> Any:
    if hasattr(estimator, "embedding_"):
        return estimator.embedding_
    kind = type(estimator).__name__
    if X is None or not hasattr(estimator, "transform"):
        raise InputError(
            f"the {kind} has no embedding_: fit it first, or give the coordinates that its "
            "transform returns"
        )
    try:
        return estimator.transform(X)
    except NotFittedError as error:
        raise InputError(f"the {kind} is not fitted: fit it first") from error


def rows_with_a_place(placed: Any) -> Indices | None:
    """Return the rows without NaN; None when all are, with a warning otherwise."""
    missing = np.isnan(placed).any(axis=1)
    if not missing.any():
        return None
    if missing.all():
        raise InputError("every row of the map contains NaN: there is nothing to judge")
    warn(
        f"{int(missing.sum())} of {len(placed)} rows of the map contain NaN and were left out of "
        "the measure, in the data too",
        InputAdjustedWarning,
    )
    return np.flatnonzero(~missing)


def count(value: object, name: str) -> int:
    """Check a number of rows, neighbours or pairs."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < 1 or isinstance(value, bool):
        raise ParameterError(f"parameter `{name}`: expected an int of at least 1, got {value!r}")
    return min(number, 2**62)


def codes(labels: Any, rows: int) -> Indices:
    """Give each class of labels a number, one label a row."""
    given = as_labels(labels)
    if given.ndim != 1 or len(given) != rows:
        raise ParameterError(
            f"parameter `labels`: expected one label for each of the {rows} rows, got an array of "
            f"shape {given.shape}"
        )
    row = unlabelled(given)
    if row is not None:
        raise ParameterError(
            f"parameter `labels`: row {row} has none ({given[row]}); leave such rows out, of X and "
            "Y too"
        )
    if given.dtype.kind == "O":
        given = given.astype(str)
    return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.int64)


def as_labels(labels: Any) -> Any:
    """Return labels as an array, in which a missing one does not become the text "nan"."""
    some_missing = isinstance(labels, (list, tuple)) and not all(map(is_known, labels))
    return np.asarray(labels, dtype=object if some_missing else None)


def unlabelled(labels: Any) -> int | None:
    """Return the first row whose label is missing, if there is one."""
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([not is_known(label) for label in labels.tolist()], dtype=bool)
    else:
        return None
    return int(missing.argmax()) if missing.any() else None
