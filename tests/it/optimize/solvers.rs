//! Solvers: laws of descent, the same bits on any number of threads, simple references.

use ndarray::{Array2, Axis};

use crate::choices::{MetricName, Solver, Start, Transformation};
use crate::methods::{Mds, SammonMapping};
use crate::optimize::disparities::{Disparities, Ties};
use crate::optimize::majorization::smacof;
use crate::optimize::pairs::Rows;
use crate::optimize::ranking::Ranking;
use crate::optimize::start::random;
use crate::optimize::transformed::{KruskalStress, majorize};
use crate::optimize::{Stop, columns_of, matrix_of};
use crate::{Ctx, Data};

/// Points in `dims` dimensions without order.
fn points(rows: usize, dims: usize) -> Array2<f64> {
    crate::linalg::random::uniform(&mut Ctx::new(1, 7).stream("points"), rows, dims)
}

fn distances(points: &Array2<f64>) -> Array2<f64> {
    let n = points.nrows();
    Array2::from_shape_fn((n, n), |(i, j)| {
        let apart = &points.row(i) - &points.row(j);
        apart.dot(&apart).sqrt()
    })
}

const STOP: Stop = Stop { max_iter: 200, eps: 0.0 };

#[test]
fn majorisation_never_increases_the_stress() {
    let ctx = Ctx::new(2, 0);
    let delta = distances(&points(60, 6));
    let weights = distances(&points(60, 2)).mapv(|value| value * value);
    for weights in [None, Some(weights.view())] {
        for relaxed in [false, true] {
            let rows = Rows::Stored { delta: delta.view(), weights };
            let mut x = random(60, 2, 1.0, 0, &ctx);
            let trace = smacof(&rows, &mut x, 1.0, relaxed, STOP, &ctx).unwrap();
            assert!(trace.iterations() > 20);
            assert!(trace.history.windows(2).all(|pair| pair[1] <= pair[0]), "relaxed: {relaxed}");
        }
    }
    for &kind in Transformation::ALL {
        for ties in [Ties::Primary, Ties::Secondary] {
            let rows = Rows::Stored { delta: delta.view(), weights: None };
            let disparities = Disparities::new(Ranking::of(&rows, &ctx).unwrap(), kind, ties);
            let mut stress = KruskalStress::new(disparities, &ctx).unwrap();
            let mut x = random(60, 2, 1.0, 0, &ctx);
            let trace = majorize(&mut stress, &mut x, false, STOP, &ctx).unwrap();
            assert!(trace.iterations() > 20, "{kind:?}");
            assert!(trace.history.windows(2).all(|pair| pair[1] <= pair[0]), "{kind:?}");
        }
    }
}

#[test]
fn a_step_of_majorisation_is_the_guttman_transform() {
    let ctx = Ctx::new(1, 0);
    let delta = distances(&points(30, 4));
    let x = matrix_of(&random(30, 2, 1.0, 0, &ctx), 30);
    // B(X) X / n by its definition.
    let placed = distances(&x);
    let mut b =
        Array2::from_shape_fn((30, 30), |(i, j)| if i == j { 0.0 } else { -delta[[i, j]] / placed[[i, j]] });
    for i in 0..30 {
        b[[i, i]] = -b.row(i).sum();
    }
    let expected = b.dot(&x) / 30.0;
    let mut ours = columns_of(x.view());
    let rows = Rows::Stored { delta: delta.view(), weights: None };
    smacof(&rows, &mut ours, 1.0, false, Stop { max_iter: 1, eps: 0.0 }, &ctx).unwrap();
    let gap = (&matrix_of(&ours, 30) - &expected).iter().fold(0.0_f64, |most, gap| most.max(gap.abs()));
    assert!(gap < 1e-12, "{gap}");
}

