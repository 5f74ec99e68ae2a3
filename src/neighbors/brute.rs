//! Every pair, evaluated as it is: the plain engine.
//!
//! Place in the dataflow: for few rows, for metrics without an inner product
//! in many dimensions, for sparse rows and for given distance matrices; also
//! for pairs that `gemm` only estimates.
//! Cost: O(m n D) for m queries, blocked so that rows are read from cache.

use ndarray::Array2;
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use super::collect::{Keep, Kept};
use super::measure::{Entry, Measure};
use super::table::{Budget, Part, concatenate};
use super::{NeighborRule, Neighbors};
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::dense::written_by_rows;

/// Queries that share one pass over the rows.
const QUERIES: usize = 8;

/// Pairs of one task between two looks at the cancel flag, in coordinates.
const BLOCK: usize = 1 << 15;

/// Queries against rows, with the exact reduced distance of any pair.
pub(super) trait Pairs: Sync {
    /// The metric.
    type M: Measure;
    fn measure(&self) -> Self::M;
    fn queries(&self) -> usize;
    fn rows(&self) -> usize;
    /// Coordinates touched per pair, for choosing blocks.
    fn dims(&self) -> usize;
    fn reduced(&self, query: usize, row: usize) -> f64;
}

/// Dense rows on both sides.
#[derive(Clone, Copy)]
pub(super) struct Dense<'a, M> {
    pub measure: M,
    pub queries: &'a [f64],
    pub rows: &'a [f64],
    pub dims: usize,
    /// Kept apart from the slices because rows may have no coordinates at all.
    pub counts: (usize, usize),
}

impl<M: Measure> Dense<'_, M> {
    #[inline(always)]
    pub fn query(&self, at: usize) -> &[f64] {
        &self.queries[at * self.dims..(at + 1) * self.dims]
    }
    #[inline(always)]
    pub fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * self.dims..(at + 1) * self.dims]
    }
}

impl<M: Measure> Pairs for Dense<'_, M> {
    type M = M;
    #[inline(always)]
    fn measure(&self) -> M {
        self.measure
    }
    fn queries(&self) -> usize {
        self.counts.0
    }
    fn rows(&self) -> usize {
        self.counts.1
    }
    fn dims(&self) -> usize {
        self.dims
    }
    #[inline(always)]
    fn reduced(&self, query: usize, row: usize) -> f64 {
        self.measure.rows(self.query(query), self.row(row))
    }
}

/// Which pairs count, by (query, row).
pub(super) trait Allow: Fn(usize, usize) -> bool + Sync {}
impl<F: Fn(usize, usize) -> bool + Sync> Allow for F {}

/// Neighbours of all queries among the rows allowed to them.
pub(super) fn search<P: Pairs>(
    pairs: &P,
    rule: NeighborRule,
    allow: impl Allow,
    ctx: &Ctx,
) -> Result<Neighbors> {
    let budget = Budget::new(pairs.queries(), rule, ctx)?;
    let block = (BLOCK / pairs.dims().max(1)).clamp(8, 1024);
    let tasks: Vec<usize> = (0..pairs.queries()).step_by(QUERIES).collect();
    let parts = tasks.into_par_iter().map(|first| {
        let last = (first + QUERIES).min(pairs.queries());
        let mut kept = vec![Kept::new(pairs.measure(), rule); last - first];
        for start in (0..pairs.rows()).step_by(block) {
            ctx.check()?;
            let before: usize = kept.iter().map(Kept::len).sum();
            let rows = start..(start + block).min(pairs.rows());
            Arch::new().dispatch(Meet { pairs, first, rows, allow: &allow, kept: &mut kept });
            let after: usize = kept.iter().map(Kept::len).sum();
            budget.take(after.saturating_sub(before), ctx)?;
        }
        let mut part = Part::default();
        kept.iter_mut().for_each(|query| part.push(pairs.measure(), query));
        ctx.advance(last - first);
        Ok(part)
    });
    Ok(concatenate(parts.collect::<Result<Vec<Part>>>()?))
}

/// Some queries meet some rows. A type and not a closure: see `walk`.
struct Meet<'a, P: Pairs, A> {
    pairs: &'a P,
    first: usize,
    rows: std::ops::Range<usize>,
    allow: &'a A,
    kept: &'a mut [Kept<P::M>],
}

impl<P: Pairs, A: Allow> NullaryFnOnce for Meet<'_, P, A> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (slot, kept) in self.kept.iter_mut().enumerate() {
            let query = self.first + slot;
            for row in self.rows.clone() {
                let reduced = self.pairs.reduced(query, row);
                if !(reduced > kept.limit()) && (self.allow)(query, row) {
                    kept.offer(Entry { reduced, index: row as u32 });
                }
            }
        }
    }
}

/// The distances of all pairs, queries as rows.
pub(super) fn table<P: Pairs>(pairs: &P, ctx: &Ctx) -> Result<Array2<f64>> {
    let shape = (pairs.queries(), pairs.rows());
    let width = pairs.rows().max(1);
    let arch = Arch::new();
    written_by_rows(shape, |distances| {
        distances.par_chunks_mut(width).enumerate().try_for_each(|(query, row)| {
            let block = (BLOCK / pairs.dims().max(1)).max(1);
            for (at, part) in row.chunks_mut(block).enumerate() {
                ctx.check()?;
                arch.dispatch(Measured { pairs, query, first: at * block, distances: part });
            }
            ctx.advance(1);
            Ok(())
        })
    })
}

/// The distances of one query to the rows from `first` on, on the caller's thread.
pub(super) fn row<P: Pairs>(pairs: &P, query: usize, first: usize, distances: &mut [f64]) {
    Arch::new().dispatch(Measured { pairs, query, first, distances });
}

/// One query and some consecutive rows. A type and not a closure: see `walk`.
struct Measured<'a, P> {
    pairs: &'a P,
    query: usize,
    first: usize,
    distances: &'a mut [f64],
}

impl<P: Pairs> NullaryFnOnce for Measured<'_, P> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (offset, distance) in self.distances.iter_mut().enumerate() {
            *distance = self.pairs.measure().finish(self.pairs.reduced(self.query, self.first + offset));
        }
    }
}
