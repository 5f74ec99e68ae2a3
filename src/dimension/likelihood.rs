//! Estimators on all k distances T₁ ≤ … ≤ T_k of each row.
//!
//! Given T_k, the other k − 1 neighbours are spread over a ball of that radius, where the
//! share within r is (r/T_k)^d. Maximum likelihood (E. Levina, P. Bickel, NIPS 2004): the
//! inverse dimension of a row is the mean of ln(T_k/T_j). The mean of these inverses over
//! rows is the inverse of the whole (D. MacKay, Z. Ghahramani, 2005: the mean of the
//! dimensions themselves is biased for small k). Moments (L. Amsaleg et al., Data Mining and
//! Knowledge Discovery 32, 2018): the mean of T_j/T_k is d/(d + 1). The k-th distance is the
//! radius of the ball and not a sample in it. Cost: O(n·k).

use super::Statistic;
use super::table::Table;
use crate::linalg::exp::ln;

/// A mean over rows, and the dimension it belongs to.
pub(super) struct MeanOf {
    values: Vec<f64>,
    dimension: fn(f64) -> f64,
}

impl Statistic for MeanOf {
    fn value(&self, counts: &[f64]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, count) in self.values.iter().zip(counts) {
            sum += count * value;
            total += count;
        }
        (self.dimension)(sum / total)
    }
}

impl MeanOf {
    /// The statistic, and the dimension at each row.
    pub fn new(values: Vec<f64>, dimension: fn(f64) -> f64) -> (MeanOf, Vec<f64>) {
        let local = values.iter().map(|&value| dimension(value)).collect();
        (MeanOf { values, dimension }, local)
    }
}

/// The mean over the neighbours but the last of a function of T_j/T_k, for each row.
fn means(table: &Table<'_>, of: fn(f64) -> f64) -> Vec<f64> {
    let inner = table.k - 1;
    let row = |row: usize| {
        let distances = table.distances(row);
        let sum: f64 = distances[..inner].iter().map(|distance| of(distance / distances[inner])).sum();
        sum / inner as f64
    };
    (0..table.len()).map(row).collect()
}

/// The statistic, and the dimension at each row.
pub(super) fn maximum_likelihood(table: &Table<'_>) -> (MeanOf, Vec<f64>) {
    MeanOf::new(means(table, |ratio| -ln(ratio)), |inverse| 1.0 / inverse)
}

/// The statistic, and the dimension at each row.
pub(super) fn moments(table: &Table<'_>) -> (MeanOf, Vec<f64>) {
    MeanOf::new(means(table, |ratio| ratio), |mean| mean / (1.0 - mean))
}
