//! The graph after elimination, as dense blocks.
//!
//! Owns: supernodes (runs of steps with the same later neighbours) and the
//! weights between them: for every pair joined by elimination the shortest way
//! through what was eliminated before. Place: between [`super::elimination`]
//! and [`super::sweep`]. Papers: customisable contraction hierarchies (Dibbelt,
//! Strasser and Wagner 2016), computed as a multifrontal Cholesky factorisation
//! (Duff and Reid 1983) with min for + and + for ×. Cost: half the sum over
//! nodes of (later neighbours)² vector operations / 4.
//!
//! Positions run against the steps: position 0 is eliminated last, so that
//! everything a node looks up to stands before it.

use super::elimination::{Elimination, ROOT};
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;

/// Nodes `begin..end` (positions), all joined to `uppers` and to one another.
#[derive(Debug)]
pub(super) struct Supernode {
    pub begin: usize,
    pub end: usize,
    /// Positions before `begin`, ascending.
    pub uppers: Vec<u32>,
    /// For each node in turn its weights: to `uppers`, then to `begin..` itself.
    pub weights: Vec<f64>,
}

impl Supernode {
    /// Weights of the node at `begin + place`: to `uppers`, then to the
    /// `place` nodes before it.
    #[inline(always)]
    pub fn weights_of(&self, place: usize) -> &[f64] {
        let start = place * self.uppers.len() + place * place.saturating_sub(1) / 2;
        &self.weights[start..start + self.uppers.len() + place]
    }
}

/// All supernodes, by ascending position.
#[derive(Debug)]
pub(super) struct Supernodes {
    pub nodes: Vec<Supernode>,
    /// Position → supernode.
    pub of: Vec<u32>,
}

/// A supernode while it is being put together, in steps.
struct Front {
    first: usize,
    last: usize,
    /// Steps after `last`, ascending.
    later: Vec<u32>,
    /// One row per step of the supernode: weights to its own steps, then to `later`.
    own: Vec<f64>,
    /// Square over `later`, above the diagonal: the ways through this supernode.
    ways: Vec<f64>,
}

impl Supernodes {
    /// Eliminate `graph` in the given order.
    pub fn new(graph: &Graph, elimination: &Elimination, ctx: &Ctx) -> Result<Supernodes> {
        let bounds = boundaries(elimination);
        let count = bounds.len().saturating_sub(1);
        let mut of_step = vec![0u32; graph.len()];
        for index in 0..count {
            of_step[bounds[index]..bounds[index + 1]].fill(index as u32);
        }
        let mut waiting: Vec<Vec<Front>> = (0..count).map(|_| Vec::new()).collect();
        let mut place = vec![ROOT; graph.len()];
        let mut nodes = Vec::with_capacity(count);
        for index in 0..count {
            ctx.check()?;
            let children = std::mem::take(&mut waiting[index]);
            let mut front =
                assemble(graph, elimination, bounds[index]..bounds[index + 1], &children, &mut place);
            pulp::Arch::new().dispatch(Eliminate(&mut front));
            let above = front.later.first().map(|&step| of_step[step as usize] as usize);
            nodes.push(finished(&front, graph.len()));
            if let Some(above) = above {
                front.own = Vec::new();
                waiting[above].push(front);
            }
        }
        nodes.reverse();
        of_step.reverse();
        let of = of_step.into_iter().map(|index| (count - 1) as u32 - index).collect();
        Ok(Supernodes { nodes, of })
    }
}

/// First steps of the supernodes, and `n`: a step belongs to the one before it
/// when it is its parent and their later neighbours are the same.
fn boundaries(elimination: &Elimination) -> Vec<usize> {
    let Elimination { parent, later, .. } = elimination;
    let n = parent.len();
    let joins =
        |step: usize| step > 0 && parent[step - 1] as usize == step && later[step - 1] == later[step] + 1;
    (0..n).filter(|&step| !joins(step)).chain([n]).collect()
}

