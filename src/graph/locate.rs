//! Where the training rows are: how new rows find their neighbours among them,
//! whatever kind of data the model was fitted on.
//!
//! Place: kept in a fitted graph method, the counterpart of
//! [`Setting::connect`](super::neighborhood::Setting::connect). Cost: a
//! neighbour search for each new row.

use ndarray::{Axis, CowArray, Ix2};
use serde::{Deserialize, Serialize};

use super::known_edges::KnownEdges;
use super::neighborhood::{neighbor_lists, scaled_hood, scaled_neighbors};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::Data;
use crate::input::PointsRef;
use crate::input::check;
use crate::input::check::check_offsets;
use crate::input::rows::as_indices;
use crate::input::scale::Scale;
use crate::neighbors::ignores_scale;
use crate::neighbors::{Algorithm, Hood, Index, Neighbors, query_distances};
use crate::params::choices;

choices! {
    /// What happens to a new row that has no training row in its neighbourhood.
    Isolated {
        /// It is refused by name.
        Error = "error",
        /// It is hung onto its nearest training row, however far.
        Nearest = "nearest",
    }
}

/// Where the training rows are, so that new rows find their neighbours.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Locator {
    /// Among points.
    Points(Box<Index>),
    /// New rows bring their distances to all `rows` training rows, of which
    /// these columns (all, when `None`) are in the graph.
    Distances {
        /// Number of training rows the caller knows.
        rows: usize,
        /// Columns that matter.
        columns: Option<Vec<u32>>,
    },
    /// New rows bring their edges to the `rows` training rows.
    Graph {
        /// Number of training rows the caller knows.
        rows: usize,
        /// Training row → row of the graph.
        columns: Option<Vec<Option<u32>>>,
        /// Tells training rows from others.
        known: KnownEdges,
    },
    /// New rows bring their distances to neighbours among the `rows` training rows.
    Lists {
        /// The training rows that matter.
        index: Box<Index>,
        /// Number of training rows the caller knows.
        rows: usize,
        /// Training row → row of the index.
        columns: Option<Vec<Option<u32>>>,
    },
}

impl Locator {
    /// The points that matter, where there are points.
    pub fn points(&self) -> Option<PointsRef<'_>> {
        match self {
            Locator::Points(index) | Locator::Lists { index, .. } => Some(index.points().view()),
            Locator::Distances { .. } | Locator::Graph { .. } => None,
        }
    }

    /// The same with some rows of the graph alone, ascending.
    pub fn part(self, part: &[u32], algorithm: Algorithm, ctx: &Ctx) -> Result<Locator> {
        Ok(match self {
            Locator::Points(index) => Locator::Points(Box::new(rebuilt(&index, part, algorithm, ctx)?)),
            Locator::Lists { index, rows, columns } => Locator::Lists {
                index: Box::new(rebuilt(&index, part, algorithm, ctx)?),
                rows,
                columns: Some(renumbered(rows, columns.as_deref(), part)),
            },
            Locator::Distances { rows, columns } => {
                let column = |&row: &u32| columns.as_ref().map_or(row, |columns| columns[row as usize]);
                Locator::Distances { rows, columns: Some(part.iter().map(column).collect()) }
            }
            Locator::Graph { rows, columns, known } => {
                Locator::Graph { rows, columns: Some(renumbered(rows, columns.as_deref(), part)), known }
            }
        })
    }

    /// An order of the rows in which near rows are near, if one is known.
    pub fn order(&self) -> Option<Vec<u32>> {
        if let Locator::Points(index) = self { Some(index.order()) } else { None }
    }

    /// Neighbours of new rows among the rows of the graph, at working scale;
    /// with `attach` a row that has none gets its nearest row, however far.
    pub fn find(
        &self,
        data: Data<'_>,
        hood: Hood,
        attach: bool,
        scale: Scale,
        ctx: &Ctx,
    ) -> Result<Neighbors> {
        match (self, data) {
            (Locator::Points(index), Data::Points(points)) => {
                let scaled = scale.points(points);
                let points = scaled.view();
                let expected = index.points().view().cols();
                if points.cols() != expected {
                    return Err(Error::input(format!(
                        "X has {} features, but the model was fitted with {expected}",
                        points.cols()
                    )));
                }
                let length_scale = if ignores_scale(index.metric()) { Scale::ONE } else { scale };
                let near = index.query(points, scaled_hood(hood, length_scale), ctx)?;
                attached(near, attach, |rows| {
                    index.query(points.select(&as_indices(rows)).view(), Hood::Nearest(1), ctx)
                })
            }
            (Locator::Distances { rows, columns }, Data::Distances(matrix)) => {
                let matrix = check::new_distances(matrix, *rows)?;
                let matrix = scale.matrix(matrix.view());
                let known: CowArray<'_, f64, Ix2> = match columns {
                    None => matrix.view().into(),
                    Some(kept) => matrix.view().select(Axis(1), &as_indices(kept)).into(),
                };
                let near = query_distances(known.view(), scaled_hood(hood, scale), ctx)?;
                attached(near, attach, |rows| {
                    query_distances(known.select(Axis(0), &as_indices(rows)).view(), Hood::Nearest(1), ctx)
                })
            }
            (Locator::Graph { rows, columns, known }, Data::Graph(given)) => {
                check_offsets(given)?;
                let near = neighbor_lists(given, *rows, hood, false)?;
                let counts = |row: u32| columns.as_ref().is_none_or(|of| of[row as usize].is_some());
                let near = known.named(near, counts);
                let near = attached(near, attach, |alone| {
                    neighbor_lists(&given.select(&as_indices(alone)), *rows, Hood::Nearest(1), false)
                })?;
                let near = scaled_neighbors(near, scale);
                Ok(match columns {
                    None => near,
                    Some(columns) => renamed(&near, columns),
                })
            }
            (Locator::Lists { index, rows, columns }, Data::Neighborhoods { points, lists }) => {
                check_offsets(lists)?;
                let expected = index.points().view().cols();
                if points.cols() != expected || lists.rows() != points.rows() {
                    return Err(Error::input(format!(
                        "new rows must have {expected} features and a list of neighbours each"
                    )));
                }
                let near = neighbor_lists(lists, *rows, hood, false)?;
                let near = attached(near, attach, |alone| {
                    neighbor_lists(&lists.select(&as_indices(alone)), *rows, Hood::Nearest(1), false)
                })?;
                Ok(match columns {
                    None => near,
                    Some(columns) => without_repeats(&renamed(&near, columns)),
                })
            }
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        }
    }
}

