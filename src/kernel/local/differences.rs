//! One row's neighbourhood, read from wherever the data is: differences
//! x_j − x_i of points, or inner products of such differences.
//!
//! Place: the first step of every local method. Symbols: k neighbours, m features
//! that any of them has. Sparse rows become dense in the features that occur
//! among them. From distances, (x_j − x_i)·(x_l − x_i) = ½(d_ij² + d_il² − d_jl²).
//! Cost: k·m, or k² from distances.

use ndarray::{Array2, ArrayView2};

use super::Source;
use crate::error::{Error, Result};
use crate::input::{Csr, Points, PointsRef};
use crate::linalg::{dot, power_of_two_scale, standard};

/// Differences all smaller than this are enlarged: their squares would lose digits.
/// No method knows the size of a neighbourhood, only its shape.
const TINY: f64 = 1e-100;

/// What to multiply lengths by.
fn enlargement(lengths: &[f64]) -> f64 {
    let tiny = lengths.iter().all(|length| length.abs() < TINY);
    if tiny { power_of_two_scale(lengths.iter().copied()).unwrap_or(1.0) } else { 1.0 }
}

/// A [`Source`] laid out for reading row by row.
pub(super) enum Reader<'a> {
    Dense { centers: &'a [f64], rows: &'a [f64], features: usize },
    Sparse { centers: &'a Csr, rows: &'a Csr },
    Distances { matrix: ArrayView2<'a, f64>, rows: Option<&'a [u32]> },
}

impl Reader<'_> {
    /// Run `work` with a reader of `source`.
    pub(super) fn with<T>(source: Source<'_>, work: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        match source {
            Source::Points { centers, rows } => {
                if centers.cols() != rows.cols() {
                    return Err(Error::input("rows and their neighbours have different features"));
                }
                match (centers, rows) {
                    (PointsRef::Dense(centers), PointsRef::Dense(rows)) => {
                        let features = rows.ncols();
                        let (centers, rows) = (standard(centers.view()), standard(rows.view()));
                        // proof: `standard` returns a row-major matrix without gaps.
                        let (centers, rows) =
                            (centers.as_slice().expect("flat"), rows.as_slice().expect("flat"));
                        work(&Reader::Dense { centers, rows, features })
                    }
                    (PointsRef::Sparse(centers), PointsRef::Sparse(rows)) => {
                        work(&Reader::Sparse { centers, rows })
                    }
                    (centers, rows) => {
                        let centers = in_layout_of(rows, centers);
                        let rows = match rows {
                            PointsRef::Dense(matrix) => PointsRef::Dense(matrix.reborrow()),
                            PointsRef::Sparse(matrix) => PointsRef::Sparse(matrix),
                        };
                        Reader::with(Source::Points { centers: centers.view(), rows }, work)
                    }
                }
            }
            Source::Distances { matrix, rows } => work(&Reader::Distances { matrix, rows }),
        }
    }
}

/// `points` as dense or sparse as `model` is.
fn in_layout_of(model: PointsRef<'_>, points: PointsRef<'_>) -> Points {
    match (model, points) {
        (PointsRef::Dense(_), PointsRef::Sparse(csr)) => {
            let mut dense = Array2::zeros((csr.rows(), csr.cols));
            for row in 0..csr.rows() {
                let (columns, values) = csr.row(row);
                columns
                    .iter()
                    .zip(values)
                    .for_each(|(&column, &value)| dense[[row, column as usize]] = value);
            }
            Points::Dense(dense)
        }
        (PointsRef::Sparse(_), PointsRef::Dense(dense)) => {
            let mut csr = Csr { cols: dense.ncols(), offsets: vec![0], indices: vec![], values: vec![] };
            for row in dense.outer_iter() {
                for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    csr.indices.push(column as u32);
                    csr.values.push(value);
                }
                csr.offsets.push(csr.indices.len());
            }
            Points::Sparse(csr)
        }
        (_, points) => points.to_owned(),
    }
}

/// How a neighbourhood is stored at the moment.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// m × k differences: few features, each a vector over the neighbours.
    #[default]
    ByFeature,
    /// k × m differences: many features, each neighbour a vector.
    ByNeighbor,
    /// k × k inner products of differences.
    Products,
}

/// Room for one neighbourhood after the other.
#[derive(Debug, Default)]
pub(super) struct Vicinity {
    pub layout: Layout,
    /// Number of neighbours.
    pub k: usize,
    /// Number of features, unless only products are stored.
    pub m: usize,
    /// Numbers in that layout.
    pub entries: Vec<f64>,
    /// How large the values of each feature are, of which the entries are differences.
    pub sizes: Vec<f64>,
    columns: Vec<u32>,
    center: Vec<f64>,
}

impl Vicinity {
    /// Read the neighbourhood of row `i`.
    pub(super) fn read(&mut self, reader: &Reader<'_>, i: usize, near: &[u32], distances: &[f64]) {
        self.k = near.len();
        match *reader {
            Reader::Dense { centers, rows, features } => {
                let center = &centers[i * features..(i + 1) * features];
                self.shape(features);
                self.size(center);
                for (j, &row) in near.iter().enumerate() {
                    self.put(j, &rows[row as usize * features..(row as usize + 1) * features], center);
                }
                self.enlarge();
            }
            Reader::Sparse { centers, rows } => self.read_sparse(centers, rows, i, near),
            Reader::Distances { matrix, rows } => {
                self.layout = Layout::Products;
                self.entries.resize(self.k * self.k, 0.0);
                let place = |row: u32| rows.map_or(row as usize, |rows| rows[row as usize] as usize);
                let scale = enlargement(distances);
                let square = |length: f64| (length * scale) * (length * scale);
                for (j, &one) in near.iter().enumerate() {
                    let own = square(distances[j]);
                    self.entries[j * self.k + j] = own;
                    let row = matrix.row(place(one));
                    for (l, &other) in near[..j].iter().enumerate() {
                        let product = 0.5 * (own + square(distances[l]) - square(row[place(other)]));
                        self.entries[j * self.k + l] = product;
                        self.entries[l * self.k + j] = product;
                    }
                }
            }
        }
    }

