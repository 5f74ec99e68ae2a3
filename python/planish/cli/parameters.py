"""Options made of signatures: names, types, defaults and help of a class or a function.

The types are the annotations (choices are the words of a ``Literal``), the help is the
docstring's. A parameter that is added to a method is an option without an edit here.
"""

from __future__ import annotations

import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from . import docstrings
from .faults import did_you_mean
from .screen import Option

#: Spelled otherwise on the command line, shown by its own means, or of a function of the user's.
ELSEWHERE = frozenset({"n_jobs", "random_state", "verbose", "callback_every"})
_MANY_WORDS = 8


class _Array:
    """Stands for an array in the annotations: a file on the command line."""


@dataclass(frozen=True)
class Kind:
    """What a parameter may be, as its annotation says."""

    words: tuple[str, ...] = ()
    whole: bool = False
    real: bool = False
    truth: bool = False
    none: bool = False
    array: bool = False
    mapping: bool = False
    items: Kind | None = None

    @property
    def usable(self) -> bool:
        """Whether it can be written on a command line at all."""
        simple = self.whole or self.real or self.truth or self.array or self.mapping
        return bool(self.words) or simple or self.items is not None

    @property
    def flag(self) -> bool:
        """Whether it is yes or no and nothing else."""
        return self == Kind(truth=True)

    def __or__(self, other: Kind) -> Kind:
        """Return what either allows."""
        both = {name: getattr(self, name) or getattr(other, name) for name in vars(self)}
        both["words"] = tuple(dict.fromkeys(self.words + other.words))
        return Kind(**both)


def kind_of(hint: Any) -> Kind:
    """Return what an annotation allows; what cannot be typed in, as a function, is left out."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        found = Kind()
        for one in arguments:
            found = found | kind_of(one)
        return found
    if origin is typing.Literal:
        return Kind(words=tuple(str(word) for word in arguments))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Kind(mapping=True)
    if isinstance(origin, type) and issubclass(origin, Iterable) and len(arguments) >= 1:
        return Kind(items=kind_of(arguments[0]))
    simple: dict[Any, Kind] = {
        type(None): Kind(none=True),
        bool: Kind(truth=True),
        int: Kind(whole=True),
        float: Kind(real=True),
        _Array: Kind(array=True),
    }
    return simple.get(hint, Kind())


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method or a function."""

    name: str
    kind: Kind
    default: Any
    help: str

    @property
    def flag(self) -> str:
        """Its name as an option."""
        return "--" + self.name.replace("_", "-")


def parameters_of(target: Callable[..., Any], skip: Iterable[str] = ()) -> dict[str, Parameter]:
    """Return the parameters that can be options, in the order of the signature."""
    function = target.__init__ if inspect.isclass(target) else target
    hints = _hints(function)
    texts = docstrings.parameters(target)
    left_out = {*ELSEWHERE, *skip}
    found = {}
    for name, one in inspect.signature(target).parameters.items():
        kind = kind_of(hints.get(name, Any))
        if name not in left_out and kind.usable and one.default is not inspect.Parameter.empty:
            found[name] = Parameter(name, kind, one.default, texts.get(name, ""))
    return found


def _hints(function: Any) -> dict[str, Any]:
    """Return the annotations, with names that exist for type checkers only put in."""
    function = inspect.unwrap(function)
    known: dict[str, Any] = {"ArrayLike": _Array, "MatrixLike": object, "sparray": object}
    known |= {"spmatrix": object, "pd": types.SimpleNamespace(DataFrame=object)}
    space = {**vars(sys.modules[function.__module__]), **known}
    found = {}
    for name, text in function.__annotations__.items():
        if name != "return":
            found[name] = eval(text, space) if isinstance(text, str) else text  # the package's own
    return found


def takes_seed(target: Callable[..., Any]) -> bool:
    """Whether something is drawn by chance."""
    return "random_state" in inspect.signature(target).parameters


