//! What a caller may hand in, and every check of it.
//!
//! The first stage of the dataflow: [`Points`] and [`Csr`] are what later
//! stages see; [`check`] refuses what is not legal and [`scale`] brings extreme
//! magnitudes into the range where squares are safe.

pub mod check;
mod convert;
mod data;
pub mod rows;
pub mod scale;

use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

pub use check::{check_finite, check_points};
pub use data::{Data, OwnedData};

/// Sparse points: compressed rows, column indices ascending within a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Csr {
    /// Number of columns.
    pub cols: usize,
    /// Row `i` is `offsets[i]..offsets[i + 1]`; one longer than the number of rows.
    pub offsets: Vec<usize>,
    /// Column of each entry.
    pub indices: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

impl Csr {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// A copy of some of the rows, in the order they are named.
    pub fn select(&self, rows: &[usize]) -> Csr {
        let mut part = Csr { cols: self.cols, offsets: vec![0], indices: vec![], values: vec![] };
        for &row in rows {
            let (columns, values) = self.row(row);
            part.indices.extend_from_slice(columns);
            part.values.extend_from_slice(values);
            part.offsets.push(part.indices.len());
        }
        part
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }
}

/// Points, one per row, that the library keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Points {
    /// A dense row-major matrix.
    Dense(Array2<f64>),
    /// Compressed sparse rows.
    Sparse(Csr),
}

/// Points, one per row, that the caller lends.
#[derive(Debug, Clone, Copy)]
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
    pub fn reborrow(&self) -> PointsRef<'_> {
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
    pub fn row_equals(&self, row: usize, other: PointsRef<'_>, other_row: usize) -> bool {
        match (self, other) {
            (PointsRef::Dense(a), PointsRef::Dense(b)) => a.row(row) == b.row(other_row),
            (PointsRef::Sparse(a), PointsRef::Sparse(b)) => a.row(row) == b.row(other_row),
            _ => false,
        }
    }

    /// A copy of some of the points, in the order they are named.
    ///
    /// # Panics
    /// When a row does not exist (a mistake of the calling stage, never of its input).
    pub fn select(&self, rows: &[usize]) -> Points {
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
