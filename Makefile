# planish: build, test, show and measure. `make help` lists the targets.
#
# Only a CPython (3.10 or newer) and a Rust toolchain are expected. Everything
# else goes into .venv, target and build, which `make clean` removes. A target
# that is up to date costs nothing: what was done is remembered by files in
# build/done.

PYTHON ?= python3
CARGO  ?= cargo
PYTEST_ARGS ?=
SECONDS ?= 60
REPLAY ?=
BENCH_ARGS  ?=

VENV := .venv
BENCH_VENV := build/bench-env
OLDEST_VENV := build/oldest-env
BIN  := $(VENV)/bin
DONE := build/done
WHEELS := build/wheels
SDISTS := build/sdist
SMOKE_VENV := build/smoke-env
SDIST_VENV := build/sdist-env

MIN_PYTHON := 3, 10
MIN_RUST   := 1.89

# The tools of building, testing, linting, packaging and comparing are the
# dependency groups of pyproject.toml; the demo needs matplotlib.

# The oldest C library that Linux wheels run on; see "How things are made".
GLIBC := manylinux2014
# No path of this machine gets into the wheel.
CARGO_FOLDER := $(or $(CARGO_HOME),$(HOME)/.cargo)
REMAP := --remap-path-prefix=$(CURDIR)=planish --remap-path-prefix=$(CARGO_FOLDER)/registry/src=crates

