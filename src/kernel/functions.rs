//! Kernel matrices k(x, y) between two sets of points: linear, polynomial,
//! sigmoid, cosine, Gaussian (rbf) and Laplacian, with scikit-learn's
//! definitions and defaults.
//!
//! Place: points in, a dense matrix out, for kernel PCA and the out-of-sample
//! maps. The value of a pair is one sequential sum over the features, so it does
//! not depend on blocking, on threads, on which other rows are asked for, nor on
//! whether the rows are sparse; k(x, x) is exactly 1 where it should be. Cost
//! O(n·m·D); for sparse pairs O(nnz(x) + nnz(y)) each.

use ndarray::Array2;
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Csr, PointsRef};
use crate::linalg::exp::exp_in_place;
use crate::linalg::tall::mirror_in_parallel;
use crate::linalg::tile::{AbsoluteDifference, Product, SquaredDifference, Term, rows_by_block};

/// Rows of the result per parallel task.
const ROWS: usize = 64;
/// Columns of the result per tile: one SIMD lane each.
const LANES: usize = 8;
/// Rows of the result per tile.
const TILE: usize = 4;

/// A kernel function; `gamma: None` stands for 1 / (number of features).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Kernel {
    /// x·y
    Linear,
    /// (γ x·y + c)^degree
    Poly {
        /// γ
        gamma: Option<f64>,
        /// c (scikit-learn: 1)
        coef0: f64,
        /// degree (scikit-learn: 3)
        degree: f64,
    },
    /// tanh(γ x·y + c)
    Sigmoid {
        /// γ
        gamma: Option<f64>,
        /// c (scikit-learn: 1)
        coef0: f64,
    },
    /// exp(−γ ‖x − y‖²)
    Rbf {
        /// γ
        gamma: Option<f64>,
    },
    /// exp(−γ ‖x − y‖₁)
    Laplacian {
        /// γ
        gamma: Option<f64>,
    },
    /// x·y / (‖x‖ ‖y‖), 0 when one of them is 0
    Cosine,
}

/// What is summed over the features of a pair.
#[derive(Clone, Copy, PartialEq)]
enum Sum {
    Products,
    Squares,
    Magnitudes,
}

impl Kernel {
    fn sum(self) -> Sum {
        match self {
            Kernel::Rbf { .. } => Sum::Squares,
            Kernel::Laplacian { .. } => Sum::Magnitudes,
            _ => Sum::Products,
        }
    }

    /// The kernel's value from the pair's sum and the two rows' own x·x; of the
    /// exponential kernels its logarithm.
    #[inline]
    fn finish(self, sum: f64, gamma: f64, own: (f64, f64)) -> f64 {
        match self {
            Kernel::Linear => sum,
            Kernel::Poly { coef0, degree, .. } => power(gamma * sum + coef0, degree),
            Kernel::Sigmoid { coef0, .. } => libm::tanh(gamma * sum + coef0),
            // Their exponents; a whole row is then raised at once.
            Kernel::Rbf { .. } | Kernel::Laplacian { .. } => -gamma * sum,
            Kernel::Cosine => cosine(sum, own),
        }
    }

    fn gamma(self, features: usize) -> Result<f64> {
        let given = match self {
            Kernel::Poly { gamma, .. } | Kernel::Sigmoid { gamma, .. } => gamma,
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } => gamma,
            Kernel::Linear | Kernel::Cosine => None,
        };
        match given {
            Some(gamma) if !gamma.is_finite() => {
                Err(Error::param("gamma", format!("must be a finite number, got {gamma}")))
            }
            Some(gamma) => Ok(gamma),
            None => Ok(1.0 / features.max(1) as f64),
        }
    }
}

fn power(base: f64, degree: f64) -> f64 {
    // Whole degrees by repeated products: exact for small ones.
    if degree.fract() == 0.0 && degree.abs() <= 16.0 {
        base.powi(degree as i32)
    } else {
        libm::pow(base, degree)
    }
}

fn cosine(sum: f64, (x, y): (f64, f64)) -> f64 {
    if x == 0.0 || y == 0.0 {
        return 0.0;
    }
    // sqrt(s·s) is exactly s, so equal rows give exactly 1.
    let both = (x * y).sqrt();
    if both.is_normal() { sum / both } else { sum / x.sqrt() / y.sqrt() }
}

