//! Estimates of dimension, by the names of their methods.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::convert::PyData;
use super::run::{Job, run};
use super::stages::named;
use super::{NeighborArrays, neighbor_arrays};
use crate::dimension::{AtScale, Estimate, Settings, blend, estimate_and_lists};
use crate::error::{Error, Result};

type Interval = Option<[f64; 2]>;
type Found<'py> = (
    Option<f64>,
    Option<(bool, String)>,
    Interval,
    Option<Bound<'py, PyArray1<f64>>>,
    Vec<([usize; 2], f64, f64, Interval)>,
);

/// For each method (value, (unsupported, why there is none), interval, values of rows, scales),
/// and the lists of neighbours of the distinct rows.
#[pyfunction]
#[pyo3(signature = (data, methods, n_neighbors, metric, p, rule, discard, n_bootstraps, confidence, seed, n_jobs, progress))]
pub fn dimension<'py>(
    py: Python<'py>,
    data: PyData<'py>,
    methods: Vec<String>,
    n_neighbors: usize,
    metric: &str,
    p: f64,
    rule: &str,
    discard: f64,
    n_bootstraps: usize,
    confidence: f64,
    seed: u64,
    n_jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Found<'py>>, NeighborArrays<'py>)> {
    let data = data.view()?;
    let (found, lists) = run(py, Job::new(n_jobs, progress).seed(seed), |ctx| {
        let settings = Settings {
            n_neighbors,
            metric: named("metric", metric)?,
            p,
            estimators: methods.iter().map(|name| named("methods", name)).collect::<Result<_>>()?,
            rule: named("rule", rule)?,
            discard,
            n_bootstraps,
            confidence,
        };
        estimate_and_lists(data, &settings, ctx)
    })?;
    Ok((found.into_iter().map(|one| described(py, one)).collect(), neighbor_arrays(py, &lists)))
}

/// The one value of two estimates.
#[pyfunction]
pub fn blended_dimension(angles: f64, likelihood: f64) -> f64 {
    blend(angles, likelihood)
}

fn described(py: Python<'_>, found: Estimate) -> Found<'_> {
    let scale = |one: AtScale| (one.ranks, one.distance, one.value, one.interval);
    let reason = |error: &Error| (matches!(error, Error::Unsupported(_)), error.to_string());
    (
        found.global.as_ref().ok().copied(),
        found.global.as_ref().err().map(reason),
        found.interval,
        found.local.map(|values| values.into_pyarray(py)),
        found.scales.into_iter().map(scale).collect(),
    )
}
