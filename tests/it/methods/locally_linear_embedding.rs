//! Locally linear embedding in its four forms: truth on rolls, exact references, components,
//! duplicates, and new rows.

use super::component_labels;
use crate::error::WarningKind;
use crate::graph::Policy;
use crate::input::Data;
use crate::input::{Csr, PointsRef};
use crate::kernel::local::LocalMethod;
use crate::kernel::local::assemble::assemble;
use crate::kernel::local::{Source, Variant, blocks};
use crate::linalg::SymmetricOperator;
use crate::linalg::{pseudo_inverse_times, symmetric_eigen};
use crate::methods::LocallyLinearEmbedding;
use crate::neighbors::MetricName;
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule};
use crate::spectrum::SparseSolver;
use crate::{AnyModel, Ctx, Error, datasets, transform};
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

const METHODS: [LocalMethod; 4] =
    [LocalMethod::Standard, LocalMethod::Modified, LocalMethod::Hessian, LocalMethod::Ltsa];

/// Numbers in [0, 1), scattered.
fn scattered(rows: usize, columns: usize) -> Array2<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    Array2::from_shape_simple_fn((rows, columns), || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    })
}

fn arc(t: f64) -> f64 {
    0.5 * (t * (1.0 + t * t).sqrt() + t.asinh())
}

/// A Swiss roll and its flat truth: arc length and height.
fn roll(rows: usize) -> (Array2<f64>, Array2<f64>) {
    let made = datasets::swiss_roll(rows, 0.0, &Ctx::new(1, 0)).unwrap();
    (made.points, made.coordinates)
}

fn lle(method: LocalMethod, k: usize) -> LocallyLinearEmbedding {
    LocallyLinearEmbedding::default().method(method).n_neighbors(k).eigen_solver(SparseSolver::Dense)
}

fn embedding(model: &impl AnyModel) -> Array2<f64> {
    model.embedding().expect("kept").to_owned()
}

/// What the best affine map from `found` leaves of `truth`, relative.
fn residual(found: ArrayView2<'_, f64>, truth: &Array2<f64>) -> f64 {
    let with_one = concatenate![Axis(1), Array2::ones((found.nrows(), 1)), found];
    let fit = pseudo_inverse_times(with_one.view(), truth.view()).unwrap();
    let left = truth - &with_one.dot(&fit);
    let spread = truth - &truth.mean_axis(Axis(0)).unwrap();
    // Per column, so that a long roll does not hide a lost height.
    (0..truth.ncols())
        .map(|c| (left.column(c).dot(&left.column(c)) / spread.column(c).dot(&spread.column(c))).sqrt())
        .fold(0.0, f64::max)
}

#[test]
fn the_roll_is_flattened() {
    let (points, truth) = roll(1500);
    for method in [LocalMethod::Ltsa, LocalMethod::Hessian, LocalMethod::Modified] {
        let model = lle(method, 12).fit(&points, &Ctx::new(2, 0)).unwrap();
        let found = embedding(&model);
        let left = residual(found.view(), &truth);
        assert!(left < 0.02, "{method:?}: {left}");
        for column in found.columns() {
            assert!(column.sum().abs() < 1e-8 && (column.dot(&column) - 1.0).abs() < 1e-9);
        }
        assert!(found.column(0).dot(&found.column(1)).abs() < 1e-8);
    }
}

#[test]
fn hessian_recovers_three_dimensions() {
    let chance = scattered(1500, 3);
    let truth = Array2::from_shape_fn((1500, 3), |(i, axis)| {
        [arc(3.0 + 4.0 * chance[[i, 0]]), 6.0 * chance[[i, 1]], 6.0 * chance[[i, 2]]][axis]
    });
    let points = Array2::from_shape_fn((1500, 5), |(i, axis)| {
        let (t, v) = (3.0 + 4.0 * chance[[i, 0]], 6.0 * chance[[i, 2]] / 4.0);
        [t * t.cos(), t * t.sin(), truth[[i, 1]], 4.0 * v.cos(), 4.0 * v.sin()][axis]
    });
    for method in [LocalMethod::Hessian, LocalMethod::Ltsa] {
        let model = lle(method, 20).n_components(3_usize).fit(&points, &Ctx::new(2, 0)).unwrap();
        let left = residual(embedding(&model).view(), &truth);
        assert!(left < 0.02, "{method:?}: {left}");
    }
}

