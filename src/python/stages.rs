//! The stages by the names that Python gives, into arrays that Python owns.

use ndarray::ArrayViewMut2;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::geodesic::{self, PathMethod, Plan, Sources};
use crate::input::Data;
use crate::input::check::check_offsets;
use crate::neighbors::{Algorithm, MetricName, NeighborRule, Neighbors};
use crate::params::{Parameter, Value};
use crate::stages;

/// A neighbour search on its own: among the rows themselves (each row's own
/// index left out) or from new rows.
pub(super) fn search(
    data: Data<'_>,
    query: Option<Data<'_>>,
    rule: NeighborRule,
    metric: &str,
    p: f64,
    algorithm: &str,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let metric: MetricName = named("metric", metric)?;
    let algorithm: Algorithm = named("algorithm", algorithm)?;
    ctx.answer(|| stages::search(data, query, rule, metric.metric(p)?, algorithm, ctx))
}

/// Shortest-path distances from `sources` (all rows when `None`) over a graph,
/// into a matrix of the caller's with one row for each source, by the method that suits
/// `planned` sources (as many as there are without): which one that is.
pub(super) fn geodesic_rows(
    data: Data<'_>,
    sources: Option<&[i64]>,
    path_method: &str,
    planned: Option<usize>,
    out: ArrayViewMut2<'_, f64>,
    ctx: &Ctx,
) -> Result<PathMethod> {
    let graph = graph_of(data, ctx)?;
    let rows = graph.len();
    let sources: Vec<u32> = match sources {
        None => (0..rows as u32).collect(),
        Some(chosen) => chosen.iter().map(|&source| source_row(source, rows)).collect::<Result<_>>()?,
    };
    let method: PathMethod = named("path_method", path_method)?;
    let plan = Plan::new(&graph, method, planned.unwrap_or(sources.len()), None, ctx)?;
    geodesic::rows_into(&plan, &Sources::nodes(&sources), out, ctx)?;
    Ok(plan.method())
}

/// A graph of Python's, checked and in both directions.
pub(super) fn graph_of(data: Data<'_>, ctx: &Ctx) -> Result<Graph> {
    let Data::Graph(given) = data else {
        return Err(Error::input(format!("shortest paths need a graph, got {}", data.kind())));
    };
    check_offsets(given)?;
    Graph::from_csr(given.rows(), &given.offsets, &given.indices, &given.values, ctx)
}

fn source_row(source: i64, rows: usize) -> Result<u32> {
    usize::try_from(source)
        .ok()
        .filter(|&source| source < rows)
        .map(|source| source as u32)
        .ok_or_else(|| Error::param("sources", format!("{source} is not a row; rows are 0..{rows}")))
}

/// A choice by its name, for callers outside a parameter struct.
pub(super) fn named<T: Parameter>(parameter: &'static str, name: &str) -> Result<T> {
    let mut choice = None;
    crate::params::assign(&mut choice, parameter, &Value::Str(name.to_string()))?;
    choice.ok_or_else(|| Error::param(parameter, format!("'{name}' is unknown")))
}
