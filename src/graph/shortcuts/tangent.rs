//! Whether an edge leaves the manifold: how far it is out of the tangent planes of its ends.
//!
//! Owns: the tangent plane at a node, the leading principal axes of the nodes around it by paths
//! that do not use the edge. Place: used by [`super::widespread`] where the rows are points. An
//! edge that closes a loop lies in the planes of both ends, one between sheets stands on them.
//! Cost: 15 rows and their inner products for each end.

use super::Shortcut;
use crate::graph::Graph;
use crate::graph::nearby::nearest_by_path;
use crate::input::{Points, PointsRef};
use crate::linalg::dot;
use crate::linalg::small::eigen::Eigen;

/// Nodes around an end, and the share of their spread that the plane has.
const AROUND: usize = 13;
const SHARE: f64 = 0.9;
/// Planes of more dimensions than this say nothing: there are not enough nodes.
const MOST_DIMENSIONS: usize = 6;
/// Shares of the squared length outside the planes: of one that leaves them, of one that stays.
const LEAVES: f64 = 0.55;
const STAYS: f64 = 0.2;

/// Whether the edge leaves the manifold; `None` where that is not clear.
pub(super) fn leaves(points: PointsRef<'_>, sparse: &Graph, edge: &Shortcut) -> Option<bool> {
    let one = outside(points.reborrow(), sparse, edge.from, edge.to)?;
    let other = outside(points, sparse, edge.to, edge.from)?;
    match (one.min(other), one.max(other)) {
        (least, _) if least >= LEAVES => Some(true),
        (_, most) if most <= STAYS => Some(false),
        _ => None,
    }
}

/// The share of the squared length of the edge that is outside the tangent plane at `from`.
fn outside(points: PointsRef<'_>, sparse: &Graph, from: u32, to: u32) -> Option<f64> {
    let near = nearest_by_path(sparse, from, AROUND);
    let mut chosen = vec![to as usize, from as usize];
    chosen.extend(near.iter().map(|&(node, _)| node as usize));
    let mut rows = dense(points.select(&chosen), chosen.len());
    let edge: Vec<f64> = rows[0].iter().zip(&rows[1]).map(|(to, from)| to - from).collect();
    let around = &mut rows[1..];
    let count = around.len();
    for feature in 0..edge.len() {
        let mean = around.iter().map(|row| row[feature]).sum::<f64>() / count as f64;
        around.iter_mut().for_each(|row| row[feature] -= mean);
    }
    let mut gram: Vec<f64> = Vec::with_capacity(count * count);
    for one in around.iter() {
        gram.extend(around.iter().map(|other| dot(one, other)));
    }
    let mut eigen = Eigen::default();
    eigen.decompose(&mut gram, count, true);
    let total: f64 = eigen.values.iter().map(|value| value.max(0.0)).sum();
    let squared = dot(&edge, &edge);
    if !(total > 0.0 && squared > 0.0) {
        return None;
    }
    let along: Vec<f64> = around.iter().map(|row| dot(row, &edge)).collect();
    let (mut spread, mut inside) = (0.0, 0.0);
    for (axis, &value) in eigen.values.iter().enumerate() {
        if spread >= SHARE * total {
            return Some((1.0 - inside / squared).max(0.0));
        }
        if axis == MOST_DIMENSIONS {
            break;
        }
        spread += value;
        let part = dot(&eigen.vectors[axis * count..(axis + 1) * count], &along);
        inside += part * part / value;
    }
    None
}

/// Rows of numbers, whatever the layout.
fn dense(points: Points, count: usize) -> Vec<Vec<f64>> {
    match points {
        Points::Dense(matrix) => matrix.outer_iter().map(|row| row.to_vec()).collect(),
        Points::Sparse(matrix) => (0..count)
            .map(|row| {
                let mut full = vec![0.0; matrix.cols];
                let (columns, values) = matrix.row(row);
                columns.iter().zip(values).for_each(|(&column, &value)| full[column as usize] = value);
                full
            })
            .collect(),
    }
}
