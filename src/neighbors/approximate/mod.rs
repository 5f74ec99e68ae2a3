//! Approximate nearest neighbours of all rows, for data too large and too wide for the
//! exact engines.
//!
//! Place in the dataflow: an engine of `Index`, when asked for. The rows of the leaves of a
//! few random partitions (`forest`) are compared by blocked products (`closeness`) and each
//! row keeps the nearest (`candidates`); rounds of nearest-neighbour descent (`descent`)
//! improve the lists; at last the candidates are measured like in the exact engines, so
//! that a distance has the same bits whoever found the pair. How much is found is measured
//! on a sample of rows that are searched exactly (`recall`): it decides when the rounds may
//! end, and a recall below 0.95 is told.
//!
//! All randomness is a hash of the seed, every row writes a list of its own: the same bits
//! for any number of threads. Cost: O(n D (log n + leaf)) for each partition, O(n h² D)
//! for a round, O(s n D) for a sample of s rows; about 4 n D + n (32 k + 400) bytes.

mod candidates;
mod closeness;
mod descent;
mod forest;
mod recall;
#[cfg(test)]
mod tests;

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use self::candidates::{Lists, MOST_ROWS, ROWS};
use self::closeness::{Closeness, Measured, Single};
use self::recall::Sample;
use super::brute::{Dense, Pairs};
use super::collect::{Keep, Kept};
use super::gemm_bounds::Frame;
use super::gemm_precision::single_is_enough;
use super::index::dense_pairs;
use super::measure::{Entry, Measure};
use super::metric::{settled, with_measure};
use super::table::{Budget, Part, permute};
use super::{Index, Metric, NeighborRule, Neighbors};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::random::below;

/// Fewer rows than this are soon compared exactly.
const FEW_ROWS: usize = 4096;

/// Random partitions.
const PARTITIONS: usize = 6;

/// Rounds after which nothing much will come.
const MOST_ROUNDS: usize = 12;

/// Rounds that are to be expected.
const LIKELY_ROUNDS: usize = 4;

/// Recall of the sample that is good enough, and changes per neighbour that are too few.
const ENOUGH: f64 = 0.975;
const SETTLED: f64 = 0.001;

impl Index {
    /// Nearly all of the nearest, if that was asked for and takes less than all of them.
    pub(super) fn approximately(&self, rule: NeighborRule, ctx: &Ctx) -> Option<Result<Neighbors>> {
        let NeighborRule::Nearest(k) = rule else { return None };
        let wanted = self.approximate && self.tree.is_none() && pays(self.len(), k);
        let rows = self.dense().filter(|rows| wanted && rows.ncols() > 0)?;
        let squares = settled(self.metric) == Metric::Euclidean || self.metric.ignores_scale();
        Some(ctx.install(|| {
            with_measure!(self.metric, measure => search(&dense_pairs(measure, rows, rows), k, squares, ctx))
        }))
    }
}

/// Whether so many neighbours of so many rows are worth an approximate search.
fn pays(rows: usize, k: usize) -> bool {
    k > 0 && (FEW_ROWS..MOST_ROWS).contains(&rows) && k <= rows / 32
}

/// Candidates kept for k neighbours: a few more than there must be, for the descent to
/// go on from.
fn width(k: usize) -> usize {
    k + k / 4 + 4
}

/// The k nearest others of all rows, or nearly; `squares` when the measure is one of squares.
fn search<M: Measure>(pairs: &Dense<M>, k: usize, squares: bool, ctx: &Ctx) -> Result<Neighbors> {
    let rows = pairs.counts.1;
    reserve(rows, pairs.dims, k, ctx)?;
    let sample = Sample::new(pairs, k, squares, ctx)?;
    let frame = Frame::of(pairs.rows, pairs.dims);
    let rule = NeighborRule::Nearest(k);
    let table = match &frame {
        Some(frame) if squares && single_is_enough(pairs, rule) => {
            let single = |order: Option<&[u32]>| Single::new(pairs.rows, pairs.dims, frame, order);
            let (order, leaf) = first_order(&single(None), k, ctx)?;
            let lists = improved(&single(Some(&order)), leaf, &order, &sample, k, pairs, ctx)?;
            exact(pairs, &lists, &order, k, ctx)?
        }
        _ => {
            let per_unit = frame.as_ref().map_or(1.0, |frame| 1.0 / frame.back());
            let measured = |order| Measured { pairs: Dense { ..*pairs }, order, per_unit };
            let (order, leaf) = first_order(&measured(None), k, ctx)?;
            let lists = improved(&measured(Some(&order)), leaf, &order, &sample, k, pairs, ctx)?;
            exact(pairs, &lists, &order, k, ctx)?
        }
    };
    sample.tell(&table, ctx);
    Ok(table)
}

