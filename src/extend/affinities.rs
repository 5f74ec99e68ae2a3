//! How alike a new row is to the training rows, and where that puts it.
//!
//! Place: kept in a fitted Laplacian method, the counterpart of
//! [`super::affinity_graph`]. A row that coincides with a training row gets that
//! row's coordinates; every other goes through the Nyström formula, alone, so that
//! rows one by one are placed as all together.
//!
//! Cost: a neighbour search or a row of the kernel per new row.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::known_affinities::KnownAffinities;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::extend::Nystrom;
use crate::graph::Isolated;
use crate::graph::neighborhood_graph::Manifold;
use crate::input::Data;
use crate::input::check::{check_offsets, check_width};
use crate::input::{Csr, Points, PointsRef, Scale};
use crate::kernel::affinity::{Affinity, Heat};
use crate::kernel::affinity_graph::{Edges, Source};
use crate::kernel::functions::{Kernel, kernel_matrix};
use crate::linalg::dense::by_rows;

/// The training rows as new rows meet them.
pub struct Training<'a> {
    /// Affinities between the rows that take part.
    pub affinity: &'a Affinity,
    /// What each of these rows is to itself, where that is known.
    pub own: Option<&'a [f64]>,
    /// Rows of the data that take part, when some were left out.
    pub kept: Option<&'a [u32]>,
    /// Coordinates of all rows of the data.
    pub embedding: ArrayView2<'a, f64>,
    /// The formula.
    pub formula: &'a Nystrom,
}

/// What is known of one new row.
enum NewRow {
    /// It is this row of the data.
    Twin(usize),
    /// Its affinities to rows that take part.
    Affinities(Vec<(usize, f64)>),
}

impl Training<'_> {
    fn data_row(&self, row: usize) -> usize {
        self.kept.map_or(row, |kept| kept[row] as usize)
    }

    fn place(&self, count: usize, see: impl Fn(usize) -> NewRow + Sync, ctx: &Ctx) -> Result<Array2<f64>> {
        const ROWS: usize = 32;
        let width = self.formula.components().max(1);
        let mut placed = vec![0.0; count * width];
        placed.par_chunks_mut(ROWS * width).enumerate().try_for_each(|(chunk, coordinates)| {
            ctx.check()?;
            for (offset, y) in coordinates.chunks_mut(width).enumerate() {
                let row = chunk * ROWS + offset;
                match see(row) {
                    NewRow::Twin(twin) => {
                        y.iter_mut().zip(self.embedding.row(twin)).for_each(|(slot, value)| *slot = *value);
                    }
                    NewRow::Affinities(list) => {
                        let placed = self.formula.place(list.into_iter(), y);
                        placed.map_err(|fault| fault.refuse(row, "affinity to"))?;
                    }
                }
            }
            Ok(())
        })?;
        self.formula.tell(ctx);
        by_rows((count, width), placed)
    }
}

impl Source {
    /// What the affinities of the training rows were multiplied by.
    pub fn affinity_scale(&self) -> Scale {
        if let Source::Affinities { scale, .. } = self { *scale } else { Scale::ONE }
    }

    /// Coordinates of new rows.
    pub fn place(&self, training: &Training<'_>, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        match (self, data) {
            (Source::Neighborhood { manifold, reach, heat }, data) => {
                near_manifold(manifold, reach, *heat, training, data, ctx)
            }
            (Source::Kernel { points, gamma }, Data::Points(new)) => {
                near_points(points, *gamma, training, new, ctx)
            }
            (Source::Lengths(edges), data @ Data::Graph(_)) => edges.place(training, data, ctx),
            (Source::Affinities { rows, scale }, Data::Kernel(matrix)) => {
                check_width(matrix, *rows, "affinities")?;
                by_full_rows(training, *scale, matrix, ctx)
            }
            (Source::Affinities { rows, scale }, Data::Graph(given)) => {
                by_sparse_rows(training, *rows, *scale, given, ctx)
            }
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        }
    }
}

/// By neighbours: each has the weight it would have in a training row's list. The
/// direction back counts when the new row is nearer than the neighbour's last.
fn near_manifold(
    manifold: &Manifold,
    reach: &[f64],
    heat: Option<Heat>,
    training: &Training<'_>,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let new = manifold.find(data, ctx)?;
    let mut twin_of = vec![None; new.count];
    new.twins.iter().for_each(|&(row, twin)| twin_of[row] = Some(twin));
    let mut list_of = vec![0; new.count];
    new.away.iter().enumerate().for_each(|(list, &row)| list_of[row] = list);
    let weight = |neighbor: usize, distance: f64| match heat {
        Some(heat) => heat.weight(distance),
        None if distance < reach[neighbor] => 1.0,
        None => 0.5,
    };
    let see = |row: usize| match twin_of[row] {
        Some(twin) => NewRow::Twin(twin),
        None => {
            let (from, to) = (new.near.offsets[list_of[row]], new.near.offsets[list_of[row] + 1]);
            let pair = |at: usize| {
                let neighbor = new.near.indices[at] as usize;
                (neighbor, weight(neighbor, new.near.distances[at]))
            };
            NewRow::Affinities((from..to).map(pair).collect())
        }
    };
    training.place(new.count, see, ctx)
}

