"""How many dimensions the manifold has that data lies on.

:func:`estimate` runs several methods on one neighbour search and tells how far
they agree; the other functions are the methods one by one.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import numpy as np

from . import _core, _data, datasets
from ._columns import checked_matrix
from ._docs import documented
from ._estimates import Estimate, Estimates, Scale
from ._given_neighbors import given_neighbors
from ._metrics import resolve_metric
from ._neighbors import SearchedNeighbors
from ._progress import progress
from ._random import check_seed, seed_of
from ._threads import thread_count
from ._types import MatrixLike, Metric, RandomState
from ._warn import warn
from .exceptions import InputAdjustedWarning, InputError, ParameterError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix
    from typing_extensions import Unpack

__all__ = [
    "Estimate",
    "Estimates",
    "Scale",
    "correlation",
    "estimate",
    "gride",
    "local_pca",
    "maximum_likelihood",
    "moments",
    "simplex_skewness",
    "two_nn",
]

#: The methods of :func:`estimate`.
Method: TypeAlias = Literal[
    "maximum_likelihood", "two_nn", "two_nn_likelihood", "gride", "correlation", "local_pca",
    "moments", "simplex_skewness", "residual_variance",
]  # fmt: skip
#: How the principal axes of a neighbourhood are counted.
Rule: TypeAlias = Literal[
    "fukunaga_olsen", "ratio", "maxgap", "participation_ratio", "kaiser", "broken_stick"
]

_NEIGHBOR_METHODS = [
    "maximum_likelihood", "two_nn", "two_nn_likelihood", "gride", "correlation", "local_pca",
    "moments", "simplex_skewness",
]  # fmt: skip
# More dimensions than these are not looked for by the residual variance.
_MOST_DIMS = 20
# Cubes of more dimensions are not compared with.
_MOST_CALIBRATED = 64
# Added to the seed, so that a cube of `datasets` is not compared with itself.
_OWN_SEED = 104_729
# How far corrected values are off, as a share, where the data is no cube: on bent ones of 1 to 10
# dimensions with 2 000 points by at most that beyond what varies from sample to sample.
_SHAPES = 0.05


class Options(TypedDict, total=False):
    """The parameters that every method has, as in :func:`estimate`."""

    metric: Metric
    p: float
    metric_params: dict[str, Any] | None
    neighbors: ArrayLike | sparray | spmatrix | None
    n_bootstraps: int
    confidence: float
    calibrate: bool
    random_state: RandomState
    n_jobs: int | None
    verbose: int


@documented
def estimate(
    X: MatrixLike,
    n_neighbors: int = 20,
    *,
    methods: Iterable[Method] | None = None,
    rule: Rule = "fukunaga_olsen",
    discard: float = 0.1,
    metric: Metric = "euclidean",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
    neighbors: ArrayLike | sparray | spmatrix | None = None,
    n_bootstraps: int = 200,
    confidence: float = 0.95,
    calibrate: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Estimates:
    """Estimate the intrinsic dimension by several methods at once.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data; of shape (n_samples, n_samples) when `metric` is "precomputed".
        Of rows that are equal one counts, with a warning.
    n_neighbors : int, default=20
        Number of neighbours of each row, at least 2. More neighbours see a
        larger scale: less noise, and more of curvature and edges.
    methods : iterable of str, default=None
        Names of functions of this module, "two_nn_likelihood" and
        "residual_variance" (the elbow of :func:`planish.residual_variance`, from
        the same neighbours, which takes n² memory). None means all but the last.
    rule : str, default="fukunaga_olsen"
        How :func:`local_pca` counts.
    discard : float, default=0.1
        Share of the largest ratios that :func:`two_nn` leaves out.
    metric : str or callable, default="euclidean"
        {metric_of_graph}
    p : float, default=2
        {p}
    metric_params : dict, default=None
        {metric_params}
    neighbors : array-like of int of shape (n_samples, k) or sparse matrix, default=None
        The neighbours of each row, if they are known; `n_neighbors` and `metric`
        are then not used.
    n_bootstraps : int, default=200
        Number of bootstrap samples for the intervals, of blocks of neighbouring
        rows; 0 for no intervals.
    confidence : float, default=0.95
        Share of the bootstrap samples that an interval holds.
    calibrate : bool, default=False
        Whether to correct for the number of rows: with few, all methods fall short
        of high dimensions, because most rows are near an edge. The same methods are
        run on as many points of cubes of dimension 1, 2, …, and ``corrected`` is the
        dimension of the cube that would give the value [1]_, ``corrected_interval`` an
        interval for the dimension itself.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap; None is a fixed seed.
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    verbose : int, default=0
        {verbose_as_estimators}

    Returns
    -------
    estimates : Estimates
        A table that prints, with ``to_frame()``, ``summary`` and ``dimension``;
        ``estimates["two_nn"]`` is one of them, with its ``value``, ``interval``
        and ``local`` values. Intervals tell how the value would vary with other
        samples, not how far it is off: with few rows all methods but local
        principal axes fall short of high dimensions. Those of corrected values do.

    References
    ----------
    .. [1] F. Camastra, A. Vinciarelli, "Estimating the intrinsic dimension of data
       with a fractal-based method", IEEE PAMI 24 (2002).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> found = dimension.estimate(datasets.cube(1000, 3, n_features=10).points)
    >>> found.dimension
    3
    """
    wanted = _method_names(methods)
    search = _Search(
        X, n_neighbors, metric, p, metric_params, neighbors, random_state, n_jobs, verbose
    )
    estimates = search.run(wanted, rule, discard, n_bootstraps, confidence)
    if calibrate:
        estimates = search.calibrated(estimates, rule, discard)
    if all(one.note for one in estimates):
        raise InputError("; ".join(f"{one.method}: {one.note}" for one in estimates))
    return Estimates(estimates, search.n_samples, confidence)


def maximum_likelihood(
    X: MatrixLike, n_neighbors: int = 20, **options: Unpack[Options]
) -> Estimate:
    """Estimate the dimension by maximum likelihood, from all distances to neighbours.

    The inverse dimension at a row is the mean of the logarithms of the distance
    to its farthest neighbour over those to the others [1]_; that of all is the mean
    of these inverses [2]_.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_neighbors : int, default=20
        Number of neighbours of each row, at least 2.
    **options : dict
        The other parameters of :func:`estimate`.

    Returns
    -------
    estimate : Estimate
        With a value for each row.

    References
    ----------
    .. [1] E. Levina, P. Bickel, "Maximum likelihood estimation of intrinsic
       dimension", NIPS 17 (2004).
    .. [2] D. MacKay, Z. Ghahramani, "Comments on 'Maximum likelihood estimation of
       intrinsic dimension'" (2005).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> round(float(dimension.maximum_likelihood(datasets.helix(500).points)), 1)
    1.0
    """
    return _one("maximum_likelihood", X, n_neighbors, options)


def two_nn(
    X: MatrixLike,
    n_neighbors: int = 20,
    *,
    form: Literal["fit", "likelihood"] = "fit",
    discard: float = 0.1,
    **options: Unpack[Options],
) -> Estimate:
    """Estimate the dimension from the distances to the two nearest neighbours.

    The ratio of the second distance to the first is distributed as 1 - μ^(-d),
    whatever the density [1]_: the smallest scale there is, and the most sensitive to
    noise.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_neighbors : int, default=20
        Number of neighbours whose ratios make the values of single rows.
    form : {"fit", "likelihood"}, default="fit"
        A line through the logarithms, without the largest ratios, or maximum
        likelihood.
    discard : float, default=0.1
        Share of the largest ratios that the line leaves out.
    **options : dict
        The other parameters of :func:`estimate`.

    Returns
    -------
    estimate : Estimate
        With a value for each row, by maximum likelihood over it and its neighbours.

    References
    ----------
    .. [1] E. Facco, M. d'Errico, A. Rodriguez, A. Laio, "Estimating the intrinsic
       dimension of datasets by a minimal neighborhood information", Scientific
       Reports 7 (2017).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> round(float(dimension.two_nn(datasets.s_curve(2000).points)))
    2
    """
    forms = {"fit": "two_nn", "likelihood": "two_nn_likelihood"}
    if not isinstance(form, str) or form not in forms:
        raise ParameterError(f"parameter `form`: expected 'fit' or 'likelihood', got {form!r}")
    return _one(forms[form], X, n_neighbors, options, discard=discard)


def gride(X: MatrixLike, n_neighbors: int = 64, **options: Unpack[Options]) -> Estimate:
    """Estimate the dimension over scales, from distances to neighbours of doubled rank.

    At each scale the distances to the neighbours of rank a and 2a are compared [1]_,
    for a = 1, 2, 4, … as far as `n_neighbors` allows. Noise shows at small scales,
    curvature and edges at large ones; where the curve is flat is the dimension.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_neighbors : int, default=64
        Number of neighbours of each row; the largest scale is the largest power
        of two up to it.
    **options : dict
        The other parameters of :func:`estimate`.

    Returns
    -------
    estimate : Estimate
        Its value and those of the rows are at the largest scale; ``scales`` has all.

    References
    ----------
    .. [1] F. Denti, D. Doimo, A. Laio, A. Mira, "The generalized ratios intrinsic
       dimension estimator", Scientific Reports 12 (2022).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> noisy = datasets.swiss_roll(2000, noise=0.2).points
    >>> found = dimension.gride(noisy)
    >>> found.scales[0].value > found.scales[-1].value
    True
    """
    return _one("gride", X, n_neighbors, options)


def correlation(X: MatrixLike, n_neighbors: int = 20, **options: Unpack[Options]) -> Estimate:
    """Estimate the correlation dimension.

    The number of pairs within a radius grows like its power d [1]_. The larger of two
    radii is the first decile of the distances to the farthest neighbours, the smaller
    that of the neighbours of half that rank.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_neighbors : int, default=20
        Number of neighbours that decides on the radii.
    **options : dict
        The other parameters of :func:`estimate`.

    Returns
    -------
    estimate : Estimate
        Without values for rows: it is about pairs.

    References
    ----------
    .. [1] P. Grassberger, I. Procaccia, "Measuring the strangeness of strange
       attractors", Physica D 9 (1983).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> round(float(dimension.correlation(datasets.s_curve(2000).points)))
    2
    """
    return _one("correlation", X, n_neighbors, options)


def local_pca(
    X: MatrixLike,
    n_neighbors: int = 20,
    *,
    rule: Rule = "fukunaga_olsen",
    **options: Unpack[Options],
) -> Estimate:
    """Estimate the dimension by the principal axes of each row's neighbourhood.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_neighbors : int, default=20
        Number of neighbours of each row, more than the dimension.
    rule : str, default="fukunaga_olsen"
        Which of the eigenvalues λ of the covariance of a row and its neighbours
        count: "fukunaga_olsen" those above a twentieth of the largest [1]_, "ratio"
        as many as have 95 % of the variance, "maxgap" those before the largest
        quotient of successive ones [2]_, "kaiser" those above their mean,
        "broken_stick" those above the pieces of a stick broken at random [3]_;
        "participation_ratio" is (Σλ)²/Σλ². The rule decides much of the answer.
    **options : dict
        The other parameters of :func:`estimate`.

    Returns
    -------
    estimate : Estimate
        The mean of the values of the rows.

    References
    ----------
    .. [1] K. Fukunaga, D. Olsen, "An algorithm for finding intrinsic dimensionality
       of data", IEEE Transactions on Computers 20 (1971).
    .. [2] J. Bruske, G. Sommer, "Intrinsic dimensionality estimation with optimally
       topology preserving maps", IEEE PAMI 20 (1998).
    .. [3] D. Jackson, "Stopping rules in principal components analysis", Ecology 74
       (1993).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> round(float(dimension.local_pca(datasets.s_curve(2000).points)))
    2
    """
    return _one("local_pca", X, n_neighbors, options, rule=rule)


def moments(X: MatrixLike, n_neighbors: int = 20, **options: Unpack[Options]) -> Estimate:
    """Estimate the dimension by the mean distance to neighbours.

    The mean distance over the largest is d/(d + 1) in a ball [1]_.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    n_neighbors : int, default=20
        Number of neighbours of each row, at least 2.
    **options : dict
        The other parameters of :func:`estimate`.

    Returns
    -------
    estimate : Estimate
        With a value for each row.

    References
    ----------
    .. [1] L. Amsaleg et al., "Extreme-value-theoretic estimation of local intrinsic
       dimensionality", Data Mining and Knowledge Discovery 32 (2018).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> round(float(dimension.moments(datasets.s_curve(2000).points)))
    2
    """
    return _one("moments", X, n_neighbors, options)


def simplex_skewness(X: MatrixLike, n_neighbors: int = 20, **options: Unpack[Options]) -> Estimate:
    """Estimate the dimension by the angles between the neighbours of a row.

    In many dimensions directions are nearly at right angles, in one they are in line:
    the mean sine of the angle between two neighbours, seen from the mean of all and
    weighted by their distances, tells the dimension [1]_. Edges of the data hardly
    matter, which spoil the other methods in high dimensions; curvature within the
    neighbours makes it too large.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data, no graph.
    n_neighbors : int, default=20
        Number of neighbours of each row, at least 2 and more than the dimension.
    **options : dict
        The other parameters of :func:`estimate`.

    Returns
    -------
    estimate : Estimate
        With a value for each row.

    References
    ----------
    .. [1] K. Johnsson, C. Soneson, M. Fontes, "Low bias local intrinsic dimension
       estimation from expected simplex skewness", IEEE PAMI 37 (2015).

    Examples
    --------
    >>> from planish import datasets, dimension
    >>> cube = datasets.cube(2000, 8).points
    >>> float(dimension.simplex_skewness(cube)) > float(dimension.maximum_likelihood(cube)) + 0.5
    True
    """
    return _one("simplex_skewness", X, n_neighbors, options)


def _one(
    method: str,
    X: MatrixLike,
    n_neighbors: int,
    options: Options,
    *,
    rule: Rule = "fukunaga_olsen",
    discard: float = 0.1,
) -> Estimate:
    given: dict[str, Any] = dict(options)
    wrong = sorted(set(given) - set(Options.__annotations__))
    if wrong:
        raise ParameterError(
            f"parameter `{wrong[0]}`: not known here; there are: "
            + ", ".join(sorted(Options.__annotations__))
        )
    samples, confidence = given.pop("n_bootstraps", 200), given.pop("confidence", 0.95)
    calibrate = given.pop("calibrate", False)
    defaults: dict[str, Any] = {
        "metric": "euclidean", "p": 2, "metric_params": None, "neighbors": None,
        "random_state": None, "n_jobs": None, "verbose": 0,
    }  # fmt: skip
    search = _Search(X, n_neighbors, **{**defaults, **given})
    (found,) = search.run([method], rule, discard, samples, confidence)
    if found.note:
        raise (UnsupportedError if search.unsupported else InputError)(found.note)
    return search.calibrated([found], rule, discard)[0] if calibrate else found


class _Search:
    """The data as the core takes it, and what every method needs of it."""

    def __init__(
        self,
        X: Any,
        n_neighbors: Any,
        metric: Any,
        p: Any,
        metric_params: Any,
        neighbors: Any,
        random_state: Any,
        n_jobs: Any,
        verbose: Any,
    ) -> None:
        check_seed(random_state)
        self.seed = seed_of(random_state)
        self.threads = thread_count(n_jobs)
        self.verbose = verbose
        self.unsupported = False
        self.n_neighbors = _whole("n_neighbors", n_neighbors, 2)
        rows = checked_matrix(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
        )
        self.n_samples = int(rows.shape[0])
        self.metric, self.p = "precomputed", 2.0
        #: For each row of X the searched row that stands for it, if not all are.
        self.stands_for: Any = None
        resolved = resolve_metric(metric, p, metric_params)
        if neighbors is not None and not resolved.precomputed:
            self.n_neighbors = self.n_samples
            self.data = _data.neighborhoods(rows, given_neighbors(neighbors, rows))
        elif neighbors is not None:
            raise ParameterError("parameter `neighbors`: X already holds distances; leave it None")
        elif resolved.precomputed:
            sparse = _data.is_sparse(rows)
            self.data = _data.square_graph(rows) if sparse else _data.distances(rows)
        elif resolved.native:
            self.metric, self.p = str(resolved.name), float(resolved.p)
            self.data = _data.points(rows)
        else:
            self._search_elsewhere(rows, resolved)

    def _search_elsewhere(self, rows: Any, metric: Any) -> None:
        """Search under a metric the core does not know, among the distinct rows."""
        keys = _data.row_keys(rows)
        number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        self.stands_for = np.array([number[key] for key in keys])
        firsts = np.unique(self.stands_for, return_index=True)[1]
        distinct = rows[firsts]
        if len(firsts) <= self.n_neighbors < len(keys):
            raise InputError(
                f"only {len(firsts)} of the {len(keys)} rows are distinct, which leaves each fewer "
                f"than n_neighbors = {self.n_neighbors} others; use fewer neighbours"
            )
        if len(firsts) < len(keys):
            warn(
                f"{len(keys) - len(firsts)} of {len(keys)} rows are duplicates of others, at "
                f"distance zero; the {len(firsts)} distinct rows were used, each once",
                InputAdjustedWarning,
            )
        search = SearchedNeighbors(
            metric, self.n_neighbors, None, "auto", bridge=False, attach=False
        )
        graph = search.training(distinct)
        whole = metric.name != "nan_euclidean"
        self.data = _data.neighborhoods(distinct, graph) if whole else graph

    def run(
        self, methods: list[str], rule: Any, discard: Any, n_bootstraps: Any, confidence: Any
    ) -> list[Estimate]:
        """Run the methods, in their order."""
        for name, value in (("discard", discard), ("confidence", confidence)):
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ParameterError(f"parameter `{name}`: expected a number, got {value!r}")
        if not isinstance(rule, str):
            raise ParameterError(f"parameter `rule`: expected a name, got {rule!r}")
        core = [name for name in methods if name != "residual_variance"]
        with progress(self.verbose, "dimension") as report:
            found, lists = _core.dimension(
                self.data,
                core,
                self.n_neighbors,
                self.metric,
                self.p,
                rule,
                float(discard),
                _whole("n_bootstraps", n_bootstraps, 0),
                float(confidence),
                self.seed,
                self.threads,
                report,
            )
        self.rows_used = len(lists[0]) - 1
        self.neighbors_used = len(lists[1]) // self.rows_used
        estimates = {name: self._made(name, one) for name, one in zip(core, found, strict=True)}
        if "residual_variance" in methods:
            estimates["residual_variance"] = _elbow(lists)
        return [estimates[name] for name in methods]

    def calibrated(self, estimates: list[Estimate], rule: Any, discard: Any) -> list[Estimate]:
        """Correct the values by those of cubes with as many points and neighbours."""
        known = (e for e in estimates if e.value > 0 and e.method in _NEIGHBOR_METHODS)
        wanted = {e.method: e.interval[1] if e.interval else e.value for e in known}
        curves: dict[str, list[float]] = {method: [0.0] for method in wanted}
        for dimension in range(1, _MOST_CALIBRATED + 1):
            left = [name for name, value in wanted.items() if curves[name][-1] < value]
            if not left:
                break
            seed = (self.seed + _OWN_SEED) % 2**31
            cube = datasets.cube(self.rows_used, dimension, random_state=seed)
            found, _ = _core.dimension(
                _data.points(cube.points), left, self.neighbors_used, "euclidean", 2.0, rule,
                float(discard), 0, 0.5, 0, self.threads, None,
            )  # fmt: skip
            for name, one in zip(left, found, strict=True):
                # Chance aside the curve rises; where it does not, the next cube decides.
                curves[name].append(max(curves[name][-1], one[0] or 0.0))
        return [_corrected(e, curves.get(e.method)) for e in estimates]

    def _made(self, method: str, found: Any) -> Estimate:
        value, failure, interval, local, scales = found
        if local is not None and self.stands_for is not None:
            local = local[self.stands_for]
        if failure is not None:
            self.unsupported = failure[0]
            return Estimate(method, float("nan"), note=failure[1])
        steps = tuple(
            Scale((ranks[0], ranks[1]), distance, level, bounds and (bounds[0], bounds[1]))
            for ranks, distance, level, bounds in scales
        )
        return Estimate(method, value, interval and (interval[0], interval[1]), local, steps)


def _elbow(lists: tuple[Any, Any, Any]) -> Estimate:
    """Return the elbow of the residual variance on the graph of the neighbours found."""
    from .diagnostics import residual_variance
    from .exceptions import PlanishError

    indptr, indices, distances = lists
    rows = len(indptr) - 1
    graph = _data.csr(distances, indices, indptr, (rows, rows))
    dims = min(_MOST_DIMS, rows - 1)
    try:
        curve = residual_variance(
            graph, dims, metric="precomputed", n_neighbors=None, radius=np.inf,
            disconnected="largest",
        )  # fmt: skip
    except PlanishError as error:
        return Estimate("residual_variance", float("nan"), note=str(error))
    return Estimate("residual_variance", float(curve.elbow))


def _corrected(estimate: Estimate, curve: list[float] | None) -> Estimate:
    """Return an estimate with the dimension that its value, and its bounds, stand for."""
    low, high = (_inverse(curve, bound) for bound in estimate.interval or (np.inf, np.inf))
    bounds = None if low is None or high is None else ((1 - _SHAPES) * low, (1 + _SHAPES) * high)
    value = _inverse(curve, estimate.value)
    return replace(estimate, corrected=value, corrected_interval=bounds)


def _inverse(curve: list[float] | None, value: float) -> float | None:
    """Return the dimension at which a curve over 0, 1, 2, … has a value, if it comes that far."""
    if curve is None or curve[-1] < value:
        return None
    return float(np.interp(value, curve, np.arange(len(curve))))


def _method_names(methods: Any) -> list[str]:
    if methods is None:
        return list(_NEIGHBOR_METHODS)
    names = [methods] if isinstance(methods, str) else list(methods)
    known = [*_NEIGHBOR_METHODS, "residual_variance"]
    for name in names:
        if name not in known:
            raise ParameterError(
                f"parameter `methods`: {name!r} is not known; there are: {', '.join(known)}"
            )
    if not names or len(set(names)) < len(names):
        raise ParameterError("parameter `methods`: name at least one method, and each once")
    return names


def _whole(name: str, value: object, least: int) -> int:
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < least:
        raise ParameterError(
            f"parameter `{name}`: expected an int of at least {least}, got {value!r}"
        )
    return min(count, 2**31)
