//! Laplacian eigenmaps: the smoothest functions on a neighbourhood graph.
//!
//! Belkin and Niyogi 2003; normalised as Shi and Malik 2000, and to the letter as
//! scikit-learn's `SpectralEmbedding`. Symbols: W the affinities, D their row sums,
//! L = I − D^-½ W D^-½, or D − W when it is not to be normalised.
//!
//! 1. affinities W: who is whose neighbour, heat, a kernel, or given    n·k·log n
//! 2. eigenvectors v of L after the trivial one, λ ascending
//! 3. coordinates D^-½ v, of D − W the v themselves
//!
//! A new row x is placed by y_c(x) = Σ_j w(x, x_j) y_jc / (d(x)(1 − λ_c)), of D − W
//! with d(x) − λ_c below: the eigenvalue equation of step 2 with the row's own
//! affinities (`new_affinities`).

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::kernel::affinity_rule::{AffinityName, AffinityRule, Weights, automatic_neighbors};
use crate::kernel::affinity_spread::{affinities_of_data, coordinates_of_data};
use crate::kernel::affinity_graph::AffinityGraph;
use crate::graph::Isolated;
use crate::neighbors::{MetricName, NeighborsAlgorithm};
use crate::spectrum::SparseSolver;
use crate::input::check::check_components;
use crate::kernel::affinity_graph::Source;
use crate::extend::affinities::Training;
use crate::spectrum::laplacian::{Problem, Smoothest, Telling, Walk, functions, smoothest};
use crate::context::Ctx;
use crate::spectrum::Knobs;
use crate::error::{Error, Result};
use crate::extend::Nystrom;
use crate::graph::{Components, Policy};
use crate::kernel::Affinity;
use crate::kernel::laplacian::{FlippedLaplacian, NormalizedAffinity, normalized_laplacian, plain_laplacian, usable_degrees};
use crate::params::params;
use crate::method::{Attribute, Method, Model};
use crate::input::Data;
use crate::spectrum::{Options, basis_bytes, fix_signs};

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
        /// Whether the Laplacian is the normalised one; otherwise D − W.
        norm_laplacian: bool = true,
    }
}

/// A fitted [`SpectralEmbedding`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedSpectralEmbedding {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    /// ‖Lv − λv‖ of each column.
    residuals: Vec<f64>,
    iterations: usize,
    affinity: Affinity,
    /// What each row that takes part is to itself, where that is known.
    own: Option<Vec<f64>>,
    labels: Vec<usize>,
    kept: Option<Vec<u32>>,
    bridges: Array2<i64>,
    source: Source,
    formula: Nystrom,
    n_neighbors: Option<usize>,
    gamma: Option<f64>,
    bandwidth: Option<f64>,
}

impl SpectralEmbedding {
    fn options(&self) -> Result<Options> {
        /// A residual that is allowed to be larger says nothing any more.
        const LOOSEST: f64 = 0.5;
        let tol = self.eigen_tol.map_or(0.0, |tol| if tol.is_finite() { tol.min(LOOSEST) } else { tol });
        self.eigen_solver.unwrap_or(SparseSolver::Auto).options(tol, None).map_err(|error| match error {
            Error::Param { name: "tol", why } => Error::param("eigen_tol", why),
            other => other,
        })
    }

    fn affinities(&self) -> AffinityRule {
        AffinityRule {
            affinity: self.affinity,
            gamma: self.gamma,
            weights: self.weights,
            bandwidth: self.bandwidth,
            n_neighbors: self.n_neighbors,
            radius: self.radius,
            metric: self.metric,
            p: self.p,
            algorithm: self.neighbors_algorithm.algorithm(),
            policy: self.disconnected,
            isolated: self.isolated,
        }
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
}

/// Coordinates of the rows that take part, and the eigenpairs they come from.
struct Found {
    coordinates: Array2<f64>,
    smooth: Smoothest,
}

impl SpectralEmbedding {
    fn functions(
        &self,
        affinity: &Affinity,
        pieces: &Components,
        order: Option<&[u32]>,
        source: &Source,
        ctx: &Ctx,
    ) -> Result<Found> {
        let telling = Telling {
            knobs: Knobs { max_iter: false, tol: "eigen_tol" },
            contrast: match (self.affinity, self.weights) {
                (AffinityName::Rbf, _) => "raise `gamma`",
                (AffinityName::Precomputed, _) => "give affinities that differ",
                (_, Weights::Connectivity) if self.radius.is_some() => "lower `radius`",
                (_, Weights::Connectivity) => "lower `n_neighbors`",
                (_, Weights::Heat) if self.radius.is_some() => "lower `bandwidth` or `radius`",
                (_, Weights::Heat) => "lower `bandwidth` or `n_neighbors`",
            },
        };
        let solve = |walk: Walk<'_>, measure: &[f64]| {
            let problem = Problem { walk, order, measure, pieces };
            smoothest(problem, self.n_components, &self.options()?, telling, ctx)
        };
        let degrees = affinity.degrees();
        let (mut coordinates, smooth) = if self.norm_laplacian {
            let degrees = usable_degrees(degrees);
            let walk = match affinity {
                Affinity::Sparse(graph) => Walk::Sparse(normalized_laplacian(graph, None, &degrees, ctx)?),
                Affinity::Dense(matrix) => Walk::normalized(NormalizedAffinity::new(matrix.view(), &degrees)),
            };
            let smooth = solve(walk, &degrees)?;
            let mut coordinates = functions(&smooth, affinity, &degrees, ctx)?;
            // Over the roots of the degrees that were given.
            let scale = source.affinity_scale();
            coordinates.mapv_inplace(|value| scale.into_root(value));
            (coordinates, smooth)
        } else {
            let walk = match affinity {
                Affinity::Sparse(graph) => Walk::Sparse(plain_laplacian(graph, &degrees, ctx)?),
                Affinity::Dense(matrix) => Walk::plain(FlippedLaplacian::new(matrix.view(), &degrees)),
            };
            let smooth = solve(walk, &vec![1.0; degrees.len()])?;
            (smooth.vectors.clone(), smooth)
        };
        fix_signs(&mut coordinates);
        Ok(Found { coordinates, smooth })
    }
}

