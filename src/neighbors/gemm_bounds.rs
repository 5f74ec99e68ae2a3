//! Squared distances by matrix products, with a bound on their error.
//!
//! Place in the dataflow: the arithmetic below `gemm`. Rows are centred (any
//! fixed centre leaves distances alone), scaled by a power of two and rounded
//! to `T`; then |x - y|² = |x|² + |y|² - 2 x·y comes out of a matrix product at
//! full machine speed, but with cancellation. Cost: O(n D) to prepare.
//!
//! The bound, with u the unit roundoff of `T` and n_x = |X|² of the rounded
//! rows: rounding the rows moves the square by at most 4u (n_x + n_y); the dot
//! product errs by at most D u |X||Y| <= D u (n_x + n_y) / 2 in any order of
//! summation, taken twice; norms, sums and comparisons in `T` add a few u. The
//! exact engine's own f64 sum errs by (D + 2) 2⁻⁵³ of the square, which is at
//! most 2 (n_x + n_y). So |estimate - exact| <= e (n_x + n_y) + floor with
//! e = 1.1 ((D + 32) u + (4 D + 64) 2⁻⁵³), and the floor for underflow. As it
//! splits into a part of x and a part of y it costs nothing to carry: norms are
//! stored as n (1 - e), sums are then lower bounds, and 2 e n per row leads
//! from lower to upper bound.

use std::ops::{Add, Mul, Sub};

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// A precision for estimates.
pub(super) trait Real:
    faer::traits::ComplexField
    + Copy
    + PartialOrd
    + Send
    + Sync
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
{
    /// Unit roundoff.
    const UNIT: f64;
    /// What underflow may cost per coordinate of rows scaled to at most 1.
    const FLOOR: f64;
    const INFINITY: Self;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
}

impl Real for f32 {
    const UNIT: f64 = 1.0 / (1u64 << 24) as f64;
    const FLOOR: f64 = f32::MIN_POSITIVE as f64;
    const INFINITY: f32 = f32::INFINITY;
    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const UNIT: f64 = f64::EPSILON / 2.0;
    const FLOOR: f64 = f64::MIN_POSITIVE;
    const INFINITY: f64 = f64::INFINITY;
    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

/// Where the origin lies and how large the rows are: shared by queries and rows.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    centre: Vec<f64>,
    /// A power of two that brings every coordinate of the rows to at most 1.
    scale: f64,
}

impl Frame {
    /// The frame of `rows`; `None` when they are all equal or too large to scale.
    pub fn of(rows: &[f64], dims: usize) -> Option<Frame> {
        let count = rows.len() / dims;
        let mut centre = vec![0.0; dims];
        for row in rows.chunks_exact(dims) {
            centre.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / count as f64);
        }
        let largest = rows
            .par_chunks(dims * 64)
            .map(|rows| {
                let differences = rows.chunks_exact(dims).flat_map(|row| row.iter().zip(&centre));
                differences.fold(0.0f64, |most, (value, middle)| most.max((value - middle).abs()))
            })
            .reduce(|| 0.0, f64::max);
        let scale = 2f64.powi(-(libm::ilogb(largest).clamp(-1000, 999) + 1));
        let usable = largest > 1e-290 && largest < 1e150 && scale * largest <= 1.0;
        usable.then_some(Frame { centre, scale })
    }

    /// A row as it is in the frame, in single precision.
    pub fn bring(&self, row: &[f64], brought: &mut [f32]) {
        for ((to, from), middle) in brought.iter_mut().zip(row).zip(&self.centre) {
            *to = ((from - middle) * self.scale) as f32;
        }
    }

    /// A reduced (squared) distance in the frame's units.
    pub fn squared(&self, reduced: f64) -> f64 {
        reduced * self.scale * self.scale
    }
}

impl Frame {
    /// The factor from distances in the frame's units to distances.
    pub fn back(&self) -> f64 {
        1.0 / self.scale
    }
}

