"""Which estimator is meant: a name, a class, an estimator, or one that is fitted already."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._embedding import Embedding
from .exceptions import ParameterError

# Other names of methods, and what to pass instead.
_ALSO_CALLED = {
    "lle": "'locally_linear_embedding'",
    "mlle": "LocallyLinearEmbedding(method='modified')",
    "modified": "LocallyLinearEmbedding(method='modified')",
    "hlle": "LocallyLinearEmbedding(method='hessian')",
    "hessian": "LocallyLinearEmbedding(method='hessian')",
    "ltsa": "LocallyLinearEmbedding(method='ltsa')",
    "laplacianeigenmaps": "'spectral_embedding'",
    "kernelpca": "'kernel_mds'",
    "pcoa": "'classical_mds'",
    "diffmap": "'diffusion_maps'",
    "sammon": "'sammon_mapping'",
    "smacof": "'mds'",
    "nonmetricmds": "MDS(type='ordinal')",
}

#: A name such as "isomap", a class, or an estimator of any library, fitted or not.
Method: TypeAlias = "str | type[Any] | Any"


def method_class(name: str) -> type[Embedding] | None:
    """Return the method of this name; capitals, underscores and hyphens do not matter."""
    import planish

    wanted = _bare(name)
    for known in _core.methods():
        if _bare(known) == wanted:
            found: type[Embedding] = getattr(planish, known)
            return found
    return None


def snake_case(name: str) -> str:
    """Return the name of a class as one of a column: KernelMDS is kernel_mds."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def key_of(estimator: Any) -> str:
    """Return what the results of an estimator are called: its class, or its last step's."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return snake_case(type(estimator).__name__)


def prepared(method: Any, params: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return the estimator that is meant, and whether it is fitted; given ones are not changed.

    A fitted estimator is returned as it is; of others, a clone with the parameters set.
    """
    if isinstance(method, str):
        method = _named(method)
    if isinstance(method, type):
        _check_names(method, params)
        return method(**params), False
    if not hasattr(method, "get_params") or not hasattr(method, "fit"):
        raise ParameterError(
            "parameter `method`: expected the name of a method, a class or an estimator, got "
            f"{type(method).__name__}"
        )
    if _is_fitted(method):
        if params:
            raise ParameterError(
                f"parameter `{next(iter(params))}`: a fitted estimator only places rows and takes "
                "no parameters; to fit it again pass sklearn.base.clone(estimator)"
            )
        return method, True
    found = clone(method)
    if params:
        _check_names(found, params)
        found.set_params(**params)
    return found, False


def _named(name: str) -> type[Embedding]:
    found = method_class(name)
    if found is not None:
        return found
    if _bare(name) in _ALSO_CALLED:
        raise ParameterError(
            f"parameter `method`: {name!r} is not known by that name; pass "
            f"{_ALSO_CALLED[_bare(name)]}"
        )
    known = [snake_case(one) for one in _core.methods()]
    raise ParameterError(
        f"parameter `method`: {name!r} is not known{_meant(snake_case(name), known)}; known "
        f"methods: {', '.join(known)}"
    )


def _check_names(target: Any, params: Mapping[str, Any]) -> None:
    cls = target if isinstance(target, type) else type(target)
    if isinstance(target, type):
        signature = inspect.signature(cls).parameters.values()
        known = [one.name for one in signature if one.kind is not one.VAR_KEYWORD]
        if any(one.kind is one.VAR_KEYWORD for one in signature):
            return
    else:
        known = list(target.get_params())
    for name in params:
        if name not in known:
            raise ParameterError(
                f"parameter `{name}`: {cls.__name__} has none of that name{_meant(name, known)}; "
                f"it has {', '.join(known)}"
            )


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _bare(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()
