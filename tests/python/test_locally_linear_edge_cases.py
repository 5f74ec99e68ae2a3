"""LLE on awkward data: several components, duplicates, few rows, wrong parameters, warnings."""

import warnings

import numpy as np
import psutil
import pytest
from scipy.spatial.distance import (
    cdist,
)
from sklearn.base import clone
from sklearn.datasets import load_digits

from conftest import affine_residual, angle, assert_same_columns, strip, swiss_roll
from planish import (
    Isomap,
    LocallyLinearEmbedding,
)
from planish.exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    InputAdjustedWarning,
    MemoryNeedError,
    ParameterError,
    PlanishError,
    PlanishWarning,
    RankDeficientWarning,
)

METHODS = ["standard", "modified", "hessian", "ltsa"]


ISOMETRIC = ["modified", "hessian", "ltsa"]


# -- several components -----------------------------------------------------------------
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
    for component in (slice(0, 150), slice(150, None)):
        assert (both.embedding_[component].std(axis=0) > 1e-3 * total).all()
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
    # Of the distinct rows it is the same map, up to the weight of the duplicates.
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


def test_groups_that_only_outsiders_join_are_reported():
    left = np.random.default_rng(0).random((60, 3))
    right = left * [-1, 1, 1] + [101, 0, 0]
    X = np.vstack([left, right, [[50.5, 0.5, 0.5]]])
    with pytest.warns(DisconnectedGraphWarning, match=r"2 groups of rows.*60 rows.*1 of the 2"):
        reported = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    assert reported.n_connected_components_ == 1
    # The warning is true: each group is one point of the first column.
    assert max(np.ptp(reported.embedding_[:60, 0]), np.ptp(reported.embedding_[60:120, 0])) < 1e-6


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "iterative"])
def test_two_points(solver):
    Y = LocallyLinearEmbedding(n_neighbors=1, n_components=1, eigen_solver=solver).fit_transform(
        [[0.0, 0.0], [1.0, 2.0]]
    )
    np.testing.assert_allclose(np.abs(Y), np.sqrt(0.5))
    assert abs(Y.sum()) < 1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", ["dense", "arpack", "iterative"])
def test_half_of_a_pair_is_reported(method, solver):
    t = 2 * np.pi * np.arange(200) / 200
    circle = np.column_stack([np.cos(t), np.sin(t)])
    estimator = LocallyLinearEmbedding(
        n_neighbors=8, n_components=1, eigen_solver=solver, method=method
    )
    with pytest.warns(RankDeficientWarning, match="that of column 1"):
        estimator.fit(circle)
    clone(estimator).set_params(n_components=2).fit(circle)  # the whole pair: no warning


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
        ("disconnected", "ignore", "disconnected.*separate"),
        ("disconnected", "bridge", "disconnected.*separate"),
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


# -- warnings ---------------------------------------------------------------------
def messages(estimator, X):
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        estimator.fit(X)
    return " ".join(str(warning.message) for warning in reported)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_directions_than_components_are_reported(method):
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


def test_the_warning_names_a_parameter_that_is_there():
    rng = np.random.default_rng(0)
    X = rng.random((30, 3))
    apart = messages(LocallyLinearEmbedding(n_neighbors=None, radius=1e-6), X)
    assert "single point" in apart
    assert "`radius`" in apart
    assert "raise n_neighbors" not in apart
    assert "n_components <= 1" not in apart
    pairs = np.arange(30)[:, None] ^ 1
    given = messages(LocallyLinearEmbedding(neighbors=pairs), X)
    assert "`neighbors`" in given
    constant = messages(LocallyLinearEmbedding(), np.ones((30, 3)))
    assert "all rows are equal" in constant
    assert "n_components <=" not in constant


def test_groups_held_by_single_weights_are_reported_of_modified_too():
    rng = np.random.default_rng(0)
    left = rng.random((60, 10))
    right = np.column_stack([101 - left[:, 0], rng.random((60, 9))])
    X = np.vstack([left, right, [np.r_[50.5, np.full(9, 0.5)]]])
    estimator = LocallyLinearEmbedding(n_neighbors=8, n_components=7, method="modified")
    with pytest.warns(DisconnectedGraphWarning, match=r"2 groups of rows.*1 of the 7"):
        reported = clone(estimator).fit(X)
    assert max(np.ptp(reported.embedding_[:60, 0]), np.ptp(reported.embedding_[60:120, 0])) < 1e-3
    # Several weight vectors hold the groups where they are.
    assert "groups" not in messages(clone(estimator).set_params(n_components=2), X)


def test_too_many_rows_in_a_radius_are_refused_before_they_are_searched():
    if psutil.virtual_memory().available > 50e9:
        pytest.skip("this machine has room for it")
    X = np.random.default_rng(0).random((60_000, 3))
    for kind in (LocallyLinearEmbedding, Isomap):
        with pytest.raises(MemoryNeedError, match="radius"):
            kind(n_neighbors=None, radius=10.0).fit(X)
    with pytest.raises(MemoryNeedError, match="'arpack'"):
        LocallyLinearEmbedding(eigen_solver="dense").fit(X)
