//! Directions: cosine and correlation as straight lines on the unit sphere.
//!
//! Place in the dataflow: between the points and the engines for these two
//! metrics. A row becomes `u = x / |x|` (correlation: after subtracting its own
//! mean), and one minus the cosine of two rows is half the square of `u - v`:
//! taken by differences it is exactly 0 for equal rows and loses no digits for
//! nearly equal ones. Cost: O(n D).
//!
//! A row without direction (zero; constant for correlation) is at distance 1
//! from every row that has one, as in scikit-learn, and at 0 from its like. It
//! becomes the zero row with a 1 in one extra last coordinate.

use ndarray::Array2;

use super::Metric;
use crate::input::{Csr, Points, PointsRef};

/// Sparse rows: what is not stored in row `i` has the value `fill[i]`.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    pub csr: Csr,
    /// Empty when everything not stored is zero.
    pub fill: Vec<f64>,
}

/// The unit rows of points, dense or sparse as they are.
#[derive(Debug, Clone)]
pub(super) enum Units {
    Dense(Array2<f64>),
    Sparse(Filled),
}

/// The unit rows of `points`, one coordinate wider.
pub(super) fn units(points: &PointsRef, metric: Metric) -> Units {
    let centred = metric == Metric::Correlation;
    match points {
        PointsRef::Dense(matrix) => {
            let dims = matrix.ncols();
            let mut rows = Array2::zeros((matrix.nrows(), dims + 1));
            for (row, mut unit) in matrix.rows().into_iter().zip(rows.rows_mut()) {
                let mut values = row.to_vec();
                let mean = if centred { mean_of(&values, dims) } else { 0.0 };
                let nowhere = normalise(&mut values, 0, mean).is_none();
                values.push(f64::from(u8::from(nowhere)));
                unit.iter_mut().zip(values).for_each(|(to, from)| *to = from);
            }
            Units::Dense(rows)
        }
        PointsRef::Sparse(matrix) => Units::Sparse(sparse_units(matrix, centred)),
    }
}

fn sparse_units(matrix: &Csr, centred: bool) -> Filled {
    let mut csr = Csr { cols: matrix.cols + 1, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
    let mut fill = Vec::new();
    for row in 0..matrix.rows() {
        let (columns, values) = matrix.row(row);
        let mut values = values.to_vec();
        let absent = matrix.cols - values.len();
        let mean = if centred { mean_of(&values, matrix.cols) } else { 0.0 };
        let rest = normalise(&mut values, if centred { absent } else { 0 }, mean);
        if let Some(rest) = rest {
            csr.indices.extend_from_slice(columns);
            csr.values.extend_from_slice(&values);
            fill.push(if centred { rest } else { 0.0 });
        } else {
            csr.indices.push(matrix.cols as u32);
            csr.values.push(1.0);
            fill.push(0.0);
        }
        csr.offsets.push(csr.values.len());
    }
    Filled { csr, fill: if centred { fill } else { Vec::new() } }
}

fn mean_of(values: &[f64], count: usize) -> f64 {
    // Divided first, so that the sum cannot overflow where the values do not.
    values.iter().map(|value| value / count as f64).sum()
}

/// Subtract `mean`, scale to length 1 and return what became of the `absent`
/// zeros; `None`, and zeros, when there is no direction.
fn normalise(values: &mut [f64], absent: usize, mean: f64) -> Option<f64> {
    let zero = if absent > 0 { Some(0.0) } else { None };
    let mut all = values.iter().copied().chain(zero);
    let first = all.next().unwrap_or(0.0);
    let constant = all.all(|value| value == first);
    values.iter_mut().for_each(|value| *value -= mean);
    let mut rest = -mean;
    // The largest first, so that no square over- or underflows.
    let rest_size = if absent > 0 { rest.abs() } else { 0.0 };
    let largest = values.iter().fold(rest_size, |most, value| most.max(value.abs()));
    if largest == 0.0 || (constant && mean != 0.0) {
        values.fill(0.0);
        return None;
    }
    values.iter_mut().for_each(|value| *value /= largest);
    rest /= largest;
    let sum: f64 = values.iter().map(|value| value * value).sum();
    let length = (sum + absent as f64 * rest * rest).sqrt();
    values.iter_mut().for_each(|value| *value /= length);
    Some(rest / length)
}

/// Whether a unit row has no direction.
pub(super) fn is_nowhere(row: &[f64]) -> bool {
    row.last() == Some(&1.0)
}

/// Points in the layout of `like`: dense queries for a dense index, sparse for sparse.
pub(super) fn in_layout(points: &PointsRef, sparse: bool) -> Points {
    match (points, sparse) {
        (PointsRef::Dense(matrix), true) => {
            let mut csr =
                Csr { cols: matrix.ncols(), offsets: vec![0], indices: Vec::new(), values: Vec::new() };
            for row in matrix.rows() {
                for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    csr.indices.push(column as u32);
                    csr.values.push(value);
                }
                csr.offsets.push(csr.values.len());
            }
            Points::Sparse(csr)
        }
        (PointsRef::Sparse(csr), false) => {
            let mut matrix = Array2::zeros((csr.rows(), csr.cols));
            for row in 0..csr.rows() {
                let (columns, values) = csr.row(row);
                for (&column, &value) in columns.iter().zip(values) {
                    matrix[[row, column as usize]] = value;
                }
            }
            Points::Dense(matrix)
        }
        (same, _) => same.to_owned(),
    }
}
