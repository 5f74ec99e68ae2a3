//! Shortest-path trees: from which neighbour the shortest way from a source comes to a node.
//!
//! Owns: the trees of some sources, in two bytes for each source and node, and the
//! distances read back from them. Place: beside a plan's runs, for those who ask later for
//! the distances from the same sources to a few nodes. They belong to the [`Graph`] and
//! not to the plan, and can be saved with it.
//!
//! The labels of the `dijkstra` and `batched` kernels are left-to-right sums: that of a node
//! is its predecessor's plus the edge between them, to the bit. So a walk to the
//! source and back gives the label itself and not one near it; it is checked node by node
//! when a tree is made. Cost: a look at every edge to make one, a walk along the path to
//! read one distance, and never more than n steps for all nodes.

use ndarray::{Array2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use super::Batch;
use super::dijkstra::NODES_PER_CHECK;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::packed::LANES;

/// Where there is no step back: at the source, and where no path leads.
const NONE: u16 = u16::MAX;

/// For each source and node the entry of the node's row of the graph that is the last step
/// of the shortest path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathTrees {
    steps: Array2<u16>,
}

/// What reading reuses from one source to the next.
#[derive(Debug, Default)]
pub struct Walks {
    /// Distances of nodes; NaN where they are not known yet.
    known: Vec<f64>,
    /// The nodes that are.
    met: Vec<u32>,
    /// The way back from a node, with the lengths of its steps.
    trail: Vec<(u32, f64)>,
}

impl PathTrees {
    /// Bytes of the trees of `sources` sources.
    pub fn bytes(nodes: usize, sources: usize) -> u64 {
        (size_of::<u16>() as u64).saturating_mul(nodes as u64).saturating_mul(sources as u64)
    }

    /// Room for trees, a row for each source; `None` where a node has too many neighbours
    /// to number.
    pub fn room(graph: &Graph, sources: usize) -> Option<Array2<u16>> {
        let widest = graph.offsets().windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0);
        (widest < NONE as usize).then(|| PathTrees::blank(sources, graph.len()))
    }

    /// Room for trees, nothing found yet.
    pub fn blank(sources: usize, nodes: usize) -> Array2<u16> {
        Array2::from_elem((sources, nodes), NONE)
    }

    /// Trees that were found for every source.
    pub fn new(steps: Array2<u16>) -> PathTrees {
        PathTrees { steps }
    }

    /// Number of sources, number of nodes.
    pub fn dim(&self) -> (usize, usize) {
        self.steps.dim()
    }

    /// Distances from `sources` (up to [`LANES`]: the nodes of rows `first` and after) to
    /// some nodes.
    ///
    /// # Errors
    /// Trees of another graph, as a forged file may have them.
    pub fn distances(
        &self,
        graph: &Graph,
        (first, sources): (usize, &[u32]),
        nodes: &[u32],
        walks: &mut Walks,
    ) -> Result<Vec<[f64; LANES]>> {
        let mut lanes = vec![[f64::INFINITY; LANES]; nodes.len()];
        walks.known.resize(graph.len(), f64::NAN);
        for (lane, &source) in sources.iter().enumerate().take(LANES) {
            for (to, &node) in lanes.iter_mut().zip(nodes) {
                to[lane] = self.walk(graph, (first + lane, source), node, walks).ok_or_else(foreign)?;
            }
            walks.met.drain(..).for_each(|node| walks.known[node as usize] = f64::NAN);
        }
        Ok(lanes)
    }

    /// The distance of one node; `None` where there is no such tree.
    fn walk(&self, graph: &Graph, (row, source): (usize, u32), node: u32, walks: &mut Walks) -> Option<f64> {
        let Walks { known, met, trail } = walks;
        trail.clear();
        let mut here = node;
        let mut length = loop {
            let length = *known.get(here as usize)?;
            if !length.is_nan() {
                break length;
            }
            let step = *self.steps.get([row, here as usize])?;
            if step == NONE {
                let length = if here == source { 0.0 } else { f64::INFINITY };
                known[here as usize] = length;
                met.push(here);
                break length;
            }
            let (targets, weights) = graph.neighbors(here as usize)?;
            // A tree has no circles.
            if trail.len() == graph.len() {
                return None;
            }
            trail.push((here, *weights.get(step as usize)?));
            here = targets[step as usize];
        };
        for &(node, weight) in trail.iter().rev() {
            length += weight;
            known[node as usize] = length;
            met.push(node);
        }
        Some(length)
    }
}

