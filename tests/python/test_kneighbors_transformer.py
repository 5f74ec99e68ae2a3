"""Exact neighbours as a step of a pipeline: scikit-learn's transformer and its results."""

import pickle

import numpy as np
import pytest
import sklearn.manifold
import sklearn.neighbors
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import planish
from planish import Isomap, KNeighborsTransformer
from planish.exceptions import InputError, ParameterError


@parametrize_with_checks(
    [
        KNeighborsTransformer(n_neighbors=2),
        KNeighborsTransformer(n_neighbors=2, mode="connectivity"),
        KNeighborsTransformer(n_neighbors=2, metric="canberra"),
        KNeighborsTransformer(n_neighbors=1, metric="precomputed"),
    ]
)
def test_scikit_learn_battery(estimator, check):
    check(estimator)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize(
    "metric",
    [
        {},
        {"metric": "manhattan"},
        {"metric": "minkowski", "p": 3},
        {"metric": "cosine"},
        {"metric": "canberra"},
        {"metric": "sqeuclidean"},
        {"metric": lambda a, b: float(np.abs(a - b).max())},
        {"metric": "seuclidean", "metric_params": {"V": np.array([1.0, 2, 3, 4, 5])}},
    ],
    ids=str,
)
def test_results_are_those_of_scikit_learn(blob, mode, metric):
    ours = KNeighborsTransformer(mode=mode, n_neighbors=4, **metric)
    theirs = sklearn.neighbors.KNeighborsTransformer(mode=mode, n_neighbors=4, **metric)
    new = blob[:10] + 0.01
    for found, expected in [
        (ours.fit_transform(blob), theirs.fit_transform(blob)),
        (ours.transform(new), theirs.transform(new)),
    ]:
        assert type(found) is type(expected)
        assert np.array_equal(found.indptr, expected.indptr)
        assert np.array_equal(found.indices, expected.indices)  # in order of distance
        np.testing.assert_allclose(found.data, expected.data, rtol=1e-7, atol=1e-7)
    assert list(ours.get_feature_names_out()[:2]) == list(theirs.get_feature_names_out()[:2])


def test_signature_is_scikit_learns():
    theirs = sklearn.neighbors.KNeighborsTransformer().get_params()
    ours = KNeighborsTransformer().get_params()
    assert {name: ours[name] for name in theirs} == theirs
    assert set(ours) - set(theirs) == {"verbose"}


def test_ties_and_duplicates_are_settled_by_the_row():
    rows = np.array([[0.0], [0.0], [0.0], [1.0], [-1.0]])
    graph = KNeighborsTransformer(n_neighbors=3).fit_transform(rows)
    # Each row first, even among equal ones; then by distance, then by number.
    assert graph.indices.reshape(5, 4).tolist() == [
        [0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3], [3, 0, 1, 2], [4, 0, 1, 2],
    ]  # fmt: skip
    assert graph.nnz == 20  # zeros are stored
    one_way = KNeighborsTransformer(n_neighbors=3, mode="connectivity").fit_transform(rows)
    assert one_way.indices.reshape(5, 3).tolist() == [
        [0, 1, 2],
        [1, 0, 2],
        [2, 0, 1],
        [3, 0, 1],
        [4, 0, 1],
    ]
    assert (one_way.data == 1).all()


def test_sparse_rows_and_precision(blob):
    whole = np.where(np.abs(blob) > 2, blob, 0)
    dense = KNeighborsTransformer().fit_transform(whole)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        found = KNeighborsTransformer().fit_transform(kind(whole))
        np.testing.assert_allclose(found.toarray(), dense.toarray(), atol=1e-12)
    single = KNeighborsTransformer().fit_transform(whole.astype(np.float32))
    assert single.dtype == np.float32
    assert single.indices.dtype == np.int32


