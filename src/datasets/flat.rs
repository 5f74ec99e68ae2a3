//! Flat data of any dimension: cubes, bent into more dimensions if asked for, products of
//! circles, Gaussian clusters.
//!
//! Place: makers of [`Dataset`]. Cost: O(n·D·d) for a bent cube, else O(n·D).

use std::f64::consts::TAU;

use ndarray::{Array2, ArrayViewMut1};

use super::{Dataset, Geometry, add_noise, at_least, blank, check_size};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::{Stream, normal, unit};

/// The unit cube of any dimension, evenly filled.
///
/// With `n_features` it lies in that many dimensions, in a random position, and as many of
/// its edges are bent into arcs of radius one as there are dimensions left for them.
/// Bending changes no length on the cube: distances along it are those of the coordinates.
///
/// # Errors
/// As [`super::swiss_roll`], no dimension, fewer features than dimensions.
pub fn cube(
    n_samples: usize,
    dimension: usize,
    n_features: Option<usize>,
    noise: f64,
    ctx: &Ctx,
) -> Result<Dataset> {
    at_least("dimension", dimension, 1)?;
    let features = n_features.unwrap_or(dimension);
    if features < dimension {
        let why = format!("must be at least dimension = {dimension}, got {features}");
        return Err(Error::param("n_features", why));
    }
    check_size(n_samples, features.saturating_add(dimension), noise, ctx)?;
    ctx.answer(|| {
        let mut made = blank(n_samples, features, dimension, Geometry::Flat);
        let mut stream = ctx.stream("cube");
        let bent = (features - dimension).min(dimension);
        let frame = match n_features {
            None => None,
            Some(_) => Some(orthonormal_rows(&mut stream, dimension + bent, features, ctx)?),
        };
        let mut straight = vec![0.0; dimension + bent];
        for i in 0..n_samples {
            ctx.check()?;
            let mut coordinates = made.coordinates.row_mut(i);
            coordinates.iter_mut().for_each(|value| *value = unit(&mut stream));
            made.color[i] = coordinates[0];
            let Some(frame) = &frame else {
                made.points.row_mut(i).assign(&coordinates);
                continue;
            };
            for (j, &along) in coordinates.iter().enumerate() {
                straight[j] = if j < bent { libm::sin(along) } else { along };
                if j < bent {
                    straight[dimension + j] = 1.0 - libm::cos(along);
                }
            }
            combine(frame, &straight, made.points.row_mut(i));
        }
        add_noise(&mut made.points, "cube", noise, ctx)?;
        Ok(made)
    })
}

/// The sum of the rows of a frame, each times its weight, in order.
fn combine(frame: &Array2<f64>, weights: &[f64], mut point: ArrayViewMut1<'_, f64>) {
    for (axis, &weight) in frame.rows().into_iter().zip(weights) {
        point.iter_mut().zip(axis).for_each(|(value, &part)| *value += weight * part);
    }
}

/// Random orthonormal rows (Gram and Schmidt, twice for rounding).
fn orthonormal_rows(stream: &mut Stream, count: usize, width: usize, ctx: &Ctx) -> Result<Array2<f64>> {
    ctx.reserve(
        8 * (count as u64).saturating_mul(width as u64),
        "the position of the cube",
        "use fewer features",
    )?;
    let mut frame = Array2::from_shape_simple_fn((count, width), || normal(stream));
    for i in 0..count {
        ctx.check()?;
        let (known, mut rest) = frame.view_mut().split_at(ndarray::Axis(0), i);
        let mut row = rest.row_mut(0);
        for _ in 0..2 {
            for axis in known.rows() {
                let share: f64 = row.iter().zip(axis).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(axis).for_each(|(value, &part)| *value -= share * part);
            }
        }
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        row.iter_mut().for_each(|value| *value /= length);
    }
    Ok(frame)
}

/// The product of `dimension` circles of radius one in twice as many features: flat, and
/// without an edge. Coordinates are the angles. One circle is a circle.
///
/// # Errors
/// As [`super::swiss_roll`], and no dimension.
pub fn flat_torus(n_samples: usize, dimension: usize, noise: f64, ctx: &Ctx) -> Result<Dataset> {
    at_least("dimension", dimension, 1)?;
    check_size(n_samples, dimension.saturating_mul(3), noise, ctx)?;
    ctx.answer(|| {
        let mut made = blank(n_samples, 2 * dimension, dimension, Geometry::Periodic(TAU));
        let mut stream = ctx.stream("flat_torus");
        for i in 0..n_samples {
            ctx.check()?;
            for j in 0..dimension {
                let angle = TAU * unit(&mut stream);
                made.coordinates[[i, j]] = angle;
                made.points[[i, 2 * j]] = libm::cos(angle);
                made.points[[i, 2 * j + 1]] = libm::sin(angle);
            }
            made.color[i] = made.coordinates[[i, 0]];
        }
        add_noise(&mut made.points, "flat_torus", noise, ctx)?;
        Ok(made)
    })
}

/// Normal clusters of standard deviation one, row i in cluster i mod `n_clusters`, with
/// centres that are `separation` apart in the quadratic mean. The coordinates are the
/// points, and the colour is the cluster.
///
/// # Errors
/// As [`super::swiss_roll`], no cluster or feature, a separation that is no distance.
pub fn gaussian_clusters(
    n_samples: usize,
    n_clusters: usize,
    n_features: usize,
    separation: f64,
    noise: f64,
    ctx: &Ctx,
) -> Result<Dataset> {
    at_least("n_clusters", n_clusters, 1)?;
    at_least("n_features", n_features, 1)?;
    if !(separation >= 0.0 && separation.is_finite()) {
        let why = format!("must be a finite number of at least 0, got {separation}");
        return Err(Error::param("separation", why));
    }
    check_size(n_samples.saturating_add(n_clusters), n_features.saturating_mul(2), noise, ctx)?;
    at_least("n_samples", n_samples, 1)?;
    ctx.answer(|| {
        let mut stream = ctx.stream("gaussian_clusters");
        let spread = separation / (2.0 * n_features as f64).sqrt();
        let centers = Array2::from_shape_simple_fn((n_clusters, n_features), || spread * normal(&mut stream));
        let mut made = blank(n_samples, n_features, n_features, Geometry::Flat);
        for i in 0..n_samples {
            ctx.check()?;
            let cluster = i % n_clusters;
            let mut place = made.coordinates.row_mut(i);
            place
                .iter_mut()
                .zip(centers.row(cluster))
                .for_each(|(value, &center)| *value = center + normal(&mut stream));
            made.color[i] = cluster as f64;
        }
        made.points.assign(&made.coordinates);
        add_noise(&mut made.points, "gaussian_clusters", noise, ctx)?;
        Ok(made)
    })
}
