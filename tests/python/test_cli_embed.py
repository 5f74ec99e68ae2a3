"""``planish embed``: every format in and out, columns, missing values, scaling; as in Python."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import planish
from planish.cli import screen
from planish.cli.app import run

pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")

POINTS = np.random.default_rng(0).random((120, 3)) * [3, 1, 0.05]  # a sheet
EXPECTED = planish.Isomap(n_neighbors=8).fit_transform(POINTS)
NAMES = ["x", "y", "z"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_csv(path, columns, delimiter=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def roll_csv(path="roll.csv", **others):
    write_csv(path, {**dict(zip(NAMES, POINTS.T.tolist(), strict=True)), **others})


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def coordinates(path):
    """The coordinates of a file, whatever its format."""
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".npz"):
        return np.load(path)["embedding"]
    if path.endswith((".csv", ".tsv")):
        table = np.genfromtxt(path, delimiter="\t" if path.endswith(".tsv") else ",", names=True)
        return np.column_stack([table["isomap0"], table["isomap1"]])
    read = pq.read_table if path.endswith(".parquet") else pa.feather.read_table
    table = read(path)
    return np.column_stack([table["isomap0"].to_numpy(), table["isomap1"].to_numpy()])


def feather_of(table, path):
    import pyarrow.feather

    pyarrow.feather.write_feather(table, path)


def made(kind):
    """The roll as a file of a format."""
    table = pa.table(dict(zip(NAMES, POINTS.T.copy(), strict=True)))
    if kind in ("csv", "tsv"):
        write_csv(
            f"roll.{kind}",
            dict(zip(NAMES, POINTS.T.tolist(), strict=True)),
            "\t" if kind == "tsv" else ",",
        )
    elif kind == "parquet":
        pq.write_table(table, "roll.parquet", row_group_size=50)
    elif kind == "feather":
        feather_of(table, "roll.feather")
    elif kind == "npy":
        np.save("roll.npy", POINTS)
    else:
        np.savez_compressed("roll.npz", X=POINTS, name=np.arange(len(POINTS)))
    return f"roll.{kind}"


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "npy", "npz"])
def test_every_format_is_read_and_written_to_the_bit(kind):
    source, target = made(kind), f"map.{kind}"
    assert run(["embed", source, "-o", target, "--n-neighbors", "8"]) == 0
    np.testing.assert_array_equal(coordinates(target), EXPECTED)


def test_identifiers_are_carried_as_they_stand():
    names = [f"{at:03d}" for at in range(len(POINTS))]
    roll_csv(code=names, remark=['a, "b"\nc'] * len(POINTS), whole=list(range(len(POINTS))))
    common = ["embed", "roll.csv", "--n-neighbors", "8", "--id", "code,remark", "--id", "whole"]
    assert run([*common, "-o", "map.csv"]) == 0
    assert run([*common, "-o", "map.parquet"]) == 0
    assert run([*common, "-o", "map.npz"]) == 0
    text = read_csv("map.csv")
    assert list(text) == ["code", "remark", "whole", "isomap0", "isomap1"]
    assert text["code"] == names
    assert set(text["remark"]) == {'a, "b"\nc'}
    table = pq.read_table("map.parquet")
    assert table["code"].to_pylist() == names  # leading zeros would be lost
    assert table.schema.field("whole").type == pa.int64()
    arrays = np.load("map.npz")  # and no Python objects
    assert arrays["code"].tolist() == names
    assert arrays["whole"].tolist() == list(range(len(POINTS)))
    np.testing.assert_array_equal(arrays["embedding"], EXPECTED)


@pytest.mark.parametrize(
    ("choice", "taken"),
    [
        (["--columns", "x,y,z"], [0, 1, 2]),
        (["--columns", "?", "--exclude", "w"], [0, 1, 2]),
        (["-c", "x:z"], [0, 1, 2]),
        (["-c", "z", "-c", "x"], [2, 0]),
        (["-x", "w"], [0, 1, 2]),
        (["--id", "w"], [0, 1, 2]),
    ],
)
def test_columns_by_name_pattern_and_span(choice, taken):
    roll_csv(w=["1000"] * len(POINTS))
    assert run(["embed", "roll.csv", "-o", "map.npz", "-m", "pca", *choice]) == 0
    expected = planish.PCA().fit_transform(POINTS[:, taken])
    np.testing.assert_array_equal(np.load("map.npz")["embedding"], expected)


def test_missing_values_are_dropped_on_request():
    x = [str(value) for value in POINTS[:, 0]]
    x[3], x[7], x[11] = "", " NA ", "nan"
    roll_csv(x=x, name=list(range(len(POINTS))))
    common = ["embed", "roll.csv", "-o", "map.csv", "-m", "pca", "--id", "name"]
    assert run(common) == 1
    assert run([*common, "--missing", "drop"]) == 0
    kept = np.setdiff1d(np.arange(len(POINTS)), [3, 7, 11])
    found = read_csv("map.csv")
    assert found["name"] == [str(row) for row in kept]
    expected = planish.PCA().fit_transform(POINTS[kept])
    np.testing.assert_array_equal(np.array(found["pca0"], dtype=float), expected[:, 0])


def test_a_method_that_knows_missing_values_is_given_them():
    distances = np.linalg.norm(POINTS[:30, None] - POINTS[None, :30], axis=2)
    distances[3, 5] = distances[5, 3] = np.nan
    np.save("d.npy", distances)
    common = ["embed", "d.npy", "-o", "map.npy", "-m", "mds", "--metric", "precomputed"]
    assert run(common) == 1
    assert run([*common, "--missing", "keep"]) == 0
    expected = planish.MDS(metric="precomputed").fit_transform(distances)
    np.testing.assert_array_equal(np.load("map.npy"), expected)


@pytest.mark.parametrize("kind", ["standard", "robust", "minmax", "maxabs"])
def test_scaling_is_that_of_scikit_learn(kind):
    from sklearn import preprocessing

    data = np.column_stack([POINTS * [1e3, 1.0, 1e-3], np.full(len(POINTS), 0.1)])
    np.save("data.npy", data)
    assert run(["embed", "data.npy", "-o", "map.npy", "-m", "pca", "--scale", kind]) == 0
    name = {"minmax": "MinMaxScaler", "maxabs": "MaxAbsScaler"}.get(
        kind, f"{kind.capitalize()}Scaler"
    )
    scaled = getattr(preprocessing, name)().fit_transform(data)
    expected = planish.PCA().fit_transform(scaled)
    np.testing.assert_allclose(np.load("map.npy"), expected, rtol=0, atol=1e-9)


def test_single_precision_stays():
    np.save("roll.npy", POINTS.astype(np.float32))
    assert run(["embed", "roll.npy", "-o", "map.npy", "-m", "pca"]) == 0
    assert np.load("map.npy").dtype == np.float32


def test_vectors_in_a_column_are_columns():
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(POINTS.ravel()), 3)
    for column in (fixed, fixed.cast(pa.list_(pa.float64()))):
        pq.write_table(pa.table({"name": range(len(POINTS)), "vector": column}), "v.parquet")
        for chosen in ("vector", "vector*", "vector[0]:vector[2]"):
            line = ["embed", "v.parquet", "-o", "map.npy", "-c", chosen, "--n-neighbors=8"]
            assert run(line) == 0
            np.testing.assert_array_equal(np.load("map.npy"), EXPECTED)
    assert run(["embed", "v.parquet", "-o", "map.csv", "-c", "vector", "--id", "vector"]) == 0
    with open("map.csv") as file:
        assert file.readline() == "vector[0],vector[1],vector[2],isomap0,isomap1\n"


def test_npy_of_every_kind_of_numbers_and_order():
    for data in (POINTS.astype(">f8"), np.asfortranarray(POINTS), POINTS.astype(np.int16)):
        np.save("data.npy", data)
        assert run(["embed", "data.npy", "-o", "map.npy", "-m", "pca"]) == 0
        expected = planish.PCA().fit_transform(np.ascontiguousarray(data, "f8"))
        np.testing.assert_array_equal(np.load("map.npy"), expected)


def test_csv_of_other_habits(tmp_path):
    lines = ["\ufeffa;b;", *(f'" {x:.6f} ";{y:.6f};' for x, y, _ in POINTS), ""]
    text = "\r\n".join(lines).replace(".", ",")
    (tmp_path / "odd.csv").write_text(text, encoding="utf-8", newline="")
    options = ["--delimiter", ";", "--decimal", ",", "-c", "a,b", "-m", "pca"]
    assert run(["embed", "odd.csv", "-o", "map.npy", *options]) == 0
    expected = planish.PCA().fit_transform(POINTS[:, :2].round(6))
    np.testing.assert_array_equal(np.load("map.npy"), expected)


def test_a_first_line_of_numbers_is_a_row(capfd):
    np.savetxt("plain.csv", POINTS, delimiter=",", fmt="%.17g")
    assert run(["embed", "plain.csv", "-o", "map.npy", "--n-neighbors", "8"]) == 0
    np.testing.assert_array_equal(np.load("map.npy"), EXPECTED)
    assert "taken as a row" in capfd.readouterr().err
    assert run(["embed", "plain.csv", "-o", "map.npy", "--header", "-m", "pca"]) == 0
    assert len(np.load("map.npy")) == len(POINTS) - 1


def test_standard_streams(monkeypatch, capfdbinary):
    table = pa.table(dict(zip(NAMES, POINTS.T.copy(), strict=True)))
    sink = io.BytesIO()
    pq.write_table(table, sink)
    for given, kind, reads in (
        (sink.getvalue(), "csv", None),
        (sink.getvalue(), "npy", lambda data: np.load(io.BytesIO(data))),
        (sink.getvalue(), "arrow", lambda data: pa.ipc.open_stream(data).read_all()),
        (sink.getvalue(), "parquet", lambda data: pq.read_table(io.BytesIO(data))),
        (sink.getvalue(), "npz", lambda data: np.load(io.BytesIO(data))["embedding"]),
    ):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(given)))
        monkeypatch.setattr("sys.stdin", stream)
        assert run(["embed", "-", "-o", "-", "--to", kind, "--n-neighbors", "8"]) == 0
        found = capfdbinary.readouterr()
        assert found.err == b""
        if reads is None:
            values = np.genfromtxt(io.BytesIO(found.out), delimiter=",", skip_header=1)
        else:
            values = reads(found.out)
        if isinstance(values, pa.Table):
            values = np.column_stack([values["isomap0"], values["isomap1"]])
        np.testing.assert_array_equal(values, EXPECTED)


def test_seed_and_threads(capfd):
    np.save("roll.npy", POINTS)
    common = ["embed", "roll.npy", "-m", "tsne:barnes_hut", "--init", "random", "--max-iter", "250"]
    for name, extra in {
        "a": ["--seed", "1"],
        "b": ["--seed", "1", "-j", "2"],
        "c": ["--seed", "2"],
    }.items():
        assert run([*common, "--perplexity", "10", "-o", f"{name}.npy", *extra]) == 0
    a, b, c = (np.load(f"{name}.npy") for name in "abc")
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_report_and_picture(folder, capfd):
    roll_csv(turn=np.arctan2(POINTS[:, 0], POINTS[:, 2]).tolist(), kind=["u", "v"] * 60)
    common = ["embed", "roll.csv", "-o", "map.csv", "--n-neighbors", "8", "--exclude", "turn,kind"]
    for picture, begin in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        for column in ("turn", "kind"):
            assert run([*common, "--plot", picture, "--color", column]) == 0
            assert (folder / picture).read_bytes().startswith(begin)
    assert run([*common, "--plot", "a.html", "--color", "turn", "--report"]) == 0
    assert "<title>Isomap" in (folder / "a.html").read_text(encoding="utf-8")
    shown = capfd.readouterr().out
    expected = planish.quality.trustworthiness(POINTS, EXPECTED, n_neighbors=10)
    assert f"trustworthiness      {float(expected):.4f}" in shown


def test_a_table_that_takes_long_to_read_has_a_bar_on_a_terminal(capfd, monkeypatch):
    np.save("roll.npy", POINTS)
    command = ["embed", "roll.npy", "-o", "map.npy", "-m", "pca"]
    monkeypatch.setattr(screen, "_DELAY", 0)
    assert run(command) == 0
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(screen, "on_terminal", lambda stream=None: True)
    assert run(command) == 0
    assert "reading roll.npy:   0%|" in capfd.readouterr().err


def test_warnings_are_one_line_each(capfd, two_islands):
    np.save("two.npy", two_islands)
    assert run(["embed", "two.npy", "-o", "map.npy", "--n-neighbors", "4"]) == 0
    lines = capfd.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("planish: warning: ") for line in lines)
    assert any("components" in line for line in lines)


def test_an_array_as_a_parameter():
    start = np.random.default_rng(0).normal(size=(len(POINTS), 2))
    np.save("start.npy", start)
    np.save("roll.npy", POINTS)
    assert run(["embed", "roll.npy", "-o", "map.npy", "-m", "mds", "--init", "start.npy"]) == 0
    expected = planish.MDS(init=start).fit_transform(POINTS)
    np.testing.assert_array_equal(np.load("map.npy"), expected)


def test_parameters_arrive_typed(monkeypatch):
    seen = {}

    def fit_transform(self, X):
        seen.update(self.get_params())
        return planish.PCA.fit(self, X) and X

    np.save("roll.npy", POINTS)
    monkeypatch.setattr(planish.Isomap, "fit_transform", fit_transform)
    arguments = ["--n-neighbors", "none", "--radius", "6", "--conformal", "--tol", "1e-3"]
    arguments += ["--metric", "Manhattan", "--metric-params", '{"w": [1]}', "--path-method", "FW"]
    run(["embed", "roll.npy", "-o", "map.npy", *arguments])
    expected = {"n_neighbors": None, "radius": 6.0, "conformal": True, "tol": 1e-3}
    expected |= {"metric": "manhattan", "metric_params": json.loads('{"w": [1]}')}
    assert {name: seen[name] for name in expected} == expected
    assert seen["path_method"] == "FW"
    assert seen["max_iter"] is None


def test_several_perplexities():
    np.save("roll.npy", POINTS)
    options = ["-m", "tsne", "--perplexity", "5,20", "--max-iter", "250"]
    assert run(["embed", "roll.npy", "-o", "map.npy", *options]) == 0
    expected = planish.TSNE(perplexity=[5, 20], max_iter=250).fit_transform(POINTS)
    np.testing.assert_array_equal(np.load("map.npy"), expected)


def test_python_dash_m_is_the_same():
    roll_csv()
    command = [sys.executable, "-m", "planish", "embed", "roll.csv", "-o", "-", "-m", "pca"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert found.stderr == ""
    assert found.stdout.startswith("pca0,pca1,pca2\n")
    assert len(found.stdout.splitlines()) == len(POINTS) + 1
