//! Common neighbours for every number of neighbours: Q_NX, R_NX and the area under it.
//!
//! Place: `neighbors` in; a curve over k = 1, …, n − 1 out. Q_NX(k) is the share of the k nearest
//! neighbours in X that are among those in Y, R_NX(k) = ((n − 1) Q_NX(k) − k) / (n − 1 − k) is 0 by
//! chance and 1 at best, and the area is the mean of R_NX with weights 1/k, that is over ln k
//! (Lee, Renard, Bernard, Dupont and Verleysen 2013). A pair is common for all k from the larger
//! of its two ranks on, so a histogram of those is the curve. Cost: two sorts of n a row, O(n)
//! memory.

use std::sync::atomic::{AtomicU64, Ordering};

use super::comparison::Comparison;
use super::score::Score;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::neighbors::{DistanceRows, Precision};

/// The curve of common neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct RankCurve {
    /// Q_NX for k = 1, …, n − 1.
    pub q: Vec<f64>,
    /// R_NX for k = 1, …, n − 2.
    pub r: Vec<f64>,
    /// The mean of R_NX with weights 1/k.
    pub area: Score,
}

impl Comparison<'_> {
    /// Q_NX and R_NX for every k, and the area under R_NX over ln k.
    ///
    /// # Errors
    /// Fewer than three rows; cancellation.
    pub fn rank_curve(&self, ctx: &Ctx) -> Result<RankCurve> {
        let n = self.len();
        if n < 3 {
            return Err(Error::input(format!("R_NX compares ranks: give at least 3 rows, got {n}")));
        }
        ctx.answer(|| {
            let counts: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
            let weights: f64 = (1..n - 1).map(|k| 1.0 / k as f64).sum();
            let spaces = [&self.x, &self.y];
            ctx.stage("rank curve", self.rows().len());
            let areas = DistanceRows::each_row(
                spaces,
                self.rows(),
                Precision::Close,
                ctx,
                |row, [given, placed]| {
                    let own = common(self, row, given, placed);
                    own.iter().zip(&counts).filter(|(own, _)| **own > 0).for_each(|(own, count)| {
                        count.fetch_add(u64::from(*own), Ordering::Relaxed);
                    });
                    let mut sum = 0.0;
                    let mut area = 0.0;
                    for k in 1..n - 1 {
                        sum += f64::from(own[k]);
                        area += above_chance(sum, k, n) / k as f64;
                    }
                    area / weights
                },
            )?;
            let rows = self.rows().len() as f64;
            let mut sum = 0;
            let shared: Vec<f64> = counts[1..]
                .iter()
                .map(|count| {
                    sum += count.load(Ordering::Relaxed);
                    sum as f64 / rows
                })
                .collect();
            Ok(RankCurve {
                q: shared.iter().zip(1..).map(|(shared, k)| shared / f64::from(k)).collect(),
                r: (1..n - 1).map(|k| above_chance(shared[k - 1], k, n)).collect(),
                area: Score::mean(areas, n),
            })
        })
    }
}

/// R_NX(k) from the number of common neighbours.
fn above_chance(shared: f64, k: usize, n: usize) -> f64 {
    let (k, others) = (k as f64, n as f64 - 1.0);
    (others * shared / k - k) / (others - k)
}

/// How many rows have each number as the larger of their two ranks.
fn common(both: &Comparison<'_>, row: usize, given: &[f64], placed: &[f64]) -> Vec<u32> {
    let (mut ranks, mut order) = (vec![0u32; given.len()], Vec::with_capacity(given.len()));
    sort(&both.x, row, given, &mut order);
    order.iter().zip(1..).for_each(|(&(_, other), rank)| ranks[other as usize] = rank);
    sort(&both.y, row, placed, &mut order);
    let mut counts = vec![0u32; given.len() + 1];
    for (&(_, other), rank) in order.iter().zip(1..) {
        counts[ranks[other as usize].max(rank) as usize] += 1;
    }
    // The row itself is infinitely far on both sides and last on both.
    counts.pop();
    counts
}

/// Rows by (distance, index). Distances are not negative, so that their bits are in order; those
/// that are too close to tell apart are taken exactly.
fn sort(space: &DistanceRows<'_>, row: usize, distances: &[f64], order: &mut Vec<(u64, u32)>) {
    order.clear();
    order.extend(distances.iter().zip(0..).map(|(distance, other)| ((distance + 0.0).to_bits(), other)));
    order.sort_unstable();
    let tolerance = 4.0 * space.tolerance();
    if tolerance == 0.0 {
        return;
    }
    let value = |entry: &(u64, u32)| f64::from_bits(entry.0);
    let close = |left: &(u64, u32), right: &(u64, u32)| value(right) <= value(left) * (1.0 + tolerance);
    for run in order.chunk_by_mut(close).filter(|run| run.len() > 1) {
        for entry in run.iter_mut().filter(|entry| entry.1 as usize != row) {
            entry.0 = space.pair(row, entry.1 as usize).to_bits();
        }
        run.sort_unstable();
    }
}
