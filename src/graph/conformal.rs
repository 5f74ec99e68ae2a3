//! Conformal lengths (de Silva and Tenenbaum 2003): an edge is divided by √(M(i)·M(j)),
//! M being the mean distance of a row to its neighbours, so that regions sampled densely
//! and thinly count alike. Such lengths have no unit.
//!
//! Place: a step of [`super::neighborhood`], and of new rows. Cost: O(edges).

use super::Graph;
use crate::context::Ctx;
use crate::error::Result;
use crate::neighbors::Neighbors;

/// M(i) above zero for every row, from the mean distances: where all neighbours are
/// duplicates of the row its longer edges count, and where there are none it does not
/// matter.
pub(super) fn spacing(mut means: Vec<f64>, graph: &Graph) -> Vec<f64> {
    for (row, mean) in means.iter_mut().enumerate() {
        if *mean > 0.0 {
            continue;
        }
        let positive: Vec<f64> = graph.row(row).1.iter().copied().filter(|&weight| weight > 0.0).collect();
        *mean = if positive.is_empty() { 1.0 } else { positive.iter().sum::<f64>() / positive.len() as f64 };
    }
    means
}

/// The graph with every edge divided by the geometric mean of its ends' spacing.
pub(super) fn divided(graph: &Graph, spacing: &[f64], ctx: &Ctx) -> Result<Graph> {
    graph.reweighted(ctx, |i, j, weight| weight / (spacing[i] * spacing[j]).sqrt())
}

/// The same for the edges of new rows, whose own spacing is that of their lists.
pub(super) fn divide_new(near: &mut Neighbors, spacing: &[f64]) {
    for row in 0..near.rows() {
        let range = near.range(row);
        let own = near.distances[range.clone()].iter().sum::<f64>() / range.len().max(1) as f64;
        for at in range {
            near.distances[at] /= (own * spacing[near.indices[at] as usize]).sqrt();
        }
    }
}
