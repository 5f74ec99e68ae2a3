//! Shortcuts in many places: distances that hang on the number of neighbours.
//!
//! Owns: the test that sees a graph which many shortcuts have ruined, where none of them
//! stands out. Place: after [`super::shortcuts`] has found no single ones; changes nothing.
//!
//! On a sound graph distances grow evenly when each node keeps only its 4 nearest neighbours
//! (5 where 4 do not hold it together): paths zigzag a little more everywhere. Across
//! shortcuts some distances multiply and others stay. The spread of the growth, its 9th decile
//! over its median, from 16 sources:
//!
//! 1. below 1.35 the graph is sound: clouds of 2 to 10 dimensions reach 1.3;
//! 2. otherwise there are shortcuts, or a loop has come apart at its thinnest place, which is no
//!    fault of the graph. The edge that answers for most of the growth ([`super::strain`]) tells
//!    them apart: one stands on the tangent planes of its ends, the other lies in them;
//! 3. where there are no points, or that is not clear: if two thirds of the neighbours also
//!    spread the growth, many edges are wrong; or else the edge is put back, which mends a loop.
//!    Where the spread stays, there are shortcuts in other places too, and so once again.
//!
//! Curves have no verdict: their 4 nearest neighbours leave them in pieces, and parallel curves
//! (a grid much finer one way than the other) are joined by edges that leave every one of them.
//! The rule was tuned on Swiss rolls and clean manifolds of some seeds and is held to its rates
//! on others (tests/it/graph/shortcuts.rs). Cost: 32 searches of single sources; 16 more for
//! each further step.

use std::collections::BTreeSet;

use ndarray::{Array2, Axis, concatenate};
use rayon::prelude::*;

use super::detour::{Ends, ends};
use super::sparser::{nearest, neighbors, with_edge};
use super::strain::strained;
use super::tangent::leaves;
use super::{Shortcut, fits, sample};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::geodesic::{PathMethod, Plan, Sources, rows};
use crate::graph::nearby::nearest_by_path;
use crate::input::PointsRef;
use crate::linalg::exp::ln;

/// Fewer nodes are a few steps apart, whose number says nothing.
const FEWEST_NODES: usize = 100;
/// Sources, and parts of them that run at once: fixed, so that no result depends on threads.
const SOURCES: usize = 16;
const PARTS: usize = 2;
/// Neighbours of the sparser graph, the fewest that hold enough pairs together.
const FEWER: [usize; 2] = [4, 5];
const HELD: f64 = 0.97;
/// The spread of a sound graph ends here.
const SPREAD: f64 = 1.35;
/// That of two thirds of the neighbours, which must hold nearly all pairs.
const SPREAD_OF_TWO_THIRDS: f64 = 1.2;
const HELD_BY_TWO_THIRDS: f64 = 0.95;
/// What is left after an edge was put back, once and twice.
const SPREAD_MENDED: [f64; 2] = [1.45, 1.36];
/// Pairs whose growth is looked at.
const PAIRS: usize = 400_000;
/// Nodes around an end of an edge, and their dimension below which they lie on a curve.
const AROUND: usize = 13;
const CURVE: f64 = 1.35;
/// Edges that are named.
const NAMED: usize = 8;

/// Shortcuts in many places.
#[derive(Debug, Clone, PartialEq)]
pub struct Widespread {
    /// Those that answer for most, the first of them first.
    pub edges: Vec<Shortcut>,
    /// Neighbours of each node of the sparser graph.
    pub fewer: usize,
    /// By how much its distances are longer: the median and the 9th decile.
    pub growth: [f64; 2],
    /// The largest number of neighbours without such signs, if there is one.
    pub sound: Option<usize>,
}

/// Whether shortcuts have ruined `graph`. `plan` was made from it, `points` are its nodes where
/// they are points; `ignore` lists edges that are known to join separate parts.
///
/// # Errors
/// A plan of another graph, cancellation.
pub fn widespread(
    graph: &Graph,
    plan: &Plan,
    points: Option<PointsRef<'_>>,
    ignore: &[(u32, u32)],
    ctx: &Ctx,
) -> Result<Option<Widespread>> {
    if plan.len() != graph.len() {
        let (made, given) = (plan.len(), graph.len());
        return Err(Error::input(format!("the plan is of {made} nodes, the graph of {given}")));
    }
    let k = neighbors(graph);
    if graph.len() < FEWEST_NODES || k <= FEWER[0] || !fits(graph, ctx) {
        return Ok(None);
    }
    let keep: BTreeSet<Ends> = ignore.iter().map(|&(from, to)| ends(from, to)).collect();
    let mut sources = sample(graph.len(), ctx);
    sources.truncate(SOURCES);
    let test = Test { graph, plan, points, keep, sources, ctx };
    let near = test.distances(plan)?;
    for fewer in FEWER.into_iter().filter(|&fewer| fewer < k) {
        let sparse = nearest(graph, fewer, &test.keep);
        let far = test.distances(&test.plan_of(&sparse)?)?;
        let growth = Growth::between(&near, &far);
        if growth.held >= HELD {
            return test.judged(&near, (sparse, far, growth), fewer, k);
        }
    }
    Ok(None)
}

/// What all steps share.
struct Test<'a, 'p> {
    graph: &'a Graph,
    plan: &'a Plan,
    points: Option<PointsRef<'p>>,
    keep: BTreeSet<Ends>,
    sources: Vec<u32>,
    ctx: &'a Ctx,
}

