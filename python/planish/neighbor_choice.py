"""Which number of neighbours a graph method should have."""

from __future__ import annotations

import operator
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from ._columns import checked_matrix
from ._data import csr
from ._docs import documented
from ._progress import progress
from ._random import check_seed
from ._types import Floats, Indices, MatrixLike, NativeMetric, RandomState
from .exceptions import InputError, ParameterError, PlanishWarning
from .functions import geodesic_distances, kneighbors

if TYPE_CHECKING:
    import pandas as pd

# Numbers of neighbours that are tried, as far as the rows go.
_TRIED = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 28, 34, 40, 50)
# Fewer rows have no graph to speak of.
_FEWEST = 5
# Rows whose geodesic distances are looked at.
_SOURCES = 300
# The same where a search of the graph takes long.
_SOURCES_OF_MANY = 100
_MANY = 20_000
# A residual variance above this share of the least one so far, and so much beyond it, is a
# jump: paths have found a short way through the ambient space.
_JUMP = 1.5
_JUMP_BEYOND = 0.01
# A residual variance up to this share of the least one, and so much beyond it, is as good.
_FLAT = 1.25
_FLAT_BEYOND = 1e-4
# Paths over fewer neighbours zigzag: on surfaces they are 5 % too long with 8, 20 % with 4.
_STEADY = 8
# Parts of the data that stay apart while the number of neighbours grows by this factor are parts.
_LASTING = 2.0
# Columns that leave more of the variance than this do not hold the data.
_MUCH = 0.15


@dataclass(frozen=True)
class NeighborTrial:
    """The neighbourhood graph with one number of neighbours.

    Attributes
    ----------
    n_neighbors : int
        The number.
    components : int
        Connected components of the graph of all rows.
    shortcuts : int
        Edges that look like shortcuts, as in ``Isomap.shortcuts_``: none in a sound
        graph. Where there are very many, the worst of them, or none; the residual
        variance tells then.
    residual_variance : float
        Share of the variance of geodesic distances that the coordinates leave, within
        the largest component.
    """

    n_neighbors: int
    components: int
    shortcuts: int
    residual_variance: float


@dataclass(frozen=True)
class NeighborSuggestion:
    """A number of neighbours and why.

    Attributes
    ----------
    best : int
        The number suggested.
    range : tuple of (int, int)
        The least and the largest number that was tried and found sound: connected,
        free of shortcuts, before the residual variance jumps.
    trials : list of NeighborTrial
        What was found with each number, ascending.
    reasons : list of str
        Why, in sentences; ``str()`` joins them.
    sound : bool
        Whether any number was; if not, `best` is the least that connects the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import suggest_n_neighbors
    >>> rng = np.random.default_rng(0)
    >>> angle, height = 3 * rng.random(300), rng.random(300)
    >>> sheet = np.column_stack([np.cos(angle), np.sin(angle), height])
    >>> found = suggest_n_neighbors(sheet, random_state=0)
    >>> found.range[0] <= found.best <= found.range[1]
    True
    """

    best: int
    range: tuple[int, int]
    trials: list[NeighborTrial] = field(repr=False)
    reasons: list[str] = field(repr=False)
    sound: bool = True

    def __str__(self) -> str:
        """Return the reasons, one after the other."""
        return " ".join(self.reasons)

    def to_frame(self) -> pd.DataFrame:
        """Return the trials as a data frame, one row for each number of neighbours.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns ``components``, ``shortcuts`` and ``residual_variance``.
        """
        import pandas as pd

        return pd.DataFrame([vars(trial) for trial in self.trials]).set_index("n_neighbors")


