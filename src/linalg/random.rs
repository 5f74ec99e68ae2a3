//! Reproducible random blocks, drawn in row order from one stream.

use ndarray::Array2;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// One number, uniform in [-1, 1).
pub fn draw(stream: &mut Pcg64Mcg) -> f64 {
    // 53 random bits fill a double's significand exactly.
    (stream.next_u64() >> 11) as f64 * (2.0 / (1u64 << 53) as f64) - 1.0
}

/// A whole number in `0..most`, each equally likely to within `most` in 2⁶⁴.
pub fn below(stream: &mut Pcg64Mcg, most: usize) -> usize {
    ((u128::from(stream.next_u64()) * most as u128) >> 64) as usize
}

/// A `rows × cols` matrix of independent numbers, uniform in [-1, 1).
pub fn uniform(stream: &mut Pcg64Mcg, rows: usize, cols: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, cols), || draw(stream))
}
