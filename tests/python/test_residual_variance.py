"""The residual variance of an embedding."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from planish import (
    ClassicalMDS,
    Isomap,
    residual_variance,
)
from planish.exceptions import (
    InputError,
    ParameterError,
)


# -- residual variance ----------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::planish.exceptions.NegativeEigenvalueWarning")
def test_residual_variance_is_one_minus_r_squared(roll):
    isomap = Isomap(n_neighbors=8, n_components=4).fit(roll)
    curve = residual_variance(isomap, 4)
    geodesic = squareform(isomap.dist_matrix_, checks=False)
    expected = [
        1 - np.corrcoef(geodesic, pdist(isomap.embedding_[:, :d]))[0, 1] ** 2 for d in range(1, 5)
    ]
    np.testing.assert_allclose(curve.values, expected, rtol=1e-8, atol=1e-13)
    assert curve.dims.tolist() == [1, 2, 3, 4]
    assert curve.elbow == 2


def test_residual_variance_of_data_and_of_more_dimensions_than_fitted(roll):
    small = Isomap(n_neighbors=8, n_components=2).fit(roll)
    from_fitted = residual_variance(small, [1, 3])
    from_data = residual_variance(roll, [3, 1], n_neighbors=8)
    np.testing.assert_allclose(from_fitted.values, from_data.values, rtol=1e-10)
    assert small.embedding_.shape[1] == 2
    with pytest.raises(ParameterError, match="dims"):
        residual_variance(roll, 0)
    with pytest.raises(ParameterError, match="n_neighbors"):
        residual_variance(small, 2, n_neighbors=3)
    with pytest.raises(InputError, match="Isomap"):
        residual_variance(ClassicalMDS().fit(roll), 2)


def test_the_elbow_is_the_dimension_of_the_manifold():
    rng = np.random.default_rng(1)
    for dimension in (1, 2, 3):
        box = rng.random((800, dimension)) * [1.0, 0.8, 0.6][:dimension]
        bent = np.column_stack([np.sin(2 * box[:, 0]), np.cos(2 * box[:, 0]), *box[:, 1:].T])
        curve = residual_variance(bent, 6, n_neighbors=10)
        assert curve.elbow == dimension


def test_too_many_dimensions_are_refused_at_once(roll):
    for dims in (400, 10**18, [10**18]):
        with pytest.raises(ParameterError, match=r"dims.*at most"):
            residual_variance(roll, dims=dims)
