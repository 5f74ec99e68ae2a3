"""Measures of quality: their definitions written out, scikit-learn, chance, samples, bad input."""

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy.spatial import procrustes as scipy_procrustes
from scipy.spatial.distance import cdist, pdist
from scipy.stats import pearsonr, spearmanr
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from planish import PCA, ClassicalMDS, Isomap, datasets, quality
from planish.exceptions import InputAdjustedWarning, InputError, ParameterError


def cases():
    draw = np.random.default_rng(1)
    smooth = draw.normal(size=(41, 3))
    grid = draw.integers(0, 3, size=(40, 2)).astype(float)  # ties and duplicates
    many = draw.normal(size=(300, 20))  # matrix products
    twins = np.repeat(draw.integers(0, 4, size=(150, 30)).astype(float), 2, axis=0)
    return {
        "smooth": (smooth, smooth[:, :2] + 0.3 * draw.normal(size=(41, 2))),
        "ties": (grid, np.round(grid[:, ::-1] + draw.normal(size=(40, 2)))),
        "products": (many, many[:, :2] + draw.normal(size=(300, 2))),
        "product-ties": (twins, np.round(2 * draw.normal(size=(300, 2)))),
    }


CASES = cases()
each_case = pytest.mark.parametrize(("X", "Y"), CASES.values(), ids=CASES)


def ranks(points):
    """Rank of every row from every row, by (distance, row number); 0 from itself."""
    D = cdist(points, points)
    np.fill_diagonal(D, -1.0)
    order = np.argsort(D, axis=1, kind="stable")
    found = np.empty_like(order)
    np.put_along_axis(found, order, np.arange(len(D))[None, :], axis=1)
    return found


@each_case
@pytest.mark.parametrize("k", [1, 5, 9])
def test_measures_of_neighbours_are_their_definitions(X, Y, k):
    n, r, rho = len(X), ranks(X), ranks(Y)
    pairs = [(i, j) for i, j in itertools.product(range(n), repeat=2) if i != j]
    false = [(i, j) for i, j in pairs if rho[i, j] <= k]
    missing = [(i, j) for i, j in pairs if r[i, j] <= k]
    weight = 2 / (n * k * (2 * n - 3 * k - 1))
    trust = 1 - weight * sum(max(r[p] - k, 0) for p in false)
    assert quality.trustworthiness(X, Y, n_neighbors=k) == pytest.approx(trust, abs=1e-12)
    cont = 1 - weight * sum(max(rho[p] - k, 0) for p in missing)
    assert quality.continuity(X, Y, n_neighbors=k) == pytest.approx(cont, abs=1e-12)
    most = n * sum(abs(n - 2 * m) / m for m in range(1, k + 1))
    errors = quality.mrre(X, Y, n_neighbors=k)
    expected = sum(abs(r[p] - rho[p]) / rho[p] for p in false) / most
    assert errors.false == pytest.approx(expected, abs=1e-12)
    expected = sum(abs(r[p] - rho[p]) / r[p] for p in missing) / most
    assert errors.missing == pytest.approx(expected, abs=1e-12)
    common = len(set(false) & set(missing)) / (n * k)
    assert quality.lcmc(X, Y, n_neighbors=k) == pytest.approx(common - k / (n - 1), abs=1e-12)
    imbalance = quality.information_imbalance(X, Y)
    assert imbalance.x_to_y == pytest.approx(2 / n * np.mean(rho[r == 1]), abs=1e-12)
    assert imbalance.y_to_x == pytest.approx(2 / n * np.mean(r[rho == 1]), abs=1e-12)
    labels = np.arange(n) % 3
    hit = np.mean([labels[i] == labels[j] for i, j in false])
    assert quality.neighborhood_hit(Y, labels, n_neighbors=k) == pytest.approx(hit, abs=1e-12)


