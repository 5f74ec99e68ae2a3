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

use crate::dimension::Coordinates;
use crate::context::Ctx;
use crate::embedding::kept_values;
use crate::error::{Error, Result};
use crate::extend::{Eigenfunction, LinearMap};
use crate::input::check::check_components;
use crate::input::{Data, PointsRef};
use crate::kernel::centering::{CenteredSquares, Centering};
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::methods::LandmarkMds;
use crate::neighbors::{Dissimilarities, Metric, MetricName, ReferenceRows};
use crate::optimize::columns_of;
use crate::optimize::problem::{Problem, Totals};
use crate::params::{Parameter, Value, params};
use crate::scale::Scale;
use crate::spectrum::principal_axes::{PcaRoute, pca_about};
use crate::spectrum::{EigenSolver, top};

/// Which point is the origin of the coordinates.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
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
        n_components: Coordinates = Coordinates::Count(2),
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedClassicalMds {
    embedding: Array2<f64>,
    eigenvalues: Vec<f64>,
    iterations: usize,
    extension: Extension,
}

/// How new rows are placed.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Extension {
    /// Euclidean points: by projection.
    Linear(LinearMap),
    /// Others: by their distances to the training rows.
    Distances { training: ReferenceRows, formula: Eigenfunction },
}

const HINT: &str = "use metric='euclidean', which never makes an n x n matrix, or fit on a subset of the rows";

impl Method for ClassicalMds {
    type Model = FittedClassicalMds;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedClassicalMds> {
        check_components(self.n_components.count(), data.rows(), "n_samples")?;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        let metric = self.metric.metric(self.p)?;
        if let (Data::Points(points), Some(Metric::Euclidean)) = (data, metric) {
            return self.fit_euclidean(points, ctx);
        }
        if let Data::Points(points) = data {
            let need = self.memory(points.rows(), points.cols());
            ctx.reserve(need, "ClassicalMDS on a non-Euclidean metric", HINT)?;
        }
        let training = Dissimilarities::new(data, metric, ctx)?;
        let distances = training.matrix(ctx)?; //                                                    D
        let origin = self.origin.centering(training.rows())?;
        let kernel = CenteredSquares::new(distances.view())?.with_centering(origin)?; //             −½ H D² Hᵀ
        let pairs = top(&kernel, self.n_components.count(), &options, ctx)?; //                              V, Λ
        let formula = Eigenfunction::of_distances(&kernel, &pairs, ctx)?;
        let embedding = formula.project_distances(distances.view(), ctx)?; //                        V√Λ
        drop(kernel);
        drop(distances);
        Ok(FittedClassicalMds {
            embedding,
            eigenvalues: pairs.values,
            iterations: pairs.iterations.max(1),
            extension: Extension::Distances { training: training.into_reference(), formula },
        })
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as f64, features as f64, self.n_components.count() as f64);
        let small = 8.0 * n * (p + 8.0) * 24.0;
        let euclidean = 8.0 * (n * (2.0 * p + 1.0) + 6.0 * d * d.min(n).min(512.0) + 64.0 * d);
        let bytes = match self.metric {
            MetricName::Precomputed => small,
            MetricName::Euclidean => euclidean,
            MetricName::Minkowski if self.p == 2.0 => euclidean,
            _ => 8.0 * n * n + small + 8.0 * n * d,
        };
        bytes as u64
    }
}

impl Model for FittedClassicalMds {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        Ok(vec![
            ("eigenvalues", Attribute::vector(&self.eigenvalues)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ])
    }

    fn units(&self) -> Units {
        Units { coordinates: 1, attributes: &[("eigenvalues", 2)] }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        match (&self.extension, data) {
            (Extension::Linear(map), Data::Points(points)) => map.apply(points, ctx),
            (Extension::Linear(_), data) => Err(Error::input(format!(
                "the model was fitted on points; new rows cannot come as {}",
                data.kind()
            ))),
            (Extension::Distances { training, formula }, data) => {
                let distances = training.dissimilarities(data, 0, data.rows(), ctx)?;
                formula.project_distances(distances.view(), ctx)
            }
        }
    }
}

impl ClassicalMds {
    /// Euclidean points: eigenvectors of their Gram matrix are projections on their
    /// principal axes about the origin.
    fn fit_euclidean(&self, points: PointsRef<'_>, ctx: &Ctx) -> Result<FittedClassicalMds> {
        let weights = self.origin.centering(points.rows())?.other_than_mean();
        let origin = weights.map(|weights| weighted_mean(points, weights));
        let wanted = self.n_components.count().min(points.rows()).min(points.cols());
        let found = pca_about(points, origin, wanted, PcaRoute::Auto, self.tol, ctx)?;
        let pairs = found.eigenvalues(self.n_components.count(), points.rows());
        let mut axes = Array2::zeros((self.n_components.count(), points.cols()));
        for (component, value) in kept_values(&pairs, ctx).iter().enumerate() {
            if value.is_some() {
                axes.row_mut(component).assign(&found.axes.row(component));
            }
        }
        let map = LinearMap::new(Array1::from(found.mean), axes);
        Ok(FittedClassicalMds {
            embedding: map.apply(points, ctx)?,
            eigenvalues: pairs.values,
            iterations: 1,
            extension: Extension::Linear(map),
        })
    }
}

/// Σ a_i x_i, the origin of the coordinates among the points.
fn weighted_mean(points: PointsRef<'_>, weights: Array1<f64>) -> Vec<f64> {
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

/// Coordinates by classical scaling, column by column, for an optimisation to start from:
/// without its warnings, and by landmarks where the distances of points are not stored.
///
/// # Errors
/// Memory; cancellation.
pub(crate) fn start(
    data: Data<'_>,
    problem: &Problem<'_>,
    totals: &Totals,
    (metric, p): (MetricName, f64),
    components: usize,
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    if let (Data::Points(_), Some(Metric::Euclidean)) = (data, metric.metric(p)?) {
        let method = ClassicalMds::default().n_components(components);
        return Ok(columns_of(Method::fit(&method, data, &ctx.for_run(Scale::ONE))?.embedding.view()));
    }
    match problem.filled(totals) {
        Some(matrix) => start_of_matrix(matrix.view(), components, ctx),
        None => {
            let method = LandmarkMds::default().n_components(components).metric(metric).p(p);
            let fitted = Method::fit(&method, data, &ctx.for_run(Scale::ONE))?;
            Ok(fitted.embedding().map(columns_of).unwrap_or_default())
        }
    }
}

/// The same from a matrix of distances.
///
/// # Errors
/// Memory; cancellation.
pub(crate) fn start_of_matrix(matrix: ArrayView2<'_, f64>, components: usize, ctx: &Ctx) -> Result<Vec<f64>> {
    let method = ClassicalMds::default().n_components(components).metric(MetricName::Precomputed);
    let fitted = Method::fit(&method, Data::Distances(matrix), &ctx.for_run(Scale::ONE))?;
    Ok(columns_of(fitted.embedding.view()))
}
