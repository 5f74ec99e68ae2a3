//! Compressed rows of a sparse matrix or graph, written by many threads.
//!
//! Owns: how rows are shared out. They are dealt with in parts whose size depends on
//! their number alone, so results are the same for any number of threads; between
//! two parts the work can be stopped; of several errors the first is returned.
//! Cost: O(n + entries), and a sort of every row that is not written in order.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::Result;

/// Parts that rows are cut into at most, and the fewest rows of one.
const PARTS: usize = 128;
const SMALLEST_PART: usize = 512;

/// Compressed rows with nothing promised but that targets exist; rows written here
/// ascend without repeats.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename = "Graph")]
pub(crate) struct CompressedRows {
    /// Row i is `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    pub targets: Vec<u32>,
    pub weights: Vec<f64>,
}

/// An entry on its way to another row.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    row: u32,
    target: u32,
    weight: f64,
}

/// Rows of a part of n: depends on n alone, so that results do not depend on threads.
pub(crate) fn part_size(n: usize) -> usize {
    n.div_ceil(PARTS).max(SMALLEST_PART)
}

fn parts(n: usize) -> Vec<Range<usize>> {
    let size = part_size(n);
    (0..n).step_by(size).map(|begin| begin..(begin + size).min(n)).collect()
}

/// What `work` makes of each part, in order; of several refusals the first.
fn side_by_side<P: Send, T: Send>(
    parts: Vec<P>,
    ctx: &Ctx,
    work: impl Fn(P) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let each = |part| {
        ctx.check()?;
        let made = work(part)?;
        ctx.advance(1);
        Ok(made)
    };
    if parts.len() <= 1 {
        return parts.into_iter().map(each).collect();
    }
    let made: Vec<Result<T>> = ctx.install(|| parts.into_par_iter().map(each).collect());
    made.into_iter().collect()
}

/// `all` cut into slices of these lengths.
fn cut<T>(mut all: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let next = |length| {
        let (slice, rest) = std::mem::take(&mut all).split_at_mut(length);
        all = rest;
        slice
    };
    lengths.map(next).collect()
}

/// Lists one after the other.
fn joined<T: Copy + Default + Send + Sync>(lists: Vec<&[T]>, ctx: &Ctx) -> Result<Vec<T>> {
    let mut all = vec![T::default(); lists.iter().map(|list| list.len()).sum()];
    let slots = cut(&mut all, lists.iter().map(|list| list.len()));
    side_by_side(slots.into_iter().zip(lists).collect(), ctx, |(slot, list)| {
        slot.copy_from_slice(list);
        Ok(())
    })?;
    Ok(all)
}

/// A number for every entry of rows with these offsets, `write` filling row by row.
pub(crate) fn written_in_place(
    offsets: &[usize],
    ctx: &Ctx,
    write: impl Fn(usize, &mut [f64]) -> Result<()> + Sync,
) -> Result<Vec<f64>> {
    let ranges = parts(offsets.len() - 1);
    let mut all = vec![0.0; offsets[offsets.len() - 1]];
    let slots = cut(&mut all, ranges.iter().map(|range| offsets[range.end] - offsets[range.start]));
    side_by_side(ranges.into_iter().zip(slots).collect(), ctx, |(range, slots)| {
        let begin = offsets[range.start];
        range.into_iter().try_for_each(|i| write(i, &mut slots[offsets[i] - begin..offsets[i + 1] - begin]))
    })?;
    Ok(all)
}

impl CompressedRows {
    fn with_capacity(n: usize, entries: usize) -> CompressedRows {
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        CompressedRows { offsets, targets: Vec::with_capacity(entries), weights: Vec::with_capacity(entries) }
    }

    /// `n` rows, of which `write` is asked for each in turn; `entries` is a guess of
    /// the entries of a row.
    pub(crate) fn written(
        n: usize,
        entries: usize,
        ctx: &Ctx,
        write: impl Fn(usize, &mut CompressedRows) -> Result<()> + Sync,
    ) -> Result<CompressedRows> {
        let parts = side_by_side(parts(n), ctx, |range| {
            let mut rows = CompressedRows::with_capacity(range.len(), range.len() * entries);
            for i in range {
                write(i, &mut rows)?;
                rows.end_row();
            }
            Ok(rows)
        })?;
        CompressedRows::joined(parts, ctx)
    }

