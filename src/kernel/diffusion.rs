//! The random walk of diffusion maps: a Gaussian kernel, the density of the rows
//! taken out of it, made symmetric; and the width of the kernel.
//!
//! Coifman and Lafon 2006. Symbols: k = exp(−d²/ε) with k(x, x) = 1; q = Σk the
//! density; k̃ = k/(q_i q_j)^α; d = Σk̃; the walk is P = D^-1 k̃, its symmetric form
//! D^-½ k̃ D^-½, its stationary distribution π = d/Σd.
//!
//! The automatic ε (Coifman, Shkolnisky, Sigworth, Singer 2008; Berry and Harlim
//! 2016): S(ε) = Σ exp(−d²/ε) grows as ε^(dim/2) where the kernel sees the manifold,
//! and not at all where it sees single rows or everything; the best ε is where
//! log S grows fastest against log ε, and twice that slope is the dimension.
//!
//! S is over pairs of all rows (or of evenly chosen ones): over the nearest alone it
//! stops growing at their reach, whatever the manifold does beyond.
//!
//! Cost: O(entries); the automatic ε looks at a bounded number of pairs.

use ndarray::Axis;
use rayon::prelude::*;

use super::affinity::Affinity;
use super::laplacian::normalized_laplacian;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::exp::{exp, ln, power};
use crate::linalg::sparse::SparseSymmetric;
use crate::scale::Scale;

/// Pairs the automatic ε looks at.
const PAIRS: usize = 1 << 19;
/// Rows that it compares others with, at most.
const COMPARED: usize = 1 << 12;
/// Widths tried, twice: coarse, then between the neighbours of the best.
const WIDTHS: usize = 48;

/// The walk on a kernel.
pub struct Markov {
    /// k̃; its diagonal is in `own` when it is sparse.
    pub kernel: Affinity,
    /// k̃(x, x).
    pub own: Vec<f64>,
    /// d.
    pub degrees: Vec<f64>,
    /// q^α.
    pub density: Vec<f64>,
}

impl Markov {
    /// From the kernel without its diagonal (a full one may have it), which is 1.
    pub fn new(kernel: Affinity, alpha: f64, ctx: &Ctx) -> Result<Markov> {
        let density: Vec<f64> = kernel.degrees().iter().map(|sum| power(1.0 + sum, alpha)).collect();
        let share = |i: usize, j: usize, value: f64| value / (density[i] * density[j]);
        let kernel = match kernel {
            Affinity::Sparse(graph) => Affinity::Sparse(graph.reweighted(ctx, share)?),
            Affinity::Dense(mut matrix) => {
                let rows = matrix.axis_iter_mut(Axis(0)).into_par_iter().enumerate();
                rows.try_for_each(|(i, mut row)| {
                    row.iter_mut().enumerate().for_each(|(j, value)| *value = share(i, j, *value));
                    row[i] = share(i, i, 1.0);
                    ctx.check()
                })?;
                Affinity::Dense(matrix)
            }
        };
        let own: Vec<f64> = (0..density.len()).map(|i| share(i, i, 1.0)).collect();
        let degrees = kernel.degrees().iter().zip(&own).map(|(sum, own)| sum + own).collect();
        Ok(Markov { kernel, own, degrees, density })
    }

    /// I − D^-½ k̃ D^-½ when the kernel is sparse.
    pub fn laplacian(&self, ctx: &Ctx) -> Option<Result<SparseSymmetric>> {
        match &self.kernel {
            Affinity::Sparse(graph) => Some(normalized_laplacian(graph, Some(&self.own), &self.degrees, ctx)),
            Affinity::Dense(_) => None,
        }
    }

    /// π, which sums to 1.
    pub fn stationary(&self) -> Vec<f64> {
        let total: f64 = self.degrees.iter().sum();
        self.degrees.iter().map(|degree| degree / total).collect()
    }
}

/// A width and what it was found by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// ε.
    pub epsilon: f64,
    /// Twice the slope of log S at ε: an estimate of the intrinsic dimension.
    pub dimension: f64,
}

/// The pairs that S is summed over: some rows and those they are compared with, both
/// evenly chosen and ascending. Of few rows they are all.
pub fn sample(rows: usize) -> (Vec<u32>, Vec<u32>) {
    let compared = evenly(rows, COMPARED);
    let some = evenly(rows, PAIRS / compared.len().max(1));
    (some, compared)
}

/// At most `most` of `rows` rows.
fn evenly(rows: usize, most: usize) -> Vec<u32> {
    let count = rows.min(most);
    (0..count).map(|at| (at * rows / count) as u32).collect()
}

