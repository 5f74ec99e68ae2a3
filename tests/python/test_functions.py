"""Neighbours, neighbourhood graphs, geodesic distances and memory estimates as functions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import NearestNeighbors

import planish
from planish import PCA, Isomap


# ---- stages ---------------------------------------------------------------------------
@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("columns", [2, 25])
def test_kneighbors(metric, algorithm, columns):
    X = np.random.default_rng(0).normal(size=(300, columns))
    new = np.random.default_rng(1).normal(size=(40, columns))
    search = NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(X)
    for query in (None, new):
        expected_distances, expected = search.kneighbors(query)
        distances, indices = planish.kneighbors(
            X, 6, query=query, metric=metric, algorithm=algorithm
        )
        assert np.array_equal(indices, expected)
        np.testing.assert_allclose(distances, expected_distances, rtol=1e-7)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_kneighbors_by_angle(metric):
    X = np.random.default_rng(0).normal(size=(200, 8))
    D = squareform(pdist(X, metric))
    np.fill_diagonal(D, np.inf)
    expected = np.argsort(D, axis=1)[:, :5]
    distances, indices = planish.kneighbors(X, 5, metric=metric)
    assert np.array_equal(indices, expected)
    np.testing.assert_allclose(distances, np.take_along_axis(D, expected, 1), rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("scale", [1e-250, 1e-3, 1.0, 1e250])
def test_kneighbors_with_a_large_power(algorithm, scale):
    X = np.random.default_rng(0).normal(size=(60, 3))
    for p in [9.0, 30.0, 1e3, 1e6, 1e300]:
        found = planish.kneighbors(X * scale, 10, metric="minkowski", p=p, algorithm=algorithm)
        gaps = np.abs(X[:, None] - X)
        largest = gaps.max(axis=2)
        with np.errstate(invalid="ignore"):
            shares = np.nan_to_num(gaps / largest[:, :, None])
        D = largest * (shares**p).sum(axis=2) ** (1 / p)
        np.fill_diagonal(D, np.inf)
        np.testing.assert_allclose(found[0] / scale, np.sort(D, axis=1)[:, :10], rtol=1e-12)
        assert np.array_equal(found[1], np.argsort(D, axis=1)[:, :10])
    sparse_rows = planish.kneighbors(sparse.csr_array(X), 10, metric="minkowski", p=1e6)
    dense_rows = planish.kneighbors(X, 10, metric="minkowski", p=1e6)
    assert np.array_equal(sparse_rows[0], dense_rows[0])


def test_kneighbors_sparse_and_precomputed():
    X = sparse.random(120, 20, density=0.5, format="csr", random_state=0)
    expected = planish.kneighbors(X.toarray(), 4)
    found = planish.kneighbors(X, 4)
    assert np.array_equal(found[1], expected[1])
    D = squareform(pdist(X.toarray()))
    given = planish.kneighbors(D, 4, metric="precomputed")
    assert np.array_equal(given[1], expected[1])
    np.testing.assert_allclose(given[0], expected[0], rtol=1e-9)


def test_kneighbors_of_duplicates_never_lists_itself():
    X = np.zeros((6, 2))
    distances, indices = planish.kneighbors(X, 5)
    assert np.array_equal(distances, np.zeros((6, 5)))
    for row, found in enumerate(indices):
        assert list(found) == [other for other in range(6) if other != row]


def test_neighbors_graph_by_radius(roll):
    theirs = NearestNeighbors(radius=4.0).fit(roll).radius_neighbors_graph(mode="distance")
    ours = planish.neighbors_graph(roll, radius=4.0)
    assert (abs(ours - theirs)).max() < 1e-9
    assert ours.nnz == theirs.nnz


@pytest.mark.parametrize("path_method", ["auto", "D", "FW", "batch", "sweep"])
def test_geodesic_distances(roll, path_method):
    graph = planish.neighbors_graph(roll, n_neighbors=6)
    # Dijkstra's method of SciPy 1.10 misses paths of a graph that has edges in one direction.
    expected = shortest_path(graph, directed=False, method="FW")
    found = planish.geodesic_distances(graph, path_method=path_method)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    some = planish.geodesic_distances(graph, sources=[5, 0, 399], path_method=path_method)
    np.testing.assert_allclose(some, expected[[5, 0, 399]], rtol=1e-12)


@pytest.mark.parametrize("path_method", ["auto", "D", "FW", "batch", "sweep"])
def test_geodesic_distances_keeps_zero_edges_and_gaps(path_method):
    graph = sparse.csr_array(
        (np.array([0.0, 2.0, 1.0]), np.array([1, 2, 0]), np.array([0, 1, 2, 3, 3])), shape=(4, 4)
    )
    inf = np.inf
    expected = [[0, 0, 1, inf], [0, 0, 1, inf], [1, 1, 0, inf], [inf, inf, inf, 0]]
    assert planish.geodesic_distances(graph, path_method=path_method).tolist() == expected


def test_estimate_memory():
    small = planish.estimate_memory("Isomap", 1_000, 3)
    large = planish.estimate_memory(Isomap, 10_000, 3)
    # The geodesic distances make it quadratic.
    assert 50 < large / small < 200
    assert large >= 10_000**2 * 3  # on surfaces; half a matrix of doubles in more dimensions
    assert planish.estimate_memory(Isomap, 10_000, 10) >= 10_000**2 * 4
    assert planish.estimate_memory(PCA(n_components=2), 1_000_000, 10) < 1e9
    tree = planish.estimate_memory(Isomap(metric=lambda a, b: 0.0), 1_000, 3)
    assert tree >= small // 2
    few = planish.estimate_memory("ClassicalMDS", 5_000, 3, metric="precomputed")
    assert few >= planish.estimate_memory("ClassicalMDS", 500, 3, metric="precomputed")


@pytest.mark.parametrize("n_samples", [3_000_000_000, 10**18])
@pytest.mark.parametrize("name", ["SpectralEmbedding", "KernelMDS", "Isomap", "DiffusionMaps"])
def test_estimate_memory_of_more_rows_than_any_machine_holds(name, n_samples):
    n_features = 10
    most = 2**64 - 1  # the largest number of bytes
    told = planish.estimate_memory(name, n_samples, n_features)
    assert min(100 * n_samples, most) <= told <= most
    assert planish.estimate_memory("PCA", 10, 10**18) >= 10**18
