//! Euclidean distances of points with few columns, stored column by column.
//!
//! Place in the dataflow: below `distance_rows`, for maps. A row against consecutive others is
//! then a loop over numbers side by side. The squares are added in the order of the columns,
//! which is the canonical order of [`super::measure`]: same bits. Cost: O(p) per pair.

use ndarray::{Array2, ArrayView2};
use pulp::{Arch, NullaryFnOnce};

/// Points, column after column.
#[derive(Debug)]
pub(super) struct Columns {
    values: Vec<f64>,
    n: usize,
    dims: usize,
}

impl Columns {
    pub fn of(points: ArrayView2<'_, f64>) -> Columns {
        let (n, dims) = points.dim();
        Columns { values: points.columns().into_iter().flat_map(|column| column.to_vec()).collect(), n, dims }
    }

    pub fn rows(&self) -> usize {
        self.n
    }

    /// The points as rows again.
    pub fn points(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.n, self.dims), |(row, column)| self.values[column * self.n + row])
    }

    /// Distances of row `i` to the rows from `first` on.
    pub fn distances(&self, i: usize, first: usize, distances: &mut [f64]) {
        Arch::new().dispatch(FromColumns { columns: self, i, first, distances });
    }
}

/// A type and not a closure: see `walk`.
struct FromColumns<'a> {
    columns: &'a Columns,
    i: usize,
    first: usize,
    distances: &'a mut [f64],
}

impl NullaryFnOnce for FromColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Columns { values, n, .. } = self.columns;
        self.distances.fill(0.0);
        for column in values.chunks_exact((*n).max(1)) {
            let own = column[self.i];
            let others = &column[self.first..self.first + self.distances.len()];
            for (sum, other) in self.distances.iter_mut().zip(others) {
                let apart = own - other;
                *sum += apart * apart;
            }
        }
        for distance in self.distances.iter_mut() {
            *distance = distance.sqrt();
        }
    }
}
