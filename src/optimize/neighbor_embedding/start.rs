//! Where the descent of a map of neighbours starts, as a parameter.

use ndarray::Array2;

use crate::params::{Parameter, Value};

/// Where the descent starts.
#[derive(Debug, Clone, PartialEq)]
pub enum TsneStart {
    /// At the principal components, small.
    Pca,
    /// At the eigenvectors of the graph of probabilities, small.
    Spectral,
    /// At random, small.
    Random,
    /// At given coordinates.
    Given(Array2<f64>),
}

impl Parameter for TsneStart {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Str(name) if name == "pca" => Some(TsneStart::Pca),
            Value::Str(name) if name == "spectral" => Some(TsneStart::Spectral),
            Value::Str(name) if name == "random" => Some(TsneStart::Random),
            Value::Matrix(matrix) => Some(TsneStart::Given(matrix.clone())),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        match self {
            TsneStart::Pca => Value::Str("pca".into()),
            TsneStart::Spectral => Value::Str("spectral".into()),
            TsneStart::Random => Value::Str("random".into()),
            TsneStart::Given(matrix) => Value::Matrix(matrix.clone()),
        }
    }
    fn expected() -> String {
        "one of 'pca', 'spectral', 'random', or an array of coordinates".into()
    }
}
