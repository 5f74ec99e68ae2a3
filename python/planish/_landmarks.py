"""What the landmark estimators share: the seed, and landmarks given as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._embedding import Embedding
from ._random import check_seed, seed_of
from .exceptions import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import Indices, Landmarks, RandomState


class LandmarkParams(Embedding):
    """The parameters that say which rows are landmarks."""

    landmarks: Landmarks | ArrayLike
    random_state: RandomState

    landmarks_: Indices

    def _check_python_params(self) -> None:
        check_seed(self.random_state)

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
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
