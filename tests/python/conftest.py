"""Data sets and comparisons the tests share."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections import Counter

import hypothesis
import numpy as np
import pytest
import sklearn
from scipy.linalg import subspace_angles
from scipy.spatial.distance import pdist, squareform

# Examples are drawn the same way each time: a failure in one run is a failure in all.
hypothesis.settings.register_profile("planish", deadline=None, derandomize=True)
hypothesis.settings.load_profile("planish")

# scikit-learn's battery checks array API input only when SciPy is told to support it.
os.environ["SCIPY_ARRAY_API"] = "1"

# Pictures are drawn into memory, with or without a display.
os.environ["MPLBACKEND"] = "Agg"

#: A browser and its driver, as Debian and others name them.
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")
#: Tests that need something that may not be there: what is missing, and what is then not tested.
NOT_TESTED = {}
if not (BROWSER and DRIVER):
    NOT_TESTED["test_plot_browser.py"] = (
        "planish.plot.page in a browser", "there is no chromium with chromedriver"
    )  # fmt: skip
for file, tested, modules in (
    ("test_anndata.py", "planish.anndata", ("anndata",)),
    ("test_scanpy.py", "planish.anndata with scanpy", ("anndata", "scanpy", "igraph")),
    ("test_recipes.py", "the recipes", ("anndata", "duckdb")),
    ("test_spark.py", "the recipe for Spark", ("pyspark",)),
):
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    if file == "test_spark.py" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        absent.append("a Java")
    if absent:
        NOT_TESTED[file] = (tested, f"{', '.join(absent)} is not installed")
if sys.platform == "win32":
    for file, tested in (
        ("test_cli_process.py", "the command line on a terminal"),
        ("test_interrupt.py", "Ctrl-C"),
    ):
        NOT_TESTED[file] = (tested, "the tests send signals as Unix does")
collect_ignore = list(NOT_TESTED)
#: What tests have to report at the end.
REPORTS = []


def pytest_collection_modifyitems(config, items):
    """Leave out what is marked with `linux` on other systems."""
    if sys.platform == "linux":
        return
    left_out = [item for item in items if item.get_closest_marker("linux")]
    for file, count in Counter(item.path.name for item in left_out).items():
        NOT_TESTED[file] = (f"{count} tests marked with linux", "this is another system")
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter):
    for file, (tested, reason) in NOT_TESTED.items():
        terminalreporter.write_line(f"NOT TESTED: {tested} ({file}), because {reason}.")
    for report in REPORTS:
        terminalreporter.write_line(report)


SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def needs_sklearn(*version, reason):
    """Skip with a scikit-learn older than this, which cannot do what the test compares with."""
    wanted = ".".join(map(str, version))
    return pytest.mark.skipif(version > SKLEARN, reason=f"scikit-learn >= {wanted}: {reason}")


def swiss_roll(n, seed=0):
    """The points of a Swiss roll."""
    return rolled(n, seed)[0]


def up_to_sign(a, b):
    """b with each column's sign turned to agree with a."""
    signs = np.sign(np.einsum("ij,ij->j", a, b))
    return b * np.where(signs == 0, 1, signs)


def assert_same_columns(ours, theirs, rtol=1e-7):
    """Equal up to the sign of each column, relative to the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    scale = np.abs(theirs).max()
    assert scale > 0
    np.testing.assert_allclose(up_to_sign(theirs, ours), theirs, rtol=0, atol=rtol * scale)


@pytest.fixture(scope="session")
def roll():
    return swiss_roll(400)


@pytest.fixture
def blob():
    return np.random.default_rng(3).normal(size=(60, 5)) * [5, 4, 3, 2, 1]


@pytest.fixture
def two_islands():
    """Two groups of 20 rows far apart: rows 0-19 and 20-39."""
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 100.0])


def rolled(n, seed=0):
    """A Swiss roll with its true coordinates: arc length and height."""
    rng = np.random.default_rng(seed)
    angle = 1.5 * np.pi * (1 + 2 * rng.random(n))
    height = 21 * rng.random(n)
    length = 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))
    points = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    return points, np.column_stack([length, height])


def affine_residual(Y, truth, new=None):
    """Relative residual of the best affine map from an embedding to the truth.

    With `new`, a pair of coordinates and truth of other rows: theirs under that map.
    """
    solution = np.linalg.lstsq(np.column_stack([Y, np.ones(len(Y))]), truth, rcond=None)[0]
    Y, truth = (Y, truth) if new is None else new
    rest = truth - np.column_stack([Y, np.ones(len(Y))]) @ solution
    return float(np.linalg.norm(rest) / np.linalg.norm(truth - truth.mean(axis=0)))


def centring(n):
    """The matrix that subtracts the mean."""
    return np.eye(n) - 1.0 / n


def kernel_prime(D, c):
    """The kernel of geodesic distances to which the constant c is added, centred."""
    H = centring(len(D))
    return -0.5 * H @ D**2 @ H - c * H @ D @ H + 0.5 * c**2 * H


def angle(A, B):
    """The largest angle between the spaces that two sets of columns span."""
    return float(subspace_angles(A, B).max())


def strip(n, seed=0):
    """A bent strip with clearly distinct eigenvalues, and its flat coordinates."""
    rng = np.random.default_rng(seed)
    flat = rng.random((n, 2)) * [3.0, 1.0]
    return np.column_stack([np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]]), flat


def cycle(n):
    """The affinities of a cycle of n nodes."""
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


def symmetric_rbf(X, gamma):
    # scikit-learn's kernel is symmetric only up to rounding.
    return np.exp(-gamma * squareform(pdist(X, "sqeuclidean")))
