//! The affinities of new rows to the training rows, and where these put them.
//!
//! Place: the transform of Laplacian eigenmaps, the counterpart of
//! [`affinity_graph`](crate::kernel::affinity_graph). A duplicate of a training row gets
//! that row's coordinates; every other goes through the Nyström formula, alone, so that
//! rows one by one are placed as all together.
//!
//! Cost: a neighbour search or a row of the kernel per new row.

use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use super::known_affinities::KnownAffinities;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::extend::Nystrom;
use crate::graph::NeighborhoodGraph;
use crate::input::check::{check_offsets, check_width};
use crate::input::rows::{RowMap, as_indices};
use crate::input::{Csr, Data, Points, PointsRef};
use crate::kernel::affinity::{Affinity, Heat};
use crate::kernel::affinity_graph::{AffinitySource, Edges};
use crate::kernel::functions::{Kernel, kernel_matrix};

/// The training rows as new rows meet them.
pub struct TrainingAffinities<'a> {
    /// Affinities between the rows in use.
    pub affinity: &'a Affinity,
    /// The affinity of each of these rows to itself, where that is known.
    pub diagonal: Option<&'a [f64]>,
    /// The rows of the data that are in use.
    pub rows: &'a RowMap,
    /// Coordinates of all rows of the data.
    pub embedding: ArrayView2<'a, f64>,
    /// The formula.
    pub formula: &'a Nystrom,
}

/// What is known of one new row.
enum NewRow {
    /// It is a duplicate of this row of the data.
    Duplicate(usize),
    /// Its affinities to rows in use.
    Affinities(Vec<(usize, f64)>),
}

impl TrainingAffinities<'_> {
    fn data_row(&self, row: usize) -> usize {
        self.rows.data_row(row as u32)
    }

    fn place(&self, count: usize, see: impl Fn(usize) -> NewRow + Sync, ctx: &Ctx) -> Result<Array2<f64>> {
        const ROWS: usize = 32;
        let width = self.formula.components().max(1);
        let mut placed = Array2::zeros((count, width));
        placed.axis_chunks_iter_mut(Axis(0), ROWS).into_par_iter().enumerate().try_for_each(
            |(chunk, mut coordinates)| {
                ctx.check()?;
                let mut y = vec![0.0; width];
                for (offset, mut slot) in coordinates.outer_iter_mut().enumerate() {
                    let row = chunk * ROWS + offset;
                    match see(row) {
                        NewRow::Duplicate(known) => slot.assign(&self.embedding.row(known)),
                        NewRow::Affinities(list) => {
                            let placed = self.formula.place(list.into_iter(), &mut y);
                            placed.map_err(|fault| fault.refuse(row, "affinity to"))?;
                            slot.iter_mut().zip(&y).for_each(|(slot, value)| *slot = *value);
                        }
                    }
                }
                Ok(())
            },
        )?;
        self.formula.warn(ctx);
        Ok(placed)
    }
}

impl AffinitySource {
    /// Coordinates of new rows.
    pub fn place(&self, training: &TrainingAffinities<'_>, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        match (self, data) {
            (AffinitySource::Neighborhood { graph, reach, heat }, data) => {
                near_graph(graph, reach, *heat, training, data, ctx)
            }
            (AffinitySource::Kernel { points, gamma }, Data::Points(new)) => {
                near_points(points, *gamma, training, new, ctx)
            }
            (AffinitySource::Lengths(edges), data @ Data::Graph(_)) => edges.place(training, data, ctx),
            (AffinitySource::Affinities, Data::Kernel(matrix)) => {
                check_width(matrix, training.rows.data_rows(), "affinities")?;
                by_full_rows(training, matrix, ctx)
            }
            (AffinitySource::Affinities, Data::Graph(given)) => by_sparse_rows(training, given, ctx),
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        }
    }
}

/// By neighbours: each has the weight it would have in a training row's list. The
/// direction back counts when the new row is nearer than the neighbour's last.
fn near_graph(
    graph: &NeighborhoodGraph,
    reach: &[f64],
    heat: Option<Heat>,
    training: &TrainingAffinities<'_>,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let new = graph.find(data, ctx)?;
    let mut known = vec![None; new.count];
    new.duplicates.iter().for_each(|&(row, training)| known[row] = Some(training));
    let mut list_of = vec![0; new.count];
    new.others.iter().enumerate().for_each(|(list, &row)| list_of[row] = list);
    let weight = |neighbor: usize, distance: f64| match heat {
        Some(heat) => heat.weight(distance),
        None if distance < reach[neighbor] => 1.0,
        None => 0.5,
    };
    let see = |row: usize| match known[row] {
        Some(known) => NewRow::Duplicate(known),
        None => {
            let (indices, distances) = new.near.row(list_of[row]);
            let pairs = indices.iter().zip(distances);
            NewRow::Affinities(pairs.map(|(&j, &d)| (j as usize, weight(j as usize, d))).collect())
        }
    };
    training.place(new.count, see, ctx)
}

