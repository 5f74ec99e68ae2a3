//! How many shortest paths each edge carries, from a sample of sources.
//!
//! Owns: the trees of shortest paths of the sampled sources and the count, per
//! edge, of the (source, target) pairs whose path uses it: the sampled edge
//! betweenness of Brandes 2001, one shortest path per pair.
//! Place: first step of [`super::shortcuts`]. Cost: the plan's run from S
//! sources and O(S (n + m)); counts are integers, so no order matters.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::detour::{Ends, ends};
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;
use crate::graph::geodesic::{Batch, Plan, Sources, for_each_batch};
use crate::linalg::packed::LANES;

/// Batches the sources are split into: fixed, so that no result depends on threads.
const BATCHES: usize = 2;

/// Nodes between two looks at the cancel flag.
const NODES_PER_CHECK: usize = 4096;

/// Edges that carry less than one in so many of a source's paths are not
/// counted for it: they cannot matter, and they are nearly all.
const FINEST_SHARE: usize = 1000;

/// A node that no path enters: a source, or out of reach.
const NO_PARENT: u32 = u32::MAX;

/// What the sampled paths do.
pub(super) struct Traffic {
    counts: BTreeMap<Ends, Count>,
    pairs_per_source: usize,
    /// Sum of the finite distances of each source.
    pub sums: Vec<f64>,
    /// Mean of all finite distances.
    pub mean: f64,
}

/// Paths over one edge.
#[derive(Clone, Copy, Default)]
struct Count {
    all: u64,
    most_of_one_source: u32,
}

impl Traffic {
    /// Follow the shortest paths from `sources` to all nodes.
    pub fn new(graph: &Graph, plan: &Plan, sources: &[u32], ctx: &Ctx) -> Result<Traffic> {
        let counts = Mutex::new(BTreeMap::new());
        let sums = in_batches(plan, sources, ctx, |batch| {
            let trees = Trees::new(graph, plan, batch, ctx)?;
            for lane in 0..batch.sources().len() {
                let below = trees.sizes_below(lane);
                trees.count(plan, lane, &below, &mut counts.lock().unwrap_or_else(PoisonError::into_inner));
                ctx.check()?;
            }
            Ok(())
        })?;
        let pairs_per_source = graph.len().saturating_sub(1).max(1);
        let mean = sums.iter().sum::<f64>() / (sources.len().max(1) * pairs_per_source) as f64;
        let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Traffic { counts, pairs_per_source, sums, mean })
    }

    /// The share of the sampled pairs whose path uses `edge`.
    pub fn share(&self, edge: Ends) -> f64 {
        self.counts.get(&edge).map_or(0.0, |count| self.share_of(count))
    }

    /// All edges that carry at least `share`, by their ends.
    pub fn edges_of_at_least(&self, share: f64) -> impl Iterator<Item = Ends> + '_ {
        self.counts.iter().filter(move |(_, count)| self.share_of(count) >= share).map(|(&edge, _)| edge)
    }

    /// The source that uses an edge most is left out: whatever edge a source
    /// lies beside carries a large part of its paths.
    fn share_of(&self, count: &Count) -> f64 {
        let others = self.sums.len().saturating_sub(1).max(1);
        (count.all - u64::from(count.most_of_one_source)) as f64 / (others * self.pairs_per_source) as f64
    }
}

/// The sum of the finite distances of each source.
pub(super) fn sums_of_distances(plan: &Plan, sources: &[u32], ctx: &Ctx) -> Result<Vec<f64>> {
    in_batches(plan, sources, ctx, |_| Ok(()))
}

