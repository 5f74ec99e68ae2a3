"""planish where one machine is not enough: the same estimators on Dask collections.

``from planish.dask import Isomap`` instead of ``from planish import Isomap``: data in memory is
fitted as before; Dask arrays and data frames are worked on where they are, with the
``dask.distributed`` client that is in use or, without one, by Dask's local scheduler.

* :class:`PCA` and :class:`ClassicalMDS` by merged moments, :class:`LandmarkMDS` and
  :class:`LandmarkIsomap` by landmarks: to all rows, equal to one machine.
* Every other method, and :class:`SampledEmbedding` for any transformer: fitted to a sample,
  all rows placed by ``transform``.
* :func:`kneighbors`: exact neighbours by pairs of blocks.
"""

from __future__ import annotations

try:
    import dask.array as _array  # noqa: F401
    import dask.dataframe as _dataframe  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"planish.dask needs dask and distributed ({error}); install them with "
        "pip install 'planish[dask]'"
    ) from error

from .landmarks import LandmarkIsomap, LandmarkMDS
from .linear import PCA, ClassicalMDS
from .neighbors import kneighbors
from .sampled import (
    MDS,
    TSNE,
    DiffusionMaps,
    Isomap,
    KernelIsomap,
    KernelMDS,
    LocallyLinearEmbedding,
    SammonMapping,
    SampledEmbedding,
    SpectralEmbedding,
)

__all__ = [
    "MDS",
    "PCA",
    "TSNE",
    "ClassicalMDS",
    "DiffusionMaps",
    "Isomap",
    "KernelIsomap",
    "KernelMDS",
    "LandmarkIsomap",
    "LandmarkMDS",
    "LocallyLinearEmbedding",
    "SammonMapping",
    "SampledEmbedding",
    "SpectralEmbedding",
    "kneighbors",
]
