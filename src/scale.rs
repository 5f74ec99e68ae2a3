//! A power of two that numbers were multiplied by.
//!
//! Data at an extreme scale is brought near one by a power of two, which is exact, so
//! that sums of squares neither overflow nor vanish. The driver ([`crate::method`]) does
//! this once before a fit and takes it back from the results; no stage in between
//! depends on it.

use serde::{Deserialize, Serialize};

/// Beyond these bounds lengths do not fit into single precision, and a little further
/// out squares and their sums leave the range of `f64` or lose their digits.
const COMFORT: (f64, f64) = (1e-30, 1e30);

/// A power of two that data was multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    exponent: i32,
}

impl Scale {
    /// Data as it came.
    pub const ONE: Scale = Scale { exponent: 0 };

    /// The scale that brings `largest` near one, if it is extreme.
    pub fn for_largest(largest: f64) -> Scale {
        if largest == 0.0 || !largest.is_finite() || (largest >= COMFORT.0 && largest <= COMFORT.1) {
            return Scale::ONE;
        }
        Scale { exponent: -libm::ilogb(largest) }
    }

    /// The scale that brings `largest` between one and two, however near it is.
    pub fn to_unit(largest: f64) -> Scale {
        if largest > 0.0 && largest.is_finite() {
            Scale { exponent: -libm::ilogb(largest) }
        } else {
            Scale::ONE
        }
    }

    /// This scale `count` times: what a quantity is multiplied by that goes with this
    /// power of the scaled one.
    pub fn power(self, count: i32) -> Scale {
        Scale { exponent: self.exponent * count }
    }

    /// This scale and then another.
    pub fn then(self, other: Scale) -> Scale {
        Scale { exponent: self.exponent + other.exponent }
    }

    /// Whether anything needs to be done.
    pub fn is_one(self) -> bool {
        self.exponent == 0
    }

    /// A value of the data at working scale.
    pub fn into(self, value: f64) -> f64 {
        times_power(value, self.exponent)
    }

    /// A length at working scale, in the data's own units.
    pub fn back(self, length: f64) -> f64 {
        times_power(length, -self.exponent)
    }

    /// A value of the data that goes with the root of what was scaled.
    pub fn into_root(self, value: f64) -> f64 {
        let odd = if self.exponent.rem_euclid(2) == 1 { std::f64::consts::SQRT_2 } else { 1.0 };
        times_power(value, self.exponent.div_euclid(2)) * odd
    }

    /// A squared length at working scale, in the data's own units; what leaves
    /// the range of `f64` stops at its ends.
    pub fn back_squared(self, squared: f64) -> f64 {
        times_power(squared, -2 * self.exponent).clamp(-f64::MAX, f64::MAX)
    }
}

/// `value * 2^exponent`, in two steps so that the power itself stays in range.
fn times_power(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_data_is_left_alone() {
        assert!(Scale::for_largest(0.0).is_one());
        assert!(Scale::for_largest(1e-30).is_one());
        assert!(Scale::for_largest(1e30).is_one());
    }

    #[test]
    fn extreme_data_comes_near_one_and_back_exactly() {
        for largest in [1e-300, 3e-150, 7e150, 1e300] {
            let scale = Scale::for_largest(largest);
            let inside = scale.into(largest);
            assert!((1.0..2.0).contains(&inside), "{largest} became {inside}");
            assert_eq!(scale.back(inside), largest);
        }
    }

    #[test]
    fn squares_stop_at_the_end_of_the_range() {
        let scale = Scale::for_largest(1e200);
        assert_eq!(scale.back_squared(1.0), f64::MAX);
    }
}
