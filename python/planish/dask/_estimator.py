"""What the estimators on Dask share: the same classes, for data that is in blocks.

Each is a subclass of the estimator it is named after. Arrays and data frames in memory go
to that estimator; Dask arrays and data frames take the way described here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._threads import thread_count
from ..exceptions import InputError
from ._blocks import Blocks, as_collection, blocks_of, is_collection, looked_at, require_same
from ._run import Run, shared

if TYPE_CHECKING:
    from .._embedding import Embedding as _Base
else:
    _Base = object


class OnDask(_Base):
    """The way of an estimator for Dask collections."""

    #: Parameters that the estimator in memory does not have.
    _extra_params: frozenset[str] = frozenset()
    _cluster: Any

    # -- what subclasses say --------------------------------------------------------

    def _fit_blocks(self, blocks: Blocks, run: Run) -> None:
        """Fit to rows in blocks and set the fitted attributes."""
        raise NotImplementedError

    def _new_blocks(self, X: Any) -> Any:
        """Return the coordinates of new rows in a collection."""
        return mapped(self, X)

    # -- the ways in ----------------------------------------------------------------

    def _fit(self, X: Any, y: Any = None) -> None:
        if not is_collection(X):
            super()._fit(X, y)
            return
        with self._all_or_nothing():
            self._threads()
            self._check_python_params()
            self._forget()
            run = Run()
            blocks = blocks_of(X, run)
            looks = looked_at(blocks, run)
            self.n_features_in_ = blocks.columns
            if blocks.frame is not None and all(isinstance(c, str) for c in blocks.frame.columns):
                self.feature_names_in_ = np.asarray(blocks.frame.columns, dtype=object)
            self._fit_blocks(blocks, run)
            require_same(blocks, looks)

    def _place(self, X: Any) -> Any:
        if not is_collection(X):
            return super()._place(X)
        check_is_fitted(self)
        require_features(self, X)
        return self._new_blocks(X)

    def _threads(self) -> int:
        """Return the threads of one task: a worker runs as many tasks as it has threads."""
        return 1 if self.n_jobs is None else thread_count(self.n_jobs)

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        return {name: value for name, value in params.items() if name not in self._extra_params}

    def to_local(self) -> Any:
        """Return the fitted estimator for data in memory.

        Returns
        -------
        estimator : object
            An estimator of the class of the same name in :mod:`planish`, fitted: to pickle,
            to save, or to place rows where there is no cluster. An `embedding_` that is a
            collection is left behind.
        """
        check_is_fitted(self)
        base: Any = local_class(type(self))
        local = base.__new__(base)
        left = {"_cluster", *self._extra_params}
        if is_collection(vars(self).get("embedding_")):
            left.add("embedding_")
        vars(local).update({name: v for name, v in vars(self).items() if name not in left})
        return local

    def save(self, path: str | PathLike[str]) -> None:
        """Write what :meth:`to_local` returns into a file, for :func:`planish.load`.

        Parameters
        ----------
        path : str or path-like
            The file to write; by custom it ends with ``.planish``.
        """
        self.to_local().save(path)

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_cluster", None)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if is_collection(state.get("embedding_")):
            del state["embedding_"]
        state.pop("_cluster", None)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)


Class = TypeVar("Class", bound=type)


def takes(**extra: Any) -> Callable[[Class], Class]:
    """Give a class the parameters of the estimator it is named after, and more."""

    def decorated(made: Class) -> Class:
        base: Any = local_class(made)
        before = base.__init__
        known = inspect.signature(before)
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
            for name, value in extra.items()
        ]
        signature = known.replace(parameters=[*known.parameters.values(), *more])

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            own = {name: kwargs.pop(name, value) for name, value in extra.items()}
            before(self, *args, **kwargs)
            vars(self).update(own)

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        __init__.__qualname__ = f"{made.__name__}.__init__"
        made.__init__ = __init__  # type: ignore[misc]
        made._extra_params = frozenset(extra)  # type: ignore[attr-defined]
        return made

    return decorated


def local_class(made: type) -> type:
    """Return the class for data in memory that a class here is named after."""
    return next(
        base
        for base in made.__mro__[1:]
        if base.__name__ == made.__name__ and not base.__module__.startswith(__package__ or "")
    )


def require_features(estimator: Any, X: Any) -> None:
    """Refuse new rows of another width than the rows of the fit."""
    expected = int(estimator.n_features_in_)
    shape = getattr(X, "shape", None)
    columns = len(X.columns) if hasattr(X, "columns") else shape[-1] if shape else expected
    if columns != expected:
        raise InputError(
            f"X has {columns} features, but {type(estimator).__name__} is expecting {expected} "
            "features as input"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and hasattr(X, "columns") and list(X.columns) != list(known):
        differing = [name for name in known if name not in set(X.columns)]
        raise InputError(
            "the columns of X are not those of the fit, in that order; missing: "
            f"{', '.join(map(repr, differing)) or 'none, the order differs'}"
        )


# -- a fitted model, mapped over blocks ---------------------------------------------------


def mapped(estimator: Any, X: Any, method: str = "transform", blocks: Blocks | None = None) -> Any:
    """Return what a method of the fitted estimator makes of every block, lazily.

    The model goes to the workers once; a task takes a block of rows and nothing else.
    """
    from ._map import map_method

    local = estimator.to_local()
    local.n_jobs = estimator._threads()
    local.verbose = 0
    return map_method(shared(local), local, X, method, blocks)


def gathered(estimator: Any, blocks: Blocks, parts: list[Any], width: int, run: Run) -> Any:
    """Return coordinates that were found block by block as the kind of collection X is."""
    return as_collection(blocks, parts, width, blocks.dtype, estimator.get_feature_names_out(), run)
