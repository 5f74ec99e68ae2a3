//! Positive definite systems of a neighbourhood's size, solved in place.
//!
//! Place: under the weights of LLE. Matrices are k × k, row-major, both
//! triangles given. Cost: k³/3.

/// A pivot below this part of the largest diagonal entry is rounding.
const LEAST_PIVOT: f64 = 4.0 * f64::EPSILON;

/// Replace the lower triangle of `matrix` by its factor L, LLᵀ = matrix; false
/// when it is not positive definite to working precision.
pub(crate) fn factor(matrix: &mut [f64], n: usize) -> bool {
    let largest = (0..n).fold(0.0_f64, |most, i| most.max(matrix[i * n + i]));
    let floor = largest * LEAST_PIVOT;
    for i in 0..n {
        let (above, own) = matrix.split_at_mut(i * n);
        let own = &mut own[..=i];
        for j in 0..i {
            let other = &above[j * n..=j * n + j];
            let sum: f64 = own[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            own[j] = (own[j] - sum) / other[j];
        }
        let pivot = own[i] - own[..i].iter().map(|a| a * a).sum::<f64>();
        if pivot.is_nan() || pivot <= floor {
            return false;
        }
        own[i] = pivot.sqrt();
    }
    true
}

/// Solve LLᵀx = b, `b` becoming x.
pub(crate) fn solve(factor: &[f64], n: usize, b: &mut [f64]) {
    for i in 0..n {
        let row = &factor[i * n..i * n + i];
        let sum: f64 = row.iter().zip(&*b).map(|(a, x)| a * x).sum();
        b[i] = (b[i] - sum) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        b[i] /= factor[i * n + i];
        let x = b[i];
        let row = &factor[i * n..i * n + i];
        b[..i].iter_mut().zip(row).for_each(|(entry, a)| *entry -= a * x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::linalg::random::uniform;

    #[test]
    fn solves_what_is_definite_and_refuses_what_is_not() {
        let mut stream = Ctx::new(1, 1).stream("test");
        for n in [1, 2, 5, 17] {
            let half = uniform(&mut stream, n, n + 2);
            let matrix = half.dot(&half.t());
            let x = uniform(&mut stream, n, 1);
            let mut b: Vec<f64> = matrix.dot(&x).iter().copied().collect();
            let mut lower: Vec<f64> = matrix.iter().copied().collect();
            assert!(factor(&mut lower, n));
            solve(&lower, n, &mut b);
            assert!(b.iter().zip(&x).all(|(found, truth)| (found - truth).abs() < 1e-8), "n = {n}");
        }
        assert!(!factor(&mut [1.0, 1.0, 1.0, 1.0], 2));
        assert!(!factor(&mut [0.0], 1));
        assert!(!factor(&mut [f64::NAN], 1));
    }
}
