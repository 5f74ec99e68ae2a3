"""planish.dask against one machine: the same neighbours, moments, coordinates.

Here on Dask's local schedulers; test_dask_landmark_isomap.py has graphs and geodesics, and
test_dask_cluster.py processes, memory limits and kills.
"""

import pickle
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone

import planish
import planish.dask as on_dask
from conftest import swiss_roll, up_to_sign
from planish._embedding import Embedding
from planish.dask._blocks import Blocks, looked_at, require_same
from planish.dask._moments import Moments, merge
from planish.dask._neighbors import Lists, Rule, _merge
from planish.dask._run import Run
from planish.exceptions import InputError, ParameterError, UnsupportedError

CLOSE = {"rtol": 0, "atol": 1e-10}
ROLL = swiss_roll(900)

# So few points of a roll have shortcuts.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="threads"):
        yield


def chunked(X, *sizes):
    return da.from_array(X, chunks=(sizes or (len(X) // 3,), (X.shape[1],)))


def in_blocks(X, size):
    return da.from_array(X, chunks=(size, X.shape[1]))


# -- neighbours ----------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [2, 40])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_neighbours_are_those_of_one_machine_ties_included(metric, columns):
    # Whole numbers in few places: hundreds of ties and duplicates.
    X = np.random.default_rng(0).integers(0, 3, size=(331, columns)).astype(float)
    X[100:130] = X[200:230]
    distances, indices = planish.kneighbors(X, 7, metric=metric)
    found = on_dask.kneighbors(chunked(X, 100, 3, 0, 128, 100), 7, metric=metric)
    np.testing.assert_array_equal(found[0].compute(), distances)
    np.testing.assert_array_equal(found[1].compute(), indices)
    assert found[1].chunks[0] == (100, 3, 128, 100)


def test_lists_may_be_merged_in_any_order_and_grouping():
    rng = np.random.default_rng(1)
    parts = []
    for part in range(6):
        rows = part * 50 + np.sort(rng.choice(50, size=(20, 4)), axis=1)
        distances = np.sort(rng.integers(0, 3, size=(20, 4)).astype(float), axis=1)
        parts.append(Lists(np.arange(21) * 4, rows.ravel(), distances.ravel()))
    at_once = _merge(5, *parts)
    pairs = [_merge(5, parts[i], parts[5 - i]) for i in range(3)]
    in_turns = _merge(5, pairs[2], _merge(5, pairs[1], pairs[0]))
    for one, other in zip(vars(at_once).values(), vars(in_turns).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    # The general way, for lists of different lengths, agrees with the quick one.
    ragged = Lists(np.zeros(21, np.int64), np.empty(0, np.int64), np.empty(0))
    np.testing.assert_array_equal(_merge(5, *parts, ragged).rows, at_once.rows)


# -- moments -------------------------------------------------------------------------------


def test_merged_moments_keep_their_digits_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(1000, 3)) + 1e8
    parts = [
        Moments(len(x), x.mean(axis=0), (x - x.mean(axis=0)).T @ (x - x.mean(axis=0)))
        for x in np.array_split(X, 7)
    ]
    found = parts[0]
    for part in parts[1:]:
        found = merge(found, part)
    centred = X - X.mean(axis=0)
    # Sums of squares would leave no digit: they are 1e19, and the scatter is 1e3.
    np.testing.assert_allclose(found.scatter, centred.T @ centred, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_components", [None, 2, 0.9, "mle", "auto"])
@pytest.mark.parametrize("whiten", [False, True])
def test_pca_is_that_of_one_machine(n_components, whiten):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6)) * [9, 5, 3, 1, 0.5, 0.1] + 1000.0
    one = planish.PCA(n_components, whiten=whiten).fit(X)
    pca = on_dask.PCA(n_components, whiten=whiten)
    placed = pca.fit_transform(chunked(X, 200, 50, 450))
    assert placed.chunks == ((200, 50, 450), (one.n_components_,))
    for name in ("components_", "explained_variance_", "singular_values_", "eigenvalues_"):
        scale = np.abs(getattr(one, name)).max()
        np.testing.assert_allclose(getattr(pca, name) / scale, getattr(one, name) / scale, **CLOSE)
    assert (pca.n_samples_, pca.n_components_) == (700, one.n_components_)
    np.testing.assert_allclose(placed.compute(), one.transform(X), rtol=0, atol=1e-8)
    np.testing.assert_allclose(pca.transform(X[:5]), placed[:5].compute(), **CLOSE)
    np.testing.assert_allclose(
        pca.inverse_transform(placed).compute(), one.inverse_transform(one.transform(X)), atol=1e-8
    )
    np.testing.assert_allclose(pca.get_covariance(), one.get_covariance(), rtol=1e-9)


def test_pca_of_the_kinds_of_numbers():
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    pca = on_dask.PCA(2).fit(chunked(X, 150, 150))
    assert pca.transform(chunked(X, 150, 150)).compute().dtype == np.float32
    whole = np.random.default_rng(0).integers(0, 9, (300, 4))
    found = on_dask.PCA(2).fit_transform(chunked(whole, 150, 150)).compute()
    np.testing.assert_allclose(found, planish.PCA(2).fit_transform(whole), **CLOSE)
    scores = pca.score_samples(chunked(X, 150, 150))
    np.testing.assert_allclose(scores.compute(), planish.PCA(2).fit(X).score_samples(X), rtol=1e-5)


def test_classical_mds_is_that_of_one_machine():
    X = np.random.default_rng(0).normal(size=(400, 5)) * [5, 4, 3, 2, 1]
    one = planish.ClassicalMDS(3).fit(X)
    mds = on_dask.ClassicalMDS(3).fit(in_blocks(X, 130))
    np.testing.assert_allclose(mds.embedding_.compute(), one.embedding_, **CLOSE)
    np.testing.assert_allclose(mds.eigenvalues_, one.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(mds.transform(X[:3] + 1), one.transform(X[:3] + 1), **CLOSE)


# -- "auto" --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("PCA", {}),
        ("ClassicalMDS", {}),
        ("LandmarkMDS", {}),
        ("LandmarkMDS", {"metric": "canberra"}),
        ("LandmarkIsomap", {"n_neighbors": 10}),
        ("LandmarkIsomap", {"n_neighbors": 10, "landmarks": range(0, 1200, 12)}),
        ("LandmarkIsomap", {"n_neighbors": 10, "graph": "partitioned"}),
    ],
)
def test_auto_takes_as_many_coordinates_as_one_machine(name, params):
    along, across = np.random.default_rng(0).random((2, 1200)) * [[3.0], [2.0]]
    X = np.column_stack([np.cos(along), np.sin(along), across, across])
    alone = {key: value for key, value in params.items() if key != "graph"}
    one = getattr(planish, name)(n_components="auto", **alone).fit(X)
    found = getattr(on_dask, name)(n_components="auto", **params).fit(in_blocks(X, 500))
    assert found.n_components == "auto"
    assert found.n_components_ == one.n_components_ == 2
    placed = found.transform(in_blocks(X, 500))
    assert placed.shape == (1200, 2)
    assert list(found.get_feature_names_out()) == list(one.get_feature_names_out())
    if "graph" not in params:
        found = placed.compute()
        np.testing.assert_allclose(found, up_to_sign(found, one.transform(X)), atol=1e-8)


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        on_dask.PCA(2),
        on_dask.LandmarkMDS(2, n_landmarks=20),
        on_dask.Isomap(n_neighbors=8, sample_size=150),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_file_holds_the_estimator_for_data_in_memory(estimator, in_memory, tmp_path):
    X = swiss_roll(300)
    found = clone(estimator).fit(X if in_memory else in_blocks(X, 100))
    found.save(tmp_path / "model.planish")
    loaded = planish.load(tmp_path / "model.planish")
    assert type(loaded) is getattr(planish, type(estimator).__name__)
    np.testing.assert_array_equal(loaded.transform(X[:9] + 0.01), found.transform(X[:9] + 0.01))
    if in_memory and hasattr(found, "embedding_"):
        np.testing.assert_array_equal(loaded.embedding_, found.embedding_)


def test_what_a_file_cannot_hold_is_not_written(tmp_path):
    X = in_blocks(swiss_roll(300), 100)
    found = on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=20).fit(X)
    with pytest.raises(UnsupportedError, match="training rows, which are on the cluster"):
        found.save(tmp_path / "model.planish")
    by_axes = on_dask.ClassicalMDS(2).fit(X)
    for one in (by_axes, by_axes.to_local()):
        with pytest.raises(ParameterError, match=r"fit planish.dask.PCA, which .* same way"):
            one.save(tmp_path / "model.planish")
    on_dask.ClassicalMDS(2).fit(swiss_roll(300)).save(tmp_path / "model.planish")
    assert type(planish.load(tmp_path / "model.planish")) is planish.ClassicalMDS


