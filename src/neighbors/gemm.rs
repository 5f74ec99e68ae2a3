//! Exact neighbours in many dimensions by matrix products.
//!
//! Place in the dataflow: the engine of `Index` for dense rows, squares and
//! too many dimensions for a tree. Tiles of pairs are estimated by a matrix
//! product (`gemm_bounds`); for all rows against themselves each tile is computed
//! once and read in both directions. A row keeps every candidate whose lower
//! bound does not exceed the k-th smallest upper bound it has seen, so no
//! neighbour is ever lost; candidates are then evaluated exactly, as in
//! `brute`. When too many cannot be separated by estimates (equal or nearly
//! equal rows) they are evaluated on the way, so memory stays O(n k).
//!
//! Which thread meets which tile when changes what is evaluated, not what is
//! found: the result is the exact one. Cost: n² D multiplications (half of 2 n²
//! D), O(n k) exact evaluations, 4 n D bytes more in f32.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::brute::{Allow, Dense, Pairs};
use super::collect::{Keep, Kept};
use super::gemm_bounds::{Frame, Prepared, Real};
use super::gemm_candidates::{RUN, Run, each_flag};
use super::gemm_precision::single_is_enough;
use super::gemm_ranks::{Counter, Wanted};
use super::measure::{Entry, Measure};
use super::table::{Budget, Part, concatenate};
use super::{NeighborRule, Neighbors};
use crate::context::Ctx;
use crate::error::Result;

/// One query: its candidates, what was already evaluated, and what to ask of
/// a lower bound to become a candidate.
struct Row<T, M> {
    waiting: Vec<(T, u32)>,
    kept: Kept<M>,
    limit: T,
}

/// Consecutive queries that one thread updates at a time.
struct Block<T, M> {
    rows: Vec<Row<T, M>>,
    /// `limit - base` of each row: what `base[other] - 2 dot` must not exceed.
    room: Vec<T>,
}

/// Everything a tile needs to know.
struct Job<'a, T, M, A> {
    pairs: &'a Dense<'a, M>,
    left: &'a Prepared<T>,
    right: &'a Prepared<T>,
    frame: &'a Frame,
    rule: NeighborRule,
    allow: A,
    /// Candidates a row may hold.
    cap: usize,
}

/// Neighbours of all queries among the rows allowed to them; `None` when the
/// rows cannot be brought into a frame (the caller takes the direct way).
///
/// `mirror`: queries and rows are the same and each tile serves both ways.
pub(super) fn search<M: Measure>(
    pairs: &Dense<M>,
    rule: NeighborRule,
    mirror: bool,
    allow: impl Allow,
    ctx: &Ctx,
) -> Result<Option<Neighbors>> {
    Ok(search_and_rank(pairs, rule, mirror, allow, None, ctx)?.map(|(table, _)| table))
}

/// The same with the ranks of the wanted rows, counted from the same tiles.
pub(super) fn search_and_rank<M: Measure>(
    pairs: &Dense<M>,
    rule: NeighborRule,
    mirror: bool,
    allow: impl Allow,
    wanted: Option<Wanted<'_>>,
    ctx: &Ctx,
) -> Result<Option<(Neighbors, Vec<u32>)>> {
    let Some(frame) = Frame::of(pairs.rows, pairs.dims) else { return Ok(None) };
    let bytes = (pairs.rows.len() + pairs.queries.len()) as u64 * 4;
    ctx.reserve(bytes, "the rows prepared for matrix products", "use fewer rows or reduce their dimension")?;
    let table = if single_is_enough(pairs, rule) {
        run::<f32, M>(pairs, &frame, rule, mirror, allow, wanted, ctx)?
    } else {
        run::<f64, M>(pairs, &frame, rule, mirror, allow, wanted, ctx)?
    };
    Ok(Some(table))
}

