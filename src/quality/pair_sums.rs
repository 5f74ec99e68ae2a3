//! Sums over the pairs of one row, in X and in Y at once.
//!
//! Place: the innermost loop of `distance_measures`. Eight partial sums, added in a fixed order.
//! Cost: O(n) a row.

use crate::linalg::PARTS;

/// Number of sums.
pub(super) const COUNT: usize = 9;
/// Σ δ, Σ δ², Σ d, Σ d², Σ δ d, Σ (d − δ)², Σ (d − δ)² / δ where δ > 0, Σ δ⁴ and
/// Σ δ² (|y_j|² − d²).
pub(super) type Sums = [f64; COUNT];

/// A row of distances in X and in Y, what each is multiplied by, and the squared norms of the
/// rows of Y. The row itself must be at no distance.
pub(super) struct RowSums<'a> {
    pub given: &'a [f64],
    pub placed: &'a [f64],
    pub factors: (f64, f64),
    pub norms: &'a [f64],
}

impl pulp::NullaryFnOnce for RowSums<'_> {
    type Output = Sums;

    #[inline(always)]
    fn call(self) -> Sums {
        let (given, rest_given) = self.given.as_chunks::<PARTS>();
        let (placed, rest_placed) = self.placed.as_chunks::<PARTS>();
        let (norms, rest_norms) = self.norms.as_chunks::<PARTS>();
        let mut lanes = [[0.0; PARTS]; COUNT];
        for ((given, placed), norms) in given.iter().zip(placed).zip(norms) {
            add(&mut lanes, given, placed, norms, self.factors);
        }
        // What is missing is a row with itself, which adds nothing.
        let filled = |rest: &[f64]| {
            let mut whole = [0.0; PARTS];
            whole[..rest.len()].copy_from_slice(rest);
            whole
        };
        add(&mut lanes, &filled(rest_given), &filled(rest_placed), &filled(rest_norms), self.factors);
        lanes.map(|lanes| lanes.iter().sum())
    }
}

#[inline(always)]
fn add(
    lanes: &mut [[f64; PARTS]; COUNT],
    given: &[f64; PARTS],
    placed: &[f64; PARTS],
    norms: &[f64; PARTS],
    factors: (f64, f64),
) {
    for lane in 0..PARTS {
        let (delta, d) = (given[lane] * factors.0, placed[lane] * factors.1);
        let (square, square_placed, gap) = (delta * delta, d * d, (d - delta) * (d - delta));
        let positive = delta > 0.0;
        let share = gap / if positive { delta } else { 1.0 };
        let terms: Sums = [
            delta,
            square,
            d,
            square_placed,
            delta * d,
            gap,
            if positive { share } else { 0.0 },
            square * square,
            square * (norms[lane] - square_placed),
        ];
        for (sums, term) in lanes.iter_mut().zip(terms) {
            sums[lane] += term;
        }
    }
}
