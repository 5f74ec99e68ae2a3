//! The dense arithmetic of one front, in the place where its panel stays.
//!
//! Rows lie one after the other, so that tiles of rows are disjoint slices. The
//! panel is eliminated a few columns at a time, left-looking: what the columns
//! before take from these, in one product per tile, then the square on the
//! diagonal, then the rows below it. Tiles are the same on any number of
//! threads, each is one task, and every one looks at the cancel flag: also a
//! front of many thousand columns can be stopped within milliseconds. The
//! kernels are faer's, on one thread. Cost: c·(c + r)² / 2 multiplications, and
//! no memory beside the panel and what is left over.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};

/// Columns eliminated at once.
const WIDTH: usize = 128;
/// Rows of one task.
const ROWS: usize = 256;
/// Multiplications from which tiles are tasks of their own.
const WORTH_TASKS: usize = 1 << 22;

/// Steps of progress of a front with `c` columns and `r` rows below them.
pub(super) fn work_of_front(c: usize, r: usize) -> usize {
    let panels = (0..c).step_by(WIDTH).map(|first| work_of_panel(first, WIDTH.min(c - first), c + r));
    panels.sum::<usize>() + work_left_over(c, r)
}

/// Multiplications below the square of the columns `first..first + width` of a panel of
/// `rows` rows.
fn work_of_panel(first: usize, width: usize, rows: usize) -> usize {
    (rows - first - width) * width * (first + width)
}

fn work_left_over(c: usize, r: usize) -> usize {
    r * r / 2 * c
}

/// The panel of `c` columns, whose rows lie one after the other, becomes that of
/// L; false if a pivot is not positive. `square` is room that may be used again.
pub(super) fn eliminate(panel: &mut [f64], c: usize, square: &mut Vec<f64>, ctx: &Ctx) -> Result<bool> {
    for first in (0..c).step_by(WIDTH) {
        ctx.check()?;
        let width = WIDTH.min(c - first);
        let (done, below) = panel.split_at_mut((first + width) * c);
        square.clear();
        square.resize(width * width, 0.0);
        let mut square = MatMut::from_column_major_slice_mut(square, width, width);
        let own = MatMut::from_row_major_slice_mut(&mut done[first * c..], width, c);
        let (before, now) = own.split_at_col_mut(first);
        if !pivots(before.as_ref(), now.subcols_mut(0, width), square.as_mut())? {
            return Ok(false);
        }
        let (before, square) = (before.as_ref(), square.as_ref());
        let work = work_of_panel(first, width, first + width + below.len() / c);
        in_tiles(below, c, work, ctx, |_, rows| {
            let height = rows.len() / c;
            let (theirs, now) = MatMut::from_row_major_slice_mut(rows, height, c).split_at_col_mut(first);
            let mut now = now.subcols_mut(0, width);
            if first > 0 {
                matmul(now.as_mut(), Accum::Add, theirs.as_ref(), before.transpose(), -1.0, Par::Seq);
            }
            solve_lower_triangular_in_place(square, now.transpose_mut(), Par::Seq);
            Ok(())
        })?;
    }
    Ok(true)
}

/// The square of L on the diagonal, written to its place and to `square`.
fn pivots(before: MatRef<'_, f64>, mut now: MatMut<'_, f64>, mut square: MatMut<'_, f64>) -> Result<bool> {
    let width = square.ncols();
    for column in 0..width {
        for row in column..width {
            square[(row, column)] = now[(row, column)];
        }
    }
    if before.ncols() > 0 {
        take_square(square.as_mut(), before);
    }
    let request = cholesky_in_place_scratch::<f64>(width, Par::Seq, Default::default());
    let mut memory = MemBuffer::try_new(request)
        .map_err(|_| Error::NotConverged("no memory for a front of the sparse factor".into()))?;
    let stack = MemStack::new(&mut memory);
    if cholesky_in_place(square.as_mut(), Default::default(), Par::Seq, stack, Default::default()).is_err() {
        return Ok(false);
    }
    for column in 0..width {
        for row in column..width {
            now[(row, column)] = square[(row, column)];
        }
    }
    Ok((0..width).all(|pivot| square[(pivot, pivot)].is_finite() && square[(pivot, pivot)] > 0.0))
}

/// U ← U − B Bᵀ, the lower triangle, for the rows B of a panel of `c` columns
/// below its pivots.
pub(super) fn leave_over(below: &[f64], c: usize, left_over: &mut [f64], ctx: &Ctx) -> Result<()> {
    let r = below.len() / c;
    if r == 0 {
        return Ok(());
    }
    let below = MatRef::from_row_major_slice(below, r, c);
    in_tiles(left_over, r, work_left_over(c, r), ctx, |first, out| {
        let height = out.len() / r;
        let own = below.subrows(first, height);
        let out = MatMut::from_row_major_slice_mut(out, height, r);
        let (mut before, square) = out.split_at_col_mut(first);
        for column in (0..first).step_by(WIDTH) {
            ctx.check()?;
            let width = WIDTH.min(first - column);
            let theirs = below.subrows(column, width).transpose();
            matmul(before.as_mut().subcols_mut(column, width), Accum::Add, own, theirs, -1.0, Par::Seq);
        }
        take_square(square.subcols_mut(0, height), own);
        Ok(())
    })
}

/// S ← S − B Bᵀ, the lower triangle.
fn take_square(square: MatMut<'_, f64>, rows: MatRef<'_, f64>) {
    triangular::matmul(
        square,
        BlockStructure::TriangularLower,
        Accum::Add,
        rows,
        BlockStructure::Rectangular,
        rows.transpose(),
        BlockStructure::Rectangular,
        -1.0,
        Par::Seq,
    );
}

/// Do something with every [`ROWS`] rows of length `width`, given the number of their
/// first; as tasks of their own if the `work` of all of them is worth it.
fn in_tiles(
    rows: &mut [f64],
    width: usize,
    work: usize,
    ctx: &Ctx,
    tile: impl Fn(usize, &mut [f64]) -> Result<()> + Sync,
) -> Result<()> {
    if work < WORTH_TASKS {
        ctx.advance(work);
        return rows
            .chunks_mut(ROWS * width)
            .enumerate()
            .try_for_each(|(index, rows)| tile(index * ROWS, rows));
    }
    let tiles = rows.len().div_ceil(ROWS * width);
    rows.par_chunks_mut(ROWS * width).enumerate().try_for_each(|(index, rows)| {
        ctx.check()?;
        tile(index * ROWS, rows)?;
        ctx.advance(work / tiles);
        Ok(())
    })
}