def test_auto_looks_at_a_sample_of_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7000, 2)) @ rng.normal(size=(2, 9))
    assert on_dask.PCA("auto").fit(in_blocks(X, 1000)).n_components_ == 2


# -- landmarks -----------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["random", "maxmin", "hierarchical", [3, 100, 250, 7]])
def test_landmark_mds_has_the_bits_of_one_machine(landmarks):
    X = np.random.default_rng(0).normal(size=(300, 4))
    params = {"n_landmarks": 30, "landmarks": landmarks, "random_state": 5}
    one = planish.LandmarkMDS(**params).fit(X)
    mds = on_dask.LandmarkMDS(**params).fit(chunked(X, 90, 110, 100))
    np.testing.assert_array_equal(mds.landmarks_, one.landmarks_)
    np.testing.assert_array_equal(mds.embedding_.compute(), one.embedding_)
    np.testing.assert_array_equal(mds.transform(X[:9] + 0.1), one.transform(X[:9] + 0.1))


# -- one import ----------------------------------------------------------------------------

NOTEBOOK = """
from {module} import Isomap, PCA, TSNE, LandmarkMDS, LocallyLinearEmbedding, SpectralEmbedding

maps = [
    PCA(n_components=2),
    LandmarkMDS(n_landmarks=20),
    Isomap(n_neighbors=8),
    LocallyLinearEmbedding(n_neighbors=8),
    SpectralEmbedding(n_neighbors=8),
    TSNE(max_iter=250, init="pca"),
]
embeddings = [one.fit_transform(X) for one in maps]
"""


