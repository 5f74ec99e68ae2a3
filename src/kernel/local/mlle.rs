//! The blocks of modified LLE: several weight vectors for each row.
//!
//! Zhang and Wang 2007. Symbols: V the s eigenvectors of C_jl = (x_j − x_i)·
//! (x_l − x_i) with the smallest eigenvalues, w the regularised weights of
//! standard LLE, α = ‖Vᵀ1‖/√s, H the reflection that takes Vᵀ1 to α1. The
//! weights are W = (1 − α) w 1ᵀ + V H and the block is Ŵ Ŵᵀ with Ŵ = [−1ᵀ; W].
//! s is the largest number up to k − d for which the s smallest eigenvalues sum to
//! less than η times the others, η the median over all rows of that ratio at
//! s = k − d.
//!
//! The block depends on the span of V alone, so that V is completed from the
//! leading vectors by reflections (Householder) and not by an eigenvector each.
//! Eigenvalues that are zero up to rounding count as zero and are always
//! in V, whatever d, for no choice among their vectors is better than another;
//! every row keeps at least one weight vector (scikit-learn may leave a row
//! without any, and has no bound k − d).
//! Cost: [`super::tangent_basis`] twice (first values only) and 4·k·s·(k − s).

use super::differences::Vicinity;
use super::tangent_basis::{Frame, Wanted, add};
use crate::linalg::dot::product;

/// Where `reg` = 0 leaves nothing to divide by, this part of the trace.
const LEAST_REG: f64 = 64.0 * f64::EPSILON;

/// Room for one row's weights after the other.
#[derive(Debug, Default)]
pub(super) struct Weights {
    reflectors: Vec<f64>,
    complement: Vec<f64>,
    mean: Vec<f64>,
    along: Vec<f64>,
    sums: Vec<f64>,
}

/// Small over large eigenvalues (descending, those at zero left out), the first
/// `components` of them being large.
pub(super) fn ratio(values: &[f64], components: usize) -> f64 {
    let (large, small) = values.split_at(components.min(values.len()));
    let small: f64 = small.iter().sum();
    if small > 0.0 { small / large.iter().sum::<f64>() } else { 0.0 }
}

/// The median of the ratios, which are sorted.
pub(super) fn median(ratios: &mut [f64]) -> f64 {
    ratios.sort_unstable_by(f64::total_cmp);
    let half = ratios.len() / 2;
    match ratios.len() {
        0 => 0.0,
        count if count % 2 == 1 => ratios[half],
        _ => 0.5 * (ratios[half - 1] + ratios[half]),
    }
}

/// s, from the eigenvalues of k neighbours (those at zero left out), the first
/// `components` of which are never small.
pub(super) fn size(values: &[f64], components: usize, k: usize, eta: f64) -> usize {
    let total: f64 = values.iter().sum();
    let mut head = 0.0;
    let fits = |&value: &f64| {
        head += value;
        // The ratio of the median row is eta itself: rounding must not decide.
        total / head - 1.0 < eta * (1.0 - 1e-10)
    };
    let small = values.iter().take(values.len().saturating_sub(1)).map(fits).filter(|fits| *fits).count();
    (k - values.len() + small.min(values.len().saturating_sub(components))).max(1)
}

/// The factor Ŵ (k + 1 × s, row-major), the row itself first. How many of the first
/// `components` directions there are.
pub(super) fn fill(
    frame: &mut Frame,
    vicinity: &Vicinity,
    room: &mut Weights,
    (components, reg, tol): (usize, f64, f64),
    factor: &mut [f64],
) -> usize {
    let k = vicinity.k;
    let s = factor.len() / (k + 1);
    let found = frame.find(vicinity, Wanted { most: k, surely: components, centered: false });
    room.regular_weights(frame, k, found, reg);
    // Rounding may have made of k − s leading vectors one fewer.
    room.complete(&frame.vectors[..(k - s).min(found) * k], k, s);
    room.sums.clear();
    room.sums.extend(room.complement.chunks_exact(k).map(|vector| vector.iter().sum::<f64>()));
    let alpha = product(&room.sums, &room.sums).sqrt() / (s as f64).sqrt();
    room.sums.iter_mut().for_each(|sum| *sum = alpha - *sum);
    let length = product(&room.sums, &room.sums).sqrt();
    let scale = if length < tol || length == 0.0 { 0.0 } else { 1.0 / length };
    room.sums.iter_mut().for_each(|entry| *entry *= scale);
    room.along.clear();
    room.along.resize(k, 0.0);
    for (vector, &entry) in room.complement.chunks_exact(k).zip(&room.sums) {
        add(&mut room.along, entry, vector);
    }
    let (own, others) = factor.split_at_mut(s);
    own.fill(-1.0);
    for (j, row) in others.chunks_exact_mut(s).enumerate() {
        let shared = (1.0 - alpha) * room.mean[j];
        let along = 2.0 * room.along[j];
        for (c, slot) in row.iter_mut().enumerate() {
            *slot = room.complement[c * k + j] - along * room.sums[c] + shared;
        }
    }
    found.min(components)
}

impl Weights {
    /// w = (C + reg·trace·I)⁻¹ 1, made to sum to one, from the eigenvectors of C.
    fn regular_weights(&mut self, frame: &Frame, k: usize, found: usize, reg: f64) {
        let added = reg.max(LEAST_REG) * frame.values.iter().sum::<f64>();
        self.mean.clear();
        self.mean.resize(k, 1.0);
        for (vector, &value) in frame.vectors.chunks_exact(k).zip(&frame.values).take(found) {
            let along: f64 = vector.iter().sum();
            // 1/(λ + r) along a vector, 1/r elsewhere; both times r.
            add(&mut self.mean, along * (added / (value + added) - 1.0), vector);
        }
        let sum: f64 = self.mean.iter().sum();
        self.mean.iter_mut().for_each(|weight| *weight /= sum);
    }

    /// s orthonormal vectors orthogonal to the orthonormal rows of `leading`.
    fn complete(&mut self, leading: &[f64], k: usize, s: usize) {
        let count = leading.len() / k;
        self.reflectors.clear();
        self.reflectors.extend_from_slice(leading);
        for a in 0..count {
            let (own, later) = self.reflectors[a * k..].split_at_mut(k);
            own[..a].fill(0.0);
            let tail = &mut own[a..];
            let length = product(tail, tail).sqrt();
            tail[0] += length.copysign(tail[0]);
            let size = product(tail, tail);
            if size > 0.0 {
                let scale = (2.0 / size).sqrt();
                tail.iter_mut().for_each(|entry| *entry *= scale);
            }
            let tail = &own[a..];
            for other in later.chunks_exact_mut(k) {
                let other = &mut other[a..];
                add(other, -product(other, tail), tail);
            }
        }
        self.complement.clear();
        self.complement.resize(s * k, 0.0);
        for (c, vector) in self.complement.chunks_exact_mut(k).enumerate() {
            vector[k - s + c] = 1.0;
            for (a, reflector) in self.reflectors.chunks_exact(k).enumerate().rev() {
                let (vector, reflector) = (&mut vector[a..], &reflector[a..]);
                add(vector, -product(vector, reflector), reflector);
            }
        }
    }
}
