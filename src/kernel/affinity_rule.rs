//! Which affinities the data has: by its neighbours, by a kernel between all rows, or
//! given by the caller, and whether the data fits that.
//!
//! Place: the first step of Laplacian eigenmaps, before [`super::affinity_graph`], which
//! builds what is chosen here. Cost: that of the affinities chosen.

use super::affinity_graph::{self, AffinityGraph, EdgeWeight};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::{Isolated, NeighborhoodParams, Outliers, Policy};
use crate::input::check::{check_offsets, unfit};
use crate::input::{Csr, Data};
use crate::neighbors::{Algorithm, MetricName, NeighborRule};
use crate::params::choices;

choices! {
    /// Where affinities come from, as scikit-learn names it.
    AffinityName {
        /// The neighbourhood graph of the data.
        NearestNeighbors = "nearest_neighbors",
        /// exp(−γ‖x − y‖²) between all pairs.
        Rbf = "rbf",
        /// The caller brings affinities.
        Precomputed = "precomputed",
        /// The caller brings a sparse graph of distances.
        PrecomputedNearestNeighbors = "precomputed_nearest_neighbors",
    }
}

choices! {
    /// What the edges of the neighbourhood graph weigh.
    Weights {
        /// ½ for each of the two rows that has the other among its neighbours.
        Connectivity = "connectivity",
        /// exp(−d²/bandwidth²).
        Heat = "heat",
    }
}

/// What a caller says about affinities.
#[derive(Debug, Clone)]
pub struct AffinityRule {
    /// Where they come from.
    pub affinity: AffinityName,
    /// γ of the kernel between all rows; `None` is 1 / number of features.
    pub gamma: Option<f64>,
    /// What the edges of the neighbourhood graph weigh.
    pub weights: Weights,
    /// Width of the heat weights; `None` chooses it.
    pub bandwidth: Option<f64>,
    /// Neighbours of each row, the row itself counted.
    pub n_neighbors: Option<usize>,
    /// Rows within this distance are neighbours instead.
    pub radius: Option<f64>,
    /// Between points, with its power.
    pub metric: MetricName,
    /// Power of the Minkowski metric.
    pub p: f64,
    /// How neighbours are searched.
    pub algorithm: Algorithm,
    /// What happens to several connected components.
    pub policy: Policy,
    /// What happens to new rows without neighbours.
    pub isolated: Isolated,
}

/// Neighbours of a row, itself counted, when the caller does not say: a tenth of
/// the rows. A tenth of fewer than 20 would be the row alone.
pub fn automatic_neighbors(rows: usize) -> usize {
    if rows < 20 { rows.min(6) } else { rows / 10 }
}

impl AffinityRule {
    fn edge_weight(&self) -> EdgeWeight {
        match self.weights {
            Weights::Connectivity => EdgeWeight::Connectivity,
            Weights::Heat => EdgeWeight::Heat(self.bandwidth),
        }
    }

    /// `n_neighbors` as it is used, itself counted; `None` with a radius.
    fn neighbors_used(&self, rows: usize) -> Result<Option<usize>> {
        if self.radius.is_some() {
            NeighborRule::from_params(self.n_neighbors, self.radius)?;
            return Ok(None);
        }
        let k = self.n_neighbors.unwrap_or_else(|| automatic_neighbors(rows));
        if k < 2 {
            return Err(Error::param(
                "n_neighbors",
                format!("counts the row itself, so {k} leaves it no neighbour; give at least 2"),
            ));
        }
        if k > rows {
            return Err(Error::param(
                "n_neighbors",
                format!("counts the row itself and can be at most n_samples = {rows}, got {k}"),
            ));
        }
        Ok(Some(k))
    }

    fn neighborhood(&self, rule: NeighborRule) -> Result<NeighborhoodParams> {
        Ok(NeighborhoodParams {
            rule,
            metric: self.metric.metric(self.p)?,
            algorithm: self.algorithm,
            policy: self.policy,
            outliers: Outliers::Keep,
            isolated: self.isolated,
            conformal: false,
        })
    }

    fn by_neighbors(&self, data: Data<'_>, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        let k = self.neighbors_used(data.rows())?;
        let params = self.neighborhood(NeighborRule::from_params(k.map(|k| k - 1), self.radius)?)?;
        Ok((affinity_graph::of_neighborhood(&params, self.edge_weight(), data, ctx)?, k))
    }

    /// Stored edges are the neighbours; `n_neighbors` takes the nearest of them and
    /// counts the row itself where the graph does.
    fn by_lengths(&self, graph: &Csr, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        check_offsets(graph)?;
        let names_itself = |row: usize| graph.row(row).0.contains(&(row as u32));
        let own = usize::from((0..graph.rows()).all(names_itself));
        let others = |row: usize| graph.row(row).0.iter().filter(|&&other| other as usize != row).count();
        let longest = (0..graph.rows()).map(others).max().unwrap_or(0);
        let rule = match (self.n_neighbors, self.radius) {
            (None, None) => NeighborRule::Nearest(graph.rows()),
            (Some(k), None) if k > own => NeighborRule::Nearest(k - own),
            (k, radius) => NeighborRule::from_params(k.map(|k| k.saturating_sub(own)), radius)?,
        };
        let params = self.neighborhood(rule)?;
        let graph = affinity_graph::of_length_graph(graph, &params, self.edge_weight(), ctx)?;
        Ok((graph, self.n_neighbors.map(|k| k.min(longest + own))))
    }

    /// The affinities of the data, and `n_neighbors` as it was used.
    pub fn build(&self, data: Data<'_>, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        let policy = self.policy;
        match (self.affinity, data) {
            (AffinityName::NearestNeighbors, Data::Graph(graph))
                if self.metric == MetricName::Precomputed =>
            {
                self.by_lengths(graph, ctx)
            }
            (AffinityName::NearestNeighbors, Data::Points(_) | Data::Distances(_)) => {
                self.by_neighbors(data, ctx)
            }
            (AffinityName::NearestNeighbors, data) => {
                let precomputed = self.metric == MetricName::Precomputed;
                Err(unfit(data, precomputed, "distances or a graph of them"))
            }
            (AffinityName::PrecomputedNearestNeighbors, Data::Graph(graph)) => self.by_lengths(graph, ctx),
            (AffinityName::Rbf, Data::Points(points)) => {
                let gamma = self.gamma.unwrap_or(1.0 / points.cols() as f64);
                Ok((affinity_graph::of_kernel(points, gamma, policy, ctx)?, None))
            }
            (AffinityName::Precomputed, Data::Kernel(matrix)) => {
                Ok((affinity_graph::of_affinities(matrix, policy, ctx)?, None))
            }
            (AffinityName::Precomputed, Data::Graph(graph)) => {
                Ok((affinity_graph::of_affinity_graph(graph, policy, ctx)?, None))
            }
            (name, data) => {
                let needs = match name {
                    AffinityName::Rbf => "points",
                    AffinityName::Precomputed => "a matrix of affinities, full or sparse",
                    _ => "a sparse graph of distances",
                };
                let (name, got) = (name.name(), data.kind());
                Err(Error::param("affinity", format!("affinity='{name}' needs {needs}, got {got}")))
            }
        }
    }
}
