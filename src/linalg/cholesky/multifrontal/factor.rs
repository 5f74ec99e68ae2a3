//! The numbers of the factor, front by front.
//!
//! A front is the dense matrix over a supernode's steps and rows: its entries of
//! the matrix and what its children left over. Its first c columns become the
//! panel of L; what they leave for the rows below goes to the parent.

use rayon::prelude::*;

use super::front::{eliminate, leave_over, work_of_front};
use super::structure::Structure;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::cholesky::elimination::ROOT;

/// Rows of a child added up between two looks at the cancel flag.
const ROWS_PER_CHECK: usize = 256;

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

/// What a supernode leaves for its parent: r × r, row by row, lower triangle.
type LeftOver = Vec<f64>;
/// Supernodes and what they left over.
type Children = Vec<(usize, LeftOver)>;

/// Children of a front are added up before all of them are done when they take so many
/// times the room of the front: a front may have tens of thousands of them.
const MOST_WAITING: usize = 4;

/// A front that waits for its children.
#[derive(Default)]
struct Waiting {
    /// Those not yet added up, and their numbers.
    children: Children,
    numbers: usize,
    /// What the others leave for the front's own left-over, if any are added up.
    begun: Option<LeftOver>,
}

impl Waiting {
    fn push(&mut self, child: usize, left_over: LeftOver) {
        self.numbers += left_over.len();
        self.children.push((child, left_over));
    }
}

