"""planish.dask on a real cluster: three worker processes, each with less memory than X.

One cluster serves all tests of this file, in order; the last one takes it away.
"""

import asyncio
import os
import pickle
import re
import signal
import sys

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin
from sklearn.base import BaseEstimator, TransformerMixin

import planish
import planish.dask as on_dask
from conftest import swiss_roll
from planish.exceptions import InputError, MemoryNeedError, UnsupportedError

#: Bytes a worker may take, of which its imports are 220 million.
LIMIT = 500_000_000
CLOSE = {"rtol": 0, "atol": 1e-10}
QUIET = {
    "distributed.scheduler.allowed-failures": 2,
    "distributed.worker.profile.enabled": False,
    "logging.distributed": "critical",
}
WORKERS = {
    "threads_per_worker": 1,
    "processes": True,
    "memory_limit": LIMIT,
    # With None it would be 8787, which may be taken.
    "dashboard_address": ":0",
    "silence_logs": 50,
}
#: Seconds after which a cluster does not come any more.
LATE = 180

pytestmark = [
    pytest.mark.linux,
    # Each process of the cluster imports all it needs, before and after it is killed: slow where
    # the machine has other work.
    pytest.mark.timeout(400),
    # What connections to a killed worker leave behind is distributed's.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    # A slow or busy disk, of which Dask tells.
    pytest.mark.filterwarnings("ignore:Creating scratch directories is taking:UserWarning"),
    # What is expected is found without the cluster: older releases warn of that.
    pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning"),
    # So few points of a roll have shortcuts.
    pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    # The processes of a cluster are given one thread for products, by the environment of this one.
    monkeypatch = pytest.MonkeyPatch()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    with dask.config.set(QUIET), LocalCluster(n_workers=3, **WORKERS) as made:
        yield made
    monkeypatch.undo()


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster, timeout=LATE) as made:
        made.wait_for_workers(3, timeout=LATE)
        yield made


@pytest.fixture(autouse=True)
def workers(client):
    # A worker that was killed is on its way back, as a rule; two can do what follows.
    if client.status == "running":
        try:
            client.wait_for_workers(3, timeout=60)
        except (TimeoutError, asyncio.TimeoutError):  # two of them before Python 3.11
            client.wait_for_workers(2, timeout=LATE)


def block_of_rows(block_info=None):
    """The rows of a block, by its place alone: it can be made again on any worker."""
    (first, last), (_, columns) = block_info[None]["array-location"]
    return rows_from(first, last, columns)


def rows_from(first, last, columns):
    rng = np.random.default_rng(first)
    return rng.random(size=(last - first, columns)) * np.linspace(3, 1, columns)


def wide(rows, columns, size):
    chunks = (tuple(min(size, rows - at) for at in range(0, rows, size)), (columns,))
    return da.map_blocks(block_of_rows, chunks=chunks, dtype=float, meta=np.empty((0, 0)))


class Killer(SchedulerPlugin):
    """Kills the worker that is first to finish a task of some name, or all that have some block."""

    name = "killer"

    def __init__(self, cluster, client, when, block=None):
        self.block = block
        self.scheduler, self.when = cluster.scheduler, f"planish-{when}-"
        self.processes, self.killed = client.run(os.getpid), None

    def __enter__(self):
        self.scheduler.add_plugin(self)
        return self

    def __exit__(self, *_):
        self.scheduler.remove_plugin(self.name)

    def transition(self, key, start, finish, *args, worker=None, **kwargs):
        if self.killed is None and finish == "memory" and str(key).startswith(self.when):
            victims = [worker] if self.block is None else self.holders()
            for address in victims:
                os.kill(self.processes[address], signal.SIGKILL)
            self.killed = victims

    def holders(self):
        """The workers that have the block that the fewest have."""
        tasks = self.scheduler.tasks.values()
        blocks = [task.who_has for task in tasks if self.block in str(task.key) and task.who_has]
        return [worker.address for worker in min(blocks, key=len)]


# -- more data than a worker may hold --------------------------------------------------------


