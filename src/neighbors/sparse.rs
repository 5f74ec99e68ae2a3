//! Sparse rows: exact distances by merging, candidates by sparse dot products.
//!
//! Place in the dataflow: the engine of `Index` for compressed rows; nothing is
//! made dense but one query at a time. With `z` stored entries per row the cost
//! is O(n² z); a dot product against a scattered query touches only the stored
//! entries of the other row and rules out nearly all pairs, the merge of two
//! rows decides about the rest.
//!
//! The merge adds into the same lanes as the dense recipe, where a coordinate
//! that is zero in both rows would add nothing: same bits as dense rows.

use rayon::prelude::*;

use super::angular::Filled;
use super::brute::{Allow, Pairs};
use super::collect::{Keep, Kept};
use super::measure::{Entry, LANES, Measure, join_lanes};
use super::table::{Budget, Part, concatenate};
use super::{NeighborRule, Neighbors};
use crate::context::Ctx;
use crate::error::Result;

/// Queries per task.
const QUERIES: usize = 16;

/// Rows between two looks at the cancel flag.
const BLOCK: usize = 1024;

/// Sparse queries against sparse rows.
#[derive(Clone, Copy)]
pub(super) struct SparsePairs<'a, M> {
    pub measure: M,
    pub queries: &'a Filled,
    pub rows: &'a Filled,
    /// Whether the last column marks rows without direction (cosine, correlation).
    pub marked: bool,
}

impl<M: Measure> Pairs for SparsePairs<'_, M> {
    type M = M;
    fn measure(&self) -> M {
        self.measure
    }
    fn queries(&self) -> usize {
        self.queries.csr.rows()
    }
    fn rows(&self) -> usize {
        self.rows.csr.rows()
    }
    fn dims(&self) -> usize {
        2 * self.rows.csr.values.len() / self.rows.csr.rows().max(1)
    }
    #[inline(always)]
    fn reduced(&self, query: usize, row: usize) -> f64 {
        if self.marked && self.queries.nowhere(query) != self.rows.nowhere(row) {
            return 2.0;
        }
        merge(self.measure, self.queries, query, self.rows, row)
    }
}

impl Filled {
    fn filling(&self, row: usize) -> f64 {
        self.fill.get(row).copied().unwrap_or(0.0)
    }

    fn nowhere(&self, row: usize) -> bool {
        self.csr.row(row).0.last().is_some_and(|&column| column as usize + 1 == self.csr.cols)
    }
}

/// The reduced distance of two sparse rows.
fn merge<M: Measure>(measure: M, left: &Filled, i: usize, right: &Filled, j: usize) -> f64 {
    let ((columns, values), (others, weights)) = (left.csr.row(i), right.csr.row(j));
    let (fill, filler) = (left.filling(i), right.filling(j));
    let mut lanes = [0.0; LANES];
    let (mut a, mut b, mut met) = (0, 0, 0);
    while a < columns.len() || b < others.len() {
        let here = columns.get(a).copied().unwrap_or(u32::MAX);
        let there = others.get(b).copied().unwrap_or(u32::MAX);
        let column = here.min(there);
        let value = if here == column { values[a] } else { fill };
        let weight = if there == column { weights[b] } else { filler };
        a += usize::from(here == column);
        b += usize::from(there == column);
        met += 1;
        let lane = &mut lanes[column as usize % LANES];
        *lane = measure.add(*lane, value - weight);
    }
    let sum = join_lanes(measure, &lanes);
    if fill == filler {
        return sum;
    }
    // Only correlation gets here: what neither row stores differs everywhere by
    // the same amount. The last column is the mark, not a coordinate.
    let absent = left.csr.cols - 1 - met;
    let each = measure.add(0.0, fill - filler);
    measure.join(sum, absent as f64 * each)
}

/// Neighbours for metrics whose reduced distance is a square: dot products
/// first, merges for what they cannot rule out.
pub(super) fn search_by_dots<M: Measure>(
    pairs: &SparsePairs<M>,
    rule: NeighborRule,
    allow: impl Allow,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let budget = Budget::new(pairs.queries(), rule, ctx)?;
    let (query_norms, row_norms) = (norms(pairs.queries), norms(pairs.rows));
    let longest = |rows: &Filled| rows.csr.offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    // The dot product and both norms lose at most z + 2 roundings each, of
    // terms that sum to at most |x|² + |y|²; the merge itself as many of the
    // squared difference, at most twice that.
    let roundings = 4 * (longest(pairs.queries) + longest(pairs.rows) + LANES + 8);
    let margin = roundings as f64 * f64::EPSILON;
    let tasks: Vec<usize> = (0..pairs.queries()).step_by(QUERIES).collect();
    let parts = tasks.into_par_iter().map(|first| {
        let mut part = Part::default();
        let mut scattered = vec![0.0; pairs.rows.csr.cols];
        let mut kept = Kept::new(pairs.measure, rule);
        for query in first..(first + QUERIES).min(pairs.queries()) {
            kept.clear();
            let (columns, values) = pairs.queries.csr.row(query);
            columns.iter().zip(values).for_each(|(&column, &value)| scattered[column as usize] = value);
            for start in (0..pairs.rows()).step_by(BLOCK) {
                ctx.check()?;
                let held = kept.len();
                let rows = start..(start + BLOCK).min(pairs.rows());
                for row in rows {
                    let sum = query_norms[query] + row_norms[row];
                    let low = sum - 2.0 * dot(pairs.rows, row, &scattered) - margin * sum;
                    if !(low > kept.limit()) && allow(query, row) {
                        kept.offer(Entry { reduced: pairs.reduced(query, row), index: row as u32 });
                    }
                }
                budget.take(kept.len().saturating_sub(held), ctx)?;
            }
            columns.iter().for_each(|&column| scattered[column as usize] = 0.0);
            part.push(pairs.measure, &mut kept);
            ctx.advance(1);
        }
        Ok(part)
    });
    Ok(concatenate(parts.collect::<Result<Vec<Part>>>()?))
}

#[inline(always)]
fn dot(rows: &Filled, row: usize, scattered: &[f64]) -> f64 {
    let (columns, values) = rows.csr.row(row);
    let mut sums = [0.0; 4];
    let (column_quads, columns_left) = columns.as_chunks::<4>();
    let (value_quads, values_left) = values.as_chunks::<4>();
    for (columns, values) in column_quads.iter().zip(value_quads) {
        for lane in 0..4 {
            sums[lane] += values[lane] * scattered[columns[lane] as usize];
        }
    }
    for (&column, &value) in columns_left.iter().zip(values_left) {
        sums[0] += value * scattered[column as usize];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

fn norms(rows: &Filled) -> Vec<f64> {
    (0..rows.csr.rows()).map(|row| rows.csr.row(row).1.iter().map(|value| value * value).sum()).collect()
}
