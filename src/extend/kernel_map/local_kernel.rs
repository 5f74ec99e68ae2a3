//! Normalised Gaussian weights of known points, each with its own width: the
//! rows of K'' (47) and of K''_t (51) in the survey.
//!
//! ```text
//! w_j(x) = k(x, x_j) / Σ_l k(x, x_l),   k(x, x_j) = exp(-½ q_j²),   q_j = ‖x − x_j‖ / σ_j
//! ```
//!
//! Place in the dataflow: below `kernel_map`, above `neighbors`. The smallest
//! q is taken out of all exponents first, so a row far from everything has
//! weights as good as any: in the limit all of it on the point that is nearest
//! in units of its σ. Weights below 1e-17 of the largest one are not kept: they
//! cannot be seen in the sum.
//!
//! Which points matter depends on their σ, and a search has one radius. So the
//! points are put into classes whose widths differ by at most a factor of two
//! (except the narrowest class), and each is searched with its own radius. When
//! most points matter anyway (many dimensions), all pairs are looked at. Either
//! way the same weights come out, bit for bit. Cost: m·n·D for m rows, or a
//! search of the classes.

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::Result;
use crate::input::PointsRef;
use crate::linalg::exp::exp_in_place;
use crate::neighbors::{Algorithm, Index, Metric, NeighborRule, Neighbors};

/// q² of a weight of 1e-17 beside a weight of one.
const REACH_SQUARED: f64 = 2.0 * 39.143_946_581;

/// Fewer points than this are all looked at.
const FEW: usize = 1000;

/// So are points of which a row reaches a greater share than this.
const WIDE: f64 = 0.1;

/// Doublings of the reach that are still worth a search.
const DOUBLINGS: i32 = 4;

/// Points with their widths.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LocalKernel {
    classes: Vec<Class>,
    /// The share of all points that matter to a row, by a sample.
    share: f64,
    /// Whether those that matter are searched for.
    searched: bool,
}

/// Points of similar widths.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Class {
    index: Index,
    /// Their numbers, ascending.
    members: Vec<u32>,
    widths: Vec<f64>,
    widest: f64,
}

/// The weights of one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    /// Points and their weights, by number; the weights sum to one.
    pub entries: Vec<(u32, f64)>,
    /// The point that lies where the row lies.
    pub same: Option<u32>,
}

/// Distances of some rows to a class.
enum Table {
    All(Array2<f64>),
    Near(Neighbors),
}

impl LocalKernel {
    /// The kernel of indexed points (Euclidean) with these widths σ > 0.
    pub fn new(index: Index, widths: Vec<f64>, ctx: &Ctx) -> Result<LocalKernel> {
        let members = (0..widths.len() as u32).collect();
        let all = Class::new(index, members, widths);
        let share = all.share_in_reach(ctx)?;
        let searched = all.widths.len() >= FEW && share <= WIDE;
        let classes = if searched { all.split(ctx)? } else { vec![all] };
        Ok(LocalKernel { classes, share, searched })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.classes.iter().map(|class| class.members.len()).sum()
    }

    /// The share of all points that matter to a row, by a sample.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Rows to ask for at a time.
    pub fn batch(&self) -> usize {
        // So few that their memory is used again and again.
        const PAIRS: usize = 1 << 20;
        if self.searched { 4096 } else { (PAIRS / self.len()).clamp(1, 1024) }
    }

    /// Weights of rows, each for itself.
    pub fn weights(&self, rows: PointsRef<'_>, ctx: &Ctx) -> Result<Vec<Weights>> {
        if !self.searched {
            return self.weights_of_all(rows, ctx);
        }
        let mut found = vec![Weights::default(); rows.rows()];
        let doublings = self.doublings(rows, ctx)?;
        for step in 0..=DOUBLINGS + 1 {
            let picked: Vec<usize> = (0..rows.rows()).filter(|&row| doublings[row] == step).collect();
            if picked.is_empty() {
                continue;
            }
            let some = rows.select(&picked);
            let weights = match step {
                0..=DOUBLINGS => self.weights_in_reach(some.view(), step, ctx)?,
                // Far rows are few; they look at everything, some at a time.
                _ => self.weights_of_far(some.view(), ctx)?,
            };
            picked.into_iter().zip(weights).for_each(|(row, weights)| found[row] = weights);
        }
        Ok(found)
    }

    /// Weights of the points themselves, or of rows that lie on one of them.
    pub fn weights_at_points(&self, rows: PointsRef<'_>, ctx: &Ctx) -> Result<Vec<Weights>> {
        if self.searched { self.weights_in_reach(rows, 0, ctx) } else { self.weights_of_all(rows, ctx) }
    }

