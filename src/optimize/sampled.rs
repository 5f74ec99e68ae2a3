//! The stress of some pairs only: random matchings of very many points, or neighbours.
//!
//! Place in the dataflow: an objective of the same kind as that over all pairs, linear in
//! the number of pairs. Each pair is stored in the rows of both its ends, so that a row is
//! summed up by one task, in order. Cost: p per pair and end.

use rayon::prelude::*;

use super::Objective;
use super::term::PairTerm;
use crate::context::Ctx;
use crate::error::Result;

/// Some pairs of points with their dissimilarities.
#[derive(Debug, Clone)]
pub struct SomePairs {
    offsets: Vec<usize>,
    ends: Vec<u32>,
    delta: Vec<f64>,
    weights: Vec<f64>,
}

impl SomePairs {
    /// Pairs (i, j, δ, w) of `n` points, each once.
    pub fn new(n: usize, pairs: &[(u32, u32, f64, f64)]) -> SomePairs {
        let mut offsets = vec![0; n + 1];
        for &(i, j, _, _) in pairs {
            offsets[i as usize + 1] += 1;
            offsets[j as usize + 1] += 1;
        }
        for row in 0..n {
            offsets[row + 1] += offsets[row];
        }
        let total = offsets[n];
        let (mut ends, mut delta, mut weights) = (vec![0; total], vec![0.0; total], vec![0.0; total]);
        let mut next = offsets.clone();
        for &(i, j, distance, weight) in pairs {
            for (own, other) in [(i, j), (j, i)] {
                let at = next[own as usize];
                (ends[at], delta[at], weights[at]) = (other, distance, weight);
                next[own as usize] += 1;
            }
        }
        SomePairs { offsets, ends, delta, weights }
    }

    /// Number of points.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// A loss over [`SomePairs`].
pub struct SampledObjective<'a, T> {
    pairs: &'a SomePairs,
    term: T,
    scale: f64,
    stiffness: Vec<f64>,
}

impl<'a, T: PairTerm> SampledObjective<'a, T> {
    /// The loss; values are compared with `scale`.
    pub fn new(pairs: &'a SomePairs, term: T, scale: f64) -> Self {
        let own = |row: usize| {
            let range = pairs.offsets[row]..pairs.offsets[row + 1];
            range.map(|at| term.stiffness(pairs.delta[at], pairs.weights[at])).sum::<f64>()
        };
        SampledObjective { pairs, term, scale, stiffness: (0..pairs.rows()).map(own).collect() }
    }
}

impl<T: PairTerm> Objective for SampledObjective<'_, T> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64], ctx: &Ctx) -> Result<f64> {
        const ROWS: usize = 256;
        let (pairs, term, n) = (self.pairs, self.term, self.pairs.rows());
        let columns = super::pairs::columns(x, n);
        let width = columns.len();
        let parts: Vec<(f64, Vec<f64>)> = (0..n.div_ceil(ROWS))
            .into_par_iter()
            .map(|block| {
                ctx.check()?;
                let rows = block * ROWS..((block + 1) * ROWS).min(n);
                let mut found = vec![0.0; rows.len() * width];
                let mut total = 0.0;
                let mut apart = vec![0.0; width];
                for (row, sums) in rows.zip(found.chunks_exact_mut(width)) {
                    for at in pairs.offsets[row]..pairs.offsets[row + 1] {
                        let other = pairs.ends[at] as usize;
                        let mut squared = 0.0;
                        for k in 0..width {
                            apart[k] = columns[k][row] - columns[k][other];
                            squared += apart[k] * apart[k];
                        }
                        let (value, factor) = term.term(pairs.delta[at], pairs.weights[at], squared);
                        total += value;
                        for k in 0..width {
                            sums[k] += factor * apart[k];
                        }
                    }
                }
                Ok((total, found))
            })
            .collect::<Result<_>>()?;
        let mut value = 0.0;
        let mut row = 0;
        for (total, found) in parts {
            value += total;
            for sums in found.chunks_exact(width) {
                (0..width).for_each(|k| gradient[k * n + row] = 2.0 * sums[k]);
                row += 1;
            }
        }
        Ok(0.5 * value)
    }

    fn precondition(&self, gradient: &[f64], step: &mut [f64]) {
        let n = self.pairs.rows();
        for (at, (step, gradient)) in step.iter_mut().zip(gradient).enumerate() {
            let stiffness = self.stiffness[at % n];
            *step = if stiffness > 0.0 { gradient / (2.0 * stiffness) } else { 0.0 };
        }
    }

    fn scale(&self) -> f64 {
        self.scale
    }
}
