//! The nearest nodes of a graph by shortest paths, where its own lists are too short.
//!
//! Place: a graph in, a [`Table`] out, for the estimators on distances alone. Paths through few
//! neighbours zigzag, so that their lengths grow too fast and dimensions come out small: the
//! last resort. Cost: a search of a few nodes from each.

use super::table::Table;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::nearby::nearest_by_path;
use crate::input::Csr;
use crate::input::check::check_offsets;
use crate::neighbors::{NeighborRule, Neighbors};

/// Nodes between two looks at the cancel flag.
const NODES_PER_CHECK: usize = 256;

/// Do `work` with the `k` nearest nodes of every node that can reach so many.
pub(super) fn with_paths<T>(
    lists: &Csr,
    k: usize,
    ctx: &Ctx,
    work: impl FnOnce(&Table<'_>) -> Result<T>,
) -> Result<T> {
    check_offsets(lists)?;
    let rows = lists.rows();
    let all = Neighbors::from_entries(lists, rows, NeighborRule::Nearest(usize::MAX), true)?;
    let graph = Graph::from_neighbors(&all.without_repeats(), ctx)?;
    let mut near = Neighbors::empty();
    for node in 0..rows {
        if node.is_multiple_of(NODES_PER_CHECK) {
            ctx.check()?;
        }
        let found = nearest_by_path(&graph, node as u32, k);
        if found.len() == k {
            near.push_row(found);
        }
    }
    if near.rows() == 0 {
        return Err(Error::input(format!("no row of the graph reaches {k} others")));
    }
    work(&Table::of_paths(near, k))
}
