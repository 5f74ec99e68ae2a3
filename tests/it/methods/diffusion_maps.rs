//! Diffusion maps: the walk and the distances they are named for, the automatic width, new
//! rows, and what is refused.

use super::family::*;
use std::f64::consts::TAU;

use super::{attribute, matrix, number};
use crate::error::WarningKind;
use crate::graph::Policy;
use crate::input::Data;
use crate::method::Attribute;
use crate::methods::DiffusionMaps;
use crate::neighbors::MetricName;
use crate::spectrum::SparseSolver;
use crate::{Ctx, transform};
use ndarray::{Array2, ArrayView2, s};

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
fn diffusion_refuses_by_name_and_takes_several_components() {
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
