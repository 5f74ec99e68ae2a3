//! The spectrum stage held against its exact references: Krylov against dense,
//! operators against explicitly formed matrices, principal axes across routes.
//! Vectors are compared by residuals and subspace angles, never coordinate by
//! coordinate.

use crate::linalg::SymmetricOperator;
use crate::linalg::random::uniform;
use crate::linalg::thin_svd;
use crate::spectrum::orthonormal::orthonormal_columns;
use crate::spectrum::{Options, Solver, Spectrum, top};
use crate::{Ctx, Error, Result};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use proptest::prelude::*;

fn options(solver: Solver) -> Options {
    Options { solver, ..Options::default() }
}

/// A symmetric matrix with the given eigenvalues and random eigenvectors.
fn with_spectrum(values: &[f64], seed: u64) -> Array2<f64> {
    let n = values.len();
    let q = orthonormal_columns(&uniform(&mut Ctx::new(1, seed).stream("q"), n, n)).unwrap();
    let scaled = &q * &ndarray::ArrayView1::from(values);
    let a = scaled.dot(&q.t());
    (&a + &a.t()) * 0.5
}

/// Sine of the largest angle between the column spaces.
fn sine(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let outside = a - &b.dot(&b.t().dot(a));
    thin_svd(outside.view()).unwrap().s[0]
}

fn orthonormal(v: &Array2<f64>) -> bool {
    (v.t().dot(v) - Array2::<f64>::eye(v.ncols())).iter().all(|e| e.abs() < 1e-12)
}

/// Values, residuals and orthonormality against the dense reference.
fn agrees(a: &Array2<f64>, k: usize) -> (Spectrum, Spectrum) {
    let ctx = Ctx::new(2, 7);
    let dense = top(a, k, &options(Solver::Dense), &ctx).unwrap();
    let krylov = top(a, k, &options(Solver::Krylov), &ctx).unwrap();
    let norm = dense.values[0].abs().max(dense.lowest.abs());
    assert!(krylov.converged, "residuals {:?} of norm {norm}", krylov.residuals);
    assert!(krylov.values.windows(2).all(|pair| pair[0] >= pair[1]));
    assert!(orthonormal(&krylov.vectors) && orthonormal(&dense.vectors));
    for j in 0..k {
        assert!((krylov.values[j] - dense.values[j]).abs() <= 2e-11 * norm, "{j}: {krylov:?}");
        assert!(krylov.residuals[j] <= 1e-11 * norm, "{j}: {:?}", krylov.residuals);
        assert!(dense.residuals[j] <= 1e-12 * norm * (a.nrows() as f64).sqrt());
    }
    (dense, krylov)
}

#[test]
fn indefinite_matrices() {
    for (n, k, seed) in [(200, 3, 1), (333, 10, 2), (64, 1, 3)] {
        let half = uniform(&mut Ctx::new(1, seed).stream("a"), n, n);
        let (dense, krylov) = agrees(&(&half + &half.t()), k);
        assert!(sine(&krylov.vectors, &dense.vectors) < 1e-8);
        assert!(krylov.lowest >= dense.lowest - 1e-10 && krylov.lowest < 0.9 * dense.lowest);
    }
}

#[test]
fn clusters_with_gaps_of_a_millionth() {
    let mut values: Vec<f64> = (0..5).map(|i| 1.0 + 1e-6 * i as f64).collect();
    values.extend((0..295).map(|i| 0.9 * 0.99f64.powi(i)));
    let (dense, krylov) = agrees(&with_spectrum(&values, 1), 5);
    assert!(sine(&krylov.vectors, &dense.vectors) < 1e-9);
    let (dense, krylov) = agrees(&with_spectrum(&values, 1), 3);
    assert!(sine(&krylov.vectors, &dense.vectors) < 1e-4);
}

#[test]
fn repeated_eigenvalues_come_with_all_their_copies() {
    for copies in [2, 5, 8] {
        let mut values = vec![3.0; copies];
        values.extend(vec![2.0; copies]);
        values.extend((0..200).map(|i| -(i as f64) / 200.0));
        let (dense, krylov) = agrees(&with_spectrum(&values, 2), copies);
        assert!(sine(&krylov.vectors, &dense.vectors) < 1e-9);
        agrees(&with_spectrum(&values, 3), 2 * copies);
    }
}

