//! Running a plan: batches in parallel, results as rows, as a stream, or as the
//! half of all pairs, packed or recomputed.
//!
//! Owns: threads, memory checks and progress of the shortest paths. Place: the
//! only caller of the kernels. Cost: that of the kernel times S / 16 batches,
//! and one `[f64; 16]` per node and thread.

use std::ops::Range;
use std::sync::Mutex;

use ndarray::{Array2, ArrayViewMut2};
use rayon::prelude::*;

use super::plan::{Kernel, Plan};
use super::sources::{Seed, Sources};
use super::{batched, dijkstra, floyd, sweep, waves};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::packed::{Band, Fixed48, HalfMatrix, LANES, PackedDistances, Stored, unit_of_fixed48};

/// The distances of up to [`LANES`] sources to all nodes.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    plan: &'a Plan,
    sources: &'a [u32],
    distances: &'a [[f64; LANES]],
}

impl<'a> Batch<'a> {
    /// Which source each lane is, as an index into the [`Sources`]; lanes past
    /// its end mean nothing.
    pub fn sources(&self) -> &'a [u32] {
        self.sources
    }

    /// Distances by position (see [`Plan::order`]), one lane per source;
    /// infinite where there is no path.
    pub fn distances(&self) -> &'a [[f64; LANES]] {
        self.distances
    }

    /// The distances of all lanes to one node.
    pub fn node(&self, node: usize) -> &'a [f64; LANES] {
        &self.distances[self.plan.position[node] as usize]
    }
}

/// What one thread reuses from batch to batch.
#[derive(Default)]
struct Scratch {
    seeds: Vec<Seed>,
    lanes: Vec<[f64; LANES]>,
    kernels: Kernels,
}

#[derive(Default)]
struct Kernels {
    heap: dijkstra::Scratch,
    batch: batched::Scratch,
    sweep: sweep::Scratch,
}

impl Kernels {
    /// Run the plan's kernel from `seeds` into `lanes`, all infinite so far and
    /// [`Plan::reach`] many.
    fn solve(&mut self, plan: &Plan, seeds: &[Seed], lanes: &mut [[f64; LANES]], ctx: &Ctx) -> Result<()> {
        ctx.check()?;
        match &plan.kernel {
            Kernel::Heap(graph) => dijkstra::solve(graph, seeds, lanes, &mut self.heap, ctx),
            Kernel::Batch(graph) => batched::solve(graph, seeds, lanes, &mut self.batch, ctx),
            Kernel::Sweep(graph) => sweep::solve(graph, seeds, lanes, &mut self.sweep, ctx),
            Kernel::Floyd(dense) => {
                floyd::solve(dense, seeds, lanes);
                Ok(())
            }
        }
    }
}

impl Scratch {
    /// The distances of one batch to all positions.
    fn run(&mut self, plan: &Plan, sources: &Sources, batch: &[u32], ctx: &Ctx) -> Result<&[[f64; LANES]]> {
        sources.seeds_of(batch, &plan.position, &mut self.seeds);
        self.lanes.clear();
        self.lanes.resize(plan.len(), [f64::INFINITY; LANES]);
        self.kernels.solve(plan, &self.seeds, &mut self.lanes, ctx)?;
        Ok(&self.lanes)
    }

    /// The same where only distances to the positions that made `wanted` mean anything.
    fn run_to(
        &mut self,
        plan: &Plan,
        sources: &Sources,
        (batch, wanted): (&[u32], &[u32]),
        ctx: &Ctx,
    ) -> Result<&[[f64; LANES]]> {
        let Kernel::Sweep(graph) = &plan.kernel else { return self.run(plan, sources, batch, ctx) };
        ctx.check()?;
        sources.seeds_of(batch, &plan.position, &mut self.seeds);
        if self.lanes.len() == plan.len() {
            self.kernels.sweep.blank(graph, wanted, &mut self.lanes);
        } else {
            self.lanes = vec![[f64::INFINITY; LANES]; plan.len()];
        }
        let scratch = &mut self.kernels.sweep;
        sweep::solve_to(graph, &self.seeds, Some(wanted), &mut self.lanes, scratch, ctx)?;
        Ok(&self.lanes)
    }
}

