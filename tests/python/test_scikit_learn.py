"""scikit-learn's own tests, from the installed scikit-learn, with planish's classes swapped in."""

import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import planish
from conftest import needs_sklearn

HERE = Path(__file__).parent

# Test module -> the class it is about; run once planish exports that class.
MODULES = {
    "sklearn.manifold.tests.test_classical_mds": "ClassicalMDS",
    "sklearn.manifold.tests.test_isomap": "Isomap",
    "sklearn.manifold.tests.test_locally_linear": "LocallyLinearEmbedding",
    "sklearn.manifold.tests.test_mds": "MDS",
    "sklearn.manifold.tests.test_spectral_embedding": "SpectralEmbedding",
    "sklearn.manifold.tests.test_t_sne": "TSNE",
    "sklearn.decomposition.tests.test_pca": "PCA",
}

# Tests that fail because planish answers differently on purpose, and why.
EXPECTED = {
    "test_locally_linear.py::test_singular_matrix": (
        "equal rows are embedded at one point with a warning; there the solver fails"
    ),
    "test_spectral_embedding.py::test_error_pyamg_not_available": (
        "'amg' names a solver of planish, which needs no PyAMG"
    ),
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[[]*]": (
        "looks for a call of SciPy's eigensolvers, which are not used"
    ),
    "test_pca.py::test_sparse_pca_solver_error[[]*]": "every solver takes sparse data",
    "test_pca.py::test_pca_validation[[]auto-3-*]": (
        "components are between 1 and min(n_samples, n_features), and the message says so"
    ),
    "test_pca.py::test_n_components_mle_error[[]*]": (
        "the message names the solvers that can do it instead of the one that cannot"
    ),
    "test_pca.py::test_pca_score[[]*]": "the likelihood describes the data, whitened or not",
    "test_pca.py::test_pca_score3": "n_components=0 is refused",
    "test_pca.py::test_pca_zero_noise_variance_edge_cases[[]*]": (
        "a singular covariance has no likelihood; an error says so"
    ),
    "test_pca.py::test_pca_svd_solver_auto[[]*]": (
        "reads a private attribute, and solvers are chosen by other costs"
    ),
    "test_pca.py::test_pca_dtype_preservation[[]*]": (
        "fitted attributes are float64 whatever the data, as documented; coordinates follow it"
    ),
}


def outcomes(module, path):
    """Run a test module of scikit-learn; what became of each test."""
    environment = {
        **os.environ,
        "SWAPPED_OUTCOMES": str(path / "outcomes.json"),
        "SKLEARN_RUN_FLOAT32_TESTS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(path)]
    command += ["-p", "swapped_sklearn", "-p", "no:cacheprovider", "--pyargs", module]
    run = subprocess.run(
        command, cwd=path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr  # tests ran; some may have failed
    found = json.loads((path / "outcomes.json").read_text())
    file = module.split(".")[-1] + ".py"
    return {f"{file}::{name}": outcome for name, outcome in found.items()}, run.stdout


@needs_sklearn(1, 9, reason="the differences are listed for its tests")
@pytest.mark.parametrize("module", [m for m, name in MODULES.items() if name in planish.__all__])
def test_scikit_learns_own_tests(module, tmp_path):
    found, output = outcomes(module, tmp_path)
    expected = {p for p in EXPECTED if p.startswith(module.split(".")[-1] + ".py::")}
    failed = {name for name, outcome in found.items() if outcome == "failed"}
    known = {name for name in found for pattern in expected if fnmatchcase(name, pattern)}
    assert failed - known == set(), output
    ran = {name for name, outcome in found.items() if outcome != "skipped"}
    assert (known & ran) - failed == set(), "these agree with scikit-learn now: take them off"
    idle = {p for p in expected if not any(fnmatchcase(name, p) for name in found)}
    assert idle == set(), "no such test"
    assert list(found.values()).count("passed") >= 2


def test_every_swapped_class_is_tested():
    import swapped_sklearn

    classes = {name for name in swapped_sklearn.swapped() if not name[0].islower()}
    assert classes <= set(MODULES.values())
