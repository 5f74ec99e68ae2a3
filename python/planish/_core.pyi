"""The Rust core: what the Python package stands on. Private."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Data = tuple[Any, ...]
Progress = Callable[[str, int, int], None]

def methods() -> dict[str, dict[str, Any]]: ...
def exception_table() -> dict[str, str]: ...
def warning_table() -> list[str]: ...
def fit(
    method: str,
    params: dict[str, Any],
    data: Data,
    n_jobs: int,
    seed: int,
    progress: Progress | None,
    memory_limit: int | None,
) -> Model: ...
def restore(method: str, state: bytes) -> Model: ...
def kneighbors(
    data: Data,
    query: Data | None,
    n_neighbors: int | None,
    radius: float | None,
    metric: str,
    p: float,
    algorithm: str,
    n_jobs: int,
    progress: Progress | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def geodesic_distances(
    graph: Data,
    sources: NDArray[np.int64] | None,
    path_method: str,
    n_jobs: int,
    progress: Progress | None,
) -> NDArray[np.float64]: ...
def estimate_memory(
    method: str, params: dict[str, Any], n_samples: int, n_features: int
) -> int: ...
def available_memory() -> int: ...

@final
class Model:
    @property
    def method(self) -> str: ...
    @property
    def embedding(self) -> NDArray[np.float64] | None: ...
    def attributes(self) -> dict[str, Any]: ...
    def transform(
        self, data: Data, n_jobs: int, progress: Progress | None
    ) -> NDArray[np.float64]: ...
    def inverse_transform(
        self, Y: NDArray[np.float64], n_jobs: int, progress: Progress | None
    ) -> NDArray[np.float64]: ...
    def compute(self, what: str, n_jobs: int, progress: Progress | None) -> Any: ...
    def __reduce__(self) -> tuple[Callable[[str, bytes], Model], tuple[str, bytes]]: ...
