//! Every named form of stress, recomputed from the coordinates that are returned.
//!
//! Place in the dataflow: after an optimisation. Symbols: δ dissimilarities (or, where they
//! were transformed, their disparities), d distances in the map, w weights. Cost: one pass
//! over the pairs.

use super::pairs::{Rows, columns};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::{PARTS, dot};

/// The forms, and who carries the stress.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StressForms {
    /// Σ w (d − δ)² over pairs.
    pub raw: f64,
    /// √(raw / Σ w δ²), the survey's (16).
    pub normalized: f64,
    /// √(raw / Σ w d²), Kruskal's Stress-1 of the map as it is scaled.
    pub stress1: f64,
    /// √(raw / Σ w (d − mean d)²), Kruskal's Stress-2.
    pub stress2: f64,
    /// Σ (w (d − δ)² / δ) / Σ w δ over pairs with δ > 0, the survey's (25).
    pub sammon: f64,
    /// ‖−½ H δ² H − Y Yᵀ‖², the survey's (1), Y centred; missing pairs count as zero.
    pub strain: f64,
    /// raw / Σ w d.
    pub per_distance: f64,
    /// Mean of w (d − δ)² over the pairs of each point, in per cent of all points' sum.
    pub per_point: Vec<f64>,
}

/// Names of the forms, in the order of [`StressForms::values`].
pub const NAMES: [&str; 7] = ["raw", "normalized", "stress1", "stress2", "sammon", "strain", "per_distance"];

impl StressForms {
    /// The forms as numbers, in the order of [`NAMES`].
    pub fn values(&self) -> [f64; 7] {
        [self.raw, self.normalized, self.stress1, self.stress2, self.sammon, self.strain, self.per_distance]
    }
}

/// Sums over the pairs of one point with all others.
const COUNT: usize = 9;
/// Weighted squared gaps, squared dissimilarities, squared distances, distances, weights,
/// Sammon's terms, dissimilarities; then without weights: fourth powers of dissimilarities, and
/// their squares times the products of the points.
type Sums = [f64; COUNT];

/// One row of pairs.
struct RowSums<'a> {
    delta: &'a [f64],
    weights: Option<&'a [f64]>,
    columns: &'a [&'a [f64]],
    own: &'a [f64],
}

impl pulp::WithSimd for RowSums<'_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Sums {
        let RowSums { delta, weights, columns, own } = self;
        let n = delta.len();
        let mut lanes = [[0.0; PARTS]; COUNT];
        for first in (0..n).step_by(PARTS) {
            let count = PARTS.min(n - first);
            let (mut near, mut weight) = ([0.0; PARTS], [0.0; PARTS]);
            near[..count].copy_from_slice(&delta[first..first + count]);
            match weights {
                None => weight[..count].fill(1.0),
                Some(weights) => weight[..count].copy_from_slice(&weights[first..first + count]),
            }
            let (mut squared, mut product) = ([0.0; PARTS], [0.0; PARTS]);
            for (column, own) in columns.iter().zip(own) {
                let mut other = [0.0; PARTS];
                other[..count].copy_from_slice(&column[first..first + count]);
                for lane in 0..PARTS {
                    let apart = own - other[lane];
                    squared[lane] += apart * apart;
                    product[lane] += own * other[lane];
                }
            }
            for lane in 0..PARTS {
                let (near, weight, square) = (near[lane], weight[lane], near[lane] * near[lane]);
                let distance = squared[lane].sqrt();
                let gap = weight * (distance - near) * (distance - near);
                let positive = near > 0.0;
                let share = gap / if positive { near } else { 1.0 };
                let terms: Sums = [
                    gap,
                    weight * square,
                    weight * squared[lane],
                    weight * distance,
                    weight,
                    if positive { share } else { 0.0 },
                    weight * near,
                    square * square,
                    square * product[lane],
                ];
                for (sum, term) in lanes.iter_mut().zip(terms) {
                    sum[lane] += term;
                }
            }
        }
        lanes.map(|lanes| lanes.iter().sum())
    }
}

/// Compute them for a map stored column by column.
///
/// # Errors
/// Cancellation.
pub fn stress_forms(rows: &Rows<'_>, x: &[f64], ctx: &Ctx) -> Result<StressForms> {
    let n = rows.len();
    let mut centred = x.to_vec();
    super::center(&mut centred, n);
    let (columns, arch) = (columns(&centred, n), pulp::Arch::new());
    let parts = rows.blocks(ctx, |range, room| {
        let mut found = Vec::with_capacity(range.len());
        for i in range {
            let (delta, weights) = rows.row(i, room);
            let own: Vec<f64> = columns.iter().map(|column| column[i]).collect();
            let mut sums = arch.dispatch(RowSums { delta, weights, columns: &columns, own: &own });
            // The point and itself: only a weight, and nothing else.
            sums[4] -= weights.map_or(1.0, |weights| weights[i]);
            let square_sum: f64 = delta.iter().map(|near| near * near).sum();
            let partners = weights.map_or(n - 1, |weights| {
                weights.iter().enumerate().filter(|(j, weight)| *j != i && **weight > 0.0).count()
            });
            found.push((sums, square_sum / n as f64, partners));
        }
        found
    })?;
    let mut all = [0.0; COUNT];
    let (mut means, mut per_point) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for (sums, mean, partners) in parts.into_iter().flatten() {
        all.iter_mut().zip(sums).for_each(|(sum, own)| *sum += own);
        means.push(mean);
        per_point.push(if partners > 0 { sums[0] / partners as f64 } else { 0.0 });
    }
    let strain = strain(&all, &means, &columns);
    Ok(finished(&all, strain, &per_point))
}

/// Sums met each pair twice: halves cancel in all ratios but the raw stress.
fn finished(all: &Sums, strain: f64, per_point: &[f64]) -> StressForms {
    let [raw, delta_squared, squared, distance, weight, sammon, delta, ..] = *all;
    let over = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let spread = squared - over(distance * distance, weight);
    let points: f64 = per_point.iter().sum();
    StressForms {
        raw: 0.5 * raw,
        normalized: over(raw, delta_squared).sqrt(),
        stress1: over(raw, squared).sqrt(),
        // Differences of sums: less than rounding is no spread.
        stress2: if spread > 1e-14 * squared { (raw / spread).sqrt() } else { 0.0 },
        sammon: over(sammon, delta),
        strain,
        per_distance: over(raw, distance),
        per_point: per_point.iter().map(|&own| 100.0 * over(own, points)).collect(),
    }
}

/// ‖K − YYᵀ‖² = ‖K‖² − 2 tr YᵀKY + ‖YᵀY‖² for K = −½ H δ² H and centred Y.
fn strain(all: &Sums, means: &[f64], columns: &[&[f64]]) -> f64 {
    let n = means.len() as f64;
    let [.., fourth, crossed] = *all;
    let grand = means.iter().sum::<f64>() / n;
    let rows: f64 = means.iter().map(|mean| mean * mean).sum();
    let kernel = 0.25 * (fourth - 2.0 * n * rows + n * n * grand * grand);
    let products = columns.iter().flat_map(|a| columns.iter().map(|b| dot(a, b)));
    let own: f64 = products.map(|product| product * product).sum();
    (kernel + crossed + own).max(0.0)
}
