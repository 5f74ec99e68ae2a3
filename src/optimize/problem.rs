//! What is to be mapped: dissimilarities of all pairs, stored or computed anew in every
//! pass, with their weights.
//!
//! Place in the dataflow: from `neighbors` to every solver. Dissimilarities of up to
//! [`MOST_STORED`] points are stored; beyond that no n × n matrix is made, and each pass over
//! the pairs computes them. Given matrices are used where they lie.

use ndarray::{Array2, ArrayView2, CowArray};

use super::pairs::Rows;
use super::weights::{complete, weights_of_pairs};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Data, check};
use crate::neighbors::{Dissimilarities, Metric};

/// Points whose dissimilarities are stored: 8·n² bytes.
pub const MOST_STORED: usize = 10_000;

/// Dissimilarities and weights of all pairs.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The rows.
    pub training: Dissimilarities<'a>,
    /// Distances of points, where they are stored.
    stored: Option<Array2<f64>>,
    weights: Option<Array2<f64>>,
}

/// Sums over all pairs.
#[derive(Debug, Clone, Copy)]
pub struct Totals {
    /// Σ w δ.
    pub delta: f64,
    /// Σ w δ².
    pub squares: f64,
    /// Σ w δ⁴.
    pub fourths: f64,
    /// Σ w.
    pub weight: f64,
    /// The smallest dissimilarity above zero; infinity if there is none.
    pub least: f64,
}

impl<'a> Problem<'a> {
    /// Dissimilarities of `data`; `needs_all` for what cannot do without a stored matrix.
    ///
    /// # Errors
    /// Data that does not fit the metric, or is no matrix of dissimilarities; weights that
    /// cannot be used; more points than can be stored where that is needed.
    pub fn new(
        data: Data<'a>,
        metric: Option<Metric>,
        weights: Option<&Array2<f64>>,
        needs_all: Option<&'static str>,
        ctx: &Ctx,
    ) -> Result<Problem<'a>> {
        let completed = match data {
            Data::Distances(matrix) => complete(matrix),
            _ => None,
        };
        let (training, known) = match completed {
            None => (Dissimilarities::new(data, metric, ctx)?, None),
            Some(completed) => {
                if metric.is_some() {
                    return Err(check::unfit(data, false, "distances"));
                }
                let mended = check::distances(completed.delta.view(), ctx)?.into_owned();
                (Dissimilarities::Given(CowArray::from(mended)), Some(completed.known))
            }
        };
        let n = training.rows();
        let weights = weights_of_pairs(weights, known, n, ctx)?;
        let large = n > MOST_STORED;
        if let (true, Dissimilarities::Points(_), Some(name)) = (large, &training, needs_all) {
            let why = format!(
                "this choice looks at all pairs at once, which are stored for at most {MOST_STORED} rows, got {n}"
            );
            return Err(Error::param(name, why));
        }
        let stored = match &training {
            Dissimilarities::Points(index) if !large => Some(index.matrix(None, ctx)?),
            _ => None,
        };
        Ok(Problem { training, stored, weights })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.training.rows()
    }

    /// The stored matrix.
    pub fn matrix(&self) -> Option<ArrayView2<'_, f64>> {
        match (&self.training, &self.stored) {
            (_, Some(stored)) => Some(stored.view()),
            (Dissimilarities::Given(matrix), None) => Some(matrix.view()),
            (Dissimilarities::Points(_), None) => None,
        }
    }

    /// The weights, where they differ.
    pub fn weights(&self) -> Option<ArrayView2<'_, f64>> {
        self.weights.as_ref().map(|weights| weights.view())
    }

    /// The pairs, row by row.
    pub fn rows(&self) -> Rows<'_> {
        match (self.matrix(), &self.training) {
            (None, Dissimilarities::Points(index)) => Rows::Points(index),
            (Some(delta), _) => Rows::Stored { delta, weights: self.weights() },
            // proof: a given matrix is a stored one.
            (None, Dissimilarities::Given(matrix)) => {
                Rows::Stored { delta: matrix.view(), weights: self.weights() }
            }
        }
    }

    /// Sums over all pairs.
    ///
    /// # Errors
    /// Cancellation.
    pub fn totals(&self, ctx: &Ctx) -> Result<Totals> {
        let rows = self.rows();
        let none = Totals { delta: 0.0, squares: 0.0, fourths: 0.0, weight: 0.0, least: f64::INFINITY };
        let parts = rows.blocks(ctx, |range, room| {
            let mut sums = none;
            for i in range {
                let (delta, weights) = rows.row(i, room);
                for (j, &near) in delta.iter().enumerate().filter(|(j, _)| *j != i) {
                    let weight = weights.map_or(1.0, |weights| weights[j]);
                    sums.delta += weight * near;
                    sums.squares += weight * near * near;
                    sums.fourths += weight * (near * near) * (near * near);
                    sums.weight += weight;
                    if weight > 0.0 && near > 0.0 {
                        sums.least = sums.least.min(near);
                    }
                }
            }
            sums
        })?;
        // Each pair was met twice.
        Ok(parts.into_iter().fold(none, |sum, part| Totals {
            delta: sum.delta + 0.5 * part.delta,
            squares: sum.squares + 0.5 * part.squares,
            fourths: sum.fourths + 0.5 * part.fourths,
            weight: sum.weight + 0.5 * part.weight,
            least: sum.least.min(part.least),
        }))
    }

    /// The stored matrix with what is missing replaced by the mean, for a classical start.
    pub fn filled(&self, totals: &Totals) -> Option<CowArray<'_, f64, ndarray::Ix2>> {
        let matrix = self.matrix()?;
        let Some(weights) = &self.weights else { return Some(CowArray::from(matrix)) };
        let mean = totals.delta / totals.weight;
        let mut filled = matrix.to_owned();
        for ((at, value), weight) in filled.indexed_iter_mut().zip(weights) {
            if *weight == 0.0 && at.0 != at.1 {
                *value = mean;
            }
        }
        Some(CowArray::from(filled))
    }
}
