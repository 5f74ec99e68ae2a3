"""A short run of the fuzzer, the same cases every time; `make fuzz` runs others, and longer."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def fuzz(*arguments):
    command = [sys.executable, "-m", "fuzz", *map(str, arguments)]
    return subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)


def test_a_short_run_breaks_no_law():
    run = fuzz("--cases", 2000, "--seed", 1)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2000 cases from seed 1" in run.stdout


def test_every_estimator_and_function_is_fuzzed():
    sys.path.insert(0, str(TESTS))
    try:
        from fuzz.registry import targets
    finally:
        sys.path.remove(str(TESTS))
    import planish

    fuzzed = {target.name: target for target in targets()}
    exported = {name for name in planish.__all__ if callable(getattr(planish, name))}
    assert exported - set(fuzzed) == {
        "KNeighborsTransformer",  # makes a graph, as kneighbors does
        "embed",  # takes data frames, and does what the estimators do
        "ResidualVariance",
        "PermutationTest",
        "Stability",
        "Comparison",
        "Description",
        "NeighborSuggestion",
        "ModelInfo",
    } | {"load"}  # results, made by functions; files are fuzzed in test_model_files_refused.py
    # Choices are known without being listed in the fuzzer.
    solver = next(p for p in fuzzed["Isomap"].parameters if p.name == "eigen_solver")
    assert {"auto", "arpack", "dense"} <= set(solver.words)


@pytest.mark.parametrize("seed", [3, 17])
def test_a_case_can_be_replayed(seed):
    first, second = fuzz("--replay", seed), fuzz("--replay", seed)
    assert first.stdout == second.stdout
    assert "X = " in first.stdout
