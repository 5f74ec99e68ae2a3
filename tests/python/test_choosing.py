"""What helps to choose: describe, suggest_n_neighbors, compare."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import planish
from conftest import affine_residual, rolled
from planish import PCA, Isomap, compare, datasets, describe, suggest_n_neighbors
from planish.exceptions import InputAdjustedWarning, InputError, ParameterError

KINDS = {
    "no rows": np.empty((0, 3)),
    "no columns": np.empty((5, 0)),
    "one row": np.ones((1, 2)),
    "one column": np.arange(20.0)[:, None],
    "equal rows": np.ones((8, 2)),
    "text": [["a", "b"], ["c", "d"]],
    "missing": np.where(np.arange(60).reshape(20, 3) == 7, np.nan, 1.0 * np.eye(20, 3)),
    "three rows": np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]]),
}


def noisy_roll(n, noise, seed):
    X, truth = rolled(n, seed)[:2]
    return X + noise * np.random.default_rng(seed + 100).normal(size=X.shape), truth


# -- the number of neighbours ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@pytest.mark.parametrize(("n", "noise", "seed"), [(1000, 0.0, 0), (1000, 0.3, 1), (1500, 0.5, 2)])
def test_the_suggested_number_unrolls_as_well_as_the_best(n, noise, seed):
    X, truth = noisy_roll(n, noise, seed)
    found = suggest_n_neighbors(X, random_state=0)
    errors = {
        trial.n_neighbors: affine_residual(
            Isomap(n_neighbors=trial.n_neighbors).fit_transform(X), truth
        )
        for trial in found.trials
    }
    assert errors[found.best] <= 1.6 * min(errors.values()), (found.best, errors)
    # and the choice matters: too many neighbours lose the roll
    assert max(errors.values()) > 5 * errors[found.best]


def test_the_table_says_what_the_graphs_are():
    X, _ = noisy_roll(600, 0.5, 0)
    found = suggest_n_neighbors(X)
    for trial in found.trials[::5]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Isomap(n_neighbors=trial.n_neighbors).fit(X)
        assert trial.components == len(np.unique(model.component_labels_))
        if trial.components == 1:
            assert trial.shortcuts == len(model.shortcuts_)
    low, high = found.range
    for trial in found.trials:
        if low <= trial.n_neighbors <= high:
            assert trial.components == 1
            assert trial.shortcuts == 0
    after = next(trial for trial in found.trials if trial.n_neighbors > high)
    assert after.shortcuts > 0 or after.residual_variance > 0.01
    frame = found.to_frame()
    assert frame.index.tolist() == [trial.n_neighbors for trial in found.trials]
    assert str(found).startswith(f"Use n_neighbors={found.best}.")
    assert "shortcut" in str(found)
    assert "of 600 rows" in str(found)


@pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")
def test_with_all_rows_as_sources_the_residual_variance_is_that_of_isomap():
    X, _ = noisy_roll(300, 0.0, 3)
    found = suggest_n_neighbors(X, n_sources=300)
    trial = next(trial for trial in found.trials if trial.n_neighbors == 10)
    curve = planish.residual_variance(Isomap(n_neighbors=10).fit(X), dims=[2])
    assert trial.residual_variance == pytest.approx(curve.values[0], rel=1e-6)


def test_parts_that_are_far_apart_are_told():
    X = np.random.default_rng(0).normal(size=(200, 2))
    found = suggest_n_neighbors(np.vstack([X, X + 100]))
    assert "2 components even with 50 neighbours" in str(found)


def test_parts_are_those_that_last():
    """Not the edges that many neighbours force upon clusters: 2 parts of 5 at 40 neighbours."""
    X = datasets.gaussian_clusters(1000).points
    found = suggest_n_neighbors(X)
    counts = {trial.n_neighbors: trial.components for trial in found.trials}
    assert counts[found.best] == 5 > counts[50]
    assert found.best <= found.range[1] < 20
    assert "and 5 with 3 to" in str(found)
    assert "2 columns leave" in str(found)


@pytest.mark.parametrize("make", [datasets.flat_torus, datasets.punctured_sphere, datasets.cube])
def test_paths_do_not_zigzag_where_the_columns_cannot_hold_the_data(make):
    """A residual variance that is flat because it is large does not tell good graphs from bad."""
    data = make(1000)
    found = suggest_n_neighbors(data.points)
    graph = planish.neighbors_graph(data.points, n_neighbors=found.best)
    rows = np.arange(0, 1000, 20)
    ratio = planish.geodesic_distances(graph, sources=rows) / np.maximum(data.geodesics(rows), 1e-9)
    assert np.median(ratio) < 1.25
    assert found.sound
    assert found.range[0] < found.best == 8
    assert "zigzag" in str(found)


def test_no_sound_number_is_said():
    found = suggest_n_neighbors(datasets.swiss_roll(600, noise=0.8).points)
    assert not found.sound
    assert "signs of shortcuts" in str(found)
    assert found.range == (found.best, found.best)


def test_suggestions_are_the_same_each_time_and_by_seed():
    X, _ = noisy_roll(400, 0.2, 0)
    assert suggest_n_neighbors(X).trials == suggest_n_neighbors(X, n_jobs=1).trials
    assert suggest_n_neighbors(X, random_state=1).trials != suggest_n_neighbors(X).trials


def test_sparse_rows_are_taken():
    X, _ = noisy_roll(300, 0.0, 0)
    assert suggest_n_neighbors(sparse.csr_array(X)).best == suggest_n_neighbors(X).best


@pytest.mark.parametrize(
    "kind", ["no rows", "no columns", "one row", "equal rows", "text", "missing", "three rows"]
)
def test_what_has_no_neighbours_is_refused(kind):
    with pytest.raises(InputError):
        suggest_n_neighbors(KINDS[kind])


def test_wrong_parameters_are_named():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for name, value in [("max_neighbors", 1), ("n_components", 0), ("n_sources", 2)]:
        with pytest.raises(ParameterError, match=name):
            suggest_n_neighbors(X, **{name: value})


# -- the description ---------------------------------------------------------------------


def test_a_description_finds_what_was_put_in():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [1.0, 1.0, 1e4, 1.0]
    X[:, 3] = 7.0
    X[10] = X[20] = X[30]
    X[44] = [500.0, 500.0, 5e6, 7.0]
    found = describe(X)
    assert found.facts["duplicates"] == 2
    assert found.facts["constant_columns"] == ["3"]
    assert found.facts["scales"]["largest"] == "2"
    assert found.facts["scales"]["ratio"] > 1e3
    assert found.facts["outliers"] == [44]
    text = str(found)
    for word in ("repeating", "constant", "StandardScaler", "far from all", "What to try"):
        assert word in text
    json.dumps(found.to_dict())


def test_missing_numbers_are_placed():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
    X.loc[3, "b"] = np.nan
    X.loc[9, "c"] = np.inf
    X["name"] = "x"
    found = describe(X)
    assert found.facts["text_columns"] == ["name"]
    assert (found.facts["missing"], found.facts["infinite"]) == (1, 1)
    assert found.facts["missing_rows"] == [3, 9]
    assert found.facts["missing_columns"] == ["b", "c"]
    assert found.suggestions
    as_sparse = sparse.csr_array(X[["a", "b", "c"]].to_numpy())
    assert describe(as_sparse).facts["missing_rows"] == [3, 9]


def test_rows_keep_their_numbers_and_labels_where_others_are_missing():
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[3, 1], X[7, 2] = np.nan, np.inf
    X[20] += 1e3
    found = describe(X, np.arange(300) >= 150)
    assert found.facts["missing_rows"] == [3, 7]
    assert found.facts["outliers"] == [20]
    assert 0 < found.facts["neighborhood_hit"] < 1


def test_many_duplicates_are_not_called_equal_rows():
    X = np.random.default_rng(0).integers(0, 5, size=(500, 1)).astype(float)
    assert "distinct rows" in str(describe(X))
    assert "All rows are equal" not in str(describe(X))
    assert "All rows are equal" in str(describe(np.ones((50, 2))))
    with pytest.raises(InputError, match="every row equals 50 others or more"):
        suggest_n_neighbors(X)


def test_components_dimension_and_labels():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 3)), rng.normal(size=(50, 3)) + 40])
    labels = np.repeat(["left", "right"], [150, 50])
    found = describe(X, labels)
    assert found.facts["components"] == [150, 50]
    assert found.facts["neighborhood_hit"] == 1.0
    assert found.facts["classes"] == {"left": 150, "right": 50}
    assert 2 < np.median(list(found.facts["dimension"].values())) < 4
    assert found.suggestions[0].method.startswith("TSNE")
    sheet = describe(noisy_roll(1000, 0.0, 0)[0])
    assert 1.7 < np.median(list(sheet.facts["dimension"].values())) < 2.3
    assert any(one.method.startswith("Isomap(n_neighbors=") for one in sheet.suggestions)


@pytest.mark.parametrize("make", [datasets.swiss_roll, lambda n: datasets.cube(n, 6)])
def test_the_dimension_told_is_the_one_that_auto_takes(make):
    X = make(2000).points
    told = describe(X)
    assert told.facts["intrinsic_dimension"] == PCA(n_components="auto").fit(X).n_components_
    assert ("columns or more" in str(told)) == (told.facts["intrinsic_dimension"] > 2)


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_the_data_it_is_described(kind):
    found = describe(KINDS[kind])
    assert str(found).count("\n") >= len(found.findings)
    json.dumps(found.to_dict())
    if kind not in ("three rows", "one column"):
        assert found.findings


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="shape"):
        describe(np.arange(3.0))
    with pytest.raises(InputError, match="labels"):
        describe(np.eye(3), labels=[1, 2])


@pytest.mark.filterwarnings("error")
def test_what_is_suggested_runs():
    X, _ = noisy_roll(400, 0.0, 0)
    for one in describe(X).suggestions:
        name, _, params = one.method.partition("(")
        made = eval(f"planish.{name}({params}", {"planish": planish})
        assert made.fit_transform(X).shape[0] == 400
        assert one.memory == planish.estimate_memory(made, *X.shape)


# -- the comparison ----------------------------------------------------------------------


def test_methods_are_fitted_as_they_would_be_alone():
    X, _ = noisy_roll(1000, 0.0, 0)
    found = compare(X, ["PCA", Isomap, Isomap(n_neighbors=6)], n_neighbors=8)
    assert [row.name for row in found.rows] == ["PCA", "Isomap", "Isomap #2"]
    assert np.array_equal(found.rows[0].embedding, PCA(n_components=2).fit_transform(X))
    assert np.array_equal(found.rows[1].embedding, Isomap(n_neighbors=8).fit_transform(X))
    assert np.array_equal(found.rows[2].embedding, Isomap(n_neighbors=6).fit_transform(X))
    for row in found.rows:
        assert row.memory == planish.estimate_memory(row.estimator, *X.shape)
        assert 0 < row.seconds < 60
    # a roll is unrolled by the graph and not by a plane
    assert found.best().name.startswith("Isomap")
    assert found.rows[1].quality["trustworthiness"] > 0.98
    assert found.rows[0].quality["trustworthiness"] < 0.98


def test_failures_and_warnings_stay_in_the_table():
    class Broken:
        def fit_transform(self, X):
            raise ZeroDivisionError("oh")

        def get_params(self, deep=True):
            return {}

    X = np.vstack([np.random.default_rng(0).normal(size=(30, 3)) + at for at in (0, 100)])
    methods = {
        "bad": Broken(),
        "none": "NoSuchMethod",
        "k": Isomap(n_neighbors=100),
        "good": "Isomap",
    }
    found = compare(X, methods, labels=np.arange(60) // 30)
    bad, none, large, good = found.rows
    assert bad.error == "ZeroDivisionError: oh"
    assert bad.embedding is None
    assert bad.quality == {}
    assert "NoSuchMethod" in none.error
    assert none.estimator is None
    assert "n_neighbors" in large.error
    assert good.error is None
    assert [text.split(":")[0] for text in good.warnings] == ["DisconnectedGraphWarning"]
    assert good.quality["neighborhood_hit"] == 1.0
    assert found.best().name == "good"
    text = str(found)
    assert "bad: failed: ZeroDivisionError: oh" in text
    assert "good: DisconnectedGraphWarning" in text
    frame = found.to_frame()
    assert frame.index.tolist() == list(methods)
    assert frame.loc["good", "error"] is None or pd.isna(frame.loc["good", "error"])


def test_ctrl_c_ends_the_whole():
    class Interrupted(PCA):
        def fit_transform(self, X, y=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(np.eye(5), [Interrupted()])


def test_a_sample_is_drawn_by_seed():
    X = np.random.default_rng(0).normal(size=(500, 3))
    labels = np.arange(500)
    found = compare(X, ["PCA"], labels, sample=100, random_state=3)
    assert len(found.sample) == 100
    assert np.array_equal(found.labels, labels[found.sample])
    assert np.array_equal(
        found.rows[0].embedding, PCA(n_components=2).fit_transform(X[found.sample])
    )
    again = compare(pd.DataFrame(X), ["PCA"], sample=100, random_state=3)
    assert np.array_equal(found.sample, again.sample)
    assert not np.array_equal(found.sample, compare(X, ["PCA"], sample=100).sample)
    assert "fitted on 100 of 500 rows" in str(found)
    assert len(compare(X, ["PCA"], sample=None).sample) == 500


@pytest.mark.parametrize("kind", KINDS)
def test_bad_data_is_in_the_rows_and_not_raised(kind):
    found = compare(KINDS[kind])
    assert len(found.rows) >= 5
    if kind in ("no rows", "no columns", "text", "missing"):
        assert all(row.error and row.embedding is None for row in found.rows)
        with pytest.raises(InputError, match="no method"):
            found.best()
    assert str(found).count("\n") > len(found.rows)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (["a"] * 40, "all rows have the same label"),
        ([None, *"ab" * 19, "a"], "row 0 has no label"),
        (np.where(np.arange(40) == 7, np.nan, np.arange(40) % 2), "row 7 has no label"),
    ],
)
def test_labels_that_tell_nothing_are_left_out_of_the_quality_only(labels, why):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(InputAdjustedWarning, match=why):
        found = compare(X, ["PCA"], labels)
    assert found.rows[0].error is None
    assert "trustworthiness" in found.rows[0].quality
    assert "neighborhood_hit" not in found.rows[0].quality
    assert len(found.labels) == 40


def test_calls_that_are_wrong_are_refused():
    X = np.eye(4)
    with pytest.raises(InputError, match="labels"):
        compare(X, ["PCA"], labels=[1, 2])
    with pytest.raises(ParameterError, match="methods"):
        compare(X, "PCA")
    with pytest.raises(ParameterError, match="n_components"):
        compare(X, ["PCA"], n_components=0)
    with pytest.raises(InputError, match="int"):
        compare(3)
    with pytest.raises(InputError, match=r"rows and columns, got an array of shape \(9,\)"):
        compare(np.arange(9.0), ["PCA"])
