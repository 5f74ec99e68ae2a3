"""n_components="auto": the dimension of the data, for every method that can use it."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import planish
from planish import datasets
from planish.exceptions import DimensionWarning, ParameterError

#: Every method whose map has as many columns as the data has dimensions.
METHODS = [
    planish.PCA(n_components="auto"),
    planish.ClassicalMDS(n_components="auto"),
    planish.KernelMDS(n_components="auto"),
    planish.KernelMDS(n_components="auto", kernel="rbf", gamma=0.01),
    planish.LandmarkMDS(n_components="auto", n_landmarks=60),
    planish.MDS(n_components="auto", n_init=1, init="classical_mds", max_iter=20),
    planish.SammonMapping(n_components="auto", n_init=1, init="classical_mds", max_iter=20),
    planish.Isomap(n_components="auto", n_neighbors=10),
    planish.KernelIsomap(n_components="auto", n_neighbors=10),
    planish.LandmarkIsomap(n_components="auto", n_neighbors=10, n_landmarks=60),
    planish.LocallyLinearEmbedding(n_components="auto", n_neighbors=15),
    planish.LocallyLinearEmbedding(n_components="auto", n_neighbors=12, method="ltsa"),
    planish.SpectralEmbedding(n_components="auto", n_neighbors=10),
    planish.SpectralEmbedding(n_components="auto", affinity="rbf", gamma=0.05),
    planish.DiffusionMaps(n_components="auto"),
]


def quiet_fit(estimator, X):
    """Fit; what other warnings an estimator has is not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", DimensionWarning)
        return estimator.fit(X)


def width(X, **params):
    return quiet_fit(planish.Isomap(n_components="auto", n_neighbors=10, **params), X).n_components_


@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method)[:50])
def test_every_method_takes_as_many_columns_as_the_data_has_dimensions(method):
    X = datasets.cube(500, 3, n_features=6, random_state=4).points
    fitted = quiet_fit(clone(method), X)
    assert fitted.n_components_ == 3
    assert fitted.transform(X).shape == (500, 3)
    assert len(fitted.get_feature_names_out()) == 3
    assert fitted.get_params()["n_components"] == "auto"  # what the user asked for stays
    again = pickle.loads(pickle.dumps(fitted))
    assert again.n_components_ == 3
    np.testing.assert_array_equal(again.transform(X[:5]), fitted.transform(X[:5]))
    # The map is that of the number.
    number = quiet_fit(clone(method).set_params(n_components=3), X)
    np.testing.assert_array_equal(number.transform(X[:5]), fitted.transform(X[:5]))
    assert number.n_components_ == 3


@pytest.mark.parametrize(
    ("points", "d"),
    [
        (lambda: datasets.swiss_roll(1000).points, 2),
        (lambda: datasets.swiss_roll(1000, noise=0.3).points, 2),
        (lambda: datasets.s_curve(600).points, 2),
        (lambda: datasets.torus(800).points, 2),
        (lambda: datasets.punctured_sphere(600).points, 2),
        (lambda: datasets.helix(300).points, 1),
        # A curve, but one that sharp edges in the pictures bend at every scale.
        (lambda: datasets.rotating_object(72, size=16).points, 2),
        (lambda: datasets.flat_torus(2000, 4).points, 4),
        *[(lambda d=d: datasets.cube(2000, d, n_features=12).points, d) for d in range(1, 7)],
    ],
)
def test_manifolds_of_known_dimension(points, d):
    assert width(points()) == d


def test_distances_kernels_graphs_and_metrics_say_the_same():
    X = datasets.cube(600, 3, n_features=5, random_state=1).points
    D = squareform(pdist(X))
    assert width(D, metric="precomputed") == 3
    assert width(X, metric="manhattan") == 3
    assert width(X[:300], metric=lambda a, b: float(np.abs(a - b).max())) == 3
    graph = planish.kneighbors(X, 10)
    offsets = np.arange(0, 6001, 10)
    lists = sparse.csr_array((graph[0].ravel(), graph[1].ravel(), offsets), shape=(600, 600))
    assert width(lists, metric="precomputed") == 3
    kernel = planish.KernelMDS(n_components="auto", kernel="precomputed")
    assert quiet_fit(kernel, X @ X.T).n_components_ == 3
    # A chain has two neighbours of each row: shortest paths tell.
    steps = np.ones(199) + 0.1 * np.random.default_rng(0).random(199)
    chain = sparse.csr_array(sparse.diags([steps, steps], offsets=[-1, 1]))
    assert width(chain, metric="precomputed") == 1


def test_parts_duplicates_and_sparse_rows():
    rng = np.random.default_rng(0)
    sheet = rng.random((300, 2)) @ rng.normal(size=(2, 5))
    apart = np.vstack([sheet, sheet[::-1] + 100.0])
    assert width(apart) == 2
    assert width(np.repeat(sheet, 3, axis=0)) == 2
    assert quiet_fit(planish.LocallyLinearEmbedding(n_components="auto", n_neighbors=8), apart)
    assert width(sparse.csr_array(sheet)) == 2
    assert width(sheet.astype(np.float32)) == 2


def test_the_number_is_the_same_for_any_threads_and_scale():
    X = datasets.cube(4000, 4, n_features=8, random_state=2).points  # a sample of the rows
    for n_jobs, scale in [(1, 1.0), (2, 1.0), (2, 1e150)]:
        pca = planish.PCA(n_components="auto", n_jobs=n_jobs).fit(X * scale)
        assert pca.n_components_ == 4


def test_disagreement_is_told():
    rng = np.random.default_rng(3)
    angles = rng.random((300, 8)) * 2 * np.pi
    circles = np.hstack([np.cos(angles), np.sin(angles)])
    with pytest.warns(DimensionWarning, match=r"'auto' took .* disagree: .* distances .* angles"):
        fitted = planish.PCA(n_components="auto").fit(circles)
    assert 8 <= fitted.n_components_ <= 16


def test_what_says_nothing_is_refused_with_the_reason():
    X = datasets.swiss_roll(60).points
    auto = planish.Isomap(n_components="auto")
    for bad, why in [
        (X[:4], "4 rows are too few"),
        (np.zeros((30, 3)), "all 30 rows are equal"),
        (np.repeat(X[:4], 10, axis=0), "only 4 of the 40 rows are distinct"),
    ]:
        with pytest.raises(ParameterError, match=rf"n_components.*{why}.*give a number"):
            auto.fit(bad)
    assert not hasattr(auto, "n_components_")
    affinities = np.exp(-(squareform(pdist(X)) ** 2))
    with pytest.raises(ParameterError, match="affinities do not say how far"):
        planish.SpectralEmbedding(n_components="auto", affinity="precomputed").fit(affinities)
    steps = (np.arange(40)[:, None] - np.arange(40)) % 40
    ring = sparse.csr_array(np.isin(steps, [1, 2, 38, 39]).astype(float))  # equal lengths
    with pytest.raises(ParameterError, match="give a number"):
        planish.Isomap(n_components="auto", metric="precomputed").fit(ring)
    with pytest.raises(ParameterError, match="t-SNE draws neighbourhoods to be looked at"):
        planish.TSNE(n_components="auto").fit(X)
    with pytest.raises(ParameterError, match="whole number >= 0 or 'auto'"):
        planish.Isomap(n_components="many").fit(X)


def test_scikit_learns_checks():
    check_estimator(planish.PCA(n_components="auto"), on_fail="raise")
