//! The kd-tree as an engine: all rows, new rows, closest foreign pairs.
//!
//! Place in the dataflow: `Index` calls it for low-dimensional points. Tasks
//! are fixed runs of leaves or queries; nothing depends on who runs them.
//! Cost: O(n (log n + k)) for low intrinsic dimension.

use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::closest_pairs::{Best, merge};
use super::collect::{Closest, Kept, NOBODY};
use super::kdtree::{LEAF, Tree};
use super::measure::Measure;
use super::table::{Budget, Part, concatenate, permute};
use super::tree_walk::{Batch, Everyone, Guide, Others, Walker, walk};
use super::{Link, NeighborRule, Neighbors};
use crate::context::Ctx;
use crate::error::Result;

/// Leaves per task.
const LEAVES: usize = 32;

/// New rows per task.
const QUERIES: usize = 64;

fn leaf_batch(tree: &Tree, leaf: usize) -> Batch<'_> {
    let (low, high) = tree.corners(tree.first_leaf + leaf);
    Batch { coords: tree.leaf_coords(leaf), low, high, leaf: Some(leaf) }
}

/// Neighbours of every row of the tree, itself excluded.
pub(super) fn all<const D: usize, M: Measure>(
    tree: &Tree,
    measure: M,
    rule: NeighborRule,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let budget = Budget::new(tree.order.len(), rule, ctx)?;
    let tasks: Vec<usize> = (0..tree.leaves()).step_by(LEAVES).collect();
    let parts = tasks.into_par_iter().map(|first| {
        let mut part = Part::default();
        let mut walker = Walker::default();
        let mut kept = vec![Kept::new(measure, rule); LEAF];
        for leaf in first..(first + LEAVES).min(tree.leaves()) {
            ctx.check()?;
            let members = tree.members(leaf);
            let kept = &mut kept[..members.len()];
            kept.iter_mut().for_each(Kept::clear);
            let (batch, guide) = (leaf_batch(tree, leaf), Others(members));
            walk::<D, M, _, _>(tree, measure, batch, &guide, kept, &mut walker);
            budget.take(kept.iter().map(Kept::len).sum(), ctx)?;
            kept.iter_mut().for_each(|query| part.push(measure, query));
            ctx.advance(members.len());
        }
        Ok(part)
    });
    let parts = parts.collect::<Result<Vec<Part>>>()?;
    Ok(permute(&parts, &tree.order))
}

/// Neighbours of new rows (row-major, as wide as the tree's).
pub(super) fn query<const D: usize, M: Measure>(
    tree: &Tree,
    measure: M,
    rows: &[f64],
    rule: NeighborRule,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let budget = Budget::new(rows.len() / tree.dims, rule, ctx)?;
    let parts = rows.par_chunks(QUERIES * tree.dims).map(|rows| {
        let mut part = Part::default();
        let mut walker = Walker::default();
        let mut coords = vec![0.0; tree.dims * LEAF];
        let mut kept = Kept::new(measure, rule);
        for row in rows.chunks_exact(tree.dims) {
            ctx.check()?;
            kept.clear();
            one::<D, M>(tree, measure, row, &mut coords, &mut kept, &mut walker);
            budget.take(kept.len(), ctx)?;
            part.push(measure, &mut kept);
            ctx.advance(1);
        }
        Ok(part)
    });
    Ok(concatenate(parts.collect::<Result<Vec<Part>>>()?))
}

/// One new row; `coords` is room for a batch.
fn one<const D: usize, M: Measure>(
    tree: &Tree,
    measure: M,
    row: &[f64],
    coords: &mut [f64],
    kept: &mut Kept<M>,
    walker: &mut Walker,
) {
    for (run, &value) in coords.chunks_exact_mut(LEAF).zip(row) {
        run[0] = value;
    }
    let batch = Batch { coords, low: row, high: row, leaf: None };
    let kept = std::slice::from_mut(kept);
    walk::<D, M, _, _>(tree, measure, batch, &Everyone, kept, walker);
}

