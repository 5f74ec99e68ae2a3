"""Annotated data of single-cell analysis: embeddings where scanpy looks for them.

Coordinates go into ``obsm``, parameters into ``uns``, and the graph of neighbours that
the method is made from into ``obsp``, under scanpy's names, so that ``sc.pl.embedding``
and ``sc.tl.leiden`` work on them. Install ``planish[anndata]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from . import _data
from ._anndata_neighbors import (
    MARK,
    connectivities,
    graph_of,
    key_for,
    mapping,
    require_key,
    version_of_planish,
    write,
)
from ._methods import Method, key_of, prepared
from .exceptions import InputError, ParameterError

if TYPE_CHECKING:
    from anndata import AnnData

    Key: TypeAlias = str | None

__all__ = ["embed"]

# Columns up to which the data itself is embedded where nothing is said, as scanpy does.
_FEW = 50


def embed(
    adata: AnnData,
    method: Method = "isomap",
    *,
    use_rep: Key = None,
    n_pcs: int | None = None,
    layer: Key = None,
    key_added: Key = None,
    neighbors_key: Key = "auto",
    copy: bool = False,
    **params: Any,
) -> AnnData | None:
    """Embed the cells of annotated data and write the coordinates where scanpy looks.

    Parameters
    ----------
    adata : anndata.AnnData of shape (n_obs, n_vars)
        The data, changed in place unless `copy`; when anything fails, it is not changed.
        A view becomes actual data, as for scanpy.
    method : str, class or estimator, default="isomap"
        A name such as "landmark_isomap", a class, or an estimator of which a clone is
        fitted. One that is fitted already places the cells by its ``transform``.
    use_rep : str, default=None
        A key of ``obsm``, or "X". None means ``obsm["X_pca"]``, or X itself where there are
        at most 50 variables.
    n_pcs : int, default=None
        How many of the first columns of ``obsm[use_rep]`` are used; None means all.
    layer : str, default=None
        The layer that is embedded instead of X.
    key_added : str, default=None
        The key of the coordinates in ``obsm`` and of the parameters in ``uns``. None means
        ``obsm["X_isomap"]`` and ``uns["isomap"]``, by the name of the method.
    neighbors_key : str, default="auto"
        Where the neighbours go that a method on a neighbourhood graph is made from, if it
        has an `n_neighbors`. "auto" means "neighbors", scanpy's default; where neighbours
        that planish did not make are there already, ``"{key}_neighbors"``. None means
        nowhere.
    copy : bool, default=False
        Whether to change and return a copy.
    **params : dict
        Parameters of the method, such as ``n_neighbors=12``.

    Returns
    -------
    adata : anndata.AnnData or None
        The changed copy if `copy`, else None. These fields are set:

        ``obsm["X_isomap"]`` or ``obsm[key_added]``
            Coordinates, of shape (n_obs, n_components).
        ``uns["isomap"]`` or ``uns[key_added]``
            ``params``, ``method``, the key of the neighbours, and the version of planish.
        ``uns["neighbors"]``, ``obsp["distances"]``, ``obsp["connectivities"]``
            The neighbours, each with its distance, and how strongly cells are connected;
            for another key ``obsp["{key}_distances"]`` and ``obsp["{key}_connectivities"]``.

    Raises
    ------
    InputError
        The representation is not there, lies on disk, or holds missing numbers.
    ParameterError
        A key would replace what planish did not write.

    See Also
    --------
    planish.KNeighborsTransformer : For ``scanpy.pp.neighbors(adata, transformer=...)``.

    Notes
    -----
    Connectivities are Gaussian, each cell with its own width, the median distance to its
    neighbours [1]_, which scanpy calls ``method="gauss"``. scanpy counts a cell among its
    own neighbours, so ``uns["neighbors"]["params"]["n_neighbors"]`` is one more than the
    method's. They are searched once more, exactly, for this.

    ``X_diffusion_maps`` has no column for the steady state, which is the first of scanpy's
    ``X_diffmap``.

    References
    ----------
    .. [1] L. Haghverdi, M. Büttner, F. A. Wolf, F. Buettner, F. J. Theis, "Diffusion
       pseudotime robustly reconstructs lineage branching", Nature Methods 13 (2016).

    Examples
    --------
    ::

        import planish, scanpy as sc

        adata = sc.datasets.pbmc68k_reduced()
        planish.anndata.embed(adata, "isomap", use_rep="X_pca", n_neighbors=12)
        sc.pl.embedding(adata, basis="isomap", color="bulk_labels")
    """
    _require_annotated(adata)
    for name, value in (("use_rep", use_rep), ("layer", layer), ("key_added", key_added),
                        ("neighbors_key", neighbors_key)):  # fmt: skip
        if not isinstance(value, (str, type(None))):
            raise ParameterError(f"parameter `{name}`: expected a string or None, got {value!r}")
    estimator, fitted = prepared(method, params)
    key = key_of(estimator) if key_added is None else key_added
    keys = _Keys(key, f"X_{key}" if key_added is None else key_added)
    keys.require_free(adata)
    require_key(adata, neighbors_key, keys.uns)
    rows, source = _representation(adata, use_rep, n_pcs, layer)
    _require_finite(adata, rows, source)
    found = estimator.transform(rows) if fitted else estimator.fit_transform(rows)
    graph = None
    if neighbors_key is not None and not fitted:
        graph = graph_of(estimator, rows)
    if graph is None and neighbors_key not in (None, "auto"):
        raise ParameterError(
            f"parameter `neighbors_key`: {type(estimator).__name__} as it is here has no graph of "
            "nearest neighbours to write; pass neighbors_key=None"
        )
    links = None if graph is None else connectivities(graph.distances)
    # Whatever may fail has been done.
    target = adata.copy() if copy else adata
    target.obsm[keys.obsm] = np.asarray(found)
    described = {"params": {**_plain(estimator), **source}, "method": type(estimator).__name__}
    if graph is not None:
        where = key_for(target, neighbors_key, key)
        write(target, where, graph, links, source)
        described["neighbors_key"] = where
    target.uns[keys.uns] = {**described, MARK: version_of_planish()}
    return target if copy else None


@dataclass(frozen=True)
class _Keys:
    """Where results go."""

    uns: str
    obsm: str

    def require_free(self, adata: Any) -> None:
        """Refuse to replace what somebody else wrote; our own results are replaced."""
        ours = MARK in mapping(adata.uns.get(self.uns))
        for name, there in (("obsm", self.obsm in adata.obsm), ("uns", self.uns in adata.uns)):
            if there and not ours:
                key = self.obsm if name == "obsm" else self.uns
                raise ParameterError(
                    f"parameter `key_added`: {name}[{key!r}] is there already and is not from "
                    "planish; pass another key_added=..., or delete it first"
                )


def _require_annotated(adata: Any) -> None:
    if all(hasattr(adata, name) for name in ("obsm", "obsp", "uns", "obs_names", "n_vars")):
        return
    todo = "data frames are embedded by planish.embed(frame, ...)"
    if isinstance(adata, str):
        todo = "read the file first, e.g. by anndata.read_h5ad"
    raise InputError(f"expected annotated data (AnnData), got {type(adata).__name__}; {todo}")


# -- what is embedded -------------------------------------------------------------------


def _representation(
    adata: Any, use_rep: str | None, n_pcs: int | None, layer: str | None
) -> tuple[Any, dict[str, Any]]:
    """Return the matrix that is meant and how scanpy calls it."""
    if layer is not None:
        if use_rep not in (None, "X") or n_pcs is not None:
            raise ParameterError("parameter `layer`: give a layer or `use_rep`, not both")
        if layer not in adata.layers:
            raise ParameterError(
                f"parameter `layer`: there is no layer {layer!r}; {_listed(adata.layers)}"
            )
        return _in_memory(adata.layers[layer], f"layers[{layer!r}]"), {"layer": layer}
    if use_rep is None:
        use_rep = "X" if "X_pca" not in adata.obsm and adata.n_vars <= _FEW else "X_pca"
        if use_rep not in (*adata.obsm, "X"):
            raise InputError(
                f"there are {adata.n_vars} variables and no obsm['X_pca']: run "
                "scanpy.pp.pca(adata) first, or pass use_rep='X' to embed all of them"
            )
    if use_rep in adata.obsm:
        rows = _in_memory(adata.obsm[use_rep], f"obsm[{use_rep!r}]")
        if n_pcs is None:
            return rows, {"use_rep": use_rep}
        if not isinstance(n_pcs, (int, np.integer)) or not 0 < n_pcs <= rows.shape[1]:
            raise ParameterError(
                f"parameter `n_pcs`: obsm[{use_rep!r}] has {rows.shape[1]} columns, got {n_pcs!r}"
            )
        return rows[:, : int(n_pcs)], {"use_rep": use_rep, "n_pcs": int(n_pcs)}
    if use_rep != "X":
        raise ParameterError(
            f"parameter `use_rep`: there is no obsm[{use_rep!r}]; {_listed(adata.obsm)}, and 'X'"
        )
    if n_pcs is not None:
        raise ParameterError("parameter `n_pcs`: X has no principal components; pass use_rep")
    if adata.isbacked:
        raise InputError(
            "X lies on disk (backed mode): load it by adata.to_memory() first, or pass a use_rep "
            "of obsm"
        )
    return _in_memory(adata.X, "X"), {"use_rep": "X"}


def _in_memory(rows: Any, where: str) -> Any:
    if rows is None:
        raise InputError(f"{where} is empty; pass a use_rep of obsm")
    if hasattr(rows, "iloc"):
        rows = rows.to_numpy()
    if hasattr(rows, "dask"):
        raise InputError(f"{where} is a Dask array: load it by its compute() first")
    if _data.is_sparse(rows):
        return sparse.csr_array(rows)
    if not isinstance(rows, np.ndarray):
        raise InputError(
            f"{where} is a {type(rows).__name__}; an array or a sparse matrix is needed"
        )
    # anndata's own kinds of array would take their notes along.
    return np.asarray(rows)


def _require_finite(adata: Any, rows: Any, source: dict[str, Any]) -> None:
    """Name the cell and the column of the first number that is missing."""
    values = rows.data if _data.is_sparse(rows) else rows
    if values.dtype.kind not in "fiub":
        raise InputError(f"the data holds {values.dtype}, not numbers")
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    if _data.is_sparse(rows):
        entry = int(np.flatnonzero(~np.isfinite(values))[0])
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        column, value = int(rows.indices[entry]), values[entry]
    else:
        row, column = (int(one) for one in np.argwhere(~np.isfinite(rows))[0])
        value = rows[row, column]
    by_gene = source.get("use_rep", "X") == "X"
    where = f"variable {adata.var_names[column]!r}" if by_gene else f"column {column}"
    named = f"obsm[{source['use_rep']!r}]" if not by_gene else source.get("layer", "X")
    raise InputError(
        f"{named} has {value} for cell {adata.obs_names[row]!r} (row {row}), {where}; remove such "
        "cells first"
    )


# -- what is written ----------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Return parameters as an h5ad file can store them; None is left out."""
    if hasattr(value, "get_params"):
        value = value.get_params(deep=False)
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items() if one is not None}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(one, (int, float)) for one in value):
        return np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value
    return getattr(value, "__name__", None) or repr(value)


def _listed(there: Any) -> str:
    return "there are " + ", ".join(map(repr, there)) if len(there) else "there are none"
