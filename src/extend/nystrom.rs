//! The Nyström formula: an eigenvector of a random walk, evaluated at a new row
//! (Bengio et al. 2003).
//!
//! ```text
//! y_c(x) = f_c Σ_j w(x, x_j) y_jc / Σ_j w(x, x_j)        f = 1/μ
//! ```
//!
//! w are the new row's affinities to the training rows and μ the eigenvalue of the
//! walk D^-1 W. At a training row with its own affinities this is the eigenvalue
//! equation and gives back its coordinates. Where μ is next to zero the formula
//! divides noise by nothing: there new rows get the weighted mean of their
//! neighbours, and the user is told.
//!
//! Cost: p per affinity.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::WarningKind;

/// Noise may be divided by this at least.
const TINY: f64 = 1e-3;

/// What the formula needs of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nystrom {
    /// y, a row per row of the graph.
    functions: Array2<f64>,
    /// f of each component.
    factors: Vec<f64>,
    /// Components without an eigenvalue to divide by.
    undecided: Vec<usize>,
}

impl Nystrom {
    /// From functions y on the graph and the eigenvalues μ of the walk. Coordinates
    /// are `scale(μ)` times the functions; `ratio(μ)` is scale(μ)/μ, `None` where it
    /// says nothing.
    pub fn new(
        functions: Array2<f64>,
        walk: &[f64],
        scale: impl Fn(f64) -> f64,
        ratio: impl Fn(f64) -> Option<f64>,
    ) -> Self {
        let ratios: Vec<Option<f64>> =
            walk.iter().map(|&value| ratio(value).filter(|ratio| ratio.abs() * TINY <= 1.0)).collect();
        let undecided = (0..walk.len()).filter(|&component| ratios[component].is_none()).collect();
        let factors =
            walk.iter().zip(ratios).map(|(&value, ratio)| ratio.unwrap_or_else(|| scale(value))).collect();
        Nystrom { functions, factors, undecided }
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.factors.len()
    }

    /// Coordinates of a row with these affinities (row of the graph, weight);
    /// `false` when all of them are zero.
    pub fn place(&self, affinities: impl Iterator<Item = (usize, f64)>, placed: &mut [f64]) -> bool {
        let mut total = 0.0;
        placed.fill(0.0);
        for (row, weight) in affinities {
            total += weight;
            for (sum, value) in placed.iter_mut().zip(self.functions.row(row)) {
                *sum += weight * value;
            }
        }
        if total.is_nan() || total <= 0.0 {
            return false;
        }
        placed.iter_mut().zip(&self.factors).for_each(|(sum, factor)| *sum = *sum / total * factor);
        true
    }

    /// Tell of components whose new rows are weighted means.
    pub fn tell(&self, ctx: &Ctx) {
        if self.undecided.is_empty() {
            return;
        }
        let named: Vec<String> = self.undecided.iter().map(usize::to_string).collect();
        ctx.warn(
            WarningKind::RankDeficient,
            format!(
                "the random walk has eigenvalue 0 at component(s) {}, which the formula for new rows divides by; \
                 new rows get the weighted mean of their neighbours there; use fewer components",
                named.join(", ")
            ),
        );
    }
}
