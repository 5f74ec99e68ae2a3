"""What the local methods share: neighbourhoods of points under any metric.

A metric the Rust core does not know is evaluated for all pairs of rows, and the
core is given the distances; that is as simple as it is large.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._foreign import Metric, resolve_metric
from ._random import check_seed
from .classical_mds import MetricEmbedding


class LocalEmbedding(MetricEmbedding):
    """An embedding made from neighbourhoods, of points or of given distances."""

    _core_only_params: ClassVar[frozenset[str]] = frozenset()
    #: Numbers that may also be "auto", which is None to the core.
    _automatic: ClassVar[tuple[str, ...]] = ()

    neighbors_algorithm: str
    p: float
    n_neighbors: int | None

    component_labels_: NDArray[np.int64]
    n_connected_components_: int
    eigenvalues_: NDArray[np.float64]

    def _metric(self) -> Metric:
        return resolve_metric(self.metric, self.p, self.metric_params)

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
