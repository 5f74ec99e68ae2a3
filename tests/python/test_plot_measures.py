"""planish.plot: curves, pairs, thumbnails and grids, and the colours they are drawn in."""

import itertools
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.exceptions import NotFittedError

import planish
from conftest import swiss_roll
from planish import plot
from planish.exceptions import InputError, ParameterError
from planish.plot import _measures, _style, _thumbnails
from planish.plot._input import drawing

# So few points of a roll have shortcuts.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")


@pytest.fixture(autouse=True)
def no_figure_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def isomap():
    return planish.Isomap(n_neighbors=8).fit(swiss_roll(300))


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# -- curves ----------------------------------------------------------------------------


def test_residual_variance_draws_the_curve_and_its_elbow(isomap):
    curve = planish.residual_variance(isomap, dims=5)
    for given in (curve, isomap, curve.values):
        ax = plot.residual_variance(given, dims=5)
        line, elbow = ax.lines
        np.testing.assert_array_equal(
            line.get_xydata(), np.column_stack([curve.dims, curve.values])
        )
        assert elbow.get_xydata().tolist() == [[curve.elbow, curve.values[curve.elbow - 1]]]
        assert ax.get_title().endswith(f"elbow at {curve.elbow}")
    assert (
        plot.residual_variance(isomap, dims=[1, 2]).get_title().startswith("Isomap, n_neighbors=8")
    )
    few = planish.Isomap(n_neighbors=3).fit(np.eye(4)[:, :3])
    assert len(plot.residual_variance(few).lines[0].get_xdata()) == 3


def test_eigenvalues_are_bars_and_negative_ones_are_told():
    ax = plot.eigenvalues([5.0, 3.0, -1.0, -2.0])
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    assert heights == {1: 5.0, 2: 3.0, 3: -1.0, 4: -2.0}
    assert legend_texts(ax) == ["2 positive", "2 negative"]
    assert ax.get_yscale() == "linear"
    assert plot.eigenvalues([1.0, 1e-4]).get_yscale() == "log"
    assert plot.eigenvalues([1.0, 1e-4], scale="linear").get_yscale() == "linear"


def test_eigenvalues_of_estimators(isomap, blob):
    bars = plot.eigenvalues(isomap).patches
    np.testing.assert_array_equal([bar.get_height() for bar in bars], isomap.eigenvalues_)
    from sklearn.decomposition import PCA

    theirs = PCA().fit(blob)
    bars = plot.eigenvalues(theirs).patches
    np.testing.assert_array_equal([bar.get_height() for bar in bars], theirs.explained_variance_)


def test_history_of_stress_and_divergence(blob):
    mds = planish.MDS(random_state=0).fit(blob)
    ax = plot.history(mds)
    expected = np.column_stack([np.arange(1, mds.n_iter_ + 1), mds.history_])
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), expected)
    last = f"stress {mds.history_[-1]:.3g} after {mds.n_iter_} iterations"
    assert ax.get_title() == f"MDS · {last}"
    tsne = planish.TSNE(perplexity=5, max_iter=300).fit(blob)
    ax = plot.history(tsne)
    expected = np.column_stack([tsne.history_[:, 0] + 1, tsne.history_[:, 1]])
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), expected)
    assert ax.get_ylabel() == "KL divergence"
    assert ax.get_title().endswith("after 300 iterations")


def test_curves_refuse(isomap, blob):
    with pytest.raises(InputError, match="Isomap has no history"):
        plot.history(isomap)
    for unfitted in (plot.history, plot.eigenvalues):
        with pytest.raises(NotFittedError):
            unfitted(planish.MDS())
    with pytest.raises(InputError, match="history"):
        plot.history("none")
    with pytest.raises(InputError, match="finite"):
        plot.history([[np.nan, 1.0]])
    for empty in ([], np.empty((0, 3)), np.empty((3, 0)), np.ones((3, 1)), np.ones((2, 2, 2))):
        with pytest.raises(InputError, match="history"):
            plot.history(empty)
    with pytest.raises(InputError, match="has no eigenvalues"):
        plot.eigenvalues(planish.MDS(random_state=0).fit(blob))
    with pytest.raises(InputError, match="number 2 is nan"):
        plot.eigenvalues([1.0, np.nan])
    with pytest.raises(InputError, match="one number or more"):
        plot.residual_variance([])
    with pytest.raises(ParameterError, match="`scale`"):
        plot.eigenvalues([1.0], scale="cubic")
    with pytest.raises(ParameterError, match="above 0"):
        plot.eigenvalues([1.0, 0.0], scale="log")
    with pytest.raises(InputError, match="give an Isomap"):
        plot.residual_variance(planish.MDS(random_state=0).fit(blob))


