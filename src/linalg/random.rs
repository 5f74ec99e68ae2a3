//! Reproducible random blocks, drawn in row order from one stream.

use ndarray::Array2;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use super::exp::ln;

/// A stream of random numbers, as [`crate::Ctx`] gives them out.
pub type Stream = Pcg64Mcg;

/// One number, uniform in [-1, 1).
pub fn draw(stream: &mut Pcg64Mcg) -> f64 {
    // 53 random bits fill a double's significand exactly.
    (stream.next_u64() >> 11) as f64 * (2.0 / (1u64 << 53) as f64) - 1.0
}

/// One number, uniform in [0, 1).
pub fn unit(stream: &mut Pcg64Mcg) -> f64 {
    (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// One number of the standard normal distribution (Box and Muller).
pub fn normal(stream: &mut Pcg64Mcg) -> f64 {
    let radius = (-2.0 * ln(1.0 - unit(stream))).sqrt();
    radius * libm::cos(std::f64::consts::TAU * unit(stream))
}

/// A whole number in `0..most`, each equally likely to within `most` in 2⁶⁴.
pub fn below(stream: &mut Pcg64Mcg, most: usize) -> usize {
    ((u128::from(stream.next_u64()) * most as u128) >> 64) as usize
}

/// A `rows × cols` matrix of independent numbers, uniform in [-1, 1).
pub fn uniform(stream: &mut Pcg64Mcg, rows: usize, cols: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, cols), || draw(stream))
}
