"""Ctrl-C, threads, forks: a fit is a good citizen of its process."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from conftest import swiss_roll
from planish import (
    PCA,
    ClassicalMDS,
    Isomap,
    KernelMDS,
)

# A roll of a few hundred rows has true shortcuts between its sheets.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")

PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
from planish import (
    MDS,
    PCA,
    TSNE,
    ClassicalMDS,
    DiffusionMaps,
    Isomap,
    KernelIsomap,
    KernelMDS,
    LandmarkIsomap,
    LandmarkMDS,
    LocallyLinearEmbedding,
    SammonMapping,
    SpectralEmbedding,
    quality,
)

# A shell's background has Ctrl-C ignored, and so have the tests run there.
signal.signal(signal.SIGINT, signal.default_int_handler)

def tasks():
    return len(os.listdir("/proc/self/task"))

def settled(count):
    # Ended threads take a moment to leave the process table.
    end = time.monotonic() + 1.0
    while tasks() > count and time.monotonic() < end:
        time.sleep(0.01)
    return tasks()

def interrupt_after(seconds):
    def send():
        time.sleep(seconds)
        global sent
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()

X = np.random.default_rng(0).normal(size=(20000, 3))
angle = 1.5 * np.pi * (1 + 2 * np.random.default_rng(1).random(150_000))
height = 21 * np.random.default_rng(2).random(150_000)
LONG = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
small = X[:200]
small @ small.T  # the threads of BLAS stay; none of ours may
blas = tasks() - 1
Isomap(n_neighbors=8).fit(small)  # everything is imported and warm
"""


def run(code, timeout=90):
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LONG_FITS = {
    "Isomap": "Isomap(n_neighbors=10).fit(X)",
    "Isomap-brute": "Isomap(n_neighbors=10, neighbors_algorithm='brute').fit(np.tile(X, 30))",
    "Isomap-Floyd-Warshall": "Isomap(n_neighbors=10, path_method='FW').fit(X[:6000])",
    "Isomap-dense": "Isomap(n_neighbors=10, eigen_solver='dense').fit(X[:5000])",
    "Isomap-recomputed": "Isomap(n_neighbors=10, storage='recompute').fit(X)",
    "KernelIsomap": "KernelIsomap(n_neighbors=10).fit(X[:10000])",
    "LandmarkIsomap": "LandmarkIsomap(n_neighbors=10, n_landmarks=5000).fit(X)",
    "LandmarkMDS": "LandmarkMDS(n_landmarks=3000).fit(np.tile(X, 30))",
    "ClassicalMDS": "ClassicalMDS(metric='manhattan', n_components=50).fit(X)",
    "KernelMDS": "KernelMDS(kernel='laplacian', n_components=50).fit(X)",
    "MDS": "MDS(eps=0, max_iter=10**6).fit(X[:6000])",
    "MDS-ordinal": "MDS(type='ordinal', eps=0, max_iter=10**6).fit(X[:4000])",
    "MDS-many-rows": "MDS(metric='manhattan', eps=0, max_iter=10**6).fit(X)",
    "SammonMapping": "SammonMapping(eps=0, max_iter=10**6).fit(X[:6000])",
    "TSNE": "TSNE(max_iter=10**6).fit(X)",
    "TSNE-exact": "TSNE(method='exact', max_iter=10**6).fit(X[:4000])",
    "LLE": "LocallyLinearEmbedding(n_neighbors=20).fit(LONG)",
    "MLLE": "LocallyLinearEmbedding(n_neighbors=20, method='modified').fit(LONG)",
    "HLLE": "LocallyLinearEmbedding(n_neighbors=20, method='hessian').fit(LONG)",
    "LTSA": "LocallyLinearEmbedding(n_neighbors=20, method='ltsa').fit(LONG)",
    "LTSA-iterative": (
        "LocallyLinearEmbedding(n_neighbors=20, method='ltsa', eigen_solver='iterative', "
        "tol=1e-14, max_iter=10**6).fit(LONG)"
    ),
    "SpectralEmbedding": "SpectralEmbedding(n_neighbors=20, n_components=10).fit(LONG)",
    "SpectralEmbedding-rbf": "SpectralEmbedding(affinity='rbf', n_components=30).fit(X[:12000])",
    "DiffusionMaps": "DiffusionMaps(n_components=20).fit(LONG)",
    "DiffusionMaps-dense": "DiffusionMaps(n_components=30, n_neighbors=None).fit(X[:12000])",
    "ClassicalMDS-dense": "ClassicalMDS(metric='manhattan', eigen_solver='dense').fit(X[:5000])",
    "PCA-full": "PCA(svd_solver='full').fit(np.random.default_rng(0).normal(size=(5000, 3000)))",
    "PCA-wide": "PCA(svd_solver='full').fit(np.random.default_rng(0).normal(size=(2500, 6000)))",
    "PCA": "PCA(200, svd_solver='arpack').fit(np.random.default_rng(0).normal(size=(4000, 4000)))",
}


