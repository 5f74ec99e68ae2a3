//! Whole rows of distances, and the ranks of given rows in them.
//!
//! Place in the dataflow: points or given distances in; rows of distances, neighbours and
//! ranks out, to `quality`. Dense points are borrowed, and nothing of size n × n is ever held:
//! a block of rows is computed, read and forgotten. Ranks are by (distance, index), as the
//! neighbours are. Cost: O(D) per pair; neighbours and ranks of squares in many dimensions by
//! the matrix products of `gemm`.

use std::sync::OnceLock;

use ndarray::{ArrayView2, CowArray, Ix2};
use rayon::prelude::*;

use super::Metric;
use super::angular::{Filled, Units, units};
use super::brute::{self, Dense};
use super::metric::{settled, with_measure};
use super::row_columns::Columns;
use super::row_products::SquaredRows;
use super::sparse::SparsePairs;
use crate::context::Ctx;
use crate::error::Result;
use crate::input::scale::scale_of_data;
use crate::input::{Csr, Data, PointsRef, check};
use crate::scale::Scale;

/// Fewer rows, or fewer columns, are not worth preparing for matrix products.
const FEW_ROWS: usize = 256;
const FEW_COLUMNS: usize = 16;

/// Numbers of a block of rows, and the rows it has at least and at most.
const BLOCK: usize = 1 << 19;
const LEAST_ROWS: usize = 8;
const MOST_ROWS: usize = 64;

/// Bytes of rows that one block of queries meets at a time: they stay in cache.
const NEAR_BYTES: usize = 1 << 17;

/// The rows that are looked at: all, or some in ascending order.
#[derive(Debug, Clone, Copy)]
pub enum RowChoice<'a> {
    /// As many as there are.
    All(usize),
    /// These.
    Some(&'a [u32]),
}

impl RowChoice<'_> {
    /// Number of rows that are looked at.
    pub fn len(&self) -> usize {
        match self {
            RowChoice::All(count) => *count,
            RowChoice::Some(rows) => rows.len(),
        }
    }

    /// The row at a place.
    pub fn row(&self, place: usize) -> usize {
        match self {
            RowChoice::All(_) => place,
            RowChoice::Some(rows) => rows[place] as usize,
        }
    }
}

/// How distances are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precision {
    /// By differences, as neighbours are.
    Exact,
    /// By matrix products where that is faster, to within [`DistanceRows::tolerance`].
    Close,
}

/// Rows whose distances to all rows can be had, at a scale where squares are safe.
#[derive(Debug)]
pub struct DistanceRows<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) metric: Metric,
    /// What distances were multiplied by.
    scale: Scale,
    /// Made when close distances are first asked for; `None` where they are the exact ones.
    products: OnceLock<Option<SquaredRows>>,
}

