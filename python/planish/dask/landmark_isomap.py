"""Landmark Isomap of rows in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from .. import _core
from .. import landmark_isomap as _local
from .. import landmark_mds as _landmark_mds
from ..exceptions import ParameterError, UnsupportedError
from . import _components, _graph, _partitions, _paths
from ._blocks import Blocks, blocks_here, blocks_of, is_collection, looked_at
from ._estimator import OnDask, gathered, mapped, takes
from ._neighbors import Rule, check_rule, neighbor_lists, rule_of
from ._parameters import landmark_count, number_of_components, row_numbers
from ._place import new_placed, placed, rows_of, select, spread, written
from ._run import Run, client, compute, persist, require_open, shared, workers
from .landmark_mds import from_sample

#: The share of a worker's memory that a graph may take to be given to every worker.
GRAPH_SHARE = 0.25


@dataclass
class _Cluster:
    """What a fitted landmark Isomap has on the cluster."""

    blocks: Blocks
    #: For each block its rows in use; None for all.
    used: list[Any]
    #: For each block the distances of these to the landmarks.
    distances: list[Any]
    rule: Rule
    #: The whole graph; None for one in parts.
    graph: _graph.Connected | None
    #: Where it is; None without a cluster.
    client: Any


@takes(graph="auto")
class LandmarkIsomap(OnDask, _local.LandmarkIsomap):
    """Landmark Isomap of a Dask array or data frame that no single worker holds.

    Exact neighbours are found by pairs of blocks; the graph goes to every worker, or stays in
    parts; geodesics from the landmarks are spread over the workers; the landmarks are scaled
    on the client, and every row is placed where it is. On the same landmarks graph and
    geodesics are those of :class:`planish.LandmarkIsomap`, and the coordinates to rounding.

    Parameters and attributes are those of :class:`planish.LandmarkIsomap`, and:

    Parameters
    ----------
    graph : {"auto", "broadcast", "partitioned"}, default="auto"
        Whether every worker gets the whole graph, or cells of space hold their part of it and
        exchange distances over their borders. "auto" keeps it in parts when it would take more
        than a quarter of the smallest worker's memory.

    Attributes
    ----------
    embedding_ : dask array or data frame of shape (n_samples, n_components)
        Coordinates, with the chunks (or the index) of X, computed when asked for.
    geodesics_ : dask array of shape (n_samples, n_landmarks)
        Geodesic distances from every row to the landmarks, on the workers; infinite from rows
        that are not in use.
    graph_mode_ : str
        "broadcast" or "partitioned".
    n_supersteps_ : int
        Exchanges of distances between the parts of the graph; 0 for a whole one.

    Notes
    -----
    A graph in parts is not searched for outliers (edges as long as theirs are a warning), and
    takes "maxmin" and "hierarchical" landmarks from a sample of the rows. Shortcuts are not looked
    for on Dask. ``conformal=True`` and metrics that planish does not evaluate itself are refused.

    See Also
    --------
    planish.LandmarkIsomap : The same for data in memory, with the parameters described.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from planish.dask import LandmarkIsomap
    >>> angle = np.linspace(0.0, 3.0, 2000)
    >>> arc = da.from_array(np.column_stack([np.cos(angle), np.sin(angle)]), chunks=(500, 2))
    >>> isomap = LandmarkIsomap(n_neighbors=4, n_components=1, n_landmarks=20).fit(arc)
    >>> found = isomap.embedding_.compute()[:, 0]
    >>> bool(abs(np.corrcoef(found, angle)[0, 1]) > 0.9999)
    True
    """

    graph: Literal["auto", "broadcast", "partitioned"]

    def _fit_blocks(self, blocks: Blocks, run: Run) -> None:
        rule = self._rule(blocks)
        width = number_of_components(self, blocks, _metric_of(rule), run)
        # How many landmarks are chosen, or which rows they are.
        if isinstance(self.landmarks, str):
            wanted: Any = landmark_count(self.n_landmarks, width, blocks.rows)
        else:
            wanted = row_numbers(self.landmarks, blocks.rows, width)
        lists = persist(neighbor_lists(blocks, rule, run))
        resources = workers()
        self.graph_mode_ = self._mode(lists, resources[1], run)
        if self.graph_mode_ == "broadcast":
            parts, table, used = self._whole(lists, blocks, rule, wanted, resources, run)
        else:
            parts, table, used = self._in_parts(lists, blocks, rule, wanted, run)
        self._scale_landmarks(table, width)
        if self.outliers_.size:
            far = blocks.gather(self.outliers_, run)
        formula = shared(self._formula)
        coordinates = placed(formula, parts, used, blocks.sizes, blocks.dtype, run)
        if self.outliers_.size:
            coordinates = self._with_outliers(coordinates, blocks, far, run)
        self._n_features_out = width
        self.embedding_ = gathered(self, blocks, coordinates, width, run)

    def _rule(self, blocks: Blocks) -> Rule:
        if self._precomputed():
            raise UnsupportedError(
                "metric='precomputed' on Dask would need a row of distances for every row; give "
                "the points themselves"
            )
        if self.conformal:
            raise UnsupportedError(
                "conformal=True is not there on Dask; leave it False, or fit "
                "planish.LandmarkIsomap to a sample"
            )
        rule = rule_of(
            self.n_neighbors, self.radius, self.metric, self.p, self.metric_params,
            self.neighbors_algorithm, self._threads(),
        )  # fmt: skip
        check_rule(rule, blocks.rows)
        return rule

    def _mode(self, lists: list[Any], limit: float, run: Run) -> str:
        if self.graph in ("broadcast", "partitioned"):
            return str(self.graph)
        if self.graph != "auto":
            raise ParameterError(
                "parameter `graph`: expected one of 'auto', 'broadcast', 'partitioned', got "
                f"{self.graph!r}"
            )
        tasks = [run.task(_edge_count, "edges", b)(one) for b, one in enumerate(lists)]
        # Here as 16 bytes for an edge; in the core in both directions, and once more on the way.
        need = 64 * sum(compute(tasks))
        return "broadcast" if need < GRAPH_SHARE * limit else "partitioned"

    def _whole(
        self,
        lists: list[Any],
        blocks: Blocks,
        rule: Rule,
        wanted: Any,
        resources: tuple[int, float],
        run: Run,
    ) -> tuple[list[Any], Any, list[Any]]:
        graph = _graph.connected(lists, blocks, rule, self.disconnected, self.outliers, run)
        self.bridges_, self.outliers_ = graph.bridges, graph.outliers
        self.n_connected_components_ = graph.count
        self.n_supersteps_ = 0
        rows = blocks.rows if graph.used is None else len(graph.used)
        choice, count = self.landmarks, wanted
        if not isinstance(choice, str):
            choice, count = _in_use(wanted, graph.used), len(wanted)
        chosen = _paths.chosen_landmarks(
            graph, choice, count, rows, self._seed(), rule.threads, run
        )
        self.landmarks_ = chosen if graph.used is None else graph.used[chosen]
        parts, table, self.path_method_ = _paths.geodesics(
            graph, blocks, chosen, self.path_method, resources, rule.threads, run
        )
        local_used = _by_block(graph.used, blocks, run)
        self._cluster = _Cluster(blocks, local_used, parts, rule, graph, client())
        return parts, table, local_used

    def _in_parts(
        self, lists: list[Any], blocks: Blocks, rule: Rule, wanted: Any, run: Run
    ) -> tuple[list[Any], Any, list[Any]]:
        cells = _partitions.cells_of(lists, blocks, run)
        if self.outliers == "place":
            _components.warn_of_long_edges(cells, run)
        elif self.outliers != "keep":
            raise _graph.not_outliers(self.outliers)
        graph = _components.settled(cells, blocks, rule, self.disconnected, run)
        cells, used = graph.cells, graph.used
        self.n_connected_components_, self.bridges_ = graph.count, graph.bridges
        self.outliers_ = np.empty(0, dtype=np.int64)
        rows = blocks.rows if used is None else len(used)
        if not isinstance(self.landmarks, str):
            chosen = wanted
            _in_use(chosen, used)
        elif self.landmarks == "random":
            chosen = _core.random_rows(rows, min(wanted, rows), self._seed())
            chosen = chosen if used is None else used[chosen]
        else:
            chosen = from_sample(self.landmarks, wanted, blocks, self, _metric_of(rule), run, used)
        known, self.n_supersteps_ = _partitions.geodesics(cells, chosen, rule.threads, run)
        parts = _partitions.by_block(cells, known, blocks, len(chosen), run)
        table = rows_of(parts, blocks, chosen, run)
        local_used = _by_block(used, blocks, run)
        if used is not None:
            parts = persist(
                [run.task(select, "select", b)(part, local_used[b]) for b, part in enumerate(parts)]
            )
        self.landmarks_, self.path_method_ = chosen, "D"
        self._cluster = _Cluster(blocks, local_used, parts, rule, None, client())
        return parts, np.minimum(table, table.T), local_used

    def _scale_landmarks(self, table: Any, width: int) -> None:
        """Classical scaling of the landmarks; the formula for all other rows."""
        count = len(table)
        self._formula = _landmark_mds.LandmarkMDS(
            width, n_landmarks=count, landmarks=np.arange(count),
            metric="precomputed", eigen_solver=self.eigen_solver, tol=self.tol,
            max_iter=self.max_iter, n_jobs=self._threads(),
        ).fit(table)  # fmt: skip
        self._formula.__dict__.pop("_training", None)
        self.eigenvalues_ = self._formula.eigenvalues_
        self.n_components_ = self._formula.n_components_
        self.n_iter_ = self._formula.n_iter_
        self._model = self._formula._model

    def _with_outliers(
        self, coordinates: list[Any], blocks: Blocks, far: Any, run: Run
    ) -> list[Any]:
        """Place the outliers as new rows, each at its nearest rows, however far."""
        found = self._new_rows(far, nearest=True)
        owner = np.searchsorted(blocks.starts, self.outliers_, side="right") - 1
        coordinates = list(coordinates)
        for b in np.unique(owner):
            rows = self.outliers_[owner == b] - blocks.starts[b]
            task = run.task(written, "outliers", int(b))
            coordinates[b] = task(coordinates[b], rows, found[owner == b])
        return coordinates

    # -- new rows -------------------------------------------------------------------

    def _place(self, X: Any) -> Any:
        if is_collection(X) or "graph_mode_" not in vars(self):
            return super()._place(X)
        rows = self._validated(X, reset=False)
        return self._new_rows(rows, nearest=self.isolated == "nearest")

    def _new_rows(self, rows: Any, nearest: bool) -> Any:
        """Place rows that are here."""
        queries = blocks_here(rows)
        return np.concatenate(compute(self._new_parts(queries, nearest, Run())))

    def _new_parts(self, queries: Blocks, nearest: bool, run: Run) -> list[Any]:
        if "_cluster" not in vars(self):
            raise UnsupportedError(
                "the training rows of this LandmarkIsomap were on a Dask cluster and did not come "
                "with it; fit it again, or place rows before pickling"
            )
        there = self._cluster
        require_open(there.client)
        return new_placed(
            queries, there.blocks, there.used, there.distances, shared(self._formula),
            there.rule, nearest, run,
        )  # fmt: skip

    def _new_blocks(self, X: Any) -> Any:
        if "graph_mode_" not in vars(self):
            return mapped(self, X)
        run = Run()
        queries = blocks_of(X, run)
        looked_at(queries, run)
        parts = self._new_parts(queries, self.isolated == "nearest", run)
        return gathered(self, queries, parts, int(self._n_features_out), run)

    def to_local(self) -> Any:
        """Return the fitted estimator for data in memory, where it was fitted on such data."""
        if "graph_mode_" in vars(self):
            raise UnsupportedError(
                "new rows are placed through the training rows, which are on the cluster; fit "
                "planish.LandmarkIsomap on a sample for an estimator that can be taken along"
            )
        return super().to_local()

    # -- what is made when asked for ------------------------------------------------

    _on_demand: ClassVar[Mapping[str, str]] = {
        **_local.LandmarkIsomap._on_demand,
        "graph_": "_make_graph",
        "component_labels_": "_make_labels",
        "geodesics_": "_make_geodesics",
    }

    def _make_graph(self) -> Any:
        graph = self._there("graph_").graph
        if graph is None:
            raise UnsupportedError("a graph in parts is in no one place: there is no `graph_`")
        (found,) = compute([graph.edges])
        return found.matrix()

    def _make_labels(self) -> Any:
        graph = self._there("component_labels_").graph
        if graph is None:
            raise UnsupportedError("a graph in parts has no labels of all rows in one place")
        (found,) = compute([graph.labels])
        return found

    def _make_nbrs(self) -> Any:
        if "graph_mode_" in vars(self):
            raise UnsupportedError("there is no `nbrs_` on Dask: no worker holds all rows")
        return super()._make_nbrs()

    def _make_geodesics(self) -> Any:
        import dask.array as da

        there, run = self._there("geodesics_"), Run()
        count = len(self.landmarks_)
        parts = [
            run.task(spread, "geodesics", b)(part, there.used[b], there.blocks.sizes[b])
            for b, part in enumerate(there.distances)
        ]
        arrays = [
            da.from_delayed(part, shape=(size, count), dtype=np.float64, meta=np.empty((0, 0)))
            for part, size in zip(parts, there.blocks.sizes, strict=True)
        ]
        return da.concatenate(arrays, axis=0)

    def _there(self, name: str) -> _Cluster:
        if "_cluster" not in vars(self):
            raise AttributeError(
                f"`{name}` was on a Dask cluster and did not come with the estimator"
            )
        found: _Cluster = self._cluster
        require_open(found.client)
        return found

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_formula", None)
        self._lazy: dict[str, Any] = {}


def _metric_of(rule: Rule) -> dict[str, Any]:
    """Return the metric of a search as parameters of an estimator."""
    plain = {"metric": rule.metric}
    return {**plain, "metric_params": {"p": rule.p}} if rule.metric == "minkowski" else plain


def _edge_count(lists: Any) -> int:
    return len(lists.rows)


def _in_use(rows: Any, used: Any) -> Any:
    """Turn rows into their places among those in use."""
    if used is None:
        return rows
    place = np.searchsorted(used, rows)
    lost = rows[(place == len(used)) | (used[np.minimum(place, len(used) - 1)] != rows)]
    if len(lost):
        raise ParameterError(
            f"parameter `landmarks`: row {int(lost[0])} cannot be a landmark: it is an outlier, or "
            "not in the largest component"
        )
    return place


def _by_block(used: Any, blocks: Blocks, run: Run) -> list[Any]:
    """Return for each block a task: which of its rows are in use; None for all."""
    if used is None:
        return [None] * len(blocks)
    mask = np.zeros(blocks.rows, dtype=bool)
    mask[used] = True
    there = shared(mask)
    return persist(
        [
            run.task(_true_between, "in-use", b)(there, int(first), int(last))
            for b, (first, last) in enumerate(pairwise(blocks.starts))
        ]
    )


def _true_between(mask: Any, first: int, last: int) -> Any:
    return np.flatnonzero(mask[first:last])