# -- pairs -----------------------------------------------------------------------------


def pairs_of(ax):
    return np.asarray(ax.collections[0].get_offsets())


def test_shepard_draws_all_pairs_of_few_rows(blob):
    ax = plot.shepard(blob[:, :2], blob)
    expected = np.column_stack([pdist(blob), pdist(blob[:, :2])])
    np.testing.assert_allclose(pairs_of(ax), expected)
    r = np.corrcoef(expected.T)[0, 1]
    assert ax.get_title() == f"Shepard diagram · r {r:.3g} · all 1770 pairs"
    given = plot.shepard(blob[:, :2], squareform(pdist(blob)), precomputed=True)
    np.testing.assert_allclose(pairs_of(given), expected)


def test_shepard_draws_a_seeded_sample_of_many(blob):
    one = pairs_of(plot.shepard(blob[:, :2], blob, n_pairs=100))
    again = pairs_of(plot.shepard(blob[:, :2], blob, n_pairs=100))
    other = pairs_of(plot.shepard(blob[:, :2], blob, n_pairs=100, random_state=1))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    assert one.shape == (100, 2)
    every = np.round(np.column_stack([pdist(blob), pdist(blob[:, :2])]), 9).tolist()
    assert all(pair in every for pair in np.round(one, 9).tolist())


def test_a_correlation_near_1_is_not_1(blob):
    bent = blob + 0.02 * np.random.default_rng(0).normal(size=blob.shape)
    r = np.corrcoef(pdist(blob), pdist(bent))[0, 1]
    assert 0.9995 < r < 1
    shown = plot.shepard(bent, blob).get_title().split(" · ")[1]
    assert shown != "r 1"
    assert float(shown[2:]) == pytest.approx(r, abs=1e-4)
    assert " · r 1 · " in plot.shepard(blob, blob).get_title()


def test_many_pairs_are_a_density_with_a_bar(blob):
    ax = plot.shepard(np.tile(blob[:, :2], (6, 1)), np.tile(blob, (6, 1)), n_pairs=50_000)
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[1].get_ylabel() == "pairs per cell"


def test_estimators_that_keep_no_coordinates_place_the_data(blob):
    flat = planish.PCA(n_components=2).fit(blob)
    placed = flat.transform(blob)
    np.testing.assert_array_equal(
        pairs_of(plot.shepard(flat, blob)), pairs_of(plot.shepard(placed, blob))
    )
    drawn = plot.rank_curve({"fitted": flat, "placed": placed}, blob)
    one, other = (text.split(", ")[1] for text in legend_texts(drawn))
    assert one == other


def test_shepard_of_isomap_is_of_geodesic_distances(isomap):
    ax = plot.shepard(isomap, n_pairs=2000)
    there, here = pairs_of(ax).T
    assert ax.get_xlabel() == "geodesic distance"
    geodesic = np.asarray(isomap.dist_matrix_)
    mapped = cdist(isomap.embedding_, isomap.embedding_)
    known = {
        tuple(pair) for pair in np.round(np.column_stack([geodesic.ravel(), mapped.ravel()]), 6)
    }
    assert {tuple(pair) for pair in np.round(np.column_stack([there, here]), 6)} <= known
    assert (there > 0).all()


def test_shepard_of_an_ordinal_map_draws_the_disparities(blob):
    fitted = planish.MDS(type="ordinal", random_state=0).fit(blob)
    ax = plot.shepard(fitted)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_ydata(), fitted.shepard_["disparity"])
    # The dissimilarities of a map by their ratios are what its distances should be.
    by_ratio = plot.shepard(planish.MDS(random_state=0).fit(blob))
    assert legend_texts(by_ratio) == ["equal"]
    table = fitted.shepard_
    drawn = pairs_of(ax)
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(table["dissimilarity"]))
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(table["distance"]), atol=1e-12)


