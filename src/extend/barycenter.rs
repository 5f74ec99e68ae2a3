//! New rows as barycentric combinations of their nearest training rows: the weights
//! that make the row make its coordinates.
//!
//! Place: the transform of locally linear embedding. A row that is a training row gets
//! that row's coordinates. Cost: a neighbour search and k³ for each new row.

use std::sync::OnceLock;

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::{Isolated, Locator, NeighborhoodGraph, check_placeable};
use crate::input::rows::as_indices;
use crate::input::{Data, PointsRef};
use crate::kernel::local::{Source, barycentric};
use crate::neighbors::Neighbors;
use crate::neighbors::duplicates::{Lookup, are_equal, coincide};

/// What the formula needs of the training rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Barycentric {
    /// The rows in use.
    pub graph: NeighborhoodGraph,
    /// Distances between the rows in use, where the data was distances.
    pub matrix: Option<Array2<f64>>,
    /// Regularisation of the weights.
    pub reg: f64,
    /// Whether weights may not be negative.
    pub nonnegative: bool,
    /// What happens to rows without neighbours.
    pub isolated: Isolated,
    /// Finds rows in use by their values, where there are any: made when first asked.
    #[serde(skip)]
    pub known: OnceLock<Lookup>,
}

impl Barycentric {
    /// Coordinates of new rows from those of the training rows.
    pub fn transform(
        &self,
        embedding: ArrayView2<'_, f64>,
        data: Data<'_>,
        ctx: &Ctx,
    ) -> Result<Array2<f64>> {
        let graph = &self.graph;
        let found = graph.locator().find(data, graph.rows(), graph.rule(), self.isolated, ctx)?;
        let mut placed = Array2::zeros((data.rows(), embedding.ncols()));
        let same = self.same_rows(data, &found, ctx);
        let (others, near) = self.sort(embedding, &same, &found, &mut placed)?;
        if others.is_empty() {
            return Ok(placed);
        }
        let centers = data.select(&others)?;
        let weights = self.weights(centers.view(), &near, ctx)?;
        for (row, bounds) in as_indices(&others).into_iter().zip(near.offsets.windows(2)) {
            let mut coordinates = placed.row_mut(row);
            for at in bounds[0]..bounds[1] {
                coordinates.scaled_add(weights[at], &embedding.row(self.data_row(near.indices[at])));
            }
        }
        Ok(placed)
    }

    fn data_row(&self, row: u32) -> usize {
        self.graph.rows().data_row(row)
    }

    /// Duplicates of a training row get its coordinates; the others are named, with
    /// those of their neighbours that are in the component of the nearest.
    fn sort(
        &self,
        embedding: ArrayView2<'_, f64>,
        same: &[Option<u32>],
        found: &Neighbors,
        placed: &mut Array2<f64>,
    ) -> Result<(Vec<u32>, Neighbors)> {
        let labels = self.graph.labels();
        let (mut others, mut near) = (Vec::new(), Neighbors::empty());
        for (row, bounds) in found.offsets.windows(2).enumerate() {
            if let Some(known) = same[row] {
                placed.row_mut(row).assign(&embedding.row(self.data_row(known)));
                continue;
            }
            let range = bounds[0]..bounds[1];
            check_placeable(row, &found.distances[range.clone()], self.isolated)?;
            let nearest = self.data_row(found.indices[range.start]);
            let beside = range.filter(|&at| labels[self.data_row(found.indices[at])] == labels[nearest]);
            near.push_row(beside.map(|at| (found.indices[at], found.distances[at])));
            others.push(row as u32);
        }
        Ok((others, near))
    }

    /// The row in use that each new row is, if it is one. The metric only chooses
    /// neighbours: rows are recognised by their values, and by a distance of zero only where
    /// distances are all that is known.
    fn same_rows(&self, data: Data<'_>, found: &Neighbors, ctx: &Ctx) -> Vec<Option<u32>> {
        let list = |row: usize| found.offsets[row]..found.offsets[row + 1];
        let at_zero = |row: usize| list(row).next().is_some_and(|at| found.distances[at] == 0.0);
        let new = match data {
            Data::Points(points) | Data::Neighborhoods { points, .. } => points,
            _ => {
                let nearest = |row: usize| at_zero(row).then(|| found.indices[found.offsets[row]]);
                return (0..data.rows()).map(nearest).collect();
            }
        };
        let Some(known) = self.graph.locator().points() else { return vec![None; data.rows()] };
        let same = |row: usize| {
            // The core's own metrics put equal rows exactly zero apart, others need not.
            if matches!(self.graph.locator(), Locator::Points(_)) && !at_zero(row) {
                return None;
            }
            let of = |at: usize| (known, found.indices[at] as usize);
            let nearest = list(row).next().filter(|&at| are_equal(of(at), (new, row)));
            nearest.map(|at| found.indices[at]).or_else(|| {
                let listed = || list(row).find(|&at| coincide(of(at), (new, row)));
                let equal = self.lookup(known, ctx).find(known, new, row);
                equal.or_else(|| listed().map(|at| found.indices[at]))
            })
        };
        (0..data.rows()).map(same).collect()
    }

    fn lookup(&self, known: PointsRef<'_>, ctx: &Ctx) -> &Lookup {
        match self.known.get() {
            Some(lookup) => lookup,
            None => {
                // Made before the lock is taken, which a thread of the pool might wait for.
                let made = ctx.install(|| Lookup::of(known));
                self.known.get_or_init(|| made)
            }
        }
    }

    fn weights(&self, centers: Data<'_>, near: &Neighbors, ctx: &Ctx) -> Result<Vec<f64>> {
        match (self.graph.locator().points(), &self.matrix, &centers) {
            (Some(rows), _, Data::Points(centers) | Data::Neighborhoods { points: centers, .. }) => {
                let source = Source::Points { centers: centers.reborrow(), rows };
                barycentric(source, near, self.reg, self.nonnegative, ctx)
            }
            (_, Some(matrix), _) => {
                let source = Source::Distances { matrix: matrix.view(), rows: None };
                barycentric(source, near, self.reg, self.nonnegative, ctx)
            }
            _ => Err(Error::Unsupported("the geometry of the training rows was not kept".into())),
        }
    }
}
