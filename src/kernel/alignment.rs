//! From local blocks to one matrix: M = Σᵢ Sᵢ Bᵢ Sᵢᵀ, the sum over all rows i of
//! a small positive semi-definite block over the members of i's neighbourhood.
//!
//! LLE, modified LLE, Hessian LLE and LTSA differ in their blocks only. A block
//! is held by its factor Fᵢ (members × width): Bᵢ = Fᵢ Fᵢᵀ, or I − Fᵢ Fᵢᵀ for
//! LTSA, whose blocks are projections.
//! Place: after `local`, before `spectrum`.

use crate::context::Ctx;
use crate::error::Result;
use crate::kernel::SparseSymmetric;

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

/// The sum of the blocks as a matrix of `n` rows.
pub fn assemble(n: usize, blocks: &Blocks, ctx: &Ctx) -> Result<SparseSymmetric> {
    ctx.check()?;
    let mut rows = vec![std::collections::BTreeMap::<u32, f64>::new(); n];
    for block in 0..blocks.member_offsets.len() - 1 {
        let members = &blocks.members[blocks.member_offsets[block]..blocks.member_offsets[block + 1]];
        let factor = &blocks.factors[blocks.factor_offsets[block]..blocks.factor_offsets[block + 1]];
        let width = factor.len() / members.len().max(1);
        for (a, &row) in members.iter().enumerate() {
            for (b, &column) in members.iter().enumerate() {
                let product: f64 = (0..width).map(|c| factor[a * width + c] * factor[b * width + c]).sum();
                let entry = match blocks.form {
                    Form::Product => product,
                    Form::Complement => f64::from(u8::from(a == b)) - product,
                };
                *rows[row as usize].entry(column).or_insert(0.0) += entry;
            }
        }
    }
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in rows {
        columns.extend(row.keys());
        values.extend(row.values());
        offsets.push(columns.len());
    }
    SparseSymmetric::new(offsets, columns, values)
}
