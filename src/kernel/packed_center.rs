//! −½·H(a)·(D∘D)·H(a)ᵀ over the packed half of a distance matrix.
//!
//! Place: after the shortest paths, before `spectrum`. Each panel is read once
//! per product and serves both triangles: its rows against x, and its columns
//! against the panel's own part of x. Panels are cut into a fixed number of
//! ranges of about equal area; each range adds into an accumulator of its own
//! and the accumulators are summed in order. Cost of one product with b vectors:
//! one read of n²/2 entries and 2·n²·b flops.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use super::center::{Centering, SquareMeans, first_column};
use super::packed::{LANES, PackedDistances};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::tile::{Groups, Product, lanes_by_block, rows_by_block};
use crate::spectrum::SymmetricOperator;

/// Most ranges of panels, each with an accumulator of its own.
const RANGES: usize = 32;
/// Panels that pass over a tile of columns together.
const BAND: usize = 8;
/// Columns per tile.
const TILE: usize = 64;

type Panel = Vec<[f64; LANES]>;

/// The centred operator over [`PackedDistances`]. Vectors are in the caller's
/// row order; the locality order of the panels stays inside.
#[derive(Debug, Clone)]
pub struct CenteredPacked<'a> {
    distances: &'a PackedDistances,
    centering: Centering,
}

impl<'a> CenteredPacked<'a> {
    /// Centred at the mean.
    pub fn new(distances: &'a PackedDistances) -> Result<Self> {
        let n = distances.order.len();
        let shape_holds = distances.panels.len() == n.div_ceil(LANES)
            && distances.panels.iter().enumerate().all(|(p, panel)| panel.len() == n.min((p + 1) * LANES))
            && distances.order.iter().all(|&row| (row as usize) < n);
        if !shape_holds {
            return Err(Error::input("the packed distances are not an n × n half matrix"));
        }
        Ok(CenteredPacked { distances, centering: Centering::mean(n) })
    }

    /// The same distances centred elsewhere; weights in the caller's row order.
    pub fn with_centering(mut self, centering: Centering) -> Result<Self> {
        let (count, n) = (centering.as_slice().len(), self.dim());
        if count != n {
            return Err(Error::param("weights", format!("{count} weights for {n} points")));
        }
        self.centering = centering;
        Ok(self)
    }

    /// Weighted row means of the squared distances (caller's row order) and
    /// their mean.
    pub fn means(&self, ctx: &Ctx) -> Result<SquareMeans> {
        let mut column = Groups::zeros(self.padded(), 1);
        for (width, data) in &mut column.groups {
            for (i, slot) in data.iter_mut().step_by(*width).enumerate() {
                *slot = self.row(i).map_or(0.0, |row| self.centering.as_slice()[row]);
            }
        }
        let sorted = first_column(&self.times(&column, ctx)?);
        let mut rows = vec![0.0; self.dim()];
        for (mean, &row) in sorted.iter().zip(&self.distances.order) {
            rows[row as usize] = *mean;
        }
        Ok(SquareMeans::new(rows, &self.centering))
    }

    /// The squared Frobenius norm of the centred matrix (centred at the mean).
    ///
    /// Every entry is formed and squared, panel sums added in order: the closed
    /// form in the means would lose its digits to cancellation.
    pub fn norm_squared(&self, ctx: &Ctx) -> Result<f64> {
        let means = self.means(ctx)?;
        let by_position: Vec<f64> =
            self.distances.order.iter().map(|&row| means.rows[row as usize]).collect();
        let entry =
            |d: f64, i: usize, j: usize| -0.5 * (d * d - by_position[i] - by_position[j] + means.grand);
        let sums = self.distances.panels.par_iter().enumerate().map(|(p, panel)| {
            ctx.check()?;
            let rows = p * LANES..((p + 1) * LANES).min(self.dim());
            let mut sum = 0.0;
            for (column, lanes) in panel.iter().enumerate() {
                // Off the diagonal block an entry stands for its mirror image too.
                let times = if column < rows.start { 2.0 } else { 1.0 };
                for row in rows.clone() {
                    sum += times * entry(lanes[row - rows.start], row, column).powi(2);
                }
            }
            Ok(sum)
        });
        Ok(ctx.install(|| sums.collect::<Result<Vec<f64>>>())?.iter().sum())
    }

    /// Rows including the lanes past the last row.
    fn padded(&self) -> usize {
        self.distances.panels.len() * LANES
    }

    /// The caller's row at a position.
    fn row(&self, position: usize) -> Option<usize> {
        self.distances.order.get(position).map(|&row| row as usize)
    }

