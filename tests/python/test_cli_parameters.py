"""Options come from signatures and docstrings: all of them, typed, none by hand."""

import inspect
import re
from typing import Literal

import click
import pytest

import planish
from planish import _core
from planish.cli import docstrings, embed, parameters, registry
from planish.cli.app import COMMANDS, run
from planish.cli.parameters import Kind, Value, kind_of, options_of, parameters_of

METHODS = registry.methods()
Flavour = Literal["sweet", "sour"]


def test_the_methods_are_the_registry():
    assert {one.kind.__name__ for one in METHODS.values()} == set(_core.methods())


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_method_is_an_option(name):
    kind = METHODS[name].kind
    known = set(inspect.signature(kind).parameters)
    # Elsewhere: --seed, --n-jobs, the bar, the name itself. A function and a sparse graph
    # cannot be typed in.
    elsewhere = {*parameters.ELSEWHERE, "method", "callback", "neighbors"}
    assert known - set(METHODS[name].parameters) <= elsewhere
    for one in METHODS[name].parameters.values():
        assert one.help, one.name
        assert one.kind.none or one.default is not None, one.name


@pytest.mark.parametrize("name", METHODS)
def test_no_parameter_hides_an_option_of_the_command(name):
    mine = [flag for one in embed.command.params for flag in (*one.opts, *one.secondary_opts)]
    made = options_of(METHODS[name].parameters.values(), "")
    theirs = [flag for one in made for flag in (*one.opts, *one.secondary_opts)]
    assert not set(mine) & set(theirs)
    assert not {one.name for one in embed.command.params} & set(METHODS[name].parameters)
    assert len(theirs) == len(set(theirs))


@pytest.mark.parametrize("name", METHODS)
def test_every_default_reads_back(name):
    for one in METHODS[name].parameters.values():
        if not one.kind.flag:
            text = parameters.shown(one.default)
            assert Value(one.kind).convert(text, None, None) == one.default, one.name


@pytest.mark.parametrize("name", METHODS)
def test_help_shows_every_parameter(name, capsys):
    assert run(["embed", "--method", name, "--help"]) == 0
    shown = capsys.readouterr().out
    for one in METHODS[name].parameters.values():
        assert re.search(rf"^  {re.escape(one.flag)} ", shown, re.MULTILINE), one.flag
    assert "`" not in shown
    assert "{" not in re.sub(r'\{"\w+": \w+\}', "", shown)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_is_for_and_what_it_costs(name):
    assert docstrings.noted(METHODS[name].kind, "Use").endswith(".")
    assert docstrings.noted(METHODS[name].kind, "Time").endswith(".")


def test_a_new_parameter_is_an_option_by_itself():
    class Newest(planish.PCA):
        """Do it.

        Parameters
        ----------
        flavour : {"sweet", "sour"}, default="sweet"
            What it tastes like.
        """

        def __init__(self, flavour: Flavour = "sweet", *, depth: float | None = 0.5) -> None:
            """Begin."""

    found = parameters_of(Newest)
    assert list(found) == ["flavour", "depth"]
    assert found["flavour"].kind == Kind(words=("sweet", "sour"))
    assert found["flavour"].help == "What it tastes like."
    assert found["depth"].kind == Kind(real=True, none=True)
    assert [one.opts for one in options_of(found.values(), "x")] == [["--flavour"], ["--depth"]]


@pytest.mark.parametrize(
    ("text", "name", "fixed"),
    [
        ("isomap", "isomap", {}),
        ("Isomap", "isomap", {}),
        ("landmark_isomap", "landmark-isomap", {}),
        ("LandmarkIsomap", "landmark-isomap", {}),
        ("lle", "locally-linear-embedding", {}),
        ("locally", "locally-linear-embedding", {}),
        ("lle:ltsa", "locally-linear-embedding", {"method": "ltsa"}),
        ("hessian", "locally-linear-embedding", {"method": "hessian"}),
        ("tsne:barnes-hut", "tsne", {"method": "barnes_hut"}),
        ("dm", "diffusion-maps", {}),
        ("mds", "mds", {}),
    ],
)
def test_names_of_methods(text, name, fixed):
    found = registry.method_named(text)
    assert (found.name, found.fixed) == (name, fixed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("isomop", "did you mean isomap"),
        ("landmark", "there is no method 'landmark'"),  # of two
        ("", "there is no method"),
        ("lle:fft", "has no variant 'fft'; it has standard, modified, hessian, ltsa"),
        ("pca:fast", "pca has no variants"),
    ],
)
def test_names_of_no_method(text, said, capsys):
    assert run(["embed", "x.csv", "-o", "y.csv", "--method", text]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (int, "7", 7),
        (int | None, "none", None),
        (float, "1e-3", 1e-3),
        (float, "inf", float("inf")),
        (float, "2", 2),  # of PCA's components: two, not a share of the variance
        (bool | int, "yes", True),
        (list[float] | float, "3", 3),
        (list[float] | float, "3,4.5", [3.0, 4.5]),
        (dict[str, int] | None, '{"a": 1}', {"a": 1}),
    ],
)
def test_values_are_typed(hint, text, value):
    found = Value(kind_of(hint)).convert(text, None, None)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("hint", "text", "said"),
    [
        (int, "seven", "expected a whole number, got 'seven'"),
        (int | None, "7.5", "expected a whole number or none, got '7.5'"),
        (float, "", "expected a number, got ''"),
        (list[float] | float, "3,x", "several of these, separated by commas: a number"),
        (dict[str, int], "[1]", "a JSON object"),
    ],
)
def test_values_of_the_wrong_type(hint, text, said):
    with pytest.raises(click.BadParameter, match=re.escape(said)):
        Value(kind_of(hint)).convert(text, None, None)


def test_the_options_of_functions_are_theirs(capsys):
    for command, function, elsewhere in (
        ("compare", planish.compare, {"X", "methods", "labels"}),
        ("dimension", planish.dimension.estimate, {"X", "neighbors"}),
        ("neighbors", planish.suggest_n_neighbors, {"X"}),
        ("neighbors", planish.kneighbors, {"X", "query"}),
    ):
        assert run([command, "--help"]) == 0
        shown = capsys.readouterr().out
        for name in set(inspect.signature(function).parameters) - parameters.ELSEWHERE - elsewhere:
            assert f"--{name.replace('_', '-')} " in shown, (command, name)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command, capsys):
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: planish {command}")
    examples = re.findall(r"^  (?:.*\| )?planish (\w+)", shown, re.MULTILINE)
    assert command in examples
    assert max(map(len, shown.splitlines())) <= 100


def test_unknown_options_tell_what_there_is(capsys):
    assert run(["embed", "x.csv", "-o", "y.csv", "--n-neighbour", "5"]) == 2
    text = capsys.readouterr().err
    assert "isomap has no --n-neighbour; did you mean --n-neighbors" in text
    assert "isomap takes --n-neighbors, --radius, " in text
    assert run(["embed", "x.csv", "-o", "y.csv", "--perplexity", "5", "-m", "isomap"]) == 2
    assert "isomap has no --perplexity, it is one of tsne; isomap takes" in capsys.readouterr().err
    assert run(["embd", "x.csv"]) == 2
    assert "there is no command 'embd'; did you mean embed?" in capsys.readouterr().err
    assert run(["info", "x", "--colour", "1"]) == 2
    assert "there is no option --colour" in capsys.readouterr().err
