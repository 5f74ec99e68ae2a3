//! The one search for neighbours that all estimators share.
//!
//! Place: data in, [`Table`] out: k positive distances for each distinct row, nearest first.
//! Duplicates (rows at distance zero) would be a first distance of zero, of which no ratio
//! exists: of each set of them one row is used. Cost: a search, and a second one among the
//! distinct rows where there are duplicates.

use ndarray::{ArrayView2, Axis, CowArray, Ix2};

use crate::context::Ctx;
use crate::error::{Error, Result, WarningKind};
use crate::input::check::{check_finite, check_offsets, check_points, distances, unfit};
use crate::input::rows::{RowMap, as_indices};
use crate::input::scale::{Scale, scale_of_points};
use crate::input::{Csr, Data, PointsRef};
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule, Neighbors, from_distances};

/// Neighbours of the distinct rows, and where more can be asked.
pub(super) struct Table<'a> {
    /// Lists of k neighbours each.
    pub near: Neighbors,
    /// Neighbours of each row.
    pub k: usize,
    /// What the rows are.
    pub source: Source<'a>,
    rows: RowMap,
    /// What distances were multiplied by.
    lengths: Scale,
}

/// What is known beside the lists.
pub(super) enum Source<'a> {
    /// The distinct rows, searchable.
    Index(Box<Index>),
    /// The distances between the distinct rows.
    Matrix(CowArray<'a, f64, Ix2>),
    /// The points, with neighbours that were given.
    Points(crate::input::Points),
    /// Nothing.
    Lists,
}

impl Table<'_> {
    /// Of lists of k distances each, and nothing else.
    pub fn of_paths(near: Neighbors, k: usize) -> Table<'static> {
        let rows = RowMap::all(near.rows());
        Table { near, k, source: Source::Lists, rows, lengths: Scale::ONE }
    }

    /// Number of distinct rows.
    pub fn len(&self) -> usize {
        self.near.rows()
    }

    /// The distances of a row to its neighbours, nearest first.
    pub fn distances(&self, row: usize) -> &[f64] {
        &self.near.distances[row * self.k..(row + 1) * self.k]
    }

    /// The neighbours of a row.
    pub fn neighbors(&self, row: usize) -> &[u32] {
        &self.near.indices[row * self.k..(row + 1) * self.k]
    }

    /// Mean distance to the neighbours of a rank, counted from 1, in the units of the data.
    pub fn mean_distance(&self, rank: usize) -> f64 {
        let sum: f64 = (0..self.len()).map(|row| self.distances(row)[rank - 1]).sum();
        self.lengths.back(sum / self.len() as f64)
    }

    /// The lists, with distances in the units of the data.
    pub fn lists(&self) -> Neighbors {
        let mut lists = self.near.clone();
        lists.distances.iter_mut().for_each(|distance| *distance = self.lengths.back(*distance));
        lists
    }

    /// One number for each distinct row as one for each row of the data.
    pub fn spread(&self, values: &[f64]) -> Vec<f64> {
        // proof: every row of the data is in use or a duplicate of one that is.
        self.rows
            .used_rows()
            .into_iter()
            .map(|row| row.map_or(f64::NAN, |row| values[row as usize]))
            .collect()
    }
}

/// Search, and do `work` with what was found. `count` is the number of neighbours among so
/// many distinct rows.
pub(super) fn with_table<T>(
    data: Data<'_>,
    count: &dyn Fn(usize) -> usize,
    metric: Option<Metric>,
    algorithm: Algorithm,
    ctx: &Ctx,
    work: impl FnOnce(&Table<'_>) -> Result<T>,
) -> Result<T> {
    let rows = data.rows();
    let k = count(rows);
    let most = if matches!(data, Data::Graph(_) | Data::Neighborhoods { .. }) { usize::MAX } else { rows };
    if k >= most || rows < 3 {
        let why = format!("must be less than n_samples = {rows}, which must be at least 3; got {k}");
        return Err(Error::param("n_neighbors", why));
    }
    match (data, metric) {
        (Data::Points(points), Some(metric)) => {
            check_points(points)?;
            let scale = scale_of_points(points);
            let lengths = if metric.ignores_scale() { Scale::ONE } else { scale };
            let scaled = scale.points(points);
            let (source, near, rows) = of_points(scaled.view(), count, metric, algorithm, ctx)?;
            let k = count(near.rows());
            work(&Table { k, source: Source::Index(Box::new(source)), near, rows, lengths })
        }
        (Data::Distances(matrix), None) => {
            check_finite(matrix, "the distance matrix")?;
            let checked = distances(matrix, ctx)?;
            let (matrix, near, rows) = of_matrix(checked.view(), count, ctx)?;
            let k = count(near.rows());
            work(&Table { k, source: Source::Matrix(matrix), near, rows, lengths: Scale::ONE })
        }
        (Data::Graph(lists), None) => {
            let (near, rows, k) = of_lists(lists, k, ctx)?;
            work(&Table { k, source: Source::Lists, near, rows, lengths: Scale::ONE })
        }
        (Data::Neighborhoods { points, lists }, _) => {
            check_points(points)?;
            if lists.rows() != points.rows() {
                let (given, wanted) = (lists.rows(), points.rows());
                let why = format!("must have a list for each of the {wanted} rows, got {given}");
                return Err(Error::param("neighbors", why));
            }
            let (near, rows, k) = of_lists(lists, k, ctx)?;
            let used: Vec<usize> = (0..rows.len() as u32).map(|row| rows.data_row(row)).collect();
            let scaled = scale_of_points(points).points(points);
            let source = Source::Points(scaled.view().select(&used));
            work(&Table { k, source, near, rows, lengths: Scale::ONE })
        }
        (data, metric) => Err(unfit(data, metric.is_none(), "distances or a graph")),
    }
}

fn of_points(
    points: PointsRef<'_>,
    count: &dyn Fn(usize) -> usize,
    metric: Metric,
    algorithm: Algorithm,
    ctx: &Ctx,
) -> Result<(Index, Neighbors, RowMap)> {
    let mut groups = Groups::new(points.rows());
    let mut index = Index::build(points, metric, algorithm, ctx)?;
    loop {
        let k = count(groups.firsts.len());
        let near = index.neighbors_of_all(NeighborRule::Nearest(k), ctx)?;
        if !groups.join(&near) {
            return Ok((index, near, groups.finish(ctx)));
        }
        groups.check(count(groups.firsts.len()))?;
        index = Index::build(points.select(&as_indices(&groups.firsts)).view(), metric, algorithm, ctx)?;
    }
}

fn of_matrix<'a>(
    matrix: ArrayView2<'a, f64>,
    count: &dyn Fn(usize) -> usize,
    ctx: &Ctx,
) -> Result<(CowArray<'a, f64, Ix2>, Neighbors, RowMap)> {
    let mut groups = Groups::new(matrix.nrows());
    let mut distinct = CowArray::from(matrix);
    loop {
        let k = count(groups.firsts.len());
        let near = from_distances(distinct.view(), NeighborRule::Nearest(k), ctx)?;
        if !groups.join(&near) {
            return Ok((distinct, near, groups.finish(ctx)));
        }
        groups.check(count(groups.firsts.len()))?;
        let firsts = as_indices(&groups.firsts);
        distinct = CowArray::from(matrix.select(Axis(0), &firsts).select(Axis(1), &firsts));
    }
}

