//! The shape of each neighbourhood: its spread along its principal axes, or the inner
//! products of its members.
//!
//! Place: lists of neighbours in, one number per row out, for estimates of dimension.
//! A neighbourhood is the row and its neighbours, around their mean. Cost: as
//! [`super::tangent_basis`], without vectors; k²·D a row for inner products.

use super::Source;
use super::differences::{Reader, Vicinity};
use super::tangent_basis::Frame;
use crate::context::Ctx;
use crate::error::Result;
use crate::neighbors::Neighbors;

use rayon::prelude::*;

/// Rows whose neighbourhoods one thread looks at before it asks whether to stop.
const CHUNK: usize = 16;

/// `each` of the squared singular values of every row's neighbourhood, largest first, those
/// that are rounding left out. Call inside [`Ctx::install`].
///
/// # Errors
/// Points of different widths, cancellation.
pub fn each_spectrum(
    source: Source<'_>,
    near: &Neighbors,
    each: impl Fn(&[f64]) -> f64 + Sync,
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    let each = &each;
    each_neighborhood(source, near, "local principal axes", ctx, || {
        let mut frame = Frame::default();
        move |vicinity: &Vicinity| {
            frame.measure(vicinity, 0);
            each(&frame.values)
        }
    })
}

/// `each` of the inner products of every row's neighbourhood, a square matrix of as many
/// rows as it is told. Call inside [`Ctx::install`].
///
/// # Errors
/// Points of different widths, cancellation.
pub fn each_gram(
    source: Source<'_>,
    near: &Neighbors,
    each: impl Fn(&[f64], usize) -> f64 + Sync,
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    let each = &each;
    each_neighborhood(source, near, "angles between neighbours", ctx, || {
        let mut gram = Vec::new();
        move |vicinity: &Vicinity| {
            vicinity.products(&mut gram);
            each(&gram, vicinity.k)
        }
    })
}

/// What `measure` says of every row's neighbourhood; one is made for each thread's share.
fn each_neighborhood<M: FnMut(&Vicinity) -> f64>(
    source: Source<'_>,
    near: &Neighbors,
    stage: &'static str,
    ctx: &Ctx,
    measure: impl Fn() -> M + Sync,
) -> Result<Vec<f64>> {
    let near = naming_self(near);
    Reader::with(source, |reader| {
        let rows = near.rows();
        ctx.stage(stage, rows);
        let mut found = vec![0.0; rows];
        found.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, found)| {
            let (mut vicinity, mut measure) = (Vicinity::default(), measure());
            for (offset, value) in found.iter_mut().enumerate() {
                let row = chunk * CHUNK + offset;
                let (list, distances) = near.row(row);
                vicinity.read(reader, row, list, distances);
                vicinity.center();
                *value = measure(&vicinity);
            }
            ctx.advance(found.len());
            ctx.check()
        })?;
        Ok(found)
    })
}

/// The lists with each row first in its own.
fn naming_self(near: &Neighbors) -> Neighbors {
    let mut all = Neighbors::empty();
    for row in 0..near.rows() {
        let (list, distances) = near.row(row);
        let others = list.iter().copied().zip(distances.iter().copied());
        all.push_row(std::iter::once((row as u32, 0.0)).chain(others));
    }
    all
}
