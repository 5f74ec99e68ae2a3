"""What a user does first, with nothing but planish and its runtime dependencies.

    python smoke.py [--exact VERSION]

Every method fits the same roll, is stored and restored, and places new rows. The script is
run outside the source tree in an environment that holds the wheel (or what was built from
the sdist) and what it depends on; it says so where that is not the case.
"""

import argparse
import importlib.util
import pickle
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

import planish

TEST_TOOLS = ("pytest", "hypothesis", "matplotlib", "plotly", "pandas", "polars", "maturin")
PARAMETERS = {"n_components": 2, "n_neighbors": 8, "random_state": 0}


def check(fact, fault):
    """Leave with a sentence unless the fact holds."""
    if not fact:
        sys.exit(f"smoke test: {fault}")


def installed(version):
    """planish as a user gets it: from site-packages, whole, with nothing else around it."""
    folder = Path(planish.__file__).resolve().parent
    check("site-packages" in folder.parts, f"planish is imported from {folder}")
    check((folder / "py.typed").is_file(), "py.typed is not there")
    check(version in (None, planish.__version__), f"it is version {planish.__version__}")
    for tool in TEST_TOOLS:
        check(importlib.util.find_spec(tool) is None, f"{tool} is installed too")
    notices = [str(file) for file in metadata.files("planish") if "THIRD-PARTY" in str(file)]
    check(notices, "the third-party notices are not there")


def free_threaded():
    """On a Python without a global lock, the extension does not bring the lock back."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        look = "import sys, planish._core; sys.exit(sys._is_gil_enabled())"
        done = subprocess.run([sys.executable, "-I", "-c", look], check=False)
        check(done.returncode == 0, "importing the extension turns the global lock on")


def estimators():
    """Every estimator class that makes coordinates, by name."""
    public = {name: getattr(planish, name) for name in planish.__all__}
    return {
        name: found
        for name, found in sorted(public.items())
        if isinstance(found, type)
        and issubclass(found, BaseEstimator)
        and found is not planish.KNeighborsTransformer
    }


def made(kind):
    """An estimator with the parameters it has of those above."""
    if kind is planish.KernelMap:
        return kind(planish.PCA(n_components=2))
    known = kind().get_params()
    return kind(**{name: value for name, value in PARAMETERS.items() if name in known})


def try_estimator(name, kind, X):
    """Fit, store in both ways, restore, transform."""
    began = time.perf_counter()
    new = X[:5] + 0.01
    estimator = made(kind).fit(X)
    placed = pickle.loads(pickle.dumps(estimator)).transform(new)
    check(placed.shape == (len(new), 2), f"{name} gives {placed.shape}")
    check(np.isfinite(placed).all(), f"{name} gives numbers that are not finite")
    check(np.array_equal(placed, estimator.transform(new)), f"{name} is not the same restored")
    with tempfile.TemporaryDirectory() as folder:
        estimator.save(Path(folder) / "model")
        again = planish.load(Path(folder) / "model").transform(new)
    check(np.array_equal(placed, again), f"{name} is not the same from its file")
    print(f"  {name:24s} {time.perf_counter() - began:6.2f} s")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--exact", help="the version that must be installed")
    chosen = options.parse_args()
    installed(chosen.exact)
    free_threaded()
    X, _ = planish.datasets.swiss_roll(300, random_state=0)
    print(f"planish {planish.__version__} on Python {sys.version.split()[0]}, {sys.platform}")
    kinds = estimators()
    check(len(kinds) > 10, f"only {len(kinds)} estimators are there")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, kind in kinds.items():
            try_estimator(name, kind, X)
    roll, _ = planish.datasets.swiss_roll(1000, random_state=0)
    flat = planish.Isomap(n_neighbors=10).fit_transform(roll)
    trust = planish.quality.trustworthiness(roll, flat)
    check(trust > 0.99, f"Isomap of a Swiss roll has trustworthiness {trust}")
    try:
        planish.Isomap(n_neighbors=0).fit(X)
    except ValueError:
        pass
    else:
        check(False, "n_neighbors=0 was accepted")
    print(f"{len(kinds)} estimators work.")


if __name__ == "__main__":
    main()
