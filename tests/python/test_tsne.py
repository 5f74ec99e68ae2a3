"""t-SNE: divergence and neighbours against scikit-learn, laws of new rows, bits, bad input."""

import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn import manifold
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from planish import TSNE
from planish.exceptions import InputError, ParameterError

DIGITS = load_digits().data


def conditional(distances, perplexity):
    """p(j|i) by plain bisection, one row of squared distances at a time."""
    probabilities = np.zeros_like(distances)
    for i, row in enumerate(distances**2):
        others = np.delete(row, i)
        low, high = 0.0, np.inf
        beta = 1.0
        for _ in range(200):
            weights = np.exp(-beta * (others - others.min()))
            p = weights / weights.sum()
            entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
            if entropy > np.log(perplexity):
                low, beta = beta, beta * 2 if np.isinf(high) else (beta + high) / 2
            else:
                high, beta = beta, (low + beta) / 2
        probabilities[i] = np.insert(p, i, 0.0)
    return probabilities


def divergence(P, Y):
    """KL(P || Q), written out."""
    weights = 1 / (1 + cdist(Y, Y, "sqeuclidean"))
    np.fill_diagonal(weights, 0)
    Q = weights / weights.sum()
    pairs = P > 0
    return float((P[pairs] * np.log(P[pairs] / Q[pairs])).sum())


def test_divergence_is_that_of_the_map():
    X = np.random.default_rng(0).normal(size=(80, 5))
    P = conditional(squareform(pdist(X)), 12)
    tsne = TSNE(perplexity=12, method="exact", tol=0).fit(X)
    # Probabilities are kept in single precision.
    assert tsne.kl_divergence_ == pytest.approx(
        divergence((P + P.T) / 160, tsne.embedding_), rel=1e-7
    )
    # With a neighbour graph of 37 of 79 rows the rest of each row has next to nothing.
    near = TSNE(perplexity=12, tol=0).fit(X)
    assert near.kl_divergence_ == pytest.approx(tsne.kl_divergence_, abs=0.1)
    iterations, values, norms = tsne.history_.T
    assert iterations[-1] == tsne.n_iter_ == 999
    # The last look is before the last step.
    assert values[-1] == pytest.approx(tsne.kl_divergence_, rel=1e-4)
    assert (np.diff(values[5:]) < 1e-9).all()
    assert (norms > 0).all()


def test_digits_against_scikit_learn():
    theirs = manifold.TSNE(random_state=0).fit(DIGITS)
    ours = TSNE().fit(DIGITS)
    # Both on scikit-learn's P, with the exact normaliser.
    from sklearn.manifold._t_sne import _joint_probabilities_nn
    from sklearn.neighbors import NearestNeighbors

    graph = NearestNeighbors(n_neighbors=91).fit(DIGITS).kneighbors_graph(mode="distance")
    graph.data **= 2
    P = _joint_probabilities_nn(graph, 30.0, 0).toarray()
    ours_kl, theirs_kl = (
        divergence(P, Y.astype(float)) for Y in (ours.embedding_, theirs.embedding_)
    )
    assert ours_kl <= theirs_kl
    assert ours.kl_divergence_ == pytest.approx(ours_kl, abs=2e-4)
    judged = [
        manifold.trustworthiness(DIGITS, Y, n_neighbors=12)
        for Y in (ours.embedding_, theirs.embedding_)
    ]
    assert judged[0] >= judged[1] - 0.002


@pytest.mark.parametrize("rows", [300, 1500, 3000])
def test_same_bits_on_any_number_of_threads(rows):
    X = np.random.default_rng(rows).normal(size=(rows, 6))
    params = {"max_iter": 300, "perplexity": 15}
    one = TSNE(n_jobs=1, **params).fit(X)
    for threads in (2, 4):
        many = TSNE(n_jobs=threads, **params).fit(X)
        assert np.array_equal(one.embedding_, many.embedding_)
        assert one.kl_divergence_ == many.kl_divergence_
        assert np.array_equal(one.transform(X[:9] + 0.1), many.transform(X[:9] + 0.1))


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_tree_and_all_pairs_agree(n_components):
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(600, 8)) + 6 * rng.normal(size=8) for _ in range(4)])
    near = TSNE(n_components, max_iter=400).fit(X)
    exact = TSNE(n_components, angle=0.0, max_iter=400).fit(X)
    assert near.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.05)


