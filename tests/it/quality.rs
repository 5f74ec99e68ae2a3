//! Measures of quality against their definitions, on either way through the neighbours.

use crate::choices::MetricName;
use crate::linalg::random::uniform;
use crate::ndarray::{Array2, ArrayView2};
use crate::quality::{Comparison, Measure, procrustes};
use crate::{Ctx, Error};

/// Rank of every row from every row by (distance, index).
fn ranks(points: ArrayView2<'_, f64>) -> Vec<Vec<usize>> {
    let n = points.nrows();
    let distance = |i: usize, j: usize| {
        let gap = &points.row(i) - &points.row(j);
        gap.iter().map(|value| value * value).sum::<f64>().sqrt()
    };
    (0..n)
        .map(|i| {
            let mut order: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            order.sort_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b)));
            let mut ranks = vec![0; n];
            order.iter().enumerate().for_each(|(place, &j)| ranks[j] = place + 1);
            ranks
        })
        .collect()
}

/// Whole numbers, so that distances are exact and many are equal.
fn data(n: usize, columns: usize) -> (Array2<f64>, Array2<f64>) {
    let mut stream = Ctx::new(1, 0).stream("quality");
    let x = uniform(&mut stream, n, columns).mapv(|value| (3.0 * value).round());
    let y = uniform(&mut stream, n, 2).mapv(|value| (9.0 * value).round());
    (x, y)
}

#[test]
fn trustworthiness_and_continuity_are_their_definitions() {
    // Few columns are measured row by row, many by matrix products.
    for (n, columns) in [(60, 3), (300, 3), (300, 40)] {
        let (x, y) = data(n, columns);
        let (r, rho, k) = (ranks(x.view()), ranks(y.view()), 6);
        let beyond = |own: &[Vec<usize>], other: &[Vec<usize>]| {
            let mut sum = 0;
            for i in 0..n {
                for j in (0..n).filter(|&j| j != i && own[i][j] <= k) {
                    sum += other[i][j].saturating_sub(k);
                }
            }
            1.0 - 2.0 * sum as f64 / (n * k * (2 * n - 3 * k - 1)) as f64
        };
        for threads in [1, 3] {
            let ctx = Ctx::new(threads, 0);
            let both = Comparison::new(&x, MetricName::Euclidean, y.view(), None, &ctx).unwrap();
            let found = both.scores(&[Measure::Trustworthiness, Measure::Continuity], k, None, &ctx).unwrap();
            assert!((found[0].value - beyond(&rho, &r)).abs() < 1e-12, "{n} × {columns}");
            assert!((found[1].value - beyond(&r, &rho)).abs() < 1e-12, "{n} × {columns}");
        }
    }
}

#[test]
fn a_sample_has_the_values_of_its_rows() {
    for columns in [3, 40] {
        let (x, y) = data(300, columns);
        let ctx = Ctx::new(2, 9);
        let of = |sample| {
            let both = Comparison::new(&x, MetricName::Euclidean, y.view(), sample, &ctx).unwrap();
            let rows = both.sample().map(<[u32]>::to_vec);
            (both.scores(&[Measure::Continuity, Measure::Lcmc], 5, None, &ctx).unwrap(), rows)
        };
        let ((all, none), (some, rows)) = (of(None), of(Some(50)));
        assert!(none.is_none());
        for (all, some) in all.iter().zip(&some) {
            let full = all.per_point.as_ref().unwrap();
            let own: Vec<f64> = rows.as_ref().unwrap().iter().map(|&row| full[row as usize]).collect();
            assert_eq!(some.per_point.as_ref().unwrap(), &own);
            assert!((some.value - all.value).abs() <= 4.0 * some.standard_error);
        }
    }
}

#[test]
fn a_map_that_is_the_data_is_perfect() {
    let (x, _) = data(280, 30);
    let ctx = Ctx::new(2, 0);
    let both = Comparison::new(&x, MetricName::Euclidean, x.view(), None, &ctx).unwrap();
    let ones = [Measure::Trustworthiness, Measure::Continuity, Measure::Pearson, Measure::Spearman];
    for score in both.scores(&ones, 7, None, &ctx).unwrap() {
        assert!((score.value - 1.0).abs() < 1e-12);
    }
    let zeros = [Measure::MrreFalse, Measure::Stress1, Measure::SammonStress, Measure::ResidualVariance];
    for score in both.scores(&zeros, 7, None, &ctx).unwrap() {
        assert!(score.value < 1e-12);
    }
    assert!((both.rank_curve(&ctx).unwrap().area.value - 1.0).abs() < 1e-12);
    let turned = &x * -3.0;
    assert!(procrustes(x.view(), turned.view(), true, true).unwrap().distance < 1e-7);
}

#[test]
fn a_request_to_stop_is_answered() {
    let (x, y) = data(300, 40);
    let ctx = Ctx::new(2, 0);
    let both = Comparison::new(&x, MetricName::Euclidean, y.view(), None, &ctx).unwrap();
    for measure in [Measure::Trustworthiness, Measure::Stress1, Measure::Spearman, Measure::RankCurveArea] {
        ctx.watch().cancel();
        let stopped = both.scores(&[measure], 5, None, &ctx);
        assert_eq!(stopped.unwrap_err(), Error::Cancelled, "{}", measure.name());
        assert!(both.scores(&[measure], 5, None, &ctx).is_ok(), "ready for the next call");
    }
}