@pytest.fixture(scope="module")
def notebook():
    X = swiss_roll(150)
    there = {"X": X}
    exec(NOTEBOOK.format(module="planish"), there)
    return X, there["embeddings"]


def test_from_notebook_to_cluster_by_changing_one_import(notebook):
    X, expected = notebook
    here = {"X": X}
    exec(NOTEBOOK.format(module="planish.dask"), here)
    on_cluster = {"X": in_blocks(X, 60)}
    exec(NOTEBOOK.format(module="planish.dask"), on_cluster)
    pairs = zip(expected, here["embeddings"], on_cluster["embeddings"], strict=True)
    for memory, same, blocks in pairs:
        np.testing.assert_array_equal(same, memory)  # arrays in memory: the same code
        assert blocks.chunks[0] == (60, 60, 30)
        np.testing.assert_allclose(blocks.compute(), memory, rtol=0, atol=1e-9)


def test_every_estimator_of_planish_is_there():
    for name in on_dask.__all__:
        assert name in {"SampledEmbedding"} or hasattr(planish, name)
    estimators = {
        name
        for name in planish.__all__
        if isinstance(found := getattr(planish, name), type) and issubclass(found, Embedding)
    }
    assert estimators <= set(on_dask.__all__)


# -- samples -------------------------------------------------------------------------------


def test_a_sample_is_fitted_and_all_rows_are_placed():
    isomap = on_dask.Isomap(n_neighbors=8, sample_size=300, sample_seed=4)
    placed = isomap.fit_transform(in_blocks(ROLL, 250))
    rows = isomap.sample_indices_
    assert len(np.unique(rows)) == 300
    one = planish.Isomap(n_neighbors=8).fit(ROLL[rows])
    np.testing.assert_array_equal(isomap.sample_embedding_, one.embedding_)
    np.testing.assert_array_equal(placed.compute(), one.transform(ROLL))
    np.testing.assert_array_equal(isomap.transform(ROLL[:4]), one.transform(ROLL[:4]))
    local = isomap.to_local()
    assert type(local) is planish.Isomap
    np.testing.assert_array_equal(local.transform(ROLL[:4]), one.transform(ROLL[:4]))
    other = clone(isomap).set_params(sample_seed=5).fit(in_blocks(ROLL, 250))
    assert not np.array_equal(other.sample_indices_, rows)


class Doubled(TransformerMixin, BaseEstimator):
    """A transformer of somebody else's."""

    def fit(self, X, y=None):
        self.mean_ = np.asarray(X).mean(axis=0)
        warnings.warn("seen on the worker", UserWarning, stacklevel=1)
        return self

    def transform(self, X):
        return 2 * (np.asarray(X) - self.mean_)[:, :1]


