"""What a title says: the method, the parameters that matter, and its own figure of quality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from ..exceptions import ParameterError
from ._measures import own_quality, trust

#: Parameters worth a place in a title; the others only where they differ from the default.
_ALWAYS = ("n_neighbors", "radius", "perplexity", "kernel")
_CHANGED = ("method", "type", "metric", "affinity", "n_landmarks", "alpha", "t", "conformal")

#: A figure for the title: the estimator's own, yours by name, a text, or none.
Quality: TypeAlias = Mapping[str, float] | str | Literal["auto"] | None


def headline(
    source: Any,
    points: int,
    *,
    title: str | None,
    quality: Quality,
    notes: list[str],
    judged: tuple[Any, Any] | None = None,
) -> str:
    """Return a title: what was given, or method, parameters and quality; then the notes.

    `judged` are data and map, for methods that have no figure of their own.
    """
    if title is not None:
        first = [title] if title else []
        figure = "" if quality == "auto" else quality_text(source, quality)
    else:
        first = [f"{points} points" if source is None else described(source)]
        figure = quality_text(source, quality, judged)
    line = " · ".join([*first, figure] if figure else first)
    return "\n".join([line, *notes] if line else notes)


def described(estimator: Any) -> str:
    """Return the name of a method with the parameters that matter."""
    params, defaults = _parameters(estimator)
    told = [
        f"{name}={_shown(params[name])}"
        for name in (*_CHANGED, *_ALWAYS)
        if params.get(name) is not None and (name in _ALWAYS or params[name] != defaults.get(name))
    ]
    return ", ".join([type(estimator).__name__, *told])


def _parameters(estimator: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters as they were when it was fitted, and the defaults."""
    training = vars(estimator).get("_training")
    params = dict(estimator.get_params(deep=False) if training is None else training.params)
    for name in ("n_neighbors", "n_landmarks"):
        if isinstance(params.get(name), str) and hasattr(estimator, f"{name}_"):
            params[name] = getattr(estimator, f"{name}_")
    try:
        defaults = type(estimator)().get_params(deep=False)
    except TypeError:  # a parameter has no default
        defaults = {}
    return params, defaults


def _shown(value: Any) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):  # several perplexities
        return f"[{', '.join(_shown(one) for one in value)}]"
    return getattr(value, "__name__", None) or (value if isinstance(value, str) else f"{value:g}")


def quality_text(source: Any, quality: Quality, judged: tuple[Any, Any] | None = None) -> str:
    """Return the figure of quality a title ends with, or nothing."""
    if quality is None:
        return ""
    if isinstance(quality, str) and quality != "auto":
        return quality
    if isinstance(quality, Mapping):
        return ", ".join(f"{name} {value:.3g}" for name, value in quality.items())
    if quality != "auto":
        raise ParameterError(
            "parameter `quality`: expected 'auto', a text, numbers by name or None, got "
            f"{quality!r}"
        )
    figure = "" if source is None else own_quality(source)
    return figure if figure or judged is None else trust(source, *judged)
