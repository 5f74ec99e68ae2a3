//! Exponential, logarithm and power with the same bits on every machine.
//!
//! `f64::exp` is the C library's, which has several versions and chooses one by the CPU.
//! These are sums and products alone, in one order, so that they vectorise and every
//! instruction set gives the same bits. x = n·ln 2 + r with |r| ≤ ½ ln 2; e^r by its
//! Taylor series; e^x = 2^n e^r. The error is below 0.7 units in the last place.
//!
//! Other elementary functions are rare and come from `libm`, which is written in Rust;
//! clippy.toml refuses those of the standard library.

use std::f64::consts::LOG2_E;

/// Adding 1.5·2⁵² rounds to the next integer, which then is in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has 21 zero bits at its end, so that n times it is exact.
const LN_2: [f64; 2] = [f64::from_bits(0x3fe6_2e42_fee0_0000), f64::from_bits(0x3dea_39ef_3579_3c76)];
/// Below e^LEAST is nothing, above e^MOST is infinity.
const LEAST: f64 = -746.0;
const MOST: f64 = 710.0;

/// 1/k! for k = 2..=13: the next term is below 2⁻⁵⁷ of the result.
const TAYLOR: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// e^x: 0 and infinity at the ends of the range, subnormal results rounded once.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    exp_of_sum(x, 0.0)
}

/// e^(x + tail), `tail` small beside x.
#[inline(always)]
fn exp_of_sum(x: f64, tail: f64) -> f64 {
    // Comparisons and not `max` and `min`, which would turn NaN into a number.
    let x = if x < LEAST { LEAST } else { x };
    let x = if x > MOST { MOST } else { x };
    let rounded = x * LOG2_E + ROUND;
    let n = rounded - ROUND;
    // r with what rounding it lost.
    let (high, low) = (x - n * LN_2[0], n * LN_2[1] - tail);
    let r = high - low;
    let lost = (high - r) - low;
    // The sum 1 + r with what rounding it lost, then the rest, which is small.
    let sum = 1.0 + r;
    let rest = ((1.0 - sum) + r) + (r * r * series(r) + lost);
    // 2^n in two factors: one alone would be out of range at both ends.
    let twice = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(2 * 1023);
    let half = twice >> 1;
    let power = |biased: u64| f64::from_bits(biased << 52);
    (sum + rest) * power(half) * power(twice.wrapping_sub(half))
}

/// x^y for x ≥ 0 and y > 0, within a unit in the last place where |y ln x| < 30.
#[inline(always)]
pub(crate) fn power(x: f64, y: f64) -> f64 {
    let (high, low) = ln_parts(x);
    // The product of the leading halves is exact.
    let (high_half, y_half) = (leading_half(high), leading_half(y));
    let rest = (y - y_half) * high_half + y * ((high - high_half) + low);
    let result = exp_of_sum(y_half * high_half, rest);
    let result = if x == 0.0 { 0.0 } else { result };
    // Infinity and NaN are their own powers.
    if x < f64::INFINITY { result } else { x }
}

/// ln x of a positive number.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    let (high, low) = ln_parts(x);
    high + low
}

/// ln x of a positive number in two parts, together good to about 60 bits.
///
/// x = 2^k m with √½ ≤ m < √2; ln m = 2 artanh s, s = (m − 1)/(m + 1).
#[inline(always)]
fn ln_parts(x: f64) -> (f64, f64) {
    const ONE: u64 = 1.0_f64.to_bits();
    const ROOT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const INTEGER: f64 = 4_503_599_627_370_496.0; // 2⁵²: adds an integer in the low bits
    // Subnormal numbers are made normal first.
    let small = x < f64::MIN_POSITIVE;
    let (x, shift) = if small { (x * 18_014_398_509_481_984.0, 54.0) } else { (x, 0.0) };
    let above = x.to_bits().wrapping_add(ONE - ROOT_HALF);
    let m = f64::from_bits((above & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
    let k = f64::from_bits((above >> 52) | INTEGER.to_bits()) - (INTEGER + 1023.0) - shift;
    let f = m - 1.0;
    // The denominator, its leading half, and the rest of it.
    let whole = 2.0 + f;
    let half = leading_half(whole);
    let remainder = (2.0 - half) + f;
    let s = f / whole;
    let s_half = leading_half(s);
    let s_rest = ((f - s_half * half) - s_half * remainder) / whole;
    let first = k * LN_2[0];
    let high = first + 2.0 * s_half;
    let lost = (first - high) + 2.0 * s_half;
    (high, lost + (k * LN_2[1] + (2.0 * s_rest + s * artanh_series(s * s))))
}

/// 2(artanh s − s)/s of z = s².
#[inline(always)]
fn artanh_series(z: f64) -> f64 {
    let term = |k: usize| 2.0 / (2 * k + 3) as f64;
    let pair = |k: usize| term(k) + z * term(k + 1);
    let (square, fourth) = (z * z, (z * z) * (z * z));
    let low = pair(0) + square * pair(2);
    let middle = pair(4) + square * pair(6);
    let high = pair(8) + square * pair(10);
    z * (low + fourth * (middle + fourth * high))
}

/// The number with the lower half of its digits cut off.
#[inline(always)]
fn leading_half(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000)
}

/// (e^r − 1 − r)/r², by pairs of terms so that they are computed side by side.
#[inline(always)]
fn series(r: f64) -> f64 {
    let c = &TAYLOR;
    let (square, fourth) = (r * r, (r * r) * (r * r));
    let pair = |k: usize| c[k] + r * c[k + 1];
    let low = pair(0) + square * pair(2);
    let middle = pair(4) + square * pair(6);
    let high = pair(8) + square * pair(10);
    low + fourth * (middle + fourth * high)
}

/// [`exp`] of every value, by the widest instructions there are.
pub(crate) fn exp_in_place(values: &mut [f64]) {
    pulp::Arch::new().dispatch(ExpInPlace(values));
}

/// [`ln`] of every value, by the widest instructions there are.
pub(crate) fn ln_in_place(values: &mut [f64]) {
    pulp::Arch::new().dispatch(LnInPlace(values));
}

struct LnInPlace<'a>(&'a mut [f64]);

