//! Edges that jump between two sheets of a folded manifold.
//!
//! Owns: the rule by which a few edges are called shortcuts; [`widespread`] sees a graph that
//! many of them have ruined.
//! One such edge bends every long distance of Isomap (Balasubramanian and
//! Schwartz 2002). Place: after a [`Plan`] is made; changes nothing.
//!
//! 1. Sampled shortest paths give each edge the share of paths it carries.
//! 2. Each of the busiest edges is closed, and with it the longest edge of
//!    every path around it that is still short: shortcuts come in bundles.
//!    If its ends are then further apart than two typical nodes, the bundle
//!    stays closed; if it took too many edges, or the graph became disconnected, the
//!    edge is an ordinary one, perhaps at a bottleneck.
//! 3. What stays closed must be few edges, must lengthen the mean distance,
//!    and must be busier than all but a few others: on a curve every edge
//!    carries as much. An edge that alone connects two parts counts too.
//!
//! Cost: the plan's run from 8 to 32 sources and O(m) each, then searches
//! among nearby nodes; only where something is found, up to 16 more runs.

mod detour;
mod search;
mod sparser;
mod strain;
mod tangent;
mod traffic;
mod warning;
mod widespread;

pub use warning::{warn_of_shortcuts, warn_of_widespread};
pub use widespread::{Widespread, widespread};

use std::collections::BTreeSet;

use super::Graph;
use super::geodesic::{PathMethod, Plan};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::draw;
use detour::{Ends, ends};
use search::Search;
use traffic::{Traffic, sums_of_distances};

/// Fewer nodes have no edge that stands out from chance.
const FEWEST_NODES: usize = 50;
/// Sampled pairs of source and node; decides how many sources there are.
const PAIRS: usize = 4_000_000;
const FEWEST_SOURCES: usize = 8;
const MOST_SOURCES: usize = 32;
/// Sources on which the mean distance without the shortcuts is measured.
const SOURCES_AFTER: usize = 16;
/// The least share that makes an edge suspect.
const LEAST_SHARE: f64 = 0.05;
/// Most edges that are called shortcuts; one per so many nodes in a small graph.
const MOST_SHORTCUTS: usize = 8;
const NODES_PER_SHORTCUT: usize = 100;
/// Least growth of the mean distance without them.
const LEAST_HARM: f64 = 0.12;
/// Share of n that may be edges at least half as busy as the busiest shortcut.
const RIVALS: f64 = 0.025;
/// An edge that joins what is far apart without it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortcut {
    /// The smaller node.
    pub from: u32,
    /// The larger node.
    pub to: u32,
    /// Its length.
    pub length: f64,
    /// Share of the sampled shortest paths that use it.
    pub share: f64,
    /// Distance between its ends without any of the shortcuts; infinite when
    /// there is no other way.
    pub detour: f64,
}

/// The shortcuts of `graph`, busiest first; none of a sound graph.
///
/// `plan` was made from `graph`. `ignore` lists edges that are known to join
/// separate parts. Too little memory for the search means no finding, not a
/// refusal.
pub fn shortcuts(graph: &Graph, plan: &Plan, ignore: &[(u32, u32)], ctx: &Ctx) -> Result<Vec<Shortcut>> {
    if plan.len() != graph.len() {
        return Err(Error::input(format!(
            "the plan is of {} nodes, the graph of {}",
            plan.len(),
            graph.len()
        )));
    }
    if graph.len() < FEWEST_NODES || !fits(graph, ctx) {
        return Ok(Vec::new());
    }
    let sources = sample(graph.len(), ctx);
    ctx.stage("shortcuts", sources.len());
    let traffic = Traffic::new(graph, plan, &sources, ctx)?;
    let ignore: BTreeSet<Ends> = ignore.iter().map(|&(from, to)| ends(from, to)).collect();
    let busy = busy_edges(graph, &traffic, &ignore);
    if busy.first().is_none_or(|edge| edge.share < LEAST_SHARE) {
        return Ok(Vec::new());
    }
    let mut search = Search::new(graph, &traffic, &ignore, ctx);
    let (mut closed, bridges) = search.suspects(&busy)?;
    let few = (graph.len() / NODES_PER_SHORTCUT).clamp(1, MOST_SHORTCUTS);
    if closed.len() > few || !harmful(graph, plan, &sources, &traffic, &closed, ctx)? {
        closed.clear();
    }
    let found = search.report(&closed, &bridges)?;
    Ok(if stand_out(&found, &busy, graph.len()) { found } else { Vec::new() })
}

