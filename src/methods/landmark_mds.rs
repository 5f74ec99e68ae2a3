//! Landmark MDS: classical scaling of a few rows, and all others placed by
//! their distances to them.
//!
//! De Silva and Tenenbaum 2004, Platt 2005; the survey's (52)–(64). Symbols: m
//! landmarks, E their m × m distances, A = −½ H E² H = UΣUᵀ.
//!
//! * `landmark`: a row is placed by Σ^(-½)Uᵀ of its centred squared distances to
//!   the landmarks, which for a landmark itself is Σ^½Uᵀ (60).
//! * `metricmap` (Wang et al. 1999): the same with the first landmark as origin
//!   instead of the landmarks' mean.
//! * `fastmap` (Faloutsos and Lin 1995): two landmarks for each coordinate.
//!
//! Only m distances of a row are ever needed, for training rows as for new ones.
//! Cost: m·n distances, m³ at most for the spectrum. With every row a landmark
//! this is classical MDS.

use ndarray::{Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};

use crate::dimension::Coordinates;
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::extend::{Eigenfunction, FastMap};
use crate::input::Data;
use crate::input::check::check_components;
use crate::kernel::centering::{CenteredSquares, Centering};
use crate::landmarks::{Cover, LandmarkChoice, MatrixCover, PointsCover, check_count, check_given, choose, random_rows};
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::neighbors::{Dissimilarities, MetricName, ReferenceRows};
use crate::params::{choices, params};
use crate::spectrum::{EigenSolver, Options, top};

choices! {
    /// How rows are placed by their distances to landmarks.
    LandmarkAlgorithm {
        /// By triangulation about the landmarks' mean.
        Landmark = "landmark",
        /// By projection on lines between pairs of landmarks.
        FastMap = "fastmap",
        /// By triangulation about the first landmark.
        MetricMap = "metricmap",
    }
}

params! {
    /// Landmark multidimensional scaling: classical MDS for very many rows.
    LandmarkMds as "LandmarkMDS" {
        /// Number of coordinates.
        n_components: Coordinates = Coordinates::Count(2),
        /// Number of landmarks; all rows when there are fewer.
        n_landmarks: usize = 200,
        /// How they are chosen.
        landmarks: LandmarkChoice = LandmarkChoice::Maxmin,
        /// How the other rows are placed.
        algorithm: LandmarkAlgorithm = LandmarkAlgorithm::Landmark,
        /// Distance between points, or `Precomputed`.
        metric: MetricName = MetricName::Euclidean,
        /// Power of the Minkowski metric.
        p: f64 = 2.0,
        /// How the eigenproblem is solved.
        eigen_solver: EigenSolver = EigenSolver::Auto,
        /// Tolerance of the iterative solver; 0 is the tightest sensible.
        tol: f64 = 0.0,
        /// Cap on iterations; `None` is generous.
        max_iter: Option<usize> = None,
    }
}

/// A fitted [`LandmarkMds`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedLandmarkMds {
    embedding: Array2<f64>,
    eigenvalues: Option<Vec<f64>>,
    iterations: usize,
    landmarks: Vec<u32>,
    reference: ReferenceRows,
    formula: Formula,
}

/// How a row is placed by its distances to the landmarks.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Formula {
    Eigen(Eigenfunction),
    FastMap(FastMap),
}

/// Rows whose distances to the landmarks are in memory at once.
const BLOCK: usize = 4096;
const HINT: &str = "use fewer landmarks";

impl Method for LandmarkMds {
    type Model = FittedLandmarkMds;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedLandmarkMds> {
        check_components(self.n_components.count(), data.rows(), "n_samples")?;
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        ctx.reserve(self.memory(data.rows(), data.features()), "LandmarkMDS", HINT)?;
        let training = Dissimilarities::new(data, self.metric.metric(self.p)?, ctx)?;
        let mut model = match self.algorithm {
            LandmarkAlgorithm::Landmark | LandmarkAlgorithm::MetricMap => {
                self.by_triangulation(&training, &options, ctx)?
            }
            LandmarkAlgorithm::FastMap => self.by_lines(&training, ctx)?,
        };
        // Training rows are placed as new ones are.
        model.embedding = match &training {
            Dissimilarities::Points(_) => model.transform(data, ctx)?,
            Dissimilarities::Given(matrix) => model.transform(Data::Distances(matrix.view()), ctx)?,
        };
        Ok(model)
    }

    fn scaling(&self) -> Scaling {
        if self.metric.ignores_scale() { Scaling::Angles } else { Scaling::Distances }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as f64, features as f64, self.n_components.count() as f64);
        let m = self.n_landmarks.min(rows) as f64;
        let block = 8.0 * m * (BLOCK as f64).min(n);
        (8.0 * n * d + 16.0 * n * p + 12.0 * n + 8.0 * m * m + block) as u64
    }
}

