//! The dimension by how far the neighbours of a row are from being in line.
//!
//! Expected simplex skewness (K. Johnsson, C. Soneson, M. Fontes, IEEE PAMI 37, 2015): for
//! directions spread evenly in d dimensions the mean of |sin| of the angle between two is
//! Γ(d/2)² / (Γ((d − 1)/2) Γ((d + 1)/2)), which grows from 0 to 1 with d. That of a row is
//! taken between it and its neighbours, seen from their mean and weighted by their lengths:
//! the area of the parallelogram of two over the product of their lengths. An edge takes
//! neighbours away but leaves their mean among them, so that it matters little; curvature
//! makes the value too large, because the neighbours turn out of the tangent plane.
//! Cost: k²·D a row.

use super::axes::neighborhoods;
use super::likelihood::MeanOf;
use super::table::Table;
use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::local::spectra::each_gram;

/// Beyond this the dimension is not told from infinity.
const LARGEST: f64 = 1e6;
/// Halvings of the range of ln d in search of the dimension.
const STEPS: usize = 60;

/// The statistic, and the dimension at each row; the inner error where the data has no angles.
pub(super) fn simplex_skewness(table: &Table<'_>, ctx: &Ctx) -> Result<Result<(MeanOf, Vec<f64>)>> {
    let source = match neighborhoods(table, "angles between neighbours") {
        Ok((source, _)) => source,
        Err(reason) => return Ok(Err(reason)),
    };
    let skewness = each_gram(source, &table.near, skewness, ctx)?;
    Ok(Ok(MeanOf::new(skewness, dimension)))
}

/// The mean |sin| between all pairs of vectors, weighted by the product of their lengths.
fn skewness(gram: &[f64], count: usize) -> f64 {
    let (mut areas, mut products) = (0.0, 0.0);
    for i in 0..count {
        let row = &gram[i * count..i * count + i];
        let own = gram[i * count + i].max(0.0);
        for (j, product) in row.iter().enumerate() {
            let both = own * gram[j * count + j].max(0.0);
            areas += (both - product * product).max(0.0).sqrt();
            products += both.sqrt();
        }
    }
    if products > 0.0 { areas / products } else { 0.0 }
}

/// The mean |sin| between two directions in d dimensions.
fn mean_sine(d: f64) -> f64 {
    if d <= 1.0 {
        return 0.0;
    }
    let ln_gamma = libm::lgamma;
    let exponent = 2.0 * ln_gamma(d / 2.0) - ln_gamma((d - 1.0) / 2.0) - ln_gamma((d + 1.0) / 2.0);
    libm::exp(exponent)
}

/// The dimension whose mean |sin| is `sine`.
fn dimension(sine: f64) -> f64 {
    if sine <= 0.0 {
        return 1.0;
    }
    if sine >= mean_sine(LARGEST) {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, libm::log(LARGEST));
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        let below = mean_sine(libm::exp(middle)) < sine;
        (low, high) = if below { (middle, high) } else { (low, middle) };
    }
    libm::exp(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_sine_is_that_of_the_circle_and_the_sphere() {
        // Of the circle 2/π, of the sphere π/4.
        assert!((mean_sine(2.0) - 2.0 / std::f64::consts::PI).abs() < 1e-14);
        assert!((mean_sine(3.0) - std::f64::consts::FRAC_PI_4).abs() < 1e-14);
        for d in [1.0, 1.5, 2.0, 7.3, 40.0, 1000.0] {
            assert!((dimension(mean_sine(d)) / d - 1.0).abs() < 1e-6, "{d}: {}", dimension(mean_sine(d)));
        }
        assert_eq!(dimension(0.0), 1.0);
        assert_eq!(dimension(1.0), f64::INFINITY);
    }

    #[test]
    fn vectors_at_right_angles_have_no_cosine_and_those_in_line_no_sine() {
        assert_eq!(skewness(&[4.0, 0.0, 0.0, 9.0], 2), 1.0);
        assert_eq!(skewness(&[4.0, -6.0, -6.0, 9.0], 2), 0.0);
        assert_eq!(skewness(&[0.0, 0.0, 0.0, 0.0], 2), 0.0);
        let mixed = [1.0, 0.0, 1.0, 0.0, 4.0, 2.0, 1.0, 2.0, 2.0];
        let wanted = (2.0 + 1.0 + 2.0) / (2.0 + 2.0_f64.sqrt() + 8.0_f64.sqrt());
        assert!((skewness(&mixed, 3) - wanted).abs() < 1e-14);
    }
}
