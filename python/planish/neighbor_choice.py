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
) -> NeighborSuggestion:
    """Find the number of neighbours for Isomap and the other graph methods.

    Too few neighbours leave a graph in pieces whose paths zigzag; too many join
    sheets of the manifold that only pass near each other. In between, the graph is
    connected, has no shortcuts, and geodesic distances hardly change with the
    number. The suggestion is the least number from which on the residual variance is
    flat.

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
    3
    """
    rows = checked_rows(X)
    n = rows.shape[0]
    if n < _FEWEST:
        raise InputError(
            f"{n} rows are too few to choose neighbours among: give at least {_FEWEST}"
        )
    most = _count("max_neighbors", max_neighbors, _TRIED[0])
    width = _count("n_components", n_components, 1)
    sources = _sources(n, n_sources, width, random_state)
    tried = sorted({k for k in (*_TRIED, most) if k <= min(most, n - 1)})
    distances, indices = kneighbors(rows, tried[-1], metric=metric, n_jobs=n_jobs)
    if not distances.any():
        raise InputError("all rows are equal up to rounding: there is nothing to choose")
    trials = [_trial(distances[:, :k], indices[:, :k], sources, width, n_jobs) for k in tried]
    return _judged(trials, n, len(sources))


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


def _judged(trials: list[NeighborTrial], n: int, n_sources: int) -> NeighborSuggestion:
    fewest = min(trial.components for trial in trials)
    first = next(at for at, trial in enumerate(trials) if trial.components == fewest)
    sound, end = [], None
    least = float("inf")
    for trial in trials[first:]:
        jump = trial.residual_variance > _JUMP * least + _JUMP_BEYOND
        if trial.shortcuts or jump:
            end = trial
            break
        sound.append(trial)
        least = np.fmin(least, trial.residual_variance)
    usable = sound or trials[first : first + 1]
    known = [t.residual_variance for t in usable if np.isfinite(t.residual_variance)]
    bound = _FLAT * min(known, default=0.0) + _FLAT_BEYOND
    flat = [trial for trial in usable if not trial.residual_variance > bound]
    best = (flat or usable)[0]
    span = (usable[0].n_neighbors, usable[-1].n_neighbors)
    reasons = _reasons(trials, usable, best, end, bool(sound), n, n_sources)
    return NeighborSuggestion(best.n_neighbors, span, trials, reasons)


def _reasons(
    trials: list[NeighborTrial],
    usable: list[NeighborTrial],
    best: NeighborTrial,
    end: NeighborTrial | None,
    sound: bool,
    n: int,
    n_sources: int,
) -> list[str]:
    said = [f"Use n_neighbors={best.n_neighbors}."]
    fewest = usable[0].components
    low, high = usable[0].n_neighbors, usable[-1].n_neighbors
    if fewest > 1:
        said.append(
            f"The graph has {fewest} components even with {trials[-1].n_neighbors} neighbours: "
            "these parts of the data are far apart, and what is said here is of the largest; "
            "embed the others by themselves, or let `disconnected` say how they are joined."
        )
    elif low > trials[0].n_neighbors:
        said.append(f"With fewer than {low} neighbours the graph falls apart.")
    if not sound:
        said.append(
            f"Already with {low} neighbours, the least that connect the graph, there are signs of "
            "shortcuts: the noise is about as large as the gap between sheets of the manifold. "
            "Remove noise or outliers first, or use fewer neighbours and "
            "disconnected='largest'."
        )
    elif end is not None and end.shortcuts:
        edges = (
            "1 edge looks like a shortcut"
            if end.shortcuts == 1
            else (f"{end.shortcuts} edges look like shortcuts")
        )
        said.append(f"With {end.n_neighbors} neighbours {edges} between parts that are far apart.")
    elif end is not None:
        said.append(
            f"With {end.n_neighbors} neighbours the residual variance jumps to "
            f"{end.residual_variance:.3g}: paths leave the manifold."
        )
    else:
        said.append(f"No shortcuts appear up to {high} neighbours.")
    if sound and best.n_neighbors < high:
        said.append(
            f"From {best.n_neighbors} neighbours on the residual variance is flat at about "
            f"{best.residual_variance:.2g}; any number from {best.n_neighbors} to {high} is sound."
        )
    elif sound:
        said.append(
            f"The residual variance falls until {high} neighbours, to "
            f"{best.residual_variance:.2g}; numbers from {low} on are sound."
        )
    if n_sources < n:
        said.append(f"Geodesic distances were looked at from {n_sources} of {n} rows.")
    return said