/// Given lists, as long as the shortest of them.
fn of_lists(lists: &Csr, k: usize, ctx: &Ctx) -> Result<(Neighbors, RowMap, usize)> {
    check_offsets(lists)?;
    let rows = lists.rows();
    let all =
        Neighbors::from_entries(lists, rows, NeighborRule::Nearest(usize::MAX), true)?.without_repeats();
    let mut groups = Groups::new(rows);
    let mut near = all.clone();
    while groups.join(&near) {
        near = all.merged(groups.firsts.len(), &groups.distinct_of());
    }
    let (row, shortest) =
        (0..near.rows()).map(|row| (row, near.range(row).len())).min_by_key(|one| one.1).unwrap_or((0, 0));
    if shortest < 2 {
        let row = groups.firsts[row];
        return Err(Error::input(format!(
            "row {row} has {shortest} neighbours at a distance above zero; every row needs at least 2"
        )));
    }
    let k = k.min(shortest);
    let mut cut = Neighbors::empty();
    for row in 0..near.rows() {
        let (indices, distances) = near.row(row);
        cut.push_row(indices.iter().copied().zip(distances.iter().copied()).take(k));
    }
    Ok((cut, groups.finish(ctx), k))
}

/// Rows at distance zero from each other.
struct Groups {
    /// For each row an earlier one of its group, or itself.
    leaders: Vec<u32>,
    /// The first row of each group, ascending.
    firsts: Vec<u32>,
}

impl Groups {
    fn new(rows: usize) -> Groups {
        let all: Vec<u32> = (0..rows as u32).collect();
        Groups { leaders: all.clone(), firsts: all }
    }

    fn leader(&self, mut row: u32) -> u32 {
        while self.leaders[row as usize] != row {
            row = self.leaders[row as usize];
        }
        row
    }

    /// Join the groups of rows that are zero apart by lists of the groups so far; whether
    /// any were.
    fn join(&mut self, near: &Neighbors) -> bool {
        let mut found = false;
        for (place, &first) in self.firsts.iter().enumerate() {
            let (indices, distances) = near.row(place);
            for (&other, _) in indices.iter().zip(distances).take_while(|(_, distance)| **distance == 0.0) {
                let (a, b) = (self.leader(first), self.leader(self.firsts[other as usize]));
                self.leaders[a.max(b) as usize] = a.min(b);
                found = true;
            }
        }
        if found {
            (0..self.leaders.len()).for_each(|row| self.leaders[row] = self.leader(row as u32));
            self.firsts.retain(|&row| self.leaders[row as usize] == row);
        }
        found
    }

    /// Refuse fewer distinct rows than there must be neighbours.
    fn check(&self, k: usize) -> Result<()> {
        let (distinct, rows) = (self.firsts.len(), self.leaders.len());
        if distinct == 1 {
            return Err(Error::input(format!(
                "all {rows} rows are equal, which is a point and has dimension 0"
            )));
        }
        if distinct <= k {
            return Err(Error::input(format!(
                "only {distinct} of the {rows} rows are distinct, which leaves each fewer than n_neighbors = {k} \
                 others; use fewer neighbours"
            )));
        }
        Ok(())
    }

    /// For each row the place of its group.
    fn distinct_of(&self) -> Vec<u32> {
        // proof: every leader is among the firsts, which are ascending.
        let place = |leader: &u32| self.firsts.binary_search(leader).unwrap_or(0) as u32;
        self.leaders.iter().map(place).collect()
    }

    fn finish(self, ctx: &Ctx) -> RowMap {
        let (distinct, rows) = (self.firsts.len(), self.leaders.len());
        if distinct == rows {
            return RowMap::all(rows);
        }
        ctx.warn(
            WarningKind::InputAdjusted,
            format!(
                "{} of {rows} rows are duplicates of others, at distance zero; the {distinct} distinct rows were \
                 used, each once",
                rows - distinct
            ),
        );
        RowMap::distinct(&self.firsts, &self.distinct_of())
    }
}
