//! Whole rows of distances, and the ranks of given rows in them.
//!
//! Place in the dataflow: points or given distances in; rows of distances, neighbours and
//! ranks out, to `quality`. Dense points are borrowed, and nothing of size n × n is ever held:
//! a block of rows is computed, read and forgotten. Ranks are by (distance, index), as the
//! neighbours are. Cost: O(D) per pair; neighbours and ranks of squares in many dimensions by
//! the matrix products of `gemm`.

use ndarray::{ArrayView2, CowArray, Ix2};
use rayon::prelude::*;

use super::angular::{Filled, Units, units};
use super::brute::{self, Dense};
use super::collect::{Keep, Kept};
use super::gemm_ranks::Wanted;
use super::measure::Entry;
use super::metric::{Manhattan, settled, with_measure};
use super::row_columns::Columns;
use super::sparse::SparsePairs;
use super::table::{Part, concatenate};
use super::{Algorithm, Index, Metric, NeighborRule, Neighbors, check_rule, gemm};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::scale::scale_of_data;
use crate::input::{Csr, Data, PointsRef, check};
use crate::scale::Scale;

/// Fewer rows, or fewer columns, are not worth preparing for matrix products.
const FEW_ROWS: usize = 256;
const FEW_COLUMNS: usize = 16;

/// Numbers of a block of rows, and the rows it has at least and at most.
const BLOCK: usize = 1 << 18;
const LEAST_ROWS: usize = 4;
const MOST_ROWS: usize = 32;

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

/// Rows whose distances to all rows can be had, at a scale where squares are safe.
#[derive(Debug)]
pub struct DistanceRows<'a> {
    kind: Kind<'a>,
    metric: Metric,
    /// What distances were multiplied by.
    scale: Scale,
}

