//! Fitted attributes on their way to a caller who asks by name, and what they are
//! measured in.

use ndarray::{Array1, Array2};

use crate::error::Result;
use crate::graph::geodesic::Geodesics;
use crate::graph::{Graph, NeighborhoodGraph};
use crate::scale::Scale;

/// A fitted attribute.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Attribute {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A name.
    Str(String),
    /// A vector.
    Vector(Array1<f64>),
    /// A vector of indices or labels.
    Indices(Array1<i64>),
    /// A matrix.
    Matrix(Array2<f64>),
    /// A matrix of indices.
    IndexMatrix(Array2<i64>),
    /// A weighted graph.
    Graph(Graph),
}

impl Attribute {
    /// A vector from a slice.
    pub(crate) fn vector(values: &[f64]) -> Self {
        Attribute::Vector(Array1::from(values.to_vec()))
    }

    /// Labels or indices from a slice.
    pub(crate) fn indices(values: &[usize]) -> Self {
        Attribute::Indices(values.iter().map(|&value| value as i64).collect())
    }

    /// Pairs of rows.
    pub(crate) fn pairs(rows: &[[u32; 2]]) -> Self {
        Attribute::IndexMatrix(Array2::from_shape_fn((rows.len(), 2), |(pair, end)| {
            i64::from(rows[pair][end])
        }))
    }

    /// What a user may ask of connected components: their labels and their number.
    pub(crate) fn of_components(labels: &[usize]) -> Vec<(&'static str, Attribute)> {
        let count = labels.iter().max().map_or(0, |last| last + 1);
        vec![
            ("component_labels", Attribute::indices(labels)),
            ("n_connected_components", Attribute::Int(count as i64)),
        ]
    }

    /// What a user may ask of shortest paths and the graph they run on.
    pub(crate) fn of_geodesics(paths: &Geodesics) -> Result<Vec<(&'static str, Attribute)>> {
        let graph: &NeighborhoodGraph = paths.graph();
        let outliers: Vec<usize> = graph.outliers().iter().map(|&row| row as usize).collect();
        let mut named = Attribute::of_components(graph.labels());
        named.extend([
            ("graph", Attribute::Graph(graph.lengths_of_data()?)),
            ("bridges", Attribute::pairs(graph.bridges())),
            ("outliers", Attribute::indices(&outliers)),
            ("shortcuts", Attribute::pairs(paths.shortcuts())),
            ("path_method", Attribute::Str(paths.method().name().to_string())),
        ]);
        Ok(named)
    }

    /// The number or numbers of a vector; nothing for other kinds.
    pub fn as_vector(&self) -> Option<Vec<f64>> {
        match self {
            Attribute::Float(value) => Some(vec![*value]),
            Attribute::Vector(values) => Some(values.to_vec()),
            _ => None,
        }
    }

    /// With `scale` taken back from its numbers; what leaves the range of `f64` stops at
    /// its ends.
    pub(crate) fn unscaled(self, scale: Scale) -> Result<Attribute> {
        if scale.is_one() {
            return Ok(self);
        }
        let back = |value: f64| match scale.back(value) {
            far if far.is_infinite() && value.is_finite() => f64::MAX.copysign(far),
            near => near,
        };
        Ok(match self {
            Attribute::Float(value) => Attribute::Float(back(value)),
            Attribute::Vector(values) => Attribute::Vector(values.mapv(back)),
            Attribute::Matrix(values) => Attribute::Matrix(values.mapv(back)),
            Attribute::Graph(graph) => Attribute::Graph(graph.rescaled(back)?),
            other => other,
        })
    }
}

/// What the coordinates and attributes of a model are measured in: the power of the
/// unit of distances that they go with (1 for lengths, 2 for eigenvalues of a kernel,
/// 0 for pure numbers).
#[derive(Debug, Clone, Copy)]
pub struct Units {
    /// Of the coordinates.
    pub coordinates: i32,
    /// Of the attributes that have a unit, by name.
    pub attributes: &'static [(&'static str, i32)],
}

impl Units {
    /// Pure numbers.
    pub const NONE: Units = Units { coordinates: 0, attributes: &[] };

    /// Of coordinates whose straight distances are lengths of a graph with this unit, and of
    /// what is measured with them.
    pub(crate) fn of_lengths(unit: i32) -> Units {
        const LENGTHS: &[(&str, i32)] = &[
            ("eigenvalues", 2),
            ("constant", 1),
            ("graph", 1),
            ("dist_matrix", 1),
            ("reconstruction_error", 2),
        ];
        if unit == 0 { Units::NONE } else { Units { coordinates: unit, attributes: LENGTHS } }
    }

    /// Of one attribute.
    pub(crate) fn of(&self, name: &str) -> i32 {
        self.attributes.iter().find(|(known, _)| *known == name).map_or(0, |(_, power)| *power)
    }
}
