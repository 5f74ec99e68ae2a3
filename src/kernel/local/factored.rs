//! A matrix M = RᵀR by its root R: one sparse row for each column of each local
//! factor, for example I − W of locally linear embedding.
//!
//! Two products with R are often cheaper than one with M, and always more
//! accurate: M itself is only known up to rounding of the size of its largest
//! entries, which at a million rows is more than its smallest eigenvalues, while
//! ‖Rv‖² is not (the conditioning of R is the square root of that of M).
//! Place: beside [`super::assemble`]. Cost: entries of R, twice.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::assemble::{Blocks, Form};
use crate::context::Ctx;
use crate::error::Result;
use crate::input::Csr;
use crate::linalg::SymmetricOperator;
use crate::linalg::sparse::{Combining, RowsRef, combine_rows, product};

/// R and its transpose, in compressed rows.
#[derive(Debug, Clone)]
pub struct Root {
    down: Csr,
    up: Csr,
}

impl Root {
    /// The root of a sum of blocks over `n` rows; blocks that are complements have none.
    pub fn of(n: usize, blocks: &Blocks) -> Option<Root> {
        if blocks.form == Form::Complement {
            return None;
        }
        let mut down = Csr { cols: n, offsets: vec![0], indices: vec![], values: vec![] };
        for index in 0..blocks.len() {
            let (members, factor) = blocks.block(index);
            let width = factor.len() / members.len().max(1);
            for column in 0..width {
                down.indices.extend_from_slice(members);
                down.values.extend(factor.iter().skip(column).step_by(width));
                down.offsets.push(down.indices.len());
            }
        }
        let up = transposed(&down);
        Some(Root { down, up })
    }
}

fn transposed(matrix: &Csr) -> Csr {
    let mut offsets = vec![0usize; matrix.cols + 1];
    matrix.indices.iter().for_each(|&column| offsets[column as usize + 1] += 1);
    for column in 0..matrix.cols {
        offsets[column + 1] += offsets[column];
    }
    let mut next = offsets.clone();
    let (mut indices, mut values) = (vec![0; matrix.indices.len()], vec![0.0; matrix.values.len()]);
    for row in 0..matrix.rows() {
        let (columns, entries) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(entries) {
            let slot = &mut next[column as usize];
            (indices[*slot], values[*slot]) = (row as u32, value);
            *slot += 1;
        }
    }
    Csr { cols: matrix.rows(), offsets, indices, values }
}

fn rows(matrix: &Csr) -> RowsRef<'_> {
    RowsRef { offsets: &matrix.offsets, columns: &matrix.indices, values: &matrix.values }
}

impl Combining for Root {
    fn combine(&self, x: &Array2<f64>, y: &mut Array2<f64>, factors: [f64; 3], ctx: &Ctx) -> Result<()> {
        let mut image = Array2::zeros((self.down.rows(), x.ncols()));
        combine_rows(rows(&self.down), x, x, &mut image, [1.0, 0.0, 0.0], ctx)?;
        combine_rows(rows(&self.up), &image, x, y, factors, ctx)
    }

    fn entries(&self) -> usize {
        2 * self.down.indices.len()
    }
}

impl SymmetricOperator for Root {
    fn dim(&self) -> usize {
        self.down.cols
    }

    fn apply(&self, x: ArrayView2<f64>, y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        product(self, x, y, ctx)
    }
}
