//! Rank correlation of distances over all pairs, in fixed memory.
//!
//! Place: `neighbors` in, a score out (Spearman 1904; equal distances share the mean of their
//! ranks). Up to [`FEW_PAIRS`] pairs the distances are sorted. Beyond, they are counted in about
//! 2²⁰ narrow intervals, as many in a stretch of distances as a sample has pairs in it, and pairs
//! in one interval count as equal: ranks change by about a millionth, some up and some down, and
//! the correlation by less than 1e-8 over a million pairs. Where a share s of all pairs has
//! distances that agree to six digits or more, as those to one row far from all others do, they
//! may count as equal as well, and the correlation changes by less than s. Two passes
//! over the pairs: one counts, one multiplies the ranks. Cost: that of the distances, 30 MB.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::comparison::Comparison;
use super::score::{Score, of_means};
use crate::context::Ctx;
use crate::error::Result;
use crate::neighbors::{DistanceRows, Precision, RowChoice};

/// Up to this many pairs are sorted.
const FEW_PAIRS: usize = 1 << 20;

/// Rows by which the intervals are chosen.
const SAMPLE_ROWS: usize = 48;

/// Σ u v, Σ u², Σ v², Σ u and Σ v of the ranks of the pairs of a row.
type RankSums = [f64; 5];

/// Correlation of the ranks of distances. The value at a point is that of the ranks, among all
/// pairs, of its own.
pub(super) fn spearman(both: &Comparison<'_>, ctx: &Ctx) -> Result<Score> {
    let few = both.rows().len() * both.len() <= FEW_PAIRS;
    let rows = if few { sorted_ranks(both, ctx)? } else { counted_ranks(both, ctx)? };
    let pairs = both.len() as f64 - 1.0;
    let of = |sums: &RankSums| correlation(sums, pairs);
    let (value, standard_error) = of_means(&rows, both.len(), of);
    Ok(Score { value, standard_error, per_point: Some(rows.iter().map(of).collect()) })
}

fn correlation([product, u_squared, v_squared, u, v]: &RankSums, pairs: f64) -> f64 {
    let spread = |squares: f64, sum: f64| {
        let spread = squares - sum * sum / pairs;
        if spread > 1e-14 * squares { spread } else { 0.0 }
    };
    let bound = (spread(*u_squared, *u) * spread(*v_squared, *v)).sqrt();
    if bound > 0.0 { ((product - u * v / pairs) / bound).clamp(-1.0, 1.0) } else { 0.0 }
}

/// Sums of ranks, which are shares of all pairs around zero.
fn add(sums: &mut RankSums, u: f64, v: f64) {
    for (sum, term) in sums.iter_mut().zip([u * v, u * u, v * v, u, v]) {
        *sum += term;
    }
}

/// By sorting all distances.
fn sorted_ranks(both: &Comparison<'_>, ctx: &Ctx) -> Result<Vec<RankSums>> {
    let others = both.len() - 1;
    let ranks_in = |space: &DistanceRows<'_>| -> Result<Vec<f64>> {
        ctx.stage("ranks of distances", both.rows().len());
        let rows =
            DistanceRows::each_row([space], both.rows(), Precision::Exact, ctx, |row, [distances]| {
                let others = distances.iter().enumerate().filter(|(other, _)| *other != row);
                others.map(|(_, distance)| *distance).collect::<Vec<f64>>()
            })?;
        ctx.check()?;
        Ok(mean_ranks(&rows.concat()))
    };
    let (u, v) = (ranks_in(&both.x)?, ranks_in(&both.y)?);
    let row = |(u, v): (&[f64], &[f64])| {
        let mut sums = [0.0; 5];
        u.iter().zip(v).for_each(|(u, v)| add(&mut sums, *u, *v));
        sums
    };
    Ok(u.chunks_exact(others).zip(v.chunks_exact(others)).map(row).collect())
}

/// The mean rank of each value, as a share of all, less one half.
fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    let value = |at: &u32| values[*at as usize];
    order.par_sort_unstable_by(|left, right| value(left).total_cmp(&value(right)).then(left.cmp(right)));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|left, right| value(left) == value(right)) {
        let rank = centred_rank(first, group.len() as u64, values.len() as f64);
        group.iter().for_each(|&at| ranks[at as usize] = rank);
        first += group.len() as u64;
    }
    ranks
}

fn centred_rank(before: u64, count: u64, all: f64) -> f64 {
    (before as f64 + 0.5 * count as f64) / all - 0.5
}

