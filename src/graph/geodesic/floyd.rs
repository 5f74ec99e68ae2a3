//! Floyd and Warshall's recursion over a dense matrix, in blocks.
//!
//! Owns: the kernel for small dense graphs. Papers: Floyd 1962; the blocked
//! form of Venkataraman, Sahni and Mukhopadhyaya 2003. Cost: n³ additions, n²
//! numbers. All pairs are found when the plan is made; a run only reads them.

use rayon::prelude::*;

use super::sources::Seed;
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;
use crate::linalg::packed::LANES;

/// Rows and columns of a block: three of them stay in the first-level cache.
const BLOCK: usize = 32;

/// Distances between all pairs of nodes.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    n: usize,
    distances: Vec<f64>,
}

impl Dense {
    /// All pairs of `graph`.
    pub fn new(graph: &Graph, ctx: &Ctx) -> Result<Dense> {
        let n = graph.len();
        let need = (n as u64).saturating_mul(n as u64).saturating_mul(size_of::<f64>() as u64);
        let what = format!("the Floyd-Warshall matrix of {n} nodes");
        ctx.reserve(need, &what, "choose path method 'auto'")?;
        let mut distances = vec![f64::INFINITY; n * n];
        for (i, row) in distances.chunks_mut(n.max(1)).enumerate() {
            let (targets, weights) = graph.row(i);
            targets.iter().zip(weights).for_each(|(&j, &weight)| row[j as usize] = weight);
            row[i] = 0.0;
        }
        ctx.stage("shortest paths", n);
        for begin in (0..n).step_by(BLOCK) {
            pass_block(&mut distances, n, begin, ctx)?;
            ctx.advance(BLOCK.min(n - begin));
        }
        Ok(Dense { n, distances })
    }

    fn row(&self, node: usize) -> &[f64] {
        &self.distances[node * self.n..(node + 1) * self.n]
    }
}

/// Allow paths through nodes `begin..begin + BLOCK`.
fn pass_block(distances: &mut [f64], n: usize, begin: usize, ctx: &Ctx) -> Result<()> {
    let end = (begin + BLOCK).min(n);
    let middle = &mut distances[begin * n..end * n];
    pulp::Arch::new().dispatch(Through { middle, begin, n });
    let middle = middle.to_vec();
    distances.par_chunks_mut(BLOCK * n).enumerate().try_for_each(|(index, rows)| {
        ctx.check()?;
        if index * BLOCK != begin {
            pulp::Arch::new().dispatch(Around { rows, middle: &middle, begin, n });
        }
        Ok(())
    })
}

/// The rows of the block itself, through its own nodes one by one.
struct Through<'a> {
    middle: &'a mut [f64],
    begin: usize,
    n: usize,
}

impl pulp::WithSimd for Through<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Through { middle, begin, n } = self;
        for via in 0..middle.len() / n {
            let through = middle[via * n..(via + 1) * n].to_vec();
            for row in middle.chunks_exact_mut(n) {
                lower(row, &through, row[begin + via]);
            }
        }
    }
}

/// Other rows, through all nodes of the block.
struct Around<'a> {
    rows: &'a mut [f64],
    middle: &'a [f64],
    begin: usize,
    n: usize,
}

impl pulp::WithSimd for Around<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Around { rows, middle, begin, n } = self;
        let vias = middle.len() / n;
        for row in rows.chunks_exact_mut(n) {
            // The middle is closed under its own paths, so the ways into it are final at once.
            let into: Vec<f64> = row[begin..begin + vias].to_vec();
            lower_by_all(row, middle, n, &into);
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

/// `row = min(row, middle[via] + into[via])` over all vias; a stretch of the
/// row stays in registers while all of them pass.
#[inline(always)]
fn lower_by_all(row: &mut [f64], middle: &[f64], n: usize, into: &[f64]) {
    let (stretches, rest) = row.as_chunks_mut::<LANES>();
    let mut column = 0;
    for stretch in stretches {
        let mut best = *stretch;
        for (through, &weight) in middle.chunks_exact(n).zip(into) {
            let Some(through) = through[column..].first_chunk::<LANES>() else { break };
            for lane in 0..LANES {
                let way = through[lane] + weight;
                best[lane] = if way < best[lane] { way } else { best[lane] };
            }
        }
        *stretch = best;
        column += LANES;
    }
    for (through, &weight) in middle.chunks_exact(n).zip(into) {
        lower(rest, &through[column..], weight);
    }
}

/// Distances of all seeded lanes to nodes `0..lanes.len()`; `lanes` come infinite.
pub(super) fn solve(dense: &Dense, seeds: &[Seed], lanes: &mut [[f64; LANES]]) {
    for seed in seeds {
        let row = dense.row(seed.position as usize);
        for (lanes, &distance) in lanes.iter_mut().zip(row) {
            let known = &mut lanes[seed.lane];
            *known = known.min(seed.distance + distance);
        }
    }
}
