//! Geodesic distances to landmarks, used batch by batch and never stored: the
//! m × m table between them, and the coordinates of everything else.
//!
//! Place: between [`Geodesics`] and [`Triangulation`]. Landmarks come sorted by the plan's positions, so that the
//! batches of the shortest-path engine are the batches of the triangulation.
//! Cost of one pass: m shortest-path searches. Where their trees are kept, the distances to
//! the neighbours of new rows are walks along paths, with the same bits.

use std::sync::Mutex;

use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::Result;
use crate::extend::Triangulation;
use crate::graph::Graph;
use crate::graph::geodesic::{
    Batch, Geodesics, PathMethod, PathTrees, Plan, Sources, Walks, find_trees, for_each_batch,
    for_each_batch_to,
};
use crate::kernel::CenteredSquares;
use crate::landmarks::{GraphCover, LandmarkChoice, choose};
use crate::linalg::packed::LANES;
use crate::neighbors::Neighbors;
use crate::spectrum::{Options, top};

/// Landmarks sorted by position: near ones share a batch.
pub fn grouped(landmarks: &[u32], plan: &Plan) -> Vec<u32> {
    let mut sorted = landmarks.to_vec();
    sorted.sort_by_key(|&landmark| plan.positions()[landmark as usize]);
    sorted
}

/// Geodesic distances between the landmarks.
pub fn table(plan: &Plan, landmarks: &[u32], ctx: &Ctx) -> Result<Array2<f64>> {
    let m = landmarks.len();
    ctx.reserve((16 * m * m) as u64, "the distances between the landmarks", "use fewer landmarks")?;
    let table = Mutex::new(Array2::zeros((m, m)));
    ctx.stage("shortest paths", m);
    for_each_batch(plan, &Sources::nodes(landmarks), ctx, |batch| {
        let columns: Vec<&[f64; LANES]> = landmarks.iter().map(|&node| batch.node(node as usize)).collect();
        let mut table = table.lock().unwrap_or_else(|held| held.into_inner());
        for (lane, &source) in batch.sources().iter().enumerate() {
            for (column, lanes) in columns.iter().enumerate() {
                table[[source as usize, column]] = lanes[lane];
            }
        }
        Ok(())
    })?;
    let mut table = table.into_inner().unwrap_or_else(|held| held.into_inner());
    // The two directions of a pair may differ in the last bit; the smaller holds.
    for i in 0..m {
        for j in 0..i {
            let smaller = f64::min(table[[i, j]], table[[j, i]]);
            table[[i, j]] = smaller;
            table[[j, i]] = smaller;
        }
    }
    Ok(table)
}

/// Vectors near the leading eigenvectors of the kernel of all geodesic distances:
/// coordinates of every node by landmarks.
pub fn starting_vectors(paths: &Geodesics, width: usize, ctx: &Ctx) -> Result<Array2<f64>> {
    const LANDMARKS: usize = 256;
    let (graph, plan) = (paths.graph(), paths.plan(ctx)?);
    let mut cover = GraphCover::new(graph.lengths(), graph.order())?;
    let count = LANDMARKS.min(plan.len());
    let landmarks = grouped(&choose(&mut cover, &LandmarkChoice::Maxmin, count, ctx)?, plan);
    let table = table(plan, &landmarks, ctx)?;
    let kernel = CenteredSquares::new(table.view())?;
    let pairs = top(&kernel, width.min(count), &Options::default(), ctx)?;
    let floor = pairs.values[0].max(0.0) * 1e-9;
    let values: Vec<Option<f64>> =
        pairs.values.iter().map(|&value| (value > floor).then_some(value)).collect();
    let formula = Triangulation::new(pairs.vectors.view(), &values, &kernel.means(ctx)?.rows);
    place_nodes(plan, &landmarks, &formula, ctx)
}

/// Coordinates of every node.
pub fn place_nodes(
    plan: &Plan,
    landmarks: &[u32],
    formula: &Triangulation,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let by_position =
        sum_of_parts(plan, landmarks, (plan.len(), formula.components()), None, ctx, |index, batch| {
            Ok(formula.part(index, batch.distances(), |_| 0.0))
        })?;
    Ok(by_node(plan, &by_position))
}

/// The same, and the trees of the landmarks' shortest paths for
/// [`place_new_by_trees`], where they may be kept.
pub fn place_nodes_keeping(
    paths: &Geodesics,
    landmarks: &[u32],
    formula: &Triangulation,
    ctx: &Ctx,
) -> Result<(Array2<f64>, Option<PathTrees>)> {
    let (graph, plan) = (paths.graph().lengths(), paths.plan(ctx)?);
    let Some(room) = room_for_trees(paths, landmarks.len(), ctx) else {
        return Ok((place_nodes(plan, landmarks, formula, ctx)?, None));
    };
    let found = Mutex::new(Some(room));
    let by_position =
        sum_of_parts(plan, landmarks, (plan.len(), formula.components()), None, ctx, |index, batch| {
            let first = index * LANES;
            let last = (first + LANES).min(landmarks.len());
            let mut steps = PathTrees::blank(last - first, graph.len());
            let whole = find_trees(graph, batch, &landmarks[first..last], steps.view_mut(), ctx)?;
            let mut found = found.lock().unwrap_or_else(|held| held.into_inner());
            match found.as_mut() {
                Some(all) if whole => all.slice_mut(s![first..last, ..]).assign(&steps),
                _ => *found = None,
            }
            drop(found);
            Ok(formula.part(index, batch.distances(), |_| 0.0))
        })?;
    let found = found.into_inner().unwrap_or_else(|held| held.into_inner());
    Ok((by_node(plan, &by_position), found.map(PathTrees::new)))
}

