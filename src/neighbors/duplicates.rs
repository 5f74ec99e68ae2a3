//! Duplicate rows, taken as one.
//!
//! Place in the dataflow: before anything that divides by the distance of
//! nearest neighbours (`kernel_map`) or needs their geometry (local methods). Rows
//! are duplicates when their values are equal or when their distance, as the neighbour
//! engine measures it, is 0 (values so close that the square of their difference
//! vanishes). What another metric says of them does not count.
//!
//! Cost: a sort of the rows, O(n log n · D), and one search for neighbours; D log n
//! for a row that is looked up among those sorted.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::Result;
use crate::input::PointsRef;
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule};

/// Run `$body` with `$entries` bound to the columns and values of a row that are not
/// zero, in the order of the columns.
macro_rules! with_entries {
    ($row:expr, $entries:ident => $body:expr) => {
        match $row {
            (PointsRef::Dense(matrix), row) => {
                let values = matrix.row(row);
                let all = values.iter().enumerate().map(|(column, &value)| (column as u32, value));
                let mut $entries = all.filter(|(_, value)| *value != 0.0);
                $body
            }
            (PointsRef::Sparse(matrix), row) => {
                let (columns, values) = matrix.row(row);
                let all = columns.iter().copied().zip(values.iter().copied());
                let mut $entries = all.filter(|(_, value)| *value != 0.0);
                $body
            }
        }
    };
}

/// The distinct places among some rows.
#[derive(Debug)]
pub struct DistinctRows {
    /// The first row at each place, ascending.
    pub firsts: Vec<usize>,
    /// The place of each row.
    pub distinct_of: Vec<u32>,
    /// The places, ready for neighbour search.
    pub index: Index,
    /// Distance of each place to the nearest other one; 1 when there is no other.
    pub gaps: Vec<f64>,
}