#[test]
fn every_form_is_the_bottom_of_its_matrix() {
    let (points, _) = roll(300);
    let ctx = Ctx::new(2, 0);
    let rows = PointsRef::Dense(points.view());
    let index = Index::build(rows, Metric::Euclidean, Algorithm::Auto, &ctx).unwrap();
    let near = index.neighbors_of_all(NeighborRule::Nearest(9), &ctx).unwrap();
    for (method, variant) in [
        (LocalMethod::Standard, Variant::Standard { reg: 1e-3, nonnegative: false }),
        (LocalMethod::Modified, Variant::Modified { components: 2, reg: 1e-3, tol: 1e-12 }),
        (LocalMethod::Hessian, Variant::Hessian { components: 2, tol: 1e-4 }),
        (LocalMethod::Ltsa, Variant::Tangent { components: 2 }),
    ] {
        let source = Source::Points { centers: rows, rows };
        let made = ctx.install(|| blocks(source, &near, variant, &ctx)).unwrap();
        let dense = assemble(300, &made, &ctx).unwrap().to_dense(&ctx).unwrap();
        let (values, vectors) = symmetric_eigen(dense.view()).unwrap();
        let model = lle(method, 9).fit(&points, &ctx).unwrap();
        let size = values[299];
        assert!(values[0].abs() < 1e-12 * size, "the constant");
        for (found, expected) in model.eigenvalues().unwrap().iter().zip(&values[1..]) {
            assert!((found - expected).abs() < 1e-11 * size, "{method:?}: {found} {expected}");
        }
        // Both eigenvectors within the reference's span.
        let (found, twin) = (embedding(&model), vectors.slice(s![.., 1..3]));
        let left = &found - &twin.dot(&twin.t().dot(&found));
        assert!(left.iter().all(|entry| entry.abs() < 1e-6), "{method:?}");
    }
}

