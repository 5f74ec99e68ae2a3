"""NumPy and SciPy objects on one side, the tuples the Rust core reads on the other."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ._core import available_memory
from .exceptions import InputError, MemoryNeedError

CoreData = tuple[Any, ...]


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy.sparse matrix or array."""
    return bool(sparse.issparse(X))


def points(X: Any) -> CoreData:
    """Rows of features, dense or CSR."""
    if not is_sparse(X):
        return ("points", _dense(X))
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indptr, indices = _int64(X.indptr), _int64(X.indices)
    return ("csr", indptr, indices, _dense(X.data), int(X.shape[1]))


def distances(D: Any) -> CoreData:
    """Distances from each row to each training row."""
    return ("distances", _dense(D))


def kernel(K: Any) -> CoreData:
    """Kernel values of each row with each training row."""
    return ("kernel", _dense(K))


def graph(G: Any) -> CoreData:
    """Lengths of the edges from each row to training rows; a stored zero is an edge."""
    if not G.has_canonical_format:
        G = G.copy()
        G.sum_duplicates()
    return ("graph", _int64(G.indptr), _int64(G.indices), _dense(G.data))


def graph_of(indptr: Any, indices: Any, lengths: Any) -> CoreData:
    """Return a graph by its compressed rows, wherever they lie in memory.

    What comes over a network need not be aligned.
    """
    return ("graph", _int64(indptr), _int64(indices), _dense(lengths))


def square_graph(G: Any) -> CoreData:
    """Lengths of edges between the training rows themselves."""
    if G.shape[0] != G.shape[1]:
        raise InputError(f"a sparse graph must be square (n × n), got {G.shape[0]} × {G.shape[1]}")
    return graph(G)


def neighborhoods(X: Any, lists: CoreData) -> CoreData:
    """Rows of features, each with a graph's row of its neighbours."""
    return ("neighborhoods", points(X), lists)


def from_core(value: Any) -> Any:
    """Turn a fitted attribute into what a user gets: graphs become CSR arrays."""
    if isinstance(value, tuple) and value and value[0] == "graph":
        _, indptr, indices, weights = value
        rows = len(indptr) - 1
        return csr(weights, indices, indptr, (rows, rows))
    return value


def csr(values: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """Make a CSR array, with 32-bit indices wherever they fit.

    SciPy's sparse arrays keep the indices they are given, and 64-bit ones are refused
    by parts of scikit-learn and of older SciPy.
    """
    if max(*shape, len(values)) <= np.iinfo(np.int32).max:
        indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
    return sparse.csr_array((values, indices, indptr), shape=shape)


def with_diagonal(graph: Any, diagonal: Any) -> Any:
    """Add numbers to the diagonal of a CSR array; zeros are not stored."""
    (rows,) = np.nonzero(diagonal)
    indptr = np.searchsorted(rows, np.arange(graph.shape[0] + 1))
    return sparse.csr_array(graph + csr(diagonal[rows], rows, indptr, graph.shape))


def row_keys(X: Any) -> list[Any]:
    """Return a key for each row that equal rows share."""
    if not is_sparse(X):
        return [row.tobytes() for row in X.astype(np.float64) + 0.0]  # -0.0 is 0.0
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    columns = _int64(X.indices)
    return [(columns[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in pairwise(X.indptr)]


def dense_digests(rows: Iterable[Any]) -> list[bytes]:
    """Return for each of these dense rows a digest that equal rows share."""
    numbers = (row.astype(np.float64) + 0.0 for row in rows)  # -0.0 is 0.0
    return [blake2b(row.tobytes(), digest_size=16).digest() for row in numbers]


def row_digests(graph: CoreData) -> list[bytes]:
    """Return for each row of a graph a digest that rows with the same edges share."""
    _, indptr, columns, lengths = graph
    return [
        blake2b(columns[a:b].tobytes() + lengths[a:b].tobytes(), digest_size=16).digest()
        for a, b in pairwise(indptr)
    ]


def zero_edges(columns: Any) -> CoreData:
    """Return a graph of one edge of length zero from each row to the given one."""
    return "graph", np.arange(len(columns) + 1), _int64(columns), np.zeros(len(columns))


def with_zero_edges(graph: CoreData, columns: list[int]) -> CoreData:
    """Replace the edges of rows by one of length zero to the given row; -1 leaves them."""
    _, indptr, indices, lengths = graph
    wanted = np.array(columns, dtype=np.int64)
    known = wanted >= 0
    if not known.any():
        return graph
    counts = np.diff(indptr)
    left = np.repeat(~known, counts)
    rows = np.concatenate([np.repeat(np.arange(len(counts)), counts)[left], np.flatnonzero(known)])
    order = np.argsort(rows, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.where(known, 1, counts))])
    joined = np.concatenate([indices[left], wanted[known]])[order]
    return "graph", ends, joined, np.concatenate([lengths[left], np.zeros(known.sum())])[order]


def is_symmetric(X: Any) -> bool:
    """Return whether a square matrix is its own transpose, exactly; not where it holds NaN."""
    if is_sparse(X):
        with np.errstate(invalid="ignore"):
            return not (X - X.T).count_nonzero()
    step = max(1, (1 << 20) // max(1, X.shape[1]))
    firsts = range(0, X.shape[0], step)
    return all(np.array_equal(X[a : a + step], X[:, a : a + step].T) for a in firsts)


def as_dtype(result: Any, dtype: np.dtype[Any], what: str = "coordinates") -> Any:
    """Return numbers in the precision of the data they belong to."""
    if result.dtype == dtype:
        return result
    with np.errstate(over="ignore"):
        narrow = result.astype(dtype)
    overflown = np.isfinite(result) & ~np.isfinite(narrow)
    if overflown.any():
        row = int(np.flatnonzero(overflown.any(axis=1))[0])
        raise InputError(
            f"the {what} of row {row} exceed the range of {dtype.name}; pass X as float64"
        )
    return narrow


def require_finite(X: Any, missing: bool = False) -> None:
    """Name the first NaN or infinity; with `missing` NaN is a value that is not there."""
    values = X.data if is_sparse(X) else X
    bad = np.argwhere(np.isinf(values) if missing else ~np.isfinite(values))
    if not len(bad):
        return
    if is_sparse(X):
        entry = int(bad[0, 0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        column, value = int(X.indices[entry]), X.data[entry]
    else:
        row, column = int(bad[0, 0]), int(bad[0, 1])
        value = X[row, column]
    name = "NaN" if np.isnan(value) else "infinity (inf)"
    raise InputError(
        f"X contains {name} at row {row}, column {column}; remove or impute such rows first"
    )


def require_memory(need: int, what: str, hint: str) -> None:
    """Refuse what does not fit before any of it is taken."""
    available = int(available_memory())
    if need > available:
        raise MemoryNeedError(
            f"{what} needs {need / 1e9:.1f} GB but only {available / 1e9:.1f} GB is available; "
            f"{hint}",
            need=need,
            available=available,
        )


def _dense(values: Any) -> Any:
    return np.require(values, dtype=np.float64, requirements=["C", "ALIGNED"])


def _int64(values: Any) -> Any:
    return np.require(values, dtype=np.int64, requirements=["C", "ALIGNED"])
