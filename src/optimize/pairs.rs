//! Rows of dissimilarities, and one pass over all pairs of points with them.
//!
//! Place in the dataflow: under every objective. A pass reads row i of the dissimilarities
//! (stored, computed from points, or looked up by rank) beside the columns of the map and
//! sums what the pairs of point i add: value and gradient at once, without any n × n
//! temporary. Eight partial sums per row, added in a fixed order; rows in fixed blocks,
//! added in order. Cost: n² p.

use ndarray::ArrayView2;
use pulp::Arch;
use rayon::prelude::*;

use super::point::{PointPass, Sums};
use super::term::PairTerm;
use super::triangle;
use crate::context::Ctx;
use crate::error::Result;
use crate::neighbors::Index;

/// Where rows of dissimilarities come from.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// A stored matrix, with the weights of its pairs if they differ.
    Stored {
        /// δ.
        delta: ArrayView2<'a, f64>,
        /// w.
        weights: Option<ArrayView2<'a, f64>>,
    },
    /// Points: computed whenever they are needed.
    Points(&'a Index),
    /// Values of pairs by their rank.
    Ranked {
        /// Number of points.
        n: usize,
        /// Rank of each pair, n × n; [`NO_RANK`] for a point and itself, and missing pairs.
        ranks: &'a [u32],
        /// Value of each rank.
        values: &'a [f64],
        /// Weight of each rank, if they differ or pairs are missing.
        weights: Option<&'a [f64]>,
    },
}

/// A pair that has no rank.
pub const NO_RANK: u32 = u32::MAX;

/// Room for a row that is not stored.
#[derive(Debug, Default)]
pub struct RowRoom {
    delta: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> Rows<'a> {
    /// Number of points.
    pub fn len(&self) -> usize {
        match self {
            Rows::Stored { delta, .. } => delta.nrows(),
            Rows::Points(index) => index.len(),
            Rows::Ranked { n, .. } => *n,
        }
    }

    /// Whether pairs have weights that differ.
    pub fn has_weights(&self) -> bool {
        match self {
            Rows::Stored { weights, .. } => weights.is_some(),
            Rows::Points(_) => false,
            Rows::Ranked { weights, .. } => weights.is_some(),
        }
    }

    /// Dissimilarities and weights of row `i`; no weights are weights of one.
    pub fn row<'b>(&'b self, i: usize, room: &'b mut RowRoom) -> (&'b [f64], Option<&'b [f64]>) {
        self.row_from(i, 0, room)
    }

    /// Those of row `i` with the rows from `first` on.
    pub fn row_from<'b>(
        &'b self,
        i: usize,
        first: usize,
        room: &'b mut RowRoom,
    ) -> (&'b [f64], Option<&'b [f64]>) {
        let RowRoom { delta: delta_room, weights: weights_room } = room;
        match self {
            Rows::Stored { delta, weights } => {
                let weights = weights.as_ref().map(|weights| &stored_row(weights, i, weights_room)[first..]);
                (&stored_row(delta, i, delta_room)[first..], weights)
            }
            Rows::Points(index) => {
                delta_room.resize(index.len() - first, 0.0);
                index.distances_from(i, first, delta_room);
                (delta_room, None)
            }
            Rows::Ranked { n, ranks, values, weights } => {
                let ranks = &ranks[i * n + first..(i + 1) * n];
                let value_of = |values: &[f64], rank: u32| values.get(rank as usize).copied().unwrap_or(0.0);
                delta_room.clear();
                delta_room.extend(ranks.iter().map(|&rank| value_of(values, rank)));
                let weights = weights.map(|weights| {
                    weights_room.clear();
                    weights_room.extend(ranks.iter().map(|&rank| value_of(weights, rank)));
                    weights_room.as_slice()
                });
                (delta_room, weights)
            }
        }
    }

    /// Fold something over all rows, block by block of rows; the blocks' results in order.
    ///
    /// # Errors
    /// Cancellation.
    pub fn blocks<T: Send>(
        &self,
        ctx: &Ctx,
        work: impl Fn(std::ops::Range<usize>, &mut RowRoom) -> T + Sync,
    ) -> Result<Vec<T>> {
        let n = self.len();
        let height = (BLOCK_PAIRS / n.max(1)).max(BLOCK_ROWS);
        let count = n.div_ceil(height);
        (0..count)
            .into_par_iter()
            .map_init(RowRoom::default, |room, block| {
                ctx.check()?;
                Ok(work(block * height..((block + 1) * height).min(n), room))
            })
            .collect()
    }
}

