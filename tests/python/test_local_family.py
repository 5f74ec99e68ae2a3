"""LLE and its relatives, against the papers' formulas, scikit-learn and known truth."""

import pickle
import warnings

import numpy as np
import psutil
import pytest
import sklearn.manifold
from scipy import sparse
from scipy.linalg import eigh, subspace_angles
from scipy.optimize import nnls
from scipy.spatial.distance import (
    cdist,
    chebyshev,
    cityblock,
    cosine,
    euclidean,
    pdist,
    squareform,
)
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from conftest import affine_residual, assert_same_columns, rolled, swiss_roll
from planish import (
    Isomap,
    LocallyLinearEmbedding,
    kneighbors,
    locally_linear_embedding,
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

METHODS = ["standard", "modified", "hessian", "ltsa"]
ISOMETRIC = ["modified", "hessian", "ltsa"]


# -- the papers' formulas, written out ------------------------------------------------


def weights_of(differences, reg=1e-3, nonnegative=False):
    """Roweis and Saul: the weights of sum one that best make a row from its neighbours."""
    gram = differences @ differences.T
    gram += reg * (np.trace(gram) or 1.0) * np.eye(len(gram))
    ones = np.ones(len(gram))
    if nonnegative:
        lower = np.linalg.cholesky(gram)
        solution = nnls(lower.T, np.linalg.solve(lower, ones))[0]
    else:
        solution = np.linalg.solve(gram, ones)
    return solution / solution.sum()


def standard_matrix(X, near, p, **keywords):
    rest = np.eye(len(X))
    for i, row in enumerate(near):
        rest[i, row] -= weights_of(X[row] - X[i], **keywords)
    return rest.T @ rest


def tangents(rows, p):
    """Coordinates of a neighbourhood in its own p principal directions, of norm one."""
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0][:, :p]


def ltsa_matrix(X, near, p):
    """Zhang and Zha: what is not affine in the tangent coordinates."""
    k, M = near.shape[1], np.zeros((len(X), len(X)))
    for row in near:
        G = np.column_stack([np.full(k, k**-0.5), tangents(X[row], p)])
        M[np.ix_(row, row)] += np.eye(k) - G @ G.T
    return M


def hessian_matrix(X, near, p):
    """Donoho and Grimes: what is quadratic in the tangent coordinates."""
    M = np.zeros((len(X), len(X)))
    for row in near:
        U = tangents(X[row], p)
        squares = [U[:, a] * U[:, b] for a in range(p) for b in range(a, p)]
        Q = np.linalg.qr(np.column_stack([np.ones(len(row)), U, *squares]))[0][:, p + 1 :]
        M[np.ix_(row, row)] += Q @ Q.T
    return M


def modified_matrix(X, near, p):
    """Zhang and Wang: several weight vectors, from the small singular directions."""
    k, M = near.shape[1], np.zeros((len(X), len(X)))
    local = [np.linalg.svd(X[row] - X[i], full_matrices=True)[:2] for i, row in enumerate(near)]
    energies = [np.concatenate([s**2, np.zeros(k - len(s))]) for _, s in local]
    eta = np.median([e[p:].sum() / e[:p].sum() for e in energies])
    for i, row in enumerate(near):
        V, e = local[i][0], energies[i]
        w = weights_of(X[row] - X[i])
        # The largest set of trailing directions whose share stays below the median.
        sizes = range(1, k - p + 1)
        s = max(size for size in sizes if e[k - size :].sum() < eta * e[: k - size].sum())
        Vs = V[:, k - s :]
        alpha = np.linalg.norm(Vs.sum(axis=0)) / np.sqrt(s)
        h = alpha - Vs.sum(axis=0)
        h = h / np.linalg.norm(h) if np.linalg.norm(h) > 1e-12 else np.zeros(s)
        W = Vs - 2 * np.outer(Vs @ h, h) + (1 - alpha) * w[:, None]
        hat = np.zeros((len(X), s))
        hat[row], hat[i] = -W, 1.0
        M += hat @ hat.T
    return M


MATRICES = {
    "standard": standard_matrix,
    "modified": modified_matrix,
    "hessian": hessian_matrix,
    "ltsa": ltsa_matrix,
}


def bottom(M, p):
    """The p smallest eigenpairs after the constant vector."""
    values, vectors = eigh(M, subset_by_index=[0, p])
    return values[1:], vectors[:, 1:]


def angle(A, B):
    return float(subspace_angles(A, B).max())


def strip(n, seed=0):
    """A bent strip with clearly distinct eigenvalues, and its flat coordinates."""
    rng = np.random.default_rng(seed)
    flat = rng.random((n, 2)) * [3.0, 1.0]
    return np.column_stack([np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]]), flat


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", ["auto", "arpack", "dense", "iterative"])
def test_the_bottom_of_the_papers_matrix(method, solver):
    X, _ = strip(300)
    near = kneighbors(X, 9)[1]
    values, vectors = bottom(MATRICES[method](X, near, 2), 2)
    ours = LocallyLinearEmbedding(
        n_neighbors=9, method=method, eigen_solver=solver, tol=1e-9, max_iter=2000
    ).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-5)
    assert angle(ours.embedding_, vectors) < 1e-4
    assert ours.reconstruction_error_ == pytest.approx(values.sum(), rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_the_residuals_are_those_of_the_matrix(method):
    X, _ = strip(250)
    estimator = LocallyLinearEmbedding(n_neighbors=9, method=method).fit(X)
    near = NearestNeighbors(n_neighbors=9).fit(X).kneighbors(return_distance=False)
    M, Y = MATRICES[method](X, near, 2), estimator.embedding_
    expected = np.linalg.norm(M @ Y - Y * estimator.eigenvalues_, axis=0)
    np.testing.assert_allclose(estimator.eigenvalue_residuals_, expected, rtol=0.1, atol=1e-12)


def test_nonnegative_weights():
    X, _ = strip(300)
    near = kneighbors(X, 9)[1]
    values, vectors = bottom(standard_matrix(X, near, 2, nonnegative=True), 2)
    ours = LocallyLinearEmbedding(n_neighbors=9, nonnegative=True).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-5)
    assert angle(ours.embedding_, vectors) < 1e-4
    free = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    assert angle(ours.embedding_, free.embedding_) > 1e-3


