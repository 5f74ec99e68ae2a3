//! What may be given as data, and every check of it.
//!
//! The first stage of the dataflow: [`Points`] and [`Csr`] are what later
//! stages see; [`check`] refuses what is not legal and [`scale`] brings extreme
//! magnitudes into the range where squares are safe.

pub mod check;
mod convert;
mod csr;
mod data;
mod extent;
pub mod rows;
pub mod scale;

use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

pub use check::{check_finite, check_points};
pub use convert::Input;
pub use csr::Csr;
pub use data::{Data, OwnedData};

/// Points, one per row, that the library keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Points {
    /// A dense row-major matrix.
    Dense(Array2<f64>),
    /// Compressed sparse rows.
    Sparse(Csr),
}

/// Points, one per row, that the caller lends.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum PointsRef<'a> {
    /// A dense matrix (any strides; stages that need rows contiguous copy once).
    Dense(ArrayView2<'a, f64>),
    /// Compressed sparse rows.
    Sparse(&'a Csr),
}

impl Points {
    /// Lend them.
    pub fn view(&self) -> PointsRef<'_> {
        match self {
            Points::Dense(matrix) => PointsRef::Dense(matrix.view()),
            Points::Sparse(matrix) => PointsRef::Sparse(matrix),
        }
    }
}

impl PointsRef<'_> {
    /// The same points, lent for a shorter time.
    pub(crate) fn reborrow(&self) -> PointsRef<'_> {
        match self {
            PointsRef::Dense(matrix) => PointsRef::Dense(matrix.reborrow()),
            PointsRef::Sparse(matrix) => PointsRef::Sparse(matrix),
        }
    }

    /// Number of points.
    pub fn rows(&self) -> usize {
        match self {
            PointsRef::Dense(matrix) => matrix.nrows(),
            PointsRef::Sparse(matrix) => matrix.rows(),
        }
    }

    /// Number of features.
    pub fn cols(&self) -> usize {
        match self {
            PointsRef::Dense(matrix) => matrix.ncols(),
            PointsRef::Sparse(matrix) => matrix.cols,
        }
    }

    /// Whether one row here and one there are equal.
    pub(crate) fn row_equals(&self, row: usize, other: PointsRef<'_>, other_row: usize) -> bool {
        match (self, other) {
            (PointsRef::Dense(a), PointsRef::Dense(b)) => a.row(row) == b.row(other_row),
            (PointsRef::Sparse(a), PointsRef::Sparse(b)) => a.row(row) == b.row(other_row),
            _ => false,
        }
    }

    /// A copy of some of the points, which exist, in the order they are named.
    pub(crate) fn select(&self, rows: &[usize]) -> Points {
        match self {
            PointsRef::Dense(matrix) => Points::Dense(matrix.select(Axis(0), rows)),
            PointsRef::Sparse(matrix) => Points::Sparse(matrix.select(rows)),
        }
    }

    /// A copy the library can keep; dense points become row-major.
    pub fn to_owned(&self) -> Points {
        match self {
            PointsRef::Dense(matrix) => Points::Dense(matrix.as_standard_layout().into_owned()),
            PointsRef::Sparse(matrix) => Points::Sparse((*matrix).clone()),
        }
    }
}
