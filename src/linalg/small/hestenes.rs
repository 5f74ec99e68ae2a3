//! Singular vectors of a few rows by rotating them until they are orthogonal.
//!
//! Hestenes 1958, one-sided Jacobi: the differences themselves are turned and never
//! squared into a matrix, so that a direction 10¹⁴ times shorter than another is
//! still found. Place: under `kernel::local::tangent_basis`, where squares would lose a direction
//! that is wanted. Cost: about 6 sweeps of n²/2 rotations of n rows, 8 flops an entry;
//! rows that have vanished are passed over, so that few directions are fast.

use super::jacobi::angle;
use crate::linalg::dot::product;

/// Sweeps after which it stops in any case; six or seven suffice.
const MOST_SWEEPS: usize = 30;

/// Turn the `n` rows of `rows` into orthogonal ones, longest first, and the identity
/// in `turned` (n × n) with them: afterwards rowsᵀ·turned is what rowsᵀ was before.
pub(crate) fn orthogonalize(rows: &mut [f64], n: usize, turned: &mut [f64]) {
    turned.fill(0.0);
    turned.iter_mut().step_by(n + 1).for_each(|entry| *entry = 1.0);
    let length = rows.len() / n.max(1);
    if length == 0 {
        return;
    }
    let same = f64::EPSILON * length.max(8) as f64;
    let largest = rows.chunks_exact(length).map(|row| product(row, row)).fold(0.0, f64::max);
    // What is shorter is rounding of the longest.
    let floor = f64::EPSILON * f64::EPSILON * largest;
    for _ in 0..MOST_SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let (one, two) = pair(rows, length, p, q);
                let (mut a, mut c) = (product(one, one), product(two, two));
                if a < c {
                    one.swap_with_slice(two);
                    (a, c) = (c, a);
                    let (left, right) = pair(turned, n, p, q);
                    left.swap_with_slice(right);
                }
                if c <= floor {
                    continue;
                }
                let (one, two) = pair(rows, length, p, q);
                let b = product(one, two);
                if b.abs() <= same * (a.sqrt() * c.sqrt()) {
                    continue;
                }
                still = false;
                let turn = angle(a, b, c);
                rotate(one, two, turn);
                let (left, right) = pair(turned, n, p, q);
                rotate(left, right, turn);
            }
        }
        if still {
            return;
        }
    }
}

/// Rows p < q, each `length` long.
fn pair(rows: &mut [f64], length: usize, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let (head, tail) = rows.split_at_mut(q * length);
    (&mut head[p * length..(p + 1) * length], &mut tail[..length])
}

/// One rotation of two rows.
pub(crate) fn rotate(one: &mut [f64], two: &mut [f64], (cosine, sine): (f64, f64)) {
    for (left, right) in one.iter_mut().zip(two) {
        (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::linalg::random::uniform;
    use ndarray::{Array2, ArrayView2};

    #[test]
    fn rows_become_orthogonal_whatever_their_sizes() {
        let mut stream = Ctx::new(1, 3).stream("test");
        for (n, length) in [(1, 4), (2, 9), (3, 12), (7, 7), (12, 40)] {
            for step in [1.0, 1e-3, 1e-9] {
                let before = Array2::from_shape_fn((n, length), |(row, _)| f64::powi(step, row as i32))
                    * uniform(&mut stream, n, length);
                let mut rows: Vec<f64> = before.iter().copied().collect();
                let mut turned = vec![0.0; n * n];
                orthogonalize(&mut rows, n, &mut turned);
                let turned = ArrayView2::from_shape((n, n), &turned).unwrap();
                let rows = ArrayView2::from_shape((n, length), &rows).unwrap();
                assert!((turned.dot(&turned.t()) - Array2::<f64>::eye(n)).iter().all(|e| e.abs() < 1e-13));
                let size = before.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
                assert!((turned.t().dot(&rows) - &before).iter().all(|e| e.abs() < 1e-13 * size));
                for p in 0..n {
                    let own = rows.row(p).dot(&rows.row(p)).sqrt();
                    for q in p + 1..n {
                        let other = rows.row(q).dot(&rows.row(q)).sqrt();
                        assert!(other <= own * (1.0 + 1e-12), "longest first");
                        let shared = rows.row(p).dot(&rows.row(q)).abs();
                        assert!(shared <= 1e-13 * own * other || other <= 1e-15 * size, "{shared}");
                    }
                }
            }
        }
    }
}
