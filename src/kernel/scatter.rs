//! The mean of points and the sums of products about it, XcᵀXc (D × D), in one pass.
//!
//! Products are summed about a row of some sampled mean c and moved to the mean m
//! afterwards: Σ(x−m)(x−m)ᵀ = Σ(x−c)(x−c)ᵀ − n(m−c)(m−c)ᵀ. That costs no digits where
//! c is near the mean compared with the spread, which is looked at for every feature;
//! where it is not, a second pass goes about m itself. Chunks of rows are centred into
//! a buffer that stays in cache. Place: points in, before `spectrum`, for PCA of few
//! features. Cost: n·D² multiplications and additions, one read of the points.

use std::ops::Range;

use ndarray::{Array2, ArrayView2, s};

use super::gram::{centred_rows, fold_parts};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::PointsRef;
use crate::linalg::tall::{add_gram, mirror, standard};

/// Numbers of a chunk of centred rows: those of few features stay in the second-level cache,
/// those of many are tall, as each adds into all of the D × D sum.
const CHUNK_VALUES: (usize, usize) = (1 << 14, 1 << 18);
/// Rows that the first centre is the mean of.
const SAMPLE: usize = 128;
/// Part of a feature's squares that may lie in the distance of both centres.
const SHARE: f64 = 0.5;

/// Mean and XcᵀXc of dense or sparse points; with a given origin about that.
pub fn scatter(points: PointsRef, origin: Option<&[f64]>, ctx: &Ctx) -> Result<(Vec<f64>, Array2<f64>)> {
    let (n, d) = (points.rows(), points.cols());
    if n == 0 {
        return Err(Error::input("there are no points to average"));
    }
    let about = |center: &[f64]| sums_about(points, center, ctx);
    if let Some(origin) = origin {
        return Ok((origin.to_vec(), finished(about(origin)?.1)));
    }
    let sampled = sampled_mean(points);
    let (sums, mut products) = about(&sampled)?;
    let shift: Vec<f64> = sums.iter().map(|sum| sum / n as f64).collect();
    let mean: Vec<f64> = sampled.iter().zip(&shift).map(|(center, shift)| center + shift).collect();
    let far = (0..d).any(|j| n as f64 * shift[j] * shift[j] > SHARE * products[[j, j]]);
    if far {
        let (_, products) = about(&mean)?;
        return Ok((mean, finished(products)));
    }
    for (i, mut row) in products.rows_mut().into_iter().enumerate() {
        let factor = n as f64 * shift[i];
        row.iter_mut().zip(&shift).take(i + 1).for_each(|(product, shift)| *product -= factor * shift);
    }
    Ok((mean, finished(products)))
}

fn finished(mut products: Array2<f64>) -> Array2<f64> {
    mirror(&mut products);
    products
}

/// The mean of a few rows spread over all of them, taken about the first: where a feature
/// does not vary it is exact.
fn sampled_mean(points: PointsRef) -> Vec<f64> {
    let n = points.rows();
    let first = centred_rows(points, &vec![0.0; points.cols()], 0..1).row(0).to_vec();
    let count = SAMPLE.min(n);
    let mut sum = vec![0.0; points.cols()];
    for i in 0..count {
        let row = i * n / count;
        let gap = centred_rows(points, &first, row..row + 1);
        sum.iter_mut().zip(gap.row(0)).for_each(|(sum, gap)| *sum += gap);
    }
    first.iter().zip(sum).map(|(first, sum)| first + sum / count as f64).collect()
}

/// One part of all chunks: sums, products on and below the diagonal, and a buffer.
struct Part {
    sums: Vec<f64>,
    products: Array2<f64>,
    buffer: Vec<f64>,
}

/// Σ(x − c) and, on and below the diagonal, Σ(x − c)(x − c)ᵀ.
fn sums_about(points: PointsRef, center: &[f64], ctx: &Ctx) -> Result<(Vec<f64>, Array2<f64>)> {
    let (n, d) = (points.rows(), points.cols());
    let (few, many) = (CHUNK_VALUES.0 / d.max(1), CHUNK_VALUES.1 / d.max(1));
    let rows = few.max(many.min(d)).clamp(64, 1024);
    ctx.stage("covariance", n);
    let start = || Part { sums: vec![0.0; d], products: Array2::zeros((d, d)), buffer: Vec::new() };
    let parts = fold_parts(n, rows, d * d, ctx, start, |rows, part| {
        ctx.advance(rows.len());
        part.add(points, center, rows);
    })?;
    let mut parts = parts.into_iter();
    // proof: there is at least one row, and so one part.
    let first = parts.next().map(|part| (part.sums, part.products));
    let (mut sums, mut products) = first.unwrap_or_else(|| (vec![0.0; d], Array2::zeros((d, d))));
    for part in parts {
        sums.iter_mut().zip(part.sums).for_each(|(sum, part)| *sum += part);
        products += &part.products;
    }
    Ok((sums, products))
}

