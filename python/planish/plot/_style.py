"""Colours, markers and sizes: the same in pictures and pages.

The ten colours are those of Petroff (2021, arXiv 2107.02270), found by maximising the
least difference between any two under normal vision and three kinds of colour blindness;
a test measures it again. More than ten classes repeat the colours with another marker.
Numbers are drawn in viridis, whose lightness rises evenly.
"""

from __future__ import annotations

#: Colours of classes, in the order they are given out.
PALETTE = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6",
    "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
#: Markers of matplotlib, and the symbols of plotly.js that look the same.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
SYMBOLS = (
    "circle", "triangle-up", "square", "diamond", "triangle-down", "cross", "x", "star",
)  # fmt: skip

VALUES = "viridis"
#: Rows without a label or a value.
MISSING = "#d0d0d0"
#: Points when there is nothing to colour them by.
PLAIN = "#3f90da"
INK = "#333333"
QUIET = "#666666"
EDGE = "#b0b0b0"
#: Edges that deserve a look: suspicious ones, and those that were added.
SHORTCUT = "#bd1f01"
BRIDGE = "#832db6"

#: Rows from which points are drawn as a density.
MANY = 30_000


def look(number: int) -> tuple[str, str]:
    """Return colour and marker of a class by its number."""
    return (
        PALETTE[number % len(PALETTE)],
        MARKERS[number // len(PALETTE) % len(MARKERS)],
    )


def point_area(points: int) -> float:
    """Return the area of a marker, in square points of print, for so many of them."""
    return float(min(30.0, max(2.0, 20_000.0 / max(points, 1))))
