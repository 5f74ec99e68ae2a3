"""planish.dask with a client that is closed, while others are open or none."""

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import planish
import planish.dask as on_dask
from conftest import swiss_roll
from planish.exceptions import UnsupportedError

ROLL = swiss_roll(400)

pytestmark = [
    pytest.mark.linux,
    pytest.mark.filterwarnings("ignore:Creating scratch directories is taking:UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    # So few points of a roll have shortcuts.
    pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    ) as made:
        yield made


@pytest.fixture(params=["no other client", "another client"])
def closed(cluster, request):
    """What was made with a client that is closed by now."""
    other = Client(cluster, timeout=60) if request.param == "another client" else None
    client = Client(cluster, timeout=60)
    lazy = da.from_array(ROLL, chunks=(100, 3))
    kept = lazy.persist()
    pca = on_dask.PCA(2).fit(lazy)
    isomap = on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=20).fit(lazy)
    client.close()
    yield lazy, kept, pca, isomap
    if other is not None:
        other.close()


def test_a_closed_client_is_a_sentence(closed):
    lazy, kept, pca, isomap = closed
    for lost in (
        lambda: on_dask.PCA(2).fit(kept),
        lambda: on_dask.kneighbors(kept, 3),
        lambda: on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=20).fit(kept),
        lambda: on_dask.Isomap(sample_size=100).fit(kept),
        lambda: isomap.transform(ROLL[:5]),
        lambda: isomap.transform(lazy),
        lambda: isomap.graph_,
        lambda: isomap.geodesics_,
        lambda: isomap.component_labels_,
    ):
        with pytest.raises(UnsupportedError, match=r"cluster is gone.*fit again") as raised:
            lost()
        assert "\n" not in str(raised.value)
    # What needs nothing of it goes on, here or with the client that is left.
    np.testing.assert_allclose(pca.transform(lazy).compute(), pca.transform(ROLL), atol=1e-12)
    on_dask.PCA(2).fit(lazy)


def test_an_error_of_the_data_is_not_taken_for_a_lost_cluster(cluster):
    def missing(block):
        raise KeyError("array-0")

    X = da.zeros((40, 3), chunks=(10, 3)).map_blocks(missing, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(KeyError, match="array-0"):
        on_dask.PCA(2).fit(X)
    with Client(cluster, timeout=60), pytest.raises(KeyError, match="array-0"):
        on_dask.PCA(2).fit(X)


@pytest.mark.filterwarnings("ignore::planish.exceptions.DisconnectedGraphWarning")
@pytest.mark.parametrize("disconnected", ["bridge", "largest"])
@pytest.mark.parametrize("graph", ["broadcast", "partitioned"])
def test_several_components_on_a_cluster_are_those_of_one_machine(cluster, graph, disconnected):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((70, 2)) + shift for shift in (0.0, 30.0, 80.0)])
    X = np.vstack([X, rng.random((5, 2)) - 90])[rng.permutation(215)]
    params = {"n_neighbors": 4, "path_method": "D", "disconnected": disconnected}
    one = planish.LandmarkIsomap(**params, landmarks="random", n_landmarks=20).fit(X)
    with Client(cluster, timeout=60):
        # Nobody but the estimator keeps what is persisted here.
        isomap = on_dask.LandmarkIsomap(**params, landmarks=one.landmarks_, graph=graph).fit(
            da.from_array(X, chunks=(60, 2)).persist()
        )
        found, placed = isomap.embedding_.compute(), isomap.transform(X[:9] + 0.01)
    scale = np.nanmax(np.abs(one.embedding_))
    np.testing.assert_allclose(found / scale, one.embedding_ / scale, rtol=0, atol=1e-10)
    expected = one.transform(X[:9] + 0.01)
    np.testing.assert_allclose(placed / scale, expected / scale, rtol=0, atol=1e-10)
