//! Laplacian eigenmaps and diffusion maps on given graphs and affinities: components, and
//! which new rows are training rows.

use super::family::*;
use std::f64::consts::TAU;

use super::{attribute, number};
use crate::error::WarningKind;
use crate::graph::Policy;
use crate::input::Data;
use crate::kernel::affinity_rule::{AffinityName, Weights};
use crate::method::Attribute;
use crate::methods::{DiffusionMaps, Isomap, SpectralEmbedding};
use crate::neighbors::MetricName;
use crate::{Ctx, Error, transform};
use ndarray::{Array2, s};

#[test]
fn training_rows_are_known_by_their_edges() {
    let mut points = roll(150);
    // Two rows in one place.
    let same = points.row(3).to_owned();
    points.row_mut(90).assign(&same);
    let base = SpectralEmbedding::default().affinity(AffinityName::PrecomputedNearestNeighbors);
    for own in [false, true] {
        let ctx = Ctx::new(2, 0);
        let given = nearest(&points, 8, own);
        let check = |model: &dyn Fn(Data<'_>) -> Array2<f64>, y: Array2<f64>, named: &str| {
            assert_eq!(model(Data::Graph(&given)), y, "{named}, own zeros: {own}");
            for row in [0, 3, 77, 90] {
                let alone = model(Data::Graph(&given.select(&[row])));
                assert_eq!(alone.row(0), y.row(row), "{named}, row {row}");
            }
            // A length changed by one bit makes another row of it.
            let mut other = given.select(&[5]);
            other.values.iter_mut().for_each(|length| *length *= 1.0 + 1e-12);
            let moved = model(Data::Graph(&other));
            assert!(own || moved.row(0) != y.row(5), "{named}");
        };
        for method in [
            base.clone(),
            base.clone().n_neighbors(if own { 7_usize } else { 6 }),
            base.clone().weights(Weights::Heat),
            base.clone().norm_laplacian(false),
        ] {
            let model = method.fit(Data::Graph(&given), &ctx).unwrap();
            check(&|rows| transform(&model, rows, &ctx).unwrap(), embedding(&model), &format!("{method:?}"));
        }
        let walk = DiffusionMaps::default().metric(MetricName::Precomputed).n_neighbors(8_usize);
        let walk = walk.fit(Data::Graph(&given), &ctx).unwrap();
        check(&|rows| transform(&walk, rows, &ctx).unwrap(), embedding(&walk), "DiffusionMaps");
        let isomap = Isomap::default().metric(MetricName::Precomputed).n_neighbors(8_usize);
        let isomap = isomap.fit(Data::Graph(&given), &ctx).unwrap();
        check(&|rows| transform(&isomap, rows, &ctx).unwrap(), embedding(&isomap), "Isomap");
    }
    // Opposite rows of a cycle of four have the same edges: a new row like them is neither.
    let ctx = Ctx::new(1, 0);
    let (_, square) = unit_graph(4, &cycle(4));
    let model = base.fit(Data::Graph(&square), &ctx).unwrap();
    let placed = transform(&model, Data::Graph(&square), &ctx).unwrap();
    assert!(placed.iter().all(|value| value.is_finite()));
    assert_eq!(placed.row(0), placed.row(2));
}

