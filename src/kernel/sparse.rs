//! A sparse symmetric matrix that is held: Laplacians, Markov operators and the
//! alignment matrices of the local methods.
//!
//! Place: between `kernel` (which fills it) and `spectrum` (which multiplies or
//! factors it). Both triangles are stored, so that every row of a product is one
//! sequential sum whatever the number of threads. Cost of a product: O(entries · b).

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::spectrum::SymmetricOperator;

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

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
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

    /// y ← α·A·x + β·x + γ·y for row-major blocks, in one pass.
    ///
    /// # Panics
    /// When the blocks are not row-major or not of the same shape (a mistake of
    /// the calling stage, never of its input).
    pub fn combine(
        &self,
        x: &Array2<f64>,
        y: &mut Array2<f64>,
        alpha: f64,
        beta: f64,
        gamma: f64,
        ctx: &Ctx,
    ) -> Result<()> {
        assert_eq!(x.dim(), y.dim(), "blocks of one shape");
        let width = x.ncols();
        if width == 0 {
            return Ok(());
        }
        let source = x.as_slice().expect("row-major");
        let target = y.as_slice_mut().expect("row-major");
        target.par_chunks_mut(ROWS * width).enumerate().try_for_each(|(chunk, out)| {
            ctx.check()?;
            let first = chunk * ROWS;
            pulp::Arch::new().dispatch(Combine {
                matrix: self,
                first,
                source,
                out,
                width,
                alpha,
                beta,
                gamma,
            });
            Ok(())
        })
    }

    /// The largest sum of magnitudes in a row: a bound of every eigenvalue.
    pub fn norm_bound(&self) -> f64 {
        (0..self.len()).map(|i| self.row(i).1.iter().map(|value| value.abs()).sum()).fold(0.0, f64::max)
    }
}

impl SymmetricOperator for SparseSymmetric {
    fn dim(&self) -> usize {
        self.len()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let x = crate::linalg::standard(x).into_owned();
        let mut product = Array2::zeros(x.dim());
        self.combine(&x, &mut product, 1.0, 0.0, 0.0, ctx)?;
        y.assign(&product);
        Ok(())
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

/// Rows of [`SparseSymmetric::combine`].
struct Combine<'a> {
    matrix: &'a SparseSymmetric,
    first: usize,
    source: &'a [f64],
    out: &'a mut [f64],
    width: usize,
    alpha: f64,
    beta: f64,
    gamma: f64,
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

impl Combine<'_> {
    /// Rows of W numbers: the sums stay in registers.
    #[inline(always)]
    fn rows<const W: usize>(self) {
        let Combine { matrix, first, source, out, alpha, beta, gamma, .. } = self;
        let (blocks, _) = source.as_chunks::<W>();
        let (rows, _) = out.as_chunks_mut::<W>();
        for (offset, row) in rows.iter_mut().enumerate() {
            let (columns, values) = matrix.row(first + offset);
            let mut sums = [0.0; W];
            for (&column, &value) in columns.iter().zip(values) {
                let entries = &blocks[column as usize];
                for lane in 0..W {
                    sums[lane] += value * entries[lane];
                }
            }
            let own = &blocks[first + offset];
            for lane in 0..W {
                row[lane] = alpha * sums[lane] + beta * own[lane] + gamma * row[lane];
            }
        }
    }

    #[inline(always)]
    fn rows_of_any_width(self) {
        let Combine { matrix, first, source, out, width, alpha, beta, gamma } = self;
        let mut sums = vec![0.0; width];
        for (offset, row) in out.chunks_exact_mut(width).enumerate() {
            let (columns, values) = matrix.row(first + offset);
            sums.fill(0.0);
            for (&column, &value) in columns.iter().zip(values) {
                let entries = &source[column as usize * width..][..width];
                sums.iter_mut().zip(entries).for_each(|(sum, entry)| *sum += value * entry);
            }
            let own = &source[(first + offset) * width..][..width];
            for lane in 0..width {
                row[lane] = alpha * sums[lane] + beta * own[lane] + gamma * row[lane];
            }
        }
    }
}
