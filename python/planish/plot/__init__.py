"""Pictures of embeddings, of what they were made from, and of how good they are.

Every function but :func:`page` draws with matplotlib: into the Axes it is given, or into
those of a new figure, which it returns. It takes a fitted estimator or plain arrays. None
of them shows a window, changes matplotlib's settings, or makes another figure current than
:func:`matplotlib.pyplot.subplots` would. :func:`page` writes one HTML file, with
plotly.js inside, that needs neither Python nor a network to be explored.

The libraries come with ``pip install planish[plot]`` and are imported when a function is
called.
"""

from __future__ import annotations

from ._compare import compare
from ._curves import eigenvalues, history, residual_variance
from ._embedding import embedding
from ._graph import graph
from ._page import page
from ._pairs import rank_curve, shepard
from ._thumbnails import thumbnails

__all__ = [
    "compare",
    "eigenvalues",
    "embedding",
    "graph",
    "history",
    "page",
    "rank_curve",
    "residual_variance",
    "shepard",
    "thumbnails",
]
