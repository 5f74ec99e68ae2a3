//! Least squares by splines with coefficients that are not negative: the ratio, interval
//! and monotone spline transformations of dissimilarities.
//!
//! A basis function is a polynomial of degree at most two between neighbouring knots, so
//! that all a fit needs of the data are its moments between the knots. Ascending splines are
//! integrals of hat functions (I-splines, Ramsay 1988). Cost: one pass over the pairs.

use crate::linalg::small::cholesky;

/// Coefficients of 1, t, t² between two knots, t counted from the left one.
type Piece = [f64; 3];

/// Interior knots of the monotone spline (at quantiles), as in the R package smacof.
const INTERIOR: usize = 4;

/// Functions of a dissimilarity, and the data sorted by it.
#[derive(Debug, Clone)]
pub struct Basis {
    /// Knots, ascending.
    knots: Vec<f64>,
    /// Each function, piece by piece.
    functions: Vec<Vec<Piece>>,
    /// Beyond these the functions are constant.
    range: (f64, f64),
}

const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Basis {
    /// b·δ.
    pub fn ratio(least: f64) -> Basis {
        Basis { knots: vec![least], functions: vec![vec![[least, 1.0, 0.0]]], range: EVERYWHERE }
    }

    /// a + b·(δ − least), a of either sign (a function and its negative), b not negative.
    pub fn interval(least: f64) -> Basis {
        let constants = [1.0, -1.0].map(|sign| vec![[sign, 0.0, 0.0]]);
        let functions = constants.into_iter().chain([vec![[0.0, 1.0, 0.0]]]).collect();
        Basis { knots: vec![least], functions, range: EVERYWHERE }
    }

    /// A constant and six I-splines of degree two with knots at quantiles of the sorted
    /// dissimilarities, given by a function of the quantile.
    pub fn spline(quantile: impl Fn(f64) -> f64) -> Basis {
        let mut knots: Vec<f64> =
            (0..=INTERIOR + 1).map(|at| quantile(at as f64 / (INTERIOR + 1) as f64)).collect();
        knots.dedup();
        if knots.len() < 2 {
            return Basis { functions: vec![vec![[1.0, 0.0, 0.0]]], knots, range: EVERYWHERE };
        }
        let pieces = knots.len() - 1;
        let width = |piece: usize| knots[piece + 1] - knots[piece];
        let mut functions = vec![vec![[1.0, 0.0, 0.0]; pieces]];
        for peak in 0..knots.len() {
            let before = if peak > 0 { 0.5 * width(peak - 1) } else { 0.0 };
            let after = if peak < pieces { 0.5 * width(peak) } else { 0.0 };
            let area = before + after;
            let piece = |at: usize| {
                if at + 1 < peak {
                    [0.0; 3]
                } else if at + 1 == peak {
                    [0.0, 0.0, 0.5 / width(at) / area]
                } else if at == peak {
                    [before / area, 1.0 / area, -0.5 / width(at) / area]
                } else {
                    [1.0, 0.0, 0.0]
                }
            };
            functions.push((0..pieces).map(piece).collect());
        }
        let range = (knots[0], knots[pieces]);
        knots.pop();
        Basis { knots, functions, range }
    }

    fn len(&self) -> usize {
        self.functions.len()
    }

    fn pieces(&self) -> usize {
        self.knots.len()
    }

    /// The piece a dissimilarity falls into, and how far.
    fn place(&self, delta: f64) -> (usize, f64) {
        let piece = self.knots.partition_point(|&knot| knot <= delta).max(1) - 1;
        (piece, delta - self.knots[piece])
    }

    /// The polynomials of a combination of the functions.
    pub fn combined(&self, coefficients: &[f64]) -> Polynomials {
        let add = |piece: usize| {
            let mut sum = [0.0; 3];
            for (function, coefficient) in self.functions.iter().zip(coefficients) {
                for power in 0..3 {
                    sum[power] += coefficient * function[piece][power];
                }
            }
            sum
        };
        let pieces = (0..self.pieces()).map(add).collect();
        Polynomials { knots: self.knots.clone(), pieces, range: self.range }
    }

    /// Moments of weights at the data: Σ w tᵖ for p ≤ 4 in each piece.
    pub fn weigh(&self, data: impl Iterator<Item = (f64, f64)>) -> Vec<[f64; 5]> {
        let mut moments = vec![[0.0; 5]; self.pieces()];
        for (delta, weight) in data {
            let (piece, t) = self.place(delta);
            let mut power = weight;
            for moment in &mut moments[piece] {
                *moment += power;
                power *= t;
            }
        }
        moments
    }

    /// Coefficients, none negative, of the least-squares fit; `gram` and `values` are the
    /// moments of the weights and of weights times values.
    pub fn fit(&self, gram: &[[f64; 5]], values: &[[f64; 3]]) -> Vec<f64> {
        let k = self.len();
        let product = |a: &Piece, b: &Piece, moments: &[f64; 5]| {
            let mut sum = 0.0;
            for i in 0..3 {
                for j in 0..3 {
                    sum += a[i] * b[j] * moments[i + j];
                }
            }
            sum
        };
        let mut matrix = vec![0.0; k * k];
        let mut right = vec![0.0; k];
        for a in 0..k {
            for b in 0..k {
                let pieces = self.functions[a].iter().zip(&self.functions[b]).zip(gram);
                matrix[a * k + b] = pieces.map(|((a, b), moments)| product(a, b, moments)).sum();
            }
            let pieces = self.functions[a].iter().zip(values);
            right[a] = pieces.map(|(a, moments)| (0..3).map(|i| a[i] * moments[i]).sum::<f64>()).sum();
        }
        nonnegative(&matrix, &right)
    }
}

