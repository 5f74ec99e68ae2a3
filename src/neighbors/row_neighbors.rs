//! Neighbours of rows of distances, and the ranks of given rows from the same pass.
//!
//! Place in the dataflow: the second half of `distance_rows`. Squares in many dimensions are
//! searched and counted by matrix products (`gemm`, `gemm_ranks`), everything else from exact
//! rows of distances (`row_ranks`). Cost: that of the distances.

use ndarray::ArrayView2;

use super::brute::Dense;
use super::collect::{Keep, Kept};
use super::distance_rows::{DistanceRows, Kind, Precision, RowChoice, dense_pairs};
use super::gemm_ranks::Wanted;
use super::measure::Entry;
use super::metric::{Manhattan, with_measure};
use super::table::{Part, concatenate};
use super::{Algorithm, Index, NeighborRule, Neighbors, check_rule, gemm};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::PointsRef;

impl DistanceRows<'_> {
    /// The nearest `k` others of the chosen rows, nearest first, and the ranks of the wanted
    /// rows, `count` of each chosen row.
    ///
    /// # Errors
    /// More neighbours than other rows; cancellation; memory.
    pub fn neighbors_and_ranks(
        &self,
        rows: RowChoice<'_>,
        k: usize,
        (wanted, count): (&[u32], usize),
        ctx: &Ctx,
    ) -> Result<(Neighbors, Vec<u32>)> {
        let (n, rule) = (self.len(), NeighborRule::Nearest(k));
        check_rule(rule, n, true)?;
        if let Some(matrix) = self.squares().filter(|_| 4 * k <= n) {
            let own = match rows {
                RowChoice::All(_) => None,
                RowChoice::Some(rows) => Some(rows),
            };
            let wanted = Wanted { rows: wanted, count, own };
            if let Some(found) = self.by_products(matrix, rule, wanted, ctx)? {
                return Ok(found);
            }
        }
        ctx.stage("ranks", rows.len());
        let place_of = |row: usize| match rows {
            RowChoice::All(_) => row,
            // Every row that is visited is one of the chosen ones.
            RowChoice::Some(rows) => rows.binary_search(&(row as u32)).unwrap_or(0),
        };
        let found = DistanceRows::each_row([self], rows, Precision::Exact, ctx, |row, [distances]| {
            let place = place_of(row);
            let targets = &wanted[place * count..(place + 1) * count];
            let near = nearest(distances, k);
            (near, super::row_ranks::ranks(distances, targets))
        })?;
        let (mut near, mut ranks) = (Vec::with_capacity(found.len()), Vec::with_capacity(wanted.len()));
        for (own, more) in found {
            near.push(own);
            ranks.extend(more);
        }
        Ok((concatenate(near), ranks))
    }

    fn by_products(
        &self,
        matrix: ArrayView2<'_, f64>,
        rule: NeighborRule,
        wanted: Wanted<'_>,
        ctx: &Ctx,
    ) -> Result<Option<(Neighbors, Vec<u32>)>> {
        let chosen: Option<Vec<f64>> =
            wanted.own.map(|rows| rows.iter().flat_map(|&row| matrix.row(row as usize).to_vec()).collect());
        let allow = |query: usize, row: usize| wanted.own(query) != row;
        with_measure!(self.metric, measure => {
            let mut pairs = dense_pairs(measure, matrix);
            if let (Some(chosen), Some(own)) = (&chosen, wanted.own) {
                pairs = Dense { queries: chosen, counts: (own.len(), pairs.counts.1), ..pairs };
            }
            gemm::search_and_rank(&pairs, rule, chosen.is_none(), allow, Some(wanted), ctx)
        })
    }

    /// The nearest `k` others of the chosen rows, nearest first.
    ///
    /// # Errors
    /// More neighbours than other rows; cancellation; memory.
    pub fn neighbors(&self, rows: RowChoice<'_>, k: usize, ctx: &Ctx) -> Result<Neighbors> {
        check_rule(NeighborRule::Nearest(k), self.len(), true)?;
        let points = match &self.kind {
            Kind::Columns(columns) => columns.points(),
            _ => return Ok(self.neighbors_and_ranks(rows, k, (&[], 0), ctx)?.0),
        };
        let index = Index::build(PointsRef::Dense(points.view()), self.metric, Algorithm::Auto, ctx)?;
        let RowChoice::Some(rows) = rows else {
            return index.neighbors_of_all(NeighborRule::Nearest(k), ctx);
        };
        let asked = PointsRef::Dense(points.view()).select(&crate::input::rows::as_indices(rows));
        let found = index.query(asked.view(), NeighborRule::Nearest(k + 1), ctx)?;
        let (mut indices, mut distances) = (Vec::with_capacity(rows.len() * k), Vec::new());
        for (place, &own) in rows.iter().enumerate() {
            let range = found.offsets[place]..found.offsets[place + 1];
            let others = range.filter(|&at| found.indices[at] != own).take(k);
            for at in others {
                indices.push(found.indices[at]);
                distances.push(found.distances[at]);
            }
        }
        if indices.len() != rows.len() * k {
            return Err(Error::input("a row has fewer neighbours than were asked for"));
        }
        Ok(Neighbors { offsets: (0..=rows.len()).map(|row| row * k).collect(), indices, distances })
    }
}

/// The k nearest of a row of distances, by (distance, index).
fn nearest(distances: &[f64], k: usize) -> Part {
    let mut kept = Kept::new(Manhattan, NeighborRule::Nearest(k));
    for (index, &reduced) in distances.iter().enumerate() {
        if !(reduced > kept.limit()) {
            kept.offer(Entry { reduced, index: index as u32 });
        }
    }
    let mut part = Part::default();
    part.push(Manhattan, &mut kept);
    part
}
