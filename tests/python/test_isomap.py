"""Isomap against scikit-learn, formulas and known truth."""

import pickle
import re
import warnings

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.manifold
from scipy import sparse
from scipy.sparse import csgraph, csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

import planish
from conftest import assert_same_columns, kernel_prime, rolled, swiss_roll
from planish import (
    ClassicalMDS,
    Isomap,
    KernelIsomap,
    geodesic_distances,
    neighbors_graph,
)
from planish.exceptions import (
    DisconnectedGraphWarning,
    NegativeEigenvalueWarning,
    SlowWarning,
)

# A roll of a few hundred rows has true shortcuts between its sheets.
with_shortcuts = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")


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


@with_shortcuts
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


@with_shortcuts
@pytest.mark.parametrize("path_method", ["auto", "D", "FW", "batch", "sweep"])
@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
def test_isomap_algorithms_agree(roll, path_method, algorithm):
    theirs = sklearn.manifold.Isomap(n_neighbors=9).fit(roll)
    ours = Isomap(n_neighbors=9, path_method=path_method, neighbors_algorithm=algorithm).fit(roll)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-9, atol=1e-9)
    assert_same_columns(ours.embedding_, theirs.embedding_)


@with_shortcuts
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


@with_shortcuts
def test_isomap_callable(blob):
    def metric(a, b):
        return np.abs(a - b).max()

    ours = Isomap(n_neighbors=15, metric=metric).fit(blob)
    native = Isomap(n_neighbors=15, metric="chebyshev").fit(blob)
    assert_same_columns(ours.embedding_, native.embedding_)
    assert_same_columns(ours.transform(blob + 0.1), native.transform(blob + 0.1))
    assert ours.nbrs_.effective_metric_ is metric


@with_shortcuts
def test_isomap_precomputed_distances(roll):
    D = squareform(pdist(roll))
    new = cdist(roll[:20] + 0.1, roll)
    theirs = sklearn.manifold.Isomap(n_neighbors=8, metric="precomputed").fit(D)
    ours = Isomap(n_neighbors=8, metric="precomputed").fit(D)
    assert_same_isomap(ours, theirs, D, new)
    from_points = Isomap(n_neighbors=8).fit(roll)
    assert_same_columns(ours.embedding_, from_points.embedding_)


@with_shortcuts
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


@with_shortcuts
def test_isomap_takes_our_own_graph(roll):
    graph = planish.neighbors_graph(roll, n_neighbors=9)
    by_graph = Isomap(n_neighbors=9, metric="precomputed").fit(graph)
    by_points = Isomap(n_neighbors=9).fit(roll)
    assert_same_columns(by_graph.embedding_, by_points.embedding_, rtol=1e-9)
    np.testing.assert_allclose(by_graph.dist_matrix_, planish.geodesic_distances(graph), rtol=1e-12)


@with_shortcuts
def test_isomap_sparse_points(roll):
    X = sparse.random(150, 10, density=0.5, format="csr", random_state=2)
    dense = Isomap(n_neighbors=20).fit(X.toarray())
    thin = Isomap(n_neighbors=20).fit(X)
    np.testing.assert_allclose(thin.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    assert_same_columns(thin.embedding_, dense.embedding_)
    assert_same_columns(thin.transform(X[:30] * 1.01), dense.transform(X[:30].toarray() * 1.01))


@with_shortcuts
def test_isomap_float32(roll):
    single = roll.astype(np.float32)
    theirs = sklearn.manifold.Isomap(n_neighbors=8).fit_transform(single.astype(float))
    assert_same_columns(Isomap(n_neighbors=8).fit_transform(single), theirs, rtol=1e-6)


@with_shortcuts
def test_isomap_graph_attribute_is_the_neighbourhood_graph(roll):
    ours = Isomap(n_neighbors=6).fit(roll)
    directed = kneighbors_graph(roll, 6, mode="distance")
    undirected = directed.maximum(directed.T).toarray()
    np.testing.assert_allclose(ours.graph_.toarray(), undirected, rtol=1e-9, atol=1e-9)
    assert np.array_equal(ours.component_labels_, np.zeros(len(roll)))


@with_shortcuts
def test_isomap_keeps_grid_distances():
    # On a grid with 4 neighbours paths are taxicab; on a line they are exact.
    line = np.linspace(0, 1, 50)[:, None] * [[3.0, 4.0]]
    Y = Isomap(n_neighbors=2, n_components=1).fit_transform(line)
    np.testing.assert_allclose(np.abs(Y - Y.T), cdist(line, line), atol=1e-9)


@with_shortcuts
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
@with_shortcuts
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


@with_shortcuts
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_added_edges_are_warned_of_in_units_of_the_data(two_islands, scale):
    with pytest.warns(DisconnectedGraphWarning) as caught:
        Isomap(n_neighbors=4).fit(two_islands * scale)
    (text,) = [str(w.message) for w in caught if w.category is DisconnectedGraphWarning]
    longest = float(re.search(r"longest ([^)]+)\)", text)[1])
    between = cdist(two_islands[:20], two_islands[20:]).min()
    assert longest / scale == pytest.approx(between, rel=1e-3)


@with_shortcuts
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


# -- conformal ------------------------------------------------------------------------
def conformal_geodesics(X, k):
    D = squareform(pdist(X))
    near = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, :k]
    spread = np.take_along_axis(D, near, axis=1).mean(axis=1)
    W = np.full(D.shape, np.inf)
    for i, row in enumerate(near):
        for j in row:
            W[i, j] = W[j, i] = D[i, j] / np.sqrt(spread[i] * spread[j])
    return csgraph.shortest_path(np.where(np.isinf(W), 0, W), directed=False), spread


