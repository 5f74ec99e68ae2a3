"""planish.plot: what is drawn, where, and what the titles say."""

import pickle
import subprocess
import sys
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb

import planish
from conftest import swiss_roll
from planish import plot
from planish.exceptions import InputError, ParameterError
from planish.plot import _density, _style

# The rolls drawn here have so few rows that their graphs have shortcuts.
pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")


@pytest.fixture(autouse=True)
def no_figure_left(monkeypatch):
    """No test leaves a figure, and none may open a window."""
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("a window was opened"))
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def isomap():
    with warnings.catch_warnings():  # so few rows leave shortcuts, which is no matter here
        warnings.simplefilter("ignore", planish.exceptions.ShortcutWarning)
        return planish.Isomap(n_neighbors=8).fit(swiss_roll(300))


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(200, 2)) * [3, 1]


def scatters(ax):
    return [item for item in ax.collections if isinstance(item, PathCollection)]


def drawn_points(ax):
    return np.vstack([np.asarray(item.get_offsets()) for item in scatters(ax)])


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def pixels_per_unit(ax):
    ax.figure.canvas.draw()
    origin, right, up = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
    return right[0] - origin[0], up[1] - origin[1]


CALLS = {
    "embedding": lambda fitted, ax: plot.embedding(fitted, ax=ax),
    "graph": lambda fitted, ax: plot.graph(fitted, ax=ax),
    "residual_variance": lambda fitted, ax: plot.residual_variance(fitted, dims=3, ax=ax),
    "eigenvalues": lambda fitted, ax: plot.eigenvalues(fitted, ax=ax),
    "shepard": lambda fitted, ax: plot.shepard(fitted, ax=ax),
    "rank_curve": lambda fitted, ax: plot.rank_curve(fitted, swiss_roll(300), ax=ax),
    "thumbnails": lambda fitted, ax: plot.thumbnails(fitted, np.ones((300, 4, 5)), ax=ax),
    "history": lambda _, ax: plot.history([3.0, 2.0, 1.0], ax=ax),
    "compare": lambda fitted, ax: plot.compare([fitted], axes=None if ax is None else [ax])[0],
}  # fmt: skip


# -- what every function promises ------------------------------------------------------


def test_every_function_is_tested_here():
    assert set(CALLS) == set(plot.__all__) - {"page"}


@pytest.mark.parametrize("name", CALLS)
def test_given_axes_are_drawn_into_and_returned(name, isomap):
    _, (ax, other) = plt.subplots(1, 2)
    current = plt.figure()
    settings = dict(mpl.rcParams)
    before = plt.get_fignums()
    assert CALLS[name](isomap, ax) is ax
    assert ax.has_data()
    assert not other.has_data()
    assert plt.get_fignums() == before
    assert plt.gcf() is current
    assert dict(mpl.rcParams) == settings


@pytest.mark.parametrize("name", CALLS)
def test_without_axes_one_figure_is_made(name, isomap):
    before = plt.get_fignums()
    settings = dict(mpl.rcParams)
    ax = CALLS[name](isomap, None)
    assert len(plt.get_fignums()) == len(before) + 1
    assert plt.gcf() is ax.figure
    assert dict(mpl.rcParams) == settings


@pytest.mark.parametrize("name", CALLS)
def test_text_stays_inside_the_figure_and_nothing_is_logged(name, isomap, caplog):
    ax = CALLS[name](isomap, None)
    figure = ax.figure
    figure.canvas.draw()
    whole = figure.get_tightbbox(figure.canvas.get_renderer())
    assert whole.x0 >= -0.01
    assert whole.y0 >= -0.01
    assert whole.x1 <= figure.get_figwidth() + 0.01
    assert whole.y1 <= figure.get_figheight() + 0.01
    assert caplog.messages == []


@pytest.mark.parametrize("name", CALLS)
def test_without_matplotlib_one_sentence_names_the_extra(name, isomap, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError) as caught:
        CALLS[name](isomap, None)
    assert str(caught.value) == "planish.plot needs matplotlib: pip install planish[plot]"


