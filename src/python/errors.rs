//! Rust errors and warnings as Python exceptions and warnings: one table each.
//!
//! The classes live in `planish.exceptions`; tests compare both lists.

use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Error, Warning, WarningKind};

/// The class an error becomes, and the variant's own name.
fn class_of(error: &Error) -> (&'static str, &'static str) {
    match error {
        Error::Param { .. } => ("Param", "ParameterError"),
        Error::ParamType { .. } => ("ParamType", "ParameterError"),
        Error::UnknownParam { .. } => ("UnknownParam", "ParameterError"),
        Error::UnknownMethod(..) => ("UnknownMethod", "ParameterError"),
        Error::Input(_) => ("Input", "InputError"),
        Error::Unsupported(_) => ("Unsupported", "UnsupportedError"),
        Error::Disconnected { .. } => ("Disconnected", "DisconnectedGraphError"),
        Error::Memory { .. } => ("Memory", "MemoryNeedError"),
        Error::NotConverged(_) => ("NotConverged", "NotConvergedError"),
        Error::Restore(_) => ("Restore", "InputError"),
        Error::ModelFile { .. } => ("ModelFile", "ModelFileError"),
        Error::Cancelled => ("Cancelled", "CancelledError"),
    }
}

/// One example of each variant, so that the table can be listed.
fn examples() -> Vec<Error> {
    let text = String::new;
    vec![
        Error::Param { name: "", why: text() },
        Error::ParamType { name: text(), expected: text(), got: text() },
        Error::UnknownParam { method: "", name: text(), known: text() },
        Error::UnknownMethod(text(), text()),
        Error::Input(text()),
        Error::Unsupported(text()),
        Error::Disconnected { count: 2, sizes: text(), labels: vec![], remedy: text() },
        Error::Memory { what: text(), need: 0, available: 0, hint: text() },
        Error::NotConverged(text()),
        Error::Restore(text()),
        Error::ModelFile { path: text(), why: text() },
        Error::Cancelled,
    ]
}

/// The Python exception for an error; anything that goes wrong on the way is
/// raised in its place.
pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    build(py, &error).unwrap_or_else(|fault| fault)
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = py.import("planish.exceptions")?.getattr(class_of(error).1)?;
    let exception = class.call1((error.to_string(),))?;
    match error {
        Error::Disconnected { count, labels, .. } => {
            let labels = labels.iter().map(|&label| label as i64);
            exception.setattr("labels", PyArray1::from_iter(py, labels))?;
            exception.setattr("n_components", count)?;
        }
        Error::Memory { need, available, .. } => {
            exception.setattr("need", need)?;
            exception.setattr("available", available)?;
        }
        _ => {}
    }
    Ok(PyErr::from_value(exception))
}

/// A fault of the library itself: never expected, always worth a report.
pub fn internal(detail: &str) -> PyErr {
    Python::attach(|py| {
        let message = format!("internal error in planish ({detail}); please report it with the data's shape");
        let class = py.import("planish.exceptions").and_then(|module| module.getattr("InternalError"));
        match class.and_then(|class| class.call1((message.clone(),))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(_) => PyRuntimeError::new_err(message),
        }
    })
}

/// Emit warnings through Python's own machinery; a filter may turn one into an
/// exception, which is then the result.
pub fn emit(py: Python<'_>, warnings: &[Warning]) -> PyResult<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    let classes = py.import("planish.exceptions")?;
    // Python finds the caller's line: how deep it lies depends on the way in.
    let warn = py.import("planish._warn")?.getattr("warn")?;
    for warning in warnings {
        let class = classes.getattr(warning.kind.class_name())?;
        warn.call1((&warning.message, class))?;
    }
    Ok(())
}

/// Rust error variant -> Python exception class name.
#[pyfunction]
pub fn exception_table(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for (variant, class) in examples().iter().map(class_of) {
        table.set_item(variant, class)?;
    }
    Ok(table)
}

/// Python warning class names.
#[pyfunction]
pub fn warning_table() -> Vec<&'static str> {
    WarningKind::ALL.iter().map(|kind| kind.class_name()).collect()
}
