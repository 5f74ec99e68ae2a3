"""What is compared: one declaration a job, read by `compare.py` and `measure.py`.

To add a job, add an entry to ``JOBS``: its data, one engine per library, the
quality measure and the targets. Nothing else has to be touched.
"""

from __future__ import annotations

import importlib
import inspect
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import targets
from targets import Target

Fit = Callable[[], Any]
"""The timed part: no arguments, returns what `quality.Result` is made of."""
Engine = Callable[[Any, int], Fit]
"""Given the data and the number of threads, imports what it needs and returns the fit."""


@dataclass(frozen=True)
class Job:
    """One line of the table per number of threads."""

    name: str
    title: str
    data: tuple[Any, ...]
    """Name of a function of `data.py`, then its arguments."""
    engines: Mapping[str, Engine]
    measure: str
    """Name of a `Measure` of `quality.py`."""
    quick: tuple[Any, ...]
    """The smaller data of ``--quick``."""
    targets: tuple[Target, ...] = ()
    fits: int = 1
    """Fits per process; the median is taken. More than one only where a fit is short."""
    once: tuple[str, ...] = ()
    """Engines that are measured once only: fits of minutes."""
    patience: Mapping[str, int] = field(default_factory=dict)
    """Seconds after which an engine's fit is stopped; what it took is then known from below."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Engines that cannot run the job, and why."""


@dataclass(frozen=True)
class ImportJob:
    """Time of a first import in a fresh interpreter."""

    name: str
    title: str
    statements: Mapping[str, str]
    targets: tuple[Target, ...] = ()
    repeats: int = 9


def estimator(module: str, name: str, **parameters: Any) -> Engine:
    """The engine that calls ``fit_transform`` of an estimator."""

    def prepare(x: Any, threads: int) -> Fit:
        kind = getattr(importlib.import_module(module), name)
        if "n_jobs" in inspect.signature(kind).parameters:
            model = kind(**parameters, n_jobs=threads)
        else:
            model = kind(**parameters)
        return lambda: {"embedding": model.fit_transform(x), "model": model}

    return prepare


def tapkee(method: str, **parameters: Any) -> Engine:
    """The engine that calls ``tapkee.embed``, which wants features x samples."""

    def prepare(x: Any, threads: int) -> Fit:
        del threads  # tapkee takes its number of threads from OMP_NUM_THREADS
        embed = importlib.import_module("tapkee").embed
        # C-ordered rows seen as Fortran-ordered columns: no copy to pay for
        return lambda: {"embedding": embed(x.T, method=method, **parameters)}

    return prepare


def pydiffmap(x: Any, threads: int) -> Fit:
    """Diffusion maps by pyDiffMap on 64 neighbours, its bandwidth chosen by itself."""
    del threads  # its neighbours are searched on one thread
    kind = importlib.import_module("pydiffmap.diffusion_map").DiffusionMap
    model = kind.from_sklearn(n_evecs=2, alpha=1.0, k=64, epsilon="bgh")
    return lambda: {"embedding": model.fit_transform(x)}


def planish_neighbors(x: Any, threads: int) -> Fit:
    """Exact neighbours by planish."""
    function = importlib.import_module("planish").kneighbors
    return lambda: {"neighbors": function(x, n_neighbors=10, n_jobs=threads)[1]}


def sklearn_neighbors(x: Any, threads: int) -> Fit:
    """Exact neighbours by scikit-learn; building its tree is part of the work."""
    kind = importlib.import_module("sklearn.neighbors").NearestNeighbors

    def fit() -> Any:
        model = kind(n_neighbors=10, n_jobs=threads).fit(x)
        return {"neighbors": model.kneighbors(return_distance=True)[1]}

    return fit


def faiss_neighbors(x: Any, threads: int) -> Fit:
    """Exact neighbours by faiss's flat index, in single precision, the row itself taken out."""
    faiss = importlib.import_module("faiss")
    np = importlib.import_module("numpy")
    faiss.omp_set_num_threads(threads)

    def fit() -> Any:
        rows = x.astype(np.float32)
        index = faiss.IndexFlatL2(rows.shape[1])
        index.add(rows)
        return {"neighbors": others(index.search(rows, 11)[1], 10)}

    return fit


def others(indices: Any, k: int) -> Any:
    """The first k of each row that are not the row itself, which may be anywhere or absent."""
    import numpy as np

    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True  # equal rows came before it: the last one is too many
    return indices[~own].reshape(len(indices), -1)[:, :k]


def planish_approximate(x: Any, threads: int) -> Fit:
    """Approximate neighbours by planish."""
    function = importlib.import_module("planish").kneighbors
    call = {"n_neighbors": 10, "algorithm": "approximate", "n_jobs": threads}
    return lambda: {"neighbors": function(x, **call)[1]}


def pynndescent(x: Any, threads: int) -> Fit:
    """Neighbours by pynndescent, of more than are wanted: of 11 it finds nine tenths.

    Numba compiles before the clock starts, on the first rows.
    """
    kind = importlib.import_module("pynndescent").NNDescent
    call = {"n_neighbors": PYNNDESCENT_NEIGHBORS, "n_jobs": threads, "random_state": 0}
    kind(x[:20_000], **call)
    return lambda: {"neighbors": others(kind(x, **call).neighbor_graph[0], 10)}


def transform(module: str, name: str, **parameters: Any) -> Engine:
    """The engine that places new rows: the second half of the data on a fit of the first."""

    def prepare(x: Any, threads: int) -> Fit:
        half = len(x) // 2
        model = getattr(importlib.import_module(module), name)(**parameters, n_jobs=threads)
        model.fit(x[:half])
        new = x[half:]
        return lambda: {"embedding": model.transform(new)}

    return prepare


