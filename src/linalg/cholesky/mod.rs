//! Sparse Cholesky factors: an elimination order, then the factor by fronts.
//!
//! - [`elimination`]: the order of elimination and the fill it causes;
//! - [`dissection`]: orders by nested dissection, for large graphs;
//! - [`multifrontal`]: the factor and solves with it.

mod dissection;
pub(crate) mod elimination;
pub(crate) mod multifrontal;
