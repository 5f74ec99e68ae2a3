"""How far a map of the stress family can be trusted: chance, resampling, leaving out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from . import _data
from ._columns import checked_matrix
from ._docs import documented
from ._random import check_seed
from ._stress import StressEmbedding
from ._threads import thread_count
from ._types import Floats, MatrixLike, RandomState
from .exceptions import InputError, ParameterError


@dataclass(frozen=True)
class PermutationTest:
    """The stress of a map beside that of maps of permuted data.

    Attributes
    ----------
    stress : float
        Stress of the data, relative to its size (the last of `history_`).
    permuted : ndarray of shape (n_permutations,)
        The same of permuted data.
    p_value : float
        Share of maps, that of the data included, with a stress not above it.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import MDS, permutation_test
    >>> X = np.random.default_rng(0).normal(size=(20, 2)) @ np.ones((2, 5))
    >>> permutation_test(MDS(), X, n_permutations=19).p_value
    0.05
    """

    stress: float
    permuted: Floats
    p_value: float


@dataclass(frozen=True)
class Stability:
    """Maps of changed data, each rotated and scaled onto the map of all data.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        The map of all data.
    mean : ndarray of shape (n_samples, n_components)
        Mean of the maps.
    covariance : ndarray of shape (n_samples, n_components, n_components)
        Covariance of each row's places.
    stability : float
        One less the share of the variance of all places that lies within rows: 1
        when every row is always in the same place.
    stresses : ndarray of shape (n_maps,)
        Stress of each map, relative to its size.
    embeddings : ndarray of shape (n_maps, n_samples, n_components)
        The maps; NaN where a row was left out.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import MDS, bootstrap
    >>> X = np.random.default_rng(0).normal(size=(20, 8))
    >>> centers, lengths, axes = bootstrap(MDS(), X, n_bootstraps=10).ellipses()
    >>> lengths.shape
    (20, 2)
    """

    embedding: Floats
    mean: Floats
    covariance: Floats
    stability: float
    stresses: Floats
    embeddings: Floats

    def ellipses(self, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Compute the ellipse that holds each row's places, were they normal.

        Parameters
        ----------
        level : float, default=0.95
            Share of the places.

        Returns
        -------
        centers : ndarray of shape (n_samples, n_components)
            The means.
        lengths : ndarray of shape (n_samples, n_components)
            Half the lengths of the axes, longest first.
        axes : ndarray of shape (n_samples, n_components, n_components)
            Directions of the axes, one a row.
        """
        if not 0 < level < 1:
            raise ParameterError(f"parameter `level`: must be between 0 and 1, got {level!r}")
        from scipy.stats import chi2  # a third of a second, for this one number

        width = self.mean.shape[1]
        values, vectors = np.linalg.eigh(self.covariance)
        lengths = np.sqrt(np.maximum(values, 0) * chi2.ppf(level, width))
        return self.mean, lengths[:, ::-1], np.swapaxes(vectors, 1, 2)[:, ::-1]


@documented
def permutation_test(
    estimator: StressEmbedding,
    X: MatrixLike,
    *,
    n_permutations: int = 100,
    random_state: RandomState = None,
) -> PermutationTest:
    """Compare the stress of a map with that of maps of permuted data.

    Dissimilarities that are given are shuffled among the pairs; of points the
    values of each column are shuffled among the rows. Structure is gone, and what
    stress is left is chance.

    Parameters
    ----------
    estimator : MDS or SammonMapping
        What is fitted; it is not changed. Its `n_jobs` is the number of fits at a
        time.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        As for the estimator's ``fit``.
    n_permutations : int, default=100
        Number of permutations.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations; None is a fixed seed.

    Returns
    -------
    test : PermutationTest
        The stress, that of the permuted data, and the p-value.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import MDS, permutation_test
    >>> noise = np.random.default_rng(0).normal(size=(15, 15))
    >>> distances = np.abs(noise + noise.T) * (1 - np.eye(15))
    >>> test = permutation_test(MDS(metric="precomputed"), distances, n_permutations=19)
    >>> bool(test.p_value > 0.05)
    True
    """
    count = _count("n_permutations", n_permutations, 1)
    rows, given = _checked(estimator, X)
    _require_memory(count, 1)
    rng = _generator(random_state)
    observed = _stress(clone(estimator).fit(rows))
    changed = _shuffled_pairs if given else _shuffled_columns
    seeds = rng.randint(2**31 - 1, size=count)
    permuted = np.array(
        _each(
            estimator,
            lambda seed: _stress(_alone(estimator).fit(changed(rows, check_random_state(seed)))),
            seeds,
        )
    )
    p_value = (1 + np.count_nonzero(permuted <= observed)) / (1 + count)
    return PermutationTest(observed, permuted, float(p_value))


