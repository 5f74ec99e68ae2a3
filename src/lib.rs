//! Manifold learning: the few coordinates that describe points with many features (or
//! distances between them, or a graph).
//!
//! ```text
//! input ──► neighbors ──► graph ──► kernel ──► spectrum ──► embedding ──► extend (new rows)
//! ```
//!
//! A method is a struct of parameters in [`methods`] with a builder; `fit` gives a
//! [`Fitted`] model with the embedding, its attributes, the warnings of the fit and
//! `transform` for new rows. [`Ctx`] carries threads, cancellation, progress, the seed
//! and a memory limit. [`stages`] has single steps as functions, [`quality`] judges maps,
//! and [`choices`] has the values that parameters take.
//!
//! ```
//! use planish::ndarray::Array2;
//! use planish::{Ctx, methods::Isomap};
//!
//! let arc = Array2::from_shape_fn((100, 2), |(i, axis)| {
//!     let t = i as f64 / 30.0;
//!     if axis == 0 { t.cos() } else { t.sin() }
//! });
//! let ctx = Ctx::default(); // all cores, seed 0
//! let isomap = Isomap::default().n_neighbors(5).n_components(1);
//! let fitted = isomap.fit(&arc, &ctx)?;
//! assert!(fitted.warnings().is_empty());
//! assert_eq!(fitted.transform(&arc, &ctx)?.dim(), (100, 1));
//! # planish::Result::Ok(())
//! ```
//!
//! Results have the same bits for any number of threads. The crate re-exports
//! [`ndarray`], so that its types are those of your calls. Minimum Rust version: 1.89.
//!
//! "The survey" in the documentation is B. Ghojogh, A. Ghodsi, F. Karray, M. Crowley,
//! *Multidimensional Scaling, Sammon Mapping, and Isomap: Tutorial and Survey*, 2020;
//! numbers in brackets are its equations.

mod context;
pub mod datasets;
pub mod dimension;
mod embedding;
mod error;
mod extend;
mod graph;
mod input;
mod kernel;
mod landmarks;
mod linalg;
mod memory;
mod method;
pub mod methods;
mod neighbors;
mod optimize;
mod params;
pub mod quality;
mod scale;
mod spectrum;
pub mod stages;

#[cfg(feature = "python")]
mod python;

pub use ndarray;
pub use petgraph;

pub use context::{Ctx, Progress, Snapshot, Watch};
pub use error::{Error, Result, Warning, WarningKind};
pub use extend::{FittedKernelMap, KernelMap};
pub use graph::Graph;
pub use input::{Csr, Data, Input, OwnedData, Points, PointsRef};
pub use method::{AnyMethod, AnyModel, Attribute, Fitted, ModelOf as Model, transform};

/// The values that parameters take.
pub mod choices {
    pub use crate::dimension::Coordinates;
    pub use crate::graph::geodesic::{PathMethod, Storage};
    pub use crate::graph::{Isolated, Outliers, Policy};
    pub use crate::kernel::affinity_rule::{AffinityName, Weights};
    pub use crate::kernel::local::LocalMethod;
    pub use crate::kernel::perplexity::{AffinityShape, Perplexity};
    pub use crate::landmarks::LandmarkChoice;
    pub use crate::methods::classical_mds::Origin;
    pub use crate::methods::mds::MdsLoss;
    pub use crate::methods::pca::Components;
    pub use crate::neighbors::{MetricName, NeighborsAlgorithm};
    pub use crate::optimize::disparities::{Monotone, Ties, Transformation};
    pub use crate::optimize::neighbor_embedding::{RepulsionMethod, start::TsneStart};
    pub use crate::optimize::solve::Solver;
    pub use crate::optimize::start::Start;
    pub use crate::params::Value;
    pub use crate::spectrum::{EigenSolver, SparseSolver};
}

/// The Rust code of the README runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The standard library is the independent truth of the tests.
#[cfg(test)]
#[allow(clippy::disallowed_methods)]
#[path = "../tests/it/mod.rs"]
mod it;
