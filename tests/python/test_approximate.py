"""Approximate neighbours: nearly all of them, exact distances, and a warning where not."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import planish
from planish import kneighbors
from planish.exceptions import LowRecallWarning, ParameterError

APPROXIMATE = {"neighbors_algorithm": "approximate"}


@pytest.fixture(scope="module")
def curved():
    """Two curved dimensions in 60 columns, of which a tree does not know."""
    draw = np.random.default_rng(0)
    flat = draw.uniform(-1, 1, (5000, 2))
    steep = 3 * draw.standard_normal((2, 60))
    return np.sin(flat @ steep) + 0.15 * draw.standard_normal((5000, 60))


def recall(found, exact):
    return np.mean(found <= exact[:, -1:])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "correlation"])
def test_nearly_all_neighbours_at_exact_distances(curved, metric):
    exact, _ = kneighbors(curved, 10, metric=metric, algorithm="brute")
    found, indices = kneighbors(curved, 10, metric=metric, algorithm="approximate")
    assert recall(found, exact) > 0.95
    assert (indices != np.arange(5000)[:, None]).all()
    assert all(len(set(row)) == 10 for row in indices.tolist())
    assert (np.diff(found) >= 0).all()
    all_of_some, order = kneighbors(curved, 4999, query=curved[:5], metric=metric)
    for row in range(5):
        distance = dict(zip(order[row].tolist(), all_of_some[row].tolist(), strict=True))
        assert [distance.get(i) for i in indices[row].tolist()] == found[row].tolist()


def test_the_number_of_threads_does_not_matter(curved):
    one, two = (kneighbors(curved, 10, algorithm="approximate", n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_noise_in_many_columns_is_told():
    noise = np.random.default_rng(0).standard_normal((20000, 400))
    with pytest.warns(LowRecallWarning, match=r"found \d+ % of the 3 nearest.*'auto'") as told:
        found, _ = kneighbors(noise, 3, algorithm="approximate")
    told_recall = int(str(told[0].message).split(" %")[0].split()[-1]) / 100
    some = np.arange(0, 20000, 40)
    exact, _ = kneighbors(noise, 4, query=noise[some], algorithm="brute")
    assert abs(recall(found[some], exact) - told_recall) < 0.06
    assert told_recall < 0.95


def test_graphs_and_the_transformer(curved):
    exact = planish.neighbors_graph(curved, n_neighbors=8)
    found = planish.neighbors_graph(curved, n_neighbors=8, algorithm="approximate")
    assert ((exact != 0).multiply(found != 0)).sum() > 0.95 * exact.nnz
    transformer = planish.KNeighborsTransformer(n_neighbors=8, algorithm="approximate").fit(curved)
    exact = planish.KNeighborsTransformer(n_neighbors=8).fit(curved)
    near = transformer.transform(curved[:100] + 1e-3)
    assert (near != exact.transform(curved[:100] + 1e-3)).nnz == 0
    assert recall(transformer.kneighbors()[0], exact.kneighbors()[0]) > 0.95


ESTIMATORS = [
    planish.LandmarkIsomap(n_neighbors=12, n_landmarks=60),
    planish.LocallyLinearEmbedding(n_neighbors=12, method="ltsa"),
    planish.SpectralEmbedding(n_neighbors=12),
    planish.DiffusionMaps(n_neighbors=30),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_maps_are_nearly_the_exact_ones(curved, estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", planish.exceptions.ShortcutWarning)
        exact = estimator.set_params(neighbors_algorithm="auto").fit_transform(curved)
        found = estimator.set_params(**APPROXIMATE).fit(curved)
    assert found.transform(curved[:3]).shape == (3, 2)
    design = np.column_stack((found.embedding_, np.ones(len(curved))))
    rest = exact - design @ np.linalg.lstsq(design, exact, rcond=None)[0]
    assert np.linalg.norm(rest) < 0.1 * np.linalg.norm(exact - exact.mean(axis=0))


@pytest.mark.parametrize("kind", [planish.Isomap, planish.KernelIsomap])
def test_few_rows_are_searched_exactly(kind):
    roll = planish.datasets.swiss_roll(300, random_state=0).points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", planish.exceptions.PlanishWarning)
        exact = kind(n_neighbors=10).fit_transform(roll)
        found = kind(n_neighbors=10, **APPROXIMATE).fit_transform(roll)
    np.testing.assert_array_equal(exact, found)


def test_what_is_searched_exactly_all_the_same(curved):
    def same(x, **how):
        exact = planish.neighbors_graph(x, **how)
        found = planish.neighbors_graph(x, **how, algorithm="approximate")
        assert (exact != found).nnz == 0

    some = curved[:4500]
    same(some, radius=1.8)
    same(csr_array(np.where(np.abs(some[:, :20]) > 0.9, some[:, :20], 0)), n_neighbors=4)
    same(
        np.abs(np.subtract.outer(some[:800, 0], some[:800, 0])), n_neighbors=4, metric="precomputed"
    )


def braycurtis(a, b):
    return float(np.abs(a - b).sum())


@pytest.mark.parametrize("metric", ["braycurtis", "sqeuclidean", braycurtis])
def test_other_metrics_are_refused(metric):
    x = np.random.default_rng(0).random((40, 3))
    for kind in (planish.Isomap, planish.LocallyLinearEmbedding):
        with pytest.raises(ParameterError, match=r"`neighbors_algorithm`: 'approximate' .*'auto'"):
            kind(n_neighbors=9, metric=metric, **APPROXIMATE).fit(x)
    with pytest.raises(ParameterError, match=r"`algorithm`: 'approximate' .*'auto'"):
        planish.KNeighborsTransformer(metric=metric, algorithm="approximate").fit(x)
