//! Laplacian eigenmaps: the lowest eigenvectors of the Laplacian of a neighbourhood graph.
//!
//! Belkin and Niyogi 2003; normalised as Shi and Malik 2000, and to the letter as
//! scikit-learn's `SpectralEmbedding`. Symbols: W the affinities, D their row sums,
//! L = I − D^-½ W D^-½, or D − W when it is not to be normalised.
//!
//! 1. affinities W: neighbours, heat, a kernel, or given                n·k·log n
//! 2. eigenvectors v of L after the trivial one, λ ascending
//! 3. coordinates D^-½ v, of D − W the v themselves
//!
//! A new row x is placed by y_c(x) = Σ_j w(x, x_j) y_jc / (d(x)(1 − λ_c)), of D − W
//! with d(x) − λ_c below: the eigenvalue equation of step 2 with the row's own
//! affinities (`extend::affinities`).

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::dimension::{Coordinates, Ruler};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::extend::Nystrom;
use crate::extend::affinities::TrainingAffinities;
use crate::graph::{Isolated, Policy};
use crate::input::Data;
use crate::input::check::check_components;
use crate::input::rows::RowMap;
use crate::kernel::Affinity;
use crate::kernel::affinity_graph::{AffinityGraph, AffinitySource};
use crate::kernel::affinity_rule::{AffinityName, AffinityRule, Weights, automatic_neighbors};
use crate::kernel::laplacian::{
    FlippedLaplacian, NormalizedAffinity, normalized_laplacian, plain_laplacian, usable_degrees,
};
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::neighbors::{Metric, MetricName, NeighborsAlgorithm};
use crate::params::params;
use crate::scale::Scale;
use crate::spectrum::laplacian::{
    LaplacianAdvice, LaplacianPairs, LaplacianProblem, Laplacian, eigenfunctions, laplacian_eigenpairs,
};
use crate::spectrum::{Knobs, Options, SparseSolver, basis_bytes, fix_signs};

params! {
    /// Laplacian eigenmaps.
    SpectralEmbedding as "SpectralEmbedding" {
        /// Number of coordinates.
        n_components: Coordinates = Coordinates::Count(2),
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
        /// The weight of an edge.
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
        /// What to do when the graph has several connected components; where there are
        /// no distances between them `Bridge` keeps them, as `Separate` does.
        disconnected: Policy = Policy::Bridge,
        /// What happens to new rows without neighbours.
        isolated: Isolated = Isolated::Error,
        /// Whether the Laplacian is the normalised one; otherwise D − W.
        norm_laplacian: bool = true,
    }
}

impl Method for SpectralEmbedding {
    type Model = FittedSpectralEmbedding;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedSpectralEmbedding> {
        self.check(data.rows())?;
        ctx.reserve(self.memory(data.rows(), data.features()), "SpectralEmbedding", HINT)?;
        let (graph, n_neighbors) = self.affinities().build(data, ctx)?; //                      1
        check_components(self.n_components.count(), graph.affinity.len() - 1, "rows of the largest component - 1")?;
        let pairs; //                                                                           2
        let mut coordinates; //                                                                 3
        let formula;
        if self.norm_laplacian {
            let degrees = usable_degrees(graph.affinity.degrees());
            let laplacian = match &graph.affinity {
                Affinity::Sparse(weights) => {
                    Laplacian::Sparse(normalized_laplacian(weights, None, &degrees, ctx)?)
                }
                Affinity::Dense(matrix) => {
                    Laplacian::normalized(NormalizedAffinity::new(matrix.view(), &degrees))
                }
            };
            pairs = self.eigenpairs(laplacian, &degrees, &graph, ctx)?;
            coordinates = eigenfunctions(&pairs, &graph.affinity, &degrees, ctx)?;
            fix_signs(&mut coordinates);
            let walk: Vec<f64> = pairs.values.iter().map(|value| 1.0 - value).collect();
            formula = Nystrom::new(coordinates.clone(), &walk, |_| 1.0, |value| Some(1.0 / value));
        } else {
            let degrees = graph.affinity.degrees();
            let laplacian = match &graph.affinity {
                Affinity::Sparse(weights) => Laplacian::Sparse(plain_laplacian(weights, &degrees, ctx)?),
                Affinity::Dense(matrix) => Laplacian::plain(FlippedLaplacian::new(matrix.view(), &degrees)),
            };
            pairs = self.eigenpairs(laplacian, &vec![1.0; degrees.len()], &graph, ctx)?;
            coordinates = pairs.vectors.clone();
            fix_signs(&mut coordinates);
            formula = Nystrom::of_laplacian(coordinates.clone(), &pairs.values);
        }
        Ok(FittedSpectralEmbedding {
            embedding: graph.rows.spread(coordinates),
            eigenvalues: pairs.values,
            residuals: pairs.residuals,
            iterations: pairs.iterations.max(1),
            formula,
            n_neighbors,
            normalized: self.norm_laplacian,
            affinity: graph.affinity,
            diagonal: graph.diagonal,
            labels: graph.labels,
            rows: graph.rows,
            bridges: graph.bridges,
            bandwidth: graph.bandwidth,
            source: graph.source,
        })
    }

    fn ruler(&self) -> Result<Ruler> {
        Ok(match self.affinity {
            AffinityName::Precomputed => Ruler::Unknown("affinities do not say how far rows are apart"),
            AffinityName::Rbf => Ruler::Metric(Some(Metric::Euclidean)),
            AffinityName::PrecomputedNearestNeighbors => Ruler::Metric(None),
            AffinityName::NearestNeighbors => Ruler::Metric(self.metric.metric(self.p)?),
        })
    }