    /// (D∘D)·x, everything in packed order and padded.
    fn times(&self, x: &Groups, ctx: &Ctx) -> Result<Groups> {
        let panels = &self.distances.panels;
        let ranges = ranges(panels.len());
        let arch = pulp::Arch::new();
        let mut y = Groups::zeros(x.rows, x.cols);
        ctx.install(|| {
            for ((width, source), (_, target)) in x.groups.iter().zip(&mut y.groups) {
                let parts: Vec<Vec<f64>> = ranges
                    .par_iter()
                    .map(|range| {
                        let mut part = vec![0.0; range.end * LANES * width];
                        for first in range.clone().step_by(BAND) {
                            ctx.check()?;
                            let band = first..range.end.min(first + BAND);
                            arch.dispatch(Band { panels, band, width: *width, x: source, y: &mut part });
                        }
                        Ok(part)
                    })
                    .collect::<Result<_>>()?;
                sum_in_order(&parts, target);
            }
            Ok(y)
        })
    }
}

/// Ranges of panels of about equal area; their number depends on n only.
fn ranges(panels: usize) -> Vec<Range<usize>> {
    let count = RANGES.min(panels.div_ceil(BAND));
    let edge = |i: usize| (panels as f64 * (i as f64 / count as f64).sqrt()).round() as usize;
    (0..count).map(|i| edge(i)..edge(i + 1)).collect()
}

/// target += each part, in order; parts may be shorter than the target.
fn sum_in_order(parts: &[Vec<f64>], target: &mut [f64]) {
    const CHUNK: usize = 1 << 13;
    target.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| {
        let first = index * CHUNK;
        for part in parts {
            let part = part.get(first..).unwrap_or(&[]);
            chunk.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
    });
}

/// A band of panels against one group of columns of x.
struct Band<'a> {
    panels: &'a [Panel],
    band: Range<usize>,
    width: usize,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl pulp::WithSimd for Band<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        match self.width {
            4 => self.run::<4, 4>(),
            8 => self.run::<4, 8>(),
            12 => self.run::<2, 12>(),
            _ => self.run::<2, 16>(),
        }
    }
}

impl Band<'_> {
    /// One tile of columns at a time, so that the tile's part of x and y is
    /// fetched once for the whole band.
    #[inline(always)]
    fn run<const R: usize, const W: usize>(self) {
        let (x, y) = (self.x.as_chunks::<W>().0, self.y.as_chunks_mut::<W>().0);
        let widest = self.band.clone().map(|p| self.panels[p].len()).max().unwrap_or(0);
        for first in (0..widest).step_by(TILE) {
            for p in self.band.clone() {
                let end = self.panels[p].len().min(first + TILE);
                if first < end {
                    add_tile::<R, W>(&self.panels[p][first..end], first, p * LANES, x, y);
                }
            }
        }
    }
}

/// The contribution of columns `first..` of the panel whose rows begin at `row`.
#[inline(always)]
fn add_tile<const R: usize, const W: usize>(
    tile: &[[f64; LANES]],
    first: usize,
    row: usize,
    x: &[[f64; W]],
    y: &mut [[f64; W]],
) {
    let mut squares = [[0.0; LANES]; TILE];
    let squares = &mut squares[..tile.len()];
    for (square, entry) in squares.iter_mut().zip(tile) {
        for lane in 0..LANES {
            square[lane] = entry[lane] * entry[lane];
        }
    }
    // The panel's rows against these columns.
    for lane in (0..LANES).step_by(R) {
        let mut sums = [[0.0; W]; R];
        lanes_by_block::<LANES, R, W>(squares, lane, &x[first..first + tile.len()], &mut sums);
        for (target, sum) in y[row + lane..row + lane + R].iter_mut().zip(sums) {
            (0..W).for_each(|w| target[w] += sum[w]);
        }
    }
    // These columns, as rows of the upper triangle, against the panel's rows;
    // the diagonal block is stored whole and was served above.
    let above = tile.len().min(row.saturating_sub(first));
    let own = &x[row..row + LANES];
    for (squares, targets) in squares[..above].chunks(R).zip(y[first..first + above].chunks_mut(R)) {
        let mut sums = [[0.0; W]; R];
        let lanes = std::array::from_fn(|r| squares[r.min(squares.len() - 1)].as_slice());
        rows_by_block::<Product, R, W>(lanes, own, &mut sums);
        for (target, sum) in targets.iter_mut().zip(sums) {
            (0..W).for_each(|w| target[w] += sum[w]);
        }
    }
}

impl SymmetricOperator for CenteredPacked<'_> {
    fn dim(&self) -> usize {
        self.distances.order.len()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let order = &self.distances.order;
        let mut block = Groups::pack_padded(x, self.padded(), |i| order[i] as usize);
        self.centering.before(&mut block, |i| self.row(i));
        let mut product = self.times(&block, ctx)?;
        self.centering.after(&mut product, -0.5, |i| self.row(i));
        product.unpack(y, |i| order[i] as usize);
        Ok(())
    }
}
