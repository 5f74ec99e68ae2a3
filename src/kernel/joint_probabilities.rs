//! Joint probabilities of pairs: what t-SNE preserves.
//!
//! van der Maaten & Hinton 2008: p_ij = (p(j|i) + p(i|j)) / 2n, symmetric, with sum one.
//! Place in the dataflow: from [`super::perplexity`] to `optimize::neighbor_embedding`.
//!
//! Rows that are duplicates are one point of the map with a weight. The probabilities of
//! their pairs with others are added; those among themselves are in no place of the map
//! and only count in the entropy and the sum. Cost: a sort of every row of the lists.

use rayon::prelude::*;

use crate::context::Ctx;
use crate::error::{Error, Result};
use crate::input::Csr;
use crate::linalg::exp::ln;

/// Symmetric probabilities of the pairs of points, both directions stored.
#[derive(Debug, Clone)]
pub struct JointProbabilities {
    /// Point `a` has the entries `offsets[a]..offsets[a + 1]`.
    pub offsets: Vec<usize>,
    /// The other point, ascending in each row; never the point itself.
    pub indices: Vec<u32>,
    /// The probability of the pair.
    pub values: Vec<f32>,
    /// Rows that each point stands for; `None` where each is one row.
    pub weights: Option<Vec<f64>>,
    /// Σ p ln p over all pairs of rows.
    pub negative_entropy: f64,
    /// Sum over all pairs of rows: one, to rounding.
    pub total: f64,
}

/// The probabilities of some rows, compressed.
struct Part {
    counts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    negative_entropy: f64,
    total: f64,
}

impl JointProbabilities {
    /// From neighbour lists and the probability of each of their entries. Row i is a row of
    /// point `point_of[i]`; without it every row is a point.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(
        offsets: Vec<usize>,
        indices: Vec<u32>,
        conditional: Vec<f32>,
        point_of: Option<&[u32]>,
        ctx: &Ctx,
    ) -> Result<JointProbabilities> {
        let rows = symmetric(&offsets, &indices, &conditional, ctx)?;
        drop((offsets, indices, conditional));
        let rows = joined(rows);
        match point_of {
            None => Ok(rows),
            Some(point_of) => Ok(rows.merged(point_of)),
        }
    }

    /// From given affinities of pairs of rows, of any size: both directions are added, and all
    /// are divided by their sum.
    ///
    /// # Errors
    /// Affinities that are not numbers ≥ 0; a row without any; cancellation.
    pub fn from_affinities(given: &Csr, point_of: Option<&[u32]>, ctx: &Ctx) -> Result<JointProbabilities> {
        let mut total = 0.0;
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..given.rows() {
            for (&column, &value) in given.row(row).0.iter().zip(given.row(row).1) {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(Error::input(format!(
                        "the affinity of rows {row} and {column} is {value}; affinities must be finite and >= 0"
                    )));
                }
                if column as usize != row && value > 0.0 {
                    indices.push(column);
                    values.push(value);
                    total += value;
                }
            }
            offsets.push(indices.len());
        }
        let mut found = vec![false; given.rows()];
        for row in 0..given.rows() {
            for &other in &indices[offsets[row]..offsets[row + 1]] {
                (found[row], found[other as usize]) = (true, true);
            }
        }
        if let Some(row) = found.iter().position(|found| !found) {
            return Err(Error::input(format!(
                "row {row} has no affinity to any other row, so nothing tells where it belongs; leave it out, or \
                 give it one"
            )));
        }
        // As if every row shared out one: the sum over all pairs is then one.
        let share = given.rows() as f64 / total;
        let conditional = values.iter().map(|value| (value * share) as f32).collect();
        JointProbabilities::new(offsets, indices, conditional, point_of, ctx)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of rows the points stand for.
    pub fn rows(&self) -> f64 {
        self.weights.as_ref().map_or(self.len() as f64, |weights| weights.iter().sum())
    }

    /// Rows as points of which some stand for several.
    fn merged(self, point_of: &[u32]) -> JointProbabilities {
        let points = point_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut entries: Vec<(u32, u32, f32)> = Vec::with_capacity(self.indices.len());
        let mut weights = vec![0.0; points];
        for (row, &point) in point_of.iter().enumerate() {
            weights[point as usize] += 1.0;
            for at in self.offsets[row]..self.offsets[row + 1] {
                let other = point_of[self.indices[at] as usize];
                if other != point {
                    entries.push((point, other, self.values[at]));
                }
            }
        }
        entries.sort_by_key(|&(point, other, _)| (point, other));
        let mut merged = JointProbabilities {
            offsets: vec![0; points + 1],
            indices: Vec::with_capacity(entries.len()),
            values: Vec::with_capacity(entries.len()),
            weights: Some(weights),
            ..self
        };
        let mut last = None;
        for (point, other, value) in entries {
            if last == Some((point, other)) {
                // proof: an entry was pushed with `last`.
                *merged.values.last_mut().expect("the entry before") += value;
                continue;
            }
            last = Some((point, other));
            merged.offsets[point as usize + 1] += 1;
            merged.indices.push(other);
            merged.values.push(value);
        }
        for point in 0..points {
            merged.offsets[point + 1] += merged.offsets[point];
        }
        merged
    }
}