#[test]
fn a_sparse_graph_of_several_components_is_walked_one_by_one() {
    // Rows of two clouds take turns: pieces of 40 rows each, which no edge joins.
    let (points, ctx) = (clouds(80), Ctx::new(1, 0));
    let given = nearest(&points, 6, false);
    let method = DiffusionMaps::default().metric(MetricName::Precomputed).n_components(3_usize);
    let model = method.fit(Data::Graph(&given), &ctx).unwrap();
    let told = ctx.take_warnings();
    assert_eq!(told[0].kind, WarningKind::Disconnected);
    assert!(told[0].message.contains("give an edge"), "{told:?}");
    assert_eq!(attribute(&model, "n_connected_components"), Attribute::Int(2));
    let expected: Vec<i64> = (0..80).map(|i| i % 2).collect();
    assert_eq!(attribute(&model, "component_labels"), Attribute::Indices(expected.into()));
    assert!(model.eigenvalues().unwrap()[0] == 1.0 && model.eigenvalues().unwrap()[1] < 1.0 - 1e-6);
    let y = embedding(&model);
    assert!((0..80).all(|i| (y[[i, 0]] - y[[i % 2, 0]]).abs() < 1e-12) && y[[0, 0]] * y[[1, 0]] < 0.0);
    assert_eq!(transform(&model, Data::Graph(&given), &ctx).unwrap(), y);
    // As its sibling does with the same graph.
    let sibling = SpectralEmbedding::default().affinity(AffinityName::PrecomputedNearestNeighbors);
    let sibling = sibling.fit(Data::Graph(&given), &ctx).unwrap();
    assert_eq!(attribute(&sibling, "component_labels"), attribute(&model, "component_labels"));
    assert_eq!(sibling.eigenvalues().unwrap()[0], 0.0);
    // Within the pieces the walks are those of each piece alone.
    let alone = method.clone().epsilon(number(&model, "epsilon")).n_components(2_usize);
    let slowest = [0, 1].map(|first| {
        let rows: Vec<usize> = (first..80).step_by(2).collect();
        let piece = nearest(&points.select(ndarray::Axis(0), &rows), 6, false);
        alone.fit(Data::Graph(&piece), &ctx).unwrap().eigenvalues().unwrap()[0]
    });
    close(&[model.eigenvalues().unwrap()[1]], &[slowest[0].max(slowest[1])]);
    let refused = method.clone().disconnected(Policy::Error).fit(Data::Graph(&given), &ctx);
    assert!(matches!(refused.err(), Some(Error::Disconnected { count: 2, .. })));
    let largest = method.disconnected(Policy::Largest).fit(Data::Graph(&given), &ctx).unwrap();
    assert_eq!(embedding(&largest).rows().into_iter().filter(|row| row[0].is_nan()).count(), 40);
}

#[test]
fn a_graph_of_distances_is_the_points() {
    let (points, ctx) = (roll(150), Ctx::new(2, 0));
    let straight = SpectralEmbedding::default().n_neighbors(8_usize).fit(&points, &ctx).unwrap();
    let distance = |i: usize, j: usize| {
        let gap = &points.row(i) - &points.row(j);
        gap.dot(&gap).sqrt()
    };
    let full = Array2::from_shape_fn((150, 150), |(i, j)| distance(i, j));
    let by_matrix = SpectralEmbedding::default().n_neighbors(8_usize).metric(MetricName::Precomputed);
    let by_matrix = by_matrix.fit(Data::Distances(full.view()), &ctx).unwrap();
    // No diagonal is stored here, so 7 are 7 others.
    let by_graph = SpectralEmbedding::default()
        .affinity(AffinityName::PrecomputedNearestNeighbors)
        .n_neighbors(7_usize)
        .fit(Data::Graph(&sparse(&full)), &ctx)
        .unwrap();
    assert_eq!(full_affinity(&straight), full_affinity(&by_matrix));
    assert_eq!(full_affinity(&straight), full_affinity(&by_graph));
    assert!(apart(&embedding(&straight), &embedding(&by_graph)) < 1e-8);
    // A training row and a row between two others.
    let new = full.slice(s![3..4, ..]).to_owned();
    let placed = transform(&by_graph, Data::Graph(&sparse(&new)), &ctx).unwrap();
    assert_eq!(placed.ncols(), 2);
}

#[test]
fn components_are_joined_left_out_or_refused() {
    let points = clouds(80);
    let method = SpectralEmbedding::default().n_neighbors(6_usize);
    for weights in [Weights::Connectivity, Weights::Heat] {
        let ctx = Ctx::new(1, 0);
        let model = method.clone().weights(weights).fit(&points, &ctx).unwrap();
        assert_eq!(ctx.take_warnings()[0].kind, WarningKind::Disconnected);
        assert_eq!(attribute(&model, "n_connected_components"), Attribute::Int(2));
        let Attribute::IndexMatrix(bridges) = attribute(&model, "bridges") else { panic!() };
        assert_eq!(bridges.nrows(), 1);
        // The first coordinate tells the clouds apart.
        let first = embedding(&model).column(0).to_owned();
        assert!((0..80).all(|i| (first[i] > 0.0) == ((i % 2 == 0) == (first[0] > 0.0))));
    }
    let refused = method.clone().disconnected(Policy::Error).fit(&points, &Ctx::new(1, 0));
    assert!(matches!(refused.err(), Some(Error::Disconnected { count: 2, .. })));
    let ctx = Ctx::new(1, 0);
    let largest = method.disconnected(Policy::Largest).fit(&points, &ctx).unwrap();
    assert_eq!(embedding(&largest).rows().into_iter().filter(|row| row[0].is_nan()).count(), 40);
    let near = points.slice(s![0..1, ..]).to_owned();
    assert_eq!(transform(&largest, &near, &ctx).unwrap().row(0), embedding(&largest).row(0));
}

