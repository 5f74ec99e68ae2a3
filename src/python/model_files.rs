//! Model files for Python: what the core keeps is written and checked here, what Python adds
//! passes through as JSON and arrays of bytes.

use std::path::{Path, PathBuf};

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use super::Model;
use super::run::{Job, at_once, run};
use crate::error::Error;
use crate::method::saved::arrays::{Array, Kind};
use crate::method::saved::header::Header;
use crate::method::saved::{Saved, inspect};
use crate::methods;

/// An array of Python's: name, NumPy's name of its type, shape, bytes.
type Given<'py> = (String, String, Vec<usize>, PyReadonlyArray1<'py, u8>);
/// The same on the way back.
type Found<'py> = (String, &'static str, Vec<usize>, Bound<'py, PyArray1<u8>>);

/// What Python may say in the header, and nothing else.
fn describe(header: &mut Header, said: &str) -> std::result::Result<(), String> {
    let mut said: Map<String, Value> = serde_json::from_str(said).map_err(|why| why.to_string())?;
    let mut take = |name: &str| said.remove(name).ok_or_else(|| format!("`{name}` is missing"));
    let fault = |why: serde_json::Error| why.to_string();
    header.class = serde_json::from_value(take("class")?).map_err(fault)?;
    header.feature_names = serde_json::from_value(take("feature_names")?).map_err(fault)?;
    header.n_features_in = serde_json::from_value(take("n_features_in")?).map_err(fault)?;
    header.dtype = serde_json::from_value(take("dtype")?).map_err(fault)?;
    header.parameters = take("parameters")?;
    header.python = take("python")?;
    Ok(())
}

/// Write a model, with what Python adds to its header and its arrays, into a file.
#[pyfunction]
pub fn save_model(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    said: &str,
    arrays: Vec<Given<'_>>,
) -> PyResult<()> {
    let mut own = Vec::with_capacity(arrays.len());
    for (name, dtype, shape, bytes) in arrays {
        own.push((name, Kind::from_name(&dtype), shape, bytes.as_slice()?.to_vec()));
    }
    let inner = &*model.inner;
    run(py, Job::new(1, None), |ctx| {
        let refused = |why: String| cannot_write(&path, &why);
        let mut package = inner.package()?;
        // The parameters are Python's, and so are their arrays.
        package.arrays.retain(|array| !array.name.starts_with("parameters."));
        describe(&mut package.header, said).map_err(refused)?;
        for (name, kind, shape, bytes) in own {
            let kind = kind.ok_or_else(|| refused(format!("`{name}` has numbers of an unknown type")))?;
            package.arrays.push(Array { name, kind, shape, bytes });
        }
        ctx.check()?;
        package.write(&path, || ctx.check())
    })
}

fn cannot_write(path: &Path, why: &str) -> Error {
    Error::ModelFile { path: path.display().to_string(), why: format!("cannot be written: {why}") }
}

/// A model from a file, its header as JSON, and the arrays that are Python's.
#[pyfunction]
pub fn load_model<'py>(py: Python<'py>, path: PathBuf) -> PyResult<(Model, String, Vec<Found<'py>>)> {
    let (saved, inner, header) = run(py, Job::new(1, None), |_| {
        let saved = Saved::open(&path)?;
        let inner = methods::model_of_file(&saved, &path)?;
        let header = match &saved {
            Saved::Now(contents) => contents.header.shown(),
            Saved::First(..) => {
                let why = "cannot be read: its format is 1, which has no parameters; read it in Rust, or the \
                           pickle it is from";
                return Err(Error::ModelFile { path: path.display().to_string(), why: why.into() });
            }
        };
        Ok((saved, inner, header))
    })?;
    let mut arrays = Vec::new();
    if let Saved::Now(contents) = &saved {
        for entry in &contents.entries {
            if entry.name.starts_with("python.") || entry.name.starts_with("parameters.") {
                let bytes = contents.view(entry).bytes.to_pyarray(py);
                arrays.push((entry.name.clone(), entry.kind.name(), entry.shape.clone(), bytes));
            }
        }
    }
    Ok((Model { method: saved.method().to_string(), inner }, header, arrays))
}

/// What a file holds: header as JSON, (name, type, shape) of each array, bytes in all.
type Inspected = (String, Vec<(String, &'static str, Vec<usize>)>, u64);

/// What a file says about itself; its arrays are not read.
#[pyfunction]
pub fn inspect_model(py: Python<'_>, path: PathBuf) -> PyResult<Inspected> {
    at_once(py, || {
        let (header, entries, length) = inspect(&path)?;
        let arrays = entries.into_iter().map(|entry| (entry.name, entry.kind.name(), entry.shape));
        Ok((header.shown(), arrays.collect(), length))
    })
}