impl Test<'_, '_> {
    fn judged(
        &self,
        near: &Array2<f64>,
        (sparse, far, growth): (Graph, Array2<f64>, Growth),
        fewer: usize,
        k: usize,
    ) -> Result<Option<Widespread>> {
        if growth.spread() < SPREAD {
            return Ok(None);
        }
        let mut edges = strained(self.graph, &sparse, near, &far, growth.median, self.ctx)?;
        let Some(&first) = edges.first() else { return Ok(None) };
        edges.truncate(NAMED);
        if on_curves(&sparse, &edges) {
            return Ok(None);
        }
        let leaves = self.points.as_ref().and_then(|points| leaves(points.reborrow(), &sparse, &first));
        let shortcut = match leaves {
            Some(clear) => clear,
            None => self.two_thirds(near, fewer, k)? || self.in_other_places(near, &sparse, first)?,
        };
        if !shortcut {
            return Ok(None);
        }
        let sound = self.sound(&far, fewer, k)?;
        Ok(Some(Widespread { edges, fewer, growth: [growth.median, growth.ninth], sound }))
    }

    /// Whether distances hang on the longest third of the neighbours too.
    fn two_thirds(&self, near: &Array2<f64>, fewer: usize, k: usize) -> Result<bool> {
        let two_thirds = (2 * k + 1) / 3;
        if two_thirds <= fewer {
            return Ok(false);
        }
        let growth = Growth::between(near, &self.with_neighbors(two_thirds)?);
        Ok(growth.held >= HELD_BY_TWO_THIRDS && growth.spread() >= SPREAD_OF_TWO_THIRDS)
    }

    /// Whether the spread stays when the edge that answers for most is put back, twice.
    fn in_other_places(&self, near: &Array2<f64>, sparse: &Graph, first: Shortcut) -> Result<bool> {
        let mut mended = with_edge(self.graph, sparse, (first.from, first.to));
        for (round, least) in SPREAD_MENDED.into_iter().enumerate() {
            let far = self.distances(&self.plan_of(&mended)?)?;
            let growth = Growth::between(near, &far);
            if growth.spread() < least {
                return Ok(false);
            }
            if round + 1 < SPREAD_MENDED.len() {
                let edges = strained(self.graph, &mended, near, &far, growth.median, self.ctx)?;
                let Some(next) = edges.first() else { return Ok(false) };
                mended = with_edge(self.graph, &mended, (next.from, next.to));
            }
        }
        Ok(true)
    }

    /// The largest number of neighbours from which the sparser graph differs evenly.
    fn sound(&self, far: &Array2<f64>, fewer: usize, k: usize) -> Result<Option<usize>> {
        /// Numbers that are tried, at even steps.
        const TRIED: usize = 16;
        let step = (k - fewer).div_ceil(TRIED).max(1);
        for count in (fewer + 1..k).rev().step_by(step) {
            if Growth::between(&self.with_neighbors(count)?, far).spread() < SPREAD {
                return Ok(Some(count));
            }
        }
        Ok(None)
    }

    fn with_neighbors(&self, count: usize) -> Result<Array2<f64>> {
        self.distances(&self.plan_of(&nearest(self.graph, count, &self.keep))?)
    }

    fn plan_of(&self, graph: &Graph) -> Result<Plan> {
        Plan::new(graph, PathMethod::Heap, self.sources.len(), Some(self.plan.order()), self.ctx)
    }

    /// From each source, by node.
    fn distances(&self, plan: &Plan) -> Result<Array2<f64>> {
        let run = |part: &[u32]| rows(plan, &Sources::nodes(part), self.ctx);
        let size = self.sources.len().div_ceil(PARTS).max(1);
        let parts: Result<Vec<Array2<f64>>> =
            self.ctx.install(|| self.sources.par_chunks(size).map(run).collect());
        let parts = parts?;
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        concatenate(Axis(0), &views).map_err(|fault| Error::input(fault.to_string()))
    }
}

/// Whether the nodes near the ends of the edges, by paths that do not use them, lie on curves:
/// by maximum likelihood their dimension is about one.
fn on_curves(sparse: &Graph, edges: &[Shortcut]) -> bool {
    let (mut sum, mut count) = (0.0, 0.0);
    for end in edges.iter().flat_map(|edge| [edge.from, edge.to]) {
        let near = nearest_by_path(sparse, end, AROUND);
        if let (AROUND, Some(&(_, last))) = (near.len(), near.last()) {
            sum += near.iter().map(|&(_, distance)| ln(last / distance)).sum::<f64>();
            count += (AROUND - 1) as f64;
        }
    }
    count < CURVE * sum
}

/// By how much distances grow.
struct Growth {
    /// Share of the pairs that are still connected.
    held: f64,
    median: f64,
    ninth: f64,
}

impl Growth {
    fn between(near: &Array2<f64>, far: &Array2<f64>) -> Growth {
        let step = near.len().div_ceil(PAIRS).max(1);
        let mut ratios = Vec::with_capacity(near.len() / step + 1);
        let mut all = 0usize;
        for (&near, &far) in near.iter().zip(far).step_by(step) {
            if near > 0.0 && near.is_finite() {
                all += 1;
                if far.is_finite() {
                    ratios.push(far / near);
                }
            }
        }
        if ratios.is_empty() {
            return Growth { held: 0.0, median: 1.0, ninth: 1.0 };
        }
        let held = ratios.len() as f64 / all as f64;
        let mut decile = |tenths: usize| {
            let place = tenths * (ratios.len() - 1) / 10;
            *ratios.select_nth_unstable_by(place, f64::total_cmp).1
        };
        Growth { held, median: decile(5), ninth: decile(9) }
    }

    fn spread(&self) -> f64 {
        self.ninth / self.median
    }
}
