//! The graph after elimination, as dense blocks.
//!
//! Owns: supernodes (runs of steps with the same later neighbours) and the
//! weights between them: for every pair joined by elimination the shortest path
//! through what was eliminated before. Place: between `linalg::cholesky::elimination`
//! and [`super::sweep`]. Papers: customisable contraction hierarchies (Dibbelt,
//! Strasser and Wagner 2016), computed as a multifrontal Cholesky factorisation
//! (Duff and Reid 1983) with min for + and + for ×. Cost: half the sum over
//! nodes of (later neighbours)² vector operations / 4.
//!
//! Positions run against the steps: position 0 is eliminated last, so that
//! everything a node looks up to stands before it.

use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;
use crate::linalg::cholesky::elimination::{Elimination, ROOT};

/// Most nodes of a supernode: while its columns are eliminated they should stay
/// in the second-level cache. A wider one is a chain of these.
const WIDEST: usize = 64;

/// Columns handled at once; rows of a front are padded to a multiple of it.
const BLOCK: usize = 16;

/// Nodes `begin..end` (positions), all joined to `uppers` and to one another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Supernode<'a> {
    pub begin: usize,
    pub end: usize,
    /// Positions before `begin`, ascending.
    pub uppers: &'a [u32],
    /// For each node in turn its weights: to `uppers`, then to `begin..` itself.
    pub weights: &'a [f64],
}

impl<'a> Supernode<'a> {
    /// Weights of the node at `begin + place`: to `uppers`, then to the
    /// `place` nodes before it.
    #[inline(always)]
    pub fn weights_of(&self, place: usize) -> (&'a [f64], &'a [f64]) {
        let count = self.uppers.len();
        let start = place * count + place * place.saturating_sub(1) / 2;
        self.weights[start..start + count + place].split_at(count)
    }
}

/// All supernodes by ascending position, one after the other in memory as the
/// sweep reads them.
#[derive(Debug, Clone)]
pub(super) struct Supernodes {
    begins: Vec<usize>,
    upper_begins: Vec<usize>,
    weight_begins: Vec<usize>,
    uppers: Vec<u32>,
    weights: Vec<f64>,
    /// Position → supernode.
    of: Vec<u32>,
}

/// A supernode while it is being put together, in steps.
struct Front {
    first: usize,
    last: usize,
    /// Steps after `last`, ascending.
    later: Vec<u32>,
    /// One row per step of the supernode: weights to its own steps.
    own: Vec<f64>,
    /// One row per step of the supernode: weights to `later`, padded.
    out: Vec<f64>,
    /// One padded row per entry of `later`, of use above the diagonal: the ways
    /// from it to the others through this supernode.
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
        let mut blocks = Vec::with_capacity(count);
        // Additions, a million of them a step: the last supernodes have most of them.
        let later =
            |steps: std::ops::Range<usize>| steps.map(|step| u64::from(elimination.later[step]).pow(2));
        let work = |steps: std::ops::Range<usize>| later(steps).sum::<u64>();
        ctx.stage("contraction", (work(0..graph.len()) >> 20) as usize + 1);
        let mut done = 0;
        for index in 0..count {
            ctx.check()?;
            let after = done + work(bounds[index]..bounds[index + 1]);
            ctx.advance(((after >> 20) - (done >> 20)) as usize);
            done = after;
            let children = std::mem::take(&mut waiting[index]);
            let mut front =
                assemble(graph, elimination, bounds[index]..bounds[index + 1], &children, &mut place);
            pulp::Arch::new().dispatch(Eliminate(&mut front, ctx))?;
            blocks.push(Block::new(&front, graph.len()));
            if let Some(&above) = front.later.first() {
                (front.own, front.out) = (Vec::new(), Vec::new());
                waiting[of_step[above as usize] as usize].push(front);
            }
        }
        Ok(Supernodes::from_last(blocks, graph.len()))
    }

    /// Blocks from the last position to the first → from the first to the last.
    fn from_last(mut blocks: Vec<Block>, n: usize) -> Supernodes {
        let mut all = Supernodes {
            begins: Vec::with_capacity(blocks.len() + 1),
            upper_begins: vec![0],
            weight_begins: vec![0],
            uppers: Vec::with_capacity(blocks.iter().map(|block| block.uppers.len()).sum()),
            weights: Vec::with_capacity(blocks.iter().map(|block| block.weights.len()).sum()),
            of: vec![0; n],
        };
        while let Some(block) = blocks.pop() {
            all.of[block.begin..block.end].fill(all.begins.len() as u32);
            all.begins.push(block.begin);
            all.uppers.extend(block.uppers);
            all.weights.extend(block.weights);
            all.upper_begins.push(all.uppers.len());
            all.weight_begins.push(all.weights.len());
        }
        all.begins.push(n);
        all
    }

    /// Number of supernodes.
    pub fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// One supernode.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Supernode<'_> {
        Supernode {
            begin: self.begins[index],
            end: self.begins[index + 1],
            uppers: &self.uppers[self.upper_begins[index]..self.upper_begins[index + 1]],
            weights: &self.weights[self.weight_begins[index]..self.weight_begins[index + 1]],
        }
    }

    /// The supernode a position belongs to.
    pub fn of(&self, position: usize) -> usize {
        self.of[position] as usize
    }
}

