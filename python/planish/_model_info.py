"""What a model file says about itself, without the model being made of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from . import _core
from ._stored import Decoder
from .exceptions import ModelFileError, ParameterError

_NAMES_SHOWN = 8
# Letters of what other libraries say of a file; they may show the whole of an array.
_MOST_SAID = 200


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says about itself.

    Attributes
    ----------
    path : str
        The file.
    method : str
        The estimator's class, such as ``"Isomap"``.
    parameters : dict
        Its parameters by name; arrays and other objects as short descriptions.
    feature_names : tuple of str or None
        Names of the columns it was fitted on, where they had names.
    n_features : int
        Number of columns it was fitted on.
    n_samples : int or None
        Number of rows it was fitted on.
    dtype : str
        Type of the numbers it was fitted on.
    version : str
        The version of planish that wrote the file.
    format : int
        The number of the file's format.
    arrays : list of (name, dtype, shape)
        Its arrays.
    bytes : int
        Size of the file.

    Examples
    --------
    >>> import tempfile, planish
    >>> pca = planish.PCA(n_components=2).fit([[0.0, 1.0, 2.0], [3.0, 5.0, 4.0], [6.0, 0.0, 1.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pca.save(f"{folder}/pca.planish")
    ...     info = planish.model_files.inspect(f"{folder}/pca.planish")
    >>> info.method, info.n_features, info.n_samples
    ('PCA', 3, 3)
    """

    path: str
    method: str
    parameters: dict[str, Any]
    feature_names: tuple[str, ...] | None
    n_features: int
    n_samples: int | None
    dtype: str
    version: str
    format: int
    arrays: list[tuple[str, str, tuple[int, ...]]]
    bytes: int

    def __str__(self) -> str:
        """Return the whole of it, a line for each parameter and array."""
        return "\n".join(_lines(self))


def inspect(path: str | os.PathLike[str]) -> ModelInfo:
    """Tell what is in a model file without loading it.

    Only the header is read and checked; :func:`planish.load` also compares the
    checksum of the arrays.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    info : ModelInfo
        What the file says about itself; ``print`` shows it.

    Raises
    ------
    ModelFileError
        As :func:`planish.load`.

    Examples
    --------
    >>> import tempfile, planish
    >>> X, _ = planish.datasets.swiss_roll(100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     planish.PCA(2).fit(X).save(f"{folder}/pca.planish")
    ...     info = planish.model_files.inspect(f"{folder}/pca.planish")
    >>> info.method, info.n_samples, info.n_features, info.parameters["n_components"]
    ('PCA', 100, 3, 2)
    """
    path = path_of(path)
    text, arrays, size = _core.inspect_model(path)
    found = [(name, dtype, tuple(shape)) for name, dtype, shape in arrays]
    shapes = {name: (dtype, shape) for name, dtype, shape in found}
    with fits_together(path):
        header = json.loads(text)
        names = header["feature_names"]
        return ModelInfo(
            path=path,
            method=header["class"],
            parameters={n: _shown(value, shapes) for n, value in header["parameters"].items()},
            feature_names=None if names is None else tuple(names),
            n_features=header["n_features_in"],
            n_samples=header["n_samples"],
            dtype=header["dtype"],
            version=header["version"],
            format=header["format"],
            arrays=found,
            bytes=size,
        )


def _shown(value: Any, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> Any:  # noqa: PLR0911
    """Return a stored parameter as a person reads it."""
    if isinstance(value, list):
        return [_shown(one, shapes) for one in value]
    if not isinstance(value, dict):
        return value
    if "$tensor" in value:
        dtype, shape = shapes[value["$tensor"]]
        return f"<{dtype} array of shape {shape}>"
    if "$estimator" in value:
        inner = {n: _shown(one, shapes) for n, one in value["parameters"].items()}
        return f"{value['$estimator']}({', '.join(f'{n}={one!r}' for n, one in inner.items())})"
    if "$sparse" in value:
        return f"<{value['$sparse']} of shape {tuple(value['shape'])}>"
    if "$unsaved" in value:
        return f"<{value['$unsaved']}>"
    plain = {"$scalar", "$float", "$int", "$tuple"} & value.keys()
    if plain:
        return Decoder({})(value)
    mark = next((key for key in value if key.startswith("$")), None)
    if mark is not None:
        return f"<{mark[1:].replace('_', ' ')}>"
    return {name: _shown(one, shapes) for name, one in value.items()}


def _lines(info: ModelInfo) -> Iterable[str]:
    rows = "" if info.n_samples is None else f"{info.n_samples} rows of "
    yield f"{info.path}: {info.method}, {info.bytes:,} bytes"
    yield f"  written by planish {info.version}, format {info.format}"
    yield f"  fitted on {rows}{info.n_features} columns, {info.dtype}"
    if info.feature_names is not None:
        shown = ", ".join(info.feature_names[:_NAMES_SHOWN])
        more = len(info.feature_names) - _NAMES_SHOWN
        yield f"  columns: {shown}" + (f", and {more} more" if more > 0 else "")
    yield "  parameters:"
    width = max((len(name) for name in info.parameters), default=0)
    for name, value in info.parameters.items():
        yield f"    {name:<{width}}  {value!r}"
    yield "  arrays:"
    width = max((len(name) for name, *_ in info.arrays), default=0)
    for name, dtype, shape in info.arrays:
        yield f"    {name:<{width}}  {dtype} {' x '.join(map(str, shape)) or 'scalar'}"


def path_of(path: str | os.PathLike[str]) -> str:
    """Return the name of a file, or refuse what is none."""
    try:
        found = os.fspath(path)
    except TypeError as error:
        raise ParameterError(f"parameter `path`: expected a path, got {path!r}") from error
    if not isinstance(found, str) or not found or "\0" in found:
        raise ParameterError(f"parameter `path`: expected the name of a file, got {path!r}")
    return found


@contextmanager
def fits_together(path: str) -> Iterator[None]:
    """Say that a file is at fault where what is in it cannot be put together."""
    try:
        yield
    except ModelFileError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:_MOST_SAID]
        raise ModelFileError(
            f"the model file '{path}' cannot be read: it does not fit together "
            f"({type(error).__name__}: {said})"
        ) from error
