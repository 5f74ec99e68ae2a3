"""How well distances and ranks of neighbours survive: Shepard's diagram and the rank curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Floats, MatrixLike
from ..exceptions import InputError, ParameterError
from . import _style
from ._density import draw_counts
from ._input import Drawing, drawing_of_data, is_estimator
from ._legend import color_bar
from ._libraries import axes_or_new, require_matplotlib
from ._measures import area_over_log_k, r_nx, shepard_pairs
from ._title import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

#: Pairs from which Shepard's diagram is drawn as a density.
_MANY_PAIRS = 30_000


def shepard(
    estimator_or_Y: object,
    X: MatrixLike | None = None,
    *,
    precomputed: bool = False,
    n_pairs: int = 5_000,
    random_state: int = 0,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw Shepard's diagram: distances in the map against those in the data.

    A map that keeps all distances is a straight line. The title has the correlation.

    Parameters
    ----------
    estimator_or_Y : estimator or array-like of shape (n_samples, n_columns)
        A fitted estimator or coordinates.
    X : array-like of shape (n_samples, n_features), default=None
        The data, whose Euclidean distances are taken. None takes what the estimator was
        fitted to: geodesic distances of the Isomap family, dissimilarities of
        `ClassicalMDS`, `MDS` and `SammonMapping`.
    precomputed : bool, default=False
        Whether X is a matrix of distances, NaN where one is not known.
    n_pairs : int, default=5000
        Pairs of rows that are drawn: all of them or a sample.
    random_state : int, default=0
        Seed of the sample.
    title : str, default=None
        Title in place of the method and the correlation.
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
    >>> from planish import plot
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [5, 4, 1]
    >>> ax = plot.shepard(X[:, :2], X)
    >>> ax.get_title()
    'Shepard diagram · r 0.999 · all 1225 pairs'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    given = drawing_of_data(estimator_or_Y, None if precomputed else X)
    if int(n_pairs) < 1:
        raise ParameterError(f"parameter `n_pairs`: expected at least 1, got {n_pairs}")
    there, here, name = shepard_pairs(given, X, precomputed, int(n_pairs), random_state)
    if len(there) == 0:
        raise InputError("no pair of rows has a distance in the data: there is nothing to draw")
    ax = axes_or_new(ax, size=(5.6, 5.2))
    if len(there) > _MANY_PAIRS:
        drawn = draw_counts(ax, np.column_stack([there, here]), square=False)
        ax.set_aspect("auto")
        color_bar(ax, drawn, "pairs per cell")
    else:
        ax.scatter(
            there, here, s=_style.point_area(len(there)), color=_style.PLAIN, alpha=0.4,
            linewidths=0, rasterized=len(there) > 2_000,  # noqa: PLR2004
        )  # fmt: skip
    if not _draw_disparities(ax, given.source):
        _draw_proportion(ax, there, here)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(name)
    ax.set_ylabel("distance in the map")
    ax.legend(frameon=False, loc="upper left")
    ax.set_title(_shepard_title(given, there, here) if title is None else title, fontsize="medium")
    return ax


def _shepard_title(given: Drawing, there: Floats, here: Floats) -> str:
    first = "Shepard diagram" if given.source is None else described(given.source)
    spread = min(np.ptp(there), np.ptp(here))
    r = f"r {_cut(np.corrcoef(there, here)[0, 1])}" if spread > 0 else "r undefined"
    n = len(given.rows)
    whole = len(there) == n * (n - 1) // 2
    pairs = f"{'all ' if whole else 'a sample of '}{len(there)} pairs"
    return "\n".join([" · ".join([first, r, pairs]), *given.notes()])


def _cut(r: float) -> str:
    """Return three digits; of a correlation they would round to 1, those that tell it from 1."""
    digits = 3
    while digits < 7 and abs(r) < 1 and float(f"{abs(r):.{digits}f}") == 1:  # noqa: PLR2004
        digits += 1
    return f"{r:.{digits}g}"


#: Rows up to which the disparities of a map by stress are drawn.
_DISPARITIES = 2_000


def _draw_proportion(ax: Axes, there: Floats, here: Floats) -> None:
    """Draw the line of equal distances, or the nearest line where the map has another scale."""
    slope = float(there @ here) / max(float(there @ there), np.finfo(float).tiny)
    same = 0.5 < slope < 2.0  # noqa: PLR2004
    end = float(there.max())
    line, label = (1.0, "equal") if same else (slope, f"distance × {slope:.3g}")
    ax.plot([0, end], [0, line * end], color=_style.INK, linewidth=1, linestyle="--", label=label)


def _draw_disparities(ax: Axes, source: Any) -> bool:
    """Draw the function of the dissimilarities that a map of order or intervals found."""
    if not hasattr(source, "_type") or source._type() == "ratio":
        return False
    found = "shepard_" in type(source)._on_demand and len(source.embedding_) <= _DISPARITIES
    if found:
        table = source.shepard_
        ax.plot(
            table["dissimilarity"], table["disparity"], color=_style.SHORTCUT, linewidth=1.5,
            label="disparity",
        )  # fmt: skip
    return found


def rank_curve(
    curves: ArrayLike | Mapping[str, Any] | object,
    X: MatrixLike | None = None,
    *,
    random_state: int = 0,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw R_NX(k): how many of the k nearest neighbours a map keeps, beyond chance.

    1 is all of them, 0 is what a random map keeps. The axis of k is logarithmic, and the
    legend has the mean over it, the usual single number of the curve.

    Parameters
    ----------
    curves : estimator, array-like, object with `r_nx`, or mapping
        A fitted estimator or coordinates, together with X; or R_NX for k = 1, 2, …: something
        with an attribute `r_nx` or, without X, an array of one dimension. A mapping has
        several of these by name.
    X : array-like of shape (n_samples, n_features), default=None
        The data, where `curves` are maps.
    random_state : int, default=0
        Seed of the rows that the curves of many rows are the mean of.
    title : str, default=None
        Title.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The Axes drawn into, with one line a curve.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from planish import plot
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [5, 4, 1]
    >>> ax = plot.rank_curve({"first two": X[:, :2], "all": X}, X)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['first two, area 0.831', 'all, area 1']
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    several = dict(curves) if isinstance(curves, Mapping) else {_curve_name(curves): curves}
    if not several:
        raise InputError("parameter `curves`: there is no curve to draw")
    found = {name: _curve(name, given, X, random_state) for name, given in several.items()}
    ax = axes_or_new(ax)
    lines = ("-", "--", "-.", ":")
    for number, (name, (curve, _)) in enumerate(found.items()):
        ax.plot(
            np.arange(1, len(curve) + 1),
            curve,
            color=_style.PALETTE[number % len(_style.PALETTE)],
            linestyle=lines[number % len(lines)],
            label=f"{name}, area {area_over_log_k(curve):.3g}".removeprefix(", "),
        )
    ax.set_xscale("log")
    ax.set_ylim(top=1.02)
    ax.axhline(0, color=_style.QUIET, linewidth=0.8)
    ax.set_xlabel("neighbours k")
    ax.set_ylabel("R_NX(k)".replace("_NX", r"$_{NX}$"))
    ax.legend(frameon=False, fontsize="small")
    sampled = {rows for _, rows in found.values() if rows}
    notes = [f"mean over {min(sampled)} rows"] if sampled else []
    first = "Neighbours kept, beyond chance"
    ax.set_title(" · ".join([first, *notes]) if title is None else title, fontsize="medium")
    return ax


def _curve_name(given: object) -> str:
    return described(given) if is_estimator(given) else ""


def _curve(name: str, given: Any, X: MatrixLike | None, seed: int) -> tuple[Floats, int]:
    """Return a curve, and the number of rows it is the mean of, 0 where it was given."""
    measured = hasattr(given, "r_nx")
    if measured or (X is None and not is_estimator(given) and np.ndim(given) == 1):
        curve = np.asarray(given.r_nx if measured else given, dtype=np.float64)
        if curve.ndim != 1 or len(curve) == 0 or not np.isfinite(curve).all():
            raise InputError(f"the curve {name!r} has no numbers, or some that are not finite")
        return curve, 0
    if X is None:
        raise ParameterError(
            "parameter `X`: the rank curve of a map compares it with the data; give X=..., or "
            "R_NX itself"
        )
    return r_nx(drawing_of_data(given, X), X, seed)
