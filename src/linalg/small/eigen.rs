//! Eigenpairs of one neighbourhood's matrix, largest first.
//!
//! Place: between the local matrices and what is made of their leading
//! directions. Which of two algorithms is used depends on the size alone; tests
//! compare them. Cost: see [`super::jacobi`] and [`super::tridiagonal`].

use super::{jacobi, tridiagonal};

/// Up to this size rotations are faster than reflections.
const FEW: usize = 4;

/// Room for one eigenproblem after the other.
#[derive(Debug, Default)]
pub(crate) struct Eigen {
    /// Eigenvalues, largest first.
    pub values: Vec<f64>,
    /// Eigenvectors in rows, in the order of the values; stale if not asked for.
    pub vectors: Vec<f64>,
    beside: Vec<f64>,
}

impl Eigen {
    /// Decompose `matrix` (n × n row-major, symmetric), which is destroyed.
    pub(crate) fn decompose(&mut self, matrix: &mut [f64], n: usize, want_vectors: bool) {
        self.values.resize(n, 0.0);
        self.vectors.resize(n * n, 0.0);
        if n <= FEW {
            let vectors = if want_vectors { &mut self.vectors[..] } else { &mut [][..] };
            jacobi::rotate(matrix, n, vectors);
            (0..n).for_each(|i| self.values[i] = matrix[i * n + i]);
        } else {
            self.beside.resize(n, 0.0);
            self.vectors.copy_from_slice(matrix);
            tridiagonal::decompose(&mut self.vectors, &mut self.values, &mut self.beside, want_vectors);
        }
        self.sort(n, want_vectors);
    }

    fn sort(&mut self, n: usize, want_vectors: bool) {
        for i in 0..n {
            let mut largest = i;
            for j in i + 1..n {
                if self.values[j] > self.values[largest] {
                    largest = j;
                }
            }
            if largest == i {
                continue;
            }
            self.values.swap(i, largest);
            if want_vectors {
                let (head, tail) = self.vectors.split_at_mut(largest * n);
                head[i * n..(i + 1) * n].swap_with_slice(&mut tail[..n]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::linalg::random::uniform;
    use crate::linalg::symmetric_eigen;
    use ndarray::{Array2, ArrayView2};

    fn check(matrix: &Array2<f64>, values: &[f64], vectors: &[f64]) {
        let n = matrix.nrows();
        let (truth, _) = symmetric_eigen(matrix.view()).unwrap();
        let size = truth.iter().fold(1e-300_f64, |most, value| most.max(value.abs()));
        for (found, expected) in values.iter().zip(truth.iter().rev()) {
            assert!((found - expected).abs() < 1e-13 * size, "{found} {expected}");
        }
        let rows = ArrayView2::from_shape((n, n), vectors).unwrap();
        let diagonal = rows.dot(matrix).dot(&rows.t());
        assert!((rows.dot(&rows.t()) - Array2::<f64>::eye(n)).iter().all(|e| e.abs() < 1e-13));
        for ((i, j), entry) in diagonal.indexed_iter() {
            let expected = if i == j { values[i] } else { 0.0 };
            assert!((entry - expected).abs() < 1e-12 * size, "({i}, {j}): {entry}");
        }
    }

    #[test]
    fn both_ways_agree_with_the_dense_decomposition() {
        let mut stream = Ctx::new(1, 2).stream("test");
        let mut eigen = Eigen::default();
        for n in [1, 2, 3, 4, 5, 6, 10, 31] {
            for rank in [0, 1, n / 2, n, 2 * n] {
                let half = uniform(&mut stream, n, rank);
                let matrix = half.dot(&half.t());
                let flat: Vec<f64> = matrix.iter().copied().collect();
                eigen.decompose(&mut flat.clone(), n, true);
                check(&matrix, &eigen.values, &eigen.vectors);
                let with = eigen.values.clone();
                eigen.decompose(&mut flat.clone(), n, false);
                assert_eq!(with, eigen.values, "the same values without vectors");

                let (mut turned, mut vectors) = (flat.clone(), vec![0.0; n * n]);
                jacobi::rotate(&mut turned, n, &mut vectors);
                eigen.values.copy_from_slice(&(0..n).map(|i| turned[i * n + i]).collect::<Vec<_>>());
                eigen.vectors.copy_from_slice(&vectors);
                eigen.sort(n, true);
                check(&matrix, &eigen.values, &eigen.vectors);

                let (mut reduced, mut values, mut beside) = (flat, vec![0.0; n], vec![0.0; n]);
                tridiagonal::decompose(&mut reduced, &mut values, &mut beside, true);
                eigen.values.copy_from_slice(&values);
                eigen.vectors.copy_from_slice(&reduced);
                eigen.sort(n, true);
                check(&matrix, &eigen.values, &eigen.vectors);
            }
        }
    }
}
