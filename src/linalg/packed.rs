//! A symmetric matrix of distances in half the memory, laid out the way the
//! shortest-path kernels produce it and the spectrum reads it.
//!
//! Owns: the layout and its indexing, and [`HalfMatrix`], the way to read such
//! a matrix panel by panel whether it is stored or computed again at every
//! reading. Place: from `graph::geodesic` to the operators of `spectrum`. Cost:
//! about n²/2 numbers; an entry is found in O(1).

use std::ops::Range;

use ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::Result;

/// Sources handled together by the shortest-path kernels: one SIMD lane each.
pub const LANES: usize = 16;

/// Panels that are handed out together: they pass over a tile of columns as one.
const BAND: usize = 8;

/// A number a distance may be stored as. Those that count in units of the matrix are
/// given the unit, the others ignore it.
pub trait Stored: Copy + Send + Sync + 'static {
    /// The number to calculate with.
    fn wide(self, unit: f64) -> f64;
    /// Whether the panel itself is kept, not a copy.
    const TAKES_PANEL: bool;
    /// What is stored of a panel; the panel itself may be taken.
    fn keep(panel: &mut Panel<f64>, unit: f64) -> Panel<Self>;
    /// Panels of this type.
    fn band(panels: &[Panel<Self>], unit: f64) -> Band<'_>;
}

impl Stored for f64 {
    const TAKES_PANEL: bool = true;
    #[inline(always)]
    fn wide(self, _: f64) -> f64 {
        self
    }
    fn keep(panel: &mut Panel<f64>, _: f64) -> Panel<f64> {
        let mut kept = std::mem::take(panel);
        kept.shrink_to_fit();
        kept
    }
    fn band(panels: &[Panel<f64>], _: f64) -> Band<'_> {
        Band::Wide(panels)
    }
}

impl Stored for f32 {
    const TAKES_PANEL: bool = false;
    #[inline(always)]
    fn wide(self, _: f64) -> f64 {
        f64::from(self)
    }
    fn keep(panel: &mut Panel<f64>, _: f64) -> Panel<f32> {
        panel.iter().map(|lanes| lanes.map(|distance| distance as f32)).collect()
    }
    fn band(panels: &[Panel<f32>], _: f64) -> Band<'_> {
        Band::Narrow(panels)
    }
}

/// A whole number of units below 2⁴⁸, in three quarters of the memory of a double: next to
/// the longest distance the rounding is that of the sums the distances are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fixed48([u16; 3]);

/// Added to a number below it, its last bit counts ones.
const ONES: f64 = (1u64 << 52) as f64;

impl Fixed48 {
    /// What a number of this type counts where every distance is well below `longest`, which
    /// is finite.
    pub fn unit(longest: f64) -> f64 {
        // 2⁴⁸ units are more than `longest`, and the unit has an inverse.
        let exponent = libm::ilogb(longest.max(1e-270)) + 1 - 48;
        libm::ldexp(1.0, exponent)
    }
}

impl Stored for Fixed48 {
    const TAKES_PANEL: bool = false;
    #[inline(always)]
    fn wide(self, unit: f64) -> f64 {
        let [low, middle, high] = self.0;
        let count = u64::from(low) | u64::from(middle) << 16 | u64::from(high) << 32;
        (f64::from_bits(ONES.to_bits() | count) - ONES) * unit
    }
    fn keep(panel: &mut Panel<f64>, unit: f64) -> Panel<Fixed48> {
        let per_unit = 1.0 / unit;
        let kept = |distance: f64| {
            let count = (distance * per_unit + ONES).to_bits();
            Fixed48([count as u16, (count >> 16) as u16, (count >> 32) as u16])
        };
        panel.iter().map(|lanes| lanes.map(kept)).collect()
    }
    fn band(panels: &[Panel<Fixed48>], unit: f64) -> Band<'_> {
        Band::Fixed(panels, unit)
    }
}

/// [`LANES`] rows of the matrix, column by column.
pub type Panel<T> = Vec<[T; LANES]>;

