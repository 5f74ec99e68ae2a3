"""Published facts that need data the project does not carry.

    python benches/facts.py DIRECTORY

The directory holds ``isomap_faces_698x1024.npz``: the 698 images of a face of
Tenenbaum, de Silva and Langford (2000) with their true pose and light. Printed
are the residual variances of Isomap and how well each latent is explained,
beside the values that scikit-learn 1.9.1 gives; the exit code says whether all
agree.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

from planish import Isomap, LandmarkIsomap, residual_variance

RESIDUAL_VARIANCES = [0.200, 0.087, 0.026, 0.022, 0.016, 0.014]
LATENT_R_SQUARED = [0.874, 0.983, 0.831]
ROUNDING = 0.0011  # the values are given to three digits


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    faces = np.load(Path(sys.argv[1]) / "isomap_faces_698x1024.npz")
    images = next(faces[name] for name in faces if faces[name].shape == (698, 1024))
    latents = next(faces[name] for name in faces if faces[name].shape == (698, 3))
    images = images.astype(np.float64)

    curve = residual_variance(images, 6, n_neighbors=6)
    good = compare("residual variance, d = 1..6", curve.values, RESIDUAL_VARIANCES)
    print(f"elbow at {curve.elbow} (3 expected)")

    placed = Isomap(n_neighbors=6, n_components=3).fit_transform(images)
    good &= compare("R² of each latent, p = 3", explained(latents, placed), LATENT_R_SQUARED)

    some = LandmarkIsomap(n_neighbors=6, n_components=3, n_landmarks=100).fit_transform(images)
    print(f"the same with 100 landmarks: {np.round(explained(latents, some), 3)}")
    return 0 if good and curve.elbow == 3 else 1


def explained(latents: np.ndarray, placed: np.ndarray) -> np.ndarray:
    """R² of each column of the latents, regressed on the embedding."""
    design = np.column_stack([placed, np.ones(len(placed))])
    rest = latents - design @ np.linalg.lstsq(design, latents, rcond=None)[0]
    return 1 - (rest**2).sum(axis=0) / ((latents - latents.mean(axis=0)) ** 2).sum(axis=0)


def compare(what: str, found: np.ndarray, expected: list[float]) -> bool:
    agree = bool(np.abs(np.asarray(found) - expected).max() <= ROUNDING)
    print(f"{what}: {np.round(found, 3)}, expected {expected}: {'agree' if agree else 'DIFFER'}")
    return agree


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
