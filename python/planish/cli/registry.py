"""The methods by the names they have on the command line.

A name is that of the class in small letters (``isomap``, ``landmark-isomap``), its capitals
(``lle``), or any beginning that fits one class only. A class that stands for several methods
(it has a parameter `method`) takes which after a colon (``lle:ltsa``); the word alone will do
where no other class knows it (``ltsa``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .faults import Misuse, did_you_mean
from .parameters import Parameter, parameters_of

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")


@dataclass(frozen=True)
class Method:
    """One class of the registry, and the parameters its name on the command line sets."""

    name: str
    kind: type[Any]
    fixed: dict[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters that are options: all but `method`, which is part of the name."""
        return parameters_of(self.kind, skip={"method"})

    @property
    def variants(self) -> tuple[str, ...]:
        """The words that may stand behind the colon."""
        known = parameters_of(self.kind).get("method")
        return () if known is None else known.kind.words


def name_of(kind: type[Any]) -> str:
    """Return the name of a class on the command line."""
    return "-".join(word.lower() for word in _WORDS.findall(kind.__name__))


@cache
def methods() -> dict[str, Method]:
    """Return every method of the registry by name."""
    import planish
    from planish import _core

    kinds = [getattr(planish, name) for name in sorted(_core.methods())]
    return {name_of(kind): Method(name_of(kind), kind) for kind in kinds}


def method_named(text: str) -> Method:
    """Return the method that a name means."""
    wanted, _, variant = text.strip().lower().replace("_", "-").partition(":")
    found = _class_named(wanted)
    if found is None and not variant:
        owners = [one for one in methods().values() if wanted in _dashed(one.variants)]
        if len(owners) == 1:
            found, variant = owners[0], wanted
    if found is None:
        every = list(methods())
        near = did_you_mean(wanted, [*every, *(v for m in methods().values() for v in m.variants)])
        raise Misuse(f"there is no method {text!r}{near or ';'} choose one of "
                     f"{', '.join(every)}")  # fmt: skip
    if not variant:
        return found
    words = _dashed(found.variants)
    if variant not in words:
        if not words:
            raise Misuse(f"{found.name} has no variants, so none is called {variant!r}")
        raise Misuse(f"{found.name} has no variant {variant!r}; it has {', '.join(words)}")
    return Method(found.name, found.kind, {"method": words[variant]})


def _class_named(wanted: str) -> Method | None:
    known = methods()
    bare = wanted.replace("-", "")
    for name, one in known.items():
        capitals = "".join(re.findall("[A-Z]", one.kind.__name__)).lower()
        if bare in (name.replace("-", ""), capitals):
            return one
    beginning = [one for name, one in known.items() if name.startswith(wanted)] if wanted else []
    return beginning[0] if len(beginning) == 1 else None


def _dashed(words: tuple[str, ...]) -> dict[str, str]:
    return {word.replace("_", "-"): word for word in words}
