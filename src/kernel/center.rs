//! Doubly centred matrices as operators: −½·H(a)·(D∘D)·H(a)ᵀ for distances D and
//! H(a)·K·H(a)ᵀ for kernels K, with H(a) = I − 1aᵀ. No centred copy is made.
//!
//! Place: after distances or kernels, before `spectrum`. Papers: Torgerson 1952
//! for the mean as origin (a = 1/n), Gower 1982 for general origins a with
//! Σa = 1; the survey's eqs (12)–(13), (31). Cost of one product with b vectors:
//! one read of the n × n matrix and 2·n²·b flops.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, CowArray, Ix2};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::tall::standard;
use crate::linalg::tile::{Groups, rows_by_block};
use crate::spectrum::SymmetricOperator;

/// Rows of the matrix per parallel task.
const ROWS: usize = 32;
/// Columns per tile: 16 columns of x of this height fit the first-level cache.
const TILE: usize = 256;

/// The origin of a centring: weights a with Σa = 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Centering {
    weights: Vec<f64>,
}

impl Centering {
    /// The mean of the n points is the origin.
    pub fn mean(n: usize) -> Self {
        Centering { weights: vec![1.0 / n.max(1) as f64; n] }
    }

    /// Point `index` of n is the origin.
    pub fn point(n: usize, index: usize) -> Result<Self> {
        if index >= n {
            return Err(Error::param("origin", format!("point {index} does not exist: there are {n}")));
        }
        let mut weights = vec![0.0; n];
        weights[index] = 1.0;
        Ok(Centering { weights })
    }

    /// The weighted mean of the points is the origin; weights must sum to 1.
    pub fn weights(weights: Vec<f64>) -> Result<Self> {
        let sum: f64 = weights.iter().sum();
        if !((sum - 1.0).abs() <= 1e-8) {
            return Err(Error::param("weights", format!("must sum to 1, but sum to {sum}")));
        }
        Ok(Centering { weights })
    }

    /// The weights a.
    pub fn as_slice(&self) -> &[f64] {
        &self.weights
    }

    /// x ← H(a)ᵀx = x − a(1ᵀx), row i of x belonging to point `row(i)`.
    pub(super) fn before(&self, x: &mut Groups, row: impl Fn(usize) -> Option<usize>) {
        let sums = x.weighted_sums(|_| 1.0);
        x.add_outer(|i| row(i).map_or(0.0, |i| -self.weights[i]), &sums);
    }

    /// y ← factor·H(a)y = factor·(y − 1(aᵀy)).
    pub(super) fn after(&self, y: &mut Groups, factor: f64, row: impl Fn(usize) -> Option<usize>) {
        let sums = y.weighted_sums(|i| row(i).map_or(0.0, |i| self.weights[i]));
        y.add_outer(|_| -1.0, &sums);
        y.scale(factor);
    }
}

/// Weighted means of squared distances, for the out-of-sample formulas
/// (survey eqs (39)–(40)): with a = 1/n, plain row means and their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct SquareMeans {
    /// (D∘D)a, one per row.
    pub rows: Vec<f64>,
    /// aᵀ(D∘D)a.
    pub grand: f64,
}

impl SquareMeans {
    /// From the row means and the weights they were taken with.
    pub(super) fn new(rows: Vec<f64>, centering: &Centering) -> Self {
        let grand = rows.iter().zip(&centering.weights).map(|(mean, weight)| mean * weight).sum();
        SquareMeans { rows, grand }
    }
}

/// −½·H(a)·(D∘D)·H(a)ᵀ over a dense symmetric matrix of distances.
#[derive(Debug, Clone)]
pub struct CenteredSquares<'a> {
    distances: CowArray<'a, f64, Ix2>,
    centering: Centering,
}

/// H(a)·K·H(a)ᵀ over a dense symmetric kernel matrix.
#[derive(Debug, Clone)]
pub struct CenteredKernel<'a> {
    kernel: CowArray<'a, f64, Ix2>,
    centering: Centering,
}

fn square_shape(matrix: ArrayView2<f64>) -> Result<usize> {
    let (rows, cols) = matrix.dim();
    if rows != cols {
        return Err(Error::input(format!("expected a square matrix, got {rows} × {cols}")));
    }
    Ok(rows)
}

fn fitting(centering: Centering, n: usize) -> Result<Centering> {
    let count = centering.weights.len();
    if count != n {
        return Err(Error::param("weights", format!("{count} weights for {n} points")));
    }
    Ok(centering)
}

impl<'a> CenteredSquares<'a> {
    /// Centred at the mean. Rows that are not contiguous are copied once.
    pub fn new(distances: ArrayView2<'a, f64>) -> Result<Self> {
        let n = square_shape(distances)?;
        Ok(CenteredSquares { distances: standard(distances), centering: Centering::mean(n) })
    }

    /// The same distances centred elsewhere.
    pub fn with_centering(mut self, centering: Centering) -> Result<Self> {
        self.centering = fitting(centering, self.distances.nrows())?;
        Ok(self)
    }

    /// Weighted row means of the squared distances and their mean.
    pub fn means(&self, ctx: &Ctx) -> Result<SquareMeans> {
        let weights = weight_column(&self.centering);
        let product = times(self.distances.view(), |d| d * d, &weights, ctx)?;
        Ok(SquareMeans::new(first_column(&product), &self.centering))
    }
}

