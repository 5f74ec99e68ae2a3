//! What a query keeps of the points it meets: the k nearest, all within a
//! radius, or the single closest of a component.
//!
//! Place in the dataflow: between the engines, which offer candidates in any
//! order, and the sorted rows of `Neighbors`. What is kept does not depend on
//! the order of offers. Cost per offer: O(1) for most (a comparison with the
//! limit), O(k) moves for k up to [`SMALL`], amortised O(1) above.

use std::sync::atomic::{AtomicU64, Ordering};

use super::NeighborRule;
use super::measure::{Entry, Measure};

/// Up to this k the entries stay sorted; beyond, they are thinned in bulk.
const SMALL: usize = 32;

/// Beyond any real neighbour.
pub(super) const NOBODY: Entry = Entry { reduced: f64::INFINITY, index: u32::MAX };

/// A collector of neighbours.
pub(super) trait Keep<M: Measure>: Send {
    /// Reduced values above this are surely not wanted.
    fn limit(&self) -> f64;

    /// Everything that does not come before this entry is not wanted.
    fn worst(&self) -> Entry;

    /// Take the entry if it is wanted.
    fn offer(&mut self, entry: Entry);
}

/// The entries a query asked for: k nearest or all within a radius.
#[derive(Debug, Clone)]
pub(super) struct Kept<M> {
    measure: M,
    /// `usize::MAX` for a radius.
    k: usize,
    /// The radius; infinite for k nearest.
    radius: f64,
    entries: Vec<Entry>,
    worst: Entry,
    limit: f64,
}

impl<M: Measure> Kept<M> {
    pub fn new(measure: M, rule: NeighborRule) -> Self {
        let (k, radius, limit, room) = match rule {
            NeighborRule::Nearest(k) => (k, f64::INFINITY, f64::INFINITY, if k <= SMALL { k } else { 2 * k }),
            NeighborRule::Within(radius) => (usize::MAX, radius, measure.ceiling_of_distance(radius), 0),
        };
        Kept { measure, k, radius, entries: Vec::with_capacity(room), worst: NOBODY, limit }
    }

    /// Forget everything, for the next query of the same kind.
    pub fn clear(&mut self) {
        self.entries.clear();
        if self.k != usize::MAX {
            self.worst = NOBODY;
            self.limit = f64::INFINITY;
        }
    }

    /// Number of entries; may exceed k until [`Kept::settle`].
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Thin down to the k nearest (no order) and lend the entries.
    pub fn settle(&mut self) -> &mut [Entry] {
        if self.entries.len() > self.k {
            self.thin();
        }
        &mut self.entries
    }

    #[inline(always)]
    fn tighten(&mut self, worst: Entry) {
        self.worst = worst;
        self.limit = self.measure.ceiling(worst.reduced);
    }

    /// Put an entry in its place among the sorted ones, the last one leaving
    /// if there are k. The wide comparisons settle all but near ties.
    #[inline(always)]
    fn insert_sorted(&mut self, entry: Entry) {
        let clearly_less = entry.reduced * (1.0 - M::BLUR);
        let clearly_more = entry.reduced * (1.0 + M::BLUR);
        let passes = |other: Entry| {
            other.reduced > clearly_more
                || (other.reduced >= clearly_less && self.measure.before(entry, other))
        };
        if self.entries.len() < self.k {
            self.entries.push(entry);
        } else if !passes(self.worst) {
            return;
        }
        let entries = &mut self.entries[..];
        let mut at = entries.len() - 1;
        while at > 0 && passes(entries[at - 1]) {
            entries[at] = entries[at - 1];
            at -= 1;
        }
        entries[at] = entry;
        if entries.len() == self.k {
            let worst = entries[entries.len() - 1];
            self.tighten(worst);
        }
    }

    fn thin(&mut self) {
        let measure = self.measure;
        let order = |left: &Entry, right: &Entry| {
            if left == right {
                std::cmp::Ordering::Equal
            } else if measure.before(*left, *right) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        };
        let (_, last, _) = self.entries.select_nth_unstable_by(self.k - 1, order);
        let last = *last;
        self.entries.truncate(self.k);
        self.tighten(last);
    }
}

impl<M: Measure> Keep<M> for Kept<M> {
    #[inline(always)]
    fn limit(&self) -> f64 {
        self.limit
    }

    #[inline(always)]
    fn worst(&self) -> Entry {
        self.worst
    }

    #[inline(always)]
    fn offer(&mut self, entry: Entry) {
        if self.k <= SMALL {
            if self.k > 0 {
                self.insert_sorted(entry);
            }
        } else if self.k == usize::MAX {
            if self.measure.finish(entry.reduced) <= self.radius {
                self.entries.push(entry);
            }
        } else if self.worst.index == u32::MAX || self.measure.before(entry, self.worst) {
            self.entries.push(entry);
            if self.entries.len() >= 2 * self.k {
                self.thin();
            }
        }
    }
}

/// The closest foreign row of one query row, with what its whole component has
/// found so far as a second limit, shared between threads.
///
/// Sharing changes what is visited, never what is found: the limit only rules
/// out entries strictly farther than one already found.
#[derive(Debug)]
pub(super) struct Closest<'a, M> {
    measure: M,
    best: Entry,
    /// Bits of the component's smallest reduced distance (order of bits =
    /// order of non-negative numbers).
    shared: &'a AtomicU64,
}

impl<'a, M: Measure> Closest<'a, M> {
    pub fn new(measure: M, shared: &'a AtomicU64) -> Self {
        Closest { measure, best: NOBODY, shared }
    }

    /// What was found; [`NOBODY`] when others of the component were closer.
    pub fn best(&self) -> Entry {
        self.best
    }
}

impl<M: Measure> Keep<M> for Closest<'_, M> {
    #[inline(always)]
    fn limit(&self) -> f64 {
        let shared = f64::from_bits(self.shared.load(Ordering::Relaxed));
        self.measure.ceiling(shared.min(self.best.reduced))
    }

    #[inline(always)]
    fn worst(&self) -> Entry {
        self.best
    }

    #[inline(always)]
    fn offer(&mut self, entry: Entry) {
        if self.measure.before(entry, self.best) || self.best == NOBODY {
            self.best = entry;
            self.shared.fetch_min(entry.reduced.to_bits(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::measure::finish_sorted;
    use crate::neighbors::metric::Euclid;

    #[test]
    fn the_k_nearest_do_not_depend_on_the_order_of_offers() {
        for k in [1, 5, 32, 33, 80] {
            let offers: Vec<Entry> = (0..200u32)
                .map(|index| Entry { reduced: f64::from((index * 37) % 20), index: (index * 71) % 200 })
                .collect();
            let mut expected = offers.clone();
            let (mut indices, mut distances) = (Vec::new(), Vec::new());
            finish_sorted(Euclid, &mut expected, &mut indices, &mut distances);
            for turn in 0..3 {
                let mut kept = Kept::new(Euclid, NeighborRule::Nearest(k));
                let mut turned = offers.clone();
                turned.rotate_left(turn * 61);
                turned.into_iter().for_each(|entry| kept.offer(entry));
                let (mut found, mut lengths) = (Vec::new(), Vec::new());
                finish_sorted(Euclid, kept.settle(), &mut found, &mut lengths);
                assert_eq!(found, indices[..k]);
                assert_eq!(lengths, distances[..k]);
            }
        }
    }
}
