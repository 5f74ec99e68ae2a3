"""planish.anndata without scanpy, and so with the oldest anndata; more in test_scanpy.py."""

import anndata
import numpy as np
import pytest
from scipy import sparse

from conftest import swiss_roll
from planish import PCA, Isomap
from planish.anndata import embed

X = swiss_roll(200).astype(np.float32)


# So few points of a roll have shortcuts.
@pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning")
def test_results_are_there_and_stay_in_a_file(tmp_path):
    cells = anndata.AnnData(X.copy())
    embed(cells, "isomap", n_neighbors=8)
    np.testing.assert_array_equal(cells.obsm["X_isomap"], Isomap(n_neighbors=8).fit_transform(X))
    assert cells.uns["neighbors"]["params"]["n_neighbors"] == 9
    cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert read.uns["isomap"]["params"]["n_neighbors"] == 8
    for there, again in ((cells.obsm, read.obsm), (cells.obsp, read.obsp)):
        assert set(there) == set(again)
    assert (read.obsp["connectivities"] != cells.obsp["connectivities"]).nnz == 0


def test_sparse_counts_and_fitted_estimators():
    cells = anndata.AnnData(sparse.csr_matrix(np.abs(X)))
    copy = embed(cells, "pca", n_components=2, copy=True)
    assert "X_pca" in copy.obsm
    assert not cells.obsm
    new = anndata.AnnData(X[:50] + 0.01)
    model = PCA(2).fit(X)
    embed(new, model, key_added="placed")
    np.testing.assert_array_equal(new.obsm["placed"], model.transform(X[:50] + 0.01))
