"""Tables that were damaged: one clear sentence for each, or what is left of them is read."""

import gzip
import os
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from conftest import REPORTS, swiss_roll
from planish.cli.app import run

POINTS = swiss_roll(80)
NAMES = [f"n,{at}" for at in range(80)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tables():
    """The bytes of the same table in every format, by name."""
    plain = pa.table({"a": POINTS[:, 0], "b": POINTS[:, 1], "n": NAMES})
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(POINTS.ravel()), 3)
    table = plain.append_column("v", vectors)
    pa.csv.write_csv(plain, "t.csv")
    pq.write_table(table, "t.parquet")
    pa.feather.write_feather(table, "t.feather")
    with pa.ipc.new_stream("t.arrows", table.schema) as stream:
        stream.write_table(table)
    np.save("t.npy", POINTS)
    np.savez_compressed("t.npz", X=POINTS, n=np.array(NAMES))
    found = {file.name: file.read_bytes() for file in sorted(Path().iterdir())}
    return {**found, "t.csv.gz": gzip.compress(found["t.csv"], mtime=0)}


def damaged(raw, rng):
    data, how, at = bytearray(raw), rng.randrange(6), rng.randrange(len(raw) - 8)
    if how == 0:
        for _ in range(rng.choice([1, 2, 5, 30])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == 1:
        del data[at:]
    elif how == 2:
        data[at:at] = rng.randbytes(rng.randrange(1, 30))
    elif how == 3:
        del data[at : at + rng.randrange(1, len(data))]
    elif how == 4:
        for _ in range(3):
            data[rng.randrange(len(data))] = rng.choice([0, 255, 10, 13, 34, 44, 128])
    else:
        data[at : at + 4] = rng.choice([0, 2**31 - 1, 2**31, 2**32 - 1]).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
def test_damaged_tables_are_fuzzed(folder, capfd):
    rng, whole = random.Random(3), tables()
    refused, count = 0, int(os.environ.get("PLANISH_FUZZ", "250"))
    for _ in range(count):
        name = rng.choice(list(whole))
        (folder / name).write_bytes(damaged(whole[name], rng))
        carried = [] if name == "t.npy" else ["--id", "n"]
        target = rng.choice(["m.csv", "m.parquet", "m.npz"])
        code = run(["embed", name, "-o", target, "-m", "pca", "--missing", "drop", *carried])
        said = capfd.readouterr().err.splitlines()
        lines = [line for line in said if "warning:" not in line]
        refused += code != 0
        assert len(lines) == (code != 0), said
        assert "defect" not in "".join(lines)
        assert not [one for one in os.listdir() if ".part" in one]
    assert 0 < refused < count
    REPORTS.append(f"{count} damaged tables: {refused} were refused, each in one sentence.")


def test_packed_csv_that_is_cut_short(folder, capfd):
    (folder / "t.csv.gz").write_bytes(tables()["t.csv.gz"][:-20])
    assert run(["embed", "t.csv.gz", "-o", "m.csv", "--id", "n"]) == 1
    assert "t.csv.gz: cannot be unpacked" in capfd.readouterr().err


def test_a_ragged_row_that_is_not_utf_8(folder, capfd):
    (folder / "t.csv").write_bytes(b"a,b\n1,2\n3,4,\xe9\n")
    assert run(["embed", "t.csv", "-o", "m.csv"]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "t.csv: row 1 (line 3) has 3 values, not 2 as the header" in line


def test_a_text_that_arrow_only_believes_to_be_one(folder, capfd):
    """The lengths of texts are in the file; beyond its end they would be read from memory."""
    table = pa.table({"a": [1.0, 2.0], "n": ["xyz", "uvwxyz"]})
    with pa.ipc.new_stream("t.arrows", table.schema) as stream:
        stream.write_table(table)
    raw = (folder / "t.arrows").read_bytes()
    offsets, beyond = (np.array([0, 3, end], dtype="<i4").tobytes() for end in (9, 2**30))
    assert raw.count(offsets) == 1
    (folder / "t.arrows").write_bytes(raw.replace(offsets, beyond))
    assert run(["embed", "t.arrows", "-o", "m.csv", "-m", "pca", "--id", "n"]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("planish embed: t.arrows: cannot be read: ")
