"""Every method of planish on two data sets: a table and a picture.

    python examples/demo.py [--output build/demo.png] [--no-plot]

The methods are found in the package, not listed here, so a new one shows up
by itself; a class that stands for several methods is shown once for each. The
Swiss roll has a known answer (arc length and height), and the affine residual
says how far an embedding is from it: the relative residual of the best affine
map. The digits have none; trustworthiness says for both how many of the near
neighbours in the embedding were near before.
"""

from __future__ import annotations

import argparse
import inspect
import time
import warnings
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

import planish

ROOT = Path(__file__).resolve().parent.parent
WIDEST = 6  # tiles in a row of the picture
SPACE = 3  # dimensions that can be drawn as they are
DOTS = 85  # an inch of the picture

# Set wherever a method has a parameter of that name.
PARAMETERS = {"n_components": 2, "n_neighbors": 10, "kernel": "cosine", "random_state": 0}

# Classes that stand for several methods, or want other parameters than those above.
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "LocallyLinearEmbedding": {
        "LLE": {"method": "standard"},
        "Modified LLE": {"method": "modified"},
        "Hessian LLE": {"method": "hessian"},
        "LTSA": {"method": "ltsa"},
    },
    "DiffusionMaps": {"DiffusionMaps": {"n_neighbors": 64}},
    "SammonMapping": {"SammonMapping": {"n_neighbors": None}},  # all pairs
}


@dataclass
class DataSet:
    """Points, the colour to draw them in, and their true coordinates if known."""

    name: str
    points: np.ndarray
    colour: dict[str, np.ndarray]  # labels or values, as planish.plot takes them
    color_by: str
    truth: np.ndarray | None = None


@dataclass
class Outcome:
    """One method on one data set."""

    title: str
    data: DataSet
    embedding: np.ndarray
    seconds: float
    trust: float
    residual: float | None


def data_sets() -> list[DataSet]:
    roll = planish.datasets.swiss_roll(1500)
    digits = load_digits()
    return [
        DataSet("Swiss roll", roll.points, {"values": roll.color}, "arc length", roll.coordinates),
        DataSet("digits", digits.data, {"labels": digits.target}, "digit"),
    ]


def methods() -> dict[str, type[BaseEstimator]]:
    """The estimators the package exports, in its own order."""
    exported = {name: getattr(planish, name) for name in planish.__all__}
    return {
        name: thing
        for name, thing in exported.items()
        if isinstance(thing, type)
        and issubclass(thing, BaseEstimator)
        and "n_components" in inspect.signature(thing).parameters  # no wrapper, no graph
    }


def panels() -> list[tuple[str, type[BaseEstimator], dict[str, Any]]]:
    """Everything that is shown: a name, the estimator, its own parameters."""
    return [
        (title, method, parameters)
        for name, method in methods().items()
        for title, parameters in VARIANTS.get(name, {name: {}}).items()
    ]


def run(
    name: str, method: type[BaseEstimator], parameters: dict[str, Any], data: DataSet
) -> Outcome:
    known = method().get_params()
    common = {key: value for key, value in PARAMETERS.items() if key in known}
    model: Any = method(**{**common, **parameters})
    start = time.perf_counter()
    embedding = model.fit_transform(data.points)
    seconds = time.perf_counter() - start
    trust = trustworthiness(data.points, embedding, n_neighbors=10)
    residual = None if data.truth is None else affine_residual(embedding, data.truth)
    title = f"{name} ({model.kernel})" if "kernel" in known else name
    return Outcome(title, data, embedding, seconds, trust, residual)


def affine_residual(embedding: np.ndarray, truth: np.ndarray) -> float:
    design = np.column_stack((embedding, np.ones(len(embedding))))
    solution = np.linalg.lstsq(design, truth, rcond=None)[0]
    spread = np.linalg.norm(truth - truth.mean(axis=0))
    return float(np.linalg.norm(truth - design @ solution) / spread)


