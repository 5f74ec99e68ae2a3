//! Conversions from what Rust programs hold: nested vectors, slices of arrays,
//! `ndarray` views in double and single precision. (Graphs of `petgraph` are
//! converted in `graph`.)
//!
//! Cost: one copy of the numbers where a new matrix is made, none for views.

use ndarray::{Array2, ArrayView2};

use super::{Data, OwnedData, Points, PointsRef};
use crate::error::{Error, Result};

impl TryFrom<Vec<Vec<f64>>> for Points {
    type Error = Error;

    /// One point per inner vector; all of one length.
    ///
    /// ```
    /// use planish::input::Points;
    ///
    /// let points = Points::try_from(vec![vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 7.0]])?;
    /// assert_eq!((points.view().rows(), points.view().cols()), (3, 2));
    /// assert!(Points::try_from(vec![vec![1.0, 2.0], vec![3.0]]).is_err());
    /// # Ok::<(), planish::Error>(())
    /// ```
    fn try_from(rows: Vec<Vec<f64>>) -> Result<Points> {
        let width = rows.first().map_or(0, Vec::len);
        if let Some((row, other)) = rows.iter().enumerate().find(|(_, row)| row.len() != width) {
            return Err(Error::input(format!(
                "row {row} has {} numbers, row 0 has {width}; all rows must have the same length",
                other.len()
            )));
        }
        let shape = (rows.len(), width);
        let flat: Vec<f64> = rows.into_iter().flatten().collect();
        let matrix = Array2::from_shape_vec(shape, flat).map_err(|fault| Error::input(fault.to_string()))?;
        Ok(Points::Dense(matrix))
    }
}

impl<const D: usize> From<&[[f64; D]]> for Points {
    /// One point per array.
    fn from(rows: &[[f64; D]]) -> Points {
        Points::Dense(Array2::from_shape_fn((rows.len(), D), |(row, column)| rows[row][column]))
    }
}

impl From<ArrayView2<'_, f32>> for Points {
    /// Single precision, widened.
    fn from(matrix: ArrayView2<'_, f32>) -> Points {
        Points::Dense(Array2::from_shape_fn(matrix.dim(), |at| f64::from(matrix[at])))
    }
}

impl From<&Array2<f32>> for Points {
    /// Single precision, widened.
    fn from(matrix: &Array2<f32>) -> Points {
        Points::from(matrix.view())
    }
}

impl From<Array2<f64>> for Points {
    fn from(matrix: Array2<f64>) -> Points {
        Points::Dense(matrix)
    }
}

impl From<Points> for OwnedData {
    fn from(points: Points) -> OwnedData {
        OwnedData::Points(points)
    }
}

impl<const D: usize> From<&[[f64; D]]> for OwnedData {
    fn from(rows: &[[f64; D]]) -> OwnedData {
        OwnedData::Points(Points::from(rows))
    }
}

impl From<ArrayView2<'_, f32>> for OwnedData {
    fn from(matrix: ArrayView2<'_, f32>) -> OwnedData {
        OwnedData::Points(Points::from(matrix))
    }
}

impl TryFrom<Vec<Vec<f64>>> for OwnedData {
    type Error = Error;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<OwnedData> {
        Ok(OwnedData::Points(Points::try_from(rows)?))
    }
}

impl<'a> From<ArrayView2<'a, f64>> for Data<'a> {
    fn from(points: ArrayView2<'a, f64>) -> Self {
        Data::Points(PointsRef::Dense(points))
    }
}

impl<'a> From<&'a Array2<f64>> for Data<'a> {
    fn from(points: &'a Array2<f64>) -> Self {
        Data::Points(PointsRef::Dense(points.view()))
    }
}

impl<'a> From<PointsRef<'a>> for Data<'a> {
    fn from(points: PointsRef<'a>) -> Self {
        Data::Points(points)
    }
}

impl<'a> From<&'a Points> for Data<'a> {
    fn from(points: &'a Points) -> Self {
        Data::Points(points.view())
    }
}

impl<'a> From<&'a OwnedData> for Data<'a> {
    fn from(data: &'a OwnedData) -> Self {
        data.view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    #[test]
    fn every_form_gives_the_same_points() {
        let wanted = Points::Dense(arr2(&[[0.5, 1.0], [2.0, -3.0]]));
        assert_eq!(Points::try_from(vec![vec![0.5, 1.0], vec![2.0, -3.0]]).unwrap(), wanted);
        assert_eq!(Points::from(&[[0.5, 1.0], [2.0, -3.0]][..]), wanted);
        assert_eq!(Points::from(&arr2(&[[0.5_f32, 1.0], [2.0, -3.0]])), wanted);
        let transposed = arr2(&[[0.5_f32, 2.0], [1.0, -3.0]]);
        assert_eq!(Points::from(transposed.t()), wanted);
        let held = OwnedData::from(wanted);
        assert_eq!((Data::from(&held).rows(), Data::from(&held).features()), (2, 2));
    }

    #[test]
    fn a_ragged_row_is_named() {
        let refused = Points::try_from(vec![vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0]]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "row 2 has 1 numbers, row 0 has 2; all rows must have the same length"
        );
    }
}
