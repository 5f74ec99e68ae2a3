//! Locally linear embedding in its four forms: coordinates in which every
//! neighbourhood keeps its geometry.
//!
//! LLE (Roweis and Saul 2000), modified LLE (Zhang and Wang 2007), Hessian LLE
//! (Donoho and Grimes 2003), LTSA (Zhang and Zha 2004). Symbols: k neighbours,
//! d coordinates, M = Σ Sᵢ Bᵢ Sᵢᵀ.
//!
//! 1. neighbours, connected components                     n·k·log n
//! 2. a block Bᵢ for every row (`kernel::local`)            n·k³
//! 3. their sum M (`kernel::local::assemble`)              n·k²
//! 4. the d eigenvectors of M above the constant, unit columns
//!
//! Steps 2 to 4 for each connected component; components are laid side by side. A new row
//! is placed by its barycentric weights on its nearest training rows. Coordinates have no
//! unit: columns have length one, as in scikit-learn.

use std::sync::OnceLock;

use ndarray::{Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};

use crate::dimension::Coordinates;
use crate::context::Ctx;
use crate::embedding::component_maps::{ComponentMap, JoinedMap, warn_of_undetermined};
use crate::embedding::layout::over_data;
use crate::embedding::warnings::{warn_of_closed_groups, warn_of_components, warn_of_rank};
use crate::error::{Error, Result};
use crate::extend::barycenter::Barycentric;
use crate::graph::{Isolated, LocalNeeds, LocalNeighborhoods, NeighborhoodParams, Outliers, Policy};
use crate::input::Data;
use crate::input::check::check_components;
use crate::kernel::Form;
use crate::kernel::local::component::LocalComponent;
use crate::kernel::local::{LocalMethod, Variant};
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::neighbors::{MetricName, NeighborRule, NeighborsAlgorithm};
use crate::params::params;
use crate::scale::Scale;
use crate::spectrum::{Knobs, Options, SparseSolver, basis_bytes, bottom, bottom_of_blocks, warn_unconverged};

params! {
    /// Locally linear embedding: standard, modified, Hessian, or by tangent spaces.
    LocallyLinearEmbedding as "LocallyLinearEmbedding" {
        /// Neighbours of each row; `None` when `radius` is given.
        n_neighbors: Option<usize> = Some(5),
        /// Number of coordinates.
        n_components: Coordinates = Coordinates::Count(2),
        /// Regularisation of the weights, relative to the trace of the local covariance.
        reg: f64 = 1e-3,
        /// How the eigenproblem is solved.
        eigen_solver: SparseSolver = SparseSolver::Auto,
        /// Tolerance of the eigensolver; 0 is the tightest sensible.
        tol: f64 = 1e-6,
        /// A hint: the solver's own cap on iterations holds when it is larger.
        max_iter: Option<usize> = Some(100),
        /// Which method of the family.
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
        /// What to do when the graph has several connected components; edges between them
        /// have no neighbourhood to keep, so there is no `Bridge`.
        disconnected: Policy = Policy::Separate,
        /// What happens to new rows without neighbours.
        isolated: Isolated = Isolated::Error,
    }
}

impl Method for LocallyLinearEmbedding {
    type Model = FittedLocallyLinearEmbedding;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedLocallyLinearEmbedding> {
        let (params, solver) = (self.neighborhood()?, self.solver()?);
        params.check(data)?;
        self.check(data)?;
        ctx.reserve(self.memory(data.rows(), data.features()), "LocallyLinearEmbedding", HINT)?;
        let bytes = |neighbors: usize| self.bytes(data.rows(), data.features(), neighbors);
        let needs = LocalNeeds { least: self.least_neighbors(), bytes: &bytes };
        let neighborhoods = params.build_local(data, &needs, ctx)?; //                          1
        warn_of_components(&neighborhoods, ctx);
        let components = LocalComponent::all(&neighborhoods);
        let maps = components.iter().map(|component| self.embed(&neighborhoods, component, &solver, ctx));
        let map = JoinedMap::new(&components, maps.collect::<Result<_>>()?, self.n_components.count());
        drop(components);
        if matches!(self.method, LocalMethod::Standard | LocalMethod::Modified) {
            warn_of_closed_groups(&neighborhoods, &map.several, self.n_components.count(), ctx);
        }
        warn_of_rank(&neighborhoods, &map, self.n_components.count(), ctx);
        Ok(FittedLocallyLinearEmbedding {
            embedding: over_data(map.placed, &neighborhoods),
            eigenvalues: map.eigenvalues,
            residuals: map.residuals,
            iterations: map.iterations.max(1),
            extension: Barycentric {
                graph: neighborhoods.graph,
                matrix: neighborhoods.matrix,
                reg: self.reg,
                nonnegative: self.nonnegative,
                isolated: self.isolated,
                known: OnceLock::new(),
            },
        })
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn rescaled(&self, lengths: Scale) -> Self {
        Self { radius: self.radius.map(|radius| lengths.into(radius)), ..self.clone() }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        self.bytes(rows, features, self.n_neighbors.unwrap_or(16))
    }
}

impl LocallyLinearEmbedding {
    /// Steps 2 to 4 for one component.
    fn embed(
        &self,
        neighborhoods: &LocalNeighborhoods,
        component: &LocalComponent<'_>,
        solver: &Options,
        ctx: &Ctx,
    ) -> Result<ComponentMap> {
        ctx.check()?;
        let (count, variant) = (component.len(), self.variant());
        if count <= variant.least_neighbors() {
            // Too small for the method's blocks: one neighbourhood.
            return Ok(ComponentMap::of_coordinates(component.principal(self.n_components.count())?));
        }
        let (blocks, spans) = component.local_fits(variant, ctx)?; //                           2
        let several = (0..count).map(|row| blocks.width(row) > 1).collect();
        let matrix = component.alignment(&blocks, ctx)?; //                                     3
        let found = self.n_components.count().min(count - 1);
        // One more shows whether those before it are the only ones.
        let asked = (found + 1).min(count - 1);
        let constant = Array2::from_elem((count, 1), 1.0 / (count as f64).sqrt());
        let (pairs, blocks) = match blocks.form {
            Form::Product => (bottom_of_blocks(&matrix, &blocks, &constant, asked, solver, ctx)?, Some(blocks)),
            Form::Complement => {
                drop(blocks); // they have no root, and a large fit needs the memory
                (bottom(&matrix, &constant, asked, solver, ctx)?, None)
            }
        }; //                                                                                   4
        // The one more need not have converged.
        warn_unconverged(&pairs, found, Knobs::USUAL, ctx);
        if asked > found {
            warn_of_undetermined(neighborhoods, &matrix, blocks.as_ref(), &pairs, found, ctx)?;
        }
        let mut placed = Array2::zeros((count, self.n_components.count()));
        placed.slice_mut(s![.., ..found]).assign(&pairs.vectors.slice(s![.., ..found]));
        Ok(ComponentMap {
            placed,
            // What lies below zero is rounding: the matrix is a sum of squares.
            eigenvalues: pairs.values.iter().take(found).map(|value| value.max(0.0)).collect(),
            residuals: pairs.residuals[..found].to_vec(),
            iterations: pairs.iterations,
            spans,
            several,
        })
    }

