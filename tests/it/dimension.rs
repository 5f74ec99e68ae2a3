//! Estimates of dimension: their definitions written out, and manifolds of known dimension.

use ndarray::{Array2, s};

use crate::choices::MetricName;
use crate::dimension::{AxesRule, Estimate, Estimator, Settings, estimate};
use crate::{Ctx, Data, Error, WarningKind, datasets, stages};

fn settings(estimators: &[Estimator], n_neighbors: usize) -> Settings {
    Settings { n_neighbors, estimators: estimators.to_vec(), n_bootstraps: 0, ..Settings::default() }
}

fn all(points: &Array2<f64>, n_neighbors: usize) -> Vec<Estimate> {
    estimate(points, &settings(Estimator::ALL, n_neighbors), &Ctx::new(2, 0)).unwrap()
}

fn only(points: &Array2<f64>, estimator: Estimator, n_neighbors: usize) -> Estimate {
    estimate(points, &settings(&[estimator], n_neighbors), &Ctx::new(2, 0)).unwrap().remove(0)
}

/// Points and the distances to their k nearest.
fn sample(k: usize) -> (Array2<f64>, Array2<f64>) {
    let ctx = Ctx::new(1, 3);
    let points = datasets::cube(300, 3, Some(5), 0.01, &ctx).unwrap().points;
    let distances = stages::kneighbors(&points, k, MetricName::Euclidean, &ctx).unwrap().1;
    (points, distances)
}

#[test]
fn maximum_likelihood_is_the_mean_of_inverses() {
    let (points, t) = sample(9);
    let found = only(&points, Estimator::MaximumLikelihood, 9);
    let inverse = |i: usize| (0..8).map(|j| (t[[i, 8]] / t[[i, j]]).ln()).sum::<f64>() / 8.0;
    let mean = (0..300).map(inverse).sum::<f64>() / 300.0;
    assert!((found.value().unwrap() - 1.0 / mean).abs() < 1e-10);
    let local = found.local.unwrap();
    assert!((0..300).all(|i| (local[i] * inverse(i) - 1.0).abs() < 1e-10));
}

#[test]
fn moments_are_the_mean_ratio_in_a_ball() {
    let (points, t) = sample(9);
    let found = only(&points, Estimator::Moments, 9);
    let ratio = |i: usize| (0..8).map(|j| t[[i, j]] / t[[i, 8]]).sum::<f64>() / 8.0;
    let mean = (0..300).map(ratio).sum::<f64>() / 300.0;
    assert!((found.value().unwrap() - mean / (1.0 - mean)).abs() < 1e-10);
    let local = found.local.unwrap();
    assert!((0..300).all(|i| (local[i] - ratio(i) / (1.0 - ratio(i))).abs() < 1e-9 * local[i]));
}

#[test]
fn two_nearest_neighbours_are_a_line_or_a_mean() {
    let (points, t) = sample(2);
    let mut logs: Vec<f64> = (0..300).map(|i| (t[[i, 1]] / t[[i, 0]]).ln()).collect();
    let likelihood = only(&points, Estimator::TwoNnLikelihood, 2).value().unwrap();
    assert!((likelihood - 300.0 / logs.iter().sum::<f64>()).abs() < 1e-10);
    logs.sort_by(f64::total_cmp);
    let kept = 270;
    let y = |i: usize| -(1.0 - (i + 1) as f64 / 300.0).ln();
    let products: f64 = (0..kept).map(|i| logs[i] * y(i)).sum();
    let squares: f64 = (0..kept).map(|i| logs[i] * logs[i]).sum();
    let line = only(&points, Estimator::TwoNn, 2).value().unwrap();
    assert!((line - products / squares).abs() < 1e-10);
}