fn reserve(rows: usize, dims: usize, k: usize, ctx: &Ctx) -> Result<()> {
    // Rows in single precision, twice while they are put in order; lists of two rounds,
    // hops and who names whom.
    let (rows, dims, width) = (rows as u64, dims as u64, width(k) as u64);
    let row = dims.saturating_mul(8).saturating_add(width.saturating_mul(16 + 4)).saturating_add(240);
    let notes = descent::notes_of_a_block(rows as usize);
    let need = rows.saturating_mul(row).saturating_add(notes);
    let hint = "use fewer rows or reduce their dimension";
    ctx.reserve(need, "the candidates of an approximate search", hint)?;
    Budget::new(rows as usize, NeighborRule::Nearest(k), ctx).map(|_| ())
}

/// An order of the rows in which near ones are near: that of a first partition. Also the
/// most rows of its leaves.
fn first_order<C: Closeness>(closeness: &C, k: usize, ctx: &Ctx) -> Result<(Vec<u32>, usize)> {
    let leaf = closeness.leaf_rows().max(4 * width(k));
    let seed = below(&mut ctx.stream("approximate neighbours: order"), usize::MAX) as u64;
    Ok((forest::partition(closeness, leaf, seed, ctx)?, leaf))
}

/// Candidates of all rows, by position.
fn improved<C: Closeness, M: Measure>(
    closeness: &C,
    leaf: usize,
    order: &[u32],
    sample: &Sample,
    k: usize,
    pairs: &Dense<M>,
    ctx: &Ctx,
) -> Result<Lists> {
    let rows = closeness.len();
    let mut stream = ctx.stream("approximate neighbours");
    let mut seed = || below(&mut stream, usize::MAX) as u64;
    ctx.stage("approximate neighbours", rows * (PARTITIONS + LIKELY_ROUNDS));
    let mut lists = Lists::empty(rows, width(k));
    let positions: Vec<u32> = (0..rows as u32).collect();
    lists.meet_in_leaves(closeness, &positions, leaf, ctx)?;
    let positions = inverse(order);
    for _ in 1..PARTITIONS {
        lists = lists.meet(closeness, leaf, seed(), ctx)?;
    }
    for round in 0..MOST_ROUNDS {
        if round > LIKELY_ROUNDS {
            ctx.expect(rows * (PARTITIONS + round));
        }
        let changes = descent::round(closeness, &mut lists, seed(), ctx)?;
        let settled = (changes as f64) < SETTLED * (rows * k) as f64;
        if settled || sample.recall(&lists, &positions, order, pairs) >= ENOUGH {
            break;
        }
    }
    Ok(lists)
}

/// The place of each number in an order.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(place, &number)| places[number as usize] = place as u32);
    places
}

/// The k nearest of each row's candidates, by the exact measure.
fn exact<M: Measure>(
    pairs: &Dense<M>,
    lists: &Lists,
    order: &[u32],
    k: usize,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let (tasks, arch) = (order.par_chunks(ROWS).enumerate(), Arch::new());
    let parts = tasks.map(|(task, rows)| {
        ctx.check()?;
        let mut part = Part::default();
        let mut kept = Kept::new(pairs.measure, NeighborRule::Nearest(k));
        for (offset, &row) in rows.iter().enumerate() {
            kept.clear();
            let known = named(lists, task * ROWS + offset, order);
            let others = &filled(known, row, k, order.len());
            arch.dispatch(Evaluate { pairs, row: row as usize, others, kept: &mut kept });
            part.push(pairs.measure, &mut kept);
        }
        Ok(part)
    });
    let parts = parts.collect::<Result<Vec<Part>>>()?;
    Ok(permute(&parts, order))
}

/// Candidates that are measured exactly. A type and not a closure: see `walk`.
struct Evaluate<'a, M> {
    pairs: &'a Dense<'a, M>,
    row: usize,
    others: &'a [u32],
    kept: &'a mut Kept<M>,
}

impl<M: Measure> NullaryFnOnce for Evaluate<'_, M> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for &index in self.others {
            let reduced = self.pairs.reduced(self.row, index as usize);
            self.kept.offer(Entry { reduced, index });
        }
    }
}

/// The candidates of a position, as rows of the data.
fn named(lists: &Lists, position: usize, order: &[u32]) -> Vec<u32> {
    let known = lists.of(position).iter().filter(|known| known.is_somebody());
    known.map(|known| order[known.row() as usize]).collect()
}

/// At least k others: where too few have a distance that is a number, any rows.
fn filled(mut known: Vec<u32>, own: u32, k: usize, rows: usize) -> Vec<u32> {
    let mut next = 0;
    while known.len() < k && (next as usize) < rows {
        if next != own && !known.contains(&next) {
            known.push(next);
        }
        next += 1;
    }
    known
}

/// A number that follows from two others and looks like neither (SplitMix64).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