@each_case
def test_the_rank_curve_is_its_definition(X, Y):
    n, r, rho = len(X), ranks(X), ranks(Y)
    curve = quality.rank_curve(X, Y)
    apart = ~np.eye(n, dtype=bool)
    q = np.array([np.sum((r <= k) & (rho <= k) & apart) / (n * k) for k in range(1, n - 1)])
    k = np.arange(1, n - 1)
    above = ((n - 1) * q - k) / (n - 1 - k)
    np.testing.assert_array_equal(curve.n_neighbors, k)
    np.testing.assert_allclose(curve.q_nx, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve.r_nx, above, rtol=0, atol=1e-12)
    assert curve.area == pytest.approx((above / k).sum() / (1 / k).sum(), abs=1e-12)
    assert curve.area == pytest.approx(curve.area.per_point.mean(), abs=1e-12)


@each_case
def test_measures_of_distances_are_their_definitions(X, Y):
    delta, d = pdist(X), pdist(Y)
    raw, near = ((d - delta) ** 2).sum(), delta > 0
    H = np.eye(len(X)) - 1 / len(X)
    centred = H @ Y
    expected = {
        "raw": raw,
        "normalized": math.sqrt(raw / (delta**2).sum()),
        "stress1": math.sqrt(raw / (d**2).sum()),
        "stress2": math.sqrt(raw / ((d - d.mean()) ** 2).sum()),
        "sammon": ((d - delta)[near] ** 2 / delta[near]).sum() / delta.sum(),
        "strain": ((-0.5 * H @ cdist(X, X) ** 2 @ H - centred @ centred.T) ** 2).sum(),
        "per_distance": raw / d.sum(),
        "scaled": math.sqrt(1 - (d @ delta) ** 2 / ((d @ d) * (delta @ delta))),
    }
    for form, value in expected.items():
        assert quality.stress(X, Y, form) == pytest.approx(value, rel=1e-10), form
    r = pearsonr(delta, d).statistic
    assert quality.pearson(X, Y) == pytest.approx(r, abs=1e-10)
    assert quality.residual_variance(X, Y) == pytest.approx(1 - r**2, abs=1e-10)
    assert quality.spearman(X, Y) == pytest.approx(spearmanr(delta, d).statistic, abs=1e-10)
    own = quality.stress(X, Y, "stress1").per_point
    rows, cols = cdist(X, X), cdist(Y, Y)
    local = np.sqrt(((rows - cols) ** 2).sum(axis=1) / (cols**2).sum(axis=1))
    np.testing.assert_allclose(own, local, rtol=1e-10)


def test_local_measures_are_their_definitions():
    X, Y = CASES["smooth"]
    r, near, far = ranks(X), cdist(X, X), cdist(Y, Y)
    chosen = (r >= 1) & (r <= 5)
    given, placed = near[chosen].reshape(-1, 5), far[chosen].reshape(-1, 5)
    product, sizes = (given * placed).sum(1), ((given**2).sum(1), (placed**2).sum(1))
    found = quality.local_distortion(X, Y).per_point
    np.testing.assert_allclose(found, 1 - product**2 / (sizes[0] * sizes[1]), atol=1e-12)
    found = quality.local_scale(X, Y).per_point
    np.testing.assert_allclose(found, np.sqrt(sizes[1] / sizes[0]), rtol=1e-12)


def test_distances_are_sorted_or_counted_alike():
    X = np.random.default_rng(3).normal(size=(1500, 4))
    Y = X[:, :2] ** 3
    expected = spearmanr(pdist(X), pdist(Y)).statistic
    assert quality.spearman(X, Y) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("n", "columns"), [(40, 3), (500, 3), (500, 30), (400, 300)])
@pytest.mark.parametrize("k", [1, 5, 12])
def test_trustworthiness_is_scikit_learns(n, columns, k):
    X = np.random.default_rng(0).normal(size=(n, columns))
    Y = X[:, :2] + 0.5 * np.random.default_rng(1).normal(size=(n, 2))
    found = quality.trustworthiness(X, Y, n_neighbors=k)
    assert found == pytest.approx(sklearn_trustworthiness(X, Y, n_neighbors=k), abs=1e-12)
    cosine = quality.trustworthiness(X, Y, n_neighbors=k, metric="cosine")
    expected = sklearn_trustworthiness(X, Y, n_neighbors=k, metric="cosine")
    assert cosine == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "canberra", "precomputed"])
