//! How a caller says which eigensolver, and what that means for [`Options`].

use super::{Options, Solver};
use crate::error::{Error, Result};
use crate::params::choices;

choices! {
    /// How the eigenproblem is solved.
    EigenSolver {
        /// By size and number of components.
        Auto = "auto",
        /// All eigenpairs of the dense matrix.
        Dense = "dense",
        /// The wanted eigenpairs by block Krylov iteration (named as scikit-learn names it).
        Krylov = "arpack" | "krylov",
    }
}

choices! {
    /// How the smallest eigenpairs of a sparse matrix are found.
    SparseSolver {
        /// By size, fill and number of components.
        Auto = "auto",
        /// All eigenpairs of the dense matrix.
        Dense = "dense",
        /// By factoring the matrix (named as scikit-learn names it).
        Direct = "arpack" | "direct",
        /// By products with the matrix alone (named as scikit-learn names them).
        Iterative = "iterative" | "lobpcg" | "amg",
    }
}

impl EigenSolver {
    /// The solver's options.
    pub(crate) fn options(self, tol: f64, max_iter: Option<usize>) -> Result<Options> {
        let solver = match self {
            EigenSolver::Auto => Solver::Auto,
            EigenSolver::Dense => Solver::Dense,
            EigenSolver::Krylov => Solver::Krylov,
        };
        solver_options(solver, tol, max_iter)
    }
}

impl SparseSolver {
    /// The solver's options.
    pub(crate) fn options(self, tol: f64, max_iter: Option<usize>) -> Result<Options> {
        let solver = match self {
            SparseSolver::Auto => Solver::Auto,
            SparseSolver::Dense => Solver::Dense,
            SparseSolver::Direct => Solver::Direct,
            SparseSolver::Iterative => Solver::Iterative,
        };
        solver_options(solver, tol, max_iter)
    }
}

fn solver_options(solver: Solver, tol: f64, max_iter: Option<usize>) -> Result<Options> {
    if !(tol.is_finite() && tol >= 0.0) {
        return Err(Error::param("tol", format!("must be a number >= 0, got {tol}")));
    }
    if max_iter == Some(0) {
        return Err(Error::param("max_iter", "must be at least 1, or None for the default"));
    }
    Ok(Options { solver, tol, max_iter, ..Options::default() })
}
