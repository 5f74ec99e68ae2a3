"""Draw the pictures of README.md's first screen.

Run with a directory that holds the MNIST test images (`mnist-t10k-*-ubyte.gz`). Writes
docs/first.png, three methods with the times of README's own table (two measurements of one thing
would only differ by what else the machine did), and docs/roll.png, what its six lines of code draw.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import planish

mpl.use("Agg")

ROOT = Path(__file__).resolve().parents[1]

#: Title of each panel, and the line of the table its times come from.
PANELS = {
    "Isomap, Swiss roll 10 000 × 3": "Isomap, Swiss roll 10 000 × 3, k = 10",
    "LTSA, Swiss roll 10 000 × 3": "LTSA, Swiss roll 10 000 × 3, k = 10",
    "t-SNE, 10 000 digits × 784": "t-SNE, MNIST digits 10 000 × 784",
}


def measured(readme: str, job: str) -> str:
    """Return the times of planish and of scikit-learn that README's table has for a job."""
    own, other = re.search(
        rf"^\| {re.escape(job)} \| \*\*(.+?)\*\*,.*? \| ([\d. ]+ m?s) ", readme, re.MULTILINE
    ).groups()
    return f"{own} (scikit-learn {other})"


def digits(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images, and what they show."""
    images = gzip.decompress((folder / "mnist-t10k-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((folder / "mnist-t10k-labels-idx1-ubyte.gz").read_bytes())[8:]
    x = np.frombuffer(images, np.uint8).reshape(-1, 784).astype(float)
    return x, np.frombuffer(labels, np.uint8)


def first(folder: Path, readme: str) -> None:
    """Three maps with their times."""
    import matplotlib.pyplot as plt

    roll = planish.datasets.swiss_roll(10_000, random_state=0)
    x, labels = digits(folder)
    sheet = {"values": roll.color}
    ltsa = planish.LocallyLinearEmbedding(n_neighbors=10, method="ltsa")
    fits: list[tuple[Any, Any, Any]] = [
        (planish.Isomap(n_neighbors=10), roll.points, sheet),
        (ltsa, roll.points, sheet),
        (planish.TSNE(), x, {"labels": labels}),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), dpi=90)
    times = [measured(readme, job) for job in PANELS.values()]
    for ax, title, told, (estimator, data, colors) in zip(axes, PANELS, times, fits, strict=True):
        planish.plot.embedding(
            estimator.fit(data),
            **colors,
            density=False,
            size=1.5,
            legend=False,
            quality="",
            ax=ax,
            title=f"{title}\n{told}",
        )
    figure.tight_layout()
    save(figure, ROOT / "docs" / "first.png", "; ".join(times))


def drawn_by_the_code(readme: str) -> None:
    """What the first block of Python draws."""
    import matplotlib.pyplot as plt

    plt.close("all")
    block = re.search(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[1]
    exec(compile(block, "README.md", "exec"), {})
    save(plt.gcf(), ROOT / "docs" / "roll.png", "the first lines of code of README.md")


def save(figure: Any, path: Path, description: str) -> None:
    """Write a picture with 128 colours, which is a third of the size and looks the same."""
    from PIL import Image, PngImagePlugin

    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=90)
    about = PngImagePlugin.PngInfo()
    about.add_text("Description", description)
    with Image.open(buffer) as picture:
        picture.convert("RGB").quantize(128).save(path, optimize=True, pnginfo=about)


def main() -> None:
    """Fit, draw, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path, help="directory with the MNIST test images")
    folder = parser.parse_args().data
    warnings.simplefilter("ignore")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first(folder, readme)
    drawn_by_the_code(readme)


if __name__ == "__main__":
    main()
