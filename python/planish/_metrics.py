"""Metrics: which the Rust core evaluates, and how all others are evaluated.

Squared Euclidean distances and Euclidean distances with missing values are
evaluated here, by sums of squared differences: scikit-learn's formulas subtract
squares from each other and lose their digits away from the origin. The rest is
scikit-learn's, on one thread: some of its parallel loops round differently for
different numbers of threads, and planish promises the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, get_args

import numpy as np

from . import _core, _data, _types
from ._inputs import Input
from .exceptions import ParameterError

NATIVE_METRICS: frozenset[str] = frozenset(get_args(_types.NativeMetric))

# Metrics without arguments; scikit-learn's searches would take some and ignore them.
_PLAIN = frozenset({"euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1"})


@dataclass(frozen=True)
class Metric:
    """A metric with its arguments, and who evaluates it."""

    name: str | Callable[..., float]
    p: float
    arguments: Mapping[str, Any]

    @property
    def native(self) -> bool:
        """Whether the Rust core knows this metric with these arguments."""
        return isinstance(self.name, str) and self.name in NATIVE_METRICS and not self.arguments

    @property
    def precomputed(self) -> bool:
        """Whether X holds distances already."""
        return isinstance(self.name, str) and self.name == "precomputed"

    @property
    def exact(self) -> bool:
        """Whether this module evaluates it, because scikit-learn loses digits."""
        return self.name in ("sqeuclidean", "nan_euclidean") and not self.arguments

    @property
    def keywords(self) -> dict[str, Any]:
        """Arguments for scikit-learn's functions."""
        if self.name == "minkowski":
            return {"p": self.p, **self.arguments}
        return dict(self.arguments)

    def check_values(self, X: Any) -> None:
        """Refuse NaN, which scikit-learn's metrics would pass on, unless it means missing."""
        _data.require_finite(X, missing=self.name == "nan_euclidean")
        if self.name in ("nan_euclidean", "haversine") and _data.is_sparse(X):
            raise ParameterError(
                f"parameter `metric`: {self.name!r} needs a dense X; pass X.toarray()"
            )

    def seen(self, X: Any) -> Any:
        """Return X as the metric sees it: truth values, if it compares those and X has no other.

        Numbers that are neither 0 nor 1 stay, and scikit-learn says what it makes of them.
        """
        from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

        if self.name not in PAIRWISE_BOOLEAN_FUNCTIONS or _data.is_sparse(X):
            return X
        return X.astype(bool) if np.isin(X, (0, 1)).all() else X

    def learned(self, X: Any) -> Metric:
        """Return the metric with what it takes from the training rows, X, filled in."""
        wanted = {"seuclidean": "V", "mahalanobis": "VI"}.get(str(self.name))
        if wanted is None or self.arguments.keys() & {"V", "VI"} or _data.is_sparse(X):
            return self
        rows = np.asarray(X, dtype=np.float64)
        if len(rows) < 2:  # noqa: PLR2004
            raise ParameterError(
                f"parameter `metric`: {self.name!r} learns from X, but one row has no variance; "
                f"give `{wanted}` in `metric_params`"
            )
        found = self._variances(rows) if wanted == "V" else self._inverse_covariance(rows)
        return replace(self, arguments={**self.arguments, wanted: found})

    def _variances(self, rows: Any) -> Any:
        with np.errstate(all="ignore"):
            found = np.var(rows, axis=0, ddof=1)
        self._require_spread(found)
        if not found.all():
            column = int(np.flatnonzero(found == 0)[0])
            raise ParameterError(
                f"parameter `metric`: {self.name!r} divides by variances, but column {column} of X "
                "is constant; leave it out, or give `V` in `metric_params`"
            )
        return found

    def _inverse_covariance(self, rows: Any) -> Any:
        with np.errstate(all="ignore"):
            found = np.atleast_2d(np.cov(rows.T))
        self._require_spread(found)
        # Correlations, which have a rank whatever the units of the columns.
        sizes = np.sqrt(found.diagonal())
        if not sizes.all() or np.linalg.matrix_rank(found / np.outer(sizes, sizes)) < len(found):
            raise ParameterError(
                f"parameter `metric`: {self.name!r}: the covariance of X has no inverse; give one "
                "as `VI` in `metric_params`"
            )
        return np.linalg.inv(found).T

    def _require_spread(self, found: Any) -> None:
        if not np.isfinite(found).all():
            raise ParameterError(
                f"parameter `metric`: {self.name!r}: the variances of X exceed the range of "
                "numbers; divide X by a typical size first"
            )

    def pairwise(self, X: Any, Y: Any = None) -> Any:
        """Distances of every row of X to every row of Y (or of X)."""
        others = X if Y is None else Y
        _data.require_memory(
            16 * X.shape[0] * others.shape[0],
            f"the {X.shape[0]} × {others.shape[0]} matrix of distances",
            "use a metric planish evaluates itself, or fewer rows",
        )
        if self.native and _data.is_sparse(X):
            return _by_core(str(self.name), self.p, X, others)
        if self.native and self.name in ("euclidean", "l2"):
            from scipy.spatial.distance import cdist

            return cdist(X, others)
        if self.exact:
            with np.errstate(over="ignore"):  # what is not finite is refused, with its rows
                return self._exactly(X, others)
        from sklearn.metrics import pairwise_distances

        rows, columns = self.seen(X), None if Y is None else self.seen(Y)
        found = named(
            lambda: pairwise_distances(rows, columns, metric=self.name, n_jobs=1, **self.keywords),
            "metric",
            self.name,
        )
        # Not every metric says that equal rows are at distance zero.
        for row, same in _equal_rows(X, others):
            found[row, same] = 0.0
        return found

    def _exactly(self, X: Any, Y: Any) -> Any:
        if self.name == "nan_euclidean":
            return _nan_euclidean(X, Y)
        if _data.is_sparse(X):
            return _by_core("euclidean", 2.0, X, Y) ** 2
        from scipy.spatial.distance import cdist

        return cdist(X, Y, "sqeuclidean")


