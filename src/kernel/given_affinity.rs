//! Affinities that are given, full or sparse, and every check of them.
//!
//! Place: the way into [`super::affinity`] for affinities that are already known.
//! They must be finite and not negative; every refusal names the pair. Where the two
//! directions of an affinity differ their mean is taken, as in scikit-learn, and the user
//! is warned of the pair in which they differ most, unless it is by rounding.
//!
//! Cost: one pass over a full matrix, a sort of the entries of a sparse one.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::affinity::Affinity;
use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::graph::Graph;
use crate::input::Csr;
use crate::input::check::asymmetry_by;

/// Largest difference of the two directions of an affinity that counts as rounding,
/// relative to the largest affinity of either row.
pub const ASYMMETRY: f64 = 1e-8;

/// Affinities as they are worked with.
pub struct Given {
    /// Between different rows.
    pub affinity: Affinity,
    /// The affinity of each row to itself.
    pub diagonal: Vec<f64>,
}

/// A caller's full matrix of affinities: square, not negative.
pub fn given_dense(matrix: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Given> {
    let (n, columns) = matrix.dim();
    if n != columns {
        return Err(Error::input(format!(
            "the affinity matrix must be square (n x n), got {n} x {columns}: pass affinities between all rows"
        )));
    }
    let fault = (0..n).into_par_iter().find_map_first(|i| {
        let row = matrix.row(i);
        row.iter().enumerate().find_map(|(j, &weight)| fault(i, j, weight))
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let most = |i: usize| {
        let others = matrix.row(i).into_iter().enumerate().filter(|&(j, _)| j != i);
        others.fold(0.0_f64, |most, (_, &weight)| most.max(weight))
    };
    let most: Vec<f64> = (0..n).into_par_iter().map(most).collect();
    let (gap, i, j) = asymmetry_by(matrix, |gap, i, j| gap / most[i].min(most[j]), ctx)?;
    if gap > ASYMMETRY {
        warn_of_asymmetry(i, j, matrix[[i, j]], matrix[[j, i]], ctx);
    }
    ctx.reserve(
        8 * (n * n) as u64,
        "a copy of the affinity matrix",
        "pass the affinities as a sparse matrix",
    )?;
    let mean = |(i, j)| 0.5 * matrix[[i, j]] + 0.5 * matrix[[j, i]];
    let full = if gap == 0.0 { matrix.to_owned() } else { Array2::from_shape_fn((n, n), mean) };
    let mut affinity = Affinity::Dense(full);
    affinity.take_diagonal();
    Ok(Given { affinity, diagonal: matrix.diag().to_vec() })
}

/// A caller's sparse affinities: square, not negative. What is not stored is 0.
pub fn given_sparse(given: &Csr, ctx: &Ctx) -> Result<Given> {
    let n = given.rows();
    if given.cols != n {
        return Err(Error::input(format!(
            "the affinity matrix must be square (n x n), got {n} x {}: pass affinities between all rows",
            given.cols
        )));
    }
    // Entries as written and as seen from the other end, each row ascending.
    let mut entries: Vec<(u32, u32, f64, bool)> = Vec::with_capacity(2 * given.indices.len());
    let mut diagonal = vec![0.0; n];
    for i in 0..n {
        let (columns, values) = given.row(i);
        for (&j, &value) in columns.iter().zip(values) {
            if j as usize >= n {
                return Err(Error::input(format!("affinity row {i} names row {j}; there are {n} rows")));
            }
            if let Some(fault) = fault(i, j as usize, value) {
                return Err(fault);
            }
            if j as usize == i {
                diagonal[i] += value;
                continue;
            }
            entries.push((i as u32, j, value, false));
            entries.push((j, i as u32, value, true));
        }
    }
    entries.sort_unstable_by_key(|&(i, j, _, turned)| (i, j, turned));
    let affinity = Affinity::Sparse(paired(n, &entries, ctx)?);
    Ok(Given { affinity, diagonal })
}

/// The graph of sorted entries that are there as written and as seen from the other end.
fn paired(n: usize, entries: &[(u32, u32, f64, bool)], ctx: &Ctx) -> Result<Graph> {
    let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
    let mut most = vec![0.0_f64; n];
    let mut gaps = Vec::new();
    let mut rest = entries;
    for i in 0..n as u32 {
        while let Some(&(row, j, _, _)) = rest.first().filter(|entry| entry.0 == i) {
            let same = rest.iter().take_while(|entry| (entry.0, entry.1) == (row, j)).count();
            let (pair, after) = rest.split_at(same);
            rest = after;
            let total =
                |turned| pair.iter().filter(|entry| entry.3 == turned).fold(0.0, |sum, entry| sum + entry.2);
            let (ahead, back) = (total(false), total(true));
            most[i as usize] = most[i as usize].max(ahead);
            if ahead != back {
                gaps.push((i as usize, j as usize, ahead, back));
            }
            let weight = 0.5 * (ahead + back);
            if weight > 0.0 {
                targets.push(j);
                weights.push(weight);
            }
        }
        offsets.push(targets.len());
    }
    let share = |&(i, j, ahead, back): &(usize, usize, f64, f64)| (ahead - back).abs() / most[i].min(most[j]);
    // Each pair is there from both ends: the first of them is named.
    let worst = gaps.iter().reduce(|worst, pair| if share(pair) > share(worst) { pair } else { worst });
    if let Some(&(i, j, ahead, back)) = worst.filter(|pair| share(pair) > ASYMMETRY) {
        warn_of_asymmetry(i, j, ahead, back, ctx);
    }
    Graph::from_csr(n, &offsets, &targets, &weights, ctx)
}

/// What is wrong with an affinity on its own, if anything is.
fn fault(i: usize, j: usize, weight: f64) -> Option<Error> {
    if weight.is_finite() && weight >= 0.0 {
        return None;
    }
    // In the words scikit-learn uses for such data.
    let kind = if weight < 0.0 { "Negative values in data: " } else { "" };
    Some(Error::input(format!(
        "{kind}the affinity of rows {i} and {j} is {weight}; affinities must be finite and >= 0"
    )))
}

fn warn_of_asymmetry(i: usize, j: usize, ahead: f64, back: f64, ctx: &Ctx) {
    let (ahead, back) = (ctx.data_square(ahead), ctx.data_square(back));
    ctx.warn(
        WarningKind::InputAdjusted,
        format!(
            "the affinity matrix is not symmetric: from row {i} to row {j} it is {ahead}, back it is {back}; the \
             mean (A + A.T) / 2 is used, pass that to silence this"
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_affinities_may_be_unsorted_and_asymmetric_ones_are_warned_of() {
        let csr = |values: Vec<f64>| Csr { cols: 2, offsets: vec![0, 2, 3], indices: vec![1, 0, 0], values };
        let weights = |values| {
            let ctx = Ctx::new(1, 0);
            let given = given_sparse(&csr(values), &ctx)?;
            let Affinity::Sparse(graph) = given.affinity else { panic!() };
            let warned: Vec<String> =
                ctx.take_warnings().into_iter().map(|warning| warning.message).collect();
            Ok::<_, Error>((graph.weights().to_vec(), given.diagonal, warned))
        };
        assert_eq!(weights(vec![2.0, 5.0, 2.0]).unwrap(), (vec![2.0, 2.0], vec![5.0, 0.0], vec![]));
        let (mean, _, warned) = weights(vec![2.0, 5.0, 3.0]).unwrap();
        assert_eq!(mean, [2.5, 2.5]);
        assert!(warned[0].contains("from row 0 to row 1 it is 2, back it is 3"), "{warned:?}");
        let refused = weights(vec![2.0, 5.0, -3.0]).unwrap_err().to_string();
        assert!(refused.contains("rows 1 and 0"), "{refused}");
    }
}
