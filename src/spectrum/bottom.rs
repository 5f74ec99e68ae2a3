//! The smallest eigenpairs of a sparse positive semi-definite matrix whose null
//! vectors are known: which way to go, decided before any number is computed.
//!
//! Three ways, which the tests compare with each other:
//! - *dense*: small matrices, O(n³);
//! - *direct* ([`super::shift_invert`]): a sparse Cholesky factor and a few solves.
//!   On curves and surfaces the factor is small, and eigenvalues of 1e-12 next
//!   to each other are no harder than others;
//! - *iterative* ([`super::chebyshev`]): products with a polynomial of the matrix.
//!   In many dimensions the factor explodes, but there the graph is
//!   expander-like and its small eigenvalues are far apart.
//!
//! The symbolic elimination of the matrix gives fill and work of the factor.
//! Where the factor is expensive but possible, products worth part of its cost are
//! tried first.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::choice::Problem;
use super::{Options, Solver, Spectrum, chebyshev, check_wanted, joined, shift_invert, top};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::kernel::{Blocks, Root};
use crate::linalg::SymmetricOperator;
use crate::linalg::cholesky::elimination::{Elimination, Pattern};
use crate::linalg::{Combining, SparseSymmetric};

/// Multiplications up to which the factor is made without trying anything else,
/// in any case and where its rows are long.
const CHEAP_WORK: f64 = 5e9;
const CHEAP_WORK_IF_LONG: f64 = 2e8;
/// Mean length of the factor's rows, as part of all rows, from which the graph
/// counts as one of many dimensions, where products are likely to be enough.
const LONG: f64 = 0.02;
/// Multiplications beyond which it is not made unless asked for: hours.
const MOST_WORK: f64 = 2e13;
/// Multiplications of a factorisation in the time of one of a product, measured
/// on 10 000 points of 5 and 10 dimensions: 15 and 2.7 per nanosecond and thread.
const FACTOR_SPEED: f64 = 5.5;
/// Bytes from which a factor is heavy: products may then take as long as it would,
/// not only half of that. Of all, and for each entry of the matrix (16 times those).
const HEAVY: u64 = 256 << 20;
const HEAVY_FOR_MATRIX: u64 = 16 * 12;

/// Bytes per row that the search for `k` pairs takes in most cases: eight blocks
/// of its basis and five beside it.
pub fn basis_bytes(k: usize) -> f64 {
    let block = 4.0 * ((k as f64 + 2.0) / 4.0).ceil();
    8.0 * 13.0 * block.max(8.0)
}

/// The `k` smallest eigenpairs of `matrix`, ascending, in the orthogonal
/// complement of the known null vectors (columns of `null`).
///
/// `residuals` are ‖Av − λv‖; `lowest` is the smallest eigenvalue found.
pub fn bottom(
    matrix: &SparseSymmetric,
    null: &Array2<f64>,
    k: usize,
    options: &Options,
    ctx: &Ctx,
) -> Result<Spectrum> {
    find(matrix, None, null, k, options, ctx)
}

/// [`bottom`] of a matrix that is the sum of `blocks`: where it pays, products
/// and corrections use their root.
pub fn bottom_of_blocks(
    matrix: &SparseSymmetric,
    blocks: &Blocks,
    null: &Array2<f64>,
    k: usize,
    options: &Options,
    ctx: &Ctx,
) -> Result<Spectrum> {
    find(matrix, Some(blocks), null, k, options, ctx)
}

fn find(
    matrix: &SparseSymmetric,
    blocks: Option<&Blocks>,
    null: &Array2<f64>,
    k: usize,
    options: &Options,
    ctx: &Ctx,
) -> Result<Spectrum> {
    let n = matrix.len();
    let options = Options { deflate: Some(null.clone()), ..options.clone() };
    check_wanted(n, k, &options)?;
    let mut found = ctx.install(|| match options.solver {
        Solver::Dense => dense(matrix, k, &options, ctx),
        Solver::Auto if (Problem { n, k, entries: matrix.entries() as f64 }).dense_bottom() => {
            dense(matrix, k, &options, ctx)
        }
        Solver::Iterative | Solver::Krylov => iterate(matrix, blocks, k, &options, f64::INFINITY, ctx),
        Solver::Direct => {
            let elimination = Elimination::dissected(pattern(matrix), u64::MAX, ctx)?;
            // proof: no fill exceeds the largest number.
            let elimination = elimination.expect("no limit on fill");
            let hint = "use eigen_solver='iterative'";
            ctx.reserve(shift_invert::bytes(&elimination), "the sparse factor", hint)?;
            shift_invert::bottom(matrix, blocks, elimination, k, &options, ctx)?.ok_or_else(|| {
                Error::NotConverged(
                    "the sparse factor of the matrix is not accurate enough; use eigen_solver='iterative' or 'dense'"
                        .into(),
                )
            })
        }
        Solver::Auto => by_fill(matrix, blocks, k, &options, ctx),
    })?;
    super::fix_signs(&mut found.vectors);
    Ok(found)
}