def test_precomputed_distances(blob):
    distances = cdist(blob, blob)
    search = KNeighborsTransformer(metric="precomputed").fit(distances)
    plain = KNeighborsTransformer().fit(blob)
    found = search.transform(distances[:5])
    assert np.array_equal(found.indices, plain.transform(blob[:5]).indices)
    with pytest.raises(ParameterError, match="n_neighbors"):
        KNeighborsTransformer(n_neighbors=60, metric="precomputed").fit(distances)


def test_kneighbors_is_the_function(blob):
    search = KNeighborsTransformer(n_neighbors=4).fit(blob)
    distances, indices = search.kneighbors()
    expected = planish.kneighbors(blob, 4)
    assert np.array_equal(distances, expected[0])
    assert np.array_equal(indices, expected[1])
    assert np.array_equal(search.kneighbors(blob[:3], 2, return_distance=False)[:, 0], [0, 1, 2])


def test_a_graph_computed_once_serves_several_methods(roll):
    graph = KNeighborsTransformer(n_neighbors=15).fit_transform(roll)
    for k in (7, 8):
        by_graph = Isomap(n_neighbors=k, metric="precomputed").fit_transform(graph)
        np.testing.assert_allclose(by_graph, Isomap(n_neighbors=k).fit_transform(roll), atol=1e-8)


def test_in_a_pipeline_new_rows_are_placed(roll):
    steps = make_pipeline(
        KNeighborsTransformer(n_neighbors=15), Isomap(n_neighbors=8, metric="precomputed")
    )
    plain = Isomap(n_neighbors=8)
    np.testing.assert_allclose(steps.fit_transform(roll), plain.fit_transform(roll), atol=1e-8)
    new = roll[:20] + 0.05
    np.testing.assert_allclose(steps.transform(new), plain.transform(new), atol=1e-8)
    # scikit-learn's own methods take the graph too.
    theirs = sklearn.manifold.Isomap(n_neighbors=8, metric="precomputed")
    ours = make_pipeline(KNeighborsTransformer(n_neighbors=15), theirs).fit_transform(roll)
    np.testing.assert_allclose(np.abs(ours), np.abs(plain.fit_transform(roll)), atol=1e-7)


def test_pickle_clone_and_refit(blob):
    search = KNeighborsTransformer(n_neighbors=3).fit(blob)
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.transform(blob).data, search.transform(blob).data)
    assert not hasattr(clone(search), "n_samples_fit_")
    search.set_params(n_neighbors=7, mode="connectivity")  # a fitted one is not changed
    assert search.transform(blob[:2]).nnz == 8
    with pytest.raises(ParameterError, match="n_neighbors"):
        search.set_params(n_neighbors=0).fit(blob[:5])
    assert search.n_samples_fit_ == 60  # left as it was


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 60}, "`n_neighbors`: must be < n_samples = 60, got 60"),
        ({"n_neighbors": 61, "mode": "connectivity"}, "must be <= n_samples = 60, got 61"),
        ({"n_neighbors": 2.5}, "`n_neighbors`: expected an int of at least 1, got 2.5"),
        ({"n_neighbors": True}, "`n_neighbors`: expected an int of at least 1, got True"),
        ({"mode": "both"}, "`mode`: expected 'distance' or 'connectivity', got 'both'"),
        ({"metric": "nearby"}, "`metric`: 'nearby' is not known"),
        ({"p": 0.5}, "`p`"),
        ({"p": "2"}, "`p`"),
        ({"algorithm": "fast"}, "`algorithm`"),
    ],
    ids=str,
)
def test_errors_name_the_parameter(blob, params, message):
    with pytest.raises(ParameterError, match=message):
        KNeighborsTransformer(**params).fit_transform(blob)


def test_missing_numbers_are_named(blob):
    blob[7, 2] = np.nan
    with pytest.raises(InputError, match="NaN at row 7, column 2"):
        KNeighborsTransformer().fit(blob)
    with pytest.raises(InputError, match="NaN at row 7, column 2"):
        KNeighborsTransformer(metric="canberra").fit(blob)
