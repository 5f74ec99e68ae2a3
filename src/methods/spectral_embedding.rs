//! Laplacian eigenmaps: the smoothest functions on a neighbourhood graph.
//!
//! Belkin and Niyogi 2003; normalised as Shi and Malik 2000, and to the letter as
//! scikit-learn's `SpectralEmbedding`. Symbols: W the affinities, D their row sums,
//! L = I − D^-½ W D^-½.
//!
//! 1. affinities W: who is whose neighbour, heat, a kernel, or given    n·k·log n
//! 2. eigenvectors v of L after the trivial one, λ ascending
//! 3. coordinates D^-½ v
//!
//! A new row x is placed by y_c(x) = Σ_j w(x, x_j) y_jc / (d(x)(1 − λ_c)), the
//! eigenvalue equation of step 2 with the row's own affinities
//! (`new_affinities`).

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::affinity_graph::{self, AffinityGraph, EdgeWeight};
use super::choices::{
    Isolated, MetricName, NeighborsAlgorithm, Outliers, SparseSolver, check_components, unfit,
};
use super::neighborhood::{Setting, hood};
use super::new_affinities::{Source, Training};
use super::smoothest::{Walk, functions, smoothest, spread_rows, with_equal_rows};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::extend::Nystrom;
use crate::graph::Policy;
use crate::input::{Csr, PointsRef};
use crate::kernel::Affinity;
use crate::kernel::laplacian::{NormalizedAffinity, normalized_laplacian, usable_degrees};
use crate::neighbors::Hood;
use crate::params::{choices, params};
use crate::pipeline::{Attribute, Data, Model, Recipe};
use crate::spectrum::{Options, basis_bytes, fix_signs};

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

params! {
    /// Laplacian eigenmaps.
    SpectralEmbedding as "SpectralEmbedding" {
        /// Number of coordinates.
        n_components: usize = 2,
        /// Where affinities come from.
        affinity: AffinityName = AffinityName::NearestNeighbors,
        /// γ of the kernel; `None` is 1 / number of features.
        gamma: Option<f64> = None,
        /// How the eigenproblem is solved; `None` is by size.
        eigen_solver: Option<SparseSolver> = None,
        /// Tolerance of the eigensolver; `None` is the tightest sensible.
        eigen_tol: Option<f64> = None,
        /// Neighbours of each row, the row itself counted as scikit-learn does;
        /// `None` is a tenth of the rows (fewer than 20 rows: up to 6).
        n_neighbors: Option<usize> = None,
        /// What an edge weighs.
        weights: Weights = Weights::Connectivity,
        /// Width of the heat weights, a length; `None` is the median distance to
        /// the last neighbour.
        bandwidth: Option<f64> = None,
        /// Rows within this distance are neighbours, instead of `n_neighbors`.
        radius: Option<f64> = None,
        /// How neighbours are searched; every choice is exact.
        neighbors_algorithm: NeighborsAlgorithm = NeighborsAlgorithm::Auto,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Minkowski,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// What to do when the graph is in pieces.
        disconnected: Policy = Policy::Bridge,
        /// What happens to new rows without neighbours.
        isolated: Isolated = Isolated::Error,
    }
}

/// A fitted [`SpectralEmbedding`].
#[derive(Debug, Serialize, Deserialize)]
pub struct FittedSpectralEmbedding {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    iterations: usize,
    affinity: Affinity,
    labels: Vec<usize>,
    kept: Option<Vec<u32>>,
    bridges: Array2<i64>,
    source: Source,
    formula: Nystrom,
    n_neighbors: Option<usize>,
    gamma: Option<f64>,
    bandwidth: Option<f64>,
}

/// Neighbours of a row, itself counted, when the caller does not say: a tenth of
/// the rows. A tenth of fewer than 20 would be the row alone.
fn automatic_neighbors(rows: usize) -> usize {
    if rows < 20 { rows.min(6) } else { rows / 10 }
}

