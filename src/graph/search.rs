//! Data in the form in which neighbours are searched, whatever kind it is: points under
//! a metric, a matrix of distances, a sparse graph, or points with given lists.
//!
//! Place: under [`super::neighborhood`] and [`super::local_neighborhoods`].
//! Cost: an index and a neighbour search; a sort of the rows where there are duplicates.

use ndarray::{Array2, Axis, CowArray, Ix2};

use super::known_edges::KnownEdges;
use super::{Connected, Graph, Locator, Policy, connect};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::check::{self, check_offsets, unfit};
use crate::input::rows::{RowMap, as_indices};
use crate::input::{Csr, Data, PointsRef};
use crate::neighbors::duplicates::DistinctRows;
use crate::neighbors::{
    Algorithm, Index, MatrixLinks, Metric, NeighborRule, Neighbors, from_distances, mean_within,
};

/// Data whose rows have neighbours.
pub enum Searchable<'a> {
    /// Rows and how they are compared.
    Points(PointsRef<'a>, Metric),
    /// Distances between all rows.
    Distances(CowArray<'a, f64, Ix2>),
    /// The stored edges of a graph.
    Graph(Neighbors),
    /// Points with neighbours that were found elsewhere, and the metric of new rows
    /// unless these bring their own neighbours.
    Lists(PointsRef<'a>, Neighbors, Option<Metric>),
}

/// Some rows of the data, ready to be searched.
pub enum Search<'a> {
    /// Points.
    Index(Box<Index>),
    /// Distances.
    Matrix(CowArray<'a, f64, Ix2>),
    /// Nothing: the neighbours are known.
    Known,
}

impl<'a> Searchable<'a> {
    /// Check that the data fits the metric (`None` for precomputed).
    pub fn new(data: Data<'a>, metric: Option<Metric>, rule: NeighborRule, ctx: &Ctx) -> Result<Self> {
        Ok(match (data, metric) {
            (Data::Points(points), Some(metric)) => Searchable::Points(points, metric),
            (Data::Distances(matrix), None) => Searchable::Distances(check::distances(matrix, ctx)?),
            (Data::Graph(given), None) => {
                check_offsets(given)?;
                // Neighbour lists need not be symmetric, so the lists themselves are
                // what the graph is made of.
                Searchable::Graph(Neighbors::from_entries(given, given.rows(), rule, true)?)
            }
            (Data::Neighborhoods { points, lists }, metric) => {
                Searchable::Lists(points, given_lists(lists, points.rows())?, metric)
            }
            (data, metric) => return Err(unfit(data, metric.is_none(), "distances or a graph")),
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Searchable::Points(points, _) | Searchable::Lists(points, ..) => points.rows(),
            Searchable::Distances(matrix) => matrix.nrows(),
            Searchable::Graph(near) => near.rows(),
        }
    }

    /// Some of the rows (or all), ready to be searched.
    pub fn search(&self, rows: Option<&[u32]>, algorithm: Algorithm, ctx: &Ctx) -> Result<Search<'_>> {
        let index = |points: &PointsRef<'_>, metric: Metric| {
            let index = match rows {
                None => Index::build(*points, metric, algorithm, ctx)?,
                Some(rows) => Index::build(points.select(&as_indices(rows)).view(), metric, algorithm, ctx)?,
            };
            Ok::<_, Error>(Search::Index(Box::new(index)))
        };
        match self {
            Searchable::Points(points, metric) => index(points, *metric),
            Searchable::Lists(points, _, metric) => index(points, metric.unwrap_or(Metric::Euclidean)),
            Searchable::Graph(_) => Ok(Search::Known),
            Searchable::Distances(matrix) => Ok(Search::Matrix(match rows {
                None => matrix.view().into(),
                Some(rows) => {
                    let rows = as_indices(rows);
                    matrix.select(Axis(0), &rows).select(Axis(1), &rows).into()
                }
            })),
        }
    }

    /// The neighbours of all rows.
    pub fn neighbors(&self, search: &Search<'_>, rule: NeighborRule, ctx: &Ctx) -> Result<Neighbors> {
        match (self, search) {
            (Searchable::Graph(near) | Searchable::Lists(_, near, _), _) => Ok(near.clone()),
            (_, Search::Index(index)) => index.neighbors_of_all(rule, ctx),
            (_, Search::Matrix(matrix)) => from_distances(matrix.view(), rule, ctx),
            // proof: only a graph has no search of its own.
            (_, Search::Known) => Err(Error::input("a graph has no points to search")),
        }
    }

    /// The neighbours of the distinct rows, which `search` holds, among themselves.
    pub fn neighbors_of_distinct(
        &self,
        search: &Search<'_>,
        distinct: &Distinct,
        rule: NeighborRule,
        ctx: &Ctx,
    ) -> Result<Neighbors> {
        let count = distinct.firsts.len();
        if let Searchable::Lists(_, near, _) = self {
            return Ok(near.merged(count, &distinct.distinct_of));
        }
        if count == 1 {
            return Ok(Neighbors { offsets: vec![0, 0], indices: vec![], distances: vec![] });
        }
        self.neighbors(search, rule, ctx)
    }

    /// The distinct rows; `None` when all are.
    pub fn distinct(&self, ctx: &Ctx) -> Result<Option<Distinct>> {
        let distinct = match self {
            Searchable::Points(points, _) | Searchable::Lists(points, ..) => {
                let found = DistinctRows::of(*points, ctx)?;
                let firsts = found.firsts.iter().map(|&row| row as u32).collect();
                Distinct { firsts, distinct_of: found.distinct_of }
            }
            Searchable::Distances(matrix) => distinct_by_distance(matrix),
            Searchable::Graph(_) => return Ok(None),
        };
        Ok((distinct.firsts.len() < self.rows()).then_some(distinct))
    }

    /// How new rows will find the rows that `search` holds.
    pub fn locator(&self, search: Search<'_>) -> Locator {
        match (self, search) {
            (Searchable::Lists(_, _, None), Search::Index(index)) => Locator::Lists(index),
            (Searchable::Graph(near), _) => Locator::Graph(KnownEdges::new(near.clone())),
            (_, Search::Index(index)) => Locator::Points(index),
            (_, Search::Matrix(_) | Search::Known) => Locator::Distances,
        }
    }
}

impl Search<'_> {
    /// The policy for the components of `graph`, with the distances between any two rows
    /// where they are known.
    pub fn connect(&self, graph: Graph, rows: RowMap, policy: Policy, ctx: &Ctx) -> Result<Connected> {
        match self {
            Search::Index(index) => connect(graph, rows, Some(index.as_ref()), policy, ctx),
            Search::Matrix(matrix) => connect(graph, rows, Some(&MatrixLinks(matrix.view())), policy, ctx),
            Search::Known => connect(graph, rows, None, policy, ctx),
        }
    }

    /// Mean number of rows within a radius, from some of the rows.
    pub fn mean_within(&self, radius: f64, ctx: &Ctx) -> Result<usize> {
        Ok(match self {
            Search::Index(index) => index.mean_within(radius, ctx)? as usize,
            Search::Matrix(matrix) => mean_within(matrix.view(), radius) as usize,
            Search::Known => 0,
        })
    }

    /// The distances between all rows, where they were given.
    pub fn matrix(&self, ctx: &Ctx) -> Result<Option<Array2<f64>>> {
        let Search::Matrix(matrix) = self else { return Ok(None) };
        let need = 8 * (matrix.nrows() as u64).pow(2);
        ctx.reserve(need, "a copy of the distances for new rows", "fit on fewer rows")?;
        Ok(Some(matrix.to_owned()))
    }
}

