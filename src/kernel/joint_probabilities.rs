//! Joint probabilities of pairs: what t-SNE preserves.
//!
//! van der Maaten & Hinton 2008: p_ij = (p(j|i) + p(i|j)) / 2n, symmetric, with sum one.
//! Place in the dataflow: from [`super::perplexity`] to `optimize::neighbor_embedding`.
//!
//! Rows that are duplicates are one point of the map with a weight. The probabilities of
//! their pairs with others are added; those among themselves are in no place of the map
//! and only count in the entropy and the sum. Cost: a sort of every row of the lists.

use rayon::prelude::*;

use super::perplexity::conditional_probabilities;
use crate::context::Ctx;
use crate::error::Result;
use crate::linalg::exp::ln;
use crate::neighbors::Neighbors;

/// Symmetric probabilities of the pairs of points, both directions stored.
#[derive(Debug, Clone)]
pub struct JointProbabilities {
    /// Point `a` has the entries `offsets[a]..offsets[a + 1]`.
    pub offsets: Vec<usize>,
    /// The other point, ascending in each row; never the point itself.
    pub indices: Vec<u32>,
    /// The probability of the pair.
    pub values: Vec<f64>,
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
    values: Vec<f64>,
    negative_entropy: f64,
    total: f64,
}

impl JointProbabilities {
    /// From neighbour lists, at a perplexity. Row i is a row of point `point_of[i]`; without
    /// it every row is a point.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(
        near: &Neighbors,
        perplexity: f64,
        point_of: Option<&[u32]>,
        ctx: &Ctx,
    ) -> Result<JointProbabilities> {
        let conditional = conditional_probabilities(near, perplexity, ctx)?;
        let rows = symmetric(near, &conditional, ctx)?;
        match point_of {
            None => Ok(rows),
            Some(point_of) => Ok(rows.merged(point_of)),
        }
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
        let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(self.indices.len());
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
fn symmetric(near: &Neighbors, conditional: &[f64], ctx: &Ctx) -> Result<JointProbabilities> {
    const ROWS: usize = 1024;
    let n = near.rows();
    let (back_offsets, back) = transposed(near);
    let scale = 0.5 / n as f64;
    let parts: Vec<Part> = (0..n.div_ceil(ROWS))
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
            let mut list: Vec<(u32, f64)> = Vec::new();
            for row in chunk * ROWS..((chunk + 1) * ROWS).min(n) {
                list.clear();
                list.extend(near.range(row).map(|at| (near.indices[at], conditional[at])));
                let others = &back[back_offsets[row]..back_offsets[row + 1]];
                list.extend(others.iter().map(|&(other, at)| (other, conditional[at as usize])));
                // At most one entry from each side: the order of a sum of two does not count.
                list.sort_unstable_by_key(|&(other, _)| other);
                part.push(&list, scale);
            }
            Ok(part)
        })
        .collect::<Result<_>>()?;
    let mut joint = JointProbabilities {
        offsets: Vec::with_capacity(n + 1),
        indices: Vec::new(),
        values: Vec::new(),
        weights: None,
        negative_entropy: 0.0,
        total: 0.0,
    };
    joint.offsets.push(0);
    for part in parts {
        for count in part.counts {
            joint.offsets.push(joint.offsets[joint.offsets.len() - 1] + count);
        }
        joint.indices.extend(part.indices);
        joint.values.extend(part.values);
        joint.negative_entropy += part.negative_entropy;
        joint.total += part.total;
    }
    Ok(joint)
}

impl Part {
    /// The row whose conditional probabilities, of both directions, these are.
    fn push(&mut self, list: &[(u32, f64)], scale: f64) {
        let before = self.values.len();
        for same in list.chunk_by(|one, two| one.0 == two.0) {
            let value = scale * same.iter().map(|(_, value)| value).sum::<f64>();
            if value > 0.0 {
                self.indices.push(same[0].0);
                self.values.push(value);
                self.negative_entropy += value * ln(value);
                self.total += value;
            }
        }
        self.counts.push(self.values.len() - before);
    }
}

/// For each row the rows that have it in their lists, and where: ascending.
fn transposed(near: &Neighbors) -> (Vec<usize>, Vec<(u32, u64)>) {
    let n = near.rows();
    let mut offsets = vec![0usize; n + 1];
    near.indices.iter().for_each(|&other| offsets[other as usize + 1] += 1);
    for row in 0..n {
        offsets[row + 1] += offsets[row];
    }
    let mut next = offsets.clone();
    let mut back = vec![(0u32, 0u64); near.indices.len()];
    for row in 0..n {
        for at in near.range(row) {
            let slot = &mut next[near.indices[at] as usize];
            back[*slot] = (row as u32, at as u64);
            *slot += 1;
        }
    }
    (offsets, back)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ctx.install(|| JointProbabilities::new(near, 3.0, point_of, &ctx)).unwrap()
    }

    #[test]
    fn they_are_symmetric_and_sum_to_one() {
        let near = circle(101, 9);
        let found = joint(&near, None);
        assert!((found.values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found.total - 1.0).abs() < 1e-12);
        let ctx = Ctx::new(1, 0);
        let conditional = ctx.install(|| conditional_probabilities(&near, 3.0, &ctx)).unwrap();
        let mut dense = ndarray::Array2::<f64>::zeros((101, 101));
        for row in 0..101 {
            for at in near.range(row) {
                dense[[row, near.indices[at] as usize]] = conditional[at];
            }
        }
        let expected = (&dense + &dense.t()) / 202.0;
        for row in 0..101 {
            let entries = found.offsets[row]..found.offsets[row + 1];
            assert!(found.indices[entries.clone()].is_sorted());
            assert_eq!(entries.len(), expected.row(row).iter().filter(|&&value| value > 0.0).count());
            for at in entries {
                assert!((found.values[at] - expected[[row, found.indices[at] as usize]]).abs() < 1e-17);
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
            entries.filter(|&at| joint.indices[at] == b).map(|at| joint.values[at]).sum::<f64>()
        };
        for a in 0..20usize {
            assert_eq!(pair(&merged, a, a as u32), 0.0);
            for b in (0..20u32).filter(|&b| b as usize != a) {
                let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
                let sum: f64 = all.iter().map(|&(i, j)| pair(&rows, 2 * a + i, 2 * b + j)).sum();
                assert!((pair(&merged, a, b) - sum).abs() < 1e-17);
            }
        }
    }
}
