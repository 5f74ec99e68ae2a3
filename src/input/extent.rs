//! The largest magnitude of many numbers, and with it whether all of them are finite.
//!
//! Magnitudes of numbers are ordered as their bits are, with infinity and NaN above
//! everything finite: one maximum answers both questions. Place: under the checks and
//! the scale of data. Cost: one pass, as fast as memory is read.

use ndarray::ArrayView2;
use rayon::prelude::*;

/// Numbers per parallel task.
const CHUNK: usize = 1 << 15;
/// Maxima side by side.
const LANES: usize = 16;
/// The bits of infinity.
const INFINITE: u64 = f64::INFINITY.to_bits();

/// The largest magnitude of a matrix; `None` when an entry is not finite.
pub fn largest_if_finite(matrix: ArrayView2<'_, f64>) -> Option<f64> {
    let bits = match matrix.as_slice_memory_order() {
        Some(values) => values.par_chunks(CHUNK).map(largest_bits).max(),
        None => (0..matrix.nrows())
            .into_par_iter()
            .map(|row| matrix.row(row).fold(0, |most, v| most.max(magnitude(*v))))
            .max(),
    };
    let bits = bits.unwrap_or(0);
    (bits < INFINITE).then(|| f64::from_bits(bits))
}

#[inline(always)]
fn magnitude(value: f64) -> u64 {
    value.to_bits() & !(1 << 63)
}

fn largest_bits(values: &[f64]) -> u64 {
    pulp::Arch::new().dispatch(Largest(values))
}

struct Largest<'a>(&'a [f64]);

impl pulp::WithSimd for Largest<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> u64 {
        let (blocks, rest) = self.0.as_chunks::<LANES>();
        let mut most = [0; LANES];
        for block in blocks {
            for lane in 0..LANES {
                most[lane] = most[lane].max(magnitude(block[lane]));
            }
        }
        let rest = rest.iter().fold(0, |most, value| most.max(magnitude(*value)));
        most.iter().fold(rest, |most, lane| most.max(*lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, s};

    #[test]
    fn the_largest_is_found_and_what_is_not_finite_is_seen() {
        for (rows, cols) in [(1, 1), (3, 5), (40, 17), (300, 200)] {
            let matrix = Array2::from_shape_fn((rows, cols), |(i, j)| -((i * cols + j) as f64));
            let largest = (rows * cols - 1) as f64;
            assert_eq!(largest_if_finite(matrix.view()), Some(largest));
            assert_eq!(largest_if_finite(matrix.t()), Some(largest));
            assert!(largest_if_finite(matrix.slice(s![..;2, ..;-1])).is_some());
            for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for at in [(0, 0), (rows / 2, cols / 2), (rows - 1, cols - 1)] {
                    let mut spoilt = matrix.clone();
                    spoilt[at] = bad;
                    assert_eq!(largest_if_finite(spoilt.view()), None, "{bad} at {at:?}");
                }
            }
        }
        assert_eq!(largest_if_finite(Array2::zeros((0, 3)).view()), Some(0.0));
    }
}
