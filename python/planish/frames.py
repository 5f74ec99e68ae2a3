"""Embeddings of data frames: any frame in, the same kind of frame with coordinates out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

import narwhals as nw
import numpy as np

from ._columns import chosen, is_vectors, part, require_numbers, vectors
from ._embedding import Embedding
from ._methods import Method, key_of, method_class, prepared
from .exceptions import InputError, ParameterError

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    #: Names, patterns and selectors of columns.
    Columns: TypeAlias = (
        str | re.Pattern[str] | nw.Expr | Callable[[Any], Any] | Sequence[Any] | None
    )
    Prefix: TypeAlias = str | None

Frame = TypeVar("Frame")


@overload
def embed(
    frame: Frame,
    columns: Columns = None,
    method: Method = "isomap",
    *,
    prefix: Prefix = None,
    return_estimator: Literal[False] = False,
    **params: Any,
) -> Frame: ...


@overload
def embed(
    frame: Frame,
    columns: Columns = None,
    method: Method = "isomap",
    *,
    prefix: Prefix = None,
    return_estimator: Literal[True],
    **params: Any,
) -> tuple[Frame, Any]: ...


def embed(
    frame: Frame,
    columns: Columns = None,
    method: Method = "isomap",
    *,
    prefix: Prefix = None,
    return_estimator: bool = False,
    **params: Any,
) -> Any:
    """Embed the rows of a data frame and append the coordinates as columns.

    Takes and returns frames of pandas, polars (lazy ones too), PyArrow, Modin, DuckDB,
    Ibis, Dask and whatever else narwhals knows. Rows, their order, the index and all other
    columns stay as they are.

    Parameters
    ----------
    frame : data frame of shape (n_samples, n_columns)
        The data. A frame that is evaluated lazily is collected into memory.
    columns : str, pattern, selector, callable or list of these, default=None
        The columns to embed: a name; a wildcard such as "x_*"; a compiled regular
        expression that is searched in the names; a selector of narwhals or polars; a
        function of the frame that returns names. None means all columns of numbers, or the
        only column of vectors; for a fitted estimator, the columns it was fitted on.
        A column of vectors (PyArrow's fixed-size lists, polars' arrays) is taken without a
        copy.
    method : str, class or estimator, default="isomap"
        A name as in ``planish.embed(frame, method="landmark_isomap")``, a class, or an
        estimator, a pipeline included, of which a clone is fitted. One that is fitted
        already places the rows by its ``transform``.
    prefix : str, default=None
        The new columns are called ``{prefix}_0``, ``{prefix}_1``, …; None means the name of
        the method.
    return_estimator : bool, default=False
        Whether to return the fitted estimator too.
    **params : dict
        Parameters of the method, such as ``n_neighbors=12``. One that is called `method`
        itself is set in an estimator: ``method=LocallyLinearEmbedding(method="ltsa")``.

    Returns
    -------
    embedded : data frame of shape (n_samples, n_columns + n_components)
        A new frame of the same kind; float32 coordinates if all columns are float32.
    estimator : estimator
        The fitted estimator, only if `return_estimator`.

    Raises
    ------
    ParameterError
        A column or a parameter is not there, or a new column would replace one.
    InputError
        A chosen column holds something else than numbers, or a row of it is missing or not
        finite.

    See Also
    --------
    planish.anndata.embed : The same for annotated data.

    Notes
    -----
    Missing values are passed on to a method or a pipeline that handles them, such as one
    that begins with an imputer.

    Examples
    --------
    >>> import polars as pl
    >>> from planish import embed
    >>> frame = pl.DataFrame({"id": ["a", "b", "c"], "x": [0.0, 1.0, 5.0], "y": [0.0, 0.0, 0.0]})
    >>> embed(frame, ["x", "y"], "pca", n_components=1).columns
    ['id', 'x', 'y', 'pca_0']

    The estimator places rows that come later, by the names of the columns:

    >>> placed, model = embed(frame, ["x", "y"], "pca", n_components=1, return_estimator=True)
    >>> later = pl.DataFrame({"y": [0.0], "x": [1.0]})
    >>> bool(embed(later, method=model)["pca_0"][0] == placed["pca_0"][1])
    True
    """
    if not isinstance(prefix, (str, type(None))):
        raise ParameterError(f"parameter `prefix`: expected a string or None, got {prefix!r}")
    table, again = _seen(frame)
    estimator, fitted = prepared(method, params)
    if isinstance(columns, str) and columns not in table.columns and method_class(columns):
        raise ParameterError(
            f"parameter `columns`: the frame has no column {columns!r}; the method of that name is "
            f"method={columns!r}"
        )
    name = prefix if prefix is not None else key_of(estimator)
    _require_new(table.columns, [f"{name}_0"])
    data = _data_of(table, columns, estimator, fitted)
    found = _coordinates(
        estimator.transform(data) if fitted else estimator.fit_transform(data), estimator
    )
    names = [f"{name}_{column}" for column in range(found.shape[1])]
    _require_new(table.columns, names)
    backend = table.implementation
    new = [
        nw.new_series(one, np.ascontiguousarray(found[:, column]), backend=backend)
        for column, one in enumerate(names)
    ]
    embedded = again(table.with_columns(*new))
    return (embedded, estimator) if return_estimator else embedded


def _seen(frame: Any) -> tuple[nw.DataFrame[Any], Callable[[nw.DataFrame[Any]], Any]]:
    """Return the frame as narwhals sees it, and what makes a frame of the user's kind again."""
    kind = type(frame)
    if kind.__name__ == "AnnData":
        raise InputError("annotated data is embedded by planish.anndata.embed(adata, ...)")
    if not nw.dependencies.is_into_dataframe(frame) and hasattr(frame, "__arrow_c_stream__"):
        # Series of pandas and polars have it too: a frame has a schema of several columns.
        frame = _imported(frame)
    try:
        found: Any = nw.from_native(frame)
    except TypeError as error:
        todo = "fit an estimator for arrays, e.g. planish.Isomap().fit_transform(X)"
        if isinstance(frame, str):
            todo = "read the file first, e.g. by polars.read_csv"
        elif isinstance(frame, (dict, list)):
            todo = "make a frame of it first"
        elif hasattr(frame, "to_frame"):
            todo = "a single column becomes one by its to_frame()"
        raise InputError(f"expected a data frame, got {kind.__name__}; {todo}") from error
    except Exception as error:
        if type(error).__name__ != "DuplicateError":
            raise
        names = sorted({str(one) for one in frame.columns if list(frame.columns).count(one) > 1})
        raise InputError(
            f"several columns of the frame have the same name: {', '.join(names)}; rename them"
        ) from error
    table = found.collect() if isinstance(found, nw.LazyFrame) else found
    if len(table) == 0:
        raise InputError("the frame has no rows")
    if table is found:
        return table, nw.to_native
    if found.implementation.is_dask():
        return table, lambda done: _to_dask(done, frame.npartitions)
    return table, lambda done: done.lazy(backend=found.implementation).to_native()


