//! The scale of data: which power of two brings it near one, and the data multiplied
//! by it. Only the driver asks for it ([`crate::method`]).

use ndarray::{ArrayView2, CowArray, Ix2};
use rayon::prelude::*;

use super::extent::largest_if_finite;
use super::{Csr, Data, OwnedData, Points, PointsRef};
pub use crate::scale::Scale;

impl Scale {
    /// A matrix at working scale; borrowed when nothing is to be done.
    pub fn matrix<'a>(self, matrix: ArrayView2<'a, f64>) -> CowArray<'a, f64, Ix2> {
        if self.is_one() {
            return CowArray::from(matrix);
        }
        CowArray::from(matrix.mapv(|value| self.into(value)))
    }

    /// Points at working scale; borrowed when nothing is to be done.
    pub fn points(self, points: PointsRef<'_>) -> Scaled<'_> {
        match points {
            points if self.is_one() => Scaled::Same(points),
            PointsRef::Dense(matrix) => Scaled::Changed(Points::Dense(matrix.mapv(|value| self.into(value)))),
            PointsRef::Sparse(matrix) => Scaled::Changed(Points::Sparse(Csr {
                values: matrix.values.iter().map(|&value| self.into(value)).collect(),
                ..matrix.clone()
            })),
        }
    }
}

/// Points at working scale.
pub enum Scaled<'a> {
    /// As they came.
    Same(PointsRef<'a>),
    /// A scaled copy.
    Changed(Points),
}

impl Scaled<'_> {
    /// Lend them.
    pub fn view(&self) -> PointsRef<'_> {
        match self {
            Scaled::Same(PointsRef::Dense(matrix)) => PointsRef::Dense(matrix.reborrow()),
            Scaled::Same(PointsRef::Sparse(matrix)) => PointsRef::Sparse(matrix),
            Scaled::Changed(points) => points.view(),
        }
    }

    /// Keep them: a copy only where none was made yet.
    pub fn into_points(self) -> Points {
        match self {
            Scaled::Same(points) => points.to_owned(),
            Scaled::Changed(points) => points,
        }
    }
}

/// The scale for these points.
pub fn scale_of_points(points: PointsRef<'_>) -> Scale {
    match points {
        PointsRef::Dense(matrix) => scale_of_matrix(matrix),
        PointsRef::Sparse(matrix) => Scale::for_largest(largest_of(&matrix.values)),
    }
}

/// The scale for a matrix of lengths.
pub fn scale_of_matrix(matrix: ArrayView2<'_, f64>) -> Scale {
    Scale::for_largest(largest_in_rows(matrix))
}

/// Largest magnitude in a matrix.
fn largest_in_rows(matrix: ArrayView2<'_, f64>) -> f64 {
    // Missing distances are NaN: the maximum of the others.
    largest_if_finite(matrix).unwrap_or_else(|| {
        let of_row = |row| matrix.row(row).iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        (0..matrix.nrows()).into_par_iter().map(of_row).reduce(|| 0.0, f64::max)
    })
}

/// Largest magnitude in a slice.
pub fn largest_of(values: &[f64]) -> f64 {
    values.iter().fold(0.0_f64, |most, value| most.max(value.abs()))
}

/// The scale for affinities, full or as the edges of a graph: they go with the square of
/// a length. The affinity of a row to itself does not count.
pub fn scale_of_affinities(data: Data<'_>) -> Scale {
    let largest = match data {
        Data::Kernel(matrix) => matrix
            .indexed_iter()
            .filter(|((i, j), _)| i != j)
            .fold(0.0_f64, |most, (_, value)| most.max(value.abs())),
        Data::Graph(graph) => (0..graph.rows()).fold(0.0_f64, |most, i| {
            let (columns, values) = graph.row(i);
            let others = columns.iter().zip(values).filter(|(j, _)| **j as usize != i);
            others.fold(most, |most, (_, value)| most.max(value.abs()))
        }),
        data => return scale_of_data(data),
    };
    Scale::for_largest(largest.sqrt())
}

/// The scale for data of any other kind. Kernel values go with the square of a length.
pub fn scale_of_data(data: Data<'_>) -> Scale {
    match data {
        Data::Points(points) | Data::Neighborhoods { points, .. } => scale_of_points(points),
        Data::Distances(matrix) => scale_of_matrix(matrix),
        Data::Kernel(matrix) => Scale::for_largest(largest_in_rows(matrix).sqrt()),
        Data::Graph(graph) => Scale::for_largest(largest_of(&graph.values)),
    }
}

/// Data at working scale: borrowed where nothing is to be done.
pub enum ScaledData<'a> {
    /// As it came.
    Same(Data<'a>),
    /// A scaled copy.
    Changed(OwnedData),
}

impl ScaledData<'_> {
    /// Lend it.
    pub fn view(&self) -> Data<'_> {
        match self {
            ScaledData::Same(data) => data.reborrow(),
            ScaledData::Changed(data) => data.view(),
        }
    }
}

impl Scale {
    /// Affinities at working scale.
    pub fn affinities(self, data: Data<'_>) -> ScaledData<'_> {
        match data {
            Data::Graph(graph) => self.power(2).data(Data::Graph(graph)),
            data => self.data(data),
        }
    }

    /// Data of any other kind at working scale.
    pub fn data(self, data: Data<'_>) -> ScaledData<'_> {
        if self.is_one() {
            return ScaledData::Same(data);
        }
        let graph = |graph: &Csr| Csr {
            values: graph.values.iter().map(|&value| self.into(value)).collect(),
            ..graph.clone()
        };
        ScaledData::Changed(match data {
            Data::Points(points) => OwnedData::Points(self.points(points).into_points()),
            Data::Distances(matrix) => OwnedData::Distances(matrix.mapv(|value| self.into(value))),
            Data::Kernel(matrix) => OwnedData::Kernel(matrix.mapv(|value| self.power(2).into(value))),
            Data::Graph(lengths) => OwnedData::Graph(graph(lengths)),
            Data::Neighborhoods { points, lists } => {
                // The lists have a unit of their own.
                OwnedData::Neighborhoods { points: self.points(points).into_points(), lists: lists.clone() }
            }
        })
    }
}
