"""Which columns of a table are the data, which are carried along, which are left out.

A choice is a name (of a column of vectors too), a pattern (``x*``, ``sensor_?``), a span of
columns in the order of the file (``first:last``), or several of these separated by commas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .faults import Failure, Misuse, did_you_mean, listed
from .files.batches import Reader


@dataclass(frozen=True)
class Choice:
    """The columns that are used: the data, and what is carried along."""

    features: list[str]
    carried: list[str]

    @property
    def wanted(self) -> list[str]:
        """All columns that must be read."""
        return list(dict.fromkeys([*self.features, *self.carried]))


def matching(reader: Reader, choices: Iterable[str], option: str) -> list[str]:
    """Return the columns that any of the choices names, in the order of the choices."""
    found: dict[str, None] = {}
    for choice in choices:
        parts = [choice] if choice in reader.columns else choice.split(",")
        for part in parts:
            found.update(dict.fromkeys(_one(reader, part.strip(), option)))
    return list(found)


def _one(reader: Reader, part: str, option: str) -> Sequence[str]:
    names = reader.columns
    if part in names:
        return [part]
    start, colon, end = part.partition(":")
    if colon and {start, end} <= {*names, ""}:
        first = names.index(start) if start else 0
        last = names.index(end) if end else len(names) - 1
        if first <= last:
            return names[first : last + 1]
        raise Misuse(f"{option} {part}: {end!r} comes before {start!r} in {reader.name}")
    # A column of vectors is one column for each entry: v[0], v[1], ….
    found = [name for name in names if fnmatchcase(name, part) or name.startswith(f"{part}[")]
    if not found:
        near = did_you_mean(part, names) or ";"
        raise Misuse(
            f"{option}: no column of {reader.name} matches {part!r}{near} it has {listed(names)}"
        )
    return found


def choose(
    reader: Reader,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    carried: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> Choice:
    """Choose columns of a table.

    Without `columns` the data are all columns but those that are excluded, carried along or
    used otherwise (`beside`).
    """
    along = matching(reader, carried, "--id")
    out = matching(reader, exclude, "--exclude")
    if columns:
        taken = matching(reader, columns, "--columns")
        features = [name for name in taken if name not in out]
    else:
        other = {*out, *along, *beside}
        features = [name for name in reader.features if name not in other]
    if not features:
        raise Misuse(f"{reader.name}: no column is left to be embedded; choose some with --columns")
    return Choice(features, along)


def fitting(
    reader: Reader, names: Sequence[str] | None, width: int, choice: Choice, chosen: bool
) -> list[str]:
    """Return the columns that a model of `width` features takes, in its order.

    Columns are found by the names the model was fitted with, where both sides have names
    and none were chosen by hand; otherwise they are taken in order.
    """
    if names and reader.named and not chosen:
        lacking = [name for name in names if name not in reader.columns]
        if not lacking:
            return list(names)
        raise Failure(
            f"{reader.name}: there is no column {lacking[0]!r}"
            + (f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else "")
            + f", which the model was fitted on; there are {listed(reader.columns)}. Say which "
            "columns to take in their place with --columns"
        )
    found = choice.features
    if len(found) != width:
        raise Failure(
            f"{reader.name}: the model was fitted on {_counted(width)}, here are {len(found)}: "
            f"{listed(found, 6)}. Choose with --columns or --exclude"
        )
    return found


def _counted(width: int) -> str:
    return f"{width} column{'' if width == 1 else 's'}"
