"""What every estimator that keeps a fitted core model shares.

Checking of X, ``transform``, fits that leave all or nothing, progress, and
what scikit-learn asks of a transformer. Which model is fitted, and on what, is
the business of the subclasses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core, _data
from ._callbacks import CallbackSupport, FitTasks
from ._columns import checked_matrix
from ._inputs import Input
from ._progress import Report, progress
from ._threads import thread_count
from .exceptions import InternalError, ModelFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Coordinates, MatrixLike

# Names a fit leaves behind that do not end with an underscore.
_PRIVATE_STATE = (
    "_model",
    "_fitted",
    "_input",
    "_lazy",
    "_training",
    "_n_features_out",
    "_inverse",
    "_fit_dtype",
    "_file",
)


class CoreTransformer(  # type: ignore[misc, unused-ignore]
    CallbackSupport, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """A transformer whose work is done by a model of the Rust core."""

    n_jobs: int | None
    verbose: int

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    embedding_: Coordinates
    n_components_: int
    _model: _core.Model
    _input: Input
    _fit_dtype: str

    def transform(self, X: MatrixLike) -> Coordinates:
        """Compute the coordinates of new rows.

        A row of the training data gets back its fitted coordinates, and rows
        transformed one by one get the same coordinates as rows transformed
        together. What the parameters are set to after ``fit`` does not matter,
        except `n_jobs` and `verbose`.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_queries, n_features)
            New data, of the kind the estimator was fitted on; of shape
            (n_queries, n_samples) when that was precomputed.

        Returns
        -------
        X_new : ndarray of shape (n_queries, n_components)
            Coordinates of the rows of X, float32 when X is float32; a data frame
            if ``set_output`` says so.
        """
        return self._place(X)

    def _place(self, X: Any) -> Coordinates:
        check_is_fitted(self)
        threads = thread_count(self.n_jobs)
        rows = self._validated(X, reset=False)
        with self._parts_that_fit(), self._progress("transform") as progress:
            result = self._model.transform(self._input.new(rows), threads, progress)
        placed: Coordinates = _data.as_dtype(result, rows.dtype)
        return placed

    @contextmanager
    def _parts_that_fit(self) -> Iterator[None]:
        """Blame the file that the estimator is from where its parts do not fit together."""
        try:
            yield
        except (InternalError, AttributeError, IndexError, KeyError) as error:
            path = vars(self).get("_file")
            if path is None:
                raise
            raise ModelFileError(
                f"the model of '{path}' does not fit together, or this is a defect of planish "
                f"({' '.join(str(error).split())}); save the model again"
            ) from error

    def _validated(self, X: Any, reset: bool) -> Any:
        """Check the shape and the type of X; the core checks the values."""
        checked = checked_matrix(
            X,
            instead="embed it by planish.embed(X, columns=...)",
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            estimator=self,
        )
        if not reset and checked.shape[1] != self.n_features_in_:
            # As scikit-learn: a NaN is reported before a wrong number of columns.
            _data.require_finite(checked)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return checked

    def _keep(self, model: _core.Model, given: Input, dtype: Any) -> None:
        """Set what the model knows as fitted attributes."""
        for name, value in model.attributes().items():
            setattr(self, f"{name}_", _data.from_core(value))
        placed = model.embedding
        if placed is not None:
            self.embedding_ = _data.as_dtype(placed, dtype)
            self._n_features_out = self.embedding_.shape[1]
        self._model, self._input = model, given
        self._fit_dtype = np.dtype(dtype).name

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted estimator into a file, for :func:`planish.load`.

        The file is in the safetensors format: arrays, and one JSON header with
        the method, its parameters, the names of the columns and the version of
        planish. Nothing in it is executed when it is read, unlike a pickle. The
        file appears under its name when it is complete, and a file that was
        there stays as it is until then.

        Parameters
        ----------
        path : str or path-like
            The file to write; by custom it ends with ``.planish``.

        Raises
        ------
        ParameterError
            A parameter cannot be stored, such as a Python function; use pickle.
        ModelFileError
            The folder is not there or cannot be written, or the disk is full.

        Examples
        --------
        >>> import tempfile, planish
        >>> X, _ = planish.datasets.swiss_roll(600)
        >>> isomap = planish.Isomap(n_neighbors=8).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     isomap.save(f"{folder}/roll.planish")
        ...     again = planish.load(f"{folder}/roll.planish")
        >>> bool((again.transform(X) == isomap.transform(X)).all())
        True
        """
        from .model_files import write

        write(self, path)

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

    def _progress(
        self, action: str, tasks: FitTasks | None = None
    ) -> AbstractContextManager[Report | None]:
        also = None if tasks is None else tasks.report
        return progress(self.verbose, f"{type(self).__name__}.{action}", also)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
