"""Kernel MDS against scikit-learn's kernel PCA."""

import contextlib
import pickle

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.manifold
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels

from conftest import assert_same_columns
from planish import KernelMDS
from planish.exceptions import InputError, ParameterError, PlanishWarning, RankDeficientWarning


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack"])
@pytest.mark.parametrize(
    "kernel", ["linear", "poly", "rbf", "cosine", "laplacian", "additive_chi2", "precomputed"]
)
def test_kernel_mds(blob, kernel, solver):
    X = np.abs(blob) / 10  # additive_chi2 wants no negative numbers
    new = X[:9] + 0.05
    name = "rbf" if kernel == "precomputed" else kernel
    params = {"gamma": 0.2, "degree": 2, "coef0": 0.5}
    K = pairwise_kernels(X, metric=name, filter_params=True, **params)
    K_new = pairwise_kernels(new, X, metric=name, filter_params=True, **params)
    theirs = sklearn.decomposition.KernelPCA(3, kernel="precomputed").fit(K)
    ours = KernelMDS(3, kernel=kernel, eigen_solver=solver, **params)
    ours.fit(K if kernel == "precomputed" else X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    placed = ours.transform(K_new if kernel == "precomputed" else new)
    assert_same_columns(
        np.vstack([ours.embedding_, placed]),
        np.vstack([theirs.transform(K), theirs.transform(K_new)]),
    )
    assert_same_columns(ours.eigenvectors_, theirs.eigenvectors_)


def test_kernel_mds_sparse_callable_and_default_gamma(blob):
    X = sparse.random(80, 12, density=0.4, format="csr", random_state=1)
    theirs = sklearn.decomposition.KernelPCA(3, kernel="rbf").fit(X.toarray())
    ours = KernelMDS(3, kernel="rbf").fit(X)
    assert ours.gamma_ == pytest.approx(1 / 12)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.transform(X[:20]), theirs.transform(X.toarray()[:20]))

    def kernel(a, b, power=1):
        return (a @ b) ** power

    squared = KernelMDS(3, kernel=kernel, kernel_params={"power": 2}).fit(blob)
    poly = KernelMDS(3, kernel="poly", degree=2, gamma=1.0, coef0=0.0).fit(blob)
    np.testing.assert_allclose(squared.eigenvalues_, poly.eigenvalues_, rtol=1e-9)
    assert_same_columns(squared.transform(blob + 0.1), poly.transform(blob + 0.1))


@pytest.mark.parametrize("alpha", [1.0, 1e-3])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "callable"])
def test_inverse_transform_is_scikit_learns(blob, kernel, alpha):
    params = {"gamma": 0.05, "degree": 2, "coef0": 0.5} if kernel != "callable" else {}
    given = {"kernel": (lambda a, b: 1 + a @ b) if kernel == "callable" else kernel, **params}
    given |= {"alpha": alpha, "fit_inverse_transform": True}
    X, new = blob / 5, blob[:9] / 5 + 0.02
    theirs = sklearn.decomposition.KernelPCA(3, **given).fit(X)
    ours = KernelMDS(3, **given).fit(X)
    expected = theirs.inverse_transform(theirs.transform(new))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(new)), expected, rtol=1e-6)
    signs = np.sign((ours.X_transformed_fit_ * theirs.X_transformed_fit_).sum(axis=0))
    np.testing.assert_allclose(
        ours.X_transformed_fit_ * signs, theirs.X_transformed_fit_, rtol=1e-7, atol=1e-9
    )
    single = ours.inverse_transform(ours.transform(new).astype(np.float32))
    assert single.dtype == np.float32


def test_inverse_transform_is_of_the_fit(blob):
    X = blob / 5
    model = KernelMDS(2, kernel="rbf", gamma=0.1, fit_inverse_transform=True, alpha=0.1).fit(X)
    placed = model.transform(X[:5])
    expected = model.inverse_transform(placed)
    again = pickle.loads(pickle.dumps(model))
    again.set_params(kernel="linear", gamma=3.0, alpha=9.0, fit_inverse_transform=False)
    assert np.array_equal(again.inverse_transform(placed), expected)
    # A fit without it forgets the earlier one.
    again.fit(X)
    assert not hasattr(again, "inverse_transform")
    assert not hasattr(again, "dual_coef_")
    with pytest.raises(NotFittedError, match="fit_inverse_transform parameter was not set"):
        again.inverse_transform(placed)


def test_what_has_no_inverse_is_refused(blob):
    with pytest.raises(ParameterError, match="Cannot fit_inverse_transform with a precomputed"):
        KernelMDS(kernel="precomputed", fit_inverse_transform=True).fit(blob @ blob.T)
    with pytest.raises(InputError, match="Inverse transform not implemented for sparse"):
        KernelMDS(fit_inverse_transform=True).fit(sparse.csr_array(blob))
    with pytest.raises(ParameterError, match=r"alpha.*raise it"):
        KernelMDS(fit_inverse_transform=True, alpha=0.0).fit(np.repeat(blob, 2, axis=0))
    # Between scales that work and scales that are refused lie some with few digits.
    with pytest.warns(PlanishWarning, match=r"ill-conditioned.*raise `alpha`"):  # noqa: PT031
        for scale in np.geomspace(1e5, 1e7, 40):
            with contextlib.suppress(ParameterError):
                KernelMDS(fit_inverse_transform=True).fit(blob * scale)
    fitted = KernelMDS(fit_inverse_transform=True).fit(blob)
    with pytest.raises(InputError, match="3 columns, but the embedding has 2"):
        fitted.inverse_transform(np.ones((4, 3)))


@pytest.mark.parametrize("params", [{"n_components": None}, {"remove_zero_eig": True}])
def test_zero_columns_are_left_out_as_in_scikit_learn(blob, params):
    params = {"n_components": 10, **params}
    theirs = sklearn.decomposition.KernelPCA(**params).fit(blob)
    ours = KernelMDS(**params).fit(blob)
    assert ours.embedding_.shape == theirs.transform(blob).shape == (60, 5)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.transform(blob + 0.1), theirs.transform(blob + 0.1))
    assert list(ours.get_feature_names_out()) == [f"kernelmds{i}" for i in range(5)]
    with pytest.warns(RankDeficientWarning):
        assert KernelMDS(10).fit_transform(blob).shape == (60, 10)
