//! Gradients and second derivatives agree with differences of the values.

use ndarray::Array2;

use crate::Ctx;
use crate::linalg::random::uniform;
use crate::optimize::Objective;
use crate::optimize::disparities::{Disparities, Ties, Transformation};
use crate::optimize::pairs::{Rows, pass};
use crate::optimize::ranking::Ranking;
use crate::optimize::sampled::{SampledObjective, SomePairs};
use crate::optimize::term::{PairTerm, SStress, Sammon, Stress};
use crate::optimize::transformed::{KruskalStress, PairObjective};

const N: usize = 19; // no multiple of the lanes

fn ctx() -> Ctx {
    Ctx::new(2, 0)
}

/// Symmetric numbers in 0.5..1.5 with a zero diagonal.
fn symmetric(purpose: &str) -> Array2<f64> {
    let half = uniform(&mut ctx().stream(purpose), N, N);
    Array2::from_shape_fn((N, N), |(i, j)| if i == j { 0.0 } else { 1.0 + 0.5 * half[[i.min(j), i.max(j)]] })
}

fn place(width: usize) -> Vec<f64> {
    uniform(&mut ctx().stream("place"), N, width).iter().copied().collect()
}

/// The gradient by central differences, to 1e-6 of its size.
fn assert_gradient(objective: &mut dyn Objective, width: usize, what: &str) {
    let ctx = ctx();
    let x = place(width);
    let mut gradient = vec![0.0; x.len()];
    objective.evaluate(&x, &mut gradient, &ctx).unwrap();
    let size = gradient.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    assert!(size > 0.0, "{what}");
    let mut unused = vec![0.0; x.len()];
    for at in 0..x.len() {
        let mut value = |step: f64| {
            let mut moved = x.clone();
            moved[at] += step;
            objective.evaluate(&moved, &mut unused, &ctx).unwrap()
        };
        let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
        assert!((difference - gradient[at]).abs() < 1e-6 * size, "{what}: {difference} and {}", gradient[at]);
    }
}

fn assert_second(rows: &Rows<'_>, term: impl PairTerm, width: usize, what: &str) {
    let ctx = ctx();
    let x = place(width);
    let (mut half, mut diagonal) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    pass(rows, term, &x, &mut half, Some(&mut diagonal), &ctx).unwrap();
    let size = diagonal.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut found = vec![0.0; x.len()];
    for at in 0..x.len() {
        let mut slope = |step: f64| {
            let mut moved = x.clone();
            moved[at] += step;
            pass(rows, term, &moved, &mut found, None, &ctx).unwrap();
            found[at]
        };
        let difference = (slope(1e-5) - slope(-1e-5)) / 2e-5;
        assert!((difference - diagonal[at]).abs() < 1e-6 * size, "{what}: {difference} and {}", diagonal[at]);
    }
}

#[test]
fn of_every_loss_with_and_without_weights() {
    let (delta, mut weights) = (symmetric("delta"), symmetric("weights"));
    (weights[[2, 7]], weights[[7, 2]]) = (0.0, 0.0);
    for width in [1, 2, 3, 5] {
        for weights in [None, Some(weights.view())] {
            let rows = Rows::Stored { delta: delta.view(), weights };
            let what = format!("{width} coordinates, weights {}", weights.is_some());
            let sammon = Sammon { least: 0.5 };
            assert_gradient(&mut PairObjective::new(rows, Stress, 1.0, &ctx()).unwrap(), width, &what);
            assert_gradient(&mut PairObjective::new(rows, SStress, 1.0, &ctx()).unwrap(), width, &what);
            assert_gradient(&mut PairObjective::new(rows, sammon, 1.0, &ctx()).unwrap(), width, &what);
            assert_second(&rows, Stress, width, &what);
            assert_second(&rows, SStress, width, &what);
            assert_second(&rows, sammon, width, &what);
        }
    }
}

#[test]
fn of_kruskals_stress_with_every_transformation() {
    let (delta, mut weights) = (symmetric("delta"), symmetric("weights"));
    (weights[[2, 7]], weights[[7, 2]]) = (0.0, 0.0);
    // Rounded: ties in groups of several pairs.
    let tied = delta.mapv(|value| (value * 20.0).round() / 20.0);
    for (delta, weights) in [(&delta, None), (&delta, Some(weights.view())), (&tied, Some(weights.view()))] {
        let rows = Rows::Stored { delta: delta.view(), weights };
        for &kind in Transformation::ALL {
            for &ties in Ties::ALL {
                let ranking = Ranking::of(&rows, &ctx()).unwrap();
                let mut stress = KruskalStress::new(Disparities::new(ranking, kind, ties), &ctx()).unwrap();
                assert_gradient(
                    &mut stress,
                    2,
                    &format!("{kind:?}, {ties:?}, weights {}", weights.is_some()),
                );
            }
        }
    }
}

#[test]
fn of_some_pairs_and_of_all_of_them_as_some() {
    let delta = symmetric("delta");
    let pairs: Vec<(u32, u32, f64, f64)> = (0..N as u32)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (i, j, delta[[i as usize, j as usize]], 1.0))
        .collect();
    let all = SomePairs::new(N, &pairs);
    let mut some = SampledObjective::new(&all, Stress, 1.0);
    assert_gradient(&mut some, 2, "all pairs, listed");
    let rows = Rows::Stored { delta: delta.view(), weights: None };
    let mut whole = PairObjective::new(rows, Stress, 1.0, &ctx()).unwrap();
    let x = place(2);
    let (mut one, mut two) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    let listed = some.evaluate(&x, &mut one, &ctx()).unwrap();
    let stored = whole.evaluate(&x, &mut two, &ctx()).unwrap();
    assert!((listed - stored).abs() < 1e-12 * stored);
    assert!(one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn points_in_one_place_are_no_fault() {
    let delta = symmetric("delta");
    let rows = Rows::Stored { delta: delta.view(), weights: None };
    let x = vec![0.0; 2 * N];
    let (mut half, mut diagonal) = (vec![0.0; 2 * N], vec![0.0; 2 * N]);
    let value = pass(&rows, Stress, &x, &mut half, Some(&mut diagonal), &ctx()).unwrap();
    assert!(value.is_finite() && half.iter().chain(&diagonal).all(|entry| entry.is_finite()));
}
