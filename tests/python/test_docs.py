"""What the documentation shows is what happens."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import planish

README = Path(__file__).parents[2] / "README.md"
MODULES = [
    module.name for module in pkgutil.iter_modules(planish.__path__) if module.name != "_core"
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
