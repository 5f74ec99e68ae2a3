"""``planish neighbors``: which number of neighbours to take, or the neighbours themselves.

Without an output it suggests a number and says why. With one it writes the exact
neighbours: a list (row, rank, neighbour, distance) to a table, a sparse matrix that SciPy
reads to NPZ.
"""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from .faults import Failure, Misuse
from .files import format_of
from .files.staging import Outputs, called, check_target, is_stream
from .files.writing import table_writer
from .inputs import read_whole, table_argument, table_options
from .parameters import given, options_of, parameters_of
from .running import running, running_options
from .scaling import KINDS, Scaling
from .screen import Command, Option, note, sentences, show, table, told

_HELP = """Suggest the number of neighbours, or write the neighbours.

Without -o: the number of neighbours for Isomap and the other methods of a graph, and why:
enough that the graph is connected, too few for shortcuts between parts that are far apart.

With -o: the exact neighbours of every row, without the row itself. A table has the columns
row, rank, neighbor and distance; .npz is a sparse matrix of distances that
scipy.sparse.load_npz reads and methods take with metric="precomputed".
"""
_EXAMPLES = (
    ("planish neighbors data.csv", "how many?"),
    ("planish neighbors data.csv --n-neighbors 15 -o neighbors.parquet", "which?"),
    ("planish neighbors data.csv --n-neighbors 15 -o graph.npz", "as a sparse matrix"),
)


class NeighborsCommand(Command):
    """The command with the parameters of the functions it calls."""

    def made_options(self, ctx: click.Context) -> list[Option]:
        """Return the parameters of both functions."""
        import planish

        suggest = parameters_of(planish.suggest_n_neighbors)
        search = parameters_of(planish.kneighbors, skip={"query"})
        ctx.meta["planish.suggest"], ctx.meta["planish.search"] = suggest, search
        only = [one for name, one in suggest.items() if name not in search]
        return [
            *options_of(search.values(), "Neighbours"),
            *options_of(only, "Suggestion (without -o)"),
        ]


def run(**_: Any) -> None:
    """Suggest, or search."""
    import planish

    ctx = click.get_current_context()
    target = ctx.params["output"]
    search = given(ctx, ctx.meta["planish.search"].values())
    if target is None:
        taken = ctx.meta["planish.suggest"]
        alien = [name for name in search if name not in taken]
        if alien:
            option = "--" + alien[0].replace("_", "-")
            raise Misuse(f"{option} is of the neighbours that are written: name a file with -o")
    else:
        kind = "csv" if target == "-" else format_of(target, None)
        if kind == "npy":
            raise Misuse(f"{target}: neighbours are written as a table, or as .npz")
        if not is_stream(target):
            check_target(target, ctx.params["source"])
    rows = read_whole(ctx)
    scaling = Scaling.learned(ctx.params["scale"], rows.X)
    X = rows.X if scaling is None else scaling.applied(rows.X)
    if target is None:
        parameters = given(ctx, ctx.meta["planish.suggest"].values())
        suggest = planish.suggest_n_neighbors
        with told():
            _show(suggest(X, **parameters, **running(ctx, suggest)))
        return
    with told():
        distances, indices = planish.kneighbors(X, **search, **running(ctx, planish.kneighbors))
    with Outputs() as outputs:
        _write(target, kind, outputs, distances, indices)
        outputs.commit()
    n, k = indices.shape
    note(f"{called(target)}: {k} neighbours of {n} rows", quiet=ctx.params["quiet"])


def _show(found: Any) -> None:
    lines = [
        [
            str(one.n_neighbors),
            str(one.components),
            str(one.shortcuts),
            "–" if np.isnan(one.residual_variance) else f"{one.residual_variance:.2g}",
            "← best" if one.n_neighbors == found.best else "",
        ]
        for one in found.trials
    ]
    heads = ["neighbours", "components", "shortcuts", "residual variance", ""]
    show(table(heads, lines, numbers=range(4)), *(sentences(one) for one in found.reasons))


def _write(target: str, kind: str, outputs: Outputs, distances: Any, indices: Any) -> None:
    n, k = indices.shape
    if kind == "npz":
        from scipy.sparse import csr_array, save_npz

        if is_stream(target):
            raise Failure("a sparse matrix is written to a file, not to standard output")
        graph = csr_array(
            (distances.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
        )
        save_npz(outputs.stage(target), graph)
        return
    columns = {
        "row": np.repeat(np.arange(n), k),
        "rank": np.tile(np.arange(1, k + 1), n),
        "neighbor": np.asarray(indices, dtype=np.int64).ravel(),
        "distance": distances.ravel(),
    }
    with table_writer(target, kind, outputs, list(columns), []) as writer:
        writer.write(columns)


command = NeighborsCommand(
    "neighbors",
    callback=run,
    params=[
        table_argument(),
        Option(["--scale"], type=click.Choice(list(KINDS)), default="none", show_default=True,
               title="Neighbours", help="Scale the columns first, as in planish embed."),
        *table_options(),
        Option(["--output", "-o"], metavar="OUT", title="Output",
               help="Write the neighbours instead of a suggestion."),
        *running_options(),
    ],
    help=_HELP,
    examples=_EXAMPLES,
    short_help="Suggest the number of neighbours, or write them.",
)  # fmt: skip