fn foreign() -> Error {
    Error::Restore("its shortest-path trees do not fit its graph".into())
}

/// The trees of a batch into rows of `steps`, one for each of its sources (nodes). Whether
/// every distance is that of a neighbour and the edge between them, to the bit.
pub fn find_trees(
    graph: &Graph,
    batch: &Batch<'_>,
    sources: &[u32],
    mut steps: ArrayViewMut2<'_, u16>,
    ctx: &Ctx,
) -> Result<bool> {
    let mut open = Vec::new();
    for node in 0..graph.len() {
        if node % NODES_PER_CHECK == 0 {
            ctx.check()?;
        }
        let here = batch.node(node);
        let found = pulp::Arch::new().dispatch(Shorter { graph, batch, node, here });
        for (lane, &source) in sources.iter().enumerate() {
            let step = found[lane];
            if step >= 0.0 {
                steps[[lane, node]] = step as u16;
            } else if node != source as usize && here[lane] != f64::INFINITY {
                open.push((lane, node as u32));
            }
        }
    }
    Ok(settle_ties(graph, batch, sources, &open, steps))
}

/// For each lane the first neighbour by which the distance of a node comes and that is
/// nearer to the source; −1 where there is none.
struct Shorter<'a> {
    graph: &'a Graph,
    batch: &'a Batch<'a>,
    node: usize,
    here: &'a [f64; LANES],
}

impl pulp::WithSimd for Shorter<'_> {
    type Output = [f64; LANES];

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> [f64; LANES] {
        let Shorter { graph, batch, node, here } = self;
        let (targets, weights) = graph.row(node);
        let mut found = [-1.0; LANES];
        // Backwards: the first holds.
        for step in (0..targets.len()).rev() {
            let from = batch.node(targets[step] as usize);
            let (weight, number) = (weights[step], step as f64);
            for lane in 0..LANES {
                let comes = (from[lane] + weight == here[lane]) & (from[lane] < here[lane]);
                found[lane] = if comes { number } else { found[lane] };
            }
        }
        found
    }
}

