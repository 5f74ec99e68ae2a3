"""Estimators as steps of scikit-learn: pipelines, column transformers, searches, data frames."""

import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import planish
from conftest import rolled
from planish import (
    MDS,
    PCA,
    TSNE,
    ClassicalMDS,
    DiffusionMaps,
    Isomap,
    KernelIsomap,
    KernelMDS,
    KNeighborsTransformer,
    LandmarkIsomap,
    LandmarkMDS,
    LocallyLinearEmbedding,
    SammonMapping,
    SpectralEmbedding,
)

# So few points of a roll have shortcuts.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")

# Every transformer, small enough for a search over 600 rows.
STEPS = [
    PCA(2),
    ClassicalMDS(),
    KernelMDS(kernel="rbf", gamma=0.01),
    LandmarkMDS(n_landmarks=30),
    MDS(max_iter=20),
    SammonMapping(max_iter=20),
    TSNE(max_iter=250),
    Isomap(n_neighbors=9),
    KernelIsomap(n_neighbors=9),
    LandmarkIsomap(n_neighbors=9, n_landmarks=40),
    LocallyLinearEmbedding(n_neighbors=9, method="ltsa"),
    SpectralEmbedding(n_neighbors=9),
    DiffusionMaps(n_neighbors=20),
]


@pytest.fixture(scope="module")
def banded():
    """A Swiss roll whose classes are bands along it: near in space, far along the sheet."""
    points, truth = rolled(900)
    return points, np.digitize(truth[:, 0], np.linspace(0, truth[:, 0].max(), 7)[1:-1])


def test_every_method_is_here():
    assert {type(step).__name__ for step in STEPS} == set(planish._core.methods())


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_cross_validation_is_fit_on_one_part_and_transform_of_the_other(step, banded):
    X, y = banded[0][::3], banded[1][::3]
    steps = make_pipeline(StandardScaler(), step, KNeighborsClassifier(5))
    folds = KFold(2, shuffle=True, random_state=0)
    predicted = cross_val_predict(clone(steps), X, y, cv=folds)
    by_hand = np.empty_like(y)
    for fitted, left in folds.split(X):
        scale = StandardScaler().fit(X[fitted])
        inner = clone(step)
        train = inner.fit_transform(scale.transform(X[fitted]))
        classifier = KNeighborsClassifier(5).fit(train, y[fitted])
        by_hand[left] = classifier.predict(inner.transform(scale.transform(X[left])))
    assert np.array_equal(predicted, by_hand)
    chance = np.bincount(y).max() / len(y)
    assert (predicted == y).mean() > 1.5 * chance


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
def test_a_search_finds_the_number_of_neighbours(banded):
    X, y = banded
    steps = make_pipeline(Isomap(n_components=1), KNeighborsClassifier(5))
    # Along the sheet one coordinate is enough; with 80 neighbours paths cut across.
    search = GridSearchCV(steps, {"isomap__n_neighbors": [8, 80]}, cv=5, error_score="raise")
    search.fit(X, y)
    assert search.best_params_ == {"isomap__n_neighbors": 8}
    good, bad = search.cv_results_["mean_test_score"]
    assert good > 0.9
    assert bad < 0.75
    assert np.array_equal(search.predict(X[:5]), search.best_estimator_.predict(X[:5]))


def test_a_search_in_parallel_finds_the_same(banded):
    X, y = banded[0][::3], banded[1][::3]
    steps = make_pipeline(PCA(), KNeighborsClassifier(5))
    scores = []
    for jobs in (1, 2):
        with joblib.parallel_config("threading", n_jobs=jobs):
            search = GridSearchCV(steps, {"pca__n_components": [1, 2, 3]}, cv=3).fit(X, y)
        scores.append(search.cv_results_["mean_test_score"])
    assert np.array_equal(*scores)