@documented
def suggest_n_neighbors(
    X: MatrixLike,
    *,
    n_components: int = 2,
    max_neighbors: int = 50,
    metric: NativeMetric = "euclidean",
    n_sources: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> NeighborSuggestion:
    """Find the number of neighbours for Isomap and the other graph methods.

    Too few neighbours leave a graph in pieces whose paths zigzag; too many join
    sheets of the manifold that only pass near each other. In between, the graph is
    connected, has no shortcuts, and geodesic distances hardly change with the
    number. The suggestion is the least number from which on the residual variance is
    flat, and at least 8 where that is sound: paths over fewer zigzag. Where no number
    connects the graph, the parts are those that last while the number doubles.

    The neighbours are searched once, with the largest number. Components are those of
    all rows; geodesic distances are computed from a random sample of the rows through
    the graph of all of them.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_components : int, default=2
        Number of coordinates of which the residual variance is taken.
    max_neighbors : int, default=50
        The largest number tried.
    metric : str, default="euclidean"
        As in :func:`kneighbors`.
    n_sources : int, default=None
        Rows whose geodesic distances are looked at; None means 300, and 100 of more
        than 20 000 rows.
    random_state : int, RandomState instance or None, default=None
        Which rows; None means the same ones each time.
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    verbose : int, default=0
        {verbose_as_estimators}

    Returns
    -------
    suggestion : NeighborSuggestion
        Its ``best``, ``range``, ``trials`` and ``reasons``; prints as sentences.

    Raises
    ------
    InputError
        When X has fewer than 5 rows, no two that differ, or anything but finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import suggest_n_neighbors
    >>> t = np.linspace(0.0, 6.0, 200)
    >>> spiral = np.column_stack([t * np.cos(t), t * np.sin(t)])
    >>> suggest_n_neighbors(spiral, n_components=1).best
    8
    """
    rows = checked_rows(X)
    n = rows.shape[0]
    if n < _FEWEST:
        raise InputError(
            f"{n} row{'s are' if n > 1 else ' is'} too few to choose neighbours among: give at "
            f"least {_FEWEST}"
        )
    most = _count("max_neighbors", max_neighbors, _TRIED[0])
    width = _count("n_components", n_components, 1)
    sources = _sources(n, n_sources, width, random_state)
    tried = sorted({k for k in (*_TRIED, most) if k <= min(most, n - 1)})
    distances, indices = kneighbors(rows, tried[-1], metric=metric, n_jobs=n_jobs, verbose=verbose)
    if not distances.any():
        raise InputError(
            f"every row equals {tried[-1]} others or more, up to rounding: there is nothing to "
            "choose; remove duplicates first"
        )
    trials = []
    with progress(verbose, "suggest_n_neighbors") as report:
        for done, k in enumerate(tried):
            if report is not None:
                report(f"{k} neighbours", done, len(tried))
            trials.append(_trial(distances[:, :k], indices[:, :k], sources, width, n_jobs))
    return _judged(trials, width, n, len(sources))


def checked_rows(X: Any) -> Any:
    """Return X as an array or a csr matrix of finite numbers, or raise an InputError."""
    try:
        return checked_matrix(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    except InputError:
        raise
    except (ValueError, TypeError) as fault:
        raise InputError(f"{fault} (planish.describe(X) tells where)") from fault


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


def _sources(n: int, wanted: int | None, width: int, random_state: RandomState) -> Indices:
    check_seed(random_state)
    if wanted is None:
        wanted = _SOURCES_OF_MANY if n > _MANY else _SOURCES
    count = min(n, _count("n_sources", wanted, width + 2))
    rng = check_random_state(0 if random_state is None else random_state)
    return np.sort(rng.permutation(n)[:count]).astype(np.int64)


def _trial(
    distances: Floats,
    indices: Indices,
    sources: Indices,
    width: int,
    n_jobs: int | None,
) -> NeighborTrial:
    n, k = distances.shape
    offsets = np.arange(0, n * k + 1, k)
    graph = csr(distances.ravel(), indices.ravel(), offsets, (n, n))
    # scipy.sparse.csgraph takes a stored zero, an edge between duplicates, for no edge.
    pattern = csr(np.ones(n * k), indices.ravel(), offsets, (n, n))
    components, labels = connected_components(pattern, directed=False)
    main = sources[labels[sources] == np.bincount(labels).argmax()]
    variance = _residual_variance(graph, main, width, n_jobs)
    return NeighborTrial(k, int(components), _shortcuts(graph, k, width, n_jobs), variance)


def _residual_variance(graph: Any, sources: Indices, width: int, n_jobs: int | None) -> float:
    """1 - R² of geodesic distances and those of their classical scaling, both of `sources`."""
    from .classical_mds import ClassicalMDS

    if len(sources) <= width + 1:
        return float("nan")
    found = geodesic_distances(graph, sources=sources, n_jobs=n_jobs)[:, sources]
    found = np.minimum(found, found.T)
    scaling = ClassicalMDS(n_components=width, metric="precomputed", n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        places = scaling.fit_transform(found)
    lengths, between = found[np.triu_indices(len(sources), 1)], pdist(places)
    if np.ptp(lengths) == 0 or np.ptp(between) == 0:
        return float("nan")
    return float(1.0 - np.corrcoef(lengths, between)[0, 1] ** 2)


def _shortcuts(graph: Any, k: int, width: int, n_jobs: int | None) -> int:
    from .landmark_isomap import LandmarkIsomap

    n = graph.shape[0]
    landmarks = min(n, width + 14)
    if landmarks <= width:
        return 0
    estimator = LandmarkIsomap(
        n_components=width,
        n_neighbors=k,
        n_landmarks=landmarks,
        landmarks="random",
        disconnected="largest",
        metric="precomputed",
        n_jobs=n_jobs,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        return len(estimator.fit(graph).shortcuts_)


def _judged(trials: list[NeighborTrial], width: int, n: int, n_sources: int) -> NeighborSuggestion:
    first = _first_whole(trials)
    sound, end = [], None
    least = float("inf")
    for trial in trials[first:]:
        jump = trial.residual_variance > _JUMP * least + _JUMP_BEYOND
        if trial.components < trials[first].components or trial.shortcuts or jump:
            end = trial
            break
        sound.append(trial)
        least = np.fmin(least, trial.residual_variance)
    usable = sound or trials[first : first + 1]
    known = [t.residual_variance for t in usable if np.isfinite(t.residual_variance)]
    lowest = min(known, default=0.0)
    # What the columns cannot hold anyway does not tell one number from another.
    bound = _FLAT * lowest + _FLAT_BEYOND if lowest <= _MUCH else float("inf")
    flat = [trial for trial in usable if not trial.residual_variance > bound] or usable
    steady = [trial for trial in flat if trial.n_neighbors >= _STEADY]
    best = (steady or flat)[0]
    reasons = [
        f"Use n_neighbors={best.n_neighbors}.",
        *_lower_end(trials, usable),
        *_upper_end(usable, end, bool(sound)),
    ]
    if sound:
        reasons += _choice(usable, best, flat[0], width)
    if n_sources < n:
        reasons.append(f"Geodesic distances were looked at from {n_sources} of {n} rows.")
    span = (usable[0].n_neighbors, usable[-1].n_neighbors)
    return NeighborSuggestion(best.n_neighbors, span, trials, reasons, bool(sound))


def _first_whole(trials: list[NeighborTrial]) -> int:
    """Return the first trial whose graph is connected, or in parts that stay apart."""
    fewest = min(trial.components for trial in trials)
    if fewest > 1:
        for at, trial in enumerate(trials):
            joined = (t for t in trials[at:] if t.components < trial.components)
            end = next(joined, trials[-1])
            if end.n_neighbors >= _LASTING * trial.n_neighbors:
                return at
    return next(at for at, trial in enumerate(trials) if trial.components == fewest)


def _lower_end(trials: list[NeighborTrial], usable: list[NeighborTrial]) -> list[str]:
    parts, most = usable[0].components, trials[-1]
    if most.components > 1:
        lasting = f", and {parts} with {usable[0].n_neighbors} to {usable[-1].n_neighbors}"
        return [
            f"The graph has {most.components} components even with {most.n_neighbors} neighbours"
            f"{lasting if parts > most.components else ''}: these parts of the data are far apart, "
            "and what is said here is of the largest; embed them one by one, or let "
            "`disconnected` say how they are joined."
        ]
    low = usable[0].n_neighbors
    if low > trials[0].n_neighbors:
        return [f"With fewer than {low} neighbours the graph falls apart."]
    return []


def _upper_end(usable: list[NeighborTrial], end: NeighborTrial | None, sound: bool) -> list[str]:
    low, high = usable[0].n_neighbors, usable[-1].n_neighbors
    if not sound:
        return [
            f"Already with {low} neighbours, the least that keep the graph together, there are "
            "signs of shortcuts: the noise is about as large as the gap between sheets of the "
            "manifold, or the data is in groups that hardly touch. Remove noise or outliers "
            "first, embed groups one by one, or use fewer neighbours and "
            "disconnected='largest'."
        ]
    if end is None:
        return [f"No shortcuts appear up to {high} neighbours."]
    if end.shortcuts:
        several = f"{end.shortcuts} edges look like shortcuts"
        edges = "1 edge looks like a shortcut" if end.shortcuts == 1 else several
        return [f"With {end.n_neighbors} neighbours {edges} between parts that are far apart."]
    if end.components < usable[0].components:
        return [f"With {end.n_neighbors} neighbours edges begin to join the parts."]
    return [
        f"With {end.n_neighbors} neighbours the residual variance jumps to "
        f"{end.residual_variance:.3g}: paths leave the manifold."
    ]


def _choice(
    usable: list[NeighborTrial], best: NeighborTrial, flat: NeighborTrial, width: int
) -> list[str]:
    low, high = usable[0].n_neighbors, usable[-1].n_neighbors
    left = best.residual_variance
    if flat.n_neighbors < high:
        more = f"any number from {best.n_neighbors} to {high} is sound"
        said = [
            f"From {flat.n_neighbors} neighbours on the residual variance is flat at about "
            f"{left:.2g}; {more if best.n_neighbors < high else f'{high} are still sound'}."
        ]
    else:
        said = [
            f"The residual variance falls until {high} neighbours, to {left:.2g}; numbers from "
            f"{low} on are sound."
        ]
    if best is not flat:
        said.append(f"Paths over fewer than {_STEADY} neighbours zigzag and are too long.")
    if left > _MUCH:
        columns = "1 column leaves" if width == 1 else f"{width} columns leave"
        said.append(
            f"{columns} {100 * left:.0f} % of the variance of these distances: the data has more "
            "dimensions, or no flat shape."
        )
    return said
