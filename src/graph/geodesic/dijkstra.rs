//! Dijkstra's algorithm, one source at a time: the reference for the others.
//!
//! Owns: the graph renumbered to the plan's positions, and the plain kernel.
//! Paper: Dijkstra 1959, with a 4-ary heap and stale entries instead of
//! decrease-key. Cost: O(m log n) per source.
//!
//! The value of a node is the smallest, over all paths, of the weights added
//! from the source onwards in floating point. Rounded addition is monotone, so
//! this minimum does not depend on the order of relaxations: the batched kernel
//! ends with the same bits.

use super::queue::{Entry, Queue};
use super::sources::Seed;
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;
use crate::linalg::packed::LANES;

/// Settled nodes between two looks at the cancel flag.
pub(crate) const NODES_PER_CHECK: usize = 2048;

/// A graph whose nodes are numbered by position, so that neighbours lie close
/// in memory; neighbours by ascending position.
#[derive(Debug, Clone)]
pub(crate) struct PathGraph {
    offsets: Vec<usize>,
    edges: Vec<(u32, f64)>,
}

impl PathGraph {
    /// `graph` with node `order[p]` as node `p`.
    pub fn new(graph: &Graph, order: &[u32], position: &[u32]) -> PathGraph {
        let row = |node: u32| {
            let (targets, weights) = graph.row(node as usize);
            targets.iter().map(|&target| position[target as usize]).zip(weights.iter().copied())
        };
        PathGraph::from_rows(order.iter().map(|&node| row(node)), graph.targets().len())
    }

    /// The same graph with position `order[p]` as position `p`.
    pub fn reordered(&self, order: &[u32]) -> PathGraph {
        let mut position = vec![0; order.len()];
        for (place, &old) in order.iter().enumerate() {
            position[old as usize] = place as u32;
        }
        let row =
            |old: u32| self.row(old as usize).iter().map(|&(to, weight)| (position[to as usize], weight));
        PathGraph::from_rows(order.iter().map(|&old| row(old)), self.edges.len())
    }

    fn from_rows<R: Iterator<Item = (u32, f64)>>(rows: impl Iterator<Item = R>, edge_count: usize) -> Self {
        let mut graph = PathGraph { offsets: vec![0], edges: Vec::with_capacity(edge_count) };
        for row in rows {
            let begin = graph.edges.len();
            graph.edges.extend(row);
            graph.edges[begin..].sort_unstable_by_key(|&(target, _)| target);
            graph.offsets.push(graph.edges.len());
        }
        graph
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Neighbours of a position and the weights of the edges to them.
    #[inline(always)]
    pub fn row(&self, position: usize) -> &[(u32, f64)] {
        &self.edges[self.offsets[position]..self.offsets[position + 1]]
    }

    /// The same for neighbours at `first` and after it.
    #[inline(always)]
    pub fn row_from(&self, position: usize, first: usize) -> &[(u32, f64)] {
        let row = self.row(position);
        &row[row.iter().take_while(|(target, _)| (*target as usize) < first).count()..]
    }

    /// The same for neighbours before `end`.
    #[inline(always)]
    pub fn row_before(&self, position: usize, end: usize) -> impl Iterator<Item = &(u32, f64)> {
        self.row(position).iter().take_while(move |(target, _)| (*target as usize) < end)
    }
}

/// Distances of each seeded lane to all positions, one lane after the other;
/// `lanes` come infinite.
pub(crate) fn solve(
    graph: &PathGraph,
    seeds: &[Seed],
    lanes: &mut [[f64; LANES]],
    scratch: &mut Scratch,
    ctx: &Ctx,
) -> Result<()> {
    for seeds in seeds.chunk_by(|a, b| a.lane == b.lane) {
        dijkstra(graph, seeds, scratch, ctx)?;
        for (lanes, &distance) in lanes.iter_mut().zip(&scratch.distances) {
            lanes[seeds[0].lane] = distance;
        }
    }
    Ok(())
}

/// What the kernel reuses from one source to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    queue: Queue,
    distances: Vec<f64>,
}

fn dijkstra(graph: &PathGraph, seeds: &[Seed], scratch: &mut Scratch, ctx: &Ctx) -> Result<()> {
    let Scratch { queue, distances } = scratch;
    queue.clear();
    distances.clear();
    distances.resize(graph.len(), f64::INFINITY);
    for seed in seeds {
        let known = &mut distances[seed.position as usize];
        if seed.distance < *known {
            *known = seed.distance;
            queue.push(Entry { key: seed.distance, node: seed.position });
        }
    }
    let mut until_check = NODES_PER_CHECK;
    while let Some(Entry { key, node }) = queue.pop() {
        if key > distances[node as usize] {
            continue;
        }
        until_check -= 1;
        if until_check == 0 {
            ctx.check()?;
            until_check = NODES_PER_CHECK;
        }
        for &(target, weight) in graph.row(node as usize) {
            let through = key + weight;
            let known = &mut distances[target as usize];
            if through < *known {
                *known = through;
                queue.push(Entry { key: through, node: target });
            }
        }
    }
    Ok(())
}
