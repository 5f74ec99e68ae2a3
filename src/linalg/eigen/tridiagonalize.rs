//! A symmetric matrix made tridiagonal by reflections: A = Q·T·Qᵀ.
//!
//! Dongarra, Sorensen, Hammarling 1989, as LAPACK's `sytrd`: reflections are made
//! for a panel of columns, with the matrix behind them left as it is, and are
//! then applied to it all at once. Half of the work is products of the matrix
//! with one vector, which read half of it once; the other half is one matrix
//! product a panel. Both are cut into fixed parts: the same bits for any number
//! of threads, and a stop is asked for at every column.
//!
//! Place: first step of [`super::symmetric_eigen`]. Cost: 4/3·n³.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::reflectors::{Panel, Reflectors, reflection};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::dot::product as short_product;
use crate::linalg::dot::{Dot, dot};

/// Columns per panel.
const PANEL: usize = 32;
/// Rows of the matrix that one task updates.
const ROWS: usize = 96;
/// Parts of a product with one vector, each with a sum of its own.
const PARTS: usize = 8;
/// Rows below which such a product is one part.
const FEW: usize = 384;
/// Rows of the matrix that are multiplied together.
const TILE: usize = 4;
/// Numbers added side by side.
const LANES: usize = 8;

/// T and the reflections that make Q.
pub(super) struct Reduced {
    /// Diagonal of T, n numbers.
    pub diagonal: Vec<f64>,
    /// What is beside it, n − 1 numbers.
    pub beside: Vec<f64>,
    /// Q, the reflections of the first panel first.
    pub reflectors: Reflectors,
}

/// Reduce the row-major `matrix`, of which the part on and above the diagonal is
/// read; it is destroyed. Entries must be near one or smaller.
pub(super) fn tridiagonalize(matrix: &mut [f64], n: usize, report: bool, ctx: &Ctx) -> Result<Reduced> {
    let mut reduced = Reduced {
        diagonal: vec![0.0; n],
        beside: vec![0.0; n.saturating_sub(1)],
        reflectors: Reflectors::new(n),
    };
    for first in (0..n).step_by(PANEL) {
        let width = PANEL.min(n - first);
        let (panel, products) = reduce_panel(matrix, n, first, width, &mut reduced, ctx)?;
        update_rest(matrix, n, first + width, &panel, &products, ctx)?;
        reduced.reflectors.push(panel);
        ctx.advance(if report { width } else { 0 });
    }
    Ok(reduced)
}

/// One panel: its reflections v, and the w with which A − v·wᵀ − w·vᵀ is the matrix after
/// all of them. Both hold rows of n − first numbers.
fn reduce_panel(
    matrix: &[f64],
    n: usize,
    first: usize,
    width: usize,
    reduced: &mut Reduced,
    ctx: &Ctx,
) -> Result<(Panel, Vec<f64>)> {
    let length = n - first;
    let mut panel = Panel::new(first, length, width);
    let mut products = vec![0.0; width * length];
    for own in 0..width {
        ctx.check()?;
        let column = first + own;
        // Column `column` as the reflections so far have made it.
        let mut entries = matrix[column * n + column..(column + 1) * n].to_vec();
        for (v, w) in panel.vectors.chunks_exact(length).zip(products.chunks_exact(length)).take(own) {
            let (at_v, at_w) = (v[own], w[own]);
            for ((entry, v), w) in entries.iter_mut().zip(&v[own..]).zip(&w[own..]) {
                *entry -= v * at_w + w * at_v;
            }
        }
        reduced.diagonal[column] = entries[0];
        if column + 1 == n {
            break;
        }
        let (beta, scale) = reflection(&mut entries[1..]);
        reduced.beside[column] = beta;
        panel.scales[own] = scale;
        let v = &entries[1..];
        panel.vectors[own * length + own + 1..(own + 1) * length].copy_from_slice(v);
        if scale == 0.0 {
            continue;
        }
        let mut w = symmetric_times(matrix, n, column + 1, v);
        let arch = pulp::Arch::new();
        for before in 0..own {
            let row = before * length + own + 1..(before + 1) * length;
            let (old_v, old_w) = (&panel.vectors[row.clone()], &products[row]);
            let (along_v, along_w) = (arch.dispatch(Dot(old_v, v)), arch.dispatch(Dot(old_w, v)));
            for ((entry, v), w) in w.iter_mut().zip(old_v).zip(old_w) {
                *entry -= v * along_w + w * along_v;
            }
        }
        let half = -0.5 * scale * scale * arch.dispatch(Dot(&w, v));
        let target = &mut products[own * length + own + 1..(own + 1) * length];
        for ((slot, entry), v) in target.iter_mut().zip(&w).zip(v) {
            *slot = scale * entry + half * v;
        }
    }
    Ok((panel, products))
}

