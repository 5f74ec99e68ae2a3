//! The geodesic distances of a neighbourhood graph: the plan of its shortest paths, kept
//! for new rows, and the edges that look like shortcuts.
//!
//! Place: after [`NeighborhoodGraph`], before the distances become a kernel or the
//! coordinates of landmarks. A new row reaches training rows through its own neighbours
//! only, with training rows as intermediate nodes: the survey's (41).

use std::sync::OnceLock;

use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

use super::{PathMethod, Plan, Recomputed, Storage, all_pairs, fixed_pairs};
use crate::context::Ctx;
use crate::error::Result;
use crate::graph::{NeighborhoodGraph, shortcuts, warn_of_shortcuts, warn_of_widespread, widespread};
use crate::linalg::packed::{Fixed48, HalfMatrix, PackedDistances};

/// Shortest paths over a connected neighbourhood graph.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Geodesics {
    graph: NeighborhoodGraph,
    method: PathMethod,
    /// Ends of suspicious edges, as rows of the data.
    shortcuts: Vec<[u32; 2]>,
    #[serde(skip)]
    plan: OnceLock<Plan>,
}

impl Geodesics {
    /// Choose the way to shortest paths from about `n_sources` rows, look for edges that
    /// jump between parts of the manifold and warn of them.
    pub fn new(graph: NeighborhoodGraph, method: PathMethod, n_sources: usize, ctx: &Ctx) -> Result<Self> {
        let plan = Plan::new(graph.lengths(), method, n_sources.min(graph.len()), graph.order(), ctx)?;
        let bridges = graph.bridges_in_use();
        let mut found = shortcuts(graph.lengths(), &plan, &bridges, ctx)?;
        let row = |node: u32| graph.rows().data_row(node);
        warn_of_shortcuts(&found, row, graph.length_unit(), ctx);
        if found.is_empty()
            && let Some(many) = widespread(graph.lengths(), &plan, graph.locator().points(), &bridges, ctx)?
        {
            warn_of_widespread(&many, row, graph.length_unit(), ctx);
            found = many.edges;
        }
        let shortcuts = found.iter().map(|edge| [row(edge.from) as u32, row(edge.to) as u32]).collect();
        Ok(Geodesics { graph, method: plan.method(), shortcuts, plan: OnceLock::from(plan) })
    }

    /// The graph that the paths run on.
    pub fn graph(&self) -> &NeighborhoodGraph {
        &self.graph
    }

    /// How shortest paths are found.
    pub fn method(&self) -> PathMethod {
        self.method
    }

    /// Ends of edges that look like shortcuts, as rows of the data.
    pub fn shortcuts(&self) -> &[[u32; 2]] {
        &self.shortcuts
    }

    /// The prepared paths; made again in a model that was read back.
    pub fn plan(&self, ctx: &Ctx) -> Result<&Plan> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let graph = &self.graph;
        let plan = Plan::new(graph.lengths(), self.method, graph.len(), graph.order(), ctx)?;
        Ok(self.plan.get_or_init(|| plan))
    }

    /// The distances between all rows in use, stored as `storage` says.
    pub fn all_pairs(&self, storage: Storage, ctx: &Ctx) -> Result<AllPairs<'_>> {
        let plan = self.plan(ctx)?;
        Ok(match storage {
            Storage::Single => AllPairs::Single(all_pairs(plan, ctx)?),
            Storage::Recompute => AllPairs::Recomputed(Recomputed(plan)),
            Storage::Double => AllPairs::Double(all_pairs(plan, ctx)?),
            // Searches in double precision build on one another, others do not.
            Storage::Auto if plan.method() == PathMethod::Batch => AllPairs::Double(all_pairs(plan, ctx)?),
            Storage::Auto | Storage::Fixed => match fixed_pairs(plan, ctx)? {
                Some(pairs) => AllPairs::Fixed(pairs),
                None => AllPairs::Double(all_pairs(plan, ctx)?),
            },
        })
    }

    /// The distances between all rows of the data; infinite from and to rows that are
    /// not in use.
    pub fn matrix_of_data(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let map = self.graph.rows();
        let rows = map.data_rows();
        // The packed half and the full matrix; once more where rows were left out.
        let bytes_per_pair = if map.used().is_none() { 12 } else { 20 };
        let hint = "ask planish.geodesic_distances for some of its rows";
        let need = (rows as u64).saturating_mul(rows as u64).saturating_mul(bytes_per_pair);
        ctx.reserve(need, "the full matrix of geodesic distances", hint)?;
        let packed: PackedDistances = all_pairs(self.plan(ctx)?, ctx)?;
        let within = packed.to_dense(ctx)?;
        let Some(used) = map.used() else { return Ok(within) };
        let mut all = Array2::from_elem((rows, rows), f64::INFINITY);
        all.diag_mut().fill(0.0);
        for (from, &i) in within.axis_iter(Axis(0)).zip(used) {
            for (&length, &j) in from.iter().zip(used) {
                all[[i as usize, j as usize]] = length;
            }
        }
        Ok(all)
    }
}

/// The distances between all pairs of rows, stored or not.
pub enum AllPairs<'a> {
    /// In double precision.
    Double(PackedDistances<f64>),
    /// In whole numbers of 48 bits.
    Fixed(PackedDistances<Fixed48>),
    /// In single precision.
    Single(PackedDistances<f32>),
    /// Computed again whenever they are read.
    Recomputed(Recomputed<'a>),
}

impl AllPairs<'_> {
    /// How they are stored, never `Auto`.
    pub fn storage(&self) -> Storage {
        match self {
            AllPairs::Double(_) => Storage::Double,
            AllPairs::Fixed(_) => Storage::Fixed,
            AllPairs::Single(_) => Storage::Single,
            AllPairs::Recomputed(_) => Storage::Recompute,
        }
    }

    /// As a symmetric matrix.
    pub fn matrix(&self) -> &dyn HalfMatrix {
        match self {
            AllPairs::Double(packed) => packed,
            AllPairs::Fixed(packed) => packed,
            AllPairs::Single(packed) => packed,
            AllPairs::Recomputed(recomputed) => recomputed,
        }
    }
}
