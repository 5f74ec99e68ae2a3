"""What is in the data, and what to try on it."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_array

from ._data import csr, is_sparse, row_keys
from ._judging import dimension_of
from ._types import Floats, Indices, MatrixLike
from .comparison import in_bytes
from .exceptions import InputError, PlanishError
from .functions import estimate_memory, kneighbors
from .neighbor_choice import suggest_n_neighbors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Whatever the numbers are, they are told of.
_ANY = {"ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
# Rows whose neighbours are looked at.
_MOST_SEARCHED = 10_000
_NEIGHBORS = 10
# The same for the dimension: as many as n_components="auto" looks at.
_ROWS_PER_NEIGHBOR, _MOST_NEIGHBORS = 25, 20
# Names of columns and numbers of rows that are listed.
_LISTED = 8
# Columns whose scales differ by this factor want to be standardised.
_UNLIKE = 100.0
# A row whose neighbours are this many times farther away than theirs is an outlier.
_FAR = 5.0
# Rows up to which all pairs are no trouble.
_FEW, _MANY = 5000, 20_000
_PLANE = 2


@dataclass(frozen=True)
class Suggestion:
    """A method worth trying.

    Attributes
    ----------
    method : str
        Its class, with parameters.
    reason : str
        Why.
    memory : int
        Estimated peak of the fit in bytes.
    time : str
        "seconds", "minutes" or "hours" on a laptop.
    """

    method: str
    reason: str
    memory: int
    time: str


@dataclass(frozen=True)
class Description:
    """What was found in the data; prints as text.

    Attributes
    ----------
    n_samples, n_features : int
        Shape of the data.
    kind : str
        "dense", "sparse" or "table".
    facts : dict
        What was counted, by name: ``text_columns``, ``missing``, ``infinite``,
        ``missing_rows``, ``missing_columns``, ``duplicates``, ``constant_columns``,
        ``scales``, ``outliers``, ``components``, ``dimension`` (by method),
        ``intrinsic_dimension`` (of these, the one number to use), ``n_neighbors``,
        ``classes``, ``neighborhood_hit``; only those that could be had.
    findings : list of str
        The same in sentences, with what to do about each.
    suggestions : list of Suggestion
        What to try, the most promising first.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import describe
    >>> X = np.column_stack([np.arange(50.0), np.zeros(50)])
    >>> describe(X).facts["constant_columns"]
    ['1']
    """

    n_samples: int
    n_features: int
    kind: str
    facts: dict[str, Any] = field(repr=False)
    findings: list[str] = field(repr=False)
    suggestions: list[Suggestion] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a plain dict.

        Returns
        -------
        described : dict
            Of numbers, strings, lists and dicts only.
        """
        return asdict(self)

    def __str__(self) -> str:
        """Return what was found, line by line."""
        lines = [f"{_many(self.n_samples, 'row')}, {_many(self.n_features, 'column')}, {self.kind}"]
        lines += [f"- {finding}" for finding in self.findings]
        if self.suggestions:
            lines.append("What to try:")
        lines += [
            f"- {one.method}: {one.reason} ({in_bytes(one.memory)}, {one.time})"
            for one in self.suggestions
        ]
        return "\n".join(lines)


def describe(X: MatrixLike, labels: ArrayLike | None = None) -> Description:
    """Tell what is in the data before anything is fitted, and what to try.

    Nothing that is wrong with the data raises an exception: it is told. Of more than
    10 000 rows the neighbours of a random sample are looked at.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The data, in any state.
    labels : array-like of shape (n_samples,), default=None
        Classes of the rows.

    Returns
    -------
    description : Description
        Its ``facts``, ``findings`` and ``suggestions``; prints as text.

    Raises
    ------
    InputError
        When X is not a table at all, or `labels` has another length.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import describe
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 1.0, 1e6]
    >>> print(describe(X).findings[0][:63])
    The scales of the columns differ by a factor of 1 000 000 (larg
    """
    values, names, facts, kind = _numbers(X)
    n, width = values.shape[0], len(names)
    findings: list[str] = []
    if facts.get("text_columns"):
        findings.append(
            f"{_many(len(facts['text_columns']), 'column')} not of numbers "
            f"({_some(facts['text_columns'])}): encode or drop them; the rest is described here."
        )
    complete, kept = _complete(values, names, facts, findings)
    if n == 0 or values.shape[1] == 0:
        findings.append("There is nothing to embed: X has no rows or no columns of numbers.")
        return Description(n, width, kind, facts, findings, [])
    columns = [name for name in names if name not in facts.get("text_columns", ())]
    _columns(complete, columns, facts, findings)
    known = None if labels is None else _classes(labels, n, facts, findings)
    _neighbors(complete, kept, None if known is None else known[kept], facts, findings)
    return Description(n, width, kind, facts, findings, _suggestions(complete, facts))


