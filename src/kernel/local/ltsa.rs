//! The blocks of local tangent space alignment (LTSA).
//!
//! Zhang and Zha 2004: B = I − G Gᵀ with G = [1/√k, the leading left singular
//! vectors of the centred neighbours]: what a linear function of the local
//! coordinates leaves. Directions that are zero up to rounding are
//! left out of G. Cost: see [`super::tangent_basis`].

use super::differences::Vicinity;
use super::tangent_basis::{Frame, Wanted};

/// The factor G (k × 1 + components, row-major); columns left out are zero. How many
/// directions there are.
pub(super) fn fill(
    frame: &mut Frame,
    vicinity: &mut Vicinity,
    components: usize,
    factor: &mut [f64],
) -> usize {
    let k = vicinity.k;
    vicinity.center();
    let found = frame.find(vicinity, Wanted::tangents(components, k));
    let constant = 1.0 / (k as f64).sqrt();
    for (j, row) in factor.chunks_exact_mut(components + 1).enumerate() {
        row.fill(0.0);
        row[0] = constant;
        let entries = frame.vectors.iter().skip(j).step_by(k);
        row[1..].iter_mut().zip(entries).for_each(|(slot, entry)| *slot = *entry);
    }
    found
}
