//! Convolution of numbers on a grid with an even function of the distance.
//!
//! ```text
//! out[r, c] = Σ_{s, d} in[s, d] · f(r − s, c − d)     f(a, b) = f(|a|, |b|)
//! ```
//!
//! By Fourier transforms of twice the size, so that nothing wraps around. Half of what would be
//! transformed is zero, and half of the result is not needed: no transform is longer than the
//! grid. A padded sequence has the even part of its spectrum from itself, and the odd part from
//! itself times exp(−πi j/n). Rows are real, and are transformed as half as many complex
//! numbers; columns go through transform, product and inverse while they are in cache.
//! Place: under the repulsion of `optimize::neighbor_embedding`.
//!
//! Cost: n log n for n nodes, six transforms of a row's length for each row. Same bits for any
//! number of threads and any CPU (see [`super::fft`]).

use rayon::prelude::*;

use super::fft::{Complex, Fft, LANES, Lanes, root};
use crate::context::Ctx;
use crate::error::Result;

/// A convolution on one grid: its transforms, and the spectrum of its function.
#[derive(Debug)]
pub struct Convolution {
    /// Along a column: as long as there are rows.
    down: Padded,
    /// Along a row.
    across: Padded,
    /// The spectrum at column frequencies 0 … columns in blocks of lanes, each with row
    /// frequencies 0 … rows.
    spectrum: Vec<Lanes>,
    /// Spectra of rows, in blocks of rows; of columns, in blocks of columns.
    by_rows: Vec<Complex>,
    by_columns: Vec<Complex>,
}

/// Transforms of sequences that are padded with as many zeros.
#[derive(Debug)]
struct Padded {
    length: usize,
    fft: Fft,
    /// exp(−πi j / length).
    turns: Vec<[f32; 2]>,
}

impl Padded {
    fn new(length: usize) -> Padded {
        Padded { length, fft: Fft::new(length), turns: (0..=length).map(|j| root(j, 2 * length)).collect() }
    }

    /// Blocks of lanes that hold the frequencies 0 … length.
    fn blocks(&self) -> usize {
        self.length / LANES + 1
    }

    /// The spectrum of an even sequence of twice the length, given up to its middle: real, at
    /// frequencies 0 … length.
    #[inline(always)]
    fn even_spectrum(&self, half: &[Lanes], found: &mut [Lanes], room: &mut [Vec<Complex>; 3]) {
        let n = self.length;
        let [x, other, scratch] = room;
        for j in 0..n {
            let real = |re| Complex { re, ..Complex::ZERO };
            let (near, far) = (real(half[j]), real(half[n - j]));
            (x[j], other[j]) = (near.plus(far), near.minus(far).times(self.turns[j]));
        }
        self.fft.forward(x, scratch);
        self.fft.forward(other, scratch);
        for k in 0..=n {
            found[k] = if k % 2 == 0 { x[k / 2 % n].re } else { other[k / 2].re };
        }
    }
}

fn room(length: usize) -> [Vec<Complex>; 3] {
    std::array::from_fn(|_| vec![Complex::ZERO; length])
}

