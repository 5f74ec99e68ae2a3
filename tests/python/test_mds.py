"""Metric and non-metric MDS: published minima, laws, bad input, scikit-learn's own tests."""

import functools
import pickle
import warnings

import numpy as np
import pytest
import sklearn.manifold._mds as sklearn_mds
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import load_digits
from sklearn.manifold.tests import test_mds as sklearn_tests

import planish
from conftest import needs_sklearn
from planish import MDS, ClassicalMDS, smacof
from planish.exceptions import ConvergenceWarning, InputError, ParameterError
from scaling_data import MATRICES

# Stress-1 of two-dimensional maps: R smacof 2.1-7 from Torgerson's start, eps 1e-12; the ordinal
# ones (primary ties) agree to 8 digits with vegan's monoMDS, an independent program.
MINIMA = {
    ("ekman", "ratio"): 0.1311992636,
    ("kinship", "ratio"): 0.2642942301,
    ("morse", "ratio"): 0.2999153237,
    ("wish", "ratio"): 0.2185156286,
    ("morse", "interval"): 0.2614406738,
    ("wish", "interval"): 0.2176602460,
    ("ekman", "ordinal"): 0.0231025062,
    ("kinship", "ordinal"): 0.2217539012,
    ("morse", "ordinal"): 0.1807088327,
    ("wish", "ordinal"): 0.1850198588,
}
TIGHT = {"metric": "precomputed", "eps": 1e-15, "max_iter": 20_000}


def fitted(name, **params):
    return MDS(**{**TIGHT, "init": "classical_mds", **params}).fit(MATRICES[name])


def form(mds):
    """Stress-1 as R reports it: of the best scale of the map."""
    return mds.history_[-1]


@pytest.mark.parametrize("solver", ["lbfgs", "smacof", "auto"])
@pytest.mark.parametrize(("name", "kind"), MINIMA)
def test_published_minima(name, kind, solver):
    found = form(fitted(name, type=kind, solver=solver))
    assert found == pytest.approx(MINIMA[name, kind], abs=1e-9)


@pytest.mark.parametrize(("name", "theirs"), [("ekman", 0.0900388276), ("kinship", 0.2635315035)])
def test_interval_minima_that_smacof_stops_short_of(name, theirs):
    # R smacof stops a little above the minimum here; SciPy, on the definition, does not.
    ours = fitted(name, type="interval")
    delta = squareform(MATRICES[name])

    def stress(x):
        distances = pdist(x.reshape(-1, 2))
        rest = distances - np.polyval(np.polyfit(delta, distances, 1), delta)
        return (rest**2).sum() / (distances**2).sum()

    start = ClassicalMDS(metric="precomputed").fit_transform(MATRICES[name]).ravel()
    truth = np.sqrt(minimize(stress, start, method="BFGS", options={"gtol": 1e-9}).fun)
    assert form(ours) == pytest.approx(truth, abs=1e-7)
    assert theirs - 1e-4 < form(ours) < theirs


def test_secondary_ties_and_cubes():
    assert form(fitted("ekman", type="ordinal", ties="secondary")) == pytest.approx(
        0.0315858490, abs=1e-8
    )
    cubes = MDS(**TIGHT, init="classical_mds").fit(MATRICES["ekman"] ** 3)
    assert form(cubes) == pytest.approx(0.1049991045, abs=1e-9)


def test_many_starts_find_the_best_minimum_of_wish():
    # R smacof, 300 random starts: 0.21774734 98 times; the classical start ends in 0.21851563.
    mds = MDS(**TIGHT, n_init=20, random_state=0).fit(MATRICES["wish"])
    assert form(mds) == pytest.approx(0.21774734, abs=1e-8)
    assert mds.inits_["start"][0] == "classical_mds"
    assert (mds.inits_["start"][1:] == "random").all()
    assert mds.inits_["stress"].min() == form(mds)
    assert len(np.unique(mds.inits_["stress"].round(6))) >= 2
    # Several starts may end in the same minimum to the last bit of its root.
    best = mds.inits_[mds.inits_["stress"] == mds.inits_["stress"].min()]
    assert mds.n_iter_ in best["n_iter"]
    assert mds.n_iter_ == len(mds.history_)


def test_many_starts_beat_the_classical_one_on_kinship():
    mds = MDS(**TIGHT, type="ordinal", init="random", n_init=100).fit(MATRICES["kinship"])
    assert form(mds) == pytest.approx(0.22170077, abs=1e-7)


