"""Bad input: one clear sentence, an exit code, nothing half-written."""

import errno
import io
import os
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import planish
from conftest import swiss_roll
from planish.cli.app import run
from planish.cli.files import staging

POINTS = swiss_roll(60)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capfd, arguments, code, *said):
    """Run; check the exit code, the one sentence, and that no file appeared or vanished."""
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
    assert run(arguments) == code
    found = capfd.readouterr()
    lines = [line for line in found.err.splitlines() if "warning:" not in line]
    assert len(lines) == 1, found.err
    assert lines[0].startswith("planish")
    for text in said:
        assert text in lines[0]
    assert found.out == ""
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before


GOOD = "a,b,c\n1,2,3\n4,5,6\n7,8,1\n9,1,2\n"
TABLES = {
    "text": (
        "a,b\n1,2\n3,four\n5,6\n",
        ["t.csv: row 1 (line 3), column 'b': 'four' is not a number", "--id b"],
    ),
    "text in several columns": (
        "a,name,b,kind\n1,x,2,y\n",
        ["row 0 (line 2), column 'name': 'x'", "(the same in 'kind')"],
    ),
    "a decimal comma": ('a,b\n"1,5",2\n', ["'1,5' is not a number", "--decimal ,"]),
    "after a text with lines in it": (
        'a,b,n\n1,2,"x\ny"\n\n3,oops,z\n',
        ["row 1 (line 5), column 'b': 'oops'"],
    ),
    "short row": ("a,b\n1,2\n3\n", ["t.csv: row 1 (line 3) has 1 value, not 2 as the header: '3'"]),
    "long row": ("a,b\n1,2,9\n", ["row 0 (line 2) has 3 values, not 2"]),
    "empty": ("", ["t.csv: the file is empty"]),
    "blank lines": ("\n\n", ["t.csv: the file is empty"]),
    "header only": ("a,b\n", ["there are names of columns, but no rows"]),
    "missing": (
        "a,b\n1,2\n3,\n",
        ["row 1 (line 3), column 'b': the value is missing", "--missing"],
    ),
    "infinite": ("a,b\n1,inf\n", ["row 0 (line 2), column 'b': the value is infinite"]),
    "two names": ("a,a\n1,2\n", ["two columns have the name 'a'"]),
    "other delimiter": ("a;b\n1;2\n", ["separated by ';', say --delimiter ';'"]),
    "other encoding": (b"a,b\n1,2\n3,\xe9\n".decode("latin1"), ["is not UTF-8"]),
    "other encoding of names": (b"a,\xe9\n1,2\n".decode("latin1"), ["the first line is not UTF-8"]),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16").decode("latin1"), ["iconv -f utf-16 -t utf-8"]),
    "lines of an old Macintosh": ("a,b\r1,2\r", ["its lines end with CR alone", "tr '\\r' '\\n'"]),
    "an open quote": ('a,b\n1,2\n"3,4\n', ["t.csv: "]),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
def test_bad_csv(name, piped, folder, capfd, monkeypatch):
    text, said = TABLES[name]
    (folder / "t.csv").write_bytes(text.encode("latin1"))
    options = ["--id", "n"] if ",n\n" in text else []
    if not piped:
        refused(capfd, ["embed", "t.csv", "-o", "map.csv", *options], 1, *said)
        return
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Pipe(text))))
    refused(capfd, ["embed", "-", "-o", "-", *options], 1, "standard input: ")


class Pipe(io.RawIOBase):
    """Bytes that cannot be read twice."""

    def __init__(self, text):
        self.rest = text.encode("latin1")

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), len(self.rest), 7)
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size


@pytest.mark.parametrize("command", ["dimension", "neighbors", "compare"])
def test_a_column_of_texts_where_nothing_is_carried(command, folder, capfd):
    (folder / "t.csv").write_text("a,n\n1,x\n2,y\n")
    way = "'x' is not a number; leave the column out with --exclude n\n"
    assert run([command, "t.csv"]) == 1
    assert capfd.readouterr().err.endswith(way)
    assert run([command, "--help"]) == 0
    assert "--id" not in capfd.readouterr().out


