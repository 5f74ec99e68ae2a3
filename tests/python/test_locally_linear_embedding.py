"""LLE and its relatives, against the papers' formulas, scikit-learn and known truth."""

import warnings

import numpy as np
import pytest
import sklearn.manifold
from scipy.linalg import eigh
from scipy.optimize import nnls
from scipy.spatial.distance import (
    cdist,
    euclidean,
)
from sklearn.neighbors import NearestNeighbors

from conftest import affine_residual, angle, rolled, strip, swiss_roll
from planish import (
    Isomap,
    LocallyLinearEmbedding,
    kneighbors,
    locally_linear_embedding,
)
from planish.exceptions import (
    ParameterError,
    PlanishError,
    PlanishWarning,
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
    named = LocallyLinearEmbedding(
        n_neighbors="auto", method="hessian", n_components=components
    ).fit(X)
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
    np.testing.assert_allclose(
        own.embedding_,
        LocallyLinearEmbedding(n_neighbors="auto", method="hessian").fit_transform(X[:80]),
        atol=1e-8,
    )
    assert (
        LocallyLinearEmbedding(n_neighbors="auto", method="hessian").fit(X[:9]).n_neighbors_ == 8
    )  # all there are
    assert not hasattr(
        LocallyLinearEmbedding(n_neighbors=None, radius=0.5, method="hessian").fit(X[:200]),
        "n_neighbors_",
    )
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
