//! Laplacian eigenmaps and diffusion maps: closed forms of small graphs, the
//! definitions they are named for, new rows, and what is refused.

use std::f64::consts::{PI, TAU};

use super::{attribute, matrix, number};
use crate::error::WarningKind;
use crate::graph::Isolated;
use crate::graph::Policy;
use crate::input::Csr;
use crate::input::Data;
use crate::kernel::affinity_rule::{AffinityName, Weights};
use crate::method::Attribute;
use crate::methods::spectral_embedding::FittedSpectralEmbedding;
use crate::methods::{DiffusionMaps, Isomap, SpectralEmbedding};
use crate::neighbors::MetricName;
use crate::spectrum::SparseSolver;
use crate::{AnyModel, Ctx, Error, Fitted, transform};
use ndarray::{Array2, ArrayView2, s};

/// A roll of one and a half turns, evenly covered.
fn roll(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 3), |(i, axis)| {
        let angle = 4.0 + 8.0 * (i as f64 * 0.618_033_988_749_895).fract();
        let height = 10.0 * (i as f64 * 0.754_877_666_246_693).fract();
        [angle * angle.cos(), height, angle * angle.sin()][axis]
    })
}

/// Rows with pieces: two clouds far apart.
fn clouds(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 2), |(i, axis)| {
        let shift = if i % 2 == 0 { 0.0 } else { 50.0 };
        let step = [0.618_033_988_749_895, 0.754_877_666_246_693][axis];
        shift + (i as f64 * step).fract()
    })
}

fn embedding(model: &impl AnyModel) -> Array2<f64> {
    model.embedding().expect("kept").to_owned()
}

/// Largest difference, relative to the largest entry, up to the sign of columns.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let size = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut worst = 0.0_f64;
    for (a, b) in a.columns().into_iter().zip(b.columns()) {
        let sign = a.dot(&b).signum();
        worst = a.iter().zip(b).fold(worst, |worst, (a, b)| worst.max((a - sign * b).abs()));
    }
    worst / size
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
}

/// The affinities of edges of weight 1, full and sparse.
fn unit_graph(n: usize, edges: &[(usize, usize)]) -> (Array2<f64>, Csr) {
    let mut full = Array2::zeros((n, n));
    for &(i, j) in edges {
        full[[i, j]] = 1.0;
        full[[j, i]] = 1.0;
    }
    let sparse = sparse(&full);
    (full, sparse)
}