def test_shepard_of_missing_distances_and_rows(blob):
    D = squareform(pdist(blob[:10]))
    D[0, 1] = D[1, 0] = np.nan
    Y = blob[:10, :2].copy()
    Y[9] = np.nan
    ax = plot.shepard(Y, D, precomputed=True)
    assert len(pairs_of(ax)) == 9 * 8 // 2 - 1
    assert ax.get_title().endswith("1 row without coordinates left out")


def test_shepard_refuses(blob):
    with pytest.raises(ParameterError, match="give the data with X="):
        plot.shepard(blob)
    with pytest.raises(ParameterError, match="`X`: the embedding has 60 rows, got 59"):
        plot.shepard(blob, blob[:-1])
    with pytest.raises(ParameterError, match=r"`X`.*60 × 60"):
        plot.shepard(blob, blob, precomputed=True)
    with pytest.raises(ParameterError, match="`n_pairs`"):
        plot.shepard(blob, blob, n_pairs=0)
    with pytest.raises(InputError, match="two rows"):
        plot.shepard(blob[:1], blob[:1])


def r_nx_by_definition(X, Y):
    """Every rank by sorting, self excluded, ties by row number."""
    n = len(X)

    def neighbours(Z, row, k):
        order = sorted(
            (other for other in range(n) if other != row),
            key=lambda other: (np.linalg.norm(Z[row] - Z[other]).round(12), other),
        )
        return set(order[:k])

    curve = []
    for k in range(1, n - 1):
        kept = np.mean([len(neighbours(X, i, k) & neighbours(Y, i, k)) / k for i in range(n)])
        curve.append(((n - 1) * kept - k) / (n - 1 - k))
    return np.array(curve)


def test_rank_curve_is_its_definition():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 4))
    X[7] = X[3]  # duplicates
    Y = rng.normal(size=(25, 2)) + X[:, :2]
    found, rows = _measures.r_nx(drawing(Y), X, 0)
    np.testing.assert_allclose(found, r_nx_by_definition(X, Y), atol=1e-12)
    assert rows == 25
    np.testing.assert_allclose(_measures.r_nx(drawing(X), X, 0)[0], 1)


def test_rank_curve_of_a_random_map_is_at_chance():
    rng = np.random.default_rng(0)
    curve, _ = _measures.r_nx(drawing(rng.normal(size=(400, 2))), rng.normal(size=(400, 3)), 0)
    assert abs(_measures.area_over_log_k(curve)) < 0.02


def test_rank_curves_are_drawn_with_their_areas(isomap):
    X = swiss_roll(300)
    ax = plot.rank_curve({"Isomap": isomap, "given": SimpleNamespace(r_nx=[0.5, 0.5])}, X)
    curve, _ = _measures.r_nx(drawing(isomap), X, 0)
    drawn = [line for line in ax.lines if len(line.get_xdata()) == 298]
    np.testing.assert_allclose(drawn[0].get_ydata(), curve)
    area = np.sum(curve / np.arange(1, 299)) / np.sum(1 / np.arange(1, 299))
    assert legend_texts(ax) == [f"Isomap, area {area:.3g}", "given, area 0.5"]
    assert ax.get_xscale() == "log"
    plain = plot.rank_curve([0.9, 0.8, 0.7])
    np.testing.assert_array_equal(plain.lines[0].get_xydata(), [[1, 0.9], [2, 0.8], [3, 0.7]])


def test_rank_curve_refuses(isomap):
    with pytest.raises(ParameterError, match="`X`: the rank curve of a map"):
        plot.rank_curve(isomap)
    with pytest.raises(InputError, match="no curve"):
        plot.rank_curve({})
    with pytest.raises(InputError, match="not finite"):
        plot.rank_curve([0.5, np.nan])
    with pytest.raises(InputError, match="three rows"):
        plot.rank_curve(np.eye(2), np.eye(2))


# -- thumbnails ------------------------------------------------------------------------


