//! Affinities: how alike two rows are, on a neighbourhood graph or between all
//! pairs, and the width beyond which they are not.
//!
//! Place: a graph of distances (or a kernel matrix) in, an [`Affinity`] out, to
//! [`super::laplacian`]. Belkin and Niyogi 2003 (the graph and its heat weights
//! exp(−d²/b²), b the bandwidth, a length); scikit-learn's ½(A + Aᵀ) for weights
//! without lengths. A row is never its own neighbour: entries on the diagonal are
//! shown but do not count.
//!
//! Cost: O(entries).

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::Result;
use crate::graph::{Components, Graph, components};
use crate::linalg::exp::exp;

/// What no heat weight of a bandwidth chosen here falls below, so that a far row
/// keeps its place in the graph.
const LEAST_HEAT: f64 = 1e-100;
/// A bridge weighs at least this much of the lightest edge.
const LEAST_BRIDGE: f64 = 1e-3;
/// What no bridge falls below, so that it holds (edges weigh at most 1).
const FIRM_BRIDGE: f64 = 1e-10;
/// An affinity below this share of the degrees of both its rows is rounding: components
/// joined by such alone are components to every eigensolver.
const LOOSE: f64 = 1e-12;

/// Symmetric affinities ≥ 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Affinity {
    /// Of the edges of a graph; all others are 0.
    Sparse(Graph),
    /// Of all pairs. The diagonal does not count, and is 0 where the matrix is
    /// multiplied as it is.
    Dense(Array2<f64>),
}

impl Affinity {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Affinity::Sparse(graph) => graph.len(),
            Affinity::Dense(matrix) => matrix.nrows(),
        }
    }

    /// The sum of a row's affinities to the others, each one sequential sum.
    pub fn degrees(&self) -> Vec<f64> {
        let sum = |i| {
            let mut total = 0.0;
            self.for_each(i, |_, weight| total += weight);
            total
        };
        (0..self.len()).into_par_iter().with_min_len(64).map(sum).collect()
    }

    /// Every other row with its affinity to row `i`, ascending.
    pub fn for_each(&self, i: usize, mut see: impl FnMut(usize, f64)) {
        match self {
            Affinity::Sparse(graph) => {
                let (targets, weights) = graph.row(i);
                targets.iter().zip(weights).for_each(|(&j, &weight)| see(j as usize, weight));
            }
            Affinity::Dense(matrix) => {
                for (j, &weight) in matrix.row(i).iter().enumerate() {
                    if j != i {
                        see(j, weight);
                    }
                }
            }
        }
    }

    /// What each row of a full matrix is to itself, with 0 left in its place.
    pub fn take_diagonal(&mut self) -> Option<Vec<f64>> {
        match self {
            Affinity::Sparse(_) => None,
            Affinity::Dense(matrix) => Some(matrix.diag_mut().iter_mut().map(std::mem::take).collect()),
        }
    }

    /// The components that affinities hold together; `own` is what a row is to itself.
    /// What is rounding beside the degrees of both rows holds nothing.
    pub fn components(&self, own: f64, ctx: &Ctx) -> Result<Components> {
        let degrees: Vec<f64> = self.degrees().into_iter().map(|degree| own + degree).collect();
        let holds = |i: usize, j: usize, weight: f64| weight > LOOSE * degrees[i].min(degrees[j]);
        match self {
            Affinity::Sparse(graph) => Ok(components(&graph.only(ctx, holds)?)),
            Affinity::Dense(matrix) => dense_components(matrix.view(), holds, ctx),
        }
    }

    /// Without any affinity between rows of different components.
    pub fn apart(self, labels: &[usize], ctx: &Ctx) -> Result<Affinity> {
        Ok(match self {
            Affinity::Sparse(graph) => Affinity::Sparse(graph.only(ctx, |i, j, _| labels[i] == labels[j])?),
            Affinity::Dense(mut matrix) => {
                matrix.indexed_iter_mut().filter(|((i, j), _)| labels[*i] != labels[*j]).for_each(
                    |(_, weight)| {
                        *weight = 0.0;
                    },
                );
                Affinity::Dense(matrix)
            }
        })
    }

    /// The affinities between some rows alone, ascending.
    pub fn between(&self, rows: &[u32], ctx: &Ctx) -> Result<Affinity> {
        Ok(match self {
            Affinity::Sparse(graph) => Affinity::Sparse(graph.subgraph(rows, ctx)?),
            Affinity::Dense(matrix) => {
                let row = |at: usize| rows[at] as usize;
                let size = (rows.len(), rows.len());
                Affinity::Dense(Array2::from_shape_fn(size, |(i, j)| matrix[[row(i), row(j)]]))
            }
        })
    }

    /// These affinities among `n` rows, row i being `rows[i]`; the others have none.
    pub fn spread_over(&self, rows: &[u32], n: usize) -> Result<Affinity> {
        Ok(match self {
            Affinity::Sparse(graph) => Affinity::Sparse(graph.spread_over(rows, n)?),
            Affinity::Dense(matrix) => {
                let mut wide = Array2::zeros((n, n));
                for (from, &i) in matrix.outer_iter().zip(rows) {
                    rows.iter().zip(from).for_each(|(&j, &weight)| wide[[i as usize, j as usize]] = weight);
                }
                Affinity::Dense(wide)
            }
        })
    }
}

