//! The smallest eigenpairs by shift and invert: block Krylov on (A + σI)⁻¹.
//!
//! σ is of the size of rounding, only there to keep the pivots of a singular
//! matrix positive; the null vectors themselves are deflated. A factor that
//! fails its probe, or a pivot that is not positive, is made again with a larger
//! σ. Cost: the factor's work once, 4 · fill operations for each solve.
//!
//! Where the root R of A = RᵀR is given and the matrix is large, or an eigenvalue
//! turns out to be near the rounding of A, each solve is corrected once with a
//! residual by R: the corrected seminormal equations (Björck 1987). The rounding
//! of A then no longer matters; the result is that of R⁻¹R⁻ᵀ without a second,
//! unsymmetric factor, and the eigenvalues are ‖Rv‖².

use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use super::orthonormal::norms;
use super::{Options, Solver, Spectrum, joined, top};
use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::{Blocks, Root};
use crate::linalg::SymmetricOperator;
use crate::linalg::cholesky::elimination::{Elimination, Pattern};
use crate::linalg::cholesky::multifrontal::{Entries, Factor, LANES, Structure};
use crate::linalg::random::uniform;
use crate::linalg::{Combining, SparseSymmetric};

/// First and last σ relative to the matrix, and the step between two tries.
const SHIFT: f64 = 1e-14;
const MOST_SHIFT: f64 = 1e-8;
const SHIFT_STEP: f64 = 100.0;
/// Largest ‖(A + σI)y − x‖ relative to ‖A‖‖y‖ + ‖x‖ that a probe may leave.
const PROBE: f64 = 1e-11;
/// Residual of the inverse relative to its largest eigenvalue: what the solves
/// with a matrix this close to singular can give.
const TOLERANCE: f64 = 1e-10;

/// Pairs of the inverse below this part of the largest are not taken from the
/// same search.
const SPREAD: f64 = 1e-3;
/// Rows from which solves are corrected by the root.
const CORRECTED_FROM: usize = 100_000;
/// Eigenvalues, relative to the matrix, below which they are too, and how often:
/// of vectors that σ hardly separates each correction removes most of the error.
const CORRECTED_BELOW: f64 = 4.0 * f64::EPSILON;
const CORRECTIONS: usize = 3;

/// Bytes of a factor and its largest moment, when the widest front adds up what
/// its children left over, with a quarter for supernodes that were joined.
pub(super) fn bytes(elimination: &Elimination) -> u64 {
    let widest = elimination.later.iter().copied().max().map_or(0, u64::from);
    let most = (elimination.fill + 2 * widest * widest) * size_of::<f64>() as u64;
    most + most / 4
}

/// The smallest eigenpairs; nothing when no factor is accurate enough.
pub(super) fn bottom(
    matrix: &SparseSymmetric,
    blocks: Option<&Blocks>,
    elimination: Elimination,
    k: usize,
    options: &Options,
    ctx: &Ctx,
) -> Result<Option<Spectrum>> {
    let pattern = Pattern { offsets: matrix.offsets(), targets: matrix.columns() };
    let structure = Structure::new(pattern, elimination, ctx)?;
    let Some((factor, shift)) = factor(matrix, structure, matrix.norm_bound(), ctx)? else { return Ok(None) };
    let root = || blocks.and_then(|blocks| Root::of(matrix.len(), blocks));
    let mut inverse = Inverse { factor: &factor, shift, root: None, corrections: 1 };
    if matrix.len() >= CORRECTED_FROM {
        inverse.root = root();
    }
    let mut found = by_size(&inverse, k, options, ctx)?;
    let near_rounding = 1.0 / (CORRECTED_BELOW * matrix.norm_bound() + shift);
    if found.values.iter().any(|&value| value > near_rounding) {
        inverse.root = inverse.root.or_else(root);
        inverse.corrections = CORRECTIONS;
        if inverse.root.is_some() {
            let again = Options { start: Some(found.vectors), ..options.clone() };
            let before = found.iterations;
            found = by_size(&inverse, k, &again, ctx)?;
            found.iterations += before;
        }
    }
    // A matrix of zeros beyond its null vectors has the inverse 1/σ.
    let back = |value: f64| (1.0 / value - shift).max(0.0);
    found.next = found.next.filter(|&value| value > 0.0).map(back);
    found.ran = Solver::Direct;
    if let Some(root) = &inverse.root {
        super::chebyshev::measure(root, &mut found, ctx)?;
        return Ok(Some(found));
    }
    let mut products = Array2::zeros(found.vectors.dim());
    matrix.apply(found.vectors.view(), products.view_mut(), ctx)?;
    for (column, value) in found.values.iter_mut().enumerate() {
        *value = back(*value);
        products.column_mut(column).scaled_add(-*value, &found.vectors.column(column));
    }
    found.residuals = norms(&products);
    found.lowest = found.values.first().copied().unwrap_or(0.0);
    Ok(Some(found))
}

