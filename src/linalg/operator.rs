//! A symmetric matrix that is known by its products with blocks of vectors: what
//! kernels give to the eigensolvers.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use crate::context::Ctx;
use crate::error::Result;

/// A symmetric matrix known by its products.
pub trait SymmetricOperator: Sync {
    /// Number of rows (and columns).
    fn dim(&self) -> usize;

    /// y ← A·x for a block x of `dim() × b`; y is overwritten.
    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()>;

    /// Multiplications of a product with one vector, for the choice of a solver.
    fn multiplications(&self) -> f64 {
        (self.dim() as f64).powi(2)
    }

    /// Steps of progress that one product reports by itself; 0 of one that is soon over.
    fn steps(&self) -> usize {
        0
    }

    /// The matrix itself; by default A applied to the identity, block by block.
    fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        const BLOCK: usize = 16;
        let n = self.dim();
        let mut matrix = Array2::zeros((n, n));
        for first in (0..n).step_by(BLOCK) {
            let width = BLOCK.min(n - first);
            let unit = Array2::from_shape_fn((n, width), |(i, j)| f64::from(u8::from(i == first + j)));
            self.apply(unit.view(), matrix.slice_mut(s![.., first..first + width]), ctx)?;
        }
        Ok(matrix)
    }
}

/// A dense symmetric matrix is its own operator (both triangles are read).
impl SymmetricOperator for Array2<f64> {
    fn dim(&self) -> usize {
        self.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        y.assign(&crate::linalg::matmul(self.view(), x, ctx)?);
        Ok(())
    }

    fn to_dense(&self, _: &Ctx) -> Result<Array2<f64>> {
        Ok(self.clone())
    }
}
