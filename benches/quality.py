"""How good a result is, each measure against a truth no engine had a hand in.

Every measure takes the data and the :class:`Result` of an engine and returns
one number. They run after the clock and the memory meter have stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from data import Data, Floats


@dataclass
class Result:
    """What an engine gave back: as much of it as the engine has."""

    embedding: Floats | None = None
    neighbors: Any = None
    """Indices, n x k."""
    distances: Any = None
    """Lengths of shortest paths, n x n."""
    model: Any = None
    """The fitted estimator itself."""


@dataclass(frozen=True)
class Measure:
    """A number with a name; ``better`` says which way it should go."""

    name: str
    of: Callable[[Data, Result], float]
    better: str = "lower"


def solver_residual(result: Result) -> float | None:
    """Largest ``|A v - l v|`` of the columns, where the estimator has it."""
    residuals = getattr(result.model, "eigenvalue_residuals_", None)
    return None if residuals is None else float(np.max(residuals))


def affine_residual(data: Data, result: Result) -> float:
    """Relative residual of the best affine map from the embedding to the truth."""
    truth = data.truth["coordinates"]
    embedding = _embedding(result)
    design = np.column_stack((embedding, np.ones(len(embedding))))
    solution = np.linalg.lstsq(design, truth, rcond=None)[0]
    spread = np.linalg.norm(truth - truth.mean(axis=0))
    return float(np.linalg.norm(truth - design @ solution) / spread)


def harmonic_residual(data: Data, result: Result) -> float:
    """Relative residual of the best affine map to the sheet's two slowest vibrations.

    They are the first eigenfunctions of the Laplacian of a long rectangle without
    clamped edges: one and two half waves along its length.
    """
    arc = data.truth["coordinates"][:, 0]
    phase = np.pi * (arc - arc.min()) / np.ptp(arc)
    waves = np.column_stack((np.cos(phase), np.cos(2 * phase)))
    return affine_residual(Data(data.x, {"coordinates": waves}), result)


def weight_cost(data: Data, result: Result) -> float:
    """What the weights of 10 neighbours leave of the coordinates: LLE's own cost.

    The sum of squares of ``Y - W Y`` for orthonormal centred columns, which is
    the sum of the smallest eigenvalues when these are found.
    """
    from sklearn.manifold._locally_linear import barycenter_kneighbors_graph

    weights = barycenter_kneighbors_graph(data.x, 10, reg=1e-3)
    embedding = _embedding(result)
    basis = np.linalg.qr(embedding - embedding.mean(axis=0))[0]
    return float(((basis - weights @ basis) ** 2).sum())


def cut_cost(data: Data, result: Result) -> float:
    """How far apart the coordinates put neighbours: the cost of Laplacian eigenmaps.

    The sum over edges of squared differences, for columns that are orthonormal
    and centred in the weights of the degrees.
    """
    from scipy.sparse.csgraph import laplacian
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(data.x, 10, include_self=True)
    matrix, degrees = laplacian(0.5 * (graph + graph.T), return_diag=True)
    embedding = _embedding(result)
    centred = embedding - np.average(embedding, axis=0, weights=degrees)
    root = np.sqrt(degrees)[:, None]
    basis = np.linalg.qr(root * centred)[0] / root
    return float(np.sum(basis * (matrix @ basis)))


def new_affine_residual(data: Data, result: Result) -> float:
    """The same for new rows, which are the second half of the data."""
    truth = data.truth["coordinates"]
    return affine_residual(Data(data.x, {"coordinates": truth[len(truth) // 2 :]}), result)


def geodesic_residual(data: Data, result: Result) -> float:
    """``1 - R²`` between geodesic and embedded distances, from 100 rows to all."""
    from scipy.sparse.csgraph import connected_components, dijkstra
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(data.x, 10, mode="distance")
    graph = graph.maximum(graph.T)
    if connected_components(graph, directed=False)[0] > 1:
        raise ValueError("the graph is not connected")
    rows = np.random.default_rng(0).choice(len(data.x), min(100, len(data.x)), replace=False)
    geodesic = dijkstra(graph, directed=False, indices=rows)
    embedding = _embedding(result)
    placed = np.linalg.norm(embedding[rows, None, :] - embedding[None, :, :], axis=2)
    return float(1 - np.corrcoef(geodesic.ravel(), placed.ravel())[0, 1] ** 2)


def path_error(data: Data, result: Result) -> float:
    """Largest relative error of the lengths from 50 nodes, against SciPy's Dijkstra."""
    from scipy.sparse.csgraph import dijkstra

    rows = np.random.default_rng(0).choice(data.x.shape[0], 50, replace=False)
    exact = dijkstra(data.x, directed=False, indices=rows)
    found = np.asarray(result.distances)[rows]
    # a node is at distance 0 of itself, and where there is no path both say infinity
    positive = (exact > 0) & np.isfinite(exact)
    if not np.array_equal(np.isfinite(exact), np.isfinite(found)):
        return float("inf")
    return float(np.max(np.abs(found[positive] - exact[positive]) / exact[positive]))