/// Consecutive panels, in whichever precision they are.
#[derive(Debug, Clone, Copy)]
pub enum Band<'a> {
    /// Double precision.
    Wide(&'a [Panel<f64>]),
    /// Single precision.
    Narrow(&'a [Panel<f32>]),
    /// Multiples of a unit.
    Fixed(&'a [Panel<Fixed48>], f64),
}

impl Band<'_> {
    /// Number of panels.
    pub fn len(&self) -> usize {
        match self {
            Band::Wide(panels) => panels.len(),
            Band::Narrow(panels) => panels.len(),
            Band::Fixed(panels, _) => panels.len(),
        }
    }
}

/// A symmetric matrix of distances that can be read panel by panel.
///
/// Panel `p` has rows `p * LANES .. (p + 1) * LANES` (positions in `order`)
/// against columns `0 .. min((p + 1) * LANES, n)`: the lower block triangle,
/// its diagonal blocks full and symmetric. Lanes past the last row are zeros.
pub trait HalfMatrix: Sync {
    /// Position → row of the caller.
    fn order(&self) -> &[u32];

    /// Hand the panels of a range to `use_band`, in order, a few at a time; the
    /// first argument is the number of the first panel of the band.
    fn visit(
        &self,
        panels: Range<usize>,
        ctx: &Ctx,
        use_band: &mut dyn FnMut(usize, Band<'_>) -> Result<()>,
    ) -> Result<()>;

    /// Number of rows.
    fn n(&self) -> usize {
        self.order().len()
    }

    /// Number of panels.
    fn panel_count(&self) -> usize {
        self.n().div_ceil(LANES)
    }
}

/// A symmetric n × n matrix of distances, rows and columns in a locality order,
/// stored: see [`HalfMatrix`] for the layout, `panels[p][column][lane]`.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedDistances<T = f64> {
    order: Vec<u32>,
    panels: Vec<Panel<T>>,
    /// Row of the caller → position.
    positions: Vec<u32>,
    /// What a stored number counts, if it counts.
    unit: f64,
}

impl<T: Stored> PackedDistances<T> {
    /// The matrix of these panels; `order` must be a permutation of `0..n`.
    ///
    /// # Panics
    /// If `order` names a row that is not in `0..n`, or the panels are not those
    /// of an n × n half matrix.
    pub fn new(order: Vec<u32>, panels: Vec<Panel<T>>) -> Self {
        let n = order.len();
        assert_eq!(panels.len(), n.div_ceil(LANES), "panels of an n × n half matrix");
        for (p, panel) in panels.iter().enumerate() {
            assert_eq!(panel.len(), n.min((p + 1) * LANES), "columns of panel {p}");
        }
        let mut positions = vec![0; n];
        for (position, &row) in order.iter().enumerate() {
            positions[row as usize] = position as u32;
        }
        PackedDistances { order, panels, positions, unit: 1.0 }
    }

    /// The same where stored numbers count `unit`s.
    pub fn in_units_of(self, unit: f64) -> Self {
        PackedDistances { unit, ..self }
    }

    /// The panels.
    #[cfg(test)]
    pub fn panels(&self) -> &[Panel<T>] {
        &self.panels
    }

    /// The entry at rows `i` and `j` of the caller.
    ///
    /// # Panics
    /// If a row is not below the number of rows, as indexing a slice does.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.positions[i] as usize, self.positions[j] as usize);
        let (row, column) = (a.max(b), a.min(b));
        self.panels[row / LANES][column][row % LANES].wide(self.unit)
    }

    /// The full matrix in the caller's order: twice the memory.
    pub fn to_dense(&self) -> Array2<f64> {
        let n = self.order.len();
        let mut dense = Array2::zeros((n, n));
        dense.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut row)| {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = self.get(i, j);
            }
        });
        dense
    }

    /// Bytes the matrix takes for `n` rows.
    pub fn bytes(n: usize) -> u64 {
        // Exact below 2⁵³ bytes; beyond the largest number of bytes it stops there.
        let (panels, rest) = ((n / LANES) as f64, if n.is_multiple_of(LANES) { 0.0 } else { n as f64 });
        let columns = LANES as f64 * (panels * (panels + 1.0) / 2.0) + rest;
        (columns * (LANES * size_of::<T>()) as f64 + (2 * size_of::<u32>()) as f64 * n as f64) as u64
    }
}

impl<T: Stored> HalfMatrix for PackedDistances<T> {
    fn order(&self) -> &[u32] {
        &self.order
    }

    fn visit(
        &self,
        panels: Range<usize>,
        ctx: &Ctx,
        use_band: &mut dyn FnMut(usize, Band<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut first = panels.start;
        for band in self.panels[panels].chunks(BAND) {
            ctx.check()?;
            use_band(first, T::band(band, self.unit))?;
            first += band.len();
        }
        Ok(())
    }
}
