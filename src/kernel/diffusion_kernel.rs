//! The Gaussian kernel of diffusion maps on any data, sparse on a neighbourhood
//! graph or full, and the kernel of new rows.
//!
//! Place: the first half of diffusion maps. Symbols as in [`crate::kernel::diffusion`]:
//! k = exp(−d²/ε).
//!
//! Cost: a neighbour search and O(edges), or n²·D for all pairs.

use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::affinity_components::{by_policy, on_graph, vanishing};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::{Components, Graph, Isolated, Locator, NeighborhoodGraph, NeighborhoodParams, NewRows};
use crate::input::Data;
use crate::input::check;
use crate::input::check::unfit;
use crate::input::rows::{RowMap, as_indices};
use crate::kernel::affinity::{Affinity, reaches, weigh};
use crate::kernel::diffusion::{Width, automatic_width, sample};
use crate::linalg::exp::exp;
use crate::neighbors::{Index, NeighborRule};

/// The kernel of the rows in use, without its diagonal.
pub struct DiffusionKernel {
    /// k off the diagonal.
    pub kernel: Affinity,
    /// Components that were left as they are.
    pub components: Components,
    /// Component of each row of the data before the policy acted.
    pub labels: Vec<usize>,
    /// Edges that were added, as rows of the data.
    pub bridges: Vec<[u32; 2]>,
    /// Where new rows find theirs.
    pub source: KernelSource,
    /// ε.
    pub epsilon: f64,
    /// The dimension that the automatic ε found.
    pub dimension: Option<f64>,
}

/// The training rows as new rows meet them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum KernelSource {
    /// Their nearest.
    Near(Box<NeighborhoodGraph>),
    /// All of them.
    All {
        /// Finds them.
        locator: Locator,
        /// The rows in use.
        rows: RowMap,
    },
}

/// Which ε: the one given, or the automatic one.
#[derive(Debug, Clone, Copy)]
pub struct Epsilon(pub Option<f64>);

impl Epsilon {
    /// ε; refused when the kernel of every pair of `lengths` would vanish.
    fn choose<'a>(
        self,
        automatic: impl FnOnce() -> Result<Width>,
        mut lengths: impl Iterator<Item = &'a f64>,
        ctx: &Ctx,
    ) -> Result<(f64, Option<f64>)> {
        let Some(epsilon) = self.0 else {
            let width = automatic()?;
            return Ok((width.epsilon, Some(width.dimension)));
        };
        if lengths.any(|&length| gauss(length, epsilon) > 0.0) {
            return Ok((epsilon, None));
        }
        let (given, suggested) = (ctx.data_square(epsilon), ctx.data_square(automatic()?.epsilon));
        Err(Error::param(
            "epsilon",
            format!(
                "at epsilon = {given:e} the kernel exp(-d²/epsilon) of every pair of rows vanishes; try epsilon = \
                 {suggested:.3e}, or None to have it chosen"
            ),
        ))
    }
}

/// exp(−d²/ε).
pub fn gauss(length: f64, epsilon: f64) -> f64 {
    if length == 0.0 { 1.0 } else { exp(-(length * length) / epsilon) }
}

/// The kernel on the neighbourhood graph.
pub fn near(
    params: &NeighborhoodParams,
    epsilon: Epsilon,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<DiffusionKernel> {
    let graph = params.build(data, ctx)?;
    let lengths = graph.lengths();
    let automatic = || width_on_lists(&graph, params.rule, data, ctx);
    let (epsilon, dimension) = epsilon.choose(automatic, lengths.weights().iter(), ctx)?;
    let kernel = weigh(lengths, &graph.bridges_in_use(), |length| gauss(length, epsilon), ctx)?;
    let (found, graph) = on_graph(Affinity::Sparse(kernel), 1.0, "epsilon", graph, params, ctx)?;
    Ok(DiffusionKernel {
        kernel: found.affinity,
        components: found.components,
        labels: found.labels,
        bridges: graph.bridges().to_vec(),
        source: KernelSource::Near(Box::new(graph)),
        epsilon,
        dimension,
    })
}

/// The automatic ε of a kernel on neighbour lists: that of all pairs where their
/// distances are known, of the edges where not, as far as the lists allow.
///
/// Lists cut the kernel off. Where ε is wide against their reach every value in them
/// is about 1, neither ε nor the density has a say any more, and α takes nothing out.
/// So ε is at most [`REACH`] of the squared distance to the last neighbour (the median);
/// but then rows in thin regions must still have somewhere to go: it is not cut below
/// the squared distance to neighbour [`NEAR`] of all but a hundredth of the rows, and in
/// no case lies below that distance's median.
fn width_on_lists(graph: &NeighborhoodGraph, rule: NeighborRule, data: Data<'_>, ctx: &Ctx) -> Result<Width> {
    /// exp(−5) is what the kernel falls to at the end of the lists.
    const REACH: f64 = 0.2;
    /// Enough steps to leave a region in two or three dimensions.
    const NEAR: usize = 4;
    let lengths = graph.lengths();
    let (some, compared) = sample(lengths.len());
    let lists: Vec<Vec<f64>> = match graph.distances_between(&some, &compared, data, ctx)? {
        Some(table) => squares_of_others(&table, &some, &compared),
        None => {
            let squares =
                |&row: &u32| lengths.row(row as usize).1.iter().map(|length| length * length).collect();
            some.iter().map(squares).collect()
        }
    };
    let width = automatic_width(&lists, ctx)?;
    let k = if let NeighborRule::Nearest(k) = rule { k } else { usize::MAX };
    let last = squared_reaches(lengths, k);
    let near = squared_reaches(lengths, k.min(NEAR));
    let widest = (REACH * quantile(&last, 0.5)).max(quantile(&near, 0.99));
    let epsilon = if widest > 0.0 { width.epsilon.min(widest) } else { width.epsilon };
    Ok(Width { epsilon: epsilon.max(quantile(&near, 0.5)), ..width })
}

/// Squared distances to the k-th neighbour, ascending; duplicates aside.
fn squared_reaches(lengths: &Graph, k: usize) -> Vec<f64> {
    let mut squares: Vec<f64> =
        reaches(lengths, k).iter().map(|reach| reach.0 * reach.0).filter(|&square| square > 0.0).collect();
    squares.sort_unstable_by(f64::total_cmp);
    squares
}

/// The value below which a share of the sorted ones lies; 0 when there are none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
}