def print_table(outcomes: list[Outcome]) -> None:
    print(f"{'data':<12}{'method':<22}{'time':>10}{'affine residual':>18}{'trustworthiness':>18}")
    for one in outcomes:
        residual = "–" if one.residual is None else f"{one.residual:.4f}"
        print(
            f"{one.data.name:<12}{one.title:<22}{one.seconds * 1e3:>7.0f} ms"
            f"{residual:>18}{one.trust:>18.4f}"
        )


def draw(outcomes: list[Outcome], sets: list[DataSet], output: Path, times: bool) -> None:
    """One block of tiles per data set: the data first, then each method's embedding."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from planish import plot

    tiles = 1 + len(outcomes) // len(sets)
    columns = min(tiles, WIDEST)
    lines = -(-tiles // columns)
    figure = plt.figure(
        figsize=(2.7 * columns, 3.1 * lines * len(sets) + 0.4), layout="constrained"
    )
    grid = figure.add_gridspec(lines * len(sets), columns)
    for block, data in enumerate(sets):
        places = [grid[block * lines + i // columns, i % columns] for i in range(tiles)]
        draw_input(figure, places[0], data)
        own = [one for one in outcomes if one.data is data]
        plot.compare(
            [(one.title, one.embedding) for one in own],
            captions=[caption(one, times) for one in own],
            axes=[figure.add_subplot(place) for place in places[1:]],
            **data.colour,
        )
    figure.suptitle(f"planish {planish_version()}: every method, two data sets", fontsize=12)
    output.parent.mkdir(parents=True, exist_ok=True)
    save(figure, output)
    plt.close(figure)


def save(figure: Any, output: Path) -> None:
    """Write the picture with 128 colours, which is a third of the size and looks the same."""
    from PIL import Image

    figure.savefig(output, dpi=DOTS)
    with Image.open(output) as picture:
        reduced = picture.convert("RGB").quantize(128)
    reduced.save(output, optimize=True)


def draw_input(figure: Any, place: Any, data: DataSet) -> None:
    """The data itself: in space when it has three coordinates, as images otherwise."""
    from planish import plot

    n, dim = data.points.shape
    if dim == SPACE:
        axes = figure.add_subplot(place, projection="3d")
        plot.embedding(data.points, ax=axes, legend=False, size=5, **data.colour)
        axes.view_init(elev=12, azim=-78)
        axes.set(xticks=[], yticks=[], zticks=[], xlabel="", ylabel="", zlabel="")
    else:
        axes = figure.add_subplot(place)
        axes.imshow(contact_sheet(data.points), cmap="gray_r")
        axes.set(xticks=[], yticks=[])
        axes.set_box_aspect(1)
        axes.spines[:].set_color("0.8")
    axes.set_title(f"{data.name}, {n} × {dim}", fontsize="medium", fontweight="bold")
    style = {"ha": "center", "va": "top", "fontsize": "small", "color": "0.4"}
    axes.annotate(f"coloured by {data.color_by}", (0.5, -0.03), xycoords="axes fraction", **style)


def contact_sheet(images: np.ndarray, across: int = 8) -> np.ndarray:
    """The first images side by side, with a margin between them."""
    side = int(np.sqrt(images.shape[1]))
    shown = images[: across * across].reshape(across, across, side, side)
    shown = np.pad(shown, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return shown.transpose(0, 2, 1, 3).reshape(across * (side + 2), across * (side + 2))


def planish_version() -> str:
    return metadata.version("planish")


def caption(one: Outcome, times: bool) -> str:
    parts = [f"{one.seconds * 1e3:.0f} ms"] if times else []
    if one.residual is not None:
        parts.append(f"residual {one.residual:.3f}")
    return " · ".join([*parts, f"trust {one.trust:.3f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "demo.png")
    parser.add_argument("--no-plot", action="store_true", help="print the table only")
    parser.add_argument("--no-times", action="store_true", help="leave times out of the picture")
    options = parser.parse_args()

    warnings.simplefilter("ignore")
    sets = data_sets()
    outcomes = [run(*panel, data) for data in sets for panel in panels()]
    print_table(outcomes)
    if not options.no_plot:
        draw(outcomes, sets, options.output, times=not options.no_times)
        print(f"\nThe embeddings are drawn in {options.output}")


if __name__ == "__main__":
    main()