impl pulp::WithSimd for LnInPlace<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.0.iter_mut().for_each(|value| *value = ln(*value));
    }
}

struct ExpInPlace<'a>(&'a mut [f64]);

impl pulp::WithSimd for ExpInPlace<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.0.iter_mut().for_each(|value| *value = exp(*value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::draw;

    /// a + b and what rounding lost.
    fn sum(a: f64, b: f64) -> (f64, f64) {
        let s = a + b;
        let part = s - a;
        (s, (a - (s - part)) + (b - part))
    }

    /// (a + a′)·(b + b′) to twice the digits.
    fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        let product = a.0 * b.0;
        let lost = a.0.mul_add(b.0, -product);
        sum(product, lost + a.0 * b.1 + a.1 * b.0)
    }

    fn plus(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        let (s, lost) = sum(a.0, b.0);
        sum(s, lost + a.1 + b.1)
    }

    /// e^x·2^-n with n = ⌊x/ln 2⌉ to about thirty digits, by the series of e^(x/2¹⁰) in
    /// pairs of numbers, squared ten times; and n.
    fn truth(x: f64) -> ((f64, f64), i32) {
        // ln 2 = 0.693147180559945309417232121458176568075500134360255254120680…
        let ln_2 = (std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
        let n = (x / ln_2.0).round();
        let r = plus((x, 0.0), times((-n, 0.0), ln_2));
        let r = (r.0 / 1024.0, r.1 / 1024.0);
        let mut total = (1.0, 0.0);
        for k in (1..=12).rev() {
            // Horner: 1 + r/k·(…); 1/k to twice the digits.
            let inverse = 1.0 / f64::from(k);
            let lost = (-inverse).mul_add(f64::from(k), 1.0) / f64::from(k);
            total = plus((1.0, 0.0), times(times(r, (inverse, lost)), total));
        }
        (0..10).for_each(|_| total = times(total, total));
        (total, n as i32)
    }

    /// The error in units of the last place of a normal result.
    fn error(x: f64) -> f64 {
        let ((value, rest), n) = truth(x);
        let mut got = exp(x);
        // Undone in two steps, exactly.
        got = got * 2.0_f64.powi(-(n / 2)) * 2.0_f64.powi(-(n - n / 2));
        let unit = if value < 1.0 { f64::EPSILON / 2.0 } else { f64::EPSILON };
        ((got - value) - rest).abs() / unit
    }

    #[test]
    fn the_truth_is_true() {
        // e and 1/e to 32 digits, in two numbers each.
        let known = [
            (1.0, std::f64::consts::E, 1.445_646_891_729_250_2e-16),
            (-1.0, 0.367_879_441_171_442_33, -1.242_875_367_278_836_4e-17),
        ];
        for (x, value, rest) in known {
            let ((high, low), n) = truth(x);
            let scale = 2.0_f64.powi(n);
            assert_eq!(high * scale, value);
            assert!((low * scale - rest).abs() < 1e-28, "{x}: {}", low * scale);
        }
    }

    #[test]
    fn the_error_is_below_seven_tenths_of_a_unit() {
        let mut stream = crate::Ctx::new(1, 7).stream("exp");
        let mut worst = 0.0_f64;
        for reach in [1e-3, 0.4, 1.0, 30.0, 700.0] {
            (0..100_000).for_each(|_| worst = worst.max(error(draw(&mut stream) * reach)));
        }
        // Where n changes, and the ends of the normal range.
        for n in -1021..1023 {
            let edge = (f64::from(n) + 0.5) * std::f64::consts::LN_2;
            [edge, edge.next_down(), edge.next_up()].into_iter().for_each(|x| worst = worst.max(error(x)));
        }
        assert!(worst < 0.7, "{worst}");
    }

    #[test]
    fn powers_are_good_to_the_last_place() {
        // Squares, cubes and whole powers have a truth in pairs of numbers.
        let mut stream = crate::Ctx::new(1, 8).stream("power");
        let mut worst = 0.0_f64;
        for y in [1.0, 2.0, 3.0, 7.0] {
            for reach in [1.5_f64, 10.0, 1e4] {
                for _ in 0..20_000 {
                    let x = draw(&mut stream).abs() * reach;
                    let value = (1..y as usize).fold((x, 0.0), |value, _| times(value, (x, 0.0)));
                    let unit = value.0.next_up() - value.0;
                    worst = worst.max((((power(x, y) - value.0) - value.1) / unit).abs());
                }
            }
        }
        // A root taken back.
        for y in [1.5, 2.2, 5.3] {
            for _ in 0..20_000 {
                let x = draw(&mut stream).abs() * 1e3 + 1e-3;
                assert!((power(power(x, 1.0 / y), y) / x - 1.0).abs() < 2e-15, "{x} {y}");
            }
        }
        assert!(worst < 0.75, "{worst}");
        assert_eq!(power(0.0, 1.7), 0.0);
        assert_eq!(power(1.0, 1e300), 1.0);
        assert_eq!(power(f64::INFINITY, 0.5), f64::INFINITY);
        assert!(power(f64::NAN, 2.0).is_nan());
        assert_eq!(power(1e300, 3.0), f64::INFINITY);
        assert_eq!(power(1e-300, 3.0), 0.0);
        assert_eq!(power(5e-324, 0.5), 2.222_758_749_485_077_5e-162);
    }

    #[test]
    fn ln_undoes_exp() {
        for step in -70_000..70_000 {
            let x = f64::from(step) / 100.0 + 0.003;
            // exp rounds its result by 0.7 units, which is as much in x.
            assert!((ln(exp(x)) - x).abs() <= 2.0 * f64::EPSILON * x.abs().max(1.0), "{x}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(2.0), std::f64::consts::LN_2);
        assert_eq!(ln(5e-324), -744.440_071_921_381_2);
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert!(exp(f64::NAN).is_nan() && exp(-f64::NAN).is_nan());
        assert_eq!(exp(-1e300), 0.0);
        assert_eq!(exp(1e300), f64::INFINITY);
        assert_eq!(exp(5e-324), 1.0);
        // ln of the largest number, and the next.
        assert!((exp(709.782_712_893_384) / f64::MAX - 1.0).abs() < 1e-12);
        assert_eq!(exp(709.782_712_893_384_1), f64::INFINITY);
        // ln of half the least subnormal number is −745.1332191019412…
        assert_eq!(exp(-745.133_219_101_941_2), 0.0);
        assert_eq!(exp(-745.133_219_101_941_1), f64::from_bits(1));
        assert_eq!(exp(-746.0), 0.0);
        // Subnormal results, in units of the least: rounded once from a value good to 0.7 units
        // of a normal number.
        for step in 0..2_000 {
            let x = -708.5 - 0.018 * f64::from(step);
            let ((value, rest), n) = truth(x);
            let units = (value + rest) * 2.0_f64.powi(n + 1074);
            assert!((exp(x).to_bits() as f64 - units).abs() < 0.51, "{x}");
        }
    }

    #[test]
    fn slices_have_the_bits_of_single_values_and_it_never_falls() {
        let values: Vec<f64> = (0..40_003).map(|i| -750.0 + f64::from(i) * 0.0366).collect();
        for length in [0, 1, 2, 3, 7, 8, 40_003] {
            let mut slice = values[..length].to_vec();
            exp_in_place(&mut slice);
            let same = slice.iter().zip(&values).all(|(got, &x)| got.to_bits() == exp(x).to_bits());
            assert!(same, "{length}");
        }
        let mut odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -800.0];
        exp_in_place(&mut odd);
        assert!(odd[0].is_nan() && odd[1..] == [f64::INFINITY, 0.0, 1.0, 0.0]);
        assert!(values.windows(2).all(|pair| exp(pair[0]) <= exp(pair[1])));
    }
}