#[test]
fn low_rank_zero_identity_and_ties() {
    let mut values = vec![5.0, 4.0];
    values.extend(vec![0.0; 198]);
    agrees(&with_spectrum(&values, 4), 6);
    agrees(&Array2::zeros((200, 200)), 4);
    agrees(&Array2::eye(200), 4);
    agrees(&(Array2::<f64>::eye(200) * -2.0), 4);
    let ties = ndarray::Array1::from_iter((0..210).map(|i| (i / 30) as f64));
    agrees(&Array2::from_diag(&ties), 7);
}

#[test]
fn graded_spectra() {
    let values: Vec<f64> = (0..220).map(|i| 10f64.powf(12.0 - i as f64 * 24.0 / 219.0)).collect();
    agrees(&with_spectrum(&values, 5), 6);
    for size in [1e140, 1e-140] {
        let scaled: Vec<f64> = (0..220).map(|i| size * 0.9f64.powi(i)).collect();
        agrees(&with_spectrum(&scaled, 6), 3);
    }
}

#[test]
fn slow_decay_restarts_and_converges() {
    let values: Vec<f64> = (0..1200).map(|i| 1.0 - i as f64 / 1200.0).collect();
    let (dense, krylov) = agrees(&Array2::from_diag(&ndarray::Array1::from(values)), 2);
    assert!(sine(&krylov.vectors, &dense.vectors) < 1e-8);
}

#[test]
fn every_size_down_to_one_and_every_k() {
    let ctx = Ctx::new(1, 0);
    for n in 1..12 {
        let half = uniform(&mut ctx.stream("a"), n, n);
        let a = &half + &half.t();
        (1..=n).for_each(|k| drop(agrees(&a, k)));
        assert!(matches!(top(&a, n + 1, &Options::default(), &ctx), Err(Error::Param { .. })));
        assert!(matches!(top(&a, 0, &Options::default(), &ctx), Err(Error::Param { .. })));
    }
    assert!(top(&Array2::zeros((0, 0)), 1, &Options::default(), &ctx).is_err());
}

#[test]
fn deflated_vectors_are_left_out() {
    let mut values = vec![9.0, 8.0, 7.0, 1.0, 0.5];
    values.extend(vec![-3.0; 195]);
    let a = with_spectrum(&values, 8);
    let ctx = Ctx::new(2, 0);
    let all = top(&a, 5, &options(Solver::Dense), &ctx).unwrap();
    for solver in [Solver::Dense, Solver::Krylov] {
        let mut without = options(solver);
        without.deflate = Some(all.vectors.slice(s![.., ..;2]).to_owned());
        let rest = top(&a, 3, &without, &ctx).unwrap();
        for (got, expected) in rest.values.iter().zip([8.0, 1.0, -3.0]) {
            assert!((got - expected).abs() < 1e-11, "{solver:?} {:?}", rest.values);
        }
        assert!(rest.converged && (rest.lowest + 3.0).abs() < 1e-10);
        assert!(rest.vectors.t().dot(&all.vectors.column(0)).iter().all(|e| e.abs() < 1e-12));
        without.deflate = Some(Array2::ones((3, 1)));
        assert!(top(&a, 1, &without, &ctx).is_err());
    }
}

#[test]
fn zero_eigenvalues_beside_a_deflated_null_vector() {
    // Only two positive eigenvalues; the third place must be another null
    // vector, not the deflated constant one.
    let n = 200;
    let ones = Array2::ones((n, 1));
    let mut q = uniform(&mut Ctx::new(1, 3).stream("q"), n, 2);
    q.columns_mut().into_iter().for_each(|mut column| column -= column.sum() / n as f64);
    let a = q.dot(&q.t());
    for solver in [Solver::Dense, Solver::Krylov] {
        let mut known = options(solver);
        known.deflate = Some(ones.clone());
        let found = top(&a, 3, &known, &Ctx::new(1, 0)).unwrap();
        assert!(found.converged && found.values[2].abs() < 1e-11);
        assert!(found.vectors.t().dot(&ones).iter().all(|e| e.abs() < 1e-11));
    }
}

