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

use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::choices::{EigenSolver, MetricName, check_components, ignores_scale, unfit};
use super::neighborhood::as_indices;
use crate::context::Ctx;
use crate::embedding::{kept_values, scale_back};
use crate::error::{Error, Result, WarningKind};
use crate::extend::{Eigenfunction, FastMap};
use crate::input::scale::{Scale, scale_of_matrix, scale_of_points};
use crate::input::{PointsRef, check};
use crate::kernel::center::{CenteredSquares, Centering};
use crate::landmarks::{
    Cover, LandmarkChoice, MatrixCover, PointsCover, check_count, check_given, choose, random_rows,
};
use crate::neighbors::{Algorithm, Index, Metric};
use crate::params::{choices, params};
use crate::pipeline::{Attribute, Data, Model, Recipe};
use crate::spectrum::top;

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
        n_components: usize = 2,
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
#[derive(Debug, Serialize, Deserialize)]
pub struct FittedLandmarkMds {
    embedding: Array2<f64>,
    eigenvalues: Option<Vec<f64>>,
    iterations: usize,
    landmarks: Vec<u32>,
    located: Located,
    formula: Formula,
    input_scale: Scale,
    length_scale: Scale,
}

/// Where the landmarks are.
#[derive(Debug, Serialize, Deserialize)]
enum Located {
    /// Among points.
    Points(Box<Index>),
    /// Rows bring their distances to all training rows, this many.
    Given(usize),
}

/// How a row is placed.
#[derive(Debug, Serialize, Deserialize)]
enum Formula {
    Eigen(Eigenfunction),
    FastMap(FastMap),
}

/// Rows whose distances to the landmarks are held at once.
const BLOCK: usize = 4096;
const WAY_OUT: &str = "use fewer landmarks";

/// The training rows as the landmarks are chosen from them.
enum Training<'a> {
    Points(&'a Index),
    Given(ArrayView2<'a, f64>),
}

impl Training<'_> {
    fn rows(&self) -> usize {
        match self {
            Training::Points(index) => index.len(),
            Training::Given(matrix) => matrix.nrows(),
        }
    }

    /// Distances of all rows to one.
    fn column(&self, row: u32, ctx: &Ctx) -> Result<Vec<f64>> {
        const ROWS: usize = 1 << 12;
        let Training::Points(index) = self else {
            return Ok(self.given().map_or_else(Vec::new, |matrix| matrix.row(row as usize).to_vec()));
        };
        let mut distances = vec![0.0; index.len()];
        distances.par_chunks_mut(ROWS).enumerate().try_for_each(|(chunk, part)| {
            ctx.check()?;
            for (offset, distance) in part.iter_mut().enumerate() {
                *distance = index.pair_distance(chunk * ROWS + offset, row as usize);
            }
            Ok(())
        })?;
        Ok(distances)
    }

    fn given(&self) -> Option<&ArrayView2<'_, f64>> {
        match self {
            Training::Points(_) => None,
            Training::Given(matrix) => Some(matrix),
        }
    }

    /// Distances between some rows.
    fn between(&self, rows: &[u32], ctx: &Ctx) -> Result<Array2<f64>> {
        let some = as_indices(rows);
        match self {
            Training::Points(index) => {
                let few = index.points().view().select(&some);
                Index::build(few.view(), index.metric(), Algorithm::Brute, ctx)?.matrix(None, ctx)
            }
            Training::Given(matrix) => Ok(matrix.select(Axis(0), &some).select(Axis(1), &some)),
        }
    }
}

/// Landmarks and the formula for all rows.
struct Survey {
    landmarks: Vec<u32>,
    formula: Formula,
    eigenvalues: Option<Vec<f64>>,
    iterations: usize,
}

