"""planish.anndata and KNeighborsTransformer in the hands of scanpy, on the data it brings along."""

import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from scipy import sparse

import planish
from planish import Isomap
from planish.anndata import embed
from planish.exceptions import InputError, ParameterError

# scanpy draws with functions of matplotlib that the newest matplotlib is about to replace.
pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:The set_(bad|under|over) function:PendingDeprecationWarning"
    ),
    # With few neighbours there may be shortcuts between kinds of cells; not what is tested here.
    pytest.mark.filterwarnings("ignore::planish.exceptions.ShortcutWarning"),
]


@pytest.fixture(scope="module")
def blood():
    """700 blood cells with principal components and neighbours, as scanpy ships them."""
    return sc.datasets.pbmc68k_reduced()


@pytest.fixture
def cells(blood):
    """The same without anybody's neighbours."""
    fresh = anndata.AnnData(
        blood.X.copy(), obs=blood.obs[["bulk_labels"]].copy(), var=blood.var[[]]
    )
    fresh.obsm["X_pca"] = blood.obsm["X_pca"].copy()
    return fresh


def test_coordinates_are_where_scanpy_looks(cells):
    assert embed(cells, "isomap", n_neighbors=12) is None
    expected = Isomap(n_neighbors=12).fit_transform(cells.obsm["X_pca"])
    assert np.array_equal(cells.obsm["X_isomap"], expected)
    assert cells.obsm["X_isomap"].dtype == np.float32
    params = cells.uns["isomap"]["params"]
    assert (params["n_neighbors"], params["use_rep"]) == (12, "X_pca")
    axes = sc.pl.embedding(cells, basis="isomap", color="bulk_labels", show=False)
    assert axes.get_xlabel() == "isomap1"
    drawn = np.vstack(
        [points.get_offsets() for points in axes.collections if len(points.get_offsets()) > 1]
    )
    assert len(drawn) == 700


def test_neighbours_are_scanpys_own(cells):
    theirs = cells.copy()
    embed(cells, "isomap", n_neighbors=14)
    sc.pp.neighbors(theirs, n_neighbors=15, use_rep="X_pca", method="gauss", transformer="sklearn")
    for name in ("distances", "connectivities"):
        ours, wanted = cells.obsp[name], theirs.obsp[name]
        assert ours.nnz == wanted.nnz
        np.testing.assert_allclose(ours.toarray(), wanted.toarray(), atol=1e-5)
    known = theirs.uns["neighbors"]
    found = cells.uns["neighbors"]
    assert {key: found[key] for key in known if key != "params"} == {
        key: known[key] for key in known if key != "params"
    }
    for key in ("n_neighbors", "method", "metric", "use_rep"):
        assert found["params"][key] == known["params"][key]


def test_leiden_and_diffusion_work_on_them(cells):
    theirs = cells.copy()
    embed(cells, "spectral_embedding", n_neighbors=14)
    sc.pp.neighbors(theirs, n_neighbors=15, use_rep="X_pca", method="gauss", transformer="sklearn")
    for adata in (cells, theirs):
        sc.tl.leiden(adata, flavor="igraph", n_iterations=2, directed=False)
        sc.tl.diffmap(adata, n_comps=5)
    assert (cells.obs["leiden"] == theirs.obs["leiden"]).all()
    assert 4 < cells.obs["leiden"].nunique() < 15
    np.testing.assert_allclose(cells.uns["diffmap_evals"], theirs.uns["diffmap_evals"], atol=1e-5)


def test_neighbours_of_others_are_left_alone(blood):
    adata = blood.copy()
    embed(adata, "isomap", n_neighbors=12)
    assert adata.uns["neighbors"] == blood.uns["neighbors"]
    assert abs(adata.obsp["connectivities"] - blood.obsp["connectivities"]).nnz == 0
    assert adata.uns["isomap"]["neighbors_key"] == "isomap_neighbors"
    names = adata.uns["isomap_neighbors"]
    assert adata.obsp[names["distances_key"]].nnz == 700 * 12
    sc.tl.leiden(
        adata, neighbors_key="isomap_neighbors", flavor="igraph", n_iterations=2, directed=False
    )
    # What planish wrote it replaces, as scanpy does.
    embed(adata, "isomap", n_neighbors=10, n_components=3)
    assert adata.obsm["X_isomap"].shape == (700, 3)
    assert adata.obsp[names["distances_key"]].nnz == 700 * 10


