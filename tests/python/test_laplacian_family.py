"""Laplacian eigenmaps and diffusion maps, against formulas, scikit-learn and known spectra."""

import itertools
import re
import warnings

import numpy as np
import pytest
import sklearn.manifold
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from conftest import affine_residual, assert_same_columns, rolled, swiss_roll
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
    InputAdjustedWarning,
    InputError,
    MemoryNeedError,
    ParameterError,
    PlanishError,
    PlanishWarning,
    RankDeficientWarning,
)

BOTH = [SpectralEmbedding(n_neighbors=10), DiffusionMaps(n_neighbors=20)]


@pytest.fixture(params=BOTH, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


def cycle(n):
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


def symmetric_rbf(X, gamma):
    # scikit-learn's kernel is symmetric only up to rounding.
    return np.exp(-gamma * squareform(pdist(X, "sqeuclidean")))


# -- Laplacian eigenmaps and scikit-learn ---------------------------------------------


@pytest.mark.parametrize("solver", [None, "arpack", "lobpcg", "amg", "dense"])
def test_nearest_neighbours_as_in_scikit_learn(solver):
    X = swiss_roll(800)
    theirs = sklearn.manifold.SpectralEmbedding(3, n_neighbors=10, random_state=0).fit(X)
    ours = SpectralEmbedding(3, n_neighbors=10, eigen_solver=solver).fit(X)
    assert_same_columns(ours.embedding_, theirs.embedding_, 1e-6)
    assert ours.n_neighbors_ == 10
    mine, yours = ours.affinity_matrix_, sparse.csr_array(theirs.affinity_matrix_)
    assert abs(mine - yours).max() == 0


@pytest.mark.parametrize("normalised", [True, False])
def test_the_residuals_are_those_of_the_laplacian(normalised):
    # Affinities of an odd size: the residuals of the plain Laplacian have their unit.
    W = neighbors_graph(swiss_roll(600), n_neighbors=8).power(0.5)
    W = 1000 * (W + W.T)
    ours = SpectralEmbedding(3, affinity="precomputed", norm_laplacian=normalised).fit(W)
    L, root = csgraph.laplacian(W, normed=normalised, return_diag=True)
    V = ours.embedding_ * (root[:, None] if normalised else 1.0)
    expected = np.linalg.norm(L @ V - V * ours.eigenvalues_, axis=0)
    size = 2.0 if normalised else 2 * W.sum(axis=1).max()
    np.testing.assert_allclose(ours.eigenvalue_residuals_, expected, rtol=0.1, atol=1e-14 * size)
    assert (ours.eigenvalue_residuals_ < 1e-9 * size).all()


def test_the_residuals_are_those_of_the_walk():
    X = swiss_roll(300)
    maps = DiffusionMaps(3, n_neighbors=None, epsilon=4.0).fit(X)
    K = np.exp(-squareform(pdist(X, "sqeuclidean")) / 4.0)
    K /= np.outer(K.sum(axis=1), K.sum(axis=1))
    root = np.sqrt(K.sum(axis=1))
    V = maps.eigenvectors_ * np.sqrt(maps.stationary_distribution_)[:, None]
    expected = np.linalg.norm(K / np.outer(root, root) @ V - V * maps.eigenvalues_, axis=0)
    np.testing.assert_allclose(maps.eigenvalue_residuals_, expected, rtol=0.1, atol=1e-13)
    assert (maps.eigenvalue_residuals_ < 1e-10).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_constant_column_of_rows_alone_is_finite(form):
    with pytest.warns(DisconnectedGraphWarning):
        Y = spectral_embedding(form(np.eye(6)), n_components=3, drop_first=False)
    np.testing.assert_allclose(Y[:, 0], 1 / np.sqrt(6))
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-12)
    path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    path[4] = path[:, 4] = 0  # a path of four and a row alone
    with pytest.warns(DisconnectedGraphWarning):
        Y = spectral_embedding(form(path), n_components=2, drop_first=False)
    np.testing.assert_allclose(Y[:, 0], 1 / np.sqrt(7))
    assert abs(np.array([1, 2, 2, 1, 1]) @ Y[:, 1]) < 1e-12


def test_a_tenth_of_the_rows_by_default():
    X = swiss_roll(400)
    theirs = sklearn.manifold.SpectralEmbedding(random_state=0).fit(X)
    ours = SpectralEmbedding().fit(X)
    assert ours.n_neighbors_ == theirs.n_neighbors_ == 40
    assert_same_columns(ours.embedding_, theirs.embedding_, 1e-6)


@pytest.mark.parametrize("gamma", [None, 0.01])
@pytest.mark.filterwarnings("ignore::planish.exceptions.InputAdjustedWarning")
def test_rbf_as_in_scikit_learn(gamma):
    X = np.random.default_rng(0).normal(size=(300, 3)) * [3, 2, 1]
    theirs = sklearn.manifold.SpectralEmbedding(2, affinity="rbf", gamma=gamma, random_state=0).fit(
        X
    )
    for affinity in ("rbf", lambda a, b=None: rbf_kernel(a, b, gamma=gamma)):
        ours = SpectralEmbedding(2, affinity=affinity, gamma=gamma).fit(X)
        assert_same_columns(ours.embedding_, theirs.embedding_, 1e-6)
        np.testing.assert_allclose(ours.affinity_matrix_, theirs.affinity_matrix_, rtol=1e-9)
    assert SpectralEmbedding(affinity="rbf", gamma=gamma).fit(X).gamma_ == theirs.gamma_


def test_precomputed_as_in_scikit_learn():
    X = swiss_roll(500)
    W = symmetric_rbf(X, 0.05)
    thin = kneighbors_graph(X, 9, include_self=False)
    thin = sparse.csr_array(0.5 * (thin + thin.T))
    for given in (W, thin, thin.toarray()):
        theirs = sklearn.manifold.SpectralEmbedding(
            3, affinity="precomputed", random_state=0
        ).fit_transform(given)
        ours = SpectralEmbedding(3, affinity="precomputed").fit_transform(given)
        assert_same_columns(ours, theirs, 1e-6)


