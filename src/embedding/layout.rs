//! From coordinates of connected components to coordinates of the rows of the data:
//! components side by side, duplicates with equal coordinates, columns of mean zero and length one.
//!
//! Place: after [`super::component_maps`]. Cost: n·d².

use ndarray::{Array2, Axis};

use crate::graph::LocalNeighborhoods;
use crate::spectrum::fix_signs;

/// Space between two components, as a part of the mean width of all.
const GAP: f64 = 0.2;

/// Components in a row along the first coordinate: each with a mean square radius of
/// its number of rows, boxes apart.
pub fn side_by_side(maps: &mut [Array2<f64>]) {
    for map in maps.iter_mut() {
        let rows = map.nrows() as f64;
        let spread = map.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        if spread > 0.0 {
            // √(Σ|y|²/rows) becomes √rows.
            map.mapv_inplace(|entry| entry * (rows / spread));
        }
    }
    let ends: Vec<(f64, f64)> = maps
        .iter()
        .map(|map| {
            let first = map.column(0);
            first.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
        })
        .collect();
    let total: f64 = ends.iter().map(|(low, high)| high - low).sum();
    let gap = if total > 0.0 { GAP * total / maps.len() as f64 } else { 1.0 };
    let mut start = 0.0;
    for (map, (low, high)) in maps.iter_mut().zip(ends) {
        map.column_mut(0).mapv_inplace(|x| x - low + start);
        start += high - low + gap;
    }
}

/// Coordinates of the rows in use as coordinates of the rows of the data: duplicates
/// alike, rows that were left out NaN; columns of mean zero and length one.
pub fn over_data(placed: Array2<f64>, neighborhoods: &LocalNeighborhoods) -> Array2<f64> {
    let (rows, components) = (neighborhoods.graph.rows(), neighborhoods.components.count());
    let mut placed = rows.spread(placed);
    if components > 1 || rows.has_duplicates() {
        normalize(&mut placed);
        if components == 1 {
            orthogonalize(&mut placed);
        }
    }
    fix_signs(&mut placed);
    placed
}

/// Duplicates count as often as they occur, which turns the columns of a map of
/// distinct rows a little towards each other: each loses its part along those
/// before it, NaN rows aside.
fn orthogonalize(placed: &mut Array2<f64>) {
    let known: Vec<usize> = (0..placed.nrows()).filter(|&row| !placed[[row, 0]].is_nan()).collect();
    let mut columns = placed.select(Axis(0), &known);
    for last in 1..columns.ncols() {
        // Twice is enough.
        for _ in 0..2 {
            for before in 0..last {
                let along = columns.column(before).dot(&columns.column(last));
                let other = columns.column(before).to_owned();
                columns.column_mut(last).scaled_add(-along, &other);
            }
            let length = columns.column(last).dot(&columns.column(last)).sqrt();
            if length > 0.0 {
                columns.column_mut(last).mapv_inplace(|entry| entry / length);
            }
        }
    }
    for (row, entries) in known.into_iter().zip(columns.outer_iter()) {
        placed.row_mut(row).assign(&entries);
    }
}

/// Columns of mean zero and length one, NaN rows aside; a column that is constant up to
/// the rounding of its mean becomes zero.
fn normalize(placed: &mut Array2<f64>) {
    for mut column in placed.columns_mut() {
        let known = column.iter().filter(|value| !value.is_nan());
        let (count, sum) = known.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
        let count = count.max(1) as f64;
        let mean = sum / count;
        let largest = column.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        column.mapv_inplace(|value| value - mean);
        let known = column.iter().filter(|value| !value.is_nan());
        let length = known.map(|value| value * value).sum::<f64>().sqrt();
        // A sum of n entries rounds by n·eps of them, and n differences from it by that.
        if length > largest * f64::EPSILON * count * count.sqrt() {
            column.mapv_inplace(|value| value / length);
        } else {
            column.mapv_inplace(|value| if value.is_nan() { value } else { 0.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_column_has_no_norm() {
        for (rows, value) in [(3, 0.1), (1000, 0.1), (200_000, 1.0 / 3.0)] {
            let mut placed = Array2::from_elem((rows, 2), value);
            placed[[0, 1]] = -value;
            normalize(&mut placed);
            assert!(placed.column(0).iter().all(|&entry| entry == 0.0), "{rows}");
            let other = placed.column(1);
            assert!((other.dot(&other) - 1.0).abs() < 1e-9, "{rows}");
        }
    }
}
