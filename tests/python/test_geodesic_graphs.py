"""What methods on a neighbourhood graph share: outliers, isolated rows, units, shortcuts."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone

from conftest import assert_same_columns, rolled, up_to_sign
from planish import (
    DiffusionMaps,
    Isomap,
    KernelIsomap,
    LandmarkIsomap,
    LandmarkMDS,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    neighbors_graph,
    residual_variance,
)
from planish.exceptions import (
    DisconnectedGraphWarning,
    InputError,
    OutlierWarning,
    ParameterError,
    ShortcutWarning,
)


# -- new rows -------------------------------------------------------------------------
@pytest.mark.parametrize("cls", [Isomap, KernelIsomap, LandmarkIsomap])
def test_isolated_rows_get_the_answer_asked_for(cls, roll):
    far = np.vstack([roll[:2] + 0.01, roll[5] + [300.0, 0, 0]])
    with pytest.raises(InputError, match=r"row 2 has no training row.*isolated"):
        cls(n_neighbors=None, radius=4.0).fit(roll).transform(far)
    estimator = cls(n_neighbors=None, radius=4.0, isolated="nearest").fit(roll)
    placed = estimator.transform(far)
    assert np.isfinite(placed).all()
    for row in range(3):
        assert np.array_equal(estimator.transform(far[row : row + 1])[0], placed[row])
    # Attached to the nearest row alone.
    direct = cdist(far[2:], roll)[0]
    if cls is Isomap:
        D = estimator.dist_matrix_
        geodesics = direct.min() + D[direct.argmin()]
        squares = geodesics**2
        kernel = -0.5 * (squares - squares.mean() - (D**2).mean(axis=0) + (D**2).mean())
        expected = kernel @ estimator.eigenvectors_ / np.sqrt(estimator.eigenvalues_)
        np.testing.assert_allclose(placed[2], expected, rtol=1e-8)
    D = cdist(far, roll)
    given = cls(n_neighbors=None, radius=4.0, isolated="nearest", metric="precomputed").fit(
        cdist(roll, roll)
    )
    np.testing.assert_allclose(np.abs(given.transform(D)), np.abs(placed), rtol=1e-6, atol=1e-6)


# -- outliers -------------------------------------------------------------------------
@pytest.mark.parametrize("cls", [Isomap, KernelIsomap, LandmarkIsomap])
@pytest.mark.parametrize("conformal", [False, True])
def test_one_row_far_away_does_not_change_the_map_of_the_rest(cls, conformal, roll):
    alone = cls(n_neighbors=8, conformal=conformal).fit(roll)
    far = roll.mean(axis=0) + 1000 * roll.std()
    both = np.insert(roll, 7, far, axis=0)
    estimator = cls(n_neighbors=8, conformal=conformal)
    with pytest.warns(OutlierWarning, match=r"1 outlier.*rows 7 \("):
        estimator.fit(both)
    assert estimator.outliers_.tolist() == [7]
    rest = np.delete(estimator.embedding_, 7, axis=0)
    assert_same_columns(rest, alone.embedding_, 1e-9)
    assert np.isfinite(estimator.embedding_).all()
    assert np.array_equal(estimator.transform(both), estimator.embedding_)
    # Placed as a new row would be.
    signs = np.sign((rest * alone.embedding_).sum(axis=0))
    np.testing.assert_allclose(
        estimator.embedding_[7], signs * alone.transform(far[None])[0], rtol=1e-8
    )


def test_outliers_of_distances_and_radii(roll):
    far = np.vstack([roll, roll.mean(axis=0) + 1000 * roll.std()])
    D = cdist(far, far)
    expected = Isomap(n_neighbors=8).fit(roll).embedding_
    estimator = Isomap(n_neighbors=8, metric="precomputed")
    with pytest.warns(OutlierWarning):
        estimator.fit(D)
    assert_same_columns(estimator.embedding_[:-1], expected, 1e-9)
    assert np.array_equal(estimator.transform(D), estimator.embedding_)
    assert estimator.graph_.shape == D.shape
    assert estimator.graph_[[400]].nnz == 0
    assert np.isnan(estimator.eigenvectors_[400]).all()
    assert np.isinf(estimator.dist_matrix_[400, :400]).all()
    # A graph has no distances to place a row by: all its rows take part.
    graph = Isomap(n_neighbors=8, metric="precomputed").fit(neighbors_graph(far, n_neighbors=8))
    assert graph.outliers_.size == 0
    estimator = Isomap(n_neighbors=None, radius=5.0)
    with pytest.warns(OutlierWarning), pytest.warns(DisconnectedGraphWarning):
        estimator.fit(far)
    assert np.array_equal(estimator.transform(far), estimator.embedding_)


def test_outliers_can_be_kept(roll):
    from sklearn.manifold import Isomap as Theirs

    far = np.vstack([roll, roll.mean(axis=0) + 1000 * roll.std()])
    kept = Isomap(n_neighbors=8, outliers="keep").fit(far)
    assert kept.outliers_.size == 0
    assert_same_columns(kept.embedding_, Theirs(n_neighbors=8).fit_transform(far), 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_ordinary_data_has_no_outliers(seed):
    rng = np.random.default_rng(seed)
    for X in (
        rng.normal(size=(500, 3)),
        rng.standard_t(2, size=(500, 2)),
        np.exp(2 * rng.normal(size=(500, 2))),
        np.vstack([rng.normal(size=(300, 2)), rng.normal(size=(50, 2)) + 1e4]),
        np.repeat(rng.normal(size=(50, 2)), 10, axis=0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert Isomap(n_neighbors=6).fit(X).outliers_.size == 0


def test_outliers_do_not_use_up_neighbours(roll):
    X = roll[:60].copy()
    X[0] += 1e6
    with pytest.warns(OutlierWarning):
        estimator = Isomap(n_neighbors=59, conformal=True).fit(X)
    alone = Isomap(n_neighbors=58, conformal=True).fit(X[1:])
    assert_same_columns(estimator.embedding_[1:], alone.embedding_, 1e-9)
    assert np.array_equal(estimator.transform(X), estimator.embedding_)


# -- units ----------------------------------------------------------------------------
@pytest.mark.parametrize("exponent", [-100, -30, -8, 8, 30, 60, 100])
def test_no_unit_is_special(roll, exponent):
    factor = 10.0**exponent
    for estimator in (
        Isomap(n_neighbors=8, storage="float32"),
        Isomap(n_neighbors=8, storage="recompute"),
        KernelIsomap(n_neighbors=8),
        LandmarkIsomap(n_neighbors=8, n_landmarks=40),
        LandmarkMDS(n_landmarks=40),
    ):
        plain = clone(estimator).fit(roll)
        scaled = clone(estimator).fit(roll * factor)
        assert_same_columns(scaled.embedding_ / factor, plain.embedding_, 1e-6)
        if isinstance(estimator, KernelIsomap):
            assert scaled.constant_ / factor == pytest.approx(plain.constant_, rel=1e-9)
        if not isinstance(estimator, LandmarkMDS):
            assert abs(scaled.graph_ / factor - plain.graph_).max() < 1e-9


def test_far_new_rows_keep_their_digits(roll):
    away = np.array([[1.0, 0.0, 0.0]])
    for estimator in (Isomap(n_neighbors=8), LandmarkIsomap(n_neighbors=8)):
        estimator.fit(roll)
        near, far = (estimator.transform(away * length) / length for length in (1e6, 1e9))
        # The direction in which a row leaves no longer changes.
        np.testing.assert_allclose(far, near, atol=1e-3)
    with pytest.raises(InputError, match="row 1"):
        estimator.transform(np.vstack([roll[:1], [[1e300, 0.0, 0.0]]]))


def test_parameters_that_cannot_be_used_together_are_refused(roll):
    with pytest.raises(ParameterError, match="eigen_solver"):
        Isomap(storage="recompute", eigen_solver="dense").fit(roll)
    with pytest.raises(ParameterError, match="landmarks"):
        LandmarkMDS(algorithm="fastmap", landmarks=[1, 2, 3]).fit(roll)
    with pytest.raises(ParameterError, match="n_neighbors"):
        Isomap(n_neighbors=10**9).fit(roll)
    with pytest.raises(ParameterError, match="constant"):
        KernelIsomap(constant=1e200).fit(roll)
    with pytest.raises(ParameterError, match="dims"):
        residual_variance(roll, 400)


def test_isolated_rows_under_any_metric(roll):
    def distance(a, b):
        return np.sqrt(((a - b) ** 2).sum())

    far = np.vstack([roll[:2] + 0.01, roll[5] + [300.0, 0, 0]])
    native, foreign = (
        Isomap(n_neighbors=None, radius=4.0, isolated="nearest", metric=metric).fit(roll)
        for metric in ("euclidean", distance)
    )
    np.testing.assert_allclose(
        up_to_sign(native.transform(far), foreign.transform(far)), native.transform(far), rtol=1e-7
    )


# -- shortcuts ------------------------------------------------------------------------
def test_a_shortcut_is_named_and_clean_data_is_not():
    points, flat = rolled(2000, 3)
    graph = neighbors_graph(points, n_neighbors=8)
    clean = Isomap(n_neighbors=8, metric="precomputed").fit(graph)
    assert clean.shortcuts_.shape == (0, 2)
    # The two rows that are nearest in space among those far apart on the roll.
    D = cdist(points, points)
    D[cdist(flat, flat) < 30] = np.inf
    a, b = sorted(np.unravel_index(D.argmin(), D.shape))
    lil = graph.tolil()
    lil[a, b] = D[a, b]
    for cls in (Isomap, LandmarkIsomap):
        estimator = cls(n_neighbors=9, metric="precomputed")
        with pytest.warns(ShortcutWarning, match=rf"{a}.*{b}"):
            estimator.fit(csr_array(lil))
        assert estimator.shortcuts_.tolist() == [[a, b]]


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@pytest.mark.parametrize("metric", ["dice", "jaccard", "sokalsneath", "yule", "russellrao"])
@pytest.mark.parametrize("cls", [Isomap, KernelIsomap, LandmarkIsomap])
def test_equal_rows_stay_together_under_metrics_that_say_otherwise(cls, metric):
    # Of two rows of zeros these metrics say NaN or one, and list others as nearer.
    X = np.array([[1, 0], [1, 0], [0, 1], [1, 1], [0, 0], [0, 1], [0, 0], [0, 1], [0, 0]], float)
    fitted = cls(n_neighbors=3, n_components=1, metric=metric).fit(X)
    zeros = fitted.embedding_[[4, 6, 8]]
    np.testing.assert_allclose(zeros, zeros[[0, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(fitted.transform(X), fitted.embedding_, atol=1e-9)


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        Isomap(n_components=1),
        KernelIsomap(n_components=1),
        LandmarkIsomap(n_components=1),
        SpectralEmbedding(n_components=1),
        DiffusionMaps(n_components=1),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("rule", [{"n_neighbors": 1}, {"n_neighbors": None, "radius": 1.05}])
def test_rows_of_a_given_graph_are_recognised_by_their_edges(estimator, rule):
    # Rows 1 and 2 look alike once only their nearest, or those within the radius, are left.
    D = squareform(pdist([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 0.9], [0.0, 1.7]]))
    graph = csr_array(D)
    estimator = clone(estimator).set_params(metric="precomputed")
    rule = {name: value for name, value in rule.items() if name in estimator.get_params()}
    fitted = estimator.set_params(**rule).fit(graph)
    for again in (fitted, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_allclose(again.transform(graph), fitted.embedding_, atol=1e-12)
        for row in range(5):
            one = again.transform(graph[[row]])
            np.testing.assert_allclose(one, fitted.embedding_[[row]], atol=1e-12)
    mixed = csr_array(np.vstack([D[4], 0.5 * D[1] + D[2], D[0]]))
    placed = fitted.transform(mixed)
    np.testing.assert_allclose(placed[[0, 2]], fitted.embedding_[[4, 0]], atol=1e-12)
    np.testing.assert_allclose(placed[1:2], fitted.transform(mixed[[1]]), atol=1e-12)


def test_rows_without_edges_are_recognised_among_all_rows():
    D = squareform(pdist(np.arange(6.0)[:, None]))
    D[D > 2.0] = 0.0
    D[[2, 5]] = D[:, [2, 5]] = 0.0
    with pytest.warns(DisconnectedGraphWarning):
        fitted = SpectralEmbedding(n_components=3, metric="precomputed").fit(csr_array(D))
    np.testing.assert_allclose(fitted.transform(csr_array(D)), fitted.embedding_, atol=1e-12)
    with pytest.raises(InputError, match="no edge"):
        fitted.transform(csr_array(D[[2]]))


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@pytest.mark.parametrize(
    ("cls", "every"),
    [
        (KernelIsomap, 59),
        (LandmarkIsomap, 59),
        (LocallyLinearEmbedding, 59),
        (SpectralEmbedding, 60),  # a row counts as one of its own neighbours
    ],
)
def test_an_infinite_radius_is_every_neighbour(cls, every, blob):
    infinite = cls(n_neighbors=None, radius=np.inf).fit(blob)
    assert_same_columns(infinite.embedding_, cls(n_neighbors=every).fit_transform(blob), 1e-9)
    assert np.array_equal(infinite.transform(blob), infinite.embedding_)
    assert neighbors_graph(blob, n_neighbors=None, radius=np.inf).nnz == 60 * 59
