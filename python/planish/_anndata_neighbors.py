"""Neighbours in annotated data: the graph a method is made from, under scanpy's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from . import _data
from .exceptions import ParameterError
from .kneighbors_transformer import KNeighborsTransformer

#: Marks what planish wrote and may replace.
MARK = "planish_version"
# What takes `n_neighbors` for something else than a graph of neighbours.
_NO_GRAPH = ("SammonMapping",)


@dataclass(frozen=True)
class Graph:
    """The nearest neighbours of each cell, and how they were found."""

    distances: Any
    n_neighbors: int
    metric: str


def graph_of(estimator: Any, rows: Any) -> Graph | None:
    """Search the neighbours that a method on a neighbourhood graph is made from."""
    given = getattr(estimator, "n_neighbors_", getattr(estimator, "n_neighbors", None))
    metric: Any = getattr(estimator, "metric", "euclidean")
    other = getattr(estimator, "affinity", "nearest_neighbors") != "nearest_neighbors"
    listed = getattr(estimator, "neighbors", None) is not None
    if (
        type(estimator).__name__ in _NO_GRAPH
        or not isinstance(given, (int, np.integer))
        or getattr(estimator, "radius", None) is not None
        or (isinstance(metric, str) and metric == "precomputed")
        or other
        or listed
    ):
        return None
    search = KNeighborsTransformer(
        n_neighbors=int(given),
        metric=metric,
        p=getattr(estimator, "p", 2),
        metric_params=getattr(estimator, "metric_params", None),
        n_jobs=getattr(estimator, "n_jobs", None),
    ).fit(rows)
    lengths, indices = search.kneighbors()
    count = rows.shape[0]
    indptr = np.arange(count + 1) * int(given)
    distances = _data.csr(lengths.ravel(), indices.ravel(), indptr, (count, count))
    plain = search.effective_metric_
    return Graph(distances, int(given), plain if isinstance(plain, str) else plain.__name__)


def connectivities(distances: Any) -> Any:
    """Turn distances to nearest neighbours into Gaussian weights, symmetric.

    Each cell has a width, the median distance to its neighbours; that of a cell equal to most
    of its neighbours is the distance to the nearest of the others.
    """
    count = distances.shape[0]
    squares = distances.data.astype(np.float64).reshape(count, -1) ** 2
    widths = np.median(squares, axis=1)
    positive = np.where(squares > 0, squares, np.inf).min(axis=1)
    widths = np.where(widths > 0, widths, positive)
    some = widths[np.isfinite(widths)]
    widths[~np.isfinite(widths)] = np.median(some) if some.size else 1.0
    rows = np.repeat(np.arange(count), squares.shape[1])
    columns = distances.indices
    sums = widths[rows] + widths[columns]
    factors = np.sqrt(2.0 * np.sqrt(widths[rows] * widths[columns]) / sums)
    weights = factors * np.exp(-squares.ravel() / sums)
    one_way = sparse.csr_array((weights, (rows, columns)), shape=distances.shape)
    found = sparse.csr_matrix(one_way.maximum(one_way.T))
    found.eliminate_zeros()
    return found


def key_for(adata: Any, wanted: str | None, key: str) -> str:
    """Return where the neighbours go; "auto" leaves those of others alone."""
    if wanted not in (None, "auto"):
        return str(wanted)
    there = "neighbors" in adata.uns or "distances" in adata.obsp
    ours = MARK in mapping(adata.uns.get("neighbors"))
    free = (ours or not there) and key != "neighbors"
    return "neighbors" if free else f"{key}_neighbors"


def require_key(adata: Any, wanted: str | None, taken: str) -> None:
    """Refuse a key that is not one of neighbours, or that the method's own results take."""
    if wanted in (None, "auto"):
        return
    if wanted == taken:
        raise ParameterError(
            f"parameter `neighbors_key`: uns[{wanted!r}] takes the parameters of the method; pass "
            "another key for the neighbours"
        )
    if wanted in adata.uns and "connectivities_key" not in mapping(adata.uns[wanted]):
        raise ParameterError(
            f"parameter `neighbors_key`: uns[{wanted!r}] is there already and holds no neighbours; "
            "pass another key, or delete it first"
        )


def write(adata: Any, key: str, graph: Graph, links: Any, source: dict[str, Any]) -> None:
    """Write the neighbours under the names of scanpy."""
    before = "" if key == "neighbors" else f"{key}_"
    names = {kind: f"{before}{kind}" for kind in ("connectivities", "distances")}
    adata.obsp[names["distances"]] = sparse.csr_matrix(graph.distances)
    adata.obsp[names["connectivities"]] = links
    adata.uns[key] = {
        "connectivities_key": names["connectivities"],
        "distances_key": names["distances"],
        "params": {
            "n_neighbors": graph.n_neighbors + 1,  # scanpy counts the cell itself
            "method": "gauss",
            "metric": graph.metric,
            **source,
        },
        MARK: version_of_planish(),
    }


def mapping(value: Any) -> Any:
    """Return what is a mapping, or an empty one."""
    return value if hasattr(value, "keys") else {}


def version_of_planish() -> str:
    """Return the version that is written beside every result."""
    from importlib.metadata import version

    return version("planish")
