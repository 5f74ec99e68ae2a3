"""The simulations of a survey of MDS and Isomap, on handwritten digits.

    python examples/survey_digits.py [--data DIRECTORY] [--output build/survey_digits.png]

Section 7 of Ghojogh, Ghodsi, Karray and Crowley (2020), "Multidimensional
Scaling, Sammon Mapping, and Isomap: Tutorial and Survey": 2000 training digits,
200 of each kind, and 500 new ones, 50 of each; classical MDS (which is PCA, as
is checked), kernel MDS with the cosine kernel, Isomap and kernel Isomap. New
digits are placed by the eigenfunction formula, its (39), and for Isomap by its
(41), with training digits as the only intermediate points.

The directory holds the MNIST test files in idx form. Without it scikit-learn's
own small digits are used, as many of each kind as there are.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from planish import PCA, ClassicalMDS, Isomap, KernelIsomap, KernelMDS

ROOT = Path(__file__).resolve().parent.parent
KINDS = 10
PER_KIND = {"training": 200, "new": 50}

METHODS: dict[str, Any] = {
    "classical MDS": ClassicalMDS(2),
    "PCA": PCA(2),
    "kernel MDS, cosine": KernelMDS(2, kernel="cosine"),
    "Isomap": Isomap(n_neighbors=10),
    "kernel Isomap": KernelIsomap(n_neighbors=10),
}


def load(directory: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Images, one per row, and which digit each is."""
    if directory is None:
        digits = load_digits()
        return digits.data, digits.target
    images = read_idx(Path(directory) / "mnist-t10k-images-idx3-ubyte.gz", 16)
    labels = read_idx(Path(directory) / "mnist-t10k-labels-idx1-ubyte.gz", 8)
    return images.reshape(len(labels), -1).astype(np.float64), labels


def read_idx(path: Path, header: int) -> np.ndarray:
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)


def split(images: np.ndarray, labels: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The same number of each digit, first for training and then as new ones."""
    rarest = np.bincount(labels, minlength=KINDS).min()
    training = min(PER_KIND["training"], int(0.8 * rarest))
    new = min(PER_KIND["new"], rarest - training)
    kinds = [np.flatnonzero(labels == kind) for kind in range(KINDS)]
    rows = {
        "training": np.concatenate([kind[:training] for kind in kinds]),
        "new": np.concatenate([kind[training : training + new] for kind in kinds]),
    }
    return {name: (images[chosen], labels[chosen]) for name, chosen in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", help="directory with the MNIST test files")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "survey_digits.png")
    parser.add_argument("--no-plot", action="store_true", help="print the table only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    parts = split(*load(options.data))
    (X, kinds), (X_new, new_kinds) = parts["training"], parts["new"]
    print(f"{len(X)} training digits, {len(X_new)} new ones, {X.shape[1]} pixels")
    print(f"{'method':<22}{'fit':>9}{'new':>9}   new digits of the kind of their neighbours")
    placed = {}
    for name, method in METHODS.items():
        start = time.perf_counter()
        Y = method.fit_transform(X)
        fitted = time.perf_counter()
        Y_new = method.transform(X_new)
        seconds = fitted - start, time.perf_counter() - fitted
        share = KNeighborsClassifier(10).fit(Y, kinds).score(Y_new, new_kinds)
        print(f"{name:<22}{seconds[0] * 1e3:>6.0f} ms{seconds[1] * 1e3:>6.0f} ms{share:>10.3f}")
        placed[name] = (Y, Y_new)

    difference = np.abs(np.abs(placed["PCA"][0]) - np.abs(placed["classical MDS"][0])).max()
    scale = np.abs(placed["PCA"][0]).max()
    print(f"classical MDS is PCA: largest difference {difference / scale:.0e} of the largest entry")
    constant = METHODS["kernel Isomap"].constant_
    print(f"the constant of kernel Isomap, c* = {constant:.1f}")
    if not options.no_plot:
        draw(placed, kinds, new_kinds, options.output)
        print(f"drawn in {options.output}")


def draw(placed: dict[str, Any], kinds: np.ndarray, new_kinds: np.ndarray, output: Path) -> None:
    """Training digits above, new ones over pale training digits below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    from planish import plot

    columns = len(placed)
    figure, axes = plt.subplots(2, columns, figsize=(3 * columns, 6.9), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.08)
    maps = list(placed.values())
    above = [f"{len(kinds)} training digits"] * columns
    plot.compare(
        [(name, Y) for name, (Y, _) in placed.items()], labels=kinds, captions=above, axes=axes[0]
    )
    for below, (Y, _) in zip(axes[1], maps, strict=True):
        below.scatter(*Y.T, s=5, color="0.9", linewidths=0)
    new_ones = [f"{len(new_kinds)} new digits"] * columns
    plot.compare([("", Y) for _, Y in maps], labels=new_kinds, captions=new_ones, axes=axes[1])
    handles, _ = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        [str(kind) for kind in range(KINDS)],
        loc="outside lower center",
        ncols=KINDS,
        markerscale=2.0,
        frameon=False,
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=85)
    plt.close(figure)
    # 128 colours: a third of the size, and it looks the same.
    with Image.open(output) as picture:
        reduced = picture.convert("RGB").quantize(128)
    reduced.save(output, optimize=True)


if __name__ == "__main__":
    main()
