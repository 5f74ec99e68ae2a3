"""PCA and classical MDS of rows in blocks, by their moments."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .. import classical_mds as _classical_mds
from .. import pca as _pca
from .._inputs import Points
from .._metrics import resolve_metric
from ..exceptions import ParameterError, UnsupportedError
from ._blocks import Blocks, is_collection
from ._estimator import OnDask, mapped
from ._moments import moments_of
from ._parameters import number_of_components
from ._run import Run


def _model_of(params: dict[str, Any], blocks: Blocks, run: Run, threads: int) -> Any:
    moments = moments_of(blocks, run)
    return _core.pca_of_moments(
        params, blocks.rows, moments.mean.tolist(), np.array(moments.scatter, order="C"), threads
    )


class PCA(OnDask, _pca.PCA):
    """Principal component analysis of a Dask array or data frame.

    Every block gives its number of rows, its mean and its scatter matrix; these are merged
    in a tree by the update of Chan, Golub and LeVeque, and the axes are those of the merged
    matrix. One pass over the data, n_features² numbers per block moved. Parameters and
    fitted attributes are those of :class:`planish.PCA`, whatever `svd_solver` says; arrays in
    memory are fitted by it.

    See Also
    --------
    planish.PCA : The same for data in memory, with the parameters described.

    Examples
    --------
    >>> import dask.array as da
    >>> from planish.dask import PCA
    >>> X = da.random.default_rng(0).normal(size=(1000, 5), chunks=(250, 5))
    >>> Y = PCA(n_components=2).fit_transform(X)
    >>> Y.chunks
    ((250, 250, 250, 250), (2,))
    """

    def _fit_blocks(self, blocks: Blocks, run: Run) -> None:
        params = self._core_params(blocks.rows)
        if isinstance(self.n_components, str) and self.n_components == "auto":
            params["n_components"] = number_of_components(self, blocks, {}, run)
        model = _model_of(params, blocks, run, self._threads())
        self._keep(model, Points(), blocks.dtype)
        self.n_samples_ = blocks.rows
        self._n_features_out = self.n_components_

    def fit_transform(self, X: Any, y: object = None) -> Any:
        """Find the axes of X and return the coordinates of its rows.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            The data; arrays in memory are taken too.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        X_new : dask array or data frame of shape (n_samples, n_components)
            Coordinates, with the chunks (or the index) of X, computed when asked for.
        """
        self._fit(X, y)
        return self._place(X)

    def inverse_transform(self, X: Any) -> Any:
        """Return the points whose coordinates are the rows of X.

        Parameters
        ----------
        X : dask array or array-like of shape (n_queries, n_components_)
            Coordinates.

        Returns
        -------
        X_original : dask array or ndarray of shape (n_queries, n_features)
            The points.
        """
        if not is_collection(X):
            return super().inverse_transform(X)
        return mapped(self, X, "inverse_transform")

    def score_samples(self, X: Any) -> Any:
        """Compute the log-likelihood of each row under the probabilistic model.

        Parameters
        ----------
        X : dask array or array-like of shape (n_queries, n_features)
            The data.

        Returns
        -------
        log_likelihood : dask array or ndarray of shape (n_queries,)
            One number per row.
        """
        if not is_collection(X):
            return super().score_samples(X)
        return mapped(self, X, "score_samples")


class ClassicalMDS(OnDask, _classical_mds.ClassicalMDS):
    """Classical MDS, under the Euclidean metric, of a Dask array or data frame.

    On Euclidean distances the coordinates are those along the principal axes, which are
    found from merged moments as :class:`PCA` finds them: no distance is computed. Parameters
    and attributes are those of :class:`planish.ClassicalMDS`; other metrics need all
    distances and are refused, :class:`LandmarkMDS` takes them.

    See Also
    --------
    planish.ClassicalMDS : The same for data in memory, with the parameters described.
    LandmarkMDS : For any metric.

    Examples
    --------
    >>> import dask.array as da
    >>> from planish.dask import ClassicalMDS
    >>> X = da.random.default_rng(0).normal(size=(1000, 5), chunks=(250, 5))
    >>> ClassicalMDS(n_components=2).fit(X).embedding_.shape
    (1000, 2)
    """

    def _fit_blocks(self, blocks: Blocks, run: Run) -> None:
        metric = resolve_metric(self.metric, 2, self.metric_params)
        euclidean = metric.name in ("euclidean", "l2") or (
            metric.name == "minkowski" and metric.p == 2 and not metric.arguments  # noqa: PLR2004
        )
        if not euclidean:
            raise UnsupportedError(
                f"ClassicalMDS under the metric {self.metric!r} needs the distances between all "
                f"{blocks.rows} rows; use metric='euclidean', or LandmarkMDS, which takes any "
                "metric"
            )
        if self.origin is not None:
            raise ParameterError(
                "parameter `origin`: on Dask the mean of the rows is the origin, got "
                f"{self.origin!r}; leave it None and subtract the coordinates of a row afterwards"
            )
        params = {"n_components": number_of_components(self, blocks, {}, run)}
        model = _model_of(params, blocks, run, self._threads())
        self.eigenvalues_ = model.attributes()["eigenvalues"]
        self.n_components_ = len(self.eigenvalues_)
        self.n_iter_ = 1
        self._model, self._input = model, Points()
        self._n_features_out = len(self.eigenvalues_)
        self.embedding_ = mapped(self, None, blocks=blocks)