def test_given_neighbours():
    X = swiss_roll(500)
    graph, D = neighbors_graph(X, n_neighbors=12), squareform(pdist(X))
    for k in (8, 12):
        points = SpectralEmbedding(n_neighbors=k + 1).fit(X)  # counts the row itself
        given = SpectralEmbedding(n_neighbors=k, affinity="precomputed_nearest_neighbors")
        assert_same_columns(clone(given).fit_transform(graph), points.embedding_, 1e-6)
        given.set_params(n_neighbors=k + 1)  # a dense row holds its distance to itself
        assert_same_columns(given.fit_transform(D), points.embedding_, 1e-6)
        theirs = sklearn.manifold.SpectralEmbedding(
            n_neighbors=k + 1, affinity="precomputed_nearest_neighbors", random_state=0
        ).fit_transform(D)
        assert_same_columns(points.embedding_, theirs, 1e-6)


@pytest.mark.parametrize("include_self", [True, False])
def test_the_affinities_of_given_neighbours_are_scikit_learns(include_self):
    X = swiss_roll(200)
    G = kneighbors_graph(X, 10, mode="distance", include_self=include_self)
    estimator = SpectralEmbedding(n_neighbors=10, affinity="precomputed_nearest_neighbors")
    for given in (G, squareform(pdist(X))):
        theirs = sklearn.manifold.SpectralEmbedding(
            **{
                name: value
                for name, value in estimator.get_params().items()
                if name in sklearn.manifold.SpectralEmbedding().get_params()
            }
        ).set_params(random_state=0)
        ours = clone(estimator).fit(given).affinity_matrix_
        assert abs(ours - theirs.fit(given).affinity_matrix_).max() == 0


def test_the_number_of_neighbours_is_that_of_the_graph():
    G = kneighbors_graph(swiss_roll(200), 8, mode="distance")
    estimator = SpectralEmbedding(n_neighbors=30, affinity="precomputed_nearest_neighbors")
    assert estimator.fit(G).n_neighbors_ == 8


def test_the_function_is_scikit_learns():
    X = swiss_roll(300)
    W = symmetric_rbf(X, 0.05)
    thin = sparse.csr_array(0.5 * (g := kneighbors_graph(X, 9)) + 0.5 * g.T)
    for given in (W, thin):
        for drop_first in (True, False):
            for p, norm in itertools.product((1, 4), (True, False)):
                keywords = {"n_components": p, "drop_first": drop_first, "norm_laplacian": norm}
                theirs = sklearn.manifold.spectral_embedding(given, random_state=0, **keywords)
                ours = spectral_embedding(given, **keywords)
                assert_same_columns(ours, theirs, 1e-6)
    assert spectral_embedding(W).shape == (300, 8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [12, 101, 600])
def test_the_plain_laplacian_of_a_cycle_and_a_path(n, form):
    waves = np.arange(1, 4)
    keywords = {"affinity": "precomputed", "norm_laplacian": False}
    ours = SpectralEmbedding(2, **keywords).fit(form(cycle(n)))
    np.testing.assert_allclose(ours.eigenvalues_, 2 - 2 * np.cos(2 * np.pi / n), rtol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(ours.embedding_, axis=1), (2 / n) ** 0.5, rtol=1e-6)
    path = cycle(n)
    path[0, -1] = path[-1, 0] = 0.0
    ours = SpectralEmbedding(3, **keywords).fit(form(path))
    np.testing.assert_allclose(ours.eigenvalues_, 2 - 2 * np.cos(np.pi * waves / n), rtol=1e-7)
    exact = np.cos(np.pi * np.outer(np.arange(n) + 0.5, waves) / n) * (2 / n) ** 0.5
    assert_same_columns(ours.embedding_, exact, 1e-6)
    assert np.array_equal(ours.transform(form(path)), ours.embedding_)


def test_the_plain_laplacian_of_points():
    X, new = swiss_roll(300), swiss_roll(20, seed=3)
    ours = SpectralEmbedding(3, affinity="rbf", gamma=0.05, norm_laplacian=False).fit(X)
    W = ours.affinity_matrix_
    values, vectors = eigh(csgraph.laplacian(W), subset_by_index=[0, 3])
    np.testing.assert_allclose(ours.eigenvalues_, values[1:], rtol=1e-8)
    assert_same_columns(ours.embedding_, vectors[:, 1:], 1e-6)
    assert np.array_equal(ours.transform(X), ours.embedding_)
    cross = np.exp(-0.05 * cdist(new, X, "sqeuclidean"))
    above = cross.sum(axis=1, keepdims=True) - ours.eigenvalues_
    sound = (above > 1e-2).all(axis=1)
    assert sound.sum() > 10
    expected = (cross @ ours.embedding_ / above)[sound]
    np.testing.assert_allclose(ours.transform(new[sound]), expected, rtol=1e-6)
    with pytest.raises(InputError, match=r"row 1 .*norm_laplacian"):
        ours.transform(np.vstack([X[:1], X[:1] + 30.0]))


def test_columns_that_are_one_choice_of_many_are_told():
    X = swiss_roll(200)
    with pytest.warns(RankDeficientWarning, match=r"one choice of many.*raise `gamma`"):
        SpectralEmbedding(affinity="rbf", gamma=1e-20).fit(X)
    with pytest.warns(RankDeficientWarning, match=r"one choice of many.*lower `epsilon`"):
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