impl Part {
    fn add(&mut self, points: PointsRef, center: &[f64], rows: Range<usize>) {
        let shape = (rows.len(), center.len());
        let copied;
        let (given, center) = match points {
            PointsRef::Dense(matrix) => (matrix.slice_move(s![rows, ..]), center),
            PointsRef::Sparse(_) => {
                copied = centred_rows(points, center, rows);
                (copied.view(), &*vec![0.0; center.len()])
            }
        };
        let given = standard(given);
        self.buffer.resize(shape.0 * shape.1, 0.0);
        // proof: `standard` has its rows one after another.
        let given = given.as_slice().expect("standard layout");
        pulp::Arch::new().dispatch(Centre { given, center, sums: &mut self.sums, centred: &mut self.buffer });
        // proof: the buffer holds exactly the rows of the chunk.
        let chunk = ArrayView2::from_shape(shape, &self.buffer).expect("whole rows");
        add_gram(chunk, &mut self.products);
    }
}

/// Rows minus the centre, and their sums.
struct Centre<'a> {
    given: &'a [f64],
    center: &'a [f64],
    sums: &'a mut [f64],
    centred: &'a mut [f64],
}

impl pulp::WithSimd for Centre<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let d = self.center.len().max(1);
        for (given, centred) in self.given.chunks_exact(d).zip(self.centred.chunks_exact_mut(d)) {
            let values = given.iter().zip(self.center).zip(centred).zip(&mut *self.sums);
            values.for_each(|(((given, center), centred), sum)| {
                *centred = given - center;
                *sum += *centred;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::uniform;

    /// Two passes, in plain loops.
    fn plain(x: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
        let mean = x.mean_axis(ndarray::Axis(0)).unwrap();
        let centred = x - &mean;
        (mean.to_vec(), centred.t().dot(&centred))
    }

    #[test]
    fn one_pass_is_as_good_as_two() {
        let ctx = Ctx::new(2, 0);
        let mut stream = ctx.stream("test");
        for (n, d) in [(1, 3), (2, 2), (700, 5), (5000, 3), (900, 60)] {
            let x = uniform(&mut stream, n, d);
            let sorted = Array2::from_shape_fn((n, d), |(i, _)| (i as f64).powi(3));
            let mut outlier = x.clone();
            outlier[[0, 0]] = 1e6;
            let mut shifted = &x * 1e-3 + 1e4;
            shifted.column_mut(d - 1).fill(0.1);
            // All of the sampled rows are far from the others.
            let mut unlucky = x.clone();
            (0..SAMPLE.min(n)).for_each(|i| unlucky.row_mut(i * n / SAMPLE.min(n)).fill(1e7));
            for (name, x) in [
                ("plain", x),
                ("sorted", sorted),
                ("outlier", outlier),
                ("shifted", shifted),
                ("unlucky", unlucky),
            ] {
                let (mean, products) = scatter(PointsRef::Dense(x.view()), None, &ctx).unwrap();
                let (expected_mean, expected) = plain(&x);
                for j in 0..d {
                    let spread = (expected[[j, j]] / n as f64).sqrt();
                    let close = 1e-13 * (spread + expected_mean[j].abs());
                    assert!((mean[j] - expected_mean[j]).abs() <= close, "{name} {n} {d}");
                    for i in 0..d {
                        let size = (expected[[i, i]] * expected[[j, j]]).sqrt();
                        // What rounding of the points themselves allows.
                        let floor = n as f64 * (f64::EPSILON * 1e4).powi(2);
                        let gap = (products[[i, j]] - expected[[i, j]]).abs();
                        assert!(gap <= 1e-12 * size + floor, "{name} {n} {d}: {gap} of {size}");
                    }
                }
                assert_eq!(products, products.t());
                for threads in [1, 3] {
                    let again = scatter(PointsRef::Dense(x.view()), None, &Ctx::new(threads, 0)).unwrap();
                    assert_eq!(again, (mean.clone(), products.clone()));
                }
            }
        }
    }

    #[test]
    fn features_that_do_not_vary_have_no_variance() {
        let ctx = Ctx::new(1, 0);
        let x = Array2::from_elem((3000, 4), 0.1);
        let (mean, products) = scatter(PointsRef::Dense(x.view()), None, &ctx).unwrap();
        assert_eq!(mean, vec![0.1; 4]);
        assert!(products.iter().all(|product| *product == 0.0));
    }
}
