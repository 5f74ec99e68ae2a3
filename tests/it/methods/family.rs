//! Data and comparisons that the tests of graph methods share.

use super::attribute;
use crate::input::Csr;
use crate::kernel::affinity_rule::AffinityName;
use crate::method::Attribute;
use crate::methods::SpectralEmbedding;
use crate::methods::spectral_embedding::FittedSpectralEmbedding;
use crate::{AnyModel, Fitted};
use ndarray::Array2;

/// A roll of one and a half turns, evenly covered.
pub(super) fn roll(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 3), |(i, axis)| {
        let angle = 4.0 + 8.0 * (i as f64 * 0.618_033_988_749_895).fract();
        let height = 10.0 * (i as f64 * 0.754_877_666_246_693).fract();
        [angle * angle.cos(), height, angle * angle.sin()][axis]
    })
}

/// Rows of two components: two clouds far apart.
pub(super) fn clouds(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 2), |(i, axis)| {
        let shift = if i % 2 == 0 { 0.0 } else { 50.0 };
        let step = [0.618_033_988_749_895, 0.754_877_666_246_693][axis];
        shift + (i as f64 * step).fract()
    })
}

pub(super) fn embedding(model: &impl AnyModel) -> Array2<f64> {
    model.embedding().expect("kept").to_owned()
}

/// Largest difference, relative to the largest entry, up to the sign of columns.
pub(super) fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let size = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut worst = 0.0_f64;
    for (a, b) in a.columns().into_iter().zip(b.columns()) {
        let sign = a.dot(&b).signum();
        worst = a.iter().zip(b).fold(worst, |worst, (a, b)| worst.max((a - sign * b).abs()));
    }
    worst / size
}

pub(super) fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
}

/// The affinities of edges of weight 1, full and sparse.
pub(super) fn unit_graph(n: usize, edges: &[(usize, usize)]) -> (Array2<f64>, Csr) {
    let mut full = Array2::zeros((n, n));
    for &(i, j) in edges {
        full[[i, j]] = 1.0;
        full[[j, i]] = 1.0;
    }
    let sparse = sparse(&full);
    (full, sparse)
}

pub(super) fn sparse(full: &Array2<f64>) -> Csr {
    let mut csr = Csr { cols: full.ncols(), offsets: vec![0], indices: vec![], values: vec![] };
    for row in full.outer_iter() {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            csr.indices.push(j as u32);
            csr.values.push(value);
        }
        csr.offsets.push(csr.indices.len());
    }
    csr
}

pub(super) fn precomputed(components: usize) -> SpectralEmbedding {
    SpectralEmbedding::default().affinity(AffinityName::Precomputed).n_components(components)
}

pub(super) fn cycle(n: usize) -> Vec<(usize, usize)> {
    (0..n).map(|i| (i, (i + 1) % n)).collect()
}

pub(super) fn complete(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect()
}

/// Each row's nearest others with their distances, itself left out or with its zero.
pub(super) fn nearest(points: &Array2<f64>, k: usize, own: bool) -> Csr {
    let full = distances(points);
    let mut csr = Csr { cols: points.nrows(), offsets: vec![0], indices: vec![], values: vec![] };
    for (i, row) in full.outer_iter().enumerate() {
        let mut near: Vec<(f64, u32)> =
            row.iter().copied().zip(0..).filter(|near| near.1 as usize != i).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(k);
        if own {
            near.push((0.0, i as u32));
        }
        near.sort_by_key(|near| near.1);
        csr.indices.extend(near.iter().map(|near| near.1));
        csr.values.extend(near.iter().map(|near| near.0));
        csr.offsets.push(csr.indices.len());
    }
    csr
}

pub(super) fn full_affinity(model: &Fitted<FittedSpectralEmbedding>) -> Array2<f64> {
    match attribute(model, "affinity_matrix") {
        Attribute::Matrix(matrix) => matrix,
        Attribute::Graph(graph) => {
            let mut full = Array2::zeros((graph.len(), graph.len()));
            for i in 0..graph.len() {
                let (targets, weights) = graph.row(i);
                targets.iter().zip(weights).for_each(|(&j, &weight)| full[[i, j as usize]] = weight);
            }
            full
        }
        other => panic!("{other:?}"),
    }
}

pub(super) fn distances(points: &Array2<f64>) -> Array2<f64> {
    let n = points.nrows();
    Array2::from_shape_fn((n, n), |(i, j)| {
        let gap = &points.row(i) - &points.row(j);
        gap.dot(&gap).sqrt()
    })
}
