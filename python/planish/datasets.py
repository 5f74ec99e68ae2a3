"""Data sets whose truth is known.

Each function returns a :class:`Dataset`: points, the coordinates they were made
from, a value to colour them by and, where there is a closed form, the distances
along the manifold. A seed gives the same bits on every machine.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from . import _core
from ._random import check_seed, seed_of
from ._threads import thread_count
from ._types import Floats, Indices, RandomState
from .exceptions import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "Dataset",
    "cube",
    "flat_torus",
    "gaussian_clusters",
    "helix",
    "punctured_sphere",
    "rotating_object",
    "s_curve",
    "swiss_roll",
    "swiss_roll_with_hole",
    "toroidal_helix",
    "torus",
    "twin_peaks",
]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points of a manifold and what is known about them.

    It unpacks into points and coordinates: ``X, truth = swiss_roll()``.

    Attributes
    ----------
    name : str
        The function that made it.
    points : ndarray of shape (n_samples, n_features)
        One point a row, noise included.
    coordinates : ndarray of shape (n_samples, dimension)
        The coordinates on the manifold, without noise.
    color : ndarray of shape (n_samples,)
        A value to colour each row by: its position along the manifold, or its
        cluster.

    Examples
    --------
    >>> from planish import datasets
    >>> X, truth = datasets.swiss_roll(100)
    >>> X.shape, truth.shape
    ((100, 3), (100, 2))
    """

    name: str
    points: Floats
    coordinates: Floats
    color: Floats
    _geometry: tuple[str, list[float]] = field(repr=False)

    def __iter__(self) -> Iterator[Floats]:
        """Points, then coordinates."""
        return iter((self.points, self.coordinates))

    def __repr__(self) -> str:
        """Name and sizes."""
        rows, features = self.points.shape
        dimension = self.coordinates.shape[1]
        return f"<{self.name}: {rows} points of dimension {dimension} in {features} features>"

    @property
    def labels(self) -> Indices:
        """`color` as whole numbers: the cluster of each row of :func:`gaussian_clusters`."""
        return self.color.astype(np.int64)

    @property
    def has_geodesics(self) -> bool:
        """Whether the distances along the manifold have a closed form."""
        return self._geometry[0] != "unknown"

    def geodesics(self, rows: ArrayLike | None = None) -> Floats:
        """Compute the lengths of shortest paths on the manifold.

        Parameters
        ----------
        rows : array-like of int of shape (n_rows,), default=None
            Rows from which paths start; None means all of them.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_samples)
            Distances along the manifold, without noise. Raises
            ``UnsupportedError`` where they have no closed form (``torus`` and
            ``twin_peaks``).

        Examples
        --------
        >>> from planish import datasets
        >>> datasets.helix(50).geodesics(rows=[0, 1]).shape
        (2, 50)
        """
        starts = None if rows is None else _rows(rows, len(self.points))
        return _core.dataset_geodesics(self._geometry, self.coordinates, starts, thread_count(None))