def s_gd2(x: Any, threads: int) -> Fit:
    """Metric MDS by s_gd2, which takes condensed distances and has one thread."""
    del threads
    function = importlib.import_module("s_gd2").mds_direct
    pdist = importlib.import_module("scipy.spatial.distance").pdist
    return lambda: {"embedding": function(len(x), pdist(x), random_seed=0)}


def in_r(package: str, script: str) -> Engine:
    """A script of R on the data. The time includes starting R and passing the data."""

    def prepare(x: Any, threads: int) -> Fit:
        del threads
        import os
        import subprocess
        import tempfile

        np = importlib.import_module("numpy")
        folder = tempfile.mkdtemp()
        np.savetxt(os.path.join(folder, "x.csv"), x, delimiter=",")
        text = f'library({package}); x <- as.matrix(read.csv("x.csv", header=FALSE)); {script}; '
        text += 'write.table(y, "y.csv", sep=",", row.names=FALSE, col.names=FALSE)'

        def fit() -> Any:
            subprocess.run(["Rscript", "-e", text], cwd=folder, check=True, capture_output=True)
            return {"embedding": np.loadtxt(os.path.join(folder, "y.csv"), delimiter=",")}

        return fit

    return prepare


def bootstraps(count: int) -> Engine:
    """Many non-metric maps of resampled columns."""

    def prepare(x: Any, threads: int) -> Fit:
        planish = importlib.import_module("planish")
        model = planish.MDS(type="ordinal", n_jobs=threads)
        return lambda: {"embedding": planish.bootstrap(model, x, n_bootstraps=count).embedding}

    return prepare


def sklearn_bootstraps(count: int) -> Engine:
    """The same by scikit-learn, one fit after the other."""

    def prepare(x: Any, threads: int) -> Fit:
        del threads
        np = importlib.import_module("numpy")
        kind = importlib.import_module("sklearn.manifold").MDS
        rng = np.random.default_rng(0)

        def fit() -> Any:
            for _ in range(count):
                columns = rng.integers(x.shape[1], size=x.shape[1])
                model = kind(metric_mds=False, init="classical_mds", n_init=1)
                found = model.fit_transform(x[:, columns])
            return {"embedding": found}

        return fit

    return prepare


def intelex_tsne(angle: float) -> Engine:
    """t-SNE by scikit-learn-intelex, which takes its number of threads from its own settings."""

    def prepare(x: Any, threads: int) -> Fit:
        importlib.import_module("daal4py").daalinit(threads)
        kind = importlib.import_module("sklearnex.manifold").TSNE
        return lambda: {"embedding": kind(angle=angle, random_state=0).fit_transform(x)}

    return prepare


def intelex_pca(x: Any, threads: int) -> Fit:
    """PCA by scikit-learn-intelex."""
    importlib.import_module("daal4py").daalinit(threads)
    kind = importlib.import_module("sklearnex.decomposition").PCA
    model = kind(n_components=2)
    return lambda: {"embedding": model.fit_transform(x), "model": model}


def open_tsne(x: Any, threads: int) -> Fit:
    """t-SNE by openTSNE as it comes: approximate neighbours, a grid from 10 000 rows on."""
    kind = importlib.import_module("openTSNE").TSNE
    model = kind(n_jobs=threads, random_state=0)
    asarray = importlib.import_module("numpy").asarray
    return lambda: {"embedding": asarray(model.fit(x))}


def with_map(x: Any) -> tuple[Any, Any]:
    """Points and a map of them: their two leading principal components, by iteration.

    Without BLAS, whose buffers would count as the memory of the measures.
    """
    import numpy as np

    mean = x.mean(axis=0)
    directions = np.random.default_rng(0).standard_normal((x.shape[1], 2))
    for _ in range(15):
        placed = np.einsum("ij,jk->ik", x, directions) - mean @ directions
        directions = np.linalg.qr(np.einsum("ij,ik->jk", x, placed))[0]
    return x, np.einsum("ij,jk->ik", x, directions) - mean @ directions


def planish_trust(x: Any, threads: int) -> Fit:
    """Trustworthiness and continuity together by planish."""
    quality = importlib.import_module("planish._quality")
    points, placed = with_map(x)

    def fit() -> Any:
        both = quality.compare(points, placed, n_jobs=threads)
        found = both.scores(["trustworthiness", "continuity"], 5)
        return {"model": (placed, float(found["trustworthiness"]))}

    return fit


def sklearn_trust(x: Any, threads: int) -> Fit:
    """Trustworthiness alone by scikit-learn."""
    del threads
    function = importlib.import_module("sklearn.manifold").trustworthiness
    points, placed = with_map(x)
    return lambda: {"model": (placed, function(points, placed))}


def planish_measures(x: Any, threads: int) -> Fit:
    """Trustworthiness, continuity, rank errors, LCMC, correlation and stress by planish."""
    quality = importlib.import_module("planish._quality")
    points, placed = with_map(x)
    names = ["trustworthiness", "continuity", "mrre_false", "mrre_missing", "lcmc"]

    def fit() -> Any:
        both = quality.compare(points, placed, n_jobs=threads)
        found = both.scores([*names, "pearson", "normalized"], 20)
        return {"model": (placed, float(found["trustworthiness"]))}

    return fit


