"""planish against its peers: time, peak memory and quality, in one run.

    python benches/compare.py [--job NAME ...] [--quick] [--list] [--update-readme]

Every measurement has a process of its own, pinned to the number of cores it
may use; a line is the median of three such processes, and the engines take
turns, so that a slow minute of the machine hits all of them. Peak memory is
the high-water mark of the whole process during the fit, the interpreter and
the data included. Results go to build/bench.json as well.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import jobs as declared
from jobs import ImportJob, Job

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ENGINES = {"planish": "planish", "sklearn": "scikit-learn", "tapkee": "tapkee"}
# Compared with in a few jobs only; they have no column of their own.
OTHERS = {"scipy": "SciPy", "heap": "planish's heap", "pydiffmap": "pyDiffMap"}
README_START, README_END = "<!-- bench:start -->", "<!-- bench:end -->"
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)

Measurement = dict[str, Any]


def main() -> int:
    options = parse_options()
    if options.list:
        for job in declared.JOBS:
            print(f"{job.name:<16} {job.title}")
        return 0
    if options.data:
        os.environ["PLANISH_BENCH_DATA"] = str(Path(options.data).resolve())
    chosen = [job for job in declared.JOBS if not options.job or job.name in options.job]

    lines: list[dict[str, Any]] = []
    for job in chosen:
        if isinstance(job, ImportJob):
            lines.append(run_import_job(job, options))
        else:
            for threads in options.threads:
                lines.append(run_job(job, threads, lines, options))

    report = {"machine": machine(), "quick": options.quick, "lines": lines}
    output = ROOT / "build" / "bench.json"
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(report, indent=1) + "\n")
    table = markdown(report)
    print("\n" + table)
    if options.update_readme:
        update_readme(ROOT / "README.md", table)
    return 1 if any("error" in cell for line in lines for cell in line["engines"].values()) else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    names = [job.name for job in declared.JOBS]
    parser.add_argument(
        "--job", action="append", choices=names, metavar="NAME", help="only this job"
    )
    parser.add_argument("--list", action="store_true", help="list the jobs and stop")
    parser.add_argument("--quick", action="store_true", help="small data, one repeat: a smoke test")
    parser.add_argument("--repeats", type=int, default=None, help="processes per measurement (3)")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[2, 1], help="numbers of threads (2 1)"
    )
    parser.add_argument(
        "--engine", action="append", choices=[*ENGINES, *OTHERS], help="only this engine"
    )
    parser.add_argument("--data", help="directory with MNIST idx files (or PLANISH_BENCH_DATA)")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds a process may take")
    parser.add_argument(
        "--update-readme", action="store_true", help="write the table into README.md"
    )
    options = parser.parse_args()
    if options.update_readme and (options.quick or options.job or options.engine):
        parser.error("--update-readme wants the whole run: drop --quick, --job and --engine")
    options.repeats = options.repeats or (1 if options.quick else 3)
    return options


def run_job(
    job: Job, threads: int, before: list[dict[str, Any]], options: argparse.Namespace
) -> dict[str, Any]:
    """All engines of a job at one number of threads, taking turns."""
    names = [name for name in job.engines if not options.engine or name in options.engine]
    rounds: dict[str, list[Measurement]] = {name: [] for name in names}
    for turn in range(options.repeats):
        for name in names:
            if rounds[name] and ("error" in rounds[name][-1] or name in job.once):
                continue
            progress(f"{job.name}, {threads} threads, {name}, {turn + 1} of {options.repeats}")
            request = {
                "job_name": job.name,
                "engine": name,
                "threads": threads,
                "quick": options.quick,
            }
            rounds[name].append(in_own_process(request, threads, options.timeout))
    engines = {name: middle(measured) for name, measured in rounds.items()}
    others = {
        f"{line['job']}/{name}": cell
        for line in before
        if line["threads"] == threads
        for name, cell in line["engines"].items()
    }
    verdicts = judged(job, engines, others)
    return {"job": job.name, "title": job.title, "threads": threads, **verdicts}


def run_import_job(job: ImportJob, options: argparse.Namespace) -> dict[str, Any]:
    """First imports in fresh interpreters, taking turns."""
    rounds: dict[str, list[Measurement]] = {name: [] for name in job.statements}
    for turn in range(1 if options.quick else job.repeats):
        for name, statement in job.statements.items():
            progress(f"{job.name}, {name}, {turn + 1} of {job.repeats}")
            rounds[name].append(in_own_process({"statement": statement}, None, options.timeout))
    engines = {name: middle(measured) for name, measured in rounds.items()}
    return {"job": job.name, "title": job.title, "threads": None, **judged(job, engines)}


def judged(
    job: Job | ImportJob, engines: Mapping[str, Measurement], others: Mapping[str, Measurement] = {}
) -> dict[str, Any]:
    """The engines' numbers with the targets' verdicts beside them."""
    both = {**others, **engines}
    good = {name: cell for name, cell in both.items() if "error" not in cell}
    verdicts = [{"target": goal.text(), "met": goal.met(good)} for goal in job.targets]
    return {
        "engines": dict(engines),
        "absent": dict(getattr(job, "absent", {})),
        "targets": verdicts,
    }


def middle(measured: list[Measurement]) -> Measurement:
    """The median of each number over the repeats; the first error if there is one."""
    for one in measured:
        if "error" in one:
            return one
    summary: Measurement = dict(measured[0])
    for key, value in measured[0].items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            summary[key] = statistics.median(one[key] for one in measured)
    summary["all_seconds"] = [one["seconds"] for one in measured]
    return summary


def in_own_process(request: dict[str, Any], threads: int | None, timeout: float) -> Measurement:
    """Run `measure.py` on a request, limited to `threads` cores and threads."""
    environment = dict(os.environ)
    cores = None
    if threads is not None:
        environment.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
        cores = first_cores(threads)

    def pin() -> None:
        if cores is not None:
            os.sched_setaffinity(0, cores)

    try:
        done = subprocess.run(
            [sys.executable, str(HERE / "measure.py")],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=environment,
            timeout=timeout,
            preexec_fn=pin,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"more than {timeout:.0f} s"}
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"error": last}
    answer: Measurement = json.loads(done.stdout)
    return answer


def first_cores(count: int) -> set[int] | None:
    """The first `count` cores this process may use, where cores can be chosen."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    return set(sorted(os.sched_getaffinity(0))[:count])