/// (p(j|i) + p(i|j)) / 2n, rows in order, entries of each by index.
fn symmetric(offsets: &[usize], indices: &[u32], conditional: &[f32], ctx: &Ctx) -> Result<Vec<Part>> {
    const ROWS: usize = 1024;
    let n = offsets.len() - 1;
    let (back_offsets, back) = transposed(offsets, indices, conditional);
    let scale = 0.5 / n as f64;
    (0..n.div_ceil(ROWS))
        .into_par_iter()
        .map(|chunk| {
            ctx.check()?;
            let mut part = Part {
                counts: Vec::with_capacity(ROWS),
                indices: Vec::new(),
                values: Vec::new(),
                negative_entropy: 0.0,
                total: 0.0,
            };
            let mut list: Vec<(u32, f32)> = Vec::new();
            for row in chunk * ROWS..((chunk + 1) * ROWS).min(n) {
                let own = offsets[row]..offsets[row + 1];
                list.clear();
                list.extend(own.map(|at| (indices[at], conditional[at])));
                list.extend(&back[back_offsets[row]..back_offsets[row + 1]]);
                // At most one entry from each side: the order of a sum of two does not count.
                list.sort_unstable_by_key(|&(other, _)| other);
                part.push(&list, scale);
            }
            Ok(part)
        })
        .collect()
}

/// The probabilities of all rows.
fn joined(parts: Vec<Part>) -> JointProbabilities {
    let entries = parts.iter().map(|part| part.indices.len()).sum();
    let mut joint = JointProbabilities {
        offsets: vec![0],
        indices: Vec::with_capacity(entries),
        values: Vec::with_capacity(entries),
        weights: None,
        negative_entropy: 0.0,
        total: 0.0,
    };
    for part in parts {
        for count in part.counts {
            joint.offsets.push(joint.offsets[joint.offsets.len() - 1] + count);
        }
        joint.indices.extend(part.indices);
        joint.values.extend(part.values);
        joint.negative_entropy += part.negative_entropy;
        joint.total += part.total;
    }
    joint
}

impl Part {
    /// The row whose conditional probabilities, of both directions, these are.
    fn push(&mut self, list: &[(u32, f32)], scale: f64) {
        let before = self.values.len();
        for same in list.chunk_by(|one, two| one.0 == two.0) {
            let value = (scale * same.iter().map(|(_, value)| f64::from(*value)).sum::<f64>()) as f32;
            if value > 0.0 {
                let wide = f64::from(value);
                self.indices.push(same[0].0);
                self.values.push(value);
                self.negative_entropy += wide * ln(wide);
                self.total += wide;
            }
        }
        self.counts.push(self.values.len() - before);
    }
}

