//! Which kernel runs, and everything it needs that does not depend on the sources.
//!
//! Owns: the names of the kernels and the choice between them, made from the
//! graph and the number of sources alone (no clocks), so that it is the same on
//! every run. Place: between a connected [`Graph`] and [`super::rows`].

use serde::{Deserialize, Serialize};

use super::heap::PathGraph;
use super::locality;
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::Graph;

/// The shortest-path kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum PathMethod {
    /// Chosen from the graph and the number of sources.
    #[default]
    Auto,
    /// Dijkstra, one source at a time.
    Heap,
    /// Floyd and Warshall's dense recursion, for small or dense graphs.
    FloydWarshall,
    /// Label-correcting over batches of nearby sources.
    Batch,
    /// Sweeps along an elimination order, for graphs of low dimension.
    Sweep,
}

impl PathMethod {
    /// All methods.
    pub const ALL: &'static [PathMethod] = &[
        PathMethod::Auto,
        PathMethod::Heap,
        PathMethod::FloydWarshall,
        PathMethod::Batch,
        PathMethod::Sweep,
    ];

    /// The name a user writes; `"D"` and `"FW"` as in scikit-learn.
    pub fn name(self) -> &'static str {
        match self {
            PathMethod::Auto => "auto",
            PathMethod::Heap => "D",
            PathMethod::FloydWarshall => "FW",
            PathMethod::Batch => "batch",
            PathMethod::Sweep => "sweep",
        }
    }

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<PathMethod> {
        PathMethod::ALL.iter().copied().find(|method| method.name() == name)
    }
}

/// A graph made ready for many shortest-path runs.
#[derive(Debug)]
pub struct Plan {
    pub(super) order: Vec<u32>,
    pub(super) position: Vec<u32>,
    pub(super) kernel: Kernel,
}

/// What each kernel needs.
#[derive(Debug)]
pub(super) enum Kernel {
    Heap(PathGraph),
    Batch(PathGraph),
}

/// Fewer sources than this do not fill enough lanes to pay for a batch.
const FEW_SOURCES: usize = 8;

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
        let order = order.map_or_else(|| locality::clumps(graph), <[u32]>::to_vec);
        let position = locality::positions(&order, graph.len())?;
        let paths = PathGraph::new(graph, &order, &position);
        let kernel = match method {
            PathMethod::Heap => Kernel::Heap(paths),
            PathMethod::Auto if n_sources < FEW_SOURCES => Kernel::Heap(paths),
            _ => Kernel::Batch(paths),
        };
        Ok(Plan { order, position, kernel })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The kernel that runs; never `Auto`.
    pub fn method(&self) -> PathMethod {
        match self.kernel {
            Kernel::Heap(_) => PathMethod::Heap,
            Kernel::Batch(_) => PathMethod::Batch,
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
