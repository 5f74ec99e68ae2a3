"""The map itself: points in two or three dimensions, coloured by labels or values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._types import Floats, Indices, MatrixLike
from ..exceptions import ParameterError
from . import _density, _style
from ._input import Drawing, chosen_columns, classes, drawing, name_of, numbers
from ._legend import ENTRIES_PER_COLUMN, class_legend, color_bar, legend_place, marker_scale
from ._libraries import axes_or_new, new_figure, require_matplotlib
from ._title import Quality, headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

_PLANE, _SPACE = 2, 3


@dataclass(frozen=True)
class Colouring:
    """What the rows of a map are coloured by: classes, values or nothing."""

    name: str = ""
    codes: Indices | None = None
    classes: Sequence[str] = ()
    values: Floats | None = None


def colouring(labels: ArrayLike | None, values: ArrayLike | None, n_samples: int) -> Colouring:
    """Return what rows are coloured by."""
    if labels is not None and values is not None:
        raise ParameterError("parameter `values`: give `labels` or `values`, not both")
    if labels is not None:
        codes, names = classes("labels", labels, n_samples)
        return Colouring(name_of(labels, ""), codes=codes, classes=names)
    if values is not None:
        found = numbers("values", values, n_samples)
        return Colouring(name_of(values, "value"), values=found)
    return Colouring()


def embedding(
    estimator_or_Y: object,
    *,
    labels: ArrayLike | None = None,
    values: ArrayLike | None = None,
    X: MatrixLike | None = None,
    columns: Sequence[int] | None = None,
    density: bool | Literal["auto"] = "auto",
    size: float | None = None,
    legend: bool = True,
    title: str | None = None,
    quality: Quality = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Draw a map of two or three dimensions.

    Axes have equal scales: distances in the picture are those of the map. A map of one
    column is drawn against classes, values or row numbers; of more than three columns the
    first two are drawn, and the title says so.

    Parameters
    ----------
    estimator_or_Y : estimator or array-like of shape (n_samples, n_columns)
        A fitted estimator, of planish or any with `embedding_`, or coordinates. Rows that
        are not finite are left out, and the title says how many.
    labels : array-like of shape (n_samples,), default=None
        Classes, each with a colour of its own; more than ten also with other markers.
        None and NaN are rows without a class.
    values : array-like of shape (n_samples,), default=None
        Numbers to colour by. NaN and infinity are rows without a value.
    X : array-like of shape (n_samples, n_features), default=None
        Rows to draw where the estimator's ``transform`` places them; None means its
        training rows.
    columns : sequence of int, default=None
        Columns to draw, counted from 0: two, three or one.
    density : bool or "auto", default="auto"
        Whether cells are drawn instead of points: the number of points in each, the mean
        of their values or the mixture of their classes. "auto" does so in the plane for
        more than 30 000 rows. In space a sample of that many rows is drawn.
    size : float, default=None
        Area of a marker in square points; None chooses by the number of rows.
    legend : bool, default=True
        Whether classes have a legend and values a colour bar.
    title : str, default=None
        Title in place of the method, its parameters and its quality.
    quality : "auto", str, mapping or None, default="auto"
        Figure of quality in the title: "auto" is the one the estimator has (residual
        variance, stress, divergence, …) or, of one that has none, the trustworthiness of
        the map of `X` where that is given; a mapping is numbers by name.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The Axes drawn into.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from planish import Isomap, plot
    >>> angle = np.linspace(0.0, 3.0, 200)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle), np.tile([0.0, 0.1], 100)])
    >>> ax = plot.embedding(Isomap(n_neighbors=8).fit(arc), values=angle)
    >>> ax.get_title().split(" · ")[0]
    'Isomap, n_neighbors=8'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    given = drawing(estimator_or_Y, X)
    color = colouring(labels, values, len(given.points))
    available = given.points.shape[1]
    if ax is None:
        most = _PLANE if columns is None and available > _SPACE else _SPACE
    else:
        most = _SPACE if hasattr(ax, "get_zlim") else _PLANE
    shown = chosen_columns(columns, available, most)
    ax = _axes(ax, given.points[given.rows][:, shown], color, legend)
    notes = given.notes()
    if len(shown) < available and columns is None:
        notes.append(f"the first {len(shown)} of {available} coordinates")
    notes += draw_map(ax, given, color, shown, density=density, size=size, legend=legend)
    judged = None if X is None else (X, given.points)
    text = headline(
        given.source, len(given.rows), title=title, quality=quality, notes=notes, judged=judged
    )
    ax.set_title(text, fontsize="medium")
    return ax


def _axes(ax: Axes | None, points: Floats, color: Colouring, legend: bool) -> Axes:
    dimensions = points.shape[1]
    if ax is None:
        columns = -(-len(color.classes) // ENTRIES_PER_COLUMN) if legend else 0
        size = figure_size(points, beside=1.3 * columns)
        found: Axes = new_figure(size=size, space=dimensions == _SPACE)[1][0, 0]
        return found
    ax = axes_or_new(ax)
    if hasattr(ax, "get_zlim") and dimensions < _SPACE:
        raise ParameterError(
            f"parameter `ax`: Axes of three dimensions, but {dimensions} columns to draw"
        )
    return ax


def figure_size(points: Floats, beside: float = 0.0) -> tuple[float, float]:
    """Return the size in inches of a figure in which a map has little room left over."""
    if points.shape[1] != _PLANE:
        return 6.4 + beside, 5.2
    across, up = np.ptp(points, axis=0).tolist()
    ratio = up / across if across > 0 else 1.0
    return 6.4 + beside, 1.0 + 5.0 * min(max(ratio, 0.45), 1.1)


def draw_map(
    ax: Axes,
    given: Drawing,
    color: Colouring,
    columns: Sequence[int],
    *,
    density: bool | Literal["auto"] = "auto",
    size: float | None = None,
    legend: bool = True,
) -> list[str]:
    """Draw the rows of a map; returns what the title has to say about it."""
    rows, notes = given.rows, []
    if density not in (True, False, "auto"):
        raise ParameterError(
            f"parameter `density`: expected True, False or 'auto', got {density!r}"
        )
    dense = len(rows) > _style.MANY if density == "auto" else bool(density)
    if dense and len(columns) != _PLANE:
        if len(rows) > _style.MANY:
            notes.append(f"a sample of {_style.MANY} of {len(rows)} rows")
            sample = np.random.default_rng(0).choice(len(rows), _style.MANY, replace=False)
            rows = rows[np.sort(sample)]
        dense = False
    points = given.points[rows][:, list(columns)]
    if len(columns) == 1:
        points = np.column_stack([points, _second_axis(ax, color, rows)])
        legend = legend and color.codes is None  # the axis names the classes
    area = _style.point_area(len(rows)) if size is None else float(size)
    if color.codes is not None:
        _draw_classes(ax, points, color, rows, area, dense, legend)
    elif color.values is not None:
        _draw_values(ax, points, color, rows, area, dense, legend)
    else:
        _draw_plain(ax, points, area, dense, legend)
    _frame(ax, points, columns)
    return notes


def _second_axis(ax: Axes, color: Colouring, rows: Indices) -> Floats:
    """Return the heights at which a map of one column is drawn, and name that axis."""
    if color.codes is not None:
        missing = bool((color.codes[rows] < 0).any())
        ticks = range(-1 if missing else 0, len(color.classes))
        ax.set_yticks(list(ticks), [color.classes[tick] if tick >= 0 else "none" for tick in ticks])
        ax.set_ylabel(color.name or "class")
        return color.codes[rows].astype(np.float64)
    if color.values is not None:
        ax.set_ylabel(color.name)
        found = color.values[rows]
        lowest = np.nanmin(found) if np.isfinite(found).any() else 0.0
        return np.where(np.isfinite(found), found, lowest)
    ax.set_ylabel("row")
    return rows.astype(np.float64)


def _style_of(points: Floats, area: float) -> dict[str, Any]:
    style: dict[str, Any] = {"s": area, "linewidths": 0, "rasterized": len(points) > 2_000}  # noqa: PLR2004
    if points.shape[1] == _SPACE:
        style["depthshade"] = False
    return style


def _draw_plain(ax: Axes, points: Floats, area: float, dense: bool, legend: bool) -> None:
    if dense:
        drawn = _density.draw_counts(ax, points)
        if legend:
            color_bar(ax, drawn, "rows per cell")
        return
    ax.scatter(*points.T, color=_style.PLAIN, **_style_of(points, area))


def _draw_values(
    ax: Axes,
    points: Floats,
    color: Colouring,
    rows: Indices,
    area: float,
    dense: bool,
    legend: bool,
) -> None:
    assert color.values is not None
    values = color.values[rows]
    known = np.isfinite(values)
    style = _style_of(points, area)
    if not known.all() and not dense:
        missing = f"no value ({int((~known).sum())})"
        ax.scatter(*points[~known].T, color=_style.MISSING, label=missing, **style)
    if known.any() and np.ptp(values[known]) == 0 and not dense:
        # A colour bar of no length says nothing.
        label = f"{color.name} = {values[known][0]:g}"
        ax.scatter(*points[known].T, color=_style.PLAIN, label=label, **style)
    elif known.any():
        if dense:
            drawn = _density.draw_means(ax, points, values, _style.VALUES)
        else:
            style |= {"c": values[known], "cmap": _style.VALUES}
            drawn = ax.scatter(*points[known].T, **style)
        if legend:
            color_bar(ax, drawn, f"{color.name}, mean of each cell" if dense else color.name)
    if legend and ax.get_legend_handles_labels()[0]:
        place = legend_place(ax, 2, below=True)
        ax.legend(markerscale=marker_scale(area), **place)


def _draw_classes(
    ax: Axes,
    points: Floats,
    color: Colouring,
    rows: Indices,
    area: float,
    dense: bool,
    legend: bool,
) -> None:
    assert color.codes is not None
    codes = color.codes[rows]
    style = _style_of(points, area)
    if dense:
        colors = [_style.look(number)[0] for number in range(len(color.classes))]
        _density.draw_mixture(ax, points, codes % (len(colors) + 1), [*colors, _style.MISSING])
    for number in [-1, *range(len(color.classes))]:
        own = codes == number
        if not own.any():
            continue
        tint, marker = (_style.MISSING, "o") if number < 0 else _style.look(number)
        name = "no class" if number < 0 else color.classes[number]
        where = points[own][:0] if dense else points[own]
        label = f"{_quoted(name)} ({int(own.sum())})"
        ax.scatter(*where.T, color=tint, marker=marker if not dense else "s", label=label, **style)
    if legend:
        class_legend(ax, color.name, area)


def _quoted(name: str) -> str:
    """Return a name that matplotlib takes as it is: a leading underscore hides an entry."""
    shown = name.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown


def _frame(ax: Axes, points: Floats, columns: Sequence[int]) -> None:
    """Name the axes and give them equal scales, where all are coordinates."""
    ax.set_xlabel(f"coordinate {columns[0] + 1}")
    if len(columns) == 1:
        return
    ax.set_ylabel(f"coordinate {columns[1] + 1}")
    if len(columns) == _SPACE:
        _frame_space(ax, points)
        ax.set_zlabel(f"coordinate {columns[2] + 1}")  # type: ignore[attr-defined]
        return
    ax.set_aspect("equal", adjustable="datalim")
    ax.autoscale_view()
    ax.locator_params(nbins=6)


def _frame_space(ax: Any, points: Floats) -> None:
    """Give three axes equal scales, and their names room inside the figure."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    extent = np.maximum(extent, 0.02 * (extent.max() or 1.0))
    middle = (low + high) / 2
    for axis, center, length in zip("xyz", middle, extent, strict=True):
        getattr(ax, f"set_{axis}lim")(center - 0.53 * length, center + 0.53 * length)
    ax.set_box_aspect(extent, zoom=0.85)
    ax.locator_params(nbins=5)