impl DistinctRows {
    /// Find them.
    pub fn of(points: PointsRef<'_>, ctx: &Ctx) -> Result<DistinctRows> {
        let mut leaders = ctx.install(|| equal_rows(points));
        loop {
            let (firsts, distinct_of) = numbered(&leaders);
            let rows = points.select(&firsts);
            let index = Index::build(rows.view(), Metric::Euclidean, Algorithm::Auto, ctx)?;
            if firsts.len() == 1 {
                return Ok(DistinctRows { firsts, distinct_of, index, gaps: vec![1.0] });
            }
            let nearest = index.neighbors_of_all(NeighborRule::Nearest(1), ctx)?;
            // A gap to values that are missing is no number, and joins nothing.
            if !nearest.distances.contains(&0.0) {
                return Ok(DistinctRows { firsts, distinct_of, index, gaps: nearest.distances });
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

/// Finds a row among others by its values.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// The rows in the order of their values.
    sorted: Vec<u32>,
}

impl Lookup {
    /// Sort the rows. Call inside [`Ctx::install`].
    pub fn of(points: PointsRef<'_>) -> Lookup {
        let mut sorted: Vec<u32> = (0..points.rows() as u32).collect();
        sorted.par_sort_unstable_by(|&left, &right| {
            by_value((points, left as usize), (points, right as usize)).then(left.cmp(&right))
        });
        Lookup { sorted }
    }

    /// The first row of `points`, the rows that were sorted, with the values of row
    /// `row` of `queries`.
    pub fn find(&self, points: PointsRef<'_>, queries: PointsRef<'_>, row: usize) -> Option<u32> {
        let against = |&known: &u32| by_value((points, known as usize), (queries, row));
        let at = self.sorted.partition_point(|known| against(known).is_lt());
        self.sorted.get(at).filter(|known| against(known).is_eq()).copied()
    }
}

/// Whether the rows have equal values.
pub fn are_equal(left: (PointsRef<'_>, usize), right: (PointsRef<'_>, usize)) -> bool {
    by_value(left, right).is_eq()
}

/// Whether the rows have equal values, or a Euclidean distance of zero.
pub fn coincide(left: (PointsRef<'_>, usize), right: (PointsRef<'_>, usize)) -> bool {
    let mut sum = 0.0;
    merged(left, right, |a, b| {
        // Both may be missing, and then they differ by nothing.
        let gap = if order(a, b).is_eq() { 0.0 } else { a - b };
        sum += gap * gap;
        sum == 0.0
    });
    sum == 0.0
}

/// Walk over the columns in which either row has an entry that is not zero, while
/// `go_on` returns true.
fn merged(
    left: (PointsRef<'_>, usize),
    right: (PointsRef<'_>, usize),
    mut go_on: impl FnMut(f64, f64) -> bool,
) {
    with_entries!(left, ours => with_entries!(right, theirs => {
        let (mut one, mut two) = (ours.next(), theirs.next());
        loop {
            let more = match (one, two) {
                (None, None) => return,
                (Some(a), Some(b)) if a.0 == b.0 => {
                    (one, two) = (ours.next(), theirs.next());
                    go_on(a.1, b.1)
                }
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                    one = ours.next();
                    go_on(a.1, 0.0)
                }
                (_, b) => {
                    two = theirs.next();
                    go_on(0.0, b.map_or(0.0, |b| b.1))
                }
            };
            if !more {
                return;
            }
        }
    }))
}

/// For each row the first row of equal values.
fn equal_rows(points: PointsRef<'_>) -> Vec<usize> {
    let sorted = Lookup::of(points).sorted;
    let mut leaders: Vec<usize> = (0..points.rows()).collect();
    for pair in sorted.windows(2) {
        let (one, two) = (pair[0] as usize, pair[1] as usize);
        if by_value((points, one), (points, two)).is_eq() {
            leaders[two] = leaders[one];
        }
    }
    leaders
}

/// An order of rows in which those of equal values are equal, however they are stored.
fn by_value(left: (PointsRef<'_>, usize), right: (PointsRef<'_>, usize)) -> Ordering {
    with_entries!(left, ours => with_entries!(right, theirs => {
        loop {
            match (ours.next(), theirs.next()) {
                (Some(a), Some(b)) => match a.0.cmp(&b.0).then(order(a.1, b.1)) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                },
                (a, b) => return a.is_some().cmp(&b.is_some()),
            }
        }
    }))
}

/// Order of numbers in which both zeros are equal, and missing values too.
fn order(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => (a + 0.0).total_cmp(&(b + 0.0)),
        (a, b) => a.cmp(&b),
    }
}

/// Leaders as consecutive numbers.
fn numbered(leaders: &[usize]) -> (Vec<usize>, Vec<u32>) {
    let mut firsts = Vec::new();
    let mut distinct_of = vec![0u32; leaders.len()];
    for (row, &leader) in leaders.iter().enumerate() {
        // A leader is the first of its rows, so its number is known by now.
        distinct_of[row] = if leader == row {
            firsts.push(row);
            (firsts.len() - 1) as u32
        } else {
            distinct_of[leader]
        };
    }
    (firsts, distinct_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Csr;
    use ndarray::{Array2, array};

    fn places(points: PointsRef<'_>) -> DistinctRows {
        let ctx = Ctx::new(1, 0);
        ctx.install(|| DistinctRows::of(points, &ctx)).unwrap()
    }

    #[test]
    fn equal_rows_are_one_place() {
        let points = array![[1.0, 0.0], [3.0, 0.0], [1.0, -0.0], [3.0, 0.0], [0.0, 0.0]];
        let found = places(PointsRef::Dense(points.view()));
        assert_eq!((found.firsts, found.distinct_of), (vec![0, 1, 4], vec![0, 1, 0, 1, 2]));
        assert_eq!(found.gaps, [1.0, 2.0, 1.0]);
        // A stored zero is no difference.
        let sparse = Csr {
            cols: 2,
            offsets: vec![0, 1, 3, 4],
            indices: vec![0, 0, 1, 1],
            values: vec![2.0, 2.0, 0.0, 2.0],
        };
        assert_eq!(places(PointsRef::Sparse(&sparse)).distinct_of, [0, 0, 1]);
    }

    #[test]
    fn rows_are_found_by_their_values_however_they_are_stored() {
        let points = array![[1.0, 0.0], [3.0, f64::NAN], [0.0, 2.0], [1.0, 0.0], [0.0, 0.0]];
        let dense = PointsRef::Dense(points.view());
        let ctx = Ctx::new(2, 0);
        let lookup = ctx.install(|| Lookup::of(dense));
        let places: Vec<_> = (0..5).map(|row| lookup.find(dense, dense, row)).collect();
        assert_eq!(places, [Some(0), Some(1), Some(2), Some(0), Some(4)]);
        let sparse =
            Csr { cols: 2, offsets: vec![0, 1, 1, 3], indices: vec![1, 0, 1], values: vec![2.0, -0.0, 5.0] };
        let places: Vec<_> = (0..3).map(|row| lookup.find(dense, PointsRef::Sparse(&sparse), row)).collect();
        assert_eq!(places, [Some(2), Some(4), None]);
        assert!(coincide((dense, 1), (dense, 1)) && !coincide((dense, 1), (dense, 0)));
        let close = array![[1.0, 1e-170]];
        assert!(coincide((dense, 0), (PointsRef::Dense(close.view()), 0)));
        assert!(!coincide((dense, 4), (PointsRef::Sparse(&sparse), 2)));
    }

    #[test]
    fn what_no_distance_can_tell_apart_is_one_place() {
        let points = array![[1.0], [0.0], [1e-170], [2e-170], [3e-170]];
        let found = places(PointsRef::Dense(points.view()));
        assert_eq!(found.distinct_of, [0, 1, 1, 1, 1]);
        assert_eq!(found.gaps, [1.0, 1.0]);
        let constant = Array2::<f64>::ones((300, 3));
        let found = places(PointsRef::Dense(constant.view()));
        assert_eq!((found.firsts, found.gaps), (vec![0], vec![1.0]));
    }
}
