"""planish against its peers: time, peak memory and quality, in one run.

    python benches/compare.py [--job NAME ...] [--quick] [--list] [--update-tables]

Every measurement has a process of its own, pinned to the number of cores it
may use; a line is the median of three such processes, and the engines take
turns, so that a slow minute of the machine hits all of them. Peak memory is
the high-water mark of the whole process during the fit, the interpreter and
the data included. Results go to build/bench.json as well, and on request into
the tables of docs/benchmarks.md and README.md, where the lines of jobs that did
not run stay as they were.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import jobs as declared
import tables
from jobs import ImportJob, Job

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
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

    today = datetime.date.today().isoformat()
    report = {"machine": machine(), "date": today, "quick": options.quick, "lines": lines}
    output = ROOT / "build" / "bench.json"
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(report, indent=1) + "\n")
    print("\n" + tables.markdown(report))
    if options.update_tables:
        titles = [job.title for job in declared.JOBS]
        tables.update(report, titles, ROOT / "docs" / "benchmarks.md", ROOT / "README.md")
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
        "--engine",
        action="append",
        choices=[*tables.ENGINES, *tables.OTHERS],
        help="only this engine",
    )
    parser.add_argument("--data", help="directory with MNIST idx files (or PLANISH_BENCH_DATA)")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds a process may take")
    parser.add_argument(
        "--update-tables",
        action="store_true",
        help="put the lines into docs/benchmarks.md and README.md",
    )
    options = parser.parse_args()
    if options.update_tables and (options.quick or options.engine):
        parser.error("--update-tables wants whole lines: drop --quick and --engine")
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
            if rounds[name] and (not good(rounds[name][-1]) or name in job.once):
                continue
            progress(f"{job.name}, {threads} threads, {name}, {turn + 1} of {options.repeats}")
            request = {
                "job_name": job.name,
                "engine": name,
                "threads": threads,
                "quick": options.quick,
                "patience": job.patience.get(name),
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
    known = {n: cell for n, cell in {**others, **engines}.items() if "error" not in cell}
    verdicts = [{"target": goal.text(), "met": goal.met(known)} for goal in job.targets]
    return {
        "engines": dict(engines),
        "absent": dict(getattr(job, "absent", {})),
        "targets": verdicts,
    }


def good(cell: Measurement) -> bool:
    """Whether an engine came to its end."""
    return "error" not in cell and "at_least" not in cell


def middle(measured: list[Measurement]) -> Measurement:
    """The median of each number over the repeats; the first that did not end if there is one."""
    for one in measured:
        if not good(one):
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
    if hasattr(signal, "SIGALRM") and done.returncode == -signal.SIGALRM:
        return {"at_least": request["patience"]}
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


def machine() -> dict[str, Any]:
    """What the numbers depend on besides the code."""
    versions = {"Python": platform.python_version()}
    for name in (*tables.ENGINES.values(), "pydiffmap", "numpy", "scipy"):
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


if __name__ == "__main__":
    sys.exit(main())
