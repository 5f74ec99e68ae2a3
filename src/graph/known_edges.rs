//! Which training row a new row is, by its edges to the training rows, where there are
//! no points to compare.
//!
//! Cost: binary search among the sorted lists.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::neighbors::Neighbors;

/// The training rows by their edges to the others, as they were given. A row need not
/// name itself: one that brings all edges of a training row, to the last bit, and of no
/// other, is that row.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
