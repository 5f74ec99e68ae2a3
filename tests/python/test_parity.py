"""The same numbers as scikit-learn and SciPy, wherever they answer the same question."""

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.manifold
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

import planish
from conftest import assert_same_columns, swiss_roll
from planish import PCA, ClassicalMDS, Isomap, KernelMDS
from planish.exceptions import DisconnectedGraphWarning

# A roll of a few hundred rows has true shortcuts between its sheets.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")

SHAPES = {"tall": (300, 8), "square": (30, 30), "wide": (20, 90)}


def matrix(shape, seed=0):
    rng = np.random.default_rng(seed)
    n, d = SHAPES[shape]
    spectrum = 2.0 ** -np.arange(min(n, d))
    mixed = rng.normal(size=(n, min(n, d))) * spectrum
    return mixed @ rng.normal(size=(min(n, d), d)) + rng.normal(size=d)


# ---- PCA ------------------------------------------------------------------------------

PCA_NUMBERS = ["explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"]


def assert_same_pca(ours, theirs, X, rtol=1e-8):
    assert ours.n_components_ == theirs.n_components_
    assert ours.n_samples_ == theirs.n_samples_
    for name in PCA_NUMBERS:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=rtol, atol=1e-12, err_msg=name
        )
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-7, atol=1e-15)
    assert_same_columns(ours.components_.T, theirs.components_.T, rtol=1e-6)
    assert_same_columns(ours.transform(X), theirs.transform(X), rtol=1e-7)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
@pytest.mark.parametrize("shape", SHAPES)
def test_pca_solvers(shape, solver, whiten):
    X = matrix(shape)
    theirs = sklearn.decomposition.PCA(4, svd_solver="full", whiten=whiten).fit(X)
    ours = PCA(4, svd_solver=solver, whiten=whiten).fit(X)
    assert_same_pca(ours, theirs, X)
    assert_same_columns(
        ours.inverse_transform(ours.transform(X)),
        theirs.inverse_transform(theirs.transform(X)),
        rtol=1e-9,
    )


@pytest.mark.parametrize("n_components", [0.3, 0.75, 0.95, 0.999])
@pytest.mark.parametrize("shape", SHAPES)
def test_pca_share_of_variance(shape, n_components):
    X = matrix(shape)
    theirs = sklearn.decomposition.PCA(n_components, svd_solver="full").fit(X)
    assert_same_pca(PCA(n_components, svd_solver="full").fit(X), theirs, X)


@pytest.mark.parametrize("solver", ["auto", "full"])
def test_pca_mle(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 10)) + 0.1 * rng.normal(size=(200, 10))
    theirs = sklearn.decomposition.PCA("mle", svd_solver=solver).fit(X)
    ours = PCA("mle", svd_solver=solver).fit(X)
    assert ours.n_components_ == 3
    assert_same_pca(ours, theirs, X)


def test_pca_all_components():
    X = matrix("tall")
    theirs = sklearn.decomposition.PCA(svd_solver="full").fit(X)
    ours = PCA().fit(X)
    assert ours.components_.shape == (8, 8)
    assert_same_pca(ours, theirs, X)
    assert ours.noise_variance_ == 0.0


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
def test_pca_sparse(solver):
    X = sparse.random(200, 30, density=0.2, format="csr", random_state=0)
    theirs = sklearn.decomposition.PCA(5, svd_solver="full").fit(X.toarray())
    for given in (X, sparse.csc_array(X), sparse.coo_matrix(X)):
        assert_same_pca(PCA(5, svd_solver=solver).fit(given), theirs, X.toarray())


@pytest.mark.parametrize("n_components", [3, 8])
def test_pca_likelihood(n_components):
    X = matrix("tall")
    theirs = sklearn.decomposition.PCA(n_components, svd_solver="full").fit(X)
    ours = PCA(n_components).fit(X)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9)


def test_pca_covariance_describes_the_data_when_whitened():
    X = matrix("tall")
    whitened = PCA(whiten=True).fit(X)
    np.testing.assert_allclose(whitened.get_covariance(), np.cov(X.T), rtol=1e-9)
    np.testing.assert_allclose(whitened.get_precision() @ np.cov(X.T), np.eye(8), atol=1e-6)


def test_pca_seed_moves_only_the_last_digits():
    X = matrix("tall")
    one = PCA(3, svd_solver="randomized", random_state=1).fit(X)
    two = PCA(3, svd_solver="randomized", random_state=np.random.RandomState(7)).fit(X)
    np.testing.assert_allclose(one.explained_variance_, two.explained_variance_, rtol=1e-10)


