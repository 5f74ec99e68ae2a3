"""Python values as JSON and arrays, for model files, and back.

What JSON has stands for itself; everything else is an object whose key begins with
``$``. Numbers in arrays leave the JSON and are named by where they were. Of classes only
those listed here are made again, from their fields: nothing that is read is executed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Types of numbers that a file has.
DTYPES = frozenset(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)) | {
    "bool",
    "float32",
    "float64",
}
# Shorter lists of numbers stay in the JSON.
_SHORT = 16
# Whole numbers that JSON has in the core.
_WHOLE = 2**63
# Numbers in the state of a Mersenne Twister; most bytes of an array of texts.
_TWISTER = 624
_MOST_TEXT = 1 << 28

# Kinds of values that JSON does not have; each is a method of the decoder.
_MARKS = frozenset(
    {"int", "float", "scalar", "bytes", "tuple", "list", "zip", "dict", "bytes_list"}
    | {"tensor", "empty", "texts", "record", "sparse", "random_state"}
    | {"unsaved", "class", "estimator"}
)

#: Name, type, shape and bytes of an array.
StoredArray = tuple[str, str, tuple[int, ...], NDArray[np.uint8]]


class NotStorableError(TypeError):
    """A value that a file cannot hold: what it is, in words, and where it was."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, what)
        self.path, self.what = path, what


