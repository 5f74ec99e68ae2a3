//! Compressed sparse rows of the caller: sparse points, or the edges of a graph.
//!
//! Owns: that they fit together. However a [`Csr`] came about, its offsets slice its
//! entries and every column exists, so that no stage need look twice. Values are checked
//! where they are used: there a refusal can name the row.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A sparse matrix in compressed rows, as SciPy's `csr_matrix`: sparse points, one per
/// row, or distances along the edges of a graph.
///
/// ```
/// use planish::Csr;
///
/// // [[0, 5, 0], [1, 0, 2]]
/// let matrix = Csr::new(3, vec![0, 1, 3], vec![1, 0, 2], vec![5.0, 1.0, 2.0])?;
/// assert_eq!((matrix.rows(), matrix.cols()), (2, 3));
/// assert_eq!(matrix.get(1), Some((&[0, 2][..], &[1.0, 2.0][..])));
/// assert_eq!(matrix.get(2), None);
/// assert!(Csr::new(3, vec![], vec![], vec![]).is_err());
/// # planish::Result::Ok(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Csr {
    /// Number of columns.
    pub(crate) cols: usize,
    /// Row `i` is `offsets[i]..offsets[i + 1]`; one longer than the number of rows.
    pub(crate) offsets: Vec<usize>,
    /// Column of each entry.
    pub(crate) indices: Vec<u32>,
    /// Value of each entry.
    pub(crate) values: Vec<f64>,
}

/// What was written down, before it is checked.
#[derive(Deserialize)]
struct Parts {
    cols: usize,
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl TryFrom<Parts> for Csr {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Csr> {
        Csr::new(parts.cols, parts.offsets, parts.indices, parts.values)
    }
}

impl Csr {
    /// From SciPy's arrays: `offsets` (`indptr`) with one number more than there are
    /// rows, then a column and a value for each entry.
    ///
    /// # Errors
    /// Offsets that do not start at 0, fall, or do not end at the number of entries;
    /// columns that do not exist; columns and values of different lengths.
    pub fn new(cols: usize, offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Result<Csr> {
        let broken = |why: String| Err(Error::input(format!("the sparse matrix is malformed: {why}")));
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
            return broken("its row offsets are empty, a matrix without rows has the offsets [0]".into());
        };
        if indices.len() != values.len() {
            return broken(format!("{} columns for {} values", indices.len(), values.len()));
        }
        if (*first, *last) != (0, indices.len()) {
            let entries = indices.len();
            return broken(format!("its row offsets go from {first} to {last} and not from 0 to {entries}"));
        }
        if let Some(row) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return broken(format!("its row offsets fall at row {row}"));
        }
        if let Some(at) = indices.iter().position(|&column| column as usize >= cols) {
            let row = offsets.partition_point(|&begin| begin <= at) - 1;
            return broken(format!(
                "row {row} has an entry in column {}, columns are 0..{cols}",
                indices[at]
            ));
        }
        Ok(Csr { cols, offsets, indices, values })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Columns and values of the entries of row `i`; `None` when there is no such row.
    pub fn get(&self, i: usize) -> Option<(&[u32], &[f64])> {
        (i < self.rows()).then(|| self.row(i))
    }

    /// Columns and values of row `i`, which exists.
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// A copy of some of the rows, which exist, in the order they are named.
    pub(crate) fn select(&self, rows: &[usize]) -> Csr {
        let mut part = Csr { cols: self.cols, offsets: vec![0], indices: vec![], values: vec![] };
        for &row in rows {
            let (columns, values) = self.row(row);
            part.indices.extend_from_slice(columns);
            part.values.extend_from_slice(values);
            part.offsets.push(part.indices.len());
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_together_is_refused_by_name() {
        let refused = |cols, offsets: &[usize], indices: &[u32], values: &[f64]| {
            Csr::new(cols, offsets.to_vec(), indices.to_vec(), values.to_vec()).unwrap_err().to_string()
        };
        assert!(refused(2, &[], &[], &[]).contains("offsets are empty"));
        assert!(refused(2, &[0, 2], &[0, 1], &[1.0]).contains("2 columns for 1 values"));
        assert!(refused(2, &[0, 1], &[0, 1], &[1.0; 2]).contains("from 0 to 1 and not from 0 to 2"));
        assert!(refused(2, &[1, 2], &[0, 1], &[1.0; 2]).contains("from 1 to 2"));
        assert!(refused(2, &[0, 3, 1, 2], &[0, 1], &[1.0; 2]).contains("fall at row 1"));
        assert!(refused(2, &[0, 0, 2], &[0, 2], &[1.0; 2]).contains("row 1 has an entry in column 2"));
        let empty = Csr::new(0, vec![0], vec![], vec![]).unwrap();
        assert_eq!((empty.rows(), empty.get(0)), (0, None));
    }
}
