//! Results of the rows that take part as results of all rows of the data: coordinates,
//! and the affinities themselves.
//!
//! Cost: O(n·p), O(entries).

use ndarray::Array2;

use super::affinity::Affinity;
use super::affinity_graph::Source;
use crate::context::Ctx;
use crate::error::Result;
use crate::input::rows::{spread_rows, with_equal_rows};
use crate::input::{PointsRef, Scale};

/// Coordinates of the rows that take part as coordinates of the rows of the data:
/// equal rows get equal ones, rows left out NaN.
pub fn coordinates_of_data(
    coordinates: Array2<f64>,
    source: &Source,
    kept: Option<&[u32]>,
    rows: usize,
    ctx: &Ctx,
) -> Result<Array2<f64>> {
    if let Source::Neighborhood { manifold, .. } = source {
        return Ok(manifold.as_data_rows(coordinates));
    }
    let mut coordinates = match source {
        Source::Kernel { points, .. } => {
            with_equal_rows(coordinates, |row| equal_row(points.view(), row), ctx)?
        }
        _ => coordinates,
    };
    if let Source::Lengths(edges) = source {
        for &(row, twin) in &edges.twins {
            let same = coordinates.row(twin as usize).to_owned();
            coordinates.row_mut(row as usize).assign(&same);
        }
    }
    Ok(spread_rows(coordinates, kept, rows))
}

/// The first row before this one that is equal to it.
fn equal_row(points: PointsRef<'_>, row: usize) -> Option<usize> {
    (0..row).find(|&before| points.row_equals(row, points, before))
}

/// The affinities of all `rows` rows of the data, in their own units, and the diagonal
/// where a graph has no place for it.
pub fn affinities_of_data(
    affinity: &Affinity,
    diagonal: Option<&[f64]>,
    kept: Option<&[u32]>,
    rows: usize,
    scale: Scale,
) -> Result<(Affinity, Option<Vec<f64>>)> {
    let mut affinity = match kept {
        Some(kept) => affinity.spread_over(kept, rows)?,
        None => affinity.clone(),
    };
    match &mut affinity {
        _ if scale.is_one() => {}
        Affinity::Dense(matrix) => matrix.mapv_inplace(|weight| scale.back(weight)),
        Affinity::Sparse(graph) => *graph = graph.rescaled(|weight| scale.back(weight))?,
    }
    let mut all = vec![0.0; affinity.len()];
    for (row, &value) in diagonal.unwrap_or_default().iter().enumerate() {
        all[kept.map_or(row, |kept| kept[row] as usize)] = value;
    }
    Ok(match &mut affinity {
        Affinity::Dense(matrix) => {
            matrix.diag_mut().iter_mut().zip(all).for_each(|(slot, value)| *slot = value);
            (affinity, None)
        }
        Affinity::Sparse(_) => (affinity, diagonal.is_some().then_some(all)),
    })
}
