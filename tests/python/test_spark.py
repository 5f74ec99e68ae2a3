"""The recipe for Spark, in a process of its own: the Java machine ends with it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")


@pytest.mark.timeout(400)
def test_the_recipe_runs_and_leaves_no_process_behind(tmp_path):
    blocks = re.findall(r"^```python( spark)?\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    (start, recipe) = (blocks[0][1], next(code for spark, code in blocks if spark))
    script = tmp_path / "recipe.py"
    script.write_text(start + recipe + "\nprint('placed', len(found))\n")
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PLANISH_TEST": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=380,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "placed 1000"
    assert psutil.wait_procs(_started_here(str(tmp_path)), timeout=30)[1] == []


def _started_here(folder):
    """The processes that inherited this test's environment."""
    return [one for one in psutil.process_iter() if _environment(one).get("PLANISH_TEST") == folder]


def _environment(process):
    try:
        return process.environ()
    except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
        return {}
