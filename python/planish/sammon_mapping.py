"""Sammon mapping."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from ._docs import documented
from ._stress import StressEmbedding
from ._types import Metric, RandomState, SammonSolver, StressInit


@documented
class SammonMapping(StressEmbedding):
    """Sammon's nonlinear mapping: small dissimilarities count more.

    Minimises the sum over pairs of rows of ``(δ - d)² / δ``, divided by the sum of
    the dissimilarities δ, for distances d in the map. Duplicates are no error: a
    dissimilarity of 0 has the weight of the smallest one above 0.

    Parameters
    ----------
    n_components : int or "auto", default=2
        {n_components}
    n_neighbors : int, default=None
        Count only the pairs of each row with this many nearest rows: little work for
        many rows, and a map that is right nearby only. None counts all pairs.
    n_init : int, default=1
        Number of starts; the map with the lowest stress is kept, and `inits_`
        has all of them. A start that is fixed is one start.
    init : {"random", "classical_mds", "warn"} or array-like of shape (n_samples, n_components), \
default="warn"
        Where to start. "warn" is as in :class:`MDS`: the first start by classical
        MDS, further ones random.
    max_iter : int, default=300
        {max_iter_of_start}
    eps : float, default=1e-6
        Decrease of the stress in one iteration at which it stops; L-BFGS stops at
        the third such iteration in a row.
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    solver : {"auto", "lbfgs", "sgd", "gradient", "newton"}, default="auto"
        How the stress is minimised. "auto" is a few epochs of stochastic pairs
        followed by L-BFGS; "newton" is Sammon's own step, the gradient divided by
        the second derivatives and multiplied by `magic`, halved where it would
        increase the stress.
    magic : float, default=0.35
        The magic factor of "newton", above 0 and at most 1.
    n_jobs : int, default=None
        {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seed of random starts and of the order of pairs; None is a fixed seed.
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_} Centred.
    stress_ : float
        Sammon's stress of `embedding_`; with `n_neighbors` that of the pairs that
        count.
    {stress_attributes}
    {seen_in_fit}

    Warns
    -----
    ConvergenceWarning
        The stress still decreased after `max_iter` iterations.
    DisconnectedGraphWarning
        With `n_neighbors`, rows fall into groups without a pair between them.
    InputAdjustedWarning
        {InputAdjustedWarning}

    See Also
    --------
    MDS : Stress in which all dissimilarities count the same.

    Notes
    -----
    Use: distances to be kept, the small ones above all.

    Time: n² per iteration; with `n_neighbors` n·k.

    Dissimilarities of more than 10 000 points are not stored, as in :class:`MDS`. New
    rows are placed where their own stress against the fixed map is least.

    References
    ----------
    .. [1] J. W. Sammon, "A nonlinear mapping for data structure analysis", IEEE
       Transactions on Computers C-18 (1969).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import SammonMapping
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> sammon = SammonMapping().fit(X)
    >>> sammon.embedding_.shape
    (50, 2)
    >>> bool(np.array_equal(sammon.transform(X[:5]), sammon.embedding_[:5]))
    True
    """

    _method: ClassVar[str] = "SammonMapping"

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        n_neighbors: int | None = None,
        n_init: int = 1,
        init: StressInit | ArrayLike = "warn",
        max_iter: int = 300,
        eps: float = 1e-6,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        solver: SammonSolver = "auto",
        magic: float = 0.35,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.eps = eps
        self.metric = metric
        self.metric_params = metric_params
        self.solver = solver
        self.magic = magic
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
