"""Manifold learning, fast, exact and deterministic.

Estimators follow scikit-learn: the same names, the same parameters, the same
defaults, and a ``transform`` on every one of them. The work is done by a Rust
core that releases the GIL, answers Ctrl-C and gives the same bits whatever the
number of threads.

The public names are those of ``_api.py``, and each is imported when it is first
used: ``import planish`` itself costs next to nothing, and ``from planish import
Isomap`` no more than Isomap needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._api import *  # noqa: F403

    __version__: str


def _home_of(name: str) -> str | None:
    """Return the module that ``_api.py`` imports a name from, without importing anything."""
    from importlib.util import find_spec

    api = find_spec(f"{__name__}._api")
    source = getattr(api.loader, "get_source", None) if api else None
    text = source(api.name) if api and source else None
    for line in (text or "").splitlines():
        match line.split():
            case ["from", home, "import", what, "as", alias] if what == alias == name:
                return home
    return None


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("planish")
    if name != "__all__" and name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _deferred

    _deferred.import_sklearn()
    if home := _home_of(name):
        from importlib import import_module

        module = import_module(home if home != "." else f".{name}", __name__)
        globals()[name] = module if home == "." else getattr(module, name)
        return globals()[name]
    from . import _api

    public = {key: value for key, value in vars(_api).items() if not key.startswith("_")}
    globals().update(public, __all__=[*sorted(public), "__version__"])
    if name != "__all__" and name not in public:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
