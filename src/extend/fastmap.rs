//! FastMap: coordinates by projection on lines through pairs of far points.
//!
//! Faloutsos and Lin 1995; a landmark method with two landmarks for each
//! coordinate (Platt 2005). Symbols: a, b the pivots of a coordinate, r the
//! distances that the coordinates before it leave over,
//!
//! ```text
//! x(i) = (r(a,i)² + r(a,b)² − r(b,i)²) / (2 r(a,b)),   r(i,j)² = d(i,j)² − Σ_before (x(i) − x(j))²
//! ```
//!
//! Cost: a few columns of distances for each coordinate; 2p distances for a new
//! point.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::random::below;

/// Looks for the other end of the longest line.
const ROUNDS: usize = 5;
/// What is left of a squared distance below this share of it is rounding.
const NOISE: f64 = 1e-12;

/// The pivots and what is needed to project on the lines through them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FastMap {
    /// Length of each line, r(a,b); zero where nothing was left to explain.
    lengths: Vec<f64>,
    /// Coordinates of the pivots, a and b of each line after one another.
    pivots: Array2<f64>,
}

impl FastMap {
    /// Choose pivots among `rows` rows, whose distances to row i are `column(i)`.
    /// Returns the formula and the pivots' rows, a and b of each line.
    pub fn new(
        rows: usize,
        components: usize,
        column: impl Fn(u32) -> Result<Vec<f64>>,
        ctx: &Ctx,
    ) -> Result<(FastMap, Vec<u32>)> {
        let mut stream = ctx.stream("landmarks");
        let mut placed: Array2<f64> = Array2::zeros((rows, components));
        let mut lengths = vec![0.0; components];
        let mut pivots = Vec::with_capacity(2 * components);
        ctx.stage("pivots", components);
        for c in 0..components {
            let left = |from: u32, distances: &[f64]| left_over(distances, from, &placed, c);
            let mut b = below(&mut stream, rows) as u32;
            let mut a = b;
            let mut squares = left(b, &column(b)?);
            let mut longest = 0.0;
            for _ in 0..ROUNDS {
                ctx.check()?;
                let (end, square) = farthest(&squares);
                if square <= longest {
                    break;
                }
                (a, b, longest) = (b, end, square);
                squares = left(b, &column(b)?);
            }
            pivots.extend([a, b]);
            let whole = column(a)?[b as usize].powi(2);
            if longest <= NOISE * whole {
                continue;
            }
            lengths[c] = longest.sqrt();
            let from_a = left(a, &column(a)?);
            for i in 0..rows {
                placed[[i, c]] = (from_a[i] + longest - squares[i]) / (2.0 * lengths[c]);
            }
            ctx.advance(1);
        }
        let at: Vec<usize> = pivots.iter().map(|&row| row as usize).collect();
        let formula = FastMap { lengths, pivots: placed.select(ndarray::Axis(0), &at) };
        Ok((formula, pivots))
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.lengths.len()
    }

    /// How many of them carry anything.
    pub fn rank(&self) -> usize {
        self.lengths.iter().filter(|&&length| length > 0.0).count()
    }

    /// Coordinates of rows from their distances to the pivots.
    pub fn place(&self, distances: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        let width = self.components().max(1);
        let mut placed = Array2::zeros((distances.nrows(), self.components()));
        // proof: `zeros` is row-major.
        let out = placed.as_slice_mut().expect("row-major");
        ctx.install(|| {
            out.par_chunks_mut(width).enumerate().for_each(|(row, x)| {
                for c in (0..self.components()).filter(|&c| self.lengths[c] > 0.0) {
                    let left = |pivot: usize| {
                        let before = (0..c).map(|e| f64::powi(x[e] - self.pivots[[pivot, e]], 2));
                        distances[[row, pivot]].powi(2) - before.sum::<f64>()
                    };
                    let length = self.lengths[c];
                    x[c] = (left(2 * c) + length * length - left(2 * c + 1)) / (2.0 * length);
                }
            });
        });
        Ok(placed)
    }
}

/// r(from, i)² for all i, after the first `c` coordinates.
fn left_over(distances: &[f64], from: u32, placed: &Array2<f64>, c: usize) -> Vec<f64> {
    let own = placed.row(from as usize);
    let before = |i: usize| (0..c).map(|e| (placed[[i, e]] - own[e]).powi(2)).sum::<f64>();
    distances.iter().enumerate().map(|(i, &distance)| distance * distance - before(i)).collect()
}

/// The largest entry, the first of several.
fn farthest(squares: &[f64]) -> (u32, f64) {
    squares.iter().enumerate().fold((0, f64::NEG_INFINITY), |best, (i, &square)| {
        if square > best.1 { (i as u32, square) } else { best }
    })
}
