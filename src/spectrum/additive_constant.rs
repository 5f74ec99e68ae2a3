//! The additive constant: the smallest c for which the distances D + c between
//! different points are those of points in a Euclidean space.
//!
//! Place: before the spectrum of kernel Isomap. Paper: Cailliez 1983; the
//! survey's (33) and (34). Symbols: K₂ = −½HD²H, K₁ = −½HDH,
//! K'(c) = K₂ + 2cK₁ + ½c²H.
//!
//! Cailliez's c* is the largest eigenvalue of a 2n × 2n matrix, that is of the
//! quadratic problem (c²I + 4cK₁ + 2K₂)v = 0, which is 2K'(c)v = 0. Once K'(c)
//! has no negative eigenvalue it has none for any larger c, because distances
//! that are Euclidean have a K₁ without negative eigenvalues too. So c* is where
//! the lowest eigenvalue of K'(c) reaches zero from below, and for every unit
//! vector v the larger root of vᵀK'(c)v = 0 is at most c*. Taking v as the lowest
//! eigenvector at the root before, the roots rise to c* quadratically fast.
//! Nothing of size 2n × 2n is made. Cost: a few dozen products with K'.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::context::Ctx;
use crate::error::{Result, WarningKind};
use crate::kernel::packed_centering::CenteredPacked;
use crate::linalg::SymmetricOperator;
use crate::linalg::packed::HalfMatrix;
use crate::spectrum::{Options, top};

/// Where the search stops: the constant no longer changes.
const SETTLED: f64 = 1e-11;
/// Rounding of the lowest eigenvalue, relative to the largest.
const NOISE: f64 = 1e-13;
/// Residual asked of the eigenvectors; the root's error is its square.
const RESIDUAL: f64 = 1e-8;
/// Most corrections; a handful is usual.
const MOST_ROUNDS: usize = 60;

/// −A, so that the bottom of A's spectrum is at the top.
struct Negated<'a>(&'a CenteredPacked<'a>);

impl SymmetricOperator for Negated<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn steps(&self) -> usize {
        self.0.steps()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        self.0.apply(x, y.view_mut(), ctx)?;
        y.mapv_inplace(|value| -value);
        Ok(())
    }
}

/// The smallest constant c ≥ 0 that leaves K'(c) without negative eigenvalues;
/// 0 when the distances are Euclidean as they are.
pub fn smallest_constant(distances: &dyn HalfMatrix, ctx: &Ctx) -> Result<f64> {
    let n = distances.n();
    if n < 3 {
        // Two points are Euclidean at any distance.
        return Ok(0.0);
    }
    let mut constant = 0.0;
    let mut start = None;
    let mut converged = true;
    let mut found = false;
    for _ in 0..MOST_ROUNDS {
        let kernel = CenteredPacked::new(distances).with_constant(constant);
        let options = Options {
            tol: RESIDUAL,
            deflate: Some(Array2::ones((n, 1))),
            start: start.take(),
            trust_recurrence: true,
            ..Options::default()
        };
        let bottom = top(&Negated(&kernel), 1, &options, ctx)?;
        let lowest = -bottom.values[0];
        // `lowest` of the negated matrix is the largest of this one, negated.
        let size = bottom.lowest.abs().max(lowest.abs());
        converged &= bottom.converged;
        found = lowest >= -NOISE * n as f64 * size;
        if found {
            break;
        }
        let root = larger_root(distances, &bottom.vectors, ctx)?;
        found = root - constant <= SETTLED * root;
        constant = constant.max(root);
        if found {
            break;
        }
        start = Some(bottom.vectors);
    }
    if !(converged && found) {
        ctx.warn(
            WarningKind::Convergence,
            format!(
                "the lowest eigenvector was not found to full accuracy: the constant {:.6e} may be a little too \
                 small; give a larger `constant` if negative eigenvalues are left",
                ctx.data_length(constant)
            ),
        );
    }
    Ok(constant)
}

/// The larger root of vᵀK'(c)v = k₂ + 2ck₁ + ½c² for a unit vector v.
fn larger_root(distances: &dyn HalfMatrix, v: &Array2<f64>, ctx: &Ctx) -> Result<f64> {
    let quadratic = |constant: f64| -> Result<f64> {
        let mut product = Array2::zeros(v.dim());
        CenteredPacked::new(distances).with_constant(constant).apply(v.view(), product.view_mut(), ctx)?;
        Ok((&product * v).sum())
    };
    let k2 = quadratic(0.0)?;
    // A step as long as the distances, so that neither term drowns the other.
    let step = CenteredPacked::new(distances).means(ctx)?.grand.sqrt();
    let k1 = (quadratic(step)? - k2 - 0.5 * step * step) / (2.0 * step);
    Ok(-2.0 * k1 + (4.0 * k1 * k1 - 2.0 * k2).max(0.0).sqrt())
}
