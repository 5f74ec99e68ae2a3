//! Rows of the data and rows in use.
//!
//! A method may work on fewer rows than the data has: one of each set of duplicates,
//! the largest connected component, all but the outliers. [`RowMap`] says which, and
//! takes results of the rows in use back to the rows of the data.
//! Place: made with the neighbourhood graph or the affinities, kept in the model.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// Row numbers as indices.
pub(crate) fn as_indices(rows: &[u32]) -> Vec<usize> {
    rows.iter().map(|&row| row as usize).collect()
}

/// Which rows of the data are in use, and which are duplicates of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowMap {
    /// Number of rows of the data.
    rows: usize,
    /// The row of the data behind each row in use, ascending; `None` when all are in use.
    used: Option<Vec<u32>>,
    /// (row of the data, the earlier row in use that it is a duplicate of).
    duplicates: Vec<(u32, u32)>,
}

impl RowMap {
    /// All rows of the data.
    pub fn all(rows: usize) -> RowMap {
        RowMap { rows, used: None, duplicates: Vec::new() }
    }

    /// One row of each set of duplicates: `firsts` are the distinct rows, ascending, and
    /// row i of the data is a duplicate of `firsts[distinct_of[i]]`.
    pub fn distinct(firsts: &[u32], distinct_of: &[u32]) -> RowMap {
        let first = |row: usize| firsts[distinct_of[row] as usize];
        let rows = 0..distinct_of.len();
        let duplicates =
            rows.filter(|&row| first(row) as usize != row).map(|row| (row as u32, first(row))).collect();
        RowMap { rows: distinct_of.len(), used: Some(firsts.to_vec()), duplicates }
    }

    /// The same with pairs (row in use, an earlier row in use) that are duplicates.
    pub fn with_duplicates(mut self, pairs: impl IntoIterator<Item = (u32, u32)>) -> RowMap {
        let pairs = pairs.into_iter();
        let named: Vec<(u32, u32)> =
            pairs.map(|(row, first)| (self.data_row(row) as u32, self.data_row(first) as u32)).collect();
        self.duplicates.extend(named);
        self
    }

    /// Of the rows in use only these, ascending.
    pub fn only(self, part: &[u32]) -> RowMap {
        let used: Vec<u32> = part.iter().map(|&row| self.data_row(row) as u32).collect();
        let in_use = |row: u32| used.binary_search(&row).is_ok();
        let duplicates = self.duplicates.into_iter().filter(|&(_, first)| in_use(first)).collect();
        RowMap { rows: self.rows, duplicates, used: Some(used) }
    }

    /// Number of rows of the data.
    pub fn data_rows(&self) -> usize {
        self.rows
    }

    /// Number of rows in use.
    pub fn len(&self) -> usize {
        self.used.as_ref().map_or(self.rows, Vec::len)
    }

    /// The rows of the data that are in use, ascending; `None` when all are.
    pub fn used(&self) -> Option<&[u32]> {
        self.used.as_deref()
    }

    /// The row of the data behind a row in use.
    pub fn data_row(&self, row: u32) -> usize {
        self.used.as_ref().map_or(row as usize, |used| used[row as usize] as usize)
    }

    /// The row in use that a row of the data is, if it is one.
    pub fn used_row(&self, row: usize) -> Option<u32> {
        let row = u32::try_from(row).ok()?;
        match &self.used {
            None => ((row as usize) < self.rows).then_some(row),
            Some(used) => used.binary_search(&row).ok().map(|at| at as u32),
        }
    }

    /// The row in use that stands for each row of the data: itself, or the one it is a
    /// duplicate of; `None` for rows that were left out.
    pub fn used_rows(&self) -> Vec<Option<u32>> {
        let mut table: Vec<Option<u32>> = (0..self.rows).map(|row| self.used_row(row)).collect();
        for &(row, first) in &self.duplicates {
            let own = &mut table[row as usize];
            *own = own.or_else(|| self.used_row(first as usize));
        }
        table
    }

    /// Results of the rows in use as results of the rows of the data: duplicates get
    /// the same, rows that were left out NaN.
    pub fn spread(&self, results: Array2<f64>) -> Array2<f64> {
        let mut all = match &self.used {
            None => results,
            Some(used) => {
                let mut all = Array2::from_elem((self.rows, results.ncols()), f64::NAN);
                for (result, &row) in results.outer_iter().zip(used) {
                    all.row_mut(row as usize).assign(&result);
                }
                all
            }
        };
        for &(row, first) in &self.duplicates {
            let same = all.row(first as usize).to_owned();
            all.row_mut(row as usize).assign(&same);
        }
        all
    }

    /// One number for each row in use as one for each row of the data; 0 for rows that
    /// are not in use.
    pub fn spread_vector(&self, values: &[f64]) -> Vec<f64> {
        let Some(used) = &self.used else { return values.to_vec() };
        let mut all = vec![0.0; self.rows];
        used.iter().zip(values).for_each(|(&row, &value)| all[row as usize] = value);
        all
    }

    /// Whether some row of the data stands for others too.
    pub fn has_duplicates(&self) -> bool {
        !self.duplicates.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn results_go_back_to_the_rows_of_the_data() {
        // Rows 0 and 2 are equal, and so are 1 and 4; then row 3 is left out.
        let rows = RowMap::distinct(&[0, 1, 3], &[0, 1, 0, 2, 1]).only(&[0, 1]);
        assert_eq!((rows.data_rows(), rows.len()), (5, 2));
        assert_eq!(rows.used_rows(), [Some(0), Some(1), Some(0), None, Some(1)]);
        let all = rows.spread(array![[1.0], [2.0]]);
        assert_eq!(all.column(0).to_vec()[..3], [1.0, 2.0, 1.0]);
        assert!(all[[3, 0]].is_nan() && all[[4, 0]] == 2.0);
        assert_eq!(rows.spread_vector(&[1.0, 2.0]), [1.0, 2.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn duplicates_in_use_get_the_result_of_the_first() {
        let rows = RowMap::all(4).only(&[0, 2, 3]).with_duplicates([(2, 0)]);
        assert_eq!(rows.used_rows(), [Some(0), None, Some(1), Some(2)]);
        let all = rows.spread(array![[1.0], [2.0], [3.0]]);
        assert!(all[[0, 0]] == 1.0 && all[[1, 0]].is_nan() && all[[2, 0]] == 2.0 && all[[3, 0]] == 1.0);
    }
}
