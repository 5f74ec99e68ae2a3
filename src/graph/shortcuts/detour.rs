//! The shortest path around closed edges: Dijkstra between two nodes, no further than asked.
//!
//! Owns: a search that leaves no trace, so that a short one costs little on a
//! large graph. Place: second step of [`super::shortcuts`]. Cost: O(b log b)
//! for the b nodes nearer than the limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;

/// Settled nodes between two looks at the cancel flag.
const NODES_PER_CHECK: usize = 2048;

/// An edge by its ends, the smaller first.
pub(super) type Ends = (u32, u32);

/// What a search found.
#[derive(Debug, PartialEq)]
pub(super) enum Way {
    /// A path of that length over these edges.
    Found(f64, Vec<Ends>),
    /// Every path is longer than the limit, or there is none.
    TooFar,
    /// There is no path.
    None,
}

/// Searches around a growing or shrinking set of closed edges.
pub(super) struct Detours<'a> {
    graph: &'a Graph,
    ctx: &'a Ctx,
    /// Distance so far and the node it comes from.
    reached: Vec<(f64, u32)>,
    touched: Vec<u32>,
}

const UNREACHED: (f64, u32) = (f64::INFINITY, u32::MAX);

impl<'a> Detours<'a> {
    pub fn new(graph: &'a Graph, ctx: &'a Ctx) -> Self {
        Detours { graph, ctx, reached: vec![UNREACHED; graph.len()], touched: Vec::new() }
    }

    /// The shortest way between the ends of `edge` that uses none of `closed`.
    pub fn around(&mut self, edge: Ends, closed: &[Ends], limit: f64) -> Result<Way> {
        let way = self.search(edge, closed, limit);
        for node in self.touched.drain(..) {
            self.reached[node as usize] = UNREACHED;
        }
        way
    }

    fn search(&mut self, (from, to): Ends, closed: &[Ends], limit: f64) -> Result<Way> {
        // Distances are not negative, so their bits sort as they do.
        let mut queue = BinaryHeap::from([Reverse((0u64, from))]);
        self.reached[from as usize] = (0.0, from);
        self.touched.push(from);
        let mut settled = 0usize;
        while let Some(Reverse((bits, node))) = queue.pop() {
            let distance = f64::from_bits(bits);
            if distance > self.reached[node as usize].0 {
                continue;
            }
            if distance > limit {
                return Ok(Way::TooFar);
            }
            if node == to {
                return Ok(Way::Found(distance, self.path_to(to)));
            }
            settled += 1;
            if settled.is_multiple_of(NODES_PER_CHECK) {
                self.ctx.check()?;
            }
            let guarded = closed.iter().any(|&(a, b)| a == node || b == node);
            let (targets, weights) = self.graph.row(node as usize);
            for (&target, &weight) in targets.iter().zip(weights) {
                let through = distance + weight;
                let known = self.reached[target as usize].0;
                if through < known && !(guarded && closed.contains(&ends(node, target))) {
                    if known.is_infinite() {
                        self.touched.push(target);
                    }
                    self.reached[target as usize] = (through, node);
                    queue.push(Reverse((through.to_bits(), target)));
                }
            }
        }
        Ok(Way::None)
    }

    fn path_to(&self, to: u32) -> Vec<Ends> {
        let mut path = Vec::new();
        let mut here = to;
        while self.reached[here as usize].1 != here {
            let before = self.reached[here as usize].1;
            path.push(ends(before, here));
            here = before;
        }
        path
    }
}

/// An edge by its ends, the smaller first.
pub(super) fn ends(a: u32, b: u32) -> Ends {
    (a.min(b), a.max(b))
}
