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
pub mod alignment;
pub mod center;
pub mod constant;
pub mod covariance;
pub mod functions;
pub mod given_affinity;
pub mod laplacian;
pub mod local;
pub mod markov;
pub mod packed;
pub mod packed_center;
pub mod points;
pub mod root;
pub mod sparse;

pub use affinity::{Affinity, Heat};
pub use alignment::{Blocks, Form, assemble};
pub use center::{CenteredKernel, CenteredSquares, Centering, SquareMeans};
pub use constant::smallest_constant;
pub use covariance::{Pca, PcaRoute, pca, pca_about};
pub use functions::{Kernel, kernel_matrix};
pub use laplacian::{NormalizedAffinity, normalized_laplacian};
pub use packed_center::CenteredPacked;
pub use points::{CenteredPoints, Side};
pub use root::Root;
pub use sparse::{Combining, SparseSymmetric};