def swiss_roll(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Make a rectangle that is rolled up.

    The shape is that of scikit-learn's: the angle is uniform between 1.5 π and
    4.5 π, so that the outer turns are sparser, and the height between 0 and 21.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    roll : Dataset
        In 3 features. The coordinates are arc length and height, and geodesics
        are Euclidean in them; the colour is the angle.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import Isomap, datasets
    >>> roll = datasets.swiss_roll(1000)
    >>> Y = Isomap(n_neighbors=8).fit_transform(roll.points)
    >>> bool(abs(np.corrcoef(Y[:, 0], roll.coordinates[:, 0])[0, 1]) > 0.99)
    True
    """
    return _make("swiss_roll", n_samples, noise, random_state)


def swiss_roll_with_hole(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Make a Swiss roll without the middle ninth of its angles and heights.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    roll : Dataset
        As :func:`swiss_roll`; geodesics go round the hole.

    Examples
    --------
    >>> import numpy as np
    >>> from planish import datasets
    >>> roll = datasets.swiss_roll_with_hole(300)
    >>> straight = np.linalg.norm(roll.coordinates[0] - roll.coordinates, axis=1)
    >>> bool((roll.geodesics([0])[0] >= straight - 1e-9).all())
    True
    """
    return _make("swiss_roll_with_hole", n_samples, noise, random_state)


def s_curve(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Make a rectangle that is bent into the letter S.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    curve : Dataset
        In 3 features. The coordinates are arc length and depth, and geodesics
        are Euclidean in them; the colour is the arc length.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.s_curve(200)
    <s_curve: 200 points of dimension 2 in 3 features>
    """
    return _make("s_curve", n_samples, noise, random_state)


def punctured_sphere(
    n_samples: int = 1000,
    *,
    opening: float = np.pi / 4,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Make a unit sphere without a cap around its north pole, evenly covered.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    opening : float, default=π/4
        Angular radius of the cap, above 0 and below π/2.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    sphere : Dataset
        In 3 features. The coordinates are the stereographic projection from the
        north pole. Geodesics are great circles, and follow the rim where these
        would cross the cap; the colour is the height.

    Examples
    --------
    >>> from planish import datasets
    >>> sphere = datasets.punctured_sphere(200)
    >>> bool(sphere.points[:, 2].max() < 0.71)
    True
    """
    lengths = {"opening": opening}
    return _make("punctured_sphere", n_samples, noise, random_state, lengths=lengths)


def torus(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Make a torus of radii 2 and 1 in 3 features, evenly covered.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    torus : Dataset
        The coordinates are the angles around the axis and around the tube. The
        torus is curved and its geodesics have no closed form;
        :func:`flat_torus` has them.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.torus(200).has_geodesics
    False
    """
    return _make("torus", n_samples, noise, random_state)


def twin_peaks(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Make the surface z = sin(πx)·tanh(3y) over a square.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    peaks : Dataset
        In 3 features. The coordinates are x and y, both in -1..1, and the colour
        is the height. Geodesics have no closed form.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.twin_peaks(200)
    <twin_peaks: 200 points of dimension 2 in 3 features>
    """
    return _make("twin_peaks", n_samples, noise, random_state)


def helix(
    n_samples: int = 1000,
    *,
    turns: float = 4.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Make a coil of radius 1 that rises by 1 with each turn.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    turns : float, default=4.0
        Number of turns.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    coil : Dataset
        In 3 features. The coordinate is the arc length, and the colour the angle.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.helix(200, turns=2)
    <helix: 200 points of dimension 1 in 3 features>
    """
    return _make("helix", n_samples, noise, random_state, lengths={"turns": turns})


def toroidal_helix(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Make a closed coil of eight windings around a circle.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    coil : Dataset
        In 3 features. The coordinate is the arc length, which begins anew where
        the curve closes; geodesics take the shorter way round.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.toroidal_helix(200)
    <toroidal_helix: 200 points of dimension 1 in 3 features>
    """
    return _make("toroidal_helix", n_samples, noise, random_state)


def cube(
    n_samples: int = 1000,
    dimension: int = 3,
    *,
    n_features: int | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Make a unit cube of any dimension, evenly filled.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    dimension : int, default=3
        Dimension of the cube.
    n_features : int, default=None
        Dimension of the space it lies in, at a random position, with as many of
        its edges bent into arcs of radius 1 as there are dimensions left for
        them. Bending changes no length on the cube. None means the cube itself.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    cube : Dataset
        The coordinates are those in the cube, and geodesics are Euclidean in
        them; the colour is the first coordinate.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.cube(200, 4, n_features=20)
    <cube: 200 points of dimension 4 in 20 features>
    """
    counts = {"dimension": dimension}
    if n_features is not None:
        counts["n_features"] = n_features
    return _make("cube", n_samples, noise, random_state, counts=counts)


def flat_torus(
    n_samples: int = 1000,
    dimension: int = 2,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Make the product of circles of radius 1: flat, and without an edge.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    dimension : int, default=2
        Number of circles; 1 makes a circle.
    noise : float, default=0.0
        Standard deviation of normal noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    torus : Dataset
        In twice as many features as there are circles. The coordinates are the
        angles; geodesics take the shorter way round each circle.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.flat_torus(200, 3)
    <flat_torus: 200 points of dimension 3 in 6 features>
    """
    counts = {"dimension": dimension}
    return _make("flat_torus", n_samples, noise, random_state, counts=counts)


def gaussian_clusters(
    n_samples: int = 1000,
    n_clusters: int = 5,
    *,
    n_features: int = 10,
    separation: float = 10.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Make normal clusters of standard deviation 1.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points; row i is in cluster i modulo `n_clusters`.
    n_clusters : int, default=5
        Number of clusters.
    n_features : int, default=10
        Number of features.
    separation : float, default=10.0
        Distance between the centres, in the quadratic mean.
    noise : float, default=0.0
        Standard deviation of more noise on each feature.
    random_state : int, RandomState instance or None, default=None
        Seed; None is a fixed seed.

    Returns
    -------
    clusters : Dataset
        The coordinates are the points without `noise`, and geodesics Euclidean;
        the colour is the cluster, which `labels` has as whole numbers.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.gaussian_clusters(6, 3).labels
    array([0, 1, 2, 0, 1, 2])
    """
    return _make(
        "gaussian_clusters",
        n_samples,
        noise,
        random_state,
        counts={"n_clusters": n_clusters, "n_features": n_features},
        lengths={"separation": separation},
    )


def rotating_object(
    views: int = 72,
    *,
    size: int = 32,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Make grey images of a jug on a turntable, equal angles apart.

    Parameters
    ----------
    views : int, default=72
        Number of images.
    size : int, default=32
        Width and height of an image in pixels.
    noise : float, default=0.0
        Standard deviation of normal noise on each pixel.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise; None is a fixed seed.

    Returns
    -------
    images : Dataset
        One image a row, with grey values in 0..1; ``points.reshape(-1, size, size)``
        are the pictures. The coordinate is the angle in radians, and the geodesic
        distance of two views is the angle between them.

    Examples
    --------
    >>> from planish import datasets
    >>> datasets.rotating_object()
    <rotating_object: 72 points of dimension 1 in 1024 features>
    """
    _whole("views", views)
    return _make("rotating_object", views, noise, random_state, counts={"size": size})


def _make(
    name: str,
    n_samples: object,
    noise: object,
    random_state: RandomState,
    *,
    counts: dict[str, int] | None = None,
    lengths: dict[str, float] | None = None,
) -> Dataset:
    check_seed(random_state)
    points, coordinates, color, geometry = _core.dataset(
        name,
        _whole("n_samples", n_samples),
        [_whole(key, value) for key, value in (counts or {}).items()],
        [_number(key, value) for key, value in (lengths or {}).items()],
        _number("noise", noise),
        seed_of(random_state),
        thread_count(None),
    )
    return Dataset(name, points, coordinates, color, geometry)


def _whole(name: str, value: object) -> int:
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < 1:
        raise ParameterError(f"parameter `{name}`: expected an int of at least 1, got {value!r}")
    return min(count, 2**62)  # more would not fit the core's integers


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"parameter `{name}`: expected a number, got {value!r}")
    return float(value)


def _rows(rows: ArrayLike, count: int) -> list[int]:
    given = np.asarray(rows)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ParameterError(f"parameter `rows`: expected a list of row numbers, got {rows!r}")
    wrong = given[(given < 0) | (given >= count)]
    if wrong.size:
        raise ParameterError(
            f"parameter `rows`: {int(wrong[0])} is not a row; rows are 0 to {count - 1}"
        )
    return [int(row) for row in given]
