//! Rows of the data and rows in use: results of the rows in use spread back over all.

use ndarray::Array2;
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::Result;

/// Row numbers as indices.
pub(crate) fn as_indices(rows: &[u32]) -> Vec<usize> {
    rows.iter().map(|&row| row as usize).collect()
}

/// Coordinates with those of an earlier row wherever `twin` names one.
pub fn with_equal_rows(
    mut coordinates: Array2<f64>,
    twin: impl Fn(usize) -> Option<usize> + Sync,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    let rows = (0..coordinates.nrows()).into_par_iter();
    let twins: Vec<Option<usize>> = rows.map(|row| ctx.check().map(|()| twin(row))).collect::<Result<_>>()?;
    for (row, twin) in twins.into_iter().enumerate() {
        if let Some(twin) = twin {
            let same = coordinates.row(twin).to_owned();
            coordinates.row_mut(row).assign(&same);
        }
    }
    Ok(coordinates)
}

/// Rows of coordinates among `rows` rows, row i being `kept[i]`; the others NaN.
pub fn spread_rows(coordinates: Array2<f64>, kept: Option<&[u32]>, rows: usize) -> Array2<f64> {
    let Some(kept) = kept else { return coordinates };
    let mut all = Array2::from_elem((rows, coordinates.ncols()), f64::NAN);
    for (row, &at) in coordinates.outer_iter().zip(kept) {
        all.row_mut(at as usize).assign(&row);
    }
    all
}
