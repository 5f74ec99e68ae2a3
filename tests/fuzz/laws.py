"""What must hold whatever the case: a fit works or is refused in good form, and keeps its promises.

Each law is a function that raises `Broken`. Where a law needs a fitted estimator it takes a `Fit`.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError

import planish
from planish import exceptions

from .cases import Case, other_params
from .registry import DATA_ARGUMENTS

# Largest deviation between two ways to the same coordinates, in units of the largest of them.
TOLERANCE = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-5}

# Typed, but no answer to data of forty rows.
NO_ANSWERS = (exceptions.InternalError, exceptions.CancelledError, exceptions.MemoryNeedError)

# Warnings that may be given: FutureWarning for names scikit-learn has given up.
OWN_WARNINGS = (exceptions.PlanishWarning, DataConversionWarning, FutureWarning)

# Policies under which rows are left out and get NaN: (parameter, value).
DROPPING = {("disconnected", "largest")}


class Broken(Exception):  # noqa: N818
    """A law does not hold; the first argument is its name."""

    def __init__(self, law: str, detail: str) -> None:
        super().__init__(law, detail)
        self.law, self.detail = law, detail


@dataclass
class Fit:
    """A fitted estimator with what it found."""

    case: Case
    estimator: Any
    embedding: np.ndarray

    @property
    def kept(self) -> np.ndarray:
        return ~np.isnan(self.embedding).any(axis=1)

    @property
    def drops(self) -> bool:
        given = self.case.params
        inner = getattr(given.get("estimator"), "get_params", dict)()
        return bool(DROPPING & {*_plain(given), *_plain(inner)})


@dataclass
class Outcome:
    """What became of a case."""

    refused: str | None = None
    broken: list[Broken] = field(default_factory=list)


def check(case: Case) -> Outcome:
    """Run a case and hold it to the laws."""
    outcome = Outcome()
    before = _bytes(case.X)
    try:
        if case.target.is_class:
            fitted = _fitted(case)
            if isinstance(fitted, Fit):
                rows_of_finite_numbers(fitted)
                outcome.broken += filter(None, (_verdict(law, fitted) for law in LAWS))
            else:
                outcome.refused = fitted
        else:
            outcome.refused = _called(case)
        if _bytes(case.X) != before:
            outcome.broken.append(Broken("input is left alone", "X was changed"))
    except Broken as broken:
        outcome.broken.append(broken)
    return outcome


def _verdict(law: Any, fit: Fit) -> Broken | None:
    try:
        law(fit)
    except Broken as broken:
        return broken
    return None


# ---- running in good form ----------------------------------------------------------------------


def attempt(what: str, call: Any) -> tuple[Any, str | None]:
    """Return the value, or the class of a refusal; everything else breaks a law."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        value, refusal = None, None
        try:
            value = call()
        except NO_ANSWERS as error:
            raise Broken(f"{what}: no internal error", _described(error)) from error
        except (exceptions.PlanishError, ValueError, TypeError) as error:
            refusal = type(error).__name__
            own = isinstance(error, (exceptions.PlanishError, NotFittedError))
            if not own and _from_planish(error):
                raise Broken(f"{what}: a typed error", _described(error)) from error
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise Broken(f"{what}: a typed error", _described(error)) from error
    for warning in seen:
        if not issubclass(warning.category, OWN_WARNINGS):
            text = f"{warning.category.__name__}: {warning.message}"
            raise Broken(f"{what}: warnings are planish's own", text)
    return value, refusal


def _described(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename.rsplit('/', 1)[-1]}:{last.lineno})"


def _from_planish(error: BaseException) -> bool:
    """Return whether an error that is not ours was raised by our own lines."""
    frames = traceback.extract_tb(error.__traceback__)
    return "/planish/" in frames[-1].filename


def _fitted(case: Case) -> Fit | str:
    estimator = case.target.call(**case.params)
    _, refusal = attempt("fit", lambda: estimator.fit(case.X))
    if refusal:
        left = [name for name in vars(estimator) if name.endswith("_")]
        if left:
            raise Broken("a refused fit leaves nothing", f"{left} are set")
        return refusal
    if hasattr(estimator, "embedding_"):
        return Fit(case, estimator, np.asarray(estimator.embedding_))
    placed, refusal = attempt("fit_transform", lambda: estimator.fit_transform(case.X))
    if refusal:
        raise Broken("fit_transform works where fit does", refusal)
    return Fit(case, estimator, np.asarray(placed))


