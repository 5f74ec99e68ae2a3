"""planish.embed: any data frame in, the same kind with coordinates out."""

import re
import tracemalloc

import narwhals.selectors
import numpy as np
import pandas as pd
import polars as pl
import polars.selectors
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import planish
from planish import PCA, Isomap, LocallyLinearEmbedding, embed
from planish.exceptions import InputError, ParameterError

X = np.random.default_rng(0).normal(size=(60, 3)) * [3, 2, 1]
EXPECTED = PCA(2).fit_transform(X[:, :2])


@pytest.fixture
def frame():
    """Two columns to embed, two others, and an index in which labels repeat."""
    index = pd.Index([f"r{(7 * row) % 30}" for row in range(60)], name="cell")
    frame = pd.DataFrame(X, columns=["x_1", "x_2", "other"], index=index)
    return frame.assign(city=["Graz", "Linz", "Wien"] * 20)


KINDS = {
    "pandas": lambda frame: frame,
    "pandas of Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def numbers(frame, *names):
    """These columns of any frame as an array."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    return np.column_stack([np.asarray(frame[name]) for name in names])


@pytest.mark.parametrize("kind", KINDS)
def test_any_frame_in_the_same_kind_out(frame, kind):
    given = KINDS[kind](frame)
    found = embed(given, ["x_1", "x_2"], "pca")
    assert type(found) is type(given)
    assert np.array_equal(numbers(found, "pca_0", "pca_1"), EXPECTED)
    # Everything else is there still, in its order.
    assert np.array_equal(numbers(found, "x_1", "x_2", "other"), X)
    assert numbers(found, "city").ravel().tolist() == frame["city"].tolist()


def test_pandas_keeps_its_index_and_the_given_frame_is_not_changed(frame):
    before = frame.copy()
    found = embed(frame, ["x_1", "x_2"], "pca")
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(found[frame.columns], frame)
    assert found.index.name == "cell"


@pytest.mark.parametrize(
    "columns",
    [
        ["x_1", "x_2"],
        "x_*",
        "x_[12]",
        re.compile(r"_\d$"),
        narwhals.selectors.matches("^x_"),
        make_column_selector(pattern="^x_"),
        lambda frame: [name for name in frame.columns if name.startswith("x")],
        pd.Index(["x_1", "x_2"]),
        ["x_1", "*_2"],
    ],
    ids=str,
)
def test_ways_to_choose_columns(frame, columns):
    assert np.array_equal(embed(frame, columns, "pca")[["pca_0", "pca_1"]], EXPECTED)


@pytest.mark.parametrize(
    "columns",
    [
        polars.selectors.starts_with("x"),
        pl.col("x_1", "x_2"),
        pl.col("^x_.*$"),
        ["x_1", polars.selectors.ends_with("2")],
    ],
    ids=str,
)
def test_ways_to_choose_columns_in_polars(frame, columns):
    found = embed(pl.from_pandas(frame), columns, "pca")
    assert np.array_equal(numbers(found, "pca_0", "pca_1"), EXPECTED)


def test_by_default_all_numbers_are_embedded(frame):
    found = embed(frame.assign(ready=True), method="pca", n_components=2)
    assert np.array_equal(found[["pca_0", "pca_1"]], PCA(2).fit_transform(X))


def test_labels_that_are_numbers():
    found = embed(pd.DataFrame(X), [0, np.int64(1)], "pca")
    assert list(found.columns) == [0, 1, 2, "pca_0", "pca_1"]
    assert np.array_equal(found[["pca_0", "pca_1"]], EXPECTED)


def test_every_method_by_its_name(frame):
    for name in planish._core.methods():
        short = re.sub("(?<=[a-z])(?=[A-Z])|(?<=l)(?=MDS)", "_", name).lower()
        params = {"n_neighbors": 20} if name in ("Isomap", "KernelIsomap", "LandmarkIsomap") else {}
        params |= {"perplexity": 5.0, "max_iter": 250} if name == "TSNE" else {}
        found = embed(frame, method=short, n_components=2, **params)
        assert list(found.columns[4:]) == [f"{short}_0", f"{short}_1"]
        direct = getattr(planish, name)(n_components=2, **params)
        assert np.array_equal(found.iloc[:, 4:], direct.fit_transform(X)), name


def test_parameters_classes_estimators_and_pipelines(frame):
    expected = Isomap(n_neighbors=12, n_components=1).fit_transform(X)
    for method in ("isomap", "Isomap", Isomap, Isomap(n_components=3)):
        found = embed(frame, method=method, n_neighbors=12, n_components=1)
        assert np.array_equal(found[["isomap_0"]], expected)
    template = LocallyLinearEmbedding(method="ltsa", n_neighbors=10)
    found = embed(frame, method=template, prefix="map")
    assert np.array_equal(found[["map_0", "map_1"]], clone(template).fit_transform(X))
    assert not hasattr(template, "embedding_")  # a clone was fitted
    steps = make_pipeline(StandardScaler(), Isomap(n_neighbors=12))
    found = embed(frame, method=steps, isomap__n_components=1)
    by_hand = Isomap(n_neighbors=12, n_components=1).fit_transform(
        StandardScaler().fit_transform(X)
    )
    np.testing.assert_allclose(found[["isomap_0"]], by_hand, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fitted_estimator_places_rows_by_the_names_of_columns(frame, kind):
    _, model = embed(frame, "x_*", "isomap", n_neighbors=12, return_estimator=True)
    assert list(model.feature_names_in_) == ["x_1", "x_2"]
    later = KINDS[kind](frame[["city", "x_2", "other", "x_1"]].iloc[::-1])
    found = embed(later, method=model)
    assert np.array_equal(numbers(found, "isomap_0", "isomap_1"), model.embedding_[::-1])


def test_an_estimator_fitted_on_an_array_places_rows_too(frame):
    model = Isomap(n_neighbors=12).fit(X[:, :2])
    for kind in ("pandas", "polars"):
        found = embed(KINDS[kind](frame), ["x_1", "x_2"], model)
        assert np.array_equal(numbers(found, "isomap_0", "isomap_1"), model.embedding_)


def test_a_pipeline_that_chooses_its_columns_sees_the_whole_frame(frame):
    choice = make_column_transformer(
        (StandardScaler(), ["x_1", "x_2"]), (OneHotEncoder(sparse_output=False), ["city"])
    )
    steps = make_pipeline(choice, PCA(2))
    expected = clone(steps).fit_transform(frame)
    for kind in ("pandas", "polars"):
        found = embed(KINDS[kind](frame), method=steps)
        np.testing.assert_allclose(numbers(found, "pca_0", "pca_1"), expected, atol=1e-12)


def test_missing_values_are_left_to_what_handles_them(frame):
    frame.iloc[7, 0] = np.nan
    steps = make_pipeline(SimpleImputer(), PCA(2))
    expected = clone(steps).fit_transform(frame[["x_1", "x_2"]])
    assert np.array_equal(embed(frame, "x_*", steps)[["pca_0", "pca_1"]], expected)
    distances = planish.MDS(metric="nan_euclidean").fit_transform(frame[["x_1", "x_2"]])
    found = embed(frame, "x_*", "mds", metric="nan_euclidean")
    assert np.array_equal(found[["mds_0", "mds_1"]], distances)


def test_float32_stays(frame):
    narrow = frame.astype({"x_1": "float32", "x_2": "float32"})
    found = embed(narrow, "x_*", "pca")
    assert found["pca_0"].dtype == np.float32
    assert embed(narrow, ["x_1", "x_2", "other"], "pca")["pca_0"].dtype == np.float64


def test_whole_numbers_truth_values_and_decimals():
    rows = pd.DataFrame({"a": pd.array([1, 2, 4], dtype="Int64"), "b": [True, False, True]})
    expected = PCA(1).fit_transform([[1, 1], [2, 0], [4, 1]])
    assert np.array_equal(embed(rows, ["a", "b"], "pca", n_components=1)[["pca_0"]], expected)
    exact = pl.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1, 0, 1]}).cast({"a": pl.Decimal(10, 2)})
    found = embed(exact, method="pca", n_components=1)
    np.testing.assert_allclose(numbers(found, "pca_0"), expected, atol=1e-12)


# -- vectors ------------------------------------------------------------------------------


class Seen(PCA):
    """Keeps what it is given."""

    given = None

    def fit_transform(self, X, y=None):
        Seen.given = X
        return super().fit_transform(X)


def fixed(rows, kind=pa.FixedSizeListArray):
    """Vectors as PyArrow holds them, over the memory of the array."""
    flat = pa.array(rows.ravel())
    if kind is pa.FixedSizeListArray:
        return kind.from_arrays(flat, rows.shape[1])
    ends = pa.array(np.arange(0, rows.size + 1, rows.shape[1]), pa.int32())
    return kind.from_arrays(ends, flat)


VECTORS = {
    "polars array": lambda rows: pl.DataFrame({"id": range(len(rows)), "v": rows}),
    "pyarrow fixed": lambda rows: pa.table({"id": range(len(rows)), "v": fixed(rows)}),
    "pyarrow list": lambda rows: pa.table({"v": fixed(rows, pa.ListArray)}),
    "pandas of Arrow": lambda rows: pd.DataFrame(
        {"v": pd.Series(fixed(rows), dtype=pd.ArrowDtype(pa.list_(pa.float64(), rows.shape[1])))}
    ),
}


@pytest.mark.parametrize("kind", VECTORS)
def test_a_column_of_vectors_is_taken_as_it_lies_in_memory(kind):
    rows = np.random.default_rng(1).normal(size=(500, 8))
    found = embed(VECTORS[kind](rows), "v", Seen(2))
    assert Seen.given.ctypes.data == rows.ctypes.data
    assert Seen.given.shape == rows.shape
    assert np.array_equal(numbers(found, "seen_0", "seen_1"), PCA(2).fit_transform(rows))


def test_no_second_copy_of_the_vectors_is_made():
    rows = np.random.default_rng(1).normal(size=(20_000, 64))  # 10 MB
    table = VECTORS["pyarrow fixed"](rows)
    model = PCA(2).fit(rows[:1000])
    embed(table.slice(0, 10), "v", model)
    tracemalloc.start()
    try:
        embed(table, "v", model)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows.nbytes / 4


def test_a_slice_and_several_chunks_of_vectors():
    rows = np.random.default_rng(1).normal(size=(60, 4))
    for kind in ("pyarrow fixed", "pyarrow list"):
        table = VECTORS[kind](rows)
        embed(table.slice(10, 30), "v", Seen(2))
        assert Seen.given.ctypes.data == rows[10:].ctypes.data
        assert np.array_equal(Seen.given, rows[10:40])
        embed(pa.concat_tables([table.slice(0, 20), table.slice(20)]), "v", Seen(2))
        assert np.array_equal(Seen.given, rows)


def test_vectors_in_lists_and_objects():
    rows = np.random.default_rng(1).normal(size=(30, 4))
    for frame in (
        pd.DataFrame({"v": list(rows)}),
        pd.DataFrame({"v": rows.tolist()}),
        pl.DataFrame({"v": rows.tolist()}),
    ):
        found = embed(frame, method="pca", n_components=2)  # the only column there is
        assert np.array_equal(numbers(found, "pca_0", "pca_1"), PCA(2).fit_transform(rows))
    images = pl.DataFrame({"v": rows.reshape(30, 2, 2)})
    assert np.array_equal(
        numbers(embed(images, "v", "pca"), "pca_0"), PCA().fit_transform(rows)[:, :1]
    )
    both = pl.DataFrame({"v": rows, "x": X[:30, 0]})
    expected = PCA().fit_transform(np.column_stack([rows, X[:30, 0]]))
    assert np.array_equal(numbers(embed(both, ["v", "x"], "pca"), "pca_4"), expected[:, 4:])


# -- mistakes -----------------------------------------------------------------------------


MISTAKES = {
    "an array": (X, {}, InputError, r"data frame, got ndarray; .*Isomap\(\).fit_transform"),
    "a path": ("a.csv", {}, InputError, "got str; read the file first"),
    "a dict": ({"x": [1.0]}, {}, InputError, "got dict; make a frame"),
    "a series": (pd.Series([1.0]), {}, InputError, r"got Series; .*to_frame\(\)"),
    "no rows": (pl.DataFrame({"x": []}), {}, InputError, "the frame has no rows"),
    "equal names": (pd.DataFrame(X, columns=["a", "b", "a"]), {}, InputError, "same name: a;"),
    "text": ("frame", {"columns": ["x_1", "city"]}, InputError, "'city' holds String, not numbers"),
    "only text": (pl.DataFrame({"t": ["a"]}), {}, InputError, r"no column of numbers; .*'t' \(St"),
    "unknown column": (
        "frame",
        {"columns": "x1"},
        ParameterError,
        "no column 'x1', did you mean 'x_1'",
    ),
    "no match": ("frame", {"columns": "z_*"}, ParameterError, r"no column matches 'z_\*'; .*'x_1'"),
    "no column": ("frame", {"columns": []}, ParameterError, "name at least one"),
    "twice": ("frame", {"columns": ["x_1", "x_*"]}, ParameterError, "x_1 is chosen more than once"),
    "collision": (
        "done",
        {"method": "pca"},
        ParameterError,
        "already has a column 'pca_0'; .*prefix",
    ),
    "late collision": ("half", {"method": "pca"}, ParameterError, "already has a column 'pca_1'"),
    "prefix": ("frame", {"prefix": 3}, ParameterError, "`prefix`: expected a string"),
    "method": (
        "frame",
        {"method": "isomp"},
        ParameterError,
        "'isomp' is not known, did you mean 'isomap'",
    ),
    "other name": (
        "frame",
        {"method": "LTSA"},
        ParameterError,
        r"pass LocallyLinearEmbedding\(method='ltsa'\)",
    ),
    "no method": ("frame", {"method": 3}, ParameterError, "`method`: expected the name"),
    "parameter": ("frame", {"n_neighbours": 3}, ParameterError, "did you mean 'n_neighbors'"),
    "value": ("frame", {"n_neighbors": "12"}, ParameterError, "`n_neighbors`: expected a whole"),
    "fitted": (
        "frame",
        {"method": PCA(2).fit(X), "whiten": True},
        ParameterError,
        "`whiten`: a fitted",
    ),
    "sparse": (
        "frame",
        {"method": planish.KNeighborsTransformer()},
        ParameterError,
        "sparse matrix",
    ),
    "expression": (
        pl.DataFrame(X),
        {"columns": pl.col("column_0") * 2},
        ParameterError,
        "something new",
    ),
    "of polars": ("frame", {"columns": pl.col("x_1")}, ParameterError, "polars frames only"),
    "both kinds": (
        pl.DataFrame({"v": X, "x": X[:, 0]}),
        {},
        ParameterError,
        "vectors in 'v' and numbers in 'x'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(frame, mistake):
    given, arguments, error, message = MISTAKES[mistake]
    if isinstance(given, str) and given in ("frame", "done", "half"):
        names = {"frame": [], "done": ["pca_0"], "half": ["pca_1"]}[given]
        given = frame.assign(**dict.fromkeys(names, 0.0))
    with pytest.raises(error, match=message):
        embed(given, **arguments)


def test_missing_values_are_named_by_row_and_column(frame):
    holes = frame.copy()
    holes.iloc[7, 1] = np.nan
    holes.iloc[9, 0] = np.nan
    row = r"column 'x_2' has a missing value at row 7 \(index 'r19'\); 2 of 60 rows have"
    with pytest.raises(InputError, match=row):
        embed(holes)
    with pytest.raises(InputError, match=r"at row 7; 2 of 60 .*drop_nulls"):
        embed(pl.from_pandas(holes))
    with pytest.raises(InputError, match="'a' has a missing value at row 2;"):
        embed(pa.table({"a": pa.array([1, 2, None, 4])}))
    with pytest.raises(InputError, match=r"'a' has NaN at row 1; drop such rows"):
        embed(pl.DataFrame({"a": [1.0, np.nan, 2.0]}))
    holes.iloc[3, 2] = -np.inf
    with pytest.raises(InputError, match=r"column 'other' has -inf at row 3 \(index 'r21'\)"):
        embed(holes)


def test_missing_vectors_are_named():
    for frame, message in [
        (pl.DataFrame({"v": [[1.0, 2.0], None]}), "'v' has no vector at row 1"),
        (pl.DataFrame({"v": [[1.0, 2.0], [3.0]]}), "length 1 at row 1, but of length 2 at row 0"),
        (pd.DataFrame({"v": [[1.0, 2.0], [3.0]]}), "length 1 at row 1, but of length 2 at row 0"),
        (pl.DataFrame({"v": [[1.0, 2.0], [3.0, None]]}), "missing value at row 1, position 1"),
        (
            pa.table({"v": pa.array([[1.0, 2], [None, 3]], pa.list_(pa.float64(), 2))}),
            "missing value at row 1, position 0",
        ),
        (pl.DataFrame({"v": [["a"], ["b"]]}), r"no column of numbers; it has 'v' \(List"),
    ]:
        with pytest.raises(InputError, match=message):
            embed(frame, method="pca")


def test_a_fitted_estimator_wants_its_columns(frame):
    model = PCA(2).fit(frame[["x_1", "x_2"]])
    with pytest.raises(
        ParameterError, match="fitted on 2 columns, of which the frame has no 'x_2'"
    ):
        embed(frame.drop(columns="x_2"), method=model)


def test_estimators_say_which_column_of_a_frame_is_text(frame):
    for kind in ("pandas", "polars", "pyarrow"):
        with pytest.raises(
            InputError, match=r"column 'city' of X holds .*could not convert string"
        ):
            PCA().fit(KINDS[kind](frame))
    with pytest.raises(InputError, match=r"LazyFrame, .*X.collect\(\)"):
        PCA().fit(KINDS["lazy"](frame))


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "X": planish.quality.trustworthiness,
        "Y": lambda frame, Y: planish.quality.trustworthiness(Y, frame),
        "query": lambda frame, Y: planish.kneighbors(Y, query=frame),
        **{
            function.__name__: lambda frame, _, function=function: function(frame)
            for function in (
                planish.kneighbors,
                planish.neighbors_graph,
                planish.dimension.estimate,
                planish.dimension.two_nn,
                planish.suggest_n_neighbors,
            )
        },
        "bootstrap": lambda frame, _: planish.bootstrap(planish.MDS(), frame),
        "rank_curve": lambda frame, Y: planish.plot.rank_curve(Y, frame),
    }.items(),
)
def test_functions_say_which_column_of_a_frame_is_text(frame, name, call):
    wanted = name if name in ("Y", "query") else "X"
    with pytest.raises(InputError, match=rf"column 'city' of {wanted} holds String, .*{wanted}\["):
        call(frame, X[:, :2])
    with pytest.raises(InputError, match=rf"^{wanted} is a LazyFrame, .*{wanted}.collect\(\)$"):
        call(KINDS["lazy"](frame), X[:, :2])


def test_a_method_in_the_place_of_columns_is_told(frame):
    with pytest.raises(ParameterError, match=r"no column 'isomap'; .* is method='isomap'$"):
        embed(frame, "isomap")


def test_a_comparison_wants_rows(frame):
    with pytest.raises(InputError, match=r"LazyFrame, .*X.collect\(\)"):
        planish.compare(KINDS["lazy"](frame))


def test_the_rest_of_the_package_takes_frames_too(frame):
    rows = frame[["x_1", "x_2", "other"]]
    plain = planish.describe(rows).facts
    for kind in ("polars", "lazy", "pyarrow"):
        assert planish.describe(KINDS[kind](rows)).facts == plain
    table = planish.compare(KINDS["pyarrow"](rows), ["pca", "landmark_mds"])
    assert [row.error for row in table.rows] == [None, None]
    assert planish.estimate_memory("isomap", *rows.shape) == planish.estimate_memory(Isomap, 60, 3)
    found = embed(rows, method="pca", n_components=2)[["pca_0", "pca_1"]]
    scores = [
        float(planish.quality.trustworthiness(KINDS[kind](rows), KINDS[kind](found)))
        for kind in ("pandas", "polars", "pyarrow")
    ]
    assert scores == [float(planish.quality.trustworthiness(X, PCA(2).fit_transform(X)))] * 3
