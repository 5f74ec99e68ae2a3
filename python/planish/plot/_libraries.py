"""The seam to the plotting libraries: where they are asked for, and refused in one sentence.

Both are in the extra ``planish[plot]``; nothing imports them before a function is called
and this file has found them. plotly.js was chosen for the page over bokeh: with 100 000
points and software rendering, on a busy machine, it panned several times faster.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


def _missing(library: str) -> ImportError:
    return ImportError(f"planish.plot needs {library}: pip install planish[plot]")


def require_matplotlib() -> None:
    """Refuse to go on without matplotlib, in one sentence."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise _missing("matplotlib") from error


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float], space: bool = False
) -> tuple[Figure, NDArray[Any]]:
    """Make a figure with rows × columns Axes, as `matplotlib.pyplot.subplots` does."""
    require_matplotlib()
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        rows,
        columns,
        squeeze=False,
        figsize=size,
        layout="constrained",
        subplot_kw={"projection": "3d"} if space else {},
    )
    return figure, axes


def axes_or_new(ax: Axes | None, *, size: tuple[float, float] = (6.4, 4.8)) -> Axes:
    """Return the given Axes, or those of a new figure."""
    require_matplotlib()
    from matplotlib.axes import Axes as AnyAxes

    from ..exceptions import ParameterError

    if ax is None:
        found: Axes = new_figure(size=size)[1][0, 0]
        return found
    if not isinstance(ax, AnyAxes):
        raise ParameterError(
            f"parameter `ax`: expected matplotlib Axes or None, got {type(ax).__name__}"
        )
    return ax


def plotly_script() -> str:
    """Return plotly.js as text."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise _missing("plotly") from error
    return str(get_plotlyjs())


def png(image: NDArray[np.uint8]) -> str:
    """Return an image of shape (height, width) or (height, width, 3) as a PNG in base64."""
    try:
        from PIL import Image
    except ImportError as error:  # comes with matplotlib
        raise _missing("matplotlib") from error
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, format="PNG", optimize=False)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
