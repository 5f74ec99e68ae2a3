//! Rows of distances by matrix products, the short ones by differences.
//!
//! Place in the dataflow: below `distance_rows`, for measures that add distances up. A square
//! |x|² + |y|² − 2 x·y loses digits where it is small beside the norms: there the distance is
//! taken by differences. Cost: n D multiplications a row at the speed of matrix products, and
//! 8 n D bytes.

use ndarray::ArrayView2;

use super::gemm_bounds::{Frame, Prepared, error_bound};

/// A square below this share of the two norms is taken by differences.
const SHORT: f64 = 1e-2;

/// Rows prepared for products.
#[derive(Debug)]
pub(super) struct SquaredRows {
    rows: Prepared<f64>,
    frame: Frame,
    dims: usize,
}

impl SquaredRows {
    /// Of row-major points; `None` when they cannot be brought into a frame.
    pub fn of(points: ArrayView2<'_, f64>) -> Option<SquaredRows> {
        let (flat, dims) = (points.to_slice()?, points.ncols());
        let frame = Frame::of(flat, dims)?;
        Some(SquaredRows { rows: Prepared::new(flat, dims, &frame), frame, dims })
    }

    /// By which share of itself a distance may be wrong.
    pub fn tolerance(&self) -> f64 {
        error_bound::<f64>(self.dims) / SHORT
    }

    /// Distances of some rows to all rows, with `exact` for short ones; half the squares where
    /// rows are directions.
    pub fn distances(
        &self,
        rows: impl Iterator<Item = usize> + Clone,
        angular: bool,
        distances: &mut [f64],
        exact: impl Fn(usize, usize) -> f64,
    ) {
        let n = self.rows.base.len();
        self.rows.squares(rows.clone(), distances);
        let back = self.frame.back();
        for (row, distances) in rows.zip(distances.chunks_exact_mut(n)) {
            let own = self.rows.norm(row);
            for (other, distance) in distances.iter_mut().enumerate() {
                let square = *distance;
                // Not "less": what is not a number is evaluated too.
                if !(square >= SHORT * (own + self.rows.norm(other))) {
                    *distance = exact(row, other);
                } else if angular {
                    *distance = 0.5 * square * back * back;
                } else {
                    *distance = square.sqrt() * back;
                }
            }
        }
    }
}
