"""What there is to fuzz: the classes and functions planish exports, and their parameters.

What a parameter may be is read from its annotation, its line in the docstring, and the complaint
planish itself makes about a value that cannot be right.
"""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import planish

NONSENSE = "?"

# What a type is called in annotations, docstrings and error messages.
KINDS = {
    "int": r"\bint\b|\bIntegral\b|whole number|row number",
    "float": r"\bfloat\b|\bReal\b|\ba number\b",
    "bool": r"\bbool\b|True or False",
    "none": r"\bNone\b",
    "callable": r"\bcallable\b|\bCallable\b",
    "array": r"\barray|\bArrayLike\b|\bNDArray\b|\blist\b",
    "dict": r"\bdict\b",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter: its default, the kinds of values it takes, and the words it knows."""

    name: str
    default: Any
    kinds: frozenset[str]
    words: tuple[str, ...]

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Target:
    """A class with `fit`, or a function."""

    name: str
    call: Any
    parameters: tuple[Parameter, ...]

    @property
    def is_class(self) -> bool:
        return isinstance(self.call, type)


# What the required parameters of functions mean; a function with others is left alone.
DATA_ARGUMENTS = {
    "X": "points",
    "estimator_or_X": "points",
    "graph": "graph",
    "adjacency": "affinities",
    "dissimilarities": "distances",
}
NUMBERS = ("n_samples", "n_features", "n_neighbors", "n_components")


@functools.cache
def targets() -> tuple[Target, ...]:
    """Return everything that can be fuzzed, by name."""
    found = []
    for name in sorted(name for name in planish.__all__ if not name.startswith("_")):
        value = getattr(planish, name)
        if isinstance(value, type) and hasattr(value, "fit"):
            # The laws are about coordinates: not for a transformer that makes a graph.
            if {"n_components", "estimator"} & set(inspect.signature(value).parameters):
                found.append(Target(name, value, _parameters(value)))
        elif inspect.isfunction(value):
            parameters = _parameters(value)
            known = {*DATA_ARGUMENTS, *NUMBERS, "method", "estimator"}
            if all(p.name in known for p in parameters if p.required):
                found.append(Target(name, value, parameters))
    return tuple(found)


@functools.cache
def simplest_estimators() -> tuple[type, ...]:
    """Return the classes that need no arguments, for those that wrap another."""
    return tuple(
        t.call for t in targets() if t.is_class and not any(p.required for p in t.parameters)
    )


def _parameters(call: Any) -> tuple[Parameter, ...]:
    found = []
    for name, parameter in inspect.signature(call).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        sources = [_annotation(call, parameter), _documented(call, name)]
        if parameter.default is not inspect.Parameter.empty:
            sources.append(_complaint(call, name))
        text = " ".join(sources)
        kinds = {kind for kind, pattern in KINDS.items() if re.search(pattern, text)}
        if parameter.default is None:
            kinds.add("none")
        found.append(Parameter(name, parameter.default, frozenset(kinds), _words(text)))
    return tuple(found)


def _annotation(call: Any, parameter: inspect.Parameter) -> str:
    """Return the annotation as text, with the names it uses written out where they can be."""
    annotation = parameter.annotation
    function = call.__init__ if isinstance(call, type) else call
    text = annotation if isinstance(annotation, str) else ""
    try:
        meant = eval(text, function.__globals__) if text else annotation
    except Exception:  # names that only type checkers import
        meant = text
    text += f" {meant.__name__ if isinstance(meant, type) else meant}"
    return re.sub(r"Callable\[.*?\][^\]|]*\]?", "Callable ", text)  # not what it returns


def _documented(call: Any, name: str) -> str:
    """Return the line of the docstring that gives the parameter's type."""
    line = re.search(rf"^\s*{name} : (.*)$", call.__doc__ or "", re.MULTILINE)
    return line[1] if line else ""


def _complaint(call: Any, name: str) -> str:
    """Return what planish says of a value that cannot be right."""
    X = np.arange(24.0).reshape(8, 3) ** 1.5
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(call, type):
                required = _required_estimator(call)
                call(**required, **{name: NONSENSE}).fit(X)
            else:
                rows = sparse.csr_array(X @ X.T) if "graph" in _names(call) else X
                needed = {"n_neighbors": 2, "n_components": 1}
                given = {key: value for key, value in needed.items() if key in _names(call)}
                call(rows, **{**given, name: NONSENSE})
    except Exception as error:
        message = str(error).split(", got")[0]
        # Choices that are listed without quotes.
        listed = re.search(r"one of: (.*)", message)
        quoted = "".join(f" '{word}'" for word in listed[1].split(", ")) if listed else ""
        return message + quoted if f"`{name}`" in message else ""
    return ""


def _required_estimator(cls: type) -> dict[str, Any]:
    required = [
        name
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is inspect.Parameter.empty
    ]
    return {name: planish.PCA(n_components=1) for name in required}


def _names(call: Any) -> list[str]:
    return list(inspect.signature(call).parameters)


def _words(text: str) -> tuple[str, ...]:
    words = re.findall(r"""["']([A-Za-z_][\w-]*)["']""", text)
    return tuple(sorted({word for word in words if word != NONSENSE}))
