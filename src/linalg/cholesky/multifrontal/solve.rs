//! Solves with the factor: L Lᵀ X = B for [`LANES`] right-hand sides at once.
//!
//! One sweep up the tree and one down, each reading the factor once. Branches
//! run side by side; what they add to rows above them is collected and added in
//! their order, so that the bits do not depend on the number of threads. Cost:
//! 4 · fill · lanes operations.

use ndarray::{ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use super::factor::Factor;
use super::structure::Structure;
use super::triangular;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::standard;

/// Right-hand sides of one pass.
pub(crate) const LANES: usize = 8;

/// Rows put in order by one task.
const ROWS: usize = 4096;

pub(super) type Lanes = [f64; LANES];

impl Factor {
    /// Number of rows.
    pub fn dim(&self) -> usize {
        self.structure.sequence.len()
    }

    /// Steps of progress of a solve with up to [`LANES`] columns.
    pub fn steps_of_solve(&self) -> usize {
        2 * self.structure.len()
    }

    /// y ← (A + σI)⁻¹ x, column by column of a block of any width.
    pub fn solve(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        let sequence = &self.structure.sequence;
        let x = standard(x);
        // proof: `standard` returns a row-major matrix without gaps.
        let (given, columns) = (x.as_slice().expect("row-major"), x.ncols());
        let mut lanes = vec![[0.0; LANES]; sequence.len()];
        for first in (0..columns).step_by(LANES) {
            ctx.check()?;
            let width = LANES.min(columns - first);
            lanes.par_chunks_mut(ROWS).zip(sequence.par_chunks(ROWS)).for_each(|(lanes, rows)| {
                for (slot, &row) in lanes.iter_mut().zip(rows) {
                    let entries = &given[row as usize * columns + first..][..width];
                    slot[..width].copy_from_slice(entries);
                    slot[width..].fill(0.0);
                }
            });
            self.solve_lanes(&mut lanes, ctx)?;
            let mut part = y.slice_mut(s![.., first..first + width]);
            for (mut row, &step) in part.outer_iter_mut().zip(&self.structure.step) {
                row.iter_mut().zip(&lanes[step as usize]).for_each(|(slot, value)| *slot = *value);
            }
        }
        Ok(())
    }

    fn solve_lanes(&self, x: &mut [Lanes], ctx: &Ctx) -> Result<()> {
        let structure = &self.structure;
        let above: Vec<usize> = structure.levels.iter().flatten().copied().collect();
        // Up: branches into their own rows and a list of what goes above.
        let groups = structure.groups();
        for group in &groups {
            let added: Vec<Vec<Lanes>> = self
                .branch_rows(group, x)
                .into_par_iter()
                .map(|((first, root), own)| self.up_branch(first, root, own, ctx))
                .collect::<Result<_>>()?;
            for (&(_, root), added) in group.iter().zip(added) {
                for (&row, sums) in structure.rows_of(root).iter().zip(added) {
                    subtract(&mut x[row as usize], &sums);
                }
            }
        }
        let mut sums = Vec::new();
        for &index in &above {
            let steps = structure.steps(index);
            triangular::up(self.panel(index), &mut x[steps], &mut sums, ctx)?;
            ctx.advance(1);
            for (&row, sums) in structure.rows_of(index).iter().zip(&sums) {
                subtract(&mut x[row as usize], sums);
            }
        }
        // Down: first what is above, then the branches, which read it.
        let mut below = Vec::new();
        for &index in above.iter().rev() {
            let steps = structure.steps(index);
            below.clear();
            below.extend(structure.rows_of(index).iter().map(|&row| x[row as usize]));
            triangular::down(self.panel(index), &mut x[steps], &below, ctx)?;
            ctx.advance(1);
        }
        for group in groups {
            let known: Vec<Vec<Lanes>> = group
                .iter()
                .map(|&(_, root)| structure.rows_of(root).iter().map(|&row| x[row as usize]).collect())
                .collect();
            self.branch_rows(group, x).into_par_iter().zip(known).try_for_each(
                |(((first, root), own), known)| self.down_branch(first, root, own, &known, ctx),
            )?;
        }
        Ok(())
    }

    fn panel(&self, index: usize) -> &[f64] {
        let begins = &self.structure.value_begins;
        &self.values[begins[index]..begins[index + 1]]
    }

    /// The rows of each of these branches; steps of a branch are one run.
    fn branch_rows<'x>(
        &self,
        branches: &[(usize, usize)],
        x: &'x mut [Lanes],
    ) -> Vec<((usize, usize), &'x mut [Lanes])> {
        let Structure { begins, .. } = &self.structure;
        let mut parts = Vec::with_capacity(branches.len());
        let (mut rest, mut taken) = (x, 0);
        for &(first, root) in branches {
            let (_, after) = rest.split_at_mut(begins[first] - taken);
            let (own, after) = after.split_at_mut(begins[root + 1] - begins[first]);
            (rest, taken) = (after, begins[root + 1]);
            parts.push(((first, root), own));
        }
        parts
    }

    /// One branch on the way up; what it takes from the rows below its root.
    fn up_branch(&self, first: usize, root: usize, own: &mut [Lanes], ctx: &Ctx) -> Result<Vec<Lanes>> {
        let structure = &self.structure;
        let (begin, end) = (structure.begins[first], structure.begins[root + 1]);
        let outside = structure.rows_of(root);
        let mut total = vec![[0.0; LANES]; outside.len()];
        let mut sums = Vec::new();
        for index in first..=root {
            let steps = structure.steps(index);
            let inside = &mut own[steps.start - begin..steps.end - begin];
            triangular::up(self.panel(index), inside, &mut sums, ctx)?;
            ctx.advance(1);
            let mut next = 0;
            for (&row, sums) in structure.rows_of(index).iter().zip(&sums) {
                if (row as usize) < end {
                    subtract(&mut own[row as usize - begin], sums);
                } else {
                    // Both lists ascend.
                    while outside[next] != row {
                        next += 1;
                    }
                    add(&mut total[next], sums);
                }
            }
        }
        Ok(total)
    }

    /// One branch on the way down, `known` being the rows below its root.
    fn down_branch(
        &self,
        first: usize,
        root: usize,
        own: &mut [Lanes],
        known: &[Lanes],
        ctx: &Ctx,
    ) -> Result<()> {
        let structure = &self.structure;
        let (begin, end) = (structure.begins[first], structure.begins[root + 1]);
        let outside = structure.rows_of(root);
        let mut below = Vec::new();
        for index in (first..=root).rev() {
            let steps = structure.steps(index);
            let mut next = 0;
            below.clear();
            for &row in structure.rows_of(index) {
                below.push(if (row as usize) < end {
                    own[row as usize - begin]
                } else {
                    while outside[next] != row {
                        next += 1;
                    }
                    known[next]
                });
            }
            let inside = &mut own[steps.start - begin..steps.end - begin];
            triangular::down(self.panel(index), inside, &below, ctx)?;
            ctx.advance(1);
        }
        Ok(())
    }
}

#[inline(always)]
fn add(to: &mut Lanes, what: &Lanes) {
    for lane in 0..LANES {
        to[lane] += what[lane];
    }
}

#[inline(always)]
fn subtract(from: &mut Lanes, what: &Lanes) {
    for lane in 0..LANES {
        from[lane] -= what[lane];
    }
}
