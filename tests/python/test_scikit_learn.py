"""scikit-learn's own tests, from the installed scikit-learn, with planish's classes swapped in."""

import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import sklearn

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
    "test_mds.py::test_normalized_stress_auto[[]*]": (
        "looks for a call of scikit-learn's private function"
    ),
    "test_mds.py::test_returned_stress[[]*]": (
        "the map is exact: its stress is 1e-31, and the test compares the digits of that rounding"
    ),
    "test_mds.py::test_future_warning_init_and_metric": (
        "the default start is classical MDS already, so nothing will change that must be warned of"
    ),
    "test_spectral_embedding.py::test_error_pyamg_not_available": (
        "'amg' names a solver of planish, which needs no PyAMG"
    ),
    "test_spectral_embedding.py::test_spectral_eigen_tol_auto[[]*]": (
        "looks for a call of SciPy's eigensolvers, which are not used"
    ),
    "test_t_sne.py::test_non_positive_computed_distances": "the message names the pair of rows",
    "test_t_sne.py::test_verbose": "progress goes to stderr, in the same words for every estimator",
    "test_t_sne.py::test_n_iter_without_progress": "reads what is printed to stdout",
    "test_t_sne.py::test_accessible_kl_divergence": (
        "reads what is printed to stdout; `history_` has it"
    ),
    "test_t_sne.py::test_64bit[[]float64-*]": (
        "coordinates follow the precision of the data, and float64 gives float64"
    ),
    "test_t_sne.py::test_tsne_with_different_distance_metrics[[]exact-*]": (
        "compares bits of maps of float32 rows and of distances that were rounded to float32"
    ),
    "test_t_sne.py::test_tsne_with_different_distance_metrics[[]barnes_hut-cosine-*]": (
        "compares bits of maps of float32 rows and of distances that were rounded to float32"
    ),
    "test_t_sne.py::test_tsne_with_mahalanobis_distance": (
        "without V or VI the covariance is that of the data, as in every estimator here"
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


# One check in 220 combinations.
LEFT_OUT = "not test_pca_sparse"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What became of each test, and what pytest wrote."""
    path = tmp_path_factory.mktemp("swapped")
    environment = {
        **os.environ,
        "SWAPPED_OUTCOMES": str(path / "outcomes.json"),
        "SKLEARN_RUN_FLOAT32_TESTS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "swapped_sklearn"]
    command += ["-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(Path(sklearn.__file__).parent), "-k", LEFT_OUT]
    done = subprocess.run(
        [*command, "--pyargs", *RUN],
        cwd=path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode in (0, 1), output  # tests ran; some may have failed
    return json.loads((path / "outcomes.json").read_text()), output


RUN = [module for module, name in MODULES.items() if name in planish.__all__]


@needs_sklearn(1, 9, reason="the differences are listed for its tests")
@pytest.mark.parametrize("module", RUN)
def test_scikit_learns_own_tests(module, run):
    file = module.split(".")[-1] + ".py::"
    found = {name: outcome for name, outcome in run[0].items() if name.startswith(file)}
    expected = {pattern for pattern in EXPECTED if pattern.startswith(file)}
    failed = {name for name, outcome in found.items() if outcome == "failed"}
    known = {name for name in found for pattern in expected if fnmatchcase(name, pattern)}
    assert failed - known == set(), run[1]
    ran = {name for name, outcome in found.items() if outcome != "skipped"}
    assert (known & ran) - failed == set(), "these agree with scikit-learn now: take them off"
    idle = {p for p in expected if not any(fnmatchcase(name, p) for name in found)}
    assert idle == set(), "no such test"
    assert list(found.values()).count("passed") >= 2


def test_every_swapped_class_is_tested():
    import swapped_sklearn

    classes = {name for name in swapped_sklearn.swapped() if not name[0].islower()}
    assert classes <= set(MODULES.values())
