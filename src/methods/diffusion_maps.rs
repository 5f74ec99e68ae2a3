//! Diffusion maps: coordinates whose straight distances are how differently a
//! random walk spreads from two rows.
//!
//! Coifman and Lafon 2006. Symbols as in [`crate::kernel::diffusion`]: k = exp(−d²/ε),
//! P the walk after α-normalisation, π its stationary distribution; λ, ψ the
//! eigenpairs of P, Σ π ψ² = 1.
//!
//! 1. k on the nearest neighbours (either row's list) or all pairs      n·k·log n
//! 2. α = 1 takes the density of the rows out, 0 leaves it in
//! 3. eigenpairs after the constant ψ with λ = 1
//! 4. coordinates λ^t ψ; with all of them ‖y_i − y_j‖² = Σ_l (P^t_il − P^t_jl)²/π_l
//!
//! P of a neighbourhood kernel may have eigenvalues below 0: for whole t the power
//! is as it is, otherwise sign(λ)·|λ|^t, which leaves all distances the same. A new
//! row is placed by ψ(x) = Σ_j p(x, x_j) ψ_j / λ with its own kernel values.

use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dimension::Coordinates;
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::extend::Nystrom;
use crate::graph::{Isolated, NeighborhoodParams, Outliers, Policy};
use crate::input::Data;
use crate::input::check::check_components;
use crate::kernel::Affinity;
use crate::kernel::diffusion::Markov;
use crate::kernel::diffusion_kernel::{DiffusionKernel, Epsilon, KernelSource, all_pairs, gauss, near};
use crate::kernel::laplacian::NormalizedAffinity;
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::neighbors::{MetricName, NeighborRule, NeighborsAlgorithm};
use crate::params::params;
use crate::scale::Scale;
use crate::spectrum::laplacian::{Laplacian, LaplacianAdvice, LaplacianProblem, laplacian_eigenpairs};
use crate::spectrum::{Knobs, SparseSolver, fix_signs};

params! {
    /// Diffusion maps.
    DiffusionMaps as "DiffusionMaps" {
        /// Number of coordinates.
        n_components: Coordinates = Coordinates::Count(2),
        /// How much of the rows' density is taken out: 0 none, 1 all of it.
        alpha: f64 = 1.0,
        /// Time the walk goes on, at least 0.
        t: f64 = 1.0,
        /// ε of the kernel exp(−d²/ε), a squared length; `None` chooses it.
        epsilon: Option<f64> = None,
        /// Neighbours of each row (others, not itself) that the kernel sees; `None`
        /// is all pairs.
        n_neighbors: Option<usize> = Some(64),
        /// How the eigenproblem is solved; `None` is by size.
        eigen_solver: Option<SparseSolver> = None,
        /// Tolerance of the eigensolver; 0 is the tightest sensible.
        tol: f64 = 0.0,
        /// Cap on iterations; `None` is generous.
        max_iter: Option<usize> = None,
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
    }
}

