//! Ranks of given rows, counted from the tiles of `gemm`.
//!
//! Place in the dataflow: beside the candidates of `gemm`, from the same products. The rank of
//! row j from row i is one more than the number of rows nearer to i, by (distance, index). Every
//! estimate has a bound on its error: pairs surely nearer than j are counted by vector
//! comparisons, pairs that the bounds leave open are evaluated exactly, so the ranks are the
//! exact ones. Cost: two comparisons per pair and wanted row, a few exact evaluations per rank.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::brute::{Dense, Pairs};
use super::gemm_bounds::{Frame, Prepared, Real};
use super::measure::{Entry, Measure};

/// Rows whose ranks are wanted, as many for each query.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Queries × `count`.
    pub rows: &'a [u32],
    /// Of each query.
    pub count: usize,
    /// The row that each query is; `None` when query i is row i.
    pub own: Option<&'a [u32]>,
}

impl Wanted<'_> {
    /// The row that a query is.
    pub fn own(&self, query: usize) -> usize {
        self.own.map_or(query, |rows| rows[query] as usize)
    }
}

/// What a block of queries counts, one wanted row after the other.
struct CountBlock<T> {
    /// Below this an upper bound is surely nearer.
    surely: Vec<T>,
    /// Above this a lower bound is surely not nearer.
    perhaps: Vec<T>,
    nearer: Vec<u32>,
}

/// Counts of the rows nearer than wanted ones.
pub(super) struct Counter<'a, T, M> {
    pairs: &'a Dense<'a, M>,
    wanted: Wanted<'a>,
    /// Reduced distances of the wanted rows, queries × count.
    reduced: Vec<f64>,
    blocks: Vec<Mutex<CountBlock<T>>>,
    height: usize,
}

impl<'a, T: Real, M: Measure> Counter<'a, T, M> {
    /// Counts at zero for blocks of queries.
    pub fn new(pairs: &'a Dense<'a, M>, wanted: Wanted<'a>, frame: &Frame, blocks: &[Range<usize>]) -> Self {
        let count = wanted.count;
        let mut reduced = vec![0.0; wanted.rows.len()];
        reduced.par_chunks_mut(count.max(1)).enumerate().for_each(|(query, reduced)| {
            let rows = &wanted.rows[query * count..(query + 1) * count];
            Arch::new().dispatch(Thresholds { pairs, query, rows, reduced });
        });
        let block = |range: &Range<usize>| {
            let square = |m: usize, query: usize| frame.squared(reduced[query * count + m]);
            let each = |of: &dyn Fn(f64) -> f64| -> Vec<T> {
                let places = (0..count).flat_map(|m| range.clone().map(move |query| (m, query)));
                places.map(|(m, query)| T::of(of(square(m, query)))).collect()
            };
            Mutex::new(CountBlock {
                // Rounded away from the threshold, as sums of bounds may be towards it.
                surely: each(&|square| square * (1.0 - 8.0 * T::UNIT) - T::FLOOR),
                perhaps: each(&|square| square * (1.0 + 8.0 * T::UNIT) + T::FLOOR),
                nearer: vec![0; count * range.len()],
            })
        };
        let blocks_of = blocks.iter().map(block).collect();
        let height = blocks.first().map_or(1, |range| range.len().max(1));
        Counter { pairs, wanted, reduced, blocks: blocks_of, height }
    }

    /// Count a tile of dot products for its rows and, mirrored, its columns.
    pub fn read(
        &self,
        tile: &mut [T],
        (i, tall): (usize, &Range<usize>),
        (j, wide): (usize, &Range<usize>),
        (left, right): (&Prepared<T>, &Prepared<T>),
        mirror: bool,
    ) {
        for query in tall.clone() {
            let own = self.wanted.own(query);
            if wide.contains(&own) {
                // Infinitely far: a row is not among the others.
                tile[(query - tall.start) * wide.len() + own - wide.start] = T::of(f64::NEG_INFINITY);
            }
        }
        let mut upper = lock(&self.blocks[i]);
        // Tiles above the diagonal only: the locks have one order.
        let mut lower = (mirror && i != j).then(|| lock(&self.blocks[j]));
        let lower = lower.as_deref_mut();
        Arch::new().dispatch(Count {
            counter: self,
            tile,
            tall,
            wide,
            left,
            right,
            upper: &mut upper,
            lower,
        });
    }

