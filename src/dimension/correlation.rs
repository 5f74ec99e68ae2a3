//! The correlation dimension: how the number of pairs within a radius grows with it.
//!
//! P. Grassberger and I. Procaccia, Physica D 9, 1983: C(r) is the share of pairs at most r
//! apart, and the dimension the slope of ln C against ln r, here between two radii. The
//! larger is a low quantile of the distances to the k-th neighbours, so that the lists have
//! nearly all pairs that count; the pairs of the few rows whose lists end earlier are counted
//! afresh. The smaller is the same quantile at k/2. Cost: O(n·k), and a search for those rows.

use super::Statistic;
use super::table::{Source, Table};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::exp::ln;
use crate::neighbors::NeighborRule;

/// Share of the rows whose k-th neighbour is nearer than the larger radius.
const SHORT: f64 = 0.1;
/// Rows counted afresh at a time.
const BLOCK: usize = 256;

/// How many rows are within each of two radii of every row.
pub(super) struct Integral {
    radii: [f64; 2],
    within: Vec<[f64; 2]>,
}

impl Integral {
    pub fn of(table: &Table<'_>, ctx: &Ctx) -> Result<Integral> {
        if matches!(table.source, Source::Lists | Source::Points(_)) {
            return Err(Error::Unsupported(
                "the correlation dimension counts all pairs within a radius, which lists of neighbours do \
                 not hold; give points or distances"
                    .into(),
            ));
        }
        let far = quantile(table, table.k);
        let near = (1..table.k).rev().filter(|rank| 2 * rank <= table.k.max(2));
        let near = near.map(|rank| quantile(table, rank)).find(|&radius| radius < far).ok_or_else(|| {
            Error::input(
                "the distances to neighbours of different rank are equal, as on a grid; use more neighbours",
            )
        })?;
        let radii = [near, far];
        let count =
            |distances: &[f64]| radii.map(|radius| distances.partition_point(|&d| d <= radius) as f64);
        let mut within: Vec<[f64; 2]> = (0..table.len()).map(|row| count(table.distances(row))).collect();
        let ends_early = |&row: &usize| table.distances(row)[table.k - 1] <= far;
        let short: Vec<usize> = (0..table.len()).filter(ends_early).collect();
        for rows in short.chunks(BLOCK) {
            ctx.check()?;
            match &table.source {
                Source::Index(index) => {
                    let points = index.points().view().select(rows);
                    let found = index.query(points.view(), NeighborRule::Within(far), ctx)?;
                    // A row finds itself, at distance zero.
                    let own = |at: usize| count(found.row(at).1).map(|all| all - 1.0);
                    rows.iter().enumerate().for_each(|(at, &row)| within[row] = own(at));
                }
                Source::Matrix(matrix) => {
                    for &row in rows {
                        let at_most = |radius: f64| matrix.row(row).iter().filter(|&&d| d <= radius).count();
                        within[row] = radii.map(|radius| at_most(radius) as f64 - 1.0);
                    }
                }
                Source::Points(_) | Source::Lists => {}
            }
        }
        Ok(Integral { radii, within })
    }
}

impl Statistic for Integral {
    fn value(&self, counts: &[f64]) -> f64 {
        let mut sums = [0.0, 0.0];
        for (within, count) in self.within.iter().zip(counts) {
            sums[0] += count * within[0];
            sums[1] += count * within[1];
        }
        ln(sums[1] / sums[0]) / ln(self.radii[1] / self.radii[0])
    }
}

/// The low quantile of the distances to the neighbours of a rank, counted from 1.
fn quantile(table: &Table<'_>, rank: usize) -> f64 {
    let mut distances: Vec<f64> = (0..table.len()).map(|row| table.distances(row)[rank - 1]).collect();
    distances.sort_by(f64::total_cmp);
    distances[(SHORT * (distances.len() - 1) as f64) as usize]
}
