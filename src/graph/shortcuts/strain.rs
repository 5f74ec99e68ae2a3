//! Which edges make distances short that are long without them.
//!
//! Owns: the trees of shortest paths of a few sources, and how much of the growth of
//! distances each edge answers for when it is taken out. Place: used by
//! [`super::widespread`], only where distances grow unevenly. Cost: O(S (m + n log n)).

use std::collections::BTreeMap;

use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use super::Shortcut;
use super::detour::{Ends, ends};
use super::sparser::has;
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;

/// How far apart its ends are without it, in lengths of the edge.
const FAR_IN_LENGTHS: f64 = 3.0;
/// Nodes between two looks at the cancel flag.
const NODES_PER_CHECK: usize = 4096;

/// What goes over one edge.
#[derive(Clone, Copy, Default)]
struct Load {
    /// Sum over the paths of how much longer they are without the edges that were taken out.
    growth: f64,
    paths: u64,
}

/// The edges of `graph` that are not in `sparse` and whose ends are far apart there, those that
/// explain most of the growth first. `near` and `far` are the distances from the same sources
/// in the one and in the other; `usual` is the growth that counts for nothing.
pub(super) fn strained(
    graph: &Graph,
    sparse: &Graph,
    near: &Array2<f64>,
    far: &Array2<f64>,
    usual: f64,
    ctx: &Ctx,
) -> Result<Vec<Shortcut>> {
    let of_source = |source: usize| loads(graph, sparse, near.row(source), far.row(source), usual, ctx);
    let each: Vec<BTreeMap<Ends, Load>> =
        (0..near.nrows()).into_par_iter().map(of_source).collect::<Result<_>>()?;
    let mut all: BTreeMap<Ends, Load> = BTreeMap::new();
    for (edge, load) in each.into_iter().flatten() {
        let sum = all.entry(edge).or_default();
        sum.growth += load.growth;
        sum.paths += load.paths;
    }
    let pairs = near.nrows() as f64 * graph.len().saturating_sub(1).max(1) as f64;
    let mut found: Vec<(f64, Shortcut)> = Vec::new();
    for ((from, to), load) in all {
        let (targets, weights) = graph.row(from as usize);
        let length = targets.binary_search(&to).map_or(f64::INFINITY, |rank| weights[rank]);
        let detour = apart(far, from, to);
        if load.growth > 0.0 && detour > FAR_IN_LENGTHS * length {
            let share = load.paths as f64 / pairs;
            found.push((load.growth * (detour - length), Shortcut { from, to, length, share, detour }));
        }
    }
    // Stable: equal ones stay in the order of their ends.
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(found.into_iter().map(|(_, edge)| edge).collect())
}

/// At least how far two nodes are apart, by the triangle inequality.
fn apart(far: &Array2<f64>, one: u32, other: u32) -> f64 {
    let gap = |row: ArrayView1<'_, f64>| {
        let gap = (row[one as usize] - row[other as usize]).abs();
        if gap.is_finite() { gap } else { 0.0 }
    };
    far.outer_iter().map(gap).fold(0.0, f64::max)
}

/// The loads of one source's paths.
fn loads(
    graph: &Graph,
    sparse: &Graph,
    near: ArrayView1<'_, f64>,
    far: ArrayView1<'_, f64>,
    usual: f64,
    ctx: &Ctx,
) -> Result<BTreeMap<Ends, Load>> {
    let mut order: Vec<u32> =
        (0..graph.len() as u32).filter(|&node| near[node as usize].is_finite()).collect();
    order.sort_by(|&a, &b| near[a as usize].total_cmp(&near[b as usize]).then(a.cmp(&b)));
    let mut place = vec![u32::MAX; graph.len()];
    order.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at as u32);
    let growth = |&node: &u32| {
        let growth = far[node as usize] - usual * near[node as usize];
        if growth.is_finite() { growth.max(0.0) } else { 0.0 }
    };
    let mut below: Vec<Load> = order.iter().map(|node| Load { growth: growth(node), paths: 1 }).collect();
    let mut found = BTreeMap::new();
    for (at, &node) in order.iter().enumerate().rev() {
        if at.is_multiple_of(NODES_PER_CHECK) {
            ctx.check()?;
        }
        // The parent is the neighbour through which it is reached soonest, among those before it.
        let mut parent = (f64::INFINITY, u32::MAX);
        let (targets, weights) = graph.row(node as usize);
        for (&target, &weight) in targets.iter().zip(weights) {
            let through = near[target as usize] + weight;
            if place[target as usize] < at as u32 && through < parent.0 {
                parent = (through, target);
            }
        }
        if parent.1 == u32::MAX {
            continue;
        }
        let own = below[at];
        let above = &mut below[place[parent.1 as usize] as usize];
        above.growth += own.growth;
        above.paths += own.paths;
        if own.growth > 0.0 && !has(sparse, node, parent.1) {
            found.insert(ends(node, parent.1), own);
        }
    }
    Ok(found)
}
