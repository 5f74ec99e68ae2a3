//! Whether single precision is enough for the estimates of `gemm`.
//!
//! Place in the dataflow: asked once before the tiles. Cost: a fixed sample of pairs.

use rayon::prelude::*;

use super::NeighborRule;
use super::brute::{Dense, Pairs};
use super::gemm_bounds::error_bound;
use super::measure::Measure;

/// Whether f32 estimates separate most pairs: on a fixed sample, few rows
/// must lie within the error bound beyond the neighbours.
pub(super) fn single_is_enough<M: Measure>(pairs: &Dense<M>, rule: NeighborRule) -> bool {
    const QUERIES: usize = 24;
    const ROWS: usize = 512;
    let error = error_bound::<f32>(pairs.dims);
    if error > 0.05 {
        return false;
    }
    let sample = |count: usize, most: usize| (0..count).step_by(count.div_ceil(most)).collect::<Vec<_>>();
    let (queries, rows) = (sample(pairs.queries(), QUERIES), sample(pairs.rows(), ROWS));
    let centre = mean(pairs, &rows);
    let norm = |row: &[f64]| row.iter().zip(&centre).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let norms: Vec<f64> = rows.iter().map(|&row| norm(pairs.row(row))).collect();
    let excess = queries.par_iter().map(|&query| {
        let own = norm(pairs.query(query));
        let squares: Vec<f64> = rows.iter().map(|&row| pairs.reduced(query, row)).collect();
        let mut sorted = squares.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let edge = match rule {
            NeighborRule::Nearest(k) => sorted[(k * rows.len() / pairs.rows() + 1).min(rows.len() - 1)],
            NeighborRule::Within(radius) => pairs.measure.reduce(radius),
        };
        let unclear = |(square, norm): (&f64, &f64)| {
            let margin = 2.0 * error * (own + norm);
            *square > edge && *square <= edge + margin
        };
        squares.iter().zip(&norms).filter(|&pair| unclear(pair)).count()
    });
    excess.sum::<usize>() * 40 <= queries.len() * rows.len()
}

fn mean<M: Measure>(pairs: &Dense<M>, rows: &[usize]) -> Vec<f64> {
    let mut centre = vec![0.0; pairs.dims];
    for &row in rows {
        centre.iter_mut().zip(pairs.row(row)).for_each(|(sum, value)| *sum += value / rows.len() as f64);
    }
    centre
}
