//! Which of the busiest edges join what is far apart without them.
//!
//! Owns: closing an edge together with its bundle, and the proof that what is
//! closed lies far apart. Place: second step of [`super::shortcuts`]. Cost: at
//! most 8 searches for each of 8 edges, among nearby nodes unless one is found.

use std::collections::BTreeSet;

use super::detour::{Detours, Ends, Way};
use super::traffic::Traffic;
use super::{LEAST_SHARE, MOST_SHORTCUTS, Shortcut, of_edge};
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;

/// The busiest edges that are looked at.
const SUSPECTS: usize = 8;
/// How far apart the ends are without them: in edge lengths, in mean distances.
const FAR_IN_LENGTHS: f64 = 5.0;
const FAR_IN_MEANS: f64 = 1.2;
/// Least share of an edge whose removal leaves two parts.
const LEAST_SHARE_OF_BRIDGE: f64 = 0.1;
/// Edges whose lengths are read for their median.
const LENGTHS_READ: usize = 100_000;

/// The search among the busiest edges.
pub(super) struct Search<'a> {
    graph: &'a Graph,
    traffic: &'a Traffic,
    ignore: &'a BTreeSet<Ends>,
    median: f64,
    detours: Detours<'a>,
}

impl<'a> Search<'a> {
    pub fn new(graph: &'a Graph, traffic: &'a Traffic, ignore: &'a BTreeSet<Ends>, ctx: &'a Ctx) -> Self {
        let median = median_length(graph);
        Search { graph, traffic, ignore, median, detours: Detours::new(graph, ctx) }
    }

    /// The edges to close, and those that alone hold two parts together.
    pub fn suspects(&mut self, busy: &[Shortcut]) -> Result<(Vec<Ends>, Vec<Ends>)> {
        let (mut closed, mut bridges) = (Vec::new(), Vec::new());
        for edge in busy.iter().take(SUSPECTS).filter(|edge| edge.share >= LEAST_SHARE) {
            let suspect = (edge.from, edge.to);
            if closed.contains(&suspect) {
                continue;
            }
            if let Some(more) = self.bundle(suspect, &closed)? {
                closed = self.settle(more)?;
            } else if edge.share >= LEAST_SHARE_OF_BRIDGE
                && self.detours.around(suspect, &[suspect], f64::INFINITY)? == Way::None
            {
                bridges.push(suspect);
            }
        }
        Ok((closed, bridges))
    }

    /// `closed`, `suspect` and what has to be closed with it to make its ends
    /// far apart but not disconnected, if a handful does.
    fn bundle(&mut self, suspect: Ends, closed: &[Ends]) -> Result<Option<Vec<Ends>>> {
        let mut bundle = closed.to_vec();
        bundle.push(suspect);
        let far = self.far(suspect);
        loop {
            match self.detours.around(suspect, &bundle, far)? {
                Way::None => return Ok(None),
                Way::TooFar => {
                    let any = self.detours.around(suspect, &bundle, f64::INFINITY)?;
                    return Ok((any != Way::None).then_some(bundle));
                }
                Way::Found(_, path) => {
                    let longest = self.longest(path);
                    match longest {
                        Some(edge) if bundle.len() - closed.len() < MOST_SHORTCUTS => bundle.push(edge),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    /// The longest edge of a path that may be closed, by its ends among equals.
    fn longest(&self, path: Vec<Ends>) -> Option<Ends> {
        let may_be_closed = path.into_iter().filter(|edge| !self.ignore.contains(edge));
        let by_length = |a: &Ends, b: &Ends| self.length(*a).total_cmp(&self.length(*b)).then(b.cmp(a));
        may_be_closed.max_by(by_length)
    }

    /// Open again what is not far apart with the others closed.
    fn settle(&mut self, mut closed: Vec<Ends>) -> Result<Vec<Ends>> {
        loop {
            let mut kept = Vec::with_capacity(closed.len());
            for &edge in &closed {
                let far = self.far(edge);
                if self.detours.around(edge, &closed, far)? == Way::TooFar {
                    kept.push(edge);
                }
            }
            if kept.len() == closed.len() {
                return Ok(kept);
            }
            closed = kept;
        }
    }

    /// The distance from which the ends of an edge count as far apart.
    fn far(&self, edge: Ends) -> f64 {
        (FAR_IN_LENGTHS * self.length(edge).max(self.median)).max(FAR_IN_MEANS * self.traffic.mean)
    }

    fn length(&self, edge: Ends) -> f64 {
        of_edge(self.graph, self.traffic, edge).length
    }

    /// What is reported, busiest first.
    pub fn report(&mut self, closed: &[Ends], bridges: &[Ends]) -> Result<Vec<Shortcut>> {
        let all: Vec<Ends> = closed.iter().chain(bridges).copied().collect();
        let mut found = Vec::with_capacity(all.len());
        for &ends in &all {
            let mut edge = of_edge(self.graph, self.traffic, ends);
            if let Way::Found(detour, _) = self.detours.around(ends, &all, f64::INFINITY)? {
                edge.detour = detour;
            }
            found.push(edge);
        }
        found.sort_by(|a, b| b.share.total_cmp(&a.share).then((a.from, a.to).cmp(&(b.from, b.to))));
        Ok(found)
    }
}

/// The median length of some edges, taken at even steps.
fn median_length(graph: &Graph) -> f64 {
    let step = graph.weights().len().div_ceil(LENGTHS_READ).max(1);
    let mut lengths: Vec<f64> = graph.weights().iter().step_by(step).copied().collect();
    if lengths.is_empty() {
        return 0.0;
    }
    let middle = lengths.len() / 2;
    *lengths.select_nth_unstable_by(middle, f64::total_cmp).1
}
