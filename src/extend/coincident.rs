//! Rows that lie in the same place, taken as one.
//!
//! Place in the dataflow: before anything that divides by the distance of
//! nearest neighbours (`kernel_map`). Rows coincide when their values are equal
//! or when their distance, as the neighbour engine measures it, is 0 (values
//! so close that the square of their difference vanishes).
//!
//! Cost: a sort of the rows, O(n log n · D), and one search for neighbours.

use std::cmp::Ordering;

use crate::context::Ctx;
use crate::error::Result;
use crate::input::{Csr, PointsRef};
use crate::neighbors::{Algorithm, Hood, Index, Metric};

/// The distinct places among some rows.
#[derive(Debug)]
pub struct Places {
    /// The first row at each place, ascending.
    pub firsts: Vec<usize>,
    /// The place of each row.
    pub place_of: Vec<u32>,
    /// The places, ready for neighbour search.
    pub index: Index,
    /// Distance of each place to the nearest other one; 1 when there is no other.
    pub gaps: Vec<f64>,
}

impl Places {
    /// Find them.
    pub fn of(points: PointsRef<'_>, ctx: &Ctx) -> Result<Places> {
        let mut leaders = equal_rows(points);
        loop {
            let (firsts, place_of) = numbered(&leaders);
            let rows = points.select(&firsts);
            let index = Index::build(rows.view(), Metric::Euclidean, Algorithm::Auto, ctx)?;
            if firsts.len() == 1 {
                return Ok(Places { firsts, place_of, index, gaps: vec![1.0] });
            }
            let nearest = index.neighbors_of_all(Hood::Nearest(1), ctx)?;
            if nearest.distances.iter().all(|&gap| gap > 0.0) {
                return Ok(Places { firsts, place_of, index, gaps: nearest.distances });
            }
            // Each round joins every place that still has a gap of 0 to another.
            for (place, &other) in nearest.indices.iter().enumerate() {
                if nearest.distances[place] == 0.0 {
                    let (one, two) =
                        (leader(&leaders, firsts[place]), leader(&leaders, firsts[other as usize]));
                    leaders[one.max(two)] = one.min(two);
                }
            }
            for row in 0..leaders.len() {
                leaders[row] = leader(&leaders, row);
            }
        }
    }
}

/// The row that stands for `row`, over as many steps as it takes.
fn leader(leaders: &[usize], mut row: usize) -> usize {
    while leaders[row] != row {
        row = leaders[row];
    }
    row
}

/// For each row the first row of equal values.
fn equal_rows(points: PointsRef<'_>) -> Vec<usize> {
    let compare = |left: usize, right: usize| match points {
        PointsRef::Dense(matrix) => {
            let pairs = matrix.row(left).into_iter().zip(matrix.row(right));
            pairs.map(|(a, b)| order(*a, *b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }
        PointsRef::Sparse(matrix) => {
            let by_entry = |a: (u32, f64), b: (u32, f64)| a.0.cmp(&b.0).then(order(a.1, b.1));
            let mut ours = stored(matrix, left);
            let mut theirs = stored(matrix, right);
            loop {
                match (ours.next(), theirs.next()) {
                    (Some(a), Some(b)) if by_entry(a, b).is_eq() => {}
                    (Some(a), Some(b)) => return by_entry(a, b),
                    (a, b) => return a.is_some().cmp(&b.is_some()),
                }
            }
        }
    };
    let mut sorted: Vec<usize> = (0..points.rows()).collect();
    sorted.sort_unstable_by(|&left, &right| compare(left, right).then(left.cmp(&right)));
    let mut leaders: Vec<usize> = (0..points.rows()).collect();
    for pair in sorted.windows(2) {
        if compare(pair[0], pair[1]).is_eq() {
            leaders[pair[1]] = leaders[pair[0]];
        }
    }
    leaders
}

/// Order of numbers in which both zeros are equal.
fn order(a: f64, b: f64) -> Ordering {
    (a + 0.0).total_cmp(&(b + 0.0))
}

/// Entries of a sparse row that are not zero.
fn stored(matrix: &Csr, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
    let (columns, values) = matrix.row(row);
    columns.iter().copied().zip(values.iter().copied()).filter(|(_, value)| *value != 0.0)
}

/// Leaders as consecutive numbers.
fn numbered(leaders: &[usize]) -> (Vec<usize>, Vec<u32>) {
    let mut firsts = Vec::new();
    let mut place_of = vec![0u32; leaders.len()];
    for (row, &leader) in leaders.iter().enumerate() {
        // A leader is the first of its rows, so its number is known by now.
        place_of[row] = if leader == row {
            firsts.push(row);
            (firsts.len() - 1) as u32
        } else {
            place_of[leader]
        };
    }
    (firsts, place_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn places(points: PointsRef<'_>) -> Places {
        let ctx = Ctx::new(1, 0);
        ctx.install(|| Places::of(points, &ctx)).unwrap()
    }

    #[test]
    fn equal_rows_are_one_place() {
        let points = array![[1.0, 0.0], [3.0, 0.0], [1.0, -0.0], [3.0, 0.0], [0.0, 0.0]];
        let found = places(PointsRef::Dense(points.view()));
        assert_eq!((found.firsts, found.place_of), (vec![0, 1, 4], vec![0, 1, 0, 1, 2]));
        assert_eq!(found.gaps, [1.0, 2.0, 1.0]);
        // A stored zero is no difference.
        let sparse = Csr {
            cols: 2,
            offsets: vec![0, 1, 3, 4],
            indices: vec![0, 0, 1, 1],
            values: vec![2.0, 2.0, 0.0, 2.0],
        };
        assert_eq!(places(PointsRef::Sparse(&sparse)).place_of, [0, 0, 1]);
    }

    #[test]
    fn what_no_distance_can_tell_apart_is_one_place() {
        let points = array![[1.0], [0.0], [1e-170], [2e-170], [3e-170]];
        let found = places(PointsRef::Dense(points.view()));
        assert_eq!(found.place_of, [0, 1, 1, 1, 1]);
        assert_eq!(found.gaps, [1.0, 1.0]);
        let constant = Array2::<f64>::ones((300, 3));
        let found = places(PointsRef::Dense(constant.view()));
        assert_eq!((found.firsts, found.gaps), (vec![0], vec![1.0]));
    }
}
