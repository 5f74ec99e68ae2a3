"""The command line as people and shells use it: terminals, pipes, signals."""

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import numpy as np
import pytest

from conftest import swiss_roll

pytestmark = pytest.mark.linux

COMMAND = [sys.executable, "-m", "planish"]
#: A fit that would take hours.
LONG = ["embed", "long.npy", "-o", "map.csv", "-m", "mds", "--eps", "0", "--max-iter", "9999999"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    np.save("roll.npy", swiss_roll(3000))
    np.save("long.npy", swiss_roll(3000))
    return tmp_path


class Terminal:
    """A process on a terminal of its own; standard output may be piped away."""

    def __init__(self, arguments, *, columns=90, stdout=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=slave,
            stdout=stdout or slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(slave)
        self.text = ""

    def read_until(self, pattern, timeout=60):
        end = time.monotonic() + timeout
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, self.text
            if not self._read():
                break
        return self.text

    def _read(self):
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:  # Linux: the other side is closed
            return False
        self.text += data.decode()
        return bool(data)

    def type(self, text):
        os.write(self.master, text.encode())

    def finish(self, timeout=60):
        while self._read():
            pass
        code = self.process.wait(timeout)
        os.close(self.master)
        return code


def parts(folder):
    return [name for name in os.listdir(folder) if ".part" in name]


def test_a_terminal_shows_progress_and_colour(folder):
    terminal = Terminal(["embed", "roll.npy", "-o", "map.csv", "--n-neighbors", "8", "--report"])
    assert terminal.finish() == 0
    assert "Isomap.fit" in terminal.text
    assert "\r" in terminal.text
    last = ESCAPES.sub("", terminal.text).splitlines()[-1]
    assert re.fullmatch(r"map\.csv: Isomap of 3000 rows × 3 columns in \d+\.\d\d s", last)
    assert (folder / "map.csv").read_text().startswith("isomap0,isomap1\n")


def test_several_fits_show_which_is_at_work():
    terminal = Terminal(["compare", "roll.npy", "--methods", "pca,lle"])
    assert terminal.finish() == 0
    assert "compare: pca   0 %" in terminal.text
    assert "compare: lle  50 %" in terminal.text
    terminal = Terminal(["neighbors", "roll.npy"])
    assert terminal.finish() == 0
    assert "suggest_n_neighbors: 50 neighbours" in terminal.text


def test_a_table_that_is_typed_in_ends_with_one_ctrl_d():
    terminal = Terminal(["embed", "-", "-o", "-", "-m", "pca"])
    terminal.read_until("end with Ctrl-D")
    terminal.type("a,b\n1,2\n3,5\n4,4\n\x04")
    said = terminal.read_until(r"standard output: PCA of 3 rows × 2 columns")
    assert "pca0,pca1\r\n" in said
    assert terminal.finish() == 0


def test_help_fits_the_terminal():
    terminal = Terminal(["embed", "-m", "pca", "--help"], columns=60)
    assert terminal.finish() == 0
    assert "\x1b[" in terminal.text
    lines = ESCAPES.sub("", terminal.text).splitlines()
    wide = [
        line for line in lines if len(line) > 60 and not line.lstrip().startswith(("planish", "#"))
    ]
    # A long choice stays in one piece.
    assert all("|" in line for line in wide)


def test_ctrl_c_ends_at_once_and_leaves_nothing(folder):
    (folder / "map.csv").write_text("as it was")
    terminal = Terminal(LONG)
    terminal.read_until(r"MDS\.fit.*%|MDS\.fit.*it")
    began = time.monotonic()
    terminal.type("\x03")
    assert terminal.finish(10) == 130
    assert time.monotonic() - began < 2.0  # a second, on a machine that does more than this
    text = ESCAPES.sub("", terminal.text)
    assert text.rstrip().endswith("planish: interrupted")
    assert "Traceback" not in text
    assert (folder / "map.csv").read_text() == "as it was"
    assert parts(folder) == []


def test_ctrl_c_while_it_starts():
    """Between the first import and the last there is no traceback either."""
    process = subprocess.Popen([*COMMAND, *LONG], stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert error.strip() in ("", "planish: interrupted")


def test_a_pipe_is_quiet_and_head_ends_it():
    line = " ".join([*map(repr, COMMAND), "embed roll.npy -o - --n-neighbors 8"])
    found = subprocess.run(
        ["bash", "-c", f"{line} | head -2; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert found.stderr == ""
    head, row, code = found.stdout.splitlines()
    assert head == "isomap0,isomap1"
    assert [float(value) for value in row.split(",")]
    assert code == "0"


def test_standard_output_that_is_full():
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [*COMMAND, "embed", "roll.npy", "-o", "-", "-m", "pca"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert found.returncode == 1
    assert found.stderr.strip() == (
        "planish embed: standard output: cannot be written: No space left on device"
    )


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("embed roll.npy -m pca -o - >&-", 1, "planish embed: standard output is closed\n"),
        ("methods >&-", 1, "planish methods: standard output is closed\n"),
        ("embed roll.npy -m pca -o map.npy >&-", 0, ""),
        ("embed none.npy -m pca -o map.npy 2>&-", 1, ""),
    ],
)
def test_streams_that_are_closed(line, code, said):
    command = " ".join([*map(repr, COMMAND), line])
    found = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.returncode, found.stdout, found.stderr) == (code, "", said)


def test_a_request_to_terminate(folder):
    process = subprocess.Popen([*COMMAND, *LONG, "--n-jobs", "1"], stderr=subprocess.PIPE)
    try:
        time.sleep(0.5)
        wait_for_threads(process.pid)
        process.terminate()
        error = process.communicate(timeout=20)[1]
    finally:
        process.kill()
    assert process.returncode == 143
    assert error == b""
    assert sorted(os.listdir()) == ["long.npy", "roll.npy"]


def wait_for_threads(pid):
    """Wait until the core is at work."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if "_core.abi3" in Path(f"/proc/{pid}/maps").read_text():
                time.sleep(1.0)
                return
        time.sleep(0.05)


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from planish.cli.app import run\n"
        "assert run(['--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pyarrow', 'rich', 'planish._core', 'tqdm'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)


def test_the_installed_command_is_this_one():
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.scripts]\nplanish = "planish.cli:main"\n' in project
