//! Lengths of shortest paths on the manifolds where they have a closed form.
//!
//! Place: coordinates of a [`super::Dataset`] in, distances out. Flat manifolds have
//! Euclidean distances in their coordinates, closed ones the shorter way round each
//! circle. A path that would cross a hole follows its rim: it is a straight line to the
//! rim, a part of the rim, and a straight line from it. Cost: O(p) per pair.

use std::f64::consts::{PI, TAU};

use ndarray::{Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};

/// The distances that belong to the coordinates of a data set.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Geometry {
    /// Euclidean.
    Flat,
    /// Euclidean, each coordinate a circle of this length.
    Periodic(f64),
    /// Euclidean in the plane around a hole: first and last value of the first coordinate
    /// in it, first and last of the second.
    Holed([f64; 4]),
    /// The unit sphere in stereographic coordinates, without a cap of this angular radius.
    Punctured(f64),
    /// No closed form.
    Unknown,
}

/// Distances from some rows (all for `None`) to all rows.
pub(crate) fn between(
    coordinates: ArrayView2<'_, f64>,
    geometry: &Geometry,
    rows: Option<&[usize]>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    if *geometry == Geometry::Unknown {
        return Err(Error::Unsupported(
            "the geodesic distances of this data set have no closed form; approximate them by \
             geodesic_distances on the neighbourhood graph of many rows"
                .into(),
        ));
    }
    let n = coordinates.nrows();
    let all: Vec<usize> = (0..n).collect();
    let rows = rows.unwrap_or(&all);
    if let Some(row) = rows.iter().find(|&&row| row >= n) {
        return Err(Error::param("rows", format!("row {row} does not exist, rows are 0..{n}")));
    }
    let need = 8 * (rows.len() as u64).saturating_mul(n as u64);
    ctx.reserve(need, "the matrix of geodesic distances", "ask for fewer rows")?;
    ctx.stage("distances", rows.len());
    let mut found = Array2::zeros((rows.len(), n));
    ctx.answer(|| {
        let mut parts: Vec<_> = rows.iter().zip(found.rows_mut()).collect();
        parts.par_iter_mut().try_for_each(|(row, distances)| {
            ctx.check()?;
            let from = coordinates.row(**row);
            for (to, distance) in coordinates.rows().into_iter().zip(distances.iter_mut()) {
                *distance = geometry.distance(from, to);
            }
            ctx.advance(1);
            Ok(())
        })
    })?;
    Ok(found)
}

impl Geometry {
    fn distance(&self, a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
        match self {
            Geometry::Flat => euclidean(a, b, |gap| gap),
            Geometry::Periodic(length) => euclidean(a, b, |gap| gap.abs().min(length - gap.abs())),
            Geometry::Holed(hole) => around_hole([a[0], a[1]], [b[0], b[1]], hole),
            Geometry::Punctured(opening) => around_cap(a, b, *opening),
            Geometry::Unknown => f64::NAN,
        }
    }
}

fn euclidean(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>, gap: impl Fn(f64) -> f64) -> f64 {
    a.iter().zip(b).map(|(x, y)| gap(x - y)).map(|gap| gap * gap).sum::<f64>().sqrt()
}

type Place = [f64; 2];

fn length(a: Place, b: Place) -> f64 {
    libm::hypot(a[0] - b[0], a[1] - b[1])
}

/// The shortest way between two places that does not enter a rectangle: straight, by one
/// of its corners, or by two that are joined by an edge.
fn around_hole(a: Place, b: Place, hole: &[f64; 4]) -> f64 {
    if !crosses(a, b, hole) {
        return length(a, b);
    }
    let [x0, x1, y0, y1] = *hole;
    let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
    let mut shortest = f64::INFINITY;
    for (i, &first) in corners.iter().enumerate() {
        if crosses(a, first, hole) {
            continue;
        }
        for last in [first, corners[(i + 1) % 4], corners[(i + 3) % 4]] {
            if !crosses(last, b, hole) {
                shortest = shortest.min(length(a, first) + length(first, last) + length(last, b));
            }
        }
    }
    shortest
}

/// Whether a segment has a part inside the rectangle that is longer than rounding.
fn crosses(a: Place, b: Place, hole: &[f64; 4]) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let (low, high) = (hole[2 * axis], hole[2 * axis + 1]);
        let step = b[axis] - a[axis];
        if step == 0.0 {
            if a[axis] <= low || a[axis] >= high {
                return false;
            }
            continue;
        }
        let (t, u) = ((low - a[axis]) / step, (high - a[axis]) / step);
        enter = enter.max(t.min(u));
        leave = leave.min(t.max(u));
    }
    leave - enter > 1e-12
}

/// The shortest way between two places of the unit sphere that does not enter the cap of
/// angular radius `opening` around the pole. From colatitude a the rim is touched at an
/// angle of longitude φ with cos φ = tan r / tan a, after an arc t with cos t = cos a / cos r
/// (right spherical triangles).
fn around_cap(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>, opening: f64) -> f64 {
    let (p, q) = (on_sphere(a), on_sphere(b));
    let cross = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
    let sine = cross.iter().map(|part| part * part).sum::<f64>().sqrt();
    let straight = libm::atan2(sine, p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
    let tangent = |place: [f64; 3]| {
        let colatitude = libm::atan2(libm::hypot(place[0], place[1]), place[2]);
        // Beyond this no great circle through the place touches the cap from outside.
        (colatitude <= PI - opening).then(|| {
            let turn = (libm::tan(opening) / libm::tan(colatitude)).clamp(-1.0, 1.0);
            let arc = (libm::cos(colatitude) / libm::cos(opening)).clamp(-1.0, 1.0);
            (libm::acos(turn), libm::acos(arc))
        })
    };
    let (Some((turn_a, arc_a)), Some((turn_b, arc_b))) = (tangent(p), tangent(q)) else { return straight };
    let apart = (libm::atan2(p[1], p[0]) - libm::atan2(q[1], q[0])).abs();
    let rim = apart.min(TAU - apart) - turn_a - turn_b;
    if rim > 0.0 { arc_a + arc_b + libm::sin(opening) * rim } else { straight }
}

/// The place on the unit sphere of stereographic coordinates from the north pole.
fn on_sphere(flat: ArrayView1<'_, f64>) -> [f64; 3] {
    let square = flat[0] * flat[0] + flat[1] * flat[1];
    let scale = 2.0 / (square + 1.0);
    [scale * flat[0], scale * flat[1], (square - 1.0) / (square + 1.0)]
}
