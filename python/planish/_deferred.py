"""Imports that are put off until somebody needs them.

scikit-learn's base class imports scipy.stats and scipy.special, and pandas where there is
one, for functions that an estimator never calls: two thirds of the time of a first import.
While it is imported here, stand-ins take their places, which import the real module when one
of its names is first used. Afterwards nothing of this is left in ``sys.modules``; a program
that has imported these modules already, or does so later, sees no difference.

Where this might be noticed, nothing is put off: a program with several threads might see a
stand-in meanwhile, and a stand-in has no submodules. If scikit-learn should ask for one, or
the import fails for any other reason, it is imported once more as everybody imports it.

``importlib.util.LazyLoader`` does not do: its module is loaded as soon as a second file
imports it, and scikit-learn has several that do.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_COSTLY = ("pandas", "scipy.special", "scipy.stats")
_NEEDED = "sklearn.utils.validation"


class StandIn(ModuleType):
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []  # a package, in which nothing is found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own = self.__name__
        if sys.modules.get(own) is self:
            del sys.modules[own]
        return getattr(import_module(own), name)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Put off the import of these modules, where they are not imported yet."""
    stand_ins = {name: StandIn(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def import_sklearn() -> None:
    """Import what the estimators need of scikit-learn, once."""
    if "sklearn" in sys.modules:
        return
    if threading.active_count() == 1:
        # One that is not installed must be missing for scikit-learn too.
        absent = [name for name in _COSTLY if name not in sys.modules and find_spec(name)]
        try:
            with deferred(*absent):
                import_module(_NEEDED)
        except Exception:
            pass
        else:
            return
    import_module(_NEEDED)