impl<'a> CenteredKernel<'a> {
    /// Centred at the mean (in feature space). Rows that are not contiguous are
    /// copied once.
    pub fn new(kernel: ArrayView2<'a, f64>) -> Result<Self> {
        let n = square_shape(kernel)?;
        Ok(CenteredKernel { kernel: standard(kernel), centering: Centering::mean(n) })
    }

    /// The same kernel centred elsewhere.
    pub fn with_centering(mut self, centering: Centering) -> Result<Self> {
        self.centering = fitting(centering, self.kernel.nrows())?;
        Ok(self)
    }

    /// Weighted row means of the kernel and their mean (survey eq. (40)).
    pub fn means(&self, ctx: &Ctx) -> Result<SquareMeans> {
        let weights = weight_column(&self.centering);
        let product = times(self.kernel.view(), |k| k, &weights, ctx)?;
        Ok(SquareMeans::new(first_column(&product), &self.centering))
    }
}

/// The weights as a one-column block.
fn weight_column(centering: &Centering) -> Groups {
    let mut column = Groups::zeros(centering.weights.len(), 1);
    for (width, data) in &mut column.groups {
        data.iter_mut().step_by(*width).zip(&centering.weights).for_each(|(slot, weight)| *slot = *weight);
    }
    column
}

pub(super) fn first_column(block: &Groups) -> Vec<f64> {
    block.groups.first().map_or_else(Vec::new, |(width, data)| data.iter().step_by(*width).copied().collect())
}

impl SymmetricOperator for CenteredSquares<'_> {
    fn dim(&self) -> usize {
        self.distances.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        centred_product(self.distances.view(), |d| d * d, -0.5, &self.centering, x, y, ctx)
    }

    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let means = self.means(ctx)?;
        let centred = |i: usize, j: usize| {
            let d = self.distances[[i, j]];
            -0.5 * (d * d - means.rows[i] - means.rows[j] + means.grand)
        };
        Ok(Array2::from_shape_fn(self.distances.dim(), |(i, j)| centred(i, j)))
    }
}

impl SymmetricOperator for CenteredKernel<'_> {
    fn dim(&self) -> usize {
        self.kernel.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        centred_product(self.kernel.view(), |k| k, 1.0, &self.centering, x, y, ctx)
    }

    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let means = self.means(ctx)?;
        let centred = |i: usize, j: usize| self.kernel[[i, j]] - means.rows[i] - means.rows[j] + means.grand;
        Ok(Array2::from_shape_fn(self.kernel.dim(), |(i, j)| centred(i, j)))
    }
}

/// y ← factor·H(a)·f(M)·H(a)ᵀ·x.
fn centred_product(
    matrix: ArrayView2<f64>,
    f: impl Fn(f64) -> f64 + Copy + Sync,
    factor: f64,
    centering: &Centering,
    x: ArrayView2<f64>,
    y: ArrayViewMut2<f64>,
    ctx: &Ctx,
) -> Result<()> {
    let mut block = Groups::pack(x, |i| i);
    centering.before(&mut block, Some);
    let mut product = times(matrix, f, &block, ctx)?;
    centering.after(&mut product, factor, Some);
    product.unpack(y, |i| i);
    Ok(())
}

/// f(M)·x for a row-major square matrix, parallel over fixed chunks of rows.
fn times(
    matrix: ArrayView2<f64>,
    f: impl Fn(f64) -> f64 + Copy + Sync,
    x: &Groups,
    ctx: &Ctx,
) -> Result<Groups> {
    let n = matrix.nrows();
    let mut y = Groups::zeros(n, x.cols);
    // proof: the constructors store a standard-layout matrix.
    let data = matrix.to_slice().expect("standard layout");
    let arch = pulp::Arch::new();
    ctx.install(|| {
        for ((width, source), (_, target)) in x.groups.iter().zip(&mut y.groups) {
            target.par_chunks_mut(ROWS * width).zip(data.par_chunks(ROWS * n)).try_for_each(
                |(target, rows)| {
                    ctx.check()?;
                    arch.dispatch(|| match width {
                        4 => row_chunk::<4, 4>(rows, n, source, target, f),
                        8 => row_chunk::<4, 8>(rows, n, source, target, f),
                        12 => row_chunk::<2, 12>(rows, n, source, target, f),
                        _ => row_chunk::<2, 16>(rows, n, source, target, f),
                    });
                    Ok(())
                },
            )?;
        }
        Ok(y)
    })
}

/// A few rows against all of x, one tile of columns at a time.
#[inline(always)]
fn row_chunk<const R: usize, const W: usize>(
    rows: &[f64],
    n: usize,
    x: &[f64],
    y: &mut [f64],
    f: impl Fn(f64) -> f64 + Copy,
) {
    let (x, y) = (x.as_chunks::<W>().0, y.as_chunks_mut::<W>().0);
    for first in (0..n).step_by(TILE) {
        let depth = TILE.min(n - first);
        let block = &x[first..first + depth];
        for (rows, y) in rows.chunks(R * n).zip(y.chunks_mut(R)) {
            let mut entries = [[0.0; TILE]; R];
            for (row, entries) in rows.chunks_exact(n).zip(&mut entries) {
                let part = &row[first..first + depth];
                entries[..depth].iter_mut().zip(part).for_each(|(entry, value)| *entry = f(*value));
            }
            // Missing rows of the last group are zeros and are not written back.
            let mut sums = [[0.0; W]; R];
            sums.iter_mut().zip(y.iter()).for_each(|(sum, value)| *sum = *value);
            rows_by_block(std::array::from_fn(|r| &entries[r][..depth]), block, &mut sums, |a, b| a * b);
            y.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum);
        }
    }
}
