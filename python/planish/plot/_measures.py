"""The seam to measures of quality: what pictures need computed, on a seeded sample of rows.

Nothing else in `planish.plot` computes a measure.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial import cKDTree

from .._types import Floats, Indices, MatrixLike
from ..exceptions import InputAdjustedWarning, InputError, ParameterError
from ._input import Drawing

#: Rows up to which a measure over all pairs is computed for a title.
_ALL_PAIRS = 5_000
#: Rows whose neighbours are compared for a title, and twice the most neighbours of one.
_ROWS_LOOKED_AT = 1_000
#: Neighbours that the trustworthiness in a title is of.
_NEAR = 10
_MOST_NEIGHBORS = 1_000
#: Rows that shortest paths are computed from.
_SOURCES = 100
#: Distances that one rank curve may sort.
_SORTED = 20_000_000


def own_quality(estimator: Any) -> str:
    """Return the figure by which a fitted estimator judges itself, or nothing."""
    forms = getattr(estimator, "stress_forms_", None)
    if forms is not None:
        form = "sammon" if type(estimator).__name__ == "SammonMapping" else "normalized"
        return f"{'Sammon' if form == 'sammon' else 'normalised'} stress {forms[form]:.3g}"
    for attribute, name in (
        ("kl_divergence_", "KL divergence"),
        ("reconstruction_error_", "reconstruction error"),
        ("stress_", "stress"),
    ):
        value = getattr(estimator, attribute, None)
        if value is not None:
            return f"{name} {value:.3g}"
    ratio = getattr(estimator, "explained_variance_ratio_", None)
    if ratio is not None:
        return f"{100 * float(np.sum(ratio)):.3g} % of the variance"
    return (
        _residual_variance(estimator)
        or _stress_of_distances(estimator)
        or _neighbors_kept(estimator)
    )


def trust(source: Any, X: Any, points: Floats) -> str:
    """Return the trustworthiness of a map of the rows X, or nothing where X is no points."""
    from ..quality import trustworthiness

    n = len(points)
    near = min(_NEAR, (n - 1) // 2)
    precomputed = getattr(source, "_precomputed", lambda: False)()
    if source is None or precomputed or near < 1:
        return ""
    sample = _ROWS_LOOKED_AT if n > _ROWS_LOOKED_AT else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputAdjustedWarning)  # the title counts these rows
        score = trustworthiness(X, points, n_neighbors=near, sample=sample, random_state=0)
    return f"trustworthiness {float(score):.3f}"


def _neighbors_kept(estimator: Any) -> str:
    """Return the share of the edges of the estimator's own graph that the map keeps.

    Of a row with k neighbours in the graph, those among its k nearest in the map. Nothing
    where there is no graph, or one of nearly all pairs.
    """
    kept: Any = getattr(estimator, "graph_", None)
    graph: Any = kept if kept is not None else getattr(estimator, "affinity_matrix_", None)
    points = np.asarray(getattr(estimator, "embedding_", np.empty((0, 1))), dtype=np.float64)
    sparse = bool(issparse(graph))
    if not sparse or graph.shape != (len(points), len(points)):
        return ""
    graph = graph.tocsr()
    rows = np.flatnonzero(np.isfinite(points).all(axis=1))
    degrees = np.diff(graph.indptr)[rows]
    if not len(rows) or not degrees.any() or 2 * degrees.max() > min(len(rows), _MOST_NEIGHBORS):
        return ""
    chosen = np.random.default_rng(0).permutation(len(rows))[:_ROWS_LOOKED_AT]
    nearest = rows[cKDTree(points[rows]).query(points[rows[chosen]], k=degrees.max() + 1)[1]]
    kept = []
    for row, near in zip(rows[chosen], nearest, strict=True):
        edges = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
        edges = edges[edges != row]
        if len(edges):
            kept.append(np.isin(edges, near[near != row][: len(edges)]).mean())
    return f"{100 * np.mean(kept):.0f} % of the neighbours kept" if kept else ""


def _residual_variance(estimator: Any) -> str:
    from .._geodesic import ScaledGeodesics
    from ..diagnostics import residual_variance

    if not isinstance(estimator, ScaledGeodesics) or len(estimator.embedding_) > _ALL_PAIRS:
        return ""
    curve = residual_variance(estimator, dims=[estimator.embedding_.shape[1]])
    return f"residual variance {curve.values[0]:.3g}"


def _stress_of_distances(estimator: Any) -> str:
    """Return the stress of classical scaling, as long as the distances are at hand."""
    from ..classical_mds import ClassicalMDS
    from ..quality import stress

    training = vars(estimator).get("_training")
    if not isinstance(estimator, ClassicalMDS) or training is None:
        return ""
    metric, rows = training.params["metric"], len(estimator.embedding_)
    if not isinstance(metric, str) or rows > _ALL_PAIRS:
        return ""
    options = {name: training.params[name] for name in ("metric", "metric_params")}
    sample = _ROWS_LOOKED_AT if rows > _ROWS_LOOKED_AT else None
    try:
        score = stress(training.X, estimator.embedding_, sample=sample, **options)
    except InputError:  # distances that are all zero, or symmetric only up to rounding
        return ""
    return f"normalised stress {float(score):.3g}"


def shepard_pairs(
    given: Drawing, X: MatrixLike | None, precomputed: bool, n_pairs: int, seed: int
) -> tuple[Floats, Floats, str]:
    """Return the distances of a sample of pairs in the data and in the map.

    All pairs if there are no more than `n_pairs`. The third result says what the
    distances of the data are.
    """
    rng = np.random.default_rng(seed)
    rows = given.rows
    if len(rows) < 2:  # noqa: PLR2004
        raise InputError("a diagram of pairs needs two rows with finite coordinates, got one")
    if X is None and hasattr(given.source, "graph_") and hasattr(given.source, "shortcuts_"):
        return _geodesic_pairs(given, n_pairs, rng)
    one, other = _pairs(rows, n_pairs, rng)
    mapped = np.linalg.norm(given.points[one] - given.points[other], axis=1)
    if X is None:
        original, name = _dissimilarities(given.source)[one, other], "dissimilarity"
    elif precomputed:
        original, name = _given_distances(X, len(given.points))[one, other], "distance in the data"
    else:
        data = _data(X, len(given.points))
        original = np.linalg.norm(data[one] - data[other], axis=1)
        name = "distance in the data"
    known = np.isfinite(original)
    return original[known], mapped[known], name


def _pairs(rows: Indices, n_pairs: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    count = len(rows)
    if count * (count - 1) // 2 <= n_pairs:
        one, other = np.triu_indices(count, 1)
    else:
        one = rng.integers(count, size=n_pairs)
        other = (one + 1 + rng.integers(count - 1, size=n_pairs)) % count  # never itself
    return rows[one], rows[other]


def _geodesic_pairs(
    given: Drawing, n_pairs: int, rng: np.random.Generator
) -> tuple[Floats, Floats, str]:
    from ..functions import geodesic_distances

    sources = np.sort(rng.choice(given.rows, min(_SOURCES, len(given.rows)), replace=False))
    paths = geodesic_distances(given.source.graph_, sources=sources)
    here = rng.integers(len(sources), size=n_pairs)
    other = rng.choice(given.rows, n_pairs)
    apart = (sources[here] != other) & np.isfinite(paths[here, other])
    here, other = here[apart], other[apart]
    mapped = np.linalg.norm(given.points[sources[here]] - given.points[other], axis=1)
    return paths[here, other], mapped, "geodesic distance"


def _dissimilarities(estimator: Any) -> Floats:
    name = "an array" if estimator is None else f"a {type(estimator).__name__}"
    if not hasattr(type(estimator), "_on_demand") or (
        "dissimilarity_matrix_" not in type(estimator)._on_demand
    ):
        raise ParameterError(
            f"parameter `X`: the distances a map is compared with are not in {name}; give "
            "the data with X=..."
        )
    if len(estimator.embedding_) > _ALL_PAIRS:
        raise ParameterError(
            f"parameter `X`: with more than {_ALL_PAIRS} rows give the data with X=..., all "
            "pairs would take too long"
        )
    found = np.asarray(estimator.dissimilarity_matrix_, dtype=np.float64)
    return np.where(np.isnan(found), found.T, found)


def _data(X: MatrixLike, n_samples: int) -> Floats:
    from .._columns import checked_matrix
    from .._data import require_memory

    if issparse(X):
        table: Any = X
        size = 8 * int(np.prod(table.shape))
        require_memory(size, "X as a dense array", "give fewer rows")
        X = table.toarray()
    found: Floats = checked_matrix(X, dtype=np.float64)
    if len(found) != n_samples:
        raise ParameterError(f"parameter `X`: the embedding has {n_samples} rows, got {len(found)}")
    return found


def _given_distances(X: MatrixLike, n_samples: int) -> Floats:
    found = np.asarray(X, dtype=np.float64)
    if found.shape != (n_samples, n_samples):
        raise ParameterError(
            f"parameter `X`: expected the distances of {n_samples} × {n_samples} rows, got "
            f"shape {found.shape}"
        )
    return found


def r_nx(given: Drawing, X: MatrixLike, seed: int) -> tuple[Floats, int]:
    """Return R_NX(k) for k = 1, …, n − 2, and the number of rows it is the mean of.

    Q_NX(k) is the share of the k nearest neighbours in the data that are among the k
    nearest in the map; R_NX(k) is how far it is from chance, 0, towards 1.
    """
    from ..quality import rank_curve

    data = _data(X, len(given.points))[given.rows]
    points = given.points[given.rows]
    n = len(points)
    if n < 3:  # noqa: PLR2004
        raise InputError(f"a rank curve needs three rows with finite coordinates, got {n}")
    sampled = min(n, max(100, min(1_000, _SORTED // n)))
    sample = sampled if sampled < n else None
    return rank_curve(data, points, sample=sample, random_state=seed).r_nx, sampled


def area_over_log_k(curve: Floats) -> float:
    """Return the mean of R_NX over ln k: small neighbourhoods count as much as large ones."""
    weights = 1.0 / np.arange(1, len(curve) + 1)
    return float(np.average(curve, weights=weights))
