"""What `estimate_memory` says is what a fit takes."""

import json
import subprocess
import sys

import pytest

# Each fit in a process of its own, whose high-water mark is taken afresh.
MEASURE = """
import json, sys, warnings
import numpy as np
import planish

warnings.simplefilter("ignore")
name, rows, columns, parameters, *equal = json.loads(sys.argv[1])

def memory(field):
    try:
        for line in open("/proc/self/status"):
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    except OSError:  # not Linux: the high-water mark since the process began
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

def forget_earlier_peaks():
    try:
        open("/proc/self/clear_refs", "w").write("5")
    except OSError:
        pass

rng = np.random.default_rng(0)
angle = 1.5 * np.pi * (1 + 2 * rng.random(rows))
roll = [angle * np.cos(angle), 21 * rng.random(rows), angle * np.sin(angle)]
noise = list(rng.normal(size=(max(0, columns - 3), rows)))
X = np.column_stack((roll + noise)[:columns])
del roll, noise
if equal:
    X[:] = 1.0
make = lambda: getattr(planish, name)(**parameters, n_jobs=2)
make().fit(X[:300])  # modules and libraries are in memory
forget_earlier_peaks()
before = memory("VmRSS")
estimator = make().fit(X)
print(json.dumps([memory("VmHWM") - before, planish.estimate_memory(estimator, rows, columns)]))
"""

FITS = [
    ("Isomap", 7000, 3, {}),
    ("Isomap", 7000, 3, {"n_neighbors": 15, "n_components": 8}),
    ("Isomap", 10000, 3, {"storage": "float32"}),
    ("Isomap", 12000, 3, {"storage": "recompute", "n_neighbors": 10}),
    ("KernelIsomap", 4000, 3, {"constant": 100.0}),
    ("LandmarkIsomap", 100_000, 3, {}),
    ("LandmarkIsomap", 100_000, 3, {"n_neighbors": 10, "landmarks": "random"}),
    ("LandmarkMDS", 200_000, 40, {"landmarks": "random"}),
    ("LocallyLinearEmbedding", 50_000, 3, {"n_neighbors": 10}),
    ("LocallyLinearEmbedding", 50_000, 3, {"n_neighbors": 10, "method": "ltsa"}),
    ("LocallyLinearEmbedding", 50_000, 3, {"n_neighbors": 10, "method": "modified"}),
    ("LocallyLinearEmbedding", 50_000, 3, {"n_neighbors": 10, "method": "hessian"}),
    ("SpectralEmbedding", 100_000, 3, {"n_neighbors": 10}),
    ("SpectralEmbedding", 4000, 3, {"affinity": "rbf"}),
    ("DiffusionMaps", 50_000, 3, {}),
    ("DiffusionMaps", 4000, 3, {"n_neighbors": None}),
    ("ClassicalMDS", 5000, 10, {"metric": "manhattan"}),
    ("KernelMDS", 5000, 10, {"kernel": "rbf"}),
]


def measured(fit):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, json.dumps(fit)],
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )
    taken, estimate = json.loads(done.stdout)
    return taken, estimate, f"estimated {estimate / 1e6:.0f} MB, taken {taken / 1e6:.0f} MB"


@pytest.mark.parametrize(
    "fit", FITS, ids=lambda fit: "-".join([fit[0], *map(str, fit[3].values())])
)
def test_the_estimate_is_within_a_fifth(fit):
    taken, estimate, summary = measured(fit)
    assert 0.8 * taken <= estimate <= 1.2 * taken, summary


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("DiffusionMaps", {}), ("SpectralEmbedding", {"n_neighbors": 64})],
)
def test_equal_rows_take_no_more_than_others(name, parameters):
    # All have the same few rows as neighbours: a graph of hubs.
    taken, estimate, summary = measured((name, 20_000, 3, parameters, "equal"))
    assert taken <= 1.3 * estimate, summary
