//! General dense products, parallel over fixed tiles of rows; each tile is one
//! sequential faer product. Cost O(m·k·n).
//!
//! `tests` here compare faer's sequential kernel with a plain triple loop on
//! random sizes, exact-zero blocks and long dimensions: this is how the project
//! settles the public reports of wrong results from that kernel.

use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::tall::standard;
use crate::context::Ctx;
use crate::error::{Error, Result};

/// Rows of the result per tile.
const ROWS: usize = 128;

/// A·B.
pub fn matmul(a: ArrayView2<f64>, b: ArrayView2<f64>, ctx: &Ctx) -> Result<Array2<f64>> {
    let b = standard(b);
    let (k, n) = b.dim();
    // proof: `standard` returns a row-major matrix without gaps.
    let right = MatRef::from_row_major_slice(b.as_slice().expect("standard layout"), k, n);
    tiles(a, right, ctx)
}

/// A·Bᵀ.
pub fn matmul_transposed(a: ArrayView2<f64>, b: ArrayView2<f64>, ctx: &Ctx) -> Result<Array2<f64>> {
    let b = standard(b);
    let (n, k) = b.dim();
    // proof: `standard` returns a row-major matrix without gaps.
    let right = MatRef::from_row_major_slice(b.as_slice().expect("standard layout"), n, k);
    tiles(a, right.transpose(), ctx)
}

fn tiles(a: ArrayView2<f64>, right: MatRef<f64>, ctx: &Ctx) -> Result<Array2<f64>> {
    let (m, k) = a.dim();
    let n = right.ncols();
    if right.nrows() != k {
        return Err(Error::input(format!("cannot multiply {m} × {k} by {} × {n}", right.nrows())));
    }
    let mut result = Array2::<f64>::zeros((m, n));
    if m == 0 || n == 0 || k == 0 {
        return Ok(result);
    }
    let a = standard(a);
    // proof: `standard` and `zeros` give row-major matrices without gaps.
    let left = a.as_slice().expect("standard layout");
    let target = result.as_slice_mut().expect("standard layout");
    ctx.install(|| {
        target.par_chunks_mut(ROWS * n).zip(left.par_chunks(ROWS * k)).try_for_each(|(out, rows)| {
            ctx.check()?;
            let count = rows.len() / k;
            let out = MatMut::from_row_major_slice_mut(out, count, n);
            let rows = MatRef::from_row_major_slice(rows, count, k);
            faer_matmul(out, Accum::Replace, rows, right, 1.0, Par::Seq);
            Ok(())
        })
    })?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::{draw, uniform};

    /// Σ a·b and Σ |a·b| by three plain loops: the value and its error bound.
    fn plain(a: &Array2<f64>, b: &Array2<f64>) -> (Array2<f64>, Array2<f64>) {
        let (m, n) = (a.nrows(), b.ncols());
        let mut value = Array2::zeros((m, n));
        let mut size = Array2::zeros((m, n));
        for i in 0..m {
            for t in 0..a.ncols() {
                for j in 0..n {
                    value[[i, j]] += a[[i, t]] * b[[t, j]];
                    size[[i, j]] += (a[[i, t]] * b[[t, j]]).abs();
                }
            }
        }
        (value, size)
    }

    fn agrees(a: &Array2<f64>, b: &Array2<f64>, ctx: &Ctx) {
        let (value, size) = plain(a, b);
        let bound = f64::EPSILON * 2.0 * (a.ncols() as f64 + 2.0);
        let close = |got: &Array2<f64>| {
            got.iter().zip(&value).zip(&size).all(|((g, v), s)| (g - v).abs() <= bound * s)
        };
        assert!(close(&matmul(a.view(), b.view(), ctx).unwrap()), "{:?} {:?}", a.dim(), b.dim());
        let flipped = b.t().to_owned();
        assert!(close(&matmul_transposed(a.view(), flipped.view(), ctx).unwrap()));
        let by_columns = matmul(a.t().to_owned().t(), flipped.t(), ctx).unwrap();
        assert!(close(&by_columns));
    }

    #[test]
    fn faer_matches_plain_loops_on_random_sizes() {
        let ctx = Ctx::new(2, 0);
        let mut stream = ctx.stream("sizes");
        for _ in 0..60 {
            let mut size = || 1 + ((draw(&mut stream) + 1.0) * 70.0) as usize;
            let (m, k, n) = (size(), size(), size());
            let mut a = uniform(&mut stream, m, k);
            let mut b = uniform(&mut stream, k, n);
            // Exact-zero blocks: the shape of the reported failures.
            a.slice_mut(ndarray::s![m / 3..m / 2, ..]).fill(0.0);
            a.slice_mut(ndarray::s![.., k / 4..k / 2]).fill(0.0);
            b.slice_mut(ndarray::s![k / 2..3 * k / 4, n / 3..]).fill(0.0);
            agrees(&a, &b, &ctx);
        }
    }

    #[test]
    fn faer_matches_plain_loops_on_long_dimensions() {
        let ctx = Ctx::new(2, 1);
        let mut stream = ctx.stream("long");
        for long in [4095, 4096, 4999, 5000, 5001, 5120] {
            for (m, k, n) in [(long, 17, 9), (9, long, 17), (17, 9, long)] {
                let mut a = uniform(&mut stream, m, k);
                let b = uniform(&mut stream, k, n);
                a.slice_mut(ndarray::s![m / 2.., k / 2..]).fill(0.0);
                agrees(&a, &b, &ctx);
            }
        }
    }

    #[test]
    fn refuses_shapes_that_do_not_fit_and_passes_empty_ones() {
        let ctx = Ctx::new(1, 0);
        let a = Array2::zeros((2, 3));
        assert!(matmul(a.view(), a.view(), &ctx).is_err());
        assert_eq!(
            matmul(Array2::zeros((2, 0)).view(), Array2::zeros((0, 3)).view(), &ctx).unwrap().dim(),
            (2, 3)
        );
    }
}
