//! Kernel mapping: any embedding, however it was found, extended to new points.
//!
//! Place in the dataflow: after everything, beside the methods: training points
//! and their coordinates in, a model that places new points out. Gisbrecht,
//! Lueks, Mokbel and Hammer 2012, 2015; the survey's (42)–(51):
//!
//! ```text
//! y(x) = Σ_j α_j k(x, x_j) / Σ_l k(x, x_l)           (42)
//! k(x, x_j) = exp(-‖x − x_j‖² / (2 σ_j²))            (43)
//! σ_j = γ · min_i ‖x_j − x_i‖                        (44)
//! A = K''⁺ Y, the least-squares solution of K''A = Y (46)–(48)
//! ```
//!
//! The paper leaves three things open:
//! * duplicate rows have σ = 0. They count as one distinct row, whose σ comes from
//!   the nearest *other* distinct row and whose coordinates are the mean of theirs,
//!   which is where (45) is smallest;
//! * far from all points every k underflows. Exponents are taken relative to
//!   the largest (`local_kernel`), so the quotient in (42) stays what it is;
//!   in the limit a row gets the α of the point nearest in units of its σ;
//! * a row equal to a training row gets that row's coordinates as they are, not
//!   to the rounding of the solver.
//!
//! Cost: fit, K'' by neighbour search or n²·D, then GMRES on it, some dozens of
//! products; transform, the weights of each row.

pub mod local_kernel;
mod stored_kernel;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, Axis, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::{Data, Input};
use crate::input::{PointsRef, check_finite, check_points};
use crate::linalg::gmres::{Limits, gmres};
use crate::linalg::{power_of_two_scale, pseudo_inverse_times};
use crate::method;
use crate::method::{Attribute, Fitted, Model, Scaling, Units};
use crate::neighbors::duplicates::DistinctRows;
use crate::params::{Params, params};
use local_kernel::{LocalKernel, Weights};
use stored_kernel::StoredKernel;

params! {
    /// The kernel mapping of an embedding.
    ///
    /// ```
    /// use planish::{Ctx, KernelMap, ndarray};
    ///
    /// let curve = ndarray::Array2::from_shape_fn((50, 2), |(i, axis)| {
    ///     let t = i as f64 / 10.0;
    ///     if axis == 0 { t.cos() } else { t.sin() }
    /// });
    /// let along = ndarray::Array2::from_shape_fn((50, 1), |(i, _)| i as f64);
    /// let ctx = Ctx::default();
    /// let map = KernelMap::default().fit(&curve, along.view(), &ctx)?;
    /// assert_eq!(map.transform(&curve, &ctx)?, along);
    /// # planish::Result::Ok(())
    /// ```
    KernelMap as "KernelMap" {
        /// Width of each kernel in units of the distance to the nearest other
        /// training point, γ. By experiment: below 0.5 the map is hardly more
        /// than the nearest point's coordinates, above 1.5 K'' is so badly
        /// conditioned that the coefficients run wild.
        gamma: f64 = 0.8,
    }
}

/// Steps of the iterative solver between restarts, and in all.
const LIMITS: Limits = Limits { tol: 1e-12, restart: 150, most: 600 };

/// Training residual from which the direct solver is asked, if n allows.
const WORTH_ANOTHER: f64 = 1e-10;

/// Most points for which the direct solver is asked: 1.5 k takes some seconds.
const MOST_DIRECT: usize = 1500;

/// Training residual, relative to the coordinates' spread, above which there is a warning.
const MOST_RESIDUAL: f64 = 1e-8;

const HINT: &str = "fit on fewer rows, or lower `gamma` so that fewer of them matter to each other";

/// A fitted [`KernelMap`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedKernelMap {
    /// Coordinates of the training rows; duplicates have their mean.
    embedding: Array2<f64>,
    kernel: LocalKernel,
    /// α, one row per distinct row.
    coefficients: Array2<f64>,
    /// First training row of each distinct row.
    firsts: Vec<usize>,
    /// σ of each training row.
    sigma: Vec<f64>,
    features: usize,
    iterations: usize,
    residual: f64,
}