/// The relative error bound `e` of estimates in `T` over `dims` coordinates.
pub(super) fn error_bound<T: Real>(dims: usize) -> f64 {
    let dims = dims as f64;
    1.1 * ((dims + 32.0) * T::UNIT + (4.0 * dims + 64.0) * f64::EPSILON / 2.0)
}

/// Rows ready for matrix products.
#[derive(Debug)]
pub(super) struct Prepared<T> {
    values: Vec<T>,
    dims: usize,
    /// n (1 - e) - floor: sums of two are the norm part of a lower bound.
    pub base: Vec<T>,
    /// 2 e n + 2 floor: sums of two lead from the lower to the upper bound.
    pub slack: Vec<T>,
}

impl<T: Real> Prepared<T> {
    pub fn new(rows: &[f64], dims: usize, frame: &Frame) -> Self {
        let error = error_bound::<T>(dims);
        let floor = T::FLOOR * (dims + 4) as f64;
        let count = rows.len() / dims;
        let mut values = vec![T::default(); rows.len()];
        let mut norms = vec![0.0; count];
        let tasks = values.par_chunks_mut(dims).zip(rows.par_chunks(dims)).zip(&mut norms);
        tasks.with_min_len(64).for_each(|((values, row), norm)| {
            for ((to, from), middle) in values.iter_mut().zip(row).zip(&frame.centre) {
                *to = T::of((from - middle) * frame.scale);
                *norm += to.wide() * to.wide();
            }
        });
        let base = norms.iter().map(|norm| T::of(norm * (1.0 - error) - floor)).collect();
        let slack = norms.iter().map(|norm| T::of(2.0 * (norm * error + floor) * (1.0 + 1e-6))).collect();
        Prepared { values, dims, base, slack }
    }

    /// Estimates of squared distances, in the frame's units, of some rows to all rows.
    pub fn squares(&self, rows: impl Iterator<Item = usize> + Clone, squares: &mut [T]) {
        let (dims, all) = (self.dims, self.base.len());
        let chosen: Vec<T> =
            rows.clone().flat_map(|row| &self.values[row * dims..(row + 1) * dims]).copied().collect();
        let count = chosen.len() / dims;
        let left = MatRef::from_row_major_slice(&chosen, count, dims);
        let tile = MatMut::from_row_major_slice_mut(&mut squares[..count * all], count, all);
        matmul(tile, Accum::Replace, left, self.block(&(0..all)).transpose(), T::of(-2.0), Par::Seq);
        let half = T::of(0.5);
        // Half way between the bounds.
        let norm = |row: usize| self.base[row] + half * self.slack[row];
        let norms: Vec<T> = (0..all).map(norm).collect();
        for (row, squares) in rows.zip(squares.chunks_exact_mut(all)) {
            let own = norms[row];
            squares.iter_mut().zip(&norms).for_each(|(square, norm)| *square = (own + *norm) + *square);
        }
    }

    /// The squared norm of a row, in the frame's units, up to rounding.
    pub fn norm(&self, row: usize) -> T {
        self.base[row] + self.slack[row]
    }

    fn block(&self, rows: &std::ops::Range<usize>) -> MatRef<'_, T> {
        let values = &self.values[rows.start * self.dims..rows.end * self.dims];
        MatRef::from_row_major_slice(values, rows.len(), self.dims)
    }

    /// Dot products of some rows here with some of `other`, row-major.
    pub fn dots(
        &self,
        rows: &std::ops::Range<usize>,
        other: &Self,
        others: &std::ops::Range<usize>,
        tile: &mut [T],
    ) {
        let tile = MatMut::from_row_major_slice_mut(tile, rows.len(), others.len());
        let (left, right) = (self.block(rows), other.block(others).transpose());
        matmul(tile, Accum::Replace, left, right, T::of(1.0), Par::Seq);
    }
}