/// Run `visit` on the distances of each batch of sources; the sums of the
/// finite distances, by source.
fn in_batches(
    plan: &Plan,
    sources: &[u32],
    ctx: &Ctx,
    visit: impl Fn(&Batch<'_>) -> Result<()> + Sync + Send,
) -> Result<Vec<f64>> {
    let size = sources.len().div_ceil(BATCHES).clamp(1, LANES);
    let run = |part: &[u32]| {
        let found = Mutex::new(vec![0.0; part.len()]);
        for_each_batch(plan, &Sources::nodes(part), ctx, |batch| {
            let mut sums = [0.0; LANES];
            for lanes in batch.distances() {
                for (sum, &distance) in sums.iter_mut().zip(lanes) {
                    *sum += if distance.is_finite() { distance } else { 0.0 };
                }
            }
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            for (&source, &sum) in batch.sources().iter().zip(&sums) {
                found[source as usize] = sum;
            }
            drop(found);
            visit(&batch)
        })?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    };
    let parts: Result<Vec<Vec<f64>>> = ctx.install(|| sources.par_chunks(size).map(run).collect());
    Ok(parts?.concat())
}

/// The trees of shortest paths of one batch: by position and lane, the
/// position of the parent.
struct Trees {
    parents: Vec<[u32; LANES]>,
}

impl Trees {
    /// The parent of a node is the neighbour through which it is reached
    /// soonest, the first of several. Only nodes that come before it, by
    /// distance and then by position, are asked: edges of length zero and the
    /// last bits of the distances cannot close a circle.
    fn new(graph: &Graph, plan: &Plan, batch: &Batch<'_>, ctx: &Ctx) -> Result<Trees> {
        let (distances, position) = (batch.distances(), plan.positions());
        let lanes = batch.sources().len().min(LANES);
        let mut parents = Vec::with_capacity(plan.len());
        for (here, &node) in plan.order().iter().enumerate() {
            if here.is_multiple_of(NODES_PER_CHECK) {
                ctx.check()?;
            }
            let own = &distances[here];
            let mut best = [f64::INFINITY; LANES];
            let mut parent = [NO_PARENT; LANES];
            let (targets, weights) = graph.row(node as usize);
            for (&target, &weight) in targets.iter().zip(weights) {
                let there = position[target as usize];
                let theirs = &distances[there as usize];
                let first = (there as usize) < here;
                for lane in 0..lanes {
                    let through = theirs[lane] + weight;
                    // Never true of two infinite distances: `best` is infinite too.
                    let before = theirs[lane] < own[lane] || (first && theirs[lane] == own[lane]);
                    let better = before && through < best[lane];
                    best[lane] = if better { through } else { best[lane] };
                    parent[lane] = if better { there } else { parent[lane] };
                }
            }
            parents.push(parent);
        }
        Ok(Trees { parents })
    }

    /// How many nodes lie below each position of one tree, itself included:
    /// leaves are taken off until nothing is left.
    fn sizes_below(&self, lane: usize) -> Vec<u32> {
        const TAKEN: u32 = u32::MAX;
        let up: Vec<u32> = self.parents.iter().map(|parent| parent[lane]).collect();
        let mut children = vec![0u32; up.len()];
        for &parent in up.iter().filter(|&&parent| parent != NO_PARENT) {
            children[parent as usize] += 1;
        }
        let mut below = vec![1u32; up.len()];
        for start in 0..up.len() {
            let mut here = start;
            while children[here] == 0 {
                children[here] = TAKEN;
                let parent = up[here];
                if parent == NO_PARENT {
                    break;
                }
                below[parent as usize] += below[here];
                children[parent as usize] -= 1;
                here = parent as usize;
            }
        }
        below
    }

    /// Add the paths of one tree to the counts.
    fn count(&self, plan: &Plan, lane: usize, below: &[u32], counts: &mut BTreeMap<Ends, Count>) {
        let order = plan.order();
        let fewest = (below.len() / FINEST_SHARE) as u32;
        for (here, &paths) in below.iter().enumerate() {
            let parent = self.parents[here][lane];
            if paths >= fewest && parent != NO_PARENT {
                let count = counts.entry(ends(order[here], order[parent as usize])).or_default();
                count.all += u64::from(paths);
                count.most_of_one_source = count.most_of_one_source.max(paths);
            }
        }
    }
}
