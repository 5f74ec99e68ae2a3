//! Local fits: the conditions of each row's neighbourhood on the coordinates, for the
//! alignment sum M = Σᵢ Sᵢ Bᵢ Sᵢᵀ.
//!
//! Place: after the neighbour lists of a [`component`], before their sum ([`assemble`]).
//! One pass over fixed chunks of rows, each thread with its own scratch and no allocation
//! per row; factors are written where they stay. Modified LLE takes two passes, because
//! the size of its blocks depends on a median over all rows.
//!
//! ```text
//! differences ─┬─ linalg::small::cholesky ── lle        standard LLE, and new rows
//!              └─ tangent_basis ──┬ ltsa                LTSA
//!    (linalg::small::eigen, …)    ├ hessian             Hessian LLE
//!                                 └ mlle                modified LLE
//! ```

pub mod assemble;
pub mod component;
mod differences;
pub mod factored;
mod hessian;
mod lle;
mod ltsa;
mod mlle;
pub mod spectra;
mod tangent_basis;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::{Blocks, Form};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::PointsRef;
use crate::neighbors::Neighbors;
use crate::params::choices;
use differences::{Reader, Vicinity};

choices! {
    /// What a neighbourhood says about coordinates.
    LocalMethod {
        /// One weight vector for each row: LLE.
        Standard = "standard",
        /// Several: modified LLE.
        Modified = "modified",
        /// Second derivatives: Hessian LLE.
        Hessian = "hessian",
        /// Tangent coordinates: LTSA.
        Ltsa = "ltsa",
    }
}

/// Rows of a chunk: fixed, so that the work is cut alike for any number of threads.
const ROWS: usize = 64;

/// Where the geometry of a neighbourhood is read from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Row i of `centers` has its neighbours among `rows`.
    Points {
        /// The rows whose neighbourhoods are wanted.
        centers: PointsRef<'a>,
        /// The rows that are neighbours.
        rows: PointsRef<'a>,
    },
    /// Distances between all that may be neighbours; those to a row itself come
    /// with its neighbour list.
    Distances {
        /// Square and symmetric.
        matrix: ArrayView2<'a, f64>,
        /// Neighbour j is this row of the matrix; `None` when it is j.
        rows: Option<&'a [u32]>,
    },
}

/// Which blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Variant {
    /// Standard LLE.
    Standard {
        /// Part of the trace that is added to the diagonal.
        reg: f64,
        /// Whether weights may not be negative.
        nonnegative: bool,
    },
    /// Modified LLE.
    Modified {
        /// Number of large eigenvalues.
        components: usize,
        /// Part of the trace that is added to the diagonal.
        reg: f64,
        /// Below this length a reflection is the identity.
        tol: f64,
    },
    /// Hessian LLE.
    Hessian {
        /// Dimension of the tangent space.
        components: usize,
        /// Column sums below this are not divided by.
        tol: f64,
    },
    /// Local tangent space alignment.
    Tangent {
        /// Dimension of the tangent space.
        components: usize,
    },
}

/// What a thread works in.
#[derive(Default)]
struct Scratch {
    vicinity: Vicinity,
    solver: lle::Solver,
    frame: tangent_basis::Frame,
    modified: mlle::Weights,
    basis: Vec<f64>,
}

impl Variant {
    /// Fewest neighbours for which a block says anything about coordinates.
    pub fn least_neighbors(self) -> usize {
        match self {
            Variant::Standard { .. } => 1,
            Variant::Modified { components, .. } => components.max(1),
            Variant::Hessian { components, .. } => components + hessian::width(components) + 1,
            Variant::Tangent { components } => components + 2,
        }
    }

    /// The directions that a neighbourhood should span, where the variant needs them.
    fn directions(self) -> Option<usize> {
        match self {
            Variant::Standard { .. } => None,
            Variant::Modified { components, .. }
            | Variant::Hessian { components, .. }
            | Variant::Tangent { components } => Some(components),
        }
    }

    /// Whether the row itself is a member of its block, the first.
    fn with_self(self) -> bool {
        matches!(self, Variant::Standard { .. } | Variant::Modified { .. })
    }
}

/// The blocks of all rows, each with `near`'s list as its neighbours. Call
/// inside [`Ctx::install`].
///
/// # Errors
/// Points of different widths, cancellation.
#[cfg(test)]
pub fn blocks(source: Source<'_>, near: &Neighbors, variant: Variant, ctx: &Ctx) -> Result<Blocks> {
    Ok(blocks_and_spans(source, near, variant, ctx)?.0)
}

