//! A symmetric matrix of distances in half the memory, laid out the way the
//! shortest-path kernels produce it and the spectrum reads it.
//!
//! Owns: the layout and its indexing, and [`HalfMatrix`], the way to read such
//! a matrix panel by panel whether it is stored or computed again at every
//! reading. Place: from `graph::geodesic` to the operators of `spectrum`. Cost:
//! about n²/2 numbers; an entry is found in O(1).

use std::ops::Range;

use bytemuck::Pod;
use ndarray::Array2;

use super::dense::square_of;
use super::pages::Pages;
use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::memory::available_memory;

/// Sources handled together by the shortest-path kernels: one SIMD lane each.
pub const LANES: usize = 16;

/// Panels that are handed out together: they pass over a tile of columns as one.
const BAND: usize = 8;

/// A number a distance may be stored as. Those that count in units of the matrix are
/// given the unit, the others ignore it.
pub trait Stored: Pod + PartialEq + Send + Sync + 'static {
    /// The number to calculate with.
    fn wide(self, unit: f64) -> f64;
    /// Store a panel.
    fn keep(lanes: &[[f64; LANES]], unit: f64, stored: &mut [[Self; LANES]]);
    /// The room itself, if numbers are stored as they are calculated.
    fn as_wide(stored: &mut [[Self; LANES]]) -> Option<&mut [[f64; LANES]]>;
    /// Panels of this type.
    fn band<'a>(panels: &'a [Panel<'a, Self>], unit: f64) -> Band<'a>;
}

impl Stored for f64 {
    #[inline(always)]
    fn wide(self, _: f64) -> f64 {
        self
    }
    fn keep(lanes: &[[f64; LANES]], _: f64, stored: &mut [[f64; LANES]]) {
        stored.copy_from_slice(lanes);
    }
    fn as_wide(stored: &mut [[f64; LANES]]) -> Option<&mut [[f64; LANES]]> {
        Some(stored)
    }
    fn band<'a>(panels: &'a [Panel<'a, f64>], _: f64) -> Band<'a> {
        Band::Wide(panels)
    }
}

impl Stored for f32 {
    #[inline(always)]
    fn wide(self, _: f64) -> f64 {
        f64::from(self)
    }
    fn keep(lanes: &[[f64; LANES]], _: f64, stored: &mut [[f32; LANES]]) {
        for (stored, lanes) in stored.iter_mut().zip(lanes) {
            *stored = lanes.map(|distance| distance as f32);
        }
    }
    fn as_wide(_: &mut [[f32; LANES]]) -> Option<&mut [[f64; LANES]]> {
        None
    }
    fn band<'a>(panels: &'a [Panel<'a, f32>], _: f64) -> Band<'a> {
        Band::Narrow(panels)
    }
}

/// A whole number of units below 2⁴⁸, in three quarters of the memory of a double: next to
/// the longest distance the rounding is that of the sums the distances are made of.
pub type Fixed48 = [u16; 3];

/// Added to a number below it, its last bit counts ones.
const ONES: f64 = (1u64 << 52) as f64;

/// What a [`Fixed48`] counts where every distance is well below `longest`, which is finite.
pub fn unit_of_fixed48(longest: f64) -> f64 {
    // 2⁴⁸ units are more than `longest`, and the unit has an inverse.
    let exponent = libm::ilogb(longest.max(1e-270)) + 1 - 48;
    libm::ldexp(1.0, exponent)
}

impl Stored for Fixed48 {
    #[inline(always)]
    fn wide(self, unit: f64) -> f64 {
        let [low, middle, high] = self;
        let count = u64::from(low) | u64::from(middle) << 16 | u64::from(high) << 32;
        (f64::from_bits(ONES.to_bits() | count) - ONES) * unit
    }
    fn keep(lanes: &[[f64; LANES]], unit: f64, stored: &mut [[Fixed48; LANES]]) {
        let per_unit = 1.0 / unit;
        for (stored, lanes) in stored.iter_mut().zip(lanes) {
            *stored = lanes.map(|distance| {
                let count = (distance * per_unit + ONES).to_bits();
                [count as u16, (count >> 16) as u16, (count >> 32) as u16]
            });
        }
    }
    fn as_wide(_: &mut [[Fixed48; LANES]]) -> Option<&mut [[f64; LANES]]> {
        None
    }
    fn band<'a>(panels: &'a [Panel<'a, Fixed48>], unit: f64) -> Band<'a> {
        Band::Fixed(panels, unit)
    }
}

/// [`LANES`] rows of the matrix, column by column.
pub type Panel<'a, T> = &'a [[T; LANES]];

/// Consecutive panels, in whichever precision they are.
#[derive(Debug, Clone, Copy)]
pub enum Band<'a> {
    /// Double precision.
    Wide(&'a [Panel<'a, f64>]),
    /// Single precision.
    Narrow(&'a [Panel<'a, f32>]),
    /// Multiples of a unit.
    Fixed(&'a [Panel<'a, Fixed48>], f64),
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
/// stored: see [`HalfMatrix`] for the layout; the panels stand one behind the other.
#[derive(Debug)]
pub struct PackedDistances<T = f64> {
    order: Vec<u32>,
    stored: Pages<[T; LANES]>,
    /// Row of the caller → position.
    positions: Vec<u32>,
    /// What a stored number counts, if it counts.
    unit: f64,
}