/// The ε at which log S grows fastest, S summed over `lists`: squared distances of
/// some rows to others. All in one place: ε = 1.
pub fn automatic_width(lists: &[Vec<f64>], ctx: &Ctx) -> Result<Width> {
    ctx.check()?;
    let mut positive: Vec<f64> = lists.iter().flatten().copied().filter(|&square| square > 0.0).collect();
    if positive.is_empty() {
        return Ok(Width { epsilon: 1.0, dimension: 0.0 });
    }
    let largest = positive.iter().fold(0.0_f64, |most, &square| most.max(square));
    let hundredth = positive.len() / 100;
    let (_, &mut near, _) = positive.select_nth_unstable_by(hundredth, f64::total_cmp);
    // In units of the largest square, so that ε follows the scale of the data exactly.
    let unit = Scale::to_unit(largest);
    let squares = Squares::new(lists, unit);
    // Pairs that all but coincide would only stretch the grid.
    let (low, high) = (ln(unit.into(near)) - 1.0, ln(unit.into(largest)) + 1.0);
    let step = (high - low) / WIDTHS as f64;
    let coarse = steepest(&squares, low, step, ctx)?;
    let fine = steepest(&squares, ln(coarse.epsilon) - step, 2.0 * step / WIDTHS as f64, ctx)?;
    Ok(Width { epsilon: unit.back(fine.epsilon), ..fine })
}

/// The best of widths exp(low + step·s), s = 0..=WIDTHS, the first of equal ones.
fn steepest(squares: &Squares, low: f64, step: f64, ctx: &Ctx) -> Result<Width> {
    let width = |s: usize| {
        ctx.check()?;
        let epsilon = exp(low + step * s as f64);
        Ok(Width { epsilon, dimension: 2.0 * squares.slope(epsilon) })
    };
    let widths: Vec<Width> = (0..=WIDTHS).into_par_iter().map(width).collect::<Result<_>>()?;
    let first = widths[0];
    Ok(widths.into_iter().fold(first, |best, next| if next.dimension > best.dimension { next } else { best }))
}

/// Squared distances in classes of nearly equal ones: by the leading bits of the number, 256
/// classes to a doubling. Half a million pairs make some thousand classes, and the terms
/// of S and of its slope are summed by class to second order: to 1e-9 of them.
struct Squares {
    /// Rows with themselves, and pairs in one place.
    coincident: f64,
    classes: Vec<Class>,
}

