//! Principal axes: mean, axes, variances.
//!
//! Place: a method of its own (PCA), and the first step of many others. Routes,
//! all with the same result: the D × D covariance when features are few
//! (O(n·D²), one pass), the n × n Gram matrix when points are few (O(n²·D)),
//! block Krylov when both are many (O(n·D·b) per step, points never centred in
//! memory), and a full SVD of the centred points when asked (most accurate for
//! variances far below the largest; the others square the condition number).
//! Paper: Pearson 1901; Hotelling 1933.

use ndarray::{Array2, s};

use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::PointsRef;
use crate::kernel::gram::{CenteredPoints, Side, centred_rows, mean, ordered_fold};
use crate::kernel::scatter::scatter;
use crate::linalg::SymmetricOperator;
use crate::linalg::eigen::{Singular, singular};
use crate::linalg::matmul_transposed;
use crate::spectrum;
use crate::spectrum::{Options, Solver, Spectrum, fix_signs};

/// A dense D × D (or n × n) decomposition is quick up to here.
const SMALL: usize = 1200;

/// How the axes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PcaRoute {
    /// By the shape of the points.
    #[default]
    Auto,
    /// Eigenvectors of the D × D covariance.
    Covariance,
    /// Eigenvectors of the n × n Gram matrix.
    Gram,
    /// Block Krylov on whichever of the two is smaller.
    Krylov,
    /// Singular vectors of the centred points (made dense).
    Svd,
}

/// Principal axes of a set of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Pca {
    /// Mean of the points.
    pub mean: Vec<f64>,
    /// Orthonormal axes, one per row (k × D); in each the entry of largest
    /// magnitude is positive.
    pub axes: Array2<f64>,
    /// Variance along each axis (denominator n − 1), descending.
    pub variances: Vec<f64>,
    /// Singular values of the centred points, descending.
    pub singular_values: Vec<f64>,
    /// Sum of the variances of all features.
    pub total_variance: f64,
}

impl Pca {
    /// The first `count` eigenvalues of the Gram matrix of `rows` points, zeros after
    /// those that are known; its eigenvectors are not made.
    pub fn eigenvalues(&self, count: usize, rows: usize) -> Spectrum {
        let squares = self.singular_values.iter().map(|value| value * value);
        Spectrum {
            values: squares.chain(std::iter::repeat(0.0)).take(count).collect(),
            vectors: Array2::zeros((rows, 0)),
            residuals: Vec::new(),
            iterations: 0,
            converged: true,
            converged_pairs: count,
            lowest: 0.0,
            next: None,
            spare: None,
            ran: Solver::Dense,
        }
    }
}

/// The first `k` principal axes of `points` about their mean, to full accuracy.
#[cfg(test)]
pub fn pca(points: PointsRef, k: usize, route: PcaRoute, ctx: &Ctx) -> Result<Pca> {
    pca_about(points, None, k, route, 0.0, ctx)
}

/// The first `k` principal axes of `points` about `origin` (their mean when
/// `None`); `tol` is that of the Krylov solver, 0 its tightest.
pub fn pca_about(
    points: PointsRef,
    origin: Option<Vec<f64>>,
    k: usize,
    route: PcaRoute,
    tol: f64,
    ctx: &Ctx,
) -> Result<Pca> {
    let (n, d) = (points.rows(), points.cols());
    if k == 0 || k > n.min(d) {
        let most = n.min(d);
        return Err(Error::param(
            "n_components",
            format!("must be between 1 and {most} for {n} points with {d} features, got {k}"),
        ));
    }
    let route = match route {
        PcaRoute::Auto => choose(points, k),
        chosen => chosen,
    };
    let about = |origin: Option<Vec<f64>>| origin.map_or_else(|| mean(points, ctx), Ok);
    let (mean, found) = match route {
        PcaRoute::Covariance | PcaRoute::Auto => by_covariance(points, origin.as_deref(), k, ctx)?,
        route => {
            let mean = about(origin)?;
            let found = match route {
                PcaRoute::Gram => by_gram(points, &mean, k, ctx)?,
                PcaRoute::Krylov => by_krylov(points, &mean, k, tol, ctx)?,
                _ => by_svd(points, &mean, k, ctx)?,
            };
            (mean, found)
        }
    };
    let total = match found.total {
        Some(total) => total,
        None => total_squares(points, &mean, ctx)?,
    };
    Ok(found.of_rows(n, mean, total))
}