/// By counting in intervals.
fn counted_ranks(both: &Comparison<'_>, ctx: &Ctx) -> Result<Vec<RankSums>> {
    let spaces = [&both.x, &both.y];
    let intervals = [Intervals::of(&both.x, ctx)?, Intervals::of(&both.y, ctx)?];
    let counts = intervals.each_ref().map(|own| own.zeros());
    ctx.stage("ranks of distances", 2 * both.rows().len());
    DistanceRows::each_row(spaces, both.rows(), Precision::Close, ctx, |row, distances| {
        for ((intervals, counts), distances) in intervals.iter().zip(&counts).zip(distances) {
            for (_, distance) in distances.iter().enumerate().filter(|(other, _)| *other != row) {
                counts[intervals.of_distance(*distance)].fetch_add(1, Ordering::Relaxed);
            }
        }
    })?;
    let all = both.rows().len() as f64 * (both.len() as f64 - 1.0);
    let ranks = counts.map(|counts| ranks_of_counts(&counts, all));
    DistanceRows::each_row(spaces, both.rows(), Precision::Close, ctx, |row, [given, placed]| {
        let mut sums = [0.0; 5];
        for (_, (given, placed)) in given.iter().zip(placed).enumerate().filter(|(other, _)| *other != row) {
            let (u, v) = (intervals[0].of_distance(*given), intervals[1].of_distance(*placed));
            add(&mut sums, ranks[0][u], ranks[1][v]);
        }
        sums
    })
}

fn ranks_of_counts(counts: &[AtomicU64], all: f64) -> Vec<f64> {
    let mut before = 0;
    let rank = |count: &AtomicU64| {
        let count = count.load(Ordering::Relaxed);
        before += count;
        centred_rank(before - count, count, all)
    };
    counts.iter().map(rank).collect()
}

/// Ascending intervals of distances. The leading bits of a number are its stretch, of 256 to a
/// power of two; a stretch has intervals of equal length.
struct Intervals {
    /// First interval and number of intervals of each stretch.
    stretches: Vec<(u32, u32)>,
    count: usize,
}

/// Bits of a number below its stretch.
const BELOW: u32 = 44;
/// Intervals beyond one a stretch.
const INTERVALS: u64 = 1 << 20;

impl Intervals {
    /// Intervals that have about equal shares of the distances.
    fn of(space: &DistanceRows<'_>, ctx: &Ctx) -> Result<Intervals> {
        let n = space.len();
        let rows: Vec<u32> = (0..n as u32).step_by(n.div_ceil(SAMPLE_ROWS).max(1)).collect();
        let stretches = 1usize << (63 - BELOW);
        let counts: Vec<AtomicU64> = (0..stretches).map(|_| AtomicU64::new(0)).collect();
        let sample = RowChoice::Some(&rows);
        DistanceRows::each_row([space], sample, Precision::Close, ctx, |_, [distances]| {
            for distance in distances {
                counts[stretch(*distance)].fetch_add(1, Ordering::Relaxed);
            }
        })?;
        let all = (rows.len() * n) as u64;
        let mut count = 0;
        let stretches = counts
            .iter()
            .map(|own| {
                let own = 1 + (INTERVALS * own.load(Ordering::Relaxed) / all.max(1)) as u32;
                count += own;
                (count - own, own)
            })
            .collect();
        Ok(Intervals { stretches, count: count as usize })
    }

    fn zeros(&self) -> Vec<AtomicU64> {
        (0..self.count).map(|_| AtomicU64::new(0)).collect()
    }

    #[inline(always)]
    fn of_distance(&self, distance: f64) -> usize {
        let (first, count) = self.stretches[stretch(distance)];
        let within = ((distance + 0.0).to_bits() & ((1 << BELOW) - 1)) >> (BELOW - 32);
        first as usize + ((within * u64::from(count)) >> 32) as usize
    }
}

/// The stretch of a distance, which is not negative.
#[inline(always)]
fn stretch(distance: f64) -> usize {
    ((distance + 0.0).to_bits() >> BELOW) as usize & ((1 << (63 - BELOW)) - 1)
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::choices::MetricName;
    use crate::linalg::random::uniform;

    #[test]
    fn counting_agrees_with_sorting() {
        let ctx = Ctx::new(2, 5);
        let x = uniform(&mut ctx.stream("x"), 400, 20);
        let mut rounded = x.slice(ndarray::s![.., ..2]).mapv(|value| (8.0 * value).round());
        // One row far away, so that distances are of two kinds.
        rounded[[7, 0]] = 1e9;
        let smooth: Array2<f64> = x.slice(ndarray::s![.., ..2]).to_owned();
        for (map, tolerance) in [(rounded, 1e-5), (smooth, 1e-7)] {
            let both = Comparison::new(&x, MetricName::Euclidean, map.view(), None, &ctx).unwrap();
            let (sorted, counted) =
                ctx.install(|| (sorted_ranks(&both, &ctx).unwrap(), counted_ranks(&both, &ctx).unwrap()));
            let value = |rows: &[RankSums]| of_means(rows, 400, |sums| correlation(sums, 399.0)).0;
            let (sorted, counted) = (value(&sorted), value(&counted));
            assert!((sorted - counted).abs() < tolerance, "{sorted} {counted}");
        }
    }
}
