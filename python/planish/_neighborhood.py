"""What the local methods share: neighbourhoods of points under any metric.

A metric the Rust core does not know is evaluated for all pairs of rows, and the
core is given the distances; that is as simple as it is large.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _data
from ._foreign import Metric, resolve_metric
from ._random import check_seed
from .classical_mds import MetricEmbedding
from .exceptions import ParameterError


class LocalEmbedding(MetricEmbedding):
    """An embedding made from neighbourhoods, of points or of given distances."""

    _core_only_params: ClassVar[frozenset[str]] = frozenset()
    #: Parameters that may also be "auto", which is None to the core.
    _automatic: ClassVar[tuple[str, ...]] = ()
    #: Whether precomputed distances may be a sparse graph of them.
    _takes_graph: ClassVar[bool] = False

    neighbors_algorithm: str
    p: float
    n_neighbors: int | None

    component_labels_: NDArray[np.int64]
    n_connected_components_: int
    eigenvalues_: NDArray[np.float64]
    eigenvalue_residuals_: NDArray[np.float64]

    def _metric(self) -> Metric:
        return resolve_metric(self.metric, self.p, self.metric_params)

    def _takes_sparse(self) -> bool:
        return self._takes_graph or super()._takes_sparse()

    def _training_data(self, X: Any) -> tuple[_data.CoreData, dict[str, Any]]:
        if self._is_graph(X):
            self._metric()
            return _data.square_graph(X), {}
        return super()._training_data(X)

    def _new_data(self, X: Any) -> _data.CoreData:
        return _data.graph(X) if self._is_graph(X) else super()._new_data(X)

    def _is_graph(self, X: Any) -> bool:
        return self._takes_graph and self._precomputed() and _data.is_sparse(X)

    def _check_python_params(self) -> None:
        # Nothing here is drawn by chance: the seed is scikit-learn's parameter, no more.
        check_seed(getattr(self, "random_state", None))

    def _core_params(self) -> dict[str, Any]:
        params = super()._core_params()
        for name in self._automatic:
            if isinstance(params[name], str) and params[name] == "auto":
                params[name] = None
        return params


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


def neighbor_search(estimator: Any) -> Any:
    """Build scikit-learn's search with an estimator's parameters over its training data."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(
        n_neighbors=getattr(estimator, "n_neighbors_", estimator.n_neighbors),
        radius=estimator.radius,
        algorithm=estimator.neighbors_algorithm,
        metric=estimator.metric,
        p=estimator.p,
        metric_params=estimator.metric_params,
        n_jobs=estimator.n_jobs,
    )
    return search.fit(estimator._training_input("nbrs_"))