def test_more_rows_than_a_worker_may_hold(client):
    X = wide(256_000, 250, 8_000).persist()
    assert X.nbytes > LIMIT
    Z = np.vstack([rows_from(at, at + 8_000, 250) for at in range(0, 256_000, 8_000)])
    pca, one = on_dask.PCA(3).fit(X), planish.PCA(3).fit(Z)
    np.testing.assert_allclose(pca.components_, one.components_, **CLOSE)
    np.testing.assert_allclose(pca.explained_variance_, one.explained_variance_, rtol=1e-11)
    rows = np.arange(7, 256_000, 24_000)
    mds = on_dask.LandmarkMDS(landmarks=rows).fit(X)
    expected = planish.LandmarkMDS(landmarks=np.arange(len(rows))).fit(Z[rows])
    np.testing.assert_array_equal(mds.embedding_.compute()[::50], expected.transform(Z[::50]))


# -- the same result with a worker killed ------------------------------------------------------

ROLL = swiss_roll(2000)
PARAMS = {"n_neighbors": 8, "landmarks": np.arange(0, 2000, 60), "path_method": "D"}


@pytest.fixture(scope="module")
def expected():
    with dask.config.set(scheduler="synchronous"):
        isomap = on_dask.LandmarkIsomap(**PARAMS).fit(da.from_array(ROLL, chunks=(500, 3)))
        one = planish.LandmarkIsomap(**PARAMS).fit(ROLL)
        return isomap.embedding_.compute(), isomap.geodesics_.compute(), one


@pytest.mark.parametrize(
    ("graph", "when"),
    [("broadcast", "neighbors"), ("broadcast", "geodesics"), ("partitioned", "superstep")],
)
def test_a_worker_killed_in_the_middle_changes_nothing(client, cluster, expected, graph, when):
    with Killer(cluster, client, when) as killer:
        X = da.from_array(ROLL, chunks=(500, 3))
        isomap = on_dask.LandmarkIsomap(**PARAMS, graph=graph).fit(X)
        placed = isomap.embedding_.compute()
    assert killer.killed
    np.testing.assert_array_equal(placed, expected[0])
    np.testing.assert_array_equal(isomap.geodesics_.compute(), expected[1])
    scale = np.abs(expected[2].embedding_).max()
    np.testing.assert_allclose(placed / scale, expected[2].embedding_ / scale, **CLOSE)
    new = ROLL[:40] + 0.01
    there = isomap.transform(da.from_array(new, chunks=(20, 3))).compute()
    np.testing.assert_allclose(there / scale, expected[2].transform(new) / scale, **CLOSE)


def test_rows_that_cannot_be_made_again_are_refused(client, cluster):
    X = da.zeros((1500, 3), chunks=(250, 3)).map_blocks(
        lambda block: np.random.default_rng().normal(size=block.shape), dtype=float, name="drawn"
    )
    refusal = r"came out different.*not reproducible.*to_parquet"
    said = ""
    # The moments of a block are found where it is, so that it is on no other worker yet when its
    # own is killed; should it be all the same, again.
    for _ in range(4):
        try:
            with Killer(cluster, client, "moments", "drawn"):
                on_dask.PCA(2).fit(X)
        except InputError as refused:
            said = str(refused)
            break
        client.wait_for_workers(3, timeout=LATE)
    assert re.search(refusal, said, re.DOTALL)


# -- what the dashboard and the network see ---------------------------------------------------


def test_tasks_have_names_and_models_travel_once(client):
    there = da.from_array(ROLL[:600], chunks=(300, 3))
    on_dask.LandmarkIsomap(n_landmarks=20).fit(there).embedding_.compute()
    on_dask.PCA(2).fit(there)
    names = set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes)))
    for name in ("neighbors", "merge", "graph", "geodesics", "moments", "place"):
        # Dask may fuse a task with the next one; the name is then part of the name.
        assert any(f"planish-{name}" in shown for shown in names)
    X = da.from_array(np.random.default_rng(0).normal(size=(2000, 50)), chunks=(200, 50)).persist()
    isomap = on_dask.Isomap(sample_size=1000).fit(X)
    model = len(pickle.dumps(isomap.to_local()))
    assert model > 500_000 > 10 * bytes_of_graph(isomap.embedding_)


def bytes_of_graph(collection):
    return len(cloudpickle.dumps(dict(collection.__dask_graph__())))


