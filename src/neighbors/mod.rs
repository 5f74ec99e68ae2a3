//! Nearest neighbours: exact, and nearly all of them for who asks for that.
//!
//! Place in the dataflow: points (or distances) in, [`Neighbors`] out, to
//! `graph` and to everything that extends a model to new rows. This module
//! decides that a row is not its own neighbour (by index, never by position),
//! how ties fall (by index), and what k and radius mean.
//!
//! ```text
//! Index ─ engine ─┬─ tree_search ─ tree_walk ─ kdtree   few dimensions, O(n log n)
//!                 ├─ gemm ─ gemm_bounds, gemm_ranks     many, n² D by matrix products
//!                 ├─ sparse                             compressed rows
//!                 ├─ approximate                        very many rows of many columns, if asked for
//! precomputed ────┴─ brute                              every pair as it is
//!                     all: metric, measure (the numbers), collect (what is wanted), table (the result)
//! distance_rows: whole rows of distances, and ranks in them, for measures of quality
//! dissimilarities: points or a given matrix, for methods that need distances of any pair
//! ```
//!
//! Every exact engine reports the same numbers, bit for bit, for any number of
//! threads: estimates and bounds only decide what is looked at. The approximate
//! one misses some neighbours, the same ones for any number of threads; the
//! distances it does report have the same bits too.

// Bounds are written "not greater": an estimate that overflowed to NaN must
// count as "may be near" and be evaluated exactly.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod angular;
mod approximate;
mod brute;
mod closest_pairs;
mod collect;
mod dissimilarities;
mod distance_rows;
pub mod duplicates;
mod engine;
mod gemm;
mod gemm_bounds;
mod gemm_candidates;
mod gemm_precision;
mod gemm_ranks;
mod index;
mod kdtree;
mod lists;
mod measure;
mod metric;
mod precomputed;
mod row_columns;
mod row_neighbors;
mod row_products;
mod row_ranks;
mod saved;
mod sparse;
mod table;
mod tree_search;
mod tree_walk;

use serde::{Deserialize, Serialize};

pub use dissimilarities::{Dissimilarities, ReferenceRows};
pub use distance_rows::{DistanceRows, Precision, RowChoice};
pub use engine::{Algorithm, Algorithm as NeighborsAlgorithm};
pub use index::Index;
pub use metric::{Metric, MetricName};
pub use precomputed::{MatrixLinks, from_distances, mean_within, query_distances};

use crate::context::Ctx;
use crate::error::{Error, Result};

/// Which points count as neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum NeighborRule {
    /// The k nearest.
    Nearest(usize),
    /// All within a radius (inclusive).
    Within(f64),
}

impl NeighborRule {
    /// Exactly one of `n_neighbors` and `radius`.
    pub fn from_params(n_neighbors: Option<usize>, radius: Option<f64>) -> Result<NeighborRule> {
        match (n_neighbors, radius) {
            // In the words scikit-learn uses.
            (Some(_), Some(_)) => Err(Error::param(
                "radius",
                "Both n_neighbors and radius are provided; set one and leave the other None",
            )),
            (None, None) => Err(Error::param("n_neighbors", "give n_neighbors or radius, both are None")),
            (Some(0), None) => Err(Error::param("n_neighbors", "must be at least 1, got 0")),
            (Some(k), None) => Ok(NeighborRule::Nearest(k)),
            (None, Some(radius)) if radius > 0.0 => Ok(NeighborRule::Within(radius)),
            (None, Some(radius)) => Err(Error::param("radius", format!("must be above 0, got {radius}"))),
        }
    }

    /// The same among `rows` rows: no more neighbours than there are.
    pub fn among(self, rows: usize) -> NeighborRule {
        match self {
            NeighborRule::Nearest(k) => NeighborRule::Nearest(k.min(rows)),
            within => within,
        }
    }
}

/// For each query row its neighbours, nearest first, ties by index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbors {
    /// Row `i` is `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// Index of each neighbour.
    pub indices: Vec<u32>,
    /// Distance to it, in the metric asked for.
    pub distances: Vec<f64>,
}

/// The shortest link between two components: `from` lies in one, `to` in another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// A row of the one component.
    pub from: u32,
    /// A row of the other.
    pub to: u32,
    /// Their distance.
    pub distance: f64,
}

/// Something that can find, for each component of a labelling, the closest pair
/// (row inside, row outside): one round of Borůvka's spanning tree.
pub trait ClosestForeign {
    /// One link per component `0..count`, ties by (distance, smaller index, larger index).
    fn closest_foreign(&self, labels: &[usize], count: usize, ctx: &Ctx) -> Result<Vec<Link>>;
}

/// Refuse a rule that `rows` rows cannot give; `own` when the queries are the
/// rows themselves and do not count.
fn check_rule(rule: NeighborRule, rows: usize, own: bool) -> Result<()> {
    match rule {
        NeighborRule::Nearest(0) => Err(Error::param("n_neighbors", "must be at least 1, got 0")),
        NeighborRule::Nearest(k) => {
            let most = rows - usize::from(own && rows > 0);
            let besides = if own { " besides itself" } else { "" };
            if k <= most {
                return Ok(());
            }
            Err(Error::param(
                "n_neighbors",
                format!("must be at most {most}: {rows} rows leave each no more{besides}, got {k}"),
            ))
        }
        NeighborRule::Within(radius) if !(radius >= 0.0) => {
            Err(Error::param("radius", format!("must not be negative, got {radius}")))
        }
        NeighborRule::Within(_) => Ok(()),
    }
}
