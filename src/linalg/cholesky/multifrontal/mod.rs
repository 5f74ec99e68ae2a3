//! A sparse Cholesky factor L Lᵀ = A + σI of a symmetric matrix, and solves with
//! many right-hand sides.
//!
//! Multifrontal (Duff and Reid 1983; Liu 1992): steps of an elimination order
//! are joined to supernodes, each a small dense problem (its front) that adds up
//! what its children leave over. Written here because the factorisation of the
//! linear algebra library runs on one thread and cannot be stopped: fronts of
//! different branches are independent, so branches run side by side, and large
//! fronts are cut into tiles that look at the cancel flag. The dense kernels
//! inside a tile are faer's, on one thread. The order of every sum is fixed: same
//! bits on any number of threads.
//!
//! Symbols: c columns of a supernode, r rows below them; fill Σ c·(c + r),
//! work Σ c·(c + r)².

mod factor;
mod front;
mod solve;
mod structure;
mod triangular;

pub(crate) use factor::{Entries, Factor};
pub(crate) use solve::LANES;
pub(crate) use structure::Structure;

#[cfg(test)]
mod tests;