/// The [`blocks`], and how many rows have neighbourhoods that span 0, 1, .. up to as many
/// directions as the variant has components; nothing where it does not ask for any.
///
/// # Errors
/// Points of different widths, cancellation.
pub fn blocks_and_spans(
    source: Source<'_>,
    near: &Neighbors,
    variant: Variant,
    ctx: &Ctx,
) -> Result<(Blocks, Vec<usize>)> {
    let near = &*if variant.with_self() { Cow::Borrowed(near) } else { naming_all(near) };
    Reader::with(source, |reader| {
        let rows = near.offsets.len() - 1;
        ctx.stage("local fits", rows);
        let lists = Lists { near, reader };
        let extra = usize::from(variant.with_self());
        let widths = lists.widths(variant, ctx)?;
        let mut blocks = Blocks {
            form: if matches!(variant, Variant::Tangent { .. }) { Form::Complement } else { Form::Product },
            member_offsets: vec![0; rows + 1],
            members: Vec::with_capacity(near.indices.len() + extra * rows),
            factor_offsets: vec![0; rows + 1],
            factors: Vec::new(),
        };
        for i in 0..rows {
            let list = lists.of(i).0;
            if !list.is_empty() && variant.with_self() {
                blocks.members.push(i as u32);
            }
            blocks.members.extend_from_slice(list);
            blocks.member_offsets[i + 1] = blocks.members.len();
            let members = blocks.members.len() - blocks.member_offsets[i];
            blocks.factor_offsets[i + 1] = blocks.factor_offsets[i] + members * widths.of(i);
        }
        let spans: Vec<AtomicUsize> =
            (0..variant.directions().map_or(0, |most| most + 1)).map(|_| AtomicUsize::new(0)).collect();
        blocks.factors = lists.fill(&blocks.factor_offsets, ctx, |scratch, factor| {
            let Scratch { vicinity, solver, frame, modified, basis } = scratch;
            let span = match variant {
                Variant::Standard { reg, nonnegative } => {
                    lle::fill(solver, vicinity, reg, nonnegative, factor);
                    return;
                }
                Variant::Modified { components, reg, tol } => {
                    mlle::fill(frame, vicinity, modified, (components, reg, tol), factor)
                }
                Variant::Hessian { components, tol } => {
                    hessian::fill(frame, vicinity, basis, (components, tol), factor)
                }
                Variant::Tangent { components } => ltsa::fill(frame, vicinity, components, factor),
            };
            spans[span].fetch_add(1, Ordering::Relaxed);
        })?;
        Ok((blocks, spans.into_iter().map(AtomicUsize::into_inner).collect()))
    })
}

/// The lists, with rows that are in nobody's list in their own: where blocks do
/// not hold the row itself, such a row would be in no block and free to lie
/// anywhere, and the matrix singular. In a million rows there always are some.
fn naming_all(near: &Neighbors) -> Cow<'_, Neighbors> {
    let rows = near.offsets.len() - 1;
    let mut named = vec![false; rows];
    near.indices.iter().for_each(|&row| named[row as usize] = true);
    let lonely = |row: usize| !named[row] && near.offsets[row] < near.offsets[row + 1];
    if !(0..rows).any(lonely) {
        return Cow::Borrowed(near);
    }
    let mut all = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for row in 0..rows {
        if lonely(row) {
            all.indices.push(row as u32);
            all.distances.push(0.0);
        }
        let range = near.offsets[row]..near.offsets[row + 1];
        all.indices.extend_from_slice(&near.indices[range.clone()]);
        all.distances.extend_from_slice(&near.distances[range]);
        all.offsets.push(all.indices.len());
    }
    Cow::Owned(all)
}

/// Barycentric weights of rows over their neighbours, in the order of `near`'s
/// entries. Call inside [`Ctx::install`].
///
/// # Errors
/// Points of different widths, cancellation.
pub fn barycentric(
    source: Source<'_>,
    near: &Neighbors,
    reg: f64,
    nonnegative: bool,
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    Reader::with(source, |reader| {
        let lists = Lists { near, reader };
        lists.fill(&near.offsets, ctx, |scratch, weights| {
            scratch.solver.solve(&scratch.vicinity, reg, nonnegative);
            weights.copy_from_slice(&scratch.solver.weights);
        })
    })
}

