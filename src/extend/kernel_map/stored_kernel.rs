//! The matrix K'' of the training points, stored as it is needed: compressed rows
//! when few points matter to each, the whole matrix otherwise.
//!
//! Place in the dataflow: between `local_kernel`, which gives the rows, and the
//! solvers of `kernel_map`. Cost: 12 bytes per weight or 8 n² in all; a product
//! reads all of it once, for any number of columns.

use ndarray::Array2;
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::local_kernel::LocalKernel;
use crate::context::Ctx;
use crate::error::Result;
use crate::input::PointsRef;
use crate::linalg::dot;

/// Rows per task of a product.
const ROWS: usize = 64;

/// From this share on, compressed rows take more memory than the matrix.
const DENSE_SHARE: f64 = 0.6;

/// K'', n × n.
pub(super) enum StoredKernel {
    /// Row after row.
    Dense(Vec<f64>),
    Sparse {
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    },
}

impl StoredKernel {
    /// Bytes it will take, by the kernel's sample.
    pub fn memory(kernel: &LocalKernel) -> u64 {
        let pairs = (kernel.len() as f64).powi(2);
        let bytes = if kernel.share() >= DENSE_SHARE { 8.0 * pairs } else { 18.0 * kernel.share() * pairs };
        bytes as u64
    }

    /// The rows of all points of the kernel, which are `points`.
    pub fn new(kernel: &LocalKernel, points: PointsRef<'_>, ctx: &Ctx) -> Result<StoredKernel> {
        let n = kernel.len();
        let mut stored = if kernel.share() >= DENSE_SHARE {
            StoredKernel::Dense(vec![0.0; n * n])
        } else {
            StoredKernel::Sparse { offsets: vec![0], indices: Vec::new(), values: Vec::new() }
        };
        for first in (0..n).step_by(kernel.batch()) {
            ctx.check()?;
            let rows: Vec<usize> = (first..(first + kernel.batch()).min(n)).collect();
            let weights = kernel.weights_at_points(points.select(&rows).view(), ctx)?;
            for (row, weights) in rows.iter().zip(weights) {
                match &mut stored {
                    StoredKernel::Dense(matrix) => {
                        let target = &mut matrix[row * n..(row + 1) * n];
                        weights.entries.iter().for_each(|&(at, value)| target[at as usize] = value);
                    }
                    StoredKernel::Sparse { offsets, indices, values } => {
                        indices.extend(weights.entries.iter().map(|&(at, _)| at));
                        values.extend(weights.entries.iter().map(|&(_, value)| value));
                        offsets.push(indices.len());
                    }
                }
            }
        }
        Ok(stored)
    }

    /// K'' times columns that lie one after the other.
    pub fn apply(&self, n: usize, x: &[f64], out: &mut [f64], ctx: &Ctx) -> Result<()> {
        let columns = x.len() / n;
        let mut by_row = vec![0.0; x.len()];
        let arch = Arch::new();
        by_row.par_chunks_mut(ROWS * columns.max(1)).enumerate().try_for_each(|(chunk, block)| {
            ctx.check()?;
            arch.dispatch(RowsTimes { kernel: self, first: chunk * ROWS, n, x, sums: block });
            Ok(())
        })?;
        for (column, image) in out.chunks_mut(n).enumerate() {
            image.iter_mut().enumerate().for_each(|(row, slot)| *slot = by_row[row * columns + column]);
        }
        Ok(())
    }

    #[inline(always)]
    fn row_times(&self, row: usize, n: usize, x: &[f64], sums: &mut [f64]) {
        match self {
            StoredKernel::Dense(matrix) => {
                let weights = &matrix[row * n..(row + 1) * n];
                // A loop and not `for_each`, whose closure would be compiled on its own.
                for (sum, column) in sums.iter_mut().zip(x.chunks(n)) {
                    *sum = dot(weights, column);
                }
            }
            StoredKernel::Sparse { offsets, indices, values } => {
                let range = offsets[row]..offsets[row + 1];
                let (indices, values) = (&indices[range.clone()], &values[range]);
                for (sum, column) in sums.iter_mut().zip(x.chunks(n)) {
                    let terms = indices.iter().zip(values).map(|(&at, value)| value * column[at as usize]);
                    *sum = terms.sum();
                }
            }
        }
    }

    /// The whole matrix.
    pub fn to_dense(&self, n: usize) -> Array2<f64> {
        match self {
            StoredKernel::Dense(matrix) => Array2::from_shape_fn((n, n), |(i, j)| matrix[i * n + j]),
            StoredKernel::Sparse { offsets, indices, values } => {
                let mut matrix = Array2::zeros((n, n));
                for row in 0..n {
                    for at in offsets[row]..offsets[row + 1] {
                        matrix[[row, indices[at] as usize]] = values[at];
                    }
                }
                matrix
            }
        }
    }
}

/// Some consecutive rows times all columns. A type and not a closure: pulp
/// calls closures through a shim that is compiled without vector instructions.
struct RowsTimes<'a> {
    kernel: &'a StoredKernel,
    first: usize,
    n: usize,
    x: &'a [f64],
    sums: &'a mut [f64],
}

impl NullaryFnOnce for RowsTimes<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let columns = self.x.len() / self.n;
        for (offset, sums) in self.sums.chunks_mut(columns).enumerate() {
            self.kernel.row_times(self.first + offset, self.n, self.x, sums);
        }
    }
}
