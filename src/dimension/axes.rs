//! The dimension as the number of principal axes that neighbourhoods spread along.
//!
//! K. Fukunaga and D. Olsen, IEEE Transactions on Computers 20, 1971: the eigenvalues of the
//! covariance of a row and its neighbours, counted by a rule. The dimension of the whole is
//! the mean over rows. The rule decides much of the answer, so it has a name. Cost: as
//! [`crate::kernel::local`]: k²·D + k³ a row, or k·D² + D³.

use super::Statistic;
use super::table::{Source, Table};
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::kernel::local::Source as Neighborhoods;
use crate::kernel::local::spectra::each_spectrum;
use crate::params::choices;

choices! {
    /// How the principal axes of a neighbourhood are counted.
    #[derive(Default)]
    AxesRule {
        /// Eigenvalues above a twentieth of the largest (Fukunaga and Olsen 1971).
        #[default]
        FukunagaOlsen = "fukunaga_olsen",
        /// As many as have 95 % of the variance.
        Ratio = "ratio",
        /// Up to the largest quotient of an eigenvalue and the next (Bruske and Sommer 1998).
        MaxGap = "maxgap",
        /// (Σλ)² / Σλ², which need not be whole.
        ParticipationRatio = "participation_ratio",
        /// Eigenvalues above their mean (Kaiser 1960).
        Kaiser = "kaiser",
        /// Eigenvalues above those of a stick broken at random (Frontier 1976).
        BrokenStick = "broken_stick",
    }
}

/// The part of the largest eigenvalue that others must exceed.
const LEAST: f64 = 0.05;
/// The part of the variance that is enough.
const ENOUGH: f64 = 0.95;

impl AxesRule {
    /// The number of axes by eigenvalues, largest first, of which there could be `most`.
    fn count(self, values: &[f64], most: usize) -> f64 {
        let total: f64 = values.iter().sum();
        let Some(&largest) = values.first() else { return 0.0 };
        let leading = |go_on: &dyn Fn(usize, f64) -> bool| {
            values.iter().enumerate().take_while(|&(i, &value)| go_on(i, value)).count() as f64
        };
        match self {
            AxesRule::FukunagaOlsen => leading(&|_, value| value > LEAST * largest),
            AxesRule::Kaiser => leading(&|_, value| value > total / most as f64),
            AxesRule::BrokenStick => {
                // The mean length of the i-th longest of `most` pieces.
                let piece = |i: usize| (i + 1..=most).map(|j| 1.0 / j as f64).sum::<f64>() / most as f64;
                leading(&|i, value| value > total * piece(i)).max(1.0)
            }
            AxesRule::ParticipationRatio => {
                // Relative to the largest, so that squares stay in range.
                let parts = values.iter().map(|value| value / largest);
                let (sum, squares) = parts.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
                sum * sum / squares
            }
            AxesRule::Ratio => {
                let mut sum = 0.0;
                let enough = |value: &f64| {
                    sum += value;
                    sum >= ENOUGH * total
                };
                values.iter().position(enough).map_or(values.len(), |last| last + 1) as f64
            }
            AxesRule::MaxGap => max_gap(values, most),
        }
    }
}

/// The place of the largest quotient; what follows the last eigenvalue, where there could be
/// more, is rounding.
fn max_gap(values: &[f64], most: usize) -> f64 {
    if values.len() < most {
        return values.len() as f64;
    }
    let mut widest = (0.0, values.len());
    for (i, pair) in values.windows(2).enumerate() {
        if pair[0] / pair[1] > widest.0 {
            widest = (pair[0] / pair[1], i + 1);
        }
    }
    widest.1 as f64
}

/// The number of axes of each row's neighbourhood.
pub(super) struct LocalAxes {
    pub dimensions: Vec<f64>,
}

impl LocalAxes {
    /// The axes of all rows; the inner error where the data has no axes.
    pub fn of(table: &Table<'_>, rule: AxesRule, ctx: &Ctx) -> Result<Result<LocalAxes>> {
        let (source, features) = match neighborhoods(table, "principal axes of neighbourhoods") {
            Ok(known) => known,
            Err(reason) => return Ok(Err(reason)),
        };
        let most = table.k.min(features);
        let dimensions = each_spectrum(source, &table.near, |values| rule.count(values, most), ctx)?;
        Ok(Ok(LocalAxes { dimensions }))
    }
}

/// Where neighbourhoods are read from, and how many features they have at most; refused where
/// there are lists only.
pub(super) fn neighborhoods<'a>(table: &'a Table<'_>, what: &str) -> Result<(Neighborhoods<'a>, usize)> {
    let points = match &table.source {
        Source::Index(index) => index.points(),
        Source::Points(points) => points,
        Source::Matrix(matrix) => {
            let matrix = matrix.view();
            return Ok((Neighborhoods::Distances { matrix, rows: None }, usize::MAX));
        }
        Source::Lists => {
            let why = format!("{what} need points or all distances; a graph has neither");
            return Err(Error::Unsupported(why));
        }
    };
    let (centers, rows) = (points.view(), points.view());
    Ok((Neighborhoods::Points { centers, rows }, points.view().cols()))
}

impl Statistic for LocalAxes {
    fn value(&self, counts: &[f64]) -> f64 {
        let sum: f64 = self.dimensions.iter().zip(counts).map(|(value, count)| value * count).sum();
        sum / counts.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_what_they_say() {
        let values = [8.0, 4.0, 3.0, 0.5, 0.3];
        let total = 15.8;
        let count = |rule: AxesRule| rule.count(&values, 5);
        assert_eq!(count(AxesRule::FukunagaOlsen), 4.0); // 0.5 > 0.05 * 8 > 0.3
        assert_eq!(count(AxesRule::Kaiser), 2.0); // the mean is 3.16
        assert_eq!(count(AxesRule::MaxGap), 3.0); // 3 / 0.5
        assert_eq!(count(AxesRule::Ratio), 4.0); // 15 / 15.8 < 0.95 < 15.5 / 15.8
        let squares = 64.0 + 16.0 + 9.0 + 0.25 + 0.09;
        assert!((count(AxesRule::ParticipationRatio) - total * total / squares).abs() < 1e-12);
        // Pieces 0.457, 0.257, 0.157, 0.09, 0.04; shares 0.506, 0.253, ...
        assert_eq!(count(AxesRule::BrokenStick), 1.0);
        // What is missing at the end of the list is zero.
        assert_eq!(AxesRule::MaxGap.count(&[5.0, 1.0, 0.9], 6), 3.0);
    }
}
