"""Landmark MDS, FastMap and MetricMap against formulas and classical MDS."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from conftest import assert_same_columns
from planish import (
    ClassicalMDS,
    LandmarkMDS,
)
from planish.exceptions import (
    RankDeficientWarning,
)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed", "canberra"])
def test_all_rows_as_landmarks_is_classical_mds(metric):
    X = np.random.default_rng(2).normal(size=(80, 4)) * [4, 3, 2, 1] + 5
    data = squareform(pdist(X)) if metric == "precomputed" else X
    full = ClassicalMDS(3, metric=metric).fit(data)
    some = LandmarkMDS(3, n_landmarks=80, metric=metric).fit(data)
    assert_same_columns(some.embedding_, full.embedding_, 1e-9)
    np.testing.assert_allclose(some.eigenvalues_, full.eigenvalues_, rtol=1e-10)


def test_fastmap_and_metricmap_are_exact_on_euclidean_data():
    X = np.random.default_rng(4).normal(size=(200, 3)) * [3, 2, 1]
    for algorithm in ("fastmap", "metricmap", "landmark"):
        mds = LandmarkMDS(3, n_landmarks=20, algorithm=algorithm).fit(X)
        np.testing.assert_allclose(pdist(mds.embedding_), pdist(X), rtol=1e-9, atol=1e-9)
        new = X[:50] + 0.3
        both = np.vstack([mds.embedding_, mds.transform(new)])
        np.testing.assert_allclose(
            cdist(both[200:], both[:200]), cdist(new, X), rtol=1e-8, atol=1e-8
        )
        assert np.array_equal(mds.transform(X), mds.embedding_)


def test_fastmap_is_the_cosine_law():
    X = np.random.default_rng(6).normal(size=(100, 5))
    D = cdist(X, X, "cityblock")
    mds = LandmarkMDS(2, algorithm="fastmap", metric="manhattan").fit(X)
    a, b, c, d = mds.landmarks_
    first = (D[a] ** 2 + D[a, b] ** 2 - D[b] ** 2) / (2 * D[a, b])
    np.testing.assert_allclose(mds.embedding_[:, 0], first, rtol=1e-12, atol=1e-12)
    rest = D**2 - (first[:, None] - first[None, :]) ** 2
    second = (rest[c] + rest[c, d] - rest[d]) / (2 * np.sqrt(rest[c, d]))
    np.testing.assert_allclose(mds.embedding_[:, 1], second, rtol=1e-10, atol=1e-10)
    assert not hasattr(mds, "eigenvalues_")


def test_metricmap_has_its_first_landmark_at_the_origin(roll):
    mds = LandmarkMDS(2, n_landmarks=30, algorithm="metricmap").fit(roll)
    np.testing.assert_allclose(mds.embedding_[mds.landmarks_[0]], 0, atol=1e-9)


def test_fastmap_says_when_nothing_is_left():
    line = np.linspace(0, 1, 50)[:, None]
    with pytest.warns(RankDeficientWarning, match="1 dimension"):
        Y = LandmarkMDS(3, algorithm="fastmap").fit_transform(line)
    np.testing.assert_allclose(np.abs(Y[:, 0] - Y[0, 0]), line[:, 0], atol=1e-12)
    assert not Y[:, 1:].any()
