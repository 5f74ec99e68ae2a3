//! Who is near whom: exact neighbours, always.
//!
//! Place in the dataflow: points (or distances) in, [`Neighbors`] out, to
//! `graph` and to everything that extends a model to new rows. This module
//! decides that a row is not its own neighbour (by index, never by position),
//! how ties fall (by index), and what k and radius mean.
//!
//! ```text
//! Index ─ choose ─┬─ tree_engine ─ walk ─ kdtree     few dimensions, O(n log n)
//!                 ├─ gemm ─ estimate                 many, n² D by matrix products
//!                 ├─ sparse                          compressed rows
//! matrix ─────────┴─ direct                          every pair as it is
//!                     all: measure (the numbers), keep (what is wanted), gather (the table)
//! ```
//!
//! Every engine reports the same numbers, bit for bit, for any number of
//! threads: estimates and bounds only decide what is looked at.

// Bounds are written "not greater": an estimate that overflowed to NaN must
// count as "may be near" and be evaluated exactly.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod choose;
mod direct;
mod estimate;
mod gather;
mod gemm;
mod index;
mod kdtree;
mod keep;
mod links;
mod matrix;
mod measure;
mod run;
mod saved;
mod sparse;
mod tree_engine;
mod unit;
mod walk;

use serde::{Deserialize, Serialize};

pub use choose::Algorithm;
pub use index::Index;
pub use matrix::{MatrixLinks, from_distances, mean_within, query_distances};

use crate::context::Ctx;
use crate::error::{Error, Result};

/// How far apart two points are. Every other metric reaches the library as
/// precomputed distances or neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Metric {
    /// Straight line.
    Euclidean,
    /// Sum of absolute differences.
    Manhattan,
    /// Largest absolute difference.
    Chebyshev,
    /// p-th root of the sum of p-th powers, p >= 1.
    Minkowski(f64),
    /// One minus the cosine of the angle.
    Cosine,
    /// One minus the correlation of the coordinates.
    Correlation,
}

/// Which points count as neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Hood {
    /// The k nearest.
    Nearest(usize),
    /// All within a radius (inclusive).
    Within(f64),
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

/// Refuse a hood that `rows` rows cannot give; `own` when the queries are the
/// rows themselves and do not count.
fn check_hood(hood: Hood, rows: usize, own: bool) -> Result<()> {
    match hood {
        Hood::Nearest(0) => Err(Error::param("n_neighbors", "must be at least 1, got 0")),
        Hood::Nearest(k) => {
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
        Hood::Within(radius) if !(radius >= 0.0) => {
            Err(Error::param("radius", format!("must not be negative, got {radius}")))
        }
        Hood::Within(_) => Ok(()),
    }
}
