//! Barycentric weights: the combination of its neighbours that comes nearest to
//! a row, and the blocks of standard LLE.
//!
//! Roweis and Saul 2000: C w = 1, Σw = 1, with C_jl = (x_j − x_i)·(x_l − x_i) and
//! `reg`·trace(C) added to its diagonal. The block of row i is
//! (e_i − w)(e_i − w)ᵀ. Weights that may not be negative minimise the same
//! wᵀCw over w ≥ 0: an active-set method (Lawson and Hanson 1974), since
//! min ½uᵀCu − Σu over u ≥ 0 has the same direction.
//! Cost: k²·m + k³/3 per row, with non-negative weights that for each weight that
//! enters or leaves.

use super::differences::Vicinity;
use crate::linalg::dot::product;
use crate::linalg::small::cholesky;

/// Room for one row's weights after the other.
#[derive(Debug, Default)]
pub(super) struct Solver {
    gram: Vec<f64>,
    factor: Vec<f64>,
    free: Vec<usize>,
    trial: Vec<f64>,
    /// The weights: they sum to one.
    pub weights: Vec<f64>,
}

/// Where `reg` = 0 leaves nothing to divide by, this part of the trace is added.
const LEAST_REG: f64 = 64.0 * f64::EPSILON;

impl Solver {
    /// The weights of the neighbourhood.
    pub(super) fn solve(&mut self, vicinity: &Vicinity, reg: f64, nonnegative: bool) {
        let k = vicinity.k;
        vicinity.products(&mut self.gram);
        let trace: f64 = self.gram.iter().step_by(k + 1).sum();
        if trace <= 0.0 || !trace.is_finite() {
            // All rows equal; or too far away for squares, which the NaN marks.
            let share = if trace <= 0.0 { 1.0 / k as f64 } else { f64::NAN };
            self.weights.clear();
            self.weights.resize(k, share);
            return;
        }
        let mut added = (reg * trace).max(0.0);
        self.regularize(k, added);
        while !self.solve_all(k) {
            // Singular, or indefinite where distances are not Euclidean: the least that
            // makes it definite, which the trace surely does.
            let more = (10.0 * added).max(LEAST_REG * trace);
            if !more.is_finite() {
                // A regularisation that is no number, as a forged model may have it.
                self.weights.clear();
                self.weights.resize(k, f64::NAN);
                return;
            }
            self.regularize(k, more - added);
            added = more;
        }
        if nonnegative && self.weights.iter().any(|&weight| weight < 0.0) {
            self.solve_nonnegative(k);
        }
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
    }

    fn regularize(&mut self, k: usize, added: f64) {
        self.gram.iter_mut().step_by(k + 1).for_each(|entry| *entry += added);
    }

    /// C u = 1 over all neighbours; false when C is singular.
    fn solve_all(&mut self, k: usize) -> bool {
        self.factor.clear();
        self.factor.extend_from_slice(&self.gram);
        self.weights.clear();
        self.weights.resize(k, 1.0);
        if !cholesky::factor(&mut self.factor, k) {
            return false;
        }
        cholesky::solve(&self.factor, k, &mut self.weights);
        true
    }

    /// min ½uᵀCu − Σu over u ≥ 0, from u = 0, one neighbour at a time.
    fn solve_nonnegative(&mut self, k: usize) {
        self.free.clear();
        self.weights.fill(0.0);
        // Each set of free weights occurs once; the cap is for rounding.
        for _ in 0..3 * k + 10 {
            let slope = |j: usize| 1.0 - product(&self.gram[j * k..(j + 1) * k], &self.weights);
            let held = (0..k).filter(|j| !self.free.contains(j));
            let steepest = held.map(|j| (slope(j), j)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            match steepest {
                Some((rise, j)) if rise > 1e-12 => self.free.push(j),
                _ => return,
            }
            while !self.step(k) {}
        }
    }

    /// Towards the best weights of the free neighbours; true when they are
    /// reached, false when one had to be held at zero on the way.
    fn step(&mut self, k: usize) -> bool {
        let count = self.free.len();
        self.factor.clear();
        for &a in &self.free {
            self.factor.extend(self.free.iter().map(|&b| self.gram[a * k + b]));
        }
        self.trial.clear();
        self.trial.resize(count, 1.0);
        // proof: a principal part of a definite matrix is definite; if rounding
        // says otherwise the weights stay as they are, which is feasible.
        if count == 0 || !cholesky::factor(&mut self.factor, count) {
            return true;
        }
        cholesky::solve(&self.factor, count, &mut self.trial);
        // The part of the way after which a weight that falls reaches zero.
        let until_zero = |weight: f64, goal: f64| match goal > 0.0 {
            true => f64::INFINITY,
            false => weight / (weight - goal).max(f64::MIN_POSITIVE),
        };
        let ways = self.free.iter().zip(&self.trial);
        let reach = ways.fold(1.0_f64, |least, (&j, &goal)| least.min(until_zero(self.weights[j], goal)));
        let all = self.trial.iter().all(|&goal| goal > 0.0);
        for (&j, &goal) in self.free.iter().zip(&self.trial) {
            let weight = self.weights[j];
            let stops = until_zero(weight, goal) <= reach;
            self.weights[j] = if stops { 0.0 } else { (weight + reach * (goal - weight)).max(0.0) };
        }
        if all {
            return true;
        }
        let weights = &self.weights;
        let before = self.free.len();
        self.free.retain(|&j| weights[j] > 0.0);
        // Nothing left free, or nothing fixed at zero: no further progress.
        self.free.is_empty() || self.free.len() == before
    }
}

/// The factor (k + 1 × 1) of row i's block: 1 for itself, −w for its neighbours.
pub(super) fn fill(
    solver: &mut Solver,
    vicinity: &Vicinity,
    reg: f64,
    nonnegative: bool,
    factor: &mut [f64],
) {
    solver.solve(vicinity, reg, nonnegative);
    factor[0] = 1.0;
    factor[1..].iter_mut().zip(&solver.weights).for_each(|(slot, weight)| *slot = -weight);
}
