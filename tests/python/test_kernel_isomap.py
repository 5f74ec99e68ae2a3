"""Kernel Isomap against the formulas of the papers."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist, squareform

from conftest import assert_same_columns, centring, kernel_prime, swiss_roll
from planish import (
    Isomap,
    KernelIsomap,
)
from planish.exceptions import (
    ParameterError,
)


def cailliez(D):
    """The survey's (34) as it stands: the largest eigenvalue of a 2n x 2n matrix."""
    n = len(D)
    H = centring(n)
    K2, K1 = -0.5 * H @ D**2 @ H, -0.5 * H @ D @ H
    block = np.block([[np.zeros((n, n)), 2 * K2], [-np.eye(n), -4 * K1]])
    values = np.linalg.eigvals(block)
    return values[np.abs(values.imag) < 1e-6 * np.abs(values).max()].real.max()


# So few rows of a roll leave shortcuts, which do not matter to the formulas.
with_shortcuts = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")


# -- kernel Isomap --------------------------------------------------------------------
@with_shortcuts
@pytest.mark.parametrize("seed", range(5))
def test_constant_is_cailliezs_eigenvalue(seed):
    isomap = KernelIsomap(n_neighbors=6).fit(swiss_roll(150, seed))
    assert isomap.constant_ == pytest.approx(cailliez(isomap.dist_matrix_), rel=1e-7)


def test_constant_of_arbitrary_dissimilarities():
    rng = np.random.default_rng(5)
    D = squareform(rng.random(40 * 39 // 2) + 0.1)
    isomap = KernelIsomap(n_neighbors=39, metric="precomputed").fit(D)
    # With every row a neighbour the geodesics are the metric closure of D.
    assert isomap.constant_ == pytest.approx(cailliez(isomap.dist_matrix_), rel=1e-7)


@with_shortcuts
@pytest.mark.parametrize("n", [150, 400])
def test_kernel_with_the_constant_has_no_negative_eigenvalue(n):
    isomap = KernelIsomap(n_neighbors=7, n_components=3).fit(swiss_roll(n))
    values = np.linalg.eigvalsh(kernel_prime(isomap.dist_matrix_, isomap.constant_))
    assert values[0] >= -1e-10 * values[-1]
    # And the constant is the smallest: a little less is not enough.
    less = np.linalg.eigvalsh(kernel_prime(isomap.dist_matrix_, 0.99 * isomap.constant_))
    assert less[0] < -1e-8 * less[-1]
    np.testing.assert_allclose(isomap.eigenvalues_, values[::-1][:3], rtol=1e-10)


def test_kernel_isomap_is_the_eigenproblem_of_33(roll):
    isomap = KernelIsomap(n_neighbors=8).fit(roll)
    values, vectors = eigh(kernel_prime(isomap.dist_matrix_, isomap.constant_))
    expected = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    assert_same_columns(isomap.embedding_, expected, 1e-8)


def test_euclidean_geodesics_need_no_constant():
    line = np.linspace(0, 1, 60)[:, None] ** 1.3
    isomap = KernelIsomap(n_neighbors=3, n_components=1).fit(line)
    assert isomap.constant_ == pytest.approx(0.0, abs=1e-7)
    assert_same_columns(isomap.embedding_, line - line.mean(axis=0), 1e-9)


def test_a_given_constant_is_used_and_checked(roll):
    given = KernelIsomap(n_neighbors=8, constant=5.0).fit(roll)
    assert given.constant_ == 5.0
    values = np.linalg.eigvalsh(kernel_prime(given.dist_matrix_, 5.0))
    np.testing.assert_allclose(given.eigenvalues_, values[::-1][:2], rtol=1e-10)
    with pytest.raises(ParameterError, match="constant"):
        KernelIsomap(constant=-1.0).fit(roll)
    zero = KernelIsomap(n_neighbors=8, constant=0.0).fit(roll)
    assert_same_columns(zero.embedding_, Isomap(n_neighbors=8).fit(roll).embedding_, 1e-9)


def test_kernel_isomap_places_new_rows_by_39(roll):
    new = swiss_roll(20, seed=9)
    isomap = KernelIsomap(n_neighbors=8).fit(roll)
    D, c = isomap.dist_matrix_, isomap.constant_
    graph_rows = geodesics_to(new, roll, D, 8)
    g_train, g_new = D * (D + 2 * c), graph_rows * (graph_rows + 2 * c)
    kernel = -0.5 * (
        g_new - g_new.mean(axis=1, keepdims=True) - g_train.mean(axis=0) + g_train.mean()
    )
    expected = kernel @ isomap.eigenvectors_ / np.sqrt(isomap.eigenvalues_)
    np.testing.assert_allclose(isomap.transform(new), expected, rtol=1e-7, atol=1e-9)


def geodesics_to(new, training, D, k):
    """Shortest distances from new rows through their k nearest training rows."""
    direct = cdist(new, training)
    rows = []
    for distances in direct:
        near = np.argsort(distances)[:k]
        rows.append((distances[near][:, None] + D[near]).min(axis=0))
    return np.array(rows)
