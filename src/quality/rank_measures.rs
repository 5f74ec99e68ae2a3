//! Measures of the k nearest neighbours, from their ranks.
//!
//! Place: after `neighbor_ranks`. Trustworthiness and continuity: Venna and Kaski 2006. Mean
//! relative rank errors and their normalisation, by which the reversed order has error 1: Lee and
//! Verleysen 2009. Local continuity meta-criterion: Chen and Buja 2009. Neighbourhood hit:
//! Paulovich et al. 2008. Information imbalance: Glielmo et al. 2022. Local distortion: one minus
//! the squared cosine between the distances of a point to its neighbours and those in the map,
//! so that 0 is a map that keeps their proportions. Cost: O(n k).

use super::comparison::Comparison;
use super::neighbor_ranks::NeighborRanks;
use super::score::Score;
use crate::error::{Error, Result};

impl NeighborRanks {
    fn per_point(&self, list: &[u32], of: impl Fn(&[u32]) -> f64) -> Vec<f64> {
        list.chunks_exact(self.k).map(of).collect()
    }

    /// 1 − 2 / (n k (2n − 3k − 1)) Σ (rank − k) over ranks beyond k: trustworthiness from the
    /// ranks in X of Y's neighbours, continuity the other way round.
    pub fn intrusion(&self, ranks: &[u32], n: usize) -> Score {
        let (k, rows) = (self.k as f64, n as f64);
        let weight = 2.0 / (k * (2.0 * rows - 3.0 * k - 1.0));
        let beyond = |ranks: &[u32]| {
            let sum: u64 = ranks.iter().map(|&rank| u64::from(rank.saturating_sub(self.k as u32))).sum();
            1.0 - weight * sum as f64
        };
        Score::mean(self.per_point(ranks, beyond), n)
    }

    /// Σ |rank − m| / m over the m-th neighbours, over its largest value.
    pub fn relative_error(&self, ranks: &[u32], n: usize) -> Score {
        let most: f64 = (1..=self.k).map(|m| (n as f64 - 2.0 * m as f64).abs() / m as f64).sum();
        let error = |ranks: &[u32]| {
            let each = ranks
                .iter()
                .zip(1..)
                .map(|(&rank, m): (&u32, u32)| f64::from(rank.abs_diff(m)) / f64::from(m));
            each.sum::<f64>() / most
        };
        Score::mean(self.per_point(ranks, error), n)
    }

    /// The share of common neighbours less its expectation, k / (n − 1).
    pub fn common(&self, n: usize) -> Score {
        let (k, chance) = (self.k as f64, self.k as f64 / (n as f64 - 1.0));
        // A neighbour in Y is one in X exactly if its rank there is at most k.
        let common = |ranks: &[u32]| ranks.iter().filter(|&&rank| rank as usize <= self.k).count() as f64;
        Score::mean(self.per_point(&self.x_ranks, |ranks| common(ranks) / k - chance), n)
    }

    /// 2 / n times the rank on the other side of the nearest neighbour on this one.
    pub fn imbalance(&self, ranks: &[u32], n: usize) -> Score {
        Score::mean(self.per_point(ranks, |ranks| 2.0 / n as f64 * f64::from(ranks[0])), n)
    }

    /// Local distortion and local scale of each point, from its neighbours in X.
    pub fn local(&self, both: &Comparison<'_>) -> (Score, Score) {
        let n = both.len();
        let rows = both.rows();
        let scaled = |place: usize, near: &[u32]| {
            let row = rows.row(place);
            let (mut given, mut placed, mut product) = (0.0, 0.0, 0.0);
            for &other in near {
                let (delta, d) = both.pair(row, other as usize);
                given += delta * delta;
                placed += d * d;
                product += delta * d;
            }
            (super::distance_measures::sine_squared(product, given, placed), (placed / given).sqrt())
        };
        let found: Vec<(f64, f64)> =
            self.in_x.chunks_exact(self.k).enumerate().map(|(place, near)| scaled(place, near)).collect();
        let distortion = found.iter().map(|own| own.0).collect();
        // Duplicates of a row have no scale: they are at no distance.
        let scale = found.iter().map(|own| if own.1.is_finite() { own.1 } else { 0.0 }).collect();
        (Score::mean(distortion, n), Score::mean(scale, n))
    }
}

/// The share of the k neighbours in Y that have the label of the row.
pub(super) fn hit(both: &Comparison<'_>, in_y: &[u32], k: usize, labels: Option<&[i64]>) -> Result<Score> {
    let n = both.len();
    let Some(labels) = labels else {
        return Err(Error::param("labels", "the neighbourhood hit compares labels; give one for each row"));
    };
    if labels.len() != n {
        return Err(Error::param("labels", format!("expected {n}, one for each row, got {}", labels.len())));
    }
    if labels.iter().all(|label| *label == labels[0]) {
        return Err(Error::param(
            "labels",
            "all rows have the same label, and so has every neighbour; give at least two classes",
        ));
    }
    let rows = both.rows();
    let share = |(place, near): (usize, &[u32])| {
        let own = labels[rows.row(place)];
        near.iter().filter(|&&other| labels[other as usize] == own).count() as f64 / k as f64
    };
    Ok(Score::mean(in_y.chunks_exact(k).enumerate().map(share).collect(), n))
}
