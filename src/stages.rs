//! Single steps as functions on [`ndarray`] types: neighbours, the
//! neighbourhood graph, geodesic distances, scaling.
//!
//! Together they are Isomap by hand:
//!
//! ```
//! use planish::ndarray::Array2;
//! use planish::{Ctx, choices::MetricName, stages};
//!
//! let arc = Array2::from_shape_fn((60, 2), |(i, axis)| {
//!     let t = i as f64 / 20.0;
//!     if axis == 0 { t.cos() } else { t.sin() }
//! });
//! let ctx = Ctx::default();
//! let (indices, distances) = stages::kneighbors(&arc, 3, MetricName::Euclidean, &ctx)?;
//! assert_eq!((indices.dim(), distances.dim()), ((60, 3), (60, 3)));
//! let graph = stages::neighbors_graph(&arc, 3, MetricName::Euclidean, &ctx)?;
//! let geodesics = stages::geodesic_distances(&graph, &ctx)?;
//! let (coordinates, eigenvalues) = stages::classical_scaling(geodesics.view(), 1, &ctx)?;
//! assert_eq!(coordinates.dim(), (60, 1));
//! assert!(eigenvalues[0] > 0.0);
//! # planish::Result::Ok(())
//! ```

use ndarray::{Array2, ArrayView2};

use crate::context::Ctx;
use crate::dimension::Coordinates;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::geodesic;
use crate::graph::geodesic::{PathMethod, Plan, Sources};
use crate::graph::{Isolated, Locator};
use crate::input::check;
use crate::input::rows::RowMap;
use crate::input::scale::scale_of_points;
use crate::input::{Data, Input};
use crate::methods::ClassicalMds;
use crate::neighbors::{Algorithm, Index, Metric, MetricName, NeighborRule, Neighbors, from_distances};
use crate::scale::Scale;
use crate::spectrum::{Options, top};

/// The nearest neighbours of every row among the others: their indices and distances,
/// nearest first, both n × `n_neighbors`. Ties go to the smaller index.
///
/// # Errors
/// Rows that are not numbers, more neighbours than other rows, a metric that does not
/// fit the data, cancellation, memory.
pub fn kneighbors<'a>(
    data: impl Into<Input<'a>>,
    n_neighbors: usize,
    metric: MetricName,
    ctx: &Ctx,
) -> Result<(Array2<usize>, Array2<f64>)> {
    let near = nearest(data.into().view(), n_neighbors, metric, ctx)?;
    let rows = near.offsets.len() - 1;
    let shape = |fault: ndarray::ShapeError| Error::input(fault.to_string());
    let indices = near.indices.iter().map(|&index| index as usize).collect();
    Ok((
        Array2::from_shape_vec((rows, n_neighbors), indices).map_err(shape)?,
        Array2::from_shape_vec((rows, n_neighbors), near.distances).map_err(shape)?,
    ))
}

/// The neighbourhood graph: an edge wherever one of two rows is among the nearest
/// neighbours of the other, as long as their distance.
///
/// # Errors
/// As [`kneighbors`].
pub fn neighbors_graph<'a>(
    data: impl Into<Input<'a>>,
    n_neighbors: usize,
    metric: MetricName,
    ctx: &Ctx,
) -> Result<Graph> {
    let near = nearest(data.into().view(), n_neighbors, metric, ctx)?;
    ctx.answer(|| Graph::from_neighbors(&near, ctx))
}

fn nearest(data: Data<'_>, n_neighbors: usize, metric: MetricName, ctx: &Ctx) -> Result<Neighbors> {
    let rows = data.rows();
    if n_neighbors == 0 || n_neighbors >= rows {
        let why = format!("must be at least 1 and less than n_samples = {rows}, got {n_neighbors}");
        return Err(Error::param("n_neighbors", why));
    }
    let metric = metric.metric(2.0)?;
    ctx.answer(|| search(data, None, NeighborRule::Nearest(n_neighbors), metric, Algorithm::Auto, ctx))
}

