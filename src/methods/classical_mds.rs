//! Classical MDS (principal coordinates): coordinates whose inner products are
//! those of the centred data.
//!
//! Torgerson 1952, Gower 1966; the survey's (10), (13), Prop. 1, (39), (40).
//! Symbols: D distances, a the weights of the origin (1/n by default),
//! H(a) = I − 1aᵀ, K = −½ H D² Hᵀ.
//!
//! * Euclidean points: K = X̃X̃ᵀ, so the coordinates are projections on the
//!   principal axes (Prop. 1). No n × n matrix is made: n·D² + D³.
//! * Other metrics and given distances: top eigenpairs of K by its products with
//!   a block of vectors, D itself being read as it is: a few passes over n².

use ndarray::{Array1, Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::choices::{EigenSolver, MetricName, check_components, ignores_scale, unfit};
use crate::context::Ctx;
use crate::embedding::{kept_values, scale_back};
use crate::error::{Error, Result};
use crate::extend::{Eigenfunction, LinearMap};
use crate::input::check;
use crate::input::scale::{Scale, scale_of_matrix, scale_of_points};
use crate::input::PointsRef;
use crate::kernel::center::{CenteredSquares, Centering};
use crate::kernel::covariance::{PcaRoute, pca_about};
use crate::neighbors::{Algorithm, Index, Metric};
use crate::params::{Parameter, Value, params};
use crate::pipeline::{Attribute, Data, Model, Recipe};
use crate::spectrum::{Solver, Spectrum, top};

/// Which point is the origin of the coordinates.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Origin {
    /// The mean of all rows.
    #[default]
    Mean,
    /// One row.
    Row(usize),
    /// A weighted mean; the weights sum to one.
    Weights(Vec<f64>),
}

impl Parameter for Origin {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::None => Some(Origin::Mean),
            Value::Int(row) => usize::try_from(*row).ok().map(Origin::Row),
            Value::Floats(weights) => Some(Origin::Weights(weights.clone())),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        match self {
            Origin::Mean => Value::None,
            Origin::Row(row) => row.to_value(),
            Origin::Weights(weights) => Value::Floats(weights.clone()),
        }
    }
    fn expected() -> String {
        "None (the mean), the index of a row, or an array of weights".into()
    }
}

impl Origin {
    fn centering(&self, rows: usize) -> Result<Centering> {
        match self {
            Origin::Mean => Ok(Centering::mean(rows)),
            Origin::Row(row) if *row < rows => Centering::point(rows, *row),
            Origin::Row(row) => Err(Error::param("origin", format!("row {row} does not exist, rows are 0..{rows}"))),
            Origin::Weights(weights) => {
                let sum: f64 = weights.iter().sum();
                if weights.len() != rows || (sum - 1.0).abs() > 1e-8 || !sum.is_finite() {
                    let count = weights.len();
                    let why = format!("needs {rows} weights that sum to 1, got {count} that sum to {sum}");
                    return Err(Error::param("origin", why));
                }
                Centering::weights(weights.clone())
            }
        }
    }
}

params! {
    /// Classical multidimensional scaling.
    ClassicalMds as "ClassicalMDS" {
        /// Number of coordinates.
        n_components: usize = 2,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Euclidean,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// Which point is the origin.
        origin: Origin = Origin::Mean,
        /// How the eigenproblem is solved.
        eigen_solver: EigenSolver = EigenSolver::Auto,
        /// Tolerance of the iterative solver; 0 is the tightest sensible.
        tol: f64 = 0.0,
        /// Cap on iterations; `None` is generous.
        max_iter: Option<usize> = None,
    }
}

/// A fitted [`ClassicalMds`].
#[derive(Debug, Serialize, Deserialize)]
pub struct FittedClassicalMds {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    iterations: usize,
    extension: Extension,
    input_scale: Scale,
    length_scale: Scale,
}

