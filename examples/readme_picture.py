"""Draw the picture of README.md: three methods, each with its time.

Run with a directory that holds the MNIST test images (`mnist-t10k-*-ubyte.gz`); without one the
8 × 8 digits of scikit-learn are taken. Writes docs/first.png.
"""

from __future__ import annotations

import gzip
import sys
import time
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits

import planish

mpl.use("Agg")


def digits() -> tuple[np.ndarray, np.ndarray, str]:
    """Images, what they show, and their name."""
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        images = gzip.decompress((folder / "mnist-t10k-images-idx3-ubyte.gz").read_bytes())[16:]
        labels = gzip.decompress((folder / "mnist-t10k-labels-idx1-ubyte.gz").read_bytes())[8:]
        x = np.frombuffer(images, np.uint8).reshape(-1, 784).astype(float)
        return x, np.frombuffer(labels, np.uint8), "10 000 digits"
    small = load_digits()
    return small.data, small.target, "1 797 digits"


def main() -> None:
    """Fit, draw, write."""
    import matplotlib.pyplot as plt

    warnings.simplefilter("ignore")
    roll = planish.datasets.swiss_roll(10_000, random_state=0)
    x, labels, name = digits()
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), dpi=90)
    ltsa = planish.LocallyLinearEmbedding(n_neighbors=12, method="ltsa")
    sheet = {"values": roll.color}
    panels = [
        ("Isomap, Swiss roll 10 000 × 3", planish.Isomap(n_neighbors=10), roll.points, sheet),
        ("LTSA, Swiss roll 10 000 × 3", ltsa, roll.points, sheet),
        (f"t-SNE, {name} × {x.shape[1]}", planish.TSNE(), x, {"labels": labels}),
    ]
    for ax, (title, estimator, data, colors) in zip(axes, panels, strict=True):
        start = time.perf_counter()
        estimator.fit(data)
        seconds = time.perf_counter() - start
        planish.plot.embedding(
            estimator,
            **colors,
            density=False,
            size=1.5,
            legend=False,
            quality="",
            ax=ax,
            title=f"{title}\n{seconds:.2f} s",
        )
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "first.png")


if __name__ == "__main__":
    main()
