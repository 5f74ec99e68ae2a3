//! Conditional probabilities of neighbours at a given perplexity.
//!
//! Hinton & Roweis 2002; van der Maaten & Hinton 2008, (1). Row i gives its neighbour j
//!
//! ```text
//! p(j|i) = exp(−β_i d_ij²) / Σ_l exp(−β_i d_il²)
//! ```
//!
//! with the β_i for which the perplexity exp(−Σ_j p ln p) is the one asked for. Place in the
//! dataflow: neighbour lists of `neighbors` in, one probability for each of their entries
//! out, to [`super::joint_probabilities`] and to the maps of new rows.
//!
//! The entropy falls as β grows, so that one root is found by Newton's steps in ln β inside
//! a bracket. There is none in two cases: a row has no more neighbours than the perplexity
//! (all are equally likely), or as many as the perplexity are at its smallest distance
//! (those are equally likely, the others impossible).
//! Cost: about ten exponentials per entry; rows are independent of each other.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::exp::{exp, exp_in_place, ln};
use crate::neighbors::Neighbors;
use crate::params::{IntoParam, Parameter, Value, choices};

/// Error of the entropy at which the search ends, in nats.
const TOLERANCE: f64 = 1e-10;
/// Steps of the search; bisection alone ends in fewer.
const STEPS: usize = 200;

choices! {
    /// What the affinity of a row to its neighbours follows.
    AffinityShape {
        /// A Gaussian whose width gives the perplexity asked for.
        Gaussian = "gaussian",
        /// Nothing: all its neighbours are alike.
        Uniform = "uniform",
        /// The data is affinities.
        Precomputed = "precomputed",
    }
}

/// Effective numbers of neighbours: one, or several whose probabilities are averaged (Lee,
/// Peluffo-Ordóñez & Verleysen 2015).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Perplexity(pub Vec<f64>);

impl Perplexity {
    /// The largest.
    pub fn largest(&self) -> f64 {
        self.0.iter().fold(0.0, |most, &value| most.max(value))
    }
}

impl Parameter for Perplexity {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Float(number) => Some(Perplexity(vec![*number])),
            Value::Int(number) => Some(Perplexity(vec![*number as f64])),
            Value::Floats(numbers) => Some(Perplexity(numbers.clone())),
            _ => None,
        }
    }
    fn to_value(&self) -> Value {
        match self.0[..] {
            [one] => Value::Float(one),
            _ => Value::Floats(self.0.clone()),
        }
    }
    fn expected() -> String {
        "a number, or several".into()
    }
}

impl IntoParam<Perplexity> for f64 {
    fn into_param(self) -> Perplexity {
        Perplexity(vec![self])
    }
}

/// The probabilities of all entries of neighbour lists, in their order.
///
/// # Errors
/// Cancellation.
pub fn conditional_probabilities(
    near: &Neighbors,
    shape: AffinityShape,
    perplexity: &Perplexity,
    ctx: &Ctx,
) -> Result<Vec<f32>> {
    const ROWS: usize = 256;
    ctx.stage("perplexities", near.rows());
    let mut found = vec![0.0; near.indices.len()];
    // Slices of whole rows, so that tasks share nothing.
    let mut tasks = Vec::with_capacity(near.rows().div_ceil(ROWS));
    let mut rest = &mut found[..];
    for first in (0..near.rows()).step_by(ROWS) {
        let last = (first + ROWS).min(near.rows());
        let (own, others) = rest.split_at_mut(near.offsets[last] - near.offsets[first]);
        tasks.push((first..last, own));
        rest = others;
    }
    tasks.into_par_iter().try_for_each(|(rows, slots)| {
        ctx.check()?;
        ctx.advance(rows.len());
        let start = near.offsets[rows.start];
        for row in rows {
            let distances = near.row(row).1;
            let slots = &mut slots[near.offsets[row] - start..near.offsets[row + 1] - start];
            for (slot, value) in slots.iter_mut().zip(probabilities(distances, shape, perplexity)) {
                *slot = value as f32;
            }
        }
        Ok::<(), Error>(())
    })?;
    Ok(found)
}

/// The probabilities of one row by its distances, or by its affinities where those are given.
pub fn probabilities(values: &[f64], shape: AffinityShape, perplexity: &Perplexity) -> Vec<f64> {
    let count = values.len();
    match shape {
        AffinityShape::Uniform => vec![1.0 / count.max(1) as f64; count],
        AffinityShape::Precomputed => {
            let total: f64 = values.iter().sum();
            values.iter().map(|value| if total > 0.0 { value / total } else { 0.0 }).collect()
        }
        AffinityShape::Gaussian => {
            let (mut mean, mut one) = (vec![0.0; count], vec![0.0; count]);
            let share = 1.0 / perplexity.0.len().max(1) as f64;
            for &perplexity in &perplexity.0 {
                row_probabilities(values, perplexity, &mut one);
                mean.iter_mut().zip(&one).for_each(|(sum, value)| *sum += share * value);
            }
            mean
        }
    }
}

