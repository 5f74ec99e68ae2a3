"""What the landmark estimators share: the seed, and landmarks given as rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import Embedding
from ._random import check_seed, seed_of
from .exceptions import ParameterError


class LandmarkParams(Embedding):
    """The parameters that say which rows are landmarks."""

    landmarks: str | ArrayLike
    random_state: int | np.random.RandomState | None

    landmarks_: NDArray[np.int64]

    def _check_python_params(self) -> None:
        check_seed(self.random_state)

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _core_params(self) -> dict[str, Any]:
        params = super()._core_params()
        if not isinstance(params["landmarks"], str):
            params["landmarks"] = _row_numbers(params["landmarks"])
        return params


def _row_numbers(landmarks: Any) -> list[float]:
    rows = np.asarray(landmarks)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or (rows < 0).any():
        raise ParameterError(
            "parameter `landmarks`: expected 'random', 'maxmin', 'hierarchical' or a list of row "
            f"numbers, got {landmarks!r}"
        )
    return [float(row) for row in rows]