/// Distances from every source (rows) to every node (columns); infinite where
/// there is no path.
pub fn rows(plan: &Plan, sources: &Sources, ctx: &Ctx) -> Result<Array2<f64>> {
    let (count, n) = (sources.len(), plan.len());
    let need = (count as u64).saturating_mul(n as u64).saturating_mul(size_of::<f64>() as u64);
    let what = format!("the distances from {count} sources to {n} nodes");
    ctx.reserve(need, &what, "run fewer sources at a time")?;
    let mut distances = Array2::zeros((count, n));
    rows_into(plan, sources, distances.view_mut(), ctx)?;
    Ok(distances)
}

/// The same into memory of the caller's, one contiguous row for each source.
pub fn rows_into(plan: &Plan, sources: &Sources, out: ArrayViewMut2<'_, f64>, ctx: &Ctx) -> Result<()> {
    let (count, n) = (sources.len(), plan.len());
    if out.dim() != (count, n) {
        let (rows, columns) = out.dim();
        return Err(Error::input(format!(
            "room for {rows} × {columns} distances, but there are {count} × {n}"
        )));
    }
    sources.check(n)?;
    let Some(distances) = out.into_slice() else {
        return Err(Error::input("the room for distances must be contiguous, row by row"));
    };
    if distances.is_empty() {
        return Ok(());
    }
    ctx.install(|| {
        let mut by_source: Vec<Option<&mut [f64]>> = distances.chunks_mut(n).map(Some).collect();
        let ids = grouped(plan, sources)?;
        let jobs: Vec<(&[u32], Vec<&mut [f64]>)> = ids
            .chunks(LANES)
            .map(|batch| (batch, batch.iter().filter_map(|&id| by_source[id as usize].take()).collect()))
            .collect();
        ctx.stage("shortest paths", count);
        jobs.into_par_iter().try_for_each_init(Scratch::default, |scratch, (batch, mut rows)| {
            scatter(scratch.run(plan, sources, batch, ctx)?, &plan.position, &mut rows);
            ctx.advance(batch.len());
            Ok(())
        })
    })
}

/// Lanes by position → rows by node.
fn scatter(lanes: &[[f64; LANES]], position: &[u32], rows: &mut [&mut [f64]]) {
    for (node, &place) in position.iter().enumerate() {
        for (row, &distance) in rows.iter_mut().zip(&lanes[place as usize]) {
            row[node] = distance;
        }
    }
}