/// The probabilities of one row by its distances.
fn row_probabilities(distances: &[f64], perplexity: f64, probabilities: &mut [f64]) {
    let count = distances.len();
    if count as f64 <= perplexity {
        probabilities.fill(1.0 / count.max(1) as f64);
        return;
    }
    // A common shift changes no probability, and keeps the largest at one.
    let least = distances.iter().fold(f64::INFINITY, |least, &near| least.min(near));
    let squares: Vec<f64> = distances.iter().map(|&near| (near - least) * (near + least)).collect();
    let ties = squares.iter().filter(|&&square| square == 0.0).count();
    if ties as f64 >= perplexity {
        for (slot, &square) in probabilities.iter_mut().zip(&squares) {
            *slot = if square == 0.0 { 1.0 / ties as f64 } else { 0.0 };
        }
        return;
    }
    let target = ln(perplexity);
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut beta = 1.0 / (squares.iter().sum::<f64>() / count as f64);
    for _ in 0..STEPS {
        let (entropy, slope) = entropy_at(&squares, beta, probabilities);
        let excess = entropy - target;
        if excess.abs() <= TOLERANCE {
            break;
        }
        if excess > 0.0 {
            low = beta
        } else {
            high = beta
        }
        // Newton's step in ln β, at most e² at once; the middle where it leaves the bracket.
        let step = if slope > 0.0 { (excess / slope).clamp(-2.0, 2.0) } else { 2.0 * excess.signum() };
        let next = beta * exp(step);
        beta = if next > low && next < high { next } else { 0.5 * (low + high.min(4.0 * low.max(beta))) };
    }
}

/// The entropy at β, minus its derivative by ln β, and the probabilities.
fn entropy_at(squares: &[f64], beta: f64, probabilities: &mut [f64]) -> (f64, f64) {
    for (slot, square) in probabilities.iter_mut().zip(squares) {
        *slot = -beta * square;
    }
    exp_in_place(probabilities);
    let total: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|value| *value /= total);
    let (mut mean, mut square_mean) = (0.0, 0.0);
    for (probability, square) in probabilities.iter().zip(squares) {
        let exponent = beta * square;
        // Where the exponent is infinite the probability is zero.
        if *probability > 0.0 {
            mean += probability * exponent;
            square_mean += probability * exponent * exponent;
        }
    }
    (ln(total) + mean, square_mean - mean * mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perplexity_of(probabilities: &[f64]) -> f64 {
        let entropy: f64 = probabilities.iter().filter(|&&p| p > 0.0).map(|&p| -p * ln(p)).sum();
        exp(entropy)
    }

    #[test]
    fn every_row_has_the_perplexity_asked_for() {
        for scale in [1e-100, 1.0, 1e100] {
            for perplexity in [1.5, 5.0, 29.9] {
                let row = |seed: usize| -> Vec<f64> {
                    (1..=90)
                        .map(|j| {
                            scale * (1.0 + ((j * (seed + 3)) as f64 * 0.618_033_988_749_895).fract() * 9.0)
                        })
                        .collect()
                };
                for seed in 0..20 {
                    let mut found = vec![0.0; 90];
                    row_probabilities(&row(seed), perplexity, &mut found);
                    assert!((perplexity_of(&found) - perplexity).abs() < 1e-6, "{perplexity} at {scale}");
                    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn distances_over_many_magnitudes_have_a_perplexity() {
        let distances: Vec<f64> = (0..40).map(|j| 10f64.powi(2 * j - 60)).collect();
        let mut found = vec![0.0; 40];
        for perplexity in [1.0001, 2.0, 12.0, 38.0] {
            row_probabilities(&distances, perplexity, &mut found);
            assert!((perplexity_of(&found) - perplexity).abs() < 1e-4, "{perplexity}");
        }
    }

    #[test]
    fn equal_distances_are_equally_likely() {
        let mut found = vec![0.0; 6];
        row_probabilities(&[2.0; 6], 3.0, &mut found);
        assert_eq!(found, [1.0 / 6.0; 6]);
        row_probabilities(&[0.0; 6], 3.0, &mut found);
        assert_eq!(found, [1.0 / 6.0; 6]);
        row_probabilities(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 8.0, &mut found);
        assert_eq!(found, [1.0 / 6.0; 6]);
        // Four at the smallest distance are more than a perplexity of three.
        row_probabilities(&[1.0, 1.0, 1.0, 1.0, 5.0, 6.0], 3.0, &mut found);
        assert_eq!(found, [0.25, 0.25, 0.25, 0.25, 0.0, 0.0]);
    }
}
