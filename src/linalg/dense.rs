//! Dense matrices made of their entries; their eigenvalues and singular values by faer,
//! sequentially.
//!
//! Entries are scaled by a power of two first (exact), so that matrices with
//! entries near 1e±150 neither overflow nor underflow inside the factorisation.
//! Cost O(n³) time, O(n²) memory.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{evd, svd};
use faer::{Mat, Par};
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};

/// The power of two `s` that brings the largest magnitude of `values` into
/// [1, 2); 1 when all are zero. `None` when one is not finite.
pub fn power_of_two_scale(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut largest = 0.0_f64;
    let mut finite = true;
    for value in values {
        largest = largest.max(value.abs());
        finite &= value.is_finite();
    }
    if !finite {
        return None;
    }
    if largest == 0.0 {
        return Some(1.0);
    }
    let exponent = ((largest.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    // ±1022 keeps the scale and its inverse normal numbers.
    Some(2.0_f64.powi(-exponent.clamp(-1022, 1022)))
}

/// A matrix whose numbers `write` writes, row after row.
pub(crate) fn written_by_rows(
    shape: (usize, usize),
    write: impl FnOnce(&mut [f64]) -> Result<()>,
) -> Result<Array2<f64>> {
    let mut values = vec![0.0; shape.0 * shape.1];
    write(&mut values)?;
    by_rows(shape, values)
}

/// The matrix of these numbers, row after row.
pub(crate) fn by_rows(shape: (usize, usize), values: Vec<f64>) -> Result<Array2<f64>> {
    Array2::from_shape_vec(shape, values).map_err(|fault| Error::input(fault.to_string()))
}

/// The n × n matrix of these entries, written by all threads.
pub(crate) fn square_of(
    n: usize,
    ctx: &Ctx,
    entry: impl Fn(usize, usize) -> f64 + Sync,
) -> Result<Array2<f64>> {
    let mut matrix = Array2::zeros((n, n));
    let rows = matrix.axis_iter_mut(Axis(0)).into_par_iter().enumerate();
    ctx.install(|| {
        rows.try_for_each(|(i, mut row)| {
            ctx.check()?;
            row.iter_mut().enumerate().for_each(|(j, slot)| *slot = entry(i, j));
            Ok(())
        })
    })?;
    Ok(matrix)
}

fn scale_of(matrix: ArrayView2<f64>, what: &str) -> Result<f64> {
    power_of_two_scale(matrix.iter().copied())
        .ok_or_else(|| Error::input(format!("the {what} contains NaN or infinite entries")))
}

fn to_faer(matrix: ArrayView2<f64>, scale: f64) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[[i, j]] * scale)
}

fn from_faer(matrix: &Mat<f64>) -> Array2<f64> {
    Array2::from_shape_fn((matrix.nrows(), matrix.ncols()), |(i, j)| matrix[(i, j)])
}

