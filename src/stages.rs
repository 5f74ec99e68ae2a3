//! Stages on their own, for callers who want neighbours or shortest paths and
//! no embedding: what `planish.kneighbors` and `planish.geodesic_distances` call.
//!
//! Choices come by name here, as they do in a method's parameters.

use ndarray::ArrayViewMut2;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::geodesic::{self, PathMethod, Plan, Sources};
use crate::input::check::{self, check_offsets};
use crate::input::scale::{Scale, scale_of_points};
use crate::methods::choices::{MetricName, NeighborsAlgorithm, ignores_scale};
use crate::methods::locator::Locator;
use crate::methods::neighborhood::scaled_hood;
use crate::neighbors::{Algorithm, Hood, Index, Metric, Neighbors, from_distances};
use crate::params::{Parameter, Value};
use crate::pipeline::Data;

/// A neighbour search on its own: among the rows themselves (each row's own
/// index left out) or from new rows.
pub fn search(
    data: Data<'_>,
    query: Option<Data<'_>>,
    hood: Hood,
    metric: &str,
    p: f64,
    algorithm: &str,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let metric: MetricName = named("metric", metric)?;
    let algorithm: NeighborsAlgorithm = named("algorithm", algorithm)?;
    ctx.install(|| search_checked(data, query, hood, metric.metric(p)?, algorithm.algorithm(), ctx))
}

fn search_checked(
    data: Data<'_>,
    query: Option<Data<'_>>,
    hood: Hood,
    metric: Option<Metric>,
    algorithm: Algorithm,
    ctx: &Ctx,
) -> Result<Neighbors> {
    match (data, metric) {
        (Data::Points(points), Some(metric)) => {
            check::check_points(points)?;
            let scale = scale_of_points(points);
            let length_scale = if ignores_scale(metric) { Scale::ONE } else { scale };
            let scaled = scale.points(points);
            let index = Index::build(scaled.view(), metric, algorithm, ctx)?;
            let mut near = match query {
                None => index.neighbors_of_all(scaled_hood(hood, length_scale), ctx)?,
                Some(query) => {
                    if let Data::Points(points) = query {
                        check::check_points(points)?;
                    }
                    Locator::Points(Box::new(index)).find(query, hood, false, scale, ctx)?
                }
            };
            if !length_scale.is_one() {
                near.distances.iter_mut().for_each(|distance| *distance = length_scale.back(*distance));
            }
            Ok(near)
        }
        (Data::Distances(matrix), None) => {
            check::check_finite(matrix, "the distance matrix")?;
            from_distances(check::distances(matrix, ctx)?.view(), hood, ctx)
        }
        (data, _) => Err(Error::param("metric", format!("does not fit {}", data.kind()))),
    }
}

/// Shortest-path distances from `sources` (all rows when `None`) over a graph,
/// into a matrix of the caller's with one row for each source.
pub fn geodesic_rows(
    data: Data<'_>,
    sources: Option<&[i64]>,
    path_method: &str,
    out: ArrayViewMut2<'_, f64>,
    ctx: &Ctx,
) -> Result<()> {
    let Data::Graph(given) = data else {
        return Err(Error::input(format!("shortest paths need a graph, got {}", data.kind())));
    };
    check_offsets(given)?;
    let graph = Graph::from_csr(given.rows(), &given.offsets, &given.indices, &given.values, ctx)?;
    let rows = given.rows();
    let sources: Vec<u32> = match sources {
        None => (0..rows as u32).collect(),
        Some(chosen) => chosen.iter().map(|&source| source_row(source, rows)).collect::<Result<_>>()?,
    };
    let method: PathMethod = named("path_method", path_method)?;
    let plan = Plan::new(&graph, method, sources.len(), None, ctx)?;
    geodesic::rows_into(&plan, &Sources::nodes(&sources), out, ctx)
}

fn source_row(source: i64, rows: usize) -> Result<u32> {
    usize::try_from(source)
        .ok()
        .filter(|&source| source < rows)
        .map(|source| source as u32)
        .ok_or_else(|| Error::param("sources", format!("{source} is not a row; rows are 0..{rows}")))
}

/// A choice by its name, for callers outside a parameter struct.
fn named<T: Parameter>(parameter: &'static str, name: &str) -> Result<T> {
    let mut choice = None;
    crate::params::assign(&mut choice, parameter, &Value::Str(name.to_string()))?;
    choice.ok_or_else(|| Error::param(parameter, format!("'{name}' is unknown")))
}