/// Squared lengths from some rows to others, a row to itself left out.
fn squares_of_others(table: &Array2<f64>, some: &[u32], compared: &[u32]) -> Vec<Vec<f64>> {
    let list = |(lengths, row): (ArrayView1<'_, f64>, &u32)| {
        let others = lengths.into_iter().zip(compared).filter(|(_, other)| *other != row);
        others.map(|(length, _)| length * length).collect()
    };
    table.outer_iter().zip(some).map(list).collect()
}

/// The kernel of all pairs.
pub fn all_pairs(
    params: &NeighborhoodParams,
    epsilon: Epsilon,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<DiffusionKernel> {
    let (mut matrix, locator) = match (data, params.metric) {
        (Data::Points(points), Some(metric)) => {
            let index = Index::build(points, metric, params.algorithm, ctx)?;
            (index.matrix(None, ctx)?, Locator::Points(Box::new(index)))
        }
        (Data::Distances(matrix), None) => (check::distances(matrix, ctx)?.into_owned(), Locator::Distances),
        (data, metric) => return Err(unfit(data, metric.is_none(), "distances")),
    };
    let rows = matrix.nrows();
    let duplicate = |i: usize| {
        ctx.check()?;
        Ok((0..i).find(|&j| matrix[[i, j]] == 0.0).map(|j| (i, j)))
    };
    let duplicates: Vec<Option<(usize, usize)>> =
        (0..rows).into_par_iter().map(duplicate).collect::<Result<_>>()?;
    let automatic = || {
        let (some, compared) = sample(rows);
        let table = matrix.select(Axis(0), &as_indices(&some)).select(Axis(1), &as_indices(&compared));
        automatic_width(&squares_of_others(&table, &some, &compared), ctx)
    };
    let off_diagonal = matrix.indexed_iter().filter(|((i, j), _)| i < j).map(|(_, length)| length);
    let (epsilon, dimension) = epsilon.choose(automatic, off_diagonal, ctx)?;
    matrix.par_mapv_inplace(|length| gauss(length, epsilon));
    let (affinity, all) = (Affinity::Dense(matrix), RowMap::all(rows));
    let found = by_policy(affinity, all, 1.0, params.policy, &vanishing("epsilon"), ctx)?;
    let locator = match found.rows.used() {
        Some(used) => locator.only(used, params.algorithm, ctx)?,
        None => locator,
    };
    // Duplicates are in the same component.
    let pair = |(row, first): (usize, usize)| Some((found.rows.used_row(row)?, found.rows.used_row(first)?));
    let duplicates: Vec<(u32, u32)> = duplicates.into_iter().flatten().filter_map(pair).collect();
    Ok(DiffusionKernel {
        kernel: found.affinity,
        components: found.components,
        labels: found.labels,
        bridges: Vec::new(),
        source: KernelSource::All { locator, rows: found.rows.with_duplicates(duplicates) },
        epsilon,
        dimension,
    })
}

impl KernelSource {
    /// The rows of the data that are in use.
    pub fn rows(&self) -> &RowMap {
        match self {
            KernelSource::Near(graph) => graph.rows(),
            KernelSource::All { rows, .. } => rows,
        }
    }

    /// An order of the rows in use in which near rows are near, if one is known.
    pub fn order(&self) -> Option<&[u32]> {
        if let KernelSource::Near(graph) = self { graph.order() } else { None }
    }

    /// New rows: duplicates of training rows, and the distances of others to rows in use.
    pub fn find(&self, data: Data<'_>, ctx: &Ctx) -> Result<NewRows> {
        match self {
            KernelSource::Near(graph) => graph.find(data, ctx),
            KernelSource::All { locator, rows } => {
                let need = 12 * data.rows() as u64 * rows.len() as u64;
                ctx.reserve(need, "the kernel of the new rows", "transform fewer rows at a time")?;
                let all = NeighborRule::Nearest(rows.len());
                let found = locator.find(data, rows, all, Isolated::Error, ctx)?;
                Ok(NewRows::new(&found, rows, |_| None))
            }
        }
    }
}
