//! From loose rows to a [`Graph`]: sorting, merging, symmetry, refusals.
//!
//! Owns: every way a graph is put together. Place: between `neighbors` (or a
//! user's arrays) and the rest of `graph`. Cost: O(n + m); rows are sorted by
//! transposing twice, since a transpose lists its rows in ascending order.

use serde::{Deserialize, Serialize};

use super::Graph;
use crate::error::{Error, Result};
use crate::neighbors::Neighbors;

/// Largest relative difference of the two directions of a user's edge that
/// counts as rounding.
const ASYMMETRY: f64 = 1e-8;

/// Compressed rows with nothing promised but that targets exist.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename = "Graph")]
pub(super) struct Rows {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
}

/// Refuse a weight no path length can be made of.
pub(super) fn check_weight(i: usize, j: usize, weight: f64) -> Result<()> {
    if weight.is_finite() && weight >= 0.0 {
        return Ok(());
    }
    Err(Error::input(format!(
        "graph edge ({i}, {j}) has weight {weight}: weights must be finite and not negative; \
         leave out an edge that is not there"
    )))
}

impl Rows {
    pub(super) fn with_capacity(n: usize, entries: usize) -> Rows {
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        Rows { offsets, targets: Vec::with_capacity(entries), weights: Vec::with_capacity(entries) }
    }

    /// One more entry of the row being written.
    pub(super) fn push(&mut self, target: u32, weight: f64) {
        self.targets.push(target);
        self.weights.push(weight);
    }

