//! Who is near whom.

use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::Result;

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