/// For each row the rows that have it in their lists, ascending, and with what probability.
fn transposed(offsets: &[usize], indices: &[u32], conditional: &[f32]) -> (Vec<usize>, Vec<(u32, f32)>) {
    let n = offsets.len() - 1;
    let mut starts = vec![0usize; n + 1];
    indices.iter().for_each(|&other| starts[other as usize + 1] += 1);
    for row in 0..n {
        starts[row + 1] += starts[row];
    }
    let mut next = starts.clone();
    let mut back = vec![(0, 0.0); indices.len()];
    for row in 0..n {
        for at in offsets[row]..offsets[row + 1] {
            let slot = &mut next[indices[at] as usize];
            back[*slot] = (row as u32, conditional[at]);
            *slot += 1;
        }
    }
    (starts, back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::perplexity::{AffinityShape, Perplexity, conditional_probabilities};
    use crate::neighbors::Neighbors;

    /// The `k` next rows on a circle, at growing distances.
    fn circle(n: usize, k: usize) -> Neighbors {
        let mut near = Neighbors::empty();
        for row in 0..n {
            near.push_row((1..=k).map(|step| {
                let distance = step as f64 * (1.0 + 0.3 * (row as f64).sin());
                (((row + step * step) % n) as u32, distance)
            }));
        }
        near
    }

    fn joint(near: &Neighbors, point_of: Option<&[u32]>) -> JointProbabilities {
        let ctx = Ctx::new(2, 0);
        let conditional = conditional(near);
        let (offsets, indices) = (near.offsets.clone(), near.indices.clone());
        ctx.install(|| JointProbabilities::new(offsets, indices, conditional, point_of, &ctx)).unwrap()
    }

    fn conditional(near: &Neighbors) -> Vec<f32> {
        let (ctx, perplexity) = (Ctx::new(1, 0), Perplexity(vec![3.0]));
        let shape = AffinityShape::Gaussian;
        ctx.install(|| conditional_probabilities(near, shape, &perplexity, &ctx)).unwrap()
    }

    #[test]
    fn they_are_symmetric_and_sum_to_one() {
        let near = circle(101, 9);
        let found = joint(&near, None);
        let sum: f64 = found.values.iter().map(|&value| f64::from(value)).sum();
        assert!((sum - 1.0).abs() < 1e-7); // each value is rounded to single precision
        assert!((found.total - sum).abs() < 1e-14);
        let conditional = conditional(&near);
        let mut dense = ndarray::Array2::<f64>::zeros((101, 101));
        for row in 0..101 {
            for at in near.range(row) {
                dense[[row, near.indices[at] as usize]] = f64::from(conditional[at]);
            }
        }
        let expected = (&dense + &dense.t()) / 202.0;
        for row in 0..101 {
            let entries = found.offsets[row]..found.offsets[row + 1];
            assert!(found.indices[entries.clone()].is_sorted());
            assert_eq!(entries.len(), expected.row(row).iter().filter(|&&value| value > 0.0).count());
            for at in entries {
                let truth = expected[[row, found.indices[at] as usize]];
                assert!((f64::from(found.values[at]) - truth).abs() < 6e-8 * truth);
            }
        }
    }

    #[test]
    fn duplicates_are_one_point_with_the_probabilities_of_all() {
        let near = circle(40, 6);
        let point_of: Vec<u32> = (0..40).map(|row| row / 2).collect();
        let (rows, merged) = (joint(&near, None), joint(&near, Some(&point_of)));
        assert_eq!(merged.len(), 20);
        assert_eq!(merged.weights, Some(vec![2.0; 20]));
        assert_eq!(merged.negative_entropy, rows.negative_entropy);
        let pair = |joint: &JointProbabilities, a: usize, b: u32| {
            let entries = joint.offsets[a]..joint.offsets[a + 1];
            entries.filter(|&at| joint.indices[at] == b).map(|at| f64::from(joint.values[at])).sum::<f64>()
        };
        for a in 0..20usize {
            assert_eq!(pair(&merged, a, a as u32), 0.0);
            for b in (0..20u32).filter(|&b| b as usize != a) {
                let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
                let sum: f64 = all.iter().map(|&(i, j)| pair(&rows, 2 * a + i, 2 * b + j)).sum();
                assert!((pair(&merged, a, b) - sum).abs() <= 2e-7 * sum);
            }
        }
    }

    #[test]
    fn given_affinities_become_their_shares() {
        let ctx = Ctx::new(2, 0);
        let given = |values: [f64; 5]| {
            let csr = Csr::new(3, vec![0, 2, 4, 5], vec![1, 0, 2, 0, 1], values.to_vec()).unwrap();
            ctx.install(|| JointProbabilities::from_affinities(&csr, None, &ctx))
        };
        // (0, 1) 3, (1, 2) 5 + 2, (1, 0) 0 and a diagonal that does not count: a sum of 2·10.
        let found = given([3.0, 9.0, 5.0, 0.0, 2.0]).unwrap();
        assert_eq!((&found.offsets[..], &found.indices[..]), (&[0, 1, 3, 4][..], &[1, 0, 2, 1][..]));
        let near = |(value, truth): (&f32, f32)| (value - truth).abs() < 1e-7;
        assert!(found.values.iter().zip([0.15, 0.15, 0.35, 0.35]).all(near), "{:?}", found.values);
        let refused = |values| given(values).unwrap_err().to_string();
        assert!(refused([0.0, 9.0, 5.0, 0.0, 2.0]).contains("row 0 has no affinity"));
        assert!(refused([1.0, 0.0, f64::NAN, 0.0, 2.0]).contains("rows 1 and 2 is NaN"));
        assert!(refused([1.0, 0.0, -1.0, 0.0, 2.0]).contains("rows 1 and 2 is -1"));
    }
}