# ---- classical and kernel MDS ---------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack"])
@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("euclidean", None),
        ("manhattan", None),
        ("chebyshev", None),
        ("cosine", None),
        ("correlation", None),
        ("minkowski", {"p": 3}),
        ("canberra", None),
        ("seuclidean", {"V": [1.0, 2.0, 3.0, 4.0, 5.0]}),
    ],
)
@pytest.mark.filterwarnings("ignore::planish.exceptions.NegativeEigenvalueWarning")
def test_classical_mds(blob, metric, params, solver):
    theirs = sklearn.manifold.ClassicalMDS(3, metric=metric, metric_params=params).fit(blob)
    ours = ClassicalMDS(3, metric=metric, metric_params=params, eigen_solver=solver).fit(blob)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.embedding_, theirs.embedding_)
    np.testing.assert_allclose(
        ours.dissimilarity_matrix_, theirs.dissimilarity_matrix_, rtol=1e-9, atol=1e-7
    )
    assert np.array_equal(ours.transform(blob), ours.embedding_)


def test_classical_mds_callable(blob):
    def metric(a, b):
        return np.abs(a - b).sum()

    ours = ClassicalMDS(metric=metric).fit(blob)
    native = ClassicalMDS(metric="manhattan").fit(blob)
    assert_same_columns(ours.embedding_, native.embedding_)
    assert_same_columns(ours.transform(blob + 0.1), native.transform(blob + 0.1))


def test_classical_mds_precomputed(blob):
    D = squareform(pdist(blob))
    theirs = sklearn.manifold.ClassicalMDS(4, metric="precomputed").fit(D)
    ours = ClassicalMDS(4, metric="precomputed").fit(D)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.embedding_, theirs.embedding_)
    assert np.array_equal(ours.dissimilarity_matrix_, D)


def test_classical_mds_of_euclidean_distances_is_pca(blob):
    pca = PCA(5).fit(blob)
    for mds in (
        ClassicalMDS(5).fit(blob),
        ClassicalMDS(5, metric="precomputed").fit(squareform(pdist(blob))),
    ):
        assert_same_columns(mds.embedding_, pca.transform(blob), rtol=1e-9)
        np.testing.assert_allclose(mds.eigenvalues_, pca.singular_values_**2, rtol=1e-9)


def test_classical_mds_places_new_points_where_pca_does(blob):
    new = blob[:10] + 0.3
    pca = PCA(5).fit(blob)
    mds = ClassicalMDS(5).fit(blob)
    assert_same_columns(
        np.vstack([mds.embedding_, mds.transform(new)]),
        np.vstack([pca.transform(blob), pca.transform(new)]),
        rtol=1e-9,
    )
    # From distances alone: every distance to a training row is kept.
    given = ClassicalMDS(5, metric="precomputed").fit(squareform(pdist(blob)))
    placed = given.transform(cdist(new, blob))
    np.testing.assert_allclose(cdist(placed, given.embedding_), cdist(new, blob), rtol=1e-8)


def test_classical_mds_origin(blob):
    D = squareform(pdist(blob))
    at_row = ClassicalMDS(5, metric="precomputed", origin=7).fit(D).embedding_
    np.testing.assert_allclose(at_row[7], 0.0, atol=1e-10)
    np.testing.assert_allclose(squareform(pdist(at_row)), D, rtol=1e-9, atol=1e-9)
    weights = np.zeros(len(blob))
    weights[[3, 5]] = 0.5
    at_middle = ClassicalMDS(5, metric="precomputed", origin=weights).fit(D).embedding_
    np.testing.assert_allclose(at_middle[3], -at_middle[5], atol=1e-10)
    mean = ClassicalMDS(5, metric="precomputed").fit(D).embedding_
    np.testing.assert_allclose(mean.mean(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack"])
@pytest.mark.parametrize(
    "kernel", ["linear", "poly", "rbf", "cosine", "laplacian", "additive_chi2", "precomputed"]
)
def test_kernel_mds(blob, kernel, solver):
    X = np.abs(blob) / 10  # additive_chi2 wants no negative numbers
    new = X[:9] + 0.05
    name = "rbf" if kernel == "precomputed" else kernel
    params = {"gamma": 0.2, "degree": 2, "coef0": 0.5}
    K = pairwise_kernels(X, metric=name, filter_params=True, **params)
    K_new = pairwise_kernels(new, X, metric=name, filter_params=True, **params)
    theirs = sklearn.decomposition.KernelPCA(3, kernel="precomputed").fit(K)
    ours = KernelMDS(3, kernel=kernel, eigen_solver=solver, **params)
    ours.fit(K if kernel == "precomputed" else X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    placed = ours.transform(K_new if kernel == "precomputed" else new)
    assert_same_columns(
        np.vstack([ours.embedding_, placed]),
        np.vstack([theirs.transform(K), theirs.transform(K_new)]),
    )
    assert_same_columns(ours.eigenvectors_, theirs.eigenvectors_)


def test_kernel_mds_sparse_callable_and_default_gamma(blob):
    X = sparse.random(80, 12, density=0.4, format="csr", random_state=1)
    theirs = sklearn.decomposition.KernelPCA(3, kernel="rbf").fit(X.toarray())
    ours = KernelMDS(3, kernel="rbf").fit(X)
    assert ours.gamma_ == pytest.approx(1 / 12)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.transform(X[:20]), theirs.transform(X.toarray()[:20]))

    def kernel(a, b, power=1):
        return (a @ b) ** power

    squared = KernelMDS(3, kernel=kernel, kernel_params={"power": 2}).fit(blob)
    poly = KernelMDS(3, kernel="poly", degree=2, gamma=1.0, coef0=0.0).fit(blob)
    np.testing.assert_allclose(squared.eigenvalues_, poly.eigenvalues_, rtol=1e-9)
    assert_same_columns(squared.transform(blob + 0.1), poly.transform(blob + 0.1))


# ---- Isomap ---------------------------------------------------------------------------


def assert_same_isomap(ours, theirs, X, new, rtol=1e-7):
    np.testing.assert_allclose(ours.eigenvalues_, theirs.kernel_pca_.eigenvalues_, rtol=1e-8)
    assert_same_columns(
        np.vstack([ours.embedding_, ours.transform(new)]),
        np.vstack([theirs.embedding_, theirs.transform(new)]),
        rtol=rtol,
    )
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-9, atol=1e-9)
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-6)
    assert np.array_equal(ours.transform(X), ours.embedding_)


