//! Register tiles: a few rows of a matrix against a block of 4, 8, 12 or 16
//! contiguous columns. The matrix-free operators and the kernel functions are
//! loops around these three.
//!
//! Each entry of the result is a plain sequential sum over the inner index, so
//! its bits do not depend on how the work around it is blocked. Product and sum
//! are rounded separately: no slow emulation on machines without fused
//! multiply-add, and the same bits on all of them.
//!
//! Everything is `inline(always)`: the caller enters through
//! `pulp::Arch::dispatch`, which compiles the loops for the CPU at hand. It must
//! pass a named [`pulp::WithSimd`] type: a closure is not sure to be inlined
//! into the compiled-for-this-CPU frame, and then runs at a quarter of the speed.

use ndarray::{ArrayView2, ArrayViewMut2};

/// Widths of a column group.
pub const WIDTHS: [usize; 4] = [4, 8, 12, 16];

/// What a pair of entries adds to a sum.
pub trait Term: Copy + Send + Sync {
    /// The term of entries a and b.
    fn term(a: f64, b: f64) -> f64;
}

/// a·b
#[derive(Debug, Clone, Copy)]
pub struct Product;

/// (a − b)²
#[derive(Debug, Clone, Copy)]
pub struct SquaredDifference;

/// |a − b|
#[derive(Debug, Clone, Copy)]
pub struct AbsoluteDifference;

impl Term for Product {
    #[inline(always)]
    fn term(a: f64, b: f64) -> f64 {
        a * b
    }
}

impl Term for SquaredDifference {
    #[inline(always)]
    fn term(a: f64, b: f64) -> f64 {
        (a - b) * (a - b)
    }
}

impl Term for AbsoluteDifference {
    #[inline(always)]
    fn term(a: f64, b: f64) -> f64 {
        (a - b).abs()
    }
}

/// `acc[r][w] += term(rows[r][k], x[k][w])` over all k, in order of k.
#[inline(always)]
pub fn rows_by_block<T: Term, const R: usize, const W: usize>(
    rows: [&[f64]; R],
    x: &[[f64; W]],
    acc: &mut [[f64; W]; R],
) {
    let depth = x.len();
    let rows = rows.map(|row| &row[..depth]);
    let mut sums = *acc;
    for k in 0..depth {
        for r in 0..R {
            let a = rows[r][k];
            for w in 0..W {
                sums[r][w] += T::term(a, x[k][w]);
            }
        }
    }
    *acc = sums;
}

/// `acc[r][w] += tile[k][first + r] * x[k][w]` over all k, in order of k.
#[inline(always)]
pub fn lanes_by_block<const L: usize, const R: usize, const W: usize>(
    tile: &[[f64; L]],
    first: usize,
    x: &[[f64; W]],
    acc: &mut [[f64; W]; R],
) {
    let mut sums = *acc;
    for (lanes, block) in tile.iter().zip(x) {
        for r in 0..R {
            let a = lanes[first + r];
            for w in 0..W {
                sums[r][w] += a * block[w];
            }
        }
    }
    *acc = sums;
}

/// A tall matrix cut into groups of 4, 8, 12 or 16 columns, each group stored
/// contiguously row by row; missing columns of the last group are zero.
#[derive(Debug, Clone)]
pub struct Groups {
    /// Number of rows.
    pub rows: usize,
    /// Number of real columns.
    pub cols: usize,
    /// Width and values (`rows * width`) of each group.
    pub groups: Vec<(usize, Vec<f64>)>,
}

