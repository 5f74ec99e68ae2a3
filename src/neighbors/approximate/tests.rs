//! The approximate search beside its exact twin.

use ndarray::{Array2, s};

use super::*;
use crate::error::{Error, WarningKind};
use crate::input::{Points, PointsRef};
use crate::linalg::random::{normal, uniform};
use crate::neighbors::Algorithm;

/// A bent sheet of few dimensions in many columns.
fn curved(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    let mut stream = Ctx::new(1, seed).stream("curved");
    let flat = uniform(&mut stream, rows, 6);
    flat.dot(&(2.0 * uniform(&mut stream, 6, cols))).mapv(libm::sin)
}

/// Tight groups far from each other, every third row a copy of the one before.
fn groups(rows: usize, cols: usize) -> Array2<f64> {
    let mut stream = Ctx::new(1, 3).stream("groups");
    let centres = 50.0 * uniform(&mut stream, 40, cols);
    let mut points = 0.5 * curved(rows, cols, 4);
    for row in 0..rows {
        let centre = below(&mut stream, 40);
        points.row_mut(row).scaled_add(1.0, &centres.row(centre));
        if row % 3 == 2 {
            let before = points.row(row - 1).to_owned();
            points.row_mut(row).assign(&before);
        }
    }
    points
}

fn noise(rows: usize, cols: usize) -> Array2<f64> {
    let mut stream = Ctx::new(1, 5).stream("noise");
    Array2::from_shape_simple_fn((rows, cols), || normal(&mut stream))
}

/// An index without a tree, however few columns there are.
fn index_of(points: &Array2<f64>, metric: Metric) -> Index {
    let mut index = Index::plain(Points::Dense(points.clone()), metric);
    index.approximate = true;
    index
}

fn found(index: &Index, k: usize, ctx: &Ctx) -> Neighbors {
    index.neighbors_of_all(NeighborRule::Nearest(k), ctx).unwrap()
}

/// The share of the true neighbours, after a check of everything else.
fn recall(points: &Array2<f64>, metric: Metric, k: usize) -> f64 {
    let ctx = Ctx::new(2, 0);
    let index = index_of(points, metric);
    assert!(pays(points.nrows(), k));
    let near = found(&index, k, &ctx);
    let exact = Index::build(PointsRef::Dense(points.view()), metric, Algorithm::Brute, &ctx).unwrap();
    let exact = found(&exact, k, &ctx);
    assert_eq!(near.offsets, exact.offsets);
    let mut hits = 0;
    for row in 0..points.nrows() {
        let range = near.offsets[row]..near.offsets[row + 1];
        let (indices, distances) = (&near.indices[range.clone()], &near.distances[range.clone()]);
        let pairs: Vec<(f64, u32)> = distances.iter().copied().zip(indices.iter().copied()).collect();
        assert!(pairs.is_sorted_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt()), "{pairs:?}");
        for &(distance, other) in &pairs {
            assert_ne!(other as usize, row);
            assert_eq!(distance.to_bits(), index.pair_distance(row, other as usize).to_bits());
        }
        let mut distinct = indices.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), k);
        let farthest = exact.distances[range.end - 1];
        hits += distances.iter().filter(|&&distance| distance <= farthest).count();
    }
    hits as f64 / near.indices.len() as f64
}

#[test]
fn nearly_all_neighbours_are_found_under_every_metric() {
    let points = curved(5000, 30, 1);
    let metrics = [
        Metric::Euclidean,
        Metric::Manhattan,
        Metric::Chebyshev,
        Metric::Minkowski(3.5),
        Metric::Cosine,
        Metric::Correlation,
    ];
    for metric in metrics {
        let share = recall(&points, metric, 10);
        assert!(share >= 0.95, "{metric:?}: {share}");
    }
}

#[test]
fn nearly_all_neighbours_are_found_in_other_data() {
    let offset = curved(5000, 30, 2) + 1e7;
    let tiny = 1e-100 * curved(5000, 30, 2);
    let mut lonely = curved(5000, 30, 2);
    lonely.slice_mut(s![..3, ..]).mapv_inplace(|value| 1e6 * value);
    for (name, points) in
        [("offset", offset), ("tiny", tiny), ("lonely", lonely), ("groups", groups(6000, 20))]
    {
        for k in [1, 15, 40] {
            let share = recall(&points, Metric::Euclidean, k);
            assert!(share >= 0.95, "{name}, {k} neighbours: {share}");
        }
    }
    let line = curved(5000, 1, 2);
    assert!(recall(&line, Metric::Euclidean, 5) >= 0.95);
    assert!(recall(&line, Metric::Cosine, 5) >= 0.95);
}