impl KernelMap {
    /// Fit the map that takes each row of `points` to its row of `coordinates`.
    ///
    /// # Errors
    /// `gamma` that is not a positive number or that makes a σ overflow or
    /// vanish; data that are not points; rows that are not numbers or that do
    /// not match; memory; cancellation.
    pub fn fit<'a>(
        &self,
        points: impl Into<Input<'a>>,
        coordinates: ArrayView2<'_, f64>,
        ctx: &Ctx,
    ) -> Result<Fitted<FittedKernelMap>> {
        let points = points.into();
        let data = points.view();
        if !matches!(data, Data::Points(_)) {
            let kind = data.kind();
            return Err(Error::input(format!("the kernel map is made of points, it cannot use {kind}")));
        }
        let fitted = method::drive(Self::NAME, data, Scaling::Distances, ctx, |data, _, ctx| match data {
            Data::Points(points) => {
                self.check(points, coordinates)?;
                self.fit_checked(points, coordinates, ctx)
            }
            other => Err(Error::input(format!("expected points, got {}", other.kind()))),
        })?;
        Ok(fitted.with_parameters(self.values()))
    }

    fn check(&self, points: PointsRef<'_>, coordinates: ArrayView2<'_, f64>) -> Result<()> {
        if !(self.gamma.is_finite() && self.gamma > 0.0) {
            return Err(Error::param("gamma", format!("must be a number > 0, got {}", self.gamma)));
        }
        check_points(points)?;
        check_finite(coordinates, "embedding")?;
        if coordinates.ncols() == 0 {
            return Err(Error::input("the embedding has no columns: there is nothing to map to"));
        }
        let (rows, placed) = (points.rows(), coordinates.nrows());
        if rows != placed {
            return Err(Error::input(format!(
                "X has {rows} rows, but the embedding has {placed}: each training row needs its coordinates"
            )));
        }
        Ok(())
    }

    fn fit_checked(
        &self,
        points: PointsRef<'_>,
        coordinates: ArrayView2<'_, f64>,
        ctx: &Ctx,
    ) -> Result<FittedKernelMap> {
        let DistinctRows { firsts, distinct_of, index, gaps } = DistinctRows::of(points, ctx)?;
        let widths: Vec<f64> = gaps.iter().map(|gap| self.gamma * gap).collect();
        if widths.iter().any(|width| !width.is_normal()) {
            let why =
                format!("{} times the distance of nearest rows leaves the range of numbers", self.gamma);
            return Err(Error::param("gamma", why));
        }
        let places = mean_coordinates(coordinates, &distinct_of, firsts.len());
        let sigma = distinct_of.iter().map(|&place| widths[place as usize]).collect();
        let kernel = LocalKernel::new(index, widths, ctx)?;
        let Solution { coefficients, iterations, residual } =
            self.solve(&kernel, points.select(&firsts).view(), &places, ctx)?;
        if residual > MOST_RESIDUAL {
            ctx.warn(
                WarningKind::Convergence,
                format!(
                    "the kernel map meets the training coordinates only to {residual:.1e} of their spread: \
                     its matrix is nearly singular; lower `gamma` (now {})",
                    self.gamma
                ),
            );
        }
        let by_row: Vec<usize> = distinct_of.iter().map(|&place| place as usize).collect();
        let embedding = places.select(Axis(0), &by_row);
        let features = points.cols();
        Ok(FittedKernelMap { embedding, kernel, coefficients, firsts, sigma, features, iterations, residual })
    }

    /// A with K''A = Y: by iteration and, where that is not enough and n allows,
    /// by the pseudo-inverse.
    fn solve(
        &self,
        kernel: &LocalKernel,
        points: PointsRef<'_>,
        places: &Array2<f64>,
        ctx: &Ctx,
    ) -> Result<Solution> {
        let (n, columns) = places.dim();
        let basis = 8 * (LIMITS.restart.min(n) as u64 + 8) * (n * columns) as u64;
        ctx.reserve(StoredKernel::memory(kernel) + basis, "the kernel map", HINT)?;
        ctx.stage("kernel", n);
        let stored = StoredKernel::new(kernel, points, ctx)?;
        let target = Target::new(places);
        ctx.stage("coefficients", 0);
        let apply = |x: &[f64], out: &mut [f64]| stored.apply(n, x, out, ctx);
        let solved = gmres(n, &target.sides, LIMITS, apply, ctx)?;
        let mut residual = target.residual(&stored, &solved.x, ctx)?;
        let mut x = solved.x;
        if residual > WORTH_ANOTHER && n <= MOST_DIRECT {
            let wanted = Array2::from_shape_fn((n, columns), |(row, column)| target.sides[column * n + row]);
            let direct = pseudo_inverse_times(stored.to_dense(n).view(), wanted.view())?;
            let direct: Vec<f64> = direct.t().iter().copied().collect();
            let other = target.residual(&stored, &direct, ctx)?;
            if other < residual {
                (x, residual) = (direct, other);
            }
        }
        let coefficients = Array2::from_shape_fn((n, columns), |(place, column)| {
            (x[column * n + place] + target.centers[column]) / target.units[column]
        });
        Ok(Solution { coefficients, iterations: solved.iterations, residual })
    }
}

struct Solution {
    coefficients: Array2<f64>,
    iterations: usize,
    residual: f64,
}

/// The coordinates as the solver likes them: each column near one, about its
/// mean (K'' keeps constants, so a mean taken out of Y is a mean added to A).
struct Target {
    /// Columns one after the other.
    sides: Vec<f64>,
    /// Largest entry of each column; 1 for a column of zeros.
    spreads: Vec<f64>,
    units: Vec<f64>,
    centers: Vec<f64>,
}

