//! The leading directions of a neighbourhood: left singular vectors of its
//! differences, one entry per neighbour.
//!
//! Place: between [`super::gather`] and the blocks of the tangent, Hessian and
//! modified methods. With fewer features than neighbours they are the
//! neighbours' components along the eigenvectors of the small covariance (m × m),
//! else the eigenvectors of the inner products (k × k). Directions that rounding
//! cannot tell from nothing are left out. Cost: k·m² + m³, or k²·m + k³.

use super::eigen::Eigen;
use super::gather::{Layout, Vicinity};

/// Eigenvalues below this part of the largest are rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Below this squares have lost their digits.
const LEAST: f64 = 1e-280;

/// Room for one neighbourhood's directions after the other.
#[derive(Debug, Default)]
pub(super) struct Frame {
    eigen: Eigen,
    matrix: Vec<f64>,
    /// Squared singular values above rounding, largest first.
    pub values: Vec<f64>,
    /// The singular vectors in rows of k, as many as were asked for and exist.
    pub vectors: Vec<f64>,
}

impl Frame {
    /// Squared singular values only.
    pub(super) fn measure(&mut self, vicinity: &Vicinity) {
        self.decompose(vicinity, false);
    }

    /// Squared singular values and at most `most` vectors; how many there are.
    /// With `centered` they are also free of the constant.
    pub(super) fn find(&mut self, vicinity: &Vicinity, most: usize, centered: bool) -> usize {
        self.decompose(vicinity, true);
        let k = vicinity.k;
        let count = self.values.len().min(most);
        self.vectors.resize(count * k, 0.0);
        if vicinity.layout != Layout::ByFeature {
            self.vectors.copy_from_slice(&self.eigen.vectors[..count * k]);
            return count;
        }
        for a in 0..count {
            let along = &self.eigen.vectors[a * vicinity.m..(a + 1) * vicinity.m];
            let (before, rest) = self.vectors.split_at_mut(a * k);
            let own = &mut rest[..k];
            own.fill(0.0);
            for (feature, &weight) in vicinity.entries.chunks_exact(k).zip(along) {
                add(own, weight, feature);
            }
            // Squaring the differences cost half the digits of small directions;
            // orthogonality is had back here.
            if centered {
                let mean = own.iter().sum::<f64>() / k as f64;
                own.iter_mut().for_each(|entry| *entry -= mean);
            }
            for other in before.chunks_exact(k) {
                add(own, -product(own, other), other);
            }
            let length = product(own, own).sqrt();
            own.iter_mut().for_each(|entry| *entry /= length);
        }
        count
    }

    fn decompose(&mut self, vicinity: &Vicinity, want_vectors: bool) {
        let size = if vicinity.layout == Layout::ByFeature {
            vicinity.covariance(&mut self.matrix);
            vicinity.m
        } else {
            vicinity.products(&mut self.matrix);
            vicinity.k
        };
        self.eigen.decompose(&mut self.matrix, size, want_vectors);
        let largest = self.eigen.values.first().copied().unwrap_or(0.0);
        let floor = (largest * ROUNDING).max(LEAST);
        self.values.clear();
        self.values.extend(self.eigen.values.iter().take_while(|&&value| value > floor));
    }
}

/// a·b, in the order of the entries.
pub(super) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// to ← to + factor·from.
pub(super) fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(sum, entry)| *sum += factor * entry);
}
