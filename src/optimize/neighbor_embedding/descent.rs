//! Gradient descent with momentum and gains, first with exaggerated attraction.
//!
//! van der Maaten & Hinton 2008; Jacobs 1988 for the gains; Belkina et al. 2019 for the
//! learning rate n/exaggeration, which keeps steps of the attraction stable (its largest
//! eigenvalue is near 2/n), and for the rule that ends it: a divergence that falls by less than
//! a ten thousandth of itself in an iteration.
//!
//! * Exaggeration ends when its gradient has fallen to a small part of what it was, some 80 to
//!   110 iterations after the start: what follows is worth more than the rest of 250.
//! * Momentum then rises from 0.8 to 0.95. On 10 000 digits the divergence that 1000 iterations
//!   at 0.8 leave is reached in 500.
//! * A step longer than [`LONGEST`] is shortened: no point runs away.
//! * While exaggeration makes the map shrink, it is lowered: on data without structure no
//!   direction withstands it, and all points would end in one place.
//!
//! Cost: one gradient an iteration; the divergence is computed in one of [`EVERY`].

use rayon::prelude::*;

use super::forces::{Forces, Room};
use crate::context::Ctx;
use crate::error::Result;

/// Most iterations with exaggeration.
const EARLY: usize = 250;
/// Least iterations with exaggeration.
const LEAST_EARLY: usize = 50;
/// Part of its largest gradient at which exaggeration ends.
const SETTLED: f64 = 0.05;
/// Iterations between two looks at the divergence.
const EVERY: usize = 50;
/// Iterations between two looks at the size of the map and the gradient.
const LOOK: usize = 10;
/// Momentum of the first phase, of the last iterations, and how many it takes to get there.
const MOMENTUM: f64 = 0.8;
const LATE_MOMENTUM: f64 = 0.95;
const RISE: f64 = 100.0;
/// How gains follow the signs of gradient and step.
const GAIN_MORE: f64 = 0.2;
const GAIN_LESS: f64 = 0.8;
const LEAST_GAIN: f64 = 0.01;
/// The longest step of a point.
const LONGEST: f64 = 5.0;
/// The gradient of scikit-learn has the factor 4, and learning rates go with it.
const RATE_SHARE: f64 = 0.25;
/// Points of one task.
const ROWS: usize = 4096;

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
    /// Fall of the divergence in an iteration, relative to itself, at which it ends.
    pub tolerance: f64,
    /// Iterations between two calls of the observer.
    pub observe_every: usize,
}

/// Called now and then with the iteration, the divergence and the places; false ends the descent.
pub type Observer<'a> = &'a (dyn Fn(usize, f64, &[f64]) -> bool + Sync);

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
pub fn minimize(
    forces: &Forces<'_>,
    y: Vec<f64>,
    schedule: &Schedule,
    observer: Option<Observer<'_>>,
    ctx: &Ctx,
) -> Result<Descent> {
    ctx.stage("gradient descent", schedule.max_iter);
    let mut mover = Mover::new(y, forces.width);
    let mut room = Room::default();
    let mut found = Descent::default();
    let mut phase = Phase::new(schedule, mover.size());
    for iteration in 0..schedule.max_iter {
        let normalizer = forces.compute(&mover.y, &mut room, ctx)?;
        let rate = RATE_SHARE * forces.joint.rows() / phase.exaggeration;
        let pace = Pace {
            exaggeration: phase.exaggeration,
            normalizer,
            rate: schedule.learning_rate.unwrap_or(rate),
            momentum: phase.momentum(iteration),
        };
        (found.last, found.learning_rate) = (iteration, pace.rate);
        let due = |every: usize| every > 0 && (iteration + 1).is_multiple_of(every);
        let looks = due(EVERY) || iteration + 1 == schedule.max_iter;
        let observed = observer.filter(|_| due(schedule.observe_every));
        if looks || observed.is_some() {
            let divergence = forces.divergence_with(&mover.y, normalizer, ctx)?;
            let goes_on = match observed {
                Some(observe) => observe(iteration, divergence, &mover.y),
                None => true,
            };
            let mut settled = false;
            if looks || !goes_on {
                let norm = mover.norm(forces, &room, pace);
                settled = phase.has_settled(iteration, divergence, norm, schedule);
                found.history.push([iteration as f64, divergence, norm]);
            }
            if settled || !goes_on {
                break;
            }
        }
        if iteration % LOOK == LOOK - 1 && phase.late_since.is_none() {
            phase.look(iteration, mover.norm(forces, &room, pace), mover.size(), schedule);
        }
        mover.step(forces, &room, pace);
        ctx.advance(1);
    }
    found.y = mover.y;
    Ok(found)
}

