//! How a caller says which eigensolver, what that means for [`Options`], and which one
//! "auto" takes: the one that costs less.

use super::{Options, Solver, krylov};
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

/// Below this dimension a dense decomposition is faster than anything else.
const DENSE_BELOW: usize = 128;
/// Products with a block of vectors that a search for the largest eigenvalues takes: 6 to
/// 16 on kernels of distances, 40 on noise, hundreds where eigenvalues come in clusters.
const PRODUCTS: f64 = 16.0;
/// The same for the smallest eigenvalues of a sparse matrix, and numbers that are read for
/// each stored one: those of a factor of a graph of few dimensions, twice.
const SOLVES: f64 = 10.0;
const FILL: f64 = 8.0;

/// What is to be decomposed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem {
    /// Rows.
    pub n: usize,
    /// Eigenpairs wanted.
    pub k: usize,
    /// Multiplications of a product with one vector.
    pub entries: f64,
}

impl Problem {
    /// Whether the largest eigenvalues are found faster by a dense decomposition.
    pub fn dense_top(self) -> bool {
        self.n <= DENSE_BELOW || self.dense() < self.iteration(PRODUCTS, 1.0)
    }

    /// The same for the smallest ones of a sparse matrix.
    pub fn dense_bottom(self) -> bool {
        self.n <= DENSE_BELOW || self.dense() < self.iteration(SOLVES, FILL)
    }

    /// Nanoseconds of one core for a dense decomposition: reduction and eigenvalues, and
    /// k vectors. Measured at n = 300 (8 ms), 1 000 (0.2 s), 2 000 (1.3 s).
    fn dense(self) -> f64 {
        let (n, k) = (self.n as f64, self.k as f64);
        0.16 * n.powi(3) + 20.0 * n * n + 0.08 * n * n * k
    }

    /// Nanoseconds of one core for `steps` steps of the block Krylov iteration: products,
    /// orthogonality, eigenpairs of the projected matrix. Measured at n = 300 to 2 000 and
    /// k = 6 to 40: 0.4 to 10 ms a step.
    fn iteration(self, steps: f64, reads: f64) -> f64 {
        let b = krylov::block_width(self.k);
        let m = krylov::basis_limit(self.k, b).min(self.n) as f64;
        let (n, b) = (self.n as f64, b as f64);
        steps * (0.08 * reads * self.entries * b + 0.4 * n * m * b + 0.1 * m.powi(3))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(n: usize, k: usize) -> bool {
        Problem { n, k, entries: (n * n) as f64 }.dense_top()
    }

    #[test]
    fn few_pairs_of_large_matrices_are_iterated_and_many_are_not() {
        assert!(dense(128, 2) && !dense(300, 2) && !dense(1000, 10) && !dense(10_000, 50));
        assert!(dense(300, 25) && dense(1000, 100) && dense(2000, 200) && dense(3000, 300));
        for n in [200, 500, 1000, 3000, 10_000] {
            // More pairs never make the iteration the better choice again.
            let first = (1..n).find(|&k| dense(n, k)).unwrap();
            assert!((first..n).step_by(7).all(|k| dense(n, k)), "n = {n}");
            assert!(first * 6 < n + 6, "n = {n}: not before {first}");
        }
    }

    #[test]
    fn sparse_matrices_are_factored_unless_much_is_wanted() {
        let bottom = |n: usize, k| Problem { n, k, entries: 11.0 * n as f64 }.dense_bottom();
        assert!(!bottom(1000, 2) && !bottom(3000, 20) && !bottom(10_000, 100));
        assert!(bottom(1000, 150) && bottom(3000, 450));
    }
}
