//! How many of the true neighbours were found, measured on a sample of the rows.
//!
//! Place in the dataflow: the sample is searched exactly before an approximate search; the
//! search asks how far it is, and its result is judged by it. A neighbour counts when it is
//! no farther than the k-th nearest, so that ties count whichever was taken. Cost: s n D
//! for a sample of s rows.

use super::super::brute::{self, Dense, Pairs};
use super::super::measure::Measure;
use super::super::{NeighborRule, Neighbors, gemm};
use super::candidates::Lists;
use super::named;
use crate::context::Ctx;
use crate::error::{Result, WarningKind};
use crate::linalg::random::below;

/// Rows of a sample that matrix products search, and of one searched pair by pair.
const MANY: usize = 400;
const SOME: usize = 200;

/// A recall below this is told.
const TOLD_BELOW: f64 = 0.95;

/// Some rows and how far their k-th neighbour is.
pub(super) struct Sample {
    k: usize,
    rows: Vec<u32>,
    /// The k-th smallest distance of each.
    farthest: Vec<f64>,
}

impl Sample {
    /// Seeded rows all over the data, searched exactly.
    pub fn new<M: Measure>(pairs: &Dense<M>, k: usize, squares: bool, ctx: &Ctx) -> Result<Sample> {
        let (count, most) = (pairs.counts.1, if squares { MANY } else { SOME });
        let mut stream = ctx.stream("approximate neighbours: sample");
        let rows: Vec<u32> = (0..most)
            .map(|at| {
                let (first, last) = (at * count / most, (at + 1) * count / most);
                (first + below(&mut stream, last - first)) as u32
            })
            .collect();
        let queries: Vec<f64> = rows.iter().flat_map(|&row| pairs.row(row as usize)).copied().collect();
        let asked = Dense { queries: &queries, counts: (most, count), ..*pairs };
        let allow = |query: usize, row: usize| rows[query] as usize != row;
        let rule = NeighborRule::Nearest(k);
        ctx.stage("exact neighbours of a sample", most);
        let near = match squares {
            true => gemm::search(&asked, rule, false, allow, ctx)?,
            false => None,
        };
        let near = match near {
            Some(near) => near,
            None => brute::search(&asked, rule, allow, ctx)?,
        };
        let farthest = near.distances.chunks_exact(k).map(|distances| distances[k - 1]).collect();
        Ok(Sample { k, rows, farthest })
    }

    fn share(&self, found: impl Fn(usize, f64) -> usize) -> f64 {
        let within = self.rows.iter().zip(&self.farthest);
        let hits: usize = within.map(|(&row, &farthest)| found(row as usize, farthest).min(self.k)).sum();
        hits as f64 / (self.rows.len() * self.k) as f64
    }

    /// The share of true neighbours among the candidates.
    pub fn recall<M: Measure>(
        &self,
        lists: &Lists,
        positions: &[u32],
        order: &[u32],
        pairs: &Dense<M>,
    ) -> f64 {
        self.share(|row, farthest| {
            let known = named(lists, positions[row] as usize, order);
            let near = |&other: &u32| pairs.measure.finish(pairs.reduced(row, other as usize)) <= farthest;
            known.into_iter().filter(near).count()
        })
    }

    /// Warn of a table that has too few of the true neighbours.
    pub fn tell(&self, table: &Neighbors, ctx: &Ctx) {
        let recall = self.share(|row, farthest| {
            let distances = &table.distances[table.offsets[row]..table.offsets[row + 1]];
            distances.iter().filter(|&&distance| distance <= farthest).count()
        });
        if recall < TOLD_BELOW {
            let (rows, k) = (self.rows.len(), self.k);
            ctx.warn(
                WarningKind::LowRecall,
                format!(
                    "the approximate search found {:.0} % of the {k} nearest neighbours (measured on {rows} rows); \
                     search exactly with 'auto' in place of 'approximate', or reduce the dimension of the data, for \
                     example by PCA, before",
                    (100.0 * recall).floor()
                ),
            );
        }
    }
}