impl Factor {
    /// The factor of A + σI; nothing if a pivot is not positive.
    pub fn new(
        structure: Structure,
        matrix: Entries<'_>,
        shift: f64,
        ctx: &Ctx,
    ) -> Result<std::result::Result<Factor, Structure>> {
        let fronts = (0..structure.len()).map(|s| (structure.steps(s).len(), structure.rows_of(s).len()));
        ctx.stage("sparse factor", fronts.map(|(c, r)| work_of_front(c, r)).sum());
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
    let mut waiting: Vec<Waiting> = (0..structure.len()).map(|_| Waiting::default()).collect();
    for group in structure.groups() {
        let branches: Vec<(usize, Vec<&mut [f64]>)> = group
            .iter()
            .map(|&(first, root)| (first, panels[first..=root].iter_mut().filter_map(Option::take).collect()))
            .collect();
        let done: Vec<Option<LeftOver>> = branches
            .into_par_iter()
            .map(|(first, panels)| job.branch(first, panels))
            .collect::<Result<_>>()?;
        for (&(_, root), left_over) in group.iter().zip(done) {
            let Some(left_over) = left_over else { return Ok(false) };
            if structure.parent[root] != ROOT {
                let above = structure.parent[root] as usize;
                waiting[above].push(root, left_over);
                // proof: branches end below `above`, whose turn comes after all of them.
                job.add_early(above, panels[above].as_deref_mut().expect("not done"), &mut waiting[above])?;
            }
        }
    }
    for level in &structure.levels {
        let fronts: Vec<(usize, &mut [f64], Waiting)> = level
            .iter()
            .filter_map(|&index| Some((index, panels[index].take()?, std::mem::take(&mut waiting[index]))))
            .collect();
        let done: Vec<(usize, Option<LeftOver>)> = fronts
            .into_par_iter()
            .map(|(index, panel, mut waiting)| {
                waiting.children.sort_by_key(|(child, _)| *child);
                Ok((index, job.front(index, panel, waiting, &mut Vec::new())?))
            })
            .collect::<Result<_>>()?;
        for (index, left_over) in done {
            let Some(left_over) = left_over else { return Ok(false) };
            if structure.parent[index] != ROOT {
                waiting[structure.parent[index] as usize].push(index, left_over);
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
    fn branch(&self, first: usize, mut panels: Vec<&mut [f64]>) -> Result<Option<LeftOver>> {
        let mut square = Vec::new();
        let mut waiting: Vec<Waiting> = (0..panels.len()).map(|_| Waiting::default()).collect();
        for offset in 0..panels.len() {
            let index = first + offset;
            let ready = std::mem::take(&mut waiting[offset]);
            let left_over = self.front(index, panels[offset], ready, &mut square)?;
            let Some(left_over) = left_over else { return Ok(None) };
            if offset + 1 == panels.len() {
                return Ok(Some(left_over));
            }
            // In postorder all others of the branch are below its root.
            let above = self.structure.parent[index] as usize;
            let waiting = &mut waiting[above - first];
            waiting.push(index, left_over);
            self.add_early(above, panels[above - first], waiting)?;
        }
        Ok(Some(Vec::new()))
    }

    /// Add up the children of a front that are done, if they take much room.
    fn add_early(&self, index: usize, panel: &mut [f64], waiting: &mut Waiting) -> Result<()> {
        let (c, r) = (self.structure.steps(index).len(), self.structure.rows_of(index).len());
        if waiting.numbers > MOST_WAITING * (c + r) * (c + r) {
            self.add_up(index, panel, waiting)?;
        }
        Ok(())
    }

    /// Add up the children of a front that are done; its own entries come first.
    fn add_up(&self, index: usize, panel: &mut [f64], waiting: &mut Waiting) -> Result<()> {
        let mut left_over = waiting.begun.take().unwrap_or_else(|| {
            self.take_entries(index, panel);
            let r = self.structure.rows_of(index).len();
            vec![0.0; r * r]
        });
        // Each is dropped as soon as it is read: near the root they are as large as the factor.
        for (child, theirs) in waiting.children.drain(..) {
            self.take_left_over(index, child, &theirs, panel, &mut left_over)?;
        }
        waiting.numbers = 0;
        waiting.begun = Some(left_over);
        Ok(())
    }

    /// One front: its panel, which is zero or begun before, and what it leaves over.
    fn front(
        &self,
        index: usize,
        panel: &mut [f64],
        mut children: Waiting,
        square: &mut Vec<f64>,
    ) -> Result<Option<LeftOver>> {
        self.ctx.check()?;
        let c = self.structure.steps(index).len();
        self.add_up(index, panel, &mut children)?;
        let mut left_over = children.begun.unwrap_or_default();
        if !eliminate(panel, c, square, self.ctx)? {
            return Ok(None);
        }
        leave_over(&panel[c * c..], c, &mut left_over, self.ctx)?;
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
    fn take_entries(&self, index: usize, panel: &mut [f64]) {
        let Structure { sequence, step, .. } = self.structure;
        let steps = self.structure.steps(index);
        let c = steps.len();
        for (column, now) in steps.enumerate() {
            let node = sequence[now] as usize;
            let range = self.matrix.offsets[node]..self.matrix.offsets[node + 1];
            for at in range {
                let target = step[self.matrix.columns[at] as usize];
                if target as usize >= now {
                    panel[self.place(index, target) * c + column] += self.matrix.values[at];
                }
            }
            panel[column * c + column] += self.shift;
        }
    }

    /// Add what a child left over to a front.
    fn take_left_over(
        &self,
        index: usize,
        child: usize,
        theirs: &[f64],
        panel: &mut [f64],
        left_over: &mut [f64],
    ) -> Result<()> {
        let (c, r) = (self.structure.steps(index).len(), self.structure.rows_of(index).len());
        let their_rows = self.structure.rows_of(child);
        let places: Vec<usize> = their_rows.iter().map(|&row| self.place(index, row)).collect();
        // Places ascend: those in the panel come first.
        let inside = places.partition_point(|&place| place < c);
        for (from, &to) in places.iter().enumerate() {
            if from % ROWS_PER_CHECK == ROWS_PER_CHECK - 1 {
                self.ctx.check()?;
            }
            let row = &theirs[from * places.len()..][..=from];
            let (near, far) = row.split_at(inside.min(row.len()));
            let target = &mut panel[to * c..(to + 1) * c];
            places.iter().zip(near).for_each(|(&place, value)| target[place] += value);
            if !far.is_empty() {
                let target = &mut left_over[(to - c) * r..(to - c + 1) * r];
                places[inside..].iter().zip(far).for_each(|(&place, value)| target[place - c] += value);
            }
        }
        Ok(())
    }
}
