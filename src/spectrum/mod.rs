//! Which end of the spectrum, how many eigenpairs, by which solver, in which
//! order and with which sign: the last stage before coordinates.
//!
//! Methods give a [`SymmetricOperator`] (a matrix they never need to form)
//! and get its algebraically largest eigenpairs from [`top`]. Small matrices go
//! to a dense decomposition, large ones to a block Krylov iteration whose cost
//! is a handful of products with the matrix. The smallest eigenpairs of a sparse
//! matrix in memory come from [`bottom`].
//!
//! The result is the same on any number of threads: operators and the solver
//! work over fixed chunks and add partial sums in order.

mod additive_constant;
mod bottom;
mod chebyshev;
mod choice;
mod dense;
mod krylov;
pub mod laplacian;
mod low_degree;
pub mod minka;
pub mod orthonormal;
pub mod principal_axes;
mod shift_invert;
mod warnings;

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::SymmetricOperator;

pub use additive_constant::smallest_constant;
pub use bottom::{basis_bytes, bottom, bottom_of_blocks};
use choice::Problem;
pub use choice::{EigenSolver, SparseSolver};
pub use warnings::{Knobs, tied_with_next, warn_of_freedom, warn_unconverged};

/// How the eigenpairs are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// The one that costs less, by size and number of pairs.
    #[default]
    Auto,
    /// Form the matrix and decompose all of it: O(n³), the reference.
    Dense,
    /// Block Krylov: a few products with the matrix.
    Krylov,
    /// For [`bottom`]: by a sparse factor. For [`top`] the same as `Krylov`.
    Direct,
    /// For [`bottom`]: by products alone. For [`top`] the same as `Krylov`.
    Iterative,
}

/// What [`top`] takes beside the matrix.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which solver.
    pub solver: Solver,
    /// Largest residual ‖Av − λv‖ relative to ‖A‖ that counts as converged;
    /// 0 stands for the tightest that is sensible (1e-12).
    pub tol: f64,
    /// Most products with a block of vectors before the Krylov solver gives up.
    pub max_iter: Option<usize>,
    /// Known vectors to leave out (columns, n × r), e.g. the constant vector of
    /// a centred matrix: the eigenpairs are those of A restricted to their
    /// orthogonal complement.
    pub deflate: Option<Array2<f64>>,
    /// Vectors to start the Krylov iteration from (columns, n × any number):
    /// guesses of the eigenvectors wanted.
    pub start: Option<Array2<f64>>,
    /// Vectors multiplied at once; more of them mean fewer products. `None` is a
    /// few more than are wanted.
    pub block: Option<usize>,
    /// How many vectors on their way to the pairs after those wanted are given too.
    pub spare: usize,
    /// Whether residuals are taken from the recurrence instead of being measured
    /// by a product of their own, for operators whose product is expensive.
    pub trust_recurrence: bool,
}

/// The k largest eigenpairs ([`top`]) or smallest ones ([`bottom`]).
#[derive(Debug, Clone)]
pub struct Spectrum {
    /// Eigenvalues, descending from [`top`], ascending from [`bottom`].
    pub values: Vec<f64>,
    /// Orthonormal eigenvectors, one per column (n × k, row-major), signs by
    /// [`fix_signs`].
    pub vectors: Array2<f64>,
    /// ‖Av − λv‖ of each pair, measured with a product of its own unless
    /// [`Options::trust_recurrence`].
    pub residuals: Vec<f64>,
    /// Products with a block of vectors; 0 for the dense solver.
    pub iterations: usize,
    /// Whether all pairs reached the tolerance. When not, the best ones found
    /// are returned and the caller should warn.
    pub converged: bool,
    /// How many of them did, counted from the first to the one that did not.
    pub converged_pairs: usize,
    /// The most negative value seen: the exact bottom eigenvalue from the dense
    /// solver, an estimate from above from the Krylov solver.
    pub lowest: f64,
    /// The eigenvalue after the last pair, as the search left it: exact from the
    /// dense solver, otherwise an estimate that is never nearer to the last pair
    /// than the eigenvalue is. `None` when there is none or it is far away.
    pub next: Option<f64>,
    /// Up to [`Options::spare`] vectors after the last pair, as the search left them.
    pub spare: Option<Array2<f64>>,
    /// The solver that ran, never [`Solver::Auto`].
    pub ran: Solver,
}