def test_thumbnails_do_not_overlap_and_lie_at_their_rows():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(500, 2))
    images = np.arange(500)[:, None, None] * np.ones((1, 4, 6))
    ax = plot.thumbnails(Y, images)
    shown = ax.get_images()
    assert 30 < len(shown) < 500
    boxes = np.array([image.get_extent() for image in shown])
    for one, other in itertools.combinations(boxes, 2):
        apart = (
            one[1] <= other[0] + 1e-9 or other[1] <= one[0] + 1e-9
            or one[3] <= other[2] + 1e-9 or other[3] <= one[2] + 1e-9
        )  # fmt: skip
        assert apart
    for image, box in zip(shown, boxes, strict=True):
        row = round(float(np.asarray(image.get_array()).mean()) / 255 * 499)
        nearby = [row - 1, row, row + 1]  # bytes tell rows apart up to one
        centers = Y[[other for other in nearby if 0 <= other < 500]]
        middle = np.array([box[:2].mean(), box[2:].mean()])
        assert np.abs(centers - middle).sum(axis=1).min() < 1e-9
        assert (box[1] - box[0]) / (box[3] - box[2]) == pytest.approx(6 / 4)
    low, high = ax.get_xlim()
    assert low <= boxes[:, 0].min()
    assert high >= boxes[:, 1].max()
    assert ax.get_title() == f"500 points\nimages of {len(shown)} of 500 rows"


def test_as_many_thumbnails_as_fit_are_drawn():
    Y = np.random.default_rng(1).random((200, 2))
    size = np.array([0.1, 0.1])
    chosen = _thumbnails.without_overlap(Y, size)
    for row in set(range(200)) - set(chosen.tolist()):
        assert (np.abs(Y[chosen] - Y[row]) < size).all(axis=1).any()


def test_images_of_every_form():
    grey = np.random.default_rng(0).random((5, 16))
    expected = np.rint((grey - grey.min()) / np.ptp(grey) * 255).reshape(5, 4, 4)
    np.testing.assert_array_equal(_thumbnails.as_images(grey, 5, None), expected)
    assert _thumbnails.as_images(grey, 5, (2, 8)).shape == (5, 2, 8)
    colours = np.random.default_rng(0).integers(256, size=(5, 3, 3, 4), dtype=np.uint8)
    np.testing.assert_array_equal(_thumbnails.as_images(colours, 5, None), colours[..., :3])
    assert _thumbnails.as_images(np.full((5, 4), 7.0), 5, None).max() == 0
    for images, message in (
        (np.ones((5, 7)), "no square images"),
        (np.ones((4, 3, 3)), "5 rows, got 4 images"),
        (np.ones((5, 3, 3, 2)), "expected shape"),
        (np.full((5, 4), "x"), "expected numbers"),
    ):
        with pytest.raises(ParameterError, match=message):
            _thumbnails.as_images(images, 5, None)
    with pytest.raises(ParameterError, match="`image_shape`"):
        _thumbnails.as_images(grey, 5, (3, 3))
    with pytest.raises(ParameterError, match="`fraction`"):
        plot.thumbnails(np.ones((5, 2)), grey, fraction=0)
    with pytest.raises(ParameterError, match="two columns"):
        plot.thumbnails(np.ones((5, 1)), grey)


# -- compare ---------------------------------------------------------------------------


def test_compare_draws_what_planish_compare_returns(blob):
    rows = [
        SimpleNamespace(
            name="A", embedding=blob[:, :2], error=None, seconds=0.123,
            quality={"trustworthiness": 0.98765, "continuity": 0.5},
        ),
        SimpleNamespace(name="B", embedding=None, error="it failed", seconds=None, quality=None),
        SimpleNamespace(name="C", embedding=blob[:, 2:4], error=None, seconds=2.5, quality=None),
    ]  # fmt: skip
    labels = np.repeat(["x", "y"], 30)
    axes = plot.compare(SimpleNamespace(rows=rows), labels=labels, title="All")
    assert [ax.get_title() for ax in axes] == ["A", "B", "C"]
    captions = [ax.get_xlabel() for ax in axes]
    assert captions == ["123 ms · trustworthiness 0.988\ncontinuity 0.500", "failed", "2.5 s"]
    assert [text.get_text() for text in axes[1].texts] == ["it failed"]
    np.testing.assert_array_equal(axes[0].collections[0].get_offsets(), blob[:30, :2])
    np.testing.assert_array_equal(axes[2].collections[1].get_offsets(), blob[30:, 2:4])
    figure = axes[0].figure
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["x (30)", "y (30)"]
    assert figure.get_suptitle() == "All" if hasattr(figure, "get_suptitle") else True