impl Target {
    fn new(places: &Array2<f64>) -> Target {
        let mut target =
            Target { sides: Vec::new(), spreads: Vec::new(), units: Vec::new(), centers: Vec::new() };
        for column in places.columns() {
            // proof: the coordinates were checked to be finite.
            let unit = power_of_two_scale(column.iter().copied()).unwrap_or(1.0);
            let scaled: Array1<f64> = column.mapv(|value| value * unit);
            let constant = scaled.iter().all(|&value| value == scaled[0]);
            let center = if constant { scaled[0] } else { scaled.sum() / scaled.len() as f64 };
            let about = scaled.mapv(|value| value - center);
            let spread = about.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            target.sides.extend(about);
            target.spreads.push(if spread > 0.0 { spread } else { 1.0 });
            target.units.push(unit);
            target.centers.push(center);
        }
        target
    }

    /// The largest |K''x − y|, relative to the largest |y| of its column.
    fn residual(&self, stored: &StoredKernel, x: &[f64], ctx: &Ctx) -> Result<f64> {
        let n = x.len() / self.spreads.len();
        let mut image = vec![0.0; x.len()];
        stored.apply(n, x, &mut image, ctx)?;
        let gaps = image.iter().zip(&self.sides).map(|(got, wanted)| (got - wanted).abs());
        Ok(gaps.enumerate().map(|(at, gap)| gap / self.spreads[at / n]).fold(0.0, f64::max))
    }
}

/// The mean coordinates of the duplicates of each distinct row; to the bit the row's
/// own when there are none or all are equal.
fn mean_coordinates(coordinates: ArrayView2<'_, f64>, distinct_of: &[u32], places: usize) -> Array2<f64> {
    let mut means = Array2::zeros((places, coordinates.ncols()));
    let mut counts = vec![0.0; places];
    for (row, &place) in coordinates.outer_iter().zip(distinct_of) {
        let count = &mut counts[place as usize];
        *count += 1.0;
        for (mean, value) in means.row_mut(place as usize).iter_mut().zip(row) {
            // The running mean moves by nothing when the value is the mean.
            *mean = if *count == 1.0 { *value } else { *mean + (value / *count - *mean / *count) };
        }
    }
    means
}

impl FittedKernelMap {
    /// Formula (42) as it stands, training rows included: what `transform`
    /// gives except that rows equal to a training row are not set to its coordinates.
    ///
    /// # Errors
    /// Rows of another width, cancellation, memory.
    #[cfg(test)]
    pub(crate) fn formula(&self, points: PointsRef<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        ctx.install(|| self.each_row(points, false, ctx))
    }

    fn each_row(&self, points: PointsRef<'_>, copy: bool, ctx: &Ctx) -> Result<Array2<f64>> {
        if points.cols() != self.features {
            return Err(Error::input(format!(
                "X has {} features, but the model was fitted with {}",
                points.cols(),
                self.features
            )));
        }
        let mut placed = Array2::zeros((points.rows(), self.coefficients.ncols()));
        for first in (0..points.rows()).step_by(self.kernel.batch()) {
            ctx.check()?;
            let rows: Vec<usize> = (first..(first + self.kernel.batch()).min(points.rows())).collect();
            let some = points.select(&rows);
            let weights = self.kernel.weights(some.view(), ctx)?;
            let mut block = placed.slice_mut(s![first..first + rows.len(), ..]);
            let out = block.axis_iter_mut(Axis(0)).into_par_iter();
            out.zip(&weights).for_each(|(out, weights)| self.mean(weights, copy, out));
        }
        Ok(placed)
    }

    fn mean(&self, weights: &Weights, copy: bool, mut out: ArrayViewMut1<'_, f64>) {
        if let (Some(place), true) = (weights.same, copy) {
            return out.assign(&self.embedding.row(self.firsts[place as usize]));
        }
        let width = out.len();
        match (out.as_slice_mut(), self.coefficients.as_slice()) {
            // The same sums without the cost of a view for each term.
            (Some(sums), Some(coefficients)) => {
                for &(place, weight) in &weights.entries {
                    let terms = &coefficients[place as usize * width..][..width];
                    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
                }
            }
            _ => {
                for &(place, weight) in &weights.entries {
                    out.scaled_add(weight, &self.coefficients.row(place as usize));
                }
            }
        }
    }
}

impl Model for FittedKernelMap {
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.embedding.view())
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        Ok(vec![
            ("sigma", Attribute::vector(&self.sigma)),
            ("n_iter", Attribute::Int(self.iterations as i64)),
            ("residual", Attribute::Float(self.residual)),
        ])
    }

    fn units(&self) -> Units {
        Units { coordinates: 0, attributes: &[("sigma", 1)] }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        match data {
            Data::Points(points) => self.each_row(points, true, ctx),
            other => Err(Error::input(format!(
                "the model was fitted on points; new rows cannot come as {}",
                other.kind()
            ))),
        }
    }
}
