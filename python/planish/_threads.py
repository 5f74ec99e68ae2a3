"""How many threads ``n_jobs`` asks for."""

from __future__ import annotations

from numbers import Integral

import joblib
from joblib.parallel import get_active_backend

from .exceptions import ParameterError

_MOST = 256


def thread_count(n_jobs: object) -> int:
    """Turn ``n_jobs`` into a positive number of threads.

    ``None`` means every core this process may use (affinity and cgroup limits
    count), unless a :func:`joblib.parallel_config` context says otherwise;
    inside a joblib worker it means 1, because the cores are busy already.
    """
    if n_jobs is None:
        backend, n_jobs = get_active_backend()
        if n_jobs is None:
            inside_worker = (backend.nesting_level or 0) > 0
            return 1 if inside_worker else int(joblib.cpu_count())
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise ParameterError(
            f"parameter `n_jobs`: expected an int or None, got {type(n_jobs).__name__} {n_jobs!r}"
        )
    count = int(n_jobs)
    if count == 0:
        raise ParameterError(
            "parameter `n_jobs`: 0 threads can do no work; give a positive number, "
            "-1 for all cores, or None"
        )
    if 0 < count <= _MOST:
        return count  # counting the cores takes longer than a small fit
    cores = int(joblib.cpu_count())
    # More threads than this only cost: results do not depend on their number.
    return min(count, max(cores, _MOST)) if count > 0 else max(1, cores + 1 + count)