def _by_core(name: str, p: float, X: Any, Y: Any) -> Any:
    """Ask the core, which takes sparse rows, for all neighbours and so for all distances."""
    indptr, indices, distances = _core.kneighbors(
        _data.points(Y), _data.points(X), Y.shape[0], None, name, float(p), "brute", 1, None
    )
    found = np.empty((X.shape[0], Y.shape[0]))
    found[np.repeat(np.arange(X.shape[0]), np.diff(indptr)), indices] = distances
    return found


# Numbers worked on at a time, so that they stay near the processor.
_BLOCK = 1 << 15


def _nan_euclidean(X: Any, Y: Any) -> Any:
    """Return Euclidean distances over the columns present in both rows, scaled up to all.

    Every step is one on single numbers, so that a row gets the same distances alone and
    among others.
    """
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    missing_x, missing_y = np.isnan(X), np.isnan(Y)
    X, Y = np.where(missing_x, 0.0, X), np.where(missing_y, 0.0, Y)
    # At a scale where squares neither overflow nor vanish, by a power of two, which is exact.
    peak = max(np.abs(X).max(initial=0.0), np.abs(Y).max(initial=0.0))
    scale = float(np.ldexp(1.0, min(1000, -int(np.frexp(peak)[1]))))
    X, Y = X * scale, Y * scale
    present = (~missing_x).astype(np.float64) @ (~missing_y).astype(np.float64).T
    holes = missing_x.any(axis=0) | missing_y.any(axis=0)
    found = np.zeros((len(X), len(Y)))
    step = max(1, _BLOCK // max(1, len(Y)))
    for first in range(0, len(X), step):
        rows = slice(first, first + step)
        for column in range(X.shape[1]):
            gaps = X[rows, column, None] - Y[None, :, column]
            if holes[column]:
                gaps[missing_x[rows, column]] = 0.0
                gaps[:, missing_y[:, column]] = 0.0
            found[rows] += gaps * gaps
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.sqrt(found * (X.shape[1] / present)) / scale
    return np.where(present > 0, lengths, np.nan)


def _equal_rows(X: Any, Y: Any) -> Iterator[tuple[int, list[int]]]:
    """Go through the rows of X that are rows of Y, each with the numbers of those."""
    known: dict[Any, list[int]] = {}
    for row, key in enumerate(_data.row_keys(Y)):
        known.setdefault(key, []).append(row)
    for row, key in enumerate(_data.row_keys(X)):
        if key in known:
            yield row, known[key]


class EvaluatedDistances(Input):
    """Points whose distances under any metric are evaluated for all pairs."""

    rows: Any

    def __init__(self, metric: Metric, **params: Any) -> None:
        super().__init__(metric="precomputed", **params)
        self.metric = metric

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows by the distances between them."""
        self.metric.check_values(X)
        self.metric, self.rows = self.metric.learned(X), X
        return _data.distances(self.metric.pairwise(X))

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by their distances to the training rows."""
        self.metric.check_values(X)
        return _data.distances(self.metric.pairwise(X, self.rows))


def resolve_metric(metric: object, p: Any, metric_params: object) -> Metric:
    """Check the three parameters that make a metric; ``p`` in ``metric_params`` wins."""
    arguments = keyword_arguments("metric_params", metric_params)
    if callable(metric):
        return Metric(metric, p, arguments)
    if isinstance(metric, str) and metric in _PLAIN and arguments:
        raise ParameterError(
            f"parameter `metric_params`: the metric {metric!r} takes no arguments, got "
            f"{', '.join(map(repr, arguments))}; 'minkowski' takes `p` and weights `w`"
        )
    if isinstance(metric, str) and metric in NATIVE_METRICS:
        if metric == "minkowski":
            p = arguments.pop("p", p)
            if arguments and not (isinstance(p, Real) and float(p) >= 1):  # else the core checks
                raise ParameterError(f"parameter `p`: the power must be >= 1, got {p!r}")
        return Metric(metric, p, arguments)
    from sklearn.neighbors import VALID_METRICS

    known = {*NATIVE_METRICS, *VALID_METRICS["brute"], "precomputed"}
    if not isinstance(metric, str) or metric not in known:
        raise ParameterError(
            f"parameter `metric`: {metric!r} is not known; give a callable or one of: "
            f"{', '.join(sorted(known))}"
        )
    return Metric(metric, p, arguments)


def keyword_arguments(name: str, value: object) -> dict[str, Any]:
    """Check a parameter that holds further arguments of a metric or a kernel."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ParameterError(
            f"parameter `{name}`: expected a dict or None, got {type(value).__name__}"
        )
    return dict(value)


def named(call: Callable[[], Any], parameter: str, value: object) -> Any:
    """Run scikit-learn's code; what it refuses names our parameter.

    A callable of the user's raises its own exceptions unchanged.
    """
    if callable(value):
        return call()
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused, with its rows
            return call()
    except (TypeError, ValueError) as error:
        raise ParameterError(f"parameter `{parameter}`: {value!r}: {error}") from error
