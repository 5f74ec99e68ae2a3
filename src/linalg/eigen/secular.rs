//! Roots of 1 + ρ·Σ wᵢ²/(δᵢ − λ) = 0: the eigenvalues of diag(δ) + ρ·w·wᵀ.
//!
//! Bunch, Nielsen, Sorensen 1978: between two poles the sums of those to the left
//! and to the right are each replaced by one pole with the same value and slope.
//! A root is kept as its distance from the nearer pole, so that differences with
//! all poles are as accurate as the root (Gu and Eisenstat 1994). Every step stays
//! within a bracket; it is halved where a step would leave it.
//!
//! Place: under [`super::divide`]. Cost: about six passes over the poles for a root.

/// Steps after which a root is taken as it is; about six suffice.
const MOST_STEPS: usize = 120;

/// λ = `poles[origin]` + `offset`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Root {
    pub origin: usize,
    pub offset: f64,
}

impl Root {
    /// δᵢ − λ of a pole.
    #[inline(always)]
    pub fn gap(self, pole: f64, poles: &[f64]) -> f64 {
        (pole - poles[self.origin]) - self.offset
    }
}

/// Values and slopes of the sums left and right of a point.
struct Sums {
    left: f64,
    left_slope: f64,
    right: f64,
    right_slope: f64,
}

impl Sums {
    fn value(&self) -> f64 {
        1.0 + self.left + self.right
    }

    /// What rounding may have made of the value.
    fn rounding(&self, offset: f64, count: usize) -> f64 {
        let terms = 1.0 + self.left.abs() + self.right.abs();
        let shift = offset.abs() * (self.left_slope + self.right_slope);
        f64::EPSILON * (terms * (count as f64).sqrt().max(4.0) + shift)
    }
}

/// Four partial sums side by side.
const LANES: usize = 8;

/// (Σ ρw²/gap, Σ ρw²/gap²) over some poles.
#[inline(always)]
fn side(poles: &[f64], weights: &[f64], origin: f64, offset: f64) -> (f64, f64) {
    let (mut values, mut slopes) = ([0.0; LANES], [0.0; LANES]);
    let (pole_blocks, pole_rest) = poles.as_chunks::<LANES>();
    let (weight_blocks, weight_rest) = weights.as_chunks::<LANES>();
    for (poles, weights) in pole_blocks.iter().zip(weight_blocks) {
        for lane in 0..LANES {
            let inverse = 1.0 / ((poles[lane] - origin) - offset);
            let term = weights[lane] * inverse;
            values[lane] += term;
            slopes[lane] += term * inverse;
        }
    }
    let (mut value, mut slope) = (values.iter().sum::<f64>(), slopes.iter().sum::<f64>());
    for (pole, weight) in pole_rest.iter().zip(weight_rest) {
        let inverse = 1.0 / ((pole - origin) - offset);
        value += weight * inverse;
        slope += weight * inverse * inverse;
    }
    (value, slope)
}

/// The equation's poles δ, ascending and distinct, and ρwᵢ² > 0.
pub(super) struct Equation<'a> {
    pub poles: &'a [f64],
    pub weights: &'a [f64],
}

