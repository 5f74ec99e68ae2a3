"""What the methods on a neighbourhood graph share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ._metric_embedding import MetricEmbedding
from ._metrics import Metric, resolve_metric
from ._random import check_seed

if TYPE_CHECKING:
    from ._types import DisconnectedAffinities, Floats, Indices, Isolated, NeighborsAlgorithm


class NeighborhoodEmbedding(MetricEmbedding):
    """An embedding made from a neighbourhood graph of points, distances or edges."""

    _core_only_params: ClassVar[frozenset[str]] = frozenset()
    #: Parameters that may also be "auto", which is None to the core.
    _automatic: ClassVar[tuple[str, ...]] = ()

    neighbors_algorithm: NeighborsAlgorithm
    p: float
    disconnected: DisconnectedAffinities
    isolated: Isolated

    component_labels_: Indices
    n_connected_components_: int
    eigenvalues_: Floats
    n_iter_: int

    def _metric(self) -> Metric:
        return resolve_metric(self.metric, self.p, self.metric_params)

    def _check_python_params(self) -> None:
        check_seed(getattr(self, "random_state", None))

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        for name in self._automatic:
            if isinstance(params[name], str) and params[name] == "auto":
                params[name] = None
        return params

    def _neighbor_search(self) -> Any:
        """Build scikit-learn's search with the parameters of the fit over its data."""
        from sklearn.neighbors import NearestNeighbors

        training = self._trained_on("nbrs_")
        given = training.params
        algorithm = given["neighbors_algorithm"]
        search = NearestNeighbors(
            n_neighbors=getattr(self, "n_neighbors_", given["n_neighbors"]),
            radius=given["radius"],
            algorithm="auto" if algorithm == "approximate" else algorithm,
            metric=given["metric"],
            p=given["p"],
            metric_params=given["metric_params"],
            n_jobs=given["n_jobs"],
        )
        return search.fit(training.X)
