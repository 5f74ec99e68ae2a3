//! A = Q·R of a tall matrix by reflections, a panel of columns at a time.
//!
//! Place: before the singular values of [`super::singular`]: R has those of A, and
//! is small. Columns of A are rows here, one after the other in memory. Cost:
//! 2·m·d² for d columns of m numbers.

use rayon::prelude::*;

use super::reflectors::{Panel, Reflectors, reflection};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::dot::Dot;

/// Columns per panel.
const PANEL: usize = 32;
/// Columns that one task turns.
const COLUMNS: usize = 16;

/// Replace the columns of length `m` in `columns` by those of R (zero below the
/// diagonal); gives Q.
pub(super) fn reduce(columns: &mut [f64], m: usize, ctx: &Ctx) -> Result<Reflectors> {
    let d = columns.len() / m.max(1);
    let mut reflectors = Reflectors::new(m);
    for first in (0..d.min(m)).step_by(PANEL) {
        let width = PANEL.min(d.min(m) - first);
        let (head, rest) = columns.split_at_mut((first + width) * m);
        let panel = reduce_panel(&mut head[first * m..], m, first, ctx)?;
        let triangle = panel.triangle();
        rest.par_chunks_mut(COLUMNS * m).try_for_each(|columns| {
            ctx.check()?;
            panel.turn(&triangle, columns, m, true);
            Result::Ok(())
        })?;
        reflectors.push(panel);
        ctx.advance(width);
    }
    Ok(reflectors)
}

fn reduce_panel(columns: &mut [f64], m: usize, first: usize, ctx: &Ctx) -> Result<Panel> {
    let width = columns.len() / m;
    let mut panel = Panel::new(first, m - first, width);
    for own in 0..width {
        ctx.check()?;
        let (done, after) = columns.split_at_mut((own + 1) * m);
        let column = &mut done[own * m + first + own..];
        let (beta, scale) = reflection(column);
        panel.scales[own] = scale;
        panel.vectors[own * panel.length + own..(own + 1) * panel.length].copy_from_slice(column);
        after.par_chunks_mut(m).for_each(|other| {
            let other = &mut other[first + own..];
            let along = scale * pulp::Arch::new().dispatch(Dot(column, other));
            other.iter_mut().zip(&*column).for_each(|(entry, v)| *entry -= along * v);
        });
        column.fill(0.0);
        column[0] = beta;
    }
    Ok(panel)
}
