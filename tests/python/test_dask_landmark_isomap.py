"""LandmarkIsomap on Dask against one machine: the same graphs and geodesics, ties included."""

import dask
import dask.array as da
import numpy as np
import pytest

import planish
import planish.dask as on_dask
from conftest import swiss_roll
from planish.exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    OutlierWarning,
    ParameterError,
)

CLOSE = {"rtol": 0, "atol": 1e-10}
ROLL = swiss_roll(900)

# So few points of a roll have shortcuts.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="threads"):
        yield


def chunked(X, *sizes):
    return da.from_array(X, chunks=(sizes, (X.shape[1],)))


def in_blocks(X, size):
    return da.from_array(X, chunks=(size, X.shape[1]))


@pytest.mark.parametrize("graph", ["broadcast", "partitioned"])
@pytest.mark.parametrize("rule", [{"n_neighbors": 8}, {"n_neighbors": None, "radius": 4.0}])
def test_landmark_isomap_is_that_of_one_machine(graph, rule):
    chosen = np.random.default_rng(0).choice(900, 40, replace=False)
    params = {**rule, "landmarks": chosen, "path_method": "D"}
    one = planish.LandmarkIsomap(**params).fit(ROLL)
    isomap = on_dask.LandmarkIsomap(**params, graph=graph).fit(chunked(ROLL, 250, 1, 349, 300))
    between = planish.geodesic_distances(one.graph_, sources=chosen, path_method="D")
    # Graph and geodesics exactly, coordinates to rounding.
    np.testing.assert_array_equal(isomap.geodesics_.compute().T, between)
    if graph == "broadcast":
        assert (isomap.graph_ != one.graph_).nnz == 0
        np.testing.assert_array_equal(isomap.graph_.indices, one.graph_.indices)
        np.testing.assert_array_equal(isomap.component_labels_, one.component_labels_)
    else:
        assert isomap.n_supersteps_ > 1
    scale = np.abs(one.embedding_).max()
    np.testing.assert_allclose(isomap.embedding_.compute() / scale, one.embedding_ / scale, **CLOSE)
    np.testing.assert_allclose(isomap.eigenvalues_, one.eigenvalues_, rtol=1e-10)
    new = np.vstack([swiss_roll(60, seed=1)[:, :] * 0.999, ROLL[[5, 600]]])
    if "radius" in rule:
        new = new[
            [len(planish.neighbors_graph(ROLL, query=x[None], radius=4.0).data) > 0 for x in new]
        ]
    expected = one.transform(new) / scale
    np.testing.assert_allclose(isomap.transform(new) / scale, expected, **CLOSE)
    there = isomap.transform(in_blocks(new, 20)).compute()
    np.testing.assert_allclose(there / scale, expected, **CLOSE)
    np.testing.assert_array_equal(there[-2:], isomap.embedding_.compute()[[5, 600]])


def test_by_default_the_landmarks_and_the_paths_are_those_of_one_machine():
    one = planish.LandmarkIsomap(n_neighbors=8, n_landmarks=50).fit(ROLL)
    with dask.config.set(scheduler="synchronous"):
        isomap = on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=50).fit(in_blocks(ROLL, 300))
    assert (isomap.graph_mode_, isomap.path_method_) == ("broadcast", one.path_method_)
    np.testing.assert_array_equal(isomap.landmarks_, one.landmarks_)
    scale = np.abs(one.embedding_).max()
    np.testing.assert_allclose(isomap.embedding_.compute() / scale, one.embedding_ / scale, **CLOSE)


@pytest.mark.parametrize("graph", ["broadcast", "partitioned"])
@pytest.mark.parametrize("columns", [2, 30])
def test_rows_at_equal_distances_change_nothing(graph, columns):
    # Places of a small grid, many of them taken more than once: ties everywhere.
    rng = np.random.default_rng(0)
    X = np.zeros((500, columns))
    X[:, :2] = rng.integers(0, 14, size=(500, 2))
    params = {"n_neighbors": 12, "landmarks": np.arange(0, 500, 16), "path_method": "D"}
    one = planish.LandmarkIsomap(**params, disconnected="error").fit(X)
    isomap = on_dask.LandmarkIsomap(**params, graph=graph).fit(chunked(X, 180, 3, 177, 140))
    between = planish.geodesic_distances(one.graph_, sources=params["landmarks"], path_method="D")
    np.testing.assert_array_equal(isomap.geodesics_.compute().T, between)
    if graph == "broadcast":
        np.testing.assert_array_equal(isomap.graph_.indices, one.graph_.indices)
        np.testing.assert_array_equal(isomap.graph_.data, one.graph_.data)
    scale = np.abs(one.embedding_).max()
    np.testing.assert_allclose(isomap.embedding_.compute() / scale, one.embedding_ / scale, **CLOSE)
    new = np.vstack([X[:30], X[30:60] + 0.5])
    np.testing.assert_allclose(isomap.transform(new) / scale, one.transform(new) / scale, **CLOSE)


