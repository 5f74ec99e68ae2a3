//! Dense routines for the small matrices of one neighbourhood: a few rows, in
//! scratch memory that the caller keeps, no allocation per call.

pub(crate) mod cholesky;
pub(crate) mod eigen;
pub(crate) mod hestenes;
mod jacobi;
mod tridiagonal;
