//! Points or given distances as dissimilarities: the one place where methods that
//! need the distance of any pair get them.
//!
//! Place in the dataflow: `input` data in; distances between all rows, some rows, or
//! one row and all others out, at fit ([`Dissimilarities`]) and of new rows to those
//! that a model keeps ([`ReferenceRows`]). Given matrices are checked here: square,
//! symmetric, not negative, zero on the diagonal. Cost: O(D) per pair of points.

use ndarray::{Array2, Axis, CowArray, Ix2, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Algorithm, Index, Metric};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::rows::as_indices;
use crate::input::{Data, check};

/// The training rows with the dissimilarity of any two of them.
#[derive(Debug)]
pub enum Dissimilarities<'a> {
    /// Points: distances are computed when they are asked for.
    Points(Box<Index>),
    /// A square matrix that was given and checked.
    Given(CowArray<'a, f64, Ix2>),
}

impl<'a> Dissimilarities<'a> {
    /// Points under a metric, or with `None` a matrix of distances.
    ///
    /// # Errors
    /// Data that does not fit the metric; a matrix that is not one of distances, the
    /// pair named; memory.
    pub fn new(data: Data<'a>, metric: Option<Metric>, ctx: &Ctx) -> Result<Self> {
        match (data, metric) {
            (Data::Points(points), Some(metric)) => {
                let index = Index::build(points, metric, Algorithm::Brute, ctx)?;
                Ok(Dissimilarities::Points(Box::new(index)))
            }
            (Data::Distances(matrix), None) => Ok(Dissimilarities::Given(check::distances(matrix, ctx)?)),
            (data, metric) => Err(check::unfit(data, metric.is_none(), "distances")),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Dissimilarities::Points(index) => index.len(),
            Dissimilarities::Given(matrix) => matrix.nrows(),
        }
    }

    /// All of them, n × n.
    ///
    /// # Errors
    /// Memory; cancellation.
    pub fn matrix(&self, ctx: &Ctx) -> Result<CowArray<'_, f64, Ix2>> {
        match self {
            Dissimilarities::Points(index) => Ok(CowArray::from(index.matrix(None, ctx)?)),
            Dissimilarities::Given(matrix) => Ok(CowArray::from(matrix.view())),
        }
    }

    /// Those between some rows.
    ///
    /// # Errors
    /// Memory; cancellation.
    pub fn between(&self, rows: &[u32], ctx: &Ctx) -> Result<Array2<f64>> {
        let some = as_indices(rows);
        match self {
            Dissimilarities::Points(index) => part(index, rows, ctx)?.matrix(None, ctx),
            Dissimilarities::Given(matrix) => Ok(matrix.select(Axis(0), &some).select(Axis(1), &some)),
        }
    }

    /// Those of all rows to one.
    ///
    /// # Errors
    /// Cancellation.
    pub fn column(&self, row: u32, ctx: &Ctx) -> Result<Vec<f64>> {
        const ROWS: usize = 1 << 12;
        let index = match self {
            Dissimilarities::Points(index) => index,
            Dissimilarities::Given(matrix) => return Ok(matrix.row(row as usize).to_vec()),
        };
        let mut distances = vec![0.0; index.len()];
        distances.par_chunks_mut(ROWS).enumerate().try_for_each(|(chunk, part)| {
            ctx.check()?;
            for (offset, distance) in part.iter_mut().enumerate() {
                *distance = index.pair_distance(chunk * ROWS + offset, row as usize);
            }
            Ok(())
        })?;
        Ok(distances)
    }

    /// What a model keeps so that new rows can be compared with all rows.
    pub fn into_reference(self) -> ReferenceRows {
        match self {
            Dissimilarities::Points(index) => ReferenceRows::Points(index),
            Dissimilarities::Given(matrix) => ReferenceRows::Given { training: matrix.nrows(), kept: None },
        }
    }

    /// What a model keeps so that new rows can be compared with some rows.
    ///
    /// # Errors
    /// Memory; cancellation.
    pub fn reference(&self, rows: &[u32], ctx: &Ctx) -> Result<ReferenceRows> {
        Ok(match self {
            Dissimilarities::Points(index) => ReferenceRows::Points(Box::new(part(index, rows, ctx)?)),
            Dissimilarities::Given(matrix) => {
                ReferenceRows::Given { training: matrix.nrows(), kept: Some(rows.to_vec()) }
            }
        })
    }
}