@pytest.mark.parametrize("eigen_solver", ["auto", "dense", "arpack"])
@pytest.mark.parametrize(
    "given",
    [
        {"n_neighbors": 7},
        {"n_neighbors": 12, "n_components": 3},
        {"n_neighbors": None, "radius": 6.0},
    ],
    ids=str,
)
def test_isomap(roll, given, eigen_solver):
    theirs = sklearn.manifold.Isomap(**given).fit(roll)
    ours = Isomap(**given, eigen_solver=eigen_solver).fit(roll)
    assert ours.n_connected_components_ == 1
    assert_same_isomap(ours, theirs, roll, roll[:30] + 0.1)


@pytest.mark.parametrize("path_method", ["auto", "D", "FW", "batch", "sweep"])
@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
def test_isomap_ways_agree(roll, path_method, algorithm):
    theirs = sklearn.manifold.Isomap(n_neighbors=9).fit(roll)
    ours = Isomap(n_neighbors=9, path_method=path_method, neighbors_algorithm=algorithm).fit(roll)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-9, atol=1e-9)
    assert_same_columns(ours.embedding_, theirs.embedding_)


@pytest.mark.parametrize(
    ("metric", "more"),
    [
        ("manhattan", {}),
        ("chebyshev", {}),
        ("cosine", {}),
        ("minkowski", {"p": 3}),
        ("canberra", {}),
        ("braycurtis", {}),
        ("seuclidean", {"metric_params": {"V": np.array([1.0, 2.0, 3.0, 4.0, 5.0])}}),
    ],
)
def test_isomap_metrics(blob, metric, more):
    X = np.abs(blob)
    theirs = sklearn.manifold.Isomap(n_neighbors=15, metric=metric, **more).fit(X)
    ours = Isomap(n_neighbors=15, metric=metric, **more).fit(X)
    assert_same_isomap(ours, theirs, X, X[:12] + 0.05)


def test_isomap_callable(blob):
    def metric(a, b):
        return np.abs(a - b).max()

    ours = Isomap(n_neighbors=15, metric=metric).fit(blob)
    native = Isomap(n_neighbors=15, metric="chebyshev").fit(blob)
    assert_same_columns(ours.embedding_, native.embedding_)
    assert_same_columns(ours.transform(blob + 0.1), native.transform(blob + 0.1))
    assert ours.nbrs_.effective_metric_ is metric


def test_isomap_precomputed_distances(roll):
    D = squareform(pdist(roll))
    new = cdist(roll[:20] + 0.1, roll)
    theirs = sklearn.manifold.Isomap(n_neighbors=8, metric="precomputed").fit(D)
    ours = Isomap(n_neighbors=8, metric="precomputed").fit(D)
    assert_same_isomap(ours, theirs, D, new)
    from_points = Isomap(n_neighbors=8).fit(roll)
    assert_same_columns(ours.embedding_, from_points.embedding_)


def test_isomap_precomputed_graph(roll):
    search = NearestNeighbors(n_neighbors=10).fit(roll)
    graph = search.kneighbors_graph(roll, mode="distance")  # each row lists itself first
    new = search.kneighbors_graph(roll[:20] + 0.1, mode="distance")
    theirs = sklearn.manifold.Isomap(n_neighbors=8, metric="precomputed").fit(graph)
    ours = Isomap(n_neighbors=8, metric="precomputed").fit(graph)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.kernel_pca_.eigenvalues_, rtol=1e-8)
    assert_same_columns(
        np.vstack([ours.embedding_, ours.transform(new)]),
        np.vstack([theirs.embedding_, theirs.transform(new)]),
    )


