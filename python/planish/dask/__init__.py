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

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._api import *  # noqa: F403

_missing = [name for name in ("dask", "distributed") if find_spec(name) is None]
if _missing:
    raise ImportError(
        f"planish.dask needs {' and '.join(_missing)}; install what is missing with "
        "pip install 'planish[dask]'"
    )


# Workers import the modules of their tasks and no more: a worker's memory is for the data.
def __getattr__(name: str) -> Any:
    if name != "__all__" and name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _api

    public = {key: value for key, value in vars(_api).items() if not key.startswith("_")}
    globals().update(public, __all__=sorted(public))
    if name != "__all__" and name not in public:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
