"""The neighbourhood graph over a map, with the edges that deserve a look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Floats, Indices
from ..exceptions import ParameterError
from . import _style
from ._embedding import colouring, draw_map, figure_size
from ._input import Drawing, chosen_columns, drawing
from ._legend import legend_place
from ._libraries import axes_or_new, require_matplotlib
from ._title import Quality, headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix

#: Plain edges that are drawn at most; of more a sample is.
MOST_EDGES = 100_000

_PLANE = 2


def graph(
    estimator_or_Y: object,
    *,
    graph: sparray | spmatrix | None = None,
    shortcuts: ArrayLike | None = None,
    bridges: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    values: ArrayLike | None = None,
    columns: Sequence[int] | None = None,
    legend: bool = True,
    title: str | None = None,
    quality: Quality = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Draw the neighbourhood graph over a map of two dimensions.

    A long edge across the map is a sign of a shortcut: two rows that are neighbours in the
    data and far apart along the manifold.

    Parameters
    ----------
    estimator_or_Y : estimator or array-like of shape (n_samples, n_columns)
        A fitted estimator with a `graph_` or an `affinity_matrix_`, or coordinates.
    graph : sparse matrix of shape (n_samples, n_samples), default=None
        The graph, whose stored entries are edges; None takes the estimator's.
    shortcuts, bridges : array-like of int of shape (n_edges, 2), default=None
        Edges to mark as suspicious, and as added to connect the graph; None takes the
        estimator's `shortcuts_` and `bridges_`.
    labels, values, columns, legend, title, quality, ax
        As in :func:`planish.plot.embedding`; two columns are drawn.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The Axes drawn into. Its line collections are the edges, the shortcuts and the
        bridges, as far as there are any; of more than 100 000 edges a sample is drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from planish import neighbors_graph, plot
    >>> Y = np.random.default_rng(0).normal(size=(50, 2))
    >>> ax = plot.graph(Y, graph=neighbors_graph(Y, n_neighbors=3), shortcuts=[[0, 7]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][-1]
    '1 shortcut'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    given = drawing(estimator_or_Y)
    if given.points.shape[1] < _PLANE:
        raise ParameterError("parameter `estimator_or_Y`: a graph is drawn over two columns, got 1")
    color = colouring(labels, values, len(given.points))
    shown = chosen_columns(columns, given.points.shape[1], _PLANE)
    if len(shown) < _PLANE:
        raise ParameterError(f"parameter `columns`: a graph is drawn over two, got {shown}")
    edges = _edges(given, graph)
    marked = {
        "shortcut": _marked("shortcuts", shortcuts, given),
        "bridge": _marked("bridges", bridges, given),
    }
    size = figure_size(
        given.points[given.rows][:, shown], beside=0.0 if values is not None else 1.3
    )
    ax = axes_or_new(ax, size=size)
    _draw_edges(ax, given.points[:, shown], edges, marked)
    notes = given.notes()
    if given.points.shape[1] > _PLANE and columns is None:
        notes.append(f"the first 2 of {given.points.shape[1]} coordinates")
    notes += draw_map(ax, given, color, shown, density=False, legend=legend)
    if legend:
        _legend(ax, below=values is not None)
    text = headline(given.source, len(given.rows), title=title, quality=quality, notes=notes)
    ax.set_title(text, fontsize="medium")
    return ax


def _edges(given: Drawing, graph: Any) -> Indices:
    """Return the edges between rows that are drawn, each once, the smaller row first."""
    from scipy.sparse import issparse

    if graph is None:
        for name in ("graph_", "affinity_matrix_"):
            graph = getattr(given.source, name, None)
            if graph is not None:
                break
    if graph is None:
        what = "an array" if given.source is None else f"a {type(given.source).__name__}"
        raise ParameterError(f"parameter `graph`: {what} has no neighbourhood graph, give one")
    n = len(given.points)
    shape = getattr(graph, "shape", None)
    if not issparse(graph) or shape != (n, n):
        raise ParameterError(
            f"parameter `graph`: expected a sparse matrix of shape ({n}, {n}), got "
            f"{type(graph).__name__} of shape {shape}"
        )
    stored: Any = graph
    stored = stored.tocoo()
    pairs = np.column_stack([stored.row, stored.col]).astype(np.int64)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return _between_drawn(pairs[pairs[:, 0] < pairs[:, 1]], given)


def _between_drawn(pairs: Indices, given: Drawing) -> Indices:
    drawn = np.zeros(len(given.points), dtype=bool)
    drawn[given.rows] = True
    return pairs[drawn[pairs].all(axis=1)]


def _marked(name: str, pairs: ArrayLike | None, given: Drawing) -> Indices:
    if pairs is None:
        pairs = getattr(given.source, f"{name}_", None)
    found = np.asarray([] if pairs is None else pairs, dtype=np.int64)
    if found.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    n = len(given.points)
    if found.ndim != 2 or found.shape[1] != 2 or found.min() < 0 or found.max() >= n:  # noqa: PLR2004
        raise ParameterError(
            f"parameter `{name}`: expected pairs of row numbers below {n}, got shape {found.shape}"
        )
    return _between_drawn(np.unique(np.sort(found, axis=1), axis=0), given)


def _draw_edges(ax: Axes, points: Floats, edges: Indices, marked: dict[str, Indices]) -> None:
    from matplotlib.collections import LineCollection

    special = {tuple(pair) for pairs in marked.values() for pair in pairs.tolist()}
    plain = edges[[tuple(pair) not in special for pair in edges.tolist()]]
    label = f"{len(plain)} edge{'' if len(plain) == 1 else 's'}"
    if len(plain) > MOST_EDGES:
        sample = np.random.default_rng(0).choice(len(plain), MOST_EDGES, replace=False)
        plain, label = plain[np.sort(sample)], f"{MOST_EDGES} of {label}"
    looks: dict[str, dict[str, Any]] = {
        "edge": {"colors": _style.EDGE, "linewidths": 0.5, "zorder": 0.5},
        "shortcut": {"colors": _style.SHORTCUT, "linewidths": 2.2, "zorder": 3},
        "bridge": {
            "colors": _style.BRIDGE, "linewidths": 2.2, "zorder": 3, "linestyles": (0, (3, 1.5)),
        },
    }  # fmt: skip
    for kind, pairs in {"edge": plain, **marked}.items():
        if len(pairs) == 0:
            continue
        if kind != "edge":
            label = f"{len(pairs)} {kind}{'' if len(pairs) == 1 else 's'}"
        lines = LineCollection(list(points[pairs]), label=label, **looks[kind])
        lines.set_rasterized(len(pairs) > 2_000)  # noqa: PLR2004
        ax.add_collection(lines)


def _legend(ax: Axes, below: bool) -> None:
    """One legend for classes and edges, the edges last."""
    from matplotlib.collections import LineCollection

    present = ax.get_legend()
    title = present.get_title().get_text() if present else ""
    handles, names = ax.get_legend_handles_labels()
    edges = [isinstance(handle, LineCollection) for handle in handles]
    order = sorted(range(len(names)), key=lambda position: edges[position])
    ax.legend(
        [handles[position] for position in order],
        [names[position] for position in order],
        title=title or None,
        **legend_place(ax, len(order), below=below),
    )