/// Room for the trees of the landmarks, unless they cannot be had or would be large beside
/// the rows themselves.
fn room_for_trees(paths: &Geodesics, landmarks: usize, ctx: &Ctx) -> Option<Array2<u16>> {
    /// Trees of this many bytes a row are kept in any case.
    const SMALL: u64 = 1024;
    if !matches!(paths.method(), PathMethod::Heap | PathMethod::Batch) {
        return None;
    }
    let graph = paths.graph();
    let width = graph.locator().points().map_or(0, |points| 8 * points.cols() as u64);
    let bytes = PathTrees::bytes(graph.len(), landmarks);
    if bytes > graph.len() as u64 * width.max(SMALL) {
        return None;
    }
    ctx.reserve(bytes, "the shortest-path trees of the landmarks", "").ok()?;
    PathTrees::room(graph.lengths(), landmarks)
}

/// Rows by position → rows by node.
fn by_node(plan: &Plan, by_position: &Array2<f64>) -> Array2<f64> {
    let order: Vec<usize> = plan.positions().iter().map(|&position| position as usize).collect();
    by_position.select(Axis(0), &order)
}

/// Coordinates of new points from their neighbours among the nodes: the distance
/// to a landmark is the shortest by way of a neighbour.
pub fn place_new(
    plan: &Plan,
    landmarks: &[u32],
    formula: &Triangulation,
    near: &Neighbors,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let count = near.offsets.len() - 1;
    let size = (count, formula.components());
    sum_of_parts(plan, landmarks, size, Some(&near.indices), ctx, |index, batch| {
        Ok(part_of_new(formula, index, near, |at| batch.node(near.indices[at] as usize)))
    })
}

/// The same by trees of the landmarks' shortest paths.
pub fn place_new_by_trees(
    (graph, trees): (&Graph, &PathTrees),
    landmarks: &[u32],
    formula: &Triangulation,
    near: &Neighbors,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let mut wanted = near.indices.clone();
    wanted.sort_unstable();
    wanted.dedup();
    // proof: every index is among them.
    let place = |node: &u32| wanted.binary_search(node).unwrap_or_default();
    let places: Vec<usize> = near.indices.iter().map(place).collect();
    let mut total = Array2::zeros((near.offsets.len() - 1, formula.components()));
    ctx.stage("shortest paths", landmarks.len());
    for (wave, members) in landmarks.chunks(WAVE * LANES).enumerate() {
        let part = |walks: &mut Walks, (within, sources): (usize, &[u32])| {
            ctx.check()?;
            let index = wave * WAVE + within;
            let beyond = trees.distances(graph, (index * LANES, sources), &wanted, walks)?;
            ctx.advance(sources.len());
            Ok(part_of_new(formula, index, near, |at| &beyond[places[at]]))
        };
        let parts: Result<Vec<_>> = ctx.install(|| {
            let batches = members.par_chunks(LANES).enumerate().with_max_len(1);
            batches.map_init(Walks::default, part).collect()
        });
        parts?.iter().for_each(|part| total += part);
    }
    Ok(total)
}

/// What a batch of landmarks adds to new points; `beyond` are its distances to the
/// neighbour at a place of the list.
fn part_of_new<'a>(
    formula: &Triangulation,
    index: usize,
    near: &Neighbors,
    beyond: impl Fn(usize) -> &'a [f64; LANES],
) -> Array2<f64> {
    let through: Vec<[f64; LANES]> = near
        .offsets
        .windows(2)
        .map(|bounds| {
            let mut shortest = [f64::INFINITY; LANES];
            for at in bounds[0]..bounds[1] {
                let beyond = beyond(at);
                for lane in 0..LANES {
                    shortest[lane] = shortest[lane].min(near.distances[at] + beyond[lane]);
                }
            }
            shortest
        })
        .collect();
    // The way to the nearest neighbour is part of every way.
    formula.part(index, &through, |row| near.distances[near.offsets[row]])
}

/// Batches whose parts are in memory at once.
const WAVE: usize = 8;

/// The sum over batches of landmarks of what each adds to `rows` × `columns`
/// coordinates, in the order of the batches; where it is of some nodes only (`to`), batches
/// have no other distances.
fn sum_of_parts(
    plan: &Plan,
    landmarks: &[u32],
    (rows, columns): (usize, usize),
    to: Option<&[u32]>,
    ctx: &Ctx,
    part: impl Fn(usize, &Batch<'_>) -> Result<Array2<f64>> + Sync + Send,
) -> Result<Array2<f64>> {
    let mut total = Array2::zeros((rows, columns));
    ctx.stage("shortest paths", landmarks.len());
    for (wave, members) in landmarks.chunks(WAVE * LANES).enumerate() {
        let parts = Mutex::new(vec![None; members.len().div_ceil(LANES)]);
        let visit = |batch: Batch<'_>| {
            let within = batch.sources().first().map_or(0, |&first| first as usize / LANES);
            let found = part(wave * WAVE + within, &batch)?;
            parts.lock().unwrap_or_else(|held| held.into_inner())[within] = Some(found);
            Ok(())
        };
        let sources = Sources::nodes(members);
        match to {
            None => for_each_batch(plan, &sources, ctx, visit)?,
            Some(nodes) => for_each_batch_to(plan, &sources, nodes, ctx, visit)?,
        }
        for part in parts.into_inner().unwrap_or_else(|held| held.into_inner()).iter().flatten() {
            total += part;
        }
    }
    Ok(total)
}
