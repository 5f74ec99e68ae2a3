"""Whatever the data: n rows of finite numbers, or a refusal that says why."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.spatial.distance import cdist
from sklearn.base import clone

import planish
from planish import (
    PCA,
    ClassicalMDS,
    DiffusionMaps,
    Isomap,
    KernelIsomap,
    KernelMDS,
    LandmarkIsomap,
    LandmarkMDS,
    LocallyLinearEmbedding,
    SpectralEmbedding,
)
from planish.exceptions import ParameterError, PlanishError, PlanishWarning

ESTIMATORS = {
    "PCA": PCA(n_components=1),
    "PCA all": PCA(),
    "PCA share": PCA(n_components=0.5, svd_solver="full"),
    "PCA randomized": PCA(n_components=1, svd_solver="randomized", whiten=True),
    "ClassicalMDS": ClassicalMDS(1),
    "ClassicalMDS manhattan": ClassicalMDS(2, metric="manhattan"),
    "ClassicalMDS cosine": ClassicalMDS(1, metric="cosine"),
    "KernelMDS": KernelMDS(1),
    "KernelMDS rbf": KernelMDS(2, kernel="rbf"),
    "KernelMDS poly": KernelMDS(2, kernel="poly"),
    "KernelMDS cosine": KernelMDS(1, kernel="cosine"),
    "KernelMDS sigmoid": KernelMDS(1, kernel="sigmoid"),
    "Isomap": Isomap(n_neighbors=2, n_components=1),
    "Isomap wide": Isomap(n_neighbors=3, n_components=3),
    "Isomap radius": Isomap(n_neighbors=None, radius=1.0, n_components=1),
    "Isomap cosine": Isomap(n_neighbors=2, metric="cosine"),
    "Isomap dense": Isomap(n_neighbors=2, eigen_solver="dense", path_method="FW"),
    "Isomap conformal": Isomap(n_neighbors=2, n_components=1, conformal=True),
    "Isomap recomputed": Isomap(n_neighbors=2, n_components=1, storage="recompute"),
    "KernelIsomap": KernelIsomap(n_neighbors=2, n_components=1),
    "LandmarkIsomap": LandmarkIsomap(n_neighbors=2, n_components=1, n_landmarks=4),
    "LandmarkMDS": LandmarkMDS(1, n_landmarks=4),
    "LandmarkMDS random": LandmarkMDS(2, n_landmarks=4, landmarks="random", metric="manhattan"),
    "LandmarkMDS cosine": LandmarkMDS(1, n_landmarks=4, metric="cosine"),
    "FastMap": LandmarkMDS(2, algorithm="fastmap"),
    "MetricMap": LandmarkMDS(1, n_landmarks=4, algorithm="metricmap"),
    "Isomap canberra": Isomap(n_neighbors=2, metric="canberra"),
    "LLE": LocallyLinearEmbedding(n_neighbors=3, n_components=1),
    "LLE nonnegative": LocallyLinearEmbedding(n_neighbors=3, nonnegative=True),
    "LLE modified": LocallyLinearEmbedding(n_neighbors=4, n_components=1, method="modified"),
    "LLE hessian": LocallyLinearEmbedding(n_neighbors=6, n_components=2, method="hessian"),
    "LLE ltsa": LocallyLinearEmbedding(n_neighbors=4, n_components=2, method="ltsa"),
    "LLE dense": LocallyLinearEmbedding(n_neighbors=4, method="ltsa", eigen_solver="dense"),
    "LLE radius": LocallyLinearEmbedding(n_neighbors=None, radius=1.0, n_components=1),
    "SpectralEmbedding": SpectralEmbedding(1, n_neighbors=3),
    "SpectralEmbedding heat": SpectralEmbedding(1, n_neighbors=3, weights="heat"),
    "SpectralEmbedding rbf": SpectralEmbedding(2, affinity="rbf"),
    "DiffusionMaps": DiffusionMaps(1, n_neighbors=3),
    "DiffusionMaps dense": DiffusionMaps(2, n_neighbors=None),
}

pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
fewer = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])


def embedded(estimator, X):
    """Fit; give back the embedding, or None when the data was refused in good form."""
    try:
        Y = clone(estimator).fit_transform(X)
    except PlanishError as refusal:
        message = str(refusal)
    except ValueError as refusal:
        message = str(refusal)
        if "Found array with" not in message:  # scikit-learn's own checks of the shape
            raise
    else:
        assert Y.shape[0] == len(X)
        assert np.isfinite(Y).all()
        return Y
    assert len(message) > 20, message
    return None


few_rows = st.tuples(st.integers(1, 4), st.just(3))
shapes = st.tuples(st.integers(1, 12), st.integers(1, 5))
moderate = st.floats(-100, 100, width=32)
wild = st.floats(-1e150, 1e150)
dtypes = st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.uint8, np.bool_])


@pytest.mark.parametrize("name", ESTIMATORS)
class TestAnyData:
    @fewer
    @given(X=arrays.arrays(np.float64, shapes, elements=moderate))
    def test_moderate_numbers(self, name, X):
        embedded(ESTIMATORS[name], X)

    @fewer
    @given(X=arrays.arrays(np.float64, shapes, elements=wild))
    def test_wild_numbers(self, name, X):
        embedded(ESTIMATORS[name], X)

    @fewer
    @given(data=st.data(), dtype=dtypes)
    def test_every_dtype(self, name, data, dtype):
        shape = data.draw(shapes)
        elements = moderate if np.issubdtype(dtype, np.floating) else None
        X = data.draw(arrays.arrays(dtype, shape, elements=elements))
        Y = embedded(ESTIMATORS[name], X)
        if Y is not None:
            assert Y.dtype == (np.float32 if dtype is np.float32 else np.float64)

    @fewer
    @given(exponent=st.integers(-150, 150), seed=st.integers(0, 9))
    def test_scale(self, name, exponent, seed):
        X = np.random.default_rng(seed).normal(size=(12, 3)) * 10.0**exponent
        embedded(ESTIMATORS[name], X)

    @fewer
    @given(rows=st.integers(1, 12), columns=st.integers(1, 4), value=wild)
    def test_constant_data(self, name, rows, columns, value):
        embedded(ESTIMATORS[name], np.full((rows, columns), value))

    @fewer
    @given(
        unique=arrays.arrays(
            np.float64, st.tuples(st.integers(1, 4), st.just(3)), elements=moderate
        ),
        picks=st.lists(st.integers(0, 3), min_size=4, max_size=14),
    )
    def test_duplicates_share_their_coordinates(self, name, unique, picks):
        picks = np.array(picks) % len(unique)
        X = unique[picks]
        Y = embedded(ESTIMATORS[name], X)
        if Y is None or name.startswith("Isomap"):
            return  # a path between duplicates need not have length zero
        scale = np.abs(Y).max() + np.abs(X).max() + 1.0
        for row in range(len(unique)):
            same = Y[picks == row]
            if len(same):
                assert np.abs(same - same[0]).max() <= 1e-5 * scale


LINEAR = {"PCA": PCA(n_components=2), "ClassicalMDS": ClassicalMDS(2), "KernelMDS": KernelMDS(2)}


@pytest.mark.parametrize("name", LINEAR)
@given(exponent=st.integers(-140, 140))
@fewer
def test_scaling_the_data_scales_the_map(name, exponent):
    X = np.random.default_rng(1).normal(size=(15, 3)) * [3, 2, 1]
    power = 2.0 ** (exponent * 3)
    base = clone(LINEAR[name]).fit_transform(X)
    scaled = clone(LINEAR[name]).fit_transform(X * power)
    np.testing.assert_allclose(np.abs(scaled) / power, np.abs(base), rtol=1e-9, atol=1e-9)


@given(exponent=st.integers(-140, 140))
@fewer
def test_scaling_the_data_scales_isomap(exponent):
    X = np.random.default_rng(1).normal(size=(25, 3)) * [3, 2, 1]
    power = 2.0 ** (exponent * 3)
    base = Isomap(n_neighbors=8).fit_transform(X)
    scaled = Isomap(n_neighbors=8).fit_transform(X * power)
    np.testing.assert_allclose(np.abs(scaled) / power, np.abs(base), rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 1000), n=st.integers(3, 30), d=st.integers(1, 6))
@fewer
def test_full_classical_mds_keeps_every_distance(seed, n, d):
    X = np.random.default_rng(seed).normal(size=(n, d))
    D = cdist(X, X)
    p = min(d, n - 1)
    for Y in (
        PCA(p).fit_transform(X),
        ClassicalMDS(p).fit_transform(X),
        ClassicalMDS(p, metric="precomputed").fit_transform((D + D.T) / 2),
    ):
        np.testing.assert_allclose(cdist(Y, Y), D, atol=1e-8 * D.max())


@given(seed=st.integers(0, 1000), n=st.integers(8, 40), k=st.integers(2, 6))
@fewer
def test_geodesics_are_at_least_the_distances(seed, n, k):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    fitted = Isomap(n_neighbors=k, n_components=1).fit(X)
    G = fitted.dist_matrix_
    assert np.array_equal(G, G.T)
    assert (cdist(X, X) * (1 - 1e-9) - 1e-12 <= G).all()
    # No detour through a third row is shorter.
    assert (G[:, :, None] <= G[:, None, :] + G[None, :, :] + 1e-9).all()


@given(seed=st.integers(0, 1000), jobs=st.integers(1, 5))
@fewer
def test_rows_in_another_order_give_the_same_map(seed, jobs):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) * [5, 2, 1]
    order = rng.permutation(30)
    for estimator in (PCA(2), ClassicalMDS(metric="manhattan"), Isomap(n_neighbors=10)):
        one = clone(estimator).fit_transform(X)
        other = clone(estimator).set_params(n_jobs=jobs).fit_transform(X[order])
        np.testing.assert_allclose(np.abs(other), np.abs(one[order]), atol=1e-7)


@given(k=st.integers(0, 30), n=st.integers(1, 8))
@fewer
def test_neighbours_asked_for_beyond_what_there_is(k, n):
    X = np.arange(float(n))[:, None]
    if 1 <= k < n:
        distances, indices = planish.kneighbors(X, k)
        assert distances.shape == indices.shape == (n, k)
        assert (np.diff(distances, axis=1) >= 0).all()
        assert all(row not in found for row, found in enumerate(indices))
        assert embedded(Isomap(n_neighbors=k, n_components=1), X) is not None
    else:
        with pytest.raises(ParameterError, match="n_neighbors"):
            planish.kneighbors(X, k)
        with pytest.raises(ParameterError, match="n_neighbors"):
            Isomap(n_neighbors=k, n_components=1).fit(X)


def test_memory_mapped_and_odd_layouts(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 4))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    swapped = X.astype(">f8")
    shifted = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(40, 4)
    assert not shifted.flags.aligned
    for name, estimator in ESTIMATORS.items():
        expected = clone(estimator).fit_transform(X)
        for same in (mapped, swapped, shifted):
            assert np.array_equal(clone(estimator).fit_transform(same), expected), name


def test_warnings_do_not_hide_in_good_data():
    X = np.random.default_rng(0).normal(size=(60, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlanishWarning)
        for estimator in (
            PCA(2),
            ClassicalMDS(),
            KernelMDS(kernel="rbf"),
            Isomap(n_neighbors=15),
            KernelIsomap(n_neighbors=15),
            LandmarkIsomap(n_neighbors=15),
            LandmarkMDS(),
            LocallyLinearEmbedding(n_neighbors=15),
            LocallyLinearEmbedding(n_neighbors=15, method="modified"),
            LocallyLinearEmbedding(n_neighbors=15, method="hessian"),
            LocallyLinearEmbedding(n_neighbors=15, method="ltsa"),
            SpectralEmbedding(n_neighbors=15),
            DiffusionMaps(n_neighbors=15),
        ):
            estimator.fit(X)
