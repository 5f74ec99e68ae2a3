//! Products of tall matrices (many rows, few columns), the working set of the
//! Krylov solver.
//!
//! Rows are cut into fixed chunks; every chunk is one sequential faer product
//! and the partial results of [`gram`] are added in chunk order: same bits on
//! any number of threads. Cost O(n·p·q), one read of each operand.

use faer::linalg::matmul::matmul as faer_matmul;
use faer::reborrow::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2, CowArray, Ix2};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::Result;

/// Rows per chunk: large enough to hide the call, small enough to spread.
const ROWS: usize = 1024;
/// Columns of a symmetric product per call: narrow ones waste less above the
/// diagonal, wide ones less on packing.
const GRAM_COLUMNS: usize = 128;

/// A borrowed row-major matrix whose rows may be longer than its columns, so
/// that the leading columns of a wider store are a matrix of their own.
#[derive(Debug, Clone, Copy)]
pub struct TallRef<'a> {
    data: &'a [f64],
    rows: usize,
    cols: usize,
    stride: usize,
}

impl<'a> TallRef<'a> {
    /// The first `cols` columns of a row-major store with `stride` columns.
    ///
    /// # Panics
    /// When `cols > stride` or the store is shorter than `rows * stride`
    /// (a mistake of the calling stage, never of its input).
    pub fn new(data: &'a [f64], rows: usize, cols: usize, stride: usize) -> Self {
        assert!(cols <= stride && data.len() >= rows * stride, "tall matrix larger than its store");
        TallRef { data, rows, cols, stride }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    fn chunk(&self, index: usize) -> MatRef<'a, f64> {
        let start = index * ROWS;
        let rows = ROWS.min(self.rows - start);
        let data = &self.data[start * self.stride..(start + rows) * self.stride];
        MatRef::from_row_major_slice(data, rows, self.stride).subcols(0, self.cols)
    }
}

/// AᵀB for tall A (n × p) and B (n × q), as a row-major p × q matrix.
pub fn gram(a: TallRef, b: TallRef) -> Array2<f64> {
    let (p, q) = (a.cols, b.cols);
    let mut total = Array2::<f64>::zeros((p, q));
    if p == 0 || q == 0 {
        return total;
    }
    let parts: Vec<Vec<f64>> = (0..a.rows.div_ceil(ROWS))
        .into_par_iter()
        .map(|index| {
            let mut part = vec![0.0; p * q];
            let target = MatMut::from_row_major_slice_mut(&mut part, p, q);
            faer_matmul(target, Accum::Replace, a.chunk(index).transpose(), b.chunk(index), 1.0, Par::Seq);
            part
        })
        .collect();
    for part in parts {
        total.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
    }
    total
}

/// `target` ← `alpha`·A·C (+ `target` when `add`), A tall (n × p) and C small
/// (p × q). `target` is row-major n × `target_stride`; its first q columns are
/// written.
pub fn multiply(
    a: TallRef,
    c: ArrayView2<f64>,
    alpha: f64,
    add: bool,
    target: &mut [f64],
    target_stride: usize,
) {
    let (p, q) = c.dim();
    assert!(p == a.cols && q <= target_stride && target.len() >= a.rows * target_stride);
    if q == 0 || a.rows == 0 {
        return;
    }
    let c = standard(c);
    // proof: `standard` returns a row-major matrix without gaps.
    let c = MatRef::from_row_major_slice(c.as_slice().expect("standard layout"), p, q);
    let accumulate = if add { Accum::Add } else { Accum::Replace };
    target[..a.rows * target_stride].par_chunks_mut(ROWS * target_stride).enumerate().for_each(
        |(index, chunk)| {
            let rows = chunk.len() / target_stride;
            let out = MatMut::from_row_major_slice_mut(chunk, rows, target_stride).subcols_mut(0, q);
            faer_matmul(out, accumulate, a.chunk(index), c, alpha, Par::Seq);
        },
    );
}

/// `target` += A·B on one thread, for matrices that are row-major or the
/// transpose of one; `target` must be row-major.
pub fn add_product(a: ArrayView2<f64>, b: ArrayView2<f64>, target: &mut Array2<f64>) {
    let (m, n) = target.dim();
    assert!(a.nrows() == m && b.ncols() == n && a.ncols() == b.nrows(), "shapes do not fit");
    if m == 0 || n == 0 || a.ncols() == 0 {
        return;
    }
    // proof: callers pass arrays they built with `zeros`, which is row-major.
    let out = MatMut::from_row_major_slice_mut(target.as_slice_mut().expect("row-major"), m, n);
    let flipped = a.t().is_standard_layout();
    let left = if flipped { standard(a.reversed_axes()) } else { standard(a) };
    let left = as_faer(&left);
    let left = if flipped { left.transpose() } else { left };
    let right = standard(b);
    faer_matmul(out, Accum::Add, left, as_faer(&right), 1.0, Par::Seq);
}

/// `target` += AᵀA on one thread, on and below the diagonal: entries above it are
/// left in an undefined state until [`mirror`] copies them. A must be row-major.
pub fn add_gram(a: ArrayView2<f64>, target: &mut Array2<f64>) {
    let (rows, cols) = a.dim();
    assert!(target.dim() == (cols, cols), "shapes do not fit");
    if rows == 0 || cols == 0 {
        return;
    }
    let a = standard(a);
    let a = as_faer(&a);
    // proof: callers pass arrays they built with `zeros`, which is row-major.
    let mut out = MatMut::from_row_major_slice_mut(target.as_slice_mut().expect("row-major"), cols, cols);
    for first in (0..cols).step_by(GRAM_COLUMNS) {
        let width = GRAM_COLUMNS.min(cols - first);
        let below = out.rb_mut().submatrix_mut(first, first, cols - first, width);
        let (left, right) = (a.subcols(first, cols - first), a.subcols(first, width));
        faer_matmul(below, Accum::Add, left.transpose(), right, 1.0, Par::Seq);
    }
}

