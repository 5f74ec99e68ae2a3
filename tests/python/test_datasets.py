"""Data sets with known truth: bits, geodesics, parameters."""

import pickle
from hashlib import blake2b

import numpy as np
import pytest

import planish
from planish import datasets
from planish.exceptions import MemoryNeedError, ParameterError, UnsupportedError

MAKERS = {
    name: getattr(datasets, name)
    for name in datasets.__all__
    if name not in ("Dataset", "rotating_object")
}

# The bits of 50 points with noise 0.1 and seed 3: the same on every machine.
DIGESTS = {
    "cube": "7fa3c8e16b94ab17",
    "flat_torus": "285501d1b66d9141",
    "gaussian_clusters": "18da3a66a62073bf",
    "helix": "fada510527afd83d",
    "punctured_sphere": "abfa4d2e14188ad3",
    "rotating_object": "b9211f5100e58df7",
    "s_curve": "22156ce46e7634ee",
    "swiss_roll": "5da72a6a5ede55fb",
    "swiss_roll_with_hole": "777fe5b89d9cfd14",
    "toroidal_helix": "43c6e28d82719ad2",
    "torus": "4dffd8947016ed39",
    "twin_peaks": "70fcb60650a6d99e",
}


@pytest.mark.parametrize("name", [*MAKERS, "rotating_object"])
def test_a_seed_gives_the_same_bits_everywhere(name):
    made = getattr(datasets, name)(50, noise=0.1, random_state=3)
    bits = np.concatenate([made.points.ravel(), made.coordinates.ravel(), made.color])
    assert blake2b(bits.astype("<f8").tobytes(), digest_size=8).hexdigest() == DIGESTS[name]
    again = getattr(datasets, name)(50, noise=0.1, random_state=3)
    assert (again.points == made.points).all()
    other = getattr(datasets, name)(50, noise=0.1, random_state=4)
    assert (other.points != made.points).any()


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_the_parts_fit_together(name):
    made = MAKERS[name](60)
    X, truth = made
    assert X is made.points
    assert truth is made.coordinates
    assert X.dtype == truth.dtype == np.float64
    assert len(X) == len(truth) == len(made.color) == 60
    copy = pickle.loads(pickle.dumps(made))
    assert (copy.points == X).all()
    if made.has_geodesics:
        distances = made.geodesics()
        assert (made.geodesics(rows=[3, 1]) == distances[[3, 1]]).all()
        np.testing.assert_allclose(distances, distances.T, atol=1e-12)
        assert (copy.geodesics() == distances).all()
    else:
        with pytest.raises(UnsupportedError, match="no closed form"):
            made.geodesics()


# Graph distances over true ones, at twice the density each time (Bernstein, de Silva,
# Langford and Tenenbaum): between 1 - a and 1 + b, and both go to zero.
@pytest.mark.parametrize(
    ("make", "widest", "narrowest"),
    [
        (datasets.swiss_roll, 0.045, 0.012),
        (datasets.swiss_roll_with_hole, 0.045, 0.012),
        (datasets.s_curve, 0.045, 0.012),
        (datasets.punctured_sphere, 0.045, 0.014),
        (datasets.helix, 0.001, 0.0002),
        (datasets.toroidal_helix, 0.003, 0.0004),
        (lambda n: datasets.cube(n, 2, n_features=5), 0.045, 0.014),
        (lambda n: datasets.flat_torus(n, 2), 0.045, 0.014),
        (lambda n: datasets.flat_torus(n, 1), 0.0001, 0.00001),
    ],
    ids=["roll", "hole", "s", "sphere", "helix", "coil", "cube", "torus", "circle"],
)
def test_shortest_paths_through_a_dense_sample_tend_to_the_geodesics(make, widest, narrowest):
    rows = np.arange(40)
    for n, k, bound in [(2000, 12, widest), (8000, 20, narrowest)]:
        made = make(n)
        graph = planish.neighbors_graph(made.points, n_neighbors=k)
        paths, truth = planish.geodesic_distances(graph, sources=rows), made.geodesics(rows)
        far = truth > 0.2 * truth.max()
        ratios = paths[far] / truth[far]
        assert abs(np.median(ratios) - 1) < bound
        assert ratios.min() > 0.96


