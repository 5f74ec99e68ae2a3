"""What the estimators on geodesic distances share: neighbours of any metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _data
from ._base import Embedding
from ._foreign import ForeignNeighbors, Metric, resolve_metric
from ._neighborhood import neighbor_search


class GeodesicEmbedding(Embedding):
    """An embedding made from a neighbourhood graph of points, distances or edges."""

    _python_params: ClassVar[frozenset[str]] = Embedding._python_params | {"metric_params"}
    _on_demand: ClassVar[Mapping[str, str]] = {"nbrs_": "_compute_nbrs"}

    n_neighbors: int | None
    radius: float | None
    neighbors_algorithm: str
    metric: str | Callable[..., float]
    p: float
    metric_params: dict[str, Any] | None
    disconnected: str
    isolated: str

    graph_: Any
    component_labels_: NDArray[np.int64]
    n_connected_components_: int
    bridges_: NDArray[np.int64]
    shortcuts_: NDArray[np.int64]
    outliers_: NDArray[np.int64]
    path_method_: str
    nbrs_: Any
    _foreign: ForeignNeighbors

    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _only_positive(self) -> bool:
        return self._precomputed()

    def _metric(self) -> Metric:
        return resolve_metric(self.metric, self.p, self.metric_params)

    def _training_data(self, X: Any) -> tuple[_data.CoreData, dict[str, Any]]:
        metric = self._metric()
        if self._precomputed():
            return _data.square_graph(X) if _data.is_sparse(X) else _data.distances(X), {}
        if metric.native:
            return _data.points(X), {"metric": metric.name, "p": metric.p}
        self._foreign = ForeignNeighbors(
            metric, self.n_neighbors, self.radius, self.neighbors_algorithm
        )
        data = self._foreign.training(X, bridge=self.disconnected == "bridge")
        return data, {"metric": "precomputed", "p": 2}

    def _new_data(self, X: Any) -> _data.CoreData:
        if self._precomputed():
            return _data.graph(X) if _data.is_sparse(X) else _data.distances(X)
        if self._metric().native:
            return _data.points(X)
        return self._foreign.query(X, attach=self.isolated == "nearest")

    def _compute_nbrs(self) -> Any:
        if "_foreign" in vars(self):
            return self._foreign.shown()
        return neighbor_search(self)


class ScaledGeodesics(GeodesicEmbedding):
    """Classical scaling of all geodesic distances: Isomap and kernel Isomap."""

    _on_demand: ClassVar[Mapping[str, str]] = {
        **GeodesicEmbedding._on_demand,
        "dist_matrix_": "_compute_dist_matrix",
    }

    eigenvalues_: NDArray[np.float64]
    eigenvectors_: NDArray[np.float64]
    n_iter_: int
    storage_: str
    storage_error_: float
    dist_matrix_: NDArray[np.float64]

    def reconstruction_error(self) -> float:
        """Compute how much of the geodesic kernel the embedding misses.

        Returns
        -------
        error : float
            ``||K - K_fit||_F / n_samples``, with K the centred kernel of the
            geodesic distances and K_fit that of the embedding.
        """
        return float(self._compute("reconstruction_error"))

    def _compute_dist_matrix(self) -> Any:
        return self._compute("dist_matrix")
