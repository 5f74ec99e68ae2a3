//! A sparse symmetric matrix in memory: Laplacians, Markov operators and the
//! alignment matrices of the local methods.
//!
//! Place: between `kernel` (which fills it) and `spectrum` (which multiplies or
//! factors it). Both triangles are stored, so that every row of a product is one
//! sequential sum whatever the number of threads. Cost of a product: O(entries · b).

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::SymmetricOperator;
use crate::linalg::csr::CompressedRows;

/// Rows of a product between two looks at the cancel flag.
const ROWS: usize = 512;

/// Compressed rows of a symmetric matrix; columns ascend within a row.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSymmetric {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseSymmetric {
    /// From compressed rows that are already symmetric with ascending columns.
    ///
    /// # Errors
    /// When the parts do not fit together. Symmetry itself is the caller's promise.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f64>) -> Result<Self> {
        let n = offsets.len().saturating_sub(1);
        let fits = offsets.first() == Some(&0)
            && offsets.last() == Some(&columns.len())
            && columns.len() == values.len()
            && offsets.windows(2).all(|bounds| bounds[0] <= bounds[1])
            && offsets.windows(2).all(|bounds| {
                let row = &columns[bounds[0]..bounds[1]];
                row.windows(2).all(|pair| pair[0] < pair[1])
                    && row.last().is_none_or(|&last| (last as usize) < n)
            });
        if !fits {
            return Err(Error::input("the rows of a sparse matrix do not fit together"));
        }
        Ok(SparseSymmetric { offsets, columns, values })
    }

    /// From rows that were written with both triangles.
    pub(crate) fn of_rows(rows: CompressedRows) -> Result<Self> {
        SparseSymmetric::new(rows.offsets, rows.targets, rows.weights)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Row `i` is `offsets()[i]..offsets()[i + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Columns of all rows, one after the other.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The values that belong to [`SparseSymmetric::columns`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The same matrix with its rows (and columns) in another order: row i of the
    /// result is row `order[i]`.
    ///
    /// # Errors
    /// When `order` does not list every row once.
    pub fn renumbered(&self, order: &[u32], ctx: &Ctx) -> Result<SparseSymmetric> {
        const ABSENT: u32 = u32::MAX;
        if order.len() != self.len() {
            let (got, rows) = (order.len(), self.len());
            return Err(Error::input(format!("an order of {got} rows for a matrix of {rows}")));
        }
        let mut place = vec![ABSENT; self.len()];
        for (new, &row) in order.iter().enumerate() {
            match place.get_mut(row as usize) {
                Some(slot) if *slot == ABSENT => *slot = new as u32,
                _ => {
                    return Err(Error::input(format!(
                        "an order of rows repeats or exceeds its range at {row}"
                    )));
                }
            }
        }
        let usual = self.columns.len() / self.len().max(1) + 1;
        let rows = CompressedRows::written(self.len(), usual, ctx, |i, rows| {
            let (columns, values) = self.row(order[i] as usize);
            columns.iter().zip(values).for_each(|(&column, &value)| rows.push(place[column as usize], value));
            Ok(())
        })?;
        SparseSymmetric::of_rows(rows)
    }

    /// The largest sum of magnitudes in a row: a bound of every eigenvalue.
    pub fn norm_bound(&self) -> f64 {
        (0..self.len()).map(|i| self.row(i).1.iter().map(|value| value.abs()).sum()).fold(0.0, f64::max)
    }
}

/// A symmetric operator that a polynomial can be made of without copies.
pub trait Combining: SymmetricOperator {
    /// y ← α·A·x + β·x + γ·y for row-major blocks of one shape; the factors are
    /// `[α, β, γ]`.
    ///
    /// # Panics
    /// When the blocks are not row-major or not of the same shape (a mistake of
    /// the calling stage, never of its input).
    fn combine(&self, x: &Array2<f64>, y: &mut Array2<f64>, factors: [f64; 3], ctx: &Ctx) -> Result<()>;

    /// Multiplications for one vector.
    fn entries(&self) -> usize;
}

impl Combining for SparseSymmetric {
    fn combine(&self, x: &Array2<f64>, y: &mut Array2<f64>, factors: [f64; 3], ctx: &Ctx) -> Result<()> {
        let rows = RowsRef { offsets: &self.offsets, columns: &self.columns, values: &self.values };
        combine_rows(rows, x, x, y, factors, ctx)
    }

    fn entries(&self) -> usize {
        self.columns.len()
    }
}

impl SymmetricOperator for SparseSymmetric {
    fn dim(&self) -> usize {
        self.len()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        product(self, x, y, ctx)
    }

    fn to_dense(&self, _: &Ctx) -> Result<Array2<f64>> {
        let n = self.len();
        let mut dense = Array2::zeros((n, n));
        for i in 0..n {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).for_each(|(&j, &value)| dense[[i, j as usize]] = value);
        }
        Ok(dense)
    }
}

/// y ← A·x by combining.
pub(crate) fn product(
    matrix: &dyn Combining,
    x: ArrayView2<f64>,
    mut y: ArrayViewMut2<f64>,
    ctx: &Ctx,
) -> Result<()> {
    let x = crate::linalg::standard(x).into_owned();
    let mut product = Array2::zeros(x.dim());
    matrix.combine(&x, &mut product, [1.0, 0.0, 0.0], ctx)?;
    y.assign(&product);
    Ok(())
}

/// Compressed rows on loan.
#[derive(Clone, Copy)]
pub(crate) struct RowsRef<'a> {
    pub offsets: &'a [usize],
    pub columns: &'a [u32],
    pub values: &'a [f64],
}

/// y ← α·R·x + β·own + γ·y in one pass over the rows R; with β = 0, `own` is not read.
pub(crate) fn combine_rows(
    rows: RowsRef<'_>,
    x: &Array2<f64>,
    own: &Array2<f64>,
    y: &mut Array2<f64>,
    factors: [f64; 3],
    ctx: &Ctx,
) -> Result<()> {
    let width = x.ncols();
    assert!(y.ncols() == width && y.nrows() == rows.offsets.len() - 1, "blocks of one shape");
    assert!(factors[1] == 0.0 || own.dim() == y.dim(), "blocks of one shape");
    if width == 0 {
        return Ok(());
    }
    let source = x.as_slice().expect("row-major");
    let own = own.as_slice().expect("row-major");
    let target = y.as_slice_mut().expect("row-major");
    target.par_chunks_mut(ROWS * width).enumerate().try_for_each(|(chunk, out)| {
        ctx.check()?;
        pulp::Arch::new().dispatch(Combine { rows, first: chunk * ROWS, source, own, out, width, factors });
        Ok(())
    })
}

/// Some rows of [`combine_rows`].
struct Combine<'a> {
    rows: RowsRef<'a>,
    first: usize,
    source: &'a [f64],
    own: &'a [f64],
    out: &'a mut [f64],
    width: usize,
    factors: [f64; 3],
}

impl pulp::WithSimd for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        match self.width {
            4 => self.rows::<4>(),
            8 => self.rows::<8>(),
            12 => self.rows::<12>(),
            16 => self.rows::<16>(),
            _ => self.rows_of_any_width(),
        }
    }
}

impl<'a> Combine<'a> {
    #[inline(always)]
    fn row(&self, offset: usize) -> (&'a [u32], &'a [f64]) {
        let RowsRef { offsets, columns, values } = self.rows;
        let range = offsets[self.first + offset]..offsets[self.first + offset + 1];
        (&columns[range.clone()], &values[range])
    }

    /// Rows of W numbers: the sums stay in registers.
    #[inline(always)]
    fn rows<const W: usize>(mut self) {
        let [alpha, beta, gamma] = self.factors;
        let (blocks, _) = self.source.as_chunks::<W>();
        let (own, _) = self.own.as_chunks::<W>();
        let out = std::mem::take(&mut self.out);
        let (out, _) = out.as_chunks_mut::<W>();
        for (offset, row) in out.iter_mut().enumerate() {
            let (columns, values) = self.row(offset);
            let mut sums = [0.0; W];
            for (&column, &value) in columns.iter().zip(values) {
                let entries = &blocks[column as usize];
                for lane in 0..W {
                    sums[lane] += value * entries[lane];
                }
            }
            for lane in 0..W {
                row[lane] = alpha * sums[lane] + gamma * row[lane];
            }
            if beta != 0.0 {
                for lane in 0..W {
                    row[lane] += beta * own[self.first + offset][lane];
                }
            }
        }
    }

    #[inline(always)]
    fn rows_of_any_width(mut self) {
        let ([alpha, beta, gamma], width) = (self.factors, self.width);
        let mut sums = vec![0.0; width];
        let out = std::mem::take(&mut self.out);
        for (offset, row) in out.chunks_exact_mut(width).enumerate() {
            let (columns, values) = self.row(offset);
            sums.fill(0.0);
            for (&column, &value) in columns.iter().zip(values) {
                let entries = &self.source[column as usize * width..][..width];
                sums.iter_mut().zip(entries).for_each(|(sum, entry)| *sum += value * entry);
            }
            for lane in 0..width {
                row[lane] = alpha * sums[lane] + gamma * row[lane];
            }
            if beta != 0.0 {
                let own = &self.own[(self.first + offset) * width..][..width];
                row.iter_mut().zip(own).for_each(|(slot, own)| *slot += beta * own);
            }
        }
    }
}
