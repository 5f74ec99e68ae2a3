//! Surfaces in three dimensions: rolled sheets, sphere, torus, twin peaks.
//!
//! Place: makers of [`Dataset`]. The Swiss roll and the S-curve have the shapes of
//! scikit-learn's, so that figures compare; their coordinates are arc length and height,
//! in which they are flat. Cost: O(n).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::{Dataset, Geometry, Row, rows};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::{Stream, draw, unit};

/// Height of the rolled sheet.
const HEIGHT: f64 = 21.0;

/// Angles at which the roll begins and how much it turns.
const ROLL: (f64, f64) = (1.5 * PI, 3.0 * PI);

/// Length of the spiral r = angle from its centre: the integral of √(1 + t²).
fn spiral_length(angle: f64) -> f64 {
    0.5 * (angle * (1.0 + angle * angle).sqrt() + libm::asinh(angle))
}

fn rolled(turn: f64, along: f64) -> Row<3, 2> {
    let (angle, height) = (ROLL.0 + ROLL.1 * turn, HEIGHT * along);
    Row {
        point: [angle * libm::cos(angle), height, angle * libm::sin(angle)],
        coordinates: [spiral_length(angle), height],
        color: angle,
    }
}

/// A rectangle rolled up: the angle is uniform, as in scikit-learn, so that the outer turns
/// are sparser. Coordinates are arc length and height, and distances along the roll are
/// Euclidean in them.
///
/// # Errors
/// No rows, noise below zero, memory, cancellation; so for every data set.
pub fn swiss_roll(n_samples: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    rows("swiss_roll", n_samples, noise, Geometry::Flat, ctx, |stream| {
        let turn = unit(stream);
        rolled(turn, unit(stream))
    })
}

/// The Swiss roll without the middle ninth of its angles and heights. Shortest paths go
/// round the hole: Isomap stretches it, local methods need not.
///
/// # Errors
/// As [`swiss_roll`].
pub fn swiss_roll_with_hole(n_samples: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    let (low, high) = (1.0 / 3.0, 2.0 / 3.0);
    let edge = |turn: f64| spiral_length(ROLL.0 + ROLL.1 * turn);
    let hole = [edge(low), edge(high), HEIGHT * low, HEIGHT * high];
    let inside = |share: f64| share > low && share < high;
    rows("swiss_roll_with_hole", n_samples, noise, Geometry::Holed(hole), ctx, |stream| {
        loop {
            let (turn, along) = (unit(stream), unit(stream));
            if !(inside(turn) && inside(along)) {
                return rolled(turn, along);
            }
        }
    })
}

/// A rectangle bent into the letter S: two arcs of radius one. Coordinates are arc length
/// and depth.
///
/// # Errors
/// As [`swiss_roll`].
pub fn s_curve(n_samples: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    rows("s_curve", n_samples, noise, Geometry::Flat, ctx, |stream| {
        let (arc, depth) = (1.5 * PI * draw(stream), 2.0 * unit(stream));
        let height = (libm::cos(arc) - 1.0) * if arc < 0.0 { -1.0 } else { 1.0 };
        Row { point: [libm::sin(arc), depth, height], coordinates: [arc, depth], color: arc }
    })
}

/// The unit sphere without a cap of angular radius `opening` around its north pole, evenly
/// covered. Coordinates are the stereographic projection from that pole; shortest paths
/// are great circles, and go along the rim where these would cross the cap.
///
/// # Errors
/// As [`swiss_roll`], and an opening that is not between 0 and π/2.
pub fn punctured_sphere(n_samples: usize, opening: f64, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    if !(opening > 0.0 && opening < FRAC_PI_2) {
        return Err(Error::param("opening", format!("must be above 0 and below π/2, got {opening}")));
    }
    let top = libm::cos(opening);
    rows("punctured_sphere", n_samples, noise, Geometry::Punctured(opening), ctx, |stream| {
        let (longitude, height) = (TAU * unit(stream), -1.0 + (top + 1.0) * unit(stream));
        let radius = (1.0 - height * height).max(0.0).sqrt();
        let (x, y) = (radius * libm::cos(longitude), radius * libm::sin(longitude));
        let flat = 1.0 / (1.0 - height);
        Row { point: [x, y, height], coordinates: [x * flat, y * flat], color: height }
    })
}

/// A torus of radii 2 and 1, evenly covered. Coordinates are the two angles; it is curved,
/// and its geodesics have no closed form ([`super::flat_torus`] has).
///
/// # Errors
/// As [`swiss_roll`].
pub fn torus(n_samples: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    let ring = |angle: f64| 2.0 + libm::cos(angle);
    let even = |stream: &mut Stream| loop {
        let angle = TAU * unit(stream);
        // The area at an angle grows with the length of its ring.
        if 3.0 * unit(stream) < ring(angle) {
            return angle;
        }
    };
    rows("torus", n_samples, noise, Geometry::Unknown, ctx, |stream| {
        let (around, tube) = (TAU * unit(stream), even(stream));
        let radius = ring(tube);
        Row {
            point: [radius * libm::cos(around), radius * libm::sin(around), libm::sin(tube)],
            coordinates: [around, tube],
            color: around,
        }
    })
}

/// The surface z = sin(πx)·tanh(3y) over the square [−1, 1]², whose coordinates are x and
/// y. Its geodesics have no closed form.
///
/// # Errors
/// As [`swiss_roll`].
pub fn twin_peaks(n_samples: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    rows("twin_peaks", n_samples, noise, Geometry::Unknown, ctx, |stream| {
        let (x, y) = (draw(stream), draw(stream));
        let height = libm::sin(PI * x) * libm::tanh(3.0 * y);
        Row { point: [x, y, height], coordinates: [x, y], color: height }
    })
}