def test_keys(cells):
    embed(cells, "diffusion_maps", key_added="walk", neighbors_key="near", n_neighbors=20)
    assert set(cells.obsm) == {"X_pca", "walk"}
    assert set(cells.uns) == {"walk", "near"}
    assert set(cells.obsp) == {"near_distances", "near_connectivities"}
    embed(cells, "isomap", n_neighbors=12, neighbors_key=None)
    assert set(cells.obsp) == {"near_distances", "near_connectivities"}
    embed(cells, "tsne", perplexity=5, max_iter=250)
    assert "neighbors" not in cells.uns  # it has no graph of neighbours
    sc.pl.embedding(cells, basis="walk", show=False)


def test_our_transformer_in_scanpys_neighbours(cells):
    theirs = cells.copy()
    ours = planish.KNeighborsTransformer(n_neighbors=15)
    sc.pp.neighbors(cells, use_rep="X_pca", method="gauss", transformer=ours)
    found = cells.obsp["distances"]
    wanted = planish.neighbors_graph(theirs.obsm["X_pca"], n_neighbors=15)
    np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-6)
    assert cells.uns["neighbors"]["params"]["n_neighbors"] == 15
    sc.tl.leiden(cells, flavor="igraph", n_iterations=2, directed=False)
    # scanpy's exact search finds the same cells.
    sc.pp.neighbors(theirs, n_neighbors=16, use_rep="X_pca", method="gauss", transformer="sklearn")
    wanted = theirs.obsp["distances"].toarray()
    np.testing.assert_allclose(found.toarray(), wanted, atol=1e-5)


def test_representations(blood):
    adata = blood.copy()
    few = blood[:, :40].copy()
    del few.obsm["X_pca"]
    for data, arguments, rows in [
        (adata, {"n_pcs": 7}, adata.obsm["X_pca"][:, :7]),
        (adata, {"use_rep": "X"}, adata.X),
        (adata, {"use_rep": "X_umap"}, adata.obsm["X_umap"]),
        (few, {}, few.X),
    ]:
        embed(data, "landmark_mds", n_landmarks=50, **arguments)
        expected = planish.LandmarkMDS(n_landmarks=50).fit_transform(np.asarray(rows))
        assert np.array_equal(data.obsm["X_landmark_mds"], expected), arguments


def test_sparse_counts_layers_and_frames():
    rng = np.random.default_rng(0)
    counts = sparse.random(80, 30, 0.3, format="csr", random_state=0)
    adata = anndata.AnnData(counts, layers={"dense": counts.toarray(), "csc": counts.tocsc()})
    adata.obsm["frame"] = pd.DataFrame(rng.normal(size=(80, 4)), index=adata.obs_names)
    expected = planish.PCA(2).fit_transform(counts.toarray())
    for arguments in ({}, {"layer": "dense"}, {"layer": "csc"}, {"use_rep": "X"}):
        embed(adata, "pca", n_components=2, **arguments)
        np.testing.assert_allclose(adata.obsm["X_pca"], expected, atol=1e-8)
        del adata.obsm["X_pca"]
    embed(adata, "isomap", use_rep="X", n_neighbors=20)
    assert adata.uns["neighbors"]["params"]["use_rep"] == "X"
    embed(adata, "pca", use_rep="frame", key_added="of_frame", n_components=1)
    assert adata.obsm["of_frame"].shape == (80, 1)


def test_copy_views_and_failures_change_nothing(cells):
    copied = embed(cells, "isomap", n_neighbors=12, copy=True)
    assert "X_isomap" in copied.obsm
    assert set(cells.obsm) == {"X_pca"}
    assert not cells.uns
    view = cells[:200]
    with pytest.warns(anndata.ImplicitModificationWarning, match="X_isomap.*of view"):
        embed(view, "isomap", n_neighbors=30)
    assert not view.is_view
    assert set(cells.obsm) == {"X_pca"}
    assert view.obsm["X_isomap"].shape == (200, 2)
    with pytest.raises(ParameterError, match="n_neighbors"):
        embed(cells, "isomap", n_neighbors=700)
    assert set(cells.obsm) == {"X_pca"}
    assert not cells.uns


def test_a_fitted_estimator_places_other_cells(cells):
    model = Isomap(n_neighbors=12).fit(cells.obsm["X_pca"][:600])
    new = cells[600:].copy()
    embed(new, model)
    assert np.array_equal(new.obsm["X_isomap"], model.transform(cells.obsm["X_pca"][600:]))
    assert "neighbors" not in new.uns  # its neighbours are other cells


