"""The Rust registry and the Python classes say the same things."""

import inspect
import itertools
import re
import typing
import warnings

import pytest

import planish
from conftest import needs_sklearn
from planish import _core, _types, exceptions
from planish._embedding import Embedding

CLASSES = {
    name: value
    for name in planish.__all__
    if isinstance(value := getattr(planish, name), type) and issubclass(value, Embedding)
}


def signature_defaults(cls):
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


def test_every_method_has_a_class_of_its_name():
    assert set(_core.methods()) == set(CLASSES)
    assert all(CLASSES[name]._method == name for name in _core.methods())


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_parameters_and_defaults_agree(name):
    cls, registered = CLASSES[name], _core.methods()[name]
    signature = signature_defaults(cls)
    assert cls._python_params <= set(signature)
    assert not cls._python_params & set(registered)
    assert set(registered) - cls._core_only_params == set(signature) - cls._python_params
    # As they reach the core, where "auto" numbers are None.
    defaults = cls()._core_params(100)
    for parameter in set(registered) - cls._core_only_params:
        assert registered[parameter] == defaults[parameter], parameter


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_parameter_is_documented(name):
    documented = CLASSES[name].__doc__
    missing = [p for p in signature_defaults(CLASSES[name]) if f"\n    {p} : " not in documented]
    assert missing == []


@pytest.mark.parametrize("name", sorted(CLASSES))
@pytest.mark.filterwarnings("ignore::planish.exceptions.PlanishWarning")
def test_every_fitted_attribute_is_documented(name, blob):
    estimator = CLASSES[name]().fit(blob)
    fitted = {a for a in vars(estimator) if a.endswith("_") and not a.startswith("_")}
    fitted |= set(CLASSES[name]._on_demand)
    missing = [a for a in sorted(fitted) if f"\n    {a} : " not in CLASSES[name].__doc__]
    assert missing == []


#: Defaults that are not scikit-learn's: a tree alone is slower than what planish has besides it.
OTHER_DEFAULTS = {("TSNE", "method"): "auto"}


@pytest.mark.parametrize(
    "name",
    [
        "PCA",
        "Isomap",
        pytest.param("ClassicalMDS", marks=needs_sklearn(1, 8, reason="the first that has it")),
        pytest.param("MDS", marks=needs_sklearn(1, 9, reason="the names of today")),
        pytest.param("smacof", marks=needs_sklearn(1, 9, reason="the defaults of today")),
        "LocallyLinearEmbedding",
        "SpectralEmbedding",
        pytest.param("TSNE", marks=needs_sklearn(1, 7, reason="n_iter is there still")),
        "locally_linear_embedding",
        "spectral_embedding",
    ],
)
def test_signature_begins_as_scikit_learns(name):
    import sklearn.decomposition
    import sklearn.manifold

    home = sklearn.decomposition if name == "PCA" else sklearn.manifold
    theirs = inspect.signature(getattr(home, name)).parameters
    ours = inspect.signature(getattr(planish, name)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for parameter in theirs:
        expected = OTHER_DEFAULTS.get((name, parameter), theirs[parameter].default)
        assert ours[parameter].default == expected, parameter
        assert ours[parameter].kind == theirs[parameter].kind, parameter


def annotations(value):
    """The parameters of a public class or function with their types, names written out."""
    function = value.__init__ if isinstance(value, type) else value
    known = {**vars(_types), **function.__globals__, "MatrixLike": object, "ArrayLike": object}
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            yield parameter.name, str(parameter.annotation), known


def choices(kind):
    """The words a type names."""
    if typing.get_origin(kind) is typing.Literal:
        return set(typing.get_args(kind))
    return set().union(*map(choices, typing.get_args(kind)))


def test_no_parameter_is_a_plain_str_or_any():
    vague = []
    for name in planish.__all__:
        value = getattr(planish, name)
        if not callable(value) or (isinstance(value, type) and not hasattr(value, "fit")):
            continue
        for parameter, annotation, _ in annotations(value):
            words = set(re.findall(r"\w+", annotation))
            if words & {"str", "Any", "_empty"} and not words & {"Callable", "dict"}:
                vague.append((name, parameter))
    # An estimator of any library; names, classes or estimators; a name of the registry; a file.
    assert vague == [
        ("KernelMap", "estimator"),
        ("compare", "methods"),
        ("estimate_memory", "method"),
        ("load", "path"),
    ]


@pytest.mark.filterwarnings("ignore")  # scikit-learn has some of its own for some metrics
@pytest.mark.parametrize("name", sorted(CLASSES))
def test_typed_choices_are_those_of_the_core(name, blob):
    checked = 0
    for parameter, annotation, known in annotations(CLASSES[name]):
        if not (words := choices(eval(annotation, known))):
            continue
        with pytest.raises(exceptions.ParameterError, match=f"`{parameter}`") as caught:
            CLASSES[name](**{parameter: "?"}).fit(blob)
        # What the core knows beyond these is refused by this method, with the reason.
        for word in set(re.findall(r"'([\w-]+)'", str(caught.value))) - words:
            reason = f"`{parameter}`.*('{word}'|use ')"
            with pytest.raises(exceptions.ParameterError, match=reason):
                CLASSES[name](**{parameter: word}).fit(blob)
        for word in words:
            try:
                CLASSES[name](**{parameter: word}).fit(blob)
                refusal = ""
            except (exceptions.PlanishError, ValueError) as error:
                refusal = str(error)  # of the data, not of the word
            assert f"`{parameter}`: expected" not in refusal, (parameter, word)
            checked += 1
    assert checked >= 3


def test_exception_classes_exist_and_none_is_idle():
    named = set(_core.exception_table().values())
    ours = {
        name
        for name in exceptions.__all__
        if issubclass(getattr(exceptions, name), exceptions.PlanishError)
    }
    # Raised for a panic, which is no variant of the error type.
    assert ours - named == {"PlanishError", "InternalError"}
    assert named - ours == set()


def test_warning_classes_are_the_same():
    ours = {
        name
        for name in exceptions.__all__
        if issubclass(getattr(exceptions, name), exceptions.PlanishWarning)
    }
    assert set(_core.warning_table()) == ours - {"PlanishWarning"}


def test_exceptions_are_what_callers_catch():
    import sklearn.exceptions

    assert issubclass(exceptions.ParameterError, (ValueError, TypeError))
    assert issubclass(exceptions.ParameterError, TypeError)
    assert issubclass(exceptions.MemoryNeedError, MemoryError)
    assert issubclass(exceptions.DisconnectedGraphError, ValueError)
    assert issubclass(exceptions.ConvergenceWarning, sklearn.exceptions.ConvergenceWarning)


def test_native_metrics_and_kernels_are_native(blob):
    from planish._inputs import Points
    from planish._kernels import NATIVE_KERNELS
    from planish._metrics import NATIVE_METRICS

    kinds = (planish.Isomap, planish.LocallyLinearEmbedding, planish.DiffusionMaps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exceptions.PlanishWarning)
        for metric, kind in itertools.product(sorted(NATIVE_METRICS), kinds):
            assert type(kind(metric=metric, n_neighbors=8).fit(blob)._input) is Points
        for kernel in sorted(NATIVE_KERNELS):
            assert type(planish.KernelMDS(kernel=kernel).fit(blob)._input) is Points


def test_public_names_resolve():
    assert set(planish.__all__) <= set(dir(planish))
    for name in planish.__all__:
        assert getattr(planish, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Umap'"):
        planish.Umap  # noqa: B018
