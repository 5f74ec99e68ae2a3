//! Doubly centred matrices as operators: −½·H(a)·(D∘D)·H(a)ᵀ for distances D and
//! H(a)·K·H(a)ᵀ for kernels K, with H(a) = I − 1aᵀ. No centred copy is made.
//!
//! Place: after distances or kernels, before `spectrum`. Papers: Torgerson 1952
//! for the mean as origin (a = 1/n), Gower 1982 for general origins a with
//! Σa = 1; the survey's eqs (12)–(13), (31). Cost of one product with b vectors:
//! one read of the n × n matrix and 2·n²·b flops.

use std::marker::PhantomData;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, CowArray, Ix2};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::SymmetricOperator;
use crate::linalg::dense::square_of;
use crate::linalg::tall::standard;
use crate::linalg::tile::{Groups, Product, rows_by_block};

/// Rows of the matrix per parallel task.
const ROWS: usize = 32;
/// Columns per tile: 16 columns of x of this height fit the first-level cache.
const TILE: usize = 256;

/// The origin of a centring: weights a with Σa = 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Centering {
    weights: Vec<f64>,
    is_mean: bool,
}

impl Centering {
    /// The mean of the n points is the origin.
    pub fn mean(n: usize) -> Self {
        Centering { weights: vec![1.0 / n.max(1) as f64; n], is_mean: true }
    }

    /// Point `index` of n is the origin.
    pub fn point(n: usize, index: usize) -> Result<Self> {
        if index >= n {
            return Err(Error::param("origin", format!("point {index} does not exist: there are {n}")));
        }
        let mut weights = vec![0.0; n];
        weights[index] = 1.0;
        Ok(Centering { weights, is_mean: false })
    }

    /// The weighted mean of the points is the origin; weights must sum to 1.
    pub fn weights(weights: Vec<f64>) -> Result<Self> {
        let sum: f64 = weights.iter().sum();
        if sum.is_nan() || (sum - 1.0).abs() > 1e-8 {
            return Err(Error::param("weights", format!("must sum to 1, but sum to {sum}")));
        }
        Ok(Centering { weights, is_mean: false })
    }

    /// The weights a.
    pub fn as_slice(&self) -> &[f64] {
        &self.weights
    }

    /// The weights a; `None` where the mean was asked for.
    pub fn other_than_mean(&self) -> Option<Array1<f64>> {
        (!self.is_mean).then(|| Array1::from(self.weights.clone()))
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

    /// The origin.
    pub fn centering(&self) -> &Centering {
        &self.centering
    }

    /// Weighted row means of the squared distances and their mean.
    pub fn means(&self, ctx: &Ctx) -> Result<SquareMeans> {
        let weights = weight_column(&self.centering);
        let product = times::<Squared>(self.distances.view(), &weights, ctx)?;
        Ok(SquareMeans::new(product.column(0), &self.centering))
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
    #[cfg(test)]
    pub fn with_centering(mut self, centering: Centering) -> Result<Self> {
        self.centering = fitting(centering, self.kernel.nrows())?;
        Ok(self)
    }

    /// Weighted row means of the kernel and their mean (survey eq. (40)).
    pub fn means(&self, ctx: &Ctx) -> Result<SquareMeans> {
        let weights = weight_column(&self.centering);
        let product = times::<Plain>(self.kernel.view(), &weights, ctx)?;
        Ok(SquareMeans::new(product.column(0), &self.centering))
    }
}

/// The weights as a one-column block.
fn weight_column(centering: &Centering) -> Groups {
    let mut column = Groups::zeros(centering.weights.len(), 1);
    column.set_column(0, |i| centering.weights[i]);
    column
}

impl SymmetricOperator for CenteredSquares<'_> {
    fn dim(&self) -> usize {
        self.distances.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        centred_product::<Squared>(self.distances.view(), -0.5, &self.centering, x, y, ctx)
    }

    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let means = self.means(ctx)?;
        let centred = |i: usize, j: usize| {
            let d = self.distances[[i, j]];
            -0.5 * (d * d - means.rows[i] - means.rows[j] + means.grand)
        };
        square_of(self.dim(), ctx, centred)
    }
}