#[test]
fn distances_and_sparse_points_give_the_same_map() {
    let (points, _) = roll(250);
    let ctx = Ctx::new(2, 0);
    let between = |a: &Array2<f64>| {
        Array2::from_shape_fn((a.nrows(), 250), |(i, j)| {
            let gap = &a.row(i) - &points.row(j);
            gap.dot(&gap).sqrt()
        })
    };
    let distances = between(&points);
    let new = &points.slice(s![..20, ..]) + &(0.3 * &scattered(20, 3));
    let csr = Csr {
        cols: 3,
        offsets: (0..=250).map(|row| 3 * row).collect(),
        indices: (0..750).map(|at| at % 3).collect(),
        values: points.iter().copied().collect(),
    };
    for method in METHODS {
        let model = lle(method, 9).fit(&points, &ctx).unwrap();
        let placed = transform(&model, &new, &ctx).unwrap();
        let sparse = lle(method, 9).fit(Data::Points(PointsRef::Sparse(&csr)), &ctx).unwrap();
        assert!(apart(&embedding(&model), &embedding(&sparse)) < 1e-6, "{method:?}, sparse");
        assert!(apart(&placed, &transform(&sparse, &new, &ctx).unwrap()) < 1e-6, "{method:?}, sparse");
        let from = lle(method, 9).metric(MetricName::Precomputed);
        let from = from.fit(Data::Distances(distances.view()), &ctx).unwrap();
        assert!(apart(&embedding(&model), &embedding(&from)) < 1e-5, "{method:?}, distances");
        let matrix = between(&new);
        assert!(apart(&placed, &transform(&from, Data::Distances(matrix.view()), &ctx).unwrap()) < 1e-5);
        let own = transform(&from, Data::Distances(distances.view()), &ctx).unwrap();
        assert_eq!(own, embedding(&from));
    }
    let refused = lle(LocalMethod::Ltsa, 9).metric(MetricName::Precomputed).fit(Data::Graph(&csr), &ctx);
    match refused.err() {
        Some(Error::Param { name: "metric", why }) => assert!(why.contains("dense"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn given_neighbourhoods_give_the_same_map() {
    let (points, _) = roll(250);
    let ctx = Ctx::new(2, 0);
    let rows = PointsRef::Dense(points.view());
    let index = Index::build(rows, Metric::Euclidean, Algorithm::Auto, &ctx).unwrap();
    let near = index.neighbors_of_all(NeighborRule::Nearest(9), &ctx).unwrap();
    let lists = Csr { cols: 250, offsets: near.offsets, indices: near.indices, values: near.distances };
    let new = &points.slice(s![..20, ..]) + &(0.3 * &scattered(20, 3));
    let found = index.query(PointsRef::Dense(new.view()), NeighborRule::Nearest(9), &ctx).unwrap();
    let of_new = Csr { cols: 250, offsets: found.offsets, indices: found.indices, values: found.distances };
    for method in METHODS {
        let model = lle(method, 9).fit(&points, &ctx).unwrap();
        let placed = transform(&model, &new, &ctx).unwrap();
        let data = Data::Neighborhoods { points: rows, lists: &lists };
        let given = lle(method, 9).fit(data, &ctx).unwrap();
        assert_eq!(embedding(&given), embedding(&model), "{method:?}");
        assert_eq!(transform(&given, &new, &ctx).unwrap(), placed);
        // Without a metric of the core, new rows come with their lists.
        let listed = lle(method, 9).metric(MetricName::Precomputed).fit(data, &ctx).unwrap();
        assert_eq!(embedding(&listed), embedding(&model), "{method:?}");
        let with_lists = Data::Neighborhoods { points: PointsRef::Dense(new.view()), lists: &of_new };
        assert_eq!(transform(&listed, with_lists, &ctx).unwrap(), placed);
        assert!(transform(&listed, &new, &ctx).is_err());
    }
    let few = Csr { cols: 250, offsets: (0..=250).collect(), indices: vec![7; 250], values: vec![1.0; 250] };
    match lle(LocalMethod::Ltsa, 9).fit(Data::Neighborhoods { points: rows, lists: &few }, &ctx).err() {
        Some(Error::Param { name: "neighbors", why }) => assert!(why.contains("row "), "{why}"),
        other => panic!("{other:?}"),
    }
    let wrong = Csr { indices: vec![250; 250], ..few.clone() };
    let refused = lle(LocalMethod::Ltsa, 9).fit(Data::Neighborhoods { points: rows, lists: &wrong }, &ctx);
    assert!(refused.err().unwrap().to_string().contains("row 0"));
}

/// Largest difference up to the sign of columns.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.columns().into_iter().zip(b.columns()).fold(0.0, |worst, (a, b)| {
        let sign = a.dot(&b).signum();
        a.iter().zip(b).fold(worst, |worst: f64, (a, b)| worst.max((a - sign * b).abs()))
    })
}

#[test]
fn pieces_are_embedded_one_by_one() {
    let (one, truth) = roll(200);
    let far = &one.slice(s![..120, ..]) + 100.0;
    let points = concatenate![Axis(0), one, far];
    for method in METHODS {
        let ctx = Ctx::new(2, 0);
        let model = lle(method, 9).fit(&points, &ctx).unwrap();
        let warnings = ctx.take_warnings();
        assert_eq!(warnings[0].kind, WarningKind::Disconnected, "{warnings:?}");
        assert!(warnings[0].message.contains("no meaning"));
        assert_eq!(component_labels(&model)[0], 0);
        assert_eq!(component_labels(&model)[250], 1);
        let found = embedding(&model);
        let (left, right) = found.view().split_at(Axis(0), 200);
        // Each is its own map up to scale and shift, and none is a point.
        let alone = embedding(&lle(method, 9).fit(&one, &ctx).unwrap());
        assert!(residual(left, &alone) < 1e-6, "{method:?}");
        assert!(right.column(1).iter().fold(0.0_f64, |most, value| most.max(value.abs())) > 1e-3);
        let most = left.column(0).iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value));
        let least = right.column(0).iter().fold(f64::INFINITY, |least, &value| least.min(value));
        let (least, most) = if least > most {
            (least, most)
        } else {
            let ends = |part: ArrayView2<'_, f64>| {
                part.column(0).iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)))
            };
            (ends(left).0, ends(right).1)
        };
        assert!(least > most, "{method:?}: the boxes overlap");
        for column in found.columns() {
            assert!(column.sum().abs() < 1e-8 && (column.dot(&column) - 1.0).abs() < 1e-9);
        }
        assert_eq!(transform(&model, &points, &ctx).unwrap(), found);

        let refused = lle(method, 9).disconnected(Policy::Error).fit(&points, &ctx);
        assert!(matches!(refused.err(), Some(Error::Disconnected { count: 2, .. })));
        let largest = lle(method, 9).disconnected(Policy::Largest).fit(&points, &ctx).unwrap();
        let found = embedding(&largest);
        assert!(found.slice(s![200.., ..]).iter().all(|value| value.is_nan()));
        assert!(apart(&found.slice(s![..200, ..]).to_owned(), &alone) < 1e-6, "{method:?}");
        let placed = transform(&largest, &points.slice(s![..200, ..]).to_owned(), &ctx).unwrap();
        assert_eq!(placed, found.slice(s![..200, ..]));
    }
    assert_eq!(truth.nrows(), 200);
}