#[test]
fn gride_has_a_scale_for_every_power_of_two_and_the_first_is_two_nn() {
    let (points, t) = sample(20);
    let found = only(&points, Estimator::Gride, 20);
    let ranks: Vec<[usize; 2]> = found.scales.iter().map(|scale| scale.ranks).collect();
    assert_eq!(ranks, [[1, 2], [2, 4], [4, 8], [8, 16]]);
    let two = only(&points, Estimator::TwoNnLikelihood, 20).value().unwrap();
    assert!((found.scales[0].value - two).abs() < 1e-10);
    assert_eq!(found.scales[3].value, found.value().unwrap());
    for scale in &found.scales {
        let [a, b] = scale.ranks;
        let mean = (0..300).map(|i| t[[i, b - 1]]).sum::<f64>() / 300.0;
        assert!((scale.distance - mean).abs() < 1e-12);
        // The likelihood as it is printed is largest there.
        let likelihood = |d: f64| -> f64 {
            let term = |i: usize| {
                let mu = t[[i, b - 1]] / t[[i, a - 1]];
                d.ln() + (b - a - 1) as f64 * (mu.powf(d) - 1.0).ln() - (d * (b - 1) as f64 + 1.0) * mu.ln()
            };
            (0..300).map(term).sum()
        };
        let best = likelihood(scale.value);
        assert!(best > likelihood(1.002 * scale.value) && best > likelihood(0.998 * scale.value));
    }
}

#[test]
fn the_correlation_integral_counts_all_pairs() {
    let (points, t) = sample(10);
    let decile = |rank: usize| {
        let mut column = t.column(rank - 1).to_vec();
        column.sort_by(f64::total_cmp);
        column[29]
    };
    let (near, far) = (decile(5), decile(10));
    let mut pairs = [0.0, 0.0];
    for i in 0..300 {
        for j in 0..i {
            let gap = &points.row(i) - &points.row(j);
            let distance = gap.dot(&gap).sqrt();
            pairs[0] += f64::from(u8::from(distance <= near));
            pairs[1] += f64::from(u8::from(distance <= far));
        }
    }
    let slope = (pairs[1] / pairs[0]).ln() / (far / near).ln();
    let found = only(&points, Estimator::Correlation, 10);
    assert!((found.value().unwrap() - slope).abs() < 1e-9, "{:?} {slope}", found.global);
    assert!(found.local.is_none());
    // From the distances themselves it is the same.
    let ctx = Ctx::new(1, 0);
    let matrix = Array2::from_shape_fn((300, 300), |(i, j)| {
        let gap = &points.row(i) - &points.row(j);
        gap.dot(&gap).sqrt()
    });
    let given = Settings { metric: MetricName::Precomputed, ..settings(&[Estimator::Correlation], 10) };
    let again = estimate(Data::Distances(matrix.view()), &given, &ctx).unwrap();
    assert!((again[0].value().unwrap() - slope).abs() < 1e-9);
}

#[test]
fn local_axes_are_those_of_the_covariance() {
    let (points, _) = sample(12);
    let ctx = Ctx::new(1, 0);
    let near = stages::kneighbors(&points, 12, MetricName::Euclidean, &ctx).unwrap().0;
    for &rule in AxesRule::ALL {
        let one = Settings { rule, ..settings(&[Estimator::LocalPca], 12) };
        let found = estimate(&points, &one, &ctx).unwrap().remove(0);
        let local = found.local.clone().unwrap();
        let mean = local.iter().sum::<f64>() / 300.0;
        assert!((found.value().unwrap() - mean).abs() < 1e-10);
        for i in (0..300).step_by(37) {
            let mut members = vec![i];
            members.extend(near.row(i).iter().copied());
            let rows = points.select(ndarray::Axis(0), &members);
            let centered = &rows - &rows.mean_axis(ndarray::Axis(0)).unwrap();
            let covariance = centered.t().dot(&centered);
            let (values, _) = stages::top_eigenpairs(&covariance, 5, &ctx).unwrap();
            let total: f64 = values.iter().sum();
            let wanted = match rule {
                AxesRule::FukunagaOlsen => values.iter().filter(|&&v| v > 0.05 * values[0]).count() as f64,
                AxesRule::Kaiser => values.iter().filter(|&&v| v > total / 5.0).count() as f64,
                AxesRule::ParticipationRatio => total * total / values.iter().map(|v| v * v).sum::<f64>(),
                AxesRule::Ratio => {
                    let sums: Vec<f64> = (1..=5).map(|d| values[..d].iter().sum::<f64>() / total).collect();
                    1.0 + sums.iter().filter(|&&share| share < 0.95).count() as f64
                }
                AxesRule::MaxGap => {
                    let gaps: Vec<f64> = values.windows(2).map(|pair| pair[0] / pair[1]).collect();
                    1.0 + (0..4).max_by(|&a, &b| gaps[a].total_cmp(&gaps[b])).unwrap() as f64
                }
                AxesRule::BrokenStick => {
                    let piece = |d: usize| (d..=5).map(|j| 1.0 / j as f64).sum::<f64>() / 5.0;
                    let above = (1..=5).take_while(|&d| values[d - 1] / total > piece(d)).count();
                    above.max(1) as f64
                }
            };
            assert!((local[i] - wanted).abs() < 1e-8, "{rule:?} {i}: {} {wanted}", local[i]);
        }
    }
}

