//! The Gaussian kernel of diffusion maps on any data, sparse on a neighbourhood
//! graph or full, and the kernel of new rows.
//!
//! Place: the first half of diffusion maps. Symbols as in [`crate::kernel::diffusion`]:
//! k = exp(−d²/ε). Lengths are at working scale, ε with them.
//!
//! Cost: a neighbour search and O(edges), or n²·D for all pairs.

use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::affinity_components::{in_pieces, on_manifold, vanishing};
use super::affinity_graph::bridge_rows;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::graph::Isolated;
use crate::graph::geodesic::PathMethod;
use crate::graph::locate::Locator;
use crate::graph::neighborhood::Setting;
use crate::graph::neighborhood_graph::{Manifold, NewRows, Paths};
use crate::graph::{Components, Graph};
use crate::input::Data;
use crate::input::Scale;
use crate::input::check;
use crate::input::check::unfit;
use crate::input::rows::as_indices;
use crate::input::rows::{spread_rows, with_equal_rows};
use crate::input::scale::{scale_of_matrix, scale_of_points};
use crate::kernel::affinity::{Affinity, reaches, weigh};
use crate::kernel::diffusion::{Width, automatic_width, sample};
use crate::linalg::exp::exp;
use crate::neighbors::ignores_scale;
use crate::neighbors::{Hood, Index, Neighbors};

/// The kernel of the rows that take part, without its diagonal.
pub struct DiffusionKernel {
    /// k off the diagonal.
    pub kernel: Affinity,
    /// Pieces that were left as they are.
    pub pieces: Components,
    /// Piece of each row of the data before the policy acted.
    pub labels: Vec<usize>,
    /// Links that were added, as rows of the data.
    pub bridges: Array2<i64>,
    /// Where new rows find theirs.
    pub reach: Reach,
    /// ε at working scale.
    pub epsilon: f64,
    /// The dimension that the automatic ε saw.
    pub dimension: Option<f64>,
}

/// The training rows as new rows meet them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Reach {
    /// Their nearest.
    Near(Box<Manifold>),
    /// All of them.
    All {
        /// Finds them.
        locator: Locator,
        /// Rows of the data that take part, when some were left out.
        kept: Option<Vec<u32>>,
        /// Row of those that take part → an earlier one in the same place.
        twins: Vec<Option<u32>>,
        /// What the data was multiplied by.
        input_scale: Scale,
        /// What lengths are multiplied by, against the data's own.
        length_scale: Scale,
    },
}

/// Which ε: the one given, in the data's units, or the automatic one.
#[derive(Debug, Clone, Copy)]
pub struct Epsilon(pub Option<f64>);

