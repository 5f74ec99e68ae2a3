//! The smallest eigenpairs by products alone: block Krylov on a polynomial of
//! the matrix that is large near zero and small elsewhere.
//!
//! The polynomial is Chebyshev's, of degree m, stretched so that it stays below
//! one on [a, b], b the largest eigenvalue (Zhou, Saad, Tiago, Chelikowsky,
//! J. Comput. Phys. 2006). One step of the Krylov iteration then costs m
//! products and no orthogonalisation in between. How close to zero the wanted
//! eigenvalues lie is not known at first: degrees grow from stage to stage, each
//! starting from the vectors of the one before, and a degree is only taken if
//! their Rayleigh quotients, which bound the wanted eigenvalues from above, lie
//! where the polynomial falls. Cost: a few times √(b/λ) products.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use super::orthonormal::norms;
use super::{Options, Solver, Spectrum, top};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::Combining;
use crate::linalg::SymmetricOperator;

/// Growth of the degree from stage to stage, and the highest degree.
const FASTER: usize = 6;
const HIGHEST: usize = 1000;
/// How far the wanted eigenvalues must lie inside the falling part.
const INSIDE: f64 = 1.5;
/// Growth of the polynomial at zero: cosh of this.
const GROWTH: f64 = 6.0;
/// Vectors multiplied at once, and how many of them are kept beside those wanted.
const BLOCK: usize = 8;
const SPARE: usize = 4;
/// Krylov steps of a stage whose degree cannot grow, and of all stages.
const LAST_STEPS: usize = 300;
const MOST_STEPS: usize = 1000;
/// Steps that a stage is expected to take, measured on points of 5, 10 and 784
/// dimensions (8 to 31), and after a stage that converged (2).
const EXPECTED: f64 = 30.0;
const CONFIRMING: f64 = 3.0;
/// Wanted eigenvalues below this part of the falling one are not resolved.
const RESOLVED: f64 = 1e-4;
/// What counts as zero, relative to the largest eigenvalue.
const ROUNDING: f64 = 1e-15;
/// Residual of the polynomial, which is one at zero.
const TOLERANCE: f64 = 1e-10;

/// The smallest eigenpairs, or the best found when `budget` multiplications are
/// spent or are not expected to be enough.
pub(super) fn bottom(
    matrix: &dyn Combining,
    bound: f64,
    k: usize,
    options: &Options,
    budget: f64,
    ctx: &Ctx,
) -> Result<Spectrum> {
    let n = matrix.dim();
    let highest = largest(matrix, bound, ctx)?;
    let block = options.block.unwrap_or(BLOCK).max((k + 4).next_multiple_of(4)).min(n);
    let price_of = |degree: usize| (matrix.entries() * block * degree) as f64;
    let mut options = Options {
        solver: Solver::Krylov,
        tol: if options.tol > 0.0 { options.tol.min(TOLERANCE) } else { TOLERANCE },
        block: Some(block),
        // The next stage starts from them too: what comes after the wanted pairs is then
        // known nearly as well as they are.
        spare: block.saturating_sub(k).min(SPARE),
        trust_recurrence: true,
        ..options.clone()
    };
    let most_steps = options.max_iter.unwrap_or(MOST_STEPS).max(1);
    let (mut spent, mut taken, mut degree, mut limit) = (0.0, 0, 1, steps(1));
    loop {
        let filter = Filter::new(matrix, highest, degree);
        let price = price_of(degree);
        let affordable = ((budget - spent) / price).min(1e6) as usize;
        options.max_iter = Some(limit.min(affordable).min(most_steps - taken).max(1));
        let mut found = top(&filter, k, &options, ctx)?;
        found.next = found.next.and_then(|value| filter.source(value));
        found.ran = Solver::Iterative;
        taken += found.iterations;
        spent += found.iterations as f64 * price;
        measure(matrix, &mut found, ctx)?;
        let wanted = found.values.last().copied().unwrap_or(0.0);
        let next = Filter::steepest(highest, INSIDE * wanted).min(FASTER * degree).max(degree);
        // Eigenvalues too close to zero for this polynomial to resolve are not
        // found yet, unless they are zero up to rounding.
        let told_apart = wanted >= RESOLVED * Filter::edge(degree) * highest
            || found.residuals.iter().chain(&found.values).all(|&size| size <= ROUNDING * highest);
        // A stage that would be broken off is not begun.
        let expected = if found.converged { CONFIRMING } else { EXPECTED };
        let too_dear = spent + price_of(next) * expected >= budget;
        let over = taken >= most_steps || too_dear || (degree >= HIGHEST && !found.converged);
        let settled = found.converged && (told_apart || next == degree);
        if settled || over {
            found.iterations = taken;
            found.converged &= told_apart;
            if !told_apart {
                found.converged_pairs = 0;
            }
            return Ok(found);
        }
        limit = if next == degree { LAST_STEPS } else { steps(next) };
        degree = next;
        options.start = Some(match &found.spare {
            Some(spare) => super::joined(found.vectors.view(), spare.view())?,
            None => found.vectors,
        });
    }
}

