"""The licences of the crates that are linked into the wheels.

    python tests/notices.py           # THIRD-PARTY-NOTICES says exactly what is linked
    python tests/notices.py --write   # write it anew, which `make notices` does

Every licence file of a crate is taken as it is, those of code that a crate took over from
elsewhere included. Of a choice of licences the MIT one is made use of. cargo-about would
leave out files beside the main licence (faer has four).
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTICES = ROOT / "THIRD-PARTY-NOTICES"
TARGETS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
)
LICENCE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
NOT_CHOSEN = re.compile(r"(apache|unlicense|zlib|bsd|copying$)", re.IGNORECASE)
KNOWN = {"MIT", "Apache-2.0", "Zlib", "BSD-2-Clause", "Unlicense", "Unicode-3.0"}
RULE, LINE = "=" * 80, "-" * 80
HEAD = """Third-party notices of planish

The wheels of planish contain code of the Rust standard library and of the Rust crates below,
each under the licences given here. The sources of a crate are at the address beside its name
and wherever Rust crates are published. Made by `make notices`.
"""
MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this
software and associated documentation files (the "Software"), to deal in the Software
without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons
to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE."""


def cargo(*arguments):
    """What cargo prints."""
    command = [os.environ.get("CARGO", "cargo"), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def linked():
    """Name and version of each crate in a wheel, and of those that wrote code for one."""
    targets = [word for target in TARGETS for word in ("--target", target)]
    options = ("--locked", "--edges", "normal", "--features", "python")
    printed = cargo("tree", *options, "--prefix", "none", "--format", "{p}", *targets)
    crates = {tuple(line.split()[:2]) for line in printed.splitlines() if line}
    return {(name, number.removeprefix("v")) for name, number in crates if name != "planish"}


def licence_texts(crate):
    """The licence texts of a crate."""
    terms = crate["license"] or ""
    names = set(re.findall(r"[\w.-]+", terms)) - {"OR", "AND"}
    if names - KNOWN:
        sys.exit(f"{crate['name']} has a licence nobody has looked at: {terms or 'none'}")
    folder = Path(crate["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and LICENCE.match(file.name))
    if re.search(r"OR|/", terms) and "MIT" in names:
        files = [file for file in files if not NOT_CHOSEN.search(file.name)]
    texts = [file.read_text(encoding="utf-8").strip() for file in files]
    if "MIT" in names and not any("hereby granted, free of charge" in text for text in texts):
        # It names the licence without its text, or brings those of others only.
        people = ", ".join(crate["authors"]) or f"the authors of {crate['name']}"
        texts.insert(0, f"Copyright (c) {people}\n\n{MIT}")
    if not texts:
        sys.exit(f"{crate['name']} has no licence text")
    return texts


def written():
    """The whole file."""
    wanted = linked()
    crates = json.loads(cargo("metadata", "--locked", "--format-version", "1"))["packages"]
    groups = {}
    for crate in sorted(crates, key=lambda crate: (crate["name"], crate["version"])):
        if (crate["name"], crate["version"]) in wanted:
            for text in licence_texts(crate):
                key = " ".join(text.split())
                groups.setdefault(key, (text, []))[1].append(crate)
    standard = "- the Rust standard library  https://github.com/rust-lang/rust"
    rust = f"Copyright (c) The Rust Project Contributors\n\n{MIT}\n"
    parts = [HEAD, "\n".join([RULE, standard, LINE, "", rust])]
    for text, users in groups.values():
        named = [f"- {crate['name']} {crate['version']}  {address(crate)}" for crate in users]
        lines = [line.rstrip() for line in text.splitlines()]
        parts.append("\n".join([RULE, *named, LINE, "", *lines, ""]))
    return "\n".join(parts)


def address(crate):
    """Where the sources are."""
    return crate["repository"] or crate["homepage"] or ""


def main():
    text = written()
    if sys.argv[1:] == ["--write"]:
        NOTICES.write_text(text, encoding="utf-8")
    elif not NOTICES.is_file() or NOTICES.read_text(encoding="utf-8") != text:
        sys.exit("THIRD-PARTY-NOTICES is not what is linked: run `make notices` and commit it.")
    print(f"THIRD-PARTY-NOTICES: {len(linked())} crates, each with its licence.")


if __name__ == "__main__":
    main()
