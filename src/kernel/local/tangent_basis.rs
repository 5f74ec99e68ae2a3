//! The leading directions of a neighbourhood: left singular vectors of its
//! differences, one entry per neighbour.
//!
//! Place: between [`super::differences`] and the blocks of the tangent, Hessian and
//! modified methods. With fewer features than neighbours they are the
//! neighbours' components along the eigenvectors of the small covariance (m × m),
//! else the eigenvectors of the inner products (k × k). Squares lose what is 10⁸ times
//! shorter than the leading direction: where one that is wanted is too short for them,
//! the differences themselves are turned ([`hestenes`]). Directions that
//! are zero up to rounding are left out.
//! Cost: k·m² + m³, or k²·m + k³; where a direction is that short some ten times more.

use super::differences::{Layout, Vicinity};
use crate::linalg::dot::product;
use crate::linalg::small::eigen::Eigen;
use crate::linalg::small::hestenes;

/// Eigenvalues below this part of the largest are rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Eigenvalues below this part of the largest have lost too many digits: of a covariance,
/// which only gives directions along which the differences are then read, and of inner
/// products, whose eigenvectors are taken as they are.
const TRUSTED: [f64; 2] = [1.5e-8, 1e-5];
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
    /// The differences while they are turned, and their rotations.
    rows: Vec<f64>,
    turned: Vec<f64>,
}

/// Which directions are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// At most so many.
    pub most: usize,
    /// So many must not be lost to rounding, where they exist.
    pub surely: usize,
    /// Whether they are also free of the constant.
    pub centered: bool,
}

impl Wanted {
    /// The `components` leading ones of a neighbourhood of k rows around its mean.
    pub(super) fn tangents(components: usize, k: usize) -> Wanted {
        // The constant has taken one of the k dimensions.
        let most = components.min(k.saturating_sub(1));
        Wanted { most, surely: most, centered: true }
    }
}

impl Frame {
    /// Squared singular values only.
    pub(super) fn measure(&mut self, vicinity: &Vicinity, surely: usize) {
        self.decompose(vicinity, false);
        if !self.trusted(vicinity, surely) {
            self.turn(vicinity);
        }
    }

    /// Squared singular values and at most `most` vectors; how many there are.
    pub(super) fn find(&mut self, vicinity: &Vicinity, wanted: Wanted) -> usize {
        self.decompose(vicinity, true);
        let k = vicinity.k;
        if !self.trusted(vicinity, wanted.surely) {
            self.turn(vicinity);
            let count = self.values.len().min(wanted.most);
            let vectors = if vicinity.layout == Layout::ByFeature { &self.rows } else { &self.turned };
            self.vectors.clear();
            self.vectors.extend_from_slice(&vectors[..count * k]);
            self.make_orthonormal(k, wanted.centered);
            return count;
        }
        let count = self.values.len().min(wanted.most);
        self.vectors.resize(count * k, 0.0);
        if vicinity.layout != Layout::ByFeature {
            self.vectors.copy_from_slice(&self.eigen.vectors[..count * k]);
            return count;
        }
        // Sparse rows that are all zero have no feature at all, and no vectors then.
        let along = self.eigen.vectors.chunks_exact(vicinity.m.max(1));
        for (own, along) in self.vectors.chunks_exact_mut(k).zip(along) {
            own.fill(0.0);
            for (feature, &weight) in vicinity.entries.chunks_exact(k).zip(along) {
                add(own, weight, feature);
            }
        }
        // Squaring the differences cost half the digits of small directions;
        // orthogonality is had back here.
        self.make_orthonormal(k, wanted.centered);
        count
    }

    fn make_orthonormal(&mut self, k: usize, centered: bool) {
        for a in 0..self.vectors.len() / k.max(1) {
            let (before, rest) = self.vectors.split_at_mut(a * k);
            let own = &mut rest[..k];
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
    }

    /// Whether squares are good enough for the first `surely` directions.
    fn trusted(&self, vicinity: &Vicinity, surely: usize) -> bool {
        let largest = self.eigen.values.first().copied().unwrap_or(0.0);
        if vicinity.layout == Layout::Products || largest <= LEAST {
            return true; // nothing but squares is known; or nothing at all
        }
        let surely = surely.min(vicinity.m).min(vicinity.k);
        let trusted = TRUSTED[usize::from(vicinity.layout != Layout::ByFeature)];
        surely == 0 || self.eigen.values[surely - 1] > trusted * largest
    }

    /// Squared singular values from the differences themselves; the vectors are left in
    /// `rows` (few features) or `turned`, in rows.
    fn turn(&mut self, vicinity: &Vicinity) {
        let (k, m) = (vicinity.k, vicinity.m);
        let by_feature = vicinity.layout == Layout::ByFeature;
        let (count, length) = if by_feature { (m, k) } else { (k, m) };
        self.rows.clear();
        self.rows.extend_from_slice(&vicinity.entries);
        self.turned.resize(count * count, 0.0);
        hestenes::orthogonalize(&mut self.rows, count, &mut self.turned);
        let rounding = f64::EPSILON * k as f64;
        let longest = product(&self.rows[..length], &self.rows[..length]).sqrt();
        self.values.clear();
        for (row, turned) in self.rows.chunks_exact(length).zip(self.turned.chunks_exact(count)) {
            let size = product(row, row).sqrt();
            // The values were rounded before they came here: what that makes of a
            // direction, in the features.
            let given = if by_feature {
                spread(turned, &vicinity.sizes)
            } else {
                spread(row, &vicinity.sizes) / size.max(f64::MIN_POSITIVE)
            };
            if size <= rounding * longest.max(given) {
                break; // the others are shorter
            }
            self.values.push(size * size);
        }
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

/// How far values of these sizes lie apart along a direction.
fn spread(direction: &[f64], sizes: &[f64]) -> f64 {
    direction.iter().zip(sizes).map(|(part, size)| (part * size) * (part * size)).sum::<f64>().sqrt()
}

/// to ← to + factor·from.
pub(super) fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(sum, entry)| *sum += factor * entry);
}
