//! Shortest paths by two sweeps along an elimination order.
//!
//! Owns: the kernel for graphs of low dimension. Papers: customisable
//! contraction hierarchies (Dibbelt, Strasser and Wagner 2016) and PHAST
//! (Delling, Goldberg, Nowatzyk and Werneck 2013). Every shortest path can be
//! replaced by one of the same length in the eliminated graph that first climbs
//! (to nodes eliminated later) and then descends. So: climb from the sources to
//! the root, then one pass down over all nodes; no queue, no branches, 16
//! sources abreast. Cost: fill / n additions per (source, node).
//!
//! A lane's values depend on the order and the weights alone, never on the
//! other lanes. The pass down may stop early: positions before the stop never
//! look at those after it, which halves the work for all pairs.

use super::sources::Seed;
use super::supernodes::{Supernode, Supernodes};
use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::packed::LANES;

/// Weights used between two looks at the cancel flag.
const WEIGHTS_PER_CHECK: usize = 1 << 16;

/// What the kernel reuses from one batch to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// For each supernode how many of its nodes the climb passes.
    climbed: Vec<u32>,
    /// The supernodes with any, lowest last.
    path: Vec<u32>,
}

/// Distances of all seeded lanes to positions `0..lanes.len()`, which must
/// include the seeds.
pub(super) fn solve(
    graph: &Supernodes,
    seeds: &[Seed],
    lanes: &mut [[f64; LANES]],
    scratch: &mut Scratch,
    ctx: &Ctx,
) -> Result<()> {
    lanes.fill([f64::INFINITY; LANES]);
    for seed in seeds {
        let known = &mut lanes[seed.position as usize][seed.lane];
        *known = seed.distance.min(*known);
    }
    find_path(graph, seeds, scratch);
    let mut since_check = 0;
    for &index in &scratch.path {
        let node = &graph.nodes[index as usize];
        let count = std::mem::take(&mut scratch.climbed[index as usize]) as usize;
        pulp::Arch::new().dispatch(Climb { node, count, lanes });
        since_check += node.weights.len();
        if since_check > WEIGHTS_PER_CHECK {
            // The marks must be blank for the next batch; a cancelled run has none.
            ctx.check()?;
            since_check = 0;
        }
    }
    pulp::Arch::new().dispatch(Descend { graph, lanes, ctx })
}

/// Mark the seeds and all their ancestors.
fn find_path(graph: &Supernodes, seeds: &[Seed], scratch: &mut Scratch) {
    let Scratch { climbed, path } = scratch;
    climbed.resize(graph.nodes.len(), 0);
    path.clear();
    for seed in seeds {
        let mut position = seed.position as usize;
        loop {
            let index = graph.of[position] as usize;
            let node = &graph.nodes[index];
            let count = (position + 1 - node.begin) as u32;
            let marked = climbed[index];
            climbed[index] = marked.max(count);
            if marked > 0 {
                break;
            }
            path.push(index as u32);
            match node.uppers.last() {
                Some(&upper) => position = upper as usize,
                None => break,
            }
        }
    }
    path.sort_unstable_by(|a, b| b.cmp(a));
}

/// `to = min(to, from + weight)`, lane by lane.
#[inline(always)]
fn lower(to: &mut [f64; LANES], from: &[f64; LANES], weight: f64) {
    for lane in 0..LANES {
        let way = from[lane] + weight;
        to[lane] = if way < to[lane] { way } else { to[lane] };
    }
}

/// Pass the first `count` nodes of a supernode on to all they look up to.
struct Climb<'a> {
    node: &'a Supernode,
    count: usize,
    lanes: &'a mut [[f64; LANES]],
}

impl pulp::WithSimd for Climb<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Climb { node, count, lanes } = self;
        for place in (0..count).rev() {
            let from = lanes[node.begin + place];
            let (to_uppers, to_own) = node.weights_of(place).split_at(node.uppers.len());
            for (&upper, &weight) in node.uppers.iter().zip(to_uppers) {
                lower(&mut lanes[upper as usize], &from, weight);
            }
            for (to, &weight) in lanes[node.begin..].iter_mut().zip(to_own) {
                lower(to, &from, weight);
            }
        }
    }
}

/// Pull every position's value down from those it looks up to.
struct Descend<'a> {
    graph: &'a Supernodes,
    lanes: &'a mut [[f64; LANES]],
    ctx: &'a Ctx,
}

impl pulp::WithSimd for Descend<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Result<()> {
        let Descend { graph, lanes, ctx } = self;
        let mut since_check = 0;
        for node in &graph.nodes {
            let end = node.end.min(lanes.len());
            let mut position = node.begin;
            while position + 1 < end {
                pull_two(node, position, lanes);
                position += 2;
            }
            if position < end {
                pull_one(node, position, lanes);
            }
            if node.end >= lanes.len() {
                break;
            }
            since_check += node.weights.len();
            if since_check > WEIGHTS_PER_CHECK {
                ctx.check()?;
                since_check = 0;
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn pull_one(node: &Supernode, position: usize, lanes: &mut [[f64; LANES]]) {
    let (above, here) = lanes.split_at_mut(position);
    let weights = node.weights_of(position - node.begin);
    let (from_uppers, from_own) = weights.split_at(node.uppers.len());
    let mut best = here[0];
    for (&upper, &weight) in node.uppers.iter().zip(from_uppers) {
        lower(&mut best, &above[upper as usize], weight);
    }
    for (from, &weight) in above[node.begin..].iter().zip(from_own) {
        lower(&mut best, from, weight);
    }
    here[0] = best;
}

/// Two neighbours of one supernode at once: what both look up to is loaded once.
#[inline(always)]
fn pull_two(node: &Supernode, position: usize, lanes: &mut [[f64; LANES]]) {
    let (above, here) = lanes.split_at_mut(position);
    let place = position - node.begin;
    let (first_uppers, first_own) = node.weights_of(place).split_at(node.uppers.len());
    let (second_uppers, second_own) = node.weights_of(place + 1).split_at(node.uppers.len());
    let (mut first, mut second) = (here[0], here[1]);
    for ((&upper, &a), &b) in node.uppers.iter().zip(first_uppers).zip(second_uppers) {
        let from = &above[upper as usize];
        lower(&mut first, from, a);
        lower(&mut second, from, b);
    }
    for ((from, &a), &b) in above[node.begin..].iter().zip(first_own).zip(second_own) {
        lower(&mut first, from, a);
        lower(&mut second, from, b);
    }
    if let Some(&between) = second_own.last() {
        lower(&mut second, &first, between);
    }
    here[0] = first;
    here[1] = second;
}
