"""How many coordinates are worth having."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._geodesic import ScaledGeodesics
from ._types import Floats, Indices, MatrixLike
from .exceptions import (
    InputError,
    NegativeEigenvalueWarning,
    ParameterError,
    RankDeficientWarning,
)


@dataclass(frozen=True)
class ResidualVariance:
    """The residual variance against the number of dimensions.

    Attributes
    ----------
    dims : ndarray of shape (n_dims,)
        Numbers of dimensions, rising.
    values : ndarray of shape (n_dims,)
        Residual variance with that many dimensions: 0 is perfect, 1 is nothing.
    elbow : int
        The number of dimensions at which the curve stops falling steeply.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import residual_variance
    >>> line = np.linspace(0.0, 1.0, 50)[:, None]
    >>> curve = residual_variance(line, dims=[1])
    >>> curve.dims, bool(curve.values[0] < 1e-12), curve.elbow
    (array([1]), True, 1)
    """

    dims: Indices
    values: Floats
    elbow: int


def residual_variance(
    estimator_or_X: ScaledGeodesics | MatrixLike, dims: int | Iterable[int] = 10, **params: Any
) -> ResidualVariance:
    """Compute how much of the geodesic distances an embedding leaves unexplained.

    The residual variance with d dimensions is ``1 - R²`` between the geodesic
    distances and those between the first d coordinates, over all pairs of rows.
    It falls until the dimension of the manifold is reached, and the elbow of the
    curve is an estimate of it.

    Parameters
    ----------
    estimator_or_X : Isomap, KernelIsomap, or array-like of shape (n_samples, n_features)
        A fitted estimator, or data to fit an :class:`Isomap` on.
    dims : int or iterable of int, default=10
        Numbers of dimensions; an int means ``1, 2, …, dims``. An estimator with
        fewer components is fitted anew, which needs the one that was fitted in
        this process and not a pickle of it.
    **params : dict
        Parameters of the :class:`Isomap` when data is given.

    Returns
    -------
    curve : ResidualVariance
        Its ``dims``, ``values`` and ``elbow``.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva, J. C. Langford, "A global geometric
       framework for nonlinear dimensionality reduction", Science 290 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import residual_variance
    >>> rng = np.random.default_rng(0)
    >>> angle, height = 3 * rng.random(500), rng.random(500)
    >>> sheet = np.column_stack([np.cos(angle), np.sin(angle), height])
    >>> residual_variance(sheet, dims=4, n_neighbors=8).elbow
    2
    """
    wanted = _dimensions(dims)
    with warnings.catch_warnings():
        # More components than the data has are the point of the curve.
        warnings.simplefilter("ignore", NegativeEigenvalueWarning)
        warnings.simplefilter("ignore", RankDeficientWarning)
        estimator = _fitted(estimator_or_X, int(wanted[-1]), params)
    curve = np.asarray(estimator._compute("residual_variance"), dtype=np.float64)
    values = curve[wanted - 1]
    return ResidualVariance(dims=wanted, values=values, elbow=_elbow(wanted, values))


# More dimensions than rows that Isomap can be fitted on.
_MOST = 1_000_000


def _dimensions(dims: Any) -> Indices:
    try:
        most = operator.index(dims)
    except TypeError:
        wanted = dims
    else:
        if most > _MOST:
            raise ParameterError(f"parameter `dims`: at most {_MOST} dimensions, got {most}")
        wanted = range(1, most + 1)
    try:
        numbers = sorted({operator.index(number) for number in wanted})
    except TypeError:
        numbers = []
    if not numbers or numbers[0] < 1:
        raise ParameterError(
            f"parameter `dims`: expected an int of at least 1, or several, got {dims!r}"
        )
    return np.asarray(numbers, dtype=np.int64)


def _fitted(given: Any, components: int, params: dict[str, Any]) -> ScaledGeodesics:
    from .isomap import Isomap

    if not isinstance(given, ScaledGeodesics):
        if hasattr(given, "fit"):
            raise InputError(
                "the residual variance compares geodesic distances: give an Isomap, a "
                f"KernelIsomap or data, not a {type(given).__name__}"
            )
        rows = given.shape[0] if hasattr(given, "shape") else len(given)
        _check_most(components, rows)
        return Isomap(**{**params, "n_components": components}).fit(given)
    if params:
        raise ParameterError(
            f"parameter `{next(iter(params))}`: an estimator that is given has its own parameters"
        )
    check_is_fitted(given)
    if components <= given.embedding_.shape[1]:
        return given
    training = given._trained_on("residual_variance")
    _check_most(components, training.X.shape[0])
    return type(given)(**{**training.params, "n_components": components}).fit(training.X)


def _check_most(components: int, rows: int) -> None:
    if components >= rows:
        raise ParameterError(
            f"parameter `dims`: {rows} rows span at most {rows - 1} dimensions, got {components}"
        )


# Below this a residual variance is as good as none, and its fall says nothing.
_NEGLIGIBLE = 1e-6


def _elbow(dims: Indices, values: Floats) -> int:
    """Return the point farthest below the line between the ends of the curve.

    On a logarithmic scale: each dimension of the manifold divides what is left,
    however long or short it is. The curve begins at no dimension with all of the
    variance left.
    """
    x = np.concatenate([[0], dims]).astype(float)
    y = np.log(np.maximum(np.concatenate([[1.0], values]), _NEGLIGIBLE))
    line = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0])
    return int(dims[np.argmax((line - y)[1:])])
