"""What importing planish imports, and what it leaves behind."""

import subprocess
import sys

import pytest

import planish
from planish import _deferred

HEAVY = ("sklearn.manifold", "sklearn.neighbors", "sklearn.metrics", "scipy.stats", "pandas")


def run(code):
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


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


def test_every_name_has_the_home_that_the_api_says():
    from planish import _api

    for name in planish.__all__:
        if name != "__version__":
            assert planish._home_of(name) is not None, name
            assert getattr(planish, name) is getattr(_api, name), name
    assert planish._home_of("no_such_name") is None
    with pytest.raises(AttributeError):
        _ = planish.no_such_name
    with pytest.raises(ImportError):
        from planish import no_such_name  # noqa: F401