/// Distance evaluations of `queries` rows taken at a fixed stride, each alone:
/// what a search of this data costs, measured without a clock.
pub(super) fn probe<M: Measure>(tree: &Tree, measure: M, rows: &[f64], k: usize, queries: usize) -> f64 {
    let n = tree.order.len();
    let stride = (n / queries).max(1);
    let picked: Vec<usize> = (0..n).step_by(stride).collect();
    let counts = picked.par_chunks(8).map(|picked| {
        let mut walker = Walker::default();
        let mut coords = vec![0.0; tree.dims * LEAF];
        let mut kept = Kept::new(measure, NeighborRule::Nearest(k));
        for &row in picked {
            kept.clear();
            let row = &rows[row * tree.dims..(row + 1) * tree.dims];
            one::<0, M>(tree, measure, row, &mut coords, &mut kept, &mut walker);
        }
        walker.evaluations
    });
    counts.sum::<u64>() as f64 / picked.len().max(1) as f64
}

/// Only rows of other components.
struct Foreign<'a> {
    labels: &'a [usize],
    /// Component of each node, [`MIXED`] when there are several.
    node_labels: &'a [usize],
    members: &'a [u32],
    /// Component of the whole batch, [`MIXED`] when there are several.
    home: usize,
}

const MIXED: usize = usize::MAX;

impl Guide for Foreign<'_> {
    #[inline(always)]
    fn skip(&self, node: usize) -> bool {
        self.home != MIXED && self.node_labels[node] == self.home
    }
    #[inline(always)]
    fn allows(&self, slot: usize, row: u32) -> bool {
        self.labels[row as usize] != self.labels[self.members[slot] as usize]
    }
}

/// The component of every node, [`MIXED`] where there are several.
fn label_nodes(tree: &Tree, labels: &[usize]) -> Vec<usize> {
    let mut node_labels = vec![MIXED; tree.least.len()];
    for leaf in 0..tree.leaves() {
        let members = tree.members(leaf);
        let first = labels[members[0] as usize];
        if members.iter().all(|&row| labels[row as usize] == first) {
            node_labels[tree.first_leaf + leaf] = first;
        }
    }
    for node in (0..tree.first_leaf).rev() {
        if node_labels[2 * node + 1] == node_labels[2 * node + 2] {
            node_labels[node] = node_labels[2 * node + 1];
        }
    }
    node_labels
}

/// The closest pair (inside, outside) of every component.
pub(super) fn foreign<const D: usize, M: Measure>(
    tree: &Tree,
    measure: M,
    labels: &[usize],
    count: usize,
    ctx: &Ctx,
) -> Result<Vec<Link>> {
    let node_labels = label_nodes(tree, labels);
    let shared: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(f64::INFINITY.to_bits())).collect();
    let tasks: Vec<usize> = (0..tree.leaves()).step_by(LEAVES).collect();
    let found = tasks.into_par_iter().map(|first| {
        let mut best: Vec<(usize, Best)> = Vec::new();
        let mut walker = Walker::default();
        for leaf in first..(first + LEAVES).min(tree.leaves()) {
            ctx.check()?;
            let members = tree.members(leaf);
            let home = node_labels[tree.first_leaf + leaf];
            let guide = Foreign { labels, node_labels: &node_labels, members, home };
            let of = |&row: &u32| Closest::new(measure, &shared[labels[row as usize]]);
            let mut kept: Vec<Closest<M>> = members.iter().map(of).collect();
            let batch = leaf_batch(tree, leaf);
            walk::<D, M, _, _>(tree, measure, batch, &guide, &mut kept, &mut walker);
            for (&row, query) in members.iter().zip(&kept) {
                let closest = query.best();
                if closest != NOBODY {
                    let distance = measure.finish(closest.reduced);
                    best.push((labels[row as usize], Best::new(row, closest.index, distance)));
                }
            }
            ctx.advance(members.len());
        }
        Ok(best)
    });
    let found = found.collect::<Result<Vec<_>>>()?;
    merge(found.into_iter().flatten(), count)
}