#[test]
fn weights_that_vanish_leave_components() {
    // Neighbours all the same, but across the gap or to the far row their weight is rounding.
    let segments = Array2::from_shape_fn((240, 2), |(i, axis)| {
        if axis == 1 { 0.0 } else { (i % 120) as f64 / 119.0 + if i < 120 { 0.0 } else { 6.0 } }
    });
    let heat = SpectralEmbedding::default().n_neighbors(130_usize).weights(Weights::Heat).bandwidth(0.1);
    let refused = heat.clone().disconnected(Policy::Error).fit(&segments, &Ctx::new(1, 0));
    assert!(matches!(refused.err(), Some(Error::Disconnected { count: 2, .. })));
    let ctx = Ctx::new(1, 0);
    let model = heat.clone().fit(&segments, &ctx).unwrap();
    let told = ctx.take_warnings();
    assert!(
        told[0].kind == WarningKind::Disconnected && told[0].message.contains("raise `bandwidth`"),
        "{told:?}"
    );
    assert_eq!(
        (model.eigenvalues().unwrap()[0], attribute(&model, "n_connected_components")),
        (0.0, Attribute::Int(2))
    );
    assert!(model.eigenvalues().unwrap()[1] > 1e-3);
    let largest = heat.disconnected(Policy::Largest).fit(&segments, &ctx).unwrap();
    let y = embedding(&largest);
    assert!((0..240).all(|i| y[[i, 0]].is_nan() == (i >= 120)));
    let part = segments.slice(s![..120, ..]).to_owned();
    assert_eq!(transform(&largest, &part, &ctx).unwrap(), y.slice(s![..120, ..]));
    assert_eq!(full_affinity(&largest).dim(), (240, 240));

    let mut points = roll(501);
    points.row_mut(500).fill(1e3);
    let far = DiffusionMaps::default().n_neighbors(20_usize);
    let refused = far.clone().disconnected(Policy::Error).fit(&points, &Ctx::new(1, 0));
    assert!(matches!(refused.err(), Some(Error::Disconnected { count: 2, .. })));
    let ctx = Ctx::new(1, 0);
    let model = far.clone().fit(&points, &ctx).unwrap();
    let told = ctx.take_warnings();
    assert!(
        told[0].kind == WarningKind::Disconnected && told[0].message.contains("raise `epsilon`"),
        "{told:?}"
    );
    assert_eq!(attribute(&model, "n_connected_components"), Attribute::Int(2));
    assert!(model.eigenvalues().unwrap()[0] == 1.0 && model.eigenvalues().unwrap()[1] < 1.0 - 1e-6);
    for data in [Data::from(&points), Data::Distances(distances(&points).view())] {
        let mut method = far.clone().disconnected(Policy::Largest);
        if let Data::Distances(_) = data {
            method.metric = MetricName::Precomputed;
        }
        let largest = method.fit(data, &ctx).unwrap();
        assert!(embedding(&largest).row(500)[0].is_nan() && largest.eigenvalues().unwrap()[0] < 1.0 - 1e-6);
        let y = embedding(&largest);
        let placed = transform(&largest, data.select(&[0, 9, 499]).unwrap().view(), &ctx).unwrap();
        [0, 9, 499].iter().zip(placed.outer_iter()).for_each(|(&row, placed)| assert_eq!(placed, y.row(row)));
    }
    let refused = DiffusionMaps::default().n_neighbors(20_usize).epsilon(1e-3).disconnected(Policy::Error);
    assert!(matches!(refused.fit(&roll(500), &ctx).err(), Some(Error::Disconnected { .. })));
}

#[test]
fn components_of_given_affinities_are_separated_exactly() {
    // Cycles of 5, 7 and 9, and a row alone.
    let (sizes, mut edges, mut start) = ([5, 7, 9], Vec::new(), 0);
    for size in sizes {
        edges.extend((0..size).map(|i| (start + i, start + (i + 1) % size)));
        start += size;
    }
    let (full, csr) = unit_graph(22, &edges);
    let piece = |i: usize| [5, 12, 21, 22].iter().position(|&end| i < end).unwrap();
    for data in [Data::Kernel(full.view()), Data::Graph(&csr)] {
        let ctx = Ctx::new(1, 0);
        let model = precomputed(5).fit(data, &ctx).unwrap();
        assert_eq!(ctx.take_warnings()[0].kind, WarningKind::Disconnected);
        let lowest = 1.0 - (TAU / 9.0).cos();
        close(&model.eigenvalues().unwrap(), &[0.0, 0.0, 0.0, lowest, lowest]);
        let y = embedding(&model);
        for (i, j) in (0..22).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let same = (0..3).all(|c| (y[[i, c]] - y[[j, c]]).abs() < 1e-12);
            assert_eq!(same, piece(i) == piece(j), "rows {i} and {j}");
        }
        let largest = precomputed(2).disconnected(Policy::Largest).fit(data, &ctx).unwrap();
        close(&largest.eigenvalues().unwrap(), &[lowest, lowest]);
        let refused = precomputed(2).disconnected(Policy::Error).fit(data, &ctx);
        assert!(matches!(refused.err(), Some(Error::Disconnected { count: 4, .. })));
    }
}

