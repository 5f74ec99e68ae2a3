//! How two rows are compared: one canonical floating-point order of operations,
//! whatever the metric (the metrics themselves are in `metric`).
//!
//! Place in the dataflow: below every engine. Whatever an engine prunes or
//! guesses, the numbers it reports come from [`Measure`], summed in one fixed
//! order, so that tree, brute force, batch and single queries agree bit for
//! bit. Cost: O(D) per pair.
//!
//! Engines compare *reduced* distances (squares, sums of powers), which are
//! cheaper; [`Measure::finish`] turns one into the distance. Neighbours are
//! ordered by (finished distance, index). Two different reduced values can
//! finish equal (a square root merges neighbours on the number line), so
//! [`Measure::before`] falls back on the finished values when they are within
//! [`Measure::BLUR`] of each other.
//!
//! The fixed order: coordinate `d` goes into lane `d % LANES`, lanes are joined
//! in ascending order. Up to `LANES` coordinates that is the plain left-to-right
//! sum. Rounding is monotone, so bounds of boxes summed in the same order never
//! exceed the reduced distance of a point inside: pruning needs no tolerance.

/// Partial sums per row; also the number of coordinates summed left to right.
pub(super) const LANES: usize = 16;

/// A neighbour under way: its reduced distance and its index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub reduced: f64,
    pub index: u32,
}

/// A metric as the engines see it.
pub(super) trait Measure: Copy + Send + Sync {
    /// Relative difference below which two reduced values may finish equal (or,
    /// for roots that are not correctly rounded, even out of order).
    const BLUR: f64;

    /// Relative amount by which a bound of a box may exceed the reduced
    /// distance of a point inside (0 where every step rounds monotonically).
    const SLIP: f64 = 0.0;

    /// Take one more coordinate difference into a partial sum.
    fn add(self, sum: f64, difference: f64) -> f64;

    /// Join two partial sums.
    fn join(self, left: f64, right: f64) -> f64;

    /// The distance of a reduced value.
    fn finish(self, reduced: f64) -> f64;

    /// The reduced value of a distance, up to a few roundings.
    fn reduce(self, distance: f64) -> f64;

    /// Reduced distance of two rows of equal length.
    #[inline(always)]
    fn rows(self, left: &[f64], right: &[f64]) -> f64 {
        lanes_of_rows(self, left, right)
    }

    /// A reduced value beyond which everything finishes strictly farther.
    #[inline(always)]
    fn ceiling(self, reduced: f64) -> f64 {
        reduced * (1.0 + Self::BLUR)
    }

    /// The ceiling that belongs to a finished distance (a radius).
    fn ceiling_of_distance(self, distance: f64) -> f64 {
        // Eight extra roundings cover `reduce` itself; tiny radii keep the
        // smallest normal number so that squares that underflow stay inside.
        self.ceiling(self.reduce(distance) * (1.0 + 1e-15)).max(f64::MIN_POSITIVE)
    }

    /// Whether `left` comes before `right` by (distance, index).
    #[inline(always)]
    fn before(self, left: Entry, right: Entry) -> bool {
        if left.reduced == right.reduced {
            return left.index < right.index;
        }
        let gap = (left.reduced - right.reduced).abs();
        if gap > Self::BLUR * left.reduced.max(right.reduced) {
            return left.reduced < right.reduced;
        }
        self.before_when_close(left, right)
    }

    /// [`Measure::before`] for values too close to order by the reduced ones.
    #[inline(never)]
    fn before_when_close(self, left: Entry, right: Entry) -> bool {
        let (near, far) = (self.finish(left.reduced), self.finish(right.reduced));
        near < far || (near == far && left.index < right.index)
    }
}

/// The canonical sum over the coordinates of two rows.
#[inline(always)]
pub(super) fn lanes_of_rows<M: Measure>(measure: M, left: &[f64], right: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (left_whole, left_rest) = left.as_chunks::<LANES>();
    let (right_whole, right_rest) = right.as_chunks::<LANES>();
    for (a, b) in left_whole.iter().zip(right_whole) {
        for lane in 0..LANES {
            lanes[lane] = measure.add(lanes[lane], a[lane] - b[lane]);
        }
    }
    for (lane, (a, b)) in left_rest.iter().zip(right_rest).enumerate() {
        lanes[lane] = measure.add(lanes[lane], a - b);
    }
    join_lanes(measure, &lanes)
}

/// Join the lanes in ascending order.
#[inline(always)]
pub(super) fn join_lanes<M: Measure>(measure: M, lanes: &[f64; LANES]) -> f64 {
    let mut sum = lanes[0];
    for &lane in &lanes[1..] {
        sum = measure.join(sum, lane);
    }
    sum
}

/// Sort by (distance, index) and turn reduced values into distances.
pub(super) fn finish_sorted<M: Measure>(
    measure: M,
    entries: &mut [Entry],
    indices: &mut Vec<u32>,
    distances: &mut Vec<f64>,
) {
    for entry in entries.iter_mut() {
        entry.reduced = measure.finish(entry.reduced);
    }
    entries.sort_unstable_by(|left, right| {
        left.reduced.total_cmp(&right.reduced).then(left.index.cmp(&right.index))
    });
    indices.extend(entries.iter().map(|entry| entry.index));
    distances.extend(entries.iter().map(|entry| entry.reduced));
}

#[cfg(test)]
mod tests {
    use super::super::metric::{Euclid, Minkowski};
    use super::*;

    #[test]
    fn close_squares_are_ordered_by_their_roots() {
        let near = 1.0 + f64::EPSILON;
        assert_eq!(near.sqrt(), 1.0f64.sqrt());
        let (one, two) = (Entry { reduced: 1.0, index: 7 }, Entry { reduced: near, index: 3 });
        assert!(Euclid.before(two, one) && !Euclid.before(one, two));
    }

    #[test]
    fn lanes_are_the_plain_sum_for_few_coordinates() {
        let left: Vec<f64> = (0..LANES).map(|d| 0.1 * d as f64).collect();
        let right = vec![0.7; LANES];
        let plain = left.iter().zip(&right).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b));
        assert_eq!(lanes_of_rows(Euclid, &left, &right), plain);
    }

    #[test]
    fn a_radius_keeps_what_lies_on_it() {
        for distance in [0.0, 1e-200, 0.1, 3.0f64.sqrt(), 1e9] {
            assert!(Euclid.reduce(distance) <= Euclid.ceiling_of_distance(distance));
            assert!(Minkowski(3.0).reduce(distance) <= Minkowski(3.0).ceiling_of_distance(distance));
        }
    }
}