impl SymmetricOperator for CenteredKernel<'_> {
    fn dim(&self) -> usize {
        self.kernel.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        centred_product::<Plain>(self.kernel.view(), 1.0, &self.centering, x, y, ctx)
    }

    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let means = self.means(ctx)?;
        let centred = |i: usize, j: usize| self.kernel[[i, j]] - means.rows[i] - means.rows[j] + means.grand;
        square_of(self.dim(), ctx, centred)
    }
}

/// The entry of the operator's inner matrix made from an entry that is stored.
trait Entry: Copy + Send + Sync {
    /// Whether entries are used where they lie.
    const AS_STORED: bool;
    fn entry(stored: f64) -> f64;
}

/// Distances enter squared.
#[derive(Clone, Copy)]
struct Squared;

/// Kernels enter as they are.
#[derive(Clone, Copy)]
struct Plain;

impl Entry for Squared {
    const AS_STORED: bool = false;
    #[inline(always)]
    fn entry(stored: f64) -> f64 {
        stored * stored
    }
}

impl Entry for Plain {
    const AS_STORED: bool = true;
    #[inline(always)]
    fn entry(stored: f64) -> f64 {
        stored
    }
}

/// y ← factor·H(a)·f(M)·H(a)ᵀ·x.
fn centred_product<E: Entry>(
    matrix: ArrayView2<f64>,
    factor: f64,
    centering: &Centering,
    x: ArrayView2<f64>,
    y: ArrayViewMut2<f64>,
    ctx: &Ctx,
) -> Result<()> {
    let mut block = Groups::pack(x, |i| i);
    centering.before(&mut block, Some);
    let mut product = times::<E>(matrix, &block, ctx)?;
    centering.after(&mut product, factor, Some);
    product.unpack(y, |i| i);
    Ok(())
}

/// f(M)·x for a row-major square matrix, parallel over fixed chunks of rows.
fn times<E: Entry>(matrix: ArrayView2<f64>, x: &Groups, ctx: &Ctx) -> Result<Groups> {
    let n = matrix.nrows();
    let mut y = Groups::zeros(n, x.cols);
    // proof: the constructors store a standard-layout matrix.
    let data = matrix.to_slice().expect("standard layout");
    let arch = pulp::Arch::new();
    ctx.install(|| {
        for ((width, x), (_, y)) in x.groups.iter().zip(&mut y.groups) {
            y.par_chunks_mut(ROWS * width).zip(data.par_chunks(ROWS * n)).try_for_each(|(y, rows)| {
                ctx.check()?;
                arch.dispatch(RowChunk { rows, n, width: *width, x, y, kind: PhantomData::<E> });
                Ok(())
            })?;
        }
        Ok(y)
    })
}

/// A few rows against one group of columns of x.
struct RowChunk<'a, E> {
    rows: &'a [f64],
    n: usize,
    width: usize,
    x: &'a [f64],
    y: &'a mut [f64],
    kind: PhantomData<E>,
}

impl<E: Entry> pulp::WithSimd for RowChunk<'_, E> {
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

impl<E: Entry> RowChunk<'_, E> {
    /// One tile of columns at a time.
    #[inline(always)]
    fn run<const R: usize, const W: usize>(self) {
        let n = self.n;
        let (x, y) = (self.x.as_chunks::<W>().0, self.y.as_chunks_mut::<W>().0);
        for first in (0..n).step_by(TILE) {
            let depth = TILE.min(n - first);
            let block = &x[first..first + depth];
            for (rows, y) in self.rows.chunks(R * n).zip(y.chunks_mut(R)) {
                // Missing rows of the last group are zeros and are not written back.
                let mut entries = [[0.0; TILE]; R];
                let whole = rows.len() == R * n;
                if !(E::AS_STORED && whole) {
                    for (row, entries) in rows.chunks_exact(n).zip(&mut entries) {
                        for (entry, stored) in entries.iter_mut().zip(&row[first..first + depth]) {
                            *entry = E::entry(*stored);
                        }
                    }
                }
                let mut sums = [[0.0; W]; R];
                sums.iter_mut().zip(y.iter()).for_each(|(sum, value)| *sum = *value);
                rows_by_block::<Product, R, W>(
                    std::array::from_fn(|r| match E::AS_STORED && whole {
                        true => &rows[r * n + first..r * n + first + depth],
                        false => &entries[r][..depth],
                    }),
                    block,
                    &mut sums,
                );
                y.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum);
            }
        }
    }
}