def zadu(x: Any, threads: int) -> Fit:
    """The same by ZADU, whose measures share the distances and the neighbours."""
    del threads
    kind = importlib.import_module("zadu.zadu").ZADU
    points, placed = with_map(x)
    wanted = [{"id": name, "params": {"k": 20}} for name in ("tnc", "mrre", "lcmc")]
    wanted += [{"id": name, "params": {}} for name in ("pr", "stress")]

    def fit() -> Any:
        found = kind(wanted, points).measure(placed)
        return {"model": (placed, found[0]["trustworthiness"])}

    return fit


def landmark_new_rows(count: int) -> dict[str, Engine]:
    """The last rows placed in a LandmarkIsomap of the others, and beside it the fit as well."""

    def engine(timed: Callable[[Any, Any], Any]) -> Engine:
        def prepare(x: Any, threads: int) -> Fit:
            kind = importlib.import_module("planish").LandmarkIsomap
            model, known, new = kind(n_neighbors=10, n_jobs=threads), x[:-count], x[-count:]
            placing = timed(model, known)
            return lambda: {"embedding": placing().transform(new), "model": model.embedding_}

        return prepare

    def placed(model: Any, known: Any) -> Callable[[], Any]:
        fitted = model.fit(known)
        return lambda: fitted

    return {
        "planish": engine(placed),
        "fit": engine(lambda model, known: lambda: model.fit(known)),
    }


def planish_new_rows(x: Any, threads: int) -> Fit:
    """1 000 new rows in a t-SNE map of the others, by planish."""
    kind = importlib.import_module("planish").TSNE
    model = kind(n_jobs=threads).fit(x[:-1000])
    return lambda: {"embedding": model.transform(x[-1000:]), "model": model.embedding_}


def open_tsne_new_rows(x: Any, threads: int) -> Fit:
    """The same by openTSNE."""
    kind = importlib.import_module("openTSNE").TSNE
    fitted = kind(n_jobs=threads, random_state=0).fit(x[:-1000])
    asarray = importlib.import_module("numpy").asarray
    return lambda: {"embedding": asarray(fitted.transform(x[-1000:])), "model": asarray(fitted)}


def planish_geodesics(graph: Any, threads: int) -> Fit:
    """Shortest paths between all nodes by planish."""
    function = importlib.import_module("planish").geodesic_distances
    return lambda: {"distances": function(graph, n_jobs=threads)}


def planish_dijkstra(graph: Any, threads: int) -> Fit:
    """The same by planish's own heap: the reference for its faster algorithms."""
    function = importlib.import_module("planish").geodesic_distances
    return lambda: {"distances": function(graph, path_method="D", n_jobs=threads)}


def scipy_dijkstra(graph: Any, threads: int) -> Fit:
    """Shortest paths between all nodes by SciPy, which has one thread."""
    del threads
    function = importlib.import_module("scipy.sparse.csgraph").dijkstra
    return lambda: {"distances": function(graph, directed=False)}


ISOMAP = {
    "planish": estimator("planish", "Isomap", n_neighbors=10),
    "sklearn": estimator("sklearn.manifold", "Isomap", n_neighbors=10),
    "tapkee": tapkee("isomap", num_neighbors=10),
}
PCA = {
    "planish": estimator("planish", "PCA", n_components=2),
    "sklearn": estimator("sklearn.decomposition", "PCA", n_components=2),
    "intelex": intelex_pca,
    "tapkee": tapkee("pca", target_dimension=2),
}
PCA_TARGETS = (targets.Faster("sklearn", 1.2), targets.Faster("intelex", 1.2))
# At 50 000 rows tapkee takes minutes, and pyDiffMap at 100 000: that they take longer
# than this is enough to know.
PATIENCE = {"tapkee": 60, "pydiffmap": 60}

# The local family: planish's name of the method, the title, tapkee's name, and
# how many times as fast as scikit-learn and tapkee it has to be.
LOCAL = {
    "lle": ("standard", "LLE", "lle", 3, 3),
    "mlle": ("modified", "Modified LLE", None, 25, None),
    "hlle": ("hessian", "Hessian LLE", "hlle", 25, 15),
    "ltsa": ("ltsa", "LTSA", "ltsa", 25, 15),
}


def local_engines(name: str) -> dict[str, Engine]:
    """A method of the local family by every library that has it."""
    method, _, peer, _, _ = LOCAL[name]
    parameters = {"n_neighbors": 10, "method": method}
    engines = {
        "planish": estimator("planish", "LocallyLinearEmbedding", **parameters),
        "sklearn": estimator("sklearn.manifold", "LocallyLinearEmbedding", **parameters),
    }
    if peer:
        engines["tapkee"] = tapkee(peer, num_neighbors=10, target_dimension=2)
    return engines


def local_job(name: str, n: int) -> Job:
    """A method of the local family on a large Swiss roll."""
    _, title, peer, times_sklearn, times_tapkee = LOCAL[name]
    goals: list[Target] = [targets.Faster("sklearn", times_sklearn)]
    if times_tapkee:
        goals.append(targets.Faster("tapkee", times_tapkee))
    goals.append(targets.QualityTimes("sklearn", 1.05))
    return Job(
        name=f"{name}-{n // 1000}k",
        title=f"{title}, Swiss roll {thousands(n)} × 3, k = 10",
        data=("swiss_roll", n),
        quick=("swiss_roll", 2_000),
        engines=local_engines(name),
        measure="AFFINE_RESIDUAL",
        targets=tuple(goals),
        absent={} if peer else {"tapkee": "not there"},
        once=("sklearn", "tapkee"),
        patience=PATIENCE,
    )