fn sparse(full: &Array2<f64>) -> Csr {
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

fn precomputed(components: usize) -> SpectralEmbedding {
    SpectralEmbedding::default().affinity(AffinityName::Precomputed).n_components(components)
}

/// Eigenvalues by every solver, from the full and from the sparse matrix.
fn eigenvalues(n: usize, edges: &[(usize, usize)], method: &SpectralEmbedding) -> Vec<Vec<f64>> {
    let (full, csr) = unit_graph(n, edges);
    let ctx = Ctx::new(2, 0);
    let mut found = Vec::new();
    for solver in [None, Some(SparseSolver::Dense), Some(SparseSolver::Direct), Some(SparseSolver::Iterative)]
    {
        let mut method = method.clone();
        method.eigen_solver = solver;
        found.push(method.fit(Data::Kernel(full.view()), &ctx).unwrap().eigenvalues().unwrap().to_vec());
        found.push(method.fit(Data::Graph(&csr), &ctx).unwrap().eigenvalues().unwrap().to_vec());
    }
    found
}

fn cycle(n: usize) -> Vec<(usize, usize)> {
    (0..n).map(|i| (i, (i + 1) % n)).collect()
}

fn complete(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect()
}

#[test]
fn a_cycle_has_cosines() {
    for n in [12, 201] {
        let expected: Vec<f64> = [1, 1, 2, 2].map(|k| 1.0 - (TAU * k as f64 / n as f64).cos()).to_vec();
        for found in eigenvalues(n, &cycle(n), &precomputed(4)) {
            close(&found, &expected);
        }
        let twice: Vec<f64> = expected.iter().map(|value| 2.0 * value).collect();
        for found in eigenvalues(n, &cycle(n), &precomputed(4).norm_laplacian(false)) {
            close(&found, &twice);
        }
    }
}

#[test]
fn a_path_has_cosines_of_half_the_angle() {
    let n = 30;
    let edges: Vec<(usize, usize)> = (1..n).map(|i| (i - 1, i)).collect();
    let expected: Vec<f64> = (1..4).map(|k| 1.0 - (PI * k as f64 / (n - 1) as f64).cos()).collect();
    for found in eigenvalues(n, &edges, &precomputed(3)) {
        close(&found, &expected);
    }
    // Not normalised, the ends count as a half each: cos(πk(i + ½)/n).
    let angle = PI / n as f64;
    let expected: Vec<f64> = (1..4).map(|k| 2.0 - 2.0 * (angle * k as f64).cos()).collect();
    let plain = precomputed(3).norm_laplacian(false);
    for found in eigenvalues(n, &edges, &plain) {
        close(&found, &expected);
    }
    let (full, csr) = unit_graph(n, &edges);
    let waves = Array2::from_shape_fn((n, 3), |(i, c)| {
        (angle * (c + 1) as f64 * (i as f64 + 0.5)).cos() * (2.0 / n as f64).sqrt()
    });
    for data in [Data::Kernel(full.view()), Data::Graph(&csr)] {
        assert!(apart(&waves, &embedding(&plain.fit(data, &Ctx::new(1, 0)).unwrap())) < 1e-9);
    }
}

#[test]
fn a_complete_graph_has_one_eigenvalue() {
    let n = 9;
    for found in eigenvalues(n, &complete(n), &precomputed(5)) {
        close(&found, &[n as f64 / (n - 1) as f64; 5]);
    }
    for found in eigenvalues(n, &complete(n), &precomputed(5).norm_laplacian(false)) {
        close(&found, &[n as f64; 5]);
    }
}

/// λ, and the largest residual of W y = (1 − λ) D y over its columns.
fn residual(weights: ArrayView2<'_, f64>, model: &Fitted<FittedSpectralEmbedding>) -> f64 {
    let y = embedding(model);
    let mut weights = weights.to_owned();
    weights.diag_mut().fill(0.0);
    let product = weights.dot(&y);
    let mut worst = 0.0_f64;
    for i in 0..y.nrows() {
        let degree: f64 = weights.row(i).sum();
        for c in 0..y.ncols() {
            worst = worst
                .max((product[[i, c]] - (1.0 - model.eigenvalues().unwrap()[c]) * degree * y[[i, c]]).abs());
        }
    }
    worst
}

fn full_affinity(model: &Fitted<FittedSpectralEmbedding>) -> Array2<f64> {
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

#[test]
fn coordinates_are_generalised_eigenvectors() {
    let (points, ctx) = (roll(300), Ctx::new(2, 0));
    let base = SpectralEmbedding::default().n_components(3_usize);
    for method in [
        base.clone(),
        base.clone().n_neighbors(12_usize).weights(Weights::Heat),
        base.clone().radius(4.0),
        base.clone().affinity(AffinityName::Rbf),
    ] {
        let model = method.fit(&points, &ctx).unwrap();
        let weights = full_affinity(&model);
        assert!(residual(weights.view(), &model) < 1e-8, "{method:?}");
        let y = embedding(&model);
        let mut without_own = weights.clone();
        without_own.diag_mut().fill(0.0);
        let degrees = without_own.sum_axis(ndarray::Axis(1));
        for c in 0..3 {
            // v = D^½ y is of unit length and orthogonal to the trivial vector.
            let length: f64 = y.column(c).iter().zip(&degrees).map(|(y, d)| d * y * y).sum();
            let trivial: f64 = y.column(c).iter().zip(&degrees).map(|(y, d)| d * y).sum();
            assert!((length - 1.0).abs() < 1e-8 && trivial.abs() < 1e-7, "{length} {trivial}");
        }
    }
}

/// D − W.
fn plain_laplacian(model: &Fitted<FittedSpectralEmbedding>) -> Array2<f64> {
    let mut weights = full_affinity(model);
    weights.diag_mut().fill(0.0);
    Array2::from_diag(&weights.sum_axis(ndarray::Axis(1))) - weights
}

#[test]
fn plain_coordinates_are_eigenvectors_and_place_new_rows() {
    let (points, ctx) = (roll(300), Ctx::new(2, 0));
    let new = roll(330).slice(s![300.., ..]).to_owned();
    let base = SpectralEmbedding::default().n_components(3_usize).norm_laplacian(false);
    for method in [
        base.clone().n_neighbors(12_usize),
        base.clone().n_neighbors(12_usize).weights(Weights::Heat),
        base.clone().radius(4.0),
        base.clone().affinity(AffinityName::Rbf).gamma(0.05),
    ] {
        let model = method.fit(&points, &ctx).unwrap();
        let (y, laplacian) = (embedding(&model), plain_laplacian(&model));
        let size = laplacian.diag().iter().fold(0.0_f64, |most, degree| most.max(*degree));
        let rest = laplacian.dot(&y) - &y * &ndarray::arr1(&model.eigenvalues().unwrap());
        assert!(rest.iter().all(|rest| rest.abs() < 1e-9 * size), "{method:?}");
        assert!((y.t().dot(&y) - Array2::<f64>::eye(3)).iter().all(|gap| gap.abs() < 1e-10));
        assert!(y.sum_axis(ndarray::Axis(0)).iter().all(|sum| sum.abs() < 1e-7));
        let dense = embedding(&method.clone().eigen_solver(SparseSolver::Dense).fit(&points, &ctx).unwrap());
        assert!(apart(&dense, &y) < 1e-6, "{method:?}: {}", apart(&dense, &y));
        assert_eq!(transform(&model, &points, &ctx).unwrap(), y, "{method:?}");
        let together = transform(&model, &new, &ctx).unwrap();
        for row in 0..new.nrows() {
            let alone = transform(&model, &new.slice(s![row..=row, ..]).to_owned(), &Ctx::new(1, 0)).unwrap();
            assert_eq!(alone.row(0), together.row(row), "{method:?}");
        }
    }
    // With all pairs, a row beside a training row has that one's equation.
    let kernel = base.affinity(AffinityName::Rbf).gamma(0.05).fit(&points, &ctx).unwrap();
    let beside = transform(&kernel, &(&points + 1e-9), &ctx).unwrap();
    assert!(apart(&embedding(&kernel), &beside) < 1e-6);
}

#[test]
fn plain_affinities_of_any_size_and_in_pieces() {
    let (points, ctx) = (roll(120), Ctx::new(2, 0));
    let all = Array2::from_shape_fn((120, 120), |(i, j)| {
        let gap = &points.row(i) - &points.row(j);
        (-0.05 * gap.dot(&gap)).exp()
    });
    let training = all.slice(s![..100, ..100]).to_owned();
    let new = all.slice(s![100.., ..100]).to_owned();
    let plain = precomputed(2).norm_laplacian(false);
    let one = plain.fit(Data::Kernel(training.view()), &ctx).unwrap();
    // The formula, written out.
    let sums = new.sum_axis(ndarray::Axis(1));
    let product = new.dot(&embedding(&one));
    let expected =
        Array2::from_shape_fn((20, 2), |(i, c)| product[[i, c]] / (sums[i] - one.eigenvalues().unwrap()[c]));
    for factor in [1.0, 2.0_f64.powi(500), 2.0_f64.powi(-500)] {
        let (training, new) = (&training * factor, &new * factor);
        for data in [Data::Kernel(training.view()), Data::Graph(&sparse(&training))] {
            let model = plain.fit(data, &ctx).unwrap();
            assert!(apart(&embedding(&one), &embedding(&model)) < 1e-8);
            for (value, expected) in model.eigenvalues().unwrap().iter().zip(one.eigenvalues().unwrap()) {
                assert!((value / factor / expected - 1.0).abs() < 1e-8, "{value} for {expected}");
            }
            assert_eq!(transform(&model, data, &ctx).unwrap(), embedding(&model));
            for rows in [Data::Kernel(new.view()), Data::Graph(&sparse(&new))] {
                assert!(apart(&expected, &transform(&model, rows, &ctx).unwrap()) < 1e-7);
            }
            // Less affinity in all than an eigenvalue: nothing to divide by.
            let faint = &new * (0.5 * one.eigenvalues().unwrap()[0] / sums[0]);
            let refused = transform(&model, Data::Kernel(faint.view()), &ctx).unwrap_err().to_string();
            assert!(refused.contains("row 0") && refused.contains("norm_laplacian"), "{refused}");
        }
    }
    // Cycles of 5 and 9 and a row alone: constants on each piece, then the slowest wave.
    let mut edges = cycle(5);
    edges.extend(cycle(9).into_iter().map(|(i, j)| (i + 5, j + 5)));
    let (full, csr) = unit_graph(15, &edges);
    for data in [Data::Kernel(full.view()), Data::Graph(&csr)] {
        let ctx = Ctx::new(1, 0);
        let model = precomputed(4).norm_laplacian(false).fit(data, &ctx).unwrap();
        assert_eq!(ctx.take_warnings()[0].kind, WarningKind::Disconnected);
        let lowest = 2.0 - 2.0 * (TAU / 9.0).cos();
        close(&model.eigenvalues().unwrap(), &[0.0, 0.0, lowest, lowest]);
        let y = embedding(&model);
        let piece = |i: usize| [5, 14, 15].iter().position(|&end| i < end).unwrap();
        for (i, j) in (0..15).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let same = (0..2).all(|c| (y[[i, c]] - y[[j, c]]).abs() < 1e-12);
            assert_eq!(same, piece(i) == piece(j), "rows {i} and {j}");
        }
        assert_eq!(transform(&model, data.select(&[0, 3, 9]).unwrap().view(), &ctx).unwrap().nrows(), 3);
        let largest = precomputed(2).norm_laplacian(false).disconnected(Policy::Largest);
        close(&largest.fit(data, &ctx).unwrap().eigenvalues().unwrap(), &[lowest, lowest]);
    }
}

/// What was said about columns that are arbitrary.
fn told_of_freedom(ctx: &Ctx) -> Vec<String> {
    let told = ctx.take_warnings().into_iter().filter(|told| told.message.contains("arbitrary"));
    told.inspect(|told| assert_eq!(told.kind, WarningKind::RankDeficient)).map(|told| told.message).collect()
}

#[test]
fn columns_that_are_one_choice_of_many_are_told() {
    let solvers =
        [None, Some(SparseSolver::Dense), Some(SparseSolver::Direct), Some(SparseSolver::Iterative)];
    let graph = |n: usize, edges: &[(usize, usize)], components: usize, told: bool| {
        let (full, csr) = unit_graph(n, edges);
        for (solver, norm) in solvers.into_iter().flat_map(|solver| [(solver, true), (solver, false)]) {
            for data in [Data::Kernel(full.view()), Data::Graph(&csr)] {
                let ctx = Ctx::new(1, 0);
                let mut method = precomputed(components).norm_laplacian(norm);
                method.eigen_solver = solver;
                method.fit(data, &ctx).unwrap();
                let found = told_of_freedom(&ctx);
                assert_eq!(found.len(), usize::from(told), "{n} {components} {method:?} {found:?}");
            }
        }
    };
    for n in [9, 180] {
        graph(n, &complete(n), 2, true);
    }
    // Pairs inside the columns are as good as any; half a pair is one of many.
    for (components, told) in [(1, true), (2, false), (3, true), (4, false)] {
        graph(201, &cycle(201), components, told);
    }
    let at = |x: usize, y: usize| 14 * x + y;
    let steps =
        (0..14).flat_map(|x| (0..13).flat_map(move |y| [(at(x, y), at(x, y + 1)), (at(y, x), at(y + 1, x))]));
    let square: Vec<(usize, usize)> = steps.collect();
    graph(196, &square, 1, true);
    graph(196, &square, 2, false);
    // All there are: nothing is left to choose from.
    graph(9, &complete(9), 8, false);

    let points = roll(200);
    let rbf = |gamma: f64| SpectralEmbedding::default().affinity(AffinityName::Rbf).gamma(gamma);
    let wide = |epsilon: f64| DiffusionMaps::default().n_neighbors(None).epsilon(epsilon);
    for (gamma, told) in [(1e-20, true), (1e-9, false), (0.1, false)] {
        let ctx = Ctx::new(1, 0);
        rbf(gamma).fit(&points, &ctx).unwrap();
        let found = told_of_freedom(&ctx);
        assert_eq!(found.len(), usize::from(told), "{gamma}: {found:?}");
        assert!(found.iter().all(|told| told.contains("raise `gamma`")), "{found:?}");
        wide(1.0 / gamma).fit(&points, &ctx).unwrap();
        let found = told_of_freedom(&ctx);
        assert_eq!(found.len(), usize::from(told), "{gamma}: {found:?}");
        assert!(found.iter().all(|told| told.contains("lower `epsilon`")), "{found:?}");
    }
    let ctx = Ctx::new(1, 0);
    rbf(1.0).fit(&Array2::from_elem((150, 3), 4.0), &ctx).unwrap();
    assert_eq!(told_of_freedom(&ctx).len(), 1);
    let points = roll(700);
    for solver in solvers {
        let mut near = SpectralEmbedding::default().n_neighbors(10_usize);
        near.eigen_solver = solver;
        near.fit(&points, &ctx).unwrap();
        near.clone().weights(Weights::Heat).norm_laplacian(false).fit(&points, &ctx).unwrap();
        let walk = DiffusionMaps { eigen_solver: solver, ..DiffusionMaps::default() };
        walk.fit(&points, &ctx).unwrap();
        assert_eq!(told_of_freedom(&ctx), Vec::<String>::new(), "{solver:?}");
    }
}

/// Each row's nearest others with their distances, itself left out or with its zero.
fn nearest(points: &Array2<f64>, k: usize, own: bool) -> Csr {
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
fn a_sparse_graph_in_pieces_is_walked_piece_by_piece() {
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
fn neighbours_count_the_row_itself_and_each_direction_half() {
    // Four points on a line: nearest others are 0↔1, 2→1, 3→2.
    let points = ndarray::arr2(&[[0.0], [1.0], [3.0], [7.0]]);
    let method = SpectralEmbedding::default().n_neighbors(2_usize).n_components(1_usize);
    let model = method.fit(&points, &Ctx::new(1, 0)).unwrap();
    let expected = ndarray::arr2(&[
        [0.0, 1.0, 0.0, 0.0],
        [1.0, 0.0, 0.5, 0.0],
        [0.0, 0.5, 0.0, 0.5],
        [0.0, 0.0, 0.5, 0.0],
    ]);
    assert_eq!(full_affinity(&model), expected);
    assert_eq!(attribute(&model, "n_neighbors"), Attribute::Int(2));
    let automatic = SpectralEmbedding::default().fit(&roll(250), &Ctx::new(1, 0)).unwrap();
    assert_eq!(attribute(&automatic, "n_neighbors"), Attribute::Int(25));
}

#[test]
fn every_solver_gives_the_same_map() {
    let (points, ctx) = (roll(400), Ctx::new(2, 0));
    for affinity in [AffinityName::NearestNeighbors, AffinityName::Rbf] {
        let method = SpectralEmbedding::default().affinity(affinity).gamma(0.2).n_neighbors(9_usize);
        let dense = embedding(&method.clone().eigen_solver(SparseSolver::Dense).fit(&points, &ctx).unwrap());
        let krylov = embedding(&method.eigen_solver(SparseSolver::Iterative).fit(&points, &ctx).unwrap());
        assert!(apart(&dense, &krylov) < 1e-6, "{affinity:?}: {}", apart(&dense, &krylov));
    }
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
fn pieces_are_joined_left_out_or_refused() {
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
fn weights_that_vanish_leave_pieces() {
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
fn pieces_of_given_affinities_are_told_apart_exactly() {
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

#[test]
fn new_rows_follow_the_eigenvalue_equation_and_stand_alone() {
    let (points, ctx) = (roll(300), Ctx::new(2, 0));
    let new = roll(330).slice(s![300.., ..]).to_owned();
    let base = SpectralEmbedding::default();
    for method in [
        base.clone().n_neighbors(10_usize),
        base.clone().n_neighbors(10_usize).weights(Weights::Heat),
        base.clone().radius(4.0),
        base.clone().affinity(AffinityName::Rbf),
    ] {
        let model = method.fit(&points, &ctx).unwrap();
        assert_eq!(transform(&model, &points, &ctx).unwrap(), embedding(&model), "{method:?}");
        let together = transform(&model, &new, &ctx).unwrap();
        for row in 0..new.nrows() {
            let alone = transform(&model, &new.slice(s![row..=row, ..]).to_owned(), &Ctx::new(1, 0)).unwrap();
            assert_eq!(alone.row(0), together.row(row), "{method:?}");
        }
        // Near a training row, near its coordinates.
        let size = embedding(&model).iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let beside = transform(&model, &(&points + 1e-9), &ctx).unwrap();
        let gap = (&beside - &embedding(&model)).iter().fold(0.0_f64, |most, gap| most.max(gap.abs()));
        assert!(gap < 0.2 * size, "{method:?}: {gap} of {size}");
    }
}

#[test]
fn rows_without_neighbours_follow_the_policy() {
    let (points, ctx) = (roll(300), Ctx::new(1, 0));
    let far = ndarray::arr2(&[[100.0, 0.0, 0.0]]);
    let method = SpectralEmbedding::default().radius(4.0);
    let refused = transform(&method.fit(&points, &ctx).unwrap(), &far, &ctx).unwrap_err().to_string();
    assert!(refused.contains("row 0"), "{refused}");
    let method = method.isolated(Isolated::Nearest);
    assert!(transform(&method.fit(&points, &ctx).unwrap(), &far, &ctx).is_ok());
    let kernel = SpectralEmbedding::default().affinity(AffinityName::Rbf).fit(&points, &ctx).unwrap();
    let refused = transform(&kernel, &far, &ctx).unwrap_err().to_string();
    assert!(refused.contains("row 0") && refused.contains("too far"), "{refused}");
}

#[test]
fn an_outlier_does_not_spoil_heat() {
    let mut points = roll(200);
    points.row_mut(7).fill(5e3);
    let ctx = Ctx::new(1, 0);
    let model = SpectralEmbedding::default().weights(Weights::Heat).fit(&points, &ctx).unwrap();
    let y = embedding(&model);
    assert!(y.row(7).iter().all(|value| value.abs() < 10.0), "{}", y.row(7));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let (points, ctx) = (roll(60), Ctx::new(1, 0));
    let refusal = |method: SpectralEmbedding| method.fit(&points, &ctx).err().map(|error| error.to_string());
    let base = SpectralEmbedding::default();
    for (method, named) in [
        (base.clone().n_components(60_usize), "n_components"),
        (base.clone().n_components(0_usize), "n_components"),
        (base.clone().n_neighbors(61_usize), "n_samples = 60"),
        (base.clone().n_neighbors(1_usize), "counts the row itself"),
        (base.clone().n_neighbors(5_usize).radius(1.0), "radius"),
        (base.clone().affinity(AffinityName::Rbf).gamma(0.0), "gamma"),
        (base.clone().affinity(AffinityName::Rbf).gamma(1e6), "try gamma"),
        (base.clone().weights(Weights::Heat).bandwidth(1e-6), "try bandwidth"),
        (base.clone().weights(Weights::Heat).bandwidth(-1.0), "bandwidth"),
        (base.clone().bandwidth(1.0), "bandwidth"),
        (base.clone().eigen_tol(-1.0), "eigen_tol"),
        (base.clone().affinity(AffinityName::Precomputed), "affinity"),
    ] {
        let refused = refusal(method.clone()).unwrap_or_else(|| panic!("{method:?} was accepted"));
        assert!(refused.contains(named), "{refused}");
    }
    let kernel = base.clone().affinity(AffinityName::Rbf);
    let refused = kernel.fit(&(&points * 1e200), &ctx).unwrap_err().to_string();
    assert!(refused.contains("divide the data") && refused.contains("e200"), "{refused}");
    let mut lopsided = Array2::from_elem((5, 5), 1.0);
    lopsided[[1, 3]] = 2.0;
    ctx.take_warnings();
    precomputed(2).fit(Data::Kernel(lopsided.view()), &ctx).unwrap();
    let told = ctx.take_warnings();
    let adjusted = told.iter().find(|told| told.kind == WarningKind::InputAdjusted).unwrap();
    assert!(adjusted.message.contains("row 1 to row 3 it is 2, back it is 1"), "{adjusted:?}");
    lopsided[[1, 3]] = -1.0;
    let refused = precomputed(2).fit(Data::Kernel(lopsided.view()), &ctx).unwrap_err().to_string();
    assert!(refused.contains("rows 1 and 3"), "{refused}");
}

#[test]
fn few_and_equal_rows_have_a_map() {
    let ctx = Ctx::new(1, 0);
    let three = ndarray::arr2(&[[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]);
    let same = Array2::from_elem((12, 3), 4.0);
    for points in [three, same] {
        for affinity in [AffinityName::NearestNeighbors, AffinityName::Rbf] {
            for weights in [Weights::Connectivity, Weights::Heat] {
                let method = SpectralEmbedding::default().affinity(affinity).weights(weights);
                let model = method.fit(&points, &ctx).unwrap();
                assert!(embedding(&model).iter().all(|value| value.is_finite()));
                assert_eq!(transform(&model, &points, &ctx).unwrap().nrows(), points.nrows());
            }
        }
    }
}

fn distances(points: &Array2<f64>) -> Array2<f64> {
    let n = points.nrows();
    Array2::from_shape_fn((n, n), |(i, j)| {
        let gap = &points.row(i) - &points.row(j);
        gap.dot(&gap).sqrt()
    })
}

/// P and π by their definition.
fn walk(points: &Array2<f64>, epsilon: f64, alpha: f64) -> (Array2<f64>, Vec<f64>) {
    let mut kernel = distances(points).mapv(|length| (-length * length / epsilon).exp());
    let density: Vec<f64> = kernel.rows().into_iter().map(|row| row.sum().powf(alpha)).collect();
    for ((i, j), value) in kernel.indexed_iter_mut() {
        *value /= density[i] * density[j];
    }
    let degrees: Vec<f64> = kernel.rows().into_iter().map(|row| row.sum()).collect();
    let total: f64 = degrees.iter().sum();
    for (mut row, degree) in kernel.rows_mut().into_iter().zip(&degrees) {
        row.mapv_inplace(|value| value / degree);
    }
    (kernel, degrees.iter().map(|degree| degree / total).collect())
}

#[test]
fn eigenpairs_are_those_of_the_walk_and_the_constant_is_left_out() {
    let (points, ctx) = (roll(150), Ctx::new(2, 0));
    for alpha in [0.0, 0.5, 1.0] {
        let method = DiffusionMaps::default().n_neighbors(None).alpha(alpha).n_components(4_usize);
        let model = method.fit(&points, &ctx).unwrap();
        let (walk, stationary) = walk(&points, number(&model, "epsilon"), alpha);
        // λ = 1 belongs to the constant, and π is stationary.
        assert!(walk.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
        let Attribute::Vector(found) = attribute(&model, "stationary_distribution") else { panic!() };
        close(&found.to_vec(), &stationary);
        close(&ndarray::arr1(&stationary).dot(&walk).to_vec(), &stationary);
        let psi = matrix(&model, "eigenvectors");
        let product = walk.dot(&psi);
        for (c, &value) in model.eigenvalues().unwrap().iter().enumerate() {
            assert!(value < 1.0 - 1e-9, "the constant was not left out: {value}");
            let mean: f64 = psi.column(c).iter().zip(&stationary).map(|(psi, pi)| pi * psi).sum();
            let square: f64 = psi.column(c).iter().zip(&stationary).map(|(psi, pi)| pi * psi * psi).sum();
            assert!(mean.abs() < 1e-8 && (square - 1.0).abs() < 1e-8, "{mean} {square}");
            let gap = &product.column(c) - &(&psi.column(c) * value);
            assert!(gap.iter().all(|gap| gap.abs() < 1e-8));
        }
        assert!(
            apart(&psi.to_owned(), &(&embedding(&model) / &ndarray::arr1(&model.eigenvalues().unwrap())))
                < 1e-12
        );
    }
}

#[test]
fn straight_distances_are_diffusion_distances() {
    let (points, ctx) = (roll(40), Ctx::new(2, 0));
    for (alpha, t) in [(1.0, 1), (0.5, 2), (0.0, 3)] {
        let method = DiffusionMaps::default().n_neighbors(None).n_components(39_usize).alpha(alpha);
        let model = method.t(f64::from(t)).epsilon(20.0).fit(&points, &ctx).unwrap();
        let (once, stationary) = walk(&points, 20.0, alpha);
        let walk = (1..t).fold(once.clone(), |power, _| power.dot(&once));
        let y = embedding(&model);
        for (i, j) in (0..40).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let gap = &y.row(i) - &y.row(j);
            let step = &walk.row(i) - &walk.row(j);
            let expected: f64 = step.iter().zip(&stationary).map(|(step, pi)| step * step / pi).sum();
            assert!((gap.dot(&gap) - expected).abs() < 1e-8 * expected.max(1.0), "{alpha} {t} ({i}, {j})");
        }
    }
}

/// How far from one radius rows lie in the plane of the first two coordinates.
fn roundness(y: &Array2<f64>) -> f64 {
    let radii: Vec<f64> = y.rows().into_iter().map(|row| row[0].hypot(row[1])).collect();
    let mean = radii.iter().sum::<f64>() / radii.len() as f64;
    radii.iter().fold(0.0_f64, |most, radius| most.max((radius - mean).abs())) / mean
}

#[test]
fn alpha_takes_the_density_out() {
    // A circle whose rows crowd on one side, seven to one.
    let points = Array2::from_shape_fn((600, 2), |(i, axis)| {
        let u = i as f64 / 600.0;
        let angle = TAU * (u + 0.12 * (TAU * u).sin());
        if axis == 0 { angle.cos() } else { angle.sin() }
    });
    let ctx = Ctx::new(2, 0);
    for neighbors in [None, Some(64)] {
        let fit = |alpha: f64| {
            let method = DiffusionMaps::default().n_neighbors(neighbors).alpha(alpha);
            DiffusionMaps::fit(&method, &points, &ctx).unwrap()
        };
        let psi = |alpha: f64| matrix(&fit(alpha), "eigenvectors");
        let (with, without) = (roundness(&psi(0.0)), roundness(&psi(1.0)));
        assert!(without < 0.1 && without < 0.3 * with, "{neighbors:?}: {without} against {with}");
        let Attribute::Float(dimension) = attribute(&fit(1.0), "intrinsic_dimension") else { panic!() };
        assert!((0.7..1.4).contains(&dimension), "{dimension}");
    }
}

#[test]
fn full_and_sparse_kernels_give_the_same_walk() {
    let (points, ctx) = (roll(90), Ctx::new(2, 0));
    let full = distances(&points);
    let method = DiffusionMaps::default().n_neighbors(None).n_components(3_usize).epsilon(8.0);
    let by_points = method.fit(&points, &ctx).unwrap();
    let method = method.metric(MetricName::Precomputed);
    let by_matrix = method.fit(Data::Distances(full.view()), &ctx).unwrap();
    assert!(apart(&embedding(&by_points), &embedding(&by_matrix)) < 1e-8);
    for solver in [SparseSolver::Dense, SparseSolver::Direct, SparseSolver::Iterative] {
        let by_graph = method.clone().eigen_solver(solver).fit(Data::Graph(&sparse(&full)), &ctx).unwrap();
        close(&by_graph.eigenvalues().unwrap(), &by_points.eigenvalues().unwrap());
        assert!(apart(&embedding(&by_points), &embedding(&by_graph)) < 1e-7);
    }
}

/// How much of some functions of the rows is not linear in the columns found, at most.
fn unexplained(found: ArrayView2<'_, f64>, wanted: &Array2<f64>) -> f64 {
    let mut basis: Vec<ndarray::Array1<f64>> = vec![ndarray::Array1::ones(found.nrows())];
    basis.extend(found.columns().into_iter().map(|column| column.to_owned()));
    for last in 0..basis.len() {
        let (before, rest) = basis.split_at_mut(last);
        for other in before.iter() {
            let along = other.dot(&rest[0]);
            rest[0].scaled_add(-along, other);
        }
        rest[0] /= rest[0].dot(&rest[0]).sqrt();
    }
    let part = |column: ndarray::ArrayView1<'_, f64>| {
        let centered = &column - column.mean().unwrap();
        let mut rest = centered.clone();
        for other in &basis {
            let along = other.dot(&rest);
            rest.scaled_add(-along, other);
        }
        (rest.dot(&rest) / centered.dot(&centered)).sqrt()
    };
    wanted.columns().into_iter().map(part).fold(0.0, f64::max)
}

#[test]
fn the_automatic_width_fits_the_lists() {
    // A circle with seven times as many rows on one side as on the other: with the density
    // taken out its functions are the coordinates themselves.
    let circle = Array2::from_shape_fn((1500, 2), |(i, axis)| {
        let part = (i as f64 + 0.5) / 1500.0;
        // The inverse of the distribution whose density is (4 + 3 cos a) / 8π, by Newton.
        let angle = (0..50).fold(TAU * part, |angle, _| {
            let over = (4.0 * angle + 3.0 * angle.sin()) / (4.0 * TAU) - part;
            angle - over * 4.0 * TAU / (4.0 + 3.0 * angle.cos())
        });
        if axis == 0 { angle.cos() } else { angle.sin() }
    });
    for (neighbors, most) in [(Some(64), 0.05), (None, 0.1)] {
        let method = DiffusionMaps { n_neighbors: neighbors, ..DiffusionMaps::default() };
        let model = method.fit(&circle, &Ctx::new(2, 0)).unwrap();
        let rest = unexplained(matrix(&model, "eigenvectors").view(), &circle);
        assert!(rest < most, "{neighbors:?}: {rest}");
    }
    // A round cloud with a thin rim: rows there have their neighbours far away, and are
    // not cut off.
    let cloud = Array2::from_shape_fn((1000, 2), |(i, axis)| {
        let radius = (-2.0 * (1.0 - (i as f64 + 0.5) / 1100.0).ln()).sqrt();
        let angle = TAU * (i as f64 * 0.618_033_988_749_895).fract();
        radius * if axis == 0 { angle.cos() } else { angle.sin() }
    });
    for points in [roll(1000), cloud] {
        let fit = |neighbors: Option<usize>, scale: f64, threads: usize| {
            let method = DiffusionMaps { n_neighbors: neighbors, ..DiffusionMaps::default() };
            method.fit(&(&points * scale), &Ctx::new(threads, 0)).unwrap()
        };
        let full = fit(None, 1.0, 2);
        for neighbors in [10, 64] {
            let model = fit(Some(neighbors), 1.0, 2);
            let dimension = |model| match attribute(model, "intrinsic_dimension") {
                Attribute::Float(value) => value,
                other => panic!("{other:?}"),
            };
            assert!((dimension(&model) - dimension(&full)).abs() < 1e-6);
            assert!(model.eigenvalues().unwrap()[0] < 1.0 - 1e-6, "{:?}", model.eigenvalues().unwrap());
            assert_eq!(number(&fit(Some(neighbors), 1.0, 1), "epsilon"), number(&model, "epsilon"));
            assert_eq!(
                number(&fit(Some(neighbors), 1024.0, 2), "epsilon"),
                1024.0 * 1024.0 * number(&model, "epsilon")
            );
        }
    }
}

#[test]
fn diffusion_places_new_rows() {
    let (points, ctx) = (roll(300), Ctx::new(2, 0));
    let new = roll(320).slice(s![300.., ..]).to_owned();
    for neighbors in [None, Some(20)] {
        for t in [0.0, 0.5, 1.0, 2.0] {
            let mut method = DiffusionMaps::default().t(t);
            method.n_neighbors = neighbors;
            let model = method.fit(&points, &ctx).unwrap();
            assert_eq!(transform(&model, &points, &ctx).unwrap(), embedding(&model));
            let together = transform(&model, &new, &ctx).unwrap();
            for row in 0..new.nrows() {
                let alone =
                    transform(&model, &new.slice(s![row..=row, ..]).to_owned(), &Ctx::new(1, 0)).unwrap();
                assert_eq!(alone.row(0), together.row(row), "{method:?}");
            }
            // Beside a training row, the formula is the eigenvalue equation.
            let size = embedding(&model).iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let beside = transform(&model, &(&points + 1e-9), &ctx).unwrap();
            let gap = (&beside - &embedding(&model)).iter().fold(0.0_f64, |most, gap| most.max(gap.abs()));
            let allowed = if neighbors.is_none() { 1e-5 } else { 0.2 };
            assert!(gap < allowed * size, "{method:?}: {gap} of {size}");
        }
    }
}

#[test]
fn diffusion_refuses_by_name_and_stands_pieces() {
    let (points, ctx) = (roll(60), Ctx::new(1, 0));
    let base = DiffusionMaps::default();
    for (method, named) in [
        (base.clone().n_components(60_usize), "n_components"),
        (base.clone().alpha(-0.1), "alpha"),
        (base.clone().t(-1.0), "`t`"),
        (base.clone().epsilon(0.0), "epsilon"),
        (base.clone().epsilon(1e-9), "try epsilon"),
        (base.clone().n_neighbors(9_usize).epsilon(1e-9), "try epsilon"),
        (base.clone().n_neighbors(0_usize), "n_neighbors"),
        (base.clone().tol(-1.0), "tol"),
        (base.clone().metric(MetricName::Precomputed), "metric"),
    ] {
        let refused = method.fit(&points, &ctx).err().map(|error| error.to_string());
        let refused = refused.unwrap_or_else(|| panic!("{method:?} was accepted"));
        assert!(refused.contains(named), "{refused}");
    }
    let two = clouds(80);
    for neighbors in [None, Some(6)] {
        let ctx = Ctx::new(1, 0);
        let mut method = DiffusionMaps::default().epsilon(0.1);
        method.n_neighbors = neighbors;
        let model = method.fit(&two, &ctx).unwrap();
        assert_eq!(ctx.take_warnings()[0].kind, WarningKind::Disconnected);
        let first = embedding(&model).column(0).to_owned();
        assert!((0..80).all(|i| (first[i] > 0.0) == ((i % 2 == 0) == (first[0] > 0.0))));
        let largest = method.disconnected(Policy::Largest).fit(&two, &ctx).unwrap();
        assert_eq!(embedding(&largest).rows().into_iter().filter(|row| row[0].is_nan()).count(), 40);
        let near = two.slice(s![0..1, ..]).to_owned();
        assert_eq!(transform(&largest, &near, &ctx).unwrap().row(0), embedding(&largest).row(0));
    }
    for points in [ndarray::arr2(&[[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), Array2::from_elem((12, 3), 4.0)] {
        let model = DiffusionMaps::default().fit(&points, &ctx).unwrap();
        assert_eq!(transform(&model, &points, &ctx).unwrap(), embedding(&model));
    }
}

#[test]
fn the_same_bits_for_every_number_of_threads() {
    let points = roll(600);
    let heat = SpectralEmbedding::default().n_neighbors(10_usize).weights(Weights::Heat);
    let kernel = SpectralEmbedding::default().affinity(AffinityName::Rbf);
    let (sparse, full) = (DiffusionMaps::default(), DiffusionMaps::default().n_neighbors(None));
    let fit = |threads: usize| {
        let ctx = Ctx::new(threads, 0);
        [
            embedding(&heat.fit(&points, &ctx).unwrap()),
            embedding(&kernel.fit(&points, &ctx).unwrap()),
            embedding(&sparse.fit(&points, &ctx).unwrap()),
            embedding(&full.fit(&points, &ctx).unwrap()),
        ]
    };
    assert_eq!(fit(1), fit(3));
}

#[test]
fn coordinates_are_those_of_scikit_learn() {
    // Rows 0, 50 and 199 of roll(200) from scikit-learn 1.9, signs included.
    let base = SpectralEmbedding::default();
    let cases = [
        (
            base.clone().n_neighbors(9_usize),
            [
                [-0.031237566505644947, 0.030382425175933474],
                [0.036458045921062394, 0.028939968772399308],
                [0.0387195830617825, 0.03793011521515723],
            ],
        ),
        (
            base.clone(),
            [
                [-0.015511626904717501, 0.002326536219714883],
                [-0.014379754959515352, 0.015130450550883719],
                [-0.01651311496482608, 0.0023855989313940028],
            ],
        ),
        (
            base.clone().affinity(AffinityName::Rbf),
            [
                [-0.039848280967472754, 0.03786223493604234],
                [0.11366838829829573, 0.08016716008615492],
                [0.12527890134992514, 0.12357705217959761],
            ],
        ),
        (
            base.clone().affinity(AffinityName::Rbf).gamma(0.1),
            [
                [-0.022957176660580503, -0.0014396264703143919],
                [-0.0198703073361901, 0.04951404674584481],
                [-0.026710453782027386, 0.044005006677446896],
            ],
        ),
    ];
    for (method, expected) in cases {
        let y = embedding(&method.fit(&roll(200), &Ctx::new(2, 0)).unwrap());
        for (row, expected) in [0, 50, 199].into_iter().zip(expected) {
            close(&y.row(row).to_vec(), &expected);
        }
    }
}
