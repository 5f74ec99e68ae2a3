//! From local blocks to one matrix: M = Σᵢ Sᵢ Bᵢ Sᵢᵀ, the sum over all rows i of
//! a small positive semi-definite block over the members of i's neighbourhood.
//!
//! LLE, modified LLE, Hessian LLE and LTSA differ in their blocks only. A block
//! is stored as its factor Fᵢ (members × width): Bᵢ = Fᵢ Fᵢᵀ, or I − Fᵢ Fᵢᵀ for
//! LTSA, whose blocks are projections.
//! Place: after `local`, before `spectrum`.

use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::linalg::SparseSymmetric;
use crate::linalg::{PARTS, dot};

/// What a factor stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// B = F Fᵀ.
    Product,
    /// B = I − F Fᵀ.
    Complement,
}

/// The blocks of all rows.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// What the factors stand for.
    pub form: Form,
    /// Members of block i: `members[member_offsets[i]..member_offsets[i + 1]]`.
    pub member_offsets: Vec<usize>,
    /// Rows of the matrix that a block touches; no repeats within a block.
    pub members: Vec<u32>,
    /// Factor of block i: `factors[factor_offsets[i]..factor_offsets[i + 1]]`,
    /// row-major, one row per member.
    pub factor_offsets: Vec<usize>,
    /// The factors, one after the other.
    pub factors: Vec<f64>,
}

impl Blocks {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.member_offsets.len() - 1
    }

    /// Columns of a block's factor.
    pub fn width(&self, index: usize) -> usize {
        let (members, factor) = self.block(index);
        factor.len() / members.len().max(1)
    }

    /// Members and factor of a block.
    pub fn block(&self, index: usize) -> (&[u32], &[f64]) {
        let members = &self.members[self.member_offsets[index]..self.member_offsets[index + 1]];
        let factor = &self.factors[self.factor_offsets[index]..self.factor_offsets[index + 1]];
        (members, factor)
    }
}

