//! Where an optimisation starts: a random map, given coordinates, and what is done about
//! columns that carry nothing.
//!
//! Classical starts are made by the methods themselves, of the methods there are.

use ndarray::{Array2, ArrayView2};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::random::uniform;
use crate::params::{Parameter, Value};

/// Where to start.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Start {
    /// The first start classical, the others random.
    #[default]
    Auto,
    /// Random.
    Random,
    /// Classical scaling, one start.
    Classical,
    /// Given coordinates, one start.
    Given(Array2<f64>),
}

impl Parameter for Start {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Str(name) => match name.as_str() {
                "warn" => Some(Start::Auto),
                "random" => Some(Start::Random),
                "classical_mds" => Some(Start::Classical),
                _ => None,
            },
            Value::Matrix(matrix) => Some(Start::Given(matrix.clone())),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        let name = match self {
            Start::Auto => "warn",
            Start::Random => "random",
            Start::Classical => "classical_mds",
            Start::Given(matrix) => return Value::Matrix(matrix.clone()),
        };
        Value::Str(name.into())
    }
    fn expected() -> String {
        "one of 'random', 'classical_mds', 'warn', or an array of coordinates".into()
    }
}

impl Start {
    /// Number of starts there are, of `n_init` wanted.
    pub fn count(&self, n_init: usize) -> usize {
        match self {
            Start::Auto | Start::Random => n_init,
            Start::Classical | Start::Given(_) => 1,
        }
    }

    /// Whether start number `number` is the classical one.
    pub fn is_classical(&self, number: usize) -> bool {
        matches!(self, Start::Classical) || (matches!(self, Start::Auto) && number == 0)
    }
}

/// Given coordinates: of the right shape, finite, not all in one place.
///
/// # Errors
/// Each of these, named.
pub fn check_given(given: ArrayView2<'_, f64>, rows: usize, components: usize) -> Result<()> {
    if given.dim() != (rows, components) {
        let (got, width) = given.dim();
        return Err(Error::param(
            "init",
            format!("init matrix should be of shape ({rows}, {components}), got ({got}, {width})"),
        ));
    }
    if let Some(((row, column), value)) = given.indexed_iter().find(|(_, value)| !value.is_finite()) {
        return Err(Error::param(
            "init",
            format!("must be finite, got {value} at row {row}, column {column}"),
        ));
    }
    if rows > 1 && given.outer_iter().all(|row| row == given.row(0)) {
        return Err(Error::param(
            "init",
            "all rows start in the same place, from where no direction leads on",
        ));
    }
    Ok(())
}

/// Random coordinates of root-mean-square size near `size`, column by column.
pub fn random(rows: usize, components: usize, size: f64, number: usize, ctx: &Ctx) -> Vec<f64> {
    let mut stream = ctx.stream(&format!("random start {number}"));
    uniform(&mut stream, components, rows).iter().map(|value| value * size).collect()
}

/// Fill columns of zeros with a little noise: no gradient leads out of them.
pub fn stir_empty_columns(x: &mut [f64], rows: usize, ctx: &Ctx) {
    let size = (x.iter().map(|value| value * value).sum::<f64>() / x.len().max(1) as f64).sqrt();
    let mut stream = ctx.stream("noise in empty columns");
    for column in x.chunks_mut(rows.max(1)).filter(|column| column.iter().all(|&value| value == 0.0)) {
        let noise = uniform(&mut stream, rows, 1);
        column.iter_mut().zip(&noise).for_each(|(value, noise)| *value = NOISE * size * noise);
    }
}

/// Of the size of the other columns.
const NOISE: f64 = 1e-2;
