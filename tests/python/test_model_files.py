"""Model files: what is saved is what is loaded, to the bit; written as a whole or not at all."""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import manifold
from sklearn.base import clone

import planish
from model_files_data import OTHER_KINDS, sheet
from planish import KernelMap
from planish.exceptions import InputError, ModelFileError, ParameterError

GOLDEN = Path(__file__).parents[1] / "it" / "golden"
CLASSES = [getattr(planish, name) for name in planish._core.methods()]


def through_a_file(estimator, tmp_path):
    estimator.save(tmp_path / "model.planish")
    return planish.load(tmp_path / "model.planish")


def same(one, other):
    """Equal to the bit, type and shape included."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if one.dtype.hasobject:
            assert one.tolist() == other.tolist()
        else:
            assert one.tobytes() == other.tobytes()
    elif sparse.issparse(one):
        for part in ("data", "indices", "indptr"):
            same(getattr(one, part), getattr(other, part))
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    else:
        assert one == other or np.isnan([one, other]).all()


def same_estimator(one, other, new, *, skip=()):
    assert type(one) is type(other)
    plain = [re.sub(" at 0x[0-9A-F]+", "", str(e.get_params())) for e in (one, other)]
    assert plain[0] == plain[1]
    shown = {name for name in vars(one) if name.endswith("_") and name not in skip}
    assert {name for name in vars(other) if name.endswith("_")} == shown
    for name in shown:
        same(vars(one)[name], vars(other)[name])
    same(one.transform(new), other.transform(new))
    assert list(one.get_feature_names_out()) == list(other.get_feature_names_out())
    assert list(clone(other).get_params()) == list(one.get_params())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_estimator_is_the_same_after_a_file(cls, dtype, tmp_path):
    X, new = sheet().astype(dtype), sheet(80).astype(dtype)
    fitted = cls().fit(X)
    loaded = through_a_file(fitted, tmp_path)
    same_estimator(fitted, loaded, new)
    assert loaded.transform(new).dtype == dtype
    # A file of what was loaded is the same file.
    first = (tmp_path / "model.planish").read_bytes()
    loaded.save(tmp_path / "again.planish")
    assert (tmp_path / "again.planish").read_bytes() == first
    # It can be fitted again, and pickled.
    same(pickle.loads(pickle.dumps(loaded)).transform(new), fitted.transform(new))
    same(clone(loaded).fit(X).transform(new), fitted.transform(new))


def test_names_and_the_kind_of_output_stay(tmp_path):
    frame = pd.DataFrame(sheet(), columns=["a", "b", "größe", "d,\"'"])
    fitted = planish.Isomap(n_neighbors=6).set_output(transform="pandas").fit(frame)
    loaded = through_a_file(fitted, tmp_path)
    same(fitted.feature_names_in_, loaded.feature_names_in_)
    pd.testing.assert_frame_equal(loaded.transform(frame), fitted.transform(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.transform(frame[["b", "a", "größe", "d,\"'"]])
    with pytest.raises(ValueError, match=r"3 features|feature names should match"):
        loaded.set_output(transform="default").transform(frame.iloc[:, :3])


@pytest.mark.filterwarnings("ignore:the affinity matrix is not symmetric")
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_every_kind_of_data_comes_back(kind, tmp_path):
    estimator, X = OTHER_KINDS[kind]
    fitted = clone(estimator).fit(X)
    loaded = through_a_file(fitted, tmp_path)
    same_estimator(fitted, loaded, X)
    some = X[:5] * 1.01
    same(fitted.transform(some), loaded.transform(some))
    if kind == "inverse":  # NumPy's products, whose last bits depend on where arrays lie
        back = loaded.inverse_transform(loaded.embedding_)
        np.testing.assert_allclose(back, fitted.inverse_transform(fitted.embedding_), rtol=1e-9)


def test_a_kernel_map_comes_back_without_what_it_wrapped(tmp_path):
    X, new = sheet(), sheet(75)
    theirs = KernelMap(manifold.TSNE(perplexity=9, max_iter=250, init="random")).fit(X)
    loaded = through_a_file(theirs, tmp_path)
    same(theirs.transform(new), loaded.transform(new))
    same(theirs.embedding_, loaded.embedding_)
    assert "TSNE(" in repr(loaded.estimator)
    assert "not in the model file" in repr(loaded.estimator)
    assert not hasattr(loaded, "estimator_")
    with pytest.raises(ParameterError, match="not in the model file"):
        clone(loaded).fit(X)
    same(through_a_file(loaded, tmp_path).transform(new), theirs.transform(new))

    ours = KernelMap(planish.Isomap(n_neighbors=7), gamma=0.9).fit(X.astype(np.float32))
    loaded = through_a_file(ours, tmp_path)
    same_estimator(ours, loaded, new, skip=("estimator_",))
    same(clone(loaded).fit(X.astype(np.float32)).transform(new), ours.transform(new))
    assert planish.model_files.inspect(tmp_path / "model.planish").parameters["gamma"] == 0.9


def test_a_refitted_estimator_is_saved_as_it_was_fitted(tmp_path):
    fitted = planish.MDS(metric="manhattan", normalized_stress=True).fit(sheet())
    expected = fitted.transform(sheet(70))
    fitted.set_params(metric="euclidean", normalized_stress=False)
    loaded = through_a_file(fitted, tmp_path)
    same(loaded.transform(sheet(70)), expected)
    assert loaded.stress_ == fitted.stress_
    assert loaded.metric == "euclidean"


class Mine(planish.Isomap):
    pass


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        (planish.Isomap(metric=lambda a, b: abs(a - b).sum()), r"`metric`.*function.*pickle"),
        (planish.KernelMDS(kernel=np.dot), r"`kernel`.*function.*pickle"),
        (
            planish.TSNE(callback=print, perplexity=8, max_iter=60),
            r"`callback`.*function \(print\).*set_params\(callback=None\).*pickle",
        ),
        (
            planish.TSNE(random_state=np.random.RandomState(np.random.PCG64(1)), max_iter=60),
            r"`random_state`.*RandomState of PCG64.*set_params\(random_state=None\)",
        ),
        (Mine(n_neighbors=6), r"Mine is a class of your own.*pickle"),
    ],
    ids=["metric", "kernel", "callback", "generator", "class"],
)
def test_what_cannot_be_stored_is_named(estimator, match, tmp_path):
    estimator.fit(sheet())
    with pytest.raises(TypeError, match=match) as caught:
        estimator.save(tmp_path / "model.planish")
    assert isinstance(caught.value, ParameterError)
    assert list(tmp_path.iterdir()) == []


def test_a_function_of_the_fit_is_found_behind_other_parameters(tmp_path):
    fitted = planish.Isomap(metric=lambda a, b: abs(a - b).sum()).fit(sheet())
    fitted.set_params(metric="euclidean")
    with pytest.raises(ParameterError, match="the fit of Isomap used a Python function"):
        fitted.save(tmp_path / "model.planish")
    with pytest.raises(ValueError, match="not fitted"):
        planish.Isomap().save(tmp_path / "model.planish")
    assert list(tmp_path.iterdir()) == []


# -- looking ------------------------------------------------------------------------------


def test_a_file_can_be_looked_at_without_loading_it(tmp_path):
    path = tmp_path / "model.planish"
    frame = pd.DataFrame(sheet(), columns=list("abcd"))
    planish.TSNE(init=sheet()[:, :2], perplexity=8, max_iter=60, min_grad_norm=0).fit(frame).save(
        path
    )
    info = planish.model_files.inspect(path)
    assert (info.path, info.method, info.format) == (str(path), "TSNE", 2)
    assert (info.n_samples, info.n_features, info.dtype) == (60, 4, "float64")
    assert info.feature_names == ("a", "b", "c", "d")
    assert info.version == planish.__version__
    assert info.parameters["perplexity"] == 8
    assert info.parameters["angle"] == 0.5
    assert info.parameters["init"] == "<float64 array of shape (60, 2)>"
    assert ("parameters.init", "float64", (60, 2)) in info.arrays
    assert info.bytes == path.stat().st_size
    shown = str(info)
    assert "TSNE" in shown
    assert "60 rows of 4 columns" in shown
    assert "columns: a, b, c, d" in shown
    assert "float64 60 x 2" in shown
    with pytest.raises(AttributeError):
        info.method = "PCA"


def test_other_programs_can_read_the_arrays(tmp_path):
    """By the description in the guide, with nothing but the standard library and NumPy."""
    fitted = planish.PCA(2).fit(sheet())
    fitted.save(tmp_path / "pca.planish")
    raw = (tmp_path / "pca.planish").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["planish"])
    assert about["format"] == 2
    assert about["method"] == about["class"] == "PCA"
    assert about["parameters"]["n_components"] == 2
    assert about["n_features_in"] == 4
    arrays = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        part = np.frombuffer(raw[8 + length + first : 8 + length + last], "<f8")
        arrays[name] = part.reshape(entry["shape"])
    found = [one for one in arrays.values() if one.shape == fitted.components_.shape]
    assert any(np.array_equal(np.abs(one), np.abs(fitted.components_)) for one in found)


# -- other versions -----------------------------------------------------------------------


def golden_points():
    i, axis = np.meshgrid(np.arange(24), np.arange(3), indexing="ij")
    return np.sin((i + 7 * axis) * 0.1)


@pytest.fixture
def old():
    """Pickled by an earlier version, with NumPy 2."""
    pytest.importorskip("numpy._core", reason="NumPy 1 does not read pickles of NumPy 2")
    return pickle.loads((GOLDEN / "format-1-isomap.pickle").read_bytes())


def test_a_pickle_of_format_1_is_still_read(old):
    X = golden_points()
    expected = planish.Isomap(n_neighbors=5).fit(X)
    np.testing.assert_allclose(old.transform(X + 0.01), expected.transform(X + 0.01), atol=1e-9)
    np.testing.assert_array_equal(old.transform(X), old.embedding_)


def test_an_old_pickle_can_be_saved_as_a_file(old, tmp_path):
    loaded = through_a_file(old, tmp_path)
    same(loaded.transform(golden_points() + 0.01), old.transform(golden_points() + 0.01))
    assert planish.model_files.inspect(tmp_path / "model.planish").n_features == 3


def test_a_file_of_format_2_is_read():
    """Written by 0.1.0: what later versions must still read."""
    info = planish.model_files.inspect(GOLDEN / "format-2-isomap.planish")
    assert (info.version, info.format) == ("0.1.0", 2)
    assert {name.partition(".")[0] for name, *_ in info.arrays} == {"model"}  # as the guide says
    loaded = planish.load(GOLDEN / "format-2-isomap.planish")
    X = golden_points()
    expected = planish.Isomap(n_neighbors=5).fit(X)
    assert loaded.get_params() == expected.get_params()
    np.testing.assert_allclose(loaded.transform(X + 0.01), expected.transform(X + 0.01), atol=1e-9)


def test_a_model_of_format_1_is_read_in_rust_only():
    with pytest.raises(ModelFileError, match=r"format is 1.*no parameters"):
        planish.load(GOLDEN / "format-1-pca.bin")


def test_pickles_carry_format_and_version(blob):
    method, state = planish.PCA(2).fit(blob)._model.__reduce__()[1]
    assert b'\\"format\\":2' in state[:64]
    assert f'\\"version\\":\\"{planish.__version__}\\"'.encode() in state
    later = state.replace(b'\\"format\\":2', b'\\"format\\":3')
    with pytest.raises(InputError, match=r"its format is 3.*install a newer planish"):
        planish._core.restore(method, later)


# -- Rust ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_what_rust_writes_is_loaded_and_the_reverse(cls, tmp_path):
    """The bytes of a core model are the file that Rust's `save_to` writes."""
    X, new, path = sheet(), sheet(80), tmp_path / "model.planish"
    fitted = cls().fit(X)
    method, raw = fitted._model.__reduce__()[1]
    path.write_bytes(raw)
    loaded = planish.load(path)
    same(loaded.transform(new), fitted.transform(new))
    fitted_names = {name for name in vars(fitted) if name.endswith("_")}
    assert {name for name in vars(loaded) if name.endswith("_")} == fitted_names
    for name in fitted_names:
        same(vars(loaded)[name], vars(fitted)[name])
    info = planish.model_files.inspect(path)
    assert (info.n_samples, info.n_features, info.dtype) == (60, 4, "float64")
    same(through_a_file(loaded, tmp_path).transform(new), fitted.transform(new))

    fitted.save(path)
    theirs = planish._core.restore(method, path.read_bytes())
    same(
        theirs.transform(fitted._input.new(new), 1, None),
        fitted._model.transform(fitted._input.new(new), 1, None),
    )


