//! SMACOF: each step goes to the minimum of a quadratic that lies above the stress and
//! touches it (de Leeuw 1977, the Guttman transform).
//!
//! Without weights that minimum is X⁺ = B(X)X / n, which in terms of half the gradient g is
//! the centred X − g/n. With weights it solves V X⁺ = B(X)X: a few conjugate gradients from
//! X, each of which lowers the quadratic, so that the stress decreases even when they stop
//! early; no pseudo-inverse is made.
//!
//! A relaxed step goes twice as far, 2X⁺ − X, which halves the iterations. The transform
//! does not depend on the scale of X, so that relaxed steps alone would make the scale
//! oscillate for ever: the scale is set to its best after each, and a step that does not
//! decrease the stress is taken back to X⁺. Cost: one pass over the pairs an iteration.

use super::descent::settled;
use super::pairs::{self, Rows, columns};
use super::term::Stress;
use super::{Stop, Trace, center};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::dot;

/// Conjugate gradients of one weighted step, and the residual at which they stop.
const INNER_STEPS: usize = 25;
const INNER_TOLERANCE: f64 = 1e-3;

/// Minimise Σ w (d − δ)² from `x`, which becomes the last place. Values are relative to
/// `scale`; `relaxed` goes twice as far at each step.
///
/// # Errors
/// Cancellation.
pub fn smacof(
    rows: &Rows<'_>,
    x: &mut [f64],
    scale: f64,
    relaxed: bool,
    stop: Stop,
    ctx: &Ctx,
) -> Result<Trace> {
    let n = rows.len();
    let mut gradient = vec![0.0; x.len()];
    let mut trace = Trace::default();
    center(x, n);
    let mut value = pairs::value_and_half_gradient(rows, Stress, x, &mut gradient, ctx)?;
    let mut next_gradient = gradient.clone();
    while trace.iterations() < stop.max_iter {
        let guttman = guttman_transform(rows, x, &gradient, ctx)?;
        let mut next = guttman.clone();
        if relaxed {
            next.iter_mut().zip(&*x).for_each(|(new, old)| *new = 2.0 * *new - old);
            rescale(rows, &mut next, ctx)?;
        }
        let mut there = pairs::value_and_half_gradient(rows, Stress, &next, &mut next_gradient, ctx)?;
        if relaxed && there > value {
            next = guttman;
            there = pairs::value_and_half_gradient(rows, Stress, &next, &mut next_gradient, ctx)?;
        }
        if there > value {
            trace.converged = true; // rounding is all that is left
            break;
        }
        x.copy_from_slice(&next);
        std::mem::swap(&mut gradient, &mut next_gradient);
        if settled(&mut trace, &mut value, there, scale, stop.eps, ctx) {
            break;
        }
    }
    Ok(trace.or_start(value / scale))
}

/// X⁺, from half the gradient at X.
pub fn guttman_transform(rows: &Rows<'_>, x: &[f64], half_gradient: &[f64], ctx: &Ctx) -> Result<Vec<f64>> {
    let n = rows.len();
    let mut next = x.to_vec();
    if rows.has_weights() {
        let corrections = solve_laplacian(rows, half_gradient, ctx)?;
        next.iter_mut().zip(&corrections).for_each(|(value, step)| *value -= step);
    } else {
        next.iter_mut().zip(half_gradient).for_each(|(value, g)| *value -= g / n as f64);
    }
    center(&mut next, n);
    Ok(next)
}

/// z with V z = g for the weights' Laplacian V, column by column together, by conjugate
/// gradients from zero.
fn solve_laplacian(rows: &Rows<'_>, g: &[f64], ctx: &Ctx) -> Result<Vec<f64>> {
    let n = rows.len();
    let degrees = degrees(rows, ctx)?;
    let divided = |residual: &[f64]| -> Vec<f64> {
        residual.iter().enumerate().map(|(at, value)| value / degrees[at % n]).collect()
    };
    let mut z = vec![0.0; g.len()];
    let mut residual = g.to_vec();
    let mut conditioned = divided(&residual);
    let mut way = conditioned.clone();
    let mut energy = dot(&residual, &conditioned);
    let target = energy * INNER_TOLERANCE * INNER_TOLERANCE;
    for _ in 0..INNER_STEPS {
        if energy <= target || energy <= 0.0 {
            break;
        }
        let applied = laplacian_times(rows, &degrees, &way, ctx)?;
        let curvature = dot(&way, &applied);
        if curvature <= 0.0 {
            break;
        }
        let length = energy / curvature;
        for at in 0..z.len() {
            z[at] += length * way[at];
            residual[at] -= length * applied[at];
        }
        conditioned = divided(&residual);
        let next = dot(&residual, &conditioned);
        let keep = next / energy;
        way.iter_mut().zip(&conditioned).for_each(|(old, new)| *old = new + keep * *old);
        energy = next;
    }
    Ok(z)
}

/// Sum of each point's weights with the others.
pub fn degrees(rows: &Rows<'_>, ctx: &Ctx) -> Result<Vec<f64>> {
    let n = rows.len();
    if !rows.has_weights() {
        return Ok(vec![(n - 1) as f64; n]);
    }
    let parts = rows.blocks(ctx, |range, room| {
        let sum = |i: usize, room: &mut _| match rows.row(i, room).1 {
            None => (n - 1) as f64,
            Some(weights) => weights.iter().sum::<f64>() - weights[i],
        };
        range.map(|i| sum(i, room)).collect::<Vec<f64>>()
    })?;
    Ok(parts.concat())
}

fn laplacian_times(rows: &Rows<'_>, degrees: &[f64], x: &[f64], ctx: &Ctx) -> Result<Vec<f64>> {
    let n = rows.len();
    let columns = columns(x, n);
    let parts = rows.blocks(ctx, |range, room| {
        let mut found = Vec::with_capacity(range.len() * columns.len());
        for i in range {
            let Some(weights) = rows.row(i, room).1 else { continue };
            for column in &columns {
                let own = weights[i] * column[i];
                found.push(degrees[i] * column[i] - (dot(weights, column) - own));
            }
        }
        found
    })?;
    let flat = parts.concat();
    let width = columns.len();
    Ok((0..x.len()).map(|at| flat[at % n * width + at / n]).collect())
}

/// Multiply the map by the number that makes its stress least: Σ w δ d / Σ w d².
pub fn rescale(rows: &Rows<'_>, x: &mut [f64], ctx: &Ctx) -> Result<()> {
    let factor = best_scale(rows, x, ctx)?;
    x.iter_mut().for_each(|value| *value *= factor);
    Ok(())
}

/// The number that [`rescale`] multiplies by.
pub fn best_scale(rows: &Rows<'_>, x: &[f64], ctx: &Ctx) -> Result<f64> {
    let columns = columns(x, rows.len());
    let parts = rows.blocks(ctx, |range, room| {
        let (mut both, mut own) = (0.0, 0.0);
        for i in range {
            let (delta, weights) = rows.row(i, room);
            for (j, &near) in delta.iter().enumerate() {
                let squared = columns.iter().fold(0.0, |sum, column| {
                    let apart: f64 = column[i] - column[j];
                    sum + apart * apart
                });
                let weight = weights.map_or(1.0, |weights| weights[j]);
                both += weight * near * squared.sqrt();
                own += weight * squared;
            }
        }
        (both, own)
    })?;
    let (both, own) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    Ok(if own > 0.0 && both > 0.0 { both / own } else { 1.0 })
}
