"""One HTML file in which a map is explored, without Python and without a network.

plotly.js draws it, from the wheel of plotly; `page.html`, `page.css` and `page.js` beside
this file are what is around it. Numbers are stored as base64 of their bytes, images as PNG
sheets of many.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import html
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._columns import is_known
from .._types import MatrixLike
from ..exceptions import ParameterError
from . import _style
from ._input import Drawing, classes, drawing, name_of, numbers, per_row
from ._libraries import plotly_script, png
from ._thumbnails import as_images
from ._title import Quality, headline

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Whole numbers with more values than this are drawn as numbers, not as classes.
_CLASSES = 20
#: Images in one sheet, and in one row of it.
_SHEET, _ACROSS = 1024, 32


def page(
    estimator_or_Y: object,
    path: str | os.PathLike[str],
    *,
    labels: ArrayLike | None = None,
    values: ArrayLike | None = None,
    columns: Mapping[str, ArrayLike] | object | None = None,
    images: ArrayLike | None = None,
    image_shape: Sequence[int] | None = None,
    X: MatrixLike | None = None,
    title: str | None = None,
    quality: Quality = "auto",
) -> Path:
    """Write one HTML file in which a map is explored in any browser.

    The page zooms and pans, tells the values and shows the image of the row under the
    pointer, colours by any column, and lists the numbers of rows that are lassoed, to be
    copied or downloaded. Everything is in the file: it makes no network request. All of it
    but the lasso can be done with the keyboard; "Select rows in view" takes its place.

    Parameters
    ----------
    estimator_or_Y : estimator or array-like of shape (n_samples, n_columns)
        A fitted estimator or coordinates. Of more than two columns any two can be drawn,
        chosen in the page. Rows that are not finite are left out, and the page says how
        many.
    path : path-like
        The file to write. It is replaced as a whole or not at all.
    labels, values : array-like of shape (n_samples,), default=None
        Classes and numbers to colour by; both may be given.
    columns : mapping or data frame, default=None
        More of them by name: numbers, classes or texts, one a row.
    images : array-like, default=None
        One image a row, shown beside its values, as in :func:`planish.plot.thumbnails`.
    image_shape : sequence of int, default=None
        Height and width (and 3, of colours) where a row of `images` is flat and not square.
    X : array-like of shape (n_samples, n_features), default=None
        Rows to draw where the estimator's ``transform`` places them.
    title, quality
        As in :func:`planish.plot.embedding`.

    Returns
    -------
    path : pathlib.Path
        The file that was written.

    Raises
    ------
    OSError
        The file cannot be written; nothing half-written is left.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from planish import plot
    >>> Y = np.random.default_rng(0).normal(size=(100, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = plot.page(Y, f"{folder}/map.html", values=Y[:, 0], title="A cloud")
    ...     "<title>A cloud</title>" in path.read_text(encoding="utf-8")
    True
    """
    script = plotly_script()
    given = drawing(estimator_or_Y, X)
    shown = [_column(*column, given) for column in _listed(labels, values, columns)]
    pictures = None if images is None else as_images(images, len(given.points), image_shape)
    name = "Embedding" if title is None and given.source is None else title
    judged = None if X is None else (X, given.points)
    heading = headline(given.source, 0, title=name, quality=quality, notes=[], judged=judged)
    count = f"{len(given.rows)} row{'' if len(given.rows) == 1 else 's'}"
    content = {
        "rows": _bytes(given.rows, np.int32),
        "coordinates": [_bytes(column, np.float64) for column in given.points[given.rows].T],
        "axes": [f"coordinate {number + 1}" for number in range(given.points.shape[1])],
        "columns": shown,
        "images": None if pictures is None else _sheets(pictures[given.rows]),
        "palette": _style.PALETTE,
        "symbols": _style.SYMBOLS,
        "plain": _style.PLAIN,
        "missing": _style.MISSING,
    }
    text = _filled(
        title=html.escape(heading or "Embedding"),
        about=html.escape(" · ".join([count, *given.notes()])),
        css=_resource("page.css"),
        data=_json(content),
        plotly=script.replace("</script", r"<\/script"),
        js=_resource("page.js"),
    )
    return _write_whole(Path(path), text)


def _listed(
    labels: ArrayLike | None, values: ArrayLike | None, columns: Any
) -> Iterator[tuple[str, str, Any, str | None]]:
    """Yield parameter, name, entries and kind of each column, no name twice."""
    found: list[tuple[str, str, Any, str | None]] = []
    if labels is not None:
        found.append(("labels", name_of(labels, "label"), labels, "classes"))
    if values is not None:
        found.append(("values", name_of(values, "value"), values, "values"))
    if columns is not None:
        if not hasattr(columns, "columns") and not isinstance(columns, Mapping):
            raise ParameterError(
                "parameter `columns`: expected a mapping of names to columns or a data frame, "
                f"got {type(columns).__name__}"
            )
        names = getattr(columns, "columns", None)
        given = list(columns if names is None else names)
        found += [("columns", str(name), columns[name], None) for name in given]
    taken: set[str] = set()
    for parameter, name, entries, kind in found:
        free, number = name, 2
        while free in taken:
            free, number = f"{name} ({number})", number + 1
        taken.add(free)
        yield parameter, free, entries, kind


def _column(
    parameter: str, name: str, given: Any, kind: str | None, shown: Drawing
) -> dict[str, Any]:
    """Return a column as the page reads it: numbers, or classes by their number."""
    n = len(shown.points)
    if parameter == "columns":
        parameter = f"columns[{name!r}]"
    if kind == "values" or (kind is None and _is_number(per_row(parameter, given, n))):
        found = numbers(parameter, given, n)[shown.rows]
        return {"name": name, "values": _bytes(found, np.float64)}
    codes, names = classes(parameter, given, n)
    return {"name": name, "codes": _bytes(codes[shown.rows], np.int32), "classes": names}


def _is_number(entries: NDArray[Any]) -> bool:
    """Whether a column is drawn as numbers: whole ones only if there are many."""
    if entries.dtype.kind == "O":
        known = [entry for entry in entries.tolist() if is_known(entry)]
        if not known or not all(type(entry) in (int, float) for entry in known):
            return False
        entries = np.array(known)
    if entries.dtype.kind == "f":
        return True
    return entries.dtype.kind in "iu" and len(np.unique(entries)) > _CLASSES


def _sheets(pictures: NDArray[np.uint8]) -> dict[str, Any]:
    """Return images as PNGs of many: one by one they would be several times as large."""
    n, height, width = pictures.shape[:3]
    made = []
    for start in range(0, n, _SHEET):
        some = pictures[start : start + _SHEET]
        lines = -(-len(some) // _ACROSS)
        sheet = np.zeros((lines * _ACROSS, *some.shape[1:]), dtype=np.uint8)
        sheet[: len(some)] = some
        grid = sheet.reshape(lines, _ACROSS, height, width, *some.shape[3:])
        made.append(
            png(grid.swapaxes(1, 2).reshape(lines * height, _ACROSS * width, *some.shape[3:]))
        )
    return {
        "width": width, "height": height, "across": _ACROSS, "sheet": _SHEET, "pictures": made,
    }  # fmt: skip


def _bytes(entries: NDArray[Any], kind: Any) -> str:
    plain = np.ascontiguousarray(entries, dtype=np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(plain.tobytes()).decode("ascii")


def _json(content: dict[str, Any]) -> str:
    """Return JSON that ends no script element and opens no comment, whatever it contains."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").strip()


def _filled(**parts: str) -> str:
    """Return the page: each ``@name@`` of the template once, what is filled in never again."""
    pieces = _resource("page.html").split("@")
    return "".join(parts.get(piece, piece) for piece in pieces) + "\n"


def _write_whole(path: Path, text: str) -> Path:
    """Write a file beside its place and move it there when it is complete."""
    place = Path(os.path.realpath(path))
    beside = place.parent / f".planish-{secrets.token_hex(8)}.part"
    try:
        if place.exists() and not place.is_file():  # a folder, or a device
            raise FileExistsError(errno.EEXIST, "it exists and is not a file")
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        beside.replace(place)
    except OSError as error:
        reason = f"parameter `path`: the page cannot be written: {error.strerror}"
        raise OSError(error.errno, reason, str(path)) from error
    finally:
        with contextlib.suppress(OSError):  # it is there only if something went wrong
            beside.unlink()
    return path