def small_local_job(name: str) -> Job:
    """The same at the size of the first comparisons: set-up must not dominate."""
    return Job(
        name=f"{name}-1k",
        title=f"{LOCAL[name][1]}, Swiss roll 1 000 × 3, k = 10",
        data=("swiss_roll", 1_000),
        quick=("swiss_roll", 1_000),
        engines=local_engines(name),
        measure="AFFINE_RESIDUAL",
        targets=(targets.Faster("sklearn", 5), targets.QualityTimes("sklearn", 1.05)),
        absent={} if LOCAL[name][2] else {"tapkee": "not there"},
        fits=5,
    )


def laplacian_job(n: int, times_sklearn: float) -> Job:
    """Laplacian eigenmaps on a Swiss roll."""
    return Job(
        name=f"laplacian-{n // 1000}k",
        title=f"SpectralEmbedding, Swiss roll {thousands(n)} × 3, k = 10",
        data=("swiss_roll", n),
        quick=("swiss_roll", min(n, 2_000)),
        engines=LAPLACIAN,
        measure="HARMONIC_RESIDUAL",
        targets=(targets.Faster("sklearn", times_sklearn), targets.QualityTimes("sklearn", 1.05)),
        once=("tapkee",),
        patience=PATIENCE,
        fits=5 if n < 20_000 else 3,
    )


def thousands(n: int) -> str:
    return f"{n:,}".replace(",", " ")


LAPLACIAN = {
    "planish": estimator("planish", "SpectralEmbedding", n_neighbors=10),
    "sklearn": estimator("sklearn.manifold", "SpectralEmbedding", n_neighbors=10, random_state=0),
    "tapkee": tapkee("laplacian_eigenmaps", num_neighbors=10, target_dimension=2),
}
GEODESICS = {"planish": planish_geodesics, "scipy": scipy_dijkstra, "heap": planish_dijkstra}


def planish_dimension(x: Any, threads: int) -> Fit:
    """All estimators of dimension, their intervals included."""
    estimate = importlib.import_module("planish.dimension").estimate
    return lambda: {"model": estimate(x, n_jobs=threads)["maximum_likelihood"].value}


def skdim_dimension(x: Any, threads: int) -> Fit:
    """Maximum likelihood and TwoNN of scikit-dimension, each with its own search."""
    del threads  # of scikit-learn's search, which takes it from the environment
    methods = importlib.import_module("skdim.id")

    def fit() -> dict[str, Any]:
        methods.TwoNN().fit(x)
        return {"model": methods.MLE().fit(x, n_neighbors=20).dimension_}

    return fit


NEIGHBORS = {"planish": planish_neighbors, "sklearn": sklearn_neighbors}
#: Neighbours that pynndescent is asked for, the row itself counted, so that 95 % of 10 are found.
PYNNDESCENT_NEIGHBORS = 16

R_PEERS = {
    "vegan": in_r("vegan", "y <- monoMDS(dist(x), k=2, y=cmdscale(dist(x)))$points"),
    "mass": in_r("MASS", "y <- sammon(dist(x), niter=500, tol=1e-9, trace=FALSE)$points"),
}
NO_R = {} if shutil.which("Rscript") else {"vegan": "no R here", "mass": "no R here"}


def r_peer(name: str) -> dict[str, Engine]:
    """An engine in R, where R is."""
    return {} if name in NO_R else {name: R_PEERS[name]}


STRESS = (
    Job(
        name="smacof-digits",
        title="Metric MDS, digits 1 797 × 64, 300 iterations of SMACOF from a random start",
        data=("small_digits", 1797),
        quick=("small_digits", 500),
        engines={
            "planish": estimator("planish", "MDS", solver="smacof", init="random", eps=0.0),
            "sklearn": estimator(
                "sklearn.manifold", "MDS", init="random", n_init=1, eps=0.0, random_state=0
            ),
        },
        measure="NORMALIZED_STRESS",
        targets=(targets.Faster("sklearn", 40), targets.QualityTimes("sklearn", 1.01)),
        once=("sklearn",),
    ),
    Job(
        name="mds-digits",
        title="Metric MDS, digits 1 797 × 64, default solver",
        data=("small_digits", 1797),
        quick=("small_digits", 500),
        engines={"planish": estimator("planish", "MDS"), "s_gd2": s_gd2},
        measure="NORMALIZED_STRESS",
        targets=(targets.Faster("s_gd2", 3), targets.QualityAtMost(0.32711)),
    ),
    Job(
        name="mds-5k",
        title="Metric MDS, Gaussian 5 000 × 50",
        data=("gaussian", 5_000, 50),
        quick=("gaussian", 500, 50),
        engines={
            "planish": estimator("planish", "MDS"),
            "sklearn": estimator("sklearn.manifold", "MDS", init="classical_mds", n_init=1),
        },
        measure="NORMALIZED_STRESS",
        once=("sklearn",),
    ),
    Job(
        name="mds-20k",
        title="Metric MDS, Gaussian 20 000 × 50, no n × n matrix",
        data=("gaussian", 20_000, 50),
        quick=("gaussian", 11_000, 50),
        engines={"planish": estimator("planish", "MDS")},
        measure="NORMALIZED_STRESS",
        targets=(targets.FasterThanJob("mds-5k", "sklearn"), targets.PeakAtMost(2e9)),
        absent={"sklearn": "not run: see 5 000"},
        once=("planish",),
    ),
    Job(
        name="nonmetric-digits",
        title="Non-metric MDS, digits 1 000 × 64",
        data=("small_digits", 1000),
        quick=("small_digits", 200),
        engines={
            "planish": estimator("planish", "MDS", type="ordinal", init="classical_mds"),
            "sklearn": estimator(
                "sklearn.manifold", "MDS", metric_mds=False, init="classical_mds", n_init=1
            ),
            **r_peer("vegan"),
        },
        measure="MONOTONE_STRESS",
        targets=(
            targets.Faster("sklearn", 100),
            targets.Faster("vegan", 3),
            targets.QualityAtMost(0.288484),
        ),
        once=("sklearn",),
    ),
    Job(
        name="sammon-digits",
        title="Sammon mapping, digits 1 797 × 64",
        data=("small_digits", 1797),
        quick=("small_digits", 500),
        engines={"planish": estimator("planish", "SammonMapping"), **r_peer("mass")},
        measure="SAMMON_STRESS",
        targets=(targets.Faster("mass", 5), targets.QualityAtMost(0.147)),
        absent={"sklearn": "not there"},
    ),
    Job(
        name="bootstrap-100",
        title="500 bootstraps of a non-metric map of 100 × 64 (scikit-learn: 20)",
        data=("small_digits", 100),
        quick=("small_digits", 50),
        engines={"planish": bootstraps(500), "sklearn": sklearn_bootstraps(20)},
        measure="MONOTONE_STRESS",
        targets=(targets.Faster("sklearn", 1),),
        once=("sklearn",),
    ),
)


