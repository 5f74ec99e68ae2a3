//! Eigenvectors of very small symmetric matrices by cyclic rotations.
//!
//! Jacobi 1846; the order of rotations is that of the rows. Small eigenvalues of
//! a positive semi-definite matrix come out with high relative accuracy. Place:
//! under [`super::eigen`], which takes it for a few dimensions. Cost: about
//! 5 sweeps of n²/2 rotations, 6n each.

use super::hestenes::rotate as rotate_rows;

/// Sweeps after which it stops in any case; five or six suffice.
const MOST_SWEEPS: usize = 30;

/// Diagonalise `matrix` (row-major, both triangles): eigenvalues end on its
/// diagonal, eigenvectors in the rows of `vectors`, unless that is empty.
pub(crate) fn rotate(matrix: &mut [f64], n: usize, vectors: &mut [f64]) {
    vectors.fill(0.0);
    vectors.iter_mut().step_by(n + 1).for_each(|entry| *entry = 1.0);
    let largest = matrix.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
    let floor = largest * f64::EPSILON * 1e-3;
    for _ in 0..MOST_SWEEPS {
        let mut still = true;
        for p in 0..n {
            for q in p + 1..n {
                let off = matrix[p * n + q];
                let size = (matrix[p * n + p].abs() * matrix[q * n + q].abs()).sqrt();
                if off.abs() <= floor.max(f64::EPSILON * size) {
                    continue;
                }
                still = false;
                let (cosine, sine) = angle(matrix[p * n + p], off, matrix[q * n + q]);
                turn(matrix, n, (p, q), (cosine, sine));
                turn_rows(vectors, n, (p, q), (cosine, sine));
            }
        }
        if still {
            return;
        }
    }
}

/// Cosine and sine of the rotation that makes [[a, b], [b, c]] diagonal.
pub(crate) fn angle(a: f64, b: f64, c: f64) -> (f64, f64) {
    let ratio = (c - a) / (2.0 * b);
    let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    (cosine, tangent * cosine)
}

/// The rotation in the plane of rows and columns p < q, from both sides.
fn turn(matrix: &mut [f64], n: usize, (p, q): (usize, usize), (cosine, sine): (f64, f64)) {
    let (a, b, c) = (matrix[p * n + p], matrix[p * n + q], matrix[q * n + q]);
    let shift = sine / cosine * b;
    for k in 0..n {
        if k == p || k == q {
            continue;
        }
        let (left, right) = (matrix[k * n + p], matrix[k * n + q]);
        let (one, two) = (cosine * left - sine * right, sine * left + cosine * right);
        matrix[k * n + p] = one;
        matrix[p * n + k] = one;
        matrix[k * n + q] = two;
        matrix[q * n + k] = two;
    }
    matrix[p * n + p] = a - shift;
    matrix[q * n + q] = c + shift;
    matrix[p * n + q] = 0.0;
    matrix[q * n + p] = 0.0;
}

fn turn_rows(vectors: &mut [f64], n: usize, (p, q): (usize, usize), (cosine, sine): (f64, f64)) {
    if vectors.is_empty() {
        return;
    }
    let (head, tail) = vectors.split_at_mut(q * n);
    rotate_rows(&mut head[p * n..(p + 1) * n], &mut tail[..n], (cosine, sine));
}
