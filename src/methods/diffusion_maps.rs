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

use crate::graph::{Isolated, Outliers};
use crate::neighbors::{MetricName, NeighborsAlgorithm};
use crate::spectrum::SparseSolver;
use crate::input::check::check_components;
use crate::kernel::diffusion_kernel::{DiffusionKernel, Epsilon, Reach, all_pairs, gauss, near};
use crate::graph::neighborhood::Setting;
use crate::spectrum::laplacian::{Problem, Telling, Walk, smoothest};
use crate::context::Ctx;
use crate::spectrum::Knobs;
use crate::error::{Error, Result, WarningKind};
use crate::extend::Nystrom;
use crate::graph::Policy;
use crate::kernel::laplacian::NormalizedAffinity;
use crate::kernel::diffusion::Markov;
use crate::kernel::Affinity;
use crate::neighbors::Hood;
use crate::params::params;
use crate::method::{Attribute, Method, Model};
use crate::input::Data;
use crate::spectrum::fix_signs;

params! {
    /// Diffusion maps.
    DiffusionMaps as "DiffusionMaps" {
        /// Number of coordinates.
        n_components: usize = 2,
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
        /// What to do when the graph is in pieces.
        disconnected: Policy = Policy::Bridge,
        /// What happens to new rows without neighbours.
        isolated: Isolated = Isolated::Error,
    }
}

/// A fitted [`DiffusionMaps`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedDiffusionMaps {
    embedding: Array2<f64>,
    /// λ, descending, without the 1.
    eigenvalues: Vec<f64>,
    /// How far each is from being one.
    residuals: Vec<f64>,
    /// ψ of all rows of the data.
    eigenvectors: Array2<f64>,
    stationary: Vec<f64>,
    iterations: usize,
    labels: Vec<usize>,
    bridges: Array2<i64>,
    reach: Reach,
    /// ε at working scale.
    epsilon: f64,
    dimension: Option<f64>,
    /// q^α of the rows that take part.
    density: Vec<f64>,
    formula: Nystrom,
    n_neighbors: Option<usize>,
}

impl DiffusionMaps {
    fn check(&self, rows: usize) -> Result<()> {
        check_components(self.n_components, rows.saturating_sub(1), "n_samples - 1")?;
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
        self.n_neighbors.filter(|&k| k + 1 < rows)
    }

