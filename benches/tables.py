"""The tables people read: one report as Markdown, and the kept tables with its lines in them.

docs/benchmarks.md holds every line, README.md a few on two threads. A line is
replaced when its job has run again, and says on which day that was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ENGINES = {"planish": "planish", "sklearn": "scikit-learn and others", "tapkee": "tapkee"}
# Compared with in a few jobs only; they have no column of their own.
OTHERS = {
    "scipy": "SciPy",
    "heap": "planish's heap",
    "pydiffmap": "pyDiffMap",
    "s_gd2": "s_gd2",
    "vegan": "vegan",
    "mass": "MASS",
    "zadu": "ZADU",
    "intelex": "scikit-learn-intelex",
    "openTSNE": "openTSNE",
    "skdim": "scikit-dimension",
    "fit": "with the fit",
    "faiss": "faiss",
    "pynndescent": "pynndescent",
}
#: The jobs that README.md shows.
SHOWN = (
    "t-SNE, MNIST digits 10 000 × 784",
    "Isomap, Swiss roll 10 000 × 3, k = 10",
    "LTSA, Swiss roll 10 000 × 3, k = 10",
    "Metric MDS, Gaussian 5 000 × 50",
)
HEADER = ["job", "threads", *ENGINES.values(), "quality", "target", "met", "measured"]
SHORT_HEADER = ["job", *ENGINES.values(), "quality", "measured"]
START, END = "<!-- bench:start -->", "<!-- bench:end -->"

Row = list[str]


def markdown(report: Mapping[str, Any]) -> str:
    """The whole report as a Markdown table with its conditions below."""
    return table(HEADER, rows_of(report)) + "\n\n" + conditions(report)


def update(report: Mapping[str, Any], titles: Sequence[str], full: Path, short: Path) -> None:
    """Put the report's lines into the kept tables, in the order of the jobs' titles."""
    kept = {(row[0], row[1]): row for row in read_rows(full)}
    kept.update({(row[0], row[1]): row for row in rows_of(report)})
    rows = sorted(
        (row for row in kept.values() if row[0] in titles),
        key=lambda row: (titles.index(row[0]), {"2": 0, "1": 1}.get(row[1], 2)),
    )
    replace(full, table(HEADER, rows) + "\n\n" + conditions(report))
    two = [[row[0], *row[2:6], row[-1]] for row in rows if row[1] == "2" and row[0] in SHOWN]
    replace(short, table(SHORT_HEADER, sorted(two, key=lambda row: SHOWN.index(row[0]))))


def table(header: Row, rows: Iterable[Row]) -> str:
    """Rows as Markdown; a title that is that of the row above is left out."""
    lines, last = [header, ["---"] * len(header)], None
    for row in rows:
        lines.append([row[0] if row[0] != last else "", *row[1:]])
        last = row[0]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def read_rows(path: Path) -> list[Row]:
    """The rows of a kept table, each with its title."""
    rows: list[Row] = []
    for line in between(path)[1].splitlines():
        if not line.startswith("| ") or line.startswith(("| job ", "| --- ")):
            continue
        row = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        rows.append([row[0] or rows[-1][0], *row[1:]])
    return rows


def replace(path: Path, text: str) -> None:
    """Put a text between the markers of a file."""
    before, _, after = between(path)
    path.write_text(f"{before}{START}\n{text}\n{END}{after}")


def between(path: Path) -> tuple[str, str, str]:
    """What stands before, between and after the markers of a file."""
    before, start, rest = path.read_text().partition(START)
    inside, end, after = rest.partition(END)
    if not (start and end):
        raise SystemExit(f"{path.name} has no markers {START} … {END}")
    return before, inside, after


# ---- one line ------------------------------------------------------------


def rows_of(report: Mapping[str, Any]) -> list[Row]:
    """Every line of a report as the cells of a row."""
    return [[*table_row(line), report["date"]] for line in report["lines"]]


def table_row(line: Mapping[str, Any]) -> Row:
    cells = [engine_cell(line, name) for name in ENGINES]
    extra = [
        f"{OTHERS[name]} {engine_cell(line, name)}"
        for name in line["engines"]
        if name not in ENGINES
    ]
    if extra:
        own = [cells[1]] if "sklearn" in line["engines"] else []
        cells[1] = "; ".join([*own, *extra])
    return [
        line["title"],
        str(line["threads"] or "–"),
        *cells,
        quality_cell(line),
        "; ".join(verdict["target"] for verdict in line["targets"]) or "–",
        verdict_cell(line),
    ]


def engine_cell(line: Mapping[str, Any], name: str) -> str:
    """Time (and how many times planish's it is), then peak memory."""
    cell = line["engines"].get(name)
    if cell is None:
        return str(line["absent"].get(name, "–"))
    if "error" in cell:
        return f"failed: {cell['error'][:80]}"
    own = line["engines"].get("planish", {}).get("seconds")
    if "at_least" in cell:
        bound = cell["at_least"]
        return f"stopped after {bound} s" + (f" (> {bound / own:.0f}×)" if own else "")
    text = seconds(cell["seconds"])
    if name == "planish":
        text = f"**{text}**"
    elif own:
        text += f" ({cell['seconds'] / own:.1f}×)"
    return text + (f", {megabytes(cell['peak'])}" if "peak" in cell else "")


def quality_cell(line: Mapping[str, Any]) -> str:
    """The measure's name, its value for each engine that has one, planish's eigenvectors'."""
    cells = {name: cell for name, cell in line["engines"].items() if "quality" in cell}
    if not cells:
        return "–"
    measure = next(iter(cells.values()))["measure"]
    text = f"{measure} " + " / ".join(number(cell["quality"]) for cell in cells.values())
    residual = cells.get("planish", {}).get("solver_residual")
    return text if residual is None else f"{text}; eigenvectors to {number(residual)}"


def verdict_cell(line: Mapping[str, Any]) -> str:
    words = {True: "yes", False: "**no**", None: "unknown"}
    verdicts = [words[verdict["met"]] for verdict in line["targets"]]
    return (verdicts[0] if len(set(verdicts)) == 1 else "; ".join(verdicts)) if verdicts else "–"


def conditions(report: Mapping[str, Any]) -> str:
    """The machine, the versions and how to read a cell."""
    facts = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    text = [
        "Time of the fit (in brackets: times planish's), peak memory of the whole process, "
        "then quality in the order of the columns; where planish tells it, the largest "
        "‖Av − λv‖ of its eigenvectors. "
        "Median of processes of their own, in each of them of a few fits where a fit is short; "
        f"{facts['cpu']}, {facts['cores']} cores; {versions}.",
    ]
    if report["quick"]:
        text.append("Quick run: the sizes are smaller than the titles say.")
    text += notes(report["lines"])
    return " ".join(text)


def notes(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    found: dict[str, None] = {}
    for line in lines:
        for cell in line["engines"].values():
            if cell.get("note"):
                found[f"{line['title']}: {cell['note']}."] = None
    return list(found)


def seconds(value: float) -> str:
    if value >= 10:
        return f"{value:.1f} s"
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1e3:.1f} ms"


def megabytes(value: float) -> str:
    return f"{value / 1e6:,.0f} MB".replace(",", " ")


def number(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) >= 1e-3 else f"{value:.0e}"
