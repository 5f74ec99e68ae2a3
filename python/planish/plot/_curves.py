"""Curves and bars: residual variance, eigenvalues, the history of an optimisation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import Floats, MatrixLike
from ..diagnostics import ResidualVariance
from ..exceptions import InputError, ParameterError
from . import _style
from ._input import is_estimator
from ._libraries import axes_or_new, require_matplotlib
from ._title import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

_TABLE = 2


def residual_variance(
    curve_or_estimator: ResidualVariance | MatrixLike | object,
    *,
    dims: int | Iterable[int] = 10,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the residual variance against the number of dimensions, with its elbow.

    Parameters
    ----------
    curve_or_estimator : ResidualVariance, estimator or array-like of shape (n_dims,)
        What :func:`planish.residual_variance` returns, a fitted Isomap to give to it, or
        the values for 1, 2, … dimensions.
    dims : int or iterable of int, default=10
        As in :func:`planish.residual_variance`; of an estimator only, and at most as many
        as its rows allow.
    title : str, default=None
        Title in place of the method and the elbow.
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
    >>> from planish import plot
    >>> ax = plot.residual_variance([0.2, 0.087, 0.026, 0.022, 0.016, 0.014])
    >>> ax.get_title()
    'Residual variance · elbow at 3'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    curve, name = _residual_curve(curve_or_estimator, dims)
    ax = axes_or_new(ax)
    ax.plot(curve.dims, curve.values, color=_style.PLAIN, marker="o", markersize=5)
    at = float(curve.values[np.flatnonzero(curve.dims == curve.elbow)[0]])
    ax.plot(
        [curve.elbow],
        [at],
        color=_style.SHORTCUT,
        marker="o",
        markersize=11,
        fillstyle="none",
        markeredgewidth=2,
        linestyle="none",
        label=f"elbow: {curve.elbow} dimension{'' if curve.elbow == 1 else 's'}, {at:.3g}",
    )
    ax.set_xlabel("dimensions")
    ax.set_ylabel("residual variance (1 − R²)")
    ax.set_ylim(bottom=0)
    _whole_numbers(ax)
    ax.legend(frameon=False)
    ax.set_title(f"{name} · elbow at {curve.elbow}" if title is None else title, fontsize="medium")
    return ax


def _residual_curve(given: Any, dims: int | Iterable[int]) -> tuple[ResidualVariance, str]:
    from ..diagnostics import _elbow
    from ..diagnostics import residual_variance as computed

    if isinstance(given, ResidualVariance):
        return given, "Residual variance"
    if is_estimator(given):
        if isinstance(dims, int) and hasattr(given, "embedding_"):
            dims = max(1, min(dims, len(given.embedding_) - 1))
        return computed(given, dims=dims), described(given)
    values = _finite_curve("curve_or_estimator", given)
    numbers = np.arange(1, len(values) + 1)
    return ResidualVariance(numbers, values, _elbow(numbers, values)), "Residual variance"


def eigenvalues(
    estimator_or_values: ArrayLike | object,
    *,
    scale: Literal["auto", "linear", "log"] = "auto",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw eigenvalues as bars; negative ones in another colour.

    Parameters
    ----------
    estimator_or_values : estimator or array-like of shape (n_values,)
        A fitted estimator with `eigenvalues_` or `explained_variance_`, or the values.
    scale : {"auto", "linear", "log"}, default="auto"
        "auto" is logarithmic where all values are positive and differ more than a
        hundredfold.
    title : str, default=None
        Title in place of the method.
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
    >>> from planish import PCA, plot
    >>> X = np.random.default_rng(0).normal(size=(50, 4)) * [4, 3, 2, 1]
    >>> ax = plot.eigenvalues(PCA().fit(X))
    >>> len(ax.patches), ax.get_title()
    (4, 'PCA · 4 eigenvalues')
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    name, values = "", estimator_or_values
    if is_estimator(estimator_or_values):
        check_is_fitted(estimator_or_values)
        name = described(estimator_or_values)
        for attribute in ("eigenvalues_", "explained_variance_"):
            values = getattr(estimator_or_values, attribute, None)
            if values is not None:
                break
        else:
            raise InputError(f"{type(estimator_or_values).__name__} has no eigenvalues")
    heights = _finite_curve("estimator_or_values", values)
    if scale not in ("auto", "linear", "log"):
        raise ParameterError(
            f"parameter `scale`: expected 'auto', 'linear' or 'log', got {scale!r}"
        )
    positive = bool((heights > 0).all())
    if scale == "log" and not positive:
        raise ParameterError("parameter `scale`: a logarithm needs eigenvalues above 0")
    wide = positive and heights.max() > 100 * heights.min()
    ax = axes_or_new(ax)
    numbers = np.arange(1, len(heights) + 1)
    for kind, own, color in (
        ("positive", heights >= 0, _style.PLAIN),
        ("negative", heights < 0, _style.SHORTCUT),
    ):
        if own.any():
            ax.bar(numbers[own], heights[own], color=color, label=f"{int(own.sum())} {kind}")
    if scale == "log" or (scale == "auto" and wide):
        ax.set_yscale("log")
    if (heights < 0).any():
        ax.axhline(0, color=_style.INK, linewidth=0.8)
        ax.legend(frameon=False)
    ax.set_xlabel("number")
    ax.set_ylabel("eigenvalue")
    _whole_numbers(ax)
    count = f"{len(heights)} eigenvalue{'' if len(heights) == 1 else 's'}"
    ax.set_title(
        " · ".join(filter(None, [name, count])) if title is None else title, fontsize="medium"
    )
    return ax


def history(
    estimator_or_history: ArrayLike | object,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the stress or the divergence against the iteration.

    Parameters
    ----------
    estimator_or_history : estimator or array-like
        A fitted estimator with `history_` (MDS, SammonMapping, TSNE), or a history: of
        shape (n_iter,), or (n_looks, 2) and more with the iteration in the first column
        and what was minimised in the second.
    title : str, default=None
        Title in place of the method and the last value.
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
    >>> from planish import plot
    >>> ax = plot.history([0.5, 0.25, 0.2])
    >>> ax.get_title()
    'cost 0.2 after 3 iterations'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    require_matplotlib()
    parts, cost, table = [], "cost", estimator_or_history
    if is_estimator(estimator_or_history):
        check_is_fitted(estimator_or_history)
        parts = [described(estimator_or_history)]
        table = getattr(estimator_or_history, "history_", None)
        if table is None:
            raise InputError(
                f"{type(estimator_or_history).__name__} has no history: MDS, SammonMapping and "
                "TSNE have one"
            )
        cost = "KL divergence" if hasattr(estimator_or_history, "kl_divergence_") else "stress"
    iterations, values = _history(table)
    ax = axes_or_new(ax)
    marker = "o" if len(values) <= 50 else None  # noqa: PLR2004
    ax.plot(iterations, values, color=_style.PLAIN, marker=marker, markersize=3)
    known = values[np.isfinite(values)]
    if len(known) and known.min() > 0 and known.max() > 30 * known.min():
        ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.set_ylabel(cost)
    _whole_numbers(ax)
    count = int(iterations[-1])
    parts.append(f"{cost} {values[-1]:.3g} after {count} iteration{'' if count == 1 else 's'}")
    ax.set_title(" · ".join(parts) if title is None else title, fontsize="medium")
    return ax


def _history(given: Any) -> tuple[Floats, Floats]:
    """Return iterations, counted from 1, and the cost after each."""
    try:
        table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("a history is numbers, or an estimator that has one") from error
    if table.size == 0 or table.ndim not in (1, _TABLE) or table.shape[-1] == 0:
        raise InputError(f"a history has at least one iteration, got shape {table.shape}")
    if table.ndim == 1:
        return np.arange(1, len(table) + 1, dtype=np.float64), table
    if table.shape[1] < _TABLE:
        raise InputError(f"a history of rows has two columns or more, got shape {table.shape}")
    if not np.isfinite(table[:, 0]).all():
        raise InputError("the iterations of a history are finite numbers")
    return table[:, 0] + 1, table[:, 1]


def _finite_curve(name: str, given: Any) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"parameter `{name}`: expected numbers or a fitted estimator") from error
    if values.ndim != 1 or len(values) == 0:
        raise InputError(f"parameter `{name}`: expected one number or more, got {values.shape}")
    if not np.isfinite(values).all():
        where = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"parameter `{name}`: number {where + 1} is {values[where]}")
    return values


def _whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
