//! Principal component analysis: the directions of largest variance.
//!
//! Pearson 1901; Minka 2000 for the automatic number of components. Equal to
//! classical MDS on Euclidean distances (the survey's Prop. 1).
//! Symbols: n rows, D features, p components.
//!
//! Cost: see [`crate::spectrum::principal_axes`]; p·D per row to place it.

use ndarray::{Array1, Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::extend::LinearMap;
use crate::input::{Data, PointsRef, check_finite};
use crate::method::{Attribute, Method, Model, Scaling, Units};
use crate::params::{IntoParam, Parameter, Value, choices, params};
use crate::spectrum::minka::most_likely_rank;
#[cfg(feature = "python")]
use crate::spectrum::principal_axes::Moments;
use crate::spectrum::principal_axes::{Pca as PrincipalAxes, PcaRoute, pca_about};

/// How many components to keep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Components {
    /// As many as there are.
    #[default]
    All,
    /// This many.
    Count(usize),
    /// Enough to explain more than this part of the variance.
    Fraction(f64),
    /// As many as Minka's estimate says.
    Mle,
    /// As many as the data has dimensions ([`crate::dimension`]): of a curved manifold fewer
    /// than its variance needs.
    Auto,
}

impl IntoParam<Components> for usize {
    fn into_param(self) -> Components {
        Components::Count(self)
    }
}

impl Parameter for Components {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::None => Some(Components::All),
            Value::Int(count) => usize::try_from(*count).ok().map(Components::Count),
            Value::Float(part) => Some(Components::Fraction(*part)),
            Value::Str(name) if name == "mle" => Some(Components::Mle),
            Value::Str(name) if name == "auto" => Some(Components::Auto),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        match self {
            Components::All => Value::None,
            Components::Count(count) => count.to_value(),
            Components::Fraction(part) => part.to_value(),
            Components::Mle => Value::Str("mle".into()),
            Components::Auto => Value::Str("auto".into()),
        }
    }
    fn expected() -> String {
        "None, a whole number, a fraction between 0 and 1, 'mle' or 'auto'".into()
    }
}

choices! {
    /// How the axes are found, by scikit-learn's names.
    SvdSolver {
        /// By the shape of the data.
        Auto = "auto",
        /// All singular vectors of the centred rows.
        Full = "full",
        /// Eigenvectors of the D × D covariance.
        Covariance = "covariance_eigh",
        /// The wanted axes by block Krylov iteration, to full accuracy.
        Arpack = "arpack",
        /// The same: there is no need to be approximate.
        Randomized = "randomized",
    }
}

params! {
    /// Principal component analysis.
    Pca as "PCA" {
        /// How many components to keep.
        n_components: Components = Components::All,
        /// Scale the coordinates to unit variance.
        whiten: bool = false,
        /// How the axes are found.
        svd_solver: SvdSolver = SvdSolver::Auto,
        /// Tolerance of the iterative solver; 0 is the tightest sensible.
        tol: f64 = 0.0,
    }
}

/// A fitted [`Pca`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedPca {
    map: LinearMap,
    variances: Vec<f64>,
    singular_values: Vec<f64>,
    total_variance: f64,
    noise_variance: f64,
    /// What each coordinate is divided by.
    whitening: Option<Array1<f64>>,
}

impl Pca {
    /// How many axes must be computed before the number to keep is known.
    fn wanted(&self, rows: usize, features: usize) -> Result<usize> {
        let most = rows.min(features);
        let iterative = matches!(self.svd_solver, SvdSolver::Arpack | SvdSolver::Randomized);
        let refuse = |why: String| Err(Error::param("n_components", why));
        match self.n_components {
            Components::All if self.svd_solver == SvdSolver::Arpack => Ok((most - 1).max(1)),
            Components::All => Ok(most),
            Components::Count(count) if count == 0 || count > most => refuse(format!(
                "n_components={count} must be between 1 and min(n_samples, n_features)={most} with \
                 n_samples={rows}, n_features={features}"
            )),
            Components::Count(count) if self.svd_solver == SvdSolver::Arpack && count == most => refuse(format!(
                "n_components={count} must be strictly less than min(n_samples, n_features)={most} with \
                 svd_solver='arpack'"
            )),
            Components::Count(count) => Ok(count),
            Components::Fraction(part) if !(part > 0.0 && part < 1.0) => {
                refuse(format!("as a fraction of the variance must lie between 0 and 1, got {part}"))
            }
            Components::Mle if rows < features => refuse(format!(
                "n_components='mle' is only supported if n_samples >= n_features, got {rows} rows and {features} features"
            )),
            _ if iterative => {
                refuse("a fraction or 'mle' needs all variances: use svd_solver 'auto', 'full' or 'covariance_eigh'".into())
            }
            Components::Fraction(_) | Components::Mle | Components::Auto => Ok(most),
        }
    }

