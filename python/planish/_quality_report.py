"""The usual measures of a map at once, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._docs import documented
from ._quality import Comparison, Score, codes, compare
from ._types import MatrixLike, Metric, RandomState

# Beyond this many rows the measures that rank all pairs look at a sample of this many.
_MANY_ROWS = 5_000
_SAMPLE = 1_000
_USUAL_NEIGHBORS = 10

# Names, whether 0 or 1 is best.
_RANKS = {
    "trustworthiness": 1.0,
    "continuity": 1.0,
    "mrre_false": 0.0,
    "mrre_missing": 0.0,
    "lcmc": None,
    "imbalance_x_to_y": 0.0,
    "imbalance_y_to_x": 0.0,
}
_DISTANCES = {"pearson": 1.0, "residual_variance": 0.0, "normalized": 0.0, "scaled": 0.0}
_TITLES = {"normalized": "stress (normalized)", "scaled": "stress (scaled)"}


@dataclass(frozen=True)
class Line:
    """One measure of a report.

    Attributes
    ----------
    score : Score
        Its value.
    best : float
        The value of a perfect map.
    chance : float or None
        The expected value of a random permutation of the rows, where it is known.
    """

    score: Score
    best: float
    chance: float | None

    @property
    def above_chance(self) -> float | None:
        """The way from chance to the best, in per cent."""
        if self.chance is None or self.best == self.chance:
            return None
        return 100 * (float(self.score) - self.chance) / (self.best - self.chance)


class Report:
    """Measures of a map by name; it prints as a table.

    Attributes
    ----------
    lines : dict of str to Line
        Each measure with its score, the best value and that of chance.
    n_neighbors : int
        The number of neighbours that count.
    """

    def __init__(self, lines: dict[str, Line], n_neighbors: int) -> None:
        self.lines = lines
        self.n_neighbors = n_neighbors

    def __getitem__(self, name: str) -> Score:
        return self.lines[name].score

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def to_dict(self) -> dict[str, float]:
        """Return the values by name."""
        return {name: float(line.score) for name, line in self.lines.items()}

    def to_frame(self) -> Any:
        """Return the table as a data frame, of pandas or else of polars."""
        columns: dict[str, list[Any]] = {
            "measure": list(self.lines),
            "value": [float(line.score) for line in self.lines.values()],
            "standard_error": [line.score.standard_error for line in self.lines.values()],
            "best": [line.best for line in self.lines.values()],
            "chance": [line.chance for line in self.lines.values()],
            "above_chance": [line.above_chance for line in self.lines.values()],
        }
        try:
            import pandas as frames
        except ImportError:
            try:
                import polars as frames  # type: ignore[no-redef, unused-ignore]
            except ImportError:
                raise ImportError(
                    "to_frame needs pandas or polars; install one of them, or use to_dict"
                ) from None
        return frames.DataFrame(columns)

    def __str__(self) -> str:
        rows = [("measure", "value", "best", "chance", "above chance")]
        for name, line in self.lines.items():
            title = _TITLES.get(name, name.replace("_", " "))
            error = line.score.standard_error
            value = f"{float(line.score):.4f}" + (f" ± {error:.1g}" if error else "")
            share = line.above_chance
            chance = "–" if line.chance is None else f"{line.chance:.3f}"
            percent = "–" if share is None else f"{round(share)} %"
            rows.append((title, value, f"{line.best:.3g}", chance, percent))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        text = [f"quality with {self.n_neighbors} neighbours"]
        for row in rows:
            cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
            cells += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
            text.append("  ".join(cells).rstrip())
        return "\n".join(text)

    __repr__ = __str__


@documented
def report(
    X: MatrixLike,
    Y: ArrayLike | Any,
    labels: ArrayLike | None = None,
    *,
    n_neighbors: int | None = None,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    sample: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Report:
    """Compute the usual measures of a map at once.

    They share the neighbours and the passes over the pairs. Beyond 5 000 rows the rank
    correlation and the area under R_NX are those of a seeded sample of 1 000 rows, with their
    standard error, unless `sample` says otherwise.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        {quality_X}
    Y : array-like of shape (n_samples, n_components), or fitted estimator
        {quality_Y}
    labels : array-like of shape (n_samples,), default=None
        The class of each row, for the neighbourhood hit.
    n_neighbors : int, default=None
        Number of neighbours of each row that count, fewer than half of the rows; None means 10,
        or fewer where there are few rows.
    metric : str or callable, default="euclidean"
        {metric}
    metric_params : dict, default=None
        {metric_params}
    sample : int, default=None
        {quality_sample}
    random_state : int or RandomState, default=None
        {quality_seed}
    n_jobs : int, default=None
        {n_jobs_as_estimators}

    Returns
    -------
    report : Report
        Prints as a table; ``report["trustworthiness"]`` is a score, ``to_dict()`` has the values
        and ``to_frame()`` a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from planish.quality import report
    >>> sheet = np.random.default_rng(0).random((200, 2))
    >>> found = report(np.column_stack([sheet, np.sin(sheet[:, 0])]), sheet)
    >>> bool(found["trustworthiness"] > 0.99), "continuity" in found.to_dict()
    (True, True)
    """
    both = compare(X, Y, metric, metric_params, sample, random_state, n_jobs)
    rows = len(both.map)
    k = min(_USUAL_NEIGHBORS, max(1, (rows - 1) // 2)) if n_neighbors is None else n_neighbors
    numbers = None if labels is None else both.rows_used(codes(labels, both.rows))
    wanted = [*_RANKS, *_DISTANCES, *([] if numbers is None else ["neighborhood_hit"])]
    scores = both.scores(wanted, k, numbers)
    scores.update(_of_all_pairs(both, rows))
    chance = _chance(rows, int(k), numbers)
    best = {**_RANKS, **_DISTANCES, "lcmc": 1 - k / (rows - 1)}
    order = ["neighborhood_hit", "rank_curve_area", "spearman"]
    names = [*_RANKS, *order, *_DISTANCES]
    lines = {
        name: Line(scores[name], best.get(name) if name in best else 1.0, chance.get(name))  # type: ignore[arg-type]
        for name in names
        if name in scores
    }
    return Report(lines, int(k))


def _of_all_pairs(both: Comparison, rows: int) -> dict[str, Score]:
    from dataclasses import replace

    if both.sample is None and rows > _MANY_ROWS:
        both = replace(both, sample=_SAMPLE)
    return both.scores(["spearman", "rank_curve_area"] if rows > 2 else ["spearman"])  # noqa: PLR2004


def _chance(n: int, k: int, labels: Any) -> dict[str, float]:
    """Give the expected values when the rows of the map are permuted at random."""
    ranks = np.arange(1, k + 1)
    # The mean of |rank - m| over ranks 1, …, n - 1.
    gaps = ((ranks - 1) * ranks + (n - 1 - ranks) * (n - ranks)) / (2 * (n - 1))
    error = float((gaps / ranks).sum() / (np.abs(n - 2 * ranks) / ranks).sum())
    trust = 1 - (n - 1 - k) * (n - k) / ((n - 1) * (2 * n - 3 * k - 1))
    found = dict.fromkeys(("lcmc", "rank_curve_area", "spearman", "pearson"), 0.0)
    found |= dict.fromkeys(("trustworthiness", "continuity"), float(trust))
    found |= dict.fromkeys(("mrre_false", "mrre_missing"), error)
    found |= dict.fromkeys(("imbalance_x_to_y", "imbalance_y_to_x", "residual_variance"), 1.0)
    if labels is not None:
        sizes = np.bincount(labels)
        found["neighborhood_hit"] = float((sizes * (sizes - 1)).sum() / (n * (n - 1)))
    return found
