//! Every matrix whose spectrum is an embedding.
//!
//! - [`centering`]: doubly centred squared distances and kernels, never formed;
//! - [`packed_centering`]: the same over the packed half of a distance matrix;
//! - [`gram`]: the covariance and the Gram matrix of centred points;
//! - [`scatter`]: the mean and the covariance in one pass;
//! - [`functions`]: kernel functions between two sets of points;
//! - [`local`]: the conditions of each neighbourhood, as a small block, and their sum;
//! - [`affinity`]: weights on a neighbourhood graph or between all pairs, from data by
//!   [`affinity_rule`] and [`affinity_graph`], from the caller by [`given_affinity`];
//! - [`affinity_components`]: their connected components; [`bandwidth`]: their width;
//! - [`laplacian`]: the Laplacian of affinities;
//! - [`diffusion`]: the random walk of a Gaussian kernel, from data by [`diffusion_kernel`];
//! - [`joint_probabilities`]: probabilities of pairs of neighbours, at a [`perplexity`].

pub mod affinity;
pub mod affinity_components;
pub mod affinity_graph;
pub mod affinity_rule;
mod bandwidth;
pub mod centering;
pub mod diffusion;
pub mod diffusion_kernel;
pub mod functions;
pub mod given_affinity;
pub mod gram;
pub mod joint_probabilities;
pub mod laplacian;
pub mod local;
pub mod packed_centering;
pub mod perplexity;
pub mod scatter;

pub use affinity::Affinity;
pub use centering::CenteredSquares;
pub use local::assemble::{Blocks, Form};
pub use local::factored::Root;
pub use packed_centering::CenteredPacked;
