//! A score: its value, its standard error on a sample of rows, and its value at each point.
//!
//! Place: what every measure ends in. A measure of the whole map is a function of means over
//! rows; on a sample of rows its standard error is the jackknife's (each row left out once,
//! Efron and Stein 1981), times √(1 − m/n) as the m rows are drawn from n without replacement.
//! Cost: O(m).

/// The value of a measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// For the whole map.
    pub value: f64,
    /// 0 where every row was looked at.
    pub standard_error: f64,
    /// At each row that was looked at, where the measure has a value at a row; NaN at a row whose
    /// own denominator is zero.
    pub per_point: Option<Vec<f64>>,
}

impl Score {
    /// The mean over the rows that were looked at, of `n` rows.
    pub(super) fn mean(per_point: Vec<f64>, n: usize) -> Score {
        let rows: Vec<[f64; 1]> = per_point.iter().map(|&own| [own]).collect();
        let (value, standard_error) = of_means(&rows, n, |[mean]| *mean);
        Score { value, standard_error, per_point: Some(per_point) }
    }
}

/// A function of means over rows, and its standard error when these are some of `n` rows.
pub(super) fn of_means<const C: usize>(
    rows: &[[f64; C]],
    n: usize,
    of: impl Fn(&[f64; C]) -> f64,
) -> (f64, f64) {
    let count = rows.len() as f64;
    let sums = total(rows);
    let value = of(&sums.map(|sum| sum / count));
    if rows.len() >= n || rows.len() < 2 {
        return (value, 0.0);
    }
    let without = |row: &[f64; C]| {
        let mut means = sums;
        means.iter_mut().zip(row).for_each(|(mean, own)| *mean = (*mean - own) / (count - 1.0));
        of(&means)
    };
    let values: Vec<f64> = rows.iter().map(without).collect();
    let mean = values.iter().sum::<f64>() / count;
    let spread: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (value, (spread * (count - 1.0) / count * (1.0 - count / n as f64)).sqrt())
}

/// Sums over rows, in runs that keep the rounding low.
pub(super) fn total<const C: usize>(rows: &[[f64; C]]) -> [f64; C] {
    const RUN: usize = 128;
    let mut sums = [0.0; C];
    for run in rows.chunks(RUN) {
        let mut part = [0.0; C];
        for row in run {
            part.iter_mut().zip(row).for_each(|(sum, own)| *sum += own);
        }
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jackknife_of_a_mean_is_its_standard_error() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let score = Score::mean(values.to_vec(), 20);
        let mean = values.iter().sum::<f64>() / 8.0;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / 7.0;
        assert!((score.value - mean).abs() < 1e-14);
        assert!((score.standard_error - (variance / 8.0 * (1.0 - 8.0 / 20.0)).sqrt()).abs() < 1e-13);
        assert_eq!(Score::mean(values.to_vec(), 8).standard_error, 0.0);
    }
}
