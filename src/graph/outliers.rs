//! Rows so far from all others that they would dominate the embedding.
//!
//! Owns: finding them. Place: after a graph is connected, before paths. Distances
//! enter classical scaling squared, so a single row very far away takes
//! a whole coordinate. A row counts as an outlier
//! when every edge to the others is longer than three times the longest path
//! along the others; there must be few such rows. Ordinary
//! data has no edge of that kind and is left after one look at the edges.
//! Cost: O(m), and one shortest-path search when there is something to look at.

use petgraph::unionfind::UnionFind;

use super::Graph;
use super::geodesic::{PathMethod, Plan, Sources, rows};
use crate::context::Ctx;
use crate::error::Result;
use crate::params::choices;

choices! {
    /// What happens to training rows that are far from all others.
    Outliers {
        /// They are left out of the fit and placed like new rows.
        Place = "place",
        /// They are treated like all others.
        Keep = "keep",
    }
}

/// Edges longer than this many usual ones are looked at.
const LONG: f64 = 50.0;
/// An edge this many times as long as the others reach is too long.
const FAR: f64 = 3.0;
/// Fewer rows than this have no shape to protect.
const FEWEST: usize = 30;
/// At most one row in so many is an outlier.
const RARE: usize = 100;
/// Edges the usual length is taken from.
const SAMPLE: usize = 100_000;

/// The outliers of a connected graph, ascending; usually none.
pub fn outliers(graph: &Graph, ctx: &Ctx) -> Result<Vec<u32>> {
    let n = graph.len();
    if n < FEWEST {
        return Ok(Vec::new());
    }
    let long = LONG * usual_length(graph.weights());
    if !graph.weights().iter().any(|&weight| weight > long) {
        return Ok(Vec::new());
    }
    let main = largest_component(graph, long);
    let most = (n / RARE).max(1);
    if n - main.len() > most || main.len() < FEWEST {
        return Ok(Vec::new());
    }
    let far = FAR * reach(graph, &main, ctx)?;
    let found = unreached(graph, &main, far);
    ctx.check()?;
    Ok(found)
}

/// The median length of an edge, of evenly spaced ones when there are many.
fn usual_length(weights: &[f64]) -> f64 {
    let step = weights.len().div_ceil(SAMPLE).max(1);
    let mut some: Vec<f64> = weights.iter().step_by(step).copied().filter(|&weight| weight > 0.0).collect();
    if some.is_empty() {
        return f64::INFINITY;
    }
    let middle = some.len() / 2;
    *some.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The largest component of the graph of edges up to `long`, ascending.
fn largest_component(graph: &Graph, long: f64) -> Vec<u32> {
    let sets = joined(graph, |_, _, weight| weight <= long);
    let mut sizes = vec![0_usize; graph.len()];
    (0..graph.len() as u32).for_each(|row| sizes[sets.find(row) as usize] += 1);
    let root = (0..graph.len()).rev().max_by_key(|&root| sizes[root]).unwrap_or(0) as u32;
    (0..graph.len() as u32).filter(|&row| sets.find(row) == root).collect()
}

fn joined(graph: &Graph, by: impl Fn(u32, u32, f64) -> bool) -> UnionFind<u32> {
    let mut sets = UnionFind::new(graph.len());
    for row in 0..graph.len() {
        let (targets, weights) = graph.row(row);
        for (&target, &weight) in targets.iter().zip(weights) {
            if (target as usize) < row && by(row as u32, target, weight) {
                sets.union(row as u32, target);
            }
        }
    }
    sets
}

/// How far the main rows reach: the longest path from the row that is farthest
/// from the first, which is nearly the longest there is.
fn reach(graph: &Graph, main: &[u32], ctx: &Ctx) -> Result<f64> {
    let part = graph.subgraph(main, ctx)?;
    let plan = Plan::new(&part, PathMethod::Heap, 1, None, ctx)?;
    let (mut end, mut longest) = (0, 0.0);
    for _ in 0..2 {
        let lengths = rows(&plan, &Sources::nodes(&[end]), ctx)?;
        let farther = |best: (u32, f64), (row, &length): (usize, &f64)| {
            if length > best.1 { (row as u32, length) } else { best }
        };
        (end, longest) = lengths.iter().enumerate().fold((end, 0.0), farther);
    }
    Ok(longest)
}

/// The rows that no chain of edges up to `far` joins to the main ones.
fn unreached(graph: &Graph, main: &[u32], far: f64) -> Vec<u32> {
    let mut sets = joined(graph, |_, _, weight| weight <= far);
    for pair in main.windows(2) {
        sets.union(pair[0], pair[1]);
    }
    let root = main.first().map_or(0, |&row| sets.find(row));
    (0..graph.len() as u32).filter(|&row| sets.find(row) != root).collect()
}