def eigenvalue_error(data: Data, result: Result) -> float:
    """Largest relative error of the kernel's leading eigenvalues.

    The truth is the spectrum of the points' scatter matrix, which a kernel of
    inner products or centred Euclidean distances shares; the found eigenvalues
    are the squared lengths of the embedding's columns, whatever their order.
    """
    points = data.truth.get("points", data.x)
    centred = points - points.mean(axis=0)
    exact = np.linalg.eigvalsh(centred.T @ centred)[::-1]
    embedding = _embedding(result)
    found = np.sort((embedding**2).sum(axis=0))[::-1]
    exact = exact[: len(found)]
    return float(np.max(np.abs(found - exact) / exact))


def rbf_eigen_residual(data: Data, result: Result) -> float:
    """``|K Y - Y L| / |Y L|`` for the centred Gaussian kernel K of width 1/D."""
    square = (data.x**2).sum(axis=1)
    kernel = square[:, None] + square[None, :] - 2 * (data.x @ data.x.T)
    kernel *= -1.0 / data.x.shape[1]
    np.exp(kernel, out=kernel)
    column_means = kernel.mean(axis=0)
    kernel -= column_means
    kernel -= column_means[:, None] - column_means.mean()
    embedding = _embedding(result)
    scaled = embedding * (embedding**2).sum(axis=0)
    return float(np.linalg.norm(kernel @ embedding - scaled) / np.linalg.norm(scaled))


def neighbor_recall(data: Data, result: Result) -> float:
    """Share of the returned neighbours that are as near as the truly k-th nearest.

    Ties make the set of neighbours ambiguous, so distances are compared, not
    indices; the distances of the returned points are taken afresh from the data.
    """
    indices = np.asarray(result.neighbors)
    n, k = indices.shape
    farthest = _kth_distance(data.x, k)
    hits = 0
    for start in range(0, n, 500):
        rows = slice(start, min(start + 500, n))
        difference = data.x[indices[rows]] - data.x[rows, None, :]
        distance = np.sqrt((difference**2).sum(axis=2))
        not_self = indices[rows] != np.arange(rows.start, rows.stop)[:, None]
        hits += int((not_self & (distance <= farthest[rows, None] * (1 + 1e-9))).sum())
    return hits / (n * k)


def sampled_recall(data: Data, result: Result) -> float:
    """The same for 1 000 rows, each compared with all rows as they are."""
    indices = np.asarray(result.neighbors)
    n, k = indices.shape
    distance = np.empty(n)
    hits = 0
    some = np.random.default_rng(1).choice(n, min(1_000, n), replace=False)
    for row in some:
        for start in range(0, n, 10_000):
            part = slice(start, start + 10_000)
            difference = data.x[part] - data.x[row]
            distance[part] = np.einsum("ij,ij->i", difference, difference)
        distance[row] = np.inf
        farthest = np.partition(distance, k - 1)[k - 1]
        hits += int((distance[np.unique(indices[row])] <= farthest * (1 + 1e-9)).sum())
    return hits / (len(some) * k)


