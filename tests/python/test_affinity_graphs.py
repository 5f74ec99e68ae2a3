"""What Laplacian eigenmaps and diffusion maps share."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from conftest import assert_same_columns, cycle, swiss_roll
from planish import (
    DiffusionMaps,
    SpectralEmbedding,
    estimate_memory,
    neighbors_graph,
    spectral_embedding,
)
from planish.exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    ParameterError,
    PlanishError,
    PlanishWarning,
    RankDeficientWarning,
)

BOTH = [SpectralEmbedding(n_neighbors=10), DiffusionMaps(n_neighbors=20)]


@pytest.fixture(params=BOTH, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


def test_arbitrary_directions_of_an_eigenspace_are_reported():
    X = swiss_roll(200)
    with pytest.warns(RankDeficientWarning, match=r"arbitrary.*raise `gamma`"):
        SpectralEmbedding(affinity="rbf", gamma=1e-20).fit(X)
    with pytest.warns(RankDeficientWarning, match=r"arbitrary.*lower `epsilon`"):
        DiffusionMaps(n_neighbors=None, epsilon=1e20).fit(X)
    with pytest.warns(RankDeficientWarning, match=r"column 3 .*n_components=2"):
        spectral_embedding(cycle(40), n_components=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlanishWarning)
        spectral_embedding(cycle(40), n_components=2)
        for estimator in BOTH:
            clone(estimator).fit(X)


def test_training_rows_of_a_graph_need_no_stored_zero(estimator):
    X = swiss_roll(300)
    graph = neighbors_graph(X, n_neighbors=10)
    assert graph.diagonal().sum() == 0
    assert graph.nnz == 3000
    given = clone(estimator).set_params(metric="precomputed", n_neighbors=10).fit(graph)
    assert np.array_equal(given.transform(graph), given.embedding_)
    assert np.array_equal(given.transform(graph[[7]]), given.embedding_[[7]])


def test_components_of_a_given_graph_stay_separate(estimator):
    one = neighbors_graph(swiss_roll(80), n_neighbors=10)
    graph = sparse.csr_array(sparse.block_diag([one, one[:60, :60]]))
    # The graph of the first sixty rows may itself fall apart.
    components, labels = csgraph.connected_components(graph, directed=False)
    given = clone(estimator).set_params(
        metric="precomputed", n_neighbors=10, n_components=components
    )
    with pytest.warns(DisconnectedGraphWarning, match="only separate them"):
        given.fit(graph)
    assert given.n_connected_components_ == components
    assert len(np.unique(given.component_labels_)) == components
    assert len(np.unique(np.column_stack([labels, given.component_labels_]), axis=0)) == components
    inside = [
        np.ptp(given.embedding_[labels == label, : components - 1], axis=0).max()
        for label in range(components)
    ]
    assert max(inside) < 1e-12


# -- what both share ------------------------------------------------------------------
def test_training_rows_and_batches(estimator):
    X = swiss_roll(500)
    estimator.fit(X)
    assert np.array_equal(estimator.transform(X), estimator.embedding_)
    new = swiss_roll(30, seed=8)
    together = estimator.transform(new)
    assert np.array_equal(np.vstack([estimator.transform(row[None]) for row in new]), together)


def test_new_rows_land_beside_their_neighbours(estimator):
    X = swiss_roll(1500)
    estimator.fit(X)
    new = X[::10] + 0.02
    moved = np.linalg.norm(estimator.transform(new) - estimator.embedding_[::10], axis=1)
    assert np.median(moved) < 0.05 * np.linalg.norm(np.ptp(estimator.embedding_, axis=0))


def test_points_distances_and_metrics_agree(estimator):
    X = swiss_roll(300)

    def distance(a, b):
        return np.sqrt(((a - b) ** 2).sum())

    native = clone(estimator).fit(X)
    given = clone(estimator).set_params(metric="precomputed").fit(squareform(pdist(X)))
    foreign = clone(estimator).set_params(metric=distance).fit(X)
    thin = clone(estimator).fit(sparse.csr_array(X))
    new = X[:10] + 0.01
    placed = native.transform(new)
    for other, rows in ((given, cdist(new, X)), (foreign, new), (thin, sparse.csr_array(new))):
        assert_same_columns(other.embedding_, native.embedding_, 1e-6)
        assert_same_columns(other.transform(rows), placed, 1e-6)


def test_a_graph_of_distances_is_its_own_neighbourhood(estimator):
    X = swiss_roll(400)
    k = estimator.n_neighbors - isinstance(estimator, SpectralEmbedding)  # counts the row itself
    points = clone(estimator).fit(X)
    given = clone(estimator).set_params(metric="precomputed", n_neighbors=k)
    given.fit(neighbors_graph(X, n_neighbors=k))
    if isinstance(estimator, SpectralEmbedding):
        assert_same_columns(given.embedding_, points.embedding_, 1e-6)
    else:  # only the automatic width sees less: the edges alone
        assert 0.01 * points.epsilon_ < given.epsilon_ < 10 * points.epsilon_
        given.set_params(epsilon=points.epsilon_).fit(neighbors_graph(X, n_neighbors=k))
        assert_same_columns(given.embedding_, points.embedding_, 1e-5)
    assert np.isfinite(given.transform(neighbors_graph(X, n_neighbors=k, query=X[:5] + 0.1))).all()


def two_clusters(shift=100.0):
    rng = np.random.default_rng(0)
    one, other = rng.random((120, 3)), rng.random((90, 3))
    return np.vstack([one, other + np.array([shift, 0.0, 0.0])])


def test_two_clusters_under_each_policy(estimator):
    X = two_clusters()
    # A column may live in one cluster alone; of four, some live in each.
    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        both = clone(estimator).set_params(n_components=4).fit(X)
    assert both.n_connected_components_ == 2
    assert np.array_equal(both.component_labels_, np.repeat([0, 1], [120, 90]))
    assert np.isfinite(both.embedding_).all()
    total = both.embedding_.std(axis=0).max()
    for component in (slice(0, 120), slice(120, None)):
        assert both.embedding_[component].std(axis=0).max() > 1e-3 * total
    assert np.array_equal(both.transform(X), both.embedding_)

    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        largest = clone(estimator).set_params(disconnected="largest").fit(X)
    assert np.isnan(largest.embedding_[120:]).all()
    alone = clone(estimator)
    if hasattr(largest, "epsilon_"):
        alone.set_params(epsilon=largest.epsilon_)  # which the far rows had a say in
    alone.fit(X[:120])
    assert_same_columns(largest.embedding_[:120], alone.embedding_, 1e-6)

    with pytest.raises(DisconnectedGraphError) as caught:
        clone(estimator).set_params(disconnected="error").fit(X)
    assert caught.value.n_components == 2


def finite_or_refused(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        try:
            Y = clone(estimator).fit_transform(X)
        except PlanishError as refusal:
            Y, message = None, str(refusal)
    if Y is None:
        assert len(message) > 20, message
        return None
    assert Y.shape == (len(X), estimator.n_components)
    assert np.isfinite(Y).all()
    return Y


AWKWARD = {
    "twenty points twenty times": np.repeat(np.random.default_rng(0).random((20, 3)), 20, axis=0),
    "constant": np.full((40, 3), 7.0),
    "one feature": np.linspace(0, 1, 50)[:, None],
    "three points": np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]),
    "one far row": np.vstack([np.random.default_rng(0).random((60, 2)), [[1e9, 0.0]]]),
    "huge": 1e150 * np.random.default_rng(0).normal(size=(40, 2)),
    "tiny": 1e-150 * np.random.default_rng(0).normal(size=(40, 2)),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_data_is_finite_or_refused(estimator, name):
    X = AWKWARD[name]
    k = min(10, len(X) - 1)
    for small in (estimator.set_params(n_neighbors=k), clone(estimator).set_params(n_components=1)):
        finite_or_refused(small.set_params(n_neighbors=k), X)


def test_dense_kernels_of_awkward_data():
    for X in AWKWARD.values():
        finite_or_refused(SpectralEmbedding(1, affinity="rbf"), X)
        finite_or_refused(DiffusionMaps(1, n_neighbors=None), X)


def test_more_asked_for_than_there_is(estimator):
    X = swiss_roll(20)
    if isinstance(estimator, SpectralEmbedding):
        with pytest.raises(ParameterError, match=r"n_neighbors.*20"):
            clone(estimator).set_params(n_neighbors=50).fit(X)
    else:  # a kernel of all pairs has no more than that
        few, all_pairs = (DiffusionMaps(n_neighbors=k).fit_transform(X) for k in (50, None))
        assert np.array_equal(few, all_pairs)
    for p in (20, 30):
        with pytest.raises(ParameterError, match="n_components"):
            clone(estimator).set_params(n_neighbors=10, n_components=p).fit(X)


@pytest.mark.parametrize(
    "estimator",
    [
        SpectralEmbedding(affinity="rbf", gamma=1 / 3),
        SpectralEmbedding(weights="heat", bandwidth=1.2, n_neighbors=8),
    ],
    ids=["rbf", "heat"],
)
def test_a_row_like_no_other_is_a_component(estimator):
    cloud = np.random.default_rng(0).normal(size=(60, 3))
    X = np.vstack([cloud, [[1e3, 0.0, 0.0]]])
    with pytest.warns(
        DisconnectedGraphWarning, match="number of connected components of the affinities is 2"
    ):
        kept = clone(estimator).set_params(disconnected="largest").fit(X)
    assert np.isnan(kept.embedding_[60]).all()
    assert_same_columns(kept.embedding_[:60], clone(estimator).fit(cloud).embedding_, 1e-8)
    with pytest.warns(DisconnectedGraphWarning, match="only separate them"):
        apart = clone(estimator).fit(X).embedding_[:, 0]
    assert np.ptp(apart[:60]) < 1e-9
    assert abs(apart[60] - apart[0]) > 0.01
    with pytest.raises(DisconnectedGraphError, match=r"`(gamma|bandwidth|epsilon)`") as caught:
        clone(estimator).set_params(disconnected="error").fit(X)
    assert caught.value.labels.tolist() == [0] * 60 + [1]


def test_the_memory_of_a_callable_is_that_of_a_matrix():
    given = estimate_memory(SpectralEmbedding(affinity="precomputed"), 3000, 3)
    assert estimate_memory(SpectralEmbedding(affinity=rbf_kernel), 3000, 3) == given
    by_name = estimate_memory(DiffusionMaps(metric="precomputed"), 3000, 3)
    assert estimate_memory(DiffusionMaps(metric="canberra"), 3000, 3) == by_name


@pytest.mark.parametrize("metric", ["nan_euclidean", "seuclidean", "mahalanobis"])
def test_metrics_that_look_at_all_rows_know_the_training_rows(metric, estimator):
    X = np.random.default_rng(3).normal(size=(60, 4)) + 1000.1
    if metric == "nan_euclidean":
        X[::7, 1] = np.nan
    ours = estimator.set_params(metric=metric).fit(X)
    np.testing.assert_array_equal(ours.transform(X), ours.embedding_)
    np.testing.assert_array_equal(ours.transform(X[:30]), ours.embedding_[:30])
