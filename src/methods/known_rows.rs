//! Which training row a new row is, by what it brings where there are no points to
//! compare: its edges or its affinities to the training rows.
//!
//! Place: before any formula for new rows, so that training rows get their own
//! coordinates. A row of a full matrix of distances says so itself, by a distance of 0.
//!
//! Cost: edges by binary search, affinities by a look at every training row.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::kernel::affinity::Affinity;
use crate::kernel::given_affinity::ASYMMETRY;
use crate::neighbors::Neighbors;

/// The training rows by their edges to the others, as they were given. A row need not
/// name itself: one that brings all edges of a training row, to the last bit, and of no
/// other, is that row.
#[derive(Debug, Serialize, Deserialize)]
pub struct KnownEdges {
    lists: Neighbors,
    /// Rows in the order of their lists.
    sorted: Vec<u32>,
}

type Edges<'a> = (&'a [u32], &'a [f64]);

fn edges_of(lists: &Neighbors, row: usize) -> Edges<'_> {
    let range = lists.offsets[row]..lists.offsets[row + 1];
    (&lists.indices[range.clone()], &lists.distances[range])
}

fn compare(one: Edges<'_>, other: Edges<'_>) -> Ordering {
    one.0.cmp(other.0).then_with(|| {
        let pairs = one.1.iter().zip(other.1);
        pairs.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

impl KnownEdges {
    /// From the edges of each row to others, each list in the order of
    /// [`super::neighborhood`].
    pub fn new(lists: Neighbors) -> Self {
        let mut sorted: Vec<u32> = (0..lists.offsets.len() as u32 - 1).collect();
        sorted.sort_by(|&a, &b| compare(edges_of(&lists, a as usize), edges_of(&lists, b as usize)));
        KnownEdges { lists, sorted }
    }

    /// The only row with these edges.
    fn find(&self, edges: Edges<'_>) -> Option<u32> {
        let at = |place: usize| compare(edges_of(&self.lists, self.sorted[place] as usize), edges);
        let first =
            self.sorted.partition_point(|&row| compare(edges_of(&self.lists, row as usize), edges).is_lt());
        let found = (first < self.sorted.len() && at(first).is_eq()).then(|| self.sorted[first])?;
        let alone = first + 1 == self.sorted.len() || at(first + 1).is_ne();
        alone.then_some(found)
    }

    /// The lists with those of training rows replaced by an edge of length 0 to the row
    /// itself, as long as it is one that `counts`.
    pub fn named(&self, near: Neighbors, counts: impl Fn(u32) -> bool) -> Neighbors {
        let rows = near.offsets.len() - 1;
        let twins: Vec<Option<u32>> = (0..rows)
            .map(|row| edges_of(&near, row))
            .map(|edges| if edges.0.is_empty() { None } else { self.find(edges) })
            .map(|found| found.filter(|&row| counts(row)))
            .collect();
        if twins.iter().all(Option::is_none) {
            return near;
        }
        let mut named = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
        for (row, twin) in twins.into_iter().enumerate() {
            let (indices, distances) = edges_of(&near, row);
            match twin {
                Some(twin) => {
                    named.indices.push(twin);
                    named.distances.push(0.0);
                }
                None => {
                    named.indices.extend_from_slice(indices);
                    named.distances.extend_from_slice(distances);
                }
            }
            named.offsets.push(named.indices.len());
        }
        named
    }
}

/// The training rows by their affinities: a new row that brings those of one of them is
/// that row. The two directions of an affinity may differ by rounding, and so may these.
pub(super) struct KnownAffinities<'a> {
    affinity: &'a Affinity,
    /// What each row is to itself, at working scale; only asked for of a full matrix.
    own: Vec<f64>,
    /// What may count as rounding in each row.
    rounding: Vec<f64>,
}

impl<'a> KnownAffinities<'a> {
    pub(super) fn new(affinity: &'a Affinity, own: Vec<f64>) -> Self {
        let rounding = |i: usize| {
            let mut most = 0.0_f64;
            affinity.for_each(i, |_, weight| most = most.max(weight));
            ASYMMETRY * most
        };
        KnownAffinities { affinity, own, rounding: (0..affinity.len()).map(rounding).collect() }
    }

    /// Whether row `i` has these affinities (ascending).
    pub(super) fn is(&self, i: usize, list: &[(usize, f64)]) -> bool {
        self.gap(i, list, self.rounding[i]).is_some()
    }

    /// The row that has these affinities (ascending), the nearest of several. Where
    /// several are as near and are not the `same`, nothing says which of them it is.
    pub(super) fn find(&self, list: &[(usize, f64)], same: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        let mut unsure = false;
        for i in 0..self.affinity.len() {
            let allowed = best.map_or(self.rounding[i], |best| best.0.min(self.rounding[i]));
            let Some(gap) = self.gap(i, list, allowed) else { continue };
            match best {
                Some((least, row)) if gap == least => unsure |= !same(row, i),
                _ => (best, unsure) = (Some((gap, i)), false),
            }
        }
        best.map(|best| best.1).filter(|_| !unsure)
    }

    /// Largest difference from the affinities of row `i`, unless more than allowed. What
    /// a row is to itself is known of a full matrix alone.
    fn gap(&self, i: usize, list: &[(usize, f64)], allowed: f64) -> Option<f64> {
        let others = list.iter().copied().filter(|pair| pair.0 != i);
        match self.affinity {
            Affinity::Dense(known) => {
                let own = self.own.get(i).copied().unwrap_or(0.0);
                let itself = list.binary_search_by_key(&i, |pair| pair.0).map_or(0.0, |at| list[at].1);
                if (itself - own).abs() > ASYMMETRY * own {
                    return None;
                }
                let known = known.row(i).into_iter().copied().enumerate().filter(|pair| pair.0 != i);
                difference(known, others, allowed)
            }
            Affinity::Sparse(graph) => {
                let (targets, weights) = graph.row(i);
                let known = targets.iter().zip(weights).map(|(&j, &weight)| (j as usize, weight));
                difference(known, others, allowed)
            }
        }
    }
}

/// Largest difference of two ascending lists, 0 where they have nothing.
fn difference(
    known: impl Iterator<Item = (usize, f64)>,
    new: impl Iterator<Item = (usize, f64)>,
    allowed: f64,
) -> Option<f64> {
    let (mut known, mut new, mut worst) = (known.peekable(), new.peekable(), 0.0_f64);
    let value = |pair: Option<(usize, f64)>| pair.map_or(0.0, |pair| pair.1);
    while let Some(j) = [known.peek(), new.peek()].into_iter().flatten().map(|pair| pair.0).min() {
        let one = value(known.next_if(|pair| pair.0 == j));
        worst = worst.max((one - value(new.next_if(|pair| pair.0 == j))).abs());
        if worst > allowed {
            return None;
        }
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(rows: &[&[(u32, f64)]]) -> Neighbors {
        let mut lists = Neighbors { offsets: vec![0], indices: vec![], distances: vec![] };
        for row in rows {
            lists.indices.extend(row.iter().map(|edge| edge.0));
            lists.distances.extend(row.iter().map(|edge| edge.1));
            lists.offsets.push(lists.indices.len());
        }
        lists
    }

    #[test]
    fn a_row_is_known_by_edges_that_no_other_has() {
        // Rows 1 and 3 have the same edges, row 4 none.
        let edges: [&[(u32, f64)]; 5] =
            [&[(1, 1.0)], &[(0, 1.0), (2, 2.0)], &[(1, 2.0)], &[(0, 1.0), (2, 2.0)], &[]];
        let known = KnownEdges::new(lists(&edges));
        let found = known.named(lists(&edges), |_| true);
        assert_eq!(found, lists(&[&[(0, 0.0)], edges[1], &[(2, 0.0)], edges[3], edges[4]]));
        // Not a bit more, nor an edge less, and only rows that count.
        let near: [&[(u32, f64)]; 3] = [&[(1, 1.0 + f64::EPSILON)], &[(0, 1.0)], &[(1, 2.0)]];
        assert_eq!(known.named(lists(&near), |row| row != 2), lists(&near));
    }
}
