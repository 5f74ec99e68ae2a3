//! The Python module: the only files that may name pyo3 or numpy.
//!
//! One class ([`Model`]) and a handful of functions serve every method there is
//! or will be: the surface does not grow with the registry. Conversions are in
//! `convert`, the exception table in `errors`, and `run` is the one way into
//! Rust that takes time.

mod convert;
mod datasets;
mod dimension;
mod errors;
mod model_files;
mod partitions;
mod quality;
mod run;
mod stages;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2, ToPyArray,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::extend::KernelMap;
use crate::method::AnyModel;
use crate::methods;
use crate::neighbors::{NeighborRule, Neighbors};
use crate::params::Params;
use convert::{PyData, attribute, parameters, value};
use run::{Job, at_once, run};

/// A fitted method.
#[pyclass(frozen, module = "planish._core")]
struct Model {
    #[pyo3(get)]
    method: String,
    inner: Box<dyn AnyModel>,
}

#[pymethods]
impl Model {
    /// Coordinates of the training rows; None when `transform` gives them.
    #[getter]
    fn embedding<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.inner.embedding().map(|placed| placed.to_pyarray(py))
    }

    /// Fitted attributes by name, without the trailing underscore.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let named = PyDict::new(py);
        for (name, value) in at_once(py, || self.inner.attributes())? {
            named.set_item(name, attribute(py, value)?)?;
        }
        Ok(named)
    }

    /// Coordinates of new rows.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        data: PyData<'py>,
        n_jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let data = data.view()?;
        let inner = &*self.inner;
        let placed = run(py, Job::new(n_jobs, progress), |ctx| inner.transform(data, ctx))?;
        Ok(placed.into_pyarray(py))
    }

    /// Distances of new rows to the nearest training row.
    fn nearest_distances<'py>(
        &self,
        py: Python<'py>,
        data: PyData<'py>,
        n_jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let data = data.view()?;
        let inner = &*self.inner;
        let found = run(py, Job::new(n_jobs, progress), |ctx| inner.nearest_distances(data, ctx))?;
        Ok(found.into_pyarray(py))
    }

    /// Points for given coordinates.
    fn inverse_transform<'py>(
        &self,
        py: Python<'py>,
        coordinates: PyReadonlyArray2<'py, f64>,
        n_jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let coordinates = coordinates.as_array();
        let inner = &*self.inner;
        let points = run(py, Job::new(n_jobs, progress), |ctx| inner.inverse_transform(coordinates, ctx))?;
        Ok(points.into_pyarray(py))
    }

    /// Something computed only when asked for.
    fn compute<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        n_jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let inner = &*self.inner;
        let found = run(py, Job::new(n_jobs, progress), |ctx| inner.compute(what, ctx))?;
        attribute(py, found)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let state = at_once(py, || self.inner.save())?;
        let restore = py.import("planish._core")?.getattr("restore")?;
        Ok((restore, (self.method.clone(), PyBytes::new(py, &state))))
    }

    /// Fitted models never change: a copy is the model itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Fitted models never change: a deep copy is the model itself.
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

/// What `pickle` stores: a function and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (String, Bound<'py, PyBytes>));

/// Method name -> {parameter: default}: the registry.
#[pyfunction]
fn methods_<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let registry = PyDict::new(py);
    for (name, method) in methods::all() {
        let defaults = PyDict::new(py);
        for (parameter, default) in method.parameters() {
            defaults.set_item(parameter, value(py, default)?)?;
        }
        registry.set_item(name, defaults)?;
    }
    Ok(registry)
}

/// Fit a method by name.
#[pyfunction]
#[pyo3(signature = (method, params, data, n_jobs, seed, progress, memory_limit, callback=None))]
fn fit(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    data: PyData<'_>,
    n_jobs: usize,
    seed: u64,
    progress: Option<Py<PyAny>>,
    memory_limit: Option<u64>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let params = parameters(params)?;
    let built = at_once(py, || methods::build(method, &params))?;
    let data = data.view()?;
    let job = Job::new(n_jobs, progress).seed(seed).memory_limit(memory_limit).callback(callback);
    let inner = run(py, job, |ctx| built.fit(data, ctx))?;
    Ok(Model { method: method.to_string(), inner })
}

/// Fit the kernel map that takes points to given coordinates.
#[pyfunction]
#[pyo3(signature = (params, data, coordinates, n_jobs, progress, memory_limit))]
fn fit_kernel_map(
    py: Python<'_>,
    params: &Bound<'_, PyDict>,
    data: PyData<'_>,
    coordinates: PyReadonlyArray2<'_, f64>,
    n_jobs: usize,
    progress: Option<Py<PyAny>>,
    memory_limit: Option<u64>,
) -> PyResult<Model> {
    let mut map = KernelMap::default();
    let params = parameters(params)?;
    at_once(py, || params.iter().try_for_each(|(name, value)| map.set(name, value)))?;
    let (data, coordinates) = (data.view()?, coordinates.as_array());
    let job = Job::new(n_jobs, progress).memory_limit(memory_limit);
    let inner = run(py, job, |ctx| map.fit(data, coordinates, ctx))?;
    Ok(Model { method: KernelMap::NAME.to_string(), inner: Box::new(inner) })
}

