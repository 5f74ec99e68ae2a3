"""The types of the public signatures: the choices of each parameter, and kinds of arrays.

A test compares the choices with those of the Rust core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array, sparray, spmatrix

# -- arrays ---------------------------------------------------------------------------

#: Numbers in a table: a list of lists, an array, a data frame, a sparse matrix.
MatrixLike: TypeAlias = "ArrayLike | sparray | spmatrix"
#: Coordinates in the precision of the data: float32 for float32, else float64.
Coordinates: TypeAlias = NDArray[np.floating[Any]]
#: What `fit` learns, always in double precision.
Floats: TypeAlias = NDArray[np.float64]
#: Row numbers and labels.
Indices: TypeAlias = NDArray[np.int64]
#: A sparse graph; stored entries are its edges.
Graph: TypeAlias = "csr_array[np.float64, tuple[int, int]]"

# -- parameters -----------------------------------------------------------------------

RandomState: TypeAlias = int | np.random.RandomState | None

#: How the largest eigenpairs are found.
EigenSolver: TypeAlias = Literal["auto", "arpack", "dense"]
#: The same, with the name scikit-learn's kernel PCA has for an iteration.
KernelEigenSolver: TypeAlias = Literal["auto", "arpack", "dense", "randomized"]
#: How the smallest eigenpairs of a sparse matrix are found.
SparseEigenSolver: TypeAlias = Literal["auto", "arpack", "dense", "iterative"]
#: The same, with the names scikit-learn's Laplacian eigenmaps have.
LaplacianEigenSolver: TypeAlias = Literal["auto", "arpack", "lobpcg", "amg", "dense", "iterative"]
SvdSolver: TypeAlias = Literal["auto", "full", "covariance_eigh", "arpack", "randomized"]
PowerNormalizer: TypeAlias = Literal["auto", "QR", "LU", "none"]
#: How neighbours are searched; all but the last find the same.
NeighborsAlgorithm: TypeAlias = Literal["auto", "brute", "kd_tree", "ball_tree", "approximate"]
#: What a graph of neighbours stores.
GraphMode: TypeAlias = Literal["distance", "connectivity"]
PathMethod: TypeAlias = Literal["auto", "D", "FW", "batch", "sweep"]
#: What happens to several connected components where distances between them are needed.
Disconnected: TypeAlias = Literal["bridge", "largest", "error"]
#: The same where each component is embedded on its own.
DisconnectedNeighborhoods: TypeAlias = Literal["separate", "largest", "error"]
#: The same where either can be done.
DisconnectedAffinities: TypeAlias = Literal["bridge", "separate", "largest", "error"]
Isolated: TypeAlias = Literal["error", "nearest"]
Outliers: TypeAlias = Literal["place", "keep"]
Storage: TypeAlias = Literal["auto", "float64", "fixed48", "float32", "recompute"]
Landmarks: TypeAlias = Literal["maxmin", "random", "hierarchical"]
LandmarkAlgorithm: TypeAlias = Literal["landmark", "fastmap", "metricmap"]
LocalMethod: TypeAlias = Literal["standard", "modified", "hessian", "ltsa"]
Affinity: TypeAlias = Literal[
    "nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"
]
Weights: TypeAlias = Literal["connectivity", "heat"]
#: Where maps of the stress family start; "warn" is scikit-learn's default.
StressInit: TypeAlias = Literal["random", "classical_mds", "warn"]
StressSolver: TypeAlias = Literal["auto", "smacof", "lbfgs", "sgd", "gradient", "newton"]
SammonSolver: TypeAlias = Literal["auto", "lbfgs", "sgd", "gradient", "newton"]
MdsType: TypeAlias = Literal["ratio", "interval", "ordinal", "spline"]
MdsLoss: TypeAlias = Literal["stress", "sstress", "strain"]
Ties: TypeAlias = Literal["primary", "secondary", "tertiary"]
Monotone: TypeAlias = Literal["kruskal", "guttman"]
TsneInit: TypeAlias = Literal["pca", "spectral", "random"]
TsneMethod: TypeAlias = Literal["auto", "barnes_hut", "fft", "exact"]
TsneAffinities: TypeAlias = Literal["gaussian", "uniform", "precomputed"]

#: Metrics the Rust core evaluates.
NativeMetric: TypeAlias = Literal[
    "euclidean", "l2", "minkowski", "manhattan", "cityblock", "l1",
    "chebyshev", "infinity", "cosine", "correlation",
]  # fmt: skip
#: Metrics that are evaluated here or by scikit-learn.
ForeignMetric: TypeAlias = Literal[
    "braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard", "mahalanobis",
    "nan_euclidean", "rogerstanimoto", "russellrao", "seuclidean", "sokalsneath", "sqeuclidean",
    "yule",
]  # fmt: skip
#: A metric by name, or a function of two rows.
Metric: TypeAlias = NativeMetric | ForeignMetric | Literal["precomputed"] | Callable[..., float]

#: Kernels the Rust core evaluates.
NativeKernel: TypeAlias = Literal[
    "linear", "poly", "polynomial", "rbf", "sigmoid", "cosine", "laplacian"
]  # fmt: skip
#: Kernels that scikit-learn evaluates.
ForeignKernel: TypeAlias = Literal["additive_chi2", "chi2"]
#: A kernel by name, or a function of two rows.
Kernel: TypeAlias = NativeKernel | ForeignKernel | Literal["precomputed"] | Callable[..., float]
