"""Laplacian eigenmaps on awkward graphs: rows of nearly no degree, wrong affinities."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist
from sklearn.base import clone

from conftest import assert_same_columns, cycle, swiss_roll, symmetric_rbf
from planish import (
    SpectralEmbedding,
    spectral_embedding,
)
from planish.exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    InputAdjustedWarning,
    InputError,
    ParameterError,
    RankDeficientWarning,
)


# -- rows that are hardly tied to the others --------------------------------------------
def line_with_faint_end(n):
    """Points on a line, and two that are farther from them and from each other."""
    core = np.sort(np.random.default_rng(0).normal(size=(n, 1)), axis=0)
    return np.vstack([core, [[core.max() + 7.0]], [[core.max() + 13.9]]])


@pytest.mark.parametrize("form", ["rbf", "precomputed"])
@pytest.mark.parametrize("normalised", [True, False])
def test_what_a_row_is_to_itself_leaves_no_trace(form, normalised):
    X = line_with_faint_end(200)
    W = symmetric_rbf(X, 1.0)
    L = csgraph.laplacian(W - np.eye(len(W)), normed=normalised)
    expected = eigh(L, eigvals_only=True)[1:3]
    for own in [0.0, 1.0] if form == "rbf" else [0.0, 1.0, 1e6, 1e30, 1e250]:
        np.fill_diagonal(W, own)
        ours = SpectralEmbedding(affinity=form, gamma=1.0, norm_laplacian=normalised)
        ours.fit(X if form == "rbf" else W)
        np.testing.assert_allclose(ours.eigenvalues_, expected, atol=1e-12 * 400)
        if form == "precomputed":
            np.testing.assert_array_equal(ours.affinity_matrix_, W)
            np.testing.assert_array_equal(ours.transform(W), ours.embedding_)
            np.testing.assert_array_equal(ours.transform(W[7:9]), ours.embedding_[7:9])


def test_the_diagonal_of_sparse_affinities_is_shown():
    W = sparse.csr_array(cycle(30) + np.diag(np.arange(30.0)))
    shown = SpectralEmbedding(affinity="precomputed").fit(W)
    assert abs(shown.affinity_matrix_ - W).max() == 0
    assert not hasattr(shown, "affinity_diagonal_")
    components = sparse.csr_array(sparse.block_diag([W, 2 * sparse.csr_array(np.eye(2))]))
    ours = SpectralEmbedding(affinity="precomputed", disconnected="largest")
    with pytest.warns(DisconnectedGraphWarning):
        shown = ours.fit(components).affinity_matrix_
    assert abs(shown[:30, :30] - W).max() == 0
    assert shown[30:].nnz == 0


# -- new rows -----------------------------------------------------------------------------
@pytest.mark.parametrize("normalised", [True, False])
def test_neighbours_within_a_radius_are_mutual_for_new_rows_too(normalised):
    Z = np.arange(6.0)[:, None]
    ours = SpectralEmbedding(1, radius=1.2, norm_laplacian=normalised).fit(Z)
    new = np.array([[2.85], [1.1]])
    near = (cdist(new, Z) <= 1.2).astype(float)
    scale = near.sum(axis=1)[:, None]
    below = scale * (1 - ours.eigenvalues_) if normalised else scale - ours.eigenvalues_
    np.testing.assert_allclose(ours.transform(new), near @ ours.embedding_ / below, rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_training_rows_with_equal_affinities(form):
    n = 30
    W = np.pad(np.ones((n, n)) - np.eye(n), ((0, 2), (0, 2)))
    W[0, n:] = W[n:, 0] = 1
    ours = SpectralEmbedding(2, affinity="precomputed", norm_laplacian=False).fit(form(W))
    assert np.ptp(ours.embedding_[n:, 1]) > 1
    np.testing.assert_array_equal(ours.transform(form(W)), ours.embedding_)
    np.testing.assert_array_equal(ours.transform(form(W[:n])), ours.embedding_[:n])
    # Nor does it matter that rows were dropped.
    V = np.pad(W, (0, 2))
    V[-1, -2] = V[-2, -1] = 1
    part = SpectralEmbedding(
        2, affinity="precomputed", norm_laplacian=False, disconnected="largest"
    )
    with pytest.warns(DisconnectedGraphWarning):
        part.fit(form(V))
    assert np.isnan(part.embedding_[-2:]).all()
    assert np.ptp(part.embedding_[n:-2, 1]) > 1
    np.testing.assert_array_equal(part.transform(form(V[:-2])), part.embedding_[:-2])
    # Alone, one of two rows that cannot be distinguished is placed like a new one; here its
    # degree, 1, is an eigenvalue, which forbids that.
    with pytest.raises(InputError, match="row 1 cannot be placed"):
        ours.transform(form(W[[0, n]]))
    # Equal rows in the same place are no question.
    ours = SpectralEmbedding(1, affinity="precomputed").fit(form(W))
    np.testing.assert_allclose(ours.transform(form(W[n + 1 :])), ours.embedding_[n:-1], rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_new_row_without_affinities_is_refused(form):
    W = cycle(30)
    for alone in [(5,), (5, 9)]:
        for row in alone:
            W[row] = W[:, row] = 0
        ours = SpectralEmbedding(2, affinity="precomputed")
        with pytest.warns(DisconnectedGraphWarning):
            ours.fit(form(W))
        new = form(np.vstack([W[1], np.zeros(30)]))
        if len(alone) == 1:
            np.testing.assert_array_equal(ours.transform(new), ours.embedding_[[1, 5]])
            continue
        with pytest.raises(InputError, match="row 1 cannot be placed"):
            ours.transform(new)
        np.testing.assert_array_equal(ours.transform(form(W)), ours.embedding_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_asymmetry_is_judged_by_the_rows_it_is_in(form):
    steps = np.arange(50.0)
    W = np.exp(-np.abs(np.subtract.outer(steps, steps)) / 10)
    W[10, 11] = W[11, 10] = 1e9
    for back, text in ((0.1, "0.1"), (0.0, "0;")):
        W[3, 4], W[4, 3] = 0.9, back
        pair = rf"(row 3 to row 4 it is 0.9, back it is {text}|row 4 to row 3 it is {back:g}, back)"
        with pytest.warns(InputAdjustedWarning, match=pair):
            lopsided = SpectralEmbedding(affinity="precomputed").fit(form(W))
        mean = SpectralEmbedding(affinity="precomputed").fit(form((W + W.T) / 2))
        np.testing.assert_array_equal(lopsided.embedding_, mean.embedding_)
    # Rounding of a small affinity does not matter.
    W[3, 4] = W[4, 3] = 0.9
    W[0, 49], W[49, 0] = 1e-12, 0.0
    SpectralEmbedding(affinity="precomputed").fit(form(W))


# -- rows of nearly no degree --------------------------------------------------------------
def equation_rest(ours):
    """How far each row is from what its neighbours say, beside the largest of the column."""
    W = sparse.csr_array(ours.affinity_matrix_)
    W = W - sparse.csr_array(np.diag(W.diagonal()))
    step = (W @ ours.embedding_) / W.sum(axis=1)[:, None]
    rest = (1 - ours.eigenvalues_) * ours.embedding_ - step
    return np.abs(rest).max(axis=0) / np.abs(ours.embedding_).max(axis=0)


@pytest.mark.parametrize("solver", ["arpack", "iterative", "dense"])
def test_a_leaf_of_low_degree_where_the_walk_nearly_stops(solver):
    """A leaf f of row 7 has (1 - λ) f = f_7, also where 1 - λ is small."""
    n = 40
    W = np.zeros((n + 1, n + 1))
    for i in range(n):
        W[i, (i + 1) % n] = W[(i + 1) % n, i] = 1 + 0.01 * np.random.default_rng(i).random()
    W[n, 7] = W[7, n] = 1e-15
    ours = SpectralEmbedding(24, affinity="precomputed", eigen_solver=solver).fit(W)
    walk = 1 - ours.eigenvalues_
    moving = np.abs(walk) > 1e-6  # one column is the leaf's own
    assert (moving & (np.abs(walk) < 1e-3)).sum() >= 2
    expected = ours.embedding_[7, moving] / walk[moving]
    np.testing.assert_allclose(ours.embedding_[n, moving], expected, rtol=1e-6)


@pytest.mark.parametrize("solver", ["arpack", "iterative", "dense"])
def test_rows_of_low_degree_that_are_tied_to_each_other(solver):
    X = line_with_faint_end(300)
    ours = SpectralEmbedding(weights="heat", bandwidth=1.0, n_neighbors=10, eigen_solver=solver)
    end = ours.fit(X).embedding_[298:]
    # The two at the end are the continuation of the line.
    assert (end * np.sign(end[0]) > 0).all()
    assert np.ptp(end[:, 1]) < 0.05 * np.abs(end[:, 1]).max()
    assert (equation_rest(ours) < 1e-9).all()


@pytest.mark.filterwarnings("ignore::planish.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rows", [500, 3000])
def test_degrees_of_every_size(rows):
    X = np.random.default_rng(0).normal(size=(rows, 10))
    ours = SpectralEmbedding(weights="heat", bandwidth=0.3, n_neighbors=10)
    fitted = [clone(ours).set_params(eigen_solver=s).fit(X) for s in ("arpack", "iterative")]
    for one in fitted:
        assert (equation_rest(one) < 1e-8).all()
    if rows == 500:  # of more, some are components but for rounding
        assert_same_columns(fitted[0].embedding_, fitted[1].embedding_, 1e-5)


# -- warnings and refusals ------------------------------------------
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_half_of_a_pair_is_reported_at_every_size(form):
    for n in range(5, 129):
        with pytest.warns(RankDeficientWarning, match="arbitrary"):
            SpectralEmbedding(1, affinity="precomputed").fit(form(cycle(n)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SpectralEmbedding(2, affinity="precomputed").fit(form(cycle(n)))


@pytest.mark.parametrize("weights", ["connectivity", "heat"])
def test_rows_without_edges_are_components(weights):
    ours = SpectralEmbedding(metric="precomputed", weights=weights)
    with pytest.warns(DisconnectedGraphWarning):
        assert np.isfinite(ours.fit(sparse.csr_array((50, 50))).embedding_).all()
    G = sparse.lil_array((50, 50))
    G[0, 1] = G[1, 0] = 1e200
    with pytest.warns(DisconnectedGraphWarning):
        ours.fit(sparse.csr_array(G))
    if weights == "heat":
        ours.set_params(bandwidth=1.0)
        with pytest.raises(ParameterError, match="row 0 "):
            ours.fit(sparse.csr_array(G))


@pytest.mark.parametrize("bandwidth", ["auto", 1.0])
def test_a_far_row_is_attached_to_its_nearest(bandwidth):
    X = swiss_roll(400)
    ours = SpectralEmbedding(radius=6.0, weights="heat", bandwidth=bandwidth, isolated="nearest")
    ours.fit(X)
    far = X[:1] + 1e4
    nearest = cdist(far, X).argmin()
    expected = ours.embedding_[nearest] / (1 - ours.eigenvalues_)
    np.testing.assert_allclose(ours.transform(far)[0], expected, rtol=1e-9)


def test_the_function_with_the_constant_column():
    W = cycle(12).astype(np.float32)
    W[0, 1] = W[1, 0] = 2
    whole = spectral_embedding(W, n_components=4, drop_first=False)
    assert whole.dtype == np.float32
    assert whole.shape == (12, 4)
    np.testing.assert_array_equal(whole[:, 1:], spectral_embedding(W, n_components=3))
    assert spectral_embedding(W, n_components=1, drop_first=False).dtype == np.float32
    np.testing.assert_array_equal(
        spectral_embedding([[0.0]], n_components=1, drop_first=False), [[1.0]]
    )
    for wrong in ["a", None, 0, 2.5]:
        with pytest.raises(ParameterError, match="n_components"):
            spectral_embedding(W, n_components=wrong, drop_first=False)
    with pytest.raises(ParameterError, match="at most n_samples = 12, got 13"):
        spectral_embedding(W, n_components=13, drop_first=False)
    assert spectral_embedding(W, n_components=12, drop_first=False).shape == (12, 12)
    with pytest.raises(ParameterError, match="drop_first"):
        spectral_embedding(W, drop_first="x")


def test_words_fit_what_was_given():
    X = swiss_roll(300)
    loose = SpectralEmbedding(n_neighbors=10, eigen_tol=3).fit(X)
    assert np.isfinite(loose.embedding_).all()
    with pytest.raises(ParameterError, match="`eigen_tol`"):
        SpectralEmbedding(eigen_tol=-1).fit(X)
    with pytest.raises(DisconnectedGraphError, match="give an edge between them"):
        SpectralEmbedding(affinity="precomputed", disconnected="error").fit(np.eye(5))
    W = cycle(8)
    W[2, 3] = np.nan
    with pytest.raises(
        InputError, match=r"^the matrix of kernel values or affinities contains NaN"
    ):
        SpectralEmbedding(affinity="precomputed").fit(W)
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(RankDeficientWarning, match="lower `radius`"):
        SpectralEmbedding(1, radius=0.2).fit(ring)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("normalised", [True, False])
def test_training_rows_of_affinities_that_are_not_symmetric(form, normalised):
    rng = np.random.default_rng(0)
    W = symmetric_rbf(swiss_roll(50), 0.01) * (1 + 0.1 * rng.random((50, 50)))
    with pytest.warns(InputAdjustedWarning, match="not symmetric"):
        fitted = SpectralEmbedding(affinity="precomputed", norm_laplacian=normalised).fit(form(W))
    some = [3, 3, 49, 0]
    for again in (fitted, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_allclose(again.transform(form(W)), fitted.embedding_, atol=1e-12)
        np.testing.assert_allclose(
            again.transform(form(W[some])), fitted.embedding_[some], atol=1e-12
        )
        np.testing.assert_allclose(
            again.transform(form(W[7:8])), fitted.embedding_[7:8], atol=1e-12
        )
    # Rows of the means are training rows too, and a row that is neither is placed by formula.
    means = (W + W.T) / 2
    np.testing.assert_allclose(fitted.transform(form(means)), fitted.embedding_, atol=1e-10)
    assert np.isfinite(fitted.transform(form(W[:2] * 1.5))).all()
