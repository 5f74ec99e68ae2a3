//! A graph with fewer edges: those to the nearest neighbours only.
//!
//! Owns: which edges a graph of fewer neighbours has, and an edge put back. Place: used by
//! [`super::widespread`]. Cost: O(m log k).

use std::collections::BTreeSet;

use super::detour::{Ends, ends};
use crate::graph::Graph;

/// The graph whose edges are among the `k` shortest of either end; edges of length zero do
/// not count, and they and those of `keep` stay.
pub(super) fn nearest(graph: &Graph, k: usize, keep: &BTreeSet<Ends>) -> Graph {
    let mut longest = vec![f64::INFINITY; graph.len()];
    let mut lengths: Vec<f64> = Vec::new();
    for (node, longest) in longest.iter_mut().enumerate() {
        lengths.clear();
        lengths.extend(graph.row(node).1.iter().filter(|&&length| length > 0.0));
        if lengths.len() > k {
            *longest = *lengths.select_nth_unstable_by(k.max(1) - 1, f64::total_cmp).1;
        }
    }
    filtered(graph, |node, target, length| {
        length <= longest[node as usize].max(longest[target as usize])
            || (!keep.is_empty() && keep.contains(&ends(node, target)))
    })
}

/// `sparse`, a part of `graph`, with one more of its edges.
pub(super) fn with_edge(graph: &Graph, sparse: &Graph, edge: Ends) -> Graph {
    filtered(graph, |node, target, _| ends(node, target) == edge || has(sparse, node, target))
}

/// Whether there is an edge.
pub(super) fn has(graph: &Graph, node: u32, target: u32) -> bool {
    graph.row(node as usize).0.binary_search(&target).is_ok()
}

/// Smallest number of edges of a node, all but a twentieth of the nodes having more: the number
/// of neighbours where each node has the same and edges go both ways.
pub(super) fn neighbors(graph: &Graph) -> usize {
    let count = |node: usize| graph.row(node).1.iter().filter(|&&length| length > 0.0).count();
    let mut degrees: Vec<usize> = (0..graph.len()).map(count).collect();
    if degrees.is_empty() {
        return 0;
    }
    let place = degrees.len() / 20;
    *degrees.select_nth_unstable(place).1
}

fn filtered(graph: &Graph, stays: impl Fn(u32, u32, f64) -> bool) -> Graph {
    let mut part = Graph { offsets: vec![0], targets: Vec::new(), weights: Vec::new() };
    for node in 0..graph.len() {
        let (targets, weights) = graph.row(node);
        for (&target, &weight) in targets.iter().zip(weights) {
            if stays(node as u32, target, weight) {
                part.targets.push(target);
                part.weights.push(weight);
            }
        }
        part.offsets.push(part.targets.len());
    }
    part
}
