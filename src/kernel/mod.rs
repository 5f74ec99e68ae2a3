//! Every matrix whose spectrum is an embedding.
//!
//! - [`center`]: doubly centred squared distances and kernels, never formed;
//! - [`packed_center`]: the same over the packed half of a distance matrix;
//! - [`constant`]: the constant that makes distances Euclidean;
//! - [`points`]: the covariance and the Gram matrix of centred points;
//! - [`covariance`]: principal axes;
//! - [`functions`]: kernel functions between two sets of points;
//! - [`sparse`]: sparse symmetric matrices that are held;
//! - [`local`]: what each neighbourhood says, as a small block;
//! - [`alignment`]: local blocks added up to one sparse matrix;
//! - [`root`]: the same sum by its root;
//! - [`affinity`]: weights on a neighbourhood graph or between all pairs;
//! - [`given_affinity`]: those that a caller brings;
//! - [`laplacian`]: the normalised Laplacian of affinities;
//! - [`markov`]: the random walk of a Gaussian kernel, its density taken out.

pub mod affinity;
pub mod affinity_components;
pub mod affinity_graph;
pub mod affinity_rule;
pub mod affinity_spread;
pub mod centering;
pub mod diffusion;
pub mod diffusion_kernel;
pub mod functions;
pub mod given_affinity;
pub mod gram;
pub mod laplacian;
pub mod local;
pub mod packed_centering;

pub use affinity::Affinity;
pub use centering::CenteredSquares;
pub use local::assemble::{Blocks, Form, assemble};
pub use local::factored::Root;
pub use packed_centering::CenteredPacked;
