"""KernelMap: the formulas, scikit-learn's meta-estimator API, what it wraps."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import TSNE, SpectralEmbedding
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import planish
from conftest import SKLEARN, swiss_roll
from planish import PCA, Isomap, KernelMap
from planish.exceptions import ConvergenceWarning, InputError, ParameterError

# scikit-learn 1.8 has the parameter and warns where it is not given.
RANDOM_START = {"init": "random"} if SKLEARN >= (1, 8) else {}

BATTERY = [
    KernelMap(PCA(n_components=1)),
    KernelMap(Isomap(n_neighbors=3)),
    KernelMap(sklearn.decomposition.PCA(n_components=1), gamma=0.5),
]


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@parametrize_with_checks(BATTERY)
def test_scikit_learn_battery(estimator, check):
    check(estimator)


class Given(BaseEstimator):
    """An estimator with `fit` and `embedding_` only."""

    def __init__(self, coordinates=None):
        self.coordinates = coordinates

    def fit(self, X, y=None):
        self.embedding_ = np.asarray(self.coordinates)
        return self


def weights_by_the_book(rows, points, gamma):
    """Formulas (43), (44) and (51)."""
    apart = cdist(points, points)
    np.fill_diagonal(apart, np.inf)
    sigma = gamma * apart.min(axis=0)
    k = np.exp(-(cdist(rows, points) ** 2) / (2 * sigma**2))
    return k / k.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("gamma", [0.4, 0.8, 1.2])
def test_is_the_formula_with_the_pseudo_inverse(blob, gamma):
    rng = np.random.default_rng(0)
    coordinates = rng.normal(size=(60, 3)) + 5
    new = blob[:20] + 0.3 * rng.normal(size=(20, 5))
    coefficients = np.linalg.pinv(weights_by_the_book(blob, blob, gamma)) @ coordinates
    expected = weights_by_the_book(new, blob, gamma) @ coefficients
    model = KernelMap(Given(coordinates), gamma=gamma).fit(blob)
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-8)
    apart = cdist(blob, blob) + np.diag(np.full(60, np.inf))
    np.testing.assert_allclose(model.sigma_, gamma * apart.min(axis=0), rtol=1e-12)
    assert model.residual_ < 1e-10
    assert model.n_iter_ > 0


@pytest.mark.parametrize(
    "inner",
    [
        TSNE(perplexity=10, max_iter=300, init="pca", random_state=0),
        SpectralEmbedding(random_state=0),
        sklearn.manifold.MDS(n_init=1, max_iter=30, random_state=0, **RANDOM_START),
        Isomap(n_neighbors=8),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_training_rows_come_back_and_neighbours_stay_near(inner, roll):
    model = KernelMap(inner)
    placed = model.fit_transform(roll)
    assert placed is model.embedding_
    assert np.array_equal(placed, model.estimator_.embedding_)
    assert np.array_equal(model.transform(roll), placed)
    assert not hasattr(inner, "embedding_")
    rng = np.random.default_rng(0)
    shifted = model.transform(roll + 1e-6 * rng.normal(size=roll.shape))
    assert np.abs(shifted - placed).max() < 1e-3 * np.ptp(placed, axis=0).max()


def test_beats_the_nearest_row_on_held_out_points():
    X = swiss_roll(2000)
    truth = Isomap(n_neighbors=10).fit_transform(X)
    train, test = np.arange(1500), np.arange(1500, 2000)
    model = KernelMap(Given(truth[train])).fit(X[train])
    lookup = KNeighborsRegressor(1).fit(X[train], truth[train])
    ours = np.linalg.norm(model.transform(X[test]) - truth[test], axis=1)
    theirs = np.linalg.norm(lookup.predict(X[test]) - truth[test], axis=1)
    assert np.sqrt((ours**2).mean()) < 0.8 * np.sqrt((theirs**2).mean())
    assert np.median(ours) < 0.6 * np.median(theirs)


def test_an_estimator_that_is_already_fitted(roll):
    fitted = SpectralEmbedding(random_state=0).fit(roll)
    expected = KernelMap(SpectralEmbedding(random_state=0)).fit(roll).transform(roll + 0.1)
    model = KernelMap(fitted, prefit=True).fit(roll)
    assert model.estimator_ is fitted
    assert np.array_equal(model.transform(roll + 0.1), expected)
    frozen = clone(KernelMap(FrozenEstimator(fitted))).fit(roll)
    assert np.array_equal(frozen.transform(roll + 0.1), expected)
    with pytest.raises(NotFittedError, match="prefit=True"):
        KernelMap(SpectralEmbedding(), prefit=True).fit(roll)
    with pytest.raises(InputError, match="399 rows, but the embedding has 400"):
        KernelMap(fitted, prefit=True).fit(roll[1:])


def test_an_estimator_of_distances_must_be_fitted_before(blob):
    distances = cdist(blob, blob)
    inner = Isomap(n_neighbors=8, metric="precomputed")
    with pytest.raises(ParameterError, match=r"estimator.*prefit=True"):
        KernelMap(inner).fit(distances)
    model = KernelMap(inner.fit(distances), prefit=True).fit(blob)
    assert np.array_equal(model.transform(blob), inner.embedding_)


def test_parameters_reach_the_inner_estimator(blob):
    model = KernelMap(Isomap(n_neighbors=8))
    assert model.get_params()["estimator__n_neighbors"] == 8
    assert set(model.get_params(deep=False)) == {
        "estimator",
        "gamma",
        "prefit",
        "n_jobs",
        "verbose",
    }
    model.set_params(estimator__n_neighbors=9, gamma=0.5)
    assert model.fit(blob).estimator_.n_neighbors == 9
    again = clone(model)
    assert again.estimator is not model.estimator
    assert not hasattr(again, "estimator_")
    with pytest.raises(NotFittedError):
        again.transform(blob)


def test_pipeline_and_grid_search(roll):
    target = roll[:, 1]
    pipeline = make_pipeline(StandardScaler(), KernelMap(PCA()), KNeighborsRegressor())
    grid = {"kernelmap__gamma": [0.2, 0.8], "kernelmap__estimator__n_components": [1, 3]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(roll, target)
    assert search.best_params_["kernelmap__estimator__n_components"] == 3
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
@pytest.mark.parametrize("rows", [60, 1500])
def test_pickle_and_copy(again, rows):
    X = swiss_roll(rows)
    model = KernelMap(PCA(n_components=2)).fit(X)
    again = again(model)
    assert np.array_equal(again.transform(X + 0.1), model.transform(X + 0.1))
    assert np.array_equal(again.sigma_, model.sigma_)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames(blob, make):
    names = list("abcde")
    frame = make(dict(zip(names, blob.T, strict=True)))
    model = KernelMap(Isomap(n_neighbors=8))
    plain = KernelMap(Isomap(n_neighbors=8)).fit_transform(blob)
    assert np.array_equal(model.fit_transform(frame), plain)
    assert list(model.feature_names_in_) == names
    assert list(model.estimator_.feature_names_in_) == names
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[names[::-1]])


@pytest.mark.parametrize(("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(blob, output, kind):
    plain = KernelMap(Isomap(n_neighbors=8)).fit_transform(blob)
    model = KernelMap(Isomap(n_neighbors=8)).set_output(transform=output)
    frame = model.fit_transform(blob)
    assert isinstance(frame, kind)
    assert list(frame.columns) == ["kernelmap0", "kernelmap1"]
    assert np.array_equal(frame.to_numpy(), plain)
    assert np.array_equal(model.transform(blob[:3]).to_numpy(), plain[:3])
    with sklearn.config_context(transform_output=output):
        assert np.array_equal(KernelMap(Isomap(n_neighbors=8)).fit(blob).embedding_, plain)


def test_float32_and_sparse(blob):
    single = blob.astype(np.float32)
    model = KernelMap(PCA(n_components=2)).fit(single)
    assert model.embedding_.dtype == np.float32
    assert model.transform(single[:3]).dtype == np.float32
    assert model.transform(single[:3].astype(float)).dtype == np.float64
    holed = np.where(blob < 0, 0, blob)
    inner = TruncatedSVD(n_components=2, random_state=0)
    of_sparse = KernelMap(inner).fit(sparse.csr_matrix(holed))
    dense = KernelMap(Given(of_sparse.embedding_)).fit(holed)
    new = np.where(blob < 0.1, 0, blob)
    np.testing.assert_allclose(
        of_sparse.transform(sparse.csr_array(new)), dense.transform(new), atol=1e-9
    )


def test_bits_do_not_depend_on_threads_or_batches(roll):
    new = np.vstack([roll[:10] + 0.2, [[1e6, 0, 0]]])
    one = KernelMap(PCA(n_components=2), n_jobs=1).fit(roll).transform(new)
    model = KernelMap(PCA(n_components=2), n_jobs=3).fit(roll)
    assert np.array_equal(model.transform(new), one)
    assert np.array_equal(np.vstack([model.transform(row[None]) for row in new]), one)
    assert np.isfinite(one).all()


def test_equal_rows_share_their_mean():
    X = np.array([[0.0], [1.0], [0.0], [5.0]])
    model = KernelMap(Given([[0.0], [3.0], [1.0], [4.0]])).fit(X)
    assert model.embedding_.ravel().tolist() == [0.5, 3.0, 0.5, 4.0]
    assert np.array_equal(model.transform(X), model.embedding_)
    assert model.sigma_.tolist() == [0.8, 0.8, 0.8, 3.2]


def test_few_and_constant_rows():
    for n in (1, 2, 3):
        coordinates = np.arange(2.0 * n).reshape(n, 2)
        model = KernelMap(Given(coordinates)).fit(np.arange(n)[:, None] ** 2.0)
        assert np.array_equal(model.transform(np.arange(n)[:, None] ** 2.0), coordinates)
        assert np.isfinite(model.transform([[0.5], [100.0]])).all()
    constant = KernelMap(Given([[1.0], [3.0]])).fit(np.ones((2, 4)))
    assert constant.transform([[0.0, 1.0, 2.0, 3.0]]).tolist() == [[2.0]]


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "wide", None, True, [1.0]])
def test_bad_gamma(blob, gamma):
    inner = Given(blob)
    inner.fit = None  # is not reached
    with pytest.raises(ParameterError, match="`gamma`"):
        KernelMap(inner, gamma=gamma).fit(blob)


def test_bad_estimators(blob):
    with pytest.raises(ParameterError, match=r"`estimator`: expected .*fit_transform"):
        KernelMap("TSNE").fit(blob)
    with pytest.raises(ParameterError, match="has no `embedding_`"):
        KernelMap(PCA().fit(blob), prefit=True).fit(blob)
    with pytest.raises(ParameterError, match="`prefit`"):
        KernelMap(PCA(), prefit="yes").fit(blob)
    with pytest.raises(InputError, match=r"shape \(60,\)"):
        KernelMap(Given(blob[:, 0])).fit(blob)
    holed = blob.copy()
    holed[7, 1] = np.nan
    with pytest.raises(InputError, match="embedding contains NaN at row 7, column 1"):
        KernelMap(Given(holed)).fit(blob)
    with pytest.raises(InputError, match="X contains NaN at row 7, column 1"):
        KernelMap(Given(blob)).fit(holed)


def test_a_failed_fit_changes_nothing(blob):
    model = KernelMap(PCA(n_components=2)).fit(blob)
    before = dict(vars(model))
    model.gamma = before["gamma"] = -1.0
    with pytest.raises(ParameterError):
        model.fit(blob)
    assert vars(model) == before


def test_far_rows_are_placed_or_named(blob):
    model = KernelMap(PCA(n_components=2)).fit(blob)
    assert np.isfinite(model.transform(np.full((1, 5), 1e50))).all()
    with pytest.raises(InputError, match="row 1 cannot be placed"):
        model.transform(np.vstack([blob[0], np.full(5, 1e300)]))


def test_too_wide_a_kernel_is_reported(blob):
    with pytest.warns(ConvergenceWarning, match="lower `gamma`") as heard:
        KernelMap(PCA(n_components=2), gamma=1e7).fit(blob)
    assert heard[0].filename == __file__


def test_documentation_names_everything(blob):
    documented = KernelMap.__doc__
    parameters = list(inspect.signature(KernelMap).parameters)
    model = KernelMap(PCA()).fit(pd.DataFrame(blob, columns=list("abcde")))
    fitted = [name for name in vars(model) if name.endswith("_")]
    assert [name for name in parameters + fitted if f"\n    {name} : " not in documented] == []
    assert model.gamma == 0.8


def test_verbose_writes_progress(capfd, roll):
    KernelMap(PCA(n_components=2), verbose=1).fit(roll)
    assert capfd.readouterr().err.splitlines()[-1].startswith("[planish] KernelMap.fit: done (")


def test_is_not_a_method_of_the_registry():
    assert "KernelMap" not in planish._core.methods()
