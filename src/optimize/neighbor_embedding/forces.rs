//! The gradient of the Kullback–Leibler divergence, and the divergence itself.
//!
//! Attraction minus repulsion. Repulsion is a sum over all pairs, exact or by a tree; its
//! normaliser Z is added up in the order of the points, whatever the number of threads.
//! A point that stands for w rows moves by the gradient of one of them.

use rayon::prelude::*;

use super::attraction::{attraction, attraction_cost};
use super::field::{Real, Sources, Student};
use super::tree::Tree;
use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::joint_probabilities::JointProbabilities;
use crate::params::choices;

choices! {
    /// How the repulsion of all pairs is added up.
    RepulsionMethod {
        /// By a tree, up to an angle; all pairs of few points.
        BarnesHut = "barnes_hut",
        /// All pairs, and the probabilities of all pairs too.
        Exact = "exact",
        /// `BarnesHut` for up to three coordinates, all pairs for more.
        Auto = "auto",
    }
}

/// Up to this many points all pairs are added up in double precision.
const DOUBLE: usize = 1024;
/// Up to this many points all pairs are added up: exact, for twice the time of a tree there
/// (2 100 points, one thread: 1.35 against 0.57 ms an iteration).
const FEW: usize = 2048;
/// Up to this many points the normaliser of a divergence that is reported is exact.
pub const EXACT_NORMALIZER: usize = 20_000;
/// Points of one task.
const ROWS: usize = 64;

/// Probabilities and how their map is judged.
#[derive(Debug)]
pub struct Forces<'a> {
    /// p.
    pub joint: &'a JointProbabilities,
    /// k.
    pub law: Student,
    /// Coordinates of a point.
    pub width: usize,
    /// How repulsion is added up.
    pub method: RepulsionMethod,
    /// Largest width of a cell that acts as one point, relative to its distance.
    pub angle: f64,
}

/// Room for a gradient, kept from one iteration to the next.
#[derive(Debug, Default)]
pub struct Room {
    totals: Vec<f64>,
    pushes: Vec<f64>,
}

impl Forces<'_> {
    /// Whether a tree is used.
    fn by_tree(&self) -> bool {
        self.method != RepulsionMethod::Exact && self.width <= 3 && self.joint.len() > FEW && self.angle > 0.0
    }

    /// The gradient at `y` with attraction multiplied by `exaggeration`; Z.
    ///
    /// # Errors
    /// Cancellation.
    pub fn gradient(
        &self,
        y: &[f64],
        exaggeration: f64,
        gradient: &mut [f64],
        room: &mut Room,
        ctx: &Ctx,
    ) -> Result<f64> {
        attraction(self.joint, self.law, y, self.width, gradient, ctx)?;
        let normalizer = self.repulsion(y, self.by_tree(), room, ctx)?;
        let (factor, width) = (self.law.factor(), self.width);
        let weights = self.joint.weights.as_deref();
        let inverse = if normalizer > 0.0 { 1.0 / normalizer } else { 0.0 };
        for (row, (pull, push)) in
            gradient.chunks_exact_mut(width).zip(room.pushes.chunks_exact(width)).enumerate()
        {
            let share = exaggeration / weights.map_or(1.0, |weights| weights[row]);
            for (pull, push) in pull.iter_mut().zip(push) {
                *pull = factor * (share * *pull - inverse * push);
            }
        }
        Ok(normalizer)
    }

    /// Σ w_b k u (y_a − y_b) of every point into the room; Z.
    fn repulsion(&self, y: &[f64], by_tree: bool, room: &mut Room, ctx: &Ctx) -> Result<f64> {
        let n = self.joint.len();
        room.totals.resize(n, 0.0);
        room.pushes.resize(n * self.width, 0.0);
        let weights = self.joint.weights.as_deref();
        let (totals, pushes) = (&mut room.totals[..], &mut room.pushes[..]);
        match (by_tree, self.width) {
            (true, 1) => Tree::<1>::new(y, weights).field(self.law, self.angle, totals, pushes, ctx)?,
            (true, 2) => Tree::<2>::new(y, weights).field(self.law, self.angle, totals, pushes, ctx)?,
            (true, _) => Tree::<3>::new(y, weights).field(self.law, self.angle, totals, pushes, ctx)?,
            (false, _) if n <= DOUBLE => self.all_pairs::<f64>(y, totals, pushes, ctx)?,
            (false, _) => self.all_pairs::<f32>(y, totals, pushes, ctx)?,
        }
        // Every row has met itself, at k = 1.
        let sum = |(row, total): (usize, &f64)| weights.map_or(1.0, |weights| weights[row]) * (total - 1.0);
        Ok(room.totals.iter().enumerate().map(sum).sum())
    }

    fn all_pairs<T: Real>(&self, y: &[f64], totals: &mut [f64], pushes: &mut [f64], ctx: &Ctx) -> Result<()> {
        let sources = Sources::<T>::of(y, self.width, self.joint.weights.as_deref());
        let tasks = totals.par_chunks_mut(ROWS).zip(pushes.par_chunks_mut(ROWS * self.width));
        tasks.zip(y.par_chunks(ROWS * self.width)).try_for_each(|((totals, pushes), places)| {
            ctx.check()?;
            let places: Vec<T> = places.iter().map(|&value| T::of(value)).collect();
            sources.field(self.law, &places, totals, pushes);
            Ok(())
        })
    }

    /// The divergence at `y`, with the normaliser that a gradient there gave.
    ///
    /// # Errors
    /// Cancellation.
    pub fn divergence_with(&self, y: &[f64], normalizer: f64, ctx: &Ctx) -> Result<f64> {
        let cost = attraction_cost(self.joint, self.law, y, self.width, ctx)?;
        let log = if normalizer > 0.0 { crate::linalg::exp::ln(normalizer) } else { 0.0 };
        Ok(self.joint.negative_entropy + cost + self.joint.total * log)
    }

    /// The divergence at `y`, with the exact normaliser up to [`EXACT_NORMALIZER`] points.
    ///
    /// # Errors
    /// Cancellation.
    pub fn divergence(&self, y: &[f64], ctx: &Ctx) -> Result<f64> {
        let by_tree = self.by_tree() && self.joint.len() > EXACT_NORMALIZER;
        let normalizer = self.repulsion(y, by_tree, &mut Room::default(), ctx)?;
        self.divergence_with(y, normalizer, ctx)
    }
}