/// Coordinates of rows that are one neighbourhood: unit columns along their
/// leading directions, those that are zero up to rounding being zero.
/// `near` holds one list: all rows, with their distances from the first.
///
/// # Errors
/// Points of different widths.
pub fn principal(source: Source<'_>, near: &Neighbors, components: usize) -> Result<Array2<f64>> {
    Reader::with(source, |reader| {
        let (list, distances) = Lists { near, reader }.of(0);
        let (mut vicinity, mut frame) = (Vicinity::default(), tangent_basis::Frame::default());
        let mut placed = Array2::zeros((list.len(), components));
        if list.is_empty() {
            return Ok(placed);
        }
        vicinity.read(reader, 0, list, distances);
        vicinity.center();
        frame.find(&vicinity, tangent_basis::Wanted::tangents(components, list.len()));
        for (column, vector) in frame.vectors.chunks_exact(list.len()).enumerate() {
            placed.column_mut(column).iter_mut().zip(vector).for_each(|(slot, entry)| *slot = *entry);
        }
        Ok(placed)
    })
}

/// Columns of the factors.
enum Widths {
    Same(usize),
    Each(Vec<u32>),
}

impl Widths {
    fn of(&self, row: usize) -> usize {
        match self {
            Widths::Same(width) => *width,
            Widths::Each(widths) => widths[row] as usize,
        }
    }
}

/// Neighbour lists and where their geometry is read from.
struct Lists<'a, 'r, 'd> {
    near: &'a Neighbors,
    reader: &'r Reader<'d>,
}

impl<'a> Lists<'a, '_, '_> {
    fn of(&self, row: usize) -> (&'a [u32], &'a [f64]) {
        let range = self.near.offsets[row]..self.near.offsets[row + 1];
        (&self.near.indices[range.clone()], &self.near.distances[range])
    }

    fn widths(&self, variant: Variant, ctx: &Ctx) -> Result<Widths> {
        let Variant::Modified { components, .. } = variant else {
            return Ok(Widths::Same(match variant {
                Variant::Hessian { components, .. } => hessian::width(components),
                Variant::Tangent { components } => components + 1,
                _ => 1,
            }));
        };
        // The list's places hold its eigenvalues; what is left of them is zero.
        let values = self.fill(&self.near.offsets, ctx, |scratch, values| {
            scratch.frame.measure(&scratch.vicinity, components);
            values.iter_mut().zip(&scratch.frame.values).for_each(|(slot, value)| *slot = *value);
        })?;
        let rows = self.near.offsets.len() - 1;
        let of = |row: usize| {
            let all = &values[self.near.offsets[row]..self.near.offsets[row + 1]];
            &all[..all.iter().take_while(|value| **value > 0.0).count()]
        };
        let listed = (0..rows).filter(|&row| !self.of(row).0.is_empty());
        let mut ratios: Vec<f64> = listed.map(|row| mlle::ratio(of(row), components)).collect();
        let eta = mlle::median(&mut ratios);
        let size = |row: usize| match self.of(row).0.len() {
            0 => 0,
            k => mlle::size(of(row), components, k, eta) as u32,
        };
        Ok(Widths::Each((0..rows).map(size).collect()))
    }

    /// For every row that has neighbours, `work` fills its part of the result.
    fn fill(
        &self,
        offsets: &[usize],
        ctx: &Ctx,
        work: impl Fn(&mut Scratch, &mut [f64]) + Sync,
    ) -> Result<Vec<f64>> {
        let rows = offsets.len() - 1;
        let total = offsets[rows];
        let bytes = total as u64 * 8;
        ctx.reserve(bytes, "the local fits", "use fewer neighbours or rows")?;
        let mut filled = vec![0.0; total];
        let mut parts = Vec::with_capacity(rows.div_ceil(ROWS));
        let mut rest = &mut filled[..];
        for first in (0..rows).step_by(ROWS) {
            let last = (first + ROWS).min(rows);
            let (part, after) = rest.split_at_mut(offsets[last] - offsets[first]);
            parts.push((first..last, part));
            rest = after;
        }
        parts.into_par_iter().try_for_each_init(Scratch::default, |scratch, (range, part)| {
            ctx.check()?;
            let mut rest = part;
            ctx.advance(range.len());
            for row in range {
                let (own, after) = rest.split_at_mut(offsets[row + 1] - offsets[row]);
                rest = after;
                let (list, distances) = self.of(row);
                if !list.is_empty() {
                    scratch.vicinity.read(self.reader, row, list, distances);
                    work(scratch, own);
                }
            }
            Ok::<(), Error>(())
        })?;
        Ok(filled)
    }
}
