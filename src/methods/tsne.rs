//! t-distributed stochastic neighbour embedding: a map in which near rows are near.
//!
//! van der Maaten & Hinton 2008; van der Maaten 2014 (Barnes–Hut); Belkina et al. 2019 and
//! Kobak & Berens 2019 (start and learning rate). Symbols: p_ij probabilities of pairs in
//! the data, q_ij in the map. Minimises KL = Σ p_ij ln(p_ij / q_ij).
//!
//! Cost: one neighbour search; an iteration adds up 3·perplexity pairs of each row, and the
//! repulsion of all pairs, n² or n log n.

use ndarray::{Array2, ArrayView2, CowArray};
use serde::{Deserialize, Serialize};

use crate::context::{Ctx, Snapshot};
use crate::error::{Error, Result};
use crate::extend::NeighborMap;
use crate::extend::distinct::DistinctRows;
use crate::extend::neighbor_map::Training;
use crate::input::check::{self, check_components, check_offsets, unfit};
use crate::input::{Csr, Data};
use crate::kernel::affinity_rule::AffinityName;
use crate::kernel::joint_probabilities::JointProbabilities;
use crate::kernel::perplexity::{AffinityShape, Perplexity, conditional_probabilities};
use crate::method::{Attribute, Method, Model, Scaling};
use crate::methods::pca::Pca;
use crate::methods::spectral_embedding::SpectralEmbedding;
use crate::neighbors::{Algorithm, Index, MetricName, NeighborRule, Neighbors, from_distances};
use crate::optimize::neighbor_embedding::descent::Observer;
use crate::optimize::neighbor_embedding::start::{TsneStart, as_start, fill_empty_columns, small_noise};
use crate::optimize::neighbor_embedding::{Descent, Forces, RepulsionMethod, Schedule, Student, minimize};
use crate::optimize::start::check_given;
use crate::params::params;
use crate::scale::Scale;

params! {
    /// t-distributed stochastic neighbour embedding.
    Tsne as "TSNE" {
        /// Number of coordinates.
        n_components: usize = 2,
        /// Effective number of neighbours of a row, or several of them.
        perplexity: Perplexity = Perplexity(vec![30.0]),
        /// Factor of the attraction in the first iterations.
        early_exaggeration: f64 = 12.0,
        /// Learning rate; `None` for n / 4 exaggeration.
        learning_rate: Option<f64> = None,
        /// Most iterations.
        max_iter: usize = 1000,
        /// Iterations without a lower divergence after which it ends.
        n_iter_without_progress: i64 = 300,
        /// Norm of the gradient at which it ends.
        min_grad_norm: f64 = 1e-7,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Euclidean,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// Where the descent starts.
        init: TsneStart = TsneStart::Pca,
        /// How the repulsion of all pairs is added up.
        method: RepulsionMethod = RepulsionMethod::Auto,
        /// Width of a cell that acts as one point, relative to its distance; nodes of a grid
        /// are 0.8 times it apart.
        angle: f64 = 0.5,
        /// Factor of the attraction in all other iterations.
        exaggeration: f64 = 1.0,
        /// Degrees of freedom of the distribution in the map; `None` for n_components − 1, at least 1.
        dof: Option<f64> = None,
        /// What affinities follow.
        affinities: AffinityShape = AffinityShape::Gaussian,
        /// Fall of the divergence in an iteration, relative to itself, at which it ends.
        tol: f64 = 1e-4,
        /// Iterations between two calls of the observer.
        callback_every: usize = 50,
    }
}

/// A fitted [`Tsne`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedTsne {
    map: NeighborMap,
    divergence: f64,
    last: usize,
    learning_rate: f64,
    history: Vec<[f64; 3]>,
}

const HINT: &str = "lower perplexity, use method='auto', or fit on a subset of the rows";
/// Largest coordinate of a given start.
const FARTHEST: f64 = 1e6;