def test_a_graph_in_pieces_stays_in_pieces(estimator):
    one = neighbors_graph(swiss_roll(80), n_neighbors=10)
    graph = sparse.csr_array(sparse.block_diag([one, one[:60, :60]]))
    # The graph of the first sixty rows may itself fall apart.
    pieces, labels = csgraph.connected_components(graph, directed=False)
    given = clone(estimator).set_params(metric="precomputed", n_neighbors=10, n_components=pieces)
    with pytest.warns(DisconnectedGraphWarning, match="tell them apart"):
        given.fit(graph)
    assert given.n_connected_components_ == pieces
    assert len(np.unique(given.component_labels_)) == pieces
    assert len(np.unique(np.column_stack([labels, given.component_labels_]), axis=0)) == pieces
    inside = [
        np.ptp(given.embedding_[labels == label, : pieces - 1], axis=0).max()
        for label in range(pieces)
    ]
    assert max(inside) < 1e-12


# -- Laplacian eigenmaps and formulas -------------------------------------------------


@pytest.mark.parametrize("n", [12, 101, 600])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_cycle_is_a_circle(n, form):
    ours = SpectralEmbedding(2, affinity="precomputed").fit(form(cycle(n)))
    np.testing.assert_allclose(ours.eigenvalues_, 1 - np.cos(2 * np.pi / n), rtol=1e-7)
    # All nodes at one distance from the middle, and equal steps around it.
    np.testing.assert_allclose(np.linalg.norm(ours.embedding_, axis=1), n**-0.5, rtol=1e-6)
    steps = np.linalg.norm(ours.embedding_ - np.roll(ours.embedding_, 1, axis=0), axis=1)
    np.testing.assert_allclose(steps, 2 * np.sin(np.pi / n) * n**-0.5, rtol=1e-5)


def test_a_path_is_a_cosine():
    n = 80
    path = cycle(n)
    path[0, -1] = path[-1, 0] = 0.0
    ours = SpectralEmbedding(3, affinity="precomputed").fit(path)
    order = np.arange(1, 4)
    np.testing.assert_allclose(ours.eigenvalues_, 1 - np.cos(np.pi * order / (n - 1)), rtol=1e-8)
    waves = np.cos(np.pi * np.outer(np.arange(n), order) / (n - 1))
    assert_same_columns(ours.embedding_ / ours.embedding_[0], waves / waves[0], 1e-7)


@pytest.mark.parametrize("weights", ["connectivity", "heat"])
def test_the_normalised_laplacian_written_out(weights):
    X = swiss_roll(300)
    width = 3.0 if weights == "heat" else "auto"
    ours = SpectralEmbedding(3, n_neighbors=12, weights=weights, bandwidth=width).fit(X)
    W = ours.affinity_matrix_.toarray()
    assert np.array_equal(W, W.T)
    if weights == "heat":
        edges = W > 0
        np.testing.assert_allclose(W[edges], np.exp(-((cdist(X, X) / 3.0) ** 2))[edges], rtol=1e-9)
        assert ours.bandwidth_ == 3.0
    L, root = csgraph.laplacian(W, normed=True, return_diag=True)
    values, vectors = eigh(L, subset_by_index=[0, 3])
    np.testing.assert_allclose(ours.eigenvalues_, values[1:], rtol=1e-8)
    assert_same_columns(ours.embedding_, vectors[:, 1:] / root[:, None], 1e-7)


def test_the_automatic_bandwidth_follows_the_unit():
    X = swiss_roll(300)
    one = SpectralEmbedding(n_neighbors=12, weights="heat").fit(X)
    far = np.sort(cdist(X, X), axis=1)[:, 11]
    assert np.quantile(far, 0.2) < one.bandwidth_ < np.quantile(far, 0.8)
    for unit in (1e-8, 1e6):
        other = SpectralEmbedding(n_neighbors=12, weights="heat").fit(unit * X)
        assert other.bandwidth_ / unit == pytest.approx(one.bandwidth_, rel=1e-9)
        assert_same_columns(other.embedding_, one.embedding_, 1e-7)