impl LandmarkMds {
    fn survey(&self, training: &Training<'_>, ctx: &Ctx) -> Result<Survey> {
        if self.algorithm == LandmarkAlgorithm::FastMap {
            if matches!(self.landmarks, LandmarkChoice::Given(_)) {
                let why = "algorithm='fastmap' chooses its own rows, two for each coordinate";
                return Err(Error::param("landmarks", why));
            }
            return self.survey_lines(training, ctx);
        }
        let landmarks = self.choose(training, ctx)?;
        let m = landmarks.len();
        ctx.reserve((24 * m * m) as u64, "the distances between the landmarks", WAY_OUT)?;
        let table = training.between(&landmarks, ctx)?;
        let mut kernel = CenteredSquares::new(table.view())?;
        let mut origin = None;
        if self.algorithm == LandmarkAlgorithm::MetricMap {
            let first = Centering::point(m, 0)?;
            origin = Some(Array1::from(first.as_slice().to_vec()));
            kernel = kernel.with_centering(first)?;
        }
        let options = self.eigen_solver.options(self.tol, self.max_iter)?;
        let spectrum = top(&kernel, self.n_components, &options, ctx)?;
        let kept = kept_values(&spectrum, ctx);
        let means = kernel.means(ctx)?;
        let row_means = Array1::from(means.rows).mapv(|mean| -0.5 * mean);
        let formula =
            Eigenfunction::new(spectrum.vectors.view(), &kept, row_means, -0.5 * means.grand, origin);
        Ok(Survey {
            landmarks,
            formula: Formula::Eigen(formula),
            iterations: spectrum.iterations.max(1),
            eigenvalues: Some(spectrum.values),
        })
    }

    fn survey_lines(&self, training: &Training<'_>, ctx: &Ctx) -> Result<Survey> {
        let column = |row: u32| training.column(row, ctx);
        let (formula, landmarks) = FastMap::new(training.rows(), self.n_components, column, ctx)?;
        if formula.rank() < self.n_components {
            ctx.warn(
                WarningKind::RankDeficient,
                format!(
                    "the data spans only {} dimension(s), fewer than the {} components asked for; the other \
                     columns are zero",
                    formula.rank(),
                    self.n_components
                ),
            );
        }
        Ok(Survey { landmarks, formula: Formula::FastMap(formula), eigenvalues: None, iterations: 1 })
    }

    fn choose(&self, training: &Training<'_>, ctx: &Ctx) -> Result<Vec<u32>> {
        let rows = training.rows();
        if let LandmarkChoice::Given(given) = &self.landmarks {
            return check_given(given, self.n_components, rows);
        }
        let count = check_count(self.n_landmarks, self.n_components, rows)?;
        if self.landmarks == LandmarkChoice::Random {
            return Ok(random_rows(rows, count, ctx));
        }
        let mut cover: Box<dyn Cover + '_> = match training {
            Training::Points(index) => Box::new(PointsCover::new(index)),
            Training::Given(matrix) => Box::new(MatrixCover::new(*matrix)),
        };
        choose(&mut *cover, &self.landmarks, count, ctx)
    }

    fn fit_points(&self, points: PointsRef<'_>, metric: Metric, ctx: &Ctx) -> Result<FittedLandmarkMds> {
        let input_scale = scale_of_points(points);
        let length_scale = if ignores_scale(metric) { Scale::ONE } else { input_scale };
        let scaled = input_scale.points(points);
        let all = Index::build(scaled.view(), metric, Algorithm::Brute, ctx)?;
        let survey = self.survey(&Training::Points(&all), ctx)?;
        let few = scaled.view().select(&as_indices(&survey.landmarks));
        let index = Index::build(few.view(), metric, Algorithm::Brute, ctx)?;
        let located = Located::Points(Box::new(index));
        FittedLandmarkMds::place_training(survey, located, input_scale, length_scale, Data::Points(points), ctx)
    }

    fn fit_distances(&self, matrix: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<FittedLandmarkMds> {
        let checked = check::distances(matrix, ctx)?;
        let scale = scale_of_matrix(checked.view());
        let scaled = scale.matrix(checked.view());
        let survey = self.survey(&Training::Given(scaled.view()), ctx)?;
        let located = Located::Given(matrix.nrows());
        FittedLandmarkMds::place_training(survey, located, scale, scale, Data::Distances(checked.view()), ctx)
    }
}

