"""Sammon mapping: published minima, laws, duplicates, neighbours."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import load_digits, load_iris

from planish import ClassicalMDS, SammonMapping
from planish.exceptions import (
    DisconnectedGraphWarning,
    InputError,
    NegativeEigenvalueWarning,
    ParameterError,
)
from scaling_data import EURODIST_EIGENVALUES, MATRICES, SWISS

TIGHT = {"eps": 1e-16, "max_iter": 20_000}
# R 4.2.2, MASS 7.3.58.2: sammon() with a tight tolerance, from cmdscale.
EURODIST_STRESS = 0.0093981584409591
SWISS_STRESS = 0.0038259973030714


def sammon_stress(delta, Y):
    gaps = (delta - pdist(Y)) ** 2 / delta
    return gaps.sum() / delta.sum()


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton", "gradient"])
def test_eurodist(solver):
    sammon = SammonMapping(metric="precomputed", solver=solver, **TIGHT).fit(MATRICES["eurodist"])
    assert sammon.stress_ == pytest.approx(EURODIST_STRESS, abs=1e-11)


def test_swiss():
    # Sammon's own step ends where MASS does; the others find a lower minimum.
    newton = SammonMapping(solver="newton", **TIGHT).fit(SWISS)
    assert newton.stress_ == pytest.approx(SWISS_STRESS, abs=1e-11)
    for solver in ("auto", "lbfgs"):
        assert SammonMapping(solver=solver, **TIGHT).fit(SWISS).stress_ < SWISS_STRESS


def test_eigenvalues_of_eurodist():
    with pytest.warns(NegativeEigenvalueWarning):
        found = ClassicalMDS(n_components=11, metric="precomputed").fit(MATRICES["eurodist"])
    np.testing.assert_allclose(found.eigenvalues_, EURODIST_EIGENVALUES, rtol=1e-10)


def test_digits_do_not_stall():
    # MASS::sammon stops after one iteration at 0.299841; an L-BFGS of our own reaches 0.11852.
    sammon = SammonMapping().fit(load_digits().data[:1000])
    assert sammon.stress_ < 0.1186


def test_stress_is_that_of_the_map():
    X = np.random.default_rng(0).normal(size=(40, 5))
    for params in ({}, {"solver": "newton"}, {"solver": "sgd"}, {"init": "random", "n_init": 3}):
        sammon = SammonMapping(**params).fit(X)
        assert sammon.stress_ == pytest.approx(sammon_stress(pdist(X), sammon.embedding_))
        assert sammon.stress_forms_["sammon"] == sammon.stress_
        assert sammon.history_[-1] == pytest.approx(sammon.stress_, rel=1e-9)


def test_the_second_order_step_never_increases_the_stress():
    X = np.random.default_rng(1).normal(size=(60, 6))
    for magic in (0.1, 0.35, 1.0):
        found = SammonMapping(solver="newton", magic=magic, init="random", eps=1e-9, max_iter=2000)
        history = found.fit(X).history_
        assert (np.diff(history) < 0).all()
        assert len(history) > 10


def test_duplicates_are_no_error():
    X = load_iris().data  # two rows are equal
    sammon = SammonMapping(eps=1e-12, max_iter=2000).fit(X)
    assert np.array_equal(sammon.embedding_[101], sammon.embedding_[142])
    # R's MASS refuses them; on the 149 distinct rows its minimum is 0.0040150527.
    assert sammon.stress_ < 0.00402
    same = np.ones((5, 3))
    assert np.array_equal(SammonMapping().fit_transform(same), np.zeros((5, 2)))


def test_neighbours_only():
    X = np.random.default_rng(2).normal(size=(80, 2)) * [3, 1]
    sammon = SammonMapping(n_neighbors=8, eps=1e-13, max_iter=3000).fit(X)
    assert sammon.stress_ < 1e-6
    np.testing.assert_allclose(pdist(sammon.embedding_), pdist(X), atol=0.05)
    # (29), written out
    X = np.random.default_rng(2).normal(size=(50, 6))
    sammon = SammonMapping(n_neighbors=5).fit(X)
    delta, d = cdist(X, X), cdist(sammon.embedding_, sammon.embedding_)
    near = np.argsort(delta + np.diag(np.full(50, np.inf)), axis=1)[:, :5]
    rows = np.arange(50)[:, None]
    gaps = (delta[rows, near] - d[rows, near]) ** 2 / delta[rows, near]
    assert sammon.stress_ == pytest.approx(gaps.sum() / delta[rows, near].sum(), rel=1e-9)
    assert np.array_equal(sammon.transform(X), sammon.embedding_)


def test_groups_of_neighbours_are_told(two_islands):
    with pytest.warns(DisconnectedGraphWarning, match="2 groups"):
        found = SammonMapping(n_neighbors=3).fit_transform(two_islands)
    assert np.isfinite(found).all()


def test_new_rows():
    X = np.random.default_rng(3).normal(size=(60, 2))
    sammon = SammonMapping(eps=1e-15, max_iter=3000).fit(X[:50])
    np.testing.assert_allclose(
        cdist(sammon.transform(X[50:]), sammon.embedding_), cdist(X[50:], X[:50]), atol=1e-4
    )
    alone = np.vstack([sammon.transform(row[None]) for row in X[50:]])
    assert np.array_equal(alone, sammon.transform(X[50:]))


def test_missing_distances():
    X = np.random.default_rng(4).normal(size=(20, 2))
    D = squareform(pdist(X))
    D[2, 9] = D[9, 2] = np.nan
    sammon = SammonMapping(metric="precomputed", **TIGHT).fit(D)
    np.testing.assert_allclose(pdist(sammon.embedding_), pdist(X), atol=1e-5)
    D[4] = D[:, 4] = np.nan
    with pytest.raises(InputError, match="row 4"):
        SammonMapping(metric="precomputed").fit(D)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"magic": 0.0}, "magic"),
        ({"magic": 1.5}, "magic"),
        ({"solver": "smacof"}, "solver.*newton"),
        ({"solver": "newton", "n_neighbors": 3}, "solver.*n_neighbors"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 8}, "n_neighbors.*7"),
        ({"init": np.zeros((8, 2))}, "init.*same place"),
        ({"n_components": 0}, "n_components"),
        ({"eps": -1}, "eps"),
    ],
)
def test_parameters_are_checked(params, match):
    X = np.random.default_rng(8).normal(size=(8, 3))
    with pytest.raises(ParameterError, match=match):
        SammonMapping(**params).fit(X)
