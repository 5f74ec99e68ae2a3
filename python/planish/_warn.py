"""Warnings that point at the caller's line, not at a line of a library."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sklearn

# scikit-learn wraps `fit_transform` and `transform`, so its frames lie between as well.
_LIBRARIES = tuple(str(Path(module).parent) for module in (__file__, sklearn.__file__))


def warn(message: str, category: type[Warning]) -> None:
    """Warn from the innermost frame that is neither planish's nor scikit-learn's."""
    depth = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        frame = frame.f_back
        depth += 1
    warnings.warn(message, category, stacklevel=depth + 1)
