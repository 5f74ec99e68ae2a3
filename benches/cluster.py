"""planish.dask on 2 and 4 worker processes against one process, and a cost model.

    python benches/cluster.py [--quick] [--rows N ...] [--workers W ...] [--repeats R]
                              [--update-docs]
    python benches/cluster.py --beyond

The job is landmark Isomap of a Swiss roll with random columns added, given landmarks. One
process has one thread, a worker too. Measured are the time of the fit with all coordinates
on their workers, the seconds that tasks of each kind computed, and the bytes that workers
sent each other. The constants of the cost model come from the second of four numbers of rows;
the other three are predicted by it, and so are 10⁶, 10⁸ and 10⁹. Results go to
build/cluster.json too, and with --update-docs to the tables of docs/cluster.md.

With --beyond it is one fit of data that is larger than any worker may hold, on three workers,
and a comparison of its coordinates with those of one process. It takes minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import time
import warnings
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import planish
from planish import dask as on_dask

ROOT = Path(__file__).resolve().parent.parent
DOCS, START, END = ROOT / "docs" / "cluster.md", "<!-- cluster:start -->", "<!-- cluster:end -->"
# So many noisy columns that neighbours are found by matrix products: n² D operations.
COLUMNS, NEIGHBORS, LANDMARKS, COMPONENTS = 100, 10, 100, 2
#: Kinds of tasks, by what their time goes with.
KINDS = {
    "pairs": ("neighbors",),
    "lists": ("merge", "side"),
    "graph": ("graph", "components", "component-sizes", "outliers"),
    "paths": ("geodesics", "cut", "distances", "between"),
    "rows": ("check", "check-again", "place", "sample"),
}


@dataclass
class Run:
    """What one fit took."""

    rows: int
    blocks: int
    workers: int
    seconds: float
    kinds: dict[str, float]
    tasks: int
    moved: float


def main() -> int:
    options = parse_options()
    warnings.simplefilter("ignore")
    if options.beyond:
        return beyond()
    cores = len(os.sched_getaffinity(0))
    report: dict[str, Any] = {
        "cores": cores, "repeats": options.repeats, "load": os.getloadavg()[0],
        "runs": [], "alone": {},
    }  # fmt: skip
    for rows in options.rows:
        report["alone"][rows] = min(alone(rows) for _ in range(options.repeats))
        print(f"{rows:>9,} rows, one process: {report['alone'][rows]:.2f} s", flush=True)
    for workers in options.workers:
        with cluster(workers) as made, Client(made) as client:
            client.wait_for_workers(workers)
            on_cluster(client, 2000, workers)  # imports
            for rows in options.rows:
                runs = [on_cluster(client, rows, workers) for _ in range(options.repeats)]
                best = min(runs, key=lambda run: run.seconds)
                report["runs"].append(asdict(best))
                show(best, report["alone"][rows])
    lines = tables(report, options.workers)
    print("\n" + "\n".join(lines))
    (ROOT / "build").mkdir(exist_ok=True)
    (ROOT / "build" / "cluster.json").write_text(json.dumps(report, indent=1) + "\n")
    if options.update_docs:
        before, rest = DOCS.read_text(encoding="utf-8").split(START)
        after = rest.split(END)[1]
        new = "\n".join([before + START, *lines, END + after])
        DOCS.write_text(new, encoding="utf-8")
    return 0


def tables(report: dict[str, Any], counts: list[int]) -> list[str]:
    """What was measured, what the model says of it, and of sizes that were not measured."""
    load = report["load"]
    busy = f" that had other work too (load {load:.0f})" if load > report["cores"] / 2 else ""
    lines = [
        f"Measured on {date.today().isoformat()} on {report['cores']} cores{busy}, the best of "
        f"{report['repeats']} (planish {planish.__version__}, dask {dask.__version__}):",
        "",
        "| rows | blocks | workers | one process | the workers | predicted | moved | at most |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for workers in counts:
        runs = [Run(**run) for run in report["runs"] if run["workers"] == workers]
        known = runs[min(1, len(runs) - 1)]
        model = report[f"model-{workers}"] = fitted(known)
        for run in runs:
            guess = predicted(model, run.rows, run.blocks, workers, report["cores"])
            said = "constants" if run is known else f"{guess['seconds']:.2f} s"
            lines.append(
                f"| {grouped(run.rows)} | {run.blocks} | {workers} | "
                f"{report['alone'][run.rows]:.2f} s | {run.seconds:.2f} s | {said} | "
                f"{run.moved / 1e6:.0f} MB | {guess['moved'] / 1e6:.0f} MB |"
            )
    model = report[f"model-{counts[0]}"]
    lines += [
        "",
        "Constants, from the first line that says so: "
        f"a = {model['pair']:.2f}, b = {model['list']:.0f}, c = {model['path']:.1f}, "
        f"d = {model['row']:.2f}, e = {model['edge']:.0f} ns and f = {1e3 * model['task']:.1f} ms. "
        "With them, for sizes that were not measured:",
        "",
        "| rows | blocks | cores | pairs | the rest | tasks | altogether | moved at most |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for rows, blocks, cores in ((10**6, 40, 8), (10**8, 1000, 512), (10**9, 4000, 4096)):
        guess = predicted(model, rows, blocks, cores, cores)
        parts = (guess["pairs"], guess["rest"], guess["tasks"], guess["seconds"])
        lines.append(
            f"| {grouped(rows)} | {grouped(blocks)} | {grouped(cores)} | "
            f"{' | '.join(map(lasting, parts))} | {grouped(round(guess['moved'] / 1e9))} GB |"
        )
    return lines


def grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def lasting(seconds: float) -> str:
    """Say how long something takes, to two digits."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{float(f'{seconds / size:.2g}'):g} {unit}"
    return f"{float(f'{seconds:.2g}'):g} s"


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 10_000, 20_000, 40_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--beyond", action="store_true", help="more data than a worker may hold")
    parser.add_argument("--quick", action="store_true", help="small sizes, once")
    parser.add_argument("--update-docs", action="store_true", help="write docs/cluster.md")
    options = parser.parse_args()
    if options.quick and options.update_docs:
        parser.error("--update-docs wants whole lines: drop --quick")
    if options.quick:
        options.rows, options.repeats = [3_000, 6_000], 1
    return options


