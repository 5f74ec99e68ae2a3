//! The smallest eigenpairs of a sparse positive semi-definite matrix whose null
//! vectors are known.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::{Options, Spectrum, SymmetricOperator, top};
use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::SparseSymmetric;

/// The `k` smallest eigenpairs of `matrix`, ascending, in the orthogonal
/// complement of the known null vectors (columns of `null`).
pub fn bottom(
    matrix: &SparseSymmetric,
    null: &Array2<f64>,
    k: usize,
    options: &Options,
    ctx: &Ctx,
) -> Result<Spectrum> {
    let bound = matrix.norm_bound();
    let flipped = Flipped { matrix, bound };
    let options = Options { deflate: Some(null.clone()), ..options.clone() };
    let mut found = top(&flipped, k, &options, ctx)?;
    found.values.iter_mut().for_each(|value| *value = bound - *value);
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
}
