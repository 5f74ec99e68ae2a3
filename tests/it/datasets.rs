//! What the data sets promise: the truth they come with is true.

use ndarray::{Array2, ArrayView1};

use crate::datasets::{self, Dataset};
use crate::{Ctx, Error, Result};

type Maker = fn(usize, f64, &Ctx) -> Result<Dataset>;

/// Every set, of some size and noise, and the most its geodesics exceed the chords of near
/// pairs by; `None` where it has no geodesics or where they are not lengths in its points.
const SETS: &[(&str, Maker, Option<f64>)] = &[
    ("swiss_roll", datasets::swiss_roll, Some(1e-3)),
    ("swiss_roll_with_hole", datasets::swiss_roll_with_hole, Some(1e-3)),
    ("s_curve", datasets::s_curve, Some(1e-3)),
    ("punctured_sphere", |n, noise, ctx| datasets::punctured_sphere(n, 0.7, noise, ctx), Some(1e-3)),
    ("torus", datasets::torus, None),
    ("twin_peaks", datasets::twin_peaks, None),
    ("helix", |n, noise, ctx| datasets::helix(n, 4.0, noise, ctx), Some(1e-3)),
    ("toroidal_helix", datasets::toroidal_helix, Some(1e-2)),
    ("cube", |n, noise, ctx| datasets::cube(n, 3, None, noise, ctx), Some(1e-12)),
    ("bent cube", |n, noise, ctx| datasets::cube(n, 2, Some(7), noise, ctx), Some(1e-3)),
    ("flat_torus", |n, noise, ctx| datasets::flat_torus(n, 2, noise, ctx), Some(2e-2)),
    ("clusters", |n, noise, ctx| datasets::gaussian_clusters(n, 3, 4, 10.0, noise, ctx), Some(1e-12)),
    ("rotating_object", |n, noise, ctx| datasets::rotating_object(n.min(24), 16, noise, ctx), None),
];

fn chord(points: &Array2<f64>, i: usize, j: usize) -> f64 {
    let gap = |(a, b): (&f64, &f64)| (a - b) * (a - b);
    points.row(i).iter().zip(points.row(j)).map(gap).sum::<f64>().sqrt()
}

#[test]
fn a_seed_gives_the_same_bits_for_any_number_of_threads_and_another_seed_others() {
    for (name, make, _) in SETS {
        let one = make(40, 0.1, &Ctx::new(1, 7)).unwrap();
        let two = make(40, 0.1, &Ctx::new(3, 7)).unwrap();
        let other = make(40, 0.1, &Ctx::new(1, 8)).unwrap();
        assert_eq!(one.points, two.points, "{name}");
        assert_eq!(one.coordinates, two.coordinates, "{name}");
        assert_ne!(one.points, other.points, "{name}");
        assert!(one.points.iter().all(|value| value.is_finite()), "{name}");
    }
}

#[test]
fn fewer_rows_are_the_first_rows_of_more() {
    let ctx = Ctx::new(1, 0);
    for (name, make, _) in SETS.iter().filter(|(name, ..)| *name != "rotating_object") {
        let (few, many) = (make(10, 0.0, &ctx).unwrap(), make(30, 0.0, &ctx).unwrap());
        assert_eq!(few.points, many.points.slice(ndarray::s![..10, ..]), "{name}");
    }
}

#[test]
fn geodesics_are_metrics_that_no_chord_exceeds_and_near_pairs_attain() {
    let ctx = Ctx::new(2, 0);
    for (name, make, excess) in SETS {
        let Some(excess) = excess else { continue };
        let made = make(1500, 0.0, &ctx).unwrap();
        let from: Vec<usize> = (0..60).collect();
        let lengths = made.geodesics(Some(&from), &ctx).unwrap();
        for i in 0..60 {
            assert!(lengths[[i, i]] < 1e-7, "{name}");
            let mut nearest = (f64::INFINITY, 0);
            for j in 0..1500 {
                let straight = chord(&made.points, i, j);
                assert!(lengths[[i, j]] >= straight * (1.0 - 1e-9) - 1e-9, "{name} {i} {j}");
                if j != i && straight < nearest.0 {
                    nearest = (straight, j);
                }
                for via in 0..20 {
                    let detour = lengths[[i, via]] + lengths[[via, j]];
                    assert!(lengths[[i, j]] <= detour + 1e-9, "{name}: {i} {via} {j}");
                }
            }
            for j in 0..60 {
                assert!((lengths[[i, j]] - lengths[[j, i]]).abs() < 1e-9, "{name}");
            }
            let (straight, j) = nearest;
            assert!(lengths[[i, j]] <= straight * (1.0 + excess), "{name}: {} {straight}", lengths[[i, j]]);
        }
    }
}