impl Convolution {
    /// On a grid of `rows` × `columns`, both of a [`super::fft::good_length`], with the
    /// function's values and a factor of each frequency of rows and columns, 0 … length.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(
        rows: usize,
        columns: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
        factors: [&[f64]; 2],
        ctx: &Ctx,
    ) -> Result<Convolution> {
        let (down, across) = (Padded::new(rows), Padded::new(columns));
        let lane = |first: usize, value: &dyn Fn(usize) -> f64| -> Lanes {
            std::array::from_fn(|lane| value(first + lane) as f32)
        };
        // Along rows, eight rows at once; rows beyond the last are not used.
        let mut rowwise = vec![[0.0; LANES]; down.blocks() * (columns + 1)];
        rowwise.par_chunks_mut(columns + 1).enumerate().try_for_each(|(block, found)| {
            ctx.check()?;
            let half: Vec<Lanes> =
                (0..=columns).map(|c| lane(block * LANES, &|r| value(r.min(rows), c))).collect();
            pulp::Arch::new().dispatch(EvenSpectrum { along: &across, half: &half, found });
            Ok::<(), crate::error::Error>(())
        })?;
        // Then along columns, eight at once.
        let scale = 0.25 / (rows as f64 * columns as f64);
        let mut spectrum = vec![[0.0; LANES]; across.blocks() * (rows + 1)];
        spectrum.par_chunks_mut(rows + 1).enumerate().try_for_each(|(block, found)| {
            ctx.check()?;
            let at = |r: usize, c: usize| {
                f64::from(rowwise[r / LANES * (columns + 1) + c.min(columns)][r % LANES])
            };
            let half: Vec<Lanes> = (0..=rows).map(|r| lane(block * LANES, &|c| at(r, c))).collect();
            pulp::Arch::new().dispatch(EvenSpectrum { along: &down, half: &half, found });
            for (slots, factor) in found.iter_mut().zip(factors[0]) {
                for (lane, slot) in slots.iter_mut().enumerate() {
                    let column = (block * LANES + lane).min(columns);
                    *slot = (f64::from(*slot) * factor * factors[1][column] * scale) as f32;
                }
            }
            Ok::<(), crate::error::Error>(())
        })?;
        let by_rows = vec![Complex::ZERO; rows.div_ceil(LANES) * (columns + 1)];
        let by_columns = vec![Complex::ZERO; across.blocks() * rows];
        Ok(Convolution { down, across, spectrum, by_rows, by_columns })
    }

    /// Rows and columns of the grid.
    pub fn shape(&self) -> (usize, usize) {
        (self.down.length, self.across.length)
    }

    /// The convolution in the place of the grid, row by row.
    ///
    /// # Errors
    /// Cancellation.
    pub fn apply(&mut self, grid: &mut [f32], ctx: &Ctx) -> Result<()> {
        let (rows, columns) = self.shape();
        let Convolution { down, across, spectrum, by_rows, by_columns } = self;
        let arch = pulp::Arch::new();
        by_rows.par_chunks_mut(columns + 1).zip(grid.par_chunks(LANES * columns)).try_for_each(
            |(found, grid)| {
                ctx.check()?;
                arch.dispatch(RowsForward { across, grid, found });
                Ok::<(), crate::error::Error>(())
            },
        )?;
        let tasks = by_columns.par_chunks_mut(rows).zip(spectrum.par_chunks(rows + 1)).enumerate();
        tasks.try_for_each(|(block, (found, spectrum))| {
            ctx.check()?;
            arch.dispatch(Columns { down, by_rows, columns, block, spectrum, found });
            Ok::<(), crate::error::Error>(())
        })?;
        grid.par_chunks_mut(LANES * columns).enumerate().try_for_each(|(block, grid)| {
            ctx.check()?;
            arch.dispatch(RowsBackward { across, by_columns, rows, block, grid });
            Ok(())
        })
    }
}

struct EvenSpectrum<'a> {
    along: &'a Padded,
    half: &'a [Lanes],
    found: &'a mut [Lanes],
}

impl pulp::WithSimd for EvenSpectrum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.along.even_spectrum(self.half, self.found, &mut room(self.along.length));
    }
}

/// Spectra of up to eight real rows of a grid.
struct RowsForward<'a> {
    across: &'a Padded,
    grid: &'a [f32],
    found: &'a mut [Complex],
}

impl pulp::WithSimd for RowsForward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let RowsForward { across, grid, found } = self;
        let n = across.length;
        // Two numbers of a row as one complex number; the padding is zero.
        let mut z = vec![Complex::ZERO; n];
        for (lane, row) in grid.chunks_exact(n).enumerate() {
            for (number, pair) in z.iter_mut().zip(row.as_chunks::<2>().0) {
                (number.re[lane], number.im[lane]) = (pair[0], pair[1]);
            }
        }
        let mut scratch = vec![Complex::ZERO; n];
        across.fft.forward(&mut z, &mut scratch);
        for k in 0..=n {
            let (near, far) = (z[k % n], z[(n - k) % n].conjugate());
            let odd = near.minus(far).times(across.turns[k]);
            // (near − far) / 2i
            let odd = Complex { re: odd.im, im: odd.re.map(|value| -value) };
            found[k] = near.plus(far).plus(odd).by(0.5);
        }
    }
}

/// Transform, product and inverse of eight columns.
struct Columns<'a> {
    down: &'a Padded,
    by_rows: &'a [Complex],
    columns: usize,
    block: usize,
    spectrum: &'a [Lanes],
    found: &'a mut [Complex],
}

