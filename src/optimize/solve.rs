//! The solvers behind one name: which of them runs, on what, from which starts.
//!
//! Place in the dataflow: between a method's recipe and the single solvers. The default
//! reaches the lowest stress soonest from any start: a few epochs of matchings, then L-BFGS.
//! Where dissimilarities are not stored: L-BFGS on a fixed sample of random matchings, then a
//! few iterations on all pairs, computed anew in each.

use super::matchings::{self, EPOCHS, random_matchings};
use super::pairs::{self, Rows};
use super::sampled::{SampledObjective, SomePairs};
use super::term::PairTerm;
use super::transformed::PairObjective;
use super::{Stop, Trace, center, descent, lbfgs};
use crate::context::Ctx;
use crate::error::Result;
use crate::neighbors::Index;
use crate::params::choices;

choices! {
    /// How the stress is minimised.
    Solver {
        /// Matchings, then L-BFGS.
        Auto = "auto",
        /// Majorisation.
        Smacof = "smacof",
        /// A quasi-Newton method with limited memory.
        Lbfgs = "lbfgs",
        /// Stochastic pairs by matchings, and nothing after.
        Sgd = "sgd",
        /// Gradient descent.
        Gradient = "gradient",
        /// The diagonal quasi-Newton step.
        Newton = "newton",
    }
}

/// So few points are mapped twice: from the start itself, and after matchings.
const FEW: usize = 400;
/// Epochs of matchings where nothing follows.
const EPOCHS_ALONE: usize = 30;
/// Random matchings that stand for all pairs: pairs of each point.
const SAMPLE: usize = 200;
/// Iterations on all pairs after those on the sample.
const FULL_ITERATIONS: usize = 10;

/// A loss over all pairs, and what its values are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Loss<T> {
    /// What a pair adds.
    pub term: T,
    /// The size of the loss.
    pub scale: f64,
}

/// Minimise a loss over all pairs from `x`, which becomes the last place.
///
/// # Errors
/// Cancellation.
pub fn minimize<T: PairTerm>(
    rows: &Rows<'_>,
    loss: Loss<T>,
    solver: Solver,
    magic: f64,
    x: &mut [f64],
    stop: Stop,
    ctx: &Ctx,
) -> Result<Trace> {
    let Loss { term, scale } = loss;
    if let (Rows::Points(index), Solver::Auto | Solver::Lbfgs) = (rows, solver) {
        return on_sample(index, loss, x, stop, ctx);
    }
    match solver {
        Solver::Auto if rows.len() > FEW => stirred(rows, loss, x, stop, ctx),
        Solver::Auto => {
            // Where a start is good, stirring may lose it: both ways, and the better one.
            let mut direct = x.to_vec();
            let mut objective = PairObjective::new(*rows, term, scale, ctx)?;
            let straight = lbfgs::minimize(&mut objective, &mut direct, stop, ctx)?;
            let other = stirred(rows, loss, x, stop, ctx)?;
            if straight.history.last() > other.history.last() {
                return Ok(other);
            }
            x.copy_from_slice(&direct);
            Ok(straight)
        }
        Solver::Sgd => {
            let trace = stochastic(rows, loss, x, EPOCHS_ALONE.min(stop.max_iter), ctx)?;
            Ok(Trace { converged: true, ..trace })
        }
        Solver::Newton => descent::diagonal_newton(rows, term, x, magic, scale, stop, ctx),
        Solver::Gradient => {
            let mut objective = PairObjective::new(*rows, term, scale, ctx)?;
            descent::gradient_descent(&mut objective, x, stop, ctx)
        }
        Solver::Lbfgs | Solver::Smacof => {
            let mut objective = PairObjective::new(*rows, term, scale, ctx)?;
            lbfgs::minimize(&mut objective, x, stop, ctx)
        }
    }
}

/// Epochs of matchings, then L-BFGS.
fn stirred<T: PairTerm>(
    rows: &Rows<'_>,
    loss: Loss<T>,
    x: &mut [f64],
    stop: Stop,
    ctx: &Ctx,
) -> Result<Trace> {
    let first = EPOCHS.min(stop.max_iter.div_ceil(2));
    let begun = stochastic(rows, loss, x, first, ctx)?;
    let rest = Stop { max_iter: stop.max_iter - first, ..stop };
    let mut objective = PairObjective::new(*rows, loss.term, loss.scale, ctx)?;
    Ok(begun.then(lbfgs::minimize(&mut objective, x, rest, ctx)?))
}