/// Connected components of a full matrix, by a search along the entries that hold.
fn dense_components(
    matrix: ArrayView2<'_, f64>,
    holds: impl Fn(usize, usize, f64) -> bool,
    ctx: &Ctx,
) -> Result<Components> {
    const UNSEEN: usize = usize::MAX;
    let n = matrix.nrows();
    let (mut labels, mut sizes, mut open) = (vec![UNSEEN; n], Vec::new(), Vec::new());
    for first in 0..n {
        if labels[first] != UNSEEN {
            continue;
        }
        let component = sizes.len();
        sizes.push(0);
        labels[first] = component;
        open.push(first);
        while let Some(row) = open.pop() {
            ctx.check()?;
            sizes[component] += 1;
            for (other, &weight) in matrix.row(row).iter().enumerate() {
                if labels[other] == UNSEEN && holds(row, other, weight) {
                    labels[other] = component;
                    open.push(other);
                }
            }
        }
    }
    Ok(Components { labels, sizes })
}

/// The farthest of the `k` nearest neighbours of each row, as (distance, index).
///
/// The graph is the union of all rows' own lists, so the k nearest of a row in
/// it are its own list, ties falling by index.
pub fn reaches(lengths: &Graph, k: usize) -> Vec<(f64, u32)> {
    let reach = |i: usize| {
        let (targets, weights) = lengths.row(i);
        let mut near: Vec<(f64, u32)> = weights.iter().copied().zip(targets.iter().copied()).collect();
        let last = k.min(near.len());
        if last == 0 {
            return (0.0, 0);
        }
        near.select_nth_unstable_by(last - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near[last - 1]
    };
    (0..lengths.len()).into_par_iter().with_min_len(64).map(reach).collect()
}

/// Whether a row at this distance and index lies within a reach.
pub fn within_reach(reach: (f64, u32), distance: f64, index: u32) -> bool {
    distance.total_cmp(&reach.0).then(index.cmp(&reach.1)).is_le()
}

/// ½(A + Aᵀ) of the lists of neighbours: 1 for mutual neighbours, ½ for one-sided
/// ones. A link that is in no list joins two components and weighs 1.
pub fn votes(lengths: &Graph, reach: &[(f64, u32)], ctx: &Ctx) -> Result<Graph> {
    lengths.reweighted(ctx, |i, j, distance| {
        let one = within_reach(reach[i], distance, j as u32);
        let other = within_reach(reach[j], distance, i as u32);
        if one != other { 0.5 } else { 1.0 }
    })
}

/// How long links become heat: exp(−d²/b²).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// b, at the scale of the lengths.
    pub bandwidth: f64,
    /// What no weight falls below.
    pub least: f64,
}

impl Heat {
    /// The bandwidth the lengths suggest: the median distance of a row to the
    /// last of its neighbours. Rows far out do not move it, and keep a weight.
    pub fn automatic(reach: impl Iterator<Item = f64>) -> Heat {
        let mut reach: Vec<f64> = reach.filter(|&distance| distance > 0.0).collect();
        reach.sort_unstable_by(f64::total_cmp);
        let bandwidth = reach.get(reach.len() / 2).copied().unwrap_or(1.0);
        Heat { bandwidth, least: LEAST_HEAT }
    }

    /// A bandwidth that was given: weights are what they are.
    pub fn given(bandwidth: f64) -> Heat {
        Heat { bandwidth, least: 0.0 }
    }

    /// With a weight for every distance, so that a row joined to another, however far,
    /// keeps it.
    pub fn lasting(self) -> Heat {
        Heat { least: self.least.max(LEAST_HEAT), ..self }
    }

    /// exp(−d²/b²).
    pub fn weight(self, distance: f64) -> f64 {
        let ratio = distance / self.bandwidth;
        exp(-ratio * ratio).max(self.least)
    }
}