#[derive(Debug)]
pub(super) enum Kind<'a> {
    /// Row-major; unit rows where the metric compares directions.
    Dense(CowArray<'a, f64, Ix2>),
    /// Few columns under the Euclidean metric.
    Columns(Columns),
    Sparse(Filled),
    Given(CowArray<'a, f64, Ix2>),
}

impl<'a> DistanceRows<'a> {
    /// Points under a metric, or with `None` a matrix of distances.
    ///
    /// # Errors
    /// Data that is not finite or does not fit the metric; a matrix that is not one of
    /// distances, the pair named; memory.
    pub fn new(data: Data<'a>, metric: Option<Metric>, ctx: &Ctx) -> Result<Self> {
        match (data, metric) {
            (Data::Points(points), Some(metric)) => {
                check::check_points(points)?;
                let scale = scale_of_data(data);
                let kind = match points {
                    PointsRef::Dense(matrix) => dense(scale.matrix(matrix), metric),
                    PointsRef::Sparse(csr) => sparse(csr, scale, metric),
                };
                let scale = if metric.ignores_scale() { Scale::ONE } else { scale };
                Ok(DistanceRows { kind, metric, scale, products: OnceLock::new() })
            }
            (Data::Distances(matrix), None) => {
                check::check_finite(matrix, "the distance matrix")?;
                let scale = scale_of_data(data);
                let checked = check::distances(matrix, ctx)?;
                let kind =
                    if scale.is_one() { checked } else { checked.mapv(|value| scale.into(value)).into() };
                let kind = Kind::Given(row_major(kind));
                Ok(DistanceRows { kind, metric: Metric::Manhattan, scale, products: OnceLock::new() })
            }
            (data, metric) => Err(check::unfit(data, metric.is_none(), "distances")),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Dense(matrix) | Kind::Given(matrix) => matrix.nrows(),
            Kind::Columns(columns) => columns.rows(),
            Kind::Sparse(rows) => rows.csr.rows(),
        }
    }

    /// What distances were multiplied by.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The distance of two rows.
    pub fn pair(&self, i: usize, j: usize) -> f64 {
        let mut distance = [0.0];
        self.part(i, j, &mut distance);
        distance[0]
    }

    /// Distances of row `i` to the rows from `first` on.
    fn part(&self, i: usize, first: usize, distances: &mut [f64]) {
        match &self.kind {
            Kind::Columns(columns) => columns.distances(i, first, distances),
            Kind::Given(matrix) => {
                let row = matrix.row(i);
                let from = row.iter().skip(first);
                distances.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
            Kind::Dense(matrix) => with_measure!(self.metric, measure => {
                brute::row(&dense_pairs(measure, matrix.view()), i, first, distances)
            }),
            Kind::Sparse(rows) => with_measure!(self.metric, measure => {
                let marked = self.metric.ignores_scale();
                brute::row(&SparsePairs { measure, queries: rows, rows, marked }, i, first, distances)
            }),
        }
    }

    /// Whether distances are roots or halves of squares of differences of dense rows.
    pub(super) fn squares(&self) -> Option<ArrayView2<'_, f64>> {
        let squares = matches!(settled(self.metric), Metric::Euclidean) || self.metric.ignores_scale();
        match &self.kind {
            Kind::Dense(matrix) if squares && matrix.nrows() >= FEW_ROWS => Some(matrix.view()),
            _ => None,
        }
    }

    fn products(&self) -> Option<&SquaredRows> {
        let made = self.products.get_or_init(|| self.squares().and_then(SquaredRows::of));
        made.as_ref()
    }

    /// By which share of itself a close distance may be wrong.
    pub fn tolerance(&self) -> f64 {
        self.products().map_or(0.0, SquaredRows::tolerance)
    }

    /// Distances of some rows to all rows, row after row.
    fn block(&self, rows: impl Iterator<Item = usize> + Clone, precision: Precision, distances: &mut [f64]) {
        if precision == Precision::Close
            && let Some(products) = self.products()
        {
            let angular = self.metric.ignores_scale();
            return products.distances(rows, angular, distances, |i, j| self.pair(i, j));
        }
        let n = self.len();
        let bytes = match &self.kind {
            Kind::Dense(matrix) => 8 * matrix.ncols(),
            Kind::Sparse(rows) => 12 * rows.csr.values.len() / n.max(1),
            Kind::Columns(_) | Kind::Given(_) => 0,
        };
        let step = (NEAR_BYTES / bytes.max(1)).clamp(8, n.max(8));
        for first in (0..n).step_by(step) {
            let count = step.min(n - first);
            for (place, row) in rows.clone().enumerate() {
                self.part(row, first, &mut distances[place * n + first..place * n + first + count]);
            }
        }
    }

    /// Something of every chosen row, from its distances to all rows in each of several spaces
    /// (its distance to itself is infinite); the results in the order of the rows.
    ///
    /// # Errors
    /// Cancellation.
    pub fn each_row<T: Send, const S: usize>(
        spaces: [&DistanceRows<'_>; S],
        rows: RowChoice<'_>,
        precision: Precision,
        ctx: &Ctx,
        work: impl Fn(usize, [&mut [f64]; S]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let n = spaces.first().map_or(0, |space| space.len());
        if precision == Precision::Close {
            for matrix in spaces.iter().filter_map(|space| space.squares()) {
                let need = 8 * matrix.len() as u64;
                ctx.reserve(need, "the rows prepared for matrix products", "use a sample of the rows")?;
            }
            // Here and not in the blocks, which would wait for it.
            spaces.iter().for_each(|space| _ = space.products());
        }
        let height = (BLOCK / n.max(1)).clamp(LEAST_ROWS, MOST_ROWS);
        let blocks: Vec<usize> = (0..rows.len()).step_by(height).collect();
        let found = blocks.into_par_iter().map_init(
            || [(); S].map(|()| vec![0.0; height * n]),
            |room, first| {
                let places = first..(first + height).min(rows.len());
                let chosen = places.clone().map(|place| rows.row(place));
                for (space, room) in spaces.iter().zip(room.iter_mut()) {
                    ctx.check()?;
                    space.block(chosen.clone(), precision, room);
                }
                ctx.check()?;
                let mut found = Vec::with_capacity(places.len());
                for (at, row) in chosen.enumerate() {
                    let own = room.each_mut().map(|room| &mut room[at * n..(at + 1) * n]);
                    let own = own.map(|distances| {
                        distances[row] = f64::INFINITY;
                        distances
                    });
                    found.push(work(row, own));
                }
                ctx.advance(places.len());
                Ok(found)
            },
        );
        Ok(found.collect::<Result<Vec<Vec<T>>>>()?.into_iter().flatten().collect())
    }
}

fn dense(matrix: CowArray<'_, f64, Ix2>, metric: Metric) -> Kind<'_> {
    if metric.ignores_scale()
        && let Units::Dense(rows) = units(&PointsRef::Dense(matrix.view()), metric)
    {
        return Kind::Dense(CowArray::from(rows));
    }
    if settled(metric) == Metric::Euclidean && matrix.ncols() <= FEW_COLUMNS {
        return Kind::Columns(Columns::of(matrix.view()));
    }
    Kind::Dense(row_major(matrix))
}

fn sparse<'a>(csr: &Csr, scale: Scale, metric: Metric) -> Kind<'a> {
    let values = csr.values.iter().map(|&value| scale.into(value)).collect();
    let scaled = Csr { values, ..csr.clone() };
    match units(&PointsRef::Sparse(&scaled), metric) {
        Units::Sparse(rows) if metric.ignores_scale() => Kind::Sparse(rows),
        _ => Kind::Sparse(Filled { csr: scaled, fill: Vec::new() }),
    }
}

fn row_major(matrix: CowArray<'_, f64, Ix2>) -> CowArray<'_, f64, Ix2> {
    if matrix.is_standard_layout() { matrix } else { matrix.as_standard_layout().into_owned().into() }
}

pub(super) fn dense_pairs<'b, M>(measure: M, matrix: ArrayView2<'b, f64>) -> Dense<'b, M> {
    let (n, dims) = matrix.dim();
    // proof: `row_major` and `units` leave no gaps.
    let rows = matrix.to_slice().unwrap_or(&[]);
    Dense { measure, queries: rows, rows, dims, counts: (n, n) }
}
