"""What a docstring in NumPy's style says of parameters, as plain text."""

from __future__ import annotations

import inspect
import re
import textwrap

_ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
_REFERENCE = re.compile(r"\s*\[\w+\]_")
_UNDERLINE = re.compile(r"-{3,}")
_ENTRY = re.compile(r"(\w+(?:, \w+)*)(?: : .*)?")


def summary(target: object) -> str:
    """Return the first sentence of a docstring."""
    text = inspect.getdoc(target) or ""
    return plain(text.split("\n\n")[0])


def description(target: object) -> list[str]:
    """Return the paragraphs of a docstring before its first section."""
    lines = (inspect.getdoc(target) or "").split("\n")
    end = next((at for at, line in enumerate(lines) if _UNDERLINE.fullmatch(line)), len(lines) + 1)
    text = "\n".join(lines[: max(0, end - 1)])
    return [plain(part) for part in text.split("\n\n")[1:] if part.strip()]


def section(target: object, title: str) -> list[str]:
    """Return the lines of a section."""
    lines = (inspect.getdoc(target) or "").split("\n")
    found: list[str] = []
    inside = False
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if _UNDERLINE.fullmatch(following):
            inside = line == title
        elif inside and not _UNDERLINE.fullmatch(line):
            found.append(line)
    return found


def parameters(target: object) -> dict[str, str]:
    """Return what is said of each parameter."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section(target, "Parameters"):
        entry = _ENTRY.fullmatch(line)
        if entry and not line.startswith(" "):
            names = entry[1].split(", ")
            found.update({name: [] for name in names})
        else:
            for name in names:
                found[name].append(line)
    return {name: plain(textwrap.dedent("\n".join(lines))) for name, lines in found.items()}


def noted(target: object, word: str) -> str:
    """Return the paragraph of the notes that begins with a word and a colon."""
    for part in "\n".join(section(target, "Notes")).split("\n\n"):
        text = plain(part)
        if text.startswith(f"{word}: "):
            return text.removeprefix(f"{word}: ")
    return ""


def plain(text: str) -> str:
    """Return text without the marks of reStructuredText, on one line."""
    text = _ROLE.sub(r"\1", text)
    text = _REFERENCE.sub("", text).replace("``", "").replace("`", "")
    return " ".join(text.split())
