//! The Nyström formula: an eigenvector of a random walk, evaluated at a new row
//! (Bengio et al. 2003).
//!
//! ```text
//! y_c(x) = f_c Σ_j w(x, x_j) y_jc / Σ_j w(x, x_j)        f_c = 1 / μ_c
//! ```
//!
//! w are the new row's affinities to the training rows and μ the eigenvalue of the
//! walk D^-1 W. At a training row with its own affinities this is the eigenvalue
//! equation and gives back its coordinates. Where μ is next to zero the formula
//! divides noise by nothing: there f is 1, the weighted mean of the neighbours,
//! and the user is told.
//!
//! Cost: p per affinity.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::WarningKind;

/// Eigenvalues of the walk below this say nothing about new rows.
const TINY: f64 = 1e-3;

/// What the formula needs of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nystrom {
    /// y, a row per row of the graph.
    coordinates: Array2<f64>,
    /// f of each component.
    factors: Vec<f64>,
    /// Components without an eigenvalue to divide by.
    undecided: Vec<usize>,
}

impl Nystrom {
    /// From coordinates and the eigenvalues μ of the walk: f is `factor(μ)`, which
    /// `divides` when it grows without bound as μ falls.
    pub fn new(coordinates: Array2<f64>, walk: &[f64], factor: impl Fn(f64) -> f64, divides: bool) -> Self {
        let undecided: Vec<usize> =
            (0..walk.len()).filter(|&component| divides && walk[component].abs() < TINY).collect();
        let factors = walk.iter().map(|&value| factor(value)).collect();
        let mut formula = Nystrom { coordinates, factors, undecided };
        for &component in &formula.undecided {
            formula.factors[component] = 1.0;
        }
        formula
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
            for (sum, coordinate) in placed.iter_mut().zip(self.coordinates.row(row)) {
                *sum += weight * coordinate;
            }
        }
        if !(total > 0.0) {
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
