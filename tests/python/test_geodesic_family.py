"""Isomap in all its forms, against formulas written out and against each other."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csgraph, csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone

from conftest import assert_same_columns, rolled, swiss_roll, up_to_sign
from planish import (
    ClassicalMDS,
    Isomap,
    KernelIsomap,
    LandmarkIsomap,
    LandmarkMDS,
    geodesic_distances,
    neighbors_graph,
    residual_variance,
)
from planish.exceptions import (
    DisconnectedGraphWarning,
    InputError,
    NegativeEigenvalueWarning,
    OutlierWarning,
    ParameterError,
    RankDeficientWarning,
    ShortcutWarning,
    SlowWarning,
)


def centring(n):
    return np.eye(n) - 1.0 / n


def cailliez(D):
    """The survey's (34) as it stands: the largest eigenvalue of a 2n x 2n matrix."""
    n = len(D)
    H = centring(n)
    K2, K1 = -0.5 * H @ D**2 @ H, -0.5 * H @ D @ H
    block = np.block([[np.zeros((n, n)), 2 * K2], [-np.eye(n), -4 * K1]])
    values = np.linalg.eigvals(block)
    return values[np.abs(values.imag) < 1e-6 * np.abs(values).max()].real.max()


def kernel_prime(D, c):
    """The survey's (33)."""
    H = centring(len(D))
    return -0.5 * H @ D**2 @ H - c * H @ D @ H + 0.5 * c**2 * H


# -- kernel Isomap --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_constant_is_cailliezs_eigenvalue(seed):
    isomap = KernelIsomap(n_neighbors=6).fit(swiss_roll(150, seed))
    assert isomap.constant_ == pytest.approx(cailliez(isomap.dist_matrix_), rel=1e-7)


