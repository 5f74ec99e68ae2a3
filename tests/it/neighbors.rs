//! Neighbours against a naive reference: every engine, every metric, same indices
//! and same bits.

use crate::context::Ctx;
use crate::error::Error;
use crate::input::{Csr, PointsRef};
use crate::neighbors::{
    Algorithm, ClosestForeign, Index, Link, MatrixLinks, Metric, NeighborRule, Neighbors, from_distances,
    query_distances,
};
use ndarray::{Array2, ArrayView2, s};
use proptest::prelude::*;

const METRICS: [Metric; 8] = [
    Metric::Euclidean,
    Metric::Manhattan,
    Metric::Chebyshev,
    Metric::Minkowski(1.0),
    Metric::Minkowski(2.0),
    Metric::Minkowski(3.5),
    Metric::Cosine,
    Metric::Correlation,
];

/// The k smallest (or those within) by (distance, index), from all distances.
fn naive(distances: &Array2<f64>, rule: NeighborRule, own: bool) -> Neighbors {
    let mut table = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
    for (i, row) in distances.rows().into_iter().enumerate() {
        let mut all: Vec<(f64, u32)> = row
            .iter()
            .enumerate()
            .filter(|&(j, _)| !own || i != j)
            .map(|(j, &distance)| (distance, j as u32))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match rule {
            NeighborRule::Nearest(k) => all.truncate(k),
            NeighborRule::Within(radius) => all.retain(|pair| pair.0 <= radius),
        }
        table.indices.extend(all.iter().map(|pair| pair.1));
        table.distances.extend(all.iter().map(|pair| pair.0));
        table.offsets.push(table.indices.len());
    }
    table
}

/// The metric by its textbook formula, plain sums.
fn textbook(metric: Metric, a: &[f64], b: &[f64]) -> f64 {
    let differences = || a.iter().zip(b).map(|(x, y)| (x - y).abs());
    let cosine = |a: &[f64], b: &[f64]| {
        let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if a == b {
            0.0
        } else if norm(a) == 0.0 || norm(b) == 0.0 {
            1.0
        } else {
            1.0 - dot / (norm(a) * norm(b))
        }
    };
    match metric {
        Metric::Euclidean => differences().map(|d| d * d).sum::<f64>().sqrt(),
        Metric::Manhattan => differences().sum(),
        Metric::Chebyshev => differences().fold(0.0, f64::max),
        Metric::Minkowski(p) => differences().map(|d| d.powf(p)).sum::<f64>().powf(1.0 / p),
        Metric::Cosine => cosine(a, b),
        Metric::Correlation => {
            let centred = |v: &[f64]| {
                if v.iter().all(|x| *x == v[0]) {
                    return vec![0.0; v.len()];
                }
                let mean = v.iter().sum::<f64>() / v.len() as f64;
                v.iter().map(|x| x - mean).collect()
            };
            cosine(&centred(a), &centred(b))
        }
    }
}

fn sparse(points: ArrayView2<f64>) -> Csr {
    let mut csr = Csr { cols: points.ncols(), offsets: vec![0], indices: vec![], values: vec![] };
    for row in points.rows() {
        for (column, &value) in row.iter().enumerate() {
            if value != 0.0 {
                csr.indices.push(column as u32);
                csr.values.push(value);
            }
        }
        csr.offsets.push(csr.values.len());
    }
    csr
}

fn build(points: ArrayView2<f64>, metric: Metric, algorithm: Algorithm, ctx: &Ctx) -> Index {
    Index::build(PointsRef::Dense(points), metric, algorithm, ctx).unwrap()
}

/// All pairs by `pair_distance`.
fn all_pairs(index: &Index) -> Array2<f64> {
    Array2::from_shape_fn((index.len(), index.len()), |(i, j)| index.pair_distance(i, j))
}

fn assert_same(found: &Neighbors, expected: &Neighbors, what: &str) {
    assert_eq!(found.offsets, expected.offsets, "{what}: offsets");
    assert_eq!(found.indices, expected.indices, "{what}: indices");
    assert_eq!(found.distances, expected.distances, "{what}: distances");
}

