"""One measurement in a process of its own: `compare.py` starts it, nobody else.

Reads a request from standard input, writes the measurement as one line of JSON
to standard output. Data making, imports and quality are outside the clock and,
where the system can reset it, outside the memory meter.
"""

from __future__ import annotations

import json
import signal
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any


def measure_import(statement: str) -> dict[str, Any]:
    """Seconds of an import statement that is the first of this interpreter."""
    start = time.perf_counter()
    exec(statement)
    return {"seconds": time.perf_counter() - start}


def measure_fit(
    job_name: str, engine: str, threads: int, quick: bool, patience: int | None
) -> dict[str, Any]:
    """Time, memory and quality of one engine on one job.

    The alarm that ends this process after `patience` seconds is set when the fit
    begins: an engine that hears it has certainly taken longer than that.
    """
    import data as data_sets
    import jobs
    import quality

    job = next(job for job in jobs.JOBS if job.name == job_name)
    assert isinstance(job, jobs.Job)
    make, *arguments = job.quick if quick else job.data
    data = getattr(data_sets, make)(*arguments)
    fit = job.engines[engine](data.x, threads)

    baseline, meter_reset = start_memory_meter()
    if patience is not None and hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(patience)
    times = []
    for _ in range(job.fits):
        start = time.perf_counter()
        output = fit()
        times.append(time.perf_counter() - start)
    peak = peak_memory()
    if hasattr(signal, "alarm"):
        signal.alarm(0)

    measure = getattr(quality, job.measure)
    result = quality.Result(**output)
    return {
        "seconds": statistics.median(times),
        "first_seconds": times[0],
        "threads": threads,
        "peak": peak,
        "baseline": baseline,
        "meter_reset": meter_reset,
        "measure": measure.name,
        "quality": measure.of(data, result),
        "solver_residual": quality.solver_residual(result),
        "note": data.note,
    }


def start_memory_meter() -> tuple[int, bool]:
    """Resident bytes now; also forgets earlier peaks where the system allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status_bytes("VmRSS"), True
    except OSError:
        return peak_memory(), False


def peak_memory() -> int:
    """Highest resident size of this process since the meter was started, in bytes."""
    try:
        # unlike ru_maxrss this does not start at the parent's size
        return _status_bytes("VmHWM")
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status_bytes(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def main() -> None:
    request = json.load(sys.stdin)
    # peers print to standard output now and then; the answer must stand alone
    answer_to, sys.stdout = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    measure = measure_import if "statement" in request else measure_fit
    answer = measure(**request)
    print(json.dumps(answer), file=answer_to, flush=True)


if __name__ == "__main__":
    main()