/// All that the principal axes depend on: for rows that are in no one place.
#[cfg(feature = "python")]
pub struct Moments {
    /// How many rows.
    pub rows: usize,
    /// Their mean.
    pub mean: Vec<f64>,
    /// Σ (x − mean)(x − mean)ᵀ, D × D.
    pub scatter: Array2<f64>,
}

#[cfg(feature = "python")]
impl Moments {
    /// The first `k` principal axes.
    pub fn axes(&self, k: usize, ctx: &Ctx) -> Result<Pca> {
        let total = self.scatter.diag().sum();
        let found = ctx.install(|| by_scatter(&self.scatter, k, ctx))?;
        Ok(found.of_rows(self.rows, self.mean.clone(), total))
    }
}

/// Axes as columns with their squared singular values, and the sum of all
/// squared singular values where the route gives it for free.
struct Found {
    axes: Array2<f64>,
    squares: Vec<f64>,
    total: Option<f64>,
}

impl Found {
    /// The axes of `rows` points about `mean`, whose squares sum to `total`.
    fn of_rows(self, rows: usize, mean: Vec<f64>, total: f64) -> Pca {
        let freedom = (rows.max(2) - 1) as f64;
        let mut axes = self.axes;
        fix_signs(&mut axes);
        Pca {
            mean,
            axes: axes.t().as_standard_layout().into_owned(),
            variances: self.squares.iter().map(|square| square / freedom).collect(),
            singular_values: self.squares.iter().map(|square| square.sqrt()).collect(),
            total_variance: total / freedom,
        }
    }
}

fn choose(points: PointsRef, k: usize) -> PcaRoute {
    let (n, d) = (points.rows(), points.cols());
    let small = n.min(d);
    // A sparse covariance is built from dense rows: worth it for few features only.
    let limit = if matches!(points, PointsRef::Sparse(_)) { SMALL / 4 } else { SMALL };
    if small > limit && k * 6 <= small {
        PcaRoute::Krylov
    } else if n < d && n > limit / 4 && k * 6 > n && matches!(points, PointsRef::Dense(_)) {
        // Making that many axes orthonormal again costs more than doing without squares.
        PcaRoute::Svd
    } else if n < d {
        PcaRoute::Gram
    } else {
        PcaRoute::Covariance
    }
}

/// The mean comes along with the covariance.
fn by_covariance(
    points: PointsRef,
    origin: Option<&[f64]>,
    k: usize,
    ctx: &Ctx,
) -> Result<(Vec<f64>, Found)> {
    let d = points.cols();
    ctx.reserve(6 * (d * d * 8) as u64, "the covariance matrix", "use the Krylov route")?;
    let (mean, scatter) = scatter(points, origin, ctx)?;
    Ok((mean, by_scatter(&scatter, k, ctx)?))
}

fn by_scatter(scatter: &Array2<f64>, k: usize, ctx: &Ctx) -> Result<Found> {
    let total = scatter.diag().sum();
    let found = spectrum::top(scatter, k, &Options::default(), ctx)?;
    warn_unconverged(&found, ctx);
    let squares = found.values.iter().map(|value| value.max(0.0)).collect();
    Ok(Found { axes: found.vectors, squares, total: Some(total) })
}

fn by_gram(points: PointsRef, mean: &[f64], k: usize, ctx: &Ctx) -> Result<Found> {
    let n = points.rows();
    let operator = CenteredPoints::about(points, mean.to_vec(), Side::Samples);
    let gram = match points {
        PointsRef::Dense(_) => {
            let need = (n * (n + points.cols()) * 8) as u64;
            ctx.reserve(need, "the Gram matrix of the points", "use the Krylov route")?;
            let centred = centred_rows(points, mean, 0..n);
            matmul_transposed(centred.view(), centred.view(), ctx)?
        }
        // Sparse points are never made dense.
        PointsRef::Sparse(_) => operator.to_dense(ctx)?,
    };
    let total = gram.diag().sum();
    let found = spectrum::top(&gram, k, &Options::default(), ctx)?;
    warn_unconverged(&found, ctx);
    axes_from_samples(&operator, &found, Some(total), ctx)
}