    /// How often the reach must be doubled for each row to find all that matter.
    fn doublings(&self, rows: PointsRef<'_>, ctx: &Ctx) -> Result<Vec<i32>> {
        let mut least = vec![f64::INFINITY; rows.rows()];
        for class in &self.classes {
            let nearest = class.index.query(rows, NeighborRule::Nearest(1), ctx)?;
            for (row, &at) in nearest.indices.iter().enumerate() {
                least[row] = least[row].min(nearest.distances[row] / class.widths[at as usize]);
            }
        }
        let reach = REACH_SQUARED.sqrt();
        let doublings = |q: &f64| {
            (0..=DOUBLINGS)
                .find(|&step| libm::hypot(*q, reach) <= reach * 2.0_f64.powi(step))
                .unwrap_or(DOUBLINGS + 1)
        };
        Ok(least.iter().map(doublings).collect())
    }

    fn weights_in_reach(&self, rows: PointsRef<'_>, doublings: i32, ctx: &Ctx) -> Result<Vec<Weights>> {
        // A little more than the reach, so that rounding at its end decides nothing.
        let reach = REACH_SQUARED.sqrt() * 2.0_f64.powi(doublings) * (1.0 + 1e-9);
        let near = |class: &Class| {
            let rule = NeighborRule::Within(reach * class.widest);
            class.index.query(rows, rule, ctx).map(Table::Near)
        };
        let tables = self.classes.iter().map(near).collect::<Result<Vec<_>>>()?;
        Ok(self.weigh(&tables, rows.rows()))
    }

    fn weights_of_far(&self, rows: PointsRef<'_>, ctx: &Ctx) -> Result<Vec<Weights>> {
        const ROWS: usize = 64;
        let mut found = Vec::with_capacity(rows.rows());
        for first in (0..rows.rows()).step_by(ROWS) {
            let some: Vec<usize> = (first..(first + ROWS).min(rows.rows())).collect();
            found.extend(self.weights_of_all(rows.select(&some).view(), ctx)?);
        }
        Ok(found)
    }

    fn weights_of_all(&self, rows: PointsRef<'_>, ctx: &Ctx) -> Result<Vec<Weights>> {
        let all = |class: &Class| class.index.matrix(Some(rows), ctx).map(Table::All);
        let tables = self.classes.iter().map(all).collect::<Result<Vec<_>>>()?;
        Ok(self.weigh(&tables, rows.rows()))
    }

    fn weigh(&self, tables: &[Table], rows: usize) -> Vec<Weights> {
        let one = |row: usize| {
            let mut scaled = Vec::new();
            let mut same: Option<u32> = None;
            for (class, table) in self.classes.iter().zip(tables) {
                let mut meet = |at: usize, distance: f64| {
                    let number = class.members[at];
                    scaled.push((number, distance / class.widths[at]));
                    if distance == 0.0 {
                        same = Some(same.map_or(number, |other| other.min(number)));
                    }
                };
                match table {
                    Table::All(matrix) => {
                        matrix.row(row).iter().enumerate().for_each(|(at, &distance)| meet(at, distance));
                    }
                    Table::Near(found) => {
                        let range = found.offsets[row]..found.offsets[row + 1];
                        range.for_each(|at| meet(found.indices[at] as usize, found.distances[at]));
                    }
                }
            }
            if self.searched {
                scaled.sort_unstable_by_key(|&(number, _)| number);
            }
            Weights { entries: normalised(scaled), same }
        };
        (0..rows).into_par_iter().map(one).collect()
    }
}

/// Weights from distances in units of σ.
fn normalised(mut scaled: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    let least = scaled.iter().fold(f64::INFINITY, |least, &(_, q)| least.min(q));
    if !least.is_finite() {
        // Too far for numbers; NaN is what the driver names the row by.
        return vec![(0, f64::NAN)];
    }
    // The difference of squares as a product: it cannot be infinity minus infinity.
    let excess = |q: f64| (q - least) * (q + least);
    scaled.retain(|&(_, q)| excess(q) <= REACH_SQUARED);
    let mut values: Vec<f64> = scaled.iter().map(|&(_, q)| -0.5 * excess(q)).collect();
    exp_in_place(&mut values);
    let sum = values.iter().fold(0.0, |sum, value| sum + value);
    scaled.iter_mut().zip(values).for_each(|(entry, value)| entry.1 = value / sum);
    scaled
}

impl Class {
    fn new(index: Index, members: Vec<u32>, widths: Vec<f64>) -> Class {
        let widest = widths.iter().fold(0.0, |most: f64, &width| most.max(width));
        Class { index, members, widths, widest }
    }

