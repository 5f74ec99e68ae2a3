//! A symmetric matrix of distances in half the memory, laid out the way the
//! shortest-path kernels produce it and the spectrum reads it.
//!
//! Owns: the layout and its indexing. Place: from `graph::geodesic` (or a dense
//! matrix) to the operators of `spectrum`. Cost: about n²/2 numbers; an entry
//! is found in O(1).

use ndarray::Array2;
use rayon::prelude::*;

/// Sources handled together by the shortest-path kernels: one SIMD lane each.
pub const LANES: usize = 16;

/// A symmetric n × n matrix of distances, rows and columns in a locality order.
///
/// Panel `p` holds rows `p * LANES .. (p + 1) * LANES` (positions in `order`)
/// against columns `0 .. min((p + 1) * LANES, n)`, column by column:
/// `panels[p][column][lane]`. Only the lower block triangle is stored; the
/// diagonal blocks are full and symmetric. Lanes past the last row repeat zeros.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedDistances {
    /// Position → row of the caller.
    pub order: Vec<u32>,
    /// The panels, `n.div_ceil(LANES)` of them.
    pub panels: Vec<Vec<[f64; LANES]>>,
    /// Row of the caller → position.
    positions: Vec<u32>,
}

impl PackedDistances {
    /// The matrix of these panels; `order` must be a permutation of `0..n`.
    ///
    /// # Panics
    /// If `order` names a row that is not in `0..n`.
    pub fn new(order: Vec<u32>, panels: Vec<Vec<[f64; LANES]>>) -> Self {
        let mut positions = vec![0; order.len()];
        for (position, &row) in order.iter().enumerate() {
            positions[row as usize] = position as u32;
        }
        PackedDistances { order, panels, positions }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.order.len()
    }

    /// Row of the caller → position.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// The entry at rows `i` and `j` of the caller.
    ///
    /// # Panics
    /// If a row is not below [`PackedDistances::n`], as indexing a slice does.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.positions[i] as usize, self.positions[j] as usize);
        let (row, column) = (a.max(b), a.min(b));
        self.panels[row / LANES][column][row % LANES]
    }

    /// The full matrix in the caller's order: twice the memory.
    pub fn to_dense(&self) -> Array2<f64> {
        let n = self.n();
        let mut dense = Array2::zeros((n, n));
        if n == 0 {
            return dense;
        }
        let rows = dense.as_slice_mut().unwrap_or_default();
        rows.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = self.get(i, j);
            }
        });
        dense
    }

    /// Replace every distance `d` by `change(d)`, in parallel on the current pool.
    pub fn map(&mut self, change: impl Fn(f64) -> f64 + Sync) {
        let n = self.n();
        self.panels.par_iter_mut().enumerate().for_each(|(p, panel)| {
            let lanes_used = LANES.min(n - p * LANES);
            for lanes in panel {
                lanes[..lanes_used].iter_mut().for_each(|distance| *distance = change(*distance));
            }
        });
    }

    /// Bytes the matrix takes for `n` rows.
    pub fn bytes(n: usize) -> u64 {
        let (n, lanes) = (n as u64, LANES as u64);
        let columns_all = |panels: u64| lanes.saturating_mul(panels.saturating_mul(panels + 1) / 2);
        let columns = columns_all(n / lanes) + if n.is_multiple_of(lanes) { 0 } else { n };
        let entry = (LANES * size_of::<f64>()) as u64;
        columns.saturating_mul(entry).saturating_add(n * 2 * size_of::<u32>() as u64)
    }
}