def tsne_engines(angle: float) -> dict[str, Engine]:
    """t-SNE by planish and its peers, intelex at an angle where its divergence is like theirs."""
    return {
        "planish": estimator("planish", "TSNE"),
        "sklearn": estimator("sklearn.manifold", "TSNE", random_state=0),
        "intelex": intelex_tsne(angle),
        "openTSNE": open_tsne,
    }


TSNE = (
    Job(
        name="tsne-digits",
        title="t-SNE, digits 1 797 × 64",
        data=("small_digits", 1797),
        quick=("small_digits", 500),
        engines=tsne_engines(0.15),
        measure="NEIGHBOR_DIVERGENCE",
        targets=(targets.Faster("intelex", 1.5), targets.QualityTimes("sklearn", 1.0)),
    ),
    Job(
        name="tsne-10k",
        title="t-SNE, MNIST digits 10 000 × 784",
        data=("digits", 10_000),
        quick=("digits", 1_000),
        engines=tsne_engines(0.2),
        measure="NEIGHBOR_DIVERGENCE",
        targets=(
            targets.Faster("sklearn", 8),
            targets.Faster("openTSNE", 5),
            targets.Faster("intelex", 2),
            targets.QualityTimes("sklearn", 1.0),
            targets.QualityTimes("openTSNE", 1.0),
        ),
        once=("sklearn", "openTSNE"),
    ),
    Job(
        name="tsne-60k",
        title="t-SNE, Fashion-MNIST 60 000 × 50",
        data=("fashion", 60_000, 50),
        quick=("fashion", 2_000, 50),
        engines={name: tsne_engines(0.5)[name] for name in ("planish", "intelex", "openTSNE")},
        measure="NEIGHBOR_DIVERGENCE",
        targets=(
            targets.Faster("openTSNE", 2),
            targets.Faster("intelex", 1.3),
            targets.QualityTimes("openTSNE", 1.0),
        ),
        absent={"sklearn": "not run: minutes"},
        once=("planish", "intelex", "openTSNE"),
    ),
    Job(
        name="tsne-1m",
        title="t-SNE, 100 clusters, 1 000 000 × 20, 500 iterations",
        data=("clusters", 1_000_000, 20, 100),
        quick=("clusters", 5_000, 20, 100),
        engines={"planish": estimator("planish", "TSNE", max_iter=500)},
        measure="CLUSTER_HIT",
        targets=(targets.PeakAtMost(6e9),),
        absent={"sklearn": "not run: hours"},
        once=("planish",),
    ),
    Job(
        name="tsne-transform",
        title="TSNE.transform, 10 000 fitted, 1 000 new rows, Fashion-MNIST × 50",
        data=("fashion", 11_000, 50),
        quick=("fashion", 2_000, 50),
        engines={"planish": planish_new_rows, "openTSNE": open_tsne_new_rows},
        measure="NEW_ROW_RECALL",
        targets=(targets.Faster("openTSNE", 3),),
        absent={"sklearn": "no transform"},
        once=("openTSNE",),
    ),
)


def small_job(name: str, title: str, measure: str, planish: Engine, sklearn: Engine) -> Job:
    """A fit of 1 000 rows: what a call costs beside its mathematics must not dominate."""
    return Job(
        name=f"{name}-1k",
        title=f"{title}, Gaussian 1 000 × 50",
        data=("gaussian", 1_000, 50),
        quick=("gaussian", 1_000, 50),
        engines={"planish": planish, "sklearn": sklearn},
        measure=measure,
        targets=(targets.Faster("sklearn", 5),),
        fits=5,
    )


SMALL = (
    small_job("pca", "PCA", "EIGENVALUE_ERROR", PCA["planish"], PCA["sklearn"]),
    small_job(
        "classical-mds",
        "ClassicalMDS",
        "EIGENVALUE_ERROR",
        estimator("planish", "ClassicalMDS"),
        estimator("sklearn.manifold", "ClassicalMDS"),
    ),
    small_job(
        "kernel-mds",
        "KernelMDS, rbf kernel",
        "EIGEN_RESIDUAL",
        estimator("planish", "KernelMDS", kernel="rbf"),
        estimator("sklearn.decomposition", "KernelPCA", n_components=2, kernel="rbf"),
    ),
    small_job(
        "mds",
        "Metric MDS",
        "NORMALIZED_STRESS",
        estimator("planish", "MDS"),
        estimator("sklearn.manifold", "MDS", init="classical_mds", n_init=1),
    ),
)