def cluster(workers: int, memory: str = "4GB") -> LocalCluster:
    dask.config.set({"distributed.worker.profile.enabled": False})
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=memory,
        dashboard_address=":0",
        silence_logs=50,
    )


# -- more data than a worker may hold --------------------------------------------------------

#: Few rows of very many columns, because the work grows with the square of the rows.
BEYOND_ROWS, BEYOND_COLUMNS, BEYOND_BLOCK, BEYOND_LIMIT = 600, 150_000, 40, 700_000_000


def beyond() -> int:
    """Fit landmark Isomap to data that no worker may hold; 0 if it is what one process finds."""
    chunks = ((BEYOND_BLOCK,) * (BEYOND_ROWS // BEYOND_BLOCK), (BEYOND_COLUMNS,))
    params = {"n_neighbors": 8, "landmarks": np.arange(0, BEYOND_ROWS, 20)}
    with cluster(3, f"{BEYOND_LIMIT}B") as made, Client(made) as client:
        client.wait_for_workers(3)
        X = da.map_blocks(
            lambda block_info=None: sheet(*block_info[None]["array-location"][0]),
            chunks=chunks,
            dtype=float,
            meta=np.empty((0, 0)),
        ).persist()
        wait(X)
        assert X.nbytes > BEYOND_LIMIT
        start = time.perf_counter()
        found = on_dask.LandmarkIsomap(**params).fit(X).embedding_.compute()
        seconds = time.perf_counter() - start
        peak = max(client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss).values())
        moved = bytes_moved(client)
    firsts = range(0, BEYOND_ROWS, BEYOND_BLOCK)
    Z = np.vstack([sheet(first, first + BEYOND_BLOCK) for first in firsts])
    one = planish.LandmarkIsomap(**params).fit(Z).embedding_
    error = float(np.abs(found - one).max() / np.abs(one).max())
    print(
        f"X has {X.nbytes / 1e6:.0f} MB, a worker may take {BEYOND_LIMIT / 1e6:.0f} MB and took "
        f"{peak * 1024 / 1e6:.0f} MB at most; {seconds:.1f} s, {moved / 1e6:.0f} MB moved; "
        f"{error:.1e} from one process"
    )
    return 0 if error < 1e-10 else 1


def sheet(first: int, last: int) -> np.ndarray:
    """Rows of a sheet that lies bent in very many columns."""
    along, across = np.random.default_rng(first).random((2, last - first))
    bent = np.column_stack([np.cos(2 * along), np.sin(2 * along), across])
    return bent @ np.random.default_rng(1).normal(size=(3, BEYOND_COLUMNS))


# -- a cost model ------------------------------------------------------------------------------


def points(rows: int) -> np.ndarray:
    roll, _ = planish.datasets.swiss_roll(rows, random_state=0)
    noise = np.random.default_rng(0).normal(size=(rows, COLUMNS - 3), scale=3.0)
    return np.column_stack([roll, noise])


def landmarks(rows: int) -> np.ndarray:
    return np.sort(np.random.default_rng(1).choice(rows, LANDMARKS, replace=False))


def estimator(module: Any, rows: int) -> Any:
    return module.LandmarkIsomap(
        n_neighbors=NEIGHBORS, n_components=COMPONENTS, landmarks=landmarks(rows), path_method="D",
        n_jobs=1,
    )  # fmt: skip


def alone(rows: int) -> float:
    X = points(rows)
    start = time.perf_counter()
    estimator(planish, rows).fit(X)
    return time.perf_counter() - start


def on_cluster(client: Client, rows: int, workers: int) -> Run:
    size = max(1000, rows // 8)
    X = da.from_array(points(rows), chunks=(size, COLUMNS)).persist()
    wait(X)
    before, moved = seconds_of_tasks(client), bytes_moved(client)
    start = time.perf_counter()
    found = estimator(on_dask, rows).fit(X)
    wait(found.embedding_.persist())
    seconds = time.perf_counter() - start
    after = seconds_of_tasks(client)
    spent = {name: value - before.get(name, 0.0) for name, value in after.items()}
    kinds = {
        kind: sum(spent.get(f"planish-{name}", 0.0) for name in names)
        for kind, names in KINDS.items()
    }
    blocks = X.numblocks[0]
    tasks = 4 * blocks * blocks
    return Run(rows, blocks, workers, seconds, kinds, tasks, bytes_moved(client) - moved)


def seconds_of_tasks(client: Client) -> dict[str, float]:
    return client.run_on_scheduler(
        lambda dask_scheduler: {
            name: float(prefix.all_durations.get("compute", 0.0))
            for name, prefix in dask_scheduler.task_prefixes.items()
        }
    )


def bytes_moved(client: Client) -> float:
    sent = client.run(
        lambda dask_worker: sum(one["total"] for one in dask_worker.transfer_incoming_log)
    )
    return float(sum(sent.values()))


def show(run: Run, single: float) -> None:
    kinds = ", ".join(f"{kind} {seconds:.2f}" for kind, seconds in run.kinds.items())
    print(
        f"{run.rows:>9,} rows, {run.workers} workers: {run.seconds:.2f} s "
        f"({single / run.seconds:.2f}× one process), {run.moved / 1e6:.0f} MB moved; "
        f"task seconds: {kinds}",
        flush=True,
    )


def fitted(run: Run) -> dict[str, float]:
    """The constants: nanoseconds for each unit of work, and seconds for each task."""
    n, k, m = run.rows, NEIGHBORS, LANDMARKS
    cores = min(run.workers, len(os.sched_getaffinity(0)))
    # Workers that share a core take turns: a second of a task is a part of a second of the core.
    spent = {kind: seconds * cores / run.workers for kind, seconds in run.kinds.items()}
    return {
        "pair": 1e9 * spent["pairs"] / n**2,
        "list": 1e9 * spent["lists"] / (n * k * run.blocks),
        "edge": 1e9 * spent["graph"] / (n * k),
        "path": 1e9 * spent["paths"] / (n * m * math.log(n)),
        "row": 1e9 * spent["rows"] / (n * (COLUMNS + m * COMPONENTS)),
        "task": max(0.0, run.seconds - sum(spent.values()) / cores) / run.tasks,
    }


def predicted(
    model: dict[str, float], n: int, blocks: int, workers: int, cores: int
) -> dict[str, float]:
    """The cost model of docs/cluster.md."""
    k, m, cores = NEIGHBORS, LANDMARKS, min(workers, cores)
    spread = (
        model["list"] * n * k * blocks
        + model["path"] * n * m * math.log(n)
        + model["row"] * n * (COLUMNS + m * COMPONENTS)
    )
    pairs = 1e-9 * model["pair"] * float(n) ** 2 / cores
    rest = 1e-9 * (spread / cores + model["edge"] * n * k)
    tasks = model["task"] * 4 * blocks * blocks
    moved = float(n) * (
        8 * COLUMNS * min(workers, blocks + 1)
        + 16 * k * (blocks + 1)
        + (16 * k + 8) * (workers + 1)
        + 8 * m
    )
    seconds = pairs + rest + tasks
    return {"seconds": seconds, "pairs": pairs, "rest": rest, "tasks": tasks, "moved": moved}


if __name__ == "__main__":
    raise SystemExit(main())
