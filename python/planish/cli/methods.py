"""``planish methods``: what there is, what each is for, what it costs, what it takes."""

from __future__ import annotations

from typing import Any

import click

from . import docstrings
from .parameters import Value, shown
from .registry import Method, method_named, methods
from .screen import Command, narrow, sentences, show, table

_HELP = """List the methods, or tell all of one.

Memory is what a fit of so many rows of 50 columns would take beyond the data, by the same
count that refuses a fit that does not fit.
"""
_EXAMPLES = (
    ("planish methods", "which methods are there?"),
    ("planish methods isomap", "what is Isomap, and what are its parameters?"),
)
_SIZES = (1_000, 10_000, 100_000)
_COLUMNS = 50


def run(name: str | None) -> None:
    """Show the list, or one method."""
    if name is None:
        _show_all()
    else:
        _show_one(method_named(name))


def _show_all() -> None:
    described = []
    for name, one in methods().items():
        variants = [f"  :{word}" for word in one.variants if word != "auto"]
        use = docstrings.noted(one.kind, "Use") or docstrings.summary(one.kind)
        memory = [_memory(one, rows) for rows in _SIZES[1:]]
        described.append((name, variants, use, docstrings.noted(one.kind, "Time"), memory))
    sizes = [f"{rows // 1000}k rows" for rows in _SIZES[1:]]
    if narrow():
        lines = [
            [
                "\n".join([name, *variants]),
                f"{use}\nTime: {time}\nMemory: {memory[0]} for {sizes[0]}, "
                f"{memory[1]} for {sizes[1]}.\n",
            ]
            for name, variants, use, time, memory in described
        ]
        made = table(["method", "for"], lines)
    else:
        lines = [
            ["\n".join([name, *variants]), use, time, *memory]
            for name, variants, use, time, memory in described
        ]
        made = table(["method", "for", "time", *sizes], lines, numbers=(3, 4))
    show(
        made,
        sentences(
            f"n rows, k neighbours, D columns; memory of a fit of {_COLUMNS} columns. planish "
            "methods NAME tells more of one."
        ),
    )


def _memory(one: Method, rows: int) -> str:
    import planish
    from planish.comparison import in_bytes

    estimator: Any = one.kind()
    known = estimator.get_params(deep=False)
    if known.get("storage") == "auto":  # which looks at what is free just now
        estimator.set_params(storage="float64")
    return in_bytes(planish.estimate_memory(estimator, rows, _COLUMNS))


def _show_one(one: Method) -> None:
    paragraphs = [docstrings.summary(one.kind), *docstrings.description(one.kind)]
    for title, text in (
        ("Use it for", docstrings.noted(one.kind, "Use")),
        ("Time", docstrings.noted(one.kind, "Time")),
        ("Memory", ", ".join(f"{_memory(one, n)} for {n:,} rows" for n in _SIZES)),
        ("Variants", ", ".join(f"{one.name}:{word}" for word in one.variants)),
    ):
        if text:
            paragraphs.append(f"{title}: {text}")
    show(f"{one.name} ({one.kind.__name__})", "")
    for paragraph in paragraphs:
        show(sentences(paragraph), "")
    lines = [
        [p.flag, "yes|no" if p.kind.flag else Value(p.kind).name, shown(p.default), p.help]
        for p in one.parameters.values()
    ]
    show(table(["parameter", "values", "default", "what it is"], lines))
    show(f"planish embed data.csv -o map.csv --method {one.name}")


command = Command(
    "methods",
    callback=run,
    params=[click.Argument(["name"], required=False, metavar="[NAME]")],
    help=_HELP,
    examples=_EXAMPLES,
    short_help="List the methods.",
    no_args_is_help=False,
)