def test_compare_takes_estimators_pairs_and_mappings(blob, isomap):
    mds, pca = planish.ClassicalMDS().fit(blob), planish.PCA(n_components=2).fit(blob)
    axes = plot.compare([mds, ("mine", blob[:, :2]), ("PCA", pca)], X=blob, values=blob[:, 0])
    assert [ax.get_title() for ax in axes] == ["ClassicalMDS", "mine", "PCA"]
    np.testing.assert_allclose(axes[2].collections[0].get_offsets(), pca.transform(blob))
    assert axes[2].get_xlabel().endswith("% of the variance")
    assert len(axes[0].figure.axes) == 4  # and one colour bar
    axes = plot.compare({"flat": blob[:, :2], "deep": blob}, n_columns=1)
    assert axes[1].get_xlabel() == "the first 2 of 5 coordinates"
    heights = [ax.get_position().y0 for ax in axes]
    assert heights[0] > heights[1]


def test_long_titles_of_a_grid_stay_inside_the_figure(blob):
    fitted = planish.LocallyLinearEmbedding(n_neighbors=10, method="ltsa").fit(blob)
    maps = [("short", blob[:, :2]), fitted, ("a third", blob[:, 1:3])]
    for count, color in itertools.product((1, 2, 3), (None, blob[:, 0])):
        figure = plot.compare(maps[-count:], values=color)[0].figure
        figure.canvas.draw()
        whole = figure.get_tightbbox(figure.canvas.get_renderer())
        assert whole.y0 >= -0.01
        assert whole.y1 <= figure.get_figheight() + 0.01
        assert whole.x1 <= figure.get_figwidth() + 0.01


def test_compare_draws_into_given_axes(blob):
    figure, given = plt.subplots(2, 2)
    axes = plot.compare([("one", blob), ("two", blob)], axes=given, captions=["a", "b"])
    assert [ax is own for ax, own in zip(axes, given.ravel()[:2], strict=True)] == [True, True]
    assert [ax.get_xlabel().split("\n")[0] for ax in axes] == ["a", "b"]
    assert not given[1, 0].has_data()
    assert figure.legends == []


def test_compare_refuses(blob):
    with pytest.raises(InputError, match="no map"):
        plot.compare([])
    for one in (blob, planish.ClassicalMDS().fit(blob), 3):
        with pytest.raises(ParameterError, match="`results`: expected several"):
            plot.compare(one)
    with pytest.raises(ParameterError, match="of 60 rows, but 'b' has 59"):
        plot.compare({"a": blob, "b": blob[1:]})
    with pytest.raises(ParameterError, match="`axes`: 2 maps, got 1"):
        plot.compare({"a": blob, "b": blob}, axes=[plt.subplots()[1]])
    with pytest.raises(ParameterError, match="`captions`"):
        plot.compare({"a": blob}, captions=[])
    with pytest.raises(ParameterError, match="`labels`: the embedding has 60 rows"):
        plot.compare({"a": blob}, labels=[1])
    with pytest.raises(ParameterError, match="got str"):
        plot.compare(["a", "b"])


# -- colours ---------------------------------------------------------------------------

#: What colours look like to people without one kind of cone (Machado et al. 2009).
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}  # fmt: skip


def lab(linear):
    """CIE L*a*b* of linear sRGB."""
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]  # fmt: skip
    xyz = np.clip(linear, 0, 1) @ np.transpose(to_xyz) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.column_stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])]
    )


@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_palette_can_be_told_apart(kind):
    assert len(set(_style.PALETTE)) >= 10
    srgb = np.array([to_rgb(color) for color in _style.PALETTE])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = lab(linear @ np.transpose(BLINDNESS[kind]))
    # A difference of 2.3 is just noticeable side by side.
    assert pdist(seen).min() > 8


def test_markers_and_symbols_correspond():
    assert len(_style.MARKERS) == len(_style.SYMBOLS) == len(set(_style.SYMBOLS))
