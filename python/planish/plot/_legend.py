"""Legends and colour bars of maps: beside them, or below, never over the points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Entries of a legend; classes beyond them are counted in its last line.
_ENTRIES = 60
ENTRIES_PER_COLUMN = 20
#: Inches from the lower end of a map to a legend below its ticks and the name of its axis.
_BELOW = 0.55


def class_legend(ax: Axes, title: str, area: float) -> None:
    """Draw the legend of the classes of a map."""
    from matplotlib.lines import Line2D

    handles, names = ax.get_legend_handles_labels()
    if len(handles) > _ENTRIES:
        names = [*names[:_ENTRIES], f"… and {len(names) - _ENTRIES} more classes"]
        handles = [*handles[:_ENTRIES], Line2D([], [], linestyle="none")]
    ax.legend(
        handles,
        names,
        title=title or None,
        markerscale=marker_scale(area),
        **legend_place(ax, len(handles), below=False),
    )


def legend_place(ax: Axes, entries: int, *, below: bool) -> dict[str, Any]:
    """Return where a legend of a map stands: beside it, or below where a colour bar is beside it.

    Never over the points.
    """
    place: dict[str, Any] = {"fontsize": "small", "frameon": False, "borderaxespad": 0.0}
    if below:
        figure = ax.get_figure()
        assert figure is not None
        height = ax.get_window_extent().height / figure.dpi
        # Under the axis' name, whatever the height of the map.
        down = _BELOW / max(height, _BELOW)
        return place | {"loc": "upper center", "bbox_to_anchor": (0.5, -down), "ncols": 3}
    away = 1.12 if hasattr(ax, "get_zlim") else 1.01
    columns = -(-entries // ENTRIES_PER_COLUMN)
    return place | {"loc": "upper left", "bbox_to_anchor": (away, 1.0), "ncols": columns}


def marker_scale(area: float) -> float:
    """Return the factor that makes a legend's markers readable however small the points."""
    return float(np.sqrt(36.0 / area))


def color_bar(ax: Axes, drawn: Any, label: str) -> None:
    """Draw a colour bar beside a map."""
    figure = ax.get_figure()
    assert figure is not None
    figure.colorbar(drawn, ax=ax, label=label, shrink=0.85, pad=0.02)