fn near_points(
    points: &Points,
    gamma: f64,
    training: &TrainingAffinities<'_>,
    new: PointsRef<'_>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    // Lent anew, both for as long as this call.
    let (new, points) = (new.reborrow(), points.view());
    if new.cols() != points.cols() {
        let (got, expected) = (new.cols(), points.cols());
        return Err(Error::input(format!("X has {got} features, but the model was fitted with {expected}")));
    }
    let need = 8 * new.rows() as u64 * points.rows() as u64;
    ctx.reserve(need, "the affinities of the new rows", "transform fewer rows at a time")?;
    let matrix = kernel_matrix(new, points, Kernel::Rbf { gamma: Some(gamma) }, ctx)?;
    let see = |row: usize| {
        let values = matrix.row(row);
        let known = (0..values.len()).find(|&j| values[j] == 1.0 && new.row_equals(row, points, j));
        match known {
            Some(known) => NewRow::Duplicate(training.data_row(known)),
            None => NewRow::Affinities(values.iter().copied().enumerate().collect()),
        }
    };
    training.place(new.rows(), see, ctx)
}

impl Edges {
    fn place(&self, training: &TrainingAffinities<'_>, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let near = self.locator.find(data, training.rows, self.rule, self.isolated, ctx)?;
        if let Some(row) = (0..near.rows()).find(|&row| near.range(row).is_empty()) {
            return Err(Error::input(format!(
                "row {row} has no edge to a training row and cannot be placed; give it one"
            )));
        }
        let weight = |distance: f64| self.heat.map_or(1.0, |heat| heat.weight(distance));
        let see = |row: usize| {
            let range = near.offsets[row]..near.offsets[row + 1];
            if near.distances[range.start] == 0.0 {
                return NewRow::Duplicate(training.data_row(near.indices[range.start] as usize));
            }
            NewRow::Affinities(
                range.map(|at| (near.indices[at] as usize, weight(near.distances[at]))).collect(),
            )
        };
        training.place(data.rows(), see, ctx)
    }
}

/// A negative or infinite affinity of a new row.
fn check_new(row: usize, column: usize, weight: f64) -> Result<()> {
    if weight.is_finite() && weight >= 0.0 {
        return Ok(());
    }
    Err(Error::input(format!(
        "the affinity of new row {row} to training row {column} is {weight}; affinities must be finite and >= 0"
    )))
}

fn by_full_rows(
    training: &TrainingAffinities<'_>,
    matrix: ArrayView2<'_, f64>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    for ((row, column), &weight) in matrix.indexed_iter() {
        check_new(row, column, weight)?;
    }
    let part = training.affinity.len();
    let list = |row: usize| (0..part).map(|j| (j, matrix[[row, training.data_row(j)]])).collect();
    training.place_by_affinities(matrix.nrows(), list, ctx)
}

fn by_sparse_rows(training: &TrainingAffinities<'_>, given: &Csr, ctx: &Ctx) -> Result<Array2<f64>> {
    check_offsets(given)?;
    let rows = training.rows.data_rows();
    let used = training.rows.used_rows();
    let mut lists = Vec::with_capacity(given.rows());
    for row in 0..given.rows() {
        let (columns, weights) = given.row(row);
        let mut list = Vec::with_capacity(columns.len());
        for (&column, &weight) in columns.iter().zip(weights) {
            check_new(row, column as usize, weight)?;
            let known = used.get(column as usize).ok_or_else(|| {
                Error::input(format!(
                    "new row {row} has an affinity to row {column}, but there are only {rows} training rows"
                ))
            })?;
            if let Some(j) = known.filter(|_| weight > 0.0) {
                list.push((j as usize, weight));
            }
        }
        list.sort_unstable_by_key(|pair| pair.0);
        lists.push(list);
    }
    training.place_by_affinities(given.rows(), |row| lists[row].clone(), ctx)
}

impl TrainingAffinities<'_> {
    /// Rows that bring affinities: those of a training row, and of no other, make it that
    /// row. Training rows with the same affinities but different coordinates are recognised
    /// only all together (those in use), in their order; one by one they are placed like
    /// any new row.
    fn place_by_affinities(
        &self,
        count: usize,
        list: impl Fn(usize) -> Vec<(usize, f64)> + Sync,
        ctx: &Ctx,
    ) -> Result<Array2<f64>> {
        /// Coordinates that differ by less, relative to the largest, are the same.
        const ROUNDING: f64 = 1e-10;
        let known = KnownAffinities::new(self.affinity, self.diagonal.unwrap_or_default().to_vec());
        let in_order = |row: usize| ctx.check().map(|()| known.is(row, &list(row)));
        if count == self.affinity.len()
            && (0..count).into_par_iter().map(in_order).collect::<Result<Vec<bool>>>()?.iter().all(|&is| is)
        {
            return Ok(match self.rows.used() {
                None => self.embedding.to_owned(),
                Some(used) => self.embedding.select(Axis(0), &as_indices(used)),
            });
        }
        let largest = |most: f64, value: &f64| if value.abs() > most { value.abs() } else { most };
        let rounding = ROUNDING * self.embedding.iter().fold(0.0, largest);
        let same = |one: usize, other: usize| {
            let (one, other) =
                (self.embedding.row(self.data_row(one)), self.embedding.row(self.data_row(other)));
            one.iter().zip(other).all(|(one, other)| (one - other).abs() <= rounding)
        };
        let see = |row: usize| {
            let list = list(row);
            match known.find(&list, same) {
                Some(i) => NewRow::Duplicate(self.data_row(i)),
                None => NewRow::Affinities(list),
            }
        };
        self.place(count, see, ctx)
    }
}
