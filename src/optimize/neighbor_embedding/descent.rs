//! Gradient descent with momentum and gains, first with exaggerated attraction.
//!
//! van der Maaten & Hinton 2008; Jacobs 1988 for the gains; Belkina et al. 2019 for the
//! learning rate n/exaggeration, which keeps steps of the attraction stable (its largest
//! eigenvalue is near 2/n). Momentum is 0.8 from the start on.
//!
//! * A step longer than [`LONGEST`] is shortened: no point runs away.
//! * While exaggeration makes the map shrink, it is lowered: on data without structure no
//!   direction withstands it, and all points would end in one place.
//!
//! Cost: one gradient an iteration; the divergence is computed in one of [`EVERY`].

use super::forces::{Forces, Room};
use crate::context::Ctx;
use crate::error::Result;

/// Iterations with exaggeration.
const EARLY: usize = 250;
/// Iterations between two looks at divergence and gradient.
const EVERY: usize = 50;
/// Iterations between two looks at the size of the map.
const LOOK: usize = 10;
const MOMENTUM: f64 = 0.8;
/// How gains follow the signs of gradient and step.
const GAIN_MORE: f64 = 0.2;
const GAIN_LESS: f64 = 0.8;
const LEAST_GAIN: f64 = 0.01;
/// The longest step of a point.
const LONGEST: f64 = 5.0;
/// The gradient of scikit-learn has the factor 4, and learning rates go with it.
const RATE_SHARE: f64 = 0.25;

/// How long, and how fast.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Most iterations.
    pub max_iter: usize,
    /// Factor of the attraction in the first iterations.
    pub early_exaggeration: f64,
    /// The same in all others.
    pub exaggeration: f64,
    /// Learning rate; `None` for n / 4 exaggeration.
    pub learning_rate: Option<f64>,
    /// Norm of the gradient at which it ends.
    pub min_grad_norm: f64,
    /// Iterations without a lower divergence after which it ends.
    pub patience: i64,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Descent {
    /// Places, row by row.
    pub y: Vec<f64>,
    /// Number of the last iteration, from 0.
    pub last: usize,
    /// The learning rate of the last iteration.
    pub learning_rate: f64,
    /// Iteration, divergence, norm of the gradient.
    pub history: Vec<[f64; 3]>,
}

/// Minimise the divergence from `y`.
///
/// # Errors
/// Cancellation.
pub fn minimize(forces: &Forces<'_>, y: Vec<f64>, schedule: &Schedule, ctx: &Ctx) -> Result<Descent> {
    let rate =
        |exaggeration: f64| schedule.learning_rate.unwrap_or(RATE_SHARE * forces.joint.rows() / exaggeration);
    ctx.stage("gradient descent", schedule.max_iter);
    let mut mover = Mover::new(y, forces.width);
    let (mut room, mut gradient) = (Room::default(), vec![0.0; mover.y.len()]);
    let mut found = Descent::default();
    let mut exaggeration = schedule.early_exaggeration;
    let mut size = mover.size();
    let mut best = (f64::INFINITY, 0);
    for iteration in 0..schedule.max_iter {
        if iteration == EARLY {
            exaggeration = schedule.exaggeration;
            best = (f64::INFINITY, iteration);
        } else if iteration < EARLY && iteration % LOOK == LOOK - 1 {
            let now = mover.size();
            if now < size && now < 1.0 && exaggeration > 1.0 {
                exaggeration = (0.7 * exaggeration).max(1.0);
            }
            size = now;
        }
        found.learning_rate = rate(exaggeration);
        found.last = iteration;
        let normalizer = forces.gradient(&mover.y, exaggeration, &mut gradient, &mut room, ctx)?;
        let ends = iteration + 1 == schedule.max_iter;
        if (iteration + 1) % EVERY == 0 || ends {
            let norm = gradient.iter().map(|value| value * value).sum::<f64>().sqrt();
            let divergence = forces.divergence_with(&mover.y, normalizer, ctx)?;
            found.history.push([iteration as f64, divergence, norm]);
            if divergence < best.0 {
                best = (divergence, iteration);
            }
            let idle = (iteration - best.1) as i64 > schedule.patience;
            if iteration >= EARLY && (norm <= schedule.min_grad_norm || idle) {
                break;
            }
        }
        mover.step(&gradient, found.learning_rate);
        ctx.advance(1);
    }
    found.y = mover.y;
    Ok(found)
}

/// Points with their velocities and gains.
struct Mover {
    y: Vec<f64>,
    width: usize,
    steps: Vec<f64>,
    gains: Vec<f64>,
}

impl Mover {
    fn new(y: Vec<f64>, width: usize) -> Mover {
        Mover { steps: vec![0.0; y.len()], gains: vec![1.0; y.len()], y, width }
    }

    /// Root of the mean squared coordinate.
    fn size(&self) -> f64 {
        (self.y.iter().map(|value| value * value).sum::<f64>() / self.y.len().max(1) as f64).sqrt()
    }

    fn step(&mut self, gradient: &[f64], rate: f64) {
        for ((step, gain), gradient) in self.steps.iter_mut().zip(&mut self.gains).zip(gradient) {
            let onward = *step * gradient < 0.0;
            *gain = if onward { *gain + GAIN_MORE } else { (*gain * GAIN_LESS).max(LEAST_GAIN) };
            *step = MOMENTUM * *step - rate * *gain * gradient;
        }
        let rows = self.steps.chunks_exact_mut(self.width).zip(self.y.chunks_exact_mut(self.width));
        for (step, place) in rows {
            let length = step.iter().map(|value| value * value).sum::<f64>().sqrt();
            if length > LONGEST {
                step.iter_mut().for_each(|value| *value *= LONGEST / length);
            }
            place.iter_mut().zip(step).for_each(|(place, step)| *place += *step);
        }
        self.center();
    }

    /// The mean of all points goes to zero: precision is best there.
    fn center(&mut self) {
        let count = (self.y.len() / self.width) as f64;
        for k in 0..self.width {
            let mean = self.y[k..].iter().step_by(self.width).sum::<f64>() / count;
            self.y[k..].iter_mut().step_by(self.width).for_each(|value| *value -= mean);
        }
    }
}