    /// The ranks, queries × count, from 1 on.
    pub fn ranks(self) -> Vec<u32> {
        let count = self.wanted.count;
        let mut ranks = vec![0; self.wanted.rows.len()];
        for (at, block) in self.blocks.into_iter().enumerate() {
            let block = block.into_inner().unwrap_or_else(|held| held.into_inner());
            let rows = block.nearer.len() / count.max(1);
            for (place, nearer) in block.nearer.iter().enumerate() {
                let (m, row) = (place / rows.max(1), place % rows.max(1));
                ranks[(at * self.height + row) * count + m] = nearer + 1;
            }
        }
        ranks
    }

    /// Whether `other` comes before the m-th wanted row of a query, exactly.
    #[inline(never)]
    fn is_nearer(&self, query: usize, other: usize, m: usize) -> bool {
        if self.wanted.own(query) == other {
            return false;
        }
        let place = query * self.wanted.count + m;
        let mut reduced = [0.0];
        let rows = &[other as u32];
        Arch::new().dispatch(Thresholds { pairs: self.pairs, query, rows, reduced: &mut reduced });
        let entry = Entry { reduced: reduced[0], index: other as u32 };
        self.pairs
            .measure
            .before(entry, Entry { reduced: self.reduced[place], index: self.wanted.rows[place] })
    }
}

fn lock<T>(block: &Mutex<T>) -> MutexGuard<'_, T> {
    block.lock().unwrap_or_else(|held| held.into_inner())
}

/// Exact reduced distances from a query to some rows. A type and not a closure: see `walk`.
struct Thresholds<'a, M> {
    pairs: &'a Dense<'a, M>,
    query: usize,
    rows: &'a [u32],
    reduced: &'a mut [f64],
}

impl<M: Measure> NullaryFnOnce for Thresholds<'_, M> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (reduced, &row) in self.reduced.iter_mut().zip(self.rows) {
            *reduced = self.pairs.reduced(self.query, row as usize);
        }
    }
}

/// A tile to be counted. A type and not a closure: see `walk`.
struct Count<'a, T, M> {
    counter: &'a Counter<'a, T, M>,
    tile: &'a [T],
    tall: &'a Range<usize>,
    wide: &'a Range<usize>,
    left: &'a Prepared<T>,
    right: &'a Prepared<T>,
    upper: &'a mut CountBlock<T>,
    lower: Option<&'a mut CountBlock<T>>,
}

impl<T: Real, M: Measure> NullaryFnOnce for Count<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let (height, width, count) = (self.tall.len(), self.wide.len(), self.counter.wanted.count);
        let (bases, slacks) = (&self.right.base[self.wide.clone()], &self.right.slack[self.wide.clone()]);
        let (mut low, mut high) = (vec![T::default(); width], vec![T::default(); width]);
        for (row, dots) in self.tile.chunks_exact(width).enumerate() {
            let query = self.tall.start + row;
            let (base, slack) = (self.left.base[query], self.left.slack[query]);
            for c in 0..width {
                low[c] = base + (bases[c] - (dots[c] + dots[c]));
                high[c] = low[c] + (slack + slacks[c]);
            }
            for m in 0..count {
                let place = m * height + row;
                let (surely, perhaps) = (self.upper.surely[place], self.upper.perhaps[place]);
                let (mut sure, mut open) = (0u32, 0u32);
                for c in 0..width {
                    sure += u32::from(high[c] < surely);
                    open += u32::from(!(low[c] > perhaps));
                }
                if open != sure {
                    for c in (0..width).filter(|&c| !(low[c] > perhaps) && !(high[c] < surely)) {
                        sure += u32::from(self.counter.is_nearer(query, self.wide.start + c, m));
                    }
                }
                self.upper.nearer[place] += sure;
            }
            if let Some(lower) = self.lower.as_deref_mut() {
                count_columns(self.counter, lower, (&low, &high), query, self.wide.start);
            }
        }
    }
}

/// The same pairs seen from the columns.
#[inline(always)]
fn count_columns<T: Real, M: Measure>(
    counter: &Counter<'_, T, M>,
    block: &mut CountBlock<T>,
    (low, high): (&[T], &[T]),
    query: usize,
    first: usize,
) {
    let width = low.len();
    let high = &high[..width];
    for m in 0..counter.wanted.count {
        let range = m * width..(m + 1) * width;
        let (surely, perhaps) = (&block.surely[range.clone()], &block.perhaps[range.clone()]);
        let nearer = &mut block.nearer[range];
        let mut open = 0u32;
        for c in 0..width {
            let sure = u32::from(high[c] < surely[c]);
            nearer[c] += sure;
            open += u32::from(!(low[c] > perhaps[c])).wrapping_sub(sure);
        }
        if open > 0 {
            for c in (0..width).filter(|&c| !(low[c] > perhaps[c]) && !(high[c] < surely[c])) {
                nearer[c] += u32::from(counter.is_nearer(first + c, query, m));
            }
        }
    }
}
