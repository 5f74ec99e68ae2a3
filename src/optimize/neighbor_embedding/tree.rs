//! Barnes–Hut: distant points act as one, at their centre.
//!
//! Barnes & Hut 1986; van der Maaten 2014. Points are sorted along a Morton curve, so that
//! the cells of a tree are ranges of them. Neighbours on the curve walk the tree together:
//! the walk of a group lists what acts on it, points nearby and cells whose width is below
//! `angle` times their distance from the group's bounding box, and `field` adds up the list
//! for each of the group. No point of the group is nearer to the cell than its box, so that
//! the error is at most that of one walk for each point. Points that the curve cannot tell
//! apart are one source with their weight.
//!
//! Cost: n log n for the sort, n log n / angle² for the sums.

use rayon::prelude::*;

use super::field::{Sources, Student};
use crate::context::Ctx;
use crate::error::Result;

/// Most points of a cell that is not divided.
const LEAF: usize = 8;
/// Points that walk together.
const GROUP: usize = 16;
/// Groups of one task.
const TASK: usize = 16;

/// Divisions of the box of all points, by the number of coordinates.
const fn levels(width: usize) -> u32 {
    match width {
        1 => 40,
        2 => 30,
        _ => 20,
    }
}

/// A cell: its centre of mass, and where its points are.
#[derive(Debug, Clone, Copy)]
struct Cell<const P: usize> {
    center: [f64; P],
    weight: f64,
    /// Square of the longest side of the box of its points.
    square_width: f64,
    first: u32,
    last: u32,
    /// The cell after this one and all in it, in the order of the walk.
    next: u32,
    /// Whether it is divided no further.
    leaf: bool,
}

/// The tree over points in Morton order.
#[derive(Debug)]
pub struct Tree<const P: usize> {
    /// The row of each sorted point.
    order: Vec<u32>,
    codes: Vec<u64>,
    /// The points and their weights, sorted.
    places: Vec<[f64; P]>,
    weights: Vec<f64>,
    cells: Vec<Cell<P>>,
}

impl<const P: usize> Tree<P> {
    /// Of points stored row by row.
    pub fn new(y: &[f64], weights: Option<&[f64]>) -> Tree<P> {
        let rows = y.as_chunks::<P>().0;
        let mut low = [f64::INFINITY; P];
        let mut high = [f64::NEG_INFINITY; P];
        for row in rows {
            for k in 0..P {
                low[k] = low[k].min(row[k]);
                high[k] = high[k].max(row[k]);
            }
        }
        let width = (0..P).fold(0.0_f64, |most, k| most.max(high[k] - low[k]));
        let cells = (1u64 << levels(P)) as f64;
        let scale = if width > 0.0 { cells * (1.0 - 1e-12) / width } else { 0.0 };
        let code =
            |row: &[f64; P]| interleaved::<P>(std::array::from_fn(|k| ((row[k] - low[k]) * scale) as u64));
        let mut sorted: Vec<(u64, u32)> =
            rows.par_iter().with_min_len(4096).enumerate().map(|(at, row)| (code(row), at as u32)).collect();
        sorted.par_sort_unstable();
        let order: Vec<u32> = sorted.iter().map(|&(_, row)| row).collect();
        let weight = |row: u32| weights.map_or(1.0, |weights| weights[row as usize]);
        let mut tree = Tree {
            codes: sorted.iter().map(|&(code, _)| code).collect(),
            places: order.iter().map(|&row| rows[row as usize]).collect(),
            weights: order.iter().map(|&row| weight(row)).collect(),
            cells: Vec::with_capacity(rows.len() / 2),
            order,
        };
        tree.divide(0, rows.len(), levels(P));
        tree
    }

    /// Append the cell of the sorted points `first..last`, which agree above `level`, and
    /// all cells in it; its box.
    fn divide(&mut self, first: usize, last: usize, level: u32) -> ([f64; P], [f64; P]) {
        let own = self.cells.len();
        let leaf = last - first <= LEAF || level == 0;
        let (mut center, mut weight) = ([0.0; P], 0.0);
        let (mut low, mut high) = ([f64::INFINITY; P], [f64::NEG_INFINITY; P]);
        let nothing =
            Cell { center, weight, square_width: 0.0, first: first as u32, last: last as u32, next: 0, leaf };
        self.cells.push(nothing);
        if leaf {
            for at in first..last {
                weight += self.weights[at];
                for k in 0..P {
                    center[k] += self.weights[at] * self.places[at][k];
                    low[k] = low[k].min(self.places[at][k]);
                    high[k] = high[k].max(self.places[at][k]);
                }
            }
        } else {
            let shift = (level - 1) * P as u32;
            let mut start = first;
            while start < last {
                let digit = self.codes[start] >> shift;
                let end = start + self.codes[start..last].partition_point(|&code| code >> shift == digit);
                let child = self.cells.len();
                let (child_low, child_high) = self.divide(start, end, level - 1);
                let child = self.cells[child];
                weight += child.weight;
                for k in 0..P {
                    center[k] += child.weight * child.center[k];
                    low[k] = low[k].min(child_low[k]);
                    high[k] = high[k].max(child_high[k]);
                }
                start = end;
            }
        }
        let side = (0..P).fold(0.0_f64, |most, k| most.max(high[k] - low[k]));
        let next = self.cells.len() as u32;
        let cell = &mut self.cells[own];
        cell.center = center.map(|sum| sum / weight);
        (cell.weight, cell.square_width, cell.next) = (weight, side * side, next);
        (low, high)
    }