impl Method for Tsne {
    type Model = FittedTsne;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedTsne> {
        self.check(data.rows())?;
        ctx.reserve(self.memory(data.rows(), data.features()), "TSNE", HINT)?;
        let points = DistinctRows::of(data, ctx)?;
        let (joint, training) = self.probabilities(data, &points, ctx)?; // p_ij
        let width = self.n_components;
        let law = Student { dof: self.dof.unwrap_or((width as f64 - 1.0).max(1.0)) };
        let found = if points.firsts.len() < 2 {
            let y = vec![0.0; points.firsts.len() * width];
            (0.0, Descent { y, ..Descent::default() }) // all rows are equal
        } else {
            let forces = Forces { joint: &joint, law, width, method: self.method, angle: self.angle };
            let start = self.start(data, &joint, &points.firsts, ctx)?;
            let shown = |iteration, cost, y: &[f64]| {
                let embedding = points.spread(y.to_vec(), width);
                ctx.observer().is_none_or(|look| look(&Snapshot { iteration, cost, embedding: embedding.view() }))
            };
            let observer = ctx.observer().map(|_| &shown as Observer<'_>);
            let descent = minimize(&forces, start, &self.schedule(), observer, ctx)?; // KL(P‖Q)
            (forces.divergence(&descent.y, ctx)?, descent)
        };
        let (divergence, Descent { y, last, learning_rate, history }) = found;
        let embedding = points.spread(y, width);
        let map = NeighborMap::new(training, data, embedding, self.affinities, &self.perplexity, law, ctx)?;
        Ok(FittedTsne { map, divergence, last, learning_rate, history })
    }

    fn scaling(&self) -> Scaling {
        match self.affinities {
            AffinityShape::Precomputed => Scaling::Affinities,
            _ if self.metric.ignores_scale() => Scaling::Angles,
            _ => Scaling::Distances,
        }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as u64, features as u64, self.n_components as u64);
        let row = d.saturating_mul(24).saturating_add(p.saturating_mul(96)).saturating_add(128);
        // Lists with distances and probabilities, their transpose, the symmetric probabilities.
        let lists = (self.list_length(rows) as u64).saturating_mul(44);
        n.saturating_mul(row.saturating_add(lists))
    }
}

