//! What a model file says about itself in its one JSON header: format, version, method,
//! parameters, names; and the trees of the model, with arrays named where they were.

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::About;
use super::arrays::{Array, Kind, Number, View, number};
use super::writer::{self, Fault, TENSOR};
use crate::params;

/// The format that is written; formats from [`FIRST_FILE`] to this one are read.
pub(super) const FORMAT: u32 = 2;
/// Format 1 is bytes without a container; see `first`.
const FIRST_FILE: u32 = 2;

/// The key of an object that stands for a number that JSON does not have.
const FLOAT: &str = "$float";

/// The header; the order of the first two fields is part of the format.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    format: u32,
    checksum: String,
    /// The version of planish that wrote the file.
    pub version: String,
    /// The method's name in the registry.
    pub method: String,
    /// The class in Python.
    pub class: String,
    /// Parameters by name.
    pub parameters: Value,
    /// Names of the columns, where they had names.
    #[serde(default)]
    pub feature_names: Option<Vec<String>>,
    /// Columns of the data.
    #[serde(default)]
    pub n_features_in: Option<usize>,
    /// Rows of the data.
    #[serde(default)]
    pub n_samples: Option<usize>,
    /// The type of the numbers that were given.
    pub dtype: String,
    /// What the core was given: points, distances, kernel, graph or neighborhoods.
    #[serde(default)]
    pub data: Option<String>,
    /// The tree of the fitted method.
    pub model: Value,
    /// What Python keeps besides.
    #[serde(default)]
    pub python: Value,
}

impl Header {
    /// The header of a model that knows this about itself; its arrays among the parameters
    /// are added to `arrays`.
    pub(super) fn of(method: &str, about: &About, model: Value, arrays: &mut Vec<Array>) -> Result<Header, Fault> {
        let mut parameters = Map::new();
        for (name, value) in &about.parameters {
            parameters.insert(name.clone(), tree(name, value, arrays)?);
        }
        Ok(Header {
            format: FORMAT,
            checksum: String::new(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            method: method.to_string(),
            class: method.to_string(),
            parameters: Value::Object(parameters),
            feature_names: None,
            n_features_in: about.features,
            n_samples: about.rows,
            dtype: Kind::F64.name().to_string(),
            data: about.data.clone(),
            model,
            python: Value::Null,
        })
    }

    /// The JSON text, with the two halves of the checksum.
    pub(super) fn text(&self, head: &str, data: &str) -> Result<String, Fault> {
        let checksum = format!("{head}{data}");
        let fault = |why: serde_json::Error| Fault(format!("its header cannot be written: {why}"));
        serde_json::to_string(&Header { checksum, ..self.clone() }).map_err(fault)
    }

    pub(super) fn parse(text: &str) -> Result<Header, Fault> {
        let fault = |why: serde_json::Error| Fault(format!("its header is not one of planish: {why}"));
        let header: Header = serde_json::from_str(text).map_err(fault)?;
        if header.format < FIRST_FILE {
            return Err(Fault(format!("its format is {}, which is not one of model files", header.format)));
        }
        Ok(header)
    }

    /// The JSON text without the tree of the model, which only the core reads.
    #[cfg_attr(not(feature = "python"), allow(dead_code))]
    pub(crate) fn shown(&self) -> String {
        let shown = Header { model: Value::Null, ..self.clone() };
        serde_json::to_value(&shown).unwrap_or_default().to_string()
    }

    /// The second half of the checksum.
    pub(super) fn data_checksum(&self) -> &str {
        self.checksum.get(self.checksum.len() / 2..).unwrap_or_default()
    }

    /// What a model read from this file knows about itself.
    pub(super) fn about<'a>(&self, array: impl Fn(&str) -> Option<View<'a>>) -> About {
        let named = self.parameters.as_object().into_iter().flatten();
        let known = named.filter_map(|(name, value)| Some((name.clone(), parameter(value, &array)?)));
        About {
            parameters: known.collect(),
            rows: self.n_samples,
            features: self.n_features_in,
            data: self.data.clone(),
        }
    }
}

/// A parameter as JSON.
fn tree(name: &str, value: &params::Value, arrays: &mut Vec<Array>) -> Result<Value, Fault> {
    let name = format!("parameters.{name}");
    Ok(match value {
        params::Value::None => Value::Null,
        params::Value::Bool(flag) => Value::Bool(*flag),
        params::Value::Int(count) => Value::from(*count),
        params::Value::Float(value) if value.is_finite() => writer::real(*value),
        params::Value::Float(value) => {
            Value::Object(Map::from_iter([(FLOAT.to_string(), writer::real(*value))]))
        }
        params::Value::Str(text) => Value::from(text.as_str()),
        params::Value::Floats(values) => writer::write(&name, values, arrays)?,
        params::Value::Matrix(matrix) => writer::write(&name, matrix, arrays)?,
    })
}

/// The parameter that a JSON value is, if it is one that the core knows.
fn parameter<'a>(value: &Value, array: &impl Fn(&str) -> Option<View<'a>>) -> Option<params::Value> {
    Some(match value {
        Value::Null => params::Value::None,
        Value::Bool(flag) => params::Value::Bool(*flag),
        Value::String(text) => params::Value::Str(text.clone()),
        Value::Number(count) if count.is_i64() => params::Value::Int(count.as_i64()?),
        Value::Number(value) => params::Value::Float(value.as_f64()?),
        Value::Array(_) => return None,
        Value::Object(fields) => match (fields.get(FLOAT), fields.get(TENSOR)) {
            (Some(Value::String(text)), None) => params::Value::Float(super::reader::real(text)?),
            (None, Some(Value::String(name))) => numbers(array(name)?)?,
            _ => return None,
        },
    })
}

/// An array as a parameter: of one or two dimensions.
fn numbers(view: View<'_>) -> Option<params::Value> {
    let values = view.bytes.chunks_exact(view.kind.width()).map(|bytes| match number(view.kind, bytes) {
        Number::Double(value) => Some(value),
        _ => None,
    });
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    match *view.shape {
        [_] => Some(params::Value::Floats(values)),
        [rows, columns] => Array2::from_shape_vec((rows, columns), values).ok().map(params::Value::Matrix),
        _ => None,
    }
}