/// How many, their mean and their variance.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Squares {
    fn new(lists: &[Vec<f64>], unit: Scale) -> Squares {
        /// Bits of a number that do not tell its class.
        const WITHIN: u32 = 44;
        let squares = || lists.iter().flatten().map(|&square| unit.into(square));
        let class = |square: f64| (square.to_bits() >> WITHIN) as usize;
        let positive = || squares().filter(|&square| square > 0.0 && square < f64::INFINITY);
        let (first, last) = positive().map(class).fold((usize::MAX, 0), |(a, b), at| (a.min(at), b.max(at)));
        let mut classes = vec![Class::default(); (last + 1).saturating_sub(first)];
        // From the class's own lower end, where nothing cancels.
        let offset = |square: f64| square - f64::from_bits((class(square) as u64) << WITHIN);
        for square in positive() {
            let (class, offset) = (&mut classes[class(square) - first], offset(square));
            class.count += 1.0;
            class.mean += offset;
            class.variance += offset * offset;
        }
        for (at, class) in classes.iter_mut().enumerate().filter(|(_, class)| class.count > 0.0) {
            let mean = class.mean / class.count;
            class.variance = (class.variance / class.count - mean * mean).max(0.0);
            class.mean = mean + f64::from_bits(((first + at) as u64) << WITHIN);
        }
        classes.retain(|class| class.count > 0.0);
        let zeros = squares().filter(|&square| square == 0.0).count();
        Squares { coincident: (lists.len() + zeros) as f64, classes }
    }

    /// d log S / d log ε, every row with itself counted.
    fn slope(&self, epsilon: f64) -> f64 {
        let (mut sum, mut moment) = (self.coincident, 0.0);
        for class in &self.classes {
            let ratio = class.mean / epsilon;
            // exp(−50) is nothing beside the row itself.
            if ratio < 50.0 {
                let value = class.count * exp(-ratio);
                let bend = 0.5 * class.variance / (epsilon * epsilon);
                sum += value * (1.0 + bend);
                moment += value * (ratio + bend * (ratio - 2.0));
            }
        }
        moment / sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use ndarray::Array2;

    #[test]
    fn the_dimension_of_a_line_and_of_a_square() {
        let fraction = |i: usize, step: f64| (i as f64 * step).fract();
        let place = |i: usize| [fraction(i, 0.618_033_988_749_895), fraction(i, 0.754_877_666_246_693)];
        let ctx = Ctx::new(1, 0);
        for (used, low, high) in [(1, 0.8, 1.2), (2, 1.6, 2.3)] {
            let squares = |i: usize| {
                let gap = |j: usize| (0..used).map(|c| (place(i)[c] - place(j)[c]).powi(2)).sum::<f64>();
                (0..900).filter(|&j| j != i).map(gap).collect()
            };
            let lists: Vec<Vec<f64>> = (0..900).step_by(2).map(squares).collect();
            let width = ctx.install(|| automatic_width(&lists, &ctx)).unwrap();
            assert!((low..high).contains(&width.dimension), "{width:?}");
            assert!(width.epsilon > 1e-6 && width.epsilon < 1.0, "{width:?}");
        }
        let same = automatic_width(&vec![vec![0.0; 4]; 5], &ctx).unwrap();
        assert_eq!(same, Width { epsilon: 1.0, dimension: 0.0 });
    }

    /// Every pair by itself.
    fn slope_of_pairs(lists: &[Vec<f64>], epsilon: f64) -> f64 {
        let (mut sum, mut moment) = (lists.len() as f64, 0.0);
        for ratio in lists.iter().flatten().map(|square| square / epsilon) {
            sum += exp(-ratio);
            moment += ratio * exp(-ratio);
        }
        moment / sum
    }

    #[test]
    fn classes_of_squares_give_the_slope_of_all_pairs() {
        let fraction = |i: usize| (i as f64 * 0.618_033_988_749_895).fract();
        let lists: Vec<Vec<f64>> = (0..200)
            .map(|i| (0..200).filter(|&j| j != i).map(|j| (fraction(i) - fraction(j / 2)).powi(2)).collect())
            .collect();
        let squares = Squares::new(&lists, Scale::ONE);
        assert!(squares.coincident >= 300.0 && squares.classes.len() < 6000);
        for epsilon in [1e-7, 1e-5, 1e-3, 0.03, 0.2, 1.0, 30.0] {
            let (found, expected) = (squares.slope(epsilon), slope_of_pairs(&lists, epsilon));
            assert!((found - expected).abs() < 1e-8 * expected + 1e-20, "{epsilon}: {found} for {expected}");
        }
    }

    #[test]
    fn samples_are_bounded_even_and_all_of_few_rows() {
        assert_eq!(sample(0), (vec![], vec![]));
        assert_eq!(sample(3), (vec![0, 1, 2], vec![0, 1, 2]));
        let (some, compared) = sample(1_000_000);
        assert_eq!(some.len() * compared.len(), PAIRS);
        assert_eq!((some[0], some[1], compared[1]), (0, 1_000_000 / 128, 1_000_000 / 4096));
    }

    #[test]
    fn full_and_sparse_walks_agree_and_rows_sum_to_one() {
        let value = |i: usize, j: usize| exp(-(i as f64 - j as f64).powi(2) / 4.0);
        let full = Array2::from_shape_fn((6, 6), |(i, j)| value(i, j));
        let others = |i: usize| (0..6_u32).filter(move |&j| j as usize != i);
        let targets: Vec<u32> = (0..6).flat_map(others).collect();
        let weights: Vec<f64> = (0..6).flat_map(|i| others(i).map(move |j| value(i, j as usize))).collect();
        let graph =
            Graph::from_csr(6, &[0, 5, 10, 15, 20, 25, 30], &targets, &weights, &Ctx::new(1, 0)).unwrap();
        let dense = Markov::new(Affinity::Dense(full), 0.7, &Ctx::new(1, 0)).unwrap();
        let sparse = Markov::new(Affinity::Sparse(graph), 0.7, &Ctx::new(1, 0)).unwrap();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(near(&dense.degrees, &sparse.degrees) && near(&dense.density, &sparse.density));
        assert!((dense.stationary().iter().sum::<f64>() - 1.0).abs() < 1e-14);
        let Affinity::Dense(kernel) = &dense.kernel else { panic!() };
        let laplacian = sparse.laplacian(&Ctx::new(1, 0)).unwrap().unwrap();
        for i in 0..6 {
            assert!((kernel.row(i).sum() - dense.degrees[i]).abs() < 1e-14);
            for (&j, &entry) in laplacian.row(i).0.iter().zip(laplacian.row(i).1) {
                let j = j as usize;
                let walk = kernel[[i, j]] / (dense.degrees[i] * dense.degrees[j]).sqrt();
                assert!((f64::from(u8::from(i == j)) - walk - entry).abs() < 1e-14);
            }
        }
    }
}