JOBS: tuple[Job | ImportJob, ...] = (
    *STRESS,
    *TSNE,
    Job(
        name="isomap-10k",
        title="Isomap, Swiss roll 10 000 × 3, k = 10",
        data=("swiss_roll", 10_000),
        quick=("swiss_roll", 2_000),
        engines=ISOMAP,
        measure="AFFINE_RESIDUAL",
        targets=(
            targets.Faster("sklearn", 45),
            targets.PeakAtMost(500e6),
            targets.PeakWithin("tapkee", 0.6),
            targets.QualityWithin("sklearn", 1e-3),
        ),
        once=("sklearn", "tapkee"),
    ),
    Job(
        name="isomap-20k",
        title="Isomap, Swiss roll 20 000 × 3, k = 10",
        data=("swiss_roll", 20_000),
        quick=("swiss_roll", 2_000),
        engines={name: ISOMAP[name] for name in ("planish", "sklearn")},
        measure="AFFINE_RESIDUAL",
        targets=(targets.Faster("sklearn", 25), targets.QualityWithin("sklearn", 1e-3)),
        absent={"tapkee": "see 10 000"},
        once=("sklearn",),
    ),
    Job(
        name="landmark-1m",
        title="LandmarkIsomap, Swiss roll 1 000 000 × 3, k = 10, 500 landmarks",
        data=("swiss_roll", 1_000_000),
        quick=("swiss_roll", 20_000),
        engines={
            "planish": estimator("planish", "LandmarkIsomap", n_neighbors=10, n_landmarks=500)
        },
        measure="AFFINE_RESIDUAL",
        targets=(
            targets.FasterThanJob("isomap-20k", "sklearn"),
            targets.PeakAtMost(6e9),
            targets.QualityAtMost(0.02),
        ),
        absent={"sklearn": "no landmarks", "tapkee": "not run: hours"},
        once=("planish",),
    ),
    Job(
        name="isomap-100k",
        title="Isomap, exact, Swiss roll 100 000 × 3, k = 10, rows recomputed",
        data=("swiss_roll", 100_000),
        quick=("swiss_roll", 5_000),
        engines={"planish": estimator("planish", "Isomap", n_neighbors=10, storage="recompute")},
        measure="AFFINE_RESIDUAL",
        targets=(targets.PeakAtMost(4e9), targets.QualityAtMost(0.01)),
        absent={"sklearn": "needs 230 GB", "tapkee": "needs 90 GB"},
        once=("planish",),
    ),
    Job(
        name="isomap-mnist",
        title="Isomap, MNIST 10 000 × 784, k = 10",
        data=("digits", 10_000),
        quick=("digits", 1_000),
        engines={name: ISOMAP[name] for name in ("planish", "sklearn")},
        measure="GEODESIC_RESIDUAL",
        targets=(targets.Faster("sklearn", 12), targets.QualityWithin("sklearn", 1e-3)),
        absent={"tapkee": "stopped after 3 min"},
        once=("sklearn",),
    ),
    Job(
        name="transform-10k",
        title="Isomap.transform, 10 000 fitted, 10 000 new rows",
        data=("swiss_roll", 20_000),
        quick=("swiss_roll", 2_000),
        engines={
            "planish": transform("planish", "Isomap", n_neighbors=10),
            "sklearn": transform("sklearn.manifold", "Isomap", n_neighbors=10),
        },
        measure="NEW_AFFINE_RESIDUAL",
        targets=(targets.Faster("sklearn", 10), targets.QualityWithin("sklearn", 1e-3)),
        absent={"tapkee": "no transform"},
        once=("sklearn",),
    ),
    Job(
        name="landmark-transform-1",
        title="LandmarkIsomap.transform, 60 000 images fitted, 1 new row; and with the fit",
        data=("fashion_images", 60_001),
        quick=("fashion_images", 2_001),
        engines=landmark_new_rows(1),
        measure="NEW_ROW_RECALL",
        targets=(targets.SecondsAtMost(0.02),),
        absent={"sklearn": "no landmarks", "tapkee": "no transform"},
        fits=3,
        once=("planish", "fit"),
    ),
    Job(
        name="landmark-transform-200",
        title="LandmarkIsomap.transform, 60 000 images fitted, 200 new rows; and with the fit",
        data=("fashion_images", 60_200),
        quick=("fashion_images", 2_200),
        engines=landmark_new_rows(200),
        measure="NEW_ROW_RECALL",
        targets=(targets.SecondsAtMost(1),),
        absent={"sklearn": "no landmarks", "tapkee": "no transform"},
        fits=3,
        once=("planish", "fit"),
    ),
    Job(
        name="geodesics-2d",
        title="Shortest paths, all pairs of a 2-D graph of 20 000 nodes",
        data=("sheet_graph", 20_000, 2),
        quick=("sheet_graph", 2_000, 2),
        engines=GEODESICS,
        measure="PATH_ERROR",
        targets=(targets.FasterPerCore("scipy", 40), targets.QualityAtMost(1e-12)),
        once=("scipy", "heap"),
    ),
    Job(
        name="geodesics-5d",
        title="Shortest paths, all pairs of a 5-D graph of 5 000 nodes",
        data=("sheet_graph", 5_000, 5),
        quick=("sheet_graph", 1_000, 5),
        engines=GEODESICS,
        measure="PATH_ERROR",
        targets=(targets.Faster("heap", 1), targets.QualityAtMost(1e-12)),
    ),
    Job(
        name="geodesics-10d",
        title="Shortest paths, all pairs of a 10-D graph of 5 000 nodes",
        data=("sheet_graph", 5_000, 10),
        quick=("sheet_graph", 1_000, 10),
        engines=GEODESICS,
        measure="PATH_ERROR",
        targets=(targets.Faster("heap", 1), targets.QualityAtMost(1e-12)),
    ),
    Job(
        name="isomap-1k",
        title="Isomap, Swiss roll 1 000 × 3, k = 10",
        data=("swiss_roll", 1_000),
        quick=("swiss_roll", 1_000),
        engines=ISOMAP,
        measure="AFFINE_RESIDUAL",
        targets=(targets.Faster("sklearn", 5), targets.QualityWithin("sklearn", 1e-3)),
        fits=5,
    ),
    *(small_local_job(name) for name in LOCAL),
    *(local_job(name, n) for name in LOCAL for n in (10_000, 50_000)),
    Job(
        name="ltsa-1m",
        title="LTSA, Swiss roll 1 000 000 × 3, k = 10",
        data=("swiss_roll", 1_000_000),
        quick=("swiss_roll", 20_000),
        engines={"planish": local_engines("ltsa")["planish"]},
        measure="AFFINE_RESIDUAL",
        targets=(targets.PeakAtMost(8e9), targets.QualityAtMost(1e-3)),
        absent={"sklearn": "not run: see 50 000", "tapkee": "not run: see 50 000"},
        once=("planish",),
    ),
    Job(
        name="lle-mnist",
        title="LLE, MNIST 10 000 × 784, k = 10",
        data=("digits", 10_000),
        quick=("digits", 1_000),
        engines={name: local_engines("lle")[name] for name in ("planish", "sklearn")},
        measure="WEIGHT_COST",
        targets=(targets.Faster("sklearn", 5), targets.QualityTimes("sklearn", 1.05)),
        absent={"tapkee": "not run"},
        once=("sklearn",),
    ),
    laplacian_job(1_000, 5),
    laplacian_job(10_000, 2.5),
    laplacian_job(50_000, 3.5),
    Job(
        name="laplacian-mnist",
        title="SpectralEmbedding, MNIST 10 000 × 784, k = 10",
        data=("digits", 10_000),
        quick=("digits", 1_000),
        engines={name: LAPLACIAN[name] for name in ("planish", "sklearn")},
        measure="CUT_COST",
        targets=(targets.Faster("sklearn", 3), targets.QualityTimes("sklearn", 1.05)),
        absent={"tapkee": "not run"},
        once=("sklearn",),
    ),
    Job(
        name="diffusion-5k",
        title="DiffusionMaps, dense, Swiss roll 5 000 × 3",
        data=("swiss_roll", 5_000),
        quick=("swiss_roll", 1_000),
        engines={
            "planish": estimator("planish", "DiffusionMaps", n_neighbors=None, epsilon=4.0),
            "tapkee": tapkee(
                "diffusion_map",
                target_dimension=2,
                gaussian_kernel_width=4.0,
                diffusion_map_timesteps=1,
            ),
        },
        measure="HARMONIC_RESIDUAL",
        targets=(targets.Faster("tapkee", 1), targets.QualityTimes("tapkee", 1.05)),
        absent={"sklearn": "not there"},
        once=("tapkee",),
    ),
    Job(
        name="diffusion-100k",
        title="DiffusionMaps, 64 neighbours, Swiss roll 100 000 × 3",
        data=("swiss_roll", 100_000),
        quick=("swiss_roll", 5_000),
        engines={"planish": estimator("planish", "DiffusionMaps"), "pydiffmap": pydiffmap},
        measure="HARMONIC_RESIDUAL",
        targets=(targets.Faster("pydiffmap", 1), targets.PeakAtMost(4e9)),
        absent={"sklearn": "not there", "tapkee": "needs 160 GB"},
        once=("planish", "pydiffmap"),
        patience=PATIENCE,
    ),
    Job(
        name="mds-distances",
        title="ClassicalMDS, 5 000 × 5 000 distances",
        data=("gaussian_distances", 5_000, 50),
        quick=("gaussian_distances", 1_000, 50),
        engines={
            "planish": estimator("planish", "ClassicalMDS", metric="precomputed"),
            "sklearn": estimator("sklearn.manifold", "ClassicalMDS", metric="precomputed"),
        },
        measure="EIGENVALUE_ERROR",
        targets=(targets.Faster("sklearn", 10), targets.QualityAtMost(1e-6)),
        absent={"tapkee": "takes no distances"},
    ),
    Job(
        name="mds-points",
        title="ClassicalMDS, 100 000 × 50 points",
        data=("gaussian", 100_000, 50),
        quick=("gaussian", 20_000, 50),
        engines={"planish": estimator("planish", "ClassicalMDS")},
        measure="EIGENVALUE_ERROR",
        targets=(targets.PeakAtMost(0.5e9), targets.QualityAtMost(1e-6)),
        absent={"sklearn": "needs 80 GB", "tapkee": "needs 80 GB"},
    ),
    Job(
        name="knn-roll",
        title="Exact neighbours, Swiss roll 100 000 × 3, k = 10",
        data=("swiss_roll", 100_000),
        quick=("swiss_roll", 20_000),
        engines=NEIGHBORS,
        measure="RECALL",
        targets=(targets.Faster("sklearn", 3), targets.QualityAtLeast(1.0)),
        absent={"tapkee": "not exposed"},
    ),
    Job(
        name="knn-mnist",
        title="Exact neighbours, MNIST 10 000 × 784, k = 10",
        data=("digits", 10_000),
        quick=("digits", 2_000),
        engines={**NEIGHBORS, "faiss": faiss_neighbors},
        measure="RECALL",
        targets=(
            targets.Faster("sklearn", 1),
            targets.Faster("faiss", 2),
            targets.QualityAtLeast(1.0),
        ),
        absent={"tapkee": "not exposed"},
    ),
    Job(
        name="knn-60k",
        title="Exact neighbours, Fashion-MNIST 60 000 × 784, k = 10",
        data=("fashion_images", 60_000),
        quick=("fashion_images", 2_000),
        engines={"planish": planish_neighbors, "faiss": faiss_neighbors},
        measure="SAMPLED_RECALL",
        targets=(targets.Faster("faiss", 4), targets.QualityAtLeast(1.0)),
    ),
    Job(
        name="knn-1m",
        title="Approximate neighbours, 12 curved dimensions in 1 000 000 × 100, k = 10",
        data=("curved", 1_000_000, 100, 12),
        quick=("curved", 20_000, 100, 12),
        engines={"planish": planish_approximate, "pynndescent": pynndescent},
        measure="SAMPLED_RECALL",
        targets=(
            targets.Faster("pynndescent", 1),
            targets.PeakAtMost(4e9),
            targets.QualityAtLeast(0.95),
        ),
    ),
    Job(
        name="dimension-mnist",
        title="Intrinsic dimension, MNIST 10 000 × 784: eight estimators against two",
        data=("digits", 10_000),
        quick=("digits", 2_000),
        engines={"planish": planish_dimension, "skdim": skdim_dimension},
        measure="DIMENSION",
        targets=(targets.Faster("skdim", 1), targets.QualityWithin("skdim", 1e-9)),
        once=("skdim",),
    ),
    Job(
        name="pca-gaussian",
        title="PCA, 100 000 × 50, p = 2",
        data=("gaussian", 100_000, 50),
        quick=("gaussian", 20_000, 50),
        engines=PCA,
        measure="EIGENVALUE_ERROR",
        targets=(*PCA_TARGETS, targets.QualityAtMost(1e-6)),
        fits=3,
    ),
    Job(
        name="pca-mnist",
        title="PCA, MNIST 10 000 × 784, p = 2",
        data=("digits", 10_000),
        quick=("digits", 2_000),
        engines=PCA,
        measure="EIGENVALUE_ERROR",
        targets=(*PCA_TARGETS, targets.QualityAtMost(1e-6)),
        fits=3,
    ),
    Job(
        name="pca-60k",
        title="PCA, Fashion-MNIST 60 000 × 784, p = 2",
        data=("fashion_images", 60_000),
        quick=("fashion_images", 2_000),
        engines={name: PCA[name] for name in ("planish", "sklearn", "intelex")},
        measure="EIGENVALUE_ERROR",
        targets=(*PCA_TARGETS, targets.QualityAtMost(1e-6)),
        fits=3,
    ),
    Job(
        name="kernel-mds",
        title="KernelMDS, rbf kernel, 5 000 × 50",
        data=("gaussian", 5_000, 50),
        quick=("gaussian", 1_000, 50),
        engines={
            "planish": estimator("planish", "KernelMDS", kernel="rbf"),
            "sklearn": estimator(
                "sklearn.decomposition", "KernelPCA", n_components=2, kernel="rbf"
            ),
        },
        measure="EIGEN_RESIDUAL",
        targets=(targets.Faster("sklearn", 1.2), targets.QualityAtMost(1e-6)),
        absent={"tapkee": "linear kernel only"},
    ),
    *SMALL,
    Job(
        name="trust-mnist",
        title="Trustworthiness and continuity, MNIST 10 000 × 784 (scikit-learn: the first alone)",
        data=("digits", 10_000),
        quick=("digits", 1_000),
        engines={"planish": planish_trust, "sklearn": sklearn_trust},
        measure="TRUST",
        targets=(targets.Faster("sklearn", 5), targets.PeakAtMost(0.3e9)),
        absent={"tapkee": "not there"},
        once=("sklearn",),
    ),
    Job(
        name="trust-60k",
        title="Trustworthiness and continuity, 60 000 × 50",
        data=("gaussian", 60_000, 50),
        quick=("gaussian", 3_000, 50),
        engines={"planish": planish_trust},
        measure="TRUST",
        targets=(targets.PeakAtMost(1e9),),
        absent={"sklearn": "needs 57 GB", "tapkee": "not there"},
    ),
    Job(
        name="five-measures",
        title="Five measures of a map (T & C, MRRE, LCMC, Pearson, stress), MNIST 5 000 × 784",
        data=("digits", 5_000),
        quick=("digits", 500),
        engines={"planish": planish_measures, "zadu": zadu},
        measure="TRUST_OF_20",
        targets=(targets.Faster("zadu", 20),),
        absent={"sklearn": "not there", "tapkee": "not there"},
        once=("zadu",),
    ),
    ImportJob(
        name="import",
        title="`import planish` against `import sklearn.manifold`",
        statements={"planish": "import planish", "sklearn": "import sklearn.manifold"},
        targets=(targets.Slower("sklearn", 1.10),),
    ),
    # planish imports its parts on first use; this is the import with the use
    ImportJob(
        name="import-isomap",
        title="the same, up to having `Isomap`",
        statements={
            "planish": "from planish import Isomap",
            "sklearn": "from sklearn.manifold import Isomap",
        },
        targets=(targets.Slower("sklearn", 0.5),),
    ),
)
