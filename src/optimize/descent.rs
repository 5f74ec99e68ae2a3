//! The survey's two plain descents: the gradient step (19) and the diagonal quasi-Newton
//! step (18), each with a safeguard.
//!
//! * (19): y ← y − η·∂c/∂y, in units of the objective's own diagonal, so that η = 1 is a
//!   step of majorisation where there are no weights. η grows while it succeeds.
//! * (18): y ← y − η·|∂²c/∂y²|⁻¹·∂c/∂y, the magic factor η as given (Sammon 1969).
//!
//! The safeguard: a step that does not decrease the value is halved until it does. Without
//! it (18) stalls or oscillates. Cost: one evaluation an iteration, more where it is halved.

use super::pairs::{self, Rows};
use super::term::PairTerm;
use super::{Objective, Stop, Trace};
use crate::context::Ctx;
use crate::error::Result;

/// How much longer the next gradient step is tried after one that succeeded.
const GROWTH: f64 = 1.3;
/// Halvings before the place counts as a minimum.
const HALVINGS: usize = 40;

/// Gradient descent (19) from `x`, which becomes the last place.
///
/// # Errors
/// Cancellation.
pub fn gradient_descent(
    objective: &mut dyn Objective,
    x: &mut [f64],
    stop: Stop,
    ctx: &Ctx,
) -> Result<Trace> {
    let mut gradient = vec![0.0; x.len()];
    let mut value = objective.evaluate(x, &mut gradient, ctx)?;
    let (mut way, mut next, mut next_gradient) = (gradient.clone(), x.to_vec(), gradient.clone());
    let mut trace = Trace::default();
    let mut rate = 1.0;
    while trace.iterations() < stop.max_iter {
        objective.precondition(&gradient, &mut way);
        let mut found = None;
        for _ in 0..HALVINGS {
            step(x, &way, rate, &mut next);
            let there = objective.evaluate(&next, &mut next_gradient, ctx)?;
            if there < value {
                found = Some(there);
                break;
            }
            rate *= 0.5;
        }
        let Some(there) = found else {
            trace.converged = true;
            break;
        };
        x.copy_from_slice(&next);
        std::mem::swap(&mut gradient, &mut next_gradient);
        rate *= GROWTH;
        if settled(&mut trace, &mut value, there, objective.scale(), stop.eps, ctx) {
            break;
        }
    }
    Ok(trace.or_start(value / objective.scale()))
}

/// Diagonal quasi-Newton descent (18) of a sum over pairs from `x`, which becomes the last
/// place. Values are relative to `scale`.
///
/// # Errors
/// Cancellation.
pub fn diagonal_newton<T: PairTerm>(
    rows: &Rows<'_>,
    term: T,
    x: &mut [f64],
    magic: f64,
    scale: f64,
    stop: Stop,
    ctx: &Ctx,
) -> Result<Trace> {
    let mut gradient = vec![0.0; x.len()];
    let mut diagonal = gradient.clone();
    let mut value = pairs::pass(rows, term, x, &mut gradient, Some(&mut diagonal), ctx)?;
    let (mut next, mut next_gradient, mut next_diagonal) = (x.to_vec(), gradient.clone(), gradient.clone());
    let mut trace = Trace::default();
    while trace.iterations() < stop.max_iter {
        // A second derivative of nearly zero says nothing about how far to go.
        let least = 1e-3 * diagonal.iter().map(|bend| bend.abs()).sum::<f64>() / diagonal.len() as f64;
        let way: Vec<f64> = gradient.iter().zip(&diagonal).map(|(g, h)| g / h.abs().max(least)).collect();
        let mut rate = magic;
        let mut found = None;
        for _ in 0..HALVINGS {
            step(x, &way, rate, &mut next);
            let there = pairs::pass(rows, term, &next, &mut next_gradient, Some(&mut next_diagonal), ctx)?;
            if there < value {
                found = Some(there);
                break;
            }
            rate *= 0.5;
        }
        let Some(there) = found else {
            trace.converged = true;
            break;
        };
        x.copy_from_slice(&next);
        std::mem::swap(&mut gradient, &mut next_gradient);
        std::mem::swap(&mut diagonal, &mut next_diagonal);
        if settled(&mut trace, &mut value, there, scale, stop.eps, ctx) {
            break;
        }
    }
    Ok(trace.or_start(value / scale))
}

fn step(x: &[f64], way: &[f64], rate: f64, next: &mut [f64]) {
    for ((new, old), way) in next.iter_mut().zip(x).zip(way) {
        *new = if way.is_finite() { old - rate * way } else { *old };
    }
}

/// Note an iteration; whether it brought too little to go on.
pub(super) fn settled(
    trace: &mut Trace,
    value: &mut f64,
    there: f64,
    scale: f64,
    eps: f64,
    ctx: &Ctx,
) -> bool {
    let gain = *value - there;
    *value = there;
    trace.history.push(there / scale);
    ctx.advance(1);
    trace.converged = gain <= eps * scale;
    trace.converged
}