/// First steps of the supernodes, and `n`: a step belongs with the one before
/// it when it is its parent and their later neighbours are the same.
fn boundaries(elimination: &Elimination) -> Vec<usize> {
    let Elimination { parent, later, .. } = elimination;
    let n = parent.len();
    let mut width = 0;
    let begins = |&step: &usize| {
        let joins = step > 0 && parent[step - 1] as usize == step && later[step - 1] == later[step] + 1;
        width = if joins && width < WIDEST { width + 1 } else { 1 };
        width == 1
    };
    (0..n).filter(begins).chain([n]).collect()
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
    let stride = later.len().next_multiple_of(BLOCK);
    let mut front = Front {
        first,
        last,
        own: vec![f64::INFINITY; width * width],
        out: vec![f64::INFINITY; width * stride],
        ways: vec![f64::INFINITY; later.len() * stride],
        later,
    };
    for (rank, step) in steps.clone().enumerate() {
        for (target, weight) in edges(step).filter(|&(target, _)| target as usize > step) {
            match place[target as usize] as usize {
                to if to < width => front.own[rank * width + to] = weight,
                to => front.out[rank * stride + to - width] = weight,
            }
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

    /// Entries of a padded row over `later`.
    fn stride(&self) -> usize {
        self.later.len().next_multiple_of(BLOCK)
    }

    /// Keep the shorter of what is known and what a child found.
    fn take_ways(&mut self, child: &Front, place: &[u32]) {
        let (width, stride) = (self.width(), self.stride());
        let places: Vec<usize> = child.later.iter().map(|&step| place[step as usize] as usize).collect();
        let inside = places.partition_point(|&to| to < width);
        for (row, &to) in places.iter().enumerate() {
            let ways = &child.ways[row * child.stride()..][..places.len()];
            let mine = if to < width {
                let own = &mut self.own[to * width..(to + 1) * width];
                keep_shorter(own, &places[..inside], &ways[..inside], 0, row + 1);
                &mut self.out[to * stride..(to + 1) * stride]
            } else {
                &mut self.ways[(to - width) * stride..(to - width + 1) * stride]
            };
            keep_shorter(mine, &places[inside..], &ways[inside..], width, (row + 1).saturating_sub(inside));
        }
    }
}

/// Lower `row[place - shift]` to `ways` for all places but the first `skip`.
fn keep_shorter(row: &mut [f64], places: &[usize], ways: &[f64], shift: usize, skip: usize) {
    for (&to, &way) in places.iter().zip(ways).skip(skip) {
        let known = &mut row[to - shift];
        *known = if way < *known { way } else { *known };
    }
}

/// Eliminate the steps of a front.
struct Eliminate<'a>(&'a mut Front, &'a Ctx);

impl pulp::WithSimd for Eliminate<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Result<()> {
        let (width, stride) = (self.0.width(), self.0.stride());
        let Front { own, out, ways, .. } = self.0;
        for step in 0..width {
            let (before, after) = own.split_at_mut((step + 1) * width);
            let (out_before, out_after) = out.split_at_mut((step + 1) * stride);
            for from in step + 1..width {
                let (row, out_row) = ((from - step - 1) * width, (from - step - 1) * stride);
                let weight = before[step * width + from];
                lower(&mut after[row + from + 1..row + width], &before[step * width + from + 1..], weight);
                lower(&mut out_after[out_row..out_row + stride], &out_before[step * stride..], weight);
            }
        }
        for column in (0..stride).step_by(BLOCK) {
            self.1.check()?;
            find_ways(ways, out, stride, column);
        }
        Ok(())
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

/// Ways from every entry of `later` to the block that begins at `column`,
/// through any step of the supernode. The block of `out` stays in the
/// first-level cache, the block of a row in registers.
#[inline(always)]
fn find_ways(ways: &mut [f64], out: &[f64], stride: usize, column: usize) {
    for (from, row) in ways.chunks_exact_mut(stride).enumerate().take(column + BLOCK) {
        let Some(block) = row[column..].first_chunk_mut::<BLOCK>() else { return };
        let mut best = *block;
        for through in out.chunks_exact(stride) {
            let Some(onward) = through[column..].first_chunk::<BLOCK>() else { return };
            let weight = through[from];
            for lane in 0..BLOCK {
                let way = onward[lane] + weight;
                best[lane] = if way < best[lane] { way } else { best[lane] };
            }
        }
        *block = best;
    }
}

/// A finished supernode on its own, see [`Supernode`].
struct Block {
    begin: usize,
    end: usize,
    uppers: Vec<u32>,
    weights: Vec<f64>,
}

impl Block {
    /// The front turned round into positions.
    fn new(front: &Front, n: usize) -> Block {
        let (width, stride, size) = (front.width(), front.stride(), front.later.len());
        let mut weights = Vec::with_capacity(width * size + width * (width - 1) / 2);
        for rank in (0..width).rev() {
            weights.extend(front.out[rank * stride..][..size].iter().rev());
            weights.extend(front.own[rank * width..(rank + 1) * width][rank + 1..].iter().rev());
        }
        Block {
            begin: n - 1 - front.last,
            end: n - front.first,
            uppers: front.later.iter().rev().map(|&step| (n - 1) as u32 - step).collect(),
            weights,
        }
    }
}