impl Epsilon {
    /// ε at working scale; refused when no pair of `lengths` would be left.
    fn choose<'a>(
        self,
        scale: Scale,
        automatic: impl FnOnce() -> Result<Width>,
        mut lengths: impl Iterator<Item = &'a f64>,
    ) -> Result<(f64, Option<f64>)> {
        let Some(given) = self.0 else {
            let width = automatic()?;
            return Ok((width.epsilon, Some(width.dimension)));
        };
        let epsilon = scale.into(scale.into(given));
        if lengths.any(|&length| gauss(length, epsilon) > 0.0) {
            return Ok((epsilon, None));
        }
        let suggested = scale.back_squared(automatic()?.epsilon);
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
    setting: &Setting,
    isolated: Isolated,
    epsilon: Epsilon,
    data: Data<'_>,
    ctx: &Ctx,
) -> Result<DiffusionKernel> {
    let paths = Paths { method: PathMethod::Auto, conformal: false, isolated };
    let manifold = Manifold::new(setting, paths, data, ctx)?;
    let (lengths, scale) = (manifold.graph(), manifold.length_scale());
    let automatic = || width_on_lists(&manifold, setting.hood, data, ctx);
    let (epsilon, dimension) = epsilon.choose(scale, automatic, lengths.weights().iter())?;
    let kernel = weigh(lengths, &bridge_rows(&manifold), |length| gauss(length, epsilon), ctx)?;
    let (held, manifold) = on_manifold(Affinity::Sparse(kernel), 1.0, "epsilon", manifold, setting, ctx)?;
    Ok(DiffusionKernel {
        kernel: held.affinity,
        pieces: held.pieces,
        labels: held.labels,
        bridges: manifold.bridges().clone(),
        reach: Reach::Near(Box::new(manifold)),
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
fn width_on_lists(manifold: &Manifold, hood: Hood, data: Data<'_>, ctx: &Ctx) -> Result<Width> {
    /// exp(−5) is what the kernel falls to at the end of the lists.
    const REACH: f64 = 0.2;
    /// Enough steps to leave a place in two or three dimensions.
    const NEAR: usize = 4;
    let lengths = manifold.graph();
    let (some, compared) = sample(lengths.len());
    let lists: Vec<Vec<f64>> = match manifold.lengths_between(&some, &compared, data, ctx)? {
        Some(table) => squares_of_others(&table, &some, &compared),
        None => {
            let squares =
                |&row: &u32| lengths.row(row as usize).1.iter().map(|length| length * length).collect();
            some.iter().map(squares).collect()
        }
    };
    let width = automatic_width(&lists, ctx)?;
    let k = if let Hood::Nearest(k) = hood { k } else { usize::MAX };
    let last = squared_reaches(lengths, k);
    let near = squared_reaches(lengths, k.min(NEAR));
    let widest = (REACH * quantile(&last, 0.5)).max(quantile(&near, 0.99));
    let epsilon = if widest > 0.0 { width.epsilon.min(widest) } else { width.epsilon };
    Ok(Width { epsilon: epsilon.max(quantile(&near, 0.5)), ..width })
}

/// Squared distances to the k-th neighbour, ascending; copies aside.
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
pub fn all_pairs(setting: &Setting, epsilon: Epsilon, data: Data<'_>, ctx: &Ctx) -> Result<DiffusionKernel> {
    let (mut matrix, index, input_scale, length_scale) = match (data, setting.metric) {
        (Data::Points(points), Some(metric)) => {
            let input_scale = scale_of_points(points);
            let length_scale = if ignores_scale(metric) { Scale::ONE } else { input_scale };
            let scaled = input_scale.points(points);
            let index = Index::build(scaled.view(), metric, setting.algorithm, ctx)?;
            (index.matrix(None, ctx)?, Some(index), input_scale, length_scale)
        }
        (Data::Distances(matrix), None) => {
            let matrix = check::distances(matrix, ctx)?;
            let scale = scale_of_matrix(matrix.view());
            (scale.matrix(matrix.view()).into_owned(), None, scale, scale)
        }
        (data, metric) => return Err(unfit(data, metric.is_none(), "distances")),
    };
    let rows = matrix.nrows();
    let twin = |i: usize| {
        ctx.check()?;
        Ok((0..i).find(|&j| matrix[[i, j]] == 0.0).map(|j| j as u32))
    };
    let twins: Vec<Option<u32>> = (0..rows).into_par_iter().map(twin).collect::<Result<_>>()?;
    let automatic = || {
        let (some, compared) = sample(rows);
        let table = matrix.select(Axis(0), &as_indices(&some)).select(Axis(1), &as_indices(&compared));
        automatic_width(&squares_of_others(&table, &some, &compared), ctx)
    };
    let off_diagonal = matrix.indexed_iter().filter(|((i, j), _)| i < j).map(|(_, length)| length);
    let (epsilon, dimension) = epsilon.choose(length_scale, automatic, off_diagonal)?;
    matrix.par_mapv_inplace(|length| gauss(length, epsilon));
    let held = in_pieces(Affinity::Dense(matrix), 1.0, setting.policy, &vanishing("epsilon"), ctx)?;
    let locator = match (index, &held.kept) {
        (Some(index), None) => Locator::Points(Box::new(index)),
        (Some(index), Some(kept)) => {
            let part = index.points().view().select(&as_indices(kept));
            Locator::Points(Box::new(Index::build(part.view(), index.metric(), setting.algorithm, ctx)?))
        }
        (None, kept) => Locator::Distances { rows, columns: kept.clone() },
    };
    // Rows in the same place are in the same piece.
    let part = |row: u32| {
        held.kept.as_ref().map_or(Some(row), |kept| kept.binary_search(&row).ok().map(|at| at as u32))
    };
    let twins = (0..rows as u32)
        .filter(|&row| part(row).is_some())
        .map(|row| twins[row as usize].and_then(part))
        .collect();
    Ok(DiffusionKernel {
        kernel: held.affinity,
        pieces: held.pieces,
        labels: held.labels,
        bridges: Array2::zeros((0, 2)),
        reach: Reach::All { locator, kept: held.kept, twins, input_scale, length_scale },
        epsilon,
        dimension,
    })
}

impl Reach {
    /// What lengths are multiplied by, against the data's own.
    pub fn length_scale(&self) -> Scale {
        match self {
            Reach::Near(manifold) => manifold.length_scale(),
            Reach::All { length_scale, .. } => *length_scale,
        }
    }

    /// Rows that take part as `rows` rows of the data: equal rows alike, others NaN.
    pub fn as_data_rows(&self, values: Array2<f64>, rows: usize, ctx: &Ctx) -> Result<Array2<f64>> {
        match self {
            Reach::Near(manifold) => Ok(manifold.as_data_rows(values)),
            Reach::All { kept, twins, .. } => {
                let values = with_equal_rows(values, |row| twins[row].map(|twin| twin as usize), ctx)?;
                Ok(spread_rows(values, kept.as_deref(), rows))
            }
        }
    }

    /// New rows: those in the place of a training row, and the lengths of others to
    /// the `part` rows that take part.
    pub fn find(&self, data: Data<'_>, part: usize, ctx: &Ctx) -> Result<NewRows> {
        match self {
            Reach::Near(manifold) => manifold.find(data, ctx),
            Reach::All { locator, kept, input_scale, .. } => {
                let need = 12 * data.rows() as u64 * part as u64;
                ctx.reserve(need, "the kernel of the new rows", "transform fewer rows at a time")?;
                let found = locator.find(data, Hood::Nearest(part), false, *input_scale, ctx)?;
                let data_row = |row: u32| kept.as_ref().map_or(row, |kept| kept[row as usize]) as usize;
                sorted(&found, data_row)
            }
        }
    }
}

/// New rows by whether their nearest training row is in the same place.
fn sorted(found: &Neighbors, data_row: impl Fn(u32) -> usize) -> Result<NewRows> {
    let count = found.offsets.len() - 1;
    let near = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    let mut rows = NewRows { count, twins: Vec::new(), away: Vec::new(), near };
    for (row, bounds) in found.offsets.windows(2).enumerate() {
        let range = bounds[0]..bounds[1];
        if found.distances.get(range.start).is_some_and(|&nearest| nearest == 0.0) {
            rows.twins.push((row, data_row(found.indices[range.start])));
            continue;
        }
        rows.away.push(row);
        rows.near.indices.extend_from_slice(&found.indices[range.clone()]);
        rows.near.distances.extend_from_slice(&found.distances[range]);
        rows.near.offsets.push(rows.near.indices.len());
    }
    Ok(rows)
}