def _called(case: Case) -> str | None:
    """Call a function; its arrays hold no NaN."""
    params = dict(case.params)
    params.update((p.name, case.X) for p in case.target.parameters if p.name in DATA_ARGUMENTS)
    found, refusal = attempt("call", lambda: case.target.call(**params))
    if refusal is None:
        for part in found if isinstance(found, tuple) else (found,):
            values = part.data if sparse.issparse(part) else part
            if isinstance(values, np.ndarray) and np.isnan(values.astype(float)).any():
                raise Broken("call: no NaN", f"{case.target.name} returned NaN")
    return refusal


# ---- the laws of a fit -------------------------------------------------------------------------


def rows_of_finite_numbers(fit: Fit) -> None:
    Y, rows = fit.embedding, fit.case.X.shape[0]
    if Y.ndim != 2 or Y.shape[0] != rows:
        raise Broken("n rows in, n rows out", f"{rows} rows in, embedding of shape {Y.shape}")
    wanted = fit.estimator.get_params().get("n_components")
    fewer = getattr(fit.estimator, "remove_zero_eig", False)  # zero columns are left out
    if (
        isinstance(wanted, int)
        and not isinstance(wanted, bool)
        and Y.shape[1] != wanted
        and not fewer
    ):
        raise Broken("as many columns as asked for", f"{wanted} wanted, got {Y.shape[1]}")
    if np.isinf(Y).any():
        raise Broken("finite coordinates", "infinity in the embedding")
    missing = np.isnan(Y)
    if missing.any() and not fit.drops:
        raise Broken("finite coordinates", f"{missing.any(axis=1).sum()} of {rows} rows are NaN")
    if (missing.any(axis=1) != missing.all(axis=1)).any() or not fit.kept.any():
        raise Broken("rows are dropped as a whole", "rows partly NaN, or all of them")
    values = getattr(fit.estimator, "eigenvalues_", np.zeros(1))
    if not np.isfinite(values).all():
        raise Broken("finite eigenvalues", f"eigenvalues_ = {values}")


def not_finite_data_is_refused(fit: Fit) -> None:
    X = fit.case.X
    values = X.data if sparse.issparse(X) else np.asarray(X)
    if fit.estimator.__sklearn_tags__().input_tags.allow_nan and not np.isinf(values).any():
        return  # a distance that is missing
    if not np.isfinite(values).all() and fit.case.params.get("metric") != "nan_euclidean":
        raise Broken("NaN and infinity are refused", "fit took them")


def training_rows_are_where_they_were(fit: Fit) -> None:
    X, kept = fit.case.X, fit.kept
    placed, refusal = attempt("transform(training)", lambda: fit.estimator.transform(X))
    if refusal and not kept.all():
        # A row that was dropped may be too far away to be placed.
        if sparse.issparse(X) and "points" not in fit.case.notes:
            kept = kept & _rows_like_no_other(X)
        if not kept.any():
            return
        placed, refusal = attempt("transform(training)", lambda: fit.estimator.transform(X[kept]))
    elif not refusal:
        placed = np.asarray(placed)[kept]
    if refusal:
        raise Broken("training rows can be transformed", refusal)
    compare("transform(training) is embedding_", np.asarray(placed), fit.embedding[kept], fit)


def _rows_like_no_other(graph: Any) -> np.ndarray:
    """Return which rows have edges that no other row has; nothing says of others which they are."""
    entries = sparse.csr_array(graph)
    starts = entries.indptr
    edges = [
        (entries.indices[a:b].tobytes(), entries.data[a:b].tobytes())
        for a, b in itertools.pairwise(starts)
    ]
    return np.array([bool(key[0]) and edges.count(key) == 1 for key in edges])


def new_rows_one_by_one(fit: Fit) -> None:
    new = fit.case.new
    if new.shape == fit.case.X.shape and "points" not in fit.case.notes:
        # All training rows in their order are recognised where single ones cannot be.
        new = new[:-1]
    together, refusal = attempt("transform(new)", lambda: fit.estimator.transform(new))
    single = [_one_row(fit, i) for i in range(new.shape[0])]
    refused = [reason for _, reason in single if reason]
    if bool(refusal) != bool(refused):
        text = f"together: {refusal}, one by one: {refused}"
        raise Broken("rows one by one are refused as together", text)
    if refusal:
        return
    if np.isnan(together).any() and not fit.drops:
        raise Broken("transform(new): finite coordinates", "NaN")
    apart = np.vstack([np.asarray(row) for row, _ in single])
    compare("rows one by one are rows together", apart, np.asarray(together), fit)


def _one_row(fit: Fit, i: int) -> tuple[Any, str | None]:
    row = fit.case.new[i : i + 1]
    return attempt("transform(new)", lambda: fit.estimator.transform(row))