#[test]
fn arc_length_of_the_roll_is_its_integral() {
    // ∫ √(1 + t²) dt by Simpson's rule over fine steps.
    let roll = datasets::swiss_roll(20, 0.0, &Ctx::new(1, 3)).unwrap();
    let length = |from: f64, to: f64| {
        let steps = 20_000;
        let h = (to - from) / f64::from(steps);
        let speed = |t: f64| (1.0 + t * t).sqrt();
        let inner: f64 =
            (1..steps).map(|i| speed(from + h * f64::from(i)) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        h / 3.0 * (speed(from) + inner + speed(to))
    };
    for i in 1..20 {
        let wanted = length(roll.color[0], roll.color[i]);
        let got = roll.coordinates[[i, 0]] - roll.coordinates[[0, 0]];
        assert!((got - wanted).abs() < 1e-8, "{got} {wanted}");
        let radius = roll.points[[i, 0]].hypot(roll.points[[i, 2]]);
        assert!((radius - roll.color[i]).abs() < 1e-12);
    }
}

#[test]
fn paths_go_round_the_hole_by_its_corners() {
    let ctx = Ctx::new(1, 0);
    let mut roll = datasets::swiss_roll_with_hole(2000, 0.0, &ctx).unwrap();
    let datasets::Geometry::Holed([x0, x1, y0, y1]) = roll.geometry else { panic!("no hole") };
    for row in roll.coordinates.rows() {
        assert!(!(row[0] > x0 && row[0] < x1 && row[1] > y0 && row[1] < y1), "a point in the hole");
    }
    // Left and right of the hole in its middle, below it, and beside a corner.
    let middle = (y0 + y1) / 2.0;
    let places = [[x0 - 3.0, middle], [x1 + 3.0, middle], [x0 - 3.0, y0 - 1.0], [x1, y0 - 4.0]];
    for (i, place) in places.iter().enumerate() {
        roll.coordinates.row_mut(i).assign(&ArrayView1::from(place));
    }
    let lengths = roll.geodesics(Some(&[0, 1, 2, 3]), &ctx).unwrap();
    let across = 2.0 * 3.0_f64.hypot(middle - y0) + (x1 - x0);
    assert!((lengths[[0, 1]] - across).abs() < 1e-9);
    let straight = lengths[[0, 2]] - (middle - y0 + 1.0);
    assert!(straight.abs() < 1e-9);
    let corner = 3.0_f64.hypot(middle - y0) + (x1 - x0).hypot(4.0);
    assert!((lengths[[0, 3]] - corner).abs() < 1e-9, "{} {corner}", lengths[[0, 3]]);
}

#[test]
fn paths_on_the_sphere_follow_the_rim_of_the_cap() {
    let ctx = Ctx::new(1, 0);
    let opening = 0.7_f64;
    let mut sphere = datasets::punctured_sphere(50, opening, 0.0, &ctx).unwrap();
    // Stereographic radius of a colatitude: its cotangent of the half.
    let flat = |colatitude: f64, longitude: f64| {
        let radius = 1.0 / (colatitude / 2.0).tan();
        [radius * longitude.cos(), radius * longitude.sin()]
    };
    let places = [flat(opening, 0.0), flat(opening, std::f64::consts::PI), flat(1.9, 0.3), flat(2.9, 0.3)];
    for (i, place) in places.iter().enumerate() {
        sphere.coordinates.row_mut(i).assign(&ArrayView1::from(place));
    }
    let lengths = sphere.geodesics(Some(&[0, 2]), &ctx).unwrap();
    // Opposite places of the rim: half of its circumference.
    assert!((lengths[[0, 1]] - std::f64::consts::PI * opening.sin()).abs() < 1e-9);
    // Along a meridian.
    assert!((lengths[[1, 3]] - 1.0).abs() < 1e-9);
}

#[test]
fn surfaces_are_evenly_covered() {
    let ctx = Ctx::new(1, 0);
    let n = 20_000;
    // Equal zones of a sphere have equal areas; the inner half of a torus is smaller.
    let sphere = datasets::punctured_sphere(n, 0.7, 0.0, &ctx).unwrap();
    let top = 0.7_f64.cos();
    let lower = sphere.color.iter().filter(|&&z| z < (top - 1.0) / 2.0).count() as f64 / n as f64;
    assert!((lower - 0.5).abs() < 0.012, "{lower}");
    let torus = datasets::torus(n, 0.0, &ctx).unwrap();
    let outer = torus.coordinates.column(1).iter().filter(|&&v| v.cos() > 0.0).count() as f64 / n as f64;
    let wanted = 0.5 + 1.0 / (2.0 * std::f64::consts::PI);
    assert!((outer - wanted).abs() < 0.012, "{outer} {wanted}");
}

#[test]
fn noise_has_its_standard_deviation_and_leaves_the_truth() {
    let ctx = Ctx::new(1, 5);
    for (name, make, _) in SETS {
        let (clean, noisy) = (make(3000, 0.0, &ctx).unwrap(), make(3000, 0.25, &ctx).unwrap());
        assert_eq!(clean.coordinates, noisy.coordinates, "{name}");
        let gaps = &noisy.points - &clean.points;
        let count = gaps.len() as f64;
        let mean = gaps.sum() / count;
        let deviation = (gaps.mapv(|gap| gap * gap).sum() / count).sqrt();
        assert!(
            mean.abs() < 1.25 / count.sqrt() && (deviation - 0.25).abs() < 0.01,
            "{name} {mean} {deviation}"
        );
    }
}

#[test]
fn clusters_have_unit_spread_and_their_separation() {
    let made = datasets::gaussian_clusters(4000, 4, 60, 12.0, 0.0, &Ctx::new(1, 1)).unwrap();
    let mean_of = |cluster: usize| {
        let rows: Vec<usize> = (0..4000).filter(|row| row % 4 == cluster).collect();
        assert!(rows.iter().all(|&row| made.color[row] == cluster as f64));
        made.points.select(ndarray::Axis(0), &rows).mean_axis(ndarray::Axis(0)).unwrap()
    };
    let centers: Vec<_> = (0..4).map(mean_of).collect();
    let within: f64 =
        (0..4000).map(|row| (&made.points.row(row) - &centers[row % 4]).mapv(|x| x * x).sum()).sum();
    assert!((within / (4000.0 * 60.0) - 1.0).abs() < 0.01);
    let squares = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
    let apart: Vec<f64> = squares.map(|(i, j)| (&centers[i] - &centers[j]).mapv(|x| x * x).sum()).collect();
    let mean = (apart.iter().sum::<f64>() / 6.0).sqrt();
    assert!((mean / 12.0 - 1.0).abs() < 0.15, "{mean}");
}

#[test]
fn the_views_of_the_object_are_a_smooth_closed_curve_without_crossings() {
    let ctx = Ctx::new(2, 0);
    let steps = |views: usize| {
        let made = datasets::rotating_object(views, 32, 0.0, &ctx).unwrap();
        assert!(made.points.iter().all(|&grey| (0.0..=1.0).contains(&grey)));
        let step: Vec<f64> = (0..views).map(|i| chord(&made.points, i, (i + 1) % views)).collect();
        (made, step)
    };
    let (made, coarse) = steps(72);
    let longest = coarse.iter().copied().fold(0.0, f64::max);
    for i in 0..72 {
        for j in 0..72 {
            let apart = (i as i32 - j as i32).rem_euclid(72).min((j as i32 - i as i32).rem_euclid(72));
            // Views at least 20 degrees apart are farther apart than successive ones.
            assert!(apart < 4 || chord(&made.points, i, j) > longest, "{i} {j}");
        }
    }
    // Twice as many views are half as far apart, as on a curve with a tangent.
    let (_, fine) = steps(144);
    let (coarse, fine) = (coarse.iter().sum::<f64>() / 72.0, fine.iter().sum::<f64>() / 144.0);
    assert!(fine < 0.62 * coarse, "{fine} {coarse}");
}

#[test]
fn what_cannot_be_made_is_refused_by_name() {
    let ctx = Ctx::new(1, 0);
    let named = |made: Result<Dataset>, parameter: &str| match made {
        Err(Error::Param { name, .. }) => assert_eq!(name, parameter),
        other => panic!("{parameter}: {:?}", other.map(|_| ())),
    };
    for (_, make, _) in SETS.iter().filter(|(name, ..)| *name != "rotating_object") {
        named(make(0, 0.0, &ctx), "n_samples");
        named(make(5, -1.0, &ctx), "noise");
        named(make(5, f64::NAN, &ctx), "noise");
    }
    named(datasets::cube(5, 0, None, 0.0, &ctx), "dimension");
    named(datasets::cube(5, 3, Some(2), 0.0, &ctx), "n_features");
    named(datasets::flat_torus(5, 0, 0.0, &ctx), "dimension");
    named(datasets::helix(5, 0.0, 0.0, &ctx), "turns");
    named(datasets::punctured_sphere(5, 2.0, 0.0, &ctx), "opening");
    named(datasets::gaussian_clusters(5, 0, 2, 1.0, 0.0, &ctx), "n_clusters");
    named(datasets::gaussian_clusters(5, 2, 2, f64::INFINITY, 0.0, &ctx), "separation");
    named(datasets::rotating_object(0, 8, 0.0, &ctx), "views");
    named(datasets::rotating_object(3, 0, 0.0, &ctx), "size");
    let torus = datasets::torus(5, 0.0, &ctx).unwrap();
    assert!(matches!(torus.geodesics(None, &ctx), Err(Error::Unsupported(_))));
    let roll = datasets::swiss_roll(5, 0.0, &ctx).unwrap();
    assert!(matches!(roll.geodesics(Some(&[5]), &ctx), Err(Error::Param { name: "rows", .. })));
    let small = Ctx::new(1, 0).with_memory_limit(1 << 20);
    assert!(matches!(datasets::swiss_roll(1 << 20, 0.0, &small), Err(Error::Memory { .. })));
    assert!(matches!(datasets::cube(5, usize::MAX / 2, None, 0.0, &small), Err(Error::Memory { .. })));
}

#[test]
fn making_them_can_be_stopped() {
    let ctx = Ctx::new(1, 0);
    ctx.watch().cancel();
    assert!(matches!(datasets::swiss_roll(5000, 0.0, &ctx), Err(Error::Cancelled)));
}