/// Lengths of the shortest paths between all nodes of a graph, n × n; infinite between
/// connected components.
///
/// # Errors
/// Cancellation, memory.
pub fn geodesic_distances(graph: &Graph, ctx: &Ctx) -> Result<Array2<f64>> {
    let rows = graph.len();
    let need = 8 * (rows as u64).saturating_mul(rows as u64);
    ctx.reserve(need, "the matrix of geodesic distances", "take the graph of fewer rows")?;
    let mut distances = Array2::zeros((rows, rows));
    ctx.answer(|| {
        let plan = Plan::new(graph, PathMethod::Auto, rows, None, ctx)?;
        let sources: Vec<u32> = (0..rows as u32).collect();
        geodesic::rows_into(&plan, &Sources::nodes(&sources), distances.view_mut(), ctx)
    })?;
    Ok(distances)
}

/// Classical scaling of a matrix of distances: coordinates V√Λ, n × `n_components`, and
/// the eigenvalues, largest first.
///
/// # Errors
/// A matrix that is not square, symmetric, finite and without negative entries, each
/// fault named; cancellation.
pub fn classical_scaling(
    distances: ArrayView2<'_, f64>,
    n_components: usize,
    ctx: &Ctx,
) -> Result<(Array2<f64>, Vec<f64>)> {
    let method = ClassicalMds {
        n_components: Coordinates::Count(n_components),
        metric: MetricName::Precomputed,
        ..ClassicalMds::default()
    };
    let fitted = method.fit(Data::Distances(distances), ctx)?;
    let coordinates = fitted.embedding().map(|placed| placed.to_owned());
    let missing = || Error::Unsupported("no coordinates were kept".into());
    Ok((coordinates.ok_or_else(missing)?, fitted.eigenvalues()?))
}

/// The largest eigenvalues of a symmetric matrix, descending, and their eigenvectors, one
/// per column, by the solver that suits the size.
///
/// # Errors
/// A matrix that is not square, or an iteration that does not converge; cancellation.
pub fn top_eigenpairs(matrix: &Array2<f64>, count: usize, ctx: &Ctx) -> Result<(Vec<f64>, Array2<f64>)> {
    if matrix.nrows() != matrix.ncols() {
        let (rows, columns) = matrix.dim();
        return Err(Error::input(format!("the matrix must be square, got {rows} x {columns}")));
    }
    check::check_finite(matrix.view(), "the matrix")?;
    let found = ctx.answer(|| top(matrix, count, &Options::default(), ctx))?;
    Ok((found.values, found.vectors))
}

/// A neighbour search on its own: among the rows themselves (each row's own index left
/// out) or from new rows.
pub(crate) fn search(
    data: Data<'_>,
    query: Option<Data<'_>>,
    rule: NeighborRule,
    metric: Option<Metric>,
    algorithm: Algorithm,
    ctx: &Ctx,
) -> Result<Neighbors> {
    match (data, metric) {
        (Data::Points(points), Some(metric)) => {
            check::check_points(points)?;
            let scale = scale_of_points(points);
            let lengths = if metric.ignores_scale() { Scale::ONE } else { scale };
            let rule = match rule {
                NeighborRule::Within(radius) => NeighborRule::Within(lengths.into(radius)),
                nearest => nearest,
            };
            let index = Index::build(scale.points(points).view(), metric, algorithm, ctx)?;
            let mut near = match query {
                None => index.neighbors_of_all(rule, ctx)?,
                Some(query) => {
                    if let Data::Points(points) = query {
                        check::check_points(points)?;
                    }
                    let rows = RowMap::all(points.rows());
                    let query = scale.data(query);
                    Locator::Points(Box::new(index)).find(query.view(), &rows, rule, Isolated::Error, ctx)?
                }
            };
            near.distances.iter_mut().for_each(|distance| *distance = lengths.back(*distance));
            Ok(near)
        }
        (Data::Distances(matrix), None) => {
            check::check_finite(matrix, "the distance matrix")?;
            from_distances(check::distances(matrix, ctx)?.view(), rule, ctx)
        }
        (data, _) => Err(Error::param("metric", format!("does not fit {}", data.kind()))),
    }
}