def test_any_metric(metric):
    X, Y = CASES["products"]
    name = "cityblock" if metric in ("manhattan", "precomputed") else metric
    D = cdist(X, X, name)
    expected = sklearn_trustworthiness(D, Y, metric="precomputed")
    data = D if metric == "precomputed" else X
    assert quality.trustworthiness(data, Y, metric=metric) == pytest.approx(expected, abs=1e-12)
    r = pearsonr(D[np.triu_indices(300, 1)], pdist(Y)).statistic
    assert quality.pearson(data, Y, metric=metric) == pytest.approx(r, abs=1e-10)


def test_a_random_permutation_scores_at_chance():
    X = np.random.default_rng(0).normal(size=(1200, 5))
    Y = X[np.random.default_rng(1).permutation(1200), :2]
    labels = np.arange(1200) % 4
    found = quality.report(X, Y, labels)
    for name, line in found.lines.items():
        if line.chance is not None and name != "residual_variance":
            assert abs(float(line.score) - line.chance) < 0.05, name
    assert "– " not in str(found).splitlines()[2]
    assert "-0 %" not in str(found)


def test_the_truth_of_a_roll_scores_near_the_best():
    X, truth = datasets.swiss_roll(1500)
    labels = np.digitize(truth[:, 0], np.quantile(truth[:, 0], [0.25, 0.5, 0.75]))
    found = quality.report(X, truth, labels)
    assert found["trustworthiness"] > 0.998
    assert found["continuity"] > 0.998
    assert found["neighborhood_hit"] > 0.96
    assert found["mrre_false"] < 0.01
    curve = quality.rank_curve(X, truth)
    assert curve.r_nx[9] > 0.9
    assert quality.procrustes(truth, Isomap(n_neighbors=10).fit(X)).distance < 0.1


def test_samples_are_within_four_standard_errors():
    X, Y = datasets.swiss_roll(1500)
    Y = Y + np.random.default_rng(2).normal(size=Y.shape) * [10, 1]
    exact = quality.report(X, Y, np.arange(1500) % 2)
    for seed in (0, 1):
        some = quality.report(X, Y, np.arange(1500) % 2, sample=300, random_state=seed)
        for name in exact:
            error = some[name].standard_error
            assert 0 < error < 0.1, name
            assert abs(some[name] - exact[name]) < 4 * error, name
            assert exact[name].standard_error == 0
    found = quality.trustworthiness(X, Y, sample=300, random_state=1).per_point
    (looked,) = np.nonzero(~np.isnan(found))
    assert len(looked) == 300
    np.testing.assert_array_equal(found[looked], quality.trustworthiness(X, Y).per_point[looked])
    strain = quality.stress(X, Y, "strain", sample=300)
    assert abs(strain - quality.stress(X, Y, "strain")) < 4 * strain.standard_error


def test_a_sample_in_many_dimensions_has_the_values_of_all_rows():
    X, Y = CASES["product-ties"]
    some, full = (quality.continuity(X, Y, sample=m).per_point for m in (40, None))
    looked = ~np.isnan(some)
    assert looked.sum() == 40
    np.testing.assert_array_equal(some[looked], full[looked])


@pytest.mark.parametrize("case", ["products", "product-ties"])
def test_same_bits_on_any_number_of_threads(case):
    X, Y = (np.tile(part, (5, 1)) + 0.0 for part in CASES[case])

    def found(n_jobs):
        whole = quality.report(X, Y, np.arange(1500) % 3, n_jobs=n_jobs)
        some = quality.report(X, Y, sample=100, n_jobs=n_jobs)
        strain = quality.stress(X, Y, "strain", n_jobs=n_jobs)
        points = [whole[name].per_point.tobytes() for name in whole]
        return whole.to_dict(), some.to_dict(), points, float(strain)

    assert found(1) == found(2) == found(4)