impl Groups {
    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        let mut groups = Vec::new();
        let mut left = cols;
        while left > 0 {
            let width = WIDTHS.into_iter().find(|&width| width >= left).unwrap_or(16);
            groups.push((width, vec![0.0; rows * width]));
            left = left.saturating_sub(width);
        }
        Groups { rows, cols, groups }
    }

    /// A copy of `x`, row `order(i)` of it in row i.
    pub fn pack(x: ArrayView2<f64>, order: impl Fn(usize) -> usize) -> Self {
        Groups::pack_padded(x, x.nrows(), order)
    }

    /// The same with zero rows appended up to `rows` of them.
    pub fn pack_padded(x: ArrayView2<f64>, rows: usize, order: impl Fn(usize) -> usize) -> Self {
        let mut packed = Groups::zeros(rows.max(x.nrows()), x.ncols());
        packed.fill(x, order);
        packed
    }

    /// The first columns from `x`, row `order(i)` of it in row i.
    pub fn fill(&mut self, x: ArrayView2<f64>, order: impl Fn(usize) -> usize) {
        let mut first = 0;
        for (width, data) in &mut self.groups {
            let real = (*width).min(x.ncols() - first);
            for (i, row) in data.chunks_exact_mut(*width).take(x.nrows()).enumerate() {
                let source = x.row(order(i));
                for w in 0..real {
                    row[w] = source[first + w];
                }
            }
            first += real;
        }
    }

    /// Column `index` from a function of the row.
    pub fn set_column(&mut self, index: usize, value: impl Fn(usize) -> f64) {
        let mut first = 0;
        for (width, data) in &mut self.groups {
            if (first..first + *width).contains(&index) {
                let slots = data.iter_mut().skip(index - first).step_by(*width);
                slots.enumerate().for_each(|(i, slot)| *slot = value(i));
            }
            first += *width;
        }
    }

    /// A copy of column `index`.
    pub fn column(&self, index: usize) -> Vec<f64> {
        let mut first = 0;
        for (width, data) in &self.groups {
            if (first..first + width).contains(&index) {
                return data.iter().skip(index - first).step_by(*width).copied().collect();
            }
            first += width;
        }
        Vec::new()
    }

    /// Write the first columns back into `y`, row i into row `order(i)`.
    pub fn unpack(&self, mut y: ArrayViewMut2<f64>, order: impl Fn(usize) -> usize) {
        let mut first = 0;
        for (width, data) in &self.groups {
            let real = (*width).min(y.ncols() - first);
            for (i, row) in data.chunks_exact(*width).take(y.nrows()).enumerate() {
                let mut target = y.row_mut(order(i));
                for w in 0..real {
                    target[first + w] = row[w];
                }
            }
            first += real;
        }
    }

    /// Σ_i weight(i) · row i, for each group.
    pub fn weighted_sums(&self, weight: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        self.groups.iter().map(|(width, data)| weighted_sum(*width, data, &weight)).collect()
    }

    /// row i += factor(i) · vector, for each group's own vector.
    pub fn add_outer(&mut self, factor: impl Fn(usize) -> f64, vectors: &[Vec<f64>]) {
        for ((width, data), vector) in self.groups.iter_mut().zip(vectors) {
            for (i, row) in data.chunks_exact_mut(*width).enumerate() {
                let scale = factor(i);
                row.iter_mut().zip(vector).for_each(|(value, v)| *value += scale * v);
            }
        }
    }

    /// self += factor · other, of the same shape.
    pub fn add_scaled(&mut self, factor: f64, other: &Groups) {
        for ((_, data), (_, more)) in self.groups.iter_mut().zip(&other.groups) {
            data.iter_mut().zip(more).for_each(|(value, other)| *value += factor * other);
        }
    }

    /// Every entry times `factor`.
    pub fn scale(&mut self, factor: f64) {
        for (_, data) in &mut self.groups {
            data.iter_mut().for_each(|value| *value *= factor);
        }
    }
}

/// Partial sums over fixed runs of rows keep the rounding error of long sums low.
fn weighted_sum(width: usize, data: &[f64], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    const RUN: usize = 128;
    let mut total = vec![0.0; width];
    for (run, rows) in data.chunks(RUN * width).enumerate() {
        let mut part = [0.0; 16];
        for (i, row) in rows.chunks_exact(width).enumerate() {
            let scale = weight(run * RUN + i);
            part.iter_mut().zip(row).for_each(|(sum, value)| *sum += scale * value);
        }
        total.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
    }
    total
}
