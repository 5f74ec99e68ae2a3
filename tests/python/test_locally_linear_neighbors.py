"""Neighbourhoods of LLE: metrics, given neighbours, sparse points, radii, equal rows."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
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
from sklearn.neighbors import NearestNeighbors

from conftest import affine_residual, angle, assert_same_columns, strip, swiss_roll
from planish import (
    Isomap,
    LocallyLinearEmbedding,
)
from planish.exceptions import (
    InputAdjustedWarning,
    InputError,
    ParameterError,
    PlanishWarning,
)

METHODS = ["standard", "modified", "hessian", "ltsa"]


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
    outright = kind(n_neighbors=12, metric=metric, metric_params=given).fit(X)
    assert_same_columns(learned.embedding_, outright.embedding_, 1e-6)
    # New rows are measured by the training rows, not by themselves.
    new = X[:9] + 0.01
    assert_same_columns(learned.transform(new), outright.transform(new), 1e-6)


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


def test_given_neighbours_of_duplicates():
    X = np.repeat(strip(120)[0], 5, axis=0)
    numbers = NearestNeighbors(n_neighbors=12).fit(X).kneighbors(return_distance=False)
    estimator = LocallyLinearEmbedding(n_neighbors=12, neighbors=numbers, disconnected="largest")
    with pytest.warns(PlanishWarning) as reported:
        Y = estimator.fit_transform(X)
    assert any("120 distinct" in str(warning.message) for warning in reported)
    assert np.array_equal(Y, np.repeat(Y[::5], 5, axis=0), equal_nan=True)
    kept = np.flatnonzero(np.isfinite(Y[:, 0]))[:7]
    assert np.array_equal(estimator.transform(X[kept]), Y[kept])
    # Lists cannot be searched anew: too few distinct neighbours are refused.
    with pytest.raises(ParameterError, match=r"row \d+ has \d neighbour"):
        clone(estimator).set_params(method="ltsa").fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_given_neighbours_that_leave_duplicates_out(method):
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
def test_duplicates_under_a_metric_that_is_called(method):
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
        (sparse.csr_array(np.eye(59)), "60 × 60"),
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


# -- rows are recognised by their values ----------------------------------------------------
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


def test_a_very_large_power_is_the_largest_difference():
    X = np.random.default_rng(0).normal(size=(11, 3))
    for form in [np.asarray, sparse.csr_array]:
        power = LocallyLinearEmbedding(n_neighbors=8, n_components=2, p=1e6).fit(form(X))
        limit = LocallyLinearEmbedding(n_neighbors=8, n_components=2, metric="chebyshev")
        assert np.array_equal(power.embedding_, limit.fit(form(X)).embedding_)


@pytest.mark.parametrize("kind", ["diagonal", "asymmetric", "negative"])
@pytest.mark.parametrize("method", METHODS)
def test_training_rows_of_distances_that_were_corrected(method, kind):
    X = np.random.default_rng(0).normal(size=(40, 3))
    D = squareform(pdist(X)) * 1e9
    rounding = np.random.default_rng(1).random(D.shape)
    if kind == "diagonal":
        D += np.diag(rounding[0])
    elif kind == "asymmetric":
        D += rounding
    else:
        D -= np.diag(rounding[0])
    estimator = LocallyLinearEmbedding(
        n_neighbors=12, n_components=2, metric="precomputed", method=method
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanishWarning)
        estimator.fit(D)
    assert_exact(estimator, D)
    # A row that is as near to a training row, and is another, is placed by the formula.
    near = D[:1].copy()
    near[0, 1:] += 1e3
    near[0, 0] = 0.5
    assert not np.array_equal(estimator.transform(near), estimator.embedding_[:1])


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
def test_rows_in_one_direction_are_no_duplicates_under_cosine(method):
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


def test_a_metric_that_sees_no_difference_makes_no_duplicates():
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
def test_a_metric_that_returns_nan_is_refused_with_its_rows(kind, algorithm):
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
