"""t-distributed stochastic neighbour embedding."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _data
from ._docs import documented
from ._inputs import Input, SparseAffinities
from ._metric_embedding import MetricEmbedding
from ._random import check_seed, seed_of
from ._stress import array_or_name
from ._threads import thread_count
from ._types import (
    Floats,
    MatrixLike,
    Metric,
    RandomState,
    TsneAffinities,
    TsneInit,
    TsneMethod,
)
from .exceptions import InputError, ParameterError, PlanishWarning

#: Standard deviation of a start, and of the noise in columns that carry nothing, relative to it.
_START, _NOISE = 1e-4, 1e-2


@documented
class TSNE(MetricEmbedding):
    """t-SNE: a map in which rows that are near in the data are near.

    Rows become points that attract each other by the probability that one would
    choose the other as its neighbour, and all repel each other, so that the
    probabilities of pairs in the map are close to those in the data (the
    Kullback–Leibler divergence is minimised). Distances between clusters say
    little.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates; at most 3 with `method` "barnes_hut", 2 with "fft".
    perplexity : float or sequence of floats, default=30.0
        Effective number of neighbours of a row, at least 1 and below the number of
        rows. Several perplexities are averaged: small ones keep what is near, large
        ones how clusters lie to each other.
    early_exaggeration : float, default=12.0
        Factor of the attraction in the first iterations, at least 1: up to 250 of them,
        fewer when the map has settled before. It is lowered while it would draw all
        points into one place.
    learning_rate : float or "auto", default="auto"
        Length of steps, as in scikit-learn. "auto" is the number of rows divided by
        four times the exaggeration, in each phase.
    max_iter : int, default=1000
        Most iterations.
    n_iter_without_progress : int, default=300
        Iterations without a lower divergence after which it ends, once exaggeration
        is over; looked at every 50 iterations.
    min_grad_norm : float, default=1e-7
        Norm of the gradient at which it ends, looked at as often.
    metric : str or callable, default="euclidean"
        {metric_of_graph}
    metric_params : dict, default=None
        {metric_params}
    init : {"pca", "spectral", "random"} or array-like of shape (n_samples, n_components), \
            default="pca"
        Where to start: at the principal components, at the eigenvectors of the graph of
        probabilities or at random, with a standard deviation of 1e-4, or at given
        coordinates. "pca" is not for anything precomputed.
    verbose : int, default=0
        {verbose}
    random_state : int, RandomState instance or None, default=None
        Seed of a random start; None is a fixed seed.
    method : {"auto", "barnes_hut", "fft", "exact"}, default="auto"
        How the repulsion of all pairs is added up: by a tree of groups of points
        ("barnes_hut", scikit-learn's default), by a grid and Fourier transforms ("fft";
        a tree where a map is too large for a grid), or, in each iteration, by the fastest
        of these and all pairs ("auto"). All three take the ``3 * perplexity`` nearest
        neighbours of each row for those with a probability; "exact" takes all pairs for
        both.
    angle : float, default=0.5
        Width of a group of points that counts as one, relative to its distance,
        between 0 and 1; 0 is exact. Nodes of a grid are 0.8 times it apart, at most 0.5.
    n_jobs : int, default=None
        {n_jobs}
    exaggeration : float, default=1.0
        Factor of the attraction after the first phase; above 1 clusters become
        tighter and farther apart.
    dof : float, default=None
        Degrees of freedom of the t-distribution in the map; below 1 its tails are
        heavier, which shows finer structure. None is ``n_components - 1``, at least 1.
    affinities : {"gaussian", "uniform", "precomputed"}, default="gaussian"
        What the probabilities of a row's neighbours follow: a Gaussian at the
        `perplexity`, or nothing, so that all ``3 * perplexity`` neighbours are alike.
        With "precomputed" X is a matrix of affinities, dense or sparse, of any size:
        they are made symmetric and divided by their sum; give `init` another value than
        "pca".
    tol : float, default=1e-4
        The iterations end when the divergence falls by less than this part of itself in
        one of them, on average over 50; 0 uses all `max_iter`.
    callback : callable, default=None
        Called as ``callback(iteration, kl_divergence, embedding)`` while the map is
        optimised; something true as its answer ends that, with the map as it is.
    callback_every : int, default=50
        Iterations between two calls of `callback`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_} Equal rows have equal coordinates.
    kl_divergence_ : float
        Kullback–Leibler divergence of `embedding_`: with the exact normaliser for up
        to 20 000 distinct rows, else with that of the method.
    n_iter_ : int
        Number of the last iteration, counted from 0 as in scikit-learn.
    learning_rate_ : float
        The learning rate of the last iteration.
    history_ : ndarray of shape (n_looks, 3)
        Iteration, divergence and norm of the gradient, every 50 iterations and after
        the last. While attraction is exaggerated, the gradient is too.
    {seen_in_fit}

    Warns
    -----
    InputAdjustedWarning
        {InputAdjustedWarning}

    See Also
    --------
    SpectralEmbedding : A map of neighbours by eigenvectors.
    MDS : A map that keeps all distances.

    Notes
    -----
    Use: clusters to look at: who is near whom.

    Time: a neighbour search, and up to 1000 iterations of n steps (n² with "exact").

    The result has the same bits for any number of threads. New rows are placed by
    :meth:`transform`: each minimises its own divergence against the fixed map, with
    the probabilities of its nearest training rows at a perplexity of at most 5, and
    without any force between new rows.

    Compared with scikit-learn: the same divergence is minimised, from the same start, in
    fewer iterations, because momentum rises to 0.95 and early exaggeration ends when it
    has done its work.

    References
    ----------
    .. [1] L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", Journal of
       Machine Learning Research 9 (2008).
    .. [2] L. van der Maaten, "Accelerating t-SNE using tree-based algorithms",
       Journal of Machine Learning Research 15 (2014).
    .. [3] D. Kobak, P. Berens, "The art of using t-SNE for single-cell
       transcriptomics", Nature Communications 10 (2019).
    .. [4] A. Belkina et al., "Automated optimized parameters for t-distributed stochastic
       neighbor embedding improve visualization and analysis of large datasets", Nature
       Communications 10 (2019).
    .. [5] G. Linderman et al., "Fast interpolation-based t-SNE for improved visualization
       of single-cell RNA-seq data", Nature Methods 16 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import TSNE
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> tsne = TSNE(perplexity=5).fit(X)
    >>> tsne.embedding_.shape
    (50, 2)
    >>> bool(np.array_equal(tsne.transform(X[:5]), tsne.embedding_[:5]))
    True
    """

    _method: ClassVar[str] = "TSNE"
    _python_params: ClassVar[frozenset[str]] = MetricEmbedding._python_params | {
        "random_state",
        "callback",
    }
    _takes_graph: ClassVar[bool] = True

    kl_divergence_: float
    n_iter_: int
    learning_rate_: float
    history_: Floats

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | Sequence[float] = 30.0,
        early_exaggeration: float = 12.0,
        learning_rate: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        n_iter_without_progress: int = 300,
        min_grad_norm: float = 1e-7,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: TsneInit | ArrayLike = "pca",
        verbose: int = 0,
        random_state: RandomState = None,
        method: TsneMethod = "auto",
        angle: float = 0.5,
        n_jobs: int | None = None,
        exaggeration: float = 1.0,
        dof: float | None = None,
        affinities: TsneAffinities = "gaussian",
        tol: float = 1e-4,
        callback: Callable[[int, float, Floats], Any] | None = None,
        callback_every: int = 50,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs
        self.exaggeration = exaggeration
        self.dof = dof
        self.affinities = affinities
        self.tol = tol
        self.callback = callback
        self.callback_every = callback_every

    def transform(self, X: MatrixLike, return_distances: bool = False) -> Any:
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
        return_distances : bool, default=False
            Whether to tell how far each row is from anything known. Every row gets a
            place, and only this shows that one belongs nowhere.

        Returns
        -------
        X_new : ndarray of shape (n_queries, n_components)
            Coordinates of the rows of X, float32 when X is float32; a data frame
            if ``set_output`` says so.
        distances : ndarray of shape (n_queries,)
            Distance of each row to the nearest training row, if `return_distances`.
        """
        if not return_distances:
            return self._place(X)
        placed = self._place(X)
        rows = self._validated(X, reset=False)
        with self._progress("distances") as progress:
            given = self._input.new(rows)
            far = self._model.nearest_distances(given, thread_count(self.n_jobs), progress)
        return placed, far

    def _check_python_params(self) -> None:
        if isinstance(self.n_components, str):
            raise ParameterError(
                f"parameter `n_components`: expected a number, got {self.n_components!r}: t-SNE "
                "draws neighbourhoods to be looked at, its columns are not the dimensions of the "
                "data; use 2 or 3, or n_components='auto' with Isomap or another method"
            )
        check_seed(self.random_state)
        if self.callback is not None and not callable(self.callback):
            raise ParameterError(
                f"parameter `callback`: must be a function or None, got {self.callback!r}"
            )
        if self._precomputed() and isinstance(self.init, str) and self.init == "pca":
            raise ParameterError(
                'parameter `init`: The parameter init="pca" cannot be used with '
                'metric="precomputed".; use init="spectral" or "random", or give coordinates'
            )

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _callback(self) -> Callable[[int, float, Floats], Any] | None:
        return self.callback

    def _precomputed(self) -> bool:
        given = isinstance(self.affinities, str) and self.affinities == "precomputed"
        return given or super()._precomputed()

    def _input_of(self, X: Any) -> Input:
        if isinstance(self.affinities, str) and self.affinities == "precomputed":
            return SparseAffinities(metric="precomputed")
        return super()._input_of(X)

    def _validated(self, X: Any, reset: bool) -> Any:
        checked = super()._validated(X, reset)
        if reset and self._precomputed():
            _data.require_finite(checked)
            if checked.shape[0] != checked.shape[1]:
                raise InputError(
                    f"X should be a square distance matrix, got {checked.shape[0]} × "
                    f"{checked.shape[1]}"
                )
            values = checked.data if _data.is_sparse(checked) else checked
            if (values < 0).any():
                raise InputError(
                    "Negative values in data: X should contain positive distances with "
                    "metric='precomputed'"
                )
        return checked

    def _evaluated(self, metric: Any, X: Any) -> Input:
        found = super()._evaluated(metric, X)
        if isinstance(self.init, str) and self.init == "pca":
            # The core gets distances only.
            found.params["init"] = self._principal_start(X)
        return found

    def _principal_start(self, X: Any) -> Any:
        from .pca import PCA

        whole = isinstance(self.n_components, (int, np.integer)) and self.n_components > 0
        if not whole or not np.isfinite(X.data if _data.is_sparse(X) else X).all():
            return "random"
        start = np.random.default_rng(self._seed()).normal(
            scale=_START * _NOISE, size=(X.shape[0], self.n_components)
        )
        width = min(self.n_components, *X.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlanishWarning)
            axes = PCA(n_components=width, n_jobs=self.n_jobs).set_output(transform="default")
            scores = axes.fit_transform(X).astype(np.float64)
        scores /= np.abs(scores).max() or 1.0  # no square leaves the range of numbers
        size = scores[:, 0].std()
        if size > 0:
            scores *= _START / size
            used = scores.std(axis=0) > _START * _NOISE * 1e-3
            start[:, :width][:, used] = scores[:, used]
        return start

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        params["init"] = array_or_name("init", params["init"])
        params["perplexity"] = _numbers(params["perplexity"])
        rate = params["learning_rate"]
        if isinstance(rate, str) and rate == "auto":
            params["learning_rate"] = None
        elif rate is None or isinstance(rate, (str, bool, np.bool_)):
            raise ParameterError(
                f"parameter `learning_rate`: expected a number above 0 or 'auto', got {rate!r}"
            )
        return params


def _numbers(perplexity: Any) -> Any:
    """Return several perplexities as an array; one number as it is."""
    if isinstance(perplexity, (str, bytes)) or not isinstance(perplexity, (Sequence, np.ndarray)):
        return perplexity
    try:
        return np.asarray(perplexity, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise ParameterError(
            f"parameter `perplexity`: expected a number or several, got {perplexity!r}"
        ) from None