def test_procrustes_is_scipys_and_lays_one_map_upon_the_other():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(50, 3)) * [3, 1, 2] + 5
    turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    Y = 0.3 * X @ turn + 7 + 0.05 * draw.normal(size=X.shape)
    fit = quality.procrustes(X, Y)
    assert fit.distance**2 == pytest.approx(scipy_procrustes(X, Y)[2], abs=1e-12)
    np.testing.assert_allclose(fit.aligned, fit.scale * Y @ fit.rotation + fit.shift, atol=1e-12)
    gap = np.linalg.norm(fit.aligned - X) / np.linalg.norm(X - X.mean(axis=0))
    assert fit.distance == pytest.approx(gap, abs=1e-12)
    mirrored = X * [1, 1, -1]
    assert quality.procrustes(X, mirrored).distance < 1e-7
    proper = quality.procrustes(X, mirrored, reflection=False)
    assert np.linalg.det(proper.rotation) == pytest.approx(1)
    assert proper.distance > 0.1
    assert quality.procrustes(X, 2 * X, scaling=False).scale == 1
    flat = quality.procrustes(X, X[:, :2])
    assert flat.aligned.shape == (50, 3)


def test_shepard_data():
    X, Y = CASES["smooth"]
    every = quality.shepard(X, Y, n_pairs=None)
    np.testing.assert_allclose(every.distances, pdist(X), rtol=1e-14)
    np.testing.assert_allclose(every.embedded, pdist(Y), rtol=1e-14)
    some = quality.shepard(X, Y, n_pairs=100, random_state=3)
    assert len({tuple(pair) for pair in some.pairs}) == 100
    gaps = np.linalg.norm(X[some.pairs[:, 0]] - X[some.pairs[:, 1]], axis=1)
    np.testing.assert_allclose(some.distances, gaps, rtol=1e-14)
    with pytest.raises(ParameterError, match="n_pairs"):
        quality.shepard(X, Y, n_pairs=0)


def test_an_estimator_stands_for_its_embedding():
    X, _ = datasets.swiss_roll(200)
    model = ClassicalMDS().fit(X)
    assert quality.continuity(X, model) == quality.continuity(X, model.embedding_)
    for unfitted in (ClassicalMDS(), PCA(2)):
        with pytest.raises(InputError, match="fit it first"):
            quality.continuity(X, unfitted)
    # One that keeps no coordinates of its rows is asked for them.
    flat = PCA(2).fit(X)
    assert quality.continuity(X, flat) == quality.continuity(X, flat.transform(X))


def test_a_report_is_a_table_a_dictionary_and_a_frame():
    X, _ = datasets.swiss_roll(300)
    found = quality.report(X, PCA(2).fit_transform(X), n_neighbors=7)
    text = str(found)
    assert text.splitlines()[0] == "quality with 7 neighbours"
    assert len({line.index("1") for line in text.splitlines()[2:4]}) >= 1
    frame = found.to_frame()
    assert list(frame["measure"]) == list(found) == list(found.to_dict())
    assert list(frame["value"]) == list(found.to_dict().values())
    score = pickle.loads(pickle.dumps(found["pearson"]))
    assert score == found["pearson"]
    np.testing.assert_array_equal(score.per_point, found["pearson"].per_point)


def test_rows_without_a_place_are_left_out():
    X, Y = CASES["smooth"]
    holes = Y.copy()
    holes[[3, 30], 1] = np.nan
    kept = np.delete(np.arange(41), [3, 30])
    with pytest.warns(InputAdjustedWarning, match="2 of 41 rows"):
        found = quality.trustworthiness(X, holes)
    assert found == quality.trustworthiness(X[kept], Y[kept])
    assert list(np.flatnonzero(np.isnan(found.per_point))) == [3, 30]
    with pytest.warns(InputAdjustedWarning):
        assert quality.stress(cdist(X, X), holes, metric="precomputed") == pytest.approx(
            float(quality.stress(X[kept], Y[kept])), rel=1e-12
        )
    other = 2 * Y + 1
    other[7] = np.nan
    with pytest.warns(InputAdjustedWarning, match="3 of 41 rows"):
        laid = quality.procrustes(holes, other)
    assert laid.distance < 1e-7
    assert list(np.flatnonzero(np.isnan(laid.aligned).any(axis=1))) == [3, 7, 30]
    with pytest.raises(InputError, match="every row"):
        quality.pearson(X, np.full_like(Y, np.nan))


