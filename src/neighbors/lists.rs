//! Neighbour lists as a whole: made from stored entries, merged, renumbered, summarised.
//!
//! Place in the dataflow: between a neighbour search (or a caller's sparse matrix) and
//! `graph`. Cost: O(entries), and a sort of each list that is read or merged.

use std::ops::Range;

use super::{NeighborRule, Neighbors};
use crate::error::{Error, Result};
use crate::input::Csr;
use crate::input::check::check_offsets;
use crate::input::rows::RowMap;

impl Neighbors {
    /// No lists yet.
    pub fn empty() -> Neighbors {
        Neighbors { offsets: vec![0], indices: Vec::new(), distances: Vec::new() }
    }

    /// Number of lists.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where the entries of a row are.
    pub fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// Neighbours of a row and their distances.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        (&self.indices[self.range(row)], &self.distances[self.range(row)])
    }

    /// Add the list of the next row.
    pub fn push_row(&mut self, list: impl IntoIterator<Item = (u32, f64)>) {
        for (index, distance) in list {
            self.indices.push(index);
            self.distances.push(distance);
        }
        self.offsets.push(self.indices.len());
    }

    fn pairs(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.range(row).map(|at| (self.indices[at], self.distances[at]))
    }

    /// The stored entries of a sparse matrix whose columns are the `rows` training rows,
    /// limited by `rule`. In lists of the training rows themselves a row is not its own
    /// neighbour.
    pub fn from_entries(given: &Csr, rows: usize, rule: NeighborRule, training: bool) -> Result<Neighbors> {
        let mut lists = Neighbors::empty();
        for row in 0..given.rows() {
            let (columns, weights) = given.row(row);
            let mut near = Vec::with_capacity(columns.len());
            for (&column, &weight) in columns.iter().zip(weights) {
                check_entry(row, column, weight, rows)?;
                if !(training && column as usize == row) {
                    near.push((column, weight));
                }
            }
            sort(&mut near);
            match rule {
                NeighborRule::Nearest(k) => near.truncate(k),
                NeighborRule::Within(radius) => near.retain(|(_, weight)| *weight <= radius),
            }
            lists.push_row(near);
        }
        Ok(lists)
    }

    /// The `k` nearest neighbours of every row of a sparse graph that has as many.
    ///
    /// # Errors
    /// A malformed graph; a row with fewer neighbours.
    pub fn of_graph(given: &Csr, k: usize) -> Result<Neighbors> {
        check_offsets(given)?;
        let near = Neighbors::from_entries(given, given.rows(), NeighborRule::Nearest(k), true)?;
        let least = (0..near.rows()).map(|row| near.range(row).len()).min().unwrap_or(0);
        if least < k {
            // In the words scikit-learn uses, which counts a row among its own neighbours.
            return Err(Error::input(format!(
                "{} neighbors per samples are required, but some samples have only {} (each row counted as its own \
                 neighbour); lower perplexity or pass a graph with more neighbours",
                k + 1,
                least + 1
            )));
        }
        Ok(near)
    }

    /// Each neighbour of a row once, where it is nearest.
    pub fn without_repeats(&self) -> Neighbors {
        let mut once = Neighbors::empty();
        for row in 0..self.rows() {
            let mut list: Vec<(u32, f64)> = Vec::new();
            for (index, distance) in self.pairs(row) {
                if !list.iter().any(|&(known, _)| known == index) {
                    list.push((index, distance));
                }
            }
            once.push_row(list);
        }
        once
    }

    /// The same lists with neighbours under new numbers; those without one are left out.
    pub fn renumbered(&self, number: &[Option<u32>]) -> Neighbors {
        let mut kept = Neighbors::empty();
        for row in 0..self.rows() {
            let list = self.pairs(row);
            kept.push_row(list.filter_map(|(index, distance)| Some((number[index as usize]?, distance))));
        }
        kept
    }

    /// The lists of some rows.
    pub fn select(&self, rows: &[u32]) -> Neighbors {
        let mut part = Neighbors::empty();
        rows.iter().for_each(|&row| part.push_row(self.pairs(row as usize)));
        part
    }

    /// The lists of all duplicates of a distinct row as one, under the numbers of the
    /// distinct rows: row i is a duplicate of distinct row `distinct_of[i]`.
    pub fn merged(&self, distinct: usize, distinct_of: &[u32]) -> Neighbors {
        let mut lists = vec![Vec::new(); distinct];
        for (row, &own) in distinct_of.iter().enumerate() {
            let others = self.pairs(row).map(|(index, distance)| (distinct_of[index as usize], distance));
            lists[own as usize].extend(others.filter(|&(other, _)| other != own));
        }
        let mut all = Neighbors::empty();
        for mut list in lists {
            sort(&mut list);
            all.push_row(list);
        }
        all.without_repeats()
    }

    /// The same lists, with what `nearest` finds for the rows that have no neighbours.
    pub fn or_nearest(self, nearest: impl FnOnce(&[u32]) -> Result<Neighbors>) -> Result<Neighbors> {
        let alone: Vec<u32> =
            (0..self.rows()).filter(|&row| self.range(row).is_empty()).map(|row| row as u32).collect();
        if alone.is_empty() {
            return Ok(self);
        }
        let found = nearest(&alone)?;
        let mut all = Neighbors::empty();
        for row in 0..self.rows() {
            match alone.binary_search(&(row as u32)) {
                Ok(at) => all.push_row(found.pairs(at)),
                Err(_) => all.push_row(self.pairs(row)),
            }
        }
        Ok(all)
    }

    /// Pairs (row in use, an earlier one at distance zero), of lists that are numbered
    /// like the rows of the data.
    pub fn duplicates(&self, rows: &RowMap) -> Vec<(u32, u32)> {
        let pair = |row: usize| {
            let (first, distance) = self.pairs(row).next()?;
            let is_duplicate = distance == 0.0 && (first as usize) < row;
            is_duplicate.then_some((rows.used_row(row)?, rows.used_row(first as usize)?))
        };
        (0..self.rows()).filter_map(pair).collect()
    }

    /// Mean distance of each row in use to its neighbours in use, of lists that are
    /// numbered like the rows of the data; 0 without any.
    pub fn mean_distances(&self, rows: &RowMap) -> Vec<f64> {
        let in_use: Vec<bool> = (0..self.rows()).map(|row| rows.used_row(row).is_some()).collect();
        let mean = |row: u32| {
            let near = self.pairs(rows.data_row(row)).filter(|&(index, _)| in_use[index as usize]);
            let (count, sum) = near.fold((0, 0.0), |(count, sum), (_, distance)| (count + 1, sum + distance));
            sum / f64::from(count.max(1))
        };
        (0..rows.len() as u32).map(mean).collect()
    }
}

/// Nearest first, ties by index.
fn sort(list: &mut [(u32, f64)]) {
    list.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
}

fn check_entry(row: usize, column: u32, weight: f64, rows: usize) -> Result<()> {
    if column as usize >= rows {
        return Err(Error::input(format!(
            "row {row} of the graph has an edge to row {column}, but there are only {rows} training rows"
        )));
    }
    if !(weight.is_finite() && weight >= 0.0) {
        return Err(Error::input(format!(
            "the edge between rows {row} and {column} has length {weight}; lengths must be finite and >= 0"
        )));
    }
    Ok(())
}