#[test]
fn equal_rows_have_each_other() {
    let same = Array2::from_elem((5000, 7), 0.3);
    assert_eq!(recall(&same, Metric::Euclidean, 6), 1.0);
    assert_eq!(recall(&same, Metric::Correlation, 6), 1.0);
    let mut two = same;
    two.slice_mut(s![..3, ..]).fill(2.0);
    assert!(recall(&two, Metric::Euclidean, 6) > 0.99);
}

#[test]
fn threads_do_not_matter_and_the_seed_does() {
    for metric in [Metric::Euclidean, Metric::Manhattan] {
        let index = index_of(&noise(4500, 60), metric);
        let one = found(&index, 10, &Ctx::new(1, 7));
        for threads in [2, 4] {
            assert_eq!(found(&index, 10, &Ctx::new(threads, 7)), one);
        }
        assert_ne!(found(&index, 10, &Ctx::new(2, 8)), one);
    }
}

#[test]
fn what_is_soon_done_is_done_exactly() {
    for (points, rule) in [
        (curved(600, 30, 1), NeighborRule::Nearest(9)),
        (curved(4200, 30, 1), NeighborRule::Nearest(900)),
        (curved(4200, 30, 1), NeighborRule::Within(2.5)),
        (curved(5000, 2, 1), NeighborRule::Nearest(9)),
    ] {
        let ctx = Ctx::new(2, 0);
        let by = |algorithm| {
            let index = Index::build(PointsRef::Dense(points.view()), Metric::Euclidean, algorithm, &ctx);
            index.unwrap().neighbors_of_all(rule, &ctx).unwrap()
        };
        assert_eq!(by(Algorithm::Approximate), by(Algorithm::Brute));
    }
}

#[test]
fn new_rows_are_searched_exactly() {
    let (points, ctx) = (curved(5000, 30, 1), Ctx::new(2, 0));
    let new = points.slice(s![..40, ..]).to_owned() + 1e-3;
    let by = |algorithm| {
        let index =
            Index::build(PointsRef::Dense(points.view()), Metric::Euclidean, algorithm, &ctx).unwrap();
        index.query(PointsRef::Dense(new.view()), NeighborRule::Nearest(5), &ctx).unwrap()
    };
    assert_eq!(by(Algorithm::Approximate), by(Algorithm::Brute));
}

#[test]
fn noise_in_many_columns_is_told() {
    let ctx = Ctx::new(2, 0);
    found(&index_of(&curved(5000, 30, 1), Metric::Euclidean), 10, &ctx);
    assert!(ctx.take_warnings().is_empty());
    // What every row lacks: three candidates of ten.
    let points = noise(4100, 3);
    let pairs = dense_pairs(super::super::metric::Euclid, &points, &points);
    let sample = Sample::new(&pairs, 10, true, &ctx).unwrap();
    let exact = index_of(&points, Metric::Euclidean);
    let mut near = exact.query(PointsRef::Dense(points.view()), NeighborRule::Nearest(11), &ctx).unwrap();
    near.distances.chunks_exact_mut(11).for_each(|distances| distances[..4].fill(1e9));
    sample.tell(&near, &ctx);
    let told = ctx.take_warnings();
    assert_eq!(told.iter().map(|warning| warning.kind).collect::<Vec<_>>(), [WarningKind::LowRecall]);
    assert!(told[0].message.contains("70 %"), "{}", told[0].message);
}

#[test]
fn it_stops_when_asked_and_needs_memory() {
    let index = index_of(&noise(4500, 60), Metric::Euclidean);
    let ctx = Ctx::new(2, 0);
    ctx.watch().cancel();
    let rule = NeighborRule::Nearest(10);
    assert_eq!(index.neighbors_of_all(rule, &ctx), Err(Error::Cancelled));
    let poor = Ctx::new(2, 0).with_memory_limit(1 << 20);
    assert!(matches!(index.neighbors_of_all(rule, &poor), Err(Error::Memory { .. })));
}
