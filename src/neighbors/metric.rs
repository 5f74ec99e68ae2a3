//! The metrics: the name a caller writes, the metric it stands for, and how the
//! engines evaluate it. A new metric is added here and nowhere else: a name, a
//! variant, its [`Measure`] (one of those below or a new one) and its properties.
//!
//! Place in the dataflow: what `index` and the engines are built on. Cost: O(D) per pair.

use serde::{Deserialize, Serialize};

use super::measure::{Measure, lanes_of_rows};
use crate::error::{Error, Result};
use crate::linalg::exp::power;
use crate::params::choices;

choices! {
    /// A distance by name.
    MetricName {
        /// `Minkowski` with the parameter `p`.
        Minkowski = "minkowski",
        /// Straight line.
        Euclidean = "euclidean" | "l2",
        /// Sum of absolute differences.
        Manhattan = "manhattan" | "cityblock" | "l1",
        /// Largest absolute difference.
        Chebyshev = "chebyshev" | "infinity",
        /// One minus the cosine of the angle.
        Cosine = "cosine",
        /// One minus the correlation.
        Correlation = "correlation",
        /// The caller brings distances (or a graph of them).
        Precomputed = "precomputed",
    }
}

/// How far apart two points are. Every other metric reaches the library as
/// precomputed distances or neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Metric {
    /// Straight line.
    Euclidean,
    /// Sum of absolute differences.
    Manhattan,
    /// Largest absolute difference.
    Chebyshev,
    /// p-th root of the sum of p-th powers, p >= 1.
    Minkowski(f64),
    /// One minus the cosine of the angle.
    Cosine,
    /// One minus the correlation of the coordinates.
    Correlation,
}

impl MetricName {
    /// The metric between points; `None` for precomputed distances.
    ///
    /// # Errors
    /// A Minkowski power below 1.
    pub(crate) fn metric(self, p: f64) -> Result<Option<Metric>> {
        Ok(Some(match self {
            MetricName::Precomputed => return Ok(None),
            MetricName::Minkowski if p >= 1.0 => settled(Metric::Minkowski(p)),
            MetricName::Minkowski => {
                return Err(Error::param("p", format!("the Minkowski power must be >= 1, got {p}")));
            }
            MetricName::Euclidean => Metric::Euclidean,
            MetricName::Manhattan => Metric::Manhattan,
            MetricName::Chebyshev => Metric::Chebyshev,
            MetricName::Cosine => Metric::Cosine,
            MetricName::Correlation => Metric::Correlation,
        }))
    }

    /// Whether distances stay the same when all points are multiplied by a number.
    pub(crate) fn ignores_scale(self) -> bool {
        matches!(self, MetricName::Cosine | MetricName::Correlation)
    }
}

impl Metric {
    /// Whether distances stay the same when all points are multiplied by a number:
    /// they compare the directions of rows.
    pub(crate) fn ignores_scale(self) -> bool {
        matches!(self, Metric::Cosine | Metric::Correlation)
    }

    /// Nanoseconds per pair by brute force (measured).
    pub(super) fn brute_cost(self, dims: usize) -> f64 {
        match settled(self) {
            Metric::Euclidean | Metric::Cosine | Metric::Correlation => 0.5 + 0.015 * dims as f64,
            Metric::Manhattan | Metric::Chebyshev => 2.0 + 0.3 * dims as f64,
            Metric::Minkowski(_) => 2.0 + 15.0 * dims as f64,
        }
    }
}

/// The plainest name of a metric: powers 1, 2 and infinity have their own.
pub(super) fn settled(metric: Metric) -> Metric {
    match metric {
        Metric::Minkowski(1.0) => Metric::Manhattan,
        Metric::Minkowski(2.0) => Metric::Euclidean,
        Metric::Minkowski(f64::INFINITY) => Metric::Chebyshev,
        other => other,
    }
}

