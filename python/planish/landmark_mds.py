"""Landmark multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._landmarks import LandmarkParams
from .classical_mds import MetricEmbedding


class LandmarkMDS(LandmarkParams, MetricEmbedding):
    """Classical MDS for very many rows: a few landmarks, all others triangulated.

    Classical MDS places the landmarks, and every other row is placed by its
    distances to them. Only ``n_landmarks * n_samples`` distances are measured,
    and no matrix of that size is held. With every row a landmark the result is
    that of :class:`ClassicalMDS`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_landmarks : int, default=200
        Number of landmarks, more than `n_components`; all rows when there are
        fewer. More landmarks are more accurate.
    landmarks : {"maxmin", "random", "hierarchical"} or array-like of int, default="maxmin"
        How landmarks are chosen: each the row farthest from those before it;
        any rows; level by level of a cover tree, whose radius halves; or
        exactly the rows given.
    algorithm : {"landmark", "fastmap", "metricmap"}, default="landmark"
        How rows are placed: by triangulation about the mean of the landmarks; by
        projection on lines between pairs of far rows, two for each coordinate,
        which chooses its own landmarks; or by triangulation about the first
        landmark.
    metric : str or callable, default="euclidean"
        How distances between rows are measured: a name scikit-learn knows, a
        callable of two rows, or "precomputed" when X is the square matrix of
        distances.
    metric_params : dict, default=None
        Further arguments of the metric, for example ``{"p": 3}`` for
        "minkowski".
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        "dense" decomposes the whole matrix, "arpack" iterates for the wanted
        eigenpairs only (the name is scikit-learn's, the solver a block Krylov
        method), "auto" takes the faster.
    tol : float, default=0.0
        Relative residual at which the iteration stops; 0 means working precision.
    max_iter : int, default=None
        Most iterations of the iterative solver; None for as many as it takes.
    n_jobs : int, default=None
        Number of threads. None uses every core this process may use, unless a
        :func:`joblib.parallel_config` context sets a number; negative numbers
        count back from the cores, so -1 is all. Results are the same to the
        last bit whatever the number.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of landmarks; None is a fixed seed.
    verbose : int, default=0
        1 writes progress to stderr about once a second, 2 all of it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, float32 when X is float32.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel of the landmarks, largest first; not
        there with "fastmap", which has none.
    landmarks_ : ndarray of shape (n_landmarks,)
        Rows that are landmarks, in the order they were chosen; with "fastmap"
        the two of the first coordinate, then those of the second, and so on.
    n_iter_ : int
        Number of iterations of the eigensolver, 1 for a direct one.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X has names that are all strings.

    Warns
    -----
    NegativeEigenvalueWarning
        The distances are not Euclidean: columns that would be imaginary are zero.
    RankDeficientWarning
        Fewer than `n_components` dimensions carry information.

    See Also
    --------
    ClassicalMDS : The exact method.
    LandmarkIsomap : The same along a curved manifold.

    Notes
    -----
    The mean of the coordinates is that of the landmarks, not of all rows.

    References
    ----------
    .. [1] V. de Silva, J. B. Tenenbaum, "Sparse multidimensional scaling using
       landmark points", Stanford University (2004).
    .. [2] J. C. Platt, "FastMap, MetricMap, and Landmark MDS are all Nyström
       algorithms", AISTATS (2005).
    .. [3] C. Faloutsos, K.-I. Lin, "FastMap", SIGMOD (1995).
    .. [4] J. T.-L. Wang et al., "Evaluating a class of distance-mapping
       algorithms for data mining and clustering", KDD (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import LandmarkMDS
    >>> X = np.random.default_rng(0).normal(size=(10_000, 2))
    >>> Y = LandmarkMDS(n_landmarks=50).fit_transform(X)
    >>> apart = lambda Z: np.linalg.norm(Z[:100] - Z[100:200], axis=1)
    >>> bool(np.allclose(apart(X), apart(Y)))
    True
    """

    _method: ClassVar[str] = "LandmarkMDS"
    _python_params: ClassVar[frozenset[str]] = MetricEmbedding._python_params | {"random_state"}

    eigenvalues_: NDArray[np.float64]
    n_iter_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_landmarks: int = 200,
        landmarks: str | ArrayLike = "maxmin",
        algorithm: str = "landmark",
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.algorithm = algorithm
        self.metric = metric
        self.metric_params = metric_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
