//! Rounds of nearest-neighbour descent: a neighbour of a neighbour is likely a neighbour
//! (Dong, Moses and Li, Efficient k-nearest neighbor graph construction, 2011).
//!
//! Place in the dataflow: between the random partitions and the exact measure. A round
//! fixes the *hops* of every row: the nearest of its list, and some rows that list it. The
//! hops of a row are compared with each other, those that are new to it with all; two that
//! are near enough to improve each other's list are noted for both. The rows are taken in
//! blocks: all notes of a block are made before the first is taken in, each list by one
//! thread and in the order of the rows that made the notes, so threads cannot matter.
//! Cost: O(n h² D) a round for h hops, less as lists settle.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::candidates::{Lists, ROWS, insert};
use super::closeness::{Closeness, Desk};
use super::mixed;
use crate::context::Ctx;
use crate::error::Result;

/// The most entries of its list that a row takes for hops, and as many that list it.
const HALF: usize = 24;

/// Rows of a block, and of one of its tasks: its notes are to fit in memory.
const BLOCK: usize = 1 << 16;
const TASK: usize = 512;

/// No hop.
const NONE: u32 = u32::MAX;

/// Two rows that are near: the list to go into, what to put there.
type Note = (u32, u32, f32);

/// Bytes of the notes of a block: as many as the first rounds make.
pub(super) fn notes_of_a_block(rows: usize) -> u64 {
    const NOTES: u64 = 150;
    rows.min(BLOCK) as u64 * NOTES * size_of::<Note>() as u64
}

/// One round; how many entries are new.
pub(super) fn round<C: Closeness>(closeness: &C, lists: &mut Lists, seed: u64, ctx: &Ctx) -> Result<usize> {
    let hops = Hops::of(lists, seed, ctx)?;
    let (rows, width) = (lists.len(), lists.width);
    let mut limits: Vec<f32> =
        lists.entries.par_chunks_exact(width).map(|list| list[width - 1].value).collect();
    // Lists that one task takes notes into.
    let share = rows.div_ceil(64).max(ROWS);
    let mut changes = 0;
    for first in (0..rows).step_by(BLOCK) {
        let starts: Vec<usize> = (first..(first + BLOCK).min(rows)).step_by(TASK).collect();
        let notes = starts.into_par_iter().map(|start| {
            ctx.check()?;
            let task = start..(start + TASK).min(first + BLOCK).min(rows);
            let found = hops.join(closeness, task, &limits, share);
            ctx.advance(TASK.min(rows - start));
            Ok(found)
        });
        let notes = notes.collect::<Result<Vec<Vec<Vec<Note>>>>>()?;
        let tasks = lists.entries.par_chunks_mut(share * width).zip(limits.par_chunks_mut(share)).enumerate();
        let changed = tasks.map(|(which, (lists, limits))| {
            let mut changed = 0;
            for &(row, other, value) in notes.iter().flat_map(|notes| &notes[which]) {
                let place = row as usize - which * share;
                let list = &mut lists[place * width..(place + 1) * width];
                if insert(list, value, other) {
                    limits[place] = list[width - 1].value;
                    changed += 1;
                }
            }
            changed
        });
        changes += changed.sum::<usize>();
    }
    Ok(changes)
}

/// The rows that each row brings together: twice the row, one more if it is new to it.
struct Hops {
    width: usize,
    tags: Vec<u32>,
}

impl Hops {
    /// The nearest of each list, which are not new any longer, and as many of the rows that
    /// list it; of more, those a hash picks.
    fn of(lists: &mut Lists, seed: u64, ctx: &Ctx) -> Result<Hops> {
        let half = lists.width.min(HALF);
        let width = 2 * half;
        let (offsets, sources) = reversed(lists, half, ctx)?;
        let mut tags = vec![NONE; lists.len() * width];
        let (entries, list_width) = (&mut lists.entries, lists.width);
        let tasks = tags.par_chunks_mut(ROWS * width).zip(entries.par_chunks_mut(ROWS * list_width));
        tasks.enumerate().try_for_each(|(task, (tags, lists))| {
            ctx.check()?;
            let mut named: Vec<(u64, u32)> = Vec::new();
            let rows = tags.chunks_exact_mut(width).zip(lists.chunks_exact_mut(list_width));
            for (position, (tags, list)) in (task * ROWS..).zip(rows) {
                let (own, others) = tags.split_at_mut(half);
                own.iter_mut().zip(&*list).for_each(|(to, from)| *to = from.tag());
                list[..half].iter_mut().for_each(|known| known.age());
                named.clear();
                for source in &sources[offsets[position]..offsets[position + 1]] {
                    let tag = source.load(Ordering::Relaxed);
                    if own.iter().all(|known| known >> 1 != tag >> 1) {
                        named.push((mixed(seed, u64::from(tag >> 1)), tag));
                    }
                }
                // In an order of their own: that of arrival depends on threads.
                named.sort_unstable();
                others.iter_mut().zip(&named).for_each(|(to, from)| *to = from.1);
            }
            Ok(())
        })?;
        Ok(Hops { width, tags })
    }

