"""What the tests of model files have in common: data of every kind, and forged files."""

import json

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import planish


def sheet(rows=60):
    u, v = np.random.default_rng(0).random((100, 2))[:rows].T
    return np.column_stack([np.sin(u), np.cos(u), v, u * v])


def distances():
    return squareform(pdist(sheet()))


def uneven():
    """Affinities whose two directions differ."""
    A = np.exp(-distances())
    A[2, 7] *= 1.5
    return A


def nearest(n_neighbors=7):
    return planish.neighbors_graph(sheet(), n_neighbors=n_neighbors)


def noisy_diagonal():
    D = distances()
    np.fill_diagonal(D, np.linspace(0, 1e-15, len(D)))
    return D


OTHER_KINDS = {
    "precomputed": (planish.ClassicalMDS(metric="precomputed"), distances()),
    "noisy diagonal": (planish.ClassicalMDS(metric="precomputed"), noisy_diagonal()),
    "graph": (planish.Isomap(n_neighbors=5, metric="precomputed"), nearest()),
    "foreign metric": (planish.Isomap(n_neighbors=6, metric="canberra"), sheet()),
    "learned metric": (planish.Isomap(n_neighbors=6, metric="mahalanobis"), sheet()),
    "evaluated metric": (
        planish.MDS(metric="minkowski", metric_params={"p": 3, "w": np.arange(4.0)}),
        sheet(),
    ),
    "lists": (planish.LocallyLinearEmbedding(neighbors=nearest(9)), sheet()),
    "lists under a metric": (planish.LocallyLinearEmbedding(metric="canberra"), sheet()),
    "equal rows": (
        planish.LocallyLinearEmbedding(metric="canberra", n_neighbors=6),
        np.vstack([sheet(), sheet(9)]),
    ),
    "affinities": (planish.SpectralEmbedding(affinity="precomputed"), uneven()),
    "sparse affinities": (
        planish.SpectralEmbedding(affinity="precomputed"),
        sparse.csr_array(np.where(uneven() > 0.5, uneven(), 0)),
    ),
    "neighbours": (
        planish.SpectralEmbedding(affinity="precomputed_nearest_neighbors", n_neighbors=5),
        nearest(),
    ),
    "kernel": (planish.KernelMDS(2, kernel="precomputed"), sheet() @ sheet().T),
    "foreign kernel": (planish.KernelMDS(2, kernel="laplacian"), sheet()),
    "inverse": (planish.KernelMDS(2, kernel="rbf", fit_inverse_transform=True), sheet()),
    "sparse points": (planish.PCA(2), sparse.csr_array(sheet())),
    "columns first": (planish.Isomap(n_neighbors=6, metric="canberra"), np.asfortranarray(sheet())),
    "start": (planish.TSNE(init=sheet()[:, :2], perplexity=8, max_iter=60), sheet()),
    "random state": (
        planish.TSNE(random_state=np.random.RandomState(3), perplexity=8, max_iter=60),
        sheet(),
    ),
    "tsne affinities": (
        planish.TSNE(affinities="precomputed", init="random", max_iter=60),
        sparse.csr_array(np.exp(-distances()) * (distances() > 0)),
    ),
    "numpy scalars": (planish.PCA(np.int16(2), whiten=np.bool_(True)), sheet()),
    "columns left out": (planish.KernelMDS(n_components=20, remove_zero_eig=True), sheet()),
    "infinite": (planish.Isomap(n_neighbors=None, radius=np.inf), sheet()),
}


def fnv(parts):
    """The checksum of the guide."""
    raw = b"".join(parts)
    value = 0xCBF29CE484222325
    words = [raw[i : i + 8].ljust(8, b"\0") for i in range(0, len(raw), 8)]
    for word in [*(int.from_bytes(w, "little") for w in words), len(raw)]:
        value = (value ^ word) * 0x0100000001B3 % 2**64
        value ^= value >> 29
    return f"{value:016x}"


def forged(raw, change, change_arrays=None):
    """A file with another header, or other arrays, and a right checksum.

    `change_arrays` gets the descriptions of the arrays and their bytes.
    """
    length = int.from_bytes(raw[:8], "little")
    outer, data = json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])
    about = json.loads(outer["__metadata__"]["planish"])
    change(about)
    if change_arrays is not None:
        change_arrays([one for name, one in outer.items() if name != "__metadata__"], data)
    about["checksum"] = "0" * 16 + fnv([data])
    outer["__metadata__"]["planish"] = json.dumps(about, separators=(",", ":"))
    text = json.dumps(outer, separators=(",", ":")).encode()
    sum_ = fnv([len(text).to_bytes(8, "little"), text])
    text = text.replace(b'checksum\\":\\"' + b"0" * 16, b'checksum\\":\\"' + sum_.encode(), 1)
    return len(text).to_bytes(8, "little") + text + data
