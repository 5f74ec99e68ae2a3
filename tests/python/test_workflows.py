"""What the workflows of continuous integration and of releases must not lose."""

import os
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "workflows"
TARGETS = {
    f"{machine}-{system}"
    for machine in ("x86_64", "aarch64")
    for system in ("unknown-linux-gnu", "unknown-linux-musl", "apple-darwin", "pc-windows-msvc")
}
PUBLISHERS = ("pypa/gh-action-pypi-publish", "rust-lang/crates-io-auth-action", "cargo publish")


def workflow(name):
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def steps(content):
    """(job, step) of a workflow."""
    return [(job, step) for job in content["jobs"].values() for step in job["steps"]]


def commands(content):
    return "\n".join(step.get("run", "") for _, step in steps(content))


@pytest.fixture(scope="module")
def release():
    return workflow("release.yml")


@pytest.fixture(scope="module", params=sorted(file.name for file in FOLDER.glob("*.yml")))
def each(request):
    return workflow(request.param)


def test_every_platform_gets_both_wheels(release):
    job = release["jobs"]["wheels"]
    assert {entry["target"] for entry in job["strategy"]["matrix"]["include"]} == TARGETS
    builds = [step["with"] for step in job["steps"] if "maturin-action" in step.get("uses", "")]
    assert len(builds) == 2
    assert sum("--interpreter python3.14t" in build["args"] for build in builds) == 1
    for build in builds:
        assert build["target"] == "${{ matrix.target }}"
        assert "--release --locked" in build["args"]


def test_linux_wheels_run_on_old_systems(release):
    matrix = release["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    policy = re.search(r"^GLIBC := (\w+)$", makefile, re.MULTILINE)[1]
    for entry in matrix:
        if entry["target"].endswith("linux-gnu"):
            assert entry["arguments"] == f"--zig --compatibility {policy}"
        if entry["target"].endswith("linux-musl"):
            assert entry["libc"] == "musllinux_1_2"


def test_every_build_has_the_zig_of_make_wheel(release):
    build = "\n".join(step.get("run", "") for step in release["jobs"]["wheels"]["steps"])
    assert "--group zig" in build
    # The action installs an older one beside whichever Python comes first; this is asked instead.
    assert "CARGO_ZIGBUILD_PYTHON_PATH=" in build


def test_wheels_are_tried_with_all_they_depend_on(release):
    assert "--no-deps" not in commands(release)


def test_nothing_is_published_untested(release):
    jobs = release["jobs"]
    assert set(jobs["check"]["needs"]) == {"wheels", "sdist"}
    assert "tests/artifacts.py --complete" in commands(release)
    assert commands(release).count("-I smoke.py") == 2  # Alpine, and all others
    for name, job in jobs.items():
        publishes = any(word in str(job["steps"]) for word in PUBLISHERS)
        if publishes and name != "check":
            assert "check" in job["needs"]
            assert job["if"] == "github.event_name == 'push'"
            assert job["environment"]
            assert job["permissions"]["id-token"] == "write"
    assert "cargo publish --locked --dry-run" in str(jobs["check"]["steps"])


def test_only_publishing_may_more_than_read(each):
    assert each["permissions"] == {"contents": "read"}
    for job in each["jobs"].values():
        allowed = job.get("permissions", {})
        writes = {name for name, level in allowed.items() if level == "write"}
        assert writes <= {"id-token"}
        assert bool(writes) == ("environment" in job)


def test_there_are_no_secrets_and_every_action_is_pinned(each):
    for file in FOLDER.glob("*.yml"):
        text = file.read_text(encoding="utf-8")
        assert "secrets." not in text
        for line in re.findall(r"uses: .*", text):
            assert re.fullmatch(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line
    for _, step in steps(each):
        if "actions/checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_one_action_has_one_version():
    pins = {}
    for file in FOLDER.glob("*.yml"):
        for name, commit in re.findall(r"uses: ([\w./-]+)@(\w+)", file.read_text("utf-8")):
            pins.setdefault(name, set()).add(commit)
    assert all(len(commits) == 1 for commits in pins.values()), pins


def test_what_is_run_is_there(each):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = re.findall(r"\bmake ([a-z][a-z-]*)", commands(each))
    for job in each["jobs"].values():
        named += job.get("strategy", {}).get("matrix", {}).get("target", [])
    assert set(named) <= targets
    for script in re.findall(r"(?:\.ci|tests)/[\w./-]+", commands(each)):
        assert (ROOT / script).exists(), script
    groups = re.search(r"^\[dependency-groups\]\n(.*?)^\[", project(), re.M | re.S)[1]
    for group in re.findall(r"--group (\w+)", commands(each)):
        assert re.search(rf"^{group} = ", groups, re.MULTILINE), group


def test_continuous_integration_is_what_a_contributor_runs():
    assert {"make test", "make lint"} <= set(commands(workflow("ci.yml")).splitlines())
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("exec make test")
    for script in ("run", "packages"):
        assert os.access(ROOT / ".ci" / script, os.X_OK)


def project():
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_version_stands_in_one_place():
    declared = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert 'dynamic = ["version"]' in project()
    sources = [*(ROOT / "python").rglob("*.py"), *(ROOT / "src").rglob("*.rs")]
    for file in [*sources, ROOT / "pyproject.toml", ROOT / "Makefile"]:
        text = file.read_text(encoding="utf-8")
        assert not re.search(rf'version\w* = "{re.escape(declared[1])}"', text), file
