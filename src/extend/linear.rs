//! A linear map from points to coordinates and back: PCA, and classical scaling
//! of Euclidean points, place every row by it, training rows included.
//!
//! Each coordinate is a sum in a fixed order that does not depend on how rows
//! are grouped, so one row alone gives the same bits as the whole matrix.
//!
//! Cost: p·D per row (p per stored entry for sparse rows).

use ndarray::{Array1, Array2, ArrayView2, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::{Csr, PointsRef};
use crate::linalg::{PARTS, dot, standard};

/// y = A (x − c), and x = c + Aᵀ(y / s²) for axes of length s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearMap {
    center: Array1<f64>,
    axes: Array2<f64>,
    /// A c, for rows that are never centred themselves.
    center_image: Array1<f64>,
}

/// Rows and axes that share their loads.
const TILE: usize = 2;
/// Rows one task takes.
const CHUNK: usize = 256;

impl LinearMap {
    /// The map with these axes (one per row) about this centre.
    pub fn new(center: Array1<f64>, axes: Array2<f64>) -> Self {
        let axes = axes.as_standard_layout().into_owned();
        let center = center.as_standard_layout().into_owned();
        let center_image =
            axes.outer_iter().map(|axis| dot(numbers(axis.as_slice()), numbers(center.as_slice()))).collect();
        LinearMap { center_image, axes, center }
    }

    /// The centre that maps to zero.
    pub fn center(&self) -> &Array1<f64> {
        &self.center
    }

    /// The axes, one per row.
    pub fn axes(&self) -> &Array2<f64> {
        &self.axes
    }

    /// Coordinates of every row.
    pub fn apply(&self, points: PointsRef<'_>, ctx: &Ctx) -> Result<Array2<f64>> {
        let features = self.center.len();
        if points.cols() != features {
            return Err(Error::input(format!(
                "X has {} features, but the model was fitted with {features}",
                points.cols()
            )));
        }
        let width = self.axes.nrows();
        let mut placed = Array2::zeros((points.rows(), width));
        if placed.is_empty() {
            return Ok(placed);
        }
        // proof: `zeros` is row-major.
        let out = placed.as_slice_mut().expect("row-major");
        out.par_chunks_mut(CHUNK * width).enumerate().try_for_each(|(chunk, coordinates)| {
            ctx.check()?;
            match points {
                PointsRef::Dense(matrix) => self.dense_rows(matrix, chunk * CHUNK, coordinates),
                PointsRef::Sparse(matrix) => self.sparse_rows(matrix, chunk * CHUNK, coordinates),
            }
            Ok(())
        })?;
        Ok(placed)
    }

    /// Points for coordinates along axes of unit length.
    pub fn lift(&self, coordinates: ArrayView2<'_, f64>, ctx: &Ctx) -> Result<Array2<f64>> {
        if coordinates.ncols() != self.axes.nrows() {
            return Err(Error::input(format!(
                "the coordinates have {} columns, but the model has {} components",
                coordinates.ncols(),
                self.axes.nrows()
            )));
        }
        let features = self.center.len();
        let mut points = Array2::zeros((coordinates.nrows(), features));
        // proof: `zeros` is row-major.
        let out = points.as_slice_mut().expect("row-major");
        out.par_chunks_mut(features.max(1)).enumerate().try_for_each(|(row, point)| {
            ctx.check()?;
            point.copy_from_slice(numbers(self.center.as_slice()));
            for (axis, &length) in self.axes.outer_iter().zip(coordinates.row(row)) {
                point.iter_mut().zip(axis).for_each(|(value, step)| *value += length * step);
            }
            Ok(())
        })?;
        Ok(points)
    }

    fn dense_rows(&self, matrix: ArrayView2<'_, f64>, first: usize, coordinates: &mut [f64]) {
        let rows = coordinates.len() / self.axes.nrows();
        // Rows that lie in memory one after the other are read where they are.
        let part = standard(matrix.slice_move(s![first..first + rows, ..]));
        let (axes, center) = (numbers(self.axes.as_slice()), numbers(self.center.as_slice()));
        let products = Products { rows: numbers(part.as_slice()), axes, center, out: coordinates };
        pulp::Arch::new().dispatch(products);
    }

    fn sparse_rows(&self, matrix: &Csr, first: usize, coordinates: &mut [f64]) {
        let width = self.axes.nrows();
        for (offset, target) in coordinates.chunks_mut(width).enumerate() {
            let (columns, values) = matrix.row(first + offset);
            for (component, slot) in target.iter_mut().enumerate() {
                let axis = self.axes.row(component);
                let along: f64 =
                    columns.iter().zip(values).map(|(&column, value)| axis[column as usize] * value).sum();
                *slot = along - self.center_image[component];
            }
        }
    }
}

