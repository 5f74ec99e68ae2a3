//! Steps that the cluster (`planish.dask`) takes on one part of the data at a time.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Model;
use super::convert::{PyData, parameters};
use super::run::{Job, at_once, run};
use super::stages::{graph_of, named};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::geodesic::{Sources, relax};
use crate::input::{Data, check};
use crate::landmarks::{GraphCover, LandmarkChoice, choose, few_random_rows};
use crate::method::{Scaling, drive};
use crate::methods::Pca;
use crate::neighbors::{Algorithm, ClosestForeign, Index, Link, MetricName, Neighbors};
use crate::params::Params;
use crate::spectrum::principal_axes::Moments;

type LinkArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Shorten distances, one row for each source, by paths that begin at its seeds.
#[pyfunction]
#[pyo3(signature = (graph, seeds, distances, n_jobs))]
pub(super) fn relax_distances(
    py: Python<'_>,
    graph: PyData<'_>,
    seeds: PyData<'_>,
    mut distances: PyReadwriteArray2<'_, f64>,
    n_jobs: usize,
) -> PyResult<()> {
    let (graph, seeds) = (graph.view()?, seeds.view()?);
    let room = distances.as_array_mut();
    run(py, Job::new(n_jobs, None), |ctx| {
        let Data::Graph(given) = seeds else {
            return Err(Error::input(format!("seeds are a graph's rows, got {}", seeds.kind())));
        };
        let lists = Neighbors {
            offsets: given.offsets.clone(),
            indices: given.indices.clone(),
            distances: given.values.clone(),
        };
        relax(&graph_of(graph, ctx)?, &Sources::seeds(&lists), room, ctx)
    })
}

/// For each of `count` labels the closest pair of a row with it and a row without.
#[pyfunction]
#[pyo3(signature = (data, labels, count, metric, p, n_jobs))]
pub(super) fn closest_foreign<'py>(
    py: Python<'py>,
    data: PyData<'py>,
    labels: PyReadonlyArray1<'py, i64>,
    count: usize,
    metric: &str,
    p: f64,
    n_jobs: usize,
) -> PyResult<LinkArrays<'py>> {
    let data = data.view()?;
    let labels: Vec<usize> = labels.as_array().iter().map(|&label| label.max(0) as usize).collect();
    let links = run(py, Job::new(n_jobs, None), |ctx| links_between(data, &labels, count, metric, p, ctx))?;
    Ok((
        PyArray1::from_iter(py, links.iter().map(|link| i64::from(link.from))),
        PyArray1::from_iter(py, links.iter().map(|link| i64::from(link.to))),
        PyArray1::from_iter(py, links.iter().map(|link| link.distance)),
    ))
}

fn links_between(
    data: Data<'_>,
    labels: &[usize],
    count: usize,
    metric: &str,
    p: f64,
    ctx: &Ctx,
) -> Result<Vec<Link>> {
    let metric: MetricName = named("metric", metric)?;
    let (Data::Points(points), Some(metric)) = (data, metric.metric(p)?) else {
        return Err(Error::input("the closest rows of components are looked for among points"));
    };
    check::check_points(points)?;
    ctx.answer(|| Index::build(points, metric, Algorithm::Auto, ctx)?.closest_foreign(labels, count, ctx))
}

/// Landmarks of a graph, in the order in which they are chosen.
#[pyfunction]
#[pyo3(signature = (graph, choice, count, seed, n_jobs))]
pub(super) fn graph_landmarks<'py>(
    py: Python<'py>,
    graph: PyData<'py>,
    choice: &str,
    count: usize,
    seed: u64,
    n_jobs: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let graph = graph.view()?;
    let chosen = run(py, Job::new(n_jobs, None).seed(seed), |ctx| {
        let graph = graph_of(graph, ctx)?;
        let choice: LandmarkChoice = named("landmarks", choice)?;
        choose(&mut GraphCover::new(&graph, None)?, &choice, count.min(graph.len()), ctx)
    })?;
    Ok(PyArray1::from_iter(py, chosen.iter().map(|&row| i64::from(row))))
}

/// Rows of a graph that are so far from all others that they would dominate its embedding.
#[pyfunction]
#[pyo3(signature = (graph, n_jobs))]
pub(super) fn graph_outliers<'py>(
    py: Python<'py>,
    graph: PyData<'py>,
    n_jobs: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let graph = graph.view()?;
    let found = run(py, Job::new(n_jobs, None), |ctx| crate::graph::outliers(&graph_of(graph, ctx)?, ctx))?;
    Ok(PyArray1::from_iter(py, found.iter().map(|&row| i64::from(row))))
}

/// `count` different rows of `rows`, those that `landmarks="random"` takes.
#[pyfunction]
#[pyo3(signature = (rows, count, seed))]
pub(super) fn random_rows<'py>(
    py: Python<'py>,
    rows: usize,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let drawn = at_once(py, || Ok(few_random_rows(rows, count, &Ctx::new(1, seed))))?;
    Ok(drawn.into_iter().map(|row| row as i64).collect::<Vec<_>>().into_pyarray(py))
}

/// PCA of rows of which only the number, the mean and the scatter matrix are known.
#[pyfunction]
#[pyo3(signature = (params, rows, mean, scatter, n_jobs))]
pub(super) fn pca_of_moments(
    py: Python<'_>,
    params: &Bound<'_, PyDict>,
    rows: usize,
    mean: Vec<f64>,
    scatter: PyReadonlyArray2<'_, f64>,
    n_jobs: usize,
) -> PyResult<Model> {
    let params = parameters(params)?;
    let mut method = Pca::default();
    at_once(py, || params.iter().try_for_each(|(name, value)| method.set(name, value)))?;
    let moments = Moments { rows, mean, scatter: scatter.as_array().as_standard_layout().into_owned() };
    let fitted = run(py, Job::new(n_jobs, None), |ctx| {
        let data = Data::Kernel(moments.scatter.view());
        drive(Pca::NAME, data, Scaling::Absolute, ctx, |_, _, ctx| method.fit_moments(&moments, ctx))
    })?;
    Ok(Model { method: Pca::NAME.to_string(), inner: Box::new(fitted) })
}