def _numbers(X: Any) -> tuple[Any, list[str], dict[str, Any], str]:
    """Return X as float64, dense or csr, the names of all columns, and which are text."""
    if is_sparse(X):
        names = [str(at) for at in range(X.shape[1])]
        return check_array(X, accept_sparse="csr", dtype=np.float64, **_ANY), names, {}, "sparse"
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        X = X.collect()  # a lazy frame of polars
    if hasattr(X, "columns") and hasattr(X, "shape"):
        labels = getattr(X, "column_names", X.columns)  # as PyArrow's tables call them
        names = [str(name) for name in labels]
        columns = [np.asarray(X[name]) for name in labels]
        kind = "table"
    else:
        try:
            given = np.asarray(X)
        except ValueError as fault:
            raise InputError(f"X is not a table of rows and columns: {fault}") from fault
        if given.ndim != 2:  # noqa: PLR2004
            raise InputError(
                f"X must have rows and columns, got an array of shape {given.shape}; one column is "
                "X.reshape(-1, 1)"
            )
        names = [str(at) for at in range(given.shape[1])]
        if given.dtype.kind in "fiub":
            return given.astype(np.float64), names, {}, "dense"
        columns, kind = list(given.T), "dense"
    rows = len(columns[0]) if columns else X.shape[0]
    made, text = [], []
    for name, column in zip(names, columns, strict=True):
        numbers = _as_numbers(column)
        if numbers is None:
            text.append(name)
        else:
            made.append(numbers)
    values = np.column_stack(made) if made else np.empty((rows, 0))
    return values, names, {"text_columns": text} if text else {}, kind


def _as_numbers(column: Any) -> Floats | None:
    try:
        return np.asarray(column, dtype=np.float64)
    except (ValueError, TypeError):
        return None


def _complete(
    values: Any, names: list[str], facts: dict[str, Any], said: list[str]
) -> tuple[Any, Indices]:
    """Return the rows that are finite, and their numbers; tell of the others."""
    stored = values.data if is_sparse(values) else values
    bad = ~np.isfinite(stored)
    if not bad.any():
        return values, np.arange(values.shape[0])
    facts["missing"] = int(np.isnan(stored).sum())
    facts["infinite"] = int(bad.sum()) - facts["missing"]
    if is_sparse(values):
        at = values.tocoo()
        rows, columns = at.row[bad], at.col[bad]
    else:
        rows, columns = np.nonzero(bad)
    facts["missing_rows"] = np.unique(rows).tolist()
    used = [name for name in names if name not in facts.get("text_columns", ())]
    facts["missing_columns"] = [used[at] for at in np.unique(columns)]
    said.append(
        f"{_many(facts['missing'], 'missing value')} and "
        f"{_many(facts['infinite'], 'infinite one')} in "
        f"{_many(len(facts['missing_rows']), 'row')} ({_some(facts['missing_rows'])}) and "
        f"{_many(len(facts['missing_columns']), 'column')} ({_some(facts['missing_columns'])}): "
        "drop or impute them (sklearn.impute); MDS takes missing distances. The other rows are "
        "described here."
    )
    keep = np.setdiff1d(np.arange(values.shape[0]), rows)
    return values[keep], keep