/// Every engine and door on one set of points.
fn check_all(points: &Array2<f64>, metric: Metric, hoods: &[NeighborRule], ctx: &Ctx) {
    let reference = build(points.view(), metric, Algorithm::Brute, ctx);
    let pairs = all_pairs(&reference);
    let csr = sparse(points.view());
    let compressed = Index::build(PointsRef::Sparse(&csr), metric, Algorithm::Auto, ctx).unwrap();
    // Correlation fills what is not stored: equal up to rounding only.
    let exact_sparse = metric != Metric::Correlation;
    let sparse_pairs = if exact_sparse { pairs.clone() } else { all_pairs(&compressed) };
    let indices = [Algorithm::Auto, Algorithm::Tree, Algorithm::Brute]
        .map(|algorithm| (algorithm, build(points.view(), metric, algorithm, ctx)));
    for &rule in hoods {
        let expected = naive(&pairs, rule, true);
        let asked = naive(&pairs, rule, false);
        for (algorithm, index) in &indices {
            let what = format!("{metric:?} {rule:?} {algorithm:?} {:?}", points.dim());
            assert_same(&index.neighbors_of_all(rule, ctx).unwrap(), &expected, &what);
            let batch = index.query(PointsRef::Dense(points.view()), rule, ctx).unwrap();
            assert_same(&batch, &asked, &format!("query {what}"));
            for row in [0, points.nrows() / 2] {
                let one = points.slice(s![row..row + 1, ..]);
                let one = index.query(PointsRef::Dense(one), rule, ctx).unwrap();
                let range = batch.offsets[row]..batch.offsets[row + 1];
                assert_eq!(one.indices, batch.indices[range.clone()], "single {what}");
                assert_eq!(one.distances, batch.distances[range], "single {what}");
            }
        }
        let found = compressed.neighbors_of_all(rule, ctx).unwrap();
        assert_same(&found, &naive(&sparse_pairs, rule, true), &format!("sparse {metric:?} {rule:?}"));
        let mixed = compressed.query(PointsRef::Dense(points.view()), rule, ctx).unwrap();
        assert_same(&mixed, &naive(&sparse_pairs, rule, false), &format!("mixed {metric:?} {rule:?}"));
        assert_same(&from_distances(pairs.view(), rule, ctx).unwrap(), &expected, "matrix");
        assert_same(&query_distances(pairs.view(), rule, ctx).unwrap(), &asked, "rectangle");
    }
}

