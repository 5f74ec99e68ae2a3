//! An order of the nodes in which neighbours are close together.
//!
//! Owns: the grouping of nodes into clumps of [`LANES`] by breadth-first
//! search, for graphs that come without an order of their points, and how wide
//! such a search becomes. Place: before the batched kernel, which wants nearby
//! sources in a batch and nearby nodes close in memory. Cost: O(n + m).

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::packed::LANES;

/// Nodes in clumps: each a short breadth-first search among nodes not yet
/// taken, each begun next to an earlier one. Position → node.
pub(crate) fn clumps(graph: &Graph) -> Vec<u32> {
    let n = graph.len();
    let mut taken = vec![false; n];
    let mut order: Vec<u32> = Vec::with_capacity(n);
    // Nodes next to what was taken, oldest first; where clumps begin.
    let mut shore = std::collections::VecDeque::new();
    let mut unseen = 0..n as u32;
    loop {
        let start = match shore.pop_front().or_else(|| unseen.next()) {
            Some(node) if taken[node as usize] => continue,
            Some(node) => node,
            None => return order,
        };
        let begin = order.len();
        taken[start as usize] = true;
        order.push(start);
        let mut next = begin;
        while next < order.len() {
            for &target in graph.row(order[next] as usize).0 {
                if taken[target as usize] {
                    continue;
                }
                if order.len() - begin < LANES {
                    taken[target as usize] = true;
                    order.push(target);
                } else {
                    shore.push_back(target);
                }
            }
            next += 1;
        }
    }
}

/// The most nodes at one distance, in edges, from a node far out in its component:
/// how many must go to cut the graph in two. Small for curves and surfaces,
/// a large part of `n` in many dimensions.
pub(crate) fn widest_level(graph: &Graph) -> usize {
    let mut visits = vec![0u8; graph.len()];
    let mut widest = 0;
    for node in 0..graph.len() {
        if visits[node] == 0 {
            let (_, far) = levels(graph, node as u32, &mut visits);
            widest = widest.max(levels(graph, far, &mut visits).0);
        }
    }
    widest
}

/// A breadth-first search over the component of `start`, whose nodes have all been
/// visited equally often: its widest level and the node it ends at.
fn levels(graph: &Graph, start: u32, visits: &mut [u8]) -> (usize, u32) {
    let before = visits[start as usize];
    let (mut widest, mut last) = (0, start);
    let (mut level, mut next) = (vec![start], Vec::new());
    visits[start as usize] += 1;
    while !level.is_empty() {
        widest = widest.max(level.len());
        for &node in &level {
            last = node;
            for &target in graph.row(node as usize).0 {
                if visits[target as usize] == before {
                    visits[target as usize] += 1;
                    next.push(target);
                }
            }
        }
        level.clear();
        std::mem::swap(&mut level, &mut next);
    }
    (widest, last)
}

/// Where each node stands in `order`; refused unless it lists `0..n` once each.
pub(crate) fn positions(order: &[u32], n: usize) -> Result<Vec<u32>> {
    const ABSENT: u32 = u32::MAX;
    if order.len() != n {
        return Err(Error::input(format!("an order of {} rows for a graph of {n}", order.len())));
    }
    let mut position = vec![ABSENT; n];
    for (place, &node) in order.iter().enumerate() {
        match position.get_mut(node as usize) {
            Some(slot) if *slot == ABSENT => *slot = place as u32,
            _ => {
                return Err(Error::input(format!(
                    "the order of rows repeats or exceeds its range at {node}"
                )));
            }
        }
    }
    Ok(position)
}
