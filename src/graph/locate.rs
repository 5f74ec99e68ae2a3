//! Where the training rows are: how new rows find their neighbours among them,
//! whatever kind of data the model was fitted on.
//!
//! Place: kept in a [`NeighborhoodGraph`](super::NeighborhoodGraph), for new rows.
//! Cost: a neighbour search for each new row.

use ndarray::{ArrayView2, Axis, CowArray, Ix2};
use serde::{Deserialize, Serialize};

use super::known_edges::KnownEdges;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::check::{self, check_offsets};
use crate::input::rows::{RowMap, as_indices};
use crate::input::{Csr, Data, PointsRef};
use crate::neighbors::{Algorithm, Index, NeighborRule, Neighbors, query_distances};
use crate::params::choices;

choices! {
    /// What happens to a new row that has no training row among its neighbours.
    Isolated {
        /// It is refused by name.
        Error = "error",
        /// It is joined to its nearest training row, however far.
        Nearest = "nearest",
    }
}

/// How new rows find the training rows in use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Locator {
    /// Among points.
    Points(Box<Index>),
    /// New rows bring their distances to all training rows.
    Distances,
    /// New rows bring their edges to the training rows; training rows are known by theirs.
    Graph(KnownEdges),
    /// New rows bring their distances to neighbours among the training rows.
    Lists(Box<Index>),
}

impl Locator {
    /// The points of the rows in use, where there are points.
    pub fn points(&self) -> Option<PointsRef<'_>> {
        match self {
            Locator::Points(index) | Locator::Lists(index) => Some(index.points().view()),
            Locator::Distances | Locator::Graph(_) => None,
        }
    }

    /// The same with only some of the rows in use, ascending.
    pub fn only(self, part: &[u32], algorithm: Algorithm, ctx: &Ctx) -> Result<Locator> {
        let rebuilt = |index: Box<Index>| {
            let points = index.points().view().select(&as_indices(part));
            Index::build(points.view(), index.metric(), algorithm, ctx).map(Box::new)
        };
        Ok(match self {
            Locator::Points(index) => Locator::Points(rebuilt(index)?),
            Locator::Lists(index) => Locator::Lists(rebuilt(index)?),
            other => other,
        })
    }

    /// An order of the rows in use in which near rows are near, if one is known.
    pub fn order(&self) -> Option<Vec<u32>> {
        if let Locator::Points(index) = self { Some(index.order()) } else { None }
    }

    /// Neighbours of new rows among the rows in use; a row that has none gets its
    /// nearest row, however far, if `isolated` says so.
    pub fn find(
        &self,
        data: Data<'_>,
        rows: &RowMap,
        rule: NeighborRule,
        isolated: Isolated,
        ctx: &Ctx,
    ) -> Result<Neighbors> {
        let search = |rule: NeighborRule, part: Option<&[u32]>| match (self, data) {
            (Locator::Points(index), Data::Points(points)) => {
                check_features(points.cols(), index)?;
                match part {
                    None => index.query(points, rule, ctx),
                    Some(part) => index.query(points.select(&as_indices(part)).view(), rule, ctx),
                }
            }
            (Locator::Distances, Data::Distances(matrix)) => among_distances(matrix, rows, rule, part, ctx),
            (Locator::Graph(known), Data::Graph(given)) => {
                let near = entries(given, rows, rule, part)?;
                let near = known.named(near, |row| rows.used_row(row as usize).is_some());
                Ok(if rows.used().is_none() { near } else { near.renumbered(&rows.used_rows()) })
            }
            (Locator::Lists(index), Data::Neighborhoods { points, lists }) => {
                check_features(points.cols(), index)?;
                let near = entries(lists, rows, rule, part)?;
                let direct = rows.used().is_none();
                Ok(if direct { near } else { near.renumbered(&rows.used_rows()).without_repeats() })
            }
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        };
        let near = search(rule, None)?;
        match isolated {
            Isolated::Error => Ok(near),
            Isolated::Nearest => near.or_nearest(|alone| search(NeighborRule::Nearest(1), Some(alone))),
        }
    }
}

fn check_features(got: usize, index: &Index) -> Result<()> {
    let expected = index.points().view().cols();
    if got == expected {
        return Ok(());
    }
    Err(Error::input(format!("X has {got} features, but the model was fitted with {expected}")))
}

/// Neighbours by distances to all training rows, of which those in use count.
fn among_distances(
    matrix: ArrayView2<'_, f64>,
    rows: &RowMap,
    rule: NeighborRule,
    part: Option<&[u32]>,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let matrix = check::new_distances(matrix, rows.data_rows())?;
    let known: CowArray<'_, f64, Ix2> = match rows.used() {
        None => matrix.view().into(),
        Some(used) => matrix.select(Axis(1), &as_indices(used)).into(),
    };
    match part {
        None => query_distances(known.view(), rule, ctx),
        Some(part) => query_distances(known.select(Axis(0), &as_indices(part)).view(), rule, ctx),
    }
}

/// Stored entries of new rows, numbered like the training rows.
fn entries(given: &Csr, rows: &RowMap, rule: NeighborRule, part: Option<&[u32]>) -> Result<Neighbors> {
    check_offsets(given)?;
    match part {
        None => Neighbors::from_entries(given, rows.data_rows(), rule, false),
        Some(part) => {
            let part = given.select(&as_indices(part));
            Neighbors::from_entries(&part, rows.data_rows(), rule, false)
        }
    }
}

/// Refuse a new row that has no neighbours, or none at a finite distance.
pub fn check_placeable(row: usize, distances: &[f64], isolated: Isolated) -> Result<()> {
    if distances.is_empty() {
        let hint = match isolated {
            Isolated::Error => {
                "raise `radius` where one is set, give it an edge to a training row where a graph is given, set \
                 isolated='nearest' to join it to its nearest training row, or leave it out"
            }
            Isolated::Nearest => {
                "the graph given has no edge for it, and no distances are known; give it an edge"
            }
        };
        return Err(Error::input(format!(
            "row {row} has no training row among its neighbours and cannot be placed; {hint}"
        )));
    }
    if distances.iter().any(|distance| !distance.is_finite()) {
        return Err(Error::input(format!(
            "row {row} cannot be placed: it is too far from the training data for its distances to be finite \
             numbers"
        )));
    }
    Ok(())
}
