"""Diffusion maps."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from . import _data
from ._docs import documented
from ._neighborhood import NeighborhoodEmbedding
from ._types import (
    DisconnectedAffinities,
    Floats,
    Indices,
    Isolated,
    MatrixLike,
    Metric,
    NeighborsAlgorithm,
    SparseEigenSolver,
)


@documented
class DiffusionMaps(NeighborhoodEmbedding):
    """Diffusion maps: coordinates of a random walk over the rows.

    From each row the walk steps to near rows, with probabilities that fall like
    a Gaussian of the distance. The diffusion distance of two rows compares where
    walks from them are after a time `t`, and it is the Euclidean distance of their
    coordinates ``λ^t ψ``.

    Parameters
    ----------
    n_components : int or "auto", default=2
        {n_components}
    alpha : float, default=1.0
        How much of the sampling density is divided out, from 0 to 1: with 0 the
        walk prefers dense regions (the normalised graph Laplacian), with 1
        it follows the manifold whatever the density (Laplace–Beltrami), 0.5 is
        Fokker–Planck diffusion.
    t : float, default=1.0
        Time of the walk, at least 0. With 0 the coordinates are the eigenvectors
        themselves.
    epsilon : float or "auto", default="auto"
        Scale of the kernel ``exp(-d² / epsilon)``, a squared distance. "auto"
        takes the one at which the sum S of the kernel over pairs of rows (at most
        2^19 of them, evenly chosen; of a sparse graph its edges) grows fastest
        [2]_, but with `n_neighbors` no more than they allow for: a fifth of the
        squared distance to the last of them (the median over the rows), or, if that
        is more, what keeps all but a hundredth of the rows near their fourth
        neighbour. A wider kernel would be cut off by the lists of neighbours, and
        `alpha` would have no effect.
    n_neighbors : int or None, default=64
        Kernel values of each row that are kept: those of its nearest rows. None,
        or a number that all other rows make up, keeps all n² of them.
    metric : str or callable, default="minkowski"
        How distances between rows are measured: a name scikit-learn knows, a
        callable of two rows, or "precomputed" when X is a square matrix of
        distances or a sparse graph of them. For a metric that planish does not
        evaluate itself all distances are computed beforehand, which takes 8 n²
        bytes.
    p : float, default=2
        {p}
    metric_params : dict, default=None
        {metric_params}
    eigen_solver : {"auto", "arpack", "dense", "iterative"}, default="auto"
        "dense" decomposes the whole matrix; "arpack" inverts it by a sparse
        factorisation and iterates with that (the name is scikit-learn's, the
        solver our own), "iterative" needs no factor, "auto" takes the best.
    tol : float, default=0.0
        Largest relative residual that counts as converged; 0 means working
        precision. A bound: on a sparse kernel the solvers go on to 1e-10 in any
        case, which takes little longer.
    max_iter : int, default=None
        {max_iter}
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        {neighbors_algorithm}
    disconnected : {"bridge", "separate", "largest", "error"}, default="bridge"
        What to do when the walk has several connected components, so that some
        rows are never reached from others. "bridge" adds the shortest edges that
        join the components of the neighbourhood graph. "separate" keeps them: the
        first columns, with eigenvalue 1, are constant on each component; so does
        "bridge" where kernel values between components vanish, or a sparse graph
        does not say how far apart they are. "largest" embeds the
        largest component and gives all other rows NaN, "error" raises
        :class:`~planish.exceptions.DisconnectedGraphError`.
    isolated : {"error", "nearest"}, default="error"
        What `transform` does with a row of a graph that has no edge: raise an error
        that names it, or join it to its nearest training row. Every other row has
        neighbours.
    n_jobs : int, default=None
        {n_jobs}
    verbose : int, default=0
        {verbose}

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, ``eigenvectors_ * eigenvalues_ ** t``,
        float32 when X is float32.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the random walk, largest first, without the first, which
        is 1.
    eigenvalue_residuals_ : ndarray of shape (n_components,)
        ``‖S v − λ v‖`` of each, how exact its eigenvector ``v`` of length one is; S is
        the walk made symmetric.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its right eigenvectors ψ, whose squares weighted by the stationary
        distribution sum to one.
    epsilon_ : float
        The value of `epsilon` that was used.
    stationary_distribution_ : ndarray of shape (n_samples,)
        Share of time a long walk spends at each row; sums to one.
    intrinsic_dimension_ : float
        The dimension of the manifold as the automatic `epsilon` sees it: twice
        the slope of log S against log `epsilon`. Absent when `epsilon` was given.
    n_neighbors_ : int
        Number of neighbours that was used; absent when all rows were.
    component_labels_ : ndarray of shape (n_samples,)
        {component_labels_}
    n_connected_components_ : int
        {n_connected_components_}
    bridges_ : ndarray of shape (n_bridges, 2)
        {bridges_}
    n_iter_ : int
        {n_iter_}
    {seen_in_fit}

    Warns
    -----
    InputAdjustedWarning
        The data is so large or small that `epsilon_`, a square, leaves the range of
        floating-point numbers.
    DisconnectedGraphWarning
        The walk has several connected components, which were joined, kept separate,
        or all but the largest left out.
    RankDeficientWarning
        The last column belongs to an eigenvalue that the next one, not shown, is equal
        to, so that it is an arbitrary direction of their eigenspace: an `epsilon` so
        wide that all rows are alike, or half of a pair.

    See Also
    --------
    SpectralEmbedding : The same eigenvectors for alpha = 0, without a time.

    Notes
    -----
    Use: a random process, or unevenly sampled data.

    Time: a neighbour search, and passes over its n·k edges.

    A new row takes one step of the walk to the training rows, and its
    coordinates are their mean divided by the eigenvalue (Nyström's formula). A row
    of a sparse graph is recognised as a training row by a stored zero, or by having
    exactly the edges of one training row, and no other.

    References
    ----------
    .. [1] R. R. Coifman, S. Lafon, "Diffusion maps", Applied and Computational
       Harmonic Analysis 21 (2006).
    .. [2] R. R. Coifman, Y. Shkolnisky, F. J. Sigworth, A. Singer, "Graph
       Laplacian tomography from unknown random projections", IEEE Transactions
       on Image Processing 17 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from planish import DiffusionMaps
    >>> angle = np.linspace(0.0, 3.0, 300)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> maps = DiffusionMaps(n_components=1).fit(arc)
    >>> slowest_wave = np.cos(np.pi * angle / 3.0)
    >>> bool(abs(np.corrcoef(maps.embedding_[:, 0], slowest_wave)[0, 1]) > 0.99)
    True
    >>> bool(0 < maps.eigenvalues_[0] < 1)
    True
    """

    _method: ClassVar[str] = "DiffusionMaps"
    _automatic: ClassVar[tuple[str, ...]] = ("epsilon", "eigen_solver")
    _takes_graph: ClassVar[bool] = True

    eigenvalue_residuals_: Floats
    eigenvectors_: Floats
    epsilon_: float
    stationary_distribution_: Floats
    intrinsic_dimension_: float
    n_neighbors_: int
    bridges_: Indices

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        alpha: float = 1.0,
        t: float = 1.0,
        epsilon: float | Literal["auto"] = "auto",
        n_neighbors: int | None = 64,
        metric: Metric = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        eigen_solver: SparseEigenSolver = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        neighbors_algorithm: NeighborsAlgorithm = "auto",
        disconnected: DisconnectedAffinities = "bridge",
        isolated: Isolated = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.t = t
        self.epsilon = epsilon
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.neighbors_algorithm = neighbors_algorithm
        self.disconnected = disconnected
        self.isolated = isolated
        self.n_jobs = n_jobs
        self.verbose = verbose

    def diffusion_distances(self, X: MatrixLike | None = None) -> Floats:
        """Compute diffusion distances to the training rows.

        They are distances between the coordinates, so what lies beyond
        `n_components` eigenvectors is not counted.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_queries, n_features), default=None
            The rows to measure from, as in :meth:`transform`; None means the
            training rows.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_samples)
            Distances at time `t`.
        """
        check_is_fitted(self)
        training = self.embedding_
        placed = training if X is None else self._place(X)
        _data.require_memory(
            8 * len(placed) * len(training),
            f"the {len(placed)} × {len(training)} matrix of diffusion distances",
            "give fewer rows at a time",
        )
        return np.asarray(cdist(placed, training))