class Unsaved:
    """What stands for an object that a model file does not hold."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return f"<{self.description}: not in the model file>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unsaved) and other.description == self.description

    def __hash__(self) -> int:
        return hash(self.description)


def _classes() -> dict[str, type]:
    """Return the classes whose objects are stored by their fields."""
    from . import _inputs, _kernels, _metrics, _neighbors, kernel_mds

    inputs = (
        _inputs.Points,
        _inputs.Distances,
        _inputs.DistancesOrGraph,
        _inputs.Kernel,
        _inputs.Affinities,
        _inputs.SparseAffinities,
        _kernels.EvaluatedKernel,
        _metrics.EvaluatedDistances,
        _neighbors.SearchedNeighbors,
        _neighbors.SearchedNeighborhoods,
    )
    return {kind.__name__: kind for kind in (*inputs, _metrics.Metric, kernel_mds.Inverse)}


class Encoder:
    """Collects the arrays of the values it makes JSON of."""

    def __init__(self) -> None:
        self.arrays: list[StoredArray] = []

    def __call__(self, value: Any, path: str) -> Any:  # noqa: PLR0911
        """Return the value as JSON has it."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if isinstance(value, int):
            return value if -_WHOLE <= value < _WHOLE else {"$int": str(value)}
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": _real(value)}
        if isinstance(value, bytes):
            return {"$bytes": self._array(np.frombuffer(value, np.uint8), path)}
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if sparse.issparse(value):
            return self._sparse(value, path)
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        if isinstance(value, tuple):
            return {"$tuple": self._items(list(value), path)}
        if isinstance(value, list):
            return self._list(value, path)
        if isinstance(value, np.random.RandomState):
            return self._random_state(value, path)
        return self._object(value, path)

    def _items(self, values: list[Any], path: str) -> list[Any]:
        return [self(value, f"{path}.{place}") for place, value in enumerate(values)]

    def _scalar(self, value: Any, path: str) -> Any:
        if value.dtype.kind == "U":
            return str(value)
        if value.dtype.name not in DTYPES:
            raise NotStorableError(path, f"a number of type {value.dtype}")
        return {"$scalar": value.dtype.name, "value": self(value.item(), path)}

    def _array(self, value: Any, path: str) -> Any:
        if type(value) is not np.ndarray:
            raise NotStorableError(path, f"an array of type {type(value).__name__}")
        if value.dtype.names is not None:
            names = list(value.dtype.names)
            return {"$record": names, "columns": self._items([value[n] for n in names], path)}
        if value.dtype.kind == "U":
            return {"$texts": value.ravel().tolist(), "shape": value.shape, "type": value.dtype.str}
        if value.dtype.name not in DTYPES:
            raise NotStorableError(path, f"an array of type {value.dtype}")
        if value.size == 0:
            return {"$empty": value.dtype.name, "shape": value.shape}
        native = value.astype(value.dtype.newbyteorder("<"), copy=False)
        flat = np.ascontiguousarray(native).reshape(-1).view(np.uint8)
        self.arrays.append((path, value.dtype.name, value.shape, flat))
        # Where numbers lie in memory decides in which order they are summed.
        columns_first = value.flags.f_contiguous and not value.flags.c_contiguous
        return {"$tensor": path, "order": "F"} if columns_first else {"$tensor": path}

    def _sparse(self, value: Any, path: str) -> Any:
        kept = value if value.format in ("csr", "csc") else value.tocsr()
        parts = [
            self._array(getattr(kept, n), f"{path}.{n}") for n in ("data", "indices", "indptr")
        ]
        return {"$sparse": type(kept).__name__, "shape": kept.shape, "parts": parts}

    def _mapping(self, value: Mapping[Any, Any], path: str) -> Any:
        plain = all(isinstance(key, str) and not key.startswith("$") for key in value)
        if plain and list(value) == sorted(value):  # the core sorts names
            return {key: self(one, f"{path}.{key}") for key, one in value.items()}
        keys, values = list(value.keys()), list(value.values())
        return {"$dict": [self._list(keys, f"{path}.keys"), self._list(values, f"{path}.values")]}

    def _list(self, value: list[Any], path: str) -> Any:
        if not value:
            return []
        if all(type(one) is bytes for one in value):
            lengths = np.array([len(one) for one in value], dtype=np.int64)
            joined = np.frombuffer(b"".join(value), np.uint8)
            parts = [self._array(joined, path), self._array(lengths, f"{path}.lengths")]
            return {"$bytes_list": parts}
        pairs = {len(one) if type(one) is tuple else 0 for one in value}
        if len(pairs) == 1 and 0 not in pairs:
            columns = zip(*value, strict=True)
            return {"$zip": [self._list(list(c), f"{path}.{i}") for i, c in enumerate(columns)]}
        if len(value) > _SHORT and all(type(one) is int and abs(one) < _WHOLE for one in value):
            return {"$list": self._array(np.array(value, dtype=np.int64), path)}
        if len(value) > _SHORT and all(type(one) is float for one in value):
            return {"$list": self._array(np.array(value, dtype=np.float64), path)}
        return self._items(value, path)

    def _random_state(self, value: np.random.RandomState, path: str) -> Any:
        state: Any = value.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            raise NotStorableError(path, f"a RandomState of {state['bit_generator']}")
        parts = (state["state"]["key"], int(state["state"]["pos"]), *_gauss(state))
        return {"$random_state": self._items(list(parts), path)}

    def _object(self, value: Any, path: str) -> Any:
        from . import _inputs

        name = type(value).__name__
        if _classes().get(name) is type(value):
            fields = value.stored() if isinstance(value, _inputs.Input) else vars(value)
            return {"$class": name, "fields": self._mapping(fields, path)}
        if isinstance(value, Unsaved):
            return {"$unsaved": value.description}
        if callable(value) and not isinstance(value, type):
            called = getattr(value, "__name__", type(value).__name__)
            raise NotStorableError(path, f"a Python function ({called})")
        raise NotStorableError(path, f"an object of type {type(value).__name__}")

    def estimator(self, value: Any, path: str) -> Any:
        """Return a wrapped estimator: ours by its parameters, others as a description."""
        from . import _api
        from ._transformer import CoreTransformer

        name, before = type(value).__name__, len(self.arrays)
        if isinstance(value, CoreTransformer) and getattr(_api, name, None) is type(value):
            try:
                return {"$estimator": name, "parameters": self._parameters(value, path)}
            except NotStorableError:
                del self.arrays[before:]
        if isinstance(value, Unsaved):
            return {"$unsaved": value.description}
        return {"$unsaved": " ".join(repr(value).split())}

    def _parameters(self, value: Any, path: str) -> dict[str, Any]:
        given = value.get_params(deep=False).items()
        return {name: self.parameter(name, one, path) for name, one in given}

    def parameter(self, name: str, value: Any, path: str) -> Any:
        """Return a parameter of an estimator as JSON has it."""
        if name == "estimator":
            return self.estimator(value, f"{path}.{name}")
        return self(value, f"{path}.{name}")


def _gauss(state: Any) -> tuple[int, float]:
    return int(state["has_gauss"]), float(state["gauss"])


def _real(value: float) -> str:
    return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"