def test_constant_of_arbitrary_dissimilarities():
    rng = np.random.default_rng(5)
    D = squareform(rng.random(40 * 39 // 2) + 0.1)
    isomap = KernelIsomap(n_neighbors=39, metric="precomputed").fit(D)
    # With every row a neighbour the geodesics are the metric closure of D.
    assert isomap.constant_ == pytest.approx(cailliez(isomap.dist_matrix_), rel=1e-7)


@pytest.mark.parametrize("n", [150, 400])
def test_kernel_with_the_constant_has_no_negative_eigenvalue(n):
    isomap = KernelIsomap(n_neighbors=7, n_components=3).fit(swiss_roll(n))
    values = np.linalg.eigvalsh(kernel_prime(isomap.dist_matrix_, isomap.constant_))
    assert values[0] >= -1e-10 * values[-1]
    # And the constant is the smallest: a little less is not enough.
    less = np.linalg.eigvalsh(kernel_prime(isomap.dist_matrix_, 0.99 * isomap.constant_))
    assert less[0] < -1e-8 * less[-1]
    np.testing.assert_allclose(isomap.eigenvalues_, values[::-1][:3], rtol=1e-10)


def test_kernel_isomap_is_the_eigenproblem_of_33(roll):
    isomap = KernelIsomap(n_neighbors=8).fit(roll)
    values, vectors = eigh(kernel_prime(isomap.dist_matrix_, isomap.constant_))
    expected = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    assert_same_columns(isomap.embedding_, expected, 1e-8)


def test_euclidean_geodesics_need_no_constant():
    line = np.linspace(0, 1, 60)[:, None] ** 1.3
    isomap = KernelIsomap(n_neighbors=3, n_components=1).fit(line)
    assert isomap.constant_ == pytest.approx(0.0, abs=1e-7)
    assert_same_columns(isomap.embedding_, line - line.mean(axis=0), 1e-9)


def test_a_given_constant_is_used_and_checked(roll):
    given = KernelIsomap(n_neighbors=8, constant=5.0).fit(roll)
    assert given.constant_ == 5.0
    values = np.linalg.eigvalsh(kernel_prime(given.dist_matrix_, 5.0))
    np.testing.assert_allclose(given.eigenvalues_, values[::-1][:2], rtol=1e-10)
    with pytest.raises(ParameterError, match="constant"):
        KernelIsomap(constant=-1.0).fit(roll)
    zero = KernelIsomap(n_neighbors=8, constant=0.0).fit(roll)
    assert_same_columns(zero.embedding_, Isomap(n_neighbors=8).fit(roll).embedding_, 1e-9)


def test_kernel_isomap_places_new_rows_by_39(roll):
    new = swiss_roll(20, seed=9)
    isomap = KernelIsomap(n_neighbors=8).fit(roll)
    D, c = isomap.dist_matrix_, isomap.constant_
    graph_rows = geodesics_to(new, roll, D, 8)
    g_train, g_new = D * (D + 2 * c), graph_rows * (graph_rows + 2 * c)
    kernel = -0.5 * (
        g_new - g_new.mean(axis=1, keepdims=True) - g_train.mean(axis=0) + g_train.mean()
    )
    expected = kernel @ isomap.eigenvectors_ / np.sqrt(isomap.eigenvalues_)
    np.testing.assert_allclose(isomap.transform(new), expected, rtol=1e-7, atol=1e-9)


def geodesics_to(new, training, D, k):
    """Shortest distances from new rows through their k nearest training rows."""
    direct = cdist(new, training)
    rows = []
    for distances in direct:
        near = np.argsort(distances)[:k]
        rows.append((distances[near][:, None] + D[near]).min(axis=0))
    return np.array(rows)


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
    assert (exact.storage_, anew.storage_, narrow.storage_) == ("float64", "recompute", "float32")
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
            return _core.fit(*arguments[:-1], 25_000_000)

    X = swiss_roll(3000)
    expected = Isomap(n_neighbors=8).fit_transform(X)
    monkeypatch.setattr(_embedding, "_core", Small())
    with pytest.warns(SlowWarning, match="LandmarkIsomap"):
        isomap = Isomap(n_neighbors=8).fit(X)
    assert isomap.storage_ == "recompute"
    assert_same_columns(isomap.embedding_, expected, 1e-9)
    with pytest.raises(MemoryError, match="LandmarkIsomap"):
        Isomap(n_neighbors=8, storage="float64").fit(X)


# -- landmarks ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::planish.exceptions.NegativeEigenvalueWarning")
def test_all_rows_as_landmarks_is_isomap(roll):
    full = Isomap(n_neighbors=8, n_components=3).fit(roll)
    for landmarks in ("maxmin", "random", "hierarchical", np.arange(len(roll))):
        some = LandmarkIsomap(
            n_neighbors=8, n_components=3, n_landmarks=len(roll), landmarks=landmarks
        ).fit(roll)
        assert_same_columns(some.embedding_, full.embedding_, 1e-9)
        np.testing.assert_allclose(some.eigenvalues_, full.eigenvalues_, rtol=1e-10)
        new = swiss_roll(25, seed=3)
        expected = full.transform(new)
        np.testing.assert_allclose(
            up_to_sign(expected, some.transform(new)), expected, rtol=0, atol=1e-7
        )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed", "canberra"])
def test_all_rows_as_landmarks_is_classical_mds(metric):
    X = np.random.default_rng(2).normal(size=(80, 4)) * [4, 3, 2, 1] + 5
    data = squareform(pdist(X)) if metric == "precomputed" else X
    full = ClassicalMDS(3, metric=metric).fit(data)
    some = LandmarkMDS(3, n_landmarks=80, metric=metric).fit(data)
    assert_same_columns(some.embedding_, full.embedding_, 1e-9)
    np.testing.assert_allclose(some.eigenvalues_, full.eigenvalues_, rtol=1e-10)


def triangulated(D_landmarks, D_all, components):
    """De Silva and Tenenbaum's formula, step by step."""
    squares = D_landmarks**2
    H = centring(len(squares))
    values, vectors = eigh(-0.5 * H @ squares @ H)
    values, vectors = values[::-1][:components], vectors[:, ::-1][:, :components]
    return -0.5 * (D_all**2 - squares.mean(axis=0)) @ vectors / np.sqrt(values)


@pytest.mark.filterwarnings("ignore::planish.exceptions.NegativeEigenvalueWarning")
@pytest.mark.parametrize("landmarks", ["random", "maxmin", "hierarchical"])
def test_landmark_formulas(roll, landmarks):
    mds = LandmarkMDS(3, n_landmarks=30, landmarks=landmarks, metric="manhattan").fit(roll)
    chosen = mds.landmarks_
    D = cdist(roll, roll[chosen], "cityblock")
    assert_same_columns(mds.embedding_, triangulated(D[chosen], D, 3), 1e-9)

    isomap = LandmarkIsomap(n_neighbors=8, n_landmarks=30, landmarks=landmarks).fit(roll)
    chosen = isomap.landmarks_
    D = geodesic_distances(isomap.graph_, sources=chosen).T
    assert_same_columns(isomap.embedding_, triangulated(D[chosen], D, 2), 1e-9)


def test_new_rows_are_triangulated_too(roll):
    isomap = LandmarkIsomap(n_neighbors=8, n_landmarks=37).fit(roll)
    new = swiss_roll(40, seed=8)
    D_train = geodesic_distances(isomap.graph_, sources=isomap.landmarks_).T
    direct = cdist(new, roll)
    near = np.argsort(direct, axis=1)[:, :8]
    D_new = (np.take_along_axis(direct, near, axis=1)[:, :, None] + D_train[near]).min(axis=1)
    both = triangulated(D_train[isomap.landmarks_], np.vstack([D_train, D_new]), 2)
    signs = np.sign((both[: len(roll)] * isomap.embedding_).sum(axis=0))
    np.testing.assert_allclose(
        isomap.transform(new), both[len(roll) :] * signs, rtol=1e-8, atol=1e-8
    )


def test_maxmin_takes_the_farthest(roll):
    chosen = LandmarkMDS(n_landmarks=25).fit(roll).landmarks_
    assert_farthest_first(chosen, cdist(roll, roll))
    isomap = LandmarkIsomap(n_neighbors=8, n_landmarks=25).fit(roll)
    assert_farthest_first(isomap.landmarks_, geodesic_distances(isomap.graph_))


def assert_farthest_first(chosen, D):
    for step in range(1, len(chosen)):
        nearest = D[:, chosen[:step]].min(axis=1)
        assert nearest[chosen[step]] == pytest.approx(nearest.max(), rel=1e-12)


def test_hierarchical_levels_are_nets(roll):
    chosen = LandmarkMDS(n_landmarks=60, landmarks="hierarchical").fit(roll).landmarks_
    D = cdist(roll, roll)
    top = D[chosen[0]].max()
    nearest_before = [D[chosen[step], chosen[:step]].min() for step in range(1, len(chosen))]
    # Each landmark keeps clear of those before it by the radius of its level,
    # and levels only get finer.
    level = [int(np.floor(np.log2(top / distance))) for distance in nearest_before]
    radius = top / 2.0 ** (np.maximum.accumulate(level) + 1)
    assert (np.array(nearest_before) > radius * (1 - 1e-12)).all()
    # When a finer level begins the coarser one covers everything.
    for step in np.flatnonzero(np.diff(level) > 0) + 1:
        if level[step] > max(level[:step]):
            covered = D[:, chosen[: step + 1]].min(axis=1).max()
            assert covered <= top / 2.0 ** max(level[:step]) * (1 + 1e-12)


def test_seeds_choose_and_repeat(roll):
    def landmarks(**keywords):
        return LandmarkMDS(n_landmarks=10, **keywords).fit(roll).landmarks_.tolist()

    for choice in ("random", "maxmin", "hierarchical"):
        assert landmarks(landmarks=choice) == landmarks(landmarks=choice)
        assert landmarks(landmarks=choice, random_state=3) == landmarks(
            landmarks=choice, random_state=3
        )
        assert landmarks(landmarks=choice, random_state=3) != landmarks(
            landmarks=choice, random_state=4
        )
        assert len(set(landmarks(landmarks=choice))) == 10
    given = [5, 2, 300, 7]
    assert landmarks(landmarks=given) == given


@pytest.mark.parametrize("cls", [LandmarkMDS, LandmarkIsomap])
def test_bad_landmarks_are_refused(cls, roll):
    with pytest.raises(ParameterError, match="n_landmarks"):
        cls(n_components=3, n_landmarks=3).fit(roll)
    with pytest.raises(ParameterError, match="row 400 does not exist"):
        cls(landmarks=[1, 2, 400]).fit(roll)
    with pytest.raises(ParameterError, match="row 7 is named twice"):
        cls(landmarks=[7, 1, 7]).fit(roll)
    with pytest.raises(ParameterError, match="landmarks"):
        cls(landmarks=[0.5, 1.5, 2.5]).fit(roll)
    with pytest.raises(ParameterError, match="landmarks"):
        cls(landmarks="nearest").fit(roll)
    with pytest.raises(ParameterError, match="random_state"):
        cls(random_state="seven").fit(roll)


def test_duplicates_among_landmarks_do_not_matter():
    X = np.repeat(swiss_roll(40), 3, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mds = LandmarkMDS(n_landmarks=60).fit(X)
        isomap = LandmarkIsomap(n_neighbors=9, n_landmarks=60).fit(X)
    for estimator in (mds, isomap):
        assert len(set(estimator.landmarks_.tolist())) == 60
        assert np.isfinite(estimator.embedding_).all()
        assert np.array_equal(estimator.embedding_[::3], estimator.embedding_[2::3])


def test_landmarks_outside_the_largest_component(two_islands):
    X = np.vstack([two_islands, two_islands[:5] + 0.05])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        isomap = LandmarkIsomap(
            n_neighbors=3, n_landmarks=10, landmarks="random", disconnected="largest"
        ).fit(X)
    largest = np.flatnonzero(np.isfinite(isomap.embedding_[:, 0]))
    assert set(isomap.landmarks_) <= set(largest)
    outside = LandmarkIsomap(n_neighbors=3, landmarks=[0, 1, 25], disconnected="largest")
    with pytest.raises(ParameterError, match="row 25 is not in the map"):
        outside.fit(X)


def test_fastmap_and_metricmap_are_exact_on_euclidean_data():
    X = np.random.default_rng(4).normal(size=(200, 3)) * [3, 2, 1]
    for algorithm in ("fastmap", "metricmap", "landmark"):
        mds = LandmarkMDS(3, n_landmarks=20, algorithm=algorithm).fit(X)
        np.testing.assert_allclose(pdist(mds.embedding_), pdist(X), rtol=1e-9, atol=1e-9)
        new = X[:50] + 0.3
        both = np.vstack([mds.embedding_, mds.transform(new)])
        np.testing.assert_allclose(
            cdist(both[200:], both[:200]), cdist(new, X), rtol=1e-8, atol=1e-8
        )
        assert np.array_equal(mds.transform(X), mds.embedding_)


def test_fastmap_is_the_cosine_law():
    X = np.random.default_rng(6).normal(size=(100, 5))
    D = cdist(X, X, "cityblock")
    mds = LandmarkMDS(2, algorithm="fastmap", metric="manhattan").fit(X)
    a, b, c, d = mds.landmarks_
    first = (D[a] ** 2 + D[a, b] ** 2 - D[b] ** 2) / (2 * D[a, b])
    np.testing.assert_allclose(mds.embedding_[:, 0], first, rtol=1e-12, atol=1e-12)
    rest = D**2 - (first[:, None] - first[None, :]) ** 2
    second = (rest[c] + rest[c, d] - rest[d]) / (2 * np.sqrt(rest[c, d]))
    np.testing.assert_allclose(mds.embedding_[:, 1], second, rtol=1e-10, atol=1e-10)
    assert not hasattr(mds, "eigenvalues_")


def test_metricmap_has_its_first_landmark_at_the_origin(roll):
    mds = LandmarkMDS(2, n_landmarks=30, algorithm="metricmap").fit(roll)
    np.testing.assert_allclose(mds.embedding_[mds.landmarks_[0]], 0, atol=1e-9)


def test_fastmap_says_when_nothing_is_left():
    line = np.linspace(0, 1, 50)[:, None]
    with pytest.warns(RankDeficientWarning, match="1 dimension"):
        Y = LandmarkMDS(3, algorithm="fastmap").fit_transform(line)
    np.testing.assert_allclose(np.abs(Y[:, 0] - Y[0, 0]), line[:, 0], atol=1e-12)
    assert not Y[:, 1:].any()


def test_landmark_isomap_is_close_to_isomap():
    X = swiss_roll(3000)
    full = Isomap(n_neighbors=10).fit_transform(X)
    for landmarks, bound in (("maxmin", 0.01), ("hierarchical", 0.01), ("random", 0.02)):
        some = LandmarkIsomap(n_neighbors=10, n_landmarks=100, landmarks=landmarks).fit_transform(X)
        A = np.column_stack([some, np.ones(len(some))])
        rest = full - A @ np.linalg.lstsq(A, full, rcond=None)[0]
        assert np.sqrt((rest**2).sum() / (full**2).sum()) < bound, landmarks


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
    # Hung onto the nearest row alone.
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


# -- residual variance ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::planish.exceptions.NegativeEigenvalueWarning")
def test_residual_variance_is_one_minus_r_squared(roll):
    isomap = Isomap(n_neighbors=8, n_components=4).fit(roll)
    curve = residual_variance(isomap, 4)
    geodesic = squareform(isomap.dist_matrix_, checks=False)
    expected = [
        1 - np.corrcoef(geodesic, pdist(isomap.embedding_[:, :d]))[0, 1] ** 2 for d in range(1, 5)
    ]
    np.testing.assert_allclose(curve.values, expected, rtol=1e-8, atol=1e-13)
    assert curve.dims.tolist() == [1, 2, 3, 4]
    assert curve.elbow == 2


def test_residual_variance_of_data_and_of_more_dimensions_than_fitted(roll):
    small = Isomap(n_neighbors=8, n_components=2).fit(roll)
    from_fitted = residual_variance(small, [1, 3])
    from_data = residual_variance(roll, [3, 1], n_neighbors=8)
    np.testing.assert_allclose(from_fitted.values, from_data.values, rtol=1e-10)
    assert small.embedding_.shape[1] == 2
    with pytest.raises(ParameterError, match="dims"):
        residual_variance(roll, 0)
    with pytest.raises(ParameterError, match="n_neighbors"):
        residual_variance(small, 2, n_neighbors=3)
    with pytest.raises(InputError, match="Isomap"):
        residual_variance(ClassicalMDS().fit(roll), 2)


def test_the_elbow_is_the_dimension_of_the_manifold():
    rng = np.random.default_rng(1)
    for dimension in (1, 2, 3):
        box = rng.random((800, dimension)) * [1.0, 0.8, 0.6][:dimension]
        bent = np.column_stack([np.sin(2 * box[:, 0]), np.cos(2 * box[:, 0]), *box[:, 1:].T])
        curve = residual_variance(bent, 6, n_neighbors=10)
        assert curve.elbow == dimension


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


# -- outliers -------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [Isomap, KernelIsomap, LandmarkIsomap])
@pytest.mark.parametrize("conformal", [False, True])
def test_one_row_far_away_does_not_change_the_map_of_the_rest(cls, conformal, roll):
    alone = cls(n_neighbors=8, conformal=conformal).fit(roll)
    far = roll.mean(axis=0) + 1000 * roll.std()
    both = np.insert(roll, 7, far, axis=0)
    estimator = cls(n_neighbors=8, conformal=conformal)
    with pytest.warns(OutlierWarning, match=r"1 row.*: 7 \("):
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


def test_reconstruction_error_is_what_is_missing():
    X = swiss_roll(150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        isomap = Isomap(n_neighbors=8, n_components=120).fit(X)
    K = kernel_prime(isomap.dist_matrix_, 0.0)
    Y = isomap.embedding_
    expected = np.linalg.norm(K - Y @ Y.T) / len(K)
    assert isomap.reconstruction_error() == pytest.approx(expected, rel=1e-9)


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
