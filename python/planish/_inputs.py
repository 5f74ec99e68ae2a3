"""What X is, and how its rows reach the Rust core.

An estimator's parameters say which of these it is when ``fit`` begins. ``fit``
keeps the answer and ``transform`` uses it, so that a fitted estimator does not
depend on what its parameters are set to later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse

from . import _data
from .exceptions import InputError


class Input:
    """A kind of data: how training rows and new rows are described to the core."""

    def __init__(self, **params: Any) -> None:
        #: Parameters of the core that follow from the kind of data.
        self.params = params

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows."""
        return self.new(X)

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows."""
        raise NotImplementedError

    def stored(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return vars(self)

    @classmethod
    def restored(cls, fields: Mapping[str, Any]) -> Any:
        """Return the same, from what a model file kept."""
        found = cls.__new__(cls)
        vars(found).update(fields)
        return found


class Points(Input):
    """Rows of features."""

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by their features."""
        return _data.points(X)


class Distances(Input):
    """Precomputed distances, to the training rows.

    Where the distance of a training row to itself is rounding and not zero, the fit takes zero.
    A new row that has exactly the distances of that row, as they were given, and of no other, is
    that row; so are all training rows in their order. The core recognises it by a distance of zero.
    """

    #: Digests of the training rows whose distance to themselves is not zero; those that no two
    #: share; the number of training rows.
    corrected: Mapping[int, bytes] = MappingProxyType({})
    unique: Mapping[bytes, int] = MappingProxyType({})
    count: int = 0

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows by the distances between them."""
        X = _require_dense(X, "distances")
        if X.shape[0] == X.shape[1] and (rows := np.flatnonzero(X.diagonal())).size:
            digests = _data.dense_digests(X[row] for row in rows)
            counts = Counter(digests)
            self.corrected = dict(zip(rows.tolist(), digests, strict=True))
            self.unique = {key: row for row, key in self.corrected.items() if counts[key] == 1}
            self.count = len(X)
        return _data.distances(X)

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by their distances to the training rows."""
        X = _require_dense(X, "distances")
        return _data.distances(self._with_zeros(X) if self.corrected else X)

    def _with_zeros(self, X: Any) -> Any:
        digests = _data.dense_digests(X)
        if len(X) == self.count and all(digests[i] == key for i, key in self.corrected.items()):
            found = [(row, row) for row in self.corrected]
        else:
            found = [(i, self.unique[key]) for i, key in enumerate(digests) if key in self.unique]
        if found:
            X = X.copy()
            X[tuple(np.transpose(found))] = 0.0
        return X


class DistancesOrGraph(Distances):
    """Precomputed distances, or a sparse graph whose stored entries are edges.

    A new row of a graph that has exactly the edges of one training row, and of no other, is
    that row; so are all training rows in their order. The core recognises it by an edge of length
    zero, whatever `n_neighbors` or `radius` would leave of its own edges.
    """

    #: A digest of the edges of each training row of a graph; the rows that share theirs with none.
    digests: list[bytes] | None = None
    known: Mapping[bytes, int] = MappingProxyType({})

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows by distances or edges between them."""
        if not _data.is_sparse(X):
            return super().training(X)
        described = _data.square_graph(X)
        self.digests = _data.row_digests(described)
        counts = Counter(self.digests)
        self.known = {key: row for row, key in enumerate(self.digests) if counts[key] == 1}
        return described

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by distances or edges to the training rows."""
        if not _data.is_sparse(X):
            return super().new(X)
        described = _data.graph(X)
        if self.digests is None:
            return described
        digests = _data.row_digests(described)
        if digests == self.digests:
            return _data.zero_edges(np.arange(len(digests)))
        return _data.with_zero_edges(described, [self.known.get(key, -1) for key in digests])


class Kernel(Input):
    """Precomputed kernel values, with the training rows."""

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by their kernel values with the training rows."""
        return _data.kernel(_require_dense(X, "kernel values"))


class Affinities(Input):
    """Precomputed affinities, dense or sparse, with the training rows.

    Where the two directions of an affinity differ, the fit uses their mean. A new row that is
    a row of the training matrix, as it was given, then stands for the row of the means.
    """

    #: Number of each training row by its values as given, and the means; None if symmetric.
    known: dict[Any, int] | None = None
    means: Any = None

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows by the affinities between them."""
        described = _data.square_graph(X) if _data.is_sparse(X) else _data.kernel(X)
        if X.shape[0] == X.shape[1] and not _data.is_symmetric(X):
            self.known = {key: row for row, key in enumerate(_data.row_keys(X))}
            self.means = X / 2 + X.T / 2
        return described

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by their affinities with the training rows."""
        if self.known is not None:
            X = self._with_means(X, self.known)
        return _data.graph(X) if _data.is_sparse(X) else _data.kernel(X)

    def _with_means(self, X: Any, known: dict[Any, int]) -> Any:
        found = [(row, known.get(key)) for row, key in enumerate(_data.row_keys(X))]
        given = np.array([pair for pair in found if pair[1] is not None], dtype=np.int64)
        if not given.size:
            return X
        rows, training = given.T
        means = self.means[training]
        if _data.is_sparse(X):
            X = X.tolil()
            X[rows] = means
            return X.tocsr()
        X = X.copy()
        X[rows] = means.toarray() if _data.is_sparse(means) else means
        return X


class SparseAffinities(Input):
    """Precomputed affinities with the training rows, of which only those above zero count."""

    def training(self, X: Any) -> _data.CoreData:
        """Describe the training rows by the affinities between them."""
        return _data.square_graph(sparse.csr_array(X))

    def new(self, X: Any) -> _data.CoreData:
        """Describe new rows by their affinities with the training rows."""
        return _data.graph(sparse.csr_array(X))


class CalledAffinities(Affinities):
    """Affinities that a function of the user's computes for all pairs of rows."""

    rows: Any

    def __init__(self, function: Callable[..., Any], **params: Any) -> None:
        super().__init__(**params)
        self.function = function

    def training(self, X: Any) -> _data.CoreData:
        """Call the function with the training rows."""
        self.rows = X
        return super().training(self._call(X))

    def new(self, X: Any) -> _data.CoreData:
        """Call the function with new rows and the training rows."""
        return super().new(self._call(X, self.rows))

    def _call(self, *rows: Any) -> Any:
        shape = (rows[0].shape[0], rows[-1].shape[0])
        _data.require_memory(
            8 * shape[0] * shape[1],
            f"the {shape[0]} × {shape[1]} matrix of affinities",
            "use affinity='nearest_neighbors', or fewer rows",
        )
        found: Any = self.function(*rows)
        found = (
            sparse.csr_array(found) if _data.is_sparse(found) else np.asarray(found, dtype=float)
        )
        if found.shape != shape:
            raise InputError(
                f"the callable `affinity` returned an array of shape {found.shape} where "
                f"{shape} was expected"
            )
        return found


def _require_dense(X: Any, what: str) -> Any:
    if _data.is_sparse(X):
        raise InputError(
            f"X is a sparse matrix, but precomputed {what} must be dense: entries that are not "
            "stored are unknown, not zero; pass X.toarray() if every entry is stored"
        )
    return X