class Decoder:
    """The way back, from JSON and the arrays of a file; each array is used once."""

    def __init__(
        self, arrays: Mapping[str, tuple[str, tuple[int, ...], NDArray[np.uint8]]]
    ) -> None:
        self.arrays = dict(arrays)

    def __call__(self, value: Any) -> Any:
        """Return the value that was stored."""
        if isinstance(value, list):
            return [self(one) for one in value]
        if not isinstance(value, dict):
            return value
        marks = [key for key in value if key.startswith("$")]
        if not marks:
            return {key: self(one) for key, one in value.items()}
        (mark,) = marks
        if mark[1:] not in _MARKS:
            raise ValueError(f"unknown kind of value {mark!r}")
        return getattr(self, f"_{mark[1:]}")(value[mark], value)

    def _int(self, given: str, _: Any) -> int:
        return int(given)

    def _float(self, given: str, _: Any) -> float:
        return float(given)

    def _scalar(self, given: str, whole: Any) -> Any:
        return _dtype(given).type(self(whole["value"]))

    def _bytes(self, given: Any, _: Any) -> bytes:
        return bytes(self(given))

    def _tuple(self, given: list[Any], _: Any) -> tuple[Any, ...]:
        return tuple(self(given))

    def _list(self, given: Any, _: Any) -> list[Any]:
        found: list[Any] = self(given).tolist()
        return found

    def _zip(self, given: list[Any], _: Any) -> list[Any]:
        return list(zip(*(self(one) for one in given), strict=True))

    def _dict(self, given: list[Any], _: Any) -> dict[Any, Any]:
        return dict(zip(*(self(one) for one in given), strict=True))

    def _bytes_list(self, given: list[Any], _: Any) -> list[bytes]:
        joined, lengths = (self(one) for one in given)
        ends = np.cumsum(lengths)
        whole = joined.tobytes()
        if len(whole) != (int(ends[-1]) if len(ends) else 0) or (lengths < 0).any():
            raise ValueError("lists of bytes are not as long as they say")
        return [whole[end - length : end] for end, length in zip(ends, lengths, strict=True)]

    def _tensor(self, given: str, whole: Any) -> NDArray[Any]:
        dtype, shape, raw = self.arrays.pop(given)
        if dtype == "bool" and raw.max(initial=0) > 1:
            raise ValueError(f"{given!r} has truth values that are neither true nor false")
        values = raw.view(_dtype(dtype)).reshape(shape)
        return np.asfortranarray(values) if whole.get("order") == "F" else values

    def _empty(self, given: str, whole: Any) -> NDArray[Any]:
        shape = tuple(whole["shape"])
        if 0 not in shape:
            raise ValueError("an empty array that is not empty")
        return np.empty(shape, _dtype(given))

    def _texts(self, given: list[str], whole: Any) -> NDArray[Any]:
        width = np.dtype(str(whole["type"]))
        if width.kind != "U":
            raise ValueError("texts of another type")
        # Every entry takes as much as the widest may.
        if width.itemsize * len(given) > _MOST_TEXT:
            raise ValueError(f"{len(given)} texts that take {width.itemsize} bytes each")
        return np.array([str(one) for one in given], dtype=width).reshape(tuple(whole["shape"]))

    def _record(self, given: list[str], whole: Any) -> NDArray[Any]:
        columns = {n: self(one) for n, one in zip(given, whole["columns"], strict=True)}
        length = {one.shape for one in columns.values()}
        if len(length) != 1:
            raise ValueError("the columns of a table are not of one length")
        found = np.empty(length.pop(), dtype=[(name, one.dtype) for name, one in columns.items()])
        for name, one in columns.items():
            found[name] = one
        return found

    def _sparse(self, given: str, whole: Any) -> Any:
        if given not in ("csr_array", "csc_array", "csr_matrix", "csc_matrix"):
            raise ValueError(f"unknown sparse matrix {given!r}")
        parts = tuple(self(one) for one in whole["parts"])
        found = getattr(sparse, given)(parts, shape=tuple(whole["shape"]))
        # SciPy goes by these numbers without looking whether they lie within the matrix.
        found.check_format(full_check=True)
        return found

    def _random_state(self, given: list[Any], _: Any) -> np.random.RandomState:
        key, pos, has_gauss, gauss = (self(one) for one in given)
        # NumPy reads where this says, be it beyond the end.
        if not 0 <= int(pos) <= _TWISTER or np.shape(key) != (_TWISTER,):
            raise ValueError("a random state that is none")
        found = np.random.RandomState()
        found.set_state(("MT19937", key, int(pos), int(has_gauss), float(gauss)))
        return found

    def _unsaved(self, given: str, _: Any) -> Unsaved:
        return Unsaved(str(given))

    def _class(self, given: str, whole: Any) -> Any:
        from . import _inputs

        kind, fields = _classes()[given], self(whole["fields"])
        if issubclass(kind, _inputs.Input):
            return kind.restored(fields)
        return kind(**fields)

    def _estimator(self, given: str, whole: Any) -> Any:
        return estimator_class(given)(**{n: self(v) for n, v in whole["parameters"].items()})


def _dtype(name: str) -> np.dtype[Any]:
    if name not in DTYPES:
        raise ValueError(f"unknown type of numbers {name!r}")
    return np.dtype(name)


def estimator_class(name: str) -> Any:
    """Return the estimator class of planish of that name."""
    from . import _api
    from ._transformer import CoreTransformer

    found = getattr(_api, name, None)
    if not (isinstance(found, type) and issubclass(found, CoreTransformer)):
        raise ValueError(f"planish has no estimator {name!r}")  # noqa: TRY004
    return found
