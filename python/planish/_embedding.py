"""The base of the methods: what every estimator of the Rust registry shares.

A subclass is a signature, a docstring and a few hooks. The base checks the
data's shape, resolves threads and seed, calls the Rust core, and sets what it
returns as fitted attributes, all of them or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._callbacks import FitTasks, with_callbacks
from ._inputs import Input, Points
from ._threads import thread_count
from ._transformer import CoreTransformer

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import Coordinates, MatrixLike


@dataclass(frozen=True)
class Training:
    """What a fit was given; pickles and copies do not carry it."""

    X: Any
    params: Mapping[str, Any]


class Embedding(CoreTransformer):
    """A method of the Rust registry as a scikit-learn transformer."""

    #: Name in the Rust registry.
    _method: ClassVar[str]
    #: Parameters the Rust core does not know.
    _python_params: ClassVar[frozenset[str]] = frozenset({"n_jobs", "verbose"})
    #: Parameters of the Rust core that are not in the Python signature.
    _core_only_params: ClassVar[frozenset[str]] = frozenset()
    #: Attributes made when first asked for: name -> method that makes it.
    _on_demand: ClassVar[Mapping[str, str]] = {}

    _training: Training
    _lazy: dict[str, Any]

    # -- what subclasses may change -------------------------------------------------

    def _check_python_params(self) -> None:
        """Check the parameters that never reach the Rust core."""

    def _seed(self) -> int:
        return 0

    def _callback(self) -> Callable[..., Any] | None:
        """Return the function that is shown the map while it is optimised."""
        return None

    def _precomputed(self) -> bool:
        """Whether X is a square matrix of distances or kernel values."""
        return False

    def _only_positive(self) -> bool:
        """Whether negative numbers in X are refused."""
        return False

    def _takes_sparse(self) -> bool:
        """Whether X may be sparse."""
        return True

    def _input_of(self, X: Any) -> Input:
        """Return what X is, by the parameters as they are when `fit` begins."""
        return Points()

    # -- the public methods ---------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Compute the embedding of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The data, one sample per row; of shape (n_samples, n_samples) when
            the parameters say that X is precomputed.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator. When fit fails or is interrupted, the
            estimator is left exactly as it was before.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: MatrixLike, y: object = None) -> Coordinates:
        """Compute the embedding of X and return it.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            As in :meth:`fit`.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Coordinates of the rows of X, float32 when X is float32; a data frame
            if ``set_output`` says so.
        """
        self._fit(X, y)
        # Methods that keep no coordinates place the training rows like any other.
        return self.embedding_ if "embedding_" in vars(self) else self._place(X)

    # -- how it is done -------------------------------------------------------------

    @with_callbacks
    def _fit(self, X: Any, y: Any = None) -> None:
        tasks = FitTasks(self, X, y)
        with self._all_or_nothing():
            threads = thread_count(self.n_jobs)
            self._check_python_params()
            self._forget()
            rows = self._validated(X, reset=True)
            given = self._input_of(rows)
            data = given.training(rows)
            params = {**self._core_params(rows.shape[0]), **given.params}
            with self._progress("fit", tasks) as progress:
                model = _core.fit(
                    self._method,
                    params,
                    data,
                    threads,
                    self._seed(),
                    progress,
                    None,
                    self._callback(),
                )
            self._remember(model, given, rows)
            tasks.end()

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        """Return the parameters the Rust core checks and uses, as plain Python values."""
        params = self.get_params(deep=False)
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in params.items()
            if name not in self._python_params
        }

    def _remember(self, model: _core.Model, given: Input, X: Any) -> None:
        if self._on_demand:
            self._lazy = {}
            self._training = Training(X, self.get_params(deep=False))
        self._keep(model, given, X.dtype)

    def _compute(self, what: str) -> Any:
        """Ask the fitted model for something that is computed on demand."""
        check_is_fitted(self)
        with self._progress(what) as progress:
            return self._model.compute(what, thread_count(self.n_jobs), progress)

    # Not properties: tools that list every attribute of an estimator (its HTML page, for
    # one) must not make what is not asked for.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in type(self)._on_demand:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            check_is_fitted(self)
            if name not in self._lazy:
                self._lazy[name] = getattr(self, type(self)._on_demand[name])()
            return self._lazy[name]

    def _trained_on(self, attribute: str) -> Training:
        if "_training" not in vars(self):
            raise AttributeError(
                f"`{attribute}` needs the training data, which pickles, model files and copies "
                f"of {type(self).__name__} do not carry; read it before"
            )
        return self._training

    # -- what scikit-learn asks for -------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_training", None)
        if "_lazy" in state:
            state["_lazy"] = {}
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.positive_only = self._only_positive()
        tags.input_tags.pairwise = self._precomputed()
        return tags