/// The matrix of `kernel` between the rows of `x` and the rows of `y`.
pub fn kernel_matrix<'a>(
    x: PointsRef<'a>,
    y: PointsRef<'a>,
    kernel: Kernel,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let (n, m, d) = (x.rows(), y.rows(), x.cols());
    if y.cols() != d {
        return Err(Error::input(format!("the points have {d} features, the others {}", y.cols())));
    }
    let gamma = kernel.gamma(d)?;
    ctx.reserve((n * m * 8) as u64, "the kernel matrix", "use fewer points")?;
    let same = is_same(x, y);
    let mut matrix = Array2::<f64>::zeros((n, m));
    if n == 0 || m == 0 {
        return Ok(matrix);
    }
    ctx.install(|| {
        let own = match kernel {
            Kernel::Cosine => (own_products(x), own_products(y)),
            _ => (vec![0.0; n], vec![0.0; m]),
        };
        let sums = Sums::new(x, y, kernel.sum());
        ctx.stage("kernel matrix", n);
        // proof: `zeros` is row-major.
        let target = matrix.as_slice_mut().expect("row-major");
        target.par_chunks_mut(ROWS * m).enumerate().try_for_each(|(chunk, out)| {
            ctx.check()?;
            // Of a set with itself only what is on and below the diagonal.
            let known = if same { m.min((chunk + 1) * ROWS) } else { m };
            sums.fill(chunk * ROWS, known, out);
            ctx.check()?;
            for (i, row) in (chunk * ROWS..).zip(out.chunks_exact_mut(m)) {
                let row = &mut row[..known];
                for (value, &other) in row.iter_mut().zip(&own.1) {
                    *value = kernel.finish(*value, gamma, (own.0[i], other));
                }
                if kernel.sum() != Sum::Products {
                    exp_in_place(row);
                }
                if let Some(j) = row.iter().position(|value| !value.is_finite()) {
                    return Err(not_finite(i, j));
                }
            }
            ctx.advance(out.len() / m);
            Ok(())
        })?;
        if same {
            mirror_in_parallel(target, m, ctx)?;
        }
        Ok(())
    })?;
    Ok(matrix)
}

/// Whether both are one and the same set in memory: pairs are then symmetric to the bit.
fn is_same(x: PointsRef, y: PointsRef) -> bool {
    match (x, y) {
        (PointsRef::Dense(x), PointsRef::Dense(y)) => {
            x.as_ptr() == y.as_ptr() && x.dim() == y.dim() && x.strides() == y.strides()
        }
        (PointsRef::Sparse(x), PointsRef::Sparse(y)) => std::ptr::eq(x, y),
        _ => false,
    }
}

fn not_finite(i: usize, j: usize) -> Error {
    Error::input(format!(
        "the kernel of rows {i} and {j} is not a finite number; rescale the points or change the kernel's \
         parameters (a fractional `degree` needs gamma·x·y + coef0 ≥ 0)"
    ))
}

/// x·x of every row, summed in the order of the features.
fn own_products(points: PointsRef) -> Vec<f64> {
    let square = |sum: f64, value: &f64| sum + value * value;
    match points {
        PointsRef::Dense(matrix) => {
            matrix.rows().into_iter().map(|row| row.iter().fold(0.0, square)).collect()
        }
        PointsRef::Sparse(matrix) => {
            (0..matrix.rows()).map(|i| matrix.row(i).1.iter().fold(0.0, square)).collect()
        }
    }
}

/// The sums of all pairs, ready to be filled in chunks of rows.
enum Sums<'a> {
    /// `y` packed into lanes: `packed[group][feature][lane]`.
    Dense { x: PointsRef<'a>, packed: Vec<Vec<[f64; LANES]>>, sum: Sum, others: usize },
    /// Both sets sparse.
    Sparse { x: &'a Csr, y: &'a Csr, sum: Sum },
}

impl<'a> Sums<'a> {
    fn new(x: PointsRef<'a>, y: PointsRef<'a>, sum: Sum) -> Self {
        if let (PointsRef::Sparse(x), PointsRef::Sparse(y)) = (x, y) {
            return Sums::Sparse { x, y, sum };
        }
        let others = y.rows();
        let packed = (0..others.div_ceil(LANES))
            .into_par_iter()
            .map(|group| {
                let mut lanes = vec![[0.0; LANES]; y.cols()];
                for lane in 0..LANES.min(others - group * LANES) {
                    for_each_value(y, group * LANES + lane, |t, value| lanes[t][lane] = value);
                }
                lanes
            })
            .collect();
        Sums::Dense { x, packed, sum, others }
    }