impl<T: Stored> PartialEq for PackedDistances<T> {
    fn eq(&self, other: &Self) -> bool {
        // The positions follow from the order.
        self.order == other.order && self.unit == other.unit && *self.stored == *other.stored
    }
}

/// Columns of all panels before panel `p`.
fn columns_before(p: usize) -> usize {
    LANES * (p * (p + 1) / 2)
}

/// Columns of all panels of an n × n matrix.
fn columns(n: usize) -> usize {
    columns_before(n / LANES) + if n.is_multiple_of(LANES) { 0 } else { n }
}

impl<T: Stored> PackedDistances<T> {
    /// An n × n matrix of zeros, its numbers in units of `unit` if they count any.
    pub fn zeros(n: usize, unit: f64) -> Result<Self> {
        let stored = Pages::zeroed(columns(n)).ok_or_else(|| Error::Memory {
            what: format!("the distances between all pairs of {n} points"),
            need: Self::bytes(n),
            available: available_memory(),
            hint: "use landmarks (LandmarkIsomap)".to_string(),
        })?;
        let order: Vec<u32> = (0..n as u32).collect();
        Ok(PackedDistances { positions: order.clone(), order, stored, unit })
    }

    /// The same numbers for rows in another order, a permutation of `0..n`.
    ///
    /// # Panics
    /// If `order` names a row that is not in `0..n`, or has not n of them.
    pub fn in_order(mut self, order: Vec<u32>) -> Self {
        assert_eq!(order.len(), self.order.len(), "an order of all rows");
        for (position, &row) in order.iter().enumerate() {
            self.positions[row as usize] = position as u32;
        }
        PackedDistances { order, ..self }
    }

    /// The panels, to be written.
    pub fn panels_mut(&mut self) -> Vec<&mut [[T; LANES]]> {
        let n = self.order.len();
        let mut rest = &mut self.stored[..];
        let panel = |p: usize| rest.split_off_mut(..n.min((p + 1) * LANES)).unwrap_or_default();
        (0..n.div_ceil(LANES)).map(panel).collect()
    }

    /// Panel `p`.
    pub fn panel(&self, p: usize) -> Panel<'_, T> {
        let begin = columns_before(p);
        &self.stored[begin..begin + self.order.len().min((p + 1) * LANES)]
    }

    /// The entry at rows `i` and `j` of the caller.
    ///
    /// # Panics
    /// If a row is not below the number of rows, as indexing a slice does.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.positions[i] as usize, self.positions[j] as usize);
        let (row, column) = (a.max(b), a.min(b));
        self.panel(row / LANES)[column][row % LANES].wide(self.unit)
    }

    /// The full matrix in the caller's order: twice the memory.
    pub fn to_dense(&self, ctx: &Ctx) -> Result<Array2<f64>> {
        square_of(self.order.len(), ctx, |i, j| self.get(i, j))
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
        let panels: Vec<Panel<'_, T>> = panels.map(|p| self.panel(p)).collect();
        for band in panels.chunks(BAND) {
            ctx.check()?;
            use_band(first, T::band(band, self.unit))?;
            first += band.len();
        }
        Ok(())
    }
}
