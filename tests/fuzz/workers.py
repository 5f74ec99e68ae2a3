"""Worker processes: each runs cases one after the other; a crash or a hang costs one case."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

# Seconds after which a case counts as hanging.
PATIENCE = 20.0


@dataclass
class Result:
    """What became of one case, in plain values that cross processes."""

    seed: int
    target: str
    refused: str | None = None
    broken: tuple[tuple[str, str], ...] = ()  # laws, and how each was broken
    described: str = ""


def run_case(seed: int) -> Result:
    """Make the case, run it, and describe it if a law was broken."""
    from .cases import case
    from .laws import check

    made = case(seed)
    outcome = check(made)
    broken = tuple((broken.law, broken.detail) for broken in outcome.broken)
    return Result(seed, made.target.name, outcome.refused, broken, str(made) if broken else "")


def _work(connection: Connection) -> None:
    """Take seeds and send back results until there are no more."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)  # a panic prints its trace, which would fill the screen
    while (seed := connection.recv()) is not None:
        try:
            result = run_case(seed)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            result = Result(seed, "?", None, (("the fuzzer works", text),))
        connection.send(result)


class Worker:
    """A process that runs one case at a time."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.seed: int | None = None
        self.since = time.monotonic()

    def begin(self, seed: int) -> None:
        self.seed, self.since = seed, time.monotonic()
        self.connection.send(seed)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def results(seeds: Iterator[int], jobs: int, seconds: float | None) -> Iterator[Result]:
    """Run the cases of these seeds until there are no more, or the time is over."""
    end = None if seconds is None else time.monotonic() + seconds
    workers = [Worker() for _ in range(jobs)]
    try:
        for worker in workers:
            _next(worker, seeds, end)
        while busy := [worker for worker in workers if worker.seed is not None]:
            ready: list[Any] = wait([worker.connection for worker in busy], timeout=1.0)
            for worker in busy:
                if worker.connection in ready:
                    yield _received(worker)
                elif time.monotonic() - worker.since > PATIENCE:
                    yield _lost(worker, "no hang", f"no answer within {PATIENCE:.0f} s")
                else:
                    continue
                if worker.seed is not None:  # crashed, or hangs
                    worker.stop()
                    worker.start()
                _next(worker, seeds, end)
    finally:
        for worker in workers:
            worker.stop()


def _next(worker: Worker, seeds: Iterator[int], end: float | None) -> None:
    if end is None or time.monotonic() < end:
        seed = next(seeds, None)
        if seed is not None:
            worker.begin(seed)


def _received(worker: Worker) -> Result:
    try:
        result: Result = worker.connection.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join()
        return _lost(worker, "no crash", f"the process ended with {worker.process.exitcode}")
    worker.seed = None
    return result


def _lost(worker: Worker, law: str, detail: str) -> Result:
    assert worker.seed is not None
    return Result(worker.seed, "?", None, ((law, detail),))