def test_a_text_where_a_model_takes_numbers(folder, capfd):
    (folder / "t.csv").write_text(GOOD)
    assert run(["embed", "t.csv", "-m", "pca", "-o", "m.csv", "--save-model", "m.planish"]) == 0
    capfd.readouterr()
    (folder / "t.csv").write_text("a,b,c\n1,2,3\n4,x,6\n")
    arguments = ["transform", "m.planish", "t.csv", "-o", "placed.csv"]
    refused(capfd, arguments, 1, "row 1 (line 3), column 'b': 'x'", "the model takes numbers there")


def test_missing_everywhere(folder, capfd):
    (folder / "t.csv").write_text("a,b\n1,\n,2\n")
    arguments = ["embed", "t.csv", "-o", "m.csv", "--missing", "drop"]
    refused(capfd, arguments, 1, "every row has a missing value")


FILES = {
    "r.parquet": "this is no Parquet file",
    "r.feather": "this is no Arrow file",
    "r.npy": "this is no NPY file",
    "r.npz": "this is no NPZ file",
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_noise(name, folder, capfd):
    (folder / name).write_bytes(np.random.default_rng(0).bytes(3000))
    refused(capfd, ["embed", name, "-o", "map.csv"], 1, f"{name}: {FILES[name]}")


@pytest.mark.parametrize("kind", ["parquet", "feather", "npy", "npz"])
def test_truncated_files(kind, folder, capfd):
    import pyarrow.feather

    table = pa.table({"a": POINTS[:, 0], "b": POINTS[:, 1]})
    name = f"t.{kind}"
    if kind == "parquet":
        pq.write_table(table, name)
    elif kind == "feather":
        pyarrow.feather.write_feather(table, name, compression="uncompressed")
    elif kind == "npy":
        np.save(name, POINTS)
    else:
        np.savez(name, X=POINTS)
    whole = (folder / name).read_bytes()
    for size in (len(whole) // 2, len(whole) - 40):
        (folder / name).write_bytes(whole[:size])
        refused(capfd, ["embed", name, "-o", "map.csv"], 1, name)


def test_arrays_that_are_no_tables(capfd):
    np.save("cube.npy", np.zeros((2, 3, 4)))
    refused(capfd, ["embed", "cube.npy", "-o", "m.npy"], 1, "the array has 3 axes")
    np.save("objects.npy", np.array([[1, None]], dtype=object))
    refused(capfd, ["embed", "objects.npy", "-o", "m.npy"], 1, "holds Python objects")
    np.save("complex.npy", np.zeros((3, 2), dtype=complex))
    refused(capfd, ["embed", "complex.npy", "-o", "m.npy"], 1, "not real numbers")
    np.save("none.npy", np.zeros((0, 2)))
    refused(capfd, ["embed", "none.npy", "-o", "m.npy"], 1, "is empty, of shape (0, 2)")
    np.savez("two.npz", a=POINTS, b=POINTS)
    refused(capfd, ["embed", "two.npz", "-o", "m.npy"], 1, "a, b: choose one with --array")
    refused(capfd, ["embed", "two.npz", "-o", "m.npy", "--array", "x"], 1, "no array 'x'")


def test_a_declared_size_takes_no_memory(folder, capfd):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 3)}"
    length = len(header).to_bytes(2, "little")
    (folder / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + length + header + bytes(480))
    refused(capfd, ["embed", "huge.npy", "-o", "m.npy"], 1, "the file ends before the array does")


def test_lists_of_other_lengths(capfd):
    pq.write_table(pa.table({"v": [[1.0, 2.0], [3.0, 4.0], [5.0], None]}), "v.parquet")
    refused(
        capfd, ["embed", "v.parquet", "-o", "m.csv"], 1, "row 2, column 'v': there is a list of 1"
    )


