"""Very many points as a density: counts, means or mixed colours of square cells.

A scatter of 100 000 points shows the ones drawn last and hides how many lie below. Here
each cell's opacity grows with the logarithm of its count, and its colour is that of the
values' mean or the classes' mixture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._types import Floats, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Cells along the longer side.
CELLS = 256


@dataclass(frozen=True)
class Cells:
    """Square cells over points.

    Attributes
    ----------
    cell : ndarray of shape (n_points,)
        The cell each point is in.
    shape : tuple of int
        Rows and columns of cells, from below and from the left.
    extent : tuple of float
        Left, right, lower and upper end.
    """

    cell: Indices
    shape: tuple[int, int]
    extent: tuple[float, float, float, float]

    def sums(self, weights: Floats | None = None) -> Floats:
        """Return the number of points of each cell, or the sum of their weights."""
        rows, columns = self.shape
        found = np.bincount(self.cell, weights=weights, minlength=rows * columns)
        return found.reshape(rows, columns).astype(np.float64)


def cells_of(points: Floats, *, square: bool = True) -> Cells:
    """Lay cells over points of two columns: squares, or as many along either side."""
    low, high = points.min(axis=0), points.max(axis=0)
    length = high - low
    side = np.full(2, length.max()) / CELLS if square else length / CELLS
    side = np.where(side > 0, side, 1.0)
    columns, rows = (np.floor((high - low) / side).astype(int) + 1).tolist()
    place = np.floor((points - low) / side).astype(np.int64)
    cell = np.minimum(place[:, 1], rows - 1) * columns + np.minimum(place[:, 0], columns - 1)
    extent = (low[0], low[0] + columns * side[0], low[1], low[1] + rows * side[1])
    return Cells(cell, (rows, columns), tuple(float(end) for end in extent))  # type: ignore[arg-type]


def draw_counts(ax: Axes, points: Floats, *, square: bool = True) -> Any:
    """Draw how many points lie where; returns what a colour bar is made from."""
    from matplotlib.colors import LogNorm

    cells = cells_of(points, square=square)
    counts = cells.sums()
    shown = np.ma.masked_equal(counts, 0)
    norm = LogNorm(vmin=1, vmax=max(float(counts.max()), 2.0))
    return ax.imshow(shown, origin="lower", extent=cells.extent, cmap="viridis_r", norm=norm)


def draw_means(ax: Axes, points: Floats, values: Floats, color_map: str) -> Any:
    """Draw the mean of the values of each cell; returns what a colour bar is made from."""
    known = np.isfinite(values)
    cells = cells_of(points)
    counts = cells.sums(known.astype(np.float64))
    totals = cells.sums(np.where(known, values, 0.0))
    means = np.ma.masked_array(totals / np.maximum(counts, 1), mask=counts == 0)
    return ax.imshow(means, origin="lower", extent=cells.extent, cmap=color_map)


def draw_mixture(ax: Axes, points: Floats, codes: Indices, colors: list[str]) -> Any:
    """Draw each cell in the mean colour of its points, fainter where there are fewer.

    `codes` are positions in `colors`.
    """
    from matplotlib.colors import to_rgb

    cells = cells_of(points)
    counts = cells.sums()
    table = np.array([to_rgb(color) for color in colors])
    image: NDArray[np.float64] = np.zeros((*cells.shape, 4))
    for channel in range(3):
        total = cells.sums(table[codes, channel])
        image[..., channel] = total / np.maximum(counts, 1)
    image[..., 3] = np.where(
        counts > 0, 0.25 + 0.75 * np.log1p(counts) / np.log1p(max(counts.max(), 1)), 0.0
    )
    return ax.imshow(image, origin="lower", extent=cells.extent)