impl Recipe for LandmarkMds {
    type Model = FittedLandmarkMds;

    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedLandmarkMds> {
        check_components(self.n_components, data.rows(), "n_samples")?;
        self.eigen_solver.options(self.tol, self.max_iter)?;
        ctx.reserve(self.memory(data.rows(), 0), "LandmarkMDS", WAY_OUT)?;
        match (data, self.metric.metric(self.p)?) {
            (Data::Points(points), Some(metric)) => self.fit_points(points, metric, ctx),
            (Data::Distances(matrix), None) => self.fit_distances(matrix, ctx),
            (data, metric) => Err(unfit(data, metric.is_none(), "distances")),
        }
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d, p) = (rows as u64, features as u64, self.n_components as u64);
        let m = self.n_landmarks.min(rows) as u64;
        let block = 8 * m * (BLOCK as u64).min(n);
        8 * n * d + 16 * n * p + 12 * n + 8 * m * m + block
    }
}

impl FittedLandmarkMds {
    /// The model with the training rows placed by its own formula.
    fn place_training(
        survey: Survey,
        located: Located,
        input_scale: Scale,
        length_scale: Scale,
        data: Data<'_>,
        ctx: &Ctx,
    ) -> Result<FittedLandmarkMds> {
        let Survey { landmarks, formula, eigenvalues, iterations } = survey;
        let eigenvalues = eigenvalues
            .map(|values| values.iter().map(|&value| length_scale.back_squared(value)).collect());
        let embedding = Array2::zeros((0, 0));
        let mut model = FittedLandmarkMds {
            embedding,
            eigenvalues,
            iterations,
            landmarks,
            located,
            formula,
            input_scale,
            length_scale,
        };
        model.embedding = model.place(data, ctx)?;
        Ok(model)
    }

    fn components(&self) -> usize {
        match &self.formula {
            Formula::Eigen(formula) => formula.components(),
            Formula::FastMap(formula) => formula.components(),
        }
    }

    /// Coordinates from distances to the landmarks, at working scale.
    fn by_distances(&self, distances: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        match &self.formula {
            Formula::Eigen(formula) => formula.project_rows(distances, |d| -0.5 * (d * d), ctx),
            Formula::FastMap(formula) => formula.place(distances, ctx),
        }
    }

    /// Distances of rows `first..last` of the data to the landmarks.
    fn distances(&self, data: Data<'_>, first: usize, last: usize, ctx: &Ctx) -> Result<Array2<f64>> {
        match (&self.located, data) {
            (Located::Points(index), Data::Points(points)) => {
                let rows: Vec<usize> = (first..last).collect();
                let some = points.select(&rows);
                index.matrix(Some(self.input_scale.points(some.view()).view()), ctx)
            }
            (Located::Given(training), Data::Distances(matrix)) => {
                let some = matrix.slice(s![first..last, ..]);
                let checked = check::new_distances(some, *training)?;
                let few = checked.view().select(Axis(1), &as_indices(&self.landmarks));
                Ok(self.input_scale.matrix(few.view()).view().to_owned())
            }
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        }
    }
}

impl Model for FittedLandmarkMds {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        let landmarks: Vec<usize> = self.landmarks.iter().map(|&row| row as usize).collect();
        let mut named = vec![
            ("landmarks", Attribute::indices(&landmarks)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
        ];
        named.extend(self.eigenvalues.as_ref().map(|values| ("eigenvalues", Attribute::vector(values))));
        named
    }

    fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let rows = data.rows();
        let mut placed = Array2::zeros((rows, self.components()));
        for first in (0..rows).step_by(BLOCK) {
            let last = (first + BLOCK).min(rows);
            let distances = self.distances(data, first, last, ctx)?;
            placed.slice_mut(s![first..last, ..]).assign(&self.by_distances(distances.view(), ctx)?);
        }
        scale_back(placed.view_mut(), self.length_scale);
        Ok(placed)
    }
}