@pytest.mark.parametrize("fit", LONG_FITS.values(), ids=LONG_FITS)
def test_ctrl_c_stops_a_long_fit(fit):
    # On a fast machine a fit may end before the signal: then it is begun anew.
    call, _, data = fit.partition(".fit")
    out = run(f"""
        data = {data}
        before = tasks()
        interrupt_after(0.7)
        try:
            while True:
                estimator = {call}
                state = dict(vars(estimator))
                estimator.fit(data)
                state = None  # between two fits there is nothing to put back
        except KeyboardInterrupt:
            late = time.monotonic() - sent
        assert late < 1.0, f"stopped only after {{late:.2f}} s"
        assert settled(before) == before, (before, os.listdir("/proc/self/task"))
        assert state is None or vars(estimator) == state, sorted(vars(estimator))
        again = Isomap(n_neighbors=8).fit_transform(small)
        assert np.array_equal(again, Isomap(n_neighbors=8).fit_transform(small))
        print("stopped")
    """)
    assert out == "stopped\n"


LONG_MEASURES = {
    "ranks": "quality.continuity(MANY, LONG[:, :2], n_neighbors=20)",
    "pairs": "quality.pearson(LONG, LONG[:, :2])",
    "curve": "quality.rank_curve(LONG, LONG[:, :2])",
    "spearman": "quality.spearman(LONG, LONG[:, :2])",
}


@pytest.mark.parametrize("measure", LONG_MEASURES.values(), ids=LONG_MEASURES)
def test_ctrl_c_stops_a_measure_of_quality(measure):
    out = run(f"""
        MANY = np.tile(LONG, 20)
        before = tasks()
        interrupt_after(0.7)
        try:
            while True:
                {measure}
        except KeyboardInterrupt:
            late = time.monotonic() - sent
        assert late < 1.0, f"stopped only after {{late:.2f}} s"
        assert settled(before) == before, (before, os.listdir("/proc/self/task"))
        print("stopped")
    """)
    assert out == "stopped\n"


def test_ctrl_c_leaves_an_earlier_fit_in_place():
    out = run("""
        estimator = Isomap(n_neighbors=8).fit(small)
        before = estimator.embedding_
        interrupt_after(0.5)
        try:
            while True:
                estimator.fit(X)  # many seconds
        except KeyboardInterrupt:
            assert estimator.embedding_ is before
            assert np.array_equal(estimator.transform(small), before)
            print("kept")
    """)
    assert out == "kept\n"


def test_ctrl_c_stops_geodesic_distances_and_transform():
    out = run("""
        import planish
        for call in (
            lambda: planish.geodesic_distances(planish.neighbors_graph(X, n_neighbors=8)),
            lambda: planish.kneighbors(np.tile(X, 30), 10, algorithm="brute"),
        ):
            interrupt_after(0.5)
            try:
                while True:
                    call()
            except KeyboardInterrupt:
                assert time.monotonic() - sent < 1.0
                print("stopped")
    """)
    assert out == "stopped\nstopped\n"


