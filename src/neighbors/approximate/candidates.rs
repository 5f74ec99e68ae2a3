//! The candidates of each row: a list of fixed width, nearest first.
//!
//! Place in the dataflow: filled by `forest`'s leaves, improved by `descent`, judged by
//! the exact measure at last. Cost: 8 bytes an entry; O(width) to take one in.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::closeness::{Closeness, Desk};
use super::forest::{leaves, partition};
use super::inverse;
use crate::context::Ctx;
use crate::error::Result;

/// Rows of one task.
pub(super) const ROWS: usize = 1024;

/// A row that may be a neighbour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// How far it is, in the numbers of a `Closeness`.
    pub value: f32,
    /// Twice its position; one more if no list knew of it a round ago.
    tag: u32,
}

/// No row: farther than any.
const NOBODY: Candidate = Candidate { value: f32::INFINITY, tag: u32::MAX };

/// The most rows whose positions leave a bit free.
pub(super) const MOST_ROWS: usize = (u32::MAX / 2) as usize;

impl Candidate {
    #[inline(always)]
    pub fn row(self) -> u32 {
        self.tag >> 1
    }

    #[inline(always)]
    pub fn tag(self) -> u32 {
        self.tag
    }

    pub fn is_somebody(self) -> bool {
        self.tag != u32::MAX
    }

    /// From now on every list knows of it.
    pub fn age(&mut self) {
        if self.is_somebody() {
            self.tag &= !1;
        }
    }
}

/// Put a row into its place, the last one leaving; whether it is wanted and was not there.
#[inline(always)]
pub(super) fn insert(list: &mut [Candidate], value: f32, row: u32) -> bool {
    let last = list.len() - 1;
    // Not a number is wanted nowhere.
    if !(value < list[last].value) || list.iter().any(|known| known.tag >> 1 == row) {
        return false;
    }
    let mut at = last;
    while at > 0 && list[at - 1].value > value {
        list[at] = list[at - 1];
        at -= 1;
    }
    list[at] = Candidate { value, tag: 2 * row + 1 };
    true
}

/// The lists of all rows, by position.
#[derive(Debug)]
pub(super) struct Lists {
    pub width: usize,
    pub entries: Vec<Candidate>,
}

impl Lists {
    pub fn empty(rows: usize, width: usize) -> Lists {
        Lists { width, entries: vec![NOBODY; rows * width] }
    }

    #[inline(always)]
    pub fn of(&self, position: usize) -> &[Candidate] {
        &self.entries[position * self.width..(position + 1) * self.width]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.entries.len() / self.width
    }

    /// Take in what the leaves of one more random partition show.
    pub fn meet<C: Closeness>(self, closeness: &C, leaf: usize, seed: u64, ctx: &Ctx) -> Result<Lists> {
        let order = partition(closeness, leaf, seed, ctx)?;
        let mut sorted = self.gathered(&order);
        sorted.meet_in_leaves(closeness, &order, leaf, ctx)?;
        Ok(sorted.gathered(&inverse(&order)))
    }

    /// Compare the rows of each leaf; list `i` is that of row `order[i]`.
    pub fn meet_in_leaves<C: Closeness>(
        &mut self,
        closeness: &C,
        order: &[u32],
        leaf: usize,
        ctx: &Ctx,
    ) -> Result<()> {
        let (width, mut rest) = (self.width, &mut self.entries[..]);
        let mut tasks = Vec::new();
        for range in leaves(order.len(), leaf) {
            let (lists, after) = rest.split_at_mut(range.len() * width);
            tasks.push((&order[range], lists));
            rest = after;
        }
        let arch = Arch::new();
        tasks.into_par_iter().with_max_len(1).try_for_each_init(Desk::default, |desk, (rows, lists)| {
            ctx.check()?;
            closeness.compare(rows, rows.len(), desk, |place, values| {
                let list = &mut lists[place * width..(place + 1) * width];
                arch.dispatch(MeetAll { list, rows, place, values });
            });
            ctx.advance(rows.len());
            Ok(())
        })
    }

    /// List `i` becomes that of `order[i]`.
    fn gathered(&self, order: &[u32]) -> Lists {
        let mut gathered = Lists { width: self.width, entries: vec![NOBODY; self.entries.len()] };
        let tasks = gathered.entries.par_chunks_mut(ROWS * self.width).zip(order.par_chunks(ROWS));
        tasks.for_each(|(lists, order)| {
            for (list, &position) in lists.chunks_exact_mut(self.width).zip(order) {
                list.copy_from_slice(self.of(position as usize));
            }
        });
        gathered
    }
}

/// A row is offered everybody of its leaf but itself. A type and not a closure: see `walk`.
struct MeetAll<'a> {
    list: &'a mut [Candidate],
    rows: &'a [u32],
    place: usize,
    values: &'a [f32],
}

impl NullaryFnOnce for MeetAll<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        const RUN: usize = 32;
        let last = self.list.len() - 1;
        for (run, near) in self.values.chunks(RUN).enumerate() {
            let limit = self.list[last].value;
            if !near.iter().fold(false, |any, &value| any | (value < limit)) {
                continue;
            }
            for (at, &value) in (run * RUN..).zip(near) {
                if value < self.list[last].value && at != self.place {
                    insert(self.list, value, self.rows[at]);
                }
            }
        }
    }
}