impl Method for DiffusionMaps {
    type Model = FittedDiffusionMaps;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedDiffusionMaps> {
        self.check(data.rows())?;
        ctx.reserve(self.memory(data.rows(), data.features()), "DiffusionMaps", HINT)?;
        let DiffusionKernel { kernel, components, labels, bridges, source, epsilon, dimension } =
            self.kernel(data, ctx)?; //                                                         1
        check_components(self.n_components.count(), kernel.len() - 1, "rows of the largest component - 1")?;
        warn_of_epsilon(epsilon, ctx);
        let markov = Markov::new(kernel, self.alpha, ctx)?; //                                  2
        let laplacian = match (&markov.kernel, markov.laplacian(ctx)) {
            (_, Some(laplacian)) => Laplacian::Sparse(laplacian?),
            (Affinity::Dense(matrix), None) => {
                Laplacian::normalized(NormalizedAffinity::new(matrix.view(), &markov.degrees))
            }
            // proof: a sparse kernel has a sparse Laplacian.
            (Affinity::Sparse(_), None) => return Err(Error::input("the kernel is neither full nor sparse")),
        };
        let solver = self.solver().options(self.tol, self.max_iter)?;
        let problem = LaplacianProblem {
            laplacian,
            order: source.order(),
            measure: &markov.degrees,
            components: &components,
        };
        let advice = LaplacianAdvice { knobs: Knobs::USUAL, contrast: "lower `epsilon`" };
        let pairs = laplacian_eigenpairs(problem, self.n_components.count(), &solver, advice, ctx)?; // 3
        let stationary = markov.stationary();
        let mut functions = pairs.vectors;
        for (mut row, share) in functions.outer_iter_mut().zip(&stationary) {
            let root = share.sqrt();
            row.mapv_inplace(|value| value / root);
        }
        fix_signs(&mut functions);
        let eigenvalues: Vec<f64> = pairs.values.iter().map(|value| 1.0 - value).collect();
        let eigenvectors = source.rows().spread(functions.clone());
        let powers: Array1<f64> = eigenvalues.iter().map(|&value| power(value, self.t)).collect();
        // P^t ψ = λ^t ψ: from t = 1 on nothing is divided by λ.
        let ratio = |value: f64| match self.t {
            1.0 => Some(1.0),
            t if t > 1.0 && value == 0.0 => Some(0.0),
            t => Some(power(value, t) / value),
        };
        Ok(FittedDiffusionMaps {
            embedding: &eigenvectors * &powers, //                                              4
            stationary: source.rows().spread_vector(&stationary),
            eigenvectors,
            residuals: pairs.residuals,
            iterations: pairs.iterations.max(1),
            labels,
            bridges,
            epsilon,
            dimension,
            formula: Nystrom::new(functions, &eigenvalues, |value| power(value, self.t), ratio),
            density: markov.density,
            eigenvalues,
            n_neighbors: if matches!(source, KernelSource::Near(_)) { self.n_neighbors } else { None },
            source,
        })
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn rescaled(&self, lengths: Scale) -> Self {
        Self { epsilon: self.epsilon.map(|epsilon| lengths.power(2).into(epsilon)), ..self.clone() }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as f64, features as f64, self.n_components.count() as f64);
        let basis = 8.0 * n * (p + 8.0) * 20.0 + 16.0 * n * d;
        let matrix = match self.neighbors_used(rows) {
            // Lists, the graph while it is assembled, its weights, the Laplacian.
            Some(k) => n * k as f64 * 110.0,
            None => 8.0 * n * n,
        };
        (matrix + basis) as u64
    }
}

impl DiffusionMaps {
    /// Step 1.
    fn kernel(&self, data: Data<'_>, ctx: &Ctx) -> Result<DiffusionKernel> {
        let rows = data.rows();
        // The edges of a graph are all there is of it, and nothing is known to bridge it.
        let is_graph = matches!(data, Data::Graph(_));
        let k = if is_graph { self.n_neighbors.or(Some(rows)) } else { self.neighbors_used(rows) };
        let params = NeighborhoodParams {
            rule: NeighborRule::Nearest(k.unwrap_or(rows)),
            metric: self.metric.metric(self.p)?,
            algorithm: self.neighbors_algorithm,
            policy: match self.disconnected {
                Policy::Bridge if is_graph => Policy::Separate,
                policy => policy,
            },
            outliers: Outliers::Keep,
            isolated: self.isolated,
            conformal: false,
        };
        match k {
            Some(_) => near(&params, Epsilon(self.epsilon), data, ctx),
            None => all_pairs(&params, Epsilon(self.epsilon), data, ctx),
        }
    }

    fn check(&self, rows: usize) -> Result<()> {
        check_components(self.n_components.count(), rows.saturating_sub(1), "n_samples - 1")?;
        self.solver().options(self.tol, self.max_iter)?;
        if !(0.0..=1.0).contains(&self.alpha) {
            return Err(Error::param("alpha", format!("must be between 0 and 1, got {}", self.alpha)));
        }
        if !(self.t.is_finite() && self.t >= 0.0) {
            return Err(Error::param("t", format!("must be a finite number >= 0, got {}", self.t)));
        }
        if let Some(epsilon) = self.epsilon.filter(|epsilon| !(epsilon.is_finite() && *epsilon > 0.0)) {
            return Err(Error::param(
                "epsilon",
                format!("must be a finite number above 0, or None to have it chosen, got {epsilon}"),
            ));
        }
        if self.n_neighbors == Some(0) {
            return Err(Error::param("n_neighbors", "must be at least 1, or None for all pairs, got 0"));
        }
        Ok(())
    }

