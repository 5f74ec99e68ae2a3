//! The two objectives over all pairs: a loss of the dissimilarities themselves
//! ([`PairObjective`]), and Kruskal's stress of transformed ones ([`KruskalStress`]).
//!
//! Kruskal's Stress-1 squared is S(X) = min over f of Σ w (f(δ) − d)² / Σ w d². The best f
//! is a projection, so that its change does not count in the gradient (the envelope
//! theorem): ∇S = (∇T − S·∇Q) / Q for numerator T and denominator Q. It does not depend on
//! the scale of X. [`majorize`] is SMACOF for it: the disparities are multiplied by Q / Σ w f²,
//! which makes X their best scale, and then no step increases S.
//! Cost: two passes over the pairs and one fit of disparities.

use super::descent::settled;
use super::disparities::Disparities;
use super::majorization::{degrees, guttman_transform};
use super::pairs::{self, Rows};
use super::term::{Kruskal, PairTerm, Stress};
use super::{Objective, Stop, Trace, center};
use crate::context::Ctx;
use crate::error::Result;

/// A loss over all pairs.
pub struct PairObjective<'a, T> {
    rows: Rows<'a>,
    term: T,
    scale: f64,
    stiffness: Vec<f64>,
}

impl<'a, T: PairTerm> PairObjective<'a, T> {
    /// The loss; values are compared with `scale`.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(rows: Rows<'a>, term: T, scale: f64, ctx: &Ctx) -> Result<Self> {
        if T::PLAIN {
            return Ok(PairObjective { rows, term, scale, stiffness: degrees(&rows, ctx)? });
        }
        let parts = rows.blocks(ctx, |range, room| {
            let own = |i: usize, room: &mut _| {
                let (delta, weights) = rows.row(i, room);
                let weight = |j: usize| weights.map_or(1.0, |weights| weights[j]);
                let others = (0..delta.len()).filter(|&j| j != i);
                others.map(|j| term.stiffness(delta[j], weight(j))).sum::<f64>()
            };
            range.map(|i| own(i, room)).collect::<Vec<f64>>()
        })?;
        Ok(PairObjective { rows, term, scale, stiffness: parts.concat() })
    }
}

impl<T: PairTerm> Objective for PairObjective<'_, T> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64], ctx: &Ctx) -> Result<f64> {
        let value = pairs::value_and_half_gradient(&self.rows, self.term, x, gradient, ctx)?;
        gradient.iter_mut().for_each(|entry| *entry *= 2.0);
        Ok(value)
    }

    fn precondition(&self, gradient: &[f64], step: &mut [f64]) {
        divide(gradient, &self.stiffness, 2.0, step);
    }

    fn scale(&self) -> f64 {
        self.scale
    }
}

fn divide(gradient: &[f64], stiffness: &[f64], factor: f64, step: &mut [f64]) {
    let n = stiffness.len();
    for (at, (step, gradient)) in step.iter_mut().zip(gradient).enumerate() {
        let bend = factor * stiffness[at % n];
        *step = if bend > 0.0 { gradient / bend } else { 0.0 };
    }
}

/// Kruskal's Stress-1, squared.
pub struct KruskalStress {
    /// The transformation.
    pub disparities: Disparities,
    /// Distances in the map, by rank, at the last place.
    pub distances: Vec<f64>,
    /// Their disparities.
    pub fitted: Vec<f64>,
    degrees: Vec<f64>,
    /// Σ w d² at the last place.
    size: f64,
}

