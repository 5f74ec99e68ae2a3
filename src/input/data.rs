//! What a method takes: points, distances, a kernel, a graph, or
//! points with their neighbours.

use ndarray::{Array2, ArrayView2, Axis};

use super::rows::as_indices;
use super::{Csr, Points, PointsRef};
use crate::error::{Error, Result};

/// What a caller hands to a method: points, distances, a kernel, a graph, or
/// points with their neighbours.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Data<'a> {
    /// Points, one per row.
    Points(PointsRef<'a>),
    /// Distances: n × n to fit, new rows × n to transform.
    Distances(ArrayView2<'a, f64>),
    /// Kernel values: n × n to fit, new rows × n to transform.
    Kernel(ArrayView2<'a, f64>),
    /// A neighbourhood graph as compressed rows of distances.
    Graph(&'a Csr),
    /// Points with the neighbours of each, for methods that look at the points of
    /// given neighbourhoods.
    Neighborhoods {
        /// One per row.
        points: PointsRef<'a>,
        /// Distances to neighbours among the training rows.
        lists: &'a Csr,
    },
}

impl Data<'_> {
    /// The same data, lent for a shorter time.
    pub(crate) fn reborrow(&self) -> Data<'_> {
        match self {
            Data::Points(points) => Data::Points(points.reborrow()),
            Data::Distances(matrix) => Data::Distances(matrix.reborrow()),
            Data::Kernel(matrix) => Data::Kernel(matrix.reborrow()),
            Data::Graph(graph) => Data::Graph(graph),
            Data::Neighborhoods { points, lists } => Data::Neighborhoods { points: points.reborrow(), lists },
        }
    }

    /// Number of features of each row; 0 where the data is not points.
    pub fn features(&self) -> usize {
        match self {
            Data::Points(points) | Data::Neighborhoods { points, .. } => points.cols(),
            Data::Distances(_) | Data::Kernel(_) | Data::Graph(_) => 0,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Data::Points(points) | Data::Neighborhoods { points, .. } => points.rows(),
            Data::Distances(matrix) | Data::Kernel(matrix) => matrix.nrows(),
            Data::Graph(graph) => graph.rows(),
        }
    }

    /// A copy of some of the rows, in the order they are named.
    ///
    /// # Errors
    /// A row that does not exist.
    pub fn select(&self, rows: &[u32]) -> Result<OwnedData> {
        let indices = as_indices(rows);
        let count = self.rows();
        if let Some(row) = indices.iter().find(|&&row| row >= count) {
            return Err(Error::input(format!("row {row} does not exist, rows are 0..{count}")));
        }
        Ok(match self {
            Data::Points(points) => OwnedData::Points(points.select(&indices)),
            Data::Distances(matrix) => OwnedData::Distances(matrix.select(Axis(0), &indices)),
            Data::Kernel(matrix) => OwnedData::Kernel(matrix.select(Axis(0), &indices)),
            Data::Graph(graph) => OwnedData::Graph(graph.select(&indices)),
            Data::Neighborhoods { points, lists } => {
                OwnedData::Neighborhoods { points: points.select(&indices), lists: lists.select(&indices) }
            }
        })
    }

    /// The kind in words, for error messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Data::Points(_) => "points",
            Data::Distances(_) => "precomputed distances",
            Data::Kernel(_) => "a precomputed kernel",
            Data::Graph(_) => "a sparse neighbourhood graph",
            Data::Neighborhoods { .. } => "points with their neighbours",
        }
    }
}

/// [`Data`] that owns its numbers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum OwnedData {
    /// Points, one per row.
    Points(Points),
    /// Distances.
    Distances(Array2<f64>),
    /// Kernel values.
    Kernel(Array2<f64>),
    /// Edges.
    Graph(Csr),
    /// Points and their neighbours.
    Neighborhoods {
        /// One per row.
        points: Points,
        /// Distances to neighbours.
        lists: Csr,
    },
}

impl OwnedData {
    /// Lend them.
    pub fn view(&self) -> Data<'_> {
        match self {
            OwnedData::Points(points) => Data::Points(points.view()),
            OwnedData::Distances(matrix) => Data::Distances(matrix.view()),
            OwnedData::Kernel(matrix) => Data::Kernel(matrix.view()),
            OwnedData::Graph(graph) => Data::Graph(graph),
            OwnedData::Neighborhoods { points, lists } => {
                Data::Neighborhoods { points: points.view(), lists }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_do_not_exist_are_refused_by_name() {
        let points = Array2::from_shape_fn((4, 2), |(i, j)| (2 * i + j) as f64);
        let data = Data::from(&points);
        assert_eq!(data.select(&[3, 0]).unwrap().view().rows(), 2);
        for data in [data, Data::Distances(points.view()), Data::Kernel(points.view())] {
            let refused = data.select(&[1, 99]).unwrap_err().to_string();
            assert!(refused.contains("row 99 does not exist, rows are 0..4"), "{refused}");
        }
    }
}
