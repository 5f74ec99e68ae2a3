"""Neighbours that the user lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _data
from .exceptions import ParameterError


def given_neighbors(neighbors: Any, X: Any) -> _data.CoreData:
    """Read the neighbours a user lists, by number or as a sparse graph, with their distances."""
    n = X.shape[0]
    if _data.is_sparse(neighbors):
        graph = neighbors.tocoo()
        if graph.shape != (n, n):
            raise _refused(f"a graph of the {n} rows of X is {n} × {n}, got {graph.shape}")
        rows, columns = graph.row.astype(np.int64), graph.col.astype(np.int64)
    else:
        try:
            lists = np.asarray(neighbors)
        except ValueError as error:
            raise _refused(f"lists of different lengths go into a sparse graph: {error}") from error
        if lists.shape[:1] != (n,) or len(lists.shape[1:]) != 1 or lists.dtype.kind not in "iu":
            raise _refused(
                f"expected whole numbers in an array of shape ({n}, k), or a sparse graph of shape "
                f"({n}, {n}), got {lists.dtype} of shape {lists.shape}"
            )
        wrong = np.argwhere((lists < 0) | (lists >= n))
        if len(wrong):
            row, place = wrong[0]
            raise _refused(
                f"row {row} has the neighbour {lists[row, place]}, but rows go from 0 to {n - 1}"
            )
        rows, columns = np.repeat(np.arange(n), lists.shape[1]), lists.ravel().astype(np.int64)
    pairs = np.unique(rows * n + columns)
    rows, columns = pairs // n, pairs % n
    apart = rows != columns
    rows, columns = rows[apart], columns[apart]
    lengths = _lengths(X, rows, columns)
    graph = sparse.csr_array((lengths, (rows, columns)), shape=(n, n))
    graph.sort_indices()
    return _data.graph(graph)


def _refused(why: str) -> ParameterError:
    return ParameterError(f"parameter `neighbors`: {why}")


def _lengths(X: Any, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the Euclidean distances of pairs of rows."""
    _data.require_finite(X)
    X = X.astype(np.float64)
    # At a scale where squares neither overflow nor vanish.
    largest = float(abs(X).max()) or 1.0
    X = X / largest
    lengths = np.empty(len(rows))
    step = max(1, 2**22 // max(1, X.shape[1]))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        gaps = X[rows[part]] - X[columns[part]]
        squares = gaps.multiply(gaps) if _data.is_sparse(gaps) else gaps * gaps
        lengths[part] = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    with np.errstate(over="ignore"):
        return np.minimum(lengths * largest, np.finfo(np.float64).max)
