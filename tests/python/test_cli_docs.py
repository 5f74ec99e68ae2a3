"""Every command line in README, guide and help runs, in order, on files of the names it uses."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from conftest import swiss_roll
from planish.cli import app
from planish.cli.app import COMMANDS, run

pytestmark = pytest.mark.linux  # lines for a shell

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Lines of a block that are commands of ours, alone or in a pipe.
OURS = re.compile(r"^(?!#)(?:.*\| )?planish .*$", re.MULTILINE)


def commands_of(text):
    return [line.partition("  #")[0].strip() for line in OURS.findall(text)]


def lines_of(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    return [line for block in BLOCK.findall(text) for line in commands_of(block)]


def examples_of(command):
    from importlib import import_module

    return [line for line, _ in import_module(f"planish.cli.{command}").command.examples]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the documents speak of."""
    monkeypatch.chdir(tmp_path)
    points = swiss_roll(240)
    rng = np.random.default_rng(0)
    columns = {f"x{at}": column for at, column in enumerate(points.T)}
    species = np.where(points[:, 1] > 10, "long", "short")
    named = {**columns, "name": [f"a{at:03d}" for at in range(240)], "species": species}
    numbers = pa.table(columns)
    new = pa.table({**{k: v[:20] + 0.01 * rng.random(20) for k, v in columns.items()},
                    "name": [f"b{at}" for at in range(20)]})  # fmt: skip
    for name in ("data", "train"):
        pa.csv.write_csv(numbers, f"{name}.csv")
        pq.write_table(numbers, f"{name}.parquet")
    pa.csv.write_csv(pa.table(named), "flowers.csv")
    for name in ("new", "big"):
        pq.write_table(new, f"{name}.parquet")
        pa.csv.write_csv(new, f"{name}.csv")
    subprocess.run(["gzip", "-k", "data.csv"], check=True)
    # `planish` of the documents is the one under test.
    shim = tmp_path / "bin" / "planish"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m planish "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent), prepend=":")
    return tmp_path


def check(line):
    if "|" in line.replace("'", ""):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], check=False, timeout=60,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout, line
    else:
        assert run(shlex.split(line)[1:]) == 0, line


@pytest.mark.parametrize("document", ["README.md", "docs/guide.md"])
def test_command_lines_of_documents_run(document, folder):
    lines = lines_of(document)
    assert lines, f"{document} shows no command line"
    for line in lines:
        check(line)


def test_command_lines_of_help_run(folder):
    lines = commands_of(app._EXAMPLES)
    lines += [line for command in COMMANDS for line in examples_of(command)]
    assert len(lines) > len(COMMANDS)
    for line in lines:
        check(line)
