//! From what workers found to one `Neighbors`.
//!
//! Place in the dataflow: the last step of every engine. Workers hand in
//! [`Part`]s in a fixed order; here they become one compressed table, in row
//! order, and a table too large for memory is refused while it grows.
//! Cost: O(n + entries).

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::collect::Kept;
use super::measure::{Measure, finish_sorted};
use super::{NeighborRule, Neighbors};
use crate::context::Ctx;
use crate::error::Result;

/// Bytes of one entry while parts and table exist together.
const ENTRY: u64 = 2 * 12;

/// The neighbours of some consecutive queries.
#[derive(Debug, Default)]
pub(super) struct Part {
    counts: Vec<u32>,
    indices: Vec<u32>,
    distances: Vec<f64>,
}

impl Part {
    /// Append one query's entries, sorted.
    pub fn push<M: Measure>(&mut self, measure: M, kept: &mut Kept<M>) {
        let entries = kept.settle();
        self.counts.push(entries.len() as u32);
        finish_sorted(measure, entries, &mut self.indices, &mut self.distances);
    }
}

/// Watches a table whose size is not known beforehand.
#[derive(Debug, Default)]
pub(super) struct Budget {
    entries: AtomicU64,
}

impl Budget {
    /// Entries between two looks at the memory.
    const STRIDE: u64 = 1 << 20;

    /// Refuse at once when the table's size is known and too large.
    pub fn new(queries: usize, rule: NeighborRule, ctx: &Ctx) -> Result<Budget> {
        if let NeighborRule::Nearest(k) = rule {
            reserve((queries as u64).saturating_mul(k as u64), ctx)?;
        }
        Ok(Budget::default())
    }

    /// `count` more entries are about to be kept.
    pub fn take(&self, count: usize, ctx: &Ctx) -> Result<()> {
        let before = self.entries.fetch_add(count as u64, Ordering::Relaxed);
        let after = before + count as u64;
        if before / Self::STRIDE != after / Self::STRIDE {
            reserve(after + Self::STRIDE, ctx)?;
        }
        Ok(())
    }
}

/// Refuse a search by radius whose table would be too large before it is made, judged
/// by the mean number of neighbours of some of the `rows`, if it may be at all.
pub(super) fn reserve_sampled(rows: usize, mean: impl FnOnce() -> Result<f64>, ctx: &Ctx) -> Result<()> {
    let all = (rows as u64).saturating_mul(rows as u64);
    match reserve(all, ctx) {
        Ok(()) => Ok(()),
        Err(_) => reserve((mean()? * rows as f64) as u64, ctx),
    }
}

/// Rows by which the number of neighbours within a radius is judged, evenly spread.
pub(super) fn sample(rows: usize) -> impl Iterator<Item = usize> {
    const SAMPLE: usize = 32;
    (0..rows).step_by(rows.div_ceil(SAMPLE).max(1))
}

fn reserve(entries: u64, ctx: &Ctx) -> Result<()> {
    ctx.reserve(entries.saturating_mul(ENTRY), "the table of neighbours", "lower `n_neighbors` or `radius`")
}

/// One table of parts whose queries are already in row order.
pub(super) fn concatenate(parts: Vec<Part>) -> Neighbors {
    let entries = parts.iter().map(|part| part.indices.len()).sum();
    let rows: usize = parts.iter().map(|part| part.counts.len()).sum();
    let mut table = Neighbors {
        offsets: Vec::with_capacity(rows + 1),
        indices: Vec::with_capacity(entries),
        distances: Vec::with_capacity(entries),
    };
    let mut end = 0;
    table.offsets.push(0);
    for part in parts {
        table.offsets.extend(part.counts.iter().map(|&count| {
            end += count as usize;
            end
        }));
        table.indices.extend_from_slice(&part.indices);
        table.distances.extend_from_slice(&part.distances);
    }
    table
}

/// One table in row order of parts whose queries are the rows `order[0], order[1], ..`.
pub(super) fn permute(parts: &[Part], order: &[u32]) -> Neighbors {
    const ROWS: usize = 2048;
    let n = order.len();
    let mut source = vec![(0u32, 0usize); n];
    let mut offsets = vec![0usize; n + 1];
    let mut rows = order.iter().map(|&row| row as usize);
    for (which, part) in parts.iter().enumerate() {
        let mut start = 0;
        for (&count, row) in part.counts.iter().zip(&mut rows) {
            source[row] = (which as u32, start);
            offsets[row + 1] = count as usize;
            start += count as usize;
        }
    }
    for row in 0..n {
        offsets[row + 1] += offsets[row];
    }
    let mut indices = vec![0u32; offsets[n]];
    let mut distances = vec![0f64; offsets[n]];
    let mut tasks = Vec::with_capacity(n.div_ceil(ROWS));
    let (mut indices_left, mut distances_left) = (&mut indices[..], &mut distances[..]);
    for first in (0..n).step_by(ROWS) {
        let last = (first + ROWS).min(n);
        let (here, rest) = indices_left.split_at_mut(offsets[last] - offsets[first]);
        let (far, farther) = distances_left.split_at_mut(offsets[last] - offsets[first]);
        tasks.push((first, last, here, far));
        (indices_left, distances_left) = (rest, farther);
    }
    tasks.into_par_iter().for_each(|(first, last, indices, distances)| {
        let mut end = 0;
        for row in first..last {
            let count = offsets[row + 1] - offsets[row];
            let (which, start) = source[row];
            let part = &parts[which as usize];
            indices[end..end + count].copy_from_slice(&part.indices[start..start + count]);
            distances[end..end + count].copy_from_slice(&part.distances[start..start + count]);
            end += count;
        }
    });
    Neighbors { offsets, indices, distances }
}