    /// The row being written is complete.
    pub(super) fn end_row(&mut self) {
        self.offsets.push(self.targets.len());
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.targets[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    pub(super) fn from_neighbors(neighbors: &Neighbors) -> Rows {
        let n = neighbors.offsets.len().saturating_sub(1);
        let mut rows = Rows::with_capacity(n, neighbors.indices.len());
        for (i, bounds) in neighbors.offsets.windows(2).enumerate() {
            let indices = neighbors.indices.get(bounds[0]..bounds[1]).unwrap_or_default();
            let distances = neighbors.distances.get(bounds[0]..bounds[1]).unwrap_or_default();
            for (&j, &distance) in indices.iter().zip(distances) {
                if j as usize != i && (j as usize) < n && distance.is_finite() && distance >= 0.0 {
                    rows.push(j, distance);
                }
            }
            rows.end_row();
        }
        rows
    }

    pub(super) fn from_csr(n: usize, indptr: &[usize], indices: &[u32], weights: &[f64]) -> Result<Rows> {
        if n >= u32::MAX as usize {
            return Err(Error::input(format!(
                "a graph of {n} nodes is too large; the most is {}",
                u32::MAX - 1
            )));
        }
        if indptr.len() != n + 1 || indptr[0] != 0 || indptr[n] != indices.len() {
            return Err(Error::input(format!(
                "graph of {n} nodes: `indptr` must have {} entries, from 0 to {}, the number of indices",
                n + 1,
                indices.len()
            )));
        }
        if weights.len() != indices.len() {
            let (got, need) = (weights.len(), indices.len());
            return Err(Error::input(format!("graph: {got} weights for {need} indices")));
        }
        let mut rows = Rows::with_capacity(n, indices.len());
        for i in 0..n {
            let (begin, end) = (indptr[i], indptr[i + 1]);
            if begin > end || end > indices.len() {
                return Err(Error::input(format!("graph: `indptr` falls from {begin} to {end} at row {i}")));
            }
            for (&j, &weight) in indices[begin..end].iter().zip(&weights[begin..end]) {
                if j as usize >= n {
                    return Err(Error::input(format!("graph row {i} names node {j}; there are {n} nodes")));
                }
                check_weight(i, j as usize, weight)?;
                if j as usize != i {
                    rows.push(j, weight);
                }
            }
            rows.end_row();
        }
        Ok(rows)
    }

    /// Rows turned into columns; each row of the result ascends.
    fn transposed(&self) -> Rows {
        let n = self.len();
        let mut offsets = vec![0usize; n + 1];
        for &target in &self.targets {
            offsets[target as usize + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; self.targets.len()];
        let mut weights = vec![0.0; self.targets.len()];
        for i in 0..n {
            for (target, weight) in self.row(i) {
                let slot = &mut next[target as usize];
                targets[*slot] = i as u32;
                weights[*slot] = weight;
                *slot += 1;
            }
        }
        Rows { offsets, targets, weights }
    }

    /// The same entries with every row ascending, repeats merged to the smaller.
    pub(super) fn sorted(&self) -> Rows {
        let ascending = self.transposed().transposed();
        let mut rows = Rows::with_capacity(self.len(), self.targets.len());
        for i in 0..ascending.len() {
            ascending.row(i).for_each(|(target, weight)| rows.push_merged(target, weight));
            rows.end_row();
        }
        rows
    }

    /// One more entry of an ascending row; of a repeated target the smaller weight stays.
    fn push_merged(&mut self, target: u32, weight: f64) {
        let begin = self.offsets.last().copied().unwrap_or(0);
        match (self.targets[begin..].last(), self.weights.last_mut()) {
            (Some(&last), Some(kept)) if last == target => *kept = kept.min(weight),
            _ => self.push(target, weight),
        }
    }

    /// Both directions of every entry, the smaller weight where both are given.
    /// Rows must ascend.
    pub(super) fn union(&self) -> Rows {
        let reverse = self.transposed();
        let mut rows = Rows::with_capacity(self.len(), self.targets.len() * 2);
        for i in 0..self.len() {
            let mut theirs = reverse.row(i).peekable();
            for (target, weight) in self.row(i) {
                while let Some((before, other)) = theirs.next_if(|entry| entry.0 <= target) {
                    rows.push_merged(before, other);
                }
                rows.push_merged(target, weight);
            }
            theirs.for_each(|(target, weight)| rows.push_merged(target, weight));
            rows.end_row();
        }
        rows
    }

    /// Refuse edges whose two directions were both given and differ. Rows must
    /// ascend without repeats.
    pub(super) fn refuse_asymmetry(&self) -> Result<()> {
        let reverse = self.transposed();
        for i in 0..self.len() {
            let mut theirs = reverse.row(i).peekable();
            for (target, weight) in self.row(i) {
                while theirs.next_if(|other| other.0 < target).is_some() {}
                let Some((_, other)) = theirs.next_if(|other| other.0 == target) else { continue };
                if (weight - other).abs() > ASYMMETRY * weight.max(other) {
                    return Err(Error::input(format!(
                        "the graph is not symmetric: edge ({i}, {target}) has weight {weight}, \
                         edge ({target}, {i}) has weight {other}; give both the same, or one of them"
                    )));
                }
            }
        }
        Ok(())
    }

    /// The graph of rows that are sorted, merged and symmetric.
    pub(super) fn into_graph(self) -> Graph {
        Graph { offsets: self.offsets, targets: self.targets, weights: self.weights }
    }
}

impl From<Graph> for Rows {
    fn from(graph: Graph) -> Rows {
        Rows { offsets: graph.offsets, targets: graph.targets, weights: graph.weights }
    }
}

impl TryFrom<Rows> for Graph {
    type Error = String;

    /// What a saved graph must hold for the kernels to index by it.
    fn try_from(rows: Rows) -> std::result::Result<Graph, String> {
        let n = rows.offsets.len().checked_sub(1).ok_or("a graph without offsets")?;
        let rows = Rows::from_csr(n, &rows.offsets, &rows.targets, &rows.weights)
            .map_err(|refusal| refusal.to_string())?;
        let graph = rows.sorted().union();
        if graph.offsets != rows.offsets || graph.targets != rows.targets || graph.weights != rows.weights {
            return Err("the saved graph is not symmetric and sorted".to_string());
        }
        Ok(graph.into_graph())
    }
}
