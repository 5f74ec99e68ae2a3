//! Estimators on the ratio μ of the distances to two neighbours of each row.
//!
//! TwoNN (E. Facco, M. d'Errico, A. Rodriguez, A. Laio, Scientific Reports 7, 2017): the
//! ratio of the second to the first distance has the distribution 1 − μ^−d, whatever the
//! density, if that is constant between them. The dimension is the slope of −ln(1 − F)
//! against ln μ, without the largest ratios, or by maximum likelihood. Gride (F. Denti,
//! D. Doimo, A. Laio, A. Mira, Scientific Reports 12, 2022): the ratio of the distances of
//! ranks a < b has the density d(μ^d − 1)^(b−a−1) / (μ^(d(b−1)+1) B(b − a, a)), and larger
//! ranks see larger scales. Cost: O(n) a value, for each step of Newton's method.

use rayon::prelude::*;

use super::Statistic;
use super::table::Table;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::exp::ln;

/// Newton's method stops at a step of this part of the dimension, or after so many.
const STEP: f64 = 1e-13;
const MOST_STEPS: usize = 100;

/// ln μ of every row, of two ranks; a [`Statistic`] by maximum likelihood.
pub(super) struct Ratios {
    ranks: [usize; 2],
    logs: Vec<f64>,
}

impl Ratios {
    pub fn of(table: &Table<'_>, ranks: [usize; 2]) -> Ratios {
        let log = |row: usize| {
            let distances = table.distances(row);
            ln(distances[ranks[1] - 1] / distances[ranks[0] - 1])
        };
        Ratios { ranks, logs: (0..table.len()).map(log).collect() }
    }

    /// The dimension of each row with its neighbours.
    pub fn local(&self, table: &Table<'_>, ctx: &Ctx) -> Result<Vec<f64>> {
        (0..table.len())
            .into_par_iter()
            .map(|row| {
                ctx.check()?;
                let near = table.neighbors(row).iter().map(|&other| self.logs[other as usize]);
                let logs: Vec<f64> = std::iter::once(self.logs[row]).chain(near).collect();
                Ok(self.most_likely(&logs, &vec![1.0; logs.len()]))
            })
            .collect()
    }

    /// The root of N + m Σ g(d·ln μ) − (b − 1)·d·Σ ln μ, with g(x) = x/(1 − e^−x) and
    /// m = b − a − 1: the derivative of the likelihood, times d. It is convex and falls, and
    /// g(x) ≥ x, so that the start is on the left of the root and Newton's steps stay there.
    fn most_likely(&self, logs: &[f64], counts: &[f64]) -> f64 {
        let [a, b] = self.ranks.map(|rank| rank as f64);
        let (mut total, mut sum) = (0.0, 0.0);
        for (log, count) in logs.iter().zip(counts) {
            total += count;
            sum += count * log;
        }
        let mut d = total / (a * sum);
        if self.ranks[1] == self.ranks[0] + 1 || !d.is_finite() {
            return total / ((b - 1.0) * sum);
        }
        for _ in 0..MOST_STEPS {
            let (mut value, mut slope) = (total - (b - 1.0) * d * sum, -(b - 1.0) * sum);
            for (log, count) in logs.iter().zip(counts) {
                let (g, rise) = growth(d * log);
                value += (b - a - 1.0) * count * g;
                slope += (b - a - 1.0) * count * rise * log;
            }
            let step = -value / slope;
            d += step;
            if step.is_nan() || step.abs() <= STEP * d {
                break;
            }
        }
        d
    }
}

impl Statistic for Ratios {
    fn value(&self, counts: &[f64]) -> f64 {
        self.most_likely(&self.logs, counts)
    }
}

/// x/(1 − e^−x) and its derivative.
fn growth(x: f64) -> (f64, f64) {
    if x < 1e-4 {
        return (1.0 + x / 2.0 + x * x / 12.0, 0.5 + x / 6.0);
    }
    let rest = -libm::expm1(-x);
    (x / rest, (rest - x * (1.0 - rest)) / (rest * rest))
}

/// The line through the origin of TwoNN.
pub(super) struct Line {
    /// ln μ, rising, with their rows.
    sorted: Vec<(f64, u32)>,
    discard: f64,
}

impl Line {
    pub fn of(ratios: &Ratios, discard: f64) -> Line {
        let mut sorted: Vec<(f64, u32)> =
            ratios.logs.iter().enumerate().map(|(row, &log)| (log, row as u32)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Line { sorted, discard }
    }
}

impl Statistic for Line {
    /// The i-th smallest of N ratios has the share F = i/N below or at it.
    fn value(&self, counts: &[f64]) -> f64 {
        let total: f64 = counts.iter().sum();
        let (mut products, mut squares, mut below) = (0.0, 0.0, 0.0);
        // At least one is kept, and never the largest, whose share is one.
        let last = (total * (1.0 - self.discard)).floor().clamp(1.0, (total - 1.0).max(1.0));
        for &(log, row) in &self.sorted {
            for _ in 0..counts[row as usize] as usize {
                below += 1.0;
                if below > last {
                    return products / squares;
                }
                products -= log * ln(1.0 - below / total);
                squares += log * log;
            }
        }
        products / squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newton_finds_the_root_of_the_score() {
        let logs: Vec<f64> = (1..400).map(|i| 0.002 * f64::from(i)).collect();
        let counts = vec![1.0; logs.len()];
        for ranks in [[1, 2], [2, 4], [8, 16], [3, 7]] {
            let ratios = Ratios { ranks, logs: logs.clone() };
            let d = ratios.most_likely(&logs, &counts);
            // The likelihood as it is printed, by differences.
            let likelihood = |d: f64| -> f64 {
                let [a, b] = ranks.map(|rank| rank as f64);
                let term = |l: &f64| (b - a - 1.0) * ln(libm::expm1(d * l)) - (d * (b - 1.0) + 1.0) * l;
                logs.len() as f64 * ln(d) + logs.iter().map(term).sum::<f64>()
            };
            assert!(
                likelihood(d) > likelihood(d * 1.001) && likelihood(d) > likelihood(d * 0.999),
                "{ranks:?}"
            );
        }
    }

    #[test]
    fn growth_is_smooth_where_its_formula_changes() {
        let (below, above) = (growth(0.999_999_9e-4), growth(1.000_000_1e-4));
        assert!((below.0 - above.0).abs() < 1e-10 && (below.1 - above.1).abs() < 1e-7);
    }
}