def test_conformal_lengths_are_those_of_the_paper(roll):
    isomap = Isomap(n_neighbors=8, conformal=True).fit(roll)
    expected, _ = conformal_geodesics(roll, 8)
    np.testing.assert_allclose(isomap.dist_matrix_, expected, rtol=1e-10, atol=1e-12)


def test_conformal_recovers_a_fishbowl():
    # A sphere without its cap, sampled from a disc: a conformal map of the disc
    # with very uneven spacing, which plain Isomap cannot flatten.
    rng = np.random.default_rng(0)
    radius, angle = 2.2 * np.sqrt(rng.random(1500)), 2 * np.pi * rng.random(1500)
    disc = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    square = (disc**2).sum(axis=1)
    bowl = np.column_stack([2 * disc, square - 1]) / (square + 1)[:, None]

    def misfit(Y):
        A = np.column_stack([Y, np.ones(len(Y))])
        rest = disc - A @ np.linalg.lstsq(A, disc, rcond=None)[0]
        return (rest**2).sum() / ((disc - disc.mean(axis=0)) ** 2).sum()

    conformal = misfit(Isomap(n_neighbors=15, conformal=True).fit_transform(bowl))
    plain = misfit(Isomap(n_neighbors=15).fit_transform(bowl))
    assert conformal < 0.02
    assert conformal < 0.5 * plain


def test_conformal_has_no_unit_and_places_training_rows_exactly(roll):
    isomap = Isomap(n_neighbors=8, conformal=True).fit(roll)
    larger = Isomap(n_neighbors=8, conformal=True).fit(1000 * roll)
    np.testing.assert_allclose(isomap.embedding_, larger.embedding_, rtol=1e-9, atol=1e-9)
    assert np.array_equal(isomap.transform(roll), isomap.embedding_)
    # A row next to a training row lands next to it.
    beside = roll[:20] + 1e-9
    np.testing.assert_allclose(isomap.transform(beside), isomap.embedding_[:20], atol=1e-4)


