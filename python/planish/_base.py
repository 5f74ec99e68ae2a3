"""The base of the methods: what every estimator of the Rust registry shares.

A subclass is a signature, a docstring and a few hooks. The base checks the
data's shape, resolves threads and seed, calls the Rust core, and sets what it
returns as fitted attributes, all of them or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core, _data
from ._threads import thread_count
from ._transformer import CoreTransformer

if TYPE_CHECKING:
    from typing_extensions import Self


class Embedding(CoreTransformer):
    """A method of the Rust registry as a scikit-learn transformer."""

    #: Name in the Rust registry.
    _method: ClassVar[str]
    #: Parameters the Rust core does not know.
    _python_params: ClassVar[frozenset[str]] = frozenset({"n_jobs", "verbose"})
    #: Parameters of the Rust core that are not in the Python signature.
    _core_only_params: ClassVar[frozenset[str]] = frozenset()
    #: Attributes computed when first asked for: name -> method that computes it.
    _on_demand: ClassVar[Mapping[str, str]] = {}
    #: Whether `fit` sets `embedding_`.
    _keeps_embedding: ClassVar[bool] = True

    # -- what subclasses may change -------------------------------------------------

    def _check_python_params(self) -> None:
        """Check the parameters that never reach the Rust core."""

    def _seed(self) -> int:
        return 0

    def _precomputed(self) -> bool:
        """Whether X is a square matrix of distances or kernel values."""
        return False

    def _only_positive(self) -> bool:
        """Whether negative numbers in X are refused."""
        return False

    def _takes_sparse(self) -> bool:
        """Whether X may be sparse."""
        return True

    def _training_data(self, X: Any) -> tuple[_data.CoreData, dict[str, Any]]:
        """Describe X to the core, with the parameters that differ from the signature."""
        return _data.points(X), {}

    # -- the public methods ---------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the embedding of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The data, one sample per row; of shape (n_samples, n_samples) when
            the method is told that X is precomputed.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator. When fit fails or is interrupted, the
            estimator is left exactly as it was before.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
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
            Coordinates of the rows of X, float32 when X is float32.
        """
        self._fit(X)
        if self._keeps_embedding:
            return self.embedding_
        # Methods that keep no coordinates place the training rows like any other.
        return self.transform(X)

    # -- how it is done -------------------------------------------------------------

    def _fit(self, X: Any) -> None:
        with self._all_or_nothing():
            threads = thread_count(self.n_jobs)
            self._check_python_params()
            self._forget()
            X = self._validated(X, reset=True)
            data, changed = self._training_data(X)
            params = {**self._core_params(), **changed}
            with self._progress("fit") as progress:
                model = _core.fit(self._method, params, data, threads, self._seed(), progress, None)
            self._remember(model, X)

    def _core_params(self) -> dict[str, Any]:
        """Return the parameters the Rust core checks and uses, as plain Python values."""
        params = self.get_params(deep=False)
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in params.items()
            if name not in self._python_params
        }

    def _remember(self, model: _core.Model, X: Any) -> None:
        self._lazy: dict[str, Any] = {}
        if self._on_demand:
            self._fit_X = X
        self._keep(model, X.dtype, self._keeps_embedding)

    def _compute(self, what: str) -> Any:
        """Ask the fitted model for something that is computed on demand."""
        check_is_fitted(self)
        with self._progress(what) as progress:
            return self._model.compute(what, thread_count(self.n_jobs), progress)

    # Not properties: tools that list every attribute of an estimator (its HTML
    # page, for one) must not compute an n × n matrix by looking at it.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in type(self)._on_demand:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            check_is_fitted(self)
            if name not in self._lazy:
                self._lazy[name] = getattr(self, type(self)._on_demand[name])()
            return self._lazy[name]

    def _training_input(self, attribute: str) -> Any:
        if "_fit_X" not in vars(self):
            raise AttributeError(
                f"`{attribute}` needs the training data, which pickles and copies of "
                f"{type(self).__name__} do not carry; read it before pickling"
            )
        return self._fit_X

    # -- what scikit-learn asks for -------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_fit_X", None)
        if "_lazy" in state:
            state["_lazy"] = {}
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.positive_only = self._only_positive()
        tags.input_tags.pairwise = self._precomputed()
        return tags