USES = {
    "ending of the input": (["t.xyz", "-o", "m.csv"], 2, "the ending '.xyz' names no format"),
    "no ending": (["t", "-o", "m.csv"], 2, "a name without an ending names no format"),
    "misspelt ending": (["t.csvv", "-o", "m.csv"], 2, "did you mean .csv"),
    "ending of the output": (["t.csv", "-o", "m.xls"], 2, "or say which with --to"),
    "no file": (["none.csv", "-o", "m.csv"], 1, "none.csv: there is no such file"),
    "a folder": ([".", "-o", "m.csv", "--from", "csv"], 1, "this is a folder"),
    "no folder": (["t.csv", "-o", "no/m.csv"], 1, "no/m.csv: there is no folder 'no'"),
    "output is a folder": (["t.csv", "-o", "sub", "--to", "csv"], 1, "this is a folder"),
    "no output": (["t.csv"], 2, "missing option '--output' / '-o'"),
    "a word for a number": (
        ["t.csv", "-o", "m.csv", "--n-neighbors", "ten"], 2,
        "--n-neighbors: expected a whole number or none, got 'ten'",
    ),
    "too many neighbours": (
        ["t.csv", "-o", "m.csv", "--n-neighbors", "4"], 2,
        "--n-neighbors: must be less than the number of rows",
    ),
    "a word that is no choice": (
        ["t.csv", "-o", "m.csv", "--eigen-solver", "dence"], 2, "did you mean dense?",
    ),
    "no such column": (["t.csv", "-o", "m.csv", "-c", "z*"], 2, "it has a, b, c"),
    "almost a column": (["t.csv", "-o", "m.csv", "--id", "aa"], 2, "did you mean a?"),
    "all columns left out": (["t.csv", "-o", "m.csv", "-x", "*"], 2, "no column is left"),
    "texts in npy": (["t.csv", "-o", "m.npy", "--id", "a"], 2, "write .npz, .parquet or .csv"),
    "two outputs of a name": (["t.csv", "-o", "m.csv", "--save-model", "m.csv"], 2, "two outputs"),
    "the same by another way": (
        ["t.csv", "-o", "m.csv", "--save-model", "sub/../m.csv"], 2, "two outputs have the name",
    ),
    "the input as output": (
        ["t.csv", "-o", "./t.csv"], 2, "t.csv: this is the table that is read; name another",
    ),
    "a picture of no kind": (["t.csv", "-o", "m.csv", "--plot", "m.gif"], 2, "is no picture"),
    "a colour without a picture": (["t.csv", "-o", "m.csv", "--color", "a"], 2, "say --plot"),
    "threads": (["t.csv", "-o", "m.csv", "-j", "0"], 2, "--n-jobs: 0 threads"),
    "a delimiter of two": (["t.csv", "-o", "m.csv", "--delimiter", "ab"], 2, "one character"),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_wrong_uses(name, folder, capfd):
    (folder / "t.csv").write_text(GOOD)
    (folder / "sub").mkdir()
    for other in ("t.xyz", "t", "t.csvv"):
        (folder / other).write_text(GOOD)
    arguments, code, said = USES[name]
    refused(capfd, ["embed", *arguments], code, said)


@pytest.mark.linux
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "npy", "npz"])
def test_a_full_device(kind, folder, capfd):
    np.save("t.npy", POINTS)
    arguments = ["embed", "t.npy", "-m", "pca", "-o", "/dev/full", "--to", kind]
    refused(capfd, arguments, 1, "/dev/full: cannot be written: No space left on device")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


NO_FILES = {
    "model": ["embed", "t.csv", "-m", "pca", "-o", "m.csv", "--save-model", "pipe.html"],
    "picture": ["embed", "t.csv", "-m", "pca", "-o", "m.csv", "--plot", "pipe.html"],
    "page": ["page", "t.csv", "-c", "a,b", "-o", "pipe.html"],
    "maps": ["compare", "t.csv", "--methods", "pca", "--plot", "pipe.png"],
}


@pytest.mark.linux
@pytest.mark.parametrize("name", NO_FILES)
def test_a_device_is_not_replaced_by_a_file(name, folder, capfd):
    (folder / "t.csv").write_text(GOOD)
    target = NO_FILES[name][-1]
    os.mkfifo(target)
    refused(capfd, NO_FILES[name], 1, f"{target}: this is a device or the like; name a file")
    assert stat.S_ISFIFO(os.stat(target).st_mode)


