"""The one estimator base: everything the four methods share.

A subclass is a signature, a docstring and a few hooks. The base checks the
data's shape, resolves threads and seed, calls the Rust core, and sets what it
returns as fitted attributes, all of them or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _core, _data
from ._progress import ProgressPrinter, progress_printer
from ._threads import thread_count

if TYPE_CHECKING:
    from typing_extensions import Self

# Names a fit leaves behind that do not end with an underscore.
_PRIVATE_STATE = ("_model", "_lazy", "_foreign", "_fit_X", "_n_features_out")


class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
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

    n_features_in_: int
    n_jobs: int | None
    verbose: int

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

    def _new_data(self, X: Any) -> _data.CoreData:
        """Describe new rows to the core."""
        return _data.points(X)

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

    def transform(self, X: Any) -> Any:
        """Compute the coordinates of new rows.

        A row of the training data gets back its fitted coordinates, and rows
        transformed one by one get the same coordinates as rows transformed
        together.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_queries, n_features)
            New data, of the kind the estimator was fitted on; of shape
            (n_queries, n_samples) when that was precomputed.

        Returns
        -------
        X_new : ndarray of shape (n_queries, n_components)
            Coordinates of the rows of X, float32 when X is float32.
        """
        check_is_fitted(self)
        threads = thread_count(self.n_jobs)
        X = self._validated(X, reset=False)
        with self._progress("transform") as progress:
            result = self._model.transform(self._new_data(X), threads, progress)
        return _data.as_dtype(result, X.dtype)

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

    def _validated(self, X: Any, reset: bool) -> Any:
        """Check the shape and the type of X; the core checks the values."""
        checked = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            estimator=self,
            input_name="X",
        )
        if not reset and checked.shape[1] != self.n_features_in_:
            # As scikit-learn: a NaN is told before a wrong number of columns.
            _data.require_finite(checked)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return checked

    def _remember(self, model: _core.Model, X: Any) -> None:
        for name, value in model.attributes().items():
            setattr(self, f"{name}_", _data.from_core(value))
        if self._keeps_embedding:
            self.embedding_: NDArray[Any] = _data.as_dtype(model.embedding, X.dtype)
            self._n_features_out = self.embedding_.shape[1]
        self._lazy: dict[str, Any] = {}
        if self._on_demand:
            self._fit_X = X
        self._model = model

    def _forget(self) -> None:
        for name in list(vars(self)):
            if name in _PRIVATE_STATE or (name.endswith("_") and not name.startswith("_")):
                delattr(self, name)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put the estimator back as it was when anything goes wrong, Ctrl-C included."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    @contextmanager
    def _progress(self, action: str) -> Iterator[ProgressPrinter | None]:
        printer = progress_printer(self.verbose, f"{type(self).__name__}.{action}")
        yield printer
        if printer is not None:
            printer.finish()

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

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        tags.input_tags.positive_only = self._only_positive()
        tags.input_tags.pairwise = self._precomputed()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
