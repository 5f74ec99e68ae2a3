"""Several maps of the same rows side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import MatrixLike
from ..exceptions import InputError, ParameterError
from . import _style
from ._embedding import Colouring, colouring, draw_map
from ._input import Drawing, chosen_columns, drawing, drawing_of_data, is_estimator
from ._libraries import axes_or_new, new_figure, require_matplotlib
from ._title import described, quality_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

_PLANE, _WIDEST = 2, 4


@dataclass(frozen=True)
class Tile:
    """One map of the grid, or why there is none."""

    name: str
    map: Drawing | None
    caption: str
    error: str = ""


def compare(
    results: object,
    *,
    labels: ArrayLike | None = None,
    values: ArrayLike | None = None,
    X: MatrixLike | None = None,
    captions: Iterable[str] | None = None,
    n_columns: int | None = None,
    title: str | None = None,
    axes: ArrayLike | None = None,
) -> NDArray[Any]:
    """Draw several maps of the same rows in a grid, with one legend for all.

    Parameters
    ----------
    results : iterable, mapping or object with `rows`
        What :func:`planish.compare` returns; fitted estimators; pairs of a title and an
        estimator or coordinates; or a mapping of these. A method that failed has a tile
        with its error.
    labels, values : array-like of shape (n_samples,), default=None
        Classes or numbers to colour by, as in :func:`planish.plot.embedding`.
    X : array-like of shape (n_samples, n_features), default=None
        The data, for estimators that keep no coordinates of their training rows.
    captions : iterable of str, default=None
        A line below each map, in place of its time and quality.
    n_columns : int, default=None
        Columns of the grid; None takes at most four.
    title : str, default=None
        Title of the figure, where a new one is made.
    axes : array-like of Axes, default=None
        Where to draw, one or more for each map; None makes a new figure.

    Returns
    -------
    axes : ndarray of Axes of shape (n_maps,)
        The Axes drawn into, in the order of the maps.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from planish import ClassicalMDS, SammonMapping, plot
    >>> X = np.random.default_rng(0).normal(size=(40, 3)) * [5, 4, 1]
    >>> fitted = [ClassicalMDS().fit(X), SammonMapping().fit(X)]
    >>> axes = plot.compare([*fitted, ("first two", X[:, :2])])
    >>> [ax.get_title() for ax in axes]
    ['ClassicalMDS', 'SammonMapping', 'first two']
    >>> matplotlib.pyplot.close(axes[0].figure)
    """
    require_matplotlib()
    tiles = [_tile(one, X) for one in _listed(results)]
    if not tiles:
        raise InputError("parameter `results`: there is no map to draw")
    n_samples = _rows(tiles)
    color = Colouring() if n_samples == 0 else colouring(labels, values, n_samples)
    below = [tile.caption for tile in tiles] if captions is None else [str(c) for c in captions]
    if len(below) != len(tiles):
        raise ParameterError(f"parameter `captions`: {len(tiles)} maps, got {len(below)} captions")
    own_figure = axes is None
    lines = max(len(_lines(caption)) for caption in below) + (1 if title else 0)
    lines += max(len(_title_lines(tile)) for tile in tiles)
    places = _places(axes, len(tiles), n_columns, height=2.8 + 0.22 * lines)
    for place, tile, caption in zip(places, tiles, below, strict=True):
        _draw_tile(place, tile, caption, color)
    if own_figure:
        _finish(places, color, title)
    return places


def _listed(results: Any) -> list[Any]:
    rows = getattr(results, "rows", None)
    if rows is not None and not is_estimator(results):
        return list(rows() if callable(rows) else rows)
    if isinstance(results, Mapping):
        return list(results.items())
    if is_estimator(results) or hasattr(results, "__array__") or not isinstance(results, Iterable):
        raise ParameterError(
            "parameter `results`: expected several estimators, or pairs of a title and an "
            f"embedding, got one {type(results).__name__}"
        )
    return list(results)


def _tile(given: Any, X: MatrixLike | None) -> Tile:
    if isinstance(given, tuple) and len(given) == 2:  # noqa: PLR2004
        name, source = str(given[0]), given[1]
        if is_estimator(source):
            return Tile(name, drawing_of_data(source, X), quality_text(source, "auto"))
        return Tile(name, drawing(source), "")
    if is_estimator(given):
        return Tile(described(given), drawing_of_data(given, X), quality_text(given, "auto"))
    if not hasattr(given, "name") or not hasattr(given, "embedding"):
        raise ParameterError(
            "parameter `results`: expected estimators, or pairs of a title and an embedding, "
            f"got {type(given).__name__}"
        )
    if given.embedding is None:
        return Tile(str(given.name), None, "", str(getattr(given, "error", "") or "no embedding"))
    return Tile(str(given.name), drawing(given.embedding), _row_caption(given))


def _row_caption(row: Any) -> str:
    parts = []
    seconds = getattr(row, "seconds", None)
    if seconds is not None:
        parts.append(f"{seconds:.1f} s" if seconds >= 1 else f"{1e3 * seconds:.0f} ms")
    quality = getattr(row, "quality", None)
    if isinstance(quality, Mapping):
        parts += [
            f"{name.replace('_', ' ')} {value:.3f}"
            for name, value in list(quality.items())[:2]
            if isinstance(value, (int, float, np.number))
        ]
    elif isinstance(quality, (int, float, np.number)):
        parts.append(f"quality {quality:.3f}")
    return " · ".join(parts)


def _rows(tiles: list[Tile]) -> int:
    """Return the number of rows all maps have, 0 where there is no map."""
    counts = {tile.name: len(tile.map.points) for tile in tiles if tile.map is not None}
    first = next(iter(counts.values()), 0)
    for name, count in counts.items():
        if count != first:
            raise ParameterError(
                f"parameter `results`: the maps are of {first} rows, but {name!r} has {count}"
            )
    return first


def _places(
    axes: ArrayLike | None, tiles: int, n_columns: int | None, height: float
) -> NDArray[Any]:
    if axes is not None:
        flat = np.ravel(np.asarray(axes, dtype=object))
        if len(flat) < tiles:
            raise ParameterError(f"parameter `axes`: {tiles} maps, got {len(flat)} Axes")
        return np.array([axes_or_new(ax) for ax in flat[:tiles]], dtype=object)
    columns = min(tiles, _WIDEST) if n_columns is None else int(n_columns)
    if columns < 1:
        raise ParameterError(f"parameter `n_columns`: expected at least 1, got {n_columns}")
    lines = -(-tiles // columns)
    figure, made = new_figure(lines, columns, size=(3.0 * columns, height * lines))
    figure.set_layout_engine("compressed")  # which leaves room for the titles of square Axes
    flat = made.ravel()
    for spare in flat[tiles:]:
        spare.remove()
    return np.asarray(flat[:tiles])


def _draw_tile(ax: Axes, tile: Tile, caption: str, color: Colouring) -> None:
    ax.set_title("\n".join(_title_lines(tile)), fontsize="medium", fontweight="bold")
    if tile.map is None:
        text = "\n".join(textwrap.wrap(tile.error, 30)[:9])
        ax.text(
            0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center",
            fontsize="small", color=_style.SHORTCUT,
        )  # fmt: skip
        caption = caption or "failed"
    else:
        shown = chosen_columns(None, tile.map.points.shape[1], _PLANE)
        notes = tile.map.notes()
        if len(shown) < tile.map.points.shape[1]:
            notes.append(f"the first {_PLANE} of {tile.map.points.shape[1]} coordinates")
        notes += draw_map(ax, tile.map, color, shown, legend=False)
        caption = "\n".join([*_lines(caption), *notes])
    ax.set(xticks=[], yticks=[], ylabel="")
    ax.set_xlabel(caption, fontsize="small", color=_style.QUIET)
    ax.spines[:].set_color("0.8")
    ax.set_box_aspect(1)


def _title_lines(tile: Tile) -> list[str]:
    return textwrap.wrap(tile.name, 34)


def _lines(caption: str, most: int = 36) -> list[str]:
    """Break a caption between its parts, so that it is no wider than the map."""
    lines: list[str] = []
    for part in filter(None, caption.split(" · ")):
        if lines and len(lines[-1]) + len(part) + 3 <= most:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return lines


def _finish(places: NDArray[Any], color: Colouring, title: str | None) -> None:
    """Give the figure its title and one legend or colour bar for all maps."""
    figure = places[0].get_figure()
    if title:
        figure.suptitle(title)
    if color.values is not None:
        drawn = [item for ax in places for item in (*ax.collections, *ax.images)]
        mapped = [item for item in drawn if item.get_array() is not None]
        if mapped:
            figure.colorbar(mapped[0], ax=list(places), label=color.name, shrink=0.6, pad=0.01)
        return
    handles: dict[str, Any] = {}
    for ax in places:
        found, names = ax.get_legend_handles_labels()
        handles |= {name: handle for handle, name in zip(found, names, strict=True)}
    if color.codes is not None and handles:
        figure.legend(
            list(handles.values())[:40],
            list(handles)[:40],
            title=color.name or None,
            loc="outside right upper",
            fontsize="small",
            markerscale=2.0,
            frameon=False,
        )
