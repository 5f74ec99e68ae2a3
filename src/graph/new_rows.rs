//! New rows on their way to coordinates: which of them are training rows, and the edges
//! by which the others enter the neighbourhood graph.
//!
//! Place: between a fitted [`NeighborhoodGraph`] and the formulas of `extend`.
//! Cost: a neighbour search for each new row.

use ndarray::{Array2, ArrayView2};

use super::locate::check_placeable;
use super::{Isolated, NeighborhoodGraph, conformal};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::Data;
use crate::input::rows::RowMap;
use crate::neighbors::Neighbors;

/// New rows, sorted by what is to be done with them.
pub struct NewRows {
    /// How many there are.
    pub count: usize,
    /// (new row, the row of the training data that it is a duplicate of).
    pub duplicates: Vec<(usize, usize)>,
    /// The other new rows.
    pub others: Vec<usize>,
    /// The neighbours of these among the rows in use, with the lengths of the edges.
    pub near: Neighbors,
}

impl NewRows {
    /// Sort rows whose neighbours were `found`. A row is a training row when it is
    /// `known` to be one or its nearest neighbour is at distance zero.
    pub fn new(found: &Neighbors, rows: &RowMap, known: impl Fn(usize) -> Option<usize>) -> NewRows {
        let (mut duplicates, mut others, mut near) = (Vec::new(), Vec::new(), Neighbors::empty());
        for row in 0..found.rows() {
            let (indices, distances) = found.row(row);
            let nearest = || (distances.first() == Some(&0.0)).then(|| rows.data_row(indices[0]));
            match known(row).or_else(nearest) {
                Some(training) => duplicates.push((row, training)),
                None => {
                    others.push(row);
                    near.push_row(indices.iter().copied().zip(distances.iter().copied()));
                }
            }
        }
        NewRows { count: found.rows(), duplicates, others, near }
    }

    /// Coordinates of all new rows: those of training rows, and what was `computed` for
    /// the others, in their order.
    ///
    /// # Errors
    /// Coordinates of other training rows than those that were found, as a forged model may
    /// have them.
    pub fn combine(
        &self,
        training: ArrayView2<'_, f64>,
        computed: ArrayView2<'_, f64>,
    ) -> Result<Array2<f64>> {
        let known = self.duplicates.iter().all(|&(_, row)| row < training.nrows());
        if !known || (!self.others.is_empty() && computed.ncols() != training.ncols()) {
            return Err(Error::Restore("the model's coordinates do not fit its rows".into()));
        }
        let mut placed = Array2::zeros((self.count, training.ncols()));
        for &(row, known) in &self.duplicates {
            placed.row_mut(row).assign(&training.row(known));
        }
        for (&row, coordinates) in self.others.iter().zip(computed.outer_iter()) {
            placed.row_mut(row).assign(&coordinates);
        }
        Ok(placed)
    }
}

impl NeighborhoodGraph {
    /// How new rows are joined to the graph. A row without neighbours is refused.
    pub fn find(&self, data: Data<'_>, ctx: &Ctx) -> Result<NewRows> {
        let known = self.known_outliers(data);
        self.sorted(data, self.isolated, |row| known[row].map(|outlier| outlier as usize), ctx)
    }

    /// Coordinates of the outliers of the training data, by the formula `place` for new
    /// rows, written into those of all rows.
    pub fn place_outliers(
        &self,
        embedding: &mut Array2<f64>,
        data: Data<'_>,
        place: impl FnOnce(&NewRows) -> Result<Array2<f64>>,
        ctx: &Ctx,
    ) -> Result<()> {
        if self.outliers.is_empty() {
            return Ok(());
        }
        let part = data.select(&self.outliers)?;
        let placed = place(&self.sorted(part.view(), Isolated::Nearest, |_| None, ctx)?)?;
        for (coordinates, &row) in placed.outer_iter().zip(&self.outliers) {
            if coordinates.iter().any(|value| !value.is_finite()) {
                return Err(Error::input(format!(
                    "row {row} is an outlier, too far from all other rows to be placed; remove it, or set \
                     outliers='keep' to include it in the fit"
                )));
            }
            embedding.row_mut(row as usize).assign(&coordinates);
        }
        Ok(())
    }

    /// The rows that were left out as outliers.
    pub fn outliers(&self) -> &[u32] {
        &self.outliers
    }

    fn sorted(
        &self,
        data: Data<'_>,
        isolated: Isolated,
        known: impl Fn(usize) -> Option<usize>,
        ctx: &Ctx,
    ) -> Result<NewRows> {
        let found = self.locator.find(data, &self.rows, self.rule, isolated, ctx)?;
        for row in (0..found.rows()).filter(|&row| known(row).is_none()) {
            check_placeable(row, found.row(row).1, self.isolated)?;
        }
        let mut new = NewRows::new(&found, &self.rows, known);
        if let Some(spacing) = &self.spacing {
            conformal::divide_new(&mut new.near, spacing);
        }
        Ok(new)
    }

    /// For each new row the outlier of the training data that it is, if it is one.
    fn known_outliers(&self, data: Data<'_>) -> Vec<Option<u32>> {
        let find = |is: &dyn Fn(usize, usize) -> bool| -> Vec<Option<u32>> {
            let outlier = |row| (0..self.outliers.len()).find(|&at| is(row, at));
            (0..data.rows()).map(|row| outlier(row).map(|at| self.outliers[at])).collect()
        };
        match (data, &self.outlier_points) {
            (Data::Points(new), Some(known)) => find(&|row, at| new.row_equals(row, known.view(), at)),
            (Data::Distances(matrix), _) => find(&|row, at| {
                matrix.get([row, self.outliers[at] as usize]).is_some_and(|&distance| distance == 0.0)
            }),
            _ => vec![None; data.rows()],
        }
    }
}
