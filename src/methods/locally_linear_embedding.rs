//! Locally linear embedding in its four forms: coordinates in which every
//! neighbourhood keeps its own geometry.
//!
//! LLE (Roweis and Saul 2000), modified LLE (Zhang and Wang 2007), Hessian LLE
//! (Donoho and Grimes 2003), LTSA (Zhang and Zha 2004). Symbols: k neighbours,
//! d coordinates, M = Σ Sᵢ Bᵢ Sᵢᵀ.
//!
//! 1. neighbours, pieces                                   n·k·log n
//! 2. a block Bᵢ for every row (`kernel::local`)            n·k³
//! 3. their sum M (`kernel::alignment`)                    n·k²
//! 4. the d eigenvectors of M above the constant, unit columns
//!
//! A new row is its barycentric combination of its nearest training rows, and so
//! are its coordinates. Coordinates have no unit: columns have length one, as in
//! scikit-learn.

use std::sync::OnceLock;

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::extend::barycenter::Barycentric;
use crate::graph::{Isolated, Outliers};
use crate::kernel::local::LocalMethod;
use crate::neighbors::{MetricName, NeighborsAlgorithm};
use crate::spectrum::SparseSolver;
use crate::input::check::check_components;
use crate::embedding::layout::as_data_rows;
use crate::embedding::local_maps::LocalMap;
use crate::graph::local_neighborhoods::LocalRows;
use crate::embedding::local_warnings::tell_of_rank;
use crate::graph::neighborhood::{Setting, hood};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::{Graph, Policy};
use crate::kernel::local::Variant;
use crate::neighbors::Hood;
use crate::params::params;
use crate::method::{Attribute, Method, Model};
use crate::input::Data;
use crate::spectrum::{Options, basis_bytes};

params! {
    /// Locally linear embedding: standard, modified, Hessian, or by tangent spaces.
    LocallyLinearEmbedding as "LocallyLinearEmbedding" {
        /// Neighbours of each row; `None` when `radius` is given.
        n_neighbors: Option<usize> = Some(5),
        /// Number of coordinates.
        n_components: usize = 2,
        /// Regularisation of the weights, relative to the trace of the local covariance.
        reg: f64 = 1e-3,
        /// How the eigenproblem is solved.
        eigen_solver: SparseSolver = SparseSolver::Auto,
        /// Tolerance of the eigensolver; 0 is the tightest sensible.
        tol: f64 = 1e-6,
        /// A hint: the solver's own cap on iterations holds when it is larger.
        max_iter: Option<usize> = Some(100),
        /// What a neighbourhood says about coordinates.
        method: LocalMethod = LocalMethod::Standard,
        /// Column sums of Hessian estimators below this are not divided by.
        hessian_tol: f64 = 1e-4,
        /// Reflections of modified LLE shorter than this are left out.
        modified_tol: f64 = 1e-12,
        /// How neighbours are searched; every choice is exact.
        neighbors_algorithm: NeighborsAlgorithm = NeighborsAlgorithm::Auto,
        /// Rows within this distance are neighbours; `None` when `n_neighbors` is given.
        radius: Option<f64> = None,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Minkowski,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// Whether weights may not be negative (standard LLE, and new rows).
        nonnegative: bool = false,
        /// What to do when the graph is in pieces; `Bridge` embeds them one by one.
        disconnected: Policy = Policy::Bridge,
        /// What happens to new rows without neighbours.
        isolated: Isolated = Isolated::Error,
    }
}

/// A fitted [`LocallyLinearEmbedding`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedLocallyLinearEmbedding {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    /// ‖Mv − λv‖ of each column.
    residuals: Vec<f64>,
    iterations: usize,
    /// Of the rows of the data, in their units.
    graph: Graph,
    /// How new rows are placed.
    extension: Barycentric,
}

/// Weights are all alike long before this.
const MOST_REG: f64 = 1e8;

const WAY_OUT: &str = "use fewer neighbours, or fit on a subset of the rows and place the others with `transform`";

impl LocallyLinearEmbedding {
    fn variant(&self) -> Variant {
        let components = self.n_components;
        match self.method {
            LocalMethod::Standard => Variant::Standard { reg: self.reg, nonnegative: self.nonnegative },
            LocalMethod::Modified => Variant::Modified { components, reg: self.reg, tol: self.modified_tol },
            LocalMethod::Hessian => Variant::Hessian { components, tol: self.hessian_tol },
            LocalMethod::Ltsa => Variant::Tangent { components },
        }
    }

    /// Places around a row that a linear fit in all coordinates needs.
    fn least_places(&self) -> usize {
        self.variant().least_neighbors().max(self.n_components + 1)
    }

    fn setting(&self) -> Result<Setting> {
        Ok(Setting {
            hood: hood(self.n_neighbors, self.radius)?,
            metric: self.metric.metric(self.p)?,
            algorithm: self.neighbors_algorithm.algorithm(),
            policy: self.disconnected,
            outliers: Outliers::Keep,
            pieces_may_stay: false,
        })
    }