def test_conformal_survives_duplicates():
    X = np.repeat(swiss_roll(60), 6, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        isomap = Isomap(n_neighbors=8, conformal=True).fit(X)
    assert np.isfinite(isomap.embedding_).all()
    assert np.array_equal(isomap.embedding_[::6], isomap.embedding_[5::6])


# -- storage --------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::planish.exceptions.NegativeEigenvalueWarning")
def test_all_ways_of_storing_agree():
    X = swiss_roll(900)
    exact = Isomap(n_neighbors=8, n_components=3, storage="float64").fit(X)
    anew = Isomap(n_neighbors=8, n_components=3, storage="recompute").fit(X)
    narrow = Isomap(n_neighbors=8, n_components=3, storage="float32").fit(X)
    fixed = Isomap(n_neighbors=8, n_components=3).fit(X)
    assert (exact.storage_, anew.storage_, narrow.storage_) == ("float64", "recompute", "float32")
    assert fixed.storage_ == "fixed48"
    assert 0 < fixed.storage_error_ < 1e-14
    np.testing.assert_allclose(fixed.eigenvalues_, exact.eigenvalues_, rtol=1e-12)
    assert_same_columns(fixed.embedding_, exact.embedding_, 1e-9)
    assert exact.storage_error_ == anew.storage_error_ == 0.0
    assert 0 < narrow.storage_error_ < 6e-8
    np.testing.assert_allclose(anew.eigenvalues_, exact.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(narrow.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    assert_same_columns(anew.embedding_, exact.embedding_, 1e-9)
    assert_same_columns(narrow.embedding_, exact.embedding_, 1e-5)
    new = swiss_roll(30, seed=4)
    assert_same_columns(anew.transform(new), exact.transform(new), 1e-9)
    assert anew.reconstruction_error() == pytest.approx(exact.reconstruction_error(), rel=1e-9)


def test_recomputing_has_the_same_bits_on_any_number_of_threads():
    X = swiss_roll(700)
    one, two = (
        Isomap(n_neighbors=8, storage="recompute", n_jobs=jobs).fit_transform(X) for jobs in (1, 2)
    )
    assert np.array_equal(one, two)


def test_what_does_not_fit_is_recomputed_with_a_warning(monkeypatch):
    from planish import _core, _embedding

    class Small:
        def __getattr__(self, name):
            return getattr(_core, name)

        def fit(self, *arguments):
            *others, _, callback = arguments
            return _core.fit(*others, 25_000_000, callback)

    X = swiss_roll(3000)
    expected = Isomap(n_neighbors=8).fit_transform(X)
    monkeypatch.setattr(_embedding, "_core", Small())
    with pytest.warns(SlowWarning, match="LandmarkIsomap"):
        isomap = Isomap(n_neighbors=8).fit(X)
    assert isomap.storage_ == "recompute"
    assert_same_columns(isomap.embedding_, expected, 1e-9)
    with pytest.raises(MemoryError, match="LandmarkIsomap"):
        Isomap(n_neighbors=8, storage="float64").fit(X)


# -- theory ---------------------------------------------------------------------------
def test_graph_distances_approach_the_true_ones_from_both_sides():
    """Bernstein et al. 2000: (1 - l1) d <= d_G <= (1 + l2) d, tighter with density."""
    widths = []
    for n in (1000, 4000, 16000):
        points, flat = rolled(n, 0)
        sources = np.arange(40)
        graph = neighbors_graph(points, n_neighbors=int(10 * (n / 1000) ** 0.25))
        graph = csr_array(graph.maximum(graph.T))
        found = geodesic_distances(graph, sources=sources)
        true = cdist(flat[sources], flat)
        far = true > 5.0
        ratio = found[far] / true[far]
        # Straight edges cut corners a little; zigzags lengthen.
        assert ratio.min() > 0.985
        widths.append(np.quantile(ratio, 0.999) - 1)
    assert widths[0] < 0.30
    assert widths[2] < 0.6 * widths[0]
    assert widths[1] < widths[0]


def test_negative_eigenvalues_and_their_remedy(roll):
    with pytest.warns(NegativeEigenvalueWarning):
        Isomap(n_neighbors=8, n_components=300).fit(roll)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NegativeEigenvalueWarning)
        KernelIsomap(n_neighbors=8, n_components=390).fit(roll)


def test_reconstruction_error_is_what_is_missing():
    X = swiss_roll(150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        isomap = Isomap(n_neighbors=8, n_components=120).fit(X)
    K = kernel_prime(isomap.dist_matrix_, 0.0)
    Y = isomap.embedding_
    expected = np.linalg.norm(K - Y @ Y.T) / len(K)
    assert isomap.reconstruction_error() == pytest.approx(expected, rel=1e-9)


def test_kernel_pca_has_scikit_learns_eigenpairs(roll):
    theirs = sklearn.manifold.Isomap(n_neighbors=8, n_components=3).fit(roll).kernel_pca_
    ours = Isomap(n_neighbors=8, n_components=3).fit(roll).kernel_pca_
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.eigenvectors_, theirs.eigenvectors_)


@pytest.mark.filterwarnings("ignore::planish.exceptions.RankDeficientWarning")
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "canberra", "sqeuclidean"])
def test_an_infinite_radius_makes_all_rows_neighbours(blob, metric):
    isomap = Isomap(n_neighbors=None, radius=np.inf, metric=metric).fit(blob)
    every = Isomap(n_neighbors=len(blob) - 1, metric=metric).fit(blob)
    assert np.array_equal(isomap.dist_matrix_, every.dist_matrix_)
    assert_same_columns(isomap.embedding_, every.embedding_, 1e-9)
    assert np.array_equal(isomap.transform(blob), isomap.embedding_)
    if metric in ("minkowski", "manhattan"):  # all pairs are edges, so paths are distances
        metric = {"minkowski": "euclidean"}.get(metric, metric)
        mds = ClassicalMDS(2, metric=metric).fit(blob)
        assert_same_columns(isomap.embedding_, mds.embedding_, 1e-9)


def test_dist_matrix_is_computed_when_its_numbers_are_used(roll, monkeypatch):
    isomap = Isomap(n_neighbors=8).fit(roll)
    asked = []
    compute = Isomap._progress
    monkeypatch.setattr(Isomap, "_progress", lambda *a: asked.append(a[1]) or compute(*a))
    assert hasattr(isomap, "dist_matrix_")
    lazy = isomap.dist_matrix_
    assert (lazy.shape, lazy.ndim, lazy.dtype, len(lazy)) == ((400, 400), 2, np.float64, 400)
    assert lazy.nbytes == 8 * 400 * 400
    assert "computed when first used" in repr(lazy)
    assert not hasattr(lazy, "_repr_html_")
    assert asked == []
    first = np.asarray(lazy)
    assert np.asarray(lazy) is first
    assert asked == ["dist_matrix"]
    # It is an array to NumPy, SciPy and scikit-learn.
    assert np.array_equal(lazy + 1, first + 1)
    assert np.array_equal(2.0 - lazy[3:5], 2.0 - first[3:5])
    assert np.sqrt(lazy).max() == np.sqrt(first).max() == pytest.approx(lazy.max() ** 0.5)
    assert np.array_equal(squareform(lazy, checks=False), squareform(first, checks=False))
    assert np.array_equal(pickle.loads(pickle.dumps(lazy)), first)
