"""Small nasty data: points, and the matrices that are made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass
class Points:
    """Training rows and new rows as plain arrays, and a length typical of them."""

    rows: np.ndarray
    new: np.ndarray
    notes: list[str]

    @property
    def length(self) -> float:
        """Return the median distance between neighbouring rows in the list, or 1."""
        steps = np.abs(np.diff(self.rows, axis=0)).max(axis=1, initial=0.0)
        steps = steps[np.isfinite(steps) & (steps > 0)]
        return float(np.median(steps)) if steps.size else 1.0


def chance(rng: np.random.Generator, p: float) -> bool:
    return bool(rng.random() < p)


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


# ---- points ------------------------------------------------------------------------------------


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def lattice(rng, n, d):
    return rng.integers(0, 4, size=(n, d)).astype(float)


def few_distinct(rng, n, d):
    return rng.normal(size=(min(n, 3), d))[rng.integers(0, min(n, 3), size=n)]


def equal(rng, n, d):
    return np.tile(rng.normal(size=d), (n, 1))


def line(rng, n, d):
    return np.linspace(0, 1, n)[:, None] * rng.normal(size=d)


def circle(rng, n, d):
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros((n, d))])[:, : max(d, 2)]


def sheet(rng, n, d):
    u, v = 3 * rng.random(n), rng.random(n)
    return np.column_stack([np.cos(u), np.sin(u), v, np.zeros((n, d))])[:, : max(d, 3)]


def clusters(rng, n, d):
    centres = rng.normal(size=(int(rng.integers(2, 5)), d)) * 10.0 ** rng.integers(1, 6)
    return centres[rng.integers(0, len(centres), size=n)] + rng.normal(size=(n, d))


def binary(rng, n, d):
    return (rng.random((n, d)) < 0.4).astype(float)


def sparse_rows(rng, n, d):
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)


def zeros(rng, n, d):
    return np.zeros((n, d))


SHAPES = (normal, normal, sheet, sheet, lattice, few_distinct, equal, line, circle, clusters,
          clusters, binary, sparse_rows, zeros)  # fmt: skip


def scaled(rng, X):
    return X * 10.0 ** pick(rng, (-300, -200, -160, -30, -6, 6, 30, 100, 150, 200, 300))


def far_from_origin(rng, X):
    return X + 10.0 ** rng.integers(2, 12)


def constant_column(rng, X):
    X[:, int(rng.integers(X.shape[1]))] = pick(rng, (0.0, 1.0, -1e6))
    return X


def zero_rows(rng, X):
    X[rng.random(len(X)) < 0.3] = 0.0
    return X


def duplicates(rng, X):
    return X[rng.integers(0, max(1, len(X) // 2), size=len(X))]


def near_duplicates(rng, X):
    return duplicates(rng, X) * (1 + 1e-15 * rng.integers(-4, 5, size=X.shape))


def outlier(rng, X):
    X[int(rng.integers(len(X)))] += 10.0 ** pick(rng, (2, 4, 8, 16, 100))
    return X


def uneven_columns(rng, X):
    return X * 10.0 ** rng.integers(-8, 9, size=X.shape[1])


def proportional_rows(rng, X):
    return X[rng.integers(0, max(1, len(X) // 2), size=len(X))] * rng.integers(
        1, 4, size=(len(X), 1)
    )


def minus_zero(rng, X):
    return np.where(X == 0, -0.0, X)


def not_finite(rng, X):
    row, column = (int(rng.integers(size)) for size in X.shape)
    X[row, column] = pick(rng, (np.nan, np.inf, -np.inf))
    return X


TWISTS = (scaled, far_from_origin, constant_column, zero_rows, duplicates, duplicates,
          near_duplicates, outlier, uneven_columns, proportional_rows, minus_zero)  # fmt: skip


def points(rng: np.random.Generator) -> Points:
    """Return between 1 and 40 rows, with none, one or two difficulties."""
    n = int(rng.integers(1, 7)) if chance(rng, 0.15) else int(rng.integers(6, 41))
    d = int(rng.integers(10, 60)) if chance(rng, 0.1) else int(rng.integers(1, 6))
    shape = pick(rng, SHAPES)
    everything = shape(rng, n + 4, d).astype(float)
    rows, new, notes = everything[:n].copy(), everything[n:].copy(), [shape.__name__]
    with np.errstate(all="ignore"):
        for _ in range(int(pick(rng, (0, 0, 1, 1, 2)))):
            twist = pick(rng, TWISTS)
            notes.append(twist.__name__)
            both = twist(rng, np.vstack([rows, new]))
            both = np.where(np.isfinite(both), both, 0.0)
            rows, new = both[:n], both[n:]
        if chance(rng, 0.03):
            notes.append("not_finite")
            rows = not_finite(rng, rows.copy())
        between = (rows[:1] + rows[-1:]) / 2
        far = rows[:1] * 3 + new[:1]
        new = np.vstack([new, rows[:1], between, far])
    return Points(rows, np.where(np.isfinite(new), new, 0.0), notes)


# ---- forms of points ---------------------------------------------------------------------------


def as_csr(X):
    return sparse.csr_array(X)


def as_csc(X):
    return sparse.csc_matrix(X)


def with_stored_zeros(X):
    rows, columns = np.indices(X.shape)
    stored = (X.ravel(), (rows.ravel(), columns.ravel()))
    return sparse.coo_array(stored, shape=X.shape).tocsr()


def as_float32(X):
    with np.errstate(all="ignore"):
        return X.astype(np.float32)


def every_other_column(X):
    return np.repeat(X, 2, axis=1)[:, ::2]


def as_integers(X):
    return np.clip(np.nan_to_num(X), -1e9, 1e9).astype(np.int64)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


FORMS = (np.asarray, np.asarray, np.asarray, np.asfortranarray, every_other_column, as_float32,
         as_csr, as_csc, with_stored_zeros, as_integers, read_only)  # fmt: skip


# ---- matrices ----------------------------------------------------------------------------------


def lengths(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return Euclidean distances, without overflow."""
    with np.errstate(all="ignore"):
        peak = max(np.abs(A).max(initial=0.0), np.abs(B).max(initial=0.0))
        peak = peak if np.isfinite(peak) and peak > 0 else 1.0
        difference = A[:, None, :] / peak - B[None, :, :] / peak
        return np.sqrt((difference**2).sum(axis=-1)) * peak


