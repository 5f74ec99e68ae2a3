//! Affinities that a caller brings, full or sparse, and every check of them.
//!
//! Place: the door to [`super::affinity`] for affinities that are already known.
//! They must be finite, not negative and symmetric; every refusal names the pair.
//!
//! Cost: one pass over a full matrix, a sort of the entries of a sparse one.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::affinity::Affinity;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::input::Csr;
use crate::input::check::{asymmetry, largest};

/// Largest difference of the two directions of an affinity, relative to the
/// larger (of a full matrix: to the largest), that counts as rounding.
pub const ASYMMETRY: f64 = 1e-8;

/// A caller's full matrix of affinities: square, not negative, symmetric.
pub fn given_dense(matrix: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Affinity> {
    let (n, columns) = matrix.dim();
    if n != columns {
        return Err(Error::input(format!(
            "the affinity matrix must be square (n x n), got {n} x {columns}: pass affinities between all rows"
        )));
    }
    let fault = (0..n).into_par_iter().find_map_first(|i| {
        let row = matrix.row(i);
        row.iter().enumerate().find_map(|(j, &weight)| pair_fault(i, j, weight, weight))
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let (gap, i, j) = asymmetry(matrix, ctx)?;
    if gap > ASYMMETRY * largest(matrix) {
        return Err(lopsided(i, j, matrix[[i, j]], matrix[[j, i]]));
    }
    ctx.reserve(
        8 * (n * n) as u64,
        "a copy of the affinity matrix",
        "pass the affinities as a sparse matrix",
    )?;
    if gap == 0.0 {
        return Ok(Affinity::Dense(matrix.to_owned()));
    }
    Ok(Affinity::Dense(Array2::from_shape_fn((n, n), |(i, j)| 0.5 * (matrix[[i, j]] + matrix[[j, i]]))))
}

/// A caller's sparse affinities: both directions of every entry, not negative.
pub fn given_sparse(given: &Csr, ctx: &Ctx) -> Result<Affinity> {
    let n = given.rows();
    if given.cols != n {
        return Err(Error::input(format!(
            "the affinity matrix must be square (n x n), got {n} x {}: pass affinities between all rows",
            given.cols
        )));
    }
    // Entries as written and as seen from the other end, each row ascending.
    let mut entries: Vec<(u32, u32, f64, bool)> = Vec::with_capacity(2 * given.indices.len());
    for i in 0..n {
        let (columns, values) = given.row(i);
        for (&j, &value) in columns.iter().zip(values) {
            if j as usize >= n {
                return Err(Error::input(format!("affinity row {i} names row {j}; there are {n} rows")));
            }
            if let Some(fault) = pair_fault(i, j as usize, value, value) {
                return Err(fault);
            }
            entries.push((i as u32, j, value, false));
            entries.push((j, i as u32, value, true));
        }
    }
    entries.sort_unstable_by_key(|&(i, j, _, turned)| (i, j, turned));
    let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
    let mut rest = &entries[..];
    for i in 0..n as u32 {
        while let Some(&(row, j, _, _)) = rest.first().filter(|entry| entry.0 == i) {
            let same = rest.iter().take_while(|entry| (entry.0, entry.1) == (row, j)).count();
            let (pair, after) = rest.split_at(same);
            rest = after;
            let total =
                |turned| pair.iter().filter(|entry| entry.3 == turned).map(|entry| entry.2).sum::<f64>();
            let (ahead, back) = (total(false), total(true));
            if let Some(fault) = pair_fault(i as usize, j as usize, ahead, back) {
                return Err(fault);
            }
            let weight = 0.5 * (ahead + back);
            if i != j && weight > 0.0 {
                targets.push(j);
                weights.push(weight);
            }
        }
        offsets.push(targets.len());
    }
    Ok(Affinity::Sparse(Graph::from_csr(n, &offsets, &targets, &weights, ctx)?))
}

/// What is wrong with the affinities of a pair, if anything is.
fn pair_fault(i: usize, j: usize, ahead: f64, back: f64) -> Option<Error> {
    if !(ahead.is_finite() && ahead >= 0.0) {
        // In the words scikit-learn uses for such data.
        let kind = if ahead < 0.0 { "Negative values in data: " } else { "" };
        return Some(Error::input(format!(
            "{kind}the affinity of rows {i} and {j} is {ahead}; affinities must be finite and >= 0"
        )));
    }
    if (ahead - back).abs() > ASYMMETRY * ahead.max(back) {
        return Some(lopsided(i, j, ahead, back));
    }
    None
}

fn lopsided(i: usize, j: usize, ahead: f64, back: f64) -> Error {
    Error::input(format!(
        "the affinity matrix is not symmetric: from row {i} to row {j} it is {ahead}, back it is {back}; pass a \
         symmetric matrix, for example (A + A.T) / 2"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_affinities_may_be_unsorted_but_not_lopsided() {
        let csr = |values: Vec<f64>| Csr { cols: 2, offsets: vec![0, 2, 3], indices: vec![1, 0, 0], values };
        let Ok(Affinity::Sparse(graph)) = given_sparse(&csr(vec![2.0, 5.0, 2.0]), &Ctx::new(1, 0)) else {
            panic!()
        };
        assert_eq!((graph.weights(), graph.len()), (&[2.0, 2.0][..], 2));
        let refused = given_sparse(&csr(vec![2.0, 5.0, 3.0]), &Ctx::new(1, 0)).unwrap_err().to_string();
        assert!(refused.contains("row 0 to row 1"), "{refused}");
        let refused = given_sparse(&csr(vec![2.0, 5.0, -3.0]), &Ctx::new(1, 0)).unwrap_err().to_string();
        assert!(refused.contains("rows 1 and 0"), "{refused}");
    }
}