@pytest.mark.parametrize("kind", ["ratio", "interval", "ordinal", "spline"])
@pytest.mark.parametrize("solver", ["auto", "lbfgs", "smacof", "gradient"])
def test_every_solver_descends(kind, solver):
    X = np.random.default_rng(0).normal(size=(40, 5))
    mds = MDS(type=kind, solver=solver, eps=1e-9, max_iter=3000).fit(X)
    start = MDS(type=kind, solver="smacof", max_iter=1, init=ClassicalMDS().fit_transform(X))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        start.fit(X)
    assert form(mds) <= form(start)
    if solver != "auto":
        assert (np.diff(mds.history_) <= 0).all()


def test_points_in_the_dimension_of_the_map_reach_zero_stress():
    for width in (1, 2, 3, 5):
        X = np.random.default_rng(width).normal(size=(40, width))
        for params in ({}, {"loss": "sstress"}, {"solver": "newton"}, {"solver": "smacof"}):
            mds = MDS(width, eps=0, max_iter=2000, **params).fit(X)
            assert mds.stress_forms_["normalized"] < 1e-7
            np.testing.assert_allclose(pdist(mds.embedding_), pdist(X), atol=1e-6)


def test_forms_of_stress_are_those_of_the_map():
    X = np.random.default_rng(1).normal(size=(30, 4))
    mds = MDS().fit(X)
    delta, d, Y = pdist(X), pdist(mds.embedding_), mds.embedding_
    raw = ((delta - d) ** 2).sum()
    H = np.eye(30) - 1 / 30
    kernel = -0.5 * H @ squareform(delta) ** 2 @ H
    expected = {
        "raw": raw,
        "normalized": np.sqrt(raw / (delta**2).sum()),
        "stress1": np.sqrt(raw / (d**2).sum()),
        "stress2": np.sqrt(raw / ((d - d.mean()) ** 2).sum()),
        "sammon": ((delta - d) ** 2 / delta).sum() / delta.sum(),
        "strain": ((kernel - Y @ Y.T) ** 2).sum(),
        "per_distance": raw / d.sum(),
    }
    assert mds.stress_forms_ == pytest.approx(expected, rel=1e-10)
    assert mds.stress_ == mds.stress_forms_["raw"]
    own = ((squareform(delta) - squareform(d)) ** 2).sum(axis=0)
    np.testing.assert_allclose(mds.stress_per_point_, 100 * own / own.sum(), rtol=1e-10)
    assert np.abs(Y.mean(axis=0)).max() < 1e-12


def test_strain_is_classical_mds():
    X = np.random.default_rng(1).normal(size=(30, 4))
    ours = MDS(loss="strain").fit(X)
    np.testing.assert_allclose(ours.embedding_, ClassicalMDS().fit_transform(X), atol=1e-12)
    new = X[:3] + 0.1
    expected = ClassicalMDS().fit(X).transform(new)
    np.testing.assert_allclose(ours.transform(new), expected, atol=1e-10)


@pytest.mark.parametrize("init", ["warn", "random"])
@pytest.mark.parametrize("ties", ["primary", "secondary", "tertiary"])
def test_only_the_order_counts_in_ordinal_scaling(ties, init):
    D = squareform(pdist(np.random.default_rng(2).normal(size=(30, 4))).round(1))
    maps = [
        MDS(metric="precomputed", type="ordinal", ties=ties, init=init).fit_transform(f(D))
        for f in (lambda d: d, np.sqrt, lambda d: np.exp(d) - 1, lambda d: 1e6 * d**3)
    ]
    assert all(np.array_equal(maps[0], other) for other in maps[1:])


def test_disparities_ascend_and_fit_best():
    X = np.random.default_rng(3).normal(size=(30, 5))
    from sklearn.isotonic import IsotonicRegression

    for kind in ("ordinal", "spline", "interval"):
        mds = MDS(type=kind, ties="secondary").fit(X)
        table = mds.shepard_
        assert (np.diff(table["dissimilarity"]) >= 0).all()
        assert (np.diff(table["disparity"]) >= -1e-12).all()
        rest = ((table["distance"] - table["disparity"]) ** 2).sum()
        assert mds.stress_ == pytest.approx(np.sqrt(rest / (table["distance"] ** 2).sum()))
        assert (table["disparity"] ** 2).sum() == pytest.approx(30 * 29 / 2)
        if kind == "ordinal":
            fit = IsotonicRegression().fit_transform(table["dissimilarity"], table["distance"])
            np.testing.assert_allclose(fit, table["disparity"], atol=1e-9)
        if kind == "interval":
            line = np.polyfit(table["dissimilarity"], table["distance"], 1)
            expected = np.polyval(line, table["dissimilarity"])
            np.testing.assert_allclose(table["disparity"], expected, atol=1e-9)


