"""Model files: fitted estimators written down and read back.

A file is in the safetensors format, the same from Python and from Rust; the Rust core writes
and checks it. Here is what Python adds: the estimator's parameters, names of columns, what X
was, and attributes that the core does not know. The guide describes the layout. Python values
become JSON and arrays in ``_stored.py``, a file is looked at in ``_model_info.py``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core, _data, _inputs
from ._model_info import ModelInfo, fits_together, inspect, path_of
from ._stored import Decoder, Encoder, NotStorableError, Unsaved, estimator_class
from .exceptions import ParameterError

if TYPE_CHECKING:
    from ._embedding import Embedding
    from ._transformer import CoreTransformer

__all__ = ["ModelInfo", "inspect", "load"]

# State of a fitted estimator whose name does not end with an underscore.
_STATE = ("_input", "_n_features_out", "_inverse", "_fit_dtype", "_sklearn_output_config")
# What is in the header under a name of its own.
_IN_HEADER = ("n_features_in_", "feature_names_in_", "estimator_")


# -- writing ------------------------------------------------------------------------------


def write(estimator: CoreTransformer, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator into a file; the method ``save`` of every estimator."""
    check_is_fitted(estimator)
    name = type(estimator).__name__
    try:
        known = estimator_class(name)
    except ValueError:
        known = None
    if known is not type(estimator):
        raise ParameterError(
            f"{name} is a class of your own, and a model file holds only those of planish; use "
            "pickle, or fit the class it is derived from"
        )
    held = estimator._model.method
    if held != getattr(type(estimator), "_method", held):
        # Of rows in blocks: `planish.dask.linear`.
        raise ParameterError(
            f"this {name} was fitted on Dask, by the axes that {held} finds, which no model file "
            f"holds; fit planish.dask.{held}, which places rows in the same way, or use pickle"
        )
    encode = Encoder()
    parameters = _parameters(estimator, encode)
    try:
        state, own = _state(estimator, encode)
    except NotStorableError as error:
        raise ParameterError(
            f"the fit of {name} used {error.what}, which a model file cannot hold, because "
            "nothing in it is executed when it is loaded; use pickle instead"
        ) from error
    names = getattr(estimator, "feature_names_in_", None)
    said = {
        "class": name,
        "parameters": parameters,
        "feature_names": None if names is None else [str(one) for one in names],
        "n_features_in": int(estimator.n_features_in_),
        "dtype": _dtype_of(estimator),
        "python": {"of_the_core": own, "state": state},
    }
    _core.save_model(estimator._model, path_of(path), json.dumps(said), encode.arrays)


def _parameters(estimator: CoreTransformer, encode: Encoder) -> dict[str, Any]:
    stored = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            stored[name] = encode.parameter(name, value, "parameters")
        except NotStorableError as error:  # noqa: PERF203
            way = "use pickle instead"
            if name in ("callback", "random_state"):
                way = f"set_params({name}=None) first (transform does not need it), or use pickle"
            raise ParameterError(
                f"parameter `{name}`: it is or contains {error.what}, which a model file cannot "
                f"hold, because nothing in it is executed when it is loaded; {way}"
            ) from error
    return stored


def _state(estimator: CoreTransformer, encode: Encoder) -> tuple[dict[str, Any], list[str]]:
    """Return the attributes the core does not know, and the names of those it does."""
    known = _core_attributes(estimator._model, _dtype_of(estimator))
    state, own = {}, []
    for name, value in vars(estimator).items():
        if name in _IN_HEADER or not _is_state(name):
            continue
        if name in known and _same(value, known[name]):
            own.append(name)
        else:
            state[name] = encode(value, f"python.{name}")
    return state, own


def _is_state(name: str) -> bool:
    return name in _STATE or (name.endswith("_") and not name.startswith("_"))


def _core_attributes(model: _core.Model, dtype: Any) -> dict[str, Any]:
    found = {f"{n}_": _data.from_core(value) for n, value in model.attributes().items()}
    placed = model.embedding
    if placed is not None:
        found["embedding_"] = _data.as_dtype(placed, np.dtype(dtype))
    return found