@pytest.mark.parametrize("rows", [20, 250])
def test_ten_clusters_stay_apart(rows):
    rng = np.random.default_rng(1)
    centres = 40 * np.eye(10)
    labels = np.repeat(np.arange(10), rows)
    X = centres[labels] + rng.normal(size=(10 * rows, 10))
    Y = TSNE(perplexity=15).fit_transform(X)
    means = np.array([Y[labels == label].mean(axis=0) for label in range(10)])
    assert (cdist(Y, means).argmin(axis=1) == labels).all()


def test_data_without_structure_does_not_collapse():
    X = np.random.default_rng(5).normal(size=(100, 10))
    for params in ({}, {"method": "exact"}, {"init": "random"}):
        tsne = TSNE(**params, tol=0).fit(X)
        assert 0 < tsne.kl_divergence_ < manifold.TSNE(random_state=0).fit(X).kl_divergence_ + 0.02
        values = np.linalg.svd(tsne.embedding_ - tsne.embedding_.mean(axis=0), compute_uv=False)
        assert values[1] > 0.5 * values[0]


def test_equal_rows_are_one_point():
    X = np.random.default_rng(6).normal(size=(60, 4))
    doubled = np.concatenate([X, X[:20]])
    tsne = TSNE(perplexity=8, method="exact").fit(doubled)
    assert np.array_equal(tsne.embedding_[:20], tsne.embedding_[60:])
    P = conditional(squareform(pdist(doubled)), 8)
    assert tsne.kl_divergence_ == pytest.approx(
        divergence((P + P.T) / 160, tsne.embedding_), rel=1e-6
    )
    crowd = np.concatenate([np.zeros((10_000, 3)), np.random.default_rng(7).normal(size=(10, 3))])
    Y = TSNE(max_iter=400).fit_transform(crowd)
    assert np.isfinite(Y).all()
    assert np.ptp(Y[:10_000], axis=0).max() == 0
    assert len(np.unique(Y, axis=0)) == 11
    constant = TSNE(perplexity=5).fit(np.ones((30, 4)))
    assert np.array_equal(constant.embedding_, np.zeros((30, 2)))
    assert np.isfinite(constant.kl_divergence_)


def test_new_rows():
    X, new = DIGITS[:1000], DIGITS[1000:1100]
    tsne = TSNE(max_iter=500).fit(X)
    assert np.array_equal(tsne.transform(X[::7]), tsne.embedding_[::7])
    together = tsne.transform(new)
    assert np.array_equal(np.vstack([tsne.transform(row[None]) for row in new]), together)
    labels = load_digits().target
    nearest = cdist(together, tsne.embedding_).argmin(axis=1)
    assert (labels[nearest] == labels[1000:1100]).mean() > 0.93
    far = tsne.transform(np.full((1, 64), 1e3))
    assert np.isfinite(far).all()


def test_new_rows_are_at_a_minimum_of_their_own_divergence():
    X, new = DIGITS[:400], DIGITS[400:420]
    tsne = TSNE(max_iter=300).fit(X)

    def cost(y, p, near):
        log_density = -np.log(1 + ((y - tsne.embedding_) ** 2).sum(axis=1))
        return -1.5 * p @ log_density[near] + np.log(np.exp(log_density).sum())

    for row, y in zip(new, tsne.transform(new), strict=True):
        distances = cdist(row[None], X)[0]
        near = np.argsort(distances, kind="stable")[:16]
        p = conditional(np.insert(distances[near], 0, 0.0)[None], 5)[0, 1:]
        here = cost(y, p, near)
        angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
        for step in (1e-3, 1e-2):
            around = y + step * np.column_stack([np.cos(angles), np.sin(angles)])
            assert all(cost(other, p, near) > here for other in around)
        start = np.median(tsne.embedding_[near], axis=0)
        assert here <= cost(start, p, near)


