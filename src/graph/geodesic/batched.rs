//! Label-correcting shortest paths from a batch of nearby sources at once, one
//! SIMD lane each.
//!
//! Owns: the kernel for graphs of any dimension. Paper: Yanagisawa, "A
//! multi-source label-correcting algorithm for the all-pairs shortest paths
//! problem", IPDPS 2010. A node waits in the queue under its smallest improved
//! lane and passes all lanes on when it surfaces; nearby sources reach a node
//! at nearly the same time, so it surfaces 1.5 to 3 times per batch instead of
//! once per source. Cost: about `3 (m / 16 + n log n / 16)` vector steps per source.
//!
//! The fixed point is the minimum over all paths of left-to-right sums, lane by
//! lane: the same bits as [`super::dijkstra`], whatever shares the batch.

use super::dijkstra::{NODES_PER_CHECK, PathGraph};
use super::queue::{Entry, Queue};
use super::sources::Seed;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::packed::LANES;

/// What the kernel reuses from one batch to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    queue: Queue,
    /// Smallest lane of each position not yet passed on; infinite when none.
    waiting: Vec<f64>,
}

/// Distances of all seeded lanes to all positions; `lanes` come infinite.
pub(super) fn solve(
    graph: &PathGraph,
    seeds: &[Seed],
    lanes: &mut [[f64; LANES]],
    scratch: &mut Scratch,
    ctx: &Ctx,
) -> Result<()> {
    pulp::Arch::new().dispatch(Solve { graph, seeds, lanes, scratch, ctx })
}

struct Solve<'a> {
    graph: &'a PathGraph,
    seeds: &'a [Seed],
    lanes: &'a mut [[f64; LANES]],
    scratch: &'a mut Scratch,
    ctx: &'a Ctx,
}

impl pulp::WithSimd for Solve<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Result<()> {
        let Solve { graph, seeds, lanes, scratch: Scratch { queue, waiting }, ctx } = self;
        waiting.clear();
        waiting.resize(graph.len(), f64::INFINITY);
        queue.clear();
        for seed in seeds {
            let (node, key) = (seed.position, seed.distance);
            let known = &mut lanes[node as usize][seed.lane];
            *known = key.min(*known);
            if key < waiting[node as usize] {
                waiting[node as usize] = key;
                queue.push(Entry { key, node });
            }
        }
        let mut until_check = NODES_PER_CHECK;
        while let Some(Entry { key, node }) = queue.pop() {
            if key != waiting[node as usize] {
                continue;
            }
            waiting[node as usize] = f64::INFINITY;
            until_check -= 1;
            if until_check == 0 {
                ctx.check()?;
                until_check = NODES_PER_CHECK;
            }
            let from = lanes[node as usize];
            for &(target, weight) in graph.row(node as usize) {
                let improved = relax(&from, weight, &mut lanes[target as usize]);
                let waits = &mut waiting[target as usize];
                if improved < *waits {
                    *waits = improved;
                    queue.push(Entry { key: improved, node: target });
                }
            }
        }
        Ok(())
    }
}

/// Lower `to` where the way through `from` is shorter; the smallest lowered
/// lane, infinite when there is none.
#[inline(always)]
fn relax(from: &[f64; LANES], weight: f64, to: &mut [f64; LANES]) -> f64 {
    let mut lowered = [f64::INFINITY; LANES];
    // Through a copy: a conditional store would become a slow masked one.
    let mut best = *to;
    for lane in 0..LANES {
        let through = from[lane] + weight;
        let shorter = through < best[lane];
        lowered[lane] = if shorter { through } else { f64::INFINITY };
        best[lane] = if shorter { through } else { best[lane] };
    }
    *to = best;
    smallest(&lowered)
}

/// The smallest of the lanes, by halves.
#[inline(always)]
fn smallest(lanes: &[f64; LANES]) -> f64 {
    let mut best = *lanes;
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            let other = best[lane + width];
            best[lane] = if other < best[lane] { other } else { best[lane] };
        }
        width /= 2;
    }
    best[0]
}
