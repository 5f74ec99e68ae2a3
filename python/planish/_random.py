"""One seed for the Rust core out of scikit-learn's ``random_state``."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .exceptions import ParameterError

_SEED_RANGE = 2**31 - 1


def check_seed(random_state: object) -> None:
    """Refuse what is neither None, a whole number of at least 0 nor a RandomState."""
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return
    if not whole or int(random_state) < 0:  # type: ignore[call-overload]
        raise ParameterError(
            "parameter `random_state`: expected None, an int of at least 0 or a RandomState, "
            f"got {random_state!r}"
        )


def seed_of(random_state: Any) -> int:
    """Return the seed; None is always the same one."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state) % 2**64
    return int(check_random_state(random_state).randint(_SEED_RANGE))
