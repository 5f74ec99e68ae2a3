"""Pictures and pages of maps, written like every other output."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from .faults import Failure, Misuse, did_you_mean
from .files.staging import Outputs

_PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")


def check_picture(target: str, *, page: bool) -> None:
    """Refuse what cannot be drawn before anything is computed."""
    ending = Path(target).suffix.lower()
    known = (*_PICTURES, ".html") if page else _PICTURES
    if ending not in known:
        near = did_you_mean(ending, known) or ";"
        raise Misuse(f"--plot: {target}: {ending or 'no ending'!r} is no picture{near} use one of "
                     f"{', '.join(known)}")  # fmt: skip
    for library in ("matplotlib", *(["plotly"] if ending == ".html" else [])):
        if importlib.util.find_spec(library) is None:
            raise Failure(f"--plot needs {library}: pip install 'planish[plot]'")


def draw(target: str, outputs: Outputs, thing: Any, **settings: Any) -> None:
    """Draw an estimator or a map: a picture, or a page by the ending ".html"."""
    import planish

    staged = outputs.stage(target)
    if staged.suffix.lower() == ".html":
        planish.plot.page(thing, staged, **settings)
    else:
        save(planish.plot.embedding(thing, **settings).figure, staged)


def save(figure: Any, staged: Path) -> None:
    """Write a figure and forget it."""
    from matplotlib import pyplot

    try:
        figure.savefig(staged, dpi=150)
    finally:
        pyplot.close(figure)