    /// Which share of the points matters to one of them, by a fixed sample.
    fn share_in_reach(&self, ctx: &Ctx) -> Result<f64> {
        const SAMPLE: usize = 48;
        let count = self.widths.len();
        let picked: Vec<usize> = (0..count).step_by(count.div_ceil(SAMPLE)).collect();
        let distances = self.index.matrix(Some(self.index.points().view().select(&picked).view()), ctx)?;
        let reach = REACH_SQUARED.sqrt();
        let within = |row: ndarray::ArrayView1<f64>| {
            row.iter().zip(&self.widths).filter(|(distance, width)| *distance / *width <= reach).count()
        };
        let found: usize = distances.outer_iter().map(within).sum();
        Ok(found as f64 / distances.len() as f64)
    }

    /// Classes of halving widths, until the narrowest quarter is reached.
    fn split(self, ctx: &Ctx) -> Result<Vec<Class>> {
        let mut sorted = self.widths.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let narrow = sorted[sorted.len() / 4];
        let mut left: Vec<usize> = (0..self.widths.len()).collect();
        let mut classes = Vec::new();
        while !left.is_empty() {
            ctx.check()?;
            let widest = left.iter().fold(0.0, |most: f64, &at| most.max(self.widths[at]));
            let floor = if widest <= narrow { 0.0 } else { 0.5 * widest };
            let (picked, rest): (Vec<usize>, Vec<usize>) =
                left.into_iter().partition(|&at| self.widths[at] > floor);
            let points = self.index.points().view().select(&picked);
            let index = Index::build(points.view(), Metric::Euclidean, Algorithm::Auto, ctx)?;
            let widths = picked.iter().map(|&at| self.widths[at]).collect();
            classes.push(Class::new(index, picked.iter().map(|&at| self.members[at]).collect(), widths));
            left = rest;
        }
        Ok(classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    /// A sheet whose rows lie closer and closer together.
    fn sheet(rows: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, 3), |(i, axis)| {
            let u = (i as f64 * 0.618_033_988_749_895).fract();
            let v = (i as f64 * 0.754_877_666_246_693).fract();
            [u * u * u, v * u, (5.0 * u).sin()][axis]
        })
    }

    fn class(points: &Array2<f64>, gamma: f64, ctx: &Ctx) -> Class {
        let view = PointsRef::Dense(points.view());
        let index = Index::build(view, Metric::Euclidean, Algorithm::Auto, ctx).unwrap();
        let gaps = index.neighbors_of_all(NeighborRule::Nearest(1), ctx).unwrap().distances;
        let widths = gaps.iter().map(|gap| gamma * gap).collect();
        Class::new(index, (0..points.nrows() as u32).collect(), widths)
    }

    #[test]
    fn searching_and_looking_at_all_give_the_same_bits() {
        let ctx = Ctx::new(2, 0);
        let points = sheet(1500);
        let all = class(&points, 0.8, &ctx);
        let searching = LocalKernel { classes: all.clone().split(&ctx).unwrap(), share: 0.0, searched: true };
        assert!(searching.classes.len() > 3, "the sheet has one width: it tests nothing");
        let looking = LocalKernel { classes: vec![all], share: 1.0, searched: false };
        let mut rows = &sheet(1700).slice(ndarray::s![1400.., ..]) * 1.001;
        for (row, factor) in [(0, 3.0), (1, 10.0), (2, 100.0), (3, 1e8), (4, 1e200)] {
            rows.row_mut(row).mapv_inplace(|value| (value + 1.0) * factor);
        }
        rows.row_mut(5).assign(&points.row(77));
        let rows = PointsRef::Dense(rows.view());
        let (one, other) = (searching.weights(rows, &ctx).unwrap(), looking.weights(rows, &ctx).unwrap());
        for (row, (one, other)) in one.iter().zip(&other).enumerate() {
            if row == 4 {
                assert!(one.entries[0].1.is_nan() && other.entries[0].1.is_nan());
                continue;
            }
            assert_eq!(one, other, "row {row}");
            let sum: f64 = one.entries.iter().map(|entry| entry.1).sum();
            assert!((sum - 1.0).abs() < 1e-14, "row {row}");
        }
        assert_eq!(one[5].same, Some(77));
        let own = PointsRef::Dense(points.view());
        assert_eq!(searching.weights_at_points(own, &ctx).unwrap(), looking.weights(own, &ctx).unwrap());
    }

    #[test]
    fn a_far_row_leans_on_the_point_nearest_in_its_own_units() {
        let ctx = Ctx::new(1, 0);
        let points = array![[0.0], [1.0], [4.0]];
        let kernel = LocalKernel::new(class(&points, 0.5, &ctx).index, vec![0.5, 0.5, 1.5], &ctx).unwrap();
        let rows = array![[-1e5], [1e140]];
        let weights = kernel.weights(PointsRef::Dense(rows.view()), &ctx).unwrap();
        assert!(weights.iter().all(|row| row.entries == [(2, 1.0)] && row.same.is_none()));
    }
}