/// Krylov steps of a stage: the first ones only find out where to look.
fn steps(degree: usize) -> usize {
    match degree {
        1 => 12,
        2..=8 => 16,
        HIGHEST.. => LAST_STEPS,
        _ => 40,
    }
}

/// A little more than the largest eigenvalue.
fn largest(matrix: &dyn Combining, bound: f64, ctx: &Ctx) -> Result<f64> {
    let options = Options { solver: Solver::Krylov, tol: 1e-3, max_iter: Some(12), ..Options::default() };
    let found = top(&Plain(matrix), 1, &options, ctx)?;
    let estimate = (found.values[0] + found.residuals[0]) * 1.01;
    Ok(estimate.min(bound).max(f64::MIN_POSITIVE))
}

/// Rayleigh quotients and residuals by a product of their own, ascending.
pub(super) fn measure(matrix: &dyn Combining, found: &mut Spectrum, ctx: &Ctx) -> Result<()> {
    let mut products = Array2::zeros(found.vectors.dim());
    matrix.apply(found.vectors.view(), products.view_mut(), ctx)?;
    let values: Vec<f64> = (0..found.values.len())
        .map(|column| found.vectors.column(column).dot(&products.column(column)).max(0.0))
        .collect();
    let order: Vec<usize> = super::descending(&values).into_iter().rev().collect();
    found.vectors = found.vectors.select(ndarray::Axis(1), &order).as_standard_layout().into_owned();
    let products = products.select(ndarray::Axis(1), &order);
    found.values = order.iter().map(|&column| values[column]).collect();
    let mut rest = products;
    for (column, value) in found.values.iter().enumerate() {
        rest.slice_mut(s![.., column]).scaled_add(-value, &found.vectors.column(column));
    }
    found.residuals = norms(&rest.as_standard_layout().into_owned());
    found.lowest = found.values.first().copied().unwrap_or(0.0);
    Ok(())
}

/// The polynomial of the matrix, one at zero.
struct Filter<'a> {
    matrix: &'a dyn Combining,
    degree: usize,
    centre: f64,
    half: f64,
}

impl<'a> Filter<'a> {
    fn new(matrix: &'a dyn Combining, highest: f64, degree: usize) -> Self {
        let edge = highest * Self::edge(degree);
        Filter { matrix, degree, centre: (highest + edge) / 2.0, half: (highest - edge) / 2.0 }
    }

    /// Where the polynomial stops falling, relative to the largest eigenvalue.
    /// Of degree one it is a line and falls everywhere.
    fn edge(degree: usize) -> f64 {
        (GROWTH / (2.0 * degree as f64)).powi(2).min(0.5)
    }

    /// Where the polynomial has this value, if that is where it falls.
    fn source(&self, value: f64) -> Option<f64> {
        let degree = self.degree as f64;
        if self.degree == 1 {
            return Some(self.centre * (1.0 - value));
        }
        let height = value * libm::cosh(degree * libm::acosh(self.centre / self.half));
        (height >= 1.0).then(|| self.centre - self.half * libm::cosh(libm::acosh(height) / degree))
    }

    /// The highest degree that falls up to `value`.
    fn steepest(highest: f64, value: f64) -> usize {
        if value >= Self::edge(6) * highest {
            return 1;
        }
        let degree = GROWTH / (2.0 * (value / highest).max(f64::MIN_POSITIVE).sqrt());
        (degree as usize).clamp(6, HIGHEST)
    }
}

impl SymmetricOperator for Filter<'_> {
    fn dim(&self) -> usize {
        self.matrix.dim()
    }

    fn steps(&self) -> usize {
        self.degree
    }

    /// The three-term recurrence, scaled so that its value at zero stays one.
    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let first = -self.half / self.centre;
        let mut sigma = first;
        let mut before = x.as_standard_layout().into_owned();
        let mut now = Array2::zeros(x.dim());
        // p₁ = (A − cI)/h · σ
        let scale = sigma / self.half;
        self.matrix.combine(&before, &mut now, [scale, -self.centre * scale, 0.0], ctx)?;
        ctx.advance(1);
        for _ in 1..self.degree {
            let next = 1.0 / (2.0 / first - sigma);
            let scale = 2.0 * next / self.half;
            self.matrix.combine(&now, &mut before, [scale, -self.centre * scale, -next * sigma], ctx)?;
            ctx.advance(1);
            std::mem::swap(&mut before, &mut now);
            sigma = next;
        }
        y.assign(&now);
        Ok(())
    }
}

/// The matrix itself.
struct Plain<'a>(&'a dyn Combining);

impl SymmetricOperator for Plain<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        self.0.apply(x, y, ctx)
    }
}
