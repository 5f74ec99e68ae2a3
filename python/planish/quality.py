"""How good a map is: what it keeps of neighbours, ranks, distances and shape.

Every function takes the data X and a map Y of it (or an estimator that was fitted on X) and
returns a :class:`Score`, a float that also has its value at each row and, on a sample of rows,
its standard error. Nothing of size n × n is held. Ranks are by distance, and at equal distances
by row number. Rows of Y with NaN, which ``disconnected="largest"`` leaves out, are left out here
too, with one warning. :func:`report` gives the usual measures at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from ._docs import documented
from ._quality import Score, codes, compare, coordinates, count
from ._quality_report import Report, report
from ._types import Floats, Indices, MatrixLike, Metric, RandomState
from .exceptions import InputError, ParameterError

__all__ = [
    "InformationImbalance",
    "Procrustes",
    "RankCurve",
    "RelativeRankErrors",
    "Report",
    "Score",
    "Shepard",
    "continuity",
    "information_imbalance",
    "lcmc",
    "local_distortion",
    "local_scale",
    "mrre",
    "neighborhood_hit",
    "pearson",
    "procrustes",
    "rank_curve",
    "report",
    "residual_variance",
    "shepard",
    "spearman",
    "stress",
    "trustworthiness",
]

#: Coordinates, or an estimator that has them as ``embedding_``.
MapLike: TypeAlias = ArrayLike | Any

StressForm: TypeAlias = Literal[
    "raw", "normalized", "stress1", "stress2", "sammon", "strain", "per_distance", "scaled"
]


@documented
def trustworthiness(
    X: MatrixLike,
    X_embedded: MapLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute whether neighbours in the map are neighbours in the data.

    1 minus the ranks, beyond k, that the k nearest neighbours in the map have in the data, over
    their largest sum. 1 is best, about one half is chance. The value of scikit-learn's function,
    where no two distances are equal; at equal distances the lower row number is nearer, where
    scikit-learn's sort leaves it open.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    X_embedded : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    n_neighbors : int, default=5
        {quality_k_half}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    References
    ----------
    .. [1] J. Venna, S. Kaski, "Local multidimensional scaling", Neural Networks 19 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import trustworthiness
    >>> line = np.arange(30.0)[:, None]
    >>> float(trustworthiness(line, 2 * line))
    1.0
    """
    both = compare(X, X_embedded, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["trustworthiness"], n_neighbors)["trustworthiness"]


@documented
def continuity(
    X: MatrixLike,
    Y: MapLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute whether neighbours in the data are neighbours in the map.

    :func:`trustworthiness` with data and map exchanged: the ranks, beyond k, that the k nearest
    neighbours in the data have in the map. 1 is best, about one half is chance.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    n_neighbors : int, default=5
        {quality_k_half}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    References
    ----------
    .. [1] J. Venna, S. Kaski, "Local multidimensional scaling", Neural Networks 19 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import continuity
    >>> line = np.arange(30.0)[:, None]
    >>> float(continuity(line, 2 * line))
    1.0
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["continuity"], n_neighbors)["continuity"]


class RelativeRankErrors(NamedTuple):
    """Mean relative rank errors of the neighbours in the map and of those in the data."""

    false: Score
    missing: Score