/// Epochs of matchings, the value noted after each.
fn stochastic<T: PairTerm>(
    rows: &Rows<'_>,
    loss: Loss<T>,
    x: &mut [f64],
    epochs: usize,
    ctx: &Ctx,
) -> Result<Trace> {
    let mut trace = Trace::default();
    let mut unused = vec![0.0; x.len()];
    matchings::epochs(rows, loss.term, x, epochs, ctx, &mut |x| {
        let value = pairs::value_and_half_gradient(rows, loss.term, x, &mut unused, ctx)?;
        trace.history.push(value / loss.scale);
        Ok(())
    })?;
    Ok(trace)
}

/// L-BFGS on random matchings, then on all pairs.
fn on_sample<T: PairTerm>(
    index: &Index,
    loss: Loss<T>,
    x: &mut [f64],
    stop: Stop,
    ctx: &Ctx,
) -> Result<Trace> {
    let n = index.len();
    let sample = some_distances(index, random_matchings(n, SAMPLE, ctx), ctx)?;
    let pairs = SomePairs::new(n, &sample);
    drop(sample);
    let share = SAMPLE as f64 / (n - 1) as f64;
    let mut objective = SampledObjective::new(&pairs, loss.term, share * loss.scale);
    let full = FULL_ITERATIONS.min(stop.max_iter);
    let begun = lbfgs::minimize(&mut objective, x, Stop { max_iter: stop.max_iter - full, ..stop }, ctx)?;
    let mut objective = PairObjective::new(Rows::Points(index), loss.term, loss.scale, ctx)?;
    let ended = lbfgs::minimize(&mut objective, x, Stop { max_iter: full, ..stop }, ctx)?;
    center(x, n);
    // The sample is fixed: its minimum is what was asked for, and all pairs only mend it.
    let converged = begun.converged;
    Ok(Trace { converged, ..begun.then(ended) })
}

/// The distances of some pairs of points.
fn some_distances(index: &Index, pairs: Vec<(u32, u32)>, ctx: &Ctx) -> Result<Vec<(u32, u32, f64, f64)>> {
    use rayon::prelude::*;
    const CHUNK: usize = 1 << 12;
    let parts: Vec<Vec<(u32, u32, f64, f64)>> = pairs
        .par_chunks(CHUNK)
        .map(|some| {
            ctx.check()?;
            let measured = |&(i, j): &(u32, u32)| (i, j, index.pair_distance(i as usize, j as usize), 1.0);
            Ok(some.iter().map(measured).collect())
        })
        .collect::<Result<_>>()?;
    Ok(parts.concat())
}

/// A start and where it led.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Attempt {
    /// Whether it started from classical scaling (0), random (1) or given coordinates (2).
    pub kind: u8,
    /// The value it reached.
    pub value: f64,
    /// Its iterations.
    pub iterations: usize,
}

/// The best of several starts.
#[derive(Debug, Clone)]
pub struct Best {
    /// The coordinates.
    pub x: Vec<f64>,
    /// How they were found.
    pub trace: Trace,
    /// All starts.
    pub attempts: Vec<Attempt>,
}

impl Best {
    /// All points in one place, where that is perfect; or the shape of what one step finds.
    pub fn in_one_place(rows: usize, components: usize) -> Best {
        Best {
            x: vec![0.0; rows * components],
            trace: Trace { history: vec![0.0], converged: true },
            attempts: vec![Attempt { kind: 0, value: 0.0, iterations: 1 }],
        }
    }
}

/// Minimise from several starts and keep the best; of equals the first. `start` makes the
/// coordinates of a start and says of which kind they are; `solve` improves them and gives
/// the value reached. Each start has `max_iter` steps of the stage that is announced here.
///
/// # Errors
/// Those of either; cancellation.
pub fn best_of(
    count: usize,
    max_iter: usize,
    ctx: &Ctx,
    mut start: impl FnMut(usize) -> Result<(u8, Vec<f64>)>,
    mut solve: impl FnMut(&mut Vec<f64>) -> Result<(f64, Trace)>,
) -> Result<Best> {
    let mut best: Option<(f64, Vec<f64>, Trace)> = None;
    let mut attempts = Vec::with_capacity(count);
    for number in 0..count.max(1) {
        let (kind, mut x) = start(number)?;
        if number == 0 {
            ctx.stage("stress", max_iter * count);
        }
        let (value, trace) = solve(&mut x)?;
        ctx.advance(max_iter.saturating_sub(trace.iterations()));
        attempts.push(Attempt { kind, value, iterations: trace.iterations() });
        if best.as_ref().is_none_or(|(least, ..)| value < *least) {
            best = Some((value, x, trace));
        }
    }
    let (_, x, trace) = best.unwrap_or_default();
    Ok(Best { x, trace, attempts })
}
