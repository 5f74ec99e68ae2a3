//! The kernel map against formulas (42)–(51) written out plainly, and the laws
//! every model keeps: rows, bits, threads, scale, bad input, saving.

use crate::error::WarningKind;
use crate::extend::{FittedKernelMap, KernelMap};
use crate::input::{Csr, PointsRef};
use crate::method::{Attribute, Fitted};
use crate::{AnyModel, Ctx, Data, Error, datasets, methods, transform};
use ndarray::{Array2, ArrayView1, Axis, array, s};

/// Numbers that look random, the same in every run.
fn noise(rows: usize, cols: usize, seed: u64) -> Array2<f64> {
    let mut state = seed.wrapping_mul(2) + 1;
    Array2::from_shape_simple_fn((rows, cols), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    })
}

/// A Swiss roll and its flat coordinates.
fn roll(rows: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let made = datasets::swiss_roll(rows, 0.0, &Ctx::new(1, seed)).unwrap();
    (made.points, made.coordinates)
}

fn fit(
    points: &Array2<f64>,
    coordinates: &Array2<f64>,
    gamma: f64,
    threads: usize,
) -> Fitted<FittedKernelMap> {
    let map = KernelMap::default().gamma(gamma);
    map.fit(points, coordinates.view(), &Ctx::new(threads, 0)).expect("clean data can be fitted")
}

fn place(model: &dyn AnyModel, points: &Array2<f64>) -> Array2<f64> {
    transform(model, points, &Ctx::new(2, 0)).expect("rows near the data can be placed")
}

