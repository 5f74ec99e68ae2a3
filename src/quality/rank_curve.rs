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
use crate::neighbors::DistanceRows;

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
            ctx.stage("rank curve", self.rows().len());
            let areas = DistanceRows::each_row([&self.x, &self.y], self.rows(), ctx, |_, [given, placed]| {
                let own = common(given, placed);
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
            })?;
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
fn common(given: &[f64], placed: &[f64]) -> Vec<u32> {
    let mut ranks = vec![0u32; given.len()];
    let mut order = sorted(given);
    order.iter().zip(1..).for_each(|(&(_, row), rank)| ranks[row as usize] = rank);
    fill_sorted(placed, &mut order);
    let mut counts = vec![0u32; given.len() + 1];
    for (&(_, row), rank) in order.iter().zip(1..) {
        counts[ranks[row as usize].max(rank) as usize] += 1;
    }
    // The row itself is infinitely far on both sides and last on both.
    counts.pop();
    counts
}

fn sorted(distances: &[f64]) -> Vec<(u64, u32)> {
    let mut order = Vec::with_capacity(distances.len());
    fill_sorted(distances, &mut order);
    order
}

/// Rows by (distance, index); distances are not negative, so that their bits are in order.
fn fill_sorted(distances: &[f64], order: &mut Vec<(u64, u32)>) {
    order.clear();
    order.extend(distances.iter().zip(0..).map(|(distance, row)| ((distance + 0.0).to_bits(), row)));
    order.sort_unstable();
}
