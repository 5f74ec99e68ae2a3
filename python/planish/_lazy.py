"""An array that is computed when its numbers are first used.

For fitted attributes of n × n numbers: asking an estimator whether it has one,
or listing all its attributes, must not cost what computing it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray


class LazyArray(NDArrayOperatorsMixin):  # type: ignore[misc, unused-ignore]
    """A NumPy array whose numbers are computed when first used, and then kept.

    Its shape and type are known beforehand. It can be used like an array, in
    arithmetic, as an argument of functions of NumPy, SciPy and scikit-learn, by
    index and by its methods; ``numpy.asarray`` gives the array itself.
    """

    def __init__(
        self, shape: tuple[int, int], dtype: Any, compute: Callable[[], NDArray[Any]]
    ) -> None:
        self.shape = shape
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._compute: Callable[[], NDArray[Any]] | None = compute
        self._values: NDArray[Any] = np.empty((0, 0))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes the array takes once it is computed."""
        return self.size * self.dtype.itemsize

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self._compute is not None:
            self._values = np.asarray(self._compute(), dtype=self.dtype)
            self._compute = None
        values = np.asarray(self._values, dtype=dtype)
        return values.copy() if copy and values is self._values else values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        arrays = [np.asarray(one) if isinstance(one, LazyArray) else one for one in inputs]
        return getattr(ufunc, method)(*arrays, **keywords)

    def __getattr__(self, name: str) -> Any:
        # Only what arrays have: a tool that asks for something else computes nothing.
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(np.asarray(self), name)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (np.asarray(self),)

    def __repr__(self) -> str:
        if self._compute is None:
            return repr(self._values)
        return f"<array of shape {self.shape} and type {self.dtype}, computed when first used>"
