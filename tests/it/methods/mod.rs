//! Methods by family.

mod isomap;
mod laplacian;
mod locally_linear_embedding;
