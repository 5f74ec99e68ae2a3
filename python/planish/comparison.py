"""Several methods on the same data, side by side."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from ._columns import require_collected
from ._docs import documented
from ._embedding import Embedding
from ._judging import quality_of
from ._methods import method_class
from ._progress import progress
from ._quality import as_labels, unlabelled
from ._random import check_seed
from ._types import Floats, Indices, MatrixLike, RandomState
from ._warn import warn
from .exceptions import InputAdjustedWarning, InputError, ParameterError
from .functions import estimate_memory
from .neighbor_choice import _count

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

# Rows up to which a method that works on all pairs is among the default ones.
_FEW = 2500
# Fewer rows than this want a smaller perplexity than the default 30.
_FEW_FOR_PERPLEXITY = 91
# Methods whose default number of neighbours means something else: all pairs, a bandwidth.
_OWN_NEIGHBORS = ("SammonMapping", "DiffusionMaps")
# What is averaged to call one method the best, where it is there.
_JUDGED_BY = ("trustworthiness", "continuity")


@dataclass(frozen=True)
class ComparisonRow:
    """What became of one method.

    Attributes
    ----------
    name : str
        Its name in the table.
    estimator : object or None
        The fitted estimator, or the one that failed; None where none could be made.
    embedding : ndarray of shape (n_samples, n_components) or None
        The coordinates, or None when the method failed.
    error : str or None
        Kind and text of the exception when it failed.
    seconds : float
        Time of the fit.
    memory : int or None
        Estimated peak of the fit in bytes, beyond the data.
    peak : int or None
        Measured growth of the process in bytes, on Linux.
    quality : dict of str to float
        Measures of quality by name.
    warnings : list of str
        Kinds and texts of the warnings.
    """

    name: str
    estimator: Any = field(repr=False)
    embedding: Floats | None = field(repr=False)
    error: str | None
    seconds: float
    memory: int | None
    peak: int | None
    quality: dict[str, float]
    warnings: list[str]


@dataclass(frozen=True)
class Comparison:
    """Methods side by side; prints as a table.

    Attributes
    ----------
    rows : list of ComparisonRow
        One for each method, in the order they were given.
    sample : ndarray of shape (n_fitted,)
        The rows of the data that were fitted.
    n_samples : int
        Number of rows of the data.
    labels : ndarray or None
        Labels of the fitted rows.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import compare
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [5, 4, 1, 1]
    >>> found = compare(X, ["PCA", "Isomap"], random_state=0)
    >>> [row.name for row in found.rows], found.best().error
    (['PCA', 'Isomap'], None)
    """

    rows: list[ComparisonRow]
    sample: Indices = field(repr=False)
    n_samples: int
    labels: Any = field(repr=False, default=None)

    def best(self, by: str | None = None) -> ComparisonRow:
        """Return the row of the best method.

        Parameters
        ----------
        by : str, default=None
            Name of a measure, the larger the better; None means the mean of
            trustworthiness and continuity.

        Returns
        -------
        row : ComparisonRow
            Of several that are equal, the first.
        """
        measures = _JUDGED_BY if by is None else (by,)
        found = [row for row in self.rows if all(name in row.quality for name in measures)]
        if not found:
            raise InputError(f"no method has a value of {' and '.join(measures)}")
        return max(found, key=lambda row: sum(row.quality[name] for name in measures))

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a data frame, one row for each method.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns ``seconds``, ``memory``, ``peak``, the measures of quality,
            ``warnings`` and ``error``.
        """
        import pandas as pd

        lines = [
            {
                "method": row.name,
                "seconds": row.seconds,
                "memory": row.memory,
                "peak": row.peak,
                **row.quality,
                "warnings": len(row.warnings),
                "error": row.error,
            }
            for row in self.rows
        ]
        return pd.DataFrame(lines).set_index("method")

    def plot(self, **options: Any) -> Any:
        """Draw the maps in a grid; needs ``planish[plot]``.

        Parameters
        ----------
        **options : dict
            As in ``planish.plot.compare``; the labels are those of the comparison.

        Returns
        -------
        axes : ndarray of Axes
            Those that were drawn into.
        """
        plot: Any = importlib.import_module("planish.plot")
        return plot.compare(self, **{"labels": self.labels, **options})

    def __str__(self) -> str:
        """Return the table, and below it what failed and what was warned of."""
        measures = list(dict.fromkeys(name for row in self.rows for name in row.quality))
        heads = ["method", "time", "memory", "peak", *(m.replace("_", " ") for m in measures)]
        cells = [heads, *(_cells(row, measures) for row in self.rows)]
        widths = [max(len(line[at]) for line in cells) for at in range(len(heads))]
        lines = []
        for line in cells:
            first, *others = (
                text.ljust(width) if at == 0 else text.rjust(width)
                for at, (text, width) in enumerate(zip(line, widths, strict=True))
            )
            lines.append("  ".join([first, *others]).rstrip())
        lines.insert(1, "-" * max(map(len, lines)))
        if len(self.sample) < self.n_samples:
            lines.append(f"fitted on {len(self.sample)} of {self.n_samples} rows")
        for row in self.rows:
            lines += [f"{row.name}: failed: {row.error}"] if row.error else []
            lines += [f"{row.name}: {text}" for text in row.warnings]
        return "\n".join(lines)