/// Hand the distances to `visit` batch by batch, storing none. The caller announces
/// the stage; a source is a step of it.
///
/// `visit` runs on several threads at once and in no fixed order; for a result
/// that is the same on every run it must put things where the source says
/// (its index), not where the call comes.
pub fn for_each_batch(
    plan: &Plan,
    sources: &Sources,
    ctx: &Ctx,
    visit: impl Fn(Batch<'_>) -> Result<()> + Sync + Send,
) -> Result<()> {
    ctx.install(|| {
        let ids = grouped(plan, sources)?;
        ids.par_chunks(LANES).try_for_each_init(Scratch::default, |scratch, batch| {
            let distances = scratch.run(plan, sources, batch, ctx)?;
            visit(Batch { plan, sources: batch, distances })?;
            ctx.advance(batch.len());
            Ok(())
        })
    })
}

/// The same for the distances to some nodes only; those to others mean nothing. Where the
/// plan sweeps, the cost goes with the ancestors of the nodes.
pub fn for_each_batch_to(
    plan: &Plan,
    sources: &Sources,
    nodes: &[u32],
    ctx: &Ctx,
    visit: impl Fn(Batch<'_>) -> Result<()> + Sync + Send,
) -> Result<()> {
    if nodes.iter().any(|&node| node as usize >= plan.len()) {
        return Err(Error::input("distances are asked for to a node that the graph does not have"));
    }
    ctx.install(|| {
        let ids = grouped(plan, sources)?;
        let wanted = match &plan.kernel {
            Kernel::Sweep(graph) => {
                sweep::ancestors(graph, nodes.iter().map(|&node| plan.position[node as usize] as usize))
            }
            _ => Vec::new(),
        };
        ids.par_chunks(LANES).try_for_each_init(Scratch::default, |scratch, batch| {
            let distances = scratch.run_to(plan, sources, (batch, &wanted), ctx)?;
            visit(Batch { plan, sources: batch, distances })?;
            ctx.advance(batch.len());
            Ok(())
        })
    })
}

fn grouped(plan: &Plan, sources: &Sources) -> Result<Vec<u32>> {
    if sources.len() > u32::MAX as usize {
        return Err(Error::input("more sources than a run can number; run fewer at a time"));
    }
    sources.check(plan.len())?;
    Ok(sources.grouped(&plan.position))
}

/// The distances between all nodes, packed by symmetry and stored as `T`.
///
/// On the batched kernel those in double precision are built on one another: of the
/// distances computed separately (`f32`, [`Recomputed`]) they may differ in the last bit.
pub fn all_pairs<T: Stored>(plan: &Plan, ctx: &Ctx) -> Result<PackedDistances<T>> {
    pairs_in_units(plan, 1.0, ctx)
}

/// The same as whole numbers of a unit that is chosen by the longest way there may be;
/// `None` where some nodes are joined by none.
pub fn fixed_pairs(plan: &Plan, ctx: &Ctx) -> Result<Option<PackedDistances<Fixed48>>> {
    let far = rows(plan, &Sources::nodes(&plan.order[..plan.len().min(1)]), ctx)?;
    // From any node to the first one and on, and what the sums are rounded by.
    let longest = 2.0 * (1.0 + 1e-9) * far.iter().fold(0.0, |far: f64, &way| far.max(way));
    if !longest.is_finite() {
        return Ok(None);
    }
    pairs_in_units(plan, unit_of_fixed48(longest), ctx).map(Some)
}

fn pairs_in_units<T: Stored>(plan: &Plan, unit: f64, ctx: &Ctx) -> Result<PackedDistances<T>> {
    let n = plan.len();
    let what = format!("the distances between all pairs of {n} points");
    let hint = "use landmarks (LandmarkIsomap), or recompute the distances (storage='recompute')";
    let by_waves = matches!(plan.kernel, Kernel::Batch(_)) && T::as_wide(&mut []).is_some();
    let waves = if by_waves { waves::bytes(n) } else { 0 };
    ctx.reserve(PackedDistances::<T>::bytes(n) + waves, &what, hint)?;
    ctx.stage("shortest paths", n);
    let mut packed = PackedDistances::<T>::zeros(n, unit)?;
    let panels = packed.panels_mut();
    if let (Kernel::Batch(graph), true) = (&plan.kernel, by_waves) {
        let panels = panels.into_iter().filter_map(T::as_wide).collect();
        let order = ctx.install(|| waves::all_pairs(graph, panels, ctx))?;
        return Ok(packed.in_order(order.iter().map(|&position| plan.order[position as usize]).collect()));
    }
    // Lent from panel to panel: room that is taken anew for each of them costs as much as
    // what is kept.
    let idle: Mutex<Vec<Scratch>> = Mutex::default();
    let lent = || idle.lock().unwrap_or_else(|held| held.into_inner());
    let fill = |(index, stored): (usize, &mut [[T; LANES]])| {
        let mut scratch = lent().pop().unwrap_or_default();
        scratch.lanes.reserve_exact(n - scratch.lanes.len());
        scratch.panel(plan, index, ctx)?;
        T::keep(&scratch.lanes, unit, stored);
        lent().push(scratch);
        ctx.advance(LANES.min(n - index * LANES));
        Ok(())
    };
    // Panels are taken one by one: their lengths differ too much to be split evenly.
    ctx.install(|| panels.into_par_iter().enumerate().with_max_len(1).try_for_each(fill))?;
    Ok(packed.in_order(plan.order.clone()))
}

/// The distances between all nodes, computed again each time they are read: exact,
/// and never more than a few panels in memory.
#[derive(Debug, Clone, Copy)]
pub struct Recomputed<'a>(pub &'a Plan);

impl HalfMatrix for Recomputed<'_> {
    fn order(&self) -> &[u32] {
        &self.0.order
    }

    fn visit(
        &self,
        panels: Range<usize>,
        ctx: &Ctx,
        use_band: &mut dyn FnMut(usize, Band<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        for index in panels {
            scratch.panel(self.0, index, ctx)?;
            use_band(index, Band::Wide(&[&scratch.lanes]))?;
        }
        Ok(())
    }
}

impl Scratch {
    /// Panel `index` of all pairs: its rows against all columns up to its own.
    fn panel(&mut self, plan: &Plan, index: usize, ctx: &Ctx) -> Result<()> {
        let begin = index * LANES;
        let end = (begin + LANES).min(plan.len());
        self.seeds.clear();
        self.seeds.extend((begin..end).map(|position| Seed {
            lane: position - begin,
            position: position as u32,
            distance: 0.0,
        }));
        self.lanes.clear();
        self.lanes.reserve_exact(plan.reach(end));
        self.lanes.resize(plan.reach(end), [f64::INFINITY; LANES]);
        self.kernels.solve(plan, &self.seeds, &mut self.lanes, ctx)?;
        self.lanes.truncate(end);
        for lanes in &mut self.lanes {
            lanes[end - begin..].fill(0.0);
        }
        make_symmetric(&mut self.lanes[begin..]);
        Ok(())
    }
}

/// The two directions of a pair may differ in the last bit; the smaller holds.
pub(super) fn make_symmetric(block: &mut [[f64; LANES]]) {
    for a in 0..block.len() {
        for b in 0..a {
            let smaller = block[a][b].min(block[b][a]);
            block[a][b] = smaller;
            block[b][a] = smaller;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::graph::geodesic::PathMethod;

    #[test]
    fn distances_to_some_nodes_are_those_to_all() {
        let (ctx, side) = (Ctx::new(2, 0), 40_usize);
        let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for node in 0..side * side {
            let right = (node % side + 1 < side).then_some(node + 1);
            for next in right.into_iter().chain((node + side < side * side).then_some(node + side)) {
                targets.push(next as u32);
                weights.push(1.0 + ((node + next) as f64 * 0.618_033_988_749_895).fract());
            }
            offsets.push(targets.len());
        }
        let graph = Graph::from_csr(side * side, &offsets, &targets, &weights, &ctx).unwrap();
        // More batches than threads, so that lanes are used again.
        let sources: Vec<u32> = (0..150).map(|at| at * 101 % 1600).collect();
        for method in [PathMethod::Sweep, PathMethod::Heap, PathMethod::Batch] {
            let plan = Plan::new(&graph, method, sources.len(), None, &ctx).unwrap();
            let all = rows(&plan, &Sources::nodes(&sources), &ctx).unwrap();
            for nodes in [vec![777], vec![3, 1599, 3, 820], (0..1600).collect()] {
                for_each_batch_to(&plan, &Sources::nodes(&sources), &nodes, &ctx, |batch| {
                    for (lane, &source) in batch.sources().iter().enumerate() {
                        for &node in &nodes {
                            let (found, node) = (batch.node(node as usize)[lane], node as usize);
                            assert_eq!(found, all[[source as usize, node]], "{method:?}, {node}");
                        }
                    }
                    Ok(())
                })
                .unwrap();
            }
            let outside = for_each_batch_to(&plan, &Sources::nodes(&sources), &[1600], &ctx, |_| Ok(()));
            assert!(outside.is_err());
        }
    }
}
