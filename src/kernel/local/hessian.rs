//! The blocks of Hessian LLE.
//!
//! Donoho and Grimes 2003: V the d leading left singular vectors of the centred
//! neighbours, H the last d(d+1)/2 columns of the orthonormal basis that
//! Gram–Schmidt makes of [1, V, V_a∘V_b for a ≤ b]; B = H Hᵀ, H's columns divided
//! by their sums where these are at least `tol`, as in the authors' program. (All
//! columns are orthogonal to 1, so that the sums are rounding and the division
//! never happens for a tolerance above it.)
//!
//! scikit-learn takes the columns of a full QR factorisation from d + 1 on, all
//! k − d − 1 of them: that block is I − G Gᵀ, the block of LTSA. Here it is the
//! paper's.
//! Cost: [`super::tangent_basis`] and k·d⁴/2.

use super::differences::Vicinity;
use super::tangent_basis::{Frame, Wanted, add};
use crate::linalg::dot::product;

/// Columns shorter than this part of what they were are dependent on others.
const DEPENDENT: f64 = 1e-10;
/// Sums of columns below this are rounding, whatever the tolerance.
const LEAST_SUM: f64 = 1e-12;

/// Number of pairs a ≤ b: the width of a block's factor.
pub(super) fn width(components: usize) -> usize {
    components * (components + 1) / 2
}

/// The factor H (k × pairs, row-major); columns that depend on others are zero.
/// How many directions there are.
pub(super) fn fill(
    frame: &mut Frame,
    vicinity: &mut Vicinity,
    basis: &mut Vec<f64>,
    (components, tol): (usize, f64),
    factor: &mut [f64],
) -> usize {
    let k = vicinity.k;
    vicinity.center();
    let found = frame.find(vicinity, Wanted::tangents(components, k));
    let pairs = width(components);
    factor.fill(0.0);
    basis.clear();
    basis.resize((1 + found + pairs) * k, 1.0 / (k as f64).sqrt());
    basis[k..(1 + found) * k].copy_from_slice(&frame.vectors);
    let mut held = 1 + found;
    for a in 0..found {
        for b in a..found {
            let (before, rest) = basis.split_at_mut(held * k);
            let own = &mut rest[..k];
            let (one, two) = (&before[(1 + a) * k..(2 + a) * k], &before[(1 + b) * k..(2 + b) * k]);
            own.iter_mut().zip(one.iter().zip(two)).for_each(|(slot, (x, y))| *slot = x * y);
            if !make_orthonormal(own, before) {
                continue;
            }
            held += 1;
            let sum: f64 = own.iter().sum();
            let divisor = if sum.abs() < tol.max(LEAST_SUM) { 1.0 } else { sum };
            let column = held - found - 2;
            factor[column..]
                .iter_mut()
                .step_by(pairs)
                .zip(&*own)
                .for_each(|(slot, entry)| *slot = entry / divisor);
        }
    }
    found
}

/// `own` without its part in the orthonormal rows of `before`, of length one;
/// false when nothing is left.
fn make_orthonormal(own: &mut [f64], before: &[f64]) -> bool {
    let start = product(own, own).sqrt();
    // Twice is enough (Parlett).
    for _ in 0..2 {
        for other in before.chunks_exact(own.len()) {
            add(own, -product(own, other), other);
        }
    }
    let left = product(own, own).sqrt();
    if left.is_nan() || left <= DEPENDENT * start {
        return false;
    }
    own.iter_mut().for_each(|entry| *entry /= left);
    true
}