def test_nonnegative_weights_place_new_rows_between_their_neighbours():
    X, _ = strip(300)
    estimator = LocallyLinearEmbedding(n_neighbors=9, nonnegative=True).fit(X)
    new = strip(30, seed=4)[0]
    near = np.argsort(cdist(new, X), axis=1)[:, :9]
    expected = [
        weights_of(X[row] - x, nonnegative=True) @ estimator.embedding_[row]
        for x, row in zip(new, near, strict=True)
    ]
    np.testing.assert_allclose(estimator.transform(new), expected, atol=1e-9)
    with pytest.raises(ParameterError, match=r"nonnegative.*standard"):
        LocallyLinearEmbedding(n_neighbors=9, nonnegative=True, method="ltsa").fit(X)


def test_regularisation_is_relative_to_the_trace():
    X, _ = strip(300)
    near = kneighbors(X, 9)[1]
    for reg in (1e-2, 0.1):
        values, _ = bottom(standard_matrix(X, near, 2, reg=reg), 2)
        for unit in (1.0, 1e5):
            ours = LocallyLinearEmbedding(n_neighbors=9, reg=reg).fit(unit * X)
            np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_columns_have_norm_one_and_mean_zero(method):
    X = swiss_roll(700)
    Y = LocallyLinearEmbedding(n_neighbors=10, n_components=3, method=method).fit_transform(X)
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-9)
    assert np.abs(Y.sum(axis=0)).max() / np.sqrt(len(Y)) < 1e-8


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", ["auto", "arpack", "dense"])
def test_a_plane_grid_does_not_mix_with_the_constant(method, solver):
    """The null space has three dimensions here, and the constant is exactly one of them."""
    grid = np.stack(np.meshgrid(np.arange(30.0), np.arange(30.0)), axis=-1).reshape(-1, 2)
    estimator = LocallyLinearEmbedding(n_neighbors=8, method=method, eigen_solver=solver)
    Y = estimator.fit_transform(grid)
    assert np.abs(Y.sum(axis=0)).max() / np.sqrt(len(Y)) <= 1e-8
    np.testing.assert_allclose(Y.T @ Y, np.eye(2), atol=1e-8)
    if method in ("hessian", "ltsa"):
        assert affine_residual(Y, grid) < 1e-6
        assert estimator.reconstruction_error_ < 1e-10
    if method == "modified":  # its weights are regularised
        assert affine_residual(Y, grid) < 1e-3


# -- scikit-learn ---------------------------------------------------------------------


