"""Permutations, bootstraps and jackknife of maps of the stress family."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from planish import MDS, PCA, SammonMapping, bootstrap, jackknife, permutation_test
from planish.exceptions import InputError, ParameterError
from planish.stability import onto
from scaling_data import MATRICES


def test_structure_is_better_than_chance_and_noise_is_not():
    rng = np.random.default_rng(0)
    given = MDS(metric="precomputed", type="ordinal")
    assert permutation_test(given, MATRICES["ekman"], n_permutations=39).p_value == 1 / 40
    noise = rng.random((15, 15))
    noise = (noise + noise.T) * (1 - np.eye(15))
    assert permutation_test(given, noise, n_permutations=39).p_value > 1 / 40
    flat = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 8))
    found = permutation_test(SammonMapping(), flat, n_permutations=19)
    assert found.p_value == 1 / 20
    assert (found.permuted > 10 * found.stress).all()
    scattered = rng.normal(size=(30, 8))
    assert permutation_test(MDS(), scattered, n_permutations=19).p_value > 1 / 20


def test_results_do_not_depend_on_the_number_of_threads():
    X = np.random.default_rng(1).normal(size=(25, 6))
    one = bootstrap(MDS(n_jobs=1), X, n_bootstraps=12, random_state=3)
    two = bootstrap(MDS(n_jobs=2), X, n_bootstraps=12, random_state=3)
    assert np.array_equal(one.embeddings, two.embeddings)
    other = bootstrap(MDS(), X, n_bootstraps=12, random_state=4)
    assert not np.array_equal(one.embeddings, other.embeddings)


def test_places_that_columns_determine_are_stable():
    rng = np.random.default_rng(2)
    clean = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 200))
    noisy = rng.normal(size=(20, 8))
    steady = bootstrap(MDS(), clean, n_bootstraps=30)
    shaky = bootstrap(MDS(), noisy, n_bootstraps=30)
    assert steady.stability > 0.97 > shaky.stability
    assert steady.embeddings.shape == (30, 20, 2)
    assert steady.stresses.shape == (30,)
    assert np.array_equal(steady.embedding, MDS().fit_transform(clean))
    np.testing.assert_allclose(steady.mean, steady.embeddings.mean(axis=0))
    gaps = shaky.embeddings[:, 4] - shaky.mean[4]
    np.testing.assert_allclose(shaky.covariance[4], gaps.T @ gaps / 29)


def test_ellipses_are_those_of_the_covariance():
    found = bootstrap(MDS(), np.random.default_rng(3).normal(size=(15, 6)), n_bootstraps=40)
    centers, lengths, axes = found.ellipses(0.95)
    assert np.array_equal(centers, found.mean)
    assert (lengths[:, 0] >= lengths[:, 1]).all()
    for row in range(15):
        turned = axes[row].T @ np.diag(lengths[row] ** 2 / 5.991464547107979) @ axes[row]
        np.testing.assert_allclose(turned, found.covariance[row], atol=1e-12)
    wider = found.ellipses(0.99)[1]
    assert (wider > lengths).all()
    with pytest.raises(ParameterError, match="level"):
        found.ellipses(1.0)


def test_jackknife_leaves_each_row_out():
    D = MATRICES["ekman"]
    found = jackknife(MDS(metric="precomputed"), D)
    assert found.embeddings.shape == (14, 14, 2)
    gone = np.isnan(found.embeddings).any(axis=2)
    assert np.array_equal(gone, np.eye(14, dtype=bool))
    assert 0.9 < found.stability <= 1
    assert np.isfinite(found.mean).all()
    weights = np.ones((14, 14))
    weighted = jackknife(MDS(metric="precomputed", weights=weights), D)
    assert weighted.stability == pytest.approx(found.stability, abs=0.05)


def test_procrustes_undoes_rotation_scale_and_shift():
    rng = np.random.default_rng(4)
    Y = rng.normal(size=(12, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    np.testing.assert_allclose(onto(2.5 * Y @ turn + 7, Y), Y, atol=1e-12)
    assert pdist(onto(np.zeros((4, 2)), Y[:4, :2])).max() == 0


def test_what_is_refused():
    X = np.random.default_rng(5).normal(size=(10, 3))
    with pytest.raises(InputError, match="jackknife"):
        bootstrap(MDS(metric="precomputed"), MATRICES["ekman"])
    for function in (bootstrap, jackknife, permutation_test):
        with pytest.raises(ParameterError, match=r"estimator.*PCA"):
            function(PCA(), X)
        with pytest.raises(InputError, match="square"):
            function(MDS(metric="precomputed"), X)
    with pytest.raises(ParameterError, match="n_bootstraps"):
        bootstrap(MDS(), X, n_bootstraps=1)
    with pytest.raises(ParameterError, match="n_permutations"):
        permutation_test(MDS(), X, n_permutations=0)
    with pytest.raises(ParameterError, match="random_state"):
        permutation_test(MDS(), X, random_state=-3)
    with pytest.raises(InputError, match="at least 3 rows"):
        jackknife(MDS(), X[:2])