/// The index of some rows only.
fn part(index: &Index, rows: &[u32], ctx: &Ctx) -> Result<Index> {
    let some = index.points().view().select(&as_indices(rows));
    Index::build(some.view(), index.metric(), Algorithm::Brute, ctx)
}

/// Training rows that a model keeps, all or some, to compare new rows with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ReferenceRows {
    /// Points.
    Points(Box<Index>),
    /// Rows of a given matrix: new rows bring their distances to all training rows.
    Given {
        /// Number of training rows.
        training: usize,
        /// Those of them that are kept; `None` for all.
        kept: Option<Vec<u32>>,
    },
}

impl ReferenceRows {
    /// Dissimilarities of the rows `first..last` of `data` (one row each) to the kept
    /// rows (one column each).
    ///
    /// # Errors
    /// Data of another kind or width; negative distances; memory; cancellation.
    pub fn dissimilarities<'a>(
        &self,
        data: Data<'a>,
        first: usize,
        last: usize,
        ctx: &Ctx,
    ) -> Result<CowArray<'a, f64, Ix2>> {
        let all = first == 0 && last == data.rows();
        match (self, data) {
            (ReferenceRows::Points(index), Data::Points(points)) if all => {
                Ok(CowArray::from(index.matrix(Some(points), ctx)?))
            }
            (ReferenceRows::Points(index), Data::Points(points)) => {
                let some: Vec<usize> = (first..last).collect();
                Ok(CowArray::from(index.matrix(Some(points.select(&some).view()), ctx)?))
            }
            (ReferenceRows::Given { training, kept }, Data::Distances(matrix)) => {
                let checked = check::new_distances(matrix.slice_move(s![first..last, ..]), *training)?;
                Ok(match kept {
                    None => checked,
                    Some(rows) => CowArray::from(checked.select(Axis(1), &as_indices(rows))),
                })
            }
            (_, data) => Err(Error::input(format!(
                "the model was fitted on another kind of data; new rows cannot come as {}",
                data.kind()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn points() -> Array2<f64> {
        Array2::from_shape_fn((30, 3), |(i, j)| ((i * 3 + j) as f64 * 0.7).sin())
    }

    #[test]
    fn points_and_their_given_matrix_answer_the_same() {
        let (ctx, points) = (Ctx::new(2, 0), points());
        let near = Dissimilarities::new(Data::from(&points), Some(Metric::Manhattan), &ctx).unwrap();
        let matrix = near.matrix(&ctx).unwrap().to_owned();
        let given = Dissimilarities::new(Data::Distances(matrix.view()), None, &ctx).unwrap();
        let some = [4, 0, 17];
        assert_eq!(near.between(&some, &ctx).unwrap(), given.between(&some, &ctx).unwrap());
        assert_eq!(near.column(9, &ctx).unwrap(), given.column(9, &ctx).unwrap());
        let kept = near.reference(&some, &ctx).unwrap();
        let of_points = kept.dissimilarities(Data::from(&points), 5, 25, &ctx).unwrap();
        let kept = given.reference(&some, &ctx).unwrap();
        let of_matrix = kept.dissimilarities(Data::Distances(matrix.view()), 5, 25, &ctx).unwrap();
        assert_eq!(of_points, of_matrix);
        assert_eq!(of_points.dim(), (20, 3));
        assert_eq!(of_points[[12, 2]], 0.0, "row 17 is the last of the kept ones");
        assert!(kept.dissimilarities(Data::from(&points), 0, 1, &ctx).is_err(), "another kind of data");
    }

    #[test]
    fn data_that_does_not_fit_the_metric_is_refused() {
        let (ctx, points) = (Ctx::new(1, 0), points());
        let refused =
            |data: Data<'_>, metric| Dissimilarities::new(data, metric, &ctx).unwrap_err().to_string();
        assert!(refused(Data::from(&points), None).contains("metric='precomputed'"));
        let square = Array2::<f64>::zeros((4, 4));
        assert!(refused(Data::Distances(square.view()), Some(Metric::Euclidean)).contains("metric"));
    }

    #[test]
    fn all_pairs_are_weighed_before_they_are_made() {
        let points = points();
        let ctx = Ctx::new(1, 0).with_memory_limit(30 * 30 * 8 - 1);
        let rows = Dissimilarities::new(Data::from(&points), Some(Metric::Euclidean), &ctx).unwrap();
        assert!(matches!(rows.matrix(&ctx), Err(Error::Memory { need: 7200, .. })));
    }
}