fn run<T: Real, M: Measure>(
    pairs: &Dense<M>,
    frame: &Frame,
    rule: NeighborRule,
    mirror: bool,
    allow: impl Allow,
    wanted: Option<Wanted<'_>>,
    ctx: &Ctx,
) -> Result<(Neighbors, Vec<u32>)> {
    let budget = Budget::new(pairs.queries(), rule, ctx)?;
    let right = Prepared::<T>::new(pairs.rows, pairs.dims, frame);
    let apart = (!mirror).then(|| Prepared::<T>::new(pairs.queries, pairs.dims, frame));
    let cap = match rule {
        NeighborRule::Nearest(k) => 2 * k + 32,
        NeighborRule::Within(_) => 64,
    };
    let job = Job { pairs, left: apart.as_ref().unwrap_or(&right), right: &right, frame, rule, allow, cap };
    let size = tile_size(pairs.dims);
    let height = if mirror { size } else { size.min(pairs.queries().div_ceil(16).max(16)) };
    let (tall, wide) = (ranges(pairs.queries(), height), ranges(pairs.rows(), size));
    let blocks: Vec<Mutex<Block<T, M>>> = tall.iter().map(|rows| Mutex::new(job.block(rows))).collect();
    let tiles: Vec<(usize, usize)> =
        (0..tall.len()).flat_map(|i| (if mirror { i } else { 0 }..wide.len()).map(move |j| (i, j))).collect();
    let counter = wanted.map(|wanted| Counter::<T, M>::new(pairs, wanted, frame, &tall));
    ctx.stage("neighbours", tiles.len() * height);
    tiles.into_par_iter().with_max_len(1).try_for_each_init(
        || vec![T::default(); height * size],
        |tile, (i, j)| {
            ctx.check()?;
            let tile = &mut tile[..tall[i].len() * wide[j].len()];
            job.left.dots(&tall[i], &right, &wide[j], tile);
            if let Some(counter) = &counter {
                counter.read(tile, (i, &tall[i]), (j, &wide[j]), (job.left, &right), mirror);
            }
            let grown = {
                let mut upper = lock(&blocks[i]);
                // Tiles above the diagonal only: the locks have one order.
                let mut lower = (mirror && i != j).then(|| lock(&blocks[j]));
                let lower = lower.as_deref_mut();
                Arch::new().dispatch(Read {
                    job: &job,
                    tile,
                    tall: &tall[i],
                    wide: &wide[j],
                    upper: &mut upper,
                    lower,
                })
            };
            budget.take(grown, ctx)?;
            ctx.advance(height);
            Ok(())
        },
    )?;
    let parts = blocks.into_par_iter().zip(&tall).map(|(block, range)| {
        let mut part = Part::default();
        let block = block.into_inner().unwrap_or_else(|held| held.into_inner());
        for (query, mut row) in range.clone().zip(block.rows) {
            ctx.check()?;
            job.thin(&mut row, query, true);
            part.push(pairs.measure, &mut row.kept);
        }
        Ok(part)
    });
    let table = concatenate(parts.collect::<Result<Vec<Part>>>()?);
    Ok((table, counter.map_or_else(Vec::new, Counter::ranks)))
}

/// Rows of a tile: a matrix product of a few milliseconds, within cache. A
/// multiple of 48, which the kernels' register blocks divide.
fn tile_size(dims: usize) -> usize {
    let rows = (1e8 / dims.max(1) as f64).sqrt() as usize;
    (rows / 48 * 48).clamp(48, 336)
}

fn ranges(count: usize, size: usize) -> Vec<Range<usize>> {
    (0..count).step_by(size).map(|first| first..(first + size).min(count)).collect()
}

fn lock<T>(block: &Mutex<T>) -> MutexGuard<'_, T> {
    block.lock().unwrap_or_else(|held| held.into_inner())
}

/// A tile to be read. A type and not a closure: see `walk`.
struct Read<'a, T, M, A> {
    job: &'a Job<'a, T, M, A>,
    tile: &'a [T],
    tall: &'a Range<usize>,
    wide: &'a Range<usize>,
    upper: &'a mut Block<T, M>,
    lower: Option<&'a mut Block<T, M>>,
}

impl<T: Real, M: Measure, A: Allow> NullaryFnOnce for Read<'_, T, M, A> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        self.job.read(self.tile, self.tall, self.wide, self.upper, self.lower)
    }
}

/// Candidates to be evaluated exactly. A type and not a closure: see `walk`.
struct Evaluate<'a, T, M> {
    pairs: &'a Dense<'a, M>,
    query: usize,
    row: &'a mut Row<T, M>,
}

impl<T: Real, M: Measure> NullaryFnOnce for Evaluate<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for &(_, other) in &self.row.waiting {
            let reduced = self.pairs.reduced(self.query, other as usize);
            if !(reduced > self.row.kept.limit()) {
                self.row.kept.offer(Entry { reduced, index: other });
            }
        }
        self.row.waiting.clear();
    }
}