impl Tsne {
    fn check(&self, rows: usize) -> Result<()> {
        let refuse = |name: &'static str, why: String| Err(Error::param(name, why));
        if rows < 2 {
            return Err(Error::input("t-SNE needs at least 2 rows, found 1 sample (n_samples=1)"));
        }
        check_components(self.n_components, usize::MAX, "n_samples")?;
        let most = [(RepulsionMethod::BarnesHut, 3), (RepulsionMethod::Fft, 2)];
        if let Some((_, most)) = most.iter().find(|(method, most)| *method == self.method && *most < self.n_components) {
            // In the words scikit-learn uses.
            let why = format!("'n_components' should be inferior to {} for method='{}'; use 'auto'", most + 1, self.method.name());
            return refuse("n_components", why);
        }
        if self.perplexity.0.is_empty() {
            return refuse("perplexity", "must be a number or several, got none".into());
        }
        for &perplexity in &self.perplexity.0 {
            if !(perplexity >= 1.0 && perplexity.is_finite()) {
                return refuse("perplexity", format!("must be finite and at least 1, got {perplexity}"));
            }
            if perplexity >= rows as f64 && self.affinities != AffinityShape::Precomputed {
                // In the words scikit-learn uses.
                let why = format!("perplexity ({perplexity}) must be less than n_samples ({rows})");
                return refuse("perplexity", why);
            }
        }
        if self.max_iter == 0 {
            return refuse("max_iter", "must be at least 1, got 0".into());
        }
        if self.n_iter_without_progress < -1 {
            let why = format!("must be at least -1, got {}", self.n_iter_without_progress);
            return refuse("n_iter_without_progress", why);
        }
        for (name, value) in [
            ("early_exaggeration", self.early_exaggeration),
            ("exaggeration", self.exaggeration),
            ("learning_rate", self.learning_rate.unwrap_or(1.0)),
            ("dof", self.dof.unwrap_or(1.0)),
        ] {
            let least = if name == "early_exaggeration" { 1.0 } else { 0.0 };
            if !(value.is_finite() && value >= least && value > 0.0) {
                let above = if least > 0.0 { "at least 1" } else { "above 0" };
                return refuse(name, format!("must be finite and {above}, got {value}"));
            }
        }
        for (name, value) in [("min_grad_norm", self.min_grad_norm), ("tol", self.tol)] {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(name, format!("must be a number >= 0, got {value}"));
            }
        }
        if self.callback_every == 0 {
            return refuse("callback_every", "must be at least 1, got 0".into());
        }
        if !(0.0..=1.0).contains(&self.angle) {
            return refuse("angle", format!("must be between 0 and 1, got {}", self.angle));
        }
        if let TsneStart::Given(given) = &self.init {
            let constant = given.nrows() == rows && given.outer_iter().all(|row| row == given.row(0));
            // Whether one place is wrong depends on the data: equal rows belong there.
            if !constant || given.ncols() != self.n_components || given.iter().any(|value| !value.is_finite()) {
                check_given(given.view(), rows, self.n_components)?;
            }
            if given.iter().any(|value| value.abs() > FARTHEST) {
                return refuse("init", format!("coordinates must be at most {FARTHEST:e} in size"));
            }
        }
        Ok(())
    }

    fn schedule(&self) -> Schedule {
        Schedule {
            max_iter: self.max_iter,
            early_exaggeration: self.early_exaggeration,
            exaggeration: self.exaggeration,
            learning_rate: self.learning_rate,
            min_grad_norm: self.min_grad_norm,
            patience: self.n_iter_without_progress,
            tolerance: self.tol,
            observe_every: self.callback_every,
        }
    }

    /// Neighbours of each row whose probability is not taken for zero.
    fn list_length(&self, rows: usize) -> usize {
        let most = rows.saturating_sub(1);
        if self.method == RepulsionMethod::Exact { most } else { most.min((3.0 * self.perplexity.largest() + 1.0) as usize) }
    }

    /// The probabilities of pairs of points, and what new rows are compared with.
    fn probabilities(
        &self,
        data: Data<'_>,
        points: &DistinctRows,
        ctx: &Ctx,
    ) -> Result<(JointProbabilities, Training)> {
        let shape = self.affinities;
        if shape == AffinityShape::Precomputed {
            let Data::Graph(given) = data else {
                let why = format!("'precomputed' needs affinities of all rows, got {}", data.kind());
                return Err(Error::param("affinities", why));
            };
            check_offsets(given)?;
            let joint = JointProbabilities::from_affinities(given, points.point_of(), ctx)?;
            return Ok((joint, Training::Affinities(given.rows())));
        }
        let (near, training) = self.neighbors(data, ctx)?;
        let conditional = conditional_probabilities(&near, shape, &self.perplexity, ctx)?;
        let Neighbors { offsets, indices, distances } = near;
        drop(distances);
        Ok((JointProbabilities::new(offsets, indices, conditional, points.point_of(), ctx)?, training))
    }

    /// The neighbours of all rows, and what new rows are compared with.
    fn neighbors(&self, data: Data<'_>, ctx: &Ctx) -> Result<(Neighbors, Training)> {
        let k = self.list_length(data.rows());
        let rule = NeighborRule::Nearest(k);
        match (data, self.metric.metric(self.p)?) {
            (Data::Points(points), Some(metric)) => {
                let index = Index::build(points, metric, Algorithm::Auto, ctx)?;
                Ok((index.neighbors_of_all(rule, ctx)?, Training::Points(Box::new(index))))
            }
            (Data::Distances(matrix), None) => {
                let matrix: CowArray<'_, f64, _> = check::distances(matrix, ctx)?;
                Ok((from_distances(matrix.view(), rule, ctx)?, Training::Distances(matrix.nrows())))
            }
            (Data::Graph(given), None) => {
                if self.method == RepulsionMethod::Exact {
                    let why = "'exact' needs the distances of all pairs, and a sparse graph has those of some; \
                               use 'auto'";
                    return Err(Error::param("method", why));
                }
                Ok((Neighbors::of_graph(given, k)?, Training::Graph(given.rows())))
            }
            (data, metric) => Err(unfit(data, metric.is_none(), "distances or a graph")),
        }
    }

    /// Where the points start, row by row.
    fn start(
        &self,
        data: Data<'_>,
        joint: &JointProbabilities,
        firsts: &[u32],
        ctx: &Ctx,
    ) -> Result<Vec<f64>> {
        let (n, width) = (firsts.len(), self.n_components);
        let mut y = match &self.init {
            TsneStart::Given(given) => {
                if given.outer_iter().all(|row| row == given.row(0)) {
                    check_given(given.view(), given.nrows(), width)?;
                }
                return Ok(firsts.iter().flat_map(|&row| given.row(row as usize).to_vec()).collect());
            }
            TsneStart::Random => return Ok(small_noise(n, width, ctx)),
            TsneStart::Spectral if n <= width + 1 => return Ok(small_noise(n, width, ctx)),
            TsneStart::Spectral => eigenvectors(joint, width, ctx)?,
            TsneStart::Pca => principal_components(data, firsts, width, ctx)?,
        };
        fill_empty_columns(&mut y, width, ctx);
        Ok(y)
    }
}