/// Pairs of a block of few points, and rows of a block of many: enough work for a task,
/// little enough to stop soon.
const BLOCK_PAIRS: usize = 1 << 15;
const BLOCK_ROWS: usize = 8;

fn stored_row<'b>(matrix: &'b ArrayView2<'_, f64>, i: usize, room: &'b mut Vec<f64>) -> &'b [f64] {
    let n = matrix.ncols();
    match matrix.as_slice() {
        Some(all) => &all[i * n..(i + 1) * n],
        None => {
            room.clear();
            room.extend(matrix.row(i));
            room
        }
    }
}

/// The value over all pairs; half the gradient goes to `half_gradient`.
///
/// # Errors
/// Cancellation.
pub fn value_and_half_gradient<T: PairTerm>(
    rows: &Rows<'_>,
    term: T,
    x: &[f64],
    half_gradient: &mut [f64],
    ctx: &Ctx,
) -> Result<f64> {
    match x.len() / rows.len().max(1) {
        1 => triangle::value_and_half_gradient::<T, 1>(rows, term, x, half_gradient, ctx),
        2 => triangle::value_and_half_gradient::<T, 2>(rows, term, x, half_gradient, ctx),
        3 => triangle::value_and_half_gradient::<T, 3>(rows, term, x, half_gradient, ctx),
        _ => pass(rows, term, x, half_gradient, None, ctx),
    }
}

/// One pass: the value, half the gradient and, where wanted, half the diagonal of the
/// matrix of second derivatives.
///
/// # Errors
/// Cancellation.
pub fn pass<T: PairTerm>(
    rows: &Rows<'_>,
    term: T,
    x: &[f64],
    half_gradient: &mut [f64],
    half_diagonal: Option<&mut [f64]>,
    ctx: &Ctx,
) -> Result<f64> {
    let n = rows.len();
    let width = x.len() / n.max(1);
    let second = half_diagonal.is_some();
    let (arch, columns) = (Arch::new(), columns(x, n));
    let parts = rows.blocks(ctx, |range, room| {
        let mut sums = Sums::new(width, second);
        let mut found = Vec::with_capacity(range.len() * width * (1 + usize::from(second)));
        let mut total = 0.0;
        for i in range {
            let (delta, weights) = rows.row(i, room);
            let own: Vec<f64> = columns.iter().map(|column| column[i]).collect();
            let point = PointPass { term, delta, weights, columns: &columns, own: &own, sums: &mut sums };
            total += arch.dispatch(point);
            found.extend_from_slice(&sums.first);
            found.extend_from_slice(&sums.second);
        }
        (total, found)
    })?;
    let mut value = 0.0;
    let mut row = 0;
    let stride = width * (1 + usize::from(second));
    let mut diagonal = half_diagonal;
    for (total, found) in parts {
        value += total;
        for numbers in found.chunks_exact(stride.max(1)) {
            for k in 0..width {
                half_gradient[k * n + row] = numbers[k];
                if let Some(diagonal) = diagonal.as_deref_mut() {
                    diagonal[k * n + row] = numbers[width + k];
                }
            }
            row += 1;
        }
    }
    Ok(0.5 * value) // each pair was met twice
}

/// The columns of coordinates.
pub fn columns(x: &[f64], n: usize) -> Vec<&[f64]> {
    x.chunks_exact(n.max(1)).collect()
}