# scikit-learn's "hessian" takes all columns of a full QR and not only the quadratic ones:
# it is LTSA under another name, and is compared with that.
@pytest.mark.parametrize(
    ("method", "theirs"),
    [("standard", "standard"), ("modified", "modified"), ("ltsa", "ltsa"), ("ltsa", "hessian")],
)
def test_scikit_learn_finds_the_same(method, theirs):
    X = swiss_roll(800)
    expected = sklearn.manifold.LocallyLinearEmbedding(
        n_neighbors=10, method=theirs, eigen_solver="dense"
    ).fit(X)
    ours = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    assert angle(ours.embedding_, expected.embedding_) < 1e-4
    assert ours.reconstruction_error_ == pytest.approx(expected.reconstruction_error_, rel=1e-4)
    np.testing.assert_allclose(np.linalg.norm(ours.embedding_, axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_more_neighbours_than_features_and_fewer(method):
    """Both ways scikit-learn has of taking local coordinates apart, 20 and 3 features."""
    X, _ = strip(250)
    wide = np.column_stack([X, 0.01 * np.random.default_rng(0).normal(size=(250, 17))])
    for data in (X, wide):
        values, vectors = bottom(MATRICES[method](data, kneighbors(data, 12)[1], 2), 2)
        ours = LocallyLinearEmbedding(n_neighbors=12, method=method).fit(data)
        np.testing.assert_allclose(ours.eigenvalues_, values, rtol=1e-4)
        assert angle(ours.embedding_, vectors) < 1e-3


def test_the_function_is_the_class():
    X = swiss_roll(500)
    ours, error = locally_linear_embedding(X, n_neighbors=10, n_components=2, method="ltsa")
    theirs, their_error = sklearn.manifold.locally_linear_embedding(
        X, n_neighbors=10, n_components=2, method="ltsa", eigen_solver="dense"
    )
    assert angle(ours, theirs) < 1e-4
    assert error == pytest.approx(their_error, rel=1e-4)
    searched = NearestNeighbors(n_neighbors=10).fit(X)
    again, _ = locally_linear_embedding(searched, n_neighbors=10, n_components=2, method="ltsa")
    assert np.array_equal(again, ours)


def test_the_search_is_scikit_learns_own():
    X = swiss_roll(200)
    search = LocallyLinearEmbedding(n_neighbors=7).fit(X).nbrs_
    assert isinstance(search, NearestNeighbors)
    assert np.array_equal(search.kneighbors(return_distance=False), kneighbors(X, 7)[1])


def test_random_state_changes_nothing():
    X = swiss_roll(300)
    one, two = (
        LocallyLinearEmbedding(n_neighbors=8, random_state=seed).fit_transform(X)
        for seed in (None, np.random.RandomState(4))
    )
    assert np.array_equal(one, two)
    with pytest.raises(ParameterError, match="random_state"):
        LocallyLinearEmbedding(random_state="seven").fit(X)


# -- what the papers promise ----------------------------------------------------------


def holed(n, seed):
    points, flat = rolled(n, seed)
    low, high = np.quantile(flat, [1 / 3, 2 / 3], axis=0)
    kept = ~((flat > low) & (flat < high)).all(axis=1)
    return points[kept], flat[kept]


@pytest.mark.parametrize("seed", range(3))
def test_a_hole_distorts_isomap_and_not_the_local_methods(seed):
    X, flat = holed(2000, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        isomap = affine_residual(Isomap(n_neighbors=10).fit_transform(X), flat)
    residual = {
        method: affine_residual(
            LocallyLinearEmbedding(n_neighbors=10, method=method).fit_transform(X), flat
        )
        for method in ISOMETRIC
    }
    assert isomap > 0.05
    assert residual["modified"] < 0.4 * isomap
    assert residual["ltsa"] < 0.15 * isomap
    assert residual["hessian"] < 0.15 * isomap


def bent_sheet(n, dimensions):
    flat = np.random.default_rng(0).random((n, dimensions)) * [2.0, 0.8, 0.7, 0.6][:dimensions]
    return np.column_stack([np.sin(flat[:, 0]), np.cos(flat[:, 0]), *flat[:, 1:].T]), flat


@pytest.mark.parametrize("components", [2, 3, 4])
@pytest.mark.parametrize("method", ISOMETRIC)
def test_isometric_sheets_of_two_three_and_four_dimensions(method, components):
    bent, flat = bent_sheet(800, components)
    k = {2: 12, 3: 18, 4: 26}[components]
    estimator = LocallyLinearEmbedding(n_neighbors=k, n_components=components, method=method)
    assert affine_residual(estimator.fit_transform(bent), flat) < 0.01


@pytest.mark.parametrize(("components", "neighbors"), [(2, 12), (3, 20), (4, 30)])
def test_hessian_lle_takes_as_many_neighbours_as_it_needs(components, neighbors):
    X, flat = bent_sheet(800, components)
    named = LocallyLinearEmbedding(n_neighbors="auto", method="hessian", n_components=components).fit(X)
    plain = LocallyLinearEmbedding(
        n_neighbors=neighbors, n_components=components, method="hessian"
    ).fit(X)
    assert named.n_neighbors_ == neighbors
    assert affine_residual(named.embedding_, flat) < 0.01
    assert np.array_equal(named.embedding_, plain.embedding_)
    assert np.array_equal(named.transform(X[:9] + 0.01), plain.transform(X[:9] + 0.01))


def test_hessian_lle_by_a_metric_of_its_own_a_radius_and_few_rows():
    X, _ = bent_sheet(600, 2)
    own = LocallyLinearEmbedding(n_neighbors="auto", method="hessian", metric=euclidean).fit(X[:80])
    assert own.n_neighbors_ == own.nbrs_.n_neighbors == 12
    np.testing.assert_allclose(own.embedding_, LocallyLinearEmbedding(n_neighbors="auto", method="hessian").fit_transform(X[:80]), atol=1e-8)
    assert LocallyLinearEmbedding(n_neighbors="auto", method="hessian").fit(X[:9]).n_neighbors_ == 8  # all there are
    assert not hasattr(LocallyLinearEmbedding(n_neighbors=None, radius=0.5, method="hessian").fit(X[:200]), "n_neighbors_")
    with pytest.raises(ParameterError, match=r"n_neighbors.*at least 6"):
        LocallyLinearEmbedding(n_neighbors=5, method="hessian").fit(X[:200])
    with pytest.raises(PlanishError):
        LocallyLinearEmbedding(n_neighbors="auto", method="hessian").fit(X[:5])


def test_the_published_residuals_of_the_roll():
    X, flat = rolled(1500)
    residual = {
        method: affine_residual(
            LocallyLinearEmbedding(n_neighbors=10, method=method).fit_transform(X), flat
        )
        for method in METHODS
    }
    assert residual["standard"] > 0.05  # the weights' regularisation bends the map
    assert residual["modified"] < 0.02
    assert residual["hessian"] < 0.01
    assert residual["ltsa"] < 0.01


# -- other ways in --------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_points_and_their_distances_give_the_same(method):
    X, _ = strip(250)
    points = LocallyLinearEmbedding(n_neighbors=9, method=method).fit(X)
    given = LocallyLinearEmbedding(n_neighbors=9, method=method, metric="precomputed").fit(
        squareform(pdist(X))
    )
    assert angle(points.embedding_, given.embedding_) < 1e-4
    new = X[:30] + 0.01
    expected, found = points.transform(new), given.transform(cdist(new, X))
    assert_same_columns(found, expected, 1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_any_metric(method):
    X, _ = strip(250)

    def distance(a, b):
        return np.sqrt(((a - b) ** 2).sum())

    native = LocallyLinearEmbedding(n_neighbors=9, method=method).fit(X)
    foreign = LocallyLinearEmbedding(n_neighbors=9, method=method, metric=distance).fit(X)
    assert angle(native.embedding_, foreign.embedding_) < 1e-4
    new = X[:10] + 0.01
    assert_same_columns(foreign.transform(new), native.transform(new), 1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["manhattan", "chebyshev", "cosine"])
def test_a_metric_is_the_same_by_name_and_by_callable(method, name):
    X = strip(250)[0] + [0.0, 0.0, 5.0]
    new = X[:10] + 0.01
    distance = {"manhattan": cityblock, "chebyshev": chebyshev, "cosine": cosine}[name]
    estimator = LocallyLinearEmbedding(n_neighbors=12, method=method, disconnected="error")
    by_name = clone(estimator).set_params(metric=name).fit(X)
    called = clone(estimator).set_params(metric=distance).fit(X)
    assert angle(by_name.embedding_, called.embedding_) < 1e-5
    assert_same_columns(called.transform(new), by_name.transform(new), 1e-5)
    np.testing.assert_allclose(
        called.graph_.toarray(), by_name.graph_.toarray(), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
@pytest.mark.parametrize("kind", [Isomap, LocallyLinearEmbedding])
def test_a_metric_learns_from_the_training_rows(kind, metric):
    X = np.random.default_rng(0).normal(size=(200, 4)) * [1, 2, 3, 4]
    given = (
        {"V": X.var(axis=0, ddof=1)}
        if metric == "seuclidean"
        else {"VI": np.linalg.inv(np.cov(X.T))}
    )
    learned = kind(n_neighbors=12, metric=metric).fit(X)
    told = kind(n_neighbors=12, metric=metric, metric_params=given).fit(X)
    assert_same_columns(learned.embedding_, told.embedding_, 1e-6)
    # New rows are measured by the training rows, not by themselves.
    new = X[:9] + 0.01
    assert_same_columns(learned.transform(new), told.transform(new), 1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_given_neighbours_are_the_neighbours(method):
    X, _ = strip(250)
    search = NearestNeighbors(n_neighbors=9).fit(X)
    numbers, graph = search.kneighbors(return_distance=False), search.kneighbors_graph()
    plain = LocallyLinearEmbedding(n_neighbors=9, method=method).fit(X)
    with_self = np.column_stack([np.arange(250), numbers[:, ::-1], numbers[:, 0]])
    for given in (numbers, numbers.tolist(), graph, with_self, sparse.coo_array(graph)):
        found = clone(plain).set_params(neighbors=given).fit(X)
        np.testing.assert_allclose(found.embedding_, plain.embedding_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.graph_.toarray(), plain.graph_.toarray(), rtol=1e-12)
    new = X[:20] + 0.01
    np.testing.assert_allclose(found.transform(new), plain.transform(new), rtol=0, atol=1e-12)
    thin = clone(plain).set_params(neighbors=graph).fit(sparse.csr_array(X))
    assert angle(thin.embedding_, plain.embedding_) < 1e-6
    # They are what counts: others give another map, that of their own number.
    fewer = clone(plain).set_params(neighbors=numbers[:, :7]).fit(X)
    seven = clone(plain).set_params(n_neighbors=7).fit(X)
    assert angle(fewer.embedding_, seven.embedding_) < 1e-6
    # With a metric that scikit-learn evaluates, new rows are looked up there.
    called = clone(plain).set_params(neighbors=numbers, metric=euclidean).fit(X)
    assert_same_columns(called.transform(new), plain.transform(new), 1e-6)


def test_given_neighbours_of_copies():
    X = np.repeat(strip(120)[0], 5, axis=0)
    numbers = NearestNeighbors(n_neighbors=12).fit(X).kneighbors(return_distance=False)
    estimator = LocallyLinearEmbedding(n_neighbors=12, neighbors=numbers, disconnected="largest")
    with pytest.warns(PlanishWarning) as told:
        Y = estimator.fit_transform(X)
    assert any("120 distinct" in str(warning.message) for warning in told)
    assert np.array_equal(Y, np.repeat(Y[::5], 5, axis=0), equal_nan=True)
    kept = np.flatnonzero(np.isfinite(Y[:, 0]))[:7]
    assert np.array_equal(estimator.transform(X[kept]), Y[kept])
    # Lists cannot be searched anew: too few places are told.
    with pytest.raises(ParameterError, match=r"row \d+ has \d neighbour"):
        clone(estimator).set_params(method="ltsa").fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_given_neighbours_that_leave_copies_out(method):
    X, _ = strip(300)
    X[100:110] = X[:10]
    X[200] = X[0]
    apart = cdist(X, X)
    apart[apart == 0] = np.inf
    numbers = np.argsort(apart, axis=1, kind="stable")[:, :10]
    estimator = LocallyLinearEmbedding(n_neighbors=10, neighbors=numbers, method=method).fit(X)
    assert np.array_equal(estimator.transform(X), estimator.embedding_)
    assert np.array_equal(estimator.embedding_[100:110], estimator.embedding_[:10])


@pytest.mark.parametrize("method", METHODS)
def test_copies_under_a_metric_that_is_called(method):
    X = np.repeat(np.random.default_rng(0).random((20, 3)), 20, axis=0)
    own = LocallyLinearEmbedding(n_neighbors=10, method=method, metric=cityblock).fit(X)
    with pytest.warns(InputAdjustedWarning, match="20 distinct"):
        named = LocallyLinearEmbedding(n_neighbors=10, method=method, metric="manhattan").fit(X)
    assert own.n_connected_components_ == named.n_connected_components_ == 1
    assert_same_columns(own.embedding_, named.embedding_, 1e-6)
    assert np.array_equal(own.transform(X), own.embedding_)
    new = X[::50] + 0.01
    np.testing.assert_allclose(own.transform(new), named.transform(new), atol=1e-8)


@pytest.mark.parametrize(
    ("neighbors", "match"),
    [
        (np.full((60, 5), 60), r"row 0 .*60.*59"),
        (np.full((60, 5), -1), r"row 0 "),
        (np.zeros((59, 5), dtype=int), r"shape \(60, k\)"),
        (np.full((60, 5), np.nan), "whole numbers"),
        ([[1], [2, 3]], "neighbors"),
        (sparse.eye_array(59), "60 × 60"),
        (np.tile([1, 2], (60, 1)), r"row \d+ has \d neighbour"),
    ],
)
def test_wrong_neighbours_are_named(neighbors, match):
    estimator = LocallyLinearEmbedding(method="ltsa", neighbors=neighbors)
    with pytest.raises(ParameterError, match=match):
        estimator.fit(swiss_roll(60))
    with pytest.raises(ParameterError, match="neighbors"):
        estimator.set_params(metric="precomputed").fit(np.ones((60, 60)) - np.eye(60))


@pytest.mark.parametrize("method", METHODS)
def test_sparse_points_are_points(method):
    X = np.abs(swiss_roll(300))
    estimator = LocallyLinearEmbedding(n_neighbors=10, method=method)
    dense, thin = clone(estimator).fit(X), clone(estimator).fit(sparse.csr_array(X))
    assert angle(dense.embedding_, thin.embedding_) < 1e-6
    new = X[:9] + 0.01
    assert_same_columns(thin.transform(sparse.csr_array(new)), dense.transform(new), 1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_radius_in_place_of_a_number(method):
    X, flat = strip(500)
    estimator = LocallyLinearEmbedding(n_neighbors=None, radius=0.35, method=method).fit(X)
    assert affine_residual(estimator.embedding_, flat) < (0.3 if method == "standard" else 0.03)
    far = np.vstack([X[:1], [[50.0, 0.0, 0.0]]])
    with pytest.raises(InputError, match=r"row 1.*isolated"):
        estimator.transform(far)
    nearest = clone(estimator).set_params(isolated="nearest").fit(X)
    closest = cdist(far[1:], X).argmin()
    np.testing.assert_allclose(
        nearest.transform(far)[1], nearest.embedding_[closest], rtol=0, atol=1e-12
    )


# -- new rows -------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_new_rows_are_made_from_their_neighbours(method):
    X = swiss_roll(600)
    new = swiss_roll(40, seed=5)
    estimator = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    expected = []
    for row in new:
        near = np.argsort(cdist(row[None], X)[0], kind="stable")[:10]
        expected.append(weights_of(X[near] - row) @ estimator.embedding_[near])
    np.testing.assert_allclose(estimator.transform(new), expected, rtol=1e-7, atol=1e-10)


def test_weights_in_a_triangle_are_its_barycentric_coordinates():
    # Three training rows around the new one, and a fourth that is not its neighbour.
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    estimator = LocallyLinearEmbedding(n_neighbors=3, n_components=2, reg=1e-11).fit(corners)
    first, second, third = estimator.embedding_[:3, 0]
    placed = estimator.transform(np.array([[0.2, 0.3]]))[0, 0]
    assert placed == pytest.approx(0.5 * first + 0.2 * second + 0.3 * third, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_training_rows_and_batches(method):
    X = swiss_roll(500)
    estimator = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    assert np.array_equal(estimator.transform(X), estimator.embedding_)
    new = swiss_roll(30, seed=8)
    together = estimator.transform(new)
    assert np.array_equal(np.vstack([estimator.transform(row[None]) for row in new]), together)


@pytest.mark.parametrize("method", ISOMETRIC)
def test_new_rows_land_near_their_true_place(method):
    X, flat = rolled(1500)
    new, new_flat = rolled(300, seed=1)
    estimator = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    placed = estimator.transform(new)
    assert affine_residual(estimator.embedding_, flat, (placed, new_flat)) < 0.03


# -- graphs in pieces -----------------------------------------------------------------


def two_sheets(n=150):
    """Two bent sheets 100 apart, of n and n - 30 rows."""
    one, other = strip(n, 0)[0], strip(n - 30, 1)[0]
    return np.vstack([one, other + np.array([100.0, 0.0, 0.0])])


@pytest.mark.parametrize("method", METHODS)
def test_two_sheets_under_each_policy(method):
    X = two_sheets()
    estimator = LocallyLinearEmbedding(n_neighbors=10, method=method)
    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        both = clone(estimator).fit(X)
    assert both.n_connected_components_ == 2
    assert np.array_equal(both.component_labels_, np.repeat([0, 1], [150, 120]))
    assert np.isfinite(both.embedding_).all()
    total = both.embedding_.std(axis=0)
    for piece in (slice(0, 150), slice(150, None)):
        assert (both.embedding_[piece].std(axis=0) > 1e-3 * total).all()
    # Each is the map that it has alone, up to an affine one.
    alone = clone(estimator).fit_transform(X[:150])
    assert affine_residual(both.embedding_[:150], alone) < 1e-4
    assert np.array_equal(both.transform(X), both.embedding_)

    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        largest = clone(estimator).set_params(disconnected="largest").fit(X)
    assert np.isnan(largest.embedding_[150:]).all()
    assert angle(largest.embedding_[:150], alone) < 1e-4

    with pytest.raises(DisconnectedGraphError) as caught:
        clone(estimator).set_params(disconnected="error").fit(X)
    assert caught.value.n_components == 2
    assert np.array_equal(caught.value.labels, np.repeat([0, 1], [150, 120]))


@pytest.mark.parametrize("method", METHODS)
def test_side_by_side_means_apart(method):
    with pytest.warns(DisconnectedGraphWarning):
        Y = LocallyLinearEmbedding(n_neighbors=10, method=method).fit_transform(two_sheets())
    # Some line separates the two maps: they do not lie on top of each other.
    gap = cdist(Y[:150], Y[150:]).min()
    assert gap > 1e-3 * np.ptp(Y, axis=0).max()


# -- awkward data ---------------------------------------------------------------------


def finite_or_refused(estimator, X):
    """Rows in, finite rows out, or a refusal that says something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        try:
            Y = clone(estimator).fit_transform(X)
        except PlanishError as refusal:
            Y, message = None, str(refusal)
    if Y is None:
        assert len(message) > 20, message
        return None
    assert Y.shape == (X.shape[0], estimator.n_components)
    assert np.isfinite(Y).all()
    return Y


@pytest.mark.parametrize("components", [2, 4])
@pytest.mark.parametrize("method", METHODS)
def test_digits_are_finite_with_every_method(method, components):
    X = load_digits().data
    estimator = LocallyLinearEmbedding(n_neighbors=20, n_components=components, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        Y = estimator.fit_transform(X)
    assert np.isfinite(Y).all()
    assert (Y.std(axis=0) > 0).all()
    if estimator.n_connected_components_ == 1:
        np.testing.assert_allclose(np.linalg.norm(Y, axis=0), 1.0, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_twenty_points_twenty_times(method):
    X = np.repeat(np.random.default_rng(0).random((20, 3)), 20, axis=0)
    estimator = LocallyLinearEmbedding(n_neighbors=10, method=method)
    with pytest.warns(InputAdjustedWarning, match="20 distinct"):
        Y = estimator.fit_transform(X)
    assert np.isfinite(Y).all()
    assert np.array_equal(Y, np.repeat(Y[::20], 20, axis=0))
    assert (Y.std(axis=0) > 0).all()
    alone = clone(estimator).fit_transform(X[::20])
    assert angle(Y[::20] - Y.mean(axis=0), alone) < 1e-4
    assert np.array_equal(estimator.transform(X[:25]), Y[:25])


@pytest.mark.parametrize("method", METHODS)
def test_some_duplicates_do_no_harm(method):
    X, flat = strip(400)
    alone = LocallyLinearEmbedding(n_neighbors=12, method=method).fit_transform(X)
    X, flat = np.vstack([X, X[:40]]), np.vstack([flat, flat[:40]])
    Y = LocallyLinearEmbedding(n_neighbors=12, method=method).fit_transform(X)
    assert np.array_equal(Y[400:], Y[:40])
    np.testing.assert_allclose(Y.T @ Y, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    # Of the distinct rows it is the same map, up to the weight of the copies.
    assert affine_residual(Y[:400], alone) < 1e-10
    if method in ISOMETRIC:
        assert affine_residual(Y, flat) < 0.05


@pytest.mark.parametrize("method", METHODS)
def test_every_row_many_times_within_a_radius(method):
    X = np.repeat(np.random.default_rng(0).random((20, 3)), 20, axis=0)
    Y = LocallyLinearEmbedding(n_neighbors=None, radius=0.8, method=method).fit_transform(X)
    np.testing.assert_allclose(Y.T @ Y, np.eye(2), atol=1e-12)
    assert len(np.unique(Y, axis=0)) == 20


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1e-150, 1e-155, 1e-161, 1e-310])
@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
def test_a_cluster_whose_squares_vanish(method, size):
    rng = np.random.default_rng(0)
    X = np.vstack([size * rng.standard_normal((15, 3)), 1 + rng.random((40, 3))])
    for reg in (1e-3, 0.0):
        estimator = LocallyLinearEmbedding(n_neighbors=8, reg=reg, method=method).fit(X)
        assert np.isfinite(estimator.embedding_).all()
        assert np.isfinite(estimator.transform(size * rng.standard_normal((2, 3)))).all()


def test_groups_that_only_outsiders_join_are_told():
    left = np.random.default_rng(0).random((60, 3))
    right = left * [-1, 1, 1] + [101, 0, 0]
    X = np.vstack([left, right, [[50.5, 0.5, 0.5]]])
    with pytest.warns(DisconnectedGraphWarning, match=r"2 groups of rows.*60 rows.*1 of the 2"):
        told = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    assert told.n_connected_components_ == 1
    # What is told is true: each group is one point of the first column.
    assert max(np.ptp(told.embedding_[:60, 0]), np.ptp(told.embedding_[60:120, 0])) < 1e-6


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "iterative"])
def test_two_points(solver):
    Y = LocallyLinearEmbedding(n_neighbors=1, n_components=1, eigen_solver=solver).fit_transform(
        [[0.0, 0.0], [1.0, 2.0]]
    )
    np.testing.assert_allclose(np.abs(Y), np.sqrt(0.5))
    assert abs(Y.sum()) < 1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", ["dense", "arpack", "iterative"])
def test_half_of_a_pair_is_told(method, solver):
    t = 2 * np.pi * np.arange(200) / 200
    circle = np.column_stack([np.cos(t), np.sin(t)])
    estimator = LocallyLinearEmbedding(
        n_neighbors=8, n_components=1, eigen_solver=solver, method=method
    )
    with pytest.warns(RankDeficientWarning, match="that of column 1"):
        estimator.fit(circle)
    clone(estimator).set_params(n_components=2).fit(circle)  # the whole pair: nothing to tell


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0.0, 1.0, -1e100])
def test_constant_data(method, value):
    finite_or_refused(LocallyLinearEmbedding(n_neighbors=8, method=method), np.full((30, 3), value))


@pytest.mark.parametrize("method", METHODS)
def test_one_feature_and_two_components(method):
    line = np.linspace(0, 1, 60)[:, None] ** 1.2
    finite_or_refused(LocallyLinearEmbedding(n_neighbors=8, method=method), line)


@pytest.mark.parametrize("method", METHODS)
def test_three_points(method):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    Y = finite_or_refused(LocallyLinearEmbedding(n_neighbors=2, n_components=1, method=method), X)
    if method == "standard":
        assert Y is not None


@pytest.mark.parametrize(("components", "smallest"), [(1, 3), (2, 6), (3, 10), (4, 15)])
def test_too_few_neighbours_for_a_hessian(components, smallest):
    X = swiss_roll(200)
    estimator = LocallyLinearEmbedding(
        n_neighbors=smallest - 1, n_components=components, method="hessian"
    )
    with pytest.raises(ParameterError, match=rf"n_neighbors.*\b{smallest}\b"):
        estimator.fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_more_asked_for_than_there_is(method):
    X = swiss_roll(20)
    for k in (20, 50):
        with pytest.raises(ParameterError, match=r"n_neighbors.*20"):
            LocallyLinearEmbedding(n_neighbors=k, method=method).fit(X)
    for p in (20, 25):
        with pytest.raises(ParameterError, match="n_components"):
            LocallyLinearEmbedding(n_neighbors=19, n_components=p, method=method).fit(X)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("n_components", 0, "n_components"),
        ("n_neighbors", 0, "n_neighbors"),
        ("n_neighbors", None, r"(?s)n_neighbors.*radius"),
        ("radius", 1.0, r"(?s)n_neighbors.*radius|radius.*n_neighbors"),
        ("reg", -1.0, "reg"),
        ("eigen_solver", "magic", "eigen_solver.*dense"),
        ("tol", -1.0, "tol"),
        ("max_iter", 0, "max_iter"),
        ("method", "laplacian", "method.*hessian"),
        ("hessian_tol", -1.0, "hessian_tol"),
        ("modified_tol", -1.0, "modified_tol"),
        ("neighbors_algorithm", "hnsw", "neighbors_algorithm.*brute"),
        ("metric", "furlong", "metric.*furlong.*euclidean"),
        ("nonnegative", "yes", "nonnegative"),
        ("tol", 1.0, "tol"),
        ("disconnected", "ignore", "disconnected.*bridge"),
        ("isolated", "ignore", "isolated.*nearest"),
    ],
)
def test_wrong_parameters_are_named(name, value, match, roll):
    estimator = LocallyLinearEmbedding(**{name: value})
    with pytest.raises(ParameterError, match=match):
        estimator.fit(roll)
    assert not hasattr(estimator, "embedding_")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("exponent", [-100, -8, 8, 100])
def test_no_unit_is_special(method, exponent):
    X, _ = strip(250)
    estimator = LocallyLinearEmbedding(n_neighbors=10, method=method)
    plain = clone(estimator).fit(X)
    scaled = clone(estimator).fit(X * 10.0**exponent)
    assert angle(scaled.embedding_, plain.embedding_) < 1e-4
    new = X[:10] + 0.01
    assert_same_columns(scaled.transform(new * 10.0**exponent), plain.transform(new), 1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_straight_line_is_found_exactly(method):
    line = np.linspace(0, 1, 40)[:, None] ** 1.1 * [[1.0, 2.0, 2.0]]
    # Weights without much regularisation reproduce a straight line.
    estimator = LocallyLinearEmbedding(n_neighbors=4, n_components=1, reg=1e-9, method=method)
    assert affine_residual(estimator.fit_transform(line), line[:, :1]) < 1e-3


# -- rows are told by their values ----------------------------------------------------


def rmsd(a, b):
    """Distance of two shapes after the best rotation; of a shape to itself only almost 0."""
    P, Q = a.reshape(-1, 3), b.reshape(-1, 3)
    P, Q = P - P.mean(axis=0), Q - Q.mean(axis=0)
    s = np.linalg.svd(P.T @ Q)[1]
    s[-1] *= np.sign(np.linalg.det(P.T @ Q))
    return np.sqrt(max(0.0, (P * P).sum() + (Q * Q).sum() - 2 * s.sum()) / len(P))


def shapes(n):
    rng = np.random.default_rng(0)
    base, t = rng.normal(size=(6, 3)), 3 * rng.random(n)
    steps = np.column_stack([np.cos(t), np.sin(t), 0 * t])
    return np.array([(base + np.outer(np.arange(6), step)).ravel() for step in steps])


def assert_exact(estimator, X):
    """Training rows get their own places: together, one by one, and after pickling."""
    assert np.array_equal(estimator.transform(X), estimator.embedding_)
    one_by_one = np.vstack([estimator.transform(row[None]) for row in X])
    assert np.array_equal(one_by_one, estimator.embedding_)
    assert np.array_equal(pickle.loads(pickle.dumps(estimator)).transform(X), estimator.embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_training_rows_whose_distance_to_themselves_is_not_zero(method):
    X = shapes(60)
    assert max(rmsd(x, x) for x in X) > 0
    assert_exact(
        LocallyLinearEmbedding(n_neighbors=10, n_components=1, metric=rmsd, method=method).fit(X), X
    )


@pytest.mark.parametrize("metric", ["russellrao", "yule", "dice", "jaccard", "rogerstanimoto"])
def test_training_rows_of_truth_values(metric):
    X = np.random.default_rng(1).random((40, 6)) > 0.6
    assert (~X.any(axis=1)).any()
    # Warnings are errors here: that truth values are no numbers needs no telling.
    estimator = LocallyLinearEmbedding(
        n_neighbors=8, n_components=1, metric=metric, disconnected="error"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        estimator.fit(X)
    assert_exact(estimator, X)


def test_a_row_of_zeros_has_no_distance_to_itself_and_is_found():
    X = np.array([[1, 1], [1, 0], [0, 1], [1, 1], [0, 0], [0, 1], [1, 0]], dtype=bool)
    estimator = LocallyLinearEmbedding(n_neighbors=1, n_components=1, metric="dice")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        estimator.fit(X)
    assert_exact(estimator, X)


@pytest.mark.parametrize("method", METHODS)
def test_rows_in_one_direction_are_no_copies_under_cosine(method):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(200, 3))) + 0.2
    X[100:150] = 2 * X[:50]
    estimator = LocallyLinearEmbedding(n_neighbors=12, metric="cosine", method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        estimator.fit(X)
    assert len(np.unique(estimator.embedding_, axis=0)) == 200
    assert_exact(estimator, X)
    # A new row in the direction of a training row is placed by where it is.
    near, far = estimator.transform(X[:1] * 1.25), estimator.transform(X[:1] * 1.5)
    assert np.abs(near - far).max() > 1e-6
    # As many rows at distance 0 as there are neighbours: the row itself is still found.
    rays = np.outer(1 + rng.random(60), [1.0, 2.0, 3.0]) + 0.0
    rays = np.vstack([rays, X[:60]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        estimator.fit(rays)
    assert_exact(estimator, rays)


def test_a_metric_that_sees_no_difference_makes_no_copies():
    X = np.random.default_rng(0).random((120, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = LocallyLinearEmbedding(n_neighbors=8, metric="jaccard", method="ltsa").fit(X)
    Y = estimator.embedding_
    assert len(np.unique(Y, axis=0)) == 120
    norms = np.linalg.norm(Y - Y.mean(axis=0), axis=0)
    assert ((abs(norms - 1) < 1e-9) | (norms == 0)).all()
    assert np.array_equal(estimator.transform(X), Y)


@pytest.mark.parametrize("algorithm", ["auto", "brute", "ball_tree"])
@pytest.mark.parametrize("kind", [LocallyLinearEmbedding, Isomap])
def test_a_metric_that_returns_nan_is_told_with_its_rows(kind, algorithm):
    X = np.random.default_rng(0).random((60, 3))
    X[7, 0], X[31, 0] = -1.0, 2.0

    def gap(a, b):
        return np.nan if abs(a[0] - b[0]) > 2.5 else np.abs(a - b).sum()

    estimator = kind(n_neighbors=8, metric=gap, neighbors_algorithm=algorithm)
    with pytest.raises(InputError, match=r"NaN for (row 7 and row 31|row 31 and row 7|two points)"):
        estimator.fit(X)
    rest = np.delete(X, 31, axis=0)
    estimator.fit(rest)
    with pytest.raises(InputError, match=r"NaN for (row 1 and training row 7|two points)"):
        estimator.transform(X[30:32])


# -- directions of very different lengths ---------------------------------------------


# Modified LLE regularises its weights, which loses such directions whatever is found.
@pytest.mark.parametrize("method", ["hessian", "ltsa"])
@pytest.mark.parametrize("short", [1e-3, 1e-5, 1e-6, 1e-7, 1e-9, 1e-11])
def test_a_direction_much_shorter_than_another_is_kept(method, short):
    flat = np.random.default_rng(0).random((800, 2))
    X = flat * [1.0, short]
    wide = np.column_stack([X, np.zeros((800, 14))])  # more features than neighbours
    for rows in (X, wide):
        estimator = LocallyLinearEmbedding(n_neighbors=12, method=method)
        assert affine_residual(estimator.fit_transform(rows), flat) < 1e-6


# -- what is told ---------------------------------------------------------------------


def messages(estimator, X):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        estimator.fit(X)
    return " ".join(str(warning.message) for warning in told)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_directions_than_components_are_told(method):
    rng = np.random.default_rng(0)
    line = rng.random((300, 1))
    plane = rng.random((300, 2)) @ rng.normal(size=(2, 5))
    k = 12
    estimator = LocallyLinearEmbedding(n_neighbors=k, n_components=3, method=method)
    with pytest.warns(RankDeficientWarning, match=r"functions of the others.*n_components <= 1"):
        clone(estimator).fit(line)
    if method != "standard":  # which does not look at directions
        with pytest.warns(RankDeficientWarning, match=r"of 300 rows span.*n_components <= 2"):
            clone(estimator).fit(plane)
    with pytest.warns(RankDeficientWarning, match=r"functions of the others"):
        clone(estimator).set_params(n_components=2).fit(line)
    assert "functions" not in messages(clone(estimator).set_params(n_components=1), line)
    assert "functions" not in messages(clone(estimator).set_params(n_components=2), plane)


def test_the_warning_names_the_knob_that_is_there():
    rng = np.random.default_rng(0)
    X = rng.random((30, 3))
    apart = messages(LocallyLinearEmbedding(n_neighbors=None, radius=1e-6), X)
    assert "single place" in apart
    assert "`radius`" in apart
    assert "raise n_neighbors" not in apart
    assert "n_components <= 1" not in apart
    pairs = np.arange(30)[:, None] ^ 1
    given = messages(LocallyLinearEmbedding(neighbors=pairs), X)
    assert "`neighbors`" in given
    constant = messages(LocallyLinearEmbedding(), np.ones((30, 3)))
    assert "one place" in constant
    assert "n_components <=" not in constant


def test_groups_held_by_single_weights_are_told_of_modified_too():
    rng = np.random.default_rng(0)
    left = rng.random((60, 10))
    right = np.column_stack([101 - left[:, 0], rng.random((60, 9))])
    X = np.vstack([left, right, [np.r_[50.5, np.full(9, 0.5)]]])
    estimator = LocallyLinearEmbedding(n_neighbors=8, n_components=7, method="modified")
    with pytest.warns(DisconnectedGraphWarning, match=r"2 groups of rows.*1 of the 7"):
        told = clone(estimator).fit(X)
    assert max(np.ptp(told.embedding_[:60, 0]), np.ptp(told.embedding_[60:120, 0])) < 1e-3
    # Several weight vectors hold the groups where they are.
    assert "groups" not in messages(clone(estimator).set_params(n_components=2), X)


def test_too_many_rows_in_a_radius_are_told_before_they_are_searched():
    if psutil.virtual_memory().available > 50e9:
        pytest.skip("this machine has room for it")
    X = np.random.default_rng(0).random((60_000, 3))
    for kind in (LocallyLinearEmbedding, Isomap):
        with pytest.raises(MemoryNeedError, match="radius"):
            kind(n_neighbors=None, radius=10.0).fit(X)
    with pytest.raises(MemoryNeedError, match="'arpack'"):
        LocallyLinearEmbedding(eigen_solver="dense").fit(X)