#[test]
fn pieces_are_counted_in_rows_of_the_data() {
    // Thirty places five times each, and far away forty places once each.
    let (many, few) = (scattered(30, 2), &scattered(40, 2) + 50.0);
    let copies = Array2::from_shape_fn((150, 2), |(i, axis)| many[[i % 30, axis]]);
    let points = concatenate![Axis(0), copies, few];
    let ctx = Ctx::new(1, 0);
    let messages = || ctx.take_warnings().iter().map(|warning| warning.message.clone()).collect::<String>();
    lle(LocalMethod::Ltsa, 8).fit(&points, &ctx).unwrap();
    let told = messages();
    assert!(told.contains("largest of 150 rows"), "{told}");
    let largest = lle(LocalMethod::Ltsa, 8).disconnected(Policy::Largest).fit(&points, &ctx).unwrap();
    let told = messages();
    assert!(told.contains("sizes 150, 40") && told.contains("40 of 190"), "{told}");
    assert!(embedding(&largest).slice(s![150.., ..]).iter().all(|value| value.is_nan()));
    assert!(embedding(&largest).slice(s![..150, ..]).iter().all(|value| value.is_finite()));
    match lle(LocalMethod::Ltsa, 8).disconnected(Policy::Error).fit(&points, &ctx).err() {
        Some(Error::Disconnected { count, sizes, labels, .. }) => {
            assert_eq!((count, sizes.as_str(), labels.len()), (2, "150, 40", 190));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn small_pieces_have_what_coordinates_they_can() {
    // A sheet of thirty rows, a far pair and a far single row, by radius.
    let mut points = scattered(33, 2);
    points.row_mut(30).assign(&ndarray::arr1(&[50.0, 50.0]));
    points.row_mut(31).assign(&ndarray::arr1(&[50.1, 50.0]));
    points.row_mut(32).assign(&ndarray::arr1(&[-70.0, 0.0]));
    for method in [LocalMethod::Standard, LocalMethod::Ltsa] {
        let ctx = Ctx::new(1, 0);
        let model = lle(method, 5).n_neighbors(None).radius(0.8).fit(&points, &ctx).unwrap();
        assert_eq!(component_labels(&model)[30..], [1, 1, 2], "{method:?}");
        let found = embedding(&model);
        assert!(found.iter().all(|value| value.is_finite()));
        assert!((found[[30, 0]] - found[[31, 0]]).abs() > 1e-4, "{method:?}: the pair is one point");
        assert_eq!(transform(&model, &points, &ctx).unwrap(), found);
    }
}

#[test]
fn copies_lie_together() {
    let sheet = scattered(20, 3);
    let points = Array2::from_shape_fn((400, 3), |(i, axis)| sheet[[i % 20, axis]]);
    for method in METHODS {
        let ctx = Ctx::new(2, 0);
        let model = lle(method, 7).fit(&points, &ctx).unwrap();
        let kinds: Vec<WarningKind> = ctx.take_warnings().iter().map(|warning| warning.kind).collect();
        assert!(kinds.contains(&WarningKind::InputAdjusted), "{kinds:?}");
        let found = embedding(&model);
        for i in 20..400 {
            assert_eq!(found.row(i), found.row(i % 20));
        }
        let once = embedding(&lle(method, 7).fit(&sheet, &ctx).unwrap());
        assert!(residual(found.slice(s![..20, ..]), &once) < 1e-6, "{method:?}");
        assert_eq!(transform(&model, &points, &ctx).unwrap(), found);
    }
}

#[test]
fn a_few_copies_of_each_row_do_no_harm() {
    // Four copies and two places are ten neighbours, and no plane.
    let grid = Array2::from_shape_fn((100, 2), |(i, axis)| [i / 10, i % 10][axis] as f64);
    let grid = grid + 0.05 * scattered(100, 2);
    for method in METHODS {
        let ctx = Ctx::new(2, 0);
        let once = embedding(&lle(method, 10).fit(&grid, &ctx).unwrap());
        for copies in 2..=6 {
            let points = Array2::from_shape_fn((100 * copies, 2), |(i, axis)| grid[[i % 100, axis]]);
            let found = embedding(&lle(method, 10).fit(&points, &ctx).unwrap());
            let (left, alone) = (residual(found.slice(s![..100, ..]), &grid), residual(once.view(), &grid));
            assert!(left < 1.5 * alone + 0.01, "{method:?}, {copies} copies: {left} for {alone}");
        }
    }
}

#[test]
fn freedom_is_told_by_every_solver_and_only_where_it_is() {
    let free = |warnings: Vec<crate::error::Warning>| {
        warnings.iter().any(|warning| warning.message.contains("do not determine"))
    };
    let grid = Array2::from_shape_fn((900, 2), |(i, axis)| [i / 30, i % 30][axis] as f64);
    let (bent, _) = roll(600);
    for solver in [SparseSolver::Dense, SparseSolver::Auto] {
        for method in METHODS {
            for points in [&grid, &bent] {
                let ctx = Ctx::new(2, 0);
                lle(method, 10).eigen_solver(solver).fit(points, &ctx).unwrap();
                assert!(!free(ctx.take_warnings()), "{method:?} {solver:?} {}", points.nrows());
            }
        }
        // Weights that make each row exactly hold in all three coordinates.
        let ctx = Ctx::new(2, 0);
        let exact = lle(LocalMethod::Standard, 6).reg(0.0).eigen_solver(solver);
        exact.fit(&scattered(100, 3), &ctx).unwrap();
        assert!(free(ctx.take_warnings()), "{solver:?}");
    }
}

#[test]
fn long_curves_are_determined_and_exact_weights_are_not_by_the_factor_too() {
    let told = |recipe: LocallyLinearEmbedding, points: &Array2<f64>| {
        let ctx = Ctx::new(2, 0);
        let model = recipe.eigen_solver(SparseSolver::Auto).fit(points, &ctx).unwrap();
        (model, ctx.take_warnings().iter().any(|warning| warning.kind == WarningKind::RankDeficient))
    };
    // Evenly along a spiral: eigenvalues below the rounding of the matrix, not of its root.
    let rows = 50_000;
    let turn = |i: usize| 40.0 * std::f64::consts::PI * i as f64 / (rows - 1) as f64;
    let spiral =
        Array2::from_shape_fn((rows, 3), |(i, axis)| [turn(i).cos(), turn(i).sin(), 0.3 * turn(i)][axis]);
    let (model, free) = told(lle(LocalMethod::Standard, 10).n_components(1usize), &spiral);
    assert!(!free);
    let found = embedding(&model);
    let (first, last) = (found[[0, 0]], found[[rows - 1, 0]]);
    let rises = found.column(0).windows(2).into_iter().all(|pair| (pair[1] - pair[0]) * (last - first) > 0.0);
    assert!(rises, "the column should follow the curve");
    // The weights hold exactly in all coordinates, of which not all are asked for.
    for (points, k, components) in
        [(scattered(1000, 3), 6, 2usize), (scattered(5000, 3), 10, 2), (scattered(2000, 2), 8, 1)]
    {
        let exact = lle(LocalMethod::Standard, k).reg(0.0).n_components(components);
        assert!(told(exact, &points).1, "{} rows", points.nrows());
    }
}

#[test]
fn no_spread_is_told() {
    for method in METHODS {
        let constant = Array2::<f64>::ones((40, 3));
        let ctx = Ctx::new(1, 0);
        let found = embedding(&lle(method, 8).fit(&constant, &ctx).unwrap());
        assert!(found.iter().all(|&value| value == 0.0));
        let kinds: Vec<WarningKind> = ctx.take_warnings().iter().map(|warning| warning.kind).collect();
        assert!(kinds.contains(&WarningKind::RankDeficient), "{kinds:?}");
        // Two places: one coordinate.
        let two = Array2::from_shape_fn((40, 3), |(i, _)| (i % 2) as f64);
        let found = embedding(&lle(method, 8).fit(&two, &ctx).unwrap());
        assert!((found[[0, 0]] - found[[1, 0]]).abs() > 0.1, "{method:?}");
        assert!(found.column(1).iter().all(|&value| value == 0.0));
        let kinds: Vec<WarningKind> = ctx.take_warnings().iter().map(|warning| warning.kind).collect();
        assert!(kinds.contains(&WarningKind::RankDeficient), "{kinds:?}");
        // One feature: a line, and what bends it.
        let line = Array2::from_shape_fn((60, 1), |(i, _)| i as f64) + 0.3 * scattered(60, 1);
        let found = embedding(&lle(method, 8).fit(&line, &ctx).unwrap());
        assert!(found.iter().all(|value| value.is_finite()));
        // Standard and modified weights are regularised: the line is theirs only roughly.
        let most = if matches!(method, LocalMethod::Hessian | LocalMethod::Ltsa) { 1e-6 } else { 0.2 };
        assert!(residual(found.view(), &line) < most, "{method:?}: {}", residual(found.view(), &line));
    }
}

#[test]
fn new_rows_follow_their_neighbours() {
    let (all, truth) = roll(1300);
    let (points, new) = (all.slice(s![..1200, ..]).to_owned(), all.slice(s![1200.., ..]).to_owned());
    let ctx = Ctx::new(2, 0);
    let model = lle(LocalMethod::Ltsa, 12).fit(&points, &ctx).unwrap();
    assert_eq!(transform(&model, &points, &ctx).unwrap(), embedding(&model));
    // A row between two training rows lies between their places.
    let placed = transform(&model, &new, &ctx).unwrap();
    assert!(placed.iter().all(|value| value.abs() < 0.2));
    let both = concatenate![Axis(0), embedding(&model), placed];
    assert!(residual(both.view(), &truth) < 0.1, "{}", residual(both.view(), &truth));
}

#[test]
fn parameters_are_refused_by_name() {
    let (points, _) = roll(60);
    let ctx = Ctx::new(1, 0);
    let base = LocallyLinearEmbedding::default;
    let cases = [
        (base().n_neighbors(60_usize), "n_neighbors"),
        (base().n_components(60_usize), "n_components"),
        (base().n_components(0_usize), "n_components"),
        (base().method(LocalMethod::Hessian).n_neighbors(5_usize), "n_neighbors"),
        (base().method(LocalMethod::Modified).n_components(6_usize), "n_neighbors"),
        (base().method(LocalMethod::Ltsa).n_neighbors(3_usize), "n_neighbors"),
        (base().reg(-1.0), "reg"),
        (base().method(LocalMethod::Modified).reg(1e308), "reg"),
        (base().tol(f64::NAN), "tol"),
        (base().hessian_tol(f64::INFINITY), "hessian_tol"),
        (base().modified_tol(-0.1), "modified_tol"),
        (base().radius(1.0), "radius"),
        (base().method(LocalMethod::Ltsa).nonnegative(true), "nonnegative"),
    ];
    for (method, expected) in cases {
        match method.fit(&points, &ctx).err() {
            Some(Error::Param { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn memory_is_asked_for_what_is_there() {
    let refused = |model: LocallyLinearEmbedding, points: &Array2<f64>, bytes: u64| {
        let ctx = Ctx::new(1, 0).with_memory_limit(bytes);
        model.fit(points, &ctx).err().map(|error| error.to_string()).unwrap_or_default()
    };
    // Wide rows, and lists that are longer than any guess.
    let wide = refused(LocallyLinearEmbedding::default(), &scattered(60, 20_000), 20_000_000);
    assert!(wide.contains("LocallyLinearEmbedding needs"), "{wide}");
    let all = LocallyLinearEmbedding::default().n_neighbors(None).radius(10.0);
    let long = refused(all, &scattered(600, 2), 6_000_000);
    assert!(long.contains("the sum of the local fits"), "{long}");
}

#[test]
fn a_wide_radius_is_refused_before_the_search() {
    // What the lists alone need is there, what is made of them is not.
    let ctx = Ctx::new(1, 0).with_memory_limit(20_000_000);
    let all = LocallyLinearEmbedding::default().n_neighbors(None).radius(10.0);
    let told = all.fit(&scattered(600, 2), &ctx).err().unwrap().to_string();
    assert!(told.contains("the lists of neighbours") && told.contains("`radius`"), "{told}");
    let few = LocallyLinearEmbedding::default().n_neighbors(None).radius(0.15);
    few.fit(&scattered(600, 2), &ctx).unwrap();
}

#[test]
fn much_regularisation_makes_weights_alike() {
    let (points, _) = roll(200);
    for method in METHODS {
        let ctx = Ctx::new(1, 0);
        let model = lle(method, 8).reg(1e8).fit(&points, &ctx).unwrap();
        assert!(embedding(&model).iter().all(|value| value.is_finite()), "{method:?}");
    }
}

#[test]
fn nonnegative_weights_keep_new_rows_inside() {
    let (points, _) = roll(300);
    let ctx = Ctx::new(2, 0);
    let model = lle(LocalMethod::Standard, 8).nonnegative(true).fit(&points, &ctx).unwrap();
    let found = embedding(&model);
    let placed = transform(&model, &(&points * 1.5), &ctx).unwrap();
    for (column, own) in placed.columns().into_iter().zip(found.columns()) {
        let ends = |values: ndarray::ArrayView1<'_, f64>| {
            values.iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)))
        };
        let (inner, outer) = (ends(column), ends(own));
        assert!(inner.0 >= outer.0 - 1e-12 && inner.1 <= outer.1 + 1e-12);
    }
}