/// Whether there is memory for the distances and trees of two batches.
fn fits(graph: &Graph, ctx: &Ctx) -> bool {
    const BYTES_PER_NODE: usize = 2 * (128 + 64 + 24);
    let need = graph.len() * BYTES_PER_NODE;
    ctx.reserve(need as u64, "the search for shortcuts", "").is_ok()
}

/// Different nodes, spread over both batches.
fn sample(n: usize, ctx: &Ctx) -> Vec<u32> {
    let count = (PAIRS / n).clamp(FEWEST_SOURCES, MOST_SOURCES).min(n);
    let mut stream = ctx.stream("shortcut sources");
    let mut nodes = BTreeSet::new();
    while nodes.len() < count {
        let node = (0.5 * (draw(&mut stream) + 1.0) * n as f64) as usize;
        nodes.insert(node.min(n - 1) as u32);
    }
    // Every second one first: both batches get nodes from everywhere.
    let (even, odd): (Vec<_>, Vec<_>) = nodes.into_iter().enumerate().partition(|(place, _)| place % 2 == 0);
    even.into_iter().chain(odd).map(|(_, node)| node).collect()
}

/// Edges that carry half of what a suspect must or more, busiest first.
fn busy_edges(graph: &Graph, traffic: &Traffic, ignore: &BTreeSet<Ends>) -> Vec<Shortcut> {
    let busy = traffic.edges_of_at_least(0.5 * LEAST_SHARE).filter(|edge| !ignore.contains(edge));
    let mut busy: Vec<Shortcut> = busy.map(|edge| of_edge(graph, traffic, edge)).collect();
    // Stable: equal shares stay in the order of their ends.
    busy.sort_by(|a, b| b.share.total_cmp(&a.share));
    busy
}

/// What is known of an edge before anything is closed.
fn of_edge(graph: &Graph, traffic: &Traffic, (from, to): Ends) -> Shortcut {
    let (targets, weights) = graph.row(from as usize);
    let length = targets.binary_search(&to).map_or(f64::INFINITY, |rank| weights[rank]);
    Shortcut { from, to, length, share: traffic.share((from, to)), detour: f64::INFINITY }
}

/// Whether the mean distance grows without `closed`.
fn harmful(
    graph: &Graph,
    plan: &Plan,
    sources: &[u32],
    traffic: &Traffic,
    closed: &[Ends],
    ctx: &Ctx,
) -> Result<bool> {
    if closed.is_empty() {
        return Ok(false);
    }
    let some = &sources[..sources.len().min(SOURCES_AFTER)];
    let open = without(graph, closed);
    let around = Plan::new(&open, PathMethod::Heap, some.len(), Some(plan.order()), ctx)?;
    let after: f64 = sums_of_distances(&around, some, ctx)?.iter().sum();
    let before: f64 = traffic.sums[..some.len()].iter().sum();
    Ok(after >= (1.0 + LEAST_HARM) * before)
}

/// `graph` without some of its edges.
fn without(graph: &Graph, closed: &[Ends]) -> Graph {
    let mut open = Graph { offsets: vec![0], targets: Vec::new(), weights: Vec::new() };
    for node in 0..graph.len() {
        let (targets, weights) = graph.row(node);
        for (&target, &weight) in targets.iter().zip(weights) {
            if !closed.contains(&ends(node as u32, target)) {
                open.targets.push(target);
                open.weights.push(weight);
            }
        }
        open.offsets.push(open.targets.len());
    }
    open
}

/// Whether few other edges are nearly as busy as what was found.
fn stand_out(found: &[Shortcut], busy: &[Shortcut], n: usize) -> bool {
    let Some(busiest) = found.first().filter(|edge| edge.share >= LEAST_SHARE) else { return false };
    let half_as_busy = |edge: &&Shortcut| edge.share >= 0.5 * busiest.share;
    let rivals = busy.iter().filter(half_as_busy).count() - found.iter().filter(half_as_busy).count();
    rivals as f64 <= RIVALS * n as f64
}
