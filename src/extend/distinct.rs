//! Rows that cannot be told apart by what they are: they share a place in a map.
//!
//! Place in the dataflow: before a method that gives each distinct row one point, so that a
//! training row, recognised by its values, has one place. Cost: a sort of the rows.

use ndarray::Array2;

use super::descent::{digests, first_equal_rows};
use crate::context::Ctx;
use crate::error::Result;
use crate::input::Data;
use crate::input::rows::RowMap;

/// The distinct rows, which are the points of the map.
#[derive(Debug)]
pub struct DistinctRows {
    /// The first row of each point, ascending.
    pub firsts: Vec<u32>,
    numbers: Vec<u32>,
    /// From points to rows.
    rows: RowMap,
}

impl DistinctRows {
    /// Find them: rows of equal values, or with the same given distances.
    ///
    /// # Errors
    /// Cancellation.
    pub fn of(data: Data<'_>, ctx: &Ctx) -> Result<DistinctRows> {
        let mut equal = first_equal_rows(data, &digests(data, ctx)?);
        equal.resize(data.rows(), None);
        let (mut firsts, mut numbers) = (Vec::new(), Vec::with_capacity(equal.len()));
        for (row, first) in equal.iter().enumerate() {
            let number = match first {
                Some(first) => numbers[*first],
                None => {
                    firsts.push(row as u32);
                    firsts.len() as u32 - 1
                }
            };
            numbers.push(number);
        }
        let rows = RowMap::distinct(&firsts, &numbers);
        Ok(DistinctRows { firsts, numbers, rows })
    }

    /// The coordinates of all rows from those of the points, `width` for each.
    pub fn spread(&self, y: Vec<f64>, width: usize) -> Array2<f64> {
        // proof: there is a place for every point.
        self.rows.spread(Array2::from_shape_vec((self.firsts.len(), width), y).expect("a place each"))
    }

    /// The point of each row, unless every row is one.
    pub fn point_of(&self) -> Option<&[u32]> {
        (self.firsts.len() < self.numbers.len()).then_some(&self.numbers[..])
    }
}
