"""Landmark MDS of rows in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .. import landmark_mds as _local
from .._random import seed_of
from ..exceptions import ParameterError, UnsupportedError
from ._blocks import Blocks
from ._estimator import OnDask, mapped
from ._parameters import landmark_count, number_of_components, row_numbers
from ._run import Run

#: Rows among which landmarks are looked for, where all rows are in no one place.
CANDIDATES = 20_000


def from_sample(
    choice: Any,
    count: int,
    blocks: Blocks,
    estimator: Any,
    metric: dict[str, Any],
    run: Run,
    used: Any = None,
) -> Any:
    """Choose landmarks among a seeded sample of the rows in use; of few rows, among all."""
    there = blocks.rows if used is None else len(used)
    size = min(there, max(CANDIDATES, 20 * count))
    rng = np.random.default_rng(seed_of(estimator.random_state))
    rows = np.sort(rng.choice(there, size=size, replace=False))
    rows = rows if used is None else used[rows]
    sample = blocks.gather(rows, run)
    chooser = _local.LandmarkMDS(
        1,
        n_landmarks=min(count, size),
        landmarks=choice,
        random_state=estimator.random_state,
        **metric,
    )
    return rows[chooser.fit(sample).landmarks_]


class LandmarkMDS(OnDask, _local.LandmarkMDS):
    """Landmark MDS of a Dask array or data frame.

    The landmarks are brought to the client, scaled there, and every row is placed on its
    worker by its distances to them: one pass over the data, and nothing but the landmarks
    moves. On the same landmarks the coordinates are those of :class:`planish.LandmarkMDS`,
    whose parameters and attributes it has.

    Notes
    -----
    ``landmarks="random"`` draws the rows that :class:`planish.LandmarkMDS` draws. "maxmin" and
    "hierarchical" need rounds over all rows: they choose among a seeded sample of 20 000 rows,
    all rows where there are fewer. ``algorithm="fastmap"`` does so as well and is refused.

    See Also
    --------
    planish.LandmarkMDS : The same for data in memory, with the parameters described.

    Examples
    --------
    >>> import dask.array as da
    >>> from planish.dask import LandmarkMDS
    >>> X = da.random.default_rng(0).normal(size=(1000, 3), chunks=(250, 3))
    >>> LandmarkMDS(n_landmarks=20).fit_transform(X).chunks
    ((250, 250, 250, 250), (2,))
    """

    def _fit_blocks(self, blocks: Blocks, run: Run) -> None:
        if self._precomputed():
            raise UnsupportedError(
                "metric='precomputed' on Dask would need a row of distances for every row; give "
                "the points themselves"
            )
        if self.algorithm == "fastmap":
            raise ParameterError(
                "parameter `algorithm`: 'fastmap' chooses its rows by passes over all of them; on "
                "Dask use 'landmark' or 'metricmap'"
            )
        metric = {"metric": self.metric, "metric_params": self.metric_params}
        width = number_of_components(self, blocks, metric, run)
        if isinstance(self.landmarks, str):
            count = landmark_count(self.n_landmarks, width, blocks.rows)
            if self.landmarks == "random":
                rows = _core.random_rows(blocks.rows, count, self._seed())
            else:
                rows = from_sample(self.landmarks, count, blocks, self, metric, run)
        else:
            rows = row_numbers(self.landmarks, blocks.rows, width)
        given = self.get_params(deep=False)
        asked = {**given, "n_components": width, "n_landmarks": len(rows), "verbose": 0}
        asked["landmarks"] = np.arange(len(rows))
        local = _local.LandmarkMDS(**asked).fit(blocks.gather(rows, run))
        fitted = {n: v for n, v in vars(local).items() if n not in given and n != "_training"}
        fitted = {n: v for n, v in fitted.items() if n not in ("n_features_in_", "embedding_")}
        self.__dict__.update(fitted)
        self.landmarks_ = rows
        self.embedding_ = mapped(self, None, blocks=blocks)
