//! A symmetric matrix of distances in half the memory, laid out the way the
//! shortest-path kernels produce it and the spectrum reads it.

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
}