def progress(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


# ---- the table -----------------------------------------------------------


def markdown(report: Mapping[str, Any]) -> str:
    """The whole report as a Markdown table with its conditions below."""
    header = ["job", "threads", *ENGINES.values(), "quality", "target", "met"]
    rows = [header, ["---"] * len(header)]
    last = None
    for line in report["lines"]:
        rows.append(table_row(line, named=line["title"] != last))
        last = line["title"]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return table + "\n\n" + conditions(report)


def table_row(line: Mapping[str, Any], named: bool) -> list[str]:
    cells = [engine_cell(line, name) for name in ENGINES]
    extra = [
        f"{OTHERS[name]} {engine_cell(line, name)}" for name in OTHERS if name in line["engines"]
    ]
    if extra:
        cells[1] = "; ".join(extra)  # in the place of scikit-learn, which has no such thing
    return [
        line["title"] if named else "",
        str(line["threads"] or "–"),
        *cells,
        quality_cell(line),
        "; ".join(verdict["target"] for verdict in line["targets"]) or "–",
        verdict_cell(line),
    ]


def engine_cell(line: Mapping[str, Any], name: str) -> str:
    """Time (and how many times planish's it is), then peak memory."""
    cell = line["engines"].get(name)
    if cell is None:
        return str(line["absent"].get(name, "–"))
    if "error" in cell:
        return f"failed: {cell['error'][:80]}"
    text = seconds(cell["seconds"])
    own = line["engines"].get("planish")
    if name == "planish":
        text = f"**{text}**"
    elif own and "error" not in own:
        text += f" ({cell['seconds'] / own['seconds']:.1f}×)"
    return text + (f", {megabytes(cell['peak'])}" if "peak" in cell else "")


def quality_cell(line: Mapping[str, Any]) -> str:
    """The measure's name, then its value for each engine that has one."""
    cells = {name: cell for name, cell in line["engines"].items() if "quality" in cell}
    if not cells:
        return "–"
    measure = next(iter(cells.values()))["measure"]
    return f"{measure} " + " / ".join(number(cell["quality"]) for cell in cells.values())


def verdict_cell(line: Mapping[str, Any]) -> str:
    words = {True: "yes", False: "**no**", None: "unknown"}
    verdicts = [words[verdict["met"]] for verdict in line["targets"]]
    return (verdicts[0] if len(set(verdicts)) == 1 else "; ".join(verdicts)) if verdicts else "–"


def conditions(report: Mapping[str, Any]) -> str:
    """The machine, the versions and how to read a cell."""
    facts = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    text = [
        "Time of the fit (in brackets: times planish's), peak memory of the whole process, "
        "then quality in the order of the columns. "
        f"Median of processes of their own; {facts['cpu']}, {facts['cores']} cores; {versions}.",
    ]
    if report["quick"]:
        text.append("Quick run: the sizes are smaller than the titles say.")
    text += notes(report["lines"])
    return " ".join(text)


def notes(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    found: dict[str, None] = {}
    for line in lines:
        for cell in line["engines"].values():
            if cell.get("note"):
                found[f"{line['title']}: {cell['note']}."] = None
    return list(found)


def seconds(value: float) -> str:
    if value >= 10:
        return f"{value:.1f} s"
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1e3:.1f} ms"


def megabytes(value: float) -> str:
    return f"{value / 1e6:,.0f} MB".replace(",", " ")


def number(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) >= 1e-3 else f"{value:.0e}"


def machine() -> dict[str, Any]:
    """What the numbers depend on besides the code."""
    versions = {"Python": platform.python_version()}
    for name in (*ENGINES.values(), "pydiffmap", "numpy", "scipy"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "versions": versions}


def cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def update_readme(path: Path, table: str) -> None:
    """Put the table between the markers of the README."""
    text = path.read_text()
    before, found_start, rest = text.partition(README_START)
    _, found_end, after = rest.partition(README_END)
    if not (found_start and found_end):
        raise SystemExit(f"{path.name} has no markers {README_START} … {README_END}")
    path.write_text(f"{before}{README_START}\n{table}\n{README_END}{after}")


if __name__ == "__main__":
    sys.exit(main())
