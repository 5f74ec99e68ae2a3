//! The numbers of the factor, front by front.
//!
//! A front is the dense matrix over a supernode's steps and rows: its entries of
//! the matrix and what its children left over. Its first c columns become the
//! panel of L; what they leave for the rows below goes to the parent.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::structure::Structure;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::elimination::ROOT;

/// Columns of a left-over updated by one task.
const TILE: usize = 128;
/// Multiplications from which a left-over is updated by several tasks.
const WORTH_TILES: usize = 1 << 22;

/// A sparse symmetric matrix as the factorisation reads it: both triangles.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a> {
    pub offsets: &'a [usize],
    pub columns: &'a [u32],
    pub values: &'a [f64],
}

/// L, panel after panel, rows of a panel one after the other.
pub(crate) struct Factor {
    pub(super) structure: Structure,
    pub(super) values: Vec<f64>,
}

/// What a supernode leaves for its parent: r × r, column-major, lower triangle.
type LeftOver = Vec<f64>;
/// Supernodes and what they left over.
type Children = Vec<(usize, LeftOver)>;

impl Factor {
    /// The factor of A + σI; nothing if a pivot is not positive.
    pub fn new(
        structure: Structure,
        matrix: Entries<'_>,
        shift: f64,
        ctx: &Ctx,
    ) -> Result<std::result::Result<Factor, Structure>> {
        let mut values = vec![0.0; structure.fill()];
        let filled = fill(&structure, matrix, shift, &mut values, ctx)?;
        Ok(if filled { Ok(Factor { structure, values }) } else { Err(structure) })
    }

    /// Take the structure back, to try other numbers.
    pub fn into_structure(self) -> Structure {
        self.structure
    }
}

/// Whether all pivots were positive.
fn fill(
    structure: &Structure,
    matrix: Entries<'_>,
    shift: f64,
    values: &mut [f64],
    ctx: &Ctx,
) -> Result<bool> {
    let job = Job { structure, matrix, shift, ctx };
    let mut panels: Vec<Option<&mut [f64]>> = Vec::with_capacity(structure.len());
    let mut rest = values;
    for index in 0..structure.len() {
        let size = structure.value_begins[index + 1] - structure.value_begins[index];
        let (panel, after) = rest.split_at_mut(size);
        panels.push(Some(panel));
        rest = after;
    }
    // Left-overs of finished children, by parent, in ascending order.
    let mut waiting: Vec<Children> = (0..structure.len()).map(|_| Vec::new()).collect();
    let branches: Vec<(usize, Vec<&mut [f64]>)> = structure
        .branches
        .iter()
        .map(|&(first, root)| (first, panels[first..=root].iter_mut().filter_map(Option::take).collect()))
        .collect();
    let done: Vec<Option<LeftOver>> =
        branches.into_par_iter().map(|(first, panels)| job.branch(first, panels)).collect::<Result<_>>()?;
    for (&(_, root), left_over) in structure.branches.iter().zip(done) {
        let Some(left_over) = left_over else { return Ok(false) };
        if structure.parent[root] != ROOT {
            waiting[structure.parent[root] as usize].push((root, left_over));
        }
    }
    for level in &structure.levels {
        let fronts: Vec<(usize, &mut [f64], Children)> = level
            .iter()
            .filter_map(|&index| Some((index, panels[index].take()?, std::mem::take(&mut waiting[index]))))
            .collect();
        let done: Vec<(usize, Option<LeftOver>)> = fronts
            .into_par_iter()
            .map(|(index, panel, mut children)| {
                children.sort_by_key(|(child, _)| *child);
                Ok((index, job.front(index, panel, &children, &mut Vec::new())?))
            })
            .collect::<Result<_>>()?;
        for (index, left_over) in done {
            let Some(left_over) = left_over else { return Ok(false) };
            if structure.parent[index] != ROOT {
                waiting[structure.parent[index] as usize].push((index, left_over));
            }
        }
    }
    Ok(true)
}

/// What every front reads.
struct Job<'a> {
    structure: &'a Structure,
    matrix: Entries<'a>,
    shift: f64,
    ctx: &'a Ctx,
}

