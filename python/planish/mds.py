"""Metric and non-metric multidimensional scaling by stress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ._docs import documented
from ._stress import StressEmbedding, matrix
from ._types import (
    Coordinates,
    Floats,
    MatrixLike,
    MdsLoss,
    MdsType,
    Metric,
    Monotone,
    RandomState,
    StressInit,
    StressSolver,
    Ties,
)
from .exceptions import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self


@documented
class MDS(StressEmbedding):
    """Multidimensional scaling: a map whose distances are the dissimilarities.

    Minimises the stress, the sum over pairs of rows of the squared difference
    between their dissimilarity and their distance in the map. Non-metric scaling
    uses the order of the dissimilarities only. The parameters up to
    `normalized_stress` are scikit-learn's; a dissimilarity of 0 is a true zero
    here, and NaN is a missing one.

    Parameters
    ----------
    n_components : int or "auto", default=2
        {n_components}
    metric_mds : bool, default=True
        Whether distances should equal the dissimilarities (True) or be in their
        order (False, the same as ``type="ordinal"``).
    n_init : int, default=1
        Number of starts; the map with the lowest stress is kept, and `inits_`
        has all of them. A start that is fixed is one start.
    init : {"random", "classical_mds", "warn"} or array-like of shape (n_samples, n_components), \
