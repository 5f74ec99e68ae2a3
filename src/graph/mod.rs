//! One symmetric weighted graph, and whether it is in one piece.
//!
//! Owns: the CSR graph that `neighbors` (or a user) hands over and that the
//! kernels, the shortest paths and the eigensolvers read; its symmetry, its
//! components and the policy when there are several.
//! Place: after `neighbors`, before `kernel` and [`geodesic`].
//! Cost: assembling is O(n + m) in nodes and edges, with no comparison sort.

mod assemble;
mod components;
pub mod geodesic;
mod outliers;
mod shortcuts;

pub use components::{Components, Connected, Policy, components, connect};
pub use outliers::outliers;
pub use shortcuts::{Shortcut, shortcuts, warn_of_shortcuts};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::neighbors::{Link, Neighbors};
use assemble::Rows;

/// A symmetric graph with weights `>= 0`, in compressed rows.
///
/// Always true, also of a graph read back from a saved model: rows are sorted
/// by target without repeats, there are no self loops, every weight is finite
/// and not negative, and `(i, j)` is there with the same weight as `(j, i)`.
/// A weight of zero is a real edge: two equal points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rows", into = "Rows")]
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
    pub fn from_neighbors(neighbors: &Neighbors) -> Graph {
        let rows = Rows::from_neighbors(neighbors);
        rows.sorted().union().into_graph()
    }

    /// A graph of the user's: `indptr`, `indices`, `weights` as in SciPy's CSR.
    ///
    /// Rows may be ragged and unsorted. Self loops are dropped, repeated
    /// entries merged to the smaller, an edge given in one direction holds in
    /// both. Refused, naming the pair: weights that are negative or not finite,
    /// and two directions that differ by more than a relative 1e-8.
    pub fn from_csr(n: usize, indptr: &[usize], indices: &[u32], weights: &[f64]) -> Result<Graph> {
        let rows = Rows::from_csr(n, indptr, indices, weights)?.sorted();
        rows.refuse_asymmetry()?;
        Ok(rows.union().into_graph())
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

    /// Neighbours of node `i`, ascending, and the weights of the edges to them.
    ///
    /// # Panics
    /// If `i >= self.len()`, as indexing a slice does.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
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
    pub fn subgraph(&self, rows: &[u32]) -> Result<Graph> {
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
        let mut part = Rows::with_capacity(rows.len(), 0);
        for &row in rows {
            let (targets, weights) = self.row(row as usize);
            for (&target, &weight) in targets.iter().zip(weights) {
                let new = place[target as usize];
                if new != ABSENT {
                    part.push(new, weight);
                }
            }
            part.end_row();
        }
        Ok(part.sorted().into_graph())
    }

    /// The same edges with other lengths: `length(i, j, weight)`, which must be
    /// symmetric in i and j, finite and not negative.
    pub fn reweighted(&self, length: impl Fn(usize, usize, f64) -> f64) -> Result<Graph> {
        let mut weights = Vec::with_capacity(self.weights.len());
        for i in 0..self.len() {
            let (targets, old) = self.row(i);
            for (&j, &weight) in targets.iter().zip(old) {
                let new = length(i.min(j as usize), i.max(j as usize), weight);
                assemble::check_weight(i, j as usize, new)?;
                weights.push(new);
            }
        }
        Ok(Graph { offsets: self.offsets.clone(), targets: self.targets.clone(), weights })
    }

    /// The edges for which `holds(i, j, weight)`, which must be symmetric in i and j.
    pub fn only(&self, holds: impl Fn(usize, usize, f64) -> bool) -> Graph {
        let mut part = Rows::with_capacity(self.len(), self.targets.len());
        for i in 0..self.len() {
            let (targets, weights) = self.row(i);
            for (&j, &weight) in targets.iter().zip(weights) {
                if holds(i, j as usize, weight) {
                    part.push(j, weight);
                }
            }
            part.end_row();
        }
        part.into_graph()
    }

    /// This graph among `n` nodes, its node i being `rows[i]`, ascending; the
    /// others have no edges.
    pub fn spread_over(&self, rows: &[u32], n: usize) -> Result<Graph> {
        let sound = rows.len() == self.len()
            && rows.windows(2).all(|pair| pair[0] < pair[1])
            && rows.last().is_none_or(|&last| (last as usize) < n);
        if !sound {
            return Err(Error::input("rows of a larger graph must be ascending and within it"));
        }
        let mut wide = Rows::with_capacity(n, self.targets.len());
        let mut next = 0;
        for row in 0..n {
            if rows.get(next).is_some_and(|&own| own as usize == row) {
                let (targets, weights) = self.row(next);
                targets
                    .iter()
                    .zip(weights)
                    .for_each(|(&target, &weight)| wide.push(rows[target as usize], weight));
                next += 1;
            }
            wide.end_row();
        }
        Ok(wide.into_graph())
    }

    /// This graph with `links` added as edges (the smaller weight where there
    /// is one already). Links outside the graph or with a weight that is
    /// negative or not finite are refused.
    pub fn with_links(&self, links: &[Link]) -> Result<Graph> {
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
        let mut rows = Rows::with_capacity(n, self.targets.len() + links.len());
        for (i, row) in extra.iter().enumerate() {
            let (targets, weights) = self.row(i);
            targets.iter().zip(weights).for_each(|(&target, &weight)| rows.push(target, weight));
            row.iter().for_each(|&(target, weight)| rows.push(target, weight));
            rows.end_row();
        }
        Ok(rows.sorted().union().into_graph())
    }
}
