//! Where the descent of a map of neighbours starts: as a parameter, and of which size.

use ndarray::Array2;

use crate::context::Ctx;
use crate::optimize::start::random;
use crate::params::{Parameter, Value};

/// Standard deviation of a start.
const START: f64 = 1e-4;
/// Noise in columns that carry nothing, relative to it.
const NOISE: f64 = 1e-2;

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

/// Random coordinates of the size of a start.
pub fn small_noise(rows: usize, width: usize, ctx: &Ctx) -> Vec<f64> {
    noise(rows, width, START, ctx)
}

fn noise(rows: usize, width: usize, size: f64, ctx: &Ctx) -> Vec<f64> {
    random(rows, width, size * 3f64.sqrt(), 0, ctx)
}

/// Noise in the columns of a start that carry nothing.
pub fn fill_empty_columns(y: &mut [f64], width: usize, ctx: &Ctx) {
    let n = y.len() / width;
    let noise = noise(n, width, NOISE * START, ctx);
    for k in 0..width {
        let size = (y[k..].iter().step_by(width).map(|value| value * value).sum::<f64>() / n as f64).sqrt();
        if size < 1e-3 * NOISE * START {
            y[k..].iter_mut().step_by(width).zip(&noise[k * n..]).for_each(|(slot, value)| *slot = *value);
        }
    }
}

/// Coordinates of which the first has the standard deviation of a start.
pub fn as_start(mut y: Vec<f64>, width: usize) -> Vec<f64> {
    let count = (y.len() / width).max(1) as f64;
    let first = || y.iter().step_by(width);
    let mean = first().sum::<f64>() / count;
    let size = (first().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count).sqrt();
    let scale = if size > 0.0 { START / size } else { 0.0 };
    y.iter_mut().for_each(|value| *value *= scale);
    y
}
