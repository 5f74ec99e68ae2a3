"""What the maps of the stress family share: MDS and Sammon mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from . import _core
from ._inputs import Distances, Input
from ._lazy import LazyArray
from ._metric_embedding import MetricEmbedding
from ._random import check_seed, seed_of
from ._types import Floats, RandomState
from .exceptions import ParameterError

#: The forms of stress, in the order of the Rust core.
FORMS = ("raw", "normalized", "stress1", "stress2", "sammon", "strain", "per_distance")
#: Where a start came from, by the number the core gives it.
_KINDS = np.array(["classical_mds", "random", "given"])
_TABLE = np.dtype([("start", "U13"), ("stress", np.float64), ("n_iter", np.int64)])
_SHEPARD = np.dtype(
    [("dissimilarity", np.float64), ("distance", np.float64), ("disparity", np.float64)]
)


class StressEmbedding(MetricEmbedding):
    """An embedding that minimises a stress over pairs of rows."""

    _python_params: ClassVar[frozenset[str]] = MetricEmbedding._python_params | {"random_state"}
    _on_demand: ClassVar[Mapping[str, str]] = {
        "dissimilarity_matrix_": "_make_dissimilarity_matrix",
        "shepard_": "_make_shepard",
    }

    random_state: RandomState

    stress_: float
    stress_forms_: dict[str, float]
    stress_per_point_: Floats
    dissimilarity_matrix_: LazyArray | Floats
    shepard_: NDArray[Any]
    n_iter_: int
    history_: Floats
    inits_: NDArray[Any]

    def _check_python_params(self) -> None:
        check_seed(self.random_state)

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        params["init"] = array_or_name("init", vars(self).get("_given_init", params["init"]))
        return params

    def _keep(self, model: _core.Model, given: Input, dtype: Any) -> None:
        super()._keep(model, given, dtype)
        self.stress_forms_ = {name: self.__dict__.pop(f"{name}_") for name in FORMS}
        table = np.empty(len(self.inits_), dtype=_TABLE)
        table["start"] = _KINDS[self.inits_[:, 0].astype(int)]
        table["stress"], table["n_iter"] = self.inits_[:, 1], self.inits_[:, 2]
        self.inits_ = table

    def _make_dissimilarity_matrix(self) -> Any:
        training = self._trained_on("dissimilarity_matrix_")
        X = training.X
        if isinstance(self._input, Distances):
            return X
        metric = self._fitted_metric()
        return LazyArray((X.shape[0], X.shape[0]), np.float64, lambda: metric.pairwise(X))

    def _fitted_metric(self) -> Any:
        from ._metrics import EvaluatedDistances, resolve_metric

        if isinstance(self._input, EvaluatedDistances):
            return self._input.metric
        return resolve_metric(self._input.params["metric"], self._input.params["p"], None)

    def _disparities(self) -> Any:
        """Return what the distances in the map should be, n × n."""
        return self.dissimilarity_matrix_

    def _make_shepard(self) -> Any:
        delta = np.asarray(self.dissimilarity_matrix_, dtype=np.float64)
        rows, columns = np.triu_indices(len(delta), 1)
        there = np.where(np.isnan(delta), delta.T, delta)[rows, columns]
        known = ~np.isnan(there)
        rows, columns, there = rows[known], columns[known], there[known]
        placed = np.asarray(self.embedding_, dtype=np.float64)
        table = np.empty(len(there), dtype=_SHEPARD)
        table["dissimilarity"] = there
        table["distance"] = cdist(placed, placed)[rows, columns]
        disparities = np.asarray(self._disparities(), dtype=np.float64)
        table["disparity"] = np.where(np.isnan(disparities), disparities.T, disparities)[
            rows, columns
        ]
        return np.sort(table, order=["dissimilarity", "disparity"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._precomputed()
        return tags


def array_or_name(name: str, value: Any) -> Any:
    """Return a parameter that is an array or a name as the core takes it."""
    if value is None or isinstance(value, str):
        return value
    return matrix(name, value)


def matrix(name: str, value: ArrayLike) -> Floats:
    """Return a parameter that is a 2-dimensional array of numbers."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"parameter `{name}`: expected a 2-dimensional array of numbers, got "
            f"{type(value).__name__}"
        ) from error
    if found.ndim != 2:  # noqa: PLR2004
        raise ParameterError(
            f"parameter `{name}`: expected a 2-dimensional array, got {found.ndim} dimensions"
        )
    return found