impl pulp::WithSimd for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Columns { down, by_rows, columns, block, spectrum, found } = self;
        let n = down.length;
        let first = block * LANES;
        let width = (columns + 1 - first).min(LANES);
        for (rows, found) in by_rows.chunks_exact(columns + 1).zip(found.chunks_mut(LANES)) {
            transpose(&rows[first..first + width], found);
        }
        let [mut odd, mut scratch, _] = room(n);
        for (odd, (number, turn)) in odd.iter_mut().zip(found.iter().zip(&down.turns)) {
            *odd = number.times(*turn);
        }
        let even = found;
        down.fft.forward(even, &mut scratch);
        down.fft.forward(&mut odd, &mut scratch);
        // The spectrum is even: frequency k is that of 2n − k.
        for m in 0..n {
            even[m] = even[m].scaled(&spectrum[(2 * m).min(2 * n - 2 * m)]);
            odd[m] = odd[m].scaled(&spectrum[(2 * m + 1).min(2 * n - 2 * m - 1)]);
        }
        down.fft.backward(even, &mut scratch);
        down.fft.backward(&mut odd, &mut scratch);
        for (even, (odd, [re, im])) in even.iter_mut().zip(odd.iter().zip(&down.turns)) {
            *even = even.plus(odd.times([*re, -*im]));
        }
    }
}

/// Up to eight rows of a grid from their spectra.
struct RowsBackward<'a> {
    across: &'a Padded,
    by_columns: &'a [Complex],
    rows: usize,
    block: usize,
    grid: &'a mut [f32],
}

impl pulp::WithSimd for RowsBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let RowsBackward { across, by_columns, rows, block, grid } = self;
        let n = across.length;
        let height = grid.len() / n;
        let mut spectrum = vec![Complex::ZERO; n + 1];
        for (columns, spectrum) in by_columns.chunks_exact(rows).zip(spectrum.chunks_mut(LANES)) {
            transpose(&columns[block * LANES..block * LANES + height], spectrum);
        }
        let [mut z, mut scratch, _] = room(n);
        for k in 0..n {
            let (near, far) = (spectrum[k], spectrum[n - k].conjugate());
            let [re, im] = across.turns[k];
            let odd = near.minus(far).times([re, -im]);
            // even part + i × odd part
            z[k] = near.plus(far).plus(Complex { re: odd.im.map(|value| -value), im: odd.re });
        }
        across.fft.backward(&mut z, &mut scratch);
        for (lane, row) in grid.chunks_exact_mut(n).enumerate() {
            for (number, pair) in z.iter().zip(row.as_chunks_mut::<2>().0) {
                *pair = [number.re[lane], number.im[lane]];
            }
        }
    }
}

/// Lanes as numbers and numbers as lanes.
#[inline(always)]
fn transpose(from: &[Complex], to: &mut [Complex]) {
    for (lane, number) in from.iter().enumerate() {
        for (at, slot) in to.iter_mut().enumerate() {
            (slot.re[lane], slot.im[lane]) = (number.re[at], number.im[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_over_all_nodes() {
        for (rows, columns) in [(2, 2), (10, 6), (12, 20), (9, 16), (25, 40)] {
            let value = |a: usize, b: usize| 1.0 / (1.0 + 0.3 * (a * a) as f64 + 0.2 * (b * b) as f64);
            let ones = vec![1.0; rows.max(columns) + 1];
            let ctx = Ctx::new(2, 0);
            let given: Vec<f32> =
                (0..rows * columns).map(|at| ((at * at) as f32 * 0.618_034).fract()).collect();
            let mut grid = given.clone();
            ctx.install(|| {
                Convolution::new(rows, columns, value, [&ones, &ones], &ctx).unwrap().apply(&mut grid, &ctx)
            })
            .unwrap();
            for (at, found) in grid.iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                let mut sum = 0.0;
                for (other, given) in given.iter().enumerate() {
                    let (r, c) = (other / columns, other % columns);
                    sum += f64::from(*given) * value(row.abs_diff(r), column.abs_diff(c));
                }
                assert!((f64::from(*found) - sum).abs() < 2e-5 * sum.abs().max(1.0), "{rows} × {columns}");
            }
        }
    }
}
