//! All pairs of any graph, each distance searched for from one of its ends only.
//!
//! Owns: the stored half of the distances by the batched kernel. Place: [`super::all_pairs`]
//! for graphs of any dimension; the twin that searches every panel anew is
//! [`super::Recomputed`]. Batches run in waves. To the sources of earlier waves
//! the distances of a wave are known by symmetry, and with them the best way to any other
//! node whose last step comes from an earlier source: one pass over the edges. What is
//! left to the queue are ways over several later nodes, and those are searched among the
//! later nodes alone. Hubs come first, so that soon few edges are left between later
//! nodes. Cost: a third of the relaxations of separate searches, and n²/2 copies.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::batched;
use super::dijkstra::PathGraph;
use super::run::make_symmetric;
use super::sources::Seed;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::packed::LANES;

/// Waves of a large graph: the sources of a wave do not know of one another, which makes
/// the first search in full and costs the later ones about one wave's worth.
const WAVES: usize = 32;

/// Fewest and most batches of a wave: as many threads have work, and so many times
/// `n` lanes are held.
const WIDTHS: (usize, usize) = (16, 32);

/// Batches in a wave of `panels`, whatever the number of threads.
fn width(panels: usize) -> usize {
    (panels / WAVES).clamp(WIDTHS.0, WIDTHS.1)
}

/// Bytes that the batches of a wave hold for `n` nodes.
pub(crate) fn bytes(n: usize) -> u64 {
    let wave = width(n.div_ceil(LANES)).min(n.div_ceil(LANES));
    ((wave * LANES * size_of::<f64>()) as f64 * n as f64) as u64
}

/// Nodes of many edges first, in classes of half an octave; inside a class the order of
/// the plan, in which batches are nearby nodes.
fn hubs_first(graph: &PathGraph) -> Vec<u32> {
    let class = |position: u32| (graph.row(position as usize).len().pow(2) | 1).ilog2();
    let mut order: Vec<u32> = (0..graph.len() as u32).collect();
    order.sort_by_key(|&position| Reverse(class(position)));
    order
}

/// What one batch of a wave finds, and works with.
#[derive(Default)]
struct Slot {
    lanes: Vec<[f64; LANES]>,
    seeds: Vec<Seed>,
    scratch: batched::Scratch,
}

/// All pairs into `panels`, all zeros so far; their order in positions of `graph`.
pub(super) fn all_pairs(
    graph: &PathGraph,
    mut panels: Vec<&mut [[f64; LANES]]>,
    ctx: &Ctx,
) -> Result<Vec<u32>> {
    let order = hubs_first(graph);
    let graph = &graph.reordered(&order);
    let width = width(panels.len());
    let mut slots: Vec<Slot> = (0..width.min(panels.len())).map(|_| Slot::default()).collect();
    for begin in (0..panels.len()).step_by(width) {
        let wave = &mut slots[..width.min(panels.len() - begin)];
        wave.par_iter_mut().enumerate().with_max_len(1).try_for_each(|(rank, slot)| {
            slot.search(graph, begin + rank, &panels[begin + rank][..begin * LANES], ctx)
        })?;
        // The first wave brings all panels into memory, which takes the system seconds.
        panels[begin..].par_iter_mut().enumerate().try_for_each(|(rank, panel)| {
            ctx.check()?;
            wave.iter().take(rank + 1).enumerate().for_each(|(batch, slot)| {
                slot.hand_on(begin + batch, begin + rank, panel);
            });
            if rank < width {
                make_symmetric(&mut panel[(begin + rank) * LANES..]);
            }
            Ok(())
        })?;
    }
    Ok(order)
}

impl Slot {
    /// The distances of the sources of panel `index` to all positions, `known` of them given.
    fn search(&mut self, graph: &PathGraph, index: usize, known: &[[f64; LANES]], ctx: &Ctx) -> Result<()> {
        ctx.check()?;
        let Slot { lanes, seeds, scratch } = self;
        let sources = index * LANES..((index + 1) * LANES).min(graph.len());
        lanes.clear();
        lanes.extend_from_slice(known);
        lanes.iter_mut().for_each(|lanes| lanes[sources.len()..].fill(f64::INFINITY));
        lanes.resize(graph.len(), [f64::INFINITY; LANES]);
        if known.is_empty() {
            seeds.clear();
            let at = |(lane, position)| Seed { lane, position: position as u32, distance: 0.0 };
            seeds.extend(sources.clone().enumerate().map(at));
            batched::solve(graph, seeds, lanes, scratch, ctx)?;
        } else {
            sources.clone().enumerate().for_each(|(lane, position)| lanes[position][lane] = 0.0);
            batched::complete(graph, known.len(), lanes, scratch, ctx)?;
        }
        ctx.advance(sources.len());
        Ok(())
    }

    /// What was found from the sources of panel `batch` to those of panel `index`: columns
    /// of that panel.
    fn hand_on(&self, batch: usize, index: usize, panel: &mut [[f64; LANES]]) {
        let n = self.lanes.len();
        let rows = &self.lanes[index * LANES..((index + 1) * LANES).min(n)];
        let columns = &mut panel[batch * LANES..((batch + 1) * LANES).min(n)];
        for (source, column) in columns.iter_mut().enumerate() {
            for (to, from) in column.iter_mut().zip(rows) {
                *to = from[source];
            }
        }
    }
}