#[test]
fn given_affinities_place_new_rows_full_or_sparse() {
    let (points, ctx) = (roll(120), Ctx::new(2, 0));
    let kernel = |i: usize, j: usize| {
        let gap = &points.row(i) - &points.row(j);
        (-0.2 * gap.dot(&gap)).exp()
    };
    let all = Array2::from_shape_fn((120, 120), |(i, j)| kernel(i, j));
    let training = all.slice(s![..100, ..100]).to_owned();
    let new = all.slice(s![100.., ..100]).to_owned();
    let by_points = SpectralEmbedding::default().affinity(AffinityName::Rbf).gamma(0.2);
    let by_points = by_points.fit(&points.slice(s![..100, ..]).to_owned(), &ctx).unwrap();
    let expected = transform(&by_points, &points.slice(s![100.., ..]).to_owned(), &ctx).unwrap();
    for data in [Data::Kernel(training.view()), Data::Graph(&sparse(&training))] {
        let model = precomputed(2).fit(data, &ctx).unwrap();
        assert!(apart(&embedding(&by_points), &embedding(&model)) < 1e-8);
        assert_eq!(transform(&model, data, &ctx).unwrap(), embedding(&model));
        for rows in [Data::Kernel(new.view()), Data::Graph(&sparse(&new))] {
            assert!(apart(&expected, &transform(&model, rows, &ctx).unwrap()) < 1e-7);
        }
    }
}

#[test]
fn training_rows_are_known_by_affinities_that_are_symmetric_up_to_rounding() {
    let (points, ctx) = (roll(150), Ctx::new(2, 0));
    let full = Array2::from_shape_fn((150, 150), |(i, j)| {
        let gap = &points.row(i) - &points.row(j);
        let rounding = if i < j { 1.0 + 1e-15 * ((i + 3 * j) % 7) as f64 } else { 1.0 };
        (-0.05 * gap.dot(&gap)).exp() * rounding
    });
    let thin = full.mapv(|weight| if weight > 1e-3 { weight } else { 0.0 });
    for data in [Data::Kernel(full.view()), Data::Graph(&sparse(&thin))] {
        let model = precomputed(2).fit(data, &ctx).unwrap();
        assert_eq!(transform(&model, data, &ctx).unwrap(), embedding(&model));
        for thinned in [Data::Kernel(thin.view()), Data::Graph(&sparse(&full))] {
            assert!(transform(&model, thinned, &ctx).is_ok());
        }
    }
}

#[test]
fn affinities_of_any_size_have_a_map() {
    let (ctx, size) = (Ctx::new(1, 0), 2.0_f64.powi(60));
    let points = roll(40);
    let full = Array2::from_shape_fn((40, 40), |(i, j)| {
        let gap = &points.row(i) - &points.row(j);
        (-0.05 * gap.dot(&gap)).exp()
    });
    let expected = embedding(&precomputed(2).fit(Data::Kernel(full.view()), &ctx).unwrap());
    // Coordinates go with the root of the affinities, and stay within range.
    for (factor, root) in [(size.powi(17), size.powi(-8) / size.sqrt()), (size.powi(-8), size.powi(4))] {
        let scaled = &full * factor;
        for data in [Data::Kernel(scaled.view()), Data::Graph(&sparse(&scaled))] {
            let model = precomputed(2).fit(data, &ctx).unwrap();
            assert!(apart(&expected, &(embedding(&model) / root)) < 1e-9);
            assert_eq!(transform(&model, data, &ctx).unwrap(), embedding(&model));
            let gap = &full_affinity(&model) / factor - &full;
            assert!(gap.indexed_iter().all(|((i, j), gap)| i == j || gap.abs() < 1e-15));
        }
    }
    for size in [1e308, 1e-320] {
        let equal = Array2::from_elem((6, 6), size);
        let model = precomputed(2).fit(Data::Kernel(equal.view()), &ctx).unwrap();
        close(&model.eigenvalues().unwrap(), &[1.2, 1.2]);
        assert!(embedding(&model).iter().all(|value| value.is_finite()));
    }
}
