"""Every other method: fitted to a seeded sample, and all rows placed by its transform."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from .. import (
    diffusion_maps,
    isomap,
    kernel_isomap,
    kernel_mds,
    locally_linear,
    mds,
    sammon_mapping,
    spectral,
    tsne,
)
from ..exceptions import ParameterError, UnsupportedError
from ._blocks import Blocks, blocks_of, is_collection, looked_at, require_same
from ._estimator import OnDask, local_class, mapped, require_features, takes
from ._map import map_method
from ._run import Run, compute, repeat, reporting, shared, worker_threads

#: Rows that a method is fitted to where nothing else is said.
SAMPLE_SIZE = 10_000

_NOTE = """{summary} of a Dask array or data frame, by a sample.

    The method is fitted to `sample_size` rows, drawn by `sample_seed`, in one task that has a
    worker to itself; every row is then placed by its ``transform``, block by block. Rows of the
    sample have the coordinates of the fit, and where there are no more rows than `sample_size`
    the result is that of :class:`planish.{name}`, whose parameters and attributes it has.
    Arrays in memory are fitted whole.

    Parameters
    ----------
    sample_size : int, default=10000
        Number of rows the method is fitted to.
    sample_seed : int, default=0
        Seed of their choice.

    Attributes
    ----------
    embedding_ : dask array or data frame of shape (n_samples, n_components)
        Coordinates of all rows, with the chunks (or the index) of X, computed when asked for.
    sample_indices_ : ndarray of shape (sample_size,)
        The rows of the sample, ascending.
    sample_embedding_ : ndarray of shape (sample_size, n_components)
        Their coordinates.

    See Also
    --------
    planish.{name} : The method, with all its parameters and attributes.
    """


def sample_of(blocks: Blocks, size: Any, seed: Any) -> Any:
    """Return the rows of the sample, ascending; all where there are no more."""
    for name, value, least in (("sample_size", size, 1), ("sample_seed", seed, 0)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < least:
            raise ParameterError(
                f"parameter `{name}`: expected an int of at least {least}, got {value!r}"
            )
    if size >= blocks.rows:
        return np.arange(blocks.rows)
    return np.sort(np.random.default_rng(seed).choice(blocks.rows, size=size, replace=False))


def fitted_to(estimator: Any, blocks: Blocks, rows: Any, run: Run) -> Any:
    """Return an estimator fitted to some of the rows, by a task."""
    owner = np.searchsorted(blocks.starts, rows, side="right") - 1
    pieces = [
        run.task(_rows, "sample", int(b))(blocks.parts[b], rows[owner == b] - blocks.starts[b])
        for b in np.unique(owner)
    ]
    names = None if blocks.frame is None else blocks.frame.columns
    task = run.task(reporting, "fit-sample")(_fit, estimator, names, *pieces)
    ((fitted, caught),) = compute([task])
    repeat(caught)
    return fitted


def _rows(block: Any, rows: Any) -> Any:
    return block[rows]


def _fit(estimator: Any, names: Any, *pieces: Any) -> Any:
    rows: Any = np.concatenate(pieces)
    if names is not None:
        import pandas as pd

        rows = pd.DataFrame(rows, columns=names)
    asked = getattr(estimator, "n_jobs", 0)
    if asked is None and worker_threads():
        # The only task there is: it may use all that its worker has.
        estimator.n_jobs = worker_threads()
    estimator.fit(rows)
    if asked is None:
        estimator.n_jobs = None
    return estimator


class Sampled(OnDask):
    """The way of a method that is fitted to a sample."""

    sample_size: int
    sample_seed: int

    def _fit_blocks(self, blocks: Blocks, run: Run) -> None:
        if self._precomputed():
            raise UnsupportedError(
                "precomputed distances or kernels on Dask would need a row of numbers for every "
                "row; give the points themselves"
            )
        rows = sample_of(blocks, self.sample_size, self.sample_seed)
        base = local_class(type(self))
        given = {
            k: v for k, v in self.get_params(deep=False).items() if k not in self._extra_params
        }
        fitted = fitted_to(base(**given), blocks, rows, run)
        state = vars(fitted)
        self.__dict__.update({name: v for name, v in state.items() if name not in given})
        self.sample_indices_ = rows
        self.sample_embedding_ = fitted.embedding_
        self.embedding_ = mapped(self, None, blocks=blocks)

    def to_local(self) -> Any:
        """Return the fitted estimator for data in memory: that of the sample."""
        local = super().to_local()
        if is_collection(vars(self).get("embedding_")):
            local.embedding_ = self.sample_embedding_
        return local


def _sampled(name: str, base: type) -> type:
    summary = (base.__doc__ or name).splitlines()[0].rstrip(".")
    doc = _NOTE.format(summary=summary, name=name)
    made = type(name, (Sampled, base), {"__doc__": doc, "__module__": __name__})
    return takes(sample_size=SAMPLE_SIZE, sample_seed=0)(made)


Isomap: Any = _sampled("Isomap", isomap.Isomap)
KernelIsomap: Any = _sampled("KernelIsomap", kernel_isomap.KernelIsomap)
KernelMDS: Any = _sampled("KernelMDS", kernel_mds.KernelMDS)
LocallyLinearEmbedding: Any = _sampled(
    "LocallyLinearEmbedding", locally_linear.LocallyLinearEmbedding
)
SpectralEmbedding: Any = _sampled("SpectralEmbedding", spectral.SpectralEmbedding)
DiffusionMaps: Any = _sampled("DiffusionMaps", diffusion_maps.DiffusionMaps)
MDS: Any = _sampled("MDS", mds.MDS)
SammonMapping: Any = _sampled("SammonMapping", sammon_mapping.SammonMapping)
TSNE: Any = _sampled("TSNE", tsne.TSNE)


class SampledEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Any estimator with a ``transform``, fitted to a sample of a Dask collection.

    Parameters
    ----------
    estimator : object
        A transformer; it is cloned, and fitted to the sample in one task.
    sample_size : int, default=10000
        Number of rows it is fitted to.
    sample_seed : int, default=0
        Seed of their choice.

    Attributes
    ----------
    estimator_ : object
        The fitted estimator.
    embedding_ : dask array or data frame of shape (n_samples, n_components)
        Coordinates of all rows, with the chunks (or the index) of X, computed when asked for.
    sample_indices_ : ndarray of shape (sample_size,)
        The rows of the sample, ascending.
    n_features_in_ : int
        Number of columns of X.

    Examples
    --------
    >>> import dask.array as da
    >>> from planish import LocallyLinearEmbedding
    >>> from planish.dask import SampledEmbedding
    >>> X = da.random.default_rng(0).random((3000, 3), chunks=(1000, 3))
    >>> lle = LocallyLinearEmbedding(n_neighbors=8, n_components=2)
    >>> SampledEmbedding(lle, sample_size=500).fit_transform(X).shape
    (3000, 2)
    """

    def __init__(
        self, estimator: Any, *, sample_size: int = SAMPLE_SIZE, sample_seed: int = 0
    ) -> None:
        self.estimator = estimator
        self.sample_size = sample_size
        self.sample_seed = sample_seed

    def fit(self, X: Any, y: object = None) -> SampledEmbedding:
        """Fit the estimator to a sample of X.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            The data.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if not is_collection(X):
            X = _as_collection(X)
        run = Run()
        blocks = blocks_of(X, run)
        looks = looked_at(blocks, run)
        rows = sample_of(blocks, self.sample_size, self.sample_seed)
        fitted = fitted_to(clone(self.estimator), blocks, rows, run)
        self.estimator_ = fitted
        self.sample_indices_ = rows
        self.n_features_in_ = blocks.columns
        if hasattr(fitted, "feature_names_in_"):
            self.feature_names_in_ = fitted.feature_names_in_
        self.embedding_ = map_method(shared(fitted), fitted, None, "transform", blocks)
        self._n_features_out = int(self.embedding_.shape[1])
        require_same(blocks, looks)
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:
        """Fit the estimator to a sample of X and return the coordinates of all rows.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            The data.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        X_new : dask array or data frame of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X).embedding_

    def transform(self, X: Any) -> Any:
        """Compute the coordinates of new rows.

        Parameters
        ----------
        X : dask array, data frame or array-like of shape (n_queries, n_features)
            New rows.

        Returns
        -------
        X_new : dask array, data frame or ndarray of shape (n_queries, n_components)
            Coordinates.
        """
        check_is_fitted(self, "estimator_")
        if not is_collection(X):
            return self.estimator_.transform(X)
        require_features(self, X)
        return map_method(shared(self.estimator_), self.estimator_, X, "transform", None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what is on the cluster."""
        state = dict(super().__getstate__())
        state.pop("embedding_", None)
        return state


def _as_collection(X: Any) -> Any:
    import dask.array as da

    rows = np.asarray(X)
    if rows.ndim != 2:  # noqa: PLR2004
        raise ParameterError(f"X must have 2 dimensions, rows and columns, got {rows.ndim}")
    return da.from_array(rows, chunks=(max(1, len(rows)), -1))