/// The first row of each set of duplicates, and which of these every row belongs to.
pub struct Distinct {
    /// Ascending.
    pub firsts: Vec<u32>,
    /// For each row its place in `firsts`.
    pub distinct_of: Vec<u32>,
}

fn distinct_by_distance(matrix: &CowArray<'_, f64, Ix2>) -> Distinct {
    let mut distinct = Distinct { firsts: Vec::new(), distinct_of: Vec::with_capacity(matrix.nrows()) };
    for (row, distances) in matrix.outer_iter().enumerate() {
        let known = distinct.firsts.iter().position(|&first| distances[first as usize] == 0.0);
        distinct.distinct_of.push(known.unwrap_or(distinct.firsts.len()) as u32);
        if known.is_none() {
            distinct.firsts.push(row as u32);
        }
    }
    distinct
}

/// Lists that were given, nearest first: no row its own neighbour, none named twice.
fn given_lists(lists: &Csr, rows: usize) -> Result<Neighbors> {
    check_offsets(lists)?;
    if lists.rows() != rows {
        return Err(Error::param(
            "neighbors",
            format!("must have a list for each of the {rows} rows, got {}", lists.rows()),
        ));
    }
    let near = Neighbors::from_entries(lists, rows, NeighborRule::Nearest(usize::MAX), true)?;
    Ok(near.without_repeats())
}