def test_the_roll_has_the_shape_of_scikit_learns():
    from sklearn.datasets import make_swiss_roll

    theirs, angle = make_swiss_roll(4000, random_state=0)
    ours = datasets.swiss_roll(4000)
    for a, b in [(ours.points, theirs), (ours.color[:, None], angle[:, None])]:
        np.testing.assert_allclose(a.mean(axis=0), b.mean(axis=0), atol=0.05 * np.ptp(b))
        np.testing.assert_allclose(a.min(axis=0), b.min(axis=0), atol=0.01 * np.ptp(b))
        np.testing.assert_allclose(a.max(axis=0), b.max(axis=0), atol=0.01 * np.ptp(b))
    t = ours.color
    expected = np.column_stack([t * np.cos(t), ours.coordinates[:, 1], t * np.sin(t)])
    np.testing.assert_allclose(ours.points, expected, atol=1e-12)


def test_an_isometric_cube_in_many_features():
    flat, bent = datasets.cube(300, 4), datasets.cube(300, 4, n_features=30)
    assert bent.points.shape == (300, 30)
    centered = bent.points - bent.points.mean(axis=0)
    # Four bent edges take a second direction each.
    assert np.linalg.matrix_rank(centered, tol=1e-9) == 8
    straight = datasets.cube(300, 4, n_features=4)
    turned = np.linalg.norm(straight.points[:, None] - straight.points, axis=2)
    np.testing.assert_allclose(turned, straight.geodesics(), atol=1e-12)
    assert (flat.points == flat.coordinates).all()


def test_views_of_an_object():
    made = datasets.rotating_object()
    assert made.points.shape == (72, 32 * 32)
    np.testing.assert_allclose(np.diff(made.coordinates[:, 0]), np.pi / 36)
    assert made.geodesics([0])[0, 71] == pytest.approx(np.pi / 36)
    assert made.points.min() >= 0
    assert 0.5 < made.points.max() <= 1
    near = np.sort((planish.kneighbors(made.points, 2)[1] - np.arange(72)[:, None]) % 72, axis=1)
    assert (near == [1, 71]).all()  # the views before and after
    # Two coordinates suffice for a circle, and go round it in order.
    circle = planish.Isomap(n_neighbors=2).fit_transform(made.points)
    turns = np.diff(np.unwrap(np.arctan2(circle[:, 1], circle[:, 0])))
    assert (np.sign(turns) == np.sign(turns[0])).all()
    assert abs(turns.sum()) == pytest.approx(2 * np.pi * 71 / 72, rel=0.1)


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", None, True])
def test_counts_that_are_no_counts(value):
    with pytest.raises(ParameterError, match="`n_samples`"):
        datasets.swiss_roll(value)
    with pytest.raises(ParameterError, match="`dimension`"):
        datasets.cube(10, value)
    with pytest.raises(ParameterError, match="`views`"):
        datasets.rotating_object(value)


def test_what_cannot_be_made_is_named():
    refused = [
        ("noise", lambda: datasets.helix(10, noise=-0.1)),
        ("noise", lambda: datasets.helix(10, noise="loud")),
        ("noise", lambda: datasets.helix(10, noise=np.nan)),
        ("turns", lambda: datasets.helix(10, turns=0)),
        ("opening", lambda: datasets.punctured_sphere(10, opening=2)),
        ("n_features", lambda: datasets.cube(10, 3, n_features=2)),
        ("n_clusters", lambda: datasets.gaussian_clusters(10, 0)),
        ("separation", lambda: datasets.gaussian_clusters(10, separation=np.inf)),
        ("random_state", lambda: datasets.torus(10, random_state=-1)),
        ("rows", lambda: datasets.helix(10).geodesics([10])),
        ("rows", lambda: datasets.helix(10).geodesics([-1])),
        ("rows", lambda: datasets.helix(10).geodesics([0.5])),
    ]
    for name, make in refused:
        with pytest.raises(ParameterError, match=f"`{name}`"):
            make()
    with pytest.raises(MemoryNeedError):
        datasets.swiss_roll(10**12)
    with pytest.raises(MemoryNeedError):
        datasets.helix(1_000_000).geodesics()