    fn route(&self) -> PcaRoute {
        match self.svd_solver {
            SvdSolver::Auto => PcaRoute::Auto,
            SvdSolver::Full => PcaRoute::Svd,
            SvdSolver::Covariance => PcaRoute::Covariance,
            SvdSolver::Arpack | SvdSolver::Randomized => PcaRoute::Krylov,
        }
    }

    /// The model of the axes found, of which as many are kept as the parameters say.
    fn model(&self, axes: PrincipalAxes, rows: usize, features: usize, ctx: &Ctx) -> FittedPca {
        let kept = self.kept(&axes, rows);
        let variances = axes.variances[..kept].to_vec();
        if matches!(self.n_components, Components::Count(_)) {
            warn_rank(&variances, rows.max(features), self.svd_solver == SvdSolver::Full, ctx);
        }
        let dropped = rows.min(features) - kept;
        let explained: f64 = variances.iter().sum();
        let noise = if dropped > 0 { ((axes.total_variance - explained) / dropped as f64).max(0.0) } else { 0.0 };
        FittedPca {
            whitening: self.whiten.then(|| variances.iter().map(|variance| variance.sqrt()).collect()),
            map: LinearMap::new(Array1::from(axes.mean), axes.axes.slice(s![..kept, ..]).to_owned()),
            variances,
            singular_values: axes.singular_values[..kept].to_vec(),
            total_variance: axes.total_variance,
            noise_variance: noise,
        }
    }

    /// The fit to rows of which only the moments are known.
    #[cfg(feature = "python")]
    pub(crate) fn fit_moments(&self, moments: &Moments, ctx: &Ctx) -> Result<FittedPca> {
        let (rows, features) = (moments.rows, moments.mean.len());
        let axes = moments.axes(self.wanted(rows, features)?, ctx)?;
        Ok(self.model(axes, rows, features, ctx))
    }

    /// How many of the axes found to keep.
    fn kept(&self, found: &PrincipalAxes, rows: usize) -> usize {
        match self.n_components {
            Components::All | Components::Count(_) | Components::Auto => found.variances.len(),
            Components::Fraction(part) => {
                let mut explained = 0.0;
                let enough = found.variances.iter().position(|variance| {
                    explained += variance / found.total_variance;
                    explained > part
                });
                enough.map_or(found.variances.len(), |last| last + 1)
            }
            Components::Mle => most_likely_rank(&found.variances, rows),
        }
    }
}

/// Warn where variances were asked for that the data does not have.
fn warn_rank(variances: &[f64], dimension: usize, full_svd: bool, ctx: &Ctx) {
    let top = variances.first().copied().unwrap_or(0.0);
    // Rounding: all routes but the full decomposition work on squares.
    let rounding = f64::EPSILON * (dimension as f64).max(10.0);
    let noise = top * if full_svd { rounding * rounding } else { rounding };
    let rank = variances.iter().filter(|&&variance| variance > noise).count();
    if rank < variances.len() {
        ctx.warn(
            WarningKind::RankDeficient,
            format!(
                "the data spans only {rank} dimension(s), fewer than the {} components asked for; the others \
                 have no variance, use n_components <= {}",
                variances.len(),
                rank.max(1)
            ),
        );
    }
}