/// All eigenvalues (ascending) and eigenvectors (columns) of a symmetric
/// matrix; only its lower triangle is read.
pub fn symmetric_eigen(matrix: ArrayView2<f64>) -> Result<(Vec<f64>, Array2<f64>)> {
    let n = matrix.nrows();
    if matrix.ncols() != n {
        return Err(Error::input(format!("expected a square matrix, got {n} × {}", matrix.ncols())));
    }
    if n == 0 {
        return Ok((Vec::new(), Array2::zeros((0, 0))));
    }
    let scale = scale_of(matrix, "symmetric matrix")?;
    let scaled = to_faer(matrix, scale);
    let mut values = Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let need =
        evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(need);
    evd::self_adjoint_evd(
        scaled.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .map_err(|_| Error::NotConverged(format!("the dense eigenvalue iteration did not converge (n = {n})")))?;
    let values = (0..n).map(|i| values.column_vector()[i] / scale).collect();
    Ok((values, from_faer(&vectors)))
}

/// A = U diag(s) Vᵀ with `min(rows, cols)` columns in `u` and `v`.
#[derive(Debug, Clone)]
pub struct Svd {
    /// Left singular vectors, one per column.
    pub u: Array2<f64>,
    /// Singular values, descending.
    pub s: Vec<f64>,
    /// Right singular vectors, one per column.
    pub v: Array2<f64>,
}

/// The thin singular value decomposition of a dense matrix.
pub fn thin_svd(matrix: ArrayView2<f64>) -> Result<Svd> {
    let (rows, cols) = matrix.dim();
    let rank = rows.min(cols);
    if rank == 0 {
        return Ok(Svd { u: Array2::zeros((rows, 0)), s: Vec::new(), v: Array2::zeros((cols, 0)) });
    }
    let scale = scale_of(matrix, "matrix")?;
    let scaled = to_faer(matrix, scale);
    let mut s = Diag::<f64>::zeros(rank);
    let mut u = Mat::<f64>::zeros(rows, rank);
    let mut v = Mat::<f64>::zeros(cols, rank);
    let thin = svd::ComputeSvdVectors::Thin;
    let need = svd::svd_scratch::<f64>(rows, cols, thin, thin, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(need);
    svd::svd(
        scaled.as_ref(),
        s.as_mut(),
        Some(u.as_mut()),
        Some(v.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .map_err(|_| {
        Error::NotConverged(format!("the singular value iteration did not converge ({rows} × {cols})"))
    })?;
    let s = (0..rank).map(|i| s.column_vector()[i] / scale).collect();
    Ok(Svd { u: from_faer(&u), s, v: from_faer(&v) })
}

/// A⁺B: the least-squares solution of smallest norm. Singular values that
/// are zero up to rounding count as zero.
pub fn pseudo_inverse_times(matrix: ArrayView2<f64>, rhs: ArrayView2<f64>) -> Result<Array2<f64>> {
    let (rows, cols) = matrix.dim();
    let Svd { u, s, v } = thin_svd(matrix)?;
    let floor = s.first().map_or(0.0, |largest| largest * f64::EPSILON * rows.max(cols) as f64);
    let mut along = u.t().dot(&rhs);
    for (mut row, &value) in along.outer_iter_mut().zip(&s) {
        let factor = if value > floor { 1.0 / value } else { 0.0 };
        row.mapv_inplace(|entry| entry * factor);
    }
    Ok(v.dot(&along))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::linalg::random::uniform;

    #[test]
    fn scales_are_exact_powers_of_two() {
        assert_eq!(power_of_two_scale([0.0, -0.0]), Some(1.0));
        assert_eq!(power_of_two_scale([3.0, -5.0]), Some(0.25));
        assert_eq!(power_of_two_scale([f64::NAN]), None);
        for extreme in [f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            let scale = power_of_two_scale([extreme]).unwrap();
            assert!(scale.is_normal() && (extreme * scale).is_finite() && (1.0 / scale).is_finite());
        }
    }

    #[test]
    fn eigen_of_extreme_entries_keeps_relative_accuracy() {
        let mut stream = Ctx::new(1, 3).stream("test");
        let half = uniform(&mut stream, 12, 12);
        let matrix = &half + &half.t();
        let (plain, _) = symmetric_eigen(matrix.view()).unwrap();
        for size in [1e150, 1e-150] {
            let (values, vectors) = symmetric_eigen((&matrix * size).view()).unwrap();
            for (value, expected) in values.iter().zip(&plain) {
                assert!((value / size - expected).abs() < 1e-13 * plain[11].abs(), "{value} {expected}");
            }
            let identity = vectors.t().dot(&vectors);
            assert!((identity - Array2::<f64>::eye(12)).iter().all(|e| e.abs() < 1e-13));
        }
    }

    #[test]
    fn svd_rebuilds_its_matrix() {
        let mut stream = Ctx::new(1, 4).stream("test");
        for shape in [(9, 4), (4, 9), (5, 5), (1, 3)] {
            let a = uniform(&mut stream, shape.0, shape.1);
            let svd = thin_svd(a.view()).unwrap();
            let s = Array2::from_diag(&ndarray::Array1::from(svd.s.clone()));
            let back = svd.u.dot(&s).dot(&svd.v.t());
            assert!((back - a).iter().all(|e| e.abs() < 1e-13));
            assert!(svd.s.windows(2).all(|pair| pair[0] >= pair[1]));
        }
    }

    #[test]
    fn the_pseudo_inverse_solves_or_fits() {
        let mut stream = Ctx::new(1, 5).stream("test");
        let (a, x) = (uniform(&mut stream, 7, 7), uniform(&mut stream, 7, 2));
        let back = pseudo_inverse_times(a.view(), a.dot(&x).view()).unwrap();
        assert!((back - x).iter().all(|gap| gap.abs() < 1e-11));
        // Twice the same column: both get the same share.
        let twice = ndarray::array![[1.0, 1.0], [2.0, 2.0]];
        let shared = pseudo_inverse_times(twice.view(), ndarray::array![[2.0], [4.0]].view()).unwrap();
        assert!(shared.iter().all(|value| (value - 1.0).abs() < 1e-14));
    }

    #[test]
    fn refuses_what_it_cannot_factor() {
        let mut bad = Array2::<f64>::eye(3);
        bad[[1, 1]] = f64::NAN;
        assert!(symmetric_eigen(bad.view()).is_err());
        assert!(thin_svd(bad.view()).is_err());
        assert!(symmetric_eigen(Array2::zeros((2, 3)).view()).is_err());
        assert!(symmetric_eigen(Array2::zeros((0, 0)).view()).is_ok());
    }
}