/// Numbers without a pattern, in (-1, 1).
fn noise(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    Array2::from_shape_fn((rows, cols), |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}

fn hoods(n: usize) -> Vec<NeighborRule> {
    let mut hoods = vec![NeighborRule::Within(0.0), NeighborRule::Within(0.3), NeighborRule::Within(1.0)];
    hoods.extend([1, 3, 10, 40, n - 1].into_iter().filter(|&k| k >= 1 && k < n).map(NeighborRule::Nearest));
    hoods
}

#[test]
fn engines_agree_with_the_naive_twin_on_noise() {
    let ctx = Ctx::new(2, 0);
    for (n, dims) in [(1, 2), (2, 3), (3, 1), (17, 2), (70, 3), (130, 4), (90, 8), (270, 20), (260, 40)] {
        let points = noise(n, dims, n as u64);
        for metric in METRICS {
            check_all(&points, metric, &hoods(n), &ctx);
        }
    }
}

#[test]
fn distances_are_those_of_the_textbook() {
    let ctx = Ctx::new(1, 0);
    let mut points = noise(40, 19, 5);
    points.row_mut(7).fill(0.0);
    points.row_mut(9).fill(0.25);
    points.row_mut(11).fill(0.0);
    let copy = points.row(3).to_owned();
    points.row_mut(20).assign(&copy);
    for metric in METRICS {
        let csr = sparse(points.view());
        for index in [
            build(points.view(), metric, Algorithm::Auto, &ctx),
            Index::build(PointsRef::Sparse(&csr), metric, Algorithm::Auto, &ctx).unwrap(),
        ] {
            for i in 0..40 {
                for j in 0..40 {
                    let expected = textbook(metric, &points.row(i).to_vec(), &points.row(j).to_vec());
                    let found = index.pair_distance(i, j);
                    assert!((found - expected).abs() < 1e-13, "{metric:?} {i} {j}: {found} {expected}");
                }
            }
            assert_eq!(index.pair_distance(3, 20), 0.0);
        }
    }
    let index = build(points.view(), Metric::Cosine, Algorithm::Auto, &ctx);
    assert_eq!((index.pair_distance(7, 11), index.pair_distance(7, 3)), (0.0, 1.0));
}

#[test]
fn ties_duplicates_lines_and_constants() {
    let ctx = Ctx::new(2, 0);
    let grid = Array2::from_shape_fn((18 * 18, 2), |(i, d)| if d == 0 { i % 18 } else { i / 18 } as f64);
    let tenths = grid.mapv(|value| value * 0.1);
    let twins = Array2::from_shape_fn((320, 3), |(i, d)| ((i % 5) * (d + 1)) as f64);
    let line = Array2::from_shape_fn((270, 5), |(i, d)| 0.1 * i as f64 * (d as f64 - 1.5));
    let same = Array2::from_elem((300, 4), 0.7);
    let wide_grid = Array2::from_shape_fn((300, 20), |(i, d)| ((i * 31 + d * d * 7) % 3) as f64);
    for points in [grid, tenths, twins, line, same, wide_grid] {
        for metric in METRICS {
            check_all(
                &points,
                metric,
                &[NeighborRule::Nearest(4), NeighborRule::Nearest(50), NeighborRule::Within(0.1)],
                &ctx,
            );
        }
    }
}

#[test]
fn offsets_and_scales_where_matrix_products_cancel() {
    let ctx = Ctx::new(2, 0);
    let small = noise(400, 30, 3);
    let offset = small.mapv(|value| 1e8 + value * 1e-6);
    // Two far clusters: centring does not help, differences inside are tiny.
    let clusters =
        Array2::from_shape_fn((400, 30), |(i, d)| if i % 2 == 0 { 1e8 } else { -1e8 } + small[[i, d]]);
    let mixed = Array2::from_shape_fn((400, 30), |(i, d)| small[[i, d]] * 10f64.powi(i as i32 % 17 - 8));
    let mut tiny = small.mapv(|value| value * 1e-40);
    tiny[[0, 0]] = 1e8;
    let huge = small.mapv(|value| value * 1e120);
    for points in [offset, clusters, mixed, tiny, huge] {
        for metric in [Metric::Euclidean, Metric::Cosine, Metric::Manhattan] {
            let hoods = [NeighborRule::Nearest(10), NeighborRule::Within(2e-6), NeighborRule::Within(0.9)];
            check_all(&points, metric, &hoods, &ctx);
        }
    }
    // A query far outside what the rows' scale can hold in single precision.
    let index = build(small.view(), Metric::Euclidean, Algorithm::Brute, &ctx);
    let far = noise(64, 30, 9).mapv(|value| value * 1e60);
    let found = index.query(PointsRef::Dense(far.view()), NeighborRule::Nearest(3), &ctx).unwrap();
    for row in 0..64 {
        let far = far.slice(s![row..row + 1, ..]);
        let one = index.query(PointsRef::Dense(far), NeighborRule::Nearest(3), &ctx).unwrap();
        assert_eq!(one.indices, found.indices[3 * row..3 * row + 3]);
    }
}

#[test]
fn extreme_values_neither_panic_nor_hang() {
    let ctx = Ctx::new(1, 0);
    let points = noise(300, 6, 1).mapv(|value| value * 1e300);
    for metric in METRICS {
        for algorithm in [Algorithm::Tree, Algorithm::Brute] {
            let index = build(points.view(), metric, algorithm, &ctx);
            let found = index.neighbors_of_all(NeighborRule::Nearest(5), &ctx).unwrap();
            assert_eq!(found.indices.len(), 1500);
        }
    }
}

fn naive_links(pairs: &Array2<f64>, labels: &[usize], count: usize) -> Vec<Link> {
    (0..count)
        .map(|component| {
            let mut best: Option<(f64, u32, u32, Link)> = None;
            for ((i, j), &distance) in pairs.indexed_iter() {
                if labels[i] == component && labels[j] != component {
                    let (from, to) = (i as u32, j as u32);
                    let link = Link { from, to, distance };
                    let key = (distance, from.min(to), from.max(to), link);
                    if best.is_none_or(|held| (key.0, key.1, key.2) < (held.0, held.1, held.2)) {
                        best = Some(key);
                    }
                }
            }
            best.unwrap().3
        })
        .collect()
}

#[test]
fn closest_foreign_pairs_agree_with_the_naive_twin() {
    let ctx = Ctx::new(2, 0);
    let grid = Array2::from_shape_fn((400, 2), |(i, d)| if d == 0 { i % 20 } else { i / 20 } as f64);
    let same = Array2::from_elem((300, 3), 1.0);
    for points in [noise(350, 3, 8), noise(300, 30, 8), grid, same] {
        let n = points.nrows();
        for count in [2, 7, n] {
            for labels in
                [(0..n).map(|i| i % count).collect::<Vec<_>>(), (0..n).map(|i| i * count / n).collect()]
            {
                for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
                    for algorithm in [Algorithm::Tree, Algorithm::Brute] {
                        let index = build(points.view(), metric, algorithm, &ctx);
                        let pairs = all_pairs(&index);
                        let expected = naive_links(&pairs, &labels, count);
                        let found = index.closest_foreign(&labels, count, &ctx).unwrap();
                        assert_eq!(found, expected, "{metric:?} {algorithm:?} {count}");
                        let found = MatrixLinks(pairs.view()).closest_foreign(&labels, count, &ctx).unwrap();
                        assert_eq!(found, expected);
                    }
                }
            }
        }
    }
    let index = build(noise(5, 2, 1).view(), Metric::Euclidean, Algorithm::Auto, &ctx);
    assert!(index.closest_foreign(&[0; 5], 1, &ctx).is_err());
    assert!(index.closest_foreign(&[0; 4], 1, &ctx).is_err());
    assert!(index.closest_foreign(&[0, 1, 2, 3, 9], 4, &ctx).is_err());
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (low, high) = (noise(6000, 3, 2), noise(900, 60, 2));
    for points in [low, high] {
        let labels: Vec<usize> = (0..points.nrows()).map(|i| i / 100).collect();
        let run = |threads| {
            let ctx = Ctx::new(threads, 0);
            let index = build(points.view(), Metric::Euclidean, Algorithm::Auto, &ctx);
            let all = index.neighbors_of_all(NeighborRule::Nearest(12), &ctx).unwrap();
            let ball = index.neighbors_of_all(NeighborRule::Within(0.2), &ctx).unwrap();
            let links = index.closest_foreign(&labels, points.nrows() / 100, &ctx).unwrap();
            (index.order(), all, ball, links)
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(4));
        let mut order = one.0;
        order.sort_unstable();
        assert_eq!(order, (0..points.nrows() as u32).collect::<Vec<_>>());
    }
}

