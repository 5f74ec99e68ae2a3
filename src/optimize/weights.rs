//! Which pairs count and how much: weights that were given, and pairs that are missing.
//!
//! Place in the dataflow: before every objective. A weight of zero and a dissimilarity of
//! NaN say the same: nothing is known of the pair. A point without any pair, or groups of
//! points without a pair between them, could be anywhere: refused by name. Cost: n².

use ndarray::{Array2, ArrayView2};

use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::check::{MATRIX_TOLERANCE, asymmetry, largest};

/// Given dissimilarities without their NaNs, and which pairs were there.
#[derive(Debug)]
pub struct Completed {
    /// Zero where a pair is missing.
    pub delta: Array2<f64>,
    /// One where a pair is known, zero where it is missing.
    pub known: Array2<f64>,
}

/// Take the NaNs out of a matrix of dissimilarities; `None` when there are none. A pair
/// that is known in one direction is known.
pub fn complete(matrix: ArrayView2<'_, f64>) -> Option<Completed> {
    if matrix.nrows() != matrix.ncols() || !matrix.iter().any(|value| value.is_nan()) {
        return None;
    }
    let value = |i: usize, j: usize| {
        if i == j {
            if matrix[[i, i]].is_nan() { 0.0 } else { matrix[[i, i]] }
        } else if matrix[[i, j]].is_nan() {
            matrix[[j, i]]
        } else {
            matrix[[i, j]]
        }
    };
    let mut delta = Array2::from_shape_fn(matrix.dim(), |(i, j)| value(i, j));
    let known = delta.mapv(|value| if value.is_nan() { 0.0 } else { 1.0 });
    delta.mapv_inplace(|value| if value.is_nan() { 0.0 } else { value });
    Some(Completed { delta, known })
}

/// Weights of all pairs of `n` points from what was given and what is known; `None` when
/// all pairs count the same.
///
/// # Errors
/// Weights of another shape, negative, not finite or not symmetric; points that no weight
/// ties to the others.
pub fn weights_of_pairs(
    given: Option<&Array2<f64>>,
    known: Option<Array2<f64>>,
    n: usize,
    ctx: &Ctx,
) -> Result<Option<Array2<f64>>> {
    let weights = match given {
        None => match known {
            None => return Ok(None),
            Some(known) => known,
        },
        Some(given) => {
            let mut weights = checked(given, n, ctx)?;
            if let Some(known) = known {
                weights *= &known;
            }
            weights
        }
    };
    check_joined(weights.view(), given.is_some())?;
    Ok(Some(weights))
}

/// Symmetric weights, none negative; asymmetry by rounding is averaged.
fn checked(given: &Array2<f64>, n: usize, ctx: &Ctx) -> Result<Array2<f64>> {
    let refuse = |why: String| Err(Error::param("weights", why));
    if given.dim() != (n, n) {
        let (rows, columns) = given.dim();
        return refuse(format!("must be of shape ({n}, {n}), one weight a pair, got ({rows}, {columns})"));
    }
    for ((i, j), &weight) in given.indexed_iter() {
        if !(weight >= 0.0 && weight.is_finite()) {
            return refuse(format!(
                "the weight of rows {i} and {j} is {weight}; weights must be finite and >= 0"
            ));
        }
    }
    let (gap, i, j) = asymmetry(given.view(), ctx)?;
    if gap > MATRIX_TOLERANCE * largest(given.view()) {
        return refuse(format!(
            "must be symmetric: the weight of rows {i} and {j} is {}, back it is {}",
            given[[i, j]],
            given[[j, i]]
        ));
    }
    if gap == 0.0 {
        return Ok(given.clone());
    }
    ctx.warn(WarningKind::InputAdjusted, "the weights were made symmetric (they were so up to rounding)");
    Ok(0.5 * (given + &given.t()))
}

/// Every point can be reached from the first over pairs with a weight.
fn check_joined(weights: ArrayView2<'_, f64>, given: bool) -> Result<()> {
    let n = weights.nrows();
    if n < 2 {
        return Ok(());
    }
    let refuse = |why: String| Err(if given { Error::param("weights", why) } else { Error::input(why) });
    let pairs = if given { "pair with a weight above zero" } else { "known dissimilarity" };
    let alone = |i: usize| !(0..n).any(|j| j != i && weights[[i, j]] > 0.0);
    if let Some(row) = (0..n).find(|&row| alone(row)) {
        return refuse(format!("row {row} is in no {pairs}; leave it out"));
    }
    let (mut reached, mut waiting) = (vec![false; n], vec![0]);
    reached[0] = true;
    while let Some(i) = waiting.pop() {
        for j in 0..n {
            if j != i && !reached[j] && weights[[i, j]] > 0.0 {
                reached[j] = true;
                waiting.push(j);
            }
        }
    }
    match reached.iter().position(|&known| !known) {
        None => Ok(()),
        Some(other) => refuse(format!(
            "rows 0 and {other} are in two groups without any {pairs} between them ({} rows are in the group of \
             row 0); scale each group alone",
            reached.iter().filter(|&&known| known).count()
        )),
    }
}
