//! Where do new points go? Each way of extending an embedding beyond its
//! training rows is a file here.

pub mod coincident;
pub mod eigenfunction;
pub mod fastmap;
pub mod kernel_map;
pub mod linear;
pub mod local_kernel;
pub mod nystrom;
mod stored_kernel;
pub mod triangulation;

pub use eigenfunction::Eigenfunction;
pub use fastmap::FastMap;
pub use kernel_map::{FittedKernelMap, KernelMap};
pub use linear::LinearMap;
pub use nystrom::Nystrom;
pub use triangulation::Triangulation;