@pytest.mark.parametrize("graph", ["broadcast", "partitioned"])
def test_components_are_joined_by_the_same_edges(graph):
    rng = np.random.default_rng(1)
    X = np.vstack(
        [rng.normal(size=(40, 2)) + centre for centre in ([0, 0], [60, 0], [0, 90], [70, 80])]
    )
    X = X[rng.permutation(len(X))]
    chosen = rng.choice(len(X), 30, replace=False)
    params = {"n_neighbors": 5, "landmarks": chosen, "path_method": "D"}
    with pytest.warns(DisconnectedGraphWarning) as ours:
        isomap = on_dask.LandmarkIsomap(**params, graph=graph).fit(in_blocks(X, 45))
    with pytest.warns(DisconnectedGraphWarning) as theirs:
        one = planish.LandmarkIsomap(**params).fit(X)
    assert str(ours[0].message).replace("e+0", "e") == str(theirs[0].message)
    pairs = {tuple(sorted(pair)) for pair in one.bridges_.tolist()}
    assert {tuple(pair) for pair in isomap.bridges_.tolist()} == pairs
    assert isomap.n_connected_components_ == one.n_connected_components_ == 4
    between = planish.geodesic_distances(one.graph_, sources=chosen, path_method="D")
    np.testing.assert_array_equal(isomap.geodesics_.compute().T, between)
    if graph == "broadcast":
        assert (isomap.graph_ != one.graph_).nnz == 0
        np.testing.assert_array_equal(isomap.component_labels_, one.component_labels_)
    scale = np.abs(one.embedding_).max()
    np.testing.assert_allclose(isomap.embedding_.compute() / scale, one.embedding_ / scale, **CLOSE)


@pytest.mark.parametrize("graph", ["broadcast", "partitioned"])
def test_the_largest_component_alone(graph):
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(30, 2)) + 99])[rng.permutation(90)]
    params = {"n_neighbors": 5, "landmarks": "random", "n_landmarks": 20, "path_method": "D"}
    with pytest.warns(DisconnectedGraphWarning, match="sizes 60, 30"):
        one = planish.LandmarkIsomap(**params, disconnected="largest").fit(X)
    isomap = on_dask.LandmarkIsomap(**params, disconnected="largest", graph=graph)
    with pytest.warns(DisconnectedGraphWarning, match="sizes 60, 30"):
        isomap.fit(in_blocks(X, 40))
    np.testing.assert_array_equal(isomap.landmarks_, one.landmarks_)
    np.testing.assert_allclose(isomap.embedding_.compute(), one.embedding_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(isomap.transform(X[:5] + 0.1), one.transform(X[:5] + 0.1), atol=1e-9)
    with pytest.raises(DisconnectedGraphError, match="sizes 60, 30"):
        on_dask.LandmarkIsomap(**params, disconnected="error", graph=graph).fit(in_blocks(X, 40))


@pytest.mark.parametrize("graph", ["broadcast", "partitioned"])
def test_of_components_of_one_size_the_one_of_the_first_row_is_kept(graph):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(40, 2)) + shift for shift in (0, 99, 250)])
    X = X[rng.permutation(120)]
    params = {"n_neighbors": 6, "landmarks": "random", "n_landmarks": 15, "path_method": "D"}
    with pytest.warns(DisconnectedGraphWarning, match="sizes 40, 40, 40"):
        one = planish.LandmarkIsomap(**params, disconnected="largest").fit(X)
    isomap = on_dask.LandmarkIsomap(**params, disconnected="largest", graph=graph)
    with pytest.warns(DisconnectedGraphWarning, match="sizes 40, 40, 40"):
        isomap.fit(in_blocks(X, 35))
    np.testing.assert_array_equal(isomap.landmarks_, one.landmarks_)
    np.testing.assert_allclose(isomap.embedding_.compute(), one.embedding_, rtol=0, atol=1e-9)
    # Landmarks that are chosen, not drawn, are of that component too.
    far_apart = isomap.set_params(landmarks="maxmin")
    with pytest.warns(DisconnectedGraphWarning):
        far_apart.fit(in_blocks(X, 35))
    assert not np.isnan(one.embedding_[far_apart.landmarks_]).any()
    assert set(far_apart.landmarks_) != set(one.landmarks_)


def test_outliers_are_left_out_and_placed():
    X = swiss_roll(600)
    X[[17, 400]] = [[4000.0, 0, 0], [0, -5000.0, 100]]
    params = {"n_neighbors": 8, "n_landmarks": 60}
    with pytest.warns(OutlierWarning):
        one = planish.LandmarkIsomap(**params, disconnected="bridge").fit(X)
    with pytest.warns(OutlierWarning, match="2 outlier"):
        isomap = on_dask.LandmarkIsomap(**params).fit(in_blocks(X, 250))
    assert isomap.outliers_.tolist() == one.outliers_.tolist() == [17, 400]
    scale = np.abs(one.embedding_).max()
    np.testing.assert_array_equal(isomap.landmarks_, one.landmarks_)
    np.testing.assert_allclose(isomap.embedding_.compute() / scale, one.embedding_ / scale, **CLOSE)


def test_a_graph_in_parts_tells_of_edges_as_long_as_those_of_outliers():
    X = swiss_roll(600)
    X[17] = [4000.0, 0, 0]
    params = {"n_neighbors": 8, "landmarks": np.arange(0, 600, 20), "graph": "partitioned"}
    with pytest.warns(OutlierWarning, match=r"\d\d times as long.*graph='broadcast'.*'keep'"):
        on_dask.LandmarkIsomap(**params).fit(in_blocks(X, 250))
    on_dask.LandmarkIsomap(**params, outliers="keep").fit(in_blocks(X, 250))
    for graph in ("broadcast", "partitioned"):
        wrong = on_dask.LandmarkIsomap(**{**params, "graph": graph}, outliers="drop")
        with pytest.raises(ParameterError, match="`outliers`: expected one of"):
            wrong.fit(in_blocks(X, 250))