/// The front of `steps`: graph edges and the ways its children found.
fn assemble(
    graph: &Graph,
    elimination: &Elimination,
    steps: std::ops::Range<usize>,
    children: &[Front],
    place: &mut [u32],
) -> Front {
    let (first, last, width) = (steps.start, steps.end - 1, steps.len());
    let edges = |step: usize| {
        let (targets, weights) = graph.row(elimination.sequence[step] as usize);
        targets.iter().map(|&target| elimination.step[target as usize]).zip(weights.iter().copied())
    };
    let mut later: Vec<u32> = Vec::with_capacity(elimination.later[last] as usize);
    let mut note = |step: u32| {
        if step as usize > last && place[step as usize] == ROOT {
            place[step as usize] = 0;
            later.push(step);
        }
    };
    steps.clone().for_each(|step| edges(step).for_each(|(target, _)| note(target)));
    children.iter().for_each(|child| child.later.iter().for_each(|&step| note(step)));
    later.sort_unstable();
    for (rank, &step) in later.iter().enumerate() {
        place[step as usize] = (width + rank) as u32;
    }
    for (rank, step) in steps.clone().enumerate() {
        place[step] = rank as u32;
    }
    let stride = width + later.len();
    let mut front = Front {
        first,
        last,
        own: vec![f64::INFINITY; width * stride],
        ways: vec![f64::INFINITY; later.len() * later.len()],
        later,
    };
    for (rank, step) in steps.clone().enumerate() {
        for (target, weight) in edges(step).filter(|&(target, _)| target as usize > step) {
            front.own[rank * stride + place[target as usize] as usize] = weight;
        }
    }
    children.iter().for_each(|child| front.take_ways(child, place));
    // Only steps that can be met again need to be blank again.
    front.later.iter().for_each(|&step| place[step as usize] = ROOT);
    front
}

impl Front {
    fn width(&self) -> usize {
        self.last + 1 - self.first
    }

    /// Keep the shorter of what is known and what a child found.
    fn take_ways(&mut self, child: &Front, place: &[u32]) {
        let (width, size, found) = (self.width(), self.later.len(), child.later.len());
        let stride = width + size;
        let places: Vec<usize> = child.later.iter().map(|&step| place[step as usize] as usize).collect();
        for (row, &to) in places.iter().enumerate() {
            let ways = &child.ways[row * found + row + 1..(row + 1) * found];
            let (mine, shift) = if to < width {
                (&mut self.own[to * stride..(to + 1) * stride], 0)
            } else {
                (&mut self.ways[(to - width) * size..(to - width + 1) * size], width)
            };
            for (&column, &way) in places[row + 1..].iter().zip(ways) {
                let known = &mut mine[column - shift];
                *known = if way < *known { way } else { *known };
            }
        }
    }
}

/// Eliminate the steps of a front.
struct Eliminate<'a>(&'a mut Front);

impl pulp::WithSimd for Eliminate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let (width, size) = (self.0.width(), self.0.later.len());
        let stride = width + size;
        let Front { own, ways, .. } = self.0;
        for step in 0..width {
            let (before, after) = own.split_at_mut((step + 1) * stride);
            let through = &before[step * stride..];
            for (gap, row) in after.chunks_exact_mut(stride).enumerate() {
                let from = step + 1 + gap;
                lower(&mut row[from + 1..], &through[from + 1..], through[from]);
            }
        }
        for (row, ways) in ways.chunks_exact_mut(size.max(1)).enumerate() {
            shortest_ways(&mut ways[row + 1..], own, stride, width + row);
        }
    }
}

/// `row = min(row, through + weight)`.
#[inline(always)]
fn lower(row: &mut [f64], through: &[f64], weight: f64) {
    for (known, &way) in row.iter_mut().zip(through) {
        let way = way + weight;
        *known = if way < *known { way } else { *known };
    }
}

/// Ways from column `from` to all later columns through any row of `own`.
/// A block of them stays in registers while all rows pass.
#[inline(always)]
fn shortest_ways(ways: &mut [f64], own: &[f64], stride: usize, from: usize) {
    const BLOCK: usize = 16;
    let mut column = from + 1;
    let mut blocks = ways.chunks_exact_mut(BLOCK);
    for block in &mut blocks {
        let mut best = [f64::INFINITY; BLOCK];
        best.copy_from_slice(block);
        for row in own.chunks_exact(stride) {
            let weight = row[from];
            for (best, &way) in best.iter_mut().zip(&row[column..column + BLOCK]) {
                let way = way + weight;
                *best = if way < *best { way } else { *best };
            }
        }
        block.copy_from_slice(&best);
        column += BLOCK;
    }
    let rest = blocks.into_remainder();
    for row in own.chunks_exact(stride) {
        lower(rest, &row[column..], row[from]);
    }
}

/// The front turned round into positions.
fn finished(front: &Front, n: usize) -> Supernode {
    let (width, size) = (front.width(), front.later.len());
    let stride = width + size;
    let mut weights = Vec::with_capacity(width * size + width * (width - 1) / 2);
    for rank in (0..width).rev() {
        let row = &front.own[rank * stride..(rank + 1) * stride];
        weights.extend(row[rank + 1..].iter().rev());
    }
    Supernode {
        begin: n - 1 - front.last,
        end: n - front.first,
        uppers: front.later.iter().rev().map(|&step| (n - 1) as u32 - step).collect(),
        weights,
    }
}