/// The numbers of a map's array.
fn numbers(array: Option<&[f64]>) -> &[f64] {
    // proof: `new` makes them row-major, and serde reads them so.
    array.expect("row-major")
}

/// All products of centred rows and axes, in tiles that share their loads. A type and
/// not a closure: pulp calls closures through a shim that is compiled without its
/// instructions.
struct Products<'a> {
    rows: &'a [f64],
    axes: &'a [f64],
    center: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Products { rows, axes, center, out } = self;
        let features = center.len();
        let (count, width) = (rows.len() / features, axes.len() / features);
        // The last tile repeats its last row or axis; the repetitions are not written.
        let row = |i: usize| &rows[i.min(count - 1) * features..][..features];
        let axis = |j: usize| &axes[j.min(width - 1) * features..][..features];
        for i in (0..count).step_by(TILE) {
            for j in (0..width).step_by(TILE) {
                let tile = tile_of_dots([row(i), row(i + 1)], [axis(j), axis(j + 1)], center);
                for (own, dots) in tile.iter().enumerate().take(count - i) {
                    let known = TILE.min(width - j);
                    out[(i + own) * width + j..][..known].copy_from_slice(&dots[..known]);
                }
            }
        }
    }
}

/// Four dot products of centred rows and axes at once, each in the order of [`dot`].
#[inline(always)]
fn tile_of_dots(rows: [&[f64]; TILE], axes: [&[f64]; TILE], center: &[f64]) -> [[f64; TILE]; TILE] {
    let whole = center.len() / PARTS * PARTS;
    let mut parts = [[[0.0; PARTS]; TILE]; TILE];
    let row_blocks = rows.map(|row| row[..whole].as_chunks::<PARTS>().0);
    let axis_blocks = axes.map(|axis| axis[..whole].as_chunks::<PARTS>().0);
    for (at, middle) in center[..whole].as_chunks::<PARTS>().0.iter().enumerate() {
        for i in 0..TILE {
            let mut centred = row_blocks[i][at];
            (0..PARTS).for_each(|part| centred[part] -= middle[part]);
            for j in 0..TILE {
                let axis = &axis_blocks[j][at];
                for part in 0..PARTS {
                    parts[i][j][part] += axis[part] * centred[part];
                }
            }
        }
    }
    let mut dots = [[0.0; TILE]; TILE];
    for i in 0..TILE {
        for j in 0..TILE {
            let rest: f64 = (whole..center.len()).map(|at| axes[j][at] * (rows[i][at] - center[at])).sum();
            dots[i][j] = parts[i][j].iter().sum::<f64>() + rest;
        }
    }
    dots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rows: usize, cols: usize, step: f64) -> Array2<f64> {
        Array2::from_shape_fn((rows, cols), |(i, j)| ((i * cols + j) as f64 * step).sin())
    }

    #[test]
    fn one_row_gives_the_bits_of_many() {
        let ctx = Ctx::new(2, 0);
        for (features, width) in [(1, 1), (3, 2), (8, 3), (19, 5), (40, 7)] {
            let map = LinearMap::new(wave(1, features, 0.3).row(0).to_owned(), wave(width, features, 0.7));
            let points = wave(133, features, 0.11);
            let together = map.apply(PointsRef::Dense(points.view()), &ctx).unwrap();
            for row in 0..points.nrows() {
                let alone = points.slice(ndarray::s![row..=row, ..]);
                let alone = map.apply(PointsRef::Dense(alone), &ctx).unwrap();
                assert_eq!(alone.row(0), together.row(row), "features {features}, width {width}, row {row}");
            }
            let exact = (&points - map.center()).dot(&map.axes().t());
            assert!((&exact - &together).iter().all(|gap| gap.abs() < 1e-12));
        }
    }

    #[test]
    fn lifting_undoes_an_orthonormal_map() {
        let ctx = Ctx::new(1, 0);
        let map = LinearMap::new(Array1::from(vec![1.0, -2.0]), Array2::eye(2));
        let points = wave(5, 2, 0.4);
        let there = map.apply(PointsRef::Dense(points.view()), &ctx).unwrap();
        let back = map.lift(there.view(), &ctx).unwrap();
        assert!((&back - &points).iter().all(|gap| gap.abs() < 1e-15));
    }
}
