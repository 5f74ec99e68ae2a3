"""The data sets of the comparison, each with what is known about it.

Every set is made from a fixed seed, so two runs (and two machines) compare the
same numbers. The digits are real when a directory with the four-file MNIST
layout is given, and a stand-in that says so otherwise.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

DATA_VARIABLE = "PLANISH_BENCH_DATA"


@dataclass
class Data:
    """What a job is fitted to, and the truth its result is compared with."""

    x: Any
    """Points (n x D), distances (n x n) or a sparse graph, as the job takes them."""
    truth: dict[str, Any] = field(default_factory=dict)
    """Known answers, by the name the quality measure looks up."""
    note: str = ""
    """Something the reader of the table has to know about the data."""


def swiss_roll(n: int) -> Data:
    """A rolled-up rectangle; its true coordinates are arc length and height.

    The same points as ``sklearn.datasets.make_swiss_roll(n, random_state=0)``,
    made here so that no engine has another's modules in memory.
    """
    draw = np.random.RandomState(0)
    angle = 1.5 * np.pi * (1 + 2 * draw.uniform(size=n))
    height = 21 * draw.uniform(size=n)
    x = np.column_stack((angle * np.cos(angle), height, angle * np.sin(angle)))
    # length of the spiral r = angle: the integral of sqrt(1 + angle^2)
    arc = 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))
    return Data(np.ascontiguousarray(x), {"coordinates": np.column_stack((arc, height))})


def gaussian(n: int, dim: int) -> Data:
    """A rotated Gaussian cloud whose standard deviations fall off like 1/sqrt(j)."""
    draw = np.random.default_rng(0)
    spread = 1 / np.sqrt(np.arange(1, dim + 1))
    rotation = np.linalg.qr(draw.standard_normal((dim, dim)))[0]
    x = (draw.standard_normal((n, dim)) * spread) @ rotation
    return Data(np.ascontiguousarray(x))


def gaussian_distances(n: int, dim: int) -> Data:
    """All distances of such a cloud; the points are kept as the truth."""
    points = gaussian(n, dim).x
    square = (points**2).sum(axis=1)
    distances = square[:, None] + square[None, :] - 2 * (points @ points.T)
    np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0)
    return Data(distances, {"points": points})


def sheet_graph(n: int, dim: int) -> Data:
    """The graph of 10 nearest neighbours among points spread evenly over a cube."""
    from scipy.spatial import cKDTree

    points = np.random.default_rng(0).random((n, dim))
    distances, neighbors = cKDTree(points).query(points, 11)
    rows = np.repeat(np.arange(n), 10)
    graph = sparse.csr_matrix(
        (distances[:, 1:].ravel(), (rows, neighbors[:, 1:].ravel())), shape=(n, n)
    )
    return Data(graph.maximum(graph.T).tocsr())


def small_digits(n: int) -> Data:
    """The 8 × 8 digits that come with scikit-learn."""
    from sklearn.datasets import load_digits

    return Data(np.ascontiguousarray(load_digits().data[:n]))


def digits(n: int) -> Data:
    """MNIST digits, 784 pixels each, or a stand-in when there are none at hand."""
    directory = os.environ.get(DATA_VARIABLE)
    if directory:
        for name in ("mnist-t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz"):
            path = Path(directory) / name
            if path.exists():
                return Data(_read_idx_images(path)[:n])
    return Data(_digits_stand_in(n), note="synthetic stand-in for MNIST")


#: Where Debian's package dataset-fashion-mnist puts its files.
FASHION = Path("/usr/share/datasets/fashion-mnist")


def fashion_images(n: int) -> Data:
    """Fashion-MNIST's training images, 784 pixels each, or a stand-in."""
    places = [Path(os.environ.get(DATA_VARIABLE, ".")) / "fashion-mnist", FASHION]
    name = "train-images-idx3-ubyte.gz"
    found = next((place / name for place in places if (place / name).exists()), None)
    if found is None:
        return Data(_digits_stand_in(n), note="synthetic stand-in for Fashion-MNIST")
    return Data(_read_idx_images(found)[:n])


def fashion(n: int, dim: int) -> Data:
    """Principal components of Fashion-MNIST's training images, or a stand-in."""
    whole = fashion_images(n)
    images = whole.x / 255
    images -= images.mean(axis=0)
    _, axes = np.linalg.eigh(images.T @ images)
    x = np.ascontiguousarray(images @ axes[:, ::-1][:, :dim])
    return Data(x, note=whole.note)


def clusters(n: int, dim: int, count: int) -> Data:
    """Gaussian clusters at random centres, with the cluster of each row."""
    draw = np.random.default_rng(0)
    centres = 10 * draw.standard_normal((count, dim))
    labels = draw.integers(count, size=n)
    return Data(centres[labels] + draw.standard_normal((n, dim)), {"labels": labels})


def curved(n: int, dim: int, latent: int) -> Data:
    """A curved surface of some dimensions in many columns: sines of random combinations."""
    draw = np.random.default_rng(0)
    flat = draw.standard_normal((n, latent))
    mixing = draw.standard_normal((latent, dim)) * 1.5 / np.sqrt(latent)
    phase = draw.uniform(0, 2 * np.pi, dim)
    x = np.empty((n, dim))
    for start in range(0, n, 100_000):
        rows = slice(start, start + 100_000)
        x[rows] = np.sin(flat[rows] @ mixing + phase)
    return Data(x)


def _read_idx_images(path: Path) -> Floats:
    """Images of an idx3 file: 16 bytes of big-endian header, then one byte a pixel."""
    with gzip.open(path, "rb") as file:
        header = np.frombuffer(file.read(16), dtype=">i4")
        pixels = np.frombuffer(file.read(), dtype=np.uint8)
    if header[0] != 2051:
        raise SystemExit(f"{path.name} is not an idx3 image file (magic {header[0]}, not 2051)")
    return np.ascontiguousarray(pixels.reshape(header[1], -1), dtype=np.float64)


def _digits_stand_in(n: int) -> Floats:
    """Grey images in 0..255 that vary in about 13 ways, as MNIST's do."""
    intrinsic, hidden, pixels = 13, 96, 784
    draw = np.random.default_rng(0)
    latent = draw.standard_normal((n, intrinsic))
    inner = draw.standard_normal((intrinsic, hidden)) / np.sqrt(intrinsic)
    outer = draw.standard_normal((hidden, pixels)) / np.sqrt(hidden)
    images = np.tanh(1.5 * latent @ inner) @ outer
    # about four pixels in five are background, as in MNIST
    return np.ascontiguousarray(np.clip(np.rint(300 * (images - 0.5)), 0, 255))