impl KruskalStress {
    /// The objective of these disparities.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(disparities: Disparities, ctx: &Ctx) -> Result<KruskalStress> {
        let count = disparities.ranking.len();
        let degrees = degrees(&disparities.ranking.rows(&[]), ctx)?;
        let room = vec![0.0; count];
        Ok(KruskalStress { disparities, distances: room.clone(), fitted: room, degrees, size: 1.0 })
    }

    /// Σ w a·b over ranks, in fixed chunks.
    fn sum(&self, of: impl Fn(usize) -> f64) -> f64 {
        const CHUNK: usize = 1 << 12;
        let weights = self.disparities.ranking.weights.as_deref();
        let count = self.distances.len();
        let part = |first: usize| {
            let range = first..(first + CHUNK).min(count);
            range.map(|rank| weights.map_or(1.0, |weights| weights[rank]) * of(rank)).sum::<f64>()
        };
        (0..count).step_by(CHUNK).map(part).sum()
    }

    /// Numerator and denominator of the stress at `x`.
    ///
    /// # Errors
    /// Cancellation.
    pub fn fit(&mut self, x: &[f64], ctx: &Ctx) -> Result<(f64, f64)> {
        self.disparities.ranking.distances(x, &mut self.distances, ctx)?;
        self.disparities.fit(&self.distances, &mut self.fitted);
        let gap = |rank: usize| self.distances[rank] - self.fitted[rank];
        let numerator = self.sum(|rank| gap(rank) * gap(rank));
        self.size = self.sum(|rank| self.distances[rank] * self.distances[rank]);
        Ok((numerator, self.size))
    }

    /// Multiply map and disparities so that Σ w f² = Σ w, as scikit-learn does.
    ///
    /// # Errors
    /// Cancellation.
    pub fn normalize(&mut self, x: &mut [f64], ctx: &Ctx) -> Result<f64> {
        let (_, size) = self.fit(x, ctx)?;
        let fitted = self.sum(|rank| self.fitted[rank] * self.fitted[rank]);
        let pairs = self.sum(|_| 1.0);
        let factor = if fitted > 0.0 && size > 0.0 { (pairs / fitted).sqrt() } else { 1.0 };
        x.iter_mut().for_each(|value| *value *= factor);
        self.distances.iter_mut().for_each(|value| *value *= factor);
        self.fitted.iter_mut().for_each(|value| *value *= factor);
        Ok(factor)
    }
}

impl Objective for KruskalStress {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64], ctx: &Ctx) -> Result<f64> {
        let (numerator, size) = self.fit(x, ctx)?;
        let ratio = numerator / size;
        let rows = self.disparities.ranking.rows(&self.fitted);
        pairs::value_and_half_gradient(&rows, Kruskal { ratio }, x, gradient, ctx)?;
        gradient.iter_mut().for_each(|entry| *entry *= 2.0 / size);
        Ok(ratio)
    }

    fn precondition(&self, gradient: &[f64], step: &mut [f64]) {
        divide(gradient, &self.degrees, 2.0 / self.size, step);
    }

    fn scale(&self) -> f64 {
        1.0
    }
}

/// SMACOF with disparities from `x`, which becomes the last place; with `images` they are
/// Guttman's rank images, and it stops when those no longer help.
///
/// # Errors
/// Cancellation.
pub fn majorize(
    stress: &mut KruskalStress,
    x: &mut [f64],
    images: bool,
    stop: Stop,
    ctx: &Ctx,
) -> Result<Trace> {
    let n = stress.disparities.ranking.n;
    let mut trace = Trace::default();
    let mut gradient = vec![0.0; x.len()];
    center(x, n);
    let (numerator, size) = stress.fit(x, ctx)?;
    let mut value = numerator / size;
    while trace.iterations() < stop.max_iter {
        if images {
            let mut found = std::mem::take(&mut stress.fitted);
            stress.disparities.rank_images(&stress.distances, &mut found);
            stress.fitted = found;
        }
        let squares = stress.sum(|rank| stress.fitted[rank] * stress.fitted[rank]);
        if squares <= 0.0 {
            trace.converged = true;
            break;
        }
        let factor = stress.size / squares;
        stress.fitted.iter_mut().for_each(|value| *value *= factor);
        let rows = stress.disparities.ranking.rows(&stress.fitted);
        pairs::value_and_half_gradient(&rows, Stress, x, &mut gradient, ctx)?;
        let next = guttman_transform(&rows, x, &gradient, ctx)?;
        let (numerator, size) = stress.fit(&next, ctx)?;
        let there = numerator / size;
        if there > value || !there.is_finite() {
            stress.fit(x, ctx)?;
            trace.converged = true;
            break;
        }
        x.copy_from_slice(&next);
        if settled(&mut trace, &mut value, there, 1.0, stop.eps, ctx) {
            break;
        }
    }
    Ok(trace.or_start(value))
}