/// Read a pickled model back.
#[pyfunction]
fn restore(py: Python<'_>, method: &str, state: &[u8]) -> PyResult<Model> {
    let inner = at_once(py, || methods::restore(method, state))?;
    Ok(Model { method: method.to_string(), inner })
}

type NeighborArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Neighbours as ragged rows: (indptr, indices, distances).
#[pyfunction]
#[pyo3(signature = (data, query, n_neighbors, radius, metric, p, algorithm, n_jobs, progress))]
fn kneighbors<'py>(
    py: Python<'py>,
    data: PyData<'py>,
    query: Option<PyData<'py>>,
    n_neighbors: Option<i64>,
    radius: Option<f64>,
    metric: &str,
    p: f64,
    algorithm: &str,
    n_jobs: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<NeighborArrays<'py>> {
    let data = data.view()?;
    let query = query.as_ref().map(PyData::view).transpose()?;
    let found = run(py, Job::new(n_jobs, progress), |ctx| {
        let n_neighbors = n_neighbors.map(|k| usize::try_from(k).unwrap_or(0));
        let rule = NeighborRule::from_params(n_neighbors, radius)?;
        stages::search(data, query, rule, metric, p, algorithm, ctx)
    })?;
    Ok(neighbor_arrays(py, &found))
}

fn neighbor_arrays<'py>(py: Python<'py>, found: &Neighbors) -> NeighborArrays<'py> {
    let whole = |count: &usize| *count as i64;
    (
        PyArray1::from_iter(py, found.offsets.iter().map(whole)),
        PyArray1::from_iter(py, found.indices.iter().map(|&index| i64::from(index))),
        found.distances.to_pyarray(py),
    )
}

/// Shortest-path distances over a graph, one row per source, into `out`; returned is the
/// path method that ran, chosen for `planned` sources.
///
/// The room is NumPy's: it asks the system for large pages, which saves much of
/// the time that a matrix of gigabytes takes to come into memory.
#[pyfunction]
#[pyo3(signature = (graph, sources, path_method, out, n_jobs, progress, planned=None))]
fn geodesic_distances<'py>(
    py: Python<'py>,
    graph: PyData<'py>,
    sources: Option<PyReadonlyArray1<'py, i64>>,
    path_method: &str,
    mut out: PyReadwriteArray2<'py, f64>,
    n_jobs: usize,
    progress: Option<Py<PyAny>>,
    planned: Option<usize>,
) -> PyResult<String> {
    let data = graph.view()?;
    let sources: Option<Vec<i64>> = sources.map(|array| array.as_array().to_vec());
    let out = out.as_array_mut();
    let chosen = run(py, Job::new(n_jobs, progress), |ctx| {
        stages::geodesic_rows(data, sources.as_deref(), path_method, planned, out, ctx)
    })?;
    Ok(chosen.name().to_string())
}

/// Bytes a fit takes at its largest moment beyond the input.
#[pyfunction]
fn estimate_memory(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    n_samples: usize,
    n_features: usize,
) -> PyResult<u64> {
    let params = parameters(params)?;
    at_once(py, || Ok(methods::build(method, &params)?.memory(n_samples, n_features)))
}

/// Bytes this process may still take.
#[pyfunction]
fn available_memory() -> u64 {
    crate::context::available_memory()
}

/// The extension module. It needs no global lock: the one class never changes and is `Sync`
/// (the compiler checks it), nothing is static, and arrays are borrowed for the length of a
/// call, in which NumPy's own lock was never held either.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Model>()?;
    module.add("methods", wrap_pyfunction!(methods_, module)?)?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit_kernel_map, module)?)?;
    module.add_function(wrap_pyfunction!(restore, module)?)?;
    module.add_function(wrap_pyfunction!(model_files::save_model, module)?)?;
    module.add_function(wrap_pyfunction!(model_files::load_model, module)?)?;
    module.add_function(wrap_pyfunction!(model_files::inspect_model, module)?)?;
    module.add_function(wrap_pyfunction!(kneighbors, module)?)?;
    module.add_function(wrap_pyfunction!(geodesic_distances, module)?)?;
    module.add_function(wrap_pyfunction!(estimate_memory, module)?)?;
    module.add_function(wrap_pyfunction!(available_memory, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::relax_distances, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::closest_foreign, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::graph_landmarks, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::graph_outliers, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::random_rows, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::pca_of_moments, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::dataset, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::dataset_geodesics, module)?)?;
    module.add_function(wrap_pyfunction!(dimension::dimension, module)?)?;
    module.add_function(wrap_pyfunction!(dimension::blended_dimension, module)?)?;
    module.add_function(wrap_pyfunction!(quality::quality, module)?)?;
    module.add_function(wrap_pyfunction!(errors::exception_table, module)?)?;
    module.add_function(wrap_pyfunction!(errors::warning_table, module)?)?;
    Ok(())
}