def test_any_transformer_is_fitted_to_a_sample():
    with pytest.warns(UserWarning, match="seen on the worker"):
        found = on_dask.SampledEmbedding(Doubled(), sample_size=200).fit(in_blocks(ROLL, 400))
    expected = 2 * (ROLL - ROLL[found.sample_indices_].mean(axis=0))[:, :1]
    np.testing.assert_allclose(found.embedding_.compute(), expected)
    np.testing.assert_allclose(found.transform(in_blocks(ROLL[:7], 5)).compute(), expected[:7])
    assert clone(found).get_params()["sample_size"] == 200


# -- scikit-learn's habits -----------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(on_dask.__all__) - {"kneighbors", "SampledEmbedding"}))
def test_parameters_are_those_of_the_class_and_more(name):
    ours, theirs = getattr(on_dask, name), getattr(planish, name)
    more = set(ours().get_params()) - set(theirs().get_params())
    assert more <= {"graph", "sample_size", "sample_seed"}
    assert {k: v for k, v in ours().get_params().items() if k not in more} == theirs().get_params()
    assert issubclass(ours, theirs)
    assert ours.__doc__
    assert clone(ours(n_components=3)).get_params() == ours(n_components=3).get_params()
    assert type(pickle.loads(pickle.dumps(ours()))) is ours


def test_pickles_leave_the_cluster_behind():
    isomap = on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=20).fit(in_blocks(ROLL, 300))
    back = pickle.loads(pickle.dumps(isomap))
    np.testing.assert_array_equal(back.landmarks_, isomap.landmarks_)
    with pytest.raises(UnsupportedError, match="did not come with it"):
        back.transform(ROLL[:2])
    pca = pickle.loads(pickle.dumps(on_dask.PCA(2).fit(in_blocks(ROLL, 300))))
    np.testing.assert_allclose(pca.transform(ROLL), planish.PCA(2).fit_transform(ROLL), **CLOSE)


def test_fits_that_fail_leave_the_estimator_as_it_was():
    pca = on_dask.PCA(2).fit(in_blocks(ROLL, 300))
    before = pca.components_
    with pytest.raises(InputError):
        pca.fit(in_blocks(np.full((9, 3), np.nan), 3))
    assert pca.components_ is before


@pytest.mark.parametrize(
    "estimator",
    [
        on_dask.PCA(2),
        on_dask.LandmarkMDS(n_landmarks=20),
        on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=30),
        on_dask.Isomap(n_neighbors=8, sample_size=200),
    ],
)
def test_data_frames_in_data_frames_out(estimator):
    X = ROLL[:400]
    frame = pd.DataFrame(X, columns=["x", "y", "z"], index=np.arange(400) * 3)
    there = dd.from_pandas(frame, npartitions=3)
    placed = clone(estimator).fit_transform(there)
    sizes = tuple(len(part) for part in there.partitions)
    expected = clone(estimator).fit_transform(da.from_array(X, chunks=(sizes, 3)))
    found = placed.compute()
    assert isinstance(found, pd.DataFrame)
    assert found.index.equals(frame.index)
    assert list(found.columns) == [f"{type(estimator).__name__.lower()}{i}" for i in range(2)]
    np.testing.assert_allclose(found.to_numpy(), expected.compute(), rtol=0, atol=1e-9)
    fitted = clone(estimator).fit(there)
    assert list(fitted.feature_names_in_) == ["x", "y", "z"]
    again = fitted.transform(there)
    pd.testing.assert_frame_equal(again.compute(), found)
    assert again.divisions == there.divisions
    with pytest.raises(InputError, match="order differs"):
        fitted.transform(there[["y", "x", "z"]])


# -- bad input -----------------------------------------------------------------------------


def wrong(X, match, error=InputError, estimator=None):
    with pytest.raises(error, match=match) as raised:
        (estimator or on_dask.PCA(2)).fit(X)
    assert "\n" not in str(raised.value)


