//! The closest pair of every component, out of the closest row of every row.
//!
//! Place in the dataflow: the common end of all [`ClosestForeign`] engines.
//! A row's nearest foreign row by (distance, index) is also its best pair by
//! (distance, smaller index, larger index), so one pair per row is enough.
//! Cost: O(n).
//!
//! [`ClosestForeign`]: super::ClosestForeign

use super::{Link, Neighbors};
use crate::error::{Error, Result};

/// A link that may be the best of its component.
#[derive(Debug, Clone, Copy)]
pub(super) struct Best(Link);

impl Best {
    pub fn new(from: u32, to: u32, distance: f64) -> Best {
        Best(Link { from, to, distance })
    }

    fn beats(&self, other: &Best) -> bool {
        let key = |link: &Link| (link.from.min(link.to), link.from.max(link.to));
        match self.0.distance.total_cmp(&other.0.distance) {
            std::cmp::Ordering::Equal => key(&self.0) < key(&other.0),
            order => order.is_lt(),
        }
    }
}

/// The best link of each component `0..count`.
pub(super) fn merge(found: impl Iterator<Item = (usize, Best)>, count: usize) -> Result<Vec<Link>> {
    let mut best: Vec<Option<Best>> = vec![None; count];
    for (component, link) in found {
        let held = &mut best[component];
        if held.is_none_or(|held| link.beats(&held)) {
            *held = Some(link);
        }
    }
    best.into_iter()
        .enumerate()
        .map(|(component, link)| {
            link.map(|link| link.0).ok_or_else(|| {
                Error::input(format!("component {component} has no row outside it to be linked with"))
            })
        })
        .collect()
}

/// The best links when every row's nearest foreign row is known.
pub(super) fn merge_table(table: &Neighbors, labels: &[usize], count: usize) -> Result<Vec<Link>> {
    let rows = 0..labels.len();
    let found = rows.filter_map(|row| {
        let at = table.offsets[row];
        let some = at < table.offsets[row + 1];
        some.then(|| (labels[row], Best::new(row as u32, table.indices[at], table.distances[at])))
    });
    merge(found, count)
}

/// Refuse labels that do not fit the rows.
pub(super) fn check_labels(labels: &[usize], count: usize, rows: usize) -> Result<()> {
    if labels.len() != rows {
        return Err(Error::input(format!("{} labels for {rows} rows", labels.len())));
    }
    match labels.iter().position(|&label| label >= count) {
        Some(row) => Err(Error::input(format!("row {row} is labelled {} of {count}", labels[row]))),
        None => Ok(()),
    }
}