default="warn"
        Where to start. "warn", scikit-learn's default, is here: the first start by
        classical MDS, further ones random, without a warning. For ordinal scaling
        classical MDS is of the ranks of the dissimilarities.
    max_iter : int, default=300
        {max_iter_of_start}
    verbose : int, default=0
        {verbose}
    eps : float, default=1e-6
        {eps}
    n_jobs : int, default=None
        {n_jobs}
    random_state : int, RandomState instance or None, default=None
        Seed of random starts and of the order of pairs; None is a fixed seed.
    dissimilarity : {"deprecated", "euclidean", "precomputed"}, default="deprecated"
        The old name of `metric`.
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    normalized_stress : bool or "auto", default="auto"
        Whether `stress_` is Stress-1 (True) or the raw stress (False); "auto" is
        the raw stress for ratio scaling and Stress-1 for all other types.
    type : {"ratio", "interval", "ordinal", "spline"} or None, default=None
        Which function of the dissimilarities the distances should equal: a
        multiple, a line, any ascending function (non-metric scaling), or a smooth
        ascending one. None follows `metric_mds`.
    weights : array-like of shape (n_samples, n_samples), default=None
        Weight of each pair, symmetric and not negative; a pair of weight 0 does
        not count.
    ties : {"primary", "secondary", "tertiary"}, default="primary"
        What ordinal scaling asks of pairs of the same dissimilarity: nothing,
        equal distances, or distances right on average.
    monotone : {"kruskal", "guttman"}, default="kruskal"
        How ordinal scaling begins: with isotonic regression, or with Guttman's
        rank images, followed by isotonic regression.
    solver : {"auto", "smacof", "lbfgs", "sgd", "gradient", "newton"}, default="auto"
        How the stress is minimised. "auto" is a few epochs of stochastic pairs
        followed by L-BFGS, or L-BFGS alone for types other than "ratio"; "smacof"
        never increases the stress and is what scikit-learn does; "gradient" and
        "newton" are plain gradient descent and the diagonal quasi-Newton step.
    relax : bool, default=False
        Whether the steps of "smacof" go twice as far.
    loss : {"stress", "sstress", "strain"}, default="stress"
        What is compared: distances, squared distances, or inner products, which
        is classical MDS.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        {embedding_} Centred. For types other than "ratio" it is scaled so that the
        squared disparities sum to the number of pairs.
    stress_ : float
        The stress of `embedding_`, see `normalized_stress`.
    {stress_attributes}
    disparities_ : array of shape (n_samples, n_samples)
        What distances should be: the function of the dissimilarities that was
        found, or for "ratio" the dissimilarities. Computed when first asked for;
        not pickled.
    {seen_in_fit}

    Warns
    -----
    ConvergenceWarning
        The stress still decreased after `max_iter` iterations.
    InputAdjustedWarning
        {InputAdjustedWarning}

    See Also
    --------
    ClassicalMDS : Scaling by an eigendecomposition.
    SammonMapping : Stress in which small dissimilarities count more.
    permutation_test : Is the stress better than chance?
    bootstrap : How stable is each point?

    Notes
    -----
    Use: distances, or only their order, to be kept all over the map, also where some
    are missing.

    Time: n² per iteration, up to 10 000 points; pairs drawn by chance beyond.

    Dissimilarities of up to 10 000 points are stored. Of more, ratio scaling takes a
    fixed random sample, 200 for each point, and then a few iterations over all
    pairs, computed anew in each; no n × n matrix is made. New rows are placed where
    their own stress against the fixed map is least.

    References
    ----------
    .. [1] J. B. Kruskal, "Nonmetric multidimensional scaling: a numerical method",
       Psychometrika 29 (1964).
    .. [2] J. de Leeuw, "Applications of convex analysis to multidimensional
       scaling", Recent Developments in Statistics (1977).
    .. [3] J. X. Zheng, S. Pawar, D. F. M. Goodman, "Graph drawing by stochastic
       gradient descent", IEEE TVCG 25 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import MDS
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> mds = MDS(eps=1e-12).fit(X)
    >>> bool(mds.stress_forms_["normalized"] < 1e-4)
    True
    >>> apart = np.linalg.norm(mds.embedding_[0] - mds.embedding_[1])
    >>> bool(np.isclose(apart, np.linalg.norm(X[0] - X[1]), rtol=1e-3))
    True
    """

    _method: ClassVar[str] = "MDS"
    _python_params: ClassVar[frozenset[str]] = StressEmbedding._python_params | {
        "dissimilarity", "metric_mds", "normalized_stress", "type",
    }  # fmt: skip
    _core_only_params: ClassVar[frozenset[str]] = StressEmbedding._core_only_params | {
        "transformation"
    }
    _on_demand: ClassVar[Mapping[str, str]] = {
        **StressEmbedding._on_demand,
        "disparities_": "_disparities",
    }

    disparities_: Floats
    _normalized: bool
    _given_init: Floats

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        metric_mds: bool = True,
        n_init: int = 1,
        init: StressInit | ArrayLike = "warn",
        max_iter: int = 300,
        verbose: int = 0,
        eps: float = 1e-6,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        dissimilarity: Literal["deprecated", "euclidean", "precomputed"] = "deprecated",
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        normalized_stress: bool | Literal["auto"] = "auto",
        type: MdsType | None = None,  # noqa: A002
        weights: ArrayLike | None = None,
        ties: Ties = "primary",
        monotone: Monotone = "kruskal",
        solver: StressSolver = "auto",
        relax: bool = False,
        loss: MdsLoss = "stress",
    ) -> None:
        self.n_components = n_components
        self.metric_mds = metric_mds
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.dissimilarity = dissimilarity
        self.metric = metric
        self.metric_params = metric_params
        self.normalized_stress = normalized_stress
        self.type = type
        self.weights = weights
        self.ties = ties
        self.monotone = monotone
        self.solver = solver
        self.relax = relax
        self.loss = loss

    def fit(self, X: MatrixLike, y: object = None, init: ArrayLike | None = None) -> Self:
        """Compute the map of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The data, one sample per row; of shape (n_samples, n_samples) when
            `metric` is "precomputed".
        y : Ignored
            Present for API consistency.
        init : array-like of shape (n_samples, n_components), default=None
            Where to start, in place of the parameter `init`.

        Returns
        -------
        self : object
            The fitted estimator. When fit fails or is interrupted, the
            estimator is left exactly as it was before.
        """
        self._fit_from(X, init)
        return self

    def fit_transform(
        self, X: MatrixLike, y: object = None, init: ArrayLike | None = None
    ) -> Coordinates:
        """Compute the map of X and return it.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            As in :meth:`fit`.
        y : Ignored
            Present for API consistency.
        init : array-like of shape (n_samples, n_components), default=None
            As in :meth:`fit`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Coordinates of the rows of X, float32 when X is float32; a data frame
            if ``set_output`` says so.
        """
        self._fit_from(X, init)
        return self.embedding_

    def _fit_from(self, X: Any, init: Any) -> None:
        if init is None:
            self._fit(X)
            return
        self._given_init = matrix("init", init)
        try:
            self._fit(X)
        finally:
            self.__dict__.pop("_given_init", None)

    # -- parameters -----------------------------------------------------------------

    def _check_python_params(self) -> None:
        super()._check_python_params()
        _check_flag("metric_mds", self.metric_mds)
        if not (isinstance(self.normalized_stress, str) and self.normalized_stress == "auto"):
            _check_flag("normalized_stress", self.normalized_stress, 'True, False or "auto"')
        _check_choice("dissimilarity", self.dissimilarity, ("deprecated", *_OLD))
        if self.type is not None:
            _check_choice("type", self.type, get_args(MdsType))
        if self.dissimilarity in _OLD:
            if not isinstance(self.metric, bool) and self.metric != "euclidean":
                raise ParameterError(
                    "parameter `dissimilarity`: You provided both `dissimilarity` and `metric`. "
                    "Please use only `metric`."
                )
            _warn_of_old("The `dissimilarity` parameter is deprecated. Use `metric` instead.")
        if isinstance(self.metric, bool):
            _warn_of_old("`metric` names a metric, as in scikit-learn. Use metric_mds instead.")
        if self.type is not None and self.type != "ordinal" and self._by_order():
            raise ParameterError(
                f"parameter `type`: {self.type!r} is not what metric_mds=False asks for; "
                "leave metric_mds as it is"
            )

    def _by_order(self) -> bool:
        metric: Any = self.metric
        return not (metric if isinstance(metric, bool) else self.metric_mds)

    def _effective_metric(self) -> Any:
        if isinstance(self.dissimilarity, str) and self.dissimilarity in _OLD:
            return self.dissimilarity
        return "euclidean" if isinstance(self.metric, bool) else self.metric

    def _type(self) -> str:
        return self.type or ("ordinal" if self._by_order() else "ratio")

    def _precomputed(self) -> bool:
        metric = self._effective_metric()
        return isinstance(metric, str) and metric == "precomputed"

    def _metric(self) -> Any:
        from ._metrics import resolve_metric

        return resolve_metric(self._effective_metric(), 2, self.metric_params)

    def _core_params(self, n_samples: int) -> dict[str, Any]:
        params = super()._core_params(n_samples)
        params["metric"] = self._effective_metric()
        params["transformation"] = self._type()
        if params["weights"] is not None:
            params["weights"] = matrix("weights", params["weights"])
        return params

    # -- results --------------------------------------------------------------------

    def _keep(self, model: Any, given: Any, dtype: Any) -> None:
        super()._keep(model, given, dtype)
        normalized = self.normalized_stress
        if isinstance(normalized, str):
            normalized = self._type() != "ratio"
        self.stress_ = self.stress_forms_["stress1" if normalized else "raw"]

    def _disparities(self) -> Any:
        params = self._trained_on("disparities_").params
        if type(self)(**params)._type() == "ratio":
            return self.dissimilarity_matrix_
        return self._compute("disparities")


_OLD = ("euclidean", "precomputed")


def _warn_of_old(message: str) -> None:
    from ._warn import warn

    warn(message, FutureWarning)


def _check_flag(name: str, value: object, expected: str = "True or False") -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"parameter `{name}`: expected {expected}, got {value!r}")


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(f"'{word}'" for word in known)
        raise ParameterError(f"parameter `{name}`: expected one of {listed}, got {value!r}")


@documented
def smacof(
    dissimilarities: ArrayLike,
    *,
    metric: bool = True,
    n_components: int = 2,
    init: ArrayLike | None = None,
    n_init: int = 1,
    n_jobs: int | None = None,
    max_iter: int = 300,
    verbose: int = 0,
    eps: float = 1e-6,
    random_state: RandomState = None,
    return_n_iter: bool = False,
    normalized_stress: bool | Literal["auto"] = "auto",
) -> tuple[Coordinates, float] | tuple[Coordinates, float, int]:
    """Scale dissimilarities by majorisation, from random starts.

    The function of scikit-learn; :class:`MDS` has more to offer.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_samples, n_samples)
        Dissimilarities of all pairs, symmetric; NaN where one is missing.
    metric : bool, default=True
        Whether distances should equal the dissimilarities or be in their order.
    n_components : int, default=2
        Number of coordinates; that of `init` if there is one.
    init : array-like of shape (n_samples, n_components), default=None
        Where to start; None is random.
    n_init : int, default=1
        Number of random starts, the best of which is returned.
    n_jobs : int, default=None
        {n_jobs_as_estimators}
    max_iter : int, default=300
        {max_iter_of_start}
    verbose : int, default=0
        {verbose_as_estimators}
    eps : float, default=1e-6
        {eps}
    random_state : int, RandomState instance or None, default=None
        Seed of random starts; None is a fixed seed.
    return_n_iter : bool, default=False
        Whether to return the number of iterations too.
    normalized_stress : bool or "auto", default="auto"
        As in :class:`MDS`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_components)
        The coordinates.
    stress : float
        Their stress.
    n_iter : int
        Number of iterations of the best start; only if `return_n_iter` is set.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import smacof
    >>> distances = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> Y, stress = smacof(distances, eps=1e-12, max_iter=1000)
    >>> bool(stress < 1e-6)
    True
    """
    if init is not None:
        init = matrix("init", init)
        n_components = init.shape[1]
    estimator = MDS(
        n_components,
        metric_mds=metric,
        n_init=n_init,
        init="random" if init is None else init,
        max_iter=max_iter,
        verbose=verbose,
        eps=eps,
        n_jobs=n_jobs,
        random_state=random_state,
        metric="precomputed",
        normalized_stress=normalized_stress,
        solver="smacof",
    )
    coordinates = estimator.fit_transform(dissimilarities)
    if return_n_iter:
        return coordinates, estimator.stress_, estimator.n_iter_
    return coordinates, estimator.stress_