def _columns(values: Any, names: list[str], facts: dict[str, Any], said: list[str]) -> None:
    n = values.shape[0]
    if n == 0:
        return
    duplicates = n - len(set(row_keys(values)))
    facts["duplicates"] = duplicates
    if duplicates:
        said.append(
            f"{_many(duplicates, 'row')} repeating an earlier one: t-SNE and neighbour graphs see "
            "them as very near neighbours, so drop them if they carry nothing."
        )
    if is_sparse(values):
        means = np.asarray(values.mean(axis=0)).ravel()
        squares = np.asarray(values.multiply(values).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(squares - means**2, 0.0))
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.where(np.ptp(values, axis=0) == 0, 0.0, values.std(axis=0))
    constant = [name for name, size in zip(names, spread, strict=True) if size == 0]
    facts["constant_columns"] = constant
    if constant and n > 1:
        said.append(
            f"{_many(len(constant), 'column')} constant ({_some(constant)}): "
            "they change nothing and can be dropped."
        )
    varying = spread[spread > 0]
    if len(varying) > 1:
        ratio = float(varying.max() / varying.min())
        facts["scales"] = {
            "ratio": ratio,
            "smallest": names[int(np.where(spread > 0, spread, np.inf).argmin())],
            "largest": names[int(spread.argmax())],
        }
        if ratio >= _UNLIKE and not is_sparse(values):
            said.append(
                f"The scales of the columns differ by a factor of {_rounded(ratio)} (largest: "
                f"{facts['scales']['largest']}): standardise them "
                "(sklearn.preprocessing.StandardScaler) unless their units are the same."
            )


def _classes(labels: Any, n: int, facts: dict[str, Any], said: list[str]) -> Any:
    known = np.asarray(labels)
    if known.shape != (n,):
        raise InputError(f"`labels` has the shape {known.shape}, X has {n} rows")
    names, counts = np.unique(known.astype(str), return_counts=True)
    facts["classes"] = dict(zip(names.tolist(), counts.tolist(), strict=True))
    if len(names) == 1:
        said.append("All rows have the same label: labels say nothing about a map.")
    return known.astype(str)