impl LandmarkMds {
    /// Classical scaling of the landmarks; other rows by the eigenfunction formula.
    fn by_triangulation(
        &self,
        training: &Dissimilarities<'_>,
        options: &Options,
        ctx: &Ctx,
    ) -> Result<FittedLandmarkMds> {
        let landmarks = self.choose(training, ctx)?;
        let m = landmarks.len();
        ctx.reserve((24 * m * m) as u64, "the distances between the landmarks", HINT)?;
        let distances = training.between(&landmarks, ctx)?; //                        E
        let mut kernel = CenteredSquares::new(distances.view())?; //                  A = −½ H E² H
        if self.algorithm == LandmarkAlgorithm::MetricMap {
            kernel = kernel.with_centering(Centering::point(m, 0)?)?;
        }
        let pairs = top(&kernel, self.n_components.count(), options, ctx)?; //                U, Σ
        let formula = Eigenfunction::of_distances(&kernel, &pairs, ctx)?; //          Σ^(-½) Uᵀ
        Ok(FittedLandmarkMds {
            embedding: Array2::zeros((0, self.n_components.count())),
            eigenvalues: Some(pairs.values),
            iterations: pairs.iterations.max(1),
            reference: training.reference(&landmarks, ctx)?,
            landmarks,
            formula: Formula::Eigen(formula),
        })
    }

    /// FastMap: each coordinate along the line between two far rows.
    fn by_lines(&self, training: &Dissimilarities<'_>, ctx: &Ctx) -> Result<FittedLandmarkMds> {
        if matches!(self.landmarks, LandmarkChoice::Given(_)) {
            let why = "algorithm='fastmap' chooses its own rows, two for each coordinate";
            return Err(Error::param("landmarks", why));
        }
        let column = |row: u32| training.column(row, ctx);
        let (formula, landmarks) = FastMap::new(training.rows(), self.n_components.count(), column, ctx)?;
        if formula.rank() < self.n_components.count() {
            ctx.warn(
                WarningKind::RankDeficient,
                format!(
                    "the data spans only {} dimension(s), fewer than the {} components asked for; the other \
                     columns are zero, use n_components <= {}",
                    formula.rank(),
                    self.n_components.count(),
                    formula.rank().max(1)
                ),
            );
        }
        Ok(FittedLandmarkMds {
            embedding: Array2::zeros((0, self.n_components.count())),
            eigenvalues: None,
            iterations: 1,
            reference: training.reference(&landmarks, ctx)?,
            landmarks,
            formula: Formula::FastMap(formula),
        })
    }

    fn choose(&self, training: &Dissimilarities<'_>, ctx: &Ctx) -> Result<Vec<u32>> {
        let rows = training.rows();
        if let LandmarkChoice::Given(given) = &self.landmarks {
            return check_given(given, self.n_components.count(), rows);
        }
        let count = check_count(self.n_landmarks, self.n_components.count(), rows)?;
        if self.landmarks == LandmarkChoice::Random {
            return Ok(random_rows(rows, count, ctx));
        }
        let mut cover: Box<dyn Cover + '_> = match training {
            Dissimilarities::Points(index) => Box::new(PointsCover::new(index)),
            Dissimilarities::Given(matrix) => Box::new(MatrixCover::new(matrix.view())),
        };
        choose(&mut *cover, &self.landmarks, count, ctx)
    }
}

impl Model for FittedLandmarkMds {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let landmarks: Vec<usize> = self.landmarks.iter().map(|&row| row as usize).collect();
        let mut named = vec![
            ("landmarks", Attribute::indices(&landmarks)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(self.eigenvalues.as_ref().map(|values| ("eigenvalues", Attribute::vector(values))));
        Ok(named)
    }

    fn units(&self) -> Units {
        Units { coordinates: 1, attributes: &[("eigenvalues", 2)] }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let rows = data.rows();
        let mut placed = Array2::zeros((rows, self.embedding.ncols()));
        for first in (0..rows).step_by(BLOCK) {
            let last = (first + BLOCK).min(rows);
            let distances = self.reference.dissimilarities(data, first, last, ctx)?;
            let coordinates = match &self.formula {
                Formula::Eigen(formula) => formula.project_distances(distances.view(), ctx)?,
                Formula::FastMap(formula) => formula.place(distances.view(), ctx)?,
            };
            placed.slice_mut(s![first..last, ..]).assign(&coordinates);
        }
        Ok(placed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_gate_asks_for_what_the_estimate_says() {
        let points = Array2::from_shape_fn((50, 7), |(i, j)| ((i * 7 + j) as f64).sin());
        let method = LandmarkMds::default().n_landmarks(10);
        let estimate = method.memory(50, 7);
        assert!(estimate > method.memory(50, 0), "the features count");
        let tight = Ctx::new(1, 0).with_memory_limit(estimate - 1);
        let refused = method.fit(&points, &tight).unwrap_err();
        assert!(matches!(refused, Error::Memory { need, .. } if need == estimate), "{refused}");
        method.fit(&points, &Ctx::new(1, 0).with_memory_limit(estimate)).unwrap();
    }
}
