//! How close two rows are, as cheaply as is good enough to choose candidates.
//!
//! Place in the dataflow: below `forest` and `descent`. Rows are known by their *position*
//! in an order that puts near rows near each other in memory. Squares are compared in
//! single precision ([`Single`]), whole leaves of them by matrix products; every other
//! metric, and squares that single precision cannot tell apart, by the exact engines' own
//! measure ([`Measured`]). Cost: O(D) per pair.

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::super::brute::{Dense, Pairs};
use super::super::gemm_bounds::Frame;
use super::super::measure::Measure;
use crate::linalg::gram::inner_products;

/// Rows of a leaf that are compared with the whole leaf at a time: the products stay in cache.
const STRIP: usize = 64;

/// Rows that can be compared. Values grow with the distance and serve comparisons only.
pub(super) trait Closeness: Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// The inner products of rows with the second end − the first, beside the rows.
    fn project(&self, ends: (u32, u32), rows: &[u32], projected: &mut [(f64, u32)]);

    /// Hand `see` the values of each of the first `asked` rows (by its place) to all rows.
    fn compare(&self, rows: &[u32], asked: usize, desk: &mut Desk, see: impl FnMut(usize, &[f32]));

    /// How many rows of a leaf repay comparing all of them.
    fn leaf_rows(&self) -> usize;
}

/// Room to work in, to be used again.
#[derive(Debug, Default)]
pub(super) struct Desk {
    block: Vec<f32>,
    norms: Vec<f32>,
    tile: Vec<f32>,
    mean: Vec<f32>,
}

/// Rows in single precision, squares of distances.
pub(super) struct Single {
    values: Vec<f32>,
    dims: usize,
}

impl Single {
    /// The rows in the given order (as they are with `None`), brought into the frame.
    pub fn new(rows: &[f64], dims: usize, frame: &Frame, order: Option<&[u32]>) -> Single {
        let mut values = vec![0.0; rows.len()];
        values.par_chunks_mut(dims).with_min_len(256).enumerate().for_each(|(position, values)| {
            let row = order.map_or(position, |order| order[position] as usize);
            frame.bring(&rows[row * dims..(row + 1) * dims], values);
        });
        Single { values, dims }
    }

    #[inline(always)]
    fn row(&self, position: u32) -> &[f32] {
        &self.values[position as usize * self.dims..(position as usize + 1) * self.dims]
    }
}

impl Closeness for Single {
    fn len(&self) -> usize {
        self.values.len() / self.dims
    }

    fn project(&self, (from, to): (u32, u32), rows: &[u32], projected: &mut [(f64, u32)]) {
        let direction: Vec<f32> =
            self.row(to).iter().zip(self.row(from)).map(|(to, from)| to - from).collect();
        Arch::new().dispatch(Project { rows: self, direction: &direction, chosen: rows, projected });
    }

    fn compare(&self, rows: &[u32], asked: usize, desk: &mut Desk, mut see: impl FnMut(usize, &[f32])) {
        let (count, dims) = (rows.len(), self.dims);
        Arch::new().dispatch(Lay { rows: self, chosen: rows, desk });
        desk.tile.resize(STRIP.min(asked) * count, 0.0);
        for first in (0..asked).step_by(STRIP) {
            let last = (first + STRIP).min(asked);
            let tile = &mut desk.tile[..(last - first) * count];
            inner_products(&desk.block[first * dims..last * dims], &desk.block, dims, tile);
            for (place, values) in (first..last).zip(tile.chunks_exact_mut(count)) {
                Arch::new().dispatch(Squares { own: desk.norms[place], norms: &desk.norms, values });
                see(place, values);
            }
        }
    }

    fn leaf_rows(&self) -> usize {
        1024
    }
}

/// Rows side by side less their mean, which would cost products their digits, and their
/// norms. A type and not a closure: see `walk`.
struct Lay<'a> {
    rows: &'a Single,
    chosen: &'a [u32],
    desk: &'a mut Desk,
}

impl NullaryFnOnce for Lay<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (dims, Desk { block, norms, mean, .. }) = (self.rows.dims, self.desk);
        block.clear();
        mean.clear();
        mean.resize(dims, 0.0);
        for &row in self.chosen {
            let values = self.rows.row(row);
            block.extend_from_slice(values);
            mean.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        let share = 1.0 / self.chosen.len() as f32;
        mean.iter_mut().for_each(|sum| *sum *= share);
        norms.clear();
        for row in block.chunks_exact_mut(dims) {
            row.iter_mut().zip(&*mean).for_each(|(value, mean)| *value -= mean);
            norms.push(sum_by_lanes(row, row, |a, b| a * b));
        }
    }
}

