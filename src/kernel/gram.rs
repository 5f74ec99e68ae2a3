//! The covariance XcᵀXc (D × D) and the Gram matrix XcXcᵀ (n × n) of centred
//! points as operators; the centred points are never stored.
//!
//! Place: points in, before `spectrum`; principal components of many features
//! or many points, dense or sparse. Dense rows are centred chunk by chunk as
//! they are read (no cancellation for points far from the origin); sparse rows
//! stay sparse and the mean enters as a rank-one correction. Rows are cut into
//! fixed chunks and partial sums added in order. Cost of one product with b
//! vectors: O(n·D·b), or O(nnz·b) when sparse.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Csr, PointsRef};
use crate::linalg::SymmetricOperator;
use crate::linalg::tall::add_product;

/// Most accumulators of D × b (or D × D) partial sums.
const PARTS: usize = 32;
/// Values per chunk of centred rows: fits the second-level cache.
const CHUNK_VALUES: usize = 1 << 15;

/// Which of the two matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// XcᵀXc, one row per feature.
    Features,
    /// XcXcᵀ, one row per point.
    Samples,
}

/// Points with their mean, and the side they are looked at from.
#[derive(Debug, Clone)]
pub struct CenteredPoints<'a> {
    points: PointsRef<'a>,
    mean: Vec<f64>,
    side: Side,
}

impl<'a> CenteredPoints<'a> {
    /// The operator over `points`, centred at their mean.
    #[cfg(test)]
    pub fn new(points: PointsRef<'a>, side: Side, ctx: &Ctx) -> Result<Self> {
        Ok(CenteredPoints::about(points, mean(points, ctx)?, side))
    }

    /// The operator over `points`, centred at `origin`.
    pub fn about(points: PointsRef<'a>, origin: Vec<f64>, side: Side) -> Self {
        CenteredPoints { points, mean: origin, side }
    }

    /// Xcᵀ·t (D × b) for t of n × b.
    pub fn transpose_times(&self, t: ArrayView2<f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut product = self.fold(t.ncols(), ctx, |rows, sum| {
            let part = t.slice(s![rows.clone(), ..]);
            match self.points {
                PointsRef::Dense(_) => {
                    add_product(centred_rows(self.points, &self.mean, rows).t(), part, sum);
                }
                PointsRef::Sparse(matrix) => add_sparse_transposed(matrix, rows, part, sum),
            }
        })?;
        if let PointsRef::Sparse(_) = self.points {
            let total = t.sum_axis(ndarray::Axis(0));
            for (mut row, &mean) in product.rows_mut().into_iter().zip(&self.mean) {
                row.scaled_add(-mean, &total);
            }
        }
        Ok(product)
    }

    /// Xc·s (n × b) for s of D × b.
    pub fn times(&self, s: ArrayView2<f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        let (n, b) = (self.points.rows(), s.ncols());
        let offset = self.offset(s);
        let step = self.chunk_rows();
        let parts: Vec<Array2<f64>> = ctx.install(|| {
            (0..n.div_ceil(step))
                .into_par_iter()
                .map(|index| {
                    ctx.check()?;
                    Ok(self.rows_times(index * step..n.min((index + 1) * step), s, &offset))
                })
                .collect::<Result<_>>()
        })?;
        let mut product = Array2::zeros((n, b));
        for (index, part) in parts.iter().enumerate() {
            product.slice_mut(s![index * step..index * step + part.nrows(), ..]).assign(part);
        }
        Ok(product)
    }

    /// The mean's own product sᵀ·mean, used by sparse rows only.
    fn offset(&self, s: ArrayView2<f64>) -> Array1<f64> {
        match self.points {
            PointsRef::Dense(_) => Array1::zeros(s.ncols()),
            PointsRef::Sparse(_) => s.t().dot(&ndarray::ArrayView1::from(&self.mean)),
        }
    }

    fn chunk_rows(&self) -> usize {
        (CHUNK_VALUES / self.points.cols().max(1)).clamp(8, 1024)
    }

    /// Sum `add` over all chunks of rows into a D × b matrix: a fixed number of
    /// accumulators, added in order.
    fn fold(
        &self,
        b: usize,
        ctx: &Ctx,
        add: impl Fn(Range<usize>, &mut Array2<f64>) + Sync,
    ) -> Result<Array2<f64>> {
        ordered_fold(self.points.rows(), self.chunk_rows(), (self.points.cols(), b), ctx, add)
    }

    /// Rows `rows` of Xc·s.
    fn rows_times(&self, rows: Range<usize>, s: ArrayView2<f64>, offset: &Array1<f64>) -> Array2<f64> {
        let mut product = Array2::zeros((rows.len(), s.ncols()));
        match self.points {
            PointsRef::Dense(_) => {
                let chunk = centred_rows(self.points, &self.mean, rows);
                add_product(chunk.view(), s, &mut product);
            }
            PointsRef::Sparse(matrix) => {
                for (i, mut out) in rows.zip(product.rows_mut()) {
                    out -= offset;
                    let (columns, values) = matrix.row(i);
                    for (&column, &value) in columns.iter().zip(values) {
                        out.scaled_add(value, &s.row(column as usize));
                    }
                }
            }
        }
        product
    }