/// The same for nodes no farther than where their way comes from, by a step of no length
/// or one that is lost in rounding: outwards from those that are settled, so that no
/// circle arises. Whether all are settled then.
fn settle_ties(
    graph: &Graph,
    batch: &Batch<'_>,
    sources: &[u32],
    open: &[(usize, u32)],
    mut steps: ArrayViewMut2<'_, u16>,
) -> bool {
    let comes = |lane: usize, from: u32, weight: f64, to: u32| {
        batch.node(from as usize)[lane] + weight == batch.node(to as usize)[lane]
    };
    let mut left = open.len();
    let mut fresh = Vec::new();
    for &(lane, node) in open {
        if steps[[lane, node as usize]] != NONE {
            continue;
        }
        let (targets, weights) = graph.row(node as usize);
        let by = targets.iter().zip(weights).position(|(&from, &weight)| {
            let settled = from == sources[lane] || steps[[lane, from as usize]] != NONE;
            settled && comes(lane, from, weight, node)
        });
        if let Some(step) = by {
            steps[[lane, node as usize]] = step as u16;
            left -= 1;
            fresh.push(node);
        }
        while let Some(node) = fresh.pop() {
            let (targets, weights) = graph.row(node as usize);
            for (&to, &weight) in targets.iter().zip(weights) {
                let is_open = to != sources[lane] && steps[[lane, to as usize]] == NONE;
                if is_open && comes(lane, node, weight, to) && batch.node(to as usize)[lane] != f64::INFINITY
                {
                    // proof: a graph holds every edge in both directions.
                    let Ok(back) = graph.row(to as usize).0.binary_search(&node) else { continue };
                    steps[[lane, to as usize]] = back as u16;
                    left -= 1;
                    fresh.push(to);
                }
            }
        }
    }
    left == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::geodesic::{PathMethod, Plan, Sources, for_each_batch, rows};
    use ndarray::s;
    use std::sync::Mutex;

    /// Every node joined to some after it and to the next; lengths by `length` of a number in 0..1.
    fn graph(n: usize, length: impl Fn(f64) -> f64, ctx: &Ctx) -> Graph {
        let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for node in 0..n {
            for step in [1, 3, 17, 40].into_iter().filter(|step| node + step < n) {
                targets.push((node + step) as u32);
                weights.push(length((((node * 7 + step) as f64) * 0.618_033_988_749_895).fract()));
            }
            offsets.push(targets.len());
        }
        Graph::from_csr(n, &offsets, &targets, &weights, ctx).unwrap()
    }

    fn trees(graph: &Graph, plan: &Plan, sources: &[u32], ctx: &Ctx) -> Option<PathTrees> {
        let all = Mutex::new(PathTrees::blank(sources.len(), graph.len()));
        let whole = Mutex::new(true);
        for_each_batch(plan, &Sources::nodes(sources), ctx, |batch| {
            let own: Vec<u32> = batch.sources().iter().map(|&at| sources[at as usize]).collect();
            let mut steps = PathTrees::blank(own.len(), graph.len());
            *whole.lock().unwrap() &= find_trees(graph, &batch, &own, steps.view_mut(), ctx)?;
            for (lane, &at) in batch.sources().iter().enumerate() {
                all.lock().unwrap().slice_mut(s![at as usize, ..]).assign(&steps.row(lane));
            }
            Ok(())
        })
        .unwrap();
        whole.into_inner().unwrap().then(|| PathTrees::new(all.into_inner().unwrap()))
    }

    #[test]
    fn a_walk_has_the_bits_of_the_search() {
        let ctx = Ctx::new(2, 0);
        let sources: Vec<u32> = (0..37).map(|at| at * 19 % 700).collect();
        let lengths: [fn(f64) -> f64; 4] = [
            |at| 0.1 + at,
            // Ties everywhere, and edges of no length.
            |at| (3.0 * at).floor(),
            // Lengths that are lost in sums.
            |at| if at < 0.5 { 1e-20 } else { 1.0 / 3.0 },
            |_| 0.0,
        ];
        for (kind, length) in lengths.into_iter().enumerate() {
            let graph = graph(700, length, &ctx);
            for method in [PathMethod::Heap, PathMethod::Batch] {
                let plan = Plan::new(&graph, method, sources.len(), None, &ctx).unwrap();
                let expected = rows(&plan, &Sources::nodes(&sources), &ctx).unwrap();
                let trees = trees(&graph, &plan, &sources, &ctx).expect("every label has its step");
                let mut walks = Walks::default();
                for nodes in [(0..700).collect::<Vec<u32>>(), vec![699], vec![3, 650, 651]] {
                    for first in (0..sources.len()).step_by(LANES) {
                        let own = &sources[first..(first + LANES).min(sources.len())];
                        let found = trees.distances(&graph, (first, own), &nodes, &mut walks).unwrap();
                        for (lane, row) in (first..first + own.len()).enumerate() {
                            for (node, lanes) in nodes.iter().zip(&found) {
                                assert_eq!(lanes[lane], expected[[row, *node as usize]], "lengths {kind}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn trees_of_another_graph_are_refused() {
        let ctx = Ctx::new(1, 0);
        let graph = graph(100, |at| 0.1 + at, &ctx);
        let read = |steps: Array2<u16>, node: u32| {
            let trees = PathTrees::new(steps);
            trees.distances(&graph, (0, &[5]), &[node], &mut Walks::default())
        };
        // Round and round between neighbours, past the last neighbour, too few nodes, too few sources.
        assert!(matches!(read(Array2::zeros((1, 100)), 50), Err(Error::Restore(_))));
        assert!(matches!(read(Array2::from_elem((1, 100), 99), 50), Err(Error::Restore(_))));
        assert!(matches!(read(PathTrees::blank(1, 50), 50), Err(Error::Restore(_))));
        assert!(matches!(read(PathTrees::blank(0, 100), 50), Err(Error::Restore(_))));
        assert!(matches!(read(PathTrees::blank(1, 100), 100), Err(Error::Restore(_))));
        assert_eq!(read(PathTrees::blank(1, 100), 50).unwrap()[0][0], f64::INFINITY);
        assert_eq!(read(PathTrees::blank(1, 100), 5).unwrap()[0][0], 0.0);
    }
}
