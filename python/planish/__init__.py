"""Manifold learning, fast, exact and deterministic.

Estimators follow scikit-learn: the same names, the same parameters, the same
defaults, and a ``transform`` on every one of them. The work is done by a Rust
core that releases the GIL, answers Ctrl-C and gives the same bits whatever the
number of threads.

Everything is imported on first use, so ``import planish`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import exceptions

    __version__: str
    from .classical_mds import ClassicalMDS
    from .diagnostics import ResidualVariance, residual_variance
    from .diffusion_maps import DiffusionMaps
    from .functions import estimate_memory, geodesic_distances, kneighbors, neighbors_graph
    from .hessian_lle import HessianLLE
    from .isomap import Isomap
    from .kernel_isomap import KernelIsomap
    from .kernel_map import KernelMap
    from .kernel_mds import KernelMDS
    from .landmark_isomap import LandmarkIsomap
    from .landmark_mds import LandmarkMDS
    from .locally_linear import LocallyLinearEmbedding, locally_linear_embedding
    from .pca import PCA
    from .spectral import SpectralEmbedding, spectral_embedding

__all__ = [
    "PCA",
    "ClassicalMDS",
    "DiffusionMaps",
    "HessianLLE",
    "Isomap",
    "KernelIsomap",
    "KernelMDS",
    "KernelMap",
    "LandmarkIsomap",
    "LandmarkMDS",
    "LocallyLinearEmbedding",
    "ResidualVariance",
    "SpectralEmbedding",
    "__version__",
    "estimate_memory",
    "exceptions",
    "geodesic_distances",
    "kneighbors",
    "locally_linear_embedding",
    "neighbors_graph",
    "residual_variance",
    "spectral_embedding",
]

# Where each public name lives.
_HOME = {
    "PCA": "pca",
    "ClassicalMDS": "classical_mds",
    "DiffusionMaps": "diffusion_maps",
    "HessianLLE": "hessian_lle",
    "Isomap": "isomap",
    "KernelIsomap": "kernel_isomap",
    "KernelMap": "kernel_map",
    "KernelMDS": "kernel_mds",
    "LandmarkIsomap": "landmark_isomap",
    "LandmarkMDS": "landmark_mds",
    "LocallyLinearEmbedding": "locally_linear",
    "ResidualVariance": "diagnostics",
    "SpectralEmbedding": "spectral",
    "estimate_memory": "functions",
    "exceptions": "",
    "geodesic_distances": "functions",
    "kneighbors": "functions",
    "locally_linear_embedding": "locally_linear",
    "neighbors_graph": "functions",
    "residual_variance": "diagnostics",
    "spectral_embedding": "spectral",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("planish")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME[name]
    module = import_module(f"{__name__}.{home or name}")
    value = getattr(module, name) if home else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
