"""How often Isomap tells of shortcuts: on spoilt maps of Swiss rolls, and on clean data.

    python benches/shortcuts.py [FIRST_SEED LAST_SEED]

A map of a roll is spoilt when its affine residual against the true coordinates is above 0.3
(sound ones are below 0.1). The rule of `src/graph/shortcuts/widespread.rs` was tuned on other
seeds than those that are run without arguments. The exit code says whether nine of ten spoilt
maps are told, with at most one false alarm in fifty.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.datasets import load_digits

from planish import Isomap, datasets
from planish.exceptions import PlanishWarning, ShortcutWarning

SPOILT = 0.3
HELD_OUT = (500, 506)
NEIGHBORS = (6, 10, 14)


def main() -> int:
    first, last = map(int, sys.argv[1:]) if len(sys.argv) == 3 else HELD_OUT
    start = time.perf_counter()
    spoilt, told, sound, alarms = (Counter() for _ in range(4))
    for seed in range(first, last):
        for n in (300, 600, 1000, 3000) if seed % 2 else (300, 600, 1000):
            for noise in (0.0, 0.4):
                data = datasets.swiss_roll(n, noise=noise, random_state=seed)
                for k in NEIGHBORS:
                    Y, alarm = fitted(data.points, k)
                    bad = residual(data.coordinates, Y) > SPOILT
                    (spoilt if bad else sound)[n, noise, k] += 1
                    (told if bad else alarms)[n, noise, k] += alarm
    for key in sorted(spoilt | sound):
        name = "n = {}, noise {}, k = {}".format(*key)
        print(f"{name}: {told[key]} of {spoilt[key]} told; {alarms[key]} of {sound[key]} alarmed")
    clean, false = 0, []
    for seed in range(first, last):
        for name, X in clean_data(seed):
            for k in NEIGHBORS:
                clean += 1
                if fitted(X, k)[1]:
                    false.append(f"{name}, n = {len(X)}, k = {k}, seed {seed}")
    total, found = spoilt.total(), told.total()
    print(f"{found} of {total} spoilt maps told; {alarms.total()} of {sound.total()} sound maps")
    print(f"of {clean} maps of clean data {len(false)} alarmed: {false}")
    print(f"{time.perf_counter() - start:.0f} s")
    quiet = 50 * (alarms.total() + len(false)) <= sound.total() + clean
    return 0 if 10 * found >= 9 * total and quiet else 1


def fitted(X: np.ndarray, k: int) -> tuple[np.ndarray, bool]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", PlanishWarning)
        Y = Isomap(n_neighbors=k).fit_transform(X)
    return Y, any(issubclass(one.category, ShortcutWarning) for one in seen)


def residual(truth: np.ndarray, Y: np.ndarray) -> float:
    truth, design = truth - truth.mean(axis=0), np.column_stack([Y, np.ones(len(Y))])
    rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return float(np.linalg.norm(rest) / np.linalg.norm(truth))


def clean_data(seed: int) -> list[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * rng.random(600)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    centres = np.array([[0, 0], [4, 0], [0, 4], [4, 4]], dtype=float)
    sets = [
        ("two-dimensional clusters", centres[np.arange(800) % 4] + rng.normal(size=(800, 2))),
        ("cylinder", np.column_stack([ring, rng.random(600)])),
        ("ring", ring + 0.1 * rng.normal(size=ring.shape)),
        ("Gaussian", rng.normal(size=(500, 10))),
    ]
    for n in (300, 1000):
        sets += [
            ("S-curve", datasets.s_curve(n, random_state=seed).points),
            ("torus", datasets.torus(n, random_state=seed).points),
            ("punctured sphere", datasets.punctured_sphere(n, random_state=seed).points),
            *[(f"{d}-cube", datasets.cube(n, d, random_state=seed).points) for d in (2, 3, 4, 5)],
        ]
    if seed % 3 == 0:
        sets += [
            ("digits", load_digits().data),
            ("views", datasets.rotating_object(72 + seed % 50, size=16).points),
        ]
    return sets


if __name__ == "__main__":
    sys.exit(main())
