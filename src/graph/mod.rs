//! One symmetric weighted graph, and whether it is connected.
//!
//! Owns: the CSR graph that is made from `neighbors` (or given) and that the
//! kernels, the shortest paths and the eigensolvers read; its symmetry, its
//! components and the policy when there are several.
//! Place: after `neighbors`, before `kernel` and [`geodesic`].
//! Cost: assembling is O(n + m) in nodes and edges, with no comparison sort.

mod assemble;
mod closed_groups;
mod components;
mod conformal;
mod convert;
pub mod geodesic;
mod known_edges;
mod local_neighborhoods;
mod locate;
pub(crate) mod nearby;
mod neighborhood;
mod neighborhood_graph;
mod new_rows;
mod outliers;
mod search;
pub mod shortcuts;

pub use closed_groups::closed_groups;
pub use components::{Action, Components, Connected, Policy, components, connect};
pub use known_edges::KnownEdges;
pub use local_neighborhoods::{LocalNeeds, LocalNeighborhoods};
pub use locate::{Isolated, Locator, check_placeable};
pub use neighborhood::NeighborhoodParams;
pub use neighborhood_graph::NeighborhoodGraph;
pub use new_rows::NewRows;
pub use outliers::{Outliers, outliers};
pub use shortcuts::{shortcuts, warn_of_shortcuts, warn_of_widespread, widespread};

use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::csr::{CompressedRows, written_in_place};
use crate::neighbors::{Link, Neighbors};

/// A symmetric graph with weights `>= 0`, in compressed rows.
///
/// Always true, also of a graph read back from a saved model: rows are sorted
/// by target without repeats, there are no self loops, every weight is finite
/// and not negative, and `(i, j)` is there with the same weight as `(j, i)`.
/// A weight of zero is a real edge: two equal points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CompressedRows", into = "CompressedRows")]
pub struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
}

impl Graph {
    /// The union of both directions of a neighbour search among the same points.
    ///
    /// Where the two directions disagree the smaller distance holds. Entries
    /// that name the row itself or a row that does not exist are left out.
    pub(crate) fn from_neighbors(neighbors: &Neighbors, ctx: &Ctx) -> Result<Graph> {
        Ok(CompressedRows::from_neighbors(neighbors, ctx)?.union(ctx)?.into_graph())
    }