    /// List what acts on the points between `low` and `high`.
    fn walk(&self, low: &[f64; P], high: &[f64; P], square_angle: f64, sources: &mut Sources<f32>) {
        sources.clear();
        let mut add = |place: &[f64; P], weight: f64| {
            (0..P).for_each(|k| sources.columns[k].push(place[k] as f32));
            sources.weights.push(weight as f32);
        };
        let mut at = 0;
        while let Some(cell) = self.cells.get(at) {
            let mut squared = 0.0;
            for k in 0..P {
                let apart = (low[k] - cell.center[k]).max(cell.center[k] - high[k]).max(0.0);
                squared += apart * apart;
            }
            let many = (cell.last - cell.first) as usize > LEAF;
            if cell.square_width < square_angle * squared || (cell.leaf && many) {
                add(&cell.center, cell.weight);
                at = cell.next as usize;
            } else if cell.leaf {
                let range = cell.first as usize..cell.last as usize;
                self.places[range.clone()].iter().zip(&self.weights[range]).for_each(|(y, w)| add(y, *w));
                at = cell.next as usize;
            } else {
                at += 1;
            }
        }
    }

    /// The field at every point: Σ w k into `totals`, Σ w k u (y − y_j) into `forces`, by row.
    ///
    /// # Errors
    /// Cancellation.
    pub fn field(
        &self,
        law: Student,
        angle: f64,
        totals: &mut [f64],
        forces: &mut [f64],
        ctx: &Ctx,
    ) -> Result<()> {
        let parts: Vec<(Vec<f64>, Vec<f64>)> = self
            .places
            .par_chunks(GROUP * TASK)
            .map(|task| {
                ctx.check()?;
                let (mut totals, mut forces) = (vec![0.0; task.len()], vec![0.0; task.len() * P]);
                let mut sources = Sources::empty(P);
                let mut queries = [0f32; 64];
                for (at, group) in task.chunks(GROUP).enumerate() {
                    let (mut low, mut high) = (group[0], group[0]);
                    for (place, query) in group.iter().zip(queries.chunks_exact_mut(P)) {
                        for k in 0..P {
                            low[k] = low[k].min(place[k]);
                            high[k] = high[k].max(place[k]);
                            query[k] = place[k] as f32;
                        }
                    }
                    self.walk(&low, &high, angle * angle, &mut sources);
                    let own = at * GROUP..at * GROUP + group.len();
                    let force = &mut forces[own.start * P..own.end * P];
                    sources.field(law, &queries[..group.len() * P], &mut totals[own], force);
                }
                Ok((totals, forces))
            })
            .collect::<Result<_>>()?;
        let found = parts.iter().flat_map(|(totals, forces)| totals.iter().zip(forces.chunks_exact(P)));
        for (&row, (total, force)) in self.order.iter().zip(found) {
            let row = row as usize;
            totals[row] = *total;
            forces[row * P..(row + 1) * P].copy_from_slice(force);
        }
        Ok(())
    }
}

/// The bits of P numbers in turn, the highest first.
fn interleaved<const P: usize>(numbers: [u64; P]) -> u64 {
    match P {
        1 => numbers[0],
        2 => spread_by_two(numbers[0]) << 1 | spread_by_two(numbers[P - 1]),
        _ => {
            spread_by_three(numbers[0]) << 2
                | spread_by_three(numbers[1]) << 1
                | spread_by_three(numbers[P - 1])
        }
    }
}

/// A zero between every two of 32 bits.
fn spread_by_two(number: u64) -> u64 {
    let mut x = number & 0xffff_ffff;
    x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

/// Two zeros between every two of 21 bits.
fn spread_by_three(number: u64) -> u64 {
    let mut x = number & 0x1f_ffff;
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}
