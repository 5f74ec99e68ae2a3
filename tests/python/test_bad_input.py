"""What planish refuses: each message names the parameter, the row or the pair, and what to do."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import planish
from planish import PCA, ClassicalMDS, Isomap, KernelMDS, _core
from planish.exceptions import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    InputAdjustedWarning,
    InputError,
    MemoryNeedError,
    NegativeEigenvalueWarning,
    OutlierWarning,
    ParameterError,
    RankDeficientWarning,
    UnsupportedError,
)

ALL = [PCA(n_components=2), ClassicalMDS(), KernelMDS(), Isomap(n_neighbors=5)]


@pytest.fixture(params=ALL, ids=lambda e: type(e).__name__)
def estimator(request):
    return clone(request.param)


def refused(estimator, X, error, match):
    """Fitting raises that error and leaves the estimator as it was."""
    before = dict(vars(estimator))
    with pytest.raises(error, match=match):
        estimator.fit(X)
    assert vars(estimator) == before
    with pytest.raises(NotFittedError):
        estimator.transform(X)


# ---- values ---------------------------------------------------------------------------


def test_nan_names_row_and_column(estimator, blob):
    blob[3, 1] = np.nan
    refused(estimator, blob, InputError, r"X contains NaN at row 3, column 1")


def test_infinity_names_row_and_column(estimator, blob):
    blob[7, 0] = -np.inf
    refused(estimator, blob, InputError, r"X contains inf.* at row 7, column 0")


def test_nan_in_sparse_data_names_the_row(estimator):
    X = sparse.random(30, 6, density=0.5, format="csr", random_state=0)
    X.data[X.indptr[11]] = np.nan
    refused(estimator, X, InputError, r"NaN at row 11")


def test_nan_with_a_foreign_metric_names_the_row(blob):
    blob[3, 1] = np.nan
    for estimator in (ClassicalMDS(metric="canberra"), Isomap(metric="canberra")):
        refused(estimator, blob, InputError, r"X contains NaN at row 3, column 1")


def test_missing_values_are_accepted_where_the_metric_takes_them(blob):
    holes = blob.copy()
    holes[3, 1] = np.nan
    Y = ClassicalMDS(metric="nan_euclidean").fit_transform(holes)
    assert np.isfinite(Y).all()


def test_nan_in_new_rows(estimator, blob):
    estimator.fit(blob)
    new = blob[:4].copy()
    new[2, 3] = np.nan
    with pytest.raises(InputError, match=r"X contains NaN at row 2, column 3"):
        estimator.transform(new)


def test_overflow_is_refused_or_scaled(estimator):
    X = np.random.default_rng(0).normal(size=(30, 3)) * 1e200
    estimator.set_params(n_components=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", planish.exceptions.PlanishWarning)
        try:
            assert np.isfinite(estimator.fit_transform(X)).all()
        except InputError as error:
            assert "scale" in str(error)  # noqa: PT017


# ---- shapes ---------------------------------------------------------------------------


def test_one_dimension(estimator):
    refused(estimator, np.arange(10.0), ValueError, r"Expected 2D array, got 1D array")


def test_empty(estimator):
    refused(estimator, np.empty((0, 3)), ValueError, r"0 sample\(s\)")
    refused(estimator, np.empty((3, 0)), ValueError, r"0 feature\(s\)")


def test_strings(estimator):
    refused(estimator, np.array([["a", "b"]] * 9), ValueError, r"convert string to float|could not")


def test_complex(estimator):
    refused(estimator, np.ones((9, 2)) * 1j, ValueError, r"Complex data not supported")


def test_other_number_of_columns_in_transform(estimator, blob):
    estimator.fit(blob)
    with pytest.raises(ValueError, match=r"X has 4 features, but \w+ is expecting 5 features"):
        estimator.transform(blob[:, :4])


def test_transform_before_fit(estimator, blob):
    with pytest.raises(NotFittedError):
        estimator.transform(blob)


# ---- precomputed matrices -------------------------------------------------------------


@pytest.fixture(params=[ClassicalMDS, Isomap])
def precomputed(request):
    return request.param(metric="precomputed")


@pytest.fixture
def distances(blob):
    return squareform(pdist(blob))


def test_not_square(precomputed, distances):
    refused(precomputed, distances[:, :50], InputError, r"square.*60.*50")


def test_asymmetric_names_the_pair(precomputed, distances):
    distances[4, 9] += 1.0
    refused(precomputed, distances, InputError, r"(?s)symmetric.*(4.*9|9.*4)")


def test_negative_names_the_pair(precomputed, distances):
    distances[2, 5] = distances[5, 2] = -1.0
    refused(precomputed, distances, InputError, r"(?s)negative.*2.*5|2.*5.*negative")


def test_diagonal_names_the_row(precomputed, distances):
    distances[6, 6] = 0.5
    refused(precomputed, distances, InputError, r"(?s)diagonal.*6|6.*diagonal|itself.*6|6.*itself")


def test_nan_distance_names_the_pair(precomputed, distances):
    distances[8, 1] = distances[1, 8] = np.nan
    refused(precomputed, distances, InputError, r"NaN at row 1, column 8")


def test_rounding_asymmetry_is_corrected_with_a_warning(precomputed, distances):
    rough = distances * (1 + 1e-9 * np.random.default_rng(0).normal(size=distances.shape))
    np.fill_diagonal(rough, 0.0)
    with pytest.warns(InputAdjustedWarning, match="symmetric"):
        ours = precomputed.fit(rough)
    exact = clone(precomputed).fit(distances)
    np.testing.assert_allclose(ours.eigenvalues_, exact.eigenvalues_, rtol=1e-6)


def test_float32_distances_are_symmetric_enough(precomputed, distances):
    # The same numbers in float32 differ from their transpose in nothing; sums in another
    # order do, and must not be refused (scikit-learn issue 11159).
    single = distances.astype(np.float32)
    single[3, 7] = np.nextafter(single[3, 7], np.float32(np.inf))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputAdjustedWarning)
        assert np.isfinite(precomputed.fit_transform(single)).all()


def test_sparse_distances_are_refused_by_classical_mds(distances):
    estimator = ClassicalMDS(metric="precomputed")
    refused(estimator, sparse.csr_array(distances), InputError, r"dense.*toarray")


def test_sparse_kernel_is_refused(blob):
    K = sparse.csr_array(blob @ blob.T)
    refused(KernelMDS(kernel="precomputed"), K, InputError, r"dense.*toarray")


def test_asymmetric_kernel_names_the_pair(blob):
    K = blob @ blob.T
    K[4, 9] += 100.0
    refused(KernelMDS(kernel="precomputed"), K, InputError, r"(?s)symmetric.*(4.*9|9.*4)")


def test_negative_edge_in_a_graph(blob):
    graph = planish.neighbors_graph(blob, n_neighbors=6)
    graph.data[0] = -1.0
    estimator = Isomap(metric="precomputed", n_neighbors=6)
    refused(estimator, graph, InputError, r"rows 0 and \d+ has length -1")


def test_a_graph_that_is_not_square_is_refused(blob):
    graph = planish.neighbors_graph(blob, n_neighbors=6)
    for wrong in (graph[:, :50], graph[:50]):
        estimator = Isomap(metric="precomputed", n_neighbors=6)
        refused(estimator, wrong, InputError, r"square.*(60.*50|50.*60)")


# ---- parameters -----------------------------------------------------------------------

WRONG = [
    (PCA, "n_components", 0, r"n_components"),
    (PCA, "n_components", -1, r"n_components"),
    (PCA, "n_components", 6, r"n_components.*5"),
    (PCA, "n_components", 1.5, r"n_components"),
    (PCA, "n_components", "all", r"n_components"),
    (PCA, "n_components", True, r"n_components"),
    (PCA, "copy", "yes", r"copy"),
    (PCA, "whiten", 3, r"whiten"),
    (PCA, "svd_solver", "lapack", r"svd_solver.*full"),
    (PCA, "tol", -1.0, r"tol"),
    (PCA, "iterated_power", -1, r"iterated_power"),
    (PCA, "n_oversamples", 0, r"n_oversamples"),
    (PCA, "power_iteration_normalizer", "svd", r"power_iteration_normalizer.*QR"),
    (PCA, "random_state", "seed", r"random_state"),
    (PCA, "random_state", -5, r"random_state"),
    (ClassicalMDS, "n_components", 0, r"n_components"),
    (ClassicalMDS, "n_components", 2.0, r"n_components"),
    (ClassicalMDS, "n_components", 61, r"n_components"),
    (ClassicalMDS, "metric", "furlong", r"metric.*furlong.*euclidean"),
    (ClassicalMDS, "metric", 3, r"metric"),
    (ClassicalMDS, "metric_params", [3], r"metric_params"),
    (ClassicalMDS, "origin", 60, r"origin.*60"),
    (ClassicalMDS, "origin", -1, r"origin"),
    (ClassicalMDS, "origin", [0.5, 0.5], r"origin.*60"),
    (ClassicalMDS, "origin", "mean", r"origin"),
    (ClassicalMDS, "eigen_solver", "lobpcg", r"eigen_solver.*dense"),
    (ClassicalMDS, "max_iter", 0, r"max_iter"),
    (ClassicalMDS, "tol", "small", r"tol"),
    (KernelMDS, "n_components", 0, r"n_components"),
    (KernelMDS, "n_components", "all", r"n_components"),
    (KernelMDS, "alpha", -1.0, r"alpha.*at least 0"),
    (KernelMDS, "fit_inverse_transform", "yes", r"fit_inverse_transform.*bool"),
    (KernelMDS, "remove_zero_eig", 1, r"remove_zero_eig.*bool"),
    (KernelMDS, "iterated_power", -2, r"iterated_power"),
    (KernelMDS, "kernel", "popcorn", r"kernel.*popcorn.*rbf"),
    (KernelMDS, "gamma", "scale", r"gamma"),
    (KernelMDS, "degree", "cubic", r"degree"),
    (KernelMDS, "coef0", None, r"coef0"),
    (KernelMDS, "eigen_solver", 1, r"eigen_solver"),
    (Isomap, "n_neighbors", 0, r"n_neighbors"),
    (Isomap, "n_neighbors", 60, r"n_neighbors.*60"),
    (Isomap, "n_neighbors", 5.0, r"n_neighbors"),
    (Isomap, "n_neighbors", None, r"(?s)n_neighbors.*radius"),
    (Isomap, "radius", 1.0, r"(?s)n_neighbors.*radius|radius.*n_neighbors"),
    (Isomap, "n_components", 0, r"n_components"),
    (Isomap, "n_components", 61, r"n_components"),
    (Isomap, "eigen_solver", "magic", r"eigen_solver.*dense"),
    (Isomap, "path_method", "A*", r"path_method.*FW"),
    (Isomap, "neighbors_algorithm", "hnsw", r"neighbors_algorithm.*brute"),
    (Isomap, "metric", "furlong", r"metric.*furlong.*euclidean"),
    (Isomap, "metric_params", "p", r"metric_params"),
    (Isomap, "p", 0.5, r"`p`.*1"),
    (Isomap, "disconnected", "ignore", r"disconnected.*bridge"),
    (Isomap, "tol", -1, r"tol"),
    (Isomap, "max_iter", -1, r"max_iter"),
]


@pytest.mark.parametrize(
    ("cls", "name", "value", "match"), WRONG, ids=[f"{c.__name__}-{n}-{v}" for c, n, v, _ in WRONG]
)
def test_wrong_parameter(cls, name, value, match, blob):
    refused(cls(**{name: value}), blob, ParameterError, match)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_jobs", 0), ("n_jobs", 2.0), ("n_jobs", True), ("verbose", -1), ("verbose", "loud")],
)
def test_wrong_common_parameter(estimator, name, value, blob):
    refused(estimator.set_params(**{name: value}), blob, ParameterError, name)


@pytest.mark.parametrize(
    "value", [object(), {}, [1, "a"], 10**40, b"x", np.array([[1.0]])], ids=repr
)
def test_values_of_no_use_are_parameter_errors(estimator, value, blob):
    refused(estimator.set_params(n_components=value), blob, ParameterError, "n_components")


def test_numpy_scalars_are_numbers(blob):
    plain = Isomap(n_neighbors=8, n_components=2, tol=0.0, p=2).fit_transform(blob)
    scalars = Isomap(
        n_neighbors=np.int32(8), n_components=np.int64(2), tol=np.float32(0), p=np.float64(2)
    )
    assert np.array_equal(scalars.fit_transform(blob), plain)
    assert np.array_equal(
        PCA(np.int16(2), whiten=np.bool_(True)).fit_transform(blob),
        PCA(2, whiten=True).fit_transform(blob),
    )


def test_foreign_metric_refusals_name_the_parameter(blob):
    refused(Isomap(metric="canberra", n_neighbors=60), blob, ParameterError, r"n_neighbors.*60")
    refused(Isomap(metric="canberra", n_neighbors=None), blob, ParameterError, r"radius")
    refused(Isomap(metric="canberra", radius=1.0), blob, ParameterError, r"radius")
    refused(Isomap(metric="canberra", n_neighbors=-3), blob, ParameterError, r"n_neighbors")
    refused(Isomap(metric="haversine"), blob, ParameterError, r"metric.*haversine")
    wrong = ClassicalMDS(metric="euclidean", metric_params={"power": 3})
    refused(wrong, blob, ParameterError, r"metric.*euclidean.*power")


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan"])
def test_arguments_that_a_metric_would_ignore_are_refused(metric, blob):
    for kind in (ClassicalMDS, Isomap):
        wrong = kind(metric=metric, metric_params={"w": np.ones(5)})
        refused(wrong, blob, ParameterError, rf"metric_params.*{metric}.*no arguments, got 'w'")


def test_metrics_that_divide_by_variances_say_when_there_are_none(blob):
    constant = blob.copy()
    constant[:, 3] = 7.0
    for kind in (ClassicalMDS, Isomap):
        refused(kind(metric="seuclidean"), constant, ParameterError, r"column 3 of X is constant")
        refused(kind(metric="mahalanobis"), constant, ParameterError, r"has no inverse")
        line = np.arange(30.0)[:, None] * [1.0, 1e3, 1e-3]
        refused(kind(metric="mahalanobis"), line, ParameterError, r"has no inverse")
        for metric in ("seuclidean", "mahalanobis"):
            refused(kind(metric=metric), blob * 1e200, ParameterError, r"variances.*exceed")


def test_a_users_metric_raises_its_own_errors(blob):
    def metric(a, b):
        raise ZeroDivisionError("from the user's own code")

    refused(ClassicalMDS(metric=metric), blob, ZeroDivisionError, "user's own code")
    refused(Isomap(metric=metric), blob, ZeroDivisionError, "user's own code")


def test_failed_refit_keeps_the_fit(estimator, blob):
    expected = estimator.fit(blob).transform(blob)
    before = dict(vars(estimator))
    bad = blob.copy()
    bad[0, 0] = np.nan
    with pytest.raises(InputError):
        estimator.fit(bad[:, :4])
    assert vars(estimator).keys() == before.keys()
    assert estimator.n_features_in_ == 5
    assert np.array_equal(estimator.transform(blob), expected)


# ---- disconnected graphs --------------------------------------------------------------


def test_disconnected_error_carries_the_labels(two_islands):
    estimator = Isomap(n_neighbors=4, disconnected="error")
    with pytest.raises(
        DisconnectedGraphError, match=r"number of connected components .* is 2"
    ) as caught:
        estimator.fit(two_islands)
    assert caught.value.n_components == 2
    assert np.array_equal(caught.value.labels, np.repeat([0, 1], 20))
    assert not hasattr(estimator, "embedding_")


def test_disconnected_largest_gives_nan_outside(two_islands):
    X = two_islands[:33]  # 20 rows and 13 rows
    with pytest.warns(DisconnectedGraphWarning, match=r"number of connected components .* is 2"):
        Y = Isomap(n_neighbors=4, disconnected="largest").fit_transform(X)
    assert Y.shape == (33, 2)
    assert np.isnan(Y[20:]).all()
    alone = Isomap(n_neighbors=4).fit_transform(X[:20])
    np.testing.assert_allclose(np.abs(Y[:20]), np.abs(alone), atol=1e-9)


def test_disconnected_precomputed_graph_cannot_be_bridged(two_islands):
    graph = planish.neighbors_graph(two_islands, n_neighbors=4)
    estimator = Isomap(n_neighbors=4, metric="precomputed")
    refused(
        estimator, graph, UnsupportedError, r"number of connected components .* is 2 .*'largest'"
    )


def test_disconnected_foreign_metric_policies(two_islands):
    with pytest.raises(DisconnectedGraphError):
        Isomap(n_neighbors=4, metric="sqeuclidean", disconnected="error").fit(two_islands)
    with pytest.warns(DisconnectedGraphWarning):
        Y = Isomap(n_neighbors=4, metric="sqeuclidean", disconnected="largest").fit_transform(
            two_islands
        )
    assert np.isnan(Y).any(axis=1).sum() == 20


def test_isolated_rows_of_a_radius_graph(roll):
    X = np.vstack([roll, [[500.0, 0.0, 0.0]]])
    with pytest.warns(DisconnectedGraphWarning), pytest.warns(OutlierWarning):
        fitted = Isomap(n_neighbors=None, radius=6.0).fit(X)
    assert fitted.n_connected_components_ == 2
    assert np.isfinite(fitted.embedding_).all()
    with pytest.raises(InputError, match=r"row 1"):
        fitted.transform(np.vstack([roll[:1] + 0.1, [[-9e3, 0.0, 0.0]]]))


# ---- spectra --------------------------------------------------------------------------


def square_metric():
    """Distances around a 4-cycle: 1 to each neighbour, 2 across; not Euclidean."""
    return np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], dtype=float)


@pytest.mark.filterwarnings("ignore::planish.exceptions.RankDeficientWarning")
def test_negative_eigenvalues_are_reported_never_rooted():
    with pytest.warns(NegativeEigenvalueWarning):
        fitted = ClassicalMDS(4, metric="precomputed").fit(square_metric())
    assert fitted.embedding_.shape == (4, 4)
    assert np.isfinite(fitted.embedding_).all()
    # The spectrum is 2, 2, 0, -1, by hand; the imaginary column is zero.
    np.testing.assert_allclose(fitted.eigenvalues_, [2, 2, 0, -1], atol=1e-12)
    np.testing.assert_allclose(fitted.embedding_[:, 2:], 0.0, atol=1e-7)
    assert np.isfinite(fitted.transform(square_metric())).all()


def test_rank_deficiency_is_reported():
    line = np.arange(20.0)[:, None] * [[1.0, 2.0, 3.0]]
    for estimator in (ClassicalMDS(2), KernelMDS(2), Isomap(n_neighbors=2)):
        with pytest.warns(RankDeficientWarning):
            Y = estimator.fit_transform(line)
        np.testing.assert_allclose(Y[:, 1], 0.0, atol=1e-6)


def test_singular_covariance_has_no_precision():
    line = np.arange(20.0)[:, None] * [[1.0, 2.0, 3.0]]
    fitted = PCA(1).fit(line)
    fitted.noise_variance_ = 0.0
    with pytest.raises(UnsupportedError, match="singular"):
        fitted.get_precision()


def test_inverse_transform_refuses_other_widths(blob):
    fitted = PCA(2).fit(blob)
    with pytest.raises(ValueError, match=r"3.*2|2.*3"):
        fitted.inverse_transform(np.ones((4, 3)))


# ---- memory ---------------------------------------------------------------------------


def test_ten_million_rows_are_refused_before_any_work():
    X = np.arange(10_000_000, dtype=np.float64)[:, None]
    estimator = Isomap()
    with pytest.raises(MemoryNeedError, match=r"needs .*TB.* available; ") as caught:
        estimator.fit(X)
    assert caught.value.need > 1e13
    assert caught.value.available < caught.value.need
    assert vars(estimator) == vars(Isomap())
    assert planish.estimate_memory(Isomap(), 10_000_000, 1) >= 1e13


def test_memory_limit_of_the_core(blob):
    params = Isomap()._core_params(len(blob))
    with pytest.raises(MemoryNeedError, match=r"available; ") as caught:
        _core.fit("Isomap", params, ("points", blob), 1, 0, None, 1000)
    assert caught.value.available == 1000


def test_a_whole_matrix_for_a_foreign_metric_is_refused(monkeypatch, two_islands):
    from planish import _data

    monkeypatch.setattr(_data, "available_memory", lambda: 1000)
    estimator = Isomap(n_neighbors=4, metric="sqeuclidean")
    refused(estimator, two_islands, MemoryNeedError, r"40 × 40.*needs")


# ---- functions ------------------------------------------------------------------------


def test_kneighbors_refusals(blob):
    for wrong, match in [
        ({"n_neighbors": 60}, "n_neighbors.*60"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": None}, "n_neighbors"),
        ({"n_neighbors": "five"}, "n_neighbors"),
        ({"metric": "canberra"}, "metric.*NearestNeighbors"),
        ({"algorithm": "hnsw"}, "algorithm.*brute"),
        ({"metric": "minkowski", "p": 0.5}, "`p`"),
        ({"p": "two"}, "`p`"),
        ({"n_jobs": 0}, "n_jobs"),
    ]:
        with pytest.raises(ParameterError, match=match):
            planish.kneighbors(blob, **wrong)
    with pytest.raises(ValueError, match=r"5.*4|4.*5"):
        planish.kneighbors(blob, query=blob[:, :4])
    with pytest.raises(ParameterError, match="radius"):
        planish.neighbors_graph(blob)


def test_geodesic_distances_refusals(blob):
    graph = planish.neighbors_graph(blob, n_neighbors=6)
    with pytest.raises(ParameterError, match=r"sources.*60"):
        planish.geodesic_distances(graph, sources=[60])
    with pytest.raises(ParameterError, match="sources"):
        planish.geodesic_distances(graph, sources=[-1])
    with pytest.raises(ParameterError, match="sources"):
        planish.geodesic_distances(graph, sources=[0.5])
    with pytest.raises(ParameterError, match="path_method"):
        planish.geodesic_distances(graph, path_method="A*")
    with pytest.raises(InputError, match="sparse"):
        planish.geodesic_distances(graph.toarray())
    with pytest.raises(InputError, match="square"):
        planish.geodesic_distances(graph[:10])
    graph.data[5] = np.nan
    with pytest.raises(InputError, match="NaN"):
        planish.geodesic_distances(graph)
    two_lengths = sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    with pytest.raises(InputError, match=r"0.*1"):
        planish.geodesic_distances(two_lengths)


def test_estimate_memory_refusals():
    with pytest.raises(ParameterError, match=r"method.*Umap.*Isomap"):
        planish.estimate_memory("Umap", 10, 3)
    with pytest.raises(ParameterError, match="n_samples"):
        planish.estimate_memory("PCA", -1, 3)
    with pytest.raises(ParameterError, match="n_features"):
        planish.estimate_memory("PCA", 10, 2.5)
