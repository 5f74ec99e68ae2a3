//! Pairs of points in the order of their dissimilarities: sorted once, and all that a
//! non-metric map ever learns of them.
//!
//! Place in the dataflow: between the stored dissimilarities and `disparities`. Pairs that
//! are missing (weight 0) have no rank. Pairs of the same dissimilarity are a group; what
//! ties mean is decided in `disparities`. Cost: one sort of n²/2 pairs, 16 bytes each while
//! it lasts, then 4 bytes a pair and 4·n².

use ndarray::Array2;
use rayon::prelude::*;

use super::pairs::{NO_RANK, Rows};
use crate::context::Ctx;
use crate::error::{Error, Result};

/// Pairs by ascending dissimilarity.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// Number of points.
    pub n: usize,
    /// The pair of each rank, i·n + j with i < j.
    pub pairs: Vec<u32>,
    /// The rank of each pair, n × n.
    pub ranks: Vec<u32>,
    /// Where the groups of pairs of one dissimilarity end.
    pub group_ends: Vec<u32>,
    /// The dissimilarity of each group.
    pub group_delta: Vec<f64>,
    /// The weight of each rank, if they differ or pairs are missing.
    pub weights: Option<Vec<f64>>,
}

impl Ranking {
    /// Rank the pairs of stored dissimilarities.
    ///
    /// # Errors
    /// More points than pairs can be numbered for; cancellation.
    pub fn of(rows: &Rows<'_>, ctx: &Ctx) -> Result<Ranking> {
        let n = rows.len();
        if n > usize::from(u16::MAX) {
            let why = format!("ranks are given to the pairs of at most {} rows, got {n}", u16::MAX);
            return Err(Error::param("type", why));
        }
        let parts = rows.blocks(ctx, |range, room| {
            let mut found: Vec<(f64, f64, u32)> = Vec::new();
            for i in range {
                let (delta, weights) = rows.row(i, room);
                let weight = |j: usize| weights.map_or(1.0, |weights| weights[j]);
                let known = (i + 1..n).filter(|&j| weight(j) > 0.0);
                found.extend(known.map(|j| (delta[j] + 0.0, weight(j), (i * n + j) as u32)));
            }
            found
        })?;
        let mut sorted = parts.concat();
        ctx.check()?;
        sorted.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        ctx.check()?;
        let mut ranks = vec![NO_RANK; n * n];
        let (mut group_ends, mut group_delta): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        for (rank, &(delta, _, pair)) in sorted.iter().enumerate() {
            let (i, j) = (pair as usize / n, pair as usize % n);
            ranks[i * n + j] = rank as u32;
            ranks[j * n + i] = rank as u32;
            if group_delta.last() != Some(&delta) {
                group_delta.push(delta);
                group_ends.push(rank as u32);
            }
            if let Some(end) = group_ends.last_mut() {
                *end = rank as u32 + 1;
            }
        }
        let weights = rows.has_weights().then(|| sorted.iter().map(|&(_, weight, _)| weight).collect());
        Ok(Ranking {
            n,
            pairs: sorted.iter().map(|&(_, _, pair)| pair).collect(),
            ranks,
            group_ends,
            group_delta,
            weights,
        })
    }

    /// Number of pairs that have a rank.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The groups of pairs of one dissimilarity, as ranges of ranks.
    pub fn groups(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut start = 0;
        self.group_ends.iter().map(move |&end| {
            let range = start..end as usize;
            start = end as usize;
            range
        })
    }

    /// Whether some dissimilarities are equal.
    pub fn has_ties(&self) -> bool {
        self.group_ends.len() < self.pairs.len()
    }

    /// The distances in the map, by rank.
    ///
    /// # Errors
    /// Cancellation.
    pub fn distances(&self, x: &[f64], distances: &mut [f64], ctx: &Ctx) -> Result<()> {
        const CHUNK: usize = 1 << 13;
        let n = self.n;
        let columns = super::pairs::columns(x, n);
        distances.par_chunks_mut(CHUNK).zip(self.pairs.par_chunks(CHUNK)).try_for_each(|(out, pairs)| {
            ctx.check()?;
            let between = |pair: u32| (pair as usize / n, pair as usize % n);
            match columns[..] {
                [first, second] => {
                    for (distance, &pair) in out.iter_mut().zip(pairs) {
                        let (i, j) = between(pair);
                        let (a, b) = (first[i] - first[j], second[i] - second[j]);
                        *distance = (a * a + b * b).sqrt();
                    }
                }
                _ => {
                    for (distance, &pair) in out.iter_mut().zip(pairs) {
                        let (i, j) = between(pair);
                        let squared = columns.iter().fold(0.0, |sum, column| {
                            let apart: f64 = column[i] - column[j];
                            sum + apart * apart
                        });
                        *distance = squared.sqrt();
                    }
                }
            }
            Ok(())
        })
    }

    /// The mean rank of each pair's group, from 0 to 1, as a matrix; pairs without a rank
    /// are in the middle.
    pub fn mean_ranks(&self) -> Array2<f64> {
        let n = self.n;
        let most = self.len().max(1) as f64;
        let mut matrix = Array2::from_elem((n, n), 0.5);
        matrix.diag_mut().fill(0.0);
        for range in self.groups() {
            let mean = 0.5 * (range.start + range.end) as f64 / most;
            for &pair in &self.pairs[range] {
                let (i, j) = (pair as usize / n, pair as usize % n);
                (matrix[[i, j]], matrix[[j, i]]) = (mean, mean);
            }
        }
        matrix
    }

    /// These values of ranks as rows of pairs.
    pub fn rows<'a>(&'a self, values: &'a [f64]) -> Rows<'a> {
        Rows::Ranked { n: self.n, ranks: &self.ranks, values, weights: self.weights.as_deref() }
    }
}
