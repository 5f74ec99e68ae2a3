"""scikit-learn's own battery, and the habits it does not check."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import planish
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
)

BATTERY = [
    PCA(),
    PCA(n_components=1, svd_solver="randomized", whiten=True),
    PCA(n_components=0.9, svd_solver="full"),
    ClassicalMDS(),
    ClassicalMDS(metric="manhattan", n_components=1),
    ClassicalMDS(metric="precomputed"),
    KernelMDS(),
    KernelMDS(kernel="rbf", n_components=1),
    KernelMDS(kernel="precomputed"),
    Isomap(n_neighbors=3),
    Isomap(n_neighbors=None, radius=10.0, n_components=1),
    Isomap(n_neighbors=3, metric="precomputed", n_components=1),
    Isomap(n_neighbors=3, conformal=True, storage="recompute"),
    KernelIsomap(n_neighbors=3),
    KernelIsomap(n_neighbors=3, metric="precomputed", n_components=1),
    LandmarkIsomap(n_neighbors=3),
    LandmarkIsomap(n_neighbors=3, n_landmarks=5, landmarks="hierarchical", n_components=1),
    LandmarkIsomap(n_neighbors=3, metric="precomputed", landmarks="random", n_components=1),
    LandmarkMDS(),
    LandmarkMDS(n_landmarks=5, landmarks="random", metric="manhattan"),
    LandmarkMDS(algorithm="fastmap", metric="precomputed"),
    LandmarkMDS(algorithm="metricmap", n_components=1),
    MDS(),
    MDS(type="ordinal", n_components=1),
    MDS(metric="precomputed", solver="smacof"),
    MDS(type="spline", init="random", n_init=2),
    SammonMapping(),
    SammonMapping(n_neighbors=3, n_components=1),
    SammonMapping(metric="precomputed", solver="newton"),
    TSNE(perplexity=2, max_iter=300),
    TSNE(perplexity=2, method="exact", n_components=1, max_iter=300),
    TSNE(perplexity=2, metric="precomputed", init="random", max_iter=300),
    LocallyLinearEmbedding(),
    LocallyLinearEmbedding(n_neighbors=7, n_components=1, nonnegative=True),
    LocallyLinearEmbedding(n_neighbors=6, method="modified", n_components=1),
    LocallyLinearEmbedding(n_neighbors=8, method="hessian"),
    LocallyLinearEmbedding(n_neighbors=None, radius=10.0, method="ltsa", n_components=1),
    LocallyLinearEmbedding(metric="precomputed", n_components=1),
    LocallyLinearEmbedding(n_neighbors="auto", method="hessian"),
    LocallyLinearEmbedding(n_neighbors=None, radius=10.0, method="hessian", n_components=1),
    SpectralEmbedding(n_neighbors=5),
    SpectralEmbedding(n_neighbors=5, weights="heat", n_components=1),
    SpectralEmbedding(affinity="rbf", n_components=1),
    SpectralEmbedding(affinity="precomputed", n_components=1),
    DiffusionMaps(n_neighbors=5),
    DiffusionMaps(n_neighbors=None, t=2, alpha=0.5, n_components=1),
    DiffusionMaps(n_neighbors=5, metric="precomputed", n_components=1),
]

ESTIMATORS = [
    PCA(n_components=2),
    ClassicalMDS(),
    KernelMDS(kernel="rbf"),
    Isomap(n_neighbors=8),
    KernelIsomap(n_neighbors=8),
    LandmarkIsomap(n_neighbors=8, n_landmarks=20),
    LandmarkMDS(n_landmarks=20),
    MDS(),
    MDS(type="ordinal"),
    SammonMapping(),
    TSNE(perplexity=10, max_iter=300),
    LocallyLinearEmbedding(n_neighbors=8),
    LocallyLinearEmbedding(n_neighbors=10, method="modified"),
    LocallyLinearEmbedding(n_neighbors=10, method="hessian"),
    LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
    LocallyLinearEmbedding(n_neighbors="auto", method="hessian"),
    SpectralEmbedding(n_neighbors=10),
    DiffusionMaps(n_neighbors=20),
]


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
@parametrize_with_checks(BATTERY)
def test_scikit_learn_battery(estimator, check):
    check(estimator)


@pytest.fixture(params=ESTIMATORS, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


def test_fit_transform_is_the_fitted_embedding(estimator, blob):
    returned = estimator.fit_transform(blob)
    if hasattr(estimator, "embedding_"):
        assert returned is estimator.embedding_
    assert np.array_equal(returned, clone(estimator).fit(blob).transform(blob))


def test_float32_in_float32_out(estimator, blob):
    single = blob.astype(np.float32)
    narrow = estimator.fit_transform(single)
    wide = clone(estimator).fit_transform(single.astype(np.float64))
    assert narrow.dtype == np.float32
    assert wide.dtype == np.float64
    # All the work is done in float64; only the result is rounded.
    assert np.array_equal(narrow, wide.astype(np.float32))
    assert estimator.transform(single[:5]).dtype == np.float32
    assert estimator.transform(single[:5].astype(np.float64)).dtype == np.float64


def test_float32_result_out_of_range_is_refused():
    huge = np.array([[-3e38], [0.0], [3e38]], dtype=np.float32) * np.ones((1, 4), np.float32)
    with pytest.raises(planish.exceptions.InputError, match=r"row 0 exceed.*float64"):
        PCA(n_components=1).fit_transform(huge)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_data_frames(estimator, blob, make):
    names = [f"column {i}" for i in range(blob.shape[1])]
    frame = make(dict(zip(names, blob.T, strict=True)))
    plain = clone(estimator).fit(blob)
    assert np.array_equal(estimator.fit_transform(frame), plain.fit_transform(blob))
    assert list(estimator.feature_names_in_) == names
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.transform(frame[names[::-1]])


@pytest.mark.parametrize(("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(estimator, blob, output, kind):
    plain = clone(estimator).fit_transform(blob)
    frame = estimator.set_output(transform=output).fit_transform(blob)
    assert isinstance(frame, kind)
    assert list(frame.columns) == list(estimator.get_feature_names_out())
    prefix = type(estimator).__name__.lower()
    assert list(frame.columns) == [f"{prefix}{i}" for i in range(plain.shape[1])]
    assert np.array_equal(frame.to_numpy(), plain)
    assert np.array_equal(estimator.transform(blob[:3]).to_numpy(), plain[:3])


def test_pipeline_and_grid_search(blob):
    pipeline = make_pipeline(StandardScaler(), Isomap(n_neighbors=8))
    by_hand = Isomap(n_neighbors=8).fit_transform(StandardScaler().fit_transform(blob))
    assert np.array_equal(pipeline.fit_transform(blob), by_hand)
    search = GridSearchCV(PCA(), {"n_components": [1, 3]}, cv=3).fit(blob)
    assert search.best_params_ == {"n_components": 3}


def test_pickle_copy_and_clone(estimator, blob):
    expected = estimator.fit(blob).transform(blob[:7])
    for again in (
        pickle.loads(pickle.dumps(estimator)),
        copy.deepcopy(estimator),
        copy.copy(estimator),
    ):
        assert np.array_equal(again.transform(blob[:7]), expected)
        if hasattr(estimator, "eigenvalues_"):
            assert np.array_equal(again.eigenvalues_, estimator.eigenvalues_)
    fresh = clone(estimator)
    assert fresh.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(blob)


def test_pickle_crosses_processes(estimator, blob, tmp_path):
    expected = estimator.fit(blob).transform(blob + 0.01)
    joblib.dump((estimator, blob + 0.01, expected), tmp_path / "fitted")
    code = (
        "import joblib, numpy, sys\n"
        "estimator, X, expected = joblib.load(sys.argv[1])\n"
        "assert numpy.array_equal(estimator.transform(X), expected)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "fitted")], check=True, timeout=60)


def test_input_is_not_changed(estimator, blob):
    before = blob.copy()
    estimator.fit(blob)
    estimator.transform(blob)
    assert np.array_equal(blob, before)


def test_sparse_input_is_not_changed():
    # Unsorted indices with a duplicate entry: canonical form must be made on a copy.
    indptr, indices = np.array([0, 3, 5, 6, 8]), np.array([2, 0, 2, 1, 0, 1, 2, 0])
    values = np.arange(1.0, 9.0)
    X = sparse.csr_matrix((values, indices, indptr), shape=(4, 3))
    ours = PCA(n_components=2, svd_solver="covariance_eigh").fit_transform(X)
    assert np.array_equal(X.indices, indices)
    assert np.array_equal(X.data, values)
    dense = PCA(n_components=2, svd_solver="covariance_eigh").fit_transform(X.toarray())
    np.testing.assert_allclose(np.abs(ours), np.abs(dense), atol=1e-12)


def test_dtype_kinds_agree(estimator):
    whole = np.random.default_rng(0).integers(0, 50, size=(40, 4))
    expected = clone(estimator).fit_transform(whole.astype(float))
    for kind in (np.int8, np.uint16, np.int64, np.float16, np.longdouble, object):
        assert np.array_equal(clone(estimator).fit_transform(whole.astype(kind)), expected)
    assert np.array_equal(clone(estimator).fit_transform(whole.tolist()), expected)


def test_refit_forgets_the_first_fit(blob, two_islands):
    estimator = Isomap(n_neighbors=6).fit(pd.DataFrame(blob, columns=list("abcde")))
    assert hasattr(estimator, "feature_names_in_")
    stale = estimator.dist_matrix_
    estimator.fit(blob * 2)
    assert not hasattr(estimator, "feature_names_in_")
    np.testing.assert_allclose(estimator.dist_matrix_, 2 * stale, rtol=1e-12)
    fresh = Isomap(n_neighbors=6).fit(blob * 2)
    assert set(vars(estimator)) - set(vars(fresh)) == set()


def test_on_demand_attributes_are_not_computed_by_looking(blob):
    estimator = Isomap(n_neighbors=8).fit(blob)
    assert "dist_matrix_" not in dir(estimator)
    estimator._repr_html_()
    assert estimator._lazy == {}
    first = estimator.dist_matrix_
    assert estimator.dist_matrix_ is first
    assert pickle.loads(pickle.dumps(estimator))._lazy == {}
    with pytest.raises(AttributeError, match="no attribute 'dist_matrix'"):
        estimator.dist_matrix  # noqa: B018
    with pytest.raises(NotFittedError):
        Isomap().dist_matrix_  # noqa: B018


def test_training_data_does_not_travel_in_pickles(blob):
    again = pickle.loads(pickle.dumps(Isomap(n_neighbors=8).fit(blob)))
    with pytest.raises(AttributeError, match="read it before"):
        again.nbrs_  # noqa: B018
    assert again.dist_matrix_.shape == (60, 60)


def test_n_jobs_none_follows_joblib(monkeypatch):
    from planish._threads import thread_count

    monkeypatch.setattr(joblib, "cpu_count", lambda: 6)
    assert thread_count(None) == 6
    assert thread_count(-1) == 6
    assert thread_count(-2) == 5
    assert thread_count(-100) == 1
    assert thread_count(np.int64(3)) == 3
    with joblib.parallel_config(backend="threading", n_jobs=4):
        assert thread_count(None) == 4
    inside = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(thread_count)(None) for _ in range(2)
    )
    assert inside == [1, 1]


def test_verbose_writes_progress_to_stderr(capfd, roll):
    silent = Isomap(n_neighbors=8).fit_transform(roll)
    assert capfd.readouterr() == ("", "")
    spoken = Isomap(n_neighbors=8, verbose=1).fit_transform(roll)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("[planish] Isomap.fit: done (")
    assert np.array_equal(silent, spoken)


def test_warnings_point_at_the_callers_line(two_islands):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Isomap(n_neighbors=4).fit(two_islands)
    assert [warning.category for warning in caught] == [planish.exceptions.DisconnectedGraphWarning]
    assert caught[0].filename == __file__


def test_kernel_estimator_in_process_pool(blob):
    jobs = (joblib.delayed(_fit)(seed) for seed in range(2))
    results = joblib.Parallel(n_jobs=2)(jobs)
    assert all(np.array_equal(got, _fit(seed)) for seed, got in enumerate(results))


def _fit(seed):
    X = np.random.default_rng(seed).normal(size=(50, 3))
    return KernelMDS(kernel="precomputed").fit_transform(rbf_kernel(X))


CLASSES = [
    cls
    for name in planish.__all__
    if isinstance(cls := getattr(planish, name), type) and hasattr(cls, "fit")
]


def fitted_with_defaults(cls, X):
    given = inspect.signature(cls).parameters
    wrapped = {"estimator": PCA(n_components=2)} if "estimator" in given else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", planish.exceptions.PlanishWarning)
        return cls(**wrapped).fit(X)


def same(found, expected):
    """Whether two results are equal, graphs included."""
    if sparse.issparse(expected):
        found, expected = found.toarray(), expected.toarray()
    return np.array_equal(found, expected)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_fitted_estimator_is_not_changed_by_set_params(cls, blob):
    fitted = fitted_with_defaults(cls, blob)
    new = blob[:7] + 0.1
    expected = fitted.transform(new)
    on_demand = list(getattr(cls, "_on_demand", {}))
    searches = [fitted_with_defaults(cls, blob).nbrs_.get_params()] if "nbrs_" in on_demand else []
    given = fitted.get_params(deep=False)
    others = (None, "precomputed", "nonsense", 3, 0.25, True, rbf_kernel, {"w": 1})
    for name in given.keys() - {"n_jobs", "verbose"}:
        for value in others:
            fitted.set_params(**{name: value})
            assert same(fitted.transform(new), expected), (name, value)
        fitted.set_params(**{name: given[name]})
    changed = dict.fromkeys(given.keys() - {"n_jobs", "verbose"}, "nonsense")
    fitted.set_params(**changed)
    assert same(fitted.transform(new), expected)
    assert fitted.get_feature_names_out().shape == (expected.shape[1],)
    for params in searches:
        assert fitted.nbrs_.get_params() == params


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_sparse_results_have_32_bit_indices(cls, roll):
    fitted = fitted_with_defaults(cls, roll)
    graphs = [value for value in vars(fitted).values() if sparse.issparse(value)]
    if "graph_" in cls.__doc__ or "affinity_matrix_" in cls.__doc__:
        assert graphs
    for graph in graphs:
        assert graph.indices.dtype == graph.indptr.dtype == np.int32
        assert csgraph.connected_components(graph)[0] >= 1


def test_sparse_results_of_functions_have_32_bit_indices(roll):
    for given in ({"n_neighbors": 5}, {"n_neighbors": None, "radius": 4.0}):
        graph = planish.neighbors_graph(roll, **given)
        assert graph.indices.dtype == graph.indptr.dtype == np.int32


def test_messages_contain_the_words_of_scikit_learn(blob, two_islands):
    with pytest.raises(ValueError, match="Both n_neighbors and radius are provided"):
        Isomap(n_neighbors=5, radius=1.0).fit(blob)
    with pytest.raises(ValueError, match="Both n_neighbors and radius are provided"):
        Isomap(n_neighbors=5, radius=1.0, metric="canberra").fit(blob)
    with pytest.warns(UserWarning, match="number of connected components") as caught:
        Isomap(n_neighbors=4).fit(two_islands)
    gap = min(np.linalg.norm(a - b) for a in two_islands[:20] for b in two_islands[20:])
    longest = re.search(r"longest ([\d.e+-]+\d)", str(caught[0].message))[1]
    assert float(longest) == pytest.approx(gap, rel=1e-3)
    asymmetric = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    for kind in (ClassicalMDS(1), LandmarkMDS(1), Isomap(n_neighbors=1, n_components=1)):
        estimator = kind.set_params(metric="precomputed")
        with pytest.raises(ValueError, match="Array must be symmetric"):
            estimator.fit(asymmetric)
        with pytest.raises(ValueError, match="array must be 2-dimensional and square"):
            estimator.fit(asymmetric[:2])