#[test]
fn duplicates_count_once_with_one_warning() {
    let ctx = Ctx::new(2, 0);
    let points = datasets::swiss_roll(200, 0.0, &ctx).unwrap().points;
    let single = all(&points, 10);
    // Row i stands three times, and some of them far from each other.
    let repeated = Array2::from_shape_fn((600, 3), |(i, j)| points[[i % 200, j]]);
    let found = estimate(&repeated, &settings(Estimator::ALL, 10), &ctx).unwrap();
    let warnings = ctx.take_warnings();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].kind, WarningKind::InputAdjusted);
    assert!(warnings[0].message.contains("400 of 600 rows"), "{}", warnings[0].message);
    for (one, other) in single.iter().zip(&found) {
        assert_eq!(one.value().unwrap(), other.value().unwrap(), "{:?}", one.estimator);
        if let (Some(one), Some(other)) = (&one.local, &other.local) {
            assert!((0..600).all(|i| other[i] == one[i % 200]));
        }
    }
    // Directions are equal where rows are multiples of each other.
    let doubled = Array2::from_shape_fn((400, 3), |(i, j)| points[[i % 200, j]] * (1 + i / 200) as f64);
    let cosine = Settings { metric: MetricName::Cosine, ..settings(&[Estimator::TwoNn], 10) };
    assert!(estimate(&doubled, &cosine, &ctx).unwrap()[0].value().unwrap() < 3.0);
}

#[test]
fn what_has_no_dimension_is_refused_with_the_reason() {
    let ctx = Ctx::new(1, 0);
    let refused = |points: &Array2<f64>, k: usize| {
        estimate(points, &settings(Estimator::ALL, k), &ctx).map(|_| ()).unwrap_err()
    };
    let constant = Array2::from_elem((30, 3), 2.5);
    assert!(matches!(refused(&constant, 5), Error::Input(why) if why.contains("all 30 rows are equal")));
    let roll = datasets::swiss_roll(30, 0.0, &ctx).unwrap().points;
    assert!(matches!(refused(&roll, 30), Error::Param { name: "n_neighbors", .. }));
    assert!(matches!(refused(&roll, 1), Error::Param { name: "n_neighbors", .. }));
    assert!(matches!(refused(&roll.slice(s![..2, ..]).to_owned(), 2), Error::Param { .. }));
    let few = Array2::from_shape_fn((30, 3), |(i, j)| roll[[i % 4, j]]);
    assert!(matches!(refused(&few, 5), Error::Input(why) if why.contains("only 4 of the 30 rows")));
    let mut missing = roll.clone();
    missing[[7, 1]] = f64::NAN;
    assert!(matches!(refused(&missing, 5), Error::Input(why) if why.contains("row 7")));
    // On a circle of equal steps both neighbours are equally far: no ratio but one.
    let circle =
        Array2::from_shape_fn((4, 2), |(i, j)| [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]][i][j]);
    let two = estimate(&circle, &settings(&[Estimator::TwoNn], 2), &ctx).unwrap();
    assert!(two[0].value().unwrap_err().to_string().contains("as on a grid"));
    // Three rows are the fewest.
    let three = roll.slice(s![..3, ..]).to_owned();
    assert!(
        estimate(&three, &settings(&[Estimator::MaximumLikelihood], 2), &ctx).unwrap()[0].value().is_ok()
    );
}

