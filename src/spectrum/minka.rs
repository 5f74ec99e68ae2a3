//! How many principal axes the data has: Minka's estimate.
//!
//! Place: between the variances of all principal axes and PCA with
//! `n_components="mle"`. Cost: O(D³) operations on the D variances.

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
            log_gamma(half) - std::f64::consts::PI.ln() * half
        })
        .sum();
    let log_uniform = -(rank as f64) * 2.0_f64.ln() + half_log_gammas;
    let log_large = -variances[..rank].iter().map(|variance| variance.ln()).sum::<f64>() * n / 2.0;
    let noise = (variances[rank..].iter().sum::<f64>() / (features - rank) as f64).max(1e-15);
    let log_noise = -noise.ln() * n * (features - rank) as f64 / 2.0;
    let freedom = (features * rank) as f64 - rank as f64 * (rank + 1) as f64 / 2.0;
    let log_volume = (2.0 * std::f64::consts::PI).ln() * (freedom + rank as f64) / 2.0;
    let level = |i: usize| if i < rank { variances[i] } else { noise };
    let mut log_curvature = 0.0;
    for i in 0..rank {
        for j in i + 1..features {
            let gap = (variances[i] - variances[j]) * (1.0 / level(j) - 1.0 / level(i));
            log_curvature += gap.ln() + n.ln();
        }
    }
    log_uniform + log_large + log_noise + log_volume - log_curvature / 2.0 - rank as f64 * n.ln() / 2.0
}

/// ln Γ(x) for x > 0 (Lanczos' approximation, g = 7).
fn log_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = COEFFICIENTS[1..]
        .iter()
        .enumerate()
        .fold(COEFFICIENTS[0], |sum, (i, coefficient)| sum + coefficient / (x + i as f64 + 1.0));
    let t = x + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::{log_gamma, most_likely_rank};

    #[test]
    fn a_gap_in_the_variances_is_found() {
        assert_eq!(most_likely_rank(&[9.0, 8.0, 7.0, 0.1, 0.11, 0.09, 0.1], 200), 3);
    }

    #[test]
    fn log_gamma_of_factorials_and_halves() {
        assert!((log_gamma(5.0) - 24.0_f64.ln()).abs() < 1e-12);
        assert!((log_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
        assert!((log_gamma(100.5) - 361.4355404677776).abs() < 1e-10);
    }
}