/// How new rows are placed.
#[derive(Debug, Serialize, Deserialize)]
enum Extension {
    /// Euclidean points: by projection.
    Linear(LinearMap),
    /// Points under another metric: by their distances to the training points.
    Distances { training: Box<Index>, formula: Eigenfunction },
    /// Given distances.
    Given(Eigenfunction),
}

impl ClassicalMds {
    fn fit_euclidean(&self, points: PointsRef<'_>, ctx: &Ctx) -> Result<FittedClassicalMds> {
        let scale = scale_of_points(points);
        let scaled = scale.points(points);
        let points = scaled.view();
        let centering = self.origin.centering(points.rows())?;
        let most = points.rows().min(points.cols());
        let origin = (self.origin != Origin::Mean).then(|| weighted_mean(points, centering.as_slice()));
        let wanted = self.n_components.min(most);
        let found = pca_about(points, origin, wanted, PcaRoute::Auto, self.tol, ctx)?;
        let spectrum = Spectrum {
            values: found.singular_values.iter().map(|value| value * value).chain(std::iter::repeat(0.0)).take(self.n_components).collect(),
            vectors: Array2::zeros((points.rows(), 0)),
            residuals: Vec::new(),
            iterations: 0,
            converged: true,
            converged_pairs: self.n_components,
            lowest: 0.0,
            next: None,
            spare: None,
            ran: Solver::Dense,
        };
        let kept = kept_values(&spectrum, ctx);
        let mut axes = Array2::zeros((self.n_components, points.cols()));
        for (component, value) in kept.iter().enumerate() {
            if value.is_some() {
                axes.row_mut(component).assign(&found.axes.row(component));
            }
        }
        let map = LinearMap::new(Array1::from(found.mean), axes);
        let mut embedding = map.apply(points, ctx)?;
        scale_back(embedding.view_mut(), scale);
        Ok(FittedClassicalMds {
            embedding,
            eigenvalues: spectrum.values.iter().map(|&value| scale.back_squared(value)).collect(),
            iterations: 1,
            extension: Extension::Linear(map),
            input_scale: scale,
            length_scale: scale,
        })
    }

    /// Eigenpairs of K from distances at working scale.
    fn fit_squares(&self, matrix: ArrayView2<'_, f64>, scale: Scale, ctx: &Ctx) -> Result<Fit> {
        let centering = self.origin.centering(matrix.nrows())?;
        let origin = (self.origin != Origin::Mean).then(|| Array1::from(centering.as_slice().to_vec()));
        let kernel = CenteredSquares::new(matrix)?.with_centering(centering)?;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        let spectrum = top(&kernel, self.n_components, &options, ctx)?;
        let kept = kept_values(&spectrum, ctx);
        let means = kernel.means(ctx)?;
        let row_means = Array1::from(means.rows).mapv(|mean| -0.5 * mean);
        let formula =
            Eigenfunction::new(spectrum.vectors.view(), &kept, row_means, -0.5 * means.grand, origin);
        let mut embedding = formula.project_rows(matrix, half_square, ctx)?;
        scale_back(embedding.view_mut(), scale);
        let eigenvalues = spectrum.values.iter().map(|&value| scale.back_squared(value)).collect();
        Ok(Fit { embedding, eigenvalues, iterations: spectrum.iterations.max(1), formula })
    }

    fn fit_metric(&self, points: PointsRef<'_>, metric: Metric, ctx: &Ctx) -> Result<FittedClassicalMds> {
        ctx.reserve(self.memory(points.rows(), points.cols()), "ClassicalMDS on a non-Euclidean metric", WAY_OUT)?;
        let input_scale = scale_of_points(points);
        let length_scale = if ignores_scale(metric) { Scale::ONE } else { input_scale };
        let scaled = input_scale.points(points);
        let points = scaled.view();
        let training = Box::new(Index::build(points, metric, Algorithm::Brute, ctx)?);
        let matrix = training.matrix(None, ctx)?;
        let Fit { embedding, eigenvalues, iterations, formula } =
            self.fit_squares(matrix.view(), length_scale, ctx)?;
        let extension = Extension::Distances { training, formula };
        Ok(FittedClassicalMds { embedding, eigenvalues, iterations, extension, input_scale, length_scale })
    }

