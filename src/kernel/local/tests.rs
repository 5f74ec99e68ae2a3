//! Blocks against slow dense ones, and what each must leave alone.

use ndarray::{Array1, Array2, Axis, s};

use super::*;
use crate::input::Csr;
use crate::linalg::random::uniform;
use crate::linalg::{symmetric_eigen, thin_svd};
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule};

const ALL: [Variant; 5] = [
    Variant::Standard { reg: 1e-3, nonnegative: false },
    Variant::Standard { reg: 1e-3, nonnegative: true },
    Variant::Modified { components: 2, reg: 1e-3, tol: 1e-12 },
    Variant::Hessian { components: 2, tol: 1e-4 },
    Variant::Tangent { components: 2 },
];

fn cloud(rows: usize, features: usize) -> Array2<f64> {
    uniform(&mut Ctx::new(1, 7).stream("cloud"), rows, features)
}

fn lists(points: &Array2<f64>, rule: NeighborRule) -> Neighbors {
    let ctx = Ctx::new(1, 0);
    let index = Index::build(PointsRef::Dense(points.view()), Metric::Euclidean, Algorithm::Auto, &ctx);
    index.unwrap().neighbors_of_all(rule, &ctx).unwrap()
}

fn of_points(points: PointsRef<'_>, near: &Neighbors, variant: Variant, threads: usize) -> Blocks {
    let ctx = Ctx::new(threads, 0);
    ctx.install(|| blocks(Source::Points { centers: points, rows: points }, near, variant, &ctx)).unwrap()
}

/// Members of a block and the block itself.
fn block(blocks: &Blocks, i: usize) -> (Vec<usize>, Array2<f64>) {
    let members = &blocks.members[blocks.member_offsets[i]..blocks.member_offsets[i + 1]];
    let factor = &blocks.factors[blocks.factor_offsets[i]..blocks.factor_offsets[i + 1]];
    let count = members.len();
    let factor = Array2::from_shape_vec((count, factor.len() / count.max(1)), factor.to_vec()).unwrap();
    let product = factor.dot(&factor.t());
    let dense = match blocks.form {
        Form::Product => product,
        Form::Complement => Array2::eye(count) - product,
    };
    (members.iter().map(|&row| row as usize).collect(), dense)
}

fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    (a - b).iter().fold(0.0_f64, |most, gap| most.max(gap.abs()))
}

/// Left singular vectors (all k) and squared singular values, padded to k.
fn left(differences: &Array2<f64>) -> (Array2<f64>, Vec<f64>) {
    let (values, vectors) = symmetric_eigen(differences.dot(&differences.t()).view()).unwrap();
    (vectors.slice(s![.., ..;-1]).to_owned(), values.into_iter().rev().map(|value| value.max(0.0)).collect())
}

fn centered(points: &Array2<f64>, rows: &[usize]) -> Array2<f64> {
    let part = points.select(Axis(0), rows);
    let mean = part.mean_axis(Axis(0)).unwrap();
    part - mean
}

fn orthonormal(columns: &Array2<f64>) -> Array2<f64> {
    let mut basis = columns.clone();
    for a in 0..basis.ncols() {
        for _ in 0..2 {
            for b in 0..a {
                let along = basis.column(a).dot(&basis.column(b));
                let other = basis.column(b).to_owned();
                basis.column_mut(a).scaled_add(-along, &other);
            }
        }
        let length = basis.column(a).dot(&basis.column(a)).sqrt();
        basis.column_mut(a).mapv_inplace(|entry| entry / length);
    }
    basis
}

/// [1, V, V_a∘V_b for every pair], as the paper writes it.
fn quadratic(points: &Array2<f64>, rows: &[usize], d: usize) -> Array2<f64> {
    let v = thin_svd(centered(points, rows).view()).unwrap().u;
    let mut columns = vec![Array1::ones(rows.len())];
    columns.extend((0..d).map(|a| v.column(a).to_owned()));
    for a in 0..d {
        columns.extend((a..d).map(|b| &v.column(a) * &v.column(b)));
    }
    let views: Vec<_> = columns.iter().map(|column| column.view()).collect();
    ndarray::stack(Axis(1), &views).unwrap()
}

