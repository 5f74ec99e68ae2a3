"""What every estimator that holds a fitted core model shares.

Checking of X, ``transform``, fits that leave all or nothing, progress, and
what scikit-learn asks of a transformer. Which model is fitted, and on what, is
the business of the subclasses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _core, _data
from ._progress import ProgressPrinter, progress_printer
from ._threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Names a fit leaves behind that do not end with an underscore.
_PRIVATE_STATE = ("_model", "_lazy", "_foreign", "_fit_X", "_n_features_out")


class CoreTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """A transformer whose work is done by a model of the Rust core."""

    n_features_in_: int
    embedding_: NDArray[Any]
    n_jobs: int | None
    verbose: int
    _model: _core.Model

    def _new_data(self, X: Any) -> _data.CoreData:
        """Describe new rows to the core."""
        return _data.points(X)

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

    def _keep(self, model: _core.Model, dtype: Any, keeps_embedding: bool = True) -> None:
        """Set what the model knows as fitted attributes."""
        for name, value in model.attributes().items():
            setattr(self, f"{name}_", _data.from_core(value))
        if keeps_embedding:
            self.embedding_ = _data.as_dtype(model.embedding, dtype)
            self._n_features_out = self.embedding_.shape[1]
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

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
