"""Check wheels and sdists before anybody installs them.

    python tests/artifacts.py [--complete] FILE...

Of a wheel: its files are those of the source tree, its metadata name the version of
Cargo.toml and every licence, the extension holds no path of the machine it was built on; then
twine, abi3audit and auditwheel have their say. Of an sdist: it holds all that a build needs
and nothing that was built. With --complete nothing that a release has may be missing. The
tools are the dependency group `package`.
"""

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LICENCES = {"LICENSE", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES"}
EXTENSION = re.compile(r"planish/_core\.(abi3\.so|pyd|cpython-\d+t[-\w]*\.so|cp\d+t-\w+\.pyd)")
TAGS = re.compile(r"(?P<python>cp310-abi3|cp314-cp314t)-(?P<platform>[\w.]+)")
#: What the platforms of a release begin and end with.
PLATFORMS = [
    ("manylinux", "x86_64"),
    ("manylinux", "aarch64"),
    ("musllinux", "x86_64"),
    ("musllinux", "aarch64"),
    ("macosx", "x86_64"),
    ("macosx", "arm64"),
    ("win", "amd64"),
    ("win", "arm64"),
]
#: The newest C library a Linux wheel may ask for.
NEWEST_GLIBC = (2, 28)
LARGEST = 30 << 20
#: Folders of users and of cargo, which only a path of the building machine contains.
FOREIGN = [b"/home/", b"/root/", b"/Users/", b":\\Users\\", b".cargo/registry", b".cargo\\registry"]


def version():
    """The version, which stands in Cargo.toml only."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]


def build_paths():
    """What may not appear in a file that is handed out."""
    here = [ROOT, Path.home(), os.environ.get("CARGO_HOME", Path.home() / ".cargo")]
    named = {str(folder).encode() for folder in here if len(Path(folder).parts) > 1}
    return sorted(named) + FOREIGN


def package_files():
    """The files of the Python package, as a wheel names them."""
    built = ("__pycache__", ".so", ".pyd")
    found = (ROOT / "python" / "planish").rglob("*")
    names = (file.relative_to(ROOT / "python").as_posix() for file in found if file.is_file())
    return {name for name in names if not any(mark in name for mark in built)}


def metadata_faults(text):
    """What is wrong with METADATA or PKG-INFO."""
    fields = email.message_from_string(text)
    wanted = {
        "Name": "planish",
        "Version": version(),
        "License-Expression": "MIT OR Apache-2.0",
        "Requires-Python": ">=3.10",
    }
    for field, value in wanted.items():
        if fields[field] != value:
            yield f"{field} is {fields[field]}, not {value}"
    if missing := LICENCES - set(fields.get_all("License-File", [])):
        yield f"License-File does not name {', '.join(sorted(missing))}"
    if not (fields.get_payload() or "").strip():
        yield "there is no description"


def content_faults(name, data):
    """Build paths in one file."""
    for path in build_paths():
        # The generic ones are looked for where only code can have put them.
        if path in data and (path not in FOREIGN or EXTENSION.fullmatch(name)):
            around = data[data.index(path) :][:80]
            yield f"{name} contains a path of the build: {around!r}"


def wheel_faults(file):
    """What is wrong with a wheel."""
    tags = TAGS.search(file.name)
    if not tags:
        yield "the tags are neither cp310-abi3 nor cp314-cp314t"
        return
    glibc = [tuple(map(int, found)) for found in re.findall(r"manylinux_(\d+)_(\d+)", file.name)]
    asks_for_glibc = "linux" in tags["platform"] and "musllinux" not in tags["platform"]
    if asks_for_glibc and (not glibc or min(glibc) > NEWEST_GLIBC):
        yield f"{tags['platform']} asks for more than glibc 2.28"
    if file.stat().st_size > LARGEST:
        yield f"{file.stat().st_size >> 20} MB are too many"
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        information = next(name for name in names if name.endswith(".dist-info/METADATA"))
        yield from metadata_faults(archive.read(information).decode())
        folder = information.removesuffix("METADATA")
        for licence in LICENCES:
            if f"{folder}licenses/{licence}" not in names:
                yield f"{licence} is not in it"
        package = {name for name in names if not name.startswith(folder)}
        extensions = {name for name in package if EXTENSION.fullmatch(name)}
        if len(extensions) != 1:
            yield f"extension modules: {sorted(extensions) or 'none'}"
        if "musllinux" in file.name and any("-gnu" in name for name in extensions):
            yield f"{sorted(extensions)} would not be found by a Python of musl"
        yield from difference(package - extensions, package_files())
        for name in names:
            yield from content_faults(name, archive.read(name))


def difference(found, wanted):
    """Files too few and too many."""
    yield from (f"{name} is missing" for name in sorted(wanted - found))
    yield from (f"{name} does not belong there" for name in sorted(found - wanted))


def sdist_faults(file):
    """What is wrong with an sdist."""
    with tarfile.open(file) as archive:
        members = {
            PurePosixPath(*PurePosixPath(member.name).parts[1:]).as_posix(): member
            for member in archive
            if member.isfile()
        }
        yield from metadata_faults(archive.extractfile(members["PKG-INFO"]).read().decode())
        for name, member in members.items():
            yield from content_faults(name, archive.extractfile(member).read())
    wanted = {f"python/{name}" for name in package_files()} | LICENCES
    sources = [*(ROOT / "src").rglob("*.rs"), *(ROOT / "tests" / "it").rglob("*.rs")]
    wanted |= {source.relative_to(ROOT).as_posix() for source in sources}
    wanted |= {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "CHANGELOG.md"}
    for name in sorted(wanted - members.keys()):
        yield f"{name} is missing"
    built = (".so", ".pyd", ".pyc", ".whl")
    for name in sorted(members):
        if name.endswith(built) or name.startswith(("target/", "build/")):
            yield f"{name} was built and does not belong there"


def tool_faults(file):
    """What twine, abi3audit and auditwheel find."""
    checks = [("twine", "check", "--strict", str(file))]
    if "-abi3-" in file.name:
        checks.append(("abi3audit", "--strict", str(file)))
    linux = "linux" in file.name and file.suffix == ".whl"
    if linux and sys.platform == "linux":
        checks.append(("auditwheel", "show", str(file)))
    for tool, *arguments in checks:
        command = [sys.executable, "-m", tool, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode:
            yield f"{tool} refuses it:\n{said}"
        elif tool == "auditwheel":
            yield from policy_faults(file.name, " ".join(said.split()))


def policy_faults(name, said):
    """Whether auditwheel agrees with the platform in the wheel's name."""
    found = re.search(r'following platform tag: "([^"]+)"', said)
    if not found or found[1] not in name:
        yield f"auditwheel finds {found[1] if found else said}"


def missing(names):
    """The files of a release that are not there."""
    if f"planish-{version()}.tar.gz" not in names:
        yield "the sdist is missing"
    for python in ("cp310-abi3", "cp314-cp314t"):
        for system, machine in PLATFORMS:
            begins, ends = f"planish-{version()}-{python}-{system}", f"{machine}.whl"
            if not any(name.startswith(begins) and name.endswith(ends) for name in names):
                yield f"the wheel for {python} on {system} {machine} is missing"


def main():
    complete = sys.argv[1:2] == ["--complete"]
    files = [Path(name) for name in sys.argv[1 + complete :]]
    if not files:
        sys.exit(__doc__)
    faults = list(missing([file.name for file in files])) if complete else []
    for file in files:
        own = wheel_faults if file.suffix == ".whl" else sdist_faults
        found = [*own(file), *tool_faults(file)]
        faults += [f"{file.name}: {fault}" for fault in found]
        if not found:
            print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB, as it should be")
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