def _neighbors(
    values: Any, kept: Indices, labels: Any, facts: dict[str, Any], said: list[str]
) -> None:
    """Outliers, components and what follows; `kept` are the numbers of the rows in the data."""
    n = values.shape[0]
    if n < 3:  # noqa: PLR2004
        said.append(f"{_many(n, 'complete row')}: too few to have neighbours or a shape.")
        return
    rows = np.arange(n)
    if n > _MOST_SEARCHED:
        rows = np.sort(np.random.default_rng(0).permutation(n)[:_MOST_SEARCHED])
        said.append(f"What follows was found on {_MOST_SEARCHED} of {n} rows, chosen at random.")
    some = values[rows]
    k = min(_NEIGHBORS, len(rows) - 1)
    more = max(k, min(_MOST_NEIGHBORS, len(rows) // _ROWS_PER_NEIGHBOR))
    try:
        distances, near = kneighbors(some, more)
    except PlanishError as fault:
        said.append(f"Neighbours cannot be found: {fault}")
        return
    if facts["duplicates"] == n - 1:
        said.append("All rows are equal: there is nothing to embed.")
        return
    if not distances.any():
        said.append(
            f"Every row equals {more} others or more up to rounding: describe the distinct rows "
            "(numpy.unique(X, axis=0)) to see neighbours and the dimension."
        )
        return
    distances, indices = distances[:, :k], near[:, :k]
    facts["outliers"] = kept[rows[_outliers(distances, indices)]].tolist()
    if facts["outliers"]:
        said.append(
            f"{_many(len(facts['outliers']), 'row')} far from all others "
            f"({_some(facts['outliers'])}): look at them; graph methods leave out what they find "
            "too far (outliers='keep' disables this), PCA and MDS bend towards them."
        )
    offsets = np.arange(0, indices.size + 1, k)
    shape = (len(rows), len(rows))
    graph = csr(np.ones(indices.size), indices.ravel(), offsets, shape)
    count, parts = connected_components(graph, directed=False)
    facts["components"] = np.sort(np.bincount(parts))[::-1].tolist()
    if count > 1:
        said.append(
            f"The graph of {k} neighbours has {count} components (sizes "
            f"{_some(facts['components'])}): use more neighbours, or embed them one by one; "
            "Isomap bridges them with a warning."
        )
    if labels is not None:
        own = labels[rows]
        hit = float((own[indices] == own[:, None]).mean())
        facts["neighborhood_hit"] = hit
        said.append(f"{100 * hit:.0f} % of the {k} nearest neighbours have the label of their row.")
    _shape(some, near, facts, said)


def _shape(some: Any, indices: Any, facts: dict[str, Any], said: list[str]) -> None:
    """Intrinsic dimension and number of neighbours."""
    facts["dimension"] = {}
    with contextlib.suppress(PlanishError):
        found = dimension_of(some, indices)
        known = {one.method: float(one.value) for one in found if np.isfinite(one.value)}
        facts |= {"dimension": known, "intrinsic_dimension": found.dimension}
        low, high = min(known.values()), max(known.values())
        columns = (
            f": a map keeps it in {found.dimension} columns or more, two are for looking at"
            if found.dimension > _PLANE
            else ""
        )
        said.append(
            f"The intrinsic dimension is about {found.value:.1f} (estimates from {low:.1f} to "
            f"{high:.1f}){columns}."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = suggest_n_neighbors(some, n_sources=100, max_neighbors=30)
    except PlanishError:
        return
    facts["n_neighbors"] = best.best
    sound = (
        f"sound from {best.range[0]} to {best.range[1]}"
        if best.sound
        else "the least that connect it, with signs of shortcuts"
    )
    said.append(
        f"For a neighbourhood graph, {best.best} neighbours ({sound}; planish.suggest_n_neighbors "
        "says why)."
    )


def _outliers(distances: Floats, indices: Any) -> Any:
    """Rows whose neighbours are much farther away than theirs are."""
    reach = distances[:, -1]
    usual = np.median(reach[reach > 0])
    theirs = np.median(reach[indices], axis=1)
    return np.flatnonzero(reach > _FAR * np.where(theirs > 0, theirs, usual))


def _suggestions(values: Any, facts: dict[str, Any]) -> list[Suggestion]:
    n, width = values.shape
    k = facts.get("n_neighbors")
    if n < 3 or "dimension" not in facts:  # noqa: PLR2004
        return []
    found = [_suggestion("PCA", {}, "linear, exact, the yardstick for the others", n, width, 1e-7)]
    if k is not None:
        graph = {"n_neighbors": int(k)}
        if n <= _MANY:
            why = "unrolls a curved sheet and keeps its distances"
            found.append(_suggestion("Isomap", graph, why, n, width, 3e-8 * n))
        else:
            why = "Isomap by way of landmarks, for many rows"
            found.append(_suggestion("LandmarkIsomap", graph, why, n, width, 3e-5))
        if n > k:
            local = {**graph, "method": "ltsa"}
            why = "keeps local shapes; bears holes and uneven edges"
            found.append(_suggestion("LocallyLinearEmbedding", local, why, n, width, 3e-5))
    clustered = len(facts.get("components", [1])) > 1 or "classes" in facts
    if n > 10:  # noqa: PLR2004
        neighbors = {} if n > 100 else {"perplexity": float(max(2, n // 4))}  # noqa: PLR2004
        why = "shows clusters; distances between them mean little"
        found.insert(
            0 if clustered else len(found), _suggestion("TSNE", neighbors, why, n, width, 5e-4)
        )
    if n <= _FEW:
        why = "keeps all distances as well as they can be kept"
        found.append(_suggestion("MDS", {}, why, n, width, 1e-6 * n))
    return found


def _suggestion(
    name: str, params: dict[str, Any], reason: str, n: int, width: int, seconds_per_row: float
) -> Suggestion:
    text = ", ".join(f"{key}={value!r}" for key, value in params.items())
    seconds = n * seconds_per_row
    limits = (("seconds", 60), ("minutes", 3600))
    duration = next((word for word, most in limits if seconds < most), "hours")
    import planish

    memory = estimate_memory(getattr(planish, name)(**params), n, width)
    return Suggestion(f"{name}({text})", reason, memory, duration)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _rounded(factor: float) -> str:
    """Return a factor with one digit that counts."""
    text = f"{factor:.0e}"
    return f"{float(text):,.0f}".replace(",", " ") if factor < 1e9 else text  # noqa: PLR2004


def _some(items: list[Any]) -> str:
    shown = ", ".join(str(item) for item in items[:_LISTED])
    return shown if len(items) <= _LISTED else f"{shown}, …"