/// The principal components of some rows, the first with the standard deviation of a start.
fn principal_components(data: Data<'_>, firsts: &[u32], width: usize, ctx: &Ctx) -> Result<Vec<f64>> {
    let Data::Points(points) = data else {
        let why = "The parameter init=\"pca\" cannot be used with metric=\"precomputed\".";
        return Err(Error::param("init", why));
    };
    let axes = width.min(points.rows()).min(points.cols());
    let quiet = ctx.for_run(Scale::ONE);
    let fitted = Method::fit(&Pca::default().n_components(axes), data, &quiet)?;
    let scores = Model::transform(&fitted, data, &quiet)?;
    let mut y = vec![0.0; firsts.len() * width];
    for (slots, &row) in y.chunks_exact_mut(width).zip(firsts) {
        slots.iter_mut().zip(scores.row(row as usize)).for_each(|(slot, score)| *slot = *score);
    }
    Ok(as_start(y, width))
}

/// The leading eigenvectors of the graph of probabilities: Laplacian eigenmaps of it.
fn eigenvectors(joint: &JointProbabilities, width: usize, ctx: &Ctx) -> Result<Vec<f64>> {
    let values = joint.values.iter().map(|&value| f64::from(value)).collect();
    let graph = Csr::new(joint.len(), joint.offsets.clone(), joint.indices.clone(), values)?;
    let method = SpectralEmbedding::default().affinity(AffinityName::Precomputed).n_components(width);
    let quiet = ctx.for_run(Scale::ONE);
    let fitted = Method::fit(&method, Data::Graph(&graph), &quiet)?;
    let y = fitted.embedding().map(|placed| placed.iter().copied().collect()).unwrap_or_default();
    Ok(as_start(y, width))
}

impl Model for FittedTsne {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.map.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let history = Array2::from_shape_fn((self.history.len(), 3), |(at, k)| self.history[at][k]);
        Ok(vec![
            ("kl_divergence", Attribute::Float(self.divergence)),
            ("n_iter", Attribute::Int(self.last as i64)),
            ("learning_rate", Attribute::Float(self.learning_rate)),
            ("history", Attribute::Matrix(history)),
        ])
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        self.map.place(data, ctx)
    }

    fn nearest_distances(&self, data: Data<'_>, ctx: &Ctx) -> Result<Vec<f64>> {
        self.map.nearest_distances(data, ctx)
    }
}