class Value(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Reads the text of an option as the annotation says."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.name = self._metavar()

    def _metavar(self) -> str:
        kind = self.kind
        words = [*kind.words]
        if len(words) > _MANY_WORDS:
            words = ["NAME"]
        parts = words
        parts += ["NUMBER"] if kind.real else ["INTEGER"] if kind.whole else []
        parts += ["yes", "no"] if kind.truth else []
        parts += ["FILE"] if kind.array else []
        parts += ["JSON"] if kind.mapping else []
        if kind.items is not None:
            parts.append("NAME,…" if kind.items.words else f"{Value(kind.items).name},…")
        parts += ["none"] if kind.none else []
        return "|".join(parts)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands behind the option in the help."""
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text, or refuse it in one sentence."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value.strip())
        except ValueError:
            self.fail(f"expected {self._expected(value)}, got {value!r}", param, ctx)

    def _read(self, text: str) -> Any:  # noqa: PLR0911 (one a kind of value)
        kind = self.kind
        if text in kind.words:
            return text
        lower = text.lower()
        if kind.none and lower == "none":
            return None
        folded = {word.lower(): word for word in kind.words}
        if lower.replace("-", "_") in folded:
            return folded[lower.replace("-", "_")]
        if kind.truth and lower in ("yes", "no", "true", "false"):
            return lower in ("yes", "true")
        # A float may be given as a whole number, which for some parameters is another thing.
        for allowed, read in ((kind.whole or kind.real, int), (kind.real, float)):
            if allowed:
                try:
                    return read(text)
                except ValueError:
                    pass
        if kind.items is not None and ("," in text or not (kind.whole or kind.real)):
            return [Value(kind.items)._read(part.strip()) for part in text.split(",")]
        if kind.mapping:
            found = json.loads(text)
            if isinstance(found, dict):
                return found
        if kind.array:
            return _array(text)
        raise ValueError(text)

    def _expected(self, text: str) -> str:
        kind = self.kind
        said = [listed_words(kind.words)] if kind.words else []
        said += ["a number"] if kind.real else ["a whole number"] if kind.whole else []
        said += ["yes or no"] if kind.truth else []
        said += ["an NPY file"] if kind.array else []
        said += ['a JSON object such as {"p": 3}'] if kind.mapping else []
        if kind.items is not None:
            said.append(f"several of these, separated by commas: {Value(kind.items)._expected('')}")
        said += ["none"] if kind.none else []
        near = did_you_mean(text, kind.words).removesuffix("?").replace("; did you mean ", "")
        return " or ".join(said) + (f" (did you mean {near}?)" if near else "")


def listed_words(words: Sequence[str]) -> str:
    """Return words as a choice: one of a, b, c."""
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"


def _array(text: str) -> Any:
    from .faults import Failure
    from .files.arrays import load_array

    if not text.endswith(".npy"):
        raise ValueError(text)
    try:
        return load_array(text)
    except OSError as error:
        raise Failure(f"{text}: cannot be read: {error.strerror}") from None


def shown(value: Any) -> str:
    """Return a default as one would type it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def options_of(parameters: Iterable[Parameter], title: str) -> list[Option]:
    """Return one option for each parameter, under a heading of the help."""
    made = []
    for one in parameters:
        of_list = one.kind.items.words if one.kind.items else ()
        words = one.kind.words or of_list
        text = f"{one.help} [default: {shown(one.default)}]"
        if of_list or len(words) > _MANY_WORDS:
            text = f"{one.help} NAME is {listed_words(words)}. [default: {shown(one.default)}]"
        if one.kind.flag:
            names = [f"{one.flag}/--no-{one.flag[2:]}", one.name]
            made.append(Option(names, default=bool(one.default), help=text, title=title))
        else:
            made.append(
                Option(
                    [one.flag, one.name],
                    type=Value(one.kind),
                    default=None,
                    help=text,
                    title=title,
                )
            )
    return made


def given(ctx: click.Context, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the parameters that were set on the command line."""
    typed = click.core.ParameterSource.COMMANDLINE
    return {
        one.name: ctx.params[one.name]
        for one in parameters
        if ctx.get_parameter_source(one.name) == typed
    }