def test_splines_lie_between_lines_and_ordinal_scaling():
    X = np.random.default_rng(3).normal(size=(30, 5))
    stresses = [
        MDS(type=kind, init="classical_mds", eps=1e-12, max_iter=3000).fit(X).stress_
        for kind in ("interval", "spline", "ordinal")
    ]
    assert stresses[0] > stresses[1] > stresses[2]


def test_guttmans_rank_images_are_another_way_to_a_minimum():
    ours = fitted("ekman", type="ordinal", monotone="guttman")
    assert form(ours) == pytest.approx(0.0231025062, abs=1e-8)


def test_weights_leave_pairs_out():
    X = np.random.default_rng(4).normal(size=(25, 2))
    D, weights = squareform(pdist(X)), np.ones((25, 25))
    D[3, 7] = D[7, 3] = 1e6
    weights[3, 7] = weights[7, 3] = 0.0
    for params in ({"weights": weights}, {}):
        given = D if params else np.where(D == 1e6, np.nan, D)
        for solver in ("auto", "lbfgs", "smacof", "newton"):
            mds = MDS(metric="precomputed", eps=0, max_iter=5000, solver=solver, **params)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                mds.fit(given)
            np.testing.assert_allclose(pdist(mds.embedding_), pdist(X), atol=1e-4)
    assert mds.shepard_.shape == (299,)


def test_a_distance_that_is_known_one_way_is_known():
    D = squareform(pdist(np.random.default_rng(4).normal(size=(10, 2))))
    one_way = D.copy()
    one_way[2, 5] = np.nan
    both = MDS(metric="precomputed", init="random").fit_transform(D)
    ours = MDS(metric="precomputed", init="random", eps=1e-12).fit(one_way)
    assert ours.stress_forms_["normalized"] < 1e-4
    assert both.shape == ours.embedding_.shape


def test_zero_is_a_true_zero():
    D = squareform(pdist(np.random.default_rng(4).normal(size=(10, 2))))
    D[0], D[:, 0] = D[1], D[:, 1]
    D[0, 0] = D[0, 1] = D[1, 0] = 0.0
    for kind in ("ratio", "ordinal"):
        Y = MDS(metric="precomputed", type=kind).fit_transform(D)
        assert np.linalg.norm(Y[0] - Y[1]) < 1e-6


# ---- new rows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [{}, {"type": "ordinal"}, {"type": "interval"}, {"type": "spline"}, {"loss": "sstress"},
     {"metric": "manhattan"}, {"metric": "canberra"}, {"n_components": 1}, {"n_components": 4}],
)  # fmt: skip
def test_transform_of_training_rows_and_row_by_row(params):
    X = np.random.default_rng(5).normal(size=(60, 4))
    X[7] = X[3]
    new = X[:10] + 0.05
    mds = MDS(**params).fit(X)
    assert np.array_equal(mds.transform(X), mds.embedding_)
    together = mds.transform(new)
    alone = np.vstack([mds.transform(row[None]) for row in new])
    assert np.array_equal(together, alone)
    assert np.array_equal(pickle.loads(pickle.dumps(mds)).transform(new), together)


def test_a_new_row_lies_where_its_stress_is_least():
    X = np.random.default_rng(5).normal(size=(60, 4))
    mds = MDS().fit(X[:50])
    delta = cdist(X[50:], X[:50])
    placed = mds.transform(X[50:])

    def stress(y, row):
        return ((np.linalg.norm(mds.embedding_ - y, axis=1) - delta[row]) ** 2).sum()

    for row, place in enumerate(placed):
        around = [stress(place + 1e-4 * step, row) for step in np.vstack([np.eye(2), -np.eye(2)])]
        starts = mds.embedding_[::10]
        best = min(minimize(stress, start, args=(row,)).fun for start in starts)
        assert stress(place, row) <= min(around)
        assert stress(place, row) <= best * (1 + 1e-6)


def test_new_rows_of_given_distances():
    X = np.random.default_rng(6).normal(size=(40, 2))
    D = cdist(X, X)
    mds = MDS(metric="precomputed", eps=1e-14, max_iter=2000).fit(D[:30, :30])
    assert np.array_equal(mds.transform(D[:30, :30]), mds.embedding_)
    placed = mds.transform(D[30:, :30])
    np.testing.assert_allclose(cdist(placed, mds.embedding_), D[30:, :30], atol=1e-4)
    holes = D[30:, :30].copy()
    holes[:, ::3] = np.nan
    np.testing.assert_allclose(mds.transform(holes), placed, atol=1e-4)
    holes[2] = np.nan
    with pytest.raises(InputError, match="row 2 has no known"):
        mds.transform(holes)