def test_a_kernel_map_of_rust_is_loaded(tmp_path):
    fitted = KernelMap(planish.PCA(2)).fit(sheet())
    (tmp_path / "map").write_bytes(fitted._model.__reduce__()[1][1])
    same(planish.load(tmp_path / "map").transform(sheet(70)), fitted.transform(sheet(70)))


# -- writing ------------------------------------------------------------------------------


def python(code, *arguments, **options):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.linux
def test_a_kill_in_the_middle_leaves_a_whole_file(tmp_path):
    code = """
        import sys, numpy as np, planish
        X = np.random.default_rng(0).normal(size=(1500, 40))
        one, two = planish.PCA(3).fit(X), planish.KernelMDS(3, kernel="laplacian").fit(X)
        path = sys.argv[1]
        one.save(path)
        print("ready", flush=True)
        while True:
            two.save(path)
            one.save(path)
    """
    path = tmp_path / "model.planish"
    wait = random.Random(2)
    seen = set()
    process = python(code, path)
    assert process.stdout.readline() == b"ready\n"
    for _ in range(30):  # while it is written, somebody reads it
        seen.add(type(planish.load(path)).__name__)
        time.sleep(wait.random() * 0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stderr.close()
    assert type(planish.load(path)).__name__ in ("PCA", "KernelMDS")
    assert seen == {"PCA", "KernelMDS"}


@pytest.mark.linux
def test_a_kill_between_writing_and_naming_leaves_the_old_file(tmp_path):
    """The process stops where the file has no name yet: at a full pipe of writes, by its size."""
    code = """
        import os, resource, signal, sys, numpy as np, planish
        X = np.random.default_rng(0).normal(size=(500, 40))
        planish.PCA(2).fit(X).save(sys.argv[1])
        fitted = planish.KernelMDS(3, kernel="laplacian").fit(X)
        # The default action of SIGXFSZ is to kill the process in the middle of a write.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        fitted.save(sys.argv[1])
    """
    path = tmp_path / "model.planish"
    process = python(code, path)
    process.communicate()
    assert process.returncode == -signal.SIGXFSZ
    assert isinstance(planish.load(path), planish.PCA)
    planish.PCA(1).fit(sheet()).save(path)
    assert planish.load(path).n_components == 1


@pytest.mark.linux
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    code = """
        import resource, sys, numpy as np, planish
        X = np.random.default_rng(0).normal(size=(500, 40))
        planish.PCA(2).fit(X).save(sys.argv[1])
        fitted = planish.KernelMDS(3, kernel="laplacian").fit(X)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        try:
            fitted.save(sys.argv[1])
        except planish.exceptions.ModelFileError as error:
            print(error)
    """
    path = tmp_path / "model.planish"
    out, _ = python(code, path).communicate()
    assert b"not enough room" in out
    assert str(path).encode() in out
    assert out.count(b"\n") == 1
    assert isinstance(planish.load(path), planish.PCA)
    assert os.listdir(tmp_path) == ["model.planish"]


def test_folders_that_are_not_there_are_named(tmp_path):
    fitted = planish.PCA(2).fit(sheet())
    with pytest.raises(ModelFileError, match=r"folder '.*nowhere' does not exist"):
        fitted.save(tmp_path / "nowhere" / "model")
    with pytest.raises(ModelFileError, match="it is a folder"):
        fitted.save(tmp_path)
    (tmp_path / "ümläut 模型").mkdir()
    same(through_a_file(fitted, tmp_path / "ümläut 模型").mean_, fitted.mean_)
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        fitted.save("model")
        assert isinstance(planish.load("model"), planish.PCA)
    finally:
        os.chdir(here)