def normalized_stress(data: Data, result: Result) -> float:
    """√(Σ(d − δ)² / Σδ²) of Euclidean distances, the map at its best scale.

    At most 5 000 rows, evenly spread, so that it takes little memory.
    """
    from scipy.spatial.distance import pdist

    step = max(1, len(data.x) // 5000)
    delta, d = pdist(data.x[::step]), pdist(_embedding(result)[::step])
    return float(np.sqrt(1 - (delta @ d) ** 2 / (delta @ delta) / (d @ d)))


def monotone_stress(data: Data, result: Result) -> float:
    """Kruskal's Stress-1 with primary ties."""
    from scipy.spatial.distance import pdist
    from sklearn.isotonic import isotonic_regression

    delta, d = pdist(data.x), pdist(_embedding(result))
    d = d[np.lexsort((d, delta))]
    return float(np.sqrt(((isotonic_regression(d) - d) ** 2).sum() / (d @ d)))


def sammon_stress(data: Data, result: Result) -> float:
    """Sammon's stress, pairs of duplicates left out."""
    from scipy.spatial.distance import pdist

    delta, d = pdist(data.x), pdist(_embedding(result))
    d, delta = d[delta > 0], delta[delta > 0]
    return float(((delta - d) ** 2 / delta).sum() / delta.sum())


def neighbor_divergence(data: Data, result: Result) -> float:
    """Kullback–Leibler divergence of a t-SNE map at perplexity 30.

    The probabilities are scikit-learn's, the same for every engine. The normaliser is exact up
    to 20 000 rows, and from a sample of 4 000 rows beyond.
    """
    from sklearn.manifold._t_sne import _joint_probabilities_nn

    y = _embedding(result)
    n = len(y)
    graph = _neighbor_graph(data.x, 91)
    graph.data **= 2
    pairs = _joint_probabilities_nn(graph, 30.0, 0).tocoo()
    rows = np.arange(n)
    if n > MANY_ROWS:
        rows = np.random.default_rng(0).choice(n, 4_000, replace=False)
    normalizer = -float(len(rows))  # a row and itself do not count
    square = (y**2).sum(axis=1)
    for start in range(0, len(rows), 500):
        some = rows[start : start + 500]
        distance = square[some, None] + square[None, :] - 2 * (y[some] @ y.T)
        normalizer += float((1 / (1 + np.maximum(distance, 0))).sum())
    normalizer *= n / len(rows)
    gaps = np.log1p(((y[pairs.row] - y[pairs.col]) ** 2).sum(axis=1)) + np.log(normalizer)
    p = pairs.data[pairs.data > 0]
    return float((p * (np.log(p) + gaps[pairs.data > 0])).sum())


#: Rows beyond which neighbours and normalisers are not by the slow and simple way.
MANY_ROWS = 20_000


def _neighbor_graph(x: Floats, k: int) -> Any:
    """The k nearest neighbours by scikit-learn; of many rows by planish, which is as exact."""
    if len(x) > MANY_ROWS:
        import planish

        return sparse.csr_matrix(planish.neighbors_graph(x, n_neighbors=k))
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=k).fit(x).kneighbors_graph(mode="distance")


def new_row_recall(data: Data, result: Result) -> float:
    """Share of the ten training rows nearest to a new row that are its ten nearest in the map."""
    from scipy.spatial import cKDTree

    placed, fitted = _embedding(result), result.model
    new = data.x[len(fitted) :]
    there = cKDTree(data.x[: len(fitted)]).query(new, 10)[1]
    here = cKDTree(fitted).query(placed, 10)[1]
    return float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(there, here, strict=True)]))


