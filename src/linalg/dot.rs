//! One dot product for everyone: eight partial sums, always added in the same
//! order, so that the bits do not depend on the machine or the caller.

/// Partial sums that a CPU adds side by side; their number fixes the order of
/// the additions, hence the bits.
pub(crate) const PARTS: usize = 8;

/// a·b summed in the order of the entries, for the short rows of one neighbourhood.
pub(crate) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A dot product in eight partial sums.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut parts = [0.0; PARTS];
    let (left, right) = (a.chunks_exact(PARTS), b.chunks_exact(PARTS));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        for part in 0..PARTS {
            parts[part] += x[part] * y[part];
        }
    }
    parts.iter().sum::<f64>() + rest
}

/// [`dot`] by the widest instructions there are. A type and not a closure: pulp
/// calls closures through a shim that is compiled without them.
pub(crate) struct Dot<'a>(pub &'a [f64], pub &'a [f64]);

impl pulp::NullaryFnOnce for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        dot(self.0, self.1)
    }
}
