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


def _homes() -> dict[str, str]:
    """Return the module of every public name, as ``_api.py`` says it, without importing that.

    The imports are written out there for type checkers and editors; read from there, the names
    need no second list. Where the package has no source files, all of it is imported.
    """
    import ast
    from importlib.util import find_spec

    api = find_spec(f"{__name__}._api")
    source = getattr(api.loader, "get_source", None) if api else None
    text = source(f"{__name__}._api") if source else None
    if text is None:
        from . import _api

        return {name: "._api" for name in vars(_api) if not name.startswith("_")}
    return {
        alias.asname or alias.name: "." * line.level + (line.module or "")
        for line in ast.parse(text).body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("planish")
    homes = _homes() if name == "__all__" or not name.startswith("_") else {}
    if name == "__all__":
        return [*sorted(homes), "__version__"]
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from . import _deferred

    _deferred.import_sklearn()
    home = homes[name]
    module = import_module(f".{name}" if home == "." else home, __name__)
    globals()[name] = found = module if home == "." else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