@documented
def bootstrap(
    estimator: StressEmbedding,
    X: MatrixLike,
    *,
    n_bootstraps: int = 100,
    random_state: RandomState = None,
) -> Stability:
    """Map the rows again and again, from columns drawn with replacement.

    How far a row's place moves tells how well the columns determine it. Every map
    starts from that of all data.

    Parameters
    ----------
    estimator : MDS or SammonMapping
        What is fitted; it is not changed. Its `n_jobs` is the number of fits at a
        time.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points; given dissimilarities have no columns to draw from.
    n_bootstraps : int, default=100
        Number of maps.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws; None is a fixed seed.

    Returns
    -------
    stability : Stability
        The mean map, the spread of each row, and the maps.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import MDS, bootstrap
    >>> X = np.random.default_rng(0).normal(size=(20, 2)) @ np.ones((2, 30))
    >>> found = bootstrap(MDS(), X, n_bootstraps=20)
    >>> bool(found.stability > 0.95)
    True
    """
    count = _count("n_bootstraps", n_bootstraps, 2)
    rows, given = _checked(estimator, X)
    _require_memory(count, rows.shape[0])
    if given:
        raise InputError(
            "bootstrap draws columns of X, and given dissimilarities have none; use jackknife, "
            "or pass points"
        )
    rng = _generator(random_state)
    whole = clone(estimator).fit(rows)
    seeds = rng.randint(2**31 - 1, size=count)

    def drawn(seed: int) -> tuple[float, Floats]:
        columns = check_random_state(seed).randint(rows.shape[1], size=rows.shape[1])
        again = _alone(estimator, init=whole.embedding_).fit(rows[:, columns])
        return _stress(again), onto(again.embedding_, whole.embedding_)

    return _stability(whole, _each(estimator, drawn, seeds))


@documented
def jackknife(estimator: StressEmbedding, X: MatrixLike) -> Stability:
    """Map the rows again, each time without one of them.

    How far places move tells how much the map owes to single rows. Every map starts
    from that of all data.

    Parameters
    ----------
    estimator : MDS or SammonMapping
        What is fitted; it is not changed. Its `n_jobs` is the number of fits at a
        time.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        As for the estimator's ``fit``.

    Returns
    -------
    stability : Stability
        The mean map, the spread of each row, and the maps.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import MDS, jackknife
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> bool(jackknife(MDS(eps=1e-12), X).stability > 0.99)
    True
    """
    rows, given = _checked(estimator, X)
    n = rows.shape[0]
    _require_memory(n, n)
    if n < 3:  # noqa: PLR2004
        raise InputError(f"leaving one row out needs at least 3 rows, got {n}")
    whole = clone(estimator).fit(rows)
    weights = getattr(estimator, "weights", None)

    def without(row: int) -> tuple[float, Floats]:
        kept = np.delete(np.arange(n), row)
        some = rows[np.ix_(kept, kept)] if given else rows[kept]
        changed: dict[str, Any] = {"init": whole.embedding_[kept]}
        if weights is not None:
            changed["weights"] = np.asarray(weights, dtype=float)[np.ix_(kept, kept)]
        again = _alone(estimator, **changed).fit(some)
        place = np.full(whole.embedding_.shape, np.nan)
        place[kept] = onto(again.embedding_, whole.embedding_[kept])
        return _stress(again), place

    return _stability(whole, _each(estimator, without, range(n)))


# ---- parts ---------------------------------------------------------------------------


