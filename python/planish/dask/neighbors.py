"""Exact nearest neighbours of rows in blocks, as a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._threads import thread_count
from .._types import NativeMetric, NeighborsAlgorithm
from ._blocks import blocks_of, looked_at, require_same
from ._neighbors import Lists, check_rule, neighbor_lists, rule_of
from ._run import Run, persist


def kneighbors(
    X: Any,
    n_neighbors: int = 5,
    *,
    metric: NativeMetric = "euclidean",
    p: float = 2,
    algorithm: NeighborsAlgorithm = "auto",
    n_jobs: int | None = None,
) -> tuple[Any, Any]:
    """Find the nearest other rows of every row of X, exactly.

    Parameters
    ----------
    X : dask array or data frame of shape (n_samples, n_features)
        The rows.
    n_neighbors : int, default=5
        Number of neighbours of each row.
    metric : str, default="euclidean"
        As in :func:`planish.kneighbors`.
    p : float, default=2
        Power of the Minkowski metric.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        As in :func:`planish.kneighbors`.
    n_jobs : int, default=None
        Threads of one task; None is 1, because a worker runs as many tasks as it has threads.

    Returns
    -------
    distances : dask array of shape (n_samples, n_neighbors)
        Distances to the neighbours, nearest first.
    indices : dask array of shape (n_samples, n_neighbors)
        The rows they are, counted over all blocks; of two at the same distance, the lower
        row comes first. Both have the chunks of X and lie on the workers.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from planish.dask import kneighbors
    >>> X = da.from_array(np.array([[0.0], [1.0], [3.0], [3.5]]), chunks=(2, 1))
    >>> distances, indices = kneighbors(X, n_neighbors=1)
    >>> indices.compute().ravel()
    array([1, 0, 3, 2])
    """
    import dask.array as da

    run = Run()
    blocks = blocks_of(X, run)
    looks = looked_at(blocks, run)
    threads = 1 if n_jobs is None else thread_count(n_jobs)
    rule = rule_of(n_neighbors, None, metric, p, None, algorithm, threads)
    check_rule(rule, blocks.rows)
    lists = persist(neighbor_lists(blocks, rule, run))
    found = []
    for name, dtype in (("distances", np.float64), ("rows", np.int64)):
        parts = [run.task(_table, name, b)(one, name) for b, one in enumerate(lists)]
        arrays = [
            da.from_delayed(
                part, shape=(size, n_neighbors), dtype=dtype, meta=np.empty((0, 0), dtype)
            )
            for part, size in zip(parts, blocks.sizes, strict=True)
        ]
        found.append(da.concatenate(arrays, axis=0))
    require_same(blocks, looks)
    return found[0], found[1]


def _table(lists: Lists, name: str) -> Any:
    return getattr(lists, name).reshape(len(lists), -1)