/// What a step is made of.
#[derive(Clone, Copy)]
struct Pace {
    exaggeration: f64,
    normalizer: f64,
    rate: f64,
    momentum: f64,
}

/// How far the descent is.
struct Phase {
    exaggeration: f64,
    /// The first iteration without early exaggeration.
    late_since: Option<usize>,
    largest_norm: f64,
    size: f64,
    /// The least divergence without early exaggeration and its iteration; the one before.
    best: (f64, usize),
    before: f64,
}

impl Phase {
    fn new(schedule: &Schedule, size: f64) -> Phase {
        Phase {
            exaggeration: schedule.early_exaggeration,
            late_since: None,
            largest_norm: 0.0,
            size,
            best: (f64::INFINITY, 0),
            before: f64::INFINITY,
        }
    }

    fn momentum(&self, iteration: usize) -> f64 {
        let late = self.late_since.map_or(0.0, |since| (iteration - since) as f64);
        MOMENTUM + (LATE_MOMENTUM - MOMENTUM) * (late / RISE).min(1.0)
    }

    /// Early exaggeration is lowered where it makes the map shrink, and ends where it has done
    /// its work.
    fn look(&mut self, iteration: usize, norm: f64, size: f64, schedule: &Schedule) {
        if size < self.size && size < 1.0 && self.exaggeration > 1.0 {
            self.exaggeration = (0.7 * self.exaggeration).max(1.0);
        }
        self.size = size;
        self.largest_norm = self.largest_norm.max(norm);
        let done = iteration + 1 >= LEAST_EARLY && norm <= SETTLED * self.largest_norm;
        if done || iteration + 1 >= EARLY {
            self.late_since = Some(iteration + 1);
            self.exaggeration = schedule.exaggeration;
            self.best.1 = iteration;
        }
    }

    /// Whether nothing more is to be had.
    fn has_settled(&mut self, iteration: usize, divergence: f64, norm: f64, schedule: &Schedule) -> bool {
        if self.late_since.is_none() {
            return false;
        }
        if divergence < self.best.0 {
            self.best = (divergence, iteration);
        }
        let idle = (iteration - self.best.1) as i64 > schedule.patience;
        let fall = (self.before - divergence).abs();
        self.before = divergence;
        idle || norm <= schedule.min_grad_norm || fall <= schedule.tolerance * EVERY as f64 * divergence.abs()
    }
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

    /// Norm of the gradient.
    fn norm(&self, forces: &Forces<'_>, room: &Room, pace: Pace) -> f64 {
        let square = |at: usize| {
            let slope = forces.slope(room, at, pace.exaggeration, pace.normalizer);
            slope * slope
        };
        (0..self.y.len()).map(square).sum::<f64>().sqrt()
    }

    fn step(&mut self, forces: &Forces<'_>, room: &Room, pace: Pace) {
        let (width, chunk) = (self.width, ROWS * self.width);
        let tasks = self.y.par_chunks_mut(chunk).zip(self.steps.par_chunks_mut(chunk));
        let tasks = tasks.zip(self.gains.par_chunks_mut(chunk)).enumerate();
        let sums: Vec<Vec<f64>> = tasks
            .map(|(task, ((places, steps), gains))| {
                for (at, (step, gain)) in (task * chunk..).zip(steps.iter_mut().zip(gains)) {
                    let slope = forces.slope(room, at, pace.exaggeration, pace.normalizer);
                    let onward = *step * slope < 0.0;
                    *gain = if onward { *gain + GAIN_MORE } else { (*gain * GAIN_LESS).max(LEAST_GAIN) };
                    *step = pace.momentum * *step - pace.rate * *gain * slope;
                }
                let mut sums = vec![0.0; width];
                for (step, place) in steps.chunks_exact_mut(width).zip(places.chunks_exact_mut(width)) {
                    let length = step.iter().map(|value| value * value).sum::<f64>().sqrt();
                    if length > LONGEST {
                        step.iter_mut().for_each(|value| *value *= LONGEST / length);
                    }
                    for ((place, step), sum) in place.iter_mut().zip(step).zip(&mut sums) {
                        *place += *step;
                        *sum += *place;
                    }
                }
                sums
            })
            .collect();
        // The mean of all points goes to zero: precision is best there.
        let count = (self.y.len() / width) as f64;
        let mean: Vec<f64> =
            (0..width).map(|k| sums.iter().map(|sums| sums[k]).sum::<f64>() / count).collect();
        self.y.par_chunks_mut(chunk).for_each(|places| {
            for place in places.chunks_exact_mut(width) {
                place.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
            }
        });
    }
}