def cluster_hit(data: Data, result: Result) -> float:
    """Share of the ten nearest in the map that are of the same cluster, at 2 000 rows."""
    from scipy.spatial import cKDTree

    y, labels = _embedding(result), data.truth["labels"]
    some = np.random.default_rng(0).choice(len(y), min(2_000, len(y)), replace=False)
    near = cKDTree(y).query(y[some], 11)[1][:, 1:]
    return float((labels[near] == labels[some][:, None]).mean())


def dimension_value(data: Data, result: Result) -> float:
    """The dimension by maximum likelihood: every engine's is the same."""
    del data
    return float(result.model)


def _trust_error(k: int) -> Callable[[Data, Result], float]:
    """Error of the trustworthiness, at 100 rows, against ranks by a sort of all distances."""

    def error(data: Data, result: Result) -> float:
        placed, found = result.model
        x, n = data.x, len(data.x)
        total = 0
        some = np.arange(0, n, max(1, n // 100))
        for row in some:
            far = np.argsort(((x - x[row]) ** 2).sum(axis=1), kind="stable")
            ranks = np.empty(n, dtype=int)
            ranks[far[far != row]] = np.arange(1, n)
            near = np.argsort(((placed - placed[row]) ** 2).sum(axis=1), kind="stable")
            total += int(np.maximum(ranks[near[near != row][:k]] - k, 0).sum())
        estimate = 1 - total * 2 / (len(some) * k * (2 * n - 3 * k - 1))
        return abs(estimate - found)

    return error


def _kth_distance(x: Floats, k: int) -> Floats:
    """Distance of each row to its k-th nearest other row."""
    if x.shape[1] <= 10:
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(x).query(x, k + 1)[0][:, -1])
    square = (x**2).sum(axis=1)
    out = np.empty(len(x))
    for start in range(0, len(x), 1000):
        rows = slice(start, start + 1000)
        # integer pixels: this expansion is exact, nothing cancels
        distance = square[rows, None] + square[None, :] - 2 * (x[rows] @ x.T)
        distance[np.arange(len(distance)), np.arange(start, start + len(distance))] = np.inf
        out[rows] = np.sqrt(np.partition(distance, k - 1, axis=1)[:, k - 1])
    return out


def _embedding(result: Result) -> Floats:
    if result.embedding is None:
        raise ValueError("this measure needs an embedding")
    return np.asarray(result.embedding, dtype=np.float64)


AFFINE_RESIDUAL = Measure("affine residual", affine_residual)
HARMONIC_RESIDUAL = Measure("residual of the harmonics", harmonic_residual)
WEIGHT_COST = Measure("reconstruction error", weight_cost)
CUT_COST = Measure("sum of eigenvalues", cut_cost)
NEW_AFFINE_RESIDUAL = Measure("affine residual of new rows", new_affine_residual)
GEODESIC_RESIDUAL = Measure("residual variance", geodesic_residual)
PATH_ERROR = Measure("largest relative error", path_error)
EIGENVALUE_ERROR = Measure("eigenvalue error", eigenvalue_error)
EIGEN_RESIDUAL = Measure("eigen residual", rbf_eigen_residual)
NORMALIZED_STRESS = Measure("stress", normalized_stress)
MONOTONE_STRESS = Measure("Stress-1", monotone_stress)
SAMMON_STRESS = Measure("Sammon stress", sammon_stress)
NEIGHBOR_DIVERGENCE = Measure("KL divergence", neighbor_divergence)
TRUST = Measure("difference from 100 rows", _trust_error(5))
TRUST_OF_20 = Measure("difference from 100 rows", _trust_error(20))
NEW_ROW_RECALL = Measure("recall of neighbours", new_row_recall, better="higher")
CLUSTER_HIT = Measure("neighbours of the same cluster", cluster_hit, better="higher")
RECALL = Measure("recall", neighbor_recall, better="higher")
SAMPLED_RECALL = Measure("recall of 1 000 rows", sampled_recall, better="higher")
DIMENSION = Measure("dimension", dimension_value)
