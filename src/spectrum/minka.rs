//! How many principal axes the data has: Minka's estimate.
//!
//! Place: between the variances of all principal axes and PCA with
//! `n_components="mle"`. Cost: O(D³) operations on the D variances.

use crate::linalg::exp::ln;
use std::f64::consts::LN_2;

/// ln π.
const LN_PI: f64 = 1.144_729_885_849_400_2;

/// Minka's estimate of the rank: the number of components with the largest
/// evidence (Minka 2000, "Automatic choice of dimensionality for PCA", (77)).
pub fn most_likely_rank(variances: &[f64], rows: usize) -> usize {
    let evidence: Vec<f64> = (1..variances.len()).map(|rank| log_evidence(variances, rank, rows)).collect();
    let mut best = 0;
    for (at, value) in evidence.iter().enumerate() {
        if *value > evidence[best] {
            best = at;
        }
    }
    best + 1
}

fn log_evidence(variances: &[f64], rank: usize, rows: usize) -> f64 {
    let (features, n) = (variances.len(), rows as f64);
    if variances[rank - 1] < 1e-15 {
        return f64::NEG_INFINITY;
    }
    let half_log_gammas: f64 = (1..=rank)
        .map(|i| {
            let half = (features - i + 1) as f64 / 2.0;
            libm::lgamma(half) - LN_PI * half
        })
        .sum();
    let log_uniform = -(rank as f64) * LN_2 + half_log_gammas;
    let log_large = -variances[..rank].iter().map(|variance| ln(*variance)).sum::<f64>() * n / 2.0;
    let noise = (variances[rank..].iter().sum::<f64>() / (features - rank) as f64).max(1e-15);
    let log_noise = -ln(noise) * n * (features - rank) as f64 / 2.0;
    let freedom = (features * rank) as f64 - rank as f64 * (rank + 1) as f64 / 2.0;
    let log_volume = (LN_2 + LN_PI) * (freedom + rank as f64) / 2.0;
    let level = |i: usize| if i < rank { variances[i] } else { noise };
    // Directions of equal variance are arbitrary: the integral does not depend on their
    // angle, so the pair counts nothing, and a rank that keeps one of two is no model.
    let tie = features as f64 * f64::EPSILON * variances[0];
    let mut log_curvature = 0.0;
    for i in 0..rank {
        for j in i + 1..features {
            let gap = variances[i] - variances[j];
            if gap > tie {
                log_curvature += ln(gap * (1.0 / level(j) - 1.0 / level(i))) + ln(n);
            } else if j >= rank {
                return f64::NEG_INFINITY;
            }
        }
    }
    log_uniform + log_large + log_noise + log_volume - log_curvature / 2.0 - rank as f64 * ln(n) / 2.0
}

#[cfg(test)]
mod tests {
    use super::{log_evidence, most_likely_rank};

    #[test]
    fn a_gap_in_the_variances_is_found() {
        assert_eq!(most_likely_rank(&[9.0, 8.0, 7.0, 0.11, 0.105, 0.1, 0.09], 200), 3);
    }

    /// Two equal variances make the curvature vanish; unchecked, its logarithm would win.
    #[test]
    fn equal_variances_do_not_decide() {
        assert_eq!(most_likely_rank(&[9.0, 8.0, 7.0, 0.11, 0.1, 0.1, 0.09], 200), 3);
        assert_eq!(most_likely_rank(&[9.0, 9.0, 7.0, 0.11, 0.1, 0.1, 0.09], 200), 3);
        assert_eq!(most_likely_rank(&[1.0, 1.0, 1.0, 1e-3, 1e-3], 100), 3);
        assert_eq!(most_likely_rank(&[2.0, 2.0, 2.0], 50), 1);
    }

    /// `sklearn.decomposition._pca._assess_dimension` of scikit-learn 1.9.1.
    #[test]
    fn evidence_is_that_of_scikit_learn() {
        let variances = [9.0, 8.0, 7.0, 0.12, 0.11, 0.1, 0.09, 0.05, 0.01, 0.001];
        let theirs = [
            -132.94560085792529,
            -96.81751409309935,
            129.92871540011393,
            127.38261097264369,
            125.83226589557489,
            126.09679587085444,
            132.82759521695854,
            148.37029631562208,
            157.67364120770895,
        ];
        for (rank, value) in (1..).zip(theirs) {
            assert!((log_evidence(&variances, rank, 33) - value).abs() < 1e-10, "{rank}");
        }
    }
}
