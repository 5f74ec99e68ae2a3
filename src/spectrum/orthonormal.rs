//! Orthonormal bases of tall blocks that may be rank deficient.
//!
//! Gram matrix, eigenvectors, rotate, rescale (Stathopoulos & Wu, "A block
//! orthogonalization procedure with constant synchronization requirements",
//! SISC 2002), repeated until the block is orthonormal to working precision.
//! The first rotation is done without rescaling: it moves a dependent direction
//! into a column of its own, whose true size then decides whether it is dropped.
//! Cost per round O(n·b²) plus O(n·m·b) against m earlier vectors.

use ndarray::{Array2, s};

use crate::error::Result;
use crate::linalg::{TallRef, gram, multiply, standard, symmetric_eigen};

/// Rounds after which the block is taken as it is; three suffice in practice.
const ROUNDS: usize = 6;

/// W ← W − V·(VᵀW); returns VᵀW.
pub(super) fn project(v: TallRef, w: &mut Array2<f64>) -> Array2<f64> {
    let coefficients = gram(v, tall(w));
    let width = w.ncols();
    // proof: blocks here are built row-major and never transposed.
    multiply(v, coefficients.view(), -1.0, true, w.as_slice_mut().expect("row-major"), width);
    coefficients
}

/// A row-major array as a tall matrix.
pub(super) fn tall(block: &Array2<f64>) -> TallRef<'_> {
    // proof: blocks here are built row-major and never transposed.
    TallRef::new(block.as_slice().expect("row-major"), block.nrows(), block.ncols(), block.ncols())
}

/// An orthonormal basis of the columns of `w`, orthogonal to the orthonormal
/// columns of `v`. Directions whose size is at most `floor` are dropped, so the
/// result may have fewer columns, down to none.
pub(super) fn orthonormalise(v: TallRef, w: Array2<f64>, floor: f64) -> Result<Array2<f64>> {
    let (_, rotation) = symmetric_eigen(gram(tall(&w), tall(&w)).view())?;
    let mut w = rotate(&w, &rotation);
    let sizes = norms(&w);
    // Largest first, so that what is kept leads.
    let kept: Vec<usize> = (0..w.ncols()).rev().filter(|&j| sizes[j] > floor).collect();
    let mut shape = Array2::zeros((w.ncols(), kept.len()));
    for (column, &j) in kept.iter().enumerate() {
        shape[[j, column]] = 1.0 / sizes[j];
    }
    w = rotate(&w, &shape);
    for _ in 0..ROUNDS {
        if w.ncols() == 0 {
            return Ok(w);
        }
        let overlap = if v.cols() == 0 { 0.0 } else { largest(&project(v, &mut w)) };
        let inner = gram(tall(&w), tall(&w));
        let (values, vectors) = symmetric_eigen(inner.view())?;
        // What is left of a unit column after projection: noise when tiny.
        let alive: Vec<usize> = (0..values.len()).rev().filter(|&j| values[j] > 1e-12).collect();
        let mut shape = Array2::zeros((w.ncols(), alive.len()));
        for (column, &j) in alive.iter().enumerate() {
            let factor = 1.0 / values[j].sqrt();
            shape.column_mut(column).assign(&(&vectors.column(j) * factor));
        }
        w = rotate(&w, &shape);
        let clean = alive.len() == values.len()
            && overlap < 1e-10
            && values[0] > 0.5
            && values[values.len() - 1] < 2.0;
        if clean {
            break;
        }
    }
    Ok(w)
}

/// An orthonormal basis of the columns of `block`; dependent columns (relative
/// size below 1e-14) are dropped.
pub fn orthonormal_columns(block: &Array2<f64>) -> Result<Array2<f64>> {
    let scale = crate::linalg::power_of_two_scale(block.iter().copied())
        .ok_or_else(|| crate::Error::input("vectors to orthonormalise contain NaN or infinite entries"))?;
    let scaled = block.as_standard_layout().mapv(|value| value * scale);
    let floor = 1e-14 * norms(&scaled).into_iter().fold(0.0, f64::max);
    let nothing = TallRef::new(&[], block.nrows(), 0, 0);
    orthonormalise(nothing, scaled, floor)
}

fn rotate(w: &Array2<f64>, by: &Array2<f64>) -> Array2<f64> {
    let mut turned = Array2::zeros((w.nrows(), by.ncols()));
    let width = by.ncols();
    // proof: `zeros` is row-major.
    multiply(tall(w), by.slice(s![.., ..]), 1.0, false, turned.as_slice_mut().expect("row-major"), width);
    turned
}

/// Euclidean norm of each column.
pub(super) fn norms(w: &Array2<f64>) -> Vec<f64> {
    let mut squares = vec![0.0_f64; w.ncols()];
    let w = standard(w.view());
    // proof: `standard` returns a row-major matrix without gaps.
    for row in w.as_slice().expect("standard layout").chunks_exact(w.ncols().max(1)) {
        squares.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * value);
    }
    squares.into_iter().map(f64::sqrt).collect()
}

fn largest(matrix: &Array2<f64>) -> f64 {
    matrix.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::linalg::random::uniform;

    fn defect(q: &Array2<f64>) -> f64 {
        largest(&(gram(tall(q), tall(q)) - Array2::<f64>::eye(q.ncols())))
    }

    #[test]
    fn ill_conditioned_blocks_become_orthonormal_and_keep_their_span() {
        let mut stream = Ctx::new(1, 0).stream("test");
        let base = uniform(&mut stream, 300, 6);
        let mut block = base.clone();
        for j in 1..6 {
            // Column j differs from column 0 only by 10^(-2j).
            let mixed = &base.column(0) + &(&base.column(j) * 10f64.powi(-2 * j as i32));
            block.column_mut(j).assign(&mixed);
        }
        let q = orthonormal_columns(&block).unwrap();
        assert_eq!(q.ncols(), 6);
        assert!(defect(&q) < 1e-13);
        let inside = &block - &q.dot(&q.t().dot(&block));
        assert!(largest(&inside) < 1e-13);
    }

    #[test]
    fn dependent_and_zero_columns_are_dropped() {
        let mut stream = Ctx::new(1, 0).stream("test");
        let base = uniform(&mut stream, 50, 2);
        let mut block = Array2::zeros((50, 5));
        block.column_mut(0).assign(&base.column(0));
        block.column_mut(2).assign(&(&base.column(0) * -3.0));
        block.column_mut(3).assign(&base.column(1));
        let q = orthonormal_columns(&block).unwrap();
        assert_eq!(q.ncols(), 2);
        assert!(defect(&q) < 1e-13);
        assert_eq!(orthonormal_columns(&Array2::zeros((4, 2))).unwrap().ncols(), 0);
    }
}
