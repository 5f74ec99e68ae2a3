"""What importing planish imports, and what it leaves behind."""

import subprocess
import sys
from pathlib import Path

import pytest
import threadpoolctl

import planish
from conftest import needs_sklearn
from planish import _deferred

HEAVY = ("sklearn.manifold", "sklearn.neighbors", "sklearn.metrics", "scipy.stats", "pandas")


def run(code):
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


put_off = needs_sklearn(1, 9, reason="the first whose imports can all be put off")


@put_off
def test_an_estimator_imports_what_it_needs():
    run(
        "import sys\n"
        "from planish import Isomap, KernelMDS, PCA, SpectralEmbedding\n"
        f"found = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "assert found == [], found\n"
        "X = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.1], [3.0, 1.0], [4.0, 2.0], [5.5, 1.0]]\n"
        "for kind in (Isomap, KernelMDS, PCA, SpectralEmbedding):\n"
        "    kind().fit(X)\n"
        f"found = [m for m in {HEAVY[:3]!r} if m in sys.modules]\n"
        "assert found == [], found\n"
    )


def test_what_was_put_off_is_the_real_module_when_used():
    run(
        "import sys\n"
        "from planish import Isomap\n"
        "import sklearn.utils.fixes as fixes\n"
        "assert fixes.scipy.stats.mode([1, 2, 2])[0] == 2\n"
        "import pandas, scipy.special, scipy.stats\n"
        "assert fixes.pd.DataFrame is pandas.DataFrame\n"
        "assert fixes.scipy.stats is scipy.stats is sys.modules['scipy.stats']\n"
        "stand_ins = [m for m in sys.modules.values() if type(m).__name__ == 'StandIn']\n"
        "assert stand_ins == []\n"
        "from sklearn.utils import _array_api\n"
        "assert _array_api.special.expit(0.0) == 0.5\n"
        "frame = pandas.DataFrame({'a': [0.0, 1, 2, 3, 4, 5], 'b': [0, 1.0, 0, 1, 0, 1]})\n"
        "placed = Isomap().set_output(transform='pandas').fit_transform(frame)\n"
        "assert type(placed) is pandas.DataFrame\n"
    )


def test_a_stand_in_gives_way_and_modules_already_there_stay(monkeypatch):
    import colorsys

    with _deferred.deferred("colorsys"):
        assert sys.modules["colorsys"] is colorsys
    monkeypatch.delitem(sys.modules, "colorsys")
    with _deferred.deferred("colorsys", "no_such_module"):
        import colorsys as later

        assert type(later) is _deferred.StandIn
        assert later.rgb_to_hsv(0.0, 0.0, 1.0)[2] == 1.0
        assert type(sys.modules["colorsys"]) is not _deferred.StandIn
        with pytest.raises(AttributeError):
            _ = later.no_such_name
    assert "no_such_module" not in sys.modules


def test_objects_of_scipy_stats_are_pickled_before_and_after():
    run(
        "import pickle\n"
        "from planish import Isomap\n"
        "import sklearn.utils.fixes as fixes\n"
        "law = fixes.scipy.stats.norm(1.0, 2.0)\n"
        "import scipy.stats\n"
        "assert isinstance(law, type(scipy.stats.norm()))\n"
        "assert pickle.loads(pickle.dumps(law)).mean() == 1.0\n"
        "assert pickle.loads(pickle.dumps(scipy.stats.gaussian_kde)) is scipy.stats.gaussian_kde\n"
    )


@pytest.mark.parametrize(
    ("last_line", "outcome"),
    [("import scipy.stats.distributions", "imported"), ("raise RuntimeError", "RuntimeError")],
)
def test_an_import_that_fails_is_done_again_without_stand_ins(tmp_path, last_line, outcome):
    # Something that scikit-learn imports, with one line more: of a stand-in there are no
    # submodules; any other error is raised as it is, and no stand-in stays behind.
    own = tmp_path / "threadpoolctl.py"
    own.write_text(Path(threadpoolctl.__file__).read_text("utf-8") + f"\n{last_line}\n", "utf-8")
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "try:\n"
        "    from planish import Isomap\n"
        "    print('imported')\n"
        "except Exception as error:\n"
        "    print(type(error).__name__)\n"
        "assert 'StandIn' not in {type(module).__name__ for module in sys.modules.values()}\n"
        "import scipy.stats, pandas\n"
        "assert scipy.stats.norm.cdf(0.0) == 0.5 and pandas.DataFrame\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == outcome


@put_off
def test_a_module_put_in_place_of_pandas_is_left_there():
    run(
        "import sys, types\n"
        "sys.modules['pandas'] = own = types.ModuleType('pandas')\n"  # which has no __spec__
        "from planish import Isomap\n"
        "assert sys.modules['pandas'] is own\n"
    )


def test_several_threads_put_nothing_off():
    run(
        "import sys, threading\n"
        "done = threading.Event()\n"
        "threading.Thread(target=done.wait, daemon=True).start()\n"
        "from planish import Isomap\n"
        "assert 'scipy.stats' in sys.modules\n"
        "done.set()\n"
    )


def test_every_name_has_the_home_that_the_api_says():
    from planish import _api

    homes = planish._homes()
    assert sorted(homes) == sorted(name for name in vars(_api) if not name.startswith("_"))
    assert planish.__all__ == [*sorted(homes), "__version__"]
    for name in homes:
        assert getattr(planish, name) is getattr(_api, name), name
    with pytest.raises(AttributeError):
        _ = planish.no_such_name
    with pytest.raises(ImportError):
        from planish import no_such_name  # noqa: F401


def test_without_source_files_the_api_itself_is_asked(monkeypatch):
    homes = planish._homes()
    monkeypatch.setattr("importlib.machinery.SourceFileLoader.get_source", lambda *_: None)
    assert planish._homes() == dict.fromkeys(homes, "._api")


def test_a_name_that_there_is_not_imports_nothing():
    run(
        "import sys, planish\n"
        "assert not hasattr(planish, 'UMAP') and len(planish.__all__) > 40\n"
        "assert 'numpy' not in sys.modules\n"
    )


@put_off
def test_all_names_together_leave_scipy_stats_alone():
    run("import sys\nfrom planish import *\nassert 'scipy.stats' not in sys.modules\n")