    /// A graph of the user's: `indptr`, `indices`, `weights` as in SciPy's CSR.
    ///
    /// Rows may be ragged and unsorted. Self loops are dropped, repeated
    /// entries merged to the smaller, an edge given in one direction holds in
    /// both. Refused, naming the pair: weights that are negative or not finite,
    /// and two directions that differ by more than a relative 1e-8.
    pub fn from_csr(
        n: usize,
        indptr: &[usize],
        indices: &[u32],
        weights: &[f64],
        ctx: &Ctx,
    ) -> Result<Graph> {
        Ok(CompressedRows::from_csr(n, indptr, indices, weights, ctx)?.union_of_equals(ctx)?.into_graph())
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of edges, each counted once.
    pub fn edge_count(&self) -> usize {
        self.targets.len() / 2
    }

    /// Neighbours of node `i`, ascending, and the weights of the edges to them; `None`
    /// when there is no such node.
    pub fn neighbors(&self, i: usize) -> Option<(&[u32], &[f64])> {
        (i < self.len()).then(|| self.row(i))
    }

    /// Neighbours of node `i`, which exists, and the weights of the edges to them.
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.targets[range.clone()], &self.weights[range])
    }

    /// Row `i` is `offsets()[i]..offsets()[i + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The targets of all rows, one after the other.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The weights that belong to [`Graph::targets`].
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The graph between `rows` alone; node `i` of the result is `rows[i]`.
    pub(crate) fn subgraph(&self, rows: &[u32], ctx: &Ctx) -> Result<Graph> {
        const ABSENT: u32 = u32::MAX;
        let mut place = vec![ABSENT; self.len()];
        for (new, &row) in rows.iter().enumerate() {
            match place.get_mut(row as usize) {
                Some(slot) if *slot == ABSENT => *slot = new as u32,
                Some(_) => return Err(Error::input(format!("row {row} is asked for twice"))),
                None => {
                    return Err(Error::input(format!("row {row}: the graph has {} rows", self.len())));
                }
            }
        }
        let part = CompressedRows::written(rows.len(), self.usual_degree(), ctx, |i, part| {
            let (targets, weights) = self.row(rows[i] as usize);
            for (&target, &weight) in targets.iter().zip(weights) {
                let new = place[target as usize];
                if new != ABSENT {
                    part.push(new, weight);
                }
            }
            Ok(())
        })?;
        Ok(part.into_graph())
    }

    fn usual_degree(&self) -> usize {
        self.targets.len() / self.len().max(1) + 1
    }

    /// The same edges with other lengths: `length(i, j, weight)`, which must be
    /// symmetric in i and j, finite and not negative.
    pub(crate) fn reweighted(
        &self,
        ctx: &Ctx,
        length: impl Fn(usize, usize, f64) -> f64 + Sync,
    ) -> Result<Graph> {
        let weights = written_in_place(&self.offsets, ctx, |i, slots| {
            let (targets, old) = self.row(i);
            for ((slot, &j), &weight) in slots.iter_mut().zip(targets).zip(old) {
                *slot = length(i.min(j as usize), i.max(j as usize), weight);
                assemble::check_weight(i, j as usize, *slot)?;
            }
            Ok(())
        })?;
        Ok(Graph { offsets: self.offsets.clone(), targets: self.targets.clone(), weights })
    }

    /// The same edges in another unit: `length(weight)`, finite and not negative.
    pub(crate) fn rescaled(&self, length: impl Fn(f64) -> f64) -> Result<Graph> {
        let weights: Vec<f64> = self.weights.iter().map(|&weight| length(weight)).collect();
        if let Some(bad) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            let row = self.offsets.partition_point(|&begin| begin <= bad) - 1;
            assemble::check_weight(row, self.targets[bad] as usize, weights[bad])?;
        }
        Ok(Graph { offsets: self.offsets.clone(), targets: self.targets.clone(), weights })
    }

    /// The edges for which `holds(i, j, weight)`, which must be symmetric in i and j.
    pub(crate) fn only(&self, ctx: &Ctx, holds: impl Fn(usize, usize, f64) -> bool + Sync) -> Result<Graph> {
        let part = CompressedRows::written(self.len(), self.usual_degree(), ctx, |i, part| {
            let (targets, weights) = self.row(i);
            let held = targets.iter().zip(weights).filter(|&(&j, &weight)| holds(i, j as usize, weight));
            held.for_each(|(&j, &weight)| part.push(j, weight));
            Ok(())
        })?;
        Ok(part.into_graph())
    }

    /// This graph among `n` nodes, its node i being `rows[i]`, ascending; the
    /// others have no edges.
    pub(crate) fn spread_over(&self, rows: &[u32], n: usize) -> Result<Graph> {
        let sound = rows.len() == self.len()
            && rows.windows(2).all(|pair| pair[0] < pair[1])
            && rows.last().is_none_or(|&last| (last as usize) < n);
        if !sound {
            return Err(Error::input("rows of a larger graph must be ascending and within it"));
        }
        let mut offsets = vec![0; n + 1];
        for (&row, ends) in rows.iter().zip(self.offsets.windows(2)) {
            offsets[row as usize + 1] = ends[1] - ends[0];
        }
        (0..n).for_each(|row| offsets[row + 1] += offsets[row]);
        let targets = self.targets.iter().map(|&target| rows[target as usize]).collect();
        Ok(Graph { offsets, targets, weights: self.weights.clone() })
    }

    /// This graph with `links` added as edges (the smaller weight where there
    /// is one already). Links outside the graph or with a weight that is
    /// negative or not finite are refused.
    pub(crate) fn with_links(&self, links: &[Link], ctx: &Ctx) -> Result<Graph> {
        let n = self.len();
        let mut extra = vec![Vec::new(); n];
        for link in links {
            let (from, to) = (link.from as usize, link.to as usize);
            if from >= n || to >= n {
                return Err(Error::input(format!("link ({from}, {to}): the graph has {n} rows")));
            }
            assemble::check_weight(from, to, link.distance)?;
            if from != to {
                extra[from].push((link.to, link.distance));
            }
        }
        let rows = CompressedRows::written(n, self.usual_degree(), ctx, |i, rows| {
            let (targets, weights) = self.row(i);
            targets.iter().zip(weights).for_each(|(&target, &weight)| rows.push(target, weight));
            extra[i].iter().for_each(|&(target, weight)| rows.push(target, weight));
            Ok(())
        })?;
        Ok(rows.union(ctx)?.into_graph())
    }
}