    fn variant(&self) -> Variant {
        let components = self.n_components.count();
        match self.method {
            LocalMethod::Standard => Variant::Standard { reg: self.reg, nonnegative: self.nonnegative },
            LocalMethod::Modified => Variant::Modified { components, reg: self.reg, tol: self.modified_tol },
            LocalMethod::Hessian => Variant::Hessian { components, tol: self.hessian_tol },
            LocalMethod::Ltsa => Variant::Tangent { components },
        }
    }

    /// Distinct neighbours that a linear fit in all coordinates needs.
    fn least_neighbors(&self) -> usize {
        self.variant().least_neighbors().max(self.n_components.count() + 1)
    }

    fn neighborhood(&self) -> Result<NeighborhoodParams> {
        if self.disconnected == Policy::Bridge {
            let why = "an edge between components has no neighbourhood to keep; use 'separate', 'largest' or 'error'";
            return Err(Error::param("disconnected", why));
        }
        Ok(NeighborhoodParams {
            rule: NeighborRule::from_params(self.n_neighbors, self.radius)?,
            metric: self.metric.metric(self.p)?,
            algorithm: self.neighbors_algorithm,
            policy: self.disconnected,
            outliers: Outliers::Keep,
            isolated: self.isolated,
            conformal: false,
        })
    }

    /// `max_iter` is scikit-learn's, counted in restarts: never fewer than our own cap.
    fn solver(&self) -> Result<Options> {
        const LEAST_STEPS: usize = 1000;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        Ok(Options { max_iter: self.max_iter.map(|steps| steps.max(LEAST_STEPS)), ..options })
    }

    fn check(&self, data: Data<'_>) -> Result<()> {
        check_components(self.n_components.count(), data.rows().saturating_sub(1), "n_samples - 1")?;
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
                    self.n_components.count()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Bytes of a fit with so many neighbours of each row.
    fn bytes(&self, rows: usize, features: usize, neighbors: usize) -> u64 {
        let (n, d) = (rows as f64, features as f64);
        let k = neighbors.min(rows) as f64;
        let c = self.n_components.count().min(1_000) as f64;
        let width = match self.method {
            LocalMethod::Standard => 1.0,
            LocalMethod::Modified => k,
            LocalMethod::Hessian => c * (c + 1.0) / 2.0,
            LocalMethod::Ltsa => c + 1.0,
        };
        // The index and a copy of the points in their own order; lists and graph;
        // blocks; the sum, with about 5k entries in a row for two or three
        // dimensions; its factor, whose rows grow with log n; vectors.
        let points = 32.0 * d;
        let lists = 60.0 * k;
        let blocks = (8.0 * width + 4.0) * (k + 1.0);
        let matrix = 12.0 * (5.0 * k).min(n);
        let factor = 8.0 * (k * f64::from(rows.max(2).ilog2())).min(n);
        let vectors = basis_bytes(self.n_components.count().saturating_add(1));
        (n * (points + lists + blocks + matrix + factor + vectors)) as u64
    }
}

/// Weights are all equal long before this.
const MOST_REG: f64 = 1e8;

const HINT: &str = "use fewer neighbours, or fit on a subset of the rows and place the others with `transform`";

/// A fitted [`LocallyLinearEmbedding`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedLocallyLinearEmbedding {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    /// ‖Mv − λv‖ of each column.
    residuals: Vec<f64>,
    iterations: usize,
    extension: Barycentric,
}

impl Model for FittedLocallyLinearEmbedding {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let graph = &self.extension.graph;
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvalue_residuals", Attribute::vector(&self.residuals)),
            ("reconstruction_error", Attribute::Float(self.eigenvalues.iter().sum())),
            ("n_iter", Attribute::Int(self.iterations as i64)),
            ("graph", Attribute::Graph(graph.lengths_of_data()?)),
        ];
        named.extend(Attribute::of_components(graph.labels()));
        Ok(named)
    }

    fn units(&self) -> Units {
        match self.extension.graph.length_unit() {
            0 => Units::NONE,
            _ => Units { coordinates: 0, attributes: &[("graph", 1)] },
        }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.extension.transform(self.embedding.view(), data, ctx)
    }
}