def _cells(row: ComparisonRow, measures: list[str]) -> list[str]:
    values = (f"{row.quality[name]:.3f}" if name in row.quality else "-" for name in measures)
    return [
        row.name,
        "failed" if row.error else f"{row.seconds:.3f} s",
        in_bytes(row.memory),
        in_bytes(row.peak),
        *values,
    ]


def in_bytes(size: int | None) -> str:
    """Return a number of bytes as people write it."""
    if size is None:
        return "-"
    for unit, bound in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= bound:
            return f"{size / bound:.3g} {unit}"
    return f"{size} B"


@documented
def compare(
    X: MatrixLike,
    methods: Iterable[Any] | Mapping[str, Any] | None = None,
    labels: ArrayLike | None = None,
    *,
    n_components: int = 2,
    n_neighbors: int = 10,
    sample: int | None = 5000,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Fit several methods and set their time, memory and quality side by side.

    A method that fails stays in the table with its error; so do warnings. Ctrl-C ends
    the whole.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The data.
    methods : iterable or dict, default=None
        Names of classes of planish, classes, or estimators (planish's or others'), or
        a dict of these by the name they are to have in the table. An estimator keeps
        its parameters; the others take those below. None chooses by the size of X.
    labels : array-like of shape (n_samples,), default=None
        Classes of the rows, for the quality and the pictures. Where one is missing, or all
        are the same, they are for the pictures only, with a warning.
    n_components : int, default=2
        Number of coordinates.
    n_neighbors : int, default=10
        Number of neighbours of the methods that have a graph, and of the quality.
    sample : int, default=5000
        Most rows that are fitted, chosen at random; None means all of them.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample and of the methods; None means the same each time.
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    verbose : int, default=0
        {verbose_as_estimators}

    Returns
    -------
    comparison : Comparison
        Its ``rows``, ``best()``, ``to_frame()`` and ``plot()``; prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import PCA, compare
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [5, 4, 1, 1]
    >>> found = compare(X, {"linear": PCA(n_components=2), "curved": "Isomap"})
    >>> found.rows[0].embedding.shape
    (60, 2)
    """
    check_seed(random_state)
    width = _count("n_components", n_components, 1)
    near = _count("n_neighbors", n_neighbors, 1)
    most = None if sample is None else _count("sample", sample, 2)
    rng = check_random_state(0 if random_state is None else random_state)
    n = _rows_of(X)
    known = None if labels is None else as_labels(labels)
    if known is not None and known.shape != (n,):
        raise InputError(f"`labels` has the shape {known.shape}, X has {n} rows")
    telling = None if known is None or _tell_nothing(known) else known
    kept = np.arange(n)
    if most is not None and n > most:
        kept = np.sort(rng.permutation(n)[:most])
        X = _safe_indexing(X, kept)
        known = None if known is None else known[kept]
        telling = None if telling is None else telling[kept]
    seed = int(rng.randint(2**31 - 1))
    common: dict[str, Any] = {
        "n_components": width,
        "n_neighbors": max(1, min(near, len(kept) - 1)),
        "random_state": seed,
        "n_jobs": n_jobs,
    }
    if len(kept) < _FEW_FOR_PERPLEXITY:
        common["perplexity"] = max(1.0, (len(kept) - 1) / 3)
    chosen = _listed(methods, len(kept))
    rows = []
    with progress(verbose, "compare") as report:
        for done, (name, method) in enumerate(chosen.items()):
            if report is not None:
                report(name, done, len(chosen))
            rows.append(_row(name, method, X, telling, common))
    return Comparison(rows, kept, n, known)


def _tell_nothing(labels: Any) -> bool:
    """Whether labels cannot judge a map; said in a warning."""
    row = unlabelled(labels)
    if row is not None:
        why = f"row {row} has no label ({labels[row]})"
    elif len(labels) and (labels == labels[0]).all():
        why = "all rows have the same label"
    else:
        return False
    warn(f"{why}: the neighbourhood hit is left out", InputAdjustedWarning)
    return True


def _rows_of(X: Any) -> int:
    require_collected(X)
    shape = getattr(X, "shape", None)
    if shape and len(shape) != 2:  # noqa: PLR2004
        raise InputError(f"X must have rows and columns, got an array of shape {tuple(shape)}")
    try:
        return int(shape[0]) if shape else len(X)
    except TypeError:
        raise InputError(f"X has no rows: it is a {type(X).__name__}") from None


def default_methods(n: int) -> list[str]:
    """Return the names of methods that fit in seconds on n rows."""
    names = ["PCA", "Isomap" if n <= 2 * _FEW else "LandmarkIsomap"]
    names += ["LocallyLinearEmbedding", "SpectralEmbedding", "DiffusionMaps"]
    return [*names, *(["MDS", "SammonMapping"] if n <= _FEW else []), "TSNE"]


def _listed(methods: Any, n: int) -> dict[str, Any]:
    if methods is None:
        methods = default_methods(n)
    if isinstance(methods, Mapping):
        return {str(name): method for name, method in methods.items()}
    if isinstance(methods, str) or hasattr(methods, "fit") or not isinstance(methods, Iterable):
        raise ParameterError(
            "parameter `methods`: expected a list of names, classes or estimators, or a dict, "
            f"got {methods!r}"
        )
    found: dict[str, Any] = {}
    for method in methods:
        name = method if isinstance(method, str) else getattr(method, "__name__", None)
        name = str(name or type(method).__name__)
        same = sum(other.split(" #")[0] == name for other in found)
        found[f"{name} #{same + 1}" if same else name] = method
    return found


def _row(name: str, method: Any, X: Any, labels: Any, common: dict[str, Any]) -> ComparisonRow:
    estimator: Any = None
    placed, error, memory, peak = None, None, None, None
    quality: dict[str, float] = {}
    began = time.perf_counter()
    seconds = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator = _made(method, common)
            memory = _estimated(estimator, X)
            before = _restart_peak()
            began = time.perf_counter()
            placed = np.asarray(estimator.fit_transform(X), dtype=np.float64)
            seconds = time.perf_counter() - began
            peak = _peak_since(before)
            quality = quality_of(
                X if hasattr(X, "dtype") else np.asarray(X),
                placed,
                labels,
                common["n_neighbors"],
                common["random_state"],
                common["n_jobs"],
            )
        except Exception as fault:
            seconds = seconds or time.perf_counter() - began
            error = f"{type(fault).__name__}: {fault}"
    said = [f"{one.category.__name__}: {one.message}" for one in caught]
    said = list(dict.fromkeys(said))
    return ComparisonRow(name, estimator, placed, error, seconds, memory, peak, quality, said)


def _made(method: Any, common: dict[str, Any]) -> Any:
    import planish

    if isinstance(method, str):
        found = method_class(method) or getattr(planish, method, None)
        if not (isinstance(found, type) and hasattr(found, "fit_transform")):
            raise ParameterError(f"parameter `methods`: planish has no method {method!r}")
        method = found
    if not isinstance(method, type):
        if not hasattr(method, "fit_transform"):
            raise ParameterError(f"parameter `methods`: {method!r} has no fit_transform")
        return clone(method)
    estimator = method()
    known = estimator.get_params(deep=False)
    chosen = {name: value for name, value in common.items() if name in known}
    if method.__name__ in _OWN_NEIGHBORS:
        chosen.pop("n_neighbors", None)
    return estimator.set_params(**chosen)


def _estimated(estimator: Any, X: Any) -> int | None:
    shape = getattr(X, "shape", None) or np.shape(X)
    if not isinstance(estimator, Embedding) or len(shape) != 2:  # noqa: PLR2004
        return None
    return estimate_memory(estimator, int(shape[0]), int(shape[1]))


def _status(name: str) -> int | None:
    """Return a size from what Linux says of this process."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return None


def _restart_peak() -> int | None:
    """Begin the peak of this process anew; its size now, or None where that cannot be had."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _peak_since(before: int | None) -> int | None:
    after = _status("VmHWM")
    return None if before is None or after is None else max(0, after - before)