#[derive(Debug)]
enum Kind<'a> {
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
                Ok(DistanceRows { kind, metric, scale })
            }
            (Data::Distances(matrix), None) => {
                check::check_finite(matrix, "the distance matrix")?;
                let scale = scale_of_data(data);
                let checked = check::distances(matrix, ctx)?;
                let kind = if scale.is_one() { checked } else { checked.mapv(|value| scale.into(value)).into() };
                let kind = Kind::Given(row_major(kind));
                Ok(DistanceRows { kind, metric: Metric::Manhattan, scale })
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

    /// Distances of some rows to all rows, row after row.
    fn block(&self, rows: impl Iterator<Item = usize> + Clone, distances: &mut [f64]) {
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
        ctx: &Ctx,
        work: impl Fn(usize, [&mut [f64]; S]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let n = spaces.first().map_or(0, |space| space.len());
        let height = (BLOCK / n.max(1)).clamp(LEAST_ROWS, MOST_ROWS);
        let blocks: Vec<usize> = (0..rows.len()).step_by(height).collect();
        let found = blocks.into_par_iter().map_init(
            || [(); S].map(|()| vec![0.0; height * n]),
            |room, first| {
                let places = first..(first + height).min(rows.len());
                let chosen = places.clone().map(|place| rows.row(place));
                for (space, room) in spaces.iter().zip(room.iter_mut()) {
                    ctx.check()?;
                    space.block(chosen.clone(), room);
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

    /// The nearest `k` others of the chosen rows, nearest first, and the ranks of the wanted
    /// rows, `count` of each chosen row.
    ///
    /// # Errors
    /// More neighbours than other rows; cancellation; memory.
    pub fn neighbors_and_ranks(
        &self,
        rows: RowChoice<'_>,
        k: usize,
        (wanted, count): (&[u32], usize),
        ctx: &Ctx,
    ) -> Result<(Neighbors, Vec<u32>)> {
        let (n, rule) = (self.len(), NeighborRule::Nearest(k));
        check_rule(rule, n, true)?;
        let squares = matches!(settled(self.metric), Metric::Euclidean) || self.metric.ignores_scale();
        if let Kind::Dense(matrix) = &self.kind
            && squares
            && n >= FEW_ROWS
            && 4 * k <= n
        {
            let own = match rows {
                RowChoice::All(_) => None,
                RowChoice::Some(rows) => Some(rows),
            };
            let wanted = Wanted { rows: wanted, count, own };
            if let Some(found) = self.by_products(matrix.view(), rule, wanted, ctx)? {
                return Ok(found);
            }
        }
        ctx.stage("ranks", rows.len());
        let place_of = |row: usize| match rows {
            RowChoice::All(_) => row,
            // Every row that is visited is one of the chosen ones.
            RowChoice::Some(rows) => rows.binary_search(&(row as u32)).unwrap_or(0),
        };
        let found = DistanceRows::each_row([self], rows, ctx, |row, [distances]| {
            let place = place_of(row);
            let targets = &wanted[place * count..(place + 1) * count];
            let near = nearest(distances, k);
            (near, super::row_ranks::ranks(distances, targets))
        })?;
        let (mut near, mut ranks) = (Vec::with_capacity(found.len()), Vec::with_capacity(wanted.len()));
        for (own, more) in found {
            near.push(own);
            ranks.extend(more);
        }
        Ok((concatenate(near), ranks))
    }

    fn by_products(
        &self,
        matrix: ArrayView2<'_, f64>,
        rule: NeighborRule,
        wanted: Wanted<'_>,
        ctx: &Ctx,
    ) -> Result<Option<(Neighbors, Vec<u32>)>> {
        let chosen: Option<Vec<f64>> = wanted
            .own
            .map(|rows| rows.iter().flat_map(|&row| matrix.row(row as usize).to_vec()).collect());
        let allow = |query: usize, row: usize| wanted.own(query) != row;
        with_measure!(self.metric, measure => {
            let mut pairs = dense_pairs(measure, matrix);
            if let (Some(chosen), Some(own)) = (&chosen, wanted.own) {
                pairs = Dense { queries: chosen, counts: (own.len(), pairs.counts.1), ..pairs };
            }
            gemm::search_and_rank(&pairs, rule, chosen.is_none(), allow, Some(wanted), ctx)
        })
    }

    /// The nearest `k` others of the chosen rows, nearest first.
    ///
    /// # Errors
    /// More neighbours than other rows; cancellation; memory.
    pub fn neighbors(&self, rows: RowChoice<'_>, k: usize, ctx: &Ctx) -> Result<Neighbors> {
        check_rule(NeighborRule::Nearest(k), self.len(), true)?;
        let points = match &self.kind {
            Kind::Columns(columns) => columns.points(),
            _ => return Ok(self.neighbors_and_ranks(rows, k, (&[], 0), ctx)?.0),
        };
        let index = Index::build(PointsRef::Dense(points.view()), self.metric, Algorithm::Auto, ctx)?;
        let RowChoice::Some(rows) = rows else {
            return index.neighbors_of_all(NeighborRule::Nearest(k), ctx);
        };
        let asked = PointsRef::Dense(points.view()).select(&crate::input::rows::as_indices(rows));
        let found = index.query(asked.view(), NeighborRule::Nearest(k + 1), ctx)?;
        let (mut indices, mut distances) = (Vec::with_capacity(rows.len() * k), Vec::new());
        for (place, &own) in rows.iter().enumerate() {
            let range = found.offsets[place]..found.offsets[place + 1];
            let others = range.filter(|&at| found.indices[at] != own).take(k);
            for at in others {
                indices.push(found.indices[at]);
                distances.push(found.distances[at]);
            }
        }
        if indices.len() != rows.len() * k {
            return Err(Error::input("a row has fewer neighbours than were asked for"));
        }
        Ok(Neighbors { offsets: (0..=rows.len()).map(|row| row * k).collect(), indices, distances })
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

fn dense_pairs<'b, M>(measure: M, matrix: ArrayView2<'b, f64>) -> Dense<'b, M> {
    let (n, dims) = matrix.dim();
    // proof: `row_major` and `units` leave no gaps.
    let rows = matrix.to_slice().unwrap_or(&[]);
    Dense { measure, queries: rows, rows, dims, counts: (n, n) }
}

/// The k nearest of a row of distances, by (distance, index).
fn nearest(distances: &[f64], k: usize) -> Part {
    let mut kept = Kept::new(Manhattan, NeighborRule::Nearest(k));
    for (index, &reduced) in distances.iter().enumerate() {
        if !(reduced > kept.limit()) {
            kept.offer(Entry { reduced, index: index as u32 });
        }
    }
    let mut part = Part::default();
    part.push(Manhattan, &mut kept);
    part
}
