//! Python values in and out: data tuples, parameters, attributes.

use ndarray::Array2;
use numpy::{
    IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods,
    ToPyArray,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};

use super::errors::raise;
use crate::error::Error;
use crate::graph::Graph;
use crate::input::{Csr, Data, PointsRef};
use crate::method::Attribute;
use crate::params::Value;

/// A data tuple, its arrays borrowed for the length of the call.
pub enum PyData<'py> {
    Points(PyReadonlyArray2<'py, f64>),
    Sparse(Csr),
    Distances(PyReadonlyArray2<'py, f64>),
    Kernel(PyReadonlyArray2<'py, f64>),
    Graph(Csr),
    Neighborhoods { points: Box<PyData<'py>>, lists: Csr },
}

impl<'a, 'py> FromPyObject<'a, 'py> for PyData<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let tuple = object.cast::<PyTuple>()?;
        let kind: String = tuple.get_item(0)?.extract()?;
        let matrix = || -> PyResult<PyReadonlyArray2<'py, f64>> { tuple.get_item(1)?.extract() };
        match kind.as_str() {
            "points" => Ok(PyData::Points(matrix()?)),
            "distances" => Ok(PyData::Distances(matrix()?)),
            "kernel" => Ok(PyData::Kernel(matrix()?)),
            "csr" => Ok(PyData::Sparse(compressed_rows(&tuple, Some(tuple.get_item(4)?.extract()?))?)),
            "graph" => Ok(PyData::Graph(compressed_rows(&tuple, None)?)),
            "neighborhoods" => {
                let lists = tuple.get_item(2)?;
                Ok(PyData::Neighborhoods {
                    points: Box::new(tuple.get_item(1)?.extract()?),
                    lists: compressed_rows(lists.cast::<PyTuple>()?, None)?,
                })
            }
            other => Err(PyValueError::new_err(format!("unknown kind of data '{other}'"))),
        }
    }
}

impl PyData<'_> {
    /// The data as the core takes it.
    pub fn view(&self) -> PyResult<Data<'_>> {
        Ok(match self {
            PyData::Points(matrix) => Data::Points(PointsRef::Dense(matrix.as_array())),
            PyData::Sparse(matrix) => Data::Points(PointsRef::Sparse(matrix)),
            PyData::Distances(matrix) => Data::Distances(matrix.as_array()),
            PyData::Kernel(matrix) => Data::Kernel(matrix.as_array()),
            PyData::Graph(graph) => Data::Graph(graph),
            PyData::Neighborhoods { points, lists } => match points.view()? {
                Data::Points(points) => Data::Neighborhoods { points, lists },
                _ => return Err(PyValueError::new_err("neighbourhoods are of points")),
            },
        })
    }
}

/// `(kind, indptr, indices, values, ...)` as compressed rows.
fn compressed_rows(tuple: &Bound<'_, PyTuple>, cols: Option<usize>) -> PyResult<Csr> {
    let offsets = whole_numbers(&tuple.get_item(1)?, "indptr")?;
    let indices = whole_numbers(&tuple.get_item(2)?, "indices")?;
    let values: PyReadonlyArray1<'_, f64> = tuple.get_item(3)?.extract()?;
    let indices = indices
        .into_iter()
        .map(|index| u32::try_from(index).map_err(|_| PyValueError::new_err("a column index exceeds 2^32")))
        .collect::<PyResult<Vec<u32>>>()?;
    if offsets.is_empty() {
        return Err(PyValueError::new_err("indptr of a sparse matrix must hold at least one number"));
    }
    // New rows have edges to training rows, of which only the model knows the number.
    let named = indices.iter().max().map_or(0, |&last| last as usize + 1);
    let cols = cols.unwrap_or((offsets.len() - 1).max(named));
    Csr::new(cols, offsets, indices, values.as_array().to_vec()).map_err(|fault| raise(tuple.py(), fault))
}

fn whole_numbers(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<usize>> {
    let as_index = |value: i64| {
        usize::try_from(value).map_err(|_| PyValueError::new_err(format!("{what} holds a negative number")))
    };
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, i64>>() {
        return array.as_array().iter().map(|&value| as_index(value)).collect();
    }
    let array: PyReadonlyArray1<'_, i32> = object.extract()?;
    array.as_array().iter().map(|&value| as_index(i64::from(value))).collect()
}

/// A dictionary of parameters.
pub fn parameters(named: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
    named
        .iter()
        .map(|(name, value)| {
            let name: String = name.extract()?;
            match parameter(&value) {
                Some(value) => Ok((name, value)),
                None => Err(raise(
                    named.py(),
                    Error::ParamType {
                        name,
                        expected:
                            "None, a flag, a number, a name, a list of numbers or a 2-dimensional array"
                                .into(),
                        got: value.get_type().name()?.to_string(),
                    },
                )),
            }
        })
        .collect()
}

fn parameter(value: &Bound<'_, PyAny>) -> Option<Value> {
    if value.is_none() {
        return Some(Value::None);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Some(Value::Bool(flag.is_true()));
    }
    if let Ok(name) = value.cast::<PyString>() {
        return Some(Value::Str(name.to_string()));
    }
    if let Ok(array) = value.cast::<PyUntypedArray>()
        && array.ndim() == 2
    {
        return matrix(array).map(Value::Matrix);
    }
    if let Ok(number) = value.extract::<i64>() {
        return Some(Value::Int(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Some(Value::Float(number));
    }
    value.extract::<Vec<f64>>().ok().map(Value::Floats)
}

/// A 2-dimensional array of any kind of number.
fn matrix(array: &Bound<'_, PyUntypedArray>) -> Option<Array2<f64>> {
    let numbers = array.call_method1("astype", ("float64",)).ok()?;
    let numbers: PyReadonlyArray2<'_, f64> = numbers.extract().ok()?;
    Some(numbers.as_array().as_standard_layout().into_owned())
}

/// A parameter's value for Python.
pub fn value(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::None => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Int(number) => number.into_bound_py_any(py),
        Value::Float(number) => number.into_bound_py_any(py),
        Value::Str(name) => name.into_bound_py_any(py),
        Value::Floats(numbers) => numbers.into_bound_py_any(py),
        Value::Matrix(matrix) => matrix.into_pyarray(py).into_bound_py_any(py),
    }
}

/// A fitted attribute for Python.
pub fn attribute(py: Python<'_>, value: Attribute) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Attribute::Int(number) => number.into_bound_py_any(py),
        Attribute::Float(number) => number.into_bound_py_any(py),
        Attribute::Str(name) => name.into_bound_py_any(py),
        Attribute::Vector(vector) => vector.into_pyarray(py).into_bound_py_any(py),
        Attribute::Indices(vector) => vector.into_pyarray(py).into_bound_py_any(py),
        Attribute::Matrix(matrix) => matrix.into_pyarray(py).into_bound_py_any(py),
        Attribute::IndexMatrix(matrix) => matrix.into_pyarray(py).into_bound_py_any(py),
        Attribute::Graph(graph) => graph_tuple(py, &graph),
    }
}

/// A graph as `("graph", indptr, indices, weights)`.
fn graph_tuple<'py>(py: Python<'py>, graph: &Graph) -> PyResult<Bound<'py, PyAny>> {
    let offsets = PyArray1::from_iter(py, graph.offsets().iter().map(|&offset| offset as i64));
    let targets = PyArray1::from_iter(py, graph.targets().iter().map(|&target| i64::from(target)));
    ("graph", offsets, targets, graph.weights().to_pyarray(py)).into_bound_py_any(py)
}