/// Run `$body` with `$measure` bound to the measure of a metric.
macro_rules! with_measure {
    ($metric:expr, $measure:ident => $body:expr) => {
        match $crate::neighbors::metric::settled($metric) {
            $crate::neighbors::Metric::Euclidean => {
                let $measure = $crate::neighbors::metric::Euclid;
                $body
            }
            $crate::neighbors::Metric::Manhattan => {
                let $measure = $crate::neighbors::metric::Manhattan;
                $body
            }
            $crate::neighbors::Metric::Chebyshev => {
                let $measure = $crate::neighbors::metric::Chebyshev;
                $body
            }
            $crate::neighbors::Metric::Minkowski(p) if p > $crate::neighbors::metric::MOST_PLAIN_POWER => {
                let $measure = $crate::neighbors::metric::LargePower(p);
                $body
            }
            $crate::neighbors::Metric::Minkowski(p) => {
                let $measure = $crate::neighbors::metric::Minkowski(p);
                $body
            }
            $crate::neighbors::Metric::Cosine | $crate::neighbors::Metric::Correlation => {
                let $measure = $crate::neighbors::metric::Sphere;
                $body
            }
        }
    };
}
pub(super) use with_measure;

/// Straight line; reduced = square.
#[derive(Debug, Clone, Copy)]
pub(super) struct Euclid;

impl Measure for Euclid {
    // sqrt is correctly rounded: values 2^-49 apart finish at least 2^-51 apart.
    const BLUR: f64 = 1.8e-15;

    #[inline(always)]
    fn add(self, sum: f64, difference: f64) -> f64 {
        sum + difference * difference
    }
    #[inline(always)]
    fn join(self, left: f64, right: f64) -> f64 {
        left + right
    }
    #[inline(always)]
    fn finish(self, reduced: f64) -> f64 {
        reduced.sqrt()
    }
    #[inline(always)]
    fn reduce(self, distance: f64) -> f64 {
        distance * distance
    }
}

/// Half the square between unit rows, that is one minus their cosine. The last
/// coordinate marks rows that have no direction (1) from the others (0).
#[derive(Debug, Clone, Copy)]
pub(super) struct Sphere;

impl Measure for Sphere {
    const BLUR: f64 = 0.0;

    #[inline(always)]
    fn add(self, sum: f64, difference: f64) -> f64 {
        sum + difference * difference
    }
    #[inline(always)]
    fn join(self, left: f64, right: f64) -> f64 {
        left + right
    }
    #[inline(always)]
    fn finish(self, reduced: f64) -> f64 {
        0.5 * reduced
    }
    #[inline(always)]
    fn reduce(self, distance: f64) -> f64 {
        2.0 * distance
    }
    #[inline(always)]
    fn rows(self, left: &[f64], right: &[f64]) -> f64 {
        // Exactly 1 between a row with and a row without direction, so that
        // such ties fall to the index and not to rounding.
        if left.last() != right.last() { 2.0 } else { lanes_of_rows(self, left, right) }
    }
}

/// Sum of absolute differences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manhattan;

impl Measure for Manhattan {
    const BLUR: f64 = 0.0;

    #[inline(always)]
    fn add(self, sum: f64, difference: f64) -> f64 {
        sum + difference.abs()
    }
    #[inline(always)]
    fn join(self, left: f64, right: f64) -> f64 {
        left + right
    }
    #[inline(always)]
    fn finish(self, reduced: f64) -> f64 {
        reduced
    }
    #[inline(always)]
    fn reduce(self, distance: f64) -> f64 {
        distance
    }
}

/// Largest absolute difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chebyshev;

impl Measure for Chebyshev {
    const BLUR: f64 = 0.0;

    #[inline(always)]
    fn add(self, sum: f64, difference: f64) -> f64 {
        self.join(sum, difference.abs())
    }
    #[inline(always)]
    fn join(self, left: f64, right: f64) -> f64 {
        if left > right { left } else { right }
    }
    #[inline(always)]
    fn finish(self, reduced: f64) -> f64 {
        reduced
    }
    #[inline(always)]
    fn reduce(self, distance: f64) -> f64 {
        distance
    }
}

/// p-th root of the sum of p-th powers; reduced = the sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Minkowski(pub f64);