/// Points, or the refusal of anything else.
fn points_of(data: Data<'_>) -> Result<PointsRef<'_>> {
    match data {
        Data::Points(points) => Ok(points),
        other => Err(Error::input(format!("PCA takes points, got {}", other.kind()))),
    }
}

impl Method for Pca {
    type Model = FittedPca;

    fn fit(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedPca> {
        let points = points_of(data)?;
        if !(self.tol.is_finite() && self.tol >= 0.0) {
            return Err(Error::param("tol", format!("must be a number >= 0, got {}", self.tol)));
        }
        let (rows, features) = (points.rows(), points.cols());
        let wanted = self.wanted(rows, features)?;
        let hint = "ask for fewer components or use svd_solver='arpack'";
        ctx.reserve(self.memory(rows, features), "PCA", hint)?;

        let axes = pca_about(points, None, wanted, self.route(), self.tol, ctx)?;
        Ok(self.model(axes, rows, features, ctx))
    }

    fn scaling(&self) -> Scaling {
        Scaling::Distances
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d) = (rows as f64, features as f64);
        let least = n.min(d);
        let numbers = match self.svd_solver {
            SvdSolver::Full => 3.0 * n * d + 3.0 * least * least,
            SvdSolver::Arpack | SvdSolver::Randomized => (n + d) * 64.0,
            SvdSolver::Covariance => 6.0 * d * d + n,
            // One of the routes of `kernel::covariance`; none holds anything else that grows with n.
            SvdSolver::Auto => 6.0 * least * least.min(512.0) + 64.0 * d + n,
        };
        (8.0 * numbers) as u64
    }
}

impl Model for FittedPca {
    /// Rows are placed by projection, training rows as well as new ones.
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        None
    }

    fn attributes(&self) -> Result<Vec<(&'static str, Attribute)>> {
        let total = if self.total_variance > 0.0 { self.total_variance } else { 1.0 };
        let ratios: Vec<f64> = self.variances.iter().map(|variance| variance / total).collect();
        let squares: Vec<f64> = self.singular_values.iter().map(|value| value * value).collect();
        Ok(vec![
            ("components", Attribute::Matrix(self.map.axes().clone())),
            ("explained_variance", Attribute::vector(&self.variances)),
            ("explained_variance_ratio", Attribute::vector(&ratios)),
            ("singular_values", Attribute::vector(&self.singular_values)),
            ("eigenvalues", Attribute::vector(&squares)),
            ("mean", Attribute::Vector(self.map.center().clone())),
            ("noise_variance", Attribute::Float(self.noise_variance)),
            ("n_components", Attribute::Int(self.variances.len() as i64)),
        ])
    }

    fn units(&self) -> Units {
        Units {
            // A whitened coordinate is a pure number.
            coordinates: i32::from(self.whitening.is_none()),
            attributes: &[
                ("explained_variance", 2),
                ("singular_values", 1),
                ("eigenvalues", 2),
                ("mean", 1),
                ("noise_variance", 2),
            ],
        }
    }

    fn transform(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut placed = self.map.apply(points_of(data)?, ctx)?;
        if let Some(deviations) = &self.whitening {
            for mut row in placed.rows_mut() {
                for (value, &deviation) in row.iter_mut().zip(deviations) {
                    *value = if deviation > 0.0 { *value / deviation } else { 0.0 };
                }
            }
        }
        Ok(placed)
    }

    fn inverse_transform(&self, coordinates: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        check_finite(coordinates, "X")?;
        match &self.whitening {
            Some(deviations) if coordinates.ncols() == deviations.len() => {
                self.map.lift((&coordinates * deviations).view(), ctx)
            }
            _ => self.map.lift(coordinates, ctx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a plane in five dimensions.
    fn plane(scale: f64) -> Array2<f64> {
        Array2::from_shape_fn((40, 5), |(i, j)| {
            let (u, v) = ((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos());
            scale * (u * (1 + j) as f64 + v * (j * j) as f64)
        })
    }

    #[test]
    fn components_beyond_the_rank_are_reported() {
        let ctx = Ctx::new(1, 0);
        for solver in [SvdSolver::Auto, SvdSolver::Full, SvdSolver::Covariance, SvdSolver::Randomized] {
            for scale in [1.0, 1e-150] {
                let pca = Pca::default().svd_solver(solver);
                let enough = pca.clone().n_components(2).fit(&plane(scale), &ctx).unwrap();
                assert_eq!(enough.warnings(), &[], "{solver:?}");
                let more = pca.n_components(4).fit(&plane(scale), &ctx).unwrap();
                let [warning] = more.warnings() else { panic!("{:?}", more.warnings()) };
                assert_eq!(warning.kind, WarningKind::RankDeficient);
                assert!(warning.message.contains("only 2 dimension(s)"), "{}", warning.message);
            }
        }
        assert_eq!(Pca::default().fit(&plane(1.0), &ctx).unwrap().warnings(), &[]);
    }

    #[test]
    fn results_are_in_the_units_of_the_data() {
        let ctx = Ctx::new(1, 0);
        let factor = 2.0_f64.powi(500);
        let (near, far) = (plane(1.0), plane(factor));
        for whiten in [false, true] {
            let pca = Pca::default().n_components(2).whiten(whiten);
            let (one, two) = (pca.fit(&near, &ctx).unwrap(), pca.fit(&far, &ctx).unwrap());
            for (name, power) in [("singular_values", 1), ("mean", 1), ("explained_variance", 2)] {
                let of = |model: &crate::Fitted<FittedPca>| model.attribute(name).unwrap().unwrap().as_vector();
                let (a, b) = (of(&one).unwrap(), of(&two).unwrap());
                let unit = factor.powi(power);
                assert!(a.iter().zip(&b).all(|(a, b)| (a * unit - b).abs() <= 1e-9 * b.abs()), "{name}");
            }
            let unit = if whiten { 1.0 } else { factor };
            let (a, b) = (one.transform(&near, &ctx).unwrap(), two.transform(&far, &ctx).unwrap());
            assert!(a.iter().zip(&b).all(|(a, b)| (a * unit - b).abs() <= 1e-9 * unit));
            let back = two.inverse_transform(b.view(), &ctx).unwrap();
            assert!(back.iter().zip(&far).all(|(a, b)| (a - b).abs() <= 1e-9 * factor));
        }
    }
}
