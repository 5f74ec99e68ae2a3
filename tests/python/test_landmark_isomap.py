"""Landmark Isomap, and how landmarks are chosen."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from conftest import assert_same_columns, centring, swiss_roll, up_to_sign
from planish import (
    Isomap,
    LandmarkIsomap,
    LandmarkMDS,
    geodesic_distances,
)
from planish.exceptions import (
    ParameterError,
)


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
    with pytest.raises(ParameterError, match="row 25 cannot be a landmark"):
        outside.fit(X)


def test_landmark_isomap_is_close_to_isomap():
    X = swiss_roll(3000)
    full = Isomap(n_neighbors=10).fit_transform(X)
    for landmarks, bound in (("maxmin", 0.01), ("hierarchical", 0.01), ("random", 0.02)):
        some = LandmarkIsomap(n_neighbors=10, n_landmarks=100, landmarks=landmarks).fit_transform(X)
        A = np.column_stack([some, np.ones(len(some))])
        rest = full - A @ np.linalg.lstsq(A, full, rcond=None)[0]
        assert np.sqrt((rest**2).sum() / (full**2).sum()) < bound, landmarks


# -- new rows, few and many -----------------------------------------------------------
@pytest.mark.parametrize("path_method", ["D", "batch", "sweep"])
def test_few_rows_are_placed_as_many_are(path_method):
    x = np.random.default_rng(0).random((400, 5))
    new = np.random.default_rng(1).random((30, 5)) * 1.2
    isomap = LandmarkIsomap(n_neighbors=8, n_landmarks=37, path_method=path_method).fit(x)
    together = isomap.transform(new)
    one_by_one = np.vstack([isomap.transform(row[None]) for row in new])
    np.testing.assert_array_equal(one_by_one, together)
    one_thread = pickle.loads(pickle.dumps(isomap)).set_params(n_jobs=1)
    np.testing.assert_array_equal(one_thread.transform(new), together)
    np.testing.assert_array_equal(isomap.transform(x), isomap.embedding_)

    # the ways over each neighbour, with the formula written out
    chosen = isomap.landmarks_
    D = geodesic_distances(isomap.graph_, sources=chosen)
    reach = cdist(new, x)
    near = np.argsort(reach, axis=1)[:, :8]
    ways = np.array([(reach[i, near[i]] + D[:, near[i]]).min(axis=1) for i in range(len(new))])
    expected = triangulated(D[:, chosen], ways, 2)
    np.testing.assert_allclose(up_to_sign(expected, together), expected, rtol=0, atol=1e-9)


def test_paths_from_landmarks_are_kept_where_searches_are_dear():
    x = np.random.default_rng(0).random((300, 6))
    sizes = {}
    for path_method in ("D", "sweep"):
        isomap = LandmarkIsomap(n_neighbors=8, n_landmarks=50, path_method=path_method).fit(x)
        sizes[path_method] = len(pickle.dumps(isomap))
    # two bytes for each landmark and row, and what the two models say of themselves
    assert abs(sizes["D"] - sizes["sweep"] - 2 * 50 * 300) < 2000