/// Weights of edges by their lengths, `bridges` (pairs of rows) kept well above zero.
pub fn weigh(
    lengths: &Graph,
    bridges: &[(u32, u32)],
    weight: impl Fn(f64) -> f64 + Sync,
    ctx: &Ctx,
) -> Result<Graph> {
    let mut bridges: Vec<(u32, u32)> = bridges.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect();
    bridges.sort_unstable();
    let is_bridge = |i: usize, j: usize| bridges.binary_search(&(i as u32, j as u32)).is_ok();
    let weighed = lengths.reweighted(ctx, |_, _, distance| weight(distance))?;
    if bridges.is_empty() {
        return Ok(weighed);
    }
    let mut lightest = f64::INFINITY;
    for i in 0..weighed.len() {
        let (targets, weights) = weighed.row(i);
        for (&j, &weight) in targets.iter().zip(weights) {
            if weight > 0.0 && weight < lightest && !is_bridge(i.min(j as usize), i.max(j as usize)) {
                lightest = weight;
            }
        }
    }
    let least = if lightest.is_finite() { (LEAST_BRIDGE * lightest).max(FIRM_BRIDGE) } else { 1.0 };
    weighed.reweighted(ctx, |i, j, weight| if is_bridge(i, j) { weight.max(least) } else { weight })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ctx() -> Ctx {
        Ctx::new(1, 0)
    }

    fn path() -> Graph {
        // Lengths 1, 2, 4: with one neighbour each, 0–1 is mutual, the others one-sided.
        Graph::from_csr(4, &[0, 1, 3, 5, 6], &[1, 0, 2, 1, 3, 2], &[1.0, 1.0, 2.0, 2.0, 4.0, 4.0], &ctx())
            .unwrap()
    }

    #[test]
    fn one_sided_neighbours_count_half() {
        let graph = path();
        let reach = reaches(&graph, 1);
        assert_eq!(reach, [(1.0, 1), (1.0, 0), (2.0, 1), (4.0, 2)]);
        assert_eq!(votes(&graph, &reach, &ctx()).unwrap().weights(), [1.0, 1.0, 0.5, 0.5, 0.5, 0.5]);
    }

    #[test]
    fn the_bandwidth_is_the_median_reach() {
        let heat = Heat::automatic([4.0, 1.0, 2.0].into_iter());
        assert_eq!(heat.bandwidth, 2.0);
        assert_eq!(heat.weight(2.0), exp(-1.0));
        assert!(heat.weight(1e9) > 0.0 && Heat::given(1.0).weight(1e9) == 0.0);
        assert_eq!(Heat::automatic(std::iter::empty()).bandwidth, 1.0);
    }

    #[test]
    fn bridges_never_vanish() {
        let heat = Heat::given(0.5);
        let weighed = weigh(&path(), &[(2, 3)], |distance| heat.weight(distance), &ctx()).unwrap();
        assert_eq!(weighed.row(3).1[0], 1e-3 * heat.weight(2.0));
    }

    #[test]
    fn rounding_holds_nothing_together_but_a_faint_row_is_held() {
        // Two pairs, and a row whose only affinities are next to nothing.
        let mut matrix = Array2::zeros((5, 5));
        for (i, j, weight) in [(0, 1, 1.0), (2, 3, 1.0), (1, 2, 1e-14), (3, 4, 1e-40)] {
            matrix[[i, j]] = weight;
            matrix[[j, i]] = weight;
        }
        let graph = Graph::from_csr(
            5,
            &[0, 1, 3, 5, 7, 8],
            &[1, 0, 2, 1, 3, 2, 4, 3],
            &[1.0, 1.0, 1e-14, 1e-14, 1.0, 1.0, 1e-40, 1e-40],
            &ctx(),
        );
        for affinity in [Affinity::Dense(matrix), Affinity::Sparse(graph.unwrap())] {
            assert_eq!(affinity.components(0.0, &ctx()).unwrap().labels, [0, 0, 1, 1, 1]);
            assert_eq!(affinity.components(1.0, &ctx()).unwrap().labels, [0, 0, 1, 1, 2]);
            let apart = affinity.apart(&[0, 0, 1, 1, 1], &ctx()).unwrap();
            apart.for_each(1, |other, weight| assert!(other == 0 || weight == 0.0));
            apart.for_each(4, |other, weight| assert!((weight > 0.0) == (other == 3)));
        }
    }

    #[test]
    fn dense_and_sparse_pieces_agree() {
        let graph = Graph::from_csr(4, &[0, 1, 2, 3, 4], &[2, 3, 0, 1], &[1.0; 4], &ctx()).unwrap();
        let mut matrix = Array2::eye(4);
        [(0, 2), (2, 0), (1, 3), (3, 1)].into_iter().for_each(|pair| matrix[pair] = 1.0);
        let (sparse, dense) = (Affinity::Sparse(graph), Affinity::Dense(matrix));
        assert_eq!(sparse.components(0.0, &ctx()).unwrap(), dense.components(0.0, &ctx()).unwrap());
        assert_eq!(sparse.degrees(), dense.degrees());
    }
}