#[test]
fn weights_of_one_and_no_weights_find_the_same_map() {
    let ctx = Ctx::new(2, 0);
    let delta = distances(&points(40, 5));
    let fit = |weights: Option<Array2<f64>>, solver| {
        let method = Mds::default().metric(MetricName::Precomputed).weights(weights).solver(solver);
        let method = method.init(Start::Classical).eps(1e-14).max_iter(2000_usize);
        method
            .fit(Data::Distances(delta.view()), &ctx)
            .unwrap()
            .attribute("raw")
            .unwrap()
            .unwrap()
            .as_vector()
            .unwrap()[0]
    };
    for solver in [Solver::Lbfgs, Solver::Smacof] {
        let (plain, weighted) = (fit(None, solver), fit(Some(Array2::ones((40, 40))), solver));
        assert!((plain - weighted).abs() < 1e-8 * plain, "{solver:?}: {plain} and {weighted}");
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let points = points(700, 5);
    let fit = |threads: usize, number: usize| {
        let ctx = Ctx::new(threads, 0);
        let mds = Mds::default().max_iter(30_usize).init(Start::Random);
        match number {
            0 => mds.fit_transform(&points, &ctx),
            1 => mds.transformation(Transformation::Ordinal).fit_transform(&points, &ctx),
            2 => mds.transformation(Transformation::Spline).fit_transform(&points, &ctx),
            3 => mds.solver(Solver::Smacof).relax(true).fit_transform(&points, &ctx),
            4 => mds.solver(Solver::Newton).fit_transform(&points, &ctx),
            5 => mds.weights(distances(&points)).fit_transform(&points, &ctx),
            6 => SammonMapping::default().max_iter(30_usize).fit_transform(&points, &ctx),
            _ => {
                SammonMapping::default().n_neighbors(10_usize).max_iter(30_usize).fit_transform(&points, &ctx)
            }
        }
        .unwrap()
    };
    for number in 0..8 {
        let one = fit(1, number);
        assert!([2, 4].into_iter().all(|threads| fit(threads, number) == one), "case {number}");
    }
}

#[test]
fn many_points_are_sampled_and_come_near_the_stored_solution() {
    use crate::neighbors::{Dissimilarities, Metric};
    use crate::optimize::solve::{Loss, minimize};
    use crate::optimize::term::Stress;
    let (ctx, points) = (Ctx::new(2, 0), points(1500, 6));
    let Dissimilarities::Points(index) =
        Dissimilarities::new(Data::from(&points), Some(Metric::Euclidean), &ctx).unwrap()
    else {
        unreachable!("points stay points")
    };
    let delta = index.matrix(None, &ctx).unwrap();
    let loss = Loss { term: Stress, scale: 0.5 * delta.iter().map(|value| value * value).sum::<f64>() };
    let stop = Stop { max_iter: 100, eps: 1e-6 };
    let start = columns_of(points.select(Axis(1), &[0, 1]).view());
    let solve = |rows: Rows<'_>| {
        let mut x = start.clone();
        let trace = minimize(&rows, loss, Solver::Auto, 1.0, &mut x, stop, &ctx).unwrap();
        trace.history.last().unwrap().sqrt()
    };
    let stored = solve(Rows::Stored { delta: delta.view(), weights: None });
    let sampled = solve(Rows::Points(&index));
    assert!(sampled < 1.02 * stored, "{sampled} against {stored}");
}

#[test]
fn a_collapsed_or_wrong_start_is_refused() {
    let points = points(10, 3);
    for (given, word) in [
        (Array2::zeros((10, 2)), "same place"),
        (Array2::from_elem((10, 2), f64::NAN), "row 0, column 0"),
        (Array2::zeros((9, 2)), "(10, 2)"),
        (Array2::zeros((10, 3)), "(10, 2)"),
    ] {
        let refused =
            Mds::default().init(Start::Given(given)).fit(&points, &Ctx::new(1, 0)).unwrap_err().to_string();
        assert!(refused.contains("init") && refused.contains(word), "{refused}");
    }
}
