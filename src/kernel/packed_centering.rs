//! −½·H(a)·(D∘D)·H(a)ᵀ over the half of a distance matrix, stored or computed
//! again at every reading.
//!
//! Place: after the shortest paths, before `spectrum`. Each panel is read once
//! per product and serves both triangles: its rows against x, and its columns
//! against the panel's own part of x. Panels are cut into a fixed number of
//! ranges of about equal area; each range adds into an accumulator of its own
//! and the accumulators are summed in order. Cost of one product with b vectors:
//! one read of n²/2 entries and 2·n²·b flops.
//!
//! With an additive constant c the distances between different points are D + c
//! (Cailliez 1983; the survey's (33)): −½·H·(D+c)²·H off the diagonal is
//! −½·H·(D² + 2cD)·H + ½c²·H, so the constant costs nothing more.

use std::ops::Range;
use std::sync::OnceLock;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use super::centering::{Centering, SquareMeans};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::SymmetricOperator;
use crate::linalg::packed::{Band, HalfMatrix, LANES, Panel, Stored};
use crate::linalg::tile::{Groups, Product, lanes_by_block, rows_by_block};

/// Most ranges of panels, each with an accumulator of its own.
const RANGES: usize = 32;
/// The same where the accumulators would weigh beside the matrix.
const RANGES_OF_FEW: usize = 16;
/// Fewer panels than this are few.
const FEW: usize = 1250;
/// Fewest panels worth an accumulator.
const FEWEST: usize = 8;
/// Columns per tile.
const TILE: usize = 64;

/// The centred operator over a [`HalfMatrix`]. Vectors are in the caller's row
/// order; the locality order of the panels stays inside.
pub struct CenteredPacked<'a> {
    distances: &'a dyn HalfMatrix,
    centering: Centering,
    constant: f64,
    means: OnceLock<SquareMeans>,
}

impl<'a> CenteredPacked<'a> {
    /// Centred at the mean.
    pub fn new(distances: &'a dyn HalfMatrix) -> Self {
        let centering = Centering::mean(distances.n());
        CenteredPacked { distances, centering, constant: 0.0, means: OnceLock::new() }
    }

    /// The same distances centred elsewhere; weights in the caller's row order.
    #[cfg(test)]
    pub fn with_centering(mut self, centering: Centering) -> Result<Self> {
        let (count, n) = (centering.as_slice().len(), self.dim());
        if count != n {
            return Err(crate::error::Error::param("weights", format!("{count} weights for {n} points")));
        }
        self.centering = centering;
        self.means = OnceLock::new();
        Ok(self)
    }

    /// The same with `constant` added to every distance between two points.
    pub fn with_constant(mut self, constant: f64) -> Self {
        self.constant = constant;
        self.means = OnceLock::new();
        self
    }

    /// Weighted row means of D² + 2cD (caller's row order) and their mean. Known
    /// after the first product; else a product of their own.
    pub fn means(&self, ctx: &Ctx) -> Result<&SquareMeans> {
        if self.means.get().is_none() {
            let mut nothing = Array2::zeros((self.dim(), 0));
            self.product(Array2::zeros((self.dim(), 0)).view(), nothing.view_mut(), ctx)?;
        }
        Ok(self.means.get_or_init(|| SquareMeans { rows: Vec::new(), grand: 0.0 }))
    }