def _same(one: Any, other: Any) -> bool:
    """Whether two attributes are the same to the bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = bool(one.dtype == other.dtype) and one.shape == other.shape
        alike = alike and one.flags.f_contiguous == other.flags.f_contiguous
        alike = alike and not one.dtype.hasobject
        return bool(alike) and bool(np.array_equal(_raw(one), _raw(other)))
    if _data.is_sparse(one):
        parts = ("data", "indices", "indptr")
        pairs = [(getattr(one, part), getattr(other, part)) for part in parts]
        return bool(one.shape == other.shape) and all(_same(*pair) for pair in pairs)
    if isinstance(one, float):
        return bool(one.hex() == other.hex())
    return isinstance(one, (bool, int, str, type(None))) and bool(one == other)


def _raw(array: Any) -> Any:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _dtype_of(estimator: CoreTransformer) -> str:
    # Estimators of older pickles do not say.
    return str(vars(estimator).get("_fit_dtype", "float64"))


# -- reading ------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator from a file that ``save`` wrote, in Python or in Rust.

    Nothing in the file is executed. Its checksum and every size it declares are
    checked before they are used.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator : object
        The estimator as it was when it was saved: its parameters, its fitted
        attributes, and a ``transform`` that gives the same bits. Attributes that
        are computed from the training data when first asked for are not in the
        file. An estimator that was wrapped by :class:`KernelMap` is there by its
        parameters if it is one of planish, and else by its description only.

    Raises
    ------
    ModelFileError
        The file is not there, cut short, changed, written by a later version in a
        newer format, or not a model file; the message says which.

    See Also
    --------
    planish.model_files.inspect : What is in a file, without loading it.

    Examples
    --------
    >>> import tempfile, planish
    >>> X, _ = planish.datasets.swiss_roll(100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     planish.PCA(2).fit(X).save(f"{folder}/pca.planish")
    ...     planish.load(f"{folder}/pca.planish")
    PCA(n_components=2)
    """
    path = path_of(path)
    model, text, arrays = _core.load_model(path)
    with fits_together(path):
        header = json.loads(text)
        cls = estimator_class(header["class"])
        if getattr(cls, "_method", "KernelMap") != header["method"]:
            raise ValueError(f"{header['class']} is not the class of {header['method']}")
        decode = Decoder({name: (dtype, tuple(s), raw) for name, dtype, s, raw in arrays})
        given = {name: decode(value) for name, value in header["parameters"].items()}
        if header["python"] is None:
            found = _from_rust(cls, model, header, given)
        else:
            found = _from_python(cls, model, header, given, decode)
    found._file = os.path.basename(path)  # for what may be found wrong later
    return found


def _new(cls: Any, header: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    if header["dtype"] not in ("float64", "float32"):
        raise ValueError(f"planish fits no numbers of type {header['dtype']!r}")
    estimator = cls(**given)
    estimator.n_features_in_ = int(header["n_features_in"])
    names = header["feature_names"]
    if names is not None:
        if len(names) != estimator.n_features_in_:
            raise ValueError(f"{len(names)} names of {estimator.n_features_in_} columns")
        estimator.feature_names_in_ = np.array([str(one) for one in names], dtype=object)
    return estimator


def _from_python(
    cls: Any,
    model: _core.Model,
    header: Mapping[str, Any],
    given: Mapping[str, Any],
    decode: Decoder,
) -> Any:
    estimator = _new(cls, header, given)
    python = header["python"]
    known = _core_attributes(model, header["dtype"])
    state = {name: known[name] for name in python["of_the_core"]}
    for name, value in python["state"].items():
        if not _is_state(name):
            raise ValueError(f"{name!r} is not an attribute of a fitted estimator")
        state[name] = decode(value)
    if not isinstance(state.get("_input"), _inputs.Input):
        raise ValueError("it does not say what X is")  # noqa: TRY004
    _require_coordinates(model, state, estimator.n_features_in_)
    vars(estimator).update(state, _model=model)
    if getattr(cls, "_on_demand", None):
        estimator._lazy = {}
    return estimator


def _require_coordinates(model: _core.Model, state: Mapping[str, Any], features: int) -> None:
    """Refuse a number of coordinates that the model does not have, and other coordinates."""
    placed, width = model.embedding, state.get("_n_features_out")
    # Not all of them need be there: KernelMDS(remove_zero_eig=True).
    if type(width) is not int or not 0 < width <= (features if placed is None else placed.shape[1]):
        raise ValueError(f"its model does not have {width!r} coordinates")
    shown: Any = state.get("embedding_")  # not there where rows were on a cluster
    if placed is not None and shown is not None and np.shape(shown) != (len(placed), width):
        raise ValueError("its embedding is not that of its model")


@dataclass(frozen=True)
class _Rows:
    """What is known of training rows that are not there."""

    shape: tuple[int, int]
    dtype: Any


def _from_rust(
    cls: Any, model: _core.Model, header: Mapping[str, Any], given: Mapping[str, Any]
) -> Any:
    names = cls._get_param_names()
    if not hasattr(cls, "_method"):
        given = {"estimator": Unsaved("what was wrapped in Rust"), **given}
    estimator = _new(cls, header, {name: given[name] for name in names if name in given})
    rows = _Rows((header["n_samples"], header["n_features_in"]), np.dtype(header["dtype"]))
    found = _input_from_rust(cls, header["data"])
    if hasattr(cls, "_method"):
        embedding: Embedding = estimator
        embedding._remember(model, found, rows)
        embedding.__dict__.pop("_training", None)
    else:
        estimator._keep(model, found, rows.dtype)
    return estimator


def _input_from_rust(cls: Any, data: str) -> _inputs.Input:
    affinities = cls.__name__ in ("SpectralEmbedding", "DiffusionMaps")
    if data == "points":
        return _inputs.Points()
    if data == "distances":
        return _inputs.Distances()
    if data == "kernel":
        return _inputs.Affinities() if affinities else _inputs.Kernel()
    if data == "graph":
        if cls.__name__ == "TSNE":
            return _inputs.SparseAffinities()
        return _inputs.Affinities() if affinities else _inputs.DistancesOrGraph()
    if data == "neighborhoods":
        from ._neighbors import SearchedNeighborhoods

        return SearchedNeighborhoods(None, None)
    raise ValueError(f"unknown kind of data {data!r}")