/// A fitted transformation: polynomials between knots.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Polynomials {
    knots: Vec<f64>,
    pieces: Vec<Piece>,
    range: (f64, f64),
}

impl Polynomials {
    /// The value at a dissimilarity.
    pub fn at(&self, delta: f64) -> f64 {
        let delta = delta.clamp(self.range.0, self.range.1);
        let piece = self.knots.partition_point(|&knot| knot <= delta).max(1) - 1;
        let t = delta - self.knots[piece];
        let [a, b, c] = self.pieces[piece];
        a + t * (b + t * c)
    }

    /// The same, multiplied by a number.
    pub fn times(mut self, factor: f64) -> Polynomials {
        self.pieces.iter_mut().flatten().for_each(|value| *value *= factor);
        self
    }
}

/// The solution x ≥ 0 of least |Ax − b| by its normal equations (Lawson and Hanson).
fn nonnegative(matrix: &[f64], right: &[f64]) -> Vec<f64> {
    let k = right.len();
    let mut x = vec![0.0; k];
    let mut free = vec![false; k];
    let size = right.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for _ in 0..3 * k {
        let pull = |at: usize| right[at] - (0..k).map(|j| matrix[at * k + j] * x[j]).sum::<f64>();
        let next = (0..k).filter(|&at| !free[at]).max_by(|&a, &b| pull(a).total_cmp(&pull(b)));
        let Some(next) = next.filter(|&at| pull(at) > 1e-12 * size) else { break };
        free[next] = true;
        loop {
            let Some(trial) = solve_free(matrix, right, &free) else {
                free[next] = false; // as good as a combination of the others
                return x;
            };
            let blocked = (0..k).filter(|&at| free[at] && trial[at] <= 0.0);
            let reach = blocked.map(|at| (x[at] / (x[at] - trial[at]), at));
            let Some((share, at)) = reach.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                x = trial;
                break;
            };
            x.iter_mut().zip(&trial).for_each(|(old, new)| *old += share * (new - *old));
            x[at] = 0.0;
            free[at] = false;
        }
    }
    x
}

fn solve_free(matrix: &[f64], right: &[f64], free: &[bool]) -> Option<Vec<f64>> {
    let k = right.len();
    let some: Vec<usize> = (0..k).filter(|&at| free[at]).collect();
    let mut part: Vec<f64> =
        some.iter().flat_map(|&i| some.iter().map(move |&j| matrix[i * k + j])).collect();
    let mut b: Vec<f64> = some.iter().map(|&i| right[i]).collect();
    if !cholesky::factor(&mut part, some.len()) {
        return None;
    }
    cholesky::solve(&part, some.len(), &mut b);
    let mut x = vec![0.0; k];
    some.iter().zip(b).for_each(|(&at, value)| x[at] = value);
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(basis: &Basis, data: &[(f64, f64)]) -> Polynomials {
        let gram = basis.weigh(data.iter().map(|&(delta, _)| (delta, 1.0)));
        let values: Vec<[f64; 3]> = basis
            .weigh(data.iter().copied())
            .iter()
            .map(|moments| [moments[0], moments[1], moments[2]])
            .collect();
        basis.combined(&basis.fit(&gram, &values))
    }

    #[test]
    fn a_line_is_found_and_never_descends() {
        let line = |a: f64, b: f64| -> Vec<(f64, f64)> {
            (0..50).map(|i| (1.0 + i as f64 / 10.0, a + b * (i as f64 / 10.0))).collect()
        };
        let up = fitted(&Basis::interval(1.0), &line(0.3, 2.0));
        assert!((up.at(3.0) - 4.3).abs() < 1e-12);
        let below = fitted(&Basis::interval(1.0), &line(-0.3, 2.0));
        assert!((below.at(1.0) + 0.3).abs() < 1e-12, "its constant may be negative");
        let down = fitted(&Basis::interval(1.0), &line(5.0, -1.0));
        assert!((down.at(1.0) - down.at(5.0)).abs() < 1e-12, "descending data gets a constant");
    }

    #[test]
    fn splines_ascend_and_follow_an_ascending_curve() {
        let curve: Vec<(f64, f64)> =
            (0..400).map(|i| (i as f64 / 400.0, (i as f64 / 400.0).powi(2))).collect();
        let basis = Basis::spline(|share| curve[((share * 399.0) as usize).min(399)].0);
        let found = fitted(&basis, &curve);
        let worst = curve.iter().fold(0.0_f64, |most, &(x, y)| most.max((found.at(x) - y).abs()));
        assert!(worst < 1e-6, "a parabola is in the space: {worst}");
        let noisy: Vec<(f64, f64)> = curve.iter().map(|&(x, _)| (x, (40.0 * x).sin())).collect();
        let found = fitted(&basis, &noisy);
        let values: Vec<f64> = noisy.iter().map(|&(x, _)| found.at(x)).collect();
        assert!(values.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12));
    }
}
