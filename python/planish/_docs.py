"""Paragraphs that several docstrings share, each written once.

A line of a docstring that holds nothing but ``{name}`` is replaced by the
paragraph of that name, indented like the line, when the class or function is
made. The names and types of parameters stay in the docstring itself, so that an
editor that reads the source shows them; ``help()``, Sphinx and numpydoc read the
finished text.
"""

from __future__ import annotations

import re
from typing import TypeVar

_Documented = TypeVar("_Documented")

_PLACEHOLDER = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def documented(target: _Documented) -> _Documented:
    """Replace the placeholders in the docstring of a class or a function."""
    text = target.__doc__
    if text is not None:  # as it is under `python -OO`
        target.__doc__ = _PLACEHOLDER.sub(_filled, text)
    return target


def _filled(placeholder: re.Match[str]) -> str:
    indent, name = placeholder.groups()
    lines = PARAGRAPHS[name].strip("\n").split("\n")
    return "\n".join(indent + line if line else "" for line in lines)


PARAGRAPHS = {
    # -- parameters -------------------------------------------------------------------
    "n_components": """
Number of coordinates. "auto" takes the intrinsic dimension of the data, estimated from the
distances to the nearest rows and the angles between them (from the distances alone where X
is a graph), and warns with DimensionWarning where the two disagree; `n_components_` tells
the number. See :mod:`planish.dimension`.""",
    "n_neighbors": """
Number of neighbours of each row, not counting itself. Set it to None to use
`radius`.""",
    "radius": """
Rows at most this far apart are neighbours; infinity makes all rows neighbours.""",
    "neighbors_algorithm": """
How neighbours are searched. All but "approximate" give the same neighbours. That one is for
very many rows of many columns: random partitions and nearest-neighbour descent find nearly
all of the k nearest, by a seed and with the same bits for any number of threads. The
distances are exact; how much was found is measured on a sample of the rows, and
LowRecallWarning tells when it is less than 95 %. Few rows or columns, a radius, sparse
rows, distances that are given and new rows are searched exactly all the same; metrics that
the Rust core does not know are refused.""",
    "metric": """
How distances between rows are measured: a name scikit-learn knows, a callable
of two rows, or "precomputed" when X is the square matrix of distances.""",
    "quality_X": """
The data; a square matrix of distances when `metric` is "precomputed".""",
    "quality_Y": """
The map, one row for each row of X, or a fitted estimator, whose ``embedding_`` it is or
that places X. Rows that contain NaN are left out, in X too, with a warning.""",
    "quality_k": """
Number of neighbours of each row that count.""",
    "quality_k_half": """
Number of neighbours of each row that count, fewer than half of the rows.""",
    "quality_sample": """
How many rows are looked at, each with all rows; the score then has a standard error.
None means all rows.""",
    "quality_seed": """
Seed of the sample; None is always the same one.""",
    "metric_of_graph": """
How distances between rows are measured: a name scikit-learn knows, a callable
of two rows, or "precomputed" when X is a square matrix of distances, or a
sparse graph whose stored entries are the lengths of edges.""",
    "p": """
Power of the "minkowski" metric, at least 1.""",
    "metric_params": """
Further arguments of the metric, for example ``{"V": variances}`` for
"seuclidean".""",
    "eigen_solver": """
"dense" decomposes the whole matrix, "arpack" iterates for the wanted eigenpairs
only (the name is scikit-learn's, the solver a block Krylov method), "auto" takes
the faster.""",
    "tol": """
Relative residual at which the iteration stops; 0 means working precision.""",
    "max_iter": """
Most iterations of the iterative solver; None for as many as it takes.""",
    "max_iter_of_start": """
Most iterations from one start.""",
    "eps": """
Decrease of the stress in one iteration at which it stops, relative to the sum of
squared dissimilarities (for types other than "ratio" of Stress-1 squared); L-BFGS
stops at the third such iteration in a row.""",
    "path_method": """
How shortest paths are found: Dijkstra, Floyd–Warshall, or one of two faster
ways with the same result. "auto" takes the fastest.""",
    "disconnected": """
What to do when the neighbourhood graph has several connected components.
"bridge" adds the shortest edges that join them (a sparse precomputed graph has
none to add and is refused), "largest" embeds the largest component and gives
all other rows NaN, "error" raises
:class:`~planish.exceptions.DisconnectedGraphError`.""",
    "conformal": """
Divide each edge by the spacing of its ends, the square root of the product of
their mean distances to their neighbours, so that regions sampled densely and
thinly count alike. Coordinates then have no unit.""",
    "isolated": """
What `transform` does with a row that has no training row within `radius`: raise
an error that names it, or join it to its nearest training row, however far. With
`n_neighbors` every row has neighbours.""",
    "outliers": """
What happens to rows so far from all others that they would dominate the
embedding: "place" leaves them out of the fit and places them like new rows, with
a warning; "keep" treats them like all others. At most one row in a hundred
counts as an outlier, and only when its edges are longer than three times the
longest path along the others. Rows of a sparse graph are never outliers.""",
    "storage": """
How the geodesic distances are stored: n²/2 numbers of 8 or 4 bytes; of 6 bytes
that count in units so small ("fixed48") that the rounding, at most 2⁻⁴⁷ of the
longest distance, is that of the sums the distances are; or not at all, every
pass of the eigensolver computing them anew: exact, in little memory, a few times
slower. "auto" is "fixed48" where shortest paths are swept and "float64" where
they are searched, if that fits into memory, else "recompute" with a warning, and
for more than 400 000 rows, where that takes hours, a MemoryError.""",
    "n_landmarks": """
Number of landmarks, more than `n_components`; all rows when there are fewer.
More landmarks are more accurate.""",
    "unused_random_state": """
Present for compatibility: nothing is drawn by chance.""",
    "n_jobs": """
Number of threads. None uses every core this process may use, unless a
:func:`joblib.parallel_config` context sets a number; negative numbers count back
from the cores, so -1 is all. Results are the same to the last bit whatever the
number.""",
    "verbose": """
1 shows progress on stderr: a bar with stage, share, rate and time left on a terminal
or in a notebook, a line every few seconds in a log. 2 leaves the bar of every stage
there, and writes every report.""",
    # -- parameters of functions ------------------------------------------------------
    "n_jobs_as_estimators": """
Number of threads, as in the estimators.""",
    "verbose_as_estimators": """
1 or 2 shows progress on stderr, as in the estimators.""",
    # -- attributes -------------------------------------------------------------------
    "embedding_": """
Coordinates of the training rows, float32 when X is float32.""",
    "n_iter_": """
Number of iterations of the eigensolver, 1 for a direct one.""",
    "component_labels_": """
Connected component of each row before any were joined.""",
    "n_connected_components_": """
Number of those components.""",
    "bridges_": """
Pairs of rows joined by added edges to connect the components.""",
    "nbrs_": """
A search over the array given to ``fit``, built when first asked for; not
pickled.""",
    "n_neighbors_": """
Number of neighbours that was used; absent with `radius`.""",
    "seen_in_fit": """
n_components_ : int
    Number of coordinates.
n_features_in_ : int
    Number of columns of X.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Column names, when X has names that are all strings.""",
    "stress_attributes": """
stress_forms_ : dict
    Every form of stress, computed from `embedding_`: "raw" Σ(d − δ)², "normalized"
    √(raw / Σδ²), "stress1" √(raw / Σd²), "stress2" √(raw / Σ(d − mean d)²),
    "sammon" (Σ(d − δ)²/δ) / Σδ, "strain" ‖−½Hδ²H − YYᵀ‖², "per_distance" raw / Σd;
    d is a distance in the map, δ a dissimilarity or its disparity.
stress_per_point_ : ndarray of shape (n_samples,)
    Share of each row in the stress, in per cent: the mean squared difference of
    its pairs.
n_iter_ : int
    Number of iterations of the start that was kept, epochs included.
history_ : ndarray of shape (n_iter_,)
    The stress after each of them, relative to its size.
inits_ : ndarray of shape (n_init,)
    One record a start: where it came from ("start"), the stress it reached
    ("stress") and its iterations ("n_iter").
dissimilarity_matrix_ : array of shape (n_samples, n_samples)
    The dissimilarities, computed from the array given to ``fit`` when its numbers
    are first used. Neither pickled nor copied.
shepard_ : ndarray of shape (n_pairs,)
    One record a pair, by ascending dissimilarity: "dissimilarity", "distance" and
    "disparity", the data of Shepard's diagram. Computed when first asked for.""",
    "geodesic_graph": """
graph_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    The neighbourhood graph the paths run on: symmetric, with the edges that
    were added. Rows that were left out of the fit (outliers, or all but the
    largest component) have no edges.
component_labels_ : ndarray of shape (n_samples,)
    Connected component of each row before any were joined.
n_connected_components_ : int
    Number of those components.
bridges_ : ndarray of shape (n_bridges, 2)
    Pairs of rows joined by added edges to connect the components.
shortcuts_ : ndarray of shape (n_shortcuts, 2)
    Pairs of rows joined by suspicious edges, see ShortcutWarning.
outliers_ : ndarray of shape (n_outliers,)
    Rows that were left out of the fit and placed like new ones.
path_method_ : str
    How shortest paths were found.""",
    "geodesic_distances": """
storage_ : str
    How the geodesic distances were stored.
storage_error_ : float
    Largest rounding error of a distance that this brought: 0 for "float64" and
    "recompute", 6e-8 of the distance for "float32", 7e-15 of the longest distance
    for "fixed48".
dist_matrix_ : array of shape (n_samples, n_samples)
    Geodesic distances, float32 when X is float32; computed when its numbers are
    first used, ``numpy.asarray`` gives a plain array. Not pickled. Infinite
    between rows of the fit and rows left out of it.""",
    # -- warnings ---------------------------------------------------------------------
    "NegativeEigenvalueWarning": """
The distances are not Euclidean: columns that would be imaginary are zero.""",
    "RankDeficientWarning": """
The data has fewer than `n_components` dimensions; the other columns are zero.""",
    "InputAdjustedWarning": """
A precomputed matrix was symmetric only up to rounding and was made so.""",
    "geodesic_warnings": """
DisconnectedGraphWarning
    The graph has several connected components, which were joined, or all but
    the largest left out.
NegativeEigenvalueWarning
    A wanted component has a negative eigenvalue; its column is zero.
RankDeficientWarning
    The data has fewer than `n_components` dimensions; the other columns are
    zero.
OutlierWarning
    A few rows lie far from all others; they were left out of the fit and placed
    like new ones.
ShortcutWarning
    A few edges carry a suspicious share of all shortest paths, or distances hang on
    the number of neighbours because edges in many places join what is far apart.""",
    "SlowWarning": """
The distances do not fit into memory and are recomputed.""",
}
