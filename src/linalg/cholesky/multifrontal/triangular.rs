//! Solves with one panel of the factor, [`LANES`] right-hand sides at once.
//!
//! A small panel is one call of a vector kernel. A large one is swept in blocks
//! of columns, between which the cancel flag is looked at; what a block says to
//! the other rows is summed by all threads, each row by one of them, so that the
//! bits do not depend on their number. Cost: entries of the panel · lanes.

use rayon::prelude::*;

use super::solve::{LANES, Lanes};
use crate::context::Ctx;
use crate::error::Result;

/// Entries from which a panel is large.
const LARGE: usize = 1 << 20;
/// Columns of a block of a large panel.
const BLOCK: usize = 256;
/// Rows summed by one task.
const ROWS: usize = 64;

/// x ← L₁₁⁻¹ x, then the sums L₂₁ x for the rows below.
pub(super) fn up(panel: &[f64], own: &mut [Lanes], sums: &mut Vec<Lanes>, ctx: &Ctx) -> Result<()> {
    let width = own.len();
    let (square, rest) = panel.split_at(width * width);
    sums.clear();
    sums.resize(rest.len() / width, [0.0; LANES]);
    if panel.len() < LARGE {
        run(Up { square, rest, own, sums });
        return Ok(());
    }
    let mut before_sums = vec![[0.0; LANES]; BLOCK];
    for first in (0..width).step_by(BLOCK) {
        ctx.check()?;
        let (before, now) = own.split_at_mut(first);
        let size = BLOCK.min(now.len());
        let (rows, now) = (&square[first * width..(first + size) * width], &mut now[..size]);
        weigh_all(rows, width, before, &mut before_sums[..size]);
        run(Forward { rows, width, first, now, before: &before_sums[..size] });
    }
    ctx.check()?;
    weigh_all(rest, width, own, sums);
    Ok(())
}

/// x ← L₁₁⁻ᵀ (x − L₂₁ᵀ · rows below).
pub(super) fn down(panel: &[f64], own: &mut [Lanes], below: &[Lanes], ctx: &Ctx) -> Result<()> {
    let width = own.len();
    let (square, rest) = panel.split_at(width * width);
    if panel.len() < LARGE {
        run(Down { square, rest, own, below });
        return Ok(());
    }
    spread_all(rest, width, below, own);
    for first in (0..width).step_by(BLOCK).rev() {
        ctx.check()?;
        let (before, now) = own.split_at_mut(first);
        let size = BLOCK.min(now.len());
        let (rows, now) = (&square[first * width..(first + size) * width], &mut now[..size]);
        run(Backward { rows, width, first, now });
        spread_all(rows, width, now, before);
    }
    Ok(())
}

fn run(kernel: impl pulp::WithSimd<Output = ()>) {
    pulp::Arch::new().dispatch(kernel);
}

/// Σ weights · x for each row of weights.
fn weigh_all(rows: &[f64], width: usize, x: &[Lanes], sums: &mut [Lanes]) {
    let tasks = sums.par_chunks_mut(ROWS).zip(rows.par_chunks(ROWS * width));
    tasks.for_each(|(sums, rows)| run(Weigh { rows, width, x, sums }));
}

/// x ← x − weights · lanes for each row of weights and its lanes.
fn spread_all(rows: &[f64], width: usize, lanes: &[Lanes], x: &mut [Lanes]) {
    let tasks = x.par_chunks_mut(ROWS).enumerate();
    tasks.for_each(|(index, x)| run(Spread { rows, width, first: index * ROWS, lanes, x }));
}

/// Both parts of a small panel on the way up.
struct Up<'a> {
    square: &'a [f64],
    rest: &'a [f64],
    own: &'a mut [Lanes],
    sums: &'a mut [Lanes],
}

impl pulp::WithSimd for Up<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Up { square, rest, own, sums } = self;
        let width = own.len();
        for (place, row) in square.chunks_exact(width).enumerate() {
            let (before, now) = own.split_at_mut(place);
            let total = weighted(&row[..place], before);
            pivot(&mut now[0], &total, row[place]);
        }
        sums.iter_mut().zip(rest.chunks_exact(width)).for_each(|(sum, row)| *sum = weighted(row, own));
    }
}

/// The square of a block, `before` being the sums over the columns before it.
struct Forward<'a> {
    rows: &'a [f64],
    width: usize,
    first: usize,
    now: &'a mut [Lanes],
    before: &'a [Lanes],
}

impl pulp::WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Forward { rows, width, first, now, before } = self;
        for (place, row) in rows.chunks_exact(width).enumerate() {
            let row = &row[first..];
            let (done, now) = now.split_at_mut(place);
            let mut total = weighted(&row[..place], done);
            (0..LANES).for_each(|lane| total[lane] += before[place][lane]);
            pivot(&mut now[0], &total, row[place]);
        }
    }
}

struct Weigh<'a> {
    rows: &'a [f64],
    width: usize,
    x: &'a [Lanes],
    sums: &'a mut [Lanes],
}

impl pulp::WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let rows = self.rows.chunks_exact(self.width);
        self.sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum = weighted(row, self.x));
    }
}

/// x ← (x − total) / entry.
#[inline(always)]
fn pivot(x: &mut Lanes, total: &Lanes, entry: f64) {
    let inverse = 1.0 / entry;
    for lane in 0..LANES {
        x[lane] = (x[lane] - total[lane]) * inverse;
    }
}

/// Σ weights · x.
#[inline(always)]
fn weighted(weights: &[f64], x: &[Lanes]) -> Lanes {
    let mut total = [0.0; LANES];
    for (&weight, lanes) in weights.iter().zip(x) {
        for lane in 0..LANES {
            total[lane] += weight * lanes[lane];
        }
    }
    total
}

/// Both parts of a small panel on the way down.
struct Down<'a> {
    square: &'a [f64],
    rest: &'a [f64],
    own: &'a mut [Lanes],
    below: &'a [Lanes],
}

impl pulp::WithSimd for Down<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Down { square, rest, own, below } = self;
        let width = own.len();
        for (row, lanes) in rest.chunks_exact(width).zip(below) {
            spread(own, row, lanes);
        }
        Backward { rows: square, width, first: 0, now: own }.with_simd(simd);
    }
}

/// The square of a block.
struct Backward<'a> {
    rows: &'a [f64],
    width: usize,
    first: usize,
    now: &'a mut [Lanes],
}

impl pulp::WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Backward { rows, width, first, now } = self;
        for (place, row) in rows.chunks_exact(width).enumerate().rev() {
            let row = &row[first..];
            let (before, now) = now.split_at_mut(place);
            let inverse = 1.0 / row[place];
            (0..LANES).for_each(|lane| now[0][lane] *= inverse);
            spread(before, &row[..place], &now[0]);
        }
    }
}

struct Spread<'a> {
    rows: &'a [f64],
    width: usize,
    first: usize,
    lanes: &'a [Lanes],
    x: &'a mut [Lanes],
}

impl pulp::WithSimd for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for (row, lanes) in self.rows.chunks_exact(self.width).zip(self.lanes) {
            spread(self.x, &row[self.first..], lanes);
        }
    }
}

/// x ← x − weights · lanes.
#[inline(always)]
fn spread(x: &mut [Lanes], weights: &[f64], lanes: &Lanes) {
    for (target, &weight) in x.iter_mut().zip(weights) {
        for lane in 0..LANES {
            target[lane] -= weight * lanes[lane];
        }
    }
}