    fn joined(mut parts: Vec<CompressedRows>, ctx: &Ctx) -> Result<CompressedRows> {
        if parts.len() <= 1 {
            return Ok(parts.pop().unwrap_or_else(|| CompressedRows::with_capacity(0, 0)));
        }
        let mut offsets = vec![0];
        for part in &parts {
            let before = offsets[offsets.len() - 1];
            offsets.extend(part.offsets[1..].iter().map(|end| before + end));
        }
        let targets = joined(parts.iter().map(|part| part.targets.as_slice()).collect(), ctx)?;
        parts.iter_mut().for_each(|part| part.targets = Vec::new());
        let weights = joined(parts.iter().map(|part| part.weights.as_slice()).collect(), ctx)?;
        Ok(CompressedRows { offsets, targets, weights })
    }

    /// One more entry of the row being written.
    pub(crate) fn push(&mut self, target: u32, weight: f64) {
        self.targets.push(target);
        self.weights.push(weight);
    }

    /// The row being written is complete: it is made to ascend, repeats merged to
    /// the smaller.
    fn end_row(&mut self) {
        let begin = self.offsets.last().copied().unwrap_or(0);
        if !self.targets[begin..].is_sorted_by(|one, next| one < next) {
            let targets = self.targets.drain(begin..);
            let mut entries: Vec<(u32, f64)> = targets.zip(self.weights.drain(begin..)).collect();
            entries.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
            entries.dedup_by_key(|entry| entry.0);
            self.targets.extend(entries.iter().map(|entry| entry.0));
            self.weights.extend(entries.iter().map(|entry| entry.1));
        }
        self.offsets.push(self.targets.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.targets[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// Rows turned into columns, in parts; each row of the result ascends.
    ///
    /// Every part of the rows is first dealt out to the parts of the columns, which
    /// then collect what is theirs in the order of the rows.
    pub(crate) fn transposed(&self, ctx: &Ctx) -> Result<Vec<CompressedRows>> {
        let (n, size) = (self.len(), part_size(self.len()));
        let ranges = parts(n);
        let dealt: Vec<(Vec<usize>, Vec<Entry>)> = side_by_side(ranges.clone(), ctx, |range| {
            let targets = &self.targets[self.offsets[range.start]..self.offsets[range.end]];
            let starts = starts(ranges.len(), targets.iter().map(|&target| target as usize / size));
            let mut next = starts.clone();
            let mut entries = vec![Entry::default(); targets.len()];
            for row in range {
                for (target, weight) in self.row(row) {
                    let slot = &mut next[target as usize / size];
                    entries[*slot] = Entry { row: row as u32, target, weight };
                    *slot += 1;
                }
            }
            Ok((starts, entries))
        })?;
        side_by_side(ranges.clone(), ctx, |range| {
            let part = range.start / size;
            let mine = || dealt.iter().flat_map(|(starts, all)| &all[starts[part]..starts[part + 1]]);
            let offsets = starts(range.len(), mine().map(|entry| entry.target as usize - range.start));
            let mut next = offsets.clone();
            let mut targets = vec![0; offsets[range.len()]];
            let mut weights = vec![0.0; targets.len()];
            for entry in mine() {
                let slot = &mut next[entry.target as usize - range.start];
                targets[*slot] = entry.row;
                weights[*slot] = entry.weight;
                *slot += 1;
            }
            Ok(CompressedRows { offsets, targets, weights })
        })
    }
}

/// Where each of `bins` begins when `entries` are laid out by bin; one more at the end.
fn starts(bins: usize, entries: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0; bins + 1];
    entries.for_each(|bin| starts[bin + 1] += 1);
    (0..bins).for_each(|bin| starts[bin + 1] += starts[bin]);
    starts
}