/// The largest eigenpairs of the inverse, however different in size: a search
/// is as accurate as its largest eigenvalue allows, so pairs far below it are
/// looked for again with those above them out of the way.
fn by_size(inverse: &Inverse<'_>, k: usize, options: &Options, ctx: &Ctx) -> Result<Spectrum> {
    let mut options = Options {
        solver: Solver::Krylov,
        tol: if options.tol > 0.0 { options.tol.min(TOLERANCE) } else { TOLERANCE },
        block: Some(options.block.unwrap_or(LANES)),
        trust_recurrence: true,
        ..options.clone()
    };
    let mut all: Option<Spectrum> = None;
    loop {
        let had = all.as_ref().map_or(0, |all| all.values.len());
        let found = top(inverse, k - had, &options, ctx)?;
        let near = found.values.iter().take_while(|&&value| value >= SPREAD * found.values[0]).count();
        // At least one, and all of them if there is nothing left to divide.
        let taken = if found.converged { near.max(1) } else { found.values.len() };
        let rest = found.vectors.slice(s![.., taken..]).to_owned();
        all = Some(match all {
            None => found.leading(taken),
            Some(before) => before.followed_by(found.leading(taken))?,
        });
        // proof: set just above.
        let so_far = all.as_ref().expect("just set");
        if so_far.values.len() >= k {
            // proof: as above.
            return Ok(all.expect("just set"));
        }
        let known = options.deflate.take().unwrap_or_else(|| Array2::zeros((inverse.dim(), 0)));
        let last = so_far.vectors.slice(s![.., had..]);
        options.deflate = Some(joined(known.view(), last)?);
        options.start = Some(rest);
    }
}

/// A factor that passes its probe, with the smallest σ that gives one.
fn factor(
    matrix: &SparseSymmetric,
    mut structure: Structure,
    size: f64,
    ctx: &Ctx,
) -> Result<Option<(Factor, f64)>> {
    let entries = Entries { offsets: matrix.offsets(), columns: matrix.columns(), values: matrix.values() };
    let size = if size > 0.0 { size } else { 1.0 };
    let mut relative = SHIFT;
    while relative <= MOST_SHIFT {
        let shift = relative * size;
        relative *= SHIFT_STEP;
        structure = match Factor::new(structure, entries, shift, ctx)? {
            Ok(factor) if probe(matrix, &factor, shift, size, ctx)? => return Ok(Some((factor, shift))),
            Ok(factor) => factor.into_structure(),
            Err(structure) => structure,
        };
    }
    Ok(None)
}

/// Whether a solve with random right-hand sides satisfies the matrix.
fn probe(matrix: &SparseSymmetric, factor: &Factor, shift: f64, size: f64, ctx: &Ctx) -> Result<bool> {
    let x = uniform(&mut ctx.stream("probe of a factor"), matrix.len(), 2);
    let mut y = Array2::zeros(x.dim());
    factor.solve(x.view(), y.view_mut(), ctx)?;
    let mut rest = Array2::zeros(x.dim());
    matrix.apply(y.view(), rest.view_mut(), ctx)?;
    rest.scaled_add(shift, &y);
    rest -= &x;
    let close = |((rest, y), x): ((f64, f64), f64)| rest <= PROBE * (size * y + x);
    Ok(norms(&rest).into_iter().zip(norms(&y)).zip(norms(&x)).all(close))
}

