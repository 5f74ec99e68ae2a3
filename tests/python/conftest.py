"""Data sets and comparisons the tests share."""

from __future__ import annotations

import os

import hypothesis
import numpy as np
import pytest

# Examples are drawn the same way each time: a failure in one run is a failure in all.
hypothesis.settings.register_profile("planish", deadline=None, derandomize=True)
hypothesis.settings.load_profile("planish")

# scikit-learn's battery checks array API input only when SciPy is told to support it.
os.environ["SCIPY_ARRAY_API"] = "1"


def swiss_roll(n, seed=0):
    rng = np.random.default_rng(seed)
    angle = 1.5 * np.pi * (1 + 2 * rng.random(n))
    height = 21 * rng.random(n)
    return np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])


def up_to_sign(a, b):
    """b with each column's sign turned to agree with a."""
    signs = np.sign(np.einsum("ij,ij->j", a, b))
    return b * np.where(signs == 0, 1, signs)


def assert_same_columns(ours, theirs, rtol=1e-7):
    """Equal up to the sign of each column, relative to the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    scale = np.abs(theirs).max()
    assert scale > 0
    np.testing.assert_allclose(up_to_sign(theirs, ours), theirs, rtol=0, atol=rtol * scale)


@pytest.fixture(scope="session")
def roll():
    return swiss_roll(400)


@pytest.fixture
def blob():
    return np.random.default_rng(3).normal(size=(60, 5)) * [5, 4, 3, 2, 1]


@pytest.fixture
def two_islands():
    """Two groups of 20 rows far apart: rows 0-19 and 20-39."""
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 100.0])