    /// Compare the hops of some rows; what is near, by shares of the lists.
    fn join<C: Closeness>(
        &self,
        closeness: &C,
        rows: std::ops::Range<usize>,
        limits: &[f32],
        share: usize,
    ) -> Vec<Vec<Note>> {
        let mut notes = vec![Vec::new(); limits.len().div_ceil(share)];
        let (mut desk, mut together, mut bounds) = (Desk::default(), Vec::new(), Vec::new());
        let (arch, mut hits) = (Arch::new(), Vec::new());
        for hops in self.tags[rows.start * self.width..rows.end * self.width].chunks_exact(self.width) {
            let hops = hops.iter().filter(|&&tag| tag != NONE);
            together.clear();
            together.extend(hops.clone().filter(|&tag| tag & 1 == 1).map(|tag| tag >> 1));
            let new = together.len();
            together.extend(hops.filter(|&tag| tag & 1 == 0).map(|tag| tag >> 1));
            if new == 0 || together.len() < 2 {
                continue;
            }
            bounds.clear();
            bounds.extend(together.iter().map(|&row| limits[row as usize]));
            closeness.compare(&together, new, &mut desk, |place, values| {
                let (row, bound) = (together[place], bounds[place]);
                hits.clear();
                arch.dispatch(Hits { bound, bounds: &bounds, values, first: place + 1, hits: &mut hits });
                for &at in &hits {
                    let (other, value) = (together[at], values[at]);
                    if value < bound {
                        notes[row as usize / share].push((row, other, value));
                    }
                    if value < bounds[at] {
                        notes[other as usize / share].push((other, row, value));
                    }
                }
            });
        }
        notes
    }
}

/// Which of the rows after one are near enough for either. A type and not a closure: see `walk`.
struct Hits<'a> {
    bound: f32,
    bounds: &'a [f32],
    values: &'a [f32],
    first: usize,
    hits: &'a mut Vec<usize>,
}

impl NullaryFnOnce for Hits<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        const RUN: usize = 16;
        let near = |value: f32, bound: f32| (value < self.bound) | (value < bound);
        let runs = self.values[self.first..].chunks(RUN).zip(self.bounds[self.first..].chunks(RUN));
        for (run, (values, bounds)) in runs.enumerate() {
            let pairs = values.iter().zip(bounds);
            if pairs.clone().fold(false, |any, (&value, &bound)| any | near(value, bound)) {
                let places = (self.first + run * RUN..).zip(pairs);
                self.hits
                    .extend(places.filter(|(_, (value, bound))| near(**value, **bound)).map(|(at, _)| at));
            }
        }
    }
}

/// For each row the rows that have it among the first of their list, in any order.
fn reversed(lists: &Lists, first: usize, ctx: &Ctx) -> Result<(Vec<usize>, Vec<AtomicU32>)> {
    let rows = lists.len();
    let counts: Vec<AtomicUsize> = (0..rows).map(|_| AtomicUsize::new(0)).collect();
    let each = |see: &(dyn Fn(u32, u32, u32) + Sync)| {
        lists.entries.par_chunks(ROWS * lists.width).enumerate().try_for_each(|(task, some)| {
            for (position, list) in (task * ROWS..).zip(some.chunks_exact(lists.width)) {
                for known in list[..first].iter().filter(|known| known.is_somebody()) {
                    see(position as u32, known.row(), known.tag() & 1);
                }
            }
            ctx.check()
        })
    };
    each(&|_, row, _| {
        counts[row as usize].fetch_add(1, Ordering::Relaxed);
    })?;
    let mut offsets = Vec::with_capacity(rows + 1);
    let mut end = 0;
    offsets.push(0);
    for count in &counts {
        // From now on the place of the next one.
        let start = end;
        end += count.swap(start, Ordering::Relaxed);
        offsets.push(end);
    }
    let sources: Vec<AtomicU32> = (0..end).map(|_| AtomicU32::new(NONE)).collect();
    each(&|position, row, new| {
        let place = counts[row as usize].fetch_add(1, Ordering::Relaxed);
        sources[place].store(2 * position + new, Ordering::Relaxed);
    })?;
    Ok((offsets, sources))
}
