//! The k neighbours on either side, and the rank that each has on the other.
//!
//! Place: `neighbors` in, everything of `rank_measures` out. One search in Y, one pass over the
//! pairs in X (its neighbours and the ranks of Y's neighbours from the same distances), one pass
//! over the pairs in Y. Cost: that of the distances.

use super::comparison::Comparison;
use crate::context::Ctx;
use crate::error::Result;

/// Neighbours and ranks of the rows looked at, each row after row, k a row, nearest first.
#[derive(Debug)]
pub(super) struct NeighborRanks {
    pub k: usize,
    /// Neighbours in X.
    pub in_x: Vec<u32>,
    /// Neighbours in Y.
    pub in_y: Vec<u32>,
    /// Rank in X of each neighbour in Y.
    pub x_ranks: Vec<u32>,
    /// Rank in Y of each neighbour in X.
    pub y_ranks: Vec<u32>,
}

impl NeighborRanks {
    /// # Errors
    /// More neighbours than other rows; cancellation; memory.
    pub fn of(both: &Comparison<'_>, k: usize, ctx: &Ctx) -> Result<NeighborRanks> {
        let rows = both.rows();
        let in_y = both.y.neighbors(rows, k, ctx)?.indices;
        let (near, x_ranks) = both.x.neighbors_and_ranks(rows, k, (&in_y, k), ctx)?;
        let in_x = near.indices;
        let (_, y_ranks) = both.y.neighbors_and_ranks(rows, 1, (&in_x, k), ctx)?;
        Ok(NeighborRanks { k, in_x, in_y, x_ranks, y_ranks })
    }
}