def test_columns_are_orthogonal_in_the_degrees():
    X = swiss_roll(500)
    ours = SpectralEmbedding(4, n_neighbors=10).fit(X)
    W = ours.affinity_matrix_.toarray()
    np.fill_diagonal(W, 0)
    degrees = W.sum(axis=1)
    Y = ours.embedding_
    np.testing.assert_allclose(Y.T @ (degrees[:, None] * Y), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(degrees @ Y, 0, atol=1e-8 * np.sqrt(degrees.sum()))


def test_new_rows_by_nystroem():
    X = swiss_roll(300)
    new = swiss_roll(20, seed=3)
    W, cross = symmetric_rbf(X, 0.05), np.exp(-0.05 * cdist(new, X, "sqeuclidean"))
    ours = SpectralEmbedding(2, affinity="precomputed").fit(W)
    expected = cross @ ours.embedding_ / cross.sum(axis=1, keepdims=True) / (1 - ours.eigenvalues_)
    np.testing.assert_allclose(ours.transform(cross), expected, rtol=1e-8)
    points = SpectralEmbedding(2, affinity="rbf", gamma=0.05).fit(X)
    assert_same_columns(points.transform(new), expected, 1e-7)


# -- diffusion maps -------------------------------------------------------------------


def walk(D, epsilon, alpha):
    """The random walk of Coifman and Lafon and its stationary distribution."""
    K = np.exp(-(D**2) / epsilon)
    q = K.sum(axis=1)
    K = K / np.outer(q, q) ** alpha
    d = K.sum(axis=1)
    return K / d[:, None], d / d.sum()


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("t", [0, 1, 2.5])
def test_diffusion_maps_written_out(alpha, t):
    X = np.random.default_rng(0).normal(size=(200, 3)) * [3, 2, 1]
    P, stationary = walk(cdist(X, X), 4.0, alpha)
    root = np.sqrt(stationary)
    values, vectors = eigh(root[:, None] * P / root)
    values, psi = values[::-1][1:4], (vectors / root[:, None])[:, ::-1][:, 1:4]
    maps = DiffusionMaps(3, alpha=alpha, t=t, epsilon=4.0, n_neighbors=None).fit(X)
    np.testing.assert_allclose(maps.eigenvalues_, values, rtol=1e-9)
    np.testing.assert_allclose(maps.stationary_distribution_, stationary, rtol=1e-9)
    assert_same_columns(maps.eigenvectors_, psi, 1e-7)
    assert_same_columns(maps.embedding_, psi * values**t, 1e-7)
    assert maps.epsilon_ == 4.0
    given = DiffusionMaps(
        3, alpha=alpha, t=t, epsilon=4.0, n_neighbors=None, metric="precomputed"
    ).fit(squareform(pdist(X)))
    assert_same_columns(given.embedding_, maps.embedding_, 1e-7)


def test_diffusion_distances_are_distances_between_distributions():
    X = np.random.default_rng(1).normal(size=(40, 2))
    P, stationary = walk(cdist(X, X), 1.0, 1.0)
    P3 = np.linalg.matrix_power(P, 3)
    expected = cdist(P3 / np.sqrt(stationary), P3 / np.sqrt(stationary))
    maps = DiffusionMaps(39, t=3, epsilon=1.0, n_neighbors=None).fit(X)
    np.testing.assert_allclose(maps.diffusion_distances(), expected, atol=1e-9)
    np.testing.assert_allclose(maps.diffusion_distances(X[:5]), expected[:5], atol=1e-9)
    fewer = DiffusionMaps(2, t=3, epsilon=1.0, n_neighbors=None).fit(X).diffusion_distances()
    assert (fewer <= expected + 1e-9).all()


def test_diffusion_distances_that_do_not_fit_are_refused(monkeypatch):
    from planish import _data

    maps = DiffusionMaps().fit(swiss_roll(300))
    monkeypatch.setattr(_data, "available_memory", lambda: 1000)
    with pytest.raises(MemoryNeedError, match="300 × 300"):
        maps.diffusion_distances()


def test_the_first_eigenvector_of_an_interval_is_a_cosine():
    line = np.linspace(0, 1, 400)
    wave = np.cos(np.pi * line)
    for keywords in ({"n_neighbors": None, "epsilon": 1e-3}, {"n_neighbors": 64}):
        maps = DiffusionMaps(1, **keywords).fit(line[:, None])
        assert abs(np.corrcoef(maps.embedding_[:, 0], wave)[0, 1]) > 0.9995


def test_alpha_one_does_not_see_the_density():
    rng = np.random.default_rng(0)
    line = np.sort(rng.beta(2.0, 1.0, size=1500))[:, None]  # ever denser towards one end
    wave = np.cos(np.pi * (line - line.min()) / np.ptp(line))
    residual = {
        alpha: affine_residual(
            DiffusionMaps(1, alpha=alpha, epsilon=2e-3, n_neighbors=None).fit_transform(line), wave
        )
        for alpha in (0.0, 1.0)
    }
    assert residual[1.0] < 0.05
    assert residual[1.0] < 0.5 * residual[0.0]


def test_alpha_zero_is_the_normalised_laplacian():
    X = np.random.default_rng(0).normal(size=(150, 2))
    W = symmetric_rbf(X, 0.5)
    maps = DiffusionMaps(2, alpha=0.0, t=0, epsilon=2.0, n_neighbors=None).fit(X)
    # The walk may stay where it is, which a Laplacian does not count.
    degrees = W.sum(axis=1)
    values, vectors = eigh(np.eye(150) - W / np.sqrt(np.outer(degrees, degrees)))
    np.testing.assert_allclose(1 - maps.eigenvalues_, values[1:3], rtol=1e-8)
    assert_same_columns(
        maps.eigenvectors_ / np.linalg.norm(maps.eigenvectors_, axis=0),
        (u := vectors[:, 1:3] / np.sqrt(degrees)[:, None]) / np.linalg.norm(u, axis=0),
        1e-7,
    )


def test_neighbours_are_enough():
    """Kernel values beyond the neighbours are next to nothing."""
    X = swiss_roll(900)
    full = DiffusionMaps(3, epsilon=2.0, n_neighbors=None).fit(X)
    some = DiffusionMaps(3, epsilon=2.0, n_neighbors=200).fit(X)
    np.testing.assert_allclose(some.eigenvalues_, full.eigenvalues_, rtol=1e-3)
    assert affine_residual(some.embedding_, full.embedding_) < 1e-2


@pytest.mark.parametrize("n_neighbors", [64, None])
def test_the_default_takes_the_density_out(n_neighbors):
    """An unevenly sampled circle: the first functions of its Laplacian are cosine and sine."""
    angle = np.random.default_rng(0).vonmises(0, 1, 3000)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    maps = DiffusionMaps(2, n_neighbors=n_neighbors).fit(circle)
    assert affine_residual(maps.eigenvectors_, circle) < 0.2
    # Without it the walk is drawn to where the rows are.
    drawn = DiffusionMaps(2, alpha=0.0, n_neighbors=n_neighbors).fit(circle)
    assert affine_residual(drawn.eigenvectors_, circle) > 0.3


def test_the_default_unrolls():
    X, flat = rolled(3000, 0)
    along = (flat[:, 0] - flat[:, 0].min()) / np.ptp(flat[:, 0])
    maps = DiffusionMaps(1).fit(X)
    assert affine_residual(maps.eigenvectors_, np.cos(np.pi * along)[:, None]) < 0.1


def test_an_epsilon_that_is_no_number_is_told():
    X = swiss_roll(200)
    plain = DiffusionMaps().fit(X)
    for unit, word in ((1e-200, "small"), (1e200, "large")):
        with pytest.warns(InputAdjustedWarning, match=f"too {word}.*epsilon_"):
            other = DiffusionMaps().fit(unit * X)
        assert_same_columns(other.embedding_, plain.embedding_, 1e-6)


def test_the_automatic_epsilon_follows_the_unit():
    X = swiss_roll(500)
    one = DiffusionMaps().fit(X)
    for unit in (1e-6, 1e4):
        other = DiffusionMaps().fit(unit * X)
        assert other.epsilon_ / unit**2 == pytest.approx(one.epsilon_, rel=1e-9)
        assert_same_columns(other.embedding_, one.embedding_, 1e-6)


def test_stationary_distribution_sums_to_one_and_normalises():
    maps = DiffusionMaps(4).fit(swiss_roll(600))
    weights, psi = maps.stationary_distribution_, maps.eigenvectors_
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(psi.T @ (weights[:, None] * psi), np.eye(4), atol=1e-7)
    np.testing.assert_allclose(weights @ psi, 0, atol=1e-8)
    assert (np.diff(maps.eigenvalues_) <= 0).all()
    assert (maps.eigenvalues_ < 1).all()


def test_new_rows_take_one_step():
    X = np.random.default_rng(0).normal(size=(150, 2))
    new = np.random.default_rng(1).normal(size=(20, 2))
    maps = DiffusionMaps(2, alpha=0.0, t=1, epsilon=2.0, n_neighbors=None).fit(X)
    K = np.exp(-cdist(new, X, "sqeuclidean") / 2.0)
    expected = K @ maps.eigenvectors_ / K.sum(axis=1, keepdims=True)  # divided by λ, times λ
    np.testing.assert_allclose(maps.transform(new), expected, rtol=1e-8)


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
    for piece in (slice(0, 120), slice(120, None)):
        assert both.embedding_[piece].std(axis=0).max() > 1e-3 * total
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


def test_one_directional_neighbours_as_in_scikit_learn():
    """Lists of neighbours are a common affinity, and no symmetric one."""
    A = kneighbors_graph(swiss_roll(300), 10)
    with pytest.warns(InputAdjustedWarning, match=r"not symmetric.*mean"):
        ours = spectral_embedding(A, n_components=3)
    with pytest.warns(UserWarning, match="not symmetric"):
        theirs = sklearn.manifold.spectral_embedding(A, n_components=3, random_state=0)
    assert_same_columns(ours, theirs, 1e-6)


def test_rounding_of_float32_affinities_is_mended_and_said():
    X = np.random.default_rng(0).normal(size=(80, 3))
    K = np.exp(-(cdist(X, X).astype(np.float32) ** 2))
    A = K / K.sum(1)[:, None] ** 0.5 / K.sum(0)[None, :] ** 0.5
    assert (A != A.T).any()
    with pytest.warns(InputAdjustedWarning, match="not symmetric"):
        ours = spectral_embedding(A, n_components=2)
    exact = spectral_embedding((A.astype(float) + A.T.astype(float)) / 2, n_components=2)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, exact, atol=1e-5)