@pytest.mark.filterwarnings("ignore::planish.exceptions.DisconnectedGraphWarning")
@pytest.mark.parametrize("graph", ["broadcast", "partitioned"])
def test_no_task_has_the_rows_in_use_in_it(client, graph):
    X = np.random.default_rng(0).random((20_000, 2))
    X[:5000] += 99
    there = da.from_array(X, chunks=(5000, 2)).persist()
    params = {"n_landmarks": 10, "landmarks": "random", "graph": graph}
    isomap = on_dask.LandmarkIsomap(**params, disconnected="largest").fit(there)
    # 8 bytes for each row in use would be 120 kB.
    assert bytes_of_graph(isomap.embedding_) < 30_000
    assert bytes_of_graph(isomap.transform(there)) < 60_000
    assert bytes_of_graph(isomap.geodesics_) < 30_000
    # Nor has one the new rows in it that are here: they are placed as those on the cluster.
    new = X[::7] + 1e-3
    np.testing.assert_array_equal(
        isomap.transform(new), isomap.transform(da.from_array(new, chunks=(900, 2))).compute()
    )


class Counted(TransformerMixin, BaseEstimator):
    """Remembers how many threads it was given."""

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        self.threads_ = self.n_jobs
        return self

    def transform(self, X):
        return np.asarray(X)[:, :1]


def test_threads_are_those_of_the_worker(client):
    X = da.from_array(ROLL, chunks=(1000, 3))
    assert on_dask.SampledEmbedding(Counted()).fit(X).estimator_.threads_ == 1
    assert on_dask.SampledEmbedding(Counted(n_jobs=3)).fit(X).estimator_.threads_ == 3
    assert on_dask.LandmarkIsomap()._threads() == 1
    assert on_dask.LandmarkIsomap(n_jobs=2)._threads() == 2


# -- what goes wrong ---------------------------------------------------------------------------


class Interrupter(SchedulerPlugin):
    """Presses Ctrl-C when the first task of some name is done."""

    name = "interrupter"

    def __init__(self, when):
        self.when, self.pressed = f"planish-{when}-", False

    def transition(self, key, start, finish, *args, **kwargs):
        if not self.pressed and finish == "memory" and str(key).startswith(self.when):
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("when", ["check", "neighbors", "geodesics"])
def test_ctrl_c_ends_a_fit_and_leaves_the_cluster_usable(client, cluster, when):
    X = da.from_array(ROLL, chunks=(500, 3))
    isomap = on_dask.LandmarkIsomap(n_neighbors=8, n_landmarks=30).fit(X[:1000])
    before = dict(vars(isomap))
    interrupter = Interrupter(when)
    cluster.scheduler.add_plugin(interrupter)
    # A process in the background of a shell is started without it.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            isomap.fit(X)
    finally:
        signal.signal(signal.SIGINT, handler)
        cluster.scheduler.remove_plugin(interrupter.name)
    assert vars(isomap).keys() == before.keys()
    assert all(vars(isomap)[name] is value for name, value in before.items())
    assert isomap.embedding_.compute().shape == (1000, 2)


def test_a_worker_that_runs_out_of_memory_is_a_sentence():
    X = da.zeros((120_000, 1000), chunks=(60_000, 1000))  # a block is as large as a worker
    once = {
        **QUIET,
        "distributed.scheduler.allowed-failures": 0,
        # Too much memory is noticed while it is there.
        "distributed.worker.memory.monitor-interval": "20ms",
    }
    # Workers of its own, because they do not always come back.
    with (
        dask.config.set(once),
        LocalCluster(n_workers=1, **WORKERS) as small,
        Client(small, timeout=LATE) as alone,
    ):
        alone.wait_for_workers(1, timeout=LATE)
        with pytest.raises(MemoryNeedError, match=r"split X into smaller chunks") as raised:
            on_dask.PCA(2).fit(X)
    assert "check-" in str(raised.value)
    assert "ended once with the worker" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_last_a_cluster_that_is_gone_is_a_sentence(client, cluster):
    pca = on_dask.PCA(2).fit(da.from_array(ROLL, chunks=(1000, 3)))
    cluster.close()
    with pytest.raises(UnsupportedError, match=r"cluster is gone.*Client.*fit again") as raised:
        pca.fit(da.from_array(ROLL, chunks=(1000, 3)))
    assert "\n" not in str(raised.value)