impl SpectralEmbedding {
    fn options(&self) -> Result<Options> {
        let tol = self.eigen_tol.unwrap_or(0.0);
        self.eigen_solver.unwrap_or(SparseSolver::Auto).options(tol, None).map_err(|error| match error {
            Error::Param { name: "tol", why } => Error::param("eigen_tol", why),
            other => other,
        })
    }

    /// γ and the widths, wherever they are used.
    fn check(&self, rows: usize) -> Result<()> {
        check_components(self.n_components, rows.saturating_sub(1), "n_samples - 1")?;
        self.options()?;
        for (name, value) in [("gamma", self.gamma), ("bandwidth", self.bandwidth)] {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(Error::param(name, format!("must be a finite number above 0, got {value}")));
            }
        }
        if self.bandwidth.is_some() && self.weights == Weights::Connectivity {
            return Err(Error::param("bandwidth", "only weights='heat' has a bandwidth; set it or leave None"));
        }
        Ok(())
    }

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
        };
        Ok((affinity_graph::of_neighborhood(&setting, self.edge_weight(), self.isolated, data, ctx)?, k))
    }

    /// Stored edges are the neighbours; `n_neighbors` takes the nearest of them and
    /// counts the row itself where the graph does.
    fn by_lengths(&self, graph: &Csr, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        crate::input::check::check_offsets(graph)?;
        let names_itself = |row: usize| graph.row(row).0.contains(&(row as u32));
        let own = usize::from((0..graph.rows()).all(names_itself));
        let hood = match (self.n_neighbors, self.radius) {
            (None, None) => Hood::Nearest(graph.rows()),
            (Some(k), None) if k > own => Hood::Nearest(k - own),
            (k, radius) => hood(k.map(|k| k.saturating_sub(own)), radius)?,
        };
        let (weight, policy) = (self.edge_weight(), self.disconnected);
        let graph = affinity_graph::of_length_graph(graph, hood, weight, policy, self.isolated, ctx)?;
        Ok((graph, self.n_neighbors))
    }

    fn affinities(&self, data: Data<'_>, ctx: &Ctx) -> Result<(AffinityGraph, Option<usize>)> {
        let policy = self.disconnected;
        match (self.affinity, data) {
            (AffinityName::NearestNeighbors, Data::Graph(graph)) if self.metric == MetricName::Precomputed => {
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

impl Recipe for SpectralEmbedding {
    type Model = FittedSpectralEmbedding;

    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedSpectralEmbedding> {
        let rows = data.rows();
        self.check(rows)?;
        let features = if let Data::Points(points) = data { points.cols() } else { 0 };
        let way_out = "use affinity='nearest_neighbors' with fewer neighbours, or fit on a subset of the rows \
                       and place the others with `transform`";
        ctx.reserve(self.memory(rows, features), "SpectralEmbedding", way_out)?;
        let (graph, n_neighbors) = self.affinities(data, ctx)?;
        let AffinityGraph { affinity, pieces, labels, kept, bridges, source, bandwidth } = graph;
        check_components(self.n_components, affinity.len() - 1, "rows of the largest component - 1")?;
        let degrees = usable_degrees(affinity.degrees());
        let walk = match &affinity {
            Affinity::Sparse(graph) => Walk::Sparse(normalized_laplacian(graph, None, &degrees)?),
            Affinity::Dense(matrix) => Walk::Dense(NormalizedAffinity::new(matrix.view(), &degrees, false)),
        };
        let order = if let Source::Neighborhood { manifold, .. } = &source { manifold.order() } else { None };
        let smooth = smoothest(&walk, order, &degrees, &pieces, self.n_components, &self.options()?, ctx)?;
        drop(walk);
        let mut coordinates = functions(&smooth, &affinity, &degrees);
        // Over the roots of the degrees that were given.
        let scale = source.affinity_scale();
        coordinates.mapv_inplace(|value| scale.into_root(value));
        fix_signs(&mut coordinates);
        let walk: Vec<f64> = smooth.values.iter().map(|value| 1.0 - value).collect();
        let embedding = as_data_rows(coordinates.clone(), &source, kept.as_deref(), rows, ctx)?;
        Ok(FittedSpectralEmbedding {
            embedding,
            eigenvalues: smooth.values,
            iterations: smooth.iterations.max(1),
            affinity,
            labels,
            kept,
            bridges,
            formula: Nystrom::new(coordinates, &walk, |_| 1.0, |value| Some(1.0 / value)),
            n_neighbors,
            gamma: if let Source::Kernel { gamma, .. } = source { Some(gamma) } else { None },
            bandwidth,
            source,
        })
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d) = (rows as u64, features as u64);
        let basis = n * basis_bytes(self.n_components);
        match self.affinity {
            AffinityName::Rbf => 16 * n * n + basis + 8 * n * d,
            AffinityName::Precomputed => 8 * n * n.min(64) + basis,
            _ => {
                let own = self.n_neighbors.unwrap_or_else(|| automatic_neighbors(rows)) as u64;
                let degree = if self.radius.is_some() { 16 } else { own.min(n) };
                // Lists, the graph while it is assembled, its weights, the Laplacian.
                n * degree * 120 + basis + 16 * n * d
            }
        }
    }
}

/// Coordinates of the rows that take part as coordinates of the rows of the data:
/// equal rows get equal ones, rows left out NaN.
fn as_data_rows(
    coordinates: Array2<f64>,
    source: &Source,
    kept: Option<&[u32]>,
    rows: usize,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    if let Source::Neighborhood { manifold, .. } = source {
        return Ok(manifold.as_data_rows(coordinates));
    }
    let coordinates = match source {
        Source::Kernel { points, .. } => with_equal_rows(coordinates, |row| equal_row(points.view(), row), ctx)?,
        _ => coordinates,
    };
    Ok(spread_rows(coordinates, kept, rows))
}

/// The first row before this one that is equal to it.
fn equal_row(points: PointsRef<'_>, row: usize) -> Option<usize> {
    (0..row).find(|&before| points.row_equals(row, points, before))
}

impl FittedSpectralEmbedding {
    /// Eigenvalues of the normalised Laplacian, ascending, without the trivial 0.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The affinities of all rows of the data.
    fn affinity_of_data(&self) -> Affinity {
        let wide = self.kept.as_ref().map(|kept| self.affinity.spread_over(kept, self.labels.len()));
        let mut affinity = wide.and_then(Result::ok).unwrap_or_else(|| self.affinity.clone());
        let scale = self.source.affinity_scale();
        match &mut affinity {
            _ if scale.is_one() => {}
            Affinity::Dense(matrix) => matrix.mapv_inplace(|weight| scale.back(weight)),
            Affinity::Sparse(graph) => {
                if let Ok(given) = graph.rescaled(|weight| scale.back(weight)) {
                    *graph = given;
                }
            }
        }
        affinity
    }
}

impl Model for FittedSpectralEmbedding {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        let pieces = self.labels.iter().max().map_or(0, |last| last + 1);
        let affinity = match self.affinity_of_data() {
            Affinity::Sparse(graph) => Attribute::Graph(graph),
            Affinity::Dense(matrix) => Attribute::Matrix(matrix),
        };
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("affinity_matrix", affinity),
            ("component_labels", Attribute::indices(&self.labels)),
            ("n_connected_components", Attribute::Int(pieces as i64)),
            ("bridges", Attribute::IndexMatrix(self.bridges.clone())),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(self.n_neighbors.map(|k| ("n_neighbors", Attribute::Int(k as i64))));
        named.extend(self.gamma.map(|gamma| ("gamma", Attribute::Float(gamma))));
        named.extend(self.bandwidth.map(|width| ("bandwidth", Attribute::Float(width))));
        named
    }

    fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let training = Training {
            affinity: &self.affinity,
            kept: self.kept.as_deref(),
            embedding: self.embedding.view(),
            formula: &self.formula,
        };
        self.source.place(&training, data, ctx)
    }
}