    /// Every entry of the centred matrix, panel by panel: `use_entry(sum, i, j,
    /// entry)` with the caller's rows, folded within a panel and given in order.
    fn fold_entries(&self, ctx: &Ctx, use_entry: impl Fn(&mut f64, usize, usize, f64) + Sync) -> Result<f64> {
        let means = self.means(ctx)?;
        let order = self.distances.order();
        let n = self.dim();
        let shift = 0.5 * self.constant * self.constant;
        let fold = |first: usize, count: usize, lanes_at: &dyn Fn(usize, usize, usize) -> f64| {
            let mut sum = 0.0;
            for p in 0..count {
                let rows = (first + p) * LANES..((first + p + 1) * LANES).min(n);
                for column in 0..rows.end {
                    let j = order[column] as usize;
                    for row in rows.clone().filter(|&row| column < rows.start || column <= row) {
                        let i = order[row] as usize;
                        let d = lanes_at(p, column, row - rows.start);
                        let own = if row == column { shift } else { 0.0 } - shift / n as f64;
                        let entry = -0.5
                            * (d * (d + 2.0 * self.constant) - means.rows[i] - means.rows[j] + means.grand)
                            + own;
                        use_entry(&mut sum, i, j, entry);
                    }
                }
            }
            sum
        };
        let ranges = ranges(self.distances.panel_count());
        let sums = ctx.install(|| {
            let range_sum = |range: &Range<usize>| {
                let mut sum = 0.0;
                self.distances.visit(range.clone(), ctx, &mut |first, band| {
                    sum += match band {
                        Band::Wide(panels) => fold(first, panels.len(), &|p, c, l| panels[p][c][l]),
                        Band::Narrow(panels) => {
                            fold(first, panels.len(), &|p, c, l| panels[p][c][l].wide(1.0))
                        }
                        Band::Fixed(panels, unit) => {
                            fold(first, panels.len(), &|p, c, l| panels[p][c][l].wide(unit))
                        }
                    };
                    Ok(())
                })?;
                Ok(sum)
            };
            ranges.par_iter().map(range_sum).collect::<Result<Vec<f64>>>()
        })?;
        Ok(sums.iter().sum())
    }

    /// The squared Frobenius norm of the centred matrix (centred at the mean).
    ///
    /// Every entry is formed and squared, sums added in order: the closed form in
    /// the means would lose its digits to cancellation.
    pub fn norm_squared(&self, ctx: &Ctx) -> Result<f64> {
        // Off the diagonal an entry stands for its mirror image too.
        self.fold_entries(ctx, |sum, i, j, entry| {
            *sum += if i == j { 1.0 } else { 2.0 } * entry * entry;
        })
    }

    /// Rows including the lanes past the last row.
    fn padded(&self) -> usize {
        self.distances.panel_count() * LANES
    }

    /// The caller's row at a position.
    fn row(&self, position: usize) -> Option<usize> {
        self.distances.order().get(position).map(|&row| row as usize)
    }

    /// −½·H(a)·(D² + 2cD − c²I)·H(a)ᵀ·x. The first time the means come along, as
    /// one more column: reading the matrix is what costs.
    fn product(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let order = self.distances.order();
        let row = |i: usize| self.row(i);
        let columns = x.ncols();
        let unknown = usize::from(self.means.get().is_none());
        let mut block = Groups::zeros(self.padded(), columns + unknown);
        block.fill(x, |i| order[i] as usize);
        self.centering.before(&mut block, row);
        if unknown == 1 {
            block.set_column(columns, |i| row(i).map_or(0.0, |i| self.centering.as_slice()[i]));
        }
        let mut product = self.times(&block, ctx)?;
        if unknown == 1 {
            let mut rows = vec![0.0; self.dim()];
            for (mean, &row) in product.column(columns).iter().zip(order) {
                rows[row as usize] = *mean;
            }
            self.means.get_or_init(|| SquareMeans::new(rows, &self.centering));
        }
        if self.constant != 0.0 {
            product.add_scaled(-self.constant * self.constant, &block);
        }
        self.centering.after(&mut product, -0.5, row);
        product.unpack(y.view_mut(), |i| order[i] as usize);
        Ok(())
    }