def test_what_is_no_rows_of_numbers_is_refused_in_a_sentence():
    X = in_blocks(ROLL, 300)
    wrong(X[X[:, 0] > 0], r"chunks of unknown size.*compute_chunk_sizes")
    wrong(X.rechunk((300, 2)), r"split into 2 chunks along its columns.*rechunk\(\{1: -1\}\)")
    wrong(X[:, 0], "2 dimensions")
    wrong(X.astype(str), "not numbers")
    holed = ROLL.copy()
    holed[[650, 700], [1, 2]] = np.nan, np.inf
    wrong(in_blocks(holed, 300), "X contains NaN at row 650, column 1; remove or impute")
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2], "town": ["x", "y"]}), npartitions=1)
    wrong(frame, "column 'town' of X does not hold numbers")
    wrong(frame[["a"]].a, "a series")
    wrong(X.map_blocks(lambda block: block)[:0], "0 rows")
    wrong(dask.delayed(1), "give a dask.array or a dask.dataframe")
    wrong(da.ma.masked_less(X, 0.0), "blocks of X are MaskedArray, not NumPy arrays")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (np.ones((4, 3)), r"an array of \(4, 3\) float64"),
        (np.ones((5, 2)), r"an array of \(5, 2\) float64"),
        (np.ones((5, 3), np.float32), r"an array of \(5, 3\) float32"),
        (np.ma.masked_array(np.ones((5, 3))), "a MaskedArray"),
        ([[1.0, 2.0, 3.0]] * 5, "a list"),
    ],
)
def test_blocks_are_what_x_says_they_are(made, said):
    first = da.from_array(np.random.default_rng(0).random((10, 3)), chunks=(10, 3))
    second = da.from_delayed(dask.delayed(lambda: made)(), shape=(5, 3), dtype=float)
    match = rf"block 1 of X is {said}, and X says that it is an array of \(5, 3\) float64"
    wrong(da.concatenate([first, second]), match)


def test_data_frames_of_the_types_of_pandas():
    X = np.random.default_rng(0).integers(0, 9, size=(40, 3)).astype(float)
    plain = pd.DataFrame(X, columns=["x", "y", "z"])
    kinds = plain.astype({"x": "Float64", "y": "Int64", "z": "float32"})
    there = dd.from_pandas(kinds, npartitions=2)
    pca = on_dask.PCA(2).fit(there)
    expected = planish.PCA(2).fit_transform(X)
    np.testing.assert_allclose(pca.transform(there).compute().to_numpy(), expected, **CLOSE)
    scores = pca.score_samples(there).compute()
    np.testing.assert_allclose(scores, planish.PCA(2).fit(X).score_samples(X), rtol=1e-9)
    assert scores.index.equals(plain.index)
    back = pca.inverse_transform(pca.transform(there)).compute()
    assert list(back.columns) == ["x", "y", "z"]
    np.testing.assert_allclose(
        back, planish.PCA(2).fit(X).inverse_transform(expected), rtol=0, atol=1e-9
    )
    small = dd.from_pandas(plain.astype(np.float32), npartitions=2)
    assert (on_dask.PCA(2).fit(small).transform(small).compute().dtypes == np.float32).all()
    kinds.loc[23, "y"] = pd.NA
    holed = dd.from_pandas(kinds, npartitions=2)
    wrong(holed, r"X contains NaN at row 23, column 1 \('y'\)")
    with pytest.raises(InputError, match=r"X contains NaN at row 3 of its block, column 1"):
        pca.transform(holed).compute()
    with pytest.raises(InputError, match="column 'y' of X does not hold numbers"):
        pca.transform(dd.from_pandas(plain.astype({"y": str}), npartitions=2))


def test_new_rows_are_checked_where_they_are():
    pca = on_dask.PCA(2).fit(in_blocks(ROLL, 300))
    holed = ROLL.copy()
    holed[650, 1] = np.nan
    with pytest.raises(InputError, match="X contains NaN at row 650, column 1"):
        pca.transform(in_blocks(holed, 300)).compute()
    with pytest.raises(InputError, match="X has 2 features, but PCA is expecting 3"):
        pca.transform(in_blocks(ROLL[:, :2], 300))
    isomap = on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=20).fit(in_blocks(ROLL, 300))
    with pytest.raises(InputError, match="X contains NaN at row 650, column 1"):
        isomap.transform(in_blocks(holed, 300))
    unknown = in_blocks(ROLL, 300)[da.from_array(ROLL[:, 0] > 0, chunks=300)]
    with pytest.raises(InputError, match=r"chunks of unknown size.*compute_chunk_sizes"):
        isomap.transform(unknown)
    for one in (pca, isomap):
        with pytest.raises(InputError, match=r"split into 3 chunks along its columns"):
            one.transform(in_blocks(ROLL, 300).rechunk((300, 1)))
    # Without known sizes rows are placed all the same.
    X = in_blocks(ROLL, 300)
    placed = pca.transform(X[X[:, 0] > 0]).compute()
    np.testing.assert_array_equal(placed, pca.transform(ROLL[ROLL[:, 0] > 0]))


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_neighbors": 900}, "must be less than the number of rows: got n_neighbors = 900"),
        ({"n_neighbors": 0}, "must be at least 1, got 0"),
        ({"n_neighbors": 5, "radius": 1.0}, "Both n_neighbors and radius"),
        ({"metric": "braycurtis"}, "on Dask no other is"),
        ({"n_landmarks": 2}, "2 landmarks span at most 1"),
        ({"landmarks": [1, 2, 3, 2]}, "row 2 is named twice"),
        ({"landmarks": [1, 2, 3, 900]}, "row 900 does not exist"),
        ({"graph": "both"}, "'auto', 'broadcast', 'partitioned', got 'both'"),
        ({"n_jobs": 0}, "0 threads can do no work"),
    ],
)
def test_parameters_are_named(params, match):
    wrong(in_blocks(ROLL, 300), match, ParameterError, on_dask.LandmarkIsomap(**params))


