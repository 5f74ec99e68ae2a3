//! Label-correcting shortest paths from a batch of nearby sources at once, one
//! SIMD lane each.
//!
//! Owns: the kernel for graphs of any dimension. Paper: Yanagisawa, "A
//! multi-source label-correcting algorithm for the all-pairs shortest paths
//! problem", IPDPS 2010. A node waits in the queue under its smallest improved
//! lane and passes all lanes on when it surfaces; nearby sources reach a node
//! at nearly the same time, so it surfaces 1.5 to 3 times per batch instead of
//! once per source. Cost: about `3 (m / 16 + n log n / 16)` vector steps per source.
//! Where the distances to some nodes are known already ([`complete`]), the search is
//! for the others, among themselves.
//!
//! The fixed point is the minimum over all paths of left-to-right sums, lane by
//! lane: the same bits as [`super::dijkstra`], whatever shares the batch.

use super::dijkstra::{NODES_PER_CHECK, PathGraph};
use super::queue::{Entry, Queue};
use super::sources::Seed;
use super::sweep::lower;
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
    pulp::Arch::new().dispatch(Solve { graph, start: Start::Seeds(seeds), lanes, scratch, ctx })
}

/// The same where `lanes[..known]` are exact already; of the others those of the sources
/// themselves are zero in their lane, and all the rest infinite.
pub(super) fn complete(
    graph: &PathGraph,
    known: usize,
    lanes: &mut [[f64; LANES]],
    scratch: &mut Scratch,
    ctx: &Ctx,
) -> Result<()> {
    pulp::Arch::new().dispatch(Solve { graph, start: Start::Known(known), lanes, scratch, ctx })
}

/// What is known at first.
enum Start<'a> {
    /// Distances to some nodes.
    Seeds(&'a [Seed]),
    /// The distances to all positions before this one.
    Known(usize),
}

struct Solve<'a> {
    graph: &'a PathGraph,
    start: Start<'a>,
    lanes: &'a mut [[f64; LANES]],
    scratch: &'a mut Scratch,
    ctx: &'a Ctx,
}

impl pulp::WithSimd for Solve<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Result<()> {
        let Solve { graph, start, lanes, scratch, ctx } = self;
        scratch.clear(graph.len());
        let known = match start {
            Start::Seeds(seeds) => {
                scratch.enter(seeds, lanes);
                0
            }
            Start::Known(known) => {
                scratch.draw_from_known(graph, known, lanes);
                known
            }
        };
        let mut until_check = NODES_PER_CHECK;
        while let Some(Entry { key, node }) = scratch.queue.pop() {
            if key != scratch.waiting[node as usize] {
                continue;
            }
            scratch.waiting[node as usize] = f64::INFINITY;
            until_check -= 1;
            if until_check == 0 {
                ctx.check()?;
                until_check = NODES_PER_CHECK;
            }
            let from = lanes[node as usize];
            for &(target, weight) in graph.row_from(node as usize, known) {
                let improved = relax(&from, weight, &mut lanes[target as usize]);
                scratch.note(target, improved);
            }
        }
        Ok(())
    }
}

impl Scratch {
    fn clear(&mut self, n: usize) {
        self.queue.clear();
        self.waiting.clear();
        self.waiting.resize(n, f64::INFINITY);
    }

    /// `node` has to pass on a lane that was lowered to `key`.
    #[inline(always)]
    fn note(&mut self, node: u32, key: f64) {
        let waits = &mut self.waiting[node as usize];
        if key < *waits {
            *waits = key;
            self.queue.push(Entry { key, node });
        }
    }

    fn enter(&mut self, seeds: &[Seed], lanes: &mut [[f64; LANES]]) {
        for seed in seeds {
            let known = &mut lanes[seed.position as usize][seed.lane];
            *known = seed.distance.min(*known);
            self.note(seed.position, seed.distance);
        }
    }

    /// One step from what is known, then one step among the others: afterwards only
    /// what the second has lowered is of news to anyone.
    #[inline(always)]
    fn draw_from_known(&mut self, graph: &PathGraph, known: usize, lanes: &mut [[f64; LANES]]) {
        let (done, open) = lanes.split_at_mut(known);
        for (node, here) in (known..).zip(open) {
            let mut best = *here;
            for &(from, weight) in graph.row_before(node, known) {
                lower(&mut best, &done[from as usize], weight);
            }
            *here = best;
        }
        for node in known..lanes.len() {
            let mut best = lanes[node];
            let mut lowest = f64::INFINITY;
            for &(from, weight) in graph.row_from(node, known) {
                let improved = relax(&lanes[from as usize], weight, &mut best);
                lowest = if improved < lowest { improved } else { lowest };
            }
            lanes[node] = best;
            self.note(node as u32, lowest);
        }
    }
}

/// Lower `to` where the way through `from` is shorter; the smallest lowered
/// lane, infinite when there is none.
#[inline(always)]
fn relax(from: &[f64; LANES], weight: f64, to: &mut [f64; LANES]) -> f64 {
    let before = *to;
    let mut best = before;
    lower(&mut best, from, weight);
    // Most ways are no shorter. And what was lowered is told from the results: from the
    // comparisons the compiler would make masked stores, which some processors take
    // dozens of steps for.
    let mut any = false;
    for lane in 0..LANES {
        any |= best[lane] != before[lane];
    }
    if !any {
        return f64::INFINITY;
    }
    *to = best;
    let mut lowered = [f64::INFINITY; LANES];
    for lane in 0..LANES {
        lowered[lane] = if best[lane] != before[lane] { best[lane] } else { f64::INFINITY };
    }
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