/// Refuse a new row that has no neighbours, or none at a finite distance.
pub(crate) fn check_placeable(row: usize, distances: &[f64], isolated: Isolated) -> Result<()> {
    if distances.is_empty() {
        let way_out = match isolated {
            Isolated::Error => {
                "raise `radius` where one is set, give it an edge to a row that was kept where a graph is given, set \
                 isolated='nearest' to hang it onto its nearest training row, or leave it out"
            }
            Isolated::Nearest => {
                "the graph given has no edge for it, and no distances are known; give it one"
            }
        };
        return Err(Error::input(format!(
            "row {row} has no training row in its neighbourhood and cannot be placed; {way_out}"
        )));
    }
    if distances.iter().any(|distance| !distance.is_finite()) {
        return Err(Error::input(format!(
            "row {row} cannot be placed: it is too far from the training data for its distances to be \
             finite numbers"
        )));
    }
    Ok(())
}

/// `near` with what `nearest` finds for the rows that have no neighbours.
fn attached(
    near: Neighbors,
    attach: bool,
    nearest: impl FnOnce(&[u32]) -> Result<Neighbors>,
) -> Result<Neighbors> {
    let alone: Vec<u32> = near
        .offsets
        .windows(2)
        .enumerate()
        .filter(|(_, bounds)| bounds[0] == bounds[1])
        .map(|(row, _)| row as u32)
        .collect();
    if !attach || alone.is_empty() {
        return Ok(near);
    }
    let found = nearest(&alone)?;
    let mut all = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    let mut next = 0;
    for (row, bounds) in near.offsets.windows(2).enumerate() {
        let (from, range) = if alone.get(next) == Some(&(row as u32)) {
            next += 1;
            (&found, found.offsets[next - 1]..found.offsets[next])
        } else {
            (&near, bounds[0]..bounds[1])
        };
        all.indices.extend_from_slice(&from.indices[range.clone()]);
        all.distances.extend_from_slice(&from.distances[range]);
        all.offsets.push(all.indices.len());
    }
    Ok(all)
}

fn renamed(near: &Neighbors, columns: &[Option<u32>]) -> Neighbors {
    let mut kept = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for row in near.offsets.windows(2) {
        for at in row[0]..row[1] {
            if let Some(column) = columns[near.indices[at] as usize] {
                kept.indices.push(column);
                kept.distances.push(near.distances[at]);
            }
        }
        kept.offsets.push(kept.indices.len());
    }
    kept
}

/// The lists, each row named once, where it is nearest.
pub(crate) fn without_repeats(near: &Neighbors) -> Neighbors {
    let mut once = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for row in near.offsets.windows(2) {
        let first = once.indices.len();
        for at in row[0]..row[1] {
            if !once.indices[first..].contains(&near.indices[at]) {
                once.indices.push(near.indices[at]);
                once.distances.push(near.distances[at]);
            }
        }
        once.offsets.push(once.indices.len());
    }
    once
}

/// An index of some of the rows.
fn rebuilt(index: &Index, part: &[u32], algorithm: Algorithm, ctx: &Ctx) -> Result<Index> {
    let points = index.points().view().select(&as_indices(part));
    Index::build(points.view(), index.metric(), algorithm, ctx)
}

/// Training row → row of the graph, of which only `part` (ascending) stays.
fn renumbered(rows: usize, columns: Option<&[Option<u32>]>, part: &[u32]) -> Vec<Option<u32>> {
    let row = |at: usize| columns.map_or(Some(at as u32), |columns| columns[at]);
    let place = |row: u32| part.binary_search(&row).ok().map(|at| at as u32);
    (0..rows).map(|at| row(at).and_then(place)).collect()
}