#[test]
fn guesses_without_directions_are_as_good_as_none() {
    let ctx = Ctx::new(2, 7);
    let matrix = with_spectrum(&(0..150).map(f64::from).collect::<Vec<_>>(), 5);
    let dense = top(&matrix, 3, &options(Solver::Dense), &ctx).unwrap();
    for width in [1, 3, 8, 40] {
        for start in [Array2::zeros((150, width)), Array2::ones((150, width))] {
            let guessed = Options { start: Some(start), ..options(Solver::Krylov) };
            let found = top(&matrix, 3, &guessed, &ctx).unwrap();
            assert!(found.converged && sine(&found.vectors, &dense.vectors) < 1e-9, "{width}");
            let nothing = top(&Array2::<f64>::zeros((150, 150)), 3, &guessed, &ctx).unwrap();
            assert!(nothing.converged && nothing.values == [0.0; 3] && orthonormal(&nothing.vectors));
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let half = uniform(&mut Ctx::new(1, 1).stream("a"), 1500, 20);
    let a = half.dot(&half.t());
    let run = |threads| top(&a, 4, &options(Solver::Krylov), &Ctx::new(threads, 5)).unwrap();
    let one = run(1);
    for threads in [2, 4] {
        let other = run(threads);
        assert_eq!(one.values, other.values);
        assert_eq!(one.vectors, other.vectors);
        assert_eq!(one.residuals, other.residuals);
    }
}

/// Multiplies by a matrix and does something unkind on the way.
struct Hostile<'a> {
    matrix: &'a Array2<f64>,
    cancel_after: Option<std::sync::atomic::AtomicUsize>,
    poison: f64,
}

impl SymmetricOperator for Hostile<'_> {
    fn dim(&self) -> usize {
        self.matrix.nrows()
    }

    fn apply(&self, x: ArrayView2<f64>, mut y: ArrayViewMut2<f64>, ctx: &Ctx) -> Result<()> {
        if let Some(left) = &self.cancel_after
            && left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1
        {
            ctx.watch().cancel();
        }
        y.assign(&self.matrix.dot(&x));
        y[[0, 0]] += self.poison;
        Ok(())
    }
}

#[test]
fn nan_is_refused_and_cancel_is_heard() {
    let a = Array2::from_diag(&ndarray::Array1::linspace(0.0, 1.0, 600));
    for solver in [Solver::Dense, Solver::Krylov] {
        for poison in [f64::NAN, f64::INFINITY] {
            let bad = Hostile { matrix: &a, cancel_after: None, poison };
            assert!(matches!(top(&bad, 2, &options(solver), &Ctx::new(1, 0)), Err(Error::Input(_))));
        }
        let slow = Hostile { matrix: &a, cancel_after: Some(2.into()), poison: 0.0 };
        assert_eq!(top(&slow, 2, &options(solver), &Ctx::new(1, 0)).unwrap_err(), Error::Cancelled);
    }
}

#[test]
fn an_iteration_cap_returns_the_best_so_far() {
    let a = Array2::from_diag(&ndarray::Array1::linspace(0.0, 1.0, 2000));
    let capped = Options { max_iter: Some(3), ..options(Solver::Krylov) };
    let found = top(&a, 2, &capped, &Ctx::new(1, 0)).unwrap();
    assert!(!found.converged && found.iterations == 3 && orthonormal(&found.vectors));
    assert!(top(&a, 2, &Options { tol: f64::NAN, ..capped }, &Ctx::new(1, 0)).is_err());
}

#[test]
fn not_symmetric_operators_do_not_hang() {
    let a = uniform(&mut Ctx::new(1, 9).stream("a"), 300, 300);
    let capped = Options { max_iter: Some(50), ..options(Solver::Krylov) };
    let found = top(&a, 2, &capped, &Ctx::new(1, 0)).unwrap();
    assert!(found.iterations <= 50);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn krylov_is_dense(n in 2usize..260, k in 1usize..8, seed in 0u64..1000, rank in 1usize..40) {
        let k = k.min(n);
        let mut values: Vec<f64> = uniform(&mut Ctx::new(1, seed).stream("v"), n, 1).into_iter().collect();
        values.iter_mut().skip(rank).for_each(|value| *value *= 0.01);
        agrees(&with_spectrum(&values, seed), k);
    }
}
