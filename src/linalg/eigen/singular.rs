//! Singular values, and the singular vectors of the shorter side, of a large matrix.
//!
//! A = Q·R; R (d × d) has the singular values of A. Its right vectors are found as
//! eigenvectors of RᵀR, which squares the condition number: those of small singular
//! values come out as some basis of their space. W = R·V shows it, and within that
//! space, where everything is small, the same is done again: every time another
//! factor of [`STEP`] is gained, until what is left is rounding. The result is as
//! accurate as that of a decomposition without squares, and all of the work is in
//! products and in [`super::symmetric_eigen`].
//!
//! Cost: 2·n·d² and about 10·d³ for every factor of [`STEP`] between the singular values.

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::{columns, qr, symmetric_eigen};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two_scale;
use crate::linalg::{matmul, matmul_transposed};

/// Singular values down to this part of the largest are as good as without squares.
const STEP: f64 = 1.0 / 64.0;

/// What [`singular`] finds.
#[derive(Debug, Clone)]
pub struct Singular {
    /// Singular values, descending, as many as the shorter side is long.
    pub values: Vec<f64>,
    /// The vectors of the first of them, in rows: right ones for features.
    pub vectors: Array2<f64>,
}

/// Singular values of `matrix` (n × d) and its first `wanted` right singular vectors. Steps:
/// two for each row or column of the shorter side.
pub fn singular(matrix: ArrayView2<f64>, wanted: usize, ctx: &Ctx) -> Result<Singular> {
    let scale = power_of_two_scale(matrix.iter().copied())
        .ok_or_else(|| Error::input("the matrix contains NaN or infinite entries"))?;
    let (n, d) = matrix.dim();
    let small = n.min(d);
    ctx.install(|| {
        if n >= d {
            // Columns of A one after the other; R has its right vectors.
            let mut work: Vec<f64> = matrix.iter().map(|value| value * scale).collect();
            let mut work = {
                let turned = columns_of(&work, n, d);
                work.clear();
                turned
            };
            qr::reduce(&mut work, n, ctx)?;
            let triangle = Array2::from_shape_fn((d, d), |(i, j)| work[j * n + i]);
            drop(work);
            let (values, vectors) = right_vectors(triangle, ctx)?;
            ctx.advance(small);
            let vectors = vectors.slice(s![..wanted, ..]).to_owned();
            return Ok(Singular { values: values.iter().map(|value| value / scale).collect(), vectors });
        }
        // Aᵀ = Q·R: rows of A are its columns; Q times the left vectors of R are wanted.
        let mut work: Vec<f64> = matrix.iter().map(|value| value * scale).collect();
        let reflectors = qr::reduce(&mut work, d, ctx)?;
        let transposed = Array2::from_shape_fn((n, n), |(i, j)| work[i * d + j]);
        drop(work);
        let (values, inner) = right_vectors(transposed, ctx)?;
        ctx.advance(small);
        let mut vectors = Array2::zeros((wanted, d));
        vectors.slice_mut(s![.., ..n]).assign(&inner.slice(s![..wanted, ..]));
        // proof: `zeros` is row-major.
        reflectors.apply(vectors.as_slice_mut().expect("row-major"), false, ctx)?;
        Ok(Singular { values: values.iter().map(|value| value / scale).collect(), vectors })
    })
}

/// The transpose of a row-major n × d matrix.
fn columns_of(values: &[f64], n: usize, d: usize) -> Vec<f64> {
    // Rows of `values` as columns: what `columns` does.
    columns(values, n, d).into_raw_vec_and_offset().0
}

/// Singular values and right vectors (rows) of a square matrix, descending.
fn right_vectors(r: Array2<f64>, ctx: &Ctx) -> Result<(Vec<f64>, Array2<f64>)> {
    let d = r.nrows();
    let mut vectors = Array2::<f64>::eye(d);
    // Rows R·v of the vectors v in the rows of `vectors`.
    let mut images = r.t().as_standard_layout().into_owned();
    let mut first = 0;
    let mut largest = 0.0_f64;
    while first < d {
        let tail = images.slice(s![first.., ..]);
        let scale = power_of_two_scale(tail.iter().copied()).unwrap_or(1.0);
        let scaled = &tail * scale;
        let inner = matmul_transposed(scaled.view(), scaled.view(), ctx)?;
        let (_, turn) = symmetric_eigen(inner.view(), d - first, false, ctx)?;
        let turn = turn.slice(s![.., ..;-1]).t().as_standard_layout().into_owned();
        let turned = matmul(turn.view(), vectors.slice(s![first.., ..]), ctx)?;
        vectors.slice_mut(s![first.., ..]).assign(&turned);
        let turned = matmul(turn.view(), tail, ctx)?;
        images.slice_mut(s![first.., ..]).assign(&turned);
        let sizes = row_norms(images.slice(s![first.., ..]));
        let most = sizes.iter().copied().fold(0.0, f64::max);
        largest = largest.max(most);
        if most <= f64::EPSILON * largest {
            break;
        }
        first += sizes.iter().position(|&size| size < STEP * most).unwrap_or(sizes.len());
    }
    let sizes = row_norms(images.view());
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
    Ok((order.iter().map(|&row| sizes[row]).collect(), vectors.select(ndarray::Axis(0), &order)))
}

/// The length of each row.
fn row_norms(rows: ArrayView2<f64>) -> Vec<f64> {
    let norm = |row: ndarray::ArrayView1<f64>| row.iter().map(|value| value * value).sum::<f64>().sqrt();
    (0..rows.nrows()).into_par_iter().map(|row| norm(rows.row(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::uniform;
    use crate::linalg::thin_svd;

    fn graded(n: usize, d: usize, decay: f64, ctx: &Ctx) -> Array2<f64> {
        let mut stream = ctx.stream("graded");
        let small = n.min(d);
        let left = thin_svd(uniform(&mut stream, n, small).view()).unwrap().u;
        let right = thin_svd(uniform(&mut stream, d, small).view()).unwrap().u;
        let sizes = Array2::from_shape_fn((1, small), |(_, j)| f64::powi(decay, j as i32));
        (left * sizes).dot(&right.t())
    }

    #[test]
    fn values_and_vectors_are_those_of_faer() {
        let ctx = Ctx::new(2, 3);
        for (n, d) in [(300, 40), (260, 250), (40, 300), (250, 260), (5, 1), (1, 5)] {
            for decay in [1.0, 0.93, 0.5] {
                let a = graded(n, d, decay, &ctx) * 1e-3;
                let truth = thin_svd(a.view()).unwrap();
                let small = n.min(d);
                let found = singular(a.view(), small, &ctx).unwrap();
                let size = truth.s[0];
                for (value, expected) in found.values.iter().zip(&truth.s) {
                    assert!((value - expected).abs() < 1e-13 * size, "{n} {d} {decay}: {value} {expected}");
                }
                let skew = found.vectors.dot(&found.vectors.t()) - Array2::<f64>::eye(small);
                assert!(skew.iter().all(|entry| entry.abs() < 1e-12), "{n} {d} {decay}");
                // A·v has length σ and is orthogonal to the others, to the rounding of the largest.
                let images = a.dot(&found.vectors.t());
                let inner = images.t().dot(&images);
                for ((i, j), entry) in inner.indexed_iter() {
                    let bound = 1e-12 * size * found.values[i].max(found.values[j]).max(1e-15 * size);
                    let expected = if i == j { found.values[i].powi(2) } else { 0.0 };
                    assert!((entry - expected).abs() <= bound, "{n} {d} {decay} ({i}, {j}): {entry}");
                }
            }
        }
    }
}