def test_files_and_backed_mode(cells, tmp_path):
    embed(cells, Isomap(n_neighbors=12, metric="minkowski", metric_params={"w": np.ones(50)}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of h5py and zarr about each other
        cells.write_h5ad(tmp_path / "cells.h5ad")
        again = anndata.read_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert again.uns["isomap"]["params"]["n_neighbors"] == 12
    assert np.array_equal(again.obsm["X_isomap"], cells.obsm["X_isomap"])
    embed(again, n_neighbors=10)  # it knows that these are its own
    assert again.uns["neighbors"]["params"]["n_neighbors"] == 11
    embed(backed, "pca", use_rep="X_pca", n_components=2, key_added="plane")
    assert backed.obsm["plane"].shape == (700, 2)
    with pytest.raises(InputError, match=r"X lies on disk \(backed mode\).*to_memory"):
        embed(backed, "pca", use_rep="X", key_added="other")
    backed.file.close()


def test_equal_cells_are_connected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:10] = X[0]
    adata = anndata.AnnData(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", planish.exceptions.PlanishWarning)
        embed(adata, "isomap", n_neighbors=5)
    weights = adata.obsp["connectivities"]
    assert np.isfinite(weights.data).all()
    assert weights[0, 1] == 1.0  # at distance zero
    assert abs(weights - weights.T).nnz == 0
    assert weights.data.min() > 0
    assert weights.data.max() <= 1


MISTAKES = {
    "no components": (
        {"use_rep": None},
        InputError,
        r"765 variables and no obsm\['X_pca'\]: run scanpy",
    ),
    "use_rep": ({"use_rep": "X_pcb"}, ParameterError, r"no obsm\['X_pcb'\]; there are .*'X_tsne'"),
    "n_pcs": ({"n_pcs": 90}, ParameterError, "has 2 columns, got 90"),
    "n_pcs of X": ({"use_rep": "X", "n_pcs": 9}, ParameterError, "X has no principal components"),
    "layer": ({"layer": "counts"}, ParameterError, "no layer 'counts'; there are none"),
    "both": (
        {"layer": "counts", "n_pcs": 3},
        ParameterError,
        "give a layer or `use_rep`, not both",
    ),
    "key": ({"key_added": "X_tsne"}, ParameterError, r"obsm\['X_tsne'\] is there already"),
    "their key": ({"method": "tsne"}, ParameterError, r"obsm\['X_tsne'\] is there already"),
    "kind": ({"key_added": 3}, ParameterError, "`key_added`: expected a string"),
    "method": ({"method": "umap"}, ParameterError, "'umap' is not known"),
    "no graph": (
        {"method": "pca", "neighbors_key": "n"},
        ParameterError,
        "PCA as it is here has no graph",
    ),
    "key of others": (
        {"neighbors_key": "log1p"},
        ParameterError,
        r"uns\['log1p'\] .* no neighbours",
    ),
    "one key for two": (
        {"neighbors_key": "isomap"},
        ParameterError,
        r"uns\['isomap'\] takes the parameters",
    ),
    "text": ({"use_rep": "words"}, InputError, "holds .*not numbers"),
    "hole": (
        {"use_rep": "holes"},
        InputError,
        r"obsm\['holes'\] has nan for cell '7' \(row 7\), column 1",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake, blood):
    adata = anndata.AnnData(blood.X.copy())
    adata.obsm["X_tsne"] = np.zeros((700, 2))
    adata.obsm["holes"] = np.zeros((700, 2))
    adata.obsm["holes"][7, 1] = np.nan
    adata.obsm["words"] = np.full((700, 2), "word")
    adata.uns["log1p"] = {"base": None}
    arguments, error, message = MISTAKES[mistake]
    with pytest.raises(error, match=message):
        embed(
            adata, **{"use_rep": "X_tsne", **arguments} if "layer" not in arguments else arguments
        )


def test_a_missing_count_is_named_by_cell_and_gene(cells):
    cells.X[5, 3] = np.nan
    gene = cells.var_names[3]
    with pytest.raises(InputError, match=rf"X has nan for cell '{cells.obs_names[5]}'.*'{gene}'"):
        embed(cells, "pca", use_rep="X", key_added="mine")
    cells.X = sparse.csr_matrix(cells.X)
    with pytest.raises(InputError, match=rf"X has nan for cell '{cells.obs_names[5]}'.*'{gene}'"):
        embed(cells, "pca", use_rep="X", key_added="mine")


def test_the_two_embeds_know_each_other(cells):
    with pytest.raises(InputError, match=r"planish.anndata.embed\(adata"):
        planish.embed(cells)
    with pytest.raises(InputError, match=r"planish.embed\(frame"):
        embed(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(InputError, match="read_h5ad"):
        embed("cells.h5ad")
