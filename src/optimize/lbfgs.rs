//! L-BFGS: a quasi-Newton step from the last few gradients (Nocedal 1980), with a line
//! search that backtracks.
//!
//! The memory starts from the objective's own diagonal instead of the identity, so that
//! weighted stress needs no pseudo-inverse, and the first step of unweighted stress is one
//! of majorisation. Cost: one evaluation an iteration, rarely more, and 4·m·n·p for the step.

use std::collections::VecDeque;

use super::{Objective, Stop, Trace};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::dot;

/// Pairs of steps and differences of gradients that are remembered.
const MEMORY: usize = 10;
/// Share of the decrease that the slope promises which a step must bring.
const SUFFICIENT: f64 = 1e-4;
/// Shortenings of a step before the place counts as a minimum.
const SHORTENINGS: usize = 30;
/// Iterations in a row that must bring little: one short step says nothing.
const PATIENCE: usize = 3;

/// A step and the change of the gradient along it.
struct Curvature {
    step: Vec<f64>,
    change: Vec<f64>,
    /// 1 / (step · change).
    inverse: f64,
}

/// Minimise from `x`, which becomes the minimiser.
///
/// # Errors
/// Cancellation.
pub fn minimize(objective: &mut dyn Objective, x: &mut [f64], stop: Stop, ctx: &Ctx) -> Result<Trace> {
    let mut trace = Trace::default();
    let mut gradient = vec![0.0; x.len()];
    let mut value = objective.evaluate(x, &mut gradient, ctx)?;
    let (mut next, mut next_gradient) = (x.to_vec(), gradient.clone());
    let mut memory: VecDeque<Curvature> = VecDeque::with_capacity(MEMORY);
    let mut idle = 0;
    while trace.iterations() < stop.max_iter {
        let direction = direction(&*objective, &gradient, &memory);
        let slope = dot(&gradient, &direction);
        if slope >= 0.0 || !slope.is_finite() {
            if memory.is_empty() {
                trace.converged = true; // no way down: the gradient is zero
                break;
            }
            memory.clear();
            continue;
        }
        let mut length = 1.0;
        let mut found = None;
        for _ in 0..SHORTENINGS {
            for ((new, old), way) in next.iter_mut().zip(&*x).zip(&direction) {
                *new = old + length * way;
            }
            let there = objective.evaluate(&next, &mut next_gradient, ctx)?;
            if there <= value + SUFFICIENT * length * slope {
                found = Some(there);
                break;
            }
            length *= shortened(value, there, slope, length);
        }
        let Some(there) = found else {
            if memory.is_empty() {
                trace.converged = true; // no step helps at working precision
                break;
            }
            memory.clear();
            continue;
        };
        remember(&mut memory, x, &next, &gradient, &next_gradient);
        let gain = value - there;
        x.copy_from_slice(&next);
        std::mem::swap(&mut gradient, &mut next_gradient);
        value = there;
        trace.history.push(value / objective.scale());
        ctx.advance(1);
        idle = if gain <= stop.eps * objective.scale() { idle + 1 } else { 0 };
        if idle == PATIENCE {
            trace.converged = true;
            break;
        }
    }
    Ok(trace.or_start(value / objective.scale()))
}

/// How much shorter the next try is: to the minimum of the parabola through what is known.
fn shortened(value: f64, there: f64, slope: f64, length: f64) -> f64 {
    let bend = there - value - slope * length;
    let best = -0.5 * slope * length / bend;
    if best.is_finite() { best.clamp(0.1, 0.5) } else { 0.1 }
}

/// Minus the inverse Hessian that the memory knows, times the gradient (two loops).
fn direction(objective: &dyn Objective, gradient: &[f64], memory: &VecDeque<Curvature>) -> Vec<f64> {
    let mut rest: Vec<f64> = gradient.iter().map(|value| -value).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for Curvature { step, change, inverse } in memory.iter().rev() {
        let share = inverse * dot(step, &rest);
        rest.iter_mut().zip(change).for_each(|(value, change)| *value -= share * change);
        shares.push(share);
    }
    let mut way = vec![0.0; rest.len()];
    objective.precondition(&rest, &mut way);
    if let Some(Curvature { change, inverse, .. }) = memory.back() {
        let mut softened = vec![0.0; rest.len()];
        objective.precondition(change, &mut softened);
        let size = 1.0 / (inverse * dot(change, &softened));
        way.iter_mut().for_each(|value| *value *= size);
    }
    for (Curvature { step, change, inverse }, share) in memory.iter().zip(shares.iter().rev()) {
        let correction = share - inverse * dot(change, &way);
        way.iter_mut().zip(step).for_each(|(value, step)| *value += correction * step);
    }
    way
}

fn remember(memory: &mut VecDeque<Curvature>, x: &[f64], next: &[f64], old: &[f64], new: &[f64]) {
    let difference = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let (step, change) = (difference(next, x), difference(new, old));
    let curvature = dot(&step, &change);
    // Curvature that is not positive would make the next direction point uphill.
    if curvature > f64::EPSILON * (dot(&step, &step) * dot(&change, &change)).sqrt() {
        if memory.len() == MEMORY {
            memory.pop_front();
        }
        memory.push_back(Curvature { step, change, inverse: 1.0 / curvature });
    }
}