#[test]
fn units_do_not_matter_nor_threads() {
    let points = datasets::torus(400, 0.0, &Ctx::new(1, 0)).unwrap().points;
    let own = Settings { n_bootstraps: 20, ..settings(Estimator::ALL, 12) };
    let one = estimate(&points, &own, &Ctx::new(1, 5)).unwrap();
    for (factor, threads) in [(1.0, 3), (2.0_f64.powi(-900), 2), (2.0_f64.powi(900), 1)] {
        let scaled = points.mapv(|value| value * factor);
        let other = estimate(&scaled, &own, &Ctx::new(threads, 5)).unwrap();
        for (a, b) in one.iter().zip(&other) {
            assert_eq!(a.value().unwrap(), b.value().unwrap(), "{:?} {factor:e}", a.estimator);
            assert_eq!(a.interval, b.interval, "{:?} {factor:e}", a.estimator);
        }
    }
}

#[test]
fn it_can_be_stopped() {
    let ctx = Ctx::new(1, 0);
    let points = datasets::torus(400, 0.0, &ctx).unwrap().points;
    ctx.watch().cancel();
    assert!(matches!(estimate(&points, &settings(Estimator::ALL, 12), &ctx), Err(Error::Cancelled)));
}

/// The value that "auto" rounds: of the angles and of maximum likelihood, with 20 neighbours.
fn blended(points: &Array2<f64>) -> f64 {
    let found = estimate(
        points,
        &settings(&[Estimator::SimplexSkewness, Estimator::MaximumLikelihood], 20),
        &Ctx::new(2, 0),
    )
    .unwrap();
    crate::dimension::blend(found[0].value().unwrap(), found[1].value().unwrap())
}

/// Independent numbers of the standard normal distribution.
fn normal(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut stream = Ctx::new(1, seed).stream("normal numbers of a test");
    Array2::from_shape_simple_fn((n, d), || crate::linalg::random::normal(&mut stream))
}

#[test]
fn the_blended_value_is_within_ten_percent_up_to_ten_dimensions() {
    for d in 1..=10 {
        let seed = 40 + d as u64;
        let cube = datasets::cube(2000, d, Some(d + 10), 0.0, &Ctx::new(1, seed)).unwrap().points;
        let cloud = normal(2000, d, seed);
        let mut sphere = normal(2000, d + 1, seed + 1);
        for mut row in sphere.rows_mut() {
            let length = row.dot(&row).sqrt();
            row /= length;
        }
        for (name, points) in [("cube", &cube), ("cloud", &cloud), ("sphere", &sphere)] {
            let value = blended(points);
            assert!((value / d as f64 - 1.0).abs() < 0.1, "{name} of {d} dimensions: {value}");
        }
    }
    for d in 1..=4 {
        let torus = datasets::flat_torus(2000, d, 0.0, &Ctx::new(1, 60)).unwrap().points;
        let value = blended(&torus);
        assert!((value / d as f64 - 1.0).abs() < 0.1, "torus of {d} dimensions: {value}");
    }
}

#[test]
fn the_blend_goes_from_one_estimate_to_the_other_without_a_step() {
    use crate::dimension::blend;
    assert_eq!(blend(2.0, 2.0), 2.0);
    assert_eq!(blend(9.0, 8.0), 9.0); // an edge explains an eighth of nine dimensions
    assert_eq!(blend(9.0, 6.0), 6.0); // but not a half
    assert_eq!(blend(f64::NAN, 3.0), 3.0);
    assert_eq!(blend(3.0, f64::INFINITY), 3.0);
    let values: Vec<f64> = (0..400).map(|i| blend(10.0, 10.0 - 0.01 * f64::from(i))).collect();
    assert!(values.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.05));
}