impl<T: Real, M: Measure, A: Allow> Job<'_, T, M, A> {
    fn block(&self, queries: &Range<usize>) -> Block<T, M> {
        let limit = match self.rule {
            NeighborRule::Nearest(_) => T::INFINITY,
            NeighborRule::Within(radius) => self.limit_of(self.pairs.measure.ceiling_of_distance(radius)),
        };
        let row = |_| Row { waiting: Vec::new(), kept: Kept::new(self.pairs.measure, self.rule), limit };
        let room = queries.clone().map(|query| room(limit, self.left.base[query])).collect();
        Block { rows: queries.clone().map(row).collect(), room }
    }

    /// A reduced limit in the units of the estimates, rounded up.
    fn limit_of(&self, reduced: f64) -> T {
        T::of(self.frame.squared(reduced) * (1.0 + 4.0 * T::UNIT) + T::FLOOR)
    }

    /// Take the candidates of a tile for its rows and, mirrored, its columns.
    /// Returns how many entries were added to what is kept.
    #[inline(always)]
    fn read(
        &self,
        tile: &[T],
        tall: &Range<usize>,
        wide: &Range<usize>,
        upper: &mut Block<T, M>,
        mut lower: Option<&mut Block<T, M>>,
    ) -> usize {
        let mut grown = 0;
        let bases = &self.right.base[wide.clone()];
        for (i, dots) in tile.chunks_exact(wide.len()).enumerate() {
            let query = tall.start + i;
            let base = self.left.base[query];
            for start in (0..wide.len()).step_by(RUN) {
                let end = (start + RUN).min(wide.len());
                let run = Run { dots: &dots[start..end], base, bases: &bases[start..end] };
                if let Some(lower) = lower.as_deref_mut() {
                    each_flag(run.for_columns(&lower.room[start..end]), |lane| {
                        let (slot, column) = (start + lane, wide.start + start + lane);
                        grown +=
                            self.offer(lower, slot, column, query, run.bases[lane], base, run.dots[lane]);
                    });
                }
                each_flag(run.for_row(upper.room[i]), |lane| {
                    let column = wide.start + start + lane;
                    grown += self.offer(upper, i, query, column, base, run.bases[lane], run.dots[lane]);
                });
            }
        }
        grown
    }

    /// A pair whose lower bound is within the query's limit.
    #[inline(never)]
    fn offer(
        &self,
        block: &mut Block<T, M>,
        slot: usize,
        query: usize,
        other: usize,
        base: T,
        other_base: T,
        dot: T,
    ) -> usize {
        let row = &mut block.rows[slot];
        let low = other_base - (dot + dot);
        if low > block.room[slot] || !(self.allow)(query, other) {
            return 0;
        }
        row.waiting.push((base + low, other as u32));
        if row.waiting.len() < self.cap {
            return 0;
        }
        let held = row.kept.len();
        self.thin(row, query, false);
        block.room[slot] = room(row.limit, base);
        row.kept.len().saturating_sub(held)
    }

    /// Drop candidates that k others surely beat; evaluate the rest if they
    /// are still too many, or at last.
    fn thin(&self, row: &mut Row<T, M>, query: usize, at_last: bool) {
        if let NeighborRule::Nearest(k) = self.rule
            && k > 0
            && row.waiting.len() > k
        {
            let (own, slack) = (self.left.slack[query], &self.right.slack);
            let upper = |&(low, other): &(T, u32)| (low + own + slack[other as usize]).wide();
            let mut uppers: Vec<f64> = row.waiting.iter().map(upper).collect();
            uppers.iter_mut().filter(|upper| upper.is_nan()).for_each(|upper| *upper = f64::INFINITY);
            let (_, &mut edge, _) = uppers.select_nth_unstable_by(k - 1, f64::total_cmp);
            let edge = T::of((edge + T::FLOOR) * (1.0 + 8.0 * T::UNIT));
            row.limit = if edge < row.limit { edge } else { row.limit };
            let limit = row.limit;
            row.waiting.retain(|&(low, _)| !(low > limit));
        }
        if at_last || row.waiting.len() > self.cap / 2 {
            Arch::new().dispatch(Evaluate { pairs: self.pairs, query, row });
            let limit = self.limit_of(row.kept.limit());
            row.limit = if limit < row.limit { limit } else { row.limit };
        }
    }
}

/// What `base[other] - 2 dot` must not exceed; everything may pass for a query
/// so far out that its norm overflows `T`.
fn room<T: Real>(limit: T, base: T) -> T {
    if base < T::INFINITY { limit - base } else { T::INFINITY }
}