/// The symmetric matrix of rows and columns `first..` times v.
fn symmetric_times(matrix: &[f64], n: usize, first: usize, v: &[f64]) -> Vec<f64> {
    let m = n - first;
    let parts = if m < FEW { 1 } else { PARTS };
    // Parts of about the same area; whole tiles of rows.
    let edge = |part: usize| {
        let left = 1.0 - part as f64 / parts as f64;
        if part == parts { m } else { (m as f64 * (1.0 - left.sqrt())) as usize / TILE * TILE }
    };
    let arch = pulp::Arch::new();
    let one = |part: usize| {
        let rows = edge(part)..edge(part + 1);
        let mut sum = vec![0.0; m - rows.start];
        arch.dispatch(SymmetricPart { matrix, n, first, rows, v, sum: &mut sum });
        sum
    };
    let sums: Vec<Vec<f64>> =
        if parts == 1 { vec![one(0)] } else { (0..parts).into_par_iter().map(one).collect() };
    let mut sums = sums.into_iter();
    let mut total = sums.next().unwrap_or_default();
    for sum in sums {
        let start = m - sum.len();
        total[start..].iter_mut().zip(sum).for_each(|(total, part)| *total += part);
    }
    total
}

/// Some rows of the upper triangle, and the same as columns of the lower one.
struct SymmetricPart<'a> {
    matrix: &'a [f64],
    n: usize,
    first: usize,
    rows: std::ops::Range<usize>,
    v: &'a [f64],
    /// The result from row `rows.start` on.
    sum: &'a mut [f64],
}

impl pulp::WithSimd for SymmetricPart<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { matrix, n, first, rows, v, sum } = self;
        let start = rows.start;
        let row_of = |row: usize| &matrix[(first + row) * n + first + row..(first + row + 1) * n];
        let mut row = start;
        while row + TILE <= rows.end {
            let lines: [&[f64]; TILE] = std::array::from_fn(|r| row_of(row + r));
            // The triangle where the rows begin.
            for r in 0..TILE {
                sum[row + r - start] += lines[r][0] * v[row + r];
                for c in r + 1..TILE {
                    let entry = lines[r][c - r];
                    sum[row + r - start] += entry * v[row + c];
                    sum[row + c - start] += entry * v[row + r];
                }
            }
            let tails: [&[f64]; TILE] = std::array::from_fn(|r| &lines[r][TILE - r..]);
            let factors = std::array::from_fn(|r| v[row + r]);
            let (head, tail) = sum.split_at_mut(row + TILE - start);
            let along = four_rows(tails, &v[row + TILE..], factors, tail);
            (0..TILE).for_each(|r| head[row + r - start] += along[r]);
            row += TILE;
        }
        for row in row..rows.end {
            let line = row_of(row);
            sum[row - start] += line[0] * v[row] + dot(&line[1..], &v[row + 1..]);
            let factor = v[row];
            sum[row + 1 - start..].iter_mut().zip(&line[1..]).for_each(|(sum, entry)| *sum += factor * entry);
        }
    }
}

/// The products of four rows with x; and the rows, times their factors, added to y.
#[inline(always)]
fn four_rows(rows: [&[f64]; TILE], x: &[f64], factors: [f64; TILE], y: &mut [f64]) -> [f64; TILE] {
    let whole = x.len() / LANES * LANES;
    let mut sums = [[0.0; LANES]; TILE];
    let blocks: [&[[f64; LANES]]; TILE] = rows.map(|row| row[..whole].as_chunks::<LANES>().0);
    let x_blocks = x[..whole].as_chunks::<LANES>().0;
    let y_blocks = y[..whole].as_chunks_mut::<LANES>().0;
    for (at, (x, y)) in x_blocks.iter().zip(y_blocks).enumerate() {
        let mut target = *y;
        for r in 0..TILE {
            let entries = &blocks[r][at];
            for lane in 0..LANES {
                target[lane] += factors[r] * entries[lane];
                sums[r][lane] += entries[lane] * x[lane];
            }
        }
        *y = target;
    }
    for r in 0..TILE {
        for (entry, y) in rows[r][whole..].iter().zip(&mut y[whole..]) {
            *y += factors[r] * entry;
        }
    }
    std::array::from_fn(|r| sums[r].iter().sum::<f64>() + short_product(&rows[r][whole..], &x[whole..]))
}

/// A ← A − V·Wᵀ − W·Vᵀ on and above the diagonal, for rows and columns `from..`.
fn update_rest(
    matrix: &mut [f64],
    n: usize,
    from: usize,
    panel: &Panel,
    products: &[f64],
    ctx: &Ctx,
) -> Result<()> {
    let (length, width) = (panel.length, panel.scales.len());
    if from >= n {
        return Ok(());
    }
    let skip = from - panel.first;
    let v = MatRef::from_row_major_slice(&panel.vectors, width, length);
    let w = MatRef::from_row_major_slice(products, width, length);
    matrix[from * n..].par_chunks_mut(ROWS * n).enumerate().try_for_each(|(chunk, rows)| {
        ctx.check()?;
        let count = rows.len() / n;
        let start = chunk * ROWS;
        let (own, right) = (skip + start, length - skip - start);
        let out = MatMut::from_row_major_slice_mut(rows, count, n);
        let mut out = out.submatrix_mut(0, from + start, count, right);
        for (one, two) in [(v, w), (w, v)] {
            let (left, right) = (one.subcols(own, count), two.subcols(own, right));
            let out = faer::reborrow::ReborrowMut::rb_mut(&mut out);
            matmul(out, Accum::Add, left.transpose(), right, -1.0, Par::Seq);
        }
        Ok(())
    })
}
