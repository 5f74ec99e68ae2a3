"""Kernels the Rust core does not know, evaluated by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np

from . import _data, _types
from ._inputs import Input
from ._metrics import keyword_arguments, named
from .exceptions import ParameterError

NATIVE_KERNELS: frozenset[str] = frozenset(get_args(_types.NativeKernel))


class EvaluatedKernel(Input):
    """Points whose kernel values are evaluated for all pairs."""

    rows: Any

    def __init__(
        self, kernel: str | Callable[..., float], arguments: Mapping[str, Any], **params: Any
    ) -> None:
        super().__init__(kernel="precomputed", **params)
        self.kernel = kernel
        self.arguments = arguments

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows by the kernel values between them."""
        _data.require_finite(X)
        self.rows = X.astype(np.float64)
        return _data.kernel(evaluate(self.kernel, self.arguments, self.rows))

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by their kernel values with the training rows."""
        _data.require_finite(X)
        values = evaluate(self.kernel, self.arguments, X.astype(np.float64), self.rows)
        return _data.kernel(values)


def kernel_arguments(kernel: object, given: object, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Check a kernel's name, and return the arguments it is called with."""
    from sklearn.metrics.pairwise import kernel_metrics

    known = {*NATIVE_KERNELS, *kernel_metrics(), "precomputed"}
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in known):
        raise ParameterError(
            f"parameter `kernel`: {kernel!r} is not known; give a callable or one of: "
            f"{', '.join(sorted(known))}"
        )
    arguments = keyword_arguments("kernel_params", given)
    return arguments if callable(kernel) else {**defaults, **arguments}


def evaluate(
    kernel: str | Callable[..., float], arguments: Mapping[str, Any], X: Any, Y: Any = None
) -> Any:
    """Evaluate a kernel between all rows of X, or between X and Y, on one thread."""
    from sklearn.metrics.pairwise import pairwise_kernels

    return named(
        lambda: pairwise_kernels(
            X, Y, metric=kernel, filter_params=not callable(kernel), n_jobs=1, **arguments
        ),
        "kernel",
        kernel,
    )
