"""The fuzzer's command line: run for some seconds or cases, or replay one case."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass

from joblib import cpu_count

from .workers import Result, results, run_case

# One process per core: neither planish nor a BLAS shall start threads of its own.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long to run")
    parser.add_argument("--cases", type=int, help="how many cases to run")
    parser.add_argument("--seed", type=int, help="number of the first case; default: by the clock")
    parser.add_argument("--jobs", type=int, default=cpu_count(), help="number of processes")
    parser.add_argument("--replay", type=int, help="run one case again and show it")
    args = parser.parse_args()
    if args.replay is not None:
        return replay(args.replay)
    if args.seconds is None and args.cases is None:
        parser.error("give --seconds, --cases or --replay")
    first = int(time.time()) * 1000 if args.seed is None else args.seed
    return run(first, args.cases, args.seconds, args.jobs)


def run(first: int, cases: int | None, seconds: float | None, jobs: int) -> int:
    started = time.monotonic()
    seeds = itertools.count(first) if cases is None else iter(range(first, first + cases))
    total, failures, refused, broken = 0, 0, Counter[str](), {}
    for result in results(seeds, jobs, seconds):
        total += 1
        failures += bool(result.broken)
        refused.update([result.refused] if result.refused and not result.broken else [])
        for law, detail in result.broken:
            failure = Failure.of(law, detail, result)
            if failure not in broken:
                print(f"broken: {line(law, detail, result)}", flush=True)
            broken.setdefault(failure, []).append((result.seed, detail))
    took = time.monotonic() - started
    kept = total - failures - refused.total()
    print(f"\n{total} cases from seed {first} in {took:.0f} s ({total / max(took, 1e-9):.0f}/s):")
    reasons = ", ".join(f"{count} {name}" for name, count in refused.most_common())
    print(f"  {kept} kept every law, {refused.total()} were refused ({reasons}),")
    print(f"  {failures} broke one, in {len(broken)} ways")
    for failure, found in sorted(broken.items(), key=lambda item: -len(item[1])):
        some = " ".join(str(seed) for seed, _ in found[:4])
        print(f"  {len(found):6}  {failure.target}: {failure.law}: {found[0][1][:120]}")
        print(f"          seeds {some}")
    if broken:
        print("replay a case: make fuzz REPLAY=seed")
    return 1 if broken else 0


@dataclass(frozen=True)
class Failure:
    """What failures of one kind have in common."""

    law: str
    target: str
    detail: str

    @classmethod
    def of(cls, law: str, detail: str, result: Result) -> Failure:
        return cls(law, result.target, re.sub(r"[\d.]+(e[+-]?\d+)?", "#", detail)[:80])


def line(law: str, detail: str, result: Result) -> str:
    return f"{result.target}: {law}: {detail} [seed {result.seed}]\n    {result.described}"


def replay(seed: int) -> int:
    """Run one case in this process and print all there is to know about it."""
    import numpy as np

    from .cases import case

    made = case(seed)
    np.set_printoptions(precision=17, linewidth=160)
    print(made)
    for name, value in {**made.params, "X": made.X, "new": made.new}.items():
        if hasattr(value, "shape"):
            print(f"{name} = {value.toarray() if hasattr(value, 'toarray') else value!r}")
    result = run_case(seed)
    for law, detail in result.broken:
        print(f"broken: {line(law, detail, result)}")
    if not result.broken:
        print(f"refused: {result.refused}" if result.refused else "every law holds")
    return 1 if result.broken else 0


if __name__ == "__main__":
    sys.exit(main())
