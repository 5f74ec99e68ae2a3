"""Docstrings, README and guide: their examples run, names and shapes hold, links lead somewhere."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import planish

README = Path(__file__).parents[2] / "README.md"


MODULES = [
    module.name.removeprefix("planish.")
    for module in pkgutil.walk_packages(planish.__path__, "planish.")
    if module.name != "planish._core"
]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    module = importlib.import_module(f"planish.{name}")
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_every_public_callable_has_an_example():
    for name in planish.__all__:
        value = getattr(planish, name)
        if callable(value):
            assert ">>> " in (value.__doc__ or ""), name


@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
def test_readme_snippets_run(tmp_path, monkeypatch):
    snippets = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    assert snippets, "the README shows no Python"
    monkeypatch.chdir(tmp_path)
    # One after the other, as a reader would type them.
    namespace = {}
    for number, snippet in enumerate(snippets):
        exec(compile(snippet, f"README.md python snippet {number}", "exec"), namespace)


def test_readme_prints_what_it_shows(capsys):
    """The table below the first code is the beginning of what it prints."""
    text = README.read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    shown = re.search(r"^```text\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith(shown)


def test_the_times_in_the_picture_are_those_of_the_table():
    """After new benchmarks examples/readme_picture.py draws it anew."""
    text = README.read_text(encoding="utf-8")
    with Image.open(README.parent / "docs" / "first.png") as picture:
        told = picture.text["Description"].split("; ")
    assert len(told) == 3
    for panel in told:
        own, other = re.fullmatch(r"(.+) \(scikit-learn (.+)\)", panel).groups()
        assert re.search(rf"\| \*\*{own}\*\*.* \| {other} \(", text), panel


def test_pictures_are_small():
    pictures = sorted((README.parent / "docs").glob("*.png"))
    assert {path.name for path in pictures} >= {"first.png", "roll.png", "methods.png"}
    assert {path.name: path.stat().st_size for path in pictures if path.stat().st_size > 3e5} == {}


def test_import_is_lazy():
    code = (
        "import sys, planish\n"
        "heavy = [m for m in ('numpy', 'scipy', 'sklearn', 'planish._core') if m in sys.modules]\n"
        "assert heavy == [], heavy\n"
        "from planish import Isomap\n"
        "assert 'sklearn.manifold' not in sys.modules\n"
        "assert 'sklearn.neighbors' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_version_is_the_distributions():
    cargo = (README.parent / "Cargo.toml").read_text()
    assert planish.__version__ == re.search(r'^version = "(.+)"', cargo, re.MULTILINE)[1]


def test_docstring_shapes_hold(roll):
    """The attributes of Isomap have the shapes its docstring gives."""
    fitted = planish.Isomap(n_neighbors=8, n_components=3).fit(roll)
    n = len(roll)
    documented = {
        "embedding_": (n, 3), "eigenvalues_": (3,), "eigenvectors_": (n, 3), "graph_": (n, n),
        "component_labels_": (n,), "bridges_": (0, 2), "dist_matrix_": (n, n),
    }  # fmt: skip
    assert {name: getattr(fitted, name).shape for name in documented} == documented
    np.testing.assert_allclose(
        fitted.embedding_,
        fitted.eigenvectors_ * np.sqrt(fitted.eigenvalues_),
        rtol=1e-10,
        atol=1e-9,
    )


ROOT = Path(__file__).resolve().parents[2]


# docs/recipes.md is run by test_recipes.py
GUIDES = [ROOT / "docs" / "guide.md", ROOT / "docs" / "cluster.md"]


DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", GUIDES, ids=lambda path: path.name)
def test_python_blocks_run_in_order(document):
    run_blocks(document)


def run_blocks(document):
    """Run the Python of a document, block after block, as a reader would type it."""
    text = document.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks, f"{document.name} has no Python block: is the pattern still right?"
    shared = {"__name__": document.stem}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for block in blocks:
            # line numbers of the document, so that a failure points into it
            line = text.count("\n", 0, block.start(1))
            exec(compile("\n" * line + block.group(1), str(document), "exec"), shared)
    shared.clear()  # DuckDB tells of every object that is still there when Python ends


def test_links_in_documents_lead_somewhere():
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
