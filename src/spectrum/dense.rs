//! Eigenpairs by a dense decomposition: all eigenvalues, and the vectors of the top k. The
//! choice for small matrices and many pairs, and the reference for the Krylov solver.
//! Cost O(n³) time, O(n²) memory.

use ndarray::{Array2, s};

use super::orthonormal::{norms, orthonormal_columns};
use super::{Options, Solver, Spectrum};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::SymmetricOperator;
use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::{matmul, power_of_two_scale};

/// Bytes a decomposition takes.
pub(super) fn bytes(n: usize) -> u64 {
    5 * (n as u64) * (n as u64) * 8
}

pub(super) fn top(op: &dyn SymmetricOperator, k: usize, options: &Options, ctx: &Ctx) -> Result<Spectrum> {
    let n = op.dim();
    let hint = "use the solver 'auto' or 'arpack', which finds the wanted eigenpairs alone";
    ctx.reserve(bytes(n), "a dense eigenvalue decomposition", hint)?;
    ctx.stage("all eigenvectors", n + k);
    let mut matrix = op.to_dense(ctx)?;
    ctx.check()?;
    let known = match &options.deflate {
        Some(vectors) => orthonormal_columns(vectors)?,
        None => Array2::zeros((n, 0)),
    };
    if known.ncols() > 0 {
        sink(&mut matrix, &known, ctx)?;
    }
    let (values, vectors) = symmetric_eigen(matrix.view(), k, true, ctx)?;
    let lowest = values[known.ncols()];
    let next = (n - k).checked_sub(1).filter(|&at| at >= known.ncols()).map(|at| values[at]);
    let vectors = vectors.slice(s![.., ..;-1]).as_standard_layout().into_owned();
    let values: Vec<f64> = values[n - k..].iter().rev().copied().collect();
    let mut rest = matmul(matrix.view(), vectors.view(), ctx)?;
    for (j, value) in values.iter().enumerate() {
        rest.slice_mut(s![.., j]).scaled_add(-value, &vectors.slice(s![.., j]));
    }
    Ok(Spectrum {
        values,
        vectors,
        residuals: norms(&rest),
        iterations: 0,
        converged: true,
        converged_pairs: k,
        lowest,
        next,
        spare: None,
        ran: Solver::Dense,
    })
}

/// A ← PAP − c·ZZᵀ with P = I − ZZᵀ and c beyond the spectrum of PAP: the known
/// vectors become the bottom eigenvectors and the rest of the spectrum stays.
fn sink(matrix: &mut Array2<f64>, known: &Array2<f64>, ctx: &Ctx) -> Result<()> {
    let before = frobenius(matrix);
    let product = matmul(matrix.view(), known.view(), ctx)?;
    let inner = known.t().dot(&product);
    // PAP = A − (AZ)Zᵀ − Z(AZ)ᵀ + Z(ZᵀAZ)Zᵀ.
    let half = &product - &(known.dot(&inner) * 0.5);
    *matrix -= &half.dot(&known.t());
    *matrix -= &known.dot(&half.t());
    let (Some(before), Some(after)) = (before, frobenius(matrix)) else {
        return Ok(()); // the decomposition that follows refuses it
    };
    // Where next to nothing is left, deeper than the rounding of what there was.
    let size = after.max(1e-3 * before);
    let depth = if size > 0.0 { 2.0 * size } else { 1.0 };
    *matrix -= &(known.dot(&known.t()) * depth);
    Ok(())
}

/// The root of the sum of squares; nothing where an entry is not finite.
fn frobenius(matrix: &Array2<f64>) -> Option<f64> {
    let scale = power_of_two_scale(matrix.iter().copied())?;
    Some(matrix.iter().map(|value| (value * scale).powi(2)).sum::<f64>().sqrt() / scale)
}
