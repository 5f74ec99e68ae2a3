"""Every method of planish on two data sets: a table and a picture.

    python examples/demo.py [--output build/demo.png] [--no-plot]

The methods are found in the package, not listed here, so a new one shows up
by itself. The Swiss roll has a known answer (arc length and height), and the
affine residual says how far an embedding is from it: the relative residual of
the best affine map. The digits have none; trustworthiness says for both how
many of the near neighbours in the embedding were near before.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import planish
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.manifold import trustworthiness

ROOT = Path(__file__).resolve().parent.parent

# Set wherever a method has a parameter of that name.
PARAMETERS = {"n_components": 2, "n_neighbors": 10, "kernel": "cosine", "random_state": 0}


@dataclass
class DataSet:
    """Points, the colour to draw them in, and their true coordinates if known."""

    name: str
    points: np.ndarray
    color: np.ndarray
    color_map: str
    truth: np.ndarray | None = None


@dataclass
class Outcome:
    """One method on one data set."""

    method: str
    data: DataSet
    embedding: np.ndarray
    seconds: float
    trust: float
    residual: float | None


def data_sets() -> list[DataSet]:
    points, angle = make_swiss_roll(1500, random_state=0)
    arc = 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))
    truth = np.column_stack((arc, points[:, 1]))
    digits = load_digits()
    return [
        DataSet("Swiss roll", points, arc, "viridis", truth),
        DataSet("digits", digits.data, digits.target, "tab10"),
    ]


def methods() -> dict[str, type[BaseEstimator]]:
    """The estimators the package exports, in its own order."""
    exported = {name: getattr(planish, name) for name in planish.__all__}
    return {
        name: thing
        for name, thing in exported.items()
        if isinstance(thing, type)
        and issubclass(thing, BaseEstimator)
        and hasattr(thing, "fit_transform")
    }


def run(name: str, method: type[BaseEstimator], data: DataSet) -> Outcome:
    known = method().get_params()
    model: Any = method(**{key: value for key, value in PARAMETERS.items() if key in known})
    start = time.perf_counter()
    embedding = model.fit_transform(data.points)
    seconds = time.perf_counter() - start
    trust = trustworthiness(data.points, embedding, n_neighbors=10)
    residual = None if data.truth is None else affine_residual(embedding, data.truth)
    return Outcome(name, data, embedding, seconds, trust, residual)


def affine_residual(embedding: np.ndarray, truth: np.ndarray) -> float:
    design = np.column_stack((embedding, np.ones(len(embedding))))
    solution = np.linalg.lstsq(design, truth, rcond=None)[0]
    spread = np.linalg.norm(truth - truth.mean(axis=0))
    return float(np.linalg.norm(truth - design @ solution) / spread)


def print_table(outcomes: list[Outcome]) -> None:
    print(f"{'data':<12}{'method':<16}{'time':>10}{'affine residual':>18}{'trustworthiness':>18}")
    for one in outcomes:
        residual = "–" if one.residual is None else f"{one.residual:.4f}"
        print(
            f"{one.data.name:<12}{one.method:<16}{one.seconds * 1e3:>7.0f} ms"
            f"{residual:>18}{one.trust:>18.4f}"
        )


def draw(outcomes: list[Outcome], sets: list[DataSet], output: Path) -> None:
    """One row per data set: the data first, then each method's embedding."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = 1 + len(outcomes) // len(sets)
    plt.rcParams.update({"font.size": 9, "font.family": "sans-serif"})
    figure = plt.figure(figsize=(2.7 * columns, 2.9 * len(sets) + 0.5), layout="constrained")
    for row, data in enumerate(sets):
        style = {"c": data.color, "cmap": data.color_map, "s": 5, "linewidths": 0}
        draw_input(figure, (len(sets), columns, row * columns + 1), data, style)
        own = [one for one in outcomes if one.data is data]
        for column, one in enumerate(own, start=2):
            axes = figure.add_subplot(len(sets), columns, row * columns + column)
            axes.scatter(*one.embedding.T, **style)
            axes.set_title(one.method, fontweight="bold")
            axes.set_xlabel(caption(one), fontsize=8, color="0.35")
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_box_aspect(1)
            axes.spines[:].set_color("0.8")
    figure.suptitle("planish: every method, two data sets", fontsize=12)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=150)
    plt.close(figure)


def draw_input(figure: Any, place: tuple[int, int, int], data: DataSet, style: dict) -> None:
    """The data itself: in space when it has three coordinates, as images otherwise."""
    n, dim = data.points.shape
    title = f"{data.name}\n{n} × {dim}"
    if dim == 3:
        axes = figure.add_subplot(*place, projection="3d")
        axes.scatter(*data.points.T, **style)
        axes.view_init(elev=10, azim=-75)
        axes.set(xticklabels=[], yticklabels=[], zticklabels=[])
    else:
        axes = figure.add_subplot(*place)
        side = int(np.sqrt(dim))
        shown = data.points[:64, : side * side].reshape(8, 8, side, side)
        axes.imshow(shown.transpose(0, 2, 1, 3).reshape(8 * side, 8 * side), cmap="gray_r")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_color("0.8")
    axes.set_title(title, fontweight="bold")


def caption(one: Outcome) -> str:
    parts = [f"{one.seconds * 1e3:.0f} ms", f"trust {one.trust:.3f}"]
    if one.residual is not None:
        parts.insert(1, f"residual {one.residual:.3f}")
    return " · ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "demo.png")
    parser.add_argument("--no-plot", action="store_true", help="print the table only")
    options = parser.parse_args()

    warnings.simplefilter("ignore")
    sets = data_sets()
    outcomes = [run(name, method, data) for data in sets for name, method in methods().items()]
    print_table(outcomes)
    if not options.no_plot:
        draw(outcomes, sets, options.output)
        print(f"\nThe embeddings are drawn in {options.output}")


if __name__ == "__main__":
    main()