    /// XcᵀXc·x; dense points are read once.
    fn covariance_times(&self, x: ArrayView2<f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        if let PointsRef::Sparse(_) = self.points {
            return self.transpose_times(self.times(x, ctx)?.view(), ctx);
        }
        self.fold(x.ncols(), ctx, |rows, sum| {
            let chunk = centred_rows(self.points, &self.mean, rows);
            let mut t = Array2::zeros((chunk.nrows(), x.ncols()));
            add_product(chunk.view(), x, &mut t);
            add_product(chunk.t(), t.view(), sum);
        })
    }
}

impl SymmetricOperator for CenteredPoints<'_> {
    fn dim(&self) -> usize {
        match self.side {
            Side::Features => self.points.cols(),
            Side::Samples => self.points.rows(),
        }
    }

    fn multiplications(&self) -> f64 {
        2.0 * self.points.rows() as f64 * self.points.cols() as f64
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let product = match self.side {
            Side::Features => self.covariance_times(x, ctx)?,
            Side::Samples => {
                let features = self.transpose_times(x, ctx)?;
                self.times(features.view(), ctx)?
            }
        };
        y.assign(&product);
        Ok(())
    }
}

/// sum += (sparse rows)ᵀ·t.
fn add_sparse_transposed(matrix: &Csr, rows: Range<usize>, t: ArrayView2<f64>, sum: &mut Array2<f64>) {
    for (i, t) in rows.zip(t.rows()) {
        let (columns, values) = matrix.row(i);
        for (&column, &value) in columns.iter().zip(values) {
            sum.row_mut(column as usize).scaled_add(value, &t);
        }
    }
}

/// Σ over chunks of rows into a matrix of `shape`: at most [`PARTS`]
/// accumulators (fewer when they are large), added in order.
pub(crate) fn ordered_fold(
    n: usize,
    chunk_rows: usize,
    shape: (usize, usize),
    ctx: &Ctx,
    add: impl Fn(Range<usize>, &mut Array2<f64>) + Sync,
) -> Result<Array2<f64>> {
    let parts = fold_parts(n, chunk_rows, shape.0 * shape.1, ctx, || Array2::zeros(shape), add)?;
    let mut total = Array2::zeros(shape);
    parts.iter().for_each(|part| total += part);
    Ok(total)
}

/// Chunks of rows into accumulators of `size` numbers, at most [`PARTS`] of them, in order.
pub(super) fn fold_parts<T: Send>(
    n: usize,
    chunk_rows: usize,
    size: usize,
    ctx: &Ctx,
    start: impl Fn() -> T + Sync,
    add: impl Fn(Range<usize>, &mut T) + Sync,
) -> Result<Vec<T>> {
    // Depends on the shape only, never on the number of threads.
    let affordable = ((1usize << 22) / size.max(1)).clamp(4, PARTS);
    let chunks = n.div_ceil(chunk_rows);
    let per_part = chunks.div_ceil(affordable).max(1);
    ctx.install(|| {
        (0..chunks.div_ceil(per_part))
            .into_par_iter()
            .map(|part| {
                let mut sum = start();
                for chunk in part * per_part..chunks.min((part + 1) * per_part) {
                    ctx.check()?;
                    add(chunk * chunk_rows..n.min((chunk + 1) * chunk_rows), &mut sum);
                }
                Ok(sum)
            })
            .collect()
    })
}

/// Rows minus the mean, dense.
pub(crate) fn centred_rows(points: PointsRef, mean: &[f64], rows: Range<usize>) -> Array2<f64> {
    let mut chunk = Array2::zeros((rows.len(), mean.len()));
    match points {
        PointsRef::Dense(matrix) => chunk.assign(&matrix.slice(s![rows, ..])),
        PointsRef::Sparse(matrix) => {
            for (i, mut out) in rows.zip(chunk.rows_mut()) {
                let (columns, values) = matrix.row(i);
                for (&column, &value) in columns.iter().zip(values) {
                    out[column as usize] = value;
                }
            }
        }
    }
    chunk -= &ndarray::ArrayView1::from(mean);
    chunk
}

/// The mean of the points, summed over fixed chunks in order.
pub fn mean(points: PointsRef, ctx: &Ctx) -> Result<Vec<f64>> {
    let (n, d) = (points.rows(), points.cols());
    if n == 0 {
        return Err(Error::input("there are no points to average"));
    }
    let rows = (CHUNK_VALUES / d.max(1)).clamp(8, 1024);
    let sum = ordered_fold(n, rows, (1, d), ctx, |rows, sum| {
        let mut sum = sum.row_mut(0);
        match points {
            PointsRef::Dense(matrix) => {
                let chunk = matrix.slice(s![rows, ..]).sum_axis(ndarray::Axis(0));
                sum += &chunk;
            }
            PointsRef::Sparse(matrix) => {
                for i in rows {
                    let (columns, values) = matrix.row(i);
                    for (&column, &value) in columns.iter().zip(values) {
                        sum[column as usize] += value;
                    }
                }
            }
        }
    })?;
    Ok(sum.iter().map(|total| total / n as f64).collect())
}
