//! From the parameters of [`SpectralEmbedding`] to the affinities of its data: which
//! of the ways of [`super::affinity_graph`] is meant, and whether the data fits it.
//!
//! Place: the first step of that recipe. Cost: that of the way taken.

use super::affinity_graph::{self, AffinityGraph, EdgeWeight};
use super::choices::{MetricName, Outliers, unfit};
use super::neighborhood::{Setting, hood};
use super::spectral_embedding::{AffinityName, SpectralEmbedding, Weights};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::Csr;
use crate::neighbors::Hood;
use crate::pipeline::Data;

/// Neighbours of a row, itself counted, when the caller does not say: a tenth of
/// the rows. A tenth of fewer than 20 would be the row alone.
pub(super) fn automatic_neighbors(rows: usize) -> usize {
    if rows < 20 { rows.min(6) } else { rows / 10 }
}

impl SpectralEmbedding {
    fn edge_weight(&self) -> EdgeWeight {
        match self.weights {
            Weights::Connectivity => EdgeWeight::Connectivity,
            Weights::Heat => EdgeWeight::Heat(self.bandwidth),
        }
    }

    /// `n_neighbors` as it is used, itself counted; `None` with a radius.
    fn neighbors_used(&self, rows: usize) -> Result<Option<usize>> {
        if self.radius.is_some() {
            hood(self.n_neighbors, self.radius)?;
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

    fn by_neighbors(&self, data: Data<'_>, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        let k = self.neighbors_used(data.rows())?;
        let setting = Setting {
            hood: hood(k.map(|k| k - 1), self.radius)?,
            metric: self.metric.metric(self.p)?,
            algorithm: self.neighbors_algorithm.algorithm(),
            policy: self.disconnected,
            outliers: Outliers::Keep,
            pieces_may_stay: false,
        };
        Ok((affinity_graph::of_neighborhood(&setting, self.edge_weight(), self.isolated, data, ctx)?, k))
    }

    /// Stored edges are the neighbours; `n_neighbors` takes the nearest of them and
    /// counts the row itself where the graph does.
    fn by_lengths(&self, graph: &Csr, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        crate::input::check::check_offsets(graph)?;
        let names_itself = |row: usize| graph.row(row).0.contains(&(row as u32));
        let own = usize::from((0..graph.rows()).all(names_itself));
        let others = |row: usize| graph.row(row).0.iter().filter(|&&other| other as usize != row).count();
        let longest = (0..graph.rows()).map(others).max().unwrap_or(0);
        let hood = match (self.n_neighbors, self.radius) {
            (None, None) => Hood::Nearest(graph.rows()),
            (Some(k), None) if k > own => Hood::Nearest(k - own),
            (k, radius) => hood(k.map(|k| k.saturating_sub(own)), radius)?,
        };
        let (weight, policy) = (self.edge_weight(), self.disconnected);
        let graph = affinity_graph::of_length_graph(graph, hood, weight, policy, self.isolated, ctx)?;
        Ok((graph, self.n_neighbors.map(|k| k.min(longest + own))))
    }

    /// The affinities of the data, and `n_neighbors` as it was used.
    pub(super) fn affinities(&self, data: Data<'_>, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        let policy = self.disconnected;
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
