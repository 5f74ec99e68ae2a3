"""Classical MDS against scikit-learn and PCA."""

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.manifold
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.metrics.pairwise import nan_euclidean_distances

from conftest import assert_same_columns, needs_sklearn
from planish import PCA, ClassicalMDS

in_scikit_learn = needs_sklearn(1, 8, reason="the first that has ClassicalMDS")


@in_scikit_learn
@pytest.mark.parametrize("solver", ["auto", "dense", "arpack"])
@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("euclidean", None),
        ("manhattan", None),
        ("chebyshev", None),
        ("cosine", None),
        ("correlation", None),
        ("minkowski", {"p": 3}),
        ("canberra", None),
        ("seuclidean", {"V": [1.0, 2.0, 3.0, 4.0, 5.0]}),
    ],
)
@pytest.mark.filterwarnings("ignore::planish.exceptions.NegativeEigenvalueWarning")
def test_classical_mds(blob, metric, params, solver):
    theirs = sklearn.manifold.ClassicalMDS(3, metric=metric, metric_params=params).fit(blob)
    ours = ClassicalMDS(3, metric=metric, metric_params=params, eigen_solver=solver).fit(blob)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.embedding_, theirs.embedding_)
    np.testing.assert_allclose(
        ours.dissimilarity_matrix_, theirs.dissimilarity_matrix_, rtol=1e-9, atol=1e-7
    )
    assert np.array_equal(ours.transform(blob), ours.embedding_)


def test_classical_mds_callable(blob):
    def metric(a, b):
        return np.abs(a - b).sum()

    ours = ClassicalMDS(metric=metric).fit(blob)
    native = ClassicalMDS(metric="manhattan").fit(blob)
    assert_same_columns(ours.embedding_, native.embedding_)
    assert_same_columns(ours.transform(blob + 0.1), native.transform(blob + 0.1))


@in_scikit_learn
def test_classical_mds_precomputed(blob):
    D = squareform(pdist(blob))
    theirs = sklearn.manifold.ClassicalMDS(4, metric="precomputed").fit(D)
    ours = ClassicalMDS(4, metric="precomputed").fit(D)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_same_columns(ours.embedding_, theirs.embedding_)
    assert np.array_equal(ours.dissimilarity_matrix_, D)


def test_classical_mds_of_euclidean_distances_is_pca(blob):
    pca = PCA(5).fit(blob)
    for mds in (
        ClassicalMDS(5).fit(blob),
        ClassicalMDS(5, metric="precomputed").fit(squareform(pdist(blob))),
    ):
        assert_same_columns(mds.embedding_, pca.transform(blob), rtol=1e-9)
        np.testing.assert_allclose(mds.eigenvalues_, pca.singular_values_**2, rtol=1e-9)


def test_classical_mds_places_new_points_where_pca_does(blob):
    new = blob[:10] + 0.3
    pca = PCA(5).fit(blob)
    mds = ClassicalMDS(5).fit(blob)
    assert_same_columns(
        np.vstack([mds.embedding_, mds.transform(new)]),
        np.vstack([pca.transform(blob), pca.transform(new)]),
        rtol=1e-9,
    )
    # From distances alone: every distance to a training row is kept.
    given = ClassicalMDS(5, metric="precomputed").fit(squareform(pdist(blob)))
    placed = given.transform(cdist(new, blob))
    np.testing.assert_allclose(cdist(placed, given.embedding_), cdist(new, blob), rtol=1e-8)


def test_classical_mds_origin(blob):
    D = squareform(pdist(blob))
    at_row = ClassicalMDS(5, metric="precomputed", origin=7).fit(D).embedding_
    np.testing.assert_allclose(at_row[7], 0.0, atol=1e-10)
    np.testing.assert_allclose(squareform(pdist(at_row)), D, rtol=1e-9, atol=1e-9)
    weights = np.zeros(len(blob))
    weights[[3, 5]] = 0.5
    at_middle = ClassicalMDS(5, metric="precomputed", origin=weights).fit(D).embedding_
    np.testing.assert_allclose(at_middle[3], -at_middle[5], atol=1e-10)
    mean = ClassicalMDS(5, metric="precomputed").fit(D).embedding_
    np.testing.assert_allclose(mean.mean(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("exponent", [-300, -200, 0, 200, 300])
def test_distances_with_missing_values_are_scikit_learns_at_every_scale(blob, exponent):
    holes = blob.copy()
    holes[3, 1] = holes[7, [0, 4]] = np.nan
    expected = nan_euclidean_distances(holes)
    found = np.asarray(
        ClassicalMDS(metric="nan_euclidean").fit(holes * 10.0**exponent).dissimilarity_matrix_
    )
    np.testing.assert_allclose(found / 10.0**exponent, expected, rtol=1e-12, atol=1e-6)
