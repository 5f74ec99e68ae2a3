"""Laplacian eigenmaps against scikit-learn, formulas and known spectra."""

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
from sklearn.cluster import SpectralClustering
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from conftest import assert_same_columns, cycle, strip, swiss_roll, symmetric_rbf
from planish import (
    SpectralEmbedding,
    neighbors_graph,
    spectral_embedding,
)
from planish.exceptions import (
    DisconnectedGraphWarning,
    InputAdjustedWarning,
    InputError,
    ParameterError,
    PlanishError,
    PlanishWarning,
)


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
    # SciPy 1.10 has no Laplacian of sparse arrays.
    L, root = csgraph.laplacian(sparse.csr_matrix(W), normed=normalised, return_diag=True)
    V = ours.embedding_ * (root[:, None] if normalised else 1.0)
    expected = np.linalg.norm(L @ V - V * ours.eigenvalues_, axis=0)
    size = 2.0 if normalised else 2 * W.sum(axis=1).max()
    np.testing.assert_allclose(ours.eigenvalue_residuals_, expected, rtol=0.1, atol=1e-14 * size)
    assert (ours.eigenvalue_residuals_ < 1e-9 * size).all()


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
def test_one_directional_neighbours_as_in_scikit_learn():
    """Lists of neighbours are a common affinity, and no symmetric one."""
    A = kneighbors_graph(swiss_roll(300), 10)
    with pytest.warns(InputAdjustedWarning, match=r"not symmetric.*mean"):
        ours = spectral_embedding(A, n_components=3)
    with pytest.warns(UserWarning, match="not symmetric"):
        theirs = sklearn.manifold.spectral_embedding(A, n_components=3, random_state=0)
    assert_same_columns(ours, theirs, 1e-6)


def test_rounding_of_float32_affinities_is_corrected_with_a_warning():
    X = np.random.default_rng(0).normal(size=(80, 3))
    K = np.exp(-(cdist(X, X).astype(np.float32) ** 2))
    A = K / K.sum(1)[:, None] ** 0.5 / K.sum(0)[None, :] ** 0.5
    assert (A != A.T).any()
    with pytest.warns(InputAdjustedWarning, match="not symmetric"):
        ours = spectral_embedding(A, n_components=2)
    exact = spectral_embedding((A.astype(float) + A.T.astype(float)) / 2, n_components=2)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, exact, atol=1e-5)


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


def test_a_callable_affinity_of_the_wrong_shape_is_refused():
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


@pytest.mark.parametrize(("name", "value", "match"), SPECTRAL_WRONG)
def test_wrong_parameters_of_the_laplacian_are_named(name, value, match, roll):
    keywords = {"weights": "heat"} if name == "bandwidth" else {}
    keywords |= {"affinity": "rbf"} if name == "gamma" else {}
    estimator = SpectralEmbedding(**keywords, **{name: value})
    with pytest.raises(ParameterError, match=match):
        estimator.fit(roll)
    assert not hasattr(estimator, "embedding_")


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf", "precomputed"])
def test_the_affinities_of_float32_are_float32(affinity):
    X = swiss_roll(60).astype(np.float32)
    if affinity == "precomputed":
        X = symmetric_rbf(X, 0.01).astype(np.float32)
    assert SpectralEmbedding(affinity=affinity).fit(X).affinity_matrix_.dtype == np.float32
    assert SpectralEmbedding(affinity=affinity).fit(X.astype(float)).affinity_matrix_.dtype == float


def test_spectral_clustering_takes_the_affinities():
    X = np.vstack([strip(60, 0)[0], strip(60, 1)[0] + 3.0])
    with pytest.warns(DisconnectedGraphWarning):
        W = SpectralEmbedding(n_neighbors=8).fit(X).affinity_matrix_
    labels = SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(W)
    assert len(set(labels[:60])) == len(set(labels[60:])) == 1
    assert labels[0] != labels[-1]