def distances(rng: np.random.Generator, given: Points) -> tuple[Any, Any]:
    D, new = lengths(given.rows, given.rows), lengths(given.new, given.rows)
    if chance(rng, 0.3):
        with np.errstate(all="ignore"):
            power = pick(rng, (0.5, 2.0, 3.0))
            D, new = D**power, new**power
        given.notes.append(f"power {power}")
    if chance(rng, 0.15):
        defect = pick(rng, DEFECTS)
        defect(rng, D)
        given.notes.append(defect.__name__)
    if chance(rng, 0.15):
        return as_float32(D), as_float32(new)
    return D, new


def _pair(rng, D):
    return int(rng.integers(len(D))), int(rng.integers(len(D)))


def _asymmetric(rng, D):
    D[_pair(rng, D)] *= 1.5


def _almost_symmetric(rng, D):
    D *= 1 + 1e-15 * rng.integers(-3, 4, size=D.shape)


def _negative(rng, D):
    i, j = _pair(rng, D)
    D[i, j] = D[j, i] = -1.0


def _zero(rng, D):
    i, j = _pair(rng, D)
    D[i, j] = D[j, i] = 0.0


def _infinite(rng, D):
    i, j = _pair(rng, D)
    D[i, j] = D[j, i] = np.inf


def _diagonal(rng, D):
    i, _ = _pair(rng, D)
    D[i, i] = 1.0


DEFECTS = (_asymmetric, _almost_symmetric, _negative, _zero, _infinite, _diagonal)


def graph(rng: np.random.Generator, given: Points) -> tuple[Any, Any]:
    """Return a sparse graph of neighbours, perhaps not connected or with edges in one direction."""
    k = int(rng.integers(1, max(2, min(8, len(given.rows)))))
    G, new = _nearest(given.rows, given.rows, k, own=False), _nearest(given.new, given.rows, k)
    if chance(rng, 0.7):
        G = _both_directions(G)
    if chance(rng, 0.3) and len(given.rows) > 2:
        # Edges between the first rows and the others are cut.
        entries = G.tocoo()
        cut = int(rng.integers(1, len(given.rows)))
        keep = (entries.row < cut) == (entries.col < cut)
        G = sparse.csr_array(
            (entries.data[keep], (entries.row[keep], entries.col[keep])), shape=G.shape
        )
        given.notes.append("cut in two")
    return G, new


def _nearest(A: np.ndarray, B: np.ndarray, k: int, own: bool = True) -> sparse.csr_array:
    D = lengths(A, B)
    order = D.copy()
    if not own:
        np.fill_diagonal(order, np.inf)
    near = np.argsort(order, axis=1, kind="stable")[:, :k]
    rows = np.repeat(np.arange(len(A)), near.shape[1])
    values = np.take_along_axis(D, near, 1).ravel()
    return sparse.csr_array((values, (rows, near.ravel())), shape=D.shape)


def _both_directions(G: sparse.csr_array) -> sparse.csr_array:
    """Return G with every edge in both directions, stored zeros included."""
    entries = G.tocoo()
    edges = dict(zip(zip(entries.row, entries.col, strict=True), entries.data, strict=True))
    edges |= {(j, i): value for (i, j), value in edges.items()}
    rows, columns = np.array(list(edges), dtype=int).reshape(-1, 2).T
    return sparse.csr_array((list(edges.values()), (rows, columns)), shape=G.shape, dtype=float)


def kernel(rng: np.random.Generator, given: Points) -> tuple[Any, Any]:
    with np.errstate(all="ignore"):
        if chance(rng, 0.5):
            return given.rows @ given.rows.T, given.new @ given.rows.T
        if chance(rng, 0.3):
            return -lengths(given.rows, given.rows), -lengths(given.new, given.rows)
    return affinities(rng, given, may_be_sparse=False)


def affinities(rng, given: Points, may_be_sparse: bool = True) -> tuple[Any, Any]:
    width = given.length * 10.0 ** rng.uniform(-1, 1)
    with np.errstate(all="ignore"):
        W, new = (np.exp(-((lengths(A, given.rows) / width) ** 2)) for A in (given.rows, given.new))
    if chance(rng, 0.15):
        W *= 1 + 0.1 * rng.random(W.shape)
        given.notes.append("asymmetric")
    if chance(rng, 0.2):
        np.fill_diagonal(W, 0.0)
    if may_be_sparse and chance(rng, 0.4):
        return sparse.csr_array(W * (W > 0.1)), sparse.csr_array(new * (new > 0.1))
    return W, new
