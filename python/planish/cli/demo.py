"""``planish demo``: a data set, its map and pictures, by the commands a user would type."""

from __future__ import annotations

import importlib.util
import os
import shlex
from pathlib import Path
from typing import Any

import click

from .faults import Failure
from .files.staging import Outputs
from .files.writing import table_writer
from .screen import Command, sentences, show

#: What is written, the data first; the columns of the data.
_FILES = ("roll.csv", "new.csv", "map.csv", "roll.planish", "placed.csv", "map.png", "map.html")
_COLUMNS = ("x", "y", "z", "along", "across")
_HELP = """Make a data set and its map, by commands to try on your own data.

A Swiss roll, a sheet rolled up in space, is written to FOLDER as CSV. It is then embedded,
drawn, and new rows are placed; every command is shown before it is run.
"""


def run(folder: str, rows: int) -> None:
    """Write the data and run the commands."""
    place = Path(folder)
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise Failure(f"{folder}: the folder cannot be made: {error.strerror}") from None
    _require_room(place)
    _data(place / "roll.csv", rows, 0)
    _data(place / "new.csv", 200, 1)
    about = (
        f"{place / 'roll.csv'} has {rows} points of a rolled-up sheet in space (x, y, z) and where "
        "they are on the sheet (along, across). Flattened it looks like this:"
    )
    show(sentences(about), "")
    drawn = importlib.util.find_spec("matplotlib") is not None
    roll, new, mapped, saved = (
        str(place / name) for name in ("roll.csv", "new.csv", "map.csv", "roll.planish")
    )
    embed = f"embed {_quoted(roll)} -o {_quoted(mapped)} --columns x,y,z --id along,across"
    embed += f" --n-neighbors 10 --save-model {_quoted(saved)} --report"
    if drawn:
        embed += f" --plot {_quoted(str(place / 'map.png'))} --color along"
    _command(embed)
    placed = _quoted(str(place / "placed.csv"))
    _command(f"transform {_quoted(saved)} {_quoted(new)} -o {placed} --id along")
    if drawn and importlib.util.find_spec("plotly") is not None:
        _command(f"page {_quoted(mapped)} -o {_quoted(str(place / 'map.html'))} --color along")
    made = ", ".join(sorted(os.listdir(place)))
    show(f"In {place}{os.sep}: {made}")
    if not drawn:
        show("With pip install 'planish[plot]' there are pictures too.")


def _require_room(place: Path) -> None:
    """Refuse to replace files of the user's; those of an earlier demo are replaced."""
    there = [name for name in _FILES if (place / name).exists()]
    if there and _first_line(place / _FILES[0]) != ",".join(_COLUMNS):
        raise Failure(
            f"{place / there[0]}: there is such a file already, and it is not of a demo; name "
            "another folder"
        )


def _first_line(file: Path) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            return lines.readline(100).strip()
    except OSError:
        return ""


def _data(target: Path, rows: int, seed: int) -> None:
    from planish import datasets

    roll: Any = datasets.swiss_roll(rows, random_state=seed)
    columns = dict(zip(_COLUMNS, [*roll.points.T, *roll.coordinates.T], strict=True))
    with Outputs() as outputs:
        with table_writer(str(target), "csv", outputs, list(columns), []) as writer:
            writer.write({name: values.round(6) for name, values in columns.items()})
        outputs.commit()


def _quoted(path: str) -> str:
    return shlex.quote(path)


def _command(line: str) -> None:
    from .app import called

    show(f"$ planish {line}")
    called(shlex.split(line))
    show("")


command = Command(
    "demo",
    callback=run,
    params=[
        click.Argument(["folder"], default="planish-demo", metavar="[FOLDER]"),
        click.Option(["--rows"], type=click.IntRange(50), default=1500, show_default=True,
                     help="Number of points."),
    ],
    help=_HELP,
    examples=(
        ("planish demo", "in ./planish-demo"),
        ("planish demo roll --rows 500", "elsewhere, with fewer points"),
    ),
    short_help="Make a data set and its picture.",
    no_args_is_help=False,
)  # fmt: skip
