"""PCA against scikit-learn."""

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.manifold
from scipy import sparse

from conftest import assert_same_columns
from planish import PCA
from planish.exceptions import RankDeficientWarning

SHAPES = {"tall": (300, 8), "square": (30, 30), "wide": (20, 90)}


def matrix(shape, seed=0):
    rng = np.random.default_rng(seed)
    n, d = SHAPES[shape]
    spectrum = 2.0 ** -np.arange(min(n, d))
    mixed = rng.normal(size=(n, min(n, d))) * spectrum
    return mixed @ rng.normal(size=(min(n, d), d)) + rng.normal(size=d)


# ---- PCA ------------------------------------------------------------------------------
PCA_NUMBERS = ["explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"]


def assert_same_pca(ours, theirs, X, rtol=1e-8):
    assert ours.n_components_ == theirs.n_components_
    assert ours.n_samples_ == theirs.n_samples_
    for name in PCA_NUMBERS:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=rtol, atol=1e-12, err_msg=name
        )
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-7, atol=1e-15)
    assert_same_columns(ours.components_.T, theirs.components_.T, rtol=1e-6)
    assert_same_columns(ours.transform(X), theirs.transform(X), rtol=1e-7)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
@pytest.mark.parametrize("shape", SHAPES)
def test_pca_solvers(shape, solver, whiten):
    X = matrix(shape)
    theirs = sklearn.decomposition.PCA(4, svd_solver="full", whiten=whiten).fit(X)
    ours = PCA(4, svd_solver=solver, whiten=whiten).fit(X)
    assert_same_pca(ours, theirs, X)
    assert_same_columns(
        ours.inverse_transform(ours.transform(X)),
        theirs.inverse_transform(theirs.transform(X)),
        rtol=1e-9,
    )


@pytest.mark.parametrize("n_components", [0.3, 0.75, 0.95, 0.999])
@pytest.mark.parametrize("shape", SHAPES)
def test_pca_share_of_variance(shape, n_components):
    X = matrix(shape)
    theirs = sklearn.decomposition.PCA(n_components, svd_solver="full").fit(X)
    assert_same_pca(PCA(n_components, svd_solver="full").fit(X), theirs, X)


@pytest.mark.parametrize("solver", ["auto", "full"])
def test_pca_mle(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 10)) + 0.1 * rng.normal(size=(200, 10))
    theirs = sklearn.decomposition.PCA("mle", svd_solver=solver).fit(X)
    ours = PCA("mle", svd_solver=solver).fit(X)
    assert ours.n_components_ == 3
    assert_same_pca(ours, theirs, X)


def test_pca_all_components():
    X = matrix("tall")
    theirs = sklearn.decomposition.PCA(svd_solver="full").fit(X)
    ours = PCA().fit(X)
    assert ours.components_.shape == (8, 8)
    assert_same_pca(ours, theirs, X)
    assert ours.noise_variance_ == 0.0


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
def test_pca_sparse(solver):
    X = sparse.random(200, 30, density=0.2, format="csr", random_state=0)
    theirs = sklearn.decomposition.PCA(5, svd_solver="full").fit(X.toarray())
    for given in (X, sparse.csc_array(X), sparse.coo_matrix(X)):
        assert_same_pca(PCA(5, svd_solver=solver).fit(given), theirs, X.toarray())


@pytest.mark.parametrize("n_components", [3, 8])
def test_pca_likelihood(n_components):
    X = matrix("tall")
    theirs = sklearn.decomposition.PCA(n_components, svd_solver="full").fit(X)
    ours = PCA(n_components).fit(X)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9)


def test_pca_covariance_describes_the_data_when_whitened():
    X = matrix("tall")
    whitened = PCA(whiten=True).fit(X)
    np.testing.assert_allclose(whitened.get_covariance(), np.cov(X.T), rtol=1e-9)
    np.testing.assert_allclose(whitened.get_precision() @ np.cov(X.T), np.eye(8), atol=1e-6)


def test_pca_seed_moves_only_the_last_digits():
    X = matrix("tall")
    one = PCA(3, svd_solver="randomized", random_state=1).fit(X)
    two = PCA(3, svd_solver="randomized", random_state=np.random.RandomState(7)).fit(X)
    np.testing.assert_allclose(one.explained_variance_, two.explained_variance_, rtol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
def test_components_without_variance_are_reported(solver):
    plane = np.random.default_rng(0).normal(size=(40, 2)) @ np.arange(10.0).reshape(2, 5) ** 0.5
    with pytest.warns(RankDeficientWarning, match=r"only 2 dimension.*n_components <= 2"):
        fitted = PCA(3, svd_solver=solver).fit(plane)
    assert fitted.explained_variance_[2] < 1e-12 * fitted.explained_variance_[0]
    PCA(2, svd_solver=solver).fit(plane)  # no warning