    fn solver(&self) -> SparseSolver {
        self.eigen_solver.unwrap_or(SparseSolver::Auto)
    }

    /// Neighbours of each row; `None` when the kernel is of all pairs.
    fn neighbors_used(&self, rows: usize) -> Option<usize> {
        self.n_neighbors.filter(|&k| k < rows.saturating_sub(1))
    }
}

/// λ^t, with the sign of λ where t is not whole.
fn power(value: f64, t: f64) -> f64 {
    if t.fract() == 0.0 && t <= f64::from(i32::MAX) {
        value.powi(t as i32)
    } else {
        value.signum() * crate::linalg::exp::power(value.abs(), t)
    }
}

/// Warn when ε, the square of a length, leaves the range of numbers although the length
/// does not.
fn warn_of_epsilon(epsilon: f64, ctx: &Ctx) {
    let epsilon = ctx.data_square(epsilon);
    if epsilon.is_normal() && epsilon < f64::MAX {
        return;
    }
    ctx.warn(
        WarningKind::InputAdjusted,
        format!(
            "the squares of distances in this data are too {} for floating-point numbers: the map is right, but \
             `epsilon_` is only their nearest number, {epsilon:e}; rescale the data to see it",
            if epsilon > 1.0 { "large" } else { "small" }
        ),
    );
}

const HINT: &str = "lower `n_neighbors`, or fit on a subset of the rows and place the others with `transform`";

/// A fitted [`DiffusionMaps`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedDiffusionMaps {
    embedding: Array2<f64>,
    /// λ, descending, without the 1.
    eigenvalues: Vec<f64>,
    /// ‖Sv − λv‖ of each column, S the walk made symmetric.
    residuals: Vec<f64>,
    /// ψ of all rows of the data.
    eigenvectors: Array2<f64>,
    stationary: Vec<f64>,
    iterations: usize,
    labels: Vec<usize>,
    bridges: Vec<[u32; 2]>,
    source: KernelSource,
    epsilon: f64,
    dimension: Option<f64>,
    /// q^α of the rows in use.
    density: Vec<f64>,
    formula: Nystrom,
    n_neighbors: Option<usize>,
}

impl Model for FittedDiffusionMaps {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvalue_residuals", Attribute::vector(&self.residuals)),
            ("eigenvectors", Attribute::Matrix(self.eigenvectors.clone())),
            ("stationary_distribution", Attribute::vector(&self.stationary)),
            ("epsilon", Attribute::Float(self.epsilon)),
            ("bridges", Attribute::pairs(&self.bridges)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(Attribute::of_components(&self.labels));
        named.extend(self.dimension.map(|value| ("intrinsic_dimension", Attribute::Float(value))));
        named.extend(self.n_neighbors.map(|k| ("n_neighbors", Attribute::Int(k as i64))));
        Ok(named)
    }

    fn units(&self) -> Units {
        Units { coordinates: 0, attributes: &[("epsilon", 2)] }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let new = self.source.find(data, ctx)?;
        let width = self.formula.components().max(1);
        let place = |list: usize| {
            ctx.check()?;
            let (rows, distances) = new.near.row(list);
            let pairs = rows.iter().zip(distances).map(|(&row, &distance)| {
                (row as usize, gauss(distance, self.epsilon) / self.density[row as usize])
            });
            let mut coordinates = vec![0.0; width];
            let placed = self.formula.place(pairs, &mut coordinates);
            placed.map_err(|fault| fault.refuse(new.others[list], "kernel with"))?;
            Ok(coordinates)
        };
        let found: Vec<Vec<f64>> = (0..new.others.len()).into_par_iter().map(place).collect::<Result<_>>()?;
        self.formula.warn(ctx);
        let mut computed = Array2::zeros((found.len(), width));
        for (mut row, coordinates) in computed.outer_iter_mut().zip(&found) {
            row.iter_mut().zip(coordinates).for_each(|(slot, value)| *slot = *value);
        }
        new.combine(self.embedding.view(), computed.view())
    }
}