impl Spectrum {
    /// The first `count` pairs.
    fn leading(mut self, count: usize) -> Spectrum {
        self.next = self.values.get(count).copied().or(self.next);
        self.values.truncate(count);
        self.residuals.truncate(count);
        self.converged_pairs = self.converged_pairs.min(count);
        self.vectors = self.vectors.slice(s![.., ..count]).as_standard_layout().into_owned();
        self
    }

    /// These pairs and then those of a later search.
    fn followed_by(mut self, other: Spectrum) -> Result<Spectrum> {
        if self.converged {
            self.converged_pairs += other.converged_pairs;
        }
        self.values.extend(other.values);
        self.residuals.extend(other.residuals);
        self.vectors = joined(self.vectors.view(), other.vectors.view())?;
        self.iterations += other.iterations;
        self.next = other.next;
        self.converged &= other.converged;
        Ok(self)
    }
}

/// Columns side by side, row-major.
fn joined(left: ArrayView2<f64>, right: ArrayView2<f64>) -> Result<Array2<f64>> {
    let both = concatenate(Axis(1), &[left, right]).map_err(|fault| Error::input(fault.to_string()))?;
    Ok(both.as_standard_layout().into_owned())
}

/// The `k` algebraically largest eigenpairs of `op`.
pub fn top(op: &dyn SymmetricOperator, k: usize, options: &Options, ctx: &Ctx) -> Result<Spectrum> {
    let n = op.dim();
    check_wanted(n, k, options)?;
    let dense = match options.solver {
        Solver::Dense => true,
        Solver::Krylov | Solver::Direct | Solver::Iterative => false,
        Solver::Auto => {
            let problem = Problem { n, k, entries: op.multiplications() };
            problem.dense_top() && ctx.reserve(dense::bytes(n), "", "").is_ok()
        }
    };
    let mut found = ctx
        .install(|| if dense { dense::top(op, k, options, ctx) } else { krylov::top(op, k, options, ctx) })?;
    fix_signs(&mut found.vectors);
    Ok(found)
}

/// Whether a matrix of `n` rows has `k` eigenvectors to give.
fn check_wanted(n: usize, k: usize, options: &Options) -> Result<()> {
    let skipped = options.deflate.as_ref().map_or(0, |known| known.ncols());
    if let Some(known) = &options.deflate
        && known.nrows() != n
    {
        let rows = known.nrows();
        return Err(Error::input(format!("deflation vectors have {rows} rows, the matrix {n}")));
    }
    if k == 0 || k + skipped > n {
        let most = n.saturating_sub(skipped);
        return Err(Error::param(
            "n_components",
            format!("{k} eigenvectors asked for; this {n} × {n} matrix has between 1 and {most} to give"),
        ));
    }
    if !(options.tol >= 0.0 && options.tol < 1.0) {
        return Err(Error::param("tol", format!("must be at least 0 and below 1, got {}", options.tol)));
    }
    Ok(())
}

/// Turn each column so that its entry of largest magnitude (the first among
/// exact ties) is positive.
pub fn fix_signs(vectors: &mut Array2<f64>) {
    for mut column in vectors.columns_mut() {
        let mut largest = 0.0_f64;
        for &value in &column {
            if value.abs() > largest.abs() {
                largest = value;
            }
        }
        if largest < 0.0 {
            column.mapv_inplace(|value| -value);
        }
    }
}

/// Indices of `values` from largest to smallest, ties in their given order.
pub fn descending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_follow_the_first_largest_entry() {
        let mut vectors = ndarray::arr2(&[[-2.0, 0.0, 1.0], [2.0, 0.0, -3.0]]);
        fix_signs(&mut vectors);
        assert_eq!(vectors, ndarray::arr2(&[[2.0, 0.0, -1.0], [-2.0, 0.0, 3.0]]));
    }

    #[test]
    fn order_is_stable_among_ties() {
        assert_eq!(descending(&[1.0, 3.0, 1.0, 3.0]), [1, 3, 0, 2]);
    }
}
