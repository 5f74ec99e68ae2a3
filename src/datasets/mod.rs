//! Data sets whose truth is known: points, the coordinates they were made from, and the
//! distances along the manifold.
//!
//! Place: beside the dataflow, for tests, benchmarks and first steps. Surfaces are in
//! `surfaces`, curves in `curves`, cubes, tori and clusters in `flat`, images in `solid`;
//! `distances` has the lengths of shortest paths. The same seed gives the same bits on
//! every machine. Cost: n·D numbers, and n² distances where they are asked for.
//!
//! ```
//! use planish::{Ctx, datasets, methods::Isomap};
//!
//! let ctx = Ctx::default();
//! let roll = datasets::swiss_roll(500, 0.0, &ctx)?;
//! assert_eq!((roll.points.dim(), roll.coordinates.dim()), ((500, 3), (500, 2)));
//! let map = Isomap::default().n_neighbors(10).fit(&roll.points, &ctx)?;
//! assert_eq!(map.embedding().unwrap().dim(), (500, 2));
//! assert_eq!(roll.geodesics(Some(&[0]), &ctx)?.dim(), (1, 500));
//! # planish::Result::Ok(())
//! ```

mod curves;
mod distances;
mod flat;
mod solid;
mod surfaces;

use ndarray::{Array1, Array2};

pub use curves::{helix, toroidal_helix};
pub use distances::Geometry;
#[cfg(feature = "python")]
pub(crate) use distances::between as geodesics_between;
pub use flat::{cube, flat_torus, gaussian_clusters};
pub use solid::rotating_object;
pub use surfaces::{punctured_sphere, s_curve, swiss_roll, swiss_roll_with_hole, torus, twin_peaks};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::{Stream, normal};

/// Points of a manifold and what is known about them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Dataset {
    /// One point per row, n × D, noise included.
    pub points: Array2<f64>,
    /// The coordinates on the manifold, n × p, without noise.
    pub coordinates: Array2<f64>,
    /// One number per row to colour it by: the position along the manifold, or the
    /// cluster.
    pub color: Array1<f64>,
    /// Which distances the coordinates have.
    pub geometry: Geometry,
}

impl Dataset {
    /// Lengths of the shortest paths on the manifold from some rows (all for `None`) to
    /// all rows.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where they have no closed form; a row that does not exist;
    /// cancellation, memory.
    pub fn geodesics(&self, rows: Option<&[usize]>, ctx: &Ctx) -> Result<Array2<f64>> {
        distances::between(self.coordinates.view(), &self.geometry, rows, ctx)
    }
}

/// One row of a data set as it is made: its point, coordinates and colour.
struct Row<const D: usize, const P: usize> {
    point: [f64; D],
    coordinates: [f64; P],
    color: f64,
}

/// `n_samples` rows by a function of a random stream, and noise on top.
fn rows<const D: usize, const P: usize>(
    name: &'static str,
    n_samples: usize,
    noise: f64,
    geometry: Geometry,
    ctx: &Ctx,
    mut row: impl FnMut(&mut Stream) -> Row<D, P> + Send,
) -> Result<Dataset> {
    check_size(n_samples, D, noise, ctx)?;
    ctx.answer(|| {
        let mut stream = ctx.stream(name);
        let mut made = blank(n_samples, D, P, geometry);
        for i in 0..n_samples {
            let next = row(&mut stream);
            made.points.row_mut(i).assign(&ndarray::aview1(&next.point));
            made.coordinates.row_mut(i).assign(&ndarray::aview1(&next.coordinates));
            made.color[i] = next.color;
            if i % 4096 == 0 {
                ctx.check()?;
            }
        }
        add_noise(&mut made.points, name, noise, ctx)?;
        Ok(made)
    })
}

fn blank(rows: usize, features: usize, dimension: usize, geometry: Geometry) -> Dataset {
    Dataset {
        points: Array2::zeros((rows, features)),
        coordinates: Array2::zeros((rows, dimension)),
        color: Array1::zeros(rows),
        geometry,
    }
}

/// Independent normal numbers on every feature, from a stream of their own, so that the
/// points without noise do not depend on it.
fn add_noise(points: &mut Array2<f64>, name: &str, noise: f64, ctx: &Ctx) -> Result<()> {
    if noise == 0.0 {
        return Ok(());
    }
    let mut stream = ctx.stream(&format!("noise of {name}"));
    for mut point in points.rows_mut() {
        ctx.check()?;
        point.iter_mut().for_each(|value| *value += noise * normal(&mut stream));
    }
    Ok(())
}

/// Refuse no rows, noise that is no standard deviation, and more than fits.
fn check_size(n_samples: usize, features: usize, noise: f64, ctx: &Ctx) -> Result<()> {
    at_least("n_samples", n_samples, 1)?;
    if !(noise >= 0.0 && noise.is_finite()) {
        return Err(Error::param("noise", format!("must be a finite number of at least 0, got {noise}")));
    }
    let numbers = (n_samples as u64).saturating_mul((features as u64).saturating_add(4));
    ctx.reserve(numbers.saturating_mul(8), "the data set", "make fewer rows")
}

fn at_least(name: &'static str, value: usize, least: usize) -> Result<()> {
    if value < least {
        return Err(Error::param(name, format!("must be at least {least}, got {value}")));
    }
    Ok(())
}