/// Squares from inner products. A type and not a closure: see `walk`.
struct Squares<'a> {
    own: f32,
    norms: &'a [f32],
    values: &'a mut [f32],
}

impl NullaryFnOnce for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (value, norm) in self.values.iter_mut().zip(self.norms) {
            *value = (self.own + *norm) - (*value + *value);
        }
    }
}

/// Inner products of scattered rows with one direction. A type and not a closure: see `walk`.
struct Project<'a> {
    rows: &'a Single,
    direction: &'a [f32],
    chosen: &'a [u32],
    projected: &'a mut [(f64, u32)],
}

impl NullaryFnOnce for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (out, &row) in self.projected.iter_mut().zip(self.chosen) {
            *out = (f64::from(sum_by_lanes(self.rows.row(row), self.direction, |a, b| a * b)), row);
        }
    }
}

/// The sum of a term over two rows, in lanes that a compiler can keep in registers.
#[inline(always)]
fn sum_by_lanes(left: &[f32], right: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    const LANES: usize = 32;
    let (mut lanes, mut sum) = ([0.0f32; LANES], 0.0);
    let (left_whole, left_rest) = left.as_chunks::<LANES>();
    let (right_whole, right_rest) = right.as_chunks::<LANES>();
    for (a, b) in left_whole.iter().zip(right_whole) {
        for lane in 0..LANES {
            lanes[lane] += term(a[lane], b[lane]);
        }
    }
    for (a, b) in left_rest.iter().zip(right_rest) {
        sum += term(*a, *b);
    }
    lanes.iter().fold(sum, |sum, lane| sum + lane)
}

/// Rows compared by the exact engines' measure, its distances rounded to single precision.
pub(super) struct Measured<'a, M> {
    pub pairs: Dense<'a, M>,
    /// Row of each position; in their own order with `None`.
    pub order: Option<&'a [u32]>,
    /// Brings distances to about 1.
    pub per_unit: f64,
}

impl<M: Measure> Measured<'_, M> {
    #[inline(always)]
    fn of(&self, position: u32) -> usize {
        self.order.map_or(position as usize, |order| order[position as usize] as usize)
    }
}

impl<M: Measure> Closeness for Measured<'_, M> {
    fn len(&self) -> usize {
        self.pairs.counts.1
    }

    fn project(&self, (from, to): (u32, u32), rows: &[u32], projected: &mut [(f64, u32)]) {
        let (from, to) = (self.pairs.row(self.of(from)), self.pairs.row(self.of(to)));
        let direction: Vec<f64> = to.iter().zip(from).map(|(to, from)| (to - from) * self.per_unit).collect();
        for (out, &row) in projected.iter_mut().zip(rows) {
            let values = self.pairs.row(self.of(row));
            *out = (values.iter().zip(&direction).map(|(a, b)| a * self.per_unit * b).sum(), row);
        }
    }

    fn compare(&self, rows: &[u32], asked: usize, desk: &mut Desk, mut see: impl FnMut(usize, &[f32])) {
        let count = rows.len();
        desk.tile.resize(asked * count, 0.0);
        Arch::new().dispatch(Pairwise { rows: self, chosen: rows, asked, tile: &mut desk.tile });
        desk.tile.chunks_exact(count).enumerate().for_each(|(place, values)| see(place, values));
    }

    fn leaf_rows(&self) -> usize {
        64
    }
}

/// The first rows against all. A type and not a closure: see `walk`.
struct Pairwise<'a, M> {
    rows: &'a Measured<'a, M>,
    chosen: &'a [u32],
    asked: usize,
    tile: &'a mut [f32],
}

impl<M: Measure> NullaryFnOnce for Pairwise<'_, M> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (pairs, measure, count) = (&self.rows.pairs, self.rows.pairs.measure, self.chosen.len());
        for i in 0..self.asked {
            let row = self.rows.of(self.chosen[i]);
            for j in i + 1..count {
                let distance = measure.finish(pairs.reduced(row, self.rows.of(self.chosen[j])));
                let value = (distance * self.rows.per_unit) as f32;
                self.tile[i * count + j] = value;
                if j < self.asked {
                    self.tile[j * count + i] = value;
                }
            }
        }
    }
}
