"""The shortest edges that join the components of a graph of rows in blocks.

Bridges are found as neighbours are, by pairs of blocks: each reports the closest pair of
every component it sees, and the client joins what is closest, round by round. They are the
edges that one machine adds. Cost: a search by pairs of blocks for each of at most
log2(components) rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core, _data
from .._warn import warn
from ..exceptions import DisconnectedGraphWarning
from ._blocks import Blocks
from ._neighbors import Rule
from ._run import Run, compute, shared

REMEDY = "raise `n_neighbors` (or `radius` where it is used) to connect them"

#: Length, the two rows, and the components that these are in.
Link = tuple[float, int, int, int, int]


def spanning_links(
    blocks: Blocks, labels: list[Any], count: int, rule: Rule, run: Run
) -> list[Link]:
    """Return the minimum spanning tree over the components, by Borůvka's rounds.

    `labels` is a task for each block: the component, of `count`, that each row is in.
    """
    group = np.arange(count)  # the component that each one is part of by now
    tree: list[Link] = []
    level = 0
    while len(np.unique(group)) > 1:
        tasks = []
        groups = shared(group.copy())
        for a in range(len(blocks)):
            for b in range(a, len(blocks)):
                if a == b and len(blocks) > 1:
                    continue
                pair = (a,) if a == b else (a, b)
                bounds = [(int(blocks.starts[c]), int(blocks.starts[c + 1])) for c in pair]
                link = run.task(_closest, "bridge", level, a, b)
                parts = [part for c in pair for part in (labels[c], blocks.parts[c])]
                tasks.append(link(bounds, groups, rule, *parts))
        best: dict[int, Link] = {}
        for found in compute(tasks):
            for component, one in found.items():
                if component not in best or one < best[component]:
                    best[component] = one
        before = len(tree)
        for link_found in sorted(set(best.values())):
            one_end, other_end = group[link_found[3]], group[link_found[4]]
            if one_end != other_end:
                group[group == other_end] = one_end
                tree.append(link_found)
        assert len(tree) > before  # every component has a closest row outside
        level += 1
    return sorted(tree)


def _closest(bounds: list[tuple[int, int]], group: Any, rule: Rule, *parts: Any) -> dict[int, Link]:
    """Return for each component in some blocks its closest pair with another in them.

    `parts` are the labels of a block and its rows, in turn.
    """
    original, rows = np.concatenate(parts[::2]), np.concatenate(parts[1::2])
    number = np.concatenate([np.arange(*bound) for bound in bounds])
    known, own = np.unique(group[original], return_inverse=True)
    if len(known) == 1:
        return {}
    ones, others, lengths = _core.closest_foreign(
        _data.points(rows), own.astype(np.int64), len(known), rule.metric, rule.p, rule.threads
    )
    found = {}
    for label, one, other, length in zip(known, ones, others, lengths, strict=True):
        # The lower row first: blocks come in order.
        low, high = sorted((int(one), int(other)))
        found[int(label)] = (
            float(length), int(number[low]), int(number[high]),
            int(original[low]), int(original[high]),
        )  # fmt: skip
    return found


def warn_of_bridges(sizes: Any, links: list[Link]) -> None:
    warn(
        "the number of connected components of the neighbourhood graph is "
        f"{len(sizes)} > 1 (sizes {in_words(sizes)}); they were connected by {len(links)} added "
        f"edge(s) (longest {links[-1][0]:.3e}); raise `n_neighbors` (or `radius` where it is used) "
        "if they belong together, or embed them one by one",
        DisconnectedGraphWarning,
    )


def rows_of_links(links: list[Link]) -> Any:
    """Return the two rows of each edge."""
    return np.array([link[1:3] for link in links], dtype=np.int64).reshape(-1, 2)


def in_words(sizes: Any) -> str:
    """Return the largest few sizes, written out."""
    ordered = sorted((int(size) for size in sizes), reverse=True)
    return ", ".join(map(str, ordered[:5])) + (", …" if len(ordered) > 5 else "")  # noqa: PLR2004