EXAMPLES := $(basename $(notdir $(wildcard examples/*.rs)))

RUST_SOURCES   := $(shell find src -name '*.rs' 2>/dev/null)
PYTHON_SOURCES := $(shell find python -name '*.py' -o -name '*.pyi' -o -name 'py.typed' -o -name 'page.*' 2>/dev/null)
WHEEL_SOURCES  := $(RUST_SOURCES) $(PYTHON_SOURCES) Cargo.toml Cargo.lock pyproject.toml README.md $(wildcard LICENSE*) THIRD-PARTY-NOTICES

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-rust test-python test-oldest test-package test-wheel test-sdist \
	fuzz bench bench-cluster lint format doc wheel sdist notices clean toolchain

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

demo: $(DONE)/wheel $(DONE)/demo-tools  ## embed a Swiss roll and the digits with every method: a table and build/demo.png; the command line in build/demo
	$(BIN)/python examples/demo.py
	$(BIN)/planish demo build/demo

# The last step of the wheel runs on one core for minutes: the Rust tests are
# compiled and run beside it. What both sides need is installed before.
test: toolchain $(DONE)/zig $(DONE)/package-tools  ## everything that must pass: Rust, package, wheel, Python
	@mkdir -p build
	@$(MAKE) --no-print-directory test-wheel $(DONE)/test-tools $(DONE)/data-tools > build/wheel.log 2>&1 & wheel=$$!; \
	$(MAKE) --no-print-directory test-rust test-package; rust=$$?; \
	wait $$wheel || { cat build/wheel.log >&2; exit 1; }; exit $$rust
	@$(MAKE) --no-print-directory test-python
	@echo "All tests passed."

# One profile for every Rust step, so that the dependencies are compiled once:
# `cargo test` builds the examples too, and they are then run as they lie.
test-rust: toolchain  ## Rust unit, integration and documentation tests, the examples, the docs
	@mkdir -p build
	$(CARGO) test --locked
	@for example in $(EXAMPLES); do \
		$(CARGO) run --locked --quiet --profile test --example $$example > build/$$example.log \
			|| { cat build/$$example.log >&2; exit 1; }; \
	done
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --quiet

test-package: toolchain $(DONE)/sdist $(DONE)/package-tools  ## the crate has no Python in it, crate and sdist are whole, notices are up to date
	@mkdir -p build
	@CARGO=$(CARGO) $(BIN)/python tests/notices.py
	@$(BIN)/python tests/artifacts.py $(SDISTS)/*.tar.gz
	@$(CARGO) tree --locked --edges normal --prefix none > build/tree.txt
	@! grep -E '^(pyo3|numpy) ' build/tree.txt \
		|| { echo "the crate without features must not depend on Python" >&2; exit 1; }
	@$(CARGO) package --locked --quiet --list --allow-dirty > build/package.txt
	@for file in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE src/lib.rs examples/swiss_roll.rs; do \
		grep -qx "$$file" build/package.txt \
			|| { echo "the packaged crate would lack $$file" >&2; exit 1; }; \
	done
	@$(CARGO) metadata --locked --format-version 1 | $(PYTHON) -c 'import json, sys; \
number = lambda text: [int(part) for part in text.split(".")][:2]; \
needs = [(p["name"], p["rust_version"]) for p in json.load(sys.stdin)["packages"] if p["rust_version"]]; \
newer = [f"{name} needs Rust {version}" for name, version in needs if number(version) > number("$(MIN_RUST)")]; \
sys.exit("\n".join(newer) or 0)'
	@grep -q '^rust-version = "$(MIN_RUST)"$$' Cargo.toml \
		|| { echo "Cargo.toml and Makefile disagree about the minimum Rust version" >&2; exit 1; }
	@echo "Package: complete, no Python in the plain crate."

test-wheel: $(DONE)/smoke  ## the wheel: contents, policy, stable ABI; every method in an environment with nothing else

# Minutes: the build is the one of a user without a wheel, in an environment of pip's own.
test-sdist: $(DONE)/sdist  ## build from the sdist as pip does, then every method in an environment with nothing else
	rm -rf $(SDIST_VENV)
	$(PYTHON) -m venv $(SDIST_VENV)
	$(SDIST_VENV)/bin/python -m pip install --quiet $(SDISTS)/*.tar.gz
	cp tests/smoke.py $(SDIST_VENV)/
	cd $(SDIST_VENV) && bin/python -I smoke.py

test-python: $(DONE)/wheel $(DONE)/test-tools $(DONE)/data-tools  ## the Python tests, against the wheel that users get
	$(BIN)/python -m pytest tests/python $(PYTEST_ARGS)

test-oldest: $(DONE)/oldest  ## the Python tests with the oldest dependencies pyproject.toml allows (Python 3.10 or 3.11)
	$(OLDEST_VENV)/bin/python -m pytest tests/python $(PYTEST_ARGS)

fuzz: $(DONE)/wheel $(DONE)/test-tools  ## random fits on small nasty data for SECONDS=60, every law checked; REPLAY=case
	cd tests && ../$(BIN)/python -m fuzz $(if $(REPLAY),--replay $(REPLAY),--seconds $(SECONDS))

bench: $(DONE)/bench  ## compare with other libraries (BENCH_ARGS="--quick", "--job NAME", …)
	$(BENCH_VENV)/bin/python benches/compare.py $(BENCH_ARGS)

bench-cluster: $(DONE)/bench  ## planish.dask on 2 and 4 workers against one process, and the cost model
	$(BENCH_VENV)/bin/python benches/cluster.py $(BENCH_ARGS)

lint: $(DONE)/wheel $(DONE)/lint-tools $(DONE)/test-tools  ## formatting, clippy, ruff, mypy, stubs against the extension
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets --all-features --quiet -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy python/planish  # strict, by pyproject.toml
	$(BIN)/python -m mypy.stubtest planish._core --mypy-config-file pyproject.toml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet --pedantic .github/workflows

format: $(DONE)/lint-tools  ## rewrite the sources in the house format
	$(CARGO) fmt
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

doc: toolchain  ## the Rust documentation, in target/doc
	$(CARGO) doc --locked --no-deps

wheel: $(DONE)/smoke  ## the release wheel, in build/wheels, checked and tried out

sdist: $(DONE)/sdist  ## the source distribution, in build/sdist

notices: toolchain  ## write THIRD-PARTY-NOTICES anew, after a change of dependencies
	CARGO=$(CARGO) $(PYTHON) tests/notices.py --write

clean:  ## remove everything that was made here
	rm -rf $(VENV) build target

# ---- how things are made ---------------------------------------------------

toolchain:
	@command -v $(CARGO) >/dev/null 2>&1 || { \
		echo "planish needs a Rust toolchain ($(MIN_RUST) or newer), but there is no '$(CARGO)': install one with rustup and try again." >&2; exit 1; }
	@version=$$($(CARGO) --version | cut -d' ' -f2); \
	printf '%s\n%s\n' "$(MIN_RUST)" "$$version" | sort -CV || { \
		echo "planish needs Rust $(MIN_RUST) or newer, but '$(CARGO)' is $$version: run 'rustup update' and try again." >&2; exit 1; }

$(DONE)/venv: | toolchain
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
		echo "planish needs CPython 3.10 or newer, but there is no '$(PYTHON)': name one with 'make PYTHON=/path/to/python'." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < ($(MIN_PYTHON)))' || { \
		echo "planish needs CPython 3.10 or newer, but '$(PYTHON)' is $$($(PYTHON) -c 'import platform; print(platform.python_version())'): name another with 'make PYTHON=/path/to/python'." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments: install its 'venv' package and try again." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group build
	@mkdir -p $(@D) && touch $@

# zig links against the C library of older systems: a wheel for them without a
# container. Where it cannot be had, or has no say (macOS, Linux with musl), the
# wheel is linked against what the machine has.
$(DONE)/zig: pyproject.toml $(DONE)/venv
	@$(BIN)/python -m pip install --quiet --only-binary :all: --group zig > build/zig.log 2>&1 || true
	@if $(BIN)/python -c 'import platform, ziglang; assert platform.libc_ver()[0] == "glibc"' 2>> build/zig.log; \
		then echo "--zig --compatibility $(GLIBC)"; fi > $@

# Tests, demo and benchmarks all use the wheel of the real release profile:
# what is tested is what is shipped, and it is built once for all three.
$(DONE)/wheel: $(WHEEL_SOURCES) $(DONE)/venv $(DONE)/zig | toolchain
	rm -rf $(WHEELS)
	RUSTFLAGS="$$RUSTFLAGS $(REMAP)" CARGO_ZIGBUILD_PYTHON_PATH=$(CURDIR)/$(BIN)/python \
		$(BIN)/maturin build --release --locked $$(cat $(DONE)/zig) --interpreter $(BIN)/python --out $(WHEELS)
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps $(WHEELS)/*.whl
	$(BIN)/python -m pip install --quiet $(WHEELS)/*.whl
	@touch $@

$(DONE)/smoke: $(DONE)/wheel $(DONE)/package-tools tests/artifacts.py tests/smoke.py
	$(BIN)/python tests/artifacts.py $(WHEELS)/*.whl
	rm -rf $(SMOKE_VENV)
	$(PYTHON) -m venv $(SMOKE_VENV)
	$(SMOKE_VENV)/bin/python -m pip install --quiet $(WHEELS)/*.whl
	cp tests/smoke.py $(SMOKE_VENV)/
	cd $(SMOKE_VENV) && bin/python -I smoke.py
	@touch $@

$(DONE)/sdist: $(WHEEL_SOURCES) $(wildcard tests/it/*.rs tests/it/*/*.rs) CHANGELOG.md $(DONE)/venv | toolchain
	rm -rf $(SDISTS)
	$(BIN)/maturin sdist --out $(SDISTS)
	@touch $@

$(DONE)/%-tools: pyproject.toml $(DONE)/venv
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

# An environment of its own: scikit-learn takes pandas into memory wherever it
# finds it, and the tests need pandas.
$(DONE)/bench: $(DONE)/wheel pyproject.toml
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BENCH_VENV)/bin/python -m pip install --quiet --group bench
	$(BENCH_VENV)/bin/python -m pip install --quiet --force-reinstall --no-deps $(WHEELS)/*.whl
	$(BENCH_VENV)/bin/python -m pip install --quiet $(WHEELS)/*.whl
	@touch $@

# The lower bounds of pyproject.toml have builds for Python 3.10 and 3.11 only.
$(DONE)/oldest: $(DONE)/wheel pyproject.toml tests/oldest.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || { \
		echo "The oldest dependencies have no builds for $$($(PYTHON) -V): name a Python 3.10 or 3.11 with 'make PYTHON=/path/to/python test-oldest'." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python tests/oldest.py > build/oldest.txt
	$(OLDEST_VENV)/bin/python -m pip install --quiet --only-binary :all: --requirement build/oldest.txt
	$(OLDEST_VENV)/bin/python -m pip install --quiet --no-deps $(WHEELS)/*.whl
	@touch $@

$(DONE)/demo-tools: $(DONE)/venv
	$(BIN)/python -m pip install --quiet matplotlib plotly click rich pyarrow
	@touch $@