fn near_points(
    points: &Points,
    gamma: f64,
    training: &Training<'_>,
    new: PointsRef<'_>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    // Lent anew, both for as long as this call.
    let lent = Scale::ONE.points(new);
    let (new, points) = (lent.view(), points.view());
    if new.cols() != points.cols() {
        let (got, expected) = (new.cols(), points.cols());
        return Err(Error::input(format!("X has {got} features, but the model was fitted with {expected}")));
    }
    let need = 8 * new.rows() as u64 * points.rows() as u64;
    ctx.reserve(need, "the affinities of the new rows", "transform fewer rows at a time")?;
    let matrix = kernel_matrix(new, points, Kernel::Rbf { gamma: Some(gamma) }, ctx)?;
    let see = |row: usize| {
        let values = matrix.row(row);
        let twin = (0..values.len()).find(|&j| values[j] == 1.0 && new.row_equals(row, points, j));
        match twin {
            Some(twin) => NewRow::Twin(training.data_row(twin)),
            None => NewRow::Affinities(values.iter().copied().enumerate().collect()),
        }
    };
    training.place(new.rows(), see, ctx)
}

impl Edges {
    fn place(&self, training: &Training<'_>, data: Data<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let attach = self.isolated == Isolated::Nearest;
        let near = self.locator.find(data, self.hood, attach, Scale::ONE, ctx)?;
        if let Some(row) = near.offsets.windows(2).position(|bounds| bounds[0] == bounds[1]) {
            return Err(Error::input(format!(
                "row {row} has no edge to a training row and cannot be placed; give it one"
            )));
        }
        let weight = |distance: f64| self.heat.map_or(1.0, |heat| heat.weight(distance));
        let see = |row: usize| {
            let range = near.offsets[row]..near.offsets[row + 1];
            if near.distances[range.start] == 0.0 {
                return NewRow::Twin(training.data_row(near.indices[range.start] as usize));
            }
            NewRow::Affinities(
                range.map(|at| (near.indices[at] as usize, weight(near.distances[at]))).collect(),
            )
        };
        training.place(data.rows(), see, ctx)
    }
}

/// A negative or endless affinity of a new row.
fn check_new(row: usize, column: usize, weight: f64) -> Result<()> {
    if weight.is_finite() && weight >= 0.0 {
        return Ok(());
    }
    Err(Error::input(format!(
        "the affinity of new row {row} to training row {column} is {weight}; affinities must be finite and >= 0"
    )))
}

fn by_full_rows(
    training: &Training<'_>,
    scale: Scale,
    matrix: ArrayView2<'_, f64>,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    for ((row, column), &weight) in matrix.indexed_iter() {
        check_new(row, column, weight)?;
    }
    let part = training.affinity.len();
    let weight = |row: usize, j: usize| scale.into(matrix[[row, training.data_row(j)]]);
    let list = |row: usize| (0..part).map(|j| (j, weight(row, j))).collect();
    training.place_by_affinities(matrix.nrows(), list, scale, ctx)
}

fn by_sparse_rows(
    training: &Training<'_>,
    rows: usize,
    scale: Scale,
    given: &Csr,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    check_offsets(given)?;
    let mut place = vec![None; rows];
    (0..training.affinity.len()).for_each(|row| place[training.data_row(row)] = Some(row));
    let mut lists = Vec::with_capacity(given.rows());
    for row in 0..given.rows() {
        let (columns, weights) = given.row(row);
        let mut list = Vec::with_capacity(columns.len());
        for (&column, &weight) in columns.iter().zip(weights) {
            check_new(row, column as usize, weight)?;
            let known = place.get(column as usize).ok_or_else(|| {
                Error::input(format!(
                    "new row {row} has an affinity to row {column}, but there are only {rows} training rows"
                ))
            })?;
            if let Some(j) = known.filter(|_| weight > 0.0) {
                list.push((j, scale.into(weight)));
            }
        }
        list.sort_unstable_by_key(|pair| pair.0);
        lists.push(list);
    }
    training.place_by_affinities(given.rows(), |row| lists[row].clone(), scale, ctx)
}

impl Training<'_> {
    /// Rows that bring affinities: those of a training row, and of no other, make it that
    /// row. Of training rows that have the same, and different coordinates, only all in
    /// their order tell which is which; one by one they are placed like any new row.
    fn place_by_affinities(
        &self,
        count: usize,
        list: impl Fn(usize) -> Vec<(usize, f64)> + Sync,
        scale: Scale,
        ctx: &Ctx,
    ) -> Result<Array2<f64>> {
        /// Coordinates that differ by less, relative to the largest, are the same.
        const ROUNDING: f64 = 1e-10;
        let own = self.own.unwrap_or_default().iter().map(|&weight| scale.into(weight)).collect();
        let known = KnownAffinities::new(self.affinity, own);
        let in_order = |row: usize| ctx.check().map(|()| known.is(row, &list(row)));
        let all = self.kept.is_none() && count == self.affinity.len();
        if all
            && (0..count).into_par_iter().map(in_order).collect::<Result<Vec<bool>>>()?.iter().all(|&is| is)
        {
            return Ok(self.embedding.to_owned());
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
                Some(i) => NewRow::Twin(self.data_row(i)),
                None => NewRow::Affinities(list),
            }
        };
        self.place(count, see, ctx)
    }
}
