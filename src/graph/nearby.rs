//! The nearest nodes of one node by shortest paths.
//!
//! Owns: a search that stops after a few nodes and leaves no trace. Place: for tests of a graph
//! and estimates on it. Cost: O(k log k) for k nodes of few edges.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Graph;

/// The nearest `k` nodes at a distance above zero, nearest first; fewer where there are not so
/// many.
pub(crate) fn nearest_by_path(graph: &Graph, from: u32, k: usize) -> Vec<(u32, f64)> {
    let mut reached = BTreeMap::from([(from, 0.0)]);
    // Distances are not negative, so their bits sort as they do.
    let mut queue = BinaryHeap::from([Reverse((0u64, from))]);
    let mut found = Vec::with_capacity(k);
    while let Some(Reverse((bits, node))) = queue.pop() {
        let distance = f64::from_bits(bits);
        if reached.get(&node).is_some_and(|&known| distance > known) {
            continue;
        }
        if distance > 0.0 {
            found.push((node, distance));
            if found.len() == k {
                break;
            }
        }
        let (targets, weights) = graph.row(node as usize);
        for (&target, &weight) in targets.iter().zip(weights) {
            let through = distance + weight;
            if reached.get(&target).is_none_or(|&known| through < known) {
                reached.insert(target, through);
                queue.push(Reverse((through.to_bits(), target)));
            }
        }
    }
    found
}
