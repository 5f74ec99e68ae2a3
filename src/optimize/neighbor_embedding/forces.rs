//! The gradient of the Kullback–Leibler divergence, and the divergence itself.
//!
//! Attraction minus repulsion. Repulsion is a sum over all pairs, exact, by a tree or by a grid,
//! whichever [`super::cost`] says is fastest for this number of points and this size of the map;
//! its normaliser Z is added up in the order of the points, whatever the number of threads.
//! A point that stands for w rows moves by the gradient of one of them.

use rayon::prelude::*;

use super::attraction::{attraction, attraction_cost};
use super::cost::{FEW, Repulsion, choose};
use super::field::{Real, Sources, Student};
use super::grid::Grid;
use super::tree::Tree;
use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::joint_probabilities::JointProbabilities;
use crate::linalg::exp::ln;
use crate::params::choices;

choices! {
    /// How the repulsion of all pairs is added up.
    RepulsionMethod {
        /// By all pairs, a tree or a grid, whichever is fastest.
        Auto = "auto",
        /// By a tree.
        BarnesHut = "barnes_hut",
        /// By a grid and Fourier transforms.
        Fft = "fft",
        /// By all pairs, and with the probabilities of all pairs too.
        Exact = "exact",
    }
}

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
    /// Σ w k of every point.
    totals: Vec<f64>,
    /// Σ w k u (y − y_j) of every point.
    pushes: Vec<f64>,
    /// Σ p u (y − y_j) of every point.
    pulls: Vec<f64>,
    places: Vec<f32>,
    grid: Grid,
}

impl Forces<'_> {
    /// Attraction and repulsion at `y` into the room, both without their factors; Z.
    ///
    /// # Errors
    /// Cancellation.
    pub fn compute(&self, y: &[f64], room: &mut Room, ctx: &Ctx) -> Result<f64> {
        room.pulls.resize(y.len(), 0.0);
        if self.joint.len() <= FEW {
            attraction(self.joint, self.law, y, self.width, &mut room.pulls, ctx)?;
        } else {
            room.places.clear();
            room.places.extend(y.iter().map(|&value| value as f32));
            attraction(self.joint, self.law, &room.places, self.width, &mut room.pulls, ctx)?;
        }
        self.repulsion(y, choose(self, y), room, ctx)
    }

    /// Coordinate `at` of the gradient, from what [`Self::compute`] left in the room, with
    /// attraction multiplied by `exaggeration`.
    pub fn slope(&self, room: &Room, at: usize, exaggeration: f64, normalizer: f64) -> f64 {
        let rows = self.joint.weights.as_ref().map_or(1.0, |weights| weights[at / self.width]);
        let inverse = if normalizer > 0.0 { 1.0 / normalizer } else { 0.0 };
        self.law.factor() * (exaggeration / rows * room.pulls[at] - inverse * room.pushes[at])
    }

    /// The gradient at `y`.
    ///
    /// # Errors
    /// Cancellation.
    #[cfg(test)]
    pub fn gradient(&self, y: &[f64], ctx: &Ctx) -> Result<Vec<f64>> {
        let mut room = Room::default();
        let normalizer = self.compute(y, &mut room, ctx)?;
        Ok((0..y.len()).map(|at| self.slope(&room, at, 1.0, normalizer)).collect())
    }

    /// Σ w_b k u (y_a − y_b) of every point into the room; Z.
    fn repulsion(&self, y: &[f64], by: Repulsion, room: &mut Room, ctx: &Ctx) -> Result<f64> {
        let n = self.joint.len();
        room.totals.resize(n, 0.0);
        room.pushes.resize(n * self.width, 0.0);
        let (law, weights) = (self.law, self.joint.weights.as_deref());
        let (totals, pushes) = (&mut room.totals[..], &mut room.pushes[..]);
        match (by, self.width) {
            (Repulsion::Grid(spacing), width) => {
                room.grid.field(law, spacing, y, width, weights, totals, pushes, ctx)?
            }
            (Repulsion::Tree, 1) => Tree::<1>::new(y, weights).field(law, self.angle, totals, pushes, ctx)?,
            (Repulsion::Tree, 2) => Tree::<2>::new(y, weights).field(law, self.angle, totals, pushes, ctx)?,
            (Repulsion::Tree, _) => Tree::<3>::new(y, weights).field(law, self.angle, totals, pushes, ctx)?,
            (Repulsion::Pairs, _) if n <= FEW => self.all_pairs::<f64>(y, totals, pushes, ctx)?,
            (Repulsion::Pairs, _) => self.all_pairs::<f32>(y, totals, pushes, ctx)?,
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
        let log = if normalizer > 0.0 { ln(normalizer) } else { 0.0 };
        Ok(self.joint.negative_entropy + cost + self.joint.total * log)
    }

    /// The divergence at `y`, with the exact normaliser up to [`EXACT_NORMALIZER`] points.
    ///
    /// # Errors
    /// Cancellation.
    pub fn divergence(&self, y: &[f64], ctx: &Ctx) -> Result<f64> {
        let few = self.joint.len() <= EXACT_NORMALIZER;
        let by = if few { Repulsion::Pairs } else { choose(self, y) };
        let normalizer = self.repulsion(y, by, &mut Room::default(), ctx)?;
        self.divergence_with(y, normalizer, ctx)
    }
}