def test_bad_input_is_named():
    X, Y = CASES["smooth"]
    for one, other, shape in ((X, Y[:, 0], r"Y .*\(41,\)"), (X[:, 0], Y, r"X .*\(41,\)")):
        with pytest.raises(InputError, match=f"{shape}.*reshape") as caught:
            quality.lcmc(one, other)
        assert "\n" not in str(caught.value)
    for missing in (None, np.nan):
        with pytest.raises(ParameterError, match="row 3 has none"):
            quality.neighborhood_hit(Y, ["a", "b", "a", missing, *["b"] * 37])
    with pytest.raises(ParameterError, match=r"should be less than n_samples / 2 \(20\.5\)"):
        quality.trustworthiness(X, Y, n_neighbors=21)
    with pytest.raises(ParameterError, match="n_neighbors"):
        quality.lcmc(X, Y, n_neighbors=0)
    with pytest.raises(ParameterError, match="n_neighbors"):
        quality.lcmc(X, Y, n_neighbors=41)
    with pytest.raises(InputError, match="41 rows and Y 40"):
        quality.pearson(X, Y[:40])
    with pytest.raises(ParameterError, match="same label"):
        quality.neighborhood_hit(Y, np.zeros(41))
    with pytest.raises(ParameterError, match="one label for each"):
        quality.report(X, Y, np.zeros(40))
    holes = X.copy()
    holes[2, 1] = np.nan
    with pytest.raises(InputError, match="row 2, column 1"):
        quality.spearman(holes, Y)
    endless = Y.copy()
    endless[4, 0] = np.inf
    with pytest.raises(InputError, match="Y contains infinity at row 4, column 0"):
        quality.spearman(X, endless)
    for wrong in (-1, 2.5, "5", True):
        with pytest.raises(ParameterError, match="`n_neighbors`: expected an int of at least 1"):
            quality.lcmc(X, Y, n_neighbors=wrong)
    with pytest.raises(InputError, match="0 sample"):
        quality.pearson(X[:0], Y[:0])
    with pytest.raises(InputError, match="at least 2"):
        quality.pearson(X[:1], Y[:1])
    with pytest.raises(ParameterError, match="sample"):
        quality.pearson(X, Y, sample=1)
    with pytest.raises(ParameterError, match="form"):
        quality.stress(X, Y, "kruskal")
    with pytest.raises(InputError, match="symmetric"):
        quality.pearson(np.triu(cdist(X, X)), Y, metric="precomputed")


def test_constant_maps_and_duplicate_data():
    X, Y = CASES["smooth"]
    still = np.zeros_like(Y)
    assert quality.pearson(X, still) == quality.spearman(X, still) == 0
    assert quality.residual_variance(X, still) == quality.stress(X, still, "scaled") == 1
    assert quality.stress(X, still) == 1
    with pytest.raises(InputError, match="divides by the sum of the squared distances of the map"):
        quality.stress(X, still, "stress1")
    same = np.ones((41, 3))
    assert quality.trustworthiness(same, same) == 1
    assert quality.stress(same, still) == 0
    with pytest.raises(InputError, match="of the data"):
        quality.stress(same, Y)
    assert quality.continuity(X[:, :1], Y[:, :1]) <= 1


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_extreme_sizes(size):
    X, Y = CASES["smooth"]
    big, small = quality.report(X * size, Y * size), quality.report(X, Y)
    for name in small:
        assert big[name] == pytest.approx(float(small[name]), rel=1e-9, abs=1e-12), name