    fn check(&self, data: Data<'_>) -> Result<()> {
        check_components(self.n_components, data.rows().saturating_sub(1), "n_samples - 1")?;
        for (name, value) in
            [("reg", self.reg), ("hessian_tol", self.hessian_tol), ("modified_tol", self.modified_tol)]
        {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::param(name, format!("must be a finite number >= 0, got {value}")));
            }
        }
        if self.reg > MOST_REG {
            return Err(Error::param("reg", format!("must be at most {MOST_REG:e}, got {:e}", self.reg)));
        }
        if self.nonnegative && self.method != LocalMethod::Standard {
            return Err(Error::param(
                "nonnegative",
                format!("only method='standard' has weights of one sign, got method='{}'", self.method.name()),
            ));
        }
        let least = self.variant().least_neighbors();
        match self.n_neighbors {
            // Given neighbourhoods are counted one by one.
            Some(k) if k < least && !matches!(data, Data::Neighborhoods { .. }) => Err(Error::param(
                "n_neighbors",
                format!(
                    "method='{}' with n_components = {} needs at least {least} neighbours, got {k}",
                    self.method.name(),
                    self.n_components
                ),
            )),
            _ => Ok(()),
        }
    }
}

impl LocallyLinearEmbedding {
    /// `max_iter` is scikit-learn's, counted in restarts: never fewer than our own cap.
    fn options(&self) -> Result<Options> {
        const LEAST_STEPS: usize = 1000;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        Ok(Options { max_iter: self.max_iter.map(|steps| steps.max(LEAST_STEPS)), ..options })
    }
}

impl Method for LocallyLinearEmbedding {
    type Model = FittedLocallyLinearEmbedding;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedLocallyLinearEmbedding> {
        let setting = self.setting()?;
        let options = self.options()?;
        setting.check(data)?;
        self.check(data)?;
        let features = match data {
            Data::Points(points) | Data::Neighborhoods { points, .. } => points.cols(),
            _ => 0,
        };
        ctx.reserve(self.memory(data.rows(), features), "LocallyLinearEmbedding", WAY_OUT)?;

        let bytes = |neighbors: usize| self.bytes(data.rows(), features, neighbors);
        let ground = LocalRows::new(&setting, data, self.least_places(), &bytes, ctx)?;
        let map = LocalMap::new(&ground, self.variant(), self.n_components, &options, ctx)?;
        tell_of_rank(&ground, &map, self.n_components, ctx);
        let embedding = as_data_rows(map.placed, &ground);
        let scale = ground.length_scale;
        let graph = ground.graph.reweighted(ctx, |_, _, length| scale.back(length).min(f64::MAX))?;
        Ok(FittedLocallyLinearEmbedding {
            eigenvalues: map.eigenvalues,
            residuals: map.residuals,
            iterations: map.iterations.max(1),
            graph: match &ground.rows {
                None => graph,
                Some(rows) => graph.spread_over(rows, embedding.nrows())?,
            },
            embedding,
            extension: Barycentric {
                hood: match ground.hood {
                    Hood::Nearest(k) => Hood::Nearest(k.min(ground.len())),
                    within => within,
                },
                labels: ground.labels,
                rows: ground.rows,
                locator: ground.locator,
                matrix: ground.matrix,
                input_scale: ground.input_scale,
                reg: self.reg,
                nonnegative: self.nonnegative,
                isolated: self.isolated,
                known: OnceLock::new(),
            },
        })
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        self.bytes(rows, features, self.n_neighbors.unwrap_or(16))
    }
}

impl LocallyLinearEmbedding {
    /// Bytes of a fit with so many neighbours of each row.
    fn bytes(&self, rows: usize, features: usize, neighbors: usize) -> u64 {
        let (n, d) = (rows as u64, features as u64);
        let k = neighbors.min(rows) as u64;
        let c = (self.n_components as u64).min(1_000);
        let width = match self.method {
            LocalMethod::Standard => 1,
            LocalMethod::Modified => k,
            LocalMethod::Hessian => c * (c + 1) / 2,
            LocalMethod::Ltsa => c + 1,
        };
        // The index and a copy of the points in their own order; lists and graph;
        // blocks; the sum, with about 5k entries in a row for two or three
        // dimensions; its factor, whose rows grow with log n; vectors.
        let points = 32 * d;
        let lists = 60 * k;
        let blocks = 8 * (k + 1) * width + 4 * (k + 1);
        let matrix = 12 * (5 * k).min(n);
        let factor = 8 * (k * u64::from(rows.max(2).ilog2())).min(n);
        let vectors = basis_bytes(self.n_components + 1);
        n * (points + lists + blocks + matrix + factor + vectors)
    }
}

impl FittedLocallyLinearEmbedding {
    /// Smallest eigenvalues above the constant's, ascending; added up over pieces.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Piece of the neighbourhood graph that each row is in.
    pub fn labels(&self) -> &[usize] {
        &self.extension.labels
    }
}

impl Model for FittedLocallyLinearEmbedding {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let pieces = self.extension.labels.iter().max().map_or(0, |last| last + 1);
        Ok(vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvalue_residuals", Attribute::vector(&self.residuals)),
            ("reconstruction_error", Attribute::Float(self.eigenvalues.iter().sum())),
            ("n_iter", Attribute::Int(self.iterations as i64)),
            ("graph", Attribute::Graph(self.graph.clone())),
            ("component_labels", Attribute::indices(&self.extension.labels)),
            ("n_connected_components", Attribute::Int(pieces as i64)),
        ])
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.extension.transform(self.embedding.view(), data, ctx)
    }
}
