"""Images at their places on the map, as many as fit without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._types import Floats, Indices, MatrixLike
from ..exceptions import ParameterError
from . import _style
from ._embedding import Colouring, draw_map, figure_size
from ._input import chosen_columns, drawing
from ._libraries import axes_or_new, require_matplotlib
from ._title import Quality, headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

_PLANE = 2
_GREY, _COLOUR = 3, 4


def as_images(
    images: ArrayLike, n_samples: int, image_shape: Sequence[int] | None
) -> NDArray[np.uint8]:
    """Return one image a row, (n, height, width) or (n, height, width, 3), from 0 to 255.

    The darkest and lightest number of all images become 0 and 255; bytes stay as they are.
    """
    found = np.asarray(images)
    if image_shape is not None:
        shape = tuple(int(length) for length in image_shape)
        if found.ndim < 1 or found.size != len(found) * int(np.prod(shape)):
            raise ParameterError(
                f"parameter `image_shape`: images of {shape} have {int(np.prod(shape))} numbers, "
                f"got {found.size // max(len(found), 1)} a row"
            )
        found = found.reshape(len(found), *shape)
    elif found.ndim == _PLANE:
        side = int(np.sqrt(found.shape[1]))
        if side * side != found.shape[1]:
            raise ParameterError(
                f"parameter `images`: rows of {found.shape[1]} numbers are no square images; "
                "give image_shape=(height, width)"
            )
        found = found.reshape(len(found), side, side)
    colours = found.ndim == _COLOUR and found.shape[3] in (3, 4)
    if not (found.ndim == _GREY or colours) or 0 in found.shape[1:]:
        raise ParameterError(
            "parameter `images`: expected shape (n, height, width), (n, height, width, 3) or "
            f"(n, height × width), got {np.shape(images)}"
        )
    if len(found) != n_samples:
        raise ParameterError(
            f"parameter `images`: the embedding has {n_samples} rows, got {len(found)} images"
        )
    return _bytes(found[..., :3] if colours else found)


def _bytes(images: NDArray[Any]) -> NDArray[np.uint8]:
    if images.dtype == np.uint8:
        return images
    try:
        numbers = images.astype(np.float32)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"parameter `images`: expected numbers, got {images.dtype}") from error
    numbers = np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0)
    low, high = float(numbers.min()), float(numbers.max())
    scaled = (numbers - low) * (255.0 / (high - low) if high > low else 0.0)
    rounded: NDArray[np.uint8] = np.rint(scaled).astype(np.uint8)
    return rounded


def thumbnails(
    estimator_or_Y: object,
    images: ArrayLike,
    *,
    image_shape: Sequence[int] | None = None,
    X: MatrixLike | None = None,
    columns: Sequence[int] | None = None,
    fraction: float = 0.06,
    title: str | None = None,
    quality: Quality = "auto",
    ax: Axes | None = None,
) -> Axes:
    """Draw images on a map, each at the place of its row, none over another.

    Rows are tried in a fixed random order; one whose image would overlap an image that is
    drawn keeps its point only.

    Parameters
    ----------
    estimator_or_Y : estimator or array-like of shape (n_samples, n_columns)
        As in :func:`planish.plot.embedding`.
    images : array-like
        One image a row of the map: of shape (n_samples, height, width), (n_samples,
        height, width, 3) or (n_samples, height × width). Numbers of any range; bytes are
        taken as they are.
    image_shape : sequence of int, default=None
        Height and width (and 3, of colours) where a row of `images` is flat and not square.
    X, columns, title, quality, ax
        As in :func:`planish.plot.embedding`; two columns are drawn.
    fraction : float, default=0.06
        The longer side of an image as a part of the longer side of the map.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The Axes drawn into; ``ax.get_images()`` are the images.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_digits
    >>> from planish import PCA, plot
    >>> digits = load_digits().data[:300]
    >>> ax = plot.thumbnails(PCA(n_components=2).fit(digits), digits, X=digits)
    >>> 20 < len(ax.get_images()) < 300
    True
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    given = drawing(estimator_or_Y, X)
    pictures = as_images(images, len(given.points), image_shape)
    shown = chosen_columns(columns, given.points.shape[1], _PLANE)
    if len(shown) < _PLANE:
        raise ParameterError("parameter `columns`: images are drawn over two columns, got 1")
    if not 0 < fraction <= 1:
        raise ParameterError(f"parameter `fraction`: expected more than 0, at most 1: {fraction!r}")
    points = given.points[given.rows][:, shown]
    extent = float(np.ptp(points, axis=0).max()) or 1.0
    height, width = pictures.shape[1:3]
    size = np.array([width, height]) * (fraction * extent / max(height, width))
    placed = without_overlap(points, size)

    ax = axes_or_new(ax, size=figure_size(points, beside=0.6))
    notes = given.notes()
    notes.append(f"images of {len(placed)} of {len(points)} rows")
    draw_map(ax, given, Colouring(), shown, density=False, size=4.0)
    for row in placed:
        low, high = points[row] - size / 2, points[row] + size / 2
        _draw_image(ax, pictures[given.rows[row]], (low[0], high[0], low[1], high[1]))
    # Each image set the limits to its own; they are to be those of all again.
    corners = np.vstack([points.min(axis=0) - size, points.max(axis=0) + size])
    ax.update_datalim(corners)
    ax.set_aspect("equal", adjustable="datalim")
    ax.autoscale(enable=True)
    judged = None if X is None else (X, given.points)
    text = headline(
        given.source, len(given.rows), title=title, quality=quality, notes=notes, judged=judged
    )
    ax.set_title(text, fontsize="medium")
    return ax


def without_overlap(points: Floats, size: Floats) -> Indices:
    """Return rows whose boxes of this size, centred at the points, do not overlap.

    Greedy in a seeded order; a grid of cells of that size finds the neighbours, so that
    every row costs the same.
    """
    cells = np.floor((points - points.min(axis=0)) / size).astype(np.int64)
    taken: dict[tuple[int, int], list[int]] = {}
    chosen: list[int] = []
    for row in np.random.default_rng(0).permutation(len(points)).tolist():
        column, line = cells[row].tolist()
        near = [
            other
            for x in (column - 1, column, column + 1)
            for y in (line - 1, line, line + 1)
            for other in taken.get((x, y), ())
        ]
        if any((np.abs(points[row] - points[other]) < size).all() for other in near):
            continue
        taken.setdefault((column, line), []).append(row)
        chosen.append(row)
    return np.array(sorted(chosen), dtype=np.int64)


def _draw_image(
    ax: Axes, picture: NDArray[np.uint8], extent: tuple[float, float, float, float]
) -> None:
    grey: dict[str, Any] = (
        {"cmap": "gray", "vmin": 0, "vmax": 255} if picture.ndim == _PLANE else {}
    )
    ax.imshow(picture, extent=extent, interpolation="nearest", zorder=2, **grey)
    from matplotlib.patches import Rectangle

    corner, sides = (extent[0], extent[2]), (extent[1] - extent[0], extent[3] - extent[2])
    ax.add_patch(
        Rectangle(corner, *sides, fill=False, edgecolor=_style.QUIET, linewidth=0.4, zorder=2)
    )
