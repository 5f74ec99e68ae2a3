//! Procrustes distance of two maps, and the one laid upon the other.
//!
//! Place: beside the other measures; it takes coordinates and no distances. The rotation (with or
//! without reflection), scale and shift of Y that leave the least squares to X are those of the
//! singular value decomposition of YᵀX, both centred (Schönemann 1966; Gower 1975). Maps of
//! different numbers of columns are compared with columns of zeros. Cost: O(n p²).

use ndarray::{Array1, Array2, ArrayView2, Axis, s};

use crate::error::{Error, Result};
use crate::input::check;
use crate::linalg::dense::{power_of_two_scale, thin_svd};

/// How far two maps are apart when one is laid upon the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Procrustes {
    /// √(Σ |x − y'|² / Σ |x − mean x|²): 0 for maps of one shape, at most 1 with scaling.
    pub distance: f64,
    /// Y laid upon X, y' = scale · y R + shift.
    pub aligned: Array2<f64>,
    /// R.
    pub rotation: Array2<f64>,
    /// The scale; 1 without scaling.
    pub scale: f64,
    /// The shift.
    pub shift: Array1<f64>,
    /// |x − y'| of each row, over √(Σ |x − mean x|² / n).
    pub per_point: Vec<f64>,
}

/// Lay the map `y` upon the map `x` of the same rows.
///
/// # Errors
/// Maps that are not finite, of other numbers of rows, or an `x` whose rows are all equal.
pub fn procrustes(
    x: ArrayView2<'_, f64>,
    y: ArrayView2<'_, f64>,
    scaling: bool,
    reflection: bool,
) -> Result<Procrustes> {
    if x.nrows() != y.nrows() {
        let (rows, others) = (x.nrows(), y.nrows());
        return Err(Error::input(format!("X has {rows} rows and Y {others}; they must be the same")));
    }
    check::check_finite(x, "X")?;
    check::check_finite(y, "Y")?;
    let width = x.ncols().max(y.ncols());
    let (x, x_mean, x_unit) = centred(x, width);
    let (y, y_mean, y_unit) = centred(y, width);
    let norm = |matrix: &Array2<f64>| matrix.iter().map(|value| value * value).sum::<f64>();
    let (x_norm, y_norm) = (norm(&x), norm(&y));
    if x_norm == 0.0 {
        return Err(Error::input("all rows of X are equal: there is no shape to compare with"));
    }
    let svd = thin_svd(y.t().dot(&x).view())?;
    let mut signs = Array1::<f64>::ones(width);
    if !reflection && determinant_sign(&svd.u) * determinant_sign(&svd.v) < 0.0 {
        signs[width - 1] = -1.0;
    }
    let rotation = (&svd.u * &signs).dot(&svd.v.t());
    let trace: f64 = svd.s.iter().zip(&signs).map(|(value, sign)| value * sign).sum();
    let scale = match (scaling, y_norm > 0.0) {
        (true, true) => trace / y_norm,
        (true, false) => 0.0,
        (false, _) => x_unit / y_unit,
    };
    let turned = y.dot(&rotation) * scale;
    let gaps: Vec<f64> = (&turned - &x)
        .rows()
        .into_iter()
        .map(|row| row.iter().map(|value| value * value).sum::<f64>())
        .collect();
    let rows = gaps.len() as f64;
    let scale = scale * y_unit / x_unit;
    let shift = &x_mean - &(y_mean.dot(&rotation) * scale);
    let aligned = turned / x_unit + &x_mean;
    Ok(Procrustes {
        distance: (gaps.iter().sum::<f64>() / x_norm).sqrt(),
        aligned,
        rotation,
        scale,
        shift,
        per_point: gaps.iter().map(|gap| (gap / (x_norm / rows)).sqrt()).collect(),
    })
}

/// A map with mean zero times a power of two, widened by zeros; its mean, and that power.
fn centred(map: ArrayView2<'_, f64>, width: usize) -> (Array2<f64>, Array1<f64>, f64) {
    let rows = map.nrows();
    let first = power_of_two_scale(map.iter().copied()).unwrap_or(1.0);
    let mut wide = Array2::zeros((rows, width));
    wide.slice_mut(s![.., ..map.ncols()]).assign(&map.mapv(|value| value * first));
    let mean = wide.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(width));
    wide -= &mean;
    // Again after the mean is gone: a small map far from the origin has its digits here.
    let unit = power_of_two_scale(wide.iter().copied()).unwrap_or(1.0);
    wide *= unit;
    (wide, mean / first, first * unit)
}

/// The sign of the determinant of a small matrix, by elimination.
fn determinant_sign(matrix: &Array2<f64>) -> f64 {
    let (mut a, n) = (matrix.clone(), matrix.nrows());
    let mut sign = 1.0;
    for column in 0..n {
        let size = |row: &usize| a[[*row, column]].abs();
        let pivot = (column..n).max_by(|left, right| size(left).total_cmp(&size(right))).unwrap_or(column);
        if pivot != column {
            sign = -sign;
            for at in 0..n {
                a.swap([pivot, at], [column, at]);
            }
        }
        let head = a[[column, column]];
        sign *= head.signum();
        for row in column + 1..n {
            let factor = a[[row, column]] / head;
            for at in column..n {
                let above = a[[column, at]];
                a[[row, at]] -= factor * above;
            }
        }
    }
    sign
}
