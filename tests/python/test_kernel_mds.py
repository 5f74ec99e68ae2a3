"""Kernel MDS against scikit-learn's kernel PCA."""

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.manifold
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from conftest import assert_same_columns
from planish import KernelMDS

# A roll of a few hundred rows has true shortcuts between its sheets.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")


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