def test_import_takes_neither_library():
    code = (
        "import sys, planish.plot\n"
        "found = [m for m in ('matplotlib', 'plotly', 'PIL') if m in sys.modules]\n"
        "assert found == [], found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("name", CALLS)
def test_ax_must_be_axes(name, isomap):
    with pytest.raises(ParameterError, match="`ax`: expected matplotlib Axes"):
        CALLS[name](isomap, 3)


# -- embedding -------------------------------------------------------------------------


def test_the_coordinates_of_an_estimator_are_drawn(isomap):
    ax = plot.embedding(isomap)
    np.testing.assert_array_equal(drawn_points(ax), isomap.embedding_)


def test_equal_aspect_in_pixels(isomap):
    across, up = pixels_per_unit(plot.embedding(isomap))
    assert across == pytest.approx(up, rel=1e-6)


def test_title_says_method_parameters_and_quality(isomap):
    value = planish.residual_variance(isomap, dims=[2]).values[0]
    expected = f"Isomap, n_neighbors=8 · residual variance {value:.3g}"
    assert plot.embedding(isomap).get_title() == expected


@pytest.mark.parametrize(
    ("estimator", "title"),
    [
        (planish.MDS(random_state=0), "MDS · normalised stress {e.stress_forms_[normalized]:.3g}"),
        (planish.SammonMapping(), "SammonMapping · Sammon stress {e.stress_forms_[sammon]:.3g}"),
        (
            planish.TSNE(perplexity=5, max_iter=300),
            "TSNE, perplexity=5 · KL divergence {e.kl_divergence_:.3g}",
        ),
        (
            planish.LocallyLinearEmbedding(n_neighbors=9, method="ltsa"),
            "LocallyLinearEmbedding, method=ltsa, n_neighbors=9 · "
            "reconstruction error {e.reconstruction_error_:.3g}",
        ),
        (
            planish.TSNE(perplexity=[5, 10], max_iter=300),
            "TSNE, perplexity=[5, 10] · KL divergence {e.kl_divergence_:.3g}",
        ),
        (planish.KernelMDS(kernel="cosine"), "KernelMDS, kernel=cosine"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_title_of_other_methods(estimator, title, blob):
    fitted = estimator.fit(blob)
    assert plot.embedding(fitted).get_title() == title.format(e=fitted)


@pytest.mark.parametrize(
    "estimator",
    [planish.SpectralEmbedding(n_neighbors=8), planish.LandmarkIsomap(n_neighbors=8)],
    ids=lambda value: type(value).__name__,
)
def test_title_of_a_method_without_a_figure_counts_the_neighbours_it_kept(estimator):
    fitted = estimator.fit(swiss_roll(400))
    graph = getattr(fitted, "graph_", None)
    graph = (fitted.affinity_matrix_ if graph is None else graph).toarray() > 0
    np.fill_diagonal(graph, False)
    apart = np.linalg.norm(fitted.embedding_[:, None] - fitted.embedding_, axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)
    kept = [graph[row, near[row, : graph[row].sum()]].mean() for row in range(400)]
    title = plot.embedding(fitted).get_title()
    assert title.endswith(f" · {100 * np.mean(kept):.0f} % of the neighbours kept")
    assert 30 < 100 * np.mean(kept) < 100


def test_title_of_a_method_without_a_figure_has_the_trustworthiness_of_the_data_given(blob):
    fitted = planish.KernelMDS(kernel="cosine").fit(blob)
    score = planish.quality.trustworthiness(blob, fitted.embedding_, n_neighbors=10)
    expected = f"KernelMDS, kernel=cosine · trustworthiness {float(score):.3f}"
    assert plot.embedding(fitted, X=blob).get_title() == expected
    assert "trust" not in plot.embedding(fitted, X=blob, quality=None).get_title()
    given = planish.KernelMDS(kernel="precomputed").fit(blob @ blob.T)
    assert "trust" not in plot.embedding(given, X=blob @ blob.T).get_title()


def test_title_of_classical_mds_has_its_stress(blob):
    fitted = planish.ClassicalMDS(metric="manhattan").fit(blob)
    stress = planish.quality.stress(blob, fitted, metric="manhattan")
    expected = f"ClassicalMDS, metric=manhattan · normalised stress {float(stress):.3g}"
    assert plot.embedding(fitted).get_title() == expected
    assert plot.embedding(pickle.loads(pickle.dumps(fitted))).get_title().count("·") == 0


def test_title_keeps_the_parameters_of_the_fit(isomap):
    fitted = planish.Isomap(n_neighbors=8).fit(swiss_roll(50))
    fitted.set_params(n_neighbors=20)
    assert plot.embedding(fitted).get_title().startswith("Isomap, n_neighbors=8 ")


def test_title_and_quality_of_ones_own(cloud):
    assert plot.embedding(cloud).get_title() == "200 points"
    assert plot.embedding(cloud, title="Mine").get_title() == "Mine"
    own = plot.embedding(cloud, title="Mine", quality={"trustworthiness": 0.98765})
    assert own.get_title() == "Mine · trustworthiness 0.988"
    with pytest.raises(ParameterError, match="`quality`"):
        plot.embedding(cloud, quality=3)


def test_an_estimator_without_coordinates_is_asked_for_rows(blob):
    pca = planish.PCA(n_components=2).fit(blob)
    with pytest.raises(InputError, match=r"PCA keeps no coordinates.*X="):
        plot.embedding(pca)
    ax = plot.embedding(pca, X=blob[:7])
    np.testing.assert_allclose(drawn_points(ax), pca.transform(blob[:7]))
    with pytest.raises(ParameterError, match="`X`"):
        plot.embedding(blob, X=blob)


def test_an_estimator_of_scikit_learn(blob):
    from sklearn.manifold import Isomap

    fitted = Isomap(n_neighbors=6).fit(blob)
    ax = plot.embedding(fitted)
    np.testing.assert_array_equal(drawn_points(ax), fitted.embedding_)
    assert ax.get_title() == "Isomap, n_neighbors=6"


def test_an_estimator_that_is_not_fitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        plot.embedding(planish.Isomap())


def test_each_class_is_drawn_once_with_its_points(cloud):
    labels = np.repeat(["a", "b", "c"], [20, 80, 100])
    ax = plot.embedding(cloud, labels=labels)
    assert legend_texts(ax) == ["a (20)", "b (80)", "c (100)"]
    for name, item, number in zip("abc", scatters(ax), range(3), strict=True):
        np.testing.assert_array_equal(item.get_offsets(), cloud[labels == name])
        np.testing.assert_allclose(item.get_facecolor()[0][:3], to_rgb(_style.PALETTE[number]))


def test_more_classes_than_colours_have_other_markers(cloud):
    ax = plot.embedding(cloud, labels=np.arange(200) % 25)
    looks = {
        (tuple(item.get_facecolor()[0]), item.get_paths()[0].vertices.tobytes())
        for item in scatters(ax)
    }
    assert len(looks) == 25


def test_a_hundred_classes_have_a_legend_that_ends(cloud):
    texts = legend_texts(plot.embedding(cloud, labels=np.arange(200) % 100))
    assert len(texts) == 61
    assert texts[-1] == "… and 40 more classes"


def test_the_legend_is_not_over_the_map(cloud):
    ax = plot.embedding(cloud, labels=np.arange(200) % 12)
    ax.figure.canvas.draw()
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def test_labels_of_several_types_and_missing_ones(cloud):
    labels = [None] * 5 + [np.nan] * 5 + ["x"] * 90 + [3] * 60 + ["_y"] * 40
    ax = plot.embedding(cloud, labels=labels)
    texts = [text.strip("\u200b") for text in legend_texts(ax)]
    assert texts == ["no class (10)", "3 (60)", "_y (40)", "x (90)"]


def test_names_of_classes_are_no_mathematics(cloud):
    ax = plot.embedding(cloud, labels=["$1 and $2"] * 200)
    ax.figure.canvas.draw()
    assert legend_texts(ax) == [r"\$1 and \$2 (200)"]


def test_one_class(cloud):
    ax = plot.embedding(cloud, labels=["only"] * 200)
    assert legend_texts(ax) == ["only (200)"]
    assert len(drawn_points(ax)) == 200


def test_values_are_mapped_to_colours(cloud):
    values = cloud[:, 0]
    ax = plot.embedding(cloud, values=values)
    (item,) = scatters(ax)
    np.testing.assert_array_equal(item.get_array(), values)
    assert item.get_cmap().name == "viridis"
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["value"]


def test_the_name_of_a_column_is_on_the_colour_bar(cloud):
    import pandas as pd

    ax = plot.embedding(cloud, values=pd.Series(cloud[:, 0], name="height"))
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["height"]


def test_rows_without_a_value_are_grey_and_counted(cloud):
    values = cloud[:, 0].copy()
    values[:3] = np.nan
    values[3] = np.inf
    ax = plot.embedding(cloud, values=values)
    assert legend_texts(ax) == ["no value (4)"]
    assert [len(item.get_offsets()) for item in scatters(ax)] == [4, 196]


def test_constant_values_have_no_colour_bar(cloud):
    ax = plot.embedding(cloud, values=np.full(200, 2.5))
    assert ax.figure.axes == [ax]
    assert legend_texts(ax) == ["value = 2.5"]


def test_values_that_are_all_missing(cloud):
    ax = plot.embedding(cloud, values=np.full(200, np.nan))
    assert legend_texts(ax) == ["no value (200)"]


def test_rows_without_coordinates_are_left_out_and_said(cloud):
    Y = cloud.copy()
    Y[[3, 5]] = np.nan
    Y[7, 1] = np.inf
    labels = np.repeat(["a", "b"], 100)
    ax = plot.embedding(Y, labels=labels)
    assert ax.get_title() == "197 points\n3 rows without coordinates left out"
    assert legend_texts(ax) == ["a (97)", "b (100)"]
    assert np.isfinite(drawn_points(ax)).all()


@pytest.mark.parametrize("name", ["labels", "values"])
@pytest.mark.parametrize("length", [0, 199, 201])
def test_another_length_is_refused(name, length, cloud):
    with pytest.raises(ParameterError, match=f"`{name}`: the embedding has 200 rows, got {length}"):
        plot.embedding(cloud, **{name: np.zeros(length)})


def test_other_bad_input(cloud):
    with pytest.raises(ParameterError, match="`labels` or `values`, not both"):
        plot.embedding(cloud, labels=[0] * 200, values=[0] * 200)
    with pytest.raises(ParameterError, match="`values`: expected numbers"):
        plot.embedding(cloud, values=["a"] * 200)
    with pytest.raises(ParameterError, match="`labels`: expected one entry a row"):
        plot.embedding(cloud, labels=np.zeros((200, 2)))
    with pytest.raises(InputError, match="0 rows"):
        plot.embedding(np.empty((0, 2)))
    with pytest.raises(InputError, match="3 rows and none with finite"):
        plot.embedding(np.full((3, 2), np.nan))
    with pytest.raises(InputError, match="at least one column"):
        plot.embedding(np.empty((3, 0)))
    with pytest.raises(InputError, match="array of numbers"):
        plot.embedding("no map")
    with pytest.raises(ParameterError, match=r"`columns`.*0 to 1"):
        plot.embedding(cloud, columns=(0, 2))
    with pytest.raises(ParameterError, match="`density`"):
        plot.embedding(cloud, density="much")
    with pytest.raises(ParameterError, match="`ax`: Axes of three dimensions"):
        plot.embedding(cloud, ax=plt.figure().add_subplot(projection="3d"))


def test_one_column_is_drawn_against_rows_classes_or_values(cloud):
    line = cloud[:, 0]
    ax = plot.embedding(line)
    np.testing.assert_array_equal(drawn_points(ax), np.column_stack([line, np.arange(200)]))
    assert ax.get_ylabel() == "row"
    ax = plot.embedding(line[:, None], labels=["b", "a"] * 100)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    assert set(drawn_points(ax)[:100, 1]) == {0.0}
    ax = plot.embedding(line, values=cloud[:, 1])
    np.testing.assert_array_equal(drawn_points(ax)[:, 1], cloud[:, 1])


def test_three_columns_are_drawn_in_space_with_equal_scales():
    Y = np.random.default_rng(0).normal(size=(100, 3)) * [5, 2, 1]
    ax = plot.embedding(Y, labels=np.arange(100) % 2)
    assert ax.name == "3d"
    xyz = np.column_stack([np.concatenate([item._offsets3d[axis] for item in scatters(ax)])
                           for axis in range(3)])  # fmt: skip
    np.testing.assert_array_equal(np.sort(xyz, axis=0), np.sort(Y, axis=0))
    lengths = np.ptp([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)
    scales = ax.get_box_aspect() / lengths if hasattr(ax, "get_box_aspect") else None
    box = ax._box_aspect / lengths if scales is None or scales.ndim == 0 else scales
    np.testing.assert_allclose(box, box[0], rtol=1e-6)


def test_more_columns_than_can_be_drawn_are_said(cloud):
    Y = np.hstack([cloud, cloud, cloud])
    ax = plot.embedding(Y)
    assert ax.get_title() == "200 points\nthe first 2 of 6 coordinates"
    np.testing.assert_array_equal(drawn_points(ax), Y[:, :2])
    flat = plt.subplots()[1]
    assert plot.embedding(Y[:, :3], ax=flat).get_title().endswith("the first 2 of 3 coordinates")
    chosen = plot.embedding(Y, columns=(1, 2))
    np.testing.assert_array_equal(drawn_points(chosen), Y[:, 1:3])
    assert chosen.get_title() == "200 points"
    assert chosen.get_xlabel() == "coordinate 2"


# -- density ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd():
    return np.random.default_rng(1).normal(size=(40_000, 2)) * [4, 1]


def test_many_points_are_drawn_as_counts(crowd):
    ax = plot.embedding(crowd)
    (image,) = ax.get_images()
    counts = image.get_array()
    assert counts.sum() == len(crowd)
    left, right, low, high = image.get_extent()
    expected, _, _ = np.histogram2d(
        crowd[:, 1], crowd[:, 0], bins=counts.shape, range=[(low, high), (left, right)]
    )
    # A point on the border of two cells may be in either.
    assert np.abs(counts.filled(0) - expected).sum() < 20
    assert scatters(ax) == []
    across, up = pixels_per_unit(ax)
    assert across == pytest.approx(up, rel=1e-6)


def test_values_of_many_points_are_means_of_cells(crowd):
    values = crowd[:, 0].copy()
    values[:100] = np.nan
    (image,) = plot.embedding(crowd, values=values).get_images()
    cells = _density.cells_of(crowd)
    known = np.isfinite(values)
    busiest = np.bincount(cells.cell[known]).argmax()
    mean = values[known & (cells.cell == busiest)].mean()
    assert image.get_array().ravel()[busiest] == pytest.approx(mean)


def test_classes_of_many_points_are_mixed(crowd):
    labels = (crowd[:, 0] > 0).astype(int)
    ax = plot.embedding(crowd, labels=labels)
    assert legend_texts(ax) == [f"0 ({(labels == 0).sum()})", f"1 ({(labels == 1).sum()})"]
    picture = ax.get_images()[0].get_array()
    cells = _density.cells_of(crowd)
    far = cells.cell[np.argmin(crowd[:, 0])]
    np.testing.assert_allclose(picture.reshape(-1, 4)[far][:3], to_rgb(_style.PALETTE[0]))
    assert picture[..., 3].max() == 1


def test_density_can_be_chosen(crowd, cloud):
    assert len(drawn_points(plot.embedding(crowd, density=False))) == len(crowd)
    assert plot.embedding(cloud, density=True).get_images()[0].get_array().sum() == 200
    assert plot.embedding(np.ones((5, 2)), density=True).get_images()[0].get_array().sum() == 5


def test_many_points_in_space_are_sampled_and_said(crowd):
    ax = plot.embedding(np.column_stack([crowd, crowd[:, 0]]))
    assert ax.get_title() == "40000 points\na sample of 30000 of 40000 rows"


# -- graph -----------------------------------------------------------------------------


def segments(ax, label):
    (found,) = [
        item
        for item in ax.collections
        if isinstance(item, LineCollection) and item.get_label().endswith(label)
    ]
    return np.array(found.get_segments())


def as_set(pairs):
    return {tuple(np.round(np.ravel(pair), 9)) for pair in pairs}


def test_edges_lie_between_the_rows_they_join(isomap):
    ax = plot.graph(isomap)
    graph, Y = isomap.graph_.tocoo(), isomap.embedding_
    rows, columns = graph.row, graph.col
    shortcuts = {tuple(sorted(edge)) for edge in isomap.shortcuts_.tolist()}
    marked = [tuple(sorted(edge)) in shortcuts for edge in zip(rows, columns, strict=True)]
    upper = (rows < columns) & ~np.array(marked)
    expected = as_set(np.stack([Y[rows[upper]], Y[columns[upper]]], axis=1))
    assert as_set(segments(ax, "edges")) == expected
    assert len(segments(ax, "edges")) == upper.sum()


def test_shortcuts_and_bridges_are_marked(two_islands):
    with pytest.warns(planish.exceptions.DisconnectedGraphWarning):
        fitted = planish.Isomap(n_neighbors=4).fit(two_islands)
    Y, bridge = fitted.embedding_, fitted.bridges_
    ax = plot.graph(fitted, shortcuts=[[5, 2]])
    np.testing.assert_allclose(segments(ax, "1 shortcut"), [[Y[2], Y[5]]])
    np.testing.assert_allclose(segments(ax, "1 bridge"), Y[np.sort(bridge, axis=1)])
    # A marked edge is not drawn twice.
    assert not as_set(segments(ax, "edges")) & as_set(Y[np.sort(bridge, axis=1)])
    assert legend_texts(ax)[1:] == ["1 shortcut", "1 bridge"]


def test_shortcuts_of_the_estimator_are_drawn():
    # Two turns of a roll, and one edge between them.
    X = swiss_roll(600)
    graph = planish.neighbors_graph(X, n_neighbors=8).tolil()
    inner, outer = np.argmin(np.abs(X[:, 0] - 6.3)), np.argmax(X[:, 0])
    graph[inner, outer] = graph[outer, inner] = 1.0
    with pytest.warns(planish.exceptions.ShortcutWarning):
        fitted = planish.Isomap(metric="precomputed").fit(graph.tocsr())
    pairs = np.sort(fitted.shortcuts_, axis=1)
    assert [inner, outer] in pairs.tolist() or [outer, inner] in pairs.tolist()
    ax = plot.graph(fitted)
    shown = segments(ax, "shortcut" if len(pairs) == 1 else "shortcuts")
    assert as_set(shown) == as_set(fitted.embedding_[pairs])


def test_graph_of_plain_arrays_and_rows_without_coordinates(cloud):
    graph = planish.neighbors_graph(cloud, n_neighbors=3)
    Y = cloud.copy()
    Y[0] = np.nan
    ax = plot.graph(Y, graph=graph, labels=np.arange(200) % 2)
    stored = graph.tocoo()
    rows, columns = stored.row, stored.col
    pairs = {tuple(sorted(pair)) for pair in zip(rows, columns, strict=True) if 0 not in pair}
    assert len(segments(ax, "edges")) == len(pairs)
    assert legend_texts(ax) == ["0 (99)", "1 (100)", f"{len(pairs)} edges"]


def test_graph_refuses(cloud, isomap, blob):
    with pytest.raises(ParameterError, match="`graph`: an array has no neighbourhood graph"):
        plot.graph(cloud)
    with pytest.raises(ParameterError, match="`graph`: a ClassicalMDS has no"):
        plot.graph(planish.ClassicalMDS().fit(blob))
    with pytest.raises(ParameterError, match=r"`graph`.*\(200, 200\)"):
        plot.graph(cloud, graph=isomap.graph_)
    with pytest.raises(
        ParameterError, match="`shortcuts`: expected pairs of row numbers below 300"
    ):
        plot.graph(isomap, shortcuts=[[0, 300]])
    with pytest.raises(ParameterError, match="two columns"):
        plot.graph(cloud[:, :1], graph=planish.neighbors_graph(cloud, n_neighbors=3))
