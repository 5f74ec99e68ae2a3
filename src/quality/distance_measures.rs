//! Measures of distances: correlation, residual variance, every named form of stress, strain.
//!
//! Place: after `pair_sums`, of which every one is a function. Over all rows each pair is met
//! twice, which cancels in all ratios. The value at a point is the same function of the pairs of
//! that point alone. Cost: one pass over the pairs for all of them.

use pulp::Arch;

use super::comparison::{Comparison, Measure};
use super::pair_sums::{COUNT, RowSums, Sums};
use super::score::{Score, of_means};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::neighbors::{DistanceRows, Precision};

/// Less than this share of a sum of squares is rounding, and no spread.
const NO_SPREAD: f64 = 1e-14;

/// Sums over the pairs of each row, and for the strain three numbers more.
#[derive(Debug)]
pub(super) struct DistanceSums {
    rows: Vec<Sums>,
    /// Σ δ⁴, (Σ δ²)², Σ δ² and 2 Σ δ² y_i·y_j of each row, for the strain.
    strain: Vec<[f64; 4]>,
    /// ‖YᵀY‖² of the centred map.
    products: f64,
}

impl DistanceSums {
    /// # Errors
    /// Cancellation.
    pub fn of(both: &Comparison<'_>, ctx: &Ctx) -> Result<DistanceSums> {
        let (_, x, y) = both.units();
        let centred = centred(both, y);
        let norms: Vec<f64> = centred.rows().into_iter().map(|row| row.iter().map(|v| v * v).sum()).collect();
        let products = centred.t().dot(&centred).iter().map(|product| product * product).sum();
        ctx.stage("distances", both.rows().len());
        let rows = DistanceRows::each_row(
            [&both.x, &both.y],
            both.rows(),
            Precision::Close,
            ctx,
            |row, [given, placed]| {
                (given[row], placed[row]) = (0.0, 0.0);
                let sums = Arch::new().dispatch(RowSums { given, placed, factors: (x, y), norms: &norms });
                let crossed = norms[row] * sums[1] + sums[COUNT - 1];
                (sums, [sums[COUNT - 2], sums[1] * sums[1], sums[1], crossed])
            },
        )?;
        let (rows, strain) = rows.into_iter().unzip();
        Ok(DistanceSums { rows, strain, products })
    }

    /// One of the measures.
    ///
    /// # Errors
    /// A denominator of zero.
    pub fn score(&self, measure: Measure, both: &Comparison<'_>) -> Result<Score> {
        let (n, (unit, ..)) = (both.len(), both.units());
        let pairs = n as f64 - 1.0;
        if measure == Measure::Strain {
            let rows = n as f64;
            let strain = |[fourth, squared, square, crossed]: &[f64; 4]| {
                let kernel = 0.25 * (rows * fourth - 2.0 * squared + square * square);
                // tr YᵀKY is −½ Σ δ² y·y, so that twice it is taken away by adding Σ δ² y·y.
                (kernel + 0.5 * rows * crossed + self.products).max(0.0)
            };
            let (value, standard_error) = of_means(&self.strain, n, strain);
            let back = |value: f64| unit.power(2).back_squared(value);
            return Ok(Score { value: back(value), standard_error: back(standard_error), per_point: None });
        }
        let of = |sums: &Sums| formula(measure, sums, pairs);
        let (mut value, mut standard_error) = of_means(&self.rows, n, of);
        let mut per_point: Vec<f64> = self.rows.iter().map(of).collect();
        match measure {
            Measure::RawStress => {
                value = unit.back_squared(0.5 * n as f64 * value);
                standard_error = unit.back_squared(0.5 * n as f64 * standard_error);
                per_point.iter_mut().for_each(|own| *own = unit.back_squared(*own));
            }
            Measure::StressPerDistance => {
                (value, standard_error) = (unit.back(value), unit.back(standard_error));
                per_point.iter_mut().for_each(|own| *own = unit.back(*own));
            }
            _ => {}
        }
        if !value.is_finite() {
            return Err(undefined(measure));
        }
        // A row whose own denominator is zero has no value of its own.
        per_point.iter_mut().filter(|own| own.is_infinite()).for_each(|own| *own = f64::NAN);
        Ok(Score { value, standard_error, per_point: Some(per_point) })
    }
}

fn undefined(measure: Measure) -> Error {
    let (what, sum) = match measure {
        Measure::NormalizedStress => ("the data", "the squared distances"),
        Measure::SammonStress => ("the data", "the distances"),
        Measure::Stress2 => ("the map", "the squared differences of distances from their mean"),
        Measure::StressPerDistance => ("the map", "the distances"),
        _ => ("the map", "the squared distances"),
    };
    Error::input(format!(
        "the stress '{}' divides by the sum of {sum} of {what}, which is zero; use form='raw' or 'scaled'",
        measure.name()
    ))
}

/// A measure of sums over pairs of which there are `pairs`, or of their means over rows.
fn formula(measure: Measure, sums: &Sums, pairs: f64) -> f64 {
    let [delta, delta_squared, d, d_squared, product, raw, sammon, ..] = *sums;
    let over = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
    let spread = |sum: f64, squares: f64| {
        let spread = squares - sum * sum / pairs;
        if spread > NO_SPREAD * squares { spread } else { 0.0 }
    };
    let correlation = || {
        let (given, placed) = (spread(delta, delta_squared), spread(d, d_squared));
        let covariance = product - delta * d / pairs;
        // Root by root, as their product may leave the range of numbers.
        let bound = given.sqrt() * placed.sqrt();
        if bound > 0.0 { (covariance / bound).clamp(-1.0, 1.0) } else { 0.0 }
    };
    match measure {
        Measure::Pearson => correlation(),
        Measure::ResidualVariance => {
            let r = correlation();
            (1.0 - r) * (1.0 + r)
        }
        Measure::NormalizedStress => over(raw, delta_squared).sqrt(),
        Measure::Stress1 => over(raw, d_squared).sqrt(),
        Measure::Stress2 => over(raw, spread(d, d_squared)).sqrt(),
        Measure::SammonStress => over(sammon, delta),
        Measure::StressPerDistance => over(raw, d),
        Measure::ScaledStress => sine_squared(product, delta_squared, d_squared).sqrt(),
        _ => raw,
    }
}

/// 1 − (Σ δ d)² / (Σ δ² Σ d²): 0 for proportional distances; 0 too where all are zero in X, and
/// 1 where they are zero in Y alone.
pub(super) fn sine_squared(product: f64, given: f64, placed: f64) -> f64 {
    if given == 0.0 {
        return 0.0;
    }
    if placed == 0.0 {
        return 1.0;
    }
    let cosine = product / given.sqrt() / placed.sqrt();
    ((1.0 - cosine) * (1.0 + cosine)).max(0.0)
}

/// The map at the scale of the distances, with mean zero.
fn centred(both: &Comparison<'_>, factor: f64) -> ndarray::Array2<f64> {
    let scale = both.y.scale();
    let mut map = both.map.mapv(|value| factor * scale.into(value));
    for mut column in map.columns_mut() {
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        column.iter_mut().for_each(|value| *value -= mean);
    }
    map
}
