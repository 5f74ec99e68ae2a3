"""What the estimators on geodesic distances share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from . import _data
from ._inputs import Input
from ._lazy import LazyArray
from ._metrics import Metric
from ._neighborhood import NeighborhoodEmbedding
from ._neighbors import SearchedNeighbors
from ._threads import thread_count

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

    from ._types import Floats, Graph, Indices, Outliers, PathMethod


class GeodesicEmbedding(NeighborhoodEmbedding):
    """An embedding made from shortest paths through a neighbourhood graph."""

    _takes_graph: ClassVar[bool] = True
    _on_demand: ClassVar[Mapping[str, str]] = {"nbrs_": "_make_nbrs"}

    n_neighbors: int | None
    radius: float | None
    path_method: PathMethod
    outliers: Outliers

    graph_: Graph
    bridges_: Indices
    shortcuts_: Indices
    outliers_: Indices
    path_method_: str
    nbrs_: NearestNeighbors

    def _evaluated(self, metric: Metric, X: Any) -> Input:
        return SearchedNeighbors(
            metric,
            self.n_neighbors,
            self.radius,
            self.neighbors_algorithm,
            bridge=self.disconnected == "bridge",
            attach=self.isolated == "nearest",
            p=2,
        )

    def _make_nbrs(self) -> Any:
        given = self._input
        return given.shown() if isinstance(given, SearchedNeighbors) else self._neighbor_search()


class ScaledGeodesics(GeodesicEmbedding):
    """Classical scaling of all geodesic distances: Isomap and kernel Isomap."""

    _on_demand: ClassVar[Mapping[str, str]] = {
        **GeodesicEmbedding._on_demand,
        "dist_matrix_": "_make_dist_matrix",
    }

    eigenvectors_: Floats
    storage_: str
    storage_error_: float
    dist_matrix_: LazyArray

    def reconstruction_error(self) -> float:
        """Compute how much of the geodesic kernel the embedding misses.

        Returns
        -------
        error : float
            ``||K - K_fit||_F / n_samples``, with K the centred kernel of the
            geodesic distances and K_fit that of the embedding.
        """
        return float(self._compute("reconstruction_error"))

    def _make_dist_matrix(self) -> LazyArray:
        model, n_jobs, dtype = self._model, self.n_jobs, self.embedding_.dtype

        def compute() -> Any:
            with self._progress("dist_matrix") as progress:
                found = model.compute("dist_matrix", thread_count(n_jobs), progress)
            return _data.as_dtype(found, dtype, "geodesic distances")

        rows = self.embedding_.shape[0]
        return LazyArray((rows, rows), np.dtype(dtype), compute)