    fn fit_distances(&self, matrix: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<FittedClassicalMds> {
        let matrix = check::distances(matrix, ctx)?;
        let scale = scale_of_matrix(matrix.view());
        let Fit { embedding, eigenvalues, iterations, formula } =
            self.fit_squares(scale.matrix(matrix.view()).view(), scale, ctx)?;
        let extension = Extension::Given(formula);
        Ok(FittedClassicalMds { embedding, eigenvalues, iterations, extension, input_scale: scale, length_scale: scale })
    }
}

/// Σ a_i x_i, the origin of the coordinates among the points.
fn weighted_mean(points: PointsRef<'_>, weights: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; points.cols()];
    for (row, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
        match points {
            PointsRef::Dense(matrix) => {
                mean.iter_mut().zip(matrix.row(row)).for_each(|(sum, value)| *sum += weight * value);
            }
            PointsRef::Sparse(matrix) => {
                let (columns, values) = matrix.row(row);
                columns.iter().zip(values).for_each(|(&at, value)| mean[at as usize] += weight * value);
            }
        }
    }
    mean
}

/// What the eigenproblem on distances gives.
struct Fit {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    iterations: usize,
    formula: Eigenfunction,
}

const WAY_OUT: &str = "use metric='euclidean', which never makes an n x n matrix, or fit on a subset of the rows";

/// The kernel value of a distance.
fn half_square(distance: f64) -> f64 {
    -0.5 * (distance * distance)
}

impl Recipe for ClassicalMds {
    type Model = FittedClassicalMds;

    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedClassicalMds> {
        check_components(self.n_components, data.rows(), "n_samples")?;
        self.eigen_solver.options(self.tol, self.max_iter)?;
        match (data, self.metric.metric(self.p)?) {
            (Data::Points(points), Some(Metric::Euclidean)) => self.fit_euclidean(points, ctx),
            (Data::Points(points), Some(metric)) => self.fit_metric(points, metric, ctx),
            (Data::Distances(matrix), None) => self.fit_distances(matrix, ctx),
            (data, metric) => Err(unfit(data, metric.is_none(), "distances")),
        }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as u64, features as u64, self.n_components as u64);
        let small = 8 * n * (p + 8) * 24;
        let euclidean = 8 * (n * (2 * p + 1) + 6 * d * d.min(n).min(512) + 64 * d);
        match self.metric {
            MetricName::Precomputed => small,
            MetricName::Euclidean => euclidean,
            MetricName::Minkowski if self.p == 2.0 => euclidean,
            _ => 8 * n * n + small + 8 * n * d,
        }
    }
}

impl Model for FittedClassicalMds {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ]
    }

    fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut placed = match (&self.extension, data) {
            (Extension::Linear(map), Data::Points(points)) => {
                let scaled = self.input_scale.points(points);
                map.apply(scaled.view(), ctx)?
            }
            (Extension::Distances { training, formula }, Data::Points(points)) => {
                let scaled = self.input_scale.points(points);
                let matrix = training.matrix(Some(scaled.view()), ctx)?;
                formula.project_rows(matrix.view(), half_square, ctx)?
            }
            (Extension::Given(formula), Data::Distances(matrix)) => {
                let matrix = check::new_distances(matrix, formula.training_rows())?;
                formula.project_rows(self.input_scale.matrix(matrix.view()).view(), half_square, ctx)?
            }
            (_, data) => {
                return Err(Error::input(format!(
                    "the model was fitted on another kind of data; new rows cannot come as {}",
                    data.kind()
                )));
            }
        };
        scale_back(placed.view_mut(), self.length_scale);
        Ok(placed)
    }
}