def test_a_handler_that_does_not_raise_lets_the_fit_go_on():
    out = run("""
        heard = []
        signal.signal(signal.SIGINT, lambda *_: heard.append(1))
        interrupt_after(0.3)
        while not heard:
            Isomap(n_neighbors=8).fit(X[:6000])
        print(len(heard))
    """)
    assert out == "1\n"


def test_no_thread_outlives_a_call():
    out = run("""
        before = 1 + blas
        for estimator in (PCA(2), ClassicalMDS(), KernelMDS(kernel="rbf"), Isomap(n_jobs=4)):
            estimator.fit(small).transform(small)
            assert settled(before) == before, type(estimator)
        print("clean")
    """)
    assert out == "clean\n"


def test_other_python_threads_run_during_a_fit():
    stop, ticks = threading.Event(), []

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    # The longer the fit, the better it tells a held GIL from a busy machine:
    # rows are added until one takes half a second.
    n_rows, took = 4000, 0.0
    while took < 0.5:
        X = swiss_roll(n_rows)
        stop.clear()
        ticks.clear()
        thread = threading.Thread(target=tick)
        thread.start()
        start = time.monotonic()
        Isomap(n_neighbors=8, n_jobs=1).fit(X)
        end = time.monotonic()
        stop.set()
        thread.join()
        n_rows, took = 2 * n_rows, end - start
    inside = [moment for moment in ticks if start < moment < end]
    longest = max(np.diff([start, *inside, end]))
    assert longest < took / 3, f"no other thread ran for {longest:.2f} s of {took:.2f} s"


def test_fits_in_several_threads_at_once():
    X = swiss_roll(500)
    makers = [
        lambda: PCA(2).fit_transform(X),
        lambda: ClassicalMDS(metric="manhattan").fit_transform(X),
        lambda: KernelMDS(kernel="rbf").fit_transform(X),
        lambda: Isomap(n_neighbors=8).fit_transform(X),
    ] * 4
    alone = [maker() for maker in makers]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda maker: maker(), makers))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)


def test_one_fitted_estimator_serves_several_threads():
    X = swiss_roll(500)
    fitted = Isomap(n_neighbors=8).fit(X)
    expected = fitted.transform(X + 0.01)
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: fitted.transform(X + 0.01), range(8))
        assert all(np.array_equal(result, expected) for result in results)


def test_fit_after_fork():
    X = swiss_roll(400)
    fitted = Isomap(n_neighbors=8, n_jobs=2).fit(X)
    child = os.fork()
    if child == 0:
        # Only os._exit may end the child: pytest must not run twice.
        try:
            again = Isomap(n_neighbors=8, n_jobs=2).fit_transform(X)
            same = np.array_equal(again, fitted.embedding_)
            same &= np.array_equal(fitted.transform(X), fitted.embedding_)
            os._exit(0 if same else 3)
        except BaseException:
            os._exit(4)
    deadline = time.monotonic() + 30
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the fit in the child hangs")
        time.sleep(0.02)
    assert os.waitstatus_to_exitcode(status) == 0


def test_an_exception_in_the_progress_callback_stops_the_fit(monkeypatch):
    from planish import _progress

    def broken(self, stage, done, total):
        raise OSError("stderr is gone")

    monkeypatch.setattr(_progress.ProgressPrinter, "__call__", broken)
    # Progress is passed on every fifth of a second: by heap this takes seconds anywhere.
    estimator = Isomap(n_neighbors=8, path_method="D", n_jobs=1, verbose=1)
    with pytest.raises(OSError, match="stderr is gone"):
        estimator.fit(swiss_roll(8000))
    assert not hasattr(estimator, "embedding_")
