//! The Nyström formula: an eigenvector of a random walk or of a Laplacian, evaluated
//! at a new row (Bengio et al. 2003).
//!
//! ```text
//! y_c(x) = f_c Σ_j w(x, x_j) y_jc / Σ_j w(x, x_j)        of the walk D^-1 W, f = 1/μ
//! y_c(x) = Σ_j w(x, x_j) y_jc / (Σ_j w(x, x_j) − λ_c)    of the Laplacian D − W
//! ```
//!
//! w are the new row's affinities to the training rows, μ and λ eigenvalues. At a
//! training row with its own affinities both are the eigenvalue equation and give
//! back its coordinates. Where μ is nearly zero the first divides rounding by it:
//! there new rows get the weighted mean of their neighbours, with a warning.
//! The second has its pole at a degree of the row, on the far side of which nearer
//! neighbours push the row away: such a row is refused.
//!
//! Cost: p per affinity.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, WarningKind};

/// Noise may be divided by this at least.
const TINY: f64 = 1e-3;

/// What the formula needs of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nystrom {
    /// y, a row per row of the graph.
    functions: Array2<f64>,
    of: Operator,
}

/// Whose eigenvectors the functions are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Operator {
    Walk {
        /// f of each component.
        factors: Vec<f64>,
        /// Components without an eigenvalue to divide by.
        undecided: Vec<usize>,
    },
    Laplacian {
        /// λ, ascending.
        values: Vec<f64>,
    },
}

/// Why a row cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoPlace {
    /// All its affinities are zero.
    NoAffinity,
    /// They add up to this many times the eigenvalue of a component, too few.
    Pole {
        /// The first such component.
        component: usize,
        /// Degree of the row over the eigenvalue.
        share: f64,
    },
}

impl NoPlace {
    /// The refusal of a row; `affinity` is what the training rows have for it.
    pub fn refuse(self, row: usize, affinity: &str) -> Error {
        Error::input(match self {
            NoPlace::NoAffinity => format!(
                "row {row} cannot be placed: it is too far from the training data, its {affinity} every training \
                 row is 0"
            ),
            NoPlace::Pole { component, share } => {
                let fewer =
                    if component > 0 { format!("n_components <= {component}, ") } else { String::new() };
                format!(
                    "row {row} cannot be placed: its affinities add up to {share:.3} times eigenvalue {} of the \
                     Laplacian, and the formula for new rows divides by the difference, which must be above 0; \
                     use {fewer}norm_laplacian=True, or leave the row out",
                    component + 1
                )
            }
        })
    }
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
        Nystrom { functions, of: Operator::Walk { factors, undecided } }
    }

    /// From eigenvectors of D − W, which are the coordinates, and its eigenvalues.
    pub fn of_laplacian(functions: Array2<f64>, values: &[f64]) -> Self {
        Nystrom { functions, of: Operator::Laplacian { values: values.to_vec() } }
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.functions.ncols()
    }

    /// Coordinates of a row with these affinities (row of the graph, weight).
    pub fn place(
        &self,
        affinities: impl Iterator<Item = (usize, f64)>,
        placed: &mut [f64],
    ) -> std::result::Result<(), NoPlace> {
        let mut total = 0.0;
        placed.fill(0.0);
        for (row, weight) in affinities {
            total += weight;
            for (sum, value) in placed.iter_mut().zip(self.functions.row(row)) {
                *sum += weight * value;
            }
        }
        if total.is_nan() || total <= 0.0 {
            return Err(NoPlace::NoAffinity);
        }
        match &self.of {
            Operator::Walk { factors, .. } => {
                placed.iter_mut().zip(factors).for_each(|(sum, factor)| *sum = *sum / total * factor);
            }
            Operator::Laplacian { values } => {
                for (component, (sum, value)) in placed.iter_mut().zip(values).enumerate() {
                    let share = 1.0 - value / total;
                    if share < TINY {
                        return Err(NoPlace::Pole { component, share: total / value });
                    }
                    *sum = *sum / total / share;
                }
            }
        }
        Ok(())
    }

    /// Warn of components whose new rows are weighted means.
    pub fn warn(&self, ctx: &Ctx) {
        let Operator::Walk { undecided, .. } = &self.of else { return };
        if undecided.is_empty() {
            return;
        }
        let named: Vec<String> = undecided.iter().map(usize::to_string).collect();
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
