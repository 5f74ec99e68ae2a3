"""Intrinsic dimension: manifolds of known dimension, every kind of input, the table."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import planish
from planish import datasets, dimension
from planish.exceptions import (
    InputAdjustedWarning,
    InputError,
    MemoryNeedError,
    ParameterError,
    UnsupportedError,
)

METHODS = dimension._NEIGHBOR_METHODS
SINGLE = [getattr(dimension, name) for name in METHODS if name != "two_nn_likelihood"]


def values(found):
    return np.array([one.value for one in found])


# -- manifolds of known dimension ---------------------------------------------------------


@pytest.mark.parametrize("d", range(1, 11))
def test_every_method_is_within_ten_percent_on_bent_cubes(d):
    """2 000 points. Uncorrected, up to 4 dimensions; corrected for the number of rows, up to 10."""
    X = datasets.cube(2000, d, n_features=d + 10, random_state=1).points
    found = dimension.estimate(X, n_bootstraps=50, calibrate=True)
    corrected = np.array([one.corrected for one in found])
    assert (abs(corrected / d - 1) < 0.1).all(), corrected
    assert found.dimension == d
    # Their intervals hold the dimension and are no wider than they need be.
    low, high = np.array([one.corrected_interval for one in found]).T
    assert ((low <= d) & (d <= high)).all(), found
    assert ((low < corrected) & (corrected < high)).all()
    assert (high - low < 0.35 * d).all(), found
    if d <= 4:
        assert (abs(values(found) / d - 1) < 0.1).all(), values(found)
    # By their axes neighbourhoods have ten dimensions without a correction.
    assert abs(found["local_pca"].value / d - 1) < 0.1
    # The others fall short, by at most a fifth.
    assert (values(found) / d > 0.8).all(), values(found)


@pytest.mark.parametrize(
    ("make", "d"),
    [
        (datasets.helix, 1),
        (datasets.toroidal_helix, 1),
        (datasets.swiss_roll, 2),
        (datasets.s_curve, 2),
        (datasets.punctured_sphere, 2),
        (datasets.torus, 2),
        (datasets.twin_peaks, 2),
        (lambda n: datasets.flat_torus(n, 3), 3),
    ],
)
def test_every_method_is_within_ten_percent_on_curves_and_surfaces(make, d):
    found = dimension.estimate(make(2000).points, 16, n_bootstraps=0)
    assert (abs(values(found) / d - 1) < 0.1).all(), found


@pytest.mark.parametrize(
    ("make", "d"),
    [
        (datasets.helix, 1),
        (datasets.swiss_roll, 2),
        (datasets.s_curve, 2),
        (datasets.punctured_sphere, 2),
        (datasets.torus, 2),
        (datasets.twin_peaks, 2),
    ],
)
def test_corrected_intervals_hold_the_dimension_of_what_is_no_cube(make, d):
    found = dimension.estimate(make(2000, random_state=1).points, calibrate=True)
    low, high = np.array([one.corrected_interval for one in found]).T
    assert ((low <= d) & (d <= high)).all(), found


def test_intervals_are_corrected_with_the_values():
    X = datasets.cube(500, 4, n_features=9).points
    found = dimension.estimate(X, calibrate=True)
    frame = found.to_frame()
    assert (frame.corrected_low < frame.corrected).all()
    assert (frame.corrected < frame.corrected_high).all()
    line = str(found).splitlines()[1]
    one = found["maximum_likelihood"]
    assert line.endswith("({:.2f} to {:.2f})".format(*one.corrected_interval))
    assert dimension.estimate(X)["moments"].corrected_interval is None
    plain = dimension.moments(X, calibrate=True, n_bootstraps=0)
    assert plain.corrected_interval is None
    assert plain.corrected == found["moments"].corrected


def test_noise_shows_at_small_scales_only():
    found = dimension.estimate(datasets.swiss_roll(2000, noise=0.3).points, 32)
    scales = [scale.value for scale in found["gride"].scales]
    assert scales[0] > 2.4
    assert scales[-1] < 2.2
    assert scales == sorted(scales, reverse=True)
    assert "falls with the scale" in found.summary


def test_rows_have_the_dimension_of_their_own_part():
    line = np.column_stack([9 * datasets.cube(400, 1).points, np.zeros((400, 2))])
    ball = datasets.cube(1500, 3).points
    ball[:, 0] += 20
    X = np.vstack([line, ball])
    for method in (dimension.maximum_likelihood, dimension.two_nn, dimension.moments):
        local = method(X, 15).local
        assert np.median(local[:400]) < 1.5
        assert np.median(local[400:]) > 2.2


# -- intervals ----------------------------------------------------------------------------


def test_intervals_hold_the_mean_of_many_samples():
    found = [
        dimension.estimate(datasets.cube(800, 5, random_state=seed).points, 10)
        for seed in range(40)
    ]
    for method in METHODS:
        centre = np.mean([one[method].value for one in found])
        low, high = np.array([one[method].interval for one in found]).T
        # Some 95 % should, and at least 30 of 40 do.
        assert np.sum((low <= centre) & (centre <= high)) >= 30, method


def test_a_seed_decides_the_interval_and_nothing_else():
    X = datasets.torus(300).points
    one, same = (dimension.two_nn(X, random_state=4) for _ in range(2))
    other = dimension.two_nn(X, random_state=5)
    assert one.interval == same.interval != other.interval
    assert one.value == other.value
    assert dimension.two_nn(X, n_bootstraps=0).interval is None
    wide, narrow = (dimension.two_nn(X, confidence=share).interval for share in (0.99, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


# -- kinds of input -----------------------------------------------------------------------


def test_distances_points_and_neighbours_say_the_same():
    X = datasets.cube(400, 3, n_features=6).points
    found = dimension.estimate(X, 12, n_bootstraps=30)
    options = {"n_neighbors": 12, "n_bootstraps": 30}
    for other in (
        dimension.estimate(cdist(X, X), metric="precomputed", **options),
        dimension.estimate(sparse.csr_array(X), **options),
        dimension.estimate(pd.DataFrame(X), **options),
        dimension.estimate(2.0**-300 * X, **options),
    ):
        np.testing.assert_allclose(values(other), values(found), rtol=1e-7)
        np.testing.assert_allclose(other["moments"].interval, found["moments"].interval, rtol=1e-7)
    neighbors = planish.kneighbors(X, 12)[1]
    given = dimension.estimate(X, neighbors=neighbors, n_bootstraps=30)
    assert "correlation" in given["correlation"].note
    for method in METHODS:
        if method != "correlation":
            assert given[method].value == pytest.approx(found[method].value, rel=1e-9)
    graph = planish.neighbors_graph(X, n_neighbors=12)
    known = dimension.estimate(graph, 12, metric="precomputed", n_bootstraps=30)
    assert known["gride"].value == pytest.approx(found["gride"].value, rel=1e-9)
    assert known["local_pca"].note
    assert np.isnan(known["local_pca"].value)
    with pytest.raises(UnsupportedError, match="axes"):
        dimension.local_pca(graph, 12, metric="precomputed")


def test_any_metric():
    X = datasets.swiss_roll(200).points
    manhattan = dimension.maximum_likelihood(X, 8, metric="manhattan")
    called = dimension.maximum_likelihood(X, 8, metric=lambda a, b: np.abs(a - b).sum())
    assert called.value == pytest.approx(manhattan.value, rel=1e-9)
    np.testing.assert_allclose(called.local, manhattan.local, rtol=1e-9)
    repeated = np.vstack([X, X[:50]])
    with pytest.warns(InputAdjustedWarning, match="50 of 250 rows"):
        again = dimension.maximum_likelihood(repeated, 8, metric="canberra")
    assert again.local.shape == (250,)
    assert (again.local[200:] == again.local[:50]).all()
    assert again.value == dimension.maximum_likelihood(X, 8, metric="canberra").value


def test_duplicates_are_told_once():
    X = datasets.swiss_roll(300).points
    single = dimension.estimate(X)
    with pytest.warns(InputAdjustedWarning, match="600 of 900 rows") as caught:
        triple = dimension.estimate(np.vstack([X, X, X]))
    assert len(caught) == 1
    assert (values(triple) == values(single)).all()
    assert triple["moments"].local.shape == (900,)


def test_the_elbow_comes_from_the_same_neighbours():
    X = datasets.s_curve(600).points
    found = dimension.estimate(X, 10, methods=["residual_variance", "two_nn"])
    assert [one.method for one in found] == ["residual_variance", "two_nn"]
    assert (
        found["residual_variance"].value == planish.residual_variance(X, 20, n_neighbors=10).elbow
    )
    alone = dimension.estimate(X, 10, methods=["residual_variance"])
    assert alone.dimension == 2


# -- the table ----------------------------------------------------------------------------


def test_the_table_prints_and_goes_to_a_frame():
    found = dimension.estimate(datasets.swiss_roll(1000).points)
    lines = str(found).splitlines()
    assert lines[0].split() == ["method", "dimension", "95", "%", "interval"]
    assert [line.split()[0] for line in lines[1:9]] == METHODS
    assert "agree" in lines[-1]
    frame = found.to_frame()
    assert list(frame.index) == METHODS
    assert (frame.low <= frame.value).all()
    assert (frame.value <= frame.high).all()
    assert len(found) == 8
    assert found.dimension == 2
    with pytest.raises(ParameterError, match="danco"):
        found["danco"]


def test_disagreement_is_said():
    found = dimension.estimate(datasets.cube(500, 6, n_features=30).points, rule="maxgap")
    assert "disagree" in found.summary
    assert "local_pca" in found.summary
    few = dimension.estimate(datasets.cube(200, 9).points)
    assert "Eckmann" in few.summary
    assert "Eckmann" not in dimension.estimate(datasets.cube(200, 9).points, calibrate=True).summary


# -- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", SINGLE, ids=lambda method: method.__name__)
def test_bad_input_is_refused_by_name(method):
    X = datasets.swiss_roll(80).points
    broken = X.copy()
    broken[17, 1] = np.nan
    with pytest.raises(InputError, match="row 17"):
        method(broken, 5)
    with pytest.raises(InputError, match="all 30 rows are equal"):
        method(np.ones((30, 4)), 5)
    for k in (80, 200):
        with pytest.raises(ParameterError, match="`n_neighbors`"):
            method(X, k)
    for k in (1, 0, -3, 2.5, "few", None, True):
        with pytest.raises(ParameterError, match="`n_neighbors`"):
            method(X, k)
    with pytest.raises(ValueError, match="0 sample"):
        method(np.empty((0, 3)))
    with pytest.raises(ParameterError, match="`colour`"):
        method(X, 5, colour="red")


def test_parameters_are_checked():
    X = datasets.swiss_roll(80).points
    refused = [
        ("methods", {"methods": ["pca"]}),
        ("methods", {"methods": []}),
        ("methods", {"methods": ["gride", "gride"]}),
        ("rule", {"rule": "elbow"}),
        ("rule", {"rule": 3}),
        ("discard", {"discard": 1.0}),
        ("discard", {"discard": "none"}),
        ("confidence", {"confidence": 0}),
        ("n_bootstraps", {"n_bootstraps": -1}),
        ("random_state", {"random_state": -1}),
        ("n_jobs", {"n_jobs": 0}),
        ("metric", {"metric": "nearly"}),
        ("neighbors", {"neighbors": [[1], [0]]}),
        ("neighbors", {"metric": "precomputed", "neighbors": np.ones((80, 3), dtype=int)}),
    ]
    for name, options in refused:
        with pytest.raises(ParameterError, match=f"`{name}`"):
            dimension.estimate(X, 5, **options)
    with pytest.raises(ParameterError, match="`form`"):
        dimension.two_nn(X, form="line")


def test_data_on_a_grid():
    grid = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="as on a grid"):
        dimension.two_nn(grid, 2)
    larger = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    found = dimension.estimate(larger, 12)
    # Ties of the farthest neighbours count as none between: somewhat above 2.
    assert 2 < found["maximum_likelihood"].value < 2.6
    assert "grid" in found["two_nn"].note
    # All but equal: the ratios of distances differ from 1 in their last digits.
    steps = np.column_stack([1e6 * np.arange(50.0), np.random.default_rng(0).normal(size=50)])
    found = dimension.estimate(steps, 10)
    assert "grid" in found["two_nn"].note
    assert np.nanmax(values(found)) < 100


def test_one_column_and_few_rows():
    column = np.random.default_rng(0).random((50, 1))
    assert dimension.estimate(column, 10).dimension == 1
    three = np.array([[0.0, 0.0], [1.0, 0.1], [3.0, 0.0]])
    assert dimension.maximum_likelihood(three, 2).local.shape == (3,)


def test_too_many_bootstraps_are_refused_before_they_are_made():
    X = datasets.swiss_roll(2000).points
    with pytest.raises(MemoryNeedError):
        dimension.two_nn(X, n_bootstraps=2**31)


def test_results_do_not_depend_on_threads():
    X = datasets.torus(500).points
    one, two = (dimension.estimate(X, n_jobs=jobs) for jobs in (1, 2))
    assert (values(one) == values(two)).all()
    for a, b in zip(one, two, strict=True):
        assert a.interval == b.interval
        assert a.local is None or (a.local == b.local).all()


def test_no_warning_on_plain_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dimension.estimate(datasets.swiss_roll(300).points, calibrate=True)
