"""``planish transform`` and ``info``: batches, scaling, names; inputs larger than memory; kills."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.preprocessing import StandardScaler

import planish
from conftest import swiss_roll
from planish.cli.app import run

pytestmark = pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")

POINTS = swiss_roll(150)
NEW = swiss_roll(60, seed=5)
COMMAND = [sys.executable, "-m", "planish"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, points in (("train", POINTS), ("new", NEW)):
        columns = dict(zip("xyz", points.T.copy(), strict=True))
        pq.write_table(pa.table({**columns, "name": range(len(points))}), f"{name}.parquet")
        pa.csv.write_csv(pa.table({**columns, "name": range(len(points))}), f"{name}.csv")
        np.save(f"{name}.npy", points)
    return tmp_path


def fitted(*arguments, source="train.parquet"):
    assert run(["embed", source, "-o", "map.npy", "--save-model", "m.planish", *arguments]) == 0


METHODS = [
    ["--method", "isomap", "--n-neighbors", "8"],
    ["--method", "ltsa", "--n-neighbors", "8"],
    ["--method", "pca"],
    ["--method", "tsne", "--max-iter", "250"],
    ["--method", "landmark-mds"],
]


@pytest.mark.parametrize("arguments", METHODS, ids=lambda arguments: arguments[1])
def test_the_bits_do_not_depend_on_batches_or_formats(arguments):
    fitted(*arguments, "-x", "name")
    expected = planish.load("m.planish").transform(pq.read_table("new.parquet").select(
        ["x", "y", "z"]).to_pandas())  # fmt: skip
    for source, size in (("new.parquet", "7"), ("new.csv", "60"), ("new.npy", "1")):
        command = ["transform", "m.planish", source, "-o", "placed.npy", "--batch-size", size]
        assert run(command) == 0
        np.testing.assert_array_equal(np.load("placed.npy"), expected)


def test_training_rows_get_their_coordinates():
    fitted("--n-neighbors", "8", "-x", "name", "--scale", "standard")
    assert run(["transform", "m.planish", "train.csv", "-o", "placed.csv", "--id", "name"]) == 0
    table = pa.csv.read_csv("placed.csv")
    assert table["name"].to_pylist() == list(range(len(POINTS)))
    found = np.column_stack([table["isomap0"], table["isomap1"]])
    np.testing.assert_array_equal(found, np.load("map.npy"))


def test_the_scaling_of_the_fit_is_applied_again():
    fitted("-m", "pca", "--scale", "standard", "-x", "name")
    assert run(["transform", "m.planish", "new.csv", "-o", "placed.npy"]) == 0
    scaler = StandardScaler().fit(POINTS)
    expected = planish.PCA().fit(scaler.transform(POINTS)).transform(scaler.transform(NEW))
    np.testing.assert_allclose(np.load("placed.npy"), expected, rtol=0, atol=1e-12)
    # It is in the model, for Python too.
    kept = planish.load("m.planish").column_scaling_["standard"]
    np.testing.assert_allclose(kept["shift"], scaler.mean_, rtol=1e-14)
    np.testing.assert_allclose(kept["divisor"], scaler.scale_, rtol=1e-14)


def test_columns_are_found_by_name_in_any_order(capfd):
    fitted("-m", "pca", "-x", "name")
    assert run(["transform", "m.planish", "new.csv", "-o", "a.npy"]) == 0
    table = pq.read_table("new.parquet").select(["name", "z", "x", "y"])
    pq.write_table(table, "other.parquet")
    assert run(["transform", "m.planish", "other.parquet", "-o", "b.npy"]) == 0
    np.testing.assert_array_equal(np.load("a.npy"), np.load("b.npy"))
    pq.write_table(table.rename_columns(["name", "c", "a", "b"]), "renamed.parquet")
    assert run(["transform", "m.planish", "renamed.parquet", "-o", "c.npy"]) == 1
    assert "there is no column 'x' (and 2 more), which the model was fitted on" in (
        capfd.readouterr().err
    )
    assert run(["transform", "m.planish", "renamed.parquet", "-o", "c.npy", "-c", "a,b,c"]) == 0
    np.testing.assert_array_equal(np.load("a.npy"), np.load("c.npy"))


def test_another_number_of_columns(folder, capfd):
    fitted("-m", "pca", "-c", "x,y")
    assert run(["transform", "m.planish", "new.npy", "-o", "placed.npy"]) == 1
    assert capfd.readouterr().err == (
        "planish transform: new.npy: the model was fitted on 2 columns, here are 3: x0, x1, x2. "
        "Choose with --columns or --exclude\n"
    )
    assert not (folder / "placed.npy").exists()


def test_columns_of_the_model_cannot_be_left_out(folder, capfd):
    fitted("-m", "pca", "-x", "name")
    common = ["transform", "m.planish", "new.csv", "-o", "placed.csv", "--exclude"]
    assert run([*common, "n*"]) == 0
    assert run([*common, "y"]) == 2
    assert capfd.readouterr().err == (
        "planish transform: --exclude: the model takes the column 'y', it was fitted on it\n"
    )


def test_missing_values_in_a_later_batch(folder, capfd):
    fitted("-m", "pca", "-x", "name")
    lines = (folder / "new.csv").read_text().splitlines()
    lines[41] = lines[41].replace(lines[41].split(",")[1], "", 1)
    (folder / "new.csv").write_text("\n".join(lines))
    (folder / "placed.csv").write_text("as it was")
    common = ["transform", "m.planish", "new.csv", "-o", "placed.csv", "--batch-size", "16"]
    assert run(common) == 1
    assert "new.csv: row 40 (line 42), column 'y': the value is missing" in capfd.readouterr().err
    assert (folder / "placed.csv").read_text() == "as it was"
    assert sorted(name for name in os.listdir() if ".part" in name) == []
    assert run([*common, "--missing", "drop", "--id", "name"]) == 0
    names = pa.csv.read_csv("placed.csv")["name"].to_pylist()
    assert names == [row for row in range(60) if row != 40]


def test_identifiers_change_their_kind_in_a_later_batch(folder, capfd):
    fitted("-m", "pca", "-x", "name")
    lines = (folder / "new.csv").read_text().splitlines()
    lines[41] = lines[41].rsplit(",", 1)[0] + ",b7"
    (folder / "new.csv").write_text("\n".join(lines))
    common = ["transform", "m.planish", "new.csv", "--batch-size", "16", "--id", "name", "-o"]
    assert run([*common, "placed.parquet"]) == 1
    assert "column 'name': the first rows hold whole numbers" in capfd.readouterr().err
    assert run([*common, "placed.csv"]) == 0


@pytest.mark.parametrize("damage", ["absent", "folder", "empty", "text", "cut", "flipped"])
def test_models_that_cannot_be_read(damage, folder, capfd):
    fitted("-m", "pca", "-x", "name")
    whole = (folder / "m.planish").read_bytes()
    (folder / "m.planish").unlink()
    if damage == "folder":
        (folder / "m.planish").mkdir()
    elif damage != "absent":
        middle = len(whole) - 9
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        kinds = {"empty": b"", "text": b"a,b\n1,2\n" * 30, "cut": whole[:-20], "flipped": flipped}
        (folder / "m.planish").write_bytes(kinds[damage])
    capfd.readouterr()
    for command in (["transform", "m.planish", "new.csv", "-o", "p.csv"], ["info", "m.planish"]):
        if command[0] == "info" and damage == "flipped":
            continue  # it reads the header only
        assert run(command) == 1
        error = capfd.readouterr().err
        assert error.startswith(f"planish {command[0]}: ")
        assert "m.planish" in error
        assert error.count("\n") == 1
        assert "defect" not in error
    assert not (folder / "p.csv").exists()


def test_the_file_does_not_depend_on_the_run(folder):
    found = []
    for threads in ("1", "2"):
        fitted("--n-neighbors", "8", "-x", "name", "-j", threads, "--scale", "standard")
        found.append((folder / "m.planish").read_bytes())
    assert found[0] == found[1]


def test_info_tells_what_is_in_a_model(capfd):
    fitted("--n-neighbors", "8", "-x", "name", "--scale", "robust", "--radius", "none")
    assert run(["info", "m.planish"]) == 0
    lines = dict(
        re.split(r" {2,}", line.strip(), maxsplit=1)
        for line in capfd.readouterr().out.splitlines()
        if "  " in line.strip()
    )
    assert lines["method"] == "Isomap"
    assert lines["fitted on"] == "150 rows × 3 columns, float64"
    assert lines["columns"] == "x, y, z"
    assert lines["scaled"] == "robust"
    assert lines["--n-neighbors"] == "8"
    assert lines["--radius"] == "none"
    assert lines["--conformal"] == "no"
    assert "--n-jobs" not in lines
    assert lines["written by"].startswith(f"planish {planish.__version__}, ")


# -- processes --------------------------------------------------------------------------

LIMITED = """
import resource, sys
from planish.cli.app import run
import numpy, pyarrow, planish, sklearn.utils.validation
model = planish.load("m.planish")
model.transform(numpy.zeros((5, 40)))
used = int(next(line for line in open("/proc/self/status") if "VmData" in line).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (used + (BOUND << 20),) * 2)
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.linux
def test_an_input_larger_than_memory(folder):
    """160 MB in a process that may take 96 MB more; what needs all of it at once fails there."""
    rows, columns = 500_000, 40
    rng = np.random.default_rng(0)
    block = rng.normal(size=(50_000, columns))
    np.save("small.npy", block[:500])
    fitted("-m", "pca", "--n-components", "2", source="small.npy")
    big = np.lib.format.open_memmap("big.npy", "w+", np.float64, (rows, columns))
    for start in range(0, rows, len(block)):
        big[start : start + len(block)] = block
    big.flush()
    del big
    code = LIMITED.replace("BOUND", "96")

    def limited(*arguments):
        command = [sys.executable, "-c", code, *arguments, "-j", "1"]
        return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)

    done = limited("transform", "m.planish", "big.npy", "-o", "placed.npy")
    assert (done.returncode, done.stderr) == (0, "")
    placed = np.load("placed.npy", mmap_mode="r")
    assert placed.shape == (rows, 2)
    expected = planish.load("m.planish").transform(block)
    for start in range(0, rows, len(block)):
        np.testing.assert_array_equal(placed[start : start + len(block)], expected)
    whole = limited("embed", "big.npy", "-o", "whole.npy", "-m", "pca")
    assert whole.returncode == 1
    assert "memory" in whole.stderr.lower()
    assert whole.stderr.count("\n") == 1


