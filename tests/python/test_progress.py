"""Progress: a bar on a terminal, lines in a log, scikit-learn's callbacks, no standstill."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import planish
from conftest import needs_sklearn, swiss_roll
from planish import TSNE, Isomap, KernelMap, _progress
from planish._progress import ProgressBar, ProgressPrinter, display

# So few points of a roll have shortcuts.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")

# A stage that does not move for so long stands still, if it is also this share of the fit:
# on a busy machine everything takes longer.
STANDSTILL, SHARE = 0.6, 0.3
# A fit that takes at least so long is worth looking at.
LONG = 1.5


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_with_stage_share_rate_and_time_left(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = display(1, "Isomap.fit")
    assert isinstance(bar, ProgressBar)
    for done in (0, 1000, 2000):
        bar("shortest paths", done, 4000)
        time.sleep(0.02)
    shown = screen.getvalue().split("\r")[-1]
    assert "Isomap.fit: shortest paths  50 %|" in shown
    assert "2.00k/4.00k" in shown
    assert "<" in shown.split("[")[1]
    assert "/s]" in shown
    bar("eigenvectors", 7, 0)
    assert "-" not in screen.getvalue()  # no rate below zero
    unknown = screen.getvalue().split("\r")[-1]
    assert "eigenvectors 7" in unknown
    assert "%" not in unknown
    bar.finish()
    assert screen.getvalue().endswith("s)\n")
    assert "[planish] Isomap.fit: done (" in screen.getvalue()


def test_with_2_the_bar_of_every_stage_stays(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = display(2, "Isomap.fit")
    bar("neighbours", 50, 100)
    bar("shortest paths", 5, 10)
    bar.finish()
    lines = screen.getvalue().replace("\r", "\n").split("\n")
    assert any("neighbours 100 %" in line for line in lines)


def test_a_bar_leaves_no_thread_behind(monkeypatch):
    before = threading.active_count()
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = display(1, "Isomap.fit")
    bar("neighbours", 1, 10)
    assert threading.active_count() == before
    bar.abandon()


def test_a_bar_that_ctrl_c_ends_while_it_is_made_goes_away_in_silence(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tqdm.std.tqdm.refresh", interrupted)
    bar = display(1, "Isomap.fit")
    with pytest.raises(KeyboardInterrupt):
        bar("neighbours", 1, 10)
    del bar
    gc.collect()
    assert told == []


def test_a_log_gets_a_line_every_few_seconds(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    printer = ProgressPrinter("Isomap.fit", 3.0)
    for step in range(100):
        printer("shortest paths", 10 * step, 2000)
        now[0] += 0.125
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    assert lines[1] == "[planish] Isomap.fit: shortest paths 12 %, 80/s, 22 s left (3.0 s)"


def test_a_closed_stderr_is_a_log(monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    assert isinstance(display(1, "x"), ProgressPrinter)
    monkeypatch.setattr(sys, "stderr", None)
    assert isinstance(display(1, "x"), ProgressPrinter)
    assert display(0, "x") is None


def test_verbose_on_a_real_terminal_draws_a_bar():
    pty = pytest.importorskip("pty")
    code = (
        "import numpy as np, planish\n"
        "t = np.linspace(5, 14, 4000)\n"
        "height = 20 * np.random.default_rng(0).random(4000)\n"
        "X = np.column_stack([t * np.cos(t), height, t * np.sin(t)])\n"
        "planish.Isomap(n_neighbors=8, path_method='D', n_jobs=1, verbose=1).fit(X)\n"
    )
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env=os.environ)
    os.close(theirs)
    read = b""
    with contextlib.suppress(OSError):  # the terminal is gone when the child is
        while part := os.read(ours, 4096):
            read += part
    assert child.wait() == 0
    text = read.decode()
    assert "Isomap.fit: shortest paths" in text
    assert "%|" in text
    # the bar is wiped before the last line
    assert text.rstrip().split("\r")[-1].startswith("[planish] Isomap.fit: done (")


# -- no stage stands still ---------------------------------------------------------------


def watched(estimator, X):
    """The reports of a fit, and how long it took."""
    seen, start = [], time.monotonic()

    def sink(stage, done, total):
        seen.append((time.monotonic() - start, stage, done, total))

    estimator._progress = lambda *_: contextlib.nullcontext(sink)
    estimator.fit(X)
    return time.monotonic() - start, seen


JOBS = {
    "ClassicalMDS": (planish.ClassicalMDS, {"metric": "manhattan"}, 3000, 3),
    "DiffusionMaps": (planish.DiffusionMaps, {}, 8000, 3),
    "Isomap": (Isomap, {"n_neighbors": 8}, 4000, 3),
    "Isomap, heap": (Isomap, {"n_neighbors": 8, "path_method": "D"}, 3000, 3),
    "Isomap, Floyd": (Isomap, {"n_neighbors": 8, "path_method": "FW"}, 1200, 3),
    "Isomap, recomputed": (Isomap, {"n_neighbors": 8, "storage": "recompute"}, 3000, 3),
    "Isomap, many features": (Isomap, {"n_neighbors": 8}, 3000, 200),
    "KernelIsomap": (planish.KernelIsomap, {"n_neighbors": 8}, 2000, 3),
    "KernelMDS": (planish.KernelMDS, {"kernel": "rbf"}, 3000, 3),
    "LandmarkIsomap": (planish.LandmarkIsomap, {"n_neighbors": 8}, 30000, 3),
    "LandmarkMDS": (planish.LandmarkMDS, {}, 50000, 20),
    "LLE": (planish.LocallyLinearEmbedding, {"n_neighbors": 10}, 20000, 3),
    "LLE, iterative": (
        planish.LocallyLinearEmbedding,
        {"n_neighbors": 10, "eigen_solver": "iterative"},
        4000,
        3,
    ),
    "LLE, ten dimensions": (planish.LocallyLinearEmbedding, {"n_neighbors": 12}, 4000, 10),
    "MDS": (planish.MDS, {}, 2500, 3),
    "MDS, ranks": (planish.MDS, {"metric_mds": False}, 1200, 3),
    "PCA": (planish.PCA, {"n_components": 2}, 20000, 300),
    "SammonMapping": (planish.SammonMapping, {}, 2000, 3),
    "SpectralEmbedding": (planish.SpectralEmbedding, {}, 5000, 3),
    "TSNE": (TSNE, {}, 3000, 3),
}


def test_every_registered_method_is_looked_at():
    looked_at = {made.__name__ for made, *_ in JOBS.values()}
    assert looked_at == set(planish._core.methods())


def grown(n, features):
    rng = np.random.default_rng(0)
    if features == 10:
        return rng.normal(size=(n, 10))
    X = swiss_roll(n)
    if features == 3:
        return X
    return X @ rng.normal(size=(3, features)) + 0.01 * rng.normal(size=(n, features))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("job", JOBS)
def test_no_stage_stands_still(job):
    made, params, n, features = JOBS[job]
    taken, seen = 0.0, []
    for _ in range(4):
        taken, seen = watched(made(n_jobs=1, **params), grown(n, features))
        if taken >= LONG:
            break
        n = int(n * min(2.0, (1.5 * LONG / taken) ** 0.6 + 0.1))
    assert all(done <= total or total == 0 for _, _, done, total in seen)
    assert all(stage for _, stage, _, _ in seen[1:]), "work before the first stage"
    longest, since, before = 0.0, 0.0, None
    for moment, *now in [*seen, (taken, "", 0, 0)]:
        if now != before:
            if before is not None:
                longest = max(longest, moment - since - 0.2)
            since, before = moment, now
    assert longest <= max(STANDSTILL, SHARE * taken), (longest, taken, seen)


# -- scikit-learn's callbacks ------------------------------------------------------------

with_callbacks = needs_sklearn(1, 9, reason="it has no callbacks")


class Recorder:
    """Writes down what it is called with."""

    max_propagation_depth = None

    def __init__(self, fail=None):
        self.calls, self.fail = [], fail

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name, context.max_subtasks))
        if context.task_name == self.fail:
            raise RuntimeError("enough")

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.calls.append(("end", context.task_name, fitted_estimator is not None))


def long_fit():
    return Isomap(n_neighbors=8, path_method="D", n_jobs=1)


@with_callbacks
def test_a_fit_is_a_task_and_its_stages_are_tasks_within():
    recorder = Recorder()
    X = swiss_roll(4000)
    model = long_fit().set_callbacks(recorder).fit(X)
    calls = recorder.calls
    assert calls[0] == ("setup", "fit")
    assert calls[1] == ("begin", "fit", None)
    assert calls[-2:] == [("end", "fit", True), ("teardown", "fit")]
    assert ("begin", "shortest paths", 100) in calls
    parts = calls.count(("begin", "shortest paths", 0))
    assert 20 <= parts <= 100
    begun = [name for what, name, *_ in calls if what == "begin"]
    ended = [name for what, name, *_ in calls if what == "end"]
    assert sorted(begun) == sorted(ended)
    assert np.array_equal(model.embedding_, long_fit().fit_transform(X))
    assert not [name for name in vars(model) if "callback" in name and name != "_skl_callbacks"]


@with_callbacks
def test_an_exception_of_a_callback_stops_the_fit_and_leaves_nothing():
    recorder = Recorder(fail="shortest paths")
    model = long_fit().set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(swiss_roll(4000))
    assert recorder.calls[-1] == ("teardown", "fit")
    assert [name for name in vars(model) if name.endswith("_")] == []


@with_callbacks
def test_a_pipeline_hands_its_callbacks_on():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    recorder = Recorder()
    pipeline = make_pipeline(StandardScaler(), Isomap(n_neighbors=8)).set_callbacks(recorder)
    pipeline.fit(swiss_roll(300))
    assert recorder.calls.count(("setup", "fit")) == 1
    assert recorder.calls.count(("teardown", "fit")) == 1
    assert ("end", "fit", True) in recorder.calls
    assert not hasattr(pipeline[-1], "_parent_callback_ctx")


@with_callbacks
def test_scikit_learns_own_bar_shows_the_stages(capsys):
    from sklearn.callback import ProgressBar as RichBar

    long_fit().set_callbacks(RichBar()).fit(swiss_roll(4000))
    shown = capsys.readouterr().out
    assert "Isomap - fit" in shown
    assert "Isomap - shortest paths" in shown
    KernelMap(planish.PCA(n_components=2)).set_callbacks(RichBar()).fit(swiss_roll(200))
    assert "KernelMap - fit" in capsys.readouterr().out


def test_without_callbacks_in_scikit_learn_everything_else_is_the_same():
    code = (
        "import sys\n"
        "sys.modules['sklearn.callback'] = None\n"
        "from planish._callbacks import CallbackSupport\n"
        "assert CallbackSupport.__module__ == 'planish._callbacks'\n"
        "class Estimator(CallbackSupport):\n"
        "    pass\n"
        "from planish._callbacks import FitTasks\n"
        "tasks = FitTasks(Estimator(), None)\n"
        "assert tasks.report is None\n"
        "tasks.end()\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
