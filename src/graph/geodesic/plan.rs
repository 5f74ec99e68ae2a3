//! Which kernel runs, and everything it needs that does not depend on the sources.
//!
//! Owns: the names of the kernels and the choice between them, made from the
//! graph and the number of sources alone (no clocks), so that it is the same on
//! every run. Place: between a connected [`Graph`] and [`super::rows`].

use super::contraction::Supernodes;
use super::dijkstra::PathGraph;
use super::floyd::Dense;
use super::order;
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;
use crate::linalg::cholesky::elimination::{Elimination, Pattern};
use crate::params::choices;

choices! {
    /// The shortest-path kernels; `"D"` and `"FW"` as in scikit-learn.
    #[derive(Default)]
    PathMethod {
        /// Chosen from the graph and the number of sources.
        #[default]
        Auto = "auto",
        /// Dijkstra, one source at a time.
        Heap = "D",
        /// Floyd and Warshall's dense recursion, for small or dense graphs.
        FloydWarshall = "FW",
        /// Label-correcting over batches of nearby sources.
        Batch = "batch",
        /// Sweeps along an elimination order, for graphs of low dimension.
        Sweep = "sweep",
    }
}

/// A graph made ready for many shortest-path runs.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) order: Vec<u32>,
    pub(super) position: Vec<u32>,
    pub(super) kernel: Kernel,
}

/// What each kernel needs.
#[derive(Debug, Clone)]
pub(super) enum Kernel {
    Heap(PathGraph),
    Batch(PathGraph),
    Sweep(Supernodes),
    Floyd(Dense),
}

/// What a run costs, in nanoseconds of a busy core. Only their ratios matter;
/// they were fitted to neighbourhood graphs of 500 to 100 000 points of
/// intrinsic dimension 1 to 10 and of digit images, with 5 to 1000 neighbours.
mod cost {
    /// Per source and node: Dijkstra, at `degree` edges per node.
    pub fn heap(degree: f64) -> f64 {
        90.0 + 2.4 * degree
    }

    /// Per source and node: a batch of nearby sources.
    pub fn batch(degree: f64) -> f64 {
        20.0 + degree
    }

    /// Per source and edge after elimination: the sweep.
    pub const SWEEP: f64 = 0.18;

    /// Per addition of the elimination.
    pub const ELIMINATE: f64 = 0.3;

    /// Per edge of a node: finding the elimination order.
    pub const ORDER: f64 = 300.0;

    /// An order that costs less than this share of the run is always looked for.
    pub const NEGLIGIBLE: f64 = 0.02;

    /// How much faster the sweep must seem before it is preferred.
    pub const MARGIN: f64 = 1.5;

    /// A batch pays when at least one node in this many is a source. Sources
    /// further apart reach a node at different times, so it is passed on once
    /// for each of them.
    pub const SPARSEST_BATCH: usize = 8;

    /// Edges per node after elimination, guessed from the widest level of a
    /// breadth-first search among n nodes. A separator is about as wide, and
    /// eliminated it is complete: w²/2 edges, and as many again for each of the
    /// first few times that the halves are halved. Only decides whether the
    /// order is looked for; the true number is known before any sweep.
    pub fn fill(width: f64, n: f64) -> f64 {
        20.0 + 6.0 * width * width / n
    }
}

impl Plan {
    /// Choose and prepare.
    ///
    /// `n_sources` is how many sources will be run, as far as known. `order`
    /// lists the nodes so that nearby ones are near in it (a kd-tree's leaves);
    /// without it one is made from the graph.
    pub fn new(
        graph: &Graph,
        method: PathMethod,
        n_sources: usize,
        order: Option<&[u32]>,
        ctx: &Ctx,
    ) -> Result<Plan> {
        ctx.install(|| Plan::choose(graph, method, n_sources, order, ctx))
    }

    fn choose(
        graph: &Graph,
        method: PathMethod,
        n_sources: usize,
        order: Option<&[u32]>,
        ctx: &Ctx,
    ) -> Result<Plan> {
        ctx.check()?;
        // A wrong order is refused whether or not the kernel chosen has a use for it.
        order.map_or(Ok(Vec::new()), |order| order::positions(order, graph.len()))?;
        match method {
            PathMethod::Heap => Plan::on_graph(graph, order, Kernel::Heap),
            PathMethod::Batch => Plan::batch(graph),
            PathMethod::FloydWarshall => {
                let order: Vec<u32> = (0..graph.len() as u32).collect();
                Ok(Plan { position: order.clone(), order, kernel: Kernel::Floyd(Dense::new(graph, ctx)?) })
            }
            PathMethod::Sweep => match Elimination::new(pattern(graph), u64::MAX, ctx)? {
                Some(elimination) => Plan::sweep(graph, &elimination, ctx),
                None => Plan::batch(graph),
            },
            PathMethod::Auto => match worthwhile_elimination(graph, n_sources, ctx)? {
                Some(elimination) => Plan::sweep(graph, &elimination, ctx),
                None if sources_are_dense(graph, n_sources) => Plan::batch(graph),
                None => Plan::on_graph(graph, order, Kernel::Heap),
            },
        }
    }