def test_new_rows_of_distances_and_graphs():
    X = np.random.default_rng(8).normal(size=(90, 4))
    params = {"perplexity": 10, "max_iter": 300, "init": "random"}
    points = TSNE(**params).fit(X)
    given = TSNE(metric="precomputed", **params).fit(squareform(pdist(X)))
    graph = TSNE(metric="precomputed", **params).fit(kneighbors_graph(X, 40, mode="distance"))
    for other in (given, graph):
        np.testing.assert_allclose(other.embedding_, points.embedding_, atol=1e-6)
    new = X[:5] + 0.2
    np.testing.assert_allclose(given.transform(cdist(new, X)), points.transform(new), atol=1e-5)
    np.testing.assert_allclose(
        graph.transform(sparse.csr_array(cdist(new, X))), points.transform(new), atol=1e-5
    )


def test_graph_of_several_components():
    rng = np.random.default_rng(9)
    X = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 1000])
    Y = TSNE(perplexity=6, max_iter=400).fit_transform(X)
    assert np.isfinite(Y).all()
    assert cdist(Y[:40], Y[40:]).min() > 1


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_the_scale_of_the_data_does_not_count(scale):
    X = np.random.default_rng(10).normal(size=(50, 3))
    exponent = 2.0 ** round(np.log2(scale))
    plain = TSNE(perplexity=9, max_iter=300).fit_transform(X)
    assert np.array_equal(TSNE(perplexity=9, max_iter=300).fit_transform(X * exponent), plain)


@pytest.mark.parametrize("rows", [2, 3, 4])
@pytest.mark.parametrize("method", ["barnes_hut", "exact"])
def test_few_rows(rows, method):
    X = np.random.default_rng(rows).normal(size=(rows, 3))
    Y = TSNE(perplexity=1, method=method).fit_transform(X)
    assert np.isfinite(Y).all()
    assert len(np.unique(Y, axis=0)) == rows


def test_perplexity_near_the_number_of_rows():
    X = np.random.default_rng(11).normal(size=(31, 3))
    for perplexity in (11, 29.9, 30, 30.9):
        assert np.isfinite(TSNE(perplexity=perplexity).fit_transform(X)).all()


def test_float32_and_starts():
    X = np.random.default_rng(12).normal(size=(60, 4))
    start = 1e-4 * np.random.default_rng(13).normal(size=(60, 2))
    for init in ("pca", "random", start):
        Y = TSNE(perplexity=10, init=init, max_iter=300).fit_transform(X)
        assert np.isfinite(Y).all()
    wide = TSNE(2, perplexity=10, max_iter=300).fit_transform(X[:, :1])
    assert np.linalg.matrix_rank(wide) == 2
    five = TSNE(5, perplexity=10, method="auto", max_iter=300).fit_transform(X)
    assert five.shape == (60, 5)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"perplexity": 0.5}, "perplexity.*at least 1"),
        ({"perplexity": 20}, r"perplexity \(20\) must be less than n_samples \(20\)"),
        ({"perplexity": np.nan}, "perplexity"),
        ({"early_exaggeration": 0.5}, "early_exaggeration"),
        ({"exaggeration": 0.0}, "exaggeration"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate.*auto"),
        ({"learning_rate": None}, "learning_rate.*auto"),
        ({"dof": 0.0}, "dof"),
        ({"angle": 1.5}, "angle"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_iter_without_progress": -2}, "n_iter_without_progress"),
        ({"min_grad_norm": -1.0}, "min_grad_norm"),
        ({"n_components": 4, "method": "barnes_hut"}, "n_components"),
        ({"n_components": 0}, "n_components"),
        ({"method": "fast"}, "method.*barnes_hut"),
        ({"init": np.zeros((20, 2))}, "init.*same place"),
        ({"init": np.zeros((3, 2))}, "init.*shape"),
        ({"init": np.full((20, 2), np.nan)}, "init.*finite"),
        ({"init": 1e200 * np.random.default_rng(0).normal(size=(20, 2))}, "init.*1e6"),
        ({"init": "spectral?"}, "init"),
        ({"metric": "precomputed", "init": "pca"}, "init.*cannot be used"),
    ],
)
def test_parameters_are_checked(params, match):
    X = np.random.default_rng(14).normal(size=(20, 3))
    with pytest.raises(ParameterError, match=match):
        TSNE(**{"perplexity": 5, **params}).fit(X)


