//! Decompositions of large dense matrices that use all threads, answer a stop within
//! milliseconds and report their steps; small ones go to faer ([`super::dense`]).
//!
//! - [`symmetric_eigen`]: reduction to a tridiagonal matrix, divide and conquer,
//!   vectors taken back: O(n³), most of it in matrix products;
//! - [`singular`]: singular values and vectors of one side.
//!
//! Entries are scaled by a power of two first, as in [`super::dense`]. Every sum is
//! cut into fixed parts: the same bits for any number of threads.

mod divide;
mod halves;
mod qr;
mod reflectors;
mod secular;
mod singular;
mod tridiagonalize;

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::dense;
use crate::context::Ctx;
use crate::error::{Error, Result};

pub use singular::{Singular, singular};

/// Up to this size one call of faer is faster and soon over.
const SMALL: usize = 192;

/// All eigenvalues, ascending, and the eigenvectors of the `wanted` largest of them, in
/// the columns of the matrix in the same order; only the upper triangle is read. With
/// `report` n + wanted steps of the current stage are reported.
pub fn symmetric_eigen(
    matrix: ArrayView2<f64>,
    wanted: usize,
    report: bool,
    ctx: &Ctx,
) -> Result<(Vec<f64>, Array2<f64>)> {
    let n = matrix.nrows();
    if n <= SMALL || matrix.ncols() != n {
        let (values, vectors) = dense::symmetric_eigen(matrix.t())?;
        return Ok((
            values,
            vectors.slice(s![.., n.saturating_sub(wanted)..]).as_standard_layout().into_owned(),
        ));
    }
    let scale = dense::power_of_two_scale(matrix.iter().copied())
        .ok_or_else(|| Error::input("the symmetric matrix contains NaN or infinite entries"))?;
    let mut work: Vec<f64> = matrix.iter().map(|entry| entry * scale).collect();
    let (values, vectors) = ctx.install(|| solve(&mut work, n, wanted, report, ctx))?;
    drop(work);
    Ok((values.into_iter().map(|value| value / scale).collect(), columns(&vectors, wanted, n)))
}

/// The same of a row-major matrix near one, which is destroyed; vectors in rows.
fn solve(
    matrix: &mut [f64],
    n: usize,
    wanted: usize,
    report: bool,
    ctx: &Ctx,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let reduced = tridiagonalize::tridiagonalize(matrix, n, report, ctx)?;
    let (values, mut vectors) = divide::divide_and_conquer(&reduced.diagonal, &reduced.beside, wanted, ctx)?;
    reduced.reflectors.apply(&mut vectors, report, ctx)?;
    Ok((values, vectors))
}

/// Rows of n numbers as columns of a row-major matrix.
fn columns(rows: &[f64], count: usize, n: usize) -> Array2<f64> {
    const BLOCK: usize = 32;
    let mut turned = Array2::zeros((n, count));
    if count == 0 {
        return turned;
    }
    // proof: `zeros` is row-major.
    let target = turned.as_slice_mut().expect("row-major");
    target.par_chunks_mut(BLOCK * count).enumerate().for_each(|(chunk, out)| {
        let first = chunk * BLOCK;
        for block in (0..count).step_by(BLOCK) {
            for j in block..count.min(block + BLOCK) {
                for (i, slot) in out[j..].iter_mut().step_by(count).enumerate() {
                    *slot = rows[j * n + first + i];
                }
            }
        }
    });
    turned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul;
    use crate::linalg::random::uniform;

    /// ‖AV − VΛ‖, ‖VᵀV − I‖ and the difference from faer's eigenvalues, all relative to ‖A‖.
    fn defects(a: &Array2<f64>, wanted: usize, ctx: &Ctx) -> (f64, f64, f64) {
        let n = a.nrows();
        let (values, vectors) = symmetric_eigen(a.view(), wanted, false, ctx).unwrap();
        let (truth, _) = dense::symmetric_eigen(a.view()).unwrap();
        let size = truth.iter().fold(1e-300_f64, |most, value| most.max(value.abs()));
        let mut rest = matmul(a.view(), vectors.view(), ctx).unwrap();
        for (mut column, (vector, value)) in
            rest.columns_mut().into_iter().zip(vectors.columns().into_iter().zip(&values[n - wanted..]))
        {
            column.scaled_add(-value, &vector);
        }
        let inner = vectors.t().dot(&vectors) - Array2::<f64>::eye(wanted);
        let most = |matrix: &Array2<f64>| matrix.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        let apart = values.iter().zip(&truth).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        (most(&rest) / size, most(&inner), apart / size)
    }

    #[test]
    fn large_matrices_are_decomposed_as_well_as_by_faer() {
        let ctx = Ctx::new(2, 0);
        let mut stream = ctx.stream("test");
        let n = 431;
        let half = uniform(&mut stream, n, n);
        let full = &half + &half.t();
        let low = matmul(half.slice(s![.., ..7]), half.slice(s![.., ..7]).t(), &ctx).unwrap();
        let graded = Array2::from_shape_fn((n, n), |(i, j)| full[[i, j]] * 0.9f64.powi((i + j) as i32));
        let mut wilkinson = Array2::zeros((n, n));
        for i in 0..n {
            wilkinson[[i, i]] = (i as f64 - 215.0).abs();
            if i > 0 {
                wilkinson[[i, i - 1]] = 1.0;
                wilkinson[[i - 1, i]] = 1.0;
            }
        }
        let ones = Array2::from_elem((n, n), 1.0);
        let cases = [
            ("full", full),
            ("rank 7", low),
            ("graded", graded),
            ("Wilkinson", wilkinson),
            ("ones", ones),
            ("identity", Array2::eye(n)),
            ("zero", Array2::zeros((n, n))),
        ];
        for (name, matrix) in cases {
            for wanted in [1, 40, n] {
                let (residual, skew, apart) = defects(&matrix, wanted, &ctx);
                assert!(
                    residual < 1e-13 && skew < 1e-13 && apart < 1e-13,
                    "{name} {wanted}: {residual} {skew} {apart}"
                );
            }
        }
    }

    #[test]
    fn bits_do_not_depend_on_threads_and_a_stop_is_heard() {
        let mut stream = Ctx::new(1, 4).stream("test");
        let half = uniform(&mut stream, 400, 400);
        let matrix = &half + &half.t();
        let of = |threads| symmetric_eigen(matrix.view(), 30, false, &Ctx::new(threads, 0)).unwrap();
        let one = of(1);
        assert_eq!(one, of(2));
        assert_eq!(one, of(3));
        let ctx = Ctx::new(1, 0);
        ctx.watch().cancel();
        assert_eq!(symmetric_eigen(matrix.view(), 30, false, &ctx), Err(Error::Cancelled));
    }
}