fn distance(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// (43), (44), (47), (51) as written.
fn weights_by_the_book(rows: &Array2<f64>, points: &Array2<f64>, gamma: f64) -> Array2<f64> {
    let n = points.nrows();
    let nearest = |j: usize| {
        let others = (0..n).filter(|&i| i != j).map(|i| distance(points.row(i), points.row(j)));
        others.fold(f64::INFINITY, f64::min)
    };
    let sigma: Vec<f64> = (0..n).map(|j| gamma * nearest(j)).collect();
    let mut weights = Array2::from_shape_fn((rows.nrows(), n), |(i, j)| {
        (-distance(rows.row(i), points.row(j)).powi(2) / (2.0 * sigma[j] * sigma[j])).exp()
    });
    for mut row in weights.outer_iter_mut() {
        let sum = row.sum();
        row /= sum;
    }
    weights
}

/// (48): the solution of K''A = Y by elimination with pivots.
fn eliminate(mut matrix: Array2<f64>, mut sides: Array2<f64>) -> Array2<f64> {
    let n = matrix.nrows();
    for at in 0..n {
        let pivot = (at..n).max_by(|&i, &j| matrix[[i, at]].abs().total_cmp(&matrix[[j, at]].abs())).unwrap();
        for column in 0..n {
            matrix.swap([at, column], [pivot, column]);
        }
        for column in 0..sides.ncols() {
            sides.swap([at, column], [pivot, column]);
        }
        for row in (0..n).filter(|&row| row != at) {
            let factor = matrix[[row, at]] / matrix[[at, at]];
            for column in at..n {
                matrix[[row, column]] -= factor * matrix[[at, column]];
            }
            for column in 0..sides.ncols() {
                sides[[row, column]] -= factor * sides[[at, column]];
            }
        }
    }
    Array2::from_shape_fn(sides.dim(), |(row, column)| sides[[row, column]] / matrix[[row, row]])
}

fn largest(matrix: &Array2<f64>) -> f64 {
    matrix.iter().fold(0.0, |most, value| value.abs().max(most))
}

#[test]
fn agrees_with_the_formulas_written_out() {
    for (n, features, columns) in [(2, 1, 1), (3, 2, 2), (12, 1, 2), (60, 3, 2), (90, 20, 3)] {
        let (points, coordinates) = (noise(n, features, 1), noise(n, columns, 2) * 7.0 + 100.0);
        let new = noise(25, features, 3) * 1.2;
        for gamma in [0.3, 0.8, 1.1] {
            let book = eliminate(weights_by_the_book(&points, &points, gamma), coordinates.clone());
            let expected = weights_by_the_book(&new, &points, gamma).dot(&book);
            let placed = place(&fit(&points, &coordinates, gamma, 2), &new);
            let gap = largest(&(&placed - &expected));
            // Where every kernel underflows the plain formulas have no answer.
            assert!(gap < 1e-8 || expected.iter().any(|value| value.is_nan()), "n {n}, gamma {gamma}: {gap}");
        }
    }
}

#[test]
fn training_rows_get_their_coordinates_to_the_bit_and_by_the_formula() {
    let (points, flat) = roll(2000, 5);
    let wide = (noise(400, 50, 6), noise(400, 2, 7));
    for (points, coordinates) in [(points, flat), wide] {
        let model = fit(&points, &coordinates, 0.8, 2);
        assert_eq!(place(&model, &points), coordinates);
        assert_eq!(model.embedding(), Some(coordinates.view()));
        let solved = model.model().formula(PointsRef::Dense(points.view()), &Ctx::new(2, 0)).unwrap();
        let gap = largest(&(&solved - &coordinates)) / largest(&coordinates);
        assert!(gap < 1e-10, "{gap}");
    }
}

#[test]
fn held_out_rows_of_a_roll_are_placed_better_than_by_the_nearest_row() {
    let (points, flat) = roll(2600, 8);
    let (train, test) = (points.slice(s![..2000, ..]).to_owned(), points.slice(s![2000.., ..]).to_owned());
    let known = flat.slice(s![..2000, ..]).to_owned();
    let placed = place(&fit(&train, &known, 0.8, 2), &test);
    let (mut ours, mut lookup) = (0.0, 0.0);
    for row in 0..test.nrows() {
        let truth = flat.row(2000 + row);
        let nearest = (0..2000)
            .min_by(|&i, &j| {
                distance(test.row(row), train.row(i)).total_cmp(&distance(test.row(row), train.row(j)))
            })
            .unwrap();
        ours += distance(placed.row(row), truth).powi(2);
        lookup += distance(known.row(nearest), truth).powi(2);
    }
    assert!(ours < 0.7 * lookup, "kernel map {ours}, nearest row {lookup}");
}

#[test]
fn rows_one_by_one_and_any_number_of_threads_give_the_same_bits() {
    let (points, flat) = roll(1800, 9);
    let wide = (noise(300, 30, 10), noise(300, 3, 11));
    for (points, coordinates) in [(points, flat), wide] {
        let mut new = points.slice(s![..40, ..]).to_owned() + 0.05;
        new.row_mut(3).mapv_inplace(|value| value * 1e4);
        let model = fit(&points, &coordinates, 0.8, 1);
        let together = place(&model, &new);
        for row in 0..new.nrows() {
            let alone = transform(&model, new.slice(s![row..=row, ..]), &Ctx::new(1, 0)).unwrap();
            assert_eq!(alone.row(0), together.row(row), "row {row}");
        }
        for threads in [2, 4] {
            assert_eq!(place(&fit(&points, &coordinates, 0.8, threads), &new), together);
        }
    }
}

#[test]
fn far_rows_have_a_limit_and_beyond_numbers_a_name() {
    let (points, flat) = roll(1200, 12);
    let model = fit(&points, &flat, 0.8, 2);
    let placed = place(&model, &array![[1e7, 0.0, 1e7], [1e9, 0.0, 1e9], [1e100, 0.0, 1e100]]);
    assert!(placed.iter().all(|value| value.is_finite()));
    assert_eq!(placed.row(1), placed.row(2));
    let bound = 10.0 * largest(&flat);
    assert!(placed.iter().all(|value| value.abs() < bound), "{placed}");
    let lost = transform(&model, &array![[0.0, 0.0, 0.0], [1e200, 0.0, 0.0]], &Ctx::new(1, 0));
    match lost {
        Err(Error::Input(message)) => assert!(message.contains("row 1"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_in_one_place_share_their_mean() {
    let points = array![[0.0, 0.0], [1.0, 0.0], [0.0, -0.0], [3.0, 1.0], [1.0, 0.0]];
    let coordinates = array![[0.0], [2.0], [4.0], [5.0], [2.0]];
    let model = fit(&points, &coordinates, 0.8, 1);
    let expected = array![[2.0], [2.0], [2.0], [5.0], [2.0]];
    assert_eq!(model.embedding(), Some(expected.view()));
    assert_eq!(place(&model, &points), expected);
    // Elsewhere it is the map of the distinct places.
    let distinct = fit(&points.select(Axis(0), &[0, 1, 3]), &array![[2.0], [2.0], [5.0]], 0.8, 1);
    let new = noise(9, 2, 13);
    assert_eq!(place(&model, &new), place(&distinct, &new));
}

#[test]
fn few_rows_and_constant_rows_are_defined() {
    let new = noise(6, 2, 14) * 5.0;
    for n in [1, 2, 3] {
        let coordinates = noise(n, 2, 15);
        let model = fit(&noise(n, 2, 16), &coordinates, 0.8, 1);
        assert!(place(&model, &new).iter().all(|value| value.is_finite()));
    }
    let constant = fit(&Array2::ones((5, 2)), &array![[1.0], [2.0], [3.0], [4.0], [5.0]], 0.8, 1);
    assert!(place(&constant, &new).iter().all(|&value| value == 3.0));
    let level = fit(&noise(40, 2, 17), &Array2::from_elem((40, 1), 0.1), 0.8, 1);
    assert!(place(&level, &new).iter().all(|value| (value - 0.1).abs() < 1e-15));
}

#[test]
fn scale_is_a_matter_of_units() {
    let (points, coordinates) = (noise(120, 4, 18), noise(120, 2, 19));
    let new = noise(30, 4, 20);
    let plain = place(&fit(&points, &coordinates, 0.8, 1), &new);
    for exponent in [-520, -300, -3, 7, 300, 500] {
        let factor = 2.0_f64.powi(exponent);
        let model = fit(&(&points * factor), &coordinates, 0.8, 1);
        assert_eq!(place(&model, &(&new * factor)), plain, "points at 2^{exponent}");
        let model = fit(&points, &(&coordinates * factor), 0.8, 1);
        assert_eq!(place(&model, &new) / factor, plain, "coordinates at 2^{exponent}");
    }
}

#[test]
fn sparse_points_are_points() {
    let mut points = noise(150, 6, 21);
    points.mapv_inplace(|value| if value < 0.1 { 0.0 } else { value });
    let coordinates = noise(150, 2, 22);
    let sparse = compressed(&points);
    let ctx = Ctx::new(2, 0);
    let of_sparse = KernelMap::default();
    let of_sparse =
        of_sparse.fit(Data::Points(PointsRef::Sparse(&sparse)), coordinates.view(), &ctx).unwrap();
    let dense = fit(&points, &coordinates, 0.8, 2);
    let new = noise(20, 6, 23);
    let (one, other) = (
        transform(&of_sparse, Data::Points(PointsRef::Sparse(&compressed(&new))), &ctx),
        place(&dense, &new),
    );
    assert!(largest(&(one.unwrap() - other)) < 1e-9);
}

fn compressed(points: &Array2<f64>) -> Csr {
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
fn too_wide_kernels_are_told() {
    let (points, coordinates) = (noise(80, 1, 24), noise(80, 2, 25));
    let ctx = Ctx::new(1, 0);
    let model = KernelMap::default().gamma(1e6).fit(&points, coordinates.view(), &ctx).unwrap();
    assert!(ctx.take_warnings().iter().any(|warning| warning.kind == WarningKind::Convergence));
    assert!(place(&model, &noise(9, 1, 26)).iter().all(|value| value.is_finite()));
    assert_eq!(place(&model, &points), coordinates);
    let ctx = Ctx::new(1, 0);
    KernelMap::default().fit(&points, coordinates.view(), &ctx).unwrap();
    assert!(ctx.take_warnings().is_empty());
}

#[test]
fn what_cannot_be_fitted_is_refused_by_name() {
    let (points, coordinates) = (noise(30, 3, 27), noise(30, 2, 28));
    let refused = |gamma: f64, points: &Array2<f64>, coordinates: &Array2<f64>| {
        let map = KernelMap::default().gamma(gamma);
        map.fit(points, coordinates.view(), &Ctx::new(1, 0)).expect_err("must be refused")
    };
    // The last two make widths that are no normal numbers.
    for (gamma, factor) in
        [(0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (1e-308, 1e-9), (1e308, 1e9)]
    {
        let error = refused(gamma, &(&points * factor), &coordinates);
        assert!(matches!(error, Error::Param { name: "gamma", .. }), "{gamma}: {error:?}");
    }
    let message = |error: Error| match error {
        Error::Input(message) => message,
        other => panic!("{other:?}"),
    };
    let mut holed = coordinates.clone();
    holed[[17, 1]] = f64::NAN;
    assert!(message(refused(0.8, &points, &holed)).contains("row 17"));
    let short = coordinates.slice(s![..29, ..]).to_owned();
    assert!(message(refused(0.8, &points, &short)).contains("30 rows, but the embedding has 29"));
    assert!(message(refused(0.8, &points, &Array2::zeros((30, 0)))).contains("no columns"));
    let square = noise(30, 30, 29);
    let by_table = KernelMap::default();
    let by_table = by_table.fit(Data::Distances(square.view()), coordinates.view(), &Ctx::new(1, 0));
    assert!(message(by_table.unwrap_err()).contains("made of points"));
    let narrow = transform(&fit(&points, &coordinates, 0.8, 1), &noise(2, 2, 30), &Ctx::new(1, 0));
    assert!(message(narrow.unwrap_err()).contains("2 features"));
}

#[test]
fn memory_and_cancellation_are_heeded() {
    let (points, coordinates) = (noise(300, 3, 31), noise(300, 2, 32));
    let map = KernelMap::default();
    let ctx = Ctx::new(1, 0).with_memory_limit(100_000);
    let refused = map.fit(&points, coordinates.view(), &ctx);
    assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
    let ctx = Ctx::new(2, 0);
    ctx.watch().cancel();
    assert_eq!(map.fit(&points, coordinates.view(), &ctx).err(), Some(Error::Cancelled));
}

#[test]
fn a_saved_map_is_the_map() {
    let (points, flat) = roll(1500, 33);
    let wide = (noise(200, 20, 34), noise(200, 2, 35));
    for (points, coordinates) in [(points, flat), wide] {
        let model = fit(&points, &coordinates, 0.8, 2);
        let state = model.save().unwrap();
        let back = methods::restore("KernelMap", &state).unwrap();
        let new = points.slice(s![..30, ..]).to_owned() + 0.01;
        assert_eq!(place(&*back, &new), place(&model, &new));
        assert_eq!(back.attributes(), model.attributes());
        let cut = methods::restore("KernelMap", &state[..state.len() / 2]);
        assert!(matches!(cut.err(), Some(Error::Restore(_))));
    }
}

#[test]
fn what_is_known_of_a_fit() {
    let points = array![[0.0], [1.0], [3.0], [3.0]];
    let model = fit(&points, &array![[0.0], [1.0], [2.0], [2.0]], 0.5, 1);
    let named = model.attributes().unwrap();
    assert_eq!(named[0], ("sigma", Attribute::Vector(array![0.5, 0.5, 1.0, 1.0])));
    assert!(matches!(named[2], ("residual", Attribute::Float(residual)) if residual < 1e-12));
}