/// Direct or iterative, whichever the symbolic factor recommends.
fn by_fill(
    matrix: &SparseSymmetric,
    blocks: Option<&Blocks>,
    k: usize,
    options: &Options,
    ctx: &Ctx,
) -> Result<Spectrum> {
    // The work is never less than that of rows of equal length.
    let most_fill = (2.0 * matrix.len() as f64 * MOST_WORK).sqrt() as u64;
    let possible = Elimination::dissected(pattern(matrix), most_fill, ctx)?
        .filter(|found| found.work <= MOST_WORK)
        .filter(|found| ctx.reserve(shift_invert::bytes(found), "", "").is_ok());
    let Some(elimination) = possible else {
        return iterate(matrix, blocks, k, options, f64::INFINITY, ctx);
    };
    let mut options = options.clone();
    let long = elimination.fill as f64 > LONG * (matrix.len() as f64).powi(2);
    if elimination.work > if long { CHEAP_WORK_IF_LONG } else { CHEAP_WORK } {
        let price = elimination.work / FACTOR_SPEED;
        let bytes = shift_invert::bytes(&elimination);
        let heavy = bytes > HEAVY && bytes > HEAVY_FOR_MATRIX * matrix.entries() as u64;
        let budget = if heavy { price } else { price / 2.0 };
        let found = iterate(matrix, blocks, k, &options, budget, ctx)?;
        if found.converged {
            return Ok(found);
        }
        // The factor's search goes on from there.
        options.start = Some(match &found.spare {
            Some(spare) => joined(found.vectors.view(), spare.view())?,
            None => found.vectors,
        });
    }
    match shift_invert::bottom(matrix, blocks, elimination, k, &options, ctx)? {
        Some(found) if found.converged => Ok(found),
        // Not known to happen: better slow than nothing.
        _ => iterate(matrix, blocks, k, &options, f64::INFINITY, ctx),
    }
}

/// Products with whichever of the matrix and its root has fewer entries.
fn iterate(
    matrix: &SparseSymmetric,
    blocks: Option<&Blocks>,
    k: usize,
    options: &Options,
    budget: f64,
    ctx: &Ctx,
) -> Result<Spectrum> {
    let root = blocks
        .filter(|blocks| 2 * blocks.factors.len() < matrix.entries())
        .and_then(|blocks| Root::of(matrix.len(), blocks));
    let operator: &dyn Combining = root.as_ref().map_or(matrix, |root| root);
    chebyshev::bottom(operator, matrix.norm_bound(), k, options, budget, ctx)
}

fn pattern(matrix: &SparseSymmetric) -> Pattern<'_> {
    Pattern { offsets: matrix.offsets(), targets: matrix.columns() }
}

/// All eigenpairs of c·I − A, of which the largest are wanted.
fn dense(matrix: &SparseSymmetric, k: usize, options: &Options, ctx: &Ctx) -> Result<Spectrum> {
    let bound = matrix.norm_bound();
    let options = Options { solver: Solver::Dense, ..options.clone() };
    let mut found = top(&Flipped { matrix, bound }, k, &options, ctx)?;
    found.values.iter_mut().for_each(|value| *value = bound - *value);
    found.next = found.next.map(|value| bound - value);
    found.lowest = found.values.first().copied().unwrap_or(0.0);
    Ok(found)
}

/// c·I − A.
struct Flipped<'a> {
    matrix: &'a SparseSymmetric,
    bound: f64,
}

impl SymmetricOperator for Flipped<'_> {
    fn dim(&self) -> usize {
        self.matrix.len()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        self.matrix.apply(x, y.view_mut(), ctx)?;
        y.zip_mut_with(&x, |product, entry| *product = self.bound * entry - *product);
        Ok(())
    }

    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        let mut flipped = -self.matrix.to_dense(ctx)?;
        flipped.diag_mut().iter_mut().for_each(|entry| *entry += self.bound);
        Ok(flipped)
    }
}
