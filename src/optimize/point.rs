//! The pairs of one point with all others: the kernel under every pass.
//!
//! Eight partial sums, always added in the same order, so that the bits depend neither on
//! the machine nor on the caller. Everything is `inline(always)` and entered through
//! `pulp::Arch::dispatch` with a named type, which compiles the loops for the CPU at hand.
//! Cost: p per pair.

use pulp::WithSimd;

use super::term::{LEAST_SQUARE, PairTerm};
use crate::linalg::PARTS;

/// What the pairs of one point add up to.
#[derive(Debug)]
pub struct Sums {
    /// Half the gradient by the point's coordinates.
    pub first: Vec<f64>,
    /// Half the second derivatives, where wanted.
    pub second: Vec<f64>,
    lanes: Vec<[f64; PARTS]>,
}

impl Sums {
    /// Room for `width` coordinates.
    pub fn new(width: usize, second: bool) -> Sums {
        let further = if second { width } else { 0 };
        let lanes = vec![[0.0; PARTS]; width + further];
        Sums { first: vec![0.0; width], second: vec![0.0; further], lanes }
    }
}

/// The pairs of one point with all points: their value, and [`Sums`].
pub struct PointPass<'a, T> {
    /// The loss.
    pub term: T,
    /// Dissimilarities to all points.
    pub delta: &'a [f64],
    /// Weights of the pairs.
    pub weights: Option<&'a [f64]>,
    /// The columns of the map.
    pub columns: &'a [&'a [f64]],
    /// Coordinates of the point.
    pub own: &'a [f64],
    /// What is found.
    pub sums: &'a mut Sums,
}

impl<T: PairTerm> WithSimd for PointPass<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
        match self.weights {
            None => self.by_width(|_| &ONES),
            Some(weights) => {
                let whole = weights.as_chunks::<PARTS>().0;
                self.by_width(|chunk| &whole[chunk])
            }
        }
    }
}

const ONES: [f64; PARTS] = [1.0; PARTS];

impl<T: PairTerm> PointPass<'_, T> {
    #[inline(always)]
    fn by_width<'w>(self, weight: impl Fn(usize) -> &'w [f64; PARTS]) -> f64 {
        match (self.own.len(), self.sums.second.is_empty()) {
            (1, true) => self.fixed::<1>(weight),
            (2, true) => self.fixed::<2>(weight),
            (3, true) => self.fixed::<3>(weight),
            _ => self.any_width(weight),
        }
    }

    /// For few coordinates: everything in registers.
    #[inline(always)]
    fn fixed<'w, const P: usize>(self, weight: impl Fn(usize) -> &'w [f64; PARTS]) -> f64 {
        let PointPass { term, delta, weights, columns, own, sums } = self;
        let own: [f64; P] = std::array::from_fn(|k| own[k]);
        let (whole, rest) = delta.as_chunks::<PARTS>();
        let split: [_; P] = std::array::from_fn(|k| columns[k][..delta.len()].as_chunks::<PARTS>());
        let mut values = [0.0; PARTS];
        let mut firsts = [[0.0; PARTS]; P];
        for chunk in 0..whole.len() {
            let (near, weight) = (&whole[chunk], weight(chunk));
            for lane in 0..PARTS {
                let apart: [f64; P] = std::array::from_fn(|k| own[k] - split[k].0[chunk][lane]);
                let mut squared = 0.0;
                for k in 0..P {
                    squared += apart[k] * apart[k];
                }
                let (value, factor) = term.term(near[lane], weight[lane], squared);
                values[lane] += value;
                for k in 0..P {
                    firsts[k][lane] += factor * apart[k];
                }
            }
        }
        let start = delta.len() - rest.len();
        for (lane, &near) in rest.iter().enumerate() {
            let apart: [f64; P] = std::array::from_fn(|k| own[k] - split[k].1[lane]);
            let squared = apart.iter().fold(0.0, |sum, gap| sum + gap * gap);
            let weight = weights.map_or(1.0, |weights| weights[start + lane]);
            let (value, factor) = term.term(near, weight, squared);
            values[lane] += value;
            for k in 0..P {
                firsts[k][lane] += factor * apart[k];
            }
        }
        for k in 0..P {
            sums.first[k] = firsts[k].iter().sum();
        }
        values.iter().sum()
    }

    /// For any number of coordinates, and for second derivatives.
    #[inline(always)]
    fn any_width<'w>(self, weight: impl Fn(usize) -> &'w [f64; PARTS]) -> f64 {
        let PointPass { term, delta, weights, columns, own, sums } = self;
        let (width, second) = (own.len(), !sums.second.is_empty());
        let n = delta.len();
        sums.lanes.fill([0.0; PARTS]);
        let mut values = [0.0; PARTS];
        for (chunk, first) in (0..n).step_by(PARTS).enumerate() {
            let count = PARTS.min(n - first);
            let mut weight_lanes = ONES;
            if count == PARTS {
                weight_lanes = *weight(chunk);
            } else if let Some(weights) = weights {
                weight_lanes[..count].copy_from_slice(&weights[first..]);
            }
            let mut squared = [0.0; PARTS];
            for k in 0..width {
                for lane in 0..count {
                    let apart = own[k] - columns[k][first + lane];
                    squared[lane] += apart * apart;
                }
            }
            // Points in the same place have no second derivative: the pair is left out of it.
            let (mut factors, mut bends, mut slopes) = ([0.0; PARTS], [0.0; PARTS], [0.0; PARTS]);
            for lane in 0..count {
                let near = delta[first + lane];
                let (value, factor) = term.term(near, weight_lanes[lane], squared[lane]);
                values[lane] += value;
                factors[lane] = factor;
                if second && squared[lane] > LEAST_SQUARE {
                    bends[lane] = factor;
                    slopes[lane] = term.slope(near, weight_lanes[lane], squared[lane]);
                }
            }
            for k in 0..width {
                for lane in 0..count {
                    let apart = own[k] - columns[k][first + lane];
                    sums.lanes[k][lane] += factors[lane] * apart;
                    if second {
                        sums.lanes[width + k][lane] += bends[lane] + slopes[lane] * (apart * apart);
                    }
                }
            }
        }
        for k in 0..width {
            sums.first[k] = sums.lanes[k].iter().sum();
            if second {
                sums.second[k] = sums.lanes[width + k].iter().sum();
            }
        }
        values.iter().sum()
    }
}
