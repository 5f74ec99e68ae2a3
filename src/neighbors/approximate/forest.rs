//! Random partitions of rows into leaves of equal size.
//!
//! Place in the dataflow: the start of an approximate search. A set of rows is halved at
//! the median of its inner products with the difference of two of its rows, ties by
//! position, until it is a leaf: directions follow the data, and which rows meet depends
//! on the seed alone (Dasgupta and Freund, Random projection trees, 2008).
//! Cost: O(n D log n) for each partition.

use std::ops::Range;

use rayon::prelude::*;

use super::closeness::Closeness;
use super::mixed;
use crate::context::Ctx;
use crate::error::Result;

/// Rows of one task of a large set.
const CHUNK: usize = 4096;

/// All positions, those of a leaf side by side; the leaves are those of [`leaves`].
pub(super) fn partition<C: Closeness>(closeness: &C, leaf: usize, seed: u64, ctx: &Ctx) -> Result<Vec<u32>> {
    let mut rows: Vec<u32> = (0..closeness.len() as u32).collect();
    halve(closeness, &mut rows, leaf, seed, ctx)?;
    Ok(rows)
}

/// The places of each leaf of at most `most` rows.
pub(super) fn leaves(rows: usize, most: usize) -> Vec<Range<usize>> {
    let mut found = Vec::with_capacity(2 * rows.div_ceil(most));
    let mut waiting: Vec<Range<usize>> = std::iter::once(0..rows).collect();
    while let Some(range) = waiting.pop() {
        if range.len() <= most {
            found.push(range);
        } else {
            let middle = range.start + range.len() / 2;
            waiting.push(middle..range.end);
            waiting.push(range.start..middle);
        }
    }
    found
}

fn halve<C: Closeness>(closeness: &C, rows: &mut [u32], leaf: usize, seed: u64, ctx: &Ctx) -> Result<()> {
    ctx.check()?;
    if rows.len() <= leaf {
        return Ok(());
    }
    let middle = rows.len() / 2;
    {
        let ends = ends(rows, seed);
        let mut projected = vec![(0.0, 0); rows.len()];
        let tasks = projected.par_chunks_mut(CHUNK).zip(rows.par_chunks(CHUNK));
        tasks.try_for_each(|(projected, rows)| {
            ctx.check()?;
            closeness.project(ends, rows, projected);
            Ok(())
        })?;
        projected.select_nth_unstable_by(middle, |left, right| {
            left.0.total_cmp(&right.0).then(left.1.cmp(&right.1))
        });
        rows.iter_mut().zip(&projected).for_each(|(row, projected)| *row = projected.1);
    }
    let (near, far) = rows.split_at_mut(middle);
    let (near, far) = rayon::join(
        || halve(closeness, near, leaf, mixed(seed, 1), ctx),
        || halve(closeness, far, leaf, mixed(seed, 2), ctx),
    );
    near.and(far)
}

/// Two different rows of a set.
fn ends(rows: &[u32], seed: u64) -> (u32, u32) {
    let count = rows.len() as u64;
    let first = mixed(seed, 3) % count;
    let second = (first + 1 + mixed(seed, 4) % (count - 1)) % count;
    (rows[first as usize], rows[second as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_all_rows_in_order() {
        for (rows, most) in [(1, 4), (4, 4), (5, 4), (1000, 64), (1023, 7)] {
            let found = leaves(rows, most);
            assert!(found.iter().all(|range| range.len() <= most && 2 * range.len() + 1 >= most.min(rows)));
            let ends: Vec<usize> = found.iter().map(|range| range.end).collect();
            assert_eq!(
                found.iter().map(|range| range.start).skip(1).collect::<Vec<_>>(),
                ends[..ends.len() - 1]
            );
            assert_eq!((found[0].start, ends[ends.len() - 1]), (0, rows));
        }
    }
}
