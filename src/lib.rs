//! Manifold learning: points (or distances, or a graph) in, the few
//! coordinates that explain them out.
//!
//! ```text
//! input ──► neighbors ──► graph ──► kernel ──► spectrum ──► embedding ──► extend (new points)
//! ```
//!
//! Every stage is a module and every module a door: a caller may enter with
//! something precomputed. [`methods`] are recipes over the stages, [`pipeline`]
//! is the frame they run in, and [`Ctx`] travels along with threads,
//! cancellation, progress and randomness.

mod compressed;
pub mod context;
pub mod embedding;
pub mod error;
pub mod extend;
pub mod graph;
pub mod input;
pub mod kernel;
pub mod landmarks;
pub mod linalg;
pub mod methods;
pub mod neighbors;
pub mod params;
pub mod pipeline;
pub mod quality;
pub mod spectrum;
pub mod stages;

#[cfg(feature = "python")]
mod python;

pub use context::Ctx;
pub use error::{Error, Result};
pub use pipeline::{Data, Model, Recipe, transform};

/// The Rust code of the README runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