@pytest.mark.parametrize(
    "estimator",
    [
        SpectralEmbedding(affinity="rbf", gamma=1 / 3),
        SpectralEmbedding(weights="heat", bandwidth=1.2, n_neighbors=8),
    ],
    ids=["rbf", "heat"],
)
def test_a_row_like_no_other_is_a_piece(estimator):
    cloud = np.random.default_rng(0).normal(size=(60, 3))
    X = np.vstack([cloud, [[1e3, 0.0, 0.0]]])
    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        kept = clone(estimator).set_params(disconnected="largest").fit(X)
    assert np.isnan(kept.embedding_[60]).all()
    assert_same_columns(kept.embedding_[:60], clone(estimator).fit(cloud).embedding_, 1e-8)
    with pytest.warns(DisconnectedGraphWarning, match="only tell them apart"):
        apart = clone(estimator).fit(X).embedding_[:, 0]
    assert np.ptp(apart[:60]) < 1e-9
    assert abs(apart[60] - apart[0]) > 0.01
    with pytest.raises(DisconnectedGraphError, match="`gamma`") as caught:
        clone(estimator).set_params(disconnected="error").fit(X)
    assert caught.value.labels.tolist() == [0] * 60 + [1]


@pytest.mark.parametrize(("name", "width"), [("gamma", 1e6), ("bandwidth", 1e-5)])
def test_the_suggested_width_works(name, width):
    """Half of the rows ten times as far apart as the others."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((60, 2)), 10 * rng.random((60, 2))])
    how = {"affinity": "rbf"} if name == "gamma" else {"weights": "heat", "n_neighbors": 10}
    with pytest.raises(ParameterError, match=f"try {name}") as caught:
        SpectralEmbedding(**how, **{name: width}).fit(X)
    suggested = float(re.search(rf"try {name} = (\S+),", str(caught.value))[1])
    assert (suggested < width) == (name == "gamma")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        Y = SpectralEmbedding(**how, **{name: suggested}).fit_transform(X)
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("tie", [1e-309, 5e-324, 1e-300])
def test_degrees_that_are_hardly_numbers(form, tie):
    W = np.ones((6, 6))
    W[4:], W[:, 4:] = 0, 0
    W[4, 5] = W[5, 4] = tie
    with pytest.warns(PlanishWarning):
        Y = spectral_embedding(form(W), n_components=2)
    assert np.isfinite(Y).all()
    assert np.ptp(Y[:4, 0]) < 1e-12
    assert Y[4, 0] == pytest.approx(Y[5, 0], rel=1e-12)
    assert Y[4, 0] != pytest.approx(Y[0, 0], rel=1e-3)


def test_an_affinity_that_underflows_suggests_a_scale():
    with pytest.raises(PlanishError, match=r"gamma"):
        SpectralEmbedding(affinity="rbf", gamma=1e8).fit(swiss_roll(100))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_bad_affinities_name_the_pair(form):
    good = symmetric_rbf(swiss_roll(40), 0.05)
    estimator = SpectralEmbedding(affinity="precomputed")
    for value, back, match in (
        (-1.0, -1.0, r"(?s)2\b.*\b5\b.*-1"),
        (np.nan, np.nan, r"(?s)NaN"),
    ):
        bad = good.copy()
        bad[2, 5], bad[5, 2] = value, back
        with pytest.raises(InputError, match=match):
            estimator.fit(form(bad))
        assert not hasattr(estimator, "embedding_")
    with pytest.raises(InputError, match="square"):
        estimator.fit(form(good[:, :30]))


def test_a_callable_affinity_of_the_wrong_shape_is_told():
    with pytest.raises(InputError, match=r"affinity.*\(3, 3\).*\(50, 50\)"):
        SpectralEmbedding(affinity=lambda X: np.eye(3)).fit(swiss_roll(50))


def test_a_callable_affinity_may_be_sparse():
    X = swiss_roll(200)

    def nearest(rows):
        graph = kneighbors_graph(rows, 9)
        return 0.5 * (graph + graph.T)

    ours = SpectralEmbedding(affinity=nearest).fit(X)
    same = SpectralEmbedding(affinity="precomputed").fit(nearest(X))
    assert np.array_equal(ours.embedding_, same.embedding_)


def test_the_memory_of_a_callable_is_that_of_a_matrix():
    given = estimate_memory(SpectralEmbedding(affinity="precomputed"), 3000, 3)
    assert estimate_memory(SpectralEmbedding(affinity=rbf_kernel), 3000, 3) == given
    by_name = estimate_memory(DiffusionMaps(metric="precomputed"), 3000, 3)
    assert estimate_memory(DiffusionMaps(metric="canberra"), 3000, 3) == by_name


SPECTRAL_WRONG = [
    ("n_components", 0, "n_components"),
    ("affinity", "polynomial", "affinity.*rbf"),
    ("gamma", -1.0, "gamma"),
    ("random_state", "seven", "random_state"),
    ("eigen_solver", "magic", "eigen_solver.*dense"),
    ("eigen_tol", -1.0, "eigen_tol"),
    ("eigen_tol", "small", "eigen_tol"),
    ("n_neighbors", 0, "n_neighbors"),
    ("weights", "distance", "weights.*heat"),
    ("bandwidth", 0.0, "bandwidth"),
    ("bandwidth", "wide", "bandwidth"),
    ("radius", -1.0, "radius"),
    ("metric", "furlong", "metric.*furlong"),
    ("disconnected", "ignore", "disconnected.*bridge"),
    ("isolated", "ignore", "isolated.*nearest"),
]
DIFFUSION_WRONG = [
    ("n_components", 0, "n_components"),
    ("alpha", "one", "alpha"),
    ("alpha", np.nan, "alpha"),
    ("t", -1.0, r"`t`"),
    ("epsilon", 0.0, "epsilon"),
    ("epsilon", "wide", "epsilon"),
    ("n_neighbors", 0, "n_neighbors"),
    ("eigen_solver", "magic", "eigen_solver.*dense"),
    ("tol", -1.0, "tol"),
    ("max_iter", 0, "max_iter"),
    ("metric", "furlong", "metric.*furlong"),
    ("disconnected", "ignore", "disconnected.*bridge"),
]


@pytest.mark.parametrize(("name", "value", "match"), SPECTRAL_WRONG)
def test_wrong_parameters_of_the_laplacian_are_named(name, value, match, roll):
    keywords = {"weights": "heat"} if name == "bandwidth" else {}
    keywords |= {"affinity": "rbf"} if name == "gamma" else {}
    estimator = SpectralEmbedding(**keywords, **{name: value})
    with pytest.raises(ParameterError, match=match):
        estimator.fit(roll)
    assert not hasattr(estimator, "embedding_")


@pytest.mark.parametrize(("name", "value", "match"), DIFFUSION_WRONG)
def test_wrong_parameters_of_diffusion_are_named(name, value, match, roll):
    estimator = DiffusionMaps(**{name: value})
    with pytest.raises(ParameterError, match=match):
        estimator.fit(roll)
    assert not hasattr(estimator, "embedding_")


# -- rows that are hardly tied to the others --------------------------------------------


def line_with_faint_end(n):
    """Points on a line, and two that are farther from them and from each other."""
    core = np.sort(np.random.default_rng(0).normal(size=(n, 1)), axis=0)
    return np.vstack([core, [[core.max() + 7.0]], [[core.max() + 13.9]]])


@pytest.mark.parametrize("form", ["rbf", "precomputed"])
@pytest.mark.parametrize("normalised", [True, False])
def test_what_a_row_is_to_itself_leaves_no_trace(form, normalised):
    X = line_with_faint_end(200)
    W = symmetric_rbf(X, 1.0)
    L = csgraph.laplacian(W - np.eye(len(W)), normed=normalised)
    expected = eigh(L, eigvals_only=True)[1:3]
    for own in [0.0, 1.0] if form == "rbf" else [0.0, 1.0, 1e6, 1e30, 1e250]:
        np.fill_diagonal(W, own)
        ours = SpectralEmbedding(affinity=form, gamma=1.0, norm_laplacian=normalised)
        ours.fit(X if form == "rbf" else W)
        np.testing.assert_allclose(ours.eigenvalues_, expected, atol=1e-12 * 400)
        if form == "precomputed":
            np.testing.assert_array_equal(ours.affinity_matrix_, W)
            np.testing.assert_array_equal(ours.transform(W), ours.embedding_)
            np.testing.assert_array_equal(ours.transform(W[7:9]), ours.embedding_[7:9])


def test_the_diagonal_of_sparse_affinities_is_shown():
    W = sparse.csr_array(cycle(30) + np.diag(np.arange(30.0)))
    shown = SpectralEmbedding(affinity="precomputed").fit(W)
    assert abs(shown.affinity_matrix_ - W).max() == 0
    assert not hasattr(shown, "affinity_diagonal_")
    pieces = sparse.csr_array(sparse.block_diag([W, 2 * sparse.eye_array(2)]))
    ours = SpectralEmbedding(affinity="precomputed", disconnected="largest")
    with pytest.warns(DisconnectedGraphWarning):
        shown = ours.fit(pieces).affinity_matrix_
    assert abs(shown[:30, :30] - W).max() == 0
    assert shown[30:].nnz == 0


# -- new rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("normalised", [True, False])
def test_neighbours_within_a_radius_are_mutual_for_new_rows_too(normalised):
    Z = np.arange(6.0)[:, None]
    ours = SpectralEmbedding(1, radius=1.2, norm_laplacian=normalised).fit(Z)
    new = np.array([[2.85], [1.1]])
    near = (cdist(new, Z) <= 1.2).astype(float)
    scale = near.sum(axis=1)[:, None]
    below = scale * (1 - ours.eigenvalues_) if normalised else scale - ours.eigenvalues_
    np.testing.assert_allclose(ours.transform(new), near @ ours.embedding_ / below, rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_training_rows_with_equal_affinities(form):
    n = 30
    W = np.pad(np.ones((n, n)) - np.eye(n), ((0, 2), (0, 2)))
    W[0, n:] = W[n:, 0] = 1
    ours = SpectralEmbedding(2, affinity="precomputed", norm_laplacian=False).fit(form(W))
    assert np.ptp(ours.embedding_[n:, 1]) > 1
    np.testing.assert_array_equal(ours.transform(form(W)), ours.embedding_)
    np.testing.assert_array_equal(ours.transform(form(W[:n])), ours.embedding_[:n])
    # Alone, one of two rows nobody can tell apart is placed like a new one; here its
    # degree, 1, is an eigenvalue, which forbids that.
    with pytest.raises(InputError, match="row 1 cannot be placed"):
        ours.transform(form(W[[0, n]]))
    # Equal rows in the same place are no question.
    ours = SpectralEmbedding(1, affinity="precomputed").fit(form(W))
    np.testing.assert_allclose(ours.transform(form(W[n + 1 :])), ours.embedding_[n:-1], rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_new_row_without_affinities_is_refused(form):
    W = cycle(30)
    for alone in [(5,), (5, 9)]:
        for row in alone:
            W[row] = W[:, row] = 0
        ours = SpectralEmbedding(2, affinity="precomputed")
        with pytest.warns(DisconnectedGraphWarning):
            ours.fit(form(W))
        new = form(np.vstack([W[1], np.zeros(30)]))
        if len(alone) == 1:
            np.testing.assert_array_equal(ours.transform(new), ours.embedding_[[1, 5]])
            continue
        with pytest.raises(InputError, match="row 1 cannot be placed"):
            ours.transform(new)
        np.testing.assert_array_equal(ours.transform(form(W)), ours.embedding_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_asymmetry_is_judged_by_the_rows_it_is_in(form):
    steps = np.arange(50.0)
    W = np.exp(-np.abs(np.subtract.outer(steps, steps)) / 10)
    W[10, 11] = W[11, 10] = 1e9
    for back, told in ((0.1, "0.1"), (0.0, "0;")):
        W[3, 4], W[4, 3] = 0.9, back
        pair = rf"(row 3 to row 4 it is 0.9, back it is {told}|row 4 to row 3 it is {back:g}, back)"
        with pytest.warns(InputAdjustedWarning, match=pair):
            lopsided = SpectralEmbedding(affinity="precomputed").fit(form(W))
        mean = SpectralEmbedding(affinity="precomputed").fit(form((W + W.T) / 2))
        np.testing.assert_array_equal(lopsided.embedding_, mean.embedding_)
    # Rounding of a faint affinity is beside the point.
    W[3, 4] = W[4, 3] = 0.9
    W[0, 49], W[49, 0] = 1e-12, 0.0
    SpectralEmbedding(affinity="precomputed").fit(form(W))


# -- rows of nearly no degree --------------------------------------------------------------


def equation_rest(ours):
    """How far each row is from what its neighbours say, beside the largest of the column."""
    W = sparse.csr_array(ours.affinity_matrix_)
    W = W - sparse.diags_array(W.diagonal())
    step = (W @ ours.embedding_) / W.sum(axis=1)[:, None]
    rest = (1 - ours.eigenvalues_) * ours.embedding_ - step
    return np.abs(rest).max(axis=0) / np.abs(ours.embedding_).max(axis=0)


@pytest.mark.parametrize("solver", ["arpack", "iterative", "dense"])
def test_a_faint_leaf_where_the_walk_nearly_stops(solver):
    """A leaf f of row 7 has (1 - λ) f = f_7, also where 1 - λ is small."""
    n = 40
    W = np.zeros((n + 1, n + 1))
    for i in range(n):
        W[i, (i + 1) % n] = W[(i + 1) % n, i] = 1 + 0.01 * np.random.default_rng(i).random()
    W[n, 7] = W[7, n] = 1e-15
    ours = SpectralEmbedding(24, affinity="precomputed", eigen_solver=solver).fit(W)
    walk = 1 - ours.eigenvalues_
    moving = np.abs(walk) > 1e-6  # one column is the leaf's own
    assert (moving & (np.abs(walk) < 1e-3)).sum() >= 2
    expected = ours.embedding_[7, moving] / walk[moving]
    np.testing.assert_allclose(ours.embedding_[n, moving], expected, rtol=1e-6)


@pytest.mark.parametrize("solver", ["arpack", "iterative", "dense"])
def test_faint_rows_that_are_tied_to_each_other(solver):
    X = line_with_faint_end(300)
    ours = SpectralEmbedding(weights="heat", bandwidth=1.0, n_neighbors=10, eigen_solver=solver)
    end = ours.fit(X).embedding_[298:]
    # The two at the end are the continuation of the line.
    assert (end * np.sign(end[0]) > 0).all()
    assert np.ptp(end[:, 1]) < 0.05 * np.abs(end[:, 1]).max()
    assert (equation_rest(ours) < 1e-9).all()


@pytest.mark.filterwarnings("ignore::planish.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rows", [500, 3000])
def test_degrees_of_every_size(rows):
    X = np.random.default_rng(0).normal(size=(rows, 10))
    ours = SpectralEmbedding(weights="heat", bandwidth=0.3, n_neighbors=10)
    fitted = [clone(ours).set_params(eigen_solver=s).fit(X) for s in ("arpack", "iterative")]
    for one in fitted:
        assert (equation_rest(one) < 1e-8).all()
    if rows == 500:  # of more, some are in pieces but for rounding
        assert_same_columns(fitted[0].embedding_, fitted[1].embedding_, 1e-5)


# -- what is told and refused, and what need not be ------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_half_of_a_pair_is_told_at_every_size(form):
    for n in range(5, 129):
        with pytest.warns(RankDeficientWarning, match="one choice of many"):
            SpectralEmbedding(1, affinity="precomputed").fit(form(cycle(n)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SpectralEmbedding(2, affinity="precomputed").fit(form(cycle(n)))


@pytest.mark.parametrize("weights", ["connectivity", "heat"])
def test_rows_without_edges_are_pieces(weights):
    ours = SpectralEmbedding(metric="precomputed", weights=weights)
    with pytest.warns(DisconnectedGraphWarning):
        assert np.isfinite(ours.fit(sparse.csr_array((50, 50))).embedding_).all()
    G = sparse.lil_array((50, 50))
    G[0, 1] = G[1, 0] = 1e200
    with pytest.warns(DisconnectedGraphWarning):
        ours.fit(sparse.csr_array(G))
    if weights == "heat":
        ours.set_params(bandwidth=1.0)
        with pytest.raises(ParameterError, match="row 0 "):
            ours.fit(sparse.csr_array(G))


@pytest.mark.parametrize("bandwidth", ["auto", 1.0])
def test_a_far_row_hangs_onto_its_nearest(bandwidth):
    X = swiss_roll(400)
    ours = SpectralEmbedding(radius=6.0, weights="heat", bandwidth=bandwidth, isolated="nearest")
    ours.fit(X)
    far = X[:1] + 1e4
    nearest = cdist(far, X).argmin()
    expected = ours.embedding_[nearest] / (1 - ours.eigenvalues_)
    np.testing.assert_allclose(ours.transform(far)[0], expected, rtol=1e-9)


@pytest.mark.parametrize("metric", ["nan_euclidean", "seuclidean", "mahalanobis"])
def test_metrics_that_look_at_all_rows_know_the_training_rows(metric, estimator):
    X = np.random.default_rng(3).normal(size=(60, 4)) + 1000.1
    if metric == "nan_euclidean":
        X[::7, 1] = np.nan
    ours = estimator.set_params(metric=metric).fit(X)
    np.testing.assert_array_equal(ours.transform(X), ours.embedding_)
    np.testing.assert_array_equal(ours.transform(X[:30]), ours.embedding_[:30])


def test_the_function_with_the_constant_column():
    W = cycle(12).astype(np.float32)
    W[0, 1] = W[1, 0] = 2
    whole = spectral_embedding(W, n_components=4, drop_first=False)
    assert whole.dtype == np.float32
    assert whole.shape == (12, 4)
    np.testing.assert_array_equal(whole[:, 1:], spectral_embedding(W, n_components=3))
    assert spectral_embedding(W, n_components=1, drop_first=False).dtype == np.float32
    np.testing.assert_array_equal(
        spectral_embedding([[0.0]], n_components=1, drop_first=False), [[1.0]]
    )
    for wrong in ["a", None, 0, 2.5]:
        with pytest.raises(ParameterError, match="n_components"):
            spectral_embedding(W, n_components=wrong, drop_first=False)
    with pytest.raises(ParameterError, match="at most n_samples = 12, got 13"):
        spectral_embedding(W, n_components=13, drop_first=False)
    assert spectral_embedding(W, n_components=12, drop_first=False).shape == (12, 12)
    with pytest.raises(ParameterError, match="drop_first"):
        spectral_embedding(W, drop_first="x")


def test_words_fit_what_was_given():
    X = swiss_roll(300)
    loose = SpectralEmbedding(n_neighbors=10, eigen_tol=3).fit(X)
    assert np.isfinite(loose.embedding_).all()
    with pytest.raises(ParameterError, match="`eigen_tol`"):
        SpectralEmbedding(eigen_tol=-1).fit(X)
    with pytest.raises(DisconnectedGraphError, match="give edges between the components"):
        SpectralEmbedding(affinity="precomputed", disconnected="error").fit(np.eye(5))
    W = cycle(8)
    W[2, 3] = np.nan
    with pytest.raises(
        InputError, match=r"^the matrix of kernel values or affinities contains NaN"
    ):
        SpectralEmbedding(affinity="precomputed").fit(W)
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(RankDeficientWarning, match="lower `radius`"):
        SpectralEmbedding(1, radius=0.2).fit(ring)


def test_a_kernel_that_is_almost_constant_has_converged():
    X = np.random.default_rng(0).normal(size=(300, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = DiffusionMaps(3, n_neighbors=None, epsilon=1e9).fit(X)
    assert affine_residual(ours.embedding_ / ours.eigenvalues_, X) < 1e-4
