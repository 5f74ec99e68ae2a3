"""What the local methods share: neighbourhoods of points under any metric.

A metric the Rust core does not know is evaluated for all pairs of rows, and the
core is given the distances; that is as simple as it is large.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _data
from ._foreign import Metric, resolve_metric
from ._random import check_seed
from .classical_mds import MetricEmbedding


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


def neighbor_search(estimator: Any) -> Any:
    """Build scikit-learn's search with an estimator's parameters over its training data."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(
        n_neighbors=estimator.n_neighbors,
        radius=estimator.radius,
        algorithm=estimator.neighbors_algorithm,
        metric=estimator.metric,
        p=estimator.p,
        metric_params=estimator.metric_params,
        n_jobs=estimator.n_jobs,
    )
    return search.fit(estimator._training_input("nbrs_"))
