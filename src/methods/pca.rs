//! Principal component analysis: the directions of largest variance.
//!
//! Pearson 1901; Minka 2000 for the automatic number of components. Equal to
//! classical MDS on Euclidean distances (the survey's Prop. 1).
//! Symbols: n rows, D features, p components.
//!
//! Cost: see [`crate::kernel::covariance`]; p·D per row to place it.

use ndarray::{Array1, Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::embedding::scale_back;
use crate::error::{Error, Result};
use crate::extend::LinearMap;
use crate::input::scale::{Scale, scale_of_points};
use crate::kernel::covariance::{Pca as PrincipalAxes, PcaRoute, pca_about};
use crate::params::{Parameter, Value, choices, params};
use crate::pipeline::{Attribute, Data, Model, Recipe};

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
}

impl From<usize> for Components {
    fn from(count: usize) -> Self {
        Components::Count(count)
    }
}

impl Parameter for Components {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::None => Some(Components::All),
            Value::Int(count) => usize::try_from(*count).ok().map(Components::Count),
            Value::Float(part) => Some(Components::Fraction(*part)),
            Value::Str(name) if name == "mle" => Some(Components::Mle),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        match self {
            Components::All => Value::None,
            Components::Count(count) => count.to_value(),
            Components::Fraction(part) => part.to_value(),
            Components::Mle => Value::Str("mle".into()),
        }
    }
    fn expected() -> String {
        "None, a whole number, a fraction between 0 and 1, or 'mle'".into()
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
#[derive(Debug, Serialize, Deserialize)]
pub struct FittedPca {
    map: LinearMap,
    variances: Vec<f64>,
    singular_values: Vec<f64>,
    total_variance: f64,
    noise_variance: f64,
    whitening: Option<Array1<f64>>,
    scale: Scale,
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
                "n_components='mle' needs n_samples >= n_features, got {rows} rows and {features} features"
            )),
            _ if iterative => {
                refuse("a fraction or 'mle' needs all variances: use svd_solver 'auto', 'full' or 'covariance_eigh'".into())
            }
            Components::Fraction(_) | Components::Mle => Ok(most),
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

    /// How many of the axes found to keep.
    fn kept(&self, found: &PrincipalAxes, rows: usize) -> usize {
        match self.n_components {
            Components::All | Components::Count(_) => found.variances.len(),
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

impl Recipe for Pca {
    type Model = FittedPca;

    fn recipe(&self, data: Data<'_>, ctx: &Ctx) -> Result<FittedPca> {
        let Data::Points(points) = data else {
            return Err(Error::input(format!("PCA takes points, got {}", data.kind())));
        };
        if !(self.tol.is_finite() && self.tol >= 0.0) {
            return Err(Error::param("tol", format!("must be a number >= 0, got {}", self.tol)));
        }
        let (rows, features) = (points.rows(), points.cols());
        let wanted = self.wanted(rows, features)?;
        let way_out = "ask for fewer components or use svd_solver='arpack'";
        ctx.reserve(self.memory(rows, features), "PCA", way_out)?;
        let scale = scale_of_points(points);
        let scaled = scale.points(points);
        let points = scaled.view();
        let found = pca_about(points, None, wanted, self.route(), self.tol, ctx)?;

        let kept = self.kept(&found, rows);
        let left = rows.min(features) - kept;
        let explained: f64 = found.variances[..kept].iter().sum();
        let noise = if left > 0 { ((found.total_variance - explained) / left as f64).max(0.0) } else { 0.0 };
        let deviations = || found.variances[..kept].iter().map(|variance| variance.sqrt()).collect();
        Ok(FittedPca {
            whitening: self.whiten.then(deviations),
            map: LinearMap::new(Array1::from(found.mean), found.axes.slice(s![..kept, ..]).to_owned()),
            variances: found.variances[..kept].to_vec(),
            singular_values: found.singular_values[..kept].to_vec(),
            total_variance: found.total_variance,
            noise_variance: noise,
            scale,
        })
    }

    fn memory(&self, rows: usize, features: usize) -> u64 {
        let (n, d) = (rows as u64, features as u64);
        let least = n.min(d);
        match self.svd_solver {
            SvdSolver::Full => 8 * (3 * n * d + 3 * least * least),
            SvdSolver::Arpack | SvdSolver::Randomized => 8 * (n + d) * 64,
            SvdSolver::Covariance => 8 * (6 * d * d + n),
            // One of the routes of `kernel::covariance`; none holds anything else that grows with n.
            SvdSolver::Auto => 8 * (6 * least * least.min(512) + 64 * d + n),
        }
    }
}

impl Model for FittedPca {
    /// Rows are placed by projection, training rows as well as new ones.
    fn embedding(&self) -> Option<ArrayView2<'_, f64>> {
        None
    }

    fn attributes(&self) -> Vec<(&'static str, Attribute)> {
        let variances: Vec<f64> = self.variances.iter().map(|&value| self.scale.back_squared(value)).collect();
        let total = if self.total_variance > 0.0 { self.total_variance } else { 1.0 };
        let ratios: Vec<f64> = self.variances.iter().map(|variance| variance / total).collect();
        let singular: Vec<f64> = self.singular_values.iter().map(|&value| self.scale.back(value)).collect();
        let squares: Vec<f64> =
            self.singular_values.iter().map(|&value| self.scale.back_squared(value * value)).collect();
        vec![
            ("components", Attribute::Matrix(self.map.axes().clone())),
            ("explained_variance", Attribute::vector(&variances)),
            ("explained_variance_ratio", Attribute::vector(&ratios)),
            ("singular_values", Attribute::vector(&singular)),
            ("eigenvalues", Attribute::vector(&squares)),
            ("mean", Attribute::Vector(self.map.center().mapv(|value| self.scale.back(value)))),
            ("noise_variance", Attribute::Float(self.scale.back_squared(self.noise_variance))),
            ("n_components", Attribute::Int(self.variances.len() as i64)),
        ]
    }

    fn place(&self, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let Data::Points(points) = data else {
            return Err(Error::input(format!("PCA takes points, got {}", data.kind())));
        };
        let scaled = self.scale.points(points);
        let mut placed = self.map.apply(scaled.view(), ctx)?;
        match &self.whitening {
            // A whitened coordinate has no unit to go back to.
            Some(deviations) => {
                for mut row in placed.rows_mut() {
                    for (value, &deviation) in row.iter_mut().zip(deviations) {
                        *value = if deviation > 0.0 { *value / deviation } else { 0.0 };
                    }
                }
            }
            None => scale_back(placed.view_mut(), self.scale),
        }
        Ok(placed)
    }

    fn invert(&self, coordinates: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        crate::input::check_finite(coordinates, "X")?;
        let lengths = match &self.whitening {
            Some(deviations) if coordinates.ncols() == deviations.len() => &coordinates * deviations,
            Some(_) => coordinates.to_owned(),
            None => coordinates.mapv(|value| self.scale.into(value)),
        };
        let mut points = self.map.lift(lengths.view(), ctx)?;
        scale_back(points.view_mut(), self.scale);
        Ok(points)
    }
}

/// Minka's estimate of the rank: the number of components with the largest
/// evidence (Minka 2000, "Automatic choice of dimensionality for PCA", (77)).
fn most_likely_rank(variances: &[f64], rows: usize) -> usize {
    let evidence: Vec<f64> = (1..variances.len()).map(|rank| log_evidence(variances, rank, rows)).collect();
    let mut best = 0;
    for (at, value) in evidence.iter().enumerate() {
        if *value > evidence[best] {
            best = at;
        }
    }
    best + 1
}

fn log_evidence(variances: &[f64], rank: usize, rows: usize) -> f64 {
    let (features, n) = (variances.len(), rows as f64);
    if variances[rank - 1] < 1e-15 {
        return f64::NEG_INFINITY;
    }
    let half_log_gammas: f64 = (1..=rank)
        .map(|i| {
            let half = (features - i + 1) as f64 / 2.0;
            log_gamma(half) - std::f64::consts::PI.ln() * half
        })
        .sum();
    let log_uniform = -(rank as f64) * 2.0_f64.ln() + half_log_gammas;
    let log_large = -variances[..rank].iter().map(|variance| variance.ln()).sum::<f64>() * n / 2.0;
    let noise = (variances[rank..].iter().sum::<f64>() / (features - rank) as f64).max(1e-15);
    let log_noise = -noise.ln() * n * (features - rank) as f64 / 2.0;
    let freedom = (features * rank) as f64 - rank as f64 * (rank + 1) as f64 / 2.0;
    let log_volume = (2.0 * std::f64::consts::PI).ln() * (freedom + rank as f64) / 2.0;
    let level = |i: usize| if i < rank { variances[i] } else { noise };
    let mut log_curvature = 0.0;
    for i in 0..rank {
        for j in i + 1..features {
            let gap = (variances[i] - variances[j]) * (1.0 / level(j) - 1.0 / level(i));
            log_curvature += gap.ln() + n.ln();
        }
    }
    log_uniform + log_large + log_noise + log_volume - log_curvature / 2.0 - rank as f64 * n.ln() / 2.0
}

/// ln Γ(x) for x > 0 (Lanczos' approximation, g = 7).
fn log_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = COEFFICIENTS[1..]
        .iter()
        .enumerate()
        .fold(COEFFICIENTS[0], |sum, (i, coefficient)| sum + coefficient / (x + i as f64 + 1.0));
    let t = x + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::log_gamma;

    #[test]
    fn log_gamma_of_factorials_and_halves() {
        assert!((log_gamma(5.0) - 24.0_f64.ln()).abs() < 1e-12);
        assert!((log_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
        assert!((log_gamma(100.5) - 361.4355404677776).abs() < 1e-10);
    }
}