def test_what_needs_all_distances_is_refused():
    X = in_blocks(ROLL[:90], 30)
    for estimator in (
        on_dask.ClassicalMDS(metric="manhattan"),
        on_dask.LandmarkMDS(metric="precomputed"),
        on_dask.LandmarkIsomap(metric="precomputed"),
        on_dask.LandmarkIsomap(conformal=True),
        on_dask.Isomap(metric="precomputed"),
    ):
        wrong(X, "Dask|LandmarkMDS", UnsupportedError, estimator)
    equal = in_blocks(np.ones((40, 3)), 20)
    for auto in (on_dask.PCA, on_dask.ClassicalMDS, on_dask.LandmarkMDS):
        wrong(equal, "`n_components`.*give a number", ParameterError, auto(n_components="auto"))
    for kind, params in (
        (on_dask.LandmarkMDS, {"n_components": "two"}),
        (on_dask.ClassicalMDS, {"n_components": "mle"}),
        (on_dask.ClassicalMDS, {"n_components": 0.5}),
        (on_dask.LandmarkIsomap, {"n_neighbors": 4.5}),
        (on_dask.LandmarkIsomap, {"n_neighbors": True}),
        (on_dask.LandmarkIsomap, {"n_landmarks": "all"}),
        (on_dask.LandmarkIsomap, {"n_neighbors": None, "radius": "far"}),
    ):
        said = rf"`{list(params)[-1]}`: expected a (whole )?number"
        wrong(X, said, ParameterError, kind(**params))
    with pytest.raises(ParameterError, match="`n_neighbors`: expected a whole number"):
        on_dask.kneighbors(X, 2.5)
    wrong(X, "`algorithm`", ParameterError, on_dask.LandmarkMDS(algorithm="fastmap"))
    wrong(X, "`origin`", ParameterError, on_dask.ClassicalMDS(origin=3))


def test_data_that_changes_between_two_looks_is_refused():
    drawn = iter(np.random.default_rng(0).normal(size=(10, 5, 2)))
    parts = [dask.delayed(lambda: next(drawn), pure=False)() for _ in range(2)]
    blocks = Blocks(parts, np.array([0, 5, 10]), 2, np.dtype(float))
    looks = looked_at(blocks, Run())
    with pytest.raises(InputError, match=r"rows 0 to 4 of X came out different.*not reproducible"):
        require_same(blocks, looks)


def test_blocks_are_read_once_however_they_are_made():
    # Drawn without a seed: one fit sees one set of rows, because they are kept.
    X = da.zeros((200, 2), chunks=(50, 2)).map_blocks(
        lambda block: np.random.default_rng().normal(size=block.shape), dtype=float
    )
    distances, indices = on_dask.kneighbors(X, 3)
    assert distances.compute().min() > 0
    assert indices.compute().max() < 200


def test_a_rule_names_its_metric():
    with pytest.raises(ParameterError, match=r"`p`|Minkowski power"):
        on_dask.kneighbors(in_blocks(ROLL, 300), 3, metric="minkowski", p=0.5)
    assert Rule(3, None, "cosine", 2, "auto", 1).nearest_only().n_neighbors == 1
    assert up_to_sign(np.ones((2, 1)), -np.ones((2, 1))).tolist() == [[1.0], [1.0]]
