"""Every exception and warning planish raises.

Each message names the parameter, the row or the pair that is wrong and what to
do about it. All exceptions also derive from the built-in class a caller would
expect, so existing ``except ValueError`` code keeps working.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning

__all__ = [
    "CancelledError",
    "ConvergenceWarning",
    "DimensionWarning",
    "DisconnectedGraphError",
    "DisconnectedGraphWarning",
    "InputAdjustedWarning",
    "InputError",
    "InternalError",
    "LowRecallWarning",
    "MemoryNeedError",
    "ModelFileError",
    "NegativeEigenvalueWarning",
    "NotConvergedError",
    "OutlierWarning",
    "ParameterError",
    "PlanishError",
    "PlanishWarning",
    "RankDeficientWarning",
    "ShortcutWarning",
    "SlowWarning",
    "UnsupportedError",
]


class PlanishError(Exception):
    """Base class of every planish exception."""


class ParameterError(PlanishError, ValueError, TypeError):
    """A parameter has a value or a type the method cannot use."""


class InputError(PlanishError, ValueError):
    """The data cannot be used; the message names the row or the pair."""


class DisconnectedGraphError(PlanishError, ValueError, RuntimeError):
    """The graph has several connected components and `disconnected` says that is an error.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,) or None
        Connected component of each row.
    n_components : int
        Number of connected components.
    """

    def __init__(
        self, *args: Any, labels: NDArray[np.intp] | None = None, n_components: int = 0
    ) -> None:
        super().__init__(*args)
        self.labels = labels
        self.n_components = n_components


class MemoryNeedError(PlanishError, MemoryError):
    """The job needs more memory than there is; raised before anything is taken.

    Attributes
    ----------
    need, available : int
        Bytes the job needs and bytes there are.
    """

    def __init__(self, *args: Any, need: int = 0, available: int = 0) -> None:
        super().__init__(*args)
        self.need = need
        self.available = available


class ModelFileError(PlanishError, ValueError, OSError):
    """A model file cannot be read or written; the message names the path and the reason."""


class NotConvergedError(PlanishError, RuntimeError):
    """An iteration did not reach its tolerance and its result is of no use."""


class UnsupportedError(PlanishError, ValueError, RuntimeError):
    """The data, or the fitted estimator, does not allow that."""


class CancelledError(PlanishError, RuntimeError):
    """The work was stopped from inside; Ctrl-C raises KeyboardInterrupt instead."""


class InternalError(PlanishError, RuntimeError):
    """A defect of planish itself; please report it."""


class PlanishWarning(UserWarning):
    """Base class of every planish warning."""


class NegativeEigenvalueWarning(PlanishWarning):
    """The dissimilarities are not Euclidean: some coordinates are imaginary."""


class DisconnectedGraphWarning(PlanishWarning):
    """The neighbourhood graph has several connected components; they were joined, or left out."""


class ConvergenceWarning(PlanishWarning, _SklearnConvergenceWarning):
    """An iteration stopped before it reached its tolerance."""


class InputAdjustedWarning(PlanishWarning):
    """The input was changed within tolerance, for example made symmetric."""


class RankDeficientWarning(PlanishWarning):
    """Some columns are zero, or an arbitrary direction of an eigenspace."""


class SlowWarning(PlanishWarning):
    """Memory is short and a slower algorithm was used."""


class OutlierWarning(PlanishWarning):
    """Rows far from all others were left out of the fit and placed like new ones."""


class ShortcutWarning(PlanishWarning):
    """Edges of the graph join rows that are far apart without them."""


class DimensionWarning(PlanishWarning):
    """The estimates behind ``n_components="auto"`` disagree."""


class LowRecallWarning(PlanishWarning):
    """An approximate search missed more of the nearest neighbours than it should."""