/// What is below the diagonal, above it too.
pub fn mirror(matrix: &mut Array2<f64>) {
    for i in 0..matrix.nrows() {
        for j in 0..i {
            matrix[[j, i]] = matrix[[i, j]];
        }
    }
}

/// The same for a row-major square matrix of n columns, by blocks and in parallel.
pub fn mirror_in_parallel(matrix: &mut [f64], n: usize, ctx: &Ctx) -> Result<()> {
    mirror_rows(matrix, n, 0, ctx)
}

/// What is below the diagonal above it too, within the rows from `first` on and their columns.
fn mirror_rows(rows: &mut [f64], n: usize, first: usize, ctx: &Ctx) -> Result<()> {
    const BLOCK: usize = 64;
    let count = rows.len() / n.max(1);
    if count <= BLOCK {
        for i in 0..count {
            (0..i).for_each(|j| rows[j * n + first + i] = rows[i * n + first + j]);
        }
        return Ok(());
    }
    let half = (count / 2).next_multiple_of(BLOCK).min(count - 1);
    let (above, below) = rows.split_at_mut(half * n);
    let (upper, lower) =
        rayon::join(|| mirror_rows(above, n, first, ctx), || mirror_rows(below, n, first + half, ctx));
    upper.and(lower)?;
    above.par_chunks_mut(BLOCK * n).enumerate().try_for_each(|(chunk, out)| {
        let column = first + chunk * BLOCK;
        for (block, lines) in below.chunks(BLOCK * n).enumerate() {
            ctx.check()?;
            let start = first + half + block * BLOCK;
            for (i, row) in out.chunks_exact_mut(n).enumerate() {
                let target = &mut row[start..start + lines.len() / n];
                target
                    .iter_mut()
                    .zip(lines.chunks_exact(n))
                    .for_each(|(slot, line)| *slot = line[column + i]);
            }
        }
        Ok(())
    })
}

fn as_faer<'a>(matrix: &'a CowArray<f64, Ix2>) -> MatRef<'a, f64> {
    // proof: `standard` returns a row-major matrix without gaps.
    MatRef::from_row_major_slice(matrix.as_slice().expect("standard layout"), matrix.nrows(), matrix.ncols())
}

/// The matrix itself when its rows lie one after another, else a copy that does.
pub fn standard<'a>(matrix: ArrayView2<'a, f64>) -> CowArray<'a, f64, Ix2> {
    if matrix.is_standard_layout() { matrix.into() } else { matrix.as_standard_layout().into_owned().into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::linalg::random::uniform;

    #[test]
    fn products_match_plain_ones_and_ignore_threads() {
        let mut stream = Ctx::new(1, 1).stream("test");
        let a = uniform(&mut stream, 2500, 9);
        let b = uniform(&mut stream, 2500, 5);
        let c = uniform(&mut stream, 6, 4);
        let run = || {
            let left = TallRef::new(a.as_slice().unwrap(), 2500, 6, 9);
            let right = TallRef::new(b.as_slice().unwrap(), 2500, 5, 5);
            let mut target = b.clone();
            multiply(left, c.view(), -2.0, true, target.as_slice_mut().unwrap(), 5);
            (gram(left, right), target)
        };
        let (g, t) = run();
        let left = a.slice(ndarray::s![.., ..6]);
        assert!((&g - &left.t().dot(&b)).iter().all(|e| e.abs() < 1e-11));
        let mut expected = b.clone();
        let mut head = expected.slice_mut(ndarray::s![.., ..4]);
        head -= &(left.dot(&c) * 2.0);
        assert!((&t - &expected).iter().all(|e| e.abs() < 1e-12));
        for threads in [1, 2, 4] {
            assert_eq!(Ctx::new(threads, 0).install(run), (g.clone(), t.clone()));
        }
    }

    #[test]
    fn bits_do_not_depend_on_where_the_rows_lie_in_memory() {
        let mut stream = Ctx::new(1, 2).stream("test");
        let a = uniform(&mut stream, 1500, 7);
        let plain = gram(
            TallRef::new(a.as_slice().unwrap(), 1500, 7, 7),
            TallRef::new(a.as_slice().unwrap(), 1500, 7, 7),
        );
        for offset in 1..9 {
            let mut moved = vec![0.0; offset];
            moved.extend_from_slice(a.as_slice().unwrap());
            let view = TallRef::new(&moved[offset..], 1500, 7, 7);
            assert_eq!(gram(view, view), plain, "offset {offset}");
        }
    }

    #[test]
    fn symmetric_products_are_whole_products() {
        let mut stream = Ctx::new(1, 9).stream("test");
        for cols in [1, 50, 127, 128, 129, 300] {
            let a = uniform(&mut stream, 90, cols);
            let mut whole = Array2::from_elem((cols, cols), 0.5);
            add_product(a.t(), a.view(), &mut whole);
            let mut half = Array2::from_elem((cols, cols), 0.5);
            add_gram(a.view(), &mut half);
            mirror(&mut half);
            assert!((&whole - &half).iter().all(|gap| gap.abs() < 1e-13));
            assert_eq!(half, half.t());
            let mut lower =
                Array2::from_shape_fn((cols, cols), |(i, j)| if j > i { -1.0 } else { half[[i, j]] });
            mirror_in_parallel(lower.as_slice_mut().unwrap(), cols, &Ctx::default()).unwrap();
            assert_eq!(lower, half);
        }
    }
}
