//! Ranks of some rows in one row of distances, by counting.
//!
//! Place in the dataflow: below `distance_rows`, wherever distances are at hand as they are.
//! The rank of j is one more than the number of rows before it by (distance, index): of the rows
//! with a smaller index those at most as far, of the others those nearer. Nothing is sorted.
//! Cost: one comparison per distance and wanted row, by vector instructions.

use pulp::{Arch, NullaryFnOnce};

/// Distances that are read for all wanted rows before the next ones.
const CHUNK: usize = 2048;

/// The ranks of `wanted` rows, from 1 on. The row itself is infinitely far away.
pub(super) fn ranks(distances: &[f64], wanted: &[u32]) -> Vec<u32> {
    Arch::new().dispatch(Count { distances, wanted })
}

/// A type and not a closure: see `walk`.
struct Count<'a> {
    distances: &'a [f64],
    wanted: &'a [u32],
}

impl NullaryFnOnce for Count<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn call(self) -> Vec<u32> {
        let mut ranks = vec![1u32; self.wanted.len()];
        for (chunk, distances) in self.distances.chunks(CHUNK).enumerate() {
            let first = chunk * CHUNK;
            for (rank, &j) in ranks.iter_mut().zip(self.wanted) {
                let j = j as usize;
                let edge = self.distances[j];
                let (before, after) = distances.split_at(j.saturating_sub(first).min(distances.len()));
                let mut nearer = 0u64;
                for &distance in before {
                    nearer += u64::from(distance <= edge);
                }
                for &distance in after {
                    nearer += u64::from(distance < edge);
                }
                *rank += nearer as u32;
            }
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::below;

    #[test]
    fn counts_are_the_places_in_a_stable_sort() {
        let mut stream = crate::Ctx::new(1, 3).stream("ranks");
        for n in [2, 17, 5000] {
            let distances: Vec<f64> = (0..n).map(|_| below(&mut stream, 40) as f64).collect();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
            let wanted: Vec<u32> = (0..n.min(50)).map(|_| below(&mut stream, n) as u32).collect();
            let place = |row: u32| 1 + order.iter().position(|&other| other == row as usize).unwrap() as u32;
            let sorted: Vec<u32> = wanted.iter().map(|&row| place(row)).collect();
            assert_eq!(ranks(&distances, &wanted), sorted, "{n}");
        }
    }
}
