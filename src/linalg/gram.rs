//! Inner products between rows in single precision: what decides which rows are worth
//! comparing exactly, never what is reported. One sequential faer product. Cost O(m·n·k).

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Inner products of each row of `left` with each row of `right`, row-major; both are
/// row-major with `dims` columns.
pub fn inner_products(left: &[f32], right: &[f32], dims: usize, products: &mut [f32]) {
    let (m, n) = (left.len() / dims, right.len() / dims);
    let left = MatRef::from_row_major_slice(left, m, dims);
    let right = MatRef::from_row_major_slice(right, n, dims);
    let products = MatMut::from_row_major_slice_mut(products, m, n);
    matmul(products, Accum::Replace, left, right.transpose(), 1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_plain_sums() {
        let number = |i: usize| ((i * 37 + 11) % 101) as f32 / 64.0 - 0.5;
        let left: Vec<f32> = (0..5 * 7).map(number).collect();
        let right: Vec<f32> = (0..9 * 7).map(|i| number(i + 3)).collect();
        let mut found = vec![0.0; 45];
        inner_products(&left, &right, 7, &mut found);
        for (at, product) in found.iter().enumerate() {
            let (i, j) = (at / 9, at % 9);
            let plain: f32 = (0..7).map(|d| left[i * 7 + d] * right[j * 7 + d]).sum();
            assert!((plain - product).abs() < 1e-5);
        }
    }
}
