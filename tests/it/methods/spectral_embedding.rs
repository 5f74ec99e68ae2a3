//! Laplacian eigenmaps: closed forms of small graphs, the definitions they are named for,
//! new rows, and what is refused.

use super::family::*;
use std::f64::consts::{PI, TAU};

use super::attribute;
use crate::error::WarningKind;
use crate::graph::Isolated;
use crate::graph::Policy;
use crate::input::Data;
use crate::kernel::affinity_rule::{AffinityName, Weights};
use crate::method::Attribute;
use crate::methods::spectral_embedding::FittedSpectralEmbedding;
use crate::methods::{DiffusionMaps, SpectralEmbedding};
use crate::spectrum::SparseSolver;
use crate::{Ctx, Fitted, transform};
use ndarray::{Array2, ArrayView2, s};

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
fn plain_affinities_of_any_size_and_several_components() {
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
fn warned_of_freedom(ctx: &Ctx) -> Vec<String> {
    let told = ctx.take_warnings().into_iter().filter(|told| told.message.contains("arbitrary"));
    told.inspect(|told| assert_eq!(told.kind, WarningKind::RankDeficient)).map(|told| told.message).collect()
}

#[test]
fn columns_that_are_arbitrary_are_warned_of() {
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
                let found = warned_of_freedom(&ctx);
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
        let found = warned_of_freedom(&ctx);
        assert_eq!(found.len(), usize::from(told), "{gamma}: {found:?}");
        assert!(found.iter().all(|told| told.contains("raise `gamma`")), "{found:?}");
        wide(1.0 / gamma).fit(&points, &ctx).unwrap();
        let found = warned_of_freedom(&ctx);
        assert_eq!(found.len(), usize::from(told), "{gamma}: {found:?}");
        assert!(found.iter().all(|told| told.contains("lower `epsilon`")), "{found:?}");
    }
    let ctx = Ctx::new(1, 0);
    rbf(1.0).fit(&Array2::from_elem((150, 3), 4.0), &ctx).unwrap();
    assert_eq!(warned_of_freedom(&ctx).len(), 1);
    let points = roll(700);
    for solver in solvers {
        let mut near = SpectralEmbedding::default().n_neighbors(10_usize);
        near.eigen_solver = solver;
        near.fit(&points, &ctx).unwrap();
        near.clone().weights(Weights::Heat).norm_laplacian(false).fit(&points, &ctx).unwrap();
        let walk = DiffusionMaps { eigen_solver: solver, ..DiffusionMaps::default() };
        walk.fit(&points, &ctx).unwrap();
        assert_eq!(warned_of_freedom(&ctx), Vec::<String>::new(), "{solver:?}");
    }
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
