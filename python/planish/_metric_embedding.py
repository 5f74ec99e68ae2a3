"""Embeddings made from distances under any metric, or given ones."""

from __future__ import annotations

from typing import Any, ClassVar

from ._embedding import Embedding
from ._inputs import Distances, DistancesOrGraph, Input, Points
from ._metrics import EvaluatedDistances, Metric, resolve_metric
from ._types import Metric as MetricChoice


class MetricEmbedding(Embedding):
    """An embedding made from distances: of points under any metric, or precomputed."""

    _python_params: ClassVar[frozenset[str]] = Embedding._python_params | {"metric_params"}
    _core_only_params: ClassVar[frozenset[str]] = frozenset({"p"})
    #: Whether precomputed distances may be a sparse graph of them.
    _takes_graph: ClassVar[bool] = False

    metric: MetricChoice
    metric_params: dict[str, Any] | None

    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _takes_sparse(self) -> bool:
        return self._takes_graph or not self._precomputed()

    def _only_positive(self) -> bool:
        return self._precomputed()

    def _metric(self) -> Metric:
        return resolve_metric(self.metric, 2, self.metric_params)

    def _input_of(self, X: Any) -> Input:
        metric = self._metric()
        if metric.precomputed:
            return DistancesOrGraph() if self._takes_graph else Distances()
        if metric.native:
            return Points(metric=metric.name, p=metric.p)
        return self._evaluated(metric, X)

    def _evaluated(self, metric: Metric, X: Any) -> Input:
        """Return what X is under a metric that the core does not know."""
        return EvaluatedDistances(metric)
