//! The seam between ndarray and faer, and the few dense routines every stage
//! shares.
//!
//! faer is called with `Par::Seq` only: its parallel kernels have open reports
//! of wrong results and their bits depend on the number of threads. Parallel
//! work happens here, over fixed chunks of rows with partial sums added in
//! chunk order, so that a result has the same bits on any number of threads.
//!
//! - [`convolution`]: of a grid, by [`fft`];
//! - [`dense`]: eigenvalues and singular values of small dense matrices;
//! - [`eigen`]: those of large ones, on all threads and to be interrupted;
//! - [`gmres`]: linear systems by products with an operator;
//! - [`tall`]: products of matrices with many rows and few columns;
//! - [`product`]: general matrix products, parallel over row tiles;
//! - [`tile`]: the register tiles under the matrix-free operators and kernels;
//! - [`random`]: reproducible random blocks.

pub(crate) mod cholesky;
pub mod convolution;
pub(crate) mod csr;
pub mod dense;
pub(crate) mod dot;
pub mod eigen;
pub(crate) mod exp;
pub mod fft;
pub mod gmres;
pub(crate) mod gram;
pub mod operator;
pub mod packed;
mod pages;
pub mod product;
pub mod random;
pub(crate) mod small;
pub mod sparse;
pub mod tall;
pub mod tile;

#[cfg(test)]
pub use dense::thin_svd;
pub use dense::{power_of_two_scale, pseudo_inverse_times, symmetric_eigen};
pub(crate) use dot::{PARTS, dot};
pub use operator::SymmetricOperator;
pub use product::{matmul, matmul_transposed};
pub use sparse::{Combining, SparseSymmetric};
pub use tall::{TallRef, gram, multiply, standard};
