//! Shortest paths from many sources: the geodesic distances of Isomap.
//!
//! Owns: [`Plan`] (which kernel, prepared once), [`Sources`] (where paths
//! start) and how to run it: [`rows`], [`for_each_batch`], [`all_pairs`], [`Recomputed`];
//! [`Geodesics`] is all of it for a neighbourhood graph. Place: between a connected graph
//! and `kernel`.
//!
//! Sources are taken [`LANES`](crate::linalg::packed::LANES) at a time, nearby
//! ones together, and batches run in parallel. Every kernel is exact: within
//! one plan the distance from a source to a node has the same bits whatever
//! other sources run with it and however many threads there are. The plain
//! heap is the reference the others are tested against. All pairs of the `batched` kernel
//! are found in `waves`, each from one end only: they alone are exact up to the last bit.
//!
//! | kernel | good for | paper |
//! |---|---|---|
//! | `dijkstra` | a few sources | Dijkstra 1959 |
//! | `batched` | any graph | Yanagisawa 2010 |
//! | `sweep` | graphs of low dimension | Dibbelt, Strasser and Wagner 2016; Delling et al. 2013 |
//! | `floyd` | small dense graphs | Floyd 1962 |

mod batched;
mod contraction;
pub(crate) mod dijkstra;
mod floyd;
mod geodesics;
pub(crate) mod order;
mod plan;
pub(crate) mod queue;
#[cfg(any(test, feature = "python"))]
mod relax;
mod run;
mod sources;
mod storage;
mod sweep;
mod trees;
pub(crate) mod waves;

pub use geodesics::Geodesics;
pub use plan::{PathMethod, Plan};
#[cfg(feature = "python")]
pub use relax::relax;
pub use run::{
    Batch, Recomputed, all_pairs, fixed_pairs, for_each_batch, for_each_batch_to, rows, rows_into,
};
pub use sources::Sources;
pub use storage::Storage;
pub use trees::{PathTrees, Walks, find_trees};