@pytest.mark.linux
@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_a_disk_that_is_full_in_the_middle(kind, folder, capfd, monkeypatch):
    import resource

    np.save("t.npy", np.random.default_rng(0).normal(size=(5000, 4)))
    (folder / f"m.{kind}").write_text("as it was")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        refused(capfd, ["embed", "t.npy", "-m", "pca", "-o", f"m.{kind}"], 1,
                f"m.{kind}: cannot be written: {os.strerror(errno.EFBIG)}")  # fmt: skip
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (folder / f"m.{kind}").read_text() == "as it was"


def test_a_failure_of_one_output_leaves_them_all(folder, capfd, monkeypatch):
    np.save("t.npy", POINTS)

    def broken(*args, **settings):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("planish.cli.pictures.save", broken)
    arguments = ["embed", "t.npy", "-m", "pca", "-o", "m.csv", "--plot", "m.png"]
    refused(capfd, arguments, 1, "m.png: cannot be written: No space left on device")


@pytest.mark.linux
def test_a_disk_without_room_for_a_model_or_a_page_is_told_by_its_name(folder, capfd):
    import resource

    np.save("t.npy", np.random.default_rng(0).normal(size=(2000, 4)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        arguments = ["embed", "t.npy", "-m", "isomap", "-o", "m.npy", "--save-model", "m.planish"]
        refused(capfd, arguments, 1, "'m.planish' cannot be written: there is not enough room")
        arguments = ["page", "t.npy", "-c", "x0,x1", "-o", "m.html"]
        refused(capfd, arguments, 1, f"m.html: cannot be written: {os.strerror(errno.EFBIG)}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.linux
def test_what_a_killed_process_left_is_removed_and_what_another_one_writes_is_not(folder):
    with staging.Outputs() as first, staging.Outputs() as second:
        written = first.stage("m.csv")
        written.write_text("half")
        assert second.stage("m.csv") != written
        left = folder / ".m.csv.0123abcd.part.csv"
        others = [folder / ".m.csv.note.part.csv", folder / ".mm.csv.0123abcd.part.csv"]
        for one in (left, *others):
            one.write_text("old")
        with staging.Outputs() as third:
            third.stage("m.csv")
            assert not left.exists()
            assert written.read_text() == "half"
        first.commit()
    assert sorted(folder.iterdir()) == sorted([*others, folder / "m.csv"])
    assert (folder / "m.csv").read_text() == "half"


@pytest.mark.linux
def test_permissions_and_links_of_the_output_stay(folder):
    np.save("t.npy", POINTS)
    (folder / "real.csv").write_text("old")
    os.chmod("real.csv", 0o640)
    os.symlink("real.csv", "link.csv")
    assert run(["embed", "t.npy", "-m", "pca", "-o", "link.csv"]) == 0
    assert os.path.islink("link.csv")
    assert stat.S_IMODE(os.stat("real.csv").st_mode) == 0o640
    assert (folder / "real.csv").read_text().startswith("pca0")
    assert sorted(os.listdir()) == ["link.csv", "real.csv", "t.npy"]


def test_a_defect_is_called_one(folder, capfd, monkeypatch):
    np.save("t.npy", POINTS)
    monkeypatch.setattr(planish.PCA, "fit_transform", lambda self, X: 1 / 0)
    arguments = ["embed", "t.npy", "-m", "pca", "-o", "m.csv"]
    refused(capfd, arguments, 1, "a defect of planish", "ZeroDivisionError", "PLANISH_TRACEBACK")
    monkeypatch.setenv("PLANISH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run(arguments)


def test_the_extra_is_named_where_it_is_missing(capfd, monkeypatch):
    import sys

    from planish.cli import main

    for name in [one for one in sys.modules if one.startswith("planish.cli.app")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "click", None)
    assert main() == 1
    assert capfd.readouterr().err == (
        "planish: the command line needs a few more packages: pip install 'planish[cli]'\n"
    )