# ---- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ratio", "interval", "ordinal", "spline"])
def test_nothing_to_tell_apart(kind):
    for X, metric in ((np.ones((6, 3)), "euclidean"), (np.zeros((6, 6)), "precomputed")):
        mds = MDS(metric=metric, type=kind).fit(X)
        assert np.array_equal(mds.embedding_, np.zeros((6, 2)))
        assert mds.stress_ == 0
        assert np.array_equal(mds.transform(X[:2]), np.zeros((2, 2)))
    equal = np.ones((8, 8)) - np.eye(8)
    assert np.isfinite(MDS(metric="precomputed", type=kind).fit_transform(equal)).all()


@pytest.mark.parametrize("kind", ["ratio", "interval", "ordinal", "spline"])
def test_few_rows(kind):
    X = np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]])
    assert np.array_equal(MDS(1, type=kind).fit_transform(X[:1]), [[0.0]])
    with pytest.raises(ParameterError, match="n_components"):
        MDS(2, type=kind).fit(X[:1])
    for n in (2, 3):
        mds = MDS(2, type=kind, eps=1e-14).fit(X[:n])
        assert mds.stress_forms_["normalized"] < 1e-5


def test_missing_pairs_that_leave_points_alone_are_named():
    D = squareform(pdist(np.random.default_rng(7).normal(size=(8, 2))))
    alone = D.copy()
    alone[5, :] = alone[:, 5] = np.nan
    with pytest.raises(InputError, match="row 5 is in no known"):
        MDS(metric="precomputed").fit(alone)
    groups = D.copy()
    groups[:3, 3:] = groups[3:, :3] = np.nan
    with pytest.raises(InputError, match="rows 0 and 3 are in two groups"):
        MDS(metric="precomputed").fit(groups)


def test_weights_are_checked():
    X = np.random.default_rng(7).normal(size=(6, 2))

    def refused(match, **change):
        weights = np.ones((6, 6))
        for at, value in change.get("at", ()):
            weights[at] = value
        weights = change.get("weights", weights)
        with pytest.raises(ParameterError, match=match):
            MDS(weights=weights).fit(X)

    refused(r"weights.*rows 1 and 2 is -1", at=[((1, 2), -1.0), ((2, 1), -1.0)])
    refused(r"weights.*rows 0 and 3 is NaN", at=[((0, 3), np.nan)])
    refused(r"weights.*symmetric.*rows [14] and [14]", at=[((1, 4), 3.0)])
    refused(r"weights.*shape \(6, 6\)", weights=np.ones((5, 5)))
    refused(r"weights.*2-dimensional", weights=np.ones(6))
    refused(r"weights.*row 2", at=[((2, slice(None)), 0.0), ((slice(None), 2), 0.0)])
    two, four = slice(0, 2), slice(2, 6)
    both = [((two, four), 0.0), ((four, two), 0.0)]
    refused(r"weights.*rows 0 and 2 are in two groups", at=both)
    with pytest.raises(ParameterError, match=r"strain.*no weights"):
        MDS(weights=np.ones((6, 6)), loss="strain").fit(X)


def test_asymmetry():
    D = squareform(pdist(np.random.default_rng(7).normal(size=(8, 2))))
    D[2, 5] += 0.5
    with pytest.raises(InputError, match=r"symmetric.*row 2 to row 5"):
        MDS(metric="precomputed").fit(D)
    D[2, 5] = D[5, 2] * (1 + 1e-9)
    with pytest.warns(planish.exceptions.InputAdjustedWarning):
        MDS(metric="precomputed").fit(D)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"init": np.zeros((8, 2))}, "init.*same place"),
        ({"init": np.full((8, 2), np.inf)}, "init.*finite"),
        ({"init": np.ones((7, 2))}, r"init.*\(8, 2\)"),
        ({"init": np.ones((8, 3))}, r"init.*\(8, 2\)"),
        ({"init": np.ones(8)}, "init.*2-dimensional"),
        ({"init": "pca"}, "init.*classical_mds"),
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"eps": -1.0}, "eps"),
        ({"eps": np.nan}, "eps"),
        ({"type": "cardinal"}, "type.*ordinal"),
        ({"type": "ratio", "metric_mds": False}, "type.*metric_mds"),
        ({"ties": "none"}, "ties.*primary"),
        ({"monotone": "pava"}, "monotone.*kruskal"),
        ({"solver": "adam"}, "solver.*smacof"),
        ({"solver": "newton", "type": "ordinal"}, "solver.*type"),
        ({"solver": "smacof", "loss": "sstress"}, "solver.*sstress"),
        ({"loss": "hinge"}, "loss.*strain"),
        ({"loss": "sstress", "type": "spline"}, "loss.*type"),
        ({"normalized_stress": "yes"}, "normalized_stress"),
        ({"metric_mds": 3}, "metric_mds"),
        ({"random_state": -1}, "random_state"),
        ({"dissimilarity": "cosine"}, "dissimilarity"),
    ],
)
def test_parameters_are_checked(params, match):
    X = np.random.default_rng(8).normal(size=(8, 3))
    estimator = MDS(**params)
    before = dict(vars(estimator))
    with pytest.raises(ParameterError, match=match):
        estimator.fit(X)
    assert vars(estimator).keys() == before.keys()