#[test]
fn angles_are_those_between_centred_neighbours() {
    let (points, _) = sample(8);
    let ctx = Ctx::new(1, 0);
    let near = stages::kneighbors(&points, 8, MetricName::Euclidean, &ctx).unwrap().0;
    let found = only(&points, Estimator::SimplexSkewness, 8).local.unwrap();
    for i in (0..300).step_by(29) {
        let mut members = vec![i];
        members.extend(near.row(i).iter().copied());
        let rows = points.select(ndarray::Axis(0), &members);
        let centered = &rows - &rows.mean_axis(ndarray::Axis(0)).unwrap();
        let (mut areas, mut products) = (0.0, 0.0);
        for a in 0..9 {
            for b in 0..a {
                let (x, y) = (centered.row(a), centered.row(b));
                let (both, product) = (x.dot(&x) * y.dot(&y), x.dot(&y));
                areas += (both - product * product).max(0.0).sqrt();
                products += both.sqrt();
            }
        }
        // The sine of the dimension found is the sine there is.
        let d = found[i];
        let sine =
            (2.0 * libm::lgamma(d / 2.0) - libm::lgamma((d - 1.0) / 2.0) - libm::lgamma((d + 1.0) / 2.0))
                .exp();
        assert!((sine - areas / products).abs() < 1e-9, "{i}: {d}");
    }
}

#[test]
fn the_number_of_coordinates_may_be_left_to_the_data() {
    use crate::choices::Coordinates;
    use crate::methods::{ClassicalMds, Isomap, Pca};
    let ctx = Ctx::new(2, 0);
    let width = |fitted: &dyn crate::AnyModel| match fitted
        .attributes()
        .unwrap()
        .into_iter()
        .find(|a| a.0 == "n_components")
    {
        Some((_, crate::Attribute::Int(count))) => count,
        other => panic!("{other:?}"),
    };
    let isomap = Isomap::default().n_neighbors(10).n_components(Coordinates::Auto);
    let roll = datasets::swiss_roll(1500, 0.0, &ctx).unwrap().points;
    let fitted = isomap.fit(&roll, &ctx).unwrap();
    assert_eq!((width(&fitted), fitted.embedding().unwrap().ncols()), (2, 2));
    assert!(fitted.warnings().is_empty(), "{:?}", fitted.warnings());
    assert_eq!(fitted.transform(&roll, &ctx).unwrap().ncols(), 2);
    // As asked for by number, whatever the unit and the threads.
    let asked = isomap.clone().n_components(2).fit(&roll, &ctx).unwrap();
    assert_eq!(asked.embedding(), fitted.embedding());
    let small = isomap.fit(&roll.mapv(|value| value * 2.0_f64.powi(-700)), &Ctx::new(1, 0)).unwrap();
    assert_eq!(width(&small), 2);
    let helix = datasets::helix(400, 3.0, 0.0, &ctx).unwrap().points;
    assert_eq!(width(&isomap.fit(&helix, &ctx).unwrap()), 1);
    // Any other method, kernel values and a graph.
    let cube = datasets::cube(1000, 4, Some(9), 0.0, &ctx).unwrap().points;
    assert_eq!(width(&ClassicalMds::default().n_components(Coordinates::Auto).fit(&cube, &ctx).unwrap()), 4);
    let pca = Pca::default().n_components(crate::choices::Components::Auto).fit(&cube, &ctx).unwrap();
    assert_eq!(pca.transform(&cube, &ctx).unwrap().ncols(), 4);
    let flat = normal(500, 3, 5);
    let kernel = flat.dot(&flat.t());
    let kernel_mds = crate::methods::KernelMds::default()
        .kernel(crate::methods::kernel_mds::KernelName::Precomputed)
        .n_components(Coordinates::Auto);
    assert_eq!(width(&kernel_mds.fit(Data::Kernel(kernel.view()), &ctx).unwrap()), 3);
    // What says nothing is refused with the reason.
    let few = isomap.fit(&roll.slice(s![..5, ..]).to_owned(), &ctx).unwrap_err();
    assert!(
        matches!(&few, Error::Param { name: "n_components", why } if why.contains("5 rows are too few")),
        "{few}"
    );
    let equal = isomap.fit(&Array2::<f64>::zeros((30, 3)), &ctx).unwrap_err();
    assert!(equal.to_string().contains("dimension 0"), "{equal}");
    ctx.watch().cancel();
    assert_eq!(isomap.fit(&roll, &ctx).unwrap_err(), Error::Cancelled);
}