def nan_rows_are_refused(fit: Fit) -> None:
    new = fit.case.new
    if sparse.issparse(new) or new.dtype.kind != "f" or fit.case.params.get("metric"):
        return
    if fit.estimator.__sklearn_tags__().input_tags.allow_nan:
        return
    with_nan = np.array(new)
    with_nan[-1, 0] = np.nan
    placed, refusal = attempt("transform(NaN)", lambda: fit.estimator.transform(with_nan))
    if not refusal:
        raise Broken("transform refuses NaN", f"placed at {np.asarray(placed)[-1]}")


def pickles_are_the_same(fit: Fit) -> None:
    again = pickle.loads(pickle.dumps(fit.estimator))
    if hasattr(again, "embedding_"):
        same_bits("embedding_ of a pickle", np.asarray(again.embedding_), fit.embedding)
    _same_transform("transform of a pickle", again, fit)


def files_are_the_same(fit: Fit) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model"
        try:
            fit.estimator.save(path)
        except exceptions.ParameterError as error:
            if "pickle" in str(error):
                return  # a function, which a file cannot hold
            raise Broken("save", repr(error)) from error
        again = planish.load(path)
    if repr(again.get_params()) != repr(fit.estimator.get_params()) and "not in" not in repr(again):
        raise Broken("parameters in a file", f"{again.get_params()}")
    if hasattr(again, "embedding_"):
        same_bits("embedding_ in a file", np.asarray(again.embedding_), fit.embedding)
    _same_transform("transform of a file", again, fit)


def set_params_changes_nothing(fit: Fit) -> None:
    again = pickle.loads(pickle.dumps(fit.estimator))
    rng = np.random.default_rng([fit.case.seed, 21])
    again.set_params(**other_params(rng, fit.case), n_jobs=2)
    _same_transform("transform after set_params", again, fit)


def any_number_of_threads(fit: Fit) -> None:
    if fit.case.seed % 4:
        return
    again = copy.copy(fit.estimator).set_params(n_jobs=2)
    found, refusal = attempt("fit on two threads", lambda: again.fit_transform(fit.case.X))
    if refusal:
        raise Broken("the same on two threads", f"refused: {refusal}")
    same_bits("the same on two threads", np.asarray(found), fit.embedding)


LAWS = (
    not_finite_data_is_refused,
    training_rows_are_where_they_were,
    new_rows_one_by_one,
    nan_rows_are_refused,
    pickles_are_the_same,
    files_are_the_same,
    set_params_changes_nothing,
    any_number_of_threads,
)


# ---- comparing ---------------------------------------------------------------------------------


def compare(law: str, found: np.ndarray, expected: np.ndarray, fit: Fit) -> None:
    """Hold two ways to the same coordinates to rounding, relative to the embedding's size."""
    if found.shape != expected.shape:
        raise Broken(law, f"shapes {found.shape} and {expected.shape}")
    found, expected = found.astype(float), expected.astype(float)
    if (np.isnan(found) != np.isnan(expected)).any():
        raise Broken(law, "NaN in one of them")
    if not expected.size:
        return
    size = max(np.nanmax(np.abs(v), initial=0.0) for v in (fit.embedding, expected))
    if size == 0.0:
        size = 1.0
    gap = np.nanmax(np.abs(found / size - expected / size), initial=0.0)
    if not gap <= TOLERANCE[fit.embedding.dtype]:
        row = int(np.nanargmax(np.abs(found / size - expected / size).max(axis=1)))
        raise Broken(law, f"off by {gap:.1e} of the embedding's size, most at row {row}")


def same_bits(law: str, found: np.ndarray, expected: np.ndarray) -> None:
    if found.dtype != expected.dtype or found.tobytes() != expected.tobytes():
        gap = np.abs(found - expected).max() if found.shape == expected.shape else "shape"
        raise Broken(law, f"other bits, off by {gap}")


def _same_transform(law: str, again: Any, fit: Fit) -> None:
    """Transform new rows by a copy: the same bits, or refused all the same."""
    expected, refusal = attempt("transform(new)", lambda: fit.estimator.transform(fit.case.new))
    found, refused = attempt(law, lambda: again.transform(fit.case.new))
    if refusal != refused:
        raise Broken(law, f"{refused or 'works'}, before: {refusal or 'works'}")
    if refusal is None:
        same_bits(law, np.asarray(found), np.asarray(expected))


def _plain(params: dict[str, Any]) -> set[tuple[str, str]]:
    return {(name, value) for name, value in params.items() if isinstance(value, str)}


def _bytes(X: Any) -> tuple[bytes, ...]:
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return tuple(np.asarray(part).tobytes() for part in parts)