    fn shape(&mut self, features: usize) {
        self.m = features;
        self.layout = if features < self.k { Layout::ByFeature } else { Layout::ByNeighbor };
        self.entries.resize(self.k * features, 0.0);
    }

    fn size(&mut self, center: &[f64]) {
        self.sizes.clear();
        self.sizes.extend(center.iter().map(|value| value.abs()));
    }

    fn put(&mut self, j: usize, row: &[f64], center: &[f64]) {
        if self.layout == Layout::ByFeature {
            // Sparse rows without entries have no features and no slots.
            let slots = self.entries.get_mut(j..).unwrap_or_default().iter_mut().step_by(self.k);
            slots.zip(row.iter().zip(center)).for_each(|(slot, (value, center))| *slot = value - center);
        } else {
            let slots = &mut self.entries[j * self.m..(j + 1) * self.m];
            slots.iter_mut().zip(row.iter().zip(center)).for_each(|(slot, (value, own))| *slot = value - own);
        }
    }

    fn read_sparse(&mut self, centers: &Csr, rows: &Csr, i: usize, near: &[u32]) {
        let mut columns = std::mem::take(&mut self.columns);
        columns.clear();
        columns.extend_from_slice(centers.row(i).0);
        near.iter().for_each(|&row| columns.extend_from_slice(rows.row(row as usize).0));
        columns.sort_unstable();
        columns.dedup();
        let m = columns.len();
        let mut dense = std::mem::take(&mut self.center);
        dense.resize(2 * m, 0.0);
        let (center, row) = dense.split_at_mut(m);
        spread(centers.row(i), &columns, center);
        self.shape(m);
        self.size(center);
        for (j, &neighbor) in near.iter().enumerate() {
            spread(rows.row(neighbor as usize), &columns, row);
            self.put(j, row, center);
        }
        self.columns = columns;
        self.center = dense;
        self.enlarge();
    }

    fn enlarge(&mut self) {
        let scale = enlargement(&self.entries);
        if scale != 1.0 {
            self.entries.iter_mut().for_each(|entry| *entry *= scale);
            self.sizes.iter_mut().for_each(|size| *size *= scale);
        }
    }

    /// Move the origin from the row itself to the mean of its neighbours.
    pub(super) fn center(&mut self) {
        let (k, m) = (self.k, self.m);
        if k == 0 {
            return;
        }
        match self.layout {
            Layout::ByFeature => self.entries.chunks_exact_mut(k).for_each(take_mean_off),
            Layout::ByNeighbor => {
                self.center.resize(m, 0.0);
                self.center.fill(0.0);
                for row in self.entries.chunks_exact(m.max(1)) {
                    self.center.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                self.center.iter_mut().for_each(|sum| *sum /= k as f64);
                for row in self.entries.chunks_exact_mut(m.max(1)) {
                    row.iter_mut().zip(&self.center).for_each(|(value, mean)| *value -= mean);
                }
            }
            Layout::Products => {
                self.entries.chunks_exact_mut(k).for_each(take_mean_off);
                // The matrix was symmetric: the means of its columns are now those
                // of rows whose own means have gone.
                self.center.resize(k, 0.0);
                self.center.fill(0.0);
                for row in self.entries.chunks_exact(k) {
                    self.center.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                for row in self.entries.chunks_exact_mut(k) {
                    row.iter_mut().zip(&self.center).for_each(|(value, sum)| *value -= sum / k as f64);
                }
            }
        }
    }

    /// Inner products between the neighbours, into `gram` (k × k).
    pub(super) fn products(&self, gram: &mut Vec<f64>) {
        let (k, m) = (self.k, self.m);
        gram.resize(k * k, 0.0);
        match self.layout {
            Layout::Products => gram.copy_from_slice(&self.entries),
            Layout::ByFeature => {
                gram.fill(0.0);
                for feature in self.entries.chunks_exact(k.max(1)) {
                    for (row, &one) in gram.chunks_exact_mut(k).zip(feature) {
                        row.iter_mut().zip(feature).for_each(|(sum, other)| *sum += one * other);
                    }
                }
            }
            Layout::ByNeighbor => {
                for j in 0..k {
                    for l in 0..=j {
                        let product =
                            dot(&self.entries[j * m..(j + 1) * m], &self.entries[l * m..(l + 1) * m]);
                        gram[j * k + l] = product;
                        gram[l * k + j] = product;
                    }
                }
            }
        }
    }

    /// Inner products between features, into `covariance` (m × m).
    pub(super) fn covariance(&self, covariance: &mut Vec<f64>) {
        let (k, m) = (self.k, self.m);
        covariance.resize(m * m, 0.0);
        for (a, one) in self.entries.chunks_exact(k).enumerate() {
            for (b, other) in self.entries.chunks_exact(k).enumerate().take(a + 1) {
                let product = dot(one, other);
                covariance[a * m + b] = product;
                covariance[b * m + a] = product;
            }
        }
    }
}

fn take_mean_off(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

/// A sparse row in the features of `columns`.
fn spread((indices, values): (&[u32], &[f64]), columns: &[u32], out: &mut [f64]) {
    out.fill(0.0);
    let mut at = 0;
    for (&index, &value) in indices.iter().zip(values) {
        at += columns[at..].partition_point(|&column| column < index);
        out[at] = value;
    }
}