#[test]
fn standard_weights_are_those_of_the_definition() {
    for features in [3, 20] {
        let points = cloud(60, features);
        let near = lists(&points, NeighborRule::Nearest(8));
        let found = of_points(PointsRef::Dense(points.view()), &near, ALL[0], 1);
        for i in 0..60 {
            let (members, dense) = block(&found, i);
            let z = points.select(Axis(0), &members[1..]) - points.row(i);
            let mut gram = z.dot(&z.t());
            let trace = gram.diag().sum();
            gram.diag_mut().mapv_inplace(|entry| entry + 1e-3 * trace);
            let w = crate::linalg::pseudo_inverse_times(gram.view(), Array2::ones((8, 1)).view()).unwrap();
            let w = &w / w.sum();
            let f = ndarray::concatenate![Axis(0), Array2::ones((1, 1)), -w];
            assert!(apart(&dense, &f.dot(&f.t())) < 1e-10);
        }
    }
}

#[test]
fn weights_rebuild_a_row_in_the_span_of_its_neighbours() {
    let points = cloud(80, 3);
    let near = lists(&points, NeighborRule::Nearest(9));
    let source =
        Source::Points { centers: PointsRef::Dense(points.view()), rows: PointsRef::Dense(points.view()) };
    let ctx = Ctx::new(1, 0);
    for reg in [0.0, 1e-10] {
        let weights = ctx.install(|| barycentric(source, &near, reg, false, &ctx)).unwrap();
        for i in 0..80 {
            let range = near.offsets[i]..near.offsets[i + 1];
            let mut rebuilt = Array1::<f64>::zeros(3);
            range
                .clone()
                .for_each(|at| rebuilt.scaled_add(weights[at], &points.row(near.indices[at] as usize)));
            assert!((rebuilt - points.row(i)).iter().all(|gap| gap.abs() < 1e-6), "reg {reg}, row {i}");
            assert!((weights[range].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn nonnegative_weights_are_the_best_of_their_kind() {
    let points = cloud(60, 4);
    let near = lists(&points, NeighborRule::Nearest(7));
    let found = of_points(PointsRef::Dense(points.view()), &near, ALL[1], 1);
    let mut zeros = 0;
    for i in 0..60 {
        let (members, _) = block(&found, i);
        let factor = &found.factors[found.factor_offsets[i]..found.factor_offsets[i + 1]];
        let w: Array1<f64> = factor[1..].iter().map(|entry| -entry).collect();
        assert!(w.iter().all(|&weight| weight >= 0.0) && (w.sum() - 1.0).abs() < 1e-12);
        let z = points.select(Axis(0), &members[1..]) - points.row(i);
        let mut gram = z.dot(&z.t());
        let trace = gram.diag().sum();
        gram.diag_mut().mapv_inplace(|entry| entry + 1e-3 * trace);
        // The slope is the same along every free weight and no less along the others.
        let (slopes, cost) = (gram.dot(&w), w.dot(&gram.dot(&w)));
        for (slope, &weight) in slopes.iter().zip(&w) {
            assert!(*slope > cost - 1e-9 * trace && (weight == 0.0 || (slope - cost).abs() < 1e-9 * trace));
        }
        zeros += w.iter().filter(|&&weight| weight == 0.0).count();
    }
    assert!(zeros > 20, "the constraint was never active");
}

#[test]
fn tangent_blocks_are_those_of_the_definition() {
    for (features, d) in [(3, 2), (5, 2), (30, 3), (4, 4), (1, 1)] {
        let points = cloud(70, features);
        let near = lists(&points, NeighborRule::Nearest(8));
        let found = of_points(PointsRef::Dense(points.view()), &near, Variant::Tangent { components: d }, 1);
        for i in 0..70 {
            let (members, dense) = block(&found, i);
            let u = thin_svd(centered(&points, &members).view()).unwrap().u;
            let g = u.slice(s![.., ..d]);
            // Rows that nobody names are members of their own block.
            let k = members.len();
            let expected = Array2::eye(k) - g.dot(&g.t()) - Array2::from_elem((k, k), 1.0 / k as f64);
            assert!(apart(&dense, &expected) < 1e-10, "{features} features, row {i}");
        }
    }
}

#[test]
fn hessian_blocks_are_those_of_the_paper() {
    for (features, d) in [(3, 2), (5, 3), (40, 2), (6, 4), (40, 3), (2, 1)] {
        let points = cloud(90, features);
        let k = 1 + d + d * (d + 1) / 2 + 3;
        let near = lists(&points, NeighborRule::Nearest(k));
        let variant = Variant::Hessian { components: d, tol: 1e-4 };
        let found = of_points(PointsRef::Dense(points.view()), &near, variant, 1);
        for i in 0..90 {
            let (members, dense) = block(&found, i);
            let basis = orthonormal(&quadratic(&points, &members, d));
            let h = basis.slice(s![.., 1 + d..]);
            assert_eq!(h.ncols(), d * (d + 1) / 2);
            assert!(apart(&dense, &h.dot(&h.t())) < 1e-7, "{features} features, d = {d}, row {i}");
        }
    }
}

#[test]
fn blocks_kill_linear_functions_and_hessian_blocks_nothing_more() {
    for d in [2, 3, 4] {
        // A flat sheet in more dimensions: every linear function is one of d coordinates.
        let flat = cloud(120, d);
        let points = flat.dot(&cloud(d, 6));
        let k = 1 + d + d * (d + 1) / 2 + 2;
        let near = lists(&points, NeighborRule::Nearest(k));
        let variants = [
            Variant::Hessian { components: d, tol: 1e-4 },
            Variant::Tangent { components: d },
            // Its regularised weights rebuild a row to within the regularisation only.
            Variant::Modified { components: d, reg: 1e-12, tol: 1e-12 },
        ];
        for variant in variants {
            let found = of_points(PointsRef::Dense(points.view()), &near, variant, 1);
            for i in 0..120 {
                let (members, dense) = block(&found, i);
                let linear = flat.select(Axis(0), &members);
                let ones = Array2::<f64>::ones((members.len(), 1));
                assert!(dense.dot(&ones).iter().all(|entry| entry.abs() < 1e-9), "{variant:?}");
                assert!(dense.dot(&linear).iter().all(|entry| entry.abs() < 1e-7), "{variant:?} {i}");
                for a in 0..d {
                    for b in a..d {
                        let square = &linear.column(a) * &linear.column(b);
                        assert!(square.dot(&dense.dot(&square)) > 1e-12, "{variant:?}: {a}·{b} is not seen");
                    }
                }
            }
        }
    }
}

/// Modified LLE as scikit-learn writes it, with all eigenvectors.
fn modified_twin(points: &Array2<f64>, near: &Neighbors, d: usize) -> Vec<Array2<f64>> {
    let n = points.nrows();
    let k = near.offsets[1];
    let nev = points.ncols().min(k);
    let of = |i: usize| {
        let rows: Vec<usize> = near.indices[i * k..(i + 1) * k].iter().map(|&row| row as usize).collect();
        left(&(points.select(Axis(0), &rows) - points.row(i)))
    };
    let all: Vec<_> = (0..n).map(of).collect();
    let mut rho: Vec<f64> =
        all.iter().map(|(_, l)| l[d..nev].iter().sum::<f64>() / l[..d].iter().sum::<f64>()).collect();
    rho.sort_by(f64::total_cmp);
    let eta = if n.is_multiple_of(2) { 0.5 * (rho[n / 2 - 1] + rho[n / 2]) } else { rho[n / 2] };
    all.iter()
        .map(|(v, l)| {
            let total: f64 = l[..nev].iter().sum();
            let fits = |j: &usize| total / l[..*j].iter().sum::<f64>() - 1.0 < eta * (1.0 - 1e-10);
            // The paper's bound: d eigenvalues at least are large.
            let s = (1..nev).filter(fits).count().min(nev.saturating_sub(d)) + k - nev;
            let mut coefficient = v.t().sum_axis(Axis(1));
            for (a, entry) in coefficient.iter_mut().enumerate() {
                *entry /= if a < nev { l[a] } else { 0.0 } + 1e-3 * total;
            }
            let w = v.dot(&coefficient);
            let w = &w / w.sum();
            let part = v.slice(s![.., k - s..]).to_owned();
            let sums = part.sum_axis(Axis(0));
            let alpha = sums.dot(&sums).sqrt() / (s as f64).sqrt();
            let h = sums.mapv(|sum| alpha - sum);
            let length = h.dot(&h).sqrt();
            let h = if length < 1e-12 { h * 0.0 } else { h / length };
            let h = h.insert_axis(Axis(1));
            let w = (w * (1.0 - alpha)).insert_axis(Axis(1));
            let weights = &part - &(2.0 * part.dot(&h).dot(&h.t())) + &w;
            let hat = ndarray::concatenate![Axis(0), Array2::from_elem((1, s), -1.0), weights];
            hat.dot(&hat.t())
        })
        .collect()
}

#[test]
fn modified_blocks_are_those_of_the_twin() {
    for (features, k, d) in [(3, 10, 2), (5, 7, 2), (30, 9, 2), (3, 8, 1), (12, 12, 3)] {
        let mut points = cloud(101, features);
        // Nearly a sheet, so that there is something to choose.
        points.slice_mut(s![.., d..]).mapv_inplace(|entry| 0.05 * entry);
        let near = lists(&points, NeighborRule::Nearest(k));
        let variant = Variant::Modified { components: d, reg: 1e-3, tol: 1e-12 };
        let found = of_points(PointsRef::Dense(points.view()), &near, variant, 1);
        for (i, expected) in modified_twin(&points, &near, d).iter().enumerate() {
            let (_, dense) = block(&found, i);
            // Where the reference has no weights, one is kept.
            if apart(expected, &Array2::zeros(expected.dim())) > 0.0 {
                assert!(apart(&dense, expected) < 1e-8, "{features} features, k = {k}, row {i}");
            }
        }
    }
}

#[test]
fn dense_sparse_and_distances_agree_on_any_number_of_threads() {
    for features in [3, 25] {
        let mut points = cloud(200, features);
        points.mapv_inplace(|entry| if entry.abs() < 0.3 { 0.0 } else { entry });
        let distances = Array2::from_shape_fn((200, 200), |(i, j)| {
            let gap = &points.row(i) - &points.row(j);
            gap.dot(&gap).sqrt()
        });
        let csr = sparse(&points);
        for rule in [NeighborRule::Nearest(10), NeighborRule::Within(if features == 3 { 0.4 } else { 2.6 })] {
            let near = lists(&points, rule);
            for variant in ALL {
                let dense = of_points(PointsRef::Dense(points.view()), &near, variant, 1);
                assert!(dense.factors.iter().all(|entry| entry.is_finite()));
                let two = of_points(PointsRef::Dense(points.view()), &near, variant, 2);
                assert_eq!(dense.factors, two.factors);
                let sparse = of_points(PointsRef::Sparse(&csr), &near, variant, 2);
                let ctx = Ctx::new(2, 0);
                let source = Source::Distances { matrix: distances.view(), rows: None };
                let from = ctx.install(|| blocks(source, &near, variant, &ctx)).unwrap();
                let enough = variant.least_neighbors() + 2;
                for i in (0..200).filter(|&i| near.offsets[i + 1] - near.offsets[i] > enough) {
                    let expected = block(&dense, i).1;
                    assert!(apart(&block(&sparse, i).1, &expected) < 1e-7, "{variant:?} {features} {i}");
                    assert!(apart(&block(&from, i).1, &expected) < 1e-6, "{variant:?} {features} {i}");
                }
            }
        }
    }
}

fn sparse(points: &Array2<f64>) -> Csr {
    let mut csr = Csr { cols: points.ncols(), offsets: vec![0], indices: vec![], values: vec![] };
    for row in points.outer_iter() {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            csr.indices.push(column as u32);
            csr.values.push(value);
        }
        csr.offsets.push(csr.indices.len());
    }
    csr
}

#[test]
fn degenerate_neighbourhoods_give_finite_blocks() {
    let line = Array2::from_shape_fn((40, 3), |(i, _)| i as f64);
    let point = Array2::<f64>::ones((40, 3));
    let wide = Array2::from_shape_fn((40, 30), |(i, _)| (i / 20) as f64);
    for points in [line, point, wide] {
        let near = lists(&points, NeighborRule::Nearest(9));
        for variant in ALL {
            let found = of_points(PointsRef::Dense(points.view()), &near, variant, 1);
            for i in 0..40 {
                let (members, dense) = block(&found, i);
                assert!(dense.iter().all(|entry| entry.is_finite() && entry.abs() < 1e3), "{variant:?}");
                let ones = Array1::<f64>::ones(members.len());
                assert!(dense.dot(&ones).iter().all(|entry| entry.abs() < 1e-9), "{variant:?} {i}");
            }
        }
    }
}

#[test]
fn sparse_rows_without_entries_give_the_blocks_of_dense_zeros() {
    let zeros = Array2::<f64>::zeros((40, 3));
    let (near, csr) = (lists(&zeros, NeighborRule::Nearest(9)), sparse(&zeros));
    for variant in ALL {
        let dense = of_points(PointsRef::Dense(zeros.view()), &near, variant, 1);
        let found = of_points(PointsRef::Sparse(&csr), &near, variant, 1);
        assert!((0..40).all(|i| block(&found, i) == block(&dense, i)), "{variant:?}");
    }
    let rows = PointsRef::Sparse(&csr);
    let one = Neighbors { offsets: vec![0, 40], indices: (0..40).collect(), distances: vec![0.0; 40] };
    let placed = principal(Source::Points { centers: rows, rows }, &one, 2).unwrap();
    assert_eq!(placed, Array2::<f64>::zeros((40, 2)));
}

#[test]
fn what_is_too_far_is_told_by_nan_and_what_is_not_euclidean_is_weighed() {
    let ctx = Ctx::new(1, 0);
    let rows = cloud(5, 2);
    let far = Array2::from_elem((1, 2), 1e200);
    let near = Neighbors { offsets: vec![0, 3], indices: vec![0, 1, 2], distances: vec![1e200; 3] };
    let source =
        Source::Points { centers: PointsRef::Dense(far.view()), rows: PointsRef::Dense(rows.view()) };
    let weights = ctx.install(|| barycentric(source, &near, 1e-3, false, &ctx)).unwrap();
    assert!(weights.iter().all(|weight| weight.is_nan()));
    // Two neighbours near the row and far from one another: no triangle.
    let matrix = ndarray::array![[0.0, 9.0, 1.0], [9.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
    let near = Neighbors { offsets: vec![0, 2], indices: vec![0, 1], distances: vec![1.0, 1.0] };
    for (reg, nonnegative) in [(0.0, false), (1e-3, true)] {
        let source = Source::Distances { matrix: matrix.view(), rows: None };
        let weights = ctx.install(|| barycentric(source, &near, reg, nonnegative, &ctx)).unwrap();
        assert!(weights.iter().all(|weight| (weight - 0.5).abs() < 1e-9), "{weights:?}");
    }
}

#[test]
fn blocks_do_not_hang_on_how_long_the_directions_are() {
    // Tangents span what the features span, whatever their units.
    for features in [2, 14] {
        let mut points = cloud(60, features);
        points.slice_mut(s![.., 2..]).fill(0.0);
        let near = lists(&points, NeighborRule::Nearest(12));
        for variant in [Variant::Tangent { components: 2 }, Variant::Hessian { components: 2, tol: 1e-4 }] {
            let even = of_points(PointsRef::Dense(points.view()), &near, variant, 1);
            for short in [1e-3, 1e-5, 1e-9, 1e-12] {
                let mut uneven = points.clone();
                uneven.column_mut(1).mapv_inplace(|value| value * short);
                let found = of_points(PointsRef::Dense(uneven.view()), &near, variant, 2);
                for i in 0..60 {
                    let gap = apart(&block(&found, i).1, &block(&even, i).1);
                    assert!(gap < 1e-7, "{variant:?} {features} {short}: {gap}");
                }
            }
        }
        // Modified LLE leaves two directions out of its weights.
        points.column_mut(1).mapv_inplace(|value| value * 1e-9);
        let modified = Variant::Modified { components: 2, reg: 1e-3, tol: 1e-12 };
        let found = of_points(PointsRef::Dense(points.view()), &near, modified, 2);
        assert!((0..60).all(|i| found.width(i) == 10));
    }
}

#[test]
fn the_directions_of_neighbourhoods_are_counted() {
    let ctx = Ctx::new(2, 0);
    let plane = cloud(80, 2).dot(&cloud(2, 5));
    let near = lists(&plane, NeighborRule::Nearest(10));
    let points = PointsRef::Dense(plane.view());
    let source = Source::Points { centers: points, rows: points };
    let variant = Variant::Tangent { components: 3 };
    let (_, spans) = ctx.install(|| blocks_and_spans(source, &near, variant, &ctx)).unwrap();
    assert_eq!(spans.iter().sum::<usize>(), 80);
    assert!(spans[2] > 70, "{spans:?}");
    let standard = Variant::Standard { reg: 1e-3, nonnegative: false };
    assert!(ctx.install(|| blocks_and_spans(source, &near, standard, &ctx)).unwrap().1.is_empty());
}
