//! From lists of edges to a [`Graph`]: sorting, merging, symmetry, checks.
//!
//! Owns: every way a graph is put together. Place: between `neighbors` (or a
//! user's arrays) and the rest of `graph`, on [`crate::linalg::csr`]. Cost: O(n + m)
//! and a sort of each row.

use super::Graph;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::csr::{CompressedRows, part_size};
use crate::neighbors::Neighbors;

/// Largest relative difference of the two directions of a user's edge that
/// counts as rounding.
const ASYMMETRY: f64 = 1e-8;

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

impl CompressedRows {
    pub(super) fn from_neighbors(neighbors: &Neighbors, ctx: &Ctx) -> Result<CompressedRows> {
        let n = neighbors.offsets.len().saturating_sub(1);
        CompressedRows::written(n, neighbors.indices.len() / n.max(1) + 1, ctx, |i, rows| {
            let range = neighbors.offsets[i]..neighbors.offsets[i + 1];
            let indices = neighbors.indices.get(range.clone()).unwrap_or_default();
            let distances = neighbors.distances.get(range).unwrap_or_default();
            for (&j, &distance) in indices.iter().zip(distances) {
                if j as usize != i && (j as usize) < n && distance.is_finite() && distance >= 0.0 {
                    rows.push(j, distance);
                }
            }
            Ok(())
        })
    }

    pub(super) fn from_csr(
        n: usize,
        indptr: &[usize],
        indices: &[u32],
        weights: &[f64],
        ctx: &Ctx,
    ) -> Result<CompressedRows> {
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
        CompressedRows::written(n, indices.len() / n.max(1) + 1, ctx, |i, rows| {
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
            Ok(())
        })
    }

    /// Both directions of every entry, the smaller weight where both are given.
    pub(super) fn union(&self, ctx: &Ctx) -> Result<CompressedRows> {
        self.both_ways(ctx, |_, _, _, _| Ok(()))
    }

    /// The same of a user's edges: two directions that were both given and differ
    /// are refused.
    pub(super) fn union_of_equals(&self, ctx: &Ctx) -> Result<CompressedRows> {
        self.both_ways(ctx, |i, target, weight, other| {
            if (weight - other).abs() <= ASYMMETRY * weight.max(other) {
                return Ok(());
            }
            Err(Error::input(format!(
                "the graph is not symmetric: edge ({i}, {target}) has weight {weight}, \
                 edge ({target}, {i}) has weight {other}; give both the same, or one of them"
            )))
        })
    }

    /// Both directions of every entry; `compare` sees those that were both given.
    fn both_ways(
        &self,
        ctx: &Ctx,
        compare: impl Fn(usize, u32, f64, f64) -> Result<()> + Sync,
    ) -> Result<CompressedRows> {
        let reverse = self.transposed(ctx)?;
        let size = part_size(self.len());
        let usual = 3 * self.targets.len() / (2 * self.len().max(1)) + 1;
        CompressedRows::written(self.len(), usual, ctx, |i, rows| {
            let mut theirs = reverse[i / size].row(i % size).peekable();
            for (target, mut weight) in self.row(i) {
                while let Some((before, other)) = theirs.next_if(|entry| entry.0 < target) {
                    rows.push(before, other);
                }
                if let Some((_, other)) = theirs.next_if(|entry| entry.0 == target) {
                    compare(i, target, weight, other)?;
                    weight = weight.min(other);
                }
                rows.push(target, weight);
            }
            theirs.for_each(|(target, weight)| rows.push(target, weight));
            Ok(())
        })
    }

    /// The graph of rows that are sorted, merged and symmetric.
    pub(super) fn into_graph(self) -> Graph {
        Graph { offsets: self.offsets, targets: self.targets, weights: self.weights }
    }

    /// Whether rows are sound and ascend, and every entry has its equal.
    fn is_graph(&self) -> bool {
        let Some(n) = self.offsets.len().checked_sub(1) else { return false };
        let sound = n < u32::MAX as usize
            && self.offsets[0] == 0
            && self.offsets.is_sorted()
            && self.offsets[n] == self.targets.len()
            && self.targets.len() == self.weights.len()
            && self.targets.iter().all(|&target| (target as usize) < n);
        if !sound {
            return false;
        }
        // Rows ascend, so their entries are met in order as the targets of earlier
        // and later rows.
        let mut met: Vec<usize> = self.offsets[..n].to_vec();
        (0..n).all(|i| {
            let targets = &self.targets[self.offsets[i]..self.offsets[i + 1]];
            targets.is_sorted_by(|one, next| one < next)
                && self.row(i).all(|(target, weight)| {
                    let (other, at) = (target as usize, met[target as usize]);
                    met[other] += 1;
                    let equal = at < self.offsets[other + 1]
                        && self.targets[at] as usize == i
                        && self.weights[at] == weight;
                    equal && other != i && weight.is_finite() && weight >= 0.0
                })
        })
    }
}

impl From<Graph> for CompressedRows {
    fn from(graph: Graph) -> CompressedRows {
        CompressedRows { offsets: graph.offsets, targets: graph.targets, weights: graph.weights }
    }
}

impl TryFrom<CompressedRows> for Graph {
    type Error = String;

    /// What a saved graph must hold for the kernels to index by it.
    fn try_from(rows: CompressedRows) -> std::result::Result<Graph, String> {
        if !rows.is_graph() {
            return Err("the saved graph is not symmetric and sorted".to_string());
        }
        Ok(rows.into_graph())
    }
}