def test_isomap_takes_our_own_graph(roll):
    graph = planish.neighbors_graph(roll, n_neighbors=9)
    by_graph = Isomap(n_neighbors=9, metric="precomputed").fit(graph)
    by_points = Isomap(n_neighbors=9).fit(roll)
    assert_same_columns(by_graph.embedding_, by_points.embedding_, rtol=1e-9)
    np.testing.assert_allclose(by_graph.dist_matrix_, planish.geodesic_distances(graph), rtol=1e-12)


def test_isomap_sparse_points(roll):
    X = sparse.random(150, 10, density=0.5, format="csr", random_state=2)
    dense = Isomap(n_neighbors=20).fit(X.toarray())
    thin = Isomap(n_neighbors=20).fit(X)
    np.testing.assert_allclose(thin.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    assert_same_columns(thin.embedding_, dense.embedding_)
    assert_same_columns(thin.transform(X[:30] * 1.01), dense.transform(X[:30].toarray() * 1.01))


def test_isomap_float32(roll):
    single = roll.astype(np.float32)
    theirs = sklearn.manifold.Isomap(n_neighbors=8).fit_transform(single.astype(float))
    assert_same_columns(Isomap(n_neighbors=8).fit_transform(single), theirs, rtol=1e-6)


def test_isomap_graph_attribute_is_the_neighbourhood_graph(roll):
    ours = Isomap(n_neighbors=6).fit(roll)
    directed = kneighbors_graph(roll, 6, mode="distance")
    undirected = directed.maximum(directed.T).toarray()
    np.testing.assert_allclose(ours.graph_.toarray(), undirected, rtol=1e-9, atol=1e-9)
    assert np.array_equal(ours.component_labels_, np.zeros(len(roll)))


def test_isomap_keeps_grid_distances():
    # On a grid with 4 neighbours paths are taxicab; on a line they are exact.
    line = np.linspace(0, 1, 50)[:, None] * [[3.0, 4.0]]
    Y = Isomap(n_neighbors=2, n_components=1).fit_transform(line)
    np.testing.assert_allclose(np.abs(Y - Y.T), cdist(line, line), atol=1e-9)


def test_isomap_unrolls(roll):
    X = swiss_roll(1500, seed=5)
    Y = Isomap(n_neighbors=10).fit_transform(X)
    angle = np.hypot(X[:, 0], X[:, 2])
    arc = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2
    truth = np.column_stack([arc, X[:, 1]])
    design = np.column_stack([Y, np.ones(len(Y))])
    left = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    centred = truth - truth.mean(axis=0)
    assert (left**2).sum() / (centred**2).sum() < 0.02


# scikit-learn adds its bridge to a CSR matrix entry by entry.
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_isomap_bridges_components(two_islands):
    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        ours = Isomap(n_neighbors=4).fit(two_islands)
    with pytest.warns(UserWarning, match="number of connected components"):
        theirs = sklearn.manifold.Isomap(n_neighbors=4).fit(two_islands)
    # Two components have one closest pair, so both libraries build the same graph.
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-9, atol=1e-9)
    assert_same_columns(ours.embedding_, theirs.embedding_)
    assert ours.n_connected_components_ == 2
    assert np.array_equal(ours.component_labels_, np.repeat([0, 1], 20))
    between = cdist(two_islands[:20], two_islands[20:])
    i, j = np.unravel_index(between.argmin(), between.shape)
    assert sorted(ours.bridges_[0]) == [i, j + 20]


@pytest.mark.parametrize("metric", ["canberra", lambda a, b: np.abs(a - b).sum()])
def test_isomap_bridges_foreign_metrics(two_islands, metric):
    X = two_islands
    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        ours = Isomap(n_neighbors=4, metric=metric).fit(X)
    D = pairwise_distances(X, metric=metric)
    with pytest.warns(DisconnectedGraphWarning):
        given = Isomap(n_neighbors=4, metric="precomputed").fit(D)
    assert np.array_equal(ours.embedding_, given.embedding_)
    assert np.array_equal(ours.transform(X), ours.embedding_)


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
    expected = shortest_path(graph, directed=False)
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
    assert large >= 10_000**2 * 4
    assert planish.estimate_memory(PCA(n_components=2), 1_000_000, 10) < 1e9
    tree = planish.estimate_memory(Isomap(metric=lambda a, b: 0.0), 1_000, 3)
    assert tree >= small // 2
    few = planish.estimate_memory("ClassicalMDS", 5_000, 3, metric="precomputed")
    assert few >= planish.estimate_memory("ClassicalMDS", 500, 3, metric="precomputed")