@pytest.mark.parametrize(
    ("step", "pairwise"),
    [
        (ClassicalMDS(metric="precomputed"), cdist),
        (Isomap(n_neighbors=9, metric="precomputed"), cdist),
        (LandmarkMDS(n_landmarks=30, metric="precomputed"), cdist),
        (KernelMDS(kernel="precomputed"), lambda a, b: rbf_kernel(a, b, gamma=0.01)),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
def test_cross_validation_cuts_matrices_of_pairs_both_ways(banded, step, pairwise):
    X, y = banded[0][::3], banded[1][::3]
    matrix = pairwise(X, X)
    matrix = (matrix + matrix.T) / 2
    steps = make_pipeline(step, KNeighborsClassifier(5))
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(steps, matrix, y, cv=folds, error_score="raise")
    for score, (fitted, left) in zip(scores, folds.split(X), strict=True):
        model = clone(steps).fit(matrix[np.ix_(fitted, fitted)], y[fitted])
        assert score == model.score(matrix[np.ix_(left, fitted)], y[left])


def test_cross_validation_of_a_graph_of_neighbours(banded):
    X, y = banded
    folds = KFold(3, shuffle=True, random_state=0)
    classify = KNeighborsClassifier(5)
    by_graph = make_pipeline(
        KNeighborsTransformer(n_neighbors=12), Isomap(n_neighbors=8, metric="precomputed"), classify
    )
    plain = make_pipeline(Isomap(n_neighbors=8), classify)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", planish.exceptions.PlanishWarning)
        scores = [cross_val_score(steps, X, y, cv=folds) for steps in (by_graph, plain)]
    assert np.array_equal(*scores)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_transformer_embeds_some_columns_and_passes_others(banded, make):
    X, y = banded[0][:300], banded[1][:300]
    names = np.array(["inner", "outer"])[(y > 2).astype(int)]
    frame = make({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "side": names, "weight": y})
    columns = ColumnTransformer(
        [
            ("map", make_pipeline(StandardScaler(), PCA(2)), ["x", "y", "z"]),
            ("side", OneHotEncoder(sparse_output=False), ["side"]),
        ],
        remainder="passthrough",
    ).set_output(transform="pandas" if make is pd.DataFrame else "polars")
    found = columns.fit_transform(frame)
    assert isinstance(found, make)
    expected = ["map__pca0", "map__pca1", "side__side_inner", "side__side_outer"]
    assert list(found.columns) == [*expected, "remainder__weight"]
    by_hand = PCA(2).fit_transform(StandardScaler().fit_transform(X))
    ours = np.column_stack([found["map__pca0"], found["map__pca1"]])
    np.testing.assert_allclose(ours, by_hand, atol=1e-9)
    assert np.array_equal(found["side__side_outer"], (y > 2).astype(float))
    placed = columns.transform(frame[:7])
    np.testing.assert_allclose(np.asarray(placed["map__pca0"]), by_hand[:7, 0], atol=1e-9)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_data_frames_through_a_whole_pipeline(banded, output):
    X = banded[0][:300]
    frame = pd.DataFrame(X, columns=list("xyz"), index=np.arange(300) * 2)
    seen = []

    def look(part):
        seen.append(part)
        return part

    steps = make_pipeline(
        PCA(3), FunctionTransformer(look, feature_names_out="one-to-one"), Isomap(n_neighbors=20)
    )
    plain = clone(steps).fit_transform(X)
    seen.clear()
    found = steps.set_output(transform=output).fit_transform(frame)
    assert list(seen[0].columns) == ["pca0", "pca1", "pca2"]
    assert list(found.columns) == ["isomap0", "isomap1"]
    assert np.array_equal(np.asarray(found), plain)
    if output == "pandas":
        assert found.index.equals(frame.index)
    assert list(steps.get_feature_names_out()) == ["isomap0", "isomap1"]


def test_two_maps_side_by_side(banded):
    X = banded[0][:300]
    union = FeatureUnion([("flat", PCA(2)), ("along", Isomap(n_neighbors=20))])
    found = union.set_output(transform="pandas").fit_transform(X)
    assert list(found.columns) == ["flat__pca0", "flat__pca1", "along__isomap0", "along__isomap1"]
    assert np.array_equal(found.iloc[:, 2:], Isomap(n_neighbors=20).fit_transform(X))