def onto(Y: Any, target: Any) -> Floats:
    """Rotate, reflect, scale and shift a map onto another (Procrustes)."""
    (Y, _), (target, unit) = _in_units(Y), _in_units(target)
    mean, goal = Y.mean(axis=0), target.mean(axis=0)
    centred = Y - mean
    left, values, right = np.linalg.svd(centred.T @ (target - goal))
    size = (centred**2).sum()
    factor = values.sum() / size if size > 0 else 1.0
    placed: Floats = (factor * centred @ (left @ right) + goal) * unit
    return placed


def _in_units(Y: Any) -> tuple[Floats, float]:
    """Return a map near one, whose squares are safe, and what it was divided by."""
    Y = np.asarray(Y, dtype=np.float64)
    largest = float(np.nanmax(np.abs(Y), initial=0.0))
    unit = 2.0 ** np.floor(np.log2(largest)) if largest > 0 else 1.0
    return Y / unit, unit


def _stability(whole: Any, found: list[tuple[float, Floats]]) -> Stability:
    stresses = np.array([stress for stress, _ in found])
    embeddings = np.stack([place for _, place in found])
    maps, unit = _in_units(embeddings)
    mean = np.nanmean(maps, axis=0)
    gaps = np.nan_to_num(maps - mean)
    counts = np.isfinite(maps[:, :, 0]).sum(axis=0)
    covariance = np.einsum("bij,bik->ijk", gaps, gaps)
    covariance /= np.maximum(counts - 1, 1)[:, None, None]
    total = np.nansum((maps - np.nanmean(maps, axis=(0, 1))) ** 2)
    share = (gaps**2).sum() / total if total > 0 else 0.0
    placed = np.asarray(whole.embedding_, dtype=np.float64)
    with np.errstate(over="ignore"):  # squares of coordinates beyond 1e150 are infinite
        covariance = covariance * unit * unit
    return Stability(placed, mean * unit, covariance, float(1 - share), stresses, embeddings)


def _stress(fitted: Any) -> float:
    return float(fitted.history_[-1])


def _alone(estimator: Any, **changed: Any) -> Any:
    """Return a copy for one of many fits at a time: one thread, one start."""
    if "init" in changed:
        changed["n_init"] = 1
    return clone(estimator).set_params(n_jobs=1, verbose=0, **changed)


def _each(estimator: Any, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    pool = ThreadPoolExecutor(thread_count(estimator.n_jobs))
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _require_memory(maps: int, rows: int) -> None:
    """Refuse more maps than fit into memory, with a few coordinates a row."""
    _data.require_memory(64 * maps * rows, f"{maps} maps of {rows} rows", "ask for fewer maps")


def _checked(estimator: Any, X: Any) -> tuple[Any, bool]:
    if not isinstance(estimator, StressEmbedding):
        raise ParameterError(
            "parameter `estimator`: expected an MDS or a SammonMapping, got "
            f"{type(estimator).__name__}"
        )
    given = estimator._precomputed()
    rows = checked_matrix(
        X,
        accept_sparse=False if given else "csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan" if given else True,
    )
    if given and rows.shape[0] != rows.shape[1]:
        raise InputError(f"given dissimilarities must be square, got shape {rows.shape}")
    return rows, given


def _shuffled_pairs(rows: Any, rng: np.random.RandomState) -> Any:
    upper = np.triu_indices(len(rows), 1)
    shuffled = np.zeros_like(rows)
    shuffled[upper] = rng.permutation(rows[upper])
    return shuffled + shuffled.T


def _shuffled_columns(rows: Any, rng: np.random.RandomState) -> Any:
    dense = rows.toarray() if _data.is_sparse(rows) else rows
    return np.column_stack([rng.permutation(column) for column in dense.T])


def _generator(random_state: RandomState) -> np.random.RandomState:
    check_seed(random_state)
    found: np.random.RandomState = check_random_state(0 if random_state is None else random_state)
    return found


def _count(name: str, value: object, least: int) -> int:
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if isinstance(value, bool) or count < least:
        raise ParameterError(
            f"parameter `{name}`: expected an int of at least {least}, got {value!r}"
        )
    return count
