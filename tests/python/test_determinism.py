"""The same bits, whatever the threads, the run, the process and the batch."""

import hashlib
import inspect
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import planish
from conftest import swiss_roll
from planish import (
    PCA,
    ClassicalMDS,
    DiffusionMaps,
    Isomap,
    KernelIsomap,
    KernelMDS,
    LandmarkIsomap,
    LandmarkMDS,
    LocallyLinearEmbedding,
    SpectralEmbedding,
)

POINTS = swiss_roll(700, seed=2)
WIDE = np.random.default_rng(0).normal(size=(300, 40))
# What scikit-learn returns is symmetric only up to rounding, and would be corrected.
KERNEL = rbf_kernel(POINTS, gamma=0.01)

CASES = {
    "PCA": (PCA(2), POINTS),
    "PCA full": (PCA(5, svd_solver="full"), WIDE),
    "PCA covariance": (PCA(5, svd_solver="covariance_eigh", whiten=True), WIDE),
    "PCA randomized": (PCA(5, svd_solver="randomized"), WIDE),
    "PCA sparse": (PCA(4), sparse.random(400, 50, density=0.1, format="csr", random_state=0)),
    "ClassicalMDS": (ClassicalMDS(2), POINTS),
    "ClassicalMDS manhattan": (ClassicalMDS(2, metric="manhattan"), POINTS),
    "ClassicalMDS canberra": (ClassicalMDS(2, metric="canberra"), POINTS[:200]),
    "ClassicalMDS precomputed": (ClassicalMDS(2, metric="precomputed"), squareform(pdist(POINTS))),
    "KernelMDS linear": (KernelMDS(3), WIDE),
    "KernelMDS rbf": (KernelMDS(3, kernel="rbf", gamma=0.01), POINTS),
    "KernelMDS cosine": (KernelMDS(3, kernel="cosine"), WIDE),
    "KernelMDS poly": (KernelMDS(3, kernel="poly", gamma=0.01), WIDE),
    "KernelMDS laplacian": (KernelMDS(3, kernel="laplacian", gamma=0.01), WIDE),
    "KernelMDS precomputed": (KernelMDS(3, kernel="precomputed"), KERNEL + KERNEL.T),
    "Isomap": (Isomap(n_neighbors=8), POINTS),
    "Isomap brute": (Isomap(n_neighbors=8, neighbors_algorithm="brute"), WIDE),
    "Isomap radius": (Isomap(n_neighbors=None, radius=6.0), POINTS),
    "Isomap Dijkstra": (Isomap(n_neighbors=8, path_method="D"), POINTS),
    "Isomap Floyd-Warshall": (Isomap(n_neighbors=8, path_method="FW"), POINTS[:300]),
    "Isomap sweep": (Isomap(n_neighbors=8, path_method="sweep"), POINTS),
    "Isomap dense": (Isomap(n_neighbors=8, eigen_solver="dense"), POINTS[:300]),
    "Isomap cosine": (Isomap(n_neighbors=9, metric="cosine"), WIDE),
    "Isomap canberra": (Isomap(n_neighbors=15, metric="canberra"), WIDE),
    "Isomap precomputed": (Isomap(n_neighbors=8, metric="precomputed"), squareform(pdist(POINTS))),
    "Isomap conformal": (Isomap(n_neighbors=8, conformal=True), POINTS),
    "Isomap recomputed": (Isomap(n_neighbors=8, storage="recompute"), POINTS),
    "Isomap single": (Isomap(n_neighbors=8, storage="float32"), POINTS),
    "KernelIsomap": (KernelIsomap(n_neighbors=8), POINTS),
    "LandmarkIsomap": (LandmarkIsomap(n_neighbors=8, n_landmarks=50), POINTS),
    "LandmarkIsomap random": (
        LandmarkIsomap(n_neighbors=8, n_landmarks=50, landmarks="random", path_method="batch"),
        POINTS,
    ),
    "LandmarkMDS": (LandmarkMDS(n_landmarks=50), POINTS),
    "LandmarkMDS hierarchical": (
        LandmarkMDS(n_landmarks=50, landmarks="hierarchical", metric="manhattan"),
        WIDE,
    ),
    "LandmarkMDS metricmap": (LandmarkMDS(n_landmarks=50, algorithm="metricmap"), WIDE),
    "LandmarkMDS canberra": (LandmarkMDS(n_landmarks=50, metric="canberra"), POINTS[:200]),
    **{
        f"LLE {method}": (LocallyLinearEmbedding(n_neighbors=10, method=method), POINTS)
        for method in ("standard", "modified", "hessian", "ltsa")
    },
    "LLE nonnegative": (LocallyLinearEmbedding(n_neighbors=10, nonnegative=True), POINTS),
    "LLE radius": (LocallyLinearEmbedding(n_neighbors=None, radius=6.0, method="ltsa"), POINTS),
    "LLE dense": (LocallyLinearEmbedding(n_neighbors=10, eigen_solver="dense"), POINTS[:300]),
    "LLE iterative": (
        LocallyLinearEmbedding(n_neighbors=10, method="ltsa", eigen_solver="iterative"),
        POINTS,
    ),
    "LLE wide": (LocallyLinearEmbedding(n_neighbors=12, method="ltsa"), WIDE),
    "LLE canberra": (LocallyLinearEmbedding(n_neighbors=12, metric="canberra"), POINTS[:200]),
    "LLE precomputed": (
        LocallyLinearEmbedding(n_neighbors=10, metric="precomputed"),
        squareform(pdist(POINTS)),
    ),
    "LLE duplicates": (LocallyLinearEmbedding(n_neighbors=10), np.repeat(POINTS[:300], 2, axis=0)),
    "LLE hessian auto": (LocallyLinearEmbedding(n_neighbors="auto", method="hessian"), POINTS),
    "SpectralEmbedding": (SpectralEmbedding(n_neighbors=10), POINTS),
    "SpectralEmbedding heat": (SpectralEmbedding(n_neighbors=10, weights="heat"), POINTS),
    "SpectralEmbedding low degrees": (
        SpectralEmbedding(n_neighbors=10, weights="heat", bandwidth=0.3),
        np.random.default_rng(1).normal(size=(600, 10)),
    ),
    "SpectralEmbedding rbf": (SpectralEmbedding(affinity="rbf", gamma=0.01), POINTS[:300]),
    "SpectralEmbedding precomputed": (
        SpectralEmbedding(affinity="precomputed"),
        KERNEL + KERNEL.T,
    ),
    "DiffusionMaps": (DiffusionMaps(), POINTS),
    "DiffusionMaps dense": (DiffusionMaps(n_neighbors=None, epsilon=4.0, t=2), POINTS[:300]),
    "DiffusionMaps precomputed": (
        DiffusionMaps(metric="precomputed"),
        squareform(pdist(POINTS)),
    ),
    "Isomap float32": (Isomap(n_neighbors=8), POINTS.astype(np.float32)),
}

pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def case(request):
    estimator, X = CASES[request.param]
    return clone(estimator), X


def test_any_number_of_threads_and_any_run(case):
    estimator, X = case
    runs = [clone(estimator).set_params(n_jobs=jobs).fit(X) for jobs in (1, 2, 4, 1)]
    first = runs[0].transform(X)
    for other in runs[1:]:
        assert np.array_equal(other.transform(X), first)
        assert np.array_equal(other.eigenvalues_, runs[0].eigenvalues_)


def test_training_rows_get_their_coordinates_back(case):
    estimator, X = case
    fitted = estimator.fit_transform(X)
    assert np.array_equal(estimator.transform(X), fitted)
    some = slice(3, 90, 7)
    assert np.array_equal(estimator.transform(X[some]), fitted[some])


def test_row_by_row_is_the_batch(case):
    estimator, X = case
    estimator.fit(X)
    new = X[:12] * 1.01  # also for distances and kernels: other rows, same width
    together = estimator.transform(new)
    alone = np.vstack([estimator.transform(new[i : i + 1]) for i in range(12)])
    assert np.array_equal(alone, together)
    assert np.array_equal(estimator.set_params(n_jobs=4).transform(new), together)


def test_precomputed_new_rows_by_row(roll):
    D = squareform(pdist(roll))
    new = cdist(roll[:10] + 0.2, roll)
    for estimator in (ClassicalMDS(metric="precomputed"), Isomap(metric="precomputed")):
        estimator.fit(D)
        alone = np.vstack([estimator.transform(row[None]) for row in new])
        assert np.array_equal(alone, estimator.transform(new))


def digest():
    """One number for the bits of every case."""
    total = hashlib.sha256()
    for estimator, X in CASES.values():
        total.update(clone(estimator).fit_transform(X).tobytes())
    return total.hexdigest()


def test_other_processes():
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from test_determinism import digest; print(digest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=__file__.rsplit("/", 1)[0],
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )
    assert run.stdout.strip() == digest()


def test_layout_does_not_matter(roll):
    wide = np.zeros((len(roll), 6))
    wide[:, ::2] = roll
    frozen = roll.copy()
    frozen.flags.writeable = False
    for estimator in (PCA(2), ClassicalMDS(), KernelMDS(kernel="rbf"), Isomap(n_neighbors=8)):
        expected = clone(estimator).fit_transform(roll)
        for same in (np.asfortranarray(roll), wide[:, ::2], frozen, roll[::-1][::-1]):
            assert np.array_equal(clone(estimator).fit_transform(same), expected)


def test_neighbours_and_paths(roll):
    for jobs in (2, 4):
        for ours, again in zip(
            planish.kneighbors(roll, 7, n_jobs=1),
            planish.kneighbors(roll, 7, n_jobs=jobs),
            strict=True,
        ):
            assert np.array_equal(ours, again)
    graph = planish.neighbors_graph(roll, n_neighbors=7)
    paths = [planish.geodesic_distances(graph, n_jobs=jobs) for jobs in (1, 2, 4)]
    assert np.array_equal(paths[0], paths[1])
    assert np.array_equal(paths[0], paths[2])


MEASURED = {
    name: cls
    for name in planish.__all__
    if isinstance(cls := getattr(planish, name), type)
    and {"metric", "n_components"} <= set(inspect.signature(cls).parameters)
}


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@pytest.mark.parametrize("metric", ["sqeuclidean", "nan_euclidean"])
@pytest.mark.parametrize("name", sorted(MEASURED))
def test_no_digits_are_lost_far_from_the_origin(name, metric, blob):
    new = blob[:9] + 0.3
    near, far = (MEASURED[name](metric=metric).fit(blob + offset) for offset in (0.0, 1e6))
    signs = np.sign((near.embedding_ * far.embedding_).sum(axis=0))
    size = np.abs(near.embedding_).max()
    # Rounded to the spacing of numbers there, 1e-10, rows are a little elsewhere; not more.
    np.testing.assert_allclose(far.embedding_ * signs, near.embedding_, rtol=0, atol=1e-8 * size)
    for fitted, rows in ((near, new), (far, new + 1e6)):
        together = fitted.transform(rows)
        alone = np.vstack([fitted.transform(row[None]) for row in rows])
        np.testing.assert_allclose(alone, together, rtol=0, atol=1e-9 * size)