/// The sum of the blocks as a matrix of `n` rows.
///
/// Row by row: a row gathers from the blocks it is a member of, in their order,
/// so rows are independent, the matrix is symmetric to the last bit, and nothing
/// depends on the number of threads. Cost: Σ members² · width.
pub fn assemble(n: usize, blocks: &Blocks, ctx: &Ctx) -> Result<SparseSymmetric> {
    ctx.stage("alignment", n);
    let seats = Seats::of(n, blocks)?;
    let arch = pulp::Arch::new();
    let parts: Vec<Part> = (0..n.div_ceil(ROWS))
        .into_par_iter()
        .map_init(
            || vec![ABSENT; n],
            |place, chunk| {
                ctx.check()?;
                let rows = chunk * ROWS..n.min((chunk + 1) * ROWS);
                ctx.advance(rows.len());
                Ok(arch.dispatch(Gather { rows, blocks, seats: &seats, place }))
            },
        )
        .collect::<Result<_>>()?;
    let mut offsets = Vec::with_capacity(n + 1);
    offsets.push(0);
    let entries = parts.iter().map(|part| part.columns.len()).sum();
    let (mut columns, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    for part in parts {
        let before = columns.len();
        offsets.extend(part.ends.iter().map(|end| before + end));
        columns.extend(part.columns);
        values.extend(part.values);
    }
    SparseSymmetric::new(offsets, columns, values)
}

/// Rows gathered by one task.
const ROWS: usize = 1024;
/// Marks a column that a row has not met.
const ABSENT: u32 = u32::MAX;

/// Where each row sits: the blocks it is a member of and its place in them.
struct Seats {
    offsets: Vec<usize>,
    seats: Vec<(u32, u32)>,
}

impl Seats {
    fn of(n: usize, blocks: &Blocks) -> Result<Seats> {
        let mut offsets = vec![0usize; n + 1];
        for &member in &blocks.members {
            let slot = offsets.get_mut(member as usize + 1);
            *slot.ok_or_else(|| Error::input(format!("a block names row {member} of {n}")))? += 1;
        }
        for row in 0..n {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut seats = vec![(0, 0); blocks.members.len()];
        for block in 0..blocks.len() {
            for (seat, &member) in blocks.block(block).0.iter().enumerate() {
                let slot = &mut next[member as usize];
                seats[*slot] = (block as u32, seat as u32);
                *slot += 1;
            }
        }
        Ok(Seats { offsets, seats })
    }
}

/// Some rows of the matrix.
struct Part {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// One task, by the widest instructions there are; `place` is blank before and after.
struct Gather<'a> {
    rows: std::ops::Range<usize>,
    blocks: &'a Blocks,
    seats: &'a Seats,
    place: &'a mut [u32],
}

impl pulp::NullaryFnOnce for Gather<'_> {
    type Output = Part;

    #[inline(always)]
    fn call(self) -> Part {
        gather(self.rows, self.blocks, self.seats, self.place)
    }
}

#[inline(always)]
fn gather(rows: std::ops::Range<usize>, blocks: &Blocks, seats: &Seats, place: &mut [u32]) -> Part {
    let mut part = Part { ends: Vec::with_capacity(rows.len()), columns: vec![], values: vec![] };
    let mut row_entries: Vec<(u32, f64)> = Vec::new();
    for row in rows {
        row_entries.clear();
        for &(block, seat) in &seats.seats[seats.offsets[row]..seats.offsets[row + 1]] {
            let (members, factor) = blocks.block(block as usize);
            let width = factor.len() / members.len();
            let own = &factor[seat as usize * width..][..width];
            for (other, &column) in members.iter().enumerate() {
                let theirs = &factor[other * width..][..width];
                let product = match width < PARTS {
                    true => own.iter().zip(theirs).map(|(a, b)| a * b).sum(),
                    false => dot(own, theirs),
                };
                let entry = match blocks.form {
                    Form::Product => product,
                    Form::Complement if other == seat as usize => 1.0 - product,
                    Form::Complement => -product,
                };
                let slot = &mut place[column as usize];
                if *slot == ABSENT {
                    *slot = row_entries.len() as u32;
                    row_entries.push((column, entry));
                } else {
                    row_entries[*slot as usize].1 += entry;
                }
            }
        }
        row_entries.iter().for_each(|&(column, _)| place[column as usize] = ABSENT);
        row_entries.sort_unstable_by_key(|&(column, _)| column);
        part.columns.extend(row_entries.iter().map(|&(column, _)| column));
        part.values.extend(row_entries.iter().map(|&(_, value)| value));
        part.ends.push(part.columns.len());
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::SymmetricOperator;
    use crate::linalg::random::{below, uniform};
    use ndarray::Array2;

    /// The sum by its definition, in a dense matrix.
    fn plain(n: usize, blocks: &Blocks) -> Array2<f64> {
        let mut sum = Array2::zeros((n, n));
        for index in 0..blocks.len() {
            let (members, factor) = blocks.block(index);
            let factor =
                Array2::from_shape_vec((members.len(), factor.len() / members.len()), factor.to_vec())
                    .unwrap();
            let product = factor.dot(&factor.t());
            let block = match blocks.form {
                Form::Product => product,
                Form::Complement => Array2::eye(members.len()) - product,
            };
            for (a, &row) in members.iter().enumerate() {
                for (b, &column) in members.iter().enumerate() {
                    sum[[row as usize, column as usize]] += block[[a, b]];
                }
            }
        }
        sum
    }

    #[test]
    fn rows_gathered_in_parallel_are_the_sum_of_the_blocks() {
        let n = 2500;
        for form in [Form::Product, Form::Complement] {
            let mut stream = Ctx::new(1, 3).stream("blocks");
            let mut blocks = Blocks {
                form,
                member_offsets: vec![0],
                members: vec![],
                factor_offsets: vec![0],
                factors: vec![],
            };
            for index in 0..n {
                let mut members: Vec<u32> =
                    (0..1 + index % 6).map(|_| ((index + below(&mut stream, 40)) % n) as u32).collect();
                members.sort_unstable();
                members.dedup();
                let factor = uniform(&mut stream, members.len(), 1 + index % 3);
                blocks.members.extend(&members);
                blocks.member_offsets.push(blocks.members.len());
                blocks.factors.extend(factor.iter());
                blocks.factor_offsets.push(blocks.factors.len());
            }
            let ctx = Ctx::new(2, 0);
            let sum = ctx.install(|| assemble(n, &blocks, &ctx)).unwrap();
            let alone = Ctx::new(1, 0);
            assert_eq!(alone.install(|| assemble(n, &blocks, &alone)).unwrap(), sum);
            let dense = sum.to_dense(&ctx).unwrap();
            assert_eq!(dense, dense.t());
            assert!((dense - plain(n, &blocks)).iter().all(|gap| gap.abs() < 1e-13));
        }
    }

    #[test]
    fn a_block_outside_the_matrix_is_refused() {
        let blocks = Blocks {
            form: Form::Product,
            member_offsets: vec![0, 1],
            members: vec![7],
            factor_offsets: vec![0, 1],
            factors: vec![1.0],
        };
        assert!(assemble(7, &blocks, &Ctx::new(1, 0)).is_err());
    }
}