def test_data_is_checked():
    X = np.zeros((9, 3))
    X[2, 1] = np.nan
    with pytest.raises(InputError, match="row 2"):
        TSNE(perplexity=2).fit(X)
    with pytest.raises(InputError, match="n_samples=1"):
        TSNE(perplexity=1).fit(np.ones((1, 3)))
    graph = kneighbors_graph(np.random.default_rng(0).normal(size=(30, 2)), 3, mode="distance")
    with pytest.raises(InputError, match=r"8 neighbors per samples are required.*only 4"):
        TSNE(perplexity=2, metric="precomputed", init="random").fit(graph)
    with pytest.raises(ParameterError, match=r"method.*sparse"):
        TSNE(perplexity=2, metric="precomputed", init="random", method="exact").fit(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TSNE(perplexity=2, metric="precomputed", init="random").fit(np.zeros((12, 12)))


@pytest.mark.parametrize("method", ["barnes_hut", "fft"])
def test_approximations_reach_the_divergence_of_all_pairs(method):
    X = DIGITS[:1200]
    exact = TSNE(angle=0, max_iter=400, tol=0).fit(X)
    near = TSNE(method=method, max_iter=400, tol=0).fit(X)
    assert near.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.02)


def test_fft_in_one_dimension_and_its_limits():
    exact = TSNE(1, angle=0, max_iter=300).fit(DIGITS[:600])
    near = TSNE(1, method="fft", max_iter=300).fit(DIGITS[:600])
    assert near.kl_divergence_ == pytest.approx(exact.kl_divergence_, rel=0.05)
    with pytest.raises(ParameterError, match=r"n_components.*inferior to 3 for method='fft'"):
        TSNE(3, method="fft").fit(DIGITS[:50])
    # A map that no grid holds is left to the tree.
    far = np.random.default_rng(0).normal(scale=1e5, size=(200, 2))
    assert np.isfinite(TSNE(method="fft", init=far, max_iter=60).fit_transform(DIGITS[:200])).all()


def test_several_perplexities_are_averaged():
    X = np.random.default_rng(0).normal(size=(90, 4))
    distances = squareform(pdist(X))
    P = (conditional(distances, 8) + conditional(distances, 25)) / 2
    tsne = TSNE(perplexity=[8, 25], method="exact", max_iter=300).fit(X)
    expected = divergence((P + P.T) / 180, tsne.embedding_)
    assert tsne.kl_divergence_ == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ParameterError, match="perplexity"):
        TSNE(perplexity=[8, 90]).fit(X)
    with pytest.raises(ParameterError, match="perplexity"):
        TSNE(perplexity=[]).fit(X)


def test_uniform_affinities():
    X = np.random.default_rng(1).normal(size=(70, 3))
    tsne = TSNE(perplexity=5, affinities="uniform", max_iter=300).fit(X)
    graph = kneighbors_graph(X, 16).toarray() / 16
    expected = divergence((graph + graph.T) / 140, tsne.embedding_)
    assert tsne.kl_divergence_ == pytest.approx(expected, rel=1e-6)


def test_given_affinities():
    X = np.random.default_rng(2).normal(size=(60, 3))
    A = 7 * np.exp(-cdist(X, X, "sqeuclidean"))
    np.fill_diagonal(A, 3)
    tsne = TSNE(affinities="precomputed", init="random", max_iter=300, random_state=0).fit(A)
    P = A - np.diag(np.diag(A))
    assert tsne.kl_divergence_ == pytest.approx(divergence(P / P.sum(), tsne.embedding_), rel=1e-5)
    twin = clone(tsne).fit(sparse.csr_array(A))
    np.testing.assert_array_equal(twin.embedding_, tsne.embedding_)
    np.testing.assert_array_equal(tsne.transform(A[3:9]), tsne.embedding_[3:9])
    new = 7 * np.exp(-cdist(X[:4] + 0.01, X, "sqeuclidean"))
    placed = tsne.transform(new)
    assert np.linalg.norm(placed - tsne.embedding_[:4], axis=1).max() < np.ptp(tsne.embedding_) / 4
    np.testing.assert_array_equal(np.vstack([tsne.transform(row[None]) for row in new]), placed)
    A[5], A[:, 5] = 0, 0
    with pytest.raises(InputError, match="row 5 has no affinity"):
        clone(tsne).fit(A)
    with pytest.raises(InputError, match="no affinity"):
        clone(tsne).fit(np.zeros((9, 9)))
    with pytest.raises(ParameterError, match="init"):
        TSNE(affinities="precomputed").fit(P)