    fn kernel(&self, data: Data<'_>, ctx: &Ctx) -> Result<DiffusionKernel> {
        let rows = data.rows();
        // The edges of a graph are all there is of it.
        let is_graph = matches!(data, Data::Graph(_));
        let k = if is_graph { self.n_neighbors.or(Some(rows)) } else { self.neighbors_used(rows) };
        let setting = Setting {
            hood: Hood::Nearest(k.unwrap_or(rows)),
            metric: self.metric.metric(self.p)?,
            algorithm: self.neighbors_algorithm.algorithm(),
            policy: self.disconnected,
            outliers: Outliers::Keep,
            pieces_may_stay: true,
        };
        match k {
            Some(_) => near(&setting, self.isolated, Epsilon(self.epsilon), data, ctx),
            None => all_pairs(&setting, Epsilon(self.epsilon), data, ctx),
        }
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

impl Method for DiffusionMaps {
    type Model = FittedDiffusionMaps;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedDiffusionMaps> {
        let rows = data.rows();
        self.check(rows)?;
        let features = if let Data::Points(points) = data { points.cols() } else { 0 };
        let way_out = "lower `n_neighbors`, or fit on a subset of the rows and place the others with `transform`";
        ctx.reserve(self.memory(rows, features), "DiffusionMaps", way_out)?;
        let DiffusionKernel { kernel, pieces, labels, bridges, reach, epsilon, dimension } =
            self.kernel(data, ctx)?;
        check_components(self.n_components, kernel.len() - 1, "rows of the largest component - 1")?;
        tell_of_epsilon(reach.length_scale().back_squared(epsilon), ctx);
        let markov = Markov::new(kernel, self.alpha, ctx)?;
        let walk = match (&markov.kernel, markov.laplacian(ctx)) {
            (_, Some(laplacian)) => Walk::Sparse(laplacian?),
            (Affinity::Dense(matrix), None) => {
                Walk::normalized(NormalizedAffinity::new(matrix.view(), &markov.degrees))
            }
            // proof: a sparse kernel has a sparse Laplacian.
            (Affinity::Sparse(_), None) => return Err(Error::input("the kernel is neither full nor sparse")),
        };
        let options = self.solver().options(self.tol, self.max_iter)?;
        let order = if let Reach::Near(manifold) = &reach { manifold.order() } else { None };
        let problem = Problem { walk, order, measure: &markov.degrees, pieces: &pieces };
        let telling = Telling { knobs: Knobs::USUAL, contrast: "lower `epsilon`" };
        let smooth = smoothest(problem, self.n_components, &options, telling, ctx)?;
        let part_stationary = markov.stationary();
        let mut functions = smooth.vectors;
        for (mut row, share) in functions.outer_iter_mut().zip(&part_stationary) {
            let root = share.sqrt();
            row.mapv_inplace(|value| value / root);
        }
        fix_signs(&mut functions);
        let eigenvalues: Vec<f64> = smooth.values.iter().map(|value| 1.0 - value).collect();
        let eigenvectors = reach.as_data_rows(functions.clone(), rows, ctx)?;
        let powers: Array1<f64> = eigenvalues.iter().map(|&value| power(value, self.t)).collect();
        // P^t ψ = λ^t ψ: from t = 1 on nothing is divided by λ.
        let ratio = |value: f64| match self.t {
            1.0 => Some(1.0),
            t if t > 1.0 && value == 0.0 => Some(0.0),
            t => Some(power(value, t) / value),
        };
        Ok(FittedDiffusionMaps {
            embedding: &eigenvectors * &powers,
            stationary: stationary_of_data(&part_stationary, &reach, rows),
            eigenvectors,
            residuals: smooth.residuals,
            iterations: smooth.iterations.max(1),
            labels,
            bridges,
            epsilon,
            dimension,
            formula: Nystrom::new(functions, &eigenvalues, |value| power(value, self.t), ratio),
            density: markov.density,
            eigenvalues,
            n_neighbors: if matches!(reach, Reach::Near(_)) { self.n_neighbors } else { None },
            reach,
        })
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as u64, features as u64, self.n_components as u64);
        let basis = 8 * n * (p + 8) * 24 + 16 * n * d;
        match self.neighbors_used(rows) {
            // Lists, the graph while it is assembled, its weights, the Laplacian.
            Some(k) => n * k as u64 * 120 + basis,
            None => 8 * n * n + basis,
        }
    }
}

/// Tell when ε, the square of a length, is no number although the length is one.
fn tell_of_epsilon(epsilon: f64, ctx: &Ctx) {
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

/// π of all rows of the data; rows left out are never visited.
fn stationary_of_data(stationary: &[f64], reach: &Reach, rows: usize) -> Vec<f64> {
    let kept = match reach {
        Reach::Near(manifold) => manifold.kept(),
        Reach::All { kept, .. } => kept.as_deref(),
    };
    let Some(kept) = kept else { return stationary.to_vec() };
    let mut all = vec![0.0; rows];
    kept.iter().zip(stationary).for_each(|(&row, &share)| all[row as usize] = share);
    all
}

impl FittedDiffusionMaps {
    /// Eigenvalues of the walk, descending, without the 1.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// ψ: functions of unit length under π.
    pub fn eigenvectors(&self) -> ArrayView2<'_, f64> {
        self.eigenvectors.view()
    }

    /// ε, in the data's units.
    pub fn epsilon(&self) -> f64 {
        self.reach.length_scale().back_squared(self.epsilon)
    }
}

impl Model for FittedDiffusionMaps {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let pieces = self.labels.iter().max().map_or(0, |last| last + 1);
        let mut named = vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("eigenvalue_residuals", Attribute::vector(&self.residuals)),
            ("eigenvectors", Attribute::Matrix(self.eigenvectors.clone())),
            ("stationary_distribution", Attribute::vector(&self.stationary)),
            ("epsilon", Attribute::Float(self.epsilon())),
            ("component_labels", Attribute::indices(&self.labels)),
            ("n_connected_components", Attribute::Int(pieces as i64)),
            ("bridges", Attribute::IndexMatrix(self.bridges.clone())),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(self.dimension.map(|value| ("intrinsic_dimension", Attribute::Float(value))));
        named.extend(self.n_neighbors.map(|k| ("n_neighbors", Attribute::Int(k as i64))));
        Ok(named)
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let new = self.reach.find(data, self.density.len(), ctx)?;
        let width = self.formula.components().max(1);
        let mut placed = Array2::zeros((new.count, width));
        for &(row, twin) in &new.twins {
            placed.row_mut(row).assign(&self.embedding.row(twin));
        }
        let place = |list: usize| {
            ctx.check()?;
            let range = new.near.offsets[list]..new.near.offsets[list + 1];
            let pairs = range.map(|at| {
                let row = new.near.indices[at] as usize;
                (row, gauss(new.near.distances[at], self.epsilon) / self.density[row])
            });
            let mut coordinates = vec![0.0; width];
            let placed = self.formula.place(pairs, &mut coordinates);
            placed.map_err(|fault| fault.refuse(new.away[list], "kernel with"))?;
            Ok(coordinates)
        };
        let coordinates: Vec<Vec<f64>> =
            (0..new.away.len()).into_par_iter().map(place).collect::<Result<_>>()?;
        for (&row, coordinates) in new.away.iter().zip(&coordinates) {
            placed.row_mut(row).iter_mut().zip(coordinates).for_each(|(slot, value)| *slot = *value);
        }
        self.formula.tell(ctx);
        Ok(placed)
    }
}
