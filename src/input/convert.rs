//! Conversions from what Rust programs have: nested vectors, slices of arrays,
//! `ndarray` views in double and single precision. (Graphs are
//! converted in `graph`.)
//!
//! Cost: one copy of the numbers where a new matrix is made, none for views.

use ndarray::{Array2, ArrayView2};

use super::{Csr, Data, OwnedData, Points, PointsRef};
use crate::error::{Error, Result};

impl TryFrom<Vec<Vec<f64>>> for Points {
    type Error = Error;

    /// One point per inner vector; all of one length.
    ///
    /// ```
    /// use planish::Points;
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

impl<const D: usize> From<&Vec<[f64; D]>> for Points {
    /// One point per array.
    fn from(rows: &Vec<[f64; D]>) -> Points {
        Points::from(rows.as_slice())
    }
}

impl Points {
    /// From numbers row by row, `shape` being (rows, columns).
    ///
    /// ```
    /// let points = planish::Points::from_slice((3, 2), &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0])?;
    /// assert_eq!(points.view().rows(), 3);
    /// # planish::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// More or fewer numbers than the shape has.
    pub fn from_slice(shape: (usize, usize), values: &[f64]) -> Result<Points> {
        let matrix = Array2::from_shape_vec(shape, values.to_vec()).map_err(|_| {
            Error::input(format!("{} numbers cannot be {} rows of {}", values.len(), shape.0, shape.1))
        })?;
        Ok(Points::Dense(matrix))
    }
}

impl From<Points> for OwnedData {
    fn from(points: Points) -> OwnedData {
        OwnedData::Points(points)
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

impl<'a> From<&'a Csr> for Data<'a> {
    /// Sparse points.
    fn from(points: &'a Csr) -> Self {
        Data::Points(PointsRef::Sparse(points))
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

/// What `fit`, `transform` and the stages take: data that is lent ([`Data`] and all that
/// becomes one), or data in another form, which is converted for the call (single
/// precision, slices of arrays, graphs).
///
/// ```
/// use planish::{Ctx, methods::Pca, ndarray::Array2};
///
/// let ctx = Ctx::default();
/// let single = Array2::<f32>::from_shape_fn((20, 3), |(i, j)| (i * i + j) as f32);
/// let double = single.mapv(f64::from);
/// let pca = Pca::default().n_components(1);
/// assert_eq!(pca.fit_transform(&single, &ctx)?, pca.fit_transform(double.view(), &ctx)?);
/// let corners = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]];
/// assert_eq!(pca.fit_transform(&corners, &ctx)?.dim(), (3, 1));
/// # planish::Result::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct Input<'a>(Form<'a>);

#[derive(Debug, Clone)]
enum Form<'a> {
    Lent(Data<'a>),
    Converted(OwnedData),
}

impl Input<'_> {
    /// The data, whoever owns it.
    pub(crate) fn view(&self) -> Data<'_> {
        match &self.0 {
            Form::Lent(data) => data.reborrow(),
            Form::Converted(data) => data.view(),
        }
    }
}

impl<'a, T: Into<Data<'a>>> From<T> for Input<'a> {
    fn from(data: T) -> Self {
        Input(Form::Lent(data.into()))
    }
}

/// Forms that points are made of.
macro_rules! converted {
    ($([$($generic:tt)*] $from:ty),+ $(,)?) => {
        $(impl<$($generic)*> From<$from> for Input<'_> {
            fn from(data: $from) -> Self {
                Input(Form::Converted(Points::from(data).into()))
            }
        })+
    };
}
converted!(
    [] &Array2<f32>,
    [] ArrayView2<'_, f32>,
    [const D: usize] &[[f64; D]],
    [const D: usize] &Vec<[f64; D]>,
);

impl From<OwnedData> for Input<'_> {
    fn from(data: OwnedData) -> Self {
        Input(Form::Converted(data))
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
