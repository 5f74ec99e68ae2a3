"""Diffusion maps against formulas and known spectra."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist, pdist, squareform

from conftest import affine_residual, assert_same_columns, rolled, swiss_roll, symmetric_rbf
from planish import (
    DiffusionMaps,
)
from planish.exceptions import (
    InputAdjustedWarning,
    MemoryNeedError,
    ParameterError,
)


def test_the_residuals_are_those_of_the_walk():
    X = swiss_roll(300)
    maps = DiffusionMaps(3, n_neighbors=None, epsilon=4.0).fit(X)
    K = np.exp(-squareform(pdist(X, "sqeuclidean")) / 4.0)
    K /= np.outer(K.sum(axis=1), K.sum(axis=1))
    root = np.sqrt(K.sum(axis=1))
    V = maps.eigenvectors_ * np.sqrt(maps.stationary_distribution_)[:, None]
    expected = np.linalg.norm(K / np.outer(root, root) @ V - V * maps.eigenvalues_, axis=0)
    np.testing.assert_allclose(maps.eigenvalue_residuals_, expected, rtol=0.1, atol=1e-13)
    assert (maps.eigenvalue_residuals_ < 1e-10).all()


# -- diffusion maps -------------------------------------------------------------------
def walk(D, epsilon, alpha):
    """The random walk of Coifman and Lafon and its stationary distribution."""
    K = np.exp(-(D**2) / epsilon)
    q = K.sum(axis=1)
    K = K / np.outer(q, q) ** alpha
    d = K.sum(axis=1)
    return K / d[:, None], d / d.sum()


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("t", [0, 1, 2.5])
def test_diffusion_maps_written_out(alpha, t):
    X = np.random.default_rng(0).normal(size=(200, 3)) * [3, 2, 1]
    P, stationary = walk(cdist(X, X), 4.0, alpha)
    root = np.sqrt(stationary)
    values, vectors = eigh(root[:, None] * P / root)
    values, psi = values[::-1][1:4], (vectors / root[:, None])[:, ::-1][:, 1:4]
    maps = DiffusionMaps(3, alpha=alpha, t=t, epsilon=4.0, n_neighbors=None).fit(X)
    np.testing.assert_allclose(maps.eigenvalues_, values, rtol=1e-9)
    np.testing.assert_allclose(maps.stationary_distribution_, stationary, rtol=1e-9)
    assert_same_columns(maps.eigenvectors_, psi, 1e-7)
    assert_same_columns(maps.embedding_, psi * values**t, 1e-7)
    assert maps.epsilon_ == 4.0
    given = DiffusionMaps(
        3, alpha=alpha, t=t, epsilon=4.0, n_neighbors=None, metric="precomputed"
    ).fit(squareform(pdist(X)))
    assert_same_columns(given.embedding_, maps.embedding_, 1e-7)


def test_diffusion_distances_are_distances_between_distributions():
    X = np.random.default_rng(1).normal(size=(40, 2))
    P, stationary = walk(cdist(X, X), 1.0, 1.0)
    P3 = np.linalg.matrix_power(P, 3)
    expected = cdist(P3 / np.sqrt(stationary), P3 / np.sqrt(stationary))
    maps = DiffusionMaps(39, t=3, epsilon=1.0, n_neighbors=None).fit(X)
    np.testing.assert_allclose(maps.diffusion_distances(), expected, atol=1e-9)
    np.testing.assert_allclose(maps.diffusion_distances(X[:5]), expected[:5], atol=1e-9)
    fewer = DiffusionMaps(2, t=3, epsilon=1.0, n_neighbors=None).fit(X).diffusion_distances()
    assert (fewer <= expected + 1e-9).all()


def test_diffusion_distances_that_do_not_fit_are_refused(monkeypatch):
    from planish import _data

    maps = DiffusionMaps().fit(swiss_roll(300))
    monkeypatch.setattr(_data, "available_memory", lambda: 1000)
    with pytest.raises(MemoryNeedError, match="300 × 300"):
        maps.diffusion_distances()


def test_the_first_eigenvector_of_an_interval_is_a_cosine():
    line = np.linspace(0, 1, 400)
    wave = np.cos(np.pi * line)
    for keywords in ({"n_neighbors": None, "epsilon": 1e-3}, {"n_neighbors": 64}):
        maps = DiffusionMaps(1, **keywords).fit(line[:, None])
        assert abs(np.corrcoef(maps.embedding_[:, 0], wave)[0, 1]) > 0.9995


def test_alpha_one_does_not_see_the_density():
    rng = np.random.default_rng(0)
    line = np.sort(rng.beta(2.0, 1.0, size=1500))[:, None]  # ever denser towards one end
    wave = np.cos(np.pi * (line - line.min()) / np.ptp(line))
    residual = {
        alpha: affine_residual(
            DiffusionMaps(1, alpha=alpha, epsilon=2e-3, n_neighbors=None).fit_transform(line), wave
        )
        for alpha in (0.0, 1.0)
    }
    assert residual[1.0] < 0.05
    assert residual[1.0] < 0.5 * residual[0.0]


def test_alpha_zero_is_the_normalised_laplacian():
    X = np.random.default_rng(0).normal(size=(150, 2))
    W = symmetric_rbf(X, 0.5)
    maps = DiffusionMaps(2, alpha=0.0, t=0, epsilon=2.0, n_neighbors=None).fit(X)
    # The walk may stay where it is, which a Laplacian does not count.
    degrees = W.sum(axis=1)
    values, vectors = eigh(np.eye(150) - W / np.sqrt(np.outer(degrees, degrees)))
    np.testing.assert_allclose(1 - maps.eigenvalues_, values[1:3], rtol=1e-8)
    assert_same_columns(
        maps.eigenvectors_ / np.linalg.norm(maps.eigenvectors_, axis=0),
        (u := vectors[:, 1:3] / np.sqrt(degrees)[:, None]) / np.linalg.norm(u, axis=0),
        1e-7,
    )


def test_neighbours_are_enough():
    """Kernel values beyond the neighbours are next to nothing."""
    X = swiss_roll(900)
    full = DiffusionMaps(3, epsilon=2.0, n_neighbors=None).fit(X)
    some = DiffusionMaps(3, epsilon=2.0, n_neighbors=200).fit(X)
    np.testing.assert_allclose(some.eigenvalues_, full.eigenvalues_, rtol=1e-3)
    assert affine_residual(some.embedding_, full.embedding_) < 1e-2


@pytest.mark.parametrize("n_neighbors", [64, None])
def test_the_default_takes_the_density_out(n_neighbors):
    """An unevenly sampled circle: the first functions of its Laplacian are cosine and sine."""
    angle = np.random.default_rng(0).vonmises(0, 1, 3000)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    maps = DiffusionMaps(2, n_neighbors=n_neighbors).fit(circle)
    assert affine_residual(maps.eigenvectors_, circle) < 0.2
    # Without it the walk is drawn to where the rows are.
    drawn = DiffusionMaps(2, alpha=0.0, n_neighbors=n_neighbors).fit(circle)
    assert affine_residual(drawn.eigenvectors_, circle) > 0.3


def test_the_default_unrolls():
    X, flat = rolled(3000, 0)
    along = (flat[:, 0] - flat[:, 0].min()) / np.ptp(flat[:, 0])
    maps = DiffusionMaps(1).fit(X)
    assert affine_residual(maps.eigenvectors_, np.cos(np.pi * along)[:, None]) < 0.1


def test_an_epsilon_that_is_no_number_is_reported():
    X = swiss_roll(200)
    plain = DiffusionMaps().fit(X)
    for unit, word in ((1e-200, "small"), (1e200, "large")):
        with pytest.warns(InputAdjustedWarning, match=f"too {word}.*epsilon_"):
            other = DiffusionMaps().fit(unit * X)
        assert_same_columns(other.embedding_, plain.embedding_, 1e-6)


def test_the_automatic_epsilon_follows_the_unit():
    X = swiss_roll(500)
    one = DiffusionMaps().fit(X)
    for unit in (1e-6, 1e4):
        other = DiffusionMaps().fit(unit * X)
        assert other.epsilon_ / unit**2 == pytest.approx(one.epsilon_, rel=1e-9)
        assert_same_columns(other.embedding_, one.embedding_, 1e-6)


def test_stationary_distribution_sums_to_one_and_normalises():
    maps = DiffusionMaps(4).fit(swiss_roll(600))
    weights, psi = maps.stationary_distribution_, maps.eigenvectors_
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(psi.T @ (weights[:, None] * psi), np.eye(4), atol=1e-7)
    np.testing.assert_allclose(weights @ psi, 0, atol=1e-8)
    assert (np.diff(maps.eigenvalues_) <= 0).all()
    assert (maps.eigenvalues_ < 1).all()


def test_new_rows_take_one_step():
    X = np.random.default_rng(0).normal(size=(150, 2))
    new = np.random.default_rng(1).normal(size=(20, 2))
    maps = DiffusionMaps(2, alpha=0.0, t=1, epsilon=2.0, n_neighbors=None).fit(X)
    K = np.exp(-cdist(new, X, "sqeuclidean") / 2.0)
    expected = K @ maps.eigenvectors_ / K.sum(axis=1, keepdims=True)  # divided by λ, times λ
    np.testing.assert_allclose(maps.transform(new), expected, rtol=1e-8)


DIFFUSION_WRONG = [
    ("n_components", 0, "n_components"),
    ("alpha", "one", "alpha"),
    ("alpha", np.nan, "alpha"),
    ("t", -1.0, r"`t`"),
    ("epsilon", 0.0, "epsilon"),
    ("epsilon", "wide", "epsilon"),
    ("n_neighbors", 0, "n_neighbors"),
    ("eigen_solver", "magic", "eigen_solver.*dense"),
    ("tol", -1.0, "tol"),
    ("max_iter", 0, "max_iter"),
    ("metric", "furlong", "metric.*furlong"),
    ("disconnected", "ignore", "disconnected.*bridge"),
]


@pytest.mark.parametrize(("name", "value", "match"), DIFFUSION_WRONG)
def test_wrong_parameters_of_diffusion_are_named(name, value, match, roll):
    estimator = DiffusionMaps(**{name: value})
    with pytest.raises(ParameterError, match=match):
        estimator.fit(roll)
    assert not hasattr(estimator, "embedding_")


def test_a_kernel_that_is_almost_constant_has_converged():
    X = np.random.default_rng(0).normal(size=(300, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = DiffusionMaps(3, n_neighbors=None, epsilon=1e9).fit(X)
    assert affine_residual(ours.embedding_ / ours.eigenvalues_, X) < 1e-4