impl Equation<'_> {
    /// Both sums where the first `split` poles are to the left.
    #[inline(always)]
    fn sums(&self, split: usize, root: Root) -> Sums {
        let origin = self.poles[root.origin];
        let (left, left_slope) = side(&self.poles[..split], &self.weights[..split], origin, root.offset);
        let (right, right_slope) = side(&self.poles[split..], &self.weights[split..], origin, root.offset);
        Sums { left, left_slope, right, right_slope }
    }

    /// The root after pole `index`.
    #[inline(always)]
    pub fn root(&self, index: usize) -> Root {
        let count = self.poles.len();
        if count == 1 {
            return Root { origin: 0, offset: self.weights[0] };
        }
        let last = index + 1 == count;
        // The poles that the two sums are replaced by.
        let low = if last { index - 1 } else { index };
        let (poles, split) = (self.poles, low + 1);
        let mut root = Root { origin: index, offset: 0.0 };
        let (mut least, mut most);
        if last {
            (least, most) = (0.0, self.weights.iter().sum::<f64>());
            root.offset = 0.5 * most;
        } else {
            let half = 0.5 * (poles[index + 1] - poles[index]);
            root.offset = half;
            if self.sums(split, root).value() >= 0.0 {
                (least, most) = (0.0, half);
            } else {
                root = Root { origin: index + 1, offset: -half };
                (least, most) = (-half, 0.0);
            }
        }
        for _ in 0..MOST_STEPS {
            let sums = self.sums(split, root);
            let value = sums.value();
            if value.abs() <= sums.rounding(root.offset, count) {
                break;
            }
            if value < 0.0 {
                least = root.offset;
            } else {
                most = root.offset;
            }
            let gaps = (root.gap(poles[low], poles), root.gap(poles[low + 1], poles));
            let mut next = root.offset + step(&sums, gaps, last);
            if !(next > least && next < most) {
                next = 0.5 * (least + most);
                // The bracket is as narrow as numbers are.
                if next <= least || next >= most {
                    break;
                }
            }
            if next == root.offset {
                break;
            }
            root.offset = next;
        }
        root
    }
}

/// To the root of c + s/(a − η) + t/(b − η), which has the sums' values and slopes at η = 0.
#[inline(always)]
fn step(sums: &Sums, (a, b): (f64, f64), last: bool) -> f64 {
    let (s, t) = (a * a * sums.left_slope, b * b * sums.right_slope);
    let c = sums.value() - a * sums.left_slope - b * sums.right_slope;
    let linear = c * (a + b) + s + t;
    let constant = a * b * sums.value();
    let root = (linear * linear - 4.0 * c * constant).max(0.0).sqrt();
    if last {
        if linear >= 0.0 { (linear + root) / (2.0 * c) } else { 2.0 * constant / (linear - root) }
    } else if linear <= 0.0 {
        (linear - root) / (2.0 * c)
    } else {
        2.0 * constant / (linear + root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ctx;
    use crate::linalg::random::{draw, uniform};
    use crate::linalg::symmetric_eigen;
    use ndarray::Array2;

    #[test]
    fn roots_are_the_eigenvalues_of_a_rank_one_change() {
        let mut stream = Ctx::new(1, 7).stream("test");
        for count in [1, 2, 3, 9, 40] {
            for spread in [1.0, 1e-9] {
                let mut at = 0.0;
                let poles: Vec<f64> = (0..count)
                    .map(|i| {
                        at += if i % 3 == 1 { spread } else { 1.0 } * (1.1 + draw(&mut stream));
                        at
                    })
                    .collect();
                let w: Vec<f64> = uniform(&mut stream, count, 1)
                    .iter()
                    .map(|w| if *w < 0.0 { w * 1e-6 } else { w + 0.1 })
                    .collect();
                let weights: Vec<f64> = w.iter().map(|w| w * w).collect();
                let matrix = Array2::from_shape_fn((count, count), |(i, j)| {
                    w[i] * w[j] + if i == j { poles[i] } else { 0.0 }
                });
                let (truth, _) = symmetric_eigen(matrix.view()).unwrap();
                let equation = Equation { poles: &poles, weights: &weights };
                for (index, expected) in truth.iter().enumerate() {
                    let root = equation.root(index);
                    let found = poles[root.origin] + root.offset;
                    assert!(
                        (found - expected).abs() < 1e-13 * at.max(1.0),
                        "{count} {index}: {found} {expected}"
                    );
                    assert!(root.gap(poles[index], &poles) < 0.0, "right of its pole");
                    assert!(index + 1 == count || root.gap(poles[index + 1], &poles) > 0.0);
                }
            }
        }
    }
}