    /// The sums of rows `first..` against the first `known` of all others, into row-major `out`.
    fn fill(&self, first: usize, known: usize, out: &mut [f64]) {
        match self {
            Sums::Sparse { x, y, sum } => {
                let m = y.rows();
                for (i, row) in (first..).zip(out.chunks_exact_mut(m)) {
                    for (j, value) in row.iter_mut().take(known).enumerate() {
                        *value = sparse_pair(x.row(i), y.row(j), *sum);
                    }
                }
            }
            Sums::Dense { x, packed, sum, others } => {
                let mut rows = Array2::zeros((out.len() / others, x.cols()));
                for (i, mut row) in rows.rows_mut().into_iter().enumerate() {
                    for_each_value(*x, first + i, |t, value| row[t] = value);
                }
                let arch = pulp::Arch::new();
                // proof: `zeros` is row-major.
                let rows = rows.as_slice().expect("row-major");
                let (d, others) = (x.cols(), *others);
                let packed = &packed[..known.div_ceil(LANES)];
                match sum {
                    Sum::Products => arch.dispatch(Tiles { rows, d, packed, out, others, term: Product }),
                    Sum::Squares => {
                        arch.dispatch(Tiles { rows, d, packed, out, others, term: SquaredDifference })
                    }
                    Sum::Magnitudes => {
                        arch.dispatch(Tiles { rows, d, packed, out, others, term: AbsoluteDifference });
                    }
                }
            }
        }
    }
}

/// Every stored value of a row with its column.
fn for_each_value(points: PointsRef, row: usize, mut f: impl FnMut(usize, f64)) {
    match points {
        PointsRef::Dense(matrix) => matrix.row(row).iter().enumerate().for_each(|(t, value)| f(t, *value)),
        PointsRef::Sparse(matrix) => {
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).for_each(|(&t, value)| f(t as usize, *value));
        }
    }
}

/// A chunk of dense rows against all packed others.
struct Tiles<'a, T> {
    rows: &'a [f64],
    d: usize,
    packed: &'a [Vec<[f64; LANES]>],
    out: &'a mut [f64],
    others: usize,
    /// Chooses the kind of sum; carries nothing.
    #[allow(dead_code)]
    term: T,
}

impl<T: Term> pulp::WithSimd for Tiles<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let (d, others) = (self.d, self.others);
        let count = self.out.len() / others;
        for (group, lanes) in self.packed.iter().enumerate() {
            let width = LANES.min(others - group * LANES);
            for first in (0..count).step_by(TILE) {
                // The last tile repeats its last row; the repetitions are not written.
                let tile = std::array::from_fn(|r| {
                    let row = (first + r).min(count - 1);
                    &self.rows[row * d..(row + 1) * d]
                });
                let mut sums = [[0.0; LANES]; TILE];
                rows_by_block::<T, TILE, LANES>(tile, lanes, &mut sums);
                for (row, sum) in (first..count).zip(sums) {
                    let start = row * others + group * LANES;
                    self.out[start..start + width].copy_from_slice(&sum[..width]);
                }
            }
        }
    }
}

/// The sum over the union of two sparse rows in the order of the features: the
/// same additions, in the same order, as the dense sum (zeros add nothing).
fn sparse_pair(x: (&[u32], &[f64]), y: (&[u32], &[f64]), sum: Sum) -> f64 {
    let term = |a: f64, b: f64| match sum {
        Sum::Products => a * b,
        Sum::Squares => (a - b) * (a - b),
        Sum::Magnitudes => (a - b).abs(),
    };
    let (mut i, mut j, mut total) = (0, 0, 0.0);
    while i < x.0.len() || j < y.0.len() {
        let left = x.0.get(i).copied().unwrap_or(u32::MAX);
        let right = y.0.get(j).copied().unwrap_or(u32::MAX);
        let a = if i < x.0.len() && left <= right { x.1[i] } else { 0.0 };
        let b = if j < y.0.len() && right <= left { y.1[j] } else { 0.0 };
        total += term(a, b);
        i += usize::from(i < x.0.len() && left <= right);
        j += usize::from(j < y.0.len() && right <= left);
    }
    total
}