impl Job<'_> {
    /// All fronts of a branch, `panels` being those of its supernodes from
    /// `first` on; what its root leaves over, or nothing if a pivot fails.
    fn branch(&self, first: usize, panels: Vec<&mut [f64]>) -> Result<Option<LeftOver>> {
        let mut scratch = Vec::new();
        // In postorder the children of a front are the last ones still waiting.
        let mut waiting: Children = Vec::new();
        for (offset, panel) in panels.into_iter().enumerate() {
            let index = first + offset;
            let own = waiting
                .iter()
                .rposition(|(child, _)| self.structure.parent[*child] as usize != index)
                .map_or(0, |last| last + 1);
            let children = waiting.split_off(own);
            let Some(left_over) = self.front(index, panel, &children, &mut scratch)? else { return Ok(None) };
            waiting.push((index, left_over));
        }
        Ok(Some(waiting.pop().map(|(_, left_over)| left_over).unwrap_or_default()))
    }

    /// One front: its panel, row-major, and what it leaves over.
    fn front(
        &self,
        index: usize,
        panel: &mut [f64],
        children: &[(usize, LeftOver)],
        scratch: &mut Vec<f64>,
    ) -> Result<Option<LeftOver>> {
        self.ctx.check()?;
        let (c, r) = (self.structure.steps(index).len(), self.structure.rows_of(index).len());
        scratch.clear();
        scratch.resize((c + r) * c, 0.0);
        let mut left_over = vec![0.0; r * r];
        self.take_entries(index, scratch);
        for (child, theirs) in children {
            self.take_left_over(index, *child, theirs, scratch, &mut left_over);
        }
        let columns = MatMut::from_column_major_slice_mut(scratch, c + r, c);
        let (mut top, mut below) = columns.split_at_row_mut(c);
        let request = cholesky_in_place_scratch::<f64>(c, Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(request)
            .map_err(|_| Error::NotConverged("no memory for a front of the sparse factor".into()))?;
        let stack = MemStack::new(&mut memory);
        if cholesky_in_place(top.as_mut(), Default::default(), Par::Seq, stack, Default::default()).is_err() {
            return Ok(None);
        }
        solve_lower_triangular_in_place(top.as_ref(), below.as_mut().transpose_mut(), Par::Seq);
        if !(0..c).all(|pivot| top[(pivot, pivot)].is_finite() && top[(pivot, pivot)] > 0.0) {
            return Ok(None);
        }
        self.update(below.as_ref(), &mut left_over)?;
        for (row, out) in panel.chunks_exact_mut(c).enumerate() {
            let given = out.iter_mut().enumerate();
            given.for_each(|(column, slot)| *slot = scratch[column * (c + r) + row]);
        }
        Ok(Some(left_over))
    }

    /// Where a step stands in a front.
    fn place(&self, index: usize, step: u32) -> usize {
        let steps = self.structure.steps(index);
        match (step as usize).checked_sub(steps.end) {
            None => step as usize - steps.start,
            Some(_) => steps.len() + self.structure.rows_of(index).partition_point(|&row| row < step),
        }
    }

    /// The matrix's own entries in the columns of a front.
    fn take_entries(&self, index: usize, columns: &mut [f64]) {
        let Structure { sequence, step, .. } = self.structure;
        let steps = self.structure.steps(index);
        let depth = steps.len() + self.structure.rows_of(index).len();
        for (column, now) in steps.enumerate() {
            let node = sequence[now] as usize;
            let range = self.matrix.offsets[node]..self.matrix.offsets[node + 1];
            for at in range {
                let target = step[self.matrix.columns[at] as usize];
                if target as usize >= now {
                    columns[column * depth + self.place(index, target)] += self.matrix.values[at];
                }
            }
            columns[column * depth + column] += self.shift;
        }
    }

    /// Add what a child left over to a front.
    fn take_left_over(
        &self,
        index: usize,
        child: usize,
        theirs: &[f64],
        columns: &mut [f64],
        left_over: &mut [f64],
    ) {
        let (c, r) = (self.structure.steps(index).len(), self.structure.rows_of(index).len());
        let their_rows = self.structure.rows_of(child);
        let places: Vec<usize> = their_rows.iter().map(|&row| self.place(index, row)).collect();
        let size = places.len();
        for (from, &to) in places.iter().enumerate() {
            let column = &theirs[from * size..(from + 1) * size];
            let (target, skip) = if to < c {
                (&mut columns[to * (c + r)..(to + 1) * (c + r)], 0)
            } else {
                (&mut left_over[(to - c) * r..(to - c + 1) * r], c)
            };
            for (row, &place) in places.iter().enumerate().skip(from) {
                target[place - skip] += column[row];
            }
        }
    }

    /// U ← U − B Bᵀ, the lower triangle.
    fn update(&self, below: MatRef<'_, f64>, left_over: &mut [f64]) -> Result<()> {
        let (r, c) = (below.nrows(), below.ncols());
        if r == 0 {
            return Ok(());
        }
        let tile = |column: usize, out: &mut [f64]| {
            let width = out.len() / r;
            let out = MatMut::from_column_major_slice_mut(out, r, width);
            let (_, out) = out.split_at_row_mut(column);
            let (mut square, mut rest) = out.split_at_row_mut(width);
            let right = below.subrows(column, width);
            triangular::matmul(
                square.as_mut(),
                BlockStructure::TriangularLower,
                Accum::Add,
                right,
                BlockStructure::Rectangular,
                right.transpose(),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
            let lower = below.subrows(column + width, r - column - width);
            faer::linalg::matmul::matmul(rest.as_mut(), Accum::Add, lower, right.transpose(), -1.0, Par::Seq);
        };
        let columns = left_over.chunks_mut(TILE * r).enumerate();
        if r * r * c < WORTH_TILES {
            columns.for_each(|(index, out)| tile(index * TILE, out));
            return Ok(());
        }
        left_over.par_chunks_mut(TILE * r).enumerate().try_for_each(|(index, out)| {
            self.ctx.check()?;
            tile(index * TILE, out);
            Ok(())
        })
    }
}