    fn scaling(&self) -> Scaling {
        match self.affinity {
            AffinityName::Rbf => Scaling::Absolute,
            AffinityName::Precomputed => Scaling::Affinities,
            _ if self.metric.ignores_scale() => Scaling::Angles,
            _ => Scaling::Distances,
        }
    }

    fn rescaled(&self, lengths: Scale) -> Self {
        let length = |length: Option<f64>| length.map(|length| lengths.into(length));
        Self { radius: length(self.radius), bandwidth: length(self.bandwidth), ..self.clone() }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d) = (rows as f64, features as f64);
        let affinities = match self.affinity {
            AffinityName::Rbf => 16.0 * n * n + 8.0 * n * d,
            AffinityName::Precomputed => 8.0 * n * n.min(64.0),
            _ => {
                let own = self.n_neighbors.unwrap_or_else(|| automatic_neighbors(rows)) as f64;
                let degree = if self.radius.is_some() { 16.0 } else { own.min(n) };
                // Lists, the graph while it is assembled, its weights, the Laplacian.
                n * degree * 120.0 + 16.0 * n * d
            }
        };
        (affinities + n * basis_bytes(self.n_components.count())) as u64
    }
}

impl SpectralEmbedding {
    /// Step 2: the eigenpairs of the Laplacian after the trivial one; `measure` is the
    /// square of the null vector.
    fn eigenpairs(
        &self,
        laplacian: Laplacian<'_>,
        measure: &[f64],
        graph: &AffinityGraph,
        ctx: &Ctx,
    ) -> Result<LaplacianPairs> {
        let advice = LaplacianAdvice {
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
        let order = match &graph.source {
            AffinitySource::Neighborhood { graph, .. } => graph.order(),
            _ => None,
        };
        let problem = LaplacianProblem { laplacian, order, measure, components: &graph.components };
        laplacian_eigenpairs(problem, self.n_components.count(), &self.options()?, advice, ctx)
    }

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
            algorithm: self.neighbors_algorithm,
            policy: self.disconnected,
            isolated: self.isolated,
        }
    }

    /// γ and the widths, wherever they are used.
    fn check(&self, rows: usize) -> Result<()> {
        check_components(self.n_components.count(), rows.saturating_sub(1), "n_samples - 1")?;
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

const HINT: &str = "use affinity='nearest_neighbors' with fewer neighbours, or fit on a subset of the rows and \
                    place the others with `transform`";

/// A fitted [`SpectralEmbedding`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedSpectralEmbedding {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    /// ‖Lv − λv‖ of each column.
    residuals: Vec<f64>,
    iterations: usize,
    affinity: Affinity,
    /// The affinity of each row in use to itself, where that is known.
    diagonal: Option<Vec<f64>>,
    labels: Vec<usize>,
    rows: RowMap,
    bridges: Vec<[u32; 2]>,
    source: AffinitySource,
    formula: Nystrom,
    n_neighbors: Option<usize>,
    bandwidth: Option<f64>,
    normalized: bool,
}

impl FittedSpectralEmbedding {
    /// The affinities of all rows of the data, and the diagonal where a graph has no
    /// entries for it.
    fn affinities_of_data(&self) -> Result<(Attribute, Option<Vec<f64>>)> {
        let affinity = match self.rows.used() {
            Some(used) => self.affinity.spread_over(used, self.rows.data_rows())?,
            None => self.affinity.clone(),
        };
        let diagonal = self.diagonal.as_ref().map(|diagonal| self.rows.spread_vector(diagonal));
        Ok(match affinity {
            Affinity::Sparse(graph) => (Attribute::Graph(graph), diagonal),
            Affinity::Dense(mut matrix) => {
                let diagonal = diagonal.unwrap_or_else(|| vec![0.0; matrix.nrows()]);
                matrix.diag_mut().iter_mut().zip(diagonal).for_each(|(slot, value)| *slot = value);
                (Attribute::Matrix(matrix), None)
            }
        })
    }
}

impl Model for FittedSpectralEmbedding {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let (affinity, diagonal) = self.affinities_of_data()?;
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvalue_residuals", Attribute::vector(&self.residuals)),
            ("affinity_matrix", affinity),
            ("bridges", Attribute::pairs(&self.bridges)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(Attribute::of_components(&self.labels));
        named.extend(diagonal.map(|diagonal| ("affinity_diagonal", Attribute::vector(&diagonal))));
        named.extend(self.n_neighbors.map(|k| ("n_neighbors", Attribute::Int(k as i64))));
        if let AffinitySource::Kernel { gamma, .. } = self.source {
            named.push(("gamma", Attribute::Float(gamma)));
        }
        named.extend(self.bandwidth.map(|width| ("bandwidth", Attribute::Float(width))));
        Ok(named)
    }

    fn units(&self) -> Units {
        // D^-½ and D − W have those of the affinities.
        match (&self.source, self.normalized) {
            (AffinitySource::Affinities, true) => {
                Units { coordinates: -1, attributes: &[("affinity_matrix", 2), ("affinity_diagonal", 2)] }
            }
            (AffinitySource::Affinities, false) => Units {
                coordinates: 0,
                attributes: &[
                    ("affinity_matrix", 2),
                    ("affinity_diagonal", 2),
                    ("eigenvalues", 2),
                    ("eigenvalue_residuals", 2),
                ],
            },
            _ => Units { coordinates: 0, attributes: &[("bandwidth", 1)] },
        }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let training = TrainingAffinities {
            affinity: &self.affinity,
            diagonal: self.diagonal.as_deref(),
            rows: &self.rows,
            embedding: self.embedding.view(),
            formula: &self.formula,
        };
        self.source.place(&training, data, ctx)
    }
}