#[test]
fn refusals_say_what_is_allowed() {
    let ctx = Ctx::new(1, 0);
    let points = noise(5, 2, 1);
    let index = build(points.view(), Metric::Euclidean, Algorithm::Auto, &ctx);
    let error = index.neighbors_of_all(NeighborRule::Nearest(5), &ctx).unwrap_err();
    assert!(matches!(error, Error::Param { name: "n_neighbors", .. }), "{error}");
    assert!(error.to_string().contains("at most 4") && error.to_string().contains("5 rows"), "{error}");
    assert!(index.query(PointsRef::Dense(points.view()), NeighborRule::Nearest(5), &ctx).is_ok());
    assert!(index.query(PointsRef::Dense(points.view()), NeighborRule::Nearest(6), &ctx).is_err());
    assert!(index.query(PointsRef::Dense(noise(2, 3, 1).view()), NeighborRule::Nearest(1), &ctx).is_err());
    for radius in [-1.0, f64::NAN] {
        assert!(index.neighbors_of_all(NeighborRule::Within(radius), &ctx).is_err());
    }
    for p in [0.5, f64::NAN] {
        let refused =
            Index::build(PointsRef::Dense(points.view()), Metric::Minkowski(p), Algorithm::Auto, &ctx);
        assert!(refused.is_err());
    }
    let small = Ctx::new(1, 0).with_memory_limit(20 << 20);
    let points = noise(3000, 3, 1);
    let index = build(points.view(), Metric::Euclidean, Algorithm::Tree, &small);
    let error = index.neighbors_of_all(NeighborRule::Within(10.0), &small).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
}

