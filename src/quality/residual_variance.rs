//! Residual variance of an embedding against the distances along the manifold.
//!
//! Place: after `embedding`, beside the distances it was made from. Owns the
//! residual variance of Tenenbaum, de Silva and Langford 2000: 1 − R² between
//! the distances along the manifold and those of the embedding, for its first
//! 1, 2, …, p coordinates. Cost: one pass over the n²/2 distances and p roots
//! for each.

use std::ops::Range;

use ndarray::ArrayView2;
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::packed::{Band, HalfMatrix, LANES, Panel, Stored};

/// Panels summed up together.
const PANELS: usize = 8;

/// Sums over pairs, of the given distances and of those of the first d columns.
#[derive(Debug, Clone)]
struct Sums {
    count: f64,
    given: f64,
    given_squared: f64,
    placed: Vec<f64>,
    placed_squared: Vec<f64>,
    products: Vec<f64>,
}

impl Sums {
    fn zero(dims: usize) -> Sums {
        let zeros = vec![0.0; dims];
        Sums {
            count: 0.0,
            given: 0.0,
            given_squared: 0.0,
            placed: zeros.clone(),
            placed_squared: zeros.clone(),
            products: zeros,
        }
    }

    fn add(&mut self, other: &Sums) {
        self.count += other.count;
        self.given += other.given;
        self.given_squared += other.given_squared;
        for (own, more) in [
            (&mut self.placed, &other.placed),
            (&mut self.placed_squared, &other.placed_squared),
            (&mut self.products, &other.products),
        ] {
            own.iter_mut().zip(more).for_each(|(sum, value)| *sum += value);
        }
    }

    /// One pair: its given distance and its two places.
    fn add_pair(&mut self, given: f64, a: &[f64], b: &[f64]) {
        self.count += 1.0;
        self.given += given;
        self.given_squared += given * given;
        let mut square = 0.0;
        for d in 0..a.len() {
            let apart = a[d] - b[d];
            square += apart * apart;
            let placed = square.sqrt();
            self.placed[d] += placed;
            self.placed_squared[d] += square;
            self.products[d] += given * placed;
        }
    }

    /// 1 − R² for the first d + 1 columns; 1 where there is nothing to correlate.
    fn residual_variance(&self, d: usize) -> f64 {
        let covariance = self.products[d] - self.given * self.placed[d] / self.count;
        let given = self.given_squared - self.given * self.given / self.count;
        let placed = self.placed_squared[d] - self.placed[d] * self.placed[d] / self.count;
        if !(given > 0.0 && placed > 0.0) {
            return 1.0;
        }
        (1.0 - covariance * covariance / (given * placed)).clamp(0.0, 1.0)
    }
}

/// The residual variance for the first 1, 2, …, p columns of an embedding, whose
/// rows are the rows of the distances.
pub fn residual_variance(
    distances: &dyn HalfMatrix,
    embedding: ArrayView2<'_, f64>,
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    let (n, dims) = (distances.n(), embedding.ncols());
    if embedding.nrows() != n {
        let rows = embedding.nrows();
        return Err(Error::input(format!("the embedding has {rows} rows, the distances are between {n}")));
    }
    let mut places = Vec::with_capacity(n * dims);
    distances.order().iter().for_each(|&row| places.extend(embedding.row(row as usize)));
    let groups: Vec<Range<usize>> = (0..distances.panel_count())
        .step_by(PANELS)
        .map(|first| first..(first + PANELS).min(distances.panel_count()))
        .collect();
    let parts: Vec<Sums> = ctx.install(|| {
        groups
            .into_par_iter()
            .map(|panels| {
                let mut sums = Sums::zero(dims);
                distances.visit(panels, ctx, &mut |first, band| {
                    match band {
                        Band::Wide(panels) => add_panels((panels, 1.0), first, &places, dims, &mut sums),
                        Band::Narrow(panels) => add_panels((panels, 1.0), first, &places, dims, &mut sums),
                        Band::Fixed(panels, unit) => {
                            add_panels((panels, unit), first, &places, dims, &mut sums)
                        }
                    }
                    Ok(())
                })?;
                Ok(sums)
            })
            .collect::<Result<_>>()
    })?;
    let mut total = Sums::zero(dims);
    parts.iter().for_each(|part| total.add(part));
    Ok((0..dims).map(|d| total.residual_variance(d)).collect())
}

fn add_panels<T: Stored>(
    (panels, unit): (&[Panel<'_, T>], f64),
    first: usize,
    places: &[f64],
    dims: usize,
    sums: &mut Sums,
) {
    let n = places.len() / dims.max(1);
    let place = |row: usize| &places[row * dims..(row + 1) * dims];
    for (p, panel) in panels.iter().enumerate() {
        let begin = (first + p) * LANES;
        for (column, lanes) in panel.iter().enumerate() {
            for row in begin.max(column + 1)..(begin + LANES).min(n) {
                sums.add_pair(lanes[row - begin].wide(unit), place(row), place(column));
            }
        }
    }
}
