//! Coordinates of new rows: each formula that extends an embedding beyond its
//! training rows is a file here.

pub mod affinities;
pub mod barycenter;
pub mod centered;
pub mod descent;
pub mod distinct;
pub mod fastmap;
pub mod kernel_map;
mod known_affinities;
pub mod landmark_geodesics;
pub mod linear;
pub mod neighbor_map;
pub mod nystrom;
pub mod stress_map;
pub mod triangulation;

pub use centered::Eigenfunction;
pub use fastmap::FastMap;
pub use kernel_map::{FittedKernelMap, KernelMap};
pub use linear::LinearMap;
pub use neighbor_map::NeighborMap;
pub use nystrom::Nystrom;
pub use stress_map::StressMap;
pub use triangulation::Triangulation;
