"""How work reaches Dask: named tasks, threads, and what goes wrong on a cluster.

Everything runs through :func:`persist` and :func:`compute`, so that it works with a
distributed client and with Dask's local schedulers, and so that a worker that dies or a
cluster that is gone is one sentence and not a page of somebody else's traceback.
"""

from __future__ import annotations

import asyncio
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import contextmanager
from typing import Any

import dask
from dask.delayed import Delayed, delayed

from ..exceptions import MemoryNeedError, PlanishError, UnsupportedError


class Run:
    """The tasks of one fit or one transform: their names on the dashboard."""

    def __init__(self) -> None:
        self.token = uuid.uuid4().hex

    def task(self, function: Callable[..., Any], name: str, *where: int) -> Callable[..., Delayed]:
        """Return what makes the task `planish-name` for a place, a few numbers.

        A task is pure: Dask runs it again where the worker that held its result is lost.
        """
        key = "-".join(["planish", name, self.token, *map(str, where)])

        def call(*args: Any) -> Delayed:
            made: Delayed = delayed(function, pure=True, traverse=False)(*args, dask_key_name=key)
            return made

        return call


def client() -> Any:
    """Return the distributed client that is in use, or None."""
    from distributed import get_client

    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        found = get_client()
    except ValueError:
        return None
    return found


def persist(items: Sequence[Any]) -> list[Any]:
    """Have results computed and kept where they are computed."""
    if not items:
        return []
    with in_plain_words(items):
        return list(dask.persist(*items))


def compute(items: Sequence[Any]) -> list[Any]:
    """Have results computed and brought here."""
    if not items:
        return []
    with in_plain_words(items):
        return list(dask.compute(*items))


def shared(value: Any) -> Any:
    """Put a value where every task can have it, without it being part of every task."""
    cluster = client()
    if cluster is None:
        return delayed(value, pure=False, traverse=False)
    with in_plain_words():
        # In a list: of a tuple every item would be put there.
        return cluster.scatter([value], broadcast=True, hash=False)[0]


def worker_threads() -> int:
    """Return how many threads a task may use that has its worker to itself."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        return 0


def workers() -> tuple[int, float]:
    """Return the number of threads of all workers and the smallest memory limit of one."""
    cluster = client()
    if cluster is None:
        from .._core import available_memory
        from .._threads import thread_count

        return thread_count(None), float(available_memory())
    with in_plain_words():
        threads = sum(cluster.nthreads().values())
        limits = cluster.run(_memory_limit, on_error="ignore") if threads else {}
    if not threads:
        raise UnsupportedError(
            "the Dask cluster has no workers; start some, or wait for them with "
            "client.wait_for_workers(1)"
        )
    return int(threads), min((limit or float("inf") for limit in limits.values()), default=0.0)


def _memory_limit(dask_worker: Any) -> float | None:
    limit: float | None = dask_worker.memory_manager.memory_limit
    return limit


def reporting(function: Callable[..., Any], *args: Any) -> tuple[Any, list[tuple[str, type]]]:
    """Return what a function returns, and the warnings it gave, for the client to repeat."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    return result, [(str(one.message), one.category) for one in caught]


def repeat(caught: list[tuple[str, type]]) -> None:
    """Give the warnings that a task gave."""
    from .._warn import warn

    for message, category in caught:
        warn(message, category)


def require_open(used: Any) -> None:
    """Refuse to go on with what is on the cluster of a client that was closed."""
    if used is not None and used.status in ("closing", "closed"):
        raise _gone("its client was closed")


def _gone(reason: str) -> UnsupportedError:
    return UnsupportedError(
        "the Dask cluster is gone, and what was computed on it is lost; connect a new "
        f"dask.distributed.Client, load X again and fit again ({reason})"
    )


@contextmanager
def in_plain_words(items: Sequence[Any] = ()) -> Iterator[None]:
    """Say in one sentence what happened to the cluster."""
    from distributed.scheduler import KilledWorker

    try:
        yield
    except PlanishError:
        raise
    except KilledWorker as error:
        raise MemoryNeedError(
            f"the task {_short(error.task)} ended {_times(error)} with the worker that ran it, "
            "most likely because it needed more memory than the worker has; split X into smaller "
            "chunks (X.rechunk), or give the workers more memory"
        ) from error
    except MemoryError as error:
        raise MemoryNeedError(
            "a worker has not enough memory for one of the tasks; split X into smaller chunks "
            "(X.rechunk), or give the workers more memory"
        ) from error
    except Exception as error:
        if not _is_gone(error) and not _are_lost(items):
            raise
        raise _gone(type(error).__name__) from error


def _is_gone(error: Exception) -> bool:
    from distributed.comm import CommClosedError

    late = (TimeoutError, asyncio.TimeoutError)  # two of them before Python 3.11
    if isinstance(error, (CommClosedError, FutureCancelled, *late)):
        return True
    # A client that was closed says so by a class of its own or, before 2025, in words.
    text = f"{type(error).__name__}: {error}"
    return text.startswith(
        (
            "ClosedClientError",
            "Exception: Tried sending message after closing",
            "RuntimeError: Requested dask.distributed scheduler but no Client active",
        )
    )


def _are_lost(items: Sequence[Any]) -> bool:
    """Return whether tasks need what is in none of them, and there is no cluster to have it."""
    if client() is not None:
        return False
    for item in items:
        there = dict(item.__dask_graph__())
        needed = set(item.__dask_keys__())
        needed.update(*(getattr(task, "dependencies", ()) for task in there.values()))
        if not needed <= there.keys():
            return True
    return False


def _short(task: Any) -> str:
    words = str(task).split("-")
    return "-".join(word for word in words if not (len(word) == 32 and word.isalnum()))  # noqa: PLR2004


def _times(error: Any) -> str:
    count = int(getattr(error, "allowed_failures", 0)) + 1
    return "once" if count == 1 else f"{count} times"