@pytest.mark.linux
@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT", "SIGTERM"])
def test_ended_in_the_middle_of_writing(name, folder):
    how = signal.Signals[name]
    fitted("-m", "pca", "-x", "name")
    (folder / "placed.csv").write_text("as it was")
    process = subprocess.Popen(
        [*COMMAND, "transform", "m.planish", "-", "-o", "placed.csv"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        process.stdin.write(b"x,y,z\n" + b"1.5,2.5,3.5\n" * 400_000)
        process.stdin.flush()
        end = time.monotonic() + 60
        while not any(part.stat().st_size for part in folder.glob(".placed.csv.*.part*")):
            assert time.monotonic() < end
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        began = time.monotonic()
        process.send_signal(how)
        process.wait(10)
        assert time.monotonic() - began < 2.0
    finally:
        process.kill()
        process.stdin.close()
        error = process.stderr.read().decode()
        process.stderr.close()
    assert (folder / "placed.csv").read_text() == "as it was"
    left = list(folder.glob(".placed.csv.*.part*"))
    if how == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        assert len(left) == 1  # beside it, under a name of its own, until it is written again
        assert run(["transform", "m.planish", "new.csv", "-o", "placed.csv"]) == 0
        assert list(folder.glob(".placed.csv.*.part*")) == []
    else:
        assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how]
        assert error.strip() == {signal.SIGINT: "planish: interrupted", signal.SIGTERM: ""}[how]
        assert left == []