    /// (D² + 2cD)·x, everything in packed order and padded.
    fn times(&self, x: &Groups, ctx: &Ctx) -> Result<Groups> {
        let ranges = ranges(self.distances.panel_count());
        let arch = pulp::Arch::new();
        let linear = 2.0 * self.constant;
        let accumulators = |range: &Range<usize>| -> Vec<Vec<f64>> {
            x.groups.iter().map(|(width, _)| vec![0.0; range.end * LANES * width]).collect()
        };
        let mut y = Groups::zeros(x.rows, x.cols);
        ctx.install(|| {
            // All groups of columns in one visit: a panel may have to be computed.
            let parts: Vec<Vec<Vec<f64>>> = ranges
                .par_iter()
                .map(|range| {
                    let mut part = accumulators(range);
                    self.distances.visit(range.clone(), ctx, &mut |first, band| {
                        for ((width, x), y) in x.groups.iter().zip(&mut part) {
                            let columns = Columns { width: *width, linear, x, y };
                            match band {
                                Band::Wide(panels) => {
                                    arch.dispatch(BandProduct { panels, unit: 1.0, first, columns })
                                }
                                Band::Narrow(panels) => {
                                    arch.dispatch(BandProduct { panels, unit: 1.0, first, columns })
                                }
                                Band::Fixed(panels, unit) => {
                                    arch.dispatch(BandProduct { panels, unit, first, columns })
                                }
                            }
                        }
                        ctx.advance(LANES * band.len());
                        Ok(())
                    })?;
                    Ok(part)
                })
                .collect::<Result<_>>()?;
            for (group, (_, target)) in y.groups.iter_mut().enumerate() {
                sum_in_order(&parts, group, target);
            }
            Ok(y)
        })
    }
}

/// Ranges of panels of about equal area; their number depends on n only.
fn ranges(panels: usize) -> Vec<Range<usize>> {
    let most = if panels < FEW { RANGES_OF_FEW } else { RANGES };
    let count = most.min(panels.div_ceil(FEWEST));
    let edge = |i: usize| (panels as f64 * (i as f64 / count as f64).sqrt()).round() as usize;
    (0..count).map(|i| edge(i)..edge(i + 1)).collect()
}

/// target += one group of each part, in order; parts may be shorter than the target.
fn sum_in_order(parts: &[Vec<Vec<f64>>], group: usize, target: &mut [f64]) {
    const CHUNK: usize = 1 << 13;
    target.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| {
        let first = index * CHUNK;
        for part in parts {
            let part = part[group].get(first..).unwrap_or(&[]);
            chunk.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
    });
}

/// One group of columns of x and what it adds up to.
struct Columns<'a> {
    width: usize,
    linear: f64,
    x: &'a [f64],
    y: &'a mut [f64],
}

/// A band of panels against one group of columns.
struct BandProduct<'a, T> {
    panels: &'a [Panel<'a, T>],
    unit: f64,
    first: usize,
    columns: Columns<'a>,
}

impl<T: Stored> pulp::WithSimd for BandProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        match self.columns.width {
            4 => self.run::<4, 4>(),
            8 => self.run::<4, 8>(),
            12 => self.run::<2, 12>(),
            _ => self.run::<2, 16>(),
        }
    }
}

impl<T: Stored> BandProduct<'_, T> {
    /// One tile of columns at a time, so that the tile's part of x and y is
    /// fetched once for the whole band.
    #[inline(always)]
    fn run<const R: usize, const W: usize>(self) {
        let Columns { linear, x, y, .. } = self.columns;
        let (x, y) = (x.as_chunks::<W>().0, y.as_chunks_mut::<W>().0);
        let widest = self.panels.iter().map(|panel| panel.len()).max().unwrap_or(0);
        for first in (0..widest).step_by(TILE) {
            for (p, panel) in self.panels.iter().enumerate() {
                let end = panel.len().min(first + TILE);
                if first < end {
                    let row = (self.first + p) * LANES;
                    add_tile::<T, R, W>(&panel[first..end], (self.unit, linear), first, row, x, y);
                }
            }
        }
    }
}

/// The contribution of columns `first..` of the panel whose rows begin at `row`.
#[inline(always)]
fn add_tile<T: Stored, const R: usize, const W: usize>(
    tile: &[[T; LANES]],
    (unit, linear): (f64, f64),
    first: usize,
    row: usize,
    x: &[[f64; W]],
    y: &mut [[f64; W]],
) {
    let mut squares = [[0.0; LANES]; TILE];
    let squares = &mut squares[..tile.len()];
    for (square, entry) in squares.iter_mut().zip(tile) {
        for lane in 0..LANES {
            let distance = entry[lane].wide(unit);
            square[lane] = distance * (distance + linear);
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
        self.distances.n()
    }

    fn steps(&self) -> usize {
        self.padded()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        self.product(x, y, ctx)
    }
}