@documented
def mrre(
    X: MatrixLike,
    Y: MapLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> RelativeRankErrors:
    """Compute the mean relative rank errors.

    The difference between a neighbour's two ranks over the rank on its own side, in the mean over
    the k nearest neighbours and over its value for the reversed order: 0 is best, 1 is reversed.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    n_neighbors : int, default=5
        {quality_k_half}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    errors : RelativeRankErrors
        ``false`` for the neighbours in the map, ``missing`` for those in the data.

    References
    ----------
    .. [1] J. A. Lee, M. Verleysen, "Quality assessment of dimensionality reduction: rank-based
       criteria", Neurocomputing 72 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import mrre
    >>> line = np.arange(30.0)[:, None]
    >>> tuple(map(float, mrre(line, line)))
    (0.0, 0.0)
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return RelativeRankErrors(*both.scores(["mrre_false", "mrre_missing"], n_neighbors).values())


@documented
def lcmc(
    X: MatrixLike,
    Y: MapLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute the local continuity meta-criterion.

    The share of the k nearest neighbours that data and map have in common, less k / (n - 1), which
    is that of chance.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    n_neighbors : int, default=5
        {quality_k}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    References
    ----------
    .. [1] L. Chen, A. Buja, "Local multidimensional scaling for nonlinear dimension reduction,
       graph drawing, and proximity analysis", JASA 104 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import lcmc
    >>> line = np.arange(30.0)[:, None]
    >>> round(float(lcmc(line, line)), 4) == round(1 - 5 / 29, 4)
    True
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["lcmc"], n_neighbors)["lcmc"]


class InformationImbalance(NamedTuple):
    """How well each side predicts the other; 0 is best, 1 is chance."""

    x_to_y: Score
    y_to_x: Score


@documented
def information_imbalance(
    X: MatrixLike,
    Y: MapLike,
    *,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> InformationImbalance:
    """Compute the information imbalance in both directions.

    2 / n times the mean rank, on the other side, of the nearest neighbour on this one.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    imbalance : InformationImbalance
        ``x_to_y`` and ``y_to_x``.

    References
    ----------
    .. [1] A. Glielmo, C. Zeni, B. Cheng, G. Csányi, A. Laio, "Ranking the information content of
       distance measures", PNAS Nexus 1 (2022).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import information_imbalance
    >>> line = np.arange(10.0)[:, None] ** 2
    >>> round(float(information_imbalance(line, line).x_to_y), 9)
    0.2
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return InformationImbalance(*both.scores(["imbalance_x_to_y", "imbalance_y_to_x"], 1).values())


@documented
def local_distortion(
    X: MatrixLike,
    Y: MapLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute how much the proportions of distances to neighbours change.

    For each row, 1 minus the squared cosine between its distances to its k nearest neighbours in
    the data and the same distances in the map; 0 where they keep their proportions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    n_neighbors : int, default=5
        {quality_k}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import local_distortion
    >>> line = np.arange(30.0)[:, None]
    >>> float(local_distortion(line, 7 * line)) < 1e-12
    True
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["local_distortion"], n_neighbors)["local_distortion"]


@documented
def local_scale(
    X: MatrixLike,
    Y: MapLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute how long the distances to neighbours are in the map.

    For each row, the root of the sum of squared distances to its k nearest neighbours of the data,
    in the map over in the data: where it is large the map is stretched or torn. 0 for a row all
    of whose neighbours are its duplicates.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    n_neighbors : int, default=5
        {quality_k}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import local_scale
    >>> line = np.arange(30.0)[:, None]
    >>> round(float(local_scale(line, 7 * line)), 9)
    7.0
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["local_scale"], n_neighbors)["local_scale"]


@documented
def pearson(
    X: MatrixLike,
    Y: MapLike,
    *,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute the correlation of the distances of all pairs.

    1 is best; 0 also where all distances on one side are equal.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import pearson
    >>> line = np.arange(30.0)[:, None]
    >>> round(float(pearson(line, 7 * line)), 9)
    1.0
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["pearson"])["pearson"]


@documented
def spearman(
    X: MatrixLike,
    Y: MapLike,
    *,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute the correlation of the ranks of the distances of all pairs.

    1 is best; equal distances share the mean of their ranks. Beyond a million pairs distances are
    ranked by about a million intervals of equal shares instead of sorted, which changes the value
    by less than 1e-8; distances that agree to six digits, as those to a row far from all others
    do, may then count as equal too. ``per_point`` has the correlation of the ranks, among all
    pairs, of the pairs of each row.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import spearman
    >>> line = np.arange(30.0)[:, None]
    >>> round(float(spearman(line, 7 * line)), 9)
    1.0
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["spearman"])["spearman"]


@documented
def residual_variance(
    X: MatrixLike,
    Y: MapLike,
    *,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute the variance of distances that the map does not explain.

    1 - R² of the distances of all pairs; give geodesic distances with ``metric="precomputed"``
    for that of Isomap. 0 is best.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva, J. C. Langford, "A global geometric framework for nonlinear
       dimensionality reduction", Science 290 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import residual_variance
    >>> line = np.arange(30.0)[:, None]
    >>> float(residual_variance(line, 7 * line)) < 1e-12
    True
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores(["residual_variance"])["residual_variance"]


@documented
def stress(
    X: MatrixLike,
    Y: MapLike,
    form: StressForm = "normalized",
    *,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute the stress of a map, in any of its forms.

    With δ the distances in the data and d those in the map, over all pairs of rows:

    - "raw": ``Σ (d - δ)²``;
    - "normalized": ``√(Σ (d - δ)² / Σ δ²)``;
    - "stress1": ``√(Σ (d - δ)² / Σ d²)``, Kruskal's first;
    - "stress2": ``√(Σ (d - δ)² / Σ (d - mean d)²)``, Kruskal's second;
    - "sammon": ``Σ ((d - δ)² / δ) / Σ δ``, over pairs with ``δ > 0``;
    - "strain": ``‖-½ H δ² H - Y Yᵀ‖²`` with Y centred;
    - "per_distance": ``Σ (d - δ)² / Σ d``;
    - "scaled": the normalized stress of the map at the scale where it is least, which alone of
      these does not change when the map is multiplied by a number.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    form : str, default="normalized"
        Which stress.
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error``, and with ``per_point`` the same form of the
        pairs of each row (the sum over them for "raw"; None for "strain").

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import stress
    >>> line = np.arange(30.0)[:, None]
    >>> float(stress(line, 2 * line)), float(stress(line, 2 * line, "scaled")) < 1e-7
    (1.0, True)
    """
    if form not in get_args(StressForm):
        known = ", ".join(get_args(StressForm))
        raise ParameterError(f"parameter `form`: {form!r} is not known; give one of {known}")
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    return both.scores([form])[form]


@dataclass(frozen=True)
class RankCurve:
    """Common neighbours for every number of neighbours.

    Attributes
    ----------
    n_neighbors : ndarray of shape (n_samples - 2,)
        k = 1, 2, …, n - 2.
    q_nx : ndarray of shape (n_samples - 2,)
        Q_NX(k), the share of common neighbours.
    r_nx : ndarray of shape (n_samples - 2,)
        R_NX(k), the same above chance: 0 is chance, 1 is best.
    area : Score
        The mean of R_NX with weights 1 / k, that is the area under it over ln k.
    """

    n_neighbors: Indices
    q_nx: Floats
    r_nx: Floats
    area: Score


@documented
def rank_curve(
    X: MatrixLike,
    Y: MapLike,
    *,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> RankCurve:
    """Compute Q_NX and R_NX for every number of neighbours.

    It sorts two rows of n distances for each row: give a `sample` for many rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    curve : RankCurve
        Its ``n_neighbors``, ``q_nx``, ``r_nx`` and ``area``.

    References
    ----------
    .. [1] J. A. Lee, E. Renard, G. Bernard, P. Dupont, M. Verleysen, "Type 1 and 2 mixtures of
       Kullback-Leibler divergences as cost functions in dimensionality reduction based on
       similarity preservation", Neurocomputing 112 (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import rank_curve
    >>> line = np.arange(30.0)[:, None]
    >>> round(float(rank_curve(line, line).area), 9)
    1.0
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    found = both.ask("rank_curve")
    r = found["r"]
    return RankCurve(
        n_neighbors=np.arange(1, len(r) + 1),
        q_nx=found["q"][: len(r)],
        r_nx=r,
        area=both.score(found["area"], found["rows"]),
    )


@documented
def neighborhood_hit(
    Y: MapLike,
    labels: ArrayLike,
    *,
    n_neighbors: int = 5,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Score:
    """Compute the share of neighbours in the map that have the label of the row.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    labels : array-like of shape (n_samples,)
        The class of each row, of two classes or more.
    n_neighbors : int, default=5
        {quality_k}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    score : Score
        The value, a float with ``standard_error`` and ``per_point``.

    References
    ----------
    .. [1] F. V. Paulovich, L. G. Nonato, R. Minghim, H. Levkowitz, "Least square projection",
       IEEE Transactions on Visualization and Computer Graphics 14 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import neighborhood_hit
    >>> line = np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [13.0]])
    >>> float(neighborhood_hit(line, ["a", "a", "a", "b", "b", "b"], n_neighbors=2))
    1.0
    """
    placed = coordinates(Y, "Y")
    both = compare(placed, placed, sample=sample, random_state=random_state, n_jobs=n_jobs)
    numbers = both.rows_used(codes(labels, both.rows))
    found = both.scores(["neighborhood_hit"], n_neighbors, numbers)
    return found["neighborhood_hit"]


@dataclass(frozen=True)
class Shepard:
    """Distances of pairs in the data and in the map.

    Attributes
    ----------
    pairs : ndarray of shape (n_pairs, 2)
        The two rows of each pair, the smaller number first.
    distances, embedded : ndarray of shape (n_pairs,)
        Their distance in the data and in the map.
    """

    pairs: Indices
    distances: Floats
    embedded: Floats


@documented
def shepard(
    X: MatrixLike,
    Y: MapLike,
    *,
    n_pairs: int | None = 10_000,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Shepard:
    """Give the distances of pairs in the data and in the map, for a Shepard diagram.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    n_pairs : int, default=10000
        How many pairs are drawn, without replacement; None means all.
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    data : Shepard
        Its ``pairs``, ``distances`` and ``embedded``.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import shepard
    >>> line = np.array([[0.0], [1.0], [3.0]])
    >>> shepard(line, 2 * line).embedded
    array([2., 6., 4.])
    """
    both = compare(X, Y, metric, metric_params, None, random_state, n_jobs)
    found = both.ask("shepard", n_pairs=None if n_pairs is None else count(n_pairs, "n_pairs"))
    pairs = found["pairs"] if both.used is None else both.used[found["pairs"]]
    return Shepard(pairs=pairs, distances=found["distances"], embedded=found["embedded"])


@dataclass(frozen=True)
class Procrustes:
    """One map laid upon another.

    Attributes
    ----------
    distance : Score
        ``√(Σ |x - y'|² / Σ |x - mean x|²)``; ``per_point`` has ``|x - y'|`` of each row over the
        root mean square of ``|x - mean x|``.
    aligned : ndarray of shape (n_samples, n_components)
        The second map laid upon the first, ``scale * Y @ rotation + shift``; a row with NaN in
        either map keeps NaN. The narrower map counts with columns of zeros.
    rotation : ndarray of shape (n_components, n_components)
        The rotation, or with a reflection.
    scale : float
        The scale.
    shift : ndarray of shape (n_components,)
        The shift.
    """

    distance: Score
    aligned: Floats
    rotation: Floats
    scale: float
    shift: Floats


def procrustes(
    X: MapLike, Y: MapLike, *, scaling: bool = True, reflection: bool = True
) -> Procrustes:
    """Lay the map Y upon the map X, and compute how far they are apart then.

    With scaling and reflection the square of the distance is the disparity of
    :func:`scipy.spatial.procrustes`.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples, n_components), or fitted estimator
        Two maps of the same rows, or the true coordinates and a map.
    scaling : bool, default=True
        Whether Y may be multiplied by a number.
    reflection : bool, default=True
        Whether Y may be mirrored.

    Returns
    -------
    fit : Procrustes
        Its ``distance``, ``aligned``, ``rotation``, ``scale`` and ``shift``.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import procrustes
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> fit = procrustes(X, 3 * X[:, ::-1] + 1)
    >>> fit.distance < 1e-7, np.allclose(fit.aligned, X), round(fit.scale, 9)
    (True, True, 0.333333333)
    """
    reference, placed = coordinates(X, "X"), coordinates(Y, "Y")
    if len(reference) != len(placed):
        raise InputError(f"X has {len(reference)} rows and Y {len(placed)}; they must be the same")
    placed = np.where(np.isnan(reference).any(axis=1, keepdims=True), np.nan, placed)
    both = compare(placed, placed)
    first = np.ascontiguousarray(both.rows_used(reference))
    laid = replace(both, data=("points", first))
    found = laid.ask("procrustes", scaling=bool(scaling), reflection=bool(reflection))
    aligned = found["aligned"]
    if both.used is not None:
        aligned = np.full((both.rows, aligned.shape[1]), np.nan)
        aligned[both.used] = found["aligned"]
    return Procrustes(
        distance=both.score((found["distance"], 0.0, found["per_point"]), None),
        aligned=aligned,
        rotation=found["rotation"],
        scale=found["scale"],
        shift=found["shift"],
    )
