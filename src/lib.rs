//! Manifold learning: points (or distances, or a graph) in, the few
//! coordinates that explain them out.
pub mod context;
pub mod error;
pub mod graph;
pub mod input;
pub mod kernel;
pub mod linalg;
pub mod neighbors;
pub mod params;
pub mod spectrum;

pub use context::Ctx;
pub use error::{Error, Result};