impl Method for SpectralEmbedding {
    type Model = FittedSpectralEmbedding;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedSpectralEmbedding> {
        let rows = data.rows();
        self.check(rows)?;
        let features = if let Data::Points(points) = data { points.cols() } else { 0 };
        let way_out = "use affinity='nearest_neighbors' with fewer neighbours, or fit on a subset of the rows \
                       and place the others with `transform`";
        ctx.reserve(self.memory(rows, features), "SpectralEmbedding", way_out)?;
        let (graph, n_neighbors) = self.affinities().build(data, ctx)?;
        let AffinityGraph { affinity, own, pieces, labels, kept, bridges, source, bandwidth } = graph;
        check_components(self.n_components, affinity.len() - 1, "rows of the largest component - 1")?;
        let order = if let Source::Neighborhood { manifold, .. } = &source { manifold.order() } else { None };
        let Found { coordinates, smooth } = self.functions(&affinity, &pieces, order, &source, ctx)?;
        let scale = source.affinity_scale();
        // D − W has the unit of the affinities.
        let given = |sizes: &[f64]| -> Vec<f64> {
            sizes.iter().map(|&size| if self.norm_laplacian { size } else { scale.back(size) }).collect()
        };
        let formula = if self.norm_laplacian {
            let walk: Vec<f64> = smooth.values.iter().map(|value| 1.0 - value).collect();
            Nystrom::new(coordinates.clone(), &walk, |_| 1.0, |value| Some(1.0 / value))
        } else {
            Nystrom::of_laplacian(coordinates.clone(), &smooth.values)
        };
        let embedding = coordinates_of_data(coordinates, &source, kept.as_deref(), rows, ctx)?;
        Ok(FittedSpectralEmbedding {
            embedding,
            eigenvalues: given(&smooth.values),
            residuals: given(&smooth.residuals),
            iterations: smooth.iterations.max(1),
            affinity,
            own,
            labels,
            kept,
            bridges,
            formula,
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

impl FittedSpectralEmbedding {
    /// Eigenvalues of the Laplacian, ascending, without the trivial 0.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }
}

impl Model for FittedSpectralEmbedding {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let pieces = self.labels.iter().max().map_or(0, |last| last + 1);
        let (kept, rows) = (self.kept.as_deref(), self.labels.len());
        let scale = self.source.affinity_scale();
        let (affinity, diagonal) =
            affinities_of_data(&self.affinity, self.own.as_deref(), kept, rows, scale)?;
        let affinity = match affinity {
            Affinity::Sparse(graph) => Attribute::Graph(graph),
            Affinity::Dense(matrix) => Attribute::Matrix(matrix),
        };
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvalue_residuals", Attribute::vector(&self.residuals)),
            ("affinity_matrix", affinity),
            ("component_labels", Attribute::indices(&self.labels)),
            ("n_connected_components", Attribute::Int(pieces as i64)),
            ("bridges", Attribute::IndexMatrix(self.bridges.clone())),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(diagonal.map(|diagonal| ("affinity_diagonal", Attribute::vector(&diagonal))));
        named.extend(self.n_neighbors.map(|k| ("n_neighbors", Attribute::Int(k as i64))));
        named.extend(self.gamma.map(|gamma| ("gamma", Attribute::Float(gamma))));
        named.extend(self.bandwidth.map(|width| ("bandwidth", Attribute::Float(width))));
        Ok(named)
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let training = Training {
            affinity: &self.affinity,
            own: self.own.as_deref(),
            kept: self.kept.as_deref(),
            embedding: self.embedding.view(),
            formula: &self.formula,
        };
        self.source.place(&training, data, ctx)
    }
}
