"""The commands beside ``embed`` and ``transform``: what they show and write is the library's."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import planish
from conftest import swiss_roll
from planish.cli.app import run

pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")

POINTS = swiss_roll(300)
CLASSES = np.where(POINTS[:, 1] > 10, "high", "low")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("roll.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "z", "level"])
        writer.writerows((*row, level) for row, level in zip(POINTS.tolist(), CLASSES, strict=True))
    return tmp_path


def cells(line):
    return [cell for cell in line.split("  ") if cell.strip()]


def test_compare_is_the_librarys(capfd):
    arguments = ["compare", "roll.csv", "--methods", "pca,isomap,ltsa", "--labels", "level"]
    arguments += ["--n-neighbors", "8", "-o", "table.csv", "--plot", "maps.png"]
    assert run(arguments) == 0
    shown = capfd.readouterr().out.splitlines()
    expected = planish.compare(POINTS, ["PCA", "Isomap"], CLASSES, n_neighbors=8)
    assert "neighborhood hit" in shown[0]
    with open("table.csv", newline="") as file:
        table = {row["method"]: row for row in csv.DictReader(file)}
    assert list(table) == ["pca", "isomap", "ltsa"]
    for name, row in zip(("pca", "isomap"), expected.rows, strict=True):
        for measure, value in row.quality.items():
            assert float(table[name][measure]) == value
        line = next(line for line in shown if line.startswith(name))
        assert f"{row.quality['trustworthiness']:.3f}" in line
    assert table["pca"]["error"] == ""


def test_compare_tells_what_failed(capfd):
    arguments = ["compare", "roll.csv", "-x", "level", "--methods", "pca,hessian"]
    assert run([*arguments, "--n-neighbors", "3"]) == 0
    found = capfd.readouterr()
    assert "failed" in found.out
    assert "warning: hessian failed: " in found.err
    assert run([*arguments[:-1], "hessian", "--n-neighbors", "3"]) == 1
    assert "every method failed" in capfd.readouterr().err


def test_dimension_is_the_librarys(capfd):
    arguments = ["dimension", "roll.csv", "-c", "x:z", "--methods", "two_nn,gride"]
    assert run([*arguments, "--n-neighbors", "10", "--seed", "3"]) == 0
    shown = capfd.readouterr().out
    found = planish.dimension.estimate(POINTS, 10, methods=["two_nn", "gride"], random_state=3)
    for one in found:
        assert f"{one.value:.2f}" in shown
        assert f"{one.interval[0]:.2f} – {one.interval[1]:.2f}" in shown
    assert " ".join(found.summary.split()) in " ".join(shown.split())


def test_neighbors_suggests_and_says_why(capfd):
    assert run(["neighbors", "roll.csv", "-x", "level", "--max-neighbors", "20"]) == 0
    shown = capfd.readouterr().out
    found = planish.suggest_n_neighbors(POINTS, max_neighbors=20)
    for trial in found.trials:
        assert any(line.split()[:3] == [str(trial.n_neighbors), str(trial.components),
                   str(trial.shortcuts)] for line in shown.splitlines())  # fmt: skip
    assert f"Use n_neighbors={found.best}." in shown
    arguments = ["neighbors", "roll.csv", "-x", "level", "--algorithm", "brute"]
    assert run(arguments) == 2
    assert "name a file with -o" in capfd.readouterr().err


def test_neighbors_writes_them():
    common = ["neighbors", "roll.csv", "-x", "level", "--n-neighbors", "6", "-o"]
    assert run([*common, "near.parquet"]) == 0
    assert run([*common, "near.npz"]) == 0
    distances, indices = planish.kneighbors(POINTS, 6)
    table = pq.read_table("near.parquet")
    assert table.column_names == ["row", "rank", "neighbor", "distance"]
    np.testing.assert_array_equal(table["neighbor"].to_numpy().reshape(-1, 6), indices)
    np.testing.assert_array_equal(table["distance"].to_numpy().reshape(-1, 6), distances)
    graph = scipy.sparse.load_npz("near.npz")
    again = planish.Isomap(n_neighbors=5, metric="precomputed").fit_transform(graph)
    np.testing.assert_allclose(
        np.abs(again), np.abs(planish.Isomap(n_neighbors=5).fit_transform(POINTS)), atol=1e-8
    )


def test_page_has_every_column(folder):
    assert run(["embed", "roll.csv", "-o", "map.csv", "-c", "x:z", "--id", "*"]) == 0
    assert run(["page", "map.csv", "-o", "map.html", "--color", "level"]) == 0
    text = (folder / "map.html").read_text(encoding="utf-8")
    assert "<title>map</title>" in text
    for name in ("x", "y", "z", "level"):
        assert f'"name": "{name}"' in text or f'"name":"{name}"' in text
    assert "isomap0" not in text  # the coordinates are the axes


def test_page_wants_to_know_the_coordinates(capfd):
    assert run(["page", "roll.csv", "-o", "map.html"]) == 1
    assert "say which they are with --columns" in capfd.readouterr().err
    assert run(["page", "roll.csv", "-o", "map.html", "-c", "x,z"]) == 0
    assert run(["page", "roll.csv", "-o", "map.txt", "-c", "x,z"]) == 2


def test_methods_lists_the_registry(capfd):
    from planish.cli.registry import methods

    assert run(["methods"]) == 0
    shown = capfd.readouterr().out
    for name in methods():
        assert sum(line.startswith(f"{name} ") for line in shown.splitlines()) == 1, name
    need = planish.comparison.in_bytes(planish.estimate_memory("PCA", 100_000, 50))
    assert next(line for line in shown.splitlines() if line.startswith("pca ")).endswith(need)
    assert run(["methods", "lle"]) == 0
    shown = capfd.readouterr().out
    assert "locally-linear-embedding:hessian" in shown
    assert "--disconnected" in shown
    assert run(["methods", "umap"]) == 2


def test_version(capfd):
    assert run(["--version"]) == 0
    assert capfd.readouterr().out == f"planish {planish.__version__}\n"


def test_a_demo_replaces_its_own_files_only(folder, capfd):
    for _ in range(2):
        assert run(["demo", "try", "--rows", "60"]) == 0
    capfd.readouterr()
    (folder / "mine").mkdir()
    (folder / "mine" / "map.csv").write_text("mine")
    assert run(["demo", "mine"]) == 1
    assert "there is such a file already, and it is not of a demo" in capfd.readouterr().err
    assert [one.name for one in (folder / "mine").iterdir()] == ["map.csv"]
    assert (folder / "mine" / "map.csv").read_text() == "mine"