fn by_krylov(points: PointsRef, mean: &[f64], k: usize, tol: f64, ctx: &Ctx) -> Result<Found> {
    let side = if points.cols() <= points.rows() { Side::Features } else { Side::Samples };
    let operator = CenteredPoints::about(points, mean.to_vec(), side);
    let found =
        spectrum::top(&operator, k, &Options { solver: Solver::Krylov, tol, ..Options::default() }, ctx)?;
    warn_unconverged(&found, ctx);
    if side == Side::Samples {
        return axes_from_samples(&operator, &found, None, ctx);
    }
    let squares = found.values.iter().map(|value| value.max(0.0)).collect();
    Ok(Found { axes: found.vectors, squares, total: None })
}

fn warn_unconverged(found: &spectrum::Spectrum, ctx: &Ctx) {
    if !found.converged {
        ctx.warn(
            WarningKind::Convergence,
            "the principal axes did not reach their tolerance; the best found are returned \
             (svd_solver='full' has no tolerance)",
        );
    }
}

/// Axes Xcᵀu/σ from left singular vectors u, made orthonormal again: rounding
/// leaves axes of very small variance slightly askew, and axes without any
/// variance undetermined. The latter are completed by some orthonormal vectors.
fn axes_from_samples(
    operator: &CenteredPoints,
    found: &spectrum::Spectrum,
    total: Option<f64>,
    ctx: &Ctx,
) -> Result<Found> {
    let raw = operator.transpose_times(found.vectors.view(), ctx)?;
    let squares: Vec<f64> = found.values.iter().map(|value| value.max(0.0)).collect();
    let floor = 1e-14 * squares[0];
    let known = squares.iter().filter(|&&square| square > floor).count();
    let axes = complete(&raw, known, ctx)?;
    Ok(Found { axes, squares, total })
}

/// Gram–Schmidt, twice, on the first `known` columns; the others are replaced
/// by unit vectors made orthogonal to all before them.
fn complete(raw: &Array2<f64>, known: usize, ctx: &Ctx) -> Result<Array2<f64>> {
    let (d, k) = raw.dim();
    let mut axes = Array2::<f64>::zeros((d, k));
    let mut unit = 0;
    for j in 0..k {
        ctx.check()?;
        let mut source = (j < known).then(|| raw.column(j).to_owned());
        loop {
            let mut axis = source.take().unwrap_or_else(|| {
                let mut axis = ndarray::Array1::zeros(d);
                axis[unit % d] = 1.0;
                unit += 1;
                axis
            });
            let before = axis.dot(&axis).sqrt();
            for _ in 0..2 {
                let done = axes.slice(s![.., ..j]);
                let overlap = done.t().dot(&axis);
                axis -= &done.dot(&overlap);
            }
            let size = axis.dot(&axis).sqrt();
            if size > 1e-3 * before && size > 0.0 {
                axes.column_mut(j).assign(&(axis / size));
                break;
            }
            if unit > 2 * d {
                return Err(Error::NotConverged("no further orthogonal axis found".into()));
            }
        }
    }
    Ok(axes)
}

fn by_svd(points: PointsRef, mean: &[f64], k: usize, ctx: &Ctx) -> Result<Found> {
    let (n, d) = (points.rows(), points.cols());
    ctx.reserve(4 * (n * d * 8) as u64, "a full singular value decomposition", "use another solver")?;
    let centred = centred_rows(points, mean, 0..n);
    ctx.check()?;
    ctx.stage("all singular vectors", 2 * n.min(d));
    let Singular { values, vectors } = singular(centred.view(), k, ctx)?;
    let total = values.iter().map(|value| value * value).sum();
    let squares = values[..k].iter().map(|value| value * value).collect();
    Ok(Found { axes: vectors.t().as_standard_layout().into_owned(), squares, total: Some(total) })
}

/// Σ ‖x − mean‖², in chunk order.
fn total_squares(points: PointsRef, mean: &[f64], ctx: &Ctx) -> Result<f64> {
    let own: f64 = mean.iter().map(|value| value * value).sum();
    let sum = ordered_fold(points.rows(), 256, (1, 1), ctx, |rows, sum| {
        for i in rows {
            sum[[0, 0]] += match points {
                PointsRef::Dense(matrix) => {
                    matrix.row(i).iter().zip(mean).map(|(x, m)| (x - m) * (x - m)).sum::<f64>()
                }
                PointsRef::Sparse(matrix) => {
                    let (columns, values) = matrix.row(i);
                    let stored = columns.iter().zip(values).map(|(&column, value)| {
                        let m = mean[column as usize];
                        (value - m) * (value - m) - m * m
                    });
                    own + stored.sum::<f64>()
                }
            };
        }
    })?;
    Ok(sum[[0, 0]])
}