    fn sweep(graph: &Graph, elimination: &Elimination, ctx: &Ctx) -> Result<Plan> {
        let hint = "choose path method 'batch'";
        ctx.reserve(elimination.bytes(), "the graph after elimination", hint)?;
        let kernel = Kernel::Sweep(Supernodes::new(graph, elimination, ctx)?);
        let order: Vec<u32> = elimination.sequence.iter().rev().copied().collect();
        let position = order::positions(&order, graph.len())?;
        Ok(Plan { order, position, kernel })
    }

    /// In an order of the graph's own: sources that are near in the data are not always near
    /// along it. In hundreds of dimensions (images) a node then surfaces three times instead
    /// of twice, in few it makes no difference.
    fn batch(graph: &Graph) -> Result<Plan> {
        Plan::on_graph(graph, None, Kernel::Batch)
    }

    fn on_graph(graph: &Graph, order: Option<&[u32]>, kernel: fn(PathGraph) -> Kernel) -> Result<Plan> {
        let order = order.map_or_else(|| order::clumps(graph), <[u32]>::to_vec);
        let position = order::positions(&order, graph.len())?;
        let kernel = kernel(PathGraph::new(graph, &order, &position));
        Ok(Plan { order, position, kernel })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The kernel that runs; never `Auto`.
    pub fn method(&self) -> PathMethod {
        match self.kernel {
            Kernel::Heap(_) => PathMethod::Heap,
            Kernel::Batch(_) => PathMethod::Batch,
            Kernel::Sweep(_) => PathMethod::Sweep,
            Kernel::Floyd(_) => PathMethod::FloydWarshall,
        }
    }

    /// How many positions a run has to cover for the first `wanted` to be
    /// right, the sources being among them.
    pub(super) fn reach(&self, wanted: usize) -> usize {
        match self.kernel {
            Kernel::Heap(_) | Kernel::Batch(_) => self.len(),
            Kernel::Sweep(_) | Kernel::Floyd(_) => wanted,
        }
    }

    /// Position → node: the order in which batches list their distances.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Node → position.
    pub fn positions(&self) -> &[u32] {
        &self.position
    }
}

fn sources_are_dense(graph: &Graph, n_sources: usize) -> bool {
    n_sources.saturating_mul(cost::SPARSEST_BATCH) >= graph.len()
}

/// An elimination order with which the sweep beats the other kernels, if there
/// is one and it fits into memory.
///
/// Finding the order takes as long as Dijkstra from some dozens of sources, so
/// with few sources it is looked for only on graphs thin enough to be sure to
/// use it. Floyd and Warshall's recursion is never the best: even on a complete
/// graph the sweep does the same additions.
fn worthwhile_elimination(graph: &Graph, n_sources: usize, ctx: &Ctx) -> Result<Option<Elimination>> {
    let (n, sources) = (graph.len() as f64, n_sources as f64);
    let degree = graph.targets().len() as f64 / n.max(1.0);
    let dense = sources_are_dense(graph, n_sources);
    // All pairs need each distance from one of its ends only.
    let sources = if n_sources >= graph.len() { 0.5 * sources } else { sources };
    let otherwise = sources * n * if dense { cost::batch(degree) } else { cost::heap(degree) };
    let order = n * degree * cost::ORDER;
    let per_edge = sources * cost::SWEEP;
    let pays =
        |fill: f64, work: f64| cost::MARGIN * (order + work * cost::ELIMINATE + fill * per_edge) < otherwise;
    if order > cost::NEGLIGIBLE * otherwise {
        if !pays(0.0, 0.0) {
            return Ok(None);
        }
        let per_node = cost::fill(order::widest_level(graph) as f64, n);
        if !pays(n * per_node, n * per_node * per_node) {
            return Ok(None);
        }
    }
    let most_fill = otherwise / (cost::MARGIN * per_edge);
    let Some(found) = Elimination::new(pattern(graph), most_fill as u64, ctx)? else { return Ok(None) };
    let fits = ctx.reserve(found.bytes(), "the graph after elimination", "").is_ok();
    Ok((fits && pays(found.fill as f64, found.work)).then_some(found))
}

fn pattern(graph: &Graph) -> Pattern<'_> {
    Pattern { offsets: graph.offsets(), targets: graph.targets() }
}
