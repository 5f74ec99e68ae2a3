//! The neighbourhood graph of the training rows: what every graph method starts from
//! and keeps for new rows.
//!
//! Place: made by [`NeighborhoodParams::build`](super::NeighborhoodParams::build); read by
//! the shortest paths, the affinities and, through [`NewRows`](super::NewRows), by
//! `extend`.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::{Graph, Isolated, Locator};
use crate::context::Ctx;
use crate::error::Result;
use crate::input::rows::{RowMap, as_indices};
use crate::input::{Data, Points};
use crate::neighbors::{Algorithm, Index, NeighborRule};

/// A neighbourhood graph, connected unless the policy was to keep the components.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NeighborhoodGraph {
    pub(super) lengths: Graph,
    pub(super) rows: RowMap,
    /// Component of each row of the data before the policy acted.
    pub(super) labels: Vec<usize>,
    /// Ends of the edges that were added, as rows of the data.
    pub(super) bridges: Vec<[u32; 2]>,
    pub(super) rule: NeighborRule,
    pub(super) locator: Locator,
    pub(super) isolated: Isolated,
    /// An order of the rows in use in which near rows are near, if one is known.
    pub(super) order: Option<Vec<u32>>,
    /// The power of the unit of distances that lengths go with.
    pub(super) length_unit: i32,
    /// The spacing M(i) of each row in use, when lengths are conformal.
    pub(super) spacing: Option<Vec<f64>>,
    /// Rows of the data that were left out as outliers, and where they are if they
    /// are points.
    pub(super) outliers: Vec<u32>,
    pub(super) outlier_points: Option<Points>,
}

impl NeighborhoodGraph {
    /// Edges between the rows in use, with their lengths.
    pub fn lengths(&self) -> &Graph {
        &self.lengths
    }

    /// Which rows of the data are in use.
    pub fn rows(&self) -> &RowMap {
        &self.rows
    }

    /// Number of rows in use.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Component of each row of the data before the policy acted.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// How new rows find the rows in use.
    pub fn locator(&self) -> &Locator {
        &self.locator
    }

    /// Which rows are neighbours.
    pub fn rule(&self) -> NeighborRule {
        self.rule
    }

    /// An order of the rows in use in which near rows are near, if one is known.
    pub fn order(&self) -> Option<&[u32]> {
        self.order.as_deref()
    }

    /// Edges that were added to join components, as pairs of rows of the data.
    pub fn bridges(&self) -> &[[u32; 2]] {
        &self.bridges
    }

    /// The same as pairs of rows in use.
    pub fn bridges_in_use(&self) -> Vec<(u32, u32)> {
        let row = |end: u32| self.rows.used_row(end as usize);
        self.bridges.iter().filter_map(|&[from, to]| Some((row(from)?, row(to)?))).collect()
    }

    /// The power of the unit of distances that lengths go with.
    pub fn length_unit(&self) -> i32 {
        self.length_unit
    }

    /// The graph of some of the rows in use, ascending.
    pub fn only(self, part: &[u32], algorithm: Algorithm, ctx: &Ctx) -> Result<NeighborhoodGraph> {
        let locator = self.locator.only(part, algorithm, ctx)?;
        Ok(NeighborhoodGraph {
            lengths: self.lengths.subgraph(part, ctx)?,
            rows: self.rows.only(part),
            rule: self.rule.among(part.len()),
            order: locator.order(),
            locator,
            spacing: self.spacing.map(|spacing| part.iter().map(|&row| spacing[row as usize]).collect()),
            ..self
        })
    }

    /// Distances from some of the rows in use to others; `data` is what the graph was
    /// made of. `None` where only edges are known, or lengths are conformal.
    pub fn distances_between(
        &self,
        some: &[u32],
        others: &[u32],
        data: Data<'_>,
        ctx: &Ctx,
    ) -> Result<Option<Array2<f64>>> {
        Ok(match (&self.locator, data) {
            _ if self.spacing.is_some() => None,
            (Locator::Points(index), _) => {
                let points = index.points().view();
                let part = points.select(&as_indices(others));
                let part = Index::build(part.view(), index.metric(), Algorithm::Brute, ctx)?;
                Some(part.matrix(Some(points.select(&as_indices(some)).view()), ctx)?)
            }
            (Locator::Distances, Data::Distances(matrix)) => {
                let entry = |(i, j): (usize, usize)| {
                    matrix[[self.rows.data_row(some[i]), self.rows.data_row(others[j])]]
                };
                Some(Array2::from_shape_fn((some.len(), others.len()), entry))
            }
            _ => None,
        })
    }

    /// The graph among all rows of the data; rows that are not in use have no edges.
    pub fn lengths_of_data(&self) -> Result<Graph> {
        match self.rows.used() {
            None => Ok(self.lengths.clone()),
            Some(used) => self.lengths.spread_over(used, self.rows.data_rows()),
        }
    }
}
