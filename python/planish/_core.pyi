"""The Rust core: what the Python package stands on. Private."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Model",
    "available_memory",
    "blended_dimension",
    "closest_foreign",
    "dataset",
    "dataset_geodesics",
    "dimension",
    "estimate_memory",
    "exception_table",
    "fit",
    "fit_kernel_map",
    "geodesic_distances",
    "graph_landmarks",
    "graph_outliers",
    "inspect_model",
    "kneighbors",
    "load_model",
    "methods",
    "pca_of_moments",
    "quality",
    "random_rows",
    "relax_distances",
    "restore",
    "save_model",
    "warning_table",
]

_Data = tuple[Any, ...]
_Progress = Callable[[str, int, int], None]

def methods() -> dict[str, dict[str, Any]]: ...
def exception_table() -> dict[str, str]: ...
def warning_table() -> list[str]: ...
def fit(
    method: str,
    params: dict[str, Any],
    data: _Data,
    n_jobs: int,
    seed: int,
    progress: _Progress | None,
    memory_limit: int | None,
    callback: Callable[[int, float, NDArray[np.float64]], Any] | None = None,
) -> Model: ...
def fit_kernel_map(
    params: dict[str, Any],
    data: _Data,
    coordinates: NDArray[np.float64],
    n_jobs: int,
    progress: _Progress | None,
    memory_limit: int | None,
) -> Model: ...
def restore(method: str, state: bytes) -> Model: ...
def save_model(
    model: Model,
    path: str,
    said: str,
    arrays: list[tuple[str, str, tuple[int, ...], NDArray[np.uint8]]],
) -> None: ...
def load_model(
    path: str,
) -> tuple[Model, str, list[tuple[str, str, list[int], NDArray[np.uint8]]]]: ...
def inspect_model(path: str) -> tuple[str, list[tuple[str, str, list[int]]], int]: ...
def kneighbors(
    data: _Data,
    query: _Data | None,
    n_neighbors: int | None,
    radius: float | None,
    metric: str,
    p: float,
    algorithm: str,
    n_jobs: int,
    progress: _Progress | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def geodesic_distances(
    graph: _Data,
    sources: NDArray[np.int64] | None,
    path_method: str,
    out: NDArray[np.float64],
    n_jobs: int,
    progress: _Progress | None,
    planned: int | None = None,
) -> str: ...
def relax_distances(
    graph: _Data, seeds: _Data, distances: NDArray[np.float64], n_jobs: int
) -> None: ...
def closest_foreign(
    data: _Data, labels: NDArray[np.int64], count: int, metric: str, p: float, n_jobs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def graph_landmarks(
    graph: _Data, choice: str, count: int, seed: int, n_jobs: int
) -> NDArray[np.int64]: ...
def graph_outliers(graph: _Data, n_jobs: int) -> NDArray[np.int64]: ...
def random_rows(rows: int, count: int, seed: int) -> NDArray[np.int64]: ...
def pca_of_moments(
    params: dict[str, Any],
    rows: int,
    mean: list[float],
    scatter: NDArray[np.float64],
    n_jobs: int,
) -> Model: ...
def estimate_memory(
    method: str, params: dict[str, Any], n_samples: int, n_features: int
) -> int: ...
def available_memory() -> int: ...
def dataset(
    name: str,
    n_samples: int,
    counts: list[int],
    lengths: list[float],
    noise: float,
    seed: int,
    n_jobs: int,
) -> tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], tuple[str, list[float]]
]: ...
def dataset_geodesics(
    geometry: tuple[str, list[float]],
    coordinates: NDArray[np.float64],
    rows: list[int] | None,
    n_jobs: int,
) -> NDArray[np.float64]: ...
def blended_dimension(angles: float, likelihood: float) -> float: ...
def dimension(
    data: _Data,
    methods: list[str],
    n_neighbors: int,
    metric: str,
    p: float,
    rule: str,
    discard: float,
    n_bootstraps: int,
    confidence: float,
    seed: int,
    n_jobs: int,
    progress: _Progress | None,
) -> tuple[
    list[
        tuple[
            float | None,
            tuple[bool, str] | None,
            tuple[float, float] | None,
            NDArray[np.float64] | None,
            list[tuple[tuple[int, int], float, float, tuple[float, float] | None]],
        ]
    ],
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
]: ...
def quality(
    data: _Data,
    embedding: NDArray[np.float64],
    wanted: dict[str, Any],
    n_jobs: int,
    seed: int,
    progress: _Progress | None,
) -> dict[str, Any]: ...

@final
class Model:
    @property
    def method(self) -> str: ...
    @property
    def embedding(self) -> NDArray[np.float64] | None: ...
    def attributes(self) -> dict[str, Any]: ...
    def transform(
        self, data: _Data, n_jobs: int, progress: _Progress | None
    ) -> NDArray[np.float64]: ...
    def nearest_distances(
        self, data: _Data, n_jobs: int, progress: _Progress | None
    ) -> NDArray[np.float64]: ...
    def inverse_transform(
        self, coordinates: NDArray[np.float64], n_jobs: int, progress: _Progress | None
    ) -> NDArray[np.float64]: ...
    def compute(self, what: str, n_jobs: int, progress: _Progress | None) -> Any: ...
    def __reduce__(self) -> tuple[Callable[[str, bytes], Model], tuple[str, bytes]]: ...
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, _memo: Any) -> Model: ...