impl Measure for Minkowski {
    // `power` is neither correctly rounded nor promised monotone: a wide blur
    // covers both, in pruning and in the order. Roots divide the relative
    // error by p, hence 1e-12 is plenty for any sensible p.
    const BLUR: f64 = 1e-12;
    const SLIP: f64 = 1e-12;

    #[inline(always)]
    fn add(self, sum: f64, difference: f64) -> f64 {
        sum + power(difference.abs(), self.0)
    }
    #[inline(always)]
    fn join(self, left: f64, right: f64) -> f64 {
        left + right
    }
    #[inline(always)]
    fn finish(self, reduced: f64) -> f64 {
        power(reduced, 1.0 / self.0)
    }
    #[inline(always)]
    fn reduce(self, distance: f64) -> f64 {
        power(distance, self.0)
    }
}

/// Powers up to this are summed as they are: coordinates at working scale, up to 1e30,
/// and differences down to their rounding neither overflow nor vanish.
pub(super) const MOST_PLAIN_POWER: f64 = 8.0;

/// [`Minkowski`] with a large power, which coordinates themselves would not survive: two
/// lengths a ≥ b are joined as a·(1 + (b/a)^p)^(1/p); reduced = the distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct LargePower(pub f64);

impl Measure for LargePower {
    // As for `Minkowski`: `power` is not promised monotone.
    const BLUR: f64 = 1e-12;
    const SLIP: f64 = 1e-12;

    #[inline(always)]
    fn add(self, sum: f64, difference: f64) -> f64 {
        self.join(sum, difference.abs())
    }
    #[inline(always)]
    fn join(self, left: f64, right: f64) -> f64 {
        let (more, less) = if left > right { (left, right) } else { (right, left) };
        let ratio = less / more;
        // r^p ≤ e^(−p(1 − r)), below rounding beyond this; false for zeros and infinities.
        if self.0 * (1.0 - ratio) <= 37.0 {
            more * power(1.0 + power(ratio, self.0), 1.0 / self.0)
        } else {
            more
        }
    }
    #[inline(always)]
    fn finish(self, reduced: f64) -> f64 {
        reduced
    }
    #[inline(always)]
    fn reduce(self, distance: f64) -> f64 {
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_powers_agree_with_the_formula_where_it_can_be_evaluated() {
        let (left, right) = ([0.3, -1.0, 2.5, 0.0, 1.9], [1.0, 0.4, 0.25, 0.0, -0.35]);
        for p in [8.5, 10.0, 33.0, 200.0] {
            let plain =
                left.iter().zip(right).map(|(a, b): (&f64, f64)| libm::pow((a - b).abs(), p)).sum::<f64>();
            let found = lanes_of_rows(LargePower(p), &left, &right);
            assert!((found / libm::pow(plain, 1.0 / p) - 1.0).abs() < 1e-14, "{p}: {found}");
            let own = Minkowski(p).finish(lanes_of_rows(Minkowski(p), &left, &right));
            assert!((found / own - 1.0).abs() < 1e-14, "{p}: {found} {own}");
        }
    }

    #[test]
    fn the_limit_of_large_powers_is_the_largest_difference() {
        for size in [1e-300, 1e-9, 1.0, 1e9, 1e300] {
            let (left, right) = ([0.3 * size, -size, 2.5 * size], [size, 0.4 * size, 0.25 * size]);
            for p in [1e3, 1e6, 1e300, f64::MAX] {
                let found = lanes_of_rows(LargePower(p), &left, &right);
                let limit = lanes_of_rows(Chebyshev, &left, &right);
                assert!((found / limit - 1.0).abs() < 1e-14, "{p} {size}: {found} {limit}");
            }
        }
        // Equal differences: the number of them to the power 1/p.
        let found = lanes_of_rows(LargePower(1e3), &[1.0; 5], &[0.0; 5]);
        assert!((found - libm::pow(5.0, 1e-3)).abs() < 1e-15);
        assert_eq!(lanes_of_rows(LargePower(1e6), &[2.0, 7.0], &[2.0, 7.0]), 0.0);
    }
}