/// (A + σI)⁻¹ by its factor.
struct Inverse<'a> {
    factor: &'a Factor,
    shift: f64,
    root: Option<Root>,
    corrections: usize,
}

impl SymmetricOperator for Inverse<'_> {
    fn dim(&self) -> usize {
        self.factor.dim()
    }

    fn steps(&self) -> usize {
        let solves = 1 + if self.root.is_some() { self.corrections } else { 0 };
        solves * self.factor.steps_of_solve()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        self.factor.solve(x, y.view_mut(), ctx)?;
        let Some(root) = &self.root else { return Ok(()) };
        for _ in 0..self.corrections {
            let solved = y.as_standard_layout().into_owned();
            let mut rest = x.as_standard_layout().into_owned();
            root.combine(&solved, &mut rest, [-1.0, -self.shift, 1.0], ctx)?;
            let mut correction = Array2::zeros(rest.dim());
            self.factor.solve(rest.view(), correction.view_mut(), ctx)?;
            y += &correction;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Form;
    use crate::kernel::local::assemble::assemble;

    /// Blocks whose root is the second difference along a path of n nodes.
    fn path(n: usize) -> Blocks {
        let mut blocks = Blocks {
            form: Form::Product,
            member_offsets: vec![0],
            members: vec![],
            factor_offsets: vec![0],
            factors: vec![],
        };
        for i in 0..n {
            let near: Vec<usize> = [i.wrapping_sub(1), i + 1].into_iter().filter(|&j| j < n).collect();
            blocks.members.push(i as u32);
            blocks.factors.push(near.len() as f64);
            blocks.members.extend(near.iter().map(|&j| j as u32));
            blocks.factors.extend(near.iter().map(|_| -1.0));
            blocks.member_offsets.push(blocks.members.len());
            blocks.factor_offsets.push(blocks.factors.len());
        }
        blocks
    }

    #[test]
    fn solves_corrected_by_the_root_do_not_feel_the_rounding_of_the_matrix() {
        let n = 3000;
        let ctx = Ctx::new(2, 0);
        let blocks = path(n);
        let matrix = assemble(n, &blocks, &ctx).unwrap();
        let pattern = Pattern { offsets: matrix.offsets(), targets: matrix.columns() };
        let elimination = Elimination::new(pattern, u64::MAX, &ctx).unwrap().unwrap();
        let structure = Structure::new(pattern, elimination, &ctx).unwrap();
        let (factor, shift) = factor(&matrix, structure, matrix.norm_bound(), &ctx).unwrap().unwrap();
        let root = Root::of(n, &blocks).unwrap();
        // cos(π(i + ½)/n) has the eigenvalue (2 sin(π/2n))⁴ = 1.2e-12.
        let angle = std::f64::consts::PI / n as f64;
        let value = (2.0 * (angle / 2.0).sin()).powi(4);
        let x = Array2::from_shape_fn((n, 1), |(i, _)| (angle * (i as f64 + 0.5)).cos());
        let error = |root: Option<Root>| {
            let mut y = Array2::zeros(x.dim());
            Inverse { factor: &factor, shift, root, corrections: 1 }
                .apply(x.view(), y.view_mut(), &ctx)
                .unwrap();
            y -= y.mean().unwrap();
            norms(&(y * (value + shift) - &x))[0] / norms(&x)[0]
        };
        let (plain, corrected) = (error(None), error(Some(root)));
        assert!(plain > 1e-7, "the rounding of the matrix should show: {plain}");
        assert!(corrected < 0.01 * plain, "{corrected} against {plain}");
    }
}
