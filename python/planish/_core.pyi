"""The Rust core: what the Python package stands on. Private."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Model",
    "available_memory",
    "dataset",
    "dataset_geodesics",
    "dimension",
    "estimate_memory",
    "exception_table",
    "fit",
    "fit_kernel_map",
    "geodesic_distances",
    "kneighbors",
    "methods",
    "quality",
    "restore",
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
) -> None: ...
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