def test_convergence_is_told():
    X = np.random.default_rng(8).normal(size=(50, 6))
    with pytest.warns(ConvergenceWarning, match="raise max_iter or eps"):
        MDS(max_iter=3, solver="lbfgs").fit(X)


def test_digits_reach_what_stochastic_descent_reaches():
    # s_gd2 1.8.1 on the same 600 rows: 0.329558; SMACOF from a classical start: 0.331205.
    # Which minimum is found depends on the last bits: 0.3292 to 0.3313 on ten copies that differ
    # by rounding.
    rng, digits = np.random.default_rng(0), load_digits().data[:600]
    copies = [digits * (1 + 1e-13 * rng.normal(size=digits.shape)) for _ in range(9)]
    found = [MDS().fit(copy).stress_forms_["normalized"] for copy in copies]
    assert np.median(found) < 0.331205
    assert min(found) < 0.3296


# ---- scikit-learn ----------------------------------------------------------------------

# One replaces a private function of scikit-learn's; the other is about warnings of defaults that
# change there and not here (what it says of `dissimilarity` and `metric` is tested below).
NOT_OURS = {"test_normalized_stress_auto", "test_future_warning_init_and_metric"}
THEIRS = [name for name in vars(sklearn_tests) if name.startswith("test_") and name not in NOT_OURS]


def _cases(function):
    marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
    cases = [{}]
    for mark in marks:
        name, values = mark.args
        cases = [{**case, name: value} for case in cases for value in values]
    return cases


@needs_sklearn(1, 8, reason="the first whose tests are of today's MDS")
@pytest.mark.parametrize(
    ("name", "case"), [(n, c) for n in THEIRS for c in _cases(getattr(sklearn_tests, n))], ids=str
)
def test_scikit_learns_own_tests(name, case, monkeypatch):
    # Their default start is random: from a classical one, stress is nought but rounding.
    monkeypatch.setattr(sklearn_mds, "MDS", functools.partial(MDS, init="random"))
    monkeypatch.setattr(sklearn_mds, "smacof", smacof)
    monkeypatch.setattr(sklearn_tests, "ClassicalMDS", ClassicalMDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(sklearn_tests, name)(**case)


def test_old_names_of_parameters():
    X = np.random.default_rng(9).normal(size=(10, 3))
    D = squareform(pdist(X))
    with pytest.warns(FutureWarning, match="`dissimilarity` parameter is"):
        old = MDS(dissimilarity="precomputed").fit(D)
    assert np.array_equal(old.embedding_, MDS(metric="precomputed").fit_transform(D))
    with pytest.warns(FutureWarning, match="Use metric_mds"):
        old = MDS(metric=False).fit(X)
    assert np.array_equal(old.embedding_, MDS(metric_mds=False).fit_transform(X))
    with pytest.raises(ValueError, match="provided both `dissimilarity`"):
        MDS(metric="cosine", dissimilarity="euclidean").fit(X)


@needs_sklearn(1, 8, reason="before, the stress returned was that of the step before the last")
def test_smacof_is_what_scikit_learns_is():
    D = MATRICES["ekman"]
    start = np.random.default_rng(0).normal(size=(14, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = smacof(D, init=start, max_iter=50, eps=0, return_n_iter=True)
        theirs = sklearn_mds.smacof(D, init=start, max_iter=50, eps=0, n_init=1, return_n_iter=True)
    np.testing.assert_allclose(ours[0], theirs[0] - theirs[0].mean(axis=0), atol=1e-10)
    assert ours[1] == pytest.approx(theirs[1])
    assert ours[2] == theirs[2] == 50