def _to_dask(table: nw.DataFrame[Any], partitions: int) -> Any:
    import dask.dataframe

    made: Any = dask.dataframe
    # narwhals would sort the rows by the index.
    return made.from_pandas(table.to_native(), npartitions=partitions, sort=False)


def _imported(frame: Any) -> Any:
    """Read a frame of another library through Arrow; others are returned as they are."""
    try:
        return nw.to_native(nw.from_native(frame))
    except TypeError:
        pass
    try:
        import pyarrow as pa

        return pa.table(frame)
    except (ImportError, TypeError, ValueError):
        return frame


def _data_of(table: nw.DataFrame[Any], columns: Any, estimator: Any, fitted: bool) -> Any:
    """Return what the estimator is given: a part of the frame, or a matrix of vectors."""
    known = getattr(estimator, "feature_names_in_", None) if fitted else None
    if columns is None and known is not None:
        absent = [one for one in known if one not in table.columns]
        if absent:
            raise ParameterError(
                f"parameter `columns`: the estimator was fitted on {len(known)} columns, of which "
                f"the frame has no {', '.join(map(repr, absent))}; rename its columns first"
            )
        columns = list(known)
    elif columns is None and _chooses_itself(estimator):
        return table.to_native()
    names = chosen(table, columns)
    if known is not None and set(names) == set(known):
        names = list(known)  # whatever their order in the frame
    if _chooses_itself(estimator):
        return part(table, names).to_native()
    of_vectors = {name for name in names if is_vectors(table, name)}
    numbers = [name for name in names if name not in of_vectors]
    if numbers:
        require_numbers(table, numbers, _takes_missing(estimator))
    if not of_vectors:
        some = part(table, names)
        # An estimator that was fitted on an array knows no names, and scikit-learn warns of them.
        return some.to_numpy() if fitted and known is None else some.to_native()
    parts = [
        vectors(table, name)
        if name in of_vectors
        else np.asarray(table.get_column(name).cast(nw.Float64).to_numpy())[:, None]
        for name in names
    ]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def _chooses_itself(estimator: Any) -> bool:
    """Return whether a pipeline begins by choosing columns of its own."""
    first = _first_step(estimator)
    return hasattr(first, "transformers") and hasattr(first, "remainder")


def _first_step(estimator: Any) -> Any:
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[0][1]
    return estimator


def _takes_missing(estimator: Any) -> bool:
    """Return whether missing values are for the estimator to judge."""
    from sklearn.utils import get_tags

    if isinstance(estimator, Embedding):
        by_metric = getattr(estimator, "metric", None) == "nan_euclidean"
        return by_metric or bool(get_tags(estimator).input_tags.allow_nan)
    if not hasattr(estimator, "steps"):
        return False
    return bool(get_tags(_first_step(estimator)).input_tags.allow_nan)


def _coordinates(found: Any, estimator: Any) -> Any:
    if hasattr(found, "toarray"):
        raise ParameterError(
            f"parameter `method`: {type(estimator).__name__} returns a sparse matrix, which is no "
            "set of coordinates; end the pipeline with a method that embeds"
        )
    values = np.asarray(found)
    return values[:, None] if values.ndim == 1 else values


def _require_new(there: list[Any], names: list[str]) -> None:
    for name in names:
        if name in there:
            raise ParameterError(
                f"parameter `prefix`: the frame already has a column {name!r}; give the new "
                "columns another name by prefix=..., or drop the old ones first"
            )
