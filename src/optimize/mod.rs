//! The room of methods that minimise a cost instead of decomposing a matrix.
//!
//! Place in the dataflow: beside `spectrum`, after the dissimilarities of `neighbors`.
//!
//! ```text
//! dissimilarities ──► pairs (rows of them) ──► an Objective ──► a solver ──► coordinates, Trace
//!                          ▲                                  │
//!                     disparities ◄── isotonic, splines ◄─────┘ (where only their order counts)
//! ```
//!
//! An [`Objective`] gives its value and its gradient in one pass over the pairs: parallel
//! over fixed blocks of rows, partial sums added in the order of the rows, so that the bits
//! do not depend on the number of threads. A solver is a function from an objective and a
//! start to a [`Trace`]. It reports each iteration as a step of progress, and whether to stop
//! is asked of the context in every block of rows.
//!
//! Coordinates are stored column by column here: `x[k * n + i]` is coordinate k of row i.

pub mod descent;
pub mod disparities;
pub mod isotonic;
pub mod lbfgs;
pub mod majorization;
pub mod matchings;
pub mod neighbor_embedding;
pub mod pairs;
pub mod point;
pub mod problem;
pub mod ranking;
pub mod sampled;
pub mod solve;
pub mod spline;
pub mod start;
pub mod stress;
pub mod term;
pub mod transformed;
mod triangle;
pub mod weights;

use ndarray::{Array2, ArrayView2};

use crate::context::Ctx;
use crate::error::{Result, WarningKind};

/// Something to be minimised over coordinates.
pub trait Objective {
    /// The value at `x`; its gradient goes to `gradient`.
    ///
    /// # Errors
    /// Cancellation.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64], ctx: &Ctx) -> Result<f64>;

    /// Divide a gradient by a diagonal of the size of the second derivatives: the first
    /// step of a solver, and the start of its memory of curvature.
    fn precondition(&self, gradient: &[f64], step: &mut [f64]);

    /// What values are compared with: a decrease is small when it is a small part of this.
    fn scale(&self) -> f64;
}

/// When a solver stops.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// Most iterations.
    pub max_iter: usize,
    /// Decrease of an iteration, relative to [`Objective::scale`], below which it is converged.
    pub eps: f64,
}

/// What a solver did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The value after each iteration, relative to [`Objective::scale`].
    pub history: Vec<f64>,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

impl Trace {
    /// Number of iterations.
    pub fn iterations(&self) -> usize {
        self.history.len()
    }

    /// With the value of the start, where that could not be improved.
    pub fn or_start(mut self, value: f64) -> Trace {
        if self.history.is_empty() {
            self.history.push(value);
        }
        self
    }

    /// Append what another solver did afterwards.
    pub fn then(mut self, next: Trace) -> Trace {
        self.history.extend(next.history);
        self.converged = next.converged;
        self
    }

    /// Warn of a solver that did not reach its tolerance.
    pub fn tell(&self, eps: f64, ctx: &Ctx) {
        if !self.converged {
            ctx.warn(
                WarningKind::Convergence,
                format!(
                    "the stress still decreased by more than eps={eps} of its size after {} iterations; raise \
                     max_iter or eps",
                    self.iterations()
                ),
            );
        }
    }
}

/// The columns of a matrix of coordinates, one after the other.
pub fn columns_of(coordinates: ArrayView2<'_, f64>) -> Vec<f64> {
    coordinates.t().iter().copied().collect()
}

/// The matrix of coordinates stored column by column.
pub fn matrix_of(columns: &[f64], rows: usize) -> Array2<f64> {
    let width = columns.len() / rows.max(1);
    Array2::from_shape_fn((rows, width), |(i, k)| columns[k * rows + i])
}

/// Move the mean of each column to zero.
pub fn center(x: &mut [f64], rows: usize) {
    for column in x.chunks_mut(rows.max(1)) {
        let mean = column.iter().sum::<f64>() / rows as f64;
        column.iter_mut().for_each(|value| *value -= mean);
    }
}