#[test]
fn a_cancelled_search_says_so() {
    let ctx = Ctx::new(2, 0);
    let indices: Vec<Index> = [(500, 3), (500, 50)]
        .into_iter()
        .map(|(n, dims)| build(noise(n, dims, 1).view(), Metric::Euclidean, Algorithm::Auto, &ctx))
        .collect();
    ctx.watch().cancel();
    for index in indices {
        assert_eq!(index.neighbors_of_all(NeighborRule::Nearest(3), &ctx).unwrap_err(), Error::Cancelled);
        let query = index.query(index.points().view(), NeighborRule::Nearest(3), &ctx);
        assert_eq!(query.unwrap_err(), Error::Cancelled);
        let labels: Vec<usize> = (0..500).map(|i| i % 2).collect();
        assert_eq!(index.closest_foreign(&labels, 2, &ctx).unwrap_err(), Error::Cancelled);
    }
}

#[test]
fn an_index_survives_saving() {
    let ctx = Ctx::new(1, 0);
    for (n, dims, metric) in [(500, 3, Metric::Euclidean), (300, 30, Metric::Correlation)] {
        let index = build(noise(n, dims, 4).view(), metric, Algorithm::Auto, &ctx);
        let saved = postcard::to_allocvec(&index).unwrap();
        let restored: Index = postcard::from_bytes(&saved).unwrap();
        assert_eq!(restored.has_tree(), index.has_tree());
        assert_eq!(
            restored.neighbors_of_all(NeighborRule::Nearest(7), &ctx).unwrap(),
            index.neighbors_of_all(NeighborRule::Nearest(7), &ctx).unwrap()
        );
    }
}

#[test]
fn thousands_of_equal_points_are_harmless() {
    let ctx = Ctx::new(2, 0);
    let points = Array2::from_shape_fn((40_000, 3), |(i, _)| if i % 4 == 0 { i as f64 } else { 0.5 });
    let index = build(points.view(), Metric::Euclidean, Algorithm::Tree, &ctx);
    let found = index.neighbors_of_all(NeighborRule::Nearest(5), &ctx).unwrap();
    let row = 39_999;
    assert_eq!(found.indices[5 * row..5 * row + 5], [1, 2, 3, 5, 6]);
    assert_eq!(found.distances[5 * row..5 * row + 5], [0.0; 5]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_points_any_metric(
        n in 2usize..120,
        dims in 1usize..24,
        seed in any::<u64>(),
        steps in prop_oneof![Just(2.0), Just(10.0), Just(1e9)],
        power in -6i32..6,
        shift in prop_oneof![Just(0.0), Just(1e6)],
        metric in 0usize..8,
        k in 1usize..40,
    ) {
        let ctx = Ctx::new(2, 0);
        let points = noise(n, dims, seed).mapv(|value| ((value * steps).round() / steps) * 10f64.powi(power) + shift);
        let k = k.min(n - 1);
        check_all(&points, METRICS[metric], &[NeighborRule::Nearest(k), NeighborRule::Within(10f64.powi(power))], &ctx);
    }
}

#[test]
fn a_radius_with_too_many_rows_in_it_is_refused_before_the_search() {
    // Too few entries for a table that is watched while it grows.
    let points = noise(600, 2, 3);
    let ctx = Ctx::new(1, 0).with_memory_limit(6_000_000);
    let refused = |found: Result<Neighbors, Error>| match found {
        Err(error @ Error::Memory { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    for algorithm in [Algorithm::Brute, Algorithm::Tree] {
        let index = build(points.view(), Metric::Euclidean, algorithm, &ctx);
        let told = refused(index.neighbors_of_all(NeighborRule::Within(10.0), &ctx));
        assert!(told.contains("the table of neighbours") && told.contains("`radius`"), "{told}");
        assert!(index.neighbors_of_all(NeighborRule::Within(1e-3), &ctx).is_ok());
        let mean = index.mean_within(10.0, &ctx).unwrap();
        assert_eq!(mean, 600.0);
    }
    let near = from_distances(Array2::<f64>::ones((600, 600)).view(), NeighborRule::Within(2.0), &ctx);
    assert!(refused(near).contains("the table of neighbours"));
    assert!(from_distances(Array2::<f64>::ones((600, 600)).view(), NeighborRule::Within(0.5), &ctx).is_ok());
}