def test_spectral_start_is_that_of_the_graph():
    X = DIGITS[:300]
    start = TSNE(init="spectral", max_iter=1).fit(X).embedding_
    graph = conditional(squareform(pdist(X)), 30)
    truth = manifold.SpectralEmbedding(2, affinity="precomputed").fit_transform(
        (graph + graph.T) / 2
    )
    # The same plane, up to what neighbours beyond 3 × perplexity and one small step change.
    angles = np.linalg.svd(
        np.linalg.qr(start - start.mean(0))[0].T @ np.linalg.qr(truth - truth.mean(0))[0]
    )[1]
    assert angles.min() > 0.95
    distances = squareform(pdist(X))
    assert np.isfinite(
        TSNE(metric="precomputed", init="spectral", max_iter=60).fit_transform(distances)
    ).all()


def test_callback_sees_the_map_and_may_stop():
    seen = []

    def look(iteration, cost, embedding):
        seen.append((iteration, cost, embedding))
        return iteration >= 100

    X = np.vstack([DIGITS[:150], DIGITS[:5]])  # five rows twice
    tsne = TSNE(callback=look, callback_every=20, n_jobs=2).fit(X)
    assert [iteration for iteration, _, _ in seen] == [19, 39, 59, 79, 99, 119]
    assert tsne.n_iter_ == 119
    np.testing.assert_array_equal(seen[-1][2], tsne.embedding_)
    np.testing.assert_array_equal(seen[-1][2][150:], seen[-1][2][:5])
    assert tsne.history_[-1, 1] == seen[-1][1]
    with pytest.raises(ParameterError, match="callback"):
        TSNE(callback=3).fit(X)
    with pytest.raises(ParameterError, match="callback_every"):
        TSNE(callback=look, callback_every=0).fit(X)


def test_what_a_callback_raises_reaches_the_caller():
    threads = []

    def fail(iteration, cost, embedding):
        threads.append(threading.current_thread())
        raise RuntimeError("enough")

    tsne = TSNE(callback=fail)
    with pytest.raises(RuntimeError, match="enough"):
        tsne.fit(DIGITS[:100])
    assert threads == [threading.current_thread()]
    assert not hasattr(tsne, "embedding_")


def test_new_rows_say_how_far_they_are():
    tsne = TSNE(max_iter=300).fit(DIGITS[:400])
    new = np.vstack([DIGITS[:2], DIGITS[400:402], DIGITS[400:401] + 100])
    placed, far = tsne.transform(new, return_distances=True)
    np.testing.assert_array_equal(placed, tsne.transform(new))
    np.testing.assert_allclose(far, cdist(new, DIGITS[:400]).min(axis=1), rtol=1e-12)
    assert far[-1] > 10 * far[2]


def test_it_ends_when_the_divergence_falls_no_more():
    X = DIGITS[:500]
    short, long = TSNE().fit(X), TSNE(tol=0).fit(X)
    assert short.n_iter_ < long.n_iter_ == 999
    assert short.kl_divergence_ < 1.03 * long.kl_divergence_
    last = short.history_[-2:, 1]
    assert abs(last[0] - last[1]) <= 50 * 1e-4 * last[1]


def test_many_equal_rows_beside_few_others():
    X = np.vstack([np.ones((10_000, 3)), np.random.default_rng(0).normal(size=(10, 3))])
    placed = TSNE().fit_transform(X)
    assert np.isfinite(placed).all()
    np.testing.assert_array_equal(placed[:10_000], placed[:1].repeat(10_000, axis=0))
